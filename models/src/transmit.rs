//! A transmitter: credits, choice of the next packet, start of a transmission, buffer releases.

use crate::arbiter::next_after;
use crate::clock::{CHANNELS, TransmitClock};
use crate::config::PRIORITIES;
use crate::event::{Cx, Happening, Payload, class};
use crate::fabric::Fabric;
use crate::ids::Node;
use crate::interleave::BY_CHANNEL;
use crate::link::Links;
use crate::medium::Freed;
use crate::observe::mark;
use crate::packet::{AT_INPUT, List, MULTICAST_QUEUES, NIL, Packet, Packets, UNSTAGED, WAITING};
use crate::port::{Cold, CreditRecord, LinkTiming, NO_INPUT, Parked, Port, Tx, reading, special};
use crate::probe::{Cause, PacketStep, Probe};
use crate::symbol::Flight;
use crate::wire::Function;
use sim_core::{Duration, EventKey, EventList, Time};
use std::hint::select_unpredictable;

/// A packet that may start now.
///
/// Eight octets, so that it travels in a register; `packet` is [`NIL`] when there is none.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Pick {
    pub packet: u32,
    /// Index into `parked`, or [`MAIN`] for the main list.
    pub parked: u16,
    pub priority: u8,
    pub lane: u8,
}

/// The packet is in the main list of its lane.
const MAIN: u16 = u16::MAX;

impl Pick {
    /// Nothing may start.
    pub const NONE: Self = Pick { packet: NIL, parked: MAIN, priority: 0, lane: 0 };
    /// In `parked`: the packet is in the list of a virtual channel, and `priority` is that channel.
    pub const IN_CHANNEL: u16 = MAIN - 1;
}

/// What a transmission that has begun means to the device that it leaves.
#[derive(Copy, Clone, Debug)]
struct Started {
    flight: Flight,
    /// [`special`] of the port.
    special: u8,
    input: u8,
    share: u32,
    origin: u16,
    priority: u8,
    queue: u8,
}

impl<P: Probe> Links<P> {
    /// Makes the symbol that tells the neighbour of `port` about its buffers at `t`, and its record. Whether
    /// they are so few that every release has to be told at once.
    #[inline(always)]
    fn place_status<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        t: u64,
        acknowledged: u8,
    ) -> bool {
        let special = self.ports[port as usize].rx.special;
        let Links { ports, cold, timings, keys, .. } = self;
        let (ports, cold, keys, timings) = (&mut ports[..], &mut cold[..], &mut keys[..], &timings[..]);
        let rx = &mut ports[port as usize].rx;
        let timing = &timings[rx.timing as usize];
        let slot = rx.wire.due(t, Function::Stype0, timing.wire);
        rx.wire.status_riding += u32::from(slot.riding);
        rx.status_standalone += u32::from(!slot.riding);
        let at = slot.start + timing.wire.symbol + timing.propagation;
        let (peer, device) = (rx.peer, rx.device);
        let place = slot.start;
        rx.advertised = rx.buffers - rx.occupied.saturating_sub(rx.unaccepted);
        let low = rx.advertised <= rx.eager_at;
        let buffers = rx.advertised;
        let key = keys[device as usize].make(Time(at), class::SYMBOL);
        let upstream = &mut ports[peer as usize].tx;
        // Records that are visible by now are applied: only those still on the wire are kept. Not while the
        // sender is blocked: then they change its clock, and it may have creations to make up first.
        if upstream.clock.blocked() == 0 {
            let timing = &timings[upstream.timing as usize];
            apply_visible(upstream, timing, cold, peer, cx.key());
        }
        upstream.push_record(cold, peer, CreditRecord { key, buffers, acknowledged });
        if upstream.credit_waiting && !upstream.wake_posted && key > cx.key() {
            upstream.wake_posted = true;
            cx.post(key, peer, Happening::Wake.pack());
        }
        if special != 0 {
            self.note_status(cx.now().0, port, place, acknowledged, buffers);
        }
        low
    }

    /// Commits `packet` to the wire of `port` now, and posts its arrival where the link has no event of its own
    /// for it.
    #[inline(always)]
    fn commit_packet<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        is_switch: bool,
    ) -> Started {
        let (index, now) = (port as usize, cx.now().0);
        // Slices in local variables: their places and lengths stay in registers across the stores below.
        let Links { ports, cold, packets, timings, keys, observe, unfolded, .. } = self;
        let (ports, cold, keys, timings) = (&mut ports[..], &mut cold[..], &mut keys[..], &timings[..]);
        let Port { tx, rx: transmit } = &mut ports[index];
        let timing = &timings[tx.timing as usize];
        let record = &mut packets[packet];
        let waited = close_wait(&tx.clock, record, now, is_switch);
        tx.free -= 1;
        tx.outstanding += 1;
        tx.credit_waiting = false;
        tx.clock.set_blocked(now, timing.blocked(tx.free, tx.outstanding));
        let octets = u64::from(record.wire);
        let length = match timing.char_den {
            1 => (octets + timing.symbol_chars) * timing.char_num,
            _ => timing.packet_ps(octets, &mut cold[index].carry),
        };
        let start = transmit.wire.start_packet(now, length, timing.wire);
        let end = start + length;
        tx.clock.transmit(now, end);
        tx.packets_sent += 1;
        tx.packet_ps += length;
        let stored_until = match timing.header {
            0 => length,
            octets => ((octets + timing.symbol_chars) * timing.char_num / timing.char_den).min(length),
        };
        let delay = if is_switch { Cause::OutputContention } else { Cause::SourceQueue };
        record.parts[delay as usize] += start - now;
        // Endpoints start packets of their own only.
        record.left = if is_switch { record.left } else { start };
        record.parts[Cause::Serialization as usize] += stored_until;
        record.parts[Cause::Propagation as usize] += timing.propagation;
        record.parts[Cause::Pipeline as usize] += timing.pipeline;
        let (input, share, origin, priority) = (record.input, record.share, record.origin, record.priority);
        let queue = record.queue;
        let id = u64::from(record.sequence) << 32 | u64::from(record.source);
        observe.trajectory.record(mark::START, Time(start), u64::from(port), id);
        observe.ledger.packet_hops += 1;
        let keys = &mut keys[transmit.device as usize];
        let arrival =
            keys.make(Time(start + stored_until + timing.propagation + timing.pipeline), class::ARRIVAL);
        tx.done = keys.make(Time(end), class::DONE);
        debug_assert!(!tx.done_posted);
        let peer = transmit.peer;
        let special = transmit.special;
        let flight = Flight { start, stored: stored_until, arrival, behind: (length - stored_until) as u32 };
        if special & special::CARRIED != 0 {
            // The link's own event takes the packet there.
        } else if !timing.to_sink {
            // Unfolded: the same key, one pipeline earlier, so that ties stay what they are.
            let at = arrival.earlier(Duration(if *unfolded { timing.pipeline } else { 0 }));
            let behind = (length - stored_until) as u32;
            cx.post(
                at,
                peer,
                Happening::Arrive { packet, destination: record.destination as u16, behind }.pack(),
            );
        } else {
            let in_flight = &mut cold[peer as usize].in_flight;
            in_flight.push_back((arrival, packet));
            if *unfolded || timing.to_agent {
                let key = in_flight[0].0;
                let sink = &mut ports[peer as usize].rx;
                if !sink.deliver_posted {
                    sink.deliver_posted = true;
                    cx.post(key, peer, Happening::Deliver.pack());
                }
            }
        }
        if let Some(waited) = waited {
            self.note_waited(port, packet, input, waited);
        }
        Started { flight, special, input, share, origin, priority, queue }
    }
}

