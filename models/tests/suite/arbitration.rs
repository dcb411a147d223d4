//! Who goes first: equal shares, places in a sequence, priorities, and no output that idles beside a packet.
use crate::common::*;
use models::config::*;
use models::probe::Delivery;
use sim_core::Duration;
use std::sync::Arc;

const POLICIES: [Arbitration; 5] = [
    Arbitration::RoundRobin,
    Arbitration::OldestFirst,
    Arbitration::LongestQueueFirst,
    Arbitration::Random,
    Arbitration::Islip { iterations: 4 },
];
const BUFFERINGS: [Buffering; 6] = [
    Buffering::Direct,
    Buffering::Crosspoint { depth: 2 },
    Buffering::Output { packets: 4 },
    Buffering::Output { packets: 16 },
    Buffering::Shared { packets: 4 },
    Buffering::Shared { packets: 16 },
];
const INPUTS: [InputQueueing; 2] = [InputQueueing::Fifo, InputQueueing::Voq];

/// Every organisation of a switch, with and without a cell clock.
fn organisations() -> impl Iterator<Item = SwitchConfig> {
    POLICIES.into_iter().flat_map(|arbitration| {
        BUFFERINGS.into_iter().flat_map(move |buffering| {
            INPUTS.into_iter().flat_map(move |input| {
                [None, Some(Duration(T + 2 * T_CS))].map(|slot| SwitchConfig {
                    arbitration,
                    buffering,
                    input,
                    slot,
                    ..switch(0)
                })
            })
        })
    })
}

fn named(model: &SwitchConfig) -> String {
    format!("{:?}, {:?}, {:?}, slot {:?}", model.arbitration, model.buffering, model.input, model.slot)
}

/// Deliveries of each of `flows` in `[from, until)`.
fn counts(log: &Log, flows: usize, from: u64, until: u64) -> Vec<u64> {
    let within = |d: &&Delivery| (from..until).contains(&d.at.0);
    (0..flows).map(|f| log.of(f as u16).filter(within).count() as u64).collect()
}

/// Equal counts of an output: to one packet, or as binomial as draws are (four standard deviations).
fn assert_equal(model: &SwitchConfig, counts: &[u64], what: &str) {
    assert_within(model, counts, 1, what);
}

/// [`assert_equal`] to so many packets, where nothing is drawn.
fn assert_within(model: &SwitchConfig, counts: &[u64], packets: u64, what: &str) {
    let total: u64 = counts.iter().sum();
    let (n, least, most) =
        (counts.len() as f64, *counts.iter().min().unwrap(), *counts.iter().max().unwrap());
    if model.arbitration == Arbitration::Random {
        let share = total as f64 / n;
        let width = 4.0 * (share * (1.0 - 1.0 / n)).sqrt();
        for &count in counts {
            assert!((count as f64 - share).abs() <= width, "{what}, {}: {counts:?}", named(model));
        }
    } else {
        assert!(most - least <= packets, "{what}, {}: {counts:?}", named(model));
    }
    assert!(least > 100, "{what}, {}: {counts:?}", named(model));
}

/// Equal sources that always have more to send get equal shares of an output, at every priority.
#[test]
fn equal_sources_get_equal_shares() {
    for model in organisations() {
        for priority in [0, 2] {
            let mut net = single(5, model.clone());
            for from in 0..4 {
                net.saturated(from, priority, 4);
            }
            let (log, outcome) = net.run(2_100 * T);
            let counts = counts(&log, 4, 100 * T, 2_100 * T);
            assert_equal(&model, &counts, "four sources");
            let slot = model.slot.map_or(T, |slot| slot.0);
            // The output never idles: one packet for each place of the window, but for its ends.
            assert!(counts.iter().sum::<u64>() >= 2_000 * T / slot - 1, "{}: {counts:?}", named(&model));
            assert_eq!(outcome.dropped, 0);
        }
    }
}

