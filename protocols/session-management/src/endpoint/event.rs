//! What an endpoint tells its owner.

use crate::attribute::Attributes;
use crate::conduit::Side;
use crate::message::{Class, Fault};
use crate::negotiate::{Refusal, Surprise};
use crate::protocol::Protocol;
use crate::register::Contact;
use crate::segment::Loss;
use crate::status::StatusBits;
use alloc::vec::Vec;

/// A stream as one end sees it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StreamRef {
    /// The other node.
    pub peer: u16,
    /// Whether this node receives or sends on it.
    pub side: Side,
    /// StreamID.
    pub stream: u16,
}

impl StreamRef {
    /// The stream from `peer` to this node.
    #[must_use]
    pub const fn receive(peer: u16, stream: u16) -> Self {
        Self { peer, side: Side::Receive, stream }
    }

    /// The stream from this node to `peer`.
    #[must_use]
    pub const fn transmit(peer: u16, stream: u16) -> Self {
        Self { peer, side: Side::Transmit, stream }
    }
}

/// Whether a message may overtake others that go to the same mailbox of the same node.
///
/// Middle segments of a PDU say nothing of their place in it, so the segments of a PDU have to be received in
/// order (§4.3.1), and nothing of another PDU with the same mailbox and COS between them. Type 11 messages
/// overtake one another where one is refused and sent again: who conveys them has to wait for the end of a
/// part before the next one leaves.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Order {
    /// It may overtake anything.
    Free,
    /// A PDU in one message: it may overtake others of its kind, and no parts.
    Whole {
        /// Class of service.
        cos: u8,
    },
    /// One of several messages with a PDU: it may overtake nothing with this COS, and nothing may
    /// overtake it. If it is lost, so is the PDU.
    Part {
        /// Class of service.
        cos: u8,
        /// The first of them.
        first: bool,
        /// The last of them.
        last: bool,
    },
}

/// A message to hand to the fabric.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Transmit {
    /// Destination ID; 0xFE or 0xFFFE for a multicast broadcast.
    pub destination: u16,
    /// Mailbox, or Type 9 stream.
    pub conveyance: Contact,
    /// Priority class.
    pub class: Class,
    /// Its place among the others.
    pub order: Order,
    /// The stream whose data it is; none: it is no data.
    pub stream: Option<StreamRef>,
    /// The message, not padded; with DATA3 the PDU alone.
    pub octets: Vec<u8>,
}

/// Why a peer is suspect (§3.7.3). A flag: it changes no behaviour.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Suspicion {
    /// It did not answer. Ends with its next well-formed message.
    Timeout,
    /// It broke a rule. Ends when the owner says so.
    NonCompliance,
}

/// Why an OPEN came to nothing.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OpenFailure {
    /// REFUSE.
    Refused,
    /// The peer does not know the command.
    NotUnderstood,
    /// No answer.
    Timeout,
    /// The ACCEPT cannot be used; the stream is being closed.
    Unusable(Surprise),
    /// It no longer fits its conduit; the stream is being closed.
    Superseded,
    /// The peer takes no part.
    NoParticipant,
    /// It is longer than the conveyance of the peer takes.
    TooLong,
}

/// Why a stream ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Ending {
    /// This node closed it.
    Local,
    /// The peer closed it.
    Peer,
    /// The peer says that it has no such stream, or not any more.
    Unknown,
    /// The peer did not answer a query about it.
    NoAnswer,
}

/// What a peer advertised.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Advertised {
    /// The protocol is not supported.
    Unsupported,
    /// Protocols.
    Protocols(Vec<u16>),
    /// Protocols with attributes.
    Blocks(Vec<(u16, Attributes)>),
}

