//! An output of a switch: whose input can be read, what follows when a transmission begins or ends, and how
//! what becomes free is told.

use super::{Switch, all_taken};
use crate::config::PRIORITIES;
use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::medium::Freed;
use crate::link::port::{Mode, NO_INPUT, Port, reading, special};
use crate::link::symbol::{Flight, News};
use crate::link::transmit::Started;
use crate::observe::Build;
use crate::packet::{NIL, UNSTAGED};
use crate::ports::Ports;
use lp_serial::Form;
use sim_core::EventList;

impl<S: Ports> Switch<S> {
    /// The receiver of `port` tells its neighbour about its buffers, because of an acknowledgement or a
    /// release at `t`: makes the symbol and its record.
    pub fn make_status<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        t: u64,
        acknowledged: u8,
    ) {
        match links.ports[port.index()].link.mode() {
            Mode::Closed => {
                if links.place_status(cx, port, t, acknowledged) {
                    self.tell_releases(links, cx, port);
                }
            }
            Mode::Symbols => self.acknowledge(links, cx, port),
            // Only what becomes free is told.
            Mode::Medium | Mode::Interleaved => {}
        }
    }

    /// A receive buffer of `port` is free again at the current event.
    pub fn release<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        freed: Freed,
    ) {
        self.note_acceptance(links, port - self.base, cx.key());
        self.release_noted(links, cx, port, freed);
    }

    /// [`release`](Self::release) where acceptances have been noted.
    fn release_noted<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        freed: Freed,
    ) {
        let now = cx.now().0;
        let rx = &mut links.ports[port.index()].rx;
        rx.occupied -= 1;
        links.observe.occupancy.released(port, now);
        if !rx.is_low() {
            return;
        }
        match rx.mode() {
            Mode::Closed => {
                if !links.amend_status(now, port) {
                    self.make_status(links, cx, port, now, 0);
                }
            }
            Mode::Symbols => self.release_told(links, cx, port),
            Mode::Medium | Mode::Interleaved => self.released_on_medium(links, cx, port, freed),
        }
    }

    // --- reads of input buffers ------------------------------------------------------------------

    /// The transmission of `output` is over: the input buffer that it read is free. With `tell` the release
    /// is told by the rules; without, nobody can be waiting for it.
    pub(super) fn finish_read<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        output: PortId,
        tell: bool,
    ) {
        self.note_acceptance(links, links.ports[output.index()].tx.reading.into(), cx.key());
        let tx = &mut links.ports[output.index()].tx;
        let from = tx.reading;
        if from == NO_INPUT {
            // Its end was noted with the acceptance.
            return;
        }
        tx.reading = NO_INPUT;
        let kind = std::mem::take(&mut tx.reading_kind);
        let switch = &mut *self;
        let base = switch.base;
        let input = base + u32::from(from);
        switch.read_ended(links, from.into(), output - base);
        if kind != reading::ORDINARY && !self.finish_special_read(links, cx, output, input, kind) {
            return;
        }
        if tell {
            self.release_noted(links, cx, input, Freed::Read(output));
        } else {
            let ended = links.ports[output.index()].tx.done.time().0;
            links.ports[input.index()].rx.occupied -= 1;
            links.observe.occupancy.released(input, ended);
        }
    }

    /// Whether the end of such a read frees a buffer of VC0.
    #[cold]
    fn finish_special_read<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        output: PortId,
        input: PortId,
        kind: u8,
    ) -> bool {
        if kind == reading::COPY {
            return links.packets.last_of_group(links.cold[output.index()].reading_share);
        }
        self.release_channel(links, cx, input, kind);
        false
    }

    // --- choice ----------------------------------------------------------------------------------

    /// Starts the next packet of `port` if one may start now.
    pub fn try_output<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let tx = &links.ports[port.index()].tx;
        if tx.waiting == 0 {
            return;
        }
        if tx.done > cx.key() {
            links.post_done(cx, port);
            return;
        }
        if tx.stored == 0 {
            return;
        }
        if !self.choose_together.is_empty() {
            self.post_tick(links, cx);
            return;
        }
        let pick = links.select(self, cx, port);
        if pick.packet != NIL {
            links.take(port, pick, cx.now().0);
            self.start(links, cx, port, pick.packet, true);
        } else {
            self.waiting_outputs |= S::one(port - self.base);
        }
    }

    /// Whether a packet that is not in any list may start on `port` of a switch at once, past nobody.
    #[inline(always)]
    pub(super) fn may_start<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        priority: u8,
        queue: u8,
    ) -> bool {
        let tx = &links.ports[port.index()].tx;
        // One branch: nobody can predict whether the output is busy, and once is enough.
        if u64::from(tx.waiting) | u64::from(tx.done > cx.key()) != 0 {
            return false;
        }
        if tx.clock.is_blocked() {
            links.consume(cx, port, cx.key());
            if links.ports[port.index()].tx.clock.blocked() & (1 << priority) != 0 {
                return false;
            }
        }
        !links.is_stopped(port, queue)
    }

    // --- start -----------------------------------------------------------------------------------

    /// Commits `packet` (in no list) to the wire of `port` now; `stored`: it was in the lists of the output
    /// before.
    pub fn start<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        stored: bool,
    ) {
        let now = cx.now().0;
        let index = port.index();
        self.note_acceptance(links, port - self.base, cx.key());
        if links.ports[index].tx.reading != NO_INPUT {
            // The previous read ended without an event.
            self.finish_read(links, cx, port, false);
        }
        links.learn_credit(cx, port);
        links.charge_refresh(port, now);
        let started = links.commit_packet(cx, port, packet, true);
        let Started { flight, special, input, share, priority, .. } = started;
        if special != 0 {
            self.started_specially(links, cx, port, packet, &flight);
        }
        if links.observe.probe.follows_packets() {
            links.tell_started(port, packet, &flight, false);
        }
        self.started(links, cx, port, input, share, priority, stored);
        if links.unfolded || links.ports[index].tx.waiting > 0 {
            links.post_done(cx, port);
        }
    }

    /// A packet has been committed to the wire of a link that needs more than the closed form.
    #[cold]
    fn started_specially<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        flight: &Flight,
    ) {
        match links.ports[port.index()].link.mode() {
            Mode::Symbols if links.channels(port).is_some() => {
                self.prune(links, port - self.base, cx.key());
            }
            Mode::Interleaved => self.channel_read(links, port, packet),
            _ => {}
        }
        links.started_specially(cx, port, packet, flight);
    }

    /// A transmission of this switch has started.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(super) fn started<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        output: PortId,
        input: u8,
        share: u32,
        priority: u8,
        stored: bool,
    ) {
        let switch = &mut *self;
        let (input, out) = (u32::from(input), output - switch.base);
        let port = switch.base + input;
        let priority = priority as usize;
        switch.waiting_outputs &= !S::one(out);
        if switch.direct {
            let Port { tx, link, .. } = &links.ports[output.index()];
            // What is on a link that needs more than the closed form may be cut short.
            let end = if link.special() == 0 { tx.done.time().0 } else { 0 };
            let rx = &mut links.ports[port.index()].rx;
            let low = rx.is_low();
            rx.read_by(out, end);
            let full = all_taken(rx.readers, switch.reads);
            rx.last[priority.min(PRIORITIES)] = out as u8;
            switch.reading |= S::one_if(input, full);
            let fifo = switch.fifo;
            let tx = &mut links.ports[output.index()].tx;
            tx.reading = input as u8;
            // Packets of virtual channels have pointers of their own.
            if let Some(pointer) = tx.pointers.get_mut(priority) {
                *pointer = input as u8;
            }
            if share != NIL {
                tx.reading_kind = reading::COPY;
                links.cold[output.index()].reading_share = share;
            }
            if low || share != NIL {
                links.post_done(cx, output);
            }
            if stored {
                self.queue_shrinks(priority, input, out);
                if self.detect {
                    self.watch_leaving(links, cx, (input, out), priority);
                }
                if fifo {
                    self.expose_next(links, cx, input, priority);
                }
            }
            return;
        }
        if switch.crosspoint {
            links.ports[output.index()].tx.pointers[priority] = input as u8;
        }
        if !stored {
            return;
        }
        if self.crosspoint {
            self.queue_shrinks(priority, input, out);
        }
        let switch = &*self;
        if switch.detect {
            self.occupancy_down(links, cx, input, out);
        }
        let (_, lane, fill) = self.depth_indices(priority, input, out);
        self.filled[fill] -= 1;
        self.pull(links, cx, out, priority, lane);
    }

    /// Whether a place in a buffer behind the inputs is free for a packet of a staging queue: at (output,
    /// priority), in (lane, counter of places taken).
    #[inline(always)]
    pub(super) fn has_place<P: Build<Ports = S>>(
        &self,
        links: &Links<P>,
        (output, priority): (PortId, usize),
        (lane, fill): (u32, usize),
        queue: u8,
    ) -> bool {
        let room = u32::from(self.filled[fill]) < self.depth;
        room && (self.quota == u32::MAX
            || queue == UNSTAGED
            || links.in_lane(output, priority, lane, queue) < self.quota)
    }

    /// The first packet of a FIFO input that is read directly has left.
    #[inline(never)]
    fn expose_next<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        priority: usize,
    ) {
        self.exposed[input as usize][priority] -= 1;
        self.expose(links, cx, input, priority);
    }

    /// FIFO inputs read directly: the next head becomes a candidate at its output.
    fn expose<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        priority: usize,
    ) {
        let switch = &mut *self;
        let base = switch.base;
        let index = priority * switch.ports as usize + input as usize;
        if switch.inputs[index].head == NIL || switch.exposed[input as usize][priority] != 0 {
            return;
        }
        let packet = links.packets.pop_front(&mut switch.inputs[index]);
        let output = links.packets[packet].port;
        let out = output - base;
        links.end_wait(cx, output, packet, cx.now().0);
        links.begin_wait(cx, output, packet, false);
        self.exposed[input as usize][priority] = 1;
        links.ports[(base + input).index()].rx.wanted |= S::one(out);
        links.store(output, input, packet);
        self.try_output(links, cx, output);
    }

    /// There is room behind the inputs for (priority, output, lane): the next packet moves in.
    #[inline(never)]
    fn pull<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        out: u32,
        priority: usize,
        lane: u32,
    ) {
        if self.pool || self.quota != u32::MAX {
            return self.pull_by_rules(links, cx, out, priority, lane);
        }
        let switch = &*self;
        let cell = priority * switch.ports as usize + out as usize;
        let mut inputs = switch.heads[cell];
        if switch.crosspoint {
            inputs &= S::one(lane);
        }
        if inputs.is_empty() {
            return;
        }
        let input = self.choose_input(links, out, priority, inputs);
        self.admit(links, cx, input, out, priority);
    }

    /// [`pull`](Self::pull) where outputs share a pool, or staging queues have quotas: who gets the place,
    /// and who can use another one.
    #[cold]
    fn pull_by_rules<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        out: u32,
        priority: usize,
        lane: u32,
    ) {
        loop {
            let fitting = |out: u32| {
                let inputs = self.fitting(links, out, priority, lane);
                (!inputs.is_empty()).then_some((out, inputs))
            };
            let next = if self.pool {
                let after = (u32::from(self.pool_pointers[priority]) + 1).min(self.ports);
                (after..self.ports).chain(0..after).find_map(fitting)
            } else {
                fitting(out)
            };
            let Some((out, inputs)) = next else { return };
            if self.pool {
                self.pool_pointers[priority] = out as u8;
            }
            let input = self.choose_input(links, out, priority, inputs);
            self.admit(links, cx, input, out, priority);
            if self.quota == u32::MAX {
                return;
            }
        }
    }

    /// Inputs whose first packet wants a place at (out, priority) and has one free for it; of crosspoints
    /// that of `lane` alone.
    fn fitting<P: Build<Ports = S>>(&self, links: &Links<P>, out: u32, priority: usize, lane: u32) -> S {
        let mut heads = self.heads[priority * self.ports as usize + out as usize];
        if self.crosspoint {
            heads &= S::one(lane);
        }
        let mut inputs = S::EMPTY;
        for input in heads.members() {
            let (list, lane, fill) = self.depth_indices(priority, input, out);
            let queue = links.packets[self.inputs[list].head].queue;
            let place = self.has_place(links, (self.base + out, priority), (lane, fill), queue);
            inputs |= S::one_if(input, place);
        }
        inputs
    }

    /// Which of `inputs` moves a packet into the output's buffer.
    fn choose_input<P: Build<Ports = S>>(
        &mut self,
        links: &mut Links<P>,
        out: u32,
        priority: usize,
        inputs: S,
    ) -> u32 {
        let output = self.base + out;
        let pointer = links.ports[output.index()].tx.pointers[priority];
        self.choose(links, (output, priority), inputs, pointer, |switch, links, input| {
            let (list, _, _) = switch.depth_indices(priority, input, out);
            links.packets[switch.inputs[list].head].stamp
        })
    }

    /// Moves the head of an input queue into the buffer of its output, and after it whatever it was blocking.
    fn admit<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        out: u32,
        priority: usize,
    ) {
        let (list, lane, fill) = self.depth_indices(priority, input, out);
        let switch = &mut *self;
        let (base, n) = (switch.base, switch.ports as usize);
        let output = base + out;
        let packet = links.packets.pop_front(&mut switch.inputs[list]);
        let next = switch.inputs[list].head;
        if switch.fifo || next == NIL {
            switch.heads[priority * n + out as usize] &= !S::one(input);
        }
        switch.filled[fill] += 1;
        if !switch.crosspoint {
            switch.queue_shrinks(priority, input, out);
            // From here on its age is that of its place in the buffer: packets that a message moves aside
            // compete with those behind them by it. Between crosspoints the age in the switch decides, and
            // within one it is the order of places, too.
            switch.stamp = switch.stamp.wrapping_add(1);
            links.packets[packet].stamp = switch.stamp;
            links.ports[output.index()].tx.pointers[priority] = input as u8;
        }
        links.end_wait(cx, output, packet, cx.now().0);
        links.begin_wait(cx, output, packet, false);
        self.leave_input(links, cx, packet, base + input, true);
        links.store(output, lane, packet);
        let queue = links.packets[packet].queue;
        self.note_stored(links, cx, (input, out), queue);
        if self.fifo && next != NIL {
            let other = links.packets[next].port - base;
            self.heads[priority * n + other as usize] |= S::one(input);
            let (_, lane, fill) = self.depth_indices(priority, input, other);
            let queue = links.packets[next].queue;
            if self.has_place(links, (base + other, priority), (lane, fill), queue) {
                self.admit(links, cx, input, other, priority);
            }
        }
        self.try_output(links, cx, output);
    }

    /// A packet does not need the receive buffer any more (with a depth: it moved on).
    pub(super) fn leave_input<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        packet: u32,
        port: PortId,
        tell: bool,
    ) {
        let share = std::mem::replace(&mut links.packets[packet].share, NIL);
        if share != NIL && !links.packets.last_of_group(share) {
            return;
        }
        if tell || links.ports[port.index()].link.special() & special::MEDIUM != 0 {
            let priority = links.packets[packet].priority;
            self.release(links, cx, port, Freed::Moved(priority));
        } else {
            links.ports[port.index()].rx.occupied -= 1;
            links.observe.occupancy.released(port, cx.now().0);
        }
    }

    /// (input list, lane, fill counter) of a packet in a switch with buffers behind the inputs.
    pub(super) fn depth_indices(&self, priority: usize, input: u32, out: u32) -> (usize, u32, usize) {
        let n = self.ports as usize;
        let list = if self.fifo {
            priority * n + input as usize
        } else {
            (priority * n + out as usize) * n + input as usize
        };
        if self.pool {
            return (list, 0, priority);
        }
        let (lanes, lane) = if self.crosspoint { (n, input) } else { (1, 0) };
        (list, lane, (priority * n + out as usize) * lanes + lane as usize)
    }

    /// The link port of `port` has met something: what follows from it. `heard`: a symbol, which may change
    /// the credit that somebody waits for.
    pub fn after_link_port<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        heard: bool,
    ) {
        self.take_news(links, cx, port);
        if links.settle_end(cx, port, heard) {
            self.try_output(links, cx, port);
        }
    }

    /// A message of the neighbour of `output` has been obeyed; `released`: whether a queue goes again, if the
    /// port stages.
    pub fn obeyed<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        output: PortId,
        released: Option<bool>,
    ) {
        if self.leave_out && released.is_some() {
            self.recount(links, cx, output);
        }
        if released == Some(true) {
            self.try_output(links, cx, output);
        }
    }

    /// Acts on the news of the link port of `port`: what this switch had told may have been lost (Part 12
    /// §4.2 g), and what its neighbour had said is void after an initialisation.
    pub fn take_news<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        while let Some(news) = links.next_news(cx, port) {
            match news {
                News::Recovered => {
                    if let Some(backpressure) = &mut self.backpressure
                        && backpressure.repairs(port)
                    {
                        backpressure.learn(links, cx, port, |originator, p| {
                            originator.link_recovered(p);
                        });
                    }
                }
                News::Initialised => {
                    let form = links.form(port);
                    if let (Some(backpressure), Form::Long) = (&mut self.backpressure, form) {
                        backpressure.learn(links, cx, port, |originator, p| {
                            originator.link_up(p, form);
                        });
                    }
                    for clear in links.all_clear(port) {
                        let released = links.apply_message(cx.now().0, port, clear);
                        self.obeyed(links, cx, port, released);
                    }
                }
            }
        }
    }

    /// The fabric has taken a packet in: its acknowledgement is due.
    #[cold]
    pub(super) fn acknowledge<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        links.acknowledge(port);
        self.after_link_port(links, cx, port, false);
        self.tell_releases(links, cx, port);
    }

    /// A receive buffer of `port` is free again.
    #[cold]
    fn release_told<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        if links.tell_release(cx.now().0, port) {
            self.after_link_port(links, cx, port, false);
            self.tell_releases(links, cx, port);
        }
    }

    /// A receive buffer of a channel of `port` is free again.
    #[cold]
    pub(super) fn release_channel<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        channel: u8,
    ) {
        if links.release_channel(port, channel, cx.now().0) {
            self.after_link_port(links, cx, port, false);
        }
    }

    /// A receive buffer of `port` is free.
    fn released_on_medium<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        freed: Freed,
    ) {
        if let Freed::Read(output) = freed {
            let channel = links.channels_of(output).reading;
            let (n, bit) = ((port - self.base) as usize, S::one(output - self.base));
            if let Some(reads) = &mut self.channel_reads {
                reads.outputs[n][usize::from(channel)] &= !bit;
            }
        }
        links.return_place(cx, port, freed);
    }
}
