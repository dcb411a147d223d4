//! Type 10: doorbells (Part 2 §4.2).
//!
//! ```text
//! bit   0        7 8       15 16              31
//!      | reserved | srcTID   | info             |
//! ```
//!
//! The response is one of type 13 without data, [`Response::Io`](super::response::Response::Io).

use super::{Error, bits, header, no_payload, put};
use core::fmt;
use lp_serial::field::{Field, RESERVED};

/// Field positions: (shift of the last bit, width).
mod field {
    pub(super) const RESERVED: (u32, u32) = (24, 8);
    pub(super) const SRC_TID: (u32, u32) = (16, 8);
    pub(super) const INFO: (u32, u32) = (0, 16);
}

const FORMAT: &str = "DOORBELL";

/// The fields (Part 2 §4.2).
pub const FIELDS: [Field; 3] = [(RESERVED, 0..8, 2), ("srcTID", 8..16, 10), ("info", 16..32, 16)];

/// Format type.
pub const FTYPE: u8 = 10;

/// The four bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View(u32);

impl View {
    /// Looks at the bytes that follow the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let (head, _) = header::<4>(FORMAT, bytes)?;
        Ok(Self(u32::from_be_bytes(*head)))
    }

    /// The first byte, which senders write as 0 and receivers ignore.
    #[must_use]
    pub const fn reserved(self) -> u8 {
        bits(self.0, field::RESERVED) as u8
    }

    /// Transaction ID of the source.
    #[must_use]
    pub const fn src_tid(self) -> u8 {
        bits(self.0, field::SRC_TID) as u8
    }

    /// The information.
    #[must_use]
    pub const fn info(self) -> u16 {
        bits(self.0, field::INFO) as u16
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DOORBELL TID {} info {:#06x}", self.src_tid(), self.info())
    }
}

/// A doorbell.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Doorbell {
    /// Transaction ID of the source, to which the response belongs.
    pub src_tid: u8,
    /// The information; its meaning is the application's.
    pub info: u16,
}

impl Doorbell {
    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Payload`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let view = View::new(bytes)?;
        no_payload(FORMAT, &bytes[4..])?;
        Ok(Self { src_tid: view.src_tid(), info: view.info() })
    }

    /// Bytes behind the transport fields.
    #[must_use]
    pub const fn octets(self) -> usize {
        4
    }

    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(self, out: &mut [u8]) -> Result<usize, Error> {
        put(self.to_bits().to_be_bytes(), &[], out)
    }

    const fn to_bits(self) -> u32 {
        (self.src_tid as u32) << field::SRC_TID.0 | (self.info as u32) << field::INFO.0
    }
}

impl fmt::Display for Doorbell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        View(self.to_bits()).fmt(f)
    }
}
