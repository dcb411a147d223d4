//! Endpoints that run protocols.
//!
//! An `Agent` is one endpoint above its link: the protocols, the host that they run on, and the logical
//! port that makes packets of what they send. It knows no fabric. `world` hands it what is
//! delivered (`Agent::deliver`), tells it when its timer or a service ends, and takes out what it has made:
//! packets, reports, ends of services, the next deadline.
//!
//! ```text
//! protocol   ^ received, outcome, timeout          | Cx::send, Cx::reply
//! host       | rx_queue, rx_service                v tx_service
//! port       | reassembly, DONE/RETRY/ERROR        v letters, windows, segmentation
//! link       ^ delivered packet (an event)         | injection queue (like synthetic traffic)
//! ```
//!
//! # Adding a protocol
//!
//! 1. Write a file beside `echo` (read that first): settings, machine and totals. The machine implements
//!    `Protocol`: `received` and `outcome`; `timeout` with `poll_timeout` if it has deadlines; `arrival` with
//!    `poll_arrival` if an application drives it (`workload::Sender` turns a
//!    [`SourceConfig`](crate::config::SourceConfig) into instants, sizes and destinations). A protocol crate
//!    keeps its own bytes: send them with `Data::bytes`, read them with `Data::as_bytes`. `audit` says what
//!    the flow has come to at the end of the run.
//! 2. Register it: `pub mod` below, and a line in `PLUGGED` of `machine`.
//! 3. Give every endpoint that takes part a [`PartConfig`](crate::config::PartConfig) with the *same flow*: a
//!    flow is a conversation: what is sent under it is handed to the instance of that flow at the other end.
//!
//! What the rest does for you: priorities of responses, RETRY and its resend, timeouts of segments,
//! reassembly, the host's queue, latency with its causes, counters, fingerprints, and equal results in all
//! modes of the kernel. What you must not do: keep a clock, draw from a random number generator of your own,
//! or send without end within one instant.

mod clock;
pub(crate) mod courier;
mod deadlines;
pub mod echo;
mod enumerator;
mod frame;
mod host;
pub mod initialise;
pub(crate) mod linx;
mod machine;
pub(crate) mod port;
mod program;
pub(crate) mod protocol;
mod rpc;
pub(crate) mod session;
mod tag;
pub(crate) mod transfer;
mod workload;

pub(crate) use crate::packet::{Cargo, data};

use crate::config::{AgentConfig, ProtocolConfig, ServiceTime};
use crate::endpoint::traffic::Source;
use crate::observe::probe::{Cause, Journey, ProtocolEvent, ProtocolFact, Signal, Timeout, TimeoutKind};
use crate::observe::stats::{AgentStats, FlowStats};
use clock::ProtocolClock;
use data::{Data, Label};
use enumerator::Enumeration;
use host::{Host, Server};
use logical::wire::{Body, Priority};
use lp_serial::cost::IdSize;
use port::{Accesses, Arrival, Event, Port};
use protocol::{Conveyance, Cx, Outcome, Own, Protocol, Received, Send, Token, part_of};
use sim_core::{Purpose, Stream, Time, TimerSlot, prefetch};
use std::any::Any;

/// Octets that an access to a register reads or writes.
const REGISTER_OCTETS: u64 = 4;

/// Something that a protocol sends, on its way through the host.
#[derive(Debug)]
pub(crate) struct Order {
    pub token: Token,
    pub send: Send,
}

/// A packet that the port makes.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    /// Interface of the host through which it leaves.
    pub interface: u8,
    pub destination: u32,
    pub priority: u8,
    pub body: Body<Data>,
    pub label: Label,
}

impl Outgoing {
    fn new(destination: u32, priority: Priority, body: Body<Data>, label: Label) -> Self {
        Outgoing { interface: 0, destination, priority: priority.prio(), body, label }
    }
}

/// What observers are told.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    Message(Journey),
    RoundTrip(Journey),
    Event(ProtocolEvent),
    Timeout(Timeout),
    /// Boxed: only charts want it.
    Signal(Box<Signal>),
}

/// Which service of the host ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Receive,
    Send,
}

/// A service time with the stream that it is drawn from.
#[derive(Debug)]
pub(crate) struct Service {
    time: ServiceTime,
    stream: Option<Box<Stream>>,
}

