//! Two nodes establish a conduit (Annex 2 §3.4): which orders of arrivals, losses, repetitions and restarts
//! lead to what.
//!
//! The decisions are those of [`session_management::conduit::Pairing`], the code that endpoints run. Around
//! it stands as much of an endpoint as matters: repetition of OPENs and CLOSEs, cached replies, closed
//! streams.
//!
//! An event is one of: the application of a node calls create_conduit; a message in flight is delivered and
//! handled to the end, lost, or duplicated; an OPEN or CLOSE is repeated; a request is given up; a node
//! restarts. Times are left out: an OPEN is repeated when neither it nor its answer is in flight (the timer
//! is longer than the round trip), unless the budget allows for a premature one.

use super::channel::{Channel, Order};
use super::graph::Model;
use super::sequence::{Conversation, Happening, accidents};
use session_management::conduit::{Accepted, Actions, Algorithm, Own, Pairing, Record, Side};
use session_management::protocol::NO_STREAM;
use std::fmt;

/// Who wants the conduit.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Configuration {
    /// The application of one node.
    MasterSlave,
    /// Those of both, at any time.
    Peers,
    /// Both, and both OPENs are in flight before anything is delivered.
    Crossing,
}

impl Configuration {
    /// All.
    pub const ALL: [Self; 3] = [Self::MasterSlave, Self::Peers, Self::Crossing];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::MasterSlave => "MS",
            Self::Peers => "PEERS",
            Self::Crossing => "CROSS",
        }
    }

    /// Who wants the conduit, in words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::MasterSlave => "the application of M alone",
            Self::Peers => "the applications of both nodes, at any time",
            Self::Crossing => "both, and each has sent its OPEN before anything arrives",
        }
    }
}

/// How much goes wrong.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Budget {
    /// Messages lost.
    pub losses: u8,
    /// Messages duplicated.
    pub duplicates: u8,
    /// OPENs repeated although they or their answers are in flight.
    pub premature: u8,
    /// OPENs given up although they or their answers are in flight.
    pub late: u8,
    /// Restarts.
    pub restarts: u8,
}

impl Budget {
    const fn is_spent(self) -> bool {
        self.losses | self.duplicates | self.premature | self.late | self.restarts == 0
    }
}

/// Budget and repetitions of each OPEN under a name.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Fault {
    /// The name in tables.
    pub name: &'static str,
    /// What goes wrong; runs in which less did are not counted.
    pub budget: Budget,
    /// Repetitions of each OPEN.
    pub retries: u8,
}

impl Fault {
    /// What goes wrong, in words.
    #[must_use]
    pub fn about(&self) -> String {
        let Budget { losses, duplicates, premature, late, restarts } = self.budget;
        let repeated = match self.retries {
            _ if losses | late | restarts == 0 => String::new(),
            0 => "; no OPEN is repeated".to_owned(),
            1 => "; an OPEN is repeated at most once".to_owned(),
            n => format!("; an OPEN is repeated at most {n} times"),
        };
        let happened = accidents(&[
            (losses, "message is lost", "messages are lost"),
            (duplicates, "message arrives twice", "messages arrive twice"),
            (premature, "OPEN is repeated too early", "OPENs are repeated too early"),
            (late, "OPEN is given up too early", "OPENs are given up too early"),
            (restarts, "restart of a node", "restarts of nodes"),
        ]);
        happened + &repeated
    }
}

