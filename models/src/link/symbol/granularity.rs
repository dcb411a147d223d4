//! From packet granularity to symbol granularity and back, while the link works.
//!
//! A link that may change its granularity starts in packet granularity. What its ports would need for the
//! change is noted as it happens (`special::WATCHED`): the packets committed, and the places of symbols on
//! the wire. When an error strikes, or a moment before a scheduled fault, both ends become what they would be
//! by then if the link had always run in symbol granularity: the state of a [`LinkPort`] follows from credit,
//! records and wire. The link goes back when both ends are clean and quiet.
//!
//! *Both ends change at one instant*, each out of what both know. Nobody in the fabric learns anything by
//! that: it is another way to write down what is the case. So [`Links::enter`], [`Links::try_leave`] and
//! [`Links::stay`] see both ends, and nothing else here does.
//!
//! *Nothing that was posted is revoked.* Arrivals, deliveries and wakes on the way keep their keys; in symbol
//! granularity they are taken for what they would be there.

use super::{Air, End, Flying, Held, STRIKE};
use crate::event::{Cx, LinkStep, Payload, class};
use crate::ids::PortId;
use crate::link::port::{CreditRecord, Port, special};
use crate::link::symbol::Flight;
use crate::link::{Links, mail};
use crate::observe::Build;
use lp_serial::control_symbol::{ControlSymbol, Stype0, Stype1};
use lp_serial::cost::SymbolSize;
use lp_serial::link::{FlowControl, Handover, LinkPort, PacketMeta, Unsent};
use sim_core::{Event, EventKey, EventList};

/// A packet committed in packet granularity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logged {
    packet: u32,
    meta: PacketMeta,
    flight: Flight,
    until: u64,
}

impl End {
    /// In packet granularity: whether a symbol is on its way that would be an event in symbol granularity.
    fn speaks(&self, now: u64, way: u64) -> bool {
        self.places.last().is_some_and(|&place| place + way > now)
    }

    /// The output side: packets that are outstanding, `begun` of them on the wire or beyond it. What the link
    /// port has to know of these.
    fn take_over(
        &mut self,
        key: EventKey,
        own: &[Logged],
        begun: usize,
        next_ack_id: u8,
    ) -> Vec<(u32, PacketMeta, u64)> {
        let mut outstanding = Vec::with_capacity(begun);
        self.held.clear();
        self.troubled_since = None;
        (self.on_wire, self.committed) = (None, None);
        for (n, &Logged { packet, meta, flight, until }) in own.iter().enumerate() {
            let serial = self.serial;
            self.serial = serial.wrapping_add(1);
            let sent = n < begun;
            let (start, stored) = (flight.start, flight.stored);
            self.held.push(Held { serial, packet, start, stored, sent, again: false, unsettled: false });
            if sent {
                outstanding.push((serial, meta, flight.start));
                self.on_wire = Some((serial, until)).filter(|_| until > key.time().0);
            } else {
                self.committed = Some((serial, flight.start));
                self.shown = self.committed;
            }
            if flight.arrival > key {
                let ack_id = next_ack_id.wrapping_sub(begun.saturating_sub(n) as u8);
                let ack_id = ack_id & self.link.config().form.parameter_max();
                self.air.push_back(Air { ack_id, ..Air::new(flight.arrival, serial, meta) });
            }
        }
        outstanding
    }

    /// A symbol that has left is on its way.
    fn fly(&mut self, key: EventKey, start: u64, stype0: Stype0) {
        let form = self.link.config().form;
        let symbol = ControlSymbol::new(form, stype0, Stype1::Nop).expect("every field is within its width");
        let (starts, ends, control) = (None, None, None);
        self.flying.push_back(Flying { key, start, symbol, starts, ends, damaged: false, control });
    }

    /// This end alone has no reason to stay in symbol granularity.
    fn is_quiet(&self, now: u64) -> bool {
        let silent = self.held.is_empty()
            && self.committed.is_none()
            && self.on_wire.is_none()
            && self.message.is_none()
            && !self.is_busy()
            && self.controls.is_empty()
            && self.unjudged.is_empty()
            && self.places.range(now..).next().is_none();
        silent
            && !(self.suspect || self.judged || self.told_again || self.withholds)
            && self.idle_errors == 0
            && self.down_since.is_none()
            && now > self.stay_until
            && self.errors.is_over(now)
            && self.link.flow() == FlowControl::Transmitter
            && self.link.handover().is_some_and(|state| state.outstanding.is_empty())
    }
}

