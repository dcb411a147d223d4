//! What became of what was asked for, and the one rate of a flow.

use crate::collect::{Bin, Extent, Tallies};
use crate::estimate::Estimate;
use crate::num::{gbps, ratio, sum_ps};
use crate::run::{RunData, sources_of};
use models::config::{Arrivals, SourceConfig};
use models::sim_core::Time;

/// Completions below this share of what was asked for are saturation, if they are not just under way.
const COMPLETED_SHARE: f64 = 0.99;
/// So many are under way at the end of a short run by chance.
const FEW: f64 = 3.0;
/// Of what is under way, and of its age, where something piles up: more than so many times the mean.
const PILED: f64 = 1.5;
/// Of the time for which a flow runs a share of one in so many may pass before anything arrives.
const NOTHING_YET: u64 = 10;

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
    /// Times of those that arrived.
    pub(crate) sojourns: Sojourns,
    /// Those that arrive in the second half of the run take longer.
    pub(crate) slows: bool,
    /// There is no end to what is asked for, or it is not asked for all at once.
    pub(crate) paced: bool,
    /// All of it was asked for at once, and it ends: what is under way at the end of the run is not done.
    pub(crate) task: bool,
}

/// Times from when something was asked for to when it arrived.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct Sojourns {
    /// Their sum, picoseconds.
    sum_ps: u128,
    /// The shortest of them: what the way takes without a queue, or more.
    least_ps: u64,
    /// How long the flow has run, picoseconds.
    span_ps: u64,
}

impl Sojourns {
    /// Of times that add up to `sum_ps`, of which `least_ps` is the shortest, since the first source of a
    /// flow began.
    pub(crate) fn new(run: &RunData, flow: usize, sum_ps: u128, least_ps: Option<u64>) -> Self {
        let begin = sources_of(&run.config, flow as u16).map(|source| run.begin(source)).min();
        let span_ps = run.outcome.end.0.saturating_sub(begin.unwrap_or(0));
        Self { sum_ps, least_ps: least_ps.unwrap_or(0), span_ps }
    }

    /// Of packets, messages or round trips, by bins and by segments of a run.
    pub(crate) fn counted(run: &RunData, flow: usize, bins: &[Bin], segments: &[Tallies]) -> Self {
        let least =
            segments.iter().map(|segment| segment.latency.min).filter(|least| *least < u64::MAX).min();
        Self::new(run, flow, bins.iter().map(|bin| bin.latency_ps).sum(), least)
    }

    /// Of these times.
    pub(crate) fn listed(run: &RunData, flow: usize, times: &[u64]) -> Self {
        Self::new(run, flow, sum_ps(times), times.iter().min().copied())
    }

    /// The mean number under way (Little's law).
    fn number(&self) -> f64 {
        ratio(self.sum_ps, self.span_ps.into())
    }
}

/// How the rate of a flow is told.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Tempo {
    /// Octets of packets: of a flow that ends from its first start to its last completion, or to the last
    /// loss or try of what never arrived; else in the measured time.
    Packets,
    /// Likewise of messages; that many octets in the whole run.
    Journeys { octets: u64 },
    /// Likewise of what was answered in time.
    RoundTrips { octets: u64 },
    /// A protocol counts its octets itself: of a flow that ends over this span (from its first start to its
    /// last completion, or to when it asked last, or to the last try of what never arrived), else over the
    /// whole run.
    Counted { octets: u64, span: Option<(Time, Time)> },
    /// So many octets between two times, picoseconds.
    Over { octets: u64, from: u64, to: u64 },
}

/// What a protocol makes of the messages below it: its users see neither them nor their times.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct Above {
    /// What the messages of the fabric are to it, in the plural.
    pub carries: &'static str,
    /// All that it sends are such messages: it reads no registers, for example.
    pub nothing_else: bool,
    /// What comparisons call the mean time of what its users ask for.
    pub latency: &'static str,
    /// Sum of these times in the whole run, picoseconds.
    pub sum_ps: u128,
    /// How many they are.
    pub count: u64,
    /// Of that sum, how long they were at the application that takes them.
    pub at_application_ps: u128,
    /// Those of which something has left their source, and how long they waited for that, picoseconds.
    pub begun: (u64, u128),
    /// Times that a destination stopped its source.
    pub stops: u64,
    /// Of what was sent, what the scenario lost at the end of its way.
    pub lost_late: u64,
    /// Messages below that the scenario lost, and that it delayed.
    pub touched: [u64; 2],
}

