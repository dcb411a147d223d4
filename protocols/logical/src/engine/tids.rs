//! Transaction IDs: which of them a new request may have.
//!
//! A response says which request it belongs to by its source and the ID alone. So the ID of a request that
//! was not answered in time rests: its response may still be on its way, and would be taken for that of the
//! next request with this ID. It rests until that response comes after all, and at least for a given time,
//! after which it is given out again only if no other is free: the one that has rested longest.
//!
//! IDs are given out in turn, and each destination has all of them: who never answers takes them from nobody
//! else.

use super::deadlines::Deadlines;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

/// The IDs of one engine.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Tids {
    first: u8,
    last: u8,
    /// The one given last, to whichever destination.
    given: u8,
    linger: u64,
    /// By destination; none where all are free.
    of: BTreeMap<u32, Ids>,
    /// When one of a destination has rested for long enough that has no other.
    waits: Deadlines<u32>,
}

/// The IDs of requests to one destination.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Ids {
    /// Those that are in use or rest.
    taken: BTreeSet<u8>,
    /// Those that rest, and since when: the oldest first.
    resting: VecDeque<(u64, u8)>,
    /// Where all are taken, how many of these have rested for long enough.
    rested: usize,
}

impl Tids {
    /// `linger`: how long an ID rests at least, picoseconds.
    ///
    /// # Panics
    /// If there is none from `first` to `last`.
    pub(crate) fn new(first: u8, last: u8, linger: u64) -> Self {
        assert!(first <= last, "transaction IDs: at least one");
        Self { first, last, given: last, linger, of: BTreeMap::new(), waits: Deadlines::new() }
    }

    /// Whether a request to this destination can have one.
    pub(crate) fn has_one(&self, destination: u32) -> bool {
        self.of.get(&destination).is_none_or(|ids| ids.taken.len() < self.count() || ids.rested > 0)
    }

    /// The next one, if there is one.
    pub(crate) fn take(&mut self, now: u64, destination: u32) -> Option<u8> {
        if !self.has_one(destination) {
            return None;
        }
        let ids = self.of.entry(destination).or_default();
        let mut behind = (self.given..=self.last).skip(1).chain(self.first..=self.given);
        let tid = match behind.find(|tid| !ids.taken.contains(tid)) {
            Some(tid) => tid,
            None => ids.resting.pop_front()?.1,
        };
        ids.taken.insert(tid);
        self.given = tid;
        self.wait(now, destination);
        Some(tid)
    }

    /// Its request was answered.
    pub(crate) fn free(&mut self, destination: u32, tid: u8) {
        let Some(ids) = self.of.get_mut(&destination) else { return };
        ids.taken.remove(&tid);
        if ids.taken.is_empty() {
            self.of.remove(&destination);
        }
    }

    /// Its request was not answered in time.
    pub(crate) fn rest(&mut self, now: u64, destination: u32, tid: u8) {
        if let Some(ids) = self.of.get_mut(&destination) {
            ids.resting.push_back((now, tid));
        }
        self.wait(now, destination);
    }

    /// A response came with an ID that nobody uses: if it rests, it is free now. Whether it did.
    pub(crate) fn came_late(&mut self, source: u32, tid: u8) -> bool {
        let Some(ids) = self.of.get_mut(&source) else { return false };
        let before = ids.resting.len();
        ids.resting.retain(|resting| resting.1 != tid);
        let rested = ids.resting.len() < before;
        if rested {
            self.free(source, tid);
        }
        rested
    }

    /// A destination that had no ID left, and of which one has rested for long enough.
    pub(crate) fn pop_rested(&mut self, now: u64) -> Option<u32> {
        let destination = self.waits.pop_due(now)?;
        self.wait(now, destination);
        Some(destination)
    }

    /// When a destination that had none has one, if there is such.
    pub(crate) fn next(&self) -> Option<u64> {
        self.waits.next()
    }

    /// If all IDs of a destination are taken: which have rested for long enough, or when the first one has.
    fn wait(&mut self, now: u64, destination: u32) {
        let (all, linger) = (self.count(), self.linger);
        let Some(ids) = self.of.get_mut(&destination).filter(|ids| ids.taken.len() == all) else { return };
        let until = |(since, _): &(u64, u8)| since.saturating_add(linger);
        ids.rested = ids.resting.partition_point(|resting| until(resting) <= now);
        if let Some(next) = ids.resting.front().filter(|_| ids.rested == 0) {
            self.waits.set(until(next), destination);
        }
    }

    /// How many a destination has.
    fn count(&self) -> usize {
        usize::from(self.last - self.first) + 1
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
        assert_eq!([(); 5].map(|()| tids.take(0, 9)), [Some(3), Some(4), Some(5), Some(6), None]);
        assert_eq!((tids.next(), tids.has_one(9)), (None, false));
        tids.free(9, 4);
        tids.free(9, 3);
        assert_eq!([tids.take(0, 9), tids.take(0, 9)], [Some(3), Some(4)]);
        for (now, tid) in [(10, 5), (20, 3), (30, 6)] {
            tids.rest(now, 9, tid);
        }
        assert_eq!(tids.pop_rested(59), None);
        assert_eq!((tids.next(), tids.take(59, 9)), (Some(60), None));
        assert_eq!([tids.pop_rested(70), tids.pop_rested(70)], [Some(9), None]);
        assert_eq!((tids.take(70, 9), tids.has_one(9)), (Some(5), true));
        // Of 3 and 6 that rest the answer to 3 comes, which has rested for long enough, and later that to 6.
        tids.came_late(9, 3);
        assert_eq!([tids.take(70, 9), tids.take(70, 9)], [Some(3), None]);
        tids.came_late(9, 6);
        tids.came_late(9, 6);
        assert_eq!([tids.take(70, 9), tids.take(70, 9)], [Some(6), None]);
    }

    /// A destination whose IDs all rest takes none from another, whose IDs go on in turn.
    #[test]
    fn each_destination_has_all_ids() {
        let mut tids = Tids::new(0, 2, 50);
        for tid in 0..3 {
            assert_eq!(tids.take(0, 1), Some(tid));
            tids.rest(0, 1, tid);
        }
        assert_eq!((tids.take(0, 1), tids.next()), (None, Some(50)));
        assert_eq!([(); 4].map(|()| tids.take(0, 2)), [Some(0), Some(1), Some(2), None]);
        tids.free(2, 1);
        assert_eq!((tids.take(0, 2), tids.has_one(1)), (Some(1), false));
        // A response that comes from somebody else frees nothing.
        tids.came_late(2, 0);
        assert!(!tids.has_one(1) && !tids.has_one(2));
    }
}
