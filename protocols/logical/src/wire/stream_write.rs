//! Type 6: streaming writes (Part 1 §4.1.8).
//!
//! ```text
//! bit   0         28  29         30  31
//!      | address    | reserved | xamsbs |    after the extended address; then 8 to 256 bytes
//! ```
//!
//! There is no response, no transaction ID and no size: the packet's length tells.

use super::address::{self, Address};
use super::{Error, Payload, double_words};
use core::fmt;
use lp_serial::cost::AddressSize;
use lp_serial::field::{Field, RESERVED};

const FORMAT: &str = "SWRITE";

/// The last word of the address (Part 1 §4.1.8).
pub const FIELDS: [Field; 3] = [("address", 0..29, 16), (RESERVED, 29..30, 2), ("xamsbs", 30..32, 10)];

/// Format type.
pub const FTYPE: u8 = 6;

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a> {
    address: Address,
    reserved: bool,
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Looks at the bytes that follow the transport fields. What size addresses have is a property of the
    /// system and not of the packet.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(size: AddressSize, bytes: &'a [u8]) -> Result<Self, Error> {
        let short = Error::Short { format: FORMAT, needed: address::octets(size), found: bytes.len() };
        let (address, reserved, payload) = Address::parse(size, bytes).ok_or(short)?;
        Ok(Self { address, reserved, payload })
    }

    /// The address.
    #[must_use]
    pub const fn address(self) -> Address {
        self.address
    }

    /// The bit that senders write as 0 and receivers ignore.
    #[must_use]
    pub const fn reserved(self) -> bool {
        self.reserved
    }

    /// The data.
    #[must_use]
    pub const fn payload(self) -> &'a [u8] {
        self.payload
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SWRITE address {} {} bytes", self.address, self.payload.len())
    }
}

/// A streaming write.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct StreamWrite<P> {
    address: Address,
    payload: P,
}

impl<P: Payload> StreamWrite<P> {
    /// A write of 8 to 256 bytes in steps of 8.
    ///
    /// # Errors
    /// [`Error::Payload`].
    pub fn new(address: Address, payload: P) -> Result<Self, Error> {
        double_words(FORMAT, payload.octets())?;
        Ok(Self { address, payload })
    }

    /// Bytes behind the transport fields.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.address.octets() + self.payload.octets()
    }
}

impl<P> StreamWrite<P> {
    /// The address.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.address
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

impl<'a> StreamWrite<&'a [u8]> {
    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Payload`].
    pub fn parse(size: AddressSize, bytes: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(size, bytes)?;
        Self::new(view.address, view.payload)
    }
}

impl<P: Payload + AsRef<[u8]>> StreamWrite<P> {
    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let needed = self.octets();
        let found = out.len();
        let out = out.get_mut(..needed).ok_or(Error::Buffer { needed, found })?;
        self.address.emit(false, out);
        out[self.address.octets()..].copy_from_slice(self.payload.as_ref());
        Ok(needed)
    }
}

impl<P: Payload> fmt::Display for StreamWrite<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SWRITE address {} {} bytes", self.address, self.payload.octets())
    }
}
