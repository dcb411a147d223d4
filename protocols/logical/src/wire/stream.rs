//! Type 9: segments of a data streaming PDU (Part 10 §4.2).
//!
//! ```text
//! bit   0   7  8   9  10   12 13  14  15 16           31
//!      | cos | 1 | 1 | reserved| xh| O | P | streamID     |  single
//!      | cos | 1 | 0 | reserved| xh| reserved| streamID   |  start
//!      | cos | 0 | 0 | reserved| xh| reserved|               continuation
//!      | cos | 0 | 1 | reserved| xh| O | P | length       |  end
//! ```
//!
//! Data travels in half-words. O says that their number is odd, P that the last byte is padding. Segments
//! that do not end their PDU have the size of the MTU, a multiple of 4 bytes, and so have neither. xh is 1 in
//! extended packets, see [`traffic_management`](super::traffic_management). `length` is that of the whole
//! PDU in bytes, 0 for 65 536.

use super::{Error, PAYLOAD_MAX_BYTES, Payload, bits, header};
use core::fmt;
use lp_serial::field::{Field, RESERVED};

/// Field positions in the first half-word: (shift of the last bit, width).
mod field {
    pub(super) const COS: (u32, u32) = (8, 8);
    pub(super) const S: (u32, u32) = (7, 1);
    pub(super) const E: (u32, u32) = (6, 1);
    pub(super) const RESERVED: (u32, u32) = (3, 3);
    pub(super) const XH: (u32, u32) = (2, 1);
    pub(super) const O: (u32, u32) = (1, 1);
    pub(super) const P: (u32, u32) = (0, 1);
}

const FORMAT: &str = "DATA STREAMING";

const HEAD: [Field; 5] =
    [("cos", 0..8, 10), ("S", 8..9, 10), ("E", 9..10, 10), (RESERVED, 10..13, 2), ("xh", 13..14, 10)];
const ENDING: [Field; 2] = [("O", 0..1, 10), ("P", 1..2, 10)];
const NOT_ENDING: [Field; 1] = [(RESERVED, 0..2, 2)];
const STREAM_ID: [Field; 1] = [("streamID", 0..16, 10)];
const LENGTH: [Field; 1] = [("length", 0..16, 10)];

/// The fields of a single segment, in tables that follow each other (Part 10 §4.2).
pub const SINGLE_FIELDS: [&[Field]; 3] = [&HEAD, &ENDING, &STREAM_ID];

/// The fields of a start segment, in tables that follow each other (Part 10 §4.2).
pub const START_FIELDS: [&[Field]; 3] = [&HEAD, &NOT_ENDING, &STREAM_ID];

/// The fields of a continuation segment, in tables that follow each other (Part 10 §4.2).
pub const CONTINUATION_FIELDS: [&[Field]; 2] = [&HEAD, &NOT_ENDING];

/// The fields of an end segment, in tables that follow each other (Part 10 §4.2).
pub const END_FIELDS: [&[Field]; 3] = [&HEAD, &ENDING, &LENGTH];

/// Format type.
pub const FTYPE: u8 = 9;

/// Longest PDU, in bytes.
pub const PDU_MAX_BYTES: u32 = 65_536;

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a> {
    head: u32,
    second: u16,
    data: &'a [u8],
}

