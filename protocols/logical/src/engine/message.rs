//! Data messages of type 11 (Part 2 §3.3.2, §4.2.5).
//!
//! A message of 1 to 4096 bytes, padded to a multiple of 8, goes out as up to 16 segments. All but the last
//! have the standard size; they may arrive in any order, and each is answered by a response of type 13:
//! *done*, *retry* (no room; the segment is sent again) or *error* (the message is lost).
//!
//! A segment is known to both sides by letter, mailbox and segment number. Four letters let a sender have
//! four messages under way to the same mailbox of a destination. A message of one segment needs no segment
//! number, and uses the field for the upper bits of a mailbox number from 0 to 63. To the sender that is
//! the same field in the response, so a segment number and an upper mailbox number of equal value exclude
//! each other.
//!
//! * [`Sender`]: one for each device: queues, letters, outstanding segments, timeouts.
//! * [`Receiver`]: one for each device: reassembly, and the answer to each segment.
//!
//! So messages overtake one another: one that was refused arrives after those behind it. Whoever cuts
//! something over several messages and does not number them says so with [`Order`].
//!
//! Part 2 says nothing of a message that is lost half-way, except that the receiver has to notice by time
//! (Part 8 §2.3.2.2). Until it has, a new message of the same letter would be mixed with the remains of the
//! old one; the sender therefore keeps a letter for [`SenderOptions::linger`] after a failure.

use super::{Divisible, check_request_priority};
use crate::wire::message::{
    EXTENDED_MAILBOXES, LETTERS, MAILBOXES, SEGMENTS_MAX, Segment, SegmentSize, TargetInfo,
};
use crate::wire::{Error, Priority, fits};

mod receiver;
mod sender;

pub use receiver::{
    Cause, Counters as ReceiverCounters, Event as ReceiverEvent, Options as ReceiverOptions, Receiver,
};
pub use sender::{
    Counters as SenderCounters, Event as SenderEvent, Failure, Options as SenderOptions, Sender, Transmit,
};

/// Payloads are multiples of a double-word.
const DOUBLE_WORD_BYTES: usize = 8;

/// Whether a message keeps its place among others to the same mailbox of the same destination.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Order {
    /// It overtakes others and is overtaken, as letters have it.
    #[default]
    Free,
    /// It overtakes no part of its group, and no part overtakes it.
    Whole {
        /// Groups do not wait for one another.
        group: u16,
    },
    /// One of several that have to arrive in the order in which they were submitted, with nothing of their
    /// group between them: it leaves when everything before it in its group has ended, and what is behind it
    /// waits for its end. If one fails, those behind it fail as well, up to the last one: what is left of the
    /// whole is of no use.
    Part {
        /// Groups do not wait for one another.
        group: u16,
        /// Nothing before it belongs to it.
        first: bool,
        /// Nothing behind it belongs to it.
        last: bool,
    },
}

impl Order {
    /// The group, and whether it is a part.
    const fn group(self) -> Option<(u16, bool)> {
        match self {
            Self::Free => None,
            Self::Whole { group } => Some((group, false)),
            Self::Part { group, .. } => Some((group, true)),
        }
    }

    /// Whether the later of the two has to wait for the end of the earlier one.
    const fn excludes(self, other: Self) -> bool {
        match (self.group(), other.group()) {
            (Some((one, part)), Some((other, parts))) => one == other && (part || parts),
            _ => false,
        }
    }
}

/// A message to be sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Message<P> {
    /// Device ID of the receiver.
    pub destination: u32,
    /// Mailbox, 0..=3; up to 63 if the message fits into one segment.
    pub mailbox: u8,
    /// Letter, 0..=3, or `None` for the next free one, round robin.
    pub letter: Option<u8>,
    /// Priority of its packets, at most 2.
    pub priority: Priority,
    /// Its place among others. Messages of one group have one priority: higher ones go before lower ones
    /// whatever they belong to.
    pub order: Order,
    /// The standard size of its segments.
    pub size: SegmentSize,
    /// 1..=16 times the standard size bytes.
    pub payload: P,
    /// Comes back in the event that ends the message; means nothing here.
    pub token: u64,
}

impl<P: Divisible> Message<P> {
    /// Segments it takes.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.payload.octets().div_ceil(self.size.octets())
    }

    /// Whether the message can be sent.
    ///
    /// # Errors
    /// [`Error::Payload`] if it is empty or needs more than 16 segments; [`Error::Range`] for the mailbox,
    /// the letter, the priority.
    pub fn check(&self) -> Result<(), Error> {
        let found = self.payload.octets();
        if found == 0 || self.segments() > usize::from(SEGMENTS_MAX) {
            let rule = "1 byte to 16 segments";
            return Err(Error::Payload { format: "message", found, rule });
        }
        let mailboxes = if self.segments() == 1 { EXTENDED_MAILBOXES } else { MAILBOXES };
        fits("mailbox", self.mailbox.into(), u32::from(mailboxes) - 1)?;
        fits("letter", self.letter.unwrap_or(0).into(), u32::from(LETTERS) - 1)?;
        check_request_priority(self.priority)
    }

    /// One of its segments, padded if it is the last.
    fn segment(&self, letter: u8, index: u8) -> Segment<P> {
        let size = self.size.octets();
        let start = usize::from(index) * size;
        let rest = (self.payload.octets() - start).next_multiple_of(DOUBLE_WORD_BYTES);
        let payload = self.payload.part(start, rest.min(size));
        let segments = self.segments() as u8;
        let target = if segments == 1 {
            TargetInfo::single(letter, self.mailbox)
        } else {
            TargetInfo::new(letter, self.mailbox, index)
        };
        target
            .and_then(|target| Segment::new(segments, self.size, target, payload))
            .expect("a message that was checked has valid segments")
    }
}
