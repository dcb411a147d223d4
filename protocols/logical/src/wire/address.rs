//! Addresses, and which bytes behind them a read or write touches (Part 1 §4.1.1, §4.1.2).
//!
//! ```text
//! bit   0         28  29     30  31
//!      | address    | wdptr | xamsbs |       after the extended address of 0, 16 or 32 bits
//! ```
//!
//! An address names a double-word (8 bytes). Its most significant bits are xamsbs, then the extended address.
//! A size code and wdptr together tell which bytes from there on are meant: part of the double-word, or
//! several double-words.

use super::{Error, bits};
use core::fmt;
use lp_serial::cost::AddressSize;
use lp_serial::field::Field;

/// Field positions in the last word: (shift of the last bit, width).
mod field {
    pub(super) const ADDRESS: (u32, u32) = (3, 29);
    pub(super) const WDPTR: (u32, u32) = (2, 1);
    pub(super) const XAMSBS: (u32, u32) = (0, 2);
}

/// The last word of an address of any size (Part 1 §4.1.1).
pub const FIELDS: [Field; 3] = [("address", 0..29, 16), ("wdptr", 29..30, 10), ("xamsbs", 30..32, 10)];

/// An address of 34 bits in bytes, as a number of its own. The last three bits are 0: it names a double-word.
pub const BYTE_ADDRESS: Field = ("address", 0..34, 16);

/// Address of a double-word.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Address {
    size: AddressSize,
    double_word: u64,
}

impl Address {
    /// The double-word of this number: of 31, 47 or 63 bits.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub const fn new(size: AddressSize, double_word: u64) -> Result<Self, Error> {
        let (width, rule) = match size {
            AddressSize::Bits34 => (31, "a double-word below 2^31"),
            AddressSize::Bits50 => (47, "a double-word below 2^47"),
            AddressSize::Bits66 => (63, "a double-word below 2^63"),
        };
        if double_word >> width != 0 {
            return Err(Error::Value { field: "address", found: (double_word >> 32) as u32, rule });
        }
        Ok(Self { size, double_word })
    }

    /// Size of the address in the packet.
    #[must_use]
    pub const fn size(self) -> AddressSize {
        self.size
    }

    /// Number of the double-word.
    #[must_use]
    pub const fn double_word(self) -> u64 {
        self.double_word
    }

    /// Address of its first byte.
    #[must_use]
    pub const fn byte(self) -> u128 {
        (self.double_word as u128) << 3
    }

    /// Bytes that the address takes, wdptr included.
    #[must_use]
    pub const fn octets(self) -> usize {
        octets(self.size)
    }

    /// What the rows `address` and `xamsbs` of [`FIELDS`] hold: the lower 29 bits of the number of the
    /// double-word, and its upper 2.
    #[must_use]
    pub const fn last_word(self) -> (u32, u8) {
        let width = 8 * (octets(self.size) as u32 - 4);
        let address = (self.double_word & ((1 << field::ADDRESS.1) - 1)) as u32;
        (address, (self.double_word >> field::ADDRESS.1 >> width) as u8)
    }

    /// Reads an address of this size; returns it, wdptr, and the bytes that follow.
    pub(super) fn parse(size: AddressSize, bytes: &[u8]) -> Option<(Self, bool, &[u8])> {
        let (extended, rest) = bytes.split_at_checked(octets(size) - 4)?;
        let (&last, rest) = rest.split_first_chunk()?;
        let last = u32::from_be_bytes(last);
        let above = u64::from(bits(last, field::XAMSBS));
        let above = extended.iter().fold(above, |value, &byte| value << 8 | u64::from(byte));
        let double_word = above << field::ADDRESS.1 | u64::from(bits(last, field::ADDRESS));
        Some((Self { size, double_word }, bits(last, field::WDPTR) == 1, rest))
    }

    /// Writes the address to the start of `out`, which is long enough.
    pub(super) fn emit(self, wdptr: bool, out: &mut [u8]) {
        let above = self.double_word >> field::ADDRESS.1;
        let (address, xamsbs) = self.last_word();
        let last = address << field::ADDRESS.0 | u32::from(wdptr) << field::WDPTR.0 | u32::from(xamsbs);
        // The lower bytes of the upper part: xamsbs lies above them and is cut off.
        let (extended, out) = out.split_at_mut(octets(self.size) - 4);
        let above = (above as u32).to_be_bytes();
        extended.copy_from_slice(&above[4 - extended.len()..]);
        out[..4].copy_from_slice(&last.to_be_bytes());
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.size {
            AddressSize::Bits34 => 9,
            AddressSize::Bits50 => 13,
            AddressSize::Bits66 => 17,
        };
        write!(f, "0x{:0digits$x}", self.byte())
    }
}

