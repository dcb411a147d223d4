//! Programs (GOAL): what a run of one came to.

use super::{Protocol, account_below, counted, flow_name, json};
use crate::books::{Above, Account, Books, Tempo, age, balanced};
use crate::num::{Num, count_text, counted_text, time_text};
use crate::run::RunData;
use models::Outcome;
use models::config::ProgramTransport;
use models::goal::Schedule;
use models::goal::loggops::Completion;
use models::sim_core::Time;
use models::stats::{ProgramTotals, RankStats};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// The row of the table: programs over sessions and LINX.
pub(super) struct Program;

impl Protocol for Program {
    fn key(&self) -> &'static str {
        "programs"
    }

    fn summary(&self, run: &RunData) -> Vec<Value> {
        FlowProgramSummary::all(run).into_iter().map(json).collect()
    }

    fn lines(&self, run: &RunData) -> Vec<String> {
        FlowProgramSummary::all(run).iter().map(FlowProgramSummary::lines).collect()
    }

    fn is_above(&self) -> bool {
        true
    }

    fn account(&self, run: &RunData, flow: usize) -> Option<Account> {
        let totals: &ProgramTotals = counted(run, Some(flow))?;
        let to = program_end(&totals.ranks).unwrap_or(run.outcome.end.0);
        let left = run.outcome.left.get(flow).copied().unwrap_or_default();
        // What carries it knows which are messages of the program.
        let below = account_below(run, flow).and_then(|below| below.books.oldest_ps);
        let books = Books {
            oldest_ps: below.or_else(|| age(run, left.oldest_message)),
            task: true,
            ..balanced(
                (run, flow),
                "messages",
                totals.stats.wanted,
                totals.stats.received,
                lost(run, flow, totals),
            )
        };
        let books = Books { oldest_ps: books.oldest_ps.filter(|_| books.under_way > 0), ..books };
        let tempo = Tempo::Over { octets: totals.stats.octets, from: 0, to };
        Some(Account { above: Some(completion("messages", &totals.ranks)), ..Account::new(books, tempo) })
    }

    fn asked<'a>(&self, run: &'a RunData, flow: usize) -> Option<Cow<'a, [u64]>> {
        let totals: &ProgramTotals = counted(run, Some(flow))?;
        Some(program_end(&totals.ranks).into_iter().collect())
    }

    fn broken(&self, outcome: &Outcome) -> Vec<String> {
        let wrong = outcome.totals.of::<ProgramTotals>().filter(|totals| totals.stats.corrupt > 0);
        wrong.map(|totals| format!("a program got octets that nobody sent (flow {})", totals.flow)).collect()
    }

    fn last(&self, outcome: &Outcome) -> Option<Time> {
        let ranks = outcome.totals.of::<ProgramTotals>().flat_map(|totals| &totals.ranks);
        ranks.filter_map(|rank| rank.end).max()
    }
}

/// Messages that will never arrive. What is under way has a PDU under way: of what was sent, the rest is
/// lost. Where nobody knows whose PDUs are, each is taken for one of another message. A rank that computes
/// goes on, and so does one to which something comes, or that has yet to begin; where there is none, nobody
/// sends what is not sent yet.
fn lost(run: &RunData, flow: usize, totals: &ProgramTotals) -> u64 {
    let ProgramTotals { stats, ranks, waiting, on_their_way, .. } = totals;
    let below = account_below(run, flow).map_or(0, |below| below.books.under_way);
    let under_way = below + waiting;
    let sleeps = run.outcome.left.get(flow).is_some_and(|left| left.sleeps);
    if under_way == 0 && !sleeps && ranks.iter().all(|rank| !rank.computes) {
        return stats.wanted - stats.received;
    }
    (stats.sent - stats.received).saturating_sub(on_their_way.unwrap_or(under_way))
}

/// How long a program took, if it is done.
pub(super) fn completion(carries: &'static str, ranks: &[RankStats]) -> Above {
    let (sum_ps, count) = program_end(ranks).map_or((0, 0), |end| (end.into(), 1));
    let latency = "time until the last rank is done";
    Above { carries, latency, sum_ps, count, ..Above::default() }
}

/// The last of all ranks, if all are done.
pub(super) fn program_end(ranks: &[RankStats]) -> Option<u64> {
    ranks.iter().try_fold(0, |last: u64, rank| Some(last.max(rank.end?.0)))
}

/// What a program comes to, and how long it took by the LogGOPS model.
pub fn text(schedule: &Schedule, done: &Completion) -> String {
    let mut text = format!(
        "{}, {}, {}\n",
        counted_text(schedule.ranks.len() as u64, "ranks"),
        counted_text(schedule.messages(), "messages"),
        counted_text(schedule.octets(), "octets")
    );
    match done.end() {
        Some(end) => {
            // Of nothing that took time there is no share.
            let whole = end.as_ps().max(1) as f64;
            let computed = done.computed.iter().map(|computed| computed.as_ps() as f64 / whole);
            let shares = computed.map(|computed| if end.is_zero() { 0.0 } else { 1.0 - computed });
            let mean = shares.sum::<f64>() / done.computed.len().max(1) as f64;
            text += &format!(
                "done after {} ({} ps); on average a rank spends {:.2} % of that without computing\n",
                time_text(end.as_ps() as f64),
                end.as_ps(),
                100.0 * mean
            );
        }
        None => {
            let waits = done.ranks.iter().filter(|end| end.is_none()).count();
            text += &format!("{} ranks wait for ever\n", count_text(waits as u64));
        }
    }
    text
}

