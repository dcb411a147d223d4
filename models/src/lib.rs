//! RapidIO switches, links, endpoints and traffic: the world that `sim-core` runs.

mod clock;
pub mod config;
mod endpoint;
mod fabric;
mod packet;
mod port;
pub mod probe;
pub mod run;
mod staging;
mod stall;
pub mod stats;
mod switch;
mod traffic;
mod transmit;
mod wire;

pub use probe::{Cause, Parts, Probe};
pub use run::{Outcome, Progress, RunOptions, Simulation};
