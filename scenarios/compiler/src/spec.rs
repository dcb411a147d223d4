//! The scenario language: what a file may say. Doc comments here are the reference manual: they become the
//! JSON Schema.

mod echo;
mod initialise;
mod layer;
mod linx;
mod require;
mod session;
mod transfer;
mod translator;

pub use echo::*;
pub use initialise::*;
pub use layer::Layer;
pub use linx::*;
pub use require::*;
pub use session::*;
pub use transfer::*;
pub use translator::*;

pub use crate::settings::*;
pub use crate::topology::{
    ChainSpec, DragonflySpec, ExplicitDevice, ExplicitLink, ExplicitSpec, FatTreeSpec, GridSpec,
    SingleSwitchSpec, StarSpec, Topology, XgftSpec,
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A scenario of riosim: a RapidIO fabric, the traffic in it, and how long to watch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Short name: results go to `results/<name>`. Letters, digits, - _ and .
    pub name: String,
    /// One line for the head of a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the scenario shows and what to look for; a list of lines is joined with spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Words>,
    /// Seed of all randomness (default 1). All variants use the same one, but those that set another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Permutes the order of simultaneous events (default 0 = off).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shake: Option<u64>,
    /// How long to run and what to watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunSpec>,
    /// Devices and links: a generator or an explicit list.
    pub topology: Topology,
    /// Settings of every link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkSpec>,
    /// Settings of every switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<SwitchSpec>,
    /// Settings of every endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointSpec>,
    /// Changes for the devices, ports and links that a pattern matches; later entries win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrides: Option<Vec<OverrideSpec>>,
    /// VoQ backpressure (RapidIO Part 12).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voq: Option<VoqSpec>,
    /// Width of destination ids, 8 or 16 bits (default: 8 if they suffice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "id_bits_schema")]
    pub id_bits: Option<u8>,
    /// How packets find their way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingSpec>,
    /// Multicast groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multicast: Option<Vec<MulticastSpec>>,
    /// Who sets ids, routes and VoQ enables (default builder).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configure: Option<Configure>,
    /// Devices that carry Scheduled Transfer from one medium to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translators: Option<Vec<TranslatorSpec>>,
    /// Flows: who sends what to whom.
    pub traffic: Vec<FlowSpec>,
    /// What goes wrong on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultSpec>,
    /// What the reports compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub declare: Option<DeclareSpec>,
    /// What results must show. A run that does not ends with exit status 4.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require: Option<Vec<RequireSpec>>,
    /// Names for values that sweeps vary: name -> JSON pointer, or several that take the same value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, Places>>,
    /// Runs side by side with the same random numbers. Without variants the file is one run called `base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<Vec<VariantSpec>>,
}

/// Text in one string or a list of lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Words {
    /// One string.
    One(String),
    /// Lines, joined with spaces.
    Lines(Vec<String>),
}

impl Words {
    /// The text as one string.
    pub fn joined(&self) -> String {
        match self {
            Self::One(text) => text.clone(),
            Self::Lines(lines) => lines.join(" "),
        }
    }
}

impl JsonSchema for Words {
    fn schema_name() -> Cow<'static, str> {
        "Words".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Text in one string or a list of lines.",
            "type": ["string", "array"], "items": {"type": "string"}
        })
    }
}

/// One pattern or a list of patterns for names of devices.
///
/// `*` stands for any characters, `?` for one, `{2..5}` for the numbers 2 to 5; an entry that starts with `!`
/// removes. `all` means every endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Names {
    /// One pattern.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Names {
    /// The patterns.
    pub fn patterns(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }

    /// Place of one of them in the file; `at` is that of all.
    pub(crate) fn place(&self, at: &str, pattern: &str) -> String {
        match self {
            Self::One(_) => at.to_owned(),
            Self::Many(list) => {
                list.iter().position(|p| p == pattern).map_or_else(|| at.to_owned(), |i| format!("{at}/{i}"))
            }
        }
    }
}

