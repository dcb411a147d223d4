//! An event list that is chosen when a run begins.

mod counted;

pub use counted::{Counted, ListCounts, RingCounts};

use crate::event::{Event, EventList, Foresees, HeapList};
use crate::key::EventKey;
use crate::ring::BucketRing;
use crate::time::Time;

/// One of the lists, chosen at run time: a world is compiled once for all of them.
///
/// A world is compiled again for every type of list that its kernel has. For a large one that costs more
/// than the choice costs a run: one branch for each event posted, which is predicted, because it never
/// changes.
#[derive(Clone, Debug)]
pub enum ChosenList<P> {
    /// The reference.
    Heap(HeapList<P>),
    /// The fast one.
    Ring(BucketRing<P>),
    /// One of them that counts what passes through it; see [`counted`](Self::counted).
    Counted(Box<Counted<P>>),
}

impl<P: Copy> ChosenList<P> {
    /// A list that counts from now on what passes through it. `kind` says of which kind an event is: a
    /// number less than `kinds`. What is taken, and when, does not change.
    #[must_use]
    pub fn counted(self, kinds: usize, kind: fn(&P) -> usize) -> Self {
        ChosenList::Counted(Box::new(Counted::new(self, kinds, kind)))
    }

    /// What has passed through the list so far, if that is counted.
    #[must_use]
    pub fn counts(&self) -> Option<&ListCounts> {
        match self {
            ChosenList::Counted(counted) => Some(counted.counts()),
            ChosenList::Heap(_) | ChosenList::Ring(_) => None,
        }
    }

    /// Kept out of the posters, which would all grow by it; and in parts, as the ring takes an event.
    #[cold]
    #[inline(never)]
    fn push_cold(&mut self, key: EventKey, target: u32, payload: P) {
        let event = Event { key, target, payload };
        match self {
            ChosenList::Heap(heap) => heap.push(event),
            ChosenList::Counted(counted) => counted.push(event),
            ChosenList::Ring(ring) => ring.push(event),
        }
    }

    /// Kept out of the run loop.
    #[cold]
    #[inline(never)]
    fn pop_cold(&mut self, limit: Time) -> Option<Event<P>> {
        match self {
            ChosenList::Heap(heap) => heap.pop_before(limit),
            ChosenList::Counted(counted) => counted.pop_before(limit),
            ChosenList::Ring(ring) => ring.pop_before(limit),
        }
    }
}

impl<P: Copy> EventList<P> for ChosenList<P> {
    #[inline(always)]
    fn push(&mut self, event: Event<P>) {
        match self {
            ChosenList::Ring(ring) => ring.push(event),
            other => other.push_cold(event.key, event.target, event.payload),
        }
    }

    #[inline(always)]
    fn pop_before(&mut self, limit: Time) -> Option<Event<P>> {
        match self {
            ChosenList::Ring(ring) => ring.pop_before(limit),
            other => other.pop_cold(limit),
        }
    }

    #[inline]
    fn pop_foreseeing(&mut self, limit: Time, who: &impl Foresees<P>) -> Option<Event<P>> {
        match self {
            ChosenList::Ring(ring) => ring.pop_foreseeing(limit, who),
            // A hint that costs who does not need it: passed on here, it makes the run loop longer for all.
            other => other.pop_cold(limit),
        }
    }

    fn peek_key(&mut self) -> Option<EventKey> {
        match self {
            ChosenList::Ring(ring) => ring.peek_key(),
            ChosenList::Heap(heap) => heap.peek_key(),
            ChosenList::Counted(counted) => counted.peek_key(),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        match self {
            ChosenList::Ring(ring) => ring.len(),
            ChosenList::Heap(heap) => heap.len(),
            ChosenList::Counted(counted) => counted.len(),
        }
    }
}