impl Service {
    fn new(time: ServiceTime, seed: u64, path: &str) -> Self {
        let random = !matches!(time, ServiceTime::Fixed(_));
        let stream = random.then(|| Box::new(Stream::new(seed, path, Purpose::SERVICE)));
        Service { time, stream }
    }

    fn draw(&mut self) -> u64 {
        match (&mut self.stream, self.time) {
            (_, ServiceTime::Fixed(time)) => time.0,
            (Some(stream), ServiceTime::Exponential(mean)) => stream.exponential_ps(mean).0,
            (Some(stream), ServiceTime::Uniform(low, high)) => stream.uniform_between(low.0, high.0),
            (None, _) => unreachable!("random times have a stream"),
        }
    }
}

/// A protocol, and the flow that it belongs to.
#[derive(Debug)]
struct Part {
    flow: u16,
    machine: Box<dyn Protocol>,
    /// The part whose machine runs its protocol: itself, as a rule.
    run_by: usize,
    stats: FlowStats,
    /// It has begun to send by itself.
    awake: bool,
}

/// What a call to an agent makes. One serves all agents: memory of their own would have to be fetched each
/// time.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub out: Vec<Outgoing>,
    pub reports: Vec<Report>,
    /// What protocols have sent and the host has not seen yet.
    orders: Vec<Order>,
    /// Frames for a link of another medium.
    pub frames: Vec<Send>,
    events: Vec<Event>,
}

impl Workspace {
    pub fn is_empty(&self) -> bool {
        self.out.is_empty() && self.reports.is_empty() && self.orders.is_empty() && self.frames.is_empty()
    }
}

/// The port of an interface, among the first and those of further ones.
fn port_of<'a>(first: &'a mut Port, more: &'a mut [Port], interface: u8) -> &'a mut Port {
    match interface {
        0 => first,
        further => &mut more[usize::from(further) - 1],
    }
}

/// The further interfaces on RapidIO of the host that an agent is: number and id.
fn further(config: &AgentConfig) -> impl Iterator<Item = (u8, u32)> {
    // A flow may name its first interface alone.
    let hosts = config.parts.iter().filter_map(|part| match &part.protocol {
        ProtocolConfig::Transfer(end) if end.medium.is_none() => Some(&end.interfaces[..]),
        _ => None,
    });
    let all = hosts.max_by_key(|interfaces| interfaces.len()).unwrap_or_default();
    (0..).zip(all.iter().map(|&id| id.into())).skip(1)
}

/// One endpoint above its link.
#[derive(Debug)]
pub(crate) struct Agent {
    /// First own id: the source of its packets.
    pub id: u32,
    pub ids: IdSize,
    pub timer: TimerSlot,
    /// Packets made so far.
    pub packets: u32,
    /// What a call makes: the owner lends it, and takes it back with what is in it.
    pub work: Workspace,
    /// Ends of services that began, to be posted.
    pub ends: [Option<u64>; 2],
    /// What it does to its own registers.
    pub own: Vec<Own>,
    device: u32,
    clock: ProtocolClock,
    parts: Vec<Part>,
    /// The part that has classes, if one has.
    classes: Option<usize>,
    host: Host,
    port: Port,
    /// Those of further interfaces on RapidIO, if its host has any.
    more: Vec<Port>,
    /// Frames that have started to leave, of which their protocol has not been told.
    frames_left: Vec<Token>,
    /// Things sent so far.
    sent: u64,
    /// Packets and octets of accesses to registers, whatever part made them.
    accesses: FlowStats,
}

impl Agent {
    /// `asleep`: only who sets the fabric up sends by itself; the others answer, until [`wake`](Self::wake).
    pub fn new(seed: u64, path: &str, config: &AgentConfig, asleep: bool) -> Self {
        let service = |time, name: &str| Service::new(time, seed, &format!("{path}/{name}"));
        let machines = machine::build(seed, path, &config.parts);
        let parts = config.parts.iter().zip(machines).map(|(part, (machine, run_by))| {
            let awake = !asleep || matches!(part.protocol, ProtocolConfig::Enumerate { .. });
            Part { flow: part.flow, machine, run_by, stats: FlowStats::default(), awake }
        });
        let mut agent = Agent {
            id: config.id,
            ids: config.ids,
            timer: TimerSlot::new(),
            packets: 0,
            work: Workspace::default(),
            ends: [None; 2],
            own: Vec::new(),
            device: config.device,
            clock: ProtocolClock::new(config.clock),
            parts: parts.collect(),
            classes: None,
            host: Host {
                rx_service: service(config.host.rx_service, "rx"),
                tx_service: service(config.host.tx_service, "tx"),
                places: config.host.rx_queue,
                rx: Server::default(),
                tx: Server::default(),
                high_water: 0,
                depth_ps: 0,
                accounted: 0,
            },
            port: Port::new(config, (0, config.id)),
            more: further(config).map(|port| Port::new(config, port)).collect(),
            frames_left: Vec::new(),
            sent: 0,
            accesses: FlowStats::default(),
        };
        agent.classes = agent.parts.iter().position(|part| part.machine.has_classes());
        for part in 0..agent.parts.len() {
            if agent.parts[part].awake {
                agent.call(part, 0, |machine, cx| machine.start(cx));
            }
        }
        agent
    }

