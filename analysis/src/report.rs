//! From the integers of a finished run to estimates: the one place where floats are born.

use crate::books::{Above, Account, Books, FlowRate, Rate, age, ends, rate, together};
use crate::collect::{Bin, Collector, JourneyData, OfferedBin, Segment, Spread, Tallies, Tally, senders_of};
use crate::estimate::{
    BATCHES, Estimate, TREND_BATCHES, batched_half_width, bulges, mser5, neighbours, quantile_samples,
    sectioned, shift, wanders,
};
use crate::laws;
use crate::num::clock_text;
use crate::num::{gbps, ratio};
use crate::protocol;
use crate::requirement::Requirement;
use crate::run::{Role, RunData, Warmup, sources_of};
use models::Outcome;
use models::config::{Arrivals, Destinations, DeviceModel, Egress, FabricConfig, NO_OWNER, SourceConfig};
use models::probe::{Cause, ProtocolFact};
use models::stats::{FlowStats, SessionTotals, TranslatorTotals};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Accepted load below this share of the offered load is saturation.
pub const SATURATION_SHARE: f64 = 0.99;

/// The part of a run that is measured.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// First time bin.
    pub from_bin: usize,
    /// One past the last time bin.
    pub to_bin: usize,
    /// Start, picoseconds.
    pub from_ps: u64,
    /// End, picoseconds.
    pub to_ps: u64,
    /// How the start was chosen.
    pub rule: &'static str,
    /// `false` if no steady state was found: estimates describe a transient.
    pub steady: bool,
    /// All that was asked for is done before the run is over: the window ends with the last arrival, and the
    /// silence after it is not measured.
    pub ended: bool,
    /// Some who had a task are done with it in the measured part and others go on: its means are of the time
    /// with them and of that without. Not steady.
    pub runs_out: bool,
}

impl Window {
    /// Length, picoseconds.
    pub fn ps(&self) -> u64 {
        self.to_ps - self.from_ps
    }
}

/// Distribution of latencies, picoseconds. All values are not numbers if no packet was delivered.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct LatencyReport {
    /// Mean, interval from batch means.
    pub mean: Estimate,
    /// Median, interval from the segments of the run.
    pub p50: Estimate,
    /// 99th percentile.
    pub p99: Estimate,
    /// 99.9th percentile.
    pub p999: Estimate,
    /// Exact maximum.
    pub max: f64,
}

/// What is known about one flow, or about all.
#[derive(Clone, Debug)]
pub struct FlowReport {
    /// Name.
    pub name: String,
    /// What the scenario declares it to be.
    pub role: Option<Role>,
    /// Endpoints that send it.
    pub sources: u64,
    /// Creations in the window.
    pub offered: OfferedBin,
    /// Deliveries in the window.
    pub delivered: Bin,
    /// Drops in the whole run.
    pub dropped: u64,
    /// Packets that arrived in the whole run.
    pub arrived: u64,
    /// Packets that were under way at its end.
    pub left: u64,
    /// Operations that came to a translator whole, and that it dropped.
    pub(crate) not_passed: u64,
    /// Offered load: share of the time of injection links in which sources could send.
    pub offered_load: f64,
    /// Accepted load, likewise: what the fabric delivers, also what a host refuses by RETRY.
    pub accepted_load: Estimate,
    /// Octets delivered once, Gb/s: of a flow that ends over the time from its first start to its last
    /// completion, else over the measured time. Of messages where protocols run the flow.
    pub goodput_gbps: Estimate,
    /// Over which time that is, if it is not the measured one: from and to, picoseconds.
    pub rate_span: Option<(u64, u64)>,
    /// From the first start of its sources to the end of the measured time, picoseconds, if that is within
    /// it: what is told over the measured time is told over this.
    pub late_span: Option<(u64, u64)>,
    /// What arrived in the measured time, over that time, Gb/s, also where it has a time of its own. `None`:
    /// a protocol counts its octets in the whole run alone.
    measured_gbps: Option<f64>,
    /// What became of what was asked for.
    pub books: Books,
    /// Packets delivered for each source and tick of the cell clock, if all switches run one.
    pub per_slot: Option<Estimate>,
    /// All sources are closed loops: they create a packet when one leaves, so the offered load is what the
    /// fabric lets in and not what they could send.
    pub closed_loop: bool,
    /// Some sources are closed loops and others are not: the offered load is that of both, and means little.
    pub mixed_loops: bool,
    /// Accepted is less than [`SATURATION_SHARE`] of offered and that is not merely on its way
    /// (`Books::piles_up`), what is asked for grows faster than what
    /// completes ([`Books::grows`]), or a source is a closed loop without an end: it always has more to send.
    pub saturated: bool,
    /// Less completes than is asked for, which closed loops cannot tell; of all flows, that of any.
    pub falls_behind: bool,
    /// Creation to last bit at the destination.
    pub latency: LatencyReport,
    /// Without the source queue.
    pub network: LatencyReport,
    /// Mean head-of-line blocking of a packet, picoseconds.
    pub hol_ps: Estimate,
    /// Decomposition and histograms over the window.
    pub spread: Segment,
    /// Mean number of packets in each cause's state (Little).
    pub mean_blocked: [f64; 13],
    /// What protocols counted in the whole run, if they run the flow.
    pub protocol: Option<FlowStats>,
    /// Octets that who uses the flow got in the whole run, each once, if protocols run it: what was sent
    /// again, and the headers of protocols, do not count.
    pub once: Option<u64>,
    /// Switches copy packets of it, if protocols run it.
    pub(crate) copied: bool,
    /// Payload rate of Scheduled Transfers from the first beginning to the last completion, Gb/s.
    pub transfer_gbps: Option<f64>,
    /// What a protocol makes of the messages, if they are not what users see.
    pub(crate) above: Option<Above>,
    /// What protocols send of it are messages, PDUs or doorbells, and not reads and writes.
    pub(crate) carries_messages: bool,
    /// Messages of the flow, if protocols run it: the same questions from protocol to protocol.
    pub messages: Option<Box<FlowReport>>,
    /// Round trips of requests and responses, likewise.
    pub round_trips: Option<Box<FlowReport>>,
}

