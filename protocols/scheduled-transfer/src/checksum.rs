//! The checksum (8.3): the complement of the 16-bit one's-complement sum, first octet high.
//!
//! A Control operation is covered alone. Data operations are covered in *segments*: from the first Data of a
//! Block, or the one after the last checksum, to the Data whose Cksum is not 0. Each operation is padded to
//! an even length of its own, so that Cksum always lies on a pair; the pad is not sent.

use crate::wire::header::{CKSUM_AT, HEADER_BYTES, Header};

/// A running one's-complement sum of whole operations.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Sum(u16);

impl Sum {
    /// The sum of nothing.
    pub const ZERO: Self = Self(0);

    /// Adds `octets`, padded to an even number.
    pub fn add(&mut self, octets: &[u8]) {
        self.0 = ones_add(self.0, sum(octets));
    }

    /// The sum, 0..=0xFFFF.
    #[must_use]
    pub const fn value(self) -> u16 {
        self.0
    }

    /// Whether octets that include their Cksum are intact.
    #[must_use]
    pub const fn is_intact(self) -> bool {
        self.0 == 0xFFFF
    }

    /// The Cksum for octets that were added with Cksum 0: the complement, and 0xFFFF for 0 (8.3.1).
    #[must_use]
    pub const fn cksum(self) -> u16 {
        if self.0 == 0xFFFF { 0xFFFF } else { !self.0 }
    }
}

const fn ones_add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + carry as u16
}

/// The one's-complement sum of `octets`, padded to an even number.
fn sum(octets: &[u8]) -> u16 {
    // The sum does not depend on the byte order but for a swap at the end, and four lanes of carries that are
    // added later let it run at the speed of memory.
    let mut lanes = [0u64; 4];
    let (blocks, rest) = octets.as_chunks::<32>();
    for block in blocks {
        for (lane, pair) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
            let [a, b, c, d, e, f, g, h] = *pair;
            *lane +=
                u64::from(u32::from_le_bytes([a, b, c, d])) + u64::from(u32::from_le_bytes([e, f, g, h]));
        }
    }
    let (pairs, odd) = rest.as_chunks::<2>();
    let mut tail: u64 = pairs.iter().map(|pair| u64::from(u16::from_le_bytes(*pair))).sum();
    if let [last] = odd {
        tail += u64::from(*last);
    }
    // 2^31 octets give less than 2^62 in all lanes together.
    let mut total: u64 = lanes.iter().sum::<u64>() + tail;
    while total > 0xFFFF {
        total = (total & 0xFFFF) + (total >> 16);
    }
    (total as u16).swap_bytes()
}

/// The Cksum of an operation alone, whatever Cksum it carries: for Control operations and for segments of one
/// Data operation.
#[must_use]
pub fn of_operation(header: &Header, payload: &[u8]) -> u16 {
    let mut sum = Sum::ZERO;
    sum.add(&Header { cksum: 0, ..*header }.to_bytes());
    sum.add(payload);
    sum.cksum()
}

/// Whether a Control operation's octets are intact; without a Cksum they count as such (8.3.3).
#[must_use]
pub fn is_intact(operation: &[u8]) -> bool {
    let Some(&[high, low]) = operation.get(CKSUM_AT..CKSUM_AT + 2).and_then(|pair| pair.first_chunk()) else {
        return false;
    };
    if [high, low] == [0, 0] {
        return true;
    }
    let mut sum = Sum::ZERO;
    sum.add(operation);
    sum.is_intact()
}

/// The Cksum of an operation in which one 16-bit pair changes from `old` to `new`: what an intermediate
/// device that lowers Max_STU or Max_Block writes. 0 means none and stays.
#[must_use]
pub const fn updated(cksum: u16, old: u16, new: u16) -> u16 {
    if cksum == 0 {
        return 0;
    }
    let sum = ones_add(ones_add(!cksum, !old), new);
    if sum == 0xFFFF { 0xFFFF } else { !sum }
}

const _: () = assert!(CKSUM_AT.is_multiple_of(2) && HEADER_BYTES.is_multiple_of(2));
