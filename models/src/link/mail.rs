//! What the two ends of a link learn of each other. Whoever writes at the one end what belongs to the other
//! does it here: arrivals, records of credit, VoQ messages, symbols and repetitions, releases on other media.
//! So this is where a fabric is cut: `border.rs` has what happens then. Which port a [`Peer`] is can be read
//! nowhere else.
//!
//! *Messages* take their time: they are events, or records that are true from their key on.
//!
//! *Abbreviations* take none. Each stands for messages that hardly ever change anything, which a cut has to
//! put back in its place (only links in packet granularity between switches are cut): who asks for credit
//! first delivers what has reached the sink ([`Links::consume`]); who may be short of credit says so, and
//! hears of acceptances as they happen ([`watch_acceptances`]);
//! a sender answers itself for a sink ([`Links::foresee_credit`]), and looks up when the end of a message
//! comes that it cuts through ([`Links::end_of_message`]); what is told each period is told when it is
//! missing ([`Links::ask_again`], [`Links::tell_until_up`]); what is on the way is kept by who sent it
//! ([`Links::take_symbol`], [`Links::take_flight`], [`Links::settle_held`]).
//!
//! *Who sees both ends* says so. [`Links::ends_of`] is for what is done to a link as a whole: it changes its
//! granularity. [`Links::across`] is for who sees the whole fabric: set-up, tables that a host writes, and
//! the watchdog.

use crate::event::{Cx, Happening, LinkStep, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::{Cold, CreditRecord, LinkTiming, Mode, Port, Tx, special};
use crate::link::symbol::{Air, Flight, Flying};
use crate::link::wire::Function;
use crate::observe::Build;
use crate::ports::Ports;
use sim_core::{Duration, EventKey, EventList, Time, prefetch};

/// The port at the other end of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Peer(PortId);

impl Peer {
    /// There is no link.
    pub const NONE: Self = Peer(PortId::NONE);

    pub fn new(port: PortId) -> Self {
        Peer(port)
    }

    /// Whether there is a link.
    pub fn is_some(self) -> bool {
        self != Peer::NONE
    }
}

/// Packets that a transmitter must be able to start without news before acceptances at its neighbour need not
/// be events any more.
const PLENTY: i16 = 4;

/// What follows from a status. Two octets, so that it travels in a register.
#[derive(Copy, Clone, Debug)]
struct Told {
    /// So few buffers are left that every release has to be told at once.
    low: bool,
    /// The neighbour waits for its record, which is the youngest, and has to be woken by it.
    wakes: bool,
}

/// The transmitter that sends to the switch port `to` may be short of credit before it hears of the next
/// acceptance there: from now on these are events. One that has passed without being noted is one at once.
#[cold]
pub(super) fn watch_acceptances<S, L: EventList<Payload>>(
    cx: &mut Cx<'_, L>,
    ports: &mut [Port<S>],
    Peer(to): Peer,
) {
    let Port { rx, .. } = &mut ports[to.index()];
    if std::mem::replace(&mut rx.accept_told, true) || rx.unaccepted == 0 || rx.accept_posted {
        return;
    }
    rx.accept_posted = true;
    let accepted = rx.accepted;
    let behind = (cx.now().0 + 1).saturating_sub(accepted.time().0);
    let key = if accepted > cx.key() { accepted } else { accepted.later(Duration(behind)) };
    cx.post(key, to.into(), Happening::Accepted.pack());
}

/// Applies the credit records of `port` that are visible at `key`.
#[inline(always)]
pub(super) fn apply_visible<S: Ports>(
    tx: &mut Tx<S>,
    timing: &LinkTiming,
    cold: &mut [Cold<S>],
    port: PortId,
    key: EventKey,
) {
    while tx.has_record(key) {
        let record = tx.pop_record(cold, port);
        (tx.free, tx.outstanding) = record.credit(tx.outstanding);
        let blocked = timing.blocked(tx.free, tx.outstanding);
        tx.clock.set_blocked(record.key.time().0, blocked);
    }
}

/// A packet that reaches a switch in the event being handled, because its start was made up in it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Reached {
    to: Peer,
    packet: u32,
    behind: u32,
}

