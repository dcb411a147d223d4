//! Session management in the scenario language.

use super::{Names, Picoseconds, ProgramSpec, Quantity, Rate, ServiceSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An endpoint as a node of session management (RapidIO Annex 2).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionNodeSpec {
    /// How OPEN and ACCEPT are matched to conduits (default corrected).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<AlgorithmKind>,
    /// Whether reserved fields of messages are checked (default false: non-validation mode).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<bool>,
    /// What carries management messages to this node (default message). One on both conveyances sends by type
    /// 11 to nodes that are on both, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<ManagementKind>,
    /// What carries data to this node (default message: DATA; stream: DATA3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<CarrierKind>,
    /// Mailbox for management messages, 0 (default) to 63; above 3 they fit one packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 63))]
    pub mailbox: Option<u8>,
    /// Mailbox for data (default: that for management messages).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 63))]
    pub data_mailbox: Option<u8>,
    /// StreamID for management messages over type 9 (default 57343).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u16>,
    /// Class of service of that stream, and of streams to this node (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cos: Option<u8>,
    /// Whether ACCEPT, CLOSE, FLOW_CONTROL and STATUS go before other messages in the queues of the host,
    /// both sent and received (default false: all go in their order). On the way they have a higher priority
    /// over type 11, and none over type 9.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<bool>,
    /// Octets of a segment of type 11: 8, 16, 32, 64, 128 or 256 (default). A message that would have too
    /// many of them is sent in longer ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::segment_schema")]
    pub segment: Option<u16>,
    /// REQUEST_RETRY_PERIOD that this node announces, by the protocol clock (default "250 ms").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Quantity<Picoseconds>>,
    /// REQUEST_TIMEOUT_PERIOD that this node announces, by the protocol clock (default "1 s").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Quantity<Picoseconds>>,
    /// FLOW_CONTROL_XON_TIMEOUT_PERIOD that this node announces, by the protocol clock: sources that it has
    /// stopped go on so long after its last XOFF, which it repeats after half of that (default "1 s").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xon_timeout: Option<Quantity<Picoseconds>>,
    /// Conduit records for one peer at most (default 65536): where the storm of the printed algorithm is
    /// stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub record_limit: Option<u32>,
    /// First StreamID that this node hands out to each peer (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 57343))]
    pub first_stream: Option<u16>,
    /// StreamIDs that one peer can have at this node at most, those that rest after a CLOSE included (default
    /// 57344: all). Who asks for more is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 57344))]
    pub stream_limit: Option<u16>,
    /// Header of data messages to this node, where data goes by type 11 (default data).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<HeaderKind>,
    /// Octets between header and payload of data messages (DATA_OFFSET) on streams that this node opens,
    /// where what the peer has advertised leaves that (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_offset: Option<u8>,
    /// Whose the Offset octets are: seven characters, or an OUI of three octets. DATA_OFFSET_VENDOR goes
    /// before DATA_OFFSET then, and the node advertises both, so that who asks sends Offset octets too.
    /// Those of Ethernet are always somebody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_offset_vendor: Option<String>,
    /// MTU of Ethernet that this node takes: a number alone, or any from one to another, of which its OPEN
    /// asks for the largest (default: that of the flow).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<MtuSpec>,
    /// Whether who opens a further stream to this node gets the one that it has (default false: a new one).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse_stream: Option<bool>,
    /// Whether this node answers REQUEST by ADVERTISE (default true); if not, it reports an unknown command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advertises: Option<bool>,
    /// Ethernet frames that this node keeps for a stream that is stopped, the youngest ones (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub frames_kept: Option<u16>,
    /// Vendors' attributes that this node advertises and has in its OPENs, eight octets each in hexadecimal
    /// digits. They take a vendor's protocol, or `vendor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor_attributes: Option<Vec<String>>,
    /// Whose they are, where the protocol is not a vendor's: seven characters, or an OUI of three octets.
    /// VENDOR goes before them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Identifiers of vendors' attributes that this node understands, in hexadecimal digits: "78" to "7f",
    /// "ef00" to "efff", "fe000000" to "ffffffff". It refuses an OPEN with any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub understands: Option<Vec<String>>,
    /// Codes of USERDEFINED commands for which this node has a handler, 240 to 255; others it reports as
    /// unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_commands: Option<Vec<u8>>,
    /// StreamIDs of the vendors' range, 57344 to 61439, on which this node takes data without OPEN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor_streams: Option<Vec<u16>>,
    /// Whether a stopped source with data says so by RTS (default true).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rts: Option<bool>,
    /// The node takes nothing in and says nothing (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mute: Option<bool>,
    /// How nodes know where to send management messages (default assumed: it is hard-coded).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<ContactKind>,
    /// Where this node says how it takes management messages, if a host sets the fabric up (default block).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announces: Option<AnnouncesKind>,
    /// What the processor of this node writes into its registers itself, as their first stage (default:
    /// contact and periods, which is all there is). The rest is for other processors: `initialise` of flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<RegisterPart>>,
    /// How long a node waits before it reads the registers again of one that is still initialising, by the
    /// protocol clock (default "1 s").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Quantity<Picoseconds>>,
    /// The node offers no protocol: it refuses every OPEN (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuses: Option<bool>,
    /// The application that takes PDUs (default: they are taken at once).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer: Option<ConsumerSpec>,
}

/// How OPEN and ACCEPT are matched to conduits.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlgorithmKind {
    /// The pseudo-code as printed.
    Literal,
    /// The pseudo-code with the one check that the text around it describes.
    Minimal,
    /// Sound under loss, repetition and reordering.
    Corrected,
}

