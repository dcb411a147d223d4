//! Flows of processors that initialise the registers of session management of other devices.
//!
//! What there is to do at a node follows from all flows together: which parts it leaves to others, and whose
//! stage comes when. So [`assign`] hands out the work when all ends are known.

use super::hosts::Placed;
use super::{Beginnings, Cast, Kind, Sized};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::quantities::Quantities;
use crate::spec::*;
use crate::topology::shortened;
use crate::units::Ratio;
use models::agent::initialise::{ProcessorConfig, Task, Visit};
use models::config::{Announcement, FabricConfig, ProtocolConfig};
use models::session_management::attribute::Attributes;
use models::session_management::initialise::{MAX_STAGE, Work};
use models::session_management::register::Contact;
use models::sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Flows of such processors.
pub(super) struct Initialise;

fn spec(flow: &FlowSpec) -> &InitialiseSpec {
    filled(&flow.initialise)
}

impl Kind for Initialise {
    fn keys(&self) -> &'static [&'static str] {
        &["initialise"]
    }

    fn named(&self, flow: &FlowSpec) -> usize {
        usize::from(flow.initialise.is_some())
    }

    fn needs_arrivals(&self) -> bool {
        false
    }

    fn has_sources(&self) -> bool {
        false
    }

    fn expand(&self, flow: &mut FlowSpec) {
        let Some(initialise) = &mut flow.initialise else { return };
        for time in [&mut initialise.at, &mut initialise.offset] {
            time.get_or_insert_with(|| "0 ps".into());
        }
        initialise.stage.get_or_insert(1);
        initialise.poll.get_or_insert_with(|| "1 ms".into());
    }

    fn read(&self, quantities: &mut Quantities<'_>, at: &str, flow: &FlowSpec) {
        let Some(InitialiseSpec { at: begin, offset, poll, .. }) = &flow.initialise else { return };
        let at = format!("{at}/initialise");
        quantities.value(&format!("{at}/at"), begin.as_ref());
        quantities.value(&format!("{at}/offset"), offset.as_ref());
        let at = format!("{at}/poll");
        let given = quantities.value(&at, poll.as_ref());
        quantities.patience(at, given == Some(0));
    }

    fn idle(&self, flow: &FlowSpec, idle: &mut dyn FnMut(&str, bool, &str, &str)) {
        let (why, help) = ("processors read and write registers, one after the other", "leave it out");
        idle("arrivals", flow.arrivals.is_some(), why, help);
        idle("size", flow.size.is_some(), why, help);
        idle("limit", flow.limit.is_some(), why, help);
        let help = "use initialise.at and initialise.offset";
        idle("start", flow.start.is_some(), why, help);
        idle("stop", flow.stop.is_some(), why, help);
    }

    fn beginnings(&self, flow: &FlowSpec) -> Option<(&'static str, Beginnings)> {
        flow.initialise.as_ref().map(|own| ("initialise", beginnings(own)))
    }

    fn check(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
        let (code, key, message, help) = if super::kinds(flow) > 1 {
            let help = "one flow, one kind: give what is sent a flow of its own";
            ("SC048", "initialise", "the flow initialises registers and sends something else", help)
        } else if c.host.is_none() {
            let help = "set up the fabric by a host (configure.fabric), or leave the flow out";
            ("SC096", "initialise", "nobody gives devices their registers", help)
        } else if flow.priority == Some(3) {
            let help = "allowed: 0 to 2; a response takes the priority above that of its request";
            ("SC008", "priority", "requests cannot have priority 3", help)
        } else {
            return true;
        };
        c.out.push(Diagnostic::error(code, format!("{at}/{key}"), message).help(help));
        false
    }

    fn sizes(&self, _: &mut Compiler<'_>, _: &str, _: &FlowSpec) -> Option<Vec<Sized>> {
        Some(super::none())
    }

    fn mean_time(&self, _: &Compiler<'_>, _: usize, _: &FlowSpec, _: &[Sized]) -> Ratio {
        Ratio::whole(1)
    }

    fn nodes(
        &self,
        c: &mut Compiler<'_>,
        _: &FabricConfig,
        flow: &FlowSpec,
        cast: &Cast<'_>,
    ) -> Option<BTreeMap<usize, ProtocolConfig>> {
        let spec = spec(flow);
        let beginnings = beginnings(spec);
        let mut ends = BTreeMap::new();
        let visited: Arc<ProcessorConfig> = Arc::default();
        for &device in cast.ends {
            ends.insert(device, ProtocolConfig::Plugged(visited.clone()));
        }
        for ((device, destinations), position) in cast.places.iter().zip(0_u64..) {
            let ids = destinations.listed().unwrap_or_default();
            let own = c.ids[*device];
            let mut seen = BTreeSet::new();
            let others = ids.iter().filter(|&&id| id != own && seen.insert(id));
            let config = ProcessorConfig {
                at: Time(beginnings.of(position)),
                lock: spec.lock.unwrap_or(own as u16),
                poll: filled(&spec.poll).get(),
                attempts: spec.attempts.unwrap_or(u32::MAX),
                priority: *filled(&flow.priority),
                visits: others.map(|&id| Visit { node: id as u16, task: None, shared: false }).collect(),
            };
            ends.insert(*device, ProtocolConfig::Plugged(Arc::new(config)));
        }
        Some(ends)
    }
}