impl FlowReport {
    /// The name, with the declared role if the name does not say it.
    pub fn title(&self) -> String {
        match self.role {
            Some(role) if !self.name.contains(role.name()) => format!("{} ({})", self.name, role.name()),
            _ => self.name.clone(),
        }
    }

    /// Nobody asks for anything and nothing arrives: connections that are set up and no more, for example.
    pub fn carries_nothing(&self) -> bool {
        self.books.asked == 0 && self.goodput_gbps.value == 0.0
    }

    /// Accesses to registers, by hosts that set something up: its packets are its own, though protocols make
    /// them, and nobody asks for its octets.
    pub(crate) fn is_of_registers(&self) -> bool {
        self.protocol.is_some() && self.books.unit == "packets"
    }

    /// What the users of the flow see: round trips, messages, or packets if there is nothing above.
    pub fn whole(&self) -> &FlowReport {
        self.round_trips.as_deref().or(self.messages.as_deref()).unwrap_or(self)
    }

    /// Share of the latency that has this cause.
    pub fn share(&self, cause: Cause) -> f64 {
        ratio(self.spread.parts_ps[cause as usize], self.spread.parts_ps.iter().sum())
    }

    /// Mean picoseconds of a packet that have this cause.
    pub fn mean_part_ps(&self, cause: Cause) -> f64 {
        ratio(self.spread.parts_ps[cause as usize], u128::from(self.delivered.packets))
    }
}

impl FlowReport {
    fn rate(&self) -> FlowRate {
        FlowRate {
            gbps: self.goodput_gbps,
            span: self.rate_span,
            late: self.late_span,
            measured: self.measured_gbps,
            protocol: self.protocol.is_some(),
            idle: self.carries_nothing(),
        }
    }

    /// Whether these sources are closed loops; those that may send nothing do not count. Protocols that send
    /// by themselves have no source.
    fn set_loops<'a>(&mut self, sources: impl Iterator<Item = &'a SourceConfig>) {
        let senders = sources.filter(|source| source.limit > 0);
        let kinds: BTreeSet<bool> = senders.map(|source| closed_loop(&source.arrivals)).collect();
        self.closed_loop = kinds == BTreeSet::from([true]);
        self.mixed_loops = kinds.len() == 2;
    }

    /// One rate for all that is told of the flow.
    fn set_rate(&mut self, rate: &Rate) {
        let levels = [self.messages.as_deref_mut(), self.round_trips.as_deref_mut()];
        for level in levels.into_iter().flatten() {
            (level.goodput_gbps, level.rate_span) = (rate.gbps, rate.span);
        }
        (self.goodput_gbps, self.rate_span) = (rate.gbps, rate.span);
    }
}

/// Estimates for one run.
#[derive(Clone, Debug)]
pub struct VariantReport {
    /// The run.
    pub run: RunData,
    /// What was measured.
    pub window: Window,
    /// Flows, in the order of the configuration.
    pub flows: Vec<FlowReport>,
    /// All flows together.
    pub overall: FlowReport,
    /// Laws that the run broke; empty in a sound simulator.
    pub broken: Vec<String>,
    /// Name of the variant that this one is to be compared with, if the scenario says so.
    pub compare_with: Option<String>,
    /// What the scenario requires of the run.
    pub required: Vec<Requirement>,
}

impl VariantReport {
    /// Whether what is still under way of a flow is not merely on its way: the flow falls behind, or
    /// something of it stands still.
    pub(crate) fn leaves_behind(&self, flow: &FlowReport) -> bool {
        flow.falls_behind || self.stands_still(flow)
    }

    /// Whether something of a flow stands still at the end of the run: it has been under way since
    /// before a packet stopped moving that the watchdog found, or for as long as the watchdog waits.
    /// Other flows of the same run may go on, and what they have under way is merely on its way. Or they go
    /// on for ever at its expense: that is no stall of the fabric, but nothing of it has arrived for so long.
    pub(crate) fn stands_still(&self, flow: &FlowReport) -> bool {
        let outcome = &self.run.outcome;
        let patience = self.run.config.stall_after.map_or(u64::MAX, |patience| patience.0);
        let books = &flow.books;
        let waits = books.under_way > 0 && books.oldest_ps.is_some_and(|oldest| oldest >= patience);
        if flow.protocol.is_none() && books.arrived == 0 && waits {
            return true;
        }
        let Some(since) = outcome.stalls.iter().map(|stall| stall.since).max() else { return false };
        let left =
            self.number(&flow.name).and_then(|index| outcome.left.get(index)).copied().unwrap_or_default();
        let ages =
            [age(&self.run, left.oldest_packet), age(&self.run, left.oldest_message), flow.books.oldest_ps];
        let limit = patience.min(outcome.end.0.saturating_sub(since.0));
        match ages.into_iter().flatten().max() {
            Some(oldest) => oldest >= limit,
            // of what has no age nobody knows that it moves
            None => flow.left + flow.books.under_way > 0,
        }
    }

