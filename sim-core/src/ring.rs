//! The tuned event list: a ring of buckets in front of a hierarchical wheel.

use crate::event::{Event, EventList};
use crate::key::EventKey;
use crate::time::{Duration, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NIL: u32 = u32::MAX;

/// log2 of the slots per wheel level.
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Enough levels for 64-bit epochs.
const LEVELS: usize = 64usize.div_ceil(SLOT_BITS as usize);

/// How far a late arrival may shift the events of the current bucket before it goes to the heap instead.
const SHIFT_MAX: usize = 24;

/// The shape of a [`BucketRing`]. It decides speed and never order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingConfig {
    /// log2 of the width of a bucket in picoseconds, 0..=40.
    pub bucket_width_log2_ps: u32,
    /// log2 of the number of buckets, 1..=20.
    pub buckets_log2: u32,
}

impl RingConfig {
    /// A shape for about `events_per_us` events handled per microsecond of simulated time, most of them posted
    /// less than `horizon` ahead.
    #[must_use]
    pub fn for_rate(events_per_us: u64, horizon: Duration) -> Self {
        let width_ps = (1_000_000 / events_per_us.max(1)).max(1);
        let bucket_width_log2_ps = width_ps.ilog2().min(40);
        let half = (horizon.as_ps() >> bucket_width_log2_ps).max(1);
        let buckets_log2 = (half.ilog2() + 2).clamp(6, 14);
        Self { bucket_width_log2_ps, buckets_log2 }
    }
}

/// Pending events in a ring of buckets; every operation is O(1) for events spread over time.
///
/// - The *ring* has a power-of-two number of buckets, each an intrusive list in one slab whose nodes are
///   reused last in, first out. An occupancy bitmap skips empty buckets. The ring covers two *epochs* of half
///   a turn: the one the cursor is in and the next.
/// - The *current* bucket is a sorted vector. Arrivals in it are inserted; one that would shift many events
///   goes to a small heap instead, so that even a million ties stay cheap.
/// - The *far wheel* holds later epochs: 64 slots per level, the level chosen by the highest digit (base 64)
///   in which the epoch differs from the last one of the ring. When the cursor enters the next half of the
///   ring, the slot of the epoch after it moves into the half just left.
///
/// The cursor never passes the limit given to [`pop_before`](EventList::pop_before), so that events arriving
/// from outside after a run to that limit find their bucket still ahead.
#[derive(Clone, Debug)]
pub struct BucketRing<P> {
    width_log2: u32,
    /// log2 of the buckets per epoch (half the ring).
    half_log2: u32,
    /// Ring size minus one.
    mask: u64,
    /// The absolute number of the current bucket: `time >> width_log2`.
    cursor: u64,
    /// The last epoch that the ring covers; its buckets are numbered `last_epoch << half_log2 ..`.
    last_epoch: u64,
    /// Descending by key: the next event is the last.
    current: Vec<Event<P>>,
    late: BinaryHeap<Reverse<Late<P>>>,
    heads: Vec<u32>,
    occupied: Vec<u64>,
    nodes: Vec<Node<P>>,
    free: u32,
    in_ring: usize,
    in_far: usize,
    far: Box<Wheel>,
}

#[derive(Clone, Debug)]
struct Node<P> {
    event: Event<P>,
    next: u32,
}

#[derive(Clone, Debug)]
struct Wheel {
    heads: [[u32; SLOTS]; LEVELS],
    occupied: [u64; LEVELS],
    /// The smallest key in the wheel, if it is known.
    first: Option<EventKey>,
}

/// A late arrival, ordered by key.
#[derive(Clone, Debug)]
struct Late<P>(Event<P>);

impl<P> PartialEq for Late<P> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl<P> Eq for Late<P> {}

impl<P> PartialOrd for Late<P> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for Late<P> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.key.cmp(&other.0.key)
    }
}

impl<P: Copy> BucketRing<P> {
    /// An empty list. Panics if the configuration is out of range.
    #[must_use]
    pub fn new(config: RingConfig) -> Self {
        let RingConfig { bucket_width_log2_ps: width_log2, buckets_log2 } = config;
        assert!(width_log2 <= 40, "bucket width above 2^40 ps");
        assert!((1..=20).contains(&buckets_log2), "buckets_log2 outside 1..=20");
        let buckets = 1usize << buckets_log2;
        let half_log2 = buckets_log2 - 1;
        Self {
            width_log2,
            half_log2,
            mask: buckets as u64 - 1,
            cursor: 0,
            last_epoch: 1,
            current: Vec::new(),
            late: BinaryHeap::new(),
            heads: vec![NIL; buckets],
            occupied: vec![0; buckets.div_ceil(64)],
            nodes: Vec::new(),
            free: NIL,
            in_ring: 0,
            in_far: 0,
            far: Box::new(Wheel { heads: [[NIL; SLOTS]; LEVELS], occupied: [0; LEVELS], first: None }),
        }
    }

