//! Session management on an endpoint: the protocol crate, the application above it, and what goes wrong on
//! purpose.
//!
//! The machine is [`session_management::Endpoint`], the code that a product would link. Around it stand an
//! application that opens conduits and sends PDUs on them, one that takes PDUs in its own time, and the
//! *launcher*: what becomes of a message between protocol and host. It lets messages leave, or loses,
//! duplicates or delays those that the scenario names, or keeps all of them until a script calls them.
//!
//! A PDU begins with the instant at which the application sent it (fabric time, 8 octets), if it is long
//! enough for that.

mod audit;
mod census;
mod launch;
mod names;
mod reader;

use super::Service;
use super::courier::{self, Courier, Step};
use super::data::Data;
use super::protocol::{Conveyance, Cx, Ends, Outcome, Protocol, Received, Token};
use super::workload::Sender;
use crate::config::{
    Announcement, ContactSource, ProgramTransport, ScriptStep, SessionConfig, SessionData, SessionProtocol,
    UserCommand, Wanted,
};
use crate::observe::probe::{ProtocolFact, SignalKind};
use crate::observe::stats::SessionStats;
use crate::observe::totals::Totals;
use census::Census;
use launch::Launcher;
use reader::Reader;
use session_management::attribute::{Attribute, Attributes, Conveyance as DataChannel, HeaderFormat, List};
use session_management::conduit::Side;
use session_management::endpoint::{
    Advertised, Broadcast, Config, Counters, Deadline, Endpoint, Event, Outstanding, StreamRef,
};
use session_management::ethernet;
use session_management::message::{Class, Command};
use session_management::negotiate::Offer;
use session_management::protocol::{APPLICATION_STREAMS, NO_STREAM, Protocol as Spoken};
use session_management::register::{Contact, Participation};
use session_management::status::StatusBits;
use sim_core::{Purpose, Stream, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Data messages of a node that may be under way: XOFF stops what is not.
const DATA_WINDOW: usize = 4;
/// Octets in front of the payload of an Ethernet frame.
const FRAME_HEADER: usize = 14;

/// What the application or the scenario does at an instant of the fabric.
#[derive(Debug)]
enum Action {
    Create(u16),
    Scan,
    CloseAll,
    Restart(bool),
    /// Octets leave as they are.
    Inject(usize),
    /// A USERDEFINED command leaves.
    Command(usize),
    /// The consumer is done with a PDU.
    Consumed,
    /// A delayed message leaves.
    Leave(Box<launch::Message>),
    Script(usize),
    /// The program has computed.
    Computed(u32),
}

/// A conduit, or streams, that are open at this end. F: not open.
#[derive(Copy, Clone, Debug)]
struct Open {
    receive: u16,
    transmit: u16,
    since: u64,
}

/// One node of session management.
#[derive(Debug)]
pub(crate) struct Session {
    config: Box<SessionConfig>,
    endpoint: Endpoint,
    launcher: Launcher,
    /// The application that sends PDUs.
    sender: Sender,
    pdus: u32,
    /// PDUs for conduits that are not open yet, by peer.
    waiting: BTreeMap<u16, VecDeque<Vec<u8>>>,
    open: BTreeMap<u16, Open>,
    /// Peers whose entry of the directory was read.
    known: BTreeSet<u16>,
    /// Peers to which the application has closed what it had: it wants nothing there any more.
    closed: BTreeSet<u16>,
    reader: Reader,
    /// Ids that are scanned for participants.
    scanning: BTreeSet<u16>,
    /// Peers that were asked for their attributes before they are sent an OPEN.
    asking: BTreeSet<u16>,
    agenda: BTreeMap<(u64, u64), Action>,
    entries: u64,
    /// Data messages under way, and whether the PDU ends with them.
    under_way: BTreeMap<Token, bool>,
    consumer: Option<Box<Taker>>,
    /// The rank of a program that it runs.
    courier: Option<Box<Courier>>,
    stats: SessionStats,
    /// What it had at certain instants.
    census: Option<Box<Census>>,
    /// What endpoints before a restart counted.
    past: Counters,
}

/// The application that takes PDUs, one after the other.
#[derive(Debug)]
struct Taker {
    service: Service,
    stop_at: u32,
    go_at: u32,
    /// When each was sent, if it says so.
    waiting: VecDeque<Option<Time>>,
    serving: Option<Option<Time>>,
    stopped: bool,
}

impl Session {
    pub fn new(seed: u64, path: &str, config: &SessionConfig, sender: Sender) -> Self {
        let mut session = Session {
            endpoint: Endpoint::new(endpoint_config(config)),
            launcher: Launcher::new(config),
            sender,
            pdus: 0,
            waiting: BTreeMap::new(),
            open: BTreeMap::new(),
            known: BTreeSet::new(),
            closed: BTreeSet::new(),
            reader: Reader::default(),
            scanning: BTreeSet::new(),
            asking: BTreeSet::new(),
            agenda: BTreeMap::new(),
            entries: 0,
            under_way: BTreeMap::new(),
            consumer: config.consumer.map(|consumer| {
                Box::new(Taker {
                    service: Service::new(consumer.service, seed, &format!("{path}/consumer")),
                    stop_at: consumer.stop_at,
                    go_at: consumer.go_at,
                    waiting: VecDeque::new(),
                    serving: None,
                    stopped: false,
                })
            }),
            courier: config.program.as_ref().map(|program| Box::new(Courier::new(program))),
            stats: SessionStats::default(),
            census: config.census.map(|every| Box::new(Census::new(every))),
            past: Counters::default(),
            config: Box::new(config.clone()),
        };
        if let Some(creates) = &config.creates {
            let mut draws = Stream::new(seed, &creates.stream, Purpose::PHASE);
            let scans = !config.scans.is_empty();
            if scans {
                session.plan(creates.at.0, Action::Scan);
            }
            for &peer in creates.peers.iter().filter(|_| !scans) {
                let later =
                    if creates.spread.0 == 0 { 0 } else { draws.uniform_between(0, creates.spread.0) };
                session.plan(creates.at.0 + later, Action::Create(peer as u16));
            }
        }
        if let Some(at) = config.close_at {
            session.plan(at.0, Action::CloseAll);
        }
        for restart in &config.restarts {
            session.plan(restart.at.0, Action::Restart(restart.reuses));
        }
        for (number, command) in config.commands.iter().enumerate() {
            session.plan(command.at.0, Action::Command(number));
        }
        for (number, (at, ..)) in config.injections.iter().enumerate() {
            session.plan(at.0, Action::Inject(number));
        }
        for (step, (at, _)) in config.script.iter().flatten().enumerate() {
            session.plan(at.0, Action::Script(step));
        }
        session
    }

    fn plan(&mut self, at: u64, action: Action) {
        self.entries += 1;
        self.agenda.insert((at, self.entries), action);
    }

    fn spoken(&self) -> Spoken {
        spoken(self.config.protocol)
    }

    /// Reads what the directory says of a node, once, if the contacts of nodes are assumed.
    fn look_up(&mut self, now: u64, peer: u16) {
        if self.config.contacts == ContactSource::Registers || !self.known.insert(peer) {
            return;
        }
        if let Some(entry) = self.config.directory.get(&peer) {
            let ready = Participation::Ready(entry.contact);
            self.endpoint.handle_participation(now, peer, ready, &periods(entry));
        }
    }

    fn act(&mut self, cx: &mut Cx<'_>, action: Action) {
        match action {
            Action::Create(peer) => self.create(cx, peer),
            Action::Scan => self.scan(cx),
            Action::CloseAll => {
                let open: Vec<(u16, Open)> = self.open.iter().map(|(&peer, &open)| (peer, open)).collect();
                for (peer, open) in open {
                    if open.transmit != NO_STREAM {
                        self.closed.insert(peer);
                        let _ = self.endpoint.close(cx.now, StreamRef::transmit(peer, open.transmit));
                    }
                }
            }
            Action::Restart(reuses) => self.restart(cx, reuses),
            Action::Inject(number) => self.inject(cx, number),
            Action::Command(number) => self.command(cx, number),
            Action::Consumed => {
                if let Some(taker) = &mut self.consumer {
                    if let Some(sent) = taker.serving.take().flatten() {
                        self.stats.taken(sent, Time(cx.fabric_now));
                    }
                    self.take_next(cx);
                }
            }
            Action::Leave(message) => self.leave(cx, *message),
            Action::Computed(op) => {
                if let Some(courier) = &mut self.courier {
                    courier.computed(op);
                }
                self.advance(cx);
            }
            Action::Script(step) => {
                let script = self.config.script.as_ref().expect("steps are those of a script");
                let step = script[step].1.clone();
                self.step(cx, step);
            }
        }
    }

    fn create(&mut self, cx: &mut Cx<'_>, peer: u16) {
        self.look_up(cx.now, peer);
        if self.config.asks_first {
            self.asking.insert(peer);
            let protocol = Some(self.spoken().id());
            // One that is under way already is as good.
            let _ = self.endpoint.request(cx.now, peer, protocol, List::default());
        } else {
            self.open(cx, peer);
        }
    }

    /// The peer has said what it has to say, or nothing: its OPEN can go.
    fn asked(&mut self, cx: &mut Cx<'_>, peer: u16) {
        if self.asking.remove(&peer) {
            self.open(cx, peer);
        }
    }

    fn open(&mut self, cx: &mut Cx<'_>, peer: u16) {
        let protocol = self.spoken();
        let wanted = match self.config.wanted {
            Wanted::Conduits => {
                self.note(cx, || "create_conduit".into());
                self.endpoint.create_conduit(cx.now, peer, protocol).map(drop)
            }
            Wanted::Streams(count) => {
                (0..count).try_for_each(|_| self.endpoint.open(cx.now, peer, protocol).map(drop))
            }
            // What goes without OPEN goes at once.
            Wanted::Nothing(_) => return,
        };
        if wanted.is_err() {
            // Its registers say that the peer takes no part.
            self.stats.failed_opens += 1;
        }
    }

    /// A USERDEFINED command of the scenario leaves.
    fn command(&mut self, cx: &mut Cx<'_>, number: usize) {
        let UserCommand { to: peer, code, data, .. } = self.config.commands[number].clone();
        self.look_up(cx.now, peer);
        let cos = self.config.cos;
        // The compiler allows codes of such commands only.
        let sent = self.endpoint.send_user_defined(cx.now, peer, (code, cos), None, &data);
        self.stats.user_defined[0] += u64::from(sent.is_ok());
    }

    /// All state is lost. What is in the fabric stays there; StreamIDs and numbers are not used again, as if
    /// they had been drawn anew, unless `reuses` says that they begin as before.
    fn restart(&mut self, cx: &mut Cx<'_>, reuses: bool) {
        self.note(cx, || "restarts".into());
        let mut config = self.endpoint.config().clone();
        let counters = self.endpoint.counters();
        if !reuses {
            config.first_number = self.endpoint.next_number();
            config.first_stream =
                config.first_stream.wrapping_add(counters.allocated as u16) % APPLICATION_STREAMS;
        }
        self.past = plus(&self.past, counters);
        self.endpoint = Endpoint::new(config);
        self.known.clear();
        self.closed.clear();
        self.asking.clear();
        self.reader = Reader::default();
        self.scanning.clear();
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
        if let Some(taker) = &mut self.consumer {
            taker.waiting.clear();
            taker.stopped = false;
        }
        self.stats.restarts += 1;
        if self.config.script.is_none()
            && let Some(creates) = self.config.creates.clone()
        {
            if !self.config.scans.is_empty() {
                return self.scan(cx);
            }
            for &peer in creates.peers.iter() {
                self.create(cx, peer as u16);
            }
        }
    }

    fn step(&mut self, cx: &mut Cx<'_>, step: ScriptStep) {
        let done = match step {
            ScriptStep::Create { peer } => {
                self.create(cx, peer);
                true
            }
            ScriptStep::Deliver { peer, message } => match self.launcher.release(peer, &message) {
                Some(message) => {
                    self.leave(cx, message);
                    true
                }
                None => false,
            },
            ScriptStep::Lose { peer, message } => {
                let lost = self.launcher.release(peer, &message);
                if let Some(message) = &lost {
                    self.stats.injected[0] += 1;
                    self.lost(cx, message);
                }
                lost.is_some()
            }
            ScriptStep::Duplicate { peer, message } => {
                let found = self.launcher.duplicate(peer, &message);
                self.stats.injected[1] += u64::from(found);
                found
            }
            ScriptStep::Repeat { peer, message } => {
                let request = self.outstanding(peer, &message);
                request.is_some_and(|request| self.endpoint.expire(cx.now, Deadline::Repeat(request)))
            }
            ScriptStep::GiveUp { peer, number } => {
                self.note(cx, || format!("gives OPEN {number} up"));
                self.endpoint.expire(cx.now, Deadline::GiveUp(Outstanding::Open(peer, number)))
            }
            ScriptStep::Watch { peer } => {
                self.note(cx, || "has waited long enough".into());
                let protocol = self.spoken();
                self.endpoint.expire(cx.now, Deadline::Watch(peer, protocol))
            }
            ScriptStep::Query { peer, stream } => {
                self.endpoint.query(cx.now, StreamRef::transmit(peer, stream)).is_ok()
            }
            ScriptStep::Restart => {
                self.restart(cx, false);
                true
            }
        };
        if !done {
            self.stats.missed_steps += 1;
        }
    }

    /// The request that words name.
    fn outstanding(&self, peer: u16, words: &str) -> Option<Outstanding> {
        if let Some(number) = names::number_in(words) {
            return Some(Outstanding::Open(peer, number));
        }
        let id = names::stream_in(words)?;
        let sides = [StreamRef::receive(peer, id), StreamRef::transmit(peer, id)];
        let own = sides.into_iter().find(|stream| self.endpoint.is_closing(*stream));
        own.map(Outstanding::Close)
    }

    // The application.

    fn send_pdu(&mut self, cx: &mut Cx<'_>) {
        let draw = self.sender.draw();
        let (peer, octets) = (draw.destination as u16, usize::from(draw.size.payload));
        self.stats.asked(Time(cx.fabric_now));
        self.pdus += 1;
        let mut pdu = vec![0; octets];
        let mut header = 0;
        if let SessionProtocol::Ethernet { broadcast_every, .. } = self.config.protocol {
            let everybody = broadcast_every > 0 && self.pdus.is_multiple_of(broadcast_every);
            let to = if everybody { [0xFF; 6] } else { address(peer) };
            pdu = [&to[..], &address(self.config.node)[..], &[0x88, 0xB5], &pdu[..]].concat();
            header = FRAME_HEADER;
            if everybody {
                stamp(&mut pdu, header, cx.fabric_now);
                self.stats.broadcasts += 1;
                if self.endpoint.broadcast(cx.now, &pdu).is_err() {
                    self.stats.pdus_lost += 1;
                }
                return;
            }
        }
        stamp(&mut pdu, header, cx.fabric_now);
        match self.config.wanted {
            Wanted::Nothing(stream) => {
                self.look_up(cx.now, peer);
                let typed = self.config.directory.get(&peer).is_some_and(|entry| entry.typed_data);
                let sent = self.endpoint.send_unopened(cx.now, peer, stream, typed, pdu);
                self.stats.pdus_lost += u64::from(sent.is_err());
            }
            _ => self.send_to(cx.now, peer, pdu),
        }
    }

    /// Sends a PDU now, or when the conduit is open.
    fn send_to(&mut self, now: u64, peer: u16, pdu: Vec<u8>) {
        let transmit = self.open.get(&peer).map(|open| open.transmit);
        // A conduit can be open before its transmit stream is; a program loses nothing by that.
        let ready = |transmit: u16| {
            let open = self.endpoint.is_open(StreamRef::transmit(peer, transmit));
            self.courier.is_none() || (open && !self.waiting.contains_key(&peer))
        };
        match transmit {
            Some(transmit) if ready(transmit) => self.submit(now, peer, transmit, pdu),
            _ => self.waiting.entry(peer).or_default().push_back(pdu),
        }
    }

    /// The program goes on as far as it can.
    fn advance(&mut self, cx: &mut Cx<'_>) {
        while let Some(step) = self.courier.as_mut().and_then(|courier| courier.poll(cx.fabric_now)) {
            match step {
                Step::Say { node, pdu } => {
                    self.stats.pdus_sent += 1;
                    self.send_to(cx.now, node, pdu);
                }
                Step::Compute { op, time } => {
                    self.plan(cx.fabric_now.saturating_add(time), Action::Computed(op));
                }
            }
        }
    }

    fn submit(&mut self, now: u64, peer: u16, transmit: u16, pdu: Vec<u8>) {
        if self.endpoint.send_pdu(now, peer, transmit, pdu).is_err() {
            self.stats.pdus_lost += 1;
        }
    }

    /// Octets in front of the payload of a PDU.
    fn header(&self) -> usize {
        match self.config.protocol {
            SessionProtocol::Ethernet { .. } => FRAME_HEADER,
            SessionProtocol::Plain(_) | SessionProtocol::Vendor { .. } => 0,
        }
    }

    /// Whether a PDU was sent before an end of its stream restarted.
    fn is_of_former_life(&self, cx: &Cx<'_>, peer: u16, sent: Option<Time>) -> bool {
        let lives = &self.config.lives;
        let restarts = [peer, self.config.node].into_iter().filter_map(|node| lives.get(&node)).flatten();
        let mut since = restarts.filter(|at| at.0 <= cx.fabric_now);
        since.any(|at| sent.is_some_and(|sent| sent < *at))
    }

    fn take_pdu(&mut self, cx: &mut Cx<'_>, peer: u16, octets: &[u8]) {
        let header = self.header();
        if !self.config.lives.is_empty() {
            let former = self.is_of_former_life(cx, peer, sent_at(octets, header));
            self.stats.former_life += u64::from(former);
        }
        if header > 0 {
            let group = ethernet::addresses(octets).is_some_and(|(to, _)| ethernet::is_group(to));
            self.stats.broadcasts_delivered += u64::from(group);
        }
        self.stats.pdus_delivered += 1;
        self.stats.octets_delivered += (octets.len() - header) as u64;
        if let Some(courier) = &mut self.courier {
            courier.heard(octets);
            return self.advance(cx);
        }
        let sent = sent_at(octets, header);
        let Some(taker) = &mut self.consumer else {
            if let Some(sent) = sent {
                self.stats.taken(sent, Time(cx.fabric_now));
            }
            return;
        };
        taker.waiting.push_back(sent);
        let waiting = taker.waiting.len() as u32;
        self.stats.consumer_high_water = self.stats.consumer_high_water.max(waiting);
        if !taker.stopped && waiting >= taker.stop_at {
            taker.stopped = true;
            self.set_ready(cx.now, false);
        }
        self.take_next(cx);
    }

    fn set_ready(&mut self, now: u64, ready: bool) {
        for (&peer, open) in &self.open {
            if open.receive != NO_STREAM {
                let _ = self.endpoint.set_ready(now, peer, open.receive, ready);
            }
        }
    }

    /// The consumer takes up the next PDU. A PDU waits until it is done with.
    fn take_next(&mut self, cx: &mut Cx<'_>) {
        let Some(taker) = &mut self.consumer else { return };
        while taker.serving.is_none()
            && let Some(sent) = taker.waiting.pop_front()
        {
            let time = taker.service.draw();
            if time == 0 {
                if let Some(sent) = sent {
                    self.stats.taken(sent, Time(cx.fabric_now));
                }
            } else {
                taker.serving = Some(sent);
                let at = cx.fabric_now + time;
                self.entries += 1;
                self.agenda.insert((at, self.entries), Action::Consumed);
            }
        }
        if taker.stopped && taker.waiting.len() as u32 <= taker.go_at {
            taker.stopped = false;
            self.set_ready(cx.now, true);
        }
    }

    // What the endpoint wants.

    /// Lets everything happen that can happen now.
    fn drain(&mut self, cx: &mut Cx<'_>) {
        loop {
            let next = match self.under_way.len() < DATA_WINDOW {
                true => self.endpoint.poll_transmit(),
                false => self.endpoint.poll_control(),
            };
            if let Some(transmit) = next {
                self.launch(cx, transmit);
                continue;
            }
            let Some(event) = self.endpoint.poll_event() else { break };
            self.event(cx, event);
        }
    }

    fn event(&mut self, cx: &mut Cx<'_>, event: Event) {
        match event {
            Event::ConduitOpen { peer, receive, transmit, .. } => {
                self.note(cx, || names::conduit_words(receive, transmit));
                cx.emit(ProtocolFact::ConduitOpen);
                self.stats.opened += 1;
                self.open.insert(peer, Open { receive, transmit, since: cx.fabric_now });
                if self.consumer.as_ref().is_some_and(|taker| taker.stopped) {
                    let _ = self.endpoint.set_ready(cx.now, peer, receive, false);
                }
                self.send_waiting(cx.now, peer);
            }
            Event::ConduitEnded { peer, .. } => self.conduit_ended(cx, peer),
            Event::Opened { stream: StreamRef { peer, side, stream }, .. }
                if matches!(self.config.wanted, Wanted::Streams(_)) =>
            {
                let at = cx.fabric_now;
                let none = Open { receive: NO_STREAM, transmit: NO_STREAM, since: at };
                let open = self.open.entry(peer).or_insert(none);
                match side {
                    Side::Receive => open.receive = stream,
                    Side::Transmit => {
                        self.stats.same_stream += u64::from(open.transmit == stream);
                        open.transmit = stream;
                    }
                }
                self.note(cx, || names::opened_words(side, stream));
                self.send_waiting(cx.now, peer);
            }
            // The transmit stream of a conduit is there after the conduit is.
            Event::Opened { stream, .. } if stream.side == Side::Transmit => {
                self.send_waiting(cx.now, stream.peer);
            }
            Event::Ended { stream, .. } => {
                if matches!(self.config.wanted, Wanted::Streams(_)) {
                    self.open.remove(&stream.peer);
                }
                self.note(cx, || names::ended_words(stream.side, stream.stream));
            }
            Event::Pdu { stream, octets, .. } => self.take_pdu(cx, stream.peer, &octets),
            Event::PduLost { .. } => self.stats.pdus_lost += 1,
            Event::FrameDropped { .. } => {
                self.stats.pdus_lost += 1;
                self.stats.frames_dropped += 1;
            }
            Event::Suspect { .. } => self.stats.suspects += 1,
            Event::ConduitLimit { .. } => {
                self.stats.limited += 1;
                self.stats.limited_at.get_or_insert(cx.fabric_now);
            }
            Event::OpenFailed { .. } => self.stats.failed_opens += 1,
            Event::ReadRegisters { peer } => self.read_registers(cx, peer),
            // An OPEN would be refused.
            Event::Advertised { peer, answer: Advertised::Unsupported } => {
                let asked = self.asking.remove(&peer);
                self.stats.failed_opens += u64::from(asked);
            }
            Event::Advertised { peer, .. }
            | Event::RequestUnsupported { peer }
            | Event::RequestFailed { peer } => self.asked(cx, peer),
            Event::UserDefined { .. } => self.stats.user_defined[1] += 1,
            Event::Status { command, bits, .. } => {
                let unknown = bits.has(StatusBits::COMMAND_UNKNOWN);
                let about = Command::from_code(command);
                let commanded = matches!(about, Some(Command::UserDefined(_)));
                self.stats.user_defined[2] += u64::from(unknown && commanded);
                let data = matches!(about, Some(Command::Data | Command::Data1));
                let gone = data && bits.has(StatusBits::STREAM_UNKNOWN);
                self.stats.unknown_streams += u64::from(gone);
            }
            Event::Stopped { .. } => self.stats.stopped += 1,
            Event::Resumed { timeout, .. } => self.stats.resumed[usize::from(timeout)] += 1,
            _ => {}
        }
    }

    /// A conduit, or the attempt at one, has ended.
    fn conduit_ended(&mut self, cx: &mut Cx<'_>, peer: u16) {
        if self.open.remove(&peer).is_some() {
            cx.emit(ProtocolFact::ConduitEnded);
            self.stats.ended += 1;
        }
    }

    fn send_waiting(&mut self, now: u64, peer: u16) {
        let Some(open) = self.open.get(&peer).copied() else { return };
        if !self.endpoint.is_open(StreamRef::transmit(peer, open.transmit)) {
            return;
        }
        for pdu in self.waiting.remove(&peer).unwrap_or_default() {
            self.submit(now, peer, open.transmit, pdu);
        }
    }

    /// Whether what goes to `node` in this way begins with a command: PDUs on streams of type 9 do not, only
    /// what the stream of the receiver takes does.
    fn has_command(&self, node: u16, conveyance: Conveyance) -> bool {
        match conveyance {
            Conveyance::Message { .. } => true,
            Conveyance::Stream { cos, stream_id: stream } => {
                let contact = self.config.directory.get(&node).map(|entry| entry.contact);
                contact == Some(Contact::Stream { stream, cos })
            }
            _ => false,
        }
    }

    /// Tells observers of something, if they want to know.
    fn note(&self, cx: &mut Cx<'_>, words: impl FnOnce() -> String) {
        if self.config.charted {
            cx.tell(SignalKind::Note { words: words() });
        }
    }

    /// What is known so far, with what only the end shows.
    fn totals(&self) -> SessionStats {
        let counters = plus(&self.past, self.endpoint.counters());
        let mut stats = self.stats;
        stats.opens = counters.opens;
        stats.accepts = counters.accepts;
        stats.refuses = counters.refuses;
        stats.closes = counters.closes;
        stats.messages = counters.sent;
        stats.retransmissions = counters.retransmissions;
        stats.malformed = counters.malformed;
        stats.dropped = counters.dropped;
        stats.allocated = counters.allocated;
        let queued = self.endpoint.queued_pdus() as u64;
        stats.pdus_waiting = queued + self.waiting.values().map(|queue| queue.len() as u64).sum::<u64>();
        let header = self.header();
        let waiting = self.waiting.values().flatten();
        stats.oldest_waiting = waiting.filter_map(|pdu| sent_at(pdu, header)).min();
        let delayed = |action: &&Action| matches!(action, Action::Leave(message) if message.is_data());
        let delayed = self.agenda.values().filter(delayed).count();
        stats.data_held = (self.under_way.len() + delayed + self.launcher.held_data()) as u64;
        stats
    }
}

/// The command with which a message begins.
fn command(octets: &[u8]) -> Option<Command> {
    octets.first().copied().and_then(Command::from_code)
}

/// Whether a message with this command carries a PDU, or a part of one.
const fn is_data(command: Option<Command>) -> bool {
    matches!(command, Some(Command::Data | Command::Data1 | Command::Data2))
}

impl Protocol for Session {
    fn has_classes(&self) -> bool {
        self.config.classes
    }

    fn goes_first(&self, to: Option<u32>, conveyance: Conveyance, payload: &Data) -> bool {
        let node = to.map_or(self.config.node, |to| to as u16);
        let octets = payload.as_bytes().filter(|_| self.has_command(node, conveyance));
        octets.and_then(command).is_some_and(|command| command.class() == Class::High)
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.keep_for_census(cx.fabric_now);
        if self.config.announces {
            let own = &self.config.directory[&self.config.node];
            cx.announce(own.contact, periods(own));
        }
        self.sender.start(cx.fabric_now);
        // The application begins as much later; what it planned keeps its distances.
        let planned = std::mem::take(&mut self.agenda);
        let later = |((at, entry), action)| ((at + cx.fabric_now, entry), action);
        self.agenda = planned.into_iter().map(later).collect();
        self.advance(cx);
    }

    fn received(&mut self, cx: &mut Cx<'_>, received: Received) {
        if self.config.mute {
            return;
        }
        self.keep_for_census(cx.fabric_now);
        let from = received.from as u16;
        self.look_up(cx.now, from);
        if self.config.charted {
            let kind =
                SignalKind::Arrived { token: received.payload.label.token, source: received.leg.source };
            cx.tell(kind);
        }
        let octets = received.payload.as_bytes().expect("session management sends bytes");
        if !self.has_command(self.config.node, received.conveyance) || is_data(command(octets)) {
            self.stats.data_until = Time(cx.fabric_now);
        }
        match received.conveyance {
            Conveyance::Stream { cos, stream_id } => {
                self.endpoint.handle_pdu(cx.now, from, cos, stream_id, octets);
            }
            _ => self.endpoint.handle_message(cx.now, from, octets),
        }
        self.drain(cx);
    }

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: Outcome) {
        self.keep_for_census(cx.fabric_now);
        // What the conveyance loses the protocol repeats, or not.
        let ended = self.under_way.remove(&token);
        let failed = matches!(outcome, Outcome::Failed);
        self.stats.pdus_failed += u64::from(failed && ended == Some(true));
        if self.register_outcome(cx, token, &outcome) || ended.is_some() {
            self.drain(cx);
        }
    }

    fn timeout(&mut self, cx: &mut Cx<'_>) {
        self.keep_for_census(cx.fabric_now);
        if self.poll_timeout().is_some_and(|at| at <= cx.now) {
            self.endpoint.handle_timeout(cx.now);
            self.drain(cx);
        }
    }

    fn poll_timeout(&self) -> Option<u64> {
        match self.config.script {
            Some(_) => None,
            None => self.endpoint.poll_timeout(),
        }
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        self.keep_for_census(cx.fabric_now);
        while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 <= cx.fabric_now) {
            let action = entry.remove();
            self.act(cx, action);
            self.drain(cx);
        }
        while self.sender.due(cx.fabric_now) {
            self.send_pdu(cx);
            self.drain(cx);
        }
    }

    fn poll_arrival(&self) -> Option<Time> {
        let planned = self.agenda.first_key_value().map(|(&(at, _), _)| Time(at));
        planned.into_iter().chain(self.sender.next()).min()
    }

    fn audit(&self, ends: &Ends<'_>, totals: &mut Totals) {
        let nodes = ends.nodes();
        totals.push(audit::audit(ends.flow, ends.at, &nodes));
        let ranks: Vec<&Courier> = nodes.iter().filter_map(|(_, node)| node.courier.as_deref()).collect();
        if !ranks.is_empty() {
            totals.push(courier::audit(ends.flow, ProgramTransport::Session, &ranks));
        }
    }
}

