//! A rank of a program on an endpoint: its operations, their dependencies, its processors. Whatever carries
//! its messages: Scheduled Transfer (each is a Write) or a transport of PDUs ([`super::courier`]).
//!
//! A message has a name from which the receiver knows which send of which rank it is, and what comes before
//! it. A send up to the eager limit is over when the transport has it, a longer one when the receiver has
//! confirmed it. A receive is over when the
//! oldest unmatched message of its sender and tag is there whole. A processor computes one thing at a time;
//! messages take none of its time.

use crate::config::ProgramConfig;
use crate::goal::{Action, Matching, Op, Progress, Rank};
use crate::observe::stats::RankStats;
use sim_core::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bits of a name: operation, position among those of its receiver and tag, node.
const OP_BITS: u32 = 24;
const POSITION_BITS: u32 = 24;

/// What the rank wants now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// A message of so many octets with this name.
    Send { op: u32, node: u16, octets: u64, name: u64 },
    /// To be told after this time.
    Compute { op: u32, time: u64 },
}

/// One processor.
#[derive(Clone, Debug, Default)]
struct Processor {
    busy: bool,
    waiting: VecDeque<(u32, u64)>,
}

/// A rank under way.
#[derive(Debug)]
pub(crate) struct Program {
    config: ProgramConfig,
    progress: Progress,
    matching: Matching<()>,
    /// Messages that overtook others, by sender and tag: the position that comes next, and who waits.
    early: BTreeMap<(u32, u32), (u64, BTreeSet<u64>)>,
    /// Messages sent so far, by receiver and tag.
    sent: BTreeMap<(u32, u32), u64>,
    processors: Vec<Processor>,
    wants: VecDeque<Want>,
    /// Time in which it computed, on one processor or several, and until when it does.
    computed: u64,
    computing_until: u64,
    end: Option<Time>,
}

impl Program {
    pub fn new(config: &ProgramConfig) -> Self {
        let rank = &config.schedule.ranks[config.rank as usize];
        let processors = rank.ops().iter().map(|op| usize::from(op.cpu) + 1).max().unwrap_or(1);
        Program {
            progress: Progress::new(rank),
            matching: Matching::default(),
            early: BTreeMap::new(),
            sent: BTreeMap::new(),
            processors: vec![Processor::default(); processors],
            wants: VecDeque::new(),
            computed: 0,
            computing_until: 0,
            end: None,
            config: config.clone(),
        }
    }

    /// What the rank wants next, if anything.
    pub fn poll(&mut self, now: u64) -> Option<Want> {
        let schedule = self.config.schedule.clone();
        let rank = &schedule.ranks[self.config.rank as usize];
        while let Some(op) = self.progress.poll_ready() {
            let Op { action, cpu } = rank.ops()[op as usize];
            match action {
                Action::Send { octets, to, tag } => {
                    self.progress.begun(rank, op);
                    let position = self.sent.entry((to, tag)).or_default();
                    let node = u64::from(self.config.nodes[self.config.rank as usize]);
                    let name = (node << POSITION_BITS | *position) << OP_BITS | u64::from(op);
                    *position += 1;
                    let node = self.config.nodes[to as usize];
                    self.wants.push_back(Want::Send { op, node, octets, name });
                }
                Action::Receive { from, tag, .. } => {
                    self.progress.begun(rank, op);
                    if self.matching.post(from, tag, op).is_some() {
                        self.progress.ended(rank, op);
                    }
                }
                Action::Calculate(Duration(time)) => {
                    self.processors[usize::from(cpu)].waiting.push_back((op, time));
                    self.compute(usize::from(cpu), now);
                }
            }
        }
        if self.progress.is_done() && self.end.is_none() {
            self.end = Some(Time(now));
        }
        self.wants.pop_front()
    }

    /// Takes up what a processor has to compute next.
    fn compute(&mut self, cpu: usize, now: u64) {
        let processor = &mut self.processors[cpu];
        if processor.busy {
            return;
        }
        let Some((op, time)) = processor.waiting.pop_front() else { return };
        processor.busy = true;
        // What another processor covers counts once.
        let end = now.saturating_add(time);
        self.computed += end.saturating_sub(now.max(self.computing_until));
        self.computing_until = self.computing_until.max(end);
        let schedule = self.config.schedule.clone();
        self.progress.begun(&schedule.ranks[self.config.rank as usize], op);
        self.wants.push_back(Want::Compute { op, time });
    }

    /// The time of a computation is over.
    pub fn computed(&mut self, op: u32, now: u64) {
        let cpu = self.config.schedule.ranks[self.config.rank as usize].ops()[op as usize].cpu;
        self.processors[usize::from(cpu)].busy = false;
        self.ended(op);
        self.compute(usize::from(cpu), now);
    }

    /// A send is the transport's, or confirmed. Whether the operation is over with that.
    pub fn is_over(&self, op: u32, confirmed: bool) -> bool {
        match self.config.schedule.ranks[self.config.rank as usize].ops()[op as usize].action {
            Action::Send { octets, .. } => (octets > self.config.eager) == confirmed,
            _ => false,
        }
    }

    /// An operation is over.
    pub fn ended(&mut self, op: u32) {
        let schedule = self.config.schedule.clone();
        self.progress.ended(&schedule.ranks[self.config.rank as usize], op);
    }

    /// A message with this name is there whole.
    pub fn arrived(&mut self, name: u64) {
        let position = name >> OP_BITS & ((1 << POSITION_BITS) - 1);
        let (_, rank, op) = self.sender(name).expect("only ranks send");
        let Action::Send { tag, .. } = rank.ops()[op].action else { unreachable!("only sends have names") };
        let from = self.rank_of((name >> (OP_BITS + POSITION_BITS)) as u16).expect("only ranks send") as u32;
        // Transfers of one connection overtake each other; messages of one tag must not.
        let (next, early) = self.early.entry((from, tag)).or_default();
        early.insert(position);
        let mut there = 0;
        while early.remove(next) {
            *next += 1;
            there += 1;
        }
        for _ in 0..there {
            if let Some((receive, ())) = self.matching.arrive(from, tag, ()) {
                self.ended(receive);
            }
        }
    }

    fn rank_of(&self, node: u16) -> Option<usize> {
        self.config.nodes.iter().position(|&other| other == node)
    }

    /// The node, the rank and the operation that a name is of.
    pub fn sender(&self, name: u64) -> Option<(u16, &Rank, usize)> {
        let node = (name >> (OP_BITS + POSITION_BITS)) as u16;
        let rank = self.config.schedule.ranks.get(self.rank_of(node)?)?;
        Some((node, rank, (name & ((1 << OP_BITS) - 1)) as usize))
    }

    pub fn stats(&self) -> RankStats {
        let computes = self.processors.iter().any(|processor| processor.busy);
        let waits_for = self.matching.first_posted().map(|(sender, _)| sender);
        let computed = Duration(self.computed);
        RankStats { rank: self.config.rank, end: self.end, computed, computes, waits_for }
    }
}
