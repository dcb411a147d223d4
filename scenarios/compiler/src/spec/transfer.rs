//! Scheduled Transfer in the scenario language.

use super::{AutoOffTime, AutoTime, Names, Picoseconds, Quantity, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scheduled Transfers: every endpoint of `from` connects to every endpoint of `to`, asks it for its
/// Transfers, and takes the connection down. A frame is an Ethernet frame in a type 9 stream; the priority is
/// that of the flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StSpec {
    /// What is done with each endpoint of `to` (default write).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<TransferKind>,
    /// Octets of a Transfer, 8 to 1073741824 (not for a program, nor for fetch_op, which has 8).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 8, max = 1_073_741_824))]
    pub bytes: Option<u64>,
    /// What is sent is what a program sends: the endpoints of `from` are its ranks, in the order in which the
    /// topology has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSpec>,
    /// Transfers for each pair (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_294_967_296_u64))]
    pub count: Option<u64>,
    /// Of these, so many at a time (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub concurrent: Option<u32>,
    /// CTS_req: Blocks that the source wants enabled at a time (default 8). 0: all of the Transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u16>,
    /// Octets of a Block: a power of two, 256 to 1073741824 (default 8192).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// Octets of a whole STU, a power of two from 256 (default 1024): to 1024 on ethernet and atm-dix, 4096
    /// on atm-token-ring-4, 8192 on atm-lane, 16384 on atm-token-ring-16, 32768 on RapidIO and other media.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stu: Option<u32>,
    /// Transfers that a destination receives at a time; others wait for their turn (default: no limit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub receives: Option<u32>,
    /// Slots of each end of a connection, 3 to 65534 (default 64); 65535: they are not counted. Four are
    /// enough for all that two ends can do at a time, three for one silent Transfer. With two, an answer
    /// would never tell of more than one, and one stays for the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 3))]
    pub slots: Option<u16>,
    /// Headers of Data are delivered, and take a Slot each (default false: Data is silent).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notify: Option<bool>,
    /// The state is asked for with each so many Blocks (default 0: with the last one only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_every: Option<u32>,
    /// Checksums are sent and checked (default true).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<bool>,
    /// The connection is taken down after its last Transfer (default true). One whose region does not come is
    /// in any case: nothing can be done on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disconnect: Option<bool>,
    /// The end that was connected to takes the connection down so long after it was open there, whatever is
    /// under way: what is not over then fails (default: it does not).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disconnect_after: Option<Quantity<Picoseconds>>,
    /// Op_timeout, by the protocol clock (default "auto": 10 times the longest round trip of a pair, or
    /// one and what the buffers on the way hold if that is longer, and the time that everything takes that
    /// may be in front of a Control operation at the ends).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op_timeout: Option<Quantity<AutoTime>>,
    /// Max_Retry: how often an operation is sent again (default 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_retry: Option<u32>,
    /// After how long without a Block a destination enables the missing ones again, by the protocol clock
    /// (default "auto": the Op_timeout, and the time that everything takes that may be enabled); or "off".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_timeout: Option<Quantity<AutoOffTime>>,
    /// Priority of Control operations on RapidIO (default: that of the flow). With one of their own they
    /// have a stream of their own, and do not wait behind Data of a lower priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 2))]
    pub control_priority: Option<u8>,
    /// Class of service of the stream (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cos: Option<u8>,
    /// When the endpoints connect (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Quantity<Picoseconds>>,
    /// Each endpoint of `from` connects this much after the one before it (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Quantity<Picoseconds>>,
    /// Each connection is wanted up to this much later, at random (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Quantity<Picoseconds>>,
    /// Frames that are lost at the end of their way, at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<FrameShares>,
    /// Frames that arrive twice, at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubled: Option<FrameShares>,
    /// Frames that arrive late, at random: by up to `delay`, and others overtake them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed: Option<FrameShares>,
    /// Frames that arrive with one wrong bit which their medium does not see, at random: anywhere in a
    /// Control operation, in the payload of Data. They need checksums at both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<FrameShares>,
    /// The longest delay of frames that are late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Quantity<Picoseconds>>,
    /// Endpoints that are interfaces of one host: Blocks are striped over them (default 1 and 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripes: Option<StripesSpec>,
    /// The Data Channel, D (default 1). On hippi-6400 that is the virtual channel; other media carry all of
    /// them in one order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3))]
    pub channel: Option<u8>,
    /// Opaque: what Data of write, read_back and put brings for the upper layer of the other end (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<u32>,
    /// The last Data of each Block interrupts the upper layer of its receiver (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<bool>,
    /// What every request carries for the upper layer of the other end: of connections, Transfers and
    /// regions, Get and FetchOp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestSpec>,
    /// What fetch_op does to the word (default increment).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<FunctionKind>,
    /// Bufsize: octets of a receive buffer, a power of two from `stu` to 4294967296 (default 65536). No STU
    /// crosses the end of a buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bufsize: Option<u64>,
    /// F_Offset: where in their first buffer destinations let write, read and read_back begin, octets
    /// (default 0). The first Block is so much shorter that the others begin at multiples of `block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_offset: Option<u64>,
    /// Transfers of write and read have no length (T_len 0): they go through a ring of so many octets at
    /// each end, a multiple of `block` and of `bufsize`, and their source ends them after `bytes` (default:
    /// they have a length).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 256, max = 1_073_741_824))]
    pub ring: Option<u64>,
    /// The application ends each Transfer of write, read and read_back that is not over, or, for put, get and
    /// fetch_op, their region, and with it all of these that are not over (default: it waits).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<EndSpec>,
    /// Blocks may be sent in any order, and asked for again (Out_of_Order; default true). Without it, a
    /// Transfer that misses a Block after `missing_timeout` is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<bool>,
    /// What expects an answer is repeated, and Transfers and Puts are confirmed (default true). Otherwise
    /// that is true of the connection alone, and a Write is over when it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reliable: Option<bool>,
    /// Data operations that one checksum protects (default 0: all of a Block).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum_segment: Option<u32>,
    /// The last checksum of a Block travels in a Data operation of its own, without payload (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trailers: Option<bool>,
    /// Byte order of the words of an end (default big).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_order: Option<ByteOrderKind>,
    /// What the upper layer of each end takes, and when it looks for news (default: nothing, and at once).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper: Option<UpperSpec>,
    /// Ends that declare something else; of several entries for one end the last counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Vec<StEndSpec>>,
    /// Whether results show a message sequence chart (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart: Option<bool>,
}

