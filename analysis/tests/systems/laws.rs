//! One system: compiled, run, and held against the laws.

use crate::Verdict;
use analysis::num::count_text;
use analysis::{Collector, CollectorConfig, RunData, Summary, VariantReport, Warmup, series, table};
use models::agent::initialise::InitialiseTotals;
use models::config::{DeviceModel, Egress, FabricConfig, FaultAction, NO_OWNER};
use models::probe::{
    Delivery, Dropped, Journey, Offered, Probe, ProtocolEvent, ProtocolFact, RegisterEvent, Sample, Share,
    Signal, StagingEdge, Timeout,
};
use models::run::{ListKind, Parallel, Partition, PipelineMode, Progress, Threads};
use models::sim_core::Time;
use models::stats::{LinxTotals, ProgramTotals, SessionTotals, TransferTotals};
use models::{Outcome, RunOptions, Simulation};
use scenarios::Variant;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the collector sees, and the ways of all packets that arrived.
struct Watch {
    collector: Collector,
    /// (source, destination) -> packets, and the time that they took on the injection link.
    ways: BTreeMap<(u32, u32), (u64, u64)>,
    offered: Vec<u64>,
    journeys: Vec<[u64; 2]>,
}

impl Probe for Watch {
    fn offered(&mut self, offered: &Offered) {
        self.offered[usize::from(offered.flow)] += 1;
        self.collector.offered(offered);
    }
    fn delivered(&mut self, delivery: &Delivery) {
        let way = self.ways.entry((delivery.source, delivery.destination)).or_default();
        way.0 += 1;
        way.1 += delivery.link_ps;
        self.collector.delivered(delivery);
    }
    fn dropped(&mut self, dropped: &Dropped) {
        self.collector.dropped(dropped);
    }
    fn message(&mut self, message: &Journey) {
        self.journeys[usize::from(message.flow)][0] += 1;
        self.collector.message(message);
    }
    fn round_trip(&mut self, whole: &Journey) {
        self.journeys[usize::from(whole.flow)][1] += 1;
        self.collector.round_trip(whole);
    }
    fn register(&mut self, event: &RegisterEvent) {
        self.collector.register(event);
    }
    fn protocol_event(&mut self, event: &ProtocolEvent) {
        self.collector.protocol_event(event);
    }
    fn timeout(&mut self, timeout: &Timeout) {
        self.collector.timeout(timeout);
    }
    fn signal(&mut self, signal: &Signal) {
        self.collector.signal(signal);
    }
    fn staging_edge(&mut self, edge: &StagingEdge) {
        self.collector.staging_edge(edge);
    }
    fn sample(&mut self, sample: &Sample) {
        self.collector.sample(sample);
    }
}

impl Share for Watch {
    fn part(&self) -> Self {
        let flows = self.offered.len();
        Watch {
            collector: self.collector.part(),
            ways: BTreeMap::new(),
            offered: vec![0; flows],
            journeys: vec![[0; 2]; flows],
        }
    }
    fn before_sample(&mut self, parts: &[&Self]) {
        self.collector.before_sample(&parts.iter().map(|part| &part.collector).collect::<Vec<_>>());
    }
    fn join(&mut self, part: Self) {
        self.collector.join(part.collector);
        for (way, (packets, link_ps)) in part.ways {
            let own = self.ways.entry(way).or_default();
            *own = (own.0 + packets, own.1 + link_ps);
        }
        self.offered.iter_mut().zip(part.offered).for_each(|(own, part)| *own += part);
        for (own, part) in self.journeys.iter_mut().zip(part.journeys) {
            *own = [own[0] + part[0], own[1] + part[1]];
        }
    }
}

/// A run, and how it ended.
struct Run {
    report: VariantReport,
    ways: BTreeMap<(u32, u32), (u64, u64)>,
    offered: Vec<u64>,
    journeys: Vec<[u64; 2]>,
    progress: Progress,
    /// Until when it ran: to the end, unless that would take too long.
    until: Time,
    parts: u64,
    /// Nothing crossed a link from then on, as far as somebody looked.
    still_since: Time,
}

/// Time bins of the series: few, because each run writes them all.
const BINS: usize = 64;

/// Parts of a run after which somebody looks whether anything moved.
const PARTS: u64 = 32;
/// After so many events the part is the last one.
const EVENTS: u64 = 20_000;

fn watch(variant: &Variant) -> Watch {
    let mut collector = CollectorConfig::new(&variant.config, variant.until);
    collector.bins = BINS;
    let collector = Collector::new(&collector.measured_from(variant.warmup.given()));
    let flows = variant.config.flows.len();
    Watch { collector, ways: BTreeMap::new(), offered: vec![0; flows], journeys: vec![[0; 2]; flows] }
}

/// What part `done` of [`PARTS`] ends with.
fn end_of_part(variant: &Variant, done: u64) -> Time {
    Time((u128::from(variant.until.0) * u128::from(done) / u128::from(PARTS)) as u64)
}

