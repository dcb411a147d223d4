//! Scheduled Transfers on endpoints: what the compiler says about each end.

use super::Medium;
use crate::goal::{Action, Schedule};
use scheduled_transfer::Extras;
use scheduled_transfer::wire::Function;
use sim_core::{Duration, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Scheduled Transfer on an endpoint, over type 9 streams or another medium.
#[derive(Clone, Debug)]
pub struct TransferConfig {
    /// Its device id, which its universal LAN address is made of.
    pub node: u16,
    /// The medium of its link, `None` for RapidIO.
    pub medium: Option<Medium>,
    /// Ids of its interfaces, `node` first: endpoints that are one host. The others have no agent.
    pub interfaces: Vec<u16>,
    /// Priority 0..=2 of its packets on RapidIO.
    pub priority: u8,
    /// That of its Control operations. One of their own goes with a stream of their own ([`Self::streams`]);
    /// otherwise the lower layer is one FIFO.
    pub control_priority: u8,
    /// Class of service of its stream.
    pub cos: u8,
    /// The stream: static, one for each ordered pair of ends.
    pub stream_id: u16,
    /// Parameters of the protocol. Keys begin where the agent draws.
    pub protocol: scheduled_transfer::Config,
    /// What it wants of each of `peers`.
    pub job: TransferJob,
    /// Ids of the ends that it connects to, in order.
    pub peers: Vec<u16>,
    /// Where frames go first to ends behind translators: the interface of the first one, by end. All others
    /// are reached without.
    pub through: Arc<BTreeMap<u16, u16>>,
    /// When it connects.
    pub connect_at: Time,
    /// Each connection is wanted up to this much later, drawn uniformly.
    pub spread: Duration,
    /// Transfers that it receives at a time, the others wait their turn; `None`: all.
    pub receives: Option<u32>,
    /// When its upper layer looks for news, and what that takes.
    pub upper: UpperLayer,
    /// What becomes of frames on their last step, by class: Control, Data.
    pub faults: [TransferFaults; 2],
    /// A delayed frame is up to this much late, drawn uniformly.
    pub delay: Duration,
    /// A rank of a program that it runs instead of `job`, whose connections stay.
    pub program: Option<ProgramConfig>,
    /// Name of its random streams.
    pub stream: String,
    /// Whether every operation is told to observers, in words.
    pub charted: bool,
    /// Whether every frame that leaves is told to observers, octet for octet.
    pub captured: bool,
}

/// So far above the stream of Data is that of Control operations, where it is another one: above those of
/// Data of all flows, and below those of LINX.
const CONTROL_STREAM: u16 = 0x4000;

/// Priority and stream of Control operations and of Data on RapidIO.
pub(super) fn streams(priority: u8, control_priority: u8, stream_id: u16) -> [(u8, u16); 2] {
    let own = control_priority != priority;
    let control = if own { stream_id + CONTROL_STREAM } else { stream_id };
    [(control_priority, control), (priority, stream_id)]
}

impl TransferConfig {
    /// Priority and stream of Control operations, and of Data.
    pub fn streams(&self) -> [(u8, u16); 2] {
        streams(self.priority, self.control_priority, self.stream_id)
    }

    /// A word as it lies in the memory of this end.
    pub fn octets_of(&self, word: u64) -> [u8; 8] {
        match self.protocol.attributes.little_endian {
            true => word.to_le_bytes(),
            false => word.to_be_bytes(),
        }
    }

    /// What octets in the memory of this end mean as a word.
    pub fn word_of(&self, octets: [u8; 8]) -> u64 {
        match self.protocol.attributes.little_endian {
            true => u64::from_le_bytes(octets),
            false => u64::from_be_bytes(octets),
        }
    }
}

/// What carries the messages of a program that are not Writes of Scheduled Transfer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ProgramTransport {
    /// Streams of session management.
    Session,
    /// LINX connections.
    Linx,
}

/// Octets of a message of a program in one PDU at most, where it is cut into PDUs (sessions and LINX).
pub const PROGRAM_PDU_OCTETS: u64 = 16_384;
/// Octets of the header of such a PDU.
pub const PROGRAM_PDU_HEADER: u64 = 24;

/// A rank of a program.
#[derive(Clone, Debug)]
pub struct ProgramConfig {
    /// The whole program, which can run.
    pub schedule: Arc<Schedule>,
    /// Device ids by rank.
    pub nodes: Arc<Vec<u16>>,
    /// Its own number.
    pub rank: u32,
    /// Sends of more octets are over when they are confirmed.
    pub eager: u64,
}

impl ProgramConfig {
    /// Messages that the rank sends.
    pub fn sends(&self) -> u64 {
        let ops = self.schedule.ranks[self.rank as usize].ops();
        ops.iter().filter(|op| matches!(op.action, Action::Send { .. })).count() as u64
    }

    /// Octets of the longest of them; 0 if there are none.
    pub fn longest(&self) -> u64 {
        let ops = self.schedule.ranks[self.rank as usize].ops().iter();
        let sent = ops.map(|op| if let Action::Send { octets, .. } = op.action { octets } else { 0 });
        sent.max().unwrap_or(0)
    }
}

/// What a Transfer is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A Write: the octets go to the peer.
    Write,
    /// A Read: they come from the peer.
    Read,
    /// A Write, and a Read of what was written.
    ReadBack,
    /// A Put into a persistent region of the peer.
    Put,
    /// A Get from such a region.
    Get,
    /// A FetchOp: the peer's word is incremented.
    FetchOp,
}

impl Operation {
    /// Whether it works on a persistent region of the peer.
    pub fn is_in_region(self) -> bool {
        matches!(self, Operation::Put | Operation::Get | Operation::FetchOp)
    }

