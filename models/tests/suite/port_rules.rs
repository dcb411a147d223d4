//! What switches and ports judge by, tell and obey where they differ; buffers behind the inputs that have
//! quotas, or are one pool.
use crate::common::*;
use models::Outcome;
use models::config::*;
use sim_core::Duration;

const END: u64 = 400 * T;

/// One switch that stages nothing itself; its endpoints stage by its ports, and 2 and 3 hardly take anything.
fn star() -> Net {
    let mut net = single(4, switch(4));
    net.backpressure(&StagingConfig::PerPort, None);
    let s = net.switch_mut(0);
    (s.staging, s.reads_per_input) = (StagingConfig::None, 4);
    s.detector = Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress });
    net.slow(2, 500);
    net.slow(3, 500);
    net.buffers(40);
    net
}

/// Every port of switch `s` gets rules of its own, equal to those of the switch; `change` makes others of
/// them.
fn rules(net: &mut Net, s: usize, ports: usize, change: impl Fn(usize, &mut PortRules)) {
    let s = net.switch_mut(s);
    let mut all: Vec<PortRules> = (0..ports).map(|port| s.rules(port)).collect();
    all.iter_mut().enumerate().for_each(|(port, rules)| change(port, rules));
    s.port_rules = all;
}

/// When endpoint `device` is stopped first, for port `queue` of the switch.
fn first_stop(log: &Log, device: u32, queue: u8) -> Option<u64> {
    log.stops(device, 0, queue).first().map(|stop| stop.0)
}

/// Packets come T apart, the first of them goes on at once: the n-th that waits is the (n + 1)-th. So a
/// threshold of 8 stops 4 T later than one of 4; and who sends nothing hears of a shared verdict alone.
///
/// Proves: VOQ-4.2-6, VOQ-4.2-5
#[test]
fn thresholds_and_verdicts_are_those_of_the_egress_port() {
    let stops = |detector: Detector| {
        let mut net = star();
        net.burst(0, 0, 2, 0, 30);
        rules(&mut net, 0, 4, |port, rules| {
            rules.detector = (port == 2).then_some(detector);
        });
        let (log, _) = net.run(END);
        assert!(log.edges.iter().all(|edge| edge.queue == 2));
        [0, 1].map(|device| first_stop(&log, device, 2))
    };
    let by_ingress = |x_on| Detector { x_on, x_off: 2, verdict: Verdict::PerIngress };
    let [Some(four), None] = stops(by_ingress(4)) else { panic!("who sends is told, and nobody else") };
    let [Some(eight), None] = stops(by_ingress(8)) else { panic!("who sends is told, and nobody else") };
    assert_eq!(eight - four, 4 * T);
    let [Some(own), Some(other)] = stops(Detector { verdict: Verdict::Shared, ..by_ingress(4) }) else {
        panic!("all are told")
    };
    assert_eq!(own, four);
    // Its symbol need not wait for the delimiter of a packet.
    assert!(other <= own && own - other < T);

    // Of two ports of one switch each has its own.
    let mut net = star();
    net.burst(0, 0, 2, 0, 30);
    net.burst(1, 0, 3, 0, 30);
    rules(&mut net, 0, 4, |port, rules| {
        let verdict = if port == 2 { Verdict::Shared } else { Verdict::PerIngress };
        rules.detector = Some(Detector { x_on: if port == 2 { 4 } else { 8 }, x_off: 2, verdict });
    });
    let (log, _) = net.run(END);
    assert_eq!(first_stop(&log, 1, 3).unwrap() - first_stop(&log, 0, 2).unwrap(), 4 * T);
    assert_eq!(first_stop(&log, 0, 3), None, "that verdict is by ingress");
    assert!(first_stop(&log, 1, 2).is_some(), "this one is shared");
}

