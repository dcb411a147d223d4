//! The originator: the golden generation sequence, one test per rule.

use lp_serial::Form;
use voq_backpressure::csr::{GEN_EN, LINK_EN, PART, Support, XOFF};
use voq_backpressure::originator::{Options, Verdict};
use voq_backpressure::symbol::Vc;
use voq_backpressure::{ActiveVcs, Carrier, Opportunity, Originator, Ports};

fn ride() -> Opportunity {
    Opportunity::riding(Carrier::Other)
}

/// All messages that leave through a port until nothing waits.
fn drain(device: &mut Originator, port: u16) -> Vec<u16> {
    std::iter::from_fn(|| device.poll_symbol(port, ride())).collect()
}

/// A device without linking, all links up with long symbols; GEN_EN on `generating`, PART on `participating`;
/// quiet.
fn device(ports: u16, options: Options, generating: &[u16], participating: &[u16]) -> Originator {
    let support = vec![Support::UNLINKED; ports.into()];
    let mut device = Originator::new(&support, options).unwrap();
    for port in 0..ports {
        let generate = if generating.contains(&port) { GEN_EN } else { 0 };
        let participate = if participating.contains(&port) { PART } else { 0 };
        device.write_csr(port, generate | participate);
        device.link_up(port, Form::Long);
        drain(&mut device, port);
    }
    device
}

type Event = fn(&mut Originator);

fn flip_all_refresh_timers(device: &mut Originator) {
    for port in 0..8 {
        assert_eq!(device.refresh(port), [0, 3].contains(&port));
    }
}

/// Vector, event, messages that leave through ports 0 and 3.
const SEQUENCE: [(&str, Event, &[u16]); 14] = [
    ("VOQ-S01", |device| _ = device.set_congested(7, true), &[0x841]),
    ("VOQ-S02", |device| _ = device.set_congested(6, true), &[0x861]),
    (
        "VOQ-S03",
        |device| {
            device.set_congested(6, false);
            device.set_congested(7, false);
        },
        &[0x801],
    ),
    ("VOQ-S04", |device| _ = device.write_csr(2, PART | XOFF), &[0x880]),
    ("VOQ-S05", |device| _ = device.set_congested(2, true), &[]),
    ("VOQ-S06", |device| _ = device.write_csr(2, PART), &[]),
    ("VOQ-S07", |device| _ = device.set_congested(2, false), &[0x800]),
    ("VOQ-S08", |device| _ = device.set_congested(4, true), &[]),
    ("VOQ-S09", |device| _ = device.write_csr(4, XOFF), &[]),
    ("VOQ-S10", |device| _ = device.set_congested(1, true), &[0xA40]),
    ("VOQ-S11", |device| _ = device.write_csr(4, 0), &[]),
    ("VOQ-S12", |device| _ = device.write_csr(4, PART), &[0xA40]),
    ("VOQ-S13", flip_all_refresh_timers, &[0xA40, 0x801]),
    (
        "VOQ-S14",
        |device| {
            device.set_congested(1, false);
            device.set_congested(1, true);
        },
        &[0xA40],
    ),
];

/// Proves: VOQ-4.2-1, VOQ-4.2-4, VOQ-4.2-5, VOQ-4.2-9, VOQ-5.1.2.2-5, VOQ-5.1.2.2-6, VOQ-2.1-6, VOQ-4.2-7
#[test]
fn golden_generation_sequence() {
    let mut device = device(8, Options::default(), &[0, 3], &[0, 1, 2, 3, 5, 6, 7]);
    for (id, event, messages) in SEQUENCE {
        event(&mut device);
        for port in 0..8 {
            let expected = if [0, 3].contains(&port) { messages } else { &[] };
            assert_eq!(device.needs_symbol(port), !expected.is_empty(), "{id} port {port}");
            assert_eq!(drain(&mut device, port), expected, "{id} port {port}");
        }
    }
    // VOQ-S15: ports 1 and 4 are still reported, so ending generation at port 3 abandons its neighbour.
    let written = device.write_csr(3, PART);
    assert!(written.abandoned && written.marked.is_empty());
    device.set_congested(1, false);
    for port in 0..8 {
        let expected: &[u16] = if port == 0 { &[0xA00] } else { &[] };
        assert_eq!(drain(&mut device, port), expected, "VOQ-S15 port {port}");
    }
}

/// Proves: VOQ-4.2-1, VOQ-2.5-1, VOQ-4.1-2
#[test]
fn a_broadcast_reaches_exactly_the_enabled_ports() {
    // Every choice of enabled ports of a 9-port device.
    for enabled in 0u16..1 << 9 {
        let generating: Vec<u16> = (0..9).filter(|port| enabled >> port & 1 == 1).collect();
        let mut device = device(9, Options::default(), &generating, &[8]);
        let marked = device.set_congested(8, true);
        assert_eq!(marked, Ports::from_iter(generating.iter().copied()));
        assert_eq!(device.active(), marked);
        for port in 0..9 {
            let expected: &[u16] = if generating.contains(&port) { &[0x881] } else { &[] };
            assert_eq!(drain(&mut device, port), expected);
        }
    }
}

