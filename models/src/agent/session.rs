//! Session management on an endpoint: the protocol crate, the application above it, and what goes wrong on
//! purpose.
//!
//! The machine is [`session_management::Endpoint`], the code that a product would link. An endpoint has one,
//! whatever flows take part in there: each flow is an *application* of the node, with a protocol of its own.
//! An application opens conduits and sends PDUs on them, takes PDUs in its own time, and has a
//! *launcher*: what becomes of a message between protocol and host. It lets messages leave, or loses,
//! duplicates or delays those that the scenario names, or keeps all of them until a script calls them.
//!
//! What a message or an event is about says whose it is: a stream, or a protocol. What is about neither is
//! told in the name of the application for whose flow the node was called.
//!
//! A PDU begins with the instant at which the application sent it (fabric time, 8 octets), if it is long
//! enough for that.

mod application;
mod audit;
mod bridge;
mod census;
mod launch;
mod names;
mod reader;
mod setup;

use super::courier::{self, Courier};
use super::data::Data;
use super::protocol::{Conveyance, Cx, Ends, Outcome, Protocol, Received, Token};
use super::workload::Sender;
use crate::config::{OwnRegisters, ProgramTransport, SessionConfig, Wanted};
use crate::endpoint::traffic::Source;
use crate::observe::probe::SignalKind;
use crate::observe::totals::Totals;
use application::{Action, Application, Seat};
use reader::Reader;
use session_management::attribute::Attributes;
use session_management::conduit::Side;
use session_management::endpoint::{Advertised, Counters, Endpoint, Event, StreamRef, Transmit};
use session_management::message::{Class, Command, Message, Mode};
use session_management::protocol::{APPLICATION_STREAMS, BROADCAST_STREAM, Protocol as Spoken};
use setup::endpoint_config;
use sim_core::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Data messages of a node that may be under way: XOFF stops what is not.
const DATA_WINDOW: usize = 4;

/// What the applications of an endpoint share.
#[derive(Debug)]
struct Node {
    endpoint: Endpoint,
    /// Peers whose entry of the directory was read.
    known: BTreeSet<u16>,
    reader: Reader,
    /// Applications that ask a peer for its attributes before they send it an OPEN, one after the other.
    asking: BTreeMap<u16, VecDeque<usize>>,
    /// The applications whose streams have ended; not kept where there is one application alone.
    ended: BTreeMap<StreamRef, usize>,
    /// What endpoints before a restart counted.
    past: Counters,
    /// The message that it takes up at this instant.
    taking: Option<Taking>,
    /// Its hardware is being reset: when its software is up again.
    reset: Option<Time>,
}

/// What became of a REQUEST.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// The peer does not speak the protocol.
    Unsupported,
    /// It has said what it takes.
    Attributes,
    /// It does not say, or nothing came.
    None,
}

/// What only the simulator knows of a message that came.
#[derive(Copy, Clone, Debug)]
struct Taking {
    /// The application for whose flow it was sent.
    app: usize,
    /// Which PDU of its sender it is, or is a part of; 0: none.
    pdu: u32,
    /// Its sender hears that it has come.
    answered: bool,
}

impl Node {
    fn counters(&self) -> Counters {
        plus(&self.past, self.endpoint.counters())
    }
}

/// One node of session management, with its applications.
#[derive(Debug)]
pub(crate) struct Session {
    node: Node,
    apps: Vec<Application>,
}

/// What an endpoint is in one flow.
pub(crate) struct Role<'a> {
    /// The part of the agent.
    pub part: u16,
    /// The flow.
    pub flow: u16,
    /// What it is set to.
    pub config: &'a SessionConfig,
    /// Who sends PDUs.
    pub sender: Sender,
}