/// A message is later by the generation delay of the port through which it leaves and by the obey latency of
/// the port that it is for, and by nothing else.
///
/// Proves: VOQ-4.3-11
#[test]
fn delays_are_those_of_ports() {
    let stops = |delay: u64, obey: u64| {
        let mut net = star();
        for from in [0, 1] {
            net.burst(from, 0, 2, 0, 30);
        }
        rules(&mut net, 0, 4, |port, rules| {
            if port == 0 {
                rules.generation_delay = Duration(delay);
            }
        });
        net.config.devices[0].ports[0].voq.obey = Duration(obey);
        let (log, _) = net.run(END);
        [0, 1].map(|device| first_stop(&log, device, 2).expect("both are stopped"))
    };
    let plain = stops(0, 0);
    // A whole packet more or less: the wait for a delimiter is the same.
    assert_eq!(stops(3 * T, 0), [plain[0] + 3 * T, plain[1]]);
    assert_eq!(stops(0, 12_345), [plain[0] + 12_345, plain[1]]);
    assert_eq!(stops(2 * T, 777), [plain[0] + 2 * T + 777, plain[1]]);
}

/// Each port repeats what it said in a period of its own: through port 0 every 20 T, through port 1 never.
#[test]
fn refreshes_are_those_of_ports() {
    let mut net = star();
    for from in [0, 1] {
        net.constant(from, 0, 1 - from, 90, 0);
    }
    rules(&mut net, 0, 4, |port, rules| rules.refresh = (port == 0).then_some(Duration(20 * T)));
    let (_, outcome) = net.run(END);
    let switch = net.endpoints;
    // Those that fall due between two packets are charged with the next one.
    assert_eq!(totals(&outcome, switch, 0).voq_refreshes, (END - 1) / (20 * T));
    assert_eq!(totals(&outcome, switch, 1).voq_refreshes, 0);
}

/// Two switches in a row: endpoints 0 and 1 at the first, 2 to 4 at the second.
fn row(hot: u64) -> Net {
    let mut net = Net::new(vec![switch(3), switch(4)], &[0, 0, 1, 1, 1], &[(0, 1)]);
    let detector = Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress });
    net.backpressure(&StagingConfig::PerPort, detector);
    net.buffers(40);
    for s in 0..2 {
        net.switch_mut(s).reads_per_input = 4;
    }
    net.slow(2, hot);
    net
}

/// The hot packets of endpoint 0 wait in the first switch because the second has stopped them. They do not
/// count as congestion of the first one's own port, if they are left out, so endpoint 0 is never stopped,
/// until the receive buffers of the first switch are full.
///
/// Proves: VOQ-2-2
#[test]
fn what_the_next_hop_has_stopped_is_left_out() {
    let run = |leave_out: bool| {
        let mut net = row(500);
        net.switch_mut(0).leave_out_stopped = leave_out;
        net.burst(0, 0, 2, 0, 60);
        net.run(END)
    };
    let trunk = |log: &Log| log.stops(5, 2, 0).len();
    let (log, _) = run(false);
    assert!(trunk(&log) > 0 && first_stop(&log, 0, 2).is_some(), "the cascade of VOQ-2-2");
    let (log, outcome) = run(true);
    assert!(trunk(&log) > 0 && first_stop(&log, 0, 2).is_none());
    let reserved = u32::from(port().watermarks[0]) - 1;
    assert_eq!(totals(&outcome, 5, 0).input_high_water, 40 - reserved, "all that priority 0 may take");
}

/// Released packets count again: with thresholds below what was stopped, the release itself is congestion.
#[test]
fn what_is_released_counts_again() {
    let mut net = row(40);
    net.switch_mut(0).leave_out_stopped = true;
    net.burst(0, 0, 2, 0, 60);
    let (log, outcome) = net.run(4_000 * T);
    let first_release = log.stops(5, 2, 0)[0].1;
    assert_eq!(outcome.delivered, 60);
    assert!(first_stop(&log, 0, 2).is_none_or(|stop| stop > first_release));
}

