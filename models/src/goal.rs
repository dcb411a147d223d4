//! Programs as schedules: what each rank sends, receives and computes, and what has to come before what.
//!
//! A [`Schedule`] is the compiled form of a GOAL file (Hoefler, Siebert and Lumsdaine: *Group operation
//! assembly language*, ICPP 2009): operations of ranks with two kinds of dependency. `a requires b`: `a`
//! begins when `b` is over. `a irequires b`: `a` begins when `b` has begun. [`Progress`] is one rank under
//! way, [`Matching`] pairs what arrives with what is received: first in, first out for each (sender, tag).
//!
//! [`loggops`] runs a schedule without a fabric; [`collective`] makes the schedules of common operations.

pub mod collective;
pub mod loggops;
mod loggopsim;
mod parameters;

use sim_core::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// What an operation does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Sends octets. Over when the transport has them, or when the receiver has confirmed them: the model
    /// that runs the schedule says which.
    Send {
        /// Octets, at least 1.
        octets: u64,
        /// Rank of the receiver.
        to: u32,
        /// Tag.
        tag: u32,
    },
    /// Receives. Over when the oldest unmatched message of this sender and tag is there.
    Receive {
        /// Octets that it expects, at least 1.
        octets: u64,
        /// Rank of the sender.
        from: u32,
        /// Tag.
        tag: u32,
    },
    /// Computes.
    Calculate(Duration),
}

/// An operation of a rank.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub action: Action,
    /// Which processor of the rank it occupies.
    pub cpu: u16,
}

/// What one operation waits for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// `requires`: the other one is over.
    End,
    /// `irequires`: the other one has begun.
    Begin,
}

/// The operations of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    ops: Vec<Op>,
    /// Which operations wait for an event of each: `after[op]`.
    after: Vec<Vec<(Event, u32)>>,
    /// For how many events each waits.
    waits: Vec<u32>,
}

/// Why a schedule cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// Operations of a rank that wait for each other, in a circle.
    Circle {
        /// Rank.
        rank: u32,
        /// One operation of the circle.
        op: u32,
    },
    /// A sender or receiver that does not exist.
    NoRank {
        /// Rank.
        rank: u32,
        /// Operation.
        op: u32,
        /// What it names.
        other: u32,
    },
    /// More is sent than received, or the other way round.
    Unmatched {
        /// Sender.
        from: u32,
        /// Receiver.
        to: u32,
        /// Tag.
        tag: u32,
        /// Messages sent.
        sent: u64,
        /// Messages received.
        received: u64,
    },
    /// The n-th message of a sender and tag has another length than its receive.
    Length {
        /// Sender.
        from: u32,
        /// Receiver.
        to: u32,
        /// Tag.
        tag: u32,
        /// Octets sent.
        sent: u64,
        /// Octets that the receive expects.
        received: u64,
    },
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Circle { rank, op } => {
                write!(f, "rank {rank}: operation {op} waits for itself, through others")
            }
            Invalid::NoRank { rank, op, other } => {
                write!(f, "rank {rank}: operation {op} names rank {other}, which does not exist")
            }
            Invalid::Unmatched { from, to, tag, sent, received } => write!(
                f,
                "rank {from} sends {sent} messages with tag {tag} to rank {to}, which receives {received}"
            ),
            Invalid::Length { from, to, tag, sent, received } => write!(
                f,
                "rank {from} sends {sent} octets with tag {tag} to rank {to}, which receives {received}"
            ),
        }
    }
}

impl std::error::Error for Invalid {}

impl Rank {
    /// Adds an operation; its number.
    pub fn push(&mut self, action: Action) -> u32 {
        self.push_on(action, 0)
    }

    /// Adds an operation that occupies processor `cpu`; its number.
    ///
    /// # Panics
    /// With more than 2^32 operations.
    pub fn push_on(&mut self, action: Action, cpu: u16) -> u32 {
        self.ops.push(Op { action, cpu });
        self.after.push(Vec::new());
        self.waits.push(0);
        u32::try_from(self.ops.len() - 1).expect("fewer than 2^32 operations")
    }

