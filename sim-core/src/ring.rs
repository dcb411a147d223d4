//! The tuned event list: a ring of buckets in front of a hierarchical wheel.

use crate::event::{Ahead, Earliest, Event, EventList, Foresees};
use crate::key::EventKey;
use crate::prefetch::prefetch;
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

/// Up to here a bucket is sorted by insertion.
const INSERTION_MAX: usize = 16;

/// The shape of a [`BucketRing`]. It decides speed and never order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingConfig {
    /// log2 of the width of a bucket in picoseconds, 0..=40.
    pub bucket_width_log2_ps: u32,
    /// log2 of the number of buckets, 1..=20.
    pub buckets_log2: u32,
}

impl RingConfig {
    /// A shape for about `events_per_us` events handled per microsecond of simulated time, most of them
    /// posted less than `horizon` ahead.
    #[must_use]
    pub fn for_rate(events_per_us: u64, horizon: Duration) -> Self {
        // About one event per four buckets, if the horizon fits into half a ring of 2^15 buckets.
        let sparse_log2 = (250_000 / events_per_us.max(1)).max(1).ilog2();
        // Else wider buckets, but not more than 128 events in each: the far wheel costs less than that.
        let dense_log2 = (128_000_000 / events_per_us.max(1)).max(1).ilog2();
        let fitting_log2 = ceil_log2(horizon.0).saturating_sub(HALF_LOG2_MAX);
        let bucket_width_log2_ps = fitting_log2.clamp(sparse_log2, dense_log2).min(WIDTH_LOG2_MAX);
        let half_log2 = ceil_log2(horizon.0 >> bucket_width_log2_ps).clamp(HALF_LOG2_MIN, HALF_LOG2_MAX);
        Self { bucket_width_log2_ps, buckets_log2: half_log2 + 1 }
    }
}

/// What [`RingConfig::for_rate`] stays within: heads of 128 KiB, a quarter of a usual second-level cache.
const HALF_LOG2_MAX: u32 = 14;
const HALF_LOG2_MIN: u32 = 6;

const WIDTH_LOG2_MAX: u32 = 40;
const BUCKETS_LOG2_MAX: u32 = 20;

fn ceil_log2(n: u64) -> u32 {
    u64::BITS - n.saturating_sub(1).leading_zeros()
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
    late: BinaryHeap<Earliest<P>>,
    heads: Vec<u32>,
    /// A bit for each bucket.
    occupied: Box<[u64]>,
    /// A bit for each word of `occupied` that is not 0: in an idle hour most of them are.
    words: Box<[u64]>,
    /// The slab: events, and beside them the links of the lists, which are walked first.
    nodes: Vec<Node<P>>,
    next: Vec<u32>,
    free: u32,
    in_ring: usize,
    in_far: usize,
    far: Box<Wheel<P>>,
    /// The occupied buckets after the current one, as they were when they were seen.
    soon: Box<[Seen<P>; 4]>,
}

/// Aligned so that an event of 32 bytes never straddles two cache lines.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Node<P>(Event<P>);

/// A bucket to come, for whoever looks ahead.
#[derive(Clone, Debug)]
struct Seen<P> {
    /// Its absolute number; 0 is none, as the first one is never to come.
    bucket: u64,
    /// What it held.
    events: Vec<Event<P>>,
}

/// Where a ring stands, and how many events are where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The absolute number of the bucket that is being emptied.
    pub cursor: u64,
    /// Events in it, in order, and those in the heap beside it.
    pub current: usize,
    pub late: usize,
    /// Events in later buckets, and beyond them.
    pub ahead: usize,
    pub beyond: usize,
}

/// The events of later epochs, by slot in the order in which they came: written one behind the other and read
/// so again, which is what memory is fast at.
#[derive(Clone, Debug)]
struct Wheel<P> {
    /// By level, 64 each.
    slots: Vec<Slot<P>>,
    occupied: [u64; LEVELS],
    /// The smallest key in the wheel, if it is known.
    first: Option<EventKey>,
    /// Emptied pieces.
    spare: Vec<Vec<Event<P>>>,
}

