//! Endpoints without a fabric: the LogGOPS model.
//!
//! Latency L, processor overhead o of a message and O of each further octet, gap g between messages and G
//! of each further octet, and S, above which a message waits for its receiver (Hoefler, Schneider and
//! Lumsdaine: *LogGOPSim*, HPDC 2010; after Culler's LogP and Alexandrov's LogGP). Every message takes its
//! time whatever others do: what a fabric adds to that is contention.
//!
//! # Rules
//!
//! By default those of LogGOPSim (`loggopsim.rs`), so that figures of both can be compared:
//! [`Rules::LogGopSim`]. There a long message crosses without asking its receiver, and an operation can
//! begin before what it waits for is over, on another processor. The others keep both in order:
//!
//! - A send begins when its processor and the sending side of its NIC are free. The processor has it for
//!   o + (s-1) O, the NIC for g + (s-1) G. It is over when the processor is done with it.
//! - Its first octet arrives o + L after it began. It is taken in when the processor and the receiving side
//!   of the NIC are free, which have it for o + (s-1) max(O, G) and g + (s-1) G; then it is there for its
//!   receive. With [`Rules::Pipelined`] only the NIC has it at first, and the processor for o + (s-1) O
//!   when its last octet is in.
//! - A message longer than S is announced by one of a single octet. When its receive has begun and the
//!   announcement is there, the receiver says so; that arrives L later, and then the message is sent.
//!   Such a send is over L after the message was taken in, a shorter one when the processor is done with it.
//! - Processor 0 of a rank takes messages in.
//! - Who waits longest goes first; at the same instant what comes goes before what goes.

pub use super::parameters::{Completion, LogGops, Overflow, Rules};
use super::{Action, Matching, Op, Progress, Rank, Schedule, loggopsim};
use sim_core::{
    ActorId, Class, Context, Duration, Event, EventList, HeapList, Kernel, KeySource, RunEnd, Shake, Time,
    World,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Runs a schedule that [`Schedule::check`] has passed.
///
/// # Errors
/// The first operation that ends too late for 64 bits of picoseconds.
///
/// # Panics
/// If L is zero, or a rank of the schedule does not exist.
pub fn run(schedule: Arc<Schedule>, parameters: LogGops) -> Result<Completion, Overflow> {
    assert!(!parameters.latency.is_zero(), "messages take time");
    if parameters.rules == Rules::LogGopSim {
        return loggopsim::run(&schedule, parameters);
    }
    let hosts: Vec<Host> = (0u32..).zip(&schedule.ranks).map(|(n, rank)| Host::new(n, rank)).collect();
    let mut kernel = Kernel::new(Machine { schedule, parameters, hosts, overflow: None }, HeapList::new());
    for n in 0..kernel.world.hosts.len() {
        let key = kernel.world.hosts[n].keys.make(Time::ZERO, TURNS);
        kernel.schedule(Event { key, target: n as u32, payload: Step::Turn });
    }
    let end = kernel.run_until(Time::MAX);
    debug_assert_eq!(end, RunEnd::Empty);
    if let Some(overflow) = kernel.world.overflow {
        return Err(overflow);
    }
    let hosts = &kernel.world.hosts;
    let Machine { schedule, parameters, .. } = &kernel.world;
    let books = hosts.iter().map(|host| &host.matching);
    let stuck = super::stuck(schedule, parameters.eager_octets, books, |message| message.op);
    Ok(Completion {
        stuck,
        ranks: hosts.iter().map(|host| host.progress.is_done().then_some(host.last)).collect(),
        computed: hosts.iter().map(|host| host.computed).collect(),
        early: None,
    })
}

const ARRIVALS: Class = Class::new(0);
const ENDS: Class = Class::new(1);
const TURNS: Class = Class::new(2);

/// A message or what belongs to one: its send is operation `op` of rank `from`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Message {
    from: u32,
    op: u32,
    kind: Kind,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// The octets.
    Body,
    /// Says that a long one waits.
    Announcement,
}

#[derive(Copy, Clone, Debug)]
enum Step {
    /// The first octet of something is there.
    Arrives(Message),
    /// The NIC has all octets of it.
    Received(Message),
    /// The processor is done with it.
    Taken(Message),
    /// The receiver is ready for the message of this send.
    Cleared { op: u32 },
    /// An operation is over.
    Ended { op: u32 },
    /// A resource is free.
    Turn,
}

