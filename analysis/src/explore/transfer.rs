//! Two Scheduled Transfer endpoints: a connection comes and goes, a Write or a Read of two Blocks, a Put, a
//! Get, a FetchOp; which orders of arrivals, losses and duplicates lead to what.
//!
//! Each end is [`scheduled_transfer::Endpoint`], the code that endpoints run, over memory of real octets; the
//! operations in flight are octets. An event is one of: an operation is delivered, lost or duplicated; a
//! deadline passes; an upper layer disconnects.
//!
//! Operations take no time. A deadline passes when nothing is in flight, because Op_timeout is longer than a
//! round trip, or early, out of a budget; the earliest of both ends is first. After each event the clock is
//! set back, so that a state holds how long its deadlines are away, and not when it was reached.

use super::channel::{Channel, Order};
use super::graph::{Endings, Graph, Model};
use super::sequence::{Conversation, Happening, accidents};
use scheduled_transfer::slots::UNCOUNTED;
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::wire::operation::name_of;
use scheduled_transfer::wire::{Function, Header, Op};
use scheduled_transfer::{
    Config, ConnectionId, Endpoint, Event as News, ExposeOptions, Extras, Outcome, Span, TransferOptions, Ula,
};

/// What the upper layer of end A does.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Subject {
    /// Connects; then either end may disconnect at any time.
    Connection,
    /// Connects and writes two Blocks, of which both are granted at once.
    Write,
    /// Connects and reads two Blocks, both granted at once.
    Read,
    /// Connects, has a region and puts two STUs into it.
    Put,
    /// Connects, has a region and gets two STUs out of it.
    Get,
    /// Connects, has a region and increments a word of it.
    FetchOp,
    /// Connects and writes with few Slots, so the other end has to ask for more, and gives up after the first
    /// of two Blocks.
    Common,
}

impl Subject {
    /// All.
    pub const ALL: [Self; 7] =
        [Self::Connection, Self::Write, Self::Read, Self::Put, Self::Get, Self::FetchOp, Self::Common];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Write => "write",
            Self::Read => "read",
            Self::Put => "put",
            Self::Get => "get",
            Self::FetchOp => "fetch-op",
            Self::Common => "common",
        }
    }

    /// What end A does, in words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Connection => "A connects; either end may disconnect at any time",
            Self::Write => "A connects and writes two Blocks, both granted at once",
            Self::Read => "A connects and reads two Blocks, both granted at once",
            Self::Put => "A connects, gets a region of B's memory and puts two STUs into it",
            Self::Get => "A connects, gets a region of B's memory and reads two STUs out of it",
            Self::FetchOp => "A connects, gets a region of B's memory and increments a word of it",
            Self::Common => "A writes two Blocks with few Slots, and gives up after the first",
        }
    }
}

/// How much goes wrong.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Budget {
    /// Operations lost.
    pub losses: u8,
    /// Operations duplicated.
    pub duplicates: u8,
    /// Deadlines that pass although something is in flight.
    pub timeouts: u8,
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
        let Budget { losses, duplicates, timeouts } = self.budget;
        accidents(&[
            (losses, "operation is lost", "operations are lost"),
            (duplicates, "operation arrives twice", "operations arrive twice"),
            (timeouts, "timeout although something is under way", "timeouts although something is under way"),
        ])
    }
}

/// Every fault scenario.
pub const FAULTS: [Fault; 7] = {
    const fn fault(name: &'static str, losses: u8, duplicates: u8, timeouts: u8) -> Fault {
        Fault { name, budget: Budget { losses, duplicates, timeouts } }
    }
    [
        fault("none", 0, 0, 0),
        fault("LOSS1", 1, 0, 0),
        fault("LOSS2", 2, 0, 0),
        fault("DUP1", 0, 1, 0),
        fault("TIMEOUT1", 0, 0, 1),
        fault("LOSS1+DUP1", 1, 1, 0),
        fault("LOSS1+TIMEOUT1", 1, 0, 1),
    ]
};

