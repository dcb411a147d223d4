//! Data streaming of type 9 (Part 10).
//!
//! A PDU of 1 byte to 64 KiB goes out as one *single* segment if it fits into the MTU, else as a *start*
//! segment, *continuations* and an *end* segment, in order; only single and end segments may be shorter than
//! the MTU. Nothing is answered. What arrives out of step is noticed by the rules of Part 10 §3.2.5, and the
//! whole PDU is discarded.
//!
//! A *virtual stream* is named by device ID, class of service and stream ID. Only start and single segments
//! carry the stream ID. What a continuation belongs to follows from the *segmentation context*: source,
//! destination and *flow*, which is what the first 16 bits of a packet say about virtual channel, priority
//! and CRF. So one PDU at a time is open in a flow; PDUs interleave if their flows differ, and only then
//! (Part 10 §3.2.4, §3.2.5). The network keeps the order within a flow.
//!
//! * [`Sender`]: one for each device: queues by stream, segmentation, obedience to XOFF and XON.
//! * [`Receiver`]: one for each device: reassembly.
//! * [`traffic`]: traffic management messages.

use super::{Divisible, check_request_priority};
use crate::wire::stream::PDU_MAX_BYTES;
use crate::wire::{Error, Priority};

mod receiver;
mod sender;
pub mod traffic;

pub use receiver::{
    Counters as ReceiverCounters, Defect, Event as ReceiverEvent, Options as ReceiverOptions, Receiver,
};
pub use sender::{
    Counters as SenderCounters, Event as SenderEvent, Options as SenderOptions, Policy, Sender, Transmit,
};

/// The system-wide size of segments: 32 to 256 bytes in steps of 4 (Part 10 table 5-8).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Mtu(u8);

impl Mtu {
    /// 256 bytes, the largest.
    pub const MAX: Self = Self(64);

    /// The MTU with this many bytes.
    ///
    /// # Errors
    /// [`Error::Value`] if it is not 32 to 256 and a multiple of 4.
    pub const fn from_bytes(bytes: u16) -> Result<Self, Error> {
        match bytes {
            32..=256 if bytes.is_multiple_of(4) => Ok(Self((bytes / 4) as u8)),
            _ => {
                let rule = "32 to 256 bytes in steps of 4";
                Err(Error::Value { field: "MTU", found: bytes as u32, rule })
            }
        }
    }

    /// The MTU with this code in the Data Streaming Logical Layer Control CSR, `None` for a reserved one.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            8..=64 => Some(Self(code)),
            _ => None,
        }
    }

    /// The code in the register.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Bytes of start and continuation segments.
    #[must_use]
    pub const fn octets(self) -> usize {
        self.0 as usize * 4
    }
}

/// A transaction request flow, but for source and destination: the VC, prio and CRF bits of its packets.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Flow {
    /// Whether the other two name a virtual channel from VC1 to VC8.
    pub vc: bool,
    /// Priority and CRF; in VC0 the priority is at most 2, for 3 is left to responses.
    pub priority: Priority,
}

/// A PDU to be sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pdu<P> {
    /// Device ID of the receiver.
    pub destination: u32,
    /// The flow its packets belong to.
    pub flow: Flow,
    /// Class of service.
    pub cos: u8,
    /// Stream ID.
    pub stream_id: u16,
    /// 1 to 65 536 bytes.
    pub payload: P,
    /// Comes back in the event that ends the PDU; means nothing here.
    pub token: u64,
}

impl<P: Divisible> Pdu<P> {
    /// Whether the PDU can be sent.
    ///
    /// # Errors
    /// [`Error::Payload`] if it is empty or longer than 64 KiB; [`Error::Range`] for the priority.
    pub fn check(&self) -> Result<(), Error> {
        let found = self.payload.octets();
        if found == 0 || found > PDU_MAX_BYTES as usize {
            return Err(Error::Payload { format: "PDU", found, rule: "1 to 65536 bytes" });
        }
        if self.flow.vc { Ok(()) } else { check_request_priority(self.flow.priority) }
    }
}
