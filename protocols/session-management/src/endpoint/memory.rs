//! What is remembered for a while: replies to OPENs, numbers that were answered, streams that were closed,
//! complaints. Nothing here needs a deadline of its own.

use super::event::StreamRef;
use crate::conduit::Side;
use crate::protocol::Protocol;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// What may be too old.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Item {
    Reply(u16, u32),
    Answered(u16, u32),
    Closed(StreamRef),
    Told(u16, u16),
}

/// An OPEN and what it was answered with.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Reply {
    pub(super) open: Box<[u8]>,
    pub(super) reply: Box<[u8]>,
    pub(super) until: u64,
}

/// A stream that is not open any more.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Closed {
    /// Data is discarded silently until then.
    pub(super) quiet: u64,
    /// The StreamID is not handed out until then.
    until: u64,
    /// The peer has closed it.
    pub(super) by_peer: bool,
    /// It was open here.
    pub(super) was_open: bool,
}

#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Memory {
    replies: BTreeMap<(u16, u32), Reply>,
    answered: BTreeMap<(u16, u32), (Protocol, u64)>,
    closed: BTreeMap<StreamRef, Closed>,
    told: BTreeMap<(u16, u16), u64>,
    old: BTreeSet<(u64, Item)>,
}

impl Memory {
    /// Drops what is too old. Returns, by peer, how many StreamIDs have rested long enough.
    pub(super) fn forget(&mut self, now: u64) -> Vec<(u16, u32)> {
        let mut rested = Vec::new();
        while let Some(&(at, item)) = self.old.first() {
            if at > now {
                break;
            }
            self.old.pop_first();
            // What was used again in the meantime is kept.
            let until = match item {
                Item::Reply(peer, number) => self.replies.get(&(peer, number)).map(|reply| reply.until),
                Item::Answered(peer, number) => self.answered.get(&(peer, number)).map(|&(_, until)| until),
                Item::Closed(stream) => self.closed.get(&stream).map(|closed| closed.until),
                Item::Told(peer, stream) => self.told.get(&(peer, stream)).copied(),
            };
            match until {
                Some(until) if until > now => {
                    self.old.insert((until, item));
                    continue;
                }
                None => continue,
                Some(_) => {}
            }
            match item {
                Item::Reply(peer, number) => {
                    self.replies.remove(&(peer, number));
                }
                Item::Answered(peer, number) => {
                    self.answered.remove(&(peer, number));
                }
                Item::Closed(stream) => {
                    let was_open = self.closed.remove(&stream).is_some_and(|closed| closed.was_open);
                    if stream.side == Side::Receive && was_open {
                        rested.push((stream.peer, 1));
                    }
                }
                Item::Told(peer, stream) => {
                    self.told.remove(&(peer, stream));
                }
            }
        }
        rested
    }

    pub(super) fn reply(&mut self, peer: u16, number: u32) -> Option<&mut Reply> {
        self.replies.get_mut(&(peer, number))
    }

    pub(super) fn keep_reply(&mut self, peer: u16, number: u32, reply: Reply) {
        self.old.insert((reply.until, Item::Reply(peer, number)));
        self.replies.insert((peer, number), reply);
    }

    /// The protocol of an own OPEN that was answered.
    pub(super) fn answered(&self, peer: u16, number: u32) -> Option<Protocol> {
        self.answered.get(&(peer, number)).map(|&(protocol, _)| protocol)
    }

    pub(super) fn keep_answered(&mut self, peer: u16, number: u32, protocol: Protocol, until: u64) {
        self.old.insert((until, Item::Answered(peer, number)));
        self.answered.insert((peer, number), (protocol, until));
    }

    pub(super) fn closed(&self, stream: StreamRef) -> Option<Closed> {
        self.closed.get(&stream).copied()
    }

    pub(super) fn rests(&self, stream: StreamRef) -> bool {
        self.closed.contains_key(&stream)
    }

    /// A stream ended at `now`, or a peer closed one that was not known here. `timeout`: one period.
    pub(super) fn keep_closed(
        &mut self,
        now: u64,
        stream: StreamRef,
        timeout: u64,
        (by_peer, was_open): (bool, bool),
    ) {
        let quiet = if was_open { now.saturating_add(timeout) } else { now };
        let until = now.saturating_add(timeout).saturating_add(timeout);
        let before = self.closed.get(&stream).copied();
        let closed = Closed {
            quiet: before.map_or(quiet, |before| before.quiet.max(quiet)),
            until: before.map_or(until, |before| before.until.max(until)),
            by_peer: by_peer || before.is_some_and(|before| before.by_peer),
            was_open: was_open || before.is_some_and(|before| before.was_open),
        };
        self.closed.insert(stream, closed);
        self.old.insert((closed.until, Item::Closed(stream)));
    }

    /// A stream is open again: its past does not matter.
    pub(super) fn reopen(&mut self, stream: StreamRef) {
        self.closed.remove(&stream);
    }

    /// Whether a complaint about a stream is due; if so, the next one is not before `until`.
    pub(super) fn may_tell(&mut self, now: u64, peer: u16, stream: u16, until: u64) -> bool {
        let due = self.told.get(&(peer, stream)).is_none_or(|&before| before <= now);
        if due {
            self.told.insert((peer, stream), until);
            self.old.insert((until, Item::Told(peer, stream)));
        }
        due
    }
}
