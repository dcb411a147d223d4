//! Segments of Ethernet behind nodes, and a server of broadcasts (Annex 2 7.3.2.3, 7.3.3).

use super::{Member, filled, member};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::spec::*;
use models::config::Outside;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What of them there is, by ids.
#[derive(Default)]
pub(super) struct Bridged {
    pub server: Option<u16>,
    pub bridges: Arc<BTreeMap<u16, Outside>>,
}

/// Bridges and server of a flow, if they can do their work.
pub(super) fn bridged(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    by_name: &BTreeMap<String, usize>,
    members: &[Member],
) -> Bridged {
    let Some(ethernet) = &session.ethernet else { return Bridged::default() };
    let at = format!("{at}/ethernet");
    if session.program.is_some() && (ethernet.bridges.is_some() || ethernet.server.is_some()) {
        let key = if ethernet.bridges.is_some() { "bridges" } else { "server" };
        let message = "what a program says goes from rank to rank, along streams";
        let finding = Diagnostic::error("SC095", format!("{at}/{key}"), message);
        c.out.push(finding.help("leave it out, or let the flow send by arrivals"));
    }
    let mut bridges = BTreeMap::new();
    for (i, bridge) in ethernet.bridges.iter().flatten().enumerate() {
        let at = format!("{at}/bridges/{i}");
        let node = member(c, format!("{at}/node"), &bridge.node, by_name);
        let rate = filled(&bridge.rate);
        // A rate in baud is that of a code, which the segment has not.
        let rate = rate.get().data.ok().filter(|&bits| bits > 0 && rate.to_string().ends_with("b/s"));
        if rate.is_none() {
            let finding = Diagnostic::error("SC008", format!("{at}/rate"), "this is no rate of a segment");
            c.out.push(finding.help("allowed: a rate in bits a second: \"1 Gb/s\""));
        }
        let (Some(device), Some(rate)) = (node, rate) else { continue };
        let outside =
            Outside { hosts: *filled(&bridge.hosts), rate, broadcasts: *filled(&bridge.broadcasts) };
        if bridges.insert(c.ids[device] as u16, outside).is_some() {
            let message = format!("\"{}\" is a bridge already", bridge.node);
            let finding = Diagnostic::error("SC095", format!("{at}/node"), message);
            c.out.push(finding.help("one segment a node: give it more hosts"));
        }
    }
    let server = ethernet.server.as_ref().and_then(|name| {
        let device = member(c, format!("{at}/server"), name, by_name)?;
        let id = c.ids[device] as u16;
        check_server(c, &format!("{at}/server"), session, (id, device), members, &bridges);
        Some(id)
    });
    Bridged { server, bridges: Arc::new(bridges) }
}

/// Whether broadcasts of all nodes come to the server, and nothing else does its work.
fn check_server(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    (id, server): (u16, usize),
    members: &[Member],
    bridges: &BTreeMap<u16, Outside>,
) {
    let names = |device: usize| c.graph.nodes[device].name.clone();
    let meets = |member: &Member, id: u32| member.peers.as_ref().is_some_and(|peers| peers.contains(&id));
    let own = members.iter().find(|member| member.device == server);
    let apart = members.iter().find(|member| {
        let conduits = session.opens == Some(OpensKind::Conduit);
        let opened = conduits && own.is_some_and(|own| meets(own, c.ids[member.device]));
        member.device != server && !meets(member, id.into()) && !opened
    });
    let multicast = session.ethernet.as_ref().is_some_and(|ethernet| ethernet.multicast.is_some());
    let (message, help) = if multicast {
        ("the switches make the copies already".to_owned(), "leave \"server\" or \"multicast\" out")
    } else if bridges.contains_key(&id) {
        (format!("\"{}\" is a bridge, too", names(server)), "let another node repeat broadcasts")
    } else if let Some(apart) = apart {
        let message = format!("\"{}\" has nothing open with \"{}\"", names(apart.device), names(server));
        (message, "let \"from\" and \"to\" join each node with the server")
    } else {
        return;
    };
    c.out.push(Diagnostic::error("SC095", at, message).help(help));
}
