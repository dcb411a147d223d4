//! Laws that came out of differences between the two simulators, each with the smallest case.

use crate::generate::Case;
use crate::record::{self, Record};
use crate::{compare, explain};
use models::config::*;
use models::lp_serial::link::{Channels, FlowControl, Traffic, VcConfig};
use models::probe::{Cause, DropReason};
use models::voq_backpressure::csr;
use sim_core::{Duration, Time};
use std::sync::Arc;

/// A character, a symbol and a packet of 276 octets on the first link.
const CHAR: u64 = 400;
const S: u64 = 8 * CHAR;
const T: u64 = 284 * CHAR;
/// Propagation, and the pipeline of the switch.
const L: u64 = 40_000;
const PIPELINE: u64 = 100_000;

/// A switch that stores and forwards, and says nothing.
pub fn ordinary_switch(routes: RouteTable) -> SwitchConfig {
    SwitchConfig {
        input: InputQueueing::Voq,
        buffering: Buffering::Direct,
        arbitration: Arbitration::RoundRobin,
        slot: None,
        reads_per_input: 1,
        forwarding: Forwarding::StoreAndForward,
        pipeline: Duration(PIPELINE),
        routes,
        detector: None,
        refresh: None,
        generation_delay: Duration(0),
        after_recovery: true,
        port_rules: Vec::new(),
        leave_out_stopped: false,
        queue_quota: None,
        staging: StagingConfig::None,
    }
}

/// An endpoint sends packets of these priorities and times through a switch that looks after its own buffers,
/// and forwards them to another endpoint on a link of a tenth of the rate.
fn refusing(packets: &[(u64, u8)]) -> Case {
    let port = || PortConfig { buffers: 4, watermarks: [4, 3, 2], voq: PortVoq::default() };
    let endpoint = |id: u32| DeviceConfig {
        path: format!("e{id}"),
        ports: vec![port()],
        model: DeviceModel::Endpoint(EndpointConfig {
            ids: vec![id],
            staging: StagingConfig::None,
            next_hop: Arc::default(),
        }),
    };
    let route = |port| Route { egress: Egress::Port(port), next_hop: NO_PORT };
    let routes = RouteTable { entries: [route(0), route(1)].into_iter().collect(), ..RouteTable::default() };
    let link = |end: u32, port: u8, char_ps: u64| LinkConfig {
        a: (end, 0),
        b: (2, port),
        char_ps: (char_ps, 1),
        lanes: 4,
        symbol_chars: 8,
        long_symbols: true,
        link_crc: false,
        ack_window: 63,
        propagation: Duration(L),
    };
    let size = PacketSize { payload: 256, wire: 276 };
    let packet =
        |&(at, priority): &(u64, u8)| ReplayPacket { at: Time(at), destination: 1, size, priority, ftype: 5 };
    let config = FabricConfig {
        devices: vec![
            endpoint(0),
            endpoint(1),
            DeviceConfig {
                path: "s".into(),
                ports: vec![port(), port()],
                model: DeviceModel::Switch(ordinary_switch(routes)),
            },
        ],
        links: vec![link(0, 0, CHAR), link(1, 1, 10 * CHAR)],
        symbolic: vec![SymbolicLink {
            link: 0,
            flow: FlowControl::Receiver,
            timeout: Duration(1_000 * T),
            status_period: Duration(1_000 * T),
            throughout: true,
            channels: None,
            damage: Default::default(),
        }],
        id_space: 2,
        owners: vec![0, 1],
        flows: vec![FlowConfig { name: "flow".into() }],
        sources: vec![SourceConfig {
            endpoint: 0,
            flow: 0,
            stream: "e0".into(),
            priority: 0,
            start: Time::ZERO,
            stop: Time::MAX,
            goes_on: false,
            limit: u64::MAX,
            destinations: Destinations::Replay,
            sizes: Sizes::Replay,
            ftype: 5,
            arrivals: Arrivals::Replay(Arc::new(packets.iter().map(packet).collect())),
        }],
        ..FabricConfig::default()
    };
    Case { number: 0, config, until: 100 * T }
}