/// Events of one slot, in pieces, so that what a slot once held can serve any other.
#[derive(Clone, Debug)]
struct Slot<P> {
    open: Vec<Event<P>>,
    full: Vec<Vec<Event<P>>>,
}

/// Events in a full piece: 4 KiB of them.
const PIECE: usize = 128;

impl<P: Copy> Wheel<P> {
    fn new() -> Self {
        let slot = || Slot { open: Vec::new(), full: Vec::new() };
        Wheel {
            slots: (0..LEVELS * SLOTS).map(|_| slot()).collect(),
            occupied: [0; LEVELS],
            first: None,
            spare: Vec::new(),
        }
    }

    /// One more event in an epoch after the last one of the ring.
    #[inline]
    fn push(&mut self, (level, slot): (usize, usize), event: Event<P>) {
        self.occupied[level] |= 1 << slot;
        let slot = &mut self.slots[level * SLOTS + slot];
        if slot.open.len() == PIECE {
            let piece = self.spare.pop().unwrap_or_default();
            slot.full.push(std::mem::replace(&mut slot.open, piece));
        }
        slot.open.push(event);
    }

    /// Takes the events of a slot away, to be [put back](Self::put_back) when they have gone elsewhere.
    fn take(&mut self, level: usize, slot: usize) -> Slot<P> {
        self.occupied[level] &= !(1 << slot);
        let slot = &mut self.slots[level * SLOTS + slot];
        Slot { open: std::mem::take(&mut slot.open), full: std::mem::take(&mut slot.full) }
    }

    fn put_back(&mut self, level: usize, slot: usize, mut emptied: Slot<P>) {
        emptied.open.clear();
        for mut piece in emptied.full.drain(..) {
            piece.clear();
            self.spare.push(piece);
        }
        self.slots[level * SLOTS + slot] = emptied;
    }

    /// The smallest key of the first occupied slot of the lowest level: nothing in the wheel is before it.
    fn find_first(&self) -> Option<EventKey> {
        let level = self.occupied.iter().position(|&bits| bits != 0)?;
        let slot = self.occupied[level].trailing_zeros() as usize;
        self.slots[level * SLOTS + slot].events().map(|event| event.key).min()
    }
}

impl<P> Slot<P> {
    fn events(&self) -> impl Iterator<Item = &Event<P>> {
        self.full.iter().flatten().chain(&self.open)
    }
}

