//! What some packets carry besides their record: tables beside the packets, which only they fill.

use super::data::{Data, Label};
use crate::observe::clock::AckMark;
use logical::wire::Body;
use std::collections::BTreeMap;

/// What some packets carry besides their record, by packet.
#[derive(Debug)]
pub(crate) struct Carried<T>(Vec<Option<Box<T>>>);

impl<T> Carried<T> {
    /// All that packets carry.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten().map(|cargo| &**cargo)
    }
}

impl<T> Default for Carried<T> {
    fn default() -> Self {
        Carried(Vec::new())
    }
}

impl<T> Carried<T> {
    pub fn put(&mut self, packet: u32, carried: T) {
        let index = packet as usize;
        if self.0.len() <= index {
            self.0.resize_with(index + 1, || None);
        }
        self.0[index] = Some(Box::new(carried));
    }

    pub fn get(&self, packet: u32) -> Option<&T> {
        self.0.get(packet as usize)?.as_deref()
    }

    pub fn get_mut(&mut self, packet: u32) -> Option<&mut T> {
        self.0.get_mut(packet as usize)?.as_deref_mut()
    }

    pub fn take(&mut self, packet: u32) -> Option<Box<T>> {
        self.0.get_mut(packet as usize)?.take()
    }
}

impl<T: Clone> Carried<T> {
    /// A multicast copy carries the same.
    pub fn copy(&mut self, from: u32, to: u32) {
        if let Some(carried) = self.get(from).cloned() {
            self.put(to, carried);
        }
    }
}

/// What a packet of an agent carries.
#[derive(Clone, Debug)]
pub(crate) struct Cargo {
    /// Id of its sender. A switch answers under the id that it was asked by.
    pub source: u32,
    pub body: Body<Data>,
    pub label: Label,
}

/// What a packet carries on links of other media than RapidIO.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Id of its sender.
    pub source: u32,
    pub payload: Data,
}

/// Causes that few packets know, by packet, and what those remember that wait where ackIDs run out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Late(BTreeMap<u32, Delay>);

/// Times of one packet, in picoseconds.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Delay {
    /// While links recovered.
    pub recovery: u64,
    /// For want of an ackID.
    pub no_ack_id: u64,
    /// Of the beginning of a wait, the last where ackIDs had run out before.
    pub mark: AckMark,
}

impl Delay {
    /// Both causes.
    pub fn sum(self) -> u64 {
        self.recovery + self.no_ack_id
    }
}

impl Late {
    pub fn add_recovery(&mut self, packet: u32, ps: u64) {
        if ps != 0 {
            self.0.entry(packet).or_default().recovery += ps;
        }
    }

    pub fn add_no_ack_id(&mut self, packet: u32, ps: u64) {
        if ps != 0 {
            self.0.entry(packet).or_default().no_ack_id += ps;
        }
    }

    /// The packet begins to wait where ackIDs have run out before.
    pub fn mark(&mut self, packet: u32, mark: AckMark) {
        self.0.entry(packet).or_default().mark = mark;
    }

    /// What is known of a packet that goes to another part of the fabric.
    pub fn take(&mut self, packet: u32) -> Option<Delay> {
        if self.0.is_empty() { None } else { self.0.remove(&packet) }
    }

    /// Likewise of one that has come from there.
    pub fn put(&mut self, packet: u32, delay: Delay) {
        self.0.insert(packet, delay);
    }

    #[inline]
    pub fn of(&self, packet: u32) -> Delay {
        if self.0.is_empty() { Delay::default() } else { self.0.get(&packet).copied().unwrap_or_default() }
    }

    #[inline]
    pub fn forget(&mut self, packet: u32) {
        if !self.0.is_empty() {
            self.0.remove(&packet);
        }
    }

    /// A multicast copy has been as late as the original. It waits for another port, and what the original
    /// remembers of its own says nothing about that one.
    pub fn copy(&mut self, from: u32, to: u32) {
        if let Some(&delay) = self.0.get(&from) {
            self.0.insert(to, Delay { mark: AckMark::default(), ..delay });
        }
    }
}