/// When the packets left their endpoint for the first time, and when they were delivered.
fn times(case: &Case) -> Vec<(u64, u64)> {
    if let Err(found) = compare(case) {
        panic!("{}", explain(case, &found));
    }
    let records = record::fast(&case.config, case.until);
    let started = |n: u32| {
        records.iter().find_map(|record| match *record {
            Record::Started { at, device: 0, id, .. } if id.sequence == n => Some(at),
            _ => None,
        })
    };
    let delivered = |n: u32| {
        records.iter().find_map(|record| match *record {
            Record::Delivered { at, sequence, .. } if sequence == u64::from(n) => Some(at),
            _ => None,
        })
    };
    (0..).map_while(|n| Some((started(n)?, delivered(n)?))).collect()
}

/// Part 6 §5.12: a port whose packet was retried chooses one of a higher priority next, if it has one.
/// Here it is created at the very instant at which packet-retry arrives. The switch takes a packet of
/// priority 0 only into its last free buffer of four; the first one is still there when the second comes.
#[test]
fn after_a_retry_a_higher_priority_goes_first() {
    let refused = 2 * T + L + PIPELINE;
    let retry = refused + S + L;
    let [first, second, third] = times(&refusing(&[(0, 0), (0, 0), (retry, 3)]))[..] else {
        panic!("three packets arrive")
    };
    assert_eq!((first.0, second.0), (0, T));
    // restart-from-retry takes S; the slow link carries ten times as long.
    assert_eq!(third.0, retry + S);
    let slow = 10 * T;
    let leaves = T + L + PIPELINE;
    assert_eq!(first.1, leaves + slow + L);
    assert_eq!(third.1, leaves + 2 * slow + L);
    assert!(second.1 >= third.1 + slow);
}

/// All that passes between the first start of a packet that is refused and the one that succeeds is told as
/// recovery, wherever it starts from then on.
#[test]
fn what_a_refusal_took_is_told_at_the_next_start() {
    let case = refusing(&[(0, 0), (0, 0)]);
    let [_, second] = times(&case)[..] else { panic!("two packets arrive") };
    // From a start to the next: the way, the pipeline, packet-retry on its way back, restart-from-retry.
    let period = T + L + PIPELINE + S + L + S;
    let arrives = |refusals: u64| T + refusals * period + T + L + PIPELINE;
    // The first packet holds its buffer while the slow link carries it.
    let free = T + L + PIPELINE + 10 * T;
    assert!(arrives(3) < free && free < arrives(4));
    assert_eq!(second, (T, arrives(4) + 10 * T + L));
    let parts = record::fast(&case.config, case.until).into_iter().find_map(|record| match record {
        Record::Started { device: 2, id, until, parts, .. } if id.sequence == 1 => Some((until, parts)),
        _ => None,
    });
    let (until, parts) = parts.expect("it starts at the switch");
    assert_eq!(parts[Cause::Recovery], 4 * period);
    assert_eq!((until, parts.total()), (second.1, second.1));
}

