//! The logical port of an endpoint: the engines of `logical`, side by side. Hardware: it answers at once.

use super::data::{Data, Label, Trail};
use super::host::Host;
use super::protocol::{Conveyance, Outcome, Received, Token, part_of};
use super::{Order, Outgoing};
use crate::config::{AgentConfig, ProtocolConfig};
use crate::observe::probe::{Cause, Journey, Parts, ProtocolFact, TimeoutKind};
use crate::registers;
use logical::engine::io::requester::{self, Requester};
use logical::engine::io::responder::{Fault, Target, serve};
use logical::engine::{doorbell, message, stream};
use logical::wire::address::{Address, Span};
use logical::wire::maintenance::Maintenance;
use logical::wire::read::{Operation as ReadOperation, Read};
use logical::wire::response::{Response, Status};
use logical::wire::write::{Operation as WriteOperation, Write};
use logical::wire::{Body, Packet, Payload, Priority, Transport};
use lp_serial::cost::{AddressSize, IdSize};
use sim_core::{Time, prefetch};
use std::collections::{BTreeMap, VecDeque};

/// A packet that was delivered to the port.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// Id that it was sent to.
    pub destination: u32,
    /// Id of its sender.
    pub source: u32,
    pub priority: u8,
    /// From its creation to its last bit.
    pub way: Journey,
    pub body: Body<Data>,
    pub label: Label,
}

/// What became of the inputs.
#[derive(Debug)]
pub(super) enum Event {
    Outcome(Token, Outcome),
    Fact(u16, ProtocolFact),
    /// What was sent waits no longer; its outcome follows.
    Late(Token, TimeoutKind),
    /// The rest of something of this flow is waited for no longer.
    Missing(u16),
    /// A read or a write of this flow moved so many octets.
    Moved(u16, u32),
    /// A register was read or written.
    Accessed,
}

/// Transaction ids from here on are for register accesses, below for reads and writes.
const REGISTER_TIDS: u8 = 112;
/// Transaction ids from here on are for doorbells.
const DOORBELL_TIDS: u8 = 128;
/// Double-words of the memory that each flow has for reads and writes.
const WINDOW: u64 = 32;

#[derive(Debug)]
pub(super) struct Port {
    /// Which of the interfaces of its host it is.
    interface: u8,
    id: u32,
    device: u32,
    ids: IdSize,
    pub messages: message::Sender<Data>,
    inbox: message::Receiver<Data>,
    streams: stream::Sender<Data>,
    reassembly: stream::Receiver<Data>,
    doorbells_out: doorbell::Sender,
    doorbells_in: doorbell::Receiver,
    io: Requester<Data>,
    /// Register accesses have a requester and transaction ids of their own.
    registers: Requester<Data>,
    /// What became of them, by part of the agent.
    accesses: BTreeMap<usize, Accesses>,
    /// Doorbells under way; equal ones from one device cannot be told apart.
    rung: BTreeMap<(u32, u16), Label>,
    /// Reads and writes under way.
    asked: BTreeMap<Token, (Label, u32, Conveyance)>,
    /// Responses that leave at once.
    answers: VecDeque<Outgoing>,
    /// Something else than type 9 has been sent or received: only then the other engines are asked.
    mixed: bool,
    /// Packets of type 9 that wait for the link, and how many may: the next is made when one starts.
    pub streams_waiting: u32,
    stream_room: u32,
    /// Flow of register accesses.
    pub(super) register_flow: u16,
    /// Of each sender and lane, what ended here last, by its position among what that sent: it has arrived
    /// whole or is lost, and its sender may not know yet.
    over: BTreeMap<(u32, Lane), u32>,
    /// Somebody asks for that of PDUs, too: books that go message by message.
    is_asked_what_is_over: bool,
}

/// Where one sender has one message or PDU at a time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lane {
    /// A letter of a mailbox.
    Letter { mailbox: u8, letter: u8 },
    /// PDUs to this id, in this priority.
    Stream { destination: u32, priority: u8 },
}

/// Register accesses of a part.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Accesses {
    /// Requests sent, repetitions included.
    pub packets: u64,
    /// Accesses that were never answered, however often they were sent.
    pub unanswered: u64,
}

