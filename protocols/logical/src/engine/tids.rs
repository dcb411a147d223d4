//! Transaction IDs: which of them a new request may have.
//!
//! A response says which request it belongs to by the ID alone. So the ID of a request that was not answered
//! in time rests: its response may still be on its way, and would be taken for that of the next request with
//! this ID. It rests until that response comes after all, and at least for a given time, after which it is
//! given out again only if no other is free: the one that has rested longest.

use alloc::collections::{BTreeSet, VecDeque};

/// The IDs of one engine.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Tids {
    first: u8,
    last: u8,
    /// The one given last: they are given in turn.
    given: u8,
    /// Those that are in use or rest.
    taken: BTreeSet<u8>,
    /// Those that rest, and since when: the oldest first.
    resting: VecDeque<(u64, u8)>,
    /// How many of these, from the first on, have rested for long enough.
    rested: usize,
    linger: u64,
}

impl Tids {
    /// `linger`: how long an ID rests at least, picoseconds.
    ///
    /// # Panics
    /// If there is none from `first` to `last`.
    pub(crate) fn new(first: u8, last: u8, linger: u64) -> Self {
        assert!(first <= last, "transaction IDs: at least one");
        Self { first, last, given: last, taken: BTreeSet::new(), resting: VecDeque::new(), rested: 0, linger }
    }

    pub(crate) fn has_one(&self) -> bool {
        self.taken.len() < usize::from(self.last - self.first) + 1 || self.rested > 0
    }

    /// The next one, if there is one.
    pub(crate) fn take(&mut self) -> Option<u8> {
        let mut behind = (self.given..=self.last).skip(1).chain(self.first..=self.given);
        let free = behind.find(|tid| !self.taken.contains(tid));
        let tid = match free {
            None if self.rested == 0 => return None,
            None => {
                self.rested -= 1;
                self.resting.pop_front()?.1
            }
            Some(tid) => tid,
        };
        self.taken.insert(tid);
        self.given = tid;
        Some(tid)
    }

    /// Its request was answered.
    pub(crate) fn free(&mut self, tid: u8) {
        self.taken.remove(&tid);
    }

    /// Its request was not answered in time.
    pub(crate) fn rest(&mut self, now: u64, tid: u8) {
        self.resting.push_back((now, tid));
    }

    /// A response came with an ID that nobody uses: if it rests, it is free now.
    pub(crate) fn came_late(&mut self, tid: u8) {
        let Some(place) = self.resting.iter().position(|resting| resting.1 == tid) else { return };
        self.resting.remove(place);
        self.rested -= usize::from(place < self.rested);
        self.free(tid);
    }

    pub(crate) fn handle_timeout(&mut self, now: u64) {
        while self.resting.get(self.rested).is_some_and(|(since, _)| since.saturating_add(self.linger) <= now)
        {
            self.rested += 1;
        }
    }

    /// When one has rested for long enough, if there is none now.
    pub(crate) fn next(&self) -> Option<u64> {
        let oldest = self.resting.front().filter(|_| !self.has_one());
        oldest.map(|(since, _)| since.saturating_add(self.linger))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In turn; of those that rest the oldest, when it has rested for 50 and no other is free, or when its
    /// response came.
    #[test]
    fn ids_rest_until_their_response_comes() {
        let mut tids = Tids::new(3, 6, 50);
        assert_eq!([(); 5].map(|()| tids.take()), [Some(3), Some(4), Some(5), Some(6), None]);
        assert_eq!((tids.next(), tids.has_one()), (None, false));
        tids.free(4);
        tids.free(3);
        assert_eq!([tids.take(), tids.take()], [Some(3), Some(4)]);
        for (now, tid) in [(10, 5), (20, 3), (30, 6)] {
            tids.rest(now, tid);
        }
        tids.handle_timeout(59);
        assert_eq!((tids.next(), tids.take()), (Some(60), None));
        tids.handle_timeout(70);
        assert_eq!((tids.next(), tids.take(), tids.has_one()), (None, Some(5), true));
        // Of 3 and 6 that rest the answer to 3 comes, which has rested for long enough, and later that to 6.
        tids.came_late(3);
        assert_eq!([tids.take(), tids.take()], [Some(3), None]);
        tids.came_late(6);
        tids.came_late(6);
        assert_eq!([tids.take(), tids.take()], [Some(6), None]);
    }
}
