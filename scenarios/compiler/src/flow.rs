//! Flows to sources: who sends, when, how much, where to.
//!
//! Each kind of flow is a file with a [`Kind`], and its name in [`KINDS`].

mod answers;
mod arrival;
mod echo;
mod hosts;
mod idle;
mod initialise;
mod linx;
mod messages;
pub(crate) mod outranked;
mod packets;
mod place;
mod program;
mod session;
mod starved;
mod transfer;

use arrival::{Beginnings, ratio};
pub(crate) use program::{expand as expand_program, of as program_of};
pub(crate) use transfer::{Clock, Slowest, slowest};

use crate::compiler::Compiler;
use crate::configure;
use crate::diagnostic::{Diagnostic, Severity};
use crate::fabric::Walk;
use crate::plan::Offered;
use crate::quantities::Quantities;
use crate::spec::*;
use crate::topology::good_name;
use crate::units::{Ratio, time_text};
use hosts::Placed;
use models::config::*;
use models::sim_core::Time;
use program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A kind of flow: what it fills in, checks, and makes of endpoints.
pub(crate) trait Kind: Sync {
    /// Fields of a flow that name it.
    fn keys(&self) -> &'static [&'static str];

    /// How many of its fields the flow has.
    fn named(&self, flow: &FlowSpec) -> usize;

    /// Whether it runs on hosts and not on links alone.
    fn has_hosts(&self) -> bool {
        true
    }

    /// Whether the file says when something is sent.
    fn needs_arrivals(&self) -> bool {
        true
    }

    /// Whether what is sent comes from arrivals, and not from the ends themselves.
    fn has_sources(&self) -> bool {
        true
    }

    /// Writes the defaults of a flow out.
    fn expand(&self, flow: &mut FlowSpec);

    /// Writes the defaults of an endpoint out, if flows use them or the file has some of them.
    fn expand_endpoint(&self, _endpoint: &mut EndpointSpec, _used: bool) {}

    /// Writes out what follows from a setting that overrides may change, for all endpoints and in overrides.
    fn expand_overrides(&self, _endpoint: &mut EndpointSpec, _overrides: &mut [OverrideSpec]) {}

    /// The program that says what is sent.
    fn program<'a>(&self, _flow: &'a FlowSpec) -> Option<&'a ProgramSpec> {
        None
    }

    /// That program, to write its defaults out.
    fn program_mut<'a>(&self, _flow: &'a mut FlowSpec) -> Option<&'a mut ProgramSpec> {
        None
    }

    /// Reads the quantities of a flow.
    fn read(&self, _quantities: &mut Quantities<'_>, _at: &str, _flow: &FlowSpec) {}

    /// Reads the quantities of an endpoint.
    fn read_endpoint(&self, _quantities: &mut Quantities<'_>, _at: &str, _endpoint: &EndpointSpec) {}

    /// Names settings without effect: field, whether it is given, why, what to do.
    fn idle(&self, _flow: &FlowSpec, _idle: &mut dyn FnMut(&str, bool, &str, &str)) {}

    /// Names settings that say nothing beside what else the flow says, and that a sweep or a variant may make
    /// say something: field, whether it is given, why, what to do. That is told, and is no mistake.
    fn spare(&self, _flow: &FlowSpec, _spare: &mut dyn FnMut(&str, bool, &str, &str)) {}

    /// When endpoints of `from` begin, with the field that holds these times.
    fn beginnings(&self, _flow: &FlowSpec) -> Option<(&'static str, Beginnings)> {
        None
    }

    /// Whether the settings of a flow go together.
    fn check(&self, _c: &mut Compiler<'_>, _at: &str, _flow: &FlowSpec) -> bool {
        true
    }

    /// What is sent, with weights.
    fn sizes(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>>;

    /// Mean time that one of them takes on the injection link, in picoseconds, exactly.
    fn mean_time(&self, c: &Compiler<'_>, source: usize, flow: &FlowSpec, sizes: &[Sized]) -> Ratio;

    /// Joins endpoints to hosts of several interfaces. `None` if something is wrong.
    fn hosts(
        &self,
        _c: &mut Compiler<'_>,
        _at: &str,
        _flow: &FlowSpec,
        _places: &mut Vec<(usize, Destinations)>,
        _devices: &BTreeMap<u32, usize>,
    ) -> Option<Hosts> {
        Some(Hosts::new())
    }

    /// What the endpoints of a flow become, by device. `None` if something is wrong.
    fn nodes(
        &self,
        _c: &mut Compiler<'_>,
        _config: &FabricConfig,
        _flow: &FlowSpec,
        _cast: &Cast<'_>,
    ) -> Option<BTreeMap<usize, ProtocolConfig>> {
        Some(BTreeMap::new())
    }
}

/// Kinds of flows. A flow is of the first that it names; the last one needs no name.
pub(crate) const KINDS: &[&dyn Kind] = &[
    &linx::Linx,
    &session::Session,
    &transfer::Transfer,
    &initialise::Initialise,
    &echo::Echo,
    &messages::Messages,
    &packets::Packets,
];

/// The kind of a flow.
pub(crate) fn kind(flow: &FlowSpec) -> &'static dyn Kind {
    *KINDS.iter().find(|kind| kind.named(flow) > 0).unwrap_or(&(&packets::Packets as &dyn Kind))
}

/// How many kinds of traffic a flow names, bare packets included.
fn kinds(flow: &FlowSpec) -> usize {
    KINDS.iter().map(|kind| kind.named(flow)).sum()
}

/// Whether the flow runs on hosts and not on links alone.
pub(crate) fn is_protocol(flow: &FlowSpec) -> bool {
    KINDS.iter().any(|kind| kind.has_hosts() && kind.named(flow) > 0)
}

/// Interfaces of the hosts of a flow, by the device that is the first of each.
pub(crate) type Hosts = BTreeMap<usize, Vec<usize>>;

/// Who takes part in a flow.
pub(crate) struct Cast<'a> {
    /// Place of the flow in the file.
    at: &'a str,
    /// Its index.
    index: u16,
    /// Senders, and where each sends to.
    places: &'a [(usize, Destinations)],
    /// Those that only receive.
    ends: &'a BTreeSet<usize>,
    /// Endpoints by id.
    devices: &'a BTreeMap<u32, usize>,
    hosts: &'a Hosts,
    program: Option<&'a Program>,
}

/// What the flows come to.
#[derive(Default)]
pub(crate) struct Demand {
    pub hot: Vec<u16>,
    pub offered: Vec<Offered>,
}

/// Most flows of a scenario; hot flows of hotspots come on top and still fit a 16-bit index.
const FLOWS_MAX: usize = 10_000;

/// Adds flows and sources to a fabric.
pub(crate) fn compile(c: &mut Compiler<'_>, config: &mut FabricConfig, walk: &Walk) -> Demand {
    let spec = c.spec;
    let mut t = Traffic {
        demand: Demand::default(),
        flows: Vec::new(),
        sources: Vec::new(),
        parts: Vec::new(),
        loads: BTreeMap::new(),
        walk,
    };
    if spec.traffic.is_empty() {
        let message = "there is no traffic";
        c.out.push(Diagnostic::error("SC043", "/traffic", message).help("add at least one flow"));
    }
    if spec.traffic.len() > FLOWS_MAX {
        let message = format!("{} flows are too many", spec.traffic.len());
        c.out.push(
            Diagnostic::error("SC008", "/traffic", message).help(format!("allowed: at most {FLOWS_MAX}")),
        );
        return t.demand;
    }
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, flow) in spec.traffic.iter().enumerate() {
        let at = format!("/traffic/{i}/name");
        if let Err(why) = good_name(&flow.name) {
            c.out.push(Diagnostic::error("SC009", at, why));
        } else if let Some(first) = by_name.get(flow.name.as_str()) {
            let message = format!("a second flow is called \"{}\"", flow.name);
            let finding = Diagnostic::error("SC046", at, message);
            c.out.push(finding.also(format!("/traffic/{first}/name"), "the first one"));
        } else {
            by_name.insert(&flow.name, i);
            t.flows.push(flow.name.clone());
        }
    }
    for (i, flow) in spec.traffic.iter().enumerate() {
        let Some(To::Pattern(ToPattern::Hotspot(hotspot))) = &flow.to else { continue };
        let name = filled(&hotspot.hot_flow);
        let other = by_name.get(name.as_str());
        // Where nobody chose the name nobody meant to have two flows told as one.
        if let Some(other) = other.filter(|_| *name == default_hot_flow(&flow.name)) {
            let message =
                format!("flow \"{name}\" has the name under which hot packets of \"{}\" are told", flow.name);
            let finding = Diagnostic::error("SC046", format!("/traffic/{other}/name"), message);
            let help = format!("another name here, or a \"hot_flow\" of \"{}\"", flow.name);
            c.out.push(finding.help(help).also(format!("/traffic/{i}/to/hotspot"), "they are these"));
            continue;
        }
        let at = format!("/traffic/{i}/to/hotspot/hot_flow");
        if let Some(&other) = other.filter(|&&other| is_protocol(&spec.traffic[other])) {
            let message = format!("flow \"{name}\" counts what its protocol carries, and no single packets");
            let finding =
                Diagnostic::error("SC046", at, message).also(format!("/traffic/{other}"), "this one");
            c.out.push(finding.help("another name, or that of a flow of packets"));
        } else if c.host.is_some() && configure::is_of_host(name) {
            let message = format!("\"{name}\" is the flow of the host that sets the fabric up");
            c.out.push(Diagnostic::error("SC046", at, message).help("another name"));
        }
    }
    for (i, flow) in spec.traffic.iter().enumerate() {
        t.flow(c, config, i, flow);
    }
    t.warn_overload(c);
    if let Some(host) = &c.host {
        let reads = |part: &Placed| match &part.node {
            Some(ProtocolConfig::Session(node)) => node.contacts == ContactSource::Registers,
            _ => initialise::is_processor(part),
        };
        let name = if t.parts.iter().any(reads) { configure::REGISTERS } else { configure::FLOW };
        let (device, flow) = (host.config.host as usize, t.index(name));
        t.parts.push(Placed { device, flow, source: None, node: None });
    }
    config.flows = t.flows.into_iter().map(|name| FlowConfig { name }).collect();
    // Sources in the order of their devices: neighbours in memory belong to one actor.
    t.sources.sort_by_key(|source| (source.endpoint, source.flow));
    config.sources = t.sources;
    let of_linx = starved::of_linx(c, &t.parts);
    config.agents = hosts::agents(c, t.parts);
    starved::by_retry(c, config);
    // Of one place one thing is told, and this is the rarer one.
    of_linx.into_iter().for_each(|finding| c.once(finding));
    transfer::crowds(c, config);
    session::timers::warn(c, config);
    linx::timers::warn(c, config);
    answers::warn(c, config);
    t.demand
}

