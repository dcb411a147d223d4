//! Fibre Channel FC-LE (A.5): one operation is the payload of one Sequence.
//!
//! ```text
//! 10 00 D_ULA 6 | 10 00 S_ULA 6 | AA AA 03 00 00 00 81 81 | operation
//! ```
//!
//! The Network_Header (NAA 1) and LLC/SNAP stand once, at the beginning of the Sequence. It is cut into
//! frames of at most 2 112 octets, fewer if the receiver says so, and at most 65 536 of them.

use super::{Error, Medium, SNAP, Ula, expect, expect_snap, need, octets};
use alloc::vec::Vec;

/// Octets in front of the Schedule Header.
pub const OVERHEAD_BYTES: usize = 24;

/// Largest payload of a frame.
pub const FRAME_MAX_BYTES: usize = 2112;

/// Smallest limit that a receiver may set.
pub const FRAME_MIN_BYTES: usize = 128;

/// Frames of a Sequence.
pub const SEQUENCE_FRAMES: usize = 65_536;

/// NAA 1 and 12 zero bits.
const NAA: u16 = 0x1000;

/// Exponent of the largest STU for a receiver that takes `frame` octets a frame: 23, or less if 65 536 frames
/// do not hold that much and 64 octets of headers.
#[must_use]
pub const fn stu_exponent(frame: usize) -> u32 {
    match (SEQUENCE_FRAMES * frame).saturating_sub(OVERHEAD_BYTES + 40) {
        0 => 0,
        room => {
            let exponent = room.ilog2();
            if exponent < 23 { exponent } else { 23 }
        }
    }
}

/// The fields in front of the operation, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    /// Looks at a Sequence payload.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(sequence: &'a [u8]) -> Result<Self, Error> {
        need(Medium::FibreChannel, sequence, OVERHEAD_BYTES)?;
        Ok(Self(sequence))
    }

    /// D_NAA and 12 reserved bits.
    #[must_use]
    pub fn d_naa(self) -> u16 {
        u16::from_be_bytes(octets(self.0, 0))
    }

    /// Destination.
    #[must_use]
    pub fn d_ula(self) -> Ula {
        Ula(octets(self.0, 2))
    }

    /// S_NAA and 12 reserved bits.
    #[must_use]
    pub fn s_naa(self) -> u16 {
        u16::from_be_bytes(octets(self.0, 8))
    }

    /// Source.
    #[must_use]
    pub fn s_ula(self) -> Ula {
        Ula(octets(self.0, 10))
    }
}

/// A Sequence payload.
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
    /// Reads a Sequence payload.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Field`].
    pub fn parse(sequence: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(sequence)?;
        expect("D_NAA", NAA.into(), view.d_naa().into())?;
        expect("S_NAA", NAA.into(), view.s_naa().into())?;
        expect_snap(sequence, OVERHEAD_BYTES - SNAP.len())?;
        Ok(Self { d_ula: view.d_ula(), s_ula: view.s_ula(), operation: &sequence[OVERHEAD_BYTES..] })
    }

    /// Appends the Sequence payload to `out`.
    ///
    /// # Errors
    /// [`Error::Operation`] above 2^23 octets of payload; `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        Medium::FibreChannel.fits(self.operation)?;
        for ula in [self.d_ula, self.s_ula] {
            out.extend_from_slice(&NAA.to_be_bytes());
            out.extend_from_slice(&ula.0);
        }
        out.extend_from_slice(&SNAP);
        out.extend_from_slice(self.operation);
        Ok(())
    }
}

/// The frames of a Sequence for a receiver that takes `frame` octets each.
///
/// # Panics
/// If `frame` is 0.
pub fn frames(sequence: &[u8], frame: usize) -> impl Iterator<Item = &[u8]> {
    sequence.chunks(frame)
}
