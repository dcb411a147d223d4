//! Two nodes establish a LINX connection over RapidIO (RIOCM): which orders of arrivals, losses, duplicates,
//! false timeouts and restarts lead to what.
//!
//! Each node is [`linx_riocm::Node`], the code that endpoints run, and the frames in flight are octets. An
//! event is one of: a link handler connects; a frame is delivered, lost or duplicated; a message is
//! submitted; a timer runs out; a node restarts with a new generation.
//!
//! Times are left out. REQ is repeated, and a gap given up, when nothing is in flight: those timers are
//! longer than the round trip. Supervision runs out when the peer does not send heartbeats for this
//! connection; the budget allows for false timeouts. So of heartbeats only the first is in the states, which
//! proves that a peer is up, and another one if that found nobody.

use super::channel::{Channel, Order};
use super::graph::{Endings, Graph, Model};
use super::sequence::{Conversation, Happening, accidents};
use linx_riocm::wire::{DataKind, Packet};
use linx_riocm::{Config, ConnectionId, Event as Call, Frame, Link, Node, Options, Peer, Phase, Timer};

/// How much goes wrong.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Budget {
    /// Connection frames lost: the only ones that the protocol takes as unreliable.
    pub losses: u8,
    /// Data frames lost.
    pub data_losses: u8,
    /// Frames duplicated.
    pub duplicates: u8,
    /// Supervision that runs out although the peer is alive.
    pub timeouts: u8,
    /// Restarts.
    pub restarts: u8,
}

/// A budget under a name.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Fault {
    /// The name in tables.
    pub name: &'static str,
    /// What goes wrong.
    pub budget: Budget,
}

impl Fault {
    /// What goes wrong, in words.
    #[must_use]
    pub fn about(&self) -> String {
        let Budget { losses, data_losses, duplicates, timeouts, restarts } = self.budget;
        accidents(&[
            (losses, "connection frame is lost", "connection frames are lost"),
            (data_losses, "data frame is lost", "data frames are lost"),
            (duplicates, "frame arrives twice", "frames arrive twice"),
            (timeouts, "timeout although the peer is alive", "timeouts although the peer is alive"),
            (restarts, "restart of a node", "restarts of nodes"),
        ])
    }
}

/// Every fault scenario.
pub const FAULTS: [Fault; 9] = {
    const NONE: Budget = Budget { losses: 0, data_losses: 0, duplicates: 0, timeouts: 0, restarts: 0 };
    const fn fault(name: &'static str, budget: Budget) -> Fault {
        Fault { name, budget }
    }
    [
        fault("none", NONE),
        fault("LOSS1", Budget { losses: 1, ..NONE }),
        fault("LOSS2", Budget { losses: 2, ..NONE }),
        fault("DATALOSS1", Budget { data_losses: 1, ..NONE }),
        fault("DUP1", Budget { duplicates: 1, ..NONE }),
        fault("TIMEOUT1", Budget { timeouts: 1, ..NONE }),
        fault("RESTART1", Budget { restarts: 1, ..NONE }),
        fault("RESTART1+LOSS1", Budget { losses: 1, restarts: 1, ..NONE }),
        fault("RESTART1+DUP1", Budget { duplicates: 1, restarts: 1, ..NONE }),
    ]
};

/// One thing that happens; `node` 0 is X, 1 is Y.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// The link handler of a node connects.
    Connect(usize),
    /// A node sends a message.
    Submit(usize),
    /// A frame arrives at a node.
    Deliver(usize, Vec<u8>),
    /// A frame to a node is lost.
    Lose(usize, Vec<u8>),
    /// A frame to a node is duplicated.
    Duplicate(usize, Vec<u8>),
    /// A timer of a node runs out.
    Expire(usize, Timer),
    /// A node forgets everything, and begins with another generation and connection ID.
    Restart(usize),
}

/// What a link handler knows.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
struct Handler {
    up: bool,
    /// Lives of the connection, those before a restart included.
    life: u8,
    /// Messages submitted in this life.
    sent: u8,
    /// The peer's life that is being heard, and the next message of it.
    heard: Option<(u8, u8)>,
    /// The last life of the peer of which anything was heard.
    last_life: u8,
}

/// Both nodes, what is in flight, and what may still go wrong.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    nodes: [Node; 2],
    handlers: [Handler; 2],
    /// From each node to the other.
    channels: [Channel<Vec<u8>>; 2],
    /// Messages that may still be submitted.
    messages: [u8; 2],
    /// Connects so far.
    connects: u8,
    budget: Budget,
    breach: Option<Breach>,
}