impl<P: Build> Links<P> {
    /// A packet was committed in packet granularity to a wire that is watched.
    pub(in crate::link) fn note_packet(&mut self, now: u64, port: PortId, packet: u32, flight: Flight) {
        let record = &self.packets[packet];
        let meta = PacketMeta::new(record.priority, record.wire);
        let link = &self.ports[port.index()].link;
        let window = usize::from(self.timings[link.timing as usize].ack_window);
        let last = link.wire.last_packet();
        let until = last.expect("a packet was committed").1;
        let end = self.end(port);
        end.note_place(now, flight.start);
        end.note_place(now, until);
        end.before = std::mem::replace(&mut end.last, last);
        end.stats.packets += 1;
        end.log.push_back(Logged { packet, meta, flight, until });
        if end.log.len() > window {
            end.log.pop_front();
        }
    }

    /// Links that change their granularity for scheduled faults do so a moment before.
    pub(super) fn bootstrap_changes(&mut self, schedule: &mut impl FnMut(Event<Payload>)) {
        for fault in &self.config.clone().faults {
            let (device, port) = self.config.links[fault.link as usize].a;
            let port = self.nodes.port((device, port));
            if self.ends[port.index()].as_ref().is_some_and(|end| end.changes) {
                let key = self.key(device, fault.at.0.saturating_sub(1), STRIKE);
                schedule(Event { key, target: port.into(), payload: LinkStep::Enter.pack() });
            }
        }
    }

    /// Whether symbols are on their way on links in packet granularity.
    pub fn symbols_under_way(&self, now: u64) -> bool {
        self.ends.iter().enumerate().any(|(port, end)| {
            let link = &self.ports[port].link;
            let timing = &self.timings[link.timing as usize];
            let way = timing.wire.symbol + timing.propagation;
            link.special() & special::WATCHED != 0 && end.as_ref().is_some_and(|end| end.speaks(now, way))
        })
    }

    /// Records that `port` has not seen yet of what its `partner` says.
    fn take_records(&mut self, [port, partner]: [PortId; 2]) -> Vec<CreditRecord> {
        let tx = &mut self.ports[port.index()].tx;
        let mut records = Vec::with_capacity(tx.pending.into());
        while tx.pending > 0 {
            records.push(tx.pop_record(&mut self.cold, port));
        }
        let woken = tx.wake_posted;
        self.end(partner).woken = records.first().filter(|_| woken).map(|record| record.key);
        records
    }

    /// Packets of `port` that are outstanding, oldest first.
    fn take_log(&mut self, port: PortId) -> Vec<Logged> {
        let outstanding = usize::from(self.ports[port.index()].tx.outstanding);
        let mut log = std::mem::take(&mut self.end(port).log);
        let acknowledged = log.len().checked_sub(outstanding).expect("what is outstanding was noted");
        log.drain(..acknowledged);
        log.into()
    }

