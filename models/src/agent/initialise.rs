//! A processor that initialises the registers of session management of other devices, through the fabric
//! (Annex 2 3.2).
//!
//! It visits one node after the other, and makes one access at a time; the requester of its endpoint repeats
//! what gets no answer in time. What it does at a block the protocol crate says ([`Initialiser`]). Who finds
//! the lock with another processor, or a stage that is not its own yet, comes again after a while, and goes
//! on with other nodes until then. At the end of the run all processors are looked at together: whether two
//! of them ever counted one lock as theirs, nobody in the system can know.

use super::data::Data;
use super::machine::Plugged;
use super::protocol::{Conveyance, Cx, Ends, Outcome, Protocol, Received, Send, Token};
use super::tag;
use super::workload::Sender;
use crate::config::ProtocolSettings;
use crate::observe::totals::{FlowTotals, Totals};
use logical::register::discovery::{Discovery, End as ListEnd};
use logical::register::offset as register_offset;
use logical::wire::maintenance::Access;
use session_management::initialise::{End, Initialiser, Work};
use session_management::register::{self, Contact, EF_ID, Participation, offset};
use sim_core::Time;
use std::collections::BTreeMap;

/// Hop count of accesses to endpoints.
const TO_ENDPOINT: u8 = 0xFF;

/// Settings of a processor; without visits it is a device that is visited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessorConfig {
    /// When it begins, after its endpoint may send.
    pub at: Time,
    /// The value with which it takes locks.
    pub lock: u16,
    /// How long it waits before it comes again, picoseconds of the protocol clock.
    pub poll: u64,
    /// How often it comes to a node at most.
    pub attempts: u32,
    /// Priority of its accesses, 0 to 2.
    pub priority: u8,
    /// Where it goes, in this order.
    pub visits: Vec<Visit>,
}

impl ProtocolSettings for ProcessorConfig {}

/// A node that is visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Its device id.
    pub node: u16,
    /// What there is to do; none: the processor only finds out whether the node takes part.
    pub task: Option<Task>,
    /// Another processor, or this one in another flow, locks the node with the same value.
    pub shared: bool,
}

/// What there is to do at a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// A stage of its register blocks, one for each conveyance, in their order.
    pub blocks: Vec<Work>,
    /// Where it takes management messages, if its Component Tag says that.
    pub tag: Option<Contact>,
}

/// What processors counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitialiseStats {
    /// Nodes to be visited, each once for each processor.
    pub visits: u64,
    /// Of these, nodes whose stage was done, by this processor.
    pub done: u64,
    /// Nodes whose stage somebody else had done.
    pub past: u64,
    /// Nodes at which there was nothing to do, and which take part.
    pub found: u64,
    /// Devices that take no part.
    pub strangers: u64,
    /// Nodes given up: after so many attempts, or because the attributes have no room.
    pub given_up: u64,
    /// Registers read.
    pub reads: u64,
    /// Registers written.
    pub writes: u64,
    /// Times that another processor had the lock.
    pub locked: u64,
    /// Times that a processor wrote its value into a free lock, and another was first.
    pub beaten: u64,
    /// Times that it was not yet the turn of the stage.
    pub early: u64,
    /// Times that the stage was not what had been written: somebody had freed the lock.
    pub undone: u64,
    /// Accesses without an answer.
    pub failed: u64,
    /// When the last visit that has ended did so.
    pub last: Option<Time>,
    /// Locks that were taken.
    pub holds: Vec<Hold>,
}

impl InitialiseStats {
    /// Visits that have ended.
    pub fn ended(&self) -> u64 {
        self.done + self.past + self.found + self.strangers + self.given_up
    }

    fn add(&mut self, other: &Self) {
        self.visits += other.visits;
        self.done += other.done;
        self.past += other.past;
        self.found += other.found;
        self.strangers += other.strangers;
        self.given_up += other.given_up;
        self.reads += other.reads;
        self.writes += other.writes;
        self.locked += other.locked;
        self.beaten += other.beaten;
        self.early += other.early;
        self.undone += other.undone;
        self.failed += other.failed;
        self.last = self.last.max(other.last);
        self.holds.extend_from_slice(&other.holds);
    }
}

