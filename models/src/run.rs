//! One run of a fabric: what `bin` drives and what it gets back.

use crate::config::FabricConfig;
use crate::cut::Cut;
use crate::event::{KIND_NAMES, Payload, SAMPLE_KIND, WATCH_KIND, class};
use crate::observe::pointer::Pointer;
use crate::observe::probe::{Probe, Share};
use crate::ports::{PortSet, Ports};
use crate::world::{Fabric, Foresight};
use sim_core::{BucketRing, ChosenList, EventKey, HeapList, Kernel, ListCounts, RingConfig, RunEnd, Time};
use std::marker::PhantomData;
use std::sync::Arc;

pub use crate::cut::{Cost, Ledger, Partition, Row, Spent, Threads, Whole};
pub use crate::world::PipelineMode;
pub use crate::world::footprint::footprint;
pub use crate::world::outcome::{LeftStopped, Outcome, Progress, StallReport};

/// Which event list the kernel uses; results are equal with both.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// Binary heap: the reference.
    Heap,
    /// Bucket ring: the fast one.
    #[default]
    Ring,
}

/// How to run; none of these changes a result.
#[derive(Copy, Clone, Debug, Default)]
pub struct RunOptions {
    /// Event list.
    pub list: ListKind,
    /// Pipeline.
    pub pipeline: PipelineMode,
    /// Every packet and symbol that crosses a link is written as bytes, read back and compared; the run
    /// panics at the first difference.
    pub wire_check: bool,
    /// What passes through the event list is counted: see [`Simulation::profile`].
    pub profile: bool,
}

/// What a run has handled, and how its event list went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Kinds of events that there were, and how many of each; together all events of the run.
    pub events: Vec<(&'static str, u64)>,
    /// The event list, of all parts together if the run was cut.
    pub list: ListCounts,
}

impl Profile {
    /// `own`: samples and looks of the watchdog that were no events of a list.
    fn new(list: ListCounts, own: [u64; 2]) -> Self {
        let mut taken = list.taken.clone();
        taken[SAMPLE_KIND] += own[0];
        taken[WATCH_KIND] += own[1];
        let events = KIND_NAMES.into_iter().zip(taken).filter(|(_, count)| *count > 0).collect();
        Profile { events, list }
    }
}

/// One fabric for all observers, and one kernel for both lists: what it handles is compiled once for `S`,
/// sets of the ports of its switches.
type FabricKernel<'a, S> = Kernel<Fabric<Pointer<'a, S>>, ChosenList<Payload>>;

/// A run in progress, whoever watches it.
enum Engine<'a> {
    /// No switch has more than 64 ports.
    Ordinary(Compiled<'a, u64>),
    /// Some switch has.
    Large(Compiled<'a, PortSet>),
}

/// Does the same with either engine.
macro_rules! either {
    ($engine:expr, $sized:ident => $what:expr) => {
        match $engine {
            Engine::Ordinary($sized) => $what,
            Engine::Large($sized) => $what,
        }
    };
}

/// Nothing here has a type parameter, so all that is compiled for the sizes of sets is compiled in this
/// crate, once. Who makes a run has the type of its observer as a parameter: reached from there, the fabric
/// would be compiled a second time in the crate of the caller, and calls would cross from the one copy to the
/// other (what is never inlined is shared between crates). Both copies ran in a hop, which did not fit a
/// first-level instruction cache any more.
impl<'a> Engine<'a> {
    fn new(config: Arc<FabricConfig>, options: RunOptions, probe: Pointer<'a>) -> Self {
        if config.has_large_switch() {
            Engine::Large(Compiled::new(config, options, probe.over()))
        } else {
            Engine::Ordinary(Compiled::new(config, options, probe))
        }
    }

    fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        either!(self, run => run.run(limit, max_events))
    }

    fn now(&self) -> Time {
        either!(self, run => run.kernel.now())
    }

    fn events(&self) -> u64 {
        either!(self, run => run.kernel.events_handled())
    }

    fn packet_hops(&self) -> u64 {
        either!(self, run => run.kernel.world.links.observe.ledger.packet_hops)
    }

    fn look(&self) -> Outcome {
        either!(self, run => run.kernel.world.totals(self.now(), self.now(), self.events()))
    }

    fn counts(&self) -> Option<&ListCounts> {
        either!(self, run => run.kernel.list().counts())
    }

    fn finish(self) -> (Pointer<'a>, Outcome) {
        either!(self, run => {
            let (probe, outcome) = run.finish();
            (probe.over(), outcome)
        })
    }
}

