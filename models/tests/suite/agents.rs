//! Endpoints that run protocols: closed forms of round trips, queues of hosts, protocol clock, events.
use crate::common::*;
use models::config::*;
use models::probe::{FACTS, ProtocolFact, TimeoutKind};
use models::{Cause, Probe, Progress, RunOptions, Simulation};
use sim_core::{Duration, Time};
use std::sync::Arc;

const PIPELINE: u64 = 100_000;
const PROPAGATION: u64 = 20_000;

/// One way over one idle switch for a packet of so many octets on the wire.
fn one_way(wire: u64) -> u64 {
    2 * ((wire + 8) * CHAR_PS + PROPAGATION) + PIPELINE
}

fn saturated(to: u32, octets: u16, limit: u64) -> SourceConfig {
    sender(Destinations::Fixed(to), Arrivals::Saturated { backlog: 1 }, octets, limit)
}

fn rpc(carrier: Carrier, answer: u32) -> ProtocolConfig {
    ProtocolConfig::Rpc { carrier, answer, timeout: u64::MAX / 2 }
}

fn fixed(ps: u64) -> ServiceTime {
    ServiceTime::Fixed(Duration(ps))
}

/// The response to the request goes before the answer: 8 octets and a delimiter.
#[test]
fn a_round_trip_of_messages_takes_what_its_packets_take() {
    let mut net = single(2, switch(2));
    net.conversation(rpc(MESSAGE, 8), &[0, 1], &[(0, saturated(1, 256, 3))]);
    let (log, outcome) = net.run(10_000_000);
    // 6 octets of header, 256 of data, 2 CRCs, padding; 6 + 8 + CRC.
    let expected = one_way(268) + (8 + 8) * CHAR_PS + one_way(16);
    assert_eq!(log.round_trips.len(), 3);
    for (n, trip) in log.round_trips.iter().enumerate() {
        // From the second on the request waits for the response to the answer before it.
        let behind = if n == 0 { 0 } else { 16 * CHAR_PS };
        assert_eq!((trip.latency(), trip.source, trip.destination), (expected + behind, 0, 0));
        assert_eq!(trip.parts[Cause::SourceQueue], 16 * CHAR_PS + behind);
        assert_eq!(trip.parts[Cause::Serialization], 2 * (276 + 24) * CHAR_PS);
        assert_eq!(trip.parts[Cause::Propagation], 4 * PROPAGATION);
        assert_eq!(trip.parts[Cause::Pipeline], 2 * PIPELINE);
        assert_eq!((trip.parts[Cause::Host], trip.parts[Cause::Protocol]), (0, 0));
    }
    assert_eq!(log.messages.len(), 6);
    let [flow] = outcome.protocols[..] else { panic!("{:?}", outcome.protocols) };
    assert_eq!((flow.sent, flow.completed, flow.delivered, flow.round_trips), (6, 6, 6, 3));
    assert_eq!((flow.requests, flow.responses, flow.facts), (6, 6, [0; FACTS]));
    assert_eq!((flow.payload, flow.link_octets), (3 * (256 + 8), 3 * (276 + 16 + 24 + 16)));
    assert_eq!((outcome.injected, outcome.delivered), (12, 12));
}

#[test]
fn a_read_takes_what_its_packets_take() {
    let mut net = single(2, switch(2));
    net.conversation(rpc(Carrier::Read, 256), &[0, 1], &[(0, saturated(1, 256, 2))]);
    let (log, outcome) = net.run(10_000_000);
    // 10 octets of request with a CRC; 6 + 256 with two.
    let expected = one_way(12) + one_way(268);
    assert_eq!(log.round_trips.iter().map(|trip| trip.latency()).collect::<Vec<_>>(), [expected; 2]);
    assert!(log.messages.is_empty(), "nothing reaches the software of the other end");
    assert_eq!((outcome.protocols[0].payload, outcome.protocols[0].link_octets), (512, 2 * (20 + 276)));
}

#[test]
fn a_stream_takes_what_its_last_segment_takes() {
    let mut net = single(2, switch(2));
    let protocol = ProtocolConfig::Workload { carrier: STREAM };
    net.conversation(protocol, &[0, 1], &[(0, saturated(1, 1_000, 1))]);
    let (log, _) = net.run(10_000_000);
    // Start: 8 + 256, two CRCs, no padding; continuations: 6 + 256, two CRCs, padding; end: 8 + 232.
    let segments = [268, 268, 268, 244];
    let before: u64 = segments[..3].iter().map(|wire| (wire + 8) * CHAR_PS).sum();
    let [pdu] = log.messages[..] else { panic!("{:?}", log.messages) };
    // The last is shorter than the one before it, and waits for it in the switch.
    let catches_up = (268 - 244) * CHAR_PS;
    assert_eq!(pdu.latency(), before + catches_up + one_way(244));
    assert_eq!((pdu.payload, pdu.parts[Cause::SourceQueue]), (1_000, before));
    assert_eq!(pdu.parts[Cause::OutputContention], catches_up);
}

