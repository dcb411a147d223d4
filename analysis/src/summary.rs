//! `summary.json`: everything that a design review asks, byte-equal on every machine.
//!
//! Keys have a fixed order, sums are taken in index order, and floats carry nine significant digits
//! ([`Num`]). Units end the keys. Nothing here knows the wall clock.

use crate::books::Books;
use crate::enumeration::EnumerationSummary;
use crate::linx::LinxSummary;
use crate::num::{Num, ratio};
use crate::program::FlowProgramSummary;
use crate::report::{Estimate, FlowReport, LatencyReport, Role, VariantReport};
use crate::session::SessionSummary;
use crate::transfer::TransferSummary;
use models::probe::Cause;
use models::stats::{LinkStats, PortStats};
use serde::Serialize;
use serde::ser::SerializeMap;
use std::collections::BTreeMap;

mod protocol;
pub(crate) use protocol::clock_text;
pub use protocol::{FactCounts, HostSummary, JourneySummary, ProtocolSummary};

/// Version of the layout of `summary.json`.
pub const FORMAT: u32 = 1;
/// Most input ports listed under head-of-line blocking; `series/links.csv` has them all.
const HOL_PORTS_LISTED: usize = 32;

/// A whole `summary.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Version of this layout.
    pub format: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// One entry for each variant, in the order of the scenario.
    pub variants: Vec<VariantSummary>,
}

impl Summary {
    /// Summary of all variants of a scenario.
    pub fn new(scenario: &str, reports: &[VariantReport]) -> Self {
        Self {
            format: FORMAT,
            scenario: scenario.into(),
            variants: reports.iter().map(VariantSummary::new).collect(),
        }
    }

    /// The text of `summary.json`.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a summary has only string keys");
        text.push('\n');
        text
    }
}

/// One variant.
#[derive(Clone, Debug, Serialize)]
pub struct VariantSummary {
    /// Name.
    pub name: String,
    /// Seed of all random streams.
    pub seed: u64,
    /// Simulated time.
    pub duration_us: Num,
    /// What was measured.
    pub measured: MeasuredSummary,
    /// All flows together.
    pub overall: FlowSummary,
    /// Each flow.
    pub flows: Vec<FlowSummary>,
    /// Endpoints that run protocols, over the whole run: of more than 64 those with the fullest queues.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostSummary>,
    /// Connections of LINX, flow by flow, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub linx: Vec<LinxSummary>,
    /// Scheduled Transfers, flow by flow, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransferSummary>,
    /// Programs over sessions and LINX, flow by flow, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<FlowProgramSummary>,
    /// Conduits of session management, flow by flow, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionSummary>,
    /// Links, symbols and backpressure, over the whole run.
    pub fabric: FabricSummary,
    /// Links in symbol granularity, over the whole run, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<LinksSummary>,
    /// Head-of-line blocking by place, over the whole run.
    pub hol_blocking: HolSummary,
    /// Packet counts over the whole run.
    pub conservation: ConservationSummary,
    /// What the host that set the fabric up did, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enumeration: Option<EnumerationSummary>,
    /// Stalls that the watchdog found.
    pub stalls: Vec<StallSummary>,
    /// Hashes of the run.
    pub fingerprints: FingerprintSummary,
}

/// The measured part of the run.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredSummary {
    /// Start.
    pub from_us: Num,
    /// End.
    pub to_us: Num,
    /// How the start was chosen.
    pub warmup_rule: &'static str,
    /// Whether a steady state was found.
    pub steady: bool,
}

/// A value and its 95 % interval.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct EstimateSummary {
    /// Value.
    pub value: Num,
    /// Half width of the interval; `null` where there is too little data for one.
    pub ci95: Num,
}

impl EstimateSummary {
    fn scaled(estimate: Estimate, unit: f64) -> Self {
        Self { value: Num(estimate.value / unit), ci95: Num(estimate.half_width / unit) }
    }
}