/// When the endpoints of a flow begin.
fn beginnings(own: &InitialiseSpec) -> Beginnings {
    Beginnings { first: filled(&own.at).get(), offset: filled(&own.offset).get(), spread: 0 }
}

/// What is known of the registers of a node.
struct Registers {
    device: usize,
    announcement: Announcement,
    /// Those of its blocks in their order, then that of its Component Tag.
    contacts: Vec<Contact>,
    own: BTreeSet<RegisterPart>,
    blocks: u8,
}

/// A stage of a node, and the flows that do it.
struct Stage {
    flows: Vec<u16>,
    writes: BTreeSet<RegisterPart>,
}

fn processor(placed: &Placed) -> Option<&ProcessorConfig> {
    placed.node.as_ref()?.plugged()
}

/// Whether this end visits others, and is not only visited.
pub(super) fn is_processor(placed: &Placed) -> bool {
    processor(placed).is_some_and(|config| !config.visits.is_empty())
}

/// The registers of all nodes, by their ids.
fn registers(parts: &[Placed]) -> BTreeMap<u16, Registers> {
    let mut nodes = BTreeMap::new();
    for placed in parts {
        let Some(ProtocolConfig::Session(node)) = &placed.node else { continue };
        let mut own = BTreeSet::new();
        own.extend(node.own.contact.then_some(RegisterPart::Contact));
        own.extend(node.own.periods.then_some(RegisterPart::Periods));
        let (announcement, contacts, blocks) = (node.directory[&node.node], node.announced(), node.blocks);
        if blocks == 0 {
            // A Component Tag says no periods.
            own.remove(&RegisterPart::Periods);
        }
        nodes.insert(node.node, Registers { device: placed.device, announcement, contacts, own, blocks });
    }
    nodes
}

