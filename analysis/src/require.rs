//! What results must show: the requirements of a scenario, judged for a run.
//!
//! A metric of a flow is a row of [`flows`], a column of a protocol, or any percentile of a row of times;
//! of a
//! link it is a row of ports. So what is required is what is shown, and nothing is measured twice.

use crate::collect::Spread;
use crate::estimate::{any_quantile_samples, quantile_rank};
use crate::flows::{self, Pick, TimesRow};
use crate::level::{self, MESSAGES, PACKETS, TRIPS, among_arrived, come_share, users_share};
use crate::metric::{Kind, Row};
use crate::num::{Num, count_text, digits_beside, ratio, share_beside, share_text, sum_ps, time_beside};
use crate::ports::Ports;
use crate::protocol::{self, PROTOCOLS};
use crate::report::{FlowReport, LatencyReport, VariantReport};
use crate::requirement::{Dimension, Limit, Relation, Requirement, Subjects};
use serde::Serialize;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What is wrong with the metric of a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is none of this name; there are these.
    Metric(Vec<String>),
    /// It is measured in other units: these.
    Unit(&'static str),
}

/// How a metric is got.
#[derive(Copy, Clone, Debug)]
struct Measure {
    get: Get,
    /// More than one where a share is also written as a number.
    dimensions: &'static [Dimension],
}

#[derive(Copy, Clone, Debug)]
enum Get {
    Times(Level, At),
    Column(Pick, f64),
    Protocol(protocol::Get, f64),
    Delivered,
    Use,
}

/// Whose times.
#[derive(Copy, Clone, Debug)]
enum Level {
    /// What users of the flow ask for: what a protocol makes of messages of the fabric; else round trips,
    /// messages, or packets.
    Whole,
    Row(TimesRow),
    Messages,
    RoundTrips,
}

/// Which of many times.
#[derive(Copy, Clone, Debug)]
enum At {
    Mean,
    Max,
    Quantile(f64),
}

/// How a requirement ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// Too little was measured to tell.
    NotEnough,
}

impl Verdict {
    /// As reports write it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
            Verdict::NotEnough => "NOT ENOUGH SAMPLES",
        }
    }
}

/// A requirement of one flow or one link, judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// `flow` or `link`.
    pub of: &'static str,
    /// Its name.
    pub name: String,
    /// Index of the flow.
    pub flow: Option<usize>,
    /// Name of the metric.
    pub metric: String,
    /// What it has to be, as the scenario writes it.
    pub wanted: String,
    /// What it has to be, as a number.
    pub limit: f64,
    /// What it is: picoseconds, Gb/s, parts of one, or a number; not a number if that is not known, and
    /// infinite if it is the time of what never arrives.
    pub measured: f64,
    /// In which of these.
    pub dimension: Dimension,
    /// How many were measured, and of how many the metric is told, where it is one of many values.
    pub samples: Option<(u64, u64)>,
    /// Of a time: the share of what was asked for that arrived, without what is merely on its way.
    pub arrived: Option<f64>,
    /// What was measured is the age of something that is still under way: it takes longer than that.
    pub waits: bool,
    /// How it ended.
    pub verdict: Verdict,
}

const TIME: &[Dimension] = &[Dimension::Time];
const RATE: &[Dimension] = &[Dimension::Rate];
const NUMBER: &[Dimension] = &[Dimension::Number];
const PART: &[Dimension] = &[Dimension::Share, Dimension::Number];

/// Columns of flows and of protocols, by their names without units. Columns of times are left out: any
/// percentile of their rows can be named.
static COLUMNS: LazyLock<Vec<(&str, Measure)>> = LazyLock::new(|| {
    let flows = flows::columns().into_iter().filter(|row| !row.get.is_time());
    let flows = flows.map(|row| named(&row, |scale| Get::Column(row.get, scale)));
    let protocols = PROTOCOLS.iter().flat_map(|protocol| protocol.columns());
    flows.chain(protocols.map(|row| named(row, |scale| Get::Protocol(row.get, scale)))).collect()
});

