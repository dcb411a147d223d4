//! Packets in queues, integrated between samples.
use crate::common::*;
use crate::random_fabrics::fabric;
use models::Simulation;
use models::probe::Sample;
use proptest::prelude::*;
use sim_core::{Duration, Time};
use std::sync::Arc;

/// What a packet is under way through one switch: two links, and the pipeline.
const PASS: u64 = 2 * T + 20_000 + 100_000 + 20_000;
const PERIOD: u64 = 10 * T;

/// Samples of a fabric to which each endpoint but the last sends one packet in each period, from `at` on;
/// without those before all queues have been used.
fn periodic(senders: u32, at: u64, every: u64, options: models::RunOptions) -> Vec<Sample> {
    let mut net = single(senders as usize + 1, switch(senders as u8 + 1));
    for sender in 0..senders {
        net.constant(sender, 0, senders, 100 * T / PERIOD, at).limit = 40;
    }
    net.config.sample_every = Some(Duration(every));
    let mut sim = Simulation::new(Arc::new(net.config), options, Log::default());
    sim.run(Time(30 * PERIOD), u64::MAX);
    let settled = |sample: &Sample| sample.since.0 >= 2 * PERIOD;
    sim.finish().0.samples.into_iter().filter(settled).collect()
}

fn at(sample: &Sample, device: u32, port: u8) -> (u64, u64) {
    let place = sample.ports.iter().position(|place| *place == (device, port)).expect("the port exists");
    (sample.input_ps[place], sample.waiting_ps[place])
}

/// A packet that stands in a queue for L in each period P makes L / P of it on average, at whatever moment of
/// the period it is looked at, and whether or not its coming and going are events. It is under way for the
/// time that it takes.
#[test]
fn a_mean_does_not_depend_on_the_moment() {
    for options in ALL_OPTIONS {
        for begin in [0, 1, T / 3, 5 * T, PERIOD - 1] {
            let samples = periodic(1, begin, PERIOD, options);
            assert!(samples.len() > 20);
            for sample in samples {
                // It is in the buffer while it is read.
                assert_eq!((at(&sample, 2, 0), at(&sample, 2, 1)), ((T, 0), (0, 0)), "{begin} {options:?}");
                assert_eq!(sample.in_flight_ps, PASS);
            }
        }
    }
}

/// Of two packets that come at once the second waits for the first, in its buffer.
#[test]
fn who_waits_is_in_two_queues() {
    for options in ALL_OPTIONS {
        for begin in [0, 1, T / 3, 5 * T, PERIOD - 1] {
            let samples = periodic(2, begin, PERIOD, options);
            assert!(samples.len() > 20);
            for sample in samples {
                let [(first, _), (second, _), (none, waiting)] = [0, 1, 2].map(|port| at(&sample, 3, port));
                assert_eq!((first.min(second), first.max(second)), (T, 2 * T), "{begin} {options:?}");
                assert_eq!((none, waiting), (0, T), "{begin} {options:?}");
                assert_eq!(sample.in_flight_ps, 2 * PASS + T);
            }
        }
    }
}

/// Three packets that are created at once wait for 0, T and 2 T at their source.
#[test]
fn a_burst_waits_at_its_source() {
    let mut net = single(2, switch(2));
    net.burst(0, 0, 1, T, 3);
    net.config.sample_every = Some(Duration(100 * T));
    let (log, _) = net.run(200 * T);
    assert_eq!(at(&log.samples[0], 0, 0), (0, 3 * T));
}

/// The sums of every queue, and of what is under way.
fn sums(samples: &[Sample]) -> Vec<u128> {
    let Some(first) = samples.first() else { return Vec::new() };
    let total = |of: &dyn Fn(&Sample) -> u64| samples.iter().map(|s| u128::from(of(s))).sum::<u128>();
    let queues = (0..first.ports.len())
        .flat_map(|n| [total(&|s: &Sample| s.input_ps[n]), total(&|s: &Sample| s.waiting_ps[n])]);
    queues.chain([total(&|s: &Sample| s.in_flight_ps)]).collect()
}

proptest! {
    #![proptest_config(property(60, 23))]

    /// Whatever happens in a fabric: finer samples add up to coarser ones. What they hold lies between the
    /// fewest and the most that instants see that are so close that hardly anything changes in between. And
    /// Little's law: what was under way, times the time that it was, is the sum of all times.
    #[test]
    fn intervals_add_up(seed in any::<u64>(), voq in any::<bool>()) {
        const GRAIN: u64 = T / 8;
        const GRAINS: usize = 24;
        let mut net = fabric(seed, voq);
        let mut run = |every: u64| {
            net.config.sample_every = Some(Duration(every));
            net.run(160 * GRAINS as u64 * GRAIN)
        };
        let ((fine, outcome), (coarse, _)) = (run(GRAIN), run(GRAINS as u64 * GRAIN));
        prop_assert!(fine.samples.iter().all(|s| s.at.0 - s.since.0 == GRAIN));
        // A run is over when nothing happens any more, here in less than a coarse interval: what is left then
        // is nothing, or stands still.
        let stands = outcome.in_flight > 0 && fine.samples.len() < coarse.samples.len() * GRAINS;
        let both = if stands { fine.samples.len() / GRAINS } else { coarse.samples.len() };
        let upto = fine.samples.len().min(both * GRAINS);
        prop_assert_eq!(sums(&fine.samples[..upto]), sums(&coarse.samples[..both]));
        let changes = 8 * (outcome.packet_hops + outcome.injected + outcome.replicated);
        for (n, sum) in sums(&fine.samples).into_iter().enumerate() {
            let now = |s: &Sample| match n.checked_sub(2 * s.ports.len()) {
                Some(_) => s.in_flight,
                None if n % 2 == 0 => s.input_occupancy[n / 2].into(),
                None => s.output_waiting[n / 2].into(),
            };
            let seen: u128 = fine.samples.iter().map(|s| u128::from(now(s) * GRAIN)).sum();
            prop_assert!(sum.abs_diff(seen) <= u128::from(changes * GRAIN), "{sum} {seen} {n}");
        }
        if outcome.replicated + outcome.dropped + outcome.in_flight == 0 {
            let times: u128 = fine.deliveries.iter().map(|d| u128::from(d.latency())).sum();
            prop_assert_eq!(*sums(&fine.samples).last().unwrap(), times);
        }
    }
}
