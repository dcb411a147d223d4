//! Sweep files: a scenario, axes of parameters, replications.
//!
//! ```text
//! text -> structure -> SweepSpec -> axes and levels -> points -> SweepPlan
//! ```
//!
//! A [`SweepPlan`] knows every point: which value each axis has there, and what that sets in the scenario. A
//! point is known by the hash of what it sets ([`Point::key`]), so results survive when axes grow. Nothing
//! here depends on the order in which points are simulated.

mod axes;
mod plan;
mod sample;
pub mod spec;

pub use axes::{Axis, Level, Setting, VARIANT_AXIS};
pub use plan::{
    HalfWidth, Point, PointErrors, PointFindings, PointWarnings, Replications, Stop, SweepPlan, load,
    replication_seed,
};

use crate::structure::Language;
use std::sync::OnceLock;

fn language() -> &'static Language {
    static SWEEP: OnceLock<Language> = OnceLock::new();
    SWEEP.get_or_init(|| Language::new(schemars::schema_for!(spec::SweepSpec)))
}

/// JSON Schema of sweep files, pretty-printed.
pub fn schema() -> String {
    let mut text = serde_json::to_string_pretty(&language().schema).expect("a JSON value prints");
    text.push('\n');
    text
}
