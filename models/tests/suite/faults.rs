//! Links on which things go wrong: nothing is lost, nothing is delivered twice, every error is accounted for,
//! and every picosecond has its cause.
use crate::common::*;
use models::config::*;
use models::probe::{Delivery, Probe};
use models::stats::LinkStats;
use models::{Cause, Outcome};
use sim_core::{Duration, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A round trip of the links here with a packet each way.
const ROUND: u64 = 2 * (20_000 + 100_000 + T);

fn symbolic(link: u32) -> SymbolicLink {
    SymbolicLink {
        link,
        flow: FlowControl::Transmitter,
        timeout: Duration(100 * ROUND),
        status_period: Duration(4_096 * CHAR_PS),
        throughout: false,
        channels: None,
        damage: Default::default(),
    }
}

/// Every link symbolic.
fn all(net: &mut Net) {
    net.config.symbolic = (0..net.config.links.len() as u32).map(symbolic).collect();
}

fn errors(name: &str, per_million_characters: u64) -> Option<BitErrors> {
    Some(BitErrors { stream: name.into(), probability: (per_million_characters, 1_000_000), burst: 1 })
}

fn link(outcome: &Outcome, device: u32, port: u8) -> LinkStats {
    outcome.links.iter().find(|end| (end.0, end.1) == (device, port)).expect("a symbolic link").2
}

fn sum(outcome: &Outcome, what: impl Fn(&LinkStats) -> u64) -> u64 {
    outcome.links.iter().map(|end| what(&end.2)).sum()
}

/// Every packet of every flow arrives once, in the order of its flow.
fn assert_whole(log: &Log, outcome: &Outcome) {
    assert_eq!((outcome.delivered, outcome.in_flight, outcome.dropped), (outcome.injected, 0, 0));
    let mut next = BTreeMap::new();
    for d in &log.deliveries {
        let expected = next.entry((d.source, d.flow)).or_insert(0);
        assert_eq!(d.sequence, *expected, "{d:?}");
        *expected += 1;
        assert_eq!(d.parts.total(), d.latency());
    }
}

/// Two endpoints at a switch, `packets` from 0 to 1 as fast as the link takes them.
fn stream(packets: u64) -> Net {
    let mut net = single(2, switch(2));
    net.saturated(0, 0, 1).limit = packets;
    all(&mut net);
    net
}

#[test]
fn a_damaged_packet_costs_a_recovery_and_is_sent_again() {
    let mut net = stream(20);
    let (sound, _) = net.run(1_000 * T);
    net.config.symbolic[0].damage[0].packets = vec![5];
    let (log, outcome) = net.run(1_000 * T);
    assert_whole(&log, &outcome);
    let sender = link(&outcome, 0, 0);
    assert_eq!((sender.damaged_packets, sender.recoveries, sender.timeouts), (1, 1, 0));
    assert!(sender.repeated >= 1 && sender.recovery_ps > 0);
    assert_eq!(link(&outcome, 2, 0).not_accepted, 1);
    assert!(log.deliveries[19].at > sound.deliveries[19].at);
    let fourth = &log.deliveries[4];
    assert!(fourth.parts[Cause::Recovery] > 20_000 + 100_000, "{fourth:?}");
    assert_eq!(log.deliveries[3].parts[Cause::Recovery], 0);
}

/// Whichever symbol is damaged, in whichever direction.
#[test]
fn any_single_symbol_may_be_damaged() {
    for side in 0..2 {
        for nth in 1..60 {
            let mut net = stream(20);
            net.config.symbolic[0].damage[side].symbols = vec![nth];
            let (log, outcome) = net.run(10_000 * T);
            assert_whole(&log, &outcome);
            let damaged = sum(&outcome, |end| end.damaged_symbols);
            assert!(damaged <= 1);
            assert_eq!(sum(&outcome, |end| end.not_accepted) >= 1, damaged == 1, "{side} {nth}");
        }
    }
}

/// A bit error rate of 1e-4 on every link in both directions, many seeds, all kinds of damage together.
#[test]
fn random_errors_lose_nothing_and_repeat_nothing() {
    for seed in 0..40 {
        let mut net = Net::new(vec![switch(4), switch(4)], &[0, 0, 0, 1, 1, 1], &[(0, 1)]);
        net.config.seed = seed;
        for from in 0..6 {
            net.constant(from, (from % 4) as u8, (from + 3) % 6, 60, u64::from(from) * T / 5).limit = 60;
            net.burst(from, 1, (from + 1) % 6, 30 * T, 10);
        }
        all(&mut net);
        net.config.stall_after = Some(Duration(500 * T));
        for (n, detail) in net.config.symbolic.iter_mut().enumerate() {
            for (side, damage) in detail.damage.iter_mut().enumerate() {
                damage.errors = errors(&format!("link {n}/{side}"), 1_000);
                damage.errors.as_mut().unwrap().burst = 1 + (seed % 3) as u32 * 20;
            }
        }
        let (log, outcome) = net.run(100_000 * T);
        assert_whole(&log, &outcome);
        assert_time_on_wires(&outcome);
        assert!(sum(&outcome, |end| end.damaged_packets) > 10, "{seed}");
        assert!(sum(&outcome, |end| end.damaged_symbols) > 0);
        assert!(sum(&outcome, |end| end.damaged_idle) > 10);
        assert!(sum(&outcome, |end| end.recoveries) > 10);
        assert!(outcome.links.iter().all(|end| !end.2.failed));
        assert!(outcome.stalls.is_empty(), "{:?}", outcome.stalls);
    }
}

#[test]
fn a_link_that_flaps_loses_nothing() {
    for down in [3 * T, 10 * T, 10 * T + 777, 21 * T + 1] {
        let mut net = stream(60);
        let at = |at: u64, action| Fault { at: Time(at), link: 0, action };
        net.config.faults = vec![
            at(down, FaultAction::Down),
            at(down + 5 * T, FaultAction::Up),
            at(down + 30 * T, FaultAction::Down),
            at(down + 40 * T, FaultAction::Up),
        ];
        let (log, outcome) = net.run(10_000 * T);
        assert_whole(&log, &outcome);
        let end = link(&outcome, 0, 0);
        assert_eq!(end.downs, 2);
        assert!(end.down_ps >= 15 * T, "{end:?}");
        assert!(log.deliveries.iter().any(|d| d.parts[Cause::Recovery] > 4 * T));
    }
}

/// A link is down for 40 packet times, over a look of the watchdog, wherever the packet on it is when that
/// begins: about to leave, being cut, on the cable, acknowledged. Nothing stands for as long as a packet may,
/// so nothing is a stall; and what was cut goes as soon as the link is back, not when its timeout is
/// over: the packet that takes longest takes the outage, the start of the link, and what it takes without
/// an outage. Down for good it is a stall, which begins with the outage.
#[test]
fn a_short_outage_is_no_stall_and_costs_its_length() {
    let run = |down: u64, up: Option<u64>| {
        let mut net = stream(0);
        net.config.sources.clear();
        net.constant(0, 0, 1, 10, 0).limit = 100;
        let fault = |at: u64, action| Fault { at: Time(at), link: 1, action };
        net.config.faults = vec![fault(down, FaultAction::Down)];
        net.config.faults.extend(up.map(|up| fault(up, FaultAction::Up)));
        net.config.stall_after = Some(Duration(500 * T));
        net.run(10_000 * T)
    };
    let longest = |log: &Log| log.deliveries.iter().map(|d| d.latency()).max().unwrap();
    let whole = longest(&run(20_000 * T, None).0);
    for step in 0..24 {
        let down = 485 * T + step * T / 2;
        let (log, outcome) = run(down, Some(down + 40 * T));
        assert_whole(&log, &outcome);
        assert!(outcome.stalls.is_empty(), "{step}: {:?}", outcome.stalls);
        let start = link(&outcome, 1, 0).down_ps - 40 * T;
        // What was cut leaves anew, which takes up to a packet time again.
        assert!(longest(&log) <= 40 * T + start + whole + T, "{step}: {}", longest(&log));
        let (_, outcome) = run(down, None);
        let stall = outcome.stalls.first().expect("it is down for good");
        assert!(stall.since.0 + 2 * T >= down && stall.at.0 == 1_000 * T, "{stall:?}");
    }
}

/// Where nothing is left to happen, what stands is a stall at the end of the run, however short that is:
/// three packets for a link that is down from the start. If the link is to come back after the run, something
/// is.
#[test]
fn what_stands_when_all_is_over_is_told_at_the_end() {
    for back in [None, Some(501 * T)] {
        let mut net = stream(3);
        net.config.faults = vec![Fault { at: Time(0), link: 1, action: FaultAction::Down }];
        net.config.faults.extend(back.map(|at| Fault { at: Time(at), link: 1, action: FaultAction::Up }));
        net.config.stall_after = Some(Duration(1_000 * T));
        let (log, outcome) = net.run(500 * T);
        assert!(log.deliveries.is_empty() && outcome.in_flight == 3);
        if back.is_some() {
            assert!(outcome.stalls.is_empty(), "{:?}", outcome.stalls);
            continue;
        }
        let [stall] = &outcome.stalls[..] else { panic!("{:?}", outcome.stalls) };
        assert!(
            stall.at.0 == 500 * T && stall.walk.last().unwrap().ends_with("its link is down"),
            "{stall:?}"
        );
    }
}

/// The acknowledgement of the only packet is lost with its link, and while a link is down no time is over:
/// the packet is sent again a timeout after it began, and each outage before that makes it later by as long
/// as the link was not up, to the picosecond. Two of twenty begin before.
#[test]
fn outages_do_not_count_for_the_timeout_of_a_packet() {
    let run = |outages: u64| {
        let mut net = stream(0);
        net.config.sources.clear();
        net.constant(0, 0, 1, 10, 0).limit = 1;
        for n in 0..outages {
            let at = T + 50_000 + n * 90 * ROUND;
            let fault = |at: u64, action| Fault { at: Time(at), link: 0, action };
            net.config.faults.extend([fault(at, FaultAction::Down), fault(at + 10_000, FaultAction::Up)]);
        }
        let (log, outcome) = net.run(3_000 * ROUND);
        assert_whole(&log, &outcome);
        let end = link(&outcome, 0, 0);
        assert_eq!((end.timeouts, end.downs), (outages.min(1), outages));
        (log.deliveries[0].latency(), end.down_ps)
    };
    let (whole, (once, down), (often, _)) = (run(0).0, run(1), run(20));
    assert_eq!(often - once, down);
    let exchange = once - whole - 100 * ROUND - down;
    assert!(exchange < 2 * ROUND, "a request and its answer: {exchange}");
}

/// A link that is up for half a packet at a time lets none through. That is a stall when it has been up for
/// as long as a packet may stand (four timeouts are less here): the watchdog looks after each 20 periods,
/// when the link has been up for a quarter of a packet again.
#[test]
fn a_link_that_cuts_every_packet_is_a_stall() {
    let run = |outages: &mut dyn Iterator<Item = u64>, patience: u64, until: u64| {
        let mut net = stream(60);
        net.config.symbolic.iter_mut().for_each(|detail| detail.timeout = Duration(2 * ROUND));
        net.config.stall_after = Some(Duration(patience));
        let fault = |at: u64, action| Fault { at: Time(at), link: 0, action };
        net.config.faults =
            outages.flat_map(|at| [fault(at, FaultAction::Down), fault(at + T, FaultAction::Up)]).collect();
        net.run(until)
    };
    let start = link(&run(&mut [T].into_iter(), 40 * T, 40 * T).1, 0, 0).down_ps - T;
    let period = T + start + T / 2;
    let patience = 20 * period;
    assert!(patience > 4 * 2 * ROUND);
    let (log, outcome) = run(&mut (0..1_000).map(|n| T / 4 + n * period), patience, 1_000 * period);
    assert!(log.deliveries.is_empty());
    let stall = outcome.stalls.first().expect("nothing gets through");
    let last = stall.walk.last().unwrap();
    assert!(last.ends_with("errors or outages let nothing through its link"), "{last}");
    let law = (1..).map(|look| 20 * look).find(|periods| periods * T / 2 - T / 4 >= patience).unwrap();
    assert_eq!(stall.at.0, law * period);
}

/// Packets stand at the link, and at their source for want of a buffer of the switch: two places, whoever
/// looks after the buffers. With receiver-controlled flow control the first link carries repetitions for
/// ever.
#[test]
fn a_link_that_stays_down_is_what_the_walks_end_at() {
    for flow in [FlowControl::Transmitter, FlowControl::Receiver] {
        let mut net = stream(60);
        net.config.symbolic.iter_mut().for_each(|detail| detail.flow = flow);
        net.config.faults = vec![Fault { at: Time(10 * T), link: 1, action: FaultAction::Down }];
        net.config.stall_after = Some(Duration(500 * T));
        let (_, outcome) = net.run(10_000 * T);
        assert!(outcome.in_flight > 0);
        for stall in &outcome.stalls {
            let last = stall.walk.last().unwrap();
            assert!(last.ends_with("its link is down"), "{flow:?}: {last}");
        }
        assert_eq!(outcome.stalls.len(), 2, "{flow:?}: {:?}", outcome.stalls);
    }
}

/// Where every character of one direction is wrong, no packet, or no answer, ever gets through: recovery from
/// errors is at work all the time, and is no progress. It is said when four answers in a row have been lost,
/// and no packet has moved for as long as one may wait; who waits behind that link ends there, too.
#[test]
fn errors_that_let_nothing_through_are_what_the_walk_ends_at() {
    for (at, side) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let mut net = stream(60);
        net.config.symbolic[at].damage[side].errors = errors("all", 1_000_000);
        net.config.stall_after = Some(Duration(500 * T));
        let (log, outcome) = net.run(10_000 * T);
        // Where answers are lost packets have arrived, up to as many as may be outstanding.
        assert_eq!(log.deliveries.is_empty(), at == side, "{at} {side}");
        assert!(outcome.in_flight > 0);
        let answers = 4 * 100 * ROUND;
        for stall in &outcome.stalls {
            let last = stall.walk.last().unwrap();
            assert!(last.ends_with("errors or outages let nothing through its link"), "{last}");
            assert!(!stall.cycle && stall.at.0 >= answers, "{stall:?}");
        }
        let first = outcome.stalls.first().expect("a stall is told").at.0;
        assert!(first <= answers + 3 * 500 * T, "{first}");
        assert_eq!(outcome.stalls.len(), 1 + at, "a place at each link that waits");
    }
}

