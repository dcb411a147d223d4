//! Lower layers (Annex A): how an operation lies in the frames of a medium.
//!
//! Each module has a total `View` of the fields in front of the operation and a `Frame` that is valid:
//! `parse`
//! takes the padding off by the lower layer's own length field, `emit` writes the frame. What the draft
//! leaves
//! to the medium (micropacket control bits, Ethernet FCS, ATM cell headers, Fibre Channel frame headers) is
//! no part of a frame here.
//!
//! | medium | in front of the header | largest STU | Control | Data |
//! |---|---|---|---|---|
//! | [HIPPI-6400-PH](hippi6400) | 24 | 2^31, 2^17 on D 1, 2 | VC0 | VC1 to VC3 |
//! | [HIPPI-FP](hippi_fp) | 32 | the same | one link | one link |
//! | [Ethernet 802.3](ethernet) | 22 | 1 024 | one FIFO | one FIFO |
//! | [ATM LAN emulation](lane) 802.3 | 24 | 8 192 | VCC | VCC |
//! | ATM LAN emulation DIX | 24 | 1 024 | VCC | VCC |
//! | ATM LAN emulation Token Ring 4, 16 | 24 | 4 096, 16 384 | VCC | VCC |
//! | [Fibre Channel FC-LE](fibre_channel) | 24 | 2^23 | one FIFO | one FIFO |

pub mod aal5;
pub mod dix;
pub mod ethernet;
pub mod fibre_channel;
pub mod hippi6400;
pub mod hippi_fp;
pub mod lane;

use crate::wire::HEADER_BYTES;
use crate::wire::OPTIONAL_PAYLOAD_BYTES;
use crate::wire::flags::DataChannel;
use crate::wire::header::Field;
use crate::wire::operation::Op;
use core::fmt;

/// EtherType of Scheduled Transfer in LLC/SNAP and DIX headers (5.2.6).
pub const ETHER_TYPE: u16 = 0x8181;

/// LLC/SNAP header that marks Scheduled Transfer: DSAP, SSAP, Ctl, Org, EtherType.
pub const SNAP: [u8; 8] = [0xAA, 0xAA, 0x03, 0, 0, 0, 0x81, 0x81];

/// Largest payload of any Data operation (4.2).
pub const STU_MAX_BYTES: usize = 1 << 31;

/// The two addresses of a frame, each from its own first bit; each medium has a place of its own for them.
pub const ULA_FIELDS: [Field; 2] = [("d_ula", 0..48, 16), ("s_ula", 0..48, 16)];

/// A universal LAN address.
#[derive(Clone, Copy, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ula(pub [u8; 6]);

impl fmt::Display for Ula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02X}:{b:02X}:{c:02X}:{d:02X}:{e:02X}:{g:02X}")
    }
}

impl fmt::Debug for Ula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why octets are no frame of a medium, or an operation does not fit one.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// The frame is shorter than the headers and a Schedule Header.
    Short {
        /// The medium.
        medium: Medium,
        /// Octets that are needed.
        needed: usize,
        /// Octets that there are.
        found: usize,
    },
    /// A field does not have the value that marks Scheduled Transfer.
    Field {
        /// Name of the field.
        field: &'static str,
        /// The value that was expected.
        expected: u32,
        /// The value that was found.
        found: u32,
    },
    /// The length field names more octets than there are, or fewer than an operation has.
    LengthField {
        /// Name of the field.
        field: &'static str,
        /// Octets that it may name at most.
        max: usize,
        /// Octets that it names.
        found: usize,
    },
    /// The operation is longer than the medium carries (Annex A), or no operation.
    Operation {
        /// The medium.
        medium: Medium,
        /// Longest operation.
        max: usize,
        /// Octets that were given.
        found: usize,
    },
    /// The CRC-32 of the AAL5 trailer does not match.
    Crc,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Short { medium, needed, found } => {
                write!(f, "{} frame: at least {needed} octets, {found} found", medium.name())
            }
            Self::Field { field, expected, found } => {
                write!(f, "{field}: {expected:#x} expected, {found:#x} found")
            }
            Self::LengthField { field, max, found } => {
                write!(f, "{field}: an operation within {max} octets, {found} found")
            }
            Self::Operation { medium, max, found } => write!(
                f,
                "{} operation: {HEADER_BYTES} to {max} octets, a Control operation 40 or 72, {found} given",
                medium.name()
            ),
            Self::Crc => f.write_str("AAL5 CRC-32: does not match"),
        }
    }
}

impl core::error::Error for Error {}

/// A medium of Annex A.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Medium {
    /// A.1.
    Hippi6400,
    /// A.2.
    HippiFp,
    /// A.3.
    Ethernet,
    /// A.4.1.
    Lane8023,
    /// A.4.2.
    LaneDix,
    /// A.4.3 at 4 Mbit/s.
    TokenRing4,
    /// A.4.3 at 16 Mbit/s.
    TokenRing16,
    /// A.5.
    FibreChannel,
}