/// A row by its name without the unit, and in the unit of its dimension.
fn named<G: Copy>(row: &Row<G>, get: impl Fn(f64) -> Get) -> (&'static str, Measure) {
    let (suffix, dimensions, scale) = match (row.unit, row.kind) {
        ("ns", _) => ("_ns", TIME, 1e3),
        ("us", _) => ("_us", TIME, 1e6),
        ("Gb/s", _) => ("_gbps", RATE, 1.0),
        ("", Kind::Real) => ("", PART, 1.0),
        _ => ("", NUMBER, 1.0),
    };
    (row.name.strip_suffix(suffix).unwrap_or(row.name), Measure { get: get(scale), dimensions })
}

fn measure(name: &str, of_links: bool) -> Option<Measure> {
    if of_links {
        return (name == "use").then_some(Measure { get: Get::Use, dimensions: PART });
    }
    if name == "delivered" {
        return Some(Measure { get: Get::Delivered, dimensions: PART });
    }
    if let Some((_, measure)) = COLUMNS.iter().find(|(column, _)| *column == name) {
        return Some(*measure);
    }
    let rows = flows::times().map(|row| (row.name(), Level::Row(row)));
    let levels = rows.chain([("message", Level::Messages), ("round_trip", Level::RoundTrips)]);
    let mut all =
        levels.filter_map(|(level, times)| Some((times, name.strip_prefix(level)?.strip_prefix('_')?)));
    let (level, at) = all.next().unwrap_or((Level::Whole, name));
    Some(Measure { get: Get::Times(level, instant(at)?), dimensions: TIME })
}

/// `mean`, `max`, `p99.9`.
fn instant(text: &str) -> Option<At> {
    Some(match text {
        "mean" => At::Mean,
        "max" => At::Max,
        _ => {
            let digits = text.strip_prefix('p')?;
            let plain = digits.starts_with(|c: char| c.is_ascii_digit())
                && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
            let percent: f64 = digits.parse().ok().filter(|_| plain)?;
            (percent > 0.0 && percent < 100.0).then_some(At::Quantile(percent / 100.0))?
        }
    })
}

/// Names of all metrics, as an error lists them.
fn names(of_links: bool) -> Vec<String> {
    if of_links {
        return vec!["use".into()];
    }
    let times = ["p99 (or any other percentile)", "mean", "max"].map(String::from);
    let levels = flows::times().map(|row| row.name()).chain(["message", "round_trip"]);
    let levels = levels.map(|level| format!("{level}_p99 (and so on)"));
    let columns = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    times.into_iter().chain(levels).chain(["delivered".to_owned()]).chain(columns).collect()
}

/// A requirement as the scenario says it.
///
/// # Errors
/// There is no such metric, or it is measured in other units.
pub fn requirement(subjects: Subjects, metric: &str, limit: Limit) -> Result<Requirement, Wrong> {
    let of_links = matches!(subjects, Subjects::Links(_));
    let measure = measure(metric, of_links).ok_or_else(|| Wrong::Metric(names(of_links)))?;
    if !measure.dimensions.contains(&limit.dimension) {
        return Err(Wrong::Unit(match measure.dimensions[0] {
            Dimension::Time => "a time, for example \"< 2 us\"",
            Dimension::Rate => "a rate, for example \"> 5 Gb/s\"",
            Dimension::Share => {
                "a percentage, a fraction or a part of one, for example \"< 80 %\" or \"< 0.8\""
            }
            Dimension::Number => "a number, for example \"= 0\"",
        }));
    }
    Ok(Requirement { subjects, metric: metric.into(), limit })
}