/// Copies on links with errors: every member gets every packet once and in order, whoever looks after the
/// buffers, and every copy that a switch has made is one that arrived. With a branch that is dead from some
/// instant on the rest is under way, and nothing is counted twice or forgotten.
#[test]
fn copies_are_repeated_and_none_is_lost() {
    for seed in 0..20 {
        for flow in [FlowControl::Transmitter, FlowControl::Receiver] {
            for dead in [false, true] {
                let mut net = Net::new(vec![switch(4), switch(5)], &[0, 0, 1, 1, 1], &[(0, 1)]);
                net.config.seed = seed;
                let group = net.multicast(&[1, 2, 3, 4]);
                net.constant(0, 0, group, 60, 0).limit = 50;
                net.constant(2, 1, 1, 40, 0).limit = 50;
                all(&mut net);
                for (n, detail) in net.config.symbolic.iter_mut().enumerate() {
                    detail.flow = flow;
                    for (side, damage) in detail.damage.iter_mut().enumerate() {
                        damage.errors = errors(&format!("link {n}/{side}"), 300);
                    }
                }
                if dead {
                    let at = Time((40 + seed) * T + 17 * seed);
                    net.config.faults = vec![Fault { at, link: 3, action: FaultAction::Down }];
                }
                let (log, outcome) = net.run(20_000 * T);
                let mut next = BTreeMap::new();
                for d in &log.deliveries {
                    let expected = next.entry((d.flow, d.destination)).or_insert(0);
                    assert_eq!(d.sequence, *expected, "{seed} {flow:?}: {d:?}");
                    *expected += 1;
                    assert_eq!(d.parts.total(), d.latency());
                }
                assert_eq!((outcome.injected, outcome.dropped), (100, 0));
                assert_eq!(100 + outcome.replicated, outcome.delivered + outcome.in_flight);
                if !dead {
                    assert_eq!((outcome.replicated, outcome.delivered), (3 * 50, 4 * 50 + 50));
                    continue;
                }
                // Of what the first switch has sent on, the second makes three copies of each that got there.
                let of =
                    |to: u32| log.deliveries.iter().filter(|d| d.flow == 0 && d.destination == to).count();
                assert!(of(3) < 50 && outcome.in_flight > 0, "{seed} {flow:?}");
                assert!(of(2) >= of(3) && of(4) >= of(3));
            }
        }
    }
}