/// What runs a flow says of it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Account {
    pub books: Books,
    pub tempo: Tempo,
    /// `None`: messages of the fabric are what users see.
    pub above: Option<Above>,
    /// Payload rate of Scheduled Transfers, Gb/s: figures show it beside the goodput.
    pub transfer_gbps: Option<f64>,
    /// What it sends are messages, PDUs or doorbells, which have times of their own: reads and writes are
    /// none.
    pub carries_messages: bool,
}

impl Account {
    pub fn new(books: Books, tempo: Tempo) -> Self {
        Self { books, tempo, above: None, transfer_gbps: None, carries_messages: true }
    }

    /// Octets that who uses the flow got in the whole run, each once; `None` if no protocol counts them.
    pub fn once(&self) -> Option<u64> {
        match self.tempo {
            Tempo::Packets => None,
            Tempo::Journeys { octets }
            | Tempo::RoundTrips { octets }
            | Tempo::Counted { octets, .. }
            | Tempo::Over { octets, .. } => Some(octets),
        }
    }

    /// The rate of what arrived in the measured time, of its packets, or of its messages and round trips
    /// (`levels`), each over that time. `None`: it is told of the whole run alone.
    pub fn measured(
        &self,
        packets: Estimate,
        [messages, round_trips]: [Option<Estimate>; 2],
    ) -> Option<Estimate> {
        match self.tempo {
            Tempo::Packets => Some(packets),
            // Segments that were refused, or whose message is not whole, have moved nothing.
            Tempo::Journeys { .. } if self.books.arrived == 0 => Some(NOTHING),
            Tempo::Journeys { .. } => Some(messages.unwrap_or(packets)),
            // Without a round trip nothing was answered.
            Tempo::RoundTrips { .. } => Some(round_trips.unwrap_or(NOTHING)),
            Tempo::Counted { .. } | Tempo::Over { .. } => None,
        }
    }

    /// Of packets that no protocol runs.
    pub fn of_packets(run: &RunData, flow: usize) -> Self {
        let left = run.outcome.left.get(flow).copied().unwrap_or_default();
        let data = &run.collector.flows()[flow];
        let arrived = data.bins.iter().map(|bin| bin.packets).sum();
        // A multicast packet is asked for once for each endpoint that is to get it, from the start.
        let books = Books {
            unit: "packets",
            asked: arrived + data.not_reached + left.to_arrive,
            arrived,
            never: data.not_reached,
            under_way: left.to_arrive,
            oldest_ps: age(run, left.oldest_packet),
            sojourns: Sojourns::counted(run, flow, &data.bins, &data.segments),
            slows: false,
            paced: false,
            task: false,
        };
        Self::new(books, Tempo::Packets)
    }
}

/// How long ago this was when the run ended, picoseconds.
pub(crate) fn age(run: &RunData, at: Option<Time>) -> Option<u64> {
    at.map(|at| run.outcome.end.0.saturating_sub(at.0))
}

/// Nothing of a flow is in the fabric, at a host or in an engine: what has not arrived was lost without a
/// word.
pub(crate) fn is_nowhere(run: &RunData, flow: usize) -> bool {
    let left = run.outcome.left.get(flow).copied().unwrap_or_default();
    left.packets + left.messages == 0 && left.oldest_message.is_none()
}

/// Nothing of a flow is left to happen, whatever others do: it is nowhere, and no end of it has a deadline or
/// a plan, or has yet to begin.
fn is_over(run: &RunData, flow: usize) -> bool {
    let acts = run.outcome.left.get(flow).is_none_or(|left| left.acts || left.sleeps);
    run.outcome.over || !acts && is_nowhere(run, flow)
}

