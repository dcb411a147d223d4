//! What Scheduled Transfer comes to, over type 9 streams or another medium, on a path without competition.

use crate::config::Medium;
use crate::path::{Path, pdu_packets};
use logical::engine::stream::Mtu;
use lp_serial::cost::IdSize;
use scheduled_transfer::llp::ethernet;
use scheduled_transfer::wire::HEADER_BYTES;

/// Octets of a frame around the payload of an operation.
const FRAME_OCTETS: u32 = (ethernet::OVERHEAD_BYTES + HEADER_BYTES) as u32;

/// The way of Data and the way of its permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferPath {
    /// From the source to the destination.
    pub there: Path,
    /// From the destination to the source.
    pub back: Path,
    /// Packets of a frame with a whole STU.
    data: Vec<u32>,
    /// Packets of a Control operation.
    control: Vec<u32>,
    /// Octets of an STU.
    stu: u32,
}

impl TransferPath {
    /// `stu`: octets of a whole STU.
    pub fn new(there: Path, back: Path, stu: u32, mtu: Mtu, ids: IdSize, idle3: bool) -> Self {
        let data = pdu_packets(FRAME_OCTETS + stu, mtu, ids, idle3);
        let control = pdu_packets(FRAME_OCTETS, mtu, ids, idle3);
        TransferPath { there, back, data, control, stu }
    }

    /// The same over links of another medium.
    pub fn on_medium(there: Path, back: Path, stu: u32, medium: Medium) -> Self {
        let header = HEADER_BYTES as u32;
        let data = vec![medium.operation_octets(header + stu)];
        let control = vec![medium.operation_octets(header)];
        TransferPath { there, back, data, control, stu }
    }

    /// From the start of a whole STU to the end of the answer to it, ps. The computed RTT: defaults are
    /// multiples of it.
    pub fn round_trip(&self) -> u64 {
        self.there.latency(&self.data) + self.back.latency(&self.control)
    }

    /// From a Control operation to the answer, ps.
    pub fn question(&self) -> u64 {
        self.there.latency(&self.control) + self.back.latency(&self.control)
    }

    /// How long the slowest link is busy with a Block of so many octets, a multiple of the STU, ps: with its
    /// Data in one direction or with its Clear_To_Send in the other.
    pub fn block_time(&self, block: u64) -> u64 {
        let frames = block.div_ceil(self.stu.into());
        (frames * self.there.busy(&self.data)).max(self.back.busy(&self.control))
    }

    /// From the Clear_To_Send of a Block to its last octet, ps: what a window has to cover.
    pub fn block_latency(&self, block: u64) -> u64 {
        let frames = block.div_ceil(self.stu.into()) as usize;
        let packets: Vec<u32> = self.data.iter().copied().cycle().take(frames * self.data.len()).collect();
        self.back.latency(&self.control) + self.there.latency(&packets)
    }

    /// How long a destination may see nothing of a Block although nothing is lost, ps: the Op_timeout, and
    /// the time in which all Blocks that are enabled at the two ends pass.
    pub fn patience(&self, op_timeout: u64, enabled: u64, block: u64) -> u64 {
        op_timeout.saturating_add(enabled.saturating_mul(self.block_time(block)))
    }

    /// How long a Control operation may wait although nothing is lost, ps: `enabled` Blocks may be enabled
    /// over the connections of its two ends, and the Clear_To_Send of each goes first, alternating with Data.
    pub fn contention(&self, enabled: u64) -> u64 {
        enabled.saturating_mul(self.there.busy(&self.data) + self.back.busy(&self.control))
    }

    /// Share of the time in which the path of Data is busy with a Block that Clear_To_Send takes of the way
    /// back: numerator and denominator.
    pub fn cts_share(&self, block: u64) -> (u64, u64) {
        (self.back.busy(&self.control), self.block_time(block))
    }
}
