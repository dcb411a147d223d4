//! What an end did and saw, and what Transfers came to.

use super::store::Store;
use crate::observe::stats::{TransferEnd, TransferStats};
use scheduled_transfer::errors::Logged;
use scheduled_transfer::wire::Op;
use scheduled_transfer::{Failure, Outcome, Span, Transmit};
use sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Operations that set connections up and take them down: what they do is no try of a Transfer.
const CONNECTIONS: std::ops::RangeInclusive<u8> = Op::RequestConnection as u8..=Op::DisconnectComplete as u8;

/// What the end of a Transfer means to the end that wants it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is done.
    #[default]
    Whole,
    /// What was written can be read back.
    Out,
    /// What was written is back.
    Back,
    /// Done, and others get the same.
    Got,
    /// A FetchOp came to nothing.
    Fetch,
}

/// A Transfer that is not over, at one of its ends.
#[derive(Copy, Clone, Debug)]
pub(super) struct Running {
    pub span: Span,
    /// Octets that it moves: those of `span`, unless that is a ring.
    pub octets: u64,
    /// The octets come to this end.
    pub incoming: bool,
    /// When this end asked for it; none if the other end did.
    pub begun: Option<u64>,
    /// It takes one of the places of a destination.
    pub placed: bool,
    /// Of what goes out.
    pub tag: u64,
    /// The operation of the program that it is, if it is one.
    pub op: Option<u32>,
    pub stage: Stage,
}

impl Running {
    /// A Transfer of `span` whose octets go out under `tag`.
    pub fn outgoing(span: Span, tag: u64) -> Self {
        let (incoming, placed, octets) = (false, false, span.bytes);
        Running { span, octets, incoming, begun: None, placed, tag, op: None, stage: Stage::Whole }
    }

    /// A Transfer into `span`.
    pub fn incoming(span: Span) -> Self {
        Running { incoming: true, ..Running::outgoing(span, 0) }
    }

    /// It moves so many octets through its span, a ring.
    pub fn through_ring(self, octets: u64) -> Self {
        Running { octets, ..self }
    }

    /// Where its octets are in the end: all of them, or as many as the ring holds.
    pub fn left(&self) -> Span {
        Span::new(self.span.address, self.span.bytes.min(self.octets))
    }

    /// It is this end that wants it, since now.
    pub fn begun(self, now: u64) -> Self {
        Running { begun: Some(now), ..self }
    }
}

/// FetchOps on the word of a peer.
#[derive(Clone, Debug, Default)]
pub(super) struct Fetches {
    pub begun: u64,
    /// What they returned.
    pub words: Vec<u64>,
}

/// A Put that this end has begun.
#[derive(Copy, Clone, Debug)]
pub(super) struct Begun {
    /// The owner of the region.
    pub to: u16,
    /// Its number there: it says in which place.
    pub put: u64,
    pub tag: u64,
}

/// What the upper layer found in the place of a Put when it looked.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub put: u64,
    pub found: Found,
}

/// A word of a Put that came with a wrong bit: it may lie in its place until something else comes there.
#[derive(Clone, Debug)]
pub(super) struct Spoiled {
    /// Whose Put it is.
    pub source: u64,
    pub put: u64,
    /// What came, fewer than eight octets at the end of a Put.
    pub word: Vec<u8>,
}

/// Octets in the place of a Put.
#[derive(Clone, Debug)]
pub(super) enum Found {
    /// All of them follow from this tag.
    Whole(u64),
    /// Those of several, or of none.
    Mixed(Vec<u8>),
}

/// The books of an end.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pub stats: TransferStats,
    /// Nobody confirms what is sent (`reliable` is off): what is complete here may be nowhere.
    pub unconfirmed: bool,
    /// Tags that this end has verified.
    pub verified: Vec<u64>,
    /// Tags that this end has sent, and knows to be complete.
    pub confirmed: Vec<u64>,
    /// Tags that this end has sent, and of which nobody tells it whether they arrived.
    pub sent_off: Vec<u64>,
    /// Tags that this end has sent, and given up.
    pub given_up: Vec<u64>,
    /// Tags of what this end writes and has not read back.
    pub written: BTreeSet<u64>,
    /// Tags of Puts that have arrived here.
    pub put: BTreeSet<u64>,
    /// Puts of this end, those that were said again among them.
    pub puts: Vec<Begun>,
    /// Puts to this end that its upper layer has looked at.
    pub looks: Vec<Look>,
    /// What came of Puts to this end with a wrong bit.
    pub spoiled: Vec<Spoiled>,
    /// FetchOps, by peer.
    pub fetches: BTreeMap<u16, Fetches>,
}

