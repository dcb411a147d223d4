//! Programs of flows: what the ranks do, whatever carries their messages.

use super::KINDS;
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::source::ReadFile;
use crate::spec::*;
use models::config::*;
use models::goal::{Action, Schedule, collective};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Octets of the longest message.
const LONGEST: u64 = 1 << 30;
/// Most operations of a rank.
const OPERATIONS: usize = 1 << 24;

/// The program of a flow, with the key of what carries its messages.
pub(crate) fn of(flow: &FlowSpec) -> Option<(&'static str, &ProgramSpec)> {
    KINDS.iter().find_map(|kind| Some((kind.keys()[0], kind.program(flow)?)))
}

/// Fills in the defaults of a program, and reads its file.
pub(crate) fn expand(flow: &mut FlowSpec, index: usize, read: ReadFile<'_>, out: &mut Vec<Diagnostic>) {
    for kind in KINDS {
        let (key, Some(program)) = (kind.keys()[0], kind.program_mut(flow)) else { continue };
        program.eager.get_or_insert(65_536);
        if program.collective.is_some() {
            program.octets.get_or_insert(ProgramSpec::VECTOR);
        }
        let Some(file) = program.file.take() else { continue };
        match read(&file) {
            Ok(text) => program.text.get_or_insert_default().extend(text.lines().map(str::to_owned)),
            Err(why) => {
                let pointer = format!("/traffic/{index}/{key}/program/file");
                let message = format!("\"{file}\" cannot be read: {why}");
                out.push(Diagnostic::error("SC044", pointer, message));
            }
        }
    }
}

/// Whether the settings of the flow go together with its program.
pub(crate) fn check(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) {
    if of(flow).is_none() {
        return;
    }
    let mut mixed = |key: &str, message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC048", format!("{at}/{key}"), message).help(help));
    };
    if flow.to.is_some() {
        mixed("to", "ranks send where the program says", "leave \"to\" out");
    }
    // Scheduled Transfer never has these.
    if flow.st.is_some() {
        return;
    }
    if flow.arrivals.is_some() {
        mixed("arrivals", "ranks send when the program says", "leave \"arrivals\" out");
    }
    if let Some(session) = &flow.session {
        let rank = "the program of an endpoint is its application";
        if session.ethernet.is_some() {
            mixed("session/ethernet", "a program does not speak Ethernet", "leave it out");
        }
        if session.script.is_some() {
            mixed("session/script", rank, "leave the script out");
        }
        if session.opens == Some(OpensKind::Stream) {
            mixed("session/opens", "ranks confirm messages: they need both directions", "use \"conduit\"");
        }
    }
    if flow.linx.as_ref().is_some_and(|linx| linx.reply.is_some()) {
        mixed("linx/reply", "ranks answer what the program says", "leave \"reply\" out");
    }
}

/// A program on its endpoints.
pub(crate) struct Program {
    schedule: Arc<Schedule>,
    /// Where each of its ranks sends to.
    pub places: Vec<(usize, Destinations)>,
    nodes: Arc<Vec<u16>>,
    eager: u64,
}

impl Program {
    /// The program of a flow on these endpoints. `None` if something is wrong.
    pub fn new(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec, ranks: &[usize]) -> Option<Self> {
        let (key, spec) = of(flow)?;
        let at = format!("{at}/{key}/program");
        let schedule = schedule(c, &at, spec, ranks.len())?;
        warn_of_waits(c, &at, &schedule);
        let mut places = Vec::new();
        for (rank, &device) in schedule.ranks.iter().zip(ranks) {
            let to = |op: &models::goal::Op| match op.action {
                Action::Send { to, .. } => Some(c.ids[ranks[to as usize]]),
                _ => None,
            };
            let to: BTreeSet<u32> = rank.ops().iter().filter_map(to).collect();
            if to.contains(&c.ids[device]) {
                let message = format!("\"{}\" would send to itself", c.graph.nodes[device].name);
                let finding = Diagnostic::error("SC048", at, message);
                c.out.push(finding.help("messages of a rank to itself have no way through the fabric"));
                return None;
            }
            places.push((device, Destinations::Cycle(Arc::new(to.into_iter().collect()))));
        }
        if flow.st.is_none() {
            meet_once(c, &mut places);
        }
        let nodes = Arc::new(ranks.iter().map(|&device| c.ids[device] as u16).collect());
        let eager = *filled(&spec.eager);
        Some(Program { schedule: Arc::new(schedule), places, nodes, eager })
    }

    /// The longest message, in octets, and at least a word.
    pub fn longest_message(&self) -> u64 {
        let ops = self.schedule.ranks.iter().flat_map(|rank| rank.ops());
        let octets = ops.map(|op| if let Action::Send { octets, .. } = op.action { octets } else { 0 });
        octets.max().unwrap_or(0).max(8)
    }

    /// The most messages that may be under way from one rank to another at a time, at least one.
    pub fn under_way(&self) -> u32 {
        let most = self.schedule.ranks.iter().map(|rank| rank.under_way(self.eager)).max();
        u32::try_from(most.unwrap_or(0).max(1)).unwrap_or(u32::MAX)
    }

