//! Sets of the ports of a switch. Lanes of an output are inputs, so sets of lanes are such sets, too.
//!
//! A port set is looked at many times a hop. In a fabric whose switches have at most 64 ports each is one
//! machine word; in any other all are [`PortSet`]s of three. The fabric is compiled for both ([`Ports`]), so
//! ordinary switches pay nothing for large ones.

use std::fmt::Debug;
use std::hint::select_unpredictable;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Index, IndexMut, Not};
use voq_backpressure::MAX_PORTS;

const WORD: u32 = u64::BITS;
const WORDS: usize = 3;

/// A set of ports of any switch, 0 to 191: as many as VoQ messages can name (Part 12). Sets are ordered like
/// numbers of which port p is bit p.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PortSet([u64; WORDS]);

impl PortSet {
    /// No port.
    pub const EMPTY: Self = PortSet([0; WORDS]);

    /// The set of one port.
    ///
    /// # Panics
    /// If `port` is above 191.
    pub fn of(port: u8) -> Self {
        Ports::one(port.into())
    }

    /// Whether no port is in it.
    pub fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// How many ports are in it.
    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether it has a port, 0 to 191.
    pub fn contains(self, port: u8) -> bool {
        Ports::has(self, port.into())
    }

    /// The port that is alone in it.
    pub fn sole(self) -> Option<u8> {
        (self.len() == 1).then(|| Ports::first(self) as u8)
    }

    /// It without one port.
    #[must_use]
    pub fn without(self, port: u8) -> Self {
        self & !Self::of(port)
    }

    /// Adds a port, 0 to 191.
    ///
    /// # Panics
    /// If `port` is above 191.
    pub fn insert(&mut self, port: u8) {
        self.0[usize::from(port) / WORD as usize] |= 1 << (u32::from(port) % WORD);
    }

    /// Takes the lowest port out.
    pub fn take_first(&mut self) -> Option<u8> {
        Ports::pop(self).map(|port| port as u8)
    }

    /// Its ports, rising.
    pub fn iter(self) -> impl Iterator<Item = u8> + Clone {
        Ports::members(self).map(|port| port as u8)
    }
}

/// Of these sets those of several ports, each once, in their order: what multicast packets at a port
/// stand for (VOQ-4.3-10).
pub fn of_several(sets: impl Iterator<Item = PortSet>) -> Vec<PortSet> {
    let mut sets: Vec<PortSet> = sets.filter(|set| set.len() > 1).collect();
    sets.sort_unstable();
    sets.dedup();
    sets
}

impl PartialOrd for PortSet {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PortSet {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl FromIterator<u8> for PortSet {
    fn from_iter<I: IntoIterator<Item = u8>>(ports: I) -> Self {
        let mut set = Self::EMPTY;
        ports.into_iter().for_each(|port| set.insert(port));
        set
    }
}

impl BitAnd for PortSet {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        PortSet(std::array::from_fn(|n| self.0[n] & other.0[n]))
    }
}

impl BitOr for PortSet {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        PortSet(std::array::from_fn(|n| self.0[n] | other.0[n]))
    }
}

impl BitXor for PortSet {
    type Output = Self;
    fn bitxor(self, other: Self) -> Self {
        PortSet(std::array::from_fn(|n| self.0[n] ^ other.0[n]))
    }
}

impl Not for PortSet {
    type Output = Self;
    fn not(self) -> Self {
        PortSet(self.0.map(|word| !word))
    }
}

impl BitAndAssign for PortSet {
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOrAssign for PortSet {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

/// Sets of ports, as wide as the switches of a fabric need.
pub(crate) trait Ports:
    Copy
    + Debug
    + Default
    + Eq
    + Send
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + BitAndAssign
    + BitOrAssign
{
    /// No port.
    const EMPTY: Self;
    /// Something for each port.
    type Each<T: Copy>: Index<usize, Output = T> + IndexMut<usize> + AsRef<[T]> + AsMut<[T]>;

    /// A value for each port, all alike.
    fn each<T: Copy>(value: T) -> Self::Each<T>;
    /// From a set that may be wider; its ports are known to fit.
    fn narrowed(set: PortSet) -> Self;
    /// The set of one port.
    fn one(port: u32) -> Self;
    fn has(self, port: u32) -> bool;
    fn count(self) -> u32;
    /// The lowest member; there is one.
    fn first(self) -> u32;
    fn without_first(self) -> Self;
    /// Its members from `port` on, which may be any number.
    fn starting_at(self, port: u32) -> Self;

    /// The set of one port, or none.
    #[inline(always)]
    fn one_if(port: u32, condition: bool) -> Self {
        if condition { Self::one(port) } else { Self::EMPTY }
    }

    #[inline(always)]
    fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// Takes the lowest member out.
    #[inline(always)]
    fn pop(&mut self) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let first = self.first();
        *self = self.without_first();
        Some(first)
    }

    /// Its members, rising.
    fn members(mut self) -> impl Iterator<Item = u32> + Clone {
        std::iter::from_fn(move || self.pop())
    }

    /// The first member above `pointer`, wrapping; there is one.
    #[inline(always)]
    fn next_after(self, pointer: u8) -> u32 {
        let above = self.starting_at(u32::from(pointer) + 1);
        select_unpredictable(!above.is_empty(), above, self).first()
    }
}

impl Ports for u64 {
    const EMPTY: Self = 0;
    type Each<T: Copy> = [T; WORD as usize];

