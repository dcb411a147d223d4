//! Data streaming of type 9 (Part 10).
//!
//! A PDU of 1 byte to 64 KiB goes out as one *single* segment if it fits into the MTU, else as a *start*
//! segment, *continuations* and an *end* segment, in order; only single and end segments may be shorter than
//! the MTU. Nothing is answered. What arrives out of step is noticed by the rules of Part 10 §3.2.5, and the
//! whole PDU is discarded.
//!
//! A *virtual stream* is named by device ID, class of service and stream ID. Only start and single segments
//! carry the stream ID. What a continuation belongs to follows from the *segmentation context*: source,
//! destination and *flow*, which is what the first 16 bits of a packet say about virtual channel, priority and
//! CRF. So one PDU at a time is open in a flow; PDUs interleave if their flows differ, and only then
//! (Part 10 §3.2.4, §3.2.5). The network keeps the order within a flow.
//!
//! * [`Sender`]: one for each device: queues by stream, segmentation, obedience to XOFF and XON.
//! * [`Receiver`]: one for each device: reassembly.
//! * [`traffic`]: traffic management messages.

use super::{Payload, REQUEST_PRIORITY_MAX};
use core::fmt;

mod receiver;
mod sender;
pub mod traffic;

pub use receiver::{
    Counters as ReceiverCounters, Defect, Event as ReceiverEvent, Options as ReceiverOptions, Receiver,
};
pub use sender::{
    Counters as SenderCounters, Event as SenderEvent, Options as SenderOptions, Policy, Sender, Transmit,
};

/// Longest PDU; in the 16-bit length field it is 0.
pub const PDU_MAX_BYTES: u32 = 1 << 16;

/// The system-wide size of segments: 32 to 256 bytes in steps of 4 (Part 10 table 5-8).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Mtu(u8);

impl Mtu {
    /// 256 bytes, the largest.
    pub const MAX: Self = Self(64);

    /// The MTU with this many bytes.
    ///
    /// # Errors
    /// [`Error::Mtu`] if it is not 32 to 256 and a multiple of 4.
    pub const fn from_bytes(bytes: u16) -> Result<Self, Error> {
        match bytes {
            32..=256 if bytes.is_multiple_of(4) => Ok(Self((bytes / 4) as u8)),
            _ => Err(Error::Mtu { found: bytes }),
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
    pub const fn bytes(self) -> u32 {
        self.0 as u32 * 4
    }
}

/// A transaction request flow, but for source and destination: the VC, prio and CRF bits of its packets.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Flow {
    /// Whether the other two name a virtual channel from VC1 to VC8.
    pub vc: bool,
    /// Priority: 0..=2 in VC0 (3 is left for responses), 0..=3 as part of the name of a VC.
    pub prio: u8,
    /// Critical request flow.
    pub crf: bool,
}

/// Which part of a PDU a segment is: the S and E bits, and what the header holds with them.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Part {
    /// S and E: all of it.
    Single {
        /// Stream ID.
        stream_id: u16,
    },
    /// S: the first of several.
    Start {
        /// Stream ID.
        stream_id: u16,
    },
    /// Neither.
    Continuation,
    /// E: the last. Without data and with length 0 it discards the PDU.
    End {
        /// Bytes of the PDU, modulo 65 536.
        length: u16,
    },
}

/// A type 9 packet without its transport fields and padding.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Segment<P> {
    /// Class of service.
    pub cos: u8,
    /// Which part of the PDU it is.
    pub part: Part,
    /// Data without the pad byte.
    pub payload: P,
}

impl<P: Payload> Segment<P> {
    /// The O and P bits of a single or end segment: whether the data, padded, is an odd number of half-words;
    /// whether it needs a pad byte (Part 10 table 4-2).
    #[must_use]
    pub fn odd_and_pad(&self) -> (bool, bool) {
        let bytes = self.payload.len();
        (bytes.div_ceil(2) % 2 == 1, bytes % 2 == 1)
    }
}

/// A PDU to be sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pdu<P> {
    /// Device ID of the receiver.
    pub destination: u16,
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

/// Why a PDU cannot be sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// Not 32 to 256 bytes in steps of 4.
    Mtu {
        /// Bytes that were asked for.
        found: u16,
    },
    /// Empty, or above 64 KiB.
    Length {
        /// Bytes of the PDU.
        found: u32,
    },
    /// Above 2 in VC0, above 3 in another VC.
    Priority {
        /// Largest priority allowed.
        max: u8,
        /// Priority of the PDU's flow.
        found: u8,
    },
    /// PDUs of this stream wait in another flow: the order between them would be lost (Part 10 §2.4).
    Flow {
        /// The flow in which they wait.
        bound: Flow,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Mtu { found } => {
                write!(f, "data streaming MTU: 32 to 256 bytes in steps of 4, {found} found")
            }
            Self::Length { found } => {
                write!(f, "PDU length: 1 to {PDU_MAX_BYTES} bytes, {found} found")
            }
            Self::Priority { max, found } => {
                write!(f, "PDU priority: at most {max} allowed in this channel, {found} given")
            }
            Self::Flow { bound: Flow { vc, prio, crf } } => {
                write!(
                    f,
                    "PDU flow: the stream has PDUs in the flow VC {}, priority {prio}, CRF {}",
                    u8::from(vc),
                    u8::from(crf)
                )
            }
        }
    }
}

impl core::error::Error for Error {}

impl<P: Payload> Pdu<P> {
    /// Whether the PDU can be sent.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Priority`].
    pub fn check(&self) -> Result<(), Error> {
        let found = self.payload.len();
        if found == 0 || found > PDU_MAX_BYTES {
            return Err(Error::Length { found });
        }
        let max = if self.flow.vc { 3 } else { REQUEST_PRIORITY_MAX };
        match self.flow.prio {
            found if found > max => Err(Error::Priority { max, found }),
            _ => Ok(()),
        }
    }
}
