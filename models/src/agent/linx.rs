//! LINX connections over RapidIO: the protocol crate, the link handler above it, and what goes wrong on
//! purpose.
//!
//! The machine is [`linx_riocm::Node`], the code that a product would link. One frame is one type 11 message
//! or one type 9 PDU. RETRY is the engine's affair; a message that failed is a lost frame, and nobody sends
//! it again. A connection that ended is connected again after a while. Around the machine stand an
//! application that sends messages to peers (refused while their connection is not up) and a [`ledger`] that
//! knows more than any node: which message should come next, and who was really down.
//!
//! A message begins with the instant at which the application sent it (fabric time, 8 octets), if it is long
//! enough for that. Its link addresses are its number and that of its connection.

mod audit;
mod forge;
mod ledger;
pub(crate) mod paths;
mod words;

use super::courier::{self, Courier, Step};
use super::data::Data;
use super::machine::conveyance;
use super::protocol::{Conveyance, Cx, Ends, Outcome, Protocol, Received, Send, Token};
use super::workload::Sender;
use crate::config::{LinxConfig, LinxFaultKind, LinxInjection, ProgramTransport};
use crate::endpoint::traffic::Source;
use crate::observe::probe::{ProtocolFact, SignalKind};
use crate::observe::stats::{LinxEnd, LinxStats, widen};
use crate::observe::totals::Totals;
use forge::Stamp;
use ledger::{Ledger, Note};
use linx_riocm::options::PERIOD_UNIT;
use linx_riocm::wire::{Kind, PROTOCOL, View};
use linx_riocm::{Class, Config, ConnectionId, Event, Node, Peer, Phase, Reason};
use sim_core::{Purpose, Stream, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Lies in front of a message that is long enough.
const STAMP_OCTETS: usize = 8;
/// Frame header that tells a heartbeat.
const TYPE_AT: usize = 4;

/// What the scenario does at an instant of the fabric.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    /// The end of a fault comes before the beginning of another.
    End(LinxFaultKind),
    Begin(LinxFaultKind),
    /// The application wants a connection again.
    Want(u16),
    /// The application does not want a connection: not even one that it would begin now.
    Disconnect(u16),
    Connect(u16),
    /// A frame that the scenario sends.
    Inject(usize),
}

/// Where a data frame comes from.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Origin {
    connection: u16,
    /// Own connection ID: that of the life in which it was sent.
    cid: u16,
    /// Of its message.
    position: u32,
}

/// One node of LINX.
#[derive(Debug)]
pub(crate) struct Linx {
    config: Box<LinxConfig>,
    /// None while it is down.
    node: Option<Box<Node>>,
    conveyance: Conveyance,
    /// The application that sends messages.
    sender: Sender,
    ids: Vec<ConnectionId>,
    ledger: Ledger,
    /// Latest first.
    agenda: Vec<(u64, Action)>,
    /// Wishes of the application to have no connection, by connection.
    unwanted: Vec<u32>,
    /// Connects to come, by time of the protocol clock.
    reconnects: BTreeSet<(u64, u16)>,
    /// Frames that wait for the end of a stall.
    held: VecDeque<(u64, Send, Option<Origin>)>,
    /// Data frames whose outcome is not known.
    pub sending: BTreeMap<Token, Origin>,
    /// Position of the message whose frames leave.
    position: u32,
    /// Faults that last, by kind.
    lasting: [u32; 5],
    /// The rank of a program that it runs.
    courier: Option<Box<Courier>>,
    /// When its computations are over, fabric time.
    computing: BTreeSet<(u64, u32)>,
    /// Messages of it for connections that are not up, by connection.
    waiting: BTreeMap<usize, Vec<Vec<u8>>>,
    /// Which of the data priorities comes next.
    turn: usize,
    losses: Option<Box<Stream>>,
    /// Generations, connection IDs and times of reconnects.
    draws: Stream,
    octets: Vec<u8>,
}

