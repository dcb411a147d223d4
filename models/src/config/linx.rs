//! LINX connections on endpoints: what the compiler says about each node.

use super::{Carrier, ProgramConfig};
use sim_core::{Duration, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// LINX connections of an endpoint, by the RapidIO connection manager.
#[derive(Clone, Debug)]
pub struct LinxConfig {
    /// Its device id.
    pub node: u16,
    /// Port of its connections: which core of the device it is. No other node of the device has it.
    pub port: u16,
    /// Port of its connections at the other ends.
    pub peer_port: u16,
    /// What carries frames: type 11 or type 9. Over type 9 the stream is this one plus the priority.
    pub carrier: Carrier,
    /// Priority 0..=2 of frames that manage connections.
    pub connection_priority: u8,
    /// Priority 0..=2 of heartbeats.
    pub heartbeat_priority: u8,
    /// Priorities 0..=2 that data frames take in turn: with more than one they overtake each other.
    pub data_priorities: Vec<u8>,
    /// Wanted octets of the longest frame.
    pub mtu: u16,
    /// Wanted period of heartbeats, 100 ms of the protocol clock.
    pub hb_tmo: u8,
    /// From the end of a connection to the next connect. Picoseconds of the protocol clock.
    pub reconnect_after: u64,
    /// Each time up to this much later, drawn uniformly. Picoseconds of the protocol clock.
    pub reconnect_spread: u64,
    /// What the connection manager does where its text leaves room.
    pub options: linx_riocm::Options,
    /// The first connection ID after each start; none: it is drawn.
    pub first_cid: Option<u16>,
    /// Generation of the first attempt after each start; none: each connection draws it.
    pub generation: Option<u8>,
    /// Ids of the other ends, in order.
    pub peers: Vec<u16>,
    /// When the node begins to connect.
    pub connect_at: Time,
    /// Each connection is wanted up to this much later, drawn uniformly.
    pub spread: Duration,
    /// Frames lost on purpose, by class (connection, heartbeat, data), in millionths.
    pub loss: [u32; 3],
    /// What goes wrong at this node.
    pub faults: Vec<LinxFault>,
    /// When the nodes of the flow are down, silent or deaf, by id, in order of their beginnings: what they
    /// cannot know, for the ledger.
    pub outages: Arc<BTreeMap<u16, Vec<LinxFault>>>,
    /// When the application of this node wants to have no connection, by the id of the peer.
    pub disconnects: Vec<(u16, LinxAbsence)>,
    /// When applications of all nodes want to have none, by the ids of node and peer: for the ledger.
    pub absences: Arc<BTreeMap<(u16, u16), Vec<LinxAbsence>>>,
    /// Frames that the scenario lets this node send.
    pub injections: Vec<LinxInjection>,
    /// Every message is answered by one of so many octets.
    pub reply: Option<u32>,
    /// A rank of a program that it runs over its connections.
    pub program: Option<ProgramConfig>,
    /// Whether every frame is told to observers.
    pub charted: bool,
    /// Name of its random streams.
    pub stream: String,
}

/// Something that goes wrong at a node for a while.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LinxFault {
    /// What.
    pub kind: LinxFaultKind,
    /// From when on.
    pub from: Time,
    /// Until when.
    pub until: Time,
}

/// A time in which an application wants to have no connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LinxAbsence {
    /// From when on.
    pub from: Time,
    /// Until when.
    pub until: Time,
}

/// A frame that the scenario sends in the name of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinxInjection {
    /// When.
    pub at: Time,
    /// Id of the peer that it goes to.
    pub to: u16,
    /// Its octets, 1 at least.
    pub octets: Vec<u8>,
    /// Whether addresses, generations and sequence number in them count from those of the connection.
    pub relative: bool,
}

/// What goes wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinxFaultKind {
    /// Frames that the node sends wait, and leave together at the end: a path that is blocked.
    Stall,
    /// Frames that it sends are lost.
    Mute,
    /// Frames for it are lost.
    Deaf,
    /// Its link is down: both, and the node knows.
    LinkDown,
    /// It is down. At the end it begins anew, with other generations and connection IDs.
    Crash,
}
