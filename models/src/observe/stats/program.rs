//! Totals of programs over transports of PDUs.

use super::RankStats;
use crate::config::ProgramTransport;
use crate::observe::totals::FlowTotals;

/// What ranks counted, since the start of the run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct CourierStats {
    /// Messages that the program sends.
    pub wanted: u64,
    /// Handed to the transport.
    pub sent: u64,
    /// There whole, and every octet is right.
    pub received: u64,
    /// Octets of messages that came, each compared.
    pub octets: u64,
    /// Confirmed by their receiver, of those that wait for it.
    pub confirmed: u64,
    /// PDUs that are not what they should be.
    pub corrupt: u64,
}

impl CourierStats {
    /// Adds the totals of another rank.
    pub fn add(&mut self, other: &CourierStats) {
        self.wanted += other.wanted;
        self.sent += other.sent;
        self.received += other.received;
        self.octets += other.octets;
        self.confirmed += other.confirmed;
        self.corrupt += other.corrupt;
    }
}

/// What a program has come to at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramTotals {
    /// Flow.
    pub flow: u16,
    /// What carries its messages.
    pub transport: ProgramTransport,
    /// Its ranks, in order.
    pub ranks: Vec<RankStats>,
    /// What they counted.
    pub stats: CourierStats,
    /// PDUs that wait for a connection, where the books of the transport do not know them.
    pub waiting: u64,
    /// Messages of which a PDU waits or is on its way, if the transport knows whose its PDUs are.
    pub on_their_way: Option<u64>,
}

impl FlowTotals for ProgramTotals {
    fn flow(&self) -> u16 {
        self.flow
    }
}