/// A lock that a processor counted as its own.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Id of the node.
    pub node: u16,
    /// Which of its blocks, from 0: each has a lock of its own.
    pub block: usize,
    /// The value with which it was taken.
    pub by: u16,
    /// Others lock the node with this value, too ([`Visit::shared`]). Each of them may free the lock, so it
    /// does not say who has it.
    pub shared: bool,
    /// The processor had read its own value there.
    pub from: Time,
    /// It began to give it back; none: it never did.
    pub until: Option<Time>,
}

impl Hold {
    /// Whether there was an instant at which both counted the lock of one block as theirs.
    pub fn meets(&self, other: &Hold) -> bool {
        let before = |a: &Hold, b: &Hold| a.until.is_some_and(|until| until <= b.from);
        (self.node, self.block) == (other.node, other.block) && !before(self, other) && !before(other, self)
    }
}

/// What the processors of a flow have come to at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InitialiseTotals {
    /// Flow.
    pub flow: u16,
    /// Processors.
    pub processors: u32,
    /// Pairs of processors and nodes: times that two counted one lock as theirs at the same time.
    pub together: u64,
    /// Whether one of them locks a node with a value with which another does, of this flow or of another.
    pub same_value: bool,
    /// Locks that are still taken by processors that do not come again.
    pub left: u64,
    /// What the processors counted.
    pub stats: InitialiseStats,
}

impl FlowTotals for InitialiseTotals {
    fn flow(&self) -> u16 {
        self.flow
    }
}

/// A node, while it is visited.
#[derive(Debug)]
struct Round {
    visit: usize,
    attempts: u32,
    list: Discovery,
    /// How many of its blocks are done, whether one of them by this processor.
    blocks: usize,
    done: bool,
    /// A block is found, and this is done there.
    machine: Option<Initialiser>,
    /// Registers that were read, by their offsets in the block, or in the device if there is no block.
    words: BTreeMap<u32, u32>,
    /// Its Component Tag was written.
    tagged: bool,
}

impl Round {
    fn new(visit: usize) -> Self {
        let (list, words) = (Discovery::new(), BTreeMap::new());
        Round { visit, attempts: 0, list, blocks: 0, done: false, machine: None, words, tagged: false }
    }

    /// Begins at the node again.
    fn again(&mut self) {
        self.attempts += 1;
        self.words.clear();
        self.tagged = false;
        match &mut self.machine {
            Some(machine) => machine.begin_again(),
            None => self.list = Discovery::new(),
        }
    }

    /// Where its n-th block is, from 0, when their list is known.
    fn block(&self, n: usize) -> Option<u32> {
        let mut blocks = self.list.blocks().iter().filter(|block| block.id == EF_ID);
        blocks.nth(n).map(|block| block.offset.into())
    }
}

/// What a block offers when this is done there.
fn offered(work: &Work) -> Option<Participation> {
    work.contact.map(Participation::Ready)
}

/// How a visit goes on.
enum Next {
    /// A register is read, or written.
    Ask(Access, Option<u32>),
    Over(Fate),
    /// Something is in the way: the processor comes again.
    Again(Reason),
}

enum Fate {
    Done,
    Past,
    Found,
    Stranger,
    Full,
}

enum Reason {
    Locked,
    Beaten,
    Early,
    Undone,
    Failed,
}

/// One end of such a flow: a processor, or a device that is visited.
#[derive(Debug)]
pub(crate) struct Processor {
    config: ProcessorConfig,
    /// When it begins, if it has not.
    begin: Option<Time>,
    /// Nodes that it will visit, by the instant of the protocol clock from which on.
    agenda: BTreeMap<(u64, u64), Round>,
    entries: u64,
    visiting: Option<Round>,
    asked: Option<(Token, Access, bool)>,
    stats: InitialiseStats,
}

