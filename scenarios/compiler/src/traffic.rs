//! Flows to sources: who sends, when, how much, where to.

use crate::compile::{Compiler, no_match};
use crate::configure;
use crate::diagnostic::{Diagnostic, Severity};
use crate::effect;
use crate::fabric::{Fate, Walk};
use crate::names;
use crate::plan::Offered;
use crate::program::Program;
use crate::protocols::{self, Placed};
use crate::resolved::filled;
use crate::session::{self, Member};
use crate::spec::*;
use crate::topology::{good_name, shortened};
use crate::units::{self, Ratio};
use models::config::*;
use models::lp_serial::cost::{AddressSize, IdSize, PacketClass, packet_bytes};
use models::sim_core::{Duration, Purpose, Stream, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the flows come to.
#[derive(Default)]
pub(crate) struct Demand {
    pub(crate) hot: Vec<u16>,
    pub(crate) offered: Vec<Offered>,
}

/// Most flows of a scenario; hot flows of hotspots come on top and still fit a 16-bit index.
const FLOWS_MAX: usize = 10_000;

/// A load with many digits counts in parts of this.
const LOAD_PARTS: u128 = 10_000_000_000;

/// Most bursts, in the mean, from one packet to the next.
const BURSTS_MAX: u64 = 1_000;

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
        t.flow(c, config, i, flow);
    }
    t.warn_overload(c);
    if let Some(host) = &c.host {
        let (device, flow) = (host.config.host as usize, t.index(configure::FLOW));
        t.parts.push(Placed { device, flow, source: None, node: None });
    }
    config.flows = t.flows.into_iter().map(|name| FlowConfig { name }).collect();
    // Sources in the order of their devices: neighbours in memory belong to one actor.
    t.sources.sort_by_key(|source| (source.endpoint, source.flow));
    config.sources = t.sources;
    config.agents = protocols::agents(c, t.parts);
    t.demand
}

struct Traffic<'w> {
    demand: Demand,
    flows: Vec<String>,
    sources: Vec<SourceConfig>,
    parts: Vec<Placed>,
    loads: BTreeMap<usize, Ratio>,
    walk: &'w Walk,
}