    /// Time over which the shares and means of links, hosts and switches are given, picoseconds: the run, or
    /// the part of it until all was done.
    pub fn active_ps(&self) -> u64 {
        if self.window.ended { self.window.to_ps } else { self.run.outcome.end.0 }
    }

    /// Evaluates a run.
    pub fn new(run: RunData) -> Self {
        let collector = &run.collector;
        let accounts: Vec<Account> =
            (0..run.config.flows.len()).map(|index| protocol::account(&run, index)).collect();
        let window = joined_late(running_out(window(collector, &run, &accounts), &run), &run);
        let slot = cell_clock(&run.config);
        let protocols = with_protocols(&run.config);
        let senders = |(flow, by_protocol): (usize, &bool)| Senders::of(&run, flow as u16, *by_protocol);
        let per_flow: Vec<Senders> = protocols.iter().enumerate().map(senders).collect();
        let all = Senders::all(&per_flow);
        let mut total = Gathered::new(collector);
        let mut octets = 0;
        let mut flows = Vec::with_capacity(run.config.flows.len());
        for (index, flow) in run.config.flows.iter().enumerate() {
            let data = &collector.flows()[index];
            let mut gathered = Gathered::new(collector);
            let copies = copies(&run.config, index as u16);
            let bins = counted_once(&data.bins, copies);
            gathered.add(&bins, &data.offered, &data.segments, data.dropped.iter().sum());
            total.add(&bins, &data.offered, &data.segments, data.dropped.iter().sum());
            let mut report = gathered.report(flow.name.clone(), &per_flow[index], &window, collector, slot);
            let of_journeys = |journeys: &Option<Box<JourneyData>>| {
                let journeys = journeys.as_deref()?;
                let mut gathered = Gathered::new(collector);
                gathered.add(&journeys.bins, &[], &journeys.segments, 0);
                let senders = &per_flow[index];
                Some(Box::new(gathered.report(flow.name.clone(), senders, &window, collector, None)))
            };
            report.left = run.outcome.left.get(index).map_or(0, |left| left.packets);
            let translators = run.outcome.totals.of_flow::<TranslatorTotals>(index);
            let dropped = translators.iter().flat_map(|totals| &totals.translators);
            report.not_passed = dropped.map(|part| part.stats.dropped()).sum();
            report.protocol = run.outcome.protocols.get(index).copied().filter(|_| protocols[index]);
            report.messages = of_journeys(&data.messages);
            report.round_trips = of_journeys(&data.round_trips);
            let account = accounts[index];
            (report.books, report.transfer_gbps) = (account.books, account.transfer_gbps);
            (report.above, report.carries_messages) = (account.above, account.carries_messages);
            report.copied = report.protocol.is_some() && is_copied(&run, index as u16, copies);
            // register accesses have nothing above them
            report.once = account.once().or(report.protocol.map(|stats| stats.payload));
            report.books.oldest_ps = report.books.oldest_ps.filter(|_| report.books.under_way > 0);
            let journeys = [&report.messages, &report.round_trips];
            let journeys = journeys.map(|report| report.as_ref().map(|report| report.goodput_gbps));
            let rate = rate(&run, index, &account, report.goodput_gbps, journeys);
            report.measured_gbps = account.measured(report.goodput_gbps, journeys).map(|rate| rate.value);
            octets += rate.octets;
            report.set_rate(&rate);
            // Users see what comes above packets; what a protocol makes of that counts its own times.
            let seen = data.round_trips.as_ref().or(data.messages.as_ref());
            report.books.slows = match (&report.protocol, seen) {
                (None, _) => slows(&bins),
                (Some(_), Some(seen)) => report.above.is_none() && slows(&seen.bins),
                (Some(_), None) => false,
            };
            // what protocols send again is offered, and is not asked for
            report.saturated &= report.protocol.is_none() && report.books.piles_up();
            report.saturated |= report.books.grows(run.outcome.end.0);
            report.set_loops(sources_of(&run.config, index as u16));
            // who has sent all that it had to is not saturated
            let endless = |source: &SourceConfig| closed_loop(&source.arrivals) && !ends(source, &run);
            report.saturated |= sources_of(&run.config, index as u16).any(endless);
            // Who asks for nothing is not refused anything, whatever becomes of the frames that keep
            // connections.
            report.saturated &= report.books.asked > 0;
            // a closed loop waits for what is under way, and not for what is lost
            report.falls_behind = report.saturated && (!report.closed_loop || report.books.loses());
            let declared = |list: &[u16]| list.iter().any(|flow| usize::from(*flow) == index);
            report.role = match () {
                () if declared(&run.victims) => Some(Role::Victim),
                () if declared(&run.hot) => Some(Role::Hot),
                () => None,
            };
            flows.push(report);
        }
        let mut overall = total.report("overall".into(), &all, &window, collector, slot);
        overall.left = flows.iter().map(|flow: &FlowReport| flow.left).sum();
        overall.books = Books::sum(flows.iter().map(|flow: &FlowReport| flow.books));
        let rates: Vec<FlowRate> = flows.iter().map(FlowReport::rate).collect();
        let span = (window.from_ps, window.to_ps);
        let rate = together(&rates, octets, overall.goodput_gbps, span, overall.late_span);
        overall.late_span = rate.late;
        overall.set_rate(&rate);
        overall.saturated = flows.iter().any(|flow| flow.saturated);
        overall.falls_behind = flows.iter().any(|flow| flow.falls_behind);
        overall.set_loops(run.config.all_sources());
        let broken = laws::broken(&run);
        Self { window, flows, overall, broken, compare_with: None, required: Vec::new(), run }
    }