/// A queue is stopped from the message that stops it to the message that releases it, also while the link
/// recovers from a retry. Priority 1 enters if three of four buffers are free: two packets wait behind the
/// slow link, and the third is refused while its queue is stopped already.
#[test]
fn a_queue_is_stopped_while_its_link_recovers() {
    let mut case = refusing(&[(0, 1), (0, 1), (0, 1)]);
    let [e0, _, switch] = &mut case.config.devices[..] else { panic!("three devices") };
    e0.ports[0].voq.rx_sup = true;
    switch.ports[0].voq = PortVoq { gen_sup: true, gen_en: true, ..PortVoq::default() };
    switch.ports[1].voq.part = true;
    let DeviceModel::Endpoint(endpoint) = &mut e0.model else { panic!("an endpoint") };
    (endpoint.staging, endpoint.next_hop) = (StagingConfig::PerPort, Arc::new([0, 1].into_iter().collect()));
    let DeviceModel::Switch(switch) = &mut switch.model else { panic!("a switch") };
    switch.detector = Some(Detector { x_on: 1, x_off: 0, verdict: Verdict::Shared });
    assert_eq!(times(&case).len(), 3);
    let records = record::fast(&case.config, case.until);
    let edges: Vec<(u64, bool)> = records
        .iter()
        .filter_map(|record| match *record {
            Record::Edge { at, device: 0, stopped, .. } => Some((at, stopped)),
            _ => None,
        })
        .collect();
    // The second packet waits until the first has left.
    let (waits, leaves) = (2 * T + L + PIPELINE, T + L + PIPELINE + 10 * T);
    assert_eq!(edges[..2], [(waits + S + L, true), (leaves + S + L, false)]);
    let stopped: u64 = edges.chunks(2).map(|edge| edge[1].0 - edge[0].0).sum();
    let port = records.iter().find_map(|record| match *record {
        Record::Totals { device: 0, totals, .. } => Some(totals[record::STOPPED]),
        _ => None,
    });
    assert_eq!(port, Some(stopped));
    let recovery = records.iter().find_map(|record| match *record {
        Record::Link { device: 0, totals, .. } => Some(totals[5]),
        _ => None,
    });
    // Each refusal costs restart-from-retry; the last of them comes before the release.
    let refusals = 4;
    let refused = 3 * T + L + PIPELINE + (refusals - 1) * (T + L + PIPELINE + S + L + S);
    assert!(refused < leaves && refused + 2 * S + L < edges[1].0);
    assert_eq!(recovery, Some(refusals * S));
}

/// [`refusing`] with virtual channels on both links.
fn with_channels(packets: &[(u64, u8)], flow: FlowControl, channels: Channels, vcs: [VcConfig; 8]) -> Case {
    let mut case = refusing(packets);
    let channels = ChannelsConfig { channels, vcs, vc0_share: None, refresh: None };
    let link = SymbolicLink { flow, channels: Some(Box::new(channels)), ..case.config.symbolic[0].clone() };
    case.config.symbolic = vec![link.clone(), SymbolicLink { link: 1, ..link }];
    case
}

/// Part 6 §5.4.2, F-133: continuous traffic that finds no room is accepted and lost. The switch has one
/// buffer for VC1: it is free again when the slow link has carried the first packet, to the last bit.
#[test]
fn continuous_traffic_without_room_is_accepted_and_lost() {
    let vcs = [VcConfig { traffic: Traffic::Continuous, buffers: 1, share: 1 }; 8];
    let free = T + L + PIPELINE + 10 * T;
    let begins = free - T - L - PIPELINE;
    // The third arrives a picosecond before the buffer is free, the fourth a packet later.
    let vc = vc_priority(1);
    let packets = [(0, vc), (0, vc), (begins - 1, vc), (begins, vc)];
    let case = with_channels(&packets, FlowControl::Receiver, Channels::One, vcs);
    if let Err(found) = compare(&case) {
        panic!("{}", explain(&case, &found));
    }
    let records = record::fast(&case.config, case.until);
    let lost = record::reason(DropReason::NoRoom);
    let dropped: Vec<u64> = records
        .iter()
        .filter_map(|record| match *record {
            Record::Dropped { at, device: 2, reason, .. } if reason == lost => Some(at),
            _ => None,
        })
        .collect();
    assert_eq!(dropped, [2 * T + L + PIPELINE, free - 1]);
    let delivered: Vec<(u64, u64)> = records
        .iter()
        .filter_map(|record| match *record {
            Record::Delivered { at, sequence, .. } => Some((sequence, at)),
            _ => None,
        })
        .collect();
    assert_eq!(delivered, [(0, free + L), (3, free - 1 + T + 10 * T + L)]);
}

