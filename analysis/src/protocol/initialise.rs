//! Registers of session management that processors initialise from afar: what a run came to.

use super::{Get, Protocol, TimeRow, TimesSummary, counted, flow_name, json};
use crate::books::{Account, Books, Tempo, balanced};
use crate::metric::Row;
use crate::num::{Num, count_text, counted_text, time_text};
use crate::run::RunData;
use models::Outcome;
use models::agent::initialise::{Hold, InitialiseStats, InitialiseTotals};
use models::sim_core::Time;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// The row of the table.
pub(super) struct Initialise;

impl Protocol for Initialise {
    fn key(&self) -> &'static str {
        "initialisation"
    }

    fn summary(&self, run: &RunData) -> Vec<Value> {
        InitialiseSummary::all(run).map(json).collect()
    }

    fn lines(&self, run: &RunData) -> Vec<String> {
        InitialiseSummary::all(run).map(|flow| flow.lines()).collect()
    }

    fn account(&self, run: &RunData, flow: usize) -> Option<Account> {
        let InitialiseTotals { stats, .. } = counted(run, Some(flow))?;
        let books = Books {
            task: true,
            ..balanced((run, flow), "visits", stats.visits, stats.ended() - stats.given_up, stats.given_up)
        };
        // It moves no octets of its own: its accesses to registers have a flow of their own.
        Some(Account::new(books, Tempo::Counted { octets: 0, span: None }))
    }

    fn broken(&self, outcome: &Outcome) -> Vec<String> {
        let all = || outcome.totals.of::<InitialiseTotals>();
        let holds: Vec<&Hold> = all().flat_map(|totals| &totals.stats.holds).collect();
        let mut broken = Vec::new();
        for (i, hold) in holds.iter().enumerate() {
            // Who shares a value may lose the lock and not know it.
            let known = |other: &&&Hold| !other.shared && !hold.shared && other.meets(hold);
            if let Some(other) = holds[..i].iter().find(known) {
                broken.push(format!("two processors had one lock at a time: {other:?}, {hold:?}"));
            }
        }
        let too_many = all().filter(|totals| totals.stats.ended() > totals.stats.visits);
        broken
            .extend(too_many.map(|totals| format!("visits ended twice (flow {}): {totals:?}", totals.flow)));
        broken
    }

    fn columns(&self) -> &'static [Row<Get>] {
        COLUMNS
    }

    fn times(&self) -> Vec<TimeRow> {
        vec![TimeRow::of(COLUMNS, "initialised_us", true)]
    }

    /// Where nothing is carried this is what counts, before what waits for it.
    fn set_up(&self, outcome: &Outcome) -> Option<(&'static str, Time)> {
        let all = outcome.totals.of::<InitialiseTotals>();
        let times: Option<Vec<Time>> =
            all.filter(|totals| !totals.stats.holds.is_empty()).map(initialised).collect();
        Some(("registers initialised at", times?.into_iter().max()?))
    }

    fn counts(&self, outcome: &Outcome) -> Vec<(&'static str, u64)> {
        let all = || outcome.totals.of::<InitialiseTotals>();
        if all().next().is_none() {
            return Vec::new();
        }
        let sum = |of: fn(&InitialiseTotals) -> u64| all().map(of).sum();
        vec![
            ("nodes given up by who initialises them", sum(|totals| totals.stats.given_up)),
            ("locks left behind", sum(|totals| totals.left)),
            ("locks that two processors had at a time", sum(|totals| totals.together)),
        ]
    }

    fn measures(&self, outcome: &Outcome) -> Vec<(&'static str, u64)> {
        let all = || outcome.totals.of::<InitialiseTotals>();
        let met = all().map(|totals| totals.stats.locked + totals.stats.beaten).sum();
        all().next().map(|_| ("times that a lock was with another", met)).into_iter().collect()
    }
}

fn figure(run: &RunData, flow: Option<usize>, of: fn(&InitialiseTotals) -> f64) -> f64 {
    counted(run, flow).map_or(f64::NAN, of)
}

fn us(ps: u64) -> Num {
    Num(ps as f64 / 1e6)
}

/// When the last visit ended, microseconds; not a number: not all have.
fn done_us(totals: &InitialiseTotals) -> f64 {
    let stats = &totals.stats;
    match stats.last {
        Some(last) if stats.ended() == stats.visits => last.0 as f64 / 1e6,
        _ => f64::NAN,
    }
}

/// When the last lock was given back.
fn written(totals: &InitialiseTotals) -> Option<Time> {
    totals.stats.holds.iter().filter_map(|hold| hold.until).max()
}

/// When all that these processors did was done; none: a visit has not ended, or a node was given up. Visits
/// after that find that nothing is left to do.
fn initialised(totals: &InitialiseTotals) -> Option<Time> {
    let stats = &totals.stats;
    written(totals).filter(|_| stats.ended() == stats.visits && stats.given_up == 0)
}

