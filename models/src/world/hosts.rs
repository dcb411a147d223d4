//! Agents in the fabric: the only door between [`crate::agent`] and the rest of the world.
//!
//! A delivery to an endpoint with an agent is an event; so is the end of a service of its host; all its
//! deadlines share one timer. Packets that it makes join the injection queue like those of traffic sources,
//! after creations that are due by then.

use crate::agent::data::Label;
use crate::agent::linx::paths::Paths;
use crate::agent::port::Arrival;
use crate::agent::protocol::{Aboard, Conveyance, Ends, Protocol, Send, Token};
use crate::agent::{Agent, Cargo, Outgoing, Report, Side, Workspace};
use crate::config::{DeviceModel, EndpointConfig, FabricConfig, PacketSize, ProtocolConfig};
use crate::endpoint::Left;
use crate::endpoint::traffic::Source;
use crate::event::{Cx, HostStep, Payload, class};
use crate::ids::{ById, EndpointId, PortId};
use crate::link::Links;
use crate::link::life::Made;
use crate::observe::Build;
use crate::observe::mark;
use crate::observe::probe::{Delivery, ProtocolEvent, RegisterEvent, RegisterStep};
use crate::observe::stats::{AgentStats, FlowLeft, FlowStats};
use crate::observe::totals::Totals;
use crate::packet::{Frame, MAINTENANCE, origin};
use crate::world::Fabric;
use logical::wire::maintenance::Operation;
use logical::wire::{Body, Packet, Payload as Octets, Priority, Transport};
use sim_core::{Event, EventList, Time, TimerEntry, TimerPop, prefetch};
use std::any::Any;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

/// Endpoints that are interfaces of one host.
#[derive(Debug, Default)]
pub(crate) struct Stripes {
    /// Host and number of each endpoint that is one; empty if no host has more than one.
    host: ById<EndpointId, Option<(EndpointId, u8)>>,
    /// Interfaces of a host.
    of: BTreeMap<EndpointId, Vec<EndpointId>>,
}

impl Stripes {
    /// These endpoints are interfaces of the first of them.
    fn join<T>(&mut self, interfaces: Vec<EndpointId>, endpoints: &ById<EndpointId, T>) {
        self.host.resize_as(endpoints, || None);
        for (&e, number) in interfaces.iter().zip(0..) {
            self.host[e] = Some((interfaces[0], number));
        }
        self.of.insert(interfaces[0], interfaces);
    }

    /// The endpoint whose agent an endpoint belongs to, and its number there.
    fn host(&self, e: EndpointId) -> (EndpointId, u8) {
        match self.host.get(e) {
            Some(&Some(host)) => host,
            _ => (e, 0),
        }
    }

    fn interface(&self, e: EndpointId, number: u8) -> EndpointId {
        self.of.get(&e).map_or(e, |interfaces| interfaces[usize::from(number)])
    }

    /// Whether the agent of another endpoint listens to this one.
    fn is_joined(&self, e: EndpointId) -> bool {
        matches!(self.host.get(e), Some(Some(_)))
    }
}

/// All agents.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    /// Beside the endpoints; empty if there are none.
    pub agents: ById<EndpointId, Option<Box<Agent>>>,
    /// For whichever agent is called.
    pub workspace: Workspace,
    /// Endpoints that are interfaces of one host.
    pub stripes: Stripes,
}

impl<P: Build> Links<P> {
    fn report(&mut self, port: PortId, report: Report) {
        match report {
            Report::Message(journey) => {
                self.observe.outcome.record(mark::CONVEYED, journey.at, u64::from(port), journey.word());
                self.observe.probe.message(&journey);
            }
            Report::RoundTrip(journey) => {
                self.observe.outcome.record(mark::ANSWERED, journey.at, u64::from(port), journey.word());
                self.observe.probe.round_trip(&journey);
            }
            Report::Event(event @ ProtocolEvent { at, flow, fact, .. }) => {
                let what = u64::from(flow) << 8 | fact as u64;
                self.observe.outcome.record(mark::FACT, at, u64::from(port), what);
                self.observe.probe.protocol_event(&event);
            }
            Report::Timeout(timeout) => self.observe.probe.timeout(&timeout),
            Report::Signal(signal) => self.observe.probe.signal(&signal),
        }
    }
}

