//! `summary.json`: everything that a design review asks, byte-equal on every machine.
//!
//! Keys have a fixed order, sums are taken in index order, and floats carry nine significant digits
//! ([`Num`]). Units end the keys. Nothing here knows the wall clock.

use crate::enumeration::EnumerationSummary;
use crate::flows::{FlowSummary, HostSummary};
use crate::num::{Num, ratio, time_text};
use crate::ports::Ports;
use crate::report::VariantReport;
use crate::require::JudgedSummary;
use crate::trace::port_text;
use crate::{links, protocol};
use models::LeftStopped;
use serde::Serialize;
use serde_json::{Map, Value};

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
    /// Simulated time, with the silence after all is over, if it is.
    pub duration_us: Num,
    /// What was measured.
    pub measured: MeasuredSummary,
    /// What the scenario requires, if it does, judged one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<JudgedSummary>,
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
    /// Links, symbols and backpressure, over the whole run: sums of what `series/links.csv` has for each
    /// port.
    pub fabric: Value,
    /// Links in symbol granularity, over the whole run, if there are any.
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
    /// Writes that cleared GEN_EN and left the neighbour with what it had been told (VOQ-D34), if there are
    /// any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_stopped: Vec<LeftStoppedSummary>,
    /// Hashes of the run.
    pub fingerprints: FingerprintSummary,
}

/// The measured part of the run.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredSummary {
    /// Start.
    pub from_us: Num,
    /// End: that of the run, or the last arrival where all is over before it. Shares of time and means over
    /// time of links, hosts and switches are of the time up to it, but those of control symbols, which go on
    /// when all has arrived.
    pub to_us: Num,
    /// How the start was chosen.
    pub warmup_rule: &'static str,
    /// Whether a steady state was found.
    pub steady: bool,
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

/// GEN_EN of a port was cleared, and its neighbour holds back to the end what is for congested ports.
#[derive(Clone, Debug, Serialize)]
pub struct LeftStoppedSummary {
    /// When it was written.
    pub at_us: Num,
    /// The port.
    pub port: String,
    /// Ports that the neighbour takes for congested at the end of the run.
    pub congested: Vec<String>,
}

/// Hashes of a run.
#[derive(Clone, Debug, Serialize)]
pub struct FingerprintSummary {
    /// Deliveries, drops, staging edges.
    pub outcome: String,
    /// Every effect.
    pub trajectory: String,
}

/// A write that left a neighbour with what it was told, in words.
pub(crate) fn left_stopped_text(at_us: f64, port: &str, congested: &[&str]) -> String {
    format!(
        "GEN_EN of {port} was cleared at {}, and its neighbour goes on to hold back what is for {}, of which \
         it heard last that they are congested: no message releases it",
        time_text(at_us * 1e6),
        congested.join(", ")
    )
}

/// A stall in words: when it was found, and the first of those who wait.
pub(crate) fn stall_text(kind: &str, at_us: f64, first: &str) -> String {
    format!("{kind} found at {}: {first}", time_text(at_us * 1e6))
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
            require: JudgedSummary::all(report),
            overall: FlowSummary::new(report, None),
            flows: (0..report.flows.len()).map(|flow| FlowSummary::new(report, Some(flow))).collect(),
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
            left_stopped: LeftStoppedSummary::all(report),
            fingerprints: FingerprintSummary {
                outcome: outcome.outcome.to_string(),
                trajectory: outcome.trajectory.to_string(),
            },
        }
    }
}

impl LeftStoppedSummary {
    fn all(report: &VariantReport) -> Vec<Self> {
        let name = |device: u32, port: u8| port_text(&report.run.config, (device, port));
        let of = |left: &LeftStopped| LeftStoppedSummary {
            at_us: us(left.at.0),
            port: name(left.port.0, left.port.1),
            congested: left.congested.iter().map(|&port| name(left.port.0, port)).collect(),
        };
        report.run.outcome.left_stopped(&report.run.config).iter().map(of).collect()
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
