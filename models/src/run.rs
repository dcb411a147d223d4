//! One run of a fabric: what `bin` drives and what it gets back.

use crate::config::FabricConfig;
use crate::probe::Probe;
use crate::stats::PortStats;
use sim_core::{Fingerprint, Time};
use std::sync::Arc;

/// Which event list the kernel uses; results are equal with both.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// Binary heap: the reference.
    Heap,
    /// Bucket ring: the fast one.
    #[default]
    Ring,
}

/// How the pipeline latency of switches becomes events; results are equal with both.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PipelineMode {
    /// One event for arrival and pipeline.
    #[default]
    Folded,
    /// Arrival and end of pipeline are events of their own: the reference.
    Unfolded,
}

/// How to run; none of these changes a result.
#[derive(Copy, Clone, Debug, Default)]
pub struct RunOptions {
    /// Event list.
    pub list: ListKind,
    /// Pipeline.
    pub pipeline: PipelineMode,
}

/// State of a run after a slice of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The event budget of the slice is used up; call again.
    Running,
    /// Simulated time reached the limit.
    Limit,
    /// No event is left.
    Drained,
    /// The watchdog found a stall and the scenario says stop.
    Stalled,
}

/// A stall that the watchdog found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StallReport {
    /// When it was found.
    pub at: Time,
    /// When the packet stopped moving.
    pub since: Time,
    /// `true`: the walk came back to where it was (deadlock); `false`: it ended (stall).
    pub cycle: bool,
    /// The walk, one line of text a step, the stuck packet first.
    pub walk: Vec<String>,
}

/// What is left after a run besides what the probe collected.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Simulated time at the end.
    pub end: Time,
    /// Totals of every port: (device, port, totals), in device and port order.
    pub ports: Vec<(u32, u8, PortStats)>,
    /// Hash of deliveries, drops and staging edges with their times.
    pub outcome: Fingerprint,
    /// Hash of every effect: packet starts, arrivals, symbols, with their times.
    pub trajectory: Fingerprint,
    /// Stalls found.
    pub stalls: Vec<StallReport>,
    /// Events handled by the kernel.
    pub events: u64,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Packets created.
    pub injected: u64,
    /// Additional copies made by multicast.
    pub replicated: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets still in the fabric or at their source.
    pub in_flight: u64,
}

/// A run in progress.
pub struct Simulation<P: Probe> {
    _config: Arc<FabricConfig>,
    probe: P,
}

impl<P: Probe> Simulation<P> {
    /// Builds the fabric at t = 0.
    pub fn new(config: Arc<FabricConfig>, options: RunOptions, probe: P) -> Self {
        let _ = options;
        Self { _config: config, probe }
    }

    /// Runs until `limit` (inclusive) or until about `max_events` more events are handled.
    pub fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        let _ = (limit, max_events);
        Progress::Drained
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        Time::ZERO
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        0
    }

    /// The observer.
    pub fn probe(&self) -> &P {
        &self.probe
    }

    /// Ends the run: settles everything that is due by now and gives back the observer and the totals.
    pub fn finish(self) -> (P, Outcome) {
        (self.probe, Outcome::default())
    }
}
