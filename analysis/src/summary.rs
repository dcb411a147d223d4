//! `summary.json`: everything that a design review asks, byte-equal on every machine.
//!
//! Keys have a fixed order, sums are taken in index order, and floats carry nine significant digits
//! ([`Num`]). Units end the keys. Nothing here knows the wall clock.

use crate::books::Books;
use crate::enumeration::EnumerationSummary;
use crate::estimate::Estimate;
use crate::num::{Num, ratio};
use crate::ports::Ports;
use crate::report::{FlowReport, LatencyReport, VariantReport};
use crate::run::Role;
use crate::{links, protocol};
use models::probe::Cause;
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

pub(crate) mod messages;
pub use messages::{FactCounts, HostSummary, JourneySummary, ProtocolSummary};

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
    /// What protocols bring, each under its key, flow by flow: `Protocol::summary`.
    #[serde(flatten)]
    pub protocols: Map<String, Value>,
    /// Links, symbols and backpressure, over the whole run: `ports.rs`.
    pub fabric: Value,
    /// Links in symbol granularity, over the whole run, if there are any: `links.rs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Value>,
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
            protocols: protocol::summaries(&report.run),
            links: links::summary(report),
            fabric: Ports::new(report).summary(),
            hol_blocking: HolSummary::new(report),
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

impl HolSummary {
    pub(crate) fn new(report: &VariantReport) -> Self {
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
        Self {
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
}
