//! The two halves of a port: transmitter and receiver.

use crate::clock::TransmitClock;
use crate::packet::{List, UNSTAGED};
use crate::stats::PortStats;
use crate::wire::Wire;
use sim_core::EventKey;
use std::collections::VecDeque;
use voq_backpressure::Receiver;

/// No port, no input.
pub(crate) const NONE: u32 = u32::MAX;

/// What a control symbol will tell the transmitter about its neighbour's buffers, from `key` on.
#[derive(Copy, Clone, Debug)]
pub(crate) struct CreditRecord {
    pub key: EventKey,
    /// buf_status.
    pub buffers: u8,
    /// Packets that the symbol acknowledges (0 or 1).
    pub acknowledged: u8,
}

/// Constants of a transmitter's link direction.
#[derive(Copy, Clone, Debug)]
pub(crate) struct LinkTiming {
    /// Picoseconds for a character, as a fraction.
    pub char_num: u64,
    pub char_den: u64,
    /// Characters of a delimiter.
    pub symbol_chars: u64,
    /// One-way propagation.
    pub propagation: u64,
    /// Pipeline of the receiving device (0 for an endpoint).
    pub pipeline: u64,
    /// Octets after which a cut-through neighbour decides, 0 = store and forward.
    pub header: u64,
}

impl LinkTiming {
    /// Time of `octets` with their delimiter; `carry` keeps the remainder of inexact rates.
    #[inline]
    pub fn packet_ps(&self, octets: u64, carry: &mut u64) -> u64 {
        let chars = octets + self.symbol_chars;
        if self.char_den == 1 {
            return chars * self.char_num;
        }
        let total = chars * self.char_num + *carry;
        *carry = total % self.char_den;
        total / self.char_den
    }
}

/// Packets of one stopped (or just released) staging queue that were taken out of the main lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parked {
    pub queue: u8,
    pub stopped: bool,
    pub count: u32,
    /// Lanes with packets, by priority.
    pub mask: [u64; 4],
    /// `lists[priority * lanes + lane]`.
    pub lists: Vec<List>,
}

/// Staging of one egress link.
#[derive(Clone, Debug)]
pub(crate) struct Staging {
    pub receiver: Receiver,
    /// Staging queue of each next-hop port, [`UNSTAGED`] for ports that the neighbour does not have.
    pub queue_of_port: Vec<u8>,
    /// Sets of next-hop ports that multicast packets stand for; set n uses pseudo queue 192 + n.
    pub multicast: Vec<u64>,
    /// Pseudo queues that are stopped.
    pub multicast_stopped: u64,
}

/// Transmit half of a port.
#[derive(Clone, Debug)]
pub(crate) struct Tx {
    pub wire: Wire,
    /// End of the current transmission: the transmitter is busy while this key is not reached.
    pub done: EventKey,
    /// The event for `done` is posted.
    pub done_posted: bool,
    /// A wake for a credit record is posted.
    pub wake_posted: bool,
    /// Blocked on credit: the next record wakes.
    pub credit_waiting: bool,
    /// A stype2 symbol waits for its place on the wire.
    pub voq_pending: bool,
    /// Last served lane (round robin).
    pub pointer: u8,
    /// Watermarks that apply to the neighbour's buffers.
    pub watermarks: [u8; 3],
    /// Packets that wait for this transmitter, in all queues of the device.
    pub waiting: u32,
    /// Of these, packets in the lists of the output itself.
    pub stored: u32,
    /// Known free buffers of the neighbour.
    pub free: i32,
    pub outstanding: u32,
    pub ack_window: u32,
    /// Lanes with packets in the main lists, by priority.
    pub mask: [u64; 4],
    /// First list of this output: `lists[lists + priority * lanes + lane]`.
    pub lists: u32,
    pub lanes: u32,
    /// Lanes of this output.
    pub lane_count: u32,
    /// Endpoints: lanes 0.. up to this number are staging queues, served round robin; the lane after them holds
    /// everything else. 0 for switches, whose lanes are inputs.
    pub queue_lanes: u8,
    /// Of these, lanes that are stopped.
    pub stopped_lanes: u64,
    /// Device and peer port.
    pub device: u32,
    pub peer: u32,
    /// Input that is being read ([`NONE`] if nothing needs settling).
    pub reading: u32,
    /// Copy group of the packet being read.
    pub reading_share: u32,
    pub timing: LinkTiming,
    pub carry: u64,
    pub credits: VecDeque<CreditRecord>,
    pub clock: TransmitClock,
    pub parked: Vec<Parked>,
    pub staging: Option<Box<Staging>>,
    /// Next refresh of this direction, `u64::MAX` = off.
    pub refresh_at: u64,
    pub refresh_every: u64,
    /// Last transmission start, for the watchdog.
    pub last_start: u64,
    pub stats: PortStats,
}

impl Tx {
    /// Priorities that may not be sent with `free` known buffers (Part 6 §5.9: watermarks), one bit each.
    #[inline]
    pub fn blocked_with(&self, free: i32, outstanding: u32) -> u8 {
        if outstanding >= self.ack_window {
            return 0b1111;
        }
        let below = |limit: u8, bit: u8| if free < i32::from(limit) { bit } else { 0 };
        below(self.watermarks[0], 1) | below(self.watermarks[1], 2) | below(self.watermarks[2], 4) | below(1, 8)
    }

    /// Staging queue of a unicast packet for the neighbour's port `next_hop`.
    #[inline]
    pub fn queue_of(&self, next_hop: u8) -> u8 {
        match &self.staging {
            None => UNSTAGED,
            Some(staging) => staging.queue_of_port.get(next_hop as usize).copied().unwrap_or(UNSTAGED),
        }
    }

    /// The parked packets of `queue`, if there are any or the queue is stopped.
    #[inline]
    pub fn parked_of(&self, queue: u8) -> Option<usize> {
        self.parked.iter().position(|p| p.queue == queue)
    }
}

/// Receive half of a port.
#[derive(Clone, Debug)]
pub(crate) struct Rx {
    /// Packets in the receive buffers.
    pub occupied: u32,
    /// Of these (or moved on already), packets whose last octet is not in yet (cut-through): the transmitter
    /// still counts them as outstanding.
    pub unaccepted: u32,
    pub buffers: u32,
    /// buf_status of the last symbol made.
    pub advertised: u32,
    /// At or below this advertised count a release is told at once.
    pub eager_at: u32,
    /// First character of the last status symbol made.
    pub status_start: u64,
    pub any_status: bool,
    /// Outputs that read from this input, one bit each.
    pub readers: u64,
    /// Outputs whose lists hold packets of this input (may be stale).
    pub wanted: u64,
    /// Accept pointer of iSLIP, and where the search for idle outputs begins.
    pub pointer: u8,
    /// A delivery event for the oldest packet in flight is posted.
    pub deliver_posted: bool,
    /// Packets exposed at the head of each FIFO (copies of one multicast packet count each).
    pub exposed: [u16; 4],
    /// Packets on their way to a sink that nobody needs to see arrive yet.
    pub in_flight: VecDeque<(EventKey, u32)>,
}
