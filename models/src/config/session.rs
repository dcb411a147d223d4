//! Session management on endpoints: what the compiler says about each node.

use super::{ProgramConfig, ServiceTime};
use session_management::attribute::{Attribute, Attributes, HeaderFormat, Id};
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
    /// Data header of streams to this node, where data travels in messages; of DATA2 the octet is chosen for
    /// each stream.
    pub header: HeaderFormat,
    /// Octets between header and payload of data messages that it asks for in its OPENs.
    pub data_offset: u8,
    /// Whose these octets are, if that is said; it advertises them then.
    pub offset_vendor: Option<[u8; 7]>,
    /// Shortest and longest MTU that it takes, where it speaks Ethernet; the OPEN asks for the longest.
    pub mtu: (u16, u16),
    /// A further OPEN for a stream gets the one that there is.
    pub reuses: bool,
    /// REQUEST is answered by ADVERTISE; if not, it is an unknown command.
    pub advertises: bool,
    /// Frames kept for a stopped stream, where it speaks Ethernet: at least 1.
    pub frames_kept: u16,
    /// Vendors' attributes in its OPENs and its ADVERTISE.
    pub attributes: Vec<Attribute>,
    /// Whose they are, where the protocol does not say it.
    pub vendor: Option<[u8; 7]>,
    /// Vendors' attributes that it understands in an OPEN.
    pub understands: Vec<Id>,
    /// USERDEFINED commands for which it has a handler.
    pub user_commands: Vec<u8>,
    /// USERDEFINED commands that it sends.
    pub commands: Vec<UserCommand>,
    /// StreamIDs of the vendors' range on which it takes data without OPEN.
    pub vendor_streams: Vec<u16>,
    /// Id of the node that repeats broadcasts of Ethernet for all, if one does.
    pub server: Option<u16>,
    /// Segments of Ethernet behind nodes, by their ids.
    pub bridges: Arc<BTreeMap<u16, Outside>>,
    /// Class of service of streams to this node.
    pub cos: u8,
    /// The high class of messages goes before others in the queues of the host.
    pub classes: bool,
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
    /// What of its registers it writes itself.
    pub own: OwnRegisters,
    /// Register blocks that it has: one for each conveyance, or fewer if its Component Tag stands for one.
    pub blocks: u8,
    /// What no block says of where it takes messages its Component Tag says.
    pub tagged: bool,
    /// Whether it looks at the Component Tags of nodes without a block.
    pub reads_tags: bool,
    /// Whether it looks at the Component Tag of a node whose blocks do not offer its own conveyance.
    pub reads_beside: bool,
    /// Ids whose registers it reads to find out whom it opens conduits to; empty: it knows them.
    pub scans: Vec<u16>,
    /// It asks for the attributes of a peer (REQUEST) before it opens anything.
    pub asks_first: bool,
    /// It asks for them when an OPEN was refused, once, and opens again what was.
    pub asks_after: bool,
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
    pub restarts: Vec<Restart>,
    /// When nodes restart, by their ids.
    pub lives: Arc<BTreeMap<u16, Vec<Time>>>,
    /// The application that takes PDUs; without one they are taken at once.
    pub consumer: Option<Consumer>,
    /// What becomes of messages that it sends.
    pub faults: Vec<MessageFault>,
    /// The scenario lets messages of the flow leave twice, those of any node.
    pub doubles: bool,
    /// What happens when; every message that it sends waits for the script, and no timer runs by itself.
    pub script: Option<Vec<(Time, ScriptStep)>>,
    /// A rank of a program that it runs over its conduits.
    pub program: Option<ProgramConfig>,
    /// Whether every message is told to observers.
    pub charted: bool,
    /// Time between the instants at which conduits, records and streams of all nodes are counted.
    pub census: Option<Duration>,
}