    /// The end of a link at `port`, out of what is known of it: `own` packets outstanding, those of its
    /// `partner`, and the records that the partner has not seen of what this end says.
    fn resume<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        [port, partner]: [PortId; 2],
        own: &[Logged],
        records: &[CreditRecord],
        partners: &[Logged],
    ) {
        let now = cx.now().0;
        let Port { link, rx, .. } = &self.ports[port.index()];
        let timing = &self.timings[link.timing as usize];
        let (symbol, way) = (timing.wire.symbol, timing.wire.symbol + timing.propagation);
        let (peer, device) = (link.peer, link.device);
        let in_use = u16::from(rx.in_use());
        let advertised = u16::from(rx.advertised);
        let told_to = |port: PortId| {
            let tx = &self.ports[port.index()].tx;
            (tx.free + tx.outstanding as i16) as u16
        };
        let (hears, says) = (told_to(port), told_to(partner));
        let sent = |port: PortId| self.ports[port.index()].tx.packets_sent as u8;
        let (own_sent, partner_sent) = (sent(port), sent(partner));
        let end = self.end(port);
        let form = end.link.config().form;
        let mask = form.parameter_max();
        let begun = own.partition_point(|logged| logged.flight.start <= now);
        let next_ack_id = own_sent.wrapping_sub((own.len() - begun) as u8) & mask;
        let outstanding = end.take_over(cx.key(), own, begun, next_ack_id);
        let unjudged = partners.iter().filter(|logged| logged.flight.arrival > cx.key()).count();
        let expected_ack_id = partner_sent.wrapping_sub(unjudged as u8) & mask;
        // Functions that have left are flying, the others are due.
        let start_of = |record: &CreditRecord| record.key.time().0 - way;
        let (left, due) = records.split_at(records.partition_point(|record| start_of(record) <= now));
        let report = |free: u16| SymbolSize::from(form).report_free(free.into()) as u8;
        let accepted = records.iter().filter(|record| record.acknowledged != 0).count();
        let mut ack_id = expected_ack_id.wrapping_sub(accepted as u8) & mask;
        end.told = report(says);
        for record in left {
            let buf_status = report(record.buffers.into());
            end.told = buf_status;
            let mut stype0 = Stype0::Status { ack_id_status: expected_ack_id, buf_status };
            if record.acknowledged != 0 {
                stype0 = Stype0::PacketAccepted { ack_id, buf_status };
                ack_id = ack_id.wrapping_add(1) & mask;
            }
            end.fly(record.key, start_of(record), stype0);
            if end.woken != Some(record.key) {
                mail::send_symbol(cx, peer, record.key);
            }
        }
        end.due = due.iter().map(|record| record.key).collect();
        let unsent = |record: &CreditRecord| {
            let free = record.buffers.into();
            if record.acknowledged == 0 { Unsent::Status { free } } else { Unsent::Accepted { free } }
        };
        let state = Handover {
            flow: FlowControl::Transmitter,
            next_ack_id,
            outstanding,
            transmitting: end.on_wire.is_some(),
            told: hears,
            expected_ack_id,
            occupied: in_use,
            advertised,
            arriving: false,
            unsent: due.iter().map(unsent).collect(),
            channels: Vec::new(),
        };
        let settings = end.link.config().clone();
        end.link = LinkPort::resume(settings, state).expect("the port has been set up like this before");
        if let Some((serial, _)) = end.committed {
            let meta = own[own.len() - 1].meta;
            end.link.submit(serial, meta).expect("the queue has no limit");
        }
        // The symbol on the wire can still be damaged, whatever it says.
        let last = end.places.range(..=now).next_back().copied();
        end.places = end.places.split_off(&(now + 1));
        (end.polled, end.posted) = (now + 1, u64::MAX);
        if let Some(at) = last.filter(|&at| at + symbol > now) {
            let serial_of = |what: fn(&Logged) -> u64| {
                let n = own.iter().position(|logged| what(logged) == at);
                n.map(|n| end.held[n].serial)
            };
            let (starts, ends) = (serial_of(|logged| logged.flight.start), serial_of(|logged| logged.until));
            if end.flying.back().is_none_or(|flying| flying.start != at) {
                let says = Stype0::Status { ack_id_status: expected_ack_id, buf_status: end.told };
                let key = self.key(device, at + way, class::SYMBOL);
                self.end(port).fly(key, at, says);
                mail::send_symbol(cx, peer, key);
            }
            let flying = self.end(port).flying.back_mut().expect("a symbol is on the wire");
            (flying.starts, flying.ends) = (starts, ends);
        }
    }

    /// The link of `port` goes back to packet granularity if nothing happens on it that only symbol
    /// granularity knows.
    pub fn try_leave(&mut self, now: u64, port: PortId) {
        let end = self.end(port);
        if !end.changes || !end.is_quiet(now) {
            return;
        }
        let ports = self.ends_of(port);
        let [own, partner] = ports.map(|port| self.ends[port.index()].as_ref().expect("both are symbolic"));
        let agree = |a: &End, b: &End| a.link.credit(0).last_told() == b.link.buffers(0).advertised();
        if !partner.is_quiet(now) || !agree(own, partner) || !agree(partner, own) {
            return;
        }
        for port in ports {
            let state = &mut self.ports[port.index()];
            state.run_specially(special::WATCHED, special::SYMBOLS);
            let sent = state.tx.packets_sent as u8;
            let end = self.end(port);
            // In packet granularity ackIDs go on by this count.
            debug_assert_eq!(sent & end.link.config().form.parameter_max(), end.link.next_ack_id());
            end.log.clear();
        }
    }

    /// The link between `ports` runs in symbol granularity from now on; all symbols of this instant have
    /// left, and what was due has been taken note of.
    pub fn enter<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, ports: [PortId; 2]) {
        for port in ports {
            self.consume(cx, port, cx.key());
        }
        let ways = [ports, [ports[1], ports[0]]];
        let records = ways.map(|way| self.take_records(way));
        let entered = ways.map(|[port, partner]| {
            self.post_arrivals(cx, partner);
            self.take_log(port)
        });
        for (side, way) in ways.into_iter().enumerate() {
            self.ports[way[0].index()].run_specially(special::SYMBOLS, special::WATCHED);
            // What this end says is what the other one has records of.
            self.resume(cx, way, &entered[side], &records[1 - side], &entered[1 - side]);
        }
    }

    /// The link of `port` has changed its granularity.
    pub fn entered<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        if self.nodes.is_switch(port) && self.ports[port.index()].tx.done > cx.key() {
            self.post_done(cx, port);
        }
        self.count(port, false);
        self.sync(cx.now().0, port);
        self.arrange(cx, port);
    }

    /// Whether the link of `port` runs in packet granularity and will have to change.
    pub fn is_watched(&self, port: PortId) -> bool {
        self.ports[port.index()].link.special() & special::WATCHED != 0
    }

    /// The link of `port` does not go back before the next instant.
    pub fn stay(&mut self, now: u64, port: PortId) {
        for port in self.ends_of(port) {
            self.end(port).stay_until = now + 1;
        }
    }
}
