//! Conduits: two opposite streams of one protocol, opened and closed as one (Annex 2 §3.4).
//!
//! [`Pairing`] holds what a node knows of the conduits of one (peer, protocol) and decides what an OPEN, an
//! ACCEPT or an end of either means. It has no timers, no octets and no stream table; what it wants done goes
//! through [`Actions`], so that endpoints and exhaustive exploration run the same decisions.
//!
//! # Three algorithms
//!
//! [`Algorithm::Literal`] is the pseudo-code of §3.4.3 line by line. It does not settle when both OPENs are
//! in flight: the OPEN that finds the own record is answered by an extra OPEN, each extra OPEN overwrites a
//! receive stream, the ACCEPT then matches no record and makes a new one. [`Algorithm::Minimal`] adds the
//! check that §3.4.2 describes: no return OPEN while an own one was sent. That cures every run without
//! faults; a repeated OPEN still overwrites a stream. [`Algorithm::Corrected`] is what this crate
//! recommends: one record for each (peer, protocol), answers matched by OPEN_MESSAGE_NUMBER, streams handed
//! out into empty slots alone, and everything that is dropped closed at the peer.

use crate::protocol::NO_STREAM;
use alloc::vec::Vec;

/// How OPEN and ACCEPT are matched to conduits.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Algorithm {
    /// The pseudo-code as printed.
    Literal,
    /// The pseudo-code with the one check that the text around it describes.
    Minimal,
    /// Sound under loss, repetition and reordering.
    #[default]
    Corrected,
}

impl Algorithm {
    /// All, from worst to best.
    pub const ALL: [Self; 3] = [Self::Literal, Self::Minimal, Self::Corrected];

    /// The name by which it is selected.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Literal => "literal",
            Self::Minimal => "minimal",
            Self::Corrected => "corrected",
        }
    }
}

/// The own OPEN of a record.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Own {
    /// None was sent.
    #[default]
    None,
    /// Sent, with this OPEN_MESSAGE_NUMBER.
    Outstanding(u32),
    /// Answered by ACCEPT.
    Answered(u32),
}

impl Own {
    /// Its OPEN_MESSAGE_NUMBER.
    #[must_use]
    pub const fn number(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Outstanding(number) | Self::Answered(number) => Some(number),
        }
    }
}

/// What is known of one conduit. 0xFFFF is "not known".
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Record {
    /// The stream on which this node receives.
    pub receive: u16,
    /// The stream on which it sends.
    pub transmit: u16,
    /// Its OPEN.
    pub own: Own,
    /// The peer has just confirmed the transmit stream by STATUS.
    pub verified: bool,
}

impl Record {
    const EMPTY: Self = Self { receive: NO_STREAM, transmit: NO_STREAM, own: Own::None, verified: false };

    /// Whether both streams are known.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.receive != NO_STREAM && self.transmit != NO_STREAM
    }

    /// Whether the OPEN was answered and the peer's is still awaited: the return-OPEN watch runs.
    #[must_use]
    pub const fn awaits_open(&self) -> bool {
        self.receive == NO_STREAM && matches!(self.own, Own::Answered(_))
    }
}

/// Which of two streams.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Side {
    /// This node receives on it and has chosen its StreamID.
    Receive,
    /// This node sends on it; the peer has chosen its StreamID.
    Transmit,
}

/// What a pairing wants done, towards the one peer and for the one protocol that it is about.
pub trait Actions {
    /// Sends an OPEN with CONDUIT_STREAM = (0xFFFF, `receive`). Returns its new OPEN_MESSAGE_NUMBER.
    fn open(&mut self, receive: u16) -> u32;
    /// A new receive stream, open from now on; none if there is none left.
    fn allocate(&mut self) -> Option<u16>;
    /// Answers the OPEN at hand with ACCEPT of `stream` and CONDUIT_STREAM = (`transmit`, `stream`).
    fn accept(&mut self, transmit: u16, stream: u16);
    /// Answers the OPEN at hand with REFUSE.
    fn refuse(&mut self);
    /// Closes a stream here, and at the peer by CLOSE.
    fn close(&mut self, side: Side, stream: u16);
    /// Ends a stream here alone: the peer knows.
    fn forget(&mut self, side: Side, stream: u16);
    /// An own OPEN is given up: neither repeated nor matched any more.
    fn abandon(&mut self, number: u32);
    /// Asks the peer by a STATUS query whether it still has the transmit stream.
    fn query(&mut self, stream: u16);
    /// Whether the peer has closed this stream of its own before anything else was known of it. No CLOSE
    /// names [`NO_STREAM`], which is never dead.
    fn is_dead(&self, stream: u16) -> bool;
    /// Both streams are known and the own OPEN is answered.
    fn complete(&mut self, record: Record);
    /// A record is gone.
    fn ended(&mut self, record: Record);
}

/// What became of an ACCEPT.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Accepted {
    /// The stream may be used.
    Used,
    /// The stream was not wanted; it is being closed.
    Closed,
}