/// The output buffer towards the second switch has 8 places for each priority. Stopped hot packets of
/// endpoint 0 fill it, and packets of endpoint 1 for a free port wait in their input. With a quota of 4 for
/// each staging queue they have four places for themselves and lose no time.
#[test]
fn a_quota_keeps_places_for_other_staging_queues() {
    let run = |quota: Option<u16>| {
        let mut net = row(500);
        let s = net.switch_mut(0);
        (s.buffering, s.detector, s.queue_quota) = (Buffering::Output { packets: 8 }, None, quota);
        s.reads_per_input = 1;
        net.burst(0, 0, 2, 0, 60);
        net.constant(1, 0, 3, 50, 20 * T);
        let (log, _) = net.run(END);
        log.of(1).count() as u64
    };
    // One every 2 T from 20 T on, less what is still under way.
    let all = (END - 20 * T) / (2 * T);
    let kept = run(Some(4));
    assert!((all - 3..=all).contains(&kept), "{kept} of {all}");
    assert_eq!(run(Some(7)), kept, "one place is enough for who does not wait");
    let blocked = run(None);
    assert!(blocked < all / 10, "{blocked} of {all}");
}

/// All outputs share twelve places. Hot packets of endpoint 0 take them, and packets of endpoint 1 for a free
/// port get one only when a hot packet has left: one in 50 T. With a buffer of twelve for each output they do
/// not notice; nor with the pool, if a verdict at 4 stops the hot ones: N_hr = ceil((113.6 + 3.2 + 100 + 2 *
/// 20) / 113.6) + 1 = 4 more still come.
///
/// Proves: VOQ-2.5-4
#[test]
fn a_pool_is_shared_by_all_outputs() {
    let run = |buffering: Buffering, detector: Option<Detector>| {
        let mut net = star();
        net.slow(2, 1);
        net.config.links[2].char_ps = (50 * CHAR_PS, 1);
        let s = net.switch_mut(0);
        (s.buffering, s.detector, s.reads_per_input) = (buffering, detector, 1);
        net.burst(0, 0, 2, 0, 100);
        net.constant(1, 0, 0, 50, 20 * T);
        let (log, _) = net.run(END);
        log.of(1).count() as u64
    };
    let all = (END - 20 * T) / (2 * T);
    let own = run(Buffering::Output { packets: 12 }, None);
    assert!((all - 3..=all).contains(&own), "{own} of {all}");
    let pool = run(Buffering::Shared { packets: 12 }, None);
    assert!((1..=END / (50 * T)).contains(&pool), "{pool} of {all}");
    let early = Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared };
    let told = run(Buffering::Shared { packets: 12 }, Some(early));
    assert!((all - 3..=all).contains(&told), "{told} of {all}");
}

/// A symbol through port 0 of the switch is damaged, and with it the message that lets endpoint 0 go on.
/// Without repair its queue stands for ever, which is a stall; told again after the recovery, it goes on.
///
/// Proves: VOQ-4.2-8
#[test]
fn without_repair_a_damaged_message_stops_a_queue_for_ever() {
    let run = |nth: u64, after_recovery: bool| {
        let mut net = star();
        net.slow(2, 1);
        net.config.links[2].char_ps = (4 * CHAR_PS, 1);
        net.burst(0, 0, 2, 0, 30);
        net.switch_mut(0).after_recovery = after_recovery;
        net.config.stall_after = Some(Duration(300 * T));
        net.config.symbolic.push(SymbolicLink {
            link: 0,
            flow: FlowControl::Transmitter,
            timeout: Duration(1_000 * T),
            status_period: Duration(4_096 * CHAR_PS),
            throughout: false,
            channels: None,
            damage: Default::default(),
        });
        let side = usize::from(net.config.links[0].a.0 == 0);
        net.config.symbolic[0].damage[side].symbols = vec![nth];
        net.run(2_000 * T)
    };
    let stands = |outcome: &Outcome| !outcome.stalls.is_empty();
    let mut lost = 0;
    for nth in 1..60 {
        let (log, outcome) = run(nth, false);
        // A queue that is stopped for ever stops nobody if all have gone.
        let stopped =
            outcome.delivered < 30 && log.stops(0, 0, 2).last().is_some_and(|stop| stop.1 == u64::MAX);
        assert_eq!(stands(&outcome), stopped, "{nth}: {:?}", outcome.stalls);
        if stopped {
            lost += 1;
            let (_, repaired) = run(nth, true);
            assert_eq!((repaired.delivered, stands(&repaired)), (30, false), "{nth}");
        }
    }
    assert!(lost > 0, "some symbol carries the message");
    assert_eq!(run(u64::MAX, false).1.delivered, 30, "nothing is damaged");
}