    /// `op` waits for `event` of `other`.
    ///
    /// # Panics
    /// If one of them does not exist.
    pub fn wait(&mut self, op: u32, event: Event, other: u32) {
        self.after[other as usize].push((event, op));
        self.waits[op as usize] += 1;
    }

    /// The operations, in the order in which they were added.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Who waits for what: (operation, its event, who waits), by operation.
    pub fn dependencies(&self) -> impl Iterator<Item = (u32, Event, u32)> + '_ {
        let after = (0u32..).zip(&self.after);
        after.flat_map(|(op, after)| after.iter().map(move |(event, next)| (op, *event, *next)))
    }

    /// Which operations wait for `event` of `op`.
    pub fn waiting(&self, op: u32, event: Event) -> impl Iterator<Item = u32> + '_ {
        let after = self.after[op as usize].iter();
        after.filter(move |(of, _)| *of == event).map(|(_, next)| *next)
    }

    /// No more messages than this are under way from this rank to any other one at a time, if those of up to
    /// `eager` octets are over for it as soon as its transport has them.
    ///
    /// Operations that wait for the end of one another are a chain, and of a chain one message is under
    /// way at a time. So no more are than there are chains that hold messages to a rank, whichever chains
    /// they are: here each operation goes on with a chain that the first of those it waits for has left to
    /// it. What is over before it has arrived ends its chain.
    pub fn under_way(&self, eager: u64) -> u64 {
        let mut chains: Vec<Option<u32>> = vec![None; self.ops.len()];
        let mut begun = 0;
        // The chains with messages to each rank.
        let mut to_rank: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        self.in_order(|op| {
            let chain = chains[op as usize].unwrap_or_else(|| {
                begun += 1;
                begun
            });
            let mut left = Some(chain);
            if let Action::Send { octets, to, .. } = self.ops[op as usize].action {
                to_rank.entry(to).or_default().insert(chain);
                left = left.filter(|_| octets > eager);
            }
            for &(event, next) in &self.after[op as usize] {
                let goes_on = &mut chains[next as usize];
                if event == Event::End && goes_on.is_none() {
                    *goes_on = left.take();
                }
            }
        });
        to_rank.values().map(|chains| chains.len() as u64).max().unwrap_or(0)
    }

    /// Visits each operation behind all that it waits for (Kahn). For how many events each waits then: for
    /// none, unless there is a circle.
    fn in_order(&self, mut visit: impl FnMut(u32)) -> Vec<u32> {
        let mut waits = self.waits.clone();
        let mut free: Vec<u32> = (0..self.ops.len() as u32).filter(|op| waits[*op as usize] == 0).collect();
        while let Some(op) = free.pop() {
            visit(op);
            for &(_, next) in &self.after[op as usize] {
                waits[next as usize] -= 1;
                if waits[next as usize] == 0 {
                    free.push(next);
                }
            }
        }
        waits
    }

    /// Its operations, each behind all that it waits for.
    fn order(&self) -> Vec<u32> {
        let mut order = Vec::new();
        self.in_order(|op| order.push(op));
        order
    }

    /// Whether `op` begins only when `before` is over, whatever else takes how long; `left` operations may be
    /// looked at.
    fn waits_for_end(&self, op: u32, before: u32, left: &mut usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut next: Vec<u32> = self.waiting(before, Event::End).collect();
        while let Some(at) = next.pop() {
            if at == op {
                return true;
            }
            if seen.insert(at) {
                let Some(rest) = left.checked_sub(1) else { return false };
                *left = rest;
                next.extend(self.after[at as usize].iter().map(|&(_, after)| after));
            }
        }
        false
    }

    /// An operation in a circle, if there is one.
    fn circle(&self) -> Option<u32> {
        let waits = self.in_order(|_| {});
        let mut at = waits.iter().position(|left| *left > 0)? as u32;
        // What only waits for the circle is not in it: follow the waiting back until something comes twice.
        let mut before = vec![u32::MAX; self.ops.len()];
        for (op, after) in self.after.iter().enumerate() {
            for &(_, next) in after.iter().filter(|_| waits[op] > 0) {
                before[next as usize] = op as u32;
            }
        }
        for _ in 0..self.ops.len() {
            at = before[at as usize];
        }
        Some(at)
    }
}

