//! A run with its observer.

use crate::collect::Collector;
use models::config::FabricConfig;
use models::sim_core::Time;
use models::{Outcome, Progress, RunOptions, Simulation};
use std::sync::Arc;

/// A run that a [`Collector`] observes, compiled here once and not by everybody who needs one.
pub struct Observed(Simulation<Collector>);

impl Observed {
    /// Builds the fabric at t = 0.
    #[inline(never)]
    pub fn new(config: Arc<FabricConfig>, options: RunOptions, collector: Collector) -> Self {
        Observed(Simulation::new(config, options, collector))
    }

    /// Runs until `limit` (inclusive) or until about `max_events` more events are handled.
    #[inline(never)]
    pub fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        self.0.run(limit, max_events)
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.0.now()
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.0.events()
    }

    /// Ends the run: settles everything that is due by now and gives what was collected and the totals.
    #[inline(never)]
    pub fn finish(self) -> (Collector, Outcome) {
        self.0.finish()
    }
}
