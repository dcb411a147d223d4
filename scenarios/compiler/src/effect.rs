//! Settings that would have no effect where they stand are errors: who wrote one meant something by it.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::resolved::Switch;
use crate::spec::*;
use models::config::Buffering;

/// Settings of a switch.
pub(crate) fn switch(c: &mut Compiler<'_>, origin: &str, own: &Switch) {
    let (buffering, reads) = (own.buffering, own.reads_per_input);
    let places = match buffering {
        Buffering::Direct => 0,
        Buffering::Crosspoint { depth: packets }
        | Buffering::Output { packets }
        | Buffering::Shared { packets } => packets,
    };
    if let Some(quota) = own.queue_quota.filter(|quota| *quota >= places) {
        let message = match places {
            0 => "a quota has no effect here: there are no buffers behind the inputs".to_owned(),
            _ => format!("a quota of {quota} has no effect here: the buffer has {places} places"),
        };
        let help = "leave it out, or give a quota below \"buffer_packets\"";
        c.once(Diagnostic::error("SC051", format!("{origin}/queue_quota"), message).help(help));
    }
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
        ("thresholds", registers.thresholds.is_some()),
        ("verdict", registers.verdict.is_some()),
        ("refresh", registers.refresh.is_some()),
        ("generation_delay", registers.generation_delay.is_some()),
        ("after_recovery", registers.after_recovery.is_some()),
    ] {
        if given {
            let message = "this setting has no effect here: an endpoint reports no port, it takes what comes";
            let help =
                "set it for ports of switches; what an endpoint honours is rx_sup, and when, obey_latency";
            c.once(Diagnostic::error("SC051", format!("{pointer}/{key}"), message).help(help));
        }
    }
}
