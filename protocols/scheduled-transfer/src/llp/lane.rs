//! ATM LAN emulation (A.4): LE header, a LAN frame, and an [AAL5](super::aal5) trailer.
//!
//! ```text
//! 802.3       LECID 2 | D_ULA 6 | S_ULA 6 | Length 2    | LLC/SNAP 8   | operation
//! DIX         LECID 2 | D_ULA 6 | S_ULA 6 | 0x8181      | zeros 8      | operation
//! Token Ring  LECID 2 | AC 1 | FC 1 | D_ULA 6 | S_ULA 6 | [routing 2-30] | LLC/SNAP 8 | operation
//! ```
//!
//! 802.3 Length counts LLC/SNAP and the operation. From 1 536 octets on, LAN emulation proper puts 0 there
//! and the draft the true number; both are read, and [`Frame::zero_length`] says which is written.

use super::{ETHER_TYPE, Error, Medium, SNAP, Ula, aal5, bounded, expect, expect_snap, need, octets};
use crate::wire::header::Field;
use alloc::vec::Vec;

/// Octets in front of the Schedule Header, without a routing field.
pub const OVERHEAD_BYTES: usize = 24;

/// LAN emulation client identifier, in front of all others.
pub const LECID: Field = ("lecid", 0..16, 16);

/// Octets of the longest routing field of Token Ring.
pub const ROUTING_MAX_BYTES: usize = 30;

/// FC of an LLC frame with priority 0.
pub const FC_LLC: u8 = 0x40;

/// From this length on, LAN emulation writes 0.
const LENGTH_LIMIT: usize = 1536;

/// Routing information is present.
const ROUTED: u8 = 0x80;

/// The fields in front of the operation of one of the four LAN types, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a> {
    sdu: &'a [u8],
    ring: bool,
}

impl<'a> View<'a> {
    /// Looks at an SDU.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(medium: Medium, sdu: &'a [u8]) -> Result<Self, Error> {
        need(medium, sdu, OVERHEAD_BYTES)?;
        Ok(Self { sdu, ring: matches!(medium, Medium::TokenRing4 | Medium::TokenRing16) })
    }

    /// LAN emulation client identifier.
    #[must_use]
    pub fn lecid(self) -> u16 {
        u16::from_be_bytes(octets(self.sdu, 0))
    }

    /// Destination.
    #[must_use]
    pub fn d_ula(self) -> Ula {
        Ula(octets(self.sdu, if self.ring { 4 } else { 2 }))
    }

    /// Source as it stands there; on Token Ring the top bit says that routing information follows.
    #[must_use]
    pub fn s_ula(self) -> Ula {
        Ula(octets(self.sdu, if self.ring { 10 } else { 8 }))
    }

    /// 802.3 Length or DIX EtherType; `None` on Token Ring.
    #[must_use]
    pub fn length_or_type(self) -> Option<u16> {
        if self.ring { None } else { Some(u16::from_be_bytes(octets(self.sdu, 14))) }
    }

    /// FC; `None` but on Token Ring.
    #[must_use]
    pub fn frame_control(self) -> Option<u8> {
        if self.ring { Some(self.sdu[3]) } else { None }
    }

    /// Octets of routing information, from its own first octet; 0 if there is none.
    #[must_use]
    pub fn routing_bytes(self) -> usize {
        if self.ring && self.sdu[10] & ROUTED != 0 { usize::from(self.sdu[16] & 0x1F) } else { 0 }
    }
}

/// A frame of one of the four LAN types.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Frame<'a> {
    /// LAN emulation client identifier; not checked.
    pub lecid: u16,
    /// Destination.
    pub d_ula: Ula,
    /// Source.
    pub s_ula: Ula,
    /// Schedule Header and payload.
    pub operation: &'a [u8],
    /// Token Ring routing information: empty, or an even number of octets from 2 to 30 of which the first
    /// names the number. Ours sends none.
    pub routing: &'a [u8],
    /// Whether 802.3 Length is 0 from 1 536 on.
    pub zero_length: bool,
}

