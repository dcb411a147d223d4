//! Deadlines in order: the earliest is looked at in O(1), set and dropped in O(log n).

use super::event::StreamRef;
use super::requests::RequestKey;
use crate::protocol::Protocol;
use alloc::collections::{BTreeMap, BTreeSet};

/// What is due.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum Timer {
    /// A request is repeated or fails.
    Request(u16, RequestKey),
    /// The return OPEN of the peer has not come.
    Watch(u16, Protocol),
    /// A stopped stream goes on.
    Xon(StreamRef),
    /// XOFF is repeated.
    Refresh(StreamRef),
    /// RTS is repeated.
    Rts(StreamRef),
    /// The next stream with a peer is checked.
    Check(u16),
    /// Registers are read again.
    Registers(u16),
}

/// At most one deadline for each timer.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Timers {
    order: BTreeSet<(u64, Timer)>,
    at: BTreeMap<Timer, u64>,
}

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, at: u64) {
        if let Some(before) = self.at.insert(timer, at) {
            self.order.remove(&(before, timer));
        }
        self.order.insert((at, timer));
    }

    pub(super) fn cancel(&mut self, timer: Timer) {
        if let Some(at) = self.at.remove(&timer) {
            self.order.remove(&(at, timer));
        }
    }

    pub(super) fn is_set(&self, timer: Timer) -> bool {
        self.at.contains_key(&timer)
    }

    pub(super) fn next(&self) -> Option<u64> {
        self.order.first().map(|&(at, _)| at)
    }

    pub(super) fn pop(&mut self, now: u64) -> Option<Timer> {
        let &(at, timer) = self.order.first()?;
        if at > now {
            return None;
        }
        self.order.pop_first();
        self.at.remove(&timer);
        Some(timer)
    }
}
