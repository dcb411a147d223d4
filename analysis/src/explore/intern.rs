//! Each state once, by number.

use std::hash::{Hash, Hasher};

/// A hash that is the same in every run: multiply and rotate, word by word.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(0x9FB2_1C65_1E98_DF25);
        mixed ^ mixed >> 29
    }

    fn write(&mut self, octets: &[u8]) {
        let (words, rest) = octets.as_chunks();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(value.into());
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

const EMPTY: u32 = u32::MAX;

/// States in the order in which they were found, and a table from their hashes to their numbers.
pub(super) struct Interner<S> {
    states: Vec<S>,
    slots: Vec<u32>,
}

impl<S: Hash + Eq> Interner<S> {
    pub(super) fn new() -> Self {
        Self { states: Vec::new(), slots: vec![EMPTY; 1 << 10] }
    }

    fn hash(state: &S) -> usize {
        let mut mixer = Mixer::default();
        state.hash(&mut mixer);
        mixer.finish() as usize
    }

    /// The number of a state, and whether it is new.
    ///
    /// # Panics
    /// From 2^32 - 1 states on.
    pub(super) fn insert(&mut self, state: S) -> (u32, bool) {
        if self.states.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut slot = Self::hash(&state) & mask;
        loop {
            match self.slots[slot] {
                EMPTY => break,
                number if self.states[number as usize] == state => return (number, false),
                _ => slot = (slot + 1) & mask,
            }
        }
        let number = u32::try_from(self.states.len()).ok().filter(|&number| number != EMPTY);
        let number = number.expect("at most 2^32 - 1 states");
        self.slots[slot] = number;
        self.states.push(state);
        (number, true)
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![EMPTY; mask + 1];
        for (number, state) in self.states.iter().enumerate() {
            let mut slot = Self::hash(state) & mask;
            while slots[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            slots[slot] = number as u32;
        }
        self.slots = slots;
    }

    pub(super) fn states(&self) -> &[S] {
        &self.states
    }
}
