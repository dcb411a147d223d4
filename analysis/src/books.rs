//! What became of what was asked for, and the one rate of a flow.

use crate::collect::{Bin, Extent};
use crate::estimate::Estimate;
use crate::num::{gbps, ratio};
use crate::run::{RunData, sources_of};
use models::config::{Arrivals, Carrier, ProtocolConfig, SourceConfig};
use models::probe::ProtocolFact;
use models::stats::{
    FlowLeft, FlowStats, LinxTotals, ProgramTotals, RankStats, SessionTotals, TransferTotals,
};

/// Completions below this share of what was asked for are saturation, if they are not just under way.
const COMPLETED_SHARE: f64 = 0.99;

/// What became of what was asked for in the whole run: `asked = arrived + never + under_way`.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Books {
    /// What is counted, in the plural; empty where flows of several kinds are put together.
    pub unit: &'static str,
    /// Asked for.
    pub asked: u64,
    /// Arrived, or answered.
    pub arrived: u64,
    /// Will never arrive: lost, refused, given up.
    pub never: u64,
    /// Neither: still under way, or still waiting to begin.
    pub under_way: u64,
    /// Age of the oldest that is under way, picoseconds, if it is known.
    pub oldest_ps: Option<u64>,
    /// Mean number under way over the run (Little's law), by those that arrived.
    mean: f64,
    /// There is no end to what is asked for, or it is not asked for all at once.
    paced: bool,
}

