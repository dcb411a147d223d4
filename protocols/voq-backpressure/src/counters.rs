//! What the two state machines count. Times (how long a queue was stopped, a victim blocked) are the owner's
//! to count, because nothing here knows the time.

/// Events of an [`Originator`](crate::Originator), all ports together.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct OriginatorCounters {
    /// Messages on a symbol that had to be sent anyway: free.
    pub tx_riding: u64,
    /// Messages that needed a symbol of their own: eight characters each.
    pub tx_standalone: u64,
    /// Times that the refresh timer marked the full state of a port.
    pub refreshes: u64,
}

/// Events of a [`Receiver`](crate::Receiver).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ReceiverCounters {
    /// Messages that were applied.
    pub rx_applied: u64,
    /// Fields with a reserved command: ignored.
    pub rx_reserved: u64,
    /// Messages at a port that does not honour them: ignored.
    pub rx_unsupported: u64,
    /// With linking on, messages on a symbol other than Status and VC_Status: ignored.
    pub rx_link_violation: u64,
    /// With linking on, messages on a VC_Status for a channel that is not active: ignored.
    pub rx_inactive_vc: u64,
    /// Status bits that said "congested" of a port that the neighbour does not have: ignored, each counted
    /// once.
    pub rx_unmapped_port: u64,
    /// Symbols with a bad CRC: discarded.
    pub crc_errors: u64,
    /// Symbols with a wrong length or wrong delimiters: discarded.
    pub framing_errors: u64,
    /// Symbols in PD that should have been in SC, or the reverse: carried out.
    pub delimiter_warnings: u64,
    /// Staging queues that stopped.
    pub xoff_edges: u64,
    /// Staging queues that went on.
    pub xon_edges: u64,
}
