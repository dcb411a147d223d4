//! A set of ports as three words, so that the hot paths neither allocate nor search.

use crate::codec::MAX_PORTS;
use core::fmt;

const WORD_BITS: u16 = 64;

/// A set of port numbers 0..192.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Ports([u64; 3]);

impl Ports {
    /// No port.
    pub const EMPTY: Self = Self([0; 3]);

    /// Ports `0..count`; every addressable port if `count` is more than 192.
    #[must_use]
    pub fn first(count: u16) -> Self {
        (0..count.min(MAX_PORTS)).collect()
    }

    /// Adds a port.
    ///
    /// # Panics
    /// If `port` is not below 192.
    pub fn insert(&mut self, port: u16) {
        assert!(port < MAX_PORTS, "a set of ports holds 0 to 191");
        self.0[usize::from(port / WORD_BITS)] |= 1 << (port % WORD_BITS);
    }

    /// Takes a port out, if it is in.
    pub fn remove(&mut self, port: u16) {
        if let Some(word) = self.0.get_mut(usize::from(port / WORD_BITS)) {
            *word &= !(1 << (port % WORD_BITS));
        }
    }

    /// Whether the port is in the set; never for a port above 191.
    #[must_use]
    pub fn contains(&self, port: u16) -> bool {
        self.0.get(usize::from(port / WORD_BITS)).is_some_and(|word| word >> (port % WORD_BITS) & 1 == 1)
    }

    /// Whether there is no port in the set.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] == 0
    }

    /// How many ports are in the set.
    #[must_use]
    pub const fn len(&self) -> u32 {
        self.0[0].count_ones() + self.0[1].count_ones() + self.0[2].count_ones()
    }

    /// The ports in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + use<> {
        let mut words = self.0;
        core::iter::from_fn(move || {
            let index = words.iter().position(|&word| word != 0)?;
            let bit = words[index].trailing_zeros();
            words[index] &= words[index] - 1;
            Some(index as u16 * WORD_BITS + bit as u16)
        })
    }

    /// The 64 ports that begin at `64 * index`, port `64 * index` in the lowest bit; `index` is 0..3.
    /// All ports of both sets.
    pub(crate) fn union(self, other: Self) -> Self {
        other.iter().fold(self, |mut all, port| {
            all.insert(port);
            all
        })
    }

    pub(crate) const fn word(&self, index: usize) -> u64 {
        self.0[index]
    }
}

impl FromIterator<u16> for Ports {
    /// # Panics
    /// If a port is not below 192.
    fn from_iter<I: IntoIterator<Item = u16>>(ports: I) -> Self {
        let mut set = Self::EMPTY;
        for port in ports {
            set.insert(port);
        }
        set
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (position, port) in self.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            write!(f, "{separator}{port}")?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    #[test]
    fn holds_each_port_and_lists_it_in_order() {
        for port in 0..MAX_PORTS {
            let mut set = Ports::from_iter([port]);
            assert_eq!(set.iter().collect::<Vec<_>>(), [port]);
            assert!((0..300).all(|other| set.contains(other) == (other == port)));
            set.remove(500);
            assert_eq!(set.len(), 1);
            set.remove(port);
            assert!(set.is_empty());
        }
        assert_eq!(Ports::first(1000).len(), 192);
        assert_eq!(Ports::from_iter([191, 0, 64]).to_string(), "{0, 64, 191}");
    }

    #[test]
    #[should_panic(expected = "0 to 191")]
    fn refuses_a_port_that_cannot_be_addressed() {
        Ports::from_iter([192]);
    }
}