/// A flow, or all flows.
#[derive(Clone, Debug, Serialize)]
pub struct FlowSummary {
    /// Name.
    pub name: String,
    /// `victim` or `hot` if the scenario declares it.
    pub role: Option<&'static str>,
    /// Endpoints that send it.
    pub sources: u64,
    /// What became of what was asked for, in the whole run.
    pub books: BooksSummary,
    /// Packets created in the measured part.
    pub offered_packets: u64,
    /// Packets delivered in the measured part.
    pub delivered_packets: u64,
    /// Packets dropped in the whole run.
    pub dropped_packets: u64,
    /// Share of injection link time, mean over sources.
    pub offered_load: Num,
    /// Likewise, of what was delivered; a multicast packet counts once.
    pub accepted_load: EstimateSummary,
    /// Packets delivered for each source and tick of the cell clock; `null` without a cell clock.
    pub per_slot: Option<EstimateSummary>,
    /// All sources are closed loops: the offered load is what the fabric lets in.
    pub closed_loop: bool,
    /// Accepted is less than 99 % of offered, what is asked for grows faster than what completes, or a source
    /// is a closed loop and always has more to send.
    pub saturated: bool,
    /// Octets delivered once: of a flow that ends over the time from its first start to its last completion,
    /// else over the measured part.
    pub goodput_gbps: EstimateSummary,
    /// Over which time that is, if it is not the measured part.
    pub goodput_over_us: Option<[Num; 2]>,
    /// Source creation to last bit.
    pub latency_ns: LatencySummary,
    /// Without the source queue.
    pub network_latency_ns: LatencySummary,
    /// Head-of-line blocking of a packet.
    pub hol_blocked_ns: EstimateSummary,
    /// Where the time went.
    pub decomposition: Decomposition,
    /// What protocols made of the packets, if they run the flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolSummary>,
}

/// What became of what was asked for.
#[derive(Clone, Debug, Serialize)]
pub struct BooksSummary {
    /// What is counted; empty where flows of several kinds are put together.
    pub unit: &'static str,
    /// Asked for; the sum of the next three.
    pub asked: u64,
    /// Arrived, or answered.
    pub arrived: u64,
    /// Lost, refused, given up.
    pub never: u64,
    /// Still under way at the end of the run, or waiting to begin.
    pub under_way: u64,
    /// Age of the oldest of these, if it is known.
    pub oldest_us: Option<Num>,
}

impl BooksSummary {
    fn new(books: &Books) -> Self {
        let &Books { unit, asked, arrived, never, under_way, oldest_ps, .. } = books;
        let oldest_us = oldest_ps.filter(|_| under_way > 0).map(us);
        Self { unit, asked, arrived, never, under_way, oldest_us }
    }
}

/// Links in symbol granularity: what went wrong, and what was done about it.
#[derive(Clone, Debug, Serialize)]
pub struct LinksSummary {
    /// All ends together.
    pub total: LinkSummary,
    /// Each end at which anything is to be told, by port.
    pub ends: BTreeMap<String, LinkSummary>,
}

/// Counts of one end of a link, or of all. Damage counts where it was sent, refusal where it arrived.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSummary {
    damaged_packets: u64,
    damaged_symbols: u64,
    damaged_idle: u64,
    packet_retry: u64,
    packet_not_accepted: u64,
    recoveries: u64,
    timeouts: u64,
    cancelled: u64,
    packets: u64,
    repeated: u64,
    repeated_us: Num,
    recovery_us: Num,
    downs: u64,
    down_us: Num,
    #[serde(skip_serializing_if = "is_zero")]
    lost_no_room: u64,
    #[serde(skip_serializing_if = "is_zero")]
    lost_on_link: u64,
    failed: u64,
}

/// Only continuous traffic is lost.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl LinksSummary {
    fn new(report: &VariantReport) -> Option<Self> {
        let links = &report.run.outcome.links;
        if links.is_empty() {
            return None;
        }
        let mut total = LinkStats::default();
        let (mut failed, mut ends) = (0, BTreeMap::new());
        for (device, port, stats) in links {
            failed += u64::from(stats.failed);
            total.add(stats);
            let quiet = LinkStats { packets: stats.packets, ..LinkStats::default() };
            if *stats != quiet {
                let end = LinkSummary::new(stats, stats.failed.into());
                ends.insert(report.port_name(*device, *port), end);
            }
        }
        Some(Self { total: LinkSummary::new(&total, failed), ends })
    }
}

