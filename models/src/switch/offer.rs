//! An input can be read again: who has waited for it.

use super::{BY_CHANNEL, Switch};
use crate::config::PRIORITIES;
use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::NO_INPUT;
use crate::observe::Build;
use crate::observe::clock::CHANNELS;
use crate::ports::Ports;
use sim_core::EventList;

impl<S: Ports> Switch<S> {
    /// The transmission of `port` ends.
    #[inline(always)]
    pub fn done<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let input = links.ports[port.index()].tx.reading;
        if input != NO_INPUT {
            self.finish_read(links, cx, port, true);
            if self.offer_input(links, cx, port, input.into()) {
                return;
            }
        }
        self.try_output(links, cx, port);
    }

    /// Input `input` (number of its port) can be read again, because `output` has finished: for outputs that
    /// idle although it has packets for them, and for `output`. Whether anybody but `output` was concerned:
    /// then all have had their turn.
    #[inline(always)]
    fn offer_input<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        output: PortId,
        input: u32,
    ) -> bool {
        let base = self.base;
        let own = S::one(output - base);
        let wanted = links.ports[(base + input).index()].rx.wanted & !own;
        // Nearly always there is none: whoever waits for the input transmits something else meanwhile.
        let idle = wanted & (self.waiting_outputs | self.choose_together);
        #[cfg(debug_assertions)]
        links.check_tried(cx, base, wanted & !idle, input);
        if !idle.is_empty() {
            self.offer_to(links, cx, input, idle, own);
        }
        !idle.is_empty()
    }

    /// Input `lane` can be read again: for the outputs `wanted`, which may want it, and `own`, which has just
    /// finished. Who has the highest priority waiting there goes first; among equals the one after the output
    /// that read such a packet last.
    #[inline(never)]
    fn offer_to<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        lane: u32,
        wanted: S,
        own: S,
    ) {
        let base = self.base;
        let output = base + own.first();
        let mut rivals = S::EMPTY;
        let mut left = wanted;
        while let Some(n) = left.pop() {
            if !links.lane_in_use(base + n, lane) {
                links.ports[(base + lane).index()].rx.wanted &= !S::one(n);
            } else if links.ports[(base + n).index()].tx.done <= cx.key() {
                rivals |= S::one(n);
            }
        }
        let own_uses = links.lane_in_use(output, lane);
        if !own_uses {
            links.ports[(base + lane).index()].rx.wanted &= !own;
        }
        // A packet that an error cut short is sent again: the output is busy beyond its old end.
        let own_idle = links.ports[output.index()].tx.done <= cx.key();
        if own_uses && !own_idle {
            links.post_done(cx, output);
        }
        if rivals.without_first().is_empty() && !own_uses {
            // Most often there is one, and nobody to compare it with.
            let n = rivals.first();
            if rivals.is_empty() || self.rank_of(links, cx, base + n, lane) < PRIORITIES {
                if !rivals.is_empty() {
                    self.try_output(links, cx, base + n);
                }
                self.try_output(links, cx, output);
                return;
            }
        }
        // By priority; apart those with packets of virtual channels only, or none of this input.
        let mut ranks = [S::EMPTY; PRIORITIES + 1];
        if !own_uses {
            ranks[PRIORITIES] = own;
        } else if own_idle {
            rivals |= own;
        }
        while let Some(n) = rivals.pop() {
            let rank = self.rank_of(links, cx, base + n, lane);
            // Who waits for something else than this input has been tried, and will be woken by that: but not
            // whose link has begun to recover since it was tried, and who does not wait for credit yet.
            let tx = &links.ports[(base + n).index()].tx;
            let channels = tx.clock.blocked() & CHANNELS != 0;
            let gated = tx.clock.blocked() != 0 && !tx.credit_waiting;
            if rank < PRIORITIES || own.has(n) || channels || gated || !self.choose_together.is_empty() {
                ranks[rank] |= S::one(n);
            }
        }
        for priority in (0..PRIORITIES).rev().chain([PRIORITIES]) {
            let mut pointer = links.ports[(self.base + lane).index()].rx.last[priority];
            while !ranks[priority].is_empty() {
                let n = ranks[priority].next_after(pointer);
                ranks[priority] &= !S::one(n);
                pointer = n as u8;
                self.try_output(links, cx, base + n);
                let left = ranks.iter().fold(S::EMPTY, |all, &rank| all | rank);
                if !left.is_empty() && self.is_taken(links, cx, lane) {
                    // The others would find it so, and wait for the end of that read. Only the one that has
                    // just finished has not looked elsewhere yet.
                    if !(left & !own).is_empty() {
                        self.await_inputs(links, cx, S::one(lane));
                    }
                    if !(left & own).is_empty() {
                        self.try_output(links, cx, output);
                    }
                    return;
                }
            }
        }
    }

    /// Highest priority of VC0 at which `output` could start a packet from `lane`, or [`PRIORITIES`].
    fn rank_of<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        output: PortId,
        lane: u32,
    ) -> usize {
        if links.ports[output.index()].tx.clock.blocked() != 0 {
            links.consume(cx, output, cx.key());
        }
        let tx = &links.ports[output.index()].tx;
        let blocked = tx.clock.blocked();
        if tx.parked_any || tx.queue_lanes != 0 {
            let could = |&p: &usize| blocked >> p & 1 == 0 && links.waits_in(output, p, lane);
            return (0..PRIORITIES).rev().find(could).unwrap_or(PRIORITIES);
        }
        let waits = |p: usize| u64::from(tx.mask[p].has(lane)) << p;
        let ready = (waits(0) | waits(1) | waits(2) | waits(3)) & !u64::from(blocked);
        if ready == 0 { PRIORITIES } else { ready.ilog2() as usize }
    }

    /// Whether as many outputs read the input `lane` as may.
    fn is_taken<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        lane: u32,
    ) -> bool {
        self.prune(links, lane, cx.key());
        let switch = &*self;
        switch.choose_together.is_empty() && switch.reads != BY_CHANNEL && switch.reading.has(lane)
    }
}