impl SessionConfig {
    /// What its registers say of where it takes messages: each block one contact, in their order, then the
    /// Component Tag. Beside a block it is the mailbox that stands in the tag (Annex 2 3.3).
    pub fn announced(&self) -> Vec<Contact> {
        let own = self.directory[&self.node];
        let mut contacts: Vec<Contact> = own.contacts().collect();
        if self.tagged && self.blocks > 0 {
            contacts.sort_by_key(|contact| matches!(contact, Contact::Mailbox(_)));
        }
        contacts
    }

    /// Whether an id is that of the group to which Ethernet broadcasts go.
    pub fn is_group(&self, id: u16) -> bool {
        matches!(self.protocol, SessionProtocol::Ethernet { multicast: Some(group), .. } if group == id)
    }
}

/// What of its registers the processor of a node writes itself, as their first stage.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OwnRegisters {
    /// Where it takes management messages.
    pub contact: bool,
    /// The three periods.
    pub periods: bool,
    /// The stage that follows, which is somebody else's; 0: the registers are complete.
    pub next: u8,
}

impl OwnRegisters {
    /// It writes all there is.
    pub const ALL: Self = Self { contact: true, periods: true, next: 0 };
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
    /// Streams to each peer: so many, one after the other.
    Streams(u16),
    /// Nothing: data goes on this StreamID of the vendors' range.
    Nothing(u16),
}

/// A USERDEFINED command that a node sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserCommand {
    /// When.
    pub at: Time,
    /// Id of the node that it goes to.
    pub to: u16,
    /// CMD, from 0xF0 on.
    pub code: u8,
    /// User data.
    pub data: Vec<u8>,
}

/// A restart of a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Restart {
    /// When.
    pub at: Time,
    /// StreamIDs and numbers of OPENs begin where they began before.
    pub reuses: bool,
    /// Hardware reset: so long its software is not up, and its registers say that it takes no part.
    pub reset: Option<Duration>,
}

/// What the registers of a node would say.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Where it takes management messages.
    pub contact: Contact,
    /// Where else: on the other conveyance, if it is on two.
    pub second: Option<Contact>,
    /// REQUEST_RETRY_PERIOD, REQUEST_TIMEOUT_PERIOD and FLOW_CONTROL_XON_TIMEOUT_PERIOD, microseconds.
    pub periods: [u32; 3],
    /// It takes data on streams without OPEN as DATA3, by type 9.
    pub typed_data: bool,
}

impl Announcement {
    /// Where it takes management messages, of one conveyance or of two.
    pub fn contacts(&self) -> impl Iterator<Item = Contact> + use<> {
        [self.contact].into_iter().chain(self.second)
    }

    /// Whether this stream is one of management messages to it.
    pub fn manages_on(&self, stream: u16, cos: u8) -> bool {
        self.contacts().any(|contact| contact == Contact::Stream { stream, cos })
    }

    /// Where a node with `own` contact sends messages to it, if it knows that without registers.
    pub fn contact_for(&self, own: Contact) -> Contact {
        self.contacts().find(|contact| contact.goes_like(own)).unwrap_or(self.contact)
    }

    /// Node-wide attributes: the periods.
    pub fn attributes(&self) -> Attributes {
        let [retry, timeout, xon] = self.periods;
        let periods = [
            Attribute::retry_period(retry),
            Attribute::timeout_period(timeout),
            Attribute::xon_timeout_period(xon),
        ];
        periods.into_iter().collect()
    }
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
    /// A vendor's protocol.
    Vendor {
        /// Value of VENDOR.
        vendor: [u8; 7],
        /// Value of PROTOCOL_NAME.
        name: [u8; 7],
        /// ACCEPT hands out StreamIDs of the vendors' range.
        streams: bool,
    },
    /// Ethernet frames.
    Ethernet {
        /// Every n-th PDU is broadcast: a copy to each peer. 0: none.
        broadcast_every: u32,
        /// Id of a multicast group that is sent one copy for all: the switches make the others.
        multicast: Option<u16>,
    },
}

/// A segment of Ethernet behind a node that bridges it to the fabric.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Hosts in the segment, at least one.
    pub hosts: u16,
    /// Bits in a second.
    pub rate: u64,
    /// Whether broadcasts pass, both ways.
    pub broadcasts: bool,
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