/// Proves: VOQ-5.1.2.2-7
#[test]
fn after_reset_nothing_is_sent_and_all_ports_report_clear() {
    let mut fresh = Originator::new(&[Support::ALL; 12], Options::default()).unwrap();
    let mut used = device(12, Options::default(), &[0, 5], &[1, 7]);
    used.set_congested(1, true);
    used.write_csr(7, XOFF | PART);
    used.reset();
    for device in [&mut fresh, &mut used] {
        for port in 0..12 {
            let enables = device.block().port(port).value() & (GEN_EN | PART | XOFF | LINK_EN);
            assert_eq!(enables, 0);
            device.set_congested(port, true);
            device.link_up(port, Form::Long);
            assert!(!device.refresh(port) && !device.link_recovered(port));
        }
        for upstream in 0..12 {
            assert!((0..12).all(|egress| !device.reported(upstream, egress)));
            assert!(!device.needs_symbol(upstream));
            assert_eq!(device.poll_symbol(upstream, ride()), None);
        }
    }
}

/// Proves: VOQ-3-1, VOQ-4.1-4
#[test]
fn a_link_on_short_symbols_sends_nothing() {
    let mut device = device(6, Options::default(), &[0, 1], &[2]);
    device.link_up(1, Form::Short);
    assert_eq!(device.set_congested(2, true), Ports::from_iter([0]));
    device.write_csr(1, GEN_EN);
    assert!(!device.refresh(1) && !device.link_recovered(1) && !device.needs_symbol(1));
    assert_eq!(device.poll_symbol(1, ride()), None);
    // Initialised anew with long symbols, it tells what is congested.
    assert!(device.link_up(1, Form::Long));
    assert_eq!(drain(&mut device, 1), [0x880]);
}

/// Proves: VOQ-4.2-4
#[test]
fn absent_ports_are_sent_as_clear() {
    for ports in 1..=192u16 {
        let all: Vec<u16> = (0..ports).collect();
        let mut device = device(ports, Options::default(), &[0], &all);
        for port in 0..ports {
            device.set_congested(port, true);
        }
        let fields = drain(&mut device, 0);
        assert_eq!(fields.len(), usize::from(ports.div_ceil(6)));
        for (group, field) in fields.into_iter().enumerate() {
            let existing = (ports - 6 * group as u16).min(6);
            assert_eq!(field, 0x0800 | ((1 << existing) - 1) << 5 | group as u16, "{ports} ports");
        }
    }
}

/// Proves: VOQ-2.1-8, VOQ-4.2-7, VOQ-4.2-8
#[test]
fn full_state_goes_out_in_ascending_order_after_refresh_and_recovery() {
    let repairs: [fn(&mut Originator) -> bool; 2] =
        [|device| device.refresh(0), |device| device.link_recovered(0)];
    for (refresh, after_recovery) in [(true, true), (true, false), (false, true), (false, false)] {
        for (repair, enabled) in repairs.into_iter().zip([refresh, after_recovery]) {
            let options = Options { refresh, after_recovery, ..Options::default() };
            let mut device = device(20, options, &[0], &[13]);
            device.set_congested(13, true);
            // The pointer stands in the middle when the run is marked.
            assert_eq!(drain(&mut device, 0), [0x842]);
            assert_eq!(repair(&mut device), enabled);
            let expected: &[u16] = if enabled { &[0x800, 0x801, 0x842, 0x803] } else { &[] };
            assert_eq!(drain(&mut device, 0), expected);
        }
    }
}

/// Proves: VOQ-4.2-5
#[test]
fn a_chattering_group_does_not_starve_the_others() {
    let mut device = device(18, Options::default(), &[0], &[0, 6, 12]);
    device.set_congested(6, true);
    device.set_congested(12, true);
    let mut sent = Vec::new();
    for step in 0..6 {
        device.set_congested(0, step % 2 == 0);
        sent.push(device.poll_symbol(0, ride()).unwrap() & 0x1F);
    }
    assert_eq!(sent, [0, 1, 2, 0, 0, 0]);
}

/// Proves: VOQ-4.2-5
#[test]
fn content_is_sampled_when_the_symbol_leaves() {
    let mut device = device(8, Options::default(), &[0, 1], &[2, 3]);
    device.set_congested(2, true);
    assert_eq!(device.poll_symbol(0, ride()), Some(0x880));
    device.set_congested(3, true);
    assert_eq!(device.poll_symbol(1, ride()), Some(0x980));
    // Port 1 has said all; port 0 has not.
    assert_eq!(device.poll_symbol(1, ride()), None);
    assert_eq!(device.poll_symbol(0, ride()), Some(0x980));
}

