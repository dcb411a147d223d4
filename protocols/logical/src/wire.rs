//! Packet formats.

pub mod address;
pub mod doorbell;
pub mod flow_control;
pub mod maintenance;
pub mod message;
pub mod packet;
pub mod read;
pub mod response;
pub mod stream;
pub mod stream_write;
pub mod traffic_management;
pub mod transport;
pub mod write;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

pub use packet::{Body, Packet};
pub use transport::{Priority, Transport};

/// Most data that one packet carries, in bytes (Part 1 §2.2).
pub const PAYLOAD_MAX_BYTES: usize = 256;

/// The data of a packet: bytes, or whatever its owner has in their place. All that formats and engines ask
/// of it is its length.
pub trait Payload {
    /// Its length in bytes.
    fn octets(&self) -> usize;
}

impl Payload for &[u8] {
    fn octets(&self) -> usize {
        self.len()
    }
}

impl<const N: usize> Payload for [u8; N] {
    fn octets(&self) -> usize {
        N
    }
}

impl Payload for Vec<u8> {
    fn octets(&self) -> usize {
        self.len()
    }
}

impl Payload for Box<[u8]> {
    fn octets(&self) -> usize {
        self.len()
    }
}

/// A payload of which only the length matters.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Extent(pub u32);

impl Payload for Extent {
    fn octets(&self) -> usize {
        self.0 as usize
    }
}

/// Why bytes are no packet, or why a packet cannot be made.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// There are fewer bytes than the header has.
    Short {
        /// Name of the format.
        format: &'static str,
        /// Bytes of the header.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// The output buffer is too short; it is unchanged.
    Buffer {
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// A value does not fit its field.
    Range {
        /// Name of the field.
        field: &'static str,
        /// Largest value that fits.
        max: u32,
        /// The value that was asked for.
        found: u32,
    },
    /// A field has a value that the standard reserves, or one that does not go with the other fields.
    Value {
        /// Name of the field.
        field: &'static str,
        /// The value that was found.
        found: u32,
        /// What may stand there.
        rule: &'static str,
    },
    /// The format, or its size fields, do not allow a payload of this length.
    Payload {
        /// Name of the format.
        format: &'static str,
        /// Bytes of the payload.
        found: usize,
        /// What lengths are allowed.
        rule: &'static str,
    },
    /// What the physical layer found.
    Physical(lp_serial::packet::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Short { format, needed, found } => {
                write!(f, "{format} header: {needed} bytes, {found} found")
            }
            Self::Buffer { needed, found } => {
                write!(f, "output buffer: {needed} bytes needed, {found} found")
            }
            Self::Range { field, max, found } => write!(f, "{field}: at most {max} fits, {found} given"),
            Self::Value { field, found, rule } => write!(f, "{field}: {rule}, {found} found"),
            Self::Payload { format, found, rule } => {
                write!(f, "{format} payload: {rule}, {found} bytes found")
            }
            Self::Physical(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

impl From<lp_serial::packet::Error> for Error {
    fn from(error: lp_serial::packet::Error) -> Self {
        Self::Physical(error)
    }
}

/// The field of `word` whose last bit is shifted by so much and that is so wide.
const fn bits(word: u32, (shift, width): (u32, u32)) -> u32 {
    word >> shift & ((1 << width) - 1)
}

pub(crate) const fn fits(field: &'static str, found: u32, max: u32) -> Result<(), Error> {
    if found > max { Err(Error::Range { field, max, found }) } else { Ok(()) }
}

/// The first `N` bytes, which are the header of `format`, and the rest.
fn header<'a, const N: usize>(
    format: &'static str,
    bytes: &'a [u8],
) -> Result<(&'a [u8; N], &'a [u8]), Error> {
    bytes.split_first_chunk().ok_or(Error::Short { format, needed: N, found: bytes.len() })
}

/// The complaint about bytes behind a header that has no payload.
fn no_payload(format: &'static str, rest: &[u8]) -> Result<(), Error> {
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Error::Payload { format, found: rest.len(), rule: "none is allowed" })
    }
}

/// Writes a header and what follows it to the start of `out`; returns the length.
fn put<const N: usize>(header: [u8; N], payload: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let needed = N + payload.len();
    let found = out.len();
    let out = out.get_mut(..needed).ok_or(Error::Buffer { needed, found })?;
    out[..N].copy_from_slice(&header);
    out[N..].copy_from_slice(payload);
    Ok(needed)
}

/// Whether `octets` is a payload of 8 to 256 bytes in steps of 8.
const fn double_words(format: &'static str, octets: usize) -> Result<(), Error> {
    if octets == 0 || octets > PAYLOAD_MAX_BYTES || !octets.is_multiple_of(8) {
        return Err(Error::Payload { format, found: octets, rule: "8 to 256 bytes in steps of 8" });
    }
    Ok(())
}
