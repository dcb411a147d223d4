//! LINX connections in the scenario language.

use super::{CarrierKind, Names, Picoseconds, ProgramSpec, Quantity, Share};
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
    /// What the node does where the protocol leaves room (default standard).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<LinxProfile>,
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
    /// What is sent is what a program sends: the endpoints of `from` are its ranks, in the order of their
    /// names.
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
    /// Whether results show a message sequence chart (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<bool>,
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
