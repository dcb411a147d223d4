//! How often queues stop and go, who suffers from whom, and what a lost message does (F.4, F.7 to F.10).
use crate::common::*;
use models::config::*;
use sim_core::Duration;
use std::sync::Arc;

const PROPAGATION: u64 = 20_000;
const PIPELINE: u64 = 100_000;

fn star(ports: usize, detector: Detector, output: Option<u16>) -> Net {
    let mut net = single(ports, switch(ports as u8));
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    let model = net.switch_mut(0);
    model.staging = StagingConfig::None;
    model.reads_per_input = 4;
    if let Some(packets) = output {
        model.buffering = Buffering::Output { packets };
    }
    net.buffers(61);
    net
}

/// Messages never exceed 2 mu/h; for h >= 8 a cycle is within 0.90..1.03 of lambda (h + lambda D) / (mu
/// (lambda - mu)), the band in which an independent model found it. D includes the pipeline, and is no
/// multiple of T, where one packet less overshoots.
///
/// Proves: VOQ-2.5-7
#[test]
fn chatter_stays_within_its_bounds() {
    let mut worst = (f64::MAX, 0.0f64);
    for divisor in [2u64, 3, 4] {
        for h in [1u16, 2, 3, 4, 8, 12, 16] {
            for quarters in [5u64, 6, 9, 14] {
                let d = quarters * T / 4;
                let detector = Detector { x_on: 10 + h, x_off: 10, verdict: Verdict::PerIngress };
                let mut net = star(2, detector, None);
                net.config.links[0].propagation = Duration((d - PIPELINE - T_CS) / 2);
                net.slow(1, divisor);
                net.saturated(0, 0, 1);
                let until = 20_000 * T;
                let (log, outcome) = net.run(until);
                let stops = log.stops(0, 0, 1);
                let messages = totals(&outcome, 0, 0).voq_received;
                let mu = 1.0 / divisor as f64;
                // Two messages more at the ends of the interval.
                let bound = 2.0 * mu * 20_000.0 / f64::from(h) + 2.0;
                assert!(messages as f64 <= bound, "1/{divisor}, h {h}, D {quarters}/4: {messages} > {bound}");
                let cycles = stops.len() as u64 - 1;
                let cycle = (stops[stops.len() - 1].0 - stops[0].0) as f64 / (cycles * T) as f64;
                let law = (f64::from(h) + quarters as f64 / 4.0) / (mu * (1.0 - mu));
                if h >= 8 {
                    let ratio = cycle / law;
                    worst = (worst.0.min(ratio), worst.1.max(ratio));
                    assert!((0.90..=1.03).contains(&ratio), "1/{divisor}, h {h}, D {quarters}/4: {ratio:.3}");
                }
                // Between a stop and the next go at least h packets leave.
                assert!(cycle >= f64::from(h) * divisor as f64, "never shorter than h/mu");
            }
        }
    }
    println!("cycle by its formula, h >= 8: {:.3} to {:.3}", worst.0, worst.1);
}

/// Victim and hot port share a queue: the queue is one FIFO, so the victim gets v H/h_o and no more than
/// without backpressure; a flow in another queue gets all that it offers.
///
/// Proves: VOQ-4.3-8
#[test]
fn co_mingled_victims_share_the_fate_of_the_hot_flow() {
    // Of upstream 0: hot 0.72 to port 2, victim 0.18 to port 3, and 0.09 to port 4. Port 2 is shared with
    // another.
    let build = |staging: Option<StagingConfig>| {
        let detector = Detector { x_on: 8, x_off: 5, verdict: Verdict::PerIngress };
        let mut net = star(6, detector, None);
        match staging {
            Some(staging) => net.endpoint_mut(0).staging = staging,
            None => {
                net.backpressure(&StagingConfig::None, None);
                net.buffers(16);
            }
        }
        net.source(
            0,
            0,
            Arrivals::Constant { interval: (T * 10, 9), phase: Duration(0) },
            Destinations::Cycle(Arc::new(vec![2, 2, 3, 2, 2])),
        );
        net.constant(0, 0, 4, 9, 3);
        net.saturated(1, 0, 2);
        let (from, until) = (1_000 * T, 41_000 * T);
        let (log, _) = net.run(until);
        let to = |id| {
            let own = log.deliveries.iter().filter(|d| d.source == 0 && d.destination == id);
            own.filter(|d| d.at.0 >= from).count() as f64 / 40_000.0
        };
        [to(2), to(3), to(4)]
    };
    let near = |value: f64, law: f64| (value - law).abs() <= 0.01 * law;
    let off = build(None);
    let apart = build(Some(StagingConfig::PerPort));
    let shared = build(Some(StagingConfig::Table(vec![0, 1, 2, 2, 3, 4])));
    println!("hot, victim, other: off {off:.4?}, apart {apart:.4?}, shared {shared:.4?}");
    let v = 0.18 * 0.5 / 0.72;
    assert!(near(off[0], 0.5) && near(off[1], v) && near(off[2], 0.09 * 0.5 / 0.72), "{off:?}");
    assert!(near(apart[0], 0.5) && near(apart[1], 0.18) && near(apart[2], 0.09), "{apart:?}");
    assert!(near(shared[0], 0.5) && near(shared[1], v) && near(shared[2], 0.09), "{shared:?}");
}

