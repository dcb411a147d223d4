//! Ethernet 802.3 with LLC/SNAP (A.3), without FCS.
//!
//! ```text
//! D_ULA 6 | S_ULA 6 | length 2 | AA AA 03 00 00 00 81 81 | operation
//! ```
//!
//! `length` counts LLC/SNAP and the operation: 48, 80, or 48 and the payload. The shortest frame has 62
//! octets, so the medium's minimum of 60 never pads it; what a medium appends is ignored on receipt.

use super::{Error, Medium, SNAP, Ula, bounded, expect_snap, need, octets};
use alloc::vec::Vec;

/// Octets in front of the Schedule Header.
pub const OVERHEAD_BYTES: usize = 22;

const AFTER_LENGTH: usize = 14;

/// The fields in front of the operation, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    /// Looks at a frame.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(frame: &'a [u8]) -> Result<Self, Error> {
        need(Medium::Ethernet, frame, OVERHEAD_BYTES)?;
        Ok(Self(frame))
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

    /// The 802.3 length.
    #[must_use]
    pub fn length(self) -> u16 {
        u16::from_be_bytes(octets(self.0, 12))
    }
}

/// A frame.
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
    /// Reads a frame without FCS; octets behind the length are ignored.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Field`], [`Error::LengthField`].
    pub fn parse(frame: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(frame)?;
        expect_snap(frame, AFTER_LENGTH)?;
        let operation = bounded("length", frame, AFTER_LENGTH, OVERHEAD_BYTES, view.length().into())?;
        Ok(Self { d_ula: view.d_ula(), s_ula: view.s_ula(), operation })
    }

    /// Appends the frame to `out`.
    ///
    /// # Errors
    /// [`Error::Operation`] above 1 024 octets of payload; `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        Medium::Ethernet.fits(self.operation)?;
        let length = (SNAP.len() + self.operation.len()) as u16;
        out.extend_from_slice(&self.d_ula.0);
        out.extend_from_slice(&self.s_ula.0);
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&SNAP);
        out.extend_from_slice(self.operation);
        Ok(())
    }
}
