//! What a port tells its owner.

use super::config::FlowControl;
use super::timer::LinkTimer;
use crate::control_symbol::Cause;

/// Why a port will not recover by itself.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Fatal {
    /// A link-response with an ackID that is not outstanding: the two ends disagree about what was sent.
    AckId {
        /// ackID of the oldest packet outstanding (of the next packet, if none is).
        oldest: u8,
        /// Packets outstanding.
        outstanding: u8,
        /// ackID_status received.
        found: u8,
    },
    /// No answer to so many link-requests.
    NoResponse {
        /// How many were sent.
        attempts: u8,
    },
}

/// Why the output side entered the error-stopped state.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OutputError {
    /// packet-not-accepted.
    NotAccepted(Cause),
    /// An acknowledgement for another packet than the oldest one outstanding.
    AckId,
    /// packet-retry with multiple VCs, or a second one before restart-from-retry.
    Retry,
    /// A link-response that nobody asked for.
    LinkResponse,
    /// A timer ran out.
    Timeout(LinkTimer),
}

/// What happened on a link, in order.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LinkEvent<P> {
    /// The link is initialised; flow control is as negotiated.
    Up(FlowControl),
    /// The link is no longer initialised.
    Down,
    /// The partner has this packet: the copy may go. Also for a CT packet that was sent and whose fate an
    /// error has hidden.
    Acknowledged(P),
    /// A packet that was stomped for good is out of the port, unsent.
    Withdrawn(P),
    /// The input side is retry-stopped.
    InputRetry,
    /// The input side is error-stopped.
    InputError(Cause),
    /// The output side is retry-stopped: packet-retry came.
    OutputRetry,
    /// The output side is error-stopped.
    OutputError(OutputError),
    /// The output side is out of its error-stopped state; this many packets will be sent again.
    Recovered(u16),
    /// The output side has given up. [`reset`](super::LinkPort::reset) is the way out.
    Fatal(Fatal),
    /// A multicast-event symbol came.
    MulticastEvent,
    /// Four reset-device requests came in a row.
    ResetRequested,
}

/// What became of a received packet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reception {
    /// It is the owner's, and occupies a buffer of this channel (0 for VC0) until
    /// [`release`](super::LinkPort::release). CT packets that are taken in the error-stopped state are not
    /// acknowledged.
    Accepted {
        /// Whose buffer it is.
        channel: u8,
    },
    /// A sound CT packet without room: lost. It is acknowledged, but for the error-stopped state.
    Lost,
    /// Not taken: damaged, or out of order, or refused, or the input side is stopped.
    Discarded,
}