    /// Number of the flow of this name.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.flows.iter().position(|flow| flow.name == name)
    }

    /// Flow of this name.
    pub fn flow(&self, name: &str) -> Option<&FlowReport> {
        self.flows.iter().find(|flow| flow.name == name)
    }

    /// Protocol clocks that are not 1, as text: `now` of protocols by fabric time.
    pub fn protocol_clocks(&self) -> Vec<String> {
        let clocks: BTreeSet<(u64, u64)> = self
            .run
            .outcome
            .agents
            .iter()
            .map(|agent| agent.1.clock)
            .filter(|clock| clock.0 != clock.1)
            .collect();
        clocks.into_iter().map(clock_text).collect()
    }

    /// `path:port` of a port.
    pub fn port_name(&self, device: u32, port: u8) -> String {
        format!("{}:{port}", self.run.config.devices[device as usize].path)
    }
}

fn closed_loop(arrivals: &Arrivals) -> bool {
    matches!(arrivals, Arrivals::Saturated { .. })
}

/// Whether protocols run the flow, for each.
fn with_protocols(config: &FabricConfig) -> Vec<bool> {
    let mut flows = vec![false; config.flows.len()];
    for part in config.agents.iter().flat_map(|agent| &agent.parts) {
        flows[usize::from(part.flow)] = true;
    }
    flows
}

/// Share of packets that were answered by RETRY, responses not counted. Not a number without protocols, and
/// without such packets.
pub(crate) fn retry_share(flow: &FlowReport) -> f64 {
    flow.protocol.as_ref().map_or(f64::NAN, retried)
}

/// Likewise of all flows that protocols run.
pub(crate) fn retry_share_of_all(report: &VariantReport) -> f64 {
    let mut all = FlowStats::default();
    report.flows.iter().filter_map(|flow| flow.protocol.as_ref()).for_each(|stats| all.add(stats));
    retried(&all)
}

fn retried(stats: &FlowStats) -> f64 {
    match stats.requests {
        0 => f64::NAN,
        requests => ratio(stats.facts[ProtocolFact::Retried as usize].into(), requests.into()),
    }
}

/// Share of what users of a flow got, each octet once, in all octets on the links of its senders: packets
/// with their delimiters, headers of protocols, responses and repetitions. Not a number without protocols,
/// where switches copy packets (what arrives of these was sent once for all), and where nothing was sent.
pub(crate) fn efficiency(flow: &FlowReport) -> f64 {
    let parts = flow.once.zip(flow.protocol.as_ref()).filter(|_| !flow.copied);
    let parts = parts.filter(|(_, stats)| stats.link_octets > 0);
    parts.map_or(f64::NAN, |(once, stats)| ratio(once.into(), stats.link_octets.into()))
}

/// The cell clock, if all switches run the same, picoseconds.
fn cell_clock(config: &FabricConfig) -> Option<u64> {
    let mut slots = config.devices.iter().filter_map(|device| match &device.model {
        DeviceModel::Switch(switch) => Some(switch.slot.map(|slot| slot.0)),
        DeviceModel::Endpoint(_) => None,
    });
    let first = slots.next()??;
    slots.all(|slot| slot == Some(first)).then_some(first)
}

/// Deliveries for each packet that a flow sends, as (deliveries, packets): multicast makes copies.
fn copies(config: &FabricConfig, flow: u16) -> (u64, u64) {
    let mut sum = (0, 0);
    let mut known: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for source in sources_of(config, flow) {
        let mut add = |id: u32| {
            let group = config.owners.get(id as usize) == Some(&NO_OWNER);
            let entry = known.entry((source.endpoint, id));
            let count =
                *entry.or_insert_with(|| if group { members(config, source.endpoint, id) } else { 1 });
            // what reaches nobody is dropped, and counts as that
            if count > 0 {
                sum = (sum.0 + count, sum.1 + 1);
            }
        };
        match (&source.destinations, &source.arrivals) {
            (Destinations::Fixed(id), _) => add(*id),
            (Destinations::Cycle(ids), _) => ids.iter().for_each(|id| add(*id)),
            (Destinations::Replay, Arrivals::Replay(packets)) => {
                packets.iter().for_each(|packet| add(packet.destination));
            }
            // uniform and hot-spot destinations are endpoints
            _ => sum = (sum.0 + 1, sum.1 + 1),
        }
    }
    sum
}

/// Whether switches copy packets of a flow that protocols run: those of its sources, or what these make of
/// broadcasts.
fn is_copied(run: &RunData, flow: u16, (deliveries, packets): (u64, u64)) -> bool {
    let sessions = run.outcome.totals.of_flow::<SessionTotals>(usize::from(flow));
    deliveries > packets || sessions.is_some_and(|totals| totals.multicast && totals.stats.broadcasts > 0)
}

