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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn of(records: &[(u32, u64, u64, u64)]) -> Fingerprint {
        let mut fingerprint = Fingerprint::new();
        records.iter().for_each(|&(kind, time, a, b)| fingerprint.record(kind, Time(time), a, b));
        fingerprint
    }

    #[test]
    fn golden() {
        assert_eq!(of(&[]).value(), 0x3f72_b1f8_7c90_b26e);
        assert_eq!(of(&[(0, 0, 0, 0)]).value(), 0xeef8_54ae_f9ac_58d1);
        assert_eq!(of(&[(1, 2, 3, 4), (5, 6, 7, 8)]).to_string(), "4b278d69a69cdebd/2");
    }

    #[test]
    fn order_and_partition_do_not_matter_but_multiplicity_does() {
        let records = [(1, 2, 3, 4), (1, 2, 4, 3), (7, 0, 0, 0), (1, 2, 3, 4)];
        let reversed: Vec<_> = records.iter().rev().copied().collect();
        assert_eq!(of(&records), of(&reversed));
        let mut merged = of(&records[..1]);
        merged.merge(&of(&records[1..]));
        assert_eq!(merged, of(&records));
        assert_eq!(merged.count(), 4);
        assert_ne!(of(&records).value(), of(&records[..3]).value());
        assert_ne!(of(&[(1, 2, 3, 4)]).value(), of(&[(1, 2, 3, 4), (1, 2, 3, 4)]).value());
    }

    #[test]
    fn small_and_swapped_fields_stay_apart() {
        let mut seen = BTreeSet::new();
        for kind in 0..8 {
            for time in 0..8 {
                for a in 0..8 {
                    for b in 0..8 {
                        assert!(seen.insert(mix(kind, Time(time), a, b)));
                    }
                }
            }
        }
    }

    /// Sums of mixes must not cancel when fields move between records: every single bit of every field
    /// changes about half of the mix.
    #[test]
    fn every_input_bit_reaches_half_of_the_output() {
        let flips = |change: &dyn Fn(u64) -> (u32, Time, u64, u64)| {
            let total: u32 = (0..1_000u64)
                .map(|n| {
                    let (kind, time, a, b) = change(n);
                    (mix(n as u32, Time(n * 77), n << 7, n * n) ^ mix(kind, time, a, b)).count_ones()
                })
                .sum();
            f64::from(total) / 1_000.0
        };
        for bit in 0..64 {
            let one = 1u64 << bit;
            let means = [
                flips(&|n| (n as u32 ^ one as u32 ^ (one >> 32) as u32, Time(n * 77), n << 7, n * n)),
                flips(&|n| (n as u32, Time((n * 77) ^ one), n << 7, n * n)),
                flips(&|n| (n as u32, Time(n * 77), n << 7 ^ one, n * n)),
                flips(&|n| (n as u32, Time(n * 77), n << 7, (n * n) ^ one)),
            ];
            for mean in means {
                assert!((31.0..33.0).contains(&mean), "bit {bit} flips {mean} bits on average");
            }
        }
    }
}