fn spoken(protocol: SessionProtocol) -> Spoken {
    match protocol {
        SessionProtocol::Plain(id) => Spoken::standard(id).expect("the compiler allows such protocols only"),
        SessionProtocol::Vendor { vendor, name, .. } => Spoken::vendor(vendor, name),
        SessionProtocol::Ethernet { .. } => Spoken::ETHERNET,
    }
}

/// Node-wide attributes of a node.
fn periods(node: &Announcement) -> Attributes {
    let [retry, timeout, xon] = node.periods;
    let periods = [
        Attribute::retry_period(retry),
        Attribute::timeout_period(timeout),
        Attribute::xon_timeout_period(xon),
    ];
    periods.into_iter().collect()
}

/// A locally administered address for a node.
fn address(node: u16) -> [u8; 6] {
    let [high, low] = node.to_be_bytes();
    [0x02, 0, 0, 0, high, low]
}

/// When a PDU was sent, if it is long enough to say so.
fn sent_at(pdu: &[u8], header: usize) -> Option<Time> {
    pdu.get(header..).and_then(<[u8]>::first_chunk).map(|sent| Time(u64::from_be_bytes(*sent)))
}

fn stamp(pdu: &mut [u8], at: usize, now: u64) {
    if let Some(place) = pdu.get_mut(at..at + 8) {
        place.copy_from_slice(&now.to_be_bytes());
    }
}