/// The flow that accesses to registers belong to, whoever makes them, if a host sets the fabric up.
fn register_flow(config: &FabricConfig) -> Option<u16> {
    let mut parts = config.agents.iter().flat_map(|agent| &agent.parts);
    let host = parts.find(|part| matches!(part.protocol, ProtocolConfig::Enumerate { .. }));
    host.map(|part| part.flow)
}

impl<P: Build> Fabric<P> {
    /// Gives endpoints their agents.
    pub(super) fn set_up_agents(&mut self) {
        let config = self.links.config.clone();
        let paths = Paths::new(&config);
        let registers = register_flow(&config);
        for agent in &config.agents {
            let port = self.links.nodes.first_port(agent.device);
            let e = self.links.nodes.endpoint(port);
            self.hosts.agents.resize_as(&self.endpoints, || None);
            let path = &config.devices[agent.device as usize].path;
            let asleep = config.enumeration.is_some();
            let mut agent = Agent::new(config.seed, path, agent, asleep);
            if let Some(flow) = registers {
                agent.register_flow(flow);
            }
            if let Some(paths) = &paths {
                agent.learn_paths(paths);
            }
            self.hosts.agents[e] = Some(Box::new(agent));
            self.links.deliver_by_events(port);
        }
    }

    /// Joins the interfaces of hosts.
    pub(super) fn set_up_stripes(&mut self) {
        let config = self.links.config.clone();
        for part in config.agents.iter().flat_map(|agent| &agent.parts) {
            let interfaces: Vec<u16> = match &part.protocol {
                ProtocolConfig::Transfer(end) => {
                    if end.medium.is_none() {
                        for &id in end.interfaces.iter().skip(1) {
                            let port = self.links.nodes.first_port(config.owners[usize::from(id)]);
                            self.links.deliver_by_events(port);
                        }
                    }
                    end.interfaces.clone()
                }
                ProtocolConfig::Translator(own) => own.device.interfaces.iter().map(|own| own.id).collect(),
                _ => continue,
            };
            if interfaces.len() > 1 {
                let endpoint = |id: u16| {
                    let device = config.owners[usize::from(id)];
                    self.links.nodes.endpoint_of(device)
                };
                let interfaces = interfaces.into_iter().map(endpoint).collect();
                self.hosts.stripes.join(interfaces, &self.endpoints);
            }
        }
    }

    /// First events of the agents.
    pub(super) fn bootstrap_agents(&mut self, schedule: &mut impl FnMut(Event<Payload>)) {
        for e in self.hosts.agents.ids() {
            let Some(agent) = &mut self.hosts.agents[e] else { continue };
            let at = if agent.has_orders() { Some(0) } else { agent.next_deadline() };
            let Some(entry) = at.and_then(|at| agent.timer.arm(Time(at))) else { continue };
            let (device, port) = (self.endpoints[e].device, self.endpoints[e].port);
            let key = self.links.key(device, entry.at.0, class::HOST);
            schedule(Event { key, target: port.into(), payload: timer(entry) });
        }
    }

