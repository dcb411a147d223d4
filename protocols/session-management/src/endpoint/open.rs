//! OPEN, ACCEPT, REFUSE, and what the conduit algorithm wants done.

use super::event::{Ending, Event, OpenFailure, StreamRef, Suspicion};
use super::memory::Reply;
use super::requests::{Detail, RequestKey};
use super::stream::Stream;
use super::timers::Timer;
use super::{Endpoint, MICROSECOND};
use crate::attribute::{Attribute, Attributes, Conveyance, HeaderFormat, Kind, List};
use crate::conduit::{Accepted, Actions, Algorithm, Pairing, Record, Side};
use crate::control::{Accept, Open, Refuse};
use crate::message::{Class, Message};
use crate::negotiate::{Refusal, Surprise, Terms, judge_accept, judge_open, optional_end};
use crate::protocol::{ETHERNET, NO_STREAM, Protocol, StreamClass};
use crate::register::Contact;
use crate::status::{Status, StatusBits};
use alloc::vec::Vec;

/// The OPEN that is being answered.
struct AtHand<'a> {
    number: u32,
    octets: &'a [u8],
    open: Open<'a>,
    agreed: Attributes,
}

/// The endpoint, as a pairing sees it.
pub(super) struct Context<'a, 'b> {
    endpoint: &'a mut Endpoint,
    now: u64,
    peer: u16,
    protocol: Protocol,
    at_hand: Option<&'a AtHand<'b>>,
    /// The ACCEPT or REFUSE that was sent.
    reply: Option<Vec<u8>>,
}

impl Actions for Context<'_, '_> {
    fn open(&mut self, receive: u16) -> u32 {
        let (attributes, intermediate) = self.endpoint.attributes_for(self.peer, self.protocol);
        self.endpoint.send_open(self.now, self.peer, self.protocol, &attributes, Some(receive), intermediate)
    }

    fn allocate(&mut self) -> Option<u16> {
        self.endpoint.allocate(self.peer, self.protocol)
    }

    fn accept(&mut self, transmit: u16, stream: u16) {
        if let Some(at_hand) = self.at_hand {
            self.reply = self.endpoint.accept(self.peer, self.protocol, at_hand, stream, Some(transmit));
        }
    }

    fn refuse(&mut self) {
        if let Some(at_hand) = self.at_hand {
            self.reply = Some(self.endpoint.refuse(self.peer, &at_hand.open, Refusal::State));
        }
    }

    fn close(&mut self, side: Side, stream: u16) {
        let stream = StreamRef { peer: self.peer, side, stream };
        self.endpoint.close_stream(self.now, stream, Ending::Local);
    }

    fn forget(&mut self, side: Side, stream: u16) {
        let stream = StreamRef { peer: self.peer, side, stream };
        self.endpoint.drop_stream(self.now, stream, Ending::Peer, true);
    }

    fn abandon(&mut self, number: u32) {
        self.endpoint.finish(self.peer, RequestKey::Open(number));
    }

    fn query(&mut self, stream: u16) {
        let stream = StreamRef::transmit(self.peer, stream);
        self.endpoint.send_query(self.now, stream);
    }

    fn is_dead(&self, stream: u16) -> bool {
        let stream = StreamRef::transmit(self.peer, stream);
        self.endpoint.memory.closed(stream).is_some_and(|closed| closed.by_peer)
    }

    fn complete(&mut self, record: Record) {
        self.endpoint.timers.cancel(Timer::Watch(self.peer, self.protocol));
        self.endpoint.event(Event::ConduitOpen {
            peer: self.peer,
            protocol: self.protocol,
            receive: record.receive,
            transmit: record.transmit,
        });
    }

    fn ended(&mut self, _: Record) {
        self.endpoint.timers.cancel(Timer::Watch(self.peer, self.protocol));
        self.endpoint.event(Event::ConduitEnded { peer: self.peer, protocol: self.protocol });
    }
}

