//! Flow control by the receiver, F-120 to F-126: what it has no room for it refuses, and the sender sends it
//! again.

use super::wire::{Due, Function};
use super::{Event, Name, Port, World, class};
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
    /// F-122: what has to begin, or begin again; a packet that is committed as well.
    waiting: [VecDeque<Name>; PRIORITIES],
    /// The packet that is committed and has not begun.
    committed: Option<Transmission>,
    /// The last one that began, and the time of its end.
    on_wire: Option<Transmission>,
    /// restart-from-retry has to leave; up to the end of its symbol nothing may follow.
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
    pub fn new([w0, w1, w2]: [u8; 3]) -> Retry {
        Retry {
            needed: [w0.into(), w1.into(), w2.into(), 1],
            stopped: false,
            unaccepted: VecDeque::new(),
            waiting: Default::default(),
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

    /// F-125: the ackIDs and the state of the output let a new packet of this priority go.
    pub fn may_send(&self, priority: usize, window: i64) -> bool {
        let from = if self.is_recovering() { priority } else { 0 };
        let ahead: usize = self.waiting[from..].iter().map(VecDeque::len).sum();
        let sent = self.unaccepted.len() as i64;
        if self.is_recovering() {
            !self.silent && ahead == 0 && sent < window
        } else {
            sent + (ahead as i64) < window
        }
    }

    pub fn accepted(&mut self, packets: i64) {
        self.unaccepted.drain(..packets as usize);
    }

    /// The packet that begins next.
    fn first(&mut self) -> Option<&mut VecDeque<Name>> {
        self.waiting.iter_mut().rev().find(|queue| !queue.is_empty())
    }
}

impl World<'_> {
    /// F-120: a packet has passed the pipeline. Whether it is not taken.
    pub fn refuses(&mut self, d: usize, p: usize, name: Name) -> bool {
        let (now, priority) = (self.now, self.packets[name].priority);
        let port = &mut self.devices[d].ports[p];
        let Some(retry) = &mut port.retry else { return false };
        if retry.stopped || port.buffers - port.occupied >= retry.needed[priority] {
            return retry.stopped;
        }
        retry.stopped = true;
        port.link.retries += 1;
        let Due { begins, rides } = port.wire.due(Function::Status, now);
        *(if rides { &mut port.stats.status_riding } else { &mut port.stats.status_standalone }) += 1;
        let (peer, arrives) = (port.peer, begins + port.wire.symbol() + port.propagation);
        self.post_to(d, peer, arrives, class::SYMBOL, Event::Retry);
        true
    }

    /// F-123: restart-from-retry has passed the pipeline.
    pub fn restarted(&mut self, d: usize, p: usize) {
        self.retry(d, p).stopped = false;
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
        let priority = self.packets[packet].priority;
        let retry = self.retry(d, o);
        retry.waiting[priority].push_back(packet);
        retry.committed = Some(Transmission { packet, number, start, end, again: false });
        self.post(d, o, start, class::POLL, Event::Begin);
    }

    /// F-122: packet-retry arrives at the sender.
    pub fn retried(&mut self, d: usize, p: usize) {
        if self.port(d, p).waits_for_credit && !self.is_switch(d) {
            self.create_all(d);
        }
        let now = self.now;
        let Port { retry, wire, stats, link, .. } = &mut self.devices[d].ports[p];
        let retry = retry.as_mut().expect("the receiver looks after the buffers");
        for name in retry.unaccepted.drain(..).rev() {
            retry.waiting[self.packets[name].priority].push_front(name);
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
            let moves = matches!(entry.event, Event::Status { .. } | Event::Retry);
            if moves && (entry.device, entry.port) == peer && entry.key.time().0 >= from + way {
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
        if retry.restart_due {
            if port.wire.next_symbol(now) == Some(now) {
                self.restart(d, p, committed);
            }
            return;
        }
        if let Some(committed) = committed {
            let first = retry.first().and_then(VecDeque::pop_front).expect("it waits itself");
            if first == committed.packet {
                retry.unaccepted.push_back(first);
                retry.on_wire = Some(committed);
                self.packets[first].begun = true;
            } else {
                self.begin_again(d, p, first, Some(committed));
            }
        } else if retry.committed.is_none() && next == now && (retry.unaccepted.len() as i64) < window {
            let Some(queue) = retry.first() else { return };
            let first = queue.pop_front().expect("it is not empty");
            self.begin_again(d, p, first, None);
        }
        self.go_on(d, p);
    }

    /// F-123: restart-from-retry leaves now. `committed`: with what was to be the start of this packet.
    fn restart(&mut self, d: usize, p: usize, committed: Option<Transmission>) {
        let now = self.now;
        let Port { retry, wire, stats, link, propagation, peer, .. } = &mut self.devices[d].ports[p];
        let retry = retry.as_mut().expect("the receiver looks after the buffers");
        retry.restart_due = false;
        if let Some(sending) = retry.on_wire.take_if(|sending| sending.end == now) {
            link.cancelled += 1;
            self.void.insert(sending.number);
        }
        let (symbol, peer, arrives) = (wire.symbol(), *peer, now + wire.symbol() + *propagation);
        if let Some(committed) = committed {
            stats.packet_ps -= committed.end - now;
            wire.take_back(now + symbol);
            self.void.insert(committed.number);
            self.move_symbols(d, p, committed.end, now + symbol);
        }
        self.post_to(d, peer, arrives + self.pipeline(peer.0), class::SYMBOL, Event::Restart);
        self.post(d, p, now + symbol, class::SYMBOL, Event::Resume);
        self.go_on(d, p);
    }

    /// F-125: restart-from-retry has left.
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
        let arrival = Event::Arrival { packet: name, behind: 0, number };
        self.post_to(d, peer, end + propagation + pipeline, class::ARRIVAL, arrival);
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
        if waiting == usize::from(retry.committed.is_some())
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
        if retry.is_recovering() && !retry.restart_due && retry.committed.is_none() {
            let polled = self.key >= sim_core::EventKey::floor(sim_core::Time(now), class::POLL);
            let at = port.wire.next_start(now + u64::from(polled));
            self.post(d, p, at, class::POLL, Event::Begin);
        }
    }
}