/// Part 6 §5.11, F-134: a turn is worth 280 octets times the share, and what is left of it is kept. VC1 and
/// VC8 of a link with two channels have shares of 1 and 2; packets have 276 octets, and there are always
/// some. Nobody sends in VC0, whose turn the first is, so channel 1 begins with 2 x 280 octets and channel 2
/// with 4 x 280.
#[test]
fn channels_take_turns_by_octets() {
    let mut vcs = [VcConfig { buffers: 29, ..VcConfig::default() }; 8];
    vcs[1].share = 2;
    let mut case = with_channels(&[], FlowControl::Transmitter, Channels::Two, vcs);
    case.config.links[1].char_ps = (CHAR, 1);
    let source = SourceConfig {
        destinations: Destinations::Fixed(1),
        sizes: Sizes::Fixed(PacketSize { payload: 256, wire: 276 }),
        arrivals: Arrivals::Saturated { backlog: 2 },
        ..case.config.sources[0].clone()
    };
    let in_vc = |vc, stream: &str| SourceConfig {
        priority: vc_priority(vc),
        stream: stream.into(),
        ..source.clone()
    };
    case.config.sources = vec![in_vc(1, "one"), in_vc(8, "two")];
    if let Err(found) = compare(&case) {
        panic!("{}", explain(&case, &found));
    }
    let starts: Vec<(u64, u16)> = record::fast(&case.config, case.until)
        .iter()
        .filter_map(|record| match *record {
            Record::Started { at, device: 0, id, .. } => Some((at, id.origin)),
            _ => None,
        })
        .collect();
    // What is left of their turns: 8 and 16 octets, then 12 and 24, 16 and 32, ...
    let turns = [0, 0, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1];
    let expected: Vec<(u64, u16)> = (0..).map(|n| n * T).zip(turns).collect();
    assert_eq!(starts[..turns.len()], expected);
}

/// F-13, F-46: an endpoint that was short of credit waits for it up to the next status, whatever its choices
/// find meanwhile. Of two packets for the slow link the second needs the buffer of the first. While it waits
/// a message stops its queue. At the instant at which the buffer is told to be free a third packet is
/// created, for another port, which a message on the same symbol stops: status first (F-4), so it is gone
/// before that.
#[test]
fn who_was_short_of_credit_waits_for_a_status() {
    let mut case = refusing(&[(0, 0), (0, 0)]);
    third_endpoint(&mut case, Vec::new());
    let config = &mut case.config;
    config.symbolic.clear();
    let freed = T + L + PIPELINE + 10 * T;
    let told = freed + S + L;
    let Arrivals::Replay(packets) = &mut config.sources[0].arrivals else { panic!("a list") };
    let third = ReplayPacket { at: Time(told), destination: 2, ..packets[0] };
    Arc::get_mut(packets).expect("nobody else has it").push(third);
    let [e0, _, switch, _] = &mut config.devices[..] else { panic!("four devices") };
    e0.ports[0].voq.rx_sup = true;
    switch.ports[0].voq = PortVoq { gen_sup: true, gen_en: true, ..PortVoq::default() };
    switch.ports[1].voq.part = true;
    switch.ports[2].voq.part = true;
    let DeviceModel::Endpoint(endpoint) = &mut e0.model else { panic!("an endpoint") };
    (endpoint.staging, endpoint.next_hop) =
        (StagingConfig::PerPort, Arc::new([0, 1, 2].into_iter().collect()));
    let change = VoqChange::Register { mask: csr::XOFF, value: csr::XOFF };
    let stop = |at: u64, port: u8| VoqWrite { at: Time(at), device: 2, port, change };
    config.voq_writes = vec![stop(freed - 2 * T, 1), stop(freed, 2)];
    if let Err(found) = compare(&case) {
        panic!("{}", explain(&case, &found));
    }
    let records = record::fast(&case.config, case.until);
    let stops: Vec<u64> = records
        .iter()
        .filter_map(|record| match *record {
            Record::Edge { at, device: 0, stopped: true, .. } => Some(at),
            _ => None,
        })
        .collect();
    assert_eq!(stops, [freed - 2 * T + S + L, told]);
    let starts: Vec<(u32, u64)> = records
        .iter()
        .filter_map(|record| match *record {
            Record::Started { at, device: 0, id, .. } => Some((id.sequence, at)),
            _ => None,
        })
        .collect();
    assert_eq!(starts, [(0, 0), (2, told)]);
}

