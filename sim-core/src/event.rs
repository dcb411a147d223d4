//! Events, and what every list of pending events offers.

use crate::key::EventKey;
use crate::time::Time;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A pending event: when (and in which order) it happens, whom it concerns, what it says.
///
/// With a payload of 12 bytes and alignment 4 it takes 32 bytes, half a cache line.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<P> {
    /// When the event is handled.
    pub key: EventKey,
    /// Who handles it; the meaning of the number is the model's.
    pub target: u32,
    /// What it says.
    pub payload: P,
}

const _: () = assert!(size_of::<Event<[u32; 3]>>() == 32);

/// How far off an event is that a world is [shown ahead](crate::World::foresee). It is shown at each distance
/// in turn: what its handler will touch often lies behind what it touches first, and only that has come by
/// then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// First seen: nothing of it is in a cache.
    Far,
    /// Some events later.
    Middle,
    /// Some more.
    Near,
    /// A few events before its turn.
    Next,
}

/// Who is shown events that come; see [`World::foresee`](crate::World::foresee).
pub trait Foresees<P> {
    /// `event` will probably be taken soon.
    fn foresee(&self, event: &Event<P>, ahead: Ahead);
}

/// The pending events of one kernel, taken out in the order of their keys.
///
/// Every list gives the same sequence for the same calls, whatever its tuning. No two keys may be equal:
/// a list panics when two equal ones meet in it (at the latest when the first of them is taken out).
/// Keys may be pushed in any order, also below a key that was already taken out; the kernel is stricter.
pub trait EventList<P: Copy> {
    /// Adds an event.
    fn push(&mut self, event: Event<P>);

    /// Takes the event with the smallest key if its time is at or before `limit` (inclusive).
    fn pop_before(&mut self, limit: Time) -> Option<Event<P>>;

    /// The smallest key.
    fn peek_key(&mut self) -> Option<EventKey>;

    /// How many events are pending.
    fn len(&self) -> usize;

    /// [`pop_before`](Self::pop_before) for a world that fetches ahead: events that will probably be taken
    /// soon are shown to it, once at each distance, as far as the list comes across them at
    /// little cost. A hint: events may never be shown, and one that is shown may be overtaken.
    #[inline]
    fn pop_foreseeing(&mut self, limit: Time, _who: &impl Foresees<P>) -> Option<Event<P>> {
        self.pop_before(limit)
    }

    /// Whether nothing is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The reference list: the binary heap of the standard library.
///
/// Obviously right, and fast enough up to some thousand pending events.
#[derive(Clone, Debug)]
pub struct HeapList<P> {
    heap: BinaryHeap<Earliest<P>>,
}

impl<P> HeapList<P> {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new() }
    }

    /// An empty list with room for `events` pending events.
    #[must_use]
    pub fn with_capacity(events: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(events) }
    }
}

impl<P> Default for HeapList<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Copy> EventList<P> for HeapList<P> {
    #[inline]
    fn push(&mut self, event: Event<P>) {
        self.heap.push(Earliest(event));
    }

    #[inline]
    fn pop_before(&mut self, limit: Time) -> Option<Event<P>> {
        if self.heap.peek()?.0.key.time() > limit {
            return None;
        }
        let Earliest(event) = self.heap.pop()?;
        if let Some(Earliest(next)) = self.heap.peek() {
            assert!(next.key != event.key, "duplicate event key: {}", event.key);
        }
        Some(event)
    }

    #[inline]
    fn peek_key(&mut self) -> Option<EventKey> {
        self.heap.peek().map(|first| first.0.key)
    }

    #[inline]
    fn len(&self) -> usize {
        self.heap.len()
    }
}

/// An event as an element of a max-heap: the greatest is the earliest.
#[derive(Clone, Debug)]
pub(crate) struct Earliest<P>(pub(crate) Event<P>);

impl<P> PartialEq for Earliest<P> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl<P> Eq for Earliest<P> {}

impl<P> Ord for Earliest<P> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.key.cmp(&self.0.key)
    }
}

impl<P> PartialOrd for Earliest<P> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn le(&self, other: &Self) -> bool {
        other.0.key <= self.0.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{ActorId, Class};

    /// A heap gives the largest first, so the earliest is the largest, by whatever a heap compares with.
    #[test]
    fn the_earliest_is_the_largest() {
        let at = |time| {
            let key = EventKey::from_parts(Time(time), Class::new(1), ActorId::new(2), 3);
            Earliest(Event { key, target: 0, payload: () })
        };
        let (first, last) = (at(5), at(6));
        assert_eq!(
            [first.cmp(&last), last.cmp(&first), first.cmp(&at(5))],
            [Ordering::Greater, Ordering::Less, Ordering::Equal]
        );
        assert_eq!((first <= last, last <= first, first <= at(5)), (false, true, true));
        assert_eq!((first >= last, last >= first, first >= at(5)), (true, false, true));
        assert_eq!((first < last, last < first, first == at(5)), (false, true, true));
    }
}