impl LinkSummary {
    fn new(stats: &LinkStats, failed: u64) -> Self {
        let us = |ps: u64| Num(ps as f64 / 1e6);
        Self {
            damaged_packets: stats.damaged_packets,
            damaged_symbols: stats.damaged_symbols,
            damaged_idle: stats.damaged_idle,
            packet_retry: stats.retries,
            packet_not_accepted: stats.not_accepted,
            recoveries: stats.recoveries,
            timeouts: stats.timeouts,
            cancelled: stats.cancelled,
            packets: stats.packets,
            repeated: stats.repeated,
            repeated_us: us(stats.repeated_ps),
            recovery_us: us(stats.recovery_ps),
            downs: stats.downs,
            down_us: us(stats.down_ps),
            lost_no_room: stats.lost_no_room,
            lost_on_link: stats.lost_on_link,
            failed,
        }
    }
}

/// A distribution of latencies.
#[derive(Clone, Debug, Serialize)]
pub struct LatencySummary {
    /// Mean, interval from 32 batch means.
    pub mean: EstimateSummary,
    /// Median, interval from segments of the run.
    pub p50: EstimateSummary,
    /// 99th percentile.
    pub p99: EstimateSummary,
    /// 99.9th percentile.
    #[serde(rename = "p99.9")]
    pub p999: EstimateSummary,
    /// Maximum.
    pub max: Num,
}

impl LatencySummary {
    fn new(report: &LatencyReport) -> Self {
        let ns = |estimate| EstimateSummary::scaled(estimate, 1e3);
        Self {
            mean: ns(report.mean),
            p50: ns(report.p50),
            p99: ns(report.p99),
            p999: ns(report.p999),
            max: Num(report.max / 1e3),
        }
    }
}

/// Picoseconds by cause.
#[derive(Clone, Debug)]
pub struct Decomposition(Vec<(Cause, Part)>);

/// One cause.
#[derive(Clone, Debug, Serialize)]
struct Part {
    sum_ps: u128,
    share: Num,
    mean_number: Num,
}

impl Serialize for Decomposition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (cause, part) in &self.0 {
            map.serialize_entry(cause.name(), part)?;
        }
        map.end()
    }
}

impl Decomposition {
    fn new(flow: &FlowReport) -> Self {
        let parts = Cause::ALL.map(|cause| {
            let part = Part {
                sum_ps: flow.spread.parts_ps[cause as usize],
                share: Num(flow.share(cause)),
                mean_number: Num(flow.mean_blocked[cause as usize]),
            };
            (cause, part)
        });
        Self(parts.into())
    }
}

impl FlowSummary {
    fn new(flow: &FlowReport) -> Self {
        Self {
            name: flow.name.clone(),
            role: flow.role.map(Role::name),
            sources: flow.sources,
            books: BooksSummary::new(&flow.books),
            offered_packets: flow.offered.packets,
            delivered_packets: flow.delivered.packets,
            dropped_packets: flow.dropped,
            offered_load: Num(flow.offered_load),
            accepted_load: EstimateSummary::scaled(flow.accepted_load, 1.0),
            per_slot: flow.per_slot.map(|estimate| EstimateSummary::scaled(estimate, 1.0)),
            closed_loop: flow.closed_loop,
            saturated: flow.saturated,
            goodput_gbps: EstimateSummary::scaled(flow.goodput_gbps, 1.0),
            goodput_over_us: flow.rate_span.map(|(from, to)| [us(from), us(to)]),
            latency_ns: LatencySummary::new(&flow.latency),
            network_latency_ns: LatencySummary::new(&flow.network),
            hol_blocked_ns: EstimateSummary::scaled(flow.hol_ps, 1e3),
            decomposition: Decomposition::new(flow),
            protocol: ProtocolSummary::new(flow),
        }
    }
}

/// Totals over ports.
#[derive(Clone, Debug, Serialize)]
pub struct FabricSummary {
    /// Share of the run, or of its part until all was done, in which transmitters carried packets, mean over
    /// directions of links.
    pub link_use_mean: Num,
    /// Likewise, the busiest.
    pub link_use_max: Num,
    /// The busiest transmitter.
    pub link_use_max_port: String,
    /// Share of time in which transmitters carried symbols of their own, mean over directions of links.
    pub symbol_use_mean: Num,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Control symbols.
    pub symbols: SymbolSummary,
    /// Staging queues stopped.
    pub xoff_edges: u64,
    /// Staging queues released.
    pub xon_edges: u64,
    /// Time that staging queues were stopped, summed over queues.
    pub stopped_us: Num,
    /// Packets that blocked their input because the egress queue was full although its detector was on.
    pub late_hol: u64,
    /// Mean number of packets held by backpressure.
    pub staged_mean_number: Num,
    /// Most packets ever in the receive buffers of one port.
    pub input_high_water: u32,
    /// Most packets ever waiting for one transmitter of a switch.
    pub switch_output_high_water: u32,
}

