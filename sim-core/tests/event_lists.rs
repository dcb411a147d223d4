//! The bucket ring against the heap: the same calls give the same answers, whatever the shape of the ring.

use proptest::prelude::*;
use sim_core::{
    ActorId, Ahead, BucketRing, ChosenList, Class, Duration, Event, EventKey, EventList, Foresees, HeapList,
    RingConfig, Time,
};
use std::cell::RefCell;

#[derive(Clone, Debug)]
enum Op {
    /// Push an event this far after the last popped one.
    Ahead(u64),
    /// Push an event at this instant, possibly before the last popped one.
    At(u64),
    /// Push this many events at one instant, so far ahead.
    Ties(u64, u8),
    /// Pop up to this many events within so much time.
    Pop(u8, u64),
    /// Look at the next key.
    Peek,
}

/// Spans of every order of magnitude, round ones (edges of buckets, epochs, slots) among them.
fn span() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0u64..4,
        4 => (0u32..63, any::<u64>()).prop_map(|(bits, word)| word & ((1 << bits) - 1)),
        2 => (0u32..63, 0u64..3).prop_map(|(bits, near)| (1u64 << bits) + near - 1),
        1 => 0u64..u64::MAX / 2,
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => span().prop_map(Op::Ahead),
        1 => prop_oneof![span(), Just(u64::MAX), Just(u64::MAX / 2), Just(0)].prop_map(Op::At),
        1 => (span(), 2u8..60).prop_map(|(ahead, count)| Op::Ties(ahead, count)),
        8 => (1u8..8, prop_oneof![span(), Just(u64::MAX)]).prop_map(|(count, within)| Op::Pop(count, within)),
        1 => (20u8..200, span()).prop_map(|(count, within)| Op::Pop(count, within)),
        1 => Just(Op::Peek),
    ]
}

struct Both {
    heap: ChosenList<u32>,
    ring: ChosenList<u32>,
    now: u64,
    sequence: u64,
}

impl Both {
    fn new(config: RingConfig) -> Self {
        let (heap, ring) = (HeapList::new(), BucketRing::new(config));
        Self { heap: ChosenList::Heap(heap), ring: ChosenList::Ring(ring), now: 0, sequence: 0 }
    }

    fn push(&mut self, at: u64) {
        self.sequence += 1;
        // Neither classes nor sources come in the order of the pushes.
        let word = self.sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (class, source) = (Class::new((word >> 62) as u8), ActorId::new((word >> 40) as u32 & 0xff));
        let key = EventKey::from_parts(Time(at), class, source, self.sequence);
        let event = Event { key, target: word as u32, payload: self.sequence as u32 };
        self.heap.push(event);
        self.ring.push(event);
    }

    /// Whether an event was popped.
    fn pop(&mut self, limit: u64) -> bool {
        let (expected, got) = (self.heap.pop_before(Time(limit)), self.ring.pop_before(Time(limit)));
        assert_eq!(got, expected, "limit {limit}");
        if let Some(event) = got {
            self.now = event.key.time().0;
        }
        got.is_some()
    }

    fn check(&mut self) {
        assert_eq!(self.ring.len(), self.heap.len());
        assert_eq!(self.ring.is_empty(), self.heap.is_empty());
        assert_eq!(self.ring.peek_key(), self.heap.peek_key());
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Ahead(span) => self.push(self.now.saturating_add(span)),
            Op::At(time) => self.push(time),
            Op::Ties(span, count) => (0..count).for_each(|_| self.push(self.now.saturating_add(span))),
            Op::Pop(count, within) => {
                let limit = self.now.saturating_add(within);
                for _ in 0..count {
                    if !self.pop(limit) {
                        break;
                    }
                }
            }
            Op::Peek => self.check(),
        }
    }

    fn drain(&mut self) {
        self.check();
        while self.pop(u64::MAX) {
            self.check();
        }
        assert!(self.ring.is_empty());
    }
}

