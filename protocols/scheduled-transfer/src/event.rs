//! What an endpoint tells its upper layer.

use crate::wire::{DataChannel, Header};

/// A connection of an endpoint; not used again.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ConnectionId(pub u32);

/// Why a sequence or connection failed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Failure {
    /// The other end rejected the request.
    Rejected,
    /// No answer in 1 + Max_Retry transmissions.
    Timeout,
    /// The other end sent End.
    EndedByPeer,
    /// The connection was taken down.
    Disconnected,
    /// All was sent, but the other end knows nothing of it any more: it may or may not have arrived.
    Unconfirmed,
    /// This end gave it up.
    Aborted,
}

/// What happened to a sequence.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Outcome {
    /// It is complete; for a data Source that is not reliable, all was sent.
    Complete,
    /// It is not.
    Failed(Failure),
}

/// One piece of news.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Event {
    /// A peer asks for a connection: `accept` or `refuse`.
    Incoming {
        /// The well-known Port that was asked for.
        port: u16,
        /// The protocol inside.
        ether_type: u16,
    },
    /// The connection is open.
    Opened,
    /// The connection is gone; nothing more will be said about it.
    Closed(Outcome),
    /// A peer wants to send: `expose`, `pause` or `refuse`.
    WriteOffered {
        /// The Transfer.
        id: u32,
        /// Octets, 0 for unlimited.
        t_len: u64,
        /// The channel that Data will use.
        channel: DataChannel,
    },
    /// The peer of a Read is ready to send what was asked for; exposed already.
    ReadGranted {
        /// The Transfer.
        id: u32,
    },
    /// A peer wants to read: `serve`, `pause` or `refuse`.
    ReadRequested {
        /// The Transfer.
        id: u32,
        /// Octets, 0 for unlimited.
        t_len: u64,
    },
    /// A peer wants a persistent region: `grant`, `pause` or `refuse`.
    RegionRequested {
        /// The region.
        id: u32,
        /// Octets.
        t_len: u64,
    },
    /// The region that was asked for can be used.
    RegionReady {
        /// The region.
        id: u32,
    },
    /// A Transfer, region, Get or FetchOp is over.
    Finished {
        /// Which.
        id: u32,
        /// How it ended.
        outcome: Outcome,
        /// Octets that are known to have arrived.
        bytes: u64,
    },
    /// A Put is over.
    PutFinished {
        /// The region.
        id: u32,
        /// Which Put of the region, from 0.
        put: u64,
        /// How it ended.
        outcome: Outcome,
    },
    /// A FetchOp returned the word that was there before.
    Fetched {
        /// Which.
        id: u32,
        /// The word in this end's byte order.
        word: u64,
    },
    /// A Put has arrived whole.
    PutArrived {
        /// The region.
        id: u32,
        /// Which Put, from 0.
        put: u64,
    },
    /// Blocks up to, not including, this one have arrived.
    Progress {
        /// The Transfer.
        id: u32,
        /// Number of Blocks.
        blocks: u64,
    },
    /// A Block was granted and has not arrived; it cannot be asked for again, or is not to be.
    Missing {
        /// The Transfer.
        id: u32,
        /// The Block.
        block: u64,
    },
    /// The header of a Data operation that was not silent. It occupies a Slot until this is polled.
    Header {
        /// The header; its `s_id` is Opaque in Write and Put.
        header: Header,
        /// Octets of payload.
        bytes: u32,
    },
    /// An operation asked for an interrupt.
    Interrupt {
        /// Its Op.
        op: u8,
    },
    /// The optional payload of a Control operation.
    Payload {
        /// Its Op.
        op: u8,
        /// 32 octets without meaning to Scheduled Transfer.
        octets: [u8; 32],
    },
}
