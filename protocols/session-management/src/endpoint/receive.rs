//! Messages that come in: which rule of the reaction table applies (§3.8.5), and the messages other than
//! OPEN, ACCEPT, REFUSE and data.

use super::event::{Advertised, Ending, Event, OpenFailure, StreamRef, Suspicion};
use super::requests::{Detail, RequestKey};
use super::timers::Timer;
use super::{Endpoint, MICROSECOND};
use crate::attribute::{Attributes, Kind, List};
use crate::conduit::Side;
use crate::control::{Advertise, Answer, Blocks, MAX_COUNT, Open, ProtocolList, Request};
use crate::message::{Command, Fault, Message, Mode, Reaction, VERSION};
use crate::negotiate::{Offer, Refusal};
use crate::protocol::{ALL_PROTOCOLS, BROADCAST_STREAM, ETHERNET, NO_STREAM, VENDOR_DEFINED};
use crate::register::Contact;
use crate::status::{Close, Status, StatusBits, UserDefined};
use alloc::vec::Vec;

/// Octets of a command that a report echoes.
const MAX_ECHO: usize = 2040;
/// Attributes of a stream that a STATUS reply holds.
const MAX_STATUS_ATTRIBUTES: usize = 254;

impl Endpoint {
    /// A message from `source`, as the transport names it: a control message or DATA, DATA1, DATA2.
    pub fn handle_message(&mut self, now: u64, source: u16, octets: &[u8]) {
        self.advance(now);
        self.counters.received += 1;
        match Message::parse(octets, self.config.mode).and_then(|message| checked(message, source)) {
            Ok(message) => {
                self.clear_timeout(source);
                self.dispatch(now, source, message, octets);
            }
            Err(fault) => self.malformed(source, fault, octets),
        }
    }

    fn dispatch(&mut self, now: u64, peer: u16, message: Message<'_>, octets: &[u8]) {
        match message {
            Message::Request(request) => self.handle_request(peer, request, octets),
            Message::Advertise(advertise) => self.handle_advertise(peer, advertise),
            Message::Open(open) => self.handle_open(now, peer, open, &octets[..message.octets()]),
            Message::Accept(accept) => self.handle_accept(now, peer, accept),
            Message::Refuse(refuse) => self.handle_refuse(now, peer, refuse),
            Message::Data(data) => self.handle_data(now, peer, data, octets),
            Message::FlowControl(message) => self.handle_flow_control(now, peer, message),
            Message::Close(close) => self.handle_close(now, peer, close),
            Message::Status(status) => self.handle_status(now, peer, status),
            Message::UserDefined(message) => self.handle_user_defined(peer, message, octets),
        }
    }

    fn clear_timeout(&mut self, peer: u16) {
        if self.suspicion(peer) == Some(Suspicion::Timeout) {
            self.clear_suspicion(peer);
        }
    }

    /// A malformed message: the reaction of its fault, and nothing else.
    pub(super) fn malformed(&mut self, peer: u16, fault: Fault, octets: &[u8]) {
        self.counters.malformed += 1;
        self.event(Event::Malformed { peer, fault });
        if fault.is_suspect() {
            self.suspect(peer, Suspicion::NonCompliance);
        }
        match fault.reaction() {
            Reaction::Drop => self.counters.dropped += 1,
            Reaction::CommandUnknown => self.report(peer, octets),
            Reaction::Refuse => match Open::parse_lists(octets) {
                Ok(open) => {
                    self.refuse(peer, &open, Refusal::Reserved);
                }
                Err(_) => self.report(peer, octets),
            },
        }
    }

