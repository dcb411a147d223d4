//! Ends with few Slots, and with few places for what a FetchOp returned: what they need to get on.

use super::declared::Declared;
use super::{Clock, Scale, protocol};
use crate::compiler::Compiler;
use crate::diagnostic::{Diagnostic, count};
use crate::flow::hosts as software;
use crate::spec::StSpec;
use crate::units::time_text;
use models::config::{Operation, TransferJob};
use std::collections::BTreeMap;

/// Slots with which two ends that ask each other for more both get on: of S the question takes one, the
/// answer that is owed in the meantime one, and a Clear_To_Send or Data needs two (ST-5.2.5-4, ST-5.2.5-10).
const BOTH_ASK: u16 = 4;

/// Warns of Slots that leave ends waiting, or questions for more that cannot be answered in time.
pub(super) fn warn(
    c: &mut Compiler<'_>,
    at: &str,
    (st, job): (&StSpec, &TransferJob),
    declared: &BTreeMap<usize, Declared>,
    scale: &Scale,
) {
    let Some((&device, own)) = declared.iter().min_by_key(|(_, declared)| declared.slots) else { return };
    if job.operation == Operation::FetchOp {
        let kept = protocol(c, (st, own), job, scale, device).replay_values as u64;
        let together = job.at_a_time();
        if together > kept {
            let message = format!(
                "the owner of a word keeps what the last {kept} FetchOps of a peer returned until it is \
                 confirmed, and rejects those beyond; {together} may be on their way"
            );
            let place = format!("{at}/st/concurrent");
            let help = format!("let {kept} or fewer be on their way");
            c.once(Diagnostic::warning("SC111", place, message).help(help));
        }
    }
    let Some(way) = &scale.way else { return };
    let slots = own.slots;
    let found = |message: String, help: &str| {
        Diagnostic::warning("SC110", format!("{at}/st/slots"), message).help(help)
    };
    // With a region one end alone uses Slots of the other up.
    let both = !job.operation.is_in_region();
    let one = job.at_a_time() == 1 && !scale.separate_control;
    let quiet = !job.notify && job.state_every == 0;
    if both && slots < BOTH_ASK && !(one && (quiet || job.cts_req == 1)) {
        let message = format!(
            "with {} both ends of a connection can wait for Slots at the same time, and neither gets any",
            count(slots.into(), "Slot")
        );
        let help = "4 are enough; with 3 let one silent Transfer go at a time, without state_every";
        c.once(found(message, help));
        return;
    }
    let config = protocol(c, (st, own), job, scale, device);
    // Where frames come in any order, requests count as under way until they are answered, and the answers
    // wait for Slots as well: each end holds so many back, and those of several Transfers hold up each other.
    let together = job.at_a_time();
    let needed = together.saturating_add(u64::from(BOTH_ASK) - 1);
    if both && !config.ordered && u64::from(slots) < needed {
        let message = format!(
            "with \"doubled\" or \"delayed\" what is not answered counts as under way, {together} Transfers \
             at a time can take all {slots} Slots from each other, and some may be given up"
        );
        c.once(found(message, &format!("use {needed} Slots, or fewer Transfers at a time (concurrent)")));
        return;
    }
    // What is no more than the Slots needs no question.
    let all = job.at_a_time().saturating_mul(job.stus(way.stu()));
    let asks = job.holds_slots(slots) && all > u64::from(slots.saturating_sub(2));
    let Some(timeout) = config.overtaking().filter(|_| asks) else { return };
    let timeout = Clock(software::ratio(c, device)).fabric(timeout);
    let stus = way.stus_in(timeout);
    if u64::from(slots) < stus.saturating_add(3) {
        let message = format!(
            "Control overtakes Data: what was sent in the last Op_timeout ({}) counts as under way, {} STUs \
             if the links are full, and there are {slots} Slots; Transfers beside each other wait for long",
            time_text(timeout),
            stus
        );
        c.once(found(message, "use more Slots, Data without notify, or one priority for Control and Data"));
    }
}