/// Every event is posted to one place and found in one; what is taken is that of the list that does not
/// count. Kinds are thirds of the numbers.
fn counts_add_up(counted: &ChosenList<u32>) {
    let counts = counted.counts().expect("it counts");
    let left = counted.len() as u64;
    assert_eq!(counts.taken_total() + left, counts.posted);
    let Some(ring) = &counts.ring else { return };
    assert_eq!(ring.in_bucket + ring.late + ring.ahead + ring.beyond, counts.posted);
    assert_eq!(ring.fill.iter().sum::<u64>(), ring.entered);
    assert!(ring.entered <= ring.found && ring.entered <= ring.passed, "{ring:?}");
    if left == 0 {
        assert_eq!(ring.found, ring.ahead + ring.beyond);
        let thirds = |third| (1..=counts.posted).filter(|number| number % 3 == third).count() as u64;
        assert_eq!(counts.taken, [0, 1, 2].map(thirds));
    }
}

/// By hand: buckets of 8 ps, four of them. 0 belongs to the bucket of the cursor, 9 and 10 to one, 25 to the
/// last of the ring, 100 to none: it is the twelfth. The cursor enters 1, 3 and 12.
#[test]
fn places_of_five_events() {
    let ring = BucketRing::new(RingConfig { bucket_width_log2_ps: 3, buckets_log2: 2 });
    let mut list = ChosenList::Ring(ring).counted(2, |payload: &u32| *payload as usize);
    for (number, at) in [0u64, 9, 10, 25, 100].into_iter().enumerate() {
        let key = EventKey::from_parts(Time(at), Class::new(0), ActorId::new(1), number as u64);
        list.push(Event { key, target: 0, payload: u32::from(at == 25) });
    }
    while list.pop_before(Time::MAX).is_some() {}
    let counts = list.counts().expect("it counts");
    assert_eq!((&counts.taken[..], counts.posted, counts.most_pending), (&[4, 1][..], 5, 5));
    assert_eq!(counts.pending_sum, 4 + 3 + 2 + 1);
    let ring = counts.ring.as_ref().expect("a ring");
    assert_eq!((ring.width_ps, ring.buckets), (8, 4));
    assert_eq!([ring.in_bucket, ring.late, ring.ahead, ring.beyond], [1, 0, 3, 1]);
    assert_eq!([ring.entered, ring.found, ring.passed], [3, 4, 1 + 2 + 9]);
    assert_eq!(ring.fill[..3], [2, 1, 0]);
    // Two parts of a fabric: sums, and the fuller of two lists.
    let mut both = counts.clone();
    both.add(counts);
    assert_eq!((both.posted, both.most_pending, both.pending_sum), (10, 5, 20));
    assert_eq!(both.ring.as_ref().map(|ring| (ring.passed, ring.fill[0])), Some((24, 4)));
}

