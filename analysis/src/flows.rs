//! What is told of a flow: a row each, from which `summary.json` takes its values and sweeps their columns.

pub(crate) mod messages;
pub use messages::{FactCounts, HostSummary, JourneySummary, ProtocolSummary};

use crate::books::{Above, Books};
use crate::collect::Spread;
use crate::estimate::Estimate;
use crate::level::{MESSAGES, PACKETS, TRIPS, come_share, packets_share, users_share};
use crate::metric::{Kind, Row, yes};
use crate::num::{Num, ratio};
use crate::report::{FlowReport, LatencyReport, VariantReport};
use crate::run::Role;
use models::probe::Cause;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// What is told of a flow: its key in `summary.json`, its unit, what figures call it, what it is, and how to
/// get it. Without words there is no column for it.
#[derive(Debug)]
pub(crate) struct FlowRow {
    key: &'static str,
    unit: &'static str,
    words: &'static str,
    about: &'static str,
    get: Get,
}

/// How a value is got, and so how it is written: an estimate has an interval in `summary.json`, times have
/// quantiles, and a column each.
#[derive(Debug)]
enum Get {
    Count(fn(&FlowReport) -> u64),
    Flag(fn(&FlowReport) -> bool),
    Real(fn(&FlowReport) -> f64),
    /// In parts of this.
    Estimate(fn(&FlowReport) -> Option<Estimate>, f64),
    Times(fn(&FlowReport) -> &LatencyReport, fn(&FlowReport) -> &Spread),
    /// Where the time went.
    Parts,
    /// For `summary.json` only.
    Told(fn(&FlowReport) -> Told),
}

const fn row(
    key: &'static str,
    unit: &'static str,
    words: &'static str,
    about: &'static str,
    get: Get,
) -> FlowRow {
    FlowRow { key, unit, words, about, get }
}

/// Everything that is told of a flow, in the order of `summary.json`.
static ROWS: &[FlowRow] = &[
    row("name", "", "", "name", Get::Told(|flow| Told::Text(flow.name.clone()))),
    row(
        "role",
        "",
        "",
        "victim or hot, if the scenario declares it; flows of a hotspot are hot without that",
        Get::Told(|flow| Told::Role(flow.role.map(Role::name))),
    ),
    row("sources", "", "", "endpoints that send it", Get::Count(|flow| flow.sources)),
    row(
        "books",
        "",
        "",
        "what became of what was asked for, in the whole run",
        Get::Told(|flow| Told::Books(BooksSummary::new(&flow.books))),
    ),
    row(
        "offered_packets",
        "",
        "packets offered",
        "packets created in the measured part",
        Get::Count(|flow| flow.offered.packets),
    ),
    row(
        "delivered_packets",
        "",
        "packets delivered",
        "packets delivered in the measured part",
        Get::Count(|flow| flow.delivered.packets),
    ),
    row(
        "dropped_packets",
        "",
        "packets dropped",
        "packets dropped in the whole run",
        Get::Count(|flow| flow.dropped),
    ),
    row(
        "offered_load",
        "",
        "offered load",
        "share of the time of injection links in which sources could send that is offered",
        Get::Real(|flow| flow.offered_load),
    ),
    // A multicast packet counts once, but where protocols run the flow.
    row(
        "accepted_load",
        "",
        "accepted load",
        "share of the time of injection links in which sources could send that is delivered; segments that a \
         host answers by RETRY, and that come again, are delivered each time",
        Get::Estimate(|flow| Some(flow.accepted_load), 1.0),
    ),
    row(
        "per_slot",
        "",
        "packets per slot",
        "packets delivered for each source and tick of the cell clock",
        Get::Estimate(|flow| flow.per_slot, 1.0),
    ),
    row(
        "closed_loop",
        "",
        "",
        "all sources are closed loops: the offered load is what the fabric lets in",
        Get::Flag(|flow| flow.closed_loop),
    ),
    row(
        "saturated",
        "",
        "saturated runs",
        "accepted is less than 99 % of offered and the rest not merely on its way, more is asked for than \
         completes, or a source is a closed loop",
        Get::Flag(|flow| flow.saturated),
    ),
    row(
        "goodput_gbps",
        "Gb/s",
        "goodput",
        "octets delivered once, over the measured part; of a flow that ends from its first start to its last \
         completion, or to the last try of what was given up",
        Get::Estimate(|flow| Some(flow.goodput_gbps), 1.0),
    ),
    row(
        "goodput_over_us",
        "us",
        "",
        "over which time that is, if it is not the measured part",
        Get::Told(|flow| Told::Span(flow.rate_span.or(flow.late_span).map(|(from, to)| [us(from), us(to)]))),
    ),
    row(
        "arrived_share",
        "",
        "",
        "share of the packets due that arrived, in the whole run, only where it is not all: times are of \
         these; what is merely on its way at the end is not due, what stands still there or falls behind is",
        Get::Told(|_| Told::Share(None)),
    ),
    row(
        "latency_ns",
        "ns",
        "latency",
        "creation at the source to last bit at the destination",
        Get::Times(|flow| &flow.latency, |flow| &flow.spread.latency),
    ),
    row(
        "network_latency_ns",
        "ns",
        "network latency",
        "time from the first bit on the injection link",
        Get::Times(|flow| &flow.network, |flow| &flow.spread.network),
    ),
    row(
        "hol_blocked_ns",
        "ns",
        "",
        "head-of-line blocking of a packet",
        Get::Estimate(|flow| Some(flow.hol_ps), 1e3),
    ),
    row("decomposition", "ns", "", "where the time went", Get::Parts),
    row(
        "protocol",
        "",
        "",
        "what protocols made of the packets, if they run the flow",
        Get::Told(|flow| Told::Protocol(ProtocolSummary::new(flow).map(Box::new))),
    ),
    row(
        "users",
        "",
        "",
        "what those who use the flow wait for, where that is not its messages, in the whole run",
        Get::Told(|flow| Told::Users(flow.above.map(UserSummary::new))),
    ),
];

