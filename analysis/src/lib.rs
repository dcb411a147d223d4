//! Collectors, estimators, figures and reports.
//!
//! A [`Collector`] observes one run through the probe interface of `models` and counts in integers. Afterwards a
//! [`VariantReport`] turns them into estimates, and the writers ([`summary`], [`series`], [`figures`], [`table`],
//! [`runfolder`]) turn those into text and pictures. Nothing here can change a simulation, and nothing but
//! `perf.json` (whose numbers the caller brings) knows the wall clock.

pub mod collect;
mod axes;
pub mod estimate;
pub mod figures;
pub mod num;
pub mod report;
mod scene;
pub mod series;
pub mod summary;

pub use collect::{Collector, CollectorConfig};
pub use report::{RunData, VariantReport, Warmup};
pub use summary::Summary;
