//! The total order of events, as data.
//!
//! Two events at the same instant must be handled in the same order on every machine, with every event
//! list, and however the fabric is cut into partitions. So the order is not the order of insertion: it is
//! part of the event. A key is made by the *source* of the event from its own counter, and nothing else
//! takes part, in particular no global counter:
//!
//! ```text
//! time: 64 | class: 4 | source: 22 | sequence: 38
//! ```
//!
//! [`Shake`] permutes the sources, which changes the order of ties and nothing else. A result that depends
//! on it depends on a race in the model.

use crate::time::{Duration, Time};
use std::fmt;

const CLASS_BITS: u32 = 4;
const SOURCE_BITS: u32 = 22;
const SEQUENCE_BITS: u32 = 38;
const CLASS_SHIFT: u32 = SOURCE_BITS + SEQUENCE_BITS;
const SOURCE_MASK: u64 = (1 << SOURCE_BITS) - 1;
const SEQUENCE_MASK: u64 = (1 << SEQUENCE_BITS) - 1;
const _: () = assert!(CLASS_BITS + SOURCE_BITS + SEQUENCE_BITS == 64);

/// The number of an actor: 22 bits, dense from zero, given in the order of sorted scenario paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ActorId(u32);

impl ActorId {
    /// The largest actor number, 4 194 303.
    pub const MAX: ActorId = ActorId(SOURCE_MASK as u32);

    /// Wraps a number. Panics above [`ActorId::MAX`].
    #[inline]
    #[must_use]
    pub const fn new(number: u32) -> Self {
        assert!(number as u64 <= SOURCE_MASK, "actor number above 22 bits");
        Self(number)
    }

    /// The number as an index into dense arrays.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number, in 0..2^22.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// What goes first among events of one instant: 0 before 1 before ... 15. The meaning is the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Class(u8);

impl Class {
    /// Wraps a number. Panics above 15.
    #[inline]
    #[must_use]
    pub const fn new(number: u8) -> Self {
        assert!(number < 1 << CLASS_BITS, "event class above 15");
        Self(number)
    }

    /// The number, in 0..=15.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// When an event is handled: instant, then class, then source, then the source's own counter.
///
/// Keys are unique within a run; two equal ones are a bug in the model, and the event lists and the kernel
/// panic when they see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct EventKey {
    time: Time,
    order: u64,
}

impl EventKey {
    /// Below every key that a [`KeySource`] makes.
    pub const MIN: EventKey = EventKey { time: Time::ZERO, order: 0 };
    /// Above every key that a [`KeySource`] makes.
    pub const MAX: EventKey = EventKey { time: Time::MAX, order: u64::MAX };

    /// A key from its parts. Models use [`KeySource::make`]; this is for tests, traces and messages
    /// between partitions. Panics if `sequence` needs more than 38 bits.
    #[must_use]
    pub const fn from_parts(time: Time, class: Class, source: ActorId, sequence: u64) -> Self {
        assert!(sequence <= SEQUENCE_MASK, "event sequence above 38 bits");
        let order = (class.0 as u64) << CLASS_SHIFT | (source.0 as u64) << SEQUENCE_BITS | sequence;
        Self { time, order }
    }

    /// The lower bound of an instant and class: below every made key at `time` of class `class` or later,
    /// above every key that goes before.
    #[must_use]
    pub const fn floor(time: Time, class: Class) -> Self {
        Self { time, order: (class.0 as u64) << CLASS_SHIFT }
    }

    /// A key of this class, source and sequence, `by` earlier. Unique as long as this key is not used as
    /// well. Panics in debug builds if that is before the start.
    #[inline(always)]
    #[must_use]
    pub const fn earlier(self, by: Duration) -> Self {
        Self { time: Time(self.time.0 - by.0), order: self.order }
    }

    /// A key of this class, source and sequence, `by` later. Unique as long as this key is not used again.
    #[inline(always)]
    #[must_use]
    pub const fn later(self, by: Duration) -> Self {
        Self { time: Time(self.time.0 + by.0), order: self.order }
    }

    /// A key of this source and sequence for something else, at `at`: what follows from the event of this key
    /// and cannot be told before. Unique as long as no other key of that class follows from this one.
    #[inline(always)]
    #[must_use]
    pub const fn followed(self, at: Time, class: Class) -> Self {
        let order = (class.0 as u64) << CLASS_SHIFT | self.order & !(0xF << CLASS_SHIFT);
        Self { time: at, order }
    }

    /// The instant.
    #[inline]
    #[must_use]
    pub const fn time(self) -> Time {
        self.time
    }

    /// The class.
    #[inline]
    #[must_use]
    pub const fn class(self) -> Class {
        Class((self.order >> CLASS_SHIFT) as u8)
    }

    /// The source as it takes part in the order: under a [`Shake`] this is the permuted number
    /// ([`Shake::invert`] gives the actor back).
    #[inline]
    #[must_use]
    pub const fn source(self) -> ActorId {
        ActorId((self.order >> SEQUENCE_BITS & SOURCE_MASK) as u32)
    }