/// A packet leaves for the port `to`, which it reaches as `flight` says. Gives it back if that is now.
#[inline(always)]
#[must_use]
pub(super) fn send_packet<S, L: EventList<Payload>>(
    cx: &mut Cx<'_, L>,
    ports: &mut [Port<S>],
    cold: &mut [Cold<S>],
    (Peer(to), timing): (Peer, &LinkTiming),
    (packet, destination): (u32, u16),
    flight: &Flight,
    unfolded: bool,
) -> Option<Reached> {
    let Flight { arrival, behind, .. } = *flight;
    if !timing.to_sink {
        if arrival.time() == cx.handled().time() {
            return Some(Reached { to: Peer(to), packet, behind });
        }
        // Unfolded: the same key, one pipeline earlier, so that ties stay what they are.
        let at = arrival.earlier(Duration(if unfolded { timing.pipeline } else { 0 }));
        cx.post(at, to.into(), Happening::Arrive { packet, destination, behind }.pack());
        return None;
    }
    let in_flight = &mut cold[to.index()].in_flight;
    in_flight.push_back((arrival, packet));
    if unfolded || timing.to_agent {
        let key = in_flight[0].0;
        let sink = &mut ports[to.index()].rx;
        if !sink.deliver_posted {
            sink.deliver_posted = true;
            cx.post(key, to.into(), Happening::Deliver.pack());
        }
    }
    None
}

/// A symbol that leaves is heard at the other end at `key`.
pub(super) fn send_symbol<L: EventList<Payload>>(cx: &mut Cx<'_, L>, Peer(to): Peer, key: EventKey) {
    cx.post(key, to.into(), LinkStep::Symbol.pack());
}

/// A packet that a link port sends, perhaps not for the first time: the input side of the other end gets to
/// it at `key`.
pub(super) fn send_transmission<L: EventList<Payload>>(
    cx: &mut Cx<'_, L>,
    Peer(to): Peer,
    key: EventKey,
    (packet, behind): (u32, u32),
) {
    cx.post(key, to.into(), LinkStep::Arrive { packet, behind }.pack());
}

impl<P: Build> Links<P> {
    /// The packet whose start was made up and that reaches a switch now: the port there, and how much of it
    /// comes later.
    #[inline(always)]
    pub fn take_reached(&mut self) -> Option<(PortId, u32, u32)> {
        let Reached { to: Peer(to), packet, behind } = self.reached.take()?;
        Some((to, packet, behind))
    }

    /// A packet leaves through `port` for another part of the fabric.
    pub(super) fn cross_border(&mut self, port: PortId, packet: u32, flight: &Flight) {
        let Flight { arrival, behind, .. } = *flight;
        let tx = &self.ports[port.index()].tx;
        let pipeline = self.timings[tx.timing as usize].pipeline;
        let key = arrival.earlier(Duration(if self.unfolded { pipeline } else { 0 }));
        self.border.send_packet(tx.peer.0, packet, key, behind);
    }

    // --- a link as a whole -----------------------------------------------------------------------

    /// Constants of the direction that ends at `port`; both ends know them.
    #[inline(always)]
    pub fn arriving(&self, port: PortId) -> &LinkTiming {
        let Peer(upstream) = self.ports[port.index()].link.peer;
        &self.timings[self.ports[upstream.index()].tx.timing as usize]
    }

    /// Asks for the credit of the transmitter that sends to `port`.
    #[inline(always)]
    pub fn prefetch_sender(&self, port: PortId) {
        let Peer(peer) = self.ports[port.index()].rx.peer;
        if let Some(sender) = self.ports.get(peer.index()) {
            prefetch(&sender.tx);
        }
    }

