//! HIPPI-FP on HIPPI-800 (A.2): ULP-id 0x0C, no D1 area, and the message of [`super::hippi6400`]
//! without its padding as D2 area; zeros up to a multiple of 8, which D2_Size does not count.

use super::{Error, Medium, Ula, expect, hippi6400, need, octets};
use alloc::vec::Vec;

/// Octets in front of the Schedule Header.
pub const OVERHEAD_BYTES: usize = FP_BYTES + hippi6400::OVERHEAD_BYTES;

/// ULP-id of Scheduled Transfer.
pub const ULP_ID: u8 = 0x0C;

/// Octets of a whole burst: 256 words of HIPPI-800.
pub const BURST_BYTES: usize = 1024;

const FP_BYTES: usize = 8;

/// The fields in front of the operation, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    /// Looks at a packet.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(packet: &'a [u8]) -> Result<Self, Error> {
        need(Medium::HippiFp, packet, OVERHEAD_BYTES)?;
        Ok(Self(packet))
    }

    /// ULP-id.
    #[must_use]
    pub fn ulp_id(self) -> u8 {
        self.0[0]
    }

    /// P: a D1 area is present.
    #[must_use]
    pub fn d1_present(self) -> bool {
        self.0[1] & 0x80 != 0
    }

    /// B: the D2 area begins with a burst.
    #[must_use]
    pub fn d2_on_burst(self) -> bool {
        self.0[1] & 0x40 != 0
    }

    /// D1_Area_Size in 64-bit words, 0..=255.
    #[must_use]
    pub fn d1_area_size(self) -> u8 {
        (u16::from_be_bytes(octets(self.0, 2)) >> 3) as u8
    }

    /// D2_Offset in octets, 0..=7.
    #[must_use]
    pub fn d2_offset(self) -> u8 {
        self.0[3] & 7
    }

    /// Octets of the D2 area without fill.
    #[must_use]
    pub fn d2_size(self) -> u32 {
        u32::from_be_bytes(octets(self.0, 4))
    }

    /// M_len.
    #[must_use]
    pub fn m_len(self) -> u32 {
        u32::from_be_bytes(octets(self.0, FP_BYTES + 12))
    }
}

/// A packet.
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
    /// Reads a packet; fill is ignored.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Field`], [`Error::LengthField`].
    pub fn parse(packet: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(packet)?;
        expect("ULP-id", ULP_ID.into(), view.ulp_id().into())?;
        expect("P", 0, view.d1_present().into())?;
        expect("D1_Area_Size", 0, view.d1_area_size().into())?;
        expect("D2_Offset", 0, view.d2_offset().into())?;
        let short = Error::LengthField {
            field: "D2_Size",
            max: packet.len() - FP_BYTES,
            found: view.d2_size() as usize,
        };
        let end = FP_BYTES.checked_add(view.d2_size() as usize).ok_or(short)?;
        let area = packet.get(FP_BYTES..end).ok_or(short)?;
        let message = hippi6400::Frame::parse(area)?;
        expect("D2_Size", view.m_len().wrapping_add(16), view.d2_size())?;
        Ok(Self { d_ula: message.d_ula, s_ula: message.s_ula, operation: message.operation })
    }

    /// Appends the packet to `out`.
    ///
    /// # Errors
    /// [`Error::Operation`]; `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), Error> {
        Medium::HippiFp.fits(self.operation)?;
        let start = out.len();
        let d2_size = (hippi6400::OVERHEAD_BYTES + self.operation.len()) as u32;
        out.extend_from_slice(&[ULP_ID, 0, 0, 0]);
        out.extend_from_slice(&d2_size.to_be_bytes());
        let &Self { d_ula, s_ula, operation } = self;
        hippi6400::Frame { d_ula, s_ula, operation }.emit_unpadded(out);
        out.resize(start + (out.len() - start).next_multiple_of(8), 0);
        Ok(())
    }
}

/// The bursts of a packet: all are whole but the last, which may be short (A.2).
pub fn bursts(packet: &[u8]) -> impl Iterator<Item = &[u8]> {
    packet.chunks(BURST_BYTES)
}
