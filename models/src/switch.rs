//! A switch: what an arriving packet does, and its queues. Who goes first is in `arbiter.rs`.

pub(crate) mod arbiter;

use crate::config::{Arbitration, PRIORITIES};
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::Node;
use crate::link::Links;
use crate::link::interleave::ChannelReads;
use crate::link::medium::Freed;
use crate::link::port::{NONE, Port, reading, special};
use crate::link::transmit::{list_index, put, wait_for};
use crate::observe::probe::{DropReason, Probe};
use crate::packet::List;
use crate::packet::{MULTICAST_QUEUES, NIL, UNSTAGED, sole_port};
use crate::world::Fabric;
use sim_core::{Duration, EventKey, EventList, Stream};
use voq_backpressure::Originator;

impl<P: Probe> Links<P> {
    /// Staging queue of a unicast packet that leaves through `output` for the neighbour's port `next_hop`.
    #[inline(always)]
    pub fn queue_of(&self, output: u32, next_hop: u8) -> u8 {
        match self.ports[output as usize].tx.identity_queues {
            0 => UNSTAGED,
            0xFF => self.cold[output as usize].queue_of(next_hop),
            ports if next_hop < ports => next_hop,
            _ => UNSTAGED,
        }
    }

    /// Queue of a packet that stands for a set of the neighbour's ports.
    pub fn queue_of_set(&self, output: u32, set: u64) -> u8 {
        let cold = &self.cold[output as usize];
        match set.count_ones() {
            0 => UNSTAGED,
            1 => cold.queue_of(set.trailing_zeros() as u8),
            _ => match &cold.staging {
                None => UNSTAGED,
                Some(staging) => {
                    let n = staging.multicast.iter().position(|m| *m == set).expect("set was announced");
                    MULTICAST_QUEUES + n as u8
                }
            },
        }
    }
}

/// Route entry in two octets: egress port, [`MASK`]` | mask`, or [`DROP`]; next-hop port.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Hop {
    pub egress: u8,
    pub next_hop: u8,
}
pub(crate) const MASK: u8 = 0x80;
pub(crate) const DROP: u8 = 0xFF;

/// Everything about a switch that is not a port.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    pub device: u32,
    /// Index of port 0.
    pub base: u32,
    pub ports: u32,
    /// First list of output 0.
    pub lists: u32,
    pub fifo: bool,
    /// The transmitter reads the input buffers themselves.
    pub direct: bool,
    /// Packets that an output's lane (or the whole output) takes; only without `direct`.
    pub depth: u32,
    pub crosspoint: bool,
    pub arbitration: Arbitration,
    pub slot: u64,
    pub reads: u32,
    pub routes: Vec<Hop>,
    pub masks: Vec<u64>,
    pub mask_next_hops: Vec<Vec<u64>>,
    /// Input lists before the outputs: FIFO `[priority][input]` or, per output, `[priority][output][input]`.
    pub inputs: Vec<List>,
    /// Inputs whose head wants the output, `[priority * ports + output]`; only with a depth.
    pub heads: Vec<u64>,
    /// Packets in each (output, lane) list by priority, only with a depth:
    /// `[(priority*ports+output)*lanes+lane]`.
    pub filled: Vec<u16>,
    /// Inputs with all reads in use (may be stale).
    pub reading: u64,
    /// Who reads each input.
    pub reads_of: Vec<Reads>,
    /// Who reads each channel of each input, where channels share links by micropackets.
    pub channel_reads: Option<Box<ChannelReads>>,
    /// Outputs that are idle although packets wait in their lists: of each it has been tried to start one.
    pub waiting_outputs: u64,
    /// All ones where outputs choose together (cell clock, iSLIP), so that `waiting_outputs` says nothing;
    /// else 0.
    pub choose_together: u64,
    /// Packets exposed at the head of each FIFO input, by priority.
    pub exposed: Vec<[u16; 4]>,
    pub x_on: u32,
    pub x_off: u32,
    pub detect: bool,
    pub per_ingress: bool,
    /// Waiting packets by `[ingress * ports + egress]` (per ingress) or `[egress]`.
    pub occupancy: Vec<u16>,
    /// Congested egress ports, by ingress (per ingress) or one word.
    pub raw: Vec<u64>,
    pub originator: Option<Box<Originator>>,
    pub generation_delay: u64,
    pub stamp: u32,
    pub rng: Option<Box<Stream>>,
    pub tick_posted: bool,
}

