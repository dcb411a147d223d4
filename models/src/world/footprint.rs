//! How much memory a fabric takes, from what there is of each thing.

use crate::config::{
    Buffering, DeviceConfig, DeviceModel, FabricConfig, InputQueueing, PRIORITIES, StagingConfig,
    SwitchConfig,
};
use crate::endpoint::Endpoint;
use crate::endpoint::traffic;
use crate::link::port::{Cold, Input, Port, Staging};
use crate::packet::{List, Packet};
use crate::ports::{PortSet, Ports};
use crate::switch::{Cell, Switch};

/// Octets that a run of this fabric in `parts` takes, about: ports, lists, tables, sources, and a packet for
/// each port. What observers keep, and what protocols do, comes on top.
///
/// Each part knows all devices, but only one has the lists and the sources of each.
pub fn footprint(config: &FabricConfig, parts: u64) -> u64 {
    let (once, each) =
        if config.has_large_switch() { with_sets::<PortSet>(config) } else { with_sets::<u64>(config) };
    each.saturating_mul(parts).saturating_add(once)
}

/// What there is once, and what there is in each part, with sets of ports of this kind.
fn with_sets<S: Ports>(config: &FabricConfig) -> (u64, u64) {
    let of_device = |device: &DeviceConfig| {
        let ports = device.ports.len();
        let each = size_of::<Port<S>>() + size_of::<Cold<S>>() + size_of::<Input<S>>() + size_of::<Packet>();
        let (own, staging) = match &device.model {
            DeviceModel::Switch(switch) => (of_switch::<S>(switch, ports), &switch.staging),
            DeviceModel::Endpoint(endpoint) => (size_of::<Endpoint>(), &endpoint.staging),
        };
        let staging = if *staging == StagingConfig::None { 0 } else { size_of::<Staging>() + ports };
        (own + ports * (each + staging)) as u64
    };
    let lists = |device: &DeviceConfig| match &device.model {
        DeviceModel::Switch(switch) => lists(switch, device.ports.len()) as u64,
        DeviceModel::Endpoint(_) => 0,
    };
    let sources = (config.sources.len() * traffic::OCTETS) as u64;
    let all = &config.devices;
    (all.iter().map(lists).sum::<u64>() + sources, all.iter().map(of_device).sum())
}

/// What a switch has besides its ports and lists.
fn of_switch<S: Ports>(switch: &SwitchConfig, ports: usize) -> usize {
    let routes = switch.routes.entries.blocks().len() * size_of::<u32>();
    size_of::<Switch<S>>() + routes + ports * ports * size_of::<Cell>()
}

/// Lanes of each output of a switch: an input each, where packets are kept apart by where they came through.
pub(super) fn lanes(switch: &SwitchConfig, ports: usize) -> usize {
    match switch.buffering {
        Buffering::Direct | Buffering::Crosspoint { .. } => ports,
        Buffering::Output { .. } | Buffering::Shared { .. } => 1,
    }
}

/// How many lists of packets the outputs of a fabric may have, as far as its devices are one's `own`.
pub(super) fn main_lists(config: &FabricConfig, own: impl Fn(u32) -> bool) -> usize {
    let of = |device: &DeviceConfig| match &device.model {
        DeviceModel::Switch(switch) => lanes(switch, device.ports.len()),
        DeviceModel::Endpoint(_) => 1,
    };
    let lists = |(n, device): (u32, &DeviceConfig)| if own(n) { device.ports.len() * of(device) } else { 0 };
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
    let count = (0..).zip(&config.devices).map(lists).sum::<usize>()
        + config.devices.iter().map(queues).sum::<usize>();
    count * PRIORITIES
}

/// The lists of packets of a switch.
fn lists(switch: &SwitchConfig, ports: usize) -> usize {
    let lanes = lanes(switch, ports);
    let inputs = match (switch.input, switch.buffering) {
        (InputQueueing::Fifo, _) => 1,
        (InputQueueing::Voq, Buffering::Direct) => 0,
        (InputQueueing::Voq, _) => ports,
    };
    ports * (lanes + inputs) * PRIORITIES * size_of::<List>()
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

    /// A list of eight octets for each pair of ports and priority, with buffers between the pairs two, in
    /// however many parts; what else there is of a port is less than a kibibyte in each of them.
    #[test]
    fn lists_go_with_the_square_of_the_ports() {
        for ports in [8, 64] {
            let pairs = (ports * ports) as u64;
            for (buffering, lists) in [(Buffering::Direct, 1), (Buffering::Crosspoint { depth: 1 }, 2)] {
                for parts in [1, 2] {
                    let found = footprint(&switch(ports, buffering), parts);
                    let law = pairs * lists * 4 * 8 + parts * pairs * 2;
                    let rest = parts * (ports as u64 + 1) * 1_024;
                    assert!((law..law + rest).contains(&found), "{ports}, {parts}: {found}, {law}");
                }
            }
        }
    }
}
