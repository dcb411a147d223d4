//! What is measured in a run of a sweep: one row for all flows together, one for each flow.

use super::Mean;
pub use crate::metric::Kind;
use crate::metric::{Row, yes};
use crate::num::Num;
use crate::ports::Ports;
use crate::protocol::{self, PROTOCOLS};
use crate::report::{FlowReport, VariantReport};
use crate::summary::HolSummary;
use models::probe::Cause;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A column of measurements.
pub type Metric = Row<Get>;

/// How the value of a column is got.
#[derive(Copy, Clone, Debug)]
pub enum Get {
    /// Of a flow, or of all flows together.
    Flow(fn(&FlowReport) -> f64),
    /// By a protocol, of a flow that it runs.
    Protocol(protocol::Get),
    /// Of the fabric: for `overall` only.
    Run(fn(&VariantReport) -> f64),
}

impl Metric {
    /// Values of replications put together: their mean, or the largest.
    pub fn together(&self, values: &[f64]) -> Option<Mean> {
        let mean = Mean::of(values)?;
        Some(match self.kind {
            Kind::Most => {
                let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                Mean { mean: largest, half_width: f64::NAN, ..mean }
            }
            _ => mean,
        })
    }

    /// Of a flow, or of all flows together; `None` where there is nothing to measure.
    fn value(&self, report: &VariantReport, flow: Option<usize>) -> Option<f64> {
        let value = match self.get {
            Get::Flow(get) => get(flow.map_or(&report.overall, |flow| &report.flows[flow])),
            Get::Protocol(get) => get(&report.run, flow),
            Get::Run(get) => flow.is_none().then(|| get(report))?,
        };
        value.is_finite().then(|| Num(value).rounded())
    }
}

/// Mean time of a packet with this cause, nanoseconds.
fn part(flow: &FlowReport, cause: Cause) -> f64 {
    if flow.delivered.packets == 0 { f64::NAN } else { flow.mean_part_ps(cause) / 1e3 }
}

/// Every metric, in the order of columns: those of flows, those of protocols, and those of the fabric, which
/// exist for `overall` only.
pub static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let flows = FLOW_ROWS.iter().map(|row| row.with(Get::Flow(row.get)));
    // Those of conduits came before those of LINX, and results are read by position.
    let protocols = PROTOCOLS.iter().rev().flat_map(|protocol| protocol.columns());
    let protocols = protocols.map(|row| row.with(Get::Protocol(row.get)));
    let fabric = RUN_ROWS.iter().map(|row| row.with(Get::Run(row.get)));
    flows.chain(protocols).chain(fabric).collect()
});

/// A column of a flow.
type FlowRow = Row<fn(&FlowReport) -> f64>;
/// A column of a run.
type RunRow = Row<fn(&VariantReport) -> f64>;