impl<P: Probe> Links<P> {
    #[inline(always)]
    fn apply_records(&mut self, port: u32, key: EventKey) {
        let tx = &mut self.ports[port as usize].tx;
        let timing = &self.timings[tx.timing as usize];
        apply_visible(tx, timing, &mut self.cold, port, key);
    }

    /// The transmitter is blocked on credit: makes sure that the next change wakes it.
    pub fn await_credit<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let tx = &mut self.ports[port as usize].tx;
        tx.credit_waiting = true;
        if tx.wake_posted {
            return;
        }
        if let Some(record) = tx.first_record() {
            tx.wake_posted = true;
            cx.post(record.key, port, Happening::Wake.pack());
            return;
        }
        let peer = tx.peer;
        if let Some(&(key, _)) = self.cold[peer as usize].in_flight.front() {
            let rx = &mut self.ports[peer as usize].rx;
            if !rx.deliver_posted {
                rx.deliver_posted = true;
                cx.post(key, peer, Happening::Deliver.pack());
            }
        }
    }

    /// A status of a link that needs more than the closed form has its place on the wire.
    #[cold]
    fn note_status(&mut self, now: u64, port: u32, place: u64, acknowledged: u8, free: u8) {
        let bits = self.ports[port as usize].rx.special;
        if bits & special::WATCHED != 0 {
            self.end(port).note_place(now, place);
        }
        if bits & special::CHECK != 0 {
            self.check_status(port, acknowledged, free);
        }
    }

    /// No idle output but those of `waiting_outputs` has a packet in this lane.
    #[cfg(debug_assertions)]
    fn check_stuck<L: EventList<Payload>>(&self, cx: &Cx<'_, L>, base: u32, mut outputs: u64, lane: u32) {
        while outputs != 0 {
            let output = base + outputs.trailing_zeros();
            outputs &= outputs - 1;
            let busy = self.ports[output as usize].tx.done > cx.key();
            assert!(busy || !self.lane_in_use(output, lane), "an idle output was not tried");
        }
    }

    /// Whether `lane` is one of the [`eligible`](Self::eligible).
    fn waits_in(&mut self, port: u32, priority: usize, lane: u32) -> bool {
        let tx = &self.ports[port as usize].tx;
        let listed = tx.mask[priority] >> lane & 1 == 1;
        let cold = &self.cold[port as usize];
        if lane < u32::from(tx.queue_lanes) {
            return listed && cold.stopped_lanes >> lane & 1 == 0;
        }
        let apart = |queue: &Parked| !queue.stopped && queue.mask[priority] >> lane & 1 == 1;
        let released = tx.parked_any && cold.parked.iter().any(apart);
        released || listed && (!tx.parked_any || self.park_stopped(port, priority, lane))
    }

    #[inline(always)]
    pub fn base_of(&self, port: u32) -> u32 {
        self.nodes.first_port(self.ports[port as usize].rx.device)
    }

    fn lane_in_use(&self, output: u32, lane: u32) -> bool {
        let tx = &self.ports[output as usize].tx;
        let bit = 1u64 << lane;
        let main = tx.mask[0] | tx.mask[1] | tx.mask[2] | tx.mask[3];
        let apart = tx.parked_any || tx.clock.blocked() & CHANNELS != 0;
        main & bit != 0 || apart && self.lane_in_use_apart(output, lane)
    }

    /// The same of what waits beside the main lists.
    #[cold]
    fn lane_in_use_apart(&self, output: u32, lane: u32) -> bool {
        let parked = &self.cold[output as usize].parked;
        parked.iter().any(|queue| queue.mask.iter().any(|mask| mask >> lane & 1 == 1))
            || self.channels(output).is_some_and(|channels| channels.uses(lane))
    }

    /// Index of the main list of (output, priority, lane).
    #[inline(always)]
    fn list_of(&self, port: u32, priority: usize, lane: u32) -> usize {
        list_index(self.ports[port as usize].tx.lists, &self.cold, port, priority, lane)
    }

    /// Posts the end of the running transmission as an event, once.
    #[inline]
    pub fn post_done<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let tx = &mut self.ports[port as usize].tx;
        if !tx.done_posted {
            tx.done_posted = true;
            cx.post(tx.done, port, Happening::Done.pack());
        }
    }

    /// Lanes of `port` with a packet of `priority` that no message stops. Packets of stopped queues at the
    /// head of a main list move aside. The result may contain lanes whose input is busy.
    #[inline(always)]
    pub fn eligible(&mut self, port: u32, priority: usize) -> u64 {
        let tx = &self.ports[port as usize].tx;
        let mut lanes = tx.mask[priority];
        if tx.queue_lanes != 0 {
            lanes &= !self.cold[port as usize].stopped_lanes;
        }
        if !tx.parked_any {
            return lanes;
        }
        // Lanes that are queues cannot hold another queue's packets.
        let mut left = lanes >> tx.queue_lanes << tx.queue_lanes;
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            if !self.park_stopped(port, priority, lane) {
                lanes &= !(1 << lane);
            }
        }
        for parked in &self.cold[port as usize].parked {
            if !parked.stopped {
                lanes |= parked.mask[priority];
            }
        }
        lanes
    }

    /// Moves packets of stopped queues from the head of a main list to their own lists; whether the main list
    /// has a head left.
    fn park_stopped(&mut self, port: u32, priority: usize, lane: u32) -> bool {
        let tx = &mut self.ports[port as usize].tx;
        let cold = &mut self.cold[port as usize];
        let index = (tx.lists + priority as u32 * cold.stride + lane) as usize;
        loop {
            let head = self.lists[index].head;
            if head == NIL {
                tx.mask[priority] &= !(1 << lane);
                return false;
            }
            let queue = self.packets[head].queue;
            if queue == UNSTAGED {
                return true;
            }
            match cold.parked.iter_mut().find(|p| p.queue == queue) {
                Some(parked) if parked.stopped => {
                    self.packets.pop_front(&mut self.lists[index]);
                    let lanes = parked.lists.len() / PRIORITIES;
                    self.packets.push_back(&mut parked.lists[priority * lanes + lane as usize], head);
                    parked.mask[priority] |= 1 << lane;
                    parked.count += 1;
                }
                _ => return true,
            }
        }
    }

    /// The oldest packet of a lane that no message stops: main list or released queue.
    #[inline(always)]
    pub fn head_of(&self, port: u32, priority: usize, lane: u32) -> Pick {
        let tx = &self.ports[port as usize].tx;
        let head = if tx.mask[priority] & (1 << lane) != 0 {
            self.lists[self.list_of(port, priority, lane)].head
        } else {
            NIL
        };
        let mut best = Pick { packet: head, priority: priority as u8, lane: lane as u8, parked: MAIN };
        if !tx.parked_any {
            return best;
        }
        for (n, parked) in self.cold[port as usize].parked.iter().enumerate() {
            if parked.stopped || parked.mask[priority] & (1 << lane) == 0 {
                continue;
            }
            let lanes = parked.lists.len() / PRIORITIES;
            let head = parked.lists[priority * lanes + lane as usize].head;
            if best.packet == NIL || self.older(head, best.packet) {
                best.packet = head;
                best.parked = n as u16;
            }
        }
        debug_assert_ne!(best.packet, NIL);
        best
    }

    /// Arrival order at this device; stamps wrap.
    #[inline]
    fn older(&self, a: u32, b: u32) -> bool {
        (self.packets[a].stamp.wrapping_sub(self.packets[b].stamp) as i32) < 0
    }

    /// Takes a picked packet out of its list.
    #[inline(always)]
    pub fn take(&mut self, port: u32, pick: Pick) {
        let (priority, lane) = (pick.priority as usize, u32::from(pick.lane));
        let tx = &mut self.ports[port as usize].tx;
        if pick.parked == MAIN {
            let index = list_index(tx.lists, &self.cold, port, priority, lane);
            let list = &mut self.lists[index];
            let packet = self.packets.pop_front(list);
            let emptied = list.head == NIL;
            tx.mask[priority] &= !(u64::from(emptied) << lane);
            // The head is probably the next one, and long out of the first-level cache.
            self.packets.prefetch(select_unpredictable(emptied, packet, list.head));
        } else if pick.parked == Pick::IN_CHANNEL {
            self.take_from_channel(port, pick);
        } else {
            let cold = &mut self.cold[port as usize];
            let parked = &mut cold.parked[pick.parked as usize];
            let lanes = parked.lists.len() / PRIORITIES;
            let list = &mut parked.lists[priority * lanes + lane as usize];
            self.packets.pop_front(list);
            if list.head == NIL {
                parked.mask[priority] &= !(1 << lane);
            }
            parked.count -= 1;
            if parked.count == 0 && !parked.stopped {
                let emptied = cold.parked.swap_remove(pick.parked as usize);
                cold.spare.push(emptied);
                tx.parked_any = !cold.parked.is_empty();
            }
        }
        let tx = &mut self.ports[port as usize].tx;
        tx.stored -= 1;
        tx.waiting -= 1;
    }

    /// Puts a waiting packet behind the others of its lane at the output.
    #[inline(always)]
    pub fn store(&mut self, port: u32, lane: u32, packet: u32) {
        // Also packets of a stopped queue come here first, because older ones of that queue may still be in
        // the list; they move aside when they reach its head, in their order.
        let priority = self.packets[packet].priority as usize;
        let index = self.list_of(port, priority, lane);
        let tx = &mut self.ports[port as usize].tx;
        put(tx, &mut self.packets, &mut self.lists[index], priority, lane, packet);
    }

    /// The packet has waited for `port` since `t`; changes of credit up to `t` have been consumed.
    #[inline(always)]
    pub fn begin_wait_at(&mut self, port: u32, packet: u32, t: u64, at_input: bool) {
        wait_for(&self.ports[port as usize].tx.clock, &mut self.packets[packet], t, at_input);
    }

    /// Adds a packet's staged and head-of-line blocked time to the totals of its output and its input.
    fn note_waited(&mut self, port: u32, packet: u32, input: u8, waited: Waited) {
        self.packets.late.add(packet, waited.recovery);
        self.cold[port as usize].stats.staged_ps += u128::from(waited.staged);
        if waited.hol != 0 {
            let input = self.base_of(port) + u32::from(input);
            self.cold[input as usize].stats.hol_ps += u128::from(waited.hol);
        }
    }

    fn tell_started(&mut self, port: u32, packet: u32, at: Time, until: Time) {
        let device = self.ports[port as usize].rx.device;
        let number = self.nodes.number(device, port);
        let (id, mut parts) = (self.packets[packet].id(), self.packets[packet].parts());
        parts[Cause::Recovery] = self.packets.late.of(packet);
        self.observe.probe.packet(at, id, &PacketStep::Started { device, port: number, until, parts });
    }
}

