//! Type 8 packets at a switch: it takes the one that comes with a hop count of 0, and forwards the others.

use crate::config::NO_PORT;
use crate::event::{Cx, Happening, Payload};
use crate::ids::{PortId, SwitchId};
use crate::link::life::{Made, Place};
use crate::observe::Build;
use crate::observe::probe::{Cause, DropReason};
use crate::packet::{MAINTENANCE, NIL, UNSTAGED, origin};
use crate::switch::{Access, COPIED, DROP};
use crate::world::Fabric;
use logical::wire::Body;
use sim_core::{Duration, EventList};

impl<P: Build> Fabric<P> {
    /// A packet is eligible in the switch of `port`.
    #[inline(always)]
    pub fn arrive<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        behind: u32,
    ) {
        let s = self.links.nodes.switch(port);
        if let Some(access) = self.switches[s].arrive(&mut self.links, cx, port, packet, behind) {
            self.arrive_maintenance(cx, access);
        }
    }

    /// A type 8 packet is eligible in a switch.
    #[cold]
    fn arrive_maintenance<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        Access { port, packet, behind }: Access,
    ) {
        if behind != 0 {
            self.links.packets[packet].times[Cause::Serialization] += u64::from(behind);
            let key = cx.key().later(Duration(u64::from(behind)));
            cx.post(key, port.into(), Happening::Ready { packet, from_wire: false, behind: 0 }.pack());
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
        self.switches[s].accept(&mut self.links, cx, port);
    }

    fn forward<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: SwitchId, port: PortId, packet: u32) {
        let id = self.links.packets[packet].destination_id();
        let switch = &self.switches[s];
        let egress = switch.routes.get(id as usize).map_or(DROP, |hop| hop.egress);
        if egress >= COPIED {
            // Nobody answers for a group: only requests without response are copied (Part 11).
            let flow = self.links.packets[packet].flow;
            self.links.drop_packet(cx, packet, port, flow, DropReason::Unroutable);
            return;
        }
        let output = switch.base + u32::from(egress);
        let record = &mut self.links.packets[packet];
        (record.next_hop, record.queue, record.share) = (NO_PORT, UNSTAGED, NIL);
        self.switches[s].enqueue(&mut self.links, cx, port, output, packet);
    }

    /// The switch is meant.
    fn answer_at_switch<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: SwitchId,
        port: PortId,
        packet: u32,
    ) {
        let now = cx.now();
        let (device, base) = (self.switches[s].device, self.switches[s].base);
        let cargo = *self.links.packets.cargoes.take(packet).expect("a type 8 packet has a body");
        let delivery = self.links.delivery(port, packet, now);
        let id = self.links.packets[packet].destination_id();
        self.links.deliver(port, packet, now);
        let via = (port - base) as u8;
        let (answer, wakes) = self.serve(cx, device, via, cargo, id, &delivery);
        if wakes {
            self.wake_host(cx, device, now.0);
        }
        let Some(answer) = answer else { return };
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
        self.switches[s].enqueue(&mut self.links, cx, port, port, response);
    }
}