const COLUMNS: &[Row<Get>] = &[
    Row::real(
        "initialised_us",
        "us",
        "time until registers are initialised",
        "when who initialises registers of sessions from afar gave its last lock back",
        |run, flow| figure(run, flow, |totals| initialised(totals).map_or(f64::NAN, |at| us(at.0).0)),
    ),
    Row::count(
        "locks_of_others",
        "locks of others",
        "times that who initialises registers found their lock with another",
        |run, flow| figure(run, flow, |totals| (totals.stats.locked + totals.stats.beaten) as f64),
    ),
];

/// What the processors of one flow did, over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct InitialiseSummary {
    /// Flow.
    pub flow: String,
    /// Processors.
    pub processors: u32,
    /// Nodes to be visited, each once for each processor.
    pub visits: u64,
    /// Nodes whose stage such a processor did.
    pub initialised: u64,
    /// Nodes whose stage somebody else had done.
    pub found_done: u64,
    /// Nodes at which there was nothing to do, and which take part.
    pub participants: u64,
    /// Devices that take no part.
    pub strangers: u64,
    /// Nodes given up.
    pub given_up: u64,
    /// Visits that had not ended at the end of the run.
    pub under_way: u64,
    /// When the last lock was given back; `null`: none was.
    pub written_us: Option<Num>,
    /// When the last visit ended; `null`: not all have.
    pub done_us: Option<Num>,
    /// Registers read.
    pub reads: u64,
    /// Registers written.
    pub writes: u64,
    /// Accesses that were never answered.
    pub unanswered: u64,
    /// Times that another processor had the lock.
    pub locked: u64,
    /// Times that a processor wrote its value into a free lock, and another was first.
    pub beaten: u64,
    /// Times that it was not yet the turn of the stage.
    pub too_early: u64,
    /// Times that what was written had no effect, because somebody had freed the lock.
    pub undone: u64,
    /// Times that two processors counted one lock as theirs.
    pub together: u64,
    /// Locks of processors that do not come again.
    pub left_behind: u64,
    /// How long locks were held; `null`: none was given back.
    pub held: Option<TimesSummary>,
}

impl InitialiseSummary {
    /// Every such flow of a run.
    pub fn all(run: &RunData) -> impl Iterator<Item = Self> {
        run.outcome
            .totals
            .of()
            .map(|totals: &InitialiseTotals| Self::new(flow_name(run, totals.flow), totals))
    }

    fn new(flow: String, totals: &InitialiseTotals) -> Self {
        let stats: &InitialiseStats = &totals.stats;
        let held = |hold: &Hold| Some(hold.until?.0 - hold.from.0);
        let mut times: Vec<u64> = stats.holds.iter().filter_map(held).collect();
        times.sort_unstable();
        let done = done_us(totals);
        Self {
            flow,
            processors: totals.processors,
            visits: stats.visits,
            initialised: stats.done,
            found_done: stats.past,
            participants: stats.found,
            strangers: stats.strangers,
            given_up: stats.given_up,
            under_way: stats.visits.saturating_sub(stats.ended()),
            written_us: written(totals).map(|at| us(at.0)),
            done_us: done.is_finite().then_some(Num(done)),
            reads: stats.reads,
            writes: stats.writes,
            unanswered: stats.failed,
            locked: stats.locked,
            beaten: stats.beaten,
            too_early: stats.early,
            undone: stats.undone,
            together: totals.together,
            left_behind: totals.left,
            held: TimesSummary::new(&times),
        }
    }

    fn lines(&self) -> String {
        let mut out = format!(
            "  registers of sessions ({}): {}, {}: {} initialised",
            self.flow,
            counted_text(self.processors.into(), "processors"),
            counted_text(self.visits, "visits"),
            count_text(self.initialised),
        );
        let others = [
            (self.found_done, "done by others"),
            (self.participants, "with nothing to do"),
            (self.strangers, "no nodes"),
            (self.given_up, "given up"),
            (self.under_way, "not ended"),
        ];
        for (count, what) in others.into_iter().filter(|(count, _)| *count > 0) {
            let _ = write!(out, ", {} {what}", count_text(count));
        }
        if let Some(done) = self.done_us {
            let _ = write!(out, "; all ended at {}", time_text(done.0 * 1e6));
        }
        let [reads, writes] = [self.reads, self.writes].map(count_text);
        let _ = write!(out, "\n    {reads} registers read, {writes} written");
        if self.unanswered > 0 {
            let _ = write!(out, ", {} without an answer", count_text(self.unanswered));
        }
        if let Some(TimesSummary { mean_us, max_us, .. }) = &self.held {
            let [mean, longest] = [mean_us, max_us].map(|us| time_text(us.0 * 1e6));
            let _ = write!(out, "; locks held for {mean} in the mean, {longest} at most");
        }
        let waits = [
            (self.locked, "times another had the lock"),
            (self.beaten, "times another was first"),
            (self.too_early, "times it was not their turn"),
            (self.undone, "times what they wrote had no effect"),
            (self.together, "times two had one lock"),
            (self.left_behind, "locks left behind"),
        ];
        let waits: Vec<String> = waits
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", count_text(count)))
            .collect();
        if !waits.is_empty() {
            let _ = write!(out, "\n    {}", waits.join(", "));
        }
        out
    }
}