impl Plugged for Processor {
    type Settings = ProcessorConfig;

    fn new(settings: &ProcessorConfig, _: Sender) -> Self {
        let stats = InitialiseStats { visits: settings.visits.len() as u64, ..InitialiseStats::default() };
        Processor {
            config: settings.clone(),
            begin: None,
            agenda: BTreeMap::new(),
            entries: 0,
            visiting: None,
            asked: None,
            stats,
        }
    }
}

impl Processor {
    fn plan(&mut self, at: u64, round: Round) {
        self.entries += 1;
        self.agenda.insert((at, self.entries), round);
    }

    /// What comes next at a node.
    fn next(config: &ProcessorConfig, round: &mut Round) -> Next {
        if let Some(access) = round.list.poll_transmit() {
            return Next::Ask(access, None);
        }
        let task = &config.visits[round.visit].task;
        if matches!(round.list.end(), Some(ListEnd::Unreachable { .. })) {
            return Next::Again(Reason::Failed);
        }
        let Some(task) = task else {
            return match round.block(0) {
                Some(block) => Self::look(round, block),
                None => Self::by_tag(round, None, &[]),
            };
        };
        while let Some((work, block)) = task.blocks.get(round.blocks).zip(round.block(round.blocks)) {
            let new = || {
                let machine = Initialiser::new(config.lock, work.clone());
                machine.expect("the compiler allows locks and stages that there are")
            };
            let machine = round.machine.get_or_insert_with(new);
            if let Some(ask) = machine.poll_transmit() {
                return Next::ask(block + ask.offset, ask.write);
            }
            match Self::ended(machine.end()) {
                Next::Over(fate @ (Fate::Done | Fate::Past)) => {
                    round.done |= matches!(fate, Fate::Done);
                    round.blocks += 1;
                    round.machine = None;
                }
                other => return other,
            }
        }
        match (task.tag, round.blocks) {
            (Some(tag), blocks) => {
                let offers: Vec<Participation> = task.blocks[..blocks].iter().filter_map(offered).collect();
                Self::by_tag(round, Some(tag), &offers)
            }
            (None, 0) => Next::Over(Fate::Stranger),
            (None, _) => Next::Over(if round.done { Fate::Done } else { Fate::Past }),
        }
    }

    fn ended(end: Option<End>) -> Next {
        match end.expect("what asks for nothing has ended") {
            End::Done => Next::Over(Fate::Done),
            End::Past(_) => Next::Over(Fate::Past),
            End::NoRoom { .. } => Next::Over(Fate::Full),
            End::Early(_) => Next::Again(Reason::Early),
            End::Locked(_) => Next::Again(Reason::Locked),
            End::Beaten(_) => Next::Again(Reason::Beaten),
            End::Undone => Next::Again(Reason::Undone),
            End::Failed(_) => Next::Again(Reason::Failed),
        }
    }

    /// A node with a block, at which there is nothing to do: whether it takes part.
    fn look(round: &Round, block: u32) -> Next {
        let wanted = [offset::ATTRIBUTE_RANGE, offset::ADVERTISEMENT];
        if let Some(at) = wanted.into_iter().find(|at| !round.words.contains_key(&(block + at))) {
            return Next::ask(block + at, None);
        }
        let [range, advertisement] = wanted.map(|at| round.words[&(block + at)]);
        match register::advertisement(advertisement) {
            Participation::Ready(_) if range >> 8 & 0xF != 0 => Next::Again(Reason::Early),
            Participation::Ready(_) => Next::Over(Fate::Found),
            _ => Next::Over(Fate::Stranger),
        }
    }