impl JsonSchema for Names {
    fn schema_name() -> Cow<'static, str> {
        "Names".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A pattern or a list of patterns: * any characters, ? one, {2..5} numbers; \
                            a leading ! removes; \"all\" is every endpoint.",
            "type": ["string", "array"], "items": {"type": "string"}
        })
    }
}

/// One JSON pointer or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Places {
    /// One place.
    One(String),
    /// Several places that take the same value.
    Many(Vec<String>),
}

impl Places {
    /// The pointers.
    pub fn pointers(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

impl JsonSchema for Places {
    fn schema_name() -> Cow<'static, str> {
        "Places".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A JSON pointer, or a list of pointers that take the same value.",
            "type": ["string", "array"], "items": {"type": "string"}, "minItems": 1
        })
    }
}

fn id_bits_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "enum": [8, 16]})
}

/// How long to run and what to watch.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// End of the run (default "1 ms").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Quantity<Picoseconds>>,
    /// What to cut off at the beginning: "auto" (default; found by MSER-5) or a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Quantity<AutoTime>>,
    /// Interval between observations of queues: "auto" (default: about a thousandth of the run, and no
    /// multiple of the interval of a constant flow), "off" or a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_every: Option<Quantity<AutoOffTime>>,
    /// A packet that has not moved for this long is a stall: "auto" (default: 1 000 packet times and 4 round
    /// trips, at least 2 refresh periods), "off" or a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_after: Option<Quantity<AutoOffTime>>,
    /// What to do at the first stall (default report).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_stall: Option<OnStall>,
    /// Whether somebody has cut the run short: what is to happen behind its end is told, and is no mistake.
    /// The `resolved.json` of such a run says so (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<bool>,
}

/// What to do at the first stall.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnStall {
    /// Say so and go on.
    Report,
    /// End the run.
    Stop,
}

/// Settings of a switch.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// Preset, one of those that `riosim list devices` prints (default generic). Public figures only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// How packets wait at an input (default voq).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputKind>,
    /// What stands between inputs and transmitters (default direct).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffering: Option<BufferingKind>,
    /// Packets of each priority that a crosspoint, an output buffer or the pool holds (default 16; not for
    /// direct).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub buffer_packets: Option<u16>,
    /// Who goes first (default round_robin).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arbitration: Option<ArbitrationKind>,
    /// Rounds of islip on direct outputs (default 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub iterations: Option<u8>,
    /// Cell clock: packets start only at its ticks, all outputs are matched at once: "off" (default), a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Quantity<OffTime>>,
    /// Packets that may leave one input buffer at the same time (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 192))]
    pub reads_per_input: Option<u8>,
    /// When a packet may start to leave (default store_and_forward).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forwarding: Option<ForwardingKind>,
    /// Latency from the deciding octet to eligibility at the output (default "100 ns").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Quantity<Picoseconds>>,
    /// Receive buffers of each port in packets of maximum size (default 16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 61))]
    pub input_buffers: Option<u8>,
    /// Watermarks WM0 > WM1 > WM2 > 0 that the neighbour's transmitter applies (default [4, 3, 2]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermarks: Option<[u8; 3]>,
    /// Staging queues of each output; overrides `voq.staging`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staging: Option<Staging>,
    /// Places in a crosspoint, an output buffer or the pool that packets of one staging queue may take for
    /// each output and priority (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub queue_quota: Option<u16>,
    /// Packets that the next hop has stopped do not count for verdicts on ports of this switch (default
    /// false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_out_stopped: Option<bool>,
    /// Part 12 abilities and registers of each port, and what it has instead of what `voq` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voq: Option<PortVoqSpec>,
}

/// How packets wait at an input.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// One queue for each input and priority: head-of-line blocking.
    Fifo,
    /// One queue for each input, output and priority.
    Voq,
}

