//! Protocols, as results know them: each in a file of its own, and a line of `PROTOCOLS`.
//!
//! They speak of what the fabric and the collector counted, so reports, summaries, tables and sweeps ask
//! them, and they ask none of these.

use crate::books::{Above, Account};
use crate::estimate::quantile_samples;
use crate::metric::Row;
use crate::num::{Num, count_text, sum_ps};
use crate::run::RunData;
use models::Outcome;
use models::sim_core::Time;
use models::totals::FlowTotals;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub mod echo;
pub mod initialise;
pub mod linx;
mod messages;
pub mod program;
pub mod session;
pub mod transfer;
pub mod translator;

/// Every protocol, in the order of `summary.json` and of what a terminal shows.
pub(crate) static PROTOCOLS: &[&dyn Protocol] = &[
    &linx::Linx,
    &transfer::Transfer,
    &translator::Translator,
    &program::Program,
    &session::Session,
    &initialise::Initialise,
    &messages::Messages,
    &echo::Echo,
];

/// A value of a flow that a protocol runs; of all flows together that of the first such flow.
pub(crate) type Get = fn(&RunData, Option<usize>) -> f64;

/// A time that a protocol is there for, as figures tell it.
#[derive(Copy, Clone)]
pub(crate) struct TimeRow {
    /// What it is, with its statistic if it is one of many.
    pub words: &'static str,
    /// It is counted from the beginning of the run: how much later is a time, and no share of anything.
    pub is_moment: bool,
    /// Microseconds; not a number: there is none.
    pub get: Get,
    /// Of what comes again: whether it has never gone, so that there is none.
    pub never_gone: fn(&RunData, Option<usize>) -> bool,
}

/// Since when all that a protocol keeps has been there, if that is not the first time; microseconds. Of what
/// never ended there is no other time.
pub(crate) fn again_us(first: Option<Time>, since: Option<Time>) -> f64 {
    since.filter(|_| since != first).map_or(f64::NAN, |at| at.0 as f64 / 1e6)
}

/// Whether all that a protocol keeps was there to the end from when it first was: it came, and never went.
pub(crate) fn stayed(first: Option<Time>, since: Option<Time>) -> bool {
    since.is_some() && since == first
}

impl TimeRow {
    /// The time of a column of sweeps.
    pub(crate) fn of(columns: &'static [Row<Get>], name: &str, is_moment: bool) -> Self {
        let row = columns.iter().find(|row| row.name == name).expect("a column has this name");
        Self { words: row.words, is_moment, get: row.get, never_gone: |_, _| false }
    }
}

/// What a protocol brings. What it does not have it leaves out.
pub(crate) trait Protocol: Sync {
    /// Its key in `summary.json`.
    fn key(&self) -> &'static str;

    /// Its part of `summary.json`: what each of its flows came to in the whole run.
    fn summary(&self, _: &RunData) -> Vec<Value> {
        Vec::new()
    }

    /// That part for a terminal: a text of one or more lines for each flow, indented.
    fn lines(&self, _: &RunData) -> Vec<String> {
        Vec::new()
    }

    /// Books and rate of a flow, if it runs the flow.
    fn account(&self, _: &RunData, _: usize) -> Option<Account> {
        None
    }