    /// What the Component Tag of a device says beside its blocks, and shall say. Its lower half is somebody
    /// else's.
    fn by_tag(round: &mut Round, contact: Option<Contact>, blocks: &[Participation]) -> Next {
        if let Some(at) = tag::next(&round.words) {
            return Next::ask(at, None);
        }
        let found = round.words[&register_offset::COMPONENT_TAG];
        match (tag::says(&round.words, blocks, 0), contact) {
            (Participation::Ready(_), None) => Next::Over(Fate::Found),
            (Participation::Ready(_), Some(_)) if round.tagged || round.done => Next::Over(Fate::Done),
            (Participation::Ready(_), Some(_)) => Next::Over(Fate::Past),
            (_, Some(_)) if round.tagged => Next::Again(Reason::Undone),
            (_, Some(contact)) => {
                let says = |tag: &u32| tag::says_with(&round.words, *tag, blocks, 0) != Participation::None;
                let tag = contact.component_tag(found as u16).filter(says);
                let Some(tag) = tag else { return Next::Over(Fate::Stranger) };
                round.tagged = true;
                // It is read once more.
                round.words.remove(&register_offset::COMPONENT_TAG);
                Next::ask(register_offset::COMPONENT_TAG, Some(tag))
            }
            (_, None) => Next::Over(Fate::Stranger),
        }
    }

    /// Visits as far as nothing is under way.
    fn go_on(&mut self, cx: &mut Cx<'_>) {
        while self.asked.is_none() {
            if self.visiting.is_none() {
                let due = self.agenda.first_entry().filter(|entry| entry.key().0 <= cx.now);
                let Some(due) = due else { return };
                self.visiting = Some(due.remove());
            }
            let Some(mut round) = self.visiting.take() else { return };
            match Self::next(&self.config, &mut round) {
                Next::Ask(access, write) => {
                    self.ask(cx, &round, access, write);
                    self.visiting = Some(round);
                }
                Next::Over(fate) => self.over(cx, &fate),
                Next::Again(reason) => self.again(cx, round, &reason),
            }
        }
    }

    fn ask(&mut self, cx: &mut Cx<'_>, round: &Round, access: Access, write: Option<u32>) {
        let token = cx.send(Send {
            to: self.config.visits[round.visit].node.into(),
            priority: self.config.priority,
            conveyance: Conveyance::Register { hop_count: TO_ENDPOINT, access, write },
            payload: Data::length(if write.is_some() { 4 } else { 0 }),
        });
        self.asked = Some((token, access, write.is_some()));
        *(if write.is_some() { &mut self.stats.writes } else { &mut self.stats.reads }) += 1;
    }

    fn over(&mut self, cx: &Cx<'_>, fate: &Fate) {
        let stats = &mut self.stats;
        *match fate {
            Fate::Done => &mut stats.done,
            Fate::Past => &mut stats.past,
            Fate::Found => &mut stats.found,
            Fate::Stranger => &mut stats.strangers,
            Fate::Full => &mut stats.given_up,
        } += 1;
        stats.last = Some(Time(cx.fabric_now));
    }

    fn again(&mut self, cx: &Cx<'_>, mut round: Round, reason: &Reason) {
        let stats = &mut self.stats;
        *match reason {
            Reason::Locked => &mut stats.locked,
            Reason::Beaten => &mut stats.beaten,
            Reason::Early => &mut stats.early,
            Reason::Undone => &mut stats.undone,
            Reason::Failed => &mut stats.failed,
        } += 1;
        round.again();
        if round.attempts < self.config.attempts {
            return self.plan(cx.now.saturating_add(self.config.poll), round);
        }
        stats.given_up += 1;
        stats.last = Some(Time(cx.fabric_now));
    }

    /// Writes down from when to when it counts the lock of the node as its own.
    fn keep_hold(&mut self, cx: &Cx<'_>) {
        let Some(round) = &self.visiting else { return };
        let Some(machine) = &round.machine else { return };
        let &Visit { node, shared, .. } = &self.config.visits[round.visit];
        let block = round.blocks;
        let is_open = |hold: &&mut Hold| (hold.node, hold.block) == (node, block) && hold.until.is_none();
        let open = self.stats.holds.iter_mut().find(is_open);
        let (now, by) = (Time(cx.fabric_now), self.config.lock);
        match (machine.holds(), open) {
            (true, None) => self.stats.holds.push(Hold { node, block, by, shared, from: now, until: None }),
            // Without an answer nobody knows whether it has still the lock.
            (false, Some(open)) if !matches!(machine.end(), Some(End::Failed(_))) => open.until = Some(now),
            _ => {}
        }
    }
}