/// One pool for several outputs: sources of an output have equal shares of it, also beside an output that has
/// other sources, or is slow, so that its packets fill the pool.
#[test]
fn equal_sources_get_equal_shares_of_outputs_with_one_pool() {
    let pooled = |packets| {
        let buffering = Buffering::Shared { packets };
        organisations().filter(|m| m.buffering == BUFFERINGS[0]).map(move |m| SwitchConfig { buffering, ..m })
    };
    for model in [2, 3, 4, 16].into_iter().flat_map(pooled) {
        for (slow, priority) in [(1, 0), (1, 2), (3, 0)] {
            let mut net = single(8, model.clone());
            net.slow(7, slow);
            for from in 0..6 {
                net.saturated(from, priority, if from < 4 { 6 } else { 7 });
            }
            let (log, outcome) = net.run(4_100 * T);
            let counts = counts(&log, 6, 100 * T, 4_100 * T);
            let what = format!("the other output takes {slow} T, priority {priority}");
            assert_equal(&model, &counts[..4], &what);
            assert_equal(&model, &counts[4..], &what);
            // Places go to outputs in turn: both are full, or both at the pace of the slow one.
            let of_output = [counts[..4].iter().sum::<u64>(), counts[4..].iter().sum()];
            let places = 16 + 1;
            assert!(of_output[0].abs_diff(of_output[1]) <= places, "{what}, {}: {counts:?}", named(&model));
            let slot = slow * model.slot.map_or(T, |slot| slot.0);
            assert!(of_output[1] >= 4_000 * T / slot - 1, "{what}, {}: {counts:?}", named(&model));
            assert_eq!(outcome.dropped, 0);
        }
        let mut net = single(8, model.clone());
        for from in 0..6 {
            let to = Destinations::Cycle(Arc::new(vec![6, 7]));
            net.source(from, 0, Arrivals::Saturated { backlog: 2 }, to);
        }
        let (log, _) = net.run(4_100 * T);
        let counts = counts(&log, 6, 100 * T, 4_100 * T);
        // One at each output.
        assert_within(&model, &counts, 2, "six sources of both outputs");
    }
}

/// A higher priority takes its part and does not touch the turn of the others, whose shares stay equal.
#[test]
fn equal_shares_under_a_higher_priority() {
    for model in organisations() {
        for percent in [25, 40, 50] {
            let mut net = single(5, model.clone());
            net.saturated(0, 0, 4);
            net.saturated(1, 0, 4);
            net.constant(2, 2, 4, percent, 0);
            let (log, _) = net.run(4_100 * T);
            let counts = counts(&log, 2, 100 * T, 4_100 * T);
            assert_equal(&model, &counts, &format!("{percent} % of a higher priority"));
        }
    }
}

/// The ports of a switch have no rank: with the endpoints on other ports each gets what it got before.
#[test]
fn ports_can_be_exchanged() {
    for model in organisations().filter(|m| m.arbitration != Arbitration::Random) {
        let shares = |order: [usize; 4]| {
            // The endpoint with name `order[n]` is on port n; names and streams go along.
            let mut net = single(4, model.clone());
            let at = |name: usize| order.iter().position(|&n| n == name).unwrap() as u32;
            // Unequal sources, whose random arrivals go by their names, for the output of name 3.
            for (name, percent) in [(0usize, 60), (1, 30)] {
                let mean = Duration(T * 100 / percent);
                let source = net.source(at(name), 0, Arrivals::Poisson { mean }, Destinations::Fixed(at(3)));
                source.stream = format!("name {name}");
            }
            net.saturated(at(2), 0, at(3));
            let (log, _) = net.run(8_000 * T);
            counts(&log, 3, 200 * T, 8_000 * T)
        };
        let straight = shares([0, 1, 2, 3]);
        for order in [[1, 0, 2, 3], [2, 1, 0, 3], [3, 2, 1, 0], [1, 2, 3, 0]] {
            let exchanged = shares(order);
            for (a, b) in straight.iter().zip(&exchanged) {
                // What is in the switch and the order within an instant at the ends of the window.
                assert!(a.abs_diff(*b) <= 8, "{}: {straight:?}, {order:?}: {exchanged:?}", named(&model));
            }
        }
    }
}

/// The packets of bursts at `bursts` = (source, priority, instant, count), by flow, as the output sees them.
fn order(model: &SwitchConfig, bursts: &[(u32, u8, u64, u64)], slow: u64) -> Vec<u16> {
    let mut net = single(5, model.clone());
    net.slow(4, slow);
    for &(from, priority, at, count) in bursts {
        net.burst(from, priority, 4, at, count);
    }
    let (log, _) = net.run(2_000 * T);
    log.assert_order();
    log.deliveries.iter().map(|d| d.flow).collect()
}

