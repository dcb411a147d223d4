//! What is counted of waiting packets: the detector of congestion and the high-water marks.

use super::Switch;
use crate::event::{Cx, Payload};
use crate::link::Links;
use crate::observe::probe::Probe;
use sim_core::{EventKey, EventList};

impl Switch {
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
    pub(super) fn note_waiting<P: Probe, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        out: u32,
    ) {
        let base = self.base;
        let rx = &links.ports[(base + input).index()].rx;
        if rx.occupied > rx.high_water {
            self.note_high_water(links, cx, input);
        }
        let tx = &mut links.ports[(base + out).index()].tx;
        tx.high_water = tx.high_water.max(tx.waiting);
        if self.detect && self.counts_on_arrival() {
            if self.direct {
                self.note_late(links, cx, input, out);
            }
            self.occupancy_up(links, cx, input, out);
        }
    }

    /// `direct`: a packet waits for an output whose detector was on before it came, as its neighbour is told.
    /// It is late if its receive buffer is one that the neighbour's packets of priority 0 would need
    /// (VOQ-2.5-5).
    #[inline(always)]
    pub(super) fn note_late<P: Probe, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        input: u32,
        out: u32,
    ) {
        let switch = &*self;
        let (_, word) = switch.detector_of(input, out);
        if switch.raw[word] & (1 << out) != 0 {
            self.count_late(links, input, out, cx.key());
        }
    }

    #[cold]
    fn count_late<P: Probe>(&mut self, links: &mut Links<P>, input: u32, out: u32, key: EventKey) {
        self.prune(links, input, key);
        let switch = &*self;
        let told = switch.backpressure.as_ref().is_some_and(|backpressure| {
            let originator = &backpressure.originator;
            originator.active().contains(input as u16) && originator.reported(input as u16, out as u16)
        });
        if !told {
            return;
        }
        let base = switch.base;
        let rx = &links.ports[(base + input).index()].rx;
        let free = rx.buffers.saturating_sub(rx.occupied);
        let few = free < links.arriving(base + input).watermarks[0];
        links.cold[(base + out).index()].stats.late_hol += u64::from(few);
    }

    /// An input holds more packets than ever, unless some of them are reads that ended without an event.
    pub(super) fn note_high_water<P: Probe, L: EventList<Payload>>(
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
    pub(super) fn note_stored<P: Probe, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        out: u32,
    ) {
        if self.detect && !self.counts_on_arrival() {
            self.occupancy_up(links, cx, input, out);
        }
    }

    /// The detector watches everything that waits for the egress port in the switch, except for a shared
    /// output buffer, where it watches the buffer (the egress queue of the output-queued model).
    fn counts_on_arrival(&self) -> bool {
        self.direct || self.crosspoint || self.per_ingress
    }

    #[inline(always)]
    pub(super) fn occupancy_up<P: Probe, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        out: u32,
    ) {
        let switch = &mut *self;
        let (cell, word) = switch.detector_of(input, out);
        switch.occupancy[cell] += 1;
        if u32::from(switch.occupancy[cell]) >= switch.x_on && switch.raw[word] & (1 << out) == 0 {
            switch.raw[word] |= 1 << out;
            self.verdict(links, cx, input, out, true);
        }
    }

    #[inline(always)]
    pub(super) fn occupancy_down<P: Probe, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        out: u32,
    ) {
        let switch = &mut *self;
        let (cell, word) = switch.detector_of(input, out);
        switch.occupancy[cell] -= 1;
        if u32::from(switch.occupancy[cell]) <= switch.x_off && switch.raw[word] & (1 << out) != 0 {
            switch.raw[word] &= !(1 << out);
            self.verdict(links, cx, input, out, false);
        }
    }

    /// The detector's verdict on an egress port changed (for one upstream, or for all).
    fn verdict<P: Probe, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        input: u32,
        out: u32,
        congested: bool,
    ) {
        if self.backpressure.is_some() {
            // Messages take places on the wires on which acceptances are told.
            self.note_acceptances(links, cx.key());
        }
        if let Some(backpressure) = &mut self.backpressure {
            backpressure.verdict(links, cx, self.per_ingress.then_some(input), out, congested);
        }
    }
}