fn report(variant: &Variant, collector: Collector, outcome: Outcome) -> VariantReport {
    VariantReport::new(RunData {
        name: variant.name.clone(),
        config: Arc::clone(&variant.config),
        collector,
        outcome,
        warmup: match variant.warmup {
            scenarios::Warmup::Auto => Warmup::Auto,
            scenarios::Warmup::Until(time) => Warmup::Fixed(time.0),
        },
        victims: variant.victims.clone(),
        hot: variant.hot.clone(),
    })
}

fn repeated(outcome: &Outcome) -> u64 {
    outcome.links.iter().map(|(.., end)| end.repeated).sum()
}

fn run(variant: &Variant, options: RunOptions, parts: Option<u64>) -> Run {
    let mut simulation = Simulation::new(Arc::clone(&variant.config), options, watch(variant));
    let (mut hops, mut still_since) = (0, Time(0));
    let (mut progress, mut until, mut done) = (Progress::Running, Time(0), 0);
    while done < parts.unwrap_or(PARTS) && progress != Progress::Stalled {
        done += 1;
        until = end_of_part(variant, done);
        progress = simulation.run(until, u64::MAX);
        // What was made a moment ago does not stand still yet, and what errors hit again and again does not.
        let repeated = if variant.config.symbolic.is_empty() { 0 } else { repeated(&simulation.look()) };
        let moved = simulation.packet_hops() + simulation.probe().offered.iter().sum::<u64>() + repeated;
        if moved != hops {
            (hops, still_since) = (moved, until);
        }
        if parts.is_none() && simulation.events() > EVENTS {
            break;
        }
    }
    let parts = done;
    let (watch, outcome) = simulation.finish();
    Run {
        report: report(variant, watch.collector, outcome),
        ways: watch.ways,
        offered: watch.offered,
        journeys: watch.journeys,
        progress,
        until,
        parts,
        still_since,
    }
}

/// Compiles and runs the system. `octets`: all that crosses links is written as bytes and read back. `twice`:
/// also in other ways, that have to give the same.
pub fn judge(text: &str, octets: bool, twice: bool) -> Verdict {
    let plan = match scenarios::load(text, "system.json", &[]) {
        Ok(plan) => plan,
        Err(errors) => {
            let first = errors.items.first().expect("a refusal has a reason");
            assert!(!errors.render().is_empty() && !first.message.is_empty(), "a refusal says why");
            return Verdict::Refused(first.code, format!("{} {}", first.pointer, first.message));
        }
    };
    let variant = &plan.variants[0];
    let done = run(variant, RunOptions { wire_check: octets, ..RunOptions::default() }, None);
    let mut broken = Vec::new();
    laws(variant, &done, &mut broken);
    if twice && broken.is_empty() {
        relations(variant, &done, &mut broken);
    }
    let cut = broken.is_empty() && threads(variant, &done, &mut broken);
    if broken.is_empty() { Verdict::Sound { cut } } else { Verdict::Broken(broken.join("\n")) }
}

macro_rules! hold {
    ($broken:expr, $law:expr, $($text:tt)*) => {
        let holds: bool = $law;
        if !holds {
            $broken.push(format!($($text)*));
        }
    };
}

fn laws(variant: &Variant, run: &Run, broken: &mut Vec<String>) {
    let report = &run.report;
    broken.extend(report.broken.iter().cloned());
    stalls(variant, run, broken);
    ledger(run, broken);
    ways(run, broken);
    times(report, broken);
    let reports = std::slice::from_ref(report);
    let text = Summary::new("system", reports).to_json();
    let summary: Value = serde_json::from_str(&text).expect("a summary is JSON");
    let summary = &summary["variants"][0];
    books(run, summary, broken);
    protocols(run, summary, broken);
    written(run, summary, broken);
}

/// Whatever stands still for ever is reported.
fn stalls(variant: &Variant, run: &Run, broken: &mut Vec<String>) {
    let outcome = &run.report.run.outcome;
    let Some(after) = variant.config.stall_after else { return };
    let reported = !outcome.stalls.is_empty();
    hold!(
        broken,
        run.progress != Progress::Drained || outcome.in_flight == 0 || reported,
        "silent stall: nothing is left to happen, and {} packets are left",
        outcome.in_flight
    );
    // The watchdog comes every `after`, and sees who has waited for that long.
    if !variant.config.media.is_empty() {
        // A frame may be on its link for as long as a run.
        return;
    }
    let slice = variant.until.0 / PARTS + 1;
    // A link that waits for an answer of its neighbour still does something.
    let answer = variant.config.symbolic.iter().map(|link| link.timeout.0).max().unwrap_or(0);
    let still = run.until.0.saturating_sub(run.still_since.0) > 2 * after.0 + slice + 3 * answer;
    hold!(
        broken,
        !still || outcome.in_flight == 0 || reported,
        "silent stall: {} packets are left, and none moved since {} us",
        outcome.in_flight,
        run.still_since.0 / 1_000_000
    );
}

