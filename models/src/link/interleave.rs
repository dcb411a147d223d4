//! Virtual channels that share a link by micropackets (HIPPI-6400).
//!
//! Channels with something to send take turns, a micropacket each. So a message does not wait for the end of
//! one of another channel, and the end of a transmission is not known when it starts. At a border of
//! micropackets the message on the wire stops if another channel has something, and goes on when its turn
//! comes again; who is alone stays on the wire without an event at each border. The end is an event that
//! looks whether it is still true ([`Fabric::message_ended`]), and the arrival is posted when the last
//! micropacket has left: nothing that was posted for a neighbour is ever revoked. The links of other media,
//! and those of RapidIO, never look.
//!
//! Each channel of an input has buffers of its own, read by themselves: `reads_per_input` transmitters at a
//! time for each channel ([`ChannelReads`]), in turn: an output does not read the next message of a channel
//! as long as others want it that read it longer ago, and could start it at their next border.
//!
//! Behind a switch that cuts through, the head of a message goes ahead and its end cannot come before what
//! the link before has let through. The micropackets that are missing are waited for at the end of the
//! message; others may pass meanwhile.

use crate::config::Medium;
use crate::event::{Cx, LinkStep, Payload, class};
use crate::link::Links;
use crate::link::port::{NO_INPUT, NONE, Port, reading};
use crate::link::symbol::Flight;
use crate::link::transmit::Pick;
use crate::observe::probe::{Cause, Probe};
use crate::packet::NIL;
use crate::world::Fabric;
use sim_core::{Duration, EventKey, EventList, Time};

/// [`crate::world::Switch::reads`] of a switch whose inputs are read channel by channel: then every input
/// counts as being read, and who wants one looks closer.
pub(crate) const BY_CHANNEL: u32 = 0;
/// Octets of a micropacket on the wire, control bits included.
const MICROPACKET: u32 = Medium::Hippi6400.wire_octets(1);
/// Virtual channels.
const CHANNELS: u8 = Medium::Hippi6400.channels();

/// The channel that is `n` turns after another. Channel 3 is VC0, so turns go downwards.
const fn turn(channel: u8, n: u8) -> u8 {
    (channel + CHANNELS - n) % CHANNELS
}

/// A message on the wire.
#[derive(Copy, Clone, Debug)]
struct Sending {
    packet: u32,
    /// Its channel, by the priority that it has.
    channel: u8,
    /// A border of micropackets; the others are whole micropackets later.
    from: u64,
    /// Its head leaves until then, in one piece.
    closed_until: u64,
    /// Its head decides about its arrival, which has been posted (cut-through).
    has_arrival: bool,
    /// Port that sends it here, as far as its end may still be there (cut-through).
    upstream: u32,
    /// It has had its time on the wire and waits for its last micropackets.
    waits: bool,
}

/// A message that lets others pass.
#[derive(Copy, Clone, Debug)]
struct Stopped {
    sending: Sending,
    since: u64,
    /// Time on the wire that it still needs.
    left: u64,
    /// What it reads, as in [`crate::link::port::Tx`] and [`crate::link::port::Cold`].
    reading: u8,
    reading_kind: u8,
    share: u32,
}

/// The messages of one direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Interleave {
    on_wire: Option<Sending>,
    /// Those that let others pass, by channel.
    stopped: [Option<Stopped>; CHANNELS as usize],
    /// Messages whose ends have left, and when, as far as those may be on their way (cut-through).
    gone: Vec<(u32, u64)>,
    /// An event at the next border will look who goes on.
    looks: bool,
}

impl Interleave {
    pub fn new() -> Self {
        const N: usize = CHANNELS as usize;
        Interleave { on_wire: None, stopped: [None; N], gone: Vec::new(), looks: false }
    }

    /// Whether a message that lets others pass is in the buffers of this input.
    pub fn reads(&self, input: u32) -> bool {
        self.stopped.iter().flatten().any(|stopped| u32::from(stopped.reading) == input)
    }

