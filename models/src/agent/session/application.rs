//! An application at its node: what one flow opens, sends and takes.

use super::bridge::Beyond;
use super::census::Census;
use super::launch::{self, Launcher};
use super::setup::spoken;
use super::{Node, Role, Taking, names};
use crate::agent::Service;
use crate::agent::courier::{self, Courier, Step};
use crate::agent::protocol::{Cx, Token};
use crate::agent::workload::Sender;
use crate::config::{ContactSource, ScriptStep, SessionConfig, SessionProtocol, UserCommand, Wanted};
use crate::observe::probe::{ProtocolFact, SignalKind, TimeoutKind};
use crate::observe::stats::SessionStats;
use session_management::attribute::List;
use session_management::conduit::Side;
use session_management::endpoint::{Deadline, Ending, Event, OpenFailure, Outstanding, Refused, StreamRef};
use session_management::ethernet;
use session_management::message::Command;
use session_management::protocol::{NO_STREAM, Protocol as Spoken};
use session_management::register::Participation;
use session_management::segment::Loss;
use session_management::status::StatusBits;
use sim_core::{Purpose, Stream, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Octets in front of the payload of an Ethernet frame.
pub(super) const FRAME_HEADER: usize = 14;

/// What the application or the scenario does at an instant of the fabric.
#[derive(Debug)]
pub(super) enum Action {
    Create(u16),
    Scan,
    CloseAll,
    /// All state is lost: whether numbers begin as before, and how long the hardware is reset, if it is.
    Restart(bool, Option<u64>),
    /// Octets leave as they are.
    Inject(usize),
    /// A USERDEFINED command leaves.
    Command(usize),
    /// The consumer is done with a PDU.
    Consumed,
    /// A frame has left into the segment behind a bridge.
    Left(Vec<u8>),
    /// A delayed message leaves.
    Leave(Box<launch::Message>),
    Script(usize),
    /// The program has computed.
    Computed(u32),
}

/// PDUs that have come and are remembered, of each sender: several times what it may have under way.
const RECENT: usize = 4 * super::DATA_WINDOW;

/// Which PDU one is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    /// As its octets say: who sent it, and the how manieth of that source.
    Told(u64, u64),
    /// By the message that carried it, if it is too short to say so: from which node, and the how manieth of
    /// that node. It had one message alone.
    Carried(u16, u32),
}

/// A conduit, or streams, that are open at this end. F: not open.
#[derive(Copy, Clone, Debug)]
pub(super) struct Open {
    pub receive: u16,
    pub transmit: u16,
    pub since: u64,
}

/// A data message, as a part of a PDU.
#[derive(Copy, Clone, Debug)]
pub(super) struct Part {
    /// The PDU ends with it.
    pub ends: bool,
    /// When the PDU was sent, if it is long enough to say so.
    pub sent: Option<Time>,
    /// Which PDU of the application it is, counted from 1.
    pub pdu: u32,
}

/// The application that takes PDUs, one after the other.
#[derive(Debug)]
pub(super) struct Taker {
    service: Service,
    stop_at: u32,
    go_at: u32,
    waiting: VecDeque<Held>,
    serving: Option<Held>,
    stopped: bool,
}

impl Taker {
    /// PDUs that came as they were sent, and for the first time, and that the application is not done with.
    fn held(&self) -> impl Iterator<Item = Held> + '_ {
        self.waiting.iter().chain(&self.serving).copied().filter(|held| held.counts)
    }
}

/// A PDU at its application.
#[derive(Copy, Clone, Debug)]
struct Held {
    /// It is as it was sent, and has not come before.
    counts: bool,
    /// When it was sent, if it counts and says so.
    sent: Option<Time>,
    /// When it came.
    came: Time,
    /// Octets for the application.
    octets: u64,
}

impl Held {
    /// Its application is done with it.
    fn done(self, stats: &mut SessionStats, now: Time) {
        if let Some(sent) = self.sent {
            stats.taken(sent, self.came, now);
        }
    }
}

/// One application of a node: what a flow of session management is there.
#[derive(Debug)]
pub(super) struct Application {
    /// Its place among the applications of the node.
    pub number: usize,
    /// Part of the agent, and flow.
    pub part: u16,
    pub flow: u16,
    pub config: Box<SessionConfig>,
    pub launcher: Launcher,
    /// Who sends PDUs.
    pub sender: Sender,
    pdus: u32,
    /// PDUs for conduits that are not open yet, by peer.
    waiting: BTreeMap<u16, VecDeque<Vec<u8>>>,
    pub open: BTreeMap<u16, Open>,
    /// When a conduit with each peer was first open.
    pub first: BTreeMap<u16, u64>,
    /// Peers to which it has closed what it had: it wants nothing there any more.
    pub closed: BTreeSet<u16>,
    /// Whether the application has closed what it had, and opens nothing any more.
    closing: bool,
    /// Peers to which nothing was open yet when it did: what opens to them is closed at once.
    unwanted: BTreeSet<u16>,
    /// Ids that are scanned for participants.
    pub scanning: BTreeSet<u16>,
    /// OPENs that a peer has refused, while its attributes are asked for; none: it has been asked before.
    pub refused: BTreeMap<u16, Option<u16>>,
    pub agenda: BTreeMap<(u64, u64), Action>,
    entries: u64,
    /// Data messages under way.
    pub under_way: BTreeMap<Token, Part>,
    consumer: Option<Box<Taker>>,
    /// Which PDUs have come, where some may come twice.
    seen: BTreeSet<Name>,
    /// The last PDUs that have come of each node that is told so: it may not have heard of it.
    recent: BTreeMap<u16, VecDeque<u32>>,
    /// The rank of a program that it runs.
    pub courier: Option<Box<Courier>>,
    pub stats: SessionStats,
    /// Bridges, segments behind them, and a broadcast server, if it speaks Ethernet.
    pub beyond: Beyond,
    /// What it had at certain instants.
    pub census: Option<Box<Census>>,
}

