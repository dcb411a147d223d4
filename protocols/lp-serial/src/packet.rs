//! What the physical layer adds to a packet: the first bits, the CRCs, the padding (Part 6 §2.3-§2.5).
//!
//! ```text
//! bit     0      5  6   7   8  9 10 11 12     15
//!       | ackID   | VC|CRF| prio | tt  | ftype   |   transport and logical fields, data ...
//! ```
//!
//! Without CRCs a packet is a *body* of L bytes, L even. On an 8b/10b link it becomes
//!
//! * L <= 80: body, CRC-16;
//! * L > 80: bytes 0-79, CRC-16, the rest, CRC-16. The second continues the first and covers it too;
//! * then 0 or 2 zero bytes, up to a multiple of 4.
//!
//! The six ackID bits count as zero in every CRC, so a packet keeps its CRC from link to link.

use crate::crc::{CRC16_INIT, crc16};
use crate::field::Field;
use core::fmt;

/// Field positions in the first 16 bits: (shift of the last bit, width).
mod field {
    pub(super) const ACK_ID: (u32, u32) = (10, 6);
    pub(super) const VC: (u32, u32) = (9, 1);
    pub(super) const CRF: (u32, u32) = (8, 1);
    pub(super) const PRIO: (u32, u32) = (6, 2);
    pub(super) const TT: (u32, u32) = (4, 2);
    pub(super) const FTYPE: (u32, u32) = (0, 4);
}

const fn row(name: &'static str, (shift, width): (u32, u32)) -> Field {
    (name, 16 - shift - width..16 - shift, 10)
}

/// The fields of the first 16 bits (Part 6 §2.3, Part 3 §2.4).
pub const FIELDS: [Field; 6] = [
    row("ackID", field::ACK_ID),
    row("VC", field::VC),
    row("CRF", field::CRF),
    row("prio", field::PRIO),
    row("tt", field::TT),
    row("ftype", field::FTYPE),
];

/// The CRCs, each from its own first bit: the one in long packets only, and the final one (Part 6 §2.4).
pub const CRC_FIELDS: [Field; 2] = [("crc16_first", 0..16, 16), ("crc16", 0..16, 16)];

/// Which device IDs follow, by tt.
pub const TT_NAMES: [&str; 4] = ["Dev8", "Dev16", "Dev32", "reserved"];

/// Kinds of packets by ftype (Part 1 Table 4-1); types of which nothing is known here are "other".
pub const FTYPE_NAMES: [&str; 16] = [
    "other",
    "other",
    "request",
    "other",
    "other",
    "write",
    "streaming-write",
    "flow-control",
    "maintenance",
    "data-streaming",
    "doorbell",
    "message",
    "other",
    "response",
    "other",
    "other",
];

/// Bytes of a body in front of the embedded CRC; longer bodies carry two CRCs (Part 6 §2.4).
pub const FIRST_PART_BYTES: usize = 80;

/// Longest body: 16 header bytes and a 66-bit address's 4 more (32-bit device IDs), and 256 bytes of data.
pub const BODY_MAX_BYTES: usize = 276;

/// Longest packet on an 8b/10b link with CRCs and padding; 276 of them if device IDs have 8 or 16 bits.
pub const PACKET_MAX_BYTES: usize = 280;

/// Shortest body: the first 16 bits.
pub const BODY_MIN_BYTES: usize = 2;

/// Bytes of a CRC.
pub const CRC_BYTES: usize = 2;

/// The part of the first byte that CRCs cover: everything but the ackID.
const NOT_ACK_ID: u8 = 0b0000_0011;

