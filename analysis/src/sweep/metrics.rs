//! What is measured in a run of a sweep: one row for all flows together, one for each flow.

use super::Mean;
use crate::flows::{self, Pick};
use crate::level;
pub use crate::metric::Kind;
use crate::metric::{Row, yes};
use crate::num::Num;
use crate::ports::Ports;
use crate::protocol::{self, PROTOCOLS};
use crate::report::VariantReport;
use crate::require::{self, Verdict};
use crate::summary::HolSummary;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A column of measurements.
pub type Metric = Row<Get>;

/// How the value of a column is got.
#[derive(Copy, Clone, Debug)]
pub enum Get {
    /// Of a flow, or of all flows together.
    Flow(Pick),
    /// By a protocol, of a flow that it runs.
    Protocol(protocol::Get),
    /// Of the fabric: for `overall` only.
    Run(fn(&VariantReport) -> f64),
    /// Requirements of a flow, or of all flows and links, that ended so.
    Required(Verdict),
    /// Share of what users asked for that arrived.
    Arrived,
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

    /// Whether it is a time of what arrived, so that what did not is not in it.
    pub fn is_of_arrived(&self) -> bool {
        matches!(self.get, Get::Flow(pick) if pick.is_of_arrived())
    }

    /// Of a flow, or of all flows together; `None` where there is nothing to measure.
    fn value(&self, report: &VariantReport, flow: Option<usize>) -> Option<f64> {
        let value = match self.get {
            Get::Flow(pick) => pick.value(flow.map_or(&report.overall, |flow| &report.flows[flow])),
            Get::Protocol(get) => get(&report.run, flow),
            Get::Required(verdict) => require::count(report, flow, verdict),
            Get::Arrived => level::users_share(report, flow)?,
            Get::Run(get) => flow.is_none().then(|| get(report))?,
        };
        value.is_finite().then(|| Num(value).rounded())
    }
}

/// Every metric, in the order of columns: those of flows, those of protocols, and those of the fabric, which
/// exist for `overall` only.
pub static METRICS: LazyLock<Vec<Metric>> = LazyLock::new(|| {
    let flows = flows::columns().into_iter().map(|row| row.with(Get::Flow(row.get)));
    // Those of conduits came before those of LINX, and results are read by position.
    let protocols = PROTOCOLS.iter().rev().flat_map(|protocol| protocol.columns());
    let protocols = protocols.map(|row| row.with(Get::Protocol(row.get)));
    let fabric = RUN_ROWS.iter().map(|row| row.with(Get::Run(row.get)));
    let required = REQUIRED.iter().map(|row| row.with(Get::Required(row.get)));
    let arrived = [ARRIVED.with(Get::Arrived)];
    // what is new comes last: results are read by position
    flows.chain(protocols).chain(fabric).chain(required).chain(arrived).collect()
});

/// A column of a run.
type RunRow = Row<fn(&VariantReport) -> f64>;

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
        "share of the whole run in which transmitters carried symbols of their own, mean over directions",
        |report| Ports::new(report).symbol_use(),
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

/// How the requirements of a scenario ended, if it has any.
const REQUIRED: &[Row<Verdict>] = &[
    Row::count(
        "required_pass",
        "requirements that hold",
        "requirements of the scenario that hold",
        Verdict::Pass,
    )
    .quiet(),
    Row::count(
        "required_fail",
        "requirements that fail",
        "requirements of the scenario that do not hold",
        Verdict::Fail,
    )
    .quiet(),
    Row::count(
        "required_unknown",
        "requirements without enough samples",
        "requirements of the scenario for which too little was measured",
        Verdict::NotEnough,
    )
    .quiet(),
];

/// Of what times are.
const ARRIVED: Row<()> = Row::real(
    ARRIVED_SHARE,
    "",
    "share that arrived",
    "share of what was asked for that arrived, in the whole run; what is merely on its way at its end is not \
     counted, what stands still there or falls behind is missing: times are of those that arrived",
    (),
);

/// Name of the column that says of which share times are.
pub const ARRIVED_SHARE: &str = "arrived_share";

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

impl ScopeRow {
    /// The value of a metric; one that an earlier version did not know has none.
    pub fn value(&self, metric: usize) -> Option<f64> {
        self.values.get(metric).copied().flatten()
    }
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
}