/// The conduits of one (peer, protocol).
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Pairing {
    records: Vec<Record>,
}

/// 0xFFFF on either side matches.
const fn matches(asked: u16, known: u16) -> bool {
    asked == NO_STREAM || known == NO_STREAM || asked == known
}

impl Pairing {
    /// No conduit.
    #[must_use]
    pub const fn new() -> Self {
        Self { records: Vec::new() }
    }

    /// In order of creation. At most one with [`Algorithm::Corrected`].
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// find_partial_conduit: the first record that fits what the peer says of itself. Complete ones are not
    /// skipped, in spite of the name.
    fn find(&self, peer_transmit: u16, peer_receive: u16) -> Option<usize> {
        let fits = |record: &Record| {
            matches(peer_transmit, record.receive) && matches(peer_receive, record.transmit)
        };
        self.records.iter().position(fits)
    }

    /// Whether a message with CONDUIT_STREAM = (`transmit`, `receive`) would make a record more than there
    /// are. [`Algorithm::Corrected`] has one at most, and what it makes instead of another is none more.
    pub(crate) fn needs_record(&self, algorithm: Algorithm, transmit: u16, receive: u16) -> bool {
        match algorithm {
            Algorithm::Corrected => self.records.is_empty(),
            Algorithm::Literal | Algorithm::Minimal => self.find(transmit, receive).is_none(),
        }
    }

    fn add(&mut self, record: Record) -> usize {
        self.records.push(record);
        self.records.len() - 1
    }

    fn send_open(&mut self, at: usize, receive: u16, actions: &mut impl Actions) {
        let number = actions.open(receive);
        self.records[at].own = Own::Outstanding(number);
    }

    /// The application wants a conduit. Returns whether an OPEN was sent; if not, there is one already.
    pub fn create(&mut self, algorithm: Algorithm, actions: &mut impl Actions) -> bool {
        let found = match algorithm {
            Algorithm::Corrected => !self.records.is_empty(),
            Algorithm::Literal | Algorithm::Minimal => self.find(NO_STREAM, NO_STREAM).is_some(),
        };
        if !found {
            let at = self.add(Record::EMPTY);
            self.send_open(at, NO_STREAM, actions);
        }
        !found
    }

    /// An OPEN that is no repetition, with CONDUIT_STREAM = (`transmit`, `receive`).
    pub fn handle_open(
        &mut self,
        algorithm: Algorithm,
        transmit: u16,
        receive: u16,
        actions: &mut impl Actions,
    ) {
        match algorithm {
            Algorithm::Corrected => self.correct_open(transmit, receive, actions),
            Algorithm::Literal | Algorithm::Minimal => {
                self.printed_open(algorithm == Algorithm::Minimal, transmit, receive, actions);
            }
        }
    }

    fn printed_open(&mut self, minimal: bool, transmit: u16, receive: u16, actions: &mut impl Actions) {
        let Some(stream) = actions.allocate() else { return actions.refuse() };
        let at = match self.find(transmit, receive) {
            Some(at) => at,
            None => self.add(Record { transmit: receive, ..Record::EMPTY }),
        };
        let local_transmit = self.records[at].transmit;
        self.records[at].receive = stream;
        actions.accept(local_transmit, stream);
        if local_transmit == NO_STREAM && !(minimal && self.records[at].own != Own::None) {
            self.send_open(at, stream, actions);
        }
        let record = self.records[at];
        if record.is_whole() {
            actions.complete(record);
        }
    }

    fn correct_open(&mut self, transmit: u16, receive: u16, actions: &mut impl Actions) {
        if transmit != NO_STREAM {
            return actions.refuse();
        }
        let fits = |record: &Record| {
            record.receive == NO_STREAM && (receive == NO_STREAM || matches(receive, record.transmit))
        };
        let at = match self.records.iter().position(fits).filter(|_| !actions.is_dead(receive)) {
            Some(at) => at,
            None if receive != NO_STREAM => return actions.refuse(),
            None => match self.records.first().copied() {
                None => self.add(Record::EMPTY),
                // The peer has started anew while nothing was agreed yet.
                Some(record) if record.transmit == NO_STREAM => {
                    self.tear_down(0, actions);
                    self.add(Record::EMPTY)
                }
                Some(record) if record.verified => {
                    self.records[0].verified = false;
                    return actions.refuse();
                }
                // Has it? Its repetition of the OPEN will find the answer.
                Some(record) => return actions.query(record.transmit),
            },
        };
        let Some(stream) = actions.allocate() else {
            if self.records[at] == Record::EMPTY {
                self.records.remove(at);
            }
            return actions.refuse();
        };
        let record = &mut self.records[at];
        record.receive = stream;
        if record.transmit == NO_STREAM {
            record.transmit = receive;
        }
        actions.accept(record.transmit, stream);
        let record = *record;
        match record.own {
            Own::None => self.send_open(at, stream, actions),
            Own::Answered(_) => actions.complete(record),
            Own::Outstanding(_) => {}
        }
    }