/// One thing that happens; end 0 is A, 1 is B.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Event {
    /// An operation arrives at an end.
    Deliver(usize, Vec<u8>),
    /// An operation to an end is lost.
    Lose(usize, Vec<u8>),
    /// An operation to an end is duplicated.
    Duplicate(usize, Vec<u8>),
    /// The earliest deadline passes.
    Expire,
    /// The upper layer of an end disconnects.
    Disconnect(usize),
}

/// What an upper layer was told.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Told {
    /// How often a connection opened.
    pub opened: u8,
    /// How often one closed.
    pub closed: u8,
    /// Whether one closed in another way than both ends wanted it to.
    pub lost: bool,
    /// Whether the Transfer or FetchOp is over: whole or not.
    pub finished: Option<bool>,
}

/// A promise that was not kept.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Breach {
    /// Octets are told to have arrived that have not, or others were touched.
    Octets,
    /// The word was changed twice, or is not what the requester was told.
    Twice,
    /// A sequence was told to be over twice, or a connection to be closed that was not open.
    Contract,
    /// An end logged an error although nothing was lost, repeated or late.
    Logged,
    /// An invariant of section 2.4 of the requirements.
    Invariant,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Ending {
    /// Everything was done, both ends know, nothing is left.
    Done,
    /// It was given up, and who asked for it was told.
    GivenUp,
    /// Nothing more happens, and something is left or somebody waits.
    Stuck,
    /// A promise was broken.
    Breach(Breach),
}

impl Ending {
    /// All.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::GivenUp,
        Self::Stuck,
        Self::Breach(Breach::Octets),
        Self::Breach(Breach::Twice),
        Self::Breach(Breach::Contract),
        Self::Breach(Breach::Logged),
        Self::Breach(Breach::Invariant),
    ];

    /// The name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::GivenUp => "given up",
            Self::Stuck => "stuck",
            Self::Breach(Breach::Octets) => "octets",
            Self::Breach(Breach::Twice) => "twice",
            Self::Breach(Breach::Contract) => "contract",
            Self::Breach(Breach::Logged) => "logged",
            Self::Breach(Breach::Invariant) => "invariant",
        }
    }

    /// What a run that ends so has come to, in words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::Done => "everything was done, both ends know, and nothing is left",
            Self::GivenUp => "it was given up, and who asked for it was told",
            Self::Stuck => "nothing more happens, and somebody waits or something is left",
            Self::Breach(Breach::Octets) => "octets are wrong: told to have arrived, or touched by mistake",
            Self::Breach(Breach::Twice) => "the word was changed twice, or is not what A was told",
            Self::Breach(Breach::Contract) => "an end was told twice, or of the end of what had not begun",
            Self::Breach(Breach::Logged) => "an end logged an error although nothing went wrong",
            Self::Breach(Breach::Invariant) => "an end is in a state that the standard forbids",
        }
    }
}

/// The system to be explored.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// What is done.
    pub subject: Subject,
    /// What goes wrong.
    pub fault: Fault,
    /// Order of delivery. Endpoints on a medium that reorders are configured for it.
    pub order: Order,
    /// Max_Retry. With as many losses as that, giving up is no breach.
    pub max_retry: u32,
}

/// Both ends, what is in flight, and what may still go wrong.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct State {
    ends: [Endpoint<Vec<u8>>; 2],
    told: [Told; 2],
    /// From each end to the other.
    channels: [Channel<Vec<u8>>; 2],
    budget: Budget,
    /// Ends whose upper layer may still disconnect.
    leaves: [bool; 2],
    /// What A's upper layer waits for.
    sequence: Option<u32>,
    /// A's upper layer disconnects when what A has to say has left.
    parting: Option<ConnectionId>,
    breach: Option<Breach>,
}

