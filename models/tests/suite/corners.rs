//! Small rules that larger tests pass by: each fails when one line of the fabric is broken.
use crate::common::*;
use models::Cause;
use models::config::*;
use sim_core::Duration;

const PROPAGATION: u64 = 20_000;
const PIPELINE: u64 = 100_000;

/// Endpoints 0 and 1 at the first switch, 2 to 5 at the second, whose ports 0 to 3 lead to them.
fn chain() -> Net {
    let mut net = Net::new(vec![switch(3), switch(5)], &[0, 0, 1, 1, 1, 1], &[(0, 1)]);
    let detector = Detector { x_on: 40, x_off: 20, verdict: Verdict::PerIngress };
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net
}

/// A packet of a stopped queue does not start, also where nothing else waits: at a switch, and at an
/// endpoint.
///
/// Proves: VOQ-4.2-3
#[test]
fn a_lone_packet_of_a_stopped_queue_waits() {
    // At the first switch, for the second's port to endpoint 3.
    let mut net = chain();
    net.ports_mut(1)[1].voq.xoff = true;
    net.burst(0, 0, 3, 10 * T, 1);
    net.burst(0, 0, 2, 20 * T, 1);
    let (log, outcome) = net.run(200 * T);
    assert_eq!(log.deliveries.iter().map(|d| d.flow).collect::<Vec<_>>(), [1]);
    assert_eq!((outcome.in_flight, log.deliveries[0].parts[Cause::Staged]), (1, 0));
    assert_eq!(totals(&outcome, 6, 2).packets_sent, 1, "it stays at the switch");
    // At an endpoint, for its switch's port to endpoint 1.
    let mut net = chain();
    net.ports_mut(0)[1].voq.xoff = true;
    net.burst(0, 0, 1, 10 * T, 1);
    net.burst(0, 0, 2, 20 * T, 1);
    let (log, outcome) = net.run(200 * T);
    assert_eq!(log.deliveries.iter().map(|d| d.flow).collect::<Vec<_>>(), [1]);
    assert_eq!((outcome.in_flight, totals(&outcome, 0, 0).packets_sent), (1, 1));
}

/// Packets that moved aside for a stopped queue are counted, and their place is given up with the last of
/// them (debug builds look at every sample).
#[test]
fn what_moved_aside_is_counted() {
    let mut net = Net::new(vec![switch(3), switch(5)], &[0, 0, 1, 1, 1, 1], &[(0, 1)]);
    let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress };
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net.config.sample_every = Some(Duration(T / 3));
    net.slow(2, 3);
    net.burst(0, 0, 2, 0, 40);
    net.burst(1, 0, 3, 0, 40);
    let (log, outcome) = net.run(400 * T);
    assert_eq!((outcome.delivered, outcome.in_flight), (80, 0));
    assert!(log.stops(6, 2, 0).len() > 3, "{:?}", log.edges);
}

/// Without load a packet cuts through when its header is in: with `header` octets and a delimiter of its
/// time, or with all of it if it is shorter; with whole and with broken characters.
#[test]
fn cut_through_takes_the_time_of_the_header() {
    for char_ps in [(CHAR_PS, 1), (801, 2), (2_680_000, 4_125)] {
        for header in [4u8, 12, 40] {
            for size in [SIZE, PacketSize { payload: 8, wire: 20 }] {
                let model = SwitchConfig { forwarding: Forwarding::CutThrough { header }, ..switch(2) };
                let mut net = single(2, model);
                net.config.links.iter_mut().for_each(|l| l.char_ps = char_ps);
                net.burst(0, 0, 1, 0, 1);
                net.config.sources[0].sizes = Sizes::Fixed(size);
                let (log, _) = net.run(100 * T);
                let whole = (u64::from(size.wire) + 8) * char_ps.0 / char_ps.1;
                let stored = ((u64::from(header) + 8) * char_ps.0 / char_ps.1).min(whole);
                let law = stored + 2 * PROPAGATION + PIPELINE + whole;
                let seen = log.deliveries[0].latency();
                assert_eq!(seen, law, "{char_ps:?}, header {header}, {} octets", size.wire);
            }
        }
    }
}

/// What an endpoint creates at the instant of a message of Part 12 finds an idle link, as does all that it
/// creates later, and nothing is left over: every packet takes the time of an empty path.
#[test]
fn a_creation_at_the_instant_of_a_message() {
    let build = |phase: Option<u64>| {
        let mut net = single(4, switch(4));
        let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared };
        net.backpressure(&StagingConfig::PerPort, Some(detector));
        net.slow(2, 8);
        net.burst(1, 0, 2, 0, 20);
        if let Some(phase) = phase {
            net.constant(0, 0, 3, 20, phase).limit = 10;
        }
        net.run(400 * T)
    };
    let stops = build(None).0.stops(0, 0, 2);
    assert!(stops.len() >= 3, "{stops:?}");
    for at in stops.into_iter().flat_map(|(from, until)| [from, until]) {
        let (log, outcome) = build(Some(at));
        let seen: Vec<u64> = log.of(1).map(|d| d.at.0).collect();
        let law = (0..10).map(|n| at + n * 5 * T + 2 * (T + PROPAGATION) + PIPELINE);
        assert_eq!(seen, law.collect::<Vec<_>>(), "from {at} on");
        assert_eq!((outcome.delivered, outcome.in_flight), (30, 0));
    }
}

