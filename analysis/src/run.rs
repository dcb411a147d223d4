//! A run with its observer, and what is known of it when it is over.

use crate::collect::Collector;
use models::config::{Destinations, FabricConfig, SourceConfig};
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

/// How much of a run's beginning is not measured.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Warmup {
    /// Found by MSER-5; nothing is cut from a finite workload, which has no steady state.
    #[default]
    Auto,
    /// This many picoseconds: exactly so many if the collector was told before the run
    /// ([`CollectorConfig::measured_from`](crate::CollectorConfig::measured_from)), else rounded up to a
    /// segment of the run.
    Fixed(u64),
}

/// One finished run.
#[derive(Clone, Debug)]
pub struct RunData {
    /// Name of the variant.
    pub name: String,
    /// What was simulated.
    pub config: Arc<FabricConfig>,
    /// What was observed.
    pub collector: Collector,
    /// What the fabric counted.
    pub outcome: Outcome,
    /// Warm-up rule.
    pub warmup: Warmup,
    /// Flows declared to suffer from the congestion of others.
    pub victims: Vec<u16>,
    /// Flows declared to cause it.
    pub hot: Vec<u16>,
}

/// What a flow was declared to be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Suffers from the congestion of others.
    Victim,
    /// Causes congestion.
    Hot,
}

impl Role {
    /// Name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Victim => "victim",
            Role::Hot => "hot",
        }
    }
}

/// Sources whose packets are reported under a flow.
pub(crate) fn sources_of(config: &FabricConfig, flow: u16) -> impl Iterator<Item = &SourceConfig> {
    config.all_sources().filter(move |source| {
        source.flow == flow
            || matches!(source.destinations, Destinations::Hotspot { hot_flow, .. } if hot_flow == flow)
    })
}