impl Endpoint {
    /// Runs the conduit algorithm for one (peer, protocol).
    pub(super) fn with_pairing<T>(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Protocol,
        run: impl FnOnce(&mut Pairing, &mut Context<'_, '_>) -> T,
    ) -> T {
        self.with_pairing_answering(now, peer, protocol, None, run).0
    }

    fn with_pairing_answering<T>(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Protocol,
        at_hand: Option<&AtHand<'_>>,
        run: impl FnOnce(&mut Pairing, &mut Context<'_, '_>) -> T,
    ) -> (T, Option<Vec<u8>>) {
        let mut pairing = self.pairings.remove(&(peer, protocol)).unwrap_or_default();
        let mut context = Context { endpoint: self, now, peer, protocol, at_hand, reply: None };
        let result = run(&mut pairing, &mut context);
        // OPENs that could not be sent have failed at once.
        let algorithm = context.endpoint.config.algorithm;
        while let Some(number) = context.endpoint.stillborn.pop() {
            pairing.handle_failure(algorithm, number, &mut context);
        }
        let reply = context.reply;
        if !pairing.records().is_empty() {
            self.pairings.insert((peer, protocol), pairing);
        }
        (result, reply)
    }

    /// Sends an OPEN; `conduit`: second field of CONDUIT_STREAM. Returns its number.
    pub(super) fn send_open(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Protocol,
        attributes: &Attributes,
        conduit: Option<u16>,
        intermediate: bool,
    ) -> u32 {
        while self.requests.contains_key(&(peer, RequestKey::Open(self.next_number))) {
            self.next_number = self.next_number.wrapping_add(1);
        }
        let number = self.next_number;
        self.next_number = number.wrapping_add(1);
        let mut list = attributes.clone();
        if let Some(receive) = conduit {
            let at = optional_end(protocol.id(), list.list());
            list.insert(at, Attribute::conduit_stream(NO_STREAM, receive));
        }
        list.insert(0, Attribute::message_number(number));
        let open = Open { source: self.config.node, protocol: protocol.id(), attributes: list.list() };
        let conduit = conduit.is_some();
        let max = self.contact(peer).map_or(usize::MAX, Contact::max_message);
        match Message::Open(open).to_vec() {
            Ok(octets) if octets.len() <= max => {
                let detail = Detail::Open { protocol, conduit, intermediate };
                let periods = self.periods(peer);
                self.submit(now, peer, RequestKey::Open(number), octets.into(), detail, periods);
            }
            _ => {
                self.event(Event::OpenFailed { peer, protocol, number, why: OpenFailure::TooLong });
                if conduit {
                    self.stillborn.push(number);
                }
            }
        }
        number
    }

    /// Sends REFUSE with all attributes; if that is too long, with the number alone.
    pub(super) fn refuse(&mut self, peer: u16, open: &Open<'_>, why: Refusal) -> Vec<u8> {
        self.event(Event::Refused { peer, why });
        if why.is_suspect() {
            self.suspect(peer, Suspicion::NonCompliance);
        }
        let (destination, protocol) = (self.config.node, open.protocol);
        let full = Message::Refuse(Refuse { destination, protocol, attributes: open.attributes });
        let number = [Attribute::message_number(open.number()).0];
        let bare = Message::Refuse(Refuse { destination, protocol, attributes: List(&number) });
        let max = self.contact(peer).map_or(usize::MAX, Contact::max_message);
        let message = if full.octets() <= max { full } else { bare };
        let octets = message.to_vec().unwrap_or_default();
        self.transmit(peer, Class::Low, octets.clone());
        octets
    }

