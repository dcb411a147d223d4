//! What must hold of every run.

use crate::run::RunData;
use models::stats::{LinxTotals, ProgramTotals, TransferTotals};

/// Laws that the run broke, in words; none in a sound simulator.
pub(crate) fn broken(run: &RunData) -> Vec<String> {
    let outcome = &run.outcome;
    let mut broken = Vec::new();
    if outcome.injected + outcome.replicated != outcome.delivered + outcome.dropped + outcome.in_flight {
        broken.push(format!(
            "conservation: {} injected + {} replicated, but {} delivered + {} dropped + {} in flight",
            outcome.injected, outcome.replicated, outcome.delivered, outcome.dropped, outcome.in_flight
        ));
    }
    let counted = run.collector.counts();
    let kept = (outcome.injected, outcome.delivered, outcome.dropped);
    if counted != kept {
        broken.push(format!(
            "observation: (created, delivered, dropped) were reported {counted:?} times, but the fabric \
             counted {kept:?}"
        ));
    }
    broken.extend(linx(&outcome.linx));
    broken.extend(transfers(&outcome.transfers));
    broken.extend(programs(&outcome.programs));
    broken
}

/// Laws that connections of a run broke.
fn linx(totals: &[LinxTotals]) -> Vec<String> {
    let unsound = totals.iter().filter(|totals| {
        let stats = &totals.stats;
        stats.missing + stats.repeated + stats.unannounced + stats.corrupt > 0
    });
    unsound
        .map(|totals| format!("LINX lost, repeated or changed messages unseen (flow {})", totals.flow))
        .collect()
}

/// Words or octets that Transfers lost or changed without telling.
pub(crate) fn unsound(totals: &TransferTotals) -> u64 {
    totals.stats.corrupt + totals.stats.stray_octets + totals.unverified + totals.repeated + totals.torn
}

/// Laws that Transfers of a run broke.
fn transfers(totals: &[TransferTotals]) -> Vec<String> {
    let mut broken = Vec::new();
    for totals in totals {
        let stats = &totals.stats;
        if unsound(totals) > 0 {
            broken.push(format!("Scheduled Transfer lost or changed octets unseen (flow {})", totals.flow));
        }
        if let Some(what) = stats.broken {
            broken.push(format!("Scheduled Transfer: {what} (flow {})", totals.flow));
        }
        // Section 2.4 of the requirements: if nothing is lost or overtaken, and nothing had to be said again,
        // nothing is logged.
        let again = stats.timeouts > 0 || stats.payload != stats.verified_octets + stats.read_back_octets;
        if totals.clean && !again && stats.logged > 0 {
            broken.push(format!(
                "Scheduled Transfer logged {} errors although nothing went wrong (flow {})",
                stats.logged, totals.flow
            ));
        }
    }
    broken
}

/// Laws that programs of a run broke.
fn programs(totals: &[ProgramTotals]) -> Vec<String> {
    let wrong = totals.iter().filter(|totals| totals.stats.corrupt > 0);
    wrong.map(|totals| format!("a program got octets that nobody sent (flow {})", totals.flow)).collect()
}
