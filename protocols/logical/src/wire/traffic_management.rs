//! Type 9, extended: traffic management between the ends of streams (Part 10 §3.4, §4.3).
//!
//! ```text
//! bit   0   7 8  9 10  12 13 14 15 16       31 32 35 36 37   39 40  47 48       55 56       63
//!      | cos | rsv| xtype| xh| rsv | streamID  |TM OP| r|wildcard| mask | parameter1| parameter2|
//! ```
//!
//! xtype is 0, xh is 1. The three wildcard bits widen the message to every destination, class or stream; mask
//! has ones for the bits of the class that do not matter (table 4-3).

use super::{Error, bits, header, no_payload, put};
use core::fmt;
use lp_serial::field::{Field, RESERVED};

/// Field positions in the two words: (shift of the last bit, width).
mod field {
    pub(super) const COS: (u32, u32) = (24, 8);
    pub(super) const XTYPE: (u32, u32) = (19, 3);
    pub(super) const XH: (u32, u32) = (18, 1);
    pub(super) const STREAM_ID: (u32, u32) = (0, 16);
    pub(super) const TM_OP: (u32, u32) = (28, 4);
    pub(super) const WILDCARD: (u32, u32) = (24, 3);
    pub(super) const MASK: (u32, u32) = (16, 8);
    pub(super) const PARAMETER1: (u32, u32) = (8, 8);
    pub(super) const PARAMETER2: (u32, u32) = (0, 8);
}

const FORMAT: &str = "TRAFFIC MANAGEMENT";

/// The fields (Part 10 §4.3).
pub const FIELDS: [Field; 12] = [
    ("cos", 0..8, 10),
    (RESERVED, 8..10, 2),
    ("xtype", 10..13, 10),
    ("xh", 13..14, 10),
    (RESERVED, 14..16, 2),
    ("streamID", 16..32, 10),
    ("TM_OP", 32..36, 10),
    (RESERVED, 36..37, 2),
    ("wildcard", 37..40, 2),
    ("mask", 40..48, 16),
    ("parameter1", 48..56, 16),
    ("parameter2", 56..64, 16),
];

/// Format type, with xh = 1.
pub const FTYPE: u8 = 9;

const XTYPE: u32 = 0;

/// parameter2 that certainly stops a stream.
pub const XOFF: u8 = 0x00;

/// parameter2 that certainly lets a stream go.
pub const XON: u8 = 0xFF;

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View {
    first: u32,
    second: u32,
}

impl View {
    /// Looks at the bytes that follow the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let (&[a, b, c, d, e, f, g, h], _) = header::<8>(FORMAT, bytes)?;
        Ok(Self { first: u32::from_be_bytes([a, b, c, d]), second: u32::from_be_bytes([e, f, g, h]) })
    }

    /// Class of service.
    #[must_use]
    pub const fn cos(self) -> u8 {
        bits(self.first, field::COS) as u8
    }

    /// Kind of the extended packet: 0 is traffic management.
    #[must_use]
    pub const fn xtype(self) -> u8 {
        bits(self.first, field::XTYPE) as u8
    }

    /// xh: whether this is an extended packet at all.
    #[must_use]
    pub const fn extended(self) -> bool {
        bits(self.first, field::XH) == 1
    }

    /// The stream.
    #[must_use]
    pub const fn stream_id(self) -> u16 {
        bits(self.first, field::STREAM_ID) as u16
    }

    /// Code of the operation, 0..=15.
    #[must_use]
    pub const fn tm_op(self) -> u8 {
        bits(self.second, field::TM_OP) as u8
    }

    /// Destination (4), class (2) and stream (1) wildcards.
    #[must_use]
    pub const fn wildcard(self) -> u8 {
        bits(self.second, field::WILDCARD) as u8
    }

    /// Bits of the class that do not matter.
    #[must_use]
    pub const fn mask(self) -> u8 {
        bits(self.second, field::MASK) as u8
    }

    /// First parameter of the operation.
    #[must_use]
    pub const fn parameter1(self) -> u8 {
        bits(self.second, field::PARAMETER1) as u8
    }

    /// Second parameter of the operation.
    #[must_use]
    pub const fn parameter2(self) -> u8 {
        bits(self.second, field::PARAMETER2) as u8
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "TRAFFIC MANAGEMENT xtype {} op {} cos {}/{:#04x} stream {} wildcard {:03b} parameters {:#04x} \
             {:#04x}",
            self.xtype(),
            self.tm_op(),
            self.cos(),
            self.mask(),
            self.stream_id(),
            self.wildcard(),
            self.parameter1(),
            self.parameter2()
        )
    }
}