impl Medium {
    /// Every medium.
    pub const ALL: [Self; 8] = [
        Self::Hippi6400,
        Self::HippiFp,
        Self::Ethernet,
        Self::Lane8023,
        Self::LaneDix,
        Self::TokenRing4,
        Self::TokenRing16,
        Self::FibreChannel,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hippi6400 => "HIPPI-6400-PH",
            Self::HippiFp => "HIPPI-FP",
            Self::Ethernet => "Ethernet 802.3",
            Self::Lane8023 => "ATM LANE 802.3",
            Self::LaneDix => "ATM LANE DIX",
            Self::TokenRing4 => "ATM LANE Token Ring 4",
            Self::TokenRing16 => "ATM LANE Token Ring 16",
            Self::FibreChannel => "Fibre Channel FC-LE",
        }
    }

    /// Exponent of the largest Max_STU that an end on this medium declares.
    #[must_use]
    pub const fn stu_exponent(self) -> u32 {
        match self {
            Self::Hippi6400 | Self::HippiFp => 31,
            Self::Ethernet | Self::LaneDix => 10,
            Self::Lane8023 => 13,
            Self::TokenRing4 => 12,
            Self::TokenRing16 => 14,
            Self::FibreChannel => 23,
        }
    }

    /// Largest payload of one Data operation in octets.
    #[must_use]
    pub const fn stu_bytes(self) -> usize {
        1 << self.stu_exponent()
    }

    /// Octets in front of the Schedule Header, without a Token Ring routing field.
    #[must_use]
    pub const fn overhead_bytes(self) -> usize {
        match self {
            Self::Hippi6400 => hippi6400::OVERHEAD_BYTES,
            Self::HippiFp => hippi_fp::OVERHEAD_BYTES,
            Self::Ethernet => ethernet::OVERHEAD_BYTES,
            Self::Lane8023 | Self::LaneDix | Self::TokenRing4 | Self::TokenRing16 => lane::OVERHEAD_BYTES,
            Self::FibreChannel => fibre_channel::OVERHEAD_BYTES,
        }
    }

    /// The medium's own channel for Control operations (`None`) or a Data Channel: virtual channel 0 to 3 on
    /// HIPPI-6400, else one of the link's FIFOs.
    #[must_use]
    pub const fn channel(self, data: Option<DataChannel>) -> u8 {
        match (self, data) {
            (Self::Hippi6400, Some(channel)) => channel.number(),
            (Self::Lane8023 | Self::LaneDix | Self::TokenRing4 | Self::TokenRing16, Some(_)) => 1,
            _ => 0,
        }
    }

    /// Whether Control and Data share one FIFO, in the order in which they were handed down.
    #[must_use]
    pub const fn single_fifo(self) -> bool {
        matches!(self, Self::HippiFp | Self::Ethernet | Self::FibreChannel)
    }

    /// Octets of a frame with an operation of `operation` octets, padding included.
    #[must_use]
    pub const fn frame_bytes(self, operation: usize) -> usize {
        let bytes = self.overhead_bytes() + operation;
        match self {
            Self::Hippi6400 => bytes.next_multiple_of(hippi6400::MICROPACKET_BYTES),
            Self::HippiFp => bytes.next_multiple_of(8),
            Self::Lane8023 | Self::LaneDix | Self::TokenRing4 | Self::TokenRing16 => aal5::pdu_bytes(bytes),
            Self::Ethernet | Self::FibreChannel => bytes,
        }
    }

    /// Checks that `operation` is one that the medium carries.
    ///
    /// # Errors
    /// [`Error::Operation`].
    pub fn fits(self, operation: &[u8]) -> Result<(), Error> {
        let found = operation.len();
        let is_data = operation.first().is_some_and(|first| first >> 3 == Op::Data as u8);
        let channel_max = match operation.get(1) {
            Some(flags) if matches!(self, Self::Hippi6400 | Self::HippiFp) && matches!(flags & 3, 1 | 2) => {
                1 << 17
            }
            _ => self.stu_bytes(),
        };
        let legal = if is_data {
            (HEADER_BYTES..=HEADER_BYTES + channel_max).contains(&found)
        } else {
            found == HEADER_BYTES || found == HEADER_BYTES + OPTIONAL_PAYLOAD_BYTES
        };
        let max = HEADER_BYTES + if is_data { channel_max } else { OPTIONAL_PAYLOAD_BYTES };
        if legal { Ok(()) } else { Err(Error::Operation { medium: self, max, found }) }
    }
}

/// Octets `at .. at + N` of a frame; the caller has checked its length.
fn octets<const N: usize>(frame: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&frame[at..at + N]);
    out
}

fn need(medium: Medium, frame: &[u8], header: usize) -> Result<(), Error> {
    let needed = header + HEADER_BYTES;
    if frame.len() < needed { Err(Error::Short { medium, needed, found: frame.len() }) } else { Ok(()) }
}

fn expect(field: &'static str, expected: u32, found: u32) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Field { field, expected, found }) }
}

/// Checks the eight octets of LLC/SNAP at `at`.
fn expect_snap(frame: &[u8], at: usize) -> Result<(), Error> {
    let [dsap, ssap, ctl, o0, o1, o2, e0, e1] = octets::<8>(frame, at);
    expect("DSAP", 0xAA, dsap.into())?;
    expect("SSAP", 0xAA, ssap.into())?;
    expect("Ctl", 0x03, ctl.into())?;
    expect("Org", 0, u32::from_be_bytes([0, o0, o1, o2]))?;
    expect("EtherType", ETHER_TYPE.into(), u16::from_be_bytes([e0, e1]).into())
}

/// The operation at `at`, of which a length field says that it ends `length` octets after `from`.
fn bounded<'a>(
    field: &'static str,
    frame: &'a [u8],
    from: usize,
    at: usize,
    length: usize,
) -> Result<&'a [u8], Error> {
    let error = Error::LengthField { field, max: frame.len().saturating_sub(from), found: length };
    let end = from.checked_add(length).ok_or(error)?;
    match frame.get(at..end) {
        Some(operation) if operation.len() >= HEADER_BYTES => Ok(operation),
        _ => Err(error),
    }
}