/// Every fault scenario.
pub const FAULTS: [Fault; 13] = {
    const NONE: Budget = Budget { losses: 0, duplicates: 0, premature: 0, late: 0, restarts: 0 };
    const fn fault(name: &'static str, budget: Budget, retries: u8) -> Fault {
        Fault { name, budget, retries }
    }
    [
        fault("none", NONE, 0),
        fault("LOSS1", Budget { losses: 1, ..NONE }, 1),
        fault("RETX1", Budget { premature: 1, ..NONE }, 0),
        fault("DUP1", Budget { duplicates: 1, ..NONE }, 0),
        fault("ABANDON1", Budget { losses: 1, ..NONE }, 0),
        fault("ABANDON2", Budget { losses: 2, ..NONE }, 1),
        fault("LATE1", Budget { late: 1, ..NONE }, 1),
        fault("LOSS2", Budget { losses: 2, ..NONE }, 2),
        fault("RETX2", Budget { premature: 2, ..NONE }, 0),
        fault("DUP2", Budget { duplicates: 2, ..NONE }, 0),
        fault("LOSS1+RETX1", Budget { losses: 1, premature: 1, ..NONE }, 1),
        fault("LOSS1+DUP1", Budget { losses: 1, duplicates: 1, ..NONE }, 1),
        fault("RESTART1", Budget { restarts: 1, ..NONE }, 2),
    ]
};

/// A message in flight. StreamIDs are those of CONDUIT_STREAM.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Message {
    /// OPEN (0xFFFF, receive).
    Open {
        /// OPEN_MESSAGE_NUMBER.
        number: u32,
        /// Second field.
        receive: u16,
    },
    /// ACCEPT of `stream` with (transmit, stream).
    Accept {
        /// OPEN_MESSAGE_NUMBER.
        number: u32,
        /// First field.
        transmit: u16,
        /// The stream.
        stream: u16,
    },
    /// REFUSE.
    Refuse {
        /// OPEN_MESSAGE_NUMBER.
        number: u32,
    },
    /// CLOSE.
    Close(u16),
    /// STATUS Closed, the answer to CLOSE.
    Closed(u16),
    /// STATUS query.
    Query(u16),
    /// STATUS Functional, an answer to a query.
    Functional(u16),
    /// STATUS Stream Unknown, the other one.
    Unknown(u16),
}

/// A StreamID, or F where it is not known.
fn stream(id: u16) -> String {
    if id == NO_STREAM { "F".to_owned() } else { format!("{id:#06x}") }
}

/// In the words of charts and scripts.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Open { number, receive } => write!(f, "OPEN {number} (F,{})", stream(receive)),
            Self::Accept { number, transmit, stream: id } => {
                write!(f, "ACCEPT {number} ({},{})", stream(transmit), stream(id))
            }
            Self::Refuse { number } => write!(f, "REFUSE {number}"),
            Self::Close(id) => write!(f, "CLOSE {}", stream(id)),
            Self::Closed(id) => write!(f, "STATUS {} Closed", stream(id)),
            Self::Query(id) => write!(f, "STATUS {} query", stream(id)),
            Self::Functional(id) => write!(f, "STATUS {} Functional", stream(id)),
            Self::Unknown(id) => write!(f, "STATUS {} Stream Unknown", stream(id)),
        }
    }
}

/// One thing that happens; `node` 0 is M, 1 is P.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Event {
    /// The application wants a conduit.
    Create(usize),
    /// A message arrives at a node.
    Deliver(usize, Message),
    /// A message to a node is lost.
    Lose(usize, Message),
    /// A message to a node is duplicated.
    Duplicate(usize, Message),
    /// A node repeats an OPEN or a CLOSE.
    Repeat(usize, Message),
    /// A node gives an OPEN up.
    GiveUp(usize, u32),
    /// A node asks for its transmit stream when all is quiet.
    Verify(usize, u16),
    /// The peer's OPEN has not come.
    Watch(usize),
    /// A node forgets everything.
    Restart(usize),
}

/// The first StreamID of each node.
pub(super) const FIRST_STREAM: [u16; 2] = [0x1000, 0x2000];

/// An OPEN that is not answered.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Pending {
    number: u32,
    receive: u16,
    retries: u8,
}

/// What one node knows.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Node {
    pairing: Pairing,
    allocated: u16,
    next_number: u32,
    pending: Vec<Pending>,
    answered: Vec<u32>,
    replies: Vec<(u32, Message)>,
    closing: Vec<u16>,
    dead: Vec<u16>,
    live: Vec<u16>,
    /// The OPEN of the record that was verified when all was quiet.
    verified: Option<u32>,
}