/// What stands between inputs and transmitters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BufferingKind {
    /// Nothing.
    Direct,
    /// A buffer for each pair of input and output.
    Crosspoint,
    /// A buffer for each output.
    Output,
    /// One pool of buffers for all outputs (Part 12 §2.5).
    Shared,
}

/// Who goes first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArbitrationKind {
    /// The next input after the last one served.
    RoundRobin,
    /// The packet that has been in the switch longest.
    OldestFirst,
    /// The input from which most packets wait for the output.
    LongestQueueFirst,
    /// A random input.
    Random,
    /// iSLIP matching.
    Islip,
}

/// When a packet may start to leave.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForwardingKind {
    /// After its last octet has arrived.
    StoreAndForward,
    /// After the destination id has arrived, if the output is not faster than the input.
    CutThrough,
}

/// Settings of an endpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointSpec {
    /// Preset: "generic" (default) or "Tsi721". Public figures only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Receive buffers in packets of maximum size (default 16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 61))]
    pub input_buffers: Option<u8>,
    /// Watermarks WM0 > WM1 > WM2 > 0 that the neighbour's transmitter applies (default [4, 3, 2]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermarks: Option<[u8; 3]>,
    /// Staging queues of the injection queue; overrides `voq.staging`. "none" = the endpoint has no table of
    /// next-hop ports and ignores messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staging: Option<Staging>,
    /// The software side, for flows of messages, streams and requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostSpec>,
    /// What it is to flows of LINX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linx: Option<LinxNodeSpec>,
    /// What it is to flows of session management.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionNodeSpec>,
    /// Part 12 abilities and registers of the port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voq: Option<PortVoqSpec>,
}

/// The software side of an endpoint. Packets of traffic without `messages`, `streams` or `rpc` do not touch
/// it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostSpec {
    /// Time for each message, PDU or doorbell that came in (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_service: Option<ServiceSpec>,
    /// Time for each that goes out (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_service: Option<ServiceSpec>,
    /// Places for what came in, the one being served included (default 1024). Without a place messages and
    /// doorbells are answered by RETRY, and PDUs are discarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rx_queue: Option<u32>,
    /// Time of protocols = time of the fabric x this number or fraction (default 1): 1000 makes timeouts that
    /// are given a thousand times shorter (`check` says what comes out). Arrivals, services and what is
    /// "auto" are not scaled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_clock: Option<Share>,
    /// A packet that is not answered for so long is lost, and a message with it; reads and writes are asked
    /// three more times before. Receivers wait three times as long for the rest of a message, and for so long
    /// the letter of one that failed is not given to another. So long, or until its answer comes, rests the
    /// transaction ID of what was not answered: to each destination there are 112 for reads and writes, 16
    /// for registers, 128 for doorbells, and who has none left waits. By the protocol clock (default "auto":
    /// 1 ms of the fabric, whatever the clock).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_timeout: Option<Quantity<ResponseTime>>,
    /// From a RETRY until the packet is sent again (default "0 ps"), by the protocol clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_delay: Option<Quantity<Picoseconds>>,
    /// Packets of type 9 that the endpoint makes ahead, to wait for its link at once (default 1). One of them
    /// that backpressure holds keeps no others waiting as long as there are fewer than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub stream_packets: Option<u32>,
}

/// A service time: always the same ("500 ns"), or random.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ServiceSpec {
    /// Always the same.
    Fixed(Quantity<Picoseconds>),
    /// Random.
    Random(ServiceKind),
}

/// A random service time.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ServiceKind {
    /// Exponential with this mean.
    Exponential(Quantity<Picoseconds>),
    /// Uniform between two times, both included.
    Uniform([Quantity<Picoseconds>; 2]),
}