/// Endpoints that a packet from `endpoint` to `id` reaches.
fn members(config: &FabricConfig, endpoint: u32, id: u32) -> u64 {
    let peer = |at: (u32, u8)| {
        let link = config.links.iter().find(|link| link.a == at || link.b == at)?;
        Some(if link.a == at { link.b } else { link.a })
    };
    let (mut reached, mut seen) = (0, BTreeSet::new());
    let mut heads: Vec<(u32, u8)> = peer((endpoint, 0)).into_iter().collect();
    while let Some((device, ingress)) = heads.pop() {
        // a loop in the tables must not be one here
        if !seen.insert((device, ingress)) {
            continue;
        }
        let DeviceModel::Switch(switch) = &config.devices[device as usize].model else {
            reached += 1;
            continue;
        };
        match switch.routes.entries.get(id as usize).map(|route| route.egress) {
            Some(Egress::Port(port)) => heads.extend(peer((device, port))),
            Some(Egress::Multicast(mask)) => {
                let ports = switch.routes.masks[usize::from(mask)].without(ingress);
                heads.extend(ports.iter().filter_map(|port| peer((device, port))));
            }
            Some(Egress::Drop) | None => {}
        }
    }
    reached
}

/// Bins in which every packet counts its injection link time once, however many copies arrive: load is what
/// goes into the fabric. Packets and octets stay what was delivered.
fn counted_once(bins: &[Bin], (deliveries, packets): (u64, u64)) -> Vec<Bin> {
    let once = |bin: &Bin| {
        let link = u128::from(bin.link_ps) * u128::from(packets) / u128::from(deliveries.max(1));
        Bin { link_ps: link as u64, ..*bin }
    };
    if deliveries == packets { bins.to_vec() } else { bins.iter().map(once).collect() }
}

/// From when on the endpoints that send a flow may do so, picoseconds. A flow that begins in the measured
/// part has nothing before, so its rates and its load are of the time since: else they would say when it
/// began.
struct Senders {
    since: Vec<(u32, u64)>,
}

impl Senders {
    /// `by_protocol`: protocols run it. They send of their own, whenever somebody asks them for something.
    fn of(run: &RunData, flow: u16, by_protocol: bool) -> Self {
        let sources = sources_of(&run.config, flow).filter(|source| source.limit > 0 && !by_protocol);
        let since = Self::earliest(sources.map(|source| (source.endpoint, run.begin(source))));
        let start = |endpoint: u32| (endpoint, since.get(&endpoint).copied().unwrap_or(0));
        Self { since: senders_of(&run.config, flow).into_iter().map(start).collect() }
    }

    /// Who sends any of these flows.
    fn all(flows: &[Senders]) -> Self {
        let all = flows.iter().flat_map(|senders| senders.since.iter().copied());
        Self { since: Self::earliest(all).into_iter().collect() }
    }

    /// The first start of each endpoint.
    fn earliest(starts: impl Iterator<Item = (u32, u64)>) -> BTreeMap<u32, u64> {
        let mut since = BTreeMap::new();
        for (endpoint, start) in starts {
            let first = since.entry(endpoint).or_insert(start);
            *first = start.min(*first);
        }
        since
    }

    /// Time between two instants in which they could send, all together.
    fn time(&self, from: u64, to: u64) -> u128 {
        self.since.iter().map(|sender| u128::from(to.saturating_sub(sender.1.max(from)))).sum()
    }

    /// From when on any could send; from the beginning, if nobody is known to send.
    fn first(&self) -> u64 {
        self.since.iter().map(|sender| sender.1).min().unwrap_or(0)
    }

    /// The time in which any could send.
    fn longest(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(self.first().max(from))
    }
}

/// Start and end of a part of the window, and its deliveries.
type Part = ((u64, u64), Bin);

/// Sums over flows before they are estimated.
struct Gathered {
    bins: Vec<Bin>,
    offered: Vec<OfferedBin>,
    segments: Vec<Tallies>,
    dropped: u64,
}

impl Gathered {
    fn new(collector: &Collector) -> Self {
        let bins = collector.bins();
        Self {
            bins: vec![Bin::default(); bins],
            offered: vec![OfferedBin::default(); bins],
            segments: vec![Tallies::default(); collector.segments()],
            dropped: 0,
        }
    }

    fn add(&mut self, bins: &[Bin], offered: &[OfferedBin], segments: &[Tallies], dropped: u64) {
        for (sum, bin) in self.bins.iter_mut().zip(bins) {
            sum.add(bin);
        }
        for (sum, bin) in self.offered.iter_mut().zip(offered) {
            sum.add(bin);
        }
        for (sum, segment) in self.segments.iter_mut().zip(segments) {
            sum.merge(segment);
        }
        self.dropped += dropped;
    }

