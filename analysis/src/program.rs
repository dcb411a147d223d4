//! Programs (GOAL) as text for a terminal.

use crate::num::{count_text, time_text};
use models::goal::Schedule;
use models::goal::loggops::Completion;

/// Share of the time until the last rank is done in which rank `n` does not compute.
fn communication(done: &Completion, n: usize) -> Option<f64> {
    let end = done.end()?.as_ps();
    (end > 0).then(|| 1.0 - done.computed[n].as_ps() as f64 / end as f64)
}

/// What a program comes to, and how long it took by the LogGOPS model.
pub fn text(schedule: &Schedule, done: &Completion) -> String {
    let mut text = format!(
        "{} ranks, {} messages, {} octets\n",
        count_text(schedule.ranks.len() as u64),
        count_text(schedule.messages()),
        count_text(schedule.octets())
    );
    match done.end() {
        Some(end) => {
            let shares = || (0..schedule.ranks.len()).filter_map(|n| communication(done, n));
            let mean = shares().sum::<f64>() / shares().count().max(1) as f64;
            text += &format!(
                "done after {} ({} ps), of which a rank does not compute {:.2} % on average\n",
                time_text(end.as_ps() as f64),
                end.as_ps(),
                100.0 * mean
            );
        }
        None => {
            let waits = done.ranks.iter().filter(|end| end.is_none()).count();
            text += &format!("{} ranks wait for ever\n", count_text(waits as u64));
        }
    }
    text
}
