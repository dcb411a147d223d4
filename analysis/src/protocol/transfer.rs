//! Scheduled Transfers: what a run came to.

use super::program::{ProgramSummary, completion, program_end};
use super::{Protocol, TimesSummary, counted, flow_name, json, on_purpose, sum_ps};
use crate::books::{Above, Account, Books, Tempo, age, balanced, is_nowhere};
use crate::num::{Num, count_text, counted_text, time_text};
use crate::run::RunData;
use models::Outcome;
use models::sim_core::Time;
use models::stats::{TransferEnd, TransferStats, TransferTotals};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// The row of the table.
pub(super) struct Transfer;

impl Protocol for Transfer {
    fn key(&self) -> &'static str {
        "transfers"
    }

    fn summary(&self, run: &RunData) -> Vec<Value> {
        TransferSummary::all(run).into_iter().map(json).collect()
    }

    fn lines(&self, run: &RunData) -> Vec<String> {
        TransferSummary::all(run).iter().map(TransferSummary::lines).collect()
    }

    fn account(&self, run: &RunData, flow: usize) -> Option<Account> {
        let totals: &TransferTotals = counted(run, Some(flow))?;
        let (stats, end) = (&totals.stats, run.outcome.end.0);
        // What its source takes for done need not have arrived, and what it has given up may have.
        let arrived = stats.completed - totals.not_come + totals.came_unseen;
        let never = given_up(totals) + stats.never_begun + lost_unseen(run, totals);
        let books = Books {
            oldest_ps: age(run, totals.oldest),
            task: true,
            ..balanced((run, flow), "Transfers", stats.wanted, arrived, never)
        };
        let (octets, (from, to)) = delivered(totals, end).unwrap_or((0, (0, end)));
        let tempo = Tempo::Over { octets, from, to };
        let (carries, touched) = ("frames of Scheduled Transfer", [stats.lost, stats.delayed]);
        let above = match &totals.ranks[..] {
            [] => Above {
                carries,
                nothing_else: true,
                lost_late: stats.lost,
                latency: "mean time of a Transfer",
                sum_ps: sum_ps(&stats.times),
                count: stats.times.len() as u64,
                touched,
                ..Above::default()
            },
            ranks => Above { touched, ..completion(carries, ranks) },
        };
        let transfer_gbps = goodput_gbps(totals, end);
        Some(Account { above: Some(above), transfer_gbps, ..Account::new(books, tempo) })
    }

    fn asked<'a>(&self, run: &'a RunData, flow: usize) -> Option<Cow<'a, [u64]>> {
        let totals: &TransferTotals = counted(run, Some(flow))?;
        Some(match &totals.ranks[..] {
            [] => totals.stats.times[..].into(),
            ranks => program_end(ranks).into_iter().collect(),
        })
    }

    fn broken(&self, outcome: &Outcome) -> Vec<String> {
        outcome.totals.of::<TransferTotals>().flat_map(broken).collect()
    }

    fn measures(&self, outcome: &Outcome) -> Vec<(&'static str, u64)> {
        let all = || outcome.totals.of::<TransferTotals>().map(|totals| &totals.stats);
        if all().next().is_none() {
            return Vec::new();
        }
        let sum = |of: fn(&TransferStats) -> u64| all().map(of).sum();
        vec![
            ("Op_timeouts", sum(|stats| stats.timeouts)),
            ("waits for Blocks that did not come in time", sum(|stats| stats.overdue)),
            ("operations given up", sum(|stats| stats.exhausted)),
            ("other errors that ends logged", sum(|stats| stats.logged)),
            ("frames that the scenario loses", sum(|stats| stats.lost)),
            ("frames that the scenario doubles", sum(|stats| stats.doubled)),
            ("frames that the scenario delays", sum(|stats| stats.delayed)),
            ("frames that the scenario damages", sum(|stats| stats.damaged)),
            (
                "octets of payload that Scheduled Transfers sent, the first time and again",
                sum(|stats| stats.payload),
            ),
        ]
    }

    fn last(&self, outcome: &Outcome) -> Option<Time> {
        let done = outcome.totals.of::<TransferTotals>().filter_map(|totals| last_over(&totals.stats));
        let ranks = outcome.totals.of::<TransferTotals>().flat_map(|totals| &totals.ranks);
        done.chain(ranks.filter_map(|rank| rank.end)).max()
    }

    fn done(&self, outcome: &Outcome) -> Vec<Time> {
        outcome.totals.of::<TransferTotals>().flat_map(|totals| totals.done.iter().copied()).collect()
    }
}