struct Traffic<'w> {
    demand: Demand,
    flows: Vec<String>,
    sources: Vec<SourceConfig>,
    parts: Vec<Placed>,
    loads: BTreeMap<usize, Vec<Asks>>,
    walk: &'w Walk,
}

/// What a flow asks of the injection link of a source.
struct Asks {
    load: Ratio,
    from: Time,
    /// When it stops, or is expected to have made as many packets as it may.
    until: Time,
}

/// The most that flows ask of a link at a time, with when that begins, and whether it goes on to the end of
/// the run.
fn most(asks: &[Asks], end: Time) -> (Ratio, Time, bool) {
    let mut all: Vec<&Asks> = asks.iter().collect();
    all.sort_by_key(|asks| asks.from);
    let sum = |active: &[&Asks]| {
        active.iter().fold(Ratio::whole(0), |sum: Ratio, own| sum.plus(own.load).unwrap_or(sum))
    };
    let (mut active, mut now): (Vec<&Asks>, Ratio) = (Vec::new(), Ratio::whole(0));
    let mut most = (Ratio::whole(0), Time::ZERO, false);
    for (n, own) in all.iter().enumerate() {
        let before = active.len();
        active.retain(|other| other.until > own.from);
        if active.len() < before {
            now = sum(&active);
        }
        active.push(own);
        now = now.plus(own.load).unwrap_or(now);
        // Others may begin at the same time.
        let is_whole = all.get(n + 1).is_none_or(|next| next.from > own.from);
        if is_whole && most.0.is_below(now) {
            most = (now, own.from, active.iter().all(|own| own.until >= end));
        }
    }
    most
}