/// What carries messages or data.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CarrierKind {
    /// Type 11.
    Message,
    /// Type 9.
    Stream,
}

/// What carries management messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ManagementKind {
    /// Type 11.
    Message,
    /// Type 9.
    Stream,
    /// Type 11 and type 9, with a register block for each: nodes that are on one of them use that one.
    Both,
}

/// Header of data messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeaderKind {
    /// DATA: 12 octets, PDUs of up to 65535.
    Data,
    /// DATA1: 16 octets, PDUs of up to 4 Gi.
    Data1,
    /// DATA2: 4 octets, and a PDU is one message.
    Data2,
}

/// An MTU, or a range of them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MtuSpec {
    /// This one alone.
    One(#[schemars(range(min = 1))] u16),
    /// Any of a range.
    Range(MtuRange),
}

/// A range of MTUs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MtuRange {
    /// The smallest.
    #[schemars(range(min = 1))]
    pub from: u16,
    /// The largest.
    #[schemars(range(min = 1))]
    pub to: u16,
}

/// How nodes know where to send management messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContactKind {
    /// It is hard-coded.
    Assumed,
    /// This node reads the registers of others through the fabric, which a host sets up: `configure`.
    Registers,
}

/// Where a node says how it takes management messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnnouncesKind {
    /// In its register block 0x000C.
    Block,
    /// It has no such block, and says so in its Component Tag.
    ComponentTag,
    /// It is on both conveyances, with a block for type 9; its Component Tag says its mailbox.
    BlockAndTag,
}

/// A part of what the registers of a node say.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RegisterPart {
    /// Where it takes management messages: the Advertisement CSR, or the Component Tag.
    Contact,
    /// Its three periods: attributes of the block.
    Periods,
}

impl RegisterPart {
    /// All parts.
    pub const ALL: [Self; 2] = [Self::Contact, Self::Periods];

    /// Its name in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Contact => "contact",
            Self::Periods => "periods",
        }
    }
}

/// An application that takes PDUs one after the other.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsumerSpec {
    /// Time for each PDU.
    pub service: ServiceSpec,
    /// PDUs that wait when it stops its streams by XOFF (default: it never does).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub stop_at: Option<u32>,
    /// PDUs that wait when it lets them go on by XON (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub go_at: Option<u32>,
}

