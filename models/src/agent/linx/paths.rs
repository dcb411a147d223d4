//! When the ways between nodes are broken: what no node can know, for the ledger.

use crate::config::{DeviceModel, Egress, FabricConfig, FaultAction};
use std::collections::BTreeMap;

/// A time in which something is not there: from and until, ps.
pub(crate) type Break = (u64, u64);

/// Through which port a switch sends what goes to an id; `None`: it drops it, or copies it.
pub(crate) type Leads<'a> = &'a dyn Fn(u32, u32) -> Option<u8>;

/// Links that go down.
#[derive(Debug)]
pub(crate) struct Paths<'a> {
    config: &'a FabricConfig,
    /// Of each link: when it is down.
    downs: BTreeMap<u32, Vec<Break>>,
    /// The link at a port.
    links: BTreeMap<(u32, u8), u32>,
    /// Devices of agents by id.
    devices: BTreeMap<u32, u32>,
}

impl<'a> Paths<'a> {
    /// None if no link ever goes down.
    pub fn new(config: &'a FabricConfig) -> Option<Self> {
        let mut downs: BTreeMap<u32, Vec<Break>> = BTreeMap::new();
        let mut faults: Vec<_> = config.faults.iter().collect();
        // An end comes after the beginning of the same instant.
        faults.sort_by_key(|fault| (fault.link, fault.at, fault.action == FaultAction::Up));
        for fault in faults {
            let breaks = downs.entry(fault.link).or_default();
            match (fault.action, breaks.last_mut()) {
                (FaultAction::Down, Some((_, u64::MAX))) => {}
                (FaultAction::Down, _) => breaks.push((fault.at.0, u64::MAX)),
                (FaultAction::Up, Some((_, until))) => *until = fault.at.0.min(*until),
                _ => {}
            }
        }
        downs.retain(|_, breaks| !breaks.is_empty());
        if downs.is_empty() {
            return None;
        }
        let ends = (0..).zip(&config.links).flat_map(|(n, link)| [(link.a, n), (link.b, n)]);
        let devices = config.agents.iter().map(|agent| (agent.id, agent.device));
        Some(Paths { config, downs, links: ends.collect(), devices: devices.collect() })
    }

    /// When the link of an endpoint is down.
    pub fn own(&self, device: u32) -> Vec<Break> {
        let link = self.links.get(&(device, 0));
        link.and_then(|link| self.downs.get(link)).cloned().unwrap_or_default()
    }

    /// Where ids lead by the tables of the file, which may be the plan of a host.
    pub fn planned(&self, device: u32, id: u32) -> Option<u8> {
        let DeviceModel::Switch(switch) = &self.config.devices[device as usize].model else { return None };
        match switch.routes.entries.get(id as usize)?.egress {
            Egress::Port(egress) => Some(egress),
            Egress::Multicast(_) | Egress::Drop => None,
        }
    }

    /// When a link between a device and the one with this id is down, either way.
    pub fn between(&self, device: u32, (own, id): (u32, u32), leads: Leads<'_>) -> Vec<Break> {
        let back = self.devices.get(&id).map_or(Vec::new(), |&peer| self.way(peer, own, leads));
        self.way(device, id, leads).into_iter().chain(back).collect()
    }

    fn way(&self, mut device: u32, id: u32, leads: Leads<'_>) -> Vec<Break> {
        let mut breaks = Vec::new();
        let mut port = 0;
        // No way is longer than there are devices.
        for _ in 0..=self.config.devices.len() {
            let Some(&number) = self.links.get(&(device, port)) else { break };
            breaks.extend(self.downs.get(&number).into_iter().flatten());
            let link = &self.config.links[number as usize];
            let there = if link.a == (device, port) { link.b } else { link.a };
            device = there.0;
            if matches!(self.config.devices[device as usize].model, DeviceModel::Endpoint(_)) {
                break;
            }
            match leads(device, id) {
                Some(egress) => port = egress,
                None => break,
            }
        }
        breaks
    }
}
