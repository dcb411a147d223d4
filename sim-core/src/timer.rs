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
/// The slot does not post: where a call returns an [`Entry`], the caller posts an event at `entry.at` that
/// carries `entry.generation`, and calls [`on_pop`](Self::on_pop) when it is handled.
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
pub struct Entry {
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
    Rearm(Entry),
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
    pub fn arm(&mut self, at: Time) -> Option<Entry> {
        assert!(at != Time::MAX, "a timer cannot be armed at the end of time");
        self.deadline = at;
        if self.queued <= at {
            return None;
        }
        self.queued = at;
        self.generation = self.generation.wrapping_add(1);
        Some(Entry { at, generation: self.generation })
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
            return TimerPop::Rearm(Entry { at: self.deadline, generation });
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
