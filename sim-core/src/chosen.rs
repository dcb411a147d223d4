//! An event list that is chosen when a run begins.

use crate::event::{Event, EventList, HeapList};
use crate::key::EventKey;
use crate::ring::BucketRing;
use crate::time::Time;

/// One of the lists, chosen at run time: a world is compiled once for both.
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
}

impl<P: Copy> EventList<P> for ChosenList<P> {
    #[inline(always)]
    fn push(&mut self, event: Event<P>) {
        match self {
            ChosenList::Ring(ring) => ring.push(event),
            ChosenList::Heap(heap) => push_heap(heap, event.key, event.target, event.payload),
        }
    }

    #[inline(always)]
    fn pop_before(&mut self, limit: Time) -> Option<Event<P>> {
        match self {
            ChosenList::Ring(ring) => ring.pop_before(limit),
            ChosenList::Heap(heap) => heap.pop_before(limit),
        }
    }

    #[inline]
    fn pop_foreseeing(&mut self, limit: Time, foresee: impl FnMut(&Event<P>)) -> Option<Event<P>> {
        match self {
            ChosenList::Ring(ring) => ring.pop_foreseeing(limit, foresee),
            ChosenList::Heap(heap) => heap.pop_foreseeing(limit, foresee),
        }
    }

    fn peek_key(&mut self) -> Option<EventKey> {
        match self {
            ChosenList::Ring(ring) => ring.peek_key(),
            ChosenList::Heap(heap) => heap.peek_key(),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        match self {
            ChosenList::Ring(ring) => ring.len(),
            ChosenList::Heap(heap) => heap.len(),
        }
    }
}

/// Kept out of the posters, which would all grow by it.
#[cold]
#[inline(never)]
fn push_heap<P: Copy>(heap: &mut HeapList<P>, key: EventKey, target: u32, payload: P) {
    heap.push(Event { key, target, payload });
}