    /// What has been committed to the wire until `done` or lets others pass, and has not left by `end`.
    pub fn unsent(&self, done: u64, end: u64) -> u64 {
        // Who waits for its last micropackets has had its time.
        let on_wire = self.on_wire.filter(|sending| !sending.waits).map(|_| done.saturating_sub(end));
        let stopped = self.stopped.iter().flatten().filter(|stopped| !stopped.sending.waits);
        on_wire.unwrap_or(0) + stopped.map(|stopped| stopped.left).sum::<u64>()
    }

    /// Whether a message of this channel has begun and not ended.
    fn has_begun(&self, channel: usize) -> bool {
        let on_wire = self.on_wire.is_some_and(|sending| usize::from(sending.channel) == channel);
        on_wire || self.stopped[channel].is_some()
    }

    fn holds(&self, packet: u32) -> bool {
        let stopped = self.stopped.iter().flatten().map(|stopped| &stopped.sending);
        self.on_wire.iter().chain(stopped).any(|sending| sending.packet == packet)
    }
}

/// Who reads the buffers of each channel of the inputs of a switch.
#[derive(Clone, Debug)]
pub(crate) struct ChannelReads {
    /// Transmitters that may read a channel of an input at a time.
    pub limit: u32,
    /// Outputs that read, one bit each, by input and channel.
    pub outputs: Vec<[u64; CHANNELS as usize]>,
}

impl ChannelReads {
    pub fn new(limit: u32, ports: u32) -> Self {
        ChannelReads { limit, outputs: vec![[0; CHANNELS as usize]; ports as usize] }
    }

    /// Reads that `channel` of an input has left.
    pub fn left(&self, input: u32, channel: usize) -> u32 {
        self.limit.saturating_sub(self.outputs[input as usize][channel].count_ones())
    }
}

impl<P: Probe> Links<P> {
    /// The messages on the wire of `port`, where channels share it.
    pub(crate) fn interleaved(&self, port: u32) -> Option<&Interleave> {
        self.cold[port as usize].channels.as_ref()?.interleave.as_deref()
    }

    fn interleave(&mut self, port: u32) -> &mut Interleave {
        self.channels_of(port).interleave.as_mut().expect("the medium has virtual channels")
    }

