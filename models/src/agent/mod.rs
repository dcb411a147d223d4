//! Endpoints that run protocols.
//!
//! An [`Agent`] is one endpoint above its link: the protocols, the host that they run on, and the logical
//! port that makes packets of what they send. It knows no fabric. `models/src/agents.rs` hands it what is
//! delivered ([`Agent::deliver`]), tells it when its timer or a service ends, and takes out what it has made:
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
//! 1. Write the machine beside [`rpc`] (read that first) and implement [`Protocol`](protocol::Protocol) for
//!    it: `received` and `outcome`; `timeout` with `poll_timeout` if it has deadlines; `arrival` with
//!    `poll_arrival` if an application drives it ([`workload::Sender`] turns a
//!    [`SourceConfig`](crate::config::SourceConfig) into instants, sizes and destinations). A protocol crate
//!    keeps its own bytes: send them with `Data::bytes`, read them with `Data::as_bytes`.
//! 2. Add a variant to [`Machine`](protocol::Machine) and to
//!    [`ProtocolConfig`](crate::config::ProtocolConfig), and build it in [`Agent::new`].
//! 3. Give every endpoint that takes part a [`PartConfig`](crate::config::PartConfig) with the *same flow*: a
//!    flow is a conversation, and what is sent under it is handed to the instance of that flow at the other end.
//!
//! What the rest does for you: priorities of responses, RETRY and its resend, timeouts of segments,
//! reassembly, the host's queue, latency with its causes, counters, fingerprints, and equal results in all modes of
//! the kernel. What you must not do: keep a clock, draw from a random number generator of your own, or send
//! without end within one instant.

mod clock;
pub(crate) mod data;
mod host;
mod linx;
pub(crate) mod port;
pub(crate) mod protocol;
mod rpc;
mod workload;

use crate::config::{AgentConfig, Carrier, ProtocolConfig, ServiceTime};
use crate::probe::{Cause, Journey, ProtocolEvent, ProtocolFact};
use crate::stats::{AgentStats, FlowStats};
use crate::traffic::Source;
use clock::ProtocolClock;
use data::{Data, Label};
use host::{Host, Server};
use logical::wire::message::SegmentSize;
use logical::wire::{Body, Priority};
use lp_serial::cost::IdSize;
use port::{Arrival, Event, Port};
use protocol::{Conveyance, Cx, Machine, Outcome, Received, Send, Token};
use sim_core::{Purpose, Stream, Time, TimerSlot};

/// Something that a protocol sends, on its way through the host.
#[derive(Debug)]
pub(crate) struct Order {
    pub token: Token,
    pub send: Send,
}

/// A packet that the port makes.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub destination: u32,
    pub priority: u8,
    pub cargo: Cargo,
}

impl Outgoing {
    fn new(destination: u32, priority: Priority, body: Body<Data>, label: Label) -> Self {
        Outgoing { destination, priority: priority.prio(), cargo: Cargo { body, label } }
    }
}

/// What a packet of an agent carries: kept beside the packet.
#[derive(Clone, Debug)]
pub(crate) struct Cargo {
    pub body: Body<Data>,
    pub label: Label,
}

/// What observers are told.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    Message(Journey),
    RoundTrip(Journey),
    Event(ProtocolEvent),
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
    machine: Machine,
    stats: FlowStats,
}

/// One endpoint above its link.
#[derive(Debug)]
pub(crate) struct Agent {
    /// First own id: the source of its packets.
    pub id: u32,
    pub ids: IdSize,
    /// Whether links add their own CRC to packets (64b/67b).
    pub idle3: bool,
    pub timer: TimerSlot,
    /// Packets made so far.
    pub packets: u32,
    /// Filled by every call, emptied by the owner.
    pub out: Vec<Outgoing>,
    pub reports: Vec<Report>,
    /// Ends of services that began, to be posted.
    pub ends: [Option<u64>; 2],
    device: u32,
    clock: ProtocolClock,
    parts: Vec<Part>,
    host: Host,
    port: Port,
    /// Things sent so far.
    sent: u64,
    orders: Vec<Order>,
    events: Vec<Event>,
}

