//! What a node sent, heard and ignored.

/// Counts of one node, over all its connections.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counters {
    /// Frames to be sent: connection management.
    pub sent_management: u64,
    /// Frames to be sent: heartbeats.
    pub sent_heartbeats: u64,
    /// Frames to be sent: data.
    pub sent_data: u64,
    /// Heartbeats accepted.
    pub heartbeats: u64,
    /// Data packets processed in order.
    pub data: u64,
    /// Messages delivered.
    pub delivered: u64,
    /// Frames of other protocols or versions, and frames shorter than rio_frame.
    pub foreign: u64,
    /// Frames that end before their source is known.
    pub unattributable: u64,
    /// Connection packets of no known type, too short, or from no configured peer.
    pub stray_management: u64,
    /// Data and heartbeats that belong to no connection: wrong cid, sender or port.
    pub stray: u64,
    /// Data and heartbeats of a connection that is not up: before its own ACK, or after its RESET.
    pub untimely: u64,
    /// Malformed packets of a connection.
    pub malformed: u64,
    /// REQ, or ACK handled as such, below the smallest MTU.
    pub below_minimum_mtu: u64,
    /// RESET of another generation.
    pub old_resets: u64,
    /// ACK not sent because too many were asked for in one period, or by an ACK of another attempt in a
    /// connection that is in use.
    pub acks_withheld: u64,
    /// Data packets with a number already processed.
    pub old_data: u64,
    /// Data packets with a number that is already held.
    pub duplicates: u64,
    /// Data packets held because one before them was missing.
    pub held: u64,
    /// Most packets held at once by one connection.
    pub held_max: u64,
    /// SINGLE packets with octets behind the message.
    pub surplus: u64,
    /// Frames longer than the negotiated MTU; accepted.
    pub above_mtu: u64,
    /// Messages submitted while not connected.
    pub not_connected: u64,
}