/// Who reads an input, and who read it last.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Reads {
    /// Outputs that read from it, one bit each (may be stale).
    pub outputs: u64,
    /// Output that read it last, by priority, and for virtual channels: the one after it is next when the
    /// input can be read again (accept pointers of iSLIP).
    pub last: [u8; PRIORITIES + 1],
}

/// Whether `outputs` are as many as may read at a time. One is the ordinary case, and to count bits is slow
/// where the processor may not be asked to.
#[inline(always)]
pub(crate) fn all_taken(outputs: u64, reads: u32) -> bool {
    if reads == 1 { outputs != 0 } else { outputs.count_ones() >= reads }
}

impl Switch {
    /// Output `out` does not read `input` any more.
    #[inline(always)]
    pub fn read_ended(&mut self, input: u32, out: u32) {
        let outputs = &mut self.reads_of[input as usize].outputs;
        *outputs &= !(1 << out);
        // Another may have begun in the instant in which this one ends.
        let full = all_taken(*outputs, self.reads);
        self.reading = self.reading & !(1 << input) | u64::from(full) << input;
    }

    /// Where a packet of `input` for `out` counts: (cell of `occupancy`, word of `raw`).
    #[inline]
    pub fn detector_of(&self, input: u32, out: u32) -> (usize, usize) {
        if self.per_ingress {
            ((input * self.ports + out) as usize, input as usize)
        } else {
            (out as usize, 0)
        }
    }

    /// Inputs and outputs are matched together. Buffers behind the inputs decouple them: there each output
    /// chooses for itself, round robin.
    pub fn matches(&self) -> bool {
        self.direct && matches!(self.arbitration, Arbitration::Islip { .. })
    }
}

