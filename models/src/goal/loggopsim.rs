//! The rules of LogGOPSim, to its last nanosecond.
//!
//! Found by reading its public source (github.com/spcl/LogGOPSim) and by comparing times with the program
//! built from it, over thousands of random schedules. In our words:
//!
//! - *One queue.* All operations that may begin, and all messages under way, stand in one queue, by time
//!   and then by the order in which they were made. What cannot have its resources when its turn comes goes
//!   back to the time at which they are free, and keeps its place in the order.
//! - *Clocks.* A rank has a clock for each processor, and one for each direction of its NIC: when it is free.
//! - *Calculation.* Needs its processor. What waits for it is freed when it begins, for the time at which the
//!   processor will be free.
//! - *Send.* Needs its processor and the sending side of the NIC. The processor has it for o + (s-1) O,
//!   the NIC for g + (s-1) G. Its first octet arrives o + L after it began. A message of at most S octets
//!   is over for its sender with that.
//! - *Receive.* Needs nothing and takes no time: it takes the oldest message of its sender and tag that
//!   has been taken in, or waits for the next.
//! - *Message.* Needs the processor and the receiving side of the NIC, the processor of the number that
//!   its send has. The processor has it for o + (s-1) max(O, G), the NIC for g + (s-1) G. It is matched
//!   with its receive when this begins; what waits for the receive is freed for the time at which the
//!   processor will be free.
//! - *Rendezvous.* A message longer than S crosses like any other. Its send is over when it is matched,
//!   without a latency; the sender's clocks (of the number that the later of message and receive has) do
//!   not stand before that instant then.
//! - *Order.* What becomes free at once joins the queue rank by rank; of one rank sends, then receives,
//!   then calculations; of one kind as the schedule names them, up to 16. More than 16 that become free at
//!   once stand as the sort of GNU's C++ library leaves them.
//! - *The end* of a rank is when the last of its processors is free.
//!
//! What that means: a message longer than S asks for no clearance and does not wait for its receiver, only
//! its sender does. And an operation that waits for one of another processor begins when its own processor
//! is free, be the other one over or not: [`Completion::early`] says where.

use super::parameters::{Completion, LogGops, Overflow};
use super::{Action, Matching, Progress, Schedule};
use sim_core::{Duration, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Where something stands in the queue: time, then the order in which it was made.
type Place = (Time, u64);

/// What stands in the queue.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    /// Operation `op` of rank `rank`.
    Op { rank: u32, op: u32 },
    /// The message of that send.
    Message { rank: u32, op: u32 },
}

/// A rank.
#[derive(Debug)]
struct Host {
    progress: Progress,
    matching: Matching<u32>,
    /// When each processor is free, from its first use on.
    processors: BTreeMap<u16, Time>,
    nic_out: Time,
    nic_in: Time,
    computed: Duration,
    computing_until: Time,
    /// When the last operation that each one waits for is over.
    after: Vec<Time>,
}

impl Host {
    fn free(&self, processor: u16) -> Time {
        self.processors.get(&processor).copied().unwrap_or(Time::ZERO)
    }

    /// The processor is free then; not before.
    fn occupy(&mut self, processor: u16, until: Time) {
        let free = self.processors.entry(processor).or_insert(Time::ZERO);
        *free = until.max(*free);
    }
}

struct Simulator<'a> {
    schedule: &'a Schedule,
    parameters: LogGops,
    hosts: Vec<Host>,
    queue: BinaryHeap<Reverse<(Place, Entry)>>,
    made: u64,
    early: Option<(u32, u32)>,
}