    /// The endpoint may send from now on.
    pub fn wake(&mut self, now: u64) {
        for part in 0..self.parts.len() {
            if !std::mem::replace(&mut self.parts[part].awake, true) {
                self.call(part, now, |machine, cx| machine.start(cx));
            }
        }
        self.turn(now);
    }

    /// The host that sets the fabric up, if this is it, and what became of its register accesses.
    pub fn enumeration(&self) -> Option<(&Enumeration, Accesses)> {
        let mut protocols = self.protocols().map(|(_, protocol)| protocol as &dyn Any).enumerate();
        let (part, host) = protocols.find_map(|(part, protocol)| Some((part, protocol.downcast_ref()?)))?;
        Some((host, self.port.register_accesses(part)))
    }

    /// A packet arrived at an interface.
    pub fn deliver(&mut self, arrival: Arrival, interface: u8) {
        let now = arrival.way.at.0;
        self.host.account(now);
        let mut events = std::mem::take(&mut self.work.events);
        let elsewhere = match interface {
            0 if self.more.is_empty() => 0,
            own => {
                let ports = std::iter::once(&self.port).chain(&self.more).zip(0..);
                ports.filter(|(_, other)| *other != own).map(|(port, _)| port.reserved()).sum()
            }
        };
        let now_there = self.clock.now(now);
        let port = port_of(&mut self.port, &mut self.more, interface);
        port.handle(now_there, (&mut self.host, elsewhere), arrival, &mut events);
        self.work.events = events;
        self.turn(now);
    }

    /// A deadline may have come.
    pub fn handle_timeout(&mut self, now: u64) {
        let protocol_now = self.clock.now(now);
        let first = self.parts.first().map_or(0, |part| part.flow);
        let mut events = std::mem::take(&mut self.work.events);
        self.port.handle_timeout(protocol_now, first, &mut events);
        self.more.iter_mut().for_each(|port| port.handle_timeout(protocol_now, first, &mut events));
        self.work.events = events;
        for part in 0..self.parts.len() {
            if !self.parts[part].awake {
                continue;
            }
            let machine = &self.parts[part].machine;
            let (timeout, arrival) = (machine.poll_timeout(), machine.poll_arrival());
            if timeout.is_some_and(|at| at <= protocol_now) {
                self.call(part, now, |machine, cx| machine.timeout(cx));
            }
            if arrival.is_some_and(|at| at.0 <= now) {
                self.call(part, now, |machine, cx| machine.arrival(cx));
            }
        }
        self.turn(now);
    }

    /// A service of the host ends.
    pub fn served(&mut self, now: u64, side: Side) {
        self.host.account(now);
        match side {
            Side::Receive => {
                let received = self.host.rx.finish();
                self.hand_over(now, received);
            }
            Side::Send => {
                let order = self.host.tx.finish();
                self.submit(now, order);
            }
        }
        self.turn(now);
    }

    /// A packet of type 9 has started to leave through an interface. Whether there is another.
    pub fn stream_started(&mut self, interface: u8) -> bool {
        let port = port_of(&mut self.port, &mut self.more, interface);
        port.streams_waiting -= 1;
        port.wants_stream()
    }

    /// Makes that.
    pub fn make_stream(&mut self, now: u64) {
        self.turn(now);
    }