fn endpoint_config(config: &SessionConfig) -> Config {
    let own = config.directory[&config.node];
    let mut offer = Offer::plain(spoken(config.protocol));
    offer.cos = config.cos;
    offer.reuse = config.reuses;
    offer.vendor_streams = matches!(config.protocol, SessionProtocol::Vendor { streams: true, .. });
    offer.vendor_attributes.clone_from(&config.understands);
    let mut open: Vec<Attribute> = offer.open.list().iter().collect();
    let (mut more, ethernet) = (Vec::new(), matches!(config.protocol, SessionProtocol::Ethernet { .. }));
    if ethernet {
        let (least, mtu) = config.mtu;
        more.extend((least < mtu).then_some(Attribute::mtu(least)));
        let mailbox = match (config.data, own.contact) {
            (SessionData::Message(mailbox), _) | (_, Contact::Mailbox(mailbox)) => mailbox,
            _ => 0,
        };
        open.push(Attribute::mtu(mtu));
        open.push(Attribute::conveyance(DataChannel::mailbox(mailbox)));
        open.push(Attribute::mac_address(address(config.node)));
        offer.advertise = more.into_iter().chain(open.iter().copied()).collect();
    }
    match config.data {
        SessionData::Stream => offer.header = HeaderFormat::Data3,
        SessionData::Message(mailbox) => {
            offer.header = config.header;
            if own.contact != Contact::Mailbox(mailbox) && !ethernet {
                open.push(Attribute::conveyance(DataChannel::mailbox(mailbox)));
                offer.advertise = open.iter().copied().collect();
            }
        }
    }
    let mut vendors = Vec::new();
    if config.data_offset > 0 || config.offset_vendor.is_some() {
        let offset = Attribute::data_offset(config.data_offset, [0; 5]);
        match config.offset_vendor {
            Some(vendor) => vendors.extend([Attribute::data_offset_vendor(vendor), offset]),
            None => open.push(offset),
        }
    }
    vendors.extend(config.vendor.map(Attribute::vendor));
    vendors.extend(&config.attributes);
    offer.advertise = offer.advertise.list().iter().chain(vendors.iter().copied()).collect();
    open.extend(vendors);
    offer.open = open.into_iter().collect();
    let offers = if config.refuses { Vec::new() } else { vec![offer] };
    let mut endpoint = Config::new(config.node, own.contact, offers);
    endpoint.mode = config.mode;
    endpoint.algorithm = config.algorithm;
    endpoint.max_records = config.record_limit as usize;
    endpoint.first_number = config.first_number;
    endpoint.first_stream = config.first_stream;
    endpoint.rts = config.rts;
    if let SessionProtocol::Ethernet { multicast: Some(group), .. } = config.protocol {
        endpoint.broadcast = Broadcast::Multicast(group);
    }
    endpoint.max_streams = config.stream_limit;
    endpoint.advertises = config.advertises;
    endpoint.pending_frames = config.frames_kept.into();
    endpoint.user_commands.clone_from(&config.user_commands);
    endpoint.vendor_streams.clone_from(&config.vendor_streams);
    endpoint.register_interval = config.poll;
    if let SessionData::Message(mailbox) = config.data {
        endpoint.data_mailbox = Some(mailbox);
    }
    endpoint
}

fn plus(a: &Counters, b: &Counters) -> Counters {
    Counters {
        received: a.received + b.received,
        malformed: a.malformed + b.malformed,
        dropped: a.dropped + b.dropped,
        opens: a.opens + b.opens,
        accepts: a.accepts + b.accepts,
        refuses: a.refuses + b.refuses,
        closes: a.closes + b.closes,
        sent: a.sent + b.sent,
        retransmissions: a.retransmissions + b.retransmissions,
        allocated: a.allocated + b.allocated,
    }
}
