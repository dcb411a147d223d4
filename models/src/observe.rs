//! What is observed of a run: the probe, running counts, fingerprints, samples. Nothing here decides anything
//! that is simulated.

pub(crate) mod clock;
pub(crate) mod occupancy;
pub(crate) mod pointer;
pub mod probe;
pub mod stats;
pub mod totals;

use crate::config::FabricConfig;
use crate::observe::occupancy::{Integral, Occupancy};
use crate::observe::probe::{Probe, Sample};
use crate::ports::Ports;
use sim_core::{ActorId, Fingerprint, KeySource, Shake};
use std::sync::Arc;

/// What a fabric is compiled for: who watches it, and sets of ports as wide as its switches.
pub(crate) trait Build: Probe {
    type Ports: Ports;
}

/// A running count of what happened to packets.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Ledger {
    pub injected: u64,
    pub replicated: u64,
    pub delivered: u64,
    pub dropped: u64,
    pub packet_hops: u64,
    /// Of these, in symbol granularity.
    pub symbol_hops: u64,
    /// Packets that exist.
    pub in_flight: Integral,
}

/// Kinds of fingerprint entries. Frozen.
pub(crate) mod mark {
    pub const DELIVERED: u32 = 1;
    pub const DROPPED: u32 = 2;
    pub const STOPPED: u32 = 3;
    pub const RELEASED: u32 = 4;
    pub const START: u32 = 5;
    pub const MESSAGE: u32 = 7;
    pub const CONVEYED: u32 = 8;
    pub const ANSWERED: u32 = 9;
    pub const FACT: u32 = 10;
    pub const ACCESS: u32 = 11;
}

/// Observers, and what they are told of in the end.
pub(crate) struct Observe<P> {
    pub probe: P,
    pub ledger: Ledger,
    pub occupancy: Occupancy,
    pub outcome: Fingerprint,
    pub trajectory: Fingerprint,
    pub sample: Sample,
    pub sample_every: u64,
    /// Keys of sampling and watching come from an actor of their own.
    pub keys: KeySource,
    /// Posted events that do not keep a run going: of sampling, of watching, of random errors.
    pub pending: usize,
    /// Last instant at which a protocol or a link with faults did something, or a message was heard.
    pub last_event: u64,
}

impl<P> Observe<P> {
    pub fn new(config: &FabricConfig, probe: P) -> Self {
        let mut names = Vec::new();
        for (d, device) in config.devices.iter().enumerate() {
            names.extend((0..device.ports.len()).map(|p| (d as u32, p as u8)));
        }
        Observe {
            probe,
            ledger: Ledger::default(),
            occupancy: Occupancy::new(if config.sample_every.is_some() { names.len() } else { 0 }),
            outcome: Fingerprint::default(),
            trajectory: Fingerprint::default(),
            sample: Sample { ports: Arc::new(names), ..Sample::default() },
            sample_every: config.sample_every.map_or(0, |d| d.0),
            keys: KeySource::new(ActorId::MAX, Shake::NONE),
            pending: 0,
            last_event: 0,
        }
    }
}