/// Words or octets that Transfers lost or changed without telling.
fn unsound(totals: &TransferTotals) -> u64 {
    totals.stats.corrupt + totals.stats.stray_octets + totals.unverified + totals.repeated + totals.torn
}

/// Transfers that their source took for done, and that are lost: nothing of the flow is on its way any more.
fn lost_unseen(run: &RunData, totals: &TransferTotals) -> u64 {
    if is_nowhere(run, totals.flow.into()) { totals.not_come } else { 0 }
}

/// Transfers that an end gave up and that are not there.
fn given_up(totals: &TransferTotals) -> u64 {
    totals.stats.aborted.iter().sum::<u64>() - totals.came_unseen
}

/// Laws that the Transfers of a flow broke.
fn broken(totals: &TransferTotals) -> Vec<String> {
    let mut broken = Vec::new();
    let stats = &totals.stats;
    if unsound(totals) > 0 {
        broken.push(format!("Scheduled Transfer lost or changed octets unseen (flow {})", totals.flow));
    }
    if let Some(what) = stats.broken {
        broken.push(format!("Scheduled Transfer: {what} (flow {})", totals.flow));
    }
    // Section 2.4 of the requirements: if nothing is lost or overtaken, and nothing had to be said again,
    // nothing is logged.
    let again = stats.timeouts > 0 || stats.payload != stats.verified_octets + stats.read_back_octets;
    if totals.clean && !again && stats.logged > 0 {
        broken.push(format!(
            "Scheduled Transfer logged {} errors although nothing went wrong (flow {})",
            stats.logged, totals.flow
        ));
    }
    broken
}

/// When the last Transfer was over: complete, or there where nobody confirms it.
fn last_over(stats: &TransferStats) -> Option<Time> {
    stats.last_done.max(stats.last_arrived)
}

/// Octets delivered once, and the time in which they were, picoseconds: verified ones from the first
/// beginning to the last completion, which is the arrival where nobody confirms it; where Transfers are
/// under way at the end of the run, up to there, and with what of theirs has arrived; where some were given
/// up, at least until an end last said something of a Transfer. Of a program the octets of its messages
/// from the beginning of the run to the end of its last rank, as of programs over other transports.
fn delivered(totals: &TransferTotals, end: u64) -> Option<(u64, (u64, u64))> {
    let stats = &totals.stats;
    let first = stats.first_begun?.0;
    // Of what its source gave up nobody knows when it was there: at the latest when it was last tried.
    let loses = stats.aborted.iter().sum::<u64>() + stats.never_begun + totals.not_come > 0;
    let tried = stats.last_sent.filter(|_| loses);
    let span = match totals.ranks.is_empty() {
        true if totals.under_way > 0 => (first, end),
        true => (first, last_over(stats).max(tried)?.0),
        false => (0, program_end(&totals.ranks).unwrap_or(end)),
    };
    let partial = if totals.under_way > 0 { stats.partial_octets } else { 0 };
    (span.1 > span.0).then_some((stats.verified_octets - stats.padding_octets + partial, span))
}

/// Octets delivered once over the time from the first beginning to the last completion, Gb/s; to the end of
/// the run where Transfers are under way, at least to the last try where some were given up; of a program
/// over the time until its last rank is done, or the run is over.
#[must_use]
pub fn goodput_gbps(totals: &TransferTotals, end: u64) -> Option<f64> {
    let (octets, (from, to)) = delivered(totals, end)?;
    Some(8_000.0 * octets as f64 / (to - from) as f64)
}