    fn report(
        &self,
        name: String,
        senders: &Senders,
        window: &Window,
        collector: &Collector,
        slot: Option<u64>,
    ) -> FlowReport {
        let mut offered = OfferedBin::default();
        let mut delivered = Bin::default();
        for index in window.from_bin..window.to_bin {
            offered.add(&self.offered[index]);
            delivered.add(&self.bins[index]);
        }
        let first = collector.segment(window.from_bin);
        let mut all = Tallies::default();
        self.segments[first..].iter().for_each(|segment| all.merge(segment));
        let spread = Segment::from(&all);
        let segments = &self.segments[first..];
        let batches = self.batches(senders, window, collector);
        let per = |of: &dyn Fn(&Part) -> (u128, u128)| {
            let of = |part: &Part| (of(part).0 as f64, of(part).1 as f64);
            batched_half_width(&batches.iter().map(of).collect::<Vec<_>>())
        };
        let per_packet = |sum: &dyn Fn(&Bin) -> u128| per(&|(_, bin)| (sum(bin), bin.packets.into()));
        let could_send = |span: &(u64, u64)| senders.time(span.0, span.1);
        let sources = senders.since.len() as u64;
        let first_start = senders.first();
        let capacity = senders.time(window.from_ps, window.to_ps);
        let offered_load = ratio(offered.link_ps.into(), capacity);
        let accepted_load = ratio(delivered.link_ps.into(), capacity);
        let mean = |sum: u128| {
            if delivered.packets == 0 { f64::NAN } else { ratio(sum, delivered.packets.into()) }
        };
        FlowReport {
            role: None,
            sources,
            offered,
            delivered,
            dropped: self.dropped,
            arrived: self.bins.iter().map(|bin| bin.packets).sum(),
            left: 0,
            not_passed: 0,
            offered_load,
            accepted_load: Estimate {
                value: accepted_load,
                half_width: per(&|(span, bin)| (bin.link_ps.into(), could_send(span))),
            },
            goodput_gbps: Estimate {
                value: gbps(delivered.payload, senders.longest(window.from_ps, window.to_ps)),
                half_width: 8_000.0
                    * per(&|(span, bin)| (bin.payload.into(), senders.longest(span.0, span.1).into())),
            },
            per_slot: slot.filter(|_| sources > 0).map(|slot| Estimate {
                value: ratio(u128::from(delivered.packets) * u128::from(slot), capacity),
                half_width: slot as f64 * per(&|(span, bin)| (bin.packets.into(), could_send(span))),
            }),
            closed_loop: false,
            mixed_loops: false,
            falls_behind: false,
            saturated: accepted_load < SATURATION_SHARE * offered_load,
            latency: LatencyReport {
                mean: Estimate {
                    value: mean(delivered.latency_ps),
                    half_width: per_packet(&|bin| bin.latency_ps),
                },
                ..quantiles(segments, &spread.latency, |segment| &segment.latency)
            },
            network: LatencyReport {
                mean: Estimate {
                    value: mean(delivered.network_ps),
                    half_width: per_packet(&|bin| bin.network_ps),
                },
                ..quantiles(segments, &spread.network, |segment| &segment.network)
            },
            hol_ps: Estimate {
                value: mean(delivered.hol_ps.into()),
                half_width: per_packet(&|bin| bin.hol_ps.into()),
            },
            rate_span: None,
            late_span: (first_start > window.from_ps).then(|| (first_start.min(window.to_ps), window.to_ps)),
            measured_gbps: None,
            carries_messages: false,
            books: Books::default(),
            mean_blocked: spread.parts_ps.map(|ps| ratio(ps, window.ps().into())),
            protocol: None,
            once: None,
            copied: false,
            transfer_gbps: None,
            above: None,
            messages: None,
            round_trips: None,
            spread,
            name,
        }
    }

    /// Deliveries of the window in (at most) [`BATCHES`] parts of equal numbers of bins, each with its start
    /// and end.
    fn batches(&self, senders: &Senders, window: &Window, collector: &Collector) -> Vec<Part> {
        let bins = window.to_bin - window.from_bin;
        let count = BATCHES.min(bins);
        let edge = |batch: usize| window.from_bin + batch * bins / count;
        (0..count)
            .map(|batch| {
                let (from, to) = (edge(batch), edge(batch + 1));
                let mut sum = Bin::default();
                for bin in &self.bins[from..to] {
                    sum.add(bin);
                }
                let end = collector.bin_start(to).min(window.to_ps);
                let start = collector.bin_start(from);
                ((start, end.max(start)), sum)
            })
            // of a part in which nobody could send for most of the time there is no mean
            .filter(|((start, end), _)| 2 * senders.longest(*start, *end) >= end - start)
            .collect()
    }
}

/// Everything of a latency report but the mean.
fn quantiles(segments: &[Tallies], all: &Spread, of: impl Fn(&Tallies) -> &Tally) -> LatencyReport {
    let segments: Vec<&Tally> = segments.iter().map(of).collect();
    // A quantile of few values is biased towards the centre: thin segments give no interval.
    let thinnest = segments.iter().map(|segment| segment.values()).min();
    let batched = LazyCell::new(|| batched(&segments));
    let quantile = |q: f64| {
        // So many in each segment that 40 lie beyond the quantile.
        let packets = libm::ceil(40.0 / (1.0 - q)) as u64;
        let known = all.histogram.len() >= quantile_samples(q);
        let value = all.quantile(q).filter(|_| known).map_or(f64::NAN, |ps| ps as f64);
        let enough = known && thinnest.is_none_or(|count| count >= packets);
        Estimate {
            value,
            half_width: if enough { quantile_half_width(&batched, q, value) } else { f64::NAN },
        }
    };
    LatencyReport {
        mean: Estimate { value: f64::NAN, half_width: f64::NAN },
        p50: quantile(0.5),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: if all.histogram.is_empty() { f64::NAN } else { all.max as f64 },
    }
}

/// Half width of the interval of a quantile: the widest of those that the segments give as they are, as eight
/// batches, and as four, each with the spread about the quantile of all ([`sectioned`]).
///
/// Segments of a queue near saturation are short beside the time in which it forgets: their quantiles agree
/// with each other, and lie below that of all. With sixteen of them as independent values, intervals of p99
/// at a load of 0.9 held the true value in 74 of 100 runs of 64 000 packets. Longer batches depend less on
/// each other, the spread about the whole holds their bias, and to take the widest needs no decision by the
/// same data (to give none where a test finds correlation leaves those runs that happen to look calm, and of
/// these 73 in 100 are right). That is 91 to 99 of 100; `analysis/tests/suite/coverage.rs` measures it.
fn quantile_half_width(batched: &[Vec<Spread>], q: f64, whole: f64) -> f64 {
    let of = |batches: &Vec<Spread>| -> Vec<f64> {
        batches.iter().filter_map(|batch| batch.quantile(q)).map(|ps| ps as f64).collect()
    };
    batched.iter().map(|batches| sectioned(&of(batches), whole)).fold(f64::NAN, f64::max)
}