    /// Whether the octets come from the peer.
    pub fn is_read(self) -> bool {
        matches!(self, Operation::Read | Operation::Get)
    }
}

/// The Transfers that an end asks each of its peers for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TransferJob {
    /// What is done with each peer.
    pub operation: Operation,
    /// Octets of a Transfer, at least 8.
    pub bytes: u64,
    /// Transfers for each peer, one after the other.
    pub count: u64,
    /// Of these, so many at a time.
    pub concurrent: u32,
    /// CTS_req: Blocks that the source wants enabled at a time; 0: all.
    pub cts_req: u16,
    /// Exponent of the Block size.
    pub blocksize: u16,
    /// Headers of Data are delivered: each takes a Slot.
    pub notify: bool,
    /// Send_State on the last Data of each so many Blocks, 0 for the last Block only.
    pub state_every: u32,
    /// The connection is taken down after its last Transfer.
    pub disconnect: bool,
    /// The end that was connected to takes the connection down so long after it was open there.
    pub disconnect_after: Option<Duration>,
    /// D: the Data Channel, 1 to 3.
    pub channel: u8,
    /// Opaque of the Data of Writes and Puts (6.2.10).
    pub opaque: u32,
    /// The last Data of each Block interrupts the upper layer of its receiver (7.4).
    pub interrupt: bool,
    /// What a FetchOp does to the word.
    pub function: Function,
    /// Where in a buffer of the destination a Write or Read begins, octets: F_Offset.
    pub first_offset: u64,
    /// Transfers have no length (T_len 0): octets of the rings of memory that they go through at both ends, a
    /// multiple of Blocks and buffers.
    pub ring: Option<u64>,
    /// Transfers, or regions with all that works on them, are ended by the application, if they are not over.
    pub end: Option<TransferEnding>,
    /// Interrupt and payload of Request_Connection, Request_To_Send, Request_To_Receive,
    /// Request_Memory_Region, Get and FetchOp.
    pub extras: Extras,
}

impl Default for TransferJob {
    /// One Write of 8 octets in Blocks of 8 KiB, eight of which are enabled at a time.
    fn default() -> Self {
        TransferJob {
            operation: Operation::Write,
            bytes: 8,
            count: 1,
            concurrent: 1,
            cts_req: 8,
            blocksize: 13,
            notify: false,
            state_every: 0,
            disconnect: true,
            disconnect_after: None,
            channel: 1,
            opaque: 0,
            interrupt: false,
            function: Function::Increment,
            first_offset: 0,
            ring: None,
            end: None,
            extras: Extras::default(),
        }
    }
}

impl TransferJob {
    /// Transfers over one connection that are under way at a time, at most.
    pub fn at_a_time(&self) -> u64 {
        u64::from(self.concurrent).min(self.count)
    }

    /// Data frames of one of them, of `stu` octets each.
    pub fn stus(&self, stu: u32) -> u64 {
        self.bytes.div_ceil(stu.into())
    }

    /// Blocks of all its Transfers over one connection that are enabled at a time, at most.
    pub fn enabled(&self) -> u64 {
        self.window().saturating_mul(self.at_a_time())
    }

    /// Blocks of one of them that are enabled at a time, at most.
    pub fn window(&self) -> u64 {
        // The first Block may be shorter. Nobody knows where a Transfer without a length ends.
        let length = self.bytes.div_ceil(1 << self.blocksize) + 1;
        let all = self.ring.map_or(length, |ring| ring >> self.blocksize);
        if self.cts_req == 0 { all } else { all.min(self.cts_req.into()) }
    }

    /// Octets by which its rate is counted: a Block, or, in a region, where there are none, an operation.
    pub fn unit(&self) -> u64 {
        if self.operation.is_in_region() { self.bytes.max(1) } else { 1 << self.blocksize }
    }

    /// Whether its Data takes Slots of the `slots` of its destination. Data that asks itself is not
    /// overtaken, and what it learns counts all that went before: if each does, none is held.
    pub fn holds_slots(&self, slots: u16) -> bool {
        let answers = matches!(self.operation, Operation::Get | Operation::FetchOp);
        self.notify && slots != u16::MAX && !answers
    }
}

/// The upper layer of an end: a program that does one thing at a time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct UpperLayer {
    /// What it takes for each header that is delivered; so long the header keeps its Slot.
    pub header: Duration,
    /// It looks at multiples of this, and goes on until nothing is left; 0: at once.
    pub poll: Duration,
    /// What it takes for each interrupt, which it also looks at between polls.
    pub interrupt: Duration,
}

impl UpperLayer {
    /// Whether it takes no time and never waits.
    pub fn is_immediate(&self) -> bool {
        *self == UpperLayer::default()
    }

    /// How long news may wait for it, if so many other operations are in front, each with a header and an
    /// interrupt, ps.
    pub fn wait(&self, operations: u64) -> u64 {
        let each = self.header.0.saturating_add(self.interrupt.0);
        self.poll.0.saturating_add(operations.saturating_mul(each))
    }
}

/// The application ends each Transfer (6.1.1.4).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TransferEnding {
    /// So long after it began, for the end that asked for it, or after it got memory, for the other one.
    pub after: Duration,
    /// The end that asked for it ends it; otherwise the other one.
    pub by_asker: bool,
}

/// What becomes of frames, in millionths.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TransferFaults {
    /// Lost.
    pub lost: u32,
    /// Doubled.
    pub doubled: u32,
    /// Late: overtaken by others.
    pub delayed: u32,
    /// One bit is wrong.
    pub damaged: u32,
}

impl TransferFaults {
    /// Whether nothing happens to frames.
    pub fn is_none(&self) -> bool {
        *self == TransferFaults::default()
    }
}