/// Where something waits for a resource; at the same instant the first goes first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Queue {
    /// For the processor, whole.
    Whole,
    /// For the NIC (and the processor).
    Incoming,
    Outgoing,
    Calculations(usize),
}

#[derive(Debug)]
struct Host {
    keys: KeySource,
    progress: Progress,
    matching: Matching<Message>,
    /// Receives of long messages: by sender and send.
    cleared: BTreeMap<(u32, u32), u32>,
    /// When each processor is free, and the two sides of the NIC.
    cpus: Vec<Time>,
    nic_out: Time,
    nic_in: Time,
    incoming: VecDeque<(Time, Message)>,
    whole: VecDeque<(Time, Message)>,
    outgoing: VecDeque<(Time, Message)>,
    calculations: Vec<VecDeque<(Time, u32)>>,
    /// When a turn is posted.
    turn_at: Time,
    /// What happens at this instant.
    due: VecDeque<Step>,
    last: Time,
    computed: Duration,
    computing_until: Time,
}

impl Host {
    fn new(n: u32, rank: &Rank) -> Self {
        let cpus = rank.ops().iter().map(|op| usize::from(op.cpu) + 1).max().unwrap_or(1);
        Host {
            keys: KeySource::new(ActorId::new(n), Shake::NONE),
            progress: Progress::new(rank),
            matching: Matching::default(),
            cleared: BTreeMap::new(),
            cpus: vec![Time::ZERO; cpus],
            nic_out: Time::ZERO,
            nic_in: Time::ZERO,
            incoming: VecDeque::new(),
            whole: VecDeque::new(),
            outgoing: VecDeque::new(),
            calculations: vec![VecDeque::new(); cpus],
            turn_at: Time::MAX,
            due: VecDeque::new(),
            last: Time::ZERO,
            computed: Duration(0),
            computing_until: Time::ZERO,
        }
    }

    /// Heads of all queues: since when they wait, and when what they need is free.
    fn heads(&self, rank: &Rank, rules: Rules) -> impl Iterator<Item = (Time, Queue, Time)> {
        let cpu = self.cpus[0];
        let intake = if rules == Rules::Processor { cpu.max(self.nic_in) } else { self.nic_in };
        let incoming = self.incoming.front().map(|(since, _)| (*since, Queue::Incoming, intake));
        let whole = self.whole.front().map(|(since, _)| (*since, Queue::Whole, cpu));
        let outgoing = self.outgoing.front().map(|(since, message)| {
            let cpu = self.cpus[usize::from(rank.ops()[message.op as usize].cpu)];
            (*since, Queue::Outgoing, cpu.max(self.nic_out))
        });
        let calculations = self.calculations.iter().zip(&self.cpus).enumerate();
        let calculations = calculations
            .filter_map(|(n, (queue, free))| Some((queue.front()?.0, Queue::Calculations(n), *free)));
        [whole, incoming, outgoing].into_iter().flatten().chain(calculations)
    }
}

#[derive(Debug)]
struct Machine {
    schedule: Arc<Schedule>,
    parameters: LogGops,
    hosts: Vec<Host>,
    /// What ended too late, if something did: then nothing else happens.
    overflow: Option<Overflow>,
}

impl World for Machine {
    type Payload = Step;

    fn handle<L: EventList<Step>>(&mut self, event: Event<Step>, cx: &mut Context<'_, Step, L>) {
        if self.overflow.is_some() {
            return;
        }
        let schedule = self.schedule.clone();
        let mut turn = Turn {
            rank: event.target,
            program: &schedule.ranks[event.target as usize],
            schedule: &schedule,
            parameters: self.parameters,
            host: &mut self.hosts[event.target as usize],
            overflow: &mut self.overflow,
            cx,
        };
        turn.host.due.push_back(event.payload);
        turn.run();
    }
}

/// One host at one instant.
struct Turn<'a, 'b, L> {
    rank: u32,
    program: &'a Rank,
    schedule: &'a Schedule,
    parameters: LogGops,
    host: &'a mut Host,
    overflow: &'a mut Option<Overflow>,
    cx: &'a mut Context<'b, Step, L>,
}