/// Packets: what was created is somewhere, flow by flow and in all.
fn ledger(run: &Run, broken: &mut Vec<String>) {
    let outcome = &run.report.run.outcome;
    let collector = &run.report.run.collector;
    let config = &run.report.run.config;
    let groups = config.owners.contains(&NO_OWNER);
    let (mut created, mut arrived, mut left) = (0, 0, 0);
    for (flow, data) in collector.flows().iter().enumerate() {
        let offered: u64 = data.offered.iter().map(|bin| bin.packets).sum();
        let delivered: u64 = data.bins.iter().map(|bin| bin.packets).sum();
        let dropped: u64 = data.dropped.iter().sum();
        let under_way = outcome.left.get(flow).map_or(0, |left| left.packets);
        let name = &config.flows[flow].name;
        hold!(
            broken,
            groups || run.offered[flow] == delivered + dropped + under_way,
            "packets of {name}: {} created, {delivered} delivered, {dropped} dropped, {under_way} left",
            run.offered[flow]
        );
        hold!(broken, offered <= run.offered[flow], "{name}: more load than packets");
        created += run.offered[flow];
        arrived += delivered;
        left += under_way;
    }
    hold!(broken, created == outcome.injected, "{created} creations seen, {} counted", outcome.injected);
    hold!(broken, arrived == outcome.delivered, "{arrived} deliveries seen, {} counted", outcome.delivered);
    hold!(broken, left == outcome.in_flight, "{left} left by flows, {} by the fabric", outcome.in_flight);
}

/// Octets on links: what arrived, times the links on its way, if nothing was lost, copied or sent again.
fn ways(run: &Run, broken: &mut Vec<String>) {
    let outcome = &run.report.run.outcome;
    let config = &run.report.run.config;
    let again: u64 =
        outcome.links.iter().map(|(.., end)| end.repeated + end.cancelled + end.damaged_packets).sum();
    let sent: u64 = outcome.ports.iter().map(|(.., port)| port.packets_sent).sum();
    hold!(
        broken,
        sent == outcome.packet_hops,
        "{sent} packets left ports, {} crossed a link",
        outcome.packet_hops
    );
    if outcome.in_flight + outcome.dropped + outcome.replicated + again > 0 || outcome.enumeration.is_some() {
        return;
    }
    let ids: BTreeMap<u32, u32> = config
        .owners
        .iter()
        .zip(0..)
        .filter(|(owner, _)| **owner != NO_OWNER)
        .map(|(o, id)| (*o, id))
        .collect();
    let widths = config.faults.iter().all(|fault| !matches!(fault.action, FaultAction::Lanes(_)));
    let same = widths
        && config.links.iter().all(|link| {
            (link.char_ps, link.lanes, link.symbol_chars)
                == (config.links[0].char_ps, config.links[0].lanes, config.links[0].symbol_chars)
        });
    let (mut hops, mut link_ps) = (0, 0);
    for (&(from, to), &(packets, ps)) in &run.ways {
        let Some(length) = ids.get(&to).and_then(|id| way(config, from, *id)) else { return };
        hops += packets * length;
        link_ps += ps * length;
    }
    hold!(
        broken,
        hops == outcome.packet_hops,
        "packets times the links of their ways are {hops}, and {} packets crossed a link",
        outcome.packet_hops
    );
    let busy: u64 = outcome.ports.iter().map(|(.., port)| port.packet_ps).sum();
    // Each packet's time is rounded by itself.
    let close = busy.abs_diff(link_ps) <= 2 * hops;
    hold!(broken, !same || close, "links were busy for {busy} ps, their packets take {link_ps} ps");
}

/// Links from a device to the owner of an id.
fn way(config: &FabricConfig, from: u32, id: u32) -> Option<u64> {
    let peer = |at: (u32, u8)| {
        let link = config.links.iter().find(|link| link.a == at || link.b == at)?;
        Some(if link.a == at { link.b } else { link.a })
    };
    let mut at = peer((from, 0))?;
    for length in 1..64 {
        let DeviceModel::Switch(switch) = &config.devices[at.0 as usize].model else { return Some(length) };
        let Egress::Port(port) = switch.routes.entries.get(id as usize)?.egress else { return None };
        at = peer((at.0, port))?;
    }
    None
}

/// The parts of times add up to them.
fn times(report: &VariantReport, broken: &mut Vec<String>) {
    for flow in report.flows.iter().chain([&report.overall]) {
        let levels = [Some(flow), flow.messages.as_deref(), flow.round_trips.as_deref()];
        for level in levels.into_iter().flatten() {
            let parts: u128 = level.spread.parts_ps.iter().sum();
            hold!(
                broken,
                parts == level.delivered.latency_ps,
                "{}: the parts of times sum to {parts} ps, the times to {} ps",
                flow.name,
                level.delivered.latency_ps
            );
            hold!(
                broken,
                level.spread.latency.histogram.len() == level.delivered.packets,
                "{}: {} times in the histogram, {} arrived",
                flow.name,
                level.spread.latency.histogram.len(),
                level.delivered.packets
            );
        }
    }
}