impl Node {
    fn forget_pending(&mut self, number: u32) {
        self.pending.retain(|pending| pending.number != number);
    }
}

/// A node as its pairing sees it.
struct Context<'a> {
    node: &'a mut NodeRest,
    own: usize,
    retries: u8,
    at_hand: u32,
    out: &'a mut Vec<Message>,
}

/// A node without its pairing.
type NodeRest = Node;

fn insert(sorted: &mut Vec<u16>, value: u16) {
    if let Err(at) = sorted.binary_search(&value) {
        sorted.insert(at, value);
    }
}

impl Actions for Context<'_> {
    fn open(&mut self, receive: u16) -> u32 {
        let number = self.node.next_number;
        self.node.next_number += 1;
        self.node.pending.push(Pending { number, receive, retries: self.retries });
        self.out.push(Message::Open { number, receive });
        number
    }

    fn allocate(&mut self) -> Option<u16> {
        let stream = FIRST_STREAM[self.own] + self.node.allocated;
        self.node.allocated += 1;
        self.node.live.push(stream);
        Some(stream)
    }

    fn accept(&mut self, transmit: u16, stream: u16) {
        self.reply(Message::Accept { number: self.at_hand, transmit, stream });
    }

    fn refuse(&mut self) {
        self.reply(Message::Refuse { number: self.at_hand });
    }

    fn close(&mut self, side: Side, stream: u16) {
        if side == Side::Receive {
            self.node.live.retain(|live| *live != stream);
        }
        insert(&mut self.node.closing, stream);
        self.out.push(Message::Close(stream));
    }

    fn forget(&mut self, side: Side, stream: u16) {
        if side == Side::Receive {
            self.node.live.retain(|live| *live != stream);
        }
    }

    fn abandon(&mut self, number: u32) {
        self.node.forget_pending(number);
    }

    fn query(&mut self, stream: u16) {
        self.out.push(Message::Query(stream));
    }

    fn is_dead(&self, stream: u16) -> bool {
        self.node.dead.contains(&stream)
    }

    fn complete(&mut self, _: Record) {}

    fn ended(&mut self, _: Record) {}
}

impl Context<'_> {
    fn reply(&mut self, reply: Message) {
        self.node.replies.push((self.at_hand, reply));
        self.out.push(reply);
    }
}

/// Both nodes, what is in flight, and what may still go wrong.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    nodes: [Node; 2],
    /// From each node to the other.
    channels: [Channel<Message>; 2],
    /// Calls of create_conduit still to come.
    todo: [bool; 2],
    budget: Budget,
}

impl State {
    /// Numbers of the OPENs of a node that are not answered.
    pub(super) fn pending(&self, node: usize) -> impl Iterator<Item = u32> + '_ {
        self.nodes[node].pending.iter().map(|pending| pending.number)
    }

    /// Streams whose CLOSE a node repeats until it is answered.
    pub(super) fn closing(&self, node: usize) -> &[u16] {
        &self.nodes[node].closing
    }

    /// Whether a node waits for the return OPEN.
    pub(super) fn awaits_open(&self, node: usize) -> bool {
        self.nodes[node].pairing.records().iter().any(Record::awaits_open)
    }
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ending {
    /// Everything of the budget did go wrong.
    pub spent: bool,
    /// What is there in the end; none if the run was cut.
    pub found: Option<Found>,
}

/// What is there in the end.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Found {
    /// Pairs of records that fit each other.
    pub conduits: usize,
    /// Streams open at their receiver and in no such pair.
    pub leaked: usize,
    /// Records with an unknown side.
    pub half_open: usize,
    /// Complete records without a partner.
    pub orphans: usize,
}

