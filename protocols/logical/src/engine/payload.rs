//! What a packet carries: bytes where they matter, a length where only time and space do.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

/// Data that the engines cut up and put together again. They look at nothing but its length.
///
/// Two laws, for all `start` and `len`: `part(start, len).len() == len`; and writing all consecutive parts of
/// a payload into an empty one, in any order, gives the payload back, with zeros behind it where the last part
/// went beyond its end.
pub trait Payload: Clone + Debug + Default + Eq + Hash {
    /// Length in bytes.
    fn len(&self) -> u32;

    /// Whether there is nothing.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `len` bytes from `start`; those beyond the end are zero.
    #[must_use]
    fn part(&self, start: u32, len: u32) -> Self;

    /// Overwrites from `start` with `part`, and grows (with zeros in a gap) as far as that needs.
    fn write(&mut self, start: u32, part: &Self);
}

impl Payload for Vec<u8> {
    fn len(&self) -> u32 {
        self.len() as u32
    }

    fn part(&self, start: u32, len: u32) -> Self {
        let (start, len) = (start as usize, len as usize);
        let there = self.get(start..).unwrap_or(&[]);
        let mut part = Self::with_capacity(len);
        part.extend_from_slice(&there[..there.len().min(len)]);
        part.resize(len, 0);
        part
    }

    fn write(&mut self, start: u32, part: &Self) {
        let start = start as usize;
        let end = start + part.len();
        if self.len() < end {
            self.resize(end, 0);
        }
        self[start..end].copy_from_slice(part);
    }
}

/// A payload of which only the number of bytes is known.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Length(pub u32);

impl Payload for Length {
    fn len(&self) -> u32 {
        self.0
    }

    fn part(&self, _start: u32, len: u32) -> Self {
        Self(len)
    }

    fn write(&mut self, start: u32, part: &Self) {
        self.0 = self.0.max(start + part.0);
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
            size in 1u32..40,
            order in proptest::collection::vec(any::<u64>(), 200),
        ) {
            let total = (bytes.len() as u32).next_multiple_of(size);
            let mut starts: Vec<u32> = (0..total / size).map(|index| index * size).collect();
            starts.sort_by_key(|&start| order[(start / size) as usize]);

            let (mut whole, mut length) = (vec![], Length(0));
            for start in starts {
                let part = bytes.part(start, size);
                prop_assert_eq!(Payload::len(&part), size);
                whole.write(start, &part);
                length.write(start, &Length(bytes.len() as u32).part(start, size));
                prop_assert_eq!(length.0, Payload::len(&whole));
            }
            prop_assert_eq!(&whole[..bytes.len()], &bytes[..]);
            prop_assert!(whole[bytes.len()..].iter().all(|&byte| byte == 0));
            prop_assert_eq!(whole.len() as u32, total);
        }
    }
}
