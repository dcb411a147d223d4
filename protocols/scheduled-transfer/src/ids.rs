//! Sequence identifiers, memory indices and Keys: numbers that must not be mistaken for older ones (6.2.1,
//! 6.2.2, 5.2.2, 9.2).

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

/// Numbers that are no sequence: 0 and 0xFFFF_FFFF.
pub const NO_ID: u32 = 0xFFFF_FFFF;

/// Sequence ids of one end of a connection, for Transfers, regions, Gets and FetchOps alike.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Ids {
    next: u32,
    issued: u64,
}

impl Ids {
    /// The first is `first`, not 0 and not 0xFFFF_FFFF.
    #[must_use]
    pub const fn new(first: u32) -> Self {
        let next = if first == 0 || first == NO_ID { 1 } else { first };
        Self { next, issued: 0 }
    }

    /// The next id that is not `taken`: one more than the last, and after 0xFFFF_FFFE 1.
    pub fn assign(&mut self, taken: impl Fn(u32) -> bool) -> u32 {
        loop {
            let id = self.next;
            self.next = if id == NO_ID - 1 { 1 } else { id + 1 };
            self.issued += 1;
            if !taken(id) {
                return id;
            }
        }
    }

    /// Whether `id` was issued within the last 2^31 assignments.
    #[must_use]
    pub const fn was_issued(&self, id: u32) -> bool {
        if id == 0 || id == NO_ID {
            return false;
        }
        // Distance back from `next` in the ring of 2^32 - 2 ids.
        let back = if id < self.next { self.next - id } else { self.next.wrapping_sub(id).wrapping_sub(2) };
        back as u64 <= self.issued && back <= 1 << 31 && back != 0
    }
}

/// Memory indices of one end of a connection: round robin from 1, none again before its quarantine is over.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct MemoryIndices {
    last: u16,
    live: BTreeSet<u16>,
    quarantine: VecDeque<(u64, u16)>,
}

impl MemoryIndices {
    /// An index for `now`; `None` while all 65 535 are in use or in quarantine.
    pub fn assign(&mut self, now: u64) -> Option<u16> {
        while self.quarantine.front().is_some_and(|&(until, _)| until <= now) {
            if let Some((_, mx)) = self.quarantine.pop_front() {
                self.live.remove(&mx);
            }
        }
        if self.live.len() == usize::from(u16::MAX) {
            return None;
        }
        let mut mx = self.last;
        loop {
            mx = if mx == u16::MAX { 1 } else { mx + 1 };
            if self.live.insert(mx) {
                self.last = mx;
                return Some(mx);
            }
        }
    }

    /// Retires an index; it may come again at `until`.
    pub fn retire(&mut self, mx: u16, until: u64) {
        self.quarantine.push_back((until, mx));
    }

    /// The clock was set back.
    pub(crate) fn rebase(&mut self, by: u64) {
        self.quarantine.iter_mut().for_each(|(until, _)| *until = until.saturating_sub(by));
    }
}

/// Ten minutes in picoseconds: how long a Key is not used again towards a host (5.2.2).
pub const KEY_QUARANTINE: u64 = 600_000_000_000_000;

/// Keys of one endpoint. A Key in quarantine for one host is left out for all: simpler, and never wrong.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Keys {
    next: u32,
    blocked: BTreeMap<u32, Option<u64>>,
    ends: BTreeSet<(u64, u32)>,
}

impl Keys {
    /// Keys are counted from `first`, which the caller draws; 0 is left out.
    #[must_use]
    pub const fn new(first: u32) -> Self {
        Self { next: first, blocked: BTreeMap::new(), ends: BTreeSet::new() }
    }

    /// A Key that is neither in use nor was within the last ten minutes.
    pub fn assign(&mut self, now: u64) -> u32 {
        while let Some(&(until, key)) = self.ends.first() {
            if until > now {
                break;
            }
            self.ends.pop_first();
            self.blocked.remove(&key);
        }
        loop {
            let key = self.next;
            self.next = self.next.wrapping_add(1);
            if key != 0 && !self.blocked.contains_key(&key) {
                self.blocked.insert(key, None);
                return key;
            }
        }
    }

    /// The use of `key` ends at `now`.
    pub fn release(&mut self, key: u32, now: u64) {
        let until = now.saturating_add(KEY_QUARANTINE);
        if let Some(Some(earlier)) = self.blocked.insert(key, Some(until)) {
            self.ends.remove(&(earlier, key));
        }
        self.ends.insert((until, key));
    }

    /// The clock was set back.
    pub(crate) fn rebase(&mut self, by: u64) {
        self.blocked.values_mut().flatten().for_each(|until| *until = until.saturating_sub(by));
        self.ends = self.blocked.iter().filter_map(|(&key, until)| until.map(|until| (until, key))).collect();
    }

    /// Whether `key` is in use or in quarantine.
    #[must_use]
    pub fn is_blocked(&self, key: u32) -> bool {
        self.blocked.contains_key(&key)
    }
}