impl<'a> View<'a> {
    /// Looks at the bytes that follow the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let (&head, rest) = header::<2>(FORMAT, bytes)?;
        let head = u32::from(u16::from_be_bytes(head));
        if bits(head, field::S) == 0 && bits(head, field::E) == 0 {
            return Ok(Self { head, second: 0, data: rest });
        }
        let short = Error::Short { format: FORMAT, needed: 4, found: bytes.len() };
        let (&second, data) = rest.split_first_chunk().ok_or(short)?;
        Ok(Self { head, second: u16::from_be_bytes(second), data })
    }

    /// Class of service.
    #[must_use]
    pub const fn cos(self) -> u8 {
        bits(self.head, field::COS) as u8
    }

    /// S: the first segment of a PDU.
    #[must_use]
    pub const fn start(self) -> bool {
        bits(self.head, field::S) == 1
    }

    /// E: the last segment of a PDU.
    #[must_use]
    pub const fn end(self) -> bool {
        bits(self.head, field::E) == 1
    }

    /// The three bits that senders write as 0 and receivers ignore.
    #[must_use]
    pub const fn reserved(self) -> u8 {
        bits(self.head, field::RESERVED) as u8
    }

    /// xh: not a segment but an extended packet.
    #[must_use]
    pub const fn extended(self) -> bool {
        bits(self.head, field::XH) == 1
    }

    /// O: the number of half-words of data is odd.
    #[must_use]
    pub const fn odd(self) -> bool {
        bits(self.head, field::O) == 1
    }

    /// P: the last byte of the data is padding.
    #[must_use]
    pub const fn pad(self) -> bool {
        bits(self.head, field::P) == 1
    }

    /// The half-word after the first: streamID of a start or single segment, length of an end segment, 0 in
    /// a continuation, which has none.
    #[must_use]
    pub const fn second(self) -> u16 {
        self.second
    }

    /// The data with its padding.
    #[must_use]
    pub const fn data(self) -> &'a [u8] {
        self.data
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |set: bool, name: &'static str| if set { name } else { "" };
        write!(
            f,
            "DATA STREAMING cos {}{}{}{}{}{} {:#06x} {} bytes",
            self.cos(),
            flag(self.start(), " S"),
            flag(self.end(), " E"),
            flag(self.extended(), " xh"),
            flag(self.odd(), " O"),
            flag(self.pad(), " P"),
            self.second(),
            self.data.len()
        )
    }
}

/// Which part of a PDU a segment is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Part {
    /// All of it.
    Single {
        /// Stream that the PDU belongs to.
        stream_id: u16,
    },
    /// The first of several.
    Start {
        /// Stream that the PDU belongs to.
        stream_id: u16,
    },
    /// Neither the first nor the last.
    Continuation,
    /// The last of several.
    End {
        /// Bytes of the PDU as the field has them: modulo 65 536. See [`Segment::pdu_octets`].
        length: u16,
    },
}

impl Part {
    const fn flags(self) -> u8 {
        match self {
            Self::Single { .. } => 1 << field::S.0 | 1 << field::E.0,
            Self::Start { .. } => 1 << field::S.0,
            Self::Continuation => 0,
            Self::End { .. } => 1 << field::E.0,
        }
    }

    const fn header_octets(self) -> usize {
        match self {
            Self::Continuation => 2,
            _ => 4,
        }
    }

    const fn second(self) -> u16 {
        match self {
            Self::Single { stream_id } | Self::Start { stream_id } => stream_id,
            Self::Continuation => 0,
            Self::End { length } => length,
        }
    }

    /// Whether a segment of this kind may have any number of bytes, and tells so: nothing follows it.
    const fn is_last(self) -> bool {
        matches!(self, Self::Single { .. } | Self::End { .. })
    }
}

/// A segment of a PDU.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Segment<P> {
    cos: u8,
    part: Part,
    payload: P,
}

impl<P: Payload> Segment<P> {
    /// A segment with `payload`, padding not counted, in class of service `cos`.
    ///
    /// # Errors
    /// [`Error::Payload`] for more than 256 bytes, for none (except at the end), and for anything but a
    /// multiple of 4 where the PDU goes on.
    pub fn new(cos: u8, part: Part, payload: P) -> Result<Self, Error> {
        let octets = payload.octets();
        let min = if matches!(part, Part::End { .. }) { 0 } else { 1 };
        if octets < min || octets > PAYLOAD_MAX_BYTES {
            let rule = "1 to 256 bytes, or none in an end segment";
            return Err(Error::Payload { format: FORMAT, found: octets, rule });
        }
        if !part.is_last() && !octets.is_multiple_of(4) {
            let rule = "a multiple of 4 bytes, except at the end of a PDU";
            return Err(Error::Payload { format: FORMAT, found: octets, rule });
        }
        Ok(Self { cos, part, payload })
    }

    /// The segment that gives a PDU up: an end segment without data and with length 0.
    #[must_use]
    pub fn abort(cos: u8) -> Self
    where
        P: Default,
    {
        Self { cos, part: Part::End { length: 0 }, payload: P::default() }
    }

    /// Whether the segment gives its PDU up.
    #[must_use]
    pub fn is_abort(&self) -> bool {
        self.part == Part::End { length: 0 } && self.payload.octets() == 0
    }

