//! Type 11: one segment of a message (Part 2 §4.2.5).
//!
//! ```text
//! bit   0     3 4     7 8      9 10  11 12          15
//!      | msglen| ssize | letter | mbox | msgseg/xmbox |  8 to 256 bytes
//! ```
//!
//! A message has 1 to 16 segments (`msglen` is one less), each of the size that `ssize` codes; the last may
//! be shorter. A message of several segments is for one of 4 mailboxes and numbers its segments in `msgseg`.
//! A message of one segment may be for one of 64: the same four bits are then `xmbox`, the upper part of the
//! mailbox number.
//!
//! The last byte of the header ties the response to the segment: it is the response's target_info.

use super::{Error, Payload, bits, fits, header, put};
use core::fmt;
use lp_serial::field::Field;

/// Field positions: (shift of the last bit, width).
mod field {
    pub(super) const MSGLEN: (u32, u32) = (12, 4);
    pub(super) const SSIZE: (u32, u32) = (8, 4);
    pub(super) const TARGET_INFO: (u32, u32) = (0, 8);
    /// In target_info.
    pub(super) const LETTER: (u32, u32) = (6, 2);
    pub(super) const MBOX: (u32, u32) = (4, 2);
    pub(super) const MSGSEG: (u32, u32) = (0, 4);
}

const FORMAT: &str = "MESSAGE";

/// The fields (Part 2 §4.2.5); the last three are what a response repeats as target_info.
pub const FIELDS: [Field; 5] = [
    ("msglen", 0..4, 10),
    ("ssize", 4..8, 10),
    ("letter", 8..10, 10),
    ("mbox", 10..12, 10),
    ("msgseg", 12..16, 10),
];

/// Format type.
pub const FTYPE: u8 = 11;

/// Most segments of a message.
pub const SEGMENTS_MAX: u8 = 16;

/// Longest message, in bytes.
pub const MESSAGE_MAX_BYTES: usize = 4096;

/// Mailboxes that a message of several segments can address.
pub const MAILBOXES: u8 = 4;

/// Mailboxes that a message of one segment can address.
pub const EXTENDED_MAILBOXES: u8 = 64;

/// Letters of a mailbox: messages that one sender can have under way to it at a time.
pub const LETTERS: u8 = 4;

/// Size of all segments of a message but the last.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum SegmentSize {
    /// 8 bytes, the only size that every device must support.
    B8,
    /// 16 bytes.
    B16,
    /// 32 bytes.
    B32,
    /// 64 bytes.
    B64,
    /// 128 bytes.
    B128,
    /// 256 bytes.
    B256,
}

impl SegmentSize {
    /// Every size, smallest first.
    pub const ALL: [Self; 6] = [Self::B8, Self::B16, Self::B32, Self::B64, Self::B128, Self::B256];

    const FIRST_CODE: u8 = 0b1001;

    /// The size that a code in `ssize` means: 0b1001 to 0b1110.
    ///
    /// # Errors
    /// [`Error::Value`]: the other codes are reserved.
    pub const fn from_code(code: u8) -> Result<Self, Error> {
        match code {
            0b1001 => Ok(Self::B8),
            0b1010 => Ok(Self::B16),
            0b1011 => Ok(Self::B32),
            0b1100 => Ok(Self::B64),
            0b1101 => Ok(Self::B128),
            0b1110 => Ok(Self::B256),
            _ => Err(Error::Value {
                field: "ssize",
                found: code as u32,
                rule: "9 (8 bytes) to 14 (256 bytes)",
            }),
        }
    }

    /// The code in `ssize`.
    #[must_use]
    pub const fn code(self) -> u8 {
        Self::FIRST_CODE + self as u8
    }

    /// Bytes of a segment.
    #[must_use]
    pub const fn octets(self) -> usize {
        8 << self as u32
    }
}

/// Letter, mailbox and segment number as one byte: what a response repeats, so that the sender knows which
/// segment it is for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TargetInfo(u8);

impl TargetInfo {
    /// Of a segment of a message: `letter` and `mbox` are 0..=3, `msgseg` is 0..=15.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn new(letter: u8, mbox: u8, msgseg: u8) -> Result<Self, Error> {
        fits("letter", letter.into(), 3)?;
        fits("mbox", mbox.into(), 3)?;
        fits("msgseg", msgseg.into(), 15)?;
        Ok(Self(letter << field::LETTER.0 | mbox << field::MBOX.0 | msgseg))
    }

    /// Of a message of one segment: `letter` is 0..=3, `mailbox` 0..=63.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn single(letter: u8, mailbox: u8) -> Result<Self, Error> {
        fits("mailbox", mailbox.into(), u32::from(EXTENDED_MAILBOXES) - 1)?;
        Self::new(letter, mailbox & 3, mailbox >> 2)
    }

    /// The byte; every value of it means something.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// The byte.
    #[must_use]
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// Which of the messages under way between this sender and this mailbox, 0..=3.
    #[must_use]
    pub const fn letter(self) -> u8 {
        bits(self.0 as u32, field::LETTER) as u8
    }

    /// The mailbox, 0..=3, or the lower two bits of it if the message has one segment.
    #[must_use]
    pub const fn mbox(self) -> u8 {
        bits(self.0 as u32, field::MBOX) as u8
    }

    /// Number of the segment, 0..=15; if the message has one segment this is `xmbox`.
    #[must_use]
    pub const fn msgseg(self) -> u8 {
        bits(self.0 as u32, field::MSGSEG) as u8
    }

    /// The mailbox that a message of one segment is for, 0..=63.
    #[must_use]
    pub const fn extended_mailbox(self) -> u8 {
        self.msgseg() << 2 | self.mbox()
    }
}

