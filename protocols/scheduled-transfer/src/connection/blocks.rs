//! The Blocks of a connection that wait to leave, in the order in which they were enabled.

use super::send::Outgoing;
use alloc::collections::VecDeque;
use core::ops::{Index, IndexMut};

/// Blocks in order. How many of them are silent is known at once: no other Block may leave while Slots are
/// used up, and there may be as many as a Transfer has.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Blocks {
    blocks: VecDeque<Outgoing>,
    silent: usize,
}

impl Blocks {
    pub(crate) fn push_back(&mut self, block: Outgoing) {
        self.silent += usize::from(block.silent);
        self.blocks.push_back(block);
    }

    pub(crate) fn remove(&mut self, at: usize) -> Option<Outgoing> {
        let block = self.blocks.remove(at)?;
        self.silent -= usize::from(block.silent);
        Some(block)
    }

    pub(crate) fn retain(&mut self, stays: impl FnMut(&Outgoing) -> bool) {
        self.blocks.retain(stays);
        self.silent = self.count_silent();
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Whether one of them is silent. A Block never changes in that.
    pub(crate) const fn has_silent(&self) -> bool {
        self.silent > 0
    }

    /// Whether what is known at once is so.
    pub(crate) fn is_sound(&self) -> bool {
        self.silent == self.count_silent()
    }

    fn count_silent(&self) -> usize {
        self.blocks.iter().filter(|block| block.silent).count()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Outgoing> {
        self.blocks.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Outgoing> {
        self.blocks.iter_mut()
    }
}

impl Index<usize> for Blocks {
    type Output = Outgoing;

    fn index(&self, at: usize) -> &Outgoing {
        &self.blocks[at]
    }
}

impl IndexMut<usize> for Blocks {
    fn index_mut(&mut self, at: usize) -> &mut Outgoing {
        &mut self.blocks[at]
    }
}