const PORT: u16 = 0x14;
const ALL: u8 = 0b1111;
/// Octets of memory: what is moved lies in the first half at A, in the second at B; the rest guards it.
const MEMORY: usize = 4096;
const LANDING: u64 = 2048;
const WORD: u64 = LANDING + 8;
/// Where a word that was fetched goes.
const FETCHED: usize = 8;
/// What each end has in its memory at first: made once, as it is looked at after every event.
static BEFORE: [[u8; MEMORY]; 2] = {
    let mut before = [[0; MEMORY]; 2];
    let mut at = 0;
    while at < MEMORY {
        before[0][at] = (at as u8).wrapping_mul(7).wrapping_add(1);
        before[1][at] = before[0][at].wrapping_add(90);
        at += 1;
    }
    before
};

const fn ula(end: usize) -> Ula {
    Ula([2, 0, 0, 0, 0, end as u8])
}

impl Transfer {
    fn config(&self, end: usize) -> Config {
        Config {
            op_timeout: 1_000_000,
            max_retry: self.max_retry,
            slots: if self.subject == Subject::Common { 3 } else { UNCOUNTED },
            bufsize: 9,
            max_stu: 8,
            ordered: self.order == Order::Fifo,
            check: false,
            compute: false,
            missing_timeout: Some(1_500_000),
            first_key: 0x100 * (end as u32 + 1),
            first_port: 0x4000 * (end as u16 + 1),
            ..Config::default()
        }
    }

    /// Exponent of the Block size: two STUs, or one where the medium reorders.
    const fn blocksize(&self) -> u16 {
        match self.order {
            Order::Fifo => 9,
            Order::Any => 8,
        }
    }

    /// Octets that move: two Blocks, or what a region's STUs in any order can make up: one.
    const fn bytes(&self) -> u64 {
        match (self.order, self.subject) {
            (Order::Any, Subject::Put | Subject::Get) => 1 << self.blocksize(),
            _ => 2 << self.blocksize(),
        }
    }

