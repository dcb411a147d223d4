//! What a protocol on an endpoint is, and what it can do.

use super::data::{Data, Label, Trail};
use super::{Order, Report};
use crate::endpoint::traffic::Source;
use crate::observe::probe::{
    Cause, Journey, Parts, ProtocolEvent, ProtocolFact, Signal, SignalKind, Timeout, TimeoutKind,
};
pub(crate) use crate::observe::stats::Awaited;
use crate::observe::totals::Totals;
use logical::engine::message;
use logical::wire::Payload;
use logical::wire::maintenance::Access;
use logical::wire::message::SegmentSize;
use session_management::attribute::Attributes;
use session_management::register::Contact;
use sim_core::Time;
use std::any::Any;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// How something is conveyed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conveyance {
    /// Type 11: up to 16 segments, each answered; letters are given round robin.
    Message {
        /// 0..=3, up to 63 if it fits into one segment.
        mailbox: u8,
        /// Standard size of a segment.
        segment: SegmentSize,
        /// Its place among others. Nothing when it has arrived.
        order: message::Order,
    },
    /// Type 9: a PDU of up to 64 KiB, not answered.
    Stream {
        /// Class of service.
        cos: u8,
        /// Stream.
        stream_id: u16,
    },
    /// The same, through a further interface of a host on RapidIO.
    Stripe {
        /// Class of service.
        cos: u8,
        /// Stream.
        stream_id: u16,
        /// Interface of the host, from 1 on.
        interface: u8,
    },
    /// Type 10: 16 bits, answered. The payload is not sent.
    Doorbell {
        /// The 16 bits.
        info: u16,
    },
    /// On other media than RapidIO: a frame, not answered. [`Outcome::Sent`]: it starts to leave.
    Frame {
        /// Interface of the host, 0 for that of the agent's own endpoint.
        interface: u8,
    },
    /// Type 2, NREAD: the payload stands for what is read; [`Outcome::Answer`] brings it.
    Read,
    /// Type 5, NWRITE_R: up to 256 octets, answered.
    Write,
    /// Type 8: one register, answered. The payload is not sent.
    Register {
        /// Switches on the way.
        hop_count: u8,
        /// Which register.
        access: Access,
        /// What is written; `None` = it is read, and [`Outcome::Answer`] brings it.
        write: Option<u32>,
    },
}

impl Conveyance {
    /// A stream of type 9 through an interface of a host on RapidIO, counted from 0.
    pub fn stream(cos: u8, stream_id: u16, interface: u8) -> Self {
        match interface {
            0 => Conveyance::Stream { cos, stream_id },
            _ => Conveyance::Stripe { cos, stream_id, interface },
        }
    }
}

/// Names what was sent, for its [`Outcome`]: the part of the agent above [`PART_SHIFT`], then a number.
pub(crate) type Token = u64;

const PART_SHIFT: u32 = 48;

/// The part of its agent that sent this.
pub(super) fn part_of(token: Token) -> usize {
    (token >> PART_SHIFT) as usize
}

/// Something to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Send {
    /// Destination id.
    pub to: u32,
    /// Priority 0..=2; responses take one more.
    pub priority: u8,
    pub conveyance: Conveyance,
    pub payload: Data,
}

/// Something that came, whole, after its time at the host.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Id of the sender.
    pub from: u32,
    /// Priority of its packets.
    pub priority: u8,
    pub conveyance: Conveyance,
    /// Without padding. Its label is the sender's.
    pub payload: Data,
    /// Its way here. The host's time is added when it is handed over.
    pub leg: Journey,
}

impl Received {
    /// What it answers, if it is an answer: the token of [`Cx::send`].
    pub fn in_reply_to(&self) -> Option<Token> {
        self.payload.label.trail.as_ref().map(|trail| trail.token)
    }
}

/// What became of something sent.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// It arrived (types 5, 10 and 11), or its last packet left (type 9).
    Sent,
    /// What was read.
    Answer(Box<Received>),
    /// It may have arrived or not.
    Failed,
}