impl Linx {
    pub fn new(seed: u64, config: &LinxConfig, sender: Sender) -> Self {
        let mut agenda: Vec<(u64, Action)> = Vec::with_capacity(config.peers.len() + 2 * config.faults.len());
        for fault in &config.faults {
            agenda.push((fault.from.0, Action::Begin(fault.kind)));
            agenda.push((fault.until.0, Action::End(fault.kind)));
        }
        let mut phases = Stream::new(seed, &config.stream, Purpose::PHASE);
        for connection in 0..config.peers.len() {
            let later = if config.spread.0 == 0 { 0 } else { phases.uniform_between(0, config.spread.0) };
            agenda.push((config.connect_at.0 + later, Action::Connect(connection as u16)));
        }
        for &(peer, absence) in &config.disconnects {
            let connection = config.peers.binary_search(&peer).expect("the compiler names peers") as u16;
            agenda.push((absence.from.0, Action::Disconnect(connection)));
            if absence.until != Time::MAX {
                agenda.push((absence.until.0, Action::Want(connection)));
            }
        }
        for (number, injection) in config.injections.iter().enumerate() {
            agenda.push((injection.at.0, Action::Inject(number)));
        }
        agenda.sort_by(|a, b| b.cmp(a));
        let losses = config.loss.iter().any(|&share| share > 0);
        let mut linx = Linx {
            node: None,
            conveyance: conveyance(config.carrier),
            sender,
            ids: Vec::with_capacity(config.peers.len()),
            ledger: Ledger::new(config),
            agenda,
            unwanted: vec![0; config.peers.len()],
            reconnects: BTreeSet::new(),
            held: VecDeque::new(),
            sending: BTreeMap::new(),
            position: 0,
            lasting: [0; 5],
            courier: config.program.as_ref().map(|program| Box::new(Courier::new(program))),
            computing: BTreeSet::new(),
            waiting: BTreeMap::new(),
            turn: 0,
            losses: losses.then(|| Box::new(Stream::new(seed, &config.stream, Purpose::FAULTS))),
            draws: Stream::new(seed, &config.stream, Purpose::CONTENTS),
            octets: Vec::new(),
            config: Box::new(config.clone()),
        };
        linx.boot();
        linx
    }

    /// A node that has just been started knows nothing of what it did before.
    fn boot(&mut self) {
        let config = &self.config;
        let drawn = self.draws.below(1 << 16) as u16;
        let first_cid = config.first_cid.unwrap_or(drawn);
        let settings = Config { device: config.node, first_cid, options: config.options.clone() };
        let mut node = Node::new(settings).expect("the compiler checks the options");
        self.ids.clear();
        for &peer in &config.peers {
            let drawn = self.draws.below(1 << 8) as u8;
            let wishes = Peer {
                mtu: config.mtu,
                hb_tmo: config.hb_tmo,
                generation: config.generation.unwrap_or(drawn),
                port: config.peer_port,
                local_port: config.port,
                device: peer,
            };
            self.ids.push(node.add(wishes).expect("the compiler names each peer once"));
        }
        self.node = Some(Box::new(node));
    }

    /// What happens to links: its own tells it when it goes down, and the ledger knows of all on the way.
    pub fn learn(&mut self, paths: &paths::Paths<'_>, device: u32) {
        for (from, until) in paths.own(device) {
            self.agenda.push((from, Action::Begin(LinxFaultKind::LinkDown)));
            if until != u64::MAX {
                self.agenda.push((until, Action::End(LinxFaultKind::LinkDown)));
            }
        }
        self.agenda.sort_by(|a, b| b.cmp(a));
        self.learn_ways(paths, device, &|device, id| paths.planned(device, id));
    }