/// A payload with its weight and its length on an 8b/10b link.
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
        let right = effect::flow(c, &at, flow);
        if (protocols::is_protocol(flow) && !protocols::check(c, &at, flow)) || !right {
            return;
        }
        if let Some(ArrivalSpec::Trace(trace)) = &flow.arrivals {
            let endpoints = c.graph.endpoints.clone();
            crate::medium::check_flow(c, &at, flow, &endpoints);
            self.trace(c, &at, index, flow, trace);
            return;
        }
        let protocol = protocols::is_protocol(flow);
        let sizes = if protocol { protocols::sizes(c, &at, flow) } else { sizes(c, &at, flow) };
        let sources = self.senders(c, &at, flow);
        if let Some(sources) = &sources {
            crate::medium::check_flow(c, &at, flow, sources);
        }
        let (start, stop) = window(c, &at, flow);
        let does_without = flow.linx.is_some() || flow.session.is_some() || flow.st.is_some();
        if flow.arrivals.is_none() && !does_without {
            let finding = Diagnostic::error("SC005", at, "field \"arrivals\" is missing");
            c.out.push(
                finding.help("only flows of session management, LINX and Scheduled Transfer do without"),
            );
            return;
        }
        let has_program = crate::program::of(flow).is_some();
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
            let Some(places) = self.places(c, &at, flow, to, index, &sources) else { return };
            places
        };
        let devices = protocols::devices(c);
        let Some(hosts) = crate::transfer::hosts(c, &at, flow, &mut places, &devices) else { return };
        let Some(ends) = protocols::ends(c, &at, flow, &places) else { return };
        let nodes = if flow.session.is_some() {
            self.nodes(c, &at, flow, &places, &ends)
        } else if flow.linx.is_some() {
            crate::linx::nodes(c, &at, flow, &places, &devices)
        } else if flow.st.is_some() {
            crate::transfer::ends(
                c,
                config,
                (&at, index),
                flow,
                &places,
                (&devices, &hosts, program.as_ref()),
            )
        } else {
            Some(BTreeMap::new())
        };
        let Some(mut nodes) = nodes else { return };
        if let Some(program) = &program {
            program.assign(&mut nodes);
        }
        let mut used = 0;
        let mut load = None;
        for (source, destinations) in places {
            self.check_reach(c, &at, source, &destinations);
            let (sizes, time) = if protocol {
                (sizes.clone(), protocols::mean_time(c, source, flow, &sizes))
            } else {
                let sizes = on_link(c, source, &sizes);
                let time = mean_packet_time(c, source, &sizes);
                (sizes, time)
            };
            let stream = format!("{}/{}/0", c.graph.nodes[source].name, flow.name);
            let Some((arrivals, own)) = self.arrivals(c, &at, flow, time, &stream) else {
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
                load = own.pair();
                let sum = self.loads.entry(source).or_insert(Ratio::whole(0));
                *sum = sum.plus(own).unwrap_or(*sum);
            }
            let config = SourceConfig {
                endpoint: source as u32,
                flow: index,
                stream,
                priority: match flow.vc {
                    Some(vc @ 1..) => vc_priority(vc),
                    _ => flow.priority.unwrap_or(0),
                },
                start,
                stop,
                limit: if flow.arrivals.is_some() { flow.limit.unwrap_or(u64::MAX) } else { 0 },
                arrivals,
                destinations,
                sizes: match &sizes[..] {
                    [(_, one)] => Sizes::Fixed(*one),
                    _ => Sizes::Mix(Arc::new(sizes)),
                },
            };
            if protocol {
                let node = nodes.remove(&source);
                // Transfers are asked for by the ends themselves.
                let (device, source) = (source, flow.st.is_none().then_some(config));
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
        if used == 0 {
            let message =
                format!("flow \"{}\" sends nothing: every source would send to itself only", flow.name);
            c.out.push(Diagnostic::error("SC047", at, message).help("add sources or destinations"));
        }
        self.demand.offered.push(Offered { flow: index, sources: used, load });
    }

    /// Nodes of session management, by device.
    fn nodes(
        &self,
        c: &mut Compiler<'_>,
        at: &str,
        flow: &FlowSpec,
        places: &[(usize, Destinations)],
        ends: &BTreeSet<usize>,
    ) -> Option<BTreeMap<usize, ProtocolConfig>> {
        let all = |destinations: &Destinations| match destinations {
            Destinations::Fixed(id) => Arc::new(vec![*id]),
            Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => Arc::clone(ids),
            _ => Arc::default(),
        };
        let openers = places.iter().zip(0..).map(|((device, destinations), position)| {
            let own = c.ids[*device];
            let mut peers = all(destinations);
            if peers.contains(&own) {
                Arc::make_mut(&mut peers).retain(|&peer| peer != own);
            }
            Member { device: *device, peers: Some(peers), position }
        });
        let others = ends.iter().map(|&device| Member { device, peers: None, position: 0 });
        let members = openers.chain(others).collect();
        let nodes = session::nodes(c, at, flow, members)?;
        let node = |(device, node)| (device, ProtocolConfig::Session(Box::new(node)));
        Some(nodes.into_iter().map(node).collect())
    }

    /// Endpoints that send.
    fn senders(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<usize>> {
        let Some(from) = &flow.from else {
            let finding = Diagnostic::error("SC005", at, "field \"from\" is missing");
            c.out.push(finding.help("only a trace does without"));
            return None;
        };
        endpoints(c, &format!("{at}/from"), from)
    }

    /// Source and destinations of every sender.
    fn places(
        &mut self,
        c: &mut Compiler<'_>,
        at: &str,
        flow: &FlowSpec,
        to: &To,
        index: u16,
        sources: &[usize],
    ) -> Option<Vec<(usize, Destinations)>> {
        let at = format!("{at}/to");
        let fixed = |id: u32| Some(sources.iter().map(|&s| (s, Destinations::Fixed(id))).collect());
        match to {
            To::Name(name) => fixed(destination(c, &at, name)?),
            To::Id(id) => {
                let known = c.ids.contains(id) || c.groups.values().any(|group| group == id);
                if !known {
                    let message = format!("destination id {id} belongs to nobody");
                    c.out.push(Diagnostic::error("SC011", at, message));
                    return None;
                }
                fixed(*id)
            }
            To::Pattern(pattern) => self.pattern(c, &at, flow, pattern, index, sources),
        }
    }

    fn pattern(
        &mut self,
        c: &mut Compiler<'_>,
        at: &str,
        flow: &FlowSpec,
        pattern: &ToPattern,
        index: u16,
        sources: &[usize],
    ) -> Option<Vec<(usize, Destinations)>> {
        match pattern {
            ToPattern::Uniform(spec) => {
                let devices = among(c, &format!("{at}/uniform/among"), spec.among.as_ref())?;
                let ids = Arc::new(devices.iter().map(|&d| c.ids[d]).collect::<Vec<u32>>());
                let place = positions(&devices);
                let own = |s: usize| place.get(&s).copied();
                let keep_self = spec.include_self == Some(true);
                let places = sources.iter().filter_map(|&s| {
                    let except = if keep_self { None } else { own(s) };
                    let some = ids.len() > usize::from(except.is_some());
                    some.then(|| (s, Destinations::Uniform { ids: Arc::clone(&ids), except }))
                });
                Some(places.collect())
            }
            ToPattern::Permutation(spec) => {
                let devices = among(c, &format!("{at}/permutation/among"), spec.among.as_ref())?;
                let seed = spec.seed.unwrap_or(c.seed);
                match permutation(spec.kind, devices.len(), seed) {
                    Ok(map) => Some(mapped(c, sources, &devices, &map)),
                    Err(why) => {
                        let message = format!("{} endpoints take part: {why}", devices.len());
                        let finding = Diagnostic::error("SC045", format!("{at}/permutation/kind"), message);
                        c.out.push(finding.help("choose others with \"among\", or the kind \"random\""));
                        None
                    }
                }
            }
            ToPattern::Tornado(spec) => {
                let devices = among(c, &format!("{at}/tornado/among"), spec.among.as_ref())?;
                let n = devices.len();
                let map: Vec<usize> = (0..n).map(|i| (i + n.div_ceil(2) - 1) % n).collect();
                Some(mapped(c, sources, &devices, &map))
            }
            ToPattern::Neighbour(spec) => {
                let devices = among(c, &format!("{at}/neighbour/among"), spec.among.as_ref())?;
                let n = devices.len();
                let map: Vec<usize> = (0..n).map(|i| (i + 1) % n).collect();
                Some(mapped(c, sources, &devices, &map))
            }
            ToPattern::Incast(spec) => {
                let id = destination(c, &format!("{at}/incast/target"), &spec.target)?;
                let others = sources.iter().filter(|&&s| c.ids[s] != id);
                Some(others.map(|&s| (s, Destinations::Fixed(id))).collect())
            }
            ToPattern::Cycle(list) => {
                let mut ids = Vec::new();
                for (i, name) in list.iter().enumerate() {
                    ids.push(destination(c, &format!("{at}/cycle/{i}"), name)?);
                }
                if ids.is_empty() {
                    let message = "the list is empty";
                    c.out.push(
                        Diagnostic::error("SC008", format!("{at}/cycle"), message).help("name at least one"),
                    );
                    return None;
                }
                let ids = Arc::new(ids);
                Some(sources.iter().map(|&s| (s, Destinations::Cycle(Arc::clone(&ids)))).collect())
            }
            ToPattern::Hotspot(spec) => self.hotspot(c, &format!("{at}/hotspot"), flow, spec, index, sources),
        }
    }

    fn hotspot(
        &mut self,
        c: &mut Compiler<'_>,
        at: &str,
        flow: &FlowSpec,
        spec: &HotspotSpec,
        index: u16,
        sources: &[usize],
    ) -> Option<Vec<(usize, Destinations)>> {
        let hot = endpoints(c, &format!("{at}/hot"), &spec.hot)?;
        let share = ratio(c, &format!("{at}/share"), &spec.share)?;
        if share.num == 0 || share.above_one() {
            let message = format!("a share of {share} is not possible");
            let finding = Diagnostic::error("SC008", format!("{at}/share"), message);
            c.out.push(finding.help("allowed: more than 0, at most 1"));
            return None;
        }
        let Some((numerator, denominator)) = share.pair() else {
            let finding = Diagnostic::error("SC008", format!("{at}/share"), "the share has too many digits");
            c.out.push(finding.help("use rounder numbers"));
            return None;
        };
        let name = spec.hot_flow.clone().unwrap_or_else(|| format!("{}.hot", flow.name));
        if let Err(why) = good_name(&name) {
            c.out.push(Diagnostic::error("SC009", format!("{at}/hot_flow"), why));
            return None;
        }
        let hot_flow = self.index(&name);
        if hot_flow != index && !self.demand.hot.contains(&hot_flow) {
            self.demand.hot.push(hot_flow);
        }
        let cold: Vec<usize> = c.graph.endpoints.iter().copied().filter(|d| !hot.contains(d)).collect();
        let of = |list: &[usize]| Arc::new(list.iter().map(|&d| c.ids[d]).collect::<Vec<u32>>());
        let (hot_ids, cold_ids) = (of(&hot), of(&cold));
        let (hot_place, cold_place) = (positions(&hot), positions(&cold));
        let mut places = Vec::new();
        for &s in sources {
            let (hot_except, cold_except) = (hot_place.get(&s).copied(), cold_place.get(&s).copied());
            let some_hot = hot.len() > usize::from(hot_except.is_some());
            let some_cold = cold.len() > usize::from(cold_except.is_some());
            places.push((
                s,
                match (some_hot, some_cold) {
                    (true, true) => Destinations::Hotspot {
                        hot: Arc::clone(&hot_ids),
                        hot_except,
                        hot_flow,
                        numerator,
                        denominator,
                        cold: Arc::clone(&cold_ids),
                        cold_except,
                    },
                    // The only hot endpoint sends to the others alone, and the reverse.
                    (false, true) => {
                        Destinations::Uniform { ids: Arc::clone(&cold_ids), except: cold_except }
                    }
                    (true, false) => Destinations::Uniform { ids: Arc::clone(&hot_ids), except: hot_except },
                    (false, false) => continue,
                },
            ));
        }
        Some(places)
    }

    /// Reports destinations of a source that its packets do not reach.
    fn check_reach(&self, c: &mut Compiler<'_>, at: &str, source: usize, destinations: &Destinations) {
        let Some((_, switch, _)) = c.neighbours[source][0] else { return };
        if !c.graph.is_switch(switch) {
            let all = |ids: &[u32]| ids.iter().all(|id| *id == c.ids[switch] || *id == c.ids[source]);
            let reached = match destinations {
                Destinations::Fixed(id) => *id == c.ids[switch],
                Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => all(ids),
                Destinations::Hotspot { hot, cold, .. } => all(hot) && all(cold),
                Destinations::Replay => true,
            };
            if !reached {
                let name = |device: usize| c.graph.nodes[device].name.clone();
                let message = format!(
                    "\"{}\" is linked to \"{}\" alone and reaches nobody else",
                    name(source),
                    name(switch)
                );
                let help = "link both to a switch, or send to each other only";
                c.once(Diagnostic::error("SC020", format!("{at}/to"), message).help(help));
            }
            return;
        }
        if self.walk.lost.is_empty() {
            return;
        }
        let lost = |id: &&u32| {
            // A loop is an error of the routing, reported once for the whole fabric.
            self.walk.lost.get(&(**id, switch as u32)).is_some_and(|fate| !matches!(fate, Fate::Loop(_)))
                && c.ids[source] != **id
        };
        let bad = match destinations {
            Destinations::Fixed(id) => Some(id).filter(lost),
            Destinations::Cycle(ids) => ids.iter().find(lost),
            Destinations::Uniform { ids, .. } => ids.iter().find(lost),
            Destinations::Hotspot { hot, cold, .. } => hot.iter().chain(cold.iter()).find(lost),
            Destinations::Replay => None,
        };
        let Some(&id) = bad else { return };
        let name = |device: usize| c.graph.nodes[device].name.clone();
        let target = c.ids.iter().position(|own| *own == id).map_or_else(|| id.to_string(), name);
        let why = match &self.walk.lost[&(id, switch as u32)] {
            Fate::Dropped(switch) => format!("switch \"{}\" has no route for it", name(*switch as usize)),
            Fate::Loop(_) => return,
            Fate::Astray(device) => format!("it arrives at \"{}\"", name(*device as usize)),
        };
        let message =
            format!("a packet from \"{}\" to \"{target}\" (id {id}) does not arrive: {why}", name(source));
        let help = "add a link, a route or a default route, or send elsewhere";
        c.once(Diagnostic::error("SC020", format!("{at}/to"), message).help(help));
    }

    /// Arrival process of one source whose packets (or messages) take the link for `packet` ps in the mean,
    /// and its load if it has one.
    fn arrivals(
        &self,
        c: &mut Compiler<'_>,
        at: &str,
        flow: &FlowSpec,
        packet: Ratio,
        stream: &str,
    ) -> Option<(Arrivals, Option<Ratio>)> {
        let at = format!("{at}/arrivals");
        let Some(process) = &flow.arrivals else {
            // Conduits without PDUs: the limit is 0.
            return Some((Arrivals::Constant { interval: (1, 1), phase: Duration(0) }, None));
        };
        match process {
            ArrivalSpec::Poisson(spec) => {
                let load = load(c, &format!("{at}/poisson/load"), &spec.load)?;
                let mean = packet.over(load).and_then(Ratio::rounded)?;
                Some((Arrivals::Poisson { mean: Duration(mean.max(1)) }, Some(load)))
            }
            ArrivalSpec::Bernoulli(spec) => {
                let pointer = format!("{at}/bernoulli/load");
                let load = load(c, &pointer, &spec.load)?;
                let slot = match &spec.slot {
                    Some(slot) => slot.get().max(1),
                    None => u64::try_from(packet.num.div_ceil(packet.den)).ok()?,
                };
                let chance = load.times(Ratio::whole(u128::from(slot)))?.over(packet)?;
                if chance.above_one() {
                    let message = format!("a load of {load} needs more than one packet in a slot");
                    c.once(Diagnostic::error("SC040", pointer, message).help("make the slot shorter"));
                    return None;
                }
                let (numerator, denominator) = chance.pair()?;
                Some((Arrivals::Bernoulli { slot: Duration(slot), numerator, denominator }, Some(load)))
            }
            ArrivalSpec::Constant(spec) => {
                let (interval, load) = match (&spec.load, &spec.interval) {
                    (Some(share), None) => {
                        let load = load(c, &format!("{at}/constant/load"), share)?;
                        (packet.over(load)?, load)
                    }
                    (None, Some(text)) => {
                        let pointer = format!("{at}/constant/interval");
                        let interval = Ratio::whole(u128::from(text.get()));
                        let Some(load) = packet.over(interval).filter(|load| !load.above_one()) else {
                            let shortest = units::time_text(packet.rounded().unwrap_or(0));
                            let message = format!("\"{text}\" is shorter than a packet");
                            let help = format!("a packet takes {shortest} on this link");
                            c.once(Diagnostic::error("SC040", pointer, message).help(help));
                            return None;
                        };
                        (interval, load)
                    }
                    _ => {
                        let message = "give \"load\" or \"interval\", and not both";
                        c.once(Diagnostic::error("SC005", format!("{at}/constant"), message));
                        return None;
                    }
                };
                let interval = interval.pair()?;
                let phase = match filled(&spec.phase).get() {
                    Period::Time(phase) => phase,
                    Period::Auto | Period::Off => {
                        Stream::new(c.seed, stream, Purpose::PHASE).below(interval.0.div_ceil(interval.1))
                    }
                };
                Some((Arrivals::Constant { interval, phase: Duration(phase) }, Some(load)))
            }
            ArrivalSpec::OnOff(spec) => {
                let pointer = format!("{at}/on_off/load");
                let load = load(c, &pointer, &spec.load)?;
                let (on, off) = (spec.on.get(), spec.off.get());
                if on == 0 {
                    let message = "a burst of no length carries nothing";
                    c.once(Diagnostic::error("SC008", format!("{at}/on_off/on"), message));
                    return None;
                }
                let whole = Ratio::whole(u128::from(on) + u128::from(off));
                let peak = load.times(whole)?.over(Ratio::whole(u128::from(on)))?;
                if peak.above_one() {
                    let message = format!("a load of {load} needs {peak} of the link within bursts");
                    let help = "lower the load, or make the bursts longer than the pauses";
                    c.once(Diagnostic::error("SC040", pointer, message).help(help));
                    return None;
                }
                let interval = packet.over(peak).and_then(Ratio::rounded)?;
                if interval / BURSTS_MAX > on {
                    let message = format!("a packet needs the time of {} bursts", interval / on);
                    let help =
                        format!("allowed: at most {BURSTS_MAX}; make the bursts longer, or use \"poisson\"");
                    c.once(Diagnostic::error("SC008", format!("{at}/on_off/on"), message).help(help));
                    return None;
                }
                let (on, off, interval) = (Duration(on), Duration(off), Duration(interval.max(1)));
                Some((Arrivals::OnOff { on, off, interval }, Some(load)))
            }
            ArrivalSpec::Saturated(spec) => {
                Some((Arrivals::Saturated { backlog: spec.backlog.unwrap_or(4) }, None))
            }
            ArrivalSpec::Trace(_) => None,
        }
    }

    fn trace(&mut self, c: &mut Compiler<'_>, at: &str, index: u16, flow: &FlowSpec, trace: &TraceSpec) {
        let rows_at = format!("{at}/arrivals/trace");
        let rows = trace.rows.as_deref().unwrap_or_default();
        let mut by_source: BTreeMap<usize, Vec<ReplayPacket>> = BTreeMap::new();
        let owned = c.ids.iter().enumerate().filter(|(_, id)| **id != NO_OWNER);
        let owners: BTreeMap<u32, usize> = owned.map(|(device, &id)| (id, device)).collect();
        let mut faults = 0;
        for (i, row) in rows.iter().enumerate() {
            match trace_row(c, &owners, row) {
                Ok((source, packet)) => by_source.entry(source).or_default().push(packet),
                Err(why) => {
                    faults += 1;
                    const FAULTS_MAX: usize = 5;
                    if faults <= FAULTS_MAX {
                        let message = format!("packet {} of the trace (\"{row}\"): {why}", i + 1);
                        let help = "a line is time_ps,src,dst,bytes,prio,ftype";
                        c.out.push(Diagnostic::error("SC044", rows_at.clone(), message).help(help));
                    }
                }
            }
        }
        if rows.is_empty() {
            let message = "the trace has no packets";
            c.once(Diagnostic::error("SC044", rows_at, message).help("give \"file\" or \"rows\""));
        }
        let (start, stop) = window(c, at, flow);
        let sources = by_source.len() as u32;
        for (source, mut packets) in by_source {
            packets.sort_by_key(|packet| packet.at);
            self.check_reach(
                c,
                at,
                source,
                &Destinations::Cycle(Arc::new(packets.iter().map(|p| p.destination).collect())),
            );
            self.sources.push(SourceConfig {
                endpoint: source as u32,
                flow: index,
                stream: format!("{}/{}/0", c.graph.nodes[source].name, flow.name),
                priority: flow.priority.unwrap_or(0),
                start,
                stop,
                limit: flow.limit.unwrap_or(u64::MAX),
                arrivals: Arrivals::Replay(Arc::new(packets)),
                destinations: Destinations::Replay,
                sizes: Sizes::Replay,
            });
        }
        self.demand.offered.push(Offered { flow: index, sources, load: None });
    }

    fn warn_overload(&self, c: &mut Compiler<'_>) {
        let over: Vec<usize> =
            self.loads.iter().filter(|(_, load)| load.above_one()).map(|(d, _)| *d).collect();
        let Some(&first) = over.first() else { return };
        let message = format!(
            "the flows offer \"{}\" {} of what its link carries; its source queue grows without bound",
            c.graph.nodes[first].name, self.loads[&first]
        );
        let finding = Diagnostic::warning("SC070", "/traffic", message);
        let help = format!("{} endpoints are concerned", over.len());
        c.out.push(if over.len() > 1 { finding.help(help) } else { finding });
    }
}

/// Endpoints that patterns select.
fn endpoints(c: &mut Compiler<'_>, at: &str, patterns: &Names) -> Option<Vec<usize>> {
    let devices = c.graph.endpoints.clone();
    let names: Vec<&str> = devices.iter().map(|&d| c.graph.nodes[d].name.as_str()).collect();
    match names::select(patterns.patterns(), &names) {
        Ok(hits) if !hits.is_empty() => Some(hits.into_iter().map(|i| devices[i]).collect()),
        Ok(_) => {
            let finding = Diagnostic::error("SC011", at, "selects no endpoint at all");
            c.out.push(finding);
            None
        }
        Err(pattern) => {
            let switch = c.graph.find(&pattern).is_some();
            let help = match switch {
                true => format!("\"{pattern}\" is a switch; only endpoints send and receive"),
                false => format!("endpoints: {}", shortened(names.iter().copied())),
            };
            let place = element(at, patterns, &pattern);
            let finding = Diagnostic::error("SC011", place, no_match("endpoint", &pattern)).help(help);
            let finding =
                if switch { finding } else { finding.did_you_mean_name(&pattern, names.iter().copied()) };
            c.out.push(finding);
            None
        }
    }
}

/// Place of one pattern of a list.
pub(crate) fn element(at: &str, names: &Names, pattern: &str) -> String {
    match names {
        Names::One(_) => at.to_owned(),
        Names::Many(list) => {
            list.iter().position(|p| p == pattern).map_or_else(|| at.to_owned(), |i| format!("{at}/{i}"))
        }
    }
}

fn among(c: &mut Compiler<'_>, at: &str, names: Option<&Names>) -> Option<Vec<usize>> {
    match names {
        Some(names) => endpoints(c, at, names),
        None => Some(c.graph.endpoints.clone()),
    }
}

/// Destination id of a name: an endpoint, a multicast group, or digits.
fn destination(c: &mut Compiler<'_>, at: &str, name: &str) -> Option<u32> {
    if let Some(id) = known_destination(c, name) {
        return Some(id);
    }
    let endpoints = c.graph.endpoints.iter().map(|&d| c.graph.nodes[d].name.as_str());
    let names: Vec<&str> = endpoints.chain(c.groups.keys().map(String::as_str)).collect();
    let message = format!("there is no endpoint or multicast group \"{name}\"");
    let finding = Diagnostic::error("SC011", at, message)
        .help(format!("destinations: {}", shortened(names.iter().copied())))
        .did_you_mean_name(name, names.iter().copied());
    c.out.push(finding);
    None
}

fn known_destination(c: &Compiler<'_>, name: &str) -> Option<u32> {
    let device = c.graph.find(name).filter(|&d| !c.graph.is_switch(d));
    device.map(|d| c.ids[d]).or_else(|| c.groups.get(name).copied())
}

/// Position of every device in a list.
fn positions(devices: &[usize]) -> BTreeMap<usize, u32> {
    devices.iter().zip(0..).map(|(&device, position)| (device, position)).collect()
}

/// Positions to destinations; who is mapped to itself sends nothing.
fn mapped(
    c: &Compiler<'_>,
    sources: &[usize],
    devices: &[usize],
    map: &[usize],
) -> Vec<(usize, Destinations)> {
    let place: BTreeMap<usize, usize> = devices.iter().enumerate().map(|(i, &d)| (d, i)).collect();
    let target = |source: usize| place.get(&source).map(|&i| devices[map[i]]).filter(|&t| t != source);
    sources.iter().filter_map(|&s| Some((s, Destinations::Fixed(c.ids[target(s)?])))).collect()
}

/// Image of every position under a permutation.
pub(crate) fn permutation(kind: PermutationKind, n: usize, seed: u64) -> Result<Vec<usize>, String> {
    if kind == PermutationKind::Random {
        return Ok(random_cycle(n, seed));
    }
    if !n.is_power_of_two() {
        return Err("their number is not a power of two".into());
    }
    let bits = n.trailing_zeros();
    let reverse = |i: usize| if bits == 0 { i } else { i.reverse_bits() >> (usize::BITS - bits) };
    match kind {
        PermutationKind::BitComplement => Ok((0..n).map(|i| !i & (n - 1)).collect()),
        PermutationKind::BitReverse => Ok((0..n).map(reverse).collect()),
        PermutationKind::Transpose if !bits.is_multiple_of(2) => {
            Err("their number is not a power of four, so it is no square".into())
        }
        PermutationKind::Transpose => {
            let half = bits / 2;
            Ok((0..n).map(|i| (i >> half) | (i << half) & (n - 1)).collect())
        }
        PermutationKind::Shuffle => {
            Ok((0..n).map(|i| if bits == 0 { i } else { (i << 1 | i >> (bits - 1)) & (n - 1) }).collect())
        }
        PermutationKind::Random => unreachable!("handled above"),
    }
}

/// Sattolo's algorithm: a random permutation that is one cycle, so nobody is mapped to itself.
fn random_cycle(n: usize, seed: u64) -> Vec<usize> {
    // SplitMix64 (Steele, Lea, Flood 2014): fixed here because a library may change its stream.
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut map: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        let j = ((u128::from(next()) * i as u128) >> 64) as usize;
        map.swap(i, j);
    }
    map
}