impl fmt::Display for TargetInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "letter {} mbox {} msgseg {}", self.letter(), self.mbox(), self.msgseg())
    }
}

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a> {
    head: u32,
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Looks at the bytes that follow the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let (head, payload) = header::<2>(FORMAT, bytes)?;
        Ok(Self { head: u16::from_be_bytes(*head).into(), payload })
    }

    /// One less than the number of segments.
    #[must_use]
    pub const fn msglen(self) -> u8 {
        bits(self.head, field::MSGLEN) as u8
    }

    /// Code of the segment size.
    #[must_use]
    pub const fn ssize(self) -> u8 {
        bits(self.head, field::SSIZE) as u8
    }

    /// Letter, mbox and msgseg or xmbox.
    #[must_use]
    pub const fn target_info(self) -> TargetInfo {
        TargetInfo(bits(self.head, field::TARGET_INFO) as u8)
    }

    /// The data.
    #[must_use]
    pub const fn payload(self) -> &'a [u8] {
        self.payload
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, self.msglen(), self.ssize(), self.target_info(), self.payload.len())
    }
}

fn describe(
    f: &mut fmt::Formatter<'_>,
    msglen: u8,
    ssize: u8,
    target: TargetInfo,
    octets: usize,
) -> fmt::Result {
    write!(f, "MESSAGE {target} msglen {msglen} ssize {ssize} {octets} bytes")
}

/// One segment of a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Segment<P> {
    segments: u8,
    size: SegmentSize,
    target: TargetInfo,
    payload: P,
}

impl<P: Payload> Segment<P> {
    /// A segment of a message of `segments` (1..=16) segments of `size`.
    ///
    /// # Errors
    /// [`Error::Value`] if `segments` is none of these, or `target` names a segment that such a message does
    /// not have; [`Error::Payload`] unless the data has the segment size, or this is the last segment and it
    /// has fewer bytes: a multiple of 8, and not 0.
    pub fn new(segments: u8, size: SegmentSize, target: TargetInfo, payload: P) -> Result<Self, Error> {
        if segments == 0 || segments > SEGMENTS_MAX {
            return Err(Error::Value { field: "segments", found: segments.into(), rule: "1 to 16" });
        }
        if segments > 1 && target.msgseg() >= segments {
            let found = target.msgseg().into();
            return Err(Error::Value { field: "msgseg", found, rule: "at most msglen" });
        }
        let segment = Self { segments, size, target, payload };
        let octets = segment.payload.octets();
        if segment.is_last() {
            if octets == 0 || octets > size.octets() || !octets.is_multiple_of(8) {
                let rule = "8 bytes to the segment size in steps of 8";
                return Err(Error::Payload { format: FORMAT, found: octets, rule });
            }
        } else if octets != size.octets() {
            let rule = "exactly the segment size, except in the last segment";
            return Err(Error::Payload { format: FORMAT, found: octets, rule });
        }
        Ok(segment)
    }

    /// Bytes behind the transport fields.
    #[must_use]
    pub fn octets(&self) -> usize {
        2 + self.payload.octets()
    }
}

impl<P> Segment<P> {
    /// Segments of the message, 1..=16.
    #[must_use]
    pub const fn segments(&self) -> u8 {
        self.segments
    }

    /// Size of all segments but the last.
    #[must_use]
    pub const fn size(&self) -> SegmentSize {
        self.size
    }

    /// Letter, mailbox and number of the segment: what the response repeats.
    #[must_use]
    pub const fn target(&self) -> TargetInfo {
        self.target
    }

    /// Number of the segment, 0..=15; 0 in a message of one segment.
    #[must_use]
    pub const fn index(&self) -> u8 {
        if self.segments == 1 { 0 } else { self.target.msgseg() }
    }

    /// The mailbox: 0..=3, or 0..=63 in a message of one segment.
    #[must_use]
    pub const fn mailbox(&self) -> u8 {
        if self.segments == 1 { self.target.extended_mailbox() } else { self.target.mbox() }
    }

    /// Whether this is the segment with the end of the message.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        self.index() + 1 == self.segments
    }

    /// The data.
    #[must_use]
    pub const fn payload(&self) -> &P {
        &self.payload
    }

    /// The data, kept.
    #[must_use]
    pub fn into_payload(self) -> P {
        self.payload
    }
}

impl<'a> Segment<&'a [u8]> {
    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`], [`Error::Payload`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(bytes)?;
        Self::new(view.msglen() + 1, SegmentSize::from_code(view.ssize())?, view.target_info(), view.payload)
    }
}

impl<P: Payload + AsRef<[u8]>> Segment<P> {
    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let sizes = (self.segments - 1) << 4 | self.size.code();
        put([sizes, self.target.byte()], self.payload.as_ref(), out)
    }
}

impl<P: Payload> fmt::Display for Segment<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(f, self.segments - 1, self.size.code(), self.target, self.payload.octets())
    }
}
