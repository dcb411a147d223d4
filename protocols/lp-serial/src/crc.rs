//! The three CRCs of an 8b/10b LP-Serial link (Part 6 §2.4.2, §3.6).
//!
//! All are most significant bit first, without reflection and without a final XOR, so a good symbol or packet
//! followed by its own CRC leaves the remainder 0, and further zero bits keep it 0. [`packet`](crate::packet)
//! uses this to check a packet without knowing whether its last two bytes are padding.
//!
//! [`bitwise`] holds the shift-register form, which reads like the standard; the functions of this module do
//! the same by table and are tested against it.

/// Seed of the packet CRC-16 (Part 6 §2.4.2): all ones.
pub const CRC16_INIT: u16 = 0xFFFF;

/// Number of information bits that CRC-5 covers: bits 0-18 of the short control symbol.
pub const CRC5_BITS: u32 = 19;

/// Number of information bits that CRC-13 covers: bits 0-34 of the long control symbol.
pub const CRC13_BITS: u32 = 35;

/// Polynomial of CRC-5 without its first term.
pub const CRC5_POLY: u8 = 0x15;
/// Polynomial of CRC-13 without its first term.
pub const CRC13_POLY: u16 = 0x0525;
/// Polynomial of CRC-16 without its first term.
pub const CRC16_POLY: u16 = 0x1021;

const CRC5_TABLE: [u8; 32] = {
    let mut table = [0; 32];
    let mut index = 0;
    while index < 32 {
        table[index] = bitwise::crc5_step(0, index as u32, 5);
        index += 1;
    }
    table
};

const CRC13_TABLE: [u16; 128] = {
    let mut table = [0; 128];
    let mut index = 0;
    while index < 128 {
        table[index] = bitwise::crc13_step(0, index as u64, 7);
        index += 1;
    }
    table
};

const CRC16_TABLE: [u16; 256] = {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        table[index] = bitwise::crc16_step(0, index as u8);
        index += 1;
    }
    table
};

/// CRC-5 of the short control symbol: x^5 + x^4 + x^2 + 1, seed all ones, over the 19 information bits and
/// one extra zero bit (Part 6 §3.6).
///
/// `info` holds bits 0-18 right-aligned (bit 0 of the symbol is bit 18 of `info`); higher bits are ignored.
#[must_use]
pub const fn crc5(info: u32) -> u8 {
    // The extra zero bit makes the input exactly four steps of five bits.
    let input = (info & 0x7_FFFF) << 1;
    let mut crc = 0x1F;
    let mut shift = 20;
    while shift > 0 {
        shift -= 5;
        let chunk = (input >> shift) as u8 & 0x1F;
        crc = CRC5_TABLE[(crc ^ chunk) as usize];
    }
    crc
}

/// CRC-13 of the long control symbol: x^13 + x^10 + x^8 + x^5 + x^2 + 1, seed 0, over the 35 information bits
/// (Part 6 §3.6.3).
///
/// `info` holds bits 0-34 right-aligned; higher bits are ignored.
#[must_use]
pub const fn crc13(info: u64) -> u16 {
    let mut crc = 0u16;
    let mut shift = CRC13_BITS;
    while shift > 0 {
        shift -= 7;
        let chunk = (info >> shift) as u16 & 0x7F;
        crc = ((crc << 7) & 0x1FFF) ^ CRC13_TABLE[((crc >> 6) ^ chunk) as usize];
    }
    crc
}

/// Continues a CRC-16 over `bytes`: x^16 + x^12 + x^5 + 1; begin with [`CRC16_INIT`] (Part 6 §2.4.2).
///
/// The six ackID bits of a packet count as zero; masking them is the caller's part, because this function
/// does not know which byte is the first.
#[must_use]
pub const fn crc16(mut crc: u16, bytes: &[u8]) -> u16 {
    let mut index = 0;
    while index < bytes.len() {
        crc = (crc << 8) ^ CRC16_TABLE[((crc >> 8) as u8 ^ bytes[index]) as usize];
        index += 1;
    }
    crc
}

/// The three CRCs, one bit at a time: the reference that the fast forms are compared with.
pub mod bitwise {
    use super::{CRC5_BITS, CRC5_POLY, CRC13_BITS, CRC13_POLY, CRC16_POLY};