/// Round robin: every start turns the pointer, also of the packet that finds the output idle; each priority
/// has a turn of its own.
#[test]
fn round_robin_by_hand() {
    for arbitration in [Arbitration::RoundRobin, Arbitration::Islip { iterations: 2 }] {
        for input in INPUTS {
            let direct = SwitchConfig { arbitration, input, ..switch(0) };
            let crosspoint = SwitchConfig { buffering: Buffering::Crosspoint { depth: 8 }, ..direct.clone() };
            for model in [direct, crosspoint] {
                // Source 1 is served at once; then 1 and 2 wait, and it is 2's turn.
                let first = [(1, 0, 0, 1), (1, 0, T, 1), (2, 0, T, 1)];
                assert_eq!(order(&model, &first, 8), [0, 2, 1], "{}", named(&model));
                // Four queues behind source 2's first packet: 3, 0, 1, 2, and again.
                let round = [(2, 0, 0, 3), (0, 0, T / 2, 2), (1, 0, T / 2, 2), (3, 0, T / 2, 2)];
                assert_eq!(order(&model, &round, 8), [0, 3, 1, 2, 0, 3, 1, 2, 0], "{}", named(&model));
                // Packets of priority 2 from source 3 come in between and take no turn of priority 0.
                let between = [(0, 0, 0, 4), (1, 0, 0, 3), (3, 2, 9 * T, 1), (3, 2, 25 * T, 1)];
                assert_eq!(order(&model, &between, 8), [0, 1, 2, 0, 3, 1, 0, 1, 0], "{}", named(&model));
            }
        }
    }
}

/// Output buffers: the turn is that of entering, a packet that enters at once takes its turn, and starts take
/// none.
#[test]
fn output_buffers_by_hand() {
    for arbitration in [Arbitration::RoundRobin, Arbitration::Islip { iterations: 2 }] {
        for input in INPUTS {
            let buffering = Buffering::Output { packets: 2 };
            let model = SwitchConfig { arbitration, input, buffering, ..switch(0) };
            // Source 2 starts with one packet and fills the two places. What waits then goes in turn: after 2
            // comes 3, then 0, then 1.
            let round = [(2, 0, 0, 5), (0, 0, 4 * T, 2), (1, 0, 4 * T, 2), (3, 0, 4 * T, 2)];
            assert_eq!(order(&model, &round, 8), [0, 0, 0, 3, 1, 2, 0, 3, 1, 2, 0], "{}", named(&model));
        }
    }
}

/// Oldest first goes by the arrival in the switch, wherever the packet stands.
#[test]
fn oldest_first_by_hand() {
    for buffering in BUFFERINGS {
        for input in INPUTS {
            let arbitration = Arbitration::OldestFirst;
            let model = SwitchConfig { arbitration, input, buffering, ..switch(0) };
            // Eight packets of source 0, one of source 1 after the third of them.
            let bursts = [(0, 0, 0, 8), (1, 0, 5 * T / 2, 1)];
            let law = [0, 0, 0, 1, 0, 0, 0, 0, 0];
            let seen = order(&model, &bursts, 8);
            assert_eq!(seen, law, "{}", named(&model));
            // After the fifth, where crosspoints and output buffers are full: who waits at the input is as
            // old as it is, and goes before one that finds a place of its own at once.
            let late = [(0, 0, 0, 8), (1, 0, 9 * T / 2, 1)];
            let seen = order(&model, &late, 8);
            assert_eq!(seen, [0, 0, 0, 0, 0, 1, 0, 0, 0], "{}", named(&model));
            // In turn, one every T / 2, where the first come first.
            let turns =
                [(0, 0, 0, 1), (3, 0, T / 4, 1), (1, 0, T / 2, 1), (2, 0, 3 * T / 4, 1), (0, 0, T, 1)];
            assert_eq!(order(&model, &turns, 8), [0, 1, 2, 3, 4], "{}", named(&model));
        }
    }
}