/// The columns of the tables.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Class {
    /// One conduit, nothing else.
    One,
    /// No conduit, and nothing left of the attempt.
    None,
    /// More than one conduit.
    Duplicate,
    /// One conduit and a stream that nobody will ever close.
    Leak,
    /// A record with an unknown side.
    HalfOpen,
    /// A complete record without a partner.
    Orphan,
    /// More OPENs than the limit: it goes on for ever.
    Storm,
}

impl Class {
    /// All, in the order of the tables.
    pub const ALL: [Self; 7] =
        [Self::One, Self::None, Self::Duplicate, Self::Leak, Self::HalfOpen, Self::Orphan, Self::Storm];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::None => "none",
            Self::Duplicate => "duplicate",
            Self::Leak => "leak",
            Self::HalfOpen => "half-open",
            Self::Orphan => "orphan",
            Self::Storm => "storm",
        }
    }

    /// What a run that ends so has come to, in words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::One => "one conduit, of which both nodes have the same record",
            Self::None => "no conduit, and nothing is left of the attempt",
            Self::Duplicate => "more than one conduit between the two nodes",
            Self::Leak => "one conduit, and a stream beside it that nobody will ever close",
            Self::HalfOpen => "a record that knows only one of its two streams",
            Self::Orphan => "a record of a conduit that the other node does not have",
            Self::Storm => "OPENs beyond --limit, where the run was cut: it goes on for ever",
        }
    }
}

impl Ending {
    /// The column in which the run is counted: the first that applies of storm, duplicate, half-open, orphan,
    /// leak, one conduit, none.
    #[must_use]
    pub const fn class(&self) -> Class {
        match self.found {
            None => Class::Storm,
            Some(found) if found.conduits > 1 => Class::Duplicate,
            Some(found) if found.half_open > 0 => Class::HalfOpen,
            Some(found) if found.orphans > 0 => Class::Orphan,
            Some(found) if found.leaked > 0 => Class::Leak,
            Some(found) if found.conduits > 0 => Class::One,
            Some(_) => Class::None,
        }
    }
}

/// Records as (receive, transmit) and streams allocated, of both nodes: what tells two endings apart.
pub type Final = [(Vec<(u16, u16)>, u16); 2];

/// What is explored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Conduit {
    /// How OPEN and ACCEPT are matched, at M and at P.
    pub algorithms: [Algorithm; 2],
    /// Who wants the conduit.
    pub configuration: Configuration,
    /// The order of delivery.
    pub order: Order,
    /// What goes wrong.
    pub fault: Fault,
    /// OPENs, repetitions not counted, beyond which a run is cut and called a storm.
    pub limit: u32,
}

impl Conduit {
    /// The runs of the tables: the same algorithm at both ends, cut beyond 6 OPENs.
    #[must_use]
    pub const fn new(algorithm: Algorithm, fault: Fault, configuration: Configuration, order: Order) -> Self {
        Self { algorithms: [algorithm; 2], configuration, order, fault, limit: 6 }
    }