    /// An ACCEPT of `stream` for the OPEN `number`, with CONDUIT_STREAM = (`transmit`, `receive`) as the peer
    /// sees it. A repeated ACCEPT for an OPEN that was answered is the caller's to drop.
    pub fn handle_accept(
        &mut self,
        algorithm: Algorithm,
        number: u32,
        stream: u16,
        (transmit, receive): (u16, u16),
        actions: &mut impl Actions,
    ) -> Accepted {
        if algorithm != Algorithm::Corrected {
            self.printed_accept(transmit, receive, actions);
            return Accepted::Used;
        }
        let own = Own::Outstanding(number);
        let Some(at) = self.records.iter().position(|record| record.own == own) else {
            actions.close(Side::Transmit, stream);
            return Accepted::Closed;
        };
        let record = self.records[at];
        let fits = receive == stream
            && !actions.is_dead(stream)
            && (record.transmit == NO_STREAM || record.transmit == stream)
            && (transmit == NO_STREAM || transmit == record.receive);
        if !fits {
            self.tear_down(at, actions);
            actions.close(Side::Transmit, stream);
            return Accepted::Closed;
        }
        let record = &mut self.records[at];
        record.transmit = stream;
        record.own = Own::Answered(number);
        if record.receive != NO_STREAM {
            actions.complete(*record);
        }
        Accepted::Used
    }

    fn printed_accept(&mut self, transmit: u16, receive: u16, actions: &mut impl Actions) {
        let at = match self.find(transmit, receive) {
            Some(at) => at,
            None => self.add(Record { receive: transmit, ..Record::EMPTY }),
        };
        let record = &mut self.records[at];
        let local_receive = if record.receive == NO_STREAM { transmit } else { record.receive };
        record.receive = local_receive;
        record.transmit = receive;
        let record = *record;
        if record.own == Own::None {
            self.send_open(at, local_receive, actions);
        }
        if record.is_whole() {
            actions.complete(record);
        }
    }

    /// The own OPEN `number` was refused, was not understood, or has timed out. The printed algorithms have
    /// no rule for that: the record stays.
    pub fn handle_failure(&mut self, algorithm: Algorithm, number: u32, actions: &mut impl Actions) {
        if algorithm == Algorithm::Corrected {
            let own = Own::Outstanding(number);
            if let Some(at) = self.records.iter().position(|record| record.own == own) {
                self.tear_down(at, actions);
            }
        }
    }

    /// The return-OPEN watch of the OPEN `number` has run out.
    pub fn handle_watch(&mut self, number: u32, actions: &mut impl Actions) {
        let own = Own::Answered(number);
        if let Some(at) = self.records.iter().position(|record| record.own == own && record.awaits_open()) {
            self.tear_down(at, actions);
        }
    }

    /// The peer has closed a stream. Returns whether a record named it.
    pub fn handle_close(&mut self, side: Side, stream: u16, actions: &mut impl Actions) -> bool {
        let Some(at) = self.naming(side, stream) else { return false };
        let record = self.records.remove(at);
        self.give_up(record, actions);
        actions.forget(side, stream);
        let other = match side {
            Side::Receive => (Side::Transmit, record.transmit),
            Side::Transmit => (Side::Receive, record.receive),
        };
        if other.1 != NO_STREAM {
            actions.close(other.0, other.1);
        }
        actions.ended(record);
        true
    }

    /// The peer says by STATUS that it still has the stream on which this node sends.
    pub fn handle_functional(&mut self, stream: u16) {
        if let Some(at) = self.naming(Side::Transmit, stream) {
            self.records[at].verified = true;
        }
    }

    /// A stream of a record is not there any more, or the application does not want the conduit: both streams
    /// are closed. Returns whether a record named it.
    pub fn end(&mut self, side: Side, stream: u16, actions: &mut impl Actions) -> bool {
        let Some(at) = self.naming(side, stream) else { return false };
        self.tear_down(at, actions);
        true
    }

    fn naming(&self, side: Side, stream: u16) -> Option<usize> {
        if stream == NO_STREAM {
            return None;
        }
        self.records.iter().position(|record| match side {
            Side::Receive => record.receive == stream,
            Side::Transmit => record.transmit == stream,
        })
    }

    fn give_up(&mut self, record: Record, actions: &mut impl Actions) {
        if let Own::Outstanding(number) = record.own {
            actions.abandon(number);
        }
    }

    fn tear_down(&mut self, at: usize, actions: &mut impl Actions) {
        let record = self.records.remove(at);
        self.give_up(record, actions);
        for (side, stream) in [(Side::Receive, record.receive), (Side::Transmit, record.transmit)] {
            if stream != NO_STREAM {
                actions.close(side, stream);
            }
        }
        actions.ended(record);
    }
}
