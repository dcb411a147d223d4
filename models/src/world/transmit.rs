//! A transmitter asks the device that it belongs to: who may go next, whose input can be read, and what
//! follows when a transmission begins or ends.

use crate::config::PRIORITIES;
use crate::event::{Cx, Payload, class};
use crate::ids::Node;
use crate::link::interleave::BY_CHANNEL;
use crate::link::medium::Freed;
use crate::link::port::{NO_INPUT, reading, special};
use crate::link::transmit::{Pick, Started, close_wait};
use crate::observe::clock::CHANNELS;
use crate::observe::probe::Probe;
use crate::packet::{NIL, UNSTAGED, WAITING};
use crate::switch::arbiter::next_after;
use crate::world::Fabric;
use sim_core::{EventKey, EventList, Time};

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