/// Conduits of session management: every endpoint of `from` opens one to every endpoint of `to`. PDUs of
/// `size` octets are sent on them by `arrivals`; those that come before their conduit wait for it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSpec {
    /// ProtoID (default 512).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u16>,
    /// PDUs are Ethernet frames (ProtoID 258); `size` is that of their payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ethernet: Option<EthernetSpec>,
    /// PDUs are those of a vendor's protocol (ProtoID 257).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<VendorSpec>,
    /// Streams that an endpoint of `from` opens to each of `to`, where it opens streams (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub streams: Option<u16>,
    /// USERDEFINED commands that nodes send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_defined: Option<Vec<UserCommandSpec>>,
    /// What is opened (default conduit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opens: Option<OpensKind>,
    /// Whether the endpoints of `from` find their peers themselves: they read the registers of all endpoints
    /// but nodes of other flows of sessions, and open conduits or streams to those that take part, whoever
    /// `to` names (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<bool>,
    /// Whether attributes of a peer are asked for (REQUEST, ADVERTISE) before anything is opened (default
    /// false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<bool>,
    /// Whether attributes of a peer are asked for when it has refused an OPEN, once; what was refused is then
    /// opened again with what they leave of the own ones (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_after_refuse: Option<bool>,
    /// When the endpoints of `from` open their conduits (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Quantity<Picoseconds>>,
    /// Each endpoint of `from` begins this much after the one before it (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Quantity<Picoseconds>>,
    /// Each conduit is wanted up to this much later, at random (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Quantity<Picoseconds>>,
    /// When the endpoints of `from` close their conduits, or all streams that they have opened (default:
    /// never). One that opens later, because its OPEN was lost for example, is closed as soon as it is there;
    /// what was not asked for by then is not. A node that restarts later (`restarts`) begins anew, and closes
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close_at: Option<Quantity<Picoseconds>>,
    /// What is sent is what a program sends, over conduits of its ranks, each with each that it talks to: the
    /// endpoints of `from` are its ranks, in the order in which the topology has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSpec>,
    /// Nodes that forget everything and begin anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restarts: Option<Vec<RestartSpec>>,
    /// Messages that are lost, duplicated or delayed on their way from the protocol to the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<MessageFaultSpec>>,
    /// Octets that leave as management messages, as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject: Option<Vec<InjectSpec>>,
    /// Every message waits until the script calls it, and no timer runs by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptSpec>,
    /// Whether results show a message sequence chart (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<bool>,
    /// Time between the instants at which conduits, records, streams and leaked streams of all nodes are
    /// counted, for a series, a figure and what a leaked stream costs (default: they are not).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub census: Option<Quantity<Picoseconds>>,
}

/// What nodes open.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpensKind {
    /// Conduits: two streams, one each way.
    Conduit,
    /// Streams, from `from` to `to`.
    Stream,
    /// Nothing: data goes on this StreamID of the vendors' range, 57344 to 61439, without OPEN.
    VendorStream(u16),
}

/// A vendor's protocol. Ends whose vendor or name differs do not speak the same protocol.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VendorSpec {
    /// Seven characters, or an OUI of three octets: "00:1b:21".
    pub vendor: String,
    /// One to seven characters.
    pub name: String,
    /// Whether ACCEPT hands out StreamIDs of the vendors' range, 57344 to 61439 (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<bool>,
}

/// A USERDEFINED command that a node sends.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserCommandSpec {
    /// When.
    pub at: Quantity<Picoseconds>,
    /// Endpoint that sends it.
    pub from: String,
    /// Endpoint that it goes to.
    pub to: String,
    /// Its code, 240 to 255.
    #[schemars(range(min = 240))]
    pub code: u8,
    /// User data in hexadecimal digits, up to 240 octets (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub octets: Option<String>,
}

/// Octets that leave as a management message, as they are.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InjectSpec {
    /// When.
    pub at: Quantity<Picoseconds>,
    /// Endpoint that sends them.
    pub from: String,
    /// Endpoint that they go to.
    pub to: String,
    /// The octets in hexadecimal digits, as `riosim encode smp` writes them; spaces between octets are
    /// allowed.
    pub octets: String,
}