    /// Opens a receive stream and sends ACCEPT for it. `transmit`: first field of CONDUIT_STREAM.
    fn accept(
        &mut self,
        peer: u16,
        protocol: Protocol,
        at_hand: &AtHand<'_>,
        stream: u16,
        transmit: Option<u16>,
    ) -> Option<Vec<u8>> {
        let offer = self.offer(protocol)?;
        let (cos, mut header) = (offer.cos, offer.header);
        let id = protocol.id();
        if let HeaderFormat::Data2(_) = header {
            header = self.free_specific(peer).map_or(HeaderFormat::Data, HeaderFormat::Data2);
        }
        let mac = self.mac();
        let mut list: Attributes = at_hand
            .agreed
            .list()
            .kinds(id)
            .map(|(kind, attribute)| match (kind, transmit, mac) {
                (Kind::ConduitStream, Some(transmit), _) => Attribute::conduit_stream(transmit, stream),
                (Kind::MacAddress, _, Some(mac)) => mac,
                _ => attribute,
            })
            .collect();
        // Whoever supposes nothing takes it that data goes where management messages go.
        let named = list.list().find(id, Kind::Conveyance).is_some();
        if let Some(mailbox) = self.own_mailbox().filter(|_| !named && header != HeaderFormat::Data3) {
            let at = optional_end(id, list.list());
            list.insert(at, Attribute::conveyance(Conveyance::mailbox(mailbox)));
        }
        if header != HeaderFormat::Data {
            let at = optional_end(id, list.list());
            list.insert(at, Attribute::data_header_format(header));
        }
        let message = Message::Accept(Accept {
            destination: self.config.node,
            cos,
            stream,
            protocol: id,
            attributes: list.list(),
        });
        let octets = message.to_vec().ok()?;
        let (retry, timeout) = self.periods(peer);
        // What the peer obeys is what it has read here.
        let terms = Terms::of(id, list.list(), retry, timeout, self.config.xon_timeout);
        let stream = StreamRef::receive(peer, stream);
        if let HeaderFormat::Data2(specific) = header {
            self.specifics.insert((peer, specific), stream.stream);
        }
        self.streams.insert(stream, Stream::new(protocol, cos, terms, list));
        self.transmit(peer, Class::High, octets.clone());
        self.event(Event::Opened { stream, protocol, number: at_hand.number });
        if id == ETHERNET {
            self.ethernet_peers.insert(peer);
        }
        Some(octets)
    }

    /// The mailbox in which this node takes data, if not wherever it takes management messages.
    fn own_mailbox(&self) -> Option<u8> {
        let contacts = [Some(self.config.contact), self.config.second];
        let elsewhere =
            |mailbox: &u8| contacts.iter().flatten().any(|own| *own != Contact::Mailbox(*mailbox));
        self.config.data_mailbox.filter(elsewhere)
    }

    /// An Implementation-Specific value that no open DATA2 stream from `peer` has.
    fn free_specific(&mut self, peer: u16) -> Option<u8> {
        let first = self.peer_mut(peer).next_specific;
        let free = (0..=u8::MAX)
            .map(|step| first.wrapping_add(step))
            .find(|specific| !self.specifics.contains_key(&(peer, *specific)))?;
        self.peer_mut(peer).next_specific = free.wrapping_add(1);
        Some(free)
    }

    /// A well-formed OPEN from its true sender. `octets` is the message without padding.
    pub(super) fn handle_open(&mut self, now: u64, peer: u16, open: Open<'_>, octets: &[u8]) {
        let number = open.number();
        let conduit = open.attributes.conduit_stream();
        let printed = conduit.is_some() && self.config.algorithm != Algorithm::Corrected;
        let life = 2 * u64::from(self.periods(peer).1) * MICROSECOND;
        if !printed && let Some(cached) = self.memory.reply(peer, number) {
            cached.until = now.saturating_add(life);
            if *cached.open == *octets {
                let reply = cached.reply.to_vec();
                let class = Class::from_octets(&reply);
                return self.transmit(peer, class, reply);
            }
            self.refuse(peer, &open, Refusal::NumberReused);
            return;
        }
        let (protocol, agreed) = match self.judge(&open) {
            Ok(found) => found,
            Err(why) => {
                self.refuse(peer, &open, why);
                return;
            }
        };
        let at_hand = AtHand { number, octets, open, agreed };
        let reply = match conduit {
            Some(fields) => self.open_conduit(now, peer, protocol, &at_hand, fields),
            None => self.open_plain(now, peer, protocol, &at_hand),
        };
        if let Some(reply) = reply.filter(|_| !printed) {
            let until = now.saturating_add(life);
            let (open, reply) = (at_hand.octets.into(), reply.into());
            self.memory.keep_reply(peer, number, Reply { open, reply, until });
        }
    }