impl<P: Probe> Fabric<P> {
    /// Unfolded: the deciding octet has arrived; the pipeline becomes an event with the same order.
    pub fn arrive_unfolded<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        extra: u32,
    ) {
        let upstream = self.links.ports[port as usize].rx.peer;
        let pipeline = self.links.timings[self.links.ports[upstream as usize].tx.timing as usize].pipeline;
        if pipeline == 0 && self.links.is_symbolic(port) {
            self.packet_arrives(cx, port, packet, extra);
        } else if pipeline == 0 {
            self.arrive(cx, port, packet, extra);
        } else {
            cx.post(
                cx.key().later(Duration(pipeline)),
                port,
                Happening::Ready { packet, from_wire: true, behind: extra }.pack(),
            );
        }
    }

    /// A packet is eligible in the switch: it is accepted, routed, and starts or waits. `extra` > 0:
    /// cut-through, its last octet comes that much later.
    pub fn arrive<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, packet: u32, extra: u32) {
        let s = self.links.nodes.switch(port);
        let switch = &self.switches[s];
        let record = &self.links.packets[packet];
        let flow = record.flow;
        let hop = match switch.routes.get(record.destination as usize) {
            Some(hop) => *hop,
            None if record.is_maintenance() => {
                self.arrive_maintenance(cx, port, packet, extra);
                return;
            }
            None => Hop { egress: DROP, next_hop: crate::config::NO_PORT },
        };
        if extra != 0 {
            let faster = hop.egress & MASK == 0 && {
                let output = switch.base + u32::from(hop.egress);
                let timing_of = |p: u32| &self.links.timings[self.links.ports[p as usize].tx.timing as usize];
                let (input, output) = (timing_of(port), timing_of(output));
                output.char_num * input.char_den < input.char_num * output.char_den
            };
            if faster || hop.egress & MASK != 0 {
                // Would run dry (or has to be copied): stored first.
                self.links.packets[packet].parts[crate::observe::probe::Cause::Serialization as usize] +=
                    u64::from(extra);
                cx.post(
                    cx.key().later(Duration(u64::from(extra))),
                    port,
                    Happening::Ready { packet, from_wire: false, behind: 0 }.pack(),
                );
                return;
            }
            let key = self.links.key(
                self.links.ports[port as usize].rx.device,
                cx.now().0 + u64::from(extra),
                class::ARRIVAL,
            );
            cx.post(key, port, Happening::Accepted.pack());
            self.links.ports[port as usize].rx.unaccepted += 1;
        }
        if hop.egress & MASK == 0 {
            let output = self.switches[s].base + u32::from(hop.egress);
            let queue = self.links.queue_of(output, hop.next_hop);
            let record = &mut self.links.packets[packet];
            record.next_hop = hop.next_hop;
            record.queue = queue;
            record.share = NIL;
            self.enqueue(cx, s, port, output, packet);
        } else if hop.egress == DROP {
            self.links.drop_packet(cx, packet, port, flow, DropReason::Unroutable);
        } else {
            self.replicate(cx, s, port, packet, (hop.egress & !MASK) as usize);
        }
        if extra == 0 {
            self.accept(cx, port);
        }
    }

    /// Cut-through: the last octet of a packet is in.
    pub fn accepted<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        self.links.ports[port as usize].rx.unaccepted -= 1;
        self.accept(cx, port);
    }

    #[inline(always)]
    pub fn accept<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let s = self.links.nodes.switch(port);
        let input = port - self.switches[s].base;
        if self.switches[s].reads_of[input as usize].outputs != 0 {
            self.prune(s, input, cx.key());
        }
        self.make_status(cx, port, cx.now().0, 1);
    }

    /// Copies a multicast packet to every port of its mask but the one it came through; the copies share one
    /// receive buffer, and each is a read of its own: as many at a time as `reads_per_input` permits.
    #[inline(never)]
    fn replicate<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        port: u32,
        packet: u32,
        mask: usize,
    ) {
        let base = self.switches[s].base;
        let mut ports = self.switches[s].masks[mask] & !(1u64 << (port - base));
        if ports == 0 {
            let flow = self.links.packets[packet].flow;
            self.links.drop_packet(cx, packet, port, flow, DropReason::EmptyMask);
            return;
        }
        let copies = ports.count_ones();
        self.links.observe.ledger.replicated += u64::from(copies - 1);
        let share = if copies == 1 { NIL } else { self.links.packets.share(copies) };
        let original = self.links.packets[packet].clone();
        let mut first = true;
        while ports != 0 {
            let n = ports.trailing_zeros();
            ports &= ports - 1;
            let output = base + n;
            let set = self.switches[s].mask_next_hops[mask][n as usize];
            let id = if first { packet } else { self.links.packets.insert(original.clone()) };
            if !first {
                self.links.packets.cargoes.copy(packet, id);
                self.links.packets.late.copy(packet, id);
            }
            let queue = self.links.queue_of_set(output, set);
            let record = &mut self.links.packets[id];
            record.share = share;
            record.queue = queue;
            record.next_hop = sole_port(set);
            if !first && share != NIL {
                // One buffer for all copies: `enqueue` counts it once, with the first.
                self.enqueue_copy(cx, s, port, output, id);
            } else {
                self.enqueue(cx, s, port, output, id);
            }
            first = false;
        }
    }

    /// More packets than buffers are counted: reads that ended without an event have to explain it.
    #[cold]
    fn overlapping_reads(&mut self, s: usize, port: u32, key: EventKey) -> bool {
        self.prune(s, port - self.switches[s].base, key);
        self.links.ports[port as usize].rx.occupied <= self.links.ports[port as usize].rx.buffers
    }

    #[inline(always)]
    pub fn enqueue<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        port: u32,
        output: u32,
        packet: u32,
    ) {
        let rx = &mut self.links.ports[port as usize].rx;
        rx.occupied += 1;
        let fits = rx.occupied <= rx.buffers;
        if !(fits || self.overlapping_reads(s, port, cx.key())) {
            return self.links.overflows(cx, port, packet);
        }
        self.enqueue_copy(cx, s, port, output, packet);
    }

    fn enqueue_copy<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        port: u32,
        output: u32,
        packet: u32,
    ) {
        let switch = &mut self.switches[s];
        switch.stamp = switch.stamp.wrapping_add(1);
        let base = switch.base;
        let (input, out) = (port - base, output - base);
        let record = &mut self.links.packets[packet];
        record.stamp = switch.stamp;
        record.input = input as u8;
        record.port = output;
        let (priority, queue) = (record.priority as usize, record.queue);
        if switch.direct {
            let behind = switch.fifo
                && (switch.exposed[input as usize][priority] != 0
                    || switch.inputs[priority * switch.ports as usize + input as usize].head != NIL);
            if behind {
                self.begin_wait(cx, output, packet, true);
                self.links.ports[output as usize].tx.waiting += 1;
                let switch = &mut self.switches[s];
                let index = priority * switch.ports as usize + input as usize;
                self.links.packets.push_back(&mut switch.inputs[index], packet);
                self.note_waiting(cx, s, input, out);
                return;
            }
            if switch.slot == 0
                && self.may_start(cx, output, priority as u8, queue)
                && self.readable(cx, output, 1 << input, priority) != 0
            {
                self.start(cx, output, packet, false);
                return;
            }
            if self.links.ports[output as usize].tx.clock.blocked() != 0 {
                // The clock must know every change of credit up to now before it is read.
                self.consume(cx, output, cx.key());
            }
            let Fabric { links: Links { ports, cold, packets, lists, .. }, switches, .. } = &mut *self;
            let (ports, switch) = (&mut ports[..], &mut switches[s]);
            let Port { tx: from, rx } = &mut ports[port as usize];
            from.wanted |= 1 << out;
            let crowded = rx.occupied > rx.high_water;
            let tx = &mut ports[output as usize].tx;
            wait_for(&tx.clock, &mut packets[packet], cx.now().0, false);
            tx.waiting += 1;
            tx.high_water = tx.high_water.max(tx.waiting);
            if switch.fifo {
                switch.exposed[input as usize][priority] += 1;
            }
            let index = list_index(tx.lists, &cold[..], output, priority, input);
            put(tx, packets, &mut lists[index], priority, input, packet);
            if crowded {
                self.note_high_water(cx, s, input);
            }
            if self.switches[s].detect {
                self.note_late(cx, s, input, out);
                self.occupancy_up(cx, s, input, out);
            }
            self.try_output(cx, output);
            return;
        }
        self.enqueue_behind(cx, s, port, output, packet);
    }

    /// The same where there are buffers behind the inputs.
    #[inline(never)]
    fn enqueue_behind<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        port: u32,
        output: u32,
        packet: u32,
    ) {
        let base = self.switches[s].base;
        let (input, out) = (port - base, output - base);
        let record = &self.links.packets[packet];
        let (priority, queue) = (record.priority as usize, record.queue);
        let (list, lane, fill) = self.depth_indices(s, priority, input, out);
        let switch = &self.switches[s];
        if switch.inputs[list].head == NIL && u32::from(switch.filled[fill]) < switch.depth {
            self.leave_input(cx, packet, port, false);
            if !self.switches[s].crosspoint {
                self.links.ports[output as usize].tx.pointers[priority] = input as u8;
            }
            if self.switches[s].slot == 0 && self.may_start(cx, output, priority as u8, queue) {
                self.start(cx, output, packet, false);
                return;
            }
            self.begin_wait(cx, output, packet, false);
            self.links.ports[output as usize].tx.waiting += 1;
            self.switches[s].filled[fill] += 1;
            self.links.store(output, lane, packet);
            self.note_waiting(cx, s, input, out);
            self.note_stored(cx, s, input, out);
            self.try_output(cx, output);
        } else {
            self.begin_wait(cx, output, packet, true);
            self.links.ports[output as usize].tx.waiting += 1;
            let switch = &mut self.switches[s];
            let full = u32::from(switch.filled[fill]) >= switch.depth;
            if switch.inputs[list].head == NIL {
                switch.heads[priority * switch.ports as usize + out as usize] |= 1 << input;
            }
            self.links.packets.push_back(&mut switch.inputs[list], packet);
            if full && switch.detect {
                self.links.cold[output as usize].stats.late_hol += 1;
            }
            self.note_waiting(cx, s, input, out);
        }
    }

    /// (input list, lane, fill counter) of a packet in a switch with buffers behind the inputs.
    fn depth_indices(&self, s: usize, priority: usize, input: u32, out: u32) -> (usize, u32, usize) {
        let switch = &self.switches[s];
        let n = switch.ports as usize;
        let list = if switch.fifo {
            priority * n + input as usize
        } else {
            (priority * n + out as usize) * n + input as usize
        };
        let (lanes, lane) = if switch.crosspoint { (n, input) } else { (1, 0) };
        (list, lane, (priority * n + out as usize) * lanes + lane as usize)
    }

    /// A packet does not need the receive buffer any more (with a depth: it moved on).
    fn leave_input<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, packet: u32, port: u32, tell: bool) {
        let share = std::mem::replace(&mut self.links.packets[packet].share, NIL);
        if share != NIL && !self.links.packets.last_of_group(share) {
            return;
        }
        if tell || self.links.ports[port as usize].rx.special & special::MEDIUM != 0 {
            let priority = self.links.packets[packet].priority;
            self.release(cx, port, Freed::Moved(priority));
        } else {
            self.links.ports[port as usize].rx.occupied -= 1;
        }
    }

    /// The packet begins to count for the detector and the high-water marks.
    #[inline(always)]
    fn note_waiting<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize, input: u32, out: u32) {
        let base = self.switches[s].base;
        let rx = &self.links.ports[(base + input) as usize].rx;
        if rx.occupied > rx.high_water {
            self.note_high_water(cx, s, input);
        }
        let tx = &mut self.links.ports[(base + out) as usize].tx;
        tx.high_water = tx.high_water.max(tx.waiting);
        if self.switches[s].detect && self.counts_on_arrival(s) {
            if self.switches[s].direct {
                self.note_late(cx, s, input, out);
            }
            self.occupancy_up(cx, s, input, out);
        }
    }

    /// `direct`: a packet waits for an output whose detector was on before it came, as its neighbour is told.
    /// It is late if its receive buffer is one that the neighbour's packets of priority 0 would need
    /// (VOQ-2.5-5).
    #[inline(always)]
    fn note_late<L: EventList<Payload>>(&mut self, cx: &Cx<'_, L>, s: usize, input: u32, out: u32) {
        let switch = &self.switches[s];
        let (_, word) = switch.detector_of(input, out);
        if switch.raw[word] & (1 << out) != 0 {
            self.count_late(s, input, out, cx.key());
        }
    }

    #[cold]
    fn count_late(&mut self, s: usize, input: u32, out: u32, key: EventKey) {
        self.prune(s, input, key);
        let switch = &self.switches[s];
        let told = switch.originator.as_ref().is_some_and(|originator| {
            originator.active().contains(input as u16) && originator.reported(input as u16, out as u16)
        });
        if !told {
            return;
        }
        let base = switch.base;
        let rx = &self.links.ports[(base + input) as usize].rx;
        let upstream = &self.links.timings[self.links.ports[rx.peer as usize].tx.timing as usize];
        let free = rx.buffers.saturating_sub(rx.occupied);
        self.links.cold[(base + out) as usize].stats.late_hol += u64::from(free < upstream.watermarks[0]);
    }

    /// An input holds more packets than ever, unless some of them are reads that ended without an event.
    fn note_high_water<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize, input: u32) {
        self.prune(s, input, cx.key());
        let rx = &mut self.links.ports[(self.switches[s].base + input) as usize].rx;
        rx.high_water = rx.high_water.max(rx.occupied);
    }

    /// A packet entered the output's own buffer.
    fn note_stored<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize, input: u32, out: u32) {
        if self.switches[s].detect && !self.counts_on_arrival(s) {
            self.occupancy_up(cx, s, input, out);
        }
    }

    /// The detector watches everything that waits for the egress port in the switch, except for a shared
    /// output buffer, where it watches the buffer (the egress queue of the output-queued model).
    fn counts_on_arrival(&self, s: usize) -> bool {
        let switch = &self.switches[s];
        switch.direct || switch.crosspoint || switch.per_ingress
    }

    #[inline(always)]
    fn occupancy_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize, input: u32, out: u32) {
        let switch = &mut self.switches[s];
        let (cell, word) = switch.detector_of(input, out);
        switch.occupancy[cell] += 1;
        if u32::from(switch.occupancy[cell]) >= switch.x_on && switch.raw[word] & (1 << out) == 0 {
            switch.raw[word] |= 1 << out;
            self.verdict(cx, s, input, out, true);
        }
    }

    #[inline(always)]
    fn occupancy_down<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize, input: u32, out: u32) {
        let switch = &mut self.switches[s];
        let (cell, word) = switch.detector_of(input, out);
        switch.occupancy[cell] -= 1;
        if u32::from(switch.occupancy[cell]) <= switch.x_off && switch.raw[word] & (1 << out) != 0 {
            switch.raw[word] &= !(1 << out);
            self.verdict(cx, s, input, out, false);
        }
    }

    /// A transmission of this switch has started.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub fn started_at_switch<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        output: u32,
        input: u8,
        share: u32,
        priority: u8,
        stored: bool,
    ) {
        let switch = &mut self.switches[s];
        let (input, out) = (u32::from(input), output - switch.base);
        let port = switch.base + input;
        let priority = priority as usize;
        switch.waiting_outputs &= !(1 << out);
        if switch.direct {
            let rx = &mut self.links.ports[port as usize].rx;
            let reads = &mut switch.reads_of[input as usize];
            reads.outputs |= 1 << out;
            let full = all_taken(reads.outputs, switch.reads);
            reads.last[priority.min(PRIORITIES)] = out as u8;
            switch.reading |= u64::from(full) << input;
            let fifo = switch.fifo;
            let low = rx.advertised <= rx.eager_at;
            let tx = &mut self.links.ports[output as usize].tx;
            tx.reading = input as u8;
            // Packets of virtual channels have pointers of their own.
            if let Some(pointer) = tx.pointers.get_mut(priority) {
                *pointer = input as u8;
            }
            if share != NONE {
                tx.reading_kind = reading::COPY;
                self.links.cold[output as usize].reading_share = share;
            }
            if low || share != NONE {
                self.links.post_done(cx, output);
            }
            if stored {
                if self.switches[s].detect {
                    self.occupancy_down(cx, s, input, out);
                }
                if fifo {
                    self.switches[s].exposed[input as usize][priority] -= 1;
                    self.expose(cx, s, input, priority);
                }
            }
            return;
        }
        if switch.crosspoint {
            self.links.ports[output as usize].tx.pointers[priority] = input as u8;
        }
        if !stored {
            return;
        }
        let switch = &self.switches[s];
        if switch.detect {
            self.occupancy_down(cx, s, input, out);
        }
        let (_, lane, fill) = self.depth_indices(s, priority, input, out);
        self.switches[s].filled[fill] -= 1;
        self.pull(cx, s, out, priority, lane);
    }

    /// FIFO inputs read directly: the next head becomes a candidate at its output.
    #[inline(never)]
    fn expose<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize, input: u32, priority: usize) {
        let switch = &mut self.switches[s];
        let base = switch.base;
        let index = priority * switch.ports as usize + input as usize;
        if switch.inputs[index].head == NIL || switch.exposed[input as usize][priority] != 0 {
            return;
        }
        let packet = self.links.packets.pop_front(&mut switch.inputs[index]);
        let output = self.links.packets[packet].port;
        let out = output - base;
        self.end_wait(cx, output, packet);
        self.begin_wait(cx, output, packet, false);
        self.switches[s].exposed[input as usize][priority] = 1;
        self.links.ports[(base + input) as usize].tx.wanted |= 1 << out;
        self.links.store(output, input, packet);
        self.try_output(cx, output);
    }

    /// There is room behind the inputs for (priority, output, lane): the next packet moves in.
    #[inline(never)]
    fn pull<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        out: u32,
        priority: usize,
        lane: u32,
    ) {
        let switch = &self.switches[s];
        let cell = priority * switch.ports as usize + out as usize;
        let mut inputs = switch.heads[cell];
        if switch.crosspoint {
            inputs &= 1 << lane;
        }
        if inputs == 0 {
            return;
        }
        let input = self.choose_input(s, out, priority, inputs);
        self.admit(cx, s, input, out, priority);
    }

    /// Which of `inputs` moves a packet into the output's buffer.
    fn choose_input(&mut self, s: usize, out: u32, priority: usize, inputs: u64) -> u32 {
        let output = self.switches[s].base + out;
        let pointer = self.links.ports[output as usize].tx.pointers[priority];
        self.choose(Node::Switch(s), inputs, pointer, |fabric, input| {
            let (list, _, _) = fabric.depth_indices(s, priority, input, out);
            fabric.links.packets[fabric.switches[s].inputs[list].head].stamp
        })
    }

    /// Moves the head of an input queue into the buffer of its output, and after it whatever it was blocking.
    fn admit<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        input: u32,
        out: u32,
        priority: usize,
    ) {
        let (list, lane, fill) = self.depth_indices(s, priority, input, out);
        let switch = &mut self.switches[s];
        let (base, n) = (switch.base, switch.ports as usize);
        let output = base + out;
        let packet = self.links.packets.pop_front(&mut switch.inputs[list]);
        let next = switch.inputs[list].head;
        if switch.fifo || next == NIL {
            switch.heads[priority * n + out as usize] &= !(1 << input);
        }
        switch.filled[fill] += 1;
        if !switch.crosspoint {
            // From here on its age is that of its place in the buffer: packets that a message moves aside
            // compete with those behind them by it. Between crosspoints the age in the switch decides, and
            // within one it is the order of places, too.
            switch.stamp = switch.stamp.wrapping_add(1);
            self.links.packets[packet].stamp = switch.stamp;
            self.links.ports[output as usize].tx.pointers[priority] = input as u8;
        }
        self.end_wait(cx, output, packet);
        self.begin_wait(cx, output, packet, false);
        self.leave_input(cx, packet, base + input, true);
        self.links.store(output, lane, packet);
        self.note_stored(cx, s, input, out);
        if self.switches[s].fifo && next != NIL {
            let other = self.links.packets[next].port - base;
            self.switches[s].heads[priority * n + other as usize] |= 1 << input;
            let (_, _, fill) = self.depth_indices(s, priority, input, other);
            if u32::from(self.switches[s].filled[fill]) < self.switches[s].depth {
                self.admit(cx, s, input, other, priority);
            }
        }
        self.try_output(cx, output);
    }
}