    #[inline(always)]
    fn each<T: Copy>(value: T) -> Self::Each<T> {
        [value; WORD as usize]
    }

    fn narrowed(set: PortSet) -> Self {
        debug_assert_eq!(set.0[1..], [0; WORDS - 1]);
        set.0[0]
    }

    #[inline(always)]
    fn one(port: u32) -> Self {
        1 << port
    }

    #[inline(always)]
    fn one_if(port: u32, condition: bool) -> Self {
        u64::from(condition) << port
    }

    #[inline(always)]
    fn has(self, port: u32) -> bool {
        self >> port & 1 == 1
    }

    #[inline(always)]
    fn count(self) -> u32 {
        self.count_ones()
    }

    #[inline(always)]
    fn first(self) -> u32 {
        self.trailing_zeros()
    }

    #[inline(always)]
    fn without_first(self) -> Self {
        self & self.wrapping_sub(1)
    }

    #[inline(always)]
    fn starting_at(self, port: u32) -> Self {
        if port >= WORD { 0 } else { self >> port << port }
    }
}

impl Ports for PortSet {
    const EMPTY: Self = PortSet::EMPTY;
    type Each<T: Copy> = [T; WORDS * WORD as usize];

    fn each<T: Copy>(value: T) -> Self::Each<T> {
        [value; WORDS * WORD as usize]
    }

    fn narrowed(set: PortSet) -> Self {
        set
    }

    fn one(port: u32) -> Self {
        let mut words = [0; WORDS];
        words[(port / WORD) as usize] = 1 << (port % WORD);
        PortSet(words)
    }

    fn has(self, port: u32) -> bool {
        self.0.get((port / WORD) as usize).is_some_and(|word| word.has(port % WORD))
    }

    fn count(self) -> u32 {
        self.len()
    }

    fn first(self) -> u32 {
        let place = self.0.iter().position(|&word| word != 0).unwrap_or(WORDS - 1);
        place as u32 * WORD + self.0[place].trailing_zeros()
    }

    fn without_first(mut self) -> Self {
        if let Some(word) = self.0.iter_mut().find(|word| **word != 0) {
            *word = word.without_first();
        }
        self
    }

    fn starting_at(mut self, port: u32) -> Self {
        for (word, first) in self.0.iter_mut().zip((0..).step_by(WORD as usize)) {
            *word = word.starting_at(port.saturating_sub(first));
        }
        self
    }
}

const _: () = assert!(MAX_PORTS as usize == WORDS * WORD as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What a set says of its members is what an ordered set of numbers says.
    fn is_like<S: Ports>(set: S, like: &BTreeSet<u32>) {
        assert_eq!(set.members().collect::<Vec<_>>(), like.iter().copied().collect::<Vec<_>>());
        assert_eq!((set.count() as usize, set.is_empty()), (like.len(), like.is_empty()));
        assert!(
            (0..256).all(
                |port| port >= S::each(()).as_ref().len() as u32 || set.has(port) == like.contains(&port)
            )
        );
        for pointer in 0..=u8::MAX {
            let above: BTreeSet<u32> = like.range(u32::from(pointer) + 1..).copied().collect();
            assert_eq!(set.starting_at(u32::from(pointer) + 1).members().collect::<BTreeSet<_>>(), above);
            if let Some(first) = above.first().or(like.first()) {
                assert_eq!(set.next_after(pointer), *first);
            }
        }
    }

    fn set_of<S: Ports>(ports: &BTreeSet<u32>) -> S {
        ports.iter().fold(S::EMPTY, |set, &port| set | S::one(port))
    }

    proptest! {
        #[test]
        fn sets_of_one_word_and_of_three_are_sets_of_numbers(
            few in prop::collection::btree_set(0u32..64, 0..20),
            many in prop::collection::btree_set(0u32..192, 0..40),
            more in prop::collection::btree_set(0u32..192, 0..40),
        ) {
            is_like(set_of::<u64>(&few), &few);
            is_like(set_of::<PortSet>(&few), &few);
            is_like(set_of::<PortSet>(&many), &many);
            let [a, b] = [&many, &more].map(set_of::<PortSet>);
            is_like(a & b, &(&many & &more));
            is_like(a | b, &(&many | &more));
            is_like(a ^ b, &(&many ^ &more));
            is_like(a & !b, &(&many - &more));
            prop_assert_eq!(u64::narrowed(set_of(&few)), set_of::<u64>(&few));
            // The highest port in which they differ decides.
            let highest = (a ^ b).members().last();
            prop_assert_eq!(a > b, highest.is_some_and(|port| a.has(port)));
        }
    }
}