    /// Times of what users of a flow asked for and got, in rising order, ps, if it runs the flow and messages
    /// of the fabric are not that.
    fn asked<'a>(&self, _: &'a RunData, _: usize) -> Option<Cow<'a, [u64]>> {
        None
    }

    /// It runs over other protocols, and the flow is its own: books and rate are those that it tells.
    fn is_above(&self) -> bool {
        false
    }

    /// Laws that the run broke, in words.
    fn broken(&self, _: &Outcome) -> Vec<String> {
        Vec::new()
    }

    /// When the last of what it carries came to its end.
    fn last(&self, _: &Outcome) -> Option<Time> {
        None
    }

    /// When those who had something to do by themselves had done all of it, each for itself; who has not is
    /// left out.
    fn done(&self, _: &Outcome) -> Vec<Time> {
        Vec::new()
    }

    /// Columns of sweeps.
    fn columns(&self) -> &'static [Row<Get>] {
        &[]
    }

    /// Times that it is there for.
    fn times(&self) -> Vec<TimeRow> {
        Vec::new()
    }

    /// When all that each of its flows sets up was there; `None`: it never was.
    fn all_up(&self, _: &Outcome) -> Vec<Option<Time>> {
        Vec::new()
    }

    /// What a comparison says of runs in which nothing is carried: the instant at which that was done that
    /// its flows are for, after these words.
    fn set_up(&self, _: &Outcome) -> Option<(&'static str, Time)> {
        None
    }

    /// What has become of what its flows were asked to set up, where no time says that all of it is there.
    fn standing(&self, _: &Outcome) -> Vec<String> {
        Vec::new()
    }

    /// What went wrong in a run, or did not, that a comparison says first: what, in the plural, and how many.
    fn counts(&self, _: &Outcome) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Why counts of a run say nothing of how far it would have gone, if so.
    fn cut(&self, _: &Outcome) -> Option<&'static str> {
        None
    }

    /// What else was counted in a run, and is no fault: for figures.
    fn measures(&self, _: &Outcome) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Of the messages that a flow sent, how many set something up, keep it or end it, and how many there
    /// are: for figures that draw them with the data.
    fn management(&self, _: &RunData, _: usize) -> Option<[u64; 2]> {
        None
    }

    /// Devices that take part even if they have told nothing.
    fn nodes(&self, _: &Outcome) -> Vec<u32> {
        Vec::new()
    }

    /// A file of its own in the folder `series`, and its name, if any of these runs has something for it.
    fn series(&self, _: &[&RunData]) -> Option<(&'static str, String)> {
        None
    }

    /// The name of that file, and what its columns are.
    fn series_notes(&self) -> Option<(&'static str, Vec<[&'static str; 2]>)> {
        None
    }
}

/// The parts of `summary.json` that protocols bring.
pub(crate) fn summaries(run: &RunData) -> Map<String, Value> {
    let parts = PROTOCOLS.iter().map(|protocol| (protocol.key(), protocol.summary(run)));
    let told = parts.filter(|(_, flows)| !flows.is_empty());
    told.map(|(key, flows)| (key.to_owned(), flows.into())).collect()
}

/// Books and rate of a flow: of packets, if no protocol runs it.
pub(crate) fn account(run: &RunData, flow: usize) -> Account {
    let below = account_below(run, flow);
    match first_account(run, flow, true) {
        // What it runs over says what it carries.
        Some(program) => {
            let carried = below.and_then(|below| below.above);
            let above = program.above.zip(carried);
            let above =
                above.map(|(above, Above { carries, touched, .. })| Above { carries, touched, ..above });
            Account { above, ..program }
        }
        None => below.unwrap_or_else(|| Account::of_packets(run, flow)),
    }
}

/// Books and rate that the first protocol tells that runs the flow, over others (`above`) or not.
fn first_account(run: &RunData, flow: usize, above: bool) -> Option<Account> {
    let mut protocols = PROTOCOLS.iter().filter(|protocol| protocol.is_above() == above);
    protocols.find_map(|protocol| protocol.account(run, flow))
}

/// Books and rate of what carries a flow, whatever runs over it.
fn account_below(run: &RunData, flow: usize) -> Option<Account> {
    first_account(run, flow, false)
}

/// Times of what users of a flow asked for and got, in rising order, ps; `None`: the fabric carries just
/// that.
pub(crate) fn asked(run: &RunData, flow: usize) -> Option<Cow<'_, [u64]>> {
    let told = |above: bool| {
        let mut protocols = PROTOCOLS.iter().filter(|protocol| protocol.is_above() == above);
        protocols.find_map(|protocol| protocol.asked(run, flow))
    };
    told(true).or_else(|| told(false))
}

/// Of the messages of a flow, those of management and all, where a protocol counts them.
pub(crate) fn management(run: &RunData, flow: usize) -> Option<[u64; 2]> {
    PROTOCOLS.iter().find_map(|protocol| protocol.management(run, flow))
}

