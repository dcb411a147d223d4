//! What is counted of waiting packets: the detector of congestion and the high-water marks.

use super::{Switch, Watch};
use crate::config::PRIORITIES;
use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::observe::Build;
use crate::packet::Cell;
use crate::ports::Ports;
use lp_serial::link::Channels;
use sim_core::{EventKey, EventList};

impl<S: Ports> Switch<S> {
    /// Where packets are counted that wait for `out` and came through `input`, if they are.
    #[inline(always)]
    pub(super) fn queued(&mut self, priority: usize, input: u32, out: u32) -> Option<&mut u16> {
        let cell = (priority as u32 * self.ports + out) * self.ports + input;
        self.queued.get_mut(cell as usize)
    }

    /// One more packet waits there.
    #[inline(always)]
    pub(super) fn queue_grows(&mut self, priority: usize, input: u32, out: u32) {
        if let Some(length) = self.queued(priority, input, out) {
            *length += 1;
        }
    }

    /// One less does.
    #[inline(always)]
    pub(super) fn queue_shrinks(&mut self, priority: usize, input: u32, out: u32) {
        if let Some(length) = self.queued(priority, input, out) {
            *length -= 1;
        }
    }

    /// The packet begins to count for the detector and the high-water marks.
    #[inline(always)]
    pub(super) fn note_waiting<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        queue: u8,
    ) {
        let base = self.base;
        let rx = &links.ports[(base + input).index()].rx;
        if rx.occupied > rx.high_water {
            self.note_high_water(links, cx, input);
        }
        let tx = &mut links.ports[(base + out).index()].tx;
        tx.high_water = tx.high_water.max(tx.waiting);
        if self.detect && self.counts_on_arrival(out) {
            if self.direct {
                self.note_late(links, cx, input, out);
            }
            self.occupancy_up(links, cx, (input, out), queue);
        }
    }

    /// `direct`: a packet waits for an output whose detector was on before it came, as its neighbour is told.
    /// It is late if its receive buffer is one that the neighbour's packets of priority 0 would need
    /// (VOQ-2.5-5).
    #[inline(always)]
    pub(super) fn note_late<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        input: u32,
        out: u32,
    ) {
        if self.cell(links, (input, out), 0).is_on() {
            self.count_late(links, (input, out), 0, cx.key());
        }
    }

    /// Likewise of a packet that came in a channel: it is late if it took the last buffer of that.
    pub(super) fn note_late_in_channel<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        (input, out): (u32, u32),
        priority: u8,
    ) {
        if self.cell(links, (input, out), self.judged(priority)).is_on() {
            let channel = links.channel_of(self.base + input, priority);
            self.count_late(links, (input, out), channel, cx.key());
        }
    }

    #[cold]
    fn count_late<P: Build<Ports = S>>(
        &mut self,
        links: &mut Links<P>,
        (input, out): (u32, u32),
        channel: u8,
        key: EventKey,
    ) {
        self.prune(links, input, key);
        if !self.tells(input, out, channel) {
            return;
        }
        let base = self.base;
        let rx = &links.ports[(base + input).index()].rx;
        let free = rx.buffers.saturating_sub(rx.occupied);
        let few = match channel {
            0 => free < links.arriving(base + input).watermarks[0],
            _ => links.free_in_channel(base + input, channel) == 0,
        };
        links.cold[(base + out).index()].stats.late_hol += u64::from(few);
    }

    /// Whether the neighbour at `input` is told that `out` is congested in this channel, as far as it is
    /// up to this switch.
    fn tells(&self, input: u32, out: u32, channel: u8) -> bool {
        self.backpressure.as_ref().is_some_and(|backpressure| {
            let originator = &backpressure.originator;
            let (input, out) = (input as u16, out as u16);
            let reported = match self.told_apart {
                Channels::None => originator.reported(input, out),
                _ => originator.reported_in(input, backpressure.vc(channel), out),
            };
            originator.active().contains(input) && reported
        })
    }

    /// Whether a packet that finds no place behind the inputs came after its sender could have been told:
    /// before it is counted itself.
    #[cold]
    pub(super) fn is_late_behind<P: Build<Ports = S>>(
        &mut self,
        links: &mut Links<P>,
        input: u32,
        out: u32,
    ) -> bool {
        self.cell(links, (input, out), 0).is_on() && self.tells(input, out, 0)
    }

    /// A packet that the detector counts begins to wait for `out` where the inputs are read directly. Apart
    /// from where packets wait, as most fabrics have no detector.
    #[inline(never)]
    pub(super) fn watch_waiting<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        queue: u8,
    ) {
        self.note_late(links, cx, input, out);
        self.occupancy_up(links, cx, (input, out), queue);
    }

    /// Likewise: it leaves.
    #[inline(never)]
    pub(super) fn watch_leaving<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        priority: usize,
    ) {
        if priority < PRIORITIES {
            self.occupancy_down(links, cx, input, out);
        } else {
            self.occupancy_down_in_channel(links, cx, (input, out), priority as u8);
        }
    }

    /// An input holds more packets than ever, unless some of them are reads that ended without an event.
    pub(super) fn note_high_water<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
    ) {
        self.prune(links, input, cx.key());
        let rx = &mut links.ports[(self.base + input).index()].rx;
        rx.high_water = rx.high_water.max(rx.occupied);
    }

    /// A packet entered the output's own buffer.
    pub(super) fn note_stored<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        queue: u8,
    ) {
        if self.detect && !self.counts_on_arrival(out) {
            self.occupancy_up(links, cx, (input, out), queue);
        }
    }

    /// The detector watches everything that waits for the egress port in the switch, except for a shared
    /// output buffer or pool, where it watches the buffer (the egress queue of the output-queued model).
    fn counts_on_arrival(&self, out: u32) -> bool {
        self.keeps_lanes() || self.judges_by_ingress(out)
    }

    #[inline(always)]
    pub(super) fn occupancy_up<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        queue: u8,
    ) {
        if self.leave_out && links.is_stopped(self.base + out, queue) {
            return;
        }
        self.count_up(links, cx, (input, out), 0);
    }

    /// Likewise of a packet in a channel.
    pub(super) fn occupancy_up_in_channel<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        packet: u32,
    ) {
        if !(self.leave_out && links.is_held(packet)) {
            let channel = self.judged(links.packets[packet].priority);
            self.count_up(links, cx, (input, out), channel);
        }
    }

    #[inline(always)]
    fn count_up<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        channel: u8,
    ) {
        let on = self.watches.get(out as usize).map_or(self.x_on, |watch| watch.x_on);
        let cell = self.cell(links, (input, out), channel);
        cell.count_up();
        if cell.packets() >= on && !cell.is_on() {
            cell.turn(true);
            self.verdict(links, cx, (input, out), channel, true);
        }
    }

    #[inline(always)]
    pub(super) fn occupancy_down<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        out: u32,
    ) {
        self.count_down(links, cx, (input, out), 0);
    }

    /// Likewise of a packet in a channel.
    pub(super) fn occupancy_down_in_channel<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        priority: u8,
    ) {
        let channel = self.judged(priority);
        self.count_down(links, cx, (input, out), channel);
    }

    #[inline(always)]
    fn count_down<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        channel: u8,
    ) {
        let off = self.watches.get(out as usize).map_or(self.x_off, |watch| watch.x_off);
        let cell = self.cell(links, (input, out), channel);
        cell.count_down();
        if cell.packets() <= off && cell.is_on() {
            cell.turn(false);
            self.verdict(links, cx, (input, out), channel, false);
        }
    }

    /// What counts for `output` may have changed, because its neighbour stopped queues or released them: its
    /// packets are counted anew.
    #[cold]
    pub(super) fn recount<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        output: PortId,
    ) {
        let out = output - self.base;
        let channels = 1 + usize::from(self.told_apart.count());
        let mut counts = vec![vec![0u16; self.ports as usize]; channels];
        let mut count = |packet: u32| {
            let record = &links.packets[packet];
            if record.port == output && !links.is_held(packet) {
                counts[usize::from(self.judged(record.priority))][usize::from(record.input)] += 1;
            }
        };
        links.stored_at(output).for_each(&mut count);
        if self.counts_on_arrival(out) {
            self.inputs.iter().flat_map(|list| links.packets.iter_list(*list)).for_each(count);
        }
        let by_ingress = self.judges_by_ingress(out);
        if !by_ingress {
            counts.iter_mut().for_each(|counts| *counts = vec![counts.iter().sum()]);
        }
        let watch = self.watch(out);
        let all = (0..)
            .zip(counts)
            .flat_map(|(channel, counts)| (0..).zip(counts).map(move |(input, now)| (channel, input, now)));
        for (channel, input, now) in all {
            let cell = self.cell(links, (input, out), channel);
            let (before, congested, now) = (cell.packets(), cell.is_on(), u32::from(now));
            let on = !congested && now > before && now >= watch.x_on;
            let off = congested && now < before && now <= watch.x_off;
            *cell = Cell::new(now, congested != (on || off));
            if on || off {
                self.verdict(links, cx, (input, out), channel, on);
            }
        }
    }

    /// Thresholds and verdict of an egress port.
    fn watch(&self, out: u32) -> Watch {
        let of_all = Watch { x_on: self.x_on, x_off: self.x_off, per_ingress: self.per_ingress };
        self.watches.get(out as usize).copied().unwrap_or(of_all)
    }

    /// The thresholds of an egress port become others: what waits for it is judged by them. Nothing changes
    /// where there is no detector.
    #[cold]
    pub fn set_thresholds<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        out: u32,
        (x_on, x_off): (u32, u32),
    ) {
        if !self.detect || self.watch(out).is_off() {
            return;
        }
        if self.watches.is_empty() {
            self.watches = (0..self.ports).map(|port| self.watch(port)).collect();
        }
        let watch = &mut self.watches[out as usize];
        (watch.x_on, watch.x_off) = (x_on, x_off);
        let inputs = if watch.per_ingress { self.ports } else { 1 };
        let channels = 1 + self.told_apart.count();
        for (channel, input) in
            (0..channels).flat_map(|channel| (0..inputs).map(move |input| (channel, input)))
        {
            let cell = self.cell(links, (input, out), channel);
            let (packets, congested) = (cell.packets(), cell.is_on());
            let turns = if congested { packets <= x_off } else { packets >= x_on };
            if turns {
                *cell = Cell::new(packets, !congested);
                self.verdict(links, cx, (input, out), channel, !congested);
            }
        }
    }

    /// The detector's verdict on an egress port changed (for one upstream, or for all).
    fn verdict<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (u32, u32),
        channel: u8,
        congested: bool,
    ) {
        if self.backpressure.is_some() {
            // Messages take places on the wires on which acceptances are told.
            self.note_acceptances(links, cx.key());
            self.settle_reads(links, cx.key());
        }
        let input = self.judges_by_ingress(out).then_some(input);
        let channel = (self.told_apart != Channels::None).then_some(channel);
        if let Some(backpressure) = &mut self.backpressure {
            backpressure.verdict(links, cx, (input, out), channel, congested);
        }
    }
}
