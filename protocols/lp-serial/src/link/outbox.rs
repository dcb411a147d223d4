//! stype0 functions that are due, in the order in which they became due.
//!
//! The order is what makes recovery safe: every acknowledgement, retry and packet-not-accepted that was
//! caused before a link-request arrived leaves before the link-response, so that the partner may ignore them
//! while it waits for it.

use super::config::Config;
use super::flow::report;
use crate::control_symbol::{Cause, PortStatus, Stype0};
use alloc::collections::VecDeque;

/// One function; counts of free buffers are those of the instant at which it became due.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Due {
    Accepted { ack_id: u8, channel: u8, free: u16 },
    Retry { ack_id: u8, free: u16 },
    NotAccepted { ack_id_status: u8, cause: Cause },
    LinkResponse { ack_id_status: u8, port_status: PortStatus },
    Status { free: u16 },
    VcStatus { channel: u8, free: u16 },
}

impl Due {
    /// The channel whose buffers it tells of.
    pub(super) const fn tells_of(self) -> Option<u8> {
        match self {
            Self::Accepted { channel, .. } | Self::VcStatus { channel, .. } => Some(channel),
            Self::Retry { .. } | Self::Status { .. } => Some(0),
            Self::NotAccepted { .. } | Self::LinkResponse { .. } => None,
        }
    }

    fn free_mut(&mut self) -> Option<&mut u16> {
        match self {
            Self::Accepted { free, .. }
            | Self::Retry { free, .. }
            | Self::Status { free }
            | Self::VcStatus { free, .. } => Some(free),
            Self::NotAccepted { .. } | Self::LinkResponse { .. } => None,
        }
    }

    /// The function as it leaves.
    pub(super) fn function(self, config: &Config, transmitter_controlled: bool, expected: u8) -> Stype0 {
        let told = |free| report(config.form, transmitter_controlled, free);
        match self {
            Self::Accepted { ack_id, free, .. } => Stype0::PacketAccepted { ack_id, buf_status: told(free) },
            Self::Retry { ack_id, free } => Stype0::PacketRetry { ack_id, buf_status: told(free) },
            Self::NotAccepted { ack_id_status, cause } => {
                Stype0::PacketNotAccepted { arbitrary: ack_id_status, cause }
            }
            Self::LinkResponse { ack_id_status, port_status } => {
                Stype0::LinkResponse { ack_id_status, port_status }
            }
            Self::Status { free } => Stype0::Status { ack_id_status: expected, buf_status: told(free) },
            Self::VcStatus { channel, free } => {
                Stype0::VcStatus { vcid: config.channels.vcid_of(channel), buf_status: told(free) }
            }
        }
    }
}

/// The queue.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Outbox(VecDeque<Due>);

impl Outbox {
    pub(super) fn push(&mut self, due: Due) {
        self.0.push_back(due);
    }

    pub(super) fn pop(&mut self) -> Option<Due> {
        self.0.pop_front()
    }

    pub(super) fn first(&self) -> Option<Due> {
        self.0.front().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a free buffer to the last function that tells of `channel`; whether there is one.
    pub(super) fn amend(&mut self, channel: u8) -> bool {
        self.last(channel).map(|free| *free += 1).is_some()
    }

    /// The last function that tells of `channel` tells `free`; whether there is one.
    pub(super) fn retell(&mut self, channel: u8, free: u16) -> bool {
        self.last(channel).map(|told| *told = free).is_some()
    }

    fn last(&mut self, channel: u8) -> Option<&mut u16> {
        self.0.iter_mut().rev().find(|due| due.tells_of() == Some(channel)).and_then(Due::free_mut)
    }

    /// Whether a link-response is waiting to leave.
    pub(super) fn owes_response(&self) -> bool {
        self.0.iter().any(|due| matches!(due, Due::LinkResponse { .. }))
    }
}