/// The cursor stays behind the limit of a pop, in the ring and before what is beyond it: by hand, what comes
/// between finds its bucket still ahead. Four buckets of 8 ps; 25 is in the last, 100 beyond.
#[test]
fn a_pop_in_vain_leaves_the_cursor_behind_its_limit() {
    for (first, ahead, beyond) in [(25, 2, 0), (100, 1, 1)] {
        let ring = BucketRing::new(RingConfig { bucket_width_log2_ps: 3, buckets_log2: 2 });
        let mut list = ChosenList::Ring(ring).counted(1, |_: &u32| 0);
        let push = |list: &mut ChosenList<u32>, at: u64| {
            let key = EventKey::from_parts(Time(at), Class::new(0), ActorId::new(1), at);
            list.push(Event { key, target: 0, payload: 0 });
        };
        push(&mut list, first);
        assert_eq!(list.pop_before(Time(9)), None);
        push(&mut list, 17);
        let ring = list.counts().and_then(|counts| counts.ring.as_ref()).expect("a ring that counts");
        assert_eq!([ring.in_bucket, ring.late, ring.ahead, ring.beyond], [0, 0, ahead, beyond]);
        assert_eq!(ring.passed, 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A list that counts gives what it would give without, and its counts add up at any time.
    #[test]
    fn counting_changes_nothing(
        bucket_width_log2_ps in 0u32..=40,
        buckets_log2 in 1u32..=9,
        ops in prop::collection::vec(op(), 1..100),
        heap in any::<bool>(),
    ) {
        let mut both = Both::new(RingConfig { bucket_width_log2_ps, buckets_log2 });
        let list = if heap { ChosenList::Heap(HeapList::new()) } else { both.ring };
        both.ring = list.counted(3, |payload| *payload as usize % 3);
        for op in &ops {
            both.apply(op);
            counts_add_up(&both.ring);
        }
        both.drain();
        counts_add_up(&both.ring);
    }

    #[test]
    fn ring_equals_heap(
        bucket_width_log2_ps in 0u32..=40,
        buckets_log2 in 1u32..=9,
        ops in prop::collection::vec(op(), 1..200),
    ) {
        let mut both = Both::new(RingConfig { bucket_width_log2_ps, buckets_log2 });
        for op in &ops {
            both.apply(op);
        }
        both.drain();
    }

    /// Spans of the order of the ring itself: every case turns it many times.
    #[test]
    fn ring_equals_heap_around_its_horizon(
        buckets_log2 in 1u32..=8,
        spans in prop::collection::vec((0u64..1 << 12, 0u8..4, 0u64..1 << 10), 1..300),
    ) {
        let mut both = Both::new(RingConfig { bucket_width_log2_ps: 3, buckets_log2 });
        for &(ahead, pops, within) in &spans {
            both.push(both.now + ahead);
            both.apply(&Op::Pop(pops, within));
        }
        both.drain();
    }

    #[test]
    fn every_rate_gives_a_valid_shape(rate in any::<u64>(), horizon in any::<u64>()) {
        for (rate, horizon) in [(rate, horizon), (rate >> 40, horizon >> 20), (rate >> 50, horizon >> 44)] {
            let config = RingConfig::for_rate(rate, Duration(horizon));
            let mut both = Both::new(config);
            for ahead in [0, 1, horizon / 2, horizon, horizon.saturating_add(1)] {
                both.push(ahead);
            }
            both.drain();
        }
    }
}

#[test]
fn a_long_run_turns_every_level_of_the_wheel() {
    // One bucket of one picosecond per epoch: the wheel sees every time digit.
    let mut both = Both::new(RingConfig { bucket_width_log2_ps: 0, buckets_log2: 1 });
    let mut word = 1u64;
    for _ in 0..500 {
        both.push(0);
    }
    for _ in 0..100_000 {
        word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = word >> 58;
        both.push(both.now.saturating_add(word >> 8 & ((1 << bits.min(40)) - 1)));
        assert!(both.pop(u64::MAX));
    }
    both.drain();
}

#[test]
fn events_that_arrive_after_a_fruitless_pop_find_their_place() {
    let mut both = Both::new(RingConfig { bucket_width_log2_ps: 4, buckets_log2: 6 });
    both.push(1 << 40);
    assert!(!both.pop(1 << 20));
    both.check();
    for at in [(1 << 20) + 5, (1 << 30) - 1, (1 << 20) + 1, (1 << 40) - 1, (1 << 40) + 1] {
        both.push(at);
        both.check();
    }
    assert!(!both.pop(1 << 20));
    both.drain();
}

/// Thousands of events in one slot of the wheel, more than its pieces hold, pushed and taken by turns.
#[test]
fn a_crowded_slot_of_the_wheel_loses_nothing() {
    let mut both = Both::new(RingConfig { bucket_width_log2_ps: 2, buckets_log2: 4 });
    for turn in 1..6u64 {
        for n in 0..3_000u64 {
            both.push(both.now + 40_000 * turn + n * 7_919 % 101);
        }
        for _ in 0..2_500 {
            assert!(both.pop(u64::MAX));
        }
    }
    both.drain();
}

/// Who is shown what comes, and writes it down.
#[derive(Default)]
struct Watcher {
    shown: RefCell<Vec<(u32, Ahead)>>,
}

impl Foresees<u32> for Watcher {
    fn foresee(&self, event: &Event<u32>, ahead: Ahead) {
        self.shown.borrow_mut().push((event.payload, ahead));
    }
}

/// One event in each bucket, one after the other: when one is taken, the four after it are seen, the last of
/// them for the first time, as a far one; so each is seen four times before its turn, each time nearer. The
/// four that were seen together at first miss steps: the k-th of them is far, and then as near as it is. It
/// makes no difference whether the ring had to be filled from the wheel.
#[test]
fn an_event_is_shown_at_each_distance_before_its_turn() {
    let mut list = BucketRing::new(RingConfig { bucket_width_log2_ps: 3, buckets_log2: 8 });
    let world = Watcher::default();
    let events = 1_000;
    for n in 0..events {
        let key = EventKey::from_parts(Time(8 * n), Class::new(1), ActorId::new(2), n);
        list.push(Event { key, target: 0, payload: n as u32 });
    }
    let nearer = [Ahead::Middle, Ahead::Near, Ahead::Next];
    for n in 0..events as u32 {
        let taken = list.pop_foreseeing(Time::MAX, &world).expect("it was pushed");
        assert_eq!(taken.payload, n);
        let shown = world.shown.borrow();
        let of_it: Vec<Ahead> =
            shown.iter().filter(|(event, _)| *event == n).map(|(_, ahead)| *ahead).collect();
        // The first was in the current bucket from the start, and the second is the first that is entered.
        let expected = match (n as usize).checked_sub(2) {
            None => Vec::new(),
            Some(k) => [&[Ahead::Far], &nearer[3 - k.min(3)..]].concat(),
        };
        assert_eq!(of_it, expected, "event {n}");
    }
}

/// A bucket that is filled after those behind it were seen is not shown, and those behind it are still shown
/// once at each distance.
#[test]
fn who_comes_between_what_was_seen_changes_nothing_of_it() {
    let mut list = BucketRing::new(RingConfig { bucket_width_log2_ps: 3, buckets_log2: 8 });
    let world = Watcher::default();
    let push = |list: &mut BucketRing<u32>, n: u32, at: u64| {
        let key = EventKey::from_parts(Time(at), Class::new(1), ActorId::new(2), n.into());
        list.push(Event { key, target: 0, payload: n });
    };
    (0..20).for_each(|n| push(&mut list, n, 16 * u64::from(n)));
    for n in 0..8 {
        assert_eq!(list.pop_foreseeing(Time::MAX, &world).map(|event| event.payload), Some(n));
    }
    push(&mut list, 100, 16 * 8 + 8);
    for n in [8, 100, 9, 10, 11, 12] {
        assert_eq!(list.pop_foreseeing(Time::MAX, &world).map(|event| event.payload), Some(n));
    }
    let shown = world.shown.borrow();
    let of =
        |n: u32| shown.iter().filter(|(event, _)| *event == n).map(|(_, ahead)| *ahead).collect::<Vec<_>>();
    assert_eq!(of(100), []);
    for n in 9..=12 {
        assert_eq!(of(n), [Ahead::Far, Ahead::Middle, Ahead::Near, Ahead::Next], "event {n}");
    }
}

/// The last bucket that the ring covers is seen, and seen once: once round the ring the same one is not
/// another one. The first event enters the second half of 256 buckets, so the ring covers 255 behind it.
#[test]
fn the_last_bucket_of_the_ring_is_shown_once() {
    let mut list = BucketRing::new(RingConfig { bucket_width_log2_ps: 3, buckets_log2: 8 });
    let world = Watcher::default();
    for (n, bucket) in [128, 128 + 255].into_iter().enumerate() {
        let key = EventKey::from_parts(Time(8 * bucket), Class::new(1), ActorId::new(2), n as u64);
        list.push(Event { key, target: 0, payload: n as u32 });
    }
    assert_eq!(list.pop_foreseeing(Time::MAX, &world).map(|event| event.payload), Some(0));
    assert_eq!(*world.shown.borrow(), [(1, Ahead::Far)]);
    assert_eq!(list.pop_foreseeing(Time::MAX, &world).map(|event| event.payload), Some(1));
    assert_eq!(*world.shown.borrow(), [(1, Ahead::Far)]);
}

#[test]
fn a_crowded_current_bucket_stays_sorted() {
    // All in one bucket: beyond the first few, arrivals go through the heap of late ones.
    let mut both = Both::new(RingConfig { bucket_width_log2_ps: 40, buckets_log2: 4 });
    for n in 0..5_000u64 {
        both.push(n * 7_919 % 10_007);
        if n % 3 == 0 {
            both.pop(u64::MAX);
        }
    }
    both.drain();
}

#[test]
fn the_limit_is_inclusive() {
    for width in [0, 4, 20] {
        let mut both = Both::new(RingConfig { bucket_width_log2_ps: width, buckets_log2: 5 });
        both.push(1_000);
        both.push(1_001);
        assert!(!both.pop(999));
        assert!(both.pop(1_000));
        assert!(!both.pop(1_000));
        assert!(both.pop(1_001));
        assert!(!both.pop(u64::MAX));
    }
}

fn event(time: u64, sequence: u64) -> Event<u32> {
    let key = EventKey::from_parts(Time(time), Class::new(1), ActorId::new(2), sequence);
    Event { key, target: 0, payload: 0 }
}

fn drain(mut list: impl EventList<u32>) -> usize {
    std::iter::from_fn(|| list.pop_before(Time::MAX)).count()
}

#[test]
#[should_panic(expected = "duplicate event key: 70 ps class 1 source 2 #7")]
fn the_heap_panics_at_a_duplicate_key() {
    let mut list = HeapList::new();
    for sequence in [1, 7, 9, 7, 3] {
        list.push(event(70, sequence));
    }
    drain(list);
}

/// The ways two equal keys can meet in the ring, and what else lies in their bucket.
#[test]
fn the_ring_panics_at_a_duplicate_key() {
    let config = RingConfig { bucket_width_log2_ps: 6, buckets_log2: 4 };
    type Setup = fn(&mut BucketRing<u32>);
    let setups: [(&str, Setup); 6] = [
        ("in a bucket of the ring", |list| {
            [1, 7, 9, 7, 3].iter().for_each(|&n| list.push(event(70, n)));
        }),
        ("in a full bucket", |list| {
            (1..100).for_each(|n| list.push(event(70, n)));
            list.push(event(70, 50));
        }),
        ("in the far wheel", |list| {
            [1, 7, 9, 7, 3].iter().for_each(|&n| list.push(event(1 << 40, n)));
        }),
        ("in the current bucket", |list| {
            [1, 7, 9].iter().for_each(|&n| list.push(event(70, n)));
            list.pop_before(Time::MAX);
            list.push(event(70, 9));
        }),
        ("between the current bucket and the late arrivals", |list| {
            (1..100).for_each(|n| list.push(event(70, n)));
            list.pop_before(Time::MAX);
            list.push(event(70, 80));
        }),
        ("among the late arrivals", |list| {
            (1..100).for_each(|n| list.push(event(70, n)));
            list.pop_before(Time::MAX);
            [101, 105, 101].iter().for_each(|&n| list.push(event(70, n)));
        }),
    ];
    for (name, setup) in setups {
        let outcome = std::panic::catch_unwind(|| {
            let mut list = BucketRing::new(config);
            setup(&mut list);
            drain(list)
        });
        let message = *outcome.expect_err(name).downcast::<String>().expect("a formatted message");
        assert!(message.starts_with("duplicate event key"), "{name}: {message}");
    }
    let mut list = BucketRing::new(config);
    (1..100).for_each(|n| list.push(event(70, n)));
    assert_eq!(drain(list), 99);
}

#[test]
#[should_panic(expected = "buckets_log2 outside 1..=20")]
fn a_ring_without_buckets_panics() {
    let _ = BucketRing::<u32>::new(RingConfig { bucket_width_log2_ps: 0, buckets_log2: 0 });
}
