//! Totals that the fabric keeps for itself and hands out after a run.

pub(crate) mod linx;

use crate::probe::FACTS;
pub use linx::{GAP_CLASSES, GAP_PARTS, LinxEnd, LinxStats, LinxTotals, Times};

/// Totals of one port of one device since the start of the run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Packets whose transmission started.
    pub packets_sent: u64,
    /// Picoseconds in which the transmitter carried packets with their delimiters.
    pub packet_ps: u64,
    /// Picoseconds in which the transmitter carried symbols of their own (acknowledgements, status, messages,
    /// closing delimiters).
    pub symbol_ps: u64,
    /// Acknowledgement and status symbols that rode on a delimiter.
    pub status_riding: u64,
    /// Acknowledgement and status symbols that needed their own characters.
    pub status_standalone: u64,
    /// VoQ messages that rode on a symbol that was sent anyway.
    pub voq_riding: u64,
    /// VoQ messages that needed their own symbol.
    pub voq_standalone: u64,
    /// VoQ messages received through this port and applied.
    pub voq_received: u64,
    /// VoQ messages lost on purpose on their way from this port.
    pub voq_lost: u64,
    /// Refreshes of the whole state sent through this port.
    pub voq_refreshes: u64,
    /// Staging queues of this port stopped (edges).
    pub xoff_edges: u64,
    /// Staging queues of this port released (edges).
    pub xon_edges: u64,
    /// Sum over staging queues of the time stopped, picoseconds.
    pub stopped_ps: u64,
    /// Packets that found the egress queue of this port full although its detector was on: they blocked their
    /// input (VOQ-2.5-5).
    pub late_hol: u64,
    /// Packet-picoseconds of head-of-line blocking suffered in this port's receive buffers.
    pub hol_ps: u128,
    /// Packet-picoseconds held by backpressure at this port's transmitter.
    pub staged_ps: u128,
    /// Most packets ever held in the receive buffers.
    pub input_high_water: u32,
    /// Most packets ever waiting for the transmitter.
    pub output_high_water: u32,
}

/// Totals of one endpoint that runs protocols.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AgentStats {
    /// Most messages, PDUs and doorbells ever in the host's queue, the one being served included.
    pub rx_high_water: u32,
    /// Messages, PDUs and doorbells in that queue, times the picoseconds that they were there.
    pub rx_depth_ps: u128,
    /// The protocol clock: `now` of protocols = fabric time x this fraction.
    pub clock: (u64, u64),
    /// What its protocols did, all flows together.
    pub flows: FlowStats,
}

/// Totals of the protocols of one flow, since the start of the run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowStats {
    /// Messages, PDUs, doorbells, reads and writes that protocols sent.
    pub sent: u64,
    /// Of these, ended well: answered, or gone where there is no answer.
    pub completed: u64,
    /// Messages, PDUs and doorbells handed to protocols.
    pub delivered: u64,
    /// Answers handed to who had asked.
    pub round_trips: u64,
    /// Packets made, without responses of the logical layer; repetitions count again.
    pub requests: u64,
    /// Responses of the logical layer.
    pub responses: u64,
    /// Octets that all these packets take on the link, with their delimiters.
    pub link_octets: u64,
    /// Octets handed to protocols, read or written; padding not counted.
    pub payload: u64,
    /// Numbers of [`crate::probe::ProtocolFact`]s, by index.
    pub facts: [u64; FACTS],
}

impl FlowStats {
    /// Adds the totals of another endpoint.
    pub fn add(&mut self, other: &FlowStats) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.delivered += other.delivered;
        self.round_trips += other.round_trips;
        self.requests += other.requests;
        self.responses += other.responses;
        self.link_octets += other.link_octets;
        self.payload += other.payload;
        for (sum, count) in self.facts.iter_mut().zip(other.facts) {
            *sum += count;
        }
    }
}