/// Part 12 abilities and registers of a port, and how it judges, tells and obeys. Enables count only while
/// `voq.enabled` is true.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortVoqSpec {
    /// GEN_SUP: can send messages (default by preset; generic switches can, endpoints cannot).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gen_sup: Option<bool>,
    /// RX_SUP: honours messages (default by preset; generic devices do).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_sup: Option<bool>,
    /// GEN_EN: sends messages through this port (default: if it can and the neighbour honours them).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gen_en: Option<bool>,
    /// PART: the status of this port is reported (default true).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<bool>,
    /// XOFF: this port is reported as congested in any case (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xoff: Option<bool>,
    /// LINK_SUP: can link messages with virtual channels (default: if its link has some and it stages inside
    /// them; a switch must be able to send messages, too). `voq.linked` uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_sup: Option<bool>,
    /// When this egress port is congested (default `voq.thresholds`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// Whose packets count for this egress port (default `voq.verdict`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictKind>,
    /// Period in which all states are repeated through this port (default `voq.refresh`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Quantity<RefreshTime>>,
    /// Generation delay of messages through this port (default `voq.generation_delay`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation_delay: Option<Quantity<Picoseconds>>,
    /// All states are told again after the link of this port has recovered (default `voq.after_recovery`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_recovery: Option<bool>,
    /// From the end of the symbol of a message to what it does to the staging queues of this port (default
    /// `voq.obey_latency`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obey_latency: Option<Quantity<Picoseconds>>,
}

/// Changes for what a pattern matches. Give `devices` (whole devices), `port` ("device:port": the registers
/// of one port) or `link` ("device:port" or a device: the links that touch it).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverrideSpec {
    /// Devices to change with `switch` or `endpoint`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Names>,
    /// Port to change with `voq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Links to change with `links`: "device:port", or a device for all its links; patterns are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// New settings of the matched switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<SwitchSpec>,
    /// New settings of the matched endpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointSpec>,
    /// New registers of the matched port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voq: Option<PortVoqSpec>,
    /// New settings of the matched links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkSpec>,
}

/// VoQ backpressure (RapidIO Part 12).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoqSpec {
    /// Turns the mechanism on (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Staging queues that a device keeps for each egress link (default per_port).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staging: Option<Staging>,
    /// When an egress port is congested, in packets (default on 8, off 4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// Whose packets count (default per_ingress).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictKind>,
    /// Period in which all states are repeated: "default" (16 x 1024 code-groups of the slowest link of the
    /// switch), "off" or a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Quantity<RefreshTime>>,
    /// Delay from a change of the verdict to the symbol being ready to send (default "20 ns").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation_delay: Option<Quantity<Picoseconds>>,
    /// All states are told again after a link has recovered from an error (default true).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_recovery: Option<bool>,
    /// From the end of the symbol of a message to what it does to the staging queues of who hears it, at most
    /// "1 us" (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obey_latency: Option<Quantity<Picoseconds>>,
    /// LINK_EN: messages are linked with virtual channels wherever both ends of a link can do that (default
    /// false). Then a message is about one channel, and each channel has verdicts of its own; otherwise it is
    /// about all of them, and packets of all count together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linked: Option<bool>,
    /// Writes to registers and thresholds of switches during the run (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<VoqWriteSpec>>,
}

/// A write to what ports of switches report by: the Port n VoQ Control Status register (Part 12 §5.1.2.2),
/// and thresholds, for which there is no register. What is not given keeps its value. With
/// `configure: fabric` the host makes those to registers: it reads each through the fabric and writes it.
/// Thresholds are written at their time in any case.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoqWriteSpec {
    /// When; a host begins then, or when it has set the fabric up and is done with what is before in the
    /// list.
    pub at: Quantity<Picoseconds>,
    /// Ports of switches: "device:port"; patterns are allowed.
    pub port: String,
    /// GEN_EN: messages are sent through this port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gen_en: Option<bool>,
    /// PART: the status of this port is reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<bool>,
    /// XOFF: this port is reported as congested in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xoff: Option<bool>,
    /// When this egress port is congested from now on. What waits for it is judged at once: congested at `on`
    /// or more, clear at `off` or fewer, in between as before. Beside bits of the register they are written
    /// first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
}

