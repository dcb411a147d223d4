//! Periods of nodes that are over before an answer can be there.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::flow::answers::{Exchange, Hosts};
use crate::flow::transfer::Clock;
use crate::units::time_text;
use models::config::{AgentConfig, FabricConfig, ProtocolConfig, SessionConfig};
use models::lp_serial::cost::{AddressSize, PacketClass, packet_bytes};
use models::path::Roads;
use models::session_management::register::Contact;

/// Octets of an OPEN without attributes, and of ACCEPT or REFUSE.
pub(in crate::flow) const OPEN: u32 = 24;
const ANSWER: u32 = 28;

/// A node that asks, and one that answers.
struct Pair<'a> {
    asks: &'a AgentConfig,
    answers: u32,
    /// An OPEN and its answer take so long without competition, ps.
    round_trip: u64,
    /// What the node that answers has announced, ps of the fabric: when the OPEN is sent again, and given up.
    periods: [u64; 2],
}

/// Warns of the periods that are shorter than an OPEN and its answer take at least: of each kind the one that
/// lacks most.
pub(in crate::flow) fn warn(c: &mut Compiler<'_>, config: &FabricConfig) {
    let agents = config.agents.iter();
    let nodes = agents.flat_map(|agent| agent.parts.iter().map(move |part| (agent, &part.protocol)));
    let nodes = nodes.filter_map(|(agent, protocol)| match protocol {
        ProtocolConfig::Session(node) => Some((agent, &**node)),
        _ => None,
    });
    let asked = nodes.flat_map(|(agent, node)| {
        let peers = node.creates.iter().flat_map(|creates| creates.peers.iter());
        peers.map(move |&peer| (agent, node, peer))
    });
    let mut asked = asked.peekable();
    if asked.peek().is_none() {
        // Roads know every link of the fabric, which may be many.
        return;
    }
    let roads = Roads::new(config);
    let pairs: Vec<Pair<'_>> = asked.filter_map(|asked| pair(c, config, &roads, asked)).collect();
    let words = ["sent again", "given up"];
    for ((kind, key), words) in ["retry", "timeout"].into_iter().enumerate().zip(words) {
        let lack = |pair: &&Pair<'_>| pair.round_trip.saturating_sub(pair.periods[kind]);
        // Of those that lack as much the first.
        let worst = pairs.iter().rev().max_by_key(lack).filter(|pair| lack(pair) > 0);
        let Some(Pair { asks, answers, round_trip, periods }) = worst else { continue };
        let name = |device: u32| &c.graph.nodes[device as usize].name;
        let message = format!(
            "an OPEN from \"{}\" to \"{}\" and its answer take {} at least, and it is {words} after {}",
            name(asks.device),
            name(*answers),
            time_text(*round_trip),
            time_text(periods[kind])
        );
        let at = format!("{}/session/{key}", c.devices[*answers as usize].origin);
        c.once(Diagnostic::warning("SC118", at, message).help("a longer period, or faster hosts"));
    }
}

fn pair<'a>(
    c: &Compiler<'_>,
    config: &FabricConfig,
    roads: &Roads<'_>,
    (asks, node, peer): (&'a AgentConfig, &SessionConfig, u32),
) -> Option<Pair<'a>> {
    let announced = node.directory.get(&u16::try_from(peer).ok()?)?;
    let wire = |class, octets| packet_bytes(class, c.id_size(), octets, AddressSize::Bits34).ok();
    let (class, response) = match announced.contact {
        Contact::Stream { .. } => (PacketClass::DataStreamingStart, None),
        Contact::Mailbox(_) => (PacketClass::Message, wire(PacketClass::Response, 0)),
    };
    let [open, answer] = [OPEN, ANSWER].map(|octets| wire(class, octets.next_multiple_of(8)));
    let exchange = Exchange { packets: vec![open?], answer: vec![answer?], response, hosts: Hosts::Both };
    let asking = (asks.device, asks.id);
    let (answers, round_trip) = exchange.takes((config, roads), asking, node.priority, peer)?;
    let clock = Clock(asks.clock);
    let [retry, timeout, _] = announced.periods;
    let periods = [retry, timeout].map(|micros| clock.fabric(u64::from(micros) * 1_000_000));
    Some(Pair { asks, answers, round_trip, periods })
}