    /// Asks for the lines that a timeout or a packet touches.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.timer);
        prefetch(&self.packets);
        prefetch(&self.work);
        prefetch(&self.clock);
        prefetch(&self.parts);
        prefetch(&self.host.tx);
        prefetch(&self.host.rx);
        self.port.prefetch();
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do next, in fabric time.
    pub fn next_deadline(&self) -> Option<u64> {
        let further = self.more.iter().filter_map(Port::poll_timeout);
        let engines = self.port.poll_timeout().into_iter().chain(further);
        let machines = || self.parts.iter().filter(|part| part.awake).map(|part| &part.machine);
        let protocol = machines().filter_map(|machine| machine.poll_timeout()).chain(engines).min();
        let arrival = machines().filter_map(|machine| machine.poll_arrival()).min();
        protocol.map(|at| self.clock.fabric(at)).into_iter().chain(arrival.map(|at| at.0)).min()
    }

    /// Whether something was sent that no event has taken up yet: what `start` left behind.
    pub fn has_orders(&self) -> bool {
        !self.work.orders.is_empty()
    }

    /// Totals up to `end`.
    pub fn stats(&self, end: u64) -> AgentStats {
        let mut flows = self.accesses;
        for part in &self.parts {
            flows.add(&part.stats);
        }
        AgentStats {
            rx_high_water: self.host.high_water,
            rx_depth_ps: self.host.depth_ps + self.host.depth_ps_since(end),
            clock: self.clock.ratio(),
            flows,
        }
    }