    /// STATUS with Command Unknown that echoes a command.
    fn report(&mut self, peer: u16, octets: &[u8]) {
        let echo = &octets[..octets.len().min(MAX_ECHO)];
        let mut data: Vec<[u8; 8]> = Vec::with_capacity(echo.len().div_ceil(8));
        for chunk in echo.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            data.push(word);
        }
        let status = Message::Status(Status {
            cos: 0,
            source: self.config.node,
            stream: NO_STREAM,
            mailbox: self.config.mailbox().unwrap_or(0),
            command: octets.first().copied().unwrap_or_default(),
            version: octets.get(1).copied().unwrap_or_default(),
            bits: StatusBits::COMMAND_UNKNOWN,
            data: &data,
        });
        self.send(peer, &status);
    }

    /// STATUS about one stream, in answer to `command`.
    pub(super) fn say(
        &mut self,
        peer: u16,
        command: Command,
        (cos, source, stream): (u8, u16, u16),
        bits: StatusBits,
    ) {
        let status = Message::Status(Status {
            cos,
            source,
            stream,
            mailbox: self.config.mailbox().unwrap_or(0),
            command: command.code(),
            version: VERSION,
            bits,
            data: &[],
        });
        self.send(peer, &status);
    }

    // REQUEST and ADVERTISE.

    fn handle_request(&mut self, peer: u16, request: Request<'_>, octets: &[u8]) {
        if !self.config.advertises {
            return self.report(peer, octets);
        }
        let max = self.contact(peer).map_or(usize::MAX, Contact::max_message);
        let room = (max - 8) & !7;
        let (source, destination) = (self.config.node, peer);
        if request.protocol == ALL_PROTOCOLS {
            let mut list: Vec<[u8; 2]> = Vec::new();
            for offer in &self.config.offers {
                let id = offer.protocol.id().to_be_bytes();
                if !list.contains(&id) && list.len() < MAX_COUNT && 2 * (list.len() + 1) <= room {
                    list.push(id);
                }
            }
            let answer = Answer::Protocols(ProtocolList(&list));
            return self.send(peer, &Message::Advertise(Advertise { source, destination, answer }));
        }
        let (mut body, mut count, mut cut) = (Vec::new(), 0, false);
        for offer in self.config.offers.iter().filter(|offer| selects(request, offer)) {
            let before = body.len();
            append_block(&mut body, offer, request.attributes);
            if cut || body.len().next_multiple_of(8) > room {
                body.truncate(before);
                cut = true;
            } else {
                count += 1;
            }
        }
        if count == 0
            && !cut
            && self.config.offers.iter().any(|offer| offer.protocol.id() == request.protocol)
        {
            // Only 0x0101 gets here: it is supported, but none of its protocols is the one asked for.
            body.extend_from_slice(&request.protocol.to_be_bytes());
            body.extend_from_slice(&[0; 2]);
            count = 1;
        }
        let answer = match Blocks::new(&body, count) {
            Ok(blocks) if count > 0 || cut => Answer::Blocks(blocks),
            _ => Answer::Unsupported,
        };
        self.send(peer, &Message::Advertise(Advertise { source, destination, answer }));
    }

    fn handle_advertise(&mut self, peer: u16, advertise: Advertise<'_>) {
        let pending = self.requests.get(&(peer, RequestKey::Advertise)).map(|request| request.detail);
        let Some(Detail::Advertise { protocol, whole }) = pending else {
            self.counters.dropped += 1;
            return;
        };
        let all = protocol == ALL_PROTOCOLS;
        let answer = match advertise.answer {
            Answer::Unsupported if all => Advertised::Protocols(Vec::new()),
            Answer::Unsupported => Advertised::Unsupported,
            Answer::Protocols(list) if all || list.iter().eq([protocol]) => {
                Advertised::Protocols(list.iter().collect())
            }
            Answer::Blocks(blocks)
                if blocks.iter().next().is_some_and(|first| first.protocol == protocol) =>
            {
                Advertised::Blocks(
                    blocks.iter().map(|block| (block.protocol, Attributes::from(block.attributes))).collect(),
                )
            }
            _ => {
                self.counters.dropped += 1;
                return;
            }
        };
        self.finish(peer, RequestKey::Advertise);
        if whole {
            self.learn(peer, protocol, &answer);
        }
        let ethernet = match &answer {
            Advertised::Unsupported => false,
            Advertised::Protocols(list) => list.contains(&ETHERNET),
            Advertised::Blocks(blocks) => blocks.iter().any(|&(id, _)| id == ETHERNET),
        };
        if ethernet {
            self.ethernet_peers.insert(peer);
        }
        self.event(Event::Advertised { peer, answer });
    }

    /// Keeps in mind what the peer says of its protocols, for OPENs to it.
    fn learn(&mut self, peer: u16, asked: u16, answer: &Advertised) {
        let peer = self.peer_mut(peer);
        match answer {
            // A ProtoID that stands for many vendors' protocols, or for all, is not one that a peer lacks.
            Advertised::Unsupported => {
                if asked != VENDOR_DEFINED && !peer.unsupported.contains(&asked) {
                    peer.unsupported.push(asked);
                }
                peer.advertised.retain(|(protocol, _)| protocol.id() != asked);
            }
            Advertised::Protocols(list) => peer.unsupported.retain(|id| !list.contains(id)),
            Advertised::Blocks(blocks) => {
                for (id, attributes) in blocks {
                    peer.unsupported.retain(|unsupported| unsupported != id);
                    let Some(protocol) = attributes.list().protocol(*id) else { continue };
                    peer.advertised.retain(|(known, _)| *known != protocol);
                    peer.advertised.push((protocol, attributes.clone()));
                }
            }
        }
    }

    // CLOSE and STATUS.

    fn handle_close(&mut self, now: u64, peer: u16, close: Close) {
        let own = self.config.node;
        let side = match (close.source, close.destination) {
            (source, destination) if source == own && destination == peer => Some(Side::Transmit),
            (source, destination) if source == peer && destination == own => Some(Side::Receive),
            _ => None,
        };
        let named = side.map(|side| StreamRef { peer, side, stream: close.stream });
        let named = named.filter(|named| named.stream != BROADCAST_STREAM);
        let protocol = named.and_then(|named| self.streams.get(&named)).map(|open| open.protocol);
        // A repeated CLOSE gets the answer of the first one.
        let before = named.and_then(|named| self.memory.closed(named));
        let had = protocol.is_some() || before.is_some_and(|before| before.by_peer && before.was_open);
        let bits = if had { StatusBits::CLOSED } else { StatusBits::NO_SUCH_STREAM };
        self.say(peer, Command::Close, (close.cos, close.source, close.stream), bits);
        let Some(named) = named else { return };
        let StreamRef { side, stream, .. } = named;
        // A conduit may name a stream that is not open yet: its record knows it from the peer's OPEN.
        let protocols: Vec<_> = match protocol {
            Some(protocol) => [protocol].into(),
            None => {
                let range =
                    (peer, crate::protocol::Protocol::LEAST)..=(peer, crate::protocol::Protocol::GREATEST);
                self.pairings.range(range).map(|(&(_, protocol), _)| protocol).collect()
            }
        };
        let in_conduit = protocols.into_iter().any(|protocol| {
            self.with_pairing(now, peer, protocol, |pairing, actions| {
                pairing.handle_close(side, stream, actions)
            })
        });
        if !in_conduit {
            self.drop_stream(now, named, Ending::Peer, true);
        }
        if side == Side::Transmit {
            let timeout = u64::from(self.periods(peer).1) * MICROSECOND;
            self.memory.keep_closed(now, named, timeout, (true, false));
        }
    }

    fn handle_status(&mut self, now: u64, peer: u16, status: Status<'_>) {
        let bits = status.bits;
        if bits.has(StatusBits::COMMAND_UNKNOWN) && !bits.has(StatusBits::REQUEST) {
            self.handle_report(now, peer, status);
            return;
        }
        let side = match status.source {
            source if source == self.config.node => Side::Transmit,
            source if source == peer => Side::Receive,
            _ => {
                self.counters.dropped += 1;
                return;
            }
        };
        let stream = StreamRef { peer, side, stream: status.stream };
        if bits.has(StatusBits::REQUEST) {
            return self.answer_query(stream, status.cos);
        }
        self.event(Event::Status { peer, command: status.command, stream: status.stream, bits });
        let closed = bits.has(StatusBits::NO_SUCH_STREAM);
        if status.command == Command::Close.code() && closed {
            self.finish(peer, RequestKey::Close(side, status.stream));
        }
        if status.command == Command::Status.code() {
            self.finish(peer, RequestKey::Query(side, status.stream));
        }
        if closed {
            self.handle_gone(now, stream, bits);
        } else if bits.has(StatusBits::FUNCTIONAL) && side == Side::Transmit {
            self.for_pairings(now, peer, |pairing, _| {
                pairing.handle_functional(status.stream);
                false
            });
        }
    }

    /// The peer says that a stream is not open.
    fn handle_gone(&mut self, now: u64, stream: StreamRef, bits: StatusBits) {
        let StreamRef { peer, side, stream: id } = stream;
        let open = self.streams.get(&stream).map(|open| open.protocol);
        self.drop_stream(now, stream, Ending::Unknown, true);
        self.finish(peer, RequestKey::Query(side, id));
        match open {
            Some(protocol) => {
                self.with_pairing(now, peer, protocol, |pairing, actions| {
                    pairing.handle_close(side, id, actions);
                });
            }
            // A record may know the stream from the peer's OPEN alone.
            None if side == Side::Transmit => {
                self.for_pairings(now, peer, |pairing, actions| pairing.end(side, id, actions));
            }
            None => {}
        }
        if open.is_some() && side == Side::Transmit && bits.has(StatusBits::STREAM_UNKNOWN) {
            self.check_others(now, peer);
        }
    }

    /// Runs something for the conduits of a peer, protocol by protocol, until it says that it was found.
    pub(super) fn for_pairings(
        &mut self,
        now: u64,
        peer: u16,
        run: impl Fn(&mut crate::conduit::Pairing, &mut super::open::Context<'_, '_>) -> bool,
    ) {
        let range = (peer, crate::protocol::Protocol::LEAST)..=(peer, crate::protocol::Protocol::GREATEST);
        let protocols: Vec<_> = self.pairings.range(range).map(|(&(_, protocol), _)| protocol).collect();
        for protocol in protocols {
            if self.with_pairing(now, peer, protocol, &run) {
                break;
            }
        }
    }

    fn answer_query(&mut self, stream: StreamRef, cos: u8) {
        let source = self.source_of(stream);
        let Some(open) = self.streams.get(&stream) else {
            let names = (cos, source, stream.stream);
            return self.say(stream.peer, Command::Status, names, StatusBits::NO_SUCH_STREAM);
        };
        let list = open.attributes.list();
        let list = &list.0[..list.len().min(MAX_STATUS_ATTRIBUTES)];
        let (id, count) = (open.protocol.id().to_be_bytes(), (list.len() as u16).to_be_bytes());
        let mut octets = Vec::with_capacity(8 * list.len() + 8);
        octets.extend_from_slice(&[id, count].concat());
        octets.extend_from_slice(list.as_flattened());
        octets.extend_from_slice(&[0; 4]);
        let status = Message::Status(Status {
            cos,
            source,
            stream: stream.stream,
            mailbox: self.config.mailbox().unwrap_or(0),
            command: Command::Status.code(),
            version: VERSION,
            bits: open.bits(stream.side),
            data: octets.as_chunks().0,
        });
        self.send(stream.peer, &status);
    }

    /// The peer did not understand a command of this node.
    fn handle_report(&mut self, now: u64, peer: u16, status: Status<'_>) {
        self.event(Event::Status { peer, command: status.command, stream: status.stream, bits: status.bits });
        let echo = status.data.as_flattened();
        match Command::from_code(status.command) {
            Some(Command::Request) if self.echoes(peer, RequestKey::Advertise, echo) => {
                self.finish(peer, RequestKey::Advertise);
                self.peer_mut(peer).mute = true;
                self.event(Event::RequestUnsupported { peer });
            }
            Some(Command::Open) => {
                let count = echo.get(8..).unwrap_or_default().as_chunks().0;
                if let Some(number) = List(count).message_number() {
                    self.fail_open(now, peer, number, OpenFailure::NotUnderstood);
                }
            }
            Some(Command::Close) => {
                let Ok(Message::Close(close)) = Message::parse(echo, Mode::NonValidation) else { return };
                let own = close.source == self.config.node;
                let side = if own { Side::Transmit } else { Side::Receive };
                if self.finish(peer, RequestKey::Close(side, close.stream)).is_some() {
                    self.suspect(peer, Suspicion::NonCompliance);
                }
            }
            _ => {}
        }
    }

    fn echoes(&self, peer: u16, key: RequestKey, echo: &[u8]) -> bool {
        self.requests.get(&(peer, key)).is_some_and(|request| echo.starts_with(&request.octets))
    }

    fn handle_user_defined(&mut self, peer: u16, message: UserDefined<'_>, octets: &[u8]) {
        if !self.config.user_commands.contains(&message.code()) {
            return self.report(peer, octets);
        }
        self.event(Event::UserDefined {
            peer,
            code: message.code(),
            cos: message.cos,
            stream: message.stream,
            octets: message.data.to_vec(),
        });
    }

    // Streams that may be gone (§3.8.3).

    fn check_others(&mut self, now: u64, peer: u16) {
        let first = StreamRef::receive(peer, 0);
        let last = StreamRef::transmit(peer, NO_STREAM);
        let others: Vec<StreamRef> = self.streams.range(first..=last).map(|(&stream, _)| stream).collect();
        for other in others {
            self.schedule_check(now, other);
        }
    }

    /// Asks about a stream when its turn comes.
    pub(super) fn schedule_check(&mut self, now: u64, stream: StreamRef) {
        let Some(interval) = self.config.check_interval else { return };
        let checks = &mut self.peer_mut(stream.peer).checks;
        if checks.contains(&stream) {
            return;
        }
        checks.push_back(stream);
        let timer = Timer::Check(stream.peer);
        if !self.timers.is_set(timer) {
            self.timers.set(timer, now.saturating_add(u64::from(interval) * MICROSECOND));
        }
    }

    pub(super) fn check_due(&mut self, now: u64, peer: u16) {
        let Some(interval) = self.config.check_interval else { return };
        let checks = &mut self.peer_mut(peer).checks;
        let next = checks.pop_front();
        if !checks.is_empty() {
            let at = now.saturating_add(u64::from(interval) * MICROSECOND);
            self.timers.set(Timer::Check(peer), at);
        }
        if let Some(stream) = next.filter(|stream| self.streams.contains_key(stream)) {
            self.send_query(now, stream);
        }
    }
}