    fn memory(end: usize) -> &'static [u8; MEMORY] {
        &BEFORE[end]
    }

    /// The end whose memory changes.
    const fn changed(&self) -> usize {
        match self.subject {
            Subject::Connection | Subject::Write | Subject::Put | Subject::FetchOp | Subject::Common => 1,
            Subject::Read | Subject::Get => 0,
        }
    }

    /// Octets of an end's memory when everything is done.
    fn wanted(&self, end: usize) -> Vec<u8> {
        let mut memory = Self::memory(end).to_vec();
        if self.subject == Subject::FetchOp && end == 0 {
            memory[FETCHED..FETCHED + 8].copy_from_slice(&Self::memory(1)[WORD as usize..][..8]);
        }
        if end != self.changed() || self.subject == Subject::Connection {
            return memory;
        }
        let (to, n) = (LANDING as usize, self.bytes() as usize);
        match self.subject {
            Subject::FetchOp => {
                let (at, word) = word_of(&memory);
                memory[at..at + 8].copy_from_slice(&(word + 1).to_be_bytes());
            }
            Subject::Get => memory[to..to + n].copy_from_slice(&Self::memory(1)[to..to + n]),
            _ => memory[to..to + n].copy_from_slice(&Self::memory(1 - end)[..n]),
        }
        memory
    }

    /// Lets an end act, and takes what it says and sends, until it is silent.
    fn act(&self, state: &mut State, end: usize, act: impl FnOnce(&mut Endpoint<Vec<u8>>)) {
        act(&mut state.ends[end]);
        let mut sent = Vec::new();
        loop {
            let mut silent = true;
            while let Some((connection, news)) = state.ends[end].poll_event() {
                silent = false;
                self.heard(state, end, connection, news);
            }
            let mut octets = Vec::new();
            while state.ends[end].poll_transmit(0, 0, ALL, &mut octets).is_some() {
                silent = false;
                sent.push(octets.clone());
            }
            if let Some(connection) = state.parting.take_if(|_| end == 0) {
                silent = false;
                state.ends[0].disconnect(0, connection);
            }
            if silent {
                break;
            }
        }
        state.channels[end].send(self.order, sent);
        // Where nothing goes wrong and order is kept, nothing is an error (section 2.4 of the requirements).
        let clean = self.fault.budget == Budget::default() && self.order == Order::Fifo;
        if !state.ends[end].take_log().is_empty() && clean {
            state.breach = Some(Breach::Logged);
        }
        if state.ends[end].check_invariants().is_err() {
            state.breach = Some(Breach::Invariant);
        }
        for end in 0..2 {
            if !self.is_possible(end, state.ends[end].memory()) {
                let twice = self.subject == Subject::FetchOp && end == self.changed();
                state.breach = Some(if twice { Breach::Twice } else { Breach::Octets });
            }
        }
    }

    /// Whether every octet is the old one or the one that belongs there; a word changes as a whole.
    fn is_possible(&self, end: usize, memory: &[u8]) -> bool {
        let before = Self::memory(end);
        if memory == before {
            return true;
        }
        let after = self.wanted(end);
        let apart = matches!(self.subject, Subject::Connection | Subject::FetchOp);
        let mut octets = memory.iter().zip(before.iter().zip(&after));
        memory == after || !apart && octets.all(|(found, (old, new))| found == old || found == new)
    }

    fn heard(&self, state: &mut State, end: usize, connection: ConnectionId, news: News) {
        let target = &mut state.ends[end];
        let told = &mut state.told[end];
        let extras = Extras::default();
        let done = match news {
            News::Incoming { .. } => target.accept(0, connection, extras),
            News::Opened => {
                told.opened += 1;
                if end == 0 {
                    state.sequence = self.begin(target, connection);
                }
                true
            }
            News::Closed(outcome) => {
                told.closed += 1;
                told.lost |= outcome != Outcome::Complete;
                told.closed <= told.opened || told.lost
            }
            News::WriteOffered { id, .. } => {
                target.expose(0, connection, id, Span::new(LANDING, self.bytes()), self.exposed())
            }
            News::ReadRequested { id, .. } => {
                target.serve(0, connection, id, self.source(), TransferOptions::default())
            }
            News::RegionRequested { id, t_len } => target.grant(0, connection, id, Span::new(LANDING, t_len)),
            News::RegionReady { id } => match self.subject {
                Subject::Put => {
                    // It has no id of its own.
                    state.sequence = None;
                    let options = TransferOptions::default();
                    target.put(0, connection, (id, 0), self.source(), options).is_some()
                }
                Subject::Get => {
                    let to = Span::new(LANDING, self.bytes());
                    state.sequence = target.get(0, connection, (id, 0), to, extras);
                    state.sequence.is_some()
                }
                _ => {
                    let (offset, up) = (WORD - LANDING, Function::Increment);
                    let to = FETCHED as u64;
                    state.sequence = target.fetch_op(0, connection, (id, offset), up, to, extras);
                    state.sequence.is_some()
                }
            },
            News::Finished { id, outcome, .. } if end == 1 || state.sequence == Some(id) => {
                self.finished(state, end, connection, outcome)
            }
            News::Progress { id, .. } if self.subject == Subject::Common => {
                target.end(0, connection, id);
                true
            }
            News::PutFinished { outcome, .. } => self.finished(state, end, connection, outcome),
            News::Fetched { word, .. } => word == word_of(Self::memory(1)).1,
            _ => true,
        };
        if !done {
            state.breach = Some(Breach::Contract);
        }
    }

    /// Asks for what is to be done.
    fn begin(&self, end: &mut Endpoint<Vec<u8>>, connection: ConnectionId) -> Option<u32> {
        let extras = Extras::default();
        let region = |end: &mut Endpoint<_>, octets| {
            end.request_region(0, connection, octets, DataChannel::ONE, extras)
        };
        match self.subject {
            Subject::Connection => None,
            Subject::Write => end.write(0, connection, self.source(), TransferOptions::default()),
            Subject::Common => {
                let options = TransferOptions { state_every: 1, ..TransferOptions::default() };
                end.write(0, connection, self.source(), options)
            }
            Subject::Read => {
                let to = Span::new(LANDING, self.bytes());
                end.read(0, connection, (to, false), DataChannel::ONE, self.exposed(), extras)
            }
            Subject::Put | Subject::Get => region(end, self.bytes()),
            Subject::FetchOp => region(end, 64),
        }
    }

    /// What is to be done is over at an end.
    fn finished(&self, state: &mut State, end: usize, connection: ConnectionId, outcome: Outcome) -> bool {
        let whole = outcome == Outcome::Complete;
        let changed = self.changed();
        if whole && *state.ends[changed].memory() != self.wanted(changed) {
            state.breach = Some(Breach::Octets);
        }
        let told_once = state.told[end].finished.replace(whole).is_none();
        match self.subject {
            // FetchOp_Complete, which nobody answers, leaves before.
            Subject::FetchOp if end == 0 => state.parting = Some(connection),
            _ if end == 0 => state.ends[0].disconnect(0, connection),
            _ => {}
        }
        told_once
    }

    /// Where moved octets come from.
    const fn source(&self) -> Span {
        Span::new(0, self.bytes())
    }

    const fn exposed(&self) -> ExposeOptions {
        ExposeOptions { window: 2, blocksize: self.blocksize() }
    }

    /// Whether what is to be done is over as it should be.
    fn is_done(&self, told: &Told) -> bool {
        match self.subject {
            Subject::Connection => true,
            // Given up on purpose, unless all was there before.
            Subject::Common => told.finished.is_some(),
            _ => told.finished == Some(true),
        }
    }

    fn channel_events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for from in 0..2 {
            let to = 1 - from;
            for at in state.channels[from].choices(self.order) {
                let octets = state.channels[from].message(at).clone();
                if state.channels[from].is_deliverable(self.order, at) {
                    let mut after = state.clone();
                    after.channels[from].take(at);
                    self.act(&mut after, to, |end| end.handle(0, (ula(from), 0), &octets));
                    found.push((Event::Deliver(to, octets.clone()), after));
                }
                if state.budget.losses > 0 {
                    let mut after = state.clone();
                    after.budget.losses -= 1;
                    after.channels[from].take(at);
                    found.push((Event::Lose(to, octets.clone()), after));
                }
                if state.budget.duplicates > 0 {
                    let mut after = state.clone();
                    after.budget.duplicates -= 1;
                    after.channels[from].send(self.order, [octets.clone()]);
                    found.push((Event::Duplicate(to, octets), after));
                }
            }
        }
    }

    fn expire(&self, state: &State) -> Option<State> {
        let quiet = state.channels.iter().all(|channel| channel.is_empty());
        if !quiet && state.budget.timeouts == 0 {
            return None;
        }
        let next = state.ends.iter().filter_map(Endpoint::poll_timeout).min()?;
        let mut after = state.clone();
        if !quiet {
            after.budget.timeouts -= 1;
        }
        after.ends.iter_mut().for_each(|end| end.rebase(next));
        for end in 0..2 {
            self.act(&mut after, end, |end| end.handle_timeout(0));
        }
        Some(after)
    }
}

