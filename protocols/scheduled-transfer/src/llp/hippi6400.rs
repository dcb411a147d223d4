//! HIPPI-6400-PH (A.1): a message of 32-octet micropackets.
//!
//! ```text
//! D_ULA 6 | S_ULA 6 | M_len 4 | AA AA 03 00 00 00 81 81 | operation | zeros up to a multiple of 32
//! ```
//!
//! The first micropacket (Type Header) ends with octets 0 to 7 of the Schedule Header, the second (Type Data)
//! holds the other 32; payload begins with the third. Control operations go on virtual channel 0, Data on the
//! one that D names.

use super::{Error, Medium, SNAP, Ula, bounded, expect_snap, need, octets};
use alloc::vec::Vec;

/// Octets of a micropacket.
pub const MICROPACKET_BYTES: usize = 32;

/// Octets in front of the Schedule Header.
pub const OVERHEAD_BYTES: usize = 24;

/// M_len counts from here.
const AFTER_M_LEN: usize = 16;

/// The fields in front of the operation, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    /// Looks at a message.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(message: &'a [u8]) -> Result<Self, Error> {
        need(Medium::Hippi6400, message, OVERHEAD_BYTES)?;
        Ok(Self(message))
    }

    /// Destination.
    #[must_use]
    pub fn d_ula(self) -> Ula {
        Ula(octets(self.0, 0))
    }

    /// Source.
    #[must_use]
    pub fn s_ula(self) -> Ula {
        Ula(octets(self.0, 6))
    }

    /// Octets after M_len without padding.
    #[must_use]
    pub fn m_len(self) -> u32 {
        u32::from_be_bytes(octets(self.0, 12))
    }
}

/// A message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Frame<'a> {
    /// Destination.
    pub d_ula: Ula,
    /// Source.
    pub s_ula: Ula,
    /// Schedule Header and payload.
    pub operation: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads a message; padding is ignored.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Field`], [`Error::LengthField`].
    pub fn parse(message: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(message)?;
        expect_snap(message, AFTER_M_LEN)?;
        let operation = bounded("M_len", message, AFTER_M_LEN, OVERHEAD_BYTES, view.m_len() as usize)?;
        Ok(Self { d_ula: view.d_ula(), s_ula: view.s_ula(), operation })
    }

    /// Appends the message to `out`.
    ///
    /// # Errors
    /// [`Error::Operation`]; `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        Medium::Hippi6400.fits(self.operation)?;
        let start = out.len();
        self.emit_unpadded(out);
        out.resize(start + (out.len() - start).next_multiple_of(MICROPACKET_BYTES), 0);
        Ok(())
    }

    /// The message without padding, which is also the D2 area of HIPPI-FP.
    pub(super) fn emit_unpadded(&self, out: &mut Vec<u8>) {
        // An operation that fits has at most 40 + 2^31 octets.
        let m_len = (SNAP.len() + self.operation.len()) as u32;
        out.extend_from_slice(&self.d_ula.0);
        out.extend_from_slice(&self.s_ula.0);
        out.extend_from_slice(&m_len.to_be_bytes());
        out.extend_from_slice(&SNAP);
        out.extend_from_slice(self.operation);
    }
}