/// A promise that was not kept.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Breach {
    /// Both ends are up with each other's generation, and differ in values or connection IDs.
    Disagreement,
    /// A message was lost, came twice or out of order within a life, or came from an earlier life.
    Message,
    /// Connected and Disconnected do not alternate, or Deliver is not between them.
    Contract,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Ending {
    /// Both ends are up and agree, and nothing is missing.
    Up,
    /// Both ends are up and agree, but a message is missing that no reset tells of.
    Missing,
    /// Nothing more happens, and the ends are not up with each other.
    Stuck,
    /// A promise was broken.
    Breach(Breach),
    /// More connects than the limit.
    Cut,
}

impl Ending {
    /// All.
    pub const ALL: [Self; 7] = [
        Self::Up,
        Self::Missing,
        Self::Stuck,
        Self::Breach(Breach::Disagreement),
        Self::Breach(Breach::Message),
        Self::Breach(Breach::Contract),
        Self::Cut,
    ];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Missing => "missing",
            Self::Stuck => "stuck",
            Self::Breach(Breach::Disagreement) => "disagreement",
            Self::Breach(Breach::Message) => "message",
            Self::Breach(Breach::Contract) => "contract",
            Self::Cut => "cut",
        }
    }

    /// What a run that ends so has come to, in words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Up => "both ends are up and agree, and no message is missing",
            Self::Missing => "both ends are up and agree, but a message is missing and no reset tells of it",
            Self::Stuck => "nothing more happens, and the ends are not up with each other",
            Self::Breach(Breach::Disagreement) => "both ends are up, with different values or connection IDs",
            Self::Breach(Breach::Message) => "a message came twice, out of order, or from an earlier life",
            Self::Breach(Breach::Contract) => "the application was told of a connection in the wrong order",
            Self::Cut => "connects beyond --limit, where the run was cut",
        }
    }
}

/// The system to be explored.
#[derive(Clone, Debug)]
pub struct Linx {
    /// What the nodes do where the text leaves room.
    pub options: Options,
    /// What goes wrong.
    pub fault: Fault,
    /// Order of delivery.
    pub order: Order,
    /// Messages that each node may send.
    pub messages: u8,
    /// Connects beyond which a run is cut. Without it, a REQ of an earlier attempt that is delayed for longer
    /// and longer could tear down one connection after the other.
    pub limit: u8,
}

/// Values that both ends wish for: each takes one from the other.
const WISHES: [(u16, u8); 2] = [(256, 5), (128, 10)];

impl Linx {
    /// The nodes, generation and connection ID far from those of the other lives of a node.
    fn node(&self, side: usize, restarts: u8) -> Node {
        let own = 1 + side as u16;
        let first_cid = 0x100 * own + 0x40 * u16::from(restarts);
        let config = Config { device: own, first_cid, options: self.options.clone() };
        let mut node = Node::new(config).expect("the options are sound");
        let (mtu, hb_tmo) = WISHES[side];
        let generation = 0x10 * own as u8 + 0x40 * restarts;
        node.add(Peer { mtu, hb_tmo, generation, ..Peer::new(3 - own) }).expect("the first connection");
        node
    }

    /// Lets a node act, and takes what it sends and says.
    fn act(&self, state: &mut State, side: usize, act: impl FnOnce(&mut Node, ConnectionId)) {
        let node = &mut state.nodes[side];
        let id = node.ids().next().expect("one connection");
        act(node, id);
        let mut frames = Vec::new();
        while let Some(frame) = node.poll_transmit() {
            frames.push(frame.octets.to_vec());
        }
        state.channels[side].send(self.order, frames);
        let handler = &mut state.handlers[side];
        while let Some(call) = node.poll_event() {
            let kept = match call {
                Call::Connected { .. } => {
                    let fresh = Handler {
                        up: true,
                        life: handler.life + 1,
                        last_life: handler.last_life,
                        ..Handler::default()
                    };
                    !std::mem::replace(handler, fresh).up
                }
                Call::Disconnected { .. } => std::mem::take(&mut handler.up),
                Call::Deliver { delivery, .. } => {
                    let (life, number) = (delivery.octets[0], delivery.octets[1]);
                    let first = handler.heard.is_none() && life > handler.last_life;
                    let (expected_life, expected) = handler.heard.unwrap_or((life, 0));
                    let in_turn = (life, number) == (expected_life, expected);
                    if !in_turn || !(first || handler.heard.is_some()) {
                        state.breach = Some(Breach::Message);
                    }
                    (handler.heard, handler.last_life) = (Some((life, number + 1)), life);
                    handler.up
                }
            };
            if !kept {
                state.breach = Some(Breach::Contract);
            }
        }
        node.take_counters();
        if let [Some(x), Some(y)] = self.links(state)
            && (x.generation, x.peer_generation) == (y.peer_generation, y.generation)
            && !agree(&x, &y)
        {
            state.breach = Some(Breach::Disagreement);
        }
    }