    /// The end of a transmission is an event of its own kind.
    fn post_left<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let tx = &mut self.ports[port as usize].tx;
        tx.done_posted = true;
        cx.post(tx.done, port, LinkStep::Left.pack());
    }

    /// Posts the arrival at the neighbour of `port`; unfolded, one pipeline earlier.
    fn post_reach<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        arrival: EventKey,
        behind: u32,
    ) {
        let tx = &self.ports[port as usize].tx;
        let pipeline = self.timings[tx.timing as usize].pipeline;
        let (early, step) = if self.unfolded && pipeline > 0 {
            (pipeline, LinkStep::Pins { packet, behind })
        } else {
            (0, LinkStep::Reach { packet, behind })
        };
        cx.post(arrival.earlier(Duration(early)), tx.peer, step.pack());
    }

    /// Unfolded: a message is at the pins of `port`.
    pub(crate) fn message_at_pins<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        behind: u32,
    ) {
        let upstream = self.ports[port as usize].rx.peer;
        let pipeline = self.timings[self.ports[upstream as usize].tx.timing as usize].pipeline;
        let key = cx.key().later(Duration(pipeline));
        cx.post(key, port, LinkStep::Reach { packet, behind }.pack());
    }

    /// Time from what leaves `port` until the neighbour, which cuts through, may send it on.
    fn behind(&self, port: u32) -> u64 {
        let timing = &self.timings[self.ports[port as usize].tx.timing as usize];
        let head = (timing.header + timing.symbol_chars) * timing.char_num / timing.char_den;
        head + timing.propagation + timing.pipeline
    }

    /// How much longer a message has to wait for its last micropackets: they come at the pace of the link
    /// before, as much later as the head did.
    fn missing(&self, sending: &Sending, now: u64) -> u64 {
        let Sending { packet, upstream, .. } = *sending;
        if upstream == NONE {
            return 0;
        }
        let before = self.interleaved(upstream).expect("all links of a device are alike");
        let end = match before.on_wire {
            Some(other) if other.packet == packet => self.ports[upstream as usize].tx.done.time().0,
            _ if before.holds(packet) => now + self.micropacket_ps(upstream),
            _ => match before.gone.iter().rfind(|gone| gone.0 == packet) {
                Some(&(_, at)) => at,
                None => return 0,
            },
        };
        (end + self.behind(upstream)).saturating_sub(now)
    }

    /// If another channel may have something for the wire of `port`: looks at the next border.
    pub(crate) fn may_pass<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let Some(channels) = &self.cold[port as usize].channels else { return };
        let Some(Interleave { on_wire: Some(sending), stopped, looks: false, .. }) =
            channels.interleave.as_deref()
        else {
            return;
        };
        let Port { tx, rx } = &self.ports[port as usize];
        let may = |channel: u8| {
            let n = usize::from(channel);
            stopped[n].is_some() || tx.mask[n] != 0 && tx.clock.blocked() & (1 << n) == 0
        };
        if !(1..CHANNELS).any(|n| may(turn(sending.channel, n))) {
            return;
        }
        let border = sending.border_after(cx.key(), self.micropacket_ps(port));
        if border < tx.done.time().0 {
            let key = self.keys[rx.device as usize].make(Time(border), class::DONE);
            cx.post(key, port, LinkStep::Border.pack());
            self.interleave(port).looks = true;
        }
    }

    fn micropacket_ps(&self, port: u32) -> u64 {
        let timing = &self.timings[self.ports[port as usize].tx.timing as usize];
        (u64::from(MICROPACKET) * timing.char_num).div_ceil(timing.char_den)
    }

    /// The message on the wire lets others pass.
    fn stop<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, sending: Sending) {
        let now = cx.now().0;
        let share = self.cold[port as usize].reading_share;
        if sending.waits {
            self.late_by(port, &sending, now - sending.from);
        }
        let Port { tx, rx } = &mut self.ports[port as usize];
        let left = tx.done.time().0 - now;
        let (reading, reading_kind) = (tx.reading, tx.reading_kind);
        (tx.reading, tx.reading_kind) = (NO_INPUT, reading::ORDINARY);
        (tx.done, tx.done_posted) = (cx.key(), false);
        tx.clock.interrupt(now);
        rx.wire.cut(now);
        let stopped = Stopped { sending, since: now, left, reading, reading_kind, share };
        let interleave = self.interleave(port);
        interleave.on_wire = None;
        interleave.stopped[usize::from(sending.channel)] = Some(stopped);
    }

    /// A message that has let others pass goes on.
    fn goes_on<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, stopped: Stopped) {
        let Stopped { sending, since, mut left, reading, reading_kind, share } = stopped;
        if sending.waits {
            left = self.missing(&sending, cx.now().0).min(self.micropacket_ps(port));
        }
        self.interleave(port).stopped[usize::from(sending.channel)] = None;
        self.cold[port as usize].reading_share = share;
        self.channels_of(port).reading = sending.channel;
        let tx = &mut self.ports[port as usize].tx;
        (tx.reading, tx.reading_kind) = (reading, reading_kind);
        self.late_by(port, &sending, cx.now().0 - since);
        self.commit(cx, port, sending, left);
    }

    /// A message arrives so much later because others had the wire.
    fn late_by(&mut self, port: u32, sending: &Sending, time: u64) {
        if !sending.has_arrival {
            let cause = if self.nodes.is_switch(port) { Cause::OutputContention } else { Cause::SourceQueue };
            self.packets[sending.packet].parts[cause as usize] += time;
        }
    }

    /// A message takes the wire of `port`, which is free, for the time that it has `left`.
    fn commit<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        mut sending: Sending,
        left: u64,
    ) {
        let now = cx.now().0;
        let Port { tx, rx } = &mut self.ports[port as usize];
        let start = rx.wire.start_packet(now, left, self.timings[tx.timing as usize].wire);
        assert_eq!(start, now, "there are no symbols between micropackets");
        tx.clock.transmit(now, now + left);
        tx.done = self.keys[rx.device as usize].make(Time(now + left), class::DONE);
        (sending.from, sending.closed_until) = (now, now);
        self.interleave(port).on_wire = Some(sending);
        self.post_left(cx, port);
        self.may_pass(cx, port);
    }

    /// Whether `output` could start a message of this channel from input `lane`, now or at a border soon.
    fn wants(&self, output: u32, lane: u32, channel: usize) -> bool {
        let tx = &self.ports[output as usize].tx;
        let waits = tx.mask[channel] >> lane & 1 == 1 && tx.clock.blocked() >> channel & 1 == 0;
        waits && !self.interleaved(output).is_some_and(|messages| messages.has_begun(channel))
    }

    /// Whether `output` still reads a channel of an input after this instant.
    fn reads_on(&self, output: u32, channel: usize, now: Time) -> bool {
        let on_wire = self.interleaved(output).and_then(|messages| messages.on_wire);
        let Some(sending) = on_wire.filter(|sending| usize::from(sending.channel) == channel) else {
            return true;
        };
        self.ports[output as usize].tx.done.time() > now || self.missing(&sending, now.0) > 0
    }
}

