//! How nodes say that they take part, and how others find them (Annex 2 3.2, 3.3, 5.3).

use super::{Found, filled};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::spec::*;
use models::session_management::register::Contact;
use std::collections::BTreeMap;

/// Whether a node can say in its Component Tag how it takes management messages, if it shall.
pub(super) fn check_announcement(
    c: &mut Compiler<'_>,
    at: &str,
    node: &SessionNodeSpec,
    (contact, second): (Contact, Option<Contact>),
) {
    if *filled(&node.announces) == AnnouncesKind::Block {
        return;
    }
    let place = format!("{at}/announces");
    if c.host.is_none() {
        let finding = Diagnostic::error("SC093", place, "nobody gives devices their registers");
        c.once(finding.help("set up the fabric by a host (configure.fabric), or leave it out"));
    } else if second.is_some() && *filled(&node.announces) == AnnouncesKind::ComponentTag {
        let message = "a Component Tag names one conveyance, and the node takes management messages on both";
        let finding = Diagnostic::error("SC093", place, message);
        c.once(finding.help("use \"block\" or \"block_and_tag\""));
    } else if second.is_none() && *filled(&node.announces) == AnnouncesKind::BlockAndTag {
        let message = "a Component Tag beside a block is for a second conveyance";
        let finding = Diagnostic::error("SC093", place, message);
        c.once(finding.help("use \"block\", or let both carry management messages: management: \"both\""));
    } else if contact.component_tag(0).is_none() {
        let message = "a Component Tag cannot name the stream of management messages";
        let finding = Diagnostic::error("SC093", place, message);
        c.once(finding.help("allowed: streams 0 to 255 and 65280 to 65534"));
    }
}

/// Whether a node that leaves parts of its registers to others has any.
pub(super) fn check_writes(c: &mut Compiler<'_>, at: &str, node: &SessionNodeSpec) {
    if c.host.is_none() && filled(&node.writes).len() < RegisterPart::ALL.len() {
        let message = "nobody gives devices their registers";
        let finding = Diagnostic::error("SC096", format!("{at}/writes"), message);
        c.once(finding.help("set up the fabric by a host (configure.fabric), or leave it out"));
    }
}

/// Ids that are scanned; none, if peers are known.
pub(super) fn scans(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    nodes: &BTreeMap<usize, Found>,
) -> Vec<u16> {
    if !*filled(&session.scan) {
        return Vec::new();
    }
    let mut no = |key: &str, message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC093", format!("{at}/{key}"), message).help(help));
    };
    if nodes.values().any(|found| *filled(&found.node.contact) == ContactKind::Assumed) {
        no("scan", "nodes that assume contacts read no registers", "use contact: \"registers\" at all nodes");
    }
    if session.program.is_some() {
        no("program", "ranks know each other, and scan nothing", "leave scan out");
    }
    if session.script.is_some() {
        no("script", "a script says itself who opens what", "leave scan out");
    }
    c.graph.endpoints.iter().map(|&device| c.ids[device] as u16).collect()
}