/// A competitor that does not honour messages: with one verdict for all the honouring flow gets what the
/// competitor leaves, nothing if it takes all; with a verdict per ingress it gets its fair share.
#[test]
fn a_neighbour_that_does_not_honour_starves_others_under_a_shared_verdict() {
    let build = |verdict: Verdict, competitor: u64| {
        let output = (verdict == Verdict::Shared).then_some(64);
        let mut net = star(5, Detector { x_on: 24, x_off: 8, verdict }, output);
        net.config.devices[1].ports[0].voq.rx_sup = false;
        if verdict == Verdict::PerIngress {
            net.buffers(32);
        }
        net.saturated(0, 0, 2);
        net.saturated(0, 0, 3);
        match competitor {
            100 => net.saturated(1, 0, 2),
            percent => net.constant(1, 0, 2, percent, 0),
        };
        let (from, until) = (1_000 * T, 21_000 * T);
        let (log, outcome) = net.run(until);
        assert_eq!(totals(&outcome, 1, 0).xoff_edges, 0);
        (log.rate(0, from, until), log.rate(1, from, until))
    };
    let all = build(Verdict::Shared, 100);
    let part = build(Verdict::Shared, 60);
    let fair = build(Verdict::PerIngress, 100);
    println!("hot, victim: competitor 1.0 {all:.4?}, 0.6 {part:.4?}; per ingress {fair:.4?}");
    // 1 %: status symbols on the measured directions, and a partial cycle at the ends of the interval.
    assert!(all.0 == 0.0 && (all.1 - 1.0).abs() <= 0.01, "{all:?}");
    assert!((part.0 - 0.4).abs() <= 0.004 && (part.1 - 0.6).abs() <= 0.006, "{part:?}");
    assert!((fair.0 - 0.5).abs() <= 0.005 && (fair.1 - 0.5).abs() <= 0.005, "{fair:?}");
}

/// The first message that clears port 2 is lost on the way to endpoint 0.
fn lossy(refresh: Option<u64>, kind: Option<LossKind>) -> (Log, models::Outcome) {
    let mut net = star(4, Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress }, None);
    net.slow(2, 3);
    net.burst(0, 0, 2, 0, 60);
    net.switch_mut(0).refresh = refresh.map(Duration);
    net.config.stall_after = Some(Duration(300 * T));
    if let Some(kind) = kind {
        net.config.symbol_losses = vec![SymbolLoss { device: 4, port: 0, kind, nth: 1 }];
    }
    net.run(2_000 * T)
}

/// A lost XON without refresh stops the queue for ever, which the watchdog reports as a stall; with refresh
/// the queue goes again with the next one, so within T_refresh + tau + d.
///
/// Proves: VOQ-4.2-7
#[test]
fn a_lost_clear_message_waits_for_the_refresh() {
    let (whole, outcome) = lossy(None, None);
    assert_eq!((outcome.delivered, outcome.stalls.len()), (60, 0));
    // Where the lost message would have acted.
    let (_, clear) = whole.stops(0, 0, 2)[0];

    let (log, outcome) = lossy(None, Some(LossKind::Xon));
    assert_eq!(totals(&outcome, 4, 0).voq_lost, 1);
    assert_eq!(log.stops(0, 0, 2).len(), 1);
    assert_eq!(log.stops(0, 0, 2)[0].1, u64::MAX, "it never goes again");
    assert!(outcome.delivered < 60 && outcome.in_flight == 60 - outcome.delivered);
    assert_eq!(outcome.stalls.len(), 1, "{:?}", outcome.stalls);
    let stall = &outcome.stalls[0];
    assert!(!stall.cycle);
    assert!(stall.walk[0].contains("the message that says so never came"), "{:?}", stall.walk);

    for period in [7 * T / 2, 10 * T, 37 * T, 100 * T, 250 * T] {
        let (log, outcome) = lossy(Some(period), Some(LossKind::Xon));
        let (_, go) = log.stops(0, 0, 2)[0];
        // A refresh sends one group here, and its symbol leaves at once or rides.
        let lost_at = clear - T_CS - PROPAGATION;
        let next = (lost_at / period + 1) * period;
        assert!(go >= next + T_CS + PROPAGATION, "not before the refresh");
        // The wait for a slot: at most the symbols of an acknowledgement and of the refresh before it.
        assert!(go <= next + 3 * T_CS + PROPAGATION, "{} ps after the refresh", go - next);
        assert!(go - lost_at <= period + 3 * T_CS + PROPAGATION);
        assert_eq!((outcome.delivered, outcome.stalls.len()), (60, 0), "period {period}");
    }
}

