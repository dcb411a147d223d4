//! Virtual channels that share a link by micropackets (HIPPI-6400).
//!
//! Channels with something to send take turns, a micropacket each. So a message does not wait for the end of
//! one of another channel, and the end of a transmission is not known when it starts. At a border of
//! micropackets the message on the wire stops if another channel has something, and goes on when its turn
//! comes again; who is alone stays on the wire without an event at each border. The end is an event that
//! looks whether it is still true ([`Links::message_ended`]), and the arrival is posted when the last
//! micropacket has left: nothing that was posted for a neighbour is ever revoked. The links of other media,
//! and those of RapidIO, never look.
//!
//! Each channel of an input has buffers of its own, read by themselves: `reads_per_input` transmitters at a
//! time for each channel (`switch/shared.rs`), in turn: an output does not read the next message of a channel
//! as long as others want it that read it longer ago, and could start it at their next border.
//!
//! Behind a switch that cuts through, the head of a message goes ahead and its end cannot come before what
//! the link before has let through. The micropackets that are missing are waited for at the end of the
//! message; others may pass meanwhile.

use crate::config::Medium;
use crate::event::{Cx, LinkStep, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::choice::Device;
use crate::link::port::{LinkTiming, NO_INPUT, Port, reading};
use crate::link::symbol::Flight;
use crate::link::transmit::Pick;
use crate::observe::Build;
use crate::observe::probe::Cause;
use crate::packet::NIL;
use crate::ports::Ports;
use sim_core::{Duration, EventKey, EventList, Time};

/// Octets of a micropacket on the wire, control bits included.
const MICROPACKET: u32 = Medium::Hippi6400.wire_octets(1);
/// Virtual channels.
pub(crate) const CHANNELS: u8 = Medium::Hippi6400.channels();

/// The channel that is `n` turns after another. Channel 3 is VC0, so turns go downwards.
const fn turn(channel: u8, n: u8) -> u8 {
    (channel + CHANNELS - n) % CHANNELS
}

/// Whose turn it is on a wire.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// What has begun goes on.
    GoesOn,
    /// This packet, which is in no list any more, has to be started.
    Begins(u32),
}

/// A message has left the wire.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Ended {
    pub channel: u8,
    /// It has gone; otherwise it waits for its last micropackets.
    pub whole: bool,
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
    /// Port that it comes in through, if its end may not be in yet (cut-through).
    input: Option<PortId>,
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

    /// No message is on the wire itself.
    pub fn is_free(&self) -> bool {
        self.on_wire.is_none()
    }

    /// Whether a message of this channel has begun and not ended.
    fn has_begun(&self, channel: usize) -> bool {
        let on_wire = self.on_wire.is_some_and(|sending| usize::from(sending.channel) == channel);
        on_wire || self.stopped[channel].is_some()
    }

    /// When the last micropacket of a message leaves: at `done` if it is on the wire until then, not before
    /// `next` if it lets others pass. `None`: long since.
    pub(super) fn leaves(&self, packet: u32, done: u64, next: u64) -> Option<u64> {
        match self.on_wire {
            Some(sending) if sending.packet == packet => Some(done),
            _ if self.holds(packet) => Some(next),
            _ => self.gone.iter().rfind(|gone| gone.0 == packet).map(|gone| gone.1),
        }
    }

    fn holds(&self, packet: u32) -> bool {
        let stopped = self.stopped.iter().flatten().map(|stopped| &stopped.sending);
        self.on_wire.iter().chain(stopped).any(|sending| sending.packet == packet)
    }
}

impl LinkTiming {
    /// Time of a micropacket on the wire.
    pub(super) fn micropacket_ps(&self) -> u64 {
        (u64::from(MICROPACKET) * self.char_num).div_ceil(self.char_den)
    }

    /// Time from what leaves until the neighbour, which cuts through, may send it on.
    pub(super) fn behind(&self) -> u64 {
        self.head_ps + self.propagation + self.pipeline
    }
}

impl<P: Build> Links<P> {
    fn interleave(&mut self, port: PortId) -> &mut Interleave {
        self.channels_of(port).interleave.as_mut().expect("the medium has virtual channels")
    }