    /// A timer or a service of an agent ends.
    pub(super) fn host_event<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        step: HostStep,
    ) {
        let e = self.links.nodes.endpoint(port);
        let now = cx.now();
        let agent = self.hosts.agents[e].as_mut().expect("only agents have hosts");
        match step {
            HostStep::Timer { generation } => match agent.timer.on_pop(now, generation) {
                TimerPop::Fired => self.lend(e).handle_timeout(now.0),
                TimerPop::Rearm(entry) => {
                    self.post_timer(cx, e, entry);
                    return;
                }
                TimerPop::Stale => return,
            },
            HostStep::Received => self.lend(e).served(now.0, Side::Receive),
            HostStep::Sent => self.lend(e).served(now.0, Side::Send),
        }
        self.links.observe.last_event = now.0;
        self.carry_out(cx, e, true);
    }

    /// Asks for what an event for the agent behind `port` touches.
    #[inline]
    pub(super) fn prefetch_agent(&self, port: PortId) {
        let e = self.links.nodes.endpoint(port);
        if let Some(Some(agent)) = self.hosts.agents.get(e) {
            agent.prefetch();
            prefetch(&self.endpoints[e]);
        }
    }

    /// An agent that is about to be called.
    fn lend(&mut self, e: EndpointId) -> &mut Agent {
        let agent = self.hosts.agents[e].as_mut().expect("only agents are called");
        // What its protocols sent at the start of the run is still there.
        if agent.work.is_empty() {
            agent.work = std::mem::take(&mut self.hosts.workspace);
        }
        agent
    }

    /// Whether deliveries to this endpoint are events.
    pub fn listens(&self, e: EndpointId) -> bool {
        matches!(self.hosts.agents.get(e), Some(Some(_)))
            || !self.registers.spaces.is_empty()
            || self.hosts.stripes.is_joined(e)
    }

    /// A packet that an agent made has reached the sink behind `port`.
    pub(super) fn deliver_cargo<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        id: u32,
        delivery: &Delivery,
    ) {
        let Some(cargo) = self.links.packets.cargoes.take(packet) else {
            return self.deliver_frame(cx, port, packet, delivery);
        };
        let e = self.links.nodes.endpoint(port);
        let Some(cargo) = self.answer_at_endpoint(cx, e, cargo, id, delivery) else { return };
        let (host, interface) = self.hosts.stripes.host(e);
        if !matches!(self.hosts.agents.get(host), Some(Some(_))) {
            return;
        }
        let Cargo { source, body, label } = *cargo;
        let (way, priority) = (delivery.journey(), delivery.priority);
        let agent = self.lend(host);
        agent.deliver(Arrival { destination: id, source, priority, way, body, label }, interface);
        self.carry_out(cx, host, true);
    }

    /// What the agent of an endpoint has to hear of, when a packet has begun to leave. What comes after it at
    /// the endpoint is arranged.
    pub(super) fn packet_left<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        e: EndpointId,
        left: Left,
    ) {
        match left {
            Left::Stream => self.stream_started(cx, e),
            Left::Frame { token } => {
                let (host, _) = self.hosts.stripes.host(e);
                self.hosts.agents[host].as_mut().expect("only agents send frames").frame_started(token);
                self.frame_left(cx, e);
            }
        }
        self.endpoints[e].await_next(&mut self.links, cx);
    }

    /// A packet of type 9 has started: its agent may make the next one.
    fn stream_started<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId) {
        let now = cx.now().0;
        let (host, interface) = self.hosts.stripes.host(e);
        let wanted = self.hosts.agents[host].as_mut().is_some_and(|agent| agent.stream_started(interface));
        if wanted {
            self.lend(host).make_stream(now);
            // This transmitter is busy from now on; who called arranges what comes after.
            self.carry_out(cx, host, host != e);
        }
    }

    /// The endpoint of a device may send from `at` on.
    pub(super) fn wake_host<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, device: u32, at: u64) {
        let e = self.links.nodes.endpoint_of(device);
        if let Some(Some(agent)) = self.hosts.agents.get_mut(e) {
            agent.wake(at);
            self.carry_out(cx, e, true);
        }
    }

    /// Takes out what an agent has made. `turn`: the endpoint may start something.
    pub fn carry_out<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId, turn: bool) {
        let now = cx.now();
        let (device, port) = (self.endpoints[e].device, self.endpoints[e].port);
        let agent = self.hosts.agents[e].as_mut().expect("only agents are carried out");
        let ends = std::mem::take(&mut agent.ends);
        let mut work = std::mem::take(&mut agent.work);
        let own = std::mem::take(&mut agent.own);
        let entry = match agent.next_deadline() {
            Some(at) if at != u64::MAX => agent.timer.arm(Time(at).max(now)),
            _ => {
                agent.timer.cancel();
                None
            }
        };
        for (end, step) in ends.into_iter().zip([HostStep::Received, HostStep::Sent]) {
            if let Some(end) = end {
                let key = self.links.key(device, end, class::HOST);
                cx.post(key, port.into(), step.pack());
            }
        }
        if let Some(entry) = entry {
            self.post_timer(cx, e, entry);
        }
        for report in work.reports.drain(..) {
            self.links.report(port, report);
        }
        let wakes = self.write_own(cx, device, own);
        if work.out.is_empty() && work.frames.is_empty() && !wakes {
            self.hosts.workspace = work;
            return;
        }
        // Creations come before what is made in answer to something.
        self.endpoints[e].materialise(&mut self.links, cx, now.0);
        let mut others = 0u64;
        for packet in work.out.drain(..) {
            others |= 1 << packet.interface;
            self.inject(cx, e, packet);
        }
        for frame in work.frames.drain(..) {
            others |= 1 << self.inject_frame(cx, e, frame);
        }
        // It goes back empty, but with the memory that it has taken.
        self.hosts.workspace = work;
        if turn {
            self.endpoint_turn(cx, e);
        }
        // The first is this endpoint.
        if others & !1 != 0 {
            self.interfaces_turn(cx, e, others & !1);
        }
        if wakes {
            self.lend(e).wake(now.0);
            self.carry_out(cx, e, turn);
        }
    }

    fn post_timer<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId, entry: TimerEntry) {
        let (device, port) = (self.endpoints[e].device, self.endpoints[e].port);
        let key = self.links.key(device, entry.at.0, class::HOST);
        cx.post(key, port.into(), timer(entry));
    }

    /// One packet of an agent joins the injection queue of an interface.
    fn inject<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, host: EndpointId, packet: Outgoing) {
        let Outgoing { interface, destination, priority, body, label } = packet;
        let (e, id) = match interface {
            0 => (host, None),
            _ => {
                let e = self.hosts.stripes.interface(host, interface);
                self.endpoints[e].materialise(&mut self.links, cx, cx.now().0);
                (e, Some(self.own_id(e)))
            }
        };
        let agent = self.hosts.agents[host].as_mut().expect("only agents make packets");
        let id = id.unwrap_or(agent.id);
        let level = Priority::new(priority, false).expect("priorities are 0 to 3");
        let transport = Transport::new(level, agent.ids, destination, id);
        let transport = transport.expect("the compiler gave ids that fit");
        let sequence = agent.packets;
        agent.packets += 1;
        let source = id;
        let stream = body.ftype() == logical::wire::stream::FTYPE;
        let payload = body.payload().map_or(0, Octets::octets) as u16;
        let flow = label.flow;
        let response = matches!(body, Body::Response(_));
        let whole = Packet { transport, body };
        let wire = whole.sealed_octets() as u16;
        let tx = &self.links.ports[self.endpoints[e].port.index()].tx;
        let on_link = self.links.timings[tx.timing as usize].packet_chars(wire);
        let maintenance = matches!(whole.body, Body::Maintenance(_));
        if maintenance {
            agent.count_access(on_link);
        } else {
            agent.count_packet(flow, response, on_link);
        }
        let made = Made {
            destination: if maintenance { destination | MAINTENANCE } else { destination },
            flow,
            priority,
            size: PacketSize { payload, wire },
            sequence,
            origin: if stream { origin::STREAM } else { origin::AGENT },
        };
        let now = cx.now().0;
        let id = self.endpoints[e].admit_packet(&mut self.links, now, made);
        self.endpoints[e].queue_packet(&mut self.links, cx, id, now);
        if let Body::Maintenance(request) = &whole.body {
            let packet = self.links.packets[id].id();
            self.tell_asked(now, e, (packet, flow), destination, request);
        }
        self.links.packets.cargoes.put(id, Cargo { source, body: whole.body, label });
    }

    /// The first id of an endpoint.
    fn own_id(&self, e: EndpointId) -> u32 {
        match &self.links.config.devices[self.endpoints[e].device as usize].model {
            DeviceModel::Endpoint(EndpointConfig { ids, .. }) => ids[0],
            DeviceModel::Switch(_) => unreachable!("only endpoints send"),
        }
    }

    /// One frame of an agent joins the injection queue of an interface, whose number comes back.
    fn inject_frame<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        host: EndpointId,
        send: Send,
    ) -> u8 {
        let Send { to, priority, payload, conveyance } = send;
        let Conveyance::Frame { interface } = conveyance else { unreachable!("it is a frame") };
        let e = self.hosts.stripes.interface(host, interface);
        let medium = self.links.channels_of(self.endpoints[e].port).medium;
        let octets = payload.octets() as u32;
        let wire = medium.wire_octets(octets);
        let source = self.own_id(e);
        let agent = self.hosts.agents[host].as_mut().expect("only agents make frames");
        let sequence = agent.packets;
        agent.packets += 1;
        let flow = payload.label.flow;
        agent.count_packet(flow, false, wire.into());
        let size = PacketSize { payload: octets as u16, wire: wire as u16 };
        let made = Made { destination: to, flow, priority, size, sequence, origin: origin::FRAME };
        let now = cx.now().0;
        let packet = self.endpoints[e].admit_packet(&mut self.links, now, made);
        self.endpoints[e].queue_packet(&mut self.links, cx, packet, now);
        self.links.packets.frames.put(packet, Frame { source, payload });
        self.links.may_pass(cx, self.endpoints[e].port);
        interface
    }

    /// Frames have joined the queues of further interfaces of a host, one bit for each: they may start.
    fn interfaces_turn<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        host: EndpointId,
        mut interfaces: u64,
    ) {
        while interfaces != 0 {
            let e = self.hosts.stripes.interface(host, interfaces.trailing_zeros() as u8);
            interfaces &= interfaces - 1;
            self.endpoint_turn(cx, e);
        }
    }

    /// A frame of this endpoint has started to leave: its protocol may have more.
    pub fn frame_left<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId) {
        let now = cx.now().0;
        let (host, _) = self.hosts.stripes.host(e);
        self.lend(host).make_stream(now);
        // This transmitter is busy from now on; who called arranges what comes after.
        self.carry_out(cx, host, host != e);
    }

    /// A frame has reached the endpoint behind `port`.
    pub fn deliver_frame<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        delivery: &Delivery,
    ) {
        let frame =
            self.links.packets.frames.take(packet).expect("a packet of an agent has a body or is a frame");
        let (host, interface) = self.hosts.stripes.host(self.links.nodes.endpoint(port));
        if !matches!(self.hosts.agents.get(host), Some(Some(_))) {
            return;
        }
        let Frame { source, payload } = *frame;
        self.lend(host).deliver_frame(source, delivery, payload, interface);
        self.carry_out(cx, host, true);
    }

    /// Totals of agents up to `end`, in the order of their devices, and of their flows.
    pub(super) fn agent_totals(&self, end: u64) -> (Vec<(u32, AgentStats)>, Vec<FlowStats>) {
        let mut flows = Vec::new();
        let mut agents = Vec::new();
        for (endpoint, agent) in self.endpoints.iter().zip(self.hosts.agents.iter()) {
            let Some(agent) = agent else { continue };
            flows.resize(self.links.config.flows.len(), FlowStats::default());
            for (flow, stats) in agent.flow_stats() {
                flows[usize::from(flow)].add(&stats);
            }
            agents.push((endpoint.device, agent.stats(end)));
        }
        if let Some(flow) = register_flow(&self.links.config) {
            flows[usize::from(flow)].add(&self.registers.answered);
        }
        (agents, flows)
    }

    /// What of every flow is still under way.
    pub fn left(&self) -> Vec<FlowLeft> {
        let mut flows = vec![FlowLeft::default(); self.links.config.flows.len()];
        let agents = || self.hosts.agents.iter().flatten();
        // Who sent it may not have heard.
        let over: BTreeSet<(u32, u32)> = agents().flat_map(|agent| agent.over()).collect();
        for (id, packet) in self.links.packets.iter() {
            let device = self.links.ports[packet.port.index()].link.device;
            let from = (device, self.links.nodes.number(device, packet.port));
            let members = self.links.config.members(from, packet.destination, |port| {
                let peer = self.links.across(self.links.nodes.port(port))?;
                let device = self.links.ports[peer.index()].link.device;
                Some((device, self.links.nodes.number(device, peer)))
            });
            flows[usize::from(packet.flow)].packet(packet.created, packet.begun(), members);
            // The engine of a message has it until it is answered or given up; of a PDU nobody hears again.
            let Some(cargo) = self.links.packets.cargoes.get(id) else { continue };
            let Body::Stream(segment) = &cargo.body else { continue };
            let label = &segment.payload().label;
            if !over.contains(&(cargo.source, label.sequence)) {
                flows[usize::from(label.flow)].message(label.created);
            }
        }
        let given_up: BTreeSet<(u32, Token)> = agents().flat_map(|agent| agent.given_up()).collect();
        for (id, label) in agents().flat_map(|agent| agent.unsent()) {
            if id.is_none_or(|id| !over.contains(&(id, label.sequence))) {
                flows[usize::from(label.flow)].message(label.created);
            }
        }
        for (flow, sent, from) in agents().flat_map(|agent| agent.come()) {
            if !given_up.contains(&from) {
                flows[usize::from(flow)].message(sent);
            }
        }
        for (flow, protocol) in agents().flat_map(|agent| agent.protocols()) {
            if let Some(awaited) = protocol.awaited() {
                flows[usize::from(flow)].wait(awaited);
            }
        }
        for flow in agents().flat_map(|agent| agent.active_flows()) {
            flows[usize::from(flow)].acts = true;
        }
        for flow in agents().flat_map(|agent| agent.sleeping_flows()) {
            flows[usize::from(flow)].sleeps = true;
        }
        let sources = self.endpoints.iter().flat_map(|endpoint| &endpoint.sources);
        let sources = sources.chain(agents().flat_map(|agent| agent.sources()));
        sources.filter_map(Source::goes_on).for_each(|flow| flows[usize::from(flow)].goes_on = true);
        flows
    }

    /// PDUs of session management on their way, by flow.
    fn aboard(&self) -> BTreeMap<u16, Vec<Aboard>> {
        let mut flows: BTreeMap<u16, Vec<Aboard>> = BTreeMap::new();
        let mut note = |from: u32, label: &Label| {
            if label.pdu > 0 {
                let Label { pdu, asked, .. } = *label;
                flows.entry(label.flow).or_default().push(Aboard { from, pdu, asked });
            }
        };
        // The engine of a message has it until it is answered or given up; of a PDU nobody hears again.
        for cargo in self.links.packets.cargoes.iter() {
            if let body @ Body::Stream(_) = &cargo.body
                && let Some(data) = body.payload()
            {
                note(cargo.source, &data.label);
            }
        }
        for agent in self.hosts.agents.iter().flatten() {
            agent.unsent().for_each(|(_, label)| note(agent.id, label));
            agent.received().for_each(|(from, label)| note(from, label));
        }
        flows
    }

    /// What protocols have come to at `end`, flow by flow.
    pub(super) fn protocol_totals(&self, end: u64) -> Totals {
        let mut flows: BTreeMap<u16, Vec<(u32, &dyn Protocol)>> = BTreeMap::new();
        for (endpoint, agent) in self.endpoints.iter().zip(self.hosts.agents.iter()) {
            for (flow, protocol) in agent.iter().flat_map(|agent| agent.protocols()) {
                flows.entry(flow).or_default().push((endpoint.device, protocol));
            }
        }
        let carried = || {
            // What is cut into packets has its label in each part, a response beside it.
            let token =
                |cargo: &Cargo| cargo.body.payload().map_or(cargo.label.token, |data| data.label.token);
            let packets = self.links.packets.cargoes.iter().map(|cargo| (cargo.source, token(cargo)));
            let waiting = self.hosts.agents.iter().flatten().flat_map(|agent| agent.received_waiting());
            packets.chain(waiting).collect()
        };
        let aboard = LazyCell::new(|| self.aboard());
        let mut totals = Totals::default();
        for (flow, nodes) in &flows {
            let aboard = || aboard.get(flow).cloned().unwrap_or_default();
            // Of each kind the first: those of a kind look at each other.
            let mut kinds = Vec::new();
            for (_, node) in nodes {
                let kind = (*node as &dyn Any).type_id();
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                    node.audit(
                        &Ends { flow: *flow, at: end, nodes, carried: &carried, aboard: &aboard },
                        &mut totals,
                    );
                }
            }
        }
        totals
    }

    /// Something changed at an endpoint: makes up creations, starts what may start.
    pub(super) fn endpoint_turn<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId) {
        if let Some(left) = self.endpoints[e].turn(&mut self.links, cx) {
            self.packet_left(cx, e, left);
        }
        self.endpoints[e].rest(&mut self.links, cx);
    }

    /// Answers a request that was delivered to an endpoint; anything else comes back.
    fn answer_at_endpoint<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        e: EndpointId,
        cargo: Box<Cargo>,
        id: u32,
        delivery: &Delivery,
    ) -> Option<Box<Cargo>> {
        let Body::Maintenance(body) = &cargo.body else { return Some(cargo) };
        let device = self.endpoints[e].device;
        let now = cx.now().0;
        let answered = match body.operation() {
            Operation::ReadDone { target_tid, .. } | Operation::WriteDone { target_tid } => {
                Some((*target_tid, false))
            }
            Operation::ReadError { target_tid } | Operation::WriteError { target_tid } => {
                Some((*target_tid, true))
            }
            _ => None,
        };
        if let Some((tid, error)) = answered {
            let step = RegisterStep::Answered { error };
            let (at, flow) = (delivery.at, delivery.flow);
            self.links.observe.probe.register(&RegisterEvent { at, device, tid, flow, step });
            return Some(cargo);
        }
        let (answer, wakes) = self.serve(cx, device, 0, *cargo, id, delivery);
        if wakes {
            self.wake_host(cx, device, delivery.at.0);
        }
        // Creations come before what is made in answer to something.
        self.endpoints[e].materialise(&mut self.links, cx, now);
        if let Some(answer) = answer {
            let sequence = self.registers.spaces[device as usize].answers;
            self.registers.spaces[device as usize].answers += 1;
            let made = Made {
                destination: answer.destination | MAINTENANCE,
                flow: delivery.flow,
                priority: answer.priority,
                size: answer.size,
                sequence,
                origin: origin::REGISTERS,
            };
            let packet = self.endpoints[e].admit_packet(&mut self.links, now, made);
            self.endpoints[e].queue_packet(&mut self.links, cx, packet, now);
            self.links.packets.cargoes.put(packet, answer.cargo);
        }
        self.endpoint_turn(cx, e);
        None
    }
}

fn timer(entry: TimerEntry) -> Payload {
    HostStep::Timer { generation: entry.generation }.pack()
}
