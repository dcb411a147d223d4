//! Flows of which nothing is sent on, because something of a higher priority always is.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use models::config::*;
use models::path::Roads;
use std::collections::{BTreeMap, BTreeSet};

/// A port by which a switch sends on.
type Output = (u32, u8);

/// Sources that always have a packet to send, and what they leave to others.
struct Rulers<'a> {
    config: &'a FabricConfig,
    roads: Roads<'a>,
    /// By endpoint.
    greedy: BTreeMap<u32, Vec<&'a SourceConfig>>,
    /// Outputs that one of them keeps busy.
    kept: BTreeMap<Output, Vec<&'a SourceConfig>>,
}

/// Whether it has something to send from its start to the end of the run.
fn is_greedy(source: &SourceConfig) -> bool {
    let goes_on = source.goes_on && source.limit == u64::MAX;
    goes_on && matches!(source.arrivals, Arrivals::Saturated { .. }) && source.priority <= HIGHEST
}

/// Priorities above it are virtual channels.
const HIGHEST: u8 = PRIORITIES as u8 - 1;

/// Whether packets of `ruler` always go before those of `other`, as long as there are any.
fn outranks(ruler: &SourceConfig, other: &SourceConfig) -> bool {
    other.priority < ruler.priority && ruler.start <= other.start
}

/// Endpoints to which others may send. `None`: that is not known, because hosts answer, packets of traces go
/// where they say, and groups have members.
fn heard(config: &FabricConfig) -> Option<BTreeSet<u32>> {
    let (mut heard, mut known) = (BTreeSet::new(), BTreeSet::new());
    if !config.agents.is_empty() {
        return None;
    }
    for source in &config.sources {
        let lists: [&[u32]; 2] = match &source.destinations {
            Destinations::Replay => return None,
            Destinations::Hotspot { hot, cold, .. } => [hot, cold],
            others => [others.listed().unwrap_or_default(), &[]],
        };
        // Sources share their lists.
        for ids in lists.into_iter().filter(|ids| ids.len() == 1 || known.insert(ids.as_ptr())) {
            for id in ids {
                let owner = config.owners.get(*id as usize).filter(|owner| **owner != NO_OWNER);
                heard.insert(*owner?);
            }
        }
    }
    Some(heard)
}

impl<'a> Rulers<'a> {
    fn new(config: &'a FabricConfig) -> Self {
        let mut greedy: BTreeMap<u32, Vec<&SourceConfig>> = BTreeMap::new();
        for source in config.sources.iter().filter(|source| is_greedy(source)) {
            greedy.entry(source.endpoint).or_default().push(source);
        }
        let mut all = Self { config, roads: Roads::new(config), greedy, kept: BTreeMap::new() };
        all.keep();
        all
    }

    /// Finds the outputs of which a source has all of the time: nothing at its endpoint goes before it or in
    /// turn with it, it sends to one other, and its link brings packets as fast as the output sends them on,
    /// undisturbed by acknowledgements of what comes the other way.
    fn keep(&mut self) {
        let config = self.config;
        let Some(heard) = heard(config) else { return };
        let mut at_endpoint: BTreeMap<u32, Vec<&SourceConfig>> = BTreeMap::new();
        for source in &config.sources {
            at_endpoint.entry(source.endpoint).or_default().push(source);
        }
        let mut known = BTreeMap::new();
        for source in self.greedy.values().flatten() {
            let (Destinations::Fixed(to), Sizes::Fixed(size)) = (&source.destinations, &source.sizes) else {
                continue;
            };
            let rivals = at_endpoint[&source.endpoint].iter().filter(|own| !outranks(source, own)).count();
            if rivals > 1 || heard.contains(&source.endpoint) {
                continue;
            }
            let path = self.roads.path(source.endpoint, *to).map(|path| path.at(source.priority));
            let Some(path) = path.filter(|path| path.hops.len() > 1) else { continue };
            let packet = [size.wire.into()];
            if path.sustained(&packet, &mut known) <= path.hops[1].busy(&packet)
                && let Some(output) = self.way(source.endpoint, *to).first()
            {
                self.kept.entry(*output).or_default().push(source);
            }
        }
        // Whoever goes first there has it.
        for rulers in self.kept.values_mut() {
            rulers.sort_by_key(|source| std::cmp::Reverse(source.priority));
        }
    }

