//! REQUEST, OPEN, CLOSE and STATUS queries on their way: repeated octet for octet until answered or given up
//! (§3.7.1).

use super::event::{Ending, Event, OpenFailure, StreamRef, Suspicion};
use super::timers::Timer;
use super::{Endpoint, MICROSECOND};
use crate::attribute::Attributes;
use crate::conduit::Side;
use crate::control::Open;
use crate::message::{Class, Message, Mode};
use crate::protocol::Protocol;
use crate::status::{Close, Status, StatusBits};
use alloc::boxed::Box;

/// Which request of a peer.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum RequestKey {
    /// REQUEST: one for each peer, because ADVERTISE has no number.
    Advertise,
    /// OPEN with its number.
    Open(u32),
    /// CLOSE of a stream.
    Close(Side, u16),
    /// Query about a stream.
    Query(Side, u16),
}

/// What an answer needs to know.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Detail {
    /// REQUEST for this ProtoID, of all its attributes or of some.
    Advertise { protocol: u16, whole: bool },
    /// OPEN.
    Open { protocol: Protocol, conduit: bool, intermediate: bool },
    /// CLOSE or query.
    Stream,
}

/// A request that is not answered yet.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Request {
    pub(super) octets: Box<[u8]>,
    pub(super) detail: Detail,
    retry: u64,
    next: u64,
    pub(super) deadline: u64,
    /// Waits for the contact of the peer; its time has not begun.
    parked: bool,
}

impl Request {
    /// The attributes of an OPEN.
    pub(super) fn attributes(&self) -> Attributes {
        match Message::parse(&self.octets, Mode::NonValidation) {
            Ok(Message::Open(Open { attributes, .. })) => attributes.into(),
            _ => Attributes::new(),
        }
    }
}

impl Endpoint {
    /// Sends a request for the first time, or as soon as the contact of the peer is known. Periods in
    /// microseconds. A request with this key that is under way stays as it is.
    pub(super) fn submit(
        &mut self,
        now: u64,
        peer: u16,
        key: RequestKey,
        octets: Box<[u8]>,
        detail: Detail,
        (retry, timeout): (u32, u32),
    ) {
        if self.requests.contains_key(&(peer, key)) {
            return;
        }
        let (retry, timeout) = (u64::from(retry) * MICROSECOND, u64::from(timeout) * MICROSECOND);
        let parked = self.contact(peer).is_none();
        let request = Request { octets, detail, retry, next: retry, deadline: timeout, parked };
        self.requests.insert((peer, key), request);
        if parked {
            self.peer_mut(peer).parked.push(key);
            self.ask_registers(peer);
        } else {
            self.start(now, peer, key);
        }
    }

    /// The first transmission.
    pub(super) fn start(&mut self, now: u64, peer: u16, key: RequestKey) {
        let (retry, timeout) = self.periods(peer);
        let Some(request) = self.requests.get_mut(&(peer, key)) else { return };
        if request.parked && matches!(key, RequestKey::Advertise | RequestKey::Open(_)) {
            // The registers that gave the contact give the periods too.
            request.retry = u64::from(retry) * MICROSECOND;
            request.deadline = u64::from(timeout) * MICROSECOND;
        }
        request.parked = false;
        request.next = now.saturating_add(request.retry);
        request.deadline = now.saturating_add(request.deadline);
        let (at, octets) = (request.next.min(request.deadline), request.octets.to_vec());
        self.timers.set(Timer::Request(peer, key), at);
        self.transmit(peer, Self::class_of(key), octets);
    }

    const fn class_of(key: RequestKey) -> Class {
        match key {
            RequestKey::Advertise | RequestKey::Open(_) => Class::Low,
            RequestKey::Close(..) | RequestKey::Query(..) => Class::High,
        }
    }

    /// The request is answered or given up.
    pub(super) fn finish(&mut self, peer: u16, key: RequestKey) -> Option<Request> {
        let request = self.requests.remove(&(peer, key))?;
        self.timers.cancel(Timer::Request(peer, key));
        if request.parked {
            self.peer_mut(peer).parked.retain(|parked| *parked != key);
        }
        Some(request)
    }

    /// The timer of a request: another transmission strictly before the deadline, or the end.
    pub(super) fn request_due(&mut self, now: u64, peer: u16, key: RequestKey) {
        let Some(request) = self.requests.get_mut(&(peer, key)) else { return };
        if now < request.deadline {
            // Who comes late does not make up what it missed.
            let next = request.next.saturating_add(request.retry);
            request.next = if next > now { next } else { now.saturating_add(request.retry.max(1)) };
            let (at, octets) = (request.next.min(request.deadline), request.octets.to_vec());
            self.timers.set(Timer::Request(peer, key), at);
            self.counters.retransmissions += 1;
            self.transmit(peer, Self::class_of(key), octets);
            return;
        }
        let Some(request) = self.requests.remove(&(peer, key)) else { return };
        self.suspect(peer, Suspicion::Timeout);
        match (key, request.detail) {
            (RequestKey::Open(number), Detail::Open { protocol, conduit, .. }) => {
                self.open_failed(now, peer, protocol, number, conduit, OpenFailure::Timeout);
            }
            (RequestKey::Query(side, stream), _) => {
                if !self.stream_gone(now, StreamRef { peer, side, stream }, Ending::NoAnswer) {
                    // A record may know the stream from the peer's OPEN alone.
                    self.for_pairings(now, peer, |pairing, actions| pairing.end(side, stream, actions));
                }
            }
            (RequestKey::Close(..), _) => {}
            _ => self.event(Event::RequestFailed { peer }),
        }
    }

    /// An OPEN came to nothing.
    pub(super) fn open_failed(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Protocol,
        number: u32,
        conduit: bool,
        why: OpenFailure,
    ) {
        self.event(Event::OpenFailed { peer, protocol, number, why });
        if conduit {
            let algorithm = self.config.algorithm;
            self.with_pairing(now, peer, protocol, |pairing, actions| {
                pairing.handle_failure(algorithm, number, actions);
            });
        }
    }

    /// Asks the peer to close a stream that this node has closed.
    pub(super) fn send_close(&mut self, now: u64, stream: StreamRef, cos: u8, periods: (u32, u32)) {
        let (source, destination) = match stream.side {
            Side::Receive => (stream.peer, self.config.node),
            Side::Transmit => (self.config.node, stream.peer),
        };
        let close = Message::Close(Close { source, destination, cos, stream: stream.stream });
        let key = RequestKey::Close(stream.side, stream.stream);
        if let Ok(octets) = close.to_vec() {
            self.submit(now, stream.peer, key, octets.into(), Detail::Stream, periods);
        }
    }

    /// Asks the peer about a stream.
    pub(super) fn send_query(&mut self, now: u64, stream: StreamRef) {
        let (cos, periods, bits) = match self.streams.get(&stream) {
            Some(open) => (open.cos, (open.terms.retry, open.terms.timeout), open.bits(stream.side)),
            None => (0, self.periods(stream.peer), StatusBits::default()),
        };
        let query = Message::Status(Status {
            cos,
            source: self.source_of(stream),
            stream: stream.stream,
            mailbox: self.config.mailbox().unwrap_or(0),
            command: 0,
            version: 0,
            bits: bits.with(StatusBits::REQUEST),
            data: &[],
        });
        let key = RequestKey::Query(stream.side, stream.stream);
        if let Ok(octets) = query.to_vec() {
            self.submit(now, stream.peer, key, octets.into(), Detail::Stream, periods);
        }
    }
}