/// A protocol on an endpoint: a machine without clock, fabric or random numbers of its own. Times are those
/// of the protocol clock, in picoseconds.
pub(crate) trait Protocol: Any + Debug + std::marker::Send {
    /// The run begins (t = 0), or the endpoint may send from now on: what would have been sent before then
    /// is not made up.
    fn start(&mut self, _cx: &mut Cx<'_>) {}

    /// The scenario loses what came, at the end of its way: [`received`](Self::received), which follows,
    /// makes nothing of it, and nobody counts it as delivered.
    fn loses(&mut self, _received: &Received) -> bool {
        false
    }

    /// Whether what came is for this part of the endpoint; `own`: it came under the flow of this part. Where
    /// several parts share what carries messages, the octets say whose a message is.
    fn claims(&self, _received: &Received, own: bool) -> bool {
        own
    }

    /// Whether some of what it sends and gets goes before the rest in the queues of the host.
    fn has_classes(&self) -> bool {
        false
    }

    /// Whether this does: to the node `to`, or none, if it came.
    fn goes_first(&self, _to: Option<u32>, _conveyance: Conveyance, _payload: &Data) -> bool {
        false
    }

    /// Something came for this flow.
    fn received(&mut self, cx: &mut Cx<'_>, received: Received);

    /// What was sent under `token` is over.
    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: Outcome);

    /// The instant that [`poll_timeout`](Self::poll_timeout) named has come. It may be called early.
    fn timeout(&mut self, _cx: &mut Cx<'_>) {}

    /// When [`timeout`](Self::timeout) has something to do.
    fn poll_timeout(&self) -> Option<u64> {
        None
    }

    /// The instant that [`poll_arrival`](Self::poll_arrival) named has come.
    fn arrival(&mut self, _cx: &mut Cx<'_>) {}

    /// When the application that uses the protocol wants something next, in fabric time: the protocol clock
    /// does not scale the load.
    fn poll_arrival(&self) -> Option<Time> {
        None
    }

    /// What this end has asked and still waits for; `None`: it does not wait for answers, and what it has
    /// sent is under way for as long as it is somewhere.
    fn awaited(&self) -> Option<Awaited> {
        None
    }

    /// What decides when it sends something, where it does not decide for itself.
    fn sources(&self) -> Vec<&Source> {
        Vec::new()
    }

    /// What it has sent and takes for lost: it is not under way, though it may still arrive.
    fn given_up(&self) -> Vec<Token> {
        Vec::new()
    }

    /// What the flow has come to at the end of the run. Asked of the first end of each kind, which sees them
    /// all.
    fn audit(&self, _ends: &Ends<'_>, _totals: &mut Totals) {}
}

/// A PDU of session management, or a part of one, that is on its way: in the fabric, at a host or in an
/// engine that has not given it up.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Aboard {
    /// Id of its sender.
    pub from: u32,
    /// As [`Label::pdu`], never 0.
    pub pdu: u32,
    /// As [`Label::asked`].
    pub asked: u64,
}

/// All ends of a flow, when the run is over.
pub(crate) struct Ends<'a> {
    pub flow: u16,
    /// When the run ended, ps.
    pub at: u64,
    /// Devices and what runs there.
    pub nodes: &'a [(u32, &'a dyn Protocol)],
    /// What is in the fabric or waits for a host.
    pub carried: &'a dyn Fn() -> BTreeSet<(u32, Token)>,
    /// PDUs of this flow that are on their way.
    pub aboard: &'a dyn Fn() -> Vec<Aboard>,
}

impl<'a> Ends<'a> {
    /// The ends with their devices, as what they are.
    pub fn nodes<T: Protocol>(&self) -> Vec<(u32, &'a T)> {
        let typed = |&(device, node): &(u32, &'a dyn Protocol)| {
            let node: &dyn Any = node;
            Some((device, node.downcast_ref()?))
        };
        self.nodes.iter().filter_map(typed).collect()
    }

    /// What is in the fabric or waits for a host, by the id of its sender and its token.
    pub fn carried(&self) -> BTreeSet<(u32, Token)> {
        (self.carried)()
    }
}

/// What an endpoint does to its own registers. It takes no time.
#[derive(Clone, Debug)]
pub(crate) enum Own {
    /// Writes a word: offset and value.
    Write(u32, u32),
    /// Says where it takes management messages of session management, or leaves that to others (none), with
    /// its attributes, and which stage of its registers follows; 0: none.
    Announce(Vec<Contact>, Attributes, u8),
    /// Its registers of session management, and its Component Tag, are as after power-up.
    Reset,
}

/// What a protocol sees of its endpoint while it is called.
pub(crate) struct Cx<'a> {
    /// Time of the protocol clock, ps.
    pub now: u64,
    /// Fabric time, ps.
    pub fabric_now: u64,
    pub(super) part: u16,
    pub(super) flow: u16,
    pub(super) device: u32,
    pub(super) sent: &'a mut u64,
    pub(super) orders: &'a mut Vec<Order>,
    pub(super) reports: &'a mut Vec<Report>,
    pub(super) own: &'a mut Vec<Own>,
}

