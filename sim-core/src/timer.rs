//! Timers that cost one queue entry however often they are moved.

use crate::time::Time;

/// One timer: a deadline, and the queue entry that stands for it.
///
/// - *Moving the deadline later* (the common case: every acknowledgement) touches nothing but the slot: the
///   entry is popped early, and [`on_pop`](Self::on_pop) asks for a new one.
/// - *Moving it earlier* posts a second entry; the first becomes stale.
/// - *Cancelling* clears the deadline; the entry is recognised when it is popped, and still serves if the
///   timer is armed again before that.
///
/// The slot does not post: where a call returns a [`TimerEntry`], the caller posts an event at `entry.at`
/// that carries `entry.generation`, and calls [`on_pop`](Self::on_pop) when it is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerSlot {
    /// `Time::MAX`: not armed.
    deadline: Time,
    /// The time of the entry that counts; `Time::MAX`: there is none.
    queued: Time,
    generation: u32,
}

/// A queue entry that the owner of a [`TimerSlot`] has to post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "without its entry the timer never fires"]
pub struct TimerEntry {
    /// When the event has to be popped.
    pub at: Time,
    /// What the event has to carry.
    pub generation: u32,
}

/// What a popped timer event means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum TimerPop {
    /// The deadline is reached; the slot is idle again.
    Fired,
    /// The deadline was moved later: post this entry.
    Rearm(TimerEntry),
    /// The entry stands for nothing any more.
    Stale,
}

impl TimerSlot {
    /// An idle timer.
    #[must_use]
    pub const fn new() -> Self {
        Self { deadline: Time::MAX, queued: Time::MAX, generation: 0 }
    }

    /// Sets the deadline, replacing any earlier one. Returns the entry to post, if one is needed.
    ///
    /// Panics if `at` is [`Time::MAX`], which stands for never.
    #[inline]
    #[must_use = "without its entry the timer never fires"]
    pub fn arm(&mut self, at: Time) -> Option<TimerEntry> {
        assert!(at != Time::MAX, "a timer cannot be armed at the end of time");
        self.deadline = at;
        if self.queued <= at {
            return None;
        }
        self.queued = at;
        self.generation = self.generation.wrapping_add(1);
        Some(TimerEntry { at, generation: self.generation })
    }

    /// Clears the deadline.
    #[inline]
    pub fn cancel(&mut self) {
        self.deadline = Time::MAX;
    }

    /// To be called with every popped timer event of this slot.
    ///
    /// Panics if the entry that counts was popped at another time than it was posted for.
    #[inline]
    pub fn on_pop(&mut self, now: Time, generation: u32) -> TimerPop {
        if generation != self.generation || self.queued == Time::MAX {
            return TimerPop::Stale;
        }
        assert!(now == self.queued, "timer entry for {} popped at {now}", self.queued);
        self.queued = Time::MAX;
        if self.deadline == Time::MAX {
            return TimerPop::Stale;
        }
        if self.deadline > now {
            self.queued = self.deadline;
            return TimerPop::Rearm(TimerEntry { at: self.deadline, generation });
        }
        self.deadline = Time::MAX;
        TimerPop::Fired
    }

    /// The deadline, if the timer is armed.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        (self.deadline != Time::MAX).then_some(self.deadline)
    }

    /// Whether the timer is armed.
    #[inline]
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.deadline != Time::MAX
    }
}

impl Default for TimerSlot {
    fn default() -> Self {
        Self::new()
    }
}

const ABSENT: u32 = u32::MAX;

/// Many deadlines behind one [`TimerSlot`]: an indexed binary heap.
///
/// Ids are dense small numbers (they index an array). `set` and `remove` are O(log n), `min` is O(1). Equal
/// deadlines come in the order of their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadlineHeap {
    heap: Vec<(Time, u32)>,
    places: Vec<u32>,
}

impl DeadlineHeap {
    /// An empty heap.
    #[must_use]
    pub const fn new() -> Self {
        Self { heap: Vec::new(), places: Vec::new() }
    }

