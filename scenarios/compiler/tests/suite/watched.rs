//! A scenario of which somebody watches all, and messages of sessions that a test writes by hand.

use models::config::FabricConfig;
use models::{Outcome, Probe, Progress, RunOptions, Watched};
use scenarios::load;
use serde_json::{Value, json};
use std::sync::Arc;

/// Runs a scenario to its end, without a stall: what was seen, and what came of it.
pub fn watched<P: Probe + Default + Send>(scenario: &Value) -> (P, Outcome) {
    watched_with(scenario, |_| ())
}

/// The same, of a fabric that is changed where no scenario says it.
pub fn watched_with<P: Probe + Default + Send>(
    scenario: &Value,
    change: impl FnOnce(&mut FabricConfig),
) -> (P, Outcome) {
    let plan =
        load(&scenario.to_string(), "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let mut config = plan.variants[0].config.clone();
    change(Arc::make_mut(&mut config));
    let mut seen = P::default();
    let mut simulation = Watched::new(config, RunOptions::default(), &mut seen);
    assert_ne!(simulation.run(plan.variants[0].until, u64::MAX), Progress::Stalled);
    let outcome = simulation.finish();
    (seen, outcome)
}

/// ep/0 says these messages to ep/1, one each 10 us; an empty one is none.
pub fn injected(messages: &[&str]) -> Vec<Value> {
    let given = (1..).zip(messages).filter(|(_, octets)| !octets.is_empty());
    given
        .map(
            |(at, octets)| json!({"at": format!("{at}0 us"), "from": "ep/0", "to": "ep/1", "octets": octets}),
        )
        .collect()
}