/// Runs a schedule by these rules.
pub(super) fn run(schedule: &Schedule, parameters: LogGops) -> Result<Completion, Overflow> {
    let host = |rank: &super::Rank| Host {
        progress: Progress::new(rank),
        matching: Matching::default(),
        processors: BTreeMap::new(),
        nic_out: Time::ZERO,
        nic_in: Time::ZERO,
        computed: Duration::ZERO,
        computing_until: Time::ZERO,
        after: vec![Time::ZERO; rank.ops().len()],
    };
    let hosts = schedule.ranks.iter().map(host).collect();
    let mut simulator =
        Simulator { schedule, parameters, hosts, queue: BinaryHeap::new(), made: 0, early: None };
    for rank in 0..schedule.ranks.len() {
        simulator.release(rank as u32);
    }
    while let Some(Reverse((place, entry))) = simulator.queue.pop() {
        match entry {
            Entry::Op { rank, op } => simulator.operation(place, rank, op)?,
            Entry::Message { rank, op } => simulator.message(place, rank, op)?,
        }
    }
    let end = |host: &Host| {
        let last = host.processors.values().max().copied();
        host.progress.is_done().then_some(last.unwrap_or(Time::ZERO))
    };
    let books = simulator.hosts.iter().map(|host| &host.matching);
    let stuck = super::stuck(schedule, parameters.eager_octets, books, |send| *send);
    Ok(Completion {
        stuck,
        ranks: simulator.hosts.iter().map(end).collect(),
        computed: simulator.hosts.iter().map(|host| host.computed).collect(),
        early: simulator.early,
    })
}

impl Simulator<'_> {
    fn push(&mut self, time: Time, entry: Entry) {
        self.queue.push(Reverse(((time, self.made), entry)));
        self.made += 1;
    }

    /// An operation's turn.
    fn operation(&mut self, (now, order): Place, rank: u32, op: u32) -> Result<(), Overflow> {
        let program = &self.schedule.ranks[rank as usize];
        let host = &mut self.hosts[rank as usize];
        let super::Op { action, cpu } = program.ops()[op as usize];
        let free = match action {
            Action::Calculate(_) => host.free(cpu),
            Action::Send { .. } => host.free(cpu).max(host.nic_out),
            Action::Receive { .. } => now,
        };
        if free > now {
            self.queue.push(Reverse(((free, order), Entry::Op { rank, op })));
            return Ok(());
        }
        if host.after[op as usize] > now && self.early.is_none() {
            self.early = Some((rank, op));
        }
        host.progress.begun(program, op);
        let overflow = Overflow { rank, op };
        let LogGops { latency, overhead, gap, gap_per_octet, overhead_per_octet, .. } = self.parameters;
        match action {
            Action::Calculate(time) => {
                let end = now.checked_add(time).ok_or(overflow)?;
                // What another processor covers counts once.
                if end > host.computing_until {
                    host.computed += end - now.max(host.computing_until);
                    host.computing_until = end;
                }
                host.occupy(cpu, end);
                self.over(rank, op, end);
            }
            Action::Send { octets, .. } => {
                let further = octets.saturating_sub(1);
                let busy = span(now, overhead, overhead_per_octet, further).ok_or(overflow)?;
                host.occupy(cpu, busy);
                host.nic_out = span(now, gap, gap_per_octet, further).ok_or(overflow)?;
                let arrives = span(now, overhead, latency, 1).ok_or(overflow)?;
                self.push(arrives, Entry::Message { rank, op });
                if octets <= self.parameters.eager_octets {
                    self.over(rank, op, busy);
                }
            }
            Action::Receive { from, tag, .. } => {
                if let Some(send) = host.matching.post(from, tag, op) {
                    self.matched(now, now, (from, send), (rank, op), cpu);
                    return Ok(());
                }
            }
        }
        self.release(rank);
        Ok(())
    }

    /// A message's turn: the one that operation `op` of `from` sends.
    fn message(&mut self, (now, order): Place, from: u32, op: u32) -> Result<(), Overflow> {
        let super::Op { action, cpu } = self.schedule.ranks[from as usize].ops()[op as usize];
        let Action::Send { octets, to, tag } = action else { unreachable!("only sends travel") };
        let host = &mut self.hosts[to as usize];
        let free = host.free(cpu).max(host.nic_in);
        if free > now {
            self.queue.push(Reverse(((free, order), Entry::Message { rank: from, op })));
            return Ok(());
        }
        let overflow = Overflow { rank: from, op };
        let LogGops { overhead, gap, gap_per_octet, overhead_per_octet, .. } = self.parameters;
        let further = octets.saturating_sub(1);
        let per_octet = overhead_per_octet.max(gap_per_octet);
        let taken = span(now, overhead, per_octet, further).ok_or(overflow)?;
        host.occupy(cpu, taken);
        host.nic_in = span(now, gap, gap_per_octet, further).ok_or(overflow)?;
        if let Some((receive, send)) = host.matching.arrive(from, tag, op) {
            self.matched(now, taken, (from, send), (to, receive), cpu);
        }
        Ok(())
    }

    /// A message and its receive have found each other: the receive is over at `end`. `cpu` is the
    /// processor of that of the two which came last.
    fn matched(
        &mut self,
        now: Time,
        end: Time,
        (from, send): (u32, u32),
        (to, receive): (u32, u32),
        cpu: u16,
    ) {
        let super::Op { action, .. } = self.schedule.ranks[from as usize].ops()[send as usize];
        let Action::Send { octets, .. } = action else { unreachable!("only sends travel") };
        let long = octets > self.parameters.eager_octets;
        if long {
            let sender = &mut self.hosts[from as usize];
            sender.occupy(cpu, now);
            sender.nic_out = sender.nic_out.max(now);
            self.over(from, send, now);
        }
        self.over(to, receive, end);
        // Two ranks join the queue in their order.
        let both = [from.min(to), from.max(to)];
        for rank in both.into_iter().filter(|rank| long || *rank == to) {
            self.release(rank);
        }
    }

    /// An operation is over at `end`, as far as those are concerned that wait for it.
    fn over(&mut self, rank: u32, op: u32, end: Time) {
        let program = &self.schedule.ranks[rank as usize];
        let host = &mut self.hosts[rank as usize];
        for next in program.waiting(op, super::Event::End) {
            host.after[next as usize] = host.after[next as usize].max(end);
        }
        host.progress.ended(program, op);
    }

    /// What has become free joins the queue.
    fn release(&mut self, rank: u32) {
        let program = &self.schedule.ranks[rank as usize];
        let host = &mut self.hosts[rank as usize];
        let mut free: Vec<u32> = std::iter::from_fn(|| host.progress.poll_ready()).collect();
        sort_as_gnu(&mut free, |op| match program.ops()[op as usize].action {
            Action::Send { .. } => 0,
            Action::Receive { .. } => 1,
            Action::Calculate(_) => 2,
        });
        for op in free {
            let host = &self.hosts[rank as usize];
            let super::Op { action, cpu } = program.ops()[op as usize];
            let time = match action {
                Action::Send { .. } => host.free(cpu).max(host.nic_out),
                _ => host.free(cpu),
            };
            self.push(time, Entry::Op { rank, op });
        }
    }
}