    /// Which links are on the ways to and from the peers.
    pub fn learn_ways(&mut self, paths: &paths::Paths<'_>, device: u32, leads: paths::Leads<'_>) {
        let own = u32::from(self.config.node);
        let peers = self.config.peers.iter();
        self.ledger.breaks = peers.map(|&peer| paths.between(device, (own, peer.into()), leads)).collect();
    }

    fn lasts(&self, kind: LinxFaultKind) -> bool {
        self.lasting[kind as usize] > 0
    }

    fn act(&mut self, cx: &mut Cx<'_>, action: Action) {
        match action {
            Action::Connect(connection) => self.connect(cx.now, connection),
            Action::Want(connection) => {
                self.unwanted[usize::from(connection)] -= 1;
                if cx.fabric_now >= self.config.connect_at.0 {
                    self.connect(cx.now, connection);
                }
            }
            Action::Disconnect(connection) => {
                self.unwanted[usize::from(connection)] += 1;
                self.reconnects.retain(|&(_, other)| other != connection);
                if let Some(node) = &mut self.node {
                    node.disconnect(cx.now, self.ids[usize::from(connection)]);
                }
            }
            Action::Inject(number) => self.inject(cx, number),
            Action::Begin(kind) => {
                self.note(cx, || fault_words(kind, true));
                self.lasting[kind as usize] += 1;
                match kind {
                    LinxFaultKind::LinkDown => self.set_link(cx.now, false),
                    LinxFaultKind::Crash => self.crash(cx),
                    LinxFaultKind::Stall | LinxFaultKind::Mute | LinxFaultKind::Deaf => {}
                }
            }
            Action::End(kind) => {
                self.lasting[kind as usize] -= 1;
                if self.lasts(kind) {
                    return;
                }
                self.note(cx, || fault_words(kind, false));
                match kind {
                    LinxFaultKind::LinkDown => self.set_link(cx.now, true),
                    LinxFaultKind::Crash => {
                        self.boot();
                        self.ledger.booted(cx.fabric_now);
                        for connection in 0..self.ids.len() as u16 {
                            self.connect(cx.now, connection);
                        }
                    }
                    LinxFaultKind::Stall => {
                        for (since, send, origin) in std::mem::take(&mut self.held) {
                            self.send_frame(cx, since, send, origin);
                        }
                    }
                    LinxFaultKind::Mute | LinxFaultKind::Deaf => {}
                }
            }
        }
    }

    /// Begins to connect, unless the node is down or its application does not want to.
    fn connect(&mut self, now: u64, connection: u16) {
        let connection = usize::from(connection);
        if let (Some(node), 0) = (&mut self.node, self.unwanted[connection]) {
            node.connect(now, self.ids[connection]);
        }
    }

    fn set_link(&mut self, now: u64, up: bool) {
        if let Some(node) = &mut self.node {
            node.handle_link(now, up);
        }
    }

    /// All state is lost. What is in the fabric stays there.
    fn crash(&mut self, cx: &mut Cx<'_>) {
        let Some(mut node) = self.node.take() else { return };
        for (connection, &id) in self.ids.iter().enumerate() {
            if matches!(node.phase(id), Phase::Connected | Phase::Resetting) {
                self.ledger.ended(connection, LinxEnd::Crash, cx.now, cx.fabric_now);
                cx.emit(ProtocolFact::Disconnected);
            }
        }
        self.ledger.count(&node.take_counters());
        self.reconnects.clear();
        self.held.clear();
        self.sending.clear();
    }