    /// Asks for what a packet touches of the output `port` that it leaves through.
    #[inline(always)]
    pub fn prefetch_output(&self, port: PortId) {
        let output = &self.ports[port.index()];
        output.tx.prefetch();
        prefetch(&output.link);
        prefetch(&output.rx);
        prefetch(&self.identity_queues[port.index()]);
    }

    /// The sink that packets reach which leave through `port`, if it is one, and what is kept of it.
    #[inline(always)]
    fn sink_behind(&self, port: PortId) -> Option<(PortId, &Cold<P::Ports>)> {
        let tx = &self.ports[port.index()].tx;
        let Peer(sink) = tx.peer;
        let cold = self.timings[usize::from(tx.timing)].to_sink.then(|| self.cold.get(sink.index()))?;
        Some((sink, cold?))
    }

    /// Asks for the list in which packets wait that leave through `port`, if they reach a sink there, and for
    /// the wire by which that answers.
    #[inline(always)]
    pub fn prefetch_sink(&self, port: PortId) {
        if let Some((sink, cold)) = self.sink_behind(port) {
            prefetch(&cold.in_flight);
            prefetch(&self.ports[sink.index()].link);
            prefetch(&self.ports[sink.index()].rx);
        }
    }

    /// Asks for where a packet is written down that leaves through `port`, if it reaches a sink there: what
    /// [`prefetch_sink`](Self::prefetch_sink) has asked for is there.
    #[inline(always)]
    pub fn prefetch_flight(&self, port: PortId) {
        if let Some((_, cold)) = self.sink_behind(port)
            && let Some(last) = cold.in_flight.back()
        {
            prefetch(last);
        }
    }

    /// Likewise, where whoever uses the wire or the buffers of `port` next tells of an acceptance.
    #[inline(always)]
    pub fn prefetch_told(&self, port: PortId) {
        if self.ports[port.index()].rx.unaccepted != 0 {
            self.prefetch_sender(port);
        }
    }

    /// Both ends of the link of `port`, this one first: for what is done to a link as a whole.
    pub fn ends_of(&self, port: PortId) -> [PortId; 2] {
        [port, self.ports[port.index()].link.peer.0]
    }

    /// The port at the other end, if there is a link: for who sees the whole fabric.
    pub fn across(&self, port: PortId) -> Option<PortId> {
        let peer = self.ports[port.index()].tx.peer;
        peer.is_some().then_some(peer.0)
    }

    /// Whether the link of a port is there and initialised, as its Port n Error and Status CSR says (Part 6).
    pub fn is_port_up(&self, port: PortId) -> bool {
        match self.ends.get(port.index()) {
            Some(Some(end)) => !(end.is_down() || end.is_initialising()),
            _ => self.across(port).is_some(),
        }
    }

    /// Deliveries to the endpoint with this port are events.
    pub fn deliver_by_events(&mut self, port: PortId) {
        let timing = LinkTiming { to_agent: true, ..*self.arriving(port) };
        let number = self.timing_number(timing);
        let Peer(upstream) = self.ports[port.index()].tx.peer;
        self.ports[upstream.index()].keep_time(number);
    }

    // --- credit ----------------------------------------------------------------------------------