/// Ethernet frames.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EthernetSpec {
    /// Octets of the longest payload (default 1500).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub mtu: Option<u16>,
    /// Every n-th frame is a broadcast: a copy to each peer that is known when it is sent (7.3.2), because
    /// its OPEN or ACCEPT has come or it has advertised Ethernet. It waits for no conduit: before that nobody
    /// gets it (default 0: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast_every: Option<u32>,
    /// Multicast group, with id 254, or 65534 where ids have 16 bits, to which a broadcast goes: the switches
    /// make the copies. All nodes and no others are its members, and take management messages on one stream
    /// of type 9 (default: the source makes a copy for each peer).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multicast: Option<String>,
    /// Node that repeats broadcasts for all: each node sends one frame to it, and it sends a copy to each of
    /// the others (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Nodes that bridge a segment of Ethernet to the fabric. What is sent to them is for the hosts in the
    /// segment, each in turn, and what they send comes from these (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridges: Option<Vec<BridgeSpec>>,
}

/// A node that bridges a segment of Ethernet to the fabric, as a layer-2 switch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BridgeSpec {
    /// The node.
    pub node: String,
    /// Hosts in the segment (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub hosts: Option<u16>,
    /// Rate of the segment, in bits a second (default "1 Gb/s").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity<Rate>>,
    /// Whether broadcasts pass, both ways (default true).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcasts: Option<bool>,
}

/// A node that begins anew.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestartSpec {
    /// The nodes.
    pub node: Names,
    /// When.
    pub at: Quantity<Picoseconds>,
    /// Hardware reset: so long the node takes nothing in and says nothing, and its registers and its
    /// Component Tag say that it takes no part, as after power-up; then its software is up, writes what is
    /// its own of them, and begins anew; resets that overlap are one, up to the end of the last (default: the
    /// software alone restarts, at once, and registers stay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Quantity<Picoseconds>>,
    /// Whether StreamIDs and numbers of OPENs begin as they began at first (default false: they are not used
    /// again), so that what is still under way may be taken for something of the new life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<bool>,
}

/// What becomes of one message.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageFaultSpec {
    /// Endpoint that sends it.
    pub from: String,
    /// Endpoint that it goes to. A frame to a multicast group goes to no endpoint, and is not one of these.
    pub to: String,
    /// Its command.
    pub message: CommandKind,
    /// The n-th of this command on this way, repetitions included; 1 = the first.
    #[schemars(range(min = 1))]
    pub nth: u32,
    /// What happens to it.
    pub fate: FateSpec,
}

/// A command of session management.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandKind {
    /// OPEN.
    Open,
    /// ACCEPT.
    Accept,
    /// REFUSE.
    Refuse,
    /// What carries data: DATA, DATA1 or DATA2, and in a stream of type 9 a PDU.
    Data,
    /// XOFF, XON, RTS.
    FlowControl,
    /// CLOSE.
    Close,
    /// STATUS.
    Status,
}

/// What happens to a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FateSpec {
    /// It never leaves.
    Lose,
    /// It leaves twice.
    Duplicate,
    /// It leaves this much later, and others overtake it.
    Delay(Quantity<Picoseconds>),
}

/// What happens when, step by step.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptSpec {
    /// Whether some delays of messages give the same order of events with the timers at their periods. A
    /// label: `false` is told as a warning (SC077), and nothing else changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realisable: Option<bool>,
    /// The steps.
    pub steps: Vec<StepSpec>,
}

/// One step of a script.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepSpec {
    /// When.
    pub at: Quantity<Picoseconds>,
    /// Endpoint at which something happens; of messages, the one that sends.
    pub node: String,
    /// The other end.
    pub peer: String,
    /// What happens.
    #[serde(rename = "do")]
    pub action: StepAction,
}

/// What happens in a step. Messages are named by what they say, in the words of charts: "OPEN 0 (F,F)".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepAction {
    /// The application wants a conduit.
    Create,
    /// A message that waits leaves.
    Deliver(String),
    /// A message that waits is lost.
    Lose(String),
    /// A message that waits is there twice.
    Duplicate(String),
    /// A request is repeated.
    Repeat(String),
    /// The OPEN with this number is given up.
    GiveUp(u32),
    /// The OPEN of the peer has been awaited for long enough.
    Watch,
    /// The node asks the peer about this stream.
    Query(u16),
    /// The node forgets everything.
    Restart,
}