/// What becomes of it in a run, one by one.
fn judge_one(required: &Requirement, report: &VariantReport) -> Vec<Judged> {
    let of_links = matches!(required.subjects, Subjects::Links(_));
    let measure = measure(&required.metric, of_links).expect("a metric that `requirement` has let pass");
    let judged = |of, name: &str, flow: Option<usize>, (measured, samples): (f64, Option<(u64, u64)>)| {
        let Limit { relation, value, .. } = required.limit;
        // what is under way takes longer than it has taken, so of a maximum that may say enough
        let waits = flow.and_then(|flow| measure.waits(report, flow));
        let is_more = |ps: f64| measured.is_nan() || measured < ps;
        let waits = waits.filter(|&ps| relation.is_settled_from(ps, value) && is_more(ps));
        let measured = waits.unwrap_or(measured);
        // what never arrives takes longer than any time, of however few that is known
        let enough = measured == f64::INFINITY
            || waits.is_some()
            || samples.is_none_or(|(known, needed)| known >= needed) && measured.is_finite();
        // A percentile is known to a step: what may hold does.
        let least = flow.and_then(|flow| measure.step(report, flow)).unwrap_or(measured);
        let within = relation == Relation::Equal && least <= value && value <= measured;
        let verdict = match enough {
            false => Verdict::NotEnough,
            true if within || relation.holds(measured, value) || relation.holds(least, value) => {
                Verdict::Pass
            }
            true => Verdict::Fail,
        };
        Judged {
            of,
            name: name.into(),
            flow,
            metric: required.metric.clone(),
            wanted: required.limit.text.clone(),
            limit: required.limit.value,
            measured: if enough { measured } else { f64::NAN },
            dimension: measure.dimensions[0],
            samples,
            arrived: flow.and_then(|flow| measure.arrived(report, flow)),
            waits: waits.is_some(),
            verdict,
        }
    };
    match &required.subjects {
        Subjects::Flows(flows) => {
            let flows = flows.iter().map(|flow| usize::from(*flow));
            let value = |flow: usize| measure.of_flow(report, flow);
            flows.map(|flow| judged("flow", &report.flows[flow].name, Some(flow), value(flow))).collect()
        }
        Subjects::Links(links) => {
            let ports = Ports::new(report);
            let value = |link: u32| {
                let link = &report.run.config.links[link as usize];
                (f64::max(ports.use_of(link.a), ports.use_of(link.b)), None)
            };
            links.iter().map(|(link, name)| judged("link", name, None, value(*link))).collect()
        }
    }
}

impl Measure {
    /// Of a percentile the lower end of the step in which it is known, picoseconds.
    fn step(&self, report: &VariantReport, index: usize) -> Option<f64> {
        let Get::Times(level, At::Quantile(q)) = self.get else { return None };
        if level.asked(report, index).is_some() {
            return None;
        }
        let (_, spread) = level.of(&report.flows[index])?;
        let own = among_arrived(q, level.arrived(report, index))?;
        spread.quantile_at_least(own).map(|ps| ps as f64)
    }

    /// Of a time: of which share of what was asked for it is.
    fn arrived(&self, report: &VariantReport, index: usize) -> Option<f64> {
        let Get::Times(level, _) = self.get else { return None };
        Some(level.arrived(report, index))
    }

    /// Of a maximum: the age of the oldest that is under way at the end, picoseconds, where it is known.
    fn waits(&self, report: &VariantReport, index: usize) -> Option<f64> {
        let Get::Times(level, At::Max) = self.get else { return None };
        let books = &report.flows[index].books;
        // What users asked for waits, also where nothing has arrived and nobody knows what would be measured.
        if level.asked(report, index).is_some() || matches!(level, Level::Whole) && books.asked > 0 {
            return books.oldest_ps.filter(|_| books.under_way > 0).map(|ps| ps as f64);
        }
        let oldest = match level {
            Level::Row(row) if row.name() == "network_latency" => level::oldest_in_network(report, index),
            _ => level::oldest(report, &report.flows[index], level.counted(report, index)?),
        };
        oldest.map(|ps| ps as f64)
    }

