//! What is measured in a run of a sweep: one row for all flows together, one for each flow.

use super::Mean;
use crate::estimate::Estimate;
use crate::linx::{LinxSummary, TimesSummary};
use crate::num::Num;
use crate::report::{FlowReport, LatencyReport, VariantReport};
use crate::session::{Ending, SessionSummary};
use crate::summary::VariantSummary;
use models::probe::Cause;
use serde::{Deserialize, Serialize};

/// What a value is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Count,
    /// Any number.
    Real,
    /// 0 or 1.
    Flag,
    /// The largest of something: of several runs the largest of all, and not a mean of maxima.
    Most,
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
}

/// A column of measurements.
#[derive(Copy, Clone, Debug)]
pub struct Metric {
    /// Name, with the unit at the end where there is one.
    pub name: &'static str,
    /// Unit; empty for shares and counts.
    pub unit: &'static str,
    /// Kind.
    pub kind: Kind,
    /// What figures call it.
    pub words: &'static str,
    /// What it is.
    pub about: &'static str,
}

const fn real(name: &'static str, unit: &'static str, words: &'static str, about: &'static str) -> Metric {
    Metric { name, unit, kind: Kind::Real, words, about }
}

const fn most(name: &'static str, unit: &'static str, words: &'static str, about: &'static str) -> Metric {
    Metric { name, unit, kind: Kind::Most, words, about }
}

const fn count(name: &'static str, words: &'static str, about: &'static str) -> Metric {
    Metric { name, unit: "", kind: Kind::Count, words, about }
}

const fn flag(name: &'static str, words: &'static str, about: &'static str) -> Metric {
    Metric { name, unit: "", kind: Kind::Flag, words, about }
}