/// What an end declares to others when a connection is set up, where it is not what the flow says.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StEndSpec {
    /// The endpoints.
    pub endpoints: Names,
    /// Octets of the largest STU that it receives (Max_STU), a power of two from 256 to the flow's `stu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stu: Option<u32>,
    /// Octets of the largest STU that it sends, whatever its peer takes (default: the flow's `stu`), a power
    /// of two from 256 to that. A Block that it offers has at most 65536 STUs of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<u32>,
    /// Octets of its receive buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bufsize: Option<u64>,
    /// Its Slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 3))]
    pub slots: Option<u16>,
    /// Whether it sends and receives Blocks in any order; that needs both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_of_order: Option<bool>,
    /// Byte order of its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_order: Option<ByteOrderKind>,
    /// Whether it sends and checks checksums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<bool>,
}

/// The upper layer of an end: it does one thing at a time. All that the protocol has to tell waits for it:
/// requests of the other end, headers of Data, and that something is done.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpperSpec {
    /// What each header of Data takes that is delivered (default "0 ps"). So long it keeps its Slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<Quantity<Picoseconds>>,
    /// It looks at multiples of this time, and goes on until nothing is left (default "0 ps": at once).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Quantity<Picoseconds>>,
    /// What each interrupt takes, which comes first and makes it look between polls (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<Quantity<Picoseconds>>,
}

/// What requests carry.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// They interrupt the upper layer (default false).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupt: Option<bool>,
    /// 32 octets of payload, as 64 hexadecimal digits (default: none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

/// How the application ends Transfers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndSpec {
    /// So long after a Transfer began: after it was asked for, also if its request still waits to leave, and
    /// then never does; or, by the other end, after it got memory there. A region began when it could be
    /// used, or, by the other end, when it got memory there.
    pub after: Quantity<Picoseconds>,
    /// Which end does it (default from).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<EnderKind>,
}

/// Who ends a Transfer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnderKind {
    /// The end that asked for it.
    From,
    /// The other one.
    To,
}

/// What a FetchOp does to the word after it was read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FunctionKind {
    /// One more.
    Increment,
    /// One less, modulo 2 to the power of 64.
    Decrement,
    /// Zero. The word begins as 1.
    Clear,
}

/// Byte order of words.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ByteOrderKind {
    /// The most significant octet first.
    Big,
    /// The least significant octet first.
    Little,
}

/// A program: a GOAL file, or a collective operation of all ranks. Its connections or conduits are set up at
/// `at` and stay; what it sends before they are open waits.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramSpec {
    /// GOAL file beside the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The lines of a GOAL file themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Vec<String>>,
    /// A collective operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collective: Option<CollectiveKind>,
    /// Octets of the collective operation: of the vector, or for each pair of an all-to-all (default 65536).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub octets: Option<u64>,
    /// A send of more octets is over when the receiver has confirmed it, a shorter one when the transport has
    /// it (default 65536).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eager: Option<u64>,
}

impl ProgramSpec {
    /// Octets of a collective operation, unless they are given.
    pub const VECTOR: u64 = 65_536;
}

/// A collective operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Reduces a vector and gives it to all: halves of it, then halves of these, at least an octet each;
    /// a power of two of ranks.
    AllreduceHalving,
    /// Reduces a vector and gives it to all, in a ring, in shares of equal length; of what cannot be divided
    /// the first shares have an octet more, and a share of nothing is a message of one octet.
    AllreduceRing,
    /// Each rank sends to each other.
    AllToAll,
    /// Rank 0 sends to all, along a tree.
    Broadcast,
    /// All reduce into rank 0, along a tree.
    Reduce,
    /// Nobody goes on before all are there.
    Barrier,
    /// All send to rank 0.
    Gather,
}

/// What is asked of the other end.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransferKind {
    /// The octets go there.
    Write,
    /// The octets come here.
    Read,
    /// The octets go there, and come back: what is read is compared with what was written.
    ReadBack,
    /// The octets go into a persistent region of the other end.
    Put,
    /// The octets come from a persistent region of the other end; at most 65535.
    Get,
    /// A word of the other end is incremented, or what `function` says, and its value before comes here.
    FetchOp,
}

/// How many endpoints are a host, in the order in which the topology has them. The first of each sets
/// connections up.
#[derive(Copy, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StripesSpec {
    /// Of `from`.
    #[schemars(range(min = 1, max = 16))]
    pub from: u8,
    /// Of `to`.
    #[schemars(range(min = 1, max = 16))]
    pub to: u8,
}

/// Shares of frames, by class.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameShares {
    /// Of Control operations (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Share>,
    /// Of Data (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Share>,
}