impl Application {
    /// `path`: of the endpoint; `number`: its place among the applications of the node.
    pub fn new(seed: u64, path: &str, number: usize, role: Role<'_>) -> Self {
        let Role { part, flow, config, sender } = role;
        let mut application = Application {
            number,
            part,
            flow,
            launcher: Launcher::new(config),
            sender,
            pdus: 0,
            waiting: BTreeMap::new(),
            open: BTreeMap::new(),
            first: BTreeMap::new(),
            closed: BTreeSet::new(),
            closing: false,
            unwanted: BTreeSet::new(),
            scanning: BTreeSet::new(),
            refused: BTreeMap::new(),
            agenda: BTreeMap::new(),
            entries: 0,
            under_way: BTreeMap::new(),
            seen: BTreeSet::new(),
            recent: BTreeMap::new(),
            consumer: config.consumer.map(|consumer| {
                Box::new(Taker {
                    service: Service::new(consumer.service, seed, &format!("{path}/{flow}/consumer")),
                    stop_at: consumer.stop_at,
                    go_at: consumer.go_at,
                    waiting: VecDeque::new(),
                    serving: None,
                    stopped: false,
                })
            }),
            courier: config.program.as_ref().map(|program| Box::new(Courier::new(program))),
            stats: SessionStats::default(),
            beyond: Beyond::new(config.bridges.get(&config.node).copied()),
            census: config.census.map(|every| Box::new(Census::new(every))),
            config: Box::new(config.clone()),
        };
        if let Some(creates) = &config.creates {
            let mut draws = Stream::new(seed, &creates.stream, Purpose::PHASE);
            let scans = !config.scans.is_empty();
            if scans {
                application.plan(creates.at.0, Action::Scan);
            }
            for &peer in creates.peers.iter().filter(|_| !scans) {
                let later =
                    if creates.spread.0 == 0 { 0 } else { draws.uniform_between(0, creates.spread.0) };
                application.plan(creates.at.0 + later, Action::Create(peer as u16));
            }
        }
        if let Some(at) = config.close_at {
            application.plan(at.0, Action::CloseAll);
        }
        for restart in &config.restarts {
            application.plan(restart.at.0, Action::Restart(restart.reuses, restart.reset.map(|time| time.0)));
        }
        for (number, command) in config.commands.iter().enumerate() {
            application.plan(command.at.0, Action::Command(number));
        }
        for (number, (at, ..)) in config.injections.iter().enumerate() {
            application.plan(at.0, Action::Inject(number));
        }
        for (number, (at, step)) in config.script.iter().flatten().enumerate() {
            let action = match step {
                ScriptStep::Restart => Action::Restart(false, None),
                _ => Action::Script(number),
            };
            application.plan(at.0, action);
        }
        application
    }

    pub fn plan(&mut self, at: u64, action: Action) {
        self.entries += 1;
        self.agenda.insert((at, self.entries), action);
    }

    /// What is due by now, taken off the agenda.
    pub fn planned(&mut self, now: u64) -> Option<Action> {
        self.agenda.first_entry().filter(|entry| entry.key().0 <= now).map(|entry| entry.remove())
    }

    /// The first restart on the agenda.
    fn restart(&self) -> Option<(u64, u64)> {
        let restart = |entry: &(&(u64, u64), &Action)| matches!(entry.1, Action::Restart(..));
        self.agenda.iter().find(restart).map(|(&key, _)| key)
    }

    /// When its node restarts next, whether its software is up or not.
    pub fn next_restart(&self) -> Option<Time> {
        self.restart().map(|(at, _)| Time(at))
    }

    /// A restart that is due by now, taken off the agenda before all else.
    pub fn restart_due(&mut self, now: u64) -> Option<Action> {
        let key = self.restart().filter(|&(at, _)| at <= now)?;
        self.agenda.remove(&key)
    }

    /// When it wants something next.
    pub fn next(&self) -> Option<Time> {
        let planned = self.agenda.first_key_value().map(|(&(at, _), _)| Time(at));
        planned.into_iter().chain(self.sender.next()).min()
    }

    pub fn spoken(&self) -> Spoken {
        spoken(self.config.protocol)
    }

    /// Tells observers of something, if they want to know.
    pub fn note(&self, cx: &mut Cx<'_>, words: impl FnOnce() -> String) {
        if self.config.charted {
            cx.tell(SignalKind::Note { words: words() });
        }
    }