/// Why bytes are no packet, or why a packet cannot be made.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// The body is not an even number of bytes from [`BODY_MIN_BYTES`] to [`BODY_MAX_BYTES`].
    BodyLength {
        /// Bytes that were given.
        found: usize,
    },
    /// The packet is not a multiple of 4 bytes from 4 to [`PACKET_MAX_BYTES`].
    PacketLength {
        /// Bytes that were given.
        found: usize,
    },
    /// The output buffer is too short; it is unchanged.
    Buffer {
        /// Bytes that are needed.
        needed: usize,
        /// Bytes that there are.
        found: usize,
    },
    /// The CRC after byte 79 does not match.
    FirstCrc,
    /// The CRC at the end does not match.
    FinalCrc,
    /// The packet is intact, but a body of this length does not fill it: wrong length, or padding that is not
    /// zero.
    Padding {
        /// The body length that was asked for.
        body: usize,
    },
    /// A value does not fit its field.
    Range {
        /// Name of the field.
        field: &'static str,
        /// Largest value that fits.
        max: u8,
        /// The value that was asked for.
        found: u8,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::BodyLength { found } => {
                write!(
                    f,
                    "packet body length: even and {BODY_MIN_BYTES} to {BODY_MAX_BYTES} bytes, {found} found"
                )
            }
            Self::PacketLength { found } => {
                write!(f, "packet length: a multiple of 4 from 4 to {PACKET_MAX_BYTES} bytes, {found} found")
            }
            Self::Buffer { needed, found } => {
                write!(f, "output buffer: {needed} bytes needed, {found} found")
            }
            Self::FirstCrc => write!(f, "packet CRC after byte {FIRST_PART_BYTES}: does not match"),
            Self::FinalCrc => write!(f, "packet CRC at the end: does not match"),
            Self::Padding { body } => write!(f, "packet padding: does not suit a body of {body} bytes"),
            Self::Range { field, max, found } => {
                write!(f, "packet {field}: at most {max} fits, {found} given")
            }
        }
    }
}

impl core::error::Error for Error {}

/// The first 16 bits, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View(u16);

impl View {
    /// Looks at the first two bytes.
    ///
    /// # Errors
    /// [`Error::PacketLength`] if there are fewer than two.
    pub fn new(packet: &[u8]) -> Result<Self, Error> {
        match *packet {
            [first, second, ..] => Ok(Self(u16::from_be_bytes([first, second]))),
            _ => Err(Error::PacketLength { found: packet.len() }),
        }
    }

    const fn get(self, (shift, width): (u32, u32)) -> u8 {
        (self.0 >> shift & ((1 << width) - 1)) as u8
    }

    /// The six ackID bits. A link with short control symbols uses the upper five, see
    /// [`Header::short_ack_id`].
    #[must_use]
    pub const fn ack_id(self) -> u8 {
        self.get(field::ACK_ID)
    }

    /// Whether prio and CRF name a virtual channel other than VC0.
    #[must_use]
    pub const fn vc(self) -> bool {
        self.get(field::VC) == 1
    }

    /// Critical request flow.
    #[must_use]
    pub const fn crf(self) -> bool {
        self.get(field::CRF) == 1
    }

    /// Priority, 0 (lowest) to 3.
    #[must_use]
    pub const fn prio(self) -> u8 {
        self.get(field::PRIO)
    }

    /// Transport type: 0 = 8-bit, 1 = 16-bit, 2 = 32-bit device IDs, 3 reserved.
    #[must_use]
    pub const fn tt(self) -> u8 {
        self.get(field::TT)
    }

    /// Format type, 0..=15.
    #[must_use]
    pub const fn ftype(self) -> u8 {
        self.get(field::FTYPE)
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ackID {} VC {} CRF {} prio {} tt {} ftype {}",
            self.ack_id(),
            u8::from(self.vc()),
            u8::from(self.crf()),
            self.prio(),
            self.tt(),
            self.ftype()
        )
    }
}

/// The first 16 bits of a packet, each field within its width.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Header {
    ack_id: u8,
    vc: bool,
    crf: bool,
    prio: u8,
    tt: u8,
    ftype: u8,
}

