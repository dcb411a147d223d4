//! Frames on their way to the medium: octets of all in one buffer, so that none is allocated.

use crate::event::{Class, ConnectionId, Transmit};
use crate::wire::Frame;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Entry {
    connection: ConnectionId,
    destination: u16,
    port: u16,
    class: Class,
    octets: u32,
}

/// Frames in the order of sending.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Outbox {
    entries: VecDeque<Entry>,
    octets: Vec<u8>,
    /// Octets of frames that were taken.
    taken: usize,
}

impl Outbox {
    pub(crate) fn push(
        &mut self,
        connection: ConnectionId,
        destination: u16,
        class: Class,
        frame: &Frame<'_>,
    ) {
        // Not before two halves of the buffer were used up, so an octet is moved once at most.
        if 2 * self.taken > self.octets.len() {
            self.octets.drain(..self.taken);
            self.taken = 0;
        }
        let before = self.octets.len();
        frame.emit(&mut self.octets);
        let octets = (self.octets.len() - before) as u32;
        self.entries.push_back(Entry {
            connection,
            destination,
            port: frame.address.dst_port,
            class,
            octets,
        });
    }

    pub(crate) fn pop(&mut self) -> Option<Transmit<'_>> {
        let Some(entry) = self.entries.pop_front() else {
            self.octets.clear();
            self.taken = 0;
            return None;
        };
        let octets = &self.octets[self.taken..][..entry.octets as usize];
        self.taken += octets.len();
        Some(Transmit {
            connection: entry.connection,
            destination: entry.destination,
            port: entry.port,
            class: entry.class,
            octets,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Octets of memory beside those of the structure itself.
    pub(crate) fn heap_octets(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.octets.capacity()
    }
}