    /// Sends and tells what the node has to send and to tell.
    fn drain(&mut self, cx: &mut Cx<'_>) {
        loop {
            self.send_frames(cx);
            let Some(event) = self.node.as_mut().and_then(|node| node.poll_event()) else { break };
            match event {
                Event::Connected { connection, link } => {
                    let period = u64::from(link.hb_tmo) * PERIOD_UNIT;
                    self.ledger.connected(connection.index(), period, cx.now, cx.fabric_now);
                    self.note(cx, || words::up_words(&link));
                    cx.emit(ProtocolFact::Connected);
                    for octets in self.waiting.remove(&connection.index()).unwrap_or_default() {
                        self.pass(cx, connection.index(), &octets, false);
                    }
                }
                Event::Disconnected { connection, reason } => {
                    let end = match reason {
                        Reason::Timeout => LinxEnd::Timeout,
                        Reason::PeerReset => LinxEnd::PeerReset,
                        Reason::PeerRestart => LinxEnd::PeerRestart,
                        Reason::LinkDown => LinxEnd::LinkDown,
                        Reason::Local(_) => LinxEnd::Local,
                        Reason::Requested => LinxEnd::Requested,
                    };
                    self.note(cx, || words::down_words(reason));
                    if end == LinxEnd::Timeout {
                        cx.emit(ProtocolFact::TimedOut);
                    }
                    let ended = self.ledger.ended(connection.index(), end, cx.now, cx.fabric_now);
                    if let Some(kind) = ended.late {
                        cx.late(kind);
                    }
                    if ended.was_up {
                        cx.emit(ProtocolFact::Disconnected);
                    }
                    if self.unwanted[connection.index()] > 0 {
                        continue;
                    }
                    let spread = self.config.reconnect_spread;
                    let later = if spread == 0 { 0 } else { self.draws.uniform_between(0, spread) };
                    let again = cx.now.saturating_add(self.config.reconnect_after).saturating_add(later);
                    self.reconnects.insert((again, connection.index() as u16));
                }
                Event::Deliver { connection, delivery } => {
                    let note = Note { src: delivery.src, dst: delivery.dst };
                    let connection = connection.index();
                    let stamped = self.courier.is_none();
                    let taken =
                        self.ledger.deliver(connection, note, &delivery, stamped.then_some(cx.fabric_now));
                    if let Some(courier) = self.courier.as_mut().filter(|_| taken) {
                        courier.heard(&delivery.octets);
                        self.advance(cx);
                    }
                    if let (true, Some(octets)) = (taken && !note.is_reply(), self.config.reply) {
                        let created = delivery.octets.first_chunk().map(|at| u64::from_be_bytes(*at));
                        let created = created.unwrap_or(cx.fabric_now);
                        self.say(cx, connection, octets as usize, created, true);
                    }
                }
            }
        }
    }

    fn send_frames(&mut self, cx: &mut Cx<'_>) {
        while let Some(frame) = self.node.as_mut().and_then(|node| node.poll_transmit()) {
            let (class, priority) = match frame.class {
                Class::Connection => (0, self.config.connection_priority),
                Class::Heartbeat => (1, self.config.heartbeat_priority),
                Class::Data => {
                    let priorities = &self.config.data_priorities;
                    self.turn = (self.turn + 1) % priorities.len();
                    (2, priorities[self.turn])
                }
            };
            if let (Class::Data, Some(position)) = (frame.class, position_of(frame.octets)) {
                self.position = position;
            }
            let lost = match &mut self.losses {
                Some(losses) => losses.chance(self.config.loss[class].into(), 1_000_000),
                None => false,
            };
            let silent = [LinxFaultKind::Mute, LinxFaultKind::LinkDown];
            if lost || silent.into_iter().any(|kind| self.lasting[kind as usize] > 0) {
                self.ledger.stats.muted += 1;
                if frame.class == Class::Data {
                    self.ledger.frame_lost(frame.connection.index(), self.position);
                }
                if self.config.charted {
                    let words = words::frame_words(frame.octets);
                    cx.tell(SignalKind::Lost { to: frame.destination, words });
                }
                continue;
            }
            let conveyance = at_priority(self.conveyance, priority);
            let to = u32::from(frame.destination);
            let (connection, is_data) = (frame.connection, frame.class == Class::Data);
            let payload = Data::bytes(frame.octets.to_vec());
            let send = Send { to, priority, conveyance, payload };
            let origin = is_data.then(|| self.origin(connection));
            self.launch(cx, send, origin);
        }
    }