/// What has happened.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Event {
    /// The owner should read the registers of a node, and call
    /// [`handle_participation`](super::Endpoint::handle_participation).
    ReadRegisters {
        /// The node.
        peer: u16,
    },
    /// REQUEST was answered.
    Advertised {
        /// The peer.
        peer: u16,
        /// What it said.
        answer: Advertised,
    },
    /// The peer does not know REQUEST: go on with configured attributes.
    RequestUnsupported {
        /// The peer.
        peer: u16,
    },
    /// REQUEST was not answered.
    RequestFailed {
        /// The peer.
        peer: u16,
    },
    /// A stream is open.
    Opened {
        /// The stream.
        stream: StreamRef,
        /// Its protocol.
        protocol: Protocol,
        /// OPEN_MESSAGE_NUMBER.
        number: u32,
    },
    /// An OPEN of this node came to nothing.
    OpenFailed {
        /// The peer.
        peer: u16,
        /// The protocol.
        protocol: Protocol,
        /// OPEN_MESSAGE_NUMBER.
        number: u32,
        /// Why.
        why: OpenFailure,
    },
    /// An OPEN of a peer was refused.
    Refused {
        /// The peer.
        peer: u16,
        /// Why.
        why: Refusal,
    },
    /// A stream has ended.
    Ended {
        /// The stream.
        stream: StreamRef,
        /// Why.
        why: Ending,
    },
    /// A conduit is complete.
    ConduitOpen {
        /// The peer.
        peer: u16,
        /// The protocol.
        protocol: Protocol,
        /// The stream on which this node receives.
        receive: u16,
        /// The stream on which it sends.
        transmit: u16,
    },
    /// A conduit, or the attempt at one, has ended.
    ConduitEnded {
        /// The peer.
        peer: u16,
        /// The protocol.
        protocol: Protocol,
    },
    /// The records of one (peer, protocol) are more than the configuration allows: an OPEN was dropped.
    ConduitLimit {
        /// The peer.
        peer: u16,
        /// The protocol.
        protocol: Protocol,
    },
    /// A PDU.
    Pdu {
        /// The stream; 0xF000 is an Ethernet broadcast.
        stream: StreamRef,
        /// COS of the message, or of the last segment.
        cos: u8,
        /// The PDU.
        octets: Vec<u8>,
    },
    /// A PDU was lost in reassembly, or with the stream that carried it. Told once a PDU, if its first
    /// segment or any other came; of one that was lost whole nobody here knows.
    PduLost {
        /// The sender.
        peer: u16,
        /// Why.
        why: Loss,
    },
    /// Data with another COS than the stream's was discarded (validation mode).
    WrongCos {
        /// The stream.
        stream: StreamRef,
        /// The COS of the message.
        cos: u8,
    },
    /// The peer has stopped a stream.
    Stopped {
        /// The stream.
        stream: StreamRef,
    },
    /// A stream goes on.
    Resumed {
        /// The stream.
        stream: StreamRef,
        /// Because XOFF was not repeated in time.
        timeout: bool,
    },
    /// The source of a stopped stream has data.
    ReadyToSend {
        /// The stream.
        stream: StreamRef,
    },
    /// A frame was dropped to make room for a younger one.
    FrameDropped {
        /// The stream.
        stream: StreamRef,
    },
    /// A STATUS came in.
    Status {
        /// The sender.
        peer: u16,
        /// The command it speaks of; 0 for none.
        command: u8,
        /// StreamID.
        stream: u16,
        /// What it says.
        bits: StatusBits,
    },
    /// A USERDEFINED for which a handler is registered.
    UserDefined {
        /// The sender.
        peer: u16,
        /// CMD.
        code: u8,
        /// COS.
        cos: u8,
        /// StreamID or 0xFFFF.
        stream: u16,
        /// User data with padding.
        octets: Vec<u8>,
    },
    /// A peer has become suspect, or the reason has become graver.
    Suspect {
        /// The peer.
        peer: u16,
        /// Why.
        why: Suspicion,
    },
    /// A peer is not suspect any more.
    Cleared {
        /// The peer.
        peer: u16,
    },
    /// A malformed message.
    Malformed {
        /// The sender.
        peer: u16,
        /// What is wrong with it.
        fault: Fault,
    },
}