impl Header {
    /// A header with ackID 0 in VC0 without CRF: `prio` 0..=3, `tt` 0..=3, `ftype` 0..=15.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn new(prio: u8, tt: u8, ftype: u8) -> Result<Self, Error> {
        fits("prio", prio, 3)?;
        fits("tt", tt, 3)?;
        fits("ftype", ftype, 15)?;
        Ok(Self { ack_id: 0, vc: false, crf: false, prio, tt, ftype })
    }

    /// This header with other VC and CRF bits.
    #[must_use]
    pub const fn with_channel(self, vc: bool, crf: bool) -> Self {
        Self { vc, crf, ..self }
    }

    /// This header with a 6-bit ackID (long control symbols), 0..=63.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn with_ack_id(self, ack_id: u8) -> Result<Self, Error> {
        fits("ackID", ack_id, 63)?;
        Ok(Self { ack_id, ..self })
    }

    /// This header with a 5-bit ackID (short control symbols), 0..=31: it is left-justified in the six
    /// bits.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn with_short_ack_id(self, ack_id: u8) -> Result<Self, Error> {
        fits("ackID", ack_id, 31)?;
        Ok(Self { ack_id: ack_id << 1, ..self })
    }

    /// Reads the first two bytes of a packet; every value of them is a header.
    ///
    /// # Errors
    /// [`Error::PacketLength`] if there are fewer than two.
    pub fn parse(packet: &[u8]) -> Result<Self, Error> {
        let view = View::new(packet)?;
        Ok(Self {
            ack_id: view.ack_id(),
            vc: view.vc(),
            crf: view.crf(),
            prio: view.prio(),
            tt: view.tt(),
            ftype: view.ftype(),
        })
    }

    /// Writes the first two bytes of a packet.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(self, out: &mut [u8]) -> Result<(), Error> {
        let found = out.len();
        let target = out.get_mut(..2).ok_or(Error::Buffer { needed: 2, found })?;
        target.copy_from_slice(&self.to_bits().to_be_bytes());
        Ok(())
    }

    const fn to_bits(self) -> u16 {
        (self.ack_id as u16) << field::ACK_ID.0
            | (self.vc as u16) << field::VC.0
            | (self.crf as u16) << field::CRF.0
            | (self.prio as u16) << field::PRIO.0
            | (self.tt as u16) << field::TT.0
            | (self.ftype as u16) << field::FTYPE.0
    }

    /// The six ackID bits, 0..=63.
    #[must_use]
    pub const fn ack_id(self) -> u8 {
        self.ack_id
    }

    /// The ackID on a link with short control symbols, 0..=31.
    #[must_use]
    pub const fn short_ack_id(self) -> u8 {
        self.ack_id >> 1
    }

    /// Which of VC1 to VC8 the packet uses, 1..=8, or 0 for VC0 (Part 6 §2.3: prio and CRF name the VC).
    #[must_use]
    pub const fn virtual_channel(self) -> u8 {
        if self.vc { 1 + (self.prio << 1 | self.crf as u8) } else { 0 }
    }

    /// Critical request flow (part of the VC name if the VC bit is set).
    #[must_use]
    pub const fn crf(self) -> bool {
        self.crf
    }

    /// Priority, 0 (lowest) to 3 (part of the VC name if the VC bit is set).
    #[must_use]
    pub const fn prio(self) -> u8 {
        self.prio
    }

    /// Transport type, 0..=3.
    #[must_use]
    pub const fn tt(self) -> u8 {
        self.tt
    }

    /// Format type, 0..=15.
    #[must_use]
    pub const fn ftype(self) -> u8 {
        self.ftype
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        View(self.to_bits()).fmt(f)
    }
}

fn fits(field: &'static str, found: u8, max: u8) -> Result<(), Error> {
    if found > max { Err(Error::Range { field, max, found }) } else { Ok(()) }
}

/// Where the final CRC of a packet with a body of `body` bytes begins.
#[must_use]
pub const fn final_crc_at(body: usize) -> usize {
    if body > FIRST_PART_BYTES { body + CRC_BYTES } else { body }
}

/// Bytes on an 8b/10b link of a packet with a body of `body` bytes: CRCs and padding added (Part 6 §2.4,
/// §2.5).
#[must_use]
pub const fn sealed_len(body: usize) -> usize {
    let crcs = if body > FIRST_PART_BYTES { 2 } else { 1 };
    (body + crcs * CRC_BYTES).next_multiple_of(4)
}