    /// The protocol of an OPEN, and the list for its ACCEPT.
    fn judge(&self, open: &Open<'_>) -> Result<(Protocol, Attributes), Refusal> {
        let Some(protocol) = open.attributes.protocol(open.protocol) else {
            crate::negotiate::check_open(open.protocol, open.attributes)?;
            return Err(Refusal::Protocol);
        };
        let Some(offer) = self.offer(protocol) else {
            crate::negotiate::check_open(open.protocol, open.attributes)?;
            return Err(Refusal::Protocol);
        };
        let mailbox = self.config.data_mailbox.or(self.config.mailbox());
        Ok((protocol, judge_open(offer, open.attributes, mailbox)?))
    }

    fn open_plain(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Protocol,
        at_hand: &AtHand<'_>,
    ) -> Option<Vec<u8>> {
        let reuse = self.offer(protocol).is_some_and(|offer| offer.reuse);
        let range = StreamRef::receive(peer, 0)..=StreamRef::receive(peer, NO_STREAM);
        let existing: Vec<StreamRef> = self
            .streams
            .range(range)
            .filter(|(_, open)| open.protocol == protocol)
            .map(|(&s, _)| s)
            .collect();
        if let (true, Some(&stream)) = (reuse, existing.first()) {
            let open = &self.streams[&stream];
            let (cos, mut list) = (open.cos, open.attributes.clone());
            list = list
                .list()
                .iter()
                .map(|old| {
                    let is_number = old.kind(protocol.id(), None) == Kind::MessageNumber;
                    if is_number { Attribute::message_number(at_hand.number) } else { old }
                })
                .collect();
            let accept = Message::Accept(Accept {
                destination: self.config.node,
                cos,
                stream: stream.stream,
                protocol: protocol.id(),
                attributes: list.list(),
            });
            let octets = accept.to_vec().ok()?;
            self.transmit(peer, Class::High, octets.clone());
            self.say_functional(stream, cos);
            return Some(octets);
        }
        let Some(stream) = self.allocate(peer, protocol) else {
            // A StreamID may come free before the repetition: it is to get the same answer.
            return Some(self.refuse(peer, &at_hand.open, Refusal::State));
        };
        let reply = self.accept(peer, protocol, at_hand, stream, None);
        // The peer may have started anew: does it still have the older ones?
        for old in existing {
            if !self.in_conduit(old, protocol) {
                self.schedule_check(now, old);
            }
        }
        reply
    }

    fn in_conduit(&self, stream: StreamRef, protocol: Protocol) -> bool {
        let records = self.records(stream.peer, protocol);
        records.iter().any(|record| record.receive == stream.stream)
    }

    /// The stream of an ACCEPT is not a new one (§3.8.3).
    fn say_functional(&mut self, stream: StreamRef, cos: u8) {
        let status = Message::Status(Status {
            cos,
            source: self.source_of(stream),
            stream: stream.stream,
            mailbox: self.config.mailbox().unwrap_or(0),
            command: 0x03,
            version: crate::message::VERSION,
            bits: StatusBits::FUNCTIONAL,
            data: &[],
        });
        self.send(stream.peer, &status);
    }

    /// Whether a message with these fields of CONDUIT_STREAM needs a record more than there may be.
    fn exceeds_records(&self, peer: u16, protocol: Protocol, (transmit, receive): (u16, u16)) -> bool {
        let algorithm = self.config.algorithm;
        let needs = match self.pairings.get(&(peer, protocol)) {
            Some(pairing) => pairing.needs_record(algorithm, transmit, receive),
            None => true,
        };
        needs && self.records(peer, protocol).len() >= self.config.max_records
    }

