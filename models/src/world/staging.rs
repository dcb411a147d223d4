//! Who tells whom of congestion, and what stops for it: set up from the compiled registers and staging.

use crate::config::{
    Detector, DeviceModel, MULTICAST_SETS_MAX, PortRules, StagingConfig, VoqChange, VoqWrite,
};
use crate::event::{Cx, LinkStep, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::Staging;
use crate::observe::Build;
use crate::packet::UNSTAGED;
use crate::ports::{PortSet, Ports, of_several};
use crate::switch::COPIED;
use crate::voq::{Backpressure, losses};
use crate::world::Fabric;
use lp_serial::Form;
use lp_serial::link::Channels;
use sim_core::{Event, EventList, Time};
use std::collections::BTreeMap;
use voq_backpressure::csr::{self, Support};
use voq_backpressure::originator::{Options, Verdict};
use voq_backpressure::receiver::Reception;
use voq_backpressure::{ActiveVcs, Originator, Receiver};

/// The virtual channels of a link, as Part 12 calls them.
fn active(channels: Channels) -> ActiveVcs {
    match channels {
        Channels::None => ActiveVcs::None,
        Channels::One => ActiveVcs::One,
        Channels::Two => ActiveVcs::Two,
        Channels::Four => ActiveVcs::Four,
        Channels::Eight => ActiveVcs::Eight,
    }
}

/// How many lanes of an endpoint are staging queues; the one after them has everything else. A set of lanes
/// is as wide as a set of ports, so of 64 queues, or of 192, the last one has no lane of its own.
fn lanes_of_queues(queue_of_port: &[u8]) -> u8 {
    match queue_of_port.iter().max().map_or(0, |last| last + 1) {
        full @ (64 | 192) => full - 1,
        queues => queues,
    }
}

impl<P: Build> Fabric<P> {
    /// Builds originators and receivers from the compiled registers and staging.
    pub(super) fn set_up_staging(&mut self) {
        let config = self.links.config.clone();
        let mut long = vec![false; self.links.ports.len()];
        for link in &config.links {
            for (device, port) in [link.a, link.b] {
                long[self.links.nodes.port((device, port)).index()] = link.long_symbols;
            }
        }
        for (d, device) in config.devices.iter().enumerate() {
            let base = self.links.nodes.first_port(d as u32);
            let staging = match &device.model {
                DeviceModel::Endpoint(e) => &e.staging,
                DeviceModel::Switch(s) => &s.staging,
            };
            for (p, port) in device.ports.iter().enumerate() {
                let index = base + p as u32;
                let Some(peer) = self.links.across(index) else { continue };
                self.links.cold[peer.index()].obeyed_after = port.voq.obey.0;
                if *staging == StagingConfig::None || !port.voq.rx_sup || !long[index.index()] {
                    continue;
                }
                if !self.links.nodes.is_switch(peer) {
                    continue;
                }
                let mut built = self.build_staging(index, peer, staging);
                // Also where a host sets the fabric up: it writes LINK_EN before it lets anybody send.
                built.linked = port.voq.link_en;
                built.receiver.set_linked(port.voq.link_en);
                if !self.links.nodes.is_switch(index) {
                    let queues = lanes_of_queues(&built.queue_of_port);
                    let lanes = u32::from(queues) + 1;
                    self.links.ports[index.index()].tx.lanes = self.links.lanes.add(lanes);
                    self.links.ports[index.index()].tx.queue_lanes = queues;
                    self.links.cold[index.index()].lane_count = lanes;
                }
                let ports = built.queue_of_port.len();
                let identity = built.queue_of_port.iter().enumerate().all(|(p, q)| usize::from(*q) == p);
                self.links.identity_queues[index.index()] = if identity { ports as u8 } else { 0xFF };
                self.links.cold[index.index()].staging = Some(built);
            }
            if let DeviceModel::Switch(s) = &device.model {
                self.build_originator(d, s, &long);
            } else {
                self.announce_multicast(d);
            }
        }
    }

    fn build_staging(&self, port: PortId, peer: PortId, staging: &StagingConfig) -> Box<Staging> {
        let neighbour = &self.switches[self.links.nodes.switch(peer)];
        let ports = neighbour.ports as u16;
        let map = staging.map(ports).expect("the scenario compiler checks staging maps");
        let queue_of_port =
            (0..ports).map(|p| map.queue(p).map_or(UNSTAGED, |q| q as u8)).collect::<Vec<u8>>();
        let multicast = if self.links.nodes.is_switch(port) {
            let own = &self.switches[self.links.nodes.switch(port)];
            let n = (port - own.base) as usize;
            of_several(own.mask_next_hops.iter().map(|sets| sets[n]))
        } else {
            of_several(neighbour.masks.iter().map(|&m| m & !PortSet::one(peer - neighbour.base)))
        };
        assert!(multicast.len() <= MULTICAST_SETS_MAX, "the scenario compiler counts multicast sets");
        let vcs = self.links.channels(port).map_or(ActiveVcs::None, |channels| active(channels.names()));
        Box::new(Staging {
            receiver: Receiver::new(map, vcs, Reception::Honoured),
            vcs,
            linked: false,
            queue_of_port,
            multicast,
            multicast_stopped: 0,
        })
    }

    /// An endpoint learns which of the neighbour's ports its multicast packets will use.
    fn announce_multicast(&mut self, device: usize) {
        let port = self.links.nodes.first_port(device as u32);
        let Some(peer) = self.links.across(port) else { return };
        if !self.links.nodes.is_switch(peer) || self.links.cold[port.index()].staging.is_none() {
            return;
        }
        let neighbour = &self.switches[self.links.nodes.switch(peer)];
        if neighbour.masks.is_empty() {
            return;
        }
        let own = peer - neighbour.base;
        let mut found = Vec::new();
        for (id, hop) in neighbour.routes.iter().enumerate() {
            if hop.egress == COPIED {
                let mask = neighbour.masks[usize::from(hop.next_hop)];
                found.push((id as u32, mask & !PortSet::one(own)));
            }
        }
        let e = self.links.nodes.endpoint(port);
        self.endpoints[e].multicast =
            found.into_iter().map(|(id, set)| (id, self.links.queue_of_set(port, set), set)).collect();
    }

    /// Something is due of what the switch of `port` tells its neighbours.
    pub(super) fn tell<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        what: impl FnOnce(&mut Backpressure, &mut Links<P>, &mut Cx<'_, L>, PortId),
    ) {
        let switch = &mut self.switches[self.links.nodes.switch(port)];
        switch.note_acceptance(&mut self.links, port - switch.base, cx.key());
        switch.settle_reads(&mut self.links, cx.key());
        if let Some(backpressure) = &mut switch.backpressure {
            what(backpressure, &mut self.links, cx, port);
        }
    }

    /// Writes to registers and thresholds that are to come.
    pub(super) fn bootstrap_writes(&mut self, schedule: &mut impl FnMut(Event<Payload>)) {
        let config = self.links.config.clone();
        for (n, write) in config.voq_writes.iter().enumerate() {
            let key = self.links.key(write.device, write.at.0, class::TRAFFIC);
            schedule(Event { key, target: n as u32, payload: LinkStep::Register.pack() });
        }
    }

    /// The VoQ register of a port is written (Part 12 §5.1.2.2), or its thresholds are.
    pub(super) fn write_voq<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, n: u32) {
        let VoqWrite { device, port, change, .. } = self.links.config.voq_writes[n as usize];
        let at = self.links.nodes.port((device, port));
        let switch = &mut self.switches[self.links.nodes.switch(at)];
        switch.note_acceptances(&mut self.links, cx.key());
        switch.settle_reads(&mut self.links, cx.key());
        match change {
            VoqChange::Register { mask, value } => {
                let backpressure = switch.backpressure.as_mut();
                let backpressure =
                    backpressure.expect("a switch whose registers are written has an originator");
                let before = backpressure.originator.block().port(port.into()).value();
                backpressure.write(&mut self.links, cx, at, before & !mask | value & mask);
            }
            VoqChange::Thresholds { x_on, x_off } => {
                switch.set_thresholds(&mut self.links, cx, port.into(), (x_on.into(), x_off.into()));
            }
        }
    }

    /// Ports whose GEN_EN was cleared during the run, and when.
    pub(super) fn silent(&self) -> Vec<((u32, u8), Time)> {
        let all = self.switches.iter().filter_map(|switch| switch.backpressure.as_deref());
        let of = |own: &Backpressure| {
            let device = self.links.ports[own.base.index()].link.device;
            own.silent.iter().map(move |(&port, &at)| ((device, port as u8), at)).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = all.flat_map(of).collect();
        all.sort_unstable();
        all
    }

    /// What ports were told last of their neighbours.
    pub(super) fn held(&self) -> Vec<((u32, u8), Vec<u8>)> {
        let mut all = Vec::new();
        for (index, cold) in self.links.cold.iter().enumerate() {
            let Some(staging) = &cold.staging else { continue };
            let stopped = |port: &u16| staging.vcs.iter().any(|vc| staging.receiver.is_congested(vc, *port));
            let congested: Vec<u8> =
                (0..staging.receiver.map().ports()).filter(stopped).map(|port| port as u8).collect();
            if !congested.is_empty() {
                let device = self.links.ports[index].link.device;
                let number = self.links.nodes.number(device, PortId::new(index as u32));
                all.push(((device, number), congested));
            }
        }
        all.sort_unstable();
        all
    }

    fn build_originator(&mut self, d: usize, s: &crate::config::SwitchConfig, long: &[bool]) {
        let config = self.links.config.clone();
        let device = &config.devices[d];
        let later = config.enumeration.is_some();
        let register = |write: &VoqWrite| matches!(write.change, VoqChange::Register { .. });
        let written = config.voq_writes.iter().any(|write| write.device == d as u32 && register(write));
        if !later && !written && device.ports.iter().all(|p| !p.voq.gen_en) {
            return;
        }
        let support: Vec<Support> = device
            .ports
            .iter()
            .map(|p| Support { generation: p.voq.gen_sup, reception: p.voq.rx_sup, linking: p.voq.link_en })
            .collect();
        let rules: Vec<PortRules> = (0..device.ports.len()).map(|port| s.rules(port)).collect();
        let by_ingress = |d: Detector| d.verdict == crate::config::Verdict::PerIngress;
        let verdict = match rules.iter().any(|rules| rules.detector.is_some_and(by_ingress)) {
            true => Verdict::PerIngress,
            false => Verdict::Shared,
        };
        let refresh = rules.iter().any(|rules| rules.refresh.is_some());
        let base = self.links.nodes.first_port(d as u32);
        let linked: Vec<PortId> =
            (0..).zip(&device.ports).filter(|(_, p)| p.voq.link_en).map(|(p, _)| base + p).collect();
        let names = |port: &PortId| self.links.channels(*port).map_or(Channels::None, |c| c.names());
        let told_apart = linked.first().map_or(Channels::None, names);
        assert!(linked.iter().all(|port| names(port) == told_apart), "linked ports have the same channels");
        let options = Options { verdict, refresh, vcs: active(told_apart), ..Options::default() };
        let mut originator = Originator::new(&support, options).expect("a switch has at most 192 ports");
        // Registers first, links afterwards: at link-up only groups with a congested port are told (VOQ-D17).
        for (p, port) in device.ports.iter().enumerate().filter(|_| !later) {
            let bit = |on: bool, mask: u32| if on { mask } else { 0 };
            let value = bit(port.voq.gen_en, csr::GEN_EN)
                | bit(port.voq.part, csr::PART)
                | bit(port.voq.xoff, csr::XOFF)
                | bit(port.voq.link_en, csr::LINK_EN);
            originator.write_csr(p as u16, value);
        }
        linked.iter().for_each(|&port| self.links.channels_mut(port).linked = true);
        for (p, rules) in rules.iter().enumerate() {
            let index = base.index() + p;
            if !long[index] || !self.links.ports[index].tx.peer.is_some() {
                continue;
            }
            originator.link_up(p as u16, Form::Long);
            let every = rules.refresh.map_or(u64::MAX, |d| d.0);
            self.links.cold[index].refresh_every = every;
            if originator.active().contains(p as u16) {
                self.links.ports[index].tx.refresh_at = every;
            }
        }
        let switch = self.links.nodes.switch(base);
        let watched = &mut self.switches[switch];
        watched.told_apart = told_apart;
        watched.make_cells();
        self.switches[switch].backpressure = Some(Box::new(Backpressure {
            originator,
            base,
            delays: rules.iter().map(|rules| rules.generation_delay.0).collect(),
            after_recovery: rules.iter().map(|rules| rules.after_recovery).collect(),
            losses: losses(&config, d as u32),
            silent: BTreeMap::new(),
        }));
    }
}
