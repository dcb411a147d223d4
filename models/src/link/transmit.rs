//! A transmitter: its lists, the start of a transmission, and what a wait for it cost.

use crate::config::PRIORITIES;
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::PortId;
use crate::link::port::{Parked, Port, Tx, special};
use crate::link::symbol::Flight;
use crate::link::{Links, mail};
use crate::observe::Build;
use crate::observe::clock::{CHANNELS, StoppedBefore, TransmitClock};
use crate::observe::mark;
use crate::observe::probe::{Cause, PacketStep};
use crate::packet::{
    AT_INPUT, Lanes, MULTICAST_QUEUES, NIL, Packet, Packets, UNSTAGED, WAITING, WAS_STOPPED,
};
use crate::ports::Ports;
use sim_core::{EventList, Time};
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
pub(crate) struct Started {
    pub flight: Flight,
    /// [`special`] of the port.
    pub special: u8,
    pub input: u8,
    pub share: u32,
    pub origin: u16,
    pub priority: u8,
    pub queue: u8,
}

impl<P: Build> Links<P> {
    /// Commits `packet` to the wire of `port` now, and posts its arrival where the link has no event of its
    /// own for it.
    ///
    /// Never inlined: switches and endpoints share it, because what runs in a hop has to fit a first-level
    /// instruction cache (32 KiB).
    #[inline(never)]
    pub fn commit_packet<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        is_switch: bool,
    ) -> Started {
        let (index, now) = (port.index(), cx.now().0);
        let Links { ports, cold, packets, timings, keys, observe, unfolded, reached, .. } = self;
        let Port { tx, link, .. } = &mut ports[index];
        let timing = &timings[tx.timing as usize];
        let record = &mut packets[packet];
        let waited = close_wait(&tx.clock, record, now, is_switch);
        tx.free -= 1;
        tx.outstanding += 1;
        tx.credit_waiting = false;
        tx.clock.set_blocked(now, timing.blocked(tx.free, tx.outstanding));
        let short = timing.header != 0 && !timing.at_ease(tx.free, tx.outstanding);
        let length = match timing.char_den {
            1 => timing.packet_chars(record.wire) * timing.char_num,
            _ => timing.packet_ps(record.wire, &mut cold[index].carry),
        };
        let start = link.wire.start_packet(now, length, timing.wire);
        let end = start + length;
        tx.clock.transmit(now, end);
        tx.packets_sent += 1;
        tx.packet_ps += length;
        let stored_until = match timing.head_ps {
            0 => length,
            head => head.min(length),
        };
        let delay = if is_switch { Cause::OutputContention } else { Cause::SourceQueue };
        record.times[delay] += start - now;
        if !is_switch {
            // Endpoints start packets of their own only.
            record.left = start;
        }
        record.times[Cause::Serialization] += stored_until;
        record.times[Cause::Propagation] += timing.propagation;
        record.times[Cause::Pipeline] += timing.pipeline;
        let (input, share, origin, priority) = (record.input, record.share, record.origin, record.priority);
        let queue = record.queue;
        observe.trajectory.record(mark::START, Time(start), u64::from(port), record.word());
        observe.ledger.packet_hops += 1;
        let keys = &mut keys[link.device as usize];
        let arrival =
            keys.make(Time(start + stored_until + timing.propagation + timing.pipeline), class::ARRIVAL);
        tx.done = keys.make(Time(end), class::DONE);
        debug_assert!(!tx.clock.end_posted);
        let peer = link.peer;
        let special = link.special();
        let behind = (length - stored_until) as u32;
        let flight = Flight { start, stored: stored_until, arrival, behind };
        if special & special::CARRIED == 0 {
            // Otherwise the link's own event takes the packet there.
            let destination = record.destination as u16;
            let to = (peer, timing);
            if let Some(now) =
                mail::send_packet(cx, ports, cold, to, (packet, destination), &flight, *unfolded)
            {
                *reached = Some(now);
            }
        }
        if short {
            mail::watch_acceptances(cx, ports, peer);
        }
        if let Some(waited) = waited {
            self.note_waited(port, packet, input, waited);
        }
        Started { flight, special, input, share, origin, priority, queue }
    }

    /// No idle output but those of `waiting_outputs` has a packet in this lane.
    #[cfg(debug_assertions)]
    pub fn check_tried<L: EventList<Payload>>(
        &self,
        cx: &Cx<'_, L>,
        base: PortId,
        outputs: P::Ports,
        lane: u32,
    ) {
        for output in outputs.members().map(|n| base + n) {
            let busy = self.ports[output.index()].tx.done > cx.key();
            assert!(busy || !self.lane_in_use(output, lane), "an idle output was not tried");
        }
    }

    /// Whether `lane` is one of the [`eligible`](Self::eligible).
    pub fn waits_in(&mut self, port: PortId, priority: usize, lane: u32) -> bool {
        let tx = &self.ports[port.index()].tx;
        let listed = tx.mask[priority].has(lane);
        let cold = &self.cold[port.index()];
        if lane < u32::from(tx.queue_lanes) {
            return listed && !cold.stopped_lanes.has(lane);
        }
        let apart = |queue: &Parked<P::Ports>| !queue.stopped && queue.mask[priority].has(lane);
        let released = tx.parked_any && cold.parked.iter().any(apart);
        released || listed && (!tx.parked_any || self.park_stopped(port, priority, lane))
    }

    #[inline(always)]
    pub fn lane_in_use(&self, output: PortId, lane: u32) -> bool {
        let tx = &self.ports[output.index()].tx;
        let main = tx.mask[0] | tx.mask[1] | tx.mask[2] | tx.mask[3];
        let apart = tx.parked_any || tx.clock.blocked() & CHANNELS != 0;
        main.has(lane) || apart && self.lane_in_use_apart(output, lane)
    }

    /// Whether packets of a lane wait beside the main lists.
    #[cold]
    fn lane_in_use_apart(&self, output: PortId, lane: u32) -> bool {
        let parked = &self.cold[output.index()].parked;
        parked.iter().any(|queue| queue.mask.iter().any(|mask| mask.has(lane)))
            || self.channels(output).is_some_and(|channels| channels.uses(lane))
    }

    /// All packets in the lists of an output, also of stopped queues.
    pub fn stored_at(&self, output: PortId) -> impl Iterator<Item = u32> {
        let cold = &self.cold[output.index()];
        let main = (0..PRIORITIES)
            .flat_map(move |priority| (0..cold.lane_count).map(move |lane| (priority, lane)))
            .map(move |(priority, lane)| self.lanes.list(self.place_of(output, priority, lane)));
        let apart = cold.parked.iter().flat_map(|parked| &parked.lists).copied();
        let of_vc0 = main.chain(apart).flat_map(|list| self.packets.iter_list(list));
        of_vc0.chain(self.stored_in_channels(output))
    }

    /// Packets of a staging queue in a lane of (output, priority).
    pub fn in_lane(&self, output: PortId, priority: usize, lane: u32, queue: u8) -> u32 {
        let cold = &self.cold[output.index()];
        let apart = cold.parked.iter().filter(|parked| parked.queue == queue);
        let apart = apart.map(|parked| parked.lists[priority * cold.lane_count as usize + lane as usize]);
        let main = self.lanes.list(self.place_of(output, priority, lane));
        let packets = std::iter::once(main).chain(apart).flat_map(|list| self.packets.iter_list(list));
        packets.filter(|&packet| self.packets[packet].queue == queue).count() as u32
    }

    /// Where the main list of (output, priority, lane) is.
    #[inline(always)]
    fn place_of(&self, port: PortId, priority: usize, lane: u32) -> usize {
        self.lanes.place(self.ports[port.index()].tx.lanes, priority, lane)
    }

    /// Posts the end of the running transmission as an event, once.
    #[inline]
    pub fn post_done<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let tx = &mut self.ports[port.index()].tx;
        if !tx.clock.end_posted {
            tx.clock.end_posted = true;
            cx.post(tx.done, port.into(), Happening::Done.pack());
        }
    }

    /// Lanes of `port` with a packet of `priority` that no message stops. Packets of stopped queues at the
    /// head of a main list move aside. The result may contain lanes whose input is busy.
    #[inline(always)]
    pub fn eligible(&mut self, port: PortId, priority: usize) -> P::Ports {
        let tx = &self.ports[port.index()].tx;
        let mut lanes = tx.mask[priority];
        if tx.queue_lanes != 0 {
            lanes &= !self.cold[port.index()].stopped_lanes;
        }
        if !tx.parked_any {
            return lanes;
        }
        // Lanes that are queues cannot hold another queue's packets.
        let mut left = lanes.starting_at(tx.queue_lanes.into());
        while let Some(lane) = left.pop() {
            if !self.park_stopped(port, priority, lane) {
                lanes &= !P::Ports::one(lane);
            }
        }
        for parked in &self.cold[port.index()].parked {
            if !parked.stopped {
                lanes |= parked.mask[priority];
            }
        }
        lanes
    }

    /// Moves packets of stopped queues from the head of a main list to their own lists; whether the main list
    /// has a head left.
    fn park_stopped(&mut self, port: PortId, priority: usize, lane: u32) -> bool {
        let tx = &mut self.ports[port.index()].tx;
        let cold = &mut self.cold[port.index()];
        let place = self.lanes.place(tx.lanes, priority, lane);
        loop {
            let head = self.lanes.list(place).head;
            if head == NIL {
                tx.mask[priority] &= !P::Ports::one(lane);
                return false;
            }
            let queue = self.packets[head].queue;
            if queue == UNSTAGED {
                return true;
            }
            match cold.parked.iter_mut().find(|p| p.queue == queue) {
                Some(parked) if parked.stopped => {
                    self.packets.pop_front(self.lanes.list_mut(place));
                    let lanes = parked.lists.len() / PRIORITIES;
                    self.packets.push_back(&mut parked.lists[priority * lanes + lane as usize], head);
                    parked.mask[priority] |= P::Ports::one(lane);
                    parked.count += 1;
                }
                _ => return true,
            }
        }
    }

    /// The oldest packet of a lane that no message stops: main list or released queue.
    #[inline(always)]
    pub fn head_of(&self, port: PortId, priority: usize, lane: u32) -> Pick {
        let tx = &self.ports[port.index()].tx;
        let head = if tx.mask[priority].has(lane) {
            self.lanes.list(self.place_of(port, priority, lane)).head
        } else {
            NIL
        };
        let mut best = Pick { packet: head, priority: priority as u8, lane: lane as u8, parked: MAIN };
        if !tx.parked_any {
            return best;
        }
        for (n, parked) in self.cold[port.index()].parked.iter().enumerate() {
            if parked.stopped || !parked.mask[priority].has(lane) {
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

    /// Takes a picked packet out of its list, to be sent now.
    #[inline(always)]
    pub fn take(&mut self, port: PortId, pick: Pick, now: u64) {
        let (priority, lane) = (pick.priority as usize, u32::from(pick.lane));
        let tx = &mut self.ports[port.index()].tx;
        if pick.parked == MAIN {
            let list = self.lanes.list_mut(self.lanes.place(tx.lanes, priority, lane));
            let packet = self.packets.pop_front(list);
            let emptied = list.head == NIL;
            tx.mask[priority] &= !P::Ports::one_if(lane, emptied);
            // The head is probably the next one, and long out of the first-level cache.
            self.packets.prefetch(select_unpredictable(emptied, packet, list.head));
        } else if pick.parked == Pick::IN_CHANNEL {
            self.take_from_channel(port, pick);
        } else {
            let cold = &mut self.cold[port.index()];
            let parked = &mut cold.parked[pick.parked as usize];
            let lanes = parked.lists.len() / PRIORITIES;
            let list = &mut parked.lists[priority * lanes + lane as usize];
            self.packets.pop_front(list);
            if list.head == NIL {
                parked.mask[priority] &= !P::Ports::one(lane);
            }
            parked.count -= 1;
            if parked.count == 0 && !parked.stopped {
                let emptied = cold.parked.swap_remove(pick.parked as usize);
                cold.spare.push(emptied);
                tx.parked_any = !cold.parked.is_empty();
            }
        }
        let tx = &mut self.ports[port.index()].tx;
        tx.stored -= 1;
        tx.waiting -= 1;
        self.observe.occupancy.starts(port, now);
    }

    /// Puts a waiting packet behind the others of its lane at the output.
    #[inline(always)]
    pub fn store(&mut self, port: PortId, lane: u32, packet: u32) {
        // Also packets of a stopped queue come here first, because older ones of that queue may still be in
        // the list; they move aside when they reach its head, in their order.
        let priority = self.packets[packet].priority as usize;
        let tx = &mut self.ports[port.index()].tx;
        put(tx, &mut self.packets, &mut self.lanes, priority, lane, packet);
    }

    /// The packet has waited for `port` since `t`; changes of credit up to `t` have been consumed.
    #[inline(always)]
    pub fn begin_wait_at(&mut self, port: PortId, packet: u32, t: u64, at_input: bool) {
        wait_for(&self.ports[port.index()].tx.clock, &mut self.packets, packet, t, at_input);
    }

    /// Adds a packet's staged and head-of-line blocked time to the totals of its output and its input.
    pub(super) fn note_waited(&mut self, port: PortId, packet: u32, input: u8, waited: Waited) {
        self.packets.late.add_recovery(packet, waited.recovery);
        let clock = &self.ports[port.index()].tx.clock;
        if clock.has_run_out() {
            let mark = self.packets.late.of(packet).mark;
            let record = &mut self.packets[packet];
            let no_ack_id =
                clock.without_ack_id(record.since.at, mark, waited.until, record.priority, record.queue);
            // It stands there as time without credit.
            record.times[Cause::NoBuffer] -= no_ack_id;
            self.packets.late.add_no_ack_id(packet, no_ack_id);
        }
        self.cold[port.index()].stats.staged_ps += u128::from(waited.staged);
        if waited.hol != 0 {
            let input = self.base_of(port) + u32::from(input);
            self.cold[input.index()].stats.hol_ps += u128::from(waited.hol);
        }
    }

    /// Who follows packets is told that one begins to leave.
    #[cold]
    pub fn tell_started(&mut self, port: PortId, packet: u32, flight: &Flight, again: bool) {
        let device = self.ports[port.index()].link.device;
        let number = self.nodes.number(device, port);
        let record = &self.packets[packet];
        let (id, parts) = (record.id(), record.parts(self.packets.late.of(packet)));
        let ends = Time(flight.start + flight.stored + u64::from(flight.behind));
        let until = flight.arrival.time();
        let step = PacketStep::Started { device, port: number, ends, again, until, parts };
        self.observe.probe.packet(Time(flight.start), id, &step);
    }
}

/// Puts a packet at the end of a main list of a transmitter.
#[inline(always)]
pub(crate) fn put<S: Ports>(
    tx: &mut Tx<S>,
    packets: &mut Packets,
    lanes: &mut Lanes,
    priority: usize,
    lane: u32,
    packet: u32,
) {
    tx.stored += 1;
    packets.push_back(lanes.list_mut(lanes.place(tx.lanes, priority, lane)), packet);
    tx.mask[priority] |= S::one(lane);
}

/// The packet begins to wait at `t` for the transmitter that keeps `clock`.
#[inline(always)]
pub(crate) fn wait_for(clock: &TransmitClock, packets: &mut Packets, packet: u32, t: u64, at_input: bool) {
    let record = &mut packets[packet];
    let (since, stopped) = clock.snapshot(t, record.priority, record.queue, record.next_hop);
    record.flags = WAITING | if at_input { AT_INPUT } else { 0 };
    record.since = since;
    if stopped.any() {
        record.flags |= WAS_STOPPED;
        record.stopped = stopped;
    }
    if clock.has_run_out() {
        let mark = clock.ack_mark(t, record.priority, record.queue);
        packets.late.mark(packet, mark);
    }
}

/// What more there is to note of a wait that is over.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Waited {
    /// When it was over.
    until: u64,
    pub staged: u64,
    pub hol: u64,
    pub recovery: u64,
}

/// Divides the time that a packet has waited for a transmitter among its causes. The totals of ports get
/// what is returned.
#[inline(always)]
pub(crate) fn close_wait(
    clock: &TransmitClock,
    record: &mut Packet,
    t: u64,
    is_switch: bool,
) -> Option<Waited> {
    let flags = std::mem::take(&mut record.flags);
    if flags & WAITING == 0 || t == record.since.at {
        return None;
    }
    let before = if flags & WAS_STOPPED != 0 { record.stopped } else { StoppedBefore::default() };
    let mut closed = clock.closed((record.since, before), t, record.priority, record.queue, record.next_hop);
    let mut recovery = 0;
    if clock.has_recovered() {
        recovery = clock.recovery_between(record.since.at, t);
        closed.open -= recovery;
    }
    let times = &mut record.times;
    // A multicast set has no single next-hop port: all its stopped time is its own.
    let (staged, mut hol) = if record.queue >= MULTICAST_QUEUES && record.queue != UNSTAGED {
        (closed.staged + closed.comingled, 0)
    } else {
        (closed.staged, closed.comingled)
    };
    times[Cause::NoBuffer] += closed.no_buffer;
    if !is_switch {
        times[Cause::SourceQueue] += closed.busy + closed.open;
    } else {
        times[Cause::OutputContention] += closed.busy;
        if flags & AT_INPUT != 0 {
            hol += closed.open;
        } else {
            times[Cause::InputContention] += closed.open;
        }
    }
    if staged | hol | recovery == 0 && !(clock.has_run_out() && closed.no_buffer != 0) {
        return None;
    }
    times[Cause::Staged] += staged;
    times[Cause::HeadOfLine] += hol;
    Some(Waited { until: t, staged, hol, recovery })
}