/// Every metric, in the order of columns. Those from `link_use_mean` on exist for `overall` only.
pub const METRICS: &[Metric] = &[
    real("offered_load", "", "offered load", "share of injection link time offered, mean over sources"),
    real("accepted_load", "", "accepted load", "share of injection link time delivered, mean over sources"),
    real("per_slot", "", "packets per slot", "packets delivered for each source and tick of the cell clock"),
    real(
        "goodput_gbps",
        "Gb/s",
        "goodput",
        "octets delivered once, over the measured part; of a flow that ends from its first start to its last \
         completion",
    ),
    real(
        "latency_mean_ns",
        "ns",
        "mean latency",
        "creation at the source to last bit at the destination, mean",
    ),
    real(
        "latency_p50_ns",
        "ns",
        "median latency",
        "creation at the source to last bit at the destination, median",
    ),
    real(
        "latency_p99_ns",
        "ns",
        "99th percentile of latency",
        "creation at the source to last bit at the destination, 99th percentile",
    ),
    real(
        "latency_p999_ns",
        "ns",
        "99.9th percentile of latency",
        "creation at the source to last bit at the destination, 99.9th percentile",
    ),
    most(
        "latency_max_ns",
        "ns",
        "maximum latency",
        "creation at the source to last bit at the destination, maximum",
    ),
    real(
        "network_latency_mean_ns",
        "ns",
        "mean network latency",
        "time from the first bit on the injection link, mean",
    ),
    real(
        "network_latency_p50_ns",
        "ns",
        "median network latency",
        "time from the first bit on the injection link, median",
    ),
    real(
        "network_latency_p99_ns",
        "ns",
        "99th percentile of network latency",
        "time from the first bit on the injection link, 99th percentile",
    ),
    real(
        "network_latency_p999_ns",
        "ns",
        "99.9th percentile of network latency",
        "time from the first bit on the injection link, 99.9th percentile",
    ),
    most(
        "network_latency_max_ns",
        "ns",
        "maximum network latency",
        "time from the first bit on the injection link, maximum",
    ),
    real(
        "part_source_queue_ns",
        "ns",
        "time in the source queue",
        "mean time of a packet in the source queue",
    ),
    real(
        "part_serialization_ns",
        "ns",
        "serialization time",
        "mean time of a packet in transmission and store-and-forward",
    ),
    real("part_propagation_ns", "ns", "propagation time", "mean time of a packet on wires"),
    real("part_pipeline_ns", "ns", "time in pipelines", "mean time of a packet in pipelines of switches"),
    real(
        "part_input_contention_ns",
        "ns",
        "input contention",
        "mean time of a packet behind others of its input",
    ),
    real(
        "part_output_contention_ns",
        "ns",
        "output contention",
        "mean time of a packet behind others for its output",
    ),
    real(
        "part_hol_blocking_ns",
        "ns",
        "head-of-line blocking",
        "mean time of a packet behind packets for other outputs",
    ),
    real(
        "part_staged_ns",
        "ns",
        "time held by backpressure",
        "mean time of a packet held by VoQ backpressure",
    ),
    real(
        "part_no_buffer_ns",
        "ns",
        "time without a downstream buffer",
        "mean time of a packet without a buffer at the neighbour",
    ),
    real(
        "part_link_recovery_ns",
        "ns",
        "link retry and recovery",
        "mean time of a packet in retries and recovery of links",
    ),
    real("part_host_ns", "ns", "time in hosts", "mean time of a packet in hosts"),
    real("part_protocol_ns", "ns", "time held by protocols", "mean time of a packet held by protocols"),
    count("offered_packets", "packets offered", "packets created in the measured part"),
    count("delivered_packets", "packets delivered", "packets delivered in the measured part"),
    count("dropped_packets", "packets dropped", "packets dropped in the whole run"),
    flag(
        "saturated",
        "saturated runs",
        "accepted is less than 99 % of offered, more is asked for than completes, or a source is a closed \
         loop",
    ),
    count("conduits", "conduits", "conduits of session management at the end"),
    count("leaked_streams", "leaked streams", "streams at the end that are in no conduit"),
    count("orphan_records", "orphan records", "complete records of conduits at the end without a partner"),
    count("open_messages", "OPEN messages", "OPENs sent, repetitions included"),
    real("all_open_us", "us", "time until all conduits are open", "when the last wanted conduit was open"),
    flag("ended_storm", "runs that end in a storm", "the records of a peer reached their limit"),
    flag("ended_duplicate", "runs with two conduits", "no storm, and two nodes have more than one conduit"),
    flag("ended_half_open", "runs with half-open records", "none of these, and a record has an unknown side"),
    flag("ended_orphan", "runs with orphan records", "none of these, and a complete record has no partner"),
    flag("ended_leak", "runs that leak streams", "none of these, and a stream is in no conduit"),
    flag("ended_one", "runs that end well", "every wanted conduit is there once, and nothing else"),
    flag("ended_none", "runs without a conduit", "nothing is wrong, but not every wanted conduit is there"),
    count("connections", "connections", "connections of LINX up at both ends at the end"),
    count(
        "false_timeouts",
        "false timeouts",
        "ends of connections that timed out although the peer was there",
    ),
    real(
        "false_timeouts_per_connection_hour",
        "",
        "false timeouts per connection-hour",
        "the same for each hour that a connection was up, by the protocol clock",
    ),
    real(
        "detection_mean_us",
        "us",
        "time to notice that a peer is down",
        "from the moment at which a peer went down to the end of a connection with it, mean",
    ),
    most(
        "detection_max_us",
        "us",
        "longest time to notice that a peer is down",
        "from the moment at which a peer went down to the end of a connection with it, maximum",
    ),
    real(
        "reestablishment_mean_us",
        "us",
        "time to connect again",
        "from the end of a connection, once both nodes were there again, to the next one, mean",
    ),
    real(
        "link_use_mean",
        "",
        "link use, mean",
        "share of time in which transmitters carried packets, mean over directions",
    ),
    real(
        "link_use_max",
        "",
        "link use, busiest direction",
        "share of time in which the busiest transmitter carried packets",
    ),
    real(
        "symbol_use_mean",
        "",
        "link use by symbols, mean",
        "share of time in which transmitters carried symbols of their own, mean over directions",
    ),
    count("voq_messages", "VoQ messages", "VoQ messages sent"),
    count("xoff_edges", "stops of staging queues", "staging queues stopped"),
    count(
        "late_hol",
        "packets late for the detector",
        "packets that blocked their input although the detector was on",
    ),
    real(
        "staged_mean_number",
        "packets",
        "packets held by backpressure",
        "mean number of packets held by backpressure",
    ),
    real(
        "hol_mean_number",
        "packets",
        "packets blocked at the head of a line",
        "mean number of packets blocked at the head of a line",
    ),
    count("stalls", "stalls", "stalls that the watchdog found"),
    flag("steady", "steady runs", "a steady state was found"),
    real("warmup_us", "us", "warm-up", "time cut off at the beginning"),
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
    let summary = VariantSummary::new(report);
    // One flow at most opens conduits, one at most has connections.
    let mut overall = of_flow(&report.overall, summary.sessions.first(), summary.linx.first());
    overall.scope = super::OVERALL.into();
    let fabric = &summary.fabric;
    let whole = [
        fabric.link_use_mean.0,
        fabric.link_use_max.0,
        fabric.symbol_use_mean.0,
        (fabric.symbols.voq_riding + fabric.symbols.voq_standalone) as f64,
        fabric.xoff_edges as f64,
        fabric.late_hol as f64,
        fabric.staged_mean_number.0,
        summary.hol_blocking.mean_number.0,
        summary.stalls.len() as f64,
        f64::from(u8::from(report.window.steady)),
        report.window.from_ps as f64 / 1e6,
    ];
    overall.values.truncate(METRICS.len() - whole.len());
    overall.values.extend(whole.into_iter().map(kept));
    debug_assert_eq!(overall.values.len(), METRICS.len());
    let flows = report.flows.iter().map(|flow| {
        let conduits = summary.sessions.iter().find(|conduits| conduits.flow == flow.name);
        let connections = summary.linx.iter().find(|connections| connections.flow == flow.name);
        of_flow(flow, conduits, connections)
    });
    std::iter::once(overall).chain(flows).collect()
}

