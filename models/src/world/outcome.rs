//! What a run of the world leaves behind.

use crate::config::FabricConfig;
use crate::link::symbol::WireChecked;
use crate::observe::stats::{AgentStats, FlowLeft, FlowStats, LinkStats, PortStats};
use crate::observe::totals::Totals;
use crate::registers::enumeration::EnumerationReport;
use sim_core::{Fingerprint, Time};

/// A stall that the watchdog found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallReport {
    /// When it was found.
    pub at: Time,
    /// When the packet stopped moving.
    pub since: Time,
    /// `true`: the walk came back to where it was (deadlock); `false`: it ended (stall).
    pub cycle: bool,
    /// The walk, one line of text a step, the stuck packet first.
    pub walk: Vec<String>,
}

/// State of a run after a slice of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The event budget of the slice is used up; call again.
    Running,
    /// Simulated time reached the limit.
    Limit,
    /// Nothing is left to happen up to the limit or after it.
    Drained,
    /// The watchdog found a stall and the scenario says stop.
    Stalled,
}

/// GEN_EN of a port was cleared, and its neighbour goes on to hold back what is for ports of which it heard
/// last that they are congested: no message comes from there any more (VOQ-D34).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftStopped {
    /// When it was written.
    pub at: Time,
    /// Device index, and port.
    pub port: (u32, u8),
    /// Ports of the device that its neighbour takes for congested, in order.
    pub congested: Vec<u8>,
}

impl Outcome {
    /// Writes after which a neighbour was left with what it had been told, and is to the end.
    pub fn left_stopped(&self, config: &FabricConfig) -> Vec<LeftStopped> {
        let across = |port: (u32, u8)| {
            let link = config.links.iter().find(|link| [link.a, link.b].contains(&port))?;
            Some(if link.a == port { link.b } else { link.a })
        };
        let left = |&(port, at): &((u32, u8), Time)| {
            let neighbour = across(port)?;
            let (_, congested) = self.held.iter().find(|(held, _)| *held == neighbour)?;
            Some(LeftStopped { at, port, congested: congested.clone() })
        };
        self.silent.iter().filter_map(left).collect()
    }
}

/// What is left after a run besides what the probe collected.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Simulated time at the end: the limit, unless everything was over before. Then the last thing that
    /// happened: a packet reached its destination or was dropped, a message arrived, a protocol or a fault
    /// acted. (Nobody waits for acknowledgements that are still on their way.) A packet that is left
    /// somewhere waits until the limit.
    pub end: Time,
    /// Nothing was left to happen, then or later, and no packet was left anywhere: what had not arrived never
    /// will.
    pub over: bool,
    /// Totals of every port: (device, port, totals), in device and port order.
    pub ports: Vec<(u32, u8, PortStats)>,
    /// Totals of every endpoint that runs protocols: (device, totals), in device order.
    pub agents: Vec<(u32, AgentStats)>,
    /// Messages and packets of every flow, whichever protocol runs it; empty if no endpoint runs any.
    pub protocols: Vec<FlowStats>,
    /// What each protocol that counts for itself came to: conduits, connections, Transfers, programs, echoes.
    pub totals: Totals,
    /// Totals of every end of a link that runs in symbol granularity: (device, port, totals), in that order.
    pub links: Vec<(u32, u8, LinkStats)>,
    /// What the host that set the fabric up did, if there is one.
    pub enumeration: Option<EnumerationReport>,
    /// Hash of deliveries, drops, staging edges and what protocols met, with their times.
    pub outcome: Fingerprint,
    /// Hash of every effect: packet starts (arrivals follow from them) and messages, with their times.
    pub trajectory: Fingerprint,
    /// Stalls found.
    pub stalls: Vec<StallReport>,
    /// Ports whose GEN_EN was cleared during the run and is 0 at its end, with when, in the order of devices.
    pub silent: Vec<((u32, u8), Time)>,
    /// What the neighbour of a port has said last, as far as it arrived: its congested ports, if there are
    /// any.
    pub held: Vec<((u32, u8), Vec<u8>)>,
    /// Events handled by the kernel.
    pub events: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Of these, in symbol granularity.
    pub symbol_hops: u64,
    /// What was written as bytes and read back, if that was asked for.
    pub wire_checked: WireChecked,
    /// Packets created.
    pub injected: u64,
    /// Additional copies made by multicast.
    pub replicated: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets still in the fabric or at their source.
    pub in_flight: u64,
    /// What of every flow is still under way, in the order of the flows.
    pub left: Vec<FlowLeft>,
}

/// Adds what a part of the fabric has come to, whose `own` devices are; there are no protocols.
pub(crate) fn add_part(all: &mut Outcome, part: Outcome, own: impl Fn(u32) -> bool) {
    all.ports.extend(part.ports.into_iter().filter(|(device, ..)| own(*device)));
    all.ports.sort_by_key(|(device, port, _)| (*device, *port));
    all.links.extend(part.links.into_iter().filter(|(device, ..)| own(*device)));
    all.links.sort_by_key(|(device, port, _)| (*device, *port));
    all.silent.extend(part.silent.into_iter().filter(|(port, _)| own(port.0)));
    all.held.extend(part.held.into_iter().filter(|(port, _)| own(port.0)));
    all.silent.sort_unstable();
    all.held.sort_unstable();
    all.outcome.merge(&part.outcome);
    all.trajectory.merge(&part.trajectory);
    all.events += part.events;
    all.packet_hops += part.packet_hops;
    all.symbol_hops += part.symbol_hops;
    all.wire_checked.add(&part.wire_checked);
    all.injected += part.injected;
    all.replicated += part.replicated;
    all.delivered += part.delivered;
    all.dropped += part.dropped;
    all.in_flight += part.in_flight;
    all.left.resize(part.left.len(), FlowLeft::default());
    all.left.iter_mut().zip(&part.left).for_each(|(all, left)| all.add(left));
}
