//! Collectors, estimators, figures and reports.
//!
//! A [`Collector`] observes one run through the probe interface of `models` and counts in integers.
//! Afterwards a [`VariantReport`] turns them into estimates, and the writers ([`summary`], [`series`],
//! [`figures`], [`table`], [`runfolder`]) turn those into text and pictures. Nothing here can change a
//! simulation, and nothing but `perf.json` (whose numbers the caller brings) knows the wall clock.

mod axes;
pub mod baselines;
pub mod books;
pub mod capture;
pub mod chart;
pub mod collect;
mod counts;
mod csv;
pub mod dictionary;
pub mod enumeration;
pub mod estimate;
pub mod explore;
pub mod figures;
pub mod flows;
mod laws;
mod level;
mod links;
mod metric;
pub mod num;
mod palette;
pub mod perfetto;
mod ports;
pub mod predict;
pub mod profile;
pub mod protocol;
pub mod report;
pub mod require;
pub mod requirement;
pub mod review;
pub mod run;
pub mod runfolder;
mod scene;
pub mod series;
pub mod summary;
pub mod sweep;
pub mod table;
pub mod trace;
mod weight;

pub use collect::{Collector, CollectorConfig};
pub use report::VariantReport;
pub use run::{Observed, Role, RunData, Warmup};
pub use summary::Summary;

// the synthetic runs of tests/ serve the unit tests as well
#[cfg(test)]
extern crate self as analysis;
