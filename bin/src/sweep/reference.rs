//! What this build of the program computes, as one number.
//!
//! Version numbers change when somebody thinks of it; results change when the code does. So a log is bound to
//! the fingerprints of small runs as well: a build that gives other results is told from one that was merely
//! compiled again, on whatever machine.

use models::sim_core::path_hash;
use models::{RunOptions, Simulation};
use std::sync::Arc;

/// Simulated time of each run, picoseconds: some milliseconds of wall-clock time in all.
const UNTIL_PS: u64 = 20_000_000;

/// The fingerprint of the first 20 µs of every template.
pub(crate) fn fingerprint() -> String {
    let mut text = String::new();
    for template in scenarios::templates() {
        let plan = scenarios::load(template.text, template.name, &[]).expect("templates are valid");
        for variant in &plan.variants {
            let mut simulation = Simulation::new(Arc::clone(&variant.config), RunOptions::default(), ());
            let until = models::sim_core::Time(UNTIL_PS.min(variant.until.0));
            let _ = simulation.run(until, u64::MAX);
            let outcome = simulation.finish().1;
            text += &format!("{} {}\n", outcome.outcome, outcome.trajectory);
        }
    }
    let hash = path_hash(&text);
    format!("{:016x}", (hash >> 64) as u64 ^ hash as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_each_time() {
        assert_eq!(fingerprint(), fingerprint());
        assert_eq!(fingerprint().len(), 16);
    }
}