/// Bytes that an address of this size takes.
pub(super) const fn octets(size: AddressSize) -> usize {
    match size {
        AddressSize::Bits34 => 4,
        AddressSize::Bits50 => 6,
        AddressSize::Bits66 => 8,
    }
}

/// Bytes from a double-word address on: `octets` of them, the first in lane `lane`. Lane 0 is the first, most
/// significant, byte.
///
/// Up to 8 bytes lie in one double-word, and only some places can be named: 1 byte anywhere, 2 at even lanes,
/// 4 at 0 or 4, and 3, 5, 6 and 7 at either end. More than 8 bytes begin at lane 0.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Span {
    pub(super) lane: u8,
    pub(super) octets: u16,
}

/// Spans up to 8 bytes by size code: (lane, octets) for wdptr 0, then for wdptr 1.
const PARTS: [[(u8, u16); 2]; 11] = [
    [(0, 1), (4, 1)],
    [(1, 1), (5, 1)],
    [(2, 1), (6, 1)],
    [(3, 1), (7, 1)],
    [(0, 2), (4, 2)],
    [(0, 3), (5, 3)],
    [(2, 2), (6, 2)],
    [(0, 5), (3, 5)],
    [(0, 4), (4, 4)],
    [(0, 6), (2, 6)],
    [(0, 7), (1, 7)],
];

/// Bytes of a read of whole double-words, by (code - 11) and wdptr.
const READ_SIZES: [[u16; 2]; 5] = [[8, 16], [32, 64], [96, 128], [160, 192], [224, 256]];

/// Whether a write can announce so many bytes; the other codes are reserved.
const fn is_write_size(octets: u16) -> bool {
    !matches!(octets, 96 | 160 | 192 | 224)
}

const FIRST_WHOLE_CODE: u8 = 0b1011;

impl Span {
    /// One double-word.
    pub const DOUBLE_WORD: Self = Self { lane: 0, octets: 8 };

    /// Two double-words.
    pub const TWO_DOUBLE_WORDS: Self = Self { lane: 0, octets: 16 };

    /// The bytes of a read: 1 to 8, 16, 32, 64, 96 and so on to 256 (Table 4-3).
    ///
    /// # Errors
    /// [`Error::Value`] if no size code means these bytes.
    pub fn read(lane: u8, octets: u16) -> Result<Self, Error> {
        let span = Self { lane, octets };
        match span.code() {
            Some(_) => Ok(span),
            None => Err(Error::Value {
                field: "size",
                found: octets.into(),
                rule: "a number and place of bytes that a size code can name",
            }),
        }
    }

    /// The bytes of a write, or the size that is announced for more than 8: 1 to 8, 16, 32, 64, 128, 256
    /// (Table 4-4).
    ///
    /// # Errors
    /// [`Error::Value`] if no size code means these bytes.
    pub fn write(lane: u8, octets: u16) -> Result<Self, Error> {
        match Self::read(lane, octets) {
            Ok(span) if !is_write_size(octets) => Err(Error::Value {
                field: "size",
                found: span.octets.into(),
                rule: "at most 64, 128 or 256 bytes in a write",
            }),
            named => named,
        }
    }

