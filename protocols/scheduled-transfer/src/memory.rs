//! Memory that Data is read from and written to, and the table from buffer index to address (4.2, 6.2.8).
//!
//! The machine handles addresses and lengths; octets move once, between a [`Memory`] and the operation that
//! carries them.

use crate::layout::Place;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Memory of one end, by octet address.
pub trait Memory {
    /// Whether `bytes` octets from `address` on exist.
    fn contains(&self, address: u64, bytes: u64) -> bool;

    /// Appends `bytes` octets from `address` on to `out`. The range exists.
    fn read(&self, address: u64, bytes: usize, out: &mut Vec<u8>);

    /// Stores `octets` from `address` on. The range exists.
    fn write(&mut self, address: u64, octets: &[u8]);
}

/// Real octets from address 0 on.
impl Memory for Vec<u8> {
    fn contains(&self, address: u64, bytes: u64) -> bool {
        address.checked_add(bytes).is_some_and(|end| end <= self.len() as u64)
    }

    fn read(&self, address: u64, bytes: usize, out: &mut Vec<u8>) {
        let at = address as usize;
        out.extend_from_slice(&self[at..at + bytes]);
    }

    fn write(&mut self, address: u64, octets: &[u8]) {
        let at = address as usize;
        self[at..at + octets.len()].copy_from_slice(octets);
    }
}

/// Memory without octets: an octet at an address *is* a function of the address, and what is stored is
/// compared with it. So Data can be checked at any size, if the two ends use the same addresses up to
/// `shift`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pattern {
    /// Octets.
    pub bytes: u64,
    /// What is added to an address before the octet is made.
    pub shift: u64,
    /// Octets stored so far.
    pub stored: u64,
    /// Stored octets that were not the pattern's.
    pub wrong: u64,
}

impl Pattern {
    /// The whole address space.
    #[must_use]
    pub const fn new(bytes: u64, shift: u64) -> Self {
        Self { bytes, shift, stored: 0, wrong: 0 }
    }

    /// The octet at `address`.
    #[must_use]
    pub const fn octet(&self, address: u64) -> u8 {
        let at = address.wrapping_add(self.shift);
        ((at >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (8 * (at & 7))) as u8
    }
}

impl Memory for Pattern {
    fn contains(&self, address: u64, bytes: u64) -> bool {
        address.checked_add(bytes).is_some_and(|end| end <= self.bytes)
    }

    fn read(&self, address: u64, bytes: usize, out: &mut Vec<u8>) {
        out.extend((0..bytes as u64).map(|at| self.octet(address + at)));
    }

    fn write(&mut self, address: u64, octets: &[u8]) {
        self.stored += octets.len() as u64;
        let wrong = (address..).zip(octets).filter(|&(at, &octet)| self.octet(at) != octet).count();
        self.wrong += wrong as u64;
    }
}

/// Reads a word of eight octets as they lie.
pub(crate) fn read_word(memory: &impl Memory, address: u64) -> [u8; 8] {
    let mut octets = Vec::with_capacity(8);
    memory.read(address, 8, &mut octets);
    octets.try_into().unwrap_or([0; 8])
}

/// A stretch of memory.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Span {
    /// First address.
    pub address: u64,
    /// Octets.
    pub bytes: u64,
}

impl Span {
    /// `bytes` octets from `address` on.
    #[must_use]
    pub const fn new(address: u64, bytes: u64) -> Self {
        Self { address, bytes }
    }
}

/// Consecutive buffer indices of one stretch of memory.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Run {
    buffers: u32,
    /// Address of octet 0 of the first buffer; wraps below 0 if the stretch begins inside the buffer.
    base: u64,
}

/// Buffer indices of one end of a connection, in use and free.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct BufferTable {
    bufsize: u32,
    runs: BTreeMap<u32, Run>,
    next: u32,
}

impl BufferTable {
    /// A table of buffers of 2^`bufsize` octets (8..=32); the first stretch gets index `first`.
    #[must_use]
    pub const fn new(bufsize: u32, first: u32) -> Self {
        Self { bufsize, runs: BTreeMap::new(), next: first }
    }

    /// Exponent of the buffer size.
    #[must_use]
    pub const fn bufsize(&self) -> u32 {
        self.bufsize
    }

    /// Gives the stretch consecutive indices; the first octet gets the offset that its address has modulo the
    /// buffer size. `None` if it takes more indices than are free in a row.
    pub fn expose(&mut self, span: Span) -> Option<Place> {
        let offset = span.address & ((1u64 << self.bufsize) - 1);
        let octets = u128::from(offset) + u128::from(span.bytes);
        let buffers = u32::try_from(octets.div_ceil(1 << self.bufsize).max(1)).ok()?;
        let first = self.find(buffers)?;
        self.runs.insert(first, Run { buffers, base: span.address.wrapping_sub(offset) });
        self.next = first.wrapping_add(buffers);
        Some(Place { bufx: first, offset: offset as u32 })
    }

    /// The first of so many free indices, from the last one given on.
    fn find(&self, buffers: u32) -> Option<u32> {
        let mut first = self.next;
        for _ in 0..=self.runs.len() + 1 {
            let Some(end) = first.checked_add(buffers - 1) else {
                first = 0;
                continue;
            };
            match self.runs.range(..=end).next_back() {
                Some((&start, run)) if start.wrapping_add(run.buffers - 1) >= first => {
                    first = start.wrapping_add(run.buffers);
                }
                _ => return Some(first),
            }
        }
        None
    }

    /// Takes the indices back of the stretch that begins in buffer `first`.
    pub fn retire(&mut self, first: u32) {
        self.runs.remove(&first);
    }

    /// The address of a place, if it is exposed.
    #[must_use]
    pub fn address(&self, place: Place) -> Option<u64> {
        let (&first, run) = self.runs.range(..=place.bufx).next_back()?;
        let buffer = place.bufx - first;
        let known = buffer < run.buffers && place.room(self.bufsize) > 0;
        known.then(|| {
            let octets = (u64::from(buffer) << self.bufsize) + u64::from(place.offset);
            run.base.wrapping_add(octets)
        })
    }

    /// Stretches in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether none is in use.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}
