//! Finding the extended features blocks of another device (Part 1 §5.3).
//!
//! The owner carries each [`read`](Discovery::poll_transmit) to the device and brings the answer back. One
//! read is under way at a time.

use super::{feature, offset};
use crate::wire::maintenance::Access;
use alloc::vec::Vec;

/// Headers that are read before a list counts as endless.
pub const WALK_MAX: usize = 64;

/// A block that was found.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Found {
    /// Byte offset of its header in the register space.
    pub offset: u16,
    /// Extended features ID.
    pub id: u16,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum End {
    /// The device has no list.
    NoList,
    /// A block was the last one.
    Complete,
    /// A pointer that leaves the extended features space or is no multiple of 8. It counts as the end of the
    /// list.
    BadPointer {
        /// The pointer.
        found: u16,
    },
    /// A pointer to a block that was already visited.
    Loop {
        /// The pointer.
        to: u16,
    },
    /// The list goes on after [`WALK_MAX`] blocks.
    TooLong,
    /// A read failed.
    Unreachable {
        /// Byte offset of the register.
        offset: u32,
    },
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Step {
    Features,
    Pointer,
    Header(u16),
    Ended(End),
}

/// A walk along the list of extended features of one device.
///
/// [`poll_transmit`](Self::poll_transmit) gives each read once; [`handle_read`](Self::handle_read) or
/// [`handle_failure`](Self::handle_failure) answers it; [`end`](Self::end) then tells whether it was the
/// last.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Discovery {
    step: Step,
    under_way: bool,
    found: Vec<Found>,
}

impl Default for Discovery {
    fn default() -> Self {
        Self::new()
    }
}

impl Discovery {
    /// A walk that has not begun.
    #[must_use]
    pub const fn new() -> Self {
        Self { step: Step::Features, under_way: false, found: Vec::new() }
    }

    /// The register to be read next, if none is under way.
    pub fn poll_transmit(&mut self) -> Option<Access> {
        if self.under_way {
            return None;
        }
        let access = Access::register(self.offset()?).ok()?;
        self.under_way = true;
        Some(access)
    }

    /// The value of the register that was asked for. Ignored if none was.
    pub fn handle_read(&mut self, value: u32) {
        if !core::mem::take(&mut self.under_way) {
            return;
        }
        self.step = match self.step {
            Step::Features if value & feature::EXTENDED_FEATURES == 0 => Step::Ended(End::NoList),
            Step::Features => Step::Pointer,
            Step::Pointer => self.follow(value as u16),
            Step::Header(offset) => {
                self.found.push(Found { offset, id: value as u16 });
                self.follow((value >> 16) as u16)
            }
            ended @ Step::Ended(_) => ended,
        };
    }

    /// The register that was asked for cannot be read. Ignored if none was.
    pub fn handle_failure(&mut self) {
        if let (true, Some(offset)) = (core::mem::take(&mut self.under_way), self.offset()) {
            self.step = Step::Ended(End::Unreachable { offset });
        }
    }

    /// How the walk ended, if it did.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        match self.step {
            Step::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// The blocks found so far, in the order of the list.
    #[must_use]
    pub fn blocks(&self) -> &[Found] {
        &self.found
    }

    /// Where a block is.
    #[must_use]
    pub fn find(&self, id: u16) -> Option<u16> {
        self.found.iter().find(|block| block.id == id).map(|block| block.offset)
    }

    const fn offset(&self) -> Option<u32> {
        match self.step {
            Step::Features => Some(offset::FEATURES),
            Step::Pointer => Some(offset::ASSEMBLY_INFORMATION),
            Step::Header(offset) => Some(offset as u32),
            Step::Ended(_) => None,
        }
    }

    fn follow(&self, pointer: u16) -> Step {
        Step::Ended(if pointer == 0 {
            if self.found.is_empty() { End::BadPointer { found: 0 } } else { End::Complete }
        } else if u32::from(pointer) < offset::EXTENDED_FEATURES || !pointer.is_multiple_of(8) {
            End::BadPointer { found: pointer }
        } else if self.found.iter().any(|block| block.offset == pointer) {
            End::Loop { to: pointer }
        } else if self.found.len() == WALK_MAX {
            End::TooLong
        } else {
            return Step::Header(pointer);
        })
    }
}
