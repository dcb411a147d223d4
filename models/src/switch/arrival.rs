//! A packet arrives in a switch: it is accepted, routed, copied, and starts or waits.

use super::{Access, COPIED, DROP, Hop, Switch};
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::{Mode, Port};
use crate::link::transmit::{put, wait_for};
use crate::observe::Build;
use crate::observe::probe::{Cause, DropReason};
use crate::packet::{NIL, UNSTAGED, sole_port};
use crate::ports::{PortSet, Ports};
use sim_core::{Duration, EventKey, EventList};

impl<S: Ports> Switch<S> {
    /// A packet is eligible in the switch: it is accepted, routed, and starts or waits. `extra` > 0:
    /// cut-through, its last octet comes that much later. Gives back a packet that leads to registers.
    #[must_use]
    pub fn arrive<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        extra: u32,
    ) -> Option<Access> {
        self.note_acceptance(links, port - self.base, cx.key());
        let switch = &*self;
        let record = &links.packets[packet];
        let flow = record.flow;
        let hop = match switch.routes.get(record.destination as usize) {
            Some(hop) => hop,
            None if record.is_maintenance() => {
                return Some(Access { port, packet, behind: extra });
            }
            None => Hop { egress: DROP, next_hop: crate::config::NO_PORT },
        };
        if extra != 0 {
            let faster = !links.one_pace && hop.egress < COPIED && {
                let output = switch.base + u32::from(hop.egress);
                let timing_of = |p: PortId| &links.timings[links.ports[p.index()].tx.timing as usize];
                let (input, output) = (timing_of(port), timing_of(output));
                output.char_num * input.char_den < input.char_num * output.char_den
            };
            if faster || hop.egress >= COPIED {
                store_first(links, cx, port, packet, extra);
                return None;
            }
            if links.ports[port.index()].rx.acknowledges() {
                self.expect_acceptance(links, cx, port, extra);
            }
        }
        if hop.egress < COPIED {
            let output = self.base + u32::from(hop.egress);
            let queue = links.queue_of(output, hop.next_hop);
            let record = &mut links.packets[packet];
            record.next_hop = hop.next_hop;
            record.queue = queue;
            record.share = NIL;
            self.enqueue(links, cx, port, output, packet);
        } else if hop.egress == DROP {
            links.drop_packet(cx, packet, port, flow, DropReason::Unroutable);
        } else {
            self.replicate(links, cx, port, packet, hop.next_hop.into());
        }
        if extra == 0 {
            self.accept(links, cx, port);
        } else {
            let rx = &links.ports[port.index()].rx;
            let tells = links.unfolded || hop.egress == DROP || rx.tells_acceptance();
            if rx.acknowledges() {
                if tells {
                    links.post_acceptance(cx, port);
                } else {
                    links.defer_acceptance(port);
                }
            }
        }
        None
    }

    /// Cut-through: a packet that has come through `port` is accepted when its last octet is in, `extra` from
    /// now.
    #[inline(always)]
    fn expect_acceptance<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        port: PortId,
        extra: u32,
    ) {
        let device = links.ports[port.index()].rx.device;
        links.ports[port.index()].rx.accepted =
            links.key(device, cx.now().0 + u64::from(extra), class::ARRIVAL);
        let rx = &mut links.ports[port.index()].rx;
        debug_assert_eq!(rx.unaccepted, 0, "what comes through a link comes one after the other");
        (rx.unaccepted, rx.accept_posted) = (1, false);
    }

    /// Cut-through: the last octet of a packet is in, unless that has been noted before.
    pub fn accepted<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let state = &mut links.ports[port.index()];
        if state.rx.accepted > cx.key() {
            return;
        }
        let key = state.note_accepted();
        self.prune(links, port - self.base, key);
        if links.ports[port.index()].link.mode() == Mode::Closed {
            if links.place_acceptance(cx, port, key) {
                self.tell_releases(links, cx, port);
            }
        } else {
            self.make_status(links, cx, port, key.time().0, 1);
        }
    }

    #[inline(always)]
    pub fn accept<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let input = port - self.base;
        if !links.ports[(self.base + input).index()].rx.readers.is_empty() {
            self.prune(links, input, cx.key());
        }
        self.make_status(links, cx, port, cx.now().0, 1);
    }

    /// Copies a multicast packet to every port of its mask but the one it came through; the copies share one
    /// receive buffer, and each is a read of its own: as many at a time as `reads_per_input` permits.
    #[inline(never)]
    fn replicate<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        mask: usize,
    ) {
        let base = self.base;
        let ports = self.masks[mask] & !PortSet::one(port - base);
        if ports.is_empty() {
            let flow = links.packets[packet].flow;
            links.drop_packet(cx, packet, port, flow, DropReason::EmptyMask);
            return;
        }
        let copies = ports.len();
        let ledger = &mut links.observe.ledger;
        ledger.replicated += u64::from(copies - 1);
        (1..copies).for_each(|_| ledger.in_flight.come(cx.now().0));
        let share = if copies == 1 { NIL } else { links.packets.share(copies) };
        let original = links.packets[packet].clone();
        let mut first = true;
        for n in ports.members() {
            let output = base + n;
            let set = self.mask_next_hops[mask][n as usize];
            let id = if first { packet } else { links.packets.insert(original.clone()) };
            if !first {
                links.packets.cargoes.copy(packet, id);
                links.packets.late.copy(packet, id);
            }
            let queue = links.queue_of_set(output, set);
            let record = &mut links.packets[id];
            record.share = share;
            record.queue = queue;
            record.next_hop = sole_port(set);
            if !first && share != NIL {
                // One buffer for all copies: `enqueue` counts it once, with the first.
                self.enqueue_copy(links, cx, port, output, id);
            } else {
                self.enqueue(links, cx, port, output, id);
            }
            first = false;
        }
    }

    /// More packets than buffers are counted: reads that ended without an event have to explain it.
    #[cold]
    fn overlapping_reads<P: Build<Ports = S>>(
        &mut self,
        links: &mut Links<P>,
        port: PortId,
        key: EventKey,
    ) -> bool {
        self.prune(links, port - self.base, key);
        links.ports[port.index()].rx.occupied <= links.ports[port.index()].rx.buffers
    }

    #[inline(always)]
    pub fn enqueue<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        output: PortId,
        packet: u32,
    ) {
        let rx = &mut links.ports[port.index()].rx;
        rx.occupied += 1;
        let fits = rx.occupied <= rx.buffers;
        links.observe.occupancy.buffered(port, cx.now().0);
        if !(fits || self.overlapping_reads(links, port, cx.key())) {
            return links.overflows(cx, port, packet);
        }
        self.enqueue_copy(links, cx, port, output, packet);
    }

    fn enqueue_copy<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        output: PortId,
        packet: u32,
    ) {
        let switch = &mut *self;
        switch.stamp = switch.stamp.wrapping_add(1);
        let base = switch.base;
        let (input, out) = (port - base, output - base);
        let record = &mut links.packets[packet];
        record.stamp = switch.stamp;
        record.input = input as u8;
        record.port = output;
        let (priority, queue) = (record.priority as usize, record.queue);
        if switch.direct {
            let behind = switch.fifo
                && (switch.exposed[input as usize][priority] != 0
                    || switch.inputs[priority * switch.ports as usize + input as usize].head != NIL);
            if behind {
                return self.wait_behind(links, cx, (input, output), packet);
            }
            if switch.slot == 0
                && self.may_start(links, cx, output, priority as u8, queue)
                && !self.readable(links, cx, output, S::one(input), priority).is_empty()
            {
                self.start(links, cx, output, packet, false);
                return;
            }
            if links.ports[output.index()].tx.clock.is_blocked() {
                // The clock must know every change of credit up to now before it is read.
                links.consume(cx, output, cx.key());
            }
            links.observe.occupancy.waits(output, cx.now().0);
            let Links { ports, packets, lanes, .. } = &mut *links;
            let (ports, switch) = (&mut ports[..], &mut *self);
            let Port { rx, .. } = &mut ports[port.index()];
            rx.wanted |= S::one(out);
            let crowded = rx.occupied > rx.high_water;
            let tx = &mut ports[output.index()].tx;
            wait_for(&tx.clock, packets, packet, cx.now().0, false);
            tx.waiting += 1;
            tx.high_water = tx.high_water.max(tx.waiting);
            if switch.fifo {
                switch.exposed[input as usize][priority] += 1;
            }
            put(tx, packets, lanes, priority, input, packet);
            if crowded {
                self.note_high_water(links, cx, input);
            }
            self.queue_grows(priority, input, out);
            if self.detect {
                self.watch_waiting(links, cx, (input, out), queue);
            }
            self.try_output(links, cx, output);
            return;
        }
        self.enqueue_behind(links, cx, port, output, packet);
    }

    /// A packet waits behind others of its FIFO input, which is read directly.
    #[inline(never)]
    fn wait_behind<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, output): (u32, PortId),
        packet: u32,
    ) {
        let out = output - self.base;
        let record = &links.packets[packet];
        let (priority, queue) = (record.priority as usize, record.queue);
        links.begin_wait(cx, output, packet, true);
        links.ports[output.index()].tx.waiting += 1;
        links.observe.occupancy.waits(output, cx.now().0);
        let index = priority * self.ports as usize + input as usize;
        links.packets.push_back(&mut self.inputs[index], packet);
        self.queue_grows(priority, input, out);
        self.note_waiting(links, cx, (input, out), queue);
    }

    /// A packet of `port` waits or starts where there are buffers behind the inputs.
    #[inline(never)]
    fn enqueue_behind<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        output: PortId,
        packet: u32,
    ) {
        let base = self.base;
        let (input, out) = (port - base, output - base);
        let record = &links.packets[packet];
        let (priority, queue) = (record.priority as usize, record.queue);
        let (list, lane, fill) = self.depth_indices(priority, input, out);
        let place = self.has_place(links, (output, priority), (lane, fill), queue);
        let switch = &*self;
        if switch.inputs[list].head == NIL && place {
            self.leave_input(links, cx, packet, port, false);
            if !self.crosspoint {
                links.ports[output.index()].tx.pointers[priority] = input as u8;
            }
            if self.slot == 0 && self.may_start(links, cx, output, priority as u8, queue) {
                self.start(links, cx, output, packet, false);
                return;
            }
            links.begin_wait(cx, output, packet, false);
            links.ports[output.index()].tx.waiting += 1;
            links.observe.occupancy.waits(output, cx.now().0);
            self.filled[fill] += 1;
            links.store(output, lane, packet);
            if self.crosspoint {
                self.queue_grows(priority, input, out);
            }
            self.note_waiting(links, cx, (input, out), queue);
            self.note_stored(links, cx, (input, out), queue);
            self.try_output(links, cx, output);
        } else {
            links.begin_wait(cx, output, packet, true);
            links.ports[output.index()].tx.waiting += 1;
            links.observe.occupancy.waits(output, cx.now().0);
            let switch = &mut *self;
            if switch.inputs[list].head == NIL {
                switch.heads[priority * switch.ports as usize + out as usize] |= S::one(input);
            }
            links.packets.push_back(&mut switch.inputs[list], packet);
            if !place && self.detect && self.is_late_behind(links, input, out) {
                links.cold[output.index()].stats.late_hol += 1;
            }
            self.queue_grows(priority, input, out);
            self.note_waiting(links, cx, (input, out), queue);
        }
    }

    /// A packet of a channel is eligible in the switch: it is routed, and starts or waits.
    pub fn arrive_in_channel<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        channel: u8,
    ) {
        let record = &mut links.packets[packet];
        let hop =
            self.routes.get(record.destination as usize).filter(|hop| u32::from(hop.egress) < self.ports);
        let Some(hop) = hop else {
            let flow = record.flow;
            links.drop_packet(cx, packet, port, flow, DropReason::Unroutable);
            return;
        };
        self.stamp = self.stamp.wrapping_add(1);
        let (input, output) = (port - self.base, self.base + u32::from(hop.egress));
        record.next_hop = hop.next_hop;
        record.share = NIL;
        record.stamp = self.stamp;
        record.input = input as u8;
        record.port = output;
        let priority = record.priority;
        let queue = links.queue_of(output, hop.next_hop);
        let record = &mut links.packets[packet];
        record.queue = queue;
        links.occupy_channel(port, channel, cx.now().0);
        if self.may_start(links, cx, output, priority, UNSTAGED)
            && !links.is_held(packet)
            && !self.readable(links, cx, output, S::one(input), 0).is_empty()
        {
            self.start(links, cx, output, packet, false);
            return;
        }
        links.consume(cx, output, cx.key());
        links.ports[port.index()].rx.wanted |= S::one(hop.egress.into());
        links.wait_in_channel(output, input, packet, cx.now().0);
        if self.detect {
            self.note_late_in_channel(links, cx, (input, hop.egress.into()), priority);
            self.occupancy_up_in_channel(links, cx, (input, hop.egress.into()), packet);
        }
        self.try_output(links, cx, output);
    }
}

/// A packet that came through `port` would run dry, or has to be copied: it is not cut through, but stored
/// first.
#[inline(never)]
fn store_first<P: Build, L: EventList<Payload>>(
    links: &mut Links<P>,
    cx: &mut Cx<'_, L>,
    port: PortId,
    packet: u32,
    extra: u32,
) {
    let extra = u64::from(extra);
    links.packets[packet].times[Cause::Serialization] += extra;
    let ready = Happening::Ready { packet, from_wire: false, behind: 0 };
    cx.post(cx.key().later(Duration(extra)), port.into(), ready.pack());
}