/// Proves: VOQ-2.5-2
#[test]
fn per_ingress_verdicts_are_told_to_their_ingress_alone() {
    let options = Options { verdict: Verdict::PerIngress, ..Options::default() };
    let ports = 7;
    let all: Vec<u16> = (0..ports).collect();
    for ingress in 0..ports {
        for egress in 0..ports {
            let mut device = device(ports, options, &all, &all);
            assert!(device.set_congested_for(ingress, egress, true));
            assert!(!device.set_congested_for(ingress, egress, true), "no change, no mark");
            for upstream in 0..ports {
                let concerned = upstream == ingress;
                assert_eq!(device.raw(upstream, egress), concerned);
                assert_eq!(device.reported(upstream, egress), concerned);
                let message = 0x0800 | 1 << (5 + egress % 6) | (egress / 6);
                assert_eq!(drain(&mut device, upstream), if concerned { vec![message] } else { vec![] });
            }
        }
    }
}

/// A verdict for the whole device, and the register bits, apply to every ingress port.
#[test]
fn per_ingress_device_with_a_common_verdict_and_register_bits() {
    let options = Options { verdict: Verdict::PerIngress, ..Options::default() };
    let mut device = device(3, options, &[0, 1], &[2]);
    assert_eq!(device.set_congested(2, true), Ports::from_iter([0, 1]));
    assert_eq!([drain(&mut device, 0), drain(&mut device, 1)], [[0x880], [0x880]]);
    device.set_congested_for(0, 2, false);
    drain(&mut device, 0);
    // XOFF changes what port 0 is told, not what port 1 is told.
    assert_eq!(device.write_csr(2, PART | XOFF).marked, Ports::from_iter([0]));
    assert_eq!([drain(&mut device, 0), drain(&mut device, 1)], [vec![0x880], vec![]]);
}

fn linked_device(vcs: ActiveVcs) -> Originator {
    let options = Options { vcs, ..Options::default() };
    let mut device = Originator::new(&[Support::ALL; 8], options).unwrap();
    device.write_csr(0, GEN_EN | LINK_EN);
    device.write_csr(3, PART);
    device.link_up(0, Form::Long);
    device
}

/// Proves: VOQ-3.2-3, VOQ-4.2-3, VOQ-2.4-3
#[test]
fn with_linking_only_status_symbols_carry_messages() {
    for vcs in ActiveVcs::ALL {
        let mut device = linked_device(vcs);
        device.set_congested(3, true);
        assert_eq!(device.pending_messages(0), vcs.count() as u32);
        assert_eq!(device.poll_symbol(0, ride()), None, "{vcs:?}");
        for vc in vcs.iter() {
            // The carriers that are asked for name the channels in order, each once.
            let carrier = device.needed_carrier(0).unwrap();
            assert_eq!(carrier, Carrier::naming(vc));
            assert_eq!(device.poll_symbol(0, Opportunity::riding(carrier)), Some(0x900));
            assert_eq!(device.poll_symbol(0, Opportunity::riding(carrier)), None);
        }
        assert!(!device.needs_symbol(0));
        assert_eq!(device.needed_carrier(0), None);
    }
    // A VC_Status of a link without optional channels names nobody.
    let mut device = linked_device(ActiveVcs::None);
    device.set_congested(3, true);
    assert_eq!(device.poll_symbol(0, Opportunity::riding(Carrier::VcStatus { vcid: 0 })), None);
}

/// VC0 has something new to say after each message: no other channel waits longer than for one message of
/// each.
///
/// Proves: VOQ-4.2-3
#[test]
fn a_channel_that_chatters_starves_no_other() {
    for vcs in ActiveVcs::ALL {
        let mut device = linked_device(vcs);
        let mut served = Vec::new();
        let [first, last] = [vcs.iter().next(), vcs.iter().last()].map(|vc| vc.expect("there is VC0"));
        device.set_congested_in(4, last, 3, true);
        for n in 0..2 * vcs.count() {
            device.set_congested_in(4, first, 3, n % 2 == 0);
            let carrier = device.needed_carrier(0).expect("something waits");
            assert!(device.poll_symbol(0, Opportunity::riding(carrier)).is_some());
            served.push(carrier);
        }
        assert!(served[..2].contains(&Carrier::naming(last)), "{vcs:?}: {served:?}");
    }
}