/// Transfers of one flow, over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct TransferSummary {
    /// Flow.
    pub flow: String,
    /// Ends of Scheduled Transfer.
    pub ends: u32,
    /// Connections asked for.
    pub connects: u64,
    /// Of these, opened.
    pub opened: u64,
    /// Ends of connections that were not closed in order.
    pub broken_ends: u64,
    /// Transfers to be done.
    pub wanted: u64,
    /// Begun.
    pub begun: u64,
    /// Complete. Where nobody confirms (`reliable` is off), those that are there whole.
    pub completed: u64,
    /// Over for their source, which nobody tells more (`reliable` is off), and not there whole: lost, or
    /// still on their way when the run ended. Only if there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_come: Option<u64>,
    /// Begun, and not over at the end of the run.
    pub under_way: u64,
    /// Given up by an end, by reason.
    pub aborted: AbortSummary,
    /// Of these, there whole all the same: what said so was late or lost. Only if there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub came_unseen: Option<u64>,
    /// Received whole, with every octet compared.
    pub verified: u64,
    /// Octets of these.
    pub verified_octets: u64,
    /// Written and read back, octet for octet as it was written, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_back: Option<u64>,
    /// Received whole with wrong octets; octets where none belong; complete but nowhere verified; verified
    /// twice; FetchOps that were not atomic. 0 in a sound system.
    pub unsound: u64,
    /// Complete for who wanted them, and whole; the upper layer of the other end had not looked at them when
    /// the run ended. Only if there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_looked_at: Option<u64>,
    /// Puts that were complete for their source, and had other octets in their place before the upper layer
    /// of the other end looked: those of a later Put, or late ones of a Put that was given up. Only if there
    /// are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwritten: Option<u64>,
    /// Octets delivered once over the time from the first beginning to the last completion; to the end of the
    /// run where Transfers are under way, at least to the last try where some were given up; of a program
    /// over the time until its last rank is done.
    pub goodput_gbps: Option<Num>,
    /// From the beginning of a Transfer to its completion.
    pub completion: Option<TimesSummary>,
    /// Octets of payload sent over octets verified: more than 1 are repetitions. `null` unless all Transfers
    /// are complete and were looked at: what others have sent may still be of use.
    pub payload_ratio: Option<Num>,
    /// Share of Clear_To_Send in the octets of all frames.
    pub cts_share: Num,
    /// Frames of Data, of Clear_To_Send and of the other operations.
    pub frames: [u64; 3],
    /// Frames lost, doubled and delayed on purpose.
    pub faults: [u64; 3],
    /// Frames of which a bit was made wrong on purpose, if any were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damaged: Option<u64>,
    /// Op_timeouts.
    pub timeouts: u64,
    /// Times that Blocks which had been enabled did not come in time: they were enabled again, or their
    /// Transfer was given up. Only if there were such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overdue: Option<u64>,
    /// Operations given up after Max_Retry.
    pub exhausted: u64,
    /// Other errors that were logged.
    pub logged: u64,
    /// Transfers that waited for their turn at their destination.
    pub paused: u64,
    /// What upper layers did, if they take any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<UpperSummary>,
    /// Operations that interrupted an upper layer, if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interrupts: Option<u64>,
    /// Payloads of Control operations that reached an upper layer, if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payloads: Option<u64>,
    /// The program that was run, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramSummary>,
}

/// Upper layers that take their time.
#[derive(Clone, Debug, Serialize)]
pub struct UpperSummary {
    /// Headers of Data that they took.
    pub headers: u64,
    /// Most of them that waited in Slots of a connection.
    pub most_waiting: u32,
    /// Time that all of them worked, for headers and interrupts.
    pub worked_us: Num,
}