impl<L: EventList<Step>> Turn<'_, '_, L> {
    /// Everything that can happen now; then asks for the next instant at which something can.
    fn run(&mut self) {
        let now = self.cx.now();
        loop {
            while let Some(step) = self.host.due.pop_front() {
                self.happen(step);
            }
            while let Some(op) = self.host.progress.poll_ready() {
                self.free(op);
            }
            if !self.host.due.is_empty() {
                continue;
            }
            let heads = self.host.heads(self.program, self.parameters.rules);
            let Some((_, queue, _)) = heads.filter(|(_, _, at)| *at <= now).min() else { break };
            self.begin(queue);
            if self.overflow.is_some() {
                return;
            }
        }
        let heads = self.host.heads(self.program, self.parameters.rules);
        if let Some(at) = heads.map(|(_, _, at)| at).min()
            && at < self.host.turn_at
        {
            self.host.turn_at = at;
            let key = self.host.keys.make(at, TURNS);
            self.cx.send(key, self.rank, Step::Turn);
        }
    }

    fn happen(&mut self, step: Step) {
        let now = self.cx.now();
        match step {
            Step::Arrives(message) => self.host.incoming.push_back((now, message)),
            Step::Received(message) => self.host.whole.push_back((now, message)),
            Step::Taken(message @ Message { from, op, kind }) => {
                let (octets, _, tag) = self.send_of(from, op);
                if kind == Kind::Body && octets > self.parameters.eager_octets {
                    let receive = self.host.cleared.remove(&(from, op)).expect("it was cleared");
                    self.over(receive);
                    let delay = self.span((from, op), Duration::ZERO, self.parameters.latency, 1);
                    self.travel(from, delay, ENDS, Step::Ended { op });
                } else if let Some((receive, message)) = self.host.matching.arrive(from, tag, message) {
                    self.matched(receive, message);
                }
            }
            Step::Cleared { op } => {
                self.host.outgoing.push_back((now, Message { from: self.rank, op, kind: Kind::Body }));
            }
            Step::Ended { op } => self.over(op),
            Step::Turn => {
                if self.host.turn_at == now {
                    self.host.turn_at = Time::MAX;
                }
            }
        }
    }

    /// An operation may begin.
    fn free(&mut self, op: u32) {
        let now = self.cx.now();
        let Op { action, cpu } = self.program.ops()[op as usize];
        match action {
            Action::Send { octets, .. } => {
                let long = octets > self.parameters.eager_octets;
                let kind = if long { Kind::Announcement } else { Kind::Body };
                self.host.outgoing.push_back((now, Message { from: self.rank, op, kind }));
            }
            Action::Calculate(_) => self.host.calculations[usize::from(cpu)].push_back((now, op)),
            Action::Receive { from, tag, .. } => {
                self.host.progress.begun(self.program, op);
                if let Some(message) = self.host.matching.post(from, tag, op) {
                    self.matched(op, message);
                }
            }
        }
    }