    /// Gives the endpoints their ranks.
    pub fn assign(&self, nodes: &mut BTreeMap<usize, ProtocolConfig>) {
        for ((device, _), rank) in self.places.iter().zip(0..) {
            let config = ProgramConfig {
                schedule: Arc::clone(&self.schedule),
                nodes: Arc::clone(&self.nodes),
                rank,
                eager: self.eager,
            };
            match nodes.get_mut(device) {
                Some(ProtocolConfig::Transfer(end)) => end.program = Some(config),
                Some(ProtocolConfig::Session(node)) => node.program = Some(config),
                Some(ProtocolConfig::Linx(node)) => node.program = Some(config),
                _ => {}
            }
        }
    }
}

/// Conduits and LINX connections serve both directions: of two ranks the first in order asks for theirs.
fn meet_once(c: &Compiler<'_>, places: &mut [(usize, Destinations)]) {
    let mut peers: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); places.len()];
    let positions: BTreeMap<u32, usize> =
        places.iter().zip(0..).map(|((device, _), position)| (c.ids[*device], position)).collect();
    for ((device, destinations), position) in places.iter().zip(0..) {
        let Destinations::Cycle(ids) = destinations else { continue };
        for id in ids.iter() {
            let other = positions[id];
            let (first, second) = if position < other { (position, *id) } else { (other, c.ids[*device]) };
            peers[first].insert(second);
        }
    }
    for ((_, destinations), peers) in places.iter_mut().zip(peers) {
        *destinations = Destinations::Cycle(Arc::new(peers.into_iter().collect()));
    }
}

/// Warns of a program whose ranks wait for each other.
fn warn_of_waits(c: &mut Compiler<'_>, at: &str, schedule: &Schedule) {
    let stuck = schedule.never_received();
    let Some(&(rank, op)) = stuck.first() else { return };
    let Action::Receive { from, tag, .. } = schedule.ranks[rank as usize].ops()[op as usize].action else {
        unreachable!("only receives wait")
    };
    let message = match schedule.receives_in_order() {
        true => format!(
            "this program waits for ever, however long the run is: {} never done; rank {rank} waits for a \
             message of rank {from} with tag {tag}, which is never sent",
            if stuck.len() == 1 { "1 rank is".into() } else { format!("{} ranks are", stuck.len()) }
        ),
        false => format!(
            "this program can wait for ever: receives of one sender and tag can begin in several orders, and \
             in one of them rank {rank} waits for a message of rank {from} with tag {tag} that is never sent"
        ),
    };
    let help = "riosim goal tells the line; let one of two ranks send before it receives";
    c.once(Diagnostic::warning("SC124", at, message).help(help));
}

fn schedule(c: &mut Compiler<'_>, at: &str, spec: &ProgramSpec, ranks: usize) -> Option<Schedule> {
    let mut wrong = |key: &str, message: String, help: &str| {
        c.out.push(Diagnostic::error("SC048", format!("{at}{key}"), message).help(help));
        None
    };
    let number = ranks as u32;
    let octets = spec.octets.unwrap_or(ProgramSpec::VECTOR);
    let schedule = match (&spec.text, spec.collective) {
        (Some(lines), None) => match crate::goal::read(&lines.join("\n")) {
            Ok(schedule) => schedule,
            Err(error) => {
                return wrong("", format!("the program cannot be read: {error}"), "see riosim goal");
            }
        },
        (None, Some(CollectiveKind::AllreduceHalving)) if !number.is_power_of_two() => {
            let message = format!("{number} ranks cannot halve a vector");
            return wrong("/collective", message, "use a power of two of ranks, or \"allreduce_ring\"");
        }
        (None, Some(kind)) => match kind {
            CollectiveKind::AllreduceHalving => collective::allreduce_halving(number, octets),
            CollectiveKind::AllreduceRing => collective::allreduce_ring(number, octets),
            CollectiveKind::AllToAll => collective::all_to_all(number, octets),
            CollectiveKind::Broadcast => collective::broadcast(number, octets),
            CollectiveKind::Reduce => collective::reduce(number, octets),
            CollectiveKind::Barrier => collective::barrier(number),
            CollectiveKind::Gather => collective::gather(number, octets),
        },
        _ => {
            let help = "give one of \"file\" (a GOAL file) and \"collective\"";
            return wrong("", "there is no program, or more than one".into(), help);
        }
    };
    if schedule.ranks.len() != ranks {
        let message =
            format!("the program has {} ranks, and there are {number} endpoints", schedule.ranks.len());
        return wrong("", message, "name as many endpoints in \"from\" as the program has ranks");
    }
    let longest = schedule.ranks.iter().flat_map(|rank| rank.ops()).any(|op| match op.action {
        Action::Send { octets, .. } => octets > LONGEST,
        _ => false,
    });
    if longest || schedule.ranks.iter().any(|rank| rank.ops().len() > OPERATIONS) {
        let message = "a message has more than 1073741824 octets, or a rank more than 16777216 operations";
        return wrong("", message.into(), "divide it");
    }
    Some(schedule)
}