    /// The value for a flow, and how many were measured of how many it takes.
    fn of_flow(&self, report: &VariantReport, index: usize) -> (f64, Option<(u64, u64)>) {
        let flow = &report.flows[index];
        match self.get {
            Get::Times(level, at) => {
                let arrived = level.arrived(report, index);
                // what never comes is known to be longer, so it counts among the values as well, where it is
                // not all that is known
                let share = if arrived > 0.0 { arrived } else { 1.0 };
                let needed = libm::ceil(share * at.needed() as f64) as u64;
                if let Some(times) = level.asked(report, index) {
                    let value = at.among(&times, arrived).unwrap_or(f64::NAN);
                    return (value, Some((times.len() as u64, needed)));
                }
                let found = level.of(flow);
                let known = found.map_or(0, |(_, spread)| spread.histogram.len());
                let mean = || found.map(|(times, _)| times.mean.value);
                let max = || found.map(|(times, _)| times.max);
                let quantile = |q| found.and_then(|(_, spread)| spread.quantile(q)).map(|ps| ps as f64);
                let value = at.pick(arrived, mean, max, quantile).unwrap_or(f64::NAN);
                (value, Some((known, needed)))
            }
            Get::Column(pick, scale) => (pick.value(flow) * scale, None),
            Get::Protocol(get, scale) => (get(&report.run, Some(index)) * scale, None),
            Get::Delivered => delivered(report, flow),
            Get::Use => unreachable!("use is a metric of links"),
        }
    }
}

impl At {
    /// Which of the times of those that arrived, ps, where they are this share of what was asked for:
    /// infinite for what never did. `None`: there is none.
    fn pick(
        self,
        arrived: f64,
        mean: impl Fn() -> Option<f64>,
        max: impl Fn() -> Option<f64>,
        quantile: impl Fn(f64) -> Option<f64>,
    ) -> Option<f64> {
        match self {
            At::Mean => mean(),
            At::Max if arrived < 1.0 => Some(f64::INFINITY),
            At::Max => max(),
            At::Quantile(q) => among_arrived(q, arrived).map_or(Some(f64::INFINITY), quantile),
        }
    }

    /// Likewise of a list in rising order.
    fn among(self, times: &[u64], arrived: f64) -> Option<f64> {
        let mean = || (!times.is_empty()).then(|| ratio(sum_ps(times), times.len() as u128));
        let max = || times.last().map(|&ps| ps as f64);
        let quantile = |q: f64| {
            let rank = quantile_rank(q, times.len() as u64);
            times.get(rank as usize - 1).map(|&ps| ps as f64)
        };
        self.pick(arrived, mean, max, quantile)
    }

    /// Of how many values it is told, the same rule as everywhere.
    fn needed(self) -> u64 {
        match self {
            At::Mean | At::Max => 1,
            At::Quantile(q) => any_quantile_samples(q),
        }
    }
}

impl Level {
    /// Times of what users asked for and got, in rising order, ps, where messages of the fabric are not that.
    /// Who asks for nothing, but keeps connections, has the times of their frames.
    fn asked(self, report: &VariantReport, index: usize) -> Option<Cow<'_, [u64]>> {
        let is_asked = report.flows[index].books.asked > 0;
        if is_asked && matches!(self, Level::Whole) { protocol::asked(&report.run, index) } else { None }
    }

    /// As what becomes of it is counted. `None`: times that are not counted from when it was asked for.
    fn counted(self, report: &VariantReport, index: usize) -> Option<level::Level> {
        let flow = &report.flows[index];
        match self {
            Level::Whole if flow.round_trips.is_some() => Some(TRIPS),
            Level::Whole if flow.messages.is_some() => Some(MESSAGES),
            Level::Whole => flow.protocol.is_none().then_some(PACKETS),
            Level::Row(row) => (row.name() == "latency").then_some(PACKETS),
            Level::Messages => Some(MESSAGES),
            Level::RoundTrips => Some(TRIPS),
        }
    }

    /// Share of what was asked for that arrived, without what is merely on its way.
    fn arrived(self, report: &VariantReport, index: usize) -> f64 {
        let flow = &report.flows[index];
        match self {
            // of nothing that was due nothing is missing
            Level::Whole => users_share(report, Some(index)).unwrap_or(1.0),
            Level::Row(_) => come_share(report, flow, PACKETS),
            Level::Messages => come_share(report, flow, MESSAGES),
            Level::RoundTrips => come_share(report, flow, TRIPS),
        }
    }

    fn of(self, flow: &FlowReport) -> Option<(&LatencyReport, &Spread)> {
        let whole = |flow| (&FlowReport::whole(flow).latency, &FlowReport::whole(flow).spread.latency);
        match self {
            // Of what users wait for nothing came: frames and requests that did are not it.
            Level::Whole if flow.protocol.is_some() && flow.books.asked > 0 && flow.books.arrived == 0 => {
                None
            }
            Level::Whole => Some(whole(flow)),
            Level::Row(row) => Some(row.of(flow)),
            Level::Messages => flow.messages.as_deref().map(|one| (&one.latency, &one.spread.latency)),
            Level::RoundTrips => flow.round_trips.as_deref().map(|one| (&one.latency, &one.spread.latency)),
        }
    }
}