impl<P: Probe> Fabric<P> {
    /// A message has been committed to the wire of `port`.
    pub(crate) fn message_began<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        flight: &Flight,
    ) {
        let record = &self.links.packets[packet];
        let (channel, input) = (record.priority, record.input);
        let is_switch = self.links.nodes.is_switch(port);
        let mut upstream = NONE;
        if is_switch {
            let sender = self.links.ports[(self.links.base_of(port) + u32::from(input)) as usize].rx.peer;
            let cuts = self.links.timings[self.links.ports[sender as usize].tx.timing as usize].header != 0;
            upstream = if cuts { sender } else { NONE };
            self.channel_read(port, input, channel);
        }
        let has_arrival = flight.behind > 0;
        let closed_until = if has_arrival { flight.start + flight.stored } else { flight.start };
        let from = flight.start;
        let sending = Sending { packet, channel, from, closed_until, has_arrival, upstream, waits: false };
        self.links.interleave(port).on_wire = Some(sending);
        self.links.post_left(cx, port);
        if has_arrival {
            self.links.post_reach(cx, port, packet, flight.arrival, flight.behind);
        }
        self.links.may_pass(cx, port);
        if !is_switch {
            // What is created meanwhile may pass.
            self.post_create(cx, self.links.nodes.endpoint(port));
        }
    }

    /// A packet was created while a message may be on the wire of an endpoint.
    pub(crate) fn message_created<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize) {
        self.post_create(cx, e);
        self.links.may_pass(cx, self.endpoints[e].port);
    }

    /// A message has reached the device of `port`.
    pub(crate) fn message_reached<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        behind: u32,
    ) {
        if self.links.nodes.is_switch(port) {
            self.arrive(cx, port, packet, behind);
            self.switch_looks(cx, port);
        } else {
            let (priority, sender) =
                (self.links.packets[packet].priority, self.links.ports[port as usize].rx.peer);
            let channel = self.links.channels_of(sender).of(priority);
            let at = cx.now().0
                + self.links.timings[self.links.ports[sender as usize].tx.timing as usize].propagation;
            self.links.post_credit(cx, port, at, channel);
            self.reach_endpoint(cx, port, packet, cx.now());
        }
    }

    /// A transmission of `port` was to end now.
    pub(crate) fn message_ended<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        if self.links.ports[port as usize].tx.done != cx.key() {
            // It has let others pass and ends later.
            return;
        }
        let now = cx.now().0;
        let sending = self.links.interleave(port).on_wire.expect("what ends is on the wire");
        if self.links.missing(&sending, now) > 0 {
            // The wire is free for others, a micropacket at a time.
            self.links.stop(cx, port, sending);
            if let Some(stopped) = &mut self.links.interleave(port).stopped[usize::from(sending.channel)] {
                stopped.sending.waits = true;
            }
            self.next_message(cx, port, sending.channel);
            return self.switch_looks(cx, port);
        }
        if sending.waits {
            self.links.late_by(port, &sending, now - sending.from);
        }
        self.links.interleave(port).on_wire = None;
        self.links.ports[port as usize].tx.done_posted = false;
        if sending.has_arrival {
            let behind = self.links.behind(port);
            let gone = &mut self.links.interleave(port).gone;
            gone.retain(|&(_, at)| at + behind > now);
            gone.push((sending.packet, now));
        } else {
            let Port { tx, rx } = &self.links.ports[port as usize];
            let (timing, device) = (&self.links.timings[tx.timing as usize], rx.device);
            let at = now + timing.propagation + timing.pipeline;
            let arrival = self.links.key(device, at, class::ARRIVAL);
            self.links.post_reach(cx, port, sending.packet, arrival, 0);
        }
        if self.links.nodes.is_switch(port) && self.links.ports[port as usize].tx.reading != NO_INPUT {
            self.finish_read(cx, port, true);
        }
        self.next_message(cx, port, sending.channel);
        if !self.links.nodes.is_switch(port) && self.links.interleave(port).on_wire.is_none() {
            self.endpoint_turn(cx, self.links.nodes.endpoint(port));
        }
        self.switch_looks(cx, port);
    }

    /// The channel after `channel` that has something takes its turn on the wire, which is free; the last
    /// one to be asked is `channel`.
    fn next_message<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, channel: u8) {
        let alone = self.links.interleave(port).stopped.iter().all(Option::is_none);
        if alone
            && self.links.nodes.is_switch(port)
            && self.switches[self.links.nodes.switch(port)].choose_together != 0
        {
            // All outputs choose together.
            return;
        }
        for n in 1..=CHANNELS {
            if self.takes_turn(cx, port, turn(channel, n), None) {
                return;
            }
        }
    }

    /// Lets a channel have the wire of `port`, if it has something: what has begun, or a message that waits.
    /// `before` is on the wire.
    fn takes_turn<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        channel: u8,
        before: Option<Sending>,
    ) -> bool {
        let begun = self.links.interleave(port).stopped[usize::from(channel)];
        let pick = if begun.is_some() { Pick::NONE } else { self.pick_in(cx, port, channel) };
        if begun.is_none() && pick.packet == NIL {
            return false;
        }
        if let Some(sending) = before {
            self.links.stop(cx, port, sending);
        }
        if let Some(stopped) = begun {
            self.links.goes_on(cx, port, stopped);
        } else {
            self.links.take(port, pick);
            self.start(cx, port, pick.packet, true);
        }
        true
    }

    /// The first message of a channel that has room at the neighbour, and whose input may be read.
    fn pick_in<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, channel: u8) -> Pick {
        let (mut busy, mut no_credit) = (0, false);
        self.pick_at(cx, port, channel.into(), &mut busy, &mut no_credit)
    }

    /// Something has changed at the switch of `port`: messages may start or pass others at its outputs.
    pub(crate) fn switch_looks<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        if !self.links.nodes.is_switch(port) {
            return;
        }
        let switch = &self.switches[self.links.nodes.switch(port)];
        let outputs = switch.base..switch.base + switch.ports;
        loop {
            let starts = self.links.observe.ledger.packet_hops;
            for output in outputs.clone() {
                if self.links.interleaved(output).is_some_and(|messages| messages.on_wire.is_none()) {
                    self.try_output(cx, output);
                }
            }
            // Who starts does not want other inputs any more: somebody else may read them.
            if self.links.observe.ledger.packet_hops == starts {
                break;
            }
        }
        self.outputs_look(cx, self.links.nodes.switch(port));
    }

    /// Messages may pass others at the outputs of switch `s`.
    pub(crate) fn outputs_look<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize) {
        let switch = &self.switches[s];
        for output in switch.base..switch.base + switch.ports {
            self.links.may_pass(cx, output);
        }
    }

    /// A border of micropackets, where a message was to stop.
    pub(crate) fn border<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        self.links.interleave(port).looks = false;
        let now = cx.now().0;
        let micropacket = self.links.micropacket_ps(port);
        let Some(sending) = self.links.interleave(port).on_wire else { return };
        let is_border = now >= sending.closed_until && (now - sending.from).is_multiple_of(micropacket);
        if !is_border || self.links.ports[port as usize].tx.done <= cx.key() {
            // Another message is on the wire by now.
            return self.links.may_pass(cx, port);
        }
        for n in 1..CHANNELS {
            if self.takes_turn(cx, port, turn(sending.channel, n), Some(sending)) {
                return self.switch_looks(cx, port);
            }
        }
        // Who waits here waits for an input, too: when that can be read, somebody looks again.
    }

    // --- reads -----------------------------------------------------------------------------------

    /// `output` begins to read a channel of `input` (number of its port).
    fn channel_read(&mut self, output: u32, input: u8, channel: u8) {
        let switch = &mut self.switches[self.links.nodes.switch(output)];
        let bit = 1 << (output - switch.base);
        if let (true, Some(reads)) = (switch.direct, &mut switch.channel_reads) {
            reads.outputs[usize::from(input)][usize::from(channel)] |= bit;
        }
    }

    /// `output` has read the message of a channel of the port `input`: it may still read another channel.
    pub(crate) fn channel_read_ended(&mut self, output: u32, input: u32, channel: u8) {
        let switch = &mut self.switches[self.links.nodes.switch(output)];
        let (n, bit) = ((input - switch.base) as usize, 1 << (output - switch.base));
        if let Some(reads) = &mut switch.channel_reads {
            reads.outputs[n][usize::from(channel)] &= !bit;
        }
    }

    /// Of `lanes`, those whose channel `port` may read now.
    #[cold]
    pub(crate) fn readable_channels<L: EventList<Payload>>(
        &self,
        cx: &Cx<'_, L>,
        port: u32,
        lanes: u64,
        channel: usize,
    ) -> u64 {
        members(lanes).filter(|&lane| self.may_read(cx, port, lane, channel)).fold(0, |set, n| set | 1 << n)
    }

    /// Whether `port` may read a channel of input `lane` now: somebody more may, and nobody wants it who read
    /// it longer ago.
    fn may_read<L: EventList<Payload>>(&self, cx: &Cx<'_, L>, port: u32, lane: u32, channel: usize) -> bool {
        let switch = &self.switches[self.links.nodes.switch(port)];
        let reads = switch.channel_reads.as_ref().expect("the inputs are read by channels");
        let (base, now) = (switch.base, cx.now());
        // A read that ends in this instant is over: whose event comes first must not decide.
        let ends = cx.key() >= EventKey::floor(now, class::DONE);
        let on = |output: &u32| !ends || self.links.reads_on(base + output, channel, now);
        let on = members(reads.outputs[lane as usize][channel]).filter(on).count();
        let Some(left @ 1..) = (reads.limit as usize).checked_sub(on) else { return false };
        let last = switch.reads_of[lane as usize].last[channel];
        // Turns are counted from the output after the one that read it last.
        let turn = |output: u32| (output as u8).wrapping_sub(last).wrapping_sub(1) % 64;
        let own = port - base;
        let first =
            |&output: &u32| turn(output) < turn(own) && self.links.wants(base + output, lane, channel);
        members(self.links.ports[(base + lane) as usize].tx.wanted).filter(first).count() < left
    }
}

/// The members of a set of ports.
fn members(set: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |n| set >> n & 1 == 1)
}

impl Sending {
    /// The next border at which the message may stop. What arrives at a border is in time for it.
    fn border_after(&self, key: EventKey, micropacket: u64) -> u64 {
        let now = key.time().0;
        let in_time = key < EventKey::floor(key.time(), class::DONE);
        let least = if in_time { now } else { now + 1 };
        let begun = least.max(self.closed_until).max(self.from + 1) - self.from;
        self.from + begun.next_multiple_of(micropacket)
    }
}