    /// Applies the credit records that are visible at `key` (inclusive: a wake reuses its record's key).
    #[inline(never)]
    pub fn consume<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, key: EventKey) {
        let tx = &self.ports[port.index()].tx;
        if self.timings[tx.timing as usize].to_sink {
            self.flush(cx, tx.peer.0, key);
        }
        let tx = &mut self.ports[port.index()].tx;
        let timing = &self.timings[tx.timing as usize];
        apply_visible(tx, timing, &mut self.cold, port, key);
    }

    /// Priorities without credit at `key` by what has arrived by then, whether or not anybody has applied it.
    pub fn blocked_at(&self, port: PortId, key: EventKey) -> u16 {
        let tx = &self.ports[port.index()].tx;
        tx.blocked_at(&self.timings[tx.timing as usize], &self.cold[port.index()], key)
    }

    /// Whether a credit record is on its way to `port` at `key`.
    pub fn is_told_later(&self, port: PortId, key: EventKey) -> bool {
        self.ports[port.index()].tx.records(&self.cold[port.index()]).any(|record| record.key > key)
    }

    /// The record that the blocked transmitter of `port` was to be woken by is visible.
    pub fn wake<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        // Deliveries that this settles must not ask for another wake, nor must records while the
        // transmitter is busy: whoever waits next asks for the first record that comes then.
        self.consume(cx, port, cx.key());
        let tx = &mut self.ports[port.index()].tx;
        (tx.wake_posted, tx.credit_waiting) = (false, false);
    }

    /// A packet is about to start: if that could leave a priority without credit, what is known of it is
    /// brought up to date.
    #[inline(always)]
    pub fn learn_credit<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let tx = &self.ports[port.index()].tx;
        let timing = &self.timings[tx.timing as usize];
        if tx.clock.blocked() != 0 || !timing.at_ease(tx.free, tx.outstanding) {
            self.consume(cx, port, cx.key());
        }
    }

    /// A release at the receiver of `port`: whether the last symbol about its buffers has not left yet, so
    /// that it will say so.
    #[inline(always)]
    pub fn amend_status(&mut self, now: u64, port: PortId) -> bool {
        let Port { link, rx, .. } = &mut self.ports[port.index()];
        let unsent = link.wire.status_unsent(now, self.timings[link.timing as usize].wire);
        if unsent {
            rx.advertised += 1;
            let (Peer(peer), advertised) = (rx.peer, rx.advertised);
            let cut = link.special() & special::CUT != 0;
            let tx = &mut self.ports[peer.index()].tx;
            if cut && tx.pending == 0 {
                // Its record has left.
                self.border.correct(peer, advertised);
            } else {
                tx.amend_last(&mut self.cold[peer.index()], advertised);
            }
        }
        unsent
    }

    /// Makes the symbol that tells the neighbour of `port` about its buffers at `t`, and its record. Whether
    /// they are so few that every release has to be told at once.
    #[inline(always)]
    pub fn place_status<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        t: u64,
        acknowledged: u8,
    ) -> bool {
        let key = self.key(self.ports[port.index()].link.device, t, class::SYMBOL);
        let told = self.write_status(cx.key(), port, t, acknowledged, key);
        self.wake_for(cx, port, told)
    }

    /// Likewise of a packet whose acceptance, at the key `accepted`, is an event.
    pub fn place_acceptance<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        accepted: EventKey,
    ) -> bool {
        let told = self.write_status(cx.key(), port, accepted.time().0, 1, accepted);
        self.wake_for(cx, port, told)
    }

    /// Likewise of a packet that was accepted before `now`, while nobody needed to know: its neighbour has
    /// credit, and so has the receiver buffers.
    #[inline(always)]
    pub fn make_up_acceptance(&mut self, now: EventKey, port: PortId, accepted: EventKey) {
        let told = self.write_status(now, port, accepted.time().0, 1, accepted);
        debug_assert!(!told.low && !told.wakes, "somebody waits for it");
    }

    #[inline(always)]
    fn wake_for<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, told: Told) -> bool {
        if told.wakes {
            self.post_wake(cx, port);
        }
        told.low
    }

    /// The neighbour of `port` is woken by the record that it was told last.
    #[inline(never)]
    fn post_wake<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let Peer(peer) = self.ports[port.index()].link.peer;
        let record = self.ports[peer.index()].tx.last_record(&self.cold[peer.index()]);
        cx.post(record.key, peer.into(), Happening::Wake.pack());
    }

    /// A status of `port` that is due at `t`: its place on the wire, and its record, whose key has source and
    /// sequence of `cause`: made for it, or of the acceptance that it tells of.
    ///
    /// Never inlined: a hop needs it from half a dozen places, and what runs in a hop has to fit a
    /// first-level instruction cache (32 KiB).
    #[inline(never)]
    fn write_status(
        &mut self,
        now: EventKey,
        port: PortId,
        t: u64,
        acknowledged: u8,
        cause: EventKey,
    ) -> Told {
        let special = self.ports[port.index()].link.special();
        let Links { ports, cold, timings, .. } = self;
        let ports = &mut ports[..];
        let Port { link, rx, .. } = &mut ports[port.index()];
        let timing = &timings[link.timing as usize];
        let slot = link.wire.due(t, Function::Stype0, timing.wire);
        link.wire.status_riding += u32::from(slot.riding);
        link.status_standalone += u32::from(!slot.riding);
        let at = slot.start + timing.wire.symbol + timing.propagation;
        let Peer(peer) = rx.peer;
        let place = slot.start;
        rx.advertised = rx.buffers - rx.in_use();
        let low = rx.is_low();
        let (buffers, accept_told) = (rx.advertised, rx.accept_told);
        let key = cause.followed(Time(at), class::SYMBOL);
        let upstream = &mut ports[peer.index()].tx;
        // Records that are visible by now are applied: only those still on the wire are kept. Not while the
        // sender is blocked: then they change its clock, and it may have creations to make up first.
        if upstream.clock.blocked() == 0 {
            let timing = &timings[upstream.timing as usize];
            apply_visible(upstream, timing, cold, peer, now);
        }
        upstream.push_record(cold, peer, CreditRecord { key, buffers, acknowledged });
        let wakes = upstream.credit_waiting && !upstream.wake_posted && key > now;
        upstream.wake_posted |= wakes;
        if accept_told {
            let timing = &timings[upstream.timing as usize];
            let plenty = timing.at_ease(upstream.free - PLENTY, upstream.outstanding + PLENTY as u16);
            ports[port.index()].rx.accept_told = !plenty;
        }
        if special != 0 {
            self.note_status(now.time().0, port, place, acknowledged, buffers);
        }
        Told { low, wakes }
    }

    /// Cut-through: whether a packet that came through `port` was accepted before `key`, which is not noted
    /// yet.
    #[inline(always)]
    pub fn has_accepted(&self, port: PortId, key: EventKey) -> bool {
        self.ports[port.index()].rx.accepted < key
    }

    /// Cut-through: the acceptance of the packet that comes through `port` is an event.
    #[inline(never)]
    pub fn post_acceptance<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        self.ports[port.index()].rx.accept_posted = true;
        cx.post(self.ports[port.index()].rx.accepted, port.into(), Happening::Accepted.pack());
    }

    /// Cut-through: nobody has to hear of the acceptance of the packet that comes through `port`, unless it
    /// is the sender, who is in another part and could not say so ([`watch_acceptances`]).
    #[inline(always)]
    pub fn defer_acceptance(&mut self, port: PortId) {
        if self.ports[port.index()].rx.is_cut() {
            self.border.awaits_acceptance(port);
        }
    }

    // --- packets ---------------------------------------------------------------------------------

    /// Delivers everything that has arrived at the sink behind `port` by `key` (inclusive), up to what the
    /// agent there takes, which is an event, and up to what the endpoint has still to make up. Whether the
    /// agent comes next.
    #[inline]
    pub fn flush<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, key: EventKey) -> bool {
        let key = key.min(self.cold[port.index()].due.0);
        while let Some(&(at, packet)) = self.cold[port.index()].in_flight.front() {
            if at > key {
                break;
            }
            if self.packets[packet].is_of_agent() {
                if self.cold[port.index()].listens {
                    return true;
                }
                // Nobody is there who wants it.
                self.packets.unload(packet);
            }
            self.cold[port.index()].in_flight.pop_front();
            self.deliver(port, packet, at.time());
            if self.ports[port.index()].link.mode() == Mode::Closed {
                self.place_status(cx, port, at.time().0, 1);
            }
        }
        false
    }

    /// A delivery event for the oldest packet on its way to the sink behind `port`, once.
    #[inline(always)]
    pub fn post_delivery<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        if let Some(&(key, _)) = self.cold[port.index()].in_flight.front() {
            let rx = &mut self.ports[port.index()].rx;
            if !rx.deliver_posted {
                rx.deliver_posted = true;
                cx.post(key, port.into(), Happening::Deliver.pack());
            }
        }
    }

    /// The link of `port` changes its granularity: what is on its way to the sink there becomes events, which
    /// the oldest may be already.
    pub(super) fn post_arrivals<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let posted = self.ports[port.index()].rx.deliver_posted;
        for (key, packet) in self.cold[port.index()].in_flight.split_off(usize::from(posted)) {
            send_transmission(cx, Peer(port), key, (packet, 0));
        }
    }

    // --- messages --------------------------------------------------------------------------------

    /// A VoQ message has left `port` and reaches the other end at `key`.
    pub fn post_message<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        key: EventKey,
        (channel, field): (u8, u16),
    ) {
        let link = &self.ports[port.index()].link;
        let Peer(peer) = link.peer;
        if link.special() & special::CUT != 0 {
            return self.border.send_message(peer, key, (channel, field));
        }
        cx.post(key, peer.into(), Happening::Message { field, channel }.pack());
    }

    /// A VoQ message for `port` is not on the wire any more. Whether it is heard.
    pub fn take_message(&mut self, port: PortId) -> bool {
        let Peer(sender) = self.ports[port.index()].tx.peer;
        let heard = self.ports[port.index()].link.mode() != Mode::Symbols || !self.end(port).is_down();
        let cold = &mut self.cold[sender.index()];
        cold.messages_on_wire -= 1;
        cold.stats.voq_lost += u64::from(!heard);
        heard
    }

    // --- in symbol granularity -------------------------------------------------------------------

    /// A symbol reaches `port` now: what it is, unless it was on a wire that broke.
    pub fn take_symbol(&mut self, key: EventKey, port: PortId) -> Option<Flying> {
        let Peer(peer) = self.ports[port.index()].link.peer;
        self.end(peer).arrived(key)
    }

    /// A character between symbols that leaves `port` is damaged: the other end gets to it at `key`.
    pub(super) fn post_idle_damage<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        key: EventKey,
    ) {
        let Peer(peer) = self.ports[port.index()].tx.peer;
        self.end(peer).expect_idle_damage();
        cx.post(key, peer.into(), LinkStep::Idle.pack());
    }

    /// The input side of `port` gets to a packet: what became of it on the way.
    pub(super) fn take_flight(&mut self, key: EventKey, port: PortId) -> Option<Air> {
        let Peer(peer) = self.ports[port.index()].link.peer;
        self.end(peer).landed(key)
    }

    /// What becomes of the packet of continuous traffic that `port` has taken or lost is known to who sent
    /// it.
    pub(super) fn settle_held(&mut self, port: PortId, serial: u32) {
        let Peer(peer) = self.ports[port.index()].link.peer;
        self.end(peer).settled(serial);
    }

    /// What the other end has told of buffers has not reached `port`: it is told again, once, a period later.
    pub(super) fn ask_again<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let Peer(peer) = self.ports[port.index()].link.peer;
        self.tell_again(cx, peer);
    }

    fn tell_again<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let Some(period) = self.end(port).tells_again() else { return };
        let key = self.key(self.ports[port.index()].link.device, cx.now().0 + period, class::SYMBOL);
        cx.post(key, port.into(), LinkStep::Tell.pack());
    }

    /// A partner that initialises counts what it hears, and begins anew with every error: `port` tells it a
    /// status each period until it is up.
    pub fn tell_until_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let Peer(peer) = self.ports[port.index()].link.peer;
        if self.end(peer).is_initialising() {
            self.tell_again(cx, port);
        }
    }

    /// The other way round: `port` has met an error, and is told a status each period if it initialises.
    pub fn ask_until_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        if self.end(port).is_initialising() {
            self.ask_again(cx, port);
        }
    }

    /// The transmitter is blocked on credit: makes sure that the next change wakes it.
    pub fn await_credit<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let tx = &mut self.ports[port.index()].tx;
        tx.credit_waiting = true;
        if tx.wake_posted {
            return;
        }
        if let Some(record) = tx.first_record() {
            tx.wake_posted = true;
            cx.post(record.key, port.into(), Happening::Wake.pack());
            return;
        }
        let Peer(peer) = tx.peer;
        self.post_delivery(cx, peer);
    }

    /// A status of a link that needs more than the closed form has its place on the wire.
    #[cold]
    fn note_status(&mut self, now: u64, port: PortId, place: u64, acknowledged: u8, free: u8) {
        let link = &self.ports[port.index()].link;
        let (bits, Peer(peer)) = (link.special(), link.peer);
        if bits & special::CUT != 0 && self.ports[peer.index()].tx.pending == 1 {
            self.border.tell(peer);
        }
        if bits & special::WATCHED != 0 {
            self.end(port).note_place(now, place);
        }
        if bits & special::CHECK != 0 {
            self.check_status(port, acknowledged, free);
        }
    }

    // --- on other media --------------------------------------------------------------------------

    /// A message whose channel shares its link reaches the neighbour of `port` at `arrival`; unfolded, one
    /// pipeline earlier.
    pub(super) fn post_reach<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        arrival: EventKey,
        behind: u32,
    ) {
        let tx = &self.ports[port.index()].tx;
        let pipeline = self.timings[tx.timing as usize].pipeline;
        let (early, step) = if self.unfolded && pipeline > 0 {
            (pipeline, LinkStep::Pins { packet, behind })
        } else {
            (0, LinkStep::Reach { packet, behind })
        };
        cx.post(arrival.earlier(Duration(early)), tx.peer.0.into(), step.pack());
    }

    /// When the last micropacket of a message that comes through `port` may be sent on; `None`: long since.
    pub(super) fn end_of_message(&self, port: PortId, packet: u32, now: u64) -> Option<u64> {
        let Peer(upstream) = self.ports[port.index()].link.peer;
        let timing = self.arriving(port);
        let messages = self.interleaved(upstream).expect("all links of a device are alike");
        let done = self.ports[upstream.index()].tx.done.time().0;
        let left = messages.leaves(packet, done, now + timing.micropacket_ps())?;
        Some(left + timing.behind())
    }

    /// A frame that leaves `port` takes its place at a sink until `at`, and no longer: the news of that is as
    /// good as posted there.
    pub(super) fn foresee_credit<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        at: u64,
        channel: u8,
    ) {
        let Peer(sink) = self.ports[port.index()].tx.peer;
        self.post_credit(cx, sink, at, channel);
    }

    /// Posts the news that the receiver of `port` has a place more, for `at` at its neighbour.
    pub(super) fn return_credit<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        at: u64,
        channel: u8,
    ) {
        let Peer(peer) = self.ports[port.index()].link.peer;
        self.channels_of(peer).coming += 1;
        self.post_credit(cx, port, at, channel);
    }

    /// Posts the news of a place that has been counted.
    pub(super) fn post_credit<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        at: u64,
        channel: u8,
    ) {
        let link = &self.ports[port.index()].link;
        let (Peer(peer), device) = (link.peer, link.device);
        let key = self.key(device, at, class::SYMBOL);
        cx.post(key, peer.into(), LinkStep::Credit { channel: channel.into() }.pack());
    }
}