impl<'a> Frame<'a> {
    /// Reads a PDU of LAN type `medium`.
    ///
    /// # Errors
    /// [`Error::Crc`], [`Error::Short`], [`Error::Field`], [`Error::LengthField`]; [`Error::Operation`] for
    /// another medium.
    pub fn parse(medium: Medium, pdu: &'a [u8]) -> Result<Self, Error> {
        let sdu = aal5::sdu(pdu)?;
        let view = View::new(medium, sdu)?;
        let mut frame = Self {
            lecid: view.lecid(),
            d_ula: view.d_ula(),
            s_ula: view.s_ula(),
            operation: &sdu[OVERHEAD_BYTES..],
            routing: &[],
            zero_length: false,
        };
        let field = view.length_or_type().unwrap_or_default();
        match medium {
            Medium::Lane8023 => {
                expect_snap(sdu, 16)?;
                if field == 0 {
                    frame.zero_length = true;
                } else {
                    frame.operation = bounded("802.3 Length", sdu, 16, OVERHEAD_BYTES, field.into())?;
                }
            }
            Medium::LaneDix => expect("EtherType", ETHER_TYPE.into(), field.into())?,
            Medium::TokenRing4 | Medium::TokenRing16 => {
                // Any LLC frame, whatever its priority: 0b01xxxxxx.
                expect("FC", FC_LLC.into(), (view.frame_control().unwrap_or_default() & 0xC0).into())?;
                let routing = view.routing_bytes();
                if frame.s_ula.0[0] & ROUTED != 0 {
                    if routing < 2 || routing % 2 != 0 {
                        return Err(Error::LengthField {
                            field: "routing length",
                            max: ROUTING_MAX_BYTES,
                            found: routing,
                        });
                    }
                    frame.s_ula.0[0] &= !ROUTED;
                }
                let at = OVERHEAD_BYTES - SNAP.len() + routing;
                need(medium, sdu, at + SNAP.len())?;
                expect_snap(sdu, at)?;
                frame.routing = &sdu[16..at];
                frame.operation = &sdu[at + SNAP.len()..];
            }
            _ => return Err(Error::Operation { medium, max: 0, found: pdu.len() }),
        }
        Ok(frame)
    }

    /// Appends the PDU to `out`.
    ///
    /// # Errors
    /// [`Error::Operation`] if the operation is too long, or for another medium; [`Error::LengthField`] for
    /// routing information that is none. `out` is unchanged.
    pub fn emit(&self, medium: Medium, out: &mut Vec<u8>) -> Result<(), Error> {
        medium.fits(self.operation)?;
        let ring = matches!(medium, Medium::TokenRing4 | Medium::TokenRing16);
        if !ring && !matches!(medium, Medium::Lane8023 | Medium::LaneDix) {
            return Err(Error::Operation { medium, max: 0, found: self.operation.len() });
        }
        let routing = self.routing.len();
        let named = self.routing.first().map_or(0, |first| usize::from(first & 0x1F));
        if routing != named || !routing.is_multiple_of(2) || (routing != 0 && !ring) {
            return Err(Error::LengthField {
                field: "routing length",
                max: ROUTING_MAX_BYTES,
                found: routing,
            });
        }
        let start = out.len();
        out.extend_from_slice(&self.lecid.to_be_bytes());
        if ring {
            out.extend_from_slice(&[0, FC_LLC]);
        }
        out.extend_from_slice(&self.d_ula.0);
        out.extend_from_slice(&self.s_ula.0);
        if ring && routing != 0 {
            out[start + 10] |= ROUTED;
        }
        let length = SNAP.len() + self.operation.len();
        match medium {
            Medium::Lane8023 => {
                let zero = self.zero_length && length >= LENGTH_LIMIT;
                let length = if zero { 0 } else { length as u16 };
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(&SNAP);
            }
            Medium::LaneDix => {
                out.extend_from_slice(&ETHER_TYPE.to_be_bytes());
                out.extend_from_slice(&[0; 8]);
            }
            _ => {
                out.extend_from_slice(self.routing);
                out.extend_from_slice(&SNAP);
            }
        }
        out.extend_from_slice(self.operation);
        aal5::close(out, start);
        Ok(())
    }
}
