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
use crate::agent::data::{Label, Trail};
use crate::agent::protocol::Own;
use crate::config::{DeviceModel, IdSize, NO_PORT, PacketSize};
use crate::endpoint::traffic::Source;
use crate::event::{Cx, Happening, Payload};
use crate::ids::Node;
use crate::link::life::{Made, Place};
use crate::link::port::NONE;
use crate::observe::mark;
use crate::observe::probe::{Cause, Delivery, DropReason, PacketId, Probe, RegisterEvent, RegisterStep};
use crate::packet::{MAINTENANCE, origin};
use crate::packet::{NIL, UNSTAGED};
use crate::registers::enumeration::{EnumerationReport, Outline, report};
use crate::registers::{Effect, Space};
use crate::switch::{DROP, Hop, MASK};
use crate::world::Fabric;
use logical::wire::maintenance::{HOP_COUNT_MAX, Maintenance, Operation};
use logical::wire::{Body, Packet as WirePacket, Payload as _, Priority, Transport};
use lp_serial::cost::idle3_packet_bytes;
use sim_core::{Duration, EventList, Time};
use std::sync::Arc;

/// Unacknowledged packets of a link whose symbols are those of IDLE3.
const IDLE3_WINDOW: u16 = 4_095;

/// An answer that is ready to be sent.
struct Answer {
    destination: u32,
    cargo: Cargo,
    priority: u8,
    size: PacketSize,
}

impl<P: Probe> Fabric<P> {
    /// Gives every device its registers as they are before the host begins: no routes, no enables, no ids.
    pub(crate) fn set_up_registers(&mut self) {
        let config = self.links.config.clone();
        let Some(outline) = Outline::of(&config) else { return };
        assert_eq!(config.id_space, u32::from(outline.enumeration.any_id()) + 1, "any id can be routed");
        self.registers.spaces =
            (0..config.devices.len() as u32).map(|device| Space::new(&outline, device)).collect();
        for switch in &mut self.switches {
            switch.routes.fill(Hop { egress: DROP, next_hop: NO_PORT });
        }
        for (d, device) in config.devices.iter().enumerate() {
            let first = self.links.nodes.first_port(d as u32);
            if let DeviceModel::Endpoint(_) = &device.model {
                let e = self.links.nodes.endpoint(first);
                let known = self.endpoints[e].next_hop.len();
                self.endpoints[e].next_hop = Arc::new(vec![NO_PORT; known]);
                self.links.deliver_by_events(first);
            }
        }
    }

    // --- at a switch -----------------------------------------------------------------------------

