//! Data that can be cut into segments and put together again.

use crate::wire::{Extent, Payload};
use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

/// A payload that the engines can cut up and put together again: bytes where they matter, an [`Extent`] where
/// only time and space do, or the owner's own handle with a length.
///
/// Two laws, for all `start` and `octets`: `part(start, octets)` has that length; and writing all consecutive
/// parts of a payload into an empty one (the default), in any order, gives the payload back, with zeros
/// behind it where the last part went beyond its end.
pub trait Divisible: Clone + Debug + Default + Eq + Hash + Payload {
    /// `octets` bytes from `start`; those beyond the end are zero.
    #[must_use]
    fn part(&self, start: usize, octets: usize) -> Self;

    /// Overwrites from `start` with `part`, and grows (with zeros in a gap) as far as that needs.
    fn write(&mut self, start: usize, part: &Self);
}

impl Divisible for Vec<u8> {
    fn part(&self, start: usize, octets: usize) -> Self {
        let there = self.get(start..).unwrap_or(&[]);
        let mut part = Self::with_capacity(octets);
        part.extend_from_slice(&there[..there.len().min(octets)]);
        part.resize(octets, 0);
        part
    }

    fn write(&mut self, start: usize, part: &Self) {
        let end = start + part.len();
        if self.len() < end {
            self.resize(end, 0);
        }
        self[start..end].copy_from_slice(part);
    }
}

impl Divisible for Extent {
    fn part(&self, _start: usize, octets: usize) -> Self {
        Self(octets as u32)
    }

    fn write(&mut self, start: usize, part: &Self) {
        self.0 = self.0.max(start as u32 + part.0);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec;

    proptest! {
        /// The laws of the trait, for both forms at once: they agree in every length.
        #[test]
        fn parts_in_any_order_make_the_whole(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            size in 1usize..40,
            order in proptest::collection::vec(any::<u64>(), 200),
        ) {
            let total = bytes.len().next_multiple_of(size);
            let mut starts: Vec<usize> = (0..total / size).map(|index| index * size).collect();
            starts.sort_by_key(|&start| order[start / size]);

            let (mut whole, mut extent) = (vec![], Extent(0));
            for start in starts {
                let part = bytes.part(start, size);
                prop_assert_eq!(part.len(), size);
                whole.write(start, &part);
                extent.write(start, &Extent(bytes.len() as u32).part(start, size));
                prop_assert_eq!(extent.octets(), whole.len());
            }
            prop_assert_eq!(&whole[..bytes.len()], &bytes[..]);
            prop_assert!(whole[bytes.len()..].iter().all(|&byte| byte == 0));
            prop_assert_eq!(whole.len(), total);
        }
    }
}
