//! What is done lazily must not be done late: small cases in which folded and unfolded runs once differed.
use crate::common::*;
use models::config::*;
use models::{Outcome, Simulation};
use sim_core::{Duration, Time};
use std::sync::Arc;

/// Runs in all four modes and returns the log of the first; all outcomes, trajectories and port totals are
/// equal.
fn same(net: &Net, until: u64) -> (Log, Outcome) {
    let mut config = net.config.clone();
    config.sample_every.get_or_insert(Duration(until));
    let config = Arc::new(config);
    let mut runs: Vec<(Log, Outcome)> = ALL_OPTIONS
        .iter()
        .map(|options| {
            let mut sim = Simulation::new(config.clone(), *options, Log::default());
            let _ = sim.run(Time(until), u64::MAX);
            sim.finish()
        })
        .collect();
    for (other, options) in runs.iter().zip(ALL_OPTIONS).skip(1) {
        assert_eq!(other.1.end, runs[0].1.end, "{options:?}");
        assert_eq!(other.1.delivered, runs[0].1.delivered, "{options:?}");
        assert_eq!(other.1.outcome, runs[0].1.outcome, "{options:?}");
        assert_eq!(other.1.trajectory, runs[0].1.trajectory, "{options:?}");
        assert_eq!(other.1.ports, runs[0].1.ports, "{options:?}");
    }
    runs.swap_remove(0)
}

/// A sink with five buffers behind a long cable takes three packets of priority 1 a round trip; each further
/// packet starts with the acknowledgement that makes room for it.
#[test]
fn every_acknowledgement_of_a_sink_wakes_its_sender() {
    let propagation = 295_690;
    let mut net = single(2, switch(2));
    net.config.links[1].propagation = Duration(propagation);
    net.config.devices[1].ports[0].buffers = 5;
    // One picosecond more than back to back, so that the closing delimiter delays the second packet.
    let arrivals = Arrivals::Constant { interval: (T + 1, 1), phase: Duration(0) };
    net.source(0, 1, arrivals, Destinations::Fixed(1)).limit = 6;
    let (log, _) = same(&net, 700 * T);
    let first = T + 20_000 + 100_000 + T + propagation;
    let round_trip = T + T_CS + 2 * propagation;
    let early = [first, first + T + T_CS, first + 2 * T + T_CS];
    let law: Vec<u64> = early.into_iter().chain(early.map(|at| at + round_trip)).collect();
    let seen: Vec<u64> = log.deliveries.iter().map(|d| d.at.0).collect();
    assert_eq!(seen, law);
}

/// Where nobody waits a packet through one switch is one event, its arrival there, in which its creation is
/// made up (the first creation is an event, before anything runs); also if the switch begins to send it on
/// before it is in: that it has been accepted is nobody's business as long as its sender has credit. Else the
/// creation is an event, and the acceptance is one of its own.
#[test]
fn cut_through_costs_no_event_of_its_own() {
    const PACKETS: u64 = 100;
    let events = |forwarding, buffers| {
        let mut net = single(2, SwitchConfig { forwarding, ..switch(2) });
        net.buffers(buffers);
        let arrivals = Arrivals::Constant { interval: (3 * T, 1), phase: Duration(0) };
        net.source(0, 0, arrivals, Destinations::Fixed(1)).limit = PACKETS;
        same(&net, 400 * T);
        // One event is the sample at the end.
        log(&net.config, 400 * T).1.events - 1
    };
    assert_eq!(events(Forwarding::StoreAndForward, 16), PACKETS + 1);
    assert_eq!(events(Forwarding::CutThrough { header: 16 }, 16), PACKETS + 1);
    // One buffer above the highest watermark: a second packet needs the acknowledgement of the first. Every
    // release is told at once, too.
    assert_eq!(events(Forwarding::StoreAndForward, 5), 3 * PACKETS);
    assert_eq!(events(Forwarding::CutThrough { header: 16 }, 5), 4 * PACKETS);
}

