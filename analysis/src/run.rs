//! A run with its observer, and what is known of it when it is over.

use crate::collect::Collector;
use models::config::{Destinations, FabricConfig, SourceConfig};
use models::{Outcome, Simulation};
use std::sync::Arc;

/// A run that a [`Collector`] observes.
pub type Observed = Simulation<Collector>;

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

impl RunData {
    /// From when on a source may send, picoseconds: its start, or when the host that set the fabric up lets
    /// its endpoint, if that is later; never, if it does not.
    pub fn begin(&self, source: &SourceConfig) -> u64 {
        let started = self.outcome.enumeration.as_ref().map(|report| &report.started);
        let allowed = started.map_or(0, |all| all.get(&source.endpoint).map_or(u64::MAX, |at| at.0));
        source.start.0.max(allowed)
    }
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