/// A third endpoint at the switch, device 3, that sends these.
fn third_endpoint(case: &mut Case, packets: Vec<ReplayPacket>) {
    let config = &mut case.config;
    let mut third = config.devices[0].clone();
    third.path = "e3".into();
    let DeviceModel::Endpoint(endpoint) = &mut third.model else { panic!("an endpoint") };
    endpoint.ids = vec![2];
    config.devices.push(third);
    let port = config.devices[2].ports[0].clone();
    config.devices[2].ports.push(port);
    let DeviceModel::Switch(switch) = &mut config.devices[2].model else { panic!("a switch") };
    switch.routes.entries.push(Route { egress: Egress::Port(2), next_hop: NO_PORT });
    config.links.push(LinkConfig { a: (3, 0), b: (2, 2), ..config.links[0].clone() });
    (config.id_space, config.owners) = (3, vec![0, 1, 3]);
    let link = SymbolicLink { link: 2, ..config.symbolic[0].clone() };
    config.symbolic.push(link);
    config.sources.push(SourceConfig {
        endpoint: 3,
        stream: "e3".into(),
        arrivals: Arrivals::Replay(Arc::new(packets)),
        ..config.sources[0].clone()
    });
}

/// What there is on an end of a link, by [`Record::link`].
fn link_totals(case: &Case, device: u32) -> [u64; 10] {
    let records = record::fast(&case.config, case.until);
    let of = |record: &Record| match *record {
        Record::Link { device: d, port: 0, totals, .. } if d == device => Some(totals),
        _ => None,
    };
    records.iter().find_map(of).expect("it is a link that refuses")
}

/// From the arrival of packet-not-accepted to that of link-response: link-request goes through the pipeline.
const ANSWER: u64 = S + L + PIPELINE + S + L;
/// From a start of a packet that is refused to the next.
const ROUND: u64 = T + L + PIPELINE + S + L + ANSWER;