/// Operations that are looked at to find out in which order others begin.
const LOOKED_AT: usize = 1_000_000;

/// A program: what every rank does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The ranks.
    pub ranks: Vec<Rank>,
}

impl Schedule {
    /// So many ranks without operations.
    pub fn new(ranks: u32) -> Self {
        Schedule { ranks: vec![Rank::default(); ranks as usize] }
    }

    /// Whether it can run to its end, wherever the order of messages does not matter.
    ///
    /// # Errors
    /// The first thing that is wrong, ranks and operations in their order.
    pub fn check(&self) -> Result<(), Invalid> {
        // By sender, receiver and tag: octets sent, octets expected.
        let mut pairs: BTreeMap<(u32, u32, u32), [Vec<u64>; 2]> = BTreeMap::new();
        for (rank, program) in (0u32..).zip(&self.ranks) {
            for (op, Op { action, .. }) in (0u32..).zip(&program.ops) {
                let (other, key, octets, sends) = match *action {
                    Action::Send { octets, to, tag } => (to, (rank, to, tag), octets, true),
                    Action::Receive { octets, from, tag } => (from, (from, rank, tag), octets, false),
                    Action::Calculate(_) => continue,
                };
                if other as usize >= self.ranks.len() {
                    return Err(Invalid::NoRank { rank, op, other });
                }
                pairs.entry(key).or_default()[usize::from(!sends)].push(octets);
            }
            if let Some(op) = program.circle() {
                return Err(Invalid::Circle { rank, op });
            }
        }
        for ((from, to, tag), [sent, received]) in pairs {
            if sent.len() != received.len() {
                let (sent, received) = (sent.len() as u64, received.len() as u64);
                return Err(Invalid::Unmatched { from, to, tag, sent, received });
            }
            if let Some((&sent, &received)) = sent.iter().zip(&received).find(|(a, b)| a != b) {
                return Err(Invalid::Length { from, to, tag, sent, received });
            }
        }
        Ok(())
    }

    /// Receives whose message never comes, the first of each rank, by a run in which nothing takes time,
    /// sends wait for nobody, and ranks go on as far as they can, one after the other. Of a program that
    /// [`check`](Self::check) lets pass, only the order in which receives of one sender and tag begin could
    /// change that: see [`receives_in_order`](Self::receives_in_order).
    pub fn never_received(&self) -> Vec<(u32, u32)> {
        let mut hosts: Vec<_> =
            self.ranks.iter().map(|rank| (Progress::new(rank), Matching::default())).collect();
        let mut go_on: BTreeSet<u32> = (0..self.ranks.len() as u32).collect();
        while let Some(rank) = go_on.pop_first() {
            let program = &self.ranks[rank as usize];
            while let Some(op) = hosts[rank as usize].0.poll_ready() {
                let (progress, matching) = &mut hosts[rank as usize];
                progress.begun(program, op);
                match program.ops[op as usize].action {
                    Action::Receive { from, tag, .. } if matching.post(from, tag, op).is_none() => {}
                    Action::Receive { .. } | Action::Calculate(_) => progress.ended(program, op),
                    Action::Send { to, tag, .. } => {
                        progress.ended(program, op);
                        let (theirs, matching) = &mut hosts[to as usize];
                        if let Some((receive, ())) = matching.arrive(rank, tag, ()) {
                            theirs.ended(&self.ranks[to as usize], receive);
                            go_on.insert(to);
                        }
                    }
                }
            }
        }
        let waits = |(rank, (_, matching)): (u32, &(Progress, Matching<()>))| {
            Some((rank, matching.first_posted()?.1))
        };
        (0..).zip(&hosts).filter_map(waits).collect()
    }

    /// Whether receives of one sender and tag can begin in one order alone, because each waits for the end of
    /// the one before it. `false` also if that takes too long to find out.
    pub fn receives_in_order(&self) -> bool {
        let mut left = LOOKED_AT;
        self.ranks.iter().all(|rank| {
            let mut last: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            rank.order().into_iter().all(|op| match rank.ops[op as usize].action {
                Action::Receive { from, tag, .. } => match last.insert((from, tag), op) {
                    Some(before) => rank.waits_for_end(op, before, &mut left),
                    None => true,
                },
                _ => true,
            })
        })
    }