    /// The head of a queue gets what it waits for.
    fn begin(&mut self, queue: Queue) {
        let LogGops { latency, overhead, gap, gap_per_octet, overhead_per_octet, .. } = self.parameters;
        let now = self.cx.now();
        match queue {
            Queue::Calculations(cpu) => {
                let (_, op) = self.host.calculations[cpu].pop_front().expect("it has a head");
                let Action::Calculate(time) = self.program.ops()[op as usize].action else { unreachable!() };
                self.host.progress.begun(self.program, op);
                let time = self.span((self.rank, op), time, Duration::ZERO, 0);
                let Some(end) = now.checked_add(time) else {
                    *self.overflow = Some(Overflow { rank: self.rank, op });
                    return;
                };
                // What another processor covers counts once.
                if end > self.host.computing_until {
                    self.host.computed += end - now.max(self.host.computing_until);
                    self.host.computing_until = end;
                }
                self.host.cpus[cpu] = end;
                self.later(time, Step::Ended { op });
            }
            Queue::Outgoing => {
                let (_, message) = self.host.outgoing.pop_front().expect("it has a head");
                let (octets, to, _) = self.send_of(self.rank, message.op);
                let long = octets > self.parameters.eager_octets;
                let further = further_octets(message.kind, octets);
                let of = (self.rank, message.op);
                let time = self.span(of, overhead, overhead_per_octet, further);
                self.host.cpus[usize::from(self.program.ops()[message.op as usize].cpu)] = now + time;
                self.host.nic_out = now + self.span(of, gap, gap_per_octet, further);
                if !(long && message.kind == Kind::Body) {
                    self.host.progress.begun(self.program, message.op);
                }
                if !long {
                    self.later(time, Step::Ended { op: message.op });
                }
                let delay = self.span(of, overhead, latency, 1);
                self.travel(to, delay, ARRIVALS, Step::Arrives(message));
            }
            Queue::Incoming => {
                let (_, message) = self.host.incoming.pop_front().expect("it has a head");
                let (octets, ..) = self.send_of(message.from, message.op);
                let further = further_octets(message.kind, octets);
                let of = (message.from, message.op);
                self.host.nic_in = now + self.span(of, gap, gap_per_octet, further);
                if self.parameters.rules == Rules::Pipelined {
                    let time = self.span(of, Duration::ZERO, gap_per_octet, further);
                    self.later(time, Step::Received(message));
                } else {
                    let time = self.span(of, overhead, overhead_per_octet.max(gap_per_octet), further);
                    self.host.cpus[0] = now + time;
                    self.later(time, Step::Taken(message));
                }
            }
            Queue::Whole => {
                let (_, message) = self.host.whole.pop_front().expect("it has a head");
                let (octets, ..) = self.send_of(message.from, message.op);
                let further = further_octets(message.kind, octets);
                let time = self.span((message.from, message.op), overhead, overhead_per_octet, further);
                self.host.cpus[0] = now + time;
                self.later(time, Step::Taken(message));
            }
        }
    }

    /// A receive and its message, or the announcement of it, have found each other.
    fn matched(&mut self, receive: u32, Message { from, op, kind }: Message) {
        match kind {
            Kind::Body => self.over(receive),
            Kind::Announcement => {
                self.host.cleared.insert((from, op), receive);
                let delay = self.span((from, op), Duration::ZERO, self.parameters.latency, 1);
                self.travel(from, delay, ARRIVALS, Step::Cleared { op });
            }
        }
    }

    fn over(&mut self, op: u32) {
        self.host.last = self.cx.now();
        self.host.progress.ended(self.program, op);
    }

    /// How long `once` and `times` `each` last from now on, for the sake of operation `of.1` of rank `of.0`.
    /// What is too long lasts to the end of time, where nothing happens any more.
    fn span(&mut self, of: (u32, u32), once: Duration, each: Duration, times: u64) -> Duration {
        let now = self.cx.now();
        let end = loggopsim::span(now, once, each, times).filter(|end| *end < Time::MAX);
        let end = end.unwrap_or_else(|| {
            self.overflow.get_or_insert(Overflow { rank: of.0, op: of.1 });
            Time::MAX
        });
        end - now
    }

    /// (octets, receiver, tag) of a send.
    fn send_of(&self, rank: u32, op: u32) -> (u64, u32, u32) {
        match self.schedule.ranks[rank as usize].ops()[op as usize].action {
            Action::Send { octets, to, tag } => (octets, to, tag),
            _ => unreachable!("only sends travel"),
        }
    }

    /// Something happens here after `delay`.
    fn later(&mut self, delay: Duration, step: Step) {
        if delay.is_zero() {
            self.host.due.push_back(step);
        } else {
            self.travel(self.rank, delay, ENDS, step);
        }
    }

    fn travel(&mut self, to: u32, delay: Duration, class: Class, step: Step) {
        let key = self.host.keys.make(self.cx.now() + delay, class);
        self.cx.send(key, to, step);
    }
}

