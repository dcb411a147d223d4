//! Flow control by the receiver, F-120 to F-126: what it has no room for it refuses, and the sender sends it
//! again. With channels, F-140 to F-147: the same, by link-request and link-response.

use super::channels::{KINDS, Turns, Vcs};
use super::wire::{Due, Function};
use super::{Event, Name, Port, World, class};
use crate::record::Record;
use models::config::PRIORITIES;
use models::probe::Cause;
use models::stats::LinkStats;
use std::collections::VecDeque;

/// Both sides of a port whose link works so.
pub struct Retry {
    /// F-120: how many of the own receive buffers each priority needs free.
    needed: [i64; PRIORITIES],
    /// As a receiver: it discards what comes until the restart.
    stopped: bool,
    /// As a sender: what has begun and is not accepted yet, in this order.
    unaccepted: VecDeque<Name>,
    /// F-122: what has to begin, or begin again; a packet that is committed as well. Channels have their
    /// places beyond the priorities.
    waiting: [VecDeque<Name>; KINDS],
    /// F-146, with channels.
    turns: Option<Turns>,
    /// How many packets were accepted here; how many the other end has accepted, for all that is known.
    taken: u64,
    acknowledged: u64,
    /// F-142: link-response is awaited; the packet that link-request has cut.
    error_stopped: bool,
    cut: Option<Name>,
    /// The packet that is committed and has not begun.
    committed: Option<Transmission>,
    /// The last one that began, and the time of its end.
    on_wire: Option<Transmission>,
    /// restart-from-retry has to leave, or link-request; up to the end of its symbol nothing may follow,
    /// or up to the answer.
    restart_due: bool,
    silent: bool,
    /// A symbol has left before this instant.
    left: u64,
    /// F-126: since when the output recovers.
    recovering: Option<u64>,
}

/// A packet on the wire, or to be there.
#[derive(Clone, Copy)]
struct Transmission {
    packet: Name,
    number: usize,
    start: u64,
    end: u64,
    again: bool,
}

impl Retry {
    pub fn new([w0, w1, w2]: [u8; 3], turns: Option<Turns>) -> Retry {
        Retry {
            needed: [w0.into(), w1.into(), w2.into(), 1],
            stopped: false,
            unaccepted: VecDeque::new(),
            waiting: Default::default(),
            turns,
            taken: 0,
            acknowledged: 0,
            error_stopped: false,
            cut: None,
            committed: None,
            on_wire: None,
            restart_due: false,
            silent: false,
            left: 0,
            recovering: None,
        }
    }

    pub fn is_recovering(&self) -> bool {
        self.recovering.is_some()
    }

    /// F-125, F-146: the ackIDs and the state of the output let a new packet of this kind go: a priority, or
    /// a channel beyond them.
    pub fn may_send(&self, kind: usize, window: i64) -> bool {
        // What has to begin before it, if it has to.
        let ahead = match &self.turns {
            _ if !self.is_recovering() => 0..KINDS,
            None => kind..PRIORITIES,
            Some(turns) if kind < PRIORITIES && turns.vc0_is_first() => kind..PRIORITIES,
            Some(_) if kind < PRIORITIES => kind..KINDS,
            Some(_) => 0..KINDS,
        };
        let ahead: usize = self.waiting[ahead].iter().map(VecDeque::len).sum();
        let sent = self.unaccepted.len() as i64;
        if self.is_recovering() {
            !self.silent && ahead == 0 && sent < window
        } else {
            sent + (ahead as i64) < window
        }
    }

    /// F-90: the ackIDs of the packets that are unaccepted, and of those that have to begin, are all there
    /// are.
    pub fn lacks_ack_id(&self, window: i64) -> bool {
        let ahead: usize = self.waiting.iter().map(VecDeque::len).sum();
        (self.unaccepted.len() + ahead) as i64 >= window
    }

    /// A status that accepts so many packets becomes due.
    pub fn took(&mut self, packets: i64) {
        self.taken += packets as u64;
    }