    #[inline]
    fn bucket_of(&self, key: EventKey) -> u64 {
        key.time().0 >> self.width_log2
    }

    fn push_current(&mut self, event: Event<P>) {
        let from = self.current.len().saturating_sub(SHIFT_MAX);
        let later = self.current[from..].iter().rev().take_while(|e| e.key < event.key).count();
        let at = self.current.len() - later;
        if at > 0 {
            assert!(self.current[at - 1].key != event.key, "duplicate event key: {}", event.key);
        }
        if at == from && from > 0 {
            self.late.push(Reverse(Late(event)));
        } else {
            self.current.insert(at, event);
        }
    }

    #[inline]
    fn new_node(&mut self, event: Event<P>, next: u32) -> u32 {
        let free = self.free;
        if let Some(node) = self.nodes.get_mut(free as usize) {
            self.free = node.next;
            *node = Node { event, next };
            free
        } else {
            self.grow(event, next)
        }
    }

    #[cold]
    fn grow(&mut self, event: Event<P>, next: u32) -> u32 {
        let index = u32::try_from(self.nodes.len()).expect("more than 2^32 pending events");
        assert!(index != NIL, "more than 2^32 pending events");
        self.nodes.push(Node { event, next });
        index
    }

    #[inline]
    fn push_ring(&mut self, bucket: u64, event: Event<P>) {
        let slot = (bucket & self.mask) as usize;
        let node = self.new_node(event, self.heads[slot]);
        self.heads[slot] = node;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.in_ring += 1;
    }

    #[inline(never)]
    fn push_far(&mut self, epoch: u64, event: Event<P>) {
        let (level, slot) = far_slot(epoch, self.last_epoch);
        let node = self.new_node(event, self.far.heads[level][slot]);
        self.far.heads[level][slot] = node;
        self.far.occupied[level] |= 1 << slot;
        self.far.first = self.far.first.map(|first| first.min(event.key));
        self.in_far += 1;
    }

    /// Fills `current` from the next occupied bucket unless that begins after `limit`.
    fn advance(&mut self, limit: Time) -> bool {
        let limit_bucket = limit.0 >> self.width_log2;
        loop {
            if self.in_ring > 0 {
                let bucket = self.next_in_ring();
                if bucket > limit_bucket {
                    return false;
                }
                self.cursor = bucket;
                if bucket >> self.half_log2 == self.last_epoch {
                    self.turn();
                }
                self.enter((bucket & self.mask) as usize);
                return true;
            }
            if self.in_far == 0 || !self.jump(limit_bucket) {
                return false;
            }
        }
    }

    /// The first occupied bucket after the cursor; there is one.
    #[inline]
    fn next_in_ring(&self) -> u64 {
        let after = self.cursor.wrapping_add(1);
        let start = (after & self.mask) as usize;
        let words = self.occupied.len();
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        while bits == 0 {
            word = (word + 1) % words;
            bits = self.occupied[word];
        }
        let slot = word as u64 * 64 + u64::from(bits.trailing_zeros());
        after + (slot.wrapping_sub(after) & self.mask)
    }

    /// Moves the list of a bucket into `current`, which is empty.
    #[inline]
    fn enter(&mut self, slot: usize) {
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        let mut index = std::mem::replace(&mut self.heads[slot], NIL);
        let mut last = NIL;
        let first = index;
        while let Some(node) = self.nodes.get(index as usize) {
            self.current.push(node.event);
            last = index;
            index = node.next;
        }
        self.nodes[last as usize].next = self.free;
        self.free = first;
        self.in_ring -= self.current.len();
        if self.current.len() > 1 {
            self.current.sort_unstable_by_key(|event| Reverse(event.key));
            for pair in self.current.windows(2) {
                assert!(pair[0].key != pair[1].key, "duplicate event key: {}", pair[0].key);
            }
        }
    }

    /// The cursor has entered the last epoch of the ring: takes in the epoch after it.
    #[cold]
    fn turn(&mut self) {
        if self.last_epoch == u64::MAX >> (self.width_log2 + self.half_log2) {
            return;
        }
        self.last_epoch += 1;
        if self.in_far == 0 {
            return;
        }
        let epoch = self.last_epoch;
        let top = (epoch.trailing_zeros() / SLOT_BITS).min(LEVELS as u32 - 1) as usize;
        for level in (0..=top).rev() {
            self.cascade(level, (epoch >> (level as u32 * SLOT_BITS)) as usize % SLOTS);
        }
    }