    /// Octets sent by all ranks.
    pub fn octets(&self) -> u64 {
        let ops = self.ranks.iter().flat_map(|rank| &rank.ops);
        ops.map(|op| if let Action::Send { octets, .. } = op.action { octets } else { 0 }).sum()
    }

    /// Messages sent by all ranks.
    pub fn messages(&self) -> u64 {
        let sends =
            |rank: &Rank| rank.ops.iter().filter(|op| matches!(op.action, Action::Send { .. })).count();
        self.ranks.iter().map(|rank| sends(rank) as u64).sum()
    }
}

/// A rank under way: which operations may begin.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Progress {
    waits: Vec<u32>,
    ready: VecDeque<u32>,
    left: usize,
}

impl Progress {
    /// Before the first operation.
    pub fn new(rank: &Rank) -> Self {
        let ready = (0..rank.ops.len() as u32).filter(|op| rank.waits[*op as usize] == 0).collect();
        Progress { waits: rank.waits.clone(), ready, left: rank.ops.len() }
    }

    /// The next operation that may begin; in the order in which they became free, then of their numbers.
    pub fn poll_ready(&mut self) -> Option<u32> {
        self.ready.pop_front()
    }

    /// An operation has begun.
    pub fn begun(&mut self, rank: &Rank, op: u32) {
        self.tell(rank, op, Event::Begin);
    }

    /// An operation that has begun is over.
    pub fn ended(&mut self, rank: &Rank, op: u32) {
        self.left -= 1;
        self.tell(rank, op, Event::End);
    }

    /// Whether all operations are over.
    pub fn is_done(&self) -> bool {
        self.left == 0
    }

    /// Operations that are not over.
    pub fn left(&self) -> usize {
        self.left
    }

    fn tell(&mut self, rank: &Rank, op: u32, event: Event) {
        for next in rank.waiting(op, event) {
            let waits = &mut self.waits[next as usize];
            *waits -= 1;
            if *waits == 0 {
                self.ready.push_back(next);
            }
        }
    }
}

/// Pairs messages with receives: first in, first out for each (sender, tag).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Matching<M> {
    posted: BTreeMap<(u32, u32), VecDeque<u32>>,
    arrived: BTreeMap<(u32, u32), VecDeque<M>>,
}

impl<M> Default for Matching<M> {
    fn default() -> Self {
        Matching { posted: BTreeMap::new(), arrived: BTreeMap::new() }
    }
}

impl<M> Matching<M> {
    /// A receive begins: the message that it takes, if that is there already.
    pub fn post(&mut self, from: u32, tag: u32, op: u32) -> Option<M> {
        if let Some(message) = take(&mut self.arrived, (from, tag)) {
            return Some(message);
        }
        self.posted.entry((from, tag)).or_default().push_back(op);
        None
    }

    /// Receives that have begun and whose message is not there: sender and tag, and which operation it is.
    fn posted(&self) -> impl Iterator<Item = ((u32, u32), u32)> + '_ {
        self.posted.iter().flat_map(|(key, ops)| ops.iter().map(|op| (*key, *op)))
    }

    /// The first of these operations.
    pub fn first_posted(&self) -> Option<((u32, u32), u32)> {
        self.posted().min_by_key(|(_, op)| *op)
    }

    /// Messages that are there and that no receive has taken: sender and tag, and what was kept.
    fn kept(&self) -> impl Iterator<Item = ((u32, u32), &M)> {
        self.arrived.iter().flat_map(|(key, messages)| messages.iter().map(|message| (*key, message)))
    }

    /// A message is there: the receive that takes it, if that has begun already; else the message is kept.
    pub fn arrive(&mut self, from: u32, tag: u32, message: M) -> Option<(u32, M)> {
        if let Some(op) = take(&mut self.posted, (from, tag)) {
            return Some((op, message));
        }
        self.arrived.entry((from, tag)).or_default().push_back(message);
        None
    }
}

