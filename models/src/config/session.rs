//! Session management on endpoints: what the compiler says about each node.

use super::{ProgramConfig, ServiceTime};
use session_management::conduit::Algorithm;
use session_management::message::{Command, Mode};
use session_management::register::Contact;
use sim_core::{Duration, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One node of session management.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// Its device id.
    pub node: u16,
    /// How OPEN and ACCEPT are matched to conduits.
    pub algorithm: Algorithm,
    /// Whether reserved fields are checked.
    pub mode: Mode,
    /// How data of streams to this node travels.
    pub data: SessionData,
    /// What the nodes speak.
    pub protocol: SessionProtocol,
    /// Class of service of streams to this node.
    pub cos: u8,
    /// Standard size of a segment of type 11: 8, 16, 32, 64, 128, 256.
    pub segment: u16,
    /// Priority of the low class of messages, of data too (0..=1); over type 11 the high class takes one
    /// more.
    pub priority: u8,
    /// Records of one (peer, protocol) at most: where the printed algorithm is stopped.
    pub record_limit: u32,
    /// OPEN_MESSAGE_NUMBER of the first OPEN.
    pub first_number: u32,
    /// First StreamID handed out to each peer.
    pub first_stream: u16,
    /// StreamIDs taken by one peer at most; 57 344 are all there are.
    pub stream_limit: u16,
    /// Whether a stopped source with data says so (RTS).
    pub rts: bool,
    /// It takes nothing in and says nothing.
    pub mute: bool,
    /// What all nodes know of each other: hard-coded.
    pub directory: Arc<BTreeMap<u16, Announcement>>,
    /// How this node learns where others take messages.
    pub contacts: ContactSource,
    /// How long it waits before it reads the registers again of a node that is still initialising, in
    /// microseconds of the protocol clock.
    pub poll: u32,
    /// It announces itself in its registers, which it has.
    pub announces: bool,
    /// It asks for the attributes of a peer (REQUEST) before it opens anything.
    pub asks_first: bool,
    /// It offers no protocol: every OPEN is refused.
    pub refuses: bool,
    /// What it opens.
    pub wanted: Wanted,
    /// Octets that it sends as management messages, as they are: when, to which node, what.
    pub injections: Vec<(Time, u16, Vec<u8>)>,
    /// Whom this node opens conduits to.
    pub creates: Option<Creates>,
    /// When it closes all its conduits.
    pub close_at: Option<Time>,
    /// When it forgets everything and begins anew.
    pub restarts: Vec<Time>,
    /// The application that takes PDUs; without one they are taken at once.
    pub consumer: Option<Consumer>,
    /// What becomes of messages that it sends.
    pub faults: Vec<MessageFault>,
    /// What happens when; every message that it sends waits for the script, and no timer runs by itself.
    pub script: Option<Vec<(Time, ScriptStep)>>,
    /// A rank of a program that it runs over its conduits.
    pub program: Option<ProgramConfig>,
    /// Whether every message is told to observers.
    pub charted: bool,
    /// Time between the instants at which conduits, records and streams of all nodes are counted.
    pub census: Option<Duration>,
}

/// How a node learns where others take management messages, and their periods.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ContactSource {
    /// It is hard-coded.
    Assumed,
    /// It reads their registers through the fabric.
    Registers,
}

/// What nodes open.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Conduits: two streams.
    Conduits,
    /// One stream, to the peer.
    Streams,
}

/// What the registers of a node would say.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Where it takes management messages.
    pub contact: Contact,
    /// REQUEST_RETRY_PERIOD, REQUEST_TIMEOUT_PERIOD and FLOW_CONTROL_XON_TIMEOUT_PERIOD, microseconds.
    pub periods: [u32; 3],
}

/// How data of streams travels.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SessionData {
    /// As DATA in messages of type 11 to this mailbox.
    Message(u8),
    /// As DATA3 on streams of type 9.
    Stream,
}

/// What nodes speak over conduits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SessionProtocol {
    /// A protocol without attributes, by its ProtoID.
    Plain(u16),
    /// Ethernet frames.
    Ethernet {
        /// Octets of the longest payload of a frame.
        mtu: u16,
        /// Every n-th PDU is broadcast: a copy to each peer. 0: none.
        broadcast_every: u32,
    },
}

/// Calls of create_conduit.
#[derive(Clone, Debug)]
pub struct Creates {
    /// The first instant.
    pub at: Time,
    /// Each call comes up to this much later, drawn uniformly.
    pub spread: Duration,
    /// Ids of the peers.
    pub peers: Arc<Vec<u32>>,
    /// Name of the random stream.
    pub stream: String,
}

/// An application that takes one PDU after the other.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// Time for each.
    pub service: ServiceTime,
    /// PDUs waiting from which on streams are stopped (XOFF).
    pub stop_at: u32,
    /// PDUs waiting at which they go on (XON).
    pub go_at: u32,
}

/// What becomes of one message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MessageFault {
    /// Id of the node that it goes to.
    pub to: u16,
    /// Its command.
    pub command: Command,
    /// The n-th of this command to that node, repetitions included; 1 = the first.
    pub nth: u32,
    /// What happens to it.
    pub fate: Fate,
}

/// What happens to a message between protocol and host.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It never leaves.
    Lose,
    /// It leaves twice.
    Duplicate,
    /// It leaves later. Others overtake it.
    Delay(Duration),
}

/// One step of a script. Messages are named by what they say, as charts write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    /// The application wants a conduit.
    Create {
        /// Id of the peer.
        peer: u16,
    },
    /// A message that waits leaves.
    Deliver {
        /// Id of the peer.
        peer: u16,
        /// What it says.
        message: String,
    },
    /// A message that waits is lost.
    Lose {
        /// Id of the peer.
        peer: u16,
        /// What it says.
        message: String,
    },
    /// A message that waits is there twice.
    Duplicate {
        /// Id of the peer.
        peer: u16,
        /// What it says.
        message: String,
    },
    /// A request is repeated.
    Repeat {
        /// Id of the peer.
        peer: u16,
        /// What it says.
        message: String,
    },
    /// An OPEN is given up.
    GiveUp {
        /// Id of the peer.
        peer: u16,
        /// Its number.
        number: u32,
    },
    /// The return OPEN of a peer has been awaited for long enough.
    Watch {
        /// Id of the peer.
        peer: u16,
    },
    /// The node asks whether the peer still has its stream.
    Query {
        /// Id of the peer.
        peer: u16,
        /// StreamID.
        stream: u16,
    },
    /// The node forgets everything; StreamIDs and numbers are not used again.
    Restart,
}