const FLOW_ROWS: &[FlowRow] = &[
    Row::real(
        "offered_load",
        "",
        "offered load",
        "share of injection link time offered, mean over sources",
        |flow| flow.offered_load,
    ),
    Row::real(
        "accepted_load",
        "",
        "accepted load",
        "share of injection link time delivered, mean over sources",
        |flow| flow.accepted_load.value,
    ),
    Row::real(
        "per_slot",
        "",
        "packets per slot",
        "packets delivered for each source and tick of the cell clock",
        |flow| flow.per_slot.map_or(f64::NAN, |estimate| estimate.value),
    ),
    Row::real(
        "goodput_gbps",
        "Gb/s",
        "goodput",
        "octets delivered once, over the measured part; of a flow that ends from its first start to its last \
         completion",
        |flow| flow.goodput_gbps.value,
    ),
    Row::real(
        "latency_mean_ns",
        "ns",
        "mean latency",
        "creation at the source to last bit at the destination, mean",
        |flow| flow.latency.mean.value / 1e3,
    ),
    Row::real(
        "latency_p50_ns",
        "ns",
        "median latency",
        "creation at the source to last bit at the destination, median",
        |flow| flow.latency.p50.value / 1e3,
    ),
    Row::real(
        "latency_p99_ns",
        "ns",
        "99th percentile of latency",
        "creation at the source to last bit at the destination, 99th percentile",
        |flow| flow.latency.p99.value / 1e3,
    ),
    Row::real(
        "latency_p999_ns",
        "ns",
        "99.9th percentile of latency",
        "creation at the source to last bit at the destination, 99.9th percentile",
        |flow| flow.latency.p999.value / 1e3,
    ),
    Row::most(
        "latency_max_ns",
        "ns",
        "maximum latency",
        "creation at the source to last bit at the destination, maximum",
        |flow| flow.latency.max / 1e3,
    ),
    Row::real(
        "network_latency_mean_ns",
        "ns",
        "mean network latency",
        "time from the first bit on the injection link, mean",
        |flow| flow.network.mean.value / 1e3,
    ),
    Row::real(
        "network_latency_p50_ns",
        "ns",
        "median network latency",
        "time from the first bit on the injection link, median",
        |flow| flow.network.p50.value / 1e3,
    ),
    Row::real(
        "network_latency_p99_ns",
        "ns",
        "99th percentile of network latency",
        "time from the first bit on the injection link, 99th percentile",
        |flow| flow.network.p99.value / 1e3,
    ),
    Row::real(
        "network_latency_p999_ns",
        "ns",
        "99.9th percentile of network latency",
        "time from the first bit on the injection link, 99.9th percentile",
        |flow| flow.network.p999.value / 1e3,
    ),
    Row::most(
        "network_latency_max_ns",
        "ns",
        "maximum network latency",
        "time from the first bit on the injection link, maximum",
        |flow| flow.network.max / 1e3,
    ),
    Row::real(
        "part_source_queue_ns",
        "ns",
        "time in the source queue",
        "mean time of a packet in the source queue",
        |flow| part(flow, Cause::SourceQueue),
    ),
    Row::real(
        "part_serialization_ns",
        "ns",
        "serialization time",
        "mean time of a packet in transmission and store-and-forward",
        |flow| part(flow, Cause::Serialization),
    ),
    Row::real("part_propagation_ns", "ns", "propagation time", "mean time of a packet on wires", |flow| {
        part(flow, Cause::Propagation)
    }),
    Row::real(
        "part_pipeline_ns",
        "ns",
        "time in pipelines",
        "mean time of a packet in pipelines of switches",
        |flow| part(flow, Cause::Pipeline),
    ),
    Row::real(
        "part_input_contention_ns",
        "ns",
        "input contention",
        "mean time of a packet behind others of its input",
        |flow| part(flow, Cause::InputContention),
    ),
    Row::real(
        "part_output_contention_ns",
        "ns",
        "output contention",
        "mean time of a packet behind others for its output",
        |flow| part(flow, Cause::OutputContention),
    ),
    Row::real(
        "part_hol_blocking_ns",
        "ns",
        "head-of-line blocking",
        "mean time of a packet behind packets for other outputs",
        |flow| part(flow, Cause::HeadOfLine),
    ),
    Row::real(
        "part_staged_ns",
        "ns",
        "time held by backpressure",
        "mean time of a packet held by VoQ backpressure",
        |flow| part(flow, Cause::Staged),
    ),
    Row::real(
        "part_no_buffer_ns",
        "ns",
        "time without a downstream buffer",
        "mean time of a packet without a buffer at the neighbour",
        |flow| part(flow, Cause::NoBuffer),
    ),
    Row::real(
        "part_link_recovery_ns",
        "ns",
        "link retry and recovery",
        "mean time of a packet in retries and recovery of links",
        |flow| part(flow, Cause::Recovery),
    ),
    Row::real("part_host_ns", "ns", "time in hosts", "mean time of a packet in hosts", |flow| {
        part(flow, Cause::Host)
    }),
    Row::real(
        "part_protocol_ns",
        "ns",
        "time held by protocols",
        "mean time of a packet held by protocols",
        |flow| part(flow, Cause::Protocol),
    ),
    Row::count("offered_packets", "packets offered", "packets created in the measured part", |flow| {
        flow.offered.packets as f64
    }),
    Row::count("delivered_packets", "packets delivered", "packets delivered in the measured part", |flow| {
        flow.delivered.packets as f64
    }),
    Row::count("dropped_packets", "packets dropped", "packets dropped in the whole run", |flow| {
        flow.dropped as f64
    }),
    Row::flag(
        "saturated",
        "saturated runs",
        "accepted is less than 99 % of offered, more is asked for than completes, or a source is a closed \
         loop",
        |flow| yes(flow.saturated),
    ),
];

