//! VoQ backpressure beside virtual channels: what a message stops, and what counts for it.
use crate::common::*;
use models::config::*;
use models::lp_serial::link::FlowControl;
use models::probe::{Crossed, Crossing, Probe, RegisterStep};
use models::{RunOptions, Watched};
use sim_core::{Duration, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Two reliable channels, VC1 and VC5, on every link; everybody stages for each port.
fn two_channels(net: &mut Net, detector: Option<Detector>) {
    net.backpressure(&StagingConfig::PerPort, detector);
    let settings = ChannelsConfig {
        channels: Channels::Two,
        vcs: [VcConfig { buffers: 16, ..VcConfig::default() }; 8],
        vc0_share: Some(1),
        refresh: None,
    };
    let link = |link| SymbolicLink {
        link,
        flow: FlowControl::Transmitter,
        timeout: Duration(1_000 * T),
        status_period: Duration(100 * T),
        throughout: true,
        channels: Some(Box::new(settings.clone())),
        damage: Default::default(),
    };
    net.config.symbolic = (0..net.config.links.len() as u32).map(link).collect();
}

/// All messages are linked with channels.
fn link_all(net: &mut Net) {
    net.config.devices.iter_mut().flat_map(|d| &mut d.ports).for_each(|port| {
        (port.voq.link_sup, port.voq.link_en) = (true, true);
    });
}

/// A message that is tied to no channel stops its port in VC0 and in all channels: of what goes to the port
/// that is forced to "congested" from the start, only the packet arrives that was committed before the
/// message came. What goes elsewhere has the link for itself.
///
/// Proves: VOQ-3.2-5, VOQ-2.4-1
#[test]
fn a_message_stops_its_port_in_every_channel() {
    let mut net = single(4, switch(4));
    two_channels(&mut net, None);
    net.ports_mut(0)[2].voq.xoff = true;
    for priority in [vc_priority(1), vc_priority(5), 0] {
        net.saturated(0, priority, 2);
    }
    net.saturated(0, vc_priority(5), 3);
    let (log, outcome) = net.run(1_000 * T);
    assert_eq!([0, 1, 2].map(|flow| log.of(flow).count()).iter().sum::<usize>(), 1);
    // A thousand packets begin, one of them elsewhere; two are on their way at the end.
    assert!((995..=998).contains(&log.of(3).count()), "{}", log.of(3).count());
    // Queue 2 of each endpoint, in VC0 and in both channels.
    let mut stopped: Vec<(u32, u8, u8)> = log.edges.iter().map(|e| (e.device, e.channel, e.queue)).collect();
    stopped.sort_unstable();
    let expected: Vec<(u32, u8, u8)> = (0..4).flat_map(|e| (0..3).map(move |vc| (e, vc, 2))).collect();
    assert_eq!(stopped, expected);
    assert!(log.edges.iter().all(|edge| edge.stopped));
    assert_eq!(totals(&outcome, 0, 0).xoff_edges, 3);
}

/// What waits in a channel counts: two endpoints send in VC1 to a port of a quarter of the rate, s = 1/8 for
/// each, and one of them to a free port as well. Without backpressure the channel carries both in their
/// ratio, s; with it what is free gets the rest of the link, 1 - s.
///
/// Proves: VOQ-2.4-1, VOQ-4.3-3
#[test]
fn victims_in_a_congested_channel_get_the_rest_of_the_link() {
    let run = |backpressure: bool| {
        let mut net = single(4, SwitchConfig { reads_per_input: 2, ..switch(4) });
        two_channels(&mut net, Some(Detector { x_on: 8, x_off: 4, verdict: Verdict::PerIngress }));
        if !backpressure {
            net.ports_mut(0).iter_mut().for_each(|port| port.voq.gen_en = false);
        }
        net.slow(2, 4);
        for (from, to) in [(0, 2), (1, 2), (0, 3)] {
            net.saturated(from, vc_priority(1), to);
        }
        let (log, outcome) = net.run(2_000 * T);
        let link = log.of(2).count() as u64 * 8;
        (link, outcome.dropped)
    };
    // In eighths of 2 000 packets.
    let (without, with) = (run(false), run(true));
    assert!(without.0.abs_diff(2_000) <= 200 && without.1 == 0, "{without:?}");
    assert!(with.0.abs_diff(7 * 2_000) <= 300 && with.1 == 0, "{with:?}");
}

/// A linked message stops its port in the channel that it names, and in no other: VC1 is congested at a
/// slow port, so only its queues stop, and all that VC5 and VC0 send there arrives. With messages about all
/// channels VC5 and VC0 are stopped with it.
///
/// Proves: VOQ-3.2-4, VOQ-2.4-3, VOQ-4.2-3
#[test]
fn a_linked_message_stops_one_channel() {
    let run = |linked: bool| {
        let mut net = single(4, switch(4));
        two_channels(&mut net, Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress }));
        if linked {
            link_all(&mut net);
        }
        net.slow(2, 4);
        for from in [0, 1] {
            net.saturated(from, vc_priority(1), 2);
        }
        // Little enough that no two of them wait at once.
        net.constant(0, vc_priority(5), 2, 2, 0);
        net.constant(0, 0, 2, 2, 25 * T);
        let (log, outcome) = net.run(2_000 * T);
        let mut stopped: Vec<u8> = log.edges.iter().map(|edge| edge.channel).collect();
        stopped.sort_unstable();
        stopped.dedup();
        let longest = |flow| log.of(flow).map(|d| d.latency()).max().unwrap();
        (stopped, [longest(2), longest(3)], totals(&outcome, 0, 0).xoff_edges, outcome.dropped)
    };
    let (stopped, longest, edges, dropped) = run(true);
    assert_eq!((stopped, dropped), (vec![1], 0));
    // Some four packets of the eighth of the link that each gets pass in a cycle.
    assert!(edges > 40, "{edges}");
    // Each waits for one packet on the way to the switch, and for two on the slow link; then it is sent
    // twice.
    assert!(longest.iter().all(|&longest| longest <= 16 * T), "{longest:?}");
    let (stopped, longest, edges, dropped) = run(false);
    assert_eq!((stopped, dropped), (vec![0, 1, 2], 0));
    assert!(edges > 120 && longest.iter().all(|&longest| longest > 16 * T), "{edges} {longest:?}");
}