/// Where ranks wait when nothing happens any more: the first operation of each that has begun and is not
/// over. Sends of more than `eager` octets wait for a receive; `send` says which operation a kept message is
/// of.
fn stuck<'a, M: 'a>(
    schedule: &Schedule,
    eager: u64,
    hosts: impl Iterator<Item = &'a Matching<M>>,
    send: impl Fn(&M) -> u32,
) -> Vec<(u32, u32)> {
    let mut all = BTreeSet::new();
    for (rank, matching) in (0..).zip(hosts) {
        all.extend(matching.posted().map(|(_, op)| (rank, op)));
        all.extend(matching.kept().filter_map(|((from, _), message)| {
            let op = send(message);
            match schedule.ranks[from as usize].ops[op as usize].action {
                Action::Send { octets, .. } if octets > eager => Some((from, op)),
                _ => None,
            }
        }));
    }
    let mut first: Vec<(u32, u32)> = all.into_iter().collect();
    first.dedup_by_key(|(rank, _)| *rank);
    first
}

fn take<T>(queues: &mut BTreeMap<(u32, u32), VecDeque<T>>, key: (u32, u32)) -> Option<T> {
    let queue = queues.get_mut(&key)?;
    let first = queue.pop_front();
    if queue.is_empty() {
        queues.remove(&key);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calculate() -> Action {
        Action::Calculate(Duration::from_ns(1))
    }

    /// By hand. Two ranks that receive before they send wait for each other, and a third for one of them.
    /// With one of the sends first all ends, whatever comes in between.
    #[test]
    fn receives_that_wait_for_each_other_are_never_over() {
        let program = |first_sends: bool| {
            let mut schedule = Schedule::new(3);
            let send = |to, tag| Action::Send { octets: 8, to, tag };
            let receive = |from, tag| Action::Receive { octets: 8, from, tag };
            for (rank, other) in [(0, 1), (1, 0)] {
                let program = &mut schedule.ranks[rank];
                let takes = program.push(receive(other, 0));
                let gives = program.push(send(other, 0));
                if rank == 1 || !first_sends {
                    program.wait(gives, Event::End, takes);
                }
            }
            let last = schedule.ranks[1].push(send(2, 3));
            schedule.ranks[1].wait(last, Event::Begin, 1);
            schedule.ranks[2].push(calculate());
            let takes = schedule.ranks[2].push(receive(1, 3));
            schedule.ranks[2].wait(takes, Event::End, 0);
            schedule.check().expect("as much is received as sent");
            schedule
        };
        assert_eq!(program(false).never_received(), [(0, 0), (1, 0), (2, 1)]);
        assert_eq!(program(true).never_received(), []);
        assert!(program(false).receives_in_order());
        // Two of one sender and tag: side by side; the second behind the first, directly or not; behind its
        // beginning alone.
        for (event, between, in_order) in [
            (None, false, false),
            (Some(Event::End), false, true),
            (Some(Event::End), true, true),
            (Some(Event::Begin), false, false),
        ] {
            let mut schedule = Schedule::new(2);
            let rank = &mut schedule.ranks[0];
            let [first, second] = [0, 1].map(|_| rank.push(Action::Receive { octets: 8, from: 1, tag: 0 }));
            let last = if between { rank.push(calculate()) } else { second };
            event.into_iter().for_each(|event| rank.wait(last, event, first));
            if between {
                rank.wait(second, Event::Begin, last);
            }
            assert_eq!(schedule.receives_in_order(), in_order, "{event:?} {between}");
        }
        for ranks in [2, 8] {
            assert_eq!(collective::allreduce_halving(ranks, 4_096).never_received(), []);
            assert_eq!(collective::all_to_all(ranks, 64).never_received(), []);
        }
    }

    /// By hand: what does not wait goes together; of what waits for the end of one another one is under way;
    /// what is over at once, or waits for a beginning alone, holds nobody up.
    #[test]
    fn no_more_messages_are_under_way_than_chains() {
        let send = |to| Action::Send { octets: 100, to, tag: 0 };
        let free = |count: u32| {
            let mut rank = Rank::default();
            (0..count).for_each(|_| _ = rank.push(send(1)));
            rank
        };
        assert_eq!((free(0).under_way(0), free(8).under_way(0), free(8).under_way(100)), (0, 8, 8));
        let line = |event| {
            let mut rank = free(8);
            (1..8).for_each(|op| rank.wait(op, event, op - 1));
            rank
        };
        assert_eq!((line(Event::End).under_way(0), line(Event::End).under_way(100)), (1, 8));
        assert_eq!(line(Event::Begin).under_way(0), 8);
        // Two go on behind a calculation, and one behind both of them; of three peers each has one.
        let mut fork = Rank::default();
        let first = fork.push(send(1));
        let middle = fork.push(calculate());
        let two = [(); 2].map(|()| fork.push(send(1)));
        let last = fork.push(send(1));
        fork.wait(middle, Event::End, first);
        two.iter().for_each(|op| fork.wait(*op, Event::End, middle));
        two.iter().for_each(|op| fork.wait(last, Event::End, *op));
        assert_eq!(fork.under_way(0), 2);
        let mut star = Rank::default();
        (1..4).for_each(|to| _ = star.push(send(to)));
        assert_eq!(star.under_way(0), 1);
    }

    #[test]
    fn operations_begin_when_what_they_wait_for_is_over_or_has_begun() {
        let mut rank = Rank::default();
        let [a, b, c] = [(); 3].map(|()| rank.push(calculate()));
        rank.wait(b, Event::End, a);
        rank.wait(c, Event::Begin, a);
        rank.wait(c, Event::Begin, b);
        let mut progress = Progress::new(&rank);
        assert_eq!((progress.poll_ready(), progress.poll_ready()), (Some(a), None));
        progress.begun(&rank, a);
        assert_eq!(progress.poll_ready(), None);
        progress.ended(&rank, a);
        assert_eq!((progress.poll_ready(), progress.poll_ready()), (Some(b), None));
        progress.begun(&rank, b);
        assert_eq!(progress.poll_ready(), Some(c));
        progress.begun(&rank, c);
        progress.ended(&rank, c);
        assert!(!progress.is_done());
        progress.ended(&rank, b);
        assert!(progress.is_done());
    }

    #[test]
    fn messages_are_matched_in_order_by_sender_and_tag() {
        let mut matching = Matching::default();
        assert_eq!(matching.arrive(1, 7, 'a'), None);
        assert_eq!(matching.arrive(1, 7, 'b'), None);
        assert_eq!(matching.post(2, 7, 0), None);
        assert_eq!(matching.post(1, 8, 1), None);
        assert_eq!(matching.post(1, 7, 2), Some('a'));
        assert_eq!(matching.arrive(2, 7, 'c'), Some((0, 'c')));
        assert_eq!(matching.post(1, 7, 3), Some('b'));
        assert_eq!(matching.post(1, 7, 4), None);
    }

    #[test]
    fn what_cannot_run_is_found() {
        let mut circle = Schedule::new(1);
        let rank = &mut circle.ranks[0];
        let ops = [(); 4].map(|()| rank.push(calculate()));
        rank.wait(ops[1], Event::End, ops[0]);
        rank.wait(ops[1], Event::Begin, ops[2]);
        rank.wait(ops[2], Event::End, ops[1]);
        rank.wait(ops[3], Event::End, ops[2]);
        let Err(Invalid::Circle { rank: 0, op }) = circle.check() else { panic!() };
        assert!(op == ops[1] || op == ops[2], "{op} only waits for the circle");

        let send = |octets, to| Action::Send { octets, to, tag: 3 };
        let mut alone = Schedule::new(2);
        alone.ranks[1].push(send(8, 2));
        assert_eq!(alone.check(), Err(Invalid::NoRank { rank: 1, op: 0, other: 2 }));

        let mut lost = Schedule::new(2);
        lost.ranks[1].push(send(8, 0));
        let unmatched = Invalid::Unmatched { from: 1, to: 0, tag: 3, sent: 1, received: 0 };
        assert_eq!(lost.check(), Err(unmatched));
        lost.ranks[0].push(Action::Receive { octets: 9, from: 1, tag: 3 });
        assert_eq!(lost.check(), Err(Invalid::Length { from: 1, to: 0, tag: 3, sent: 8, received: 9 }));
    }
}