/// Ratio of a share.
fn ratio(c: &mut Compiler<'_>, at: &str, share: &Share) -> Option<Ratio> {
    match share.read() {
        Ok(value) => Some(value),
        Err(why) => {
            let help = "allowed: a number (0.3), a percentage (\"30 %\") or a fraction (\"1/3\")";
            c.once(Diagnostic::error("SC007", at, why).help(help));
            None
        }
    }
}

/// A load: more than 0, at most 1.
fn load(c: &mut Compiler<'_>, at: &str, share: &Share) -> Option<Ratio> {
    // A negative number is a load out of range before it is a text that cannot be read.
    let value = if share.is_negative() { Ratio::whole(0) } else { ratio(c, at, share)? };
    if value.num == 0 || value.above_one() {
        let message = format!("a load of {share} cannot be offered");
        let help = "allowed: more than 0, at most 1 (the link is busy all the time)";
        c.once(Diagnostic::error("SC040", at, message).help(help));
        return None;
    }
    if value.num <= u128::from(u32::MAX) && value.den <= 1_000_000_000_000 {
        return Some(value);
    }
    // What a program computed has 17 digits, of which the last ones say nothing.
    let parts = value.times(Ratio::whole(LOAD_PARTS)).and_then(Ratio::rounded).unwrap_or(0);
    if parts == 0 {
        let message = format!("a load of {share} is too small");
        c.once(Diagnostic::error("SC040", at, message).help("allowed: at least 0.0000000001"));
        return None;
    }
    Some(Ratio::new(u128::from(parts), LOAD_PARTS))
}