    /// Sets the deadline of `id`, replacing any earlier one.
    pub fn set(&mut self, id: u32, at: Time) {
        let index = id as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, ABSENT);
        }
        let place = self.places[index];
        if place == ABSENT {
            self.heap.push((at, id));
            self.sift_up(self.heap.len() - 1);
            return;
        }
        let place = place as usize;
        let earlier = at < self.heap[place].0;
        self.heap[place].0 = at;
        if earlier {
            self.sift_up(place);
        } else {
            self.sift_down(place);
        }
    }

    /// Removes the deadline of `id` and returns it; `None` if it has none.
    pub fn remove(&mut self, id: u32) -> Option<Time> {
        let place = *self.places.get(id as usize)?;
        if place == ABSENT {
            return None;
        }
        let place = place as usize;
        self.places[id as usize] = ABSENT;
        let (at, _) = self.heap.swap_remove(place);
        if let Some(&(_, moved)) = self.heap.get(place) {
            self.places[moved as usize] = place as u32;
            self.sift_up(place);
            self.sift_down(self.places[moved as usize] as usize);
        }
        Some(at)
    }

    /// The earliest deadline and whose it is.
    #[must_use]
    pub fn min(&self) -> Option<(Time, u32)> {
        self.heap.first().copied()
    }

    /// Removes and returns the earliest deadline's id if it is at or before `now`.
    pub fn pop_due(&mut self, now: Time) -> Option<u32> {
        let (at, id) = self.min()?;
        if at > now {
            return None;
        }
        self.remove(id);
        Some(id)
    }

    /// The deadline of `id`.
    #[must_use]
    pub fn get(&self, id: u32) -> Option<Time> {
        let place = *self.places.get(id as usize)?;
        self.heap.get(place as usize).map(|&(at, _)| at)
    }

    /// How many deadlines are set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no deadline is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    fn sift_up(&mut self, mut place: usize) {
        let entry = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sift_down(&mut self, mut place: usize) {
        let entry = self.heap[place];
        loop {
            let left = 2 * place + 1;
            let Some(&left_entry) = self.heap.get(left) else { break };
            let (child, child_entry) = match self.heap.get(left + 1) {
                Some(&right_entry) if right_entry < left_entry => (left + 1, right_entry),
                _ => (left, left_entry),
            };
            if entry <= child_entry {
                break;
            }
            self.put(place, child_entry);
            place = child;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: (Time, u32)) {
        self.heap[place] = entry;
        self.places[entry.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn entry(at: u64, generation: u32) -> TimerEntry {
        TimerEntry { at: Time(at), generation }
    }

    /// One entry is enough for as long as it comes in time: armed again for the same instant, or for a later
    /// one, a timer asks for no other.
    #[test]
    fn an_entry_that_comes_in_time_serves_again() {
        let mut timer = TimerSlot::new();
        let entry = timer.arm(Time(5)).expect("the first needs one");
        assert_eq!(timer.arm(Time(5)), None);
        assert_eq!(timer.arm(Time(7)), None);
        assert_eq!(timer.arm(Time(5)), None);
        assert_eq!(timer.on_pop(entry.at, entry.generation), TimerPop::Fired);
    }

    #[test]
    fn fires_once() {
        let mut slot = TimerSlot::new();
        assert_eq!(slot.arm(Time(10)), Some(entry(10, 1)));
        assert_eq!(slot.deadline(), Some(Time(10)));
        assert_eq!(slot.on_pop(Time(10), 1), TimerPop::Fired);
        assert!(!slot.is_armed());
        assert_eq!(slot.on_pop(Time(10), 1), TimerPop::Stale);
        assert_eq!(slot.arm(Time(20)), Some(entry(20, 2)));
    }

    #[test]
    fn moving_later_posts_nothing_until_the_early_pop() {
        let mut slot = TimerSlot::new();
        assert_eq!(slot.arm(Time(10)), Some(entry(10, 1)));
        for at in 11..1_000 {
            assert_eq!(slot.arm(Time(at)), None);
        }
        assert_eq!(slot.on_pop(Time(10), 1), TimerPop::Rearm(entry(999, 1)));
        assert_eq!(slot.arm(Time(1_001)), None);
        assert_eq!(slot.on_pop(Time(999), 1), TimerPop::Rearm(entry(1_001, 1)));
        assert_eq!(slot.on_pop(Time(1_001), 1), TimerPop::Fired);
    }

    #[test]
    fn moving_earlier_makes_the_old_entry_stale() {
        let mut slot = TimerSlot::new();
        assert_eq!(slot.arm(Time(100)), Some(entry(100, 1)));
        assert_eq!(slot.arm(Time(50)), Some(entry(50, 2)));
        assert_eq!(slot.on_pop(Time(50), 2), TimerPop::Fired);
        assert_eq!(slot.arm(Time(100)), Some(entry(100, 3)));
        assert_eq!(slot.on_pop(Time(100), 1), TimerPop::Stale);
        assert_eq!(slot.on_pop(Time(100), 3), TimerPop::Fired);
    }

    #[test]
    fn a_cancelled_entry_serves_again_or_is_stale() {
        let mut slot = TimerSlot::new();
        assert_eq!(slot.arm(Time(10)), Some(entry(10, 1)));
        slot.cancel();
        assert_eq!(slot.deadline(), None);
        assert_eq!(slot.arm(Time(30)), None);
        assert_eq!(slot.on_pop(Time(10), 1), TimerPop::Rearm(entry(30, 1)));
        slot.cancel();
        assert_eq!(slot.on_pop(Time(30), 1), TimerPop::Stale);
        assert_eq!(slot.arm(Time(40)), Some(entry(40, 2)));
    }

    #[test]
    #[should_panic(expected = "end of time")]
    fn arming_at_the_end_of_time_panics() {
        let _ = TimerSlot::new().arm(Time::MAX);
    }

    #[test]
    #[should_panic(expected = "timer entry for 10 ps popped at 9 ps")]
    fn an_entry_popped_at_another_time_panics() {
        let mut slot = TimerSlot::new();
        let entry = slot.arm(Time(10)).expect("the first arming posts");
        let _ = slot.on_pop(Time(9), entry.generation);
    }

    proptest! {
        /// Against the obvious timer: it fires exactly at the deadline that stands when that instant comes.
        #[test]
        fn slot_fires_exactly_at_the_standing_deadline(
            ops in prop::collection::vec((0u64..4, prop::option::weighted(0.8, 1u64..40)), 1..100),
        ) {
            let (mut slot, mut queue, mut armed) = (TimerSlot::new(), BTreeSet::new(), None);
            let mut now = 0;
            let queue_step = |slot: &mut TimerSlot, queue: &mut BTreeSet<(u64, u32)>, now: u64| {
                let mut fired = false;
                while let Some(&(at, generation)) = queue.first().filter(|first| first.0 <= now) {
                    queue.pop_first();
                    match slot.on_pop(Time(at), generation) {
                        TimerPop::Fired => fired = true,
                        TimerPop::Rearm(entry) => assert!(queue.insert((entry.at.0, entry.generation))),
                        TimerPop::Stale => {}
                    }
                }
                fired
            };
            for (pass, arm) in ops {
                for _ in 0..pass {
                    now += 1;
                    let fired = queue_step(&mut slot, &mut queue, now);
                    prop_assert_eq!(fired, armed == Some(now));
                    armed = armed.filter(|&at| at != now);
                }
                match arm {
                    Some(ahead) => {
                        armed = Some(now + ahead);
                        if let Some(entry) = slot.arm(Time(now + ahead)) {
                            prop_assert!(queue.insert((entry.at.0, entry.generation)));
                        }
                    }
                    None => {
                        armed = None;
                        slot.cancel();
                    }
                }
                prop_assert_eq!(slot.deadline(), armed.map(Time));
            }
        }

        #[test]
        fn deadline_heap_equals_a_sorted_map(
            ops in prop::collection::vec((0u32..40, prop::option::weighted(0.7, 0u64..50)), 1..300),
        ) {
            let (mut heap, mut map) = (DeadlineHeap::new(), BTreeMap::new());
            for (id, at) in ops {
                match at {
                    Some(at) => {
                        heap.set(id, Time(at));
                        map.insert(id, Time(at));
                    }
                    None => prop_assert_eq!(heap.remove(id), map.remove(&id)),
                }
                prop_assert_eq!(heap.get(id), map.get(&id).copied());
                prop_assert_eq!(heap.min(), map.iter().map(|(&id, &at)| (at, id)).min());
                prop_assert_eq!((heap.len(), heap.is_empty()), (map.len(), map.is_empty()));
            }
            while let Some((at, id)) = map.iter().map(|(&id, &at)| (at, id)).min() {
                prop_assert_eq!(heap.pop_due(Time(at.0.wrapping_sub(1)).min(at)), (at.0 == 0).then_some(id));
                if at.0 > 0 {
                    prop_assert_eq!(heap.pop_due(at), Some(id));
                }
                map.remove(&id);
            }
            prop_assert!(heap.is_empty());
        }
    }
}