/// Longest queue first: while one packet of source 2 leaves, queues of 5, 3 and 1 packets come together. Then
/// the first goes until it is no longer than the second, the two in turn until they are no longer than the
/// third, and all three in turn; among equals the one after the last is next.
#[test]
fn longest_queue_first_by_hand() {
    for buffering in [Buffering::Direct, Buffering::Crosspoint { depth: 8 }] {
        for input in INPUTS {
            let arbitration = Arbitration::LongestQueueFirst;
            let model = SwitchConfig { arbitration, input, buffering, ..switch(0) };
            let bursts = [(2, 0, 0, 1), (0, 0, T, 5), (1, 0, T, 3), (2, 0, T, 1)];
            let law = [0, 1, 1, 2, 1, 2, 1, 2, 3, 1];
            assert_eq!(order(&model, &bursts, 8), law, "{}", named(&model));
            // A packet of a higher priority goes first, however long the queues of the others are.
            let above = [(2, 0, 0, 1), (0, 0, T, 5), (1, 1, T, 1)];
            assert_eq!(order(&model, &above, 8), [0, 2, 1, 1, 1, 1, 1], "{}", named(&model));
        }
    }
}

/// One iteration is enough where every queue holds packets: the pointers move apart, and every slot serves
/// every output (McKeown 1999).
#[test]
fn islip_pointers_move_apart() {
    let slot = T + 2 * T_CS;
    let arbitration = Arbitration::Islip { iterations: 1 };
    let mut net = single(4, SwitchConfig { arbitration, slot: Some(Duration(slot)), ..switch(0) });
    net.buffers(60);
    for from in 0..4 {
        let to = Destinations::Cycle(Arc::new((0..4).collect()));
        net.source(from, 0, Arrivals::Saturated { backlog: 4 }, to);
    }
    // Packets come faster than slots, so that the queues fill up first.
    let (from, slots) = (2_000 * slot, 1_000);
    let (log, _) = net.run(from + slots * slot);
    let carried = log.deliveries.iter().filter(|d| d.at.0 >= from).count() as u64;
    assert_eq!(carried, 4 * slots);
}

/// What a cell-clocked iSLIP switch carries at uniform saturation, in packets for each output and slot.
fn slot_throughput(priorities: &[u8]) -> f64 {
    let (n, slot) = (8u32, 120_000);
    let arbitration = Arbitration::Islip { iterations: 8 };
    let mut net = single(8, SwitchConfig { arbitration, slot: Some(Duration(slot)), ..switch(0) });
    net.ports_mut(0).iter_mut().for_each(|p| p.buffers = 60);
    let ids: Arc<Vec<u32>> = Arc::new((0..n).collect());
    for from in 0..n {
        let to = Destinations::Uniform { ids: ids.clone(), except: Some(from) };
        net.source(from, 0, Arrivals::Saturated { backlog: 8 }, to.clone());
        for &priority in priorities {
            net.source(from, priority, Arrivals::Poisson { mean: Duration(slot * 5 / 2) }, to.clone());
        }
    }
    let (from, slots) = (400 * slot, 3_000);
    let (log, _) = net.run(from + slots * slot);
    let carried = log.deliveries.iter().filter(|d| d.at.0 >= from).count();
    carried as f64 / slots as f64 / f64::from(n)
}

/// A second priority does not cost slots: an output whose highest request goes elsewhere takes the next.
#[test]
fn islip_carries_as_much_with_two_priorities() {
    let (one, two) = (slot_throughput(&[]), slot_throughput(&[2]));
    println!("one priority {one:.4}, two {two:.4} of the slots");
    assert!(two >= one - 0.002, "two priorities {two:.4}, one {one:.4}");
}

/// An input that can be read for several outputs at a time feeds as many, under every policy, with and
/// without a cell clock: a link of four times the rate fills three outputs.
#[test]
fn several_reads_of_an_input() {
    for arbitration in POLICIES {
        for slot in [None, Some(Duration(T))] {
            for reads in 1..=4u8 {
                let model = SwitchConfig { arbitration, slot, reads_per_input: reads, ..switch(0) };
                let mut net = single(4, model.clone());
                net.config.links[0].char_ps = (CHAR_PS / 4, 1);
                net.buffers(60);
                let to = Destinations::Cycle(Arc::new(vec![1, 2, 3]));
                net.source(0, 0, Arrivals::Saturated { backlog: 8 }, to);
                let (log, _) = net.run(1_100 * T);
                let carried = counts(&log, 1, 100 * T, 1_100 * T)[0];
                let law = 1_000 * u64::from(reads.min(3));
                assert!(carried.abs_diff(law) <= 3, "{reads} reads, {}: {carried} of {law}", named(&model));
            }
        }
    }
}

