//! Which of the packets that wait for a transmitter goes next. Whose input can be read, and whose turn it is
//! among equals, the device says that the transmitter belongs to.

use crate::config::PRIORITIES;
use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::symbol::CHANNEL_COUNT;
use crate::link::transmit::{Pick, close_wait};
use crate::observe::Build;
use crate::observe::clock::CHANNELS;
use crate::packet::{NIL, WAITING};
use crate::ports::Ports;
use sim_core::EventList;

/// What the choice asks the device of the transmitter.
pub(crate) trait Device<P: Build> {
    /// Of `lanes`, those whose input can be read now for a packet of this priority.
    fn readable<L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        port: PortId,
        lanes: P::Ports,
        priority: usize,
    ) -> P::Ports;

    /// Who of `lanes` goes first, of an output and priority; `pointer` is who was served last, `stamp` when
    /// the first packet of a lane arrived in the device.
    fn choose(
        &mut self,
        links: &Links<P>,
        queue: (PortId, usize),
        lanes: P::Ports,
        pointer: u8,
        stamp: impl Fn(&Links<P>, u32) -> u32,
    ) -> u32;

    /// Candidates exist, but the inputs of these lanes are being read: the ends of those reads become events.
    fn await_inputs<L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        lanes: P::Ports,
    );
}

impl<P: Build> Links<P> {
    /// Highest priority first; within it the arbitration among lanes. When nothing can start, arranges the
    /// event that will change it.
    #[inline(always)]
    pub fn select<L: EventList<Payload>>(
        &mut self,
        device: &mut impl Device<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) -> Pick {
        if self.ports[port.index()].tx.clock.blocked() != 0 {
            self.consume(cx, port, cx.key());
            if self.ports[port.index()].tx.clock.blocked() & CHANNELS != 0 {
                return self.select_channels(device, cx, port);
            }
        }
        let mut no_credit = false;
        let mut busy = P::Ports::EMPTY;
        let pick = self.select_priority(device, cx, port, &mut busy, &mut no_credit);
        if pick.packet == NIL {
            device.await_inputs(self, cx, busy);
            if no_credit {
                self.await_credit(cx, port);
            }
        }
        pick
    }

    /// The choice among what waits in VC0: lanes whose inputs are `busy` and packets without credit do not
    /// take part.
    #[inline(always)]
    fn select_priority<L: EventList<Payload>>(
        &mut self,
        device: &mut impl Device<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        busy: &mut P::Ports,
        no_credit: &mut bool,
    ) -> Pick {
        let tx = &self.ports[port.index()].tx;
        let mut priorities = if tx.parked_any { 0b1111 } else { tx.priorities() };
        while priorities != 0 {
            let priority = priorities.ilog2() as usize;
            priorities &= !(1 << priority);
            let pick = self.pick_at(device, cx, port, priority, busy, no_credit);
            if pick.packet != NIL {
                return pick;
            }
        }
        Pick::NONE
    }

    /// The choice among what waits with one priority of VC0.
    #[inline(always)]
    pub(super) fn pick_at<L: EventList<Payload>>(
        &mut self,
        device: &mut impl Device<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        priority: usize,
        busy: &mut P::Ports,
        no_credit: &mut bool,
    ) -> Pick {
        let lanes = self.eligible(port, priority);
        if lanes.is_empty() {
            return Pick::NONE;
        }
        if self.ports[port.index()].tx.clock.blocked() & (1 << priority) != 0 {
            *no_credit = true;
            return Pick::NONE;
        }
        let free = device.readable(self, cx, port, lanes, priority);
        *busy |= lanes & !free;
        if free.is_empty() {
            return Pick::NONE;
        }
        let pointer = self.ports[port.index()].tx.pointers[priority];
        // Also of a single lane: to find out whether there are more is a branch that nobody can predict.
        let lane = device.choose(self, (port, priority), free, pointer, |links, lane| {
            links.packets[links.head_of(port, priority, lane).packet].stamp
        });
        self.head_of(port, priority, lane)
    }

    // --- waiting ---------------------------------------------------------------------------------