    /// What has come here and waits: flow, when it was sent, who sent it, and its token.
    pub fn come(&self) -> impl Iterator<Item = (u16, u64, (u32, Token))> + '_ {
        self.host.rx.iter().map(|received| {
            let from = (received.from, received.payload.label.token);
            (received.leg.flow, received.leg.created.0, from)
        })
    }

    /// What has ended here, though who sent it may not know: its id, and the position among what that sent.
    pub fn over(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        std::iter::once(&self.port).chain(&self.more).flat_map(Port::over)
    }

    /// What waits here to be sent, or to end; with the id that it leaves or has left under, once its host is
    /// done with it.
    pub fn unsent(&self) -> impl Iterator<Item = (Option<u32>, &Label)> + '_ {
        let tx = self.host.tx.iter().map(|order| (None, &order.send.payload.label));
        let ports = std::iter::once(&self.port).chain(&self.more);
        tx.chain(ports.flat_map(Port::unended).map(|(id, label)| (Some(id), label)))
    }

    /// What its protocols have given up, by its own id.
    pub fn given_up(&self) -> impl Iterator<Item = (u32, Token)> + '_ {
        let tokens = self.parts.iter().flat_map(|part| part.machine.given_up());
        tokens.map(|token| (self.id, token))
    }

    /// Totals by flow.
    pub fn flow_stats(&self) -> impl Iterator<Item = (u16, FlowStats)> + '_ {
        let parts = self.parts.iter().map(|part| (part.flow, part.stats));
        parts.chain(
            (self.accesses != FlowStats::default()).then_some((self.port.register_flow, self.accesses)),
        )
    }

    /// What runs here, by flow.
    pub fn protocols(&self) -> impl Iterator<Item = (u16, &dyn Protocol)> + '_ {
        self.parts.iter().map(|part| (part.flow, &*self.parts[part.run_by].machine))
    }

    /// Flows of which it does something by itself yet, or has something to take.
    pub fn active_flows(&self) -> impl Iterator<Item = u16> + '_ {
        let acts = |part: &&Part| {
            let machine = &self.parts[part.run_by].machine;
            machine.poll_timeout().is_some() || machine.poll_arrival().is_some()
        };
        let came = self.host.rx.iter().map(|received| received.leg.flow);
        self.parts.iter().filter(acts).map(|part| part.flow).chain(came)
    }

    /// Flows whose end here has not begun.
    pub fn sleeping_flows(&self) -> impl Iterator<Item = u16> + '_ {
        self.parts.iter().filter(|part| !part.awake).map(|part| part.flow)
    }

    /// What decides when its protocols send: each protocol once, also where it runs several parts.
    pub fn sources(&self) -> impl Iterator<Item = &Source> + '_ {
        self.parts.iter().flat_map(|part| part.machine.sources())
    }

    /// Accesses to registers belong to this flow, whoever makes them.
    pub fn register_flow(&mut self, flow: u16) {
        self.port.register_flow = flow;
    }

    /// Tells nodes of LINX which links go down.
    pub fn learn_paths(&mut self, paths: &linx::paths::Paths<'_>) {
        let device = self.device;
        self.linx_nodes().for_each(|linx| linx.learn(paths, device));
    }

    /// Tells them where switches lead ids now.
    pub fn learn_ways(&mut self, paths: &linx::paths::Paths<'_>, leads: linx::paths::Leads<'_>) {
        let device = self.device;
        self.linx_nodes().for_each(|linx| linx.learn_ways(paths, device, leads));
    }

    fn linx_nodes(&mut self) -> impl Iterator<Item = &mut linx::Linx> {
        self.parts.iter_mut().filter_map(|part| {
            let protocol: &mut dyn Any = &mut *part.machine;
            protocol.downcast_mut()
        })
    }

    /// What has come and waits for the host: id of the sender, and label.
    pub fn received(&self) -> impl Iterator<Item = (u32, &Label)> + '_ {
        self.host.rx.iter().map(|received| (received.from, &received.payload.label))
    }

    /// What has come and waits for the host: id of the sender, and token.
    pub fn received_waiting(&self) -> impl Iterator<Item = (u32, Token)> + '_ {
        self.host.rx.iter().map(|received| (received.from, received.payload.label.token))
    }

    /// Lets what goes first be taken up next.
    fn sort_classes(&mut self) {
        let Some(part) = self.classes else { return };
        let machine = &self.parts[part].machine;
        let Host { tx, rx, .. } = &mut self.host;
        tx.bring_forward(|Order { send, .. }| {
            machine.goes_first(Some(send.to), send.conveyance, &send.payload)
        });
        rx.bring_forward(|received| machine.goes_first(None, received.conveyance, &received.payload));
    }

    /// Lets everything happen that can happen now.
    fn turn(&mut self, now: u64) {
        loop {
            for order in self.work.orders.drain(..) {
                self.host.tx.push(order);
            }
            if self.classes.is_some() {
                self.sort_classes();
            }
            let mut idle = true;
            let Host { tx, tx_service, .. } = &mut self.host;
            if let Some(order) = tx.take_up(now, tx_service, &mut self.ends[Side::Send as usize]) {
                self.submit(now, order);
                idle = false;
            }
            let Host { rx, rx_service, .. } = &mut self.host;
            if let Some(received) = rx.take_up(now, rx_service, &mut self.ends[Side::Receive as usize]) {
                self.hand_over(now, received);
                idle = false;
            }
            while let Some(packet) = self.port.poll_transmit(self.clock.now(now)) {
                self.work.out.push(packet);
            }
            let mut events = std::mem::take(&mut self.work.events);
            self.port.poll_events(&mut events);
            for port in &mut self.more {
                while let Some(packet) = port.poll_transmit(self.clock.now(now)) {
                    self.work.out.push(packet);
                }
                port.poll_events(&mut events);
            }
            events.extend(self.frames_left.drain(..).map(|token| Event::Outcome(token, Outcome::Sent)));
            for event in events.drain(..) {
                idle = false;
                self.react(now, event);
            }
            self.work.events = events;
            if idle && self.work.orders.is_empty() {
                break;
            }
        }
    }

    fn submit(&mut self, now: u64, mut order: Order) {
        // Labels are in fabric time, deadlines in that of the protocol clock.
        order.send.payload.label.ready = now;
        match order.send.conveyance {
            Conveyance::Frame { .. } => self.work.frames.push(order.send),
            Conveyance::Stripe { cos, stream_id, interface } => {
                order.send.conveyance = Conveyance::Stream { cos, stream_id };
                port_of(&mut self.port, &mut self.more, interface).submit(order);
            }
            _ => self.port.submit(order),
        }
    }

    fn react(&mut self, now: u64, event: Event) {
        match event {
            Event::Outcome(token, outcome) => {
                let part = part_of(token);
                let stats = &mut self.parts[part].stats;
                match outcome {
                    Outcome::Sent | Outcome::Answer(_) => stats.completed += 1,
                    Outcome::Failed => self.fact(now, part, ProtocolFact::Failed),
                }
                self.call(part, now, |machine, cx| machine.outcome(cx, token, outcome));
            }
            Event::Moved(flow, octets) => {
                if let Some(part) = self.part_of(flow) {
                    self.parts[part].stats.payload += u64::from(octets);
                }
            }
            Event::Accessed => self.accesses.payload += REGISTER_OCTETS,
            Event::Fact(flow, fact) => {
                if let Some(part) = self.part_of(flow) {
                    self.fact(now, part, fact);
                }
            }
            Event::Late(token, kind) => self.late(now, part_of(token), kind),
            Event::Missing(flow) => {
                if let Some(part) = self.part_of(flow) {
                    self.late(now, part, TimeoutKind::Segments);
                }
            }
        }
    }

    fn late(&mut self, now: u64, part: usize, kind: TimeoutKind) {
        let (device, flow) = (self.device, Some(self.parts[part].flow));
        self.work.reports.push(Report::Timeout(Timeout { at: Time(now), flow, device, kind }));
    }

    fn fact(&mut self, now: u64, part: usize, fact: ProtocolFact) {
        let (device, flow) = (self.device, self.parts[part].flow);
        self.parts[part].stats.facts[fact as usize] += 1;
        self.work.reports.push(Report::Event(ProtocolEvent { at: Time(now), flow, device, fact }));
    }

    /// Gives something received to its protocol, after its time at the host.
    fn hand_over(&mut self, now: u64, mut received: Received) {
        let leg = &mut received.leg;
        leg.parts[Cause::Host] += now - leg.at.0;
        leg.at = Time(now);
        assert_eq!(leg.parts.total(), leg.latency(), "the parts of a message's time add up to it: {leg:?}");
        let part = self.part_for(&received).expect("both ends of a flow have its protocol");
        let run_by = self.parts[part].run_by;
        if !self.parts[run_by].machine.loses(&received) {
            let leg = &received.leg;
            self.work.reports.push(Report::Message(*leg));
            let stats = &mut self.parts[part].stats;
            stats.delivered += 1;
            stats.payload += u64::from(leg.payload);
        }
        self.call(part, now, |machine, cx| machine.received(cx, received));
    }

    /// The part that something is for: who claims it, else that of its flow.
    fn part_for(&self, received: &Received) -> Option<usize> {
        let flow = received.leg.flow;
        let own = self.part_of(flow)?;
        if self.parts.len() == 1 || self.parts[own].machine.claims(received, true) {
            return Some(own);
        }
        let claims = |part: &Part| part.flow != flow && part.machine.claims(received, false);
        self.parts.iter().position(claims).or(Some(own))
    }

    fn part_of(&self, flow: u16) -> Option<usize> {
        self.parts.iter().position(|part| part.flow == flow)
    }

    /// A packet with an access to a register takes so many octets on the link.
    pub fn count_access(&mut self, link_octets: u64) {
        self.accesses.requests += 1;
        self.accesses.link_octets += link_octets;
    }

    /// A packet that this agent made takes so many octets on the link.
    pub fn count_packet(&mut self, flow: u16, response: bool, link_octets: u64) {
        let Some(part) = self.part_of(flow) else { return };
        let stats = &mut self.parts[part].stats;
        if response {
            stats.responses += 1;
        } else {
            stats.requests += 1;
        }
        stats.link_octets += link_octets;
    }

    fn call(&mut self, part: usize, now: u64, f: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>)) {
        let Part { flow, run_by, .. } = self.parts[part];
        let before = self.work.orders.len();
        let told = self.work.reports.len();
        let mut cx = Cx {
            now: self.clock.now(now),
            fabric_now: now,
            part: part as u16,
            flow,
            device: self.device,
            sent: &mut self.sent,
            orders: &mut self.work.orders,
            reports: &mut self.work.reports,
            own: &mut self.own,
        };
        f(&mut *self.parts[run_by].machine, &mut cx);
        for order in &self.work.orders[before..] {
            let stats = &mut self.parts[part_of(order.token)].stats;
            stats.sent += 1;
            stats.asked += u64::from(order.send.payload.label.trail.is_none());
        }
        for report in &self.work.reports[told..] {
            match report {
                Report::Event(event) => {
                    let own = self.parts.iter_mut().find(|part| part.flow == event.flow);
                    own.expect("a part speaks for a part").stats.facts[event.fact as usize] += 1;
                }
                Report::RoundTrip(journey) => {
                    let stats = &mut self.parts[part].stats;
                    stats.round_trips += 1;
                    stats.answered_octets += u64::from(journey.payload);
                }
                Report::Message(_) | Report::Timeout(_) | Report::Signal(_) => {}
            }
        }
    }
}