/// Four lanes fall back to one: a fourth of the rate.
#[test]
fn a_link_falls_back_to_one_lane() {
    let mut net = stream(100);
    let at = |at: u64, action| Fault { at: Time(at), link: 0, action };
    net.config.faults =
        vec![at(20 * T, FaultAction::Down), at(20 * T, FaultAction::Lanes(1)), at(25 * T, FaultAction::Up)];
    let (log, outcome) = net.run(10_000 * T);
    assert_whole(&log, &outcome);
    let late = &log.deliveries[70..90];
    for pair in late.windows(2) {
        assert_eq!(pair[1].at.0 - pair[0].at.0, 4 * T);
    }
}

#[test]
fn a_port_that_tells_no_buffers_stops_its_neighbour_until_it_does_again() {
    let mut net = stream(100);
    let at = |at: u64, action| Fault { at: Time(at), link: 0, action };
    net.config.faults =
        vec![at(20 * T, FaultAction::Credits(1, false)), at(100 * T, FaultAction::Credits(1, true))];
    let (log, outcome) = net.run(10_000 * T);
    assert_whole(&log, &outcome);
    let gap = log.deliveries.windows(2).map(|d| d[1].at.0 - d[0].at.0).max().unwrap();
    assert!(gap > 70 * T, "{gap}");
    assert!(log.deliveries.iter().any(|d| d.parts[Cause::NoBuffer] > 70 * T));
    assert_eq!(sum(&outcome, |end| end.recoveries), 0);
}