/// A run in progress, over a fabric for sets of ports of one size.
struct Compiled<'a, S: Ports> {
    kernel: FabricKernel<'a, S>,
    /// How the last slice ended, and its limit.
    last: (Progress, Time),
}

impl<'a, S: Ports> Compiled<'a, S> {
    fn new(config: Arc<FabricConfig>, options: RunOptions, probe: Pointer<'a, S>) -> Self {
        let list = list(&config, options);
        let written = options.wire_check || probe.follows_wire();
        let mut fabric = Fabric::new(config, options.pipeline, probe);
        if written {
            fabric.links.check_wire();
        }
        Compiled { kernel: start(fabric, list), last: (Progress::Running, Time::ZERO) }
    }

    fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        let kernel = &mut self.kernel;
        let end = kernel.run_events(limit, max_events);
        let stalls = kernel.world.watchdog.stalls.len();
        let left = kernel.pending() > kernel.world.links.observe.pending || kernel.world.is_watched();
        let progress = match end {
            // Who observes beyond the limit does not keep a run going, unless it is the watchdog and
            // something stands still.
            RunEnd::Limit if left => Progress::Limit,
            // What is on its way to a sink arrives without an event.
            RunEnd::Limit | RunEnd::Empty if self.last_arrival() > limit => Progress::Limit,
            RunEnd::Limit | RunEnd::Empty => Progress::Drained,
            RunEnd::Stopped => {
                assert!(stalls > 0, "only a stall stops a run");
                Progress::Stalled
            }
            RunEnd::Paused => Progress::Running,
        };
        self.last = (progress, limit);
        progress
    }

    fn last_arrival(&self) -> Time {
        self.kernel.world.links.last_arrival()
    }

    fn finish(mut self) -> (Pointer<'a, S>, Outcome) {
        if self.last.0 == Progress::Running {
            // Somebody had enough between two events of an instant: what is due by now are both.
            let now = self.kernel.now();
            if self.run(now, u64::MAX) != Progress::Stalled {
                self.last = (Progress::Running, now);
            }
        }
        let (now, events) = (self.kernel.now(), self.kernel.events_handled());
        let until = match self.last {
            (Progress::Limit | Progress::Drained, limit) => limit,
            (Progress::Running | Progress::Stalled, _) => now,
        };
        let drained = self.last.0 == Progress::Drained;
        let ran_out = matches!(self.last.0, Progress::Limit | Progress::Running);
        let (fabric, end) = conclude(self.kernel, until, drained, ran_out);
        fabric.links.check_conservation();
        let mut outcome = fabric.totals(until, end, events);
        outcome.over = drained && outcome.in_flight == 0;
        (fabric.links.observe.probe, outcome)
    }
}

/// A run in progress, with the observer that is its own; `()` observes nothing.
pub struct Simulation<P: Probe + Send + 'static> {
    engine: Engine<'static>,
    probe: PhantomData<P>,
}