    /// Octets in front of the payload of a PDU.
    fn header(&self) -> usize {
        match self.config.protocol {
            SessionProtocol::Ethernet { .. } => FRAME_HEADER,
            SessionProtocol::Plain(_) | SessionProtocol::Vendor { .. } => 0,
        }
    }

    /// When one of its PDUs was sent, if it is long enough to say so. Those of programs say something else.
    pub(super) fn sent_at(&self, pdu: &[u8]) -> Option<Time> {
        sent_at(pdu, self.header()).filter(|_| self.courier.is_none())
    }

    /// What it had is forgotten: its node restarts.
    pub fn forget(&mut self, cx: &mut Cx<'_>) {
        self.note(cx, || "restarts".into());
        self.closed.clear();
        self.closing = false;
        self.unwanted.clear();
        self.beyond.forget();
        self.scanning.clear();
        self.refused.clear();
        // Streams that are no conduits were not counted when they opened.
        if self.config.wanted == Wanted::Conduits {
            for _ in 0..self.open.len() {
                cx.emit(ProtocolFact::ConduitEnded);
            }
            self.stats.ended += self.open.len() as u64;
        }
        self.open.clear();
        self.stats.pdus_lost += self.waiting.values().map(|queue| queue.len() as u64).sum::<u64>();
        self.waiting.clear();
        self.under_way.clear();
        self.launcher.forget();
        if let Some(taker) = &mut self.consumer {
            self.stats.pdus_forgotten += taker.held().count() as u64;
            self.stats.octets_forgotten += taker.held().map(|held| held.octets).sum::<u64>();
            taker.waiting.clear();
            if let Some(held) = &mut taker.serving {
                *held = Held { counts: false, sent: None, came: Time(0), octets: 0 };
            }
            taker.stopped = false;
        }
        self.stats.restarts += 1;
    }

    /// What is known so far, with what only the end shows.
    pub fn totals(&self, node: &Node) -> SessionStats {
        let mut stats = self.stats.clone();
        // What a node counts for all its applications together stands with the first.
        if self.number == 0 {
            let counters = node.counters();
            stats.retransmissions = counters.retransmissions;
            stats.malformed = counters.malformed;
            stats.dropped = counters.dropped;
        }
        let queued = node.endpoint.queued_pdus(self.spoken()) as u64;
        stats.pdus_waiting = queued + self.waiting.values().map(|queue| queue.len() as u64).sum::<u64>();
        stats.never_struck = self.launcher.never_struck();
        stats.behind = self.beyond.waiting();
        let queued = self.unsent(node).filter_map(|pdu| self.sent_at(pdu));
        let begun = self.launcher.begun().filter_map(|part| part.sent);
        stats.oldest_waiting = queued.chain(begun).min();
        if let Some(taker) = &self.consumer {
            stats.pdus_held = taker.held().count() as u64;
            stats.octets_held = taker.held().map(|held| held.octets).sum();
            stats.oldest_held = taker.held().filter_map(|held| held.sent).min();
        }
        stats
    }

    /// PDUs of which nothing has left.
    pub fn unsent<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a [u8]> {
        let waiting = self.waiting.values().flatten().map(Vec::as_slice);
        waiting.chain(node.endpoint.unsent_pdus(self.spoken()))
    }

    /// Data messages that the scenario has not let leave yet.
    pub fn held(&self) -> impl Iterator<Item = Part> + '_ {
        let delayed = self.agenda.values().filter_map(|action| match action {
            Action::Leave(message) => message.part(),
            _ => None,
        });
        delayed.chain(self.launcher.held_data())
    }

    /// PDUs that have come of which parts may still be on their way, or their senders may not know: node, and
    /// number there.
    pub fn came(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        let seen = self.seen.iter().filter_map(|name| match *name {
            Name::Carried(peer, pdu) => Some((peer, pdu)),
            Name::Told(..) => None,
        });
        let recent = self.recent.iter().flat_map(|(&peer, pdus)| pdus.iter().map(move |&pdu| (peer, pdu)));
        seen.chain(recent)
    }

    /// Whether a PDU was sent before an end of its stream restarted.
    fn is_of_former_life(&self, cx: &Cx<'_>, peer: u16, sent: Option<Time>) -> bool {
        let lives = &self.config.lives;
        let restarts = [peer, self.config.node].into_iter().filter_map(|node| lives.get(&node)).flatten();
        let mut since = restarts.filter(|at| at.0 <= cx.fabric_now);
        since.any(|at| sent.is_some_and(|sent| sent < *at))
    }
}

/// An application, while it acts at its node.
pub(super) struct Seat<'a> {
    pub node: &'a mut Node,
    pub app: &'a mut Application,
}