/// Without a cell clock iSLIP favours no input and no output.
#[test]
fn islip_without_a_clock_favours_nobody() {
    for (n, iterations) in [(4u32, 1), (4, 2), (8, 2), (8, 4)] {
        let model = SwitchConfig { arbitration: Arbitration::Islip { iterations }, ..switch(0) };
        let mut net = single(n as usize, model);
        net.buffers(24);
        let ids: Arc<Vec<u32>> = Arc::new((0..n).collect());
        for from in 0..n {
            let to = Destinations::Uniform { ids: ids.clone(), except: Some(from) };
            net.source(from, 0, Arrivals::Saturated { backlog: 4 }, to);
        }
        let (log, _) = net.run(20_000 * T);
        let counts = counts(&log, n as usize, 500 * T, 20_000 * T);
        let mean = counts.iter().sum::<u64>() as f64 / f64::from(n);
        println!("{n} ports, {iterations} iterations: {counts:?}, {:.4}", mean / 19_500.0);
        for &count in &counts {
            // Destinations are drawn: 20 000 packets of a source are even to 1 %.
            assert!((count as f64 - mean).abs() <= 0.01 * mean, "{n} ports, {iterations}: {counts:?}");
        }
    }
}

/// Two inputs and two outputs that all end together do not stay together: each output serves both inputs
/// alike.
#[test]
fn who_ends_together_does_not_stay_together() {
    for arbitration in POLICIES {
        for slot in [None, Some(Duration(T))] {
            let model = SwitchConfig { arbitration, slot, ..switch(0) };
            let mut net = single(4, model.clone());
            let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress };
            net.backpressure(&StagingConfig::PerPort, Some(detector));
            net.switch_mut(0).staging = StagingConfig::None;
            for from in 0..2 {
                for to in 2..4 {
                    net.saturated(from, 0, to);
                }
            }
            let (log, _) = net.run(4_100 * T);
            let counts = counts(&log, 4, 100 * T, 4_100 * T);
            // Four flows share two outputs; random choices leave an output without a packet now and then.
            let law = if arbitration == Arbitration::Random { 1_700..=2_100 } else { 1_990..=2_010 };
            assert!(counts.iter().all(|c| law.contains(c)), "{}: {counts:?}", named(&model));
        }
    }
}

/// Who gets an input that can be read again: the outputs in turn at one priority, the higher priority first.
#[test]
fn a_freed_input_goes_round_among_outputs() {
    for arbitration in POLICIES {
        for slot in [None, Some(Duration(T))] {
            // Source 0 feeds three outputs, each of which could take all of it; the queue of each is stopped
            // at four packets.
            let model = SwitchConfig { arbitration, slot, ..switch(0) };
            let mut net = single(6, model.clone());
            let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress };
            net.backpressure(&StagingConfig::PerPort, Some(detector));
            net.switch_mut(0).staging = StagingConfig::None;
            net.buffers(40);
            net.config.links[0].char_ps = (CHAR_PS / 4, 1);
            for to in 1..4 {
                net.saturated(0, 0, to);
            }
            let (log, _) = net.run(3_100 * T);
            let counts = counts(&log, 3, 100 * T, 3_100 * T);
            assert!(counts.iter().sum::<u64>() > 2_850, "{}: {counts:?}", named(&model));
            let spread = counts.iter().max().unwrap() - counts.iter().min().unwrap();
            // A stop lets a queue run empty now and then: two packets of hysteresis.
            assert!(spread <= 4, "{}: {counts:?}", named(&model));
        }
    }
}