/// The receiver refuses what it has no room for: a slow output, a fast input.
#[test]
fn receiver_controlled_flow_control_retries_and_loses_nothing() {
    let mut net = single(3, switch(3));
    net.slow(2, 4);
    net.buffers(6);
    for from in 0..2 {
        net.saturated(from, from as u8, 2).limit = 100;
    }
    all(&mut net);
    for detail in &mut net.config.symbolic {
        detail.flow = FlowControl::Receiver;
    }
    let (log, outcome) = net.run(10_000 * T);
    assert_whole(&log, &outcome);
    assert!(link(&outcome, 3, 0).retries > 50, "{:?}", outcome.links);
    assert!(link(&outcome, 0, 0).repeated >= link(&outcome, 3, 0).retries);
    assert_eq!(sum(&outcome, |end| end.recoveries), 0);
}

/// Congested switches, packets of several sizes and priorities, refused wherever there is no room: a short
/// packet may be committed behind one that is refused before the short one begins.
#[test]
fn refused_packets_of_several_sizes_come_through_in_order() {
    let sizes = [SIZE, PacketSize { payload: 8, wire: 20 }, PacketSize { payload: 100, wire: 116 }];
    let mut retries = 0;
    for seed in 0..300 {
        let d = &mut Draw(seed);
        let model = SwitchConfig { pipeline: Duration(d.of(&[0, 30_000, 100_000])), ..switch(4) };
        let mut net = match d.below(2) {
            0 => single(4, model),
            _ => Net::new(vec![model.clone(), model], &[0, 0, 1, 1], &[(0, 1)]),
        };
        net.config.seed = seed;
        net.buffers(5 + d.below(4) as u8);
        for link in &mut net.config.links {
            link.propagation = Duration(1 + d.below(300_000));
        }
        net.slow(0, 1 + d.below(3));
        for from in 1..4 {
            for _ in 0..1 + d.below(3) {
                let arrivals = match d.below(2) {
                    0 => Arrivals::Saturated { backlog: 1 + d.below(4) as u16 },
                    _ => Arrivals::Poisson { mean: Duration(T * (1 + d.below(4)) / 2) },
                };
                let to = Destinations::Fixed(d.of(&[0, 0, from % 3 + 1]));
                let source = net.source(from, d.below(4) as u8, arrivals, to);
                source.limit = 50;
                source.sizes = match d.below(2) {
                    0 => Sizes::Fixed(d.of(&sizes)),
                    _ => Sizes::Mix(Arc::new(sizes.iter().map(|&size| (1, size)).collect())),
                };
            }
        }
        all(&mut net);
        for detail in &mut net.config.symbolic {
            detail.flow = FlowControl::Receiver;
        }
        let (log, outcome) = net.run(40_000 * T);
        assert_whole(&log, &outcome);
        assert_time_on_wires(&outcome);
        retries += sum(&outcome, |end| end.retries);
    }
    assert!(retries > 3_000, "{retries}");
}