    fn links(&self, state: &State) -> [Option<Link>; 2] {
        state.nodes.each_ref().map(|node| node.ids().next().and_then(|id| node.link(id)))
    }

    fn channel_events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for from in 0..2 {
            let to = 1 - from;
            for at in state.channels[from].choices(self.order) {
                let frame = state.channels[from].message(at).clone();
                if state.channels[from].is_deliverable(self.order, at) {
                    let mut after = state.clone();
                    after.channels[from].take(at);
                    self.act(&mut after, to, |node, _| {
                        node.handle_frame(0, &frame);
                    });
                    found.push((Event::Deliver(to, frame.clone()), after));
                }
                let is_data = matches!(Frame::parse(&frame), Ok(Frame { packet: Packet::Data(_), .. }));
                let mut after = state.clone();
                let Budget { losses, data_losses, .. } = &mut after.budget;
                let losses = if is_data { data_losses } else { losses };
                if *losses > 0 {
                    *losses -= 1;
                    after.channels[from].take(at);
                    found.push((Event::Lose(to, frame.clone()), after));
                }
                if state.budget.duplicates > 0 {
                    let mut after = state.clone();
                    after.budget.duplicates -= 1;
                    after.channels[from].send(self.order, [frame.clone()]);
                    found.push((Event::Duplicate(to, frame), after));
                }
            }
        }
    }

    fn timer_events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        let quiet = state.channels.iter().all(|channel| channel.is_empty());
        let links = self.links(state);
        for side in 0..2 {
            let node = &state.nodes[side];
            let Some(id) = node.ids().next() else { continue };
            // The peer's heartbeats find this connection.
            let alive = links[1 - side].is_some_and(|peer| {
                links[side]
                    .is_some_and(|own| own.cid == peer.peer_cid && own.peer_generation == peer.generation)
            });
            for timer in Timer::ALL {
                let runs_out = match timer {
                    Timer::Request | Timer::Gap => quiet,
                    Timer::Supervision => (quiet && !alive) || (alive && state.budget.timeouts > 0),
                    // The next one proves what the first did not.
                    Timer::Heartbeat => {
                        let peer = &state.nodes[1 - side];
                        let waits = |id| peer.phase(id) == Phase::Connected && !peer.is_proved(id);
                        quiet && peer.ids().next().is_some_and(waits)
                    }
                };
                if runs_out && node.timer(id, timer).is_some() {
                    let mut after = state.clone();
                    if alive && timer == Timer::Supervision {
                        after.budget.timeouts -= 1;
                    }
                    self.act(&mut after, side, |node, id| node.fire(0, id, timer));
                    found.push((Event::Expire(side, timer), after));
                }
            }
        }
    }
}

fn agree(x: &Link, y: &Link) -> bool {
    (x.mtu, x.hb_tmo, x.generation, x.peer_generation, x.cid, x.peer_cid)
        == (y.mtu, y.hb_tmo, y.peer_generation, y.generation, y.peer_cid, y.cid)
}

