//! Type 8 packets: registers read and written through the fabric (Part 3 §2.5, Part 7 §2.3).
//!
//! A request travels in the ordinary queues, unstaged (VOQ-D23). A switch takes the one that comes with a hop
//! count of 0; otherwise it counts down and forwards. The response of a switch takes the place of the request
//! in its receive buffer and leaves through the port by which the request came; from then on tables lead
//! it. An endpoint responds to any request. Type 8 is stored and forwarded even by a cut-through switch: the
//! hop count lies behind the destination id, and the CRC changes with it.
//!
//! Destinations of these packets carry a mark that no route table has an entry for. So a switch notices
//! them where it would find an id without a route, and other packets pay nothing.

use crate::agent::Cargo;
use crate::agent::data::{Data, Label, Trail};
use crate::agent::linx::paths::Paths;
use crate::agent::protocol::Own;
use crate::config::{DeviceModel, NO_OWNER, NO_PORT, PacketSize};
use crate::endpoint::traffic::Source;
use crate::event::{Cx, Payload};
use crate::ids::{EndpointId, Node, SwitchId};
use crate::observe::Build;
use crate::observe::mark;
use crate::observe::probe::{Delivery, PacketId, RegisterEvent, RegisterStep};
use crate::registers::enumeration::{EnumerationReport, Fate, Outline, report};
use crate::registers::{Effect, Space};
use crate::switch::{COPIED, DROP, Hop, Routes};
use crate::world::Fabric;
use logical::wire::maintenance::{HOP_COUNT_MAX, Maintenance, Operation};
use logical::wire::{Body, Packet as WirePacket, Payload as _, Priority, Transport};
use sim_core::{EventList, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Said of tables that the host writes.
const ANY_ID: &str = "any id can be routed";

/// An answer that is ready to be sent.
pub(super) struct Answer {
    pub destination: u32,
    pub cargo: Cargo,
    pub priority: u8,
    pub size: PacketSize,
}

impl<P: Build> Fabric<P> {
    /// Gives every device its registers as they are before the host begins: no routes, no enables, no ids.
    pub(super) fn set_up_registers(&mut self) {
        let config = self.links.config.clone();
        let Some(outline) = Outline::of(&config) else { return };
        assert_eq!(config.id_space, u32::from(outline.enumeration.any_id()) + 1, "{ANY_ID}");
        self.registers.spaces =
            (0..config.devices.len() as u32).map(|device| Space::new(&outline, device)).collect();
        for switch in self.switches.iter_mut() {
            switch.routes = Routes::nowhere(config.id_space as usize);
        }
        for (d, device) in config.devices.iter().enumerate() {
            let first = self.links.nodes.first_port(d as u32);
            if let DeviceModel::Endpoint(_) = &device.model {
                let e = self.links.nodes.endpoint(first);
                let known = self.endpoints[e].next_hop.len();
                self.endpoints[e].next_hop = Arc::new((0..known).map(|_| NO_PORT).collect());
                self.links.deliver_by_events(first);
            }
        }
    }

    // --- at an endpoint --------------------------------------------------------------------------

    /// A host writes its own registers. Whether its endpoint may send from now on.
    pub fn write_own<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        device: u32,
        own: Vec<Own>,
    ) -> bool {
        let mut wakes = false;
        for own in own {
            let space = &mut self.registers.spaces[device as usize];
            let (offset, value) = match own {
                Own::Write(offset, value) => (offset, value),
                Own::Announce(contacts, attributes, next) => {
                    space.announce(&contacts, &attributes, next);
                    continue;
                }
                Own::Reset => {
                    space.reset();
                    continue;
                }
            };
            let access = logical::wire::maintenance::Access::register(offset).expect("a register's offset");
            space.carry_out(0, &crate::registers::request(access, Some(value)));
            wakes |= self.apply(cx, device);
        }
        wakes
    }

    // --- registers -------------------------------------------------------------------------------

    /// Carries a request out at `device`, and makes the response. `id`: what the request was sent to. And
    /// whether the endpoint of the device may send from now on.
    pub(super) fn serve<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        device: u32,
        via: u8,
        cargo: Cargo,
        id: u32,
        delivery: &Delivery,
    ) -> (Option<Answer>, bool) {
        let Body::Maintenance(request) = &cargo.body else { return (None, false) };
        let space = &mut self.registers.spaces[device as usize];
        let (tid, access, written) = match request.operation() {
            Operation::Read { src_tid, access } => (*src_tid, *access, None),
            Operation::Write { src_tid, access, payload } => (*src_tid, *access, payload.as_bytes()),
            _ => return (None, false),
        };
        // Links come and go while nobody looks.
        let first = self.links.nodes.first_port(device);
        for port in 0..space.ports() {
            space.set_link(port, self.links.is_port_up(first + u32::from(port)));
        }
        let Some(response) = space.carry_out(via, request.operation()) else { return (None, false) };
        let value = match (written.and_then(<[u8]>::first_chunk), &response) {
            (Some(word), _) => access.pick(*word),
            (None, Operation::ReadDone { payload, .. }) => {
                payload.as_bytes().and_then(<[u8]>::first_chunk).map_or(0, |word| access.pick(*word))
            }
            _ => 0,
        };
        let block = space.file.block_at(access.offset()).map(|(_, id, within)| (id, within));
        let step = RegisterStep::CarriedOut {
            source: cargo.source,
            asker: delivery.source,
            port: via,
            offset: access.offset(),
            block,
            value,
            write: written.is_some(),
        };
        let at = delivery.at;
        let what = u64::from(access.offset()) << 32 | u64::from(value);
        self.links.observe.outcome.record(mark::ACCESS, at, u64::from(device) << 8 | u64::from(via), what);
        self.links.observe.probe.register(&RegisterEvent { at, device, tid, flow: delivery.flow, step });
        let wakes = self.apply(cx, device);
        let answer = self.answer(cargo.source, id, delivery, response);
        if let Some(answer) = &answer {
            let port = self.links.nodes.port((device, via));
            let timing = &self.links.timings[self.links.ports[port.index()].tx.timing as usize];
            self.registers.answered.responses += 1;
            self.registers.answered.link_octets += timing.packet_chars(answer.size.wire);
        }
        (answer, wakes)
    }

    /// The packet of a response.
    fn answer(
        &self,
        destination: u32,
        id: u32,
        delivery: &Delivery,
        response: Operation<Data>,
    ) -> Option<Answer> {
        let body = Body::Maintenance(Maintenance::new(HOP_COUNT_MAX, response).ok()?);
        let (created, at, parts) = (delivery.created.0, delivery.at.0, delivery.parts);
        let trail = Trail { token: 0, created, at, parts, octets: 0 };
        let label = Label { flow: delivery.flow, trail: Some(Box::new(trail)), ..Label::default() };
        let priority = Priority::new(delivery.priority, false).ok()?.of_response();
        let transport = Transport::new(priority, self.links.config.ids, destination, id).ok()?;
        let whole = WirePacket { transport, body };
        let payload = whole.body.payload().map_or(0, |data| data.octets()) as u16;
        let size = PacketSize { payload, wire: whole.sealed_octets() as u16 };
        Some(Answer {
            destination,
            cargo: Cargo { source: id, body: whole.body, label },
            priority: priority.prio(),
            size,
        })
    }

    /// What the writes to a device mean. Whether its endpoint may send from now on.
    fn apply<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, device: u32) -> bool {
        let first = self.links.nodes.first_port(device);
        let mut wakes = false;
        for effect in self.registers.spaces[device as usize].effects() {
            match effect {
                Effect::Route { destination, port } => {
                    self.set_route(self.links.nodes.switch(first), usize::from(destination), port);
                }
                Effect::Voq { port, value } if self.links.nodes.is_switch(first) => {
                    let switch = &mut self.switches[self.links.nodes.switch(first)];
                    switch.note_acceptances(&mut self.links, cx.key());
                    if let Some(backpressure) = &mut switch.backpressure {
                        backpressure.write(&mut self.links, cx, first + u32::from(port), value);
                    }
                }
                // Endpoints send no messages.
                Effect::Voq { .. } => {}
                Effect::BaseId(id) => {
                    self.registers.astray |= self.links.config.owners.get(id as usize) != Some(&device);
                    self.registers.named.insert(device);
                }
                Effect::Enabled if !self.registers.astray => {
                    if self.registers.enabled.is_empty() {
                        // All routes are there by now, and not all need be those of the plan.
                        self.learn_ways();
                    }
                    self.registers.enabled.entry(device).or_insert(cx.now());
                    self.start_sources(cx.now().0, device);
                    wakes = true;
                }
                Effect::Enabled => {}
            }
        }
        wakes
    }

    /// Tells nodes of LINX the ways that switches have: who set them up did so around what was down.
    fn learn_ways(&mut self) {
        let config = self.links.config.clone();
        let Some(paths) = Paths::new(&config) else { return };
        let (nodes, switches) = (&self.links.nodes, &self.switches);
        let leads = |device: u32, id: u32| {
            let hop = switches[nodes.switch(nodes.first_port(device))].routes.get(id as usize)?;
            (hop.egress < COPIED).then_some(hop.egress)
        };
        self.hosts.agents.iter_mut().flatten().for_each(|agent| agent.learn_ways(&paths, &leads));
    }

    /// The traffic of an endpoint begins: what it would have sent before is not made up.
    fn start_sources(&mut self, now: u64, device: u32) {
        let config = self.links.config.clone();
        let e = self.links.nodes.endpoint_of(device);
        if !self.endpoints[e].sources.is_empty() {
            return;
        }
        for source in config.sources.iter().filter(|source| source.endpoint == device) {
            let mut source = Source::new(config.seed, source);
            source.not_before(now);
            self.endpoints[e].sources.push(source);
        }
        self.endpoints[e].find_next();
    }

    /// From now on packets for an id leave a switch through `port`; its neighbours learn it for their own
    /// staging (VOQ-2.2-5), at once: how long software takes to tell them is not modelled. What waits already
    /// keeps its queue (VOQ-D22).
    fn set_route(&mut self, s: SwitchId, id: usize, port: u8) {
        let (base, ports) = (self.switches[s].base, self.switches[s].ports);
        let exists = u32::from(port) < ports;
        let next = exists.then(|| self.links.across(base + u32::from(port))).flatten();
        let egress = if next.is_some() { port } else { DROP };
        let known = |egress: u8| if egress < COPIED { egress } else { NO_PORT };
        let next_hop = match next.map(|next| self.links.nodes.node(next)) {
            Some(Node::Switch(next)) => {
                self.switches[next].routes.get(id).map_or(NO_PORT, |hop| known(hop.egress))
            }
            Some(Node::Endpoint(_)) | None => NO_PORT,
        };
        let entry = self.switches[s].routes.get_mut(id).expect(ANY_ID);
        *entry = Hop { egress, next_hop };
        for own in base.span(ports) {
            let Some(peer) = self.links.across(own) else { continue };
            match self.links.nodes.node(peer) {
                Node::Switch(other) => {
                    let towards = (peer - self.switches[other].base) as u8;
                    let entry = self.switches[other].routes.get_mut(id).expect(ANY_ID);
                    if entry.egress == towards {
                        entry.next_hop = known(egress);
                    }
                }
                Node::Endpoint(e) => {
                    let table = &mut self.endpoints[e].next_hop;
                    if table.get(id).is_some_and(|port| *port != known(egress)) {
                        Arc::make_mut(table)[id] = known(egress);
                    }
                }
            }
        }
    }

    // --- observation -----------------------------------------------------------------------------

    /// A request joined the injection queue.
    pub(super) fn tell_asked(
        &mut self,
        now: u64,
        e: EndpointId,
        (packet, flow): (PacketId, u16),
        destination: u32,
        request: &Maintenance<crate::agent::data::Data>,
    ) {
        let (tid, access, write) = match request.operation() {
            Operation::Read { src_tid, access } => (*src_tid, *access, None),
            Operation::Write { src_tid, access, payload } => {
                let word = payload.as_bytes().and_then(<[u8]>::first_chunk);
                (*src_tid, *access, word.map(|word| access.pick(*word)))
            }
            _ => return,
        };
        let hop_count = request.hop_count();
        let step = RegisterStep::Asked { packet, destination, hop_count, offset: access.offset(), write };
        let device = self.endpoints[e].device;
        self.links.observe.probe.register(&RegisterEvent { at: Time(now), device, tid, flow, step });
    }

    /// What the host did until `end`.
    pub(super) fn enumeration_report(&self, end: Time) -> Option<EnumerationReport> {
        let (host, accesses) = self.hosts.agents.iter().flatten().find_map(|agent| agent.enumeration())?;
        // Who owns an id is planned to get it.
        let owners = self.links.config.owners.iter().copied();
        let planned: BTreeSet<u32> = owners.filter(|owner| *owner != NO_OWNER).collect();
        let registers = &self.registers;
        let is_silent = |device: &&u32| !registers.enabled.contains_key(device);
        let fate = Fate {
            packets: accesses.packets,
            unanswered: accesses.unanswered,
            astray: registers.astray,
            endpoints: planned.len() as u64,
            unnamed: planned.difference(&registers.named).count() as u64,
            silent: planned.iter().filter(is_silent).count() as u64,
            started: &registers.enabled,
        };
        let found = report(&host.diary, &host.host, &fate, &registers.spaces);
        Some(EnumerationReport { unmade: host.unmade(end), ..found })
    }
}