/// Start and stop of a flow.
fn window(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> (Time, Time) {
    let until = c.run.until.0;
    // Programs and Transfers say themselves when they start.
    let start = flow.start.as_ref().map_or(0, Quantity::get);
    let stop = flow.stop.as_ref().map_or(until, Quantity::get);
    if start >= stop {
        let (key, what) = if flow.stop.is_some() { ("stop", "stops") } else { ("start", "starts") };
        let message = format!(
            "flow \"{}\" {what} too {}: it would run from {} to {}",
            flow.name,
            if key == "stop" { "early" } else { "late" },
            units::time_text(start),
            units::time_text(stop)
        );
        c.once(Diagnostic::error("SC050", format!("{at}/{key}"), message).help("start < stop <= run.until"));
    }
    (Time(start), Time(stop))
}

fn class(kind: PacketKind) -> PacketClass {
    match kind {
        PacketKind::Nwrite => PacketClass::Write,
        PacketKind::Swrite => PacketClass::StreamWrite,
        PacketKind::Nread => PacketClass::Read,
        PacketKind::DataStreaming => PacketClass::DataStreamingStart,
        PacketKind::Doorbell => PacketClass::Doorbell,
        PacketKind::Message => PacketClass::Message,
        PacketKind::Response => PacketClass::Response,
    }
}

pub(crate) fn id_size(c: &Compiler<'_>) -> IdSize {
    if c.id_bits == 8 { IdSize::Dev8 } else { IdSize::Dev16 }
}

/// Sizes of a flow on an 8b/10b link.
fn sizes(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>> {
    let kind = class(flow.packet.unwrap_or(PacketKind::Nwrite));
    let address = match flow.address_bits {
        Some(66) => AddressSize::Bits66,
        Some(50) => AddressSize::Bits50,
        _ => AddressSize::Bits34,
    };
    let parts: Vec<(u32, u32, String)> = match flow.size.as_ref()? {
        SizeSpec::Fixed(payload) => vec![(1, *payload, format!("{at}/size"))],
        SizeSpec::Mix(list) => {
            let at = |i: usize| format!("{at}/size/{i}/payload");
            list.iter().enumerate().map(|(i, part)| (part.weight, part.payload, at(i))).collect()
        }
    };
    let total: u64 = parts.iter().map(|part| u64::from(part.0)).sum();
    if total == 0 || total > u64::from(u32::MAX) {
        let message = "the weights do not sum to a positive 32-bit number";
        c.once(Diagnostic::error("SC008", format!("{at}/size"), message));
        return None;
    }
    let mut sizes = Vec::new();
    for (weight, payload, pointer) in parts {
        match packet_bytes(kind, id_size(c), payload, address) {
            Ok(wire) => sizes.push((weight, PacketSize { payload: payload as u16, wire: wire as u16 })),
            Err(error) => {
                let message = format!("a packet cannot carry {payload} octets");
                c.once(Diagnostic::error("SC041", pointer, message).help(error.to_string()));
                return None;
            }
        }
    }
    // A weight of 0 is never drawn.
    sizes.retain(|(weight, _)| *weight > 0);
    Some(sizes)
}

/// Sizes on the injection link of a source: a 64b/67b link adds its own CRC.
fn on_link(c: &Compiler<'_>, source: usize, sizes: &[Sized]) -> Vec<Sized> {
    let Some((link, _, _)) = c.neighbours[source][0] else { return sizes.to_vec() };
    let symbol = c.wires[link].symbol;
    let longer = |size: PacketSize| PacketSize {
        wire: symbol.packet_bytes_on_link(u32::from(size.wire)) as u16,
        ..size
    };
    sizes.iter().map(|&(weight, size)| (weight, longer(size))).collect()
}

/// Mean time that a packet with its delimiter keeps the injection link busy, in picoseconds, exactly.
fn mean_packet_time(c: &Compiler<'_>, source: usize, sizes: &[Sized]) -> Ratio {
    let Some((link, _, _)) = c.neighbours[source][0] else { return Ratio::whole(1) };
    let wire = &c.wires[link];
    let delimiter = u128::from(wire.symbol.delimiter_chars());
    let weights: u128 = sizes.iter().map(|(w, _)| u128::from(*w)).sum();
    let chars: u128 =
        sizes.iter().map(|(w, size)| u128::from(*w) * (u128::from(size.wire) + delimiter)).sum();
    let one = wire.rate.character_ps(wire.width);
    Ratio::new(chars * u128::from(one.numerator), weights.max(1) * u128::from(one.denominator))
}

/// One line of a trace: source device and packet.
fn trace_row(
    c: &Compiler<'_>,
    owners: &BTreeMap<u32, usize>,
    row: &str,
) -> Result<(usize, ReplayPacket), String> {
    let fields: Vec<&str> = row.split(',').map(str::trim).collect();
    let [time, src, dst, bytes, prio, ftype] = fields[..] else {
        return Err(format!("{} fields instead of 6", fields.len()));
    };
    let id = |text: &str| match known_destination(c, text) {
        Some(id) => Some(id),
        None => text.parse().ok().filter(|id| owners.contains_key(id) || c.groups.values().any(|g| g == id)),
    };
    let at = time.parse::<u64>().map_err(|_| format!("\"{time}\" is not a time in picoseconds"))?;
    let source = id(src).and_then(|id| owners.get(&id).copied());
    let source = source.ok_or_else(|| format!("\"{src}\" is not an endpoint"))?;
    let destination = id(dst).ok_or_else(|| format!("\"{dst}\" is not a destination"))?;
    let payload = bytes.parse::<u32>().map_err(|_| format!("\"{bytes}\" is not a number of octets"))?;
    let priority = prio.parse::<u8>().ok().filter(|p| *p < 4);
    let priority = priority.ok_or_else(|| format!("\"{prio}\" is not a priority from 0 to 3"))?;
    let kind = match ftype {
        "2" => PacketClass::Read,
        "5" => PacketClass::Write,
        "6" => PacketClass::StreamWrite,
        "9" => PacketClass::DataStreamingStart,
        "10" => PacketClass::Doorbell,
        "11" => PacketClass::Message,
        "13" => PacketClass::Response,
        other => return Err(format!("type {other} is not one of 2, 5, 6, 9, 10, 11, 13")),
    };
    let wire = packet_bytes(kind, id_size(c), payload, AddressSize::Bits34).map_err(|e| e.to_string())?;
    let size = on_link(c, source, &[(1, PacketSize { payload: payload as u16, wire: wire as u16 })])[0].1;
    Ok((source, ReplayPacket { at: Time(at), destination, size, priority }))
}