    /// Lets a node act, and sends what it says.
    fn act<T>(
        &self,
        state: &mut State,
        node: usize,
        at_hand: u32,
        run: impl FnOnce(&mut Pairing, &mut Context<'_>) -> T,
    ) -> T {
        self.act_after(state, node, at_hand, Vec::new(), run)
    }

    /// A call of a node after `out` was said.
    fn act_after<T>(
        &self,
        state: &mut State,
        node: usize,
        at_hand: u32,
        mut out: Vec<Message>,
        run: impl FnOnce(&mut Pairing, &mut Context<'_>) -> T,
    ) -> T {
        let mut pairing = std::mem::take(&mut state.nodes[node].pairing);
        let retries = self.fault.retries;
        let rest = &mut state.nodes[node];
        let result =
            run(&mut pairing, &mut Context { node: rest, own: node, retries, at_hand, out: &mut out });
        state.nodes[node].pairing = pairing;
        state.channels[node].send(self.order, out);
        result
    }

    fn create(&self, state: &mut State, node: usize) {
        let algorithm = self.algorithms[node];
        self.act(state, node, 0, |pairing, actions| pairing.create(algorithm, actions));
    }

    fn deliver(&self, state: &mut State, to: usize, message: Message) {
        let algorithm = self.algorithms[to];
        let corrected = algorithm == Algorithm::Corrected;
        let own = |stream: u16| stream & 0xF000 == FIRST_STREAM[to];
        match message {
            Message::Open { number, receive } => {
                let known = state.nodes[to].replies.iter().find(|(known, _)| *known == number);
                if let Some(&(_, reply)) = known.filter(|_| corrected) {
                    state.channels[to].send(self.order, [reply]);
                    return;
                }
                self.act(state, to, number, |pairing, actions| {
                    pairing.handle_open(algorithm, NO_STREAM, receive, actions);
                });
                if !corrected {
                    state.nodes[to].replies.clear();
                }
            }
            Message::Accept { number, transmit, stream } => {
                if corrected && state.nodes[to].answered.contains(&number) {
                    return;
                }
                if !corrected {
                    state.nodes[to].forget_pending(number);
                }
                let accepted = self.act(state, to, 0, |pairing, actions| {
                    pairing.handle_accept(algorithm, number, stream, (transmit, stream), actions)
                });
                if corrected && accepted == Accepted::Used {
                    let node = &mut state.nodes[to];
                    node.forget_pending(number);
                    node.answered.push(number);
                    node.answered.sort_unstable();
                }
            }
            Message::Refuse { number } => {
                if !corrected {
                    // The printed algorithm never gets a REFUSE from its like; the request is over.
                    state.nodes[to].forget_pending(number);
                }
                self.act(state, to, 0, |pairing, actions| {
                    pairing.handle_failure(algorithm, number, actions);
                });
            }
            Message::Close(stream) => {
                let side = if own(stream) { Side::Receive } else { Side::Transmit };
                self.act_after(state, to, 0, vec![Message::Closed(stream)], |pairing, actions| {
                    pairing.handle_close(side, stream, actions)
                });
                let node = &mut state.nodes[to];
                node.live.retain(|live| *live != stream);
                if side == Side::Transmit {
                    insert(&mut node.dead, stream);
                }
            }
            Message::Closed(stream) => state.nodes[to].closing.retain(|closing| *closing != stream),
            Message::Query(stream) => {
                let known = state.nodes[to].live.contains(&stream);
                let answer = if known { Message::Functional(stream) } else { Message::Unknown(stream) };
                state.channels[to].send(self.order, [answer]);
            }
            Message::Functional(stream) => state.nodes[to].pairing.handle_functional(stream),
            Message::Unknown(stream) => {
                self.act(state, to, 0, |pairing, actions| pairing.end(Side::Transmit, stream, actions));
            }
        }
    }

    fn give_up(&self, state: &mut State, node: usize, number: u32) {
        let algorithm = self.algorithms[node];
        state.nodes[node].forget_pending(number);
        self.act(state, node, 0, |pairing, actions| pairing.handle_failure(algorithm, number, actions));
    }

    fn channel_events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for from in 0..2 {
            let (to, channel) = (1 - from, &state.channels[from]);
            for at in channel.choices(self.order) {
                let message = *channel.message(at);
                let mut rest = state.clone();
                rest.channels[from].take(at);
                if state.budget.losses > 0 {
                    let mut lost = rest.clone();
                    lost.budget.losses -= 1;
                    found.push((Event::Lose(to, message), lost));
                }
                if state.budget.duplicates > 0 {
                    let mut twice = state.clone();
                    twice.channels[from].send(self.order, [message]);
                    twice.budget.duplicates -= 1;
                    found.push((Event::Duplicate(to, message), twice));
                }
                if channel.is_deliverable(self.order, at) {
                    self.deliver(&mut rest, to, message);
                    found.push((Event::Deliver(to, message), rest));
                }
            }
        }
    }

    /// Whether an OPEN or its answer is in flight.
    fn in_flight(state: &State, node: usize, number: u32) -> bool {
        let open = |message: &Message| matches!(message, Message::Open { number: n, .. } if *n == number);
        let answer = |message: &Message| match message {
            Message::Accept { number: n, .. } | Message::Refuse { number: n } => *n == number,
            _ => false,
        };
        state.channels[node].iter().any(open) || state.channels[1 - node].iter().any(answer)
    }

    fn timer_events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for node in 0..2 {
            for (at, &Pending { number, receive, retries }) in state.nodes[node].pending.iter().enumerate() {
                let gone = !Self::in_flight(state, node, number);
                let again = Message::Open { number, receive };
                let mut repeat = state.clone();
                repeat.channels[node].send(self.order, [again]);
                if retries > 0 && gone {
                    let mut repeat = repeat.clone();
                    repeat.nodes[node].pending[at].retries -= 1;
                    found.push((Event::Repeat(node, again), repeat));
                }
                if state.budget.premature > 0 {
                    repeat.budget.premature -= 1;
                    found.push((Event::Repeat(node, again), repeat));
                }
                if retries == 0 && gone {
                    let mut after = state.clone();
                    self.give_up(&mut after, node, number);
                    found.push((Event::GiveUp(node, number), after));
                }
                if state.budget.late > 0 {
                    let mut after = state.clone();
                    self.give_up(&mut after, node, number);
                    after.budget.late -= 1;
                    found.push((Event::GiveUp(node, number), after));
                }
            }
            for &stream in &state.nodes[node].closing {
                let (close, closed) = (Message::Close(stream), Message::Closed(stream));
                let sent = state.channels[node].iter().any(|message| *message == close);
                if !sent && !state.channels[1 - node].iter().any(|message| *message == closed) {
                    let mut after = state.clone();
                    after.channels[node].send(self.order, [close]);
                    found.push((Event::Repeat(node, close), after));
                }
            }
            if state.budget.restarts > 0 {
                let mut after = state.clone();
                let Node { allocated, next_number, .. } = state.nodes[node];
                after.nodes[node] = Node { allocated, next_number, ..Node::default() };
                after.budget.restarts -= 1;
                after.todo[node] = node == 0 || self.configuration != Configuration::MasterSlave;
                found.push((Event::Restart(node), after));
            }
        }
    }