/// Writes `body` with its CRCs and padding to the start of `out`; returns the length, [`sealed_len`]. The
/// ackID may be anything and may be changed afterwards.
///
/// # Errors
/// [`Error::BodyLength`], [`Error::Buffer`]; `out` is unchanged then.
pub fn seal(body: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    check_body_length(body.len())?;
    let needed = sealed_len(body.len());
    let found = out.len();
    let out = out.get_mut(..needed).ok_or(Error::Buffer { needed, found })?;

    let (first, rest) = body.split_at(body.len().min(FIRST_PART_BYTES));
    out[..first.len()].copy_from_slice(first);
    let mut crc = crc_of_first_part(first);
    let mut end = first.len();
    push(out, &mut end, &crc.to_be_bytes());
    if !rest.is_empty() {
        // Continued, not begun anew. The embedded CRC is covered as well, which brings the remainder to zero.
        crc = crc16(crc, &crc.to_be_bytes());
        push(out, &mut end, rest);
        push(out, &mut end, &crc16(crc, rest).to_be_bytes());
    }
    out[end..].fill(0);
    Ok(needed)
}

/// Checks length and CRCs of a packet as it came off the link, padding included. Needs no knowledge of the
/// body's length: once the remainder is zero, zero padding keeps it zero.
///
/// # Errors
/// [`Error::PacketLength`], [`Error::FirstCrc`], [`Error::FinalCrc`].
pub fn check(packet: &[u8]) -> Result<(), Error> {
    let found = packet.len();
    if !(4..=PACKET_MAX_BYTES).contains(&found) || !found.is_multiple_of(4) {
        return Err(Error::PacketLength { found });
    }
    // A body of 80 bytes makes a packet of 84, one of 82 bytes makes 88: the length tells whether there are
    // two CRCs.
    let first_part = if found > sealed_len(FIRST_PART_BYTES) { FIRST_PART_BYTES + CRC_BYTES } else { found };
    let (first, rest) = packet.split_at(first_part);
    let crc = crc_of_first_part(first);
    if rest.is_empty() {
        return if crc == 0 { Ok(()) } else { Err(Error::FinalCrc) };
    }
    if crc != 0 {
        return Err(Error::FirstCrc);
    }
    if crc16(crc, rest) == 0 { Ok(()) } else { Err(Error::FinalCrc) }
}

/// Checks a packet and takes its body of `body_len` bytes back out, into the start of `out`. The length comes
/// from the logical layer: the physical layer cannot tell a CRC of zero from padding.
///
/// # Errors
/// Those of [`check`], and [`Error::BodyLength`], [`Error::Padding`], [`Error::Buffer`]; `out` is unchanged
/// then.
pub fn unseal(packet: &[u8], body_len: usize, out: &mut [u8]) -> Result<(), Error> {
    check(packet)?;
    check_body_length(body_len)?;
    let crcs = if body_len > FIRST_PART_BYTES { 2 * CRC_BYTES } else { CRC_BYTES };
    let end = body_len + crcs;
    let padding_is_zero = packet.get(end..).is_some_and(|padding| padding.iter().all(|&byte| byte == 0));
    if sealed_len(body_len) != packet.len() || !padding_is_zero {
        return Err(Error::Padding { body: body_len });
    }
    let found = out.len();
    let out = out.get_mut(..body_len).ok_or(Error::Buffer { needed: body_len, found })?;
    let first = body_len.min(FIRST_PART_BYTES);
    out[..first].copy_from_slice(&packet[..first]);
    out[first..].copy_from_slice(&packet[first + crcs - CRC_BYTES..][..body_len - first]);
    Ok(())
}

fn check_body_length(found: usize) -> Result<(), Error> {
    if (BODY_MIN_BYTES..=BODY_MAX_BYTES).contains(&found) && found.is_multiple_of(2) {
        Ok(())
    } else {
        Err(Error::BodyLength { found })
    }
}

fn crc_of_first_part(bytes: &[u8]) -> u16 {
    match bytes {
        [first, rest @ ..] => crc16(crc16(CRC16_INIT, &[first & NOT_ACK_ID]), rest),
        [] => CRC16_INIT,
    }
}