/// A wire carries packets and symbols one after the other, so both together take no more than the time there
/// is;
/// repetitions are part of it.
fn assert_time_on_wires(outcome: &Outcome) {
    for &(device, port, stats) in &outcome.ports {
        // Symbols count when they get their places: what gathers behind the last packet lies beyond the end.
        let busy = stats.packet_ps + stats.symbol_ps;
        assert!(
            stats.packet_ps <= outcome.end.0 && busy <= outcome.end.0 + T,
            "{device}/{port}: {busy} of {} ps: {stats:?}",
            outcome.end.0
        );
        if let Some((.., link)) = outcome.links.iter().find(|end| (end.0, end.1) == (device, port)) {
            assert!(link.repeated_ps <= stats.packet_ps, "{device}/{port}: {link:?} {stats:?}");
        }
    }
}

/// Two sources, a slow output: what the wires of the sources carry is every packet once, and what was sent
/// again.
#[test]
fn repetitions_are_part_of_the_time_on_the_wire() {
    for cycle in [2, 3, 5] {
        let mut net = single(3, switch(3));
        net.slow(2, cycle);
        net.buffers(6);
        for from in 0..2 {
            net.saturated(from, from as u8, 2);
        }
        all(&mut net);
        for detail in &mut net.config.symbolic {
            detail.flow = FlowControl::Receiver;
        }
        let until = 1_000 * T;
        let (log, outcome) = net.run(until);
        assert_time_on_wires(&outcome);
        for from in 0..2 {
            let wire = totals(&outcome, from, 0);
            let end = link(&outcome, from, 0);
            assert!(end.repeated > 100, "{end:?}");
            // First transmissions; those that a retry cut short count for as long as they took.
            let first = wire.packet_ps - end.repeated_ps;
            let whole = log.deliveries.iter().filter(|d| d.source == from).count() as u64 * T;
            assert!(first <= wire.packets_sent * T && first + end.cancelled * T >= whole, "{wire:?} {end:?}");
            // Whoever is refused tries again at once: the wire never rests for longer than an exchange.
            assert!(wire.packet_ps + wire.symbol_ps > until / 3, "{wire:?}");
        }
    }
}