/// A verdict about one channel: a linked neighbour is told of that channel, another one that the port is
/// congested as long as it is for any channel.
///
/// Proves: VOQ-4.2-3, VOQ-2.4-3
#[test]
fn verdicts_of_channels_are_told_apart_where_linking_is_on() {
    let mut device = linked_device(ActiveVcs::Two);
    device.write_csr(1, GEN_EN);
    device.link_up(1, Form::Long);
    let [vc1, vc5] = [1, 5].map(|number| Vc::new(number).unwrap());
    assert_eq!(device.set_congested_in(4, vc5, 3, true), Ports::from_iter([0, 1]));
    // One message each: of VC5, and of no channel.
    let of = |vc| Opportunity::riding(Carrier::naming(vc));
    assert_eq!([0, 1].map(|port| device.pending_messages(port)), [1, 1]);
    assert_eq!(device.needed_carrier(0), Some(Carrier::naming(vc5)));
    assert_eq!([of(Vc::VC0), of(vc1), of(vc5)].map(|o| device.poll_symbol(0, o)), [None, None, Some(0x900)]);
    assert_eq!(drain(&mut device, 1), [0x900]);
    // Another channel: port 1 knows already.
    assert_eq!(device.set_congested_in(4, vc1, 3, true), Ports::from_iter([0]));
    assert_eq!(device.poll_symbol(0, of(vc1)), Some(0x900));
    assert_eq!(device.set_congested_in(4, vc5, 3, false), Ports::from_iter([0]));
    assert_eq!(device.poll_symbol(0, of(vc5)), Some(0x800));
    assert_eq!([Vc::VC0, vc1, vc5].map(|vc| device.reported_in(0, vc, 3)), [false, true, false]);
    assert_eq!([Vc::VC0, vc1, vc5].map(|vc| device.reported_in(1, vc, 3)), [true; 3]);
    assert_eq!(device.set_congested_in(4, vc1, 3, false), Ports::from_iter([0, 1]));
    assert_eq!(drain(&mut device, 1), [0x800]);
    // With linking off the neighbour of port 0 has to hear of what it was told apart.
    device.poll_symbol(0, of(vc1));
    device.set_congested_in(4, vc5, 3, true);
    device.poll_symbol(0, of(vc5));
    device.write_csr(0, GEN_EN);
    assert_eq!(drain(&mut device, 0), [0x900]);
}

/// Proves: VOQ-4.2-2, VOQ-2.4-2
#[test]
fn without_linking_every_symbol_carries_messages() {
    for carrier in [Carrier::Other, Carrier::Status, Carrier::VcStatus { vcid: 5 }] {
        let mut device = device(8, Options::default(), &[0], &[3]);
        device.set_congested(3, true);
        assert_eq!(device.needed_carrier(0), Some(Carrier::Status));
        assert_eq!(device.poll_symbol(0, Opportunity::riding(carrier)), Some(0x900));
    }
}

/// Proves: VOQ-4.2-5
#[test]
fn turning_linking_on_or_off_loses_no_message() {
    let mut device = linked_device(ActiveVcs::Two);
    device.set_congested(3, true);
    device.poll_symbol(0, Opportunity::riding(Carrier::Status));
    // VC1 and VC5 still wait: one message for all of them.
    device.write_csr(0, GEN_EN);
    assert_eq!(drain(&mut device, 0), [0x900]);
    device.set_congested(3, false);
    // One message waits for all: three, when each needs its own.
    device.write_csr(0, GEN_EN | LINK_EN);
    assert_eq!(device.pending_messages(0), 3);
}

#[test]
fn counters_tell_free_messages_from_paid_ones() {
    let mut device = device(8, Options::default(), &[0], &[3]);
    device.take_counters();
    device.set_congested(3, true);
    device.poll_symbol(0, ride());
    device.set_congested(3, false);
    device.poll_symbol(0, Opportunity::standalone(Carrier::Status));
    device.poll_symbol(0, Opportunity::standalone(Carrier::Status));
    device.refresh(0);
    let counters = device.take_counters();
    assert_eq!((counters.tx_riding, counters.tx_standalone, counters.refreshes), (1, 1, 1));
    assert_eq!(device.counters(), Default::default());
}

/// Proves: VOQ-5.1.2.2-5
#[test]
fn forced_status_without_participation_shows_in_the_next_symbol() {
    let mut device = device(6, Options::default(), &[0], &[1]);
    assert!(device.write_csr(4, XOFF).marked.is_empty());
    assert!(device.reported(0, 4) && !device.needs_symbol(0));
    device.set_congested(1, true);
    assert_eq!(drain(&mut device, 0), [0x0800 | 0b010010 << 5]);
    assert!(device.write_csr(4, 0).marked.is_empty());
    device.set_congested(1, false);
    assert_eq!(drain(&mut device, 0), [0x0800]);
}

#[test]
#[should_panic(expected = "no port 6")]
fn a_port_that_the_device_does_not_have_is_the_owners_mistake() {
    device(6, Options::default(), &[], &[]).set_congested(6, true);
}