impl Agent {
    pub fn new(seed: u64, path: &str, config: &AgentConfig) -> Self {
        let service = |time, name: &str| Service::new(time, seed, &format!("{path}/{name}"));
        let parts = config.parts.iter().map(|part| {
            let source = part.source.as_ref().map(|source| Source::new(seed, source));
            let machine = match &part.protocol {
                &ProtocolConfig::Workload { carrier } => {
                    Machine::Workload(Box::new(workload::Workload::new(source, conveyance(carrier))))
                }
                &ProtocolConfig::Rpc { carrier, answer, timeout } => {
                    let sender = workload::Sender::new(source);
                    Machine::Rpc(Box::new(rpc::Rpc::new(sender, conveyance(carrier), answer, timeout)))
                }
                ProtocolConfig::Linx(linx) => {
                    let sender = workload::Sender::new(source);
                    Machine::Linx(Box::new(linx::Linx::new(
                        config.id,
                        sender,
                        conveyance(linx.carrier),
                        linx,
                    )))
                }
            };
            Part { flow: part.flow, machine, stats: FlowStats::default() }
        });
        let mut agent = Agent {
            id: config.id,
            ids: config.ids,
            idle3: config.idle3,
            timer: TimerSlot::new(),
            packets: 0,
            out: Vec::new(),
            reports: Vec::new(),
            ends: [None; 2],
            device: config.device,
            clock: ProtocolClock::new(config.clock),
            parts: parts.collect(),
            host: Host {
                rx_service: service(config.host.rx_service, "rx"),
                tx_service: service(config.host.tx_service, "tx"),
                places: config.host.rx_queue,
                rx: Server::default(),
                tx: Server::default(),
                high_water: 0,
            },
            port: Port::new(config),
            sent: 0,
            orders: Vec::new(),
            events: Vec::new(),
        };
        for part in 0..agent.parts.len() {
            agent.call(part, 0, |machine, cx| machine.start(cx));
        }
        agent
    }

    /// A packet arrived.
    pub fn deliver(&mut self, arrival: Arrival) {
        let now = arrival.way.at.0;
        let mut events = std::mem::take(&mut self.events);
        self.port.handle(self.clock.now(now), &mut self.host, arrival, &mut events);
        self.events = events;
        self.turn(now);
    }