/// Staging queues that a device keeps for each egress link, and which port of the neighbour uses which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Staging {
    /// None: one queue for all, messages are ignored.
    None,
    /// One queue for each port of the neighbour.
    PerPort,
    /// This many queues; queue = port modulo their number.
    Modulo(#[schemars(range(min = 1, max = 192))] u8),
    /// The queue of each port of the neighbour.
    Table(Vec<u8>),
}

/// Hysteresis in packets: congested at `on` or more, clear at `off` or fewer; `off` < `on`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// Congested when this many packets wait for the port.
    pub on: u16,
    /// Clear again when only this many wait.
    pub off: u16,
}

/// Whose packets count for the verdict on an egress port.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// All packets for the egress port; every upstream device hears the same.
    Shared,
    /// Each ingress port's own packets; each upstream device hears about its own.
    PerIngress,
}

/// How packets find their way.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutingSpec {
    /// Method of the computed tables (default auto).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<RoutingMethod>,
    /// Root switch of up_down (default: the first in the order of names).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Entries that replace computed ones: switch -> destination -> port number or "drop". A destination is a
    /// pattern of endpoint names, an id number, or, with the method "tables", "default" for all ids that have
    /// no other entry. The name of an endpoint goes before its id, an id before a pattern, and of patterns
    /// the one that comes later in the order of their characters. Multicast groups go by trees over their
    /// members, whatever the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<BTreeMap<String, BTreeMap<String, RouteTarget>>>,
    /// Accepts routing that can deadlock (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_deadlock: Option<bool>,
}

/// Where a routing entry leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RouteTarget {
    /// Through this port.
    Port(u32),
    /// "drop".
    Word(String),
}

impl JsonSchema for RouteTarget {
    fn schema_name() -> Cow<'static, str> {
        "RouteTarget".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A port number, or \"drop\".",
            "type": ["integer", "string"], "minimum": 0, "maximum": 65535
        })
    }
}

/// Who sets ids, routes and VoQ enables.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Configure {
    /// Everything is set when the run begins.
    Builder,
    /// A host explores the fabric by reading registers through it, gives ids in the order in which it finds
    /// endpoints, writes routing tables and VoQ enables, and then lets the endpoints send. No traffic starts
    /// before.
    Fabric(FabricSetup),
}

/// The host that sets the fabric up. Its `host.response_timeout` and `host.tx_service` apply.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FabricSetup {
    /// Name of the endpoint that does it. Its id is 0.
    pub host: String,
    /// Priority of its requests, 0 to 2 (default 2); responses take the priority above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 2))]
    pub priority: Option<u8>,
}

/// A multicast group.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MulticastSpec {
    /// Name, used as a destination of flows.
    pub name: String,
    /// Destination id (default: the lowest free one after those of the endpoints).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// Endpoints that receive a copy.
    pub members: Names,
}