/// A packet that was on its way when its queue was stopped, and that the neighbour refuses, is sent again
/// although the queue is still stopped; no other packet of the queue starts meanwhile.
///
/// Proves: VOQ-4.3-2, VOQ-4.3-5
#[test]
fn a_refused_packet_is_sent_again_although_its_queue_is_stopped() {
    let mut net = single(3, switch(3));
    let detector = Detector { x_on: 2, x_off: 0, verdict: Verdict::PerIngress };
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net.switch_mut(0).staging = StagingConfig::None;
    // Five packets of priority 0 find room, and more are on their way when the message comes.
    net.buffers(8);
    net.slow(2, 20);
    net.config.links[0].propagation = Duration(4 * T);
    net.saturated(0, 0, 2).limit = 60;
    all(&mut net);
    net.config.symbolic.iter_mut().for_each(|detail| detail.flow = FlowControl::Receiver);
    let (log, outcome) = net.run(20_000 * T);
    assert_whole(&log, &outcome);
    let stops = log.stops(0, 0, 2);
    let stopped = |t: u64| stops.iter().any(|stop| stop.0 + T_CS < t && t < stop.1);
    let mut again = 0;
    for d in &log.deliveries {
        let first = d.created.0 + d.parts.source;
        assert!(!stopped(first), "{d:?} in {stops:?}");
        // Before the first refusal nothing but repetitions is recovery.
        again += u32::from(d.parts[Cause::Recovery] > 0 && stopped(first + d.parts[Cause::Recovery]));
    }
    assert!(again > 3, "{again} packets were sent again while they were stopped");
}