/// Where the word lies in B's memory, and what it is.
fn word_of(memory: &[u8]) -> (usize, u64) {
    let at = WORD as usize;
    (at, u64::from_be_bytes(memory[at..at + 8].try_into().expect("eight octets")))
}

impl Conversation for Transfer {
    const NODES: [&'static str; 2] = ["A", "B"];
    type Message = Vec<u8>;

    fn in_flight(state: &State, from: usize) -> Vec<Vec<u8>> {
        state.channels[from].iter().cloned().collect()
    }

    fn words(octets: &Vec<u8>) -> String {
        let Ok((header, _)) = Header::parse(octets) else { return "a broken operation".into() };
        let mut words = name_of(&header).to_owned();
        for (field, value) in [("D_id", header.d_id), ("S_id", header.s_id)] {
            if value != 0 {
                words += &format!(" {field} {value:#x}");
            }
        }
        if [Op::Data as u8, Op::ClearToSend as u8].contains(&header.op) {
            words += &format!(" B_num {:#x}", header.b_num);
        }
        words
    }

    fn happening(event: &Event) -> Happening<Vec<u8>> {
        match event {
            Event::Deliver(to, octets) => Happening::Delivered(*to, octets.clone()),
            Event::Lose(to, octets) => Happening::Lost(*to, octets.clone()),
            Event::Duplicate(to, octets) => Happening::Duplicated(*to, octets.clone()),
            Event::Expire => Happening::Noted(None, "the next deadline passes".into()),
            Event::Disconnect(end) => Happening::Noted(Some(*end), "disconnects".into()),
        }
    }

    fn opening(&self, end: usize) -> Option<String> {
        (end == 0).then(|| "connects".into())
    }
}

impl Model for Transfer {
    type State = State;
    type Event = Event;
    type Outcome = Ending;
    type Final = [Told; 2];

