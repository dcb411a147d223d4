//! Settings that would have no effect where they stand are errors: who wrote one meant something by it.

use crate::compile::Compiler;
use crate::diagnostic::Diagnostic;
use crate::flow::{KINDS, is_protocol, program_of};
use crate::resolved::filled;
use crate::spec::*;
use models::config::Buffering;

/// Fields of a flow that nothing would look at. Whether there are none.
pub(crate) fn flow(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
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
    if flow.st.is_none() && program_of(flow).is_some() {
        idle("start", flow.start.is_some(), why, help);
        idle("stop", flow.stop.is_some(), why, help);
    }
    // Of Scheduled Transfer they are errors already.
    if flow.st.is_none() && program_of(flow).is_some() {
        idle("size", flow.size.is_some(), why, help);
        idle("limit", flow.limit.is_some(), why, help);
    }
    if let Some((key, program)) = program_of(flow) {
        let given = program.octets.is_some() && program.collective.is_none();
        let key = format!("{key}/program/octets");
        idle(&key, given, "the program says how much it sends", "leave it out: it is of \"collective\"");
    }
    c.out.len() == before
}

/// Whether the packets of a flow have an address whose width it sets.
pub(crate) fn addresses(flow: &FlowSpec) -> bool {
    let addressed = matches!(flow.packet, Some(PacketKind::Nwrite | PacketKind::Swrite | PacketKind::Nread));
    addressed && !is_protocol(flow)
}

/// Settings of a switch.
pub(crate) fn switch(c: &mut Compiler<'_>, origin: &str, buffering: Buffering, reads: u8) {
    if reads > 1 && buffering != Buffering::Direct {
        let message = format!(
            "{reads} reads of an input have no effect here: packets move on as soon as there is room behind \
             inputs"
        );
        let help = "leave it out, or use \"buffering\": \"direct\"";
        c.once(Diagnostic::error("SC051", format!("{origin}/reads_per_input"), message).help(help));
    }
}

/// Registers of the port of an endpoint.
pub(crate) fn endpoint_port(c: &mut Compiler<'_>, pointer: &str, registers: &PortVoqSpec) {
    for (key, given) in [
        ("gen_sup", *filled(&registers.gen_sup)),
        ("part", !*filled(&registers.part)),
        ("xoff", *filled(&registers.xoff)),
    ] {
        if given {
            let message = "this setting has no effect here: an endpoint reports no port, it takes what comes";
            let help = "set it for ports of switches; what an endpoint honours is rx_sup";
            c.once(Diagnostic::error("SC051", format!("{pointer}/{key}"), message).help(help));
        }
    }
}