/// A named flow. All `from` endpoints send by the same rule, each with its own random numbers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Unique name: packets are reported under it.
    pub name: String,
    /// Who sends (not for a trace).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Names>,
    /// Where to (not for a trace).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<To>,
    /// When packets are created (flows of session management and LINX may do without; those of Scheduled
    /// Transfer, and those that initialise registers, always do).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalSpec>,
    /// Payload in octets: a number (default 256) or a list of {payload, weight}.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeSpec>,
    /// Kind of packet (default nwrite): sets the header and so the length on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<PacketKind>,
    /// The flow sends messages of type 11; `size` is that of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessagesSpec>,
    /// The flow sends PDUs of type 9; `size` is that of a PDU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<StreamsSpec>,
    /// What is sent are requests, and each is answered. `saturated.backlog` is the number of requests under
    /// way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpc: Option<RpcSpec>,
    /// LINX connections, and messages over them; `size` is that of a message. Several such flows may meet at
    /// an endpoint if they have different ports there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linx: Option<LinxSpec>,
    /// Conduits of session management, and PDUs on them; `size` is that of a PDU. Several such flows may meet
    /// at an endpoint if each has a protocol of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionSpec>,
    /// Scheduled Transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub st: Option<StSpec>,
    /// Registers of session management that processors write from afar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initialise: Option<InitialiseSpec>,
    /// Messages that come back at once; `size` is that of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<EchoSpec>,
    /// Width of the address in read and write packets: 34 (default), 50 or 66.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "address_bits_schema")]
    pub address_bits: Option<u8>,
    /// Priority 0 (default) to 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 3))]
    pub priority: Option<u8>,
    /// Virtual channel: 0 (default) or VC1 to VC8, for which all links need `vcs`. Links that have fewer
    /// channels ignore the low bits of the name: with 2 channels VC1 to VC4 are VC1, the others VC5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 8))]
    pub vc: Option<u8>,
    /// First instant (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Quantity<Picoseconds>>,
    /// No packet is created from here on (default: the end of the run).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Quantity<Picoseconds>>,
    /// Most packets of each source (default: no limit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// Messages of type 11: 1 to 16 segments, each answered.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagesSpec {
    /// Mailbox 0 (default) to 3; up to 63 for messages of one segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 63))]
    pub mailbox: Option<u8>,
    /// Octets of a segment: 8, 16, 32, 64, 128 or 256 (default).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "segment_schema")]
    pub segment: Option<u16>,
}

/// PDUs of type 9: cut into segments of the MTU, not answered.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamsSpec {
    /// Octets of a segment: 32 to 256 (default) in steps of 4; the same in the whole system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 32, max = 256))]
    pub mtu: Option<u16>,
    /// Class of service (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cos: Option<u8>,
}

/// Request and response.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RpcSpec {
    /// What carries both (default: a stream if the flow has `streams`, else a message).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<RpcVia>,
    /// Octets of a response (default 8). Of a read it is what is read; a write has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<u32>,
    /// How long a client waits, by the protocol clock (default "100 ms").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Quantity<Picoseconds>>,
}

/// What carries requests and responses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RpcVia {
    /// Type 11 both ways.
    Message,
    /// Type 9 both ways.
    Stream,
    /// Type 2, answered by type 13 with data: the host of the other end is not involved.
    Read,
    /// Type 5 with response, answered by type 13.
    Write,
}

fn segment_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "enum": [8, 16, 32, 64, 128, 256]})
}

fn address_bits_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "enum": [34, 50, 66]})
}

/// Where packets go: the name of an endpoint or multicast group, an id, or a pattern.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum To {
    /// An endpoint or a multicast group.
    Name(String),
    /// A destination id.
    Id(u32),
    /// A pattern of destinations.
    Pattern(ToPattern),
}

/// A pattern of destinations.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToPattern {
    /// Each packet to a random endpoint.
    Uniform(UniformSpec),
    /// Each source to one partner.
    Permutation(PermutationSpec),
    /// A share of the packets to one of a few hot endpoints, the rest uniform over the others.
    Hotspot(HotspotSpec),
    /// All sources (but the target itself) to one target.
    Incast(IncastSpec),
    /// Source i of n, in the order of ids, to i + ceil(n/2) - 1: the worst case of rings.
    Tornado(AmongSpec),
    /// Source i, in the order of ids, to i + 1.
    Neighbour(AmongSpec),
    /// The listed destinations in turn.
    Cycle(Vec<String>),
}

/// Uniform destinations.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformSpec {
    /// Candidates (default all endpoints).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among: Option<Names>,
    /// Whether a source also sends to itself (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_self: Option<bool>,
}

/// Endpoints that take part, in the order of their ids (default all).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AmongSpec {
    /// Endpoints that take part, in the order of their ids (default all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among: Option<Names>,
}

/// A permutation of the endpoints; who is mapped to itself sends nothing.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermutationSpec {
    /// Which one.
    pub kind: PermutationKind,
    /// Endpoints that take part, in the order of their ids (default all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among: Option<Names>,
    /// Seed of the random permutation (default: the seed of the scenario).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// A permutation on positions 0..n in the order of ids. All but random want n to be a power of two, transpose