#[test]
fn services_of_hosts_are_part_of_the_round_trip() {
    let mut net = single(2, switch(2));
    net.conversation(rpc(MESSAGE, 8), &[0, 1], &[(0, saturated(1, 256, 3))]);
    net.agent(0).host.rx_service = fixed(300_000);
    net.agent(0).host.tx_service = fixed(100_000);
    net.agent(1).host.rx_service = fixed(500_000);
    net.agent(1).host.tx_service = fixed(200_000);
    let (log, outcome) = net.run(10_000_000);
    assert_eq!(log.round_trips.len(), 3);
    for trip in &log.round_trips {
        // The response to the request is gone long before the answer.
        assert_eq!(trip.latency(), one_way(268) + one_way(16) + 1_100_000);
        assert_eq!(trip.parts[Cause::Host], 1_100_000);
    }
    let queues = outcome.agents.iter().map(|(_, host)| (host.rx_high_water, host.rx_depth_ps));
    assert_eq!(queues.collect::<Vec<_>>(), [(1, 3 * 300_000), (1, 3 * 500_000)]);
}

/// Three senders, one slow host with two places: what finds no place is answered by RETRY and sent again,
/// and nothing is lost.
#[test]
fn a_full_host_answers_retry_and_loses_no_message() {
    let mut net = single(4, switch(4));
    let protocol = ProtocolConfig::Workload { carrier: MESSAGE };
    let senders: Vec<_> = (0..3).map(|e| (e, saturated(3, 256, 20))).collect();
    let flow = net.conversation(protocol, &[0, 1, 2, 3], &senders);
    net.agent(3).host = HostConfig { rx_service: fixed(2_000_000), tx_service: fixed(0), rx_queue: 2 };
    let (log, outcome) = net.run(200_000_000);
    assert_eq!(log.messages.len(), 60);
    // The host is never idle once it has work: the first comes after one way.
    let last = log.messages.iter().map(|m| m.at.0).max().unwrap();
    assert_eq!(last, one_way(268) + 60 * 2_000_000);
    let stats = outcome.protocols[flow as usize];
    let retries = stats.facts[ProtocolFact::Retried as usize];
    assert!(retries > 100, "{retries}");
    assert_eq!((stats.completed, stats.requests, stats.responses), (60, 60 + retries, 60 + retries));
    assert_eq!(outcome.agents[3].1.rx_high_water, 2);
    // Every RETRY is answered by one host, and the flow has no other end that takes messages.
    assert_eq!(outcome.agents[3].1.flows.facts, stats.facts);
    assert_eq!((outcome.agents[3].1.flows.delivered, outcome.agents[0].1.flows.sent), (60, 20));
    // Retries are the protocol's time.
    assert!(log.messages.iter().any(|m| m.parts[Cause::Protocol] > 1_000_000));
}

#[test]
fn a_full_host_discards_streams() {
    let mut net = single(2, switch(2));
    let protocol = ProtocolConfig::Workload { carrier: STREAM };
    let flow = net.conversation(protocol, &[0, 1], &[(0, saturated(1, 600, 50))]);
    net.agent(1).host = HostConfig { rx_service: fixed(5_000_000), tx_service: fixed(0), rx_queue: 1 };
    let (log, outcome) = net.run(300_000_000);
    let stats = outcome.protocols[flow as usize];
    let discarded = stats.facts[ProtocolFact::Discarded as usize];
    assert_eq!((stats.sent, stats.completed), (50, 50));
    assert_eq!(log.messages.len() as u64 + discarded, 50);
    assert!(discarded > 40, "{discarded}");
}