impl Session {
    /// `path`: of the endpoint.
    pub fn new(seed: u64, path: &str, roles: Vec<Role<'_>>) -> Self {
        let configs: Vec<&SessionConfig> = roles.iter().map(|role| role.config).collect();
        let node = Node {
            endpoint: Endpoint::new(endpoint_config(&configs)),
            known: BTreeSet::new(),
            reader: Reader::default(),
            asking: BTreeMap::new(),
            ended: BTreeMap::new(),
            past: Counters::default(),
            taking: None,
            reset: None,
        };
        let apps =
            roles.into_iter().enumerate().map(|(number, role)| Application::new(seed, path, number, role));
        Session { node, apps: apps.collect() }
    }

    // Whose something is.

    /// An application, to act: messages and events are its own from now on.
    fn seat(&mut self, cx: &mut Cx<'_>, app: usize) -> Seat<'_> {
        self.speak_for(cx, app);
        Seat { node: &mut self.node, app: &mut self.apps[app] }
    }

    fn speak_for(&self, cx: &mut Cx<'_>, app: usize) {
        cx.speak_for(self.apps[app].part, self.apps[app].flow);
    }

    /// The application for whose flow the node acts.
    fn speaker(&self, cx: &Cx<'_>) -> usize {
        self.of_flow(cx.flow()).unwrap_or(0)
    }

    fn of_flow(&self, flow: u16) -> Option<usize> {
        self.apps.iter().position(|app| app.flow == flow)
    }

    fn of_protocol(&self, protocol: Spoken) -> Option<usize> {
        self.apps.iter().position(|app| app.spoken() == protocol)
    }

    /// The application of a stream, open or not any more.
    fn of_stream(&self, stream: StreamRef) -> Option<usize> {
        if stream.stream == BROADCAST_STREAM {
            return self.of_protocol(Spoken::ETHERNET);
        }
        let unopened = |app: &Application| app.config.wanted == Wanted::Nothing(stream.stream);
        let open = self.node.endpoint.protocol(stream).and_then(|protocol| self.of_protocol(protocol));
        open.or_else(|| self.node.ended.get(&stream).copied()).or_else(|| self.apps.iter().position(unopened))
    }

    /// The application of a message that leaves.
    fn of_message(&self, transmit: &Transmit) -> Option<usize> {
        if let Some(stream) = transmit.stream {
            return self.of_stream(stream);
        }
        let (peer, own) = (transmit.destination, self.apps[0].config.node);
        let stream = |source: u16, stream: u16| {
            let side = if source == own { Side::Transmit } else { Side::Receive };
            self.of_stream(StreamRef { peer, side, stream })
        };
        match Message::parse(&transmit.octets, Mode::NonValidation).ok()? {
            Message::Open(open) => self.of_protocol(open.attributes.protocol(open.protocol)?),
            Message::Accept(accept) => self.of_protocol(accept.attributes.protocol(accept.protocol)?),
            Message::Refuse(refuse) => self.of_protocol(refuse.attributes.protocol(refuse.protocol)?),
            Message::Close(close) => stream(close.source, close.stream),
            Message::Status(status) => stream(status.source, status.stream),
            Message::FlowControl(flow) => stream(flow.source, flow.stream),
            _ => None,
        }
    }

    /// The application in whose flow a message leaves: its own, else that which acts, if the other end takes
    /// part in it, else one that both ends take part in.
    fn sender_of(&self, transmit: &Transmit, speaker: usize) -> usize {
        if self.apps.len() == 1 {
            return 0;
        }
        let to = transmit.destination;
        let shared = |app: &usize| {
            let config = &self.apps[*app].config;
            config.directory.contains_key(&to) || config.is_group(to)
        };
        let others = std::iter::once(speaker).chain(0..self.apps.len());
        self.of_message(transmit).into_iter().chain(others).find(shared).unwrap_or(speaker)
    }

    /// The application of an event.
    fn of_event(&self, event: &Event) -> Option<usize> {
        if self.apps.len() == 1 {
            return Some(0);
        }
        match event {
            Event::Opened { protocol, .. }
            | Event::OpenFailed { protocol, .. }
            | Event::ConduitOpen { protocol, .. }
            | Event::ConduitEnded { protocol, .. }
            | Event::ConduitLimit { protocol, .. } => self.of_protocol(*protocol),
            Event::Ended { stream, .. }
            | Event::Pdu { stream, .. }
            | Event::FrameDropped { stream }
            | Event::Stopped { stream }
            | Event::Resumed { stream, .. } => self.of_stream(*stream),
            _ => None,
        }
    }

    // What happens.

    fn act(&mut self, cx: &mut Cx<'_>, app: usize, action: Action) {
        match action {
            Action::Restart(reuses, None) => {
                self.forget(cx, reuses);
                // While the hardware is being reset there is no software to begin.
                if self.node.reset.is_none() {
                    self.begin(cx);
                }
            }
            Action::Restart(reuses, Some(time)) => {
                self.forget(cx, reuses);
                if self.apps[0].config.announces {
                    cx.reset();
                }
                // Resets that overlap are one, up to the end of the last.
                self.node.reset = self.node.reset.max(Some(Time(cx.fabric_now.saturating_add(time))));
            }
            action => self.seat(cx, app).act(cx, action),
        }
    }

    /// All state is lost. What is in the fabric stays there; StreamIDs and numbers are not used again, as if
    /// they had been drawn anew, unless `reuses` says that they begin as before.
    fn forget(&mut self, cx: &mut Cx<'_>, reuses: bool) {
        let node = &mut self.node;
        let mut config = node.endpoint.config().clone();
        let counters = node.endpoint.counters();
        if !reuses {
            config.first_number = node.endpoint.next_number();
            config.first_stream =
                config.first_stream.wrapping_add(counters.allocated as u16) % APPLICATION_STREAMS;
        }
        node.past = node.counters();
        node.endpoint = Endpoint::new(config);
        node.known.clear();
        node.asking.clear();
        node.ended.clear();
        node.reader = Reader::default();
        for app in 0..self.apps.len() {
            self.seat(cx, app).app.forget(cx);
        }
    }

    /// The software of a node that has forgotten everything is up.
    fn begin(&mut self, cx: &mut Cx<'_>) {
        for app in 0..self.apps.len() {
            let config = &self.apps[app].config;
            let (scripted, scans) = (config.script.is_some(), !config.scans.is_empty());
            let Some(creates) = config.creates.clone().filter(|_| !scripted) else { continue };
            let mut seat = self.seat(cx, app);
            if scans {
                seat.scan(cx);
                continue;
            }
            for &peer in creates.peers.iter() {
                seat.create(cx, peer as u16);
            }
        }
    }

    /// Lets everything happen that can happen now.
    fn drain(&mut self, cx: &mut Cx<'_>) {
        if self.node.reset.is_some() {
            return;
        }
        let speaker = self.speaker(cx);
        loop {
            let under_way: usize = self.apps.iter().map(|app| app.under_way.len()).sum();
            let next = match under_way < DATA_WINDOW {
                true => self.node.endpoint.poll_transmit(),
                false => self.node.endpoint.poll_control(),
            };
            if let Some(transmit) = next {
                let app = self.sender_of(&transmit, speaker);
                self.seat(cx, app).launch(cx, transmit);
                continue;
            }
            let Some(event) = self.node.endpoint.poll_event() else { break };
            let app = self.of_event(&event).unwrap_or(speaker);
            self.speak_for(cx, app);
            match event {
                Event::ReadRegisters { peer } => self.read_registers(cx, peer),
                // An OPEN would be refused.
                Event::Advertised { peer, answer: Advertised::Unsupported } => {
                    self.asked(cx, peer, Answer::Unsupported);
                }
                Event::Advertised { peer, .. } => self.asked(cx, peer, Answer::Attributes),
                Event::RequestUnsupported { peer } | Event::RequestFailed { peer } => {
                    self.asked(cx, peer, Answer::None);
                }
                event => {
                    if let Event::Ended { stream, .. } = event
                        && self.apps.len() > 1
                    {
                        self.node.ended.insert(stream, app);
                    }
                    self.seat(cx, app).event(cx, event);
                }
            }
        }
        self.speak_for(cx, speaker);
    }

    /// The peer has said what it has to say, or nothing: the OPEN of who asked can go, if it is of use. The
    /// next application asks.
    fn asked(&mut self, cx: &mut Cx<'_>, peer: u16, answer: Answer) {
        let Some(asking) = self.node.asking.get_mut(&peer) else { return };
        let (app, next) = (asking.pop_front(), asking.front().copied());
        if let Some(app) = app {
            let mut seat = self.seat(cx, app);
            let refused = seat.app.refused.get_mut(&peer).and_then(Option::take);
            match (refused, answer) {
                // What was refused would be refused again, unless something is known now.
                (Some(refused), Answer::Attributes) => seat.open_some(cx, peer, refused),
                (Some(_), _) => {}
                (None, Answer::Unsupported) => seat.open_failed(cx, || names::NO_OPEN.into()),
                (None, _) => seat.open(cx, peer),
            }
        }
        match next {
            Some(next) => self.seat(cx, next).ask(cx, peer),
            None => {
                self.node.asking.remove(&peer);
            }
        }
    }

    /// Its software writes what is its own of its registers.
    fn announce(&self, cx: &mut Cx<'_>) {
        let config = &self.apps[0].config;
        let OwnRegisters { contact, periods: says_periods, next } = config.own;
        if config.announces && (contact || says_periods) {
            let own = &config.directory[&config.node];
            let attributes = if says_periods { own.attributes() } else { Attributes::default() };
            let contacts = if contact { config.announced() } else { Vec::new() };
            cx.announce(contacts, attributes, next);
        }
    }

    fn keep_for_census(&mut self, now: u64) {
        for app in &mut self.apps {
            app.keep_for_census(&self.node, now);
        }
    }

    /// Whether what goes to `node` in this way begins with a command: PDUs on streams of type 9 do not, only
    /// what the stream of the receiver takes does.
    fn has_command(&self, node: u16, conveyance: Conveyance) -> bool {
        match conveyance {
            Conveyance::Message { .. } => true,
            Conveyance::Stream { cos, stream_id: stream } => {
                let entry = self.apps.iter().find_map(|app| app.config.directory.get(&node));
                entry.is_some_and(|entry| entry.manages_on(stream, cos))
            }
            _ => false,
        }
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
        self.apps[0].config.classes
    }

    fn goes_first(&self, to: Option<u32>, conveyance: Conveyance, payload: &Data) -> bool {
        let node = to.map_or(self.apps[0].config.node, |to| to as u16);
        let octets = payload.as_bytes().filter(|_| self.has_command(node, conveyance));
        octets.and_then(command).is_some_and(|command| command.class() == Class::High)
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.keep_for_census(cx.fabric_now);
        let app = self.speaker(cx);
        if app == 0 {
            self.announce(cx);
        }
        self.seat(cx, app).start(cx);
    }

    fn received(&mut self, cx: &mut Cx<'_>, received: Received) {
        let app = self.speaker(cx);
        if self.apps[app].config.mute || self.node.reset.is_some() {
            return;
        }
        self.keep_for_census(cx.fabric_now);
        let from = received.from as u16;
        self.seat(cx, app).look_up(cx.now, from);
        if self.apps[app].config.charted {
            let kind =
                SignalKind::Arrived { token: received.payload.label.token, source: received.leg.source };
            cx.tell(kind);
        }
        let octets = received.payload.as_bytes().expect("session management sends bytes");
        if !self.has_command(self.apps[app].config.node, received.conveyance) || is_data(command(octets)) {
            self.apps[app].stats.data_until = Time(cx.fabric_now);
        }
        let label = &received.payload.label;
        let answered = matches!(received.conveyance, Conveyance::Message { .. });
        self.node.taking = self.of_flow(label.flow).map(|app| Taking { app, pdu: label.pdu, answered });
        match received.conveyance {
            Conveyance::Stream { cos, stream_id } => {
                self.node.endpoint.handle_pdu(cx.now, from, cos, stream_id, octets);
            }
            _ => self.node.endpoint.handle_message(cx.now, from, octets),
        }
        self.drain(cx);
        self.node.taking = None;
    }

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: Outcome) {
        self.keep_for_census(cx.fabric_now);
        // What the conveyance loses the protocol repeats, or not.
        let app = self.speaker(cx);
        let app = &mut self.apps[app];
        let ended = app.under_way.remove(&token);
        let failed = matches!(outcome, Outcome::Failed);
        app.stats.pdus_failed += u64::from(failed && ended.is_some_and(|part| part.ends));
        if self.register_outcome(cx, token, &outcome) || ended.is_some() {
            self.drain(cx);
        }
    }