/// an even one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermutationKind {
    /// Every bit inverted.
    BitComplement,
    /// Bits in reverse order.
    BitReverse,
    /// Upper and lower half of the bits exchanged.
    Transpose,
    /// Bits rotated left by one.
    Shuffle,
    /// A random permutation without fixed points, each of them as likely.
    Random,
}

/// Hot and cold destinations.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HotspotSpec {
    /// Hot endpoints.
    pub hot: Names,
    /// Share of the packets that go to them. A source without any cold endpoint sends all packets to hot
    /// ones, one without any other hot endpoint none.
    pub share: Share,
    /// Flow under which hot packets are reported (default `<flow>.hot`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_flow: Option<String>,
}

/// All to one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncastSpec {
    /// The endpoint that everybody sends to.
    pub target: String,
}

/// When packets are created. `load` is the share of time that the injection link carries packets with their
/// delimiters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalSpec {
    /// Exponential gaps.
    Poisson(PoissonSpec),
    /// A Bernoulli trial in each slot.
    Bernoulli(BernoulliSpec),
    /// Equal gaps.
    Constant(ConstantSpec),
    /// Bursts with exponential on- and off-periods.
    OnOff(OnOffSpec),
    /// As fast as the link takes them.
    Saturated(SaturatedSpec),
    /// Recorded packets.
    Trace(TraceSpec),
}

/// Exponential gaps.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonSpec {
    /// Offered load of each source.
    pub load: Share,
}

/// A Bernoulli trial in each slot.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliSpec {
    /// Offered load of each source.
    pub load: Share,
    /// Slot (default: the time of one packet, rounded up to a picosecond).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<Quantity<Picoseconds>>,
}

/// Equal gaps: give `load` or `interval`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantSpec {
    /// Offered load of each source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Share>,
    /// Time between two packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Quantity<Picoseconds>>,
    /// Time of the first packet after the start: "random" (default: anywhere below the interval, each
    /// source has its own) or a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Quantity<RandomTime>>,
}

/// Bursts with exponential on- and off-periods.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Offered load of each source, averaged over bursts and pauses.
    pub load: Share,
    /// Mean burst.
    pub on: Quantity<Picoseconds>,
    /// Mean pause.
    pub off: Quantity<Picoseconds>,
}

/// As fast as the link takes them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaturatedSpec {
    /// Packets that always wait at the source (default 4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub backlog: Option<u16>,
}

/// Recorded packets: lines `time_ps,src,dst,bytes,prio,ftype` after a header line; `src` and `dst` are names
/// or ids.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// CSV file beside the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The lines themselves, without header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<String>>,
}

/// Payload of packets.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SizeSpec {
    /// Always this many octets.
    Fixed(u32),
    /// A mix.
    Mix(Vec<SizeShare>),
}

/// One part of a mix of sizes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeShare {
    /// Octets of payload.
    pub payload: u32,
    /// Relative frequency.
    pub weight: u32,
}

/// Kind of packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacketKind {
    /// Type 5 write.
    Nwrite,
    /// Type 6 streaming write.
    Swrite,
    /// Type 2 read request, no payload.
    Nread,
    /// Type 9 data streaming, one segment.
    DataStreaming,
    /// Type 10 doorbell, no payload.
    Doorbell,
    /// Type 11 message segment.
    Message,
    /// Type 13 response.
    Response,
}

/// What goes wrong on purpose.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// VoQ messages that are lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lose_voq_symbols: Option<Vec<LossSpec>>,
    /// Random bit errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit_errors: Option<Vec<BitErrorSpec>>,
    /// Packets and symbols that are damaged by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Vec<CorruptSpec>>,
    /// Links that go down, and come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outages: Option<Vec<OutageSpec>>,
    /// Links that lose lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane_losses: Option<Vec<LaneLossSpec>>,
    /// Ports that tell no free buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_credits: Option<Vec<SilenceSpec>>,
    /// Devices that die: all their links go down for good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_devices: Option<Vec<DeathSpec>>,
}