/// A payload with its weight and its length without what a link adds.
pub(crate) type Sized = (u32, PacketSize);

impl Traffic<'_> {
    fn index(&mut self, name: &str) -> u16 {
        let found = self.flows.iter().position(|flow| flow == name);
        found.unwrap_or_else(|| {
            self.flows.push(name.to_owned());
            self.flows.len() - 1
        }) as u16
    }

    fn flow(&mut self, c: &mut Compiler<'_>, config: &FabricConfig, i: usize, flow: &FlowSpec) {
        let at = format!("/traffic/{i}");
        let index = self.index(&flow.name);
        let kind = kind(flow);
        let right = idle::check(c, &at, flow);
        let before = c.out.len();
        program::check(c, &at, flow);
        if c.out.len() > before || !kind.check(c, &at, flow) || !right {
            return;
        }
        if let Some(ArrivalSpec::Trace(trace)) = &flow.arrivals {
            let endpoints = c.graph.endpoints.clone();
            crate::medium::check_flow(c, &at, flow, &endpoints);
            self.trace(c, &at, index, flow, trace);
            return;
        }
        // The messages of programs have lengths of their own.
        let has_program = program::of(flow).is_some();
        let sizes = if has_program { Some(none()) } else { kind.sizes(c, &at, flow) };
        let sources = self.senders(c, &at, flow);
        if let Some(sources) = &sources {
            crate::medium::check_flow(c, &at, flow, sources);
        }
        let (start, stop) = arrival::window(c, &at, flow);
        if flow.arrivals.is_none() && kind.needs_arrivals() {
            let finding = Diagnostic::error("SC005", at, "field \"arrivals\" is missing");
            c.out.push(
                finding.help("only flows of session management, LINX and Scheduled Transfer do without"),
            );
            return;
        }
        let Some(to) = flow.to.as_ref().or(has_program.then_some(&To::Id(0))) else {
            c.out.push(
                Diagnostic::error("SC005", at, "field \"to\" is missing").help("only a trace does without"),
            );
            return;
        };
        let (Some(sizes), Some(sources)) = (sizes, sources) else { return };
        let mut program = None;
        let mut places = if has_program {
            let Some(own) = Program::new(c, &at, flow, &sources) else { return };
            let places = own.places.clone();
            program = Some(own);
            places
        } else {
            let Some(places) = self.places(c, &at, to, index, &sources) else { return };
            places
        };
        let devices = devices(c);
        let Some(hosts) = kind.hosts(c, &at, flow, &mut places, &devices) else { return };
        let Some(ends) = self::ends(c, &at, flow, &places) else { return };
        if let Some((key, beginnings)) = kind.beginnings(flow) {
            beginnings.check(c, &format!("{at}/{key}"), &places);
        }
        let (hosts, program) = (&hosts, program.as_ref());
        let cast = Cast { at: &at, index, places: &places, ends: &ends, devices: &devices, hosts, program };
        let nodes = kind.nodes(c, config, flow, &cast);
        let Some(mut nodes) = nodes else { return };
        if let Some(program) = program {
            program.assign(&mut nodes);
        }
        let mix = Arc::new(sizes.clone());
        let mut used = 0;
        let mut loads: Option<[Ratio; 2]> = None;
        for (source, destinations) in places {
            self.check_reach(c, &at, source, &destinations);
            let time = if has_program { Ratio::whole(1) } else { kind.mean_time(c, source, flow, &sizes) };
            let stream = format!("{}/{}/0", c.graph.nodes[source].name, flow.name);
            let Some((arrivals, own)) = arrival::arrivals(c, &at, flow, time, &stream) else {
                if !c.out.iter().any(|item| item.severity == Severity::Error) {
                    let message = "the arrivals need numbers that do not fit 64 bits";
                    c.out.push(
                        Diagnostic::error("SC040", format!("{at}/arrivals"), message)
                            .help("use rounder numbers"),
                    );
                }
                return;
            };
            if let Some(own) = own {
                let [least, most] = loads.unwrap_or([own; 2]);
                let least = if own.is_below(least) { own } else { least };
                loads = Some([least, if most.is_below(own) { own } else { most }]);
                let lasts = flow.limit.and_then(|limit| {
                    time.over(own)?.times(Ratio::whole(limit.into()))?.rounded()?.checked_add(start.0)
                });
                let until = lasts.map_or(stop, |end| stop.min(Time(end)));
                self.loads.entry(source).or_default().push(Asks { load: own, from: start, until });
            }
            let config = SourceConfig {
                endpoint: source as u32,
                flow: index,
                stream,
                priority: match flow.vc {
                    Some(vc @ 1..) => vc_priority(vc),
                    _ => *filled(&flow.priority),
                },
                start,
                stop,
                goes_on: stop >= c.run.until,
                limit: if flow.arrivals.is_some() { flow.limit.unwrap_or(u64::MAX) } else { 0 },
                arrivals,
                destinations,
                sizes: match &sizes[..] {
                    [(_, one)] => Sizes::Fixed(*one),
                    _ => Sizes::Mix(Arc::clone(&mix)),
                },
                ftype: flow.packet.map_or(0, |kind| packets::class(kind).ftype()),
            };
            if kind.has_hosts() {
                let node = nodes.remove(&source);
                let (device, source) = (source, kind.has_sources().then_some(config));
                self.parts.push(Placed { device, flow: index, source, node });
            } else {
                self.sources.push(config);
            }
            used += 1;
        }
        self.parts.extend(ends.into_iter().map(|device| {
            let node = nodes.remove(&device);
            Placed { device, flow: index, source: None, node }
        }));
        // What stands between the ends.
        self.parts.extend(nodes.into_iter().filter_map(|(device, node)| {
            matches!(node, ProtocolConfig::Translator(_)).then(|| Placed {
                device,
                flow: index,
                source: None,
                node: Some(node),
            })
        }));
        if used == 0 {
            let message = format!("flow \"{}\" sends nothing: no source has a destination", flow.name);
            let help = "add sources or destinations: no source sends to itself, nor one that is not \
                        \"among\" those of its pattern";
            c.out.push(Diagnostic::error("SC047", at, message).help(help));
        }
        let [load, load_most] = [0, 1].map(|which| loads.and_then(|loads| loads[which].pair()));
        self.demand.offered.push(Offered { flow: index, sources: used, load, load_most });
    }

    fn warn_overload(&self, c: &mut Compiler<'_>) {
        let end = c.run.until;
        let all = self.loads.iter().map(|(device, asks)| (*device, most(asks, end)));
        let mut over = all.filter(|(_, (load, ..))| load.above_one());
        let Some((first, (load, from, lasts))) = over.next() else { return };
        let concerned = 1 + over.count();
        let since = if from > Time::ZERO { format!(" from {} on", time_text(from.0)) } else { String::new() };
        let grows = if lasts { "without bound" } else { "until one of them is over" };
        let message = format!(
            "the flows offer \"{}\" {load} of what its link carries{since}; its source queue grows {grows}",
            c.graph.nodes[first].name
        );
        let finding = Diagnostic::warning("SC070", "/traffic", message);
        let help = format!("{concerned} endpoints are concerned");
        c.out.push(if concerned > 1 { finding.help(help) } else { finding });
    }
}