    fn timeout(&mut self, cx: &mut Cx<'_>) {
        self.keep_for_census(cx.fabric_now);
        if self.poll_timeout().is_some_and(|at| at <= cx.now) {
            self.node.endpoint.handle_timeout(cx.now);
            self.drain(cx);
        }
    }

    fn poll_timeout(&self) -> Option<u64> {
        match self.apps[0].config.script {
            Some(_) => None,
            None => self.node.endpoint.poll_timeout().filter(|_| self.node.reset.is_none()),
        }
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        self.keep_for_census(cx.fabric_now);
        // A node that is being reset can be reset again, also at the instant at which it would be up.
        for app in 0..self.apps.len() {
            while self.node.reset.is_some()
                && let Some(action) = self.apps[app].restart_due(cx.fabric_now)
            {
                self.act(cx, app, action);
            }
        }
        if self.node.reset.is_some_and(|until| until.0 <= cx.fabric_now) {
            self.node.reset = None;
            self.announce(cx);
            self.begin(cx);
            self.speak_for(cx, 0);
            self.drain(cx);
        }
        for app in 0..self.apps.len() {
            self.speak_for(cx, app);
            // What the software would do waits until it is up; those that want to send do not know.
            while self.node.reset.is_none()
                && let Some(action) = self.apps[app].planned(cx.fabric_now)
            {
                self.act(cx, app, action);
                self.speak_for(cx, app);
                self.drain(cx);
            }
            while self.apps[app].sender.due(cx.fabric_now) {
                self.seat(cx, app).send_pdu(cx);
                self.drain(cx);
            }
        }
    }