impl Books {
    /// Whether so much never arrives that latencies are those of who got through.
    pub(crate) fn loses(&self) -> bool {
        ratio(self.never.into(), self.asked.into()) > 1.0 - COMPLETED_SHARE
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

    /// Whether it is worth a word before all others: something will never arrive, what is asked for grows
    /// faster than what completes, or a task is not done.
    pub fn is_short(&self, end_ps: u64) -> bool {
        self.never > 0 || self.task && self.under_way > 0 || self.grows(end_ps)
    }

    /// Whether what is asked for grows faster than what completes: less than 99 % of it complete, and more
    /// missing than is under way at a time in a run that keeps up.
    ///
    /// By Little's law, that is the mean number under way, taken from the times of those that arrived. If
    /// only a share f completes, in order, what is missing at the end is 2/f times that. Between the two lies
    /// the limit of 1.5 times; and three more, because short runs end with a few under way by chance. A run
    /// may end with many under way because many were asked for just now: what piles up is old, too. A wait
    /// that grows is at the end twice what it was on average, so the oldest has waited for longer than 1.5
    /// times what those that arrived did, beyond the time that the fastest of them took. A queue that grows
    /// slowly may have no more in it at the end than that: then those that come late take longer. Packets of
    /// synthetic traffic are judged by their loads in the measured time as well.
    pub fn grows(&self, end_ps: u64) -> bool {
        let short = (self.arrived as f64) < COMPLETED_SHARE * self.asked as f64;
        self.paced && end_ps > 0 && short && self.piles_up()
    }

    /// Whether more is missing than is under way at a time in a run that keeps up, see [`Books::grows`]. A
    /// run that is only some twenty times as long as its latencies ends with a twentieth under way, and so
    /// much less arrives than is asked for; nothing falls behind for it.
    pub(crate) fn piles_up(&self) -> bool {
        let missing = self.asked.saturating_sub(self.arrived) as f64;
        let most = PILED * self.sojourns.number() + FEW;
        // What is lost has no age.
        let is_old = self.never as f64 > most || self.oldest_ps.is_none_or(|oldest| self.is_old(oldest));
        missing > most && is_old || self.slows && missing > FEW
    }

    /// Whether something that is under way for so long is older than in a run that keeps up. Where nothing
    /// has arrived to compare with, that is a good part of the time for which the flow runs.
    fn is_old(&self, ps: u64) -> bool {
        let Sojourns { sum_ps, least_ps, span_ps } = self.sojourns;
        let arrived = u128::from(self.arrived);
        let waited = arrived * u128::from(ps.saturating_sub(least_ps));
        let waits = sum_ps.saturating_sub(arrived * u128::from(least_ps));
        match arrived {
            0 => ps > span_ps / NOTHING_YET,
            _ => waited as f64 > PILED * waits as f64,
        }
    }
}

/// What is neither in `arrived` nor in `never` is under way, unless nothing of the flow was left to happen
/// when the run ended: then it will never arrive either.
pub(crate) fn balanced(
    (run, flow): (&RunData, usize),
    unit: &'static str,
    asked: u64,
    arrived: u64,
    never: u64,
) -> Books {
    let missing = asked.saturating_sub(arrived);
    let never = if is_over(run, flow) { missing } else { never.min(missing) };
    Books { unit, asked, arrived, never, under_way: missing - never, ..Books::default() }
}

/// Octets delivered once over the time in which they were.
pub(crate) struct Rate {
    pub gbps: Estimate,
    /// From and to, picoseconds; `None`: the measured time.
    pub span: Option<(u64, u64)>,
    /// Of several flows: the part of the measured time, if it is not all of it.
    pub late: Option<(u64, u64)>,
    /// Of a span: octets in it.
    pub octets: u64,
}

impl Rate {
    fn over(octets: u64, from: u64, to: u64) -> Self {
        let gbps = Estimate { value: gbps(octets, to.saturating_sub(from)), half_width: f64::NAN };
        Self { gbps, span: Some((from, to)), late: None, octets }
    }

    /// `end`: until when, if not until the last.
    fn of(octets: u64, extents: impl Iterator<Item = Extent>, end: Option<u64>) -> Self {
        let mut whole = Extent::default();
        extents.for_each(|extent| whole.merge(&extent));
        let Extent { first: Time(from), last: Time(to) } = whole;
        let to = end.unwrap_or(to);
        // nothing has come
        if to < from { Self::over(0, 0, 0) } else { Self::over(octets, from, to) }
    }