/// Transfers that came to nothing.
#[derive(Clone, Debug, Serialize)]
pub struct AbortSummary {
    /// The other end refused.
    pub rejected: u64,
    /// No answer in 1 + Max_Retry transmissions.
    pub timeout: u64,
    /// The other end gave up.
    pub ended_by_peer: u64,
    /// The connection is gone.
    pub disconnected: u64,
    /// All was sent, and nobody knows whether it arrived.
    pub unconfirmed: u64,
    /// The end itself gave up.
    pub aborted: u64,
}

impl TransferSummary {
    /// Every flow of Scheduled Transfer of a run.
    pub fn all(run: &RunData) -> Vec<Self> {
        let (all, end) = (run.outcome.totals.of::<TransferTotals>(), run.outcome.end.0);
        all.map(|totals| Self::new(flow_name(run, totals.flow), totals, end)).collect()
    }

    fn new(flow: String, totals: &TransferTotals, end: u64) -> Self {
        let stats = &totals.stats;
        let aborted = |end: TransferEnd| stats.aborted[end as usize];
        let octets = stats.cts.octets + stats.control.octets + stats.data.octets;
        let compared = stats.verified_octets + stats.read_back_octets;
        let verified = (compared > 0).then_some(compared as f64);
        Self {
            flow,
            ends: totals.nodes,
            connects: stats.connects,
            opened: stats.opened,
            broken_ends: stats.closed[1],
            wanted: stats.wanted,
            begun: stats.begun,
            completed: stats.completed - totals.not_come,
            not_come: (totals.not_come > 0).then_some(totals.not_come),
            under_way: totals.under_way,
            aborted: AbortSummary {
                rejected: aborted(TransferEnd::Rejected),
                timeout: aborted(TransferEnd::Timeout),
                ended_by_peer: aborted(TransferEnd::EndedByPeer),
                disconnected: aborted(TransferEnd::Disconnected),
                unconfirmed: aborted(TransferEnd::Unconfirmed),
                aborted: aborted(TransferEnd::Aborted),
            },
            came_unseen: (totals.came_unseen > 0).then_some(totals.came_unseen),
            verified: stats.verified,
            verified_octets: stats.verified_octets,
            read_back: (stats.read_back > 0).then_some(stats.read_back),
            unsound: unsound(totals),
            not_looked_at: (totals.not_looked_at > 0).then_some(totals.not_looked_at),
            overwritten: (totals.overwritten > 0).then_some(totals.overwritten),
            goodput_gbps: goodput_gbps(totals, end).map(Num),
            completion: TimesSummary::new(&stats.times),
            payload_ratio: verified
                .filter(|_| stats.completed - totals.not_come == stats.wanted)
                .filter(|_| totals.not_looked_at + totals.overwritten == 0)
                .map(|verified| Num(stats.payload as f64 / verified)),
            cts_share: Num(stats.cts.octets as f64 / octets.max(1) as f64),
            frames: [stats.data.frames, stats.cts.frames, stats.control.frames],
            faults: [stats.lost, stats.doubled, stats.delayed],
            damaged: (stats.damaged > 0).then_some(stats.damaged),
            timeouts: stats.timeouts,
            overdue: (stats.overdue > 0).then_some(stats.overdue),
            exhausted: stats.exhausted,
            logged: stats.logged,
            paused: stats.paused,
            upper: (stats.upper_time > 0 || stats.most_waiting > 0).then(|| UpperSummary {
                headers: stats.headers,
                most_waiting: stats.most_waiting,
                worked_us: Num(stats.upper_time as f64 / 1e6),
            }),
            interrupts: (stats.interrupts > 0).then_some(stats.interrupts),
            payloads: (stats.payloads > 0).then_some(stats.payloads),
            program: ProgramSummary::new(&totals.ranks),
        }
    }