    fn initial(&self) -> State {
        let end = |end| {
            let mut endpoint = Endpoint::new(self.config(end), Self::memory(end).to_vec())
                .expect("the configuration is sound");
            endpoint.listen(PORT, 0);
            endpoint
        };
        let mut state = State {
            ends: [end(0), end(1)],
            told: [Told::default(); 2],
            channels: [Channel::default(), Channel::default()],
            budget: self.fault.budget,
            leaves: [self.subject == Subject::Connection; 2],
            sequence: None,
            parting: None,
            breach: None,
        };
        self.act(&mut state, 0, |end| {
            end.connect(0, (ula(1), 0), (PORT, 0), Extras::default());
        });
        state
    }

    fn events(&self, state: &State, found: &mut Vec<(Event, State)>) {
        for end in 0..2 {
            let open = state.told[end].opened > state.told[end].closed;
            if state.leaves[end] && open {
                let mut after = state.clone();
                after.leaves[end] = false;
                let id = after.ends[end].connections().next().map(scheduled_transfer::Connection::id);
                self.act(&mut after, end, |end| {
                    if let Some(id) = id {
                        end.disconnect(0, id);
                    }
                });
                found.push((Event::Disconnect(end), after));
            }
        }
        self.channel_events(state, found);
        if let Some(after) = self.expire(state) {
            found.push((Event::Expire, after));
        }
    }

    fn is_cut(&self, state: &State) -> bool {
        state.breach.is_some()
    }

    fn outcome(&self, state: &State, _: bool) -> (Ending, Self::Final) {
        let empty = state.ends.iter().all(|end| end.connections().next().is_none());
        let closed = state.told.iter().all(|told| told.closed >= told.opened);
        let done = self.is_done(&state.told[0]);
        let refused = state.told[0].lost || state.told[0].finished == Some(false);
        let ending = match state.breach {
            Some(breach) => Ending::Breach(breach),
            None if !empty || !closed => Ending::Stuck,
            None if done && !state.told.iter().any(|told| told.lost) => Ending::Done,
            None if refused || done => Ending::GivenUp,
            None => Ending::Stuck,
        };
        (ending, state.told)
    }
}

/// A row of the table.
pub type Row = Endings<Ending>;

/// The row of one exploration. None if there are more states than `max_states`.
#[must_use]
pub fn transfer_table(model: &Transfer, max_states: usize) -> Option<Row> {
    Graph::explore(model, max_states).as_ref().map(transfer_row)
}

/// The row of a graph.
#[must_use]
pub fn transfer_row(graph: &Graph<'_, Transfer>) -> Row {
    graph.endings(|ending| matches!(ending, Ending::Done | Ending::GivenUp))
}