impl Port {
    /// The port of an interface of the agent's host, which has an id of its own.
    pub fn new(config: &AgentConfig, (interface, id): (u8, u32)) -> Self {
        let (timeout, retry_delay) = (config.response_timeout, config.retry_delay);
        // A receiver must be more patient than any sender. What it has of a message that failed at its sender
        // it keeps for so long (Part 8 section 2.3.2.2 has it notice by time, and Part 2 lets a segment be
        // known by its letter alone), so the letter rests as long before another message has it. That is
        // longer than it takes where the message has arrived all the same and only its answers were late:
        // nobody looks at those.
        let patience = timeout.saturating_mul(3);
        Port {
            interface,
            id,
            device: config.device,
            ids: config.ids,
            messages: message::Sender::new(message::SenderOptions {
                response_timeout: timeout,
                retry_delay,
                // And a way longer: who does not hear for so long has given up before the receiver does.
                patience: timeout.saturating_mul(2),
                linger: patience,
                ..message::SenderOptions::default()
            }),
            inbox: message::Receiver::new(message::ReceiverOptions {
                timeout: patience,
                ..message::ReceiverOptions::default()
            }),
            streams: stream::Sender::new(stream::SenderOptions {
                mtu: config.mtu,
                ..stream::SenderOptions::default()
            }),
            reassembly: stream::Receiver::new(stream::ReceiverOptions {
                mtu: config.mtu,
                timeout: Some(patience),
                ..stream::ReceiverOptions::default()
            }),
            doorbells_out: doorbell::Sender::new(doorbell::Options {
                first_tid: DOORBELL_TIDS,
                response_timeout: timeout,
                linger: patience,
                retry_delay,
                ..doorbell::Options::default()
            }),
            doorbells_in: doorbell::Receiver::new(1),
            io: Requester::new(requester::Options {
                last_tid: REGISTER_TIDS - 1,
                response_timeout: timeout,
                linger: patience,
                // Each destination has its own IDs: one that never answers leaves room for others.
                window: u8::MAX,
                ..requester::Options::default()
            }),
            registers: Requester::new(requester::Options {
                first_tid: REGISTER_TIDS,
                last_tid: DOORBELL_TIDS - 1,
                response_timeout: timeout,
                linger: patience,
                ..requester::Options::default()
            }),
            accesses: BTreeMap::new(),
            rung: BTreeMap::new(),
            asked: BTreeMap::new(),
            answers: VecDeque::new(),
            mixed: false,
            streams_waiting: 0,
            stream_room: config.stream_packets,
            register_flow: 0,
            over: BTreeMap::new(),
            is_asked_what_is_over: counts_alone(config),
        }
    }