/// What arrived of what was asked for in the whole run. What is still under way counts as missing if the flow
/// falls behind, if it has a task to end, or if somebody stands still.
fn delivered(report: &VariantReport, flow: &FlowReport) -> (f64, Option<(u64, u64)>) {
    let books = &flow.books;
    let overdue = books.task || report.leaves_behind(flow);
    let due = if overdue { books.asked } else { books.asked - books.under_way };
    let share = if due == 0 { f64::NAN } else { books.arrived as f64 / due as f64 };
    (share, Some((due, 1)))
}

/// The quantile, or the mean, of the times of what users of a flow ask for, ps: infinite for what never
/// comes; and of how many it is. Not a number: none came.
pub(crate) fn users_time(report: &VariantReport, flow: usize, quantile: Option<f64>) -> (f64, u64) {
    let get = Get::Times(Level::Whole, quantile.map_or(At::Mean, At::Quantile));
    let (value, samples) = Measure { get, dimensions: &[Dimension::Time] }.of_flow(report, flow);
    (value, samples.map_or(0, |(known, _)| known))
}

/// All requirements of a run, one by one.
pub fn judge(report: &VariantReport) -> Vec<Judged> {
    report.required.iter().flat_map(|required| judge_one(required, report)).collect()
}

/// How many requirements of a flow, or of all flows and links, ended so; not a number: there are none.
pub(crate) fn count(report: &VariantReport, flow: Option<usize>, verdict: Verdict) -> f64 {
    let own = |judged: &Judged| flow.is_none() || judged.flow == flow;
    let own: Vec<Judged> = judge(report).into_iter().filter(own).collect();
    let hits = own.iter().filter(|judged| judged.verdict == verdict).count();
    if own.is_empty() { f64::NAN } else { hits as f64 }
}

/// A time of what never arrives, where this share does.
pub(crate) fn endless(share: f64) -> String {
    match share {
        0.0 => "longer than any time, as nothing arrived".into(),
        _ => format!("longer than any time, as only {} arrived", share_text(share)),
    }
}

/// What was measured in a unit of `summary.json`, for people, with as many digits as it takes to be on that
/// side of the limit on which it is.
pub(crate) fn beside(unit: &str, measured: f64, limit: f64) -> String {
    // both are rounded decimals, or counts
    let measured = if Relation::Equal.holds(measured, limit) { limit } else { measured };
    match unit {
        // a limit is whole picoseconds
        "ns" => time_beside(measured * 1e3, libm::round(limit * 1e3)),
        "share" => share_beside(measured, limit),
        "" => Num(measured).to_string(),
        unit => format!("{} {unit}", digits_beside(measured, limit)),
    }
}

impl Judged {
    /// What was measured, for people.
    pub fn measured_text(&self) -> String {
        if self.verdict == Verdict::NotEnough {
            return "-".into();
        }
        if self.measured == f64::INFINITY {
            return endless(self.arrived.unwrap_or(0.0));
        }
        let (unit, scale) = self.unit();
        let text = beside(unit, self.measured / scale, self.limit / scale);
        if self.waits { format!("more than {text}, as one is under way for so long") } else { text }
    }

    /// The unit in which `summary.json` tells it, and how much that is.
    const fn unit(&self) -> (&'static str, f64) {
        match self.dimension {
            Dimension::Time => ("ns", 1e3),
            Dimension::Rate => ("Gb/s", 1.0),
            Dimension::Share => ("share", 1.0),
            Dimension::Number => ("", 1.0),
        }
    }