impl Seat<'_> {
    /// It begins, now.
    pub fn start(&mut self, cx: &mut Cx<'_>) {
        self.app.sender.start(cx.fabric_now);
        // The application begins as much later; what it planned keeps its distances.
        let planned = std::mem::take(&mut self.app.agenda);
        let later = |((at, entry), action)| ((at + cx.fabric_now, entry), action);
        self.app.agenda = planned.into_iter().map(later).collect();
        self.advance(cx);
    }

    /// Reads what the directory says of a node, once, if the contacts of nodes are assumed.
    pub fn look_up(&mut self, now: u64, peer: u16) {
        if self.app.config.contacts == ContactSource::Registers || !self.node.known.insert(peer) {
            return;
        }
        if let Some(entry) = self.app.config.directory.get(&peer) {
            let own = self.app.config.directory[&self.app.config.node].contact;
            let ready = Participation::Ready(entry.contact_for(own));
            self.node.endpoint.handle_participation(now, peer, ready, &entry.attributes());
        }
    }

    pub fn act(&mut self, cx: &mut Cx<'_>, action: Action) {
        match action {
            Action::Create(peer) => self.create(cx, peer),
            Action::Scan => self.scan(cx),
            Action::CloseAll => self.close_all(cx.now),
            Action::Restart(..) => unreachable!("a node restarts with all its applications"),
            Action::Inject(number) => self.inject(cx, number),
            Action::Command(number) => self.command(cx, number),
            Action::Consumed => {
                if let Some(taker) = &mut self.app.consumer {
                    if let Some(held) = taker.serving.take() {
                        held.done(&mut self.app.stats, Time(cx.fabric_now));
                    }
                    self.take_next(cx);
                }
            }
            Action::Left(frame) => self.left_fabric(cx, &frame),
            Action::Leave(message) => self.leave(cx, *message),
            Action::Computed(op) => {
                if let Some(courier) = &mut self.app.courier {
                    courier.computed(op, cx.fabric_now);
                }
                self.advance(cx);
            }
            Action::Script(step) => {
                let script = self.app.config.script.as_ref().expect("steps are those of a script");
                let step = script[step].1.clone();
                self.step(cx, step);
            }
        }
    }

    /// The application closes what it has. An OPEN that is under way cannot be taken back: what comes of it
    /// is closed when it is there.
    fn close_all(&mut self, now: u64) {
        self.app.closing = true;
        let creates = self.app.config.creates.iter().flat_map(|creates| creates.peers.iter());
        let wanted = creates.map(|&peer| peer as u16).chain(self.app.config.scans.iter().copied());
        self.app.unwanted = wanted.chain(self.app.open.keys().copied()).collect();
        for peer in self.app.unwanted.clone() {
            self.close_unwanted(now, peer);
        }
    }

    /// Closes what is open to a peer if the application does not want it any more; whether it did.
    fn close_unwanted(&mut self, now: u64, peer: u16) -> bool {
        if !self.app.unwanted.contains(&peer) {
            return false;
        }
        self.app.closed.insert(peer);
        if matches!(self.app.config.wanted, Wanted::Streams(_)) {
            return self.close_streams(now, peer);
        }
        let transmit = self.app.open.get(&peer).map(|open| open.transmit).filter(|&id| id != NO_STREAM);
        // The transmit stream of a conduit is there after the conduit is.
        let closed = transmit.is_some_and(|transmit| {
            self.node.endpoint.close(now, StreamRef::transmit(peer, transmit)).is_ok()
        });
        if closed {
            self.app.unwanted.remove(&peer);
        }
        closed
    }

    /// Closes every stream that the application sends on to a peer; whether there was one. The peer stays
    /// unwanted: of several streams some may open later.
    fn close_streams(&mut self, now: u64, peer: u16) -> bool {
        let streams: Vec<StreamRef> = self.own_streams(peer).collect();
        let closed = streams.iter().filter(|&&stream| self.node.endpoint.close(now, stream).is_ok());
        closed.count() > 0
    }

    /// The streams that the application sends on to a peer.
    fn own_streams(&self, peer: u16) -> impl Iterator<Item = StreamRef> + '_ {
        let spoken = self.app.spoken();
        let streams = self.node.endpoint.streams().filter(move |(_, protocol)| *protocol == spoken);
        let own = move |stream: &StreamRef| stream.peer == peer && stream.side == Side::Transmit;
        streams.map(|(stream, _)| stream).filter(own)
    }

    pub fn create(&mut self, cx: &mut Cx<'_>, peer: u16) {
        if self.app.closing {
            self.app.closed.insert(peer);
            return;
        }
        self.look_up(cx.now, peer);
        if !self.app.config.asks_first {
            return self.open(cx, peer);
        }
        self.line_up(cx, peer);
    }

    /// An OPEN was refused: of a peer whose attributes are not known they are asked for, once.
    fn refused(&mut self, cx: &mut Cx<'_>, peer: u16) {
        match self.app.refused.get_mut(&peer) {
            Some(asked) => asked.iter_mut().for_each(|count| *count += 1),
            None => {
                self.app.refused.insert(peer, Some(1));
                self.line_up(cx, peer);
            }
        }
    }

    /// Asks a peer for its attributes, when it has its turn.
    fn line_up(&mut self, cx: &mut Cx<'_>, peer: u16) {
        // A node asks a peer for one thing at a time.
        let asking = self.node.asking.entry(peer).or_default();
        if !asking.contains(&self.app.number) {
            asking.push_back(self.app.number);
        }
        if asking.front() == Some(&self.app.number) {
            self.ask(cx, peer);
        }
    }

    /// Reads the registers of all nodes there are, to open conduits to those that take part.
    pub fn scan(&mut self, cx: &mut Cx<'_>) {
        for peer in self.app.config.scans.clone() {
            if self.node.endpoint.look_at(peer) {
                self.create(cx, peer);
            } else {
                self.app.scanning.insert(peer);
            }
        }
    }

    /// Asks a peer for its attributes.
    pub fn ask(&mut self, cx: &mut Cx<'_>, peer: u16) {
        let protocol = Some(self.app.spoken().id());
        // One that is under way already is as good.
        let _ = self.node.endpoint.request(cx.now, peer, protocol, List::default());
    }

    pub fn open(&mut self, cx: &mut Cx<'_>, peer: u16) {
        let count = match self.app.config.wanted {
            Wanted::Streams(count) => count,
            _ => 1,
        };
        self.open_some(cx, peer, count);
    }

    /// Opens a conduit, or so many streams.
    pub fn open_some(&mut self, cx: &mut Cx<'_>, peer: u16, count: u16) {
        if self.app.closing {
            return;
        }
        let protocol = self.app.spoken();
        let wanted = match self.app.config.wanted {
            Wanted::Conduits => {
                self.app.note(cx, || "create_conduit".into());
                self.node.endpoint.create_conduit(cx.now, peer, protocol).map(drop)
            }
            Wanted::Streams(_) => {
                (0..count).try_for_each(|_| self.node.endpoint.open(cx.now, peer, protocol).map(drop))
            }
            // What goes without OPEN goes at once.
            Wanted::Nothing(_) => return,
        };
        if wanted.is_err() {
            // Its registers say that the peer takes no part.
            self.open_failed(cx, || names::NO_OPEN.into());
        }
    }

    /// An OPEN has come to nothing, or could not be sent.
    pub fn open_failed(&mut self, cx: &mut Cx<'_>, words: impl FnOnce() -> String) {
        self.app.stats.failed_opens += 1;
        cx.emit(ProtocolFact::OpenFailed);
        self.app.note(cx, words);
    }

    /// A USERDEFINED command of the scenario leaves.
    fn command(&mut self, cx: &mut Cx<'_>, number: usize) {
        let UserCommand { to: peer, code, data, .. } = self.app.config.commands[number].clone();
        self.look_up(cx.now, peer);
        let cos = self.app.config.cos;
        // The compiler allows codes of such commands only.
        let sent = self.node.endpoint.send_user_defined(cx.now, peer, (code, cos), None, &data);
        self.app.stats.user_defined[0] += u64::from(sent.is_ok());
    }

    fn step(&mut self, cx: &mut Cx<'_>, step: ScriptStep) {
        let done = match step {
            ScriptStep::Create { peer } => {
                self.create(cx, peer);
                true
            }
            ScriptStep::Deliver { peer, message } => match self.app.launcher.release(peer, &message) {
                Some(message) => {
                    self.leave(cx, message);
                    true
                }
                None => false,
            },
            ScriptStep::Lose { peer, message } => {
                let lost = self.app.launcher.release(peer, &message);
                if let Some(message) = &lost {
                    self.app.stats.injected[0] += 1;
                    self.lost(cx, message);
                }
                lost.is_some()
            }
            ScriptStep::Duplicate { peer, message } => {
                let found = self.app.launcher.duplicate(peer, &message);
                self.app.stats.injected[1] += u64::from(found);
                found
            }
            ScriptStep::Repeat { peer, message } => {
                let request = self.outstanding(peer, &message);
                request.is_some_and(|request| self.node.endpoint.expire(cx.now, Deadline::Repeat(request)))
            }
            ScriptStep::GiveUp { peer, number } => {
                self.app.note(cx, || format!("gives OPEN {number} up"));
                self.node.endpoint.expire(cx.now, Deadline::GiveUp(Outstanding::Open(peer, number)))
            }
            ScriptStep::Watch { peer } => {
                self.app.note(cx, || "has waited long enough".into());
                let protocol = self.app.spoken();
                self.node.endpoint.expire(cx.now, Deadline::Watch(peer, protocol))
            }
            ScriptStep::Query { peer, stream } => {
                self.node.endpoint.query(cx.now, StreamRef::transmit(peer, stream)).is_ok()
            }
            ScriptStep::Restart => unreachable!("it is planned as what it is"),
        };
        if !done {
            self.app.stats.missed_steps += 1;
        }
    }

    /// The request that words name.
    fn outstanding(&self, peer: u16, words: &str) -> Option<Outstanding> {
        if let Some(number) = names::number_in(words) {
            return Some(Outstanding::Open(peer, number));
        }
        let id = names::stream_in(words)?;
        let sides = [StreamRef::receive(peer, id), StreamRef::transmit(peer, id)];
        let own = sides.into_iter().find(|stream| self.node.endpoint.is_closing(*stream));
        own.map(Outstanding::Close)
    }

    // The application.

    pub fn send_pdu(&mut self, cx: &mut Cx<'_>) {
        let draw = self.app.sender.draw();
        let (peer, octets) = (draw.destination as u16, usize::from(draw.size.payload));
        self.app.stats.asked(Time(cx.fabric_now));
        self.app.pdus += 1;
        let mut pdu = vec![0; octets];
        if let SessionProtocol::Ethernet { broadcast_every, .. } = self.app.config.protocol {
            let everybody = broadcast_every > 0 && self.app.pdus.is_multiple_of(broadcast_every);
            let turn = self.app.pdus;
            let to = if everybody { [0xFF; 6] } else { self.app.address_of(peer, turn) };
            let from = self.app.address_of(self.app.config.node, turn);
            let mut frame = [&to[..], &from[..], &[0x88, 0xB5], &pdu[..]].concat();
            stamp(&mut frame, FRAME_HEADER, cx.fabric_now, self.app.pdus);
            self.app.stats.broadcasts += u64::from(everybody);
            return self.send_frame(cx, peer, frame);
        }
        stamp(&mut pdu, 0, cx.fabric_now, self.app.pdus);
        match self.app.config.wanted {
            Wanted::Nothing(stream) => {
                self.look_up(cx.now, peer);
                let typed = self.app.config.directory.get(&peer).is_some_and(|entry| entry.typed_data);
                let sent = self.node.endpoint.send_unopened(cx.now, peer, stream, typed, pdu);
                self.sent(sent);
            }
            _ => self.send_to(cx.now, peer, pdu),
        }
    }

    /// Sends a PDU now, or when the conduit is open.
    pub fn send_to(&mut self, now: u64, peer: u16, pdu: Vec<u8>) {
        match self.transmit(peer) {
            // None overtakes those that wait.
            Some(transmit) if !self.app.waiting.contains_key(&peer) => {
                self.submit(now, peer, transmit, pdu);
            }
            _ => self.app.waiting.entry(peer).or_default().push_back(pdu),
        }
    }

    /// The stream on which PDUs go to a peer, if it is open: what the peer sends on may be before it, and so
    /// may the conduit.
    fn transmit(&self, peer: u16) -> Option<u16> {
        let transmit = self.app.open.get(&peer)?.transmit;
        self.node.endpoint.is_open(StreamRef::transmit(peer, transmit)).then_some(transmit)
    }

    /// The program goes on as far as it can.
    pub fn advance(&mut self, cx: &mut Cx<'_>) {
        while let Some(step) = self.app.courier.as_mut().and_then(|courier| courier.poll(cx.fabric_now)) {
            match step {
                Step::Say { node, pdu } => {
                    self.app.stats.pdus_sent += 1;
                    self.send_to(cx.now, node, pdu);
                }
                Step::Compute { op, time } => {
                    self.app.plan(cx.fabric_now.saturating_add(time), Action::Computed(op));
                }
            }
        }
    }

    fn submit(&mut self, now: u64, peer: u16, transmit: u16, pdu: Vec<u8>) {
        let sent = self.node.endpoint.send_pdu(now, peer, transmit, pdu);
        self.sent(sent);
    }

    /// What came of a PDU that the endpoint was to send: one that it refuses is lost.
    pub(super) fn sent(&mut self, sent: Result<(), Refused>) {
        let Err(why) = sent else { return };
        self.app.stats.pdus_lost += 1;
        self.app.stats.pdus_too_long += u64::from(matches!(why, Refused::TooLong { .. }));
    }

    fn take_pdu(&mut self, cx: &mut Cx<'_>, stream: StreamRef, octets: &[u8]) {
        if self.app.is_bridged() && !self.takes_frame(cx, stream, octets) {
            return;
        }
        let (peer, header) = (stream.peer, self.app.header());
        if !self.app.config.lives.is_empty() {
            let former = self.app.is_of_former_life(cx, peer, sent_at(octets, header));
            self.app.stats.former_life += u64::from(former);
        }
        let counts = self.count(Time(cx.fabric_now), peer, octets, header);
        if let Some(courier) = &mut self.app.courier {
            // What belongs to another flow, has come before or is not whole is in the books, and no program
            // goes on by it.
            if counts {
                courier.heard(octets);
            }
            return self.advance(cx);
        }
        // The application takes what it gets; only what is as it was sent, and the first time, has a time.
        let sent = sent_at(octets, header).filter(|_| counts);
        let Some(taker) = &mut self.app.consumer else {
            return self.done_with(cx, sent);
        };
        let (came, octets) = (Time(cx.fabric_now), octets.len().saturating_sub(header) as u64);
        taker.waiting.push_back(Held { counts, sent, came, octets });
        // What it takes up at once does not wait.
        self.take_next(cx);
        let Some(taker) = &mut self.app.consumer else { return };
        let waiting = taker.waiting.len() as u32;
        self.app.stats.consumer_high_water = self.app.stats.consumer_high_water.max(waiting);
        if !taker.stopped && waiting >= taker.stop_at {
            taker.stopped = true;
            self.set_ready(cx.now, false);
        }
    }

    /// A PDU is delivered. Whether it is as it was sent, and has not come before: what carries it sees
    /// neither, but the octets say which they are and how many there should be, if there is room for that.
    pub fn count(&mut self, now: Time, peer: u16, octets: &[u8], header: usize) -> bool {
        let app = &mut *self.app;
        let taking = self.node.taking;
        // Data names a stream and no protocol. A stream that was given anew, to another protocol, takes
        // what was sent before its source knew of that.
        if taking.is_some_and(|taking| taking.app != app.number) {
            app.stats.pdus_misdelivered += 1;
            return false;
        }
        let whole = match &app.courier {
            Some(_) => courier::is_whole(octets),
            // Nobody has sent it yet: what its octets say is not from here.
            None => is_whole(octets, header) && sent_at(octets, header).is_none_or(|sent| sent <= now),
        };
        if !whole {
            app.stats.pdus_damaged += 1;
            return false;
        }
        if app.config.doubles {
            let told = match &app.courier {
                Some(_) => courier::name(octets),
                None => name(peer, octets, header),
            };
            let carried =
                taking.filter(|taking| taking.pdu > 0).map(|taking| Name::Carried(peer, taking.pdu));
            let name = told.map(|(source, number)| Name::Told(source, number)).or(carried);
            if name.is_some_and(|name| !app.seen.insert(name)) {
                app.stats.pdus_again += 1;
                return false;
            }
            app.seen.extend(carried);
        } else if let Some(Taking { pdu, .. }) = taking.filter(|taking| taking.answered) {
            let recent = app.recent.entry(peer).or_default();
            if recent.len() == RECENT {
                recent.pop_front();
            }
            recent.push_back(pdu);
        }
        if header > 0 {
            let group = ethernet::addresses(octets).is_some_and(|(to, _)| ethernet::is_group(to));
            app.stats.broadcasts_delivered += u64::from(group);
        }
        app.stats.pdus_delivered += 1;
        app.stats.octets_delivered += (octets.len() - header) as u64;
        true
    }

    /// Nobody has to do anything more with a PDU that was sent then.
    pub fn done_with(&mut self, cx: &Cx<'_>, sent: Option<Time>) {
        if let Some(sent) = sent {
            let now = Time(cx.fabric_now);
            self.app.stats.taken(sent, now, now);
        }
    }

    fn set_ready(&mut self, now: u64, ready: bool) {
        for (&peer, open) in &self.app.open {
            if open.receive != NO_STREAM {
                let _ = self.node.endpoint.set_ready(now, peer, open.receive, ready);
            }
        }
    }

    /// The consumer takes up the next PDU. A PDU waits until it is done with.
    fn take_next(&mut self, cx: &mut Cx<'_>) {
        let Some(taker) = &mut self.app.consumer else { return };
        while taker.serving.is_none()
            && let Some(held) = taker.waiting.pop_front()
        {
            let time = taker.service.draw();
            if time == 0 {
                held.done(&mut self.app.stats, Time(cx.fabric_now));
            } else {
                taker.serving = Some(held);
                let at = cx.fabric_now + time;
                self.app.entries += 1;
                self.app.agenda.insert((at, self.app.entries), Action::Consumed);
            }
        }
        if taker.stopped && taker.waiting.len() as u32 <= taker.go_at {
            taker.stopped = false;
            self.set_ready(cx.now, true);
        }
    }

    /// Something that concerns this application has happened.
    pub fn event(&mut self, cx: &mut Cx<'_>, event: Event) {
        if let Event::Opened { stream, .. } = event {
            self.app.stats.allocated += u64::from(stream.side == Side::Receive);
            self.app.beyond.meet(stream.peer);
        }
        match event {
            Event::ConduitOpen { peer, receive, transmit, .. } => {
                self.app.note(cx, || names::conduit_words(receive, transmit));
                let open = Open { receive, transmit, since: cx.fabric_now };
                // The literal algorithm enters one again whose record is complete: the end was open before.
                if self.app.open.insert(peer, open).is_none() {
                    cx.emit(ProtocolFact::ConduitOpen);
                    self.app.stats.opened += 1;
                }
                self.app.first.entry(peer).or_insert(cx.fabric_now);
                if self.app.consumer.as_ref().is_some_and(|taker| taker.stopped) {
                    let _ = self.node.endpoint.set_ready(cx.now, peer, receive, false);
                }
                self.take_up(cx.now, peer);
            }
            Event::ConduitEnded { peer, .. } => self.conduit_ended(cx, peer),
            Event::Opened { stream: StreamRef { peer, side, stream }, .. }
                if matches!(self.app.config.wanted, Wanted::Streams(_)) =>
            {
                let at = cx.fabric_now;
                let none = Open { receive: NO_STREAM, transmit: NO_STREAM, since: at };
                let open = self.app.open.entry(peer).or_insert(none);
                match side {
                    Side::Receive => open.receive = stream,
                    Side::Transmit => {
                        self.app.stats.same_stream += u64::from(open.transmit == stream);
                        open.transmit = stream;
                    }
                }
                self.app.note(cx, || names::opened_words(side, stream));
                self.take_up(cx.now, peer);
            }
            // The transmit stream of a conduit is there after the conduit is.
            Event::Opened { stream, .. } if stream.side == Side::Transmit => {
                self.take_up(cx.now, stream.peer);
            }
            Event::Ended { stream, why, .. } => {
                if why == Ending::NoAnswer {
                    cx.late(TimeoutKind::Query);
                }
                if matches!(self.app.config.wanted, Wanted::Streams(_)) {
                    self.stream_ended(stream);
                }
                self.app.note(cx, || names::ended_words(stream.side, stream.stream));
            }
            Event::Pdu { stream, octets, .. } => self.take_pdu(cx, stream, &octets),
            Event::PduLost { why, .. } => {
                self.app.stats.pdus_lost += 1;
                self.app.stats.pdus_too_long += u64::from(why == Loss::TooLong);
            }
            Event::FrameDropped { .. } => {
                self.app.stats.pdus_lost += 1;
                self.app.stats.frames_dropped += 1;
            }
            Event::Suspect { .. } => self.app.stats.suspects += 1,
            Event::ConduitLimit { .. } => {
                self.app.stats.limited += 1;
                self.app.stats.limited_at.get_or_insert(cx.fabric_now);
            }
            Event::OpenFailed { peer, number, why, .. } => {
                self.open_failed(cx, || names::failed_words(number, why));
                if why == OpenFailure::Timeout {
                    cx.late(TimeoutKind::Open);
                }
                if why == OpenFailure::Refused && self.app.config.asks_after {
                    self.refused(cx, peer);
                }
            }
            Event::UserDefined { .. } => self.app.stats.user_defined[1] += 1,
            Event::Status { command, bits, .. } => {
                let unknown = bits.has(StatusBits::COMMAND_UNKNOWN);
                let about = Command::from_code(command);
                let commanded = matches!(about, Some(Command::UserDefined(_)));
                self.app.stats.user_defined[2] += u64::from(unknown && commanded);
                let data = matches!(about, Some(Command::Data | Command::Data1));
                let gone = data && bits.has(StatusBits::STREAM_UNKNOWN);
                self.app.stats.unknown_streams += u64::from(gone);
            }
            Event::Stopped { .. } => self.app.stats.stopped += 1,
            Event::Resumed { timeout, .. } => {
                self.app.stats.resumed[usize::from(timeout)] += 1;
                if timeout {
                    cx.late(TimeoutKind::Xoff);
                }
            }
            _ => {}
        }
    }

    /// A stream that is no part of a conduit has ended. Those of the other way go on, and PDUs go on another
    /// of this way if there is one.
    fn stream_ended(&mut self, StreamRef { peer, side, stream }: StreamRef) {
        let other = self.own_streams(peer).next().map_or(NO_STREAM, |own| own.stream);
        let Some(open) = self.app.open.get_mut(&peer) else { return };
        match side {
            Side::Receive if open.receive == stream => open.receive = NO_STREAM,
            Side::Transmit if open.transmit == stream => open.transmit = other,
            _ => {}
        }
        if (open.receive, open.transmit) == (NO_STREAM, NO_STREAM) {
            self.app.open.remove(&peer);
        }
    }

    /// A conduit, or the attempt at one, has ended.
    fn conduit_ended(&mut self, cx: &mut Cx<'_>, peer: u16) {
        if self.app.open.remove(&peer).is_some() {
            cx.emit(ProtocolFact::ConduitEnded);
            self.app.stats.ended += 1;
        }
    }

    /// What waited for a peer is sent, or what opened is closed because nobody wants it any more.
    fn take_up(&mut self, now: u64, peer: u16) {
        if !self.close_unwanted(now, peer) {
            self.send_waiting(now, peer);
        }
    }

    fn send_waiting(&mut self, now: u64, peer: u16) {
        let Some(transmit) = self.transmit(peer) else { return };
        for pdu in self.app.waiting.remove(&peer).unwrap_or_default() {
            self.submit(now, peer, transmit, pdu);
        }
    }
}