impl Conversation for Linx {
    const NODES: [&'static str; 2] = ["X", "Y"];
    type Message = Vec<u8>;

    fn in_flight(state: &State, from: usize) -> Vec<Vec<u8>> {
        state.channels[from].iter().cloned().collect()
    }

    fn words(octets: &Vec<u8>) -> String {
        let Ok(Frame { packet, .. }) = Frame::parse(octets) else { return "a broken frame".into() };
        match packet {
            Packet::Request { generation, mtu, hb_tmo } => format!("REQ {generation} ({mtu},{hb_tmo})"),
            Packet::Ack { generation, mtu_ack, generation_ack, hb_tmo_ack, my_cid } => {
                format!("ACK {generation} of {generation_ack} ({mtu_ack},{hb_tmo_ack}) cid {my_cid:#06x}")
            }
            Packet::Reset { generation } => format!("RESET {generation}"),
            Packet::Heartbeat { dst_cid } => format!("HEARTBEAT {dst_cid:#06x}"),
            Packet::Data(data) => {
                let name = if matches!(data.kind, DataKind::Single(_)) { "SINGLE" } else { "fragment" };
                format!("{name} {} to {:#06x}", data.seqno, data.dst_cid)
            }
        }
    }

    fn happening(event: &Event) -> Happening<Vec<u8>> {
        let noted = |node: usize, words: String| Happening::Noted(Some(node), words);
        match event {
            Event::Connect(node) => noted(*node, "connects".into()),
            Event::Submit(node) => noted(*node, "sends a message".into()),
            Event::Deliver(to, octets) => Happening::Delivered(*to, octets.clone()),
            Event::Lose(to, octets) => Happening::Lost(*to, octets.clone()),
            Event::Duplicate(to, octets) => Happening::Duplicated(*to, octets.clone()),
            Event::Expire(node, timer) => {
                noted(*node, format!("{} timer runs out", format!("{timer:?}").to_lowercase()))
            }
            Event::Restart(node) => noted(*node, "restarts".into()),
        }
    }

    fn opening(&self, _: usize) -> Option<String> {
        None
    }
}

impl Model for Linx {
    type State = State;
    type Event = Event;
    type Outcome = Ending;
    type Final = [Option<Link>; 2];

    fn initial(&self) -> State {
        State {
            nodes: [self.node(0, 0), self.node(1, 0)],
            handlers: [Handler::default(); 2],
            channels: [Channel::default(), Channel::default()],
            messages: [self.messages; 2],
            connects: 0,
            budget: self.fault.budget,
            breach: None,
        }
    }

    fn events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for side in 0..2 {
            let node = &state.nodes[side];
            let Some(id) = node.ids().next() else { continue };
            let phase = node.phase(id);
            if phase == Phase::Disconnected {
                let mut after = state.clone();
                after.connects += 1;
                self.act(&mut after, side, |node, id| node.connect(0, id));
                found.push((Event::Connect(side), after));
            }
            if phase == Phase::Connected && state.messages[side] > 0 {
                let mut after = state.clone();
                after.messages[side] -= 1;
                let Handler { life, sent, .. } = after.handlers[side];
                after.handlers[side].sent += 1;
                self.act(&mut after, side, |node, id| node.transmit(0, id, 5, 9, &[life, sent]));
                found.push((Event::Submit(side), after));
            }
            if state.budget.restarts > 0 && phase != Phase::Disconnected {
                let mut after = state.clone();
                let restarts = self.fault.budget.restarts - after.budget.restarts + 1;
                after.budget.restarts -= 1;
                after.nodes[side] = self.node(side, restarts);
                // The peer tells lives apart for longer than the node remembers its own.
                let life = after.handlers[side].life;
                after.handlers[side] = Handler { life, ..Handler::default() };
                found.push((Event::Restart(side), after));
            }
        }
        self.channel_events(state, found);
        self.timer_events(state, found);
    }

    fn is_cut(&self, state: &State) -> bool {
        state.breach.is_some() || state.connects > self.limit
    }

    fn outcome(&self, state: &State, _: bool) -> (Ending, Self::Final) {
        let links = self.links(state);
        let ending = match (state.breach, &links) {
            (Some(breach), _) => Ending::Breach(breach),
            (None, _) if state.connects > self.limit => Ending::Cut,
            (None, [Some(x), Some(y)]) if agree(x, y) => {
                let whole = (0..2).all(|side| {
                    let sender = &state.handlers[1 - side];
                    match state.handlers[side].heard {
                        Some(heard) => heard == (sender.life, sender.sent),
                        None => sender.sent == 0,
                    }
                });
                if whole { Ending::Up } else { Ending::Missing }
            }
            (None, _) => Ending::Stuck,
        };
        (ending, links)
    }
}

/// A row of the table; live: a good ending can be reached from every state, or a cut.
pub type Row = Endings<Ending>;

/// The row of one exploration. None if there are more states than `max_states`.
#[must_use]
pub fn linx_table(model: &Linx, max_states: usize) -> Option<Row> {
    Graph::explore(model, max_states).as_ref().map(linx_row)
}

/// The row of a graph.
#[must_use]
pub fn linx_row(graph: &Graph<'_, Linx>) -> Row {
    graph.endings(|ending| matches!(ending, Ending::Up | Ending::Cut))
}
