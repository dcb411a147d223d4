//! Data messages of type 11 (Part 2 §3.3.2, §4.2.5).
//!
//! A message of 1 to 4096 bytes, padded to a multiple of 8, goes out as up to 16 segments. All but the last
//! have the standard size; they may arrive in any order, and each is answered by a response of type 13:
//! *done*, *retry* (no room; the segment is sent again) or *error* (the message is lost).
//!
//! A segment is known to both sides by letter, mailbox and segment number. Four letters let a sender have four
//! messages under way to the same mailbox of a destination. A message of one segment needs no segment number,
//! and uses the field for the upper bits of a mailbox number from 0 to 63. To the sender that is the same
//! field in the response, so a segment number and an upper mailbox number of equal value exclude each other.
//!
//! * [`Sender`]: one for each device: queues, letters, outstanding segments, timeouts.
//! * [`Receiver`]: one for each device: reassembly, and the answer to each segment.
//!
//! Part 2 says nothing of a message that is lost half-way, except that the receiver has to notice by time
//! (Part 8 §2.3.2.2). Until it has, a new message of the same letter would be mixed with the remains of the
//! old one; the sender therefore keeps a letter for [`SenderOptions::linger`] after a failure.

use super::{Payload, REQUEST_PRIORITY_MAX};
use core::fmt;

mod receiver;
mod sender;

pub use receiver::{
    Cause, Counters as ReceiverCounters, Event as ReceiverEvent, Options as ReceiverOptions, Receiver,
};
pub use sender::{
    Counters as SenderCounters, Event as SenderEvent, Failure, Options as SenderOptions, Sender, Transmit,
};

/// Most segments to a message (the 4-bit msglen field counts from 0).
pub const SEGMENTS_MAX: u8 = 16;

/// Longest message: 16 segments of 256 bytes.
pub const MESSAGE_MAX_BYTES: u32 = SEGMENTS_MAX as u32 * 256;

/// Payloads are multiples of a double-word.
pub const DOUBLE_WORD_BYTES: u32 = 8;

/// Mailboxes for messages of more than one segment.
pub const MAILBOXES: u8 = 4;

/// Mailboxes for messages of one segment.
pub const EXTENDED_MAILBOXES: u8 = 64;

/// Letters of a mailbox.
pub const LETTERS: u8 = 4;

/// The standard size of segments (ssize): 8, 16, 32, 64, 128 or 256 bytes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SegmentSize(u8);

impl SegmentSize {
    /// 8 bytes, the smallest.
    pub const B8: Self = Self(0b1001);
    /// 256 bytes, the largest.
    pub const B256: Self = Self(0b1110);

    /// The size with this many bytes.
    ///
    /// # Errors
    /// [`Error::SegmentSize`] if it is none of the six.
    pub const fn from_bytes(bytes: u16) -> Result<Self, Error> {
        match bytes {
            8 | 16 | 32 | 64 | 128 | 256 => Ok(Self(6 + bytes.trailing_zeros() as u8)),
            _ => Err(Error::SegmentSize { found: bytes }),
        }
    }

    /// The size with this code in the ssize field, `None` for a reserved one (Part 2 table 4-4).
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0b1001..=0b1110 => Some(Self(code)),
            _ => None,
        }
    }

    /// The code in the ssize field.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Bytes of every segment but the last.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        1 << (self.0 - 6)
    }
}

/// What names a segment on the wire, beside source and destination: the target_info field of a response.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Target {
    /// Letter, 0..=3.
    pub letter: u8,
    /// Lower two bits of the mailbox.
    pub mbox: u8,
    /// Segment number, or the upper four bits of the mailbox of a message of one segment.
    pub msgseg: u8,
}

/// A type 11 packet without its transport fields.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Segment<P> {
    /// Number of segments of the message less one.
    pub msglen: u8,
    /// The standard size.
    pub size: SegmentSize,
    /// Letter, mailbox, segment number.
    pub target: Target,
    /// Data.
    pub payload: P,
}

impl<P> Segment<P> {
    /// The mailbox: 0..=63 if the message has one segment, else 0..=3.
    #[must_use]
    pub const fn mailbox(&self) -> u8 {
        if self.msglen == 0 { self.target.msgseg << 2 | self.target.mbox } else { self.target.mbox }
    }
}

/// A message to be sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Message<P> {
    /// Device ID of the receiver.
    pub destination: u16,
    /// Mailbox, 0..=3; up to 63 if the message fits into one segment.
    pub mailbox: u8,
    /// Letter, 0..=3, or `None` for the next free one, round robin.
    pub letter: Option<u8>,
    /// Priority of its packets, 0..=2.
    pub priority: u8,
    /// The standard size of its segments.
    pub size: SegmentSize,
    /// 1..=16 times the standard size bytes.
    pub payload: P,
    /// Comes back in the event that ends the message; means nothing here.
    pub token: u64,
}

impl<P: Payload> Message<P> {
    /// Segments it takes.
    #[must_use]
    pub fn segments(&self) -> u32 {
        self.payload.len().div_ceil(self.size.bytes())
    }

    /// Whether the message can be sent.
    ///
    /// # Errors
    /// What is wrong with it, in the order of [`Error`].
    pub fn check(&self) -> Result<(), Error> {
        let max = u32::from(SEGMENTS_MAX) * self.size.bytes();
        let found = self.payload.len();
        if found == 0 || found > max {
            return Err(Error::Length { max, found });
        }
        let mailboxes = if self.segments() == 1 { EXTENDED_MAILBOXES } else { MAILBOXES };
        fits("mailbox", self.mailbox, mailboxes - 1)?;
        fits("letter", self.letter.unwrap_or(0), LETTERS - 1)?;
        fits("priority", self.priority, REQUEST_PRIORITY_MAX)
    }

    /// One of its segments, padded if it is the last.
    fn segment(&self, letter: u8, index: u8) -> Segment<P> {
        let size = self.size.bytes();
        let start = u32::from(index) * size;
        let rest = (self.payload.len() - start).next_multiple_of(DOUBLE_WORD_BYTES);
        let msglen = (self.segments() - 1) as u8;
        let msgseg = if msglen == 0 { self.mailbox >> 2 } else { index };
        Segment {
            msglen,
            size: self.size,
            target: Target { letter, mbox: self.mailbox & 3, msgseg },
            payload: self.payload.part(start, rest.min(size)),
        }
    }
}

/// Why a message cannot be sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// Not one of the six segment sizes.
    SegmentSize {
        /// Bytes that were asked for.
        found: u16,
    },
    /// The message is empty, or needs more than 16 segments of its standard size.
    Length {
        /// Bytes of 16 segments.
        max: u32,
        /// Bytes of the message.
        found: u32,
    },
    /// A number does not fit.
    Range {
        /// Name of the field.
        field: &'static str,
        /// Largest value allowed.
        max: u8,
        /// The value that was asked for.
        found: u8,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::SegmentSize { found } => {
                write!(f, "message segment size: 8, 16, 32, 64, 128 or 256 bytes, {found} found")
            }
            Self::Length { max, found } => {
                write!(f, "message length: 1 to {max} bytes at this segment size, {found} found")
            }
            Self::Range { field, max, found } => {
                write!(f, "message {field}: at most {max} allowed, {found} given")
            }
        }
    }
}

impl core::error::Error for Error {}

fn fits(field: &'static str, found: u8, max: u8) -> Result<(), Error> {
    if found > max { Err(Error::Range { field, max, found }) } else { Ok(()) }
}