/// Rounded; `None` if it is not a number.
fn kept(value: f64) -> Option<f64> {
    value.is_finite().then(|| Num(value).rounded())
}

fn of_flow(
    flow: &FlowReport,
    conduits: Option<&SessionSummary>,
    connections: Option<&LinxSummary>,
) -> ScopeRow {
    let ns = |estimate: &Estimate| estimate.value / 1e3;
    let latency = |report: &LatencyReport| {
        [ns(&report.mean), ns(&report.p50), ns(&report.p99), ns(&report.p999), report.max / 1e3]
    };
    let none = flow.delivered.packets == 0;
    let mut values = vec![
        flow.offered_load,
        flow.accepted_load.value,
        flow.per_slot.map_or(f64::NAN, |estimate| estimate.value),
        flow.goodput_gbps.value,
    ];
    values.extend(latency(&flow.latency));
    values.extend(latency(&flow.network));
    values.extend(Cause::ALL.map(|cause| if none { f64::NAN } else { flow.mean_part_ps(cause) / 1e3 }));
    values.push(flow.offered.packets as f64);
    values.push(flow.delivered.packets as f64);
    values.push(flow.dropped as f64);
    values.push(f64::from(u8::from(flow.saturated)));
    values.extend(of_conduits(conduits));
    values.extend(of_connections(connections));
    let mut values: Vec<Option<f64>> = values.into_iter().map(kept).collect();
    values.resize(METRICS.len(), None);
    ScopeRow { scope: flow.name.clone(), values }
}

fn of_conduits(conduits: Option<&SessionSummary>) -> Vec<f64> {
    let figure = |of: fn(&SessionSummary) -> f64| conduits.map_or(f64::NAN, of);
    let mut values = vec![
        figure(|conduits| conduits.conduits as f64),
        figure(|conduits| conduits.leaked_streams as f64),
        figure(|conduits| conduits.orphans as f64),
        figure(|conduits| conduits.messages.open as f64),
        figure(|conduits| conduits.all_open_us.map_or(f64::NAN, |at| at.0)),
    ];
    values.extend(Ending::ALL.map(|ending| {
        conduits.map_or(f64::NAN, |conduits| f64::from(u8::from(conduits.ending() == ending)))
    }));
    values
}

fn of_connections(connections: Option<&LinxSummary>) -> [f64; 6] {
    let Some(connections) = connections else { return [f64::NAN; 6] };
    let of = |times: &Option<TimesSummary>, what: fn(&TimesSummary) -> Num| {
        times.as_ref().map_or(f64::NAN, |times| what(times).0)
    };
    [
        connections.up as f64,
        connections.false_timeouts as f64,
        connections.false_timeouts_per_connection_hour.map_or(f64::NAN, |rate| rate.0),
        of(&connections.detection, |times| times.mean_us),
        of(&connections.detection, |times| times.max_us),
        of(&connections.reestablishment, |times| times.mean_us),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_end_in_their_unit() {
        let names: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names.len(), METRICS.len());
        for metric in METRICS {
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
