//! The collector counts what it is told, in any order and in any parts.

use crate::synthetic::{LENGTH, WITH, deliveries, fabric, offer, plain};
use analysis::collect::{SEGMENTS, Segment, senders_of};
use analysis::{Collector, CollectorConfig};
use models::Probe;
use models::probe::{Cause, DropReason, Dropped, Sample};
use models::sim_core::Time;
use proptest::prelude::*;
use std::sync::Arc;

fn collector() -> Collector {
    Collector::new(&CollectorConfig::new(&fabric(1), LENGTH))
}

#[test]
fn sources_are_counted_once() {
    // victim: endpoints 0, 1; hot: 2, 3, 0
    let [victim, hot] = [0, 1].map(|flow| senders_of(&fabric(1), flow).len());
    assert_eq!((victim, hot), (2, 3));
}

#[test]
fn golden_integers() {
    let mut c = collector();
    assert_eq!(c.bin_ps(), 1_953_126);
    assert_eq!((c.bins(), c.bins_per_segment()), (1024, 64));
    let mut first = plain(1_953_125, 500_000, 0);
    first.parts[Cause::OutputContention] = 300_000;
    first.parts[Cause::HeadOfLine] = 120_000;
    first.parts[Cause::SourceQueue] = 80_000;
    first.parts.source = 80_000;
    c.delivered(&first);
    c.delivered(&plain(1_953_126, 700_000, 0));
    c.delivered(&plain(LENGTH.0, 900_000, 1));
    c.dropped(&Dropped { at: Time(5), flow: 1, device: 6, members: 1, reason: DropReason::EmptyMask });
    let [victim, hot] = c.flows() else { panic!("two flows") };
    assert_eq!((victim.bins[0].packets, victim.bins[1].packets), (1, 1));
    assert_eq!((victim.bins[0].latency_ps, victim.bins[0].network_ps), (500_000, 420_000));
    assert_eq!(
        (victim.bins[0].hol_ps, victim.bins[0].link_ps, victim.bins[0].payload),
        (120_000, 114_000, 256)
    );
    // the end of the run belongs to the last bin
    assert_eq!(hot.bins[1023].packets, 1);
    assert_eq!(hot.segments[SEGMENTS - 1].latency.max, 900_000);
    assert_eq!(hot.dropped, [0, 1, 0, 0]);
    let parts = victim.segments[0].parts_ps;
    assert_eq!(parts[Cause::HeadOfLine as usize], 120_000);
    assert_eq!(parts[Cause::OutputContention as usize], 1_000_000);
    assert_eq!(parts.iter().sum::<u128>(), 1_200_000);
    let totals = c.endpoint_totals()[1];
    assert_eq!((totals.delivered_packets, totals.latency_ps, totals.latency_ps_max), (3, 2_100_000, 900_000));
    assert_eq!(c.counts(), (0, 3, 1));
}

#[test]
fn quantiles_have_three_digits() {
    let mut c = collector();
    for latency in 1..=10_000u64 {
        c.delivered(&plain(1_000_000_000, latency * 1_000, 0));
    }
    let spread = |flow: usize| Segment::from(&c.flows()[flow].segments[7]).latency;
    let (spread, empty) = (spread(0), spread(1));
    for (q, exact) in [(0.5, 5_000_000.0), (0.99, 9_900_000.0), (0.999, 9_990_000.0), (0.02, 200_000.0)] {
        let found = spread.quantile(q).unwrap() as f64;
        assert!((found / exact - 1.0).abs() < 1e-3, "quantile {q}: {found}");
    }
    assert_eq!(spread.quantile(1.0), Some(10_000_000));
    assert_eq!(empty.quantile(0.5), None);
}

#[test]
#[should_panic(expected = "the parts of a latency")]
fn parts_must_add_up() {
    let mut delivery = plain(1_000_000, 5_000, 0);
    delivery.parts[Cause::HeadOfLine] = 1;
    collector().delivered(&delivery);
}

#[test]
#[should_panic(expected = "packets are not conserved")]
fn packets_must_be_conserved() {
    let sample = Sample { injected: 10, delivered: 8, in_flight: 1, ..Sample::default() };
    collector().sample(&sample);
}

#[test]
#[should_panic(expected = "after the end of the run")]
fn reports_after_the_end_are_refused() {
    collector().delivered(&plain(LENGTH.0 + 1, 5_000, 0));
}

