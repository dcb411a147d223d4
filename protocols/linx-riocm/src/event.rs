//! What a node tells the link handler, and what it hands to the medium.

use crate::fragment::{self, Delivery};
use core::fmt;

/// Names a connection of a node.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ConnectionId(pub(crate) u16);

impl ConnectionId {
    /// Position among the connections of the node, in the order in which they were added.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What keeps this node from delivering, so that it resets the connection (10.1).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Problem {
    /// A malformed packet.
    Malformed,
    /// A packet too far ahead of the next one in order.
    Window,
    /// A gap in the sequence numbers did not close in time.
    Gap,
    /// More old packets than the window holds came in a row: the peer has begun to number anew.
    Renumbered,
    /// More open messages than configured.
    TooManyOpen,
    /// A message longer than configured, received or to be sent.
    TooLong,
    /// The peer acknowledges other values than were negotiated.
    Disagreement,
    /// A data frame did not reach the peer.
    NotSent,
}

impl From<fragment::Error> for Problem {
    fn from(error: fragment::Error) -> Self {
        match error {
            fragment::Error::TooManyOpen => Self::TooManyOpen,
            fragment::Error::TooLong => Self::TooLong,
            _ => Self::Malformed,
        }
    }
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reason {
    /// The link handler asked for it.
    Requested,
    /// The peer has started anew.
    PeerRestart,
    /// The peer sent RESET.
    PeerReset,
    /// No sign of life for three periods, or as many as the options say.
    Timeout,
    /// The local link went down.
    LinkDown,
    /// This node could not deliver.
    Local(Problem),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Requested => "requested",
            Self::PeerRestart => "begun anew by the peer",
            Self::PeerReset => "reset by peer",
            Self::Timeout => "timeout",
            Self::LinkDown => "link down",
            Self::Local(Problem::Malformed) => "malformed packet",
            Self::Local(Problem::Window) => "packet beyond the window",
            Self::Local(Problem::Gap) => "gap not closed",
            Self::Local(Problem::Renumbered) => "peer renumbered",
            Self::Local(Problem::TooManyOpen) => "too many open messages",
            Self::Local(Problem::TooLong) => "message too long",
            Self::Local(Problem::Disagreement) => "values not as negotiated",
            Self::Local(Problem::NotSent) => "frame not sent",
        })
    }
}

/// What both ends of an established connection know.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Link {
    /// Octets of the longest frame: the smaller of both wishes.
    pub mtu: u16,
    /// Period of heartbeats: the larger of both wishes. Units of 100 ms, at least 1.
    pub hb_tmo: u8,
    /// Of this node's attempt.
    pub generation: u8,
    /// Of the peer's attempt.
    pub peer_generation: u8,
    /// What the peer puts into `dst_cid`.
    pub cid: u16,
    /// What this node puts into `dst_cid`.
    pub peer_cid: u16,
}

/// A call to the link handler.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Event {
    /// The connection is established.
    Connected {
        /// The connection.
        connection: ConnectionId,
        /// What was negotiated.
        link: Link,
    },
    /// The connection has ended, or the attempt that the link handler gave up. It stays passive until the
    /// next connect.
    Disconnected {
        /// The connection.
        connection: ConnectionId,
        /// Why.
        reason: Reason,
    },
    /// A message.
    Deliver {
        /// The connection.
        connection: ConnectionId,
        /// The message.
        delivery: Delivery,
    },
}

/// What kind of frame, for media that treat them differently.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Class {
    /// REQ, ACK and RESET.
    Connection,
    /// HEARTBEAT.
    Heartbeat,
    /// The five kinds of user data.
    Data,
}

/// A frame to be sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Transmit<'a> {
    /// Whose frame it is.
    pub connection: ConnectionId,
    /// Device ID of the peer.
    pub destination: u16,
    /// Port of the peer, for media that tell cores apart by it.
    pub port: u16,
    /// What kind of frame.
    pub class: Class,
    /// The frame, not padded.
    pub octets: &'a [u8],
}
