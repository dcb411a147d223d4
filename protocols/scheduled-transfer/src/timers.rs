//! Deadlines by name: the earliest is known, none is looked for.

use alloc::collections::{BTreeMap, BTreeSet};

/// At most one deadline for each name.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Timers<K: Ord> {
    by_time: BTreeSet<(u64, K)>,
    by_name: BTreeMap<K, u64>,
}

impl<K: Copy + Ord> Default for Timers<K> {
    fn default() -> Self {
        Self { by_time: BTreeSet::new(), by_name: BTreeMap::new() }
    }
}

impl<K: Copy + Ord> Timers<K> {
    /// Sets or moves the deadline of `name`.
    pub fn set(&mut self, name: K, at: u64) {
        if let Some(before) = self.by_name.insert(name, at) {
            self.by_time.remove(&(before, name));
        }
        self.by_time.insert((at, name));
    }

    /// Takes the deadline of `name` away.
    pub fn clear(&mut self, name: K) {
        if let Some(before) = self.by_name.remove(&name) {
            self.by_time.remove(&(before, name));
        }
    }

    /// Whether `name` has a deadline.
    #[must_use]
    pub fn is_set(&self, name: K) -> bool {
        self.by_name.contains_key(&name)
    }

    /// The earliest deadline.
    #[must_use]
    pub fn next(&self) -> Option<u64> {
        self.by_time.first().map(|&(at, _)| at)
    }

    /// Takes the earliest deadline that is not after `now`.
    pub fn expire(&mut self, now: u64) -> Option<K> {
        let &(at, name) = self.by_time.first()?;
        if at > now {
            return None;
        }
        self.clear(name);
        Some(name)
    }

    /// Moves every deadline `by` earlier, not below 0: the clock was set back.
    pub fn rebase(&mut self, by: u64) {
        for at in self.by_name.values_mut() {
            *at = at.saturating_sub(by);
        }
        self.by_time = self.by_name.iter().map(|(&name, &at)| (at, name)).collect();
    }

    /// Takes every deadline away.
    pub fn clear_all(&mut self) {
        self.by_name.clear();
        self.by_time.clear();
    }

    /// Deadlines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }
}