/// A program, rank by rank.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramSummary {
    /// Number of ranks.
    pub ranks: usize,
    /// When the last operation of the last rank was over; `null`: something still waits.
    pub completion_us: Option<Num>,
    /// Share of the time until then in which a rank does not compute, mean over the ranks; `null`: no time
    /// passed, or something still waits.
    pub communication_share: Option<Num>,
    /// Ranks that are not done.
    pub unfinished: u64,
    /// What these wait for, of the first 64 of them that wait for a message.
    pub waiting: Vec<WaitingRank>,
    /// When each rank was done, of the first 64 ranks.
    pub rank_us: Vec<Option<Num>>,
    /// Share of the time until then in which it did not compute; `null` likewise.
    pub rank_communication_share: Vec<Option<Num>>,
}

/// Ranks that are listed one by one.
const RANKS_LISTED: usize = 64;
/// Ranks of which a terminal is told what they wait for.
const WAITS_TOLD: usize = 3;

/// A rank that waits for a message at the end of the run: the first of its receives that have begun.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitingRank {
    /// Which.
    pub rank: u32,
    /// The rank that sends it, or never does.
    pub from: u32,
    /// Its tag.
    pub tag: u32,
}

fn waiting(ranks: &[RankStats]) -> impl Iterator<Item = WaitingRank> + '_ {
    let waits =
        |rank: &RankStats| rank.waits_for.map(|(from, tag)| WaitingRank { rank: rank.rank, from, tag });
    ranks.iter().filter_map(waits)
}

impl ProgramSummary {
    pub(crate) fn new(ranks: &[RankStats]) -> Option<Self> {
        // Of no time there is no share.
        let share = |computed: f64, end: u64| (end > 0).then(|| Num(1.0 - computed / end as f64));
        let us = |ps: u64| Num(ps as f64 / 1e6);
        let own = |rank: &RankStats| rank.end.and_then(|end| share(rank.computed.0 as f64, end.0));
        let last = ranks.iter().try_fold(0, |last: u64, rank| Some(last.max(rank.end?.0)));
        let computed: u128 = ranks.iter().map(|rank| u128::from(rank.computed.0)).sum();
        let mean = computed as f64 / ranks.len().max(1) as f64;
        let listed = || ranks.iter().take(RANKS_LISTED);
        (!ranks.is_empty()).then(|| Self {
            ranks: ranks.len(),
            completion_us: last.map(us),
            communication_share: last.and_then(|last| share(mean, last)),
            unfinished: ranks.iter().filter(|rank| rank.end.is_none()).count() as u64,
            waiting: waiting(ranks).take(RANKS_LISTED).collect(),
            rank_us: listed().map(|rank| rank.end.map(|end| us(end.0))).collect(),
            rank_communication_share: listed().map(own).collect(),
        })
    }

    /// For a terminal.
    pub(crate) fn line(&self) -> String {
        let ranks = self.ranks;
        let Some(end) = self.completion_us else {
            let waits = self.waiting.iter().take(WAITS_TOLD).map(|&WaitingRank { rank, from, tag }| {
                format!("rank {rank} waits for a message of rank {from} with tag {tag}")
            });
            let mut text = format!("program of {ranks} ranks: {} not done", count_text(self.unfinished));
            let mut waits: Vec<_> = waits.collect();
            if self.waiting.len() > WAITS_TOLD {
                waits.push("and so on".into());
            }
            if !waits.is_empty() {
                text += &format!(": {}", waits.join(", "));
            }
            return text;
        };
        let share = self.communication_share.map_or(String::new(), |share| {
            format!("; on average a rank spends {:.2} % of that without computing", 100.0 * share.0)
        });
        format!("program of {ranks} ranks: done after {}{share}", time_text(end.0 * 1e6))
    }
}

/// A program over sessions or LINX.
#[derive(Clone, Debug, Serialize)]
pub struct FlowProgramSummary {
    /// Flow.
    pub flow: String,
    /// What carries its messages: `session` or `linx`.
    pub transport: &'static str,
    /// Messages that the program sends.
    pub messages: u64,
    /// Of these, handed to the transport.
    pub sent: u64,
    /// There whole, with every octet compared.
    pub received: u64,
    /// Octets of messages that came, each compared.
    pub octets: u64,
    /// Confirmed by their receiver, of those that wait for it.
    pub confirmed: u64,
    /// What came and is not what it should be. 0 in a sound system.
    pub corrupt: u64,
    /// The ranks.
    #[serde(flatten)]
    pub program: ProgramSummary,
}

impl FlowProgramSummary {
    /// Every such flow of a run.
    pub fn all(run: &RunData) -> Vec<Self> {
        let one = |totals: &ProgramTotals| {
            let ProgramTotals { flow, transport, ranks, stats, .. } = totals;
            Some(Self {
                flow: flow_name(run, *flow),
                transport: match transport {
                    ProgramTransport::Session => "session",
                    ProgramTransport::Linx => "linx",
                },
                messages: stats.wanted,
                sent: stats.sent,
                received: stats.received,
                octets: stats.octets,
                confirmed: stats.confirmed,
                corrupt: stats.corrupt,
                program: ProgramSummary::new(ranks)?,
            })
        };
        run.outcome.totals.of::<ProgramTotals>().filter_map(one).collect()
    }

    /// For a terminal.
    fn lines(&self) -> String {
        format!(
            "  {} ({}): {} of {} messages received, {} octets compared\n    {}",
            self.flow,
            self.transport,
            count_text(self.received),
            count_text(self.messages),
            count_text(self.octets),
            self.program.line()
        )
    }
}