    /// The smallest span from lane 0 on that a write of `octets` whole double-words (8 to 256 bytes) can
    /// announce.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub fn announced(octets: u16) -> Result<Self, Error> {
        let sizes = [8, 16, 32, 64, 128, 256];
        match sizes.into_iter().find(|&size| octets <= size) {
            Some(size) if octets > 0 && octets.is_multiple_of(8) => Ok(Self { lane: 0, octets: size }),
            _ => Err(Error::Value {
                field: "size",
                found: octets.into(),
                rule: "8 to 256 bytes in steps of 8",
            }),
        }
    }

    /// `octets` bytes from lane 0 on, whether or not a size code can name them.
    pub(crate) const fn whole(octets: u16) -> Self {
        Self { lane: 0, octets }
    }

    /// Lane of the first byte, 0..=7.
    #[must_use]
    pub const fn lane(self) -> u8 {
        self.lane
    }

    /// How many bytes.
    #[must_use]
    pub const fn octets(self) -> u16 {
        self.octets
    }

    /// Bytes of payload that carry them: whole double-words.
    #[must_use]
    pub const fn payload_octets(self) -> u16 {
        self.octets.next_multiple_of(8)
    }

    /// Whether an atomic operation can work on them: 1, 2 or 4 bytes, aligned to their number.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self.octets, 1 | 2 | 4)
    }

    /// What `rdsize` (0..=15) and `wdptr` mean; all 32 combinations mean something.
    pub(super) const fn from_read_code(code: u8, wdptr: bool) -> Self {
        let half = wdptr as usize;
        if code < FIRST_WHOLE_CODE {
            let (lane, octets) = PARTS[code as usize][half];
            return Self { lane, octets };
        }
        Self { lane: 0, octets: READ_SIZES[(code & 0xF) as usize - FIRST_WHOLE_CODE as usize][half] }
    }

    /// What `wrsize` (0..=15) and `wdptr` mean.
    pub(super) const fn from_write_code(code: u8, wdptr: bool) -> Result<Self, Error> {
        let span = Self::from_read_code(code, wdptr);
        if is_write_size(span.octets) {
            return Ok(span);
        }
        let rule = "with this wdptr a size that is not reserved";
        Err(Error::Value { field: "wrsize", found: code as u32, rule })
    }

    /// Size code and wdptr, if there are any for these bytes.
    pub(super) const fn code(self) -> Option<(u8, bool)> {
        Some(match (self.lane, self.octets) {
            (lane @ 0..=7, 1) => (lane & 3, lane >= 4),
            (lane @ (0 | 4), 2) => (0b0100, lane == 4),
            (lane @ (2 | 6), 2) => (0b0110, lane == 6),
            (lane @ (0 | 5), 3) => (0b0101, lane == 5),
            (lane @ (0 | 4), 4) => (0b1000, lane == 4),
            (lane @ (0 | 3), 5) => (0b0111, lane == 3),
            (lane @ (0 | 2), 6) => (0b1001, lane == 2),
            (lane @ (0 | 1), 7) => (0b1010, lane == 1),
            (0, 8) => (0b1011, false),
            (0, 16) => (0b1011, true),
            (0, 32) => (0b1100, false),
            (0, 64) => (0b1100, true),
            (0, 96) => (0b1101, false),
            (0, 128) => (0b1101, true),
            (0, 160) => (0b1110, false),
            (0, 192) => (0b1110, true),
            (0, 224) => (0b1111, false),
            (0, 256) => (0b1111, true),
            _ => return None,
        })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.octets)?;
        if self.octets < 8 { write!(f, " from lane {}", self.lane) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeMap;
    use std::string::ToString;

    /// wdptr, size code, lanes of the double-word from 0 on (Part 1 Tables 4-3 and 4-4, up to 8 bytes).
    const LANES: [(bool, u8, u8); 23] = [
        (false, 0b0000, 0b1000_0000),
        (false, 0b0001, 0b0100_0000),
        (false, 0b0010, 0b0010_0000),
        (false, 0b0011, 0b0001_0000),
        (true, 0b0000, 0b0000_1000),
        (true, 0b0001, 0b0000_0100),
        (true, 0b0010, 0b0000_0010),
        (true, 0b0011, 0b0000_0001),
        (false, 0b0100, 0b1100_0000),
        (false, 0b0101, 0b1110_0000),
        (false, 0b0110, 0b0011_0000),
        (false, 0b0111, 0b1111_1000),
        (true, 0b0100, 0b0000_1100),
        (true, 0b0101, 0b0000_0111),
        (true, 0b0110, 0b0000_0011),
        (true, 0b0111, 0b0001_1111),
        (false, 0b1000, 0b1111_0000),
        (true, 0b1000, 0b0000_1111),
        (false, 0b1001, 0b1111_1100),
        (true, 0b1001, 0b0011_1111),
        (false, 0b1010, 0b1111_1110),
        (true, 0b1010, 0b0111_1111),
        (false, 0b1011, 0b1111_1111),
    ];

    /// wdptr, size code, bytes of a read, bytes of a write (0: reserved).
    const SIZES: [(bool, u8, u16, u16); 9] = [
        (true, 0b1011, 16, 16),
        (false, 0b1100, 32, 32),
        (true, 0b1100, 64, 64),
        (false, 0b1101, 96, 0),
        (true, 0b1101, 128, 128),
        (false, 0b1110, 160, 0),
        (true, 0b1110, 192, 0),
        (false, 0b1111, 224, 0),
        (true, 0b1111, 256, 256),
    ];

    #[test]
    fn size_codes_are_those_of_the_tables() {
        for (wdptr, code, lanes) in LANES {
            let span = Span { lane: lanes.leading_zeros() as u8, octets: lanes.count_ones() as u16 };
            assert_eq!(Span::from_read_code(code, wdptr), span, "{code:04b} {wdptr}");
            assert_eq!(Span::from_write_code(code, wdptr), Ok(span), "{code:04b} {wdptr}");
            assert_eq!(span.code(), Some((code, wdptr)));
        }
        for (wdptr, code, read, write) in SIZES {
            let span = Span::from_read_code(code, wdptr);
            assert_eq!((span, span.code()), (Span::whole(read), Some((code, wdptr))));
            match Span::from_write_code(code, wdptr) {
                Ok(span) => assert_eq!(span, Span::whole(write)),
                Err(_) => assert_eq!(write, 0, "{code:04b} {wdptr}"),
            }
        }
    }

    #[test]
    fn no_other_bytes_can_be_named() {
        let named = |of: fn(u8, u16) -> Result<Span, Error>| {
            let mut counts = BTreeMap::new();
            for octets in 0..300 {
                for lane in 0..=u8::MAX {
                    if let Ok(span) = of(lane, octets) {
                        assert_eq!((span.lane(), span.octets()), (lane, octets));
                        assert!(octets > 8 || u16::from(lane) + octets <= 8, "within one double-word");
                        *counts.entry(octets).or_insert(0) += 1;
                    }
                }
            }
            counts
        };
        let parts = [(1, 8), (2, 4), (3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (8, 1)];
        let with = |sizes: &[u16]| -> BTreeMap<u16, i32> {
            parts.into_iter().chain(sizes.iter().map(|&size| (size, 1))).collect()
        };
        assert_eq!(named(Span::read), with(&[16, 32, 64, 96, 128, 160, 192, 224, 256]));
        assert_eq!(named(Span::write), with(&[16, 32, 64, 128, 256]));
    }

    #[test]
    fn a_write_announces_the_smallest_size_that_holds_it() {
        for octets in 0..300u16 {
            match Span::announced(octets) {
                Ok(span) => {
                    assert!(octets.is_multiple_of(8) && span.octets() >= octets);
                    assert!(Span::write(0, span.octets()).is_ok());
                    assert!(span.octets() < 2 * octets);
                }
                Err(_) => assert!(octets == 0 || octets > 256 || !octets.is_multiple_of(8)),
            }
        }
    }

    #[test]
    fn display() {
        let address = Address::new(AddressSize::Bits34, 0x201).unwrap();
        assert_eq!(address.to_string(), "0x000001008");
        assert_eq!(Span::read(4, 2).unwrap().to_string(), "2 bytes from lane 4");
        assert_eq!(Span::whole(96).to_string(), "96 bytes");
    }
}