/// Whose packets a detector counts: all that wait in the switch for the port, but of a shared output buffer
/// only those in the buffer.
///
/// Proves: VOQ-2.5-5
#[test]
fn what_a_detector_counts() {
    let two = Buffering::Output { packets: 2 };
    for (buffering, verdict, stops) in [
        (Buffering::Direct, Verdict::Shared, true),
        (Buffering::Direct, Verdict::PerIngress, true),
        (Buffering::Crosspoint { depth: 1 }, Verdict::Shared, true),
        (Buffering::Crosspoint { depth: 1 }, Verdict::PerIngress, true),
        (two, Verdict::PerIngress, true),
        (two, Verdict::Shared, false),
    ] {
        let mut net = single(3, SwitchConfig { buffering, ..switch(3) });
        net.backpressure(&StagingConfig::PerPort, Some(Detector { x_on: 4, x_off: 1, verdict }));
        net.switch_mut(0).staging = StagingConfig::None;
        net.slow(2, 8);
        net.burst(0, 0, 2, 0, 10);
        let (log, outcome) = net.run(400 * T);
        assert_eq!(outcome.delivered, 10);
        assert_eq!(!log.stops(0, 0, 2).is_empty(), stops, "{buffering:?}, {verdict:?}");
    }
}

/// A refresh is charged once for each period in which the port sends, with the first packet of the period,
/// and periods without a packet cost nothing.
#[test]
fn refreshes_are_charged_by_period() {
    let period = 20 * T;
    let mut net = single(2, switch(2));
    let detector = Detector { x_on: 9, x_off: 2, verdict: Verdict::PerIngress };
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net.switch_mut(0).refresh = Some(Duration(period));
    // On the way to endpoint 0 from about 3 T after these; the periods are 0, 1 (twice), 4 (three times), 5,
    // 6.
    for at in [5, 22, 30, 83, 84, 85, 101, 131] {
        net.burst(1, 0, 0, at * T, 1);
    }
    let (log, outcome) = net.run(200 * T);
    assert_eq!(log.deliveries.len(), 8);
    assert_eq!(totals(&outcome, 2, 0).voq_refreshes, 4);
    // And none where nothing is generated.
    net.ports_mut(0)[0].voq.gen_en = false;
    assert_eq!(totals(&net.run(200 * T).1, 2, 0).voq_refreshes, 0);
}

/// A refresh that had to repair a lost message is the one of its period, like any other.
///
/// Proves: VOQ-4.2-7
#[test]
fn the_refresh_that_repairs_is_not_charged_twice() {
    for period in [10 * T, 37 * T, 100 * T] {
        let build = |lost: bool| {
            let mut net = single(4, switch(4));
            let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress };
            net.backpressure(&StagingConfig::PerPort, Some(detector));
            net.switch_mut(0).staging = StagingConfig::None;
            net.switch_mut(0).refresh = Some(Duration(period));
            net.buffers(61);
            net.slow(2, 3);
            net.burst(0, 0, 2, 0, 60);
            // Packets the other way in every period.
            net.constant(1, 0, 0, 25, 0);
            if lost {
                net.config.symbol_losses =
                    vec![SymbolLoss { device: 4, port: 0, kind: LossKind::Xon, nth: 1 }];
            }
            let (log, outcome) = net.run(1_000 * T);
            assert_eq!(log.of(0).count(), 60);
            let port = totals(&outcome, 4, 0);
            (port.voq_lost, port.voq_refreshes)
        };
        // A start every 4 T, the last of them within 4 T of the end.
        assert_eq!(build(false), (0, 996 * T / period), "period {} T", period / T);
        assert_eq!(build(true), (1, 996 * T / period), "period {} T", period / T);
    }
}

/// A message that reaches an endpoint in the very instant of a creation does not silence the source.
#[test]
fn a_message_in_the_instant_of_a_creation() {
    let build = |at: Option<u64>| {
        let mut net = single(4, switch(4));
        let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared };
        net.backpressure(&StagingConfig::PerPort, Some(detector));
        net.switch_mut(0).staging = StagingConfig::None;
        net.slow(2, 8);
        net.burst(1, 0, 2, 0, 12);
        if let Some(at) = at {
            let arrivals = Arrivals::Constant { interval: (40 * T, 1), phase: Duration(at) };
            net.source(0, 0, arrivals, Destinations::Fixed(3)).limit = 5;
        }
        net.run(2_000 * T).0
    };
    let stops = build(None).stops(0, 0, 2);
    let (_, go) = *stops.last().expect("endpoint 0 hears of port 2");
    assert_ne!(go, u64::MAX);
    for at in [go, go - 1, go + 1] {
        let log = build(Some(at));
        let created: Vec<u64> = log.of(1).map(|d| d.created.0).collect();
        assert_eq!(created, [at, at + 40 * T, at + 80 * T, at + 120 * T, at + 160 * T]);
        assert_eq!(log.stops(0, 0, 2), stops);
    }
}

/// Every copy of a multicast packet of a protocol carries what the original does.
#[test]
fn copies_carry_what_the_original_carries() {
    let mut net = single(4, switch(4));
    let group = net.multicast(&[1, 2, 3]);
    let source = sender(Destinations::Fixed(group), Arrivals::Saturated { backlog: 1 }, 400, 5);
    let messages = ProtocolConfig::Workload { carrier: STREAM };
    net.conversation(messages, &[0, 1, 2, 3], &[(0, source)]);
    let (log, outcome) = net.run(200 * T);
    assert_eq!(log.messages.len(), 15, "{:?}", outcome.protocols);
    for m in &log.messages {
        assert_eq!(m.payload, 400);
    }
}