    /// A frame leaves, or waits for the end of a stall.
    fn launch(&mut self, cx: &mut Cx<'_>, send: Send, origin: Option<Origin>) {
        if self.lasts(LinxFaultKind::Stall) {
            self.ledger.stats.stalled += 1;
            self.held.push_back((cx.fabric_now, send, origin));
        } else {
            self.send_frame(cx, cx.fabric_now, send, origin);
        }
    }

    /// The scenario sends a frame in the name of this node, if it is there to send.
    fn inject(&mut self, cx: &mut Cx<'_>, number: usize) {
        let LinxInjection { to, relative, ref octets, .. } = self.config.injections[number];
        let mut octets = octets.clone();
        let silent = self.lasts(LinxFaultKind::Mute) || self.lasts(LinxFaultKind::LinkDown);
        let (Some(node), false) = (&self.node, silent) else {
            self.ledger.stats.muted += 1;
            return;
        };
        if relative {
            Stamp::of(node, self.ids[self.connection_to(to)]).add_to(&mut octets);
        }
        let kind = View::new(&octets).type_code().unwrap_or(0);
        let data = Kind::from_code(kind).is_some_and(Kind::is_data);
        let priority = match kind {
            0x80.. => self.config.connection_priority,
            _ if kind == Kind::Heartbeat.code() => self.config.heartbeat_priority,
            _ => self.config.data_priorities[0],
        };
        self.ledger.stats.injected += 1;
        self.ledger.stats.injected_data += u64::from(data);
        let conveyance = at_priority(self.conveyance, priority);
        self.launch(cx, Send { to: to.into(), priority, conveyance, payload: Data::bytes(octets) }, None);
    }

    /// Of a data frame that leaves now.
    fn origin(&self, connection: ConnectionId) -> Origin {
        let link = self.node.as_ref().and_then(|node| node.link(connection));
        let cid = link.map_or(0, |link| link.cid);
        Origin { connection: connection.index() as u16, cid, position: self.position }
    }

    /// A frame leaves that the node wanted to send at `since`.
    fn send_frame(&mut self, cx: &mut Cx<'_>, since: u64, send: Send, origin: Option<Origin>) {
        let to = send.to as u16;
        let words = if self.config.charted { send.payload.as_bytes().map(words::frame_words) } else { None };
        let token = cx.send(send);
        if let Some(origin) = origin {
            self.sending.insert(token, origin);
            self.ledger.frame_left(origin.connection.into(), token, origin.position);
        }
        if let Some(words) = words {
            cx.tell(SignalKind::Sent { token, to, since: Time(since), words });
        }
    }

    /// Tells observers of something, if they want to know.
    fn note(&self, cx: &mut Cx<'_>, words: impl FnOnce() -> String) {
        if self.config.charted {
            cx.tell(SignalKind::Note { words: words() });
        }
    }

    /// The application sends a message. `created` goes with it: when it was sent, or what it answers.
    fn say(&mut self, cx: &mut Cx<'_>, connection: usize, octets: usize, created: u64, reply: bool) {
        let mut message = std::mem::take(&mut self.octets);
        message.clear();
        message.resize(octets, self.ledger.note(connection, reply).filler(self.config.port));
        if let Some(place) = message.get_mut(..STAMP_OCTETS) {
            place.copy_from_slice(&created.to_be_bytes());
        }
        let now = Time(cx.fabric_now);
        widen(&mut self.ledger.stats.message_span, Some((now, now)));
        self.pass(cx, connection, &message, reply);
        self.octets = message;
    }