    /// A few lines for a terminal.
    fn lines(&self) -> String {
        let mut out = format!(
            "  Scheduled Transfers of {} ends ({}): {} of {} complete, {} octets compared",
            count_text(self.ends.into()),
            self.flow,
            count_text(self.completed),
            count_text(self.wanted),
            count_text(self.verified_octets)
        );
        if let Some(read_back) = self.read_back {
            let _ = write!(out, ", {} read back as written", count_text(read_back));
        }
        let aborted = &self.aborted;
        let reasons = [
            (self.wanted - self.begun, "not begun"),
            (self.under_way, "under way"),
            (self.not_come.unwrap_or(0), "sent and never there whole"),
            (aborted.rejected, "rejected"),
            (aborted.timeout, "timed out"),
            (aborted.ended_by_peer, "ended by the peer"),
            (aborted.disconnected, "cut off"),
            (aborted.unconfirmed, "unconfirmed"),
            (aborted.aborted, "aborted"),
        ];
        for (count, why) in reasons.into_iter().filter(|(count, _)| *count > 0) {
            let _ = write!(out, ", {} {why}", count_text(count));
        }
        if let Some(came) = self.came_unseen {
            let _ = write!(out, ", {} of these there whole", count_text(came));
        }
        if let (Some(goodput), Some(times)) = (self.goodput_gbps, &self.completion) {
            let [half, most, all] =
                [times.p50_us, times.p99_us, times.max_us].map(|time| time_text(time.0 * 1e6));
            let _ = write!(out, "\n    {:.3} Gb/s, a Transfer takes ", goodput.0);
            // of few of them no quantile is known
            for (value, time, name) in [(times.p50_us, half, "median"), (times.p99_us, most, "99 %")] {
                if !value.0.is_nan() {
                    let _ = write!(out, "{time} ({name}), ");
                }
            }
            let all_came = reasons.iter().all(|(count, _)| *count == 0);
            let of = if all_came { "" } else { " of those that are complete" };
            let _ = write!(out, "{all} at most{of}");
        }
        let _ = write!(
            out,
            "\n    Clear_To_Send takes {:.2} % of all octets; {}, {} given up, {} logged",
            100.0 * self.cts_share.0,
            counted_text(self.timeouts, "Op_timeouts"),
            counted_text(self.exhausted, "operations"),
            counted_text(self.logged, "other errors")
        );
        if let Some(overdue) = self.overdue {
            let _ = write!(out, ", {} that did not come in time", counted_text(overdue, "waits for Blocks"));
        }
        if let Some(ratio) = self.payload_ratio.filter(|ratio| ratio.0 > 1.0) {
            let _ = write!(out, "; payload sent again: {:.2} %", 100.0 * (ratio.0 - 1.0));
        }
        if let Some(upper) = &self.upper {
            let _ = write!(
                out,
                "\n    the upper layers took {}, of which up to {} waited, and worked {}",
                counted_text(upper.headers, "headers"),
                count_text(upper.most_waiting.into()),
                time_text(upper.worked_us.0 * 1e6)
            );
        }
        for (count, what) in [(self.interrupts, "interrupts"), (self.payloads, "payloads of Control")] {
            if let Some(count) = count {
                let _ = write!(out, ", {}", counted_text(count, what));
            }
        }
        let [lost, doubled, delayed] = self.faults;
        out += &on_purpose("frames", [lost, doubled, delayed, self.damaged.unwrap_or(0)]);
        if let Some(program) = &self.program {
            let _ = write!(out, "\n    {}", program.line());
        }
        let lost_sight = [
            (self.not_looked_at, "the upper layer there had not looked at them when the run ended"),
            (self.overwritten, "others were in their place before the upper layer there looked"),
        ];
        for (count, what) in lost_sight {
            if let Some(count) = count {
                let _ = write!(out, "\n    {} complete for their source: {what}", count_text(count));
            }
        }
        if self.unsound > 0 {
            let _ =
                write!(out, "\n    BROKEN: {} octets or Transfers are not what they should be", self.unsound);
        }
        out
    }
}