/// The time between two samples belongs to the bins in which it is, to each by its length: what is drawn is
/// neither late nor missing, whatever the two lengths are.
#[test]
fn the_time_between_samples_belongs_to_its_bins() {
    let mut c = collector();
    let ports = Arc::new(vec![(6, 0)]);
    // half of the first bin, and all of the second
    let (since, at) = (c.bin_start(1) / 2, c.bin_start(2));
    let mut add = |since: u64, at: u64, value: u64| {
        c.sample(&Sample {
            at: Time(at),
            since: Time(since),
            ports: Arc::clone(&ports),
            input_ps: vec![value],
            waiting_ps: vec![2 * value],
            in_flight_ps: 3 * value,
            ..Sample::default()
        });
    };
    add(0, since, 0);
    add(since, at, 300);
    let bins =
        [0, 1].map(|bin| (c.samples()[bin].ps, c.samples()[bin].switch_input, c.samples()[bin].in_flight));
    assert_eq!(bins, [(c.bin_start(1), 100, 300), (c.bin_start(2) - c.bin_start(1), 200, 600)]);
    assert_eq!([0, 1].map(|bin| c.queue((6, 0), bin)), [Some((100, 200)), Some((200, 400))]);
    assert_eq!(c.samples()[2].ps, 0);
}

#[test]
fn samples_are_summed_by_place() {
    let mut c = collector();
    let ports = Arc::new(vec![(0, 0), (6, 0), (6, 1)]);
    // the last one ends where a bin ends, and tells of what was before
    for (since, at, value) in [(0, 600, 3), (600, 1_000, 5), (1_000, c.bin_start(1), 7)] {
        c.sample(&Sample {
            at: Time(at),
            since: Time(since),
            ports: Arc::clone(&ports),
            input_ps: vec![9, value, 1],
            waiting_ps: vec![7, 2, value],
            in_flight_ps: 40,
            ..Sample::default()
        });
    }
    let bin = c.samples()[0];
    assert_eq!((bin.ps, bin.switch_input, bin.switch_waiting), (c.bin_start(1), 18, 21));
    assert_eq!((bin.source_waiting, bin.in_flight), (21, 120));
    let (key, series) = &c.ports()[1];
    assert_eq!((*key, series.ps, series.input, series.waiting), ((6, 0), c.bin_start(1), 15, 6));
    assert_eq!(c.queue((6, 0), 0), Some((15, 6)));
    assert_eq!(c.queue((6, 1), 0), Some((3, 15)));
    assert_eq!(c.queue((6, 2), 0), None);
}

/// Two parts of a fabric sample their own ports at the same instants.
#[test]
fn samples_of_parts_merge() {
    let sample = |ports: Vec<(u32, u8)>, input: Vec<u64>| Sample {
        at: Time(77),
        ports: Arc::new(ports),
        waiting_ps: vec![1; input.len()],
        input_ps: input,
        ..Sample::default()
    };
    let mut whole = collector();
    whole.sample(&sample(vec![(0, 0), (6, 0), (6, 1)], vec![4, 5, 6]));
    let (mut a, mut b) = (collector(), collector());
    a.sample(&sample(vec![(6, 0), (6, 1)], vec![5, 6]));
    b.sample(&sample(vec![(0, 0)], vec![4]));
    let (mut ab, mut ba) = (a.clone(), b.clone());
    ab.merge(&b);
    ba.merge(&a);
    assert_eq!(ab, whole);
    assert_eq!(ba, whole);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// However deliveries are split and ordered, the merged collectors are equal to one that saw them in
    /// turn.
    #[test]
    fn merging_does_not_depend_on_order(seed in any::<u64>(), parts in 1usize..5, swap in any::<u64>()) {
        let mut all = deliveries(WITH, seed);
        all.truncate(400);
        let mut whole = collector();
        for delivery in &all {
            whole.offered(&offer(delivery));
            whole.delivered(delivery);
        }
        let mut lcg = crate::synthetic::Lcg(swap);
        for index in (1..all.len()).rev() {
            all.swap(index, lcg.below(index as u64 + 1) as usize);
        }
        let mut split = vec![collector(); parts];
        for delivery in &all {
            split[lcg.below(parts as u64) as usize].offered(&offer(delivery));
            split[lcg.below(parts as u64) as usize].delivered(delivery);
        }
        let mut merged = split.pop().unwrap();
        while !split.is_empty() {
            let next = split.remove(lcg.below(split.len() as u64) as usize);
            merged.merge(&next);
        }
        prop_assert!(merged == whole);
    }
}