fn int(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a count"))
}

/// What was asked for has arrived, never will, or is under way; in the summary and in the table alike.
fn books(run: &Run, summary: &Value, broken: &mut Vec<String>) {
    let report = &run.report;
    let printed = table::variant(report);
    let flows = summary["flows"].as_array().expect("a list");
    let mut sums = [0; 4];
    for (flow, told) in report.flows.iter().zip(flows).chain([(&report.overall, &summary["overall"])]) {
        let name = &flow.name;
        let keys = ["asked", "arrived", "never", "under_way"];
        let counts = keys.map(|key| int(&told["books"][key]));
        let own = [flow.books.asked, flow.books.arrived, flow.books.never, flow.books.under_way];
        hold!(broken, counts == own, "{name}: books {own:?}, summary {counts:?}");
        hold!(
            broken,
            counts[0] == counts[1] + counts[2] + counts[3],
            "{name}: asked, arrived, never, under way do not balance: {counts:?}"
        );
        if std::ptr::eq(flow, &report.overall) {
            hold!(broken, counts == sums, "overall {counts:?}, flows together {sums:?}");
        } else {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let rows = printed.lines().filter(|line| {
            line.strip_prefix("  ").is_some_and(|line| {
                line.strip_prefix(&flow.title()).is_some_and(|rest| rest.starts_with([' ', '*']))
            })
        });
        let first: Option<&str> = rows.into_iter().next();
        if let (Some(row), true) = (first, counts[0] > 0 && !flow.books.unit.is_empty()) {
            let cells: Vec<&str> = row.split("   ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            let asked = cells.get(1).map(|cell| cell.trim_end_matches(|c: char| !c.is_ascii_digit()));
            let told = [asked, cells.get(2).copied(), cells.get(3).copied(), cells.get(4).copied()];
            let wanted = counts.map(count_text);
            hold!(
                broken,
                told.iter().zip(&wanted).all(|(told, wanted)| *told == Some(wanted)),
                "{name}: the table says {row:?}, the summary {counts:?}"
            );
        }
    }
}

/// What hosts and protocols count.
fn protocols(run: &Run, summary: &Value, broken: &mut Vec<String>) {
    let outcome = &run.report.run.outcome;
    let flows = &run.report.run.config.flows;
    let mut together = models::stats::FlowStats::default();
    outcome.protocols.iter().for_each(|stats| together.add(stats));
    let mut hosts = models::stats::FlowStats::default();
    outcome.agents.iter().for_each(|(_, agent)| hosts.add(&agent.flows));
    // Answers of registers are made by devices, not by what runs on hosts; they have 12 to 24 octets on the
    // wire and a delimiter of 4 or 8, or more of both where idle sequence 3 fills up.
    let answers = together.responses.saturating_sub(hosts.responses);
    let octets = together.link_octets.saturating_sub(hosts.link_octets);
    let enumerated = run.report.run.config.enumeration.is_some();
    hold!(
        broken,
        if enumerated { (12 * answers..=40 * answers).contains(&octets) } else { octets + answers == 0 },
        "{answers} answers of registers with {octets} octets"
    );
    (hosts.responses, hosts.link_octets) = (together.responses, together.link_octets);
    hold!(broken, together == hosts, "flows count {together:?}, hosts {hosts:?}");
    for (flow, stats) in outcome.protocols.iter().enumerate() {
        let name = &flows[flow].name;
        hold!(broken, stats.asked <= stats.sent, "{name}: {} asked, {} sent", stats.asked, stats.sent);
        hold!(
            broken,
            stats.completed <= stats.sent,
            "{name}: {} completed, {} sent",
            stats.completed,
            stats.sent
        );
        hold!(
            broken,
            stats.round_trips <= stats.asked,
            "{name}: {} answers to {} questions",
            stats.round_trips,
            stats.asked
        );
        let [messages, trips] = run.journeys[flow];
        let told = &summary["flows"][flow]["protocol"];
        if told.is_object() {
            hold!(broken, int(&told["delivered"]) == stats.delivered, "{name}: delivered");
            hold!(broken, int(&told["sent"]) == stats.sent, "{name}: sent");
        }
        let plain = outcome.totals.of::<SessionTotals>().all(|totals| usize::from(totals.flow) != flow)
            && outcome.totals.of::<InitialiseTotals>().all(|totals| usize::from(totals.flow) != flow)
            && outcome.totals.of::<LinxTotals>().all(|totals| usize::from(totals.flow) != flow)
            && outcome.totals.of::<TransferTotals>().all(|totals| usize::from(totals.flow) != flow);
        // Reads of registers are reported under this flow, and counted by the nodes that make them.
        let foreign = name == "registers";
        if plain && !foreign {
            hold!(
                broken,
                messages == stats.delivered || messages == 0,
                "{name}: {messages} messages seen, {} counted",
                stats.delivered
            );
            hold!(
                broken,
                trips == stats.round_trips,
                "{name}: {trips} answers seen, {} counted",
                stats.round_trips
            );
        }
    }
    for totals in outcome.totals.of::<LinxTotals>() {
        let (name, stats) = (&flows[usize::from(totals.flow)].name, &totals.stats);
        let known =
            stats.refused + stats.delivered + stats.missing + totals.lost + totals.unseen + totals.under_way;
        hold!(
            broken,
            stats.messages == known,
            "LINX {name}: {} messages, {} refused + {} delivered + {} missing + {} lost + {} unseen, {} left",
            stats.messages,
            stats.refused,
            stats.delivered,
            stats.missing,
            totals.lost,
            totals.unseen,
            totals.under_way
        );
        // Every heartbeat that is accepted has a silence before it.
        let (gaps, accepted) = (stats.heartbeat_gaps.count, stats.frames.heartbeats);
        hold!(broken, gaps == accepted, "LINX {name}: {gaps} gaps of {accepted} heartbeats");
        // An end that came up is up, or waits for the answer to its RESET, or has ended.
        let ended: u64 = stats.ended.iter().sum();
        let up = i128::from(stats.connected) - i128::from(ended) - i128::from(totals.resetting);
        let most = i128::from(2 * (totals.up + totals.half_up));
        hold!(
            broken,
            (most - i128::from(totals.half_up)..=most).contains(&up),
            "LINX {name}: {} connections are up and {} half, {} ends came up, {ended} ended, {} reset",
            totals.up,
            totals.half_up,
            stats.connected,
            totals.resetting
        );
    }
    for totals in outcome.totals.of::<TransferTotals>() {
        let (name, stats) = (&flows[usize::from(totals.flow)].name, &totals.stats);
        let aborted: u64 = stats.aborted.iter().sum();
        hold!(
            broken,
            stats.begun == stats.completed + aborted + totals.under_way,
            "Transfers {name}: {} begun, {} complete, {aborted} aborted, {} under way",
            stats.begun,
            stats.completed,
            totals.under_way
        );
        hold!(
            broken,
            stats.begun <= stats.wanted,
            "Transfers {name}: {} begun of {}",
            stats.begun,
            stats.wanted
        );
        hold!(
            broken,
            stats.times.len() as u64 == stats.completed,
            "Transfers {name}: times of {}",
            stats.completed
        );
        hold!(
            broken,
            stats.opened <= stats.connects,
            "Transfers {name}: {} opened of {}",
            stats.opened,
            stats.connects
        );
    }
    for totals in outcome.totals.of::<InitialiseTotals>() {
        let (name, stats) = (&flows[usize::from(totals.flow)].name, &totals.stats);
        hold!(
            broken,
            stats.ended() <= stats.visits && stats.done <= stats.writes,
            "initialise {name}: {stats:?}"
        );
        hold!(broken, totals.same_value || totals.together == 0, "initialise {name}: {totals:?}");
    }
    for totals in outcome.totals.of::<SessionTotals>() {
        let (name, stats) = (&flows[usize::from(totals.flow)].name, &totals.stats);
        let copies = stats.broadcasts * u64::from(totals.nodes.saturating_sub(1));
        let asked = stats.pdus_sent - stats.broadcasts + copies;
        // A PDU of several messages that are lost is told as lost more than once.
        hold!(
            broken,
            stats.pdus_delivered <= asked,
            "session {name}: {asked} PDUs asked for, {} delivered",
            stats.pdus_delivered
        );
        let copied = totals.multicast || stats.broadcasts + stats.flooded + stats.repeated > 0;
        let waiting = stats.pdus_waiting;
        hold!(
            broken,
            copied || stats.pdus_delivered + waiting <= asked,
            "session {name}: {asked} PDUs asked for, {} delivered, {waiting} wait",
            stats.pdus_delivered
        );
        hold!(
            broken,
            stats.pdu_ps.len() as u64 <= stats.pdus_delivered,
            "session {name}: more taken than delivered"
        );
        for count in &totals.census {
            let (records, leaked) = (2 * count.conduits + count.half_open + count.orphans, count.leaked);
            hold!(broken, records == count.records, "session {name}: {count:?}");
            hold!(broken, leaked <= count.streams && count.streams <= count.allocated, "{name}: {count:?}");
        }
        let grows = |pair: &[models::stats::SessionCount]| {
            pair[0].allocated <= pair[1].allocated && pair[0].octets <= pair[1].octets
        };
        hold!(broken, totals.census.windows(2).all(grows), "session {name}: a census forgets");
        let ends = totals.ends.iter().filter(|end| end.opened.is_some()).map(|end| (end.device, end.peer));
        let ends = ends.collect::<BTreeSet<_>>().len() as u64;
        hold!(
            broken,
            stats.opened.checked_sub(stats.ended).is_some_and(|open| open >= ends && open <= totals.records),
            "session {name}: {} ended, {} opened, {ends} open at the end, {} records",
            stats.ended,
            stats.opened,
            totals.records
        );
    }
    for totals in outcome.totals.of::<ProgramTotals>() {
        let (name, stats) = (&flows[usize::from(totals.flow)].name, &totals.stats);
        hold!(
            broken,
            stats.received <= stats.sent && stats.sent <= stats.wanted,
            "program {name}: {} received, {} sent, {} wanted",
            stats.received,
            stats.sent,
            stats.wanted
        );
        let done = totals.ranks.iter().all(|rank| rank.end.is_some());
        hold!(
            broken,
            !done || stats.received == stats.wanted,
            "program {name}: all ranks are done, and {} of {} messages came",
            stats.received,
            stats.wanted
        );
    }
}

/// A CSV file: its columns by name.
fn columns(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let mut columns: BTreeMap<String, Vec<String>> =
        heads.iter().map(|head| ((*head).to_owned(), Vec::new())).collect();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), heads.len(), "{line}");
        for (head, cell) in heads.iter().zip(cells) {
            columns.get_mut(*head).expect("it is there").push(cell.to_owned());
        }
    }
    columns
}

