//! Big-endian fields in octet strings (Annex 2 §1.6).

use core::fmt;

/// Why a message cannot be written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum EmitError {
    /// The buffer is too short.
    Room {
        /// Octets of the message.
        needed: usize,
        /// Octets of the buffer.
        found: usize,
    },
    /// A number that its field cannot hold, or that the annex forbids there.
    Field {
        /// Name of the field.
        field: &'static str,
        /// Largest value allowed.
        max: u64,
        /// The value given.
        found: u64,
    },
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Room { needed, found } => write!(f, "buffer: {needed} octets needed, {found} given"),
            Self::Field { field, max, found } => write!(f, "{field}: at most {max}, {found} given"),
        }
    }
}

impl core::error::Error for EmitError {}

/// A field may hold at most `max`.
pub(crate) fn fits(field: &'static str, found: usize, max: usize) -> Result<(), EmitError> {
    if found > max {
        return Err(EmitError::Field { field, max: max as u64, found: found as u64 });
    }
    Ok(())
}

/// The number at octets `at..at + 2`, which the caller has checked to exist.
pub(crate) fn be16(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

/// The number at octets `at..at + 4`, which the caller has checked to exist.
pub(crate) fn be32(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}

/// Fills a buffer from the front.
pub(crate) struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Writer<'a> {
    /// A writer for a message of exactly `needed` octets.
    pub(crate) fn new(out: &'a mut [u8], needed: usize) -> Result<Self, EmitError> {
        let found = out.len();
        match out.get_mut(..needed) {
            Some(out) => Ok(Self { out, at: 0 }),
            None => Err(EmitError::Room { needed, found }),
        }
    }

    pub(crate) fn octets(&mut self, octets: &[u8]) -> &mut Self {
        self.out[self.at..self.at + octets.len()].copy_from_slice(octets);
        self.at += octets.len();
        self
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.octets(&[value])
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.octets(&value.to_be_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.octets(&value.to_be_bytes())
    }

    /// Zeros to the end of the message. Returns its length.
    pub(crate) fn finish(&mut self) -> usize {
        self.out[self.at..].fill(0);
        self.out.len()
    }
}