/// Columns of the parts of a time, in the order of [`Cause::ALL`]: name, what figures call it, where a packet
/// spends it.
pub(crate) const PARTS: [[&str; 3]; Cause::ALL.len()] = [
    ["source_queue", "time in the source queue", "in the source queue"],
    ["serialization", "serialization time", "in transmission and store-and-forward"],
    ["propagation", "propagation time", "on wires"],
    ["pipeline", "time in pipelines", "in pipelines of switches"],
    ["input_contention", "input contention", "behind others of its input"],
    ["output_contention", "output contention", "behind others for its output"],
    ["hol_blocking", "head-of-line blocking", "behind packets for other outputs"],
    ["staged", "time held by backpressure", "held by VoQ backpressure"],
    ["no_buffer", "time without a downstream buffer", "without a buffer at the neighbour"],
    ["link_recovery", "link retry and recovery", "in retries and recovery of links"],
    ["no_ack_id", "time without a free ackID", "without an ackID for the link"],
    ["host", "time in hosts", "in hosts"],
    ["protocol", "time held by protocols", "held by protocols"],
];

/// A column of sweeps: a row, and which of its values.
#[derive(Copy, Clone, Debug)]
pub struct Pick {
    row: &'static FlowRow,
    part: usize,
}

impl Pick {
    /// Whether it is a time of what arrived, or a part of one.
    pub(crate) fn is_of_arrived(self) -> bool {
        self.is_time() || self.row.unit == "ns"
    }

    /// Whether it is one of many times.
    pub(crate) fn is_time(self) -> bool {
        matches!(self.row.get, Get::Times(..))
    }

    /// The value; not a number: there is none.
    pub(crate) fn value(self, flow: &FlowReport) -> f64 {
        match self.row.get {
            Get::Count(get) => get(flow) as f64,
            Get::Flag(get) => yes(get(flow)),
            Get::Real(get) => get(flow),
            Get::Estimate(get, unit) => get(flow).map_or(f64::NAN, |estimate| estimate.value / unit),
            Get::Times(get, _) => {
                let &LatencyReport { mean, p50, p99, p999, max } = get(flow);
                [mean.value, p50.value, p99.value, p999.value, max][self.part] / 1e3
            }
            Get::Parts if flow.delivered.packets == 0 => f64::NAN,
            Get::Parts => flow.mean_part_ps(Cause::ALL[self.part]) / 1e3,
            Get::Told(_) => f64::NAN,
        }
    }
}

/// What each value of a flow is: key, unit and words.
pub(crate) fn notes() -> impl Iterator<Item = [&'static str; 3]> {
    ROWS.iter().map(|row| [row.key, row.unit, row.about])
}

/// A row of times: its mean, its maximum and any of its percentiles.
#[derive(Copy, Clone, Debug)]
pub(crate) struct TimesRow {
    row: &'static FlowRow,
    get: fn(&FlowReport) -> &LatencyReport,
    spread: fn(&FlowReport) -> &Spread,
}