    fn open_conduit(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Protocol,
        at_hand: &AtHand<'_>,
        (transmit, receive): (u16, u16),
    ) -> Option<Vec<u8>> {
        if self.exceeds_records(peer, protocol, (transmit, receive)) {
            self.counters.dropped += 1;
            self.event(Event::ConduitLimit { peer, protocol });
            return None;
        }
        let algorithm = self.config.algorithm;
        let run = |pairing: &mut Pairing, actions: &mut Context<'_, '_>| {
            pairing.handle_open(algorithm, transmit, receive, actions);
        };
        self.with_pairing_answering(now, peer, protocol, Some(at_hand), run).1
    }

    /// A well-formed ACCEPT from its true sender.
    pub(super) fn handle_accept(&mut self, now: u64, peer: u16, accept: Accept<'_>) {
        let number = accept.attributes.message_number().unwrap_or_default();
        let key = RequestKey::Open(number);
        let printed = self.config.algorithm != Algorithm::Corrected;
        let open = self.requests.get(&(peer, key)).map(|request| (request.detail, request.attributes()));
        let Some((Detail::Open { protocol, conduit, .. }, open)) = open else {
            let before = self.memory.answered(peer, number);
            let known = before.or_else(|| accept.attributes.protocol(accept.protocol));
            match (accept.attributes.conduit_stream(), known) {
                // The printed algorithm does not look at the number.
                (Some(fields), Some(protocol)) if printed && self.offer(protocol).is_some() => {
                    match self.usable(protocol, &Attributes::new(), &accept) {
                        Ok(agreed) => {
                            self.pair_accept(now, peer, protocol, number, &accept, fields, agreed);
                        }
                        Err(_) => self.counters.dropped += 1,
                    }
                }
                _ if before.is_some() => self.counters.dropped += 1,
                _ => {
                    let stream = StreamRef::transmit(peer, accept.stream);
                    self.send_close(now, stream, accept.cos, self.periods(peer));
                }
            }
            return;
        };
        self.answered(now, peer, number, protocol);
        match self.usable(protocol, &open, &accept) {
            Ok(agreed) => {
                let absent = (NO_STREAM, accept.stream);
                let fields = accept.attributes.conduit_stream().unwrap_or(absent);
                if conduit {
                    self.pair_accept(now, peer, protocol, number, &accept, fields, agreed);
                } else {
                    self.add_outbound(peer, protocol, number, &accept, agreed);
                }
            }
            Err(why) => {
                let stream = StreamRef::transmit(peer, accept.stream);
                self.open_failed(now, peer, protocol, number, conduit, OpenFailure::Unusable(why));
                self.send_close(now, stream, accept.cos, self.periods(peer));
            }
        }
    }

    /// An own OPEN is answered: its request ends, its number is remembered.
    fn answered(&mut self, now: u64, peer: u16, number: u32, protocol: Protocol) {
        self.finish(peer, RequestKey::Open(number));
        let life = 2 * u64::from(self.periods(peer).1) * MICROSECOND;
        self.memory.keep_answered(peer, number, protocol, now.saturating_add(life));
    }

    fn usable(
        &self,
        protocol: Protocol,
        open: &Attributes,
        accept: &Accept<'_>,
    ) -> Result<Attributes, Surprise> {
        let offer = self.offer(protocol).ok_or(Surprise::Protocol)?;
        let identity = accept.attributes.protocol(accept.protocol);
        let contradicts = identity.is_some_and(|identity| identity != protocol);
        if accept.protocol != protocol.id() || contradicts {
            return Err(Surprise::Protocol);
        }
        if StreamClass::of(accept.stream) != StreamClass::Application && !offer.vendor_streams {
            return Err(Surprise::Protocol);
        }
        let agreed = judge_accept(offer, open.list(), accept.attributes)?;
        let header = Terms::of(protocol.id(), agreed.list(), 0, 0, 0).header;
        if header == HeaderFormat::Data3 && !self.config.type9_data {
            return Err(Surprise::Conveyance);
        }
        Ok(agreed)
    }

