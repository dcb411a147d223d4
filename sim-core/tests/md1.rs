//! The M/D/1 queue against the formula of Pollaczek and Khinchine.

use sim_core::{
    ActorId, BucketRing, Class, Context, Duration, Event, EventList, Kernel, KeySource, Purpose, RingConfig,
    RunEnd, Shake, Stream, Time, World,
};
use std::collections::VecDeque;

const SERVICE: Duration = Duration::from_us(1);
const SERVER: u32 = 0;
const SOURCE: u32 = 1;
const DEPARTURES: Class = Class::new(0);
const ARRIVALS: Class = Class::new(1);

/// A source and a server, each an actor of its own.
struct Queue {
    source_keys: KeySource,
    server_keys: KeySource,
    gaps: Stream,
    mean_gap: Duration,
    to_come: u64,
    waiting_since: VecDeque<Time>,
    busy: bool,
    wait_total: Duration,
    busy_total: Duration,
}

impl Queue {
    fn start_service<L: EventList<()>>(&mut self, cx: &mut Context<'_, (), L>) {
        self.busy = !self.waiting_since.is_empty();
        if let Some(since) = self.waiting_since.pop_front() {
            self.wait_total += cx.now() - since;
            self.busy_total += SERVICE;
            cx.send(self.server_keys.make(cx.now() + SERVICE, DEPARTURES), SERVER, ());
        }
    }

    fn arrive<L: EventList<()>>(&mut self, cx: &mut Context<'_, (), L>) {
        self.waiting_since.push_back(cx.now());
        if !self.busy {
            self.start_service(cx);
        }
        self.to_come -= 1;
        if self.to_come > 0 {
            let gap = self.gaps.exponential_ps(self.mean_gap).max(Duration(1));
            cx.send(self.source_keys.make(cx.now() + gap, ARRIVALS), SOURCE, ());
        }
    }
}

impl World for Queue {
    type Payload = ();

    fn handle<L: EventList<()>>(&mut self, event: Event<()>, cx: &mut Context<'_, (), L>) {
        match event.target {
            SERVER => self.start_service(cx),
            _ => self.arrive(cx),
        }
    }
}

/// The mean wait before service and the share of time that the server is busy, both in millionths (of a
/// service time, of the time).
fn measure(load_percent: u64, customers: u64) -> (u64, u64) {
    let mean_gap = SERVICE * 100 / load_percent;
    let mut source_keys = KeySource::new(ActorId::new(SOURCE), Shake::NONE);
    let first = Event { key: source_keys.make(Time::ZERO, ARRIVALS), target: SOURCE, payload: () };
    let world = Queue {
        source_keys,
        server_keys: KeySource::new(ActorId::new(SERVER), Shake::NONE),
        gaps: Stream::new(load_percent, "queue", Purpose::ARRIVALS),
        mean_gap,
        to_come: customers,
        waiting_since: VecDeque::new(),
        busy: false,
        wait_total: Duration::ZERO,
        busy_total: Duration::ZERO,
    };
    let list = BucketRing::new(RingConfig::for_rate(2, mean_gap * 8));
    let mut kernel = Kernel::new(world, list);
    kernel.schedule(first);
    assert_eq!(kernel.run_until(Time::MAX), RunEnd::Empty);
    assert_eq!(kernel.events_handled(), 2 * customers);
    let wait_ps = kernel.world.wait_total / customers;
    let millionth_of_run = Duration(kernel.now().as_ps() / 1_000_000);
    (wait_ps.as_ps(), kernel.world.busy_total / millionth_of_run)
}

fn check(load_percent: u64, customers: u64) {
    let (wait, busy) = measure(load_percent, customers);
    let expected = load_percent * 1_000_000 / (2 * (100 - load_percent));
    assert!(wait.abs_diff(expected) * 50 < expected, "mean wait {wait}, expected {expected} within 2 %");
    let load = load_percent * 10_000;
    assert!(busy.abs_diff(load) * 200 < load, "busy {busy}, expected {load} within 0.5 %");
}

#[test]
fn mean_wait_at_load_0_3() {
    check(30, 3_000_000);
}

#[test]
fn mean_wait_at_load_0_6() {
    check(60, 3_000_000);
}

#[test]
fn mean_wait_at_load_0_9() {
    check(90, 10_000_000);
}