fn whole(column: &[String]) -> u64 {
    column.iter().map(|cell| cell.parse::<u64>().unwrap_or_else(|_| panic!("{cell} is a count"))).sum()
}

/// Sums of the series are totals of the summary.
fn written(run: &Run, summary: &Value, broken: &mut Vec<String>) {
    let report = &run.report;
    let (outcome, collector) = (&report.run.outcome, &report.run.collector);
    let reports = std::slice::from_ref(report);
    let flows = columns(&series::flows_csv(reports));
    let told = whole(&flows["delivered_packets"]);
    hold!(broken, told == outcome.delivered, "flows.csv has {told} deliveries, of {}", outcome.delivered);
    for (index, data) in collector.flows().iter().enumerate() {
        let name = &report.flows[index].name;
        for (column, octets) in [
            ("delivered_gbps", data.bins.iter().map(|bin| bin.payload).sum::<u64>()),
            ("offered_gbps", data.offered.iter().map(|bin| bin.payload).sum::<u64>()),
        ] {
            let rows = flows[column].iter().zip(&flows["flow"]).filter(|(_, flow)| *flow == name);
            let at = |bin| collector.bin_start(bin).min(report.window.to_ps);
            let width = |bin| Some(at(bin + 1) - at(bin)).filter(|width| *width > 0);
            let told: f64 = rows
                .enumerate()
                .map(|(bin, (rate, _))| {
                    let width = width(bin).unwrap_or_else(|| collector.bin_ps());
                    rate.parse::<f64>().expect("a rate") * width as f64 / 8_000.0
                })
                .sum();
            // Rates have nine digits.
            hold!(
                broken,
                (told - octets as f64).abs() <= 1e-6 * octets as f64 + 1e-6,
                "{name}: {column} of flows.csv makes {told} octets of {octets}"
            );
        }
    }
    let ends = columns(&series::endpoints_csv(reports));
    // Switches take requests to their registers, and answer them.
    let switches = || {
        let totals = (0u32..).zip(collector.endpoint_totals());
        totals.filter(|(device, _)| !collector.is_endpoint(*device)).map(|(_, totals)| totals)
    };
    let asked: u64 = switches().map(|totals| totals.delivered_packets).sum();
    let answers: u64 = switches().map(|totals| totals.offered_packets).sum();
    for (column, total) in
        [("offered_packets", outcome.injected - answers), ("delivered_packets", outcome.delivered - asked)]
    {
        let told = whole(&ends[column]);
        hold!(broken, told == total, "endpoints.csv has {told} {column}, of {total}");
    }
    let octets: u64 = collector.flows().iter().flat_map(|flow| &flow.bins).map(|bin| bin.payload).sum();
    let told =
        whole(&ends["delivered_octets"]) + switches().map(|totals| totals.delivered_payload).sum::<u64>();
    hold!(broken, told == octets, "endpoints.csv has {told} octets, flows {octets}");
    let links = columns(&series::links_csv(reports));
    let fabric = &summary["fabric"];
    for (column, total) in [
        ("packets_sent", &fabric["packet_hops"]),
        ("xoff_edges", &fabric["xoff_edges"]),
        ("xon_edges", &fabric["xon_edges"]),
        ("late_hol", &fabric["late_hol"]),
        ("status_riding", &fabric["symbols"]["status_riding"]),
        ("voq_standalone", &fabric["symbols"]["voq_standalone"]),
        ("voq_received", &fabric["symbols"]["voq_received"]),
    ] {
        let told = whole(&links[column]);
        hold!(broken, told == int(total), "links.csv has {told} {column}, the summary {total}");
    }
    let edges = columns(&series::fabric_csv(reports));
    for (column, total) in [("xoff_edges", &fabric["xoff_edges"]), ("xon_edges", &fabric["xon_edges"])] {
        let told = whole(&edges[column]);
        hold!(broken, told == int(total), "fabric.csv has {told} {column}, the summary {total}");
    }
    let kept = &summary["conservation"];
    let [injected, replicated, delivered, dropped, in_flight] =
        ["injected", "replicated", "delivered", "dropped", "in_flight"].map(|key| int(&kept[key]));
    hold!(broken, injected + replicated == delivered + dropped + in_flight, "conservation: {kept}");
    let histograms: Value = serde_json::from_str(&series::histograms_json(reports)).expect("JSON");
    for flow in summary["flows"].as_array().expect("a list").iter().chain([&summary["overall"]]) {
        let name = flow["name"].as_str().expect("a name");
        let list = histograms["variants"][&report.run.name][name]["latency"].as_array().expect("a list");
        let count: u64 = list.iter().map(|pair| int(&pair[1])).sum();
        let told = int(&flow["delivered_packets"]);
        hold!(broken, count == told, "{name}: {count} in histograms.json, {told} delivered in the summary");
    }
    hold!(
        broken,
        summary["stalls"].as_array().map(Vec::len) == Some(outcome.stalls.len()),
        "stalls of the summary"
    );
    if let Some(text) = series::conduits_csv(reports) {
        let conduits = columns(&text);
        let mut facts = [0; 2];
        use models::probe::ProtocolFact as Fact;
        for stats in &outcome.protocols {
            facts[0] += stats.facts[Fact::ConduitOpen as usize] + stats.facts[Fact::Connected as usize];
            facts[1] += stats.facts[Fact::ConduitEnded as usize] + stats.facts[Fact::Disconnected as usize];
        }
        let told = [whole(&conduits["opened_ends"]), whole(&conduits["ended_ends"])];
        hold!(broken, told == facts, "conduits.csv has {told:?} ends opened and ended, flows {facts:?}");
        let counted: u64 =
            outcome.totals.of::<SessionTotals>().map(|totals| totals.stats.opened).sum::<u64>()
                + outcome.totals.of::<LinxTotals>().map(|totals| totals.stats.connected).sum::<u64>();
        let counted = if outcome.totals.of::<TransferTotals>().next().is_none() { counted } else { told[0] };
        hold!(broken, told[0] == counted, "conduits.csv has {} ends opened, protocols {counted}", told[0]);
    }
    timeouts(run, summary, broken);
}