/// What the protocols of a run say together.
pub(crate) fn all<T>(of: impl Fn(&dyn Protocol) -> Vec<T>) -> Vec<T> {
    PROTOCOLS.iter().flat_map(|protocol| of(*protocol)).collect()
}

/// What was counted of a flow; of all flows together of the first.
pub(crate) fn counted<T: FlowTotals>(run: &RunData, flow: Option<usize>) -> Option<&T> {
    match flow {
        Some(flow) => run.outcome.totals.of_flow(flow),
        None => run.outcome.totals.of().next(),
    }
}

/// What the scenario did to messages or frames, as a line for a terminal with the break before it; empty if
/// that is nothing.
pub(crate) fn on_purpose(unit: &str, [lost, doubled, delayed, damaged]: [u64; 4]) -> String {
    let done = [(lost, "lost"), (doubled, "doubled"), (delayed, "delayed"), (damaged, "damaged")];
    let done = done.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = done.map(|(count, what)| format!("{} {what}", count_text(count))).collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("\n    {unit} that the scenario touched: {}", parts.join(", "))
}

/// How long something took.
#[derive(Clone, Debug, Serialize)]
pub struct TimesSummary {
    /// The shortest.
    pub min_us: Num,
    /// Half are not longer; `null` where there are too few of them to know it.
    pub p50_us: Num,
    /// 99 of 100 are not longer; likewise.
    pub p99_us: Num,
    /// The longest.
    pub max_us: Num,
    /// Their mean.
    pub mean_us: Num,
}

impl TimesSummary {
    /// Of times in rising order.
    pub(crate) fn new(times: &[u64]) -> Option<Self> {
        let us = |ps: u64| Num(ps as f64 / 1e6);
        let at = |percent: usize| {
            let known = times.len() as u64 >= quantile_samples(percent as f64 / 100.0);
            let place = (times.len() * percent).div_ceil(100).saturating_sub(1);
            if known { us(times[place]) } else { Num(f64::NAN) }
        };
        let sum = sum_ps(times);
        Some(Self {
            min_us: us(*times.first()?),
            p50_us: at(50),
            p99_us: at(99),
            max_us: us(*times.last()?),
            mean_us: Num(sum as f64 / times.len() as f64 / 1e6),
        })
    }
}

/// Name of a flow.
pub(crate) fn flow_name(run: &RunData, flow: u16) -> String {
    run.config.flows[usize::from(flow)].name.clone()
}

/// A part of `summary.json` as JSON.
pub(crate) fn json(part: impl serde::Serialize) -> Value {
    serde_json::to_value(part).expect("string keys only, and numbers of 64 bits")
}

#[cfg(test)]
mod tests {
    use super::{PROTOCOLS, TimesSummary, json};
    use std::collections::BTreeSet;

    /// The rule of all percentiles: 6 values tell the median, 368 the 99th; of fewer JSON has `null`.
    #[test]
    fn few_times_tell_no_percentile() {
        let told =
            |count: u64| json(TimesSummary::new(&(1..=count).map(|n| n * 1_000_000).collect::<Vec<u64>>()));
        for (count, p50, p99) in [
            (1, None, None),
            (5, None, None),
            (6, Some(3.0), None),
            (367, Some(184.0), None),
            (368, Some(184.0), Some(365.0)),
        ] {
            let told = told(count);
            assert_eq!((told["p50_us"].as_f64(), told["p99_us"].as_f64()), (p50, p99), "{count}: {told}");
            assert_eq!((told["min_us"].as_f64(), told["max_us"].as_f64()), (Some(1.0), Some(count as f64)));
            let mean = (count + 1) as f64 / 2.0;
            assert_eq!((told["mean_us"].as_f64(), told["p99_us"].is_null()), (Some(mean), p99.is_none()));
        }
        assert!(told(0).is_null());
    }

    #[test]
    fn every_protocol_has_a_key_of_its_own() {
        let keys: BTreeSet<&str> = PROTOCOLS.iter().map(|protocol| protocol.key()).collect();
        assert_eq!(keys.len(), PROTOCOLS.len());
    }
}
