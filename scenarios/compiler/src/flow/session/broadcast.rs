//! Ethernet broadcasts that switches copy (Annex 2 7.3.2.1).

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::names;
use crate::spec::*;
use crate::topology::shortened;
use models::config::Announcement;
use models::session_management::register::Contact;
use std::collections::{BTreeMap, BTreeSet};

/// Id of the group to which broadcasts go, if there is one and all nodes can take part.
pub(super) fn group(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    nodes: &BTreeMap<String, usize>,
    directory: &BTreeMap<u16, Announcement>,
) -> Option<u16> {
    let name = session.ethernet.as_ref()?.multicast.as_ref()?;
    let at = format!("{at}/ethernet/multicast");
    let no = |c: &mut Compiler<'_>, message: String, help: String| {
        c.out.push(Diagnostic::error("SC092", at.clone(), message).help(help));
        None
    };
    let Some(&id) = c.groups.get(name) else {
        let names: Vec<String> = c.groups.keys().cloned().collect();
        let help = format!("groups: {}", shortened(names.iter().map(String::as_str)));
        return no(c, format!("there is no multicast group \"{name}\""), help);
    };
    let wanted = if c.id_bits == 8 { 0xFE } else { 0xFFFE };
    if id != wanted {
        let message = format!("the group \"{name}\" has the id {id}, and broadcasts go to {wanted}");
        return no(c, message, format!("give the group the id {wanted}"));
    }
    let endpoints: Vec<&str> =
        c.graph.endpoints.iter().map(|&device| c.graph.nodes[device].name.as_str()).collect();
    let group = c.spec.multicast.iter().flatten().find(|group| group.name == *name)?;
    // What a pattern does not find is told of the group itself.
    let hits = names::select(group.members.patterns(), &endpoints).ok()?;
    let members: BTreeSet<&str> = hits.into_iter().map(|hit| endpoints[hit]).collect();
    let speak: BTreeSet<&str> = nodes.keys().map(String::as_str).collect();
    if members != speak {
        let one = (*members.symmetric_difference(&speak).next()?).to_owned();
        let message = format!("\"{one}\" is not both in the group and a node of this flow");
        return no(c, message, "the members of the group are the nodes of the flow".into());
    }
    let contacts: BTreeSet<Contact> = directory.values().map(|entry| entry.contact).collect();
    match contacts.first() {
        Some(Contact::Stream { .. }) if contacts.len() == 1 => Some(id as u16),
        Some(_) => {
            let message = "a message is answered by each node that gets it, so switches copy no messages";
            let help = "let all nodes manage by type 9 on the same stream: management: \"stream\"";
            no(c, message.into(), help.into())
        }
        None => None,
    }
}