    #[expect(clippy::too_many_arguments, reason = "an ACCEPT with what was found out about it")]
    fn pair_accept(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Protocol,
        number: u32,
        accept: &Accept<'_>,
        fields: (u16, u16),
        agreed: Attributes,
    ) {
        let (algorithm, stream) = (self.config.algorithm, accept.stream);
        if algorithm != Algorithm::Corrected && self.exceeds_records(peer, protocol, fields) {
            self.counters.dropped += 1;
            return self.event(Event::ConduitLimit { peer, protocol });
        }
        // The stream first: a tear-down that follows closes it.
        let known = self.streams.contains_key(&StreamRef::transmit(peer, stream));
        let accepted = self.with_pairing(now, peer, protocol, |pairing, actions| {
            pairing.handle_accept(algorithm, number, stream, fields, actions)
        });
        match accepted {
            Accepted::Used if !known => self.add_outbound(peer, protocol, number, accept, agreed),
            Accepted::Used => {}
            Accepted::Closed => {
                let why = OpenFailure::Superseded;
                self.event(Event::OpenFailed { peer, protocol, number, why });
            }
        }
        let waiting = self.records(peer, protocol).first().is_some_and(Record::awaits_open);
        if algorithm == Algorithm::Corrected && waiting {
            let period = u64::from(self.periods(peer).1) * MICROSECOND;
            self.timers.set(Timer::Watch(peer, protocol), now.saturating_add(period));
        }
    }

    fn add_outbound(
        &mut self,
        peer: u16,
        protocol: Protocol,
        number: u32,
        accept: &Accept<'_>,
        agreed: Attributes,
    ) {
        let stream = StreamRef::transmit(peer, accept.stream);
        self.memory.reopen(stream);
        if !self.streams.contains_key(&stream) {
            let (retry, timeout) = self.periods(peer);
            let terms = Terms::of(protocol.id(), agreed.list(), retry, timeout, self.xon_period(peer));
            self.streams.insert(stream, Stream::new(protocol, accept.cos, terms, agreed));
        }
        if protocol.id() == ETHERNET {
            self.ethernet_peers.insert(peer);
        }
        self.event(Event::Opened { stream, protocol, number });
    }

    /// A well-formed REFUSE from its true sender.
    pub(super) fn handle_refuse(&mut self, now: u64, peer: u16, refuse: Refuse<'_>) {
        let number = refuse.attributes.message_number().unwrap_or_default();
        self.fail_open(now, peer, number, OpenFailure::Refused);
    }

    /// The peer will not answer an OPEN with ACCEPT. Returns whether there was one.
    pub(super) fn fail_open(&mut self, now: u64, peer: u16, number: u32, why: OpenFailure) -> bool {
        let detail = self.requests.get(&(peer, RequestKey::Open(number))).map(|request| request.detail);
        let Some(Detail::Open { protocol, conduit, intermediate }) = detail else {
            self.counters.dropped += 1;
            return false;
        };
        self.answered(now, peer, number, protocol);
        if intermediate && why == OpenFailure::Refused {
            self.peer_mut(peer).ends_only.push(protocol);
        }
        self.open_failed(now, peer, protocol, number, conduit, why);
        true
    }

    /// The return OPEN of the peer has not come.
    pub(super) fn watch_due(&mut self, now: u64, peer: u16, protocol: Protocol) {
        let first = self.records(peer, protocol).first().copied();
        if let Some(number) = first.and_then(|record| record.own.number()) {
            self.with_pairing(now, peer, protocol, |pairing, actions| pairing.handle_watch(number, actions));
        }
    }
}