/// An input that can be read again goes to the output with the highest priority waiting there.
#[test]
fn a_freed_input_serves_the_higher_priority_first() {
    for arbitration in POLICIES {
        // Source 0 sends a long row of priority 0 to outputs 1 and 2, and now and then a packet of priority 2
        // to output 3, which never waits for more than the packet being read.
        let model = SwitchConfig { arbitration, ..switch(0) };
        let mut net = single(4, model.clone());
        net.config.links[0].char_ps = (CHAR_PS / 4, 1);
        net.buffers(40);
        net.saturated(0, 0, 1);
        net.saturated(0, 0, 2);
        net.source(
            0,
            2,
            Arrivals::Constant { interval: (17 * T / 3, 1), phase: Duration(0) },
            Destinations::Fixed(3),
        );
        let (log, _) = net.run(2_000 * T);
        assert!(log.of(2).count() > 300);
        for d in log.of(2) {
            let wait = d.parts[models::Cause::InputContention] + d.parts[models::Cause::OutputContention];
            assert!(wait <= T + T_CS, "{}: {d:?}", named(&model));
        }
    }
}

/// Endpoints serve their staging queues in turn, each priority with a turn of its own.
#[test]
fn staging_queues_of_an_endpoint_go_round() {
    let mut net = single(5, switch(0));
    let detector = Detector { x_on: 30, x_off: 20, verdict: Verdict::PerIngress };
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net.switch_mut(0).staging = StagingConfig::None;
    net.switch_mut(0).reads_per_input = 4;
    net.saturated(0, 0, 1);
    net.saturated(0, 0, 2);
    // As often as every second packet, so that one pointer for all would always come back to the same queue.
    net.constant(0, 2, 3, 50, 0);
    let until = 4_000 * T;
    let (log, _) = net.run(until);
    let counts = counts(&log, 2, 100 * T, until);
    assert!(counts[0].abs_diff(counts[1]) <= 1 && counts[0] > 900, "{counts:?}");
    // A packet that starts at once takes its turn, too: 1, 2, 1 and not 1, 1, 2.
    let mut net = single(4, switch(0));
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net.burst(0, 0, 1, 0, 1);
    net.burst(0, 0, 1, T / 4, 1);
    net.burst(0, 0, 2, T / 2, 1);
    let (log, _) = net.run(100 * T);
    let mut sent: Vec<(u64, u16)> = log.deliveries.iter().map(|d| (d.at.0, d.flow)).collect();
    sent.sort_unstable();
    assert_eq!(sent.iter().map(|s| s.1).collect::<Vec<_>>(), [0, 2, 1]);
}

/// No output idles beside a packet that may start: with open outputs and inputs that are read for as many as
/// want them, whatever is there when a transmission ends follows at once.
#[test]
fn no_output_idles_beside_a_packet() {
    for seed in 0..200 {
        let d = &mut Draw(seed);
        let buffering = d.of(&BUFFERINGS);
        let input = d.of(&INPUTS);
        let arbitration = d.of(&[
            Arbitration::RoundRobin,
            Arbitration::OldestFirst,
            Arbitration::Random,
            Arbitration::Islip { iterations: 6 },
        ]);
        let ports = 3 + d.below(4) as u32;
        let model = SwitchConfig { arbitration, buffering, input, reads_per_input: 6, ..switch(0) };
        let mut net = single(ports as usize, model.clone());
        net.config.seed = seed;
        net.buffers(60);
        // Few enough packets that nothing is ever full, and all for one output.
        for from in 0..ports - 1 {
            for priority in 0..1 + d.below(3) as u8 {
                net.burst(from, priority, ports - 1, d.below(8 * T), 1 + d.below(4));
            }
        }
        net.config.devices[ports as usize - 1].ports[0].buffers = 200;
        let (log, _) = net.run(500 * T);
        // The output as a single server: it works while anything is there.
        let mut starts: Vec<(u64, u64)> = log
            .deliveries
            .iter()
            .map(|d| {
                let waited = d.parts[models::Cause::OutputContention]
                    + d.parts[models::Cause::InputContention]
                    + d.parts[models::Cause::HeadOfLine];
                let start = d.at.0 - 20_000 - T;
                (start, start - waited)
            })
            .collect();
        starts.sort_unstable();
        assert_eq!(starts[0].0, starts[0].1, "the first starts at once");
        for n in 1..starts.len() {
            let end = starts[n - 1].0 + T;
            let arrived = starts[n..].iter().map(|s| s.1).min().unwrap();
            // A packet that none follows ends with a symbol of its own.
            let law = if arrived <= end { end } else { arrived.max(end + T_CS) };
            assert_eq!(starts[n].0, law, "seed {seed}, packet {n}, {}", named(&model));
        }
    }
}
