//! The floor of a machine: what an event costs that does nothing but touch a random line.

use models::sim_core::{ActorId, BucketRing, Class, Duration, Event, EventKey, EventList, RingConfig, Time};
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds an event: ring and one random line of `bytes`.
pub(crate) fn floor(bytes: usize, pending: usize) -> f64 {
    let lines = (bytes / 64).max(1);
    let mut state = vec![[0u64; 8]; lines];
    let spread = 120_000u64;
    let mut ring = BucketRing::<[u32; 3]>::new(RingConfig::for_rate(
        (pending as u64 * 1_000_000 / spread).max(1),
        Duration(spread * 4),
    ));
    let source = ActorId::new(1);
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let key = |at: u64, n: u64| EventKey::from_parts(Time(at), Class::new(0), source, n);
    for n in 0..pending as u64 {
        ring.push(Event { key: key(next() % spread, n), target: 0, payload: [0; 3] });
    }
    let (events, start) = (1_000_000u64, Instant::now());
    for n in 0..events {
        let event = ring.pop_before(Time::MAX).expect("the ring never empties");
        let r = next();
        let line = &mut state[(r >> 20) as usize % lines];
        line[(r & 7) as usize] = line[(r & 7) as usize].wrapping_add(n);
        let at = event.key.time().0 + 1 + r % (2 * spread);
        ring.push(Event { key: key(at, pending as u64 + n), target: 0, payload: [0; 3] });
    }
    black_box(&state);
    start.elapsed().as_nanos() as f64 / events as f64
}
