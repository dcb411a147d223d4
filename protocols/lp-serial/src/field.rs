//! Tables of fields: what a message holds, and where, for whoever shows or changes one field by field.
//!
//! The wire modules of all protocols have such tables, and each is tested against the module that owns it:
//! every bit lies in exactly one row, and what is written by a row is what the module reads there.

use core::ops::Range;

/// A row: name of the field, its bits, and the base in which a number of it is written (2, 10 or 16).
///
/// Bits are counted from the first bit of the message, which is the most significant one of its first octet.
/// Bits that senders leave 0 and that mean nothing are rows with the name [`RESERVED`].
pub type Field = (&'static str, Range<u32>, u32);

/// The name of rows that mean nothing.
pub const RESERVED: &str = "reserved";

/// Largest number that so many bits hold; at most 63 bits.
#[must_use]
pub const fn max(bits: &Range<u32>) -> u64 {
    (1 << (bits.end - bits.start)) - 1
}

/// The number in these bits of `octets`; at most 63 bits.
///
/// # Panics
/// If `octets` ends before `bits`.
#[must_use]
pub fn get(octets: &[u8], bits: &Range<u32>) -> u64 {
    let (first, last) = (bits.start as usize / 8, bits.end.div_ceil(8) as usize);
    let all = octets[first..last].iter().fold(0, |all: u128, &octet| all << 8 | u128::from(octet));
    (all >> (last as u32 * 8 - bits.end)) as u64 & max(bits)
}

/// Writes a number into these bits of `octets`, and leaves all others; bits of `value` that have no room are
/// cut off.
///
/// # Panics
/// If `octets` ends before `bits`.
pub fn put(octets: &mut [u8], bits: &Range<u32>, value: u64) {
    for bit in bits.clone() {
        let mask = 0x80 >> (bit % 8);
        let octet = &mut octets[bit as usize / 8];
        *octet = if value >> (bits.end - 1 - bit) & 1 == 1 { *octet | mask } else { *octet & !mask };
    }
}

/// The rows of tables that follow each other in one message, each with its bits in the whole.
pub fn chain<'a>(tables: &'a [&'a [Field]]) -> impl Iterator<Item = Field> + 'a {
    let mut base = 0;
    tables.iter().flat_map(move |table| {
        let begin = base;
        base += table.last().map_or(0, |(_, bits, _)| bits.end);
        table.iter().map(move |(name, bits, base)| (*name, begin + bits.start..begin + bits.end, *base))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_got_and_nothing_else_changes() {
        for start in 0..20 {
            for end in start + 1..=start + 48 {
                let bits = start..end;
                for (fill, value) in [(0x00, max(&bits)), (0xFF, 0), (0xA5, 1 << (end - start - 1))] {
                    let mut octets = [fill; 9];
                    put(&mut octets, &bits, value);
                    assert_eq!(get(&octets, &bits), value, "{bits:?}");
                    let old = get(&[fill; 9], &bits);
                    put(&mut octets, &bits, old);
                    assert_eq!(octets, [fill; 9], "{bits:?}");
                }
            }
        }
    }

    #[test]
    fn tables_follow_each_other() {
        let first: &[Field] = &[("a", 0..3, 10), (RESERVED, 3..16, 2)];
        let rows = [("a", 0..3, 10), (RESERVED, 3..16, 2), ("a", 16..19, 10), (RESERVED, 19..32, 2)];
        assert!(chain(&[first, first]).eq(rows));
    }
}