impl<P: Probe + Send + 'static> Simulation<P> {
    /// Builds the fabric at t = 0.
    pub fn new(config: Arc<FabricConfig>, options: RunOptions, probe: P) -> Self {
        Simulation { engine: Engine::new(config, options, Pointer::new(probe)), probe: PhantomData }
    }

    /// Runs until `limit` (inclusive) or until about `max_events` more events are handled.
    pub fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        self.engine.run(limit, max_events)
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.engine.now()
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.engine.events()
    }

    /// Packets that crossed a link so far.
    pub fn packet_hops(&self) -> u64 {
        self.engine.packet_hops()
    }

    /// Totals so far, between two slices. What is settled later than it happens (sources that make up what
    /// they created, deliveries to endpoints that only take) may be missing; the run does not notice.
    pub fn look(&self) -> Outcome {
        self.engine.look()
    }

    /// What was handled so far, by kind; `None`: not counted ([`RunOptions::profile`]).
    pub fn profile(&self) -> Option<Profile> {
        self.engine.counts().map(|counts| Profile::new(counts.clone(), [0; 2]))
    }

    /// The observer.
    pub fn probe(&self) -> &P {
        either!(&self.engine, run => run.kernel.world.links.observe.probe.get())
    }

    /// Ends the run: settles everything that is due by now and gives back the observer and the totals.
    pub fn finish(self) -> (P, Outcome) {
        let (probe, outcome) = self.engine.finish();
        (probe.take(), outcome)
    }
}

/// A run in progress, with an observer that is lent for it.
pub struct Watched<'a>(Engine<'a>);

impl<'a> Watched<'a> {
    /// Builds the fabric at t = 0. To ask the observer during the run hand in a `&mut &Mutex`.
    pub fn new(config: Arc<FabricConfig>, options: RunOptions, probe: &'a mut (impl Probe + Send)) -> Self {
        Watched(Engine::new(config, options, Pointer::new(probe)))
    }

    /// Runs until `limit` (inclusive) or until about `max_events` more events are handled.
    pub fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        self.0.run(limit, max_events)
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.0.now()
    }

    /// Ends the run: settles everything that is due by now and gives the totals.
    pub fn finish(self) -> Outcome {
        self.0.finish().1
    }
}

/// A run in progress on several threads, in parts of the fabric. All results are those of [`Simulation`].
pub struct Parallel<P: Share + 'static> {
    cut: Cut,
    probe: PhantomData<P>,
}

impl<P: Share + 'static> Parallel<P> {
    /// Builds the parts of the fabric at t = 0, cut as `partition` says, which was made for it.
    pub fn new(
        config: Arc<FabricConfig>,
        options: RunOptions,
        probe: P,
        partition: &Partition,
        threads: Threads,
    ) -> Self {
        let empty = probe.part();
        let cut = Cut::new(
            &config,
            (options.pipeline, options.wire_check),
            (partition, threads),
            &mut || list(&config, options),
            (Pointer::new(probe), before_sample::<P>),
            &|| Pointer::new(empty.part()),
        );
        Parallel { cut, probe: PhantomData }
    }

    /// Runs until `limit` (inclusive), or until about `max_events` more events are handled and a window is
    /// over.
    pub fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        self.cut.run(limit, max_events)
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.cut.now()
    }

    /// Events handled so far. There are a few more or less than on one thread: who waits at a cut link is
    /// woken only as long as it waits.
    pub fn events(&self) -> u64 {
        self.cut.events()
    }

    /// Totals so far, as [`Simulation::look`] gives them.
    pub fn look(&self) -> Outcome {
        self.cut.look()
    }

    /// What it has cost so far to cut it.
    pub fn cost(&self) -> Cost {
        self.cut.cost()
    }

    /// What was handled so far in all parts, by kind; `None`: not counted ([`RunOptions::profile`]).
    pub fn profile(&self) -> Option<Profile> {
        self.cut.counts().map(|(counts, own)| Profile::new(counts, own))
    }

    /// What windows have come to so far; `None`: not kept ([`Threads::ledger`]).
    pub fn ledger(&self) -> Option<Ledger> {
        self.cut.ledger()
    }

    /// Ends the run: settles everything that is due by now and gives back the observer, the totals, and what
    /// it cost to cut it.
    pub fn finish(self) -> (P, Outcome, Cost) {
        let (probe, parts, outcome, cost) = self.cut.finish();
        let mut probe: P = probe.take();
        parts.into_iter().for_each(|part| probe.join(part.take()));
        (probe, outcome, cost)
    }
}

