//! Settings that would have no effect where they stand are errors: who wrote one meant something by it.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::spec::*;
use models::config::Buffering;

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