impl Ledger {
    pub fn begun(&mut self, now: u64) {
        self.stats.begun += 1;
        self.stats.first_begun.get_or_insert(Time(now));
    }

    /// An operation leaves: octets of the frame, and of its payload.
    pub fn sent(&mut self, transmit: &Transmit, (octets, payload): (usize, usize), now: u64) {
        let stats = &mut self.stats;
        if !CONNECTIONS.contains(&transmit.header.op) {
            stats.last_sent = Some(Time(now));
        }
        if transmit.header.op == Op::Data as u8 {
            stats.data.record(octets);
            stats.payload += payload as u64;
        } else if transmit.header.op == Op::ClearToSend as u8 {
            stats.cts.record(octets);
        } else {
            stats.control.record(octets);
        }
    }

    /// A Transfer is over at this end.
    /// What it brought, if that is right: its tag.
    pub fn finished(&mut self, running: &Running, outcome: Outcome, store: &Store, now: u64) -> Option<u64> {
        let mut tag = None;
        let arrived = self.unconfirmed.then_some(Time(now));
        let stats = &mut self.stats;
        match outcome {
            Outcome::Complete => {
                if running.incoming {
                    tag = store.verify(running.left());
                    match tag {
                        Some(tag) if running.stage == Stage::Back => match self.written.remove(&tag) {
                            true => {
                                stats.read_back += 1;
                                stats.read_back_octets += running.octets;
                            }
                            false => stats.corrupt += 1,
                        },
                        Some(tag) => {
                            stats.verified += 1;
                            stats.verified_octets += running.octets;
                            stats.last_arrived = stats.last_arrived.max(arrived);
                            // What can be got again and again has one tag.
                            if running.stage != Stage::Got {
                                self.verified.push(tag);
                            }
                        }
                        None => stats.corrupt += 1,
                    }
                } else if running.begun.is_some() && !self.unconfirmed {
                    self.confirmed.push(running.tag);
                } else if running.begun.is_some() && running.stage != Stage::Out {
                    self.sent_off.push(running.tag);
                }
                if let Some(begun) = running.begun.filter(|_| running.stage != Stage::Out) {
                    self.completed(begun, now);
                }
            }
            Outcome::Failed(failure) if running.begun.is_some() => {
                stats.aborted[end(failure) as usize] += 1;
                if !running.incoming {
                    self.given_up.push(running.tag);
                }
            }
            Outcome::Failed(_) => {}
        }
        tag
    }

    /// What this end wanted comes to nothing: its connection is gone before it could ask for it.
    pub fn cut_off(&mut self) {
        self.stats.aborted[TransferEnd::Disconnected as usize] += 1;
    }

    /// What this end wanted since `begun` is done.
    pub fn completed(&mut self, begun: u64, now: u64) {
        self.stats.completed += 1;
        self.stats.times.push(now - begun);
        self.stats.last_done = Some(Time(now));
    }

    /// A Put has arrived, and the upper layer looks at its place. Whether what is there should be there only
    /// [`super::audit`] can tell.
    pub fn put_arrived(&mut self, look: Look, octets: u64, now: u64) {
        if let Found::Whole(tag) = look.found
            && self.put.insert(tag)
        {
            self.stats.verified += 1;
            self.stats.verified_octets += octets;
            self.stats.last_arrived = self.stats.last_arrived.max(self.unconfirmed.then_some(Time(now)));
            self.verified.push(tag);
        }
        self.looks.push(look);
    }

    /// Counts entries of the logs. How many Op_timeouts were among them.
    pub fn logged(&mut self, entries: impl Iterator<Item = Logged>) -> u64 {
        let before = self.stats.timeouts;
        for entry in entries {
            match entry {
                Logged::Op_timeout_Occurance => self.stats.timeouts += 1,
                Logged::Max_Retry_Occurance => self.stats.exhausted += 1,
                _ => self.stats.logged += 1,
            }
        }
        self.stats.timeouts - before
    }
}

fn end(failure: Failure) -> TransferEnd {
    match failure {
        Failure::Rejected => TransferEnd::Rejected,
        Failure::Timeout => TransferEnd::Timeout,
        Failure::EndedByPeer => TransferEnd::EndedByPeer,
        Failure::Disconnected => TransferEnd::Disconnected,
        Failure::Unconfirmed => TransferEnd::Unconfirmed,
        Failure::Aborted => TransferEnd::Aborted,
    }
}