impl TimesRow {
    /// Its name, without the unit.
    pub fn name(self) -> &'static str {
        self.row.key.trim_end_matches("_ns")
    }

    /// What is told of them, and all of them; picoseconds.
    pub fn of(self, flow: &FlowReport) -> (&LatencyReport, &Spread) {
        ((self.get)(flow), (self.spread)(flow))
    }
}

/// Rows of times.
pub(crate) fn times() -> impl Iterator<Item = TimesRow> {
    ROWS.iter().filter_map(|row| match row.get {
        Get::Times(get, spread) => Some(TimesRow { row, get, spread }),
        _ => None,
    })
}

/// Columns of sweeps: measures, then counts, then flags, each in the order of the rows.
pub(crate) fn columns() -> Vec<Row<Pick>> {
    let mut columns: Vec<Row<Pick>> = ROWS.iter().flat_map(FlowRow::columns).collect();
    columns.sort_by_key(|column| match column.kind {
        Kind::Real | Kind::Most => 0,
        Kind::Count => 1,
        Kind::Flag => 2,
    });
    columns
}

impl FlowRow {
    fn columns(&'static self) -> Vec<Row<Pick>> {
        let &FlowRow { key, unit, words, about, ref get } = self;
        let pick = |part| Pick { row: self, part };
        let one = |kind| vec![Row { name: key, unit, kind, words, about, quiet: false, get: pick(0) }];
        match get {
            Get::Times(..) => {
                let of = |part, kind, measure: &str, words: String, which: &str| Row {
                    name: format!("{}_{measure}_{unit}", key.trim_end_matches("_ns")).leak(),
                    unit,
                    kind,
                    words: words.leak(),
                    about: format!("{about}, {which}").leak(),
                    quiet: false,
                    get: pick(part),
                };
                let (p99, p999) = ("99th percentile", "99.9th percentile");
                vec![
                    of(0, Kind::Real, "mean", format!("mean {words}"), "mean"),
                    of(1, Kind::Real, "p50", format!("median {words}"), "median"),
                    of(2, Kind::Real, "p99", format!("{p99} of {words}"), p99),
                    of(3, Kind::Real, "p999", format!("{p999} of {words}"), p999),
                    of(4, Kind::Most, "max", format!("maximum {words}"), "maximum"),
                ]
            }
            Get::Parts => {
                let of = |(part, &[name, words, place]): (usize, &[&'static str; 3])| Row {
                    name: format!("part_{name}_{unit}").leak(),
                    unit,
                    kind: Kind::Real,
                    words,
                    about: format!("mean time of a packet {place}").leak(),
                    quiet: false,
                    get: pick(part),
                };
                PARTS.iter().enumerate().map(of).collect()
            }
            _ if words.is_empty() => Vec::new(),
            Get::Count(_) => one(Kind::Count),
            Get::Flag(_) => one(Kind::Flag),
            Get::Real(_) | Get::Estimate(..) => one(Kind::Real),
            Get::Told(_) => Vec::new(),
        }
    }

    fn told(&self, flow: &FlowReport) -> Told {
        match self.get {
            Get::Count(get) => Told::Count(get(flow)),
            Get::Flag(get) => Told::Flag(get(flow)),
            Get::Real(get) => Told::Number(Num(get(flow))),
            Get::Estimate(get, unit) => {
                Told::Estimate(get(flow).map(|estimate| EstimateSummary::scaled(estimate, unit)))
            }
            Get::Times(get, _) => Told::Times(LatencySummary::new(get(flow))),
            Get::Parts => Told::Parts(Decomposition::new(flow)),
            Get::Told(get) => get(flow),
        }
    }
}

/// A value in `summary.json`.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum Told {
    Text(String),
    Role(Option<&'static str>),
    Count(u64),
    Flag(bool),
    Number(Num),
    Estimate(Option<EstimateSummary>),
    Span(Option<[Num; 2]>),
    /// Known to the whole report only, which puts it in.
    Share(Option<Num>),
    Books(BooksSummary),
    Times(LatencySummary),
    Parts(Decomposition),
    Protocol(Option<Box<ProtocolSummary>>),
    Users(Option<UserSummary>),
}

/// A flow, or all flows, in `summary.json`: what the rows tell.
#[derive(Clone, Debug)]
pub struct FlowSummary(Vec<(&'static str, Told)>);

impl FlowSummary {
    /// Of this flow of a report; `None`: of all flows.
    pub(crate) fn new(report: &VariantReport, index: Option<usize>) -> Self {
        let flow = index.map_or(&report.overall, |index| &report.flows[index]);
        let told = ROWS.iter().map(|row| (row.key, row.told(flow)));
        let mut told: Vec<_> = told.collect();
        let short = |share: f64| (share < 1.0).then_some(Num(share));
        let of = |level| short(come_share(report, flow, level));
        for (_, value) in &mut told {
            match value {
                Told::Share(share) => {
                    *share = if index.is_some() { of(PACKETS) } else { short(packets_share(report)) };
                }
                Told::Books(books) => books.arrived_share = users_share(report, index).and_then(short),
                Told::Protocol(Some(protocol)) => {
                    let levels = [(&mut protocol.messages, MESSAGES), (&mut protocol.round_trips, TRIPS)];
                    for (journeys, level) in levels {
                        journeys.iter_mut().for_each(|journeys| journeys.arrived_share = of(level));
                    }
                }
                _ => (),
            }
        }
        told.retain(|(_, value)| {
            !matches!(value, Told::Share(None) | Told::Protocol(None) | Told::Users(None))
        });
        Self(told)
    }
}

impl Serialize for FlowSummary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

fn us(ps: u64) -> Num {
    Num(ps as f64 / 1e6)
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
    pub(crate) fn scaled(estimate: Estimate, unit: f64) -> Self {
        Self { value: Num(estimate.value / unit), ci95: Num(estimate.half_width / unit) }
    }
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
    /// Share that arrived of what was due, only where it is not all: what is merely on its way at the end is
    /// not due, what stands still there or falls behind is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived_share: Option<Num>,
}

impl BooksSummary {
    fn new(books: &Books) -> Self {
        let &Books { unit, asked, arrived, never, under_way, oldest_ps, .. } = books;
        let oldest_us = oldest_ps.filter(|_| under_way > 0).map(us);
        Self { unit, asked, arrived, never, under_way, oldest_us, arrived_share: None }
    }
}

/// What users of a flow wait for, above its messages: PDUs, Transfers, a whole program.
#[derive(Clone, Debug, Serialize)]
pub struct UserSummary {
    /// What the messages of the fabric are to the protocol.
    pub carried_by: &'static str,
    /// What `mean_us` is.
    pub time: &'static str,
    /// How many they are.
    pub count: u64,
    /// Mean; `null`: there is none.
    pub mean_us: Option<Num>,
    /// Of that, the mean time at the application that takes them. Only if it takes time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application_us: Option<Num>,
    /// Mean time until the first message of a PDU leaves its source, of those of which it has. Only if they
    /// wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_us: Option<Num>,
    /// Times that a destination stopped its source. Only if there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stops: Option<u64>,
}

impl UserSummary {
    fn new(above: Above) -> Self {
        let mean = |sum_ps: u128, count: u64| (count > 0).then(|| Num(ratio(sum_ps, count.into()) / 1e6));
        let some = |time: Option<Num>| time.filter(|time| time.0 > 0.0);
        Self {
            carried_by: above.carries,
            time: above.latency,
            count: above.count,
            mean_us: mean(above.sum_ps, above.count),
            application_us: some(mean(above.at_application_ps, above.count)),
            source_us: some(mean(above.begun.1, above.begun.0)),
            stops: Some(above.stops).filter(|stops| *stops > 0),
        }
    }
}

/// A distribution of latencies.
#[derive(Clone, Debug, Serialize)]
pub struct LatencySummary {
    /// Mean, interval from batch means.
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
    /// Picoseconds, summed over the packets of the measured part (or messages, or round trips).
    pub sum_ps: u128,
    /// Share of the sum of all causes.
    pub share: Num,
    /// How many of them are in this state at a time, on average.
    pub mean_number: Num,
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

#[cfg(test)]
mod tests {
    use super::{PARTS, ROWS};
    use models::probe::Cause;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_has_a_key_of_its_own_and_says_what_it_is() {
        let keys: BTreeSet<&str> = ROWS.iter().map(|row| row.key).collect();
        assert_eq!(keys.len(), ROWS.len());
        assert!(ROWS.iter().all(|row| !row.about.is_empty()));
    }

    /// The parts stand in the order of the causes.
    #[test]
    fn every_cause_has_its_column() {
        let words = |cause: Cause| match cause {
            Cause::HeadOfLine => "hol_blocking".into(),
            Cause::Staged => "staged".into(),
            Cause::NoBuffer => "no_buffer".into(),
            Cause::Recovery => "link_recovery".into(),
            Cause::NoAckId => "no_ack_id".into(),
            Cause::Protocol => "protocol".into(),
            other => other.name().replace(' ', "_"),
        };
        assert_eq!(PARTS.map(|[name, ..]| name.to_owned()), Cause::ALL.map(words));
    }
}