const RUN_ROWS: &[RunRow] = &[
    Row::real(
        "link_use_mean",
        "",
        "link use, mean",
        "share of time in which transmitters carried packets, mean over directions",
        |report| Ports::new(report).mean_share(|stats| stats.packet_ps.into()),
    ),
    Row::real(
        "link_use_max",
        "",
        "link use, busiest direction",
        "share of time in which the busiest transmitter carried packets",
        |report| Ports::new(report).busiest().1,
    ),
    Row::real(
        "symbol_use_mean",
        "",
        "link use by symbols, mean",
        "share of time in which transmitters carried symbols of their own, mean over directions",
        |report| Ports::new(report).mean_share(|stats| stats.symbol_ps.into()),
    ),
    Row::count("voq_messages", "VoQ messages", "VoQ messages sent", |report| {
        Ports::new(report).voq_messages() as f64
    }),
    Row::count("xoff_edges", "stops of staging queues", "staging queues stopped", |report| {
        Ports::new(report).sum(|stats| stats.xoff_edges.into()) as f64
    }),
    Row::count(
        "late_hol",
        "packets late for the detector",
        "packets that blocked their input although the detector was on",
        |report| Ports::new(report).sum(|stats| stats.late_hol.into()) as f64,
    ),
    Row::real(
        "staged_mean_number",
        "packets",
        "packets held by backpressure",
        "mean number of packets held by backpressure",
        |report| Ports::new(report).staged_mean_number(),
    ),
    Row::real(
        "hol_mean_number",
        "packets",
        "packets blocked at the head of a line",
        "mean number of packets blocked at the head of a line",
        |report| HolSummary::new(report).mean_number.0,
    ),
    Row::count("stalls", "stalls", "stalls that the watchdog found", |report| {
        report.run.outcome.stalls.len() as f64
    }),
    Row::flag("steady", "steady runs", "a steady state was found", |report| yes(report.window.steady)),
    Row::real("warmup_us", "us", "warm-up", "time cut off at the beginning", |report| {
        report.window.from_ps as f64 / 1e6
    }),
];

/// Position of a metric.
pub fn metric(name: &str) -> Option<usize> {
    METRICS.iter().position(|metric| metric.name == name)
}

/// Measurements of one scope, in the order of [`METRICS`], rounded to nine digits; `None` where there is
/// nothing to measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScopeRow {
    /// `overall`, or the name of a flow.
    pub scope: String,
    /// Values.
    pub values: Vec<Option<f64>>,
}

/// Everything that a sweep keeps of a run.
pub fn measure(report: &VariantReport) -> Vec<ScopeRow> {
    let row = |scope: &str, flow| ScopeRow {
        scope: scope.into(),
        values: METRICS.iter().map(|metric| metric.value(report, flow)).collect(),
    };
    let flows = report.flows.iter().enumerate().map(|(index, flow)| row(&flow.name, Some(index)));
    std::iter::once(row(super::OVERALL, None)).chain(flows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_end_in_their_unit() {
        let names: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        for metric in METRICS.iter() {
            let ending = match metric.unit {
                "Gb/s" => "_gbps",
                "ns" => "_ns",
                "us" => "_us",
                "packets" => "_number",
                _ => "",
            };
            assert!(metric.name.ends_with(ending), "{}", metric.name);
            assert!(!metric.about.is_empty() && !metric.about.contains("likewise"), "{}", metric.name);
            assert!(!metric.words.is_empty() && !metric.words.contains('_'), "{}", metric.name);
        }
    }

    /// The parts stand in the order of the causes.
    #[test]
    fn every_cause_has_its_column() {
        let parts: Vec<&str> = METRICS
            .iter()
            .filter_map(|metric| metric.name.strip_prefix("part_")?.strip_suffix("_ns"))
            .collect();
        let words = |cause: &Cause| match cause {
            Cause::HeadOfLine => "hol_blocking".into(),
            Cause::Staged => "staged".into(),
            Cause::NoBuffer => "no_buffer".into(),
            Cause::Recovery => "link_recovery".into(),
            Cause::Protocol => "protocol".into(),
            other => other.name().replace(' ', "_"),
        };
        assert_eq!(parts, Cause::ALL.iter().map(words).collect::<Vec<String>>());
    }
}