/// Four switches in a ring, each of which sends to the one three further on: the buffers of every trunk wait
/// for those of the next.
fn ring(flow: FlowControl) -> Net {
    let mut net = Net::new(vec![switch(3); 4], &[0, 1, 2, 3], &[(0, 1), (1, 2), (2, 3)]);
    let template = net.config.links.last().unwrap().clone();
    net.config.links.push(LinkConfig { a: (7, 2), b: (4, 2), ..template });
    for s in [0, 3] {
        net.ports_mut(s).push(port());
    }
    for s in 0..4 {
        let onward = if s == 0 { 1 } else { 2 };
        for id in 0..4 {
            let egress = Egress::Port(if id == s { 0 } else { onward });
            net.switch_mut(s).routes.entries[id] = Route { egress, next_hop: NO_PORT };
        }
    }
    for from in 0..4 {
        net.saturated(from, 0, (from + 3) % 4);
    }
    if flow == FlowControl::Receiver {
        all(&mut net);
        net.config.symbolic.iter_mut().for_each(|detail| detail.flow = flow);
    }
    net.config.stall_after = Some(Duration(500 * T));
    net
}

/// Who runs out of buffers in a ring waits for itself, whether the neighbour says so beforehand or refuses
/// what comes. In the second case the wires never rest.
#[test]
fn a_deadlock_is_one_whoever_controls_the_flow() {
    for flow in [FlowControl::Transmitter, FlowControl::Receiver] {
        let net = ring(flow);
        let (log, outcome) = net.run(10_000 * T);
        let last = log.deliveries.iter().map(|d| d.at.0).max().unwrap();
        assert!(last < 5_000 * T, "{flow:?}: it stands still");
        assert!(outcome.in_flight > 0);
        let cycles = outcome.stalls.iter().filter(|stall| stall.cycle).count();
        assert!(cycles > 0 && cycles == outcome.stalls.len(), "{flow:?}: {:?}", outcome.stalls);
        assert!(outcome.stalls[0].at.0 < 5_000 * T, "{flow:?}: {:?}", outcome.stalls[0]);
        let why = &outcome.stalls[0].walk[0];
        assert!(why.ends_with("has no free buffer for priority 0"), "{why}");
    }
}

/// A ring with an open output in it is congested and moves: refusals alone are no stall.
#[test]
fn refusals_are_no_stall_while_something_moves() {
    let mut net = ring(FlowControl::Receiver);
    for (from, source) in net.config.sources.iter_mut().enumerate() {
        source.destinations = Destinations::Fixed(if from == 0 { 1 } else { 3 });
    }
    net.config.links[3].char_ps.0 *= 8;
    let (_, outcome) = net.run(10_000 * T);
    assert!(sum(&outcome, |end| end.retries) > 1_000);
    assert!(outcome.stalls.is_empty(), "{:?}", outcome.stalls);
}

/// Damage of one link moves no draw of another, and results do not depend on how the run is made.
#[test]
fn faults_are_the_same_in_all_modes() {
    let mut net = Net::new(vec![switch(3), switch(3)], &[0, 0, 1, 1], &[(0, 1)]);
    let ids: Arc<Vec<u32>> = Arc::new((0..4).collect());
    for from in 0..4 {
        let to = Destinations::Uniform { ids: ids.clone(), except: Some(from) };
        net.source(from, (from % 4) as u8, Arrivals::Poisson { mean: Duration(2 * T) }, to).limit = 300;
    }
    net.backpressure(&StagingConfig::PerPort, Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared }));
    all(&mut net);
    net.config.symbolic[4].damage[0].errors = errors("trunk", 200);
    net.config.symbolic[4].damage[1].errors = errors("knurt", 200);
    let mut first = None;
    for options in ALL_OPTIONS {
        let mut sim = models::Simulation::new(Arc::new(net.config.clone()), options, Log::default());
        let _ = sim.run(Time(50_000 * T), u64::MAX);
        let (log, outcome) = sim.finish();
        assert_eq!(outcome.delivered, outcome.injected);
        let seen = (outcome.outcome, outcome.trajectory, outcome.links, outcome.ports, log.deliveries.len());
        assert!(seen.2.iter().any(|end| end.2.recoveries > 0));
        match &first {
            None => first = Some(seen),
            Some(first) => assert_eq!(first, &seen, "{options:?}"),
        }
    }
}