impl Next {
    fn ask(offset: u32, write: Option<u32>) -> Self {
        let access = Access::register(offset).expect("registers of blocks lie at multiples of four");
        Next::Ask(access, write)
    }
}

impl Protocol for Processor {
    fn start(&mut self, cx: &mut Cx<'_>) {
        if !self.config.visits.is_empty() {
            self.begin = Some(Time(self.config.at.0.saturating_add(cx.fabric_now)));
        }
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        if self.begin.take_if(|begin| begin.0 <= cx.fabric_now).is_some() {
            for visit in 0..self.config.visits.len() {
                self.plan(cx.now, Round::new(visit));
            }
            self.go_on(cx);
        }
    }

    fn poll_arrival(&self) -> Option<Time> {
        self.begin
    }

    fn received(&mut self, _: &mut Cx<'_>, _: Received) {}

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: Outcome) {
        let Some((_, access, written)) = self.asked.take_if(|asked| asked.0 == token) else { return };
        let Some(round) = &mut self.visiting else { return };
        let word = match outcome {
            Outcome::Answer(answer) => {
                cx.round_trip(&answer, answer.leg.payload);
                let octets = answer.payload.as_bytes().and_then(|bytes| bytes.first_chunk::<8>());
                if written { Some(0) } else { octets.map(|octets| access.pick(*octets)) }
            }
            Outcome::Sent | Outcome::Failed => None,
        };
        match (round.list.end(), &mut round.machine, word) {
            (None, _, Some(word)) => round.list.handle_read(word),
            (None, _, None) => round.list.handle_failure(),
            (Some(_), Some(machine), Some(word)) => machine.handle_done(word),
            (Some(_), Some(machine), None) => machine.handle_failure(),
            (Some(_), None, Some(word)) if !written => {
                round.words.insert(access.offset(), word);
            }
            (Some(_), None, Some(_)) => {}
            (Some(_), None, None) => {
                let round = self.visiting.take().expect("it is visited");
                self.again(cx, round, &Reason::Failed);
            }
        }
        self.keep_hold(cx);
        self.go_on(cx);
    }

    fn timeout(&mut self, cx: &mut Cx<'_>) {
        self.go_on(cx);
    }

    fn poll_timeout(&self) -> Option<u64> {
        let waits = self.visiting.is_none().then(|| self.agenda.first_key_value());
        waits.flatten().map(|((at, _), _)| *at)
    }

    fn audit(&self, ends: &Ends<'_>, totals: &mut Totals) {
        let mut sum = InitialiseTotals { flow: ends.flow, ..InitialiseTotals::default() };
        let nodes = ends.nodes::<Processor>();
        let processors = || nodes.iter().map(|(_, end)| *end).filter(|end| !end.config.visits.is_empty());
        for (number, own) in processors().enumerate() {
            sum.processors += 1;
            sum.same_value |= own.config.visits.iter().any(|visit| visit.shared);
            sum.stats.add(&own.stats);
            // Of each pair once.
            for other in processors().take(number) {
                let meets = |hold: &&Hold| other.stats.holds.iter().any(|theirs| theirs.meets(hold));
                sum.together += own.stats.holds.iter().filter(meets).count() as u64;
            }
            let comes = |node: u16| {
                let rounds = own.agenda.values().chain(&own.visiting);
                rounds.into_iter().any(|round| own.config.visits[round.visit].node == node)
            };
            let left = |hold: &&Hold| hold.until.is_none() && !comes(hold.node);
            sum.left += own.stats.holds.iter().filter(left).count() as u64;
        }
        totals.push(sum);
    }
}