/// Control symbols sent in the whole run.
#[derive(Copy, Clone, Debug, Default, Serialize)]
pub struct SymbolSummary {
    /// Acknowledgements and status that rode on a delimiter.
    pub status_riding: u64,
    /// Likewise with characters of their own.
    pub status_standalone: u64,
    /// VoQ messages that rode.
    pub voq_riding: u64,
    /// VoQ messages with a symbol of their own.
    pub voq_standalone: u64,
    /// VoQ messages received and applied.
    pub voq_received: u64,
    /// VoQ messages lost on purpose.
    pub voq_lost: u64,
    /// Refreshes of the whole state.
    pub voq_refreshes: u64,
}

/// Head-of-line blocking by place.
#[derive(Clone, Debug, Serialize)]
pub struct HolSummary {
    /// Mean number of blocked packets in the fabric.
    pub mean_number: Num,
    /// Every switch.
    pub switches: Vec<HolPlace>,
    /// Input ports with blocking.
    pub blocked_ports: usize,
    /// The worst input ports (at most 32), worst first.
    pub worst_ports: Vec<HolPlace>,
}

/// Blocking in one place.
#[derive(Clone, Debug, Serialize)]
pub struct HolPlace {
    /// Device or `device:port`.
    pub at: String,
    /// Packet-picoseconds.
    pub sum_ps: u128,
    /// Mean number of blocked packets.
    pub mean_number: Num,
}

/// Counts of packets.
#[derive(Clone, Debug, Serialize)]
pub struct ConservationSummary {
    /// Created.
    pub injected: u64,
    /// Copies made by multicast.
    pub replicated: u64,
    /// Delivered.
    pub delivered: u64,
    /// Dropped.
    pub dropped: u64,
    /// Left over.
    pub in_flight: u64,
    /// Laws that do not hold; empty if all is well.
    pub broken: Vec<String>,
}

/// A stall.
#[derive(Clone, Debug, Serialize)]
pub struct StallSummary {
    /// When it was found.
    pub at_us: Num,
    /// When the packet stopped moving.
    pub since_us: Num,
    /// `deadlock` or `stall`.
    pub kind: &'static str,
    /// Who waits for whom.
    pub walk: Vec<String>,
}

/// Hashes of a run.
#[derive(Clone, Debug, Serialize)]
pub struct FingerprintSummary {
    /// Deliveries, drops, staging edges.
    pub outcome: String,
    /// Every effect.
    pub trajectory: String,
}

fn us(ps: u64) -> Num {
    Num(ps as f64 / 1e6)
}

impl VariantSummary {
    /// Summary of one variant.
    pub fn new(report: &VariantReport) -> Self {
        let outcome = &report.run.outcome;
        let window = &report.window;
        Self {
            name: report.run.name.clone(),
            seed: report.run.config.seed,
            duration_us: us(outcome.end.0),
            measured: MeasuredSummary {
                from_us: us(window.from_ps),
                to_us: us(window.to_ps),
                warmup_rule: window.rule,
                steady: window.steady,
            },
            overall: FlowSummary::new(&report.overall),
            flows: report.flows.iter().map(FlowSummary::new).collect(),
            hosts: HostSummary::all(report),
            linx: LinxSummary::all(report),
            transfers: TransferSummary::all(report),
            programs: FlowProgramSummary::all(report),
            sessions: SessionSummary::all(report),
            links: LinksSummary::new(report),
            fabric: fabric(report),
            hol_blocking: hol(report),
            conservation: ConservationSummary {
                injected: outcome.injected,
                replicated: outcome.replicated,
                delivered: outcome.delivered,
                dropped: outcome.dropped,
                in_flight: outcome.in_flight,
                broken: report.broken.clone(),
            },
            enumeration: EnumerationSummary::new(report),
            stalls: outcome
                .stalls
                .iter()
                .map(|stall| StallSummary {
                    at_us: us(stall.at.0),
                    since_us: us(stall.since.0),
                    kind: if stall.cycle { "deadlock" } else { "stall" },
                    walk: stall.walk.clone(),
                })
                .collect(),
            fingerprints: FingerprintSummary {
                outcome: outcome.outcome.to_string(),
                trajectory: outcome.trajectory.to_string(),
            },
        }
    }
}