/// Octets after the first of what crosses.
fn further_octets(kind: Kind, octets: u64) -> u64 {
    if kind == Kind::Announcement { 0 } else { octets.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::super::collective;
    use super::*;

    const FAST: LogGops = LogGops {
        latency: Duration::from_ns(200),
        overhead: Duration(0),
        gap: Duration(0),
        gap_per_octet: Duration::from_ns(1),
        overhead_per_octet: Duration(0),
        eager_octets: u64::MAX,
        rules: Rules::LogGopSim,
    };

    const SLOW: LogGops = LogGops {
        latency: Duration::from_ns(2_500),
        overhead: Duration::from_ns(1_500),
        gap: Duration::from_ns(1_000),
        gap_per_octet: Duration::from_ns(6),
        eager_octets: 65_535,
        ..FAST
    };

    fn ns(schedule: Schedule, parameters: LogGops) -> u64 {
        schedule.check().expect("it can run");
        run(Arc::new(schedule), parameters).unwrap().end().expect("it ends").as_ps() / 1_000
    }

    /// Figures of LogGOPSim.
    #[test]
    fn allreduce_of_64_ranks() {
        let steps = 2 * (32_768 + 16_384 + 8_192 + 4_096 + 2_048 + 1_024) - 12;
        assert_eq!(ns(collective::allreduce_halving(64, 65_536), FAST), 131_412);
        assert_eq!(131_412, steps + 12 * 200);
        assert_eq!(ns(collective::allreduce_halving(64, 65_536), SLOW), 840_072);
        let pipelined = LogGops { rules: Rules::Pipelined, ..FAST };
        assert_eq!(ns(collective::allreduce_halving(64, 65_536), pipelined), 131_412);
    }

    /// Figures of LogGOPSim; without its rule that the processor takes part in taking messages in, latency
    /// is hidden.
    #[test]
    fn all_to_all_of_32_ranks() {
        assert_eq!(ns(collective::all_to_all(32, 4_096), FAST), 133_145);
        assert_eq!(133_145, 31 * (200 + 4_095));
        assert_eq!(ns(collective::all_to_all(32, 4_096), SLOW), 932_170);
        let pipelined = LogGops { rules: Rules::Pipelined, ..FAST };
        assert_eq!(ns(collective::all_to_all(32, 4_096), pipelined), 127_145);
        assert_eq!(127_145, 200 + 31 * 4_095);
    }

    /// A send of 1 001 octets, and its receive after 5 us of computing.
    fn late_receive() -> Schedule {
        let mut schedule = Schedule::new(2);
        schedule.ranks[0].push(Action::Send { octets: 1_001, to: 1, tag: 0 });
        let busy = schedule.ranks[1].push(Action::Calculate(Duration::from_ns(5_000)));
        let receive = schedule.ranks[1].push(Action::Receive { octets: 1_001, from: 0, tag: 0 });
        schedule.ranks[1].wait(receive, super::super::Event::End, busy);
        schedule
    }

    #[test]
    fn a_long_message_waits_for_its_receiver() {
        let schedule = late_receive();
        let parameters = LogGops { eager_octets: 1_000, rules: Rules::Processor, ..FAST };
        let done = run(Arc::new(schedule.clone()), parameters).unwrap();
        // Ready at 5 000, clearance 200, message 200 + 1 000; the sender knows 200 later.
        let at = |ns| Some(Time::from_ns(ns));
        assert_eq!(done.ranks, [at(6_600), at(6_400)]);
        assert_eq!(done.computed, [Duration(0), Duration::from_ns(5_000)]);
        for rules in [Rules::Processor, Rules::LogGopSim] {
            let eager = run(Arc::new(schedule.clone()), LogGops { rules, ..FAST }).unwrap();
            // The processor computes, so it takes the message in when it is done.
            assert_eq!(eager.ranks, [at(0), at(6_000)]);
        }
        // LogGOPSim lets it cross, and the sender know at once.
        let parameters = LogGops { eager_octets: 1_000, ..FAST };
        let done = run(Arc::new(schedule), parameters).unwrap();
        assert_eq!((done.ranks, done.early), (vec![at(5_000), at(6_000)], None));
    }

    /// LogGOPSim frees what waits when a computation begins, for the time at which the processor *of what
    /// waits* is free.
    #[test]
    fn what_begins_before_another_processor_is_done_is_told() {
        let mut schedule = Schedule::new(1);
        let first = schedule.ranks[0].push(Action::Calculate(Duration::from_ns(10)));
        let second = schedule.ranks[0].push_on(Action::Calculate(Duration::from_ns(5)), 1);
        schedule.ranks[0].wait(second, super::super::Event::End, first);
        let schedule = Arc::new(schedule);
        let done = run(schedule.clone(), FAST).unwrap();
        assert_eq!((done.end(), done.early), (Some(Time::from_ns(10)), Some((0, 1))));
        let done = run(schedule, LogGops { rules: Rules::Processor, ..FAST }).unwrap();
        assert_eq!((done.end(), done.early), (Some(Time::from_ns(15)), None));
    }

    /// 2^64 - 1 octets at 1 ns, and 2 x 10^16 of them, are longer than 2^64 ps; without G nothing is too
    /// long.
    #[test]
    fn times_beyond_the_clock_are_errors_and_never_wrong() {
        for octets in [u64::MAX, 20_000_000_000_000_000] {
            let mut schedule = Schedule::new(2);
            schedule.ranks[0].push(Action::Calculate(Duration::ZERO));
            schedule.ranks[0].push(Action::Send { octets, to: 1, tag: 0 });
            schedule.ranks[1].push(Action::Receive { octets, from: 0, tag: 0 });
            let schedule = Arc::new(schedule);
            for rules in [Rules::LogGopSim, Rules::Processor, Rules::Pipelined] {
                let parameters = LogGops { rules, ..FAST };
                assert_eq!(run(schedule.clone(), parameters), Err(Overflow { rank: 0, op: 1 }), "{rules:?}");
                let free = LogGops { gap_per_octet: Duration(0), ..parameters };
                assert_eq!(run(schedule.clone(), free).unwrap().end(), Some(Time::from_ns(200)), "{rules:?}");
            }
        }
        for rules in [Rules::LogGopSim, Rules::Processor, Rules::Pipelined] {
            let mut schedule = Schedule::new(1);
            schedule.ranks[0].push(Action::Calculate(Duration(u64::MAX - 5)));
            let last = schedule.ranks[0].push(Action::Calculate(Duration(10)));
            let parameters = LogGops { rules, ..FAST };
            let overflow = Overflow { rank: 0, op: last };
            assert_eq!(run(Arc::new(schedule), parameters), Err(overflow), "{rules:?}");
        }
    }

    #[test]
    fn what_waits_for_ever_has_no_end() {
        let mut schedule = Schedule::new(1);
        schedule.ranks[0].push(Action::Receive { octets: 1, from: 0, tag: 0 });
        let done = run(Arc::new(schedule), FAST).unwrap();
        assert_eq!((done.end(), done.ranks, done.stuck), (None, vec![None], vec![(0, 0)]));
    }

    /// Two ranks that send long messages before they receive wait in their sends, those that receive first in
    /// their receives, whatever the rules.
    #[test]
    fn who_waits_for_ever_is_told_where() {
        for (sends_first, eager_octets) in [(true, 7), (false, 7), (false, 8)] {
            let mut schedule = Schedule::new(3);
            for (rank, other) in [(0, 1), (1, 0)] {
                let program = &mut schedule.ranks[rank];
                program.push(Action::Calculate(Duration::from_ns(1)));
                let send = Action::Send { octets: 8, to: other, tag: 0 };
                let receive = Action::Receive { octets: 8, from: other, tag: 0 };
                let [first, second] = if sends_first { [send, receive] } else { [receive, send] };
                let first = program.push(first);
                let second = program.push(second);
                program.wait(first, super::super::Event::End, 0);
                program.wait(second, super::super::Event::End, first);
            }
            for rules in [Rules::LogGopSim, Rules::Processor, Rules::Pipelined] {
                let parameters = LogGops { eager_octets, rules, ..FAST };
                let done = run(Arc::new(schedule.clone()), parameters).unwrap();
                assert_eq!(done.stuck, [(0, 1), (1, 1)], "{rules:?}");
                assert!(done.ranks[2].is_some() && done.end().is_none());
            }
        }
    }

    #[test]
    fn processors_of_a_rank_compute_side_by_side() {
        let mut schedule = Schedule::new(1);
        for cpu in [0, 0, 1] {
            schedule.ranks[0].push_on(Action::Calculate(Duration::from_ns(10)), cpu);
        }
        let done = run(Arc::new(schedule), FAST).unwrap();
        assert_eq!((done.end(), done.computed[0]), (Some(Time::from_ns(20)), Duration::from_ns(20)));
    }
}