    /// Reference for [`crc5`](super::crc5).
    #[must_use]
    pub const fn crc5(info: u32) -> u8 {
        crc5_step(0x1F, (info & 0x7_FFFF) << 1, CRC5_BITS + 1)
    }

    /// Reference for [`crc13`](super::crc13).
    #[must_use]
    pub const fn crc13(info: u64) -> u16 {
        crc13_step(0, info, CRC13_BITS)
    }

    /// Reference for [`crc16`](super::crc16).
    #[must_use]
    pub const fn crc16(mut crc: u16, bytes: &[u8]) -> u16 {
        let mut index = 0;
        while index < bytes.len() {
            crc = crc16_step(crc, bytes[index]);
            index += 1;
        }
        crc
    }

    pub(super) const fn crc5_step(mut crc: u8, input: u32, bits: u32) -> u8 {
        let mut left = bits;
        while left > 0 {
            left -= 1;
            let feedback = (crc >> 4) ^ ((input >> left) as u8 & 1);
            crc = (crc << 1) & 0x1F;
            if feedback == 1 {
                crc ^= CRC5_POLY;
            }
        }
        crc
    }

    pub(super) const fn crc13_step(mut crc: u16, input: u64, bits: u32) -> u16 {
        let mut left = bits;
        while left > 0 {
            left -= 1;
            let feedback = (crc >> 12) ^ ((input >> left) as u16 & 1);
            crc = (crc << 1) & 0x1FFF;
            if feedback == 1 {
                crc ^= CRC13_POLY;
            }
        }
        crc
    }

    pub(super) const fn crc16_step(mut crc: u16, byte: u8) -> u16 {
        let mut left = 8;
        while left > 0 {
            left -= 1;
            let feedback = (crc >> 15) ^ ((byte >> left) as u16 & 1);
            crc <<= 1;
            if feedback == 1 {
                crc ^= CRC16_POLY;
            }
        }
        crc
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn crc5_fast_form_equals_the_reference_for_every_input() {
        for info in 0..1 << CRC5_BITS {
            assert_eq!(crc5(info), bitwise::crc5(info), "info {info:#x}");
        }
    }

    /// The CRC is linear with seed 0, so agreement on every single bit and on sums of two is agreement
    /// everywhere; the property test below samples the rest anyway.
    #[test]
    fn crc13_fast_form_equals_the_reference_on_a_basis() {
        for first in 0..CRC13_BITS {
            for second in 0..CRC13_BITS {
                let info = 1u64 << first | 1 << second;
                assert_eq!(crc13(info), bitwise::crc13(info), "info {info:#x}");
            }
        }
    }

    /// A symbol is good iff it is a multiple of the generator 0x2525 over GF(2): long division, a third way
    /// to the CRC.
    #[test]
    fn crc13_makes_the_symbol_divisible_by_its_generator() {
        for info in [0u64, 1, 2, 0x4_0000_0000, 0x7_FFFF_FFFF, 0x5_2D2D_2D2D] {
            let mut rest = info << 13 | u64::from(crc13(info));
            for bit in (13..48).rev() {
                if rest >> bit & 1 == 1 {
                    rest ^= 0x2525 << (bit - 13);
                }
            }
            assert_eq!(rest, 0, "info {info:#x}");
        }
    }

    #[test]
    fn crc16_of_a_doorbell() {
        let bytes = [0x00, 0x0A, 0x01, 0x02, 0x00, 0x03, 0xAB, 0xCD];
        assert_eq!(crc16(CRC16_INIT, &bytes), 0x5366);
        assert_eq!(bitwise::crc16(CRC16_INIT, &bytes), 0x5366);
    }

    #[test]
    fn crc16_over_its_own_value_is_zero_and_stays_zero_over_padding() {
        let bytes = [0x00, 0x0A, 0x01, 0x02, 0x00, 0x03, 0xAB, 0xCD, 0x53, 0x66];
        assert_eq!(crc16(CRC16_INIT, &bytes), 0);
        assert_eq!(crc16(0, &[0, 0]), 0);
    }

    proptest! {
        #[test]
        fn crc13_fast_form_equals_the_reference(info in 0u64..1 << CRC13_BITS) {
            prop_assert_eq!(crc13(info), bitwise::crc13(info));
        }

        #[test]
        fn crc16_fast_form_equals_the_reference(
            seed: u16, bytes in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            prop_assert_eq!(crc16(seed, &bytes), bitwise::crc16(seed, &bytes));
        }
    }
}