/// Part 6 §5.13.2.6, F-141 to F-147: with channels a packet without room costs packet-not-accepted,
/// link-request, link-response, and comes again. The one buffer of VC1 is in use until the slow link has
/// carried the first packet.
#[test]
fn a_refusal_in_a_channel_costs_a_recovery() {
    let vcs = [VcConfig { buffers: 1, ..VcConfig::default() }; 8];
    let vc = vc_priority(1);
    let case = with_channels(&[(0, vc), (0, vc)], FlowControl::Receiver, Channels::One, vcs);
    let [first, second] = times(&case)[..] else { panic!("two packets arrive") };
    let arrives = |refusals: u64| T + refusals * ROUND + T + L + PIPELINE;
    let free = T + L + PIPELINE + 10 * T;
    assert!(arrives(2) < free && free < arrives(3));
    assert_eq!(first, (0, free + L));
    assert_eq!(second, (T, arrives(3) + 10 * T + L));
    let parts = record::fast(&case.config, case.until).into_iter().find_map(|record| match record {
        Record::Delivered { sequence: 1, parts, .. } => Some(parts),
        _ => None,
    });
    assert_eq!(parts.expect("it arrives")[Cause::Recovery], 3 * ROUND);
    // Sent: two packets, one of them three times more; the link recovered whenever it did not send.
    assert_eq!(link_totals(&case, 0), [0, 0, 3, 2, 3 * T, 3 * ANSWER, 0, 3, 0, 0]);
    assert_eq!(link_totals(&case, 2), [0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
}

/// F-141, F-145: continuous traffic that comes while the input is stopped is taken, and not sent again; what
/// finds no room is lost. VC1 has a buffer and is reliable, VC8 is neither.
#[test]
fn continuous_traffic_goes_on_while_the_input_is_stopped() {
    let mut vcs = [VcConfig { buffers: 1, ..VcConfig::default() }; 8];
    vcs[1].traffic = Traffic::Continuous;
    let (reliable, continuous) = (vc_priority(1), vc_priority(8));
    // The second is refused at 2 T + L + PIPELINE, and the two after it have been sent by then.
    let packets = [(0, reliable), (0, reliable), (T, continuous), (2 * T, continuous)];
    let case = with_channels(&packets, FlowControl::Receiver, Channels::Two, vcs);
    let records = record::fast(&case.config, case.until);
    if let Err(found) = compare(&case) {
        panic!("{}", explain(&case, &found));
    }
    let retry = 2 * T + L + PIPELINE + S + L;
    assert!(4 * T > retry && 3 * T < retry, "the last one is cut");
    let starts: Vec<u64> = records
        .iter()
        .filter_map(|record| match *record {
            Record::Started { at, device: 0, .. } => Some(at),
            _ => None,
        })
        .collect();
    assert_eq!(starts[..4], [0, T, 2 * T, 3 * T]);
    // The third is taken at once and waits behind the first; the last one, again, finds its buffer in use.
    let delivered: Vec<u64> = records
        .iter()
        .filter_map(|record| match *record {
            Record::Delivered { sequence, .. } => Some(sequence),
            _ => None,
        })
        .collect();
    assert_eq!(delivered, [0, 2, 1]);
    let lost = record::reason(DropReason::NoRoom);
    let is_lost =
        |record: &&Record| matches!(record, Record::Dropped { device: 2, reason, .. } if *reason == lost);
    assert_eq!(records.iter().filter(is_lost).count(), 1);
    let [_, cancelled, repeated, .., lost_on_link] = link_totals(&case, 0);
    let [.., not_accepted, _, lost_no_room, _] = link_totals(&case, 2);
    assert_eq!((cancelled, lost_on_link, lost_no_room), (1, 0, 1));
    assert!(not_accepted > 1);
    // Each time the second, and once the last.
    assert_eq!((repeated, starts.len() as u64), (not_accepted + 1, 4 + repeated));
}

/// docs/scenarios.md: "without `vc0_share` VC0 goes before all other channels", also before those that
/// have to repeat. A packet of VC0 is created at the instant at which link-response arrives.
#[test]
fn vc0_goes_before_what_a_channel_repeats() {
    let vcs = [VcConfig { buffers: 1, ..VcConfig::default() }; 8];
    let vc = vc_priority(1);
    let goes_on = T + ROUND;
    let packets = [(0, vc), (0, vc), (goes_on, 0)];
    let case = with_channels(&packets, FlowControl::Receiver, Channels::One, vcs);
    let [_, second, third] = times(&case)[..] else { panic!("three packets arrive") };
    assert_eq!((second.0, third.0), (T, goes_on));
}

/// Part 6 §5.12, F-146: within VC0 a higher priority goes before what has to be repeated, also where VC0
/// takes turns with the channels, as long as none of those has something to repeat. It is created at the
/// instant at which link-response arrives.
#[test]
fn a_higher_priority_goes_first_where_vc0_has_a_share() {
    let vcs = [VcConfig { buffers: 1, ..VcConfig::default() }; 8];
    let goes_on = T + ROUND;
    let third = |refused: u8| {
        let packets = [(0, refused), (0, refused), (goes_on, 3)];
        let mut case = with_channels(&packets, FlowControl::Receiver, Channels::One, vcs);
        for link in &mut case.config.symbolic {
            link.channels.as_mut().expect("all links have channels").vc0_share = Some(1);
        }
        let [_, second, third] = times(&case)[..] else { panic!("three packets arrive") };
        assert_eq!(second.0, T);
        third.0
    };
    assert_eq!(third(0), goes_on);
    // What the channel repeats begins first.
    assert_eq!(third(vc_priority(1)), goes_on + T);
}

/// F-123, F-143: a status that waits for the end of a packet that then does not begin moves up, and
/// leaves behind link-request; what comes after it does not wait.
///
/// VC1 sends `A1` and `A2` to the slow endpoint; `A2` is refused while a packet `B1` goes the other way,
/// so that packet-not-accepted rides on the end of `B1`. Half a symbol after `B1` is in, `C` is committed
/// behind the status for `B1`, and VC_status is due: that of the first channel rides on the start of `C`,
/// that of the second waits for its end. At the start of `C` packet-not-accepted is there.
#[test]
fn a_status_behind_a_packet_that_does_not_begin_moves_up() {
    let vcs = [VcConfig { buffers: 1, ..VcConfig::default() }; 8];
    let way = L + PIPELINE;
    // The end of `B1`, at the switch and at the endpoint.
    let ends = T / 2 + T + way + T;
    let arrives = ends + L;
    let vc = vc_priority(1);
    let packets = [(0, vc), (0, vc), (arrives + S / 2, vc)];
    let mut case = with_channels(&packets, FlowControl::Receiver, Channels::Two, vcs);
    // `B1` to `B4` come from a third endpoint, the last three short.
    let short = PacketSize { payload: 8, wire: 28 };
    let length = (28 + 8) * CHAR;
    let packet = |size| ReplayPacket { at: Time(T / 2), destination: 0, size, priority: 3, ftype: 5 };
    let long = packet(PacketSize { payload: 256, wire: 276 });
    third_endpoint(&mut case, vec![long, packet(short), packet(short), packet(short)]);
    let config = &mut case.config;
    // The first commitments after this are those of `C`, and of `B2`.
    for link in &mut config.symbolic {
        let channels = link.channels.as_mut().expect("all links have channels");
        channels.refresh = (link.link == 0).then_some(Duration(arrives - S));
    }
    // The switch may have two packets on their way: each but the first two waits for a status.
    config.links[0].ack_window = 2;
    if let Err(found) = compare(&case) {
        panic!("{}", explain(&case, &found));
    }
    let records = record::fast(&case.config, case.until);
    let delivered: Vec<u64> = records
        .iter()
        .filter_map(|record| match *record {
            Record::Delivered { at, destination: 0, .. } => Some(at),
            _ => None,
        })
        .collect();
    // A packet and its status.
    let round = length + L + S + L;
    let (second, third, fourth) = (ends, arrives + S + L, ends + round);
    assert!(fourth >= third + length, "what waits is the window, not the link");
    assert_eq!(delivered, [ends, second + length, third + length, fourth + length].map(|at| at + L));
}

/// F-4, F-6: link-request takes effect where its key says, also without a pipeline: after all that follows
/// from the status on the same symbol, which became due before it left.
///
/// The switch has a buffer for VC1, a pipeline of 0, and may have two packets on their way. `A2` is refused
/// while `A3` is on the wire. The statuses for `B1` and `B2` wait for its end. link-request cuts it, and
/// carries the first of them: `B3`, which waits for that, begins before the answers.
#[test]
fn a_status_comes_before_the_link_request_on_its_symbol() {
    let vcs = [VcConfig { buffers: 1, ..VcConfig::default() }; 8];
    let vc = vc_priority(1);
    let packets = [(0, vc), (0, vc), (0, vc)];
    let mut case = with_channels(&packets, FlowControl::Receiver, Channels::One, vcs);
    // `B1` is at the endpoint soon after `A3` has begun.
    let length = (28 + 8) * CHAR;
    let arrives = 2 * T + 30_000;
    let size = PacketSize { payload: 8, wire: 28 };
    let at = Time(arrives - 2 * (length + L));
    third_endpoint(&mut case, vec![ReplayPacket { at, destination: 0, size, priority: 3, ftype: 5 }; 3]);
    case.config.links[0].ack_window = 2;
    let DeviceModel::Switch(switch) = &mut case.config.devices[2].model else { panic!("a switch") };
    switch.pipeline = Duration(0);
    if let Err(found) = compare(&case) {
        panic!("{}", explain(&case, &found));
    }
    let refused = 2 * T + L;
    let request = refused + S + L;
    assert!(arrives + length < request && request < 3 * T, "both statuses wait for the end of `A3`");
    assert_eq!((request - 2 * T) % (4 * CHAR), 0, "it is cut at once");
    let starts: Vec<u64> = record::fast(&case.config, case.until)
        .iter()
        .filter_map(|record| match *record {
            Record::Started { at, device: 2, port: 0, .. } => Some(at),
            _ => None,
        })
        .collect();
    let first = arrives - length - L;
    assert_eq!(starts, [first, first + length, request + S + L]);
}
