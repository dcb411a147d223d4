//! A hash of what happened, independent of who reports it first.

use crate::mix::{finish, fold};
use crate::time::Time;
use std::fmt;

/// Frozen: the first 64-bit words of the fraction of pi.
const K: [u64; 6] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
];

/// A hash of a multiset of records.
///
/// Records may be reported in any order and by any number of partitions: the sum of their mixes and their
/// number do not depend on it, and [`merge`](Self::merge) adds partial ones. Equal fingerprints mean the same
/// records, each the same number of times (up to a chance of 2^-64).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    sum: u64,
    count: u64,
}

impl Fingerprint {
    /// Of nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { sum: 0, count: 0 }
    }

    /// Adds a record: what kind of thing happened, when, and two words of detail.
    #[inline]
    pub fn record(&mut self, kind: u32, time: Time, a: u64, b: u64) {
        self.sum = self.sum.wrapping_add(mix(kind, time, a, b));
        self.count += 1;
    }

    /// Adds all records of another fingerprint.
    #[inline]
    pub fn merge(&mut self, other: &Fingerprint) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.count += other.count;
    }

    /// How many records were added.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The hash: sum and count in one word.
    #[must_use]
    pub const fn value(&self) -> u64 {
        finish(self.sum ^ finish(self.count ^ K[5]))
    }
}

#[inline]
const fn mix(kind: u32, time: Time, a: u64, b: u64) -> u64 {
    let first = fold(time.0 ^ K[0], kind as u64 ^ K[1]);
    let second = fold(a ^ K[2], b ^ K[3]);
    finish(fold(first ^ K[4], second ^ first.rotate_left(32)) ^ second)
}

/// 16 hexadecimal digits and the number of records: `0123456789abcdef/42`.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}/{}", self.value(), self.count)
    }
}