impl<P: Probe> Fabric<P> {
    // --- credits ---------------------------------------------------------------------------------

    /// Applies the credit records that are visible at `key` (inclusive: a wake reuses its record's key).
    #[inline(never)]
    pub fn consume<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, key: EventKey) {
        let timing = &self.links.timings[self.links.ports[port as usize].tx.timing as usize];
        if timing.to_sink {
            let peer = self.links.ports[port as usize].tx.peer;
            self.flush(cx, peer, key);
        }
        self.links.apply_records(port, key);
    }

    pub fn wake<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        if self.links.is_symbolic(port) {
            // The record has become a symbol.
            self.links.ports[port as usize].tx.wake_posted = false;
            return self.symbol_arrives(cx, port);
        }
        let node = self.links.nodes.node(port);
        if let Node::Endpoint(e) = node {
            // Creations come before the credit that wakes.
            self.materialise(cx, e, cx.now().0);
        }
        // Deliveries that this settles must not ask for another wake, nor must records while the
        // transmitter is busy: whoever waits next asks for the first record that comes then.
        self.consume(cx, port, cx.key());
        let tx = &mut self.links.ports[port as usize].tx;
        (tx.wake_posted, tx.credit_waiting) = (false, false);
        match node {
            Node::Switch(_) => self.try_output(cx, port),
            Node::Endpoint(e) => self.endpoint_turn(cx, e),
        }
    }

    /// The receiver of `port` tells its neighbour about its buffers, because of an acknowledgement or a
    /// release at `t`: makes the symbol and its record.
    pub fn make_status<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        t: u64,
        acknowledged: u8,
    ) {
        if self.links.ports[port as usize].rx.special & special::APART != 0 {
            return self.status_elsewhere(cx, port);
        }
        if self.links.place_status(cx, port, t, acknowledged) {
            self.tell_releases(cx, port);
        }
    }

    /// Buffers are told in another way.
    #[cold]
    fn status_elsewhere<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        // On other media than RapidIO only what becomes free is told.
        if self.links.ports[port as usize].rx.special & special::SYMBOLS != 0 {
            self.acknowledge(cx, port);
        }
    }

    /// The neighbour of `port` may be short of buffers: releases under way have to be told when they happen.
    #[inline]
    pub fn tell_releases<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        if self.links.nodes.is_switch(port) {
            let s = self.links.nodes.switch(port);
            let base = self.switches[s].base;
            let mut readers = self.switches[s].reads_of[(port - base) as usize].outputs;
            while readers != 0 {
                let output = base + readers.trailing_zeros();
                readers &= readers - 1;
                if self.links.ports[output as usize].tx.done > cx.key() {
                    self.links.post_done(cx, output);
                }
            }
        }
    }

    /// A receive buffer of `port` is free again at the current event.
    pub fn release<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, freed: Freed) {
        let now = cx.now().0;
        let rx = &mut self.links.ports[port as usize].rx;
        rx.occupied -= 1;
        if rx.advertised > rx.eager_at {
            return;
        }
        if rx.special & special::APART != 0 {
            return self.release_apart(cx, port, freed);
        }
        let timing = &self.links.timings[rx.timing as usize];
        if rx.wire.status_unsent(now, timing.wire) {
            // The last symbol has not left yet: it will say so.
            rx.advertised += 1;
            let (peer, advertised) = (rx.peer, rx.advertised);
            self.links.ports[peer as usize].tx.amend_last(&mut self.links.cold[peer as usize], advertised);
        } else {
            self.make_status(cx, port, now, 0);
        }
    }

    /// The same where buffers are told in another way.
    #[cold]
    fn release_apart<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, freed: Freed) {
        if self.links.ports[port as usize].rx.special & special::SYMBOLS != 0 {
            self.release_told(cx, port);
        } else {
            self.released_on_medium(cx, port, freed);
        }
    }

    // --- reads of input buffers ------------------------------------------------------------------

    /// The transmission of `output` is over: the input buffer that it read is free. With `tell` the release
    /// is told by the rules; without, nobody can be waiting for it.
    pub fn finish_read<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, output: u32, tell: bool) {
        let tx = &mut self.links.ports[output as usize].tx;
        let from = tx.reading;
        tx.reading = NO_INPUT;
        let kind = std::mem::take(&mut tx.reading_kind);
        let s = self.links.nodes.switch(output);
        let switch = &mut self.switches[s];
        let base = switch.base;
        let input = base + u32::from(from);
        switch.read_ended(from.into(), output - base);
        if kind != reading::ORDINARY && !self.finish_special_read(cx, output, input, kind) {
            return;
        }
        if tell {
            self.release(cx, input, Freed::Read(output));
        } else {
            self.links.ports[input as usize].rx.occupied -= 1;
        }
    }

    /// Whether the end of such a read frees a buffer of VC0.
    #[cold]
    fn finish_special_read<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        output: u32,
        input: u32,
        kind: u8,
    ) -> bool {
        if kind == reading::COPY {
            return self.links.packets.last_of_group(self.links.cold[output as usize].reading_share);
        }
        self.release_channel(cx, input, kind);
        false
    }

    /// Takes note of reads of `input` (port number) that ended before `key` without an event. How many go on
    /// beyond this instant.
    pub fn prune(&mut self, s: usize, input: u32, key: EventKey) -> u32 {
        let base = self.switches[s].base;
        let mut readers = self.switches[s].reads_of[input as usize].outputs;
        let mut on = 0;
        while readers != 0 {
            let output = base + readers.trailing_zeros();
            readers &= readers - 1;
            let tx = &mut self.links.ports[output as usize].tx;
            on += u32::from(tx.done.time() > key.time());
            if tx.done < key && u32::from(tx.reading) == input {
                debug_assert!(!tx.done_posted);
                debug_assert!(tx.reading_kind == reading::ORDINARY, "special reads end with an event");
                tx.reading = NO_INPUT;
                self.switches[s].read_ended(input, output - base);
                self.links.ports[(base + input) as usize].rx.occupied -= 1;
            }
        }
        on
    }

    /// Input `input` (number of its port) can be read again, because `output` has finished: for outputs that
    /// idle although it has packets for them, and for `output`. Whether anybody but `output` was concerned:
    /// then all have had their turn.
    #[inline(always)]
    pub fn offer_input<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        output: u32,
        input: u32,
    ) -> bool {
        let s = self.links.nodes.switch(output);
        let base = self.switches[s].base;
        let own = 1 << (output - base);
        let wanted = self.links.ports[(base + input) as usize].tx.wanted & !own;
        // Nearly always there is none: whoever waits for the input transmits something else meanwhile.
        let idle = wanted & (self.switches[s].waiting_outputs | self.switches[s].choose_together);
        #[cfg(debug_assertions)]
        self.links.check_stuck(cx, base, wanted & !idle, input);
        if idle != 0 {
            self.offer_to(cx, s, input, idle, own);
        }
        idle != 0
    }

    /// Input `lane` can be read again: for the outputs `wanted`, which may want it, and `own`, which has just
    /// finished. Who has the highest priority waiting there goes first; among equals the one after the output
    /// that read such a packet last.
    #[inline(never)]
    fn offer_to<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        lane: u32,
        wanted: u64,
        own: u64,
    ) {
        let base = self.switches[s].base;
        let output = base + own.trailing_zeros();
        let mut rivals = 0u64;
        let mut left = wanted;
        while left != 0 {
            let n = left.trailing_zeros();
            left &= left - 1;
            if !self.links.lane_in_use(base + n, lane) {
                self.links.ports[(base + lane) as usize].tx.wanted &= !(1 << n);
            } else if self.links.ports[(base + n) as usize].tx.done <= cx.key() {
                rivals |= 1 << n;
            }
        }
        let own_uses = self.links.lane_in_use(output, lane);
        if !own_uses {
            self.links.ports[(base + lane) as usize].tx.wanted &= !own;
        }
        // A packet that an error cut short is sent again: the output is busy beyond its old end.
        let own_idle = self.links.ports[output as usize].tx.done <= cx.key();
        if own_uses && !own_idle {
            self.links.post_done(cx, output);
        }
        if rivals & rivals.wrapping_sub(1) == 0 && !own_uses {
            // Most often there is one, and nobody to compare it with.
            let n = rivals.trailing_zeros();
            if rivals == 0 || self.rank_of(cx, base + n, lane) < PRIORITIES {
                if rivals != 0 {
                    self.try_output(cx, base + n);
                }
                self.try_output(cx, output);
                return;
            }
        }
        // By priority; apart those with packets of virtual channels only, or none of this input.
        let mut ranks = [0u64; PRIORITIES + 1];
        if !own_uses {
            ranks[PRIORITIES] = own;
        } else if own_idle {
            rivals |= own;
        }
        while rivals != 0 {
            let n = rivals.trailing_zeros();
            rivals &= rivals - 1;
            let rank = self.rank_of(cx, base + n, lane);
            // Who waits for something else than this input has been tried, and will be woken by that.
            let channels = self.links.ports[(base + n) as usize].tx.clock.blocked() & CHANNELS != 0;
            if rank < PRIORITIES || own & (1 << n) != 0 || channels || self.switches[s].choose_together != 0 {
                ranks[rank] |= 1 << n;
            }
        }
        for priority in (0..PRIORITIES).rev().chain([PRIORITIES]) {
            let mut pointer = self.switches[s].reads_of[lane as usize].last[priority];
            while ranks[priority] != 0 {
                let n = next_after(ranks[priority], pointer);
                ranks[priority] &= !(1 << n);
                pointer = n as u8;
                self.try_output(cx, base + n);
                let left = ranks.iter().fold(0, |all, rank| all | rank);
                if left != 0 && self.is_taken(cx, s, lane) {
                    // The others would find it so, and wait for the end of that read. Only the one that has
                    // just finished has not looked elsewhere yet.
                    if left & !own != 0 {
                        self.await_inputs(cx, output, 1 << lane);
                    }
                    if left & own != 0 {
                        self.try_output(cx, output);
                    }
                    return;
                }
            }
        }
    }

    /// Whether as many outputs read the input `lane` as may.
    fn is_taken<L: EventList<Payload>>(&mut self, cx: &Cx<'_, L>, s: usize, lane: u32) -> bool {
        self.prune(s, lane, cx.key());
        let switch = &self.switches[s];
        switch.choose_together == 0 && switch.reads != BY_CHANNEL && switch.reading >> lane & 1 == 1
    }

    /// Highest priority of VC0 at which `output` could start a packet from `lane`, or [`PRIORITIES`].
    fn rank_of<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, output: u32, lane: u32) -> usize {
        if self.links.ports[output as usize].tx.clock.blocked() != 0 {
            self.consume(cx, output, cx.key());
        }
        let tx = &self.links.ports[output as usize].tx;
        let blocked = tx.clock.blocked();
        if tx.parked_any || tx.queue_lanes != 0 {
            let could = |&p: &usize| blocked >> p & 1 == 0 && self.links.waits_in(output, p, lane);
            return (0..PRIORITIES).rev().find(could).unwrap_or(PRIORITIES);
        }
        let waits = |p: usize| (tx.mask[p] >> lane & 1) << p;
        let ready = (waits(0) | waits(1) | waits(2) | waits(3)) & !u64::from(blocked);
        if ready == 0 { PRIORITIES } else { ready.ilog2() as usize }
    }

    // --- choice ----------------------------------------------------------------------------------

    /// Starts the next packet of `port` if one may start now.
    pub fn try_output<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let tx = &self.links.ports[port as usize].tx;
        if tx.waiting == 0 {
            return;
        }
        if tx.done > cx.key() {
            self.links.post_done(cx, port);
            return;
        }
        if tx.stored == 0 {
            return;
        }
        if self.links.nodes.is_switch(port) {
            let s = self.links.nodes.switch(port);
            if self.switches[s].choose_together != 0 {
                self.post_tick(cx, s);
                return;
            }
        }
        let pick = self.select(cx, port);
        if pick.packet != NIL {
            self.links.take(port, pick);
            self.start(cx, port, pick.packet, true);
        } else if self.links.nodes.is_switch(port) {
            let switch = &mut self.switches[self.links.nodes.switch(port)];
            switch.waiting_outputs |= 1 << (port - switch.base);
        }
    }

    /// Of `lanes`, those whose input can be read now for a packet of this priority.
    #[inline(always)]
    pub fn readable<L: EventList<Payload>>(
        &mut self,
        cx: &Cx<'_, L>,
        port: u32,
        lanes: u64,
        priority: usize,
    ) -> u64 {
        let Node::Switch(s) = self.links.nodes.node(port) else { return lanes };
        let mut check = lanes & self.switches[s].reading;
        let mut ends = 0;
        if check != 0 && self.switches[s].reads == BY_CHANNEL {
            return self.readable_channels(cx, port, lanes, priority);
        }
        while check != 0 {
            let lane = check.trailing_zeros();
            check &= check - 1;
            // Most often the reads go on, and nobody has to be asked.
            if self.prune(s, lane, cx.key()) < self.switches[s].reads {
                ends |= u64::from(self.ends_now(cx, s, lane)) << lane;
            }
        }
        lanes & (!self.switches[s].reading | ends)
    }

    /// Whether a read of input `lane` that ends at this very instant counts as over: if nobody else waits for
    /// the input. Otherwise outputs and inputs that end together would stay together for ever, because the
    /// input of the one seems to be read when the other looks.
    #[cold]
    fn ends_now<L: EventList<Payload>>(&self, cx: &Cx<'_, L>, s: usize, lane: u32) -> bool {
        let switch = &self.switches[s];
        if cx.key() < EventKey::floor(cx.now(), class::DONE) {
            return false;
        }
        let mut others = self.links.ports[(switch.base + lane) as usize].tx.wanted & switch.waiting_outputs;
        while others != 0 {
            if self.links.lane_in_use(switch.base + others.trailing_zeros(), lane) {
                return false;
            }
            others &= others - 1;
        }
        true
    }

    /// Highest priority first; within it the arbitration among lanes. When nothing can start, arranges the
    /// event that will change it.
    #[inline(always)]
    pub fn select<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) -> Pick {
        if self.links.ports[port as usize].tx.clock.blocked() != 0 {
            self.consume(cx, port, cx.key());
            if self.links.ports[port as usize].tx.clock.blocked() & CHANNELS != 0 {
                return self.select_channels(cx, port);
            }
        }
        let mut no_credit = false;
        let mut busy = 0u64;
        let pick = self.select_priority(cx, port, &mut busy, &mut no_credit);
        if pick.packet == NIL {
            self.await_inputs(cx, port, busy);
            if no_credit {
                self.links.await_credit(cx, port);
            }
        }
        pick
    }

    /// The choice among what waits in VC0: lanes whose inputs are `busy` and packets without credit do not
    /// take part.
    #[inline(always)]
    pub fn select_priority<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        busy: &mut u64,
        no_credit: &mut bool,
    ) -> Pick {
        let tx = &self.links.ports[port as usize].tx;
        let mut priorities = if tx.parked_any { 0b1111 } else { tx.priorities() };
        while priorities != 0 {
            let priority = priorities.ilog2() as usize;
            priorities &= !(1 << priority);
            let pick = self.pick_at(cx, port, priority, busy, no_credit);
            if pick.packet != NIL {
                return pick;
            }
        }
        Pick::NONE
    }

    /// The choice among what waits with one priority of VC0.
    #[inline(always)]
    pub fn pick_at<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        priority: usize,
        busy: &mut u64,
        no_credit: &mut bool,
    ) -> Pick {
        let lanes = self.links.eligible(port, priority);
        if lanes == 0 {
            return Pick::NONE;
        }
        if self.links.ports[port as usize].tx.clock.blocked() & (1 << priority) != 0 {
            *no_credit = true;
            return Pick::NONE;
        }
        let free = self.readable(cx, port, lanes, priority);
        *busy |= lanes & !free;
        if free == 0 {
            return Pick::NONE;
        }
        let pointer = self.links.ports[port as usize].tx.pointers[priority];
        // Also of a single lane: to find out whether there are more is a branch that nobody can predict.
        let lane = self.choose(self.links.nodes.node(port), free, pointer, |fabric, lane| {
            fabric.links.packets[fabric.links.head_of(port, priority, lane).packet].stamp
        });
        self.links.head_of(port, priority, lane)
    }

    /// Candidates exist, but their inputs are being read: the ends of those reads become events.
    pub fn await_inputs<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, mut lanes: u64) {
        if lanes == 0 {
            return;
        }
        let base = self.links.base_of(port);
        while lanes != 0 {
            let input = base + lanes.trailing_zeros();
            lanes &= lanes - 1;
            let s = self.links.nodes.switch(port);
            let mut readers = self.switches[s].reads_of[(input - base) as usize].outputs;
            while readers != 0 {
                let output = base + readers.trailing_zeros();
                readers &= readers - 1;
                if self.links.ports[output as usize].tx.done > cx.key() {
                    self.links.post_done(cx, output);
                }
            }
        }
    }

    /// Whether a packet that is not in any list may start on `port` of a switch at once, past nobody.
    #[inline(always)]
    pub fn may_start<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        priority: u8,
        queue: u8,
    ) -> bool {
        let tx = &self.links.ports[port as usize].tx;
        // One branch: nobody can predict whether the output is busy, and once is enough.
        if u64::from(tx.waiting) | u64::from(tx.done > cx.key()) != 0 {
            return false;
        }
        if tx.clock.blocked() != 0 {
            self.consume(cx, port, cx.key());
            if self.links.ports[port as usize].tx.clock.blocked() & (1 << priority) != 0 {
                return false;
            }
        }
        !self.links.ports[port as usize].tx.parked_any
            || queue == UNSTAGED
            || !self.links.cold[port as usize].parked.iter().any(|p| p.queue == queue && p.stopped)
    }

    // --- waiting ---------------------------------------------------------------------------------

    /// The packet begins to wait for `port` now.
    #[inline(always)]
    pub fn begin_wait<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        at_input: bool,
    ) {
        if self.links.ports[port as usize].tx.clock.blocked() != 0 {
            // The clock must know every change of credit up to now before it is read.
            self.consume(cx, port, cx.key());
        }
        self.links.begin_wait_at(port, packet, cx.now().0, at_input);
    }

    /// The wait that [`begin_wait`](Self::begin_wait) opened ends now: its time goes to its causes.
    #[inline(always)]
    pub fn end_wait<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, packet: u32) {
        if self.links.ports[port as usize].tx.clock.blocked() != 0 {
            self.consume(cx, port, cx.key());
        }
        let is_switch = self.links.nodes.is_switch(port);
        let clock = &self.links.ports[port as usize].tx.clock;
        let record = &mut self.links.packets[packet];
        if let Some(waited) = close_wait(clock, record, cx.now().0, is_switch) {
            let input = record.input;
            self.links.note_waited(port, packet, input, waited);
        }
    }

    /// The run ends at `end`: the totals of ports get the time of what still waits.
    pub fn settle_waits<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, end: u64) {
        let waiting = self.links.packets.iter().filter(|(_, record)| record.flags & WAITING != 0);
        let waiting: Vec<(u32, u32)> =
            waiting.map(|(packet, _)| (packet, self.links.port_of(packet))).collect();
        for (packet, port) in waiting {
            if self.links.ports[port as usize].tx.clock.blocked() != 0 {
                self.consume(cx, port, cx.key());
            }
            let is_switch = self.links.nodes.is_switch(port);
            let record = &mut self.links.packets[packet];
            let input = record.input;
            if let Some(waited) =
                close_wait(&self.links.ports[port as usize].tx.clock, record, end, is_switch)
            {
                self.links.note_waited(port, packet, input, waited);
            }
        }
    }

    // --- start -----------------------------------------------------------------------------------

    /// Commits `packet` (in no list) to the wire of `port` now; `stored`: it was in the lists of the output
    /// before.
    pub fn start<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, packet: u32, stored: bool) {
        let now = cx.now().0;
        let index = port as usize;
        let owner = self.links.nodes.owner(port);
        let is_switch = owner.is_switch();
        if self.links.ports[index].tx.reading != NO_INPUT {
            // The previous read ended without an event.
            self.finish_read(cx, port, false);
        }
        if !is_switch {
            self.flush(cx, port, cx.key());
        }
        {
            let tx = &self.links.ports[index].tx;
            let timing = &self.links.timings[tx.timing as usize];
            if tx.clock.blocked() != 0 || timing.blocked(tx.free - 1, tx.outstanding + 1) != 0 {
                self.consume(cx, port, cx.key());
            }
        }
        self.links.charge_refresh(port, now);
        let started = self.links.commit_packet(cx, port, packet, is_switch);
        let Started { flight, special, input, share, origin, priority, queue } = started;
        if special != 0 {
            self.started_specially(cx, port, packet, flight);
        }
        if P::FOLLOWS_PACKETS {
            self.links.tell_started(port, packet, Time(flight.start), flight.arrival.time());
        }
        if is_switch {
            self.started_at_switch(cx, owner.as_switch(), port, input, share, priority, stored);
            if self.links.unfolded || self.links.ports[index].tx.waiting > 0 {
                self.links.post_done(cx, port);
            }
        } else {
            let tx = &mut self.links.ports[index].tx;
            if let Some(pointer) = tx.pointers.get_mut(usize::from(priority)) {
                *pointer = queue.min(tx.queue_lanes);
            }
            self.started_at_endpoint(cx, owner.as_endpoint(), origin);
        }
    }
}