    /// The source's counter, 1..2^38.
    #[inline]
    #[must_use]
    pub const fn sequence(self) -> u64 {
        self.order & SEQUENCE_MASK
    }

    /// Class, source and sequence packed as they are compared: what decides within one instant.
    #[inline]
    #[must_use]
    pub const fn order(self) -> u64 {
        self.order
    }

    #[inline]
    const fn packed(self) -> u128 {
        (self.time.0 as u128) << 64 | self.order as u128
    }
}

// One 128-bit comparison has no branch, which is what sorting a bucket wants.
impl Ord for EventKey {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.packed().cmp(&other.packed())
    }

    #[inline]
    fn max(self, other: Self) -> Self {
        if other >= self { other } else { self }
    }

    #[inline]
    fn min(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl PartialOrd for EventKey {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.packed() < other.packed()
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.packed() <= other.packed()
    }

    #[inline]
    fn gt(&self, other: &Self) -> bool {
        self.packed() > other.packed()
    }

    #[inline]
    fn ge(&self, other: &Self) -> bool {
        self.packed() >= other.packed()
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, source, sequence) = (self.class().get(), self.source(), self.sequence());
        write!(f, "{} class {class} source {source} #{sequence}", self.time)
    }
}

impl fmt::Debug for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The key maker of one actor: 8 bytes in the actor's hot state.
///
/// There must be exactly one per actor and run. Whatever may later become an event (a buffer release, a
/// wake) takes its key when it is made, whether or not it becomes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySource {
    /// source: 22 | next sequence: 38
    next: u64,
}

impl KeySource {
    /// The key maker of `actor`; its first sequence number is 1.
    #[must_use]
    pub const fn new(actor: ActorId, shake: Shake) -> Self {
        Self { next: (shake.apply(actor).0 as u64) << SEQUENCE_BITS | 1 }
    }

    /// The next key of this source, at `at`.
    ///
    /// Panics when the 38-bit counter is used up (2^38 - 2 keys of one actor).
    #[inline]
    pub fn make(&mut self, at: Time, class: Class) -> EventKey {
        let order = (class.0 as u64) << CLASS_SHIFT | self.next;
        assert!(self.next & SEQUENCE_MASK != SEQUENCE_MASK, "event sequence of one actor exceeds 38 bits");
        self.next += 1;
        EventKey { time: at, order }
    }

    /// How many keys this source has made.
    #[must_use]
    pub const fn made(&self) -> u64 {
        (self.next & SEQUENCE_MASK) - 1
    }
}

/// A permutation of the sources, hence of ties: events equal in time and class that come from different
/// sources. The order among the events of one source never changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shake(u64);

impl Shake {
    /// The identity: ties are resolved by actor number.
    pub const NONE: Shake = Shake(0);

    /// The permutation number `n`; 0 is [`Shake::NONE`].
    #[must_use]
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// The number that stands for `actor` in keys.
    #[must_use]
    pub const fn apply(self, actor: ActorId) -> ActorId {
        if self.0 == 0 {
            return actor;
        }
        let (mut left, mut right) = (actor.0 >> HALF_BITS, actor.0 & HALF_MASK);
        let mut round = 0;
        while round < ROUNDS {
            (left, right) = (right, left ^ self.round(round, right));
            round += 1;
        }
        ActorId(left << HALF_BITS | right)
    }

    /// The actor behind a number in keys: the inverse of [`apply`](Self::apply).
    #[must_use]
    pub const fn invert(self, source: ActorId) -> ActorId {
        if self.0 == 0 {
            return source;
        }
        let (mut left, mut right) = (source.0 >> HALF_BITS, source.0 & HALF_MASK);
        let mut round = ROUNDS;
        while round > 0 {
            round -= 1;
            (left, right) = (right ^ self.round(round, left), left);
        }
        ActorId(left << HALF_BITS | right)
    }

    /// The round function of a Feistel network over two halves of 11 bits: any function gives a bijection.
    const fn round(self, round: u64, half: u32) -> u32 {
        let word = self.0 ^ (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (half as u64) << 32;
        (crate::mix::finish(word) >> 17) as u32 & HALF_MASK
    }
}

const HALF_BITS: u32 = SOURCE_BITS / 2;
const HALF_MASK: u32 = (1 << HALF_BITS) - 1;
const ROUNDS: u64 = 4;
const _: () = assert!(HALF_BITS * 2 == SOURCE_BITS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        let key = EventKey::from_parts(Time(77), Class::new(9), ActorId::new(0x2a_5a5a), 0x3f_1234_5678);
        assert_eq!(key.time(), Time(77));
        assert_eq!(key.class(), Class::new(9));
        assert_eq!(key.source(), ActorId::new(0x2a_5a5a));
        assert_eq!(key.sequence(), 0x3f_1234_5678);
        assert_eq!(key.to_string(), "77 ps class 9 source 2775642 #270888359544");
    }