    /// The share that arrived, for people, where it is not all.
    fn short(&self) -> Option<String> {
        let share = self.arrived.filter(|share| *share < 1.0)?;
        Some(share_text(share))
    }

    /// One line for a terminal.
    pub fn line(&self) -> String {
        let Self { of, name, metric, wanted, verdict, .. } = self;
        let found = match (verdict, self.samples) {
            (Verdict::NotEnough, Some((known, needed))) => {
                format!("{} of {} samples", count_text(known), count_text(needed))
            }
            (Verdict::NotEnough, None) => "nothing was measured".into(),
            _ => self.measured_text(),
        };
        let found = match self.short() {
            Some(share) if self.measured.is_finite() && !self.waits => {
                format!("{found} (of those that arrived: {share})")
            }
            _ => found,
        };
        format!("{}: {of} {name}, {metric} {wanted}: {found}", verdict.name())
    }
}

/// A requirement in `summary.json`.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedSummary {
    /// `flow` or `link`.
    pub of: &'static str,
    /// Its name.
    pub name: String,
    /// Name of the metric.
    pub metric: String,
    /// What it has to be, as the scenario writes it.
    pub wanted: String,
    /// What it has to be, in the unit of `unit`.
    pub limit: Num,
    /// What it is, likewise; `null` if that is not known, or if it is the time of what never arrives. Of a
    /// maximum that something under way has passed, the age of that.
    pub measured: Num,
    /// `ns`, `Gb/s`, `share`, or empty: a number.
    pub unit: &'static str,
    /// How many values were measured, where the metric is one of many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Of how many on it is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples_needed: Option<u64>,
    /// Of a time: the share that arrived of what was due, only where it is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived_share: Option<Num>,
    /// `PASS`, `FAIL` or `NOT ENOUGH SAMPLES`.
    pub verdict: &'static str,
}

impl JudgedSummary {
    /// Of a run, one by one.
    pub fn all(report: &VariantReport) -> Vec<Self> {
        judge(report).into_iter().map(Self::new).collect()
    }

    fn new(judged: Judged) -> Self {
        let (unit, scale) = judged.unit();
        Self {
            of: judged.of,
            name: judged.name,
            metric: judged.metric,
            wanted: judged.wanted,
            limit: Num(judged.limit / scale),
            measured: Num(judged.measured / scale),
            unit,
            samples: judged.samples.map(|samples| samples.0),
            samples_needed: judged.samples.map(|samples| samples.1),
            arrived_share: judged.arrived.filter(|share| *share < 1.0).map(Num),
            verdict: judged.verdict.name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::At;
    use crate::collect::{LATENCY_UNIT_PS, Spread};

    /// Of n times 1, 2, ... n the percentile p is the smallest that p of a hundred do not exceed: p n / 100
    /// where that is whole, 7 of 70 for a tenth.
    #[test]
    fn percentiles_are_those_of_the_list() {
        for n in 1..=400_u64 {
            let times: Vec<u64> = (1..=n).collect();
            for p in 1..100 {
                let found = At::Quantile(p as f64 / 100.0).among(&times, 1.0);
                assert_eq!(found, Some((p * n).div_ceil(100) as f64), "p{p} of {n}");
            }
        }
    }

    /// Likewise of a histogram, which knows these values exactly, and of 99.9 %: 1 998 of 2 000.
    #[test]
    fn percentiles_of_a_histogram_are_those_of_the_list() {
        for n in [1, 99, 100, 101, 200, 1_000, 2_000] {
            let mut spread = Spread::default();
            for value in 1..=n {
                spread.histogram.record(value * LATENCY_UNIT_PS).unwrap();
            }
            (spread.min, spread.max) = (0, u64::MAX);
            let rank = |q: f64| spread.quantile_at_least(q).unwrap() / LATENCY_UNIT_PS;
            for p in 1..100 {
                assert_eq!(rank(p as f64 / 100.0), (p * n).div_ceil(100), "p{p} of {n}");
            }
            assert_eq!(rank(99.9 / 100.0), (999 * n).div_ceil(1_000), "{n}");
        }
    }
}