    /// The outputs of switches by which packets of an endpoint reach an id; none if they do not.
    fn way(&self, from: u32, to: u32) -> Vec<Output> {
        self.roads.senders(from, to).map_or(Vec::new(), |senders| senders[1..].to_vec())
    }

    /// Whose packets go before those of a source: where, and of which source. At its endpoint (no output), or
    /// at an output that all of them pass.
    fn over(&self, source: &SourceConfig) -> Option<(Option<Output>, &'a SourceConfig)> {
        let here = self.greedy.get(&source.endpoint).into_iter().flatten().copied();
        if let Some(ruler) = here.filter(|ruler| outranks(ruler, source)).max_by_key(|ruler| ruler.priority) {
            return Some((None, ruler));
        }
        if self.kept.is_empty() {
            return None;
        }
        let (first, others) = source.destinations.listed()?.split_first()?;
        let mut common = self.way(source.endpoint, *first);
        for id in others {
            let way = self.way(source.endpoint, *id);
            common.retain(|output| way.contains(output));
            if common.is_empty() {
                return None;
            }
        }
        common.into_iter().find_map(|output| {
            let ruler = self.kept.get(&output)?.iter().find(|ruler| outranks(ruler, source))?;
            Some((Some(output), *ruler))
        })
    }
}

/// Warns of flows all of whose packets stand behind others of a higher priority for as long as the run lasts.
/// Backpressure can stop those others, and so can faults: where there are any, nothing is said.
pub(crate) fn warn(c: &mut Compiler<'_>, config: &FabricConfig) {
    let stages = |device: &DeviceConfig| match &device.model {
        DeviceModel::Switch(switch) => switch.detector.is_some() || !switch.port_rules.is_empty(),
        DeviceModel::Endpoint(_) => false,
    };
    let damaged =
        |damage: &Damage| damage.errors.is_some() || !damage.packets.is_empty() || !damage.symbols.is_empty();
    let sound = config.symbolic.iter().flat_map(|link| &link.damage).all(|damage| !damaged(damage));
    if !sound
        || !config.faults.is_empty()
        || !config.sources.iter().any(is_greedy)
        || config.devices.iter().any(stages)
    {
        return;
    }
    let rulers = Rulers::new(config);
    let mut flows: BTreeMap<u16, Vec<&SourceConfig>> = BTreeMap::new();
    for source in &config.sources {
        flows.entry(source.flow).or_default().push(source);
    }
    for (flow, sources) in flows {
        let over: Option<Vec<_>> = sources.iter().map(|source| rulers.over(source)).collect();
        let Some(&(place, ruler)) = over.as_ref().and_then(|all| all.first()) else { continue };
        let name = &config.flows[usize::from(flow)].name;
        let (whose, from) =
            (&config.flows[usize::from(ruler.flow)].name, &config.devices[ruler.endpoint as usize].path);
        let reason = match place {
            None => format!("\"{from}\" always has packets of \"{whose}\" to send"),
            Some((device, port)) => {
                let output = c.graph.port_name((device as usize, port));
                format!("packets of \"{whose}\" from \"{from}\" keep \"{output}\" busy")
            }
        };
        let message = format!(
            "nothing of \"{name}\" gets on: {reason}, which have a higher priority and no end{}",
            if sources.len() > 1 { "; so it is at each of its sources" } else { "" }
        );
        let at = c.spec.traffic.iter().position(|own| own.name == *name);
        let at = at.map_or("/traffic".to_owned(), |n| format!("/traffic/{n}"));
        let help = "the same priority, a load of less than 1, or an end (stop, limit) of the other flow";
        c.once(Diagnostic::warning("SC125", at, message).help(help));
    }
}
