//! What a run of the world leaves behind.

use crate::link::symbol::WireChecked;
use crate::observe::stats::{AgentStats, FlowLeft, FlowStats, LinkStats, PortStats};
use crate::observe::totals::Totals;
use crate::registers::enumeration::EnumerationReport;
use crate::voq::LeftStopped;
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
    /// Writes that cleared GEN_EN while something was told through the port, in the order of devices, then of
    /// time.
    pub left_stopped: Vec<LeftStopped>,
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
    all.left_stopped.extend(part.left_stopped.into_iter().filter(|left| own(left.port.0)));
    all.left_stopped.sort_by_key(|left| (left.port.0, left.at));
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