    /// F-121, F-142: a status came.
    pub fn accepted(&mut self, packets: i64) {
        if !self.error_stopped {
            self.accept_more(packets as u64);
        }
    }

    fn accept_more(&mut self, packets: u64) {
        self.acknowledged += packets;
        self.unaccepted.drain(..packets as usize);
    }
}

impl Port {
    /// F-141.
    pub fn is_error_stopped(&self) -> bool {
        self.channels.is_some() && self.retry.as_ref().is_some_and(|retry| retry.stopped)
    }

    /// F-120, F-140: there is room for a packet.
    fn has_room(&self, priority: usize) -> bool {
        match (self.channel(priority), &self.retry) {
            (0, Some(retry)) => self.buffers - self.occupied >= retry.needed[priority],
            (channel, _) => self.channel_has_room(channel),
        }
    }
}

impl World<'_> {
    /// F-120: a packet has passed the pipeline. Whether it is not taken.
    pub fn refuses(&mut self, d: usize, p: usize, name: Name) -> bool {
        let (now, priority) = (self.now, self.packets[name].priority);
        let port = &mut self.devices[d].ports[p];
        let (room, continuous) = (port.has_room(priority), port.is_continuous(priority));
        let Some(retry) = &mut port.retry else { return false };
        if continuous || retry.stopped || room {
            return !continuous && retry.stopped;
        }
        retry.stopped = true;
        *(if retry.turns.is_some() { &mut port.link.not_accepted } else { &mut port.link.retries }) += 1;
        self.answer(d, p, now, Event::Retry);
        true
    }

    /// An stype0 function becomes due that is no status.
    fn answer(&mut self, d: usize, p: usize, now: u64, event: Event) {
        let port = self.port(d, p);
        let Due { begins, rides } = port.wire.due(Function::Status, now);
        *(if rides { &mut port.stats.status_riding } else { &mut port.stats.status_standalone }) += 1;
        let (peer, arrives) = (port.peer, begins + port.wire.symbol() + port.propagation);
        self.post_to(d, peer, arrives, class::SYMBOL, event);
        self.ask_wire(d, p);
    }

    /// F-123, F-144: restart-from-retry has passed the pipeline, or link-request.
    pub fn restarted(&mut self, d: usize, p: usize) {
        let now = self.now;
        let retry = self.retry(d, p);
        retry.stopped = false;
        if retry.turns.is_some() {
            let accepted = retry.taken;
            self.answer(d, p, now, Event::Response { accepted });
            for channel in 0..=self.port(d, p).channels.as_ref().map_or(0, Vcs::count) {
                self.tell_of(d, p, channel, 0);
            }
        }
    }

    /// F-126: totals of a link on which packets may be refused.
    pub fn link_totals(&self, d: usize, p: usize) -> Option<LinkStats> {
        let Port { retry, link, .. } = &self.devices[d].ports[p];
        let since = retry.as_ref()?.recovering.unwrap_or(self.now);
        Some(LinkStats { recovery_ps: link.recovery_ps + self.now - since, ..*link })
    }

    fn retry(&mut self, d: usize, p: usize) -> &mut Retry {
        self.port(d, p).retry.as_mut().expect("the receiver looks after the buffers")
    }

    /// F-124: a packet is committed to such a link.
    pub fn committed(&mut self, d: usize, o: usize, packet: Name, number: usize, (start, end): (u64, u64)) {
        let kind = self.devices[d].ports[o].kind(self.packets[packet].priority);
        let retry = self.retry(d, o);
        retry.waiting[kind].push_back(packet);
        retry.committed = Some(Transmission { packet, number, start, end, again: false });
        self.post(d, o, start, class::POLL, Event::Begin);
    }

    /// F-122, F-142: packet-retry arrives at the sender, or packet-not-accepted.
    pub fn retried(&mut self, d: usize, p: usize) {
        if self.port(d, p).waits_for_credit && !self.is_switch(d) {
            self.create_all(d);
        }
        let now = self.now;
        let Port { retry, wire, stats, link, .. } = &mut self.devices[d].ports[p];
        let retry = retry.as_mut().expect("the receiver looks after the buffers");
        if retry.turns.is_some() {
            retry.error_stopped = true;
        } else {
            for name in retry.unaccepted.drain(..).rev() {
                retry.waiting[self.packets[name].priority].push_front(name);
            }
        }
        (retry.restart_due, retry.silent) = (true, true);
        retry.recovering.get_or_insert(now);
        // F-123.
        let mut moved = None;
        if let Some(sending) = retry.on_wire.as_mut().filter(|sending| now < sending.end)
            && let Some(cut) = wire.cut(now)
        {
            let by = sending.end - cut;
            stats.packet_ps -= by;
            link.repeated_ps -= if sending.again { by } else { 0 };
            moved = Some((sending.end, cut));
            sending.end = cut;
        }
        let at = wire.next_symbol(now).unwrap_or_else(|| wire.request(now));
        if let Some((from, to)) = moved {
            self.move_symbols(d, p, from, to);
        }
        self.post(d, p, at, class::POLL, Event::Begin);
    }

    /// What waits for the end of a packet moves with it.
    fn move_symbols(&mut self, d: usize, p: usize, from: u64, to: u64) {
        let port = &self.devices[d].ports[p];
        let (peer, way) = (port.peer, port.wire.symbol() + port.propagation);
        let mut heap = std::mem::take(&mut self.heap).into_vec();
        for std::cmp::Reverse(entry) in &mut heap {
            let moves = matches!(entry.event, Event::Status { .. } | Event::Retry | Event::Response { .. });
            if moves && (entry.device, entry.port) == peer && entry.key.time().0 >= from + way {
                entry.key = match to < from {
                    true => entry.key.earlier(sim_core::Duration(from - to)),
                    false => entry.key.later(sim_core::Duration(to - from)),
                };
            }
            let carried = matches!(entry.event, Event::LinkedLeaves { .. });
            if carried && (entry.device, entry.port) == (d, p) && entry.key.time().0 >= from {
                entry.key = match to < from {
                    true => entry.key.earlier(sim_core::Duration(from - to)),
                    false => entry.key.later(sim_core::Duration(to - from)),
                };
            }
        }
        self.heap = heap.into();
        // F-45.
        if let Some((_, begins)) = &mut self.port(d, p).last_status
            && *begins >= from
        {
            *begins = *begins + to - from;
        }
    }

    /// F-123: no symbol begins now, though a message was to leave with one.
    pub fn has_lost_its_place(&self, d: usize, p: usize) -> bool {
        let port = &self.devices[d].ports[p];
        port.retry.is_some() && port.wire.next_symbol(self.now) != Some(self.now)
    }

    /// Class POLL: a symbol may leave.
    pub fn begin_on_wire(&mut self, d: usize, p: usize) {
        let now = self.now;
        let port = &mut self.devices[d].ports[p];
        let window = port.window;
        let retry = port.retry.as_mut().expect("the receiver looks after the buffers");
        if now < retry.left {
            return;
        }
        let committed = retry.committed.take_if(|committed| committed.start == now);
        let next = port.wire.next_start(now);
        let error_stopped = retry.error_stopped;
        if retry.restart_due {
            if port.wire.next_symbol(now) == Some(now) {
                self.restart(d, p, committed);
            }
            return;
        }
        if error_stopped {
            if let Some(committed) = committed {
                self.take_back(d, p, committed);
                self.go_on(d, p);
            }
            return;
        }
        let may_begin = retry.committed.is_none() && next == now && (retry.unaccepted.len() as i64) < window;
        if let Some(committed) = committed {
            let first = self.next_to_begin(d, p).expect("it waits itself");
            if first == committed.packet {
                let retry = self.retry(d, p);
                retry.unaccepted.push_back(first);
                retry.on_wire = Some(committed);
                self.packets[first].begun = true;
            } else {
                self.begin_again(d, p, first, Some(committed));
            }
        } else if may_begin {
            let Some(first) = self.next_to_begin(d, p) else { return };
            self.begin_again(d, p, first, None);
        }
        self.go_on(d, p);
    }

    /// F-124, F-146: the packet that begins now does not wait any more.
    fn next_to_begin(&mut self, d: usize, p: usize) -> Option<Name> {
        let retry = self.devices[d].ports[p].retry.as_mut().expect("the receiver looks after the buffers");
        let in_vc0 = (0..PRIORITIES).rev().find(|&priority| !retry.waiting[priority].is_empty());
        let Some(turns) = &mut retry.turns else { return retry.waiting[in_vc0?].pop_front() };
        let octets =
            |kind: usize| retry.waiting[kind].front().map(|&name| u64::from(self.packets[name].wire));
        let demand: Vec<Option<u64>> =
            std::iter::once(in_vc0.and_then(octets)).chain((PRIORITIES..KINDS).map(octets)).collect();
        let channel = turns.choose(&demand[..turns.count()])?;
        turns.take(channel, demand[channel].expect("it is its turn"));
        let kind = if channel == 0 { in_vc0? } else { PRIORITIES + channel - 1 };
        retry.waiting[kind].pop_front()
    }

    /// F-123, F-143: restart-from-retry leaves now, or link-request. `committed`: with what was to be the
    /// start of this packet.
    fn restart(&mut self, d: usize, p: usize, committed: Option<Transmission>) {
        let now = self.now;
        let Port { retry, wire, link, propagation, peer, .. } = &mut self.devices[d].ports[p];
        let retry = retry.as_mut().expect("the receiver looks after the buffers");
        retry.restart_due = false;
        if let Some(sending) = retry.on_wire.take_if(|sending| sending.end == now) {
            link.cancelled += 1;
            retry.cut = Some(sending.packet);
            self.void.insert(sending.number);
        }
        let awaits_answer = retry.error_stopped;
        let (symbol, peer, arrives) = (wire.symbol(), *peer, now + wire.symbol() + *propagation);
        if let Some(committed) = committed {
            self.take_back(d, p, committed);
        }
        self.post_to(d, peer, arrives + self.pipeline(peer.0), class::SYMBOL, Event::Restart);
        if !awaits_answer {
            self.post(d, p, now + symbol, class::SYMBOL, Event::Resume);
        }
        self.go_on(d, p);
    }

    /// F-123: a packet that was to begin now does not.
    fn take_back(&mut self, d: usize, p: usize, committed: Transmission) {
        let port = &mut self.devices[d].ports[p];
        port.stats.packet_ps -= committed.end - self.now;
        let next = self.now + port.wire.symbol();
        port.wire.take_back(next);
        self.void.insert(committed.number);
        self.move_symbols(d, p, committed.end, next);
    }

    /// F-145: link-response arrives at the sender.
    pub fn responded(&mut self, d: usize, p: usize, accepted: u64) {
        let port = &mut self.devices[d].ports[p];
        port.link.recoveries += 1;
        let mut retry = port.retry.take().expect("the receiver looks after the buffers");
        retry.accept_more(accepted - retry.acknowledged);
        retry.error_stopped = false;
        let cut = retry.cut.take();
        for name in retry.unaccepted.drain(..).rev() {
            let priority = self.packets[name].priority;
            if !port.is_continuous(priority) || cut == Some(name) {
                retry.waiting[port.kind(priority)].push_front(name);
            }
        }
        port.retry = Some(retry);
        self.tell_after_recovery(d, p);
        self.resume(d, p);
        self.ask_wire(d, p);
    }

    /// F-125, F-145: restart-from-retry has left, or link-response has come.
    pub fn resume(&mut self, d: usize, p: usize) {
        self.retry(d, p).silent = false;
        if self.is_switch(d) {
            self.try_output(d, p);
        } else {
            self.create_all(d);
            self.turn(d);
        }
    }

    /// F-124: a packet begins that was committed before; `instead`: at the place of another one.
    fn begin_again(&mut self, d: usize, p: usize, name: Name, instead: Option<Transmission>) {
        let now = self.now;
        let switch = self.is_switch(d);
        let pipeline = self.pipeline(self.devices[d].ports[p].peer.0);
        self.transmissions += 1;
        let number = self.transmissions;
        let Port { retry, wire, stats, link, propagation, peer, sending, .. } = &mut self.devices[d].ports[p];
        let (peer, propagation) = (*peer, *propagation);
        let packet = &mut self.packets[name];
        let mut moved = None;
        let length = if let Some(other) = instead {
            stats.packet_ps -= other.end - now;
            self.void.insert(other.number);
            let length = wire.replace(packet.wire.into());
            moved = Some((other.end, now + length));
            length
        } else {
            let (start, length) = wire.commit(now, packet.wire.into());
            assert_eq!(start, now, "it begins where its symbol is");
            length
        };
        stats.packet_ps += length;
        // F-103.
        let again = std::mem::replace(&mut packet.begun, true);
        let (start, parts) = packet.sent.expect("it was committed");
        packet.parts = parts;
        packet.parts[Cause::Recovery] += now - start;
        if !switch && !again {
            packet.parts.source = now - packet.created;
        }
        packet.sent = Some((now, packet.parts));
        packet.parts[Cause::Serialization] += length;
        packet.parts[Cause::Propagation] += propagation;
        packet.parts[Cause::Pipeline] += pipeline;
        link.repeated += u64::from(again);
        link.repeated_ps += if again { length } else { 0 };
        let retry = retry.as_mut().expect("the receiver looks after the buffers");
        retry.unaccepted.push_back(name);
        let end = now + length;
        retry.on_wire = Some(Transmission { packet: name, number, start: now, end, again });
        // The output is busy as long as one of them.
        let lasts = sending.as_ref().is_none_or(|sending| sending.end < end);
        if lasts {
            let none = super::Sending { number, read: None, end };
            let sending = sending.get_or_insert(none);
            (sending.number, sending.end) = (number, end);
        }
        let (id, parts, until) = (packet.id, packet.parts, end + propagation + pipeline);
        self.records.push(Record::Started { at: now, device: d as u32, port: p as u8, id, until, parts });
        let arrival = Event::Arrival { packet: name, behind: 0, number };
        self.post_to(d, peer, until, class::ARRIVAL, arrival);
        if lasts {
            self.post(d, p, end, class::DONE, Event::Done { number });
        }
        if let Some((from, to)) = moved {
            self.move_symbols(d, p, from, to);
        }
    }

    /// After a symbol: the next repetition gets its turn.
    fn go_on(&mut self, d: usize, p: usize) {
        let now = self.now;
        let port = &mut self.devices[d].ports[p];
        let retry = port.retry.as_mut().expect("the receiver looks after the buffers");
        retry.left = now + 1;
        let waiting: usize = retry.waiting.iter().map(VecDeque::len).sum();
        if !retry.error_stopped
            && waiting == usize::from(retry.committed.is_some())
            && let Some(since) = retry.recovering.take()
        {
            port.link.recovery_ps += now - since;
        }
        self.ask_wire(d, p);
    }

    /// F-124: when the next packet could begin that waits to be sent again.
    pub fn ask_wire(&mut self, d: usize, p: usize) {
        let now = self.now;
        let port = &self.devices[d].ports[p];
        let Some(retry) = &port.retry else { return };
        let goes_on = !retry.restart_due && !retry.error_stopped;
        if retry.is_recovering() && goes_on && retry.committed.is_none() {
            let polled = self.key >= sim_core::EventKey::floor(sim_core::Time(now), class::POLL);
            let at = port.wire.next_start(now + u64::from(polled));
            self.post(d, p, at, class::POLL, Event::Begin);
        }
    }
}