    /// After a restart, each node checks its conduit once when all is quiet.
    fn verify_events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for node in 0..2 {
            for record in state.nodes[node].pairing.records() {
                let Own::Answered(number) = record.own else { continue };
                if record.receive != NO_STREAM && state.nodes[node].verified != Some(number) {
                    let mut after = state.clone();
                    after.nodes[node].verified = Some(number);
                    after.channels[node].send(self.order, [Message::Query(record.transmit)]);
                    found.push((Event::Verify(node, record.transmit), after));
                }
            }
        }
    }

    fn watch_events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for node in 0..2 {
            for record in state.nodes[node].pairing.records() {
                let Own::Answered(number) = record.own else { continue };
                if record.awaits_open() {
                    let mut after = state.clone();
                    self.act(&mut after, node, 0, |pairing, actions| pairing.handle_watch(number, actions));
                    found.push((Event::Watch(node), after));
                }
            }
        }
    }
}

impl Conversation for Conduit {
    const NODES: [&'static str; 2] = ["M", "P"];
    type Message = Message;

    fn in_flight(state: &State, from: usize) -> Vec<Message> {
        state.channels[from].iter().copied().collect()
    }

    fn words(message: &Message) -> String {
        message.to_string()
    }

    fn happening(event: &Event) -> Happening<Message> {
        let noted = |node: usize, words: String| Happening::Noted(Some(node), words);
        match *event {
            Event::Create(node) => noted(node, "create_conduit".into()),
            Event::Deliver(to, message) => Happening::Delivered(to, message),
            Event::Lose(to, message) => Happening::Lost(to, message),
            Event::Duplicate(to, message) => Happening::Duplicated(to, message),
            Event::Repeat(node, message) => noted(node, format!("repeats {message}")),
            Event::GiveUp(node, number) => noted(node, format!("gives OPEN {number} up")),
            Event::Verify(node, id) => noted(node, format!("asks about {id:#06x}")),
            Event::Watch(node) => noted(node, "has waited long enough for the return OPEN".into()),
            Event::Restart(node) => noted(node, "restarts".into()),
        }
    }

    /// Where both OPENs are in flight before anything is delivered.
    fn opening(&self, _: usize) -> Option<String> {
        (self.configuration == Configuration::Crossing).then(|| "create_conduit".into())
    }

    /// ACCEPT before OPEN.
    fn rank(message: &Message) -> u8 {
        u8::from(matches!(message, Message::Open { .. }))
    }
}

impl Model for Conduit {
    type State = State;
    type Event = Event;
    type Outcome = Ending;
    type Final = Final;