/// Counts deliveries and asserts their order.
#[derive(Default)]
struct Order {
    next: [u64; 2],
}

impl Probe for Order {
    fn delivered(&mut self, d: &Delivery) {
        assert_eq!(d.sequence, self.next[d.source as usize], "lost, or delivered twice: {d:?}");
        self.next[d.source as usize] += 1;
    }
}

/// The time of `bits` in each direction of a link with a bit error rate of 1e-6, nine tenths of it with
/// traffic: errors, repetitions.
fn bits_with_errors(bits: u64, seed: u64) -> (u64, u64) {
    let mut net = single(2, switch(2));
    let packets = bits / (10 * 284) * 9 / 10;
    net.saturated(0, 0, 1).limit = packets;
    net.saturated(1, 0, 0).limit = packets;
    net.config.seed = seed;
    net.config.symbolic = vec![symbolic(0)];
    for (damage, name) in net.config.symbolic[0].damage.iter_mut().zip(["there", "back"]) {
        // Ten bits make a character.
        damage.errors = errors(name, 10);
    }
    let mut order = Order::default();
    let mut sim = models::Watched::new(Arc::new(net.config), ALL_OPTIONS[1], &mut order);
    let _ = sim.run(Time(bits / 10 * CHAR_PS), u64::MAX);
    let outcome = sim.finish();
    assert_eq!(order.next, [packets; 2]);
    assert_eq!((outcome.delivered, outcome.in_flight, outcome.dropped), (2 * packets, 0, 0));
    let sum = |what: fn(&LinkStats) -> u64| sum(&outcome, what);
    let damaged = sum(|end| end.damaged_packets + end.damaged_symbols + end.damaged_idle);
    // What is damaged in the last instants has not arrived yet.
    let met = sum(|end| end.not_accepted + end.absorbed);
    assert!((met..=met + 2).contains(&damaged), "seed {seed}: {:?}", outcome.links);
    assert!(outcome.links.iter().all(|end| !end.2.failed));
    (damaged, sum(|end| end.repeated))
}

/// The long version: `LINK_SEEDS=100 LINK_BITS=1000000000 cargo test --release -p models --test faults
/// every_error -- --nocapture`.
#[test]
fn every_error_is_accounted_for() {
    let number =
        |name: &str, ordinary| std::env::var(name).map_or(ordinary, |text| text.parse().expect("a number"));
    let (seeds, bits) = (number("LINK_SEEDS", 10), number("LINK_BITS", 20_000_000));
    let runs = (0..seeds).map(|seed| bits_with_errors(bits, seed));
    let (errors, repeated) = runs.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("{seeds} seeds, {bits} bits each way: {errors} errors, {repeated} packets repeated");
    // A run is over when only errors are left: after the traffic, which takes nine tenths of the time or
    // more.
    let most = (2 * seeds * bits) as f64 * 1e-6;
    let slack = 5.0 * most.sqrt();
    assert!((0.9 * most - slack..=most + slack).contains(&(errors as f64)), "{errors}");
}

/// Errors while a link initialises make it begin to count anew: the partner goes on telling its status until
/// it is up, too.
#[test]
fn errors_do_not_keep_a_link_from_initialising() {
    for seed in 1..40 {
        let mut net = stream(200);
        net.config.seed = seed;
        net.config.symbolic = vec![symbolic(0)];
        for (damage, name) in net.config.symbolic[0].damage.iter_mut().zip(["there", "back"]) {
            damage.errors = errors(name, 3_000);
        }
        let at = |at, action| Fault { at: Time(at), link: 0, action };
        net.config.faults = vec![at(20 * T, FaultAction::Down), at(25 * T, FaultAction::Up)];
        let (log, outcome) = net.run(100_000 * T);
        assert_eq!(sum(&outcome, |end| end.downs), 2, "seed {seed}");
        assert_whole(&log, &outcome);
    }
}