    /// Passes a message to the node, or counts it as refused.
    fn pass(&mut self, cx: &Cx<'_>, connection: usize, octets: &[u8], reply: bool) {
        self.ledger.stats.messages += 1;
        let id = self.ids[connection];
        let Some(node) = self.node.as_mut().filter(|node| node.link(id).is_some()) else {
            self.ledger.stats.refused += 1;
            return;
        };
        let note = self.ledger.next_note(connection, reply, cx.fabric_now);
        node.transmit(cx.now, id, note.src, note.dst, octets);
    }

    /// The program goes on as far as it can. What it says before a connection is up waits for it.
    fn advance(&mut self, cx: &mut Cx<'_>) {
        while let Some(step) = self.courier.as_mut().and_then(|courier| courier.poll(cx.fabric_now)) {
            match step {
                Step::Say { node, pdu } => {
                    let connection = self.connection_to(node);
                    let id = self.ids[connection];
                    let up = self.node.as_ref().is_some_and(|node| node.link(id).is_some());
                    if up && !self.waiting.contains_key(&connection) {
                        self.pass(cx, connection, &pdu, false);
                    } else {
                        self.waiting.entry(connection).or_default().push(pdu);
                    }
                }
                Step::Compute { op, time } => {
                    self.computing.insert((cx.fabric_now.saturating_add(time), op));
                }
            }
        }
    }

    fn connection_to(&self, node: u16) -> usize {
        self.config.peers.binary_search(&node).expect("the compiler lets nodes send to their peers only")
    }

    /// What is known so far, with what only the end shows.
    fn totals(&self) -> LinxStats {
        self.ledger.totals(self.node.as_ref().map(|node| node.counters()))
    }
}

impl Protocol for Linx {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.advance(cx);
    }

    fn claims(&self, received: &Received, own: bool) -> bool {
        port_of(frame_of(received)).map_or(own, |port| port == self.config.port)
    }

    fn received(&mut self, cx: &mut Cx<'_>, received: Received) {
        let deaf = self.lasts(LinxFaultKind::Deaf) || self.lasts(LinxFaultKind::LinkDown);
        let (Some(node), false) = (&mut self.node, deaf) else {
            self.ledger.stats.unheard += 1;
            return;
        };
        if self.config.charted {
            let token = received.payload.label.token;
            cx.tell(SignalKind::Arrived { token, source: received.leg.source });
        }
        let frame = frame_of(&received);
        if port_of(frame).is_some_and(|port| port != self.config.port) {
            self.ledger.stats.portless += 1;
            return;
        }
        // Forged data may have taken the number of data of the peer: what finds it taken was not received.
        let taken = |node: &Node| node.counters().old_data + node.counters().duplicates;
        let taken_before = taken(node);
        let accepted_before = node.counters().heartbeats;
        let connection = node.handle_frame(cx.now, frame);
        let is_received = taken(node) == taken_before;
        let is_accepted = node.counters().heartbeats > accepted_before;
        let code = frame.get(TYPE_AT).copied().unwrap_or(0);
        if let Some(id) = connection {
            if is_accepted {
                self.ledger.heard(id.index(), cx.now, cx.fabric_now);
            } else if code < Kind::Heartbeat.code() && is_received {
                self.ledger.frame_came(id.index(), received.payload.label.token);
            }
        }
        if !node.is_drained() {
            self.drain(cx);
        }
    }

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: Outcome) {
        let Some(origin) = self.sending.remove(&token) else { return };
        // A message that cannot be delivered resets its connection (10.1).
        if let (Outcome::Failed, Some(node)) = (outcome, &mut self.node) {
            let id = self.ids[usize::from(origin.connection)];
            node.handle_send_failure(cx.now, id, origin.cid);
            self.drain(cx);
        }
    }

    fn timeout(&mut self, cx: &mut Cx<'_>) {
        let Some(node) = &mut self.node else { return };
        while let Some(&(at, connection)) = self.reconnects.first()
            && at <= cx.now
        {
            self.reconnects.pop_first();
            node.connect(cx.now, self.ids[usize::from(connection)]);
        }
        node.handle_timeout(cx.now);
        self.drain(cx);
    }

    fn poll_timeout(&self) -> Option<u64> {
        let node = self.node.as_ref()?.poll_timeout();
        let connect = self.reconnects.first().map(|&(at, _)| at);
        connect.into_iter().chain(node).min()
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        while let Some((_, action)) = self.agenda.pop_if(|(at, _)| *at <= cx.fabric_now) {
            self.act(cx, action);
            self.drain(cx);
        }
        while let Some(&(at, op)) = self.computing.first()
            && at <= cx.fabric_now
        {
            self.computing.pop_first();
            if let Some(courier) = &mut self.courier {
                courier.computed(op, at);
            }
            self.advance(cx);
            self.drain(cx);
        }
        while self.sender.due(cx.fabric_now) {
            let draw = self.sender.draw();
            let connection = self.connection_to(draw.destination as u16);
            self.say(cx, connection, draw.size.payload.into(), cx.fabric_now, false);
            self.drain(cx);
        }
    }

    fn poll_arrival(&self) -> Option<Time> {
        let planned = self.agenda.last().map(|&(at, _)| Time(at));
        let computed = self.computing.first().map(|&(at, _)| Time(at));
        planned.into_iter().chain(computed).chain(self.sender.next()).min()
    }

    fn sources(&self) -> Vec<&Source> {
        self.sender.source().into_iter().collect()
    }

    fn audit(&self, ends: &Ends<'_>, totals: &mut Totals) {
        let nodes = ends.nodes();
        totals.push(audit::audit(ends.flow, &nodes, ends.at, &ends.carried()));
        let ranks: Vec<&Courier> = nodes.iter().filter_map(|(_, node)| node.courier.as_deref()).collect();
        if !ranks.is_empty() {
            let waiting = nodes.iter().flat_map(|(_, node)| node.waiting.values());
            let waiting = waiting.map(|pdus| pdus.len() as u64).sum();
            totals.push(courier::audit(ends.flow, ProgramTransport::Linx, &ranks, waiting, None));
        }
    }
}

