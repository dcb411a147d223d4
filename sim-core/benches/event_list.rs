//! The hold model: with `n` events pending, take the next one out and push one 100 ns to 1 us after it.
//! One iteration is one such pair.
//!
//! `std` is a bare binary heap of the standard library with neither limit nor checks: the price of order alone.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sim_core::{
    ActorId, BucketRing, Class, Duration, Event, EventKey, EventList, HeapList, RingConfig, Time,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

const AHEAD_MIN_PS: u64 = 100_000;
const AHEAD_MAX_PS: u64 = 1_000_000;
const PENDING: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Precomputed steps ahead: the generator must not show in the measurement.
struct Steps {
    ahead_ps: Vec<u64>,
    next: usize,
    sequence: u64,
}

impl Steps {
    fn new(far_share_percent: u64) -> Self {
        let mut state = 1u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let mut step = || match word() % 100 < far_share_percent {
            true => 1_000_000_000 + word() % 1_000_000_000,
            false => AHEAD_MIN_PS + word() % (AHEAD_MAX_PS - AHEAD_MIN_PS),
        };
        Self { ahead_ps: (0..1 << 14).map(|_| step()).collect(), next: 0, sequence: 0 }
    }

    fn key_after(&mut self, now: Time) -> EventKey {
        let ahead = self.ahead_ps[self.next % self.ahead_ps.len()];
        self.next += 1;
        self.sequence += 1;
        let source = ActorId::new((self.next as u32).wrapping_mul(2_654_435_761) >> 16);
        EventKey::from_parts(Time(now.0 + ahead), Class::new(0), source, self.sequence)
    }
}

fn ring_for(pending: usize) -> BucketRing<[u32; 3]> {
    let mean_ahead_ps = (AHEAD_MIN_PS + AHEAD_MAX_PS) / 2;
    let events_per_us = pending as u64 * 1_000_000 / mean_ahead_ps;
    BucketRing::new(RingConfig::for_rate(events_per_us, Duration(AHEAD_MAX_PS)))
}

fn fill(list: &mut impl EventList<[u32; 3]>, pending: usize, steps: &mut Steps) {
    for n in 0..pending {
        list.push(Event { key: steps.key_after(Time::ZERO), target: n as u32, payload: [n as u32; 3] });
    }
    for _ in 0..4 * pending {
        hold(list, steps);
    }
}

#[inline]
fn hold(list: &mut impl EventList<[u32; 3]>, steps: &mut Steps) -> u32 {
    let event = list.pop_before(Time::MAX).expect("the number of pending events never changes");
    list.push(Event { key: steps.key_after(event.key.time()), ..event });
    event.target
}

fn hold_model(c: &mut Criterion) {
    let mut group = c.benchmark_group("hold");
    for pending in PENDING {
        group.bench_function(BenchmarkId::new("ring", pending), |b| {
            let (mut list, mut steps) = (ring_for(pending), Steps::new(0));
            fill(&mut list, pending, &mut steps);
            b.iter(|| black_box(hold(&mut list, &mut steps)));
        });
        group.bench_function(BenchmarkId::new("heap", pending), |b| {
            let (mut list, mut steps) = (HeapList::new(), Steps::new(0));
            fill(&mut list, pending, &mut steps);
            b.iter(|| black_box(hold(&mut list, &mut steps)));
        });
        group.bench_function(BenchmarkId::new("std", pending), |b| {
            let mut steps = Steps::new(0);
            let mut heap: BinaryHeap<Reverse<(EventKey, u32, [u32; 3])>> =
                (0..pending as u32).map(|n| Reverse((steps.key_after(Time::ZERO), n, [n; 3]))).collect();
            let mut hold = || {
                let Reverse((key, target, payload)) = heap.pop().expect("never empty");
                heap.push(Reverse((steps.key_after(key.time()), target, payload)));
                target
            };
            for _ in 0..4 * pending {
                hold();
            }
            b.iter(|| black_box(hold()));
        });
    }
    group.finish();
}

/// One push in ten is a timer 1 to 2 ms ahead, so nearly all pending events are timers in the far wheel.
fn far_timers(c: &mut Criterion) {
    let mut group = c.benchmark_group("far_timers");
    for pending in [10_000, 1_000_000] {
        group.bench_function(BenchmarkId::new("ring", pending), |b| {
            let (mut list, mut steps) = (ring_for(10_000), Steps::new(10));
            fill(&mut list, pending, &mut steps);
            b.iter(|| black_box(hold(&mut list, &mut steps)));
        });
        group.bench_function(BenchmarkId::new("heap", pending), |b| {
            let (mut list, mut steps) = (HeapList::new(), Steps::new(10));
            fill(&mut list, pending, &mut steps);
            b.iter(|| black_box(hold(&mut list, &mut steps)));
        });
    }
    group.finish();
}

/// A nearly idle fabric: ten events pending, each far apart in terms of buckets.
fn sparse(c: &mut Criterion) {
    let mut group = c.benchmark_group("sparse");
    group.bench_function("ring", |b| {
        let (mut list, mut steps) = (ring_for(10_000), Steps::new(0));
        fill(&mut list, 10, &mut steps);
        b.iter(|| black_box(hold(&mut list, &mut steps)));
    });
    group.bench_function("heap", |b| {
        let (mut list, mut steps) = (HeapList::new(), Steps::new(0));
        fill(&mut list, 10, &mut steps);
        b.iter(|| black_box(hold(&mut list, &mut steps)));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = hold_model, far_timers, sparse
}
criterion_main!(benches);