/// Random bit errors on links: packets, symbols and the idle sequence between them are hit alike.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BitErrorSpec {
    /// Links: "device:port", or a device for all its links; patterns are allowed. Both directions have
    /// errors. The last entry about a link counts: what is about many links goes first.
    pub link: String,
    /// Probability that a bit (of 10 to a character) is wrong, 0 to 0.01; or one for each lane. Characters
    /// are dealt to the lanes in turn, so the mean counts.
    pub rate: BitErrorRate,
    /// Characters that an error damages (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub burst: Option<u32>,
}

/// A bit error rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BitErrorRate {
    /// One rate for all lanes.
    All(f64),
    /// Lane by lane.
    Lanes(Vec<f64>),
}

/// A packet or a symbol that is damaged.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CorruptSpec {
    /// Device that sends it.
    pub device: String,
    /// Port through which it leaves.
    pub port: u32,
    /// What counts.
    pub what: CorruptKind,
    /// The n-th of them is damaged, 1 = the first; packets that are sent again count again.
    #[schemars(range(min = 1))]
    pub nth: u64,
}

/// What is damaged.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CorruptKind {
    /// Packets.
    Packet,
    /// Control symbols.
    Symbol,
}

/// A link that goes down.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutageSpec {
    /// Links: "device:port", or a device for all its links; patterns are allowed.
    pub link: String,
    /// When they go down.
    pub at: Quantity<Picoseconds>,
    /// For how long; without it for good.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Quantity<Picoseconds>>,
    /// Flapping: from one going down to the next; needs `times`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Quantity<Picoseconds>>,
    /// Flapping: how often they go down (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub times: Option<u32>,
}

/// A link that loses lanes: it goes down and comes back narrower than it was.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaneLossSpec {
    /// Links: "device:port", or a device for all its links; patterns are allowed.
    pub link: String,
    /// When it goes down.
    pub at: Quantity<Picoseconds>,
    /// How long the lanes need to train again.
    pub retrain: Quantity<Picoseconds>,
    /// Width afterwards (default "1x").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<Quantity<Lanes>>,
}

/// A port that tells its neighbour no free buffers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SilenceSpec {
    /// Device.
    pub device: String,
    /// Port.
    pub port: u32,
    /// From when on.
    pub at: Quantity<Picoseconds>,
    /// For how long; without it for good.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub lasts: Option<Quantity<Picoseconds>>,
}

/// A device that dies.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeathSpec {
    /// Device.
    pub device: String,
    /// When.
    pub at: Quantity<Picoseconds>,
}

/// One lost VoQ message.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossSpec {
    /// Device that sends it.
    pub device: String,
    /// Port through which it leaves.
    pub port: u32,
    /// Which messages count.
    pub kind: LossKindSpec,
    /// The n-th of them is lost, 1 = the first.
    #[schemars(range(min = 1))]
    pub nth: u32,
}

/// Which messages count for a loss.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossKindSpec {
    /// Those that clear a bit.
    Xon,
    /// Those that set a bit.
    Xoff,
    /// All.
    Any,
}

/// What the reports compare.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclareSpec {
    /// Flows that suffer from others' congestion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub victims: Option<Vec<String>>,
    /// Flows that cause it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot: Option<Vec<String>>,
}

/// One variant: the file with some values replaced.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantSpec {
    /// Unique name.
    pub name: String,
    /// JSON pointer -> new value. An element of a list may be named by its position or its `name`:
    /// `/traffic/hot/priority`. Where both would do, the name counts.
    #[serde(default)]
    pub set: BTreeMap<String, serde_json::Value>,
    /// Name of the variant that words and figures compare this one with. Without it that is one that asks for
    /// the same, found by the names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare_with: Option<String>,
}
