//! RapidIO switches, links, endpoints and traffic: the world that `sim-core` runs.

pub mod config;
pub mod probe;
pub mod run;
pub mod stats;

pub use probe::{Cause, Parts, Probe};
pub use run::{Outcome, Progress, RunOptions, Simulation};