/// Nothing stays behind at the end of a path of two switches, the first of them with a cell clock, either.
#[test]
fn a_sender_is_not_left_asleep() {
    let mut net = Net::new(vec![switch(3), switch(2)], &[0, 0, 1], &[(0, 1)]);
    net.switch_mut(1).slot = Some(Duration(T + 2 * T_CS));
    net.config.links[0].propagation = Duration(295_690);
    net.config.devices[0].ports[0].buffers = 5;
    net.burst(2, 1, 0, 0, 6);
    let (_, outcome) = same(&net, 700 * T);
    assert_eq!((outcome.delivered, outcome.in_flight), (6, 0));
}

/// A character that is no whole number of picoseconds: header and tail of a packet make up the whole packet.
#[test]
fn cut_through_at_an_inexact_rate() {
    let model = SwitchConfig { forwarding: Forwarding::CutThrough { header: 4 }, ..switch(3) };
    let mut net = single(3, model);
    net.config.links[1].char_ps = (2_680_000, 4_125);
    for count in 1..20 {
        net.burst(1, 0, 0, 3 * count * T, count);
    }
    same(&net, 700 * T);
}

/// Reads that end without an event do not count as packets in the buffer.
#[test]
fn high_water_marks_are_those_of_the_buffers() {
    let mut net = single(3, switch(3));
    net.switch_mut(0).slot = Some(Duration(T + 2 * T_CS));
    net.slow(0, 2);
    net.burst(0, 0, 2, 0, 2);
    let (_, outcome) = same(&net, 700 * T);
    assert_eq!(totals(&outcome, 3, 0).input_high_water, 1);
}

/// Several reads of an input at once under iSLIP and a cell clock.
#[test]
fn islip_with_several_reads_per_input() {
    for reads_per_input in [1, 2, 3] {
        let slot = Some(Duration(T + 2 * T_CS));
        let model = SwitchConfig {
            arbitration: Arbitration::Islip { iterations: 2 },
            slot,
            reads_per_input,
            ..switch(5)
        };
        let mut net = single(5, model);
        net.slow(2, 2);
        let ids: Arc<Vec<u32>> = Arc::new((0..5).collect());
        let sizes = Arc::new(vec![(3, SIZE), (1, PacketSize { payload: 8, wire: 20 })]);
        for from in 0..5 {
            let arrivals = Arrivals::Poisson { mean: Duration(T * 5 / 4) };
            let to = Destinations::Uniform { ids: ids.clone(), except: Some(from) };
            net.source(from, 0, arrivals, to).sizes = Sizes::Mix(sizes.clone());
        }
        same(&net, 700 * T);
    }
}

/// Packets that wait for credit when a message stops their queue: the time of every packet still divides
/// exactly.
#[test]
fn credit_and_stops_at_one_source() {
    let mut net = single(5, switch(5));
    let detector = Detector { x_on: 6, x_off: 2, verdict: Verdict::Shared };
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net.switch_mut(0).staging = StagingConfig::None;
    net.switch_mut(0).reads_per_input = 2;
    net.buffers(6);
    net.slow(0, 2);
    net.config.links.iter_mut().for_each(|l| l.propagation = Duration(150_000));
    let ids: Arc<Vec<u32>> = Arc::new((0..5).collect());
    for from in 1..5 {
        let to = Destinations::Uniform { ids: ids.clone(), except: Some(from) };
        net.source(from, 1, Arrivals::Poisson { mean: Duration(T * 2) }, to);
        let to = Destinations::Uniform { ids: ids.clone(), except: Some(from) };
        net.source(from, 0, Arrivals::Poisson { mean: Duration(T * 2) }, to);
        net.constant(from, 3, 0, 20, u64::from(from) * T / 3);
    }
    let (log, _) = same(&net, 2_000 * T);
    log.assert_order();
}
