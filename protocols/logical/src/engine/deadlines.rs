//! What has to happen by when, in order of time.

use alloc::collections::BTreeSet;

/// A set of (instant, what); equal instants in order of what.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Deadlines<K>(BTreeSet<(u64, K)>);

impl<K: Copy + Ord> Deadlines<K> {
    pub(crate) const fn new() -> Self {
        Self(BTreeSet::new())
    }

    pub(crate) fn set(&mut self, at: u64, what: K) {
        self.0.insert((at, what));
    }

    /// The instant must be the one it was set for.
    pub(crate) fn clear(&mut self, at: u64, what: K) {
        self.0.remove(&(at, what));
    }

    /// The earliest instant.
    pub(crate) fn next(&self) -> Option<u64> {
        self.0.first().map(|&(at, _)| at)
    }

    /// Takes the earliest one out if its time has come.
    pub(crate) fn pop_due(&mut self, now: u64) -> Option<K> {
        self.next().filter(|&at| at <= now)?;
        self.0.pop_first().map(|(_, what)| what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_ones_come_in_order_and_no_other() {
        let mut deadlines = Deadlines::new();
        for (at, what) in [(30, 'c'), (10, 'b'), (20, 'x'), (10, 'a')] {
            deadlines.set(at, what);
        }
        deadlines.clear(20, 'x');
        assert_eq!(
            [9, 10, 29, 29, 30, 99].map(|now| deadlines.pop_due(now)),
            [None, Some('a'), Some('b'), None, Some('c'), None]
        );
        assert_eq!(deadlines.next(), None);
    }
}