    /// The ring is empty and the wheel is not: goes to the next occupied slot unless that begins after the
    /// limit.
    #[cold]
    fn jump(&mut self, limit_bucket: u64) -> bool {
        let level = self.far.occupied.iter().position(|&bits| bits != 0).expect("the far wheel is not empty");
        let slot = u64::from(self.far.occupied[level].trailing_zeros());
        let shift = level as u32 * SLOT_BITS;
        let above = u64::MAX.checked_shl(shift + SLOT_BITS).unwrap_or(0);
        let epoch = self.last_epoch & above | slot << shift;
        if epoch << self.half_log2 > limit_bucket {
            return false;
        }
        self.last_epoch = epoch;
        self.cursor = (epoch << self.half_log2) - 1;
        self.cascade(level, slot as usize);
        true
    }

    /// Distributes a slot of the wheel over the ring and lower levels.
    fn cascade(&mut self, level: usize, slot: usize) {
        self.far.occupied[level] &= !(1 << slot);
        let mut index = std::mem::replace(&mut self.far.heads[level][slot], NIL);
        self.far.first = None;
        while index != NIL {
            let node = &mut self.nodes[index as usize];
            let bucket = node.event.key.time().0 >> self.width_log2;
            let epoch = bucket >> self.half_log2;
            let next = if epoch == self.last_epoch {
                let slot = (bucket & self.mask) as usize;
                self.occupied[slot / 64] |= 1 << (slot % 64);
                self.in_ring += 1;
                self.in_far -= 1;
                std::mem::replace(&mut node.next, std::mem::replace(&mut self.heads[slot], index))
            } else {
                let (level, slot) = far_slot(epoch, self.last_epoch);
                self.far.occupied[level] |= 1 << slot;
                std::mem::replace(&mut node.next, std::mem::replace(&mut self.far.heads[level][slot], index))
            };
            index = next;
        }
    }

    fn first_in_list(&self, mut index: u32) -> EventKey {
        let mut first = EventKey::MAX;
        while let Some(node) = self.nodes.get(index as usize) {
            first = first.min(node.event.key);
            index = node.next;
        }
        first
    }
}

/// Where an epoch after `last_epoch` is kept.
#[inline]
fn far_slot(epoch: u64, last_epoch: u64) -> (usize, usize) {
    let level = (epoch ^ last_epoch).ilog2() / SLOT_BITS;
    (level as usize, (epoch >> (level * SLOT_BITS)) as usize % SLOTS)
}

impl<P: Copy> EventList<P> for BucketRing<P> {
    #[inline]
    fn push(&mut self, event: Event<P>) {
        let bucket = self.bucket_of(event.key);
        if bucket <= self.cursor {
            self.push_current(event);
        } else if bucket >> self.half_log2 <= self.last_epoch {
            self.push_ring(bucket, event);
        } else {
            self.push_far(bucket >> self.half_log2, event);
        }
    }

    #[inline]
    fn pop_before(&mut self, limit: Time) -> Option<Event<P>> {
        if self.current.is_empty() && self.late.is_empty() && !self.advance(limit) {
            return None;
        }
        if !self.late.is_empty() {
            return self.pop_late(limit);
        }
        self.current.pop_if(|event| event.key.time() <= limit)
    }

    fn peek_key(&mut self) -> Option<EventKey> {
        let current = self.current.last().map(|event| event.key);
        let late = self.late.peek().map(|Reverse(Late(event))| event.key);
        if let Some(key) = current.into_iter().chain(late).min() {
            return Some(key);
        }
        if self.in_ring > 0 {
            return Some(self.first_in_list(self.heads[(self.next_in_ring() & self.mask) as usize]));
        }
        if self.in_far > 0 && self.far.first.is_none() {
            let level = self.far.occupied.iter().position(|&bits| bits != 0)?;
            let slot = self.far.occupied[level].trailing_zeros() as usize;
            self.far.first = Some(self.first_in_list(self.far.heads[level][slot]));
        }
        self.far.first
    }

    #[inline]
    fn len(&self) -> usize {
        self.current.len() + self.late.len() + self.in_ring + self.in_far
    }
}

impl<P: Copy> BucketRing<P> {
    #[cold]
    fn pop_late(&mut self, limit: Time) -> Option<Event<P>> {
        let Reverse(Late(late)) = self.late.peek()?;
        let late_key = late.key;
        let first = match self.current.last() {
            Some(event) => {
                assert!(event.key != late_key, "duplicate event key: {late_key}");
                event.key.min(late_key)
            }
            None => late_key,
        };
        if first.time() > limit {
            return None;
        }
        if first == late_key {
            let Reverse(Late(event)) = self.late.pop()?;
            if let Some(Reverse(Late(next))) = self.late.peek() {
                assert!(next.key != event.key, "duplicate event key: {late_key}");
            }
            Some(event)
        } else {
            self.current.pop()
        }
    }
}