impl Cx<'_> {
    /// Hands something to the host, which hands it to the port. Its end is told through
    /// [`Protocol::outcome`].
    pub fn send(&mut self, send: Send) -> Token {
        self.order(send, None)
    }

    /// The flow in whose name the protocol acts.
    pub fn flow(&self) -> u16 {
        self.flow
    }

    /// What is sent and told from now on is that of another part of the endpoint, and of its flow: one
    /// machine may run several.
    pub fn speak_for(&mut self, part: u16, flow: u16) {
        (self.part, self.flow) = (part, flow);
    }

    /// Tells observers of something that happens now.
    pub fn tell(&mut self, kind: SignalKind) {
        self.tell_at(Time(self.fabric_now), kind);
    }

    /// Tells observers of something that happened at `at`.
    pub fn tell_at(&mut self, at: Time, kind: SignalKind) {
        let (flow, device) = (self.flow, self.device);
        self.reports.push(Report::Signal(Box::new(Signal { at, flow, device, kind })));
    }

    /// Sends an answer to what was received, on the same way.
    pub fn reply(&mut self, to: &Received, payload: Data) -> Token {
        let label = &to.payload.label;
        let (created, at, parts) = (to.leg.created.0, to.leg.at.0, to.leg.parts);
        let trail = Trail { token: label.token, created, at, parts, octets: to.leg.payload };
        let send = Send { to: to.from, priority: to.priority, conveyance: to.conveyance, payload };
        self.order(send, Some(Box::new(trail)))
    }

    fn order(&mut self, send: Send, trail: Option<Box<Trail>>) -> Token {
        // The upper bits say to which protocol of the agent the outcome goes.
        let token = u64::from(self.part) << PART_SHIFT | *self.sent;
        let label = Label {
            flow: self.flow,
            sequence: *self.sent as u32,
            pdu: send.payload.label.pdu,
            asked: send.payload.label.asked,
            token,
            octets: send.payload.octets() as u32,
            created: self.fabric_now,
            ready: self.fabric_now,
            trail,
        };
        *self.sent += 1;
        let send = Send { payload: send.payload.labelled(label), ..send };
        self.orders.push(Order { token, send });
        token
    }

    /// The answer to something sent is there, in time: reports the time from sending it to now. `octets`:
    /// what the user of the protocol has got by that, there and back.
    pub fn round_trip(&mut self, answer: &Received, octets: u32) {
        let Some(trail) = &answer.payload.label.trail else { return };
        let leg = &answer.leg;
        let mut parts = plus(trail.parts, &leg.parts);
        // The time that the other end took to answer.
        parts[Cause::Protocol] += leg.created.0 - trail.at;
        let (created, source) = (Time(trail.created), self.device);
        let whole = Journey { created, source, parts, payload: octets, ..*leg };
        self.reports.push(Report::RoundTrip(whole));
    }

    /// Writes a register of the own device: offset and value. It takes no time.
    pub fn write_own(&mut self, offset: u32, value: u32) {
        self.own.push(Own::Write(offset, value));
    }

    /// Announces in the own registers where management messages are taken, or leaves that to others. `next`:
    /// the stage that follows, 0 for none.
    pub fn announce(&mut self, contacts: Vec<Contact>, attributes: Attributes, next: u8) {
        self.own.push(Own::Announce(contacts, attributes, next));
    }

    /// Hardware reset, as far as registers of session management go: they say that the node takes no part.
    pub fn reset(&mut self) {
        self.own.push(Own::Reset);
    }

    /// Tells observers of something that happened now.
    pub fn emit(&mut self, fact: ProtocolFact) {
        let event = ProtocolEvent { at: Time(self.fabric_now), flow: self.flow, device: self.device, fact };
        self.reports.push(Report::Event(event));
    }

    /// Tells observers that the protocol waits no longer for something.
    pub fn late(&mut self, kind: TimeoutKind) {
        let (at, flow) = (Time(self.fabric_now), Some(self.flow));
        self.reports.push(Report::Timeout(Timeout { at, flow, device: self.device, kind }));
    }
}

/// Sum of two decompositions.
pub(super) fn plus(mut a: Parts, b: &Parts) -> Parts {
    for (sum, part) in a.causes.iter_mut().zip(b.causes) {
        *sum += part;
    }
    a.source += b.source;
    a
}