/// A message that names its sender names the true one.
fn checked(message: Message<'_>, transport: u16) -> Result<Message<'_>, Fault> {
    let found = match message {
        Message::Request(request) => request.source,
        Message::Advertise(advertise) => advertise.source,
        Message::Open(open) => open.source,
        Message::Accept(accept) => accept.destination,
        Message::Refuse(refuse) => refuse.destination,
        Message::UserDefined(message) => message.source,
        Message::Data(data) => data.context().map_or(transport, |(_, _, source)| source),
        Message::FlowControl(_) | Message::Close(_) | Message::Status(_) => transport,
    };
    if found == transport {
        Ok(message)
    } else {
        Err(Fault::Sender { command: message.command(), found, transport })
    }
}

/// Whether an offer is what a REQUEST asks for: by ProtoID, and vendor's ones by the values in the filter.
fn selects(request: Request<'_>, offer: &Offer) -> bool {
    if offer.protocol.id() != request.protocol {
        return false;
    }
    let Some(own) = offer.protocol.vendor_protocol() else { return true };
    request.attributes.kinds(VENDOR_DEFINED).all(|(kind, attribute)| match kind {
        Kind::Vendor => attribute.value56() == own.vendor,
        Kind::ProtocolName => attribute.value56() == own.name,
        _ => true,
    })
}

/// The block of an offer, reduced to what a filter names. The identity of a vendor's protocol always stays.
fn append_block(body: &mut Vec<u8>, offer: &Offer, filter: List<'_>) {
    let id = offer.protocol.id();
    let narrow = filter.kinds(id).any(|(kind, _)| !is_identity(kind, id));
    let wanted = offer.advertise.list().kinds(id).filter(|&(kind, attribute)| {
        let all = filter.is_empty() || (id == VENDOR_DEFINED && !narrow);
        all || is_identity(kind, id) || filter.iter().any(|asked| asked.id() == attribute.id())
    });
    let wanted: Vec<[u8; 8]> = wanted.map(|(_, attribute)| attribute.0).collect();
    body.extend_from_slice(&id.to_be_bytes());
    body.extend_from_slice(&(wanted.len() as u16).to_be_bytes());
    body.extend_from_slice(wanted.as_flattened());
}

const fn is_identity(kind: Kind, protocol: u16) -> bool {
    protocol == VENDOR_DEFINED && matches!(kind, Kind::Vendor | Kind::ProtocolName)
}