/// `begin` + `once` + `times` `each`, if that is a time.
pub(super) fn span(begin: Time, once: Duration, each: Duration, times: u64) -> Option<Time> {
    let times = each.0.checked_mul(times)?;
    begin.checked_add(once)?.checked_add(Duration(times))
}

/// Sorts by `kind` and leaves what is of one kind in the order in which the C++ library of GNU leaves it,
/// with which LogGOPSim is usually built. Up to 16 are left in their order. More are first divided, by an
/// introspective sort (Musser 1997): around the median of the second, the middle and the last, from both
/// ends inwards, where elements of the median's own kind change sides, too; until no part has more than 16.
fn sort_as_gnu(list: &mut [u32], kind: impl Fn(u32) -> u8) {
    divide(list, &kind);
    list.sort_by_key(|op| kind(*op));
}

fn divide(mut list: &mut [u32], kind: &impl Fn(u32) -> u8) {
    // The library gives up after 2 log2 n divisions and sorts by a heap. Three kinds do not come to that: a
    // division in very unequal parts needs samples of a kind that hardly occurs elsewhere.
    while list.len() > 16 {
        let (middle, last) = (list.len() / 2, list.len() - 1);
        let [a, b, c] = [1, middle, last].map(|at| kind(list[at]));
        let median = if a < b {
            if b < c {
                middle
            } else if a < c {
                last
            } else {
                1
            }
        } else if a < c {
            1
        } else if b < c {
            last
        } else {
            middle
        };
        list.swap(0, median);
        let pivot = kind(list[0]);
        let (mut low, mut high) = (1, list.len());
        let cut = loop {
            while kind(list[low]) < pivot {
                low += 1;
            }
            high -= 1;
            while pivot < kind(list[high]) {
                high -= 1;
            }
            if low >= high {
                break low;
            }
            list.swap(low, high);
            low += 1;
        };
        let (left, right) = list.split_at_mut(cut);
        divide(right, kind);
        list = left;
    }
}
