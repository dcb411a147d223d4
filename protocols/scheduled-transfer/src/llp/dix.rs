//! DIX Ethernet (A.4.2) without the LAN emulation header, for networks whose frames are longer than those of
//! Ethernet and say themselves where they end (ST-D106).
//!
//! ```text
//! D_ULA 6 | S_ULA 6 | 81 81 | zeros 8 | operation
//! ```
//!
//! Where [`ethernet`](super::ethernet) has a length of at most 1 112, this has an EtherType, so a receiver
//! tells the two apart.

use super::{ETHER_TYPE, Error, Medium, Ula, expect, need, octets};
use alloc::vec::Vec;

/// Octets in front of the Schedule Header: as many as those of an 802.3 frame.
pub const OVERHEAD_BYTES: usize = super::ethernet::OVERHEAD_BYTES;

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
    /// Whether a frame has an EtherType, and no length.
    #[must_use]
    pub fn is(frame: &[u8]) -> bool {
        frame.get(12..14) == Some(&ETHER_TYPE.to_be_bytes())
    }

    /// Reads a frame that ends with its operation.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Field`].
    pub fn parse(frame: &'a [u8]) -> Result<Self, Error> {
        need(Medium::LaneDix, frame, OVERHEAD_BYTES)?;
        expect("EtherType", ETHER_TYPE.into(), u16::from_be_bytes(octets(frame, 12)).into())?;
        let (d_ula, s_ula) = (Ula(octets(frame, 0)), Ula(octets(frame, 6)));
        Ok(Self { d_ula, s_ula, operation: &frame[OVERHEAD_BYTES..] })
    }

    /// Appends the frame to `out`.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.d_ula.0);
        out.extend_from_slice(&self.s_ula.0);
        out.extend_from_slice(&ETHER_TYPE.to_be_bytes());
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(self.operation);
    }
}
