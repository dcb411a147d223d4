//! Echoes: how long what was sent took to come back.

use super::{Protocol, TimesSummary, counted, flow_name, json};
use crate::books::{Account, Books, Sojourns, Tempo, age, balanced, is_nowhere};
use crate::num::{count_text, time_text};
use crate::run::RunData;
use models::Outcome;
use models::agent::echo::EchoTotals;
use serde::Serialize;
use serde_json::Value;

/// The row of the table.
pub(super) struct Echo;

impl Protocol for Echo {
    fn key(&self) -> &'static str {
        "echoes"
    }

    fn summary(&self, run: &RunData) -> Vec<Value> {
        EchoSummary::all(run).map(json).collect()
    }

    fn lines(&self, run: &RunData) -> Vec<String> {
        EchoSummary::all(run).map(|flow| flow.lines()).collect()
    }

    fn account(&self, run: &RunData, flow: usize) -> Option<Account> {
        let totals = counted(run, Some(flow))?;
        let EchoTotals { stats, .. } = totals;
        let left = run.outcome.left.get(flow).copied().unwrap_or_default();
        let books = Books {
            oldest_ps: age(run, left.awaited.and_then(|awaited| awaited.oldest)),
            sojourns: Sojourns::listed(run, flow, &stats.times),
            paced: true,
            ..balanced((run, flow), "echoes", stats.sent, stats.returned, stats.lost + gone(run, totals))
        };
        Some(Account::new(books, Tempo::RoundTrips { octets: stats.octets }))
    }

    fn broken(&self, outcome: &Outcome) -> Vec<String> {
        let unsound = outcome.totals.of::<EchoTotals>().filter(|totals| {
            let stats = &totals.stats;
            stats.sent != stats.returned + stats.lost + totals.under_way
                || stats.returned != stats.times.len() as u64
                || stats.returned + stats.late > stats.echoed
        });
        unsound.map(|totals| format!("echoes do not add up (flow {}): {totals:?}", totals.flow)).collect()
    }
}

/// Echoes that nobody has told to be lost, and that are: a PDU of type 9 that a host discards is told to
/// nobody before `timeout` is over.
fn gone(run: &RunData, totals: &EchoTotals) -> u64 {
    let over = run.outcome.over || is_nowhere(run, totals.flow.into());
    if over { totals.under_way } else { 0 }
}

/// Echoes of one flow, over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct EchoSummary {
    /// Flow.
    pub flow: String,
    /// Sent.
    pub sent: u64,
    /// Sent back by the other end.
    pub echoed: u64,
    /// Back in time.
    pub returned: u64,
    /// Not conveyed, or not back in time, or nowhere any more when the run ended.
    pub lost: u64,
    /// Of the lost, back later.
    pub late: u64,
    /// Neither back nor lost when the run ended.
    pub under_way: u64,
    /// From sending to being back in time.
    pub round_trip: Option<TimesSummary>,
}

impl EchoSummary {
    /// Every such flow of a run.
    pub fn all(run: &RunData) -> impl Iterator<Item = Self> {
        run.outcome.totals.of().map(|totals: &EchoTotals| {
            let EchoTotals { flow, under_way, stats } = totals;
            let gone = gone(run, totals);
            Self {
                flow: flow_name(run, *flow),
                sent: stats.sent,
                echoed: stats.echoed,
                returned: stats.returned,
                lost: stats.lost + gone,
                late: stats.late,
                under_way: under_way - gone,
                round_trip: TimesSummary::new(&stats.times),
            }
        })
    }

    fn lines(&self) -> String {
        let mut text = format!(
            "  {}: {} of {} echoes back",
            self.flow,
            count_text(self.returned),
            count_text(self.sent)
        );
        let counts = [(self.lost, "lost"), (self.late, "of these late"), (self.under_way, "under way")];
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            text += &format!(", {} {what}", count_text(count));
        }
        if let Some(TimesSummary { min_us, mean_us, p99_us, max_us, .. }) = &self.round_trip {
            let [min, mean, p99, max] = [min_us, mean_us, p99_us, max_us].map(|us| time_text(us.0 * 1e6));
            text += &format!("\n    round trip: min {min}, mean {mean}, p99 {p99}, max {max}");
        }
        text
    }
}
