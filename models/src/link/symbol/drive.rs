//! The sending side: packets are committed to the wire, symbols are put together and leave.

use super::{Air, Flying, Held, Leaves, POLL};
use crate::event::{Cx, LinkStep, Payload, class};
use crate::ids::PortId;
use crate::link::port::{Port, special};
use crate::link::wire::Function;
use crate::link::{Links, mail};
use crate::observe::Build;
use crate::observe::mark;
use crate::observe::probe::{Cause, PacketStep};
use lp_serial::control_symbol::Stype1;
use lp_serial::link::{Opportunity, Place, Start, Starting};
use sim_core::{EventKey, EventList, Time};

/// A packet on its way, as the fabric has committed it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Flight {
    /// First character of its start-of-packet.
    pub start: u64,
    /// Time until the receiver may do something with it, the way not counted.
    pub stored: u64,
    /// When the receiver does.
    pub arrival: EventKey,
    /// Time that its last character comes after that: cut-through.
    pub behind: u32,
}

impl<P: Build> Links<P> {
    /// Something may have become due at `port`: it gets its place on the wire, and the next place is asked
    /// for.
    pub fn arrange<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let now = cx.now().0;
        self.cut_for_recovery(now, port);
        let Links { ports, ends, timings, keys, .. } = self;
        let link = &mut ports[port.index()].link;
        let timing = &timings[link.timing as usize];
        let end = ends[port.index()].as_mut().expect("the link runs in symbol granularity");
        let keys = &mut keys[link.device as usize];
        let from = now.max(end.polled);
        if end.link.is_down() {
            // What becomes due meanwhile gets its place when the link is back.
            return;
        }
        // The acknowledgement of a packet that is being taken in becomes due when it is in.
        while end.due.len() + usize::from(end.judged && !end.told_early) < end.link.due() {
            let slot = link.wire.due(from, Function::Stype0, timing.wire);
            if slot.riding {
                link.wire.status_riding += 1;
            } else {
                link.status_standalone += 1;
            }
            let at = slot.start + timing.wire.symbol + timing.propagation;
            end.due.push_back(keys.make(Time(at), class::SYMBOL));
            end.place(slot.start);
        }
        end.places = end.places.split_off(&from);
        if end.link.wants_symbol() && end.places.is_empty() {
            let start = link.wire.request(from, timing.wire);
            end.place(start);
        }
        let mut next = end.places.first().copied();
        let starts = end.link.can_start() || (end.calls && !end.link.is_up());
        if end.committed.is_none() && end.on_wire.is_none() && starts {
            let free = link.wire.free_at(from, timing.wire);
            next = Some(next.map_or(free, |next| next.min(free)));
        }
        if let Some(at) = next
            && at < end.posted
        {
            end.posted = at;
            cx.post(keys.make(Time(at), POLL), port.into(), LinkStep::Poll.pack());
        }
        if end.suspect
            && let Some(at) = end.link.poll_timeout()
            && let Some(entry) = end.timer.arm(Time(at.max(now + 1)))
        {
            let key = keys.make(entry.at, class::SYMBOL);
            cx.post(key, port.into(), LinkStep::Timer { generation: entry.generation }.pack());
        }
    }

    /// The packet on the wire of `port` ends early if its link port has something to say that ends it:
    /// packets may be cut at multiples of four characters.
    fn cut_for_recovery(&mut self, now: u64, port: PortId) {
        let Links { ports, ends, timings, .. } = self;
        let Port { tx, link, .. } = &mut ports[port.index()];
        let timing = &timings[link.timing as usize];
        let end = ends[port.index()].as_mut().expect("the link runs in symbol granularity");
        let Some((serial, until)) = end.on_wire.filter(|_| end.link.wants_cancel()) else { return };
        let from = now.max(end.polled);
        let (start, _) = link.wire.last_packet().expect("a packet is on the wire");
        let begun = start + timing.wire.symbol;
        let four = |n: u64| begun + n * 4 * timing.char_num / timing.char_den;
        let mut n = from.saturating_sub(begun) * timing.char_den / (4 * timing.char_num);
        while four(n) < from {
            n += 1;
        }
        let at = four(n);
        if at >= until {
            return;
        }
        link.wire.cut(at);
        tx.packet_ps -= end.cut_short(until - at);
        end.shift(until, at);
        end.on_wire = Some((serial, at));
        end.last = link.wire.last_packet();
        self.tell_cut(port, serial, at);
    }

    /// Who follows packets is told that the transmission of one ends at `at`, earlier than it was to.
    pub(super) fn tell_cut(&mut self, port: PortId, serial: u32, at: u64) {
        if !self.observe.probe.follows_packets() {
            return;
        }
        let packet = self.end(port).held(serial).packet;
        let device = self.ports[port.index()].link.device;
        let step = PacketStep::Cut { device, port: self.nodes.number(device, port) };
        self.observe.probe.packet(Time(at), self.packets[packet].id(), &step);
    }

    /// A message about a channel of the link of `port`, 0 for VC0, becomes due: a status of that channel will
    /// carry it (Part 12 §3.2). Whether the link is up.
    pub fn place_linked<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        channel: u8,
    ) -> bool {
        self.count(port, false);
        let end = self.end(port);
        if !end.link.is_up() {
            return false;
        }
        end.link.tell_of(channel);
        end.told_early = end.judged;
        end.carrier = Some(end.popped + end.link.due() as u64 - 1);
        self.cold[port.index()].stats.voq_riding += 1;
        self.arrange(cx, port);
        true
    }

    /// The start-of-packet of a packet leaves now.
    fn begun(&mut self, port: PortId, start: &Start<u32>, now: u64, damaged: bool) {
        let link = &self.ports[port.index()].link;
        let (_, until) = link.wire.last_packet().expect("a packet starts");
        let symbol = self.timings[link.timing as usize].wire.symbol;
        let end = self.end(port);
        end.on_wire = Some((start.packet, until));
        end.held(start.packet).sent = true;
        let hit = end.errors.packet(now + symbol);
        let air = end.flight(start.packet).expect("a packet that starts is on its way");
        air.ack_id = start.ack_id;
        air.headless = damaged;
        air.damaged = hit;
        if hit {
            end.stats.damaged_packets += 1;
            end.suspect = true;
        }
        let packet = end.held(start.packet).packet;
        // What was committed before the link changed its granularity was shown then, with this start.
        let shown = self.end(port).shown.take_if(|shown| *shown == (start.packet, now)).is_some();
        if self.ports[port.index()].link.special() & special::CHECK != 0 && !shown {
            let again = self.end(port).held(start.packet).again;
            let leaves = Leaves { at: now, ack_id: start.ack_id, damaged: hit, again };
            self.check_packet(port, packet, leaves);
        }
    }

    /// The link port sends a packet again (or at last, if something came between). `instead`: it takes the
    /// place of the packet that was committed for this instant. That one was chosen before a retry put older
    /// ones back, and waits behind them now.
    fn repeat<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        start: &Start<u32>,
        instead: bool,
    ) {
        let now = cx.now().0;
        let sends_own = !self.nodes.is_switch(port);
        let Links { ports, ends, timings, keys, packets, cold, observe, .. } = self;
        let Port { tx, link, .. } = &mut ports[port.index()];
        let timing = &timings[link.timing as usize];
        let end = ends[port.index()].as_mut().expect("the link runs in symbol granularity");
        let keys = &mut keys[link.device as usize];
        let packet = end.held(start.packet).packet;
        let record = &mut packets[packet];
        let length = timing.packet_ps(record.wire, &mut cold[port.index()].carry);
        if instead {
            // Symbols have their places behind the packet already.
            let (at, until) = link.wire.last_packet().expect("a packet was committed");
            assert_eq!(at, now, "the other packet would have started now");
            link.wire.replace(length);
            tx.packet_ps -= until - now;
            end.places.remove(&until);
            end.shift(until, now + length);
        } else {
            end.before = end.last;
            let at = link.wire.start_packet(now, length, timing.wire);
            assert_eq!(at, now, "a repeated packet starts where its symbol is");
        }
        tx.packet_ps += length;
        end.last = link.wire.last_packet();
        end.places.insert(now + length);
        // Not by a method: its totals lie beside it.
        let held = end.held.iter_mut().find(|held| held.serial == start.packet);
        let held = held.expect("what the link port sends is held");
        record.times[Cause::Serialization] -= held.stored;
        record.times[Cause::Serialization] += length;
        if !held.sent && sends_own {
            record.left = now;
        }
        held.again = held.sent;
        let again = held.again;
        if held.sent {
            end.stats.repeated += 1;
            end.stats.repeated_ps += length;
        }
        observe.trajectory.record(mark::START, Time(now), u64::from(port), record.word());
        packets.late.add_recovery(held.packet, now - held.start);
        (held.start, held.stored) = (now, length);
        let arrival = keys.make(Time(now + length + timing.propagation + timing.pipeline), class::ARRIVAL);
        end.air.push_back(Air::new(arrival, start.packet, start.meta));
        mail::send_transmission(cx, link.peer, arrival, (packet, 0));
        tx.done = tx.done.max(keys.make(Time(now + length), class::DONE));
        if tx.waiting > 0 {
            self.post_done(cx, port);
        }
        if self.observe.probe.follows_packets() {
            let flight = Flight { start: now, stored: length, arrival, behind: 0 };
            self.tell_started(port, packet, &flight, again);
        }
    }

    /// The fabric has committed a packet to the wire of a symbolic link.
    pub(in crate::link) fn launch<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        flight: &Flight,
    ) {
        let meta = self.packets[packet].meta();
        let peer = self.ports[port.index()].tx.peer;
        let last = self.ports[port.index()].link.wire.last_packet();
        let end = self.end(port);
        let serial = end.serial;
        end.serial = end.serial.wrapping_add(1);
        end.link.submit(serial, meta).expect("the queue has no limit");
        let config = end.link.config();
        let unsettled = config.is_continuous(config.channel(meta));
        let (start, stored) = (flight.start, flight.stored);
        if end.held.is_empty() {
            // What was lost before did it no harm.
            end.troubled_since = None;
        }
        end.held.push(Held { serial, packet, start, stored, sent: false, again: false, unsettled });
        end.committed = Some((serial, flight.start));
        let until = last.expect("a packet was committed").1;
        end.place(flight.start);
        end.place(until);
        end.before = std::mem::replace(&mut end.last, last);
        end.stats.packets += 1;
        end.air.push_back(Air::new(flight.arrival, serial, meta));
        mail::send_transmission(cx, peer, flight.arrival, (packet, flight.behind));
        let tx = &mut self.ports[port.index()].tx;
        tx.clock.forget_transmission();
        if self.nodes.is_switch(port) {
            self.post_done(cx, port);
        }
        self.observe.ledger.symbol_hops += 1;
        if self.end(port).channels.is_some() {
            self.count(port, false);
            self.launched_with_channels(port, packet, cx.now().0);
        }
        self.sync(cx.now().0, port);
        self.arrange(cx, port);
    }

    /// A place on the wire of `port`, if it is one: the link port says what leaves. Whether something has
    /// left, so that there may be news.
    pub fn poll<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) -> bool {
        let now = cx.now().0;
        if !self.is_symbolic(port) {
            return false;
        }
        let Links { ports, ends, timings, keys, .. } = self;
        let Port { tx, link, .. } = &mut ports[port.index()];
        let timing = &timings[link.timing as usize];
        let end = ends[port.index()].as_mut().expect("the link runs in symbol granularity");
        if end.posted == now {
            end.posted = u64::MAX;
        }
        let ending = end.on_wire.filter(|&(_, until)| until == now).map(|(serial, _)| serial);
        let sop = end.committed.is_some_and(|(_, start)| start == now);
        let slot = end.places.contains(&now);
        let again = end.committed.is_none()
            && end.link.can_start()
            && (end.on_wire.is_none() || ending.is_some())
            && link.wire.free_at(now, timing.wire) == now;
        let calls = end.calls && !end.link.is_up();
        let inside = end.on_wire.is_some() && ending.is_none();
        let wanted = ending.is_some() || slot || again || calls;
        if now < end.polled || end.link.is_down() || inside || !wanted {
            self.arrange(cx, port);
            return false;
        }
        end.polled = now + 1;
        let place = if ending.is_some() { Place::End } else { Place::Idle };
        let starting = if sop || again { Starting::Now } else { Starting::Not };
        let due = end.link.due();
        let arrives = Time(now + timing.wire.symbol + timing.propagation);
        // What has its place on a later symbol does not leave with this one.
        let holding = end.due.front().is_some_and(|key| key.time() > arrives);
        let opportunity = Opportunity { place, starting, holding };
        let of = end.link.next_tells_of();
        let mut offered = end.link.poll_transmit(now, opportunity);
        if offered.is_none() && (sop || end.message.is_some()) {
            // The packet committed cannot start any more: its start-of-packet is a status.
            offered = end.link.poll_transmit(now, Opportunity { starting: Starting::Not, ..opportunity });
        }
        let Some(mut sent) = offered else {
            end.calls = false;
            self.arrange(cx, port);
            return false;
        };
        end.tell(&mut sent.symbol, holding, of);
        let keys = &mut keys[link.device as usize];
        let mut key = None;
        let mut carries = false;
        if end.link.due() < due {
            if end.carrier == Some(end.popped) {
                end.carrier = None;
                carries = true;
            }
            end.popped += 1;
            key = end.due.pop_front().filter(|key| key.time() == arrives);
        }
        let key = key.unwrap_or_else(|| keys.make(arrives, class::SYMBOL));
        end.places.remove(&now);
        if !slot && ending.is_none() && sent.packet.is_none() {
            link.wire.due(now, Function::Stype0, timing.wire);
        }
        let checks = link.special() & special::CHECK != 0;
        let stype1 = sent.symbol.stype1();
        let damaged = end.errors.symbol(now);
        end.stats.damaged_symbols += u64::from(damaged);
        end.suspect |= damaged;
        end.carries = carries.then_some((sent.symbol, damaged));
        if let Some(serial) = ending {
            let whole = matches!(stype1, Stype1::StartOfPacket | Stype1::EndOfPacket);
            end.stats.cancelled += u64::from(!whole);
            if let Some(air) = end.flight(serial).filter(|_| !whole || damaged) {
                air.void = true;
            }
        }
        if stype1 == Stype1::RestartFromRetry {
            // Who has a higher priority than what was refused goes first, if it waits by then.
            end.resumes = now + timing.wire.symbol;
        }
        end.on_wire = None;
        let starts = sent.packet.as_ref().map(|start| start.packet);
        let symbol = sent.symbol;
        let delimits = matches!(stype1, Stype1::StartOfPacket | Stype1::EndOfPacket | Stype1::Nop);
        let taken_in = Time(arrives.0 + timing.pipeline);
        let control = (!delimits).then(|| keys.make(taken_in, class::SYMBOL));
        end.flying.push_back(Flying { key, start: now, symbol, starts, ends: ending, damaged, control });
        if end.woken != Some(key) {
            mail::send_symbol(cx, link.peer, key);
        }
        if end.resumes > now {
            let key = keys.make(Time(end.resumes), class::SYMBOL);
            cx.post(key, port.into(), LinkStep::Resume.pack());
        }
        let message = end.message.take();
        let committed = if sop { end.committed.take().map(|(serial, _)| serial) } else { None };
        let unstarted = committed.filter(|serial| starts != Some(*serial));
        if let Some(serial) = unstarted {
            if let Some(air) = end.flight(serial) {
                air.void = true;
            }
            if starts.is_none() {
                let (_, until) = link.wire.last_packet().expect("a packet was committed");
                let next = now + timing.wire.symbol;
                link.wire.retract(next, end.before);
                tx.packet_ps -= until - now;
                // Behind link-request nothing begins: what waits for the end of the packet keeps its
                // place. After restart-from-retry a packet begins at once, and takes it along.
                let behind = Time(until + timing.wire.symbol + timing.propagation);
                let stays = stype1 != Stype1::RestartFromRetry;
                if !(stays && end.due.iter().any(|key| key.time() == behind)) {
                    end.places.remove(&until);
                }
                end.shift(until, next);
                end.last = end.before;
            }
        }
        if let Some(serial) = unstarted {
            self.tell_cut(port, serial, now);
        }
        if let Some(start) = sent.packet {
            if committed != Some(start.packet) {
                self.repeat(cx, port, &start, committed.is_some());
            }
            self.begun(port, &start, now, damaged);
        }
        // What carries a linked message is written when that is known.
        if checks && !carries {
            let heard = message.map(|(_, field)| (field, false));
            let (symbol, lost) = match heard.or_else(|| self.end(port).shown(now)) {
                None => (symbol, false),
                Some((field, lost)) => {
                    self.note_said(port, field);
                    (symbol.with_stype2(field).expect("14 bits, on long symbols"), lost)
                }
            };
            self.check_symbol(port, now, symbol, damaged || lost);
        }
        if let Some(message) = message {
            self.send_message(cx, port, message, damaged);
        }
        true
    }
}