/// What both ends of a stream agree to control it by.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Operation {
    /// 0: start, stop, queue status.
    Basic,
    /// 1: raise and lower the rate.
    Rate,
    /// 2: PDUs that may be sent.
    Credit,
    /// 3: defined by the application.
    Application,
}

impl Operation {
    /// Every operation, in order of its code.
    pub const ALL: [Self; 4] = [Self::Basic, Self::Rate, Self::Credit, Self::Application];

    /// The meaning of a code: 0 to 3.
    ///
    /// # Errors
    /// [`Error::Value`]: the other codes are reserved.
    pub const fn from_code(code: u8) -> Result<Self, Error> {
        match code {
            0 => Ok(Self::Basic),
            1 => Ok(Self::Rate),
            2 => Ok(Self::Credit),
            3 => Ok(Self::Application),
            _ => Err(Error::Value { field: "TM OP", found: code as u32, rule: "0 to 3" }),
        }
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The name (Part 10 §3.4).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Rate => "rate",
            Self::Credit => "credit",
            Self::Application => "application",
        }
    }
}

/// A traffic management packet. The parameters are the operation's own business.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TrafficManagement {
    /// Class of service.
    pub cos: u8,
    /// Stream.
    pub stream_id: u16,
    /// What the parameters mean.
    pub operation: Operation,
    /// The message is for every destination.
    pub any_destination: bool,
    /// The message is for every class.
    pub any_class: bool,
    /// The message is for every stream.
    pub any_stream: bool,
    /// Bits of the class that do not matter: 0 to 8 ones on the right.
    pub mask: u8,
    /// First parameter.
    pub parameter1: u8,
    /// Second parameter.
    pub parameter2: u8,
}

impl TrafficManagement {
    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`], [`Error::Payload`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let view = View::new(bytes)?;
        if !view.extended() {
            return Err(Error::Value { field: "xh", found: 0, rule: "1 in an extended packet" });
        }
        if u32::from(view.xtype()) != XTYPE {
            let found = view.xtype().into();
            return Err(Error::Value { field: "xtype", found, rule: "0 (traffic management)" });
        }
        no_payload(FORMAT, &bytes[8..])?;
        Ok(Self {
            cos: view.cos(),
            stream_id: view.stream_id(),
            operation: Operation::from_code(view.tm_op())?,
            any_destination: view.wildcard() & 4 != 0,
            any_class: view.wildcard() & 2 != 0,
            any_stream: view.wildcard() & 1 != 0,
            mask: view.mask(),
            parameter1: view.parameter1(),
            parameter2: view.parameter2(),
        })
    }

    /// Bytes behind the transport fields.
    #[must_use]
    pub const fn octets(self) -> usize {
        8
    }

    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(self, out: &mut [u8]) -> Result<usize, Error> {
        let View { first, second } = self.to_view();
        let all = u64::from(first) << 32 | u64::from(second);
        put(all.to_be_bytes(), &[], out)
    }

    const fn to_view(self) -> View {
        let wildcard =
            (self.any_destination as u32) << 2 | (self.any_class as u32) << 1 | self.any_stream as u32;
        View {
            first: (self.cos as u32) << field::COS.0
                | XTYPE << field::XTYPE.0
                | 1 << field::XH.0
                | (self.stream_id as u32) << field::STREAM_ID.0,
            second: (self.operation.code() as u32) << field::TM_OP.0
                | wildcard << field::WILDCARD.0
                | (self.mask as u32) << field::MASK.0
                | (self.parameter1 as u32) << field::PARAMETER1.0
                | (self.parameter2 as u32) << field::PARAMETER2.0,
        }
    }
}

impl fmt::Display for TrafficManagement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_view().fmt(f)
    }
}
