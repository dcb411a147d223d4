//! Settings of a flow that would have no effect are errors: who wrote one meant something by it.

use super::{KINDS, is_protocol, program};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::spec::*;

/// Fields of a flow that nothing would look at. Whether there are none.
pub(super) fn check(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
    for kind in KINDS.iter().filter(|kind| kind.named(flow) > 0) {
        kind.spare(flow, &mut |key, given, why, help| {
            if given {
                let message = format!("this setting has no effect here: {why}");
                c.out.push(Diagnostic::warning("SC051", format!("{at}/{key}"), message).help(help));
            }
        });
    }
    let before = c.out.len();
    let mut idle = |key: &str, given: bool, why: &str, help: &str| {
        if given {
            let message = format!("this setting has no effect here: {why}");
            c.out.push(Diagnostic::error("SC051", format!("{at}/{key}"), message).help(help));
        }
    };
    if matches!(flow.arrivals, Some(ArrivalSpec::Trace(_))) && !is_protocol(flow) {
        let why = "a trace says it of each packet";
        for (key, given) in [
            ("from", flow.from.is_some()),
            ("to", flow.to.is_some()),
            ("size", flow.size.is_some()),
            ("packet", flow.packet.is_some()),
            ("priority", flow.priority.is_some()),
        ] {
            idle(key, given, why, "leave it out, or change the trace");
        }
        idle("address_bits", flow.address_bits.is_some(), "packets of a trace have 34 bits", "leave it out");
    } else if !addresses(flow) {
        let given = flow.address_bits.is_some();
        idle("address_bits", given, "the packets of this flow have no address that it sets", "leave it out");
    }
    for kind in KINDS.iter().filter(|kind| kind.named(flow) > 0) {
        kind.idle(flow, &mut idle);
    }
    let (why, help) = ("ranks send what and when the program says", "leave it out, or change the program");
    if flow.st.is_none() && program::of(flow).is_some() {
        idle("start", flow.start.is_some(), why, help);
        idle("stop", flow.stop.is_some(), why, help);
    }
    // Of Scheduled Transfer they are errors already.
    if flow.st.is_none() && program::of(flow).is_some() {
        idle("size", flow.size.is_some(), why, help);
        idle("limit", flow.limit.is_some(), why, help);
    }
    if let Some((key, program)) = program::of(flow) {
        let given = program.octets.is_some() && program.collective.is_none();
        let key = format!("{key}/program/octets");
        idle(&key, given, "the program says how much it sends", "leave it out: it is of \"collective\"");
    }
    c.out.len() == before
}

/// Whether the packets of a flow have an address whose width it sets.
pub(super) fn addresses(flow: &FlowSpec) -> bool {
    let addressed = matches!(flow.packet, Some(PacketKind::Nwrite | PacketKind::Swrite | PacketKind::Nread));
    addressed && !is_protocol(flow)
}

/// A setting of a node: its key, whether it is given, whether it is in vain there, why, and what to do.
pub(super) type Vain = (&'static str, bool, bool, &'static str, &'static str);

/// Settings of the nodes of a flow, by device, that have no effect at any of them. Where one node makes
/// something of a setting, others may share it: it may stand in a layer that is common to them.
pub(super) fn of_nodes<const N: usize>(
    c: &mut Compiler<'_>,
    section: &str,
    nodes: impl Iterator<Item = (usize, [Vain; N])>,
) {
    let nodes: Vec<(usize, [Vain; N])> = nodes.collect();
    for row in 0..N {
        let given = || nodes.iter().map(|(device, rows)| (*device, rows[row])).filter(|(_, row)| row.1);
        if given().any(|(_, (_, _, vain, ..))| !vain) {
            continue;
        }
        let Some((device, (key, _, _, why, help))) = given().next() else { continue };
        let pointer = format!("{}/{section}/{key}", c.devices[device].origin);
        let message = format!("this setting has no effect here: {why}");
        c.once(Diagnostic::error("SC051", pointer, message).help(help));
    }
}