/// Segments as they are, as eight batches, and as four.
fn batched(segments: &[&Tally]) -> Vec<Vec<Spread>> {
    let n = segments.len();
    let batches = |count: usize| -> Vec<Spread> {
        let merged = neighbours(segments, count).map(|batch| {
            let mut sum = Tally::default();
            batch.iter().for_each(|tally| sum.merge(tally));
            Spread::from(&sum)
        });
        merged.collect()
    };
    [n, 8, 4].into_iter().filter(|count| *count <= n).map(batches).collect()
}

/// A warm-up that is given is not cut off where it would leave nothing.
const NOTHING_LEFT: &str = "none: nothing arrives in the rest of the run";
/// What a run is for was done before it ended: all of it is told.
const ALL_OVER: &str = "none: all is over before the end of the run";
const NOT_CUT: &str = "none: nothing arrives after the one that is set";

fn window(collector: &Collector, run: &RunData, accounts: &[Account]) -> Window {
    let (outcome, warmup) = (&run.outcome, run.warmup);
    let bin_ps = collector.bin_ps();
    let bins_to = |to_ps: u64| {
        (0..collector.bins()).rfind(|bin| collector.bin_start(*bin) <= to_ps).map_or(0, |bin| bin + 1)
    };
    let per_segment = collector.bins_per_segment();
    let last = last_arrival(collector, outcome);
    let idle = bins_to(outcome.end.0) - bins_to(last.min(outcome.end.0));
    // The time since the last packet of who goes on is a gap as any other.
    let length = collector.length();
    let goes_on = run.config.all_sources().any(|source| !ends(source, run));
    // Who waits for an answer is not done, and who asks for nothing, but keeps connections, never is.
    let is_left = accounts.iter().enumerate().any(|(flow, Account { books, .. })| {
        let acts = outcome.left.get(flow).is_some_and(|left| left.acts || left.sleeps);
        books.under_way > 0 || books.asked == 0 && acts
    });
    let is_done = !goes_on && !is_left && outcome.in_flight == 0;
    let ended = is_done && last > 0 && (outcome.end < length || idle >= per_segment);
    let oldest = outcome.left.iter().filter_map(|left| left.oldest_packet).map(|at| at.0).min();
    let segments = collector.flows().iter().flat_map(|flow| &flow.segments);
    let longest = segments.map(|segment| segment.latency.max).max().unwrap_or(0);
    // who gets nothing because there is nothing is as steady as can be
    let silent = outcome.in_flight == 0 && last == 0;
    let to_ps = if ended { last.min(outcome.end.0) } else { outcome.end.0 };
    let to_bin = bins_to(to_ps);
    let whole = |rule, steady| Window {
        from_bin: 0,
        to_bin,
        from_ps: 0,
        to_ps,
        rule,
        steady,
        ended,
        runs_out: false,
    };
    let cut_at = |bin: usize, rule, steady| {
        let first = collector.first_bin();
        let from_bin = match bin.checked_sub(first) {
            Some(measured) => first + measured.div_ceil(per_segment) * per_segment,
            None => first,
        };
        let from_ps = collector.bin_start(from_bin);
        // Nothing comes after it that could be measured, though something might have.
        let left = from_bin < to_bin && from_ps < to_ps;
        let silence = left && last < from_ps;
        let quiet = silence && outcome.in_flight == 0;
        if silence && warmup == Warmup::Auto {
            // What was seen before is all that there is to tell.
            return whole(NOTHING_LEFT, false);
        }
        if !left || quiet {
            // What is done has no transient that a longer run would get rid of.
            return match warmup {
                Warmup::Fixed(_) if ended || silent || quiet => whole(NOT_CUT, true),
                _ => whole(rule, silent),
            };
        }
        // Nothing arrives any more, and something has been on its way for longer than that, and than anything
        // took before: who stands still is in no steady state.
        let half = from_ps.midpoint(to_ps);
        let still = last < half && oldest.is_some_and(|at| at < half && to_ps - at > longest);
        let steady = steady && !still;
        Window { from_bin, to_bin, from_ps, to_ps, rule, steady, ended, runs_out: false }
    };
    match warmup {
        Warmup::Fixed(ps) if ps == collector.bin_start(collector.first_bin()) => {
            settled(collector, cut_at(collector.first_bin(), "fixed", true))
        }
        Warmup::Fixed(ps) => {
            let bin = ps.div_ceil(bin_ps).min(to_bin as u64) as usize;
            settled(collector, cut_at(bin, "fixed, rounded up to a sixteenth of the run", true))
        }
        Warmup::Auto if ended => whole(ALL_OVER, true),
        Warmup::Auto if silent => whole(NOTHING_LEFT, true),
        Warmup::Auto => {
            let mut sums = vec![Bin::default(); to_bin];
            for flow in collector.flows() {
                for (sum, bin) in sums.iter_mut().zip(&flow.bins) {
                    sum.add(bin);
                }
            }
            // Both what gets through and how long it takes must have settled. The source queue is left out:
            // above saturation it grows for ever while the fabric is as steady as can be.
            let through: Vec<f64> = sums.iter().map(|bin| bin.link_ps as f64).collect();
            let filled: Vec<usize> = (0..to_bin).filter(|&index| sums[index].packets > 0).collect();
            let network: Vec<f64> = filled
                .iter()
                .map(|&index| ratio(sums[index].network_ps, sums[index].packets.into()))
                .collect();
            let (a, b) = (mser5(&through), mser5(&network));
            let latency_bin = filled.get(b.drop).copied().unwrap_or(0);
            settled(collector, cut_at(a.drop.max(latency_bin), "MSER-5", a.steady && b.steady))
        }
    }
}