fn push(out: &mut [u8], end: &mut usize, bytes: &[u8]) {
    out[*end..*end + bytes.len()].copy_from_slice(bytes);
    *end += bytes.len();
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn every_bit_is_one_field_of_the_table_and_read_where_it_is_written() {
        assert!(FIELDS.iter().flat_map(|(_, bits, _)| bits.clone()).eq(0..16));
        for (place, (_, bits, _)) in FIELDS.iter().enumerate() {
            let walking = bits.clone().map(|bit| 1 << (bits.end - 1 - bit));
            for value in walking.chain([crate::field::max(bits)]) {
                let mut octets = [0; 2];
                crate::field::put(&mut octets, bits, value);
                let view = View::new(&octets).unwrap();
                let flags = [view.vc(), view.crf()].map(u8::from);
                let found = [view.ack_id(), flags[0], flags[1], view.prio(), view.tt(), view.ftype()];
                let mut expected = [0; 6];
                expected[place] = value as u8;
                assert_eq!(found, expected, "{bits:?}");
                let header = Header::parse(&octets).unwrap();
                let mut again = [0; 2];
                header.emit(&mut again).unwrap();
                assert_eq!(again, octets);
            }
        }
    }
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec::Vec;

    const DOORBELL: [u8; 8] = [0x00, 0x0A, 0x01, 0x02, 0x00, 0x03, 0xAB, 0xCD];

    fn sealed(body: &[u8]) -> Vec<u8> {
        let mut out = std::vec![0xA5; sealed_len(body.len())];
        assert_eq!(seal(body, &mut out), Ok(out.len()));
        out
    }

    #[test]
    fn deconstruct_and_emit_every_header() {
        for bits in 0..=u16::MAX {
            let bytes = bits.to_be_bytes();
            let header = Header::parse(&bytes).unwrap();
            let mut out = [0xA5; 2];
            header.emit(&mut out).unwrap();
            assert_eq!(out, bytes);
            let built = Header::new(header.prio(), header.tt(), header.ftype()).unwrap();
            let built = built.with_ack_id(header.ack_id()).unwrap();
            assert_eq!(built.with_channel(bits & 0x0200 != 0, header.crf()), header);
        }
    }

    /// Shows: R2.2p6s5.6.2c0443
    #[test]
    fn header_fields() {
        let header = Header::parse(&[0xFE, 0x9A]).unwrap();
        assert_eq!(header.to_string(), "ackID 63 VC 1 CRF 0 prio 2 tt 1 ftype 10");
        assert_eq!(header.virtual_channel(), 5);
        assert_eq!(Header::parse(&DOORBELL).unwrap(), Header::new(0, 0, 10).unwrap());
        let short = Header::new(3, 2, 13).unwrap().with_short_ack_id(31).unwrap();
        assert_eq!((short.ack_id(), short.short_ack_id()), (62, 31));
    }

    #[test]
    fn header_values_that_do_not_fit_are_named() {
        let range = |field, max, found| Err(Error::Range { field, max, found });
        let header = Header::new(0, 0, 0).unwrap();
        assert_eq!(Header::new(4, 0, 0), range("prio", 3, 4));
        assert_eq!(Header::new(0, 4, 0), range("tt", 3, 4));
        assert_eq!(Header::new(0, 0, 16), range("ftype", 15, 16));
        assert_eq!(header.with_ack_id(64), range("ackID", 63, 64));
        assert_eq!(header.with_short_ack_id(32), range("ackID", 31, 32));
        assert_eq!(header.emit(&mut [0]), Err(Error::Buffer { needed: 2, found: 1 }));
        assert_eq!(Header::parse(&[0]), Err(Error::PacketLength { found: 1 }));
    }

    #[test]
    fn doorbell_is_sealed_with_its_crc_and_two_bytes_of_padding() {
        assert_eq!(sealed(&DOORBELL), [&DOORBELL[..], &[0x53, 0x66, 0, 0]].concat());
    }

    #[test]
    fn ack_id_may_change_after_sealing() {
        let mut packet = sealed(&DOORBELL);
        for ack_id in 0..64 {
            packet[0] = ack_id << 2;
            assert_eq!(check(&packet), Ok(()));
        }
        packet[0] = 0x02;
        assert_eq!(check(&packet), Err(Error::FinalCrc));
    }

    #[test]
    fn second_crc_begins_above_80_bytes() {
        // Body, packet: one CRC, then two.
        for (body, packet) in [(2, 4), (4, 8), (78, 80), (80, 84), (82, 88), (84, 88), (266, 272), (276, 280)]
        {
            assert_eq!(sealed_len(body), packet, "body {body}");
        }
        let body: Vec<u8> = (0..100).collect();
        let packet = sealed(&body);
        assert_eq!(packet[..80], body[..80]);
        assert_eq!(packet[82..102], body[80..]);
        let first = crate::crc::bitwise::crc16(CRC16_INIT, &body[..80]);
        assert_eq!(packet[80..82], first.to_be_bytes());
        // The second one is the CRC of everything before it, the first one included.
        let second = crate::crc::bitwise::crc16(CRC16_INIT, &packet[..102]);
        assert_eq!(packet[102..], second.to_be_bytes());
    }

    #[test]
    fn damage_is_found_by_the_crc_that_covers_it() {
        let packet = sealed(&[0x5A; 200]);
        for bit in 0..packet.len() * 8 {
            // The ackID is not covered, and the padding of this body is.
            if bit < 6 {
                continue;
            }
            let mut damaged = packet.clone();
            damaged[bit / 8] ^= 0x80 >> (bit % 8);
            let expected = if bit / 8 < 82 { Error::FirstCrc } else { Error::FinalCrc };
            assert_eq!(check(&damaged), Err(expected), "bit {bit}");
        }
    }

    #[test]
    fn impossible_lengths() {
        let long = [0u8; 400];
        for length in (0..400).filter(|&length| !(4..=280).contains(&length) || length % 4 != 0) {
            assert_eq!(check(&long[..length]), Err(Error::PacketLength { found: length }));
        }
        for length in (0..400).filter(|&length| !(2..=276).contains(&length) || length % 2 != 0) {
            assert_eq!(seal(&long[..length], &mut [0; 500]), Err(Error::BodyLength { found: length }));
        }
        let short = seal(&DOORBELL, &mut [0; 11]);
        assert_eq!(short, Err(Error::Buffer { needed: 12, found: 11 }));
        let packet = sealed(&DOORBELL);
        assert_eq!(unseal(&packet, 6, &mut [0; 12]), Err(Error::Padding { body: 6 }));
        assert_eq!(unseal(&packet, 12, &mut [0; 12]), Err(Error::Padding { body: 12 }));
        assert_eq!(unseal(&packet, 8, &mut [0; 7]), Err(Error::Buffer { needed: 8, found: 7 }));
    }

    #[test]
    fn errors_name_the_field_and_the_rule() {
        assert_eq!(
            Error::PacketLength { found: 6 }.to_string(),
            "packet length: a multiple of 4 from 4 to 280 bytes, 6 found"
        );
        assert_eq!(Error::FirstCrc.to_string(), "packet CRC after byte 80: does not match");
    }

    proptest! {
        #[test]
        fn unseal_gives_back_what_was_sealed(halves in proptest::collection::vec(any::<[u8; 2]>(), 1..=138)) {
            let body = halves.concat();
            let packet = sealed(&body);
            prop_assert_eq!(check(&packet), Ok(()));
            let mut out = std::vec![0xA5; body.len()];
            prop_assert_eq!(unseal(&packet, body.len(), &mut out), Ok(()));
            prop_assert_eq!(out, body);
        }

        #[test]
        fn any_bytes_are_checked_without_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..300), body_len in 0usize..400,
        ) {
            let _ = check(&bytes);
            let _ = unseal(&bytes, body_len, &mut [0; 300]);
            if let Ok(view) = View::new(&bytes) {
                prop_assert!(!view.to_string().is_empty());
            }
        }
    }
}