/// How frames of a priority are conveyed: a stream has one.
fn at_priority(conveyance: Conveyance, priority: u8) -> Conveyance {
    match conveyance {
        Conveyance::Stream { cos, stream_id } => {
            Conveyance::Stream { cos, stream_id: stream_id + u16::from(priority) }
        }
        conveyance => conveyance,
    }
}

/// The octets of something that came.
fn frame_of(received: &Received) -> &[u8] {
    received.payload.as_bytes().unwrap_or(&[])
}

/// The port that a frame of LINX is for: the core of the device (10.1).
fn port_of(octets: &[u8]) -> Option<u16> {
    let view = View::new(octets);
    view.dst_port().filter(|_| view.protocol() == Some(PROTOCOL))
}

/// The position of the message that a data frame begins.
fn position_of(octets: &[u8]) -> Option<u32> {
    let starts = [Kind::Single, Kind::FragStart, Kind::PatchStart].map(Kind::code);
    let view = View::new(octets);
    view.dst().filter(|_| view.type_code().is_some_and(|code| starts.contains(&code)))
}

fn fault_words(kind: LinxFaultKind, begins: bool) -> String {
    let words = match (kind, begins) {
        (LinxFaultKind::Stall, true) => "its path is blocked",
        (LinxFaultKind::Stall, false) => "its path is free",
        (LinxFaultKind::Mute, true) => "falls silent",
        (LinxFaultKind::Mute, false) => "is heard again",
        (LinxFaultKind::Deaf, true) => "hears nothing",
        (LinxFaultKind::Deaf, false) => "hears again",
        (LinxFaultKind::LinkDown, true) => "link down",
        (LinxFaultKind::LinkDown, false) => "link up",
        (LinxFaultKind::Crash, true) => "goes down",
        (LinxFaultKind::Crash, false) => "begins anew",
    };
    words.into()
}
