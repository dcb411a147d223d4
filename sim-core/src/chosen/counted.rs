//! Counts of what passes through an event list, for profiles.
//!
//! Only a list that is to count has any of it, so a run without a profile pays nothing: it is one more
//! variant of a choice that is made anyway.

use super::ChosenList;
use crate::event::{Event, EventList};
use crate::key::EventKey;
use crate::ring::Standing;
use crate::time::Time;

/// Classes of how full a bucket is: 1, 2, 3 to 4, 5 to 8, ... events.
const FILLS: usize = 33;

/// What has passed through an event list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListCounts {
    /// Events taken, by kind.
    pub taken: Vec<u64>,
    /// Events posted; those that are not taken yet are pending.
    pub posted: u64,
    /// Most events pending at a time.
    pub most_pending: u64,
    /// Events pending when one is taken, itself not counted, summed over those taken.
    pub pending_sum: u64,
    /// Of the ring; `None`: the list is a heap.
    pub ring: Option<RingCounts>,
}

/// What the buckets of a ring have seen.
///
/// Every event is posted to one place: `posted = in_bucket + late + ahead + beyond`. What is found in the
/// buckets that the cursor enters was posted ahead or beyond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingCounts {
    /// Width of a bucket, ps.
    pub width_ps: u64,
    /// Buckets of the ring.
    pub buckets: u64,
    /// Posted to the bucket that is being emptied, in its place.
    pub in_bucket: u64,
    /// Likewise, but to the heap beside it, because its place was too far from the end.
    pub late: u64,
    /// Posted to a later bucket of the ring.
    pub ahead: u64,
    /// Overflow: posted beyond the ring, to the far wheel.
    pub beyond: u64,
    /// Buckets that held an event when the cursor came.
    pub entered: u64,
    /// What they held then, together.
    pub found: u64,
    /// Buckets from the first to the last that was entered, empty ones included.
    pub passed: u64,
    /// Entered buckets with 1, 2, 3 to 4, 5 to 8, ... events.
    pub fill: Vec<u64>,
}

impl ListCounts {
    /// All events taken.
    #[must_use]
    pub fn taken_total(&self) -> u64 {
        self.taken.iter().sum()
    }

    /// Adds what has passed through another list of the same shape, that of another part of the same fabric.
    /// The most pending at a time is that of the fullest list.
    pub fn add(&mut self, other: &ListCounts) {
        sum(&mut self.taken, &other.taken);
        self.posted += other.posted;
        self.most_pending = self.most_pending.max(other.most_pending);
        self.pending_sum += other.pending_sum;
        match (&mut self.ring, &other.ring) {
            (Some(ring), Some(other)) => ring.add(other),
            (ring, other) => *ring = ring.take().or_else(|| other.clone()),
        }
    }
}

impl RingCounts {
    fn new((width_ps, buckets): (u64, u64)) -> Self {
        RingCounts { width_ps, buckets, fill: vec![0; FILLS], ..RingCounts::default() }
    }

    fn add(&mut self, other: &RingCounts) {
        self.in_bucket += other.in_bucket;
        self.late += other.late;
        self.ahead += other.ahead;
        self.beyond += other.beyond;
        self.entered += other.entered;
        self.found += other.found;
        self.passed += other.passed;
        sum(&mut self.fill, &other.fill);
    }

    /// The cursor has gone over so many buckets, and the last of them held so much.
    fn enter(&mut self, passed: u64, found: u64) {
        self.passed += passed;
        self.entered += 1;
        self.found += found;
        self.fill[(u64::BITS - (found - 1).leading_zeros()) as usize] += 1;
    }
}

fn sum(all: &mut Vec<u64>, part: &[u64]) {
    all.resize(all.len().max(part.len()), 0);
    all.iter_mut().zip(part).for_each(|(all, part)| *all += part);
}

/// Of a ring.
fn standing<P: Copy>(list: &ChosenList<P>) -> Option<Standing> {
    match list {
        ChosenList::Ring(ring) => Some(ring.standing()),
        ChosenList::Heap(_) | ChosenList::Counted(_) => None,
    }
}

/// A list that counts what passes through it.
#[derive(Clone, Debug)]
pub struct Counted<P> {
    list: ChosenList<P>,
    kind: fn(&P) -> usize,
    counts: ListCounts,
    /// The bucket that was entered last.
    last: Option<u64>,
}

impl<P: Copy> Counted<P> {
    pub(super) fn new(list: ChosenList<P>, kinds: usize, kind: fn(&P) -> usize) -> Self {
        let ring = match &list {
            ChosenList::Ring(ring) => Some(RingCounts::new(ring.shape())),
            ChosenList::Heap(_) | ChosenList::Counted(_) => None,
        };
        let counts = ListCounts { taken: vec![0; kinds], ring, ..ListCounts::default() };
        Counted { list, kind, counts, last: None }
    }

    /// What has passed so far.
    #[must_use]
    pub fn counts(&self) -> &ListCounts {
        &self.counts
    }

    /// Something was posted when the ring stood like `before`.
    fn note_post(&mut self, before: Option<Standing>) {
        let counts = &mut self.counts;
        counts.posted += 1;
        counts.most_pending = counts.most_pending.max(self.list.len() as u64);
        let after = standing(&self.list);
        if let (Some(ring), Some(before), Some(after)) = (&mut counts.ring, before, after) {
            ring.in_bucket += (after.current - before.current) as u64;
            ring.late += (after.late - before.late) as u64;
            ring.ahead += (after.ahead - before.ahead) as u64;
            ring.beyond += (after.beyond - before.beyond) as u64;
        }
    }

    /// Something was taken, or not, when the ring stood like `before`.
    fn note_take(&mut self, before: Option<Standing>, event: Option<&Event<P>>) {
        if let (Some(before), Some(after)) = (before, standing(&self.list))
            && before.cursor != after.cursor
            && let Some(ring) = &mut self.counts.ring
        {
            // An empty ring may jump without arriving anywhere yet: what was found says whether it did.
            let found = (after.current + usize::from(event.is_some())) as u64;
            if found > 0 {
                let last = self.last.replace(after.cursor);
                ring.enter(last.map_or(1, |last| after.cursor - last), found);
            }
        }
        if let Some(event) = event {
            self.counts.taken[(self.kind)(&event.payload)] += 1;
            self.counts.pending_sum += self.list.len() as u64;
        }
    }
}

impl<P: Copy> EventList<P> for Counted<P> {
    fn push(&mut self, event: Event<P>) {
        let before = standing(&self.list);
        self.list.push(event);
        self.note_post(before);
    }

    fn pop_before(&mut self, limit: Time) -> Option<Event<P>> {
        let before = standing(&self.list);
        let event = self.list.pop_before(limit);
        self.note_take(before, event.as_ref());
        event
    }

    fn peek_key(&mut self) -> Option<EventKey> {
        self.list.peek_key()
    }

    fn len(&self) -> usize {
        self.list.len()
    }
}