    /// A type 8 packet is eligible in a switch.
    #[cold]
    pub(crate) fn arrive_maintenance<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        extra: u32,
    ) {
        if extra != 0 {
            self.links.packets[packet].parts[Cause::Serialization as usize] += u64::from(extra);
            let key = cx.key().later(Duration(u64::from(extra)));
            cx.post(key, port, Happening::Ready { packet, from_wire: false, behind: 0 }.pack());
            return;
        }
        let s = self.links.nodes.switch(port);
        let cargo = self.links.packets.cargoes.get_mut(packet).expect("a type 8 packet has a body");
        let Body::Maintenance(body) = &cargo.body else { unreachable!("the mark is that of type 8") };
        match body.clone().forwarded() {
            Some(next) => {
                cargo.body = Body::Maintenance(next);
                self.forward(cx, s, port, packet);
            }
            None => self.answer_at_switch(cx, s, port, packet),
        }
        self.accept(cx, port);
    }

    fn forward<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize, port: u32, packet: u32) {
        let id = self.links.packets[packet].destination_id();
        let switch = &self.switches[s];
        let egress = switch.routes.get(id as usize).map_or(DROP, |hop| hop.egress);
        if egress & MASK != 0 {
            // Nobody answers for a group: only requests without response are copied (Part 11).
            let flow = self.links.packets[packet].flow;
            self.links.drop_packet(cx, packet, port, flow, DropReason::Unroutable);
            return;
        }
        let output = switch.base + u32::from(egress);
        let record = &mut self.links.packets[packet];
        (record.next_hop, record.queue, record.share) = (NO_PORT, UNSTAGED, NIL);
        self.enqueue(cx, s, port, output, packet);
    }

    /// The switch is meant.
    fn answer_at_switch<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        port: u32,
        packet: u32,
    ) {
        let now = cx.now();
        let (device, base) = (self.switches[s].device, self.switches[s].base);
        let cargo = *self.links.packets.cargoes.take(packet).expect("a type 8 packet has a body");
        let delivery = self.links.delivery(port, packet, now);
        let id = self.links.packets[packet].destination_id();
        self.links.deliver(port, packet, now);
        let via = (port - base) as u8;
        let Some(answer) = self.serve(cx, device, via, cargo, id, &delivery) else { return };
        let sequence = self.registers.spaces[device as usize].answers;
        self.registers.spaces[device as usize].answers += 1;
        let made = Made {
            destination: answer.destination | MAINTENANCE,
            flow: delivery.flow,
            priority: answer.priority,
            size: answer.size,
            sequence,
            origin: origin::AGENT,
        };
        let place = Place { stamp: 0, queue: UNSTAGED, next_hop: NO_PORT, input: via };
        let response = self.links.admit(now.0, device, port, made, place);
        self.links.packets.cargoes.put(response, answer.cargo);
        self.enqueue(cx, s, port, port, response);
    }

    // --- at an endpoint --------------------------------------------------------------------------

    /// Answers a request that was delivered to an endpoint; anything else comes back.
    pub(crate) fn answer_at_endpoint<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        e: usize,
        cargo: Box<Cargo>,
        id: u32,
        delivery: &Delivery,
    ) -> Option<Box<Cargo>> {
        let Body::Maintenance(body) = &cargo.body else { return Some(cargo) };
        let device = self.endpoints[e].device;
        let now = cx.now().0;
        let answered = match body.operation() {
            Operation::ReadDone { target_tid, .. } | Operation::WriteDone { target_tid } => {
                Some((*target_tid, false))
            }
            Operation::ReadError { target_tid } | Operation::WriteError { target_tid } => {
                Some((*target_tid, true))
            }
            _ => None,
        };
        if let Some((tid, error)) = answered {
            let step = RegisterStep::Answered { error };
            self.links.observe.probe.register(&RegisterEvent { at: delivery.at, device, tid, step });
            return Some(cargo);
        }
        let answer = self.serve(cx, device, 0, *cargo, id, delivery);
        // Creations come before what is made in answer to something.
        self.materialise(cx, e, now);
        if let Some(answer) = answer {
            let sequence = self.registers.spaces[device as usize].answers;
            self.registers.spaces[device as usize].answers += 1;
            let made = Made {
                destination: answer.destination | MAINTENANCE,
                flow: delivery.flow,
                priority: answer.priority,
                size: answer.size,
                sequence,
                origin: origin::REGISTERS,
            };
            let packet = self.admit_packet(e, now, made);
            self.queue_packet(cx, e, packet, now);
            self.links.packets.cargoes.put(packet, answer.cargo);
        }
        self.endpoint_turn(cx, e);
        None
    }

    /// A host writes its own registers. Whether its endpoint may send from now on.
    pub(crate) fn write_own<L: EventList<Payload>>(
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
                Own::Announce(contact, attributes) => {
                    space.announce(contact, &attributes);
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

    /// Carries a request out at `device`, and makes the response. `id`: what the request was sent to.
    fn serve<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        device: u32,
        via: u8,
        cargo: Cargo,
        id: u32,
        delivery: &Delivery,
    ) -> Option<Answer> {
        let Body::Maintenance(request) = &cargo.body else { return None };
        let space = &mut self.registers.spaces[device as usize];
        let (tid, access, written) = match request.operation() {
            Operation::Read { src_tid, access } => (*src_tid, *access, None),
            Operation::Write { src_tid, access, payload } => (*src_tid, *access, payload.as_bytes()),
            _ => return None,
        };
        let response = space.carry_out(via, request.operation())?;
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
            port: via,
            offset: access.offset(),
            block,
            value,
            write: written.is_some(),
        };
        let at = delivery.at;
        let what = u64::from(access.offset()) << 32 | u64::from(value);
        self.links.observe.outcome.record(mark::ACCESS, at, u64::from(device) << 8 | u64::from(via), what);
        self.links.observe.probe.register(&RegisterEvent { at, device, tid, step });
        let wakes = self.apply(cx, device);
        if wakes {
            let e = self.links.nodes.endpoint_of(device);
            if let Some(Some(agent)) = self.hosts.agents.get_mut(e) {
                agent.wake(at.0);
                self.carry_out(cx, e, true);
            }
        }
        let body = Body::Maintenance(Maintenance::new(HOP_COUNT_MAX, response).ok()?);
        let trail = Trail { token: 0, created: delivery.created.0, at: at.0, parts: delivery.parts };
        let label = Label { flow: delivery.flow, trail: Some(Box::new(trail)), ..Label::default() };
        let priority = Priority::new(delivery.priority, false).ok()?.of_response();
        let ids = self.links.config.enumeration.map_or(IdSize::Dev8, |host| host.ids);
        let whole = WirePacket { transport: Transport::new(priority, ids, cargo.source, id).ok()?, body };
        let port = self.links.nodes.port((device, via));
        let timing = &self.links.timings[self.links.ports[port as usize].tx.timing as usize];
        let wire = whole.sealed_octets() as u32;
        let wire = if timing.ack_window == IDLE3_WINDOW { idle3_packet_bytes(wire) } else { wire };
        let payload = whole.body.payload().map_or(0, |data| data.octets()) as u16;
        Some(Answer {
            destination: cargo.source,
            cargo: Cargo { source: id, body: whole.body, label },
            priority: priority.prio(),
            size: PacketSize { payload, wire: wire as u16 },
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
                    self.write_voq(cx, first + u32::from(port), value);
                }
                // Endpoints send no messages.
                Effect::Voq { .. } => {}
                Effect::BaseId(id) => {
                    self.registers.astray |= self.links.config.owners.get(id as usize) != Some(&device);
                }
                Effect::Enabled if !self.registers.astray => {
                    self.start_sources(cx.now().0, device);
                    wakes = true;
                }
                Effect::Enabled => {}
            }
        }
        wakes
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
        self.find_next(e);
    }

    /// From now on packets for an id leave a switch through `port`; its neighbours learn it for their own
    /// staging (VOQ-2.2-5). What waits already keeps its queue (VOQ-D22).
    fn set_route(&mut self, s: usize, id: usize, port: u8) {
        let (base, ports) = (self.switches[s].base, self.switches[s].ports);
        let exists =
            u32::from(port) < ports && self.links.ports[(base + u32::from(port)) as usize].tx.peer != NONE;
        let egress = if exists { port } else { DROP };
        let known = |egress: u8| if egress & MASK == 0 { egress } else { NO_PORT };
        let next_hop = if exists {
            let peer = self.links.ports[(base + u32::from(port)) as usize].tx.peer;
            match self.links.nodes.node(peer) {
                Node::Switch(next) => known(self.switches[next].routes[id].egress),
                Node::Endpoint(_) => NO_PORT,
            }
        } else {
            NO_PORT
        };
        self.switches[s].routes[id] = Hop { egress, next_hop };
        for own in base..base + ports {
            let peer = self.links.ports[own as usize].tx.peer;
            if peer == NONE {
                continue;
            }
            match self.links.nodes.node(peer) {
                Node::Switch(other) => {
                    let towards = (peer - self.switches[other].base) as u8;
                    let entry = &mut self.switches[other].routes[id];
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
    pub(crate) fn tell_asked(
        &mut self,
        now: u64,
        e: usize,
        packet: PacketId,
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
        self.links.observe.probe.register(&RegisterEvent { at: Time(now), device, tid, step });
    }

    /// What the host did.
    pub(crate) fn enumeration_report(&self) -> Option<EnumerationReport> {
        let (host, counters) = self.hosts.agents.iter().flatten().find_map(|agent| agent.enumeration())?;
        let spaces = &self.registers.spaces;
        Some(report(&host.diary, &host.host, counters, spaces, !self.registers.astray))
    }
}
