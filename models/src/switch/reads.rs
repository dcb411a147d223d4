//! Reads of input buffers: who may read an input now, who does, and what ends without an event.

use super::{BY_CHANNEL, Switch};
use crate::event::{Cx, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::interleave::CHANNELS;
use crate::link::port::{NO_INPUT, reading};
use crate::observe::Build;
use crate::ports::Ports;
use lp_serial::link::Channels;
use sim_core::{EventKey, EventList};

/// Who reads the buffers of each channel of the inputs of a switch.
#[derive(Clone, Debug)]
pub(crate) struct ChannelReads<S> {
    /// Transmitters that may read a channel of an input at a time.
    pub limit: u32,
    /// Outputs that read, one bit each, by input and channel.
    pub outputs: Vec<[S; CHANNELS as usize]>,
}

impl<S: Ports> ChannelReads<S> {
    pub fn new(limit: u32, ports: u32) -> Self {
        ChannelReads { limit, outputs: vec![[S::EMPTY; CHANNELS as usize]; ports as usize] }
    }

    /// Reads that `channel` of an input has left.
    pub fn left(&self, input: u32, channel: usize) -> u32 {
        self.limit.saturating_sub(self.outputs[input as usize][channel].count())
    }
}

impl<S: Ports> Switch<S> {
    /// The inputs are read channel by channel.
    pub fn share_channels(&mut self) {
        if self.direct {
            self.channel_reads = Some(Box::new(ChannelReads::new(self.reads, self.ports)));
            (self.reads, self.reading) = (BY_CHANNEL, !S::EMPTY);
        }
    }

    /// Cut-through: notes the acceptance of a packet that came through `input` (port number) if it was before
    /// `key`. Whoever changes or asks what an acceptance tells does this first: who uses the wire on which it
    /// is told, or the receive buffers that it counts.
    #[inline(always)]
    pub fn note_acceptance<P: Build<Ports = S>>(&mut self, links: &mut Links<P>, input: u32, key: EventKey) {
        if self.cuts_through && links.has_accepted(self.base + input, key) {
            self.make_up_acceptance(links, input, key);
        }
    }

    /// Once a packet, but from wherever it is noticed first: asked in many places, done in one.
    #[inline(never)]
    fn make_up_acceptance<P: Build<Ports = S>>(&mut self, links: &mut Links<P>, input: u32, key: EventKey) {
        let port = self.base + input;
        let accepted = links.ports[port.index()].note_accepted();
        self.prune(links, input, accepted);
        links.make_up_acceptance(key, port, accepted);
    }

    /// Likewise for all inputs.
    pub fn note_acceptances<P: Build<Ports = S>>(&mut self, links: &mut Links<P>, key: EventKey) {
        if self.cuts_through {
            (0..self.ports).for_each(|input| self.note_acceptance(links, input, key));
        }
    }

    /// Before statuses tell of buffers for the sake of a message: reads that are over are taken note of.
    pub fn settle_reads<P: Build<Ports = S>>(&mut self, links: &mut Links<P>, key: EventKey) {
        if self.told_apart != Channels::None {
            (0..self.ports).for_each(|input| {
                self.prune(links, input, key);
            });
        }
    }

    /// Takes note of reads of `input` (port number) that ended before `key` without an event. How many go on
    /// beyond this instant.
    pub fn prune<P: Build<Ports = S>>(&mut self, links: &mut Links<P>, input: u32, key: EventKey) -> u32 {
        self.note_acceptance(links, input, key);
        let base = self.base;
        let rx = &links.ports[(base + input).index()].rx;
        let mut readers = rx.readers;
        if rx.read_until > key.time().0 {
            return if readers.without_first().is_empty() {
                (!readers.is_empty()).into()
            } else {
                readers.count()
            };
        }
        let mut on = 0;
        while !readers.is_empty() {
            let output = base + readers.first();
            readers = readers.without_first();
            let tx = &mut links.ports[output.index()].tx;
            on += u32::from(tx.done.time() > key.time());
            if tx.done < key && u32::from(tx.reading) == input {
                debug_assert!(!tx.clock.end_posted);
                debug_assert!(tx.reading_kind == reading::ORDINARY, "special reads end with an event");
                tx.reading = NO_INPUT;
                let ended = tx.done.time().0;
                self.read_ended(links, input, output - base);
                links.ports[(base + input).index()].rx.occupied -= 1;
                links.observe.occupancy.released(base + input, ended);
            }
        }
        on
    }

    /// Of `lanes`, those whose input can be read now for a packet of this priority.
    #[inline(always)]
    pub fn readable<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        port: PortId,
        lanes: S,
        priority: usize,
    ) -> S {
        let mut check = lanes & self.reading;
        let mut ends = S::EMPTY;
        if !check.is_empty() && self.reads == BY_CHANNEL {
            return self.readable_channels(links, cx, port, lanes, priority);
        }
        while let Some(lane) = check.pop() {
            // Most often the reads go on, and nobody has to be asked.
            if self.prune(links, lane, cx.key()) < self.reads {
                ends |= S::one_if(lane, self.ends_now(links, cx, lane));
            }
        }
        lanes & (!self.reading | ends)
    }

    /// Whether a read of input `lane` that ends at this very instant counts as over: if nobody else waits for
    /// the input. Otherwise outputs and inputs that end together would stay together for ever, because the
    /// input of the one seems to be read when the other looks.
    #[cold]
    fn ends_now<P: Build<Ports = S>, L: EventList<Payload>>(
        &self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        lane: u32,
    ) -> bool {
        if cx.key() < EventKey::floor(cx.now(), class::DONE) {
            return false;
        }
        let others = links.ports[(self.base + lane).index()].rx.wanted & self.waiting_outputs;
        !others.members().any(|other| links.lane_in_use(self.base + other, lane))
    }

    /// Candidates exist, but their inputs are being read: the ends of those reads become events.
    pub fn await_inputs<P: Build<Ports = S>, L: EventList<Payload>>(
        &self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        mut lanes: S,
    ) {
        let base = self.base;
        while let Some(input) = lanes.pop() {
            let mut readers = links.ports[(self.base + input).index()].rx.readers;
            while let Some(out) = readers.pop() {
                let output = base + out;
                if links.ports[output.index()].tx.done > cx.key() {
                    links.post_done(cx, output);
                }
            }
        }
    }

    /// The neighbour of `port` may be short of buffers: releases under way have to be told when they happen.
    #[inline]
    pub(super) fn tell_releases<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let base = self.base;
        let mut readers = links.ports[port.index()].rx.readers;
        while let Some(out) = readers.pop() {
            let output = base + out;
            if links.ports[output.index()].tx.done > cx.key() {
                links.post_done(cx, output);
            }
        }
    }

    /// `output` begins to read a message from a channel of its input.
    pub(super) fn channel_read<P: Build<Ports = S>>(
        &mut self,
        links: &Links<P>,
        output: PortId,
        packet: u32,
    ) {
        let record = &links.packets[packet];
        let bit = S::one(output - self.base);
        if let (true, Some(reads)) = (self.direct, &mut self.channel_reads) {
            reads.outputs[usize::from(record.input)][usize::from(record.priority)] |= bit;
        }
    }

    /// Of `lanes`, those whose channel `port` may read now.
    #[cold]
    fn readable_channels<P: Build<Ports = S>, L: EventList<Payload>>(
        &self,
        links: &Links<P>,
        cx: &Cx<'_, L>,
        port: PortId,
        lanes: S,
        channel: usize,
    ) -> S {
        lanes
            .members()
            .filter(|&lane| self.may_read(links, cx, port, lane, channel))
            .fold(S::EMPTY, |set, n| set | S::one(n))
    }

    /// Whether `port` may read a channel of input `lane` now: somebody more may, and nobody wants it who read
    /// it longer ago.
    fn may_read<P: Build<Ports = S>, L: EventList<Payload>>(
        &self,
        links: &Links<P>,
        cx: &Cx<'_, L>,
        port: PortId,
        lane: u32,
        channel: usize,
    ) -> bool {
        let reads = self.channel_reads.as_ref().expect("the inputs are read by channels");
        let (base, now) = (self.base, cx.now());
        // A read that ends in this instant is over: whose event comes first must not decide.
        let ends = cx.key() >= EventKey::floor(now, class::DONE);
        let on = |output: &u32| !ends || links.reads_on(base + *output, channel, now);
        let on = reads.outputs[lane as usize][channel].members().filter(on).count();
        let Some(left @ 1..) = (reads.limit as usize).checked_sub(on) else { return false };
        let last = links.ports[(self.base + lane).index()].rx.last[channel];
        // Turns are counted from the output after the one that read it last.
        let turn = |output: u32| (output as u8).wrapping_sub(last).wrapping_sub(1);
        let own = port - base;
        let first = |&output: &u32| turn(output) < turn(own) && links.wants(base + output, lane, channel);
        links.ports[(base + lane).index()].rx.wanted.members().filter(first).count() < left
    }
}
