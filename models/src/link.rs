//! Links: both halves of every port, the wires between them, and what is known of the neighbour.

pub(crate) mod credit;
pub(crate) mod interleave;
pub(crate) mod life;
pub(crate) mod medium;
pub(crate) mod port;
pub(crate) mod symbol;
pub(crate) mod transmit;
pub(crate) mod wire;

use crate::config::FabricConfig;
use crate::ids::Nodes;
use crate::link::port::{Cold, LinkTiming, Port};
use crate::link::symbol::{End, WireChecked};
use crate::observe::Observe;
use crate::packet::{List, Packets};
use sim_core::{ActorId, KeySource, Shake};
use std::sync::Arc;

/// All links, and what lies below them: packets, and what is observed.
pub(crate) struct Links<P> {
    pub config: Arc<FabricConfig>,
    /// Arrival and end of a pipeline are events of their own.
    pub unfolded: bool,
    pub observe: Observe<P>,
    pub packets: Packets,
    /// Whose port is whose.
    pub nodes: Nodes,
    /// By device.
    pub keys: Vec<KeySource>,
    /// Queues of packets at the outputs of devices.
    pub lists: Vec<List>,
    pub ports: Vec<Port>,
    pub cold: Vec<Cold>,
    /// Kinds of links.
    pub timings: Vec<LinkTiming>,
    /// Ends of symbolic links, by port; empty if there are none.
    pub ends: Vec<Option<Box<End>>>,
    pub wire_checked: WireChecked,
}

impl<P> Links<P> {
    /// No links yet.
    pub fn new(config: Arc<FabricConfig>, unfolded: bool, probe: P) -> Self {
        let shake = if config.shake == 0 { Shake::NONE } else { Shake::new(config.shake) };
        let ports: usize = config.devices.iter().map(|device| device.ports.len()).sum();
        Links {
            unfolded,
            observe: Observe::new(&config, probe),
            packets: Packets::default(),
            nodes: Nodes::default(),
            keys: (0..config.devices.len()).map(|d| KeySource::new(ActorId::new(d as u32), shake)).collect(),
            lists: Vec::new(),
            ports: Vec::with_capacity(ports),
            cold: Vec::with_capacity(ports),
            timings: Vec::new(),
            ends: Vec::new(),
            wire_checked: WireChecked::default(),
            config,
        }
    }
}