/// What is on the time line of timeouts is what the summary counts, layer by layer.
fn timeouts(run: &Run, summary: &Value, broken: &mut Vec<String>) {
    let text = series::timeouts_csv(std::slice::from_ref(&run.report));
    let lines = text.as_deref().map(columns).unwrap_or_default();
    let cell = |title: &str, row: usize| lines[title][row].as_str();
    let rows = lines.get("timeouts").map_or(0, Vec::len);
    let told = |wanted: &[&str]| -> u64 {
        let rows = (0..rows).filter(|row| wanted.contains(&cell("waited_for", *row)));
        rows.map(|row| cell("timeouts", row).parse::<u64>().expect("a count")).sum()
    };
    let sum = |key: &str, pointer: &str| -> u64 {
        let parts = summary[key].as_array().map_or(&[][..], Vec::as_slice);
        parts.iter().map(|part| part.pointer(pointer).map_or(0, int)).sum()
    };
    let fact = |fact: ProtocolFact| -> u64 {
        run.report.run.outcome.protocols.iter().map(|stats| stats.facts[fact as usize]).sum()
    };
    let ends: u64 = run.report.run.outcome.links.iter().map(|(.., end)| end.timeouts).sum();
    let there = "heartbeat of a peer that was there";
    let gone = ["heartbeat of a peer that had crashed", "heartbeat over a broken or unwanted way"];
    let supervised = [there, gone[0], gone[1]];
    let operations = told(&["answer in an operation"]);
    for (what, told, counted) in [
        ("false timeouts of LINX", told(&[there]), sum("linx", "/false_timeouts")),
        ("timeouts of LINX", told(&supervised), sum("linx", "/ended_ends/timeout")),
        ("operations of Scheduled Transfer", operations, sum("transfers", "/timeouts")),
        ("Transfers given up", told(&["answer at the last try"]), sum("transfers", "/aborted/timeout")),
        ("streams let go on", told(&["repeated XOFF"]), sum("sessions", "/pdus/resumed_by_timeout")),
        ("links", told(&["acknowledgement", "link-response", "status of buffers"]), ends),
    ] {
        hold!(broken, told == counted, "timeouts.csv has {told} of {counted}: {what}");
    }
    let late = told(&supervised) + told(&["answer to a connect", "answer"]) + operations;
    let facts = fact(ProtocolFact::TimedOut);
    hold!(broken, late == facts, "timeouts.csv has {late} of {facts} timed out");
    // Of these the summary counts more than timeouts, or has them with others.
    for (what, told, most) in [
        ("OPEN", told(&["answer to OPEN"]), sum("sessions", "/failed_opens")),
        (
            "requests",
            told(&["response", "response of a register", "place at the receiver"]),
            fact(ProtocolFact::Failed),
        ),
        (
            "segments",
            told(&["missing segments"]),
            fact(ProtocolFact::Discarded) + fact(ProtocolFact::Abandoned),
        ),
    ] {
        hold!(broken, told <= most, "timeouts.csv has {told} of at most {most}: {what}");
    }
    let all: u64 = (0..rows).map(|row| cell("timeouts", row).parse::<u64>().expect("a count")).sum();
    let seen: u64 = run.report.run.collector.timeouts().values().flat_map(BTreeMap::values).sum();
    hold!(broken, all == seen, "timeouts.csv has {all} of {seen} timeouts");
}

