//! Data on the receiving side of a connection: the reordering queue, and reassembly behind it.

use crate::fragment::{Delivery, Error, Limits, Reassembly};
use crate::wire::{Data, Frame, Packet};
use alloc::boxed::Box;
use alloc::collections::VecDeque;

/// Where a sequence number lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Place {
    /// So far ahead of the next one in order, below the window; 0 is the next one.
    Within(u16),
    /// Ahead by the window or more.
    Beyond,
    /// Processed before.
    Old,
}

/// Only what waits for other packets takes memory.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Waiting {
    /// Frames by distance from the next one in order. The last one is there.
    held: VecDeque<Option<Box<[u8]>>>,
    /// When the gap in front of them is given up; none if it may stay.
    deadline: Option<u64>,
    reassembly: Reassembly,
}

/// The receiving side of a connection.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Receive {
    expected: u16,
    /// Old packets since the last one that was accepted.
    old: u16,
    waiting: Option<Box<Waiting>>,
}

impl Receive {
    /// Judges a sequence number: d = (seqno - expected) mod 65536.
    pub(crate) fn place(&self, seqno: u16, window: u16) -> Place {
        match seqno.wrapping_sub(self.expected) {
            ahead if ahead < window => Place::Within(ahead),
            ahead if ahead < 1 << 15 => Place::Beyond,
            _ => Place::Old,
        }
    }

    /// Keeps a frame that is `ahead` of the next one in order. False if it is there already.
    pub(crate) fn hold(&mut self, ahead: u16, frame: &[u8]) -> bool {
        let ahead = usize::from(ahead);
        let held = &mut self.waiting.get_or_insert_default().held;
        if held.len() <= ahead {
            held.resize_with(ahead + 1, || None);
        }
        let fresh = held[ahead].is_none();
        if fresh {
            held[ahead] = Some(frame.into());
            self.old = 0;
        }
        fresh
    }

    /// Frames that are held.
    pub(crate) fn held(&self) -> usize {
        self.waiting.as_ref().map_or(0, |waiting| waiting.held.iter().flatten().count())
    }

    /// Whether frames are held.
    pub(crate) fn has_gap(&self) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| !waiting.held.is_empty())
    }

    /// Takes the next packet in order.
    pub(crate) fn process(&mut self, data: &Data<'_>, limits: Limits) -> Result<Option<Delivery>, Error> {
        self.expected = self.expected.wrapping_add(1);
        self.old = 0;
        let Some(waiting) = &mut self.waiting else {
            let mut reassembly = Reassembly::default();
            let delivery = reassembly.handle(data, limits);
            if !reassembly.is_empty() {
                self.waiting = Some(Box::new(Waiting { reassembly, ..Waiting::default() }));
            }
            return delivery;
        };
        waiting.held.pop_front();
        let delivery = waiting.reassembly.handle(data, limits);
        if waiting.held.is_empty() {
            waiting.deadline = None;
            if waiting.reassembly.is_empty() {
                self.waiting = None;
            }
        }
        delivery
    }

    /// Takes the next packet in order, if it is held. None: it is not.
    pub(crate) fn process_held(&mut self, limits: Limits) -> Option<Result<Option<Delivery>, Error>> {
        let frame = self.waiting.as_mut()?.held.front_mut()?.take()?;
        // Only data that could be read was held.
        let Ok(Frame { packet: Packet::Data(data), .. }) = Frame::parse(&frame) else { return None };
        Some(self.process(&data, limits))
    }

    /// Counts an old packet. True if there were more than `window` in a row.
    pub(crate) fn count_old(&mut self, window: u16) -> bool {
        self.old = self.old.saturating_add(1);
        self.old > window
    }

    /// When the gap is given up.
    pub(crate) fn deadline(&self) -> Option<u64> {
        self.waiting.as_ref()?.deadline
    }

    /// Sets when the gap in front of the held packets is given up. Nothing held: no effect.
    pub(crate) fn set_deadline(&mut self, deadline: Option<u64>) {
        if let Some(waiting) = self.waiting.as_mut().filter(|waiting| !waiting.held.is_empty()) {
            waiting.deadline = deadline;
        }
    }
}