fn before_sample<P: Share + 'static>(whole: &mut Pointer<'static>, parts: &[&Pointer<'static>]) {
    let parts: Vec<&P> = parts.iter().map(|part| part.get()).collect();
    whole.get_mut::<P>().before_sample(&parts);
}

fn list(config: &FabricConfig, options: RunOptions) -> ChosenList<Payload> {
    let list = match options.list {
        ListKind::Heap => ChosenList::Heap(HeapList::new()),
        ListKind::Ring => ChosenList::Ring(BucketRing::new(ring_config(config))),
    };
    if options.profile { list.counted(KIND_NAMES.len(), Payload::kind) } else { list }
}

/// Settles what is due by `until`; the fabric, and when the run has ended. `ran_out`: something was left to
/// happen, so something may stand still that the watchdog has not seen yet.
fn conclude<S: Ports>(
    mut kernel: FabricKernel<'_, S>,
    until: Time,
    drained: bool,
    ran_out: bool,
) -> (Fabric<Pointer<'_, S>>, Time) {
    let key = EventKey::floor(Time(until.0.saturating_add(1)), class::ARRIVAL);
    let end = kernel.conclude(key, |fabric, cx| {
        // Creations of exactly the last instant belong to the run, later ones do not.
        fabric.settle_until(cx, cx.key(), until.0);
        if ran_out {
            fabric.watch_the_end(until, fabric.links.is_idle(cx));
        }
        let end = if drained { fabric.links.last_change().min(until) } else { until };
        fabric.links.settle_waits(cx, end.0);
        end
    });
    (kernel.into_world(), end)
}

fn start<S: Ports>(fabric: Fabric<Pointer<'_, S>>, list: ChosenList<Payload>) -> FabricKernel<'_, S> {
    let mut first = Vec::new();
    let mut kernel = Kernel::new(fabric, list);
    kernel.world.bootstrap(|event| first.push(event));
    for event in first {
        kernel.schedule(event);
    }
    kernel
}

/// Up to so many buckets (log2) a ring takes little of a first-level cache.
const SMALL_RING_LOG2: u32 = 12;

/// Buckets (log2) of a ring that has only the next events, because with all to come it would be far larger
/// than a second-level cache. What lies beyond waits in the wheel, where it is written and read in one go:
/// that takes instructions, and saves lines of memory.
const NEAR_RING_LOG2: u32 = 11;

/// A ring that suits the fabric: a few packet times of horizon, and at most two events in a bucket. Where the
/// ring is small, half an event: nobody can predict how many there are in a bucket, unless most have none.
/// Where there are very many, only what comes next.
fn ring_config(config: &FabricConfig) -> RingConfig {
    let mut longest = 1;
    let mut per_us = 0;
    for link in &config.links {
        let packet = 284 * link.char_ps.0 / link.char_ps.1.max(1);
        longest = longest.max(packet + link.propagation.0);
        // Two directions, about one event a packet each.
        per_us += 2_000_000 / packet.max(1);
    }
    let two_log2 = (2_000_000 / per_us.max(1)).max(1).ilog2().min(40);
    if Foresight::of(config) == Foresight::Crowded {
        return RingConfig { bucket_width_log2_ps: two_log2, buckets_log2: NEAR_RING_LOG2 };
    }
    let half_log2 = two_log2.saturating_sub(2);
    let buckets_log2 = |width_log2: u32| {
        let horizon = (longest * 4) >> width_log2;
        (u64::BITS - horizon.leading_zeros() + 1).clamp(6, 16)
    };
    let small = buckets_log2(half_log2) <= SMALL_RING_LOG2;
    let bucket_width_log2_ps = if small { half_log2 } else { two_log2 };
    let buckets_log2 = buckets_log2(bucket_width_log2_ps);
    RingConfig { bucket_width_log2_ps, buckets_log2 }
}