/// Thresholds that are written judge what waits in each channel: six packets of VC1 and three of VC5 wait for
/// a port that takes none of them. An `on` of 6 stops VC1 at once, the ninth packet of both is none of one
/// channel; one of 3 stops both, one after the other on symbols of their own. Without linking they count
/// together, and all channels stop.
///
/// Proves: VOQ-4.2-3, VOQ-4.2-6
#[test]
fn written_thresholds_judge_each_channel() {
    let stops = |linked: bool, x_on: u16| -> Vec<(u64, u8)> {
        let mut net = single(4, switch(4));
        two_channels(&mut net, Some(Detector { x_on: 40, x_off: 0, verdict: Verdict::PerIngress }));
        if linked {
            link_all(&mut net);
        }
        net.slow(2, 500);
        net.burst(0, vc_priority(1), 2, 0, 7);
        net.burst(0, vc_priority(5), 2, 50 * T, 3);
        let change = VoqChange::Thresholds { x_on, x_off: 0 };
        net.config.voq_writes = vec![VoqWrite { at: Time(100 * T), device: 4, port: 2, change }];
        let (log, _) = net.run(400 * T);
        assert!(log.edges.iter().all(|edge| (edge.device, edge.queue, edge.stopped) == (0, 2, true)));
        log.edges.iter().map(|edge| (edge.at.0, edge.channel)).collect()
    };
    let first = 100 * T + T_CS + 20_000;
    assert_eq!(stops(true, 10), []);
    assert_eq!(stops(true, 7), []);
    assert_eq!(stops(true, 6), [(first, 1)]);
    assert_eq!(stops(true, 3), [(first, 1), (first + T_CS, 2)]);
    assert_eq!(stops(false, 10), []);
    assert_eq!(stops(false, 9), [(first, 0), (first, 1), (first, 2)]);
}

/// Linked messages that are lost are made good by the refresh, channel by channel: the tenth message is an
/// XON of VC1, and its queue goes on with the next refresh.
///
/// Proves: VOQ-4.2-7, VOQ-3.2-4
#[test]
fn a_linked_refresh_tells_every_channel() {
    let run = |refresh: bool| {
        let mut net = single(3, switch(3));
        two_channels(&mut net, Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress }));
        link_all(&mut net);
        net.switch_mut(0).refresh = refresh.then_some(Duration(100 * T));
        net.slow(2, 4);
        net.saturated(0, vc_priority(1), 2);
        let device = net.config.devices.len() as u32 - 1;
        net.config.symbol_losses = vec![SymbolLoss { device, port: 0, kind: LossKind::Xon, nth: 3 }];
        let (log, outcome) = net.run(1_000 * T);
        let port = totals(&outcome, device, 0);
        // A message for VC0 and for each of the two channels.
        assert_eq!((port.voq_refreshes > 0, port.voq_refresh_messages), (refresh, 3 * port.voq_refreshes));
        (log.of(0).count(), port.voq_lost)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!([with.1, without.1], [1, 1]);
    // Up to a hundred packet times of a thousand are lost, and a quarter of what is left leaves; or all
    // after it is.
    assert!((220..=250).contains(&with.0) && without.0 < 30, "{with:?} {without:?}");
}

/// Messages on their symbols: where each leaves, stype0 and, of a VC_Status, the VCID, by hand from the
/// octets (Part 12 Figures 3-1 and 3-2, behind a delimiter).
#[derive(Default)]
struct Riders(Vec<((u32, u8), u8, Option<u8>)>);

