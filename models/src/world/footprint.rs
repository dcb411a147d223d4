//! How much memory a fabric takes, from what there is of each thing.

use crate::config::{
    Buffering, DeviceConfig, DeviceModel, FabricConfig, InputQueueing, PRIORITIES, StagingConfig,
    SwitchConfig,
};
use crate::endpoint::Endpoint;
use crate::endpoint::traffic;
use crate::link::port::{Cold, Port, Staging};
use crate::packet::{Cell, Lane, List, Packet};
use crate::ports::{PortSet, Ports};
use crate::switch::Switch;

/// Octets that a run of this fabric in `parts` takes, about: ports, lanes, tables, sources, and a packet for
/// each port. What observers keep, and what protocols do, comes on top.
///
/// Each part knows all devices, but only one has the lanes and the sources of each.
pub fn footprint(config: &FabricConfig, parts: u64) -> u64 {
    let (once, each) =
        if config.has_large_switch() { with_sets::<PortSet>(config) } else { with_sets::<u64>(config) };
    each.saturating_mul(parts).saturating_add(once)
}

/// What there is once, and what there is in each part, with sets of ports of this kind.
fn with_sets<S: Ports>(config: &FabricConfig) -> (u64, u64) {
    let of_device = |device: &DeviceConfig| {
        let ports = device.ports.len();
        let each = size_of::<Port<S>>() + size_of::<Cold<S>>() + size_of::<Packet>();
        let (own, staging) = match &device.model {
            DeviceModel::Switch(switch) => (of_switch::<S>(switch), &switch.staging),
            DeviceModel::Endpoint(endpoint) => (size_of::<Endpoint>(), &endpoint.staging),
        };
        let staging = if *staging == StagingConfig::None { 0 } else { size_of::<Staging>() + ports };
        (own + ports * (each + staging)) as u64
    };
    let priorities = priorities(config);
    let queues = |device: &DeviceConfig| match &device.model {
        DeviceModel::Switch(switch) => queues(switch, device.ports.len(), priorities) as u64,
        DeviceModel::Endpoint(_) => 0,
    };
    let sources = (config.sources.len() * traffic::OCTETS) as u64;
    let all = &config.devices;
    (all.iter().map(queues).sum::<u64>() + sources, all.iter().map(of_device).sum())
}

/// What a switch has besides its ports and queues.
fn of_switch<S: Ports>(switch: &SwitchConfig) -> usize {
    let routes = switch.routes.entries.blocks().len() * size_of::<u32>();
    size_of::<Switch<S>>() + routes
}

/// Lanes of each output of a switch: an input each, where packets are kept apart by where they came through.
pub(super) fn lanes(switch: &SwitchConfig, ports: usize) -> usize {
    match switch.buffering {
        Buffering::Direct | Buffering::Crosspoint { .. } => ports,
        Buffering::Output { .. } | Buffering::Shared { .. } => 1,
    }
}

/// How many lanes the outputs of a fabric have at most, as far as its devices are one's `own`.
pub(super) fn all_lanes(config: &FabricConfig, own: impl Fn(u32) -> bool) -> usize {
    let of = |device: &DeviceConfig| match &device.model {
        DeviceModel::Switch(switch) => lanes(switch, device.ports.len()),
        DeviceModel::Endpoint(_) => 1,
    };
    let lanes = |(n, device): (u32, &DeviceConfig)| if own(n) { device.ports.len() * of(device) } else { 0 };
    let widest = config.devices.iter().map(|device| device.ports.len()).max().unwrap_or(0);
    // A lane for each staging queue, and one for what none stops.
    let staged = |device: &DeviceConfig| match &device.model {
        DeviceModel::Switch(_) => 0,
        DeviceModel::Endpoint(endpoint) => match &endpoint.staging {
            StagingConfig::None => 0,
            StagingConfig::PerPort => widest + 1,
            StagingConfig::Modulo(queues) => usize::from(*queues) + 1,
            StagingConfig::Table(table) => usize::from(table.iter().copied().max().unwrap_or(0)) + 2,
        },
    };
    let queues = |device: &DeviceConfig| device.ports.len() * staged(device);
    let own = (0..).zip(&config.devices).map(lanes).sum::<usize>();
    own + config.devices.iter().map(queues).sum::<usize>()
}

/// How many priorities come into being, about: those of sources, and all where protocols answer.
fn priorities(config: &FabricConfig) -> usize {
    if !config.agents.is_empty() || config.enumeration.is_some() {
        return PRIORITIES;
    }
    let highest = config.sources.iter().map(|source| source.priority).max().unwrap_or(0);
    PRIORITIES.min(usize::from(highest) + 1)
}

/// Where packets of a switch wait, and what its detectors count.
fn queues(switch: &SwitchConfig, ports: usize, priorities: usize) -> usize {
    let lanes = lanes(switch, ports);
    let cells = if lanes == ports { 0 } else { ports };
    let inputs = match (switch.input, switch.buffering) {
        (InputQueueing::Fifo, _) => 1,
        (InputQueueing::Voq, Buffering::Direct) => 0,
        (InputQueueing::Voq, _) => ports,
    };
    let (lanes, cells) = (lanes * priorities * size_of::<Lane>(), cells * size_of::<Cell>());
    ports * (lanes + cells + inputs * PRIORITIES * size_of::<List>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::*;
    use sim_core::Duration;

    fn switch(ports: usize, buffering: Buffering) -> FabricConfig {
        let port = PortConfig { buffers: 8, watermarks: [4, 3, 2], voq: PortVoq::default() };
        let model = SwitchConfig {
            input: InputQueueing::Voq,
            buffering,
            arbitration: Arbitration::RoundRobin,
            slot: None,
            reads_per_input: 1,
            forwarding: Forwarding::StoreAndForward,
            pipeline: Duration(1),
            routes: RouteTable::default(),
            detector: None,
            refresh: None,
            generation_delay: Duration::ZERO,
            after_recovery: true,
            port_rules: Vec::new(),
            leave_out_stopped: false,
            queue_quota: None,
            staging: StagingConfig::None,
        };
        let model = DeviceModel::Switch(model);
        let device = DeviceConfig { path: "sw".into(), ports: vec![port; ports], model };
        FabricConfig { devices: vec![device], ..FabricConfig::default() }
    }

    /// Twelve octets for each pair of ports and priority that packets have, with buffers between the pairs
    /// eight more for each priority that there may be, in however many parts; what else there is of a port is
    /// less than a kibibyte in each of them.
    #[test]
    fn lanes_go_with_the_square_of_the_ports() {
        for ports in [8, 64] {
            let pairs = (ports * ports) as u64;
            for (buffering, octets) in
                [(Buffering::Direct, 12), (Buffering::Crosspoint { depth: 1 }, 12 + 4 * 8)]
            {
                for parts in [1, 2] {
                    let found = footprint(&switch(ports, buffering), parts);
                    let law = pairs * octets;
                    let rest = parts * (ports as u64 + 1) * 1_024;
                    assert!((law..law + rest).contains(&found), "{ports}, {parts}: {found}, {law}");
                }
            }
        }
    }
}