/// A client waits a thousand times longer for the protocol than for the fabric.
#[test]
fn the_protocol_clock_scales_timeouts_and_not_the_load() {
    for (clock, late) in [((1, 1), 1_000_000), ((1_000, 1), 1_000), ((3, 7), 2_333_334)] {
        let mut net = single(2, switch(2));
        // Nobody answers in a picosecond: the server's host takes for ever.
        let protocol = ProtocolConfig::Rpc { carrier: MESSAGE, answer: 8, timeout: 1_000_000 };
        let arrivals = Arrivals::Constant { interval: (50_000_000, 1), phase: Duration(7) };
        let client = sender(Destinations::Fixed(1), arrivals, 8, 2);
        net.conversation(protocol, &[0, 1], &[(0, client)]);
        net.agent(0).clock = clock;
        net.agent(1).host.rx_service = fixed(1_000_000_000);
        let (log, _) = net.run(90_000_000);
        let facts: Vec<_> = log.events.iter().map(|event| (event.at, event.fact)).collect();
        let expected = [7, 50_000_007].map(|sent| {
            // The deadline is a whole picosecond of the protocol clock.
            let now = sent * clock.0 / clock.1;
            let at = ((now + 1_000_000) * clock.1).div_ceil(clock.0);
            assert!(at.abs_diff(sent + late) <= 1, "{at} is not {late} after {sent}");
            (Time(at), ProtocolFact::TimedOut)
        });
        assert_eq!(facts, expected, "{clock:?}");
        let late: Vec<_> =
            log.timeouts.iter().map(|late| (late.at, late.flow, late.device, late.kind)).collect();
        assert_eq!(late, expected.map(|(at, _)| (at, Some(0), 0, TimeoutKind::Answer)), "{clock:?}");
    }
}

/// Background traffic of the same endpoints ends at the port; messages wait behind it on the link.
#[test]
fn background_load_shares_the_link_with_an_agent() {
    let mut net = single(2, switch(2));
    net.constant(0, 0, 1, 60, 0);
    let flow = net.conversation(rpc(MESSAGE, 8), &[0, 1], &[(0, saturated(1, 256, 40))]);
    net.agent(1).host.rx_service = fixed(1_000);
    let (log, _) = net.run(400 * T);
    assert_eq!(log.round_trips.len(), 40);
    let queued: u64 = log.round_trips.iter().map(|trip| trip.parts[Cause::SourceQueue]).sum();
    assert!(queued > 40 * 6_400, "messages never waited for the link");
    assert!(log.deliveries.iter().filter(|d| d.flow != flow).count() > 100);
    assert!(log.messages.iter().all(|m| m.flow == flow));
}

/// Follows packets in the order of their steps.
struct InOrder;

impl Probe for InOrder {
    fn follows_packets(&self) -> bool {
        true
    }
}

/// A segment and its response, against a packet whose creation is not made up: 16 at once, again and again.
/// (Each delivery to an agent is an event and those to a sink are not, so single segments, far apart, cost
/// more: 5 events against 2.)
///
/// Beside that one for the buffer that each response leaves: packets as short as these could use up 16
/// buffers before the next acknowledgement is back, so each is told when it is free (F-47).
#[test]
fn a_segment_with_its_response_costs_no_more_than_2_2_times_the_events_of_a_packet() {
    const COUNT: u64 = 2_000;
    let mut bare = single(2, switch(2));
    let burst = |n: u64| ReplayPacket {
        at: Time(n / 16 * 32 * T),
        destination: 1,
        size: SIZE,
        priority: 0,
        ftype: 5,
    };
    let trace = Arrivals::Replay(Arc::new((0..COUNT).map(burst).collect()));
    bare.source(0, 0, trace, Destinations::Replay).sizes = Sizes::Replay;
    let mut run = Simulation::new(Arc::new(bare.config), RunOptions::default(), InOrder);
    assert_eq!(run.run(Time(3 * COUNT * T), u64::MAX), Progress::Drained);
    let packets = run.finish().1;
    let mut net = single(2, switch(2));
    let protocol = ProtocolConfig::Workload { carrier: MESSAGE };
    let arrivals = Arrivals::Constant { interval: (32 * T, 1), phase: Duration(0) };
    let source = sender(Destinations::Fixed(1), arrivals, 4_096, COUNT / 16);
    net.conversation(protocol, &[0, 1], &[(0, source)]);
    let messages = net.run(3 * COUNT * T).1;
    assert_eq!((packets.delivered, messages.delivered), (COUNT, 2 * COUNT));
    let (a, b) = (packets.events, messages.events);
    println!("{a} events for {COUNT} packets, {b} for as many segments: {} in a thousand", 1_000 * b / a);
    let told = COUNT;
    assert!(10 * (b - told) <= 22 * a, "{b} events without {told} are more than 2.2 times {a}");
}