/// Hands out what processors have to do at nodes, stage by stage.
pub(super) fn assign(c: &mut Compiler<'_>, parts: &mut [Placed]) {
    let nodes = registers(parts);
    let left_to_others = nodes.values().any(|node| node.own.len() < RegisterPart::ALL.len());
    // Of flows that are wrong themselves nobody knows what they do.
    if c.has_errors() || !left_to_others && !parts.iter().any(|placed| processor(placed).is_some()) {
        return;
    }
    let before = c.out.len();
    let mut next_of_own = BTreeMap::new();
    let mut work: BTreeMap<(u16, u16), Task> = BTreeMap::new();
    for (&id, node) in &nodes {
        let Some(stages) = stages(c, id, node, parts) else { continue };
        let numbers: Vec<u8> = stages.keys().copied().collect();
        let next = |stage: u8| numbers.iter().copied().find(|number| *number > stage).unwrap_or(0);
        next_of_own.insert(id, if node.own.is_empty() { 0 } else { next(1) });
        for (&number, stage) in &stages {
            let writes = |part| stage.writes.contains(&part);
            let mut contacts = node.contacts.iter().copied().filter(|_| writes(RegisterPart::Contact));
            let attributes = match writes(RegisterPart::Periods) {
                true => node.announcement.attributes(),
                false => Attributes::default(),
            };
            let next = next(number);
            let block = |contact| Work { stage: number, next, contact, attributes: attributes.clone() };
            let blocks = (0..node.blocks).map(|_| block(contacts.next())).collect();
            let task = Task { blocks, tag: contacts.next() };
            work.extend(stage.flows.iter().map(|&flow| ((flow, id), task.clone())));
        }
    }
    if c.out.len() > before {
        return;
    }
    let shared = shared_locks(c, parts, &work);
    for placed in parts {
        let flow = placed.flow;
        if let Some(config) = processor(placed).filter(|config| !config.visits.is_empty()) {
            let mut config = config.clone();
            for visit in &mut config.visits {
                visit.task = work.get(&(flow, visit.node)).cloned();
                visit.shared = shared.contains(&(visit.node, config.lock));
            }
            placed.node = Some(ProtocolConfig::Plugged(Arc::new(config)));
        } else if let Some(ProtocolConfig::Session(node)) = &mut placed.node {
            node.own.next = next_of_own.get(&node.node).copied().unwrap_or(0);
        }
    }
}

/// The stages of a node that flows do, by their numbers. Nothing if they do not make a whole.
fn stages(c: &mut Compiler<'_>, id: u16, node: &Registers, parts: &[Placed]) -> Option<BTreeMap<u8, Stage>> {
    let spec = c.spec;
    let visits = |placed: &&Placed| {
        processor(placed).is_some_and(|config| config.visits.iter().any(|visit| visit.node == id))
    };
    let flows: BTreeSet<u16> = parts.iter().filter(visits).map(|placed| placed.flow).collect();
    let all = BTreeSet::from(RegisterPart::ALL);
    if node.own == all || node.blocks == 0 && !node.own.is_empty() {
        // There is nothing left to do.
        return Some(BTreeMap::new());
    }
    let name = c.graph.nodes[node.device].name.clone();
    let no = |c: &mut Compiler<'_>, at: String, message: String, help: &str| {
        c.once(Diagnostic::error("SC096", at, message).help(help));
        None
    };
    let mut written: BTreeMap<RegisterPart, u16> = BTreeMap::new();
    let mut stages: BTreeMap<u8, Stage> = BTreeMap::new();
    for flow in flows {
        let own = self::spec(&spec.traffic[usize::from(flow)]);
        let at = format!("/traffic/{flow}/initialise");
        let stage = *filled(&own.stage);
        let rest = || all.difference(&node.own).copied().collect();
        let writes: BTreeSet<RegisterPart> =
            own.writes.as_ref().map_or_else(rest, |list| list.iter().copied().collect());
        if stage == 1 && !node.own.is_empty() {
            let message = format!("stage 1 of \"{name}\" is what it writes itself");
            return no(c, format!("{at}/stage"), message, "use stage 2 and those after it");
        }
        if let Some(other) = stages.get_mut(&stage) {
            if other.writes == writes {
                // They do the same: who comes first does it.
                other.flows.push(flow);
                continue;
            }
            let message = format!("another flow writes something else in stage {stage} of \"{name}\"");
            let help = "give each a stage of its own, or let both write the same";
            let finding = Diagnostic::error("SC096", format!("{at}/stage"), message).help(help);
            c.once(finding.also(format!("/traffic/{}/initialise", other.flows[0]), "the other flow"));
            return None;
        }
        for &part in &writes {
            let twice = match (node.own.contains(&part), written.insert(part, flow)) {
                (true, _) => format!("\"{name}\" writes its {} itself", part.name()),
                (_, Some(_)) => format!("another flow writes the {} of \"{name}\" already", part.name()),
                _ => continue,
            };
            let help = "let each part be written once: endpoint.session.writes, initialise.writes";
            return no(c, format!("{at}/writes"), twice, help);
        }
        if node.blocks == 0 && (stage != 1 || !writes.contains(&RegisterPart::Contact)) {
            let message = format!("\"{name}\" has no register block, and a Component Tag has one stage");
            return no(c, at, message, "let one flow of stage 1 write its contact");
        }
        stages.insert(stage, Stage { flows: vec![flow], writes });
    }
    let first = if node.own.is_empty() { 1 } else { 2 };
    let hole = stages.keys().zip(first..=MAX_STAGE).find(|(stage, wanted)| *stage != wanted);
    if let Some((&stage, wanted)) = hole {
        let message = format!("stage {stage} of \"{name}\" never comes: nobody does stage {wanted}");
        let at = format!("/traffic/{}/initialise/stage", stages[&stage].flows[0]);
        return no(c, at, message, "number the stages of a node one after the other");
    }
    let wanted: &[RegisterPart] =
        if node.blocks == 0 { &[RegisterPart::Contact] } else { &RegisterPart::ALL };
    let missing = wanted.iter().find(|part| !node.own.contains(part) && !written.contains_key(part));
    if let Some(part) = missing {
        let message = format!("nobody writes the {} of \"{name}\" into its registers", part.name());
        let at = format!("{}/session/writes", c.devices[node.device].origin);
        return no(c, at, message, "let the node do it, or a flow with \"initialise\" to it");
    }
    Some(stages)
}

