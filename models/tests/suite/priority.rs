//! Priorities: the higher goes first, and a lower one never stands in its way.
use crate::common::*;
use models::Cause;
use models::config::*;

/// In a switch with queues for each output a packet of a higher priority waits for the packet in service and
/// no other, whatever stands in the queues of lower priorities, at its own input too.
///
/// Proves: VOQ-4.3-6
#[test]
fn a_higher_priority_waits_for_one_packet_in_service() {
    for low in 0..3u8 {
        for high in low + 1..4 {
            let mut net = single(6, switch(6));
            // Three saturated sources for output 5, and a rare packet of a higher priority from one of them.
            for from in 0..3 {
                net.saturated(from, low, 5);
            }
            net.constant(3, high, 5, 3, T / 3);
            net.constant(0, high, 5, 3, 7 * T / 5);
            let (log, _) = net.run(4_000 * T);
            for flow in [3, 4] {
                assert!(log.of(flow).count() > 100);
                for d in log.of(flow) {
                    // At the source, too, it waits for the packet in service; then at the output; the input
                    // may be read for another packet of its own, which is the one in service there.
                    let wait = d.parts[Cause::OutputContention] + d.parts[Cause::InputContention];
                    assert!(wait <= T + T_CS, "{d:?}");
                    assert!(d.parts[Cause::SourceQueue] <= T + T_CS, "{d:?}");
                    assert_eq!(d.parts[Cause::HeadOfLine] + d.parts[Cause::NoBuffer], 0, "{d:?}");
                }
            }
            let worst = |flow| log.of(flow).map(|d| d.parts[Cause::OutputContention]).max().unwrap();
            assert!(worst(0) > 2 * T, "the lower priority waits for the others of its own");
            log.assert_order();
        }
    }
}

/// Two priorities from two inputs, both more than the rest: the higher gets what it asks for, the lower what
/// is left; both saturated, the lower gets nothing.
#[test]
fn two_saturated_priorities() {
    for (percent, law) in [(30u64, 0.7), (60, 0.4), (90, 0.1)] {
        let mut net = single(3, switch(3));
        net.saturated(0, 0, 2);
        net.constant(1, 1, 2, percent, 0);
        let (from, until) = (500 * T, 10_500 * T);
        let (log, _) = net.run(until);
        // One packet more or less at each end of 10 000, and nothing else: no symbols on the way to endpoint
        // 2.
        assert!((log.rate(1, from, until) - percent as f64 / 100.0).abs() <= 0.0002);
        assert!((log.rate(0, from, until) - law).abs() <= 0.0002, "{}", log.rate(0, from, until));
    }
    let mut net = single(3, switch(3));
    net.saturated(0, 0, 2);
    net.saturated(1, 1, 2);
    let (log, outcome) = net.run(10_000 * T);
    assert!((log.rate(1, 100 * T, 10_000 * T) - 1.0).abs() <= 0.0002);
    assert_eq!(log.rate(0, 100 * T, 10_000 * T), 0.0);
    assert_eq!(outcome.dropped, 0);
    // From one source the order is made at the source.
    let mut net = single(3, switch(3));
    net.saturated(0, 0, 2);
    net.saturated(0, 2, 2);
    let (log, _) = net.run(10_000 * T);
    assert_eq!(log.of(0).filter(|d| d.at.0 > 100 * T).count(), 0);
    assert!(log.rate(1, 100 * T, 10_000 * T) > 0.999);
}

/// What a stopped queue has gathered comes out by priority, and in order within each.
///
/// Proves: VOQ-4.3-6, VOQ-4.3-7
#[test]
fn a_released_queue_sends_the_higher_priority_first() {
    let mut net = single(4, switch(4));
    let detector = Detector { x_on: 2, x_off: 1, verdict: Verdict::PerIngress };
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net.switch_mut(0).staging = StagingConfig::None;
    net.slow(2, 20);
    // The queue stops with a few packets; then one burst of each priority gathers, the lowest first.
    net.burst(0, 0, 2, 0, 5);
    for priority in 0..4u8 {
        net.burst(0, priority, 2, 20 * T + u64::from(priority), 6);
    }
    let (log, outcome) = net.run(1_000 * T);
    assert_eq!((outcome.delivered, outcome.in_flight), (29, 0));
    log.assert_order();
    let gathered: Vec<u8> = log.deliveries.iter().filter(|d| d.flow > 0).map(|d| d.priority).collect();
    assert!(gathered.is_sorted_by(|a, b| a >= b), "{gathered:?}");
    assert!(log.stops(0, 0, 2)[0].0 < 20 * T && log.stops(0, 0, 2)[0].1 > 20 * T);
}
