//! Flows that meet at an endpoint: there they are applications of one node, which has to tell them apart.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::flow::hosts::Placed;
use models::config::{Announcement, ProtocolConfig, SessionConfig, SessionProtocol, Wanted};
use models::session_management::register::Contact;
use models::sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

fn session(placed: &Placed) -> Option<&SessionConfig> {
    match &placed.node {
        Some(ProtocolConfig::Session(config)) => Some(config),
        _ => None,
    }
}

/// What two flows cannot have in common at a node, or cannot have at all there: whether the first has it, its
/// place, words, and what to do.
fn clash<'a>(first: &SessionConfig, other: &SessionConfig) -> Option<(bool, &'a str, &'a str, &'a str)> {
    use SessionProtocol::{Ethernet, Plain, Vendor};
    let same = match (first.protocol, other.protocol) {
        (Plain(a), Plain(b)) => a == b,
        (Vendor { vendor: a, name: b, .. }, Vendor { vendor: c, name: d, .. }) => (a, b) == (c, d),
        (Ethernet { .. }, Ethernet { .. }) => true,
        _ => false,
    };
    let scripted = |config: &SessionConfig| config.script.is_some();
    let unopened = matches!(first.wanted, Wanted::Nothing(_)) && first.wanted == other.wanted;
    if same {
        let help =
            "give each flow a protocol of its own (session.protocol), or name all endpoints in one flow";
        return Some((false, "session", "speaks the protocol of this flow in another one already", help));
    }
    if scripted(first) || scripted(other) {
        let help = "leave the endpoint out of one of them";
        return Some((
            scripted(first),
            "session/script",
            "has other flows, of which the script says nothing",
            help,
        ));
    }
    if unopened {
        let help = "give each flow a stream of its own";
        return Some((false, "session/opens", "takes data of another flow on this stream", help));
    }
    // PDUs of a stream have one priority (Part 10), and management of a peer has one stream.
    let streamed = |(node, entry): (&u16, &Announcement)| {
        let streams = entry.contacts().any(|contact| matches!(contact, Contact::Stream { .. }));
        streams && other.directory.contains_key(node)
    };
    let mixed = first.priority != other.priority && first.directory.iter().any(streamed);
    let help = "give the flows one priority, or management a mailbox (session.management)";
    mixed.then_some((
        false,
        "session",
        "sends management of another flow on the same streams in another priority",
        help,
    ))
}

/// Whether flows that meet at an endpoint can be told apart; restarts of nodes are those of all their flows,
/// and who scans leaves out nodes that are of other flows alone.
pub(in crate::flow) fn share(c: &mut Compiler<'_>, parts: &mut [Placed]) {
    let mut by_device: BTreeMap<usize, Vec<&Placed>> = BTreeMap::new();
    for placed in parts.iter().filter(|placed| session(placed).is_some()) {
        by_device.entry(placed.device).or_default().push(placed);
    }
    for (device, flows) in &by_device {
        for (i, other) in flows.iter().enumerate() {
            let found = flows[..i].iter().find_map(|first| {
                let (in_first, key, what, help) = clash(session(first)?, session(other)?)?;
                let (at, also) = if in_first { (first.flow, other.flow) } else { (other.flow, first.flow) };
                Some((at, also, key, what, help))
            });
            let Some((at, also, key, what, help)) = found else { continue };
            let message = format!("\"{}\" {what}", c.graph.nodes[*device].name);
            let finding = Diagnostic::error("SC094", format!("/traffic/{at}/{key}"), message).help(help);
            c.out.push(finding.also(format!("/traffic/{also}/session"), "the other flow"));
            return;
        }
    }
    let mut lives: BTreeMap<u16, Vec<Time>> = BTreeMap::new();
    for config in parts.iter().filter_map(session) {
        lives.entry(config.node).or_default().extend(config.restarts.iter().map(|restart| restart.at));
    }
    lives.retain(|_, times| !times.is_empty());
    let lives = Arc::new(lives);
    let nodes: BTreeSet<u16> = parts.iter().filter_map(session).map(|config| config.node).collect();
    for placed in parts {
        if let Some(ProtocolConfig::Session(config)) = &mut placed.node {
            config.lives = Arc::clone(&lives);
            // A flow is a system of its own: its OPENs have no place at nodes of others.
            config.scans.retain(|id| config.directory.contains_key(id) || !nodes.contains(id));
        }
    }
}