/// A lost XOFF costs blocking and nothing else.
#[test]
fn a_lost_stop_message_costs_blocking_only() {
    let mut late = Vec::new();
    for lose in [false, true] {
        let mut net = star(3, Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared }, Some(10));
        net.slow(2, 3);
        net.burst(0, 0, 2, 0, 60);
        if lose {
            net.config.symbol_losses = vec![SymbolLoss { device: 3, port: 0, kind: LossKind::Xoff, nth: 1 }];
        }
        let (log, outcome) = net.run(1_000 * T);
        assert_eq!((outcome.delivered, outcome.in_flight), (60, 0));
        log.assert_order();
        late.push(totals(&outcome, 3, 2).late_hol);
    }
    println!("late_hol without and with the loss: {late:?}");
    assert!(late[0] == 0 && late[1] > 0);
}

/// Three switches in a row; the egress at the end takes a quarter. The queue in the middle grows at h_o - s
/// until it holds S packets; then the middle switch declares its own port congested and the first one stops.
///
/// Proves: VOQ-2-2
#[test]
fn congestion_spreads_upstream_when_staging_is_full() {
    const S: u16 = 40;
    let build = |cascade: bool| {
        let at = [0, 0, 1, 2, 2];
        let mut net = Net::new(vec![switch(3), switch(3), switch(3)], &at, &[(0, 1), (1, 2)]);
        let detector = |x_on, x_off| Some(Detector { x_on, x_off, verdict: Verdict::PerIngress });
        net.backpressure(&StagingConfig::PerPort, detector(4, 2));
        net.buffers(61);
        net.switch_mut(1).detector = if cascade { detector(S, S - 4) } else { None };
        (0..3).for_each(|s| net.switch_mut(s).reads_per_input = 3);
        net.slow(3, 4);
        net.constant(0, 0, 3, 55, 0);
        // A victim that only crosses the first trunk.
        net.constant(1, 0, 2, 40, 5);
        let (from, until) = (2_000 * T, 12_000 * T);
        let (log, outcome) = net.run(until);
        let victim = log.rate(1, from, until);
        (log, outcome, victim)
    };
    let (log, _, victim) = build(true);
    // Devices 5, 6, 7. Port 2 of the middle switch leads to the last, port 2 of the first to the middle.
    let first_stop = |device, port, queue| log.stops(device, port, queue)[0].0;
    let middle = first_stop(6, 2, 0);
    let first = first_stop(5, 2, 2);
    let law = f64::from(S) / (0.55 - 0.25);
    let measured = (first - middle) as f64 / T as f64;
    println!("first trunk stopped {measured:.1} T after the second, law {law:.1} T; victim {victim:.4}");
    // The middle sends in bursts of h + D packets, which is how far its queue is from the fluid line; the
    // message and the packets on the way take another loop.
    let burst = 2.0 + (T_CS + 2 * PROPAGATION + PIPELINE) as f64 / T as f64 + 2.0;
    assert!((measured - law).abs() <= burst / (0.55 - 0.25), "{measured} against {law}");
    assert!((victim - 0.4).abs() <= 0.004, "the victim is spared: {victim}");
    let (log, outcome, victim) = build(false);
    println!("without cascade: victim {victim:.4}");
    assert!(log.stops(5, 2, 2).is_empty());
    // Its buffers full, the middle holds up the trunk, which serves the two inputs in turn.
    assert!((victim - 0.25).abs() <= 0.0025, "blocked one hop upstream: {victim}");
    assert!(totals(&outcome, 6, 1).input_high_water >= 57);
}