/// Index of the main list of (priority, lane) of the output `port`, whose first list is `first`.
#[inline(always)]
pub(crate) fn list_index(first: u32, cold: &[Cold], port: u32, priority: usize, lane: u32) -> usize {
    // The stride lies apart: most packets have the lowest priority.
    let above = if priority == 0 { 0 } else { priority as u32 * cold[port as usize].stride };
    (first + lane + above) as usize
}

/// Puts a packet at the end of a main list of a transmitter.
#[inline(always)]
pub(crate) fn put(
    tx: &mut Tx,
    packets: &mut Packets,
    list: &mut List,
    priority: usize,
    lane: u32,
    packet: u32,
) {
    tx.stored += 1;
    packets.push_back(list, packet);
    tx.mask[priority] |= 1 << lane;
}

/// The packet begins to wait at `t` for the transmitter that keeps `clock`.
#[inline(always)]
pub(crate) fn wait_for(clock: &TransmitClock, record: &mut Packet, t: u64, at_input: bool) {
    record.flags = WAITING | if at_input { AT_INPUT } else { 0 };
    record.snapshot = clock.snapshot(t, record.priority, record.queue, record.next_hop);
}

/// Applies the credit records of `port` that are visible at `key`.
#[inline(always)]
fn apply_visible(tx: &mut Tx, timing: &LinkTiming, cold: &mut [Cold], port: u32, key: EventKey) {
    while tx.has_record(key) {
        let record = tx.pop_record(cold, port);
        tx.outstanding -= u16::from(record.acknowledged);
        tx.free = i16::from(record.buffers) - tx.outstanding as i16;
        let blocked = timing.blocked(tx.free, tx.outstanding);
        tx.clock.set_blocked(record.key.time().0, blocked);
    }
}