/// A locally administered address for a node.
pub(super) fn address(node: u16) -> [u8; 6] {
    let [high, low] = node.to_be_bytes();
    [0x02, 0, 0, 0, high, low]
}

/// When a PDU was sent, if it is long enough to say so.
pub(super) fn sent_at(pdu: &[u8], header: usize) -> Option<Time> {
    pdu.get(header..).and_then(<[u8]>::first_chunk).map(|sent| Time(u64::from_be_bytes(*sent)))
}

/// Whether a PDU has as many octets as it was sent with, as far as it says so.
fn is_whole(pdu: &[u8], header: usize) -> bool {
    let said = pdu.get(header + 12..).and_then(<[u8]>::first_chunk).map(|octets| u32::from_be_bytes(*octets));
    said.is_none_or(|octets| pdu.len() - header == octets as usize)
}

/// Who sent a PDU, and the how manieth of its source it is, if it is long enough to say so.
fn name(peer: u16, pdu: &[u8], header: usize) -> Option<(u64, u64)> {
    let number = pdu.get(header + 8..).and_then(<[u8]>::first_chunk)?;
    // Along its way a frame may change hands, and keeps its addresses.
    let source = match header {
        0 => u64::from(peer),
        _ => ethernet::addresses(pdu)?.1.iter().fold(0, |sum, &octet| sum << 8 | u64::from(octet)),
    };
    Some((source, u32::from_be_bytes(*number).into()))
}

/// Writes into a PDU, from `at` on, what its reader is to know of it, as far as there is room: when it was
/// sent, the how manieth of its source it is, and how many octets it has.
fn stamp(pdu: &mut [u8], at: usize, now: u64, number: u32) {
    let octets = pdu.len().saturating_sub(at) as u32;
    let words = [&now.to_be_bytes()[..], &number.to_be_bytes(), &octets.to_be_bytes()];
    let mut at = at;
    for word in words {
        if let Some(place) = pdu.get_mut(at..at + word.len()) {
            place.copy_from_slice(word);
        }
        at += word.len();
    }
}