    /// The end of a transmission is an event of its own kind.
    fn post_left<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let tx = &mut self.ports[port.index()].tx;
        tx.clock.end_posted = true;
        cx.post(tx.done, port.into(), LinkStep::Left.pack());
    }

    /// Unfolded: a message is at the pins of `port`.
    pub fn message_at_pins<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        behind: u32,
    ) {
        let pipeline = self.arriving(port).pipeline;
        let key = cx.key().later(Duration(pipeline));
        cx.post(key, port.into(), LinkStep::Reach { packet, behind }.pack());
    }

    /// How much longer a message has to wait for its last micropackets: they come at the pace of the link
    /// before, as much later as the head did.
    fn missing(&self, sending: &Sending, now: u64) -> u64 {
        let end = sending.input.and_then(|input| self.end_of_message(input, sending.packet, now));
        end.map_or(0, |end| end.saturating_sub(now))
    }

    /// If another channel may have something for the wire of `port`: looks at the next border.
    pub fn may_pass<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let Some(channels) = &self.cold[port.index()].channels else { return };
        let Some(Interleave { on_wire: Some(sending), stopped, looks: false, .. }) =
            channels.interleave.as_deref()
        else {
            return;
        };
        let Port { tx, link, .. } = &self.ports[port.index()];
        let may = |channel: u8| {
            let n = usize::from(channel);
            stopped[n].is_some() || !tx.mask[n].is_empty() && tx.clock.blocked() & (1 << n) == 0
        };
        if !(1..CHANNELS).any(|n| may(turn(sending.channel, n))) {
            return;
        }
        let border = sending.border_after(cx.key(), self.micropacket_ps(port));
        if border < tx.done.time().0 {
            let key = self.keys[link.device as usize].make(Time(border), class::DONE);
            cx.post(key, port.into(), LinkStep::Border.pack());
            self.interleave(port).looks = true;
        }
    }

    fn micropacket_ps(&self, port: PortId) -> u64 {
        self.timings[self.ports[port.index()].tx.timing as usize].micropacket_ps()
    }

    /// The message on the wire lets others pass.
    fn stop<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, sending: Sending) {
        let now = cx.now().0;
        let share = self.cold[port.index()].reading_share;
        if sending.waits {
            self.late_by(port, &sending, now - sending.from);
        }
        let Port { tx, link, .. } = &mut self.ports[port.index()];
        let left = tx.done.time().0 - now;
        let (reading, reading_kind) = (tx.reading, tx.reading_kind);
        (tx.reading, tx.reading_kind) = (NO_INPUT, reading::ORDINARY);
        (tx.done, tx.clock.end_posted) = (cx.key(), false);
        tx.clock.interrupt(now);
        link.wire.cut(now);
        let stopped = Stopped { sending, since: now, left, reading, reading_kind, share };
        let interleave = self.interleave(port);
        interleave.on_wire = None;
        interleave.stopped[usize::from(sending.channel)] = Some(stopped);
    }

    /// A message that has let others pass goes on.
    fn goes_on<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, stopped: Stopped) {
        let Stopped { sending, since, mut left, reading, reading_kind, share } = stopped;
        if sending.waits {
            left = self.missing(&sending, cx.now().0).min(self.micropacket_ps(port));
        }
        self.interleave(port).stopped[usize::from(sending.channel)] = None;
        self.cold[port.index()].reading_share = share;
        self.channels_of(port).reading = sending.channel;
        let tx = &mut self.ports[port.index()].tx;
        (tx.reading, tx.reading_kind) = (reading, reading_kind);
        self.late_by(port, &sending, cx.now().0 - since);
        self.commit(cx, port, sending, left);
    }

    /// A message arrives so much later because others had the wire.
    fn late_by(&mut self, port: PortId, sending: &Sending, time: u64) {
        if !sending.has_arrival {
            let cause = if self.nodes.is_switch(port) { Cause::OutputContention } else { Cause::SourceQueue };
            self.packets[sending.packet].times[cause] += time;
        }
    }

    /// A message takes the wire of `port`, which is free, for the time that it has `left`.
    fn commit<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        mut sending: Sending,
        left: u64,
    ) {
        let now = cx.now().0;
        let Port { tx, link, .. } = &mut self.ports[port.index()];
        let start = link.wire.start_packet(now, left, self.timings[tx.timing as usize].wire);
        assert_eq!(start, now, "there are no symbols between micropackets");
        tx.clock.transmit(now, now + left);
        tx.done = self.keys[link.device as usize].make(Time(now + left), class::DONE);
        (sending.from, sending.closed_until) = (now, now);
        self.interleave(port).on_wire = Some(sending);
        self.post_left(cx, port);
        self.may_pass(cx, port);
    }

    /// Whether `output` could start a message of this channel from input `lane`, now or at a border soon.
    pub fn wants(&self, output: PortId, lane: u32, channel: usize) -> bool {
        let tx = &self.ports[output.index()].tx;
        let waits = tx.mask[channel].has(lane) && tx.clock.blocked() >> channel & 1 == 0;
        waits && !self.interleaved(output).is_some_and(|messages| messages.has_begun(channel))
    }

    /// Whether `output` still reads a channel of an input after this instant.
    pub fn reads_on(&self, output: PortId, channel: usize, now: Time) -> bool {
        let on_wire = self.interleaved(output).and_then(|messages| messages.on_wire);
        let Some(sending) = on_wire.filter(|sending| usize::from(sending.channel) == channel) else {
            return true;
        };
        self.ports[output.index()].tx.done.time() > now || self.missing(&sending, now.0) > 0
    }

    /// A message has been committed to the wire of `port`.
    pub(super) fn message_began<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        flight: &Flight,
    ) {
        let record = &self.packets[packet];
        let (channel, input) = (record.priority, record.input);
        let input = self.nodes.is_switch(port).then(|| self.base_of(port) + u32::from(input));
        let input = input.filter(|&input| self.arriving(input).header != 0);
        let has_arrival = flight.behind > 0;
        let closed_until = if has_arrival { flight.start + flight.stored } else { flight.start };
        let from = flight.start;
        let sending = Sending { packet, channel, from, closed_until, has_arrival, input, waits: false };
        self.interleave(port).on_wire = Some(sending);
        self.post_left(cx, port);
        if has_arrival {
            self.post_reach(cx, port, packet, flight.arrival, flight.behind);
        }
        self.may_pass(cx, port);
    }

    /// A transmission of `port` was to end now. `None`: it has let others pass and ends later.
    pub fn message_ended<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) -> Option<Ended> {
        if self.ports[port.index()].tx.done != cx.key() {
            // It has let others pass and ends later.
            return None;
        }
        let now = cx.now().0;
        let sending = self.interleave(port).on_wire.expect("what ends is on the wire");
        if self.missing(&sending, now) > 0 {
            // The wire is free for others, a micropacket at a time.
            self.stop(cx, port, sending);
            if let Some(stopped) = &mut self.interleave(port).stopped[usize::from(sending.channel)] {
                stopped.sending.waits = true;
            }
            return Some(Ended { channel: sending.channel, whole: false });
        }
        if sending.waits {
            self.late_by(port, &sending, now - sending.from);
        }
        self.interleave(port).on_wire = None;
        self.ports[port.index()].tx.clock.end_posted = false;
        if sending.has_arrival {
            let behind = self.timings[self.ports[port.index()].tx.timing as usize].behind();
            let gone = &mut self.interleave(port).gone;
            gone.retain(|&(_, at)| at + behind > now);
            gone.push((sending.packet, now));
        } else {
            let Port { tx, link, .. } = &self.ports[port.index()];
            let (timing, device) = (&self.timings[tx.timing as usize], link.device);
            let at = now + timing.propagation + timing.pipeline;
            let arrival = self.key(device, at, class::ARRIVAL);
            self.post_reach(cx, port, sending.packet, arrival, 0);
        }
        Some(Ended { channel: sending.channel, whole: true })
    }

    /// A channel may have the wire of `port`, which `before` is on: what it has begun goes on, or what waits
    /// is taken out of its list, and begins.
    fn take_turn<L: EventList<Payload>>(
        &mut self,
        device: &mut impl Device<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        channel: u8,
        before: Option<Sending>,
    ) -> Option<Turn> {
        let begun = self.interleave(port).stopped[usize::from(channel)];
        let pick = if begun.is_some() {
            Pick::NONE
        } else {
            // The first message of the channel that has room at the neighbour, and whose input may be read.
            self.pick_at(device, cx, port, channel.into(), &mut P::Ports::default(), &mut false)
        };
        if begun.is_none() && pick.packet == NIL {
            return None;
        }
        if let Some(sending) = before {
            self.stop(cx, port, sending);
        }
        Some(if let Some(stopped) = begun {
            self.goes_on(cx, port, stopped);
            Turn::GoesOn
        } else {
            self.take(port, pick, cx.now().0);
            Turn::Begins(pick.packet)
        })
    }

    /// The channel after `channel` that has something takes its turn on the wire of `port`, which is free;
    /// the last one to be asked is `channel`.
    pub fn next_turn<L: EventList<Payload>>(
        &mut self,
        device: &mut impl Device<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        channel: u8,
    ) -> Option<Turn> {
        (1..=CHANNELS).find_map(|n| self.take_turn(device, cx, port, turn(channel, n), None))
    }

    /// A border of micropackets, where a message was to stop: another channel may have its turn.
    pub fn border<L: EventList<Payload>>(
        &mut self,
        device: &mut impl Device<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) -> Option<Turn> {
        self.interleave(port).looks = false;
        let now = cx.now().0;
        let micropacket = self.micropacket_ps(port);
        let sending = self.interleave(port).on_wire?;
        let is_border = now >= sending.closed_until && (now - sending.from).is_multiple_of(micropacket);
        if !is_border || self.ports[port.index()].tx.done <= cx.key() {
            // Another message is on the wire by now.
            self.may_pass(cx, port);
            return None;
        }
        // Who waits here waits for an input, too: when that can be read, somebody looks again.
        (1..CHANNELS).find_map(|n| self.take_turn(device, cx, port, turn(sending.channel, n), Some(sending)))
    }

    /// Whether no message lets others pass on the wire of `port`.
    pub fn has_none_stopped(&mut self, port: PortId) -> bool {
        self.interleave(port).stopped.iter().all(Option::is_none)
    }
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