    fn poll_arrival(&self) -> Option<Time> {
        match self.node.reset {
            None => self.apps.iter().filter_map(Application::next).min(),
            until => {
                let outside = self.apps.iter().flat_map(|app| [app.sender.next(), app.next_restart()]);
                outside.flatten().chain(until).min()
            }
        }
    }

    fn sources(&self) -> Vec<&Source> {
        self.apps.iter().filter_map(|app| app.sender.source()).collect()
    }

    fn audit(&self, ends: &Ends<'_>, totals: &mut Totals) {
        let nodes = ends.nodes::<Session>().into_iter();
        let nodes = nodes.filter_map(|(device, Session { node, apps })| {
            let app = apps.iter().find(|app| app.flow == ends.flow)?;
            Some(audit::End { device, node, app })
        });
        let nodes: Vec<audit::End<'_>> = nodes.collect();
        let (sessions, messages) = audit::audit(ends.flow, ends.at, &nodes, &(ends.aboard)());
        totals.push(sessions);
        let ranks: Vec<&Courier> = nodes.iter().filter_map(|end| end.app.courier.as_deref()).collect();
        if !ranks.is_empty() {
            totals.push(courier::audit(ends.flow, ProgramTransport::Session, &ranks, 0, Some(messages)));
        }
    }
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