/// What runs a flow.
pub(crate) enum Transport<'a> {
    Packets,
    /// Messages, PDUs, doorbells, reads or writes, or with `answered` requests and responses.
    Carrier(Carrier, &'a FlowStats, bool),
    Session(&'a SessionTotals),
    Linx(&'a LinxTotals),
    Transfer(&'a TransferTotals),
    Program(&'a ProgramTotals),
}

impl<'a> Transport<'a> {
    pub fn of(run: &'a RunData, flow: usize) -> Self {
        let outcome = &run.outcome;
        let is = |index: u16| usize::from(index) == flow;
        if let Some(totals) = outcome.transfers.iter().find(|totals| is(totals.flow)) {
            return Transport::Transfer(totals);
        }
        if let Some(totals) = outcome.programs.iter().find(|totals| is(totals.flow)) {
            return Transport::Program(totals);
        }
        if let Some(totals) = outcome.linx.iter().find(|totals| is(totals.flow)) {
            return Transport::Linx(totals);
        }
        if let Some(totals) = outcome.sessions.iter().find(|totals| is(totals.flow)) {
            return Transport::Session(totals);
        }
        let parts = run.config.agents.iter().flat_map(|agent| &agent.parts).filter(|part| is(part.flow));
        let carried = parts.filter_map(|part| match &part.protocol {
            ProtocolConfig::Workload { carrier } => Some((*carrier, false)),
            ProtocolConfig::Rpc { carrier, .. } => Some((*carrier, true)),
            _ => None,
        });
        match (carried.into_iter().next(), outcome.protocols.get(flow)) {
            (Some((carrier, answered)), Some(stats)) => Transport::Carrier(carrier, stats, answered),
            _ => Transport::Packets,
        }
    }
}

impl Books {
    pub(crate) fn new(run: &RunData, flow: usize, transport: &Transport<'_>) -> Self {
        let left = run.outcome.left.get(flow).copied().unwrap_or_default();
        let data = &run.collector.flows()[flow];
        let end = run.outcome.end.0;
        let latency = |bins: &[Bin]| bins.iter().map(|bin| bin.latency_ps).sum::<u128>();
        let mean = |ps: u128| ratio(ps, end.into());
        let age = |oldest: Option<models::sim_core::Time>| oldest.map(|at| end.saturating_sub(at.0));
        match transport {
            Transport::Packets => {
                let arrived = data.bins.iter().map(|bin| bin.packets).sum();
                let dropped = data.dropped.iter().sum();
                // Copies of multicast packets are counted where they are: what was asked for is their sum.
                Self {
                    unit: "packets",
                    asked: arrived + dropped + left.packets,
                    arrived,
                    never: dropped,
                    under_way: left.packets,
                    oldest_ps: age(left.oldest_packet),
                    mean: mean(latency(&data.bins)),
                    paced: false,
                }
            }
            Transport::Carrier(carrier, stats, answered) => {
                let journeys = if *answered { &data.round_trips } else { &data.messages };
                let books = carried(*carrier, stats, *answered, &left);
                Self {
                    oldest_ps: age(left.oldest_message),
                    mean: mean(journeys.as_deref().map_or(0, |journeys| latency(&journeys.bins))),
                    paced: true,
                    ..books
                }
            }
            Transport::Session(totals) => {
                let stats = &totals.stats;
                let copies = stats.broadcasts * u64::from(totals.nodes.saturating_sub(1));
                // A copy that the scenario makes of a PDU may arrive as well.
                let asked = stats.pdus_sent - stats.broadcasts + copies + stats.data_doubled;
                // Nobody is told of a PDU that was lost whole; but where nothing is under way any more,
                // nothing will arrive.
                let under_way = left.oldest_message.is_some() || left.packets + stats.data_held > 0;
                let lost = match under_way {
                    true => stats.pdus_lost,
                    false => asked.saturating_sub(stats.pdus_delivered + stats.pdus_waiting),
                };
                Self {
                    mean: mean(stats.pdu_ps),
                    paced: true,
                    ..balanced("PDUs", asked, stats.pdus_delivered, lost)
                }
            }
            Transport::Linx(totals) => {
                let stats = &totals.stats;
                let never = stats.refused + totals.lost + totals.unseen + stats.missing;
                Self {
                    mean: mean(stats.message_ps.sum + stats.round_trips.sum),
                    paced: true,
                    ..balanced("messages", stats.messages, stats.delivered, never)
                }
            }
            Transport::Transfer(totals) => {
                let stats = &totals.stats;
                balanced("Transfers", stats.wanted, stats.completed, stats.aborted.iter().sum())
            }
            Transport::Program(totals) => balanced("messages", totals.stats.wanted, totals.stats.received, 0),
        }
    }

    /// Those of all flows, where they count the same.
    pub(crate) fn sum(flows: impl Iterator<Item = Books>) -> Self {
        let sum = |sum: Books, flow: Books| Books {
            unit: if sum.unit == flow.unit { sum.unit } else { "" },
            asked: sum.asked + flow.asked,
            arrived: sum.arrived + flow.arrived,
            never: sum.never + flow.never,
            under_way: sum.under_way + flow.under_way,
            oldest_ps: sum.oldest_ps.into_iter().chain(flow.oldest_ps).max(),
            ..sum
        };
        flows.reduce(sum).unwrap_or_default()
    }

    /// Whether what is asked for grows faster than what completes: less than 99 % of it complete, and more
    /// missing than is under way at a time in a run that keeps up.
    ///
    /// By Little's law, that is the mean number under way, taken from the times of those that arrived. If
    /// only a share f completes, in order, what is missing at the end is 2/f times that. Between the two lies
    /// the limit of 1.5 times; and three more, because short runs end with a few under way by chance. Packets
    /// of synthetic traffic are judged by their loads in the measured time instead.
    pub fn grows(&self, end_ps: u64) -> bool {
        let missing = self.asked.saturating_sub(self.arrived) as f64;
        let short = (self.arrived as f64) < COMPLETED_SHARE * self.asked as f64;
        self.paced && end_ps > 0 && short && missing > 1.5 * self.mean + 3.0
    }
}

fn balanced(unit: &'static str, asked: u64, arrived: u64, never: u64) -> Books {
    let missing = asked.saturating_sub(arrived);
    let never = never.min(missing);
    Books { unit, asked, arrived, never, under_way: missing - never, ..Books::default() }
}

/// Messages, PDUs, doorbells, reads and writes without anything above but answers.
fn carried(carrier: Carrier, stats: &FlowStats, answered: bool, left: &FlowLeft) -> Books {
    let fact = |fact: ProtocolFact| stats.facts[fact as usize];
    let failed = fact(ProtocolFact::Failed);
    if answered {
        let never = failed + fact(ProtocolFact::TimedOut);
        return balanced("requests", stats.asked, stats.round_trips, never);
    }
    match carrier {
        Carrier::Message { .. } => balanced("messages", stats.asked, stats.delivered, failed),
        Carrier::Doorbell { .. } => balanced("doorbells", stats.asked, stats.delivered, failed),
        Carrier::Read | Carrier::Write => balanced("requests", stats.asked, stats.completed, failed),
        Carrier::Stream { .. } => {
            // Nobody is told of a PDU that was lost on its way; but where nothing waits, nothing will arrive.
            let lost = match left.oldest_message {
                Some(_) => failed + fact(ProtocolFact::Discarded),
                None => u64::MAX,
            };
            balanced("PDUs", stats.asked, stats.delivered, lost)
        }
    }
}

/// Octets delivered once over the time in which they were.
pub(crate) struct Rate {
    pub gbps: Estimate,
    /// From and to, picoseconds; `None`: the measured time.
    pub span: Option<(u64, u64)>,
    /// Of a span: octets in it.
    pub octets: u64,
}

impl Rate {
    fn over(octets: u64, from: u64, to: u64) -> Self {
        let gbps = Estimate { value: gbps(octets, to.saturating_sub(from)), half_width: f64::NAN };
        Self { gbps, span: Some((from, to)), octets }
    }

    fn of(octets: u64, extents: &[Extent]) -> Self {
        let from = extents.iter().map(|extent| extent.first.0).min().unwrap_or(0);
        let to = extents.iter().map(|extent| extent.last.0).max().unwrap_or(0);
        // nothing has come
        if to < from { Self::over(0, 0, 0) } else { Self::over(octets, from, to) }
    }

    fn measured(gbps: Estimate) -> Self {
        Self { gbps, span: None, octets: 0 }
    }
}

/// Whether a source stops by itself before the run does.
fn ends(source: &SourceConfig, length: u64) -> bool {
    source.limit != u64::MAX || source.stop.0 < length || matches!(source.arrivals, Arrivals::Replay(_))
}

/// The last of all ranks, if all are done.
pub(crate) fn program_end(ranks: &[RankStats]) -> Option<u64> {
    ranks.iter().try_fold(0, |last: u64, rank| Some(last.max(rank.end?.0)))
}

/// The one rate of a flow. `packets`, `messages`: octets of the measured time over that time.
pub(crate) fn rate(
    run: &RunData,
    flow: usize,
    transport: &Transport<'_>,
    packets: Estimate,
    messages: Option<Estimate>,
) -> Rate {
    let length = run.collector.length().0;
    let end = run.outcome.end.0;
    let data = &run.collector.flows()[flow];
    let mut sources = sources_of(&run.config, flow as u16).peekable();
    let finite = sources.peek().is_some() && sources.all(|source| ends(source, length));
    // Of protocols that count their octets themselves, those that have no end are told for the whole run.
    let counted = |octets: u64, span: Option<(models::sim_core::Time, models::sim_core::Time)>| match span {
        Some((from, to)) if finite => Rate::over(octets, from.0, to.0),
        _ => Rate::over(octets, 0, end),
    };
    let of_packets = |finite: bool| match finite {
        true => Rate::of(data.bins.iter().map(|bin| bin.payload).sum(), &[data.extent]),
        false => Rate::measured(packets),
    };
    match transport {
        Transport::Packets => of_packets(finite),
        Transport::Carrier(_, stats, _) => {
            let journeys: Vec<Extent> =
                data.messages.iter().chain(&data.round_trips).map(|journeys| journeys.extent).collect();
            match (messages, finite) {
                (_, true) => Rate::of(stats.payload, &journeys),
                (Some(messages), false) => Rate::measured(messages),
                (None, false) => of_packets(false),
            }
        }
        Transport::Session(totals) => counted(totals.stats.octets_delivered, totals.stats.pdu_span),
        Transport::Linx(totals) => counted(totals.stats.octets, totals.stats.message_span),
        Transport::Program(totals) => {
            Rate::over(totals.stats.octets, 0, program_end(&totals.ranks).unwrap_or(end))
        }
        Transport::Transfer(totals) => match transfer_span(totals, end) {
            Some((from, to)) => Rate::over(totals.stats.verified_octets, from, to),
            None => Rate::over(0, 0, end),
        },
    }
}

/// From the first beginning to the last completion of Transfers; of a program from the beginning of the run
/// to the end of its last rank, as of programs over other transports.
pub(crate) fn transfer_span(totals: &TransferTotals, end: u64) -> Option<(u64, u64)> {
    let stats = &totals.stats;
    let (first, last) = (stats.first_begun?.0, stats.last_done?.0);
    let span = match totals.ranks.is_empty() {
        true => (first, last),
        false => (0, program_end(&totals.ranks).unwrap_or(end)),
    };
    (span.1 > span.0).then_some(span)
}

/// Verified octets over the time from the first beginning to the last completion, Gb/s; of a program over the
/// time until its last rank is done, or the run is over.
#[must_use]
pub fn goodput_gbps(totals: &TransferTotals, end: u64) -> Option<f64> {
    let (from, to) = transfer_span(totals, end)?;
    Some(8_000.0 * totals.stats.verified_octets as f64 / (to - from) as f64)
}

/// What is known of the rate of a flow.
pub(crate) struct FlowRate {
    pub gbps: Estimate,
    pub span: Option<(u64, u64)>,
    /// A protocol runs it.
    pub protocol: bool,
}

/// The rate of all flows: over one time if all end, else the sum of their rates. `packets`: octets of all
/// packets of the measured time over that time.
pub(crate) fn together(flows: &[FlowRate], octets: u64, packets: Estimate) -> Rate {
    let spans: Option<Vec<(u64, u64)>> = flows.iter().map(|flow| flow.span).collect();
    match spans {
        Some(spans) if !spans.is_empty() => {
            let used = || spans.iter().filter(|span| span.1 > span.0);
            let from = used().map(|span| span.0).min().unwrap_or(0);
            let to = used().map(|span| span.1).max().unwrap_or(0);
            Rate::over(octets, from, to)
        }
        _ if flows.iter().all(|flow| !flow.protocol && flow.span.is_none()) => Rate::measured(packets),
        _ => {
            let value = flows.iter().map(|flow| flow.gbps.value).sum();
            Rate::measured(Estimate { value, half_width: f64::NAN })
        }
    }
}
