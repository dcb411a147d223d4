//! What a protocol waits for, and until when: all with the same patience.

use super::protocol::{Awaited, Token};
use sim_core::Time;
use std::collections::{BTreeMap, VecDeque};

/// Deadlines of what is under way, in picoseconds of the protocol clock.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    /// When each was sent, fabric time. Who is sent later has a higher token.
    sent: BTreeMap<Token, u64>,
    /// Those in order: the patience is the same for all. What is over stays until it reaches the front.
    order: VecDeque<(u64, Token)>,
}

impl Deadlines {
    /// Waits for what was sent at `sent`, fabric time; deadlines never come down.
    pub fn insert(&mut self, token: Token, deadline: u64, sent: u64) {
        self.sent.insert(token, sent);
        self.order.push_back((deadline, token));
    }

    /// Whether it is waited for.
    pub fn has(&self, token: Token) -> bool {
        self.sent.contains_key(&token)
    }

    /// How many are waited for.
    pub fn len(&self) -> u64 {
        self.sent.len() as u64
    }

    /// The same, and since when.
    pub fn awaited(&self) -> Awaited {
        Awaited { count: self.len(), oldest: self.sent.values().next().map(|&sent| Time(sent)) }
    }

    /// Waits for it no longer. Whether it was waited for.
    pub fn remove(&mut self, token: Token) -> bool {
        let known = self.sent.remove(&token).is_some();
        while self.order.front().is_some_and(|(_, token)| !self.sent.contains_key(token)) {
            self.order.pop_front();
        }
        known
    }

    /// The first whose deadline has come; it is still waited for.
    pub fn due(&self, now: u64) -> Option<Token> {
        self.order.front().filter(|(deadline, _)| *deadline <= now).map(|&(_, token)| token)
    }

    /// The first deadline.
    pub fn next(&self) -> Option<u64> {
        self.order.front().map(|&(deadline, _)| deadline)
    }
}