impl Probe for Riders {
    fn follows_wire(&self) -> bool {
        true
    }
    fn crossing(&mut self, crossing: &Crossing<'_>) {
        match crossing.what {
            Crossed::Symbol { .. } => {
                let octets = &crossing.octets[1..7];
                if octets[2] & 0b111 == 0b001 {
                    let stype0 = octets[0] >> 5;
                    let vcid = octets[0] << 1 & 0b110 | octets[1] >> 7;
                    let port = (crossing.device, crossing.port);
                    self.0.push((port, stype0, (stype0 == 0b101).then_some(vcid)));
                }
            }
            Crossed::Message { .. } => panic!("on links of symbols every message is on one"),
            Crossed::Packet { .. } => {}
        }
    }
}

/// What carries messages, on the octets of the links. A message that is tied to no channel rides on whatever
/// leaves next, and here packets leave all the time, so among the carriers are acknowledgements (stype0 0).
/// A linked one goes with Status (4) for VC0 or VC_Status (5) for a channel and with nothing else; two
/// channels are named VCID 0 and 4. Three flows into one slow port make all three channels congested.
///
/// Proves: VOQ-2.4-2, VOQ-3.2-1, VOQ-3.2-2, VOQ-3.2-3
#[test]
fn linked_messages_ride_on_statuses_alone() {
    let run = |linked: bool| {
        let mut net = single(4, switch(4));
        two_channels(&mut net, Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared }));
        if linked {
            link_all(&mut net);
        }
        net.slow(2, 4);
        for (from, priority) in [(0, 0), (1, vc_priority(1)), (3, vc_priority(5))] {
            net.saturated(from, priority, 2);
            // The other way acknowledgements and starts of packets leave all the time.
            net.saturated(2, priority, from);
        }
        let mut riders = Riders::default();
        let mut simulation = Watched::new(Arc::new(net.config.clone()), RunOptions::default(), &mut riders);
        simulation.run(Time(1_000 * T), u64::MAX);
        simulation.finish();
        riders.0
    };
    let kinds = |riders: &[((u32, u8), u8, Option<u8>)]| -> BTreeSet<(u8, Option<u8>)> {
        riders.iter().map(|&(_, stype0, vcid)| (stype0, vcid)).collect()
    };
    let linked = run(true);
    assert!(linked.len() > 100, "{}", linked.len());
    assert!(linked.iter().all(|&((device, _), ..)| device == 4), "only the switch tells");
    assert_eq!(kinds(&linked), BTreeSet::from([(4, None), (5, Some(0)), (5, Some(4))]));
    let free = run(false);
    assert!(free.len() > 50, "{}", free.len());
    assert!(kinds(&free).contains(&(0, None)), "{:?}", kinds(&free));
}

/// A host sets the fabric up whose messages are linked: it finds LINK_SUP (bit 2) in the registers, and sets
/// LINK_EN (bit 11) at both ends of each link, of switch and endpoints, before it lets anybody send. So from
/// the first message on a message is about one channel. Without it messages would be about no channel, and
/// each would stop VC0 at receivers that expect linked ones.
///
/// Proves: VOQ-5.1.2.2-2, VOQ-3.2-4, VOQ-3.2-6
#[test]
fn a_host_links_both_ends_before_anybody_sends() {
    let (link_en, gen_en) = (1 << (31 - 11), 1 << (31 - 8));
    let mut net = single(4, switch(4));
    two_channels(&mut net, Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress }));
    link_all(&mut net);
    net.slow(2, 4);
    for from in [0, 1] {
        net.saturated(from, vc_priority(1), 2);
    }
    net.constant(0, vc_priority(5), 2, 2, 0);
    net.enumerated_by(3, false);
    let (log, outcome) = net.run(2_000 * T);
    let report = outcome.enumeration.as_ref().expect("a host");
    assert!(report.as_planned && report.timeouts == 0);
    let values = &report.voq.iter().find(|(device, _)| *device == 4).unwrap().1;
    assert!(values.iter().all(|value| value >> (31 - 2) & 1 == 1 && value & link_en != 0), "{values:x?}");
    let writes: Vec<u32> = log
        .accesses
        .iter()
        .filter_map(|access| match access.step {
            RegisterStep::Asked { write: Some(value), .. } if value & 0xFF0F_FFFF == 0 => Some(value),
            _ => None,
        })
        .filter(|value| value & (link_en | gen_en) != 0)
        .collect();
    // Four ports of the switch and three endpoints; the host writes its own register without a packet.
    assert_eq!(writes.iter().filter(|&&value| value == link_en).count(), 7, "{writes:x?}");
    let first = writes.iter().position(|value| value & gen_en != 0).expect("it lets the switch send");
    assert!(writes[..first].iter().all(|&value| value == link_en) && first == 7, "{writes:x?}");
    let stopped: BTreeSet<u8> = log.edges.iter().map(|edge| edge.channel).collect();
    assert_eq!(stopped, BTreeSet::from([1]));
    assert!(log.edges.len() > 40);
}