impl<P: Copy> BucketRing<P> {
    /// An empty list. Panics if the configuration is out of range.
    #[must_use]
    pub fn new(config: RingConfig) -> Self {
        let RingConfig { bucket_width_log2_ps: width_log2, buckets_log2 } = config;
        assert!(width_log2 <= WIDTH_LOG2_MAX, "bucket_width_log2_ps above 40");
        assert!((1..=BUCKETS_LOG2_MAX).contains(&buckets_log2), "buckets_log2 outside 1..=20");
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
            occupied: vec![0; buckets.div_ceil(64)].into(),
            words: vec![0; buckets.div_ceil(64 * 64)].into(),
            nodes: Vec::new(),
            next: Vec::new(),
            free: NIL,
            in_ring: 0,
            in_far: 0,
            far: Box::new(Wheel::new()),
            soon: Box::new(std::array::from_fn(|_| Seen { bucket: 0, events: Vec::new() })),
        }
    }

    /// Width of a bucket in picoseconds, and how many buckets there are.
    pub(crate) fn shape(&self) -> (u64, u64) {
        (1 << self.width_log2, self.mask + 1)
    }

    /// Where it stands.
    pub(crate) fn standing(&self) -> Standing {
        Standing {
            cursor: self.cursor,
            current: self.current.len(),
            late: self.late.len(),
            ahead: self.in_ring,
            beyond: self.in_far,
        }
    }

    /// An event for the current bucket or beyond the ring. It comes in parts so that the usual way of an
    /// event does not lead through memory.
    #[inline(never)]
    fn push_aside(&mut self, key: EventKey, target: u32, payload: P) {
        let bucket = self.bucket_of(key);
        let event = Event { key, target, payload };
        if bucket <= self.cursor {
            self.push_current(event);
        } else {
            self.push_far(bucket >> self.half_log2, event);
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
            self.late.push(Earliest(event));
        } else {
            self.current.insert(at, event);
        }
    }

    #[inline(always)]
    fn new_node(&mut self, event: Event<P>, next: u32) -> u32 {
        let free = self.free;
        if let Some(link) = self.next.get_mut(free as usize) {
            let then = std::mem::replace(link, next);
            self.free = then;
            // The next one is there by the time that it is needed.
            if let (Some(link), Some(node)) = (self.next.get(then as usize), self.nodes.get(then as usize)) {
                prefetch(link);
                prefetch(node);
            }
            // Field by field: as a whole the event would pass through memory.
            let node = &mut self.nodes[free as usize].0;
            node.key = event.key;
            node.target = event.target;
            node.payload = event.payload;
            free
        } else {
            self.grow(event, next)
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, event: Event<P>, next: u32) -> u32 {
        assert!(self.nodes.len() < NIL as usize, "more than 2^32 - 1 pending events");
        self.nodes.push(Node(event));
        self.next.push(next);
        self.nodes.len() as u32 - 1
    }

    #[inline(always)]
    fn push_ring(&mut self, bucket: u64, event: Event<P>) {
        let slot = (bucket & self.mask) as usize;
        let node = self.new_node(event, self.heads[slot]);
        self.heads[slot] = node;
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.words[slot / (64 * 64)] |= 1 << (slot / 64 % 64);
        self.in_ring += 1;
    }

    fn push_far(&mut self, epoch: u64, event: Event<P>) {
        self.far.first = self.far.first.map(|first| first.min(event.key));
        self.far.push(far_slot(epoch, self.last_epoch), event);
        self.in_far += 1;
    }

    #[inline(always)]
    fn pop(&mut self, limit: Time, entered: impl FnOnce(&mut Self)) -> Option<Event<P>> {
        if self.current.is_empty() && self.late.is_empty() {
            let only = self.enter_next(limit)?;
            entered(self);
            if only.is_some() {
                return only;
            }
        }
        if !self.late.is_empty() {
            return self.pop_late(limit);
        }
        self.current.pop_if(|event| event.key.time() <= limit)
    }

    /// Shows the events of the four buckets after the one just entered: those that were seen before come one
    /// step nearer, and one more is looked for.
    ///
    /// Never inlined: who does not look ahead has no use for it in the run loop.
    #[inline(never)]
    fn show_next(&mut self, who: &impl Foresees<P>) {
        let current = self.cursor;
        if self.soon[0].bucket > current {
            // The current one was filled after those behind it were seen.
            return;
        }
        if self.soon[0].bucket < current {
            // Nothing is known of what comes.
            (0..self.soon.len()).for_each(|n| self.look_for(n, who));
            return;
        }
        self.soon.rotate_left(1);
        let [next, near, middle, _] = &*self.soon;
        // One after the other, so that each is compiled for its distance.
        next.events.iter().for_each(|event| who.foresee(event, Ahead::Next));
        near.events.iter().for_each(|event| who.foresee(event, Ahead::Near));
        middle.events.iter().for_each(|event| who.foresee(event, Ahead::Middle));
        self.look_for(self.soon.len() - 1, who);
    }

    /// Finds the bucket after the one that is seen n-th, and shows its events as far ones.
    #[inline(always)]
    fn look_for(&mut self, n: usize, who: &impl Foresees<P>) {
        let current = self.cursor;
        let before = if n == 0 { current } else { self.soon[n - 1].bucket };
        let known = self.in_ring > 0 && before >= current;
        // Once round the ring, there is none.
        let found = known.then(|| self.next_in_ring(before)).filter(|found| found - current <= self.mask);
        let seen = &mut self.soon[n];
        seen.events.clear();
        seen.bucket = found.unwrap_or(0);
        let Some(found) = found else { return };
        let mut index = self.heads[(found & self.mask) as usize];
        while let Some(Node(event)) = self.nodes.get(index as usize) {
            seen.events.push(*event);
            index = self.next[index as usize];
        }
        seen.events.iter().for_each(|event| who.foresee(event, Ahead::Far));
        if n + 1 < self.soon.len() {
            return;
        }
        // The events of the bucket behind it are asked for, to be there when it is looked for.
        let after = self.next_in_ring(found);
        let mut index = self.heads[(after & self.mask) as usize];
        while let Some(node) = self.nodes.get(index as usize) {
            prefetch(node);
            index = self.next[index as usize];
        }
    }

    /// Moves the cursor to the next occupied bucket unless that begins after `limit` (`None`).
    ///
    /// A bucket with a single event at or before `limit` gives that event at once; the events of any other
    /// go to `current`, which is empty.
    #[inline(always)]
    fn enter_next(&mut self, limit: Time) -> Option<Option<Event<P>>> {
        let slot = self.advance(limit)?;
        let word = &mut self.occupied[slot / 64];
        *word &= !(1 << (slot % 64));
        if *word == 0 {
            self.words[slot / (64 * 64)] &= !(1 << (slot / 64 % 64));
        }
        let first = std::mem::replace(&mut self.heads[slot], NIL);
        let second = self.next[first as usize];
        let event = self.nodes[first as usize].0;
        if second == NIL && event.key.time() <= limit {
            self.next[first as usize] = self.free;
            self.free = first;
            self.in_ring -= 1;
            return Some(Some(event));
        }
        self.current.push(event);
        let (mut last, mut index) = (first, second);
        while index != NIL {
            self.current.push(self.nodes[index as usize].0);
            last = index;
            index = self.next[index as usize];
        }
        self.next[last as usize] = self.free;
        self.free = first;
        self.in_ring -= self.current.len();
        sort_descending(&mut self.current);
        Some(None)
    }

    /// Moves the cursor to the next occupied bucket and returns its place, unless it begins after `limit`.
    #[inline]
    fn advance(&mut self, limit: Time) -> Option<usize> {
        let limit_bucket = limit.0 >> self.width_log2;
        loop {
            if self.in_ring > 0 {
                let bucket = self.next_in_ring(self.cursor);
                if bucket > limit_bucket {
                    return None;
                }
                self.cursor = bucket;
                if bucket >> self.half_log2 == self.last_epoch {
                    self.turn();
                }
                return Some((bucket & self.mask) as usize);
            }
            if self.in_far == 0 || !self.jump(limit_bucket) {
                return None;
            }
        }
    }

    /// The first occupied bucket after `bucket`, perhaps once round the ring; there is one.
    #[inline]
    fn next_in_ring(&self, bucket: u64) -> u64 {
        let after = bucket.wrapping_add(1);
        let start = (after & self.mask) as usize;
        let mut word = start / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (start % 64));
        if bits == 0 {
            word = self.next_word((word + 1) % self.occupied.len());
            bits = self.occupied[word];
        }
        let slot = word as u64 * 64 + u64::from(bits.trailing_zeros());
        after + (slot.wrapping_sub(after) & self.mask)
    }

    /// The first word of `occupied` that is not 0, from `from` on round the ring; there is one.
    #[inline]
    fn next_word(&self, from: usize) -> usize {
        let mut group = from / 64;
        let mut bits = self.words[group] & (u64::MAX << (from % 64));
        while bits == 0 {
            group = (group + 1) % self.words.len();
            bits = self.words[group];
        }
        group * 64 + bits.trailing_zeros() as usize
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
        self.far.first = None;
        let events = self.far.take(level, slot);
        for event in events.events() {
            let bucket = self.bucket_of(event.key);
            let epoch = bucket >> self.half_log2;
            if epoch == self.last_epoch {
                self.in_far -= 1;
                self.push_ring(bucket, *event);
            } else {
                self.far.push(far_slot(epoch, self.last_epoch), *event);
            }
        }
        self.far.put_back(level, slot, events);
    }

    /// The next event when there are late arrivals.
    #[cold]
    fn pop_late(&mut self, limit: Time) -> Option<Event<P>> {
        let Earliest(late) = self.late.peek()?;
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
            let Earliest(event) = self.late.pop()?;
            if let Some(Earliest(next)) = self.late.peek() {
                assert!(next.key != event.key, "duplicate event key: {late_key}");
            }
            Some(event)
        } else {
            self.current.pop()
        }
    }

    fn first_in_list(&self, mut index: u32) -> EventKey {
        let mut first = EventKey::MAX;
        while index != NIL {
            first = first.min(self.nodes[index as usize].0.key);
            index = self.next[index as usize];
        }
        first
    }
}

