//! What a scenario becomes: runs that are ready to start, and what the reports need to know about them.

use crate::diagnostic::Diagnostics;
use crate::fabric::{Headroom, Routes};
use crate::units::Comparison;
use models::config::FabricConfig;
use models::sim_core::Time;
use std::sync::Arc;

/// A loaded scenario: everything needed to run it and to write about it.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// Short name: results go to `results/<name>`.
    pub name: String,
    /// One line for the head of a report.
    pub title: String,
    /// What it shows and what to look for.
    pub description: String,
    /// Runs side by side, in the order of the file; at least one.
    pub variants: Vec<Variant>,
    /// The scenario with every default written out; loading it gives the same plan.
    pub resolved: String,
    /// The scenario as it was given, with what the command line sets in it.
    pub given: serde_json::Value,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Unique name; `base` if the file has no variants.
    pub name: String,
    /// The fabric and its traffic.
    pub config: Arc<FabricConfig>,
    /// End of the run.
    pub until: Time,
    /// What to cut off at the beginning.
    pub warmup: Warmup,
    /// Names of things, by index.
    pub labels: Labels,
    /// Flows declared as victims.
    pub victims: Vec<u16>,
    /// Flows declared as hot; without a declaration those of hotspots.
    pub hot: Vec<u16>,
    /// Name of the variant that this one is compared with, if the file says so.
    pub compare_with: Option<String>,
    /// Offered load of every flow of the file.
    pub offered: Vec<Offered>,
    /// What following every packet by the routes has shown.
    pub routes: Routes,
    /// Detectors of congestion whose verdict somebody hears, with what they need.
    pub(super) detectors: Vec<Headroom>,
    /// What results must show.
    pub require: Vec<Requirement>,
}

/// What one metric of some flows or links must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Place of the metric in the file.
    pub at: String,
    /// The patterns of the file.
    pub patterns: String,
    /// What they match.
    pub subjects: Subjects,
    /// Name of the metric.
    pub metric: String,
    /// What it has to be.
    pub wanted: Comparison,
}

/// Of whom something is required, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// Each of these flows.
    Flows(Vec<u16>),
    /// Each of these links.
    Links(Vec<u32>),
}

/// What to cut off at the beginning of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// What MSER-5 finds.
    Auto,
    /// Everything before this instant.
    Until(Time),
}

impl Warmup {
    /// Where the measured part begins, if that is given; else 0.
    pub fn given(self) -> Time {
        match self {
            Warmup::Auto => Time(0),
            Warmup::Until(at) => at,
        }
    }
}

/// Names of things, by index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Devices: `leaf/03`.
    pub devices: Vec<String>,
    /// Links: `leaf/03:5-ep/17`.
    pub links: Vec<String>,
    /// Flows.
    pub flows: Vec<String>,
}

/// Offered load of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Index of the flow.
    pub flow: u16,
    /// Number of sources.
    pub sources: u32,
    /// Share of time that each source would keep its injection link busy: numerator, denominator; the least
    /// of all. Only of sources with an interval on links of unlike speed is it not the same. `None` for
    /// closed loops and traces.
    pub load: Option<(u64, u64)>,
    /// The most.
    pub load_most: Option<(u64, u64)>,
}
