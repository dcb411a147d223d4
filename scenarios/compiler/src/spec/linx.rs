//! LINX connections in the scenario language.

use super::{AutoOffTime, CarrierKind, Names, Picoseconds, ProgramSpec, Quantity, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An endpoint as a node of LINX (RapidIO connection manager).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinxNodeSpec {
    /// What carries frames from this node (default message).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier: Option<CarrierKind>,
    /// Mailbox of type 11, 0 (default) to 63; above 3 a frame fits one segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 63))]
    pub mailbox: Option<u8>,
    /// Octets of a segment of type 11: 8, 16, 32, 64, 128 or 256 (default).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::segment_schema")]
    pub segment: Option<u16>,
    /// Class of service of type 9 (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cos: Option<u8>,
    /// Wanted octets of the longest frame, headers included (default 256): 64 to 65535, over type 11 up to 16
    /// segments. The smaller wish of both ends counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 64))]
    pub mtu: Option<u16>,
    /// Wanted period of heartbeats in units of 100 ms of the protocol clock (default 5; 0 means 5). The
    /// larger wish of both ends counts; three periods without a heartbeat end a connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hb_tmo: Option<u8>,
    /// Priority of frames that manage connections, 0 to 2 (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 2))]
    pub connection_priority: Option<u8>,
    /// Priority of heartbeats, 0 to 2 (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 2))]
    pub heartbeat_priority: Option<u8>,
    /// Priorities of data frames, 0 to 2 (default `[0]`). With several they take turns, and overtake each
    /// other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_priorities: Option<Vec<u8>>,
    /// Time between two requests for a connection, by the protocol clock (default "200 ms").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_period: Option<Quantity<Picoseconds>>,
    /// Time from the end of a connection to the next attempt, by the protocol clock (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconnect: Option<Quantity<Picoseconds>>,
    /// Each time up to this much later, at random (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconnect_spread: Option<Quantity<Picoseconds>>,
    /// Frames that one may be ahead of the next in order before the connection is reset, 1 to 32767 (default
    /// 64).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32767))]
    pub window: Option<u16>,
    /// How messages above the MTU are cut (default simple).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragmentation: Option<FragmentationKind>,
    /// What the node does where the protocol leaves room (default standard). Each of its choices can be made
    /// alone as well, by the settings that follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<LinxProfile>,
    /// A request is repeated up to this much earlier or later, at random, by the protocol clock (default: as
    /// the profile has it: "0 ps", or -128 ms to 127 ms). Less than `request_period`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_jitter: Option<Quantity<Picoseconds>>,
    /// What is a sign of life (default: heartbeat; linx_for_linux: any).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub liveness: Option<LinxLiveness>,
    /// When a silent connection is timed out (default: deadline; linx_for_linux: ticks).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supervision: Option<LinxSupervision>,
    /// Periods without a sign of life after which it is, from 1 (default 3, as the text says).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub periods: Option<u8>,
    /// How long a gap in the sequence numbers may stay open, by the protocol clock: "auto" (as long as the
    /// peer may stay silent), "off" (for ever) or a time (default: auto; linx_for_linux: off).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub gap_timer: Option<Quantity<AutoOffTime>>,
    /// What happens after a problem of the node itself (default: handshake; linx_for_linux: immediate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset_mode: Option<LinxResetMode>,
    /// What a request means to a connection that is up (default: acknowledge; linx_for_linux: teardown).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_request: Option<LinxRepeatedRequest>,
    /// When the first message may leave (default: proved; linx_for_linux: at_once).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<LinxOpening>,
    /// When a connection takes a new generation (default: connect; linx_for_linux: never).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renewal: Option<LinxRenewal>,
    /// Messages of a connection that may be in reassembly together, 1 to 256 (default 32). One more resets
    /// the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub open_messages: Option<u16>,
    /// Octets of the longest message that is sent or taken (default 16777216). A longer one resets the
    /// connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_message: Option<u32>,
    /// The first connection ID that the node hands out after each start; 0 counts as 1 (default: drawn).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_cid: Option<u16>,
    /// Generation of the first attempt of each connection after each start (default: drawn). A node that
    /// has one here begins with the same after it was down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u8>,
}

/// What is a sign of life.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxLiveness {
    /// Heartbeats.
    Heartbeat,
    /// Heartbeats and data.
    Any,
}

/// When a silent connection is timed out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxSupervision {
    /// So many periods after the last sign of life.
    Deadline,
    /// At so many ticks of the own heartbeat timer after it: up to a period sooner.
    Ticks,
}

/// What happens after a problem of the node itself, such as a malformed packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxResetMode {
    /// RESET is sent, and the application hears of it when the peer answers or supervision expires.
    Handshake,
    /// The application hears of it at once. Nothing is sent, no RESET is answered, and none is judged by its
    /// generation.
    Immediate,
}

/// What a request means to a connection that is up.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxRepeatedRequest {
    /// A late duplicate, if it agrees with what was negotiated and nothing was exchanged yet: it is answered.
    /// Else the end of the connection.
    Acknowledge,
    /// The end of the connection.
    Teardown,
}

/// When the first message may leave.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxOpening {
    /// When the peer has proved that it is up. A heartbeat leaves as soon as the own end is.
    Proved,
    /// As soon as the own end is up.
    AtOnce,
}

/// When a connection takes a new generation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxRenewal {
    /// At every attempt to connect.
    Connect,
    /// Never, while the node is up.
    Never,
}

