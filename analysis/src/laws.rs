//! What must hold of every run.

use crate::protocol;
use crate::run::RunData;

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
    broken.extend(protocol::all(|protocol| protocol.broken(outcome)));
    broken
}