    /// Bytes of the PDU, 1..=65 536, if this segment tells. A single segment is its own PDU; an abort and the
    /// segments before the last do not tell.
    #[must_use]
    pub fn pdu_octets(&self) -> Option<u32> {
        match self.part {
            Part::Single { .. } => Some(self.payload.octets() as u32),
            Part::End { length: 0 } if self.payload.octets() == 0 => None,
            Part::End { length: 0 } => Some(PDU_MAX_BYTES),
            Part::End { length } => Some(u32::from(length)),
            Part::Start { .. } | Part::Continuation => None,
        }
    }

    /// Bytes behind the transport fields, padding included.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.part.header_octets() + self.payload.octets().next_multiple_of(2)
    }

    fn first(&self) -> [u8; 2] {
        let octets = self.payload.octets();
        // Both are 0 where they are reserved: there, data is a multiple of 4 bytes.
        let odd = (octets.div_ceil(2) % 2) as u8;
        let pad = (octets % 2) as u8;
        [self.cos, self.part.flags() | odd << field::O.0 | pad << field::P.0]
    }
}

impl<P> Segment<P> {
    /// Class of service.
    #[must_use]
    pub const fn cos(&self) -> u8 {
        self.cos
    }

    /// Which part of its PDU.
    #[must_use]
    pub const fn part(&self) -> Part {
        self.part
    }

    /// The data without padding.
    #[must_use]
    pub const fn payload(&self) -> &P {
        &self.payload
    }

    /// The data without padding, kept.
    #[must_use]
    pub fn into_payload(self) -> P {
        self.payload
    }
}

impl<'a> Segment<&'a [u8]> {
    /// Reads what follows the transport fields. The value of a padding byte is ignored.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Value`] if xh, O or P do not suit the segment; [`Error::Payload`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::of_view(View::new(bytes)?)
    }

    /// Judges what was looked at; errors as those of [`parse`](Self::parse).
    pub(super) fn of_view(view: View<'a>) -> Result<Self, Error> {
        let value = |field, found: bool, rule| Err(Error::Value { field, found: found.into(), rule });
        if view.extended() {
            return value("xh", true, "0 in a segment");
        }
        let second = view.second();
        let part = match (view.start(), view.end()) {
            (true, true) => Part::Single { stream_id: second },
            (true, false) => Part::Start { stream_id: second },
            (false, false) => Part::Continuation,
            (false, true) => Part::End { length: second },
        };
        let data = view.data();
        if !part.is_last() {
            return Self::new(view.cos(), part, data);
        }
        if !data.len().is_multiple_of(2) {
            return Err(Error::Payload { format: FORMAT, found: data.len(), rule: "whole half-words" });
        }
        if view.odd() != (data.len() % 4 == 2) {
            return value("O", view.odd(), "1 exactly if the number of half-words is odd");
        }
        let payload = match (view.pad(), data) {
            (false, data) => data,
            (true, [payload @ .., _]) => payload,
            (true, []) => return value("P", true, "0 if there is no data"),
        };
        Self::new(view.cos(), part, payload)
    }
}

impl<P: Payload + AsRef<[u8]>> Segment<P> {
    /// Writes what follows the transport fields, padding as 0; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let needed = self.octets();
        let found = out.len();
        let out = out.get_mut(..needed).ok_or(Error::Buffer { needed, found })?;
        let [cos, flags] = self.first();
        let (second, payload) = (self.part.second().to_be_bytes(), self.payload.as_ref());
        let data = match self.part {
            Part::Continuation => {
                out[..2].copy_from_slice(&[cos, flags]);
                &mut out[2..]
            }
            _ => {
                out[..4].copy_from_slice(&[cos, flags, second[0], second[1]]);
                &mut out[4..]
            }
        };
        data[..payload.len()].copy_from_slice(payload);
        if let Some(padding) = data.get_mut(payload.len()) {
            *padding = 0;
        }
        Ok(needed)
    }
}

impl<P: Payload> fmt::Display for Segment<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DATA STREAMING ")?;
        match self.part {
            Part::Single { stream_id } => write!(f, "single stream {stream_id}")?,
            Part::Start { stream_id } => write!(f, "start stream {stream_id}")?,
            Part::Continuation => write!(f, "continuation")?,
            Part::End { .. } if self.is_abort() => write!(f, "abort")?,
            Part::End { length } => write!(f, "end length {length}")?,
        }
        write!(f, " cos {} {} bytes", self.cos, self.payload.octets())
    }
}