    /// A deadline may have come.
    pub fn handle_timeout(&mut self, now: u64) {
        let protocol_now = self.clock.now(now);
        let first = self.parts.first().map_or(0, |part| part.flow);
        let mut events = std::mem::take(&mut self.events);
        self.port.handle_timeout(protocol_now, first, &mut events);
        self.events = events;
        for part in 0..self.parts.len() {
            let machine = self.parts[part].machine.machine();
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

    /// A packet of type 9 has started to leave. Whether there is another.
    pub fn stream_started(&mut self, now: u64) -> bool {
        self.port.streams_waiting -= 1;
        if !self.port.wants_stream() {
            return false;
        }
        self.turn(now);
        true
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do next, in fabric time.
    pub fn next_deadline(&self) -> Option<u64> {
        let engines = self.port.poll_timeout();
        let machines = || self.parts.iter().map(|part| part.machine.machine());
        let protocol = machines().filter_map(|machine| machine.poll_timeout()).chain(engines).min();
        let arrival = machines().filter_map(|machine| machine.poll_arrival()).min();
        protocol.map(|at| self.clock.fabric(at)).into_iter().chain(arrival.map(|at| at.0)).min()
    }

    /// Whether something was sent that no event has taken up yet: what `start` left behind.
    pub fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// Totals.
    pub fn stats(&self) -> AgentStats {
        AgentStats { rx_high_water: self.host.high_water, clock: self.clock.ratio() }
    }

    /// Totals by flow.
    pub fn flow_stats(&self) -> impl Iterator<Item = (u16, FlowStats)> + '_ {
        self.parts.iter().map(|part| (part.flow, part.stats))
    }

    /// Lets everything happen that can happen now.
    fn turn(&mut self, now: u64) {
        loop {
            for order in std::mem::take(&mut self.orders) {
                self.host.tx.push(order);
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
                self.count_packet(&packet);
                self.out.push(packet);
            }
            let mut events = std::mem::take(&mut self.events);
            self.port.poll_events(&mut events);
            for event in events.drain(..) {
                idle = false;
                self.react(now, event);
            }
            self.events = events;
            if idle && self.orders.is_empty() {
                break;
            }
        }
    }

    fn submit(&mut self, now: u64, mut order: Order) {
        // Labels are in fabric time, deadlines in that of the protocol clock.
        order.send.payload.label.ready = now;
        self.port.submit(order);
    }

    fn react(&mut self, now: u64, event: Event) {
        match event {
            Event::Outcome(token, outcome) => {
                let part = (token >> 48) as usize;
                let stats = &mut self.parts[part].stats;
                match outcome {
                    Outcome::Sent | Outcome::Answer(_) => stats.completed += 1,
                    Outcome::Failed => self.fact(now, part, ProtocolFact::Failed),
                }
                self.call(part, now, |machine, cx| machine.outcome(cx, token, outcome));
            }
            Event::Fact(flow, fact) => {
                if let Some(part) = self.part_of(flow) {
                    self.fact(now, part, fact);
                }
            }
        }
    }

    fn fact(&mut self, now: u64, part: usize, fact: ProtocolFact) {
        let (device, flow) = (self.device, self.parts[part].flow);
        self.parts[part].stats.facts[fact as usize] += 1;
        self.reports.push(Report::Event(ProtocolEvent { at: Time(now), flow, device, fact }));
    }

    /// Gives something received to its protocol, after its time at the host.
    fn hand_over(&mut self, now: u64, mut received: Received) {
        let leg = &mut received.leg;
        leg.parts[Cause::Host] += now - leg.at.0;
        leg.at = Time(now);
        assert_eq!(leg.parts.total(), leg.latency(), "the parts of a message's time add up to it: {leg:?}");
        self.reports.push(Report::Message(*leg));
        let part = self.part_of(leg.flow).expect("both ends of a flow have its protocol");
        self.parts[part].stats.delivered += 1;
        self.call(part, now, |machine, cx| machine.received(cx, received));
    }

    fn part_of(&self, flow: u16) -> Option<usize> {
        self.parts.iter().position(|part| part.flow == flow)
    }

    fn count_packet(&mut self, packet: &Outgoing) {
        let Some(part) = self.part_of(packet.cargo.label.flow) else { return };
        let stats = &mut self.parts[part].stats;
        match packet.cargo.body {
            Body::Response(_) => stats.responses += 1,
            _ => stats.requests += 1,
        }
    }

    fn call(&mut self, part: usize, now: u64, f: impl FnOnce(&mut dyn protocol::Protocol, &mut Cx<'_>)) {
        let Part { flow, machine, stats } = &mut self.parts[part];
        let before = self.orders.len();
        let told = self.reports.len();
        let mut cx = Cx {
            now: self.clock.now(now),
            fabric_now: now,
            part: part as u16,
            flow: *flow,
            device: self.device,
            sent: &mut self.sent,
            orders: &mut self.orders,
            reports: &mut self.reports,
        };
        f(machine.machine_mut(), &mut cx);
        stats.sent += (self.orders.len() - before) as u64;
        for report in &self.reports[told..] {
            match report {
                Report::Event(event) => stats.facts[event.fact as usize] += 1,
                Report::RoundTrip(_) => stats.round_trips += 1,
                Report::Message(_) => {}
            }
        }
    }
}

fn conveyance(carrier: Carrier) -> Conveyance {
    match carrier {
        Carrier::Message { mailbox, segment } => {
            let segment = SegmentSize::ALL.into_iter().find(|size| size.octets() == usize::from(segment));
            Conveyance::Message { mailbox, segment: segment.expect("the compiler allows segment sizes only") }
        }
        Carrier::Stream { cos, stream_id } => Conveyance::Stream { cos, stream_id },
        Carrier::Doorbell { info } => Conveyance::Doorbell { info },
        Carrier::Read => Conveyance::Read,
        Carrier::Write => Conveyance::Write,
    }
}