/// Staged and head-of-line blocked time of a wait that is over.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Waited {
    staged: u64,
    hol: u64,
    recovery: u64,
}

/// Divides the time that a packet has waited for a transmitter among its causes. The totals of ports get
/// what is returned.
#[inline(always)]
fn close_wait(clock: &TransmitClock, record: &mut Packet, t: u64, is_switch: bool) -> Option<Waited> {
    let flags = std::mem::take(&mut record.flags);
    if flags & WAITING == 0 || t == record.snapshot.at {
        return None;
    }
    let mut closed = clock.closed(&record.snapshot, t, record.priority, record.queue, record.next_hop);
    let mut recovery = 0;
    if clock.has_recovered() {
        recovery = clock.recovery_between(record.snapshot.at, t);
        closed.open -= recovery;
    }
    let parts = &mut record.parts;
    // A multicast set has no single next-hop port: all its stopped time is its own.
    let (staged, mut hol) = if record.queue >= MULTICAST_QUEUES && record.queue != UNSTAGED {
        (closed.staged + closed.comingled, 0)
    } else {
        (closed.staged, closed.comingled)
    };
    parts[Cause::NoBuffer as usize] += closed.no_buffer;
    if !is_switch {
        parts[Cause::SourceQueue as usize] += closed.busy + closed.open;
    } else {
        parts[Cause::OutputContention as usize] += closed.busy;
        if flags & AT_INPUT != 0 {
            hol += closed.open;
        } else {
            parts[Cause::InputContention as usize] += closed.open;
        }
    }
    if staged | hol | recovery == 0 {
        return None;
    }
    parts[Cause::Staged as usize] += staged;
    parts[Cause::HeadOfLine as usize] += hol;
    Some(Waited { staged, hol, recovery })
}