    fn measured(gbps: Estimate) -> Self {
        Self { gbps, span: None, late: None, octets: 0 }
    }
}

/// Whether a source stopped by itself before the run did. One that has a limit did not, if somebody of its
/// flow would have gone on: not where all is over, because who waits for an answer for ever makes no more.
pub(crate) fn ends(source: &SourceConfig, run: &RunData) -> bool {
    let left = run.outcome.left.get(usize::from(source.flow));
    let goes_on = !run.outcome.over && left.is_some_and(|left| left.goes_on);
    let has_all = source.limit != u64::MAX && !goes_on;
    source.stop < run.collector.length() || matches!(source.arrivals, Arrivals::Replay(_)) || has_all
}

/// The one rate of a flow: octets that were delivered once, from its first start to its last completion; to
/// the end of the run if something of it is under way there, and if something never arrives, at least until
/// that was tried for the last time. `packets` and `levels` as in [`Account::measured`].
pub(crate) fn rate(
    run: &RunData,
    flow: usize,
    account: &Account,
    packets: Estimate,
    levels: [Option<Estimate>; 2],
) -> Rate {
    let data = &run.collector.flows()[flow];
    let mut sources = sources_of(&run.config, flow as u16).peekable();
    // Register accesses have no source, and end with what they are for; of others the protocol knows.
    let finite = match (sources.peek(), account.tempo) {
        (None, Tempo::Packets) => true,
        (None, _) => false,
        _ => sources.all(|source| ends(source, run)),
    };
    let end = (account.books.under_way > 0).then_some(run.outcome.end.0);
    let tries = Extent { first: data.extent.first, last: data.last_offer.max(data.last_drop) };
    let tries = (account.books.never > 0).then_some(tries);
    // What is under way may be all that there ever was.
    let oldest = account.books.oldest_ps.zip(end).map(|(age, end)| Time(end.saturating_sub(age)));
    let oldest = oldest.map(|first| Extent { first, ..Extent::default() });
    let tries = tries.into_iter().chain(oldest);
    match (account.tempo, finite) {
        (Tempo::Packets, true) => {
            let extents = tries.chain([data.extent]);
            Rate::of(data.bins.iter().map(|bin| bin.payload).sum(), extents, end)
        }
        (Tempo::Journeys { octets } | Tempo::RoundTrips { octets }, true) => {
            let journeys = data.messages.iter().chain(&data.round_trips).map(|journeys| journeys.extent);
            Rate::of(octets, tries.chain(journeys), end)
        }
        (Tempo::Packets | Tempo::Journeys { .. } | Tempo::RoundTrips { .. }, false) => {
            Rate::measured(account.measured(packets, levels).unwrap_or(NOTHING))
        }
        (Tempo::Counted { octets, span: Some((from, to)) }, true) => {
            Rate::over(octets, from.0, end.unwrap_or(to.0))
        }
        (Tempo::Counted { octets, .. }, _) => Rate::over(octets, 0, run.outcome.end.0),
        (Tempo::Over { octets, from, to }, _) => Rate::over(octets, from, to),
    }
}

/// The rate of what moves nothing.
const NOTHING: Estimate = Estimate { value: 0.0, half_width: f64::NAN };

/// What is known of the rate of a flow.
pub(crate) struct FlowRate {
    pub gbps: Estimate,
    pub span: Option<(u64, u64)>,
    /// From its start to the end of the measured time, if that is not all of it.
    pub late: Option<(u64, u64)>,
    /// Of what arrived in the measured time, over that time or `late`. `None`: a protocol counts its octets
    /// in the whole run alone.
    pub measured: Option<f64>,
    /// A protocol runs it.
    pub protocol: bool,
    /// It carries nothing, so it has no time of its own.
    pub idle: bool,
}

impl FlowRate {
    /// What of it arrives in the measured time, and in which part: as much as was counted there, or else
    /// what its rate makes of its time that lies there.
    fn within(&self, window: (u64, u64)) -> (f64, (u64, u64)) {
        match (self.measured, self.span) {
            (Some(gbps), _) => (gbps, self.late.unwrap_or(window)),
            (None, span) => {
                let (from, to) = span.unwrap_or(window);
                (self.gbps.value, (from.max(window.0), to.min(window.1)))
            }
        }
    }
}

/// The rate of all flows. Where each that carries something has a time of its own, it is over one time, from
/// the first start to the last completion; else it is what arrives in the measured time, `window`, since the
/// first start. `octets`: of all spans. `packets`: of all packets of the measured time, over its part `late`
/// if there is one.
pub(crate) fn together(
    flows: &[FlowRate],
    octets: u64,
    packets: Estimate,
    window: (u64, u64),
    late: Option<(u64, u64)>,
) -> Rate {
    let busy: Vec<&FlowRate> = flows.iter().filter(|flow| !flow.idle).collect();
    let told = if busy.is_empty() { flows.iter().collect() } else { busy };
    let spans: Option<Vec<(u64, u64)>> = told.iter().map(|flow| flow.span).collect();
    if let Some(spans) = spans.filter(|spans| !spans.is_empty()) {
        let (from, to) = hull(&spans).unwrap_or_default();
        return Rate::over(octets, from, to);
    }
    if !flows.iter().any(|flow| flow.protocol) {
        return Rate { late, ..Rate::measured(packets) };
    }
    let parts = told.iter().map(|flow| flow.within(window)).filter(|(_, (from, to))| from < to);
    let parts: Vec<(f64, (u64, u64))> = parts.collect();
    let first = parts.iter().map(|(_, (from, _))| *from).min().unwrap_or(window.0);
    let bits: f64 = parts.iter().map(|(gbps, (from, to))| gbps * (to - from) as f64).sum();
    let value = if first < window.1 { bits / (window.1 - first) as f64 } else { 0.0 };
    let late = (first > window.0).then_some((first, window.1));
    Rate { late, ..Rate::measured(Estimate { value, half_width: f64::NAN }) }
}

/// From the first to the last instant of these spans, if one of them takes time.
fn hull(spans: &[(u64, u64)]) -> Option<(u64, u64)> {
    let used = || spans.iter().filter(|span| span.1 > span.0);
    Some((used().map(|span| span.0).min()?, used().map(|span| span.1).max()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_INTERVAL: f64 = f64::NAN;

    fn flow(gbps: f64, span: Option<(u64, u64)>, measured: Option<f64>) -> FlowRate {
        let gbps = Estimate { value: gbps, half_width: NO_INTERVAL };
        FlowRate { gbps, span, late: None, measured, protocol: true, idle: gbps.value == 0.0 }
    }

    fn us(from: u64, to: u64) -> (u64, u64) {
        (from * 1_000_000, to * 1_000_000)
    }

    /// By hand. One that ends by itself stands beside one that goes on, measured from 90 to 100 us: what
    /// arrives there is as much whether the first has a limit or not. Of Transfers only the whole is told:
    /// 8 Gb/s from 50 to 95 us are 4 of the last 10 us. Who carries nothing has no time. What begins late
    /// is measured since, and all together since the first.
    #[test]
    fn all_flows_are_told_over_one_time() {
        let packets = Estimate { value: 11.3, half_width: 0.5 };
        let window = us(90, 100);
        let of = |flows: &[FlowRate], late| together(flows, 1_000, packets, window, late);
        let plain = |gbps, span| FlowRate { protocol: false, ..flow(gbps, span, Some(gbps)) };
        let found = of(&[plain(9.2, None), plain(2.1, Some(us(0, 100)))], None);
        assert_eq!((found.gbps, found.span, found.late), (packets, None, None));
        let found = of(&[flow(9.0, None, Some(9.0)), flow(8.0, Some(us(50, 95)), None)], None);
        assert!((found.gbps.value - 13.0).abs() < 1e-12, "{:?}", found.gbps);
        let found = of(&[flow(9.0, None, Some(9.0)), flow(2.5, Some(us(0, 100)), Some(2.0))], None);
        assert!((found.gbps.value - 11.0).abs() < 1e-12, "{:?}", found.gbps);
        let found = of(&[flow(9.0, None, Some(9.0)), flow(8.0, Some(us(0, 60)), None)], None);
        assert!((found.gbps.value - 9.0).abs() < 1e-12, "{:?}", found.gbps);
        let late = Some(us(95, 100));
        let begun = FlowRate { late, ..flow(6.0, None, Some(6.0)) };
        let found = of(&[begun, flow(4.0, Some(us(96, 98)), None)], late);
        assert!((found.gbps.value - (30.0 + 8.0) / 5.0).abs() < 1e-12, "{:?}", found.gbps);
        assert_eq!(found.late, late);
        // Connections that carry nothing are not measured with it.
        let begun = FlowRate { late, ..plain(6.0, None) };
        let found = of(&[begun, flow(0.0, Some(us(0, 100)), None)], None);
        assert_eq!((found.gbps.value, found.late), (6.0, late));
        // Each has a time of its own: 1 000 octets from 10 to 30 us are 0.4 Gb/s.
        let spans = [plain(1.0, Some(us(10, 12))), flow(3.0, Some(us(20, 30)), None), plain(0.0, None)];
        let found = of(&spans, None);
        assert_eq!((found.gbps.value, found.span), (0.4, Some(us(10, 30))));
    }
}