    /// The packet begins to wait for `port` now.
    #[inline(always)]
    pub fn begin_wait<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        at_input: bool,
    ) {
        if self.ports[port.index()].tx.clock.blocked() != 0 {
            // The clock must know every change of credit up to now before it is read.
            self.consume(cx, port, cx.key());
        }
        self.begin_wait_at(port, packet, cx.now().0, at_input);
    }

    /// The wait that [`begin_wait`](Self::begin_wait) opened is over at `end`: its time goes to its causes,
    /// and to the totals of ports.
    #[inline(always)]
    pub fn end_wait<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        end: u64,
    ) {
        if self.ports[port.index()].tx.clock.blocked() != 0 {
            self.consume(cx, port, cx.key());
        }
        let is_switch = self.nodes.is_switch(port);
        let record = &mut self.packets[packet];
        let clock = &self.ports[port.index()].tx.clock;
        if let Some(waited) = close_wait(clock, record, end, is_switch) {
            let input = record.input;
            self.note_waited(port, packet, input, waited);
        }
    }

    /// The run ends at `end`: the totals of ports get the time of what still waits.
    pub fn settle_waits<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, end: u64) {
        let waiting = self.packets.iter().filter(|(_, record)| record.flags & WAITING != 0);
        let waiting: Vec<(u32, PortId)> = waiting.map(|(packet, record)| (packet, record.port)).collect();
        for (packet, port) in waiting {
            self.end_wait(cx, port, packet, end);
        }
    }

    /// [`select`](Self::select) at a port with channels.
    #[cold]
    fn select_channels<L: EventList<Payload>>(
        &mut self,
        device: &mut impl Device<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) -> Pick {
        let mut offers = [Pick::NONE; CHANNEL_COUNT];
        let (mut busy, mut no_credit) = (P::Ports::EMPTY, false);
        offers[0] = self.select_priority(device, cx, port, &mut busy, &mut no_credit);
        let gate = self.ports[port.index()].tx.clock.blocked();
        let names = self.channels_mut(port).names;
        for channel in 1..=names.count() {
            let lanes = self.ready_in_channel(port, channel);
            if lanes.is_empty() {
                continue;
            }
            if gate >> (PRIORITIES as u8 + names.vcid_of(channel)) & 1 == 1 {
                no_credit = true;
                continue;
            }
            let free = device.readable(self, cx, port, lanes, 0);
            busy |= lanes & !free;
            if !free.is_empty() {
                let lane = self.lane_of_channel(device, port, channel, free);
                let packet = self.head_in_channel(port, channel, lane);
                let pick = Pick { packet, parked: Pick::IN_CHANNEL, priority: channel, lane: lane as u8 };
                offers[usize::from(channel)] = pick;
            }
        }
        let octets = offers.map(|pick| (pick.packet != NIL).then(|| self.packets[pick.packet].wire));
        let channels = self.channels_mut(port);
        match channels.schedule.choose(|channel| octets[usize::from(channel)]) {
            Some(0) => {
                channels.chosen = true;
                offers[0]
            }
            Some(channel) => {
                channels.chosen = true;
                offers[usize::from(channel)]
            }
            None => {
                device.await_inputs(self, cx, busy);
                if no_credit {
                    self.await_credit(cx, port);
                }
                Pick::NONE
            }
        }
    }

    /// Which of `lanes` is next in a channel.
    fn lane_of_channel(
        &mut self,
        device: &mut impl Device<P>,
        port: PortId,
        channel: u8,
        lanes: P::Ports,
    ) -> u32 {
        let pointer = self.channels_mut(port).pointers[usize::from(channel)];
        device.choose(self, (port, PRIORITIES), lanes, pointer, |links, lane| {
            links.packets[links.head_in_channel(port, channel, lane)].stamp
        })
    }

    /// A packet of a channel, created at `at`, joins the injection queue of an endpoint.
    #[cold]
    pub fn queue_in_channel(&mut self, port: PortId, packet: u32, at: u64) {
        self.begin_wait_at(port, packet, at, false);
        self.store_in_channel(port, 0, packet, at);
    }

    /// A packet of a channel that came through `lane` waits for `port` from now on.
    pub fn wait_in_channel(&mut self, port: PortId, lane: u32, packet: u32, now: u64) {
        self.begin_wait_at(port, packet, now, false);
        self.store_in_channel(port, lane, packet, now);
    }
}