    fn initial(&self) -> State {
        let todo =
            [self.configuration != Configuration::Crossing, self.configuration == Configuration::Peers];
        let mut state = State {
            nodes: [Node::default(), Node::default()],
            channels: [Channel::default(), Channel::default()],
            todo,
            budget: self.fault.budget,
        };
        if self.configuration == Configuration::Crossing {
            self.create(&mut state, 0);
            self.create(&mut state, 1);
        }
        state
    }

    fn events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for node in 0..2 {
            if state.todo[node] {
                let mut after = state.clone();
                after.todo[node] = false;
                self.create(&mut after, node);
                found.push((Event::Create(node), after));
            }
        }
        self.channel_events(state, found);
        self.timer_events(state, found);
        let in_flight = |state: &State| state.channels.iter().any(|channel| !channel.is_empty());
        let restart = self.fault.budget.restarts > 0 && state.budget.restarts == 0;
        if restart
            && !in_flight(state)
            && found.iter().all(|(_, after)| !in_flight(after) && after.todo == state.todo)
        {
            self.verify_events(state, found);
        }
        if found.is_empty() {
            self.watch_events(state, found);
        }
    }

    fn is_cut(&self, state: &State) -> bool {
        state.nodes.iter().map(|node| node.next_number).sum::<u32>() > self.limit
    }

    fn outcome(&self, state: &State, cut: bool) -> (Ending, Final) {
        let [a, b] = [0, 1].map(|node| state.nodes[node].pairing.records());
        let fits = |a: &Record, b: &Record| {
            a.is_whole() && b.is_whole() && a.receive == b.transmit && a.transmit == b.receive
        };
        let conduits = a.iter().map(|a| b.iter().filter(|b| fits(a, b)).count()).sum();
        let paired = [
            a.iter().filter(|a| b.iter().any(|b| fits(a, b))).collect::<Vec<_>>(),
            b.iter().filter(|b| a.iter().any(|a| fits(a, b))).collect::<Vec<_>>(),
        ];
        let leaked = [0, 1].map(|node: usize| {
            let kept = |stream: &u16| paired[node].iter().any(|record| record.receive == *stream);
            state.nodes[node].live.iter().filter(|stream| !kept(stream)).count()
        });
        let all = a.len() + b.len();
        let half_open = a.iter().chain(b).filter(|record| !record.is_whole()).count();
        let orphans = all - half_open - paired[0].len() - paired[1].len();
        let found = Found { conduits, leaked: leaked.iter().sum(), half_open, orphans };
        let last = [0, 1].map(|node: usize| {
            let node = &state.nodes[node];
            let mut records: Vec<_> =
                node.pairing.records().iter().map(|record| (record.receive, record.transmit)).collect();
            records.sort_unstable();
            (records, node.allocated)
        });
        (Ending { spent: state.budget.is_spent(), found: (!cut).then_some(found) }, last)
    }
}