/// The flow under which hot packets of a flow are told, unless the file names another.
pub(crate) fn default_hot_flow(flow: &str) -> String {
    format!("{flow}.hot")
}

/// Sizes where something else says how much is sent.
fn none() -> Vec<Sized> {
    vec![(1, PacketSize { payload: 0, wire: 0 })]
}

/// Sizes of a flow with hosts, with their weights, each of which `check` has allowed: the wire has nothing
/// to say about them.
fn mix(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    check: &mut dyn FnMut(&mut Compiler<'_>, &str, u32) -> Option<()>,
) -> Option<Vec<Sized>> {
    let parts: Vec<(u32, u32, String)> = match filled(&flow.size) {
        SizeSpec::Fixed(payload) => vec![(1, *payload, format!("{at}/size"))],
        SizeSpec::Mix(list) => {
            let at = |i: usize| format!("{at}/size/{i}/payload");
            list.iter().enumerate().map(|(i, part)| (part.weight, part.payload, at(i))).collect()
        }
    };
    let mut sizes = Vec::new();
    for (weight, payload, pointer) in parts {
        check(c, &pointer, payload)?;
        if weight > 0 {
            sizes.push((weight, PacketSize { payload: payload as u16, wire: 0 }));
        }
    }
    if sizes.is_empty() {
        let message = "the weights do not sum to a positive 32-bit number";
        c.once(Diagnostic::error("SC008", format!("{at}/size"), message));
        return None;
    }
    Some(sizes)
}

/// Says what octets are allowed, unless these are.
fn fits(
    c: &mut Compiler<'_>,
    at: &str,
    what: &str,
    octets: u32,
    (fits, allowed): (bool, String),
) -> Option<()> {
    if fits {
        return Some(());
    }
    let message = format!("a {what} cannot have {octets} octets");
    c.once(Diagnostic::error("SC041", at, message).help(format!("allowed: {allowed}")));
    None
}

/// Endpoints that receive what these sources send. Empty for traffic without hosts.
fn ends(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    places: &[(usize, Destinations)],
) -> Option<BTreeSet<usize>> {
    let mut ends = BTreeSet::new();
    if !is_protocol(flow) {
        return Some(ends);
    }
    let devices = devices(c);
    for (_, destinations) in places {
        let Some(ids) = destinations.listed() else {
            let message = "a hot spot is made of packets, not of messages, streams or requests";
            let help = "make two flows, one to the hot endpoints and one to all";
            c.once(Diagnostic::error("SC048", format!("{at}/to"), message).help(help));
            return None;
        };
        for id in ids {
            match devices.get(id) {
                Some(&device) => {
                    ends.insert(device);
                }
                None => {
                    let message = "a multicast group receives no messages, streams or requests";
                    c.once(Diagnostic::error("SC048", format!("{at}/to"), message).help("name endpoints"));
                    return None;
                }
            }
        }
    }
    for (source, _) in places {
        ends.remove(source);
    }
    Some(ends)
}

/// Endpoints by id.
fn devices(c: &Compiler<'_>) -> BTreeMap<u32, usize> {
    c.graph.endpoints.iter().map(|&device| (c.ids[device], device)).collect()
}