    /// Asks for the lines that every packet of type 9 touches.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.mixed);
        prefetch(&self.streams);
        prefetch(&self.reassembly);
    }

    /// What became of the register accesses of a part.
    pub fn register_accesses(&self, part: usize) -> Accesses {
        self.accesses.get(&part).copied().unwrap_or_default()
    }

    /// What was sent and has not ended here, by the id that this port sends under; of doorbells nobody keeps
    /// a list.
    pub(super) fn unended(&self) -> impl Iterator<Item = (u32, &Label)> {
        let messages = self.messages.pending().map(|message| &message.payload.label);
        let streams = self.streams.pending().map(|pdu| &pdu.payload.label);
        let asked = self.asked.values().map(|(label, ..)| label);
        messages.chain(streams).chain(asked).map(|label| (self.id, label))
    }

    /// What has ended here, as far as its sender may not know: that, and its position among what it sent.
    pub(super) fn over(&self) -> impl Iterator<Item = (u32, u32)> {
        self.over.iter().map(|(&(source, _), &sequence)| (source, sequence))
    }

    /// What a sender had in a lane is over. Of a message everybody asks that: its sender has it until it is
    /// answered.
    fn ends(&mut self, source: u32, lane: Lane, sequence: u32) {
        if self.is_asked_what_is_over || matches!(lane, Lane::Letter { .. }) {
            self.over.insert((source, lane), sequence);
        }
    }

    /// Places of the host that messages in reassembly will need.
    pub(super) fn reserved(&self) -> usize {
        self.inbox.contexts() + self.reassembly.reassembling()
    }

    /// The host has done its part of an order. Contradictions are defects of the protocol (or the compiler).
    pub fn submit(&mut self, order: Order) {
        let Order { token, send } = order;
        let priority = Priority::new(send.priority, false).expect("priorities are 0 to 3");
        let destination = send.to;
        let payload = send.payload;
        self.mixed |= !matches!(send.conveyance, Conveyance::Stream { .. });
        let taken = match send.conveyance {
            Conveyance::Message { mailbox, segment, order } => self.messages.submit(message::Message {
                destination,
                mailbox,
                letter: None,
                priority,
                order,
                size: segment,
                payload,
                token,
            }),
            Conveyance::Stream { cos, stream_id } => {
                let flow = stream::Flow { vc: false, priority };
                self.streams.submit(stream::Pdu { destination, flow, cos, stream_id, payload, token })
            }
            Conveyance::Frame { .. } => unreachable!("frames do not pass the port of RapidIO"),
            Conveyance::Stripe { .. } => unreachable!("to each port its own are streams"),
            Conveyance::Doorbell { info } => {
                self.rung.insert((destination, info), payload.label);
                self.doorbells_out.submit(doorbell::Ring { destination, info, priority, token })
            }
            Conveyance::Read | Conveyance::Write | Conveyance::Register { .. } => {
                let label = payload.label.clone();
                let body = request(send.conveyance, payload);
                self.asked.insert(token, (label, destination, send.conveyance));
                let requester = match send.conveyance {
                    Conveyance::Register { .. } => &mut self.registers,
                    _ => &mut self.io,
                };
                body.and_then(|body| {
                    requester.submit(requester::Order { destination, priority, body, token })
                })
            }
        };
        taken.unwrap_or_else(|error| panic!("flow sends what no packet can carry: {error}"));
    }

    /// A packet of an agent was delivered. Other ports of its host need so many places.
    pub fn handle(
        &mut self,
        now: u64,
        (host, elsewhere): (&mut Host, usize),
        arrival: Arrival,
        out: &mut Vec<Event>,
    ) {
        let Arrival { destination, source, priority, way, body, label } = arrival;
        self.mixed |= !matches!(body, Body::Stream(_));
        let room = host.has_room(self.reserved() + elsewhere);
        let flow = way.flow;
        let own = Transport::new(
            Priority::new(priority, false).expect("packets have priorities 0 to 3"),
            self.ids,
            self.id,
            source,
        );
        let transport = own.expect("the compiler gave ids that fit");
        match body {
            Body::Message(segment) => {
                let target = segment.target();
                let (mailbox, size) = (segment.mailbox(), segment.size());
                let status = self.inbox.handle_segment(now, source, segment, room);
                if status == Status::Retry {
                    out.push(Event::Fact(flow, ProtocolFact::Retried));
                }
                self.answer(transport, flow, Body::Response(Response::Message { target, status }), None);
                while let Some(event) = self.inbox.poll_event() {
                    match event {
                        message::ReceiverEvent::Delivered { payload, .. } => {
                            let letter = target.letter();
                            self.ends(source, Lane::Letter { mailbox, letter }, payload.label.sequence);
                            let order = message::Order::Free;
                            let conveyance = Conveyance::Message { mailbox, segment: size, order };
                            let leg = self.leg(&payload.label, way, Cause::Protocol);
                            host.take_in(received(source, priority, conveyance, payload, leg));
                        }
                        message::ReceiverEvent::Rejected { .. }
                        | message::ReceiverEvent::Abandoned { .. } => {
                            out.push(Event::Fact(flow, ProtocolFact::Abandoned));
                        }
                    }
                }
            }
            Body::Stream(segment) => {
                let stream_flow = stream::Flow { vc: false, priority: transport.priority() };
                let sequence = segment.payload().label.sequence;
                self.reassembly.handle_segment(now, source, destination, stream_flow, segment, room);
                while let Some(event) = self.reassembly.poll_event() {
                    match event {
                        stream::ReceiverEvent::Delivered { cos, stream_id, payload, .. } => {
                            let conveyance = Conveyance::stream(cos, stream_id, self.interface);
                            let leg = self.leg(&payload.label, way, Cause::SourceQueue);
                            host.take_in(received(source, priority, conveyance, payload, leg));
                        }
                        stream::ReceiverEvent::Discarded { .. } => {
                            self.ends(source, Lane::Stream { destination, priority }, sequence);
                            out.push(Event::Fact(flow, ProtocolFact::Discarded));
                        }
                    }
                }
            }
            Body::Doorbell(bell) => {
                let status =
                    if room { self.doorbells_in.handle_doorbell(source, bell.info) } else { Status::Retry };
                if status == Status::Retry {
                    out.push(Event::Fact(flow, ProtocolFact::Retried));
                }
                let response = Response::Io { target_tid: bell.src_tid, status };
                self.answer(transport, flow, Body::Response(response), None);
                while let Some(rung) = self.doorbells_in.poll_event() {
                    let leg = self.leg(&label, way, Cause::Protocol);
                    let payload = Data::length(0).labelled(label.clone());
                    let conveyance = Conveyance::Doorbell { info: rung.info };
                    host.take_in(received(source, priority, conveyance, payload, leg));
                }
            }
            Body::Response(Response::Message { target, status }) => {
                self.messages.handle_response(now, source, target, status);
            }
            Body::Response(response) => {
                let tid = match response {
                    Response::Io { target_tid, .. } | Response::Data { target_tid, .. } => target_tid,
                    Response::Message { .. } => unreachable!("taken above"),
                };
                if self.io.owns(tid) {
                    self.io.handle_response(source, response);
                    self.io_events(Some((source, priority, way, label)), out);
                } else {
                    self.doorbells_out.handle_response(now, source, tid, response.status());
                }
            }
            // Requests are answered by the registers of the device.
            Body::Maintenance(response) => {
                self.registers.handle_maintenance(source, response.into_operation());
                self.io_events(Some((source, priority, way, label)), out);
            }
            body @ (Body::Read(_) | Body::Write(_) | Body::StreamWrite(_)) => {
                let (created, at, parts) = (way.created.0, way.at.0, way.parts);
                let trail = Trail { token: 0, created, at, parts, octets: 0 };
                // The packet as it came: from its sender to us.
                let came = Transport::new(transport.priority(), self.ids, self.id, source)
                    .expect("the compiler gave ids that fit");
                if let Some(response) = serve(Packet { transport: came, body }, &mut Store) {
                    self.answer(came, flow, response.body, Some(Box::new(trail)));
                }
            }
            // Flow control of other kinds is not made by any protocol here.
            Body::FlowControl(_) | Body::TrafficManagement(_) => {}
        }
    }

    /// Tells what the engines have ended.
    pub fn poll_events(&mut self, out: &mut Vec<Event>) {
        if self.mixed {
            while let Some(event) = self.messages.poll_event() {
                match event {
                    message::SenderEvent::Sent { token } => out.push(Event::Outcome(token, Outcome::Sent)),
                    message::SenderEvent::Failed { token, cause } => {
                        let late = match cause {
                            message::Failure::Timeout => Some(TimeoutKind::Response),
                            message::Failure::Stalled => Some(TimeoutKind::Place),
                            message::Failure::ErrorResponse | message::Failure::Broken => None,
                        };
                        out.extend(late.map(|kind| Event::Late(token, kind)));
                        out.push(Event::Outcome(token, Outcome::Failed));
                    }
                }
            }
        }
        while let Some(event) = self.streams.poll_event() {
            match event {
                stream::SenderEvent::Sent { token } => out.push(Event::Outcome(token, Outcome::Sent)),
                stream::SenderEvent::Aborted { token } => out.push(Event::Outcome(token, Outcome::Failed)),
                stream::SenderEvent::Managed { .. } => {}
            }
        }
        if !self.mixed {
            return;
        }
        while let Some(event) = self.doorbells_out.poll_event() {
            match event {
                doorbell::Event::Sent { token } => out.push(Event::Outcome(token, Outcome::Sent)),
                doorbell::Event::Failed { token, cause } => {
                    if cause == doorbell::Failure::Timeout {
                        out.push(Event::Late(token, TimeoutKind::Response));
                    }
                    out.push(Event::Outcome(token, Outcome::Failed));
                }
            }
        }
        self.io_events(None, out);
    }

    /// Reads and writes that ended; `by`: with this response.
    fn io_events(&mut self, by: Option<(u32, u8, Journey, Label)>, out: &mut Vec<Event>) {
        while let Some(event) = self.io.poll_event().or_else(|| self.registers.poll_event()) {
            let mut unanswered = false;
            let (token, data) = match event {
                requester::Event::Done { token, data } => (token, Some(data)),
                requester::Event::Failed { token, cause } => {
                    unanswered = cause == requester::Failure::Timeout;
                    (token, None)
                }
            };
            let (label, _, conveyance) = self.asked.remove(&token).expect("an order ends once");
            if unanswered {
                let kind = match conveyance {
                    Conveyance::Register { .. } => {
                        self.accesses.entry(part_of(token)).or_default().unanswered += 1;
                        TimeoutKind::Register
                    }
                    _ => TimeoutKind::Response,
                };
                out.push(Event::Late(token, kind));
            }
            let outcome = match (data, &by) {
                (Some(data), Some((from, priority, way, carried))) => {
                    let request =
                        carried.trail.as_deref().expect("a response carries the way of its request");
                    out.push(match conveyance {
                        Conveyance::Register { .. } => Event::Accessed,
                        _ => Event::Moved(label.flow, label.octets),
                    });
                    // The way of the request ends where that of the response begins.
                    let stale = request.created < label.ready;
                    let (there, back) = if stale {
                        out.push(Event::Fact(label.flow, ProtocolFact::Mistaken));
                        // A late response to an earlier request with the same transaction id: nobody can
                        // tell, and the way of this request is not known.
                        let mut parts = Parts::default();
                        parts[Cause::Protocol] = way.at.0 - label.created;
                        let at = Time(label.created);
                        (
                            Journey { at, parts: Parts::default(), ..*way },
                            Journey { created: at, parts, ..*way },
                        )
                    } else {
                        let (at, created) = (Time(request.at), Time(request.created));
                        let there = Journey { at, created, parts: request.parts, ..*way };
                        (self.leg(&label, there, Cause::Protocol), *way)
                    };
                    let (at, parts) = (there.at.0, there.parts);
                    let payload = data.unwrap_or_default();
                    let octets = label.octets.saturating_sub(payload.octets() as u32);
                    let trail = Trail { token, created: label.created, at, parts, octets };
                    let label =
                        Label { trail: Some(Box::new(trail)), octets: payload.octets() as u32, ..label };
                    let payload = payload.labelled(label);
                    Outcome::Answer(Box::new(received(*from, *priority, conveyance, payload, back)))
                }
                _ => Outcome::Failed,
            };
            out.push(Event::Outcome(token, outcome));
        }
    }

    /// The next packet. Answers first; packets of type 9 only while there is room for them.
    pub fn poll_transmit(&mut self, now: u64) -> Option<Outgoing> {
        if self.mixed
            && let Some(packet) = self.poll_mixed(now)
        {
            return Some(packet);
        }
        if self.streams_waiting < self.stream_room
            && let Some(pdu) = self.streams.poll_transmit()
        {
            self.streams_waiting += 1;
            let label = Label { flow: pdu.segment.payload().label.flow, ..Label::default() };
            let body = Body::Stream(pdu.segment);
            let packet = Outgoing::new(pdu.destination, pdu.flow.priority, body, label);
            return Some(Outgoing { interface: self.interface, ..packet });
        }
        None
    }

    /// The next packet that is not of type 9.
    fn poll_mixed(&mut self, now: u64) -> Option<Outgoing> {
        if let Some(answer) = self.answers.pop_front() {
            return Some(answer);
        }
        if let Some(bell) = self.doorbells_out.poll_transmit(now) {
            let label = self.rung.get(&(bell.destination, bell.doorbell.info)).cloned().unwrap_or_default();
            return Some(Outgoing::new(
                bell.destination,
                bell.priority,
                Body::Doorbell(bell.doorbell),
                label,
            ));
        }
        let access = self.registers.poll_transmit(now);
        if let Some(access) = &access {
            self.accesses.entry(part_of(access.token)).or_default().packets += 1;
        }
        if let Some(request) = access.or_else(|| self.io.poll_transmit(now)) {
            let label = match &request.body {
                Body::Read(read) => {
                    Label { flow: (read.address().double_word() / WINDOW) as u16, ..Label::default() }
                }
                Body::Maintenance(_) => Label { flow: self.register_flow, ..Label::default() },
                body => body.payload().map(|data| data.label.clone()).unwrap_or_default(),
            };
            return Some(Outgoing::new(request.destination, request.priority, request.body, label));
        }
        if let Some(message) = self.messages.poll_transmit(now) {
            let label = Label { flow: message.segment.payload().label.flow, ..Label::default() };
            let body = Body::Message(message.segment);
            return Some(Outgoing::new(message.destination, message.priority, body, label));
        }
        None
    }

    /// Whether a packet of type 9 waits to be made.
    pub fn wants_stream(&self) -> bool {
        self.streams.wants_transmit()
    }

    pub fn handle_timeout(&mut self, now: u64, first_flow: u16, out: &mut Vec<Event>) {
        self.reassembly.handle_timeout(now);
        while self.reassembly.poll_event().is_some() {
            out.extend([Event::Fact(first_flow, ProtocolFact::Discarded), Event::Missing(first_flow)]);
        }
        if !self.mixed {
            return;
        }
        self.messages.handle_timeout(now);
        self.doorbells_out.handle_timeout(now);
        self.io.handle_timeout(now);
        self.registers.handle_timeout(now);
        self.inbox.handle_timeout(now);
        while let Some(event) = self.inbox.poll_event() {
            debug_assert!(matches!(event, message::ReceiverEvent::Abandoned { .. }));
            out.extend([Event::Fact(first_flow, ProtocolFact::Abandoned), Event::Missing(first_flow)]);
        }
    }

    pub fn poll_timeout(&self) -> Option<u64> {
        if !self.mixed {
            return self.reassembly.poll_timeout();
        }
        [
            self.messages.poll_timeout(),
            self.doorbells_out.poll_timeout(),
            self.io.poll_timeout(),
            self.registers.poll_timeout(),
            self.inbox.poll_timeout(),
            self.reassembly.poll_timeout(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn answer(&mut self, request: Transport, flow: u16, body: Body<Data>, trail: Option<Box<Trail>>) {
        let label = Label { flow, trail, ..Label::default() };
        self.answers.push_back(Outgoing::new(
            request.source(),
            request.priority().of_response(),
            body,
            label,
        ));
    }

    /// The way from the protocol to here: the host, the engine (whose time has the cause `engine`), and the
    /// last packet.
    pub(super) fn leg(&self, label: &Label, packet: Journey, engine: Cause) -> Journey {
        let mut parts = packet.parts;
        match packet.created.0.checked_sub(label.ready) {
            Some(waited) => {
                parts[Cause::Host] += label.ready - label.created;
                parts[engine] += waited;
                if engine == Cause::SourceQueue {
                    parts.source += waited;
                }
            }
            None => {
                // A segment of an earlier message that was given up completed this one: letters come again.
                parts = Parts::default();
                parts[engine] = packet.at.0 - label.created;
            }
        }
        Journey {
            created: Time(label.created),
            flow: label.flow,
            sequence: u64::from(label.sequence),
            payload: label.octets,
            destination: self.device,
            parts,
            ..packet
        }
    }
}

/// Whether books of what an agent sends or receives go message by message: those of other protocols look at
/// their own ends.
fn counts_alone(config: &AgentConfig) -> bool {
    let alone =
        |p: &ProtocolConfig| matches!(p, ProtocolConfig::Workload { .. } | ProtocolConfig::Plugged(_));
    config.parts.is_empty() || config.parts.iter().any(|part| alone(&part.protocol))
}

pub(super) fn received(
    from: u32,
    priority: u8,
    conveyance: Conveyance,
    payload: Data,
    leg: Journey,
) -> Received {
    Received { from, priority, conveyance, payload: payload.without_padding(), leg }
}

/// A read or a write of the memory that belongs to the flow, or of a register.
fn request(conveyance: Conveyance, mut payload: Data) -> Result<Body<Data>, logical::wire::Error> {
    if let Conveyance::Register { hop_count, access, write } = conveyance {
        return Ok(Body::Maintenance(Maintenance::new(hop_count, registers::request(access, write))?));
    }
    let octets = payload.octets() as u16;
    let address = Address::new(AddressSize::Bits34, u64::from(payload.label.flow) * WINDOW)?;
    if conveyance == Conveyance::Read {
        return Ok(Body::Read(Read::new(ReadOperation::Nread, 0, address, Span::read(0, octets)?)?));
    }
    let padded = octets.next_multiple_of(8);
    payload.pad(u32::from(padded));
    let span = Span::announced(padded)?;
    Ok(Body::Write(Write::new(WriteOperation::NwriteR, 0, address, span, payload)?))
}

/// Memory of which nobody asks what is in it.
struct Store;

impl Target<Data> for Store {
    fn read(&mut self, _: Address, span: Span) -> Result<Data, Fault> {
        Ok(Data::length(span.payload_octets().into()))
    }

    fn write(&mut self, _: Address, _: Span, _: Data) -> Result<(), Fault> {
        Ok(())
    }
}