    #[test]
    fn what_follows_keeps_source_and_sequence() {
        let key = EventKey::from_parts(Time(77), Class::new(15), ActorId::MAX, SEQUENCE_MASK);
        let law = EventKey::from_parts(Time(78), Class::new(6), ActorId::MAX, SEQUENCE_MASK);
        assert_eq!(key.followed(Time(78), Class::new(6)), law);
    }

    #[test]
    fn earlier_and_later_move_the_time_alone() {
        let key = |time| EventKey::from_parts(Time(time), Class::new(9), ActorId::new(77), 5);
        assert_eq!(key(100).earlier(Duration(30)), key(70));
        assert_eq!(key(100).later(Duration(30)), key(130));
    }

    #[test]
    fn order_is_time_class_source_sequence() {
        let key = |t, c, a, s| EventKey::from_parts(Time(t), Class::new(c), ActorId::new(a), s);
        let sorted = [
            EventKey::MIN,
            key(0, 0, 0, 1),
            key(0, 0, 0, SEQUENCE_MASK),
            key(0, 0, 1, 1),
            key(0, 0, ActorId::MAX.get(), 5),
            EventKey::floor(Time(0), Class::new(1)),
            key(0, 1, 0, 1),
            key(0, 15, ActorId::MAX.get(), SEQUENCE_MASK - 1),
            EventKey::floor(Time(1), Class::new(0)),
            key(1, 0, 0, 1),
            key(1 << 40, 0, 0, 1),
            EventKey::MAX,
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(a.cmp(b), i.cmp(&j), "{a} against {b}");
                assert_eq!((a < b, a <= b, a > b, a >= b), (i < j, i <= j, i > j, i >= j));
                assert_eq!((*a).max(*b), sorted[i.max(j)]);
                assert_eq!((*a).min(*b), sorted[i.min(j)]);
            }
        }
    }

    #[test]
    fn a_source_counts_from_one_and_is_small() {
        assert_eq!(size_of::<KeySource>(), 8);
        assert_eq!(size_of::<EventKey>(), 16);
        let mut keys = KeySource::new(ActorId::new(3), Shake::NONE);
        let first = keys.make(Time(9), Class::new(15));
        assert_eq!(first, EventKey::from_parts(Time(9), Class::new(15), ActorId::new(3), 1));
        let second = keys.make(Time(9), Class::new(15));
        assert_eq!(second.sequence(), 2);
        assert_eq!(second.source(), ActorId::new(3));
        assert_eq!(keys.made(), 2);
    }

    #[test]
    #[should_panic(expected = "exceeds 38 bits")]
    fn sequence_overflow_panics() {
        let mut keys = KeySource { next: 7 << SEQUENCE_BITS | (SEQUENCE_MASK - 1) };
        let last = keys.make(Time(0), Class::new(0));
        assert_eq!((last.sequence(), last.source().get()), (SEQUENCE_MASK - 1, 7));
        keys.make(Time(0), Class::new(0));
    }

    #[test]
    #[should_panic(expected = "above 22 bits")]
    fn actor_above_range_panics() {
        let _ = ActorId::new(1 << 22);
    }

    #[test]
    #[should_panic(expected = "above 15")]
    fn class_above_range_panics() {
        let _ = Class::new(16);
    }

    #[test]
    fn shake_is_a_bijection_and_moves_ties() {
        for n in [1, 2, u64::MAX] {
            let shake = Shake::new(n);
            let mut seen = vec![false; 1 << SOURCE_BITS];
            let mut fixed = 0;
            for number in 0..1 << SOURCE_BITS {
                let actor = ActorId::new(number);
                let image = shake.apply(actor);
                assert!(!std::mem::replace(&mut seen[image.index()], true));
                assert_eq!(shake.invert(image), actor);
                fixed += u32::from(image == actor);
            }
            // A random permutation has one fixed point on average.
            assert!(fixed < 16, "{fixed} fixed points");
        }
        assert_eq!(Shake::NONE.apply(ActorId::new(5)), ActorId::new(5));
        assert_eq!(Shake::new(0), Shake::NONE);
    }

    #[test]
    fn shake_flips_half_of_the_neighbouring_pairs() {
        let flipped = |shake: Shake| {
            (0..10_000).filter(|&i| shake.apply(ActorId::new(i)) > shake.apply(ActorId::new(i + 1))).count()
        };
        assert_eq!(flipped(Shake::NONE), 0);
        for n in 1..20 {
            let count = flipped(Shake::new(n));
            assert!((4_700..5_300).contains(&count), "{count} of 10 000 flipped by shake {n}");
        }
    }

    #[test]
    fn shake_golden() {
        let image = |n, i| Shake::new(n).apply(ActorId::new(i)).get();
        assert_eq!(
            [image(1, 0), image(1, 1), image(1, 4_194_303), image(2, 0)],
            [3_098_524, 2_231_450, 3_116_662, 31_999]
        );
    }
}