/// Panics when two keys are equal.
#[inline]
fn sort_descending<P: Copy>(events: &mut [Event<P>]) {
    if events.len() > INSERTION_MAX {
        events.sort_unstable_by_key(|event| Reverse(event.key));
        for pair in events.windows(2) {
            assert!(pair[0].key != pair[1].key, "duplicate event key: {}", pair[0].key);
        }
        return;
    }
    for sorted in 1..events.len() {
        let event = events[sorted];
        let mut at = sorted;
        while at > 0 && events[at - 1].key < event.key {
            events[at] = events[at - 1];
            at -= 1;
        }
        assert!(at == 0 || events[at - 1].key != event.key, "duplicate event key: {}", event.key);
        events[at] = event;
    }
}

/// Where an epoch after `last_epoch` is kept.
#[inline]
fn far_slot(epoch: u64, last_epoch: u64) -> (usize, usize) {
    let level = (epoch ^ last_epoch).ilog2() / SLOT_BITS;
    (level as usize, (epoch >> (level * SLOT_BITS)) as usize % SLOTS)
}

impl<P: Copy> EventList<P> for BucketRing<P> {
    // Inlined into the poster: an event that passes through memory as a whole right after its parts were
    // written stalls the loads on the stores.
    #[inline(always)]
    fn push(&mut self, event: Event<P>) {
        let Event { key, target, payload } = event;
        let bucket = self.bucket_of(key);
        if bucket > self.cursor && bucket >> self.half_log2 <= self.last_epoch {
            self.push_ring(bucket, Event { key, target, payload });
        } else {
            self.push_aside(key, target, payload);
        }
    }

    #[inline(always)]
    fn pop_before(&mut self, limit: Time) -> Option<Event<P>> {
        self.pop(limit, |_| {})
    }

    #[inline]
    fn pop_foreseeing(&mut self, limit: Time, who: &impl Foresees<P>) -> Option<Event<P>> {
        self.pop(limit, |ring| ring.show_next(who))
    }

    fn peek_key(&mut self) -> Option<EventKey> {
        let current = self.current.last().map(|event| event.key);
        let late = self.late.peek().map(|Earliest(event)| event.key);
        if let Some(key) = current.into_iter().chain(late).min() {
            return Some(key);
        }
        if self.in_ring > 0 {
            return Some(
                self.first_in_list(self.heads[(self.next_in_ring(self.cursor) & self.mask) as usize]),
            );
        }
        if self.in_far > 0 && self.far.first.is_none() {
            self.far.first = self.far.find_first();
        }
        self.far.first
    }

    #[inline]
    fn len(&self) -> usize {
        self.current.len() + self.late.len() + self.in_ring + self.in_far
    }
}