/// Whether who arrives in the second half of a run takes longer than all by a twentieth or more, and not by
/// chance: a queue that grows slowly, or in bursts, may have no more in it at the end of a run than it had on
/// average.
fn slows(bins: &[Bin]) -> bool {
    let mean = |range: Range<usize>| mean(&bins[range], |bin| bin.latency_ps);
    let series = in_parts(0..bins.len(), &mean);
    // Where nothing has arrived nothing takes longer.
    let longer = mean(bins.len() / 2..bins.len()).zip(mean(0..bins.len()));
    longer.is_some_and(|(second, all)| second > (1.0 + LONGER) * all) && shift(&series, LONGER).is_some()
}

/// By so much longer packets of the second half take where they take longer.
const LONGER: f64 = 0.05;

/// A value of each of the parts of some bins in which a trend is looked for, where there is one.
fn in_parts(bins: Range<usize>, value: &dyn Fn(Range<usize>) -> Option<f64>) -> Vec<f64> {
    let parts = TREND_BATCHES.min(bins.len());
    let edge = |part: usize| bins.start + part * bins.len() / parts;
    (0..parts).filter_map(|part| value(edge(part)..edge(part + 1))).collect()
}

/// Mean of the packets of some bins; `None`: there are none.
fn mean(bins: &[Bin], of: fn(&Bin) -> u128) -> Option<f64> {
    let packets: u64 = bins.iter().map(|bin| bin.packets).sum();
    (packets > 0).then(|| ratio(bins.iter().map(of).sum(), packets.into()))
}

/// The window, not steady if somebody is done in it and others go on: the load is another one from then on.
fn running_out(window: Window, run: &RunData) -> Window {
    // where all of it ends, that is what is measured
    let whole = window.ended && run.config.all_sources().all(|source| ends(source, run));
    let mut done = protocol::all(|protocol| protocol.done(&run.outcome)).into_iter();
    let runs_out = !whole && done.any(|at| window.from_ps < at.0 && at.0 < window.to_ps);
    Window { steady: window.steady && !runs_out, runs_out, ..window }
}

/// The window, not steady if somebody who goes on to its end begins in it, behind its first sixteenth, where
/// others are at work already: what these do is of the time without it and of that with it.
fn joined_late(window: Window, run: &RunData) -> Window {
    let first = run.collector.flows().iter().map(|flow| flow.extent.first.0).min().unwrap_or(u64::MAX);
    let from = window.from_ps + window.to_ps.saturating_sub(window.from_ps) / TREND_BATCHES as u64;
    let joins = |source: &SourceConfig| {
        let begin = run.begin(source);
        from < begin && first < begin && begin < window.to_ps && !ends(source, run)
    };
    let joined = run.config.all_sources().any(joins);
    Window { steady: window.steady && !joined, ..window }
}

/// When the last packet, message, answer, PDU or Transfer arrived or was lost, or the last rank of a program
/// ended.
fn last_arrival(collector: &Collector, outcome: &Outcome) -> u64 {
    let fabric = collector.flows().iter().flat_map(|flow| {
        let at_hosts = flow.messages.iter().chain(&flow.round_trips).map(|journeys| journeys.extent);
        at_hosts.chain([flow.extent]).map(|extent| extent.last).chain([flow.last_drop])
    });
    let protocols = protocol::PROTOCOLS.iter().filter_map(|protocol| protocol.last(outcome));
    fabric.chain(protocols).map(|at| at.0).max().unwrap_or(0)
}

/// The window, not steady if the time that packets spend in the fabric, or messages on their way, climbs or
/// falls in it, or is another one from some time on, or the load of all links of sources is, or is another
/// one for a while (times are that near saturation, too, by chance alone): MSER-5 looks for
/// a transient in the first half of a run, a slow climb has no end, and what changes later is no transient.
/// What waits in the fabric climbs with it (Little's law). Samples have no part in it: a run that is watched
/// is as steady as one that is not. Source queues are left out: above saturation they grow for ever while the
/// fabric is as steady as can be, and `saturated` tells.
fn settled(collector: &Collector, window: Window) -> Window {
    // what is done has no steady state to be in
    if window.ended {
        return window;
    }
    let series =
        |value: &dyn Fn(Range<usize>) -> Option<f64>| in_parts(window.from_bin..window.to_bin, value);
    let load = series(&|range| {
        let flows = collector.flows().iter();
        let all: u64 = flows.flat_map(|flow| &flow.bins[range.clone()]).map(|bin| bin.link_ps).sum();
        Some(all as f64 / range.len() as f64)
    });
    let moves = collector.flows().iter().any(|flow| {
        let packets = series(&|range| mean(&flow.bins[range], |bin| bin.network_ps));
        let above = flow.round_trips.as_ref().or(flow.messages.as_ref());
        let above = above.map(|data| series(&|range| mean(&data.bins[range], |bin| bin.latency_ps)));
        wanders(&packets) || above.is_some_and(|series| wanders(&series))
    });
    Window { steady: window.steady && !moves && !wanders(&load) && !bulges(&load), ..window }
}