/// How messages above the MTU are cut.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FragmentationKind {
    /// A first fragment and as many more as needed.
    Simple,
    /// Headers lie over the message, and what they cover is sent afterwards: the receiver copies little.
    Patch,
}

/// What a node does where the protocol leaves room.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxProfile {
    /// The text, and the safest reading where it is silent.
    Standard,
    /// What LINX for Linux 2.5.1 does: supervision by ticks, data is a sign of life, a repeated request ends
    /// a connection, local problems are not told to the peer.
    LinxForLinux,
}

/// LINX connections between every endpoint of `from` and every endpoint of `to`. Messages of `size` octets
/// are sent on them by `arrivals`; those that come while their connection is not up are refused.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinxSpec {
    /// When the nodes begin to connect (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Quantity<Picoseconds>>,
    /// Each endpoint of `from` begins this much after the one before it (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Quantity<Picoseconds>>,
    /// Each end of a connection begins up to this much later, at random (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Quantity<Picoseconds>>,
    /// Port of the connections at the endpoints of `from` (default 1). An endpoint is a node of its own in
    /// each flow, such as a core of a processor: flows that meet at an endpoint have different ports there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src_port: Option<u16>,
    /// Their port at the endpoints of `to` (default: `src_port`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst_port: Option<u16>,
    /// What is sent is what a program sends: the endpoints of `from` are its ranks, in the order in which the
    /// topology has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSpec>,
    /// Every message is answered by one of so many octets (default: none is).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<u16>,
    /// Frames that are lost on purpose, at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LinxLossSpec>,
    /// What goes wrong at nodes for a while.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Vec<LinxFaultSpec>>,
    /// Connections that applications give up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disconnects: Option<Vec<LinxDisconnectSpec>>,
    /// Frames that leave in the name of nodes, malformed ones and those of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inject: Option<Vec<LinxInjectSpec>>,
    /// Whether results show a message sequence chart (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<bool>,
}

/// Connections that applications give up, and perhaps want again.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinxDisconnectSpec {
    /// The nodes whose applications do so.
    pub node: Names,
    /// The other ends of these connections (default: all peers).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Names>,
    /// When.
    pub at: Quantity<Picoseconds>,
    /// For how long: then they connect again (default: to the end of the run).
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "for")]
    pub lasts: Option<Quantity<Picoseconds>>,
}

/// A frame that leaves in the name of a node: `octets` or `frame`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinxInjectSpec {
    /// When.
    pub at: Quantity<Picoseconds>,
    /// Endpoint that sends it.
    pub from: String,
    /// Endpoint that it goes to, a peer of `from`.
    pub to: String,
    /// The octets in hexadecimal digits, as `riosim encode riocm` writes them; spaces between octets are
    /// allowed. A frame that begins a message has 0xFFFFFFFF as its `src`, so that the message is told from
    /// those of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub octets: Option<String>,
    /// Whether ports, `sender`, connection IDs, generations and `seqno` in the octets count from those of the
    /// connection from `from` to `to`, and all that is there is added (default false: they leave as they
    /// are).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative: Option<bool>,
    /// A frame that is wrong in one point, and else as the connection would send it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<LinxFrameKind>,
}

/// A frame that is wrong in one point.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxFrameKind {
    /// Three octets: shorter than rio_frame.
    Short,
    /// A heartbeat with the number of another protocol.
    OtherProtocol,
    /// CONN_REQ of version 1 of the protocol.
    Version1,
    /// CONN_REQ that ends before it says who sends it.
    Headless,
    /// CONN_REQ with a type that there is not, 0x84.
    UnknownManagement,
    /// A heartbeat with a type that there is not, 0x07.
    UnknownType,
    /// SINGLE that is shorter than its size says.
    CutOff,
    /// SINGLE whose size is shorter than its header.
    ShortHeader,
    /// SINGLE whose message would be longer than what it carries.
    LongPayload,
    /// FRAG of a message that nobody has begun.
    StrayFragment,
    /// CONN_REQ for an MTU of 63.
    SmallMtu,
    /// CONN_RESET of another generation.
    OldReset,
    /// A heartbeat with a connection ID that is not in use.
    WrongCid,
    /// A heartbeat from another device.
    WrongSender,
    /// A heartbeat for a port that no core of the device has.
    WrongPort,
}

/// Shares of frames that are lost, by class.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinxLossSpec {
    /// Of frames that manage connections (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Share>,
    /// Of heartbeats (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Share>,
    /// Of data frames (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Share>,
}

/// Something that goes wrong at nodes for a while.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinxFaultSpec {
    /// The nodes.
    pub node: Names,
    /// What.
    pub kind: LinxFaultKindSpec,
    /// From when on.
    pub at: Quantity<Picoseconds>,
    /// For how long.
    #[serde(rename = "for")]
    pub lasts: Quantity<Picoseconds>,
    /// Again after so long, counted from beginning to beginning; goes with `times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Quantity<Picoseconds>>,
    /// Each time up to this much later, at random and at each node for itself (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Quantity<Picoseconds>>,
    /// How often (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100000))]
    pub times: Option<u32>,
}

/// What goes wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinxFaultKindSpec {
    /// Frames that the node sends wait, and leave together at the end: a path that is blocked.
    Stall,
    /// Frames that it sends are lost.
    Mute,
    /// Frames for it are lost.
    Deaf,
    /// Its link is down: both, and the node knows.
    LinkDown,
    /// It is down. At the end it begins anew.
    Crash,
}