/// Nodes that several processors lock with one value, and the value. They do not see each other, of which
/// this warns. One endpoint in two flows is two of them.
fn shared_locks(
    c: &mut Compiler<'_>,
    parts: &[Placed],
    work: &BTreeMap<(u16, u16), Task>,
) -> BTreeSet<(u16, u16)> {
    let mut holders: BTreeMap<(u16, u16), BTreeSet<(usize, u16)>> = BTreeMap::new();
    for placed in parts {
        let Some(config) = processor(placed) else { continue };
        let block =
            |visit: &&Visit| work.get(&(placed.flow, visit.node)).is_some_and(|task| !task.blocks.is_empty());
        for visit in config.visits.iter().filter(block) {
            holders.entry((visit.node, config.lock)).or_default().insert((placed.device, placed.flow));
        }
    }
    holders.retain(|_, same| same.len() > 1);
    let Some(((_, lock), same)) = holders.first_key_value() else { return BTreeSet::new() };
    let devices: BTreeSet<usize> = same.iter().map(|&(device, _)| device).collect();
    let names: Vec<&str> = devices.iter().map(|&device| c.graph.nodes[device].name.as_str()).collect();
    let (message, help) = if let [name] = names[..] {
        let message = format!(
            "\"{name}\" locks with one value, {lock}, in several flows: the lock does not know who writes, \
             so none of them sees another"
        );
        (message, "give one of the flows a \"lock\" of its own")
    } else {
        let message = format!(
            "{} lock with one value, {lock}: the lock does not know who writes, so none of them sees another",
            shortened(names.iter().copied())
        );
        (message, "leave \"lock\" out")
    };
    let flow = same.iter().map(|&(_, flow)| flow).max().expect("there are two");
    let at = format!("/traffic/{flow}/initialise/lock");
    c.out.push(Diagnostic::warning("SC099", at, message).help(help));
    holders.into_keys().collect()
}