/// Ports with a link, in device and port order; a port without one has no transmitter to speak of.
pub(crate) fn linked_ports(report: &VariantReport) -> Vec<(u32, u8, PortStats)> {
    let mut linked: Vec<(u32, u8)> =
        report.run.config.links.iter().flat_map(|link| [link.a, link.b]).collect();
    linked.sort_unstable();
    let ports = report.run.outcome.ports.iter();
    ports.filter(|(device, port, _)| linked.binary_search(&(*device, *port)).is_ok()).copied().collect()
}

fn fabric(report: &VariantReport) -> FabricSummary {
    let outcome = &report.run.outcome;
    let end = u128::from(report.active_ps());
    let linked = linked_ports(report);
    let capacity = end * linked.len() as u128;
    let mut total = PortStats::default();
    let mut symbols = SymbolSummary::default();
    let (mut packet_ps, mut symbol_ps, mut stopped_ps) = (0u128, 0u128, 0u128);
    let mut busiest: Option<&(u32, u8, PortStats)> = None;
    for entry @ (device, _, stats) in &linked {
        packet_ps += u128::from(stats.packet_ps);
        symbol_ps += u128::from(stats.symbol_ps);
        stopped_ps += u128::from(stats.stopped_ps);
        symbols.status_riding += stats.status_riding;
        symbols.status_standalone += stats.status_standalone;
        symbols.voq_riding += stats.voq_riding;
        symbols.voq_standalone += stats.voq_standalone;
        symbols.voq_received += stats.voq_received;
        symbols.voq_lost += stats.voq_lost;
        symbols.voq_refreshes += stats.voq_refreshes;
        total.xoff_edges += stats.xoff_edges;
        total.xon_edges += stats.xon_edges;
        total.late_hol += stats.late_hol;
        total.staged_ps += stats.staged_ps;
        total.input_high_water = total.input_high_water.max(stats.input_high_water);
        if !report.run.collector.is_endpoint(*device) {
            total.output_high_water = total.output_high_water.max(stats.output_high_water);
        }
        if busiest.is_none_or(|(_, _, best)| stats.packet_ps > best.packet_ps) {
            busiest = Some(entry);
        }
    }
    FabricSummary {
        link_use_mean: Num(ratio(packet_ps, capacity)),
        link_use_max: Num(busiest.map_or(0.0, |(_, _, stats)| ratio(stats.packet_ps.into(), end))),
        link_use_max_port: busiest
            .map_or_else(String::new, |(device, port, _)| report.port_name(*device, *port)),
        symbol_use_mean: Num(ratio(symbol_ps, capacity)),
        packet_hops: outcome.packet_hops,
        symbols,
        xoff_edges: total.xoff_edges,
        xon_edges: total.xon_edges,
        stopped_us: Num(ratio(stopped_ps, 1_000_000)),
        late_hol: total.late_hol,
        staged_mean_number: Num(ratio(total.staged_ps, end)),
        input_high_water: total.input_high_water,
        switch_output_high_water: total.output_high_water,
    }
}

fn hol(report: &VariantReport) -> HolSummary {
    let outcome = &report.run.outcome;
    let end = u128::from(report.active_ps());
    let place = |at: String, sum_ps: u128| HolPlace { at, sum_ps, mean_number: Num(ratio(sum_ps, end)) };
    let devices = &report.run.config.devices;
    let mut per_device = vec![0u128; devices.len()];
    let mut ports: Vec<(u128, u32, u8)> = Vec::new();
    for &(device, port, stats) in &outcome.ports {
        per_device[device as usize] += stats.hol_ps;
        if stats.hol_ps > 0 {
            ports.push((stats.hol_ps, device, port));
        }
    }
    ports.sort_by_key(|&(hol_ps, device, port)| (std::cmp::Reverse(hol_ps), device, port));
    HolSummary {
        mean_number: Num(ratio(per_device.iter().sum(), end)),
        switches: devices
            .iter()
            .enumerate()
            .filter(|(index, _)| !report.run.collector.is_endpoint(*index as u32))
            .map(|(index, device)| place(device.path.clone(), per_device[index]))
            .collect(),
        blocked_ports: ports.len(),
        worst_ports: ports
            .iter()
            .take(HOL_PORTS_LISTED)
            .map(|&(hol_ps, device, port)| place(report.port_name(device, port), hol_ps))
            .collect(),
    }
}