/// What an outcome is, but for what depends on how it was reached.
fn essence(outcome: &Outcome) -> String {
    let mut outcome = outcome.clone();
    outcome.events = 0;
    outcome.wire_checked = Default::default();
    format!("{outcome:?}")
}

fn difference(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let from = (0..=at.saturating_sub(120)).rev().find(|&n| text.is_char_boundary(n)).unwrap_or(0);
        text.chars().skip(text[..from].chars().count()).take(260).collect::<String>()
    };
    format!("{}\ninstead of\n{}", around(b), around(a))
}

/// Files of a run.
fn files(report: &VariantReport) -> String {
    let reports = std::slice::from_ref(report);
    Summary::new("system", reports).to_json()
        + &series::flows_csv(reports)
        + &series::fabric_csv(reports)
        + &series::links_csv(reports)
        + &series::endpoints_csv(reports)
        + &series::histograms_json(reports)
}

/// If the fabric can be cut: wherever it is, two threads and three come to what one came to. Whether it was.
fn threads(variant: &Variant, done: &Run, broken: &mut Vec<String>) -> bool {
    let config = &variant.config;
    let mut is_cut = false;
    let other = RunOptions {
        list: ListKind::Heap,
        pipeline: PipelineMode::Unfolded,
        wire_check: true,
        ..RunOptions::default()
    };
    for (count, lot, options) in [(2, config.seed, RunOptions::default()), (3, config.seed + 1, other)] {
        // No piece without a part, wherever the lot falls.
        let Some(cut) = (lot..lot + 8).find_map(|lot| Partition::by_lot(config, count, lot).ok()) else {
            continue;
        };
        is_cut = true;
        let threads = Threads { count, clock: || 0, ledger: false };
        let own = watch(variant);
        let mut parallel = Parallel::new(Arc::clone(config), options, own, &cut, threads);
        for part in 1..=done.parts {
            if parallel.run(end_of_part(variant, part), u64::MAX) == Progress::Stalled {
                break;
            }
        }
        let (watch, outcome, _) = parallel.finish();
        let (a, b) = (essence(&done.report.run.outcome), essence(&outcome));
        hold!(broken, a == b, "{count} threads: {}", difference(&a, &b));
        hold!(broken, done.ways == watch.ways, "{count} threads: ways {:?}, {:?}", done.ways, watch.ways);
        let (a, b) = (files(&done.report), files(&report(variant, watch.collector, outcome)));
        hold!(broken, a == b, "{count} threads: files: {}", difference(&a, &b));
    }
    is_cut
}

/// Event list, pipeline, samples and the check of octets change nothing.
fn relations(variant: &Variant, done: &Run, broken: &mut Vec<String>) {
    let heap = RunOptions { list: ListKind::Heap, ..RunOptions::default() };
    for (what, options) in
        [("heap", heap), ("unfolded", RunOptions { pipeline: PipelineMode::Unfolded, ..heap })]
    {
        let other = run(variant, options, Some(done.parts));
        let (a, b) = (essence(&done.report.run.outcome), essence(&other.report.run.outcome));
        hold!(broken, a == b, "{what}: {}", difference(&a, &b));
        let (a, b) = (files(&done.report), files(&other.report));
        hold!(broken, a == b, "{what}: files: {}", difference(&a, &b));
    }
    let mut without = variant.clone();
    let config = Arc::make_mut(&mut without.config);
    config.sample_every = match config.sample_every {
        None => Some(models::sim_core::Duration(variant.until.0 / 50 + 1)),
        Some(_) => None,
    };
    let other = run(&without, RunOptions::default(), Some(done.parts));
    let (a, b) = (essence(&done.report.run.outcome), essence(&other.report.run.outcome));
    hold!(broken, a == b, "samples: {}", difference(&a, &b));
}
