//! Who looks at all parts between two windows: how far the next one goes, samples, the watchdog, and what is
//! left in the end.

use super::ledger::Ledger;
use super::{Cost, Part, PartKernel, Partition, floor};
use crate::config::FabricConfig;
use crate::event::class;
use crate::ids::PortId;
use crate::observe::pointer::Pointer;
use crate::observe::probe::{Probe, Sample};
use crate::world::Fabric;
use crate::world::outcome::{Outcome, Progress, add_part};
use crate::world::stall::{View, Watchdog};
use sim_core::{EventKey, KeySource, Time};
use std::sync::{Arc, MutexGuard};

/// What comes next.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Somebody looks.
    Look,
    /// A window that ends here.
    Window(u64),
    /// The slice of the run is over.
    Over,
}

/// Tells the observer of the whole what it needs of those of the parts before a sample.
pub(crate) type BeforeSample = fn(&mut Pointer<'static>, &[&Pointer<'static>]);

/// Sees the whole fabric.
pub(super) struct Overseer {
    config: Arc<FabricConfig>,
    /// By device, and by port.
    cut: Partition,
    part_of: Vec<u16>,
    observer: Pointer<'static>,
    before_sample: BeforeSample,
    /// Of samples and of the watchdog.
    keys: KeySource,
    sample: Sample,
    sampled: Option<EventKey>,
    watchdog: Watchdog,
    watched: Option<EventKey>,
    /// How often it has looked: an event where nothing is cut. And how often of these for the watchdog.
    looks: u64,
    watches: u64,
    stalled: bool,
    limit: Time,
    /// Events up to which the slice goes.
    budget: u64,
    now: Time,
    progress: Progress,
    handled: u64,
    cost: Cost,
    /// What windows come to, if that is kept.
    ledger: Option<Ledger>,
}

impl Overseer {
    /// So far; what threads have waited is not known here.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    pub fn new(
        config: &Arc<FabricConfig>,
        cut: &Partition,
        (observer, before_sample): (Pointer<'static>, BeforeSample),
        kept: bool,
    ) -> Self {
        let observe = crate::observe::Observe::new(config, ());
        let mut overseer = Overseer {
            config: config.clone(),
            cut: cut.clone(),
            part_of: observe.sample.ports.iter().map(|(device, _)| cut.part(*device)).collect(),
            observer,
            before_sample,
            keys: observe.keys,
            sample: observe.sample,
            sampled: None,
            watchdog: Watchdog::new(config.stall_after.map_or(0, |d| d.0)),
            watched: None,
            looks: 0,
            watches: 0,
            stalled: false,
            limit: Time::ZERO,
            budget: 0,
            now: Time::ZERO,
            progress: Progress::Running,
            handled: 0,
            cost: Cost { parts: cut.parts(), ..Cost::default() },
            ledger: kept.then(|| Ledger::new(cut.parts(), cut.lookahead())),
        };
        let mut first = |every: u64, class| (every != 0).then(|| overseer.keys.make(Time(every), class));
        let sampled = first(observe.sample_every, class::SAMPLE);
        let watched = first(overseer.watchdog.stall_after, class::WATCH);
        Overseer { sampled, watched, ..overseer }
    }

    /// A slice of the run begins.
    pub fn begin(&mut self, limit: Time, max_events: u64) {
        self.limit = limit;
        self.budget = self.events().saturating_add(max_events);
    }

    pub fn now(&self) -> Time {
        self.now
    }

    pub fn events(&self) -> u64 {
        self.handled + self.looks
    }

    /// Events of its own: samples, and looks of the watchdog.
    pub fn own(&self) -> [u64; 2] {
        [self.looks - self.watches, self.watches]
    }

    /// What windows came to, if that is kept.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// How the slice ended.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// `windows` are over: what happened in the last one.
    pub fn count(&mut self, parts: &mut [MutexGuard<'_, Part>], windows: u64) {
        let (mut events, mut longest) = (0, 0);
        // Before the first window of a slice there is nothing to count.
        if let Some(ledger) = self.ledger.as_mut().filter(|_| windows > self.cost.windows) {
            ledger.enter(parts.iter_mut().map(|part| (part.events, std::mem::take(&mut part.sent))));
        }
        for part in parts {
            let count = std::mem::take(&mut part.events);
            events += count;
            longest = longest.max(count);
            self.cost.letters += std::mem::take(&mut part.letters);
        }
        self.handled += events;
        self.cost.longest += longest;
        self.cost.events += events;
        self.cost.windows = windows;
    }

    /// When somebody looks next.
    fn next_look(&self) -> u64 {
        let at = |key: Option<EventKey>| key.map_or(u64::MAX, |key| key.time().0);
        at(self.sampled).min(at(self.watched))
    }

    /// What comes next.
    pub fn next(&mut self, parts: &[MutexGuard<'_, Part>]) -> Step {
        let (next, look) = (earliest(parts), self.next_look());
        if self.stalled || next.min(look) > self.limit.0 || self.events() >= self.budget {
            return Step::Over;
        }
        if look < next {
            return Step::Look;
        }
        let end = next.saturating_add(self.cut.lookahead()).min(look.saturating_add(1));
        let end = end.min(self.limit.0.saturating_add(1));
        self.now = Time(end - 1);
        Step::Window(end)
    }

    /// All that happens before the next look has happened, and the mail is in.
    pub fn look(&mut self, parts: &mut [MutexGuard<'_, Part>]) {
        let watch = self.watched.is_some_and(|watched| self.sampled.is_none_or(|sampled| watched < sampled));
        let key = if watch { self.watched.take() } else { self.sampled.take() };
        let key = key.expect("somebody is to look");
        self.now = key.time();
        self.looks += 1;
        self.watches += u64::from(watch);
        for part in parts.iter_mut() {
            part.kernel.conclude(key, |fabric, cx| fabric.settle(cx, key));
            assert!(part.kernel.world.links.border.is_clear(), "what is made up crosses no border");
            part.next = part.next_here();
        }
        let idle = parts.iter().all(|part| is_quiet(&part.kernel));
        if watch {
            self.watch(parts, key, idle);
        } else {
            self.take_sample(parts, key, idle);
        }
    }

    fn watch(&mut self, parts: &[MutexGuard<'_, Part>], key: EventKey, idle: bool) {
        let fabrics: Vec<&Fabric<Pointer<'static>>> = parts.iter().map(|part| &part.kernel.world).collect();
        let found = self.watchdog.look(&View::new(&fabrics, &self.part_of, key), idle);
        self.stalled = found && self.config.stop_on_stall;
        if !idle {
            let empty = fabrics.iter().all(|fabric| fabric.links.packets.len() == 0);
            let next = key.time().0 + self.watchdog.pause(empty);
            self.watched = Some(self.keys.make(Time(next), class::WATCH));
        }
    }

    fn take_sample(&mut self, parts: &mut [MutexGuard<'_, Part>], key: EventKey, idle: bool) {
        let mut sample = std::mem::take(&mut self.sample);
        sample.begin(key.time());
        for (port, part) in self.part_of.iter().enumerate() {
            let links = &mut parts[usize::from(*part)].kernel.world.links;
            links.see_port(PortId::new(port as u32), &mut sample);
        }
        parts.iter_mut().for_each(|part| part.kernel.world.links.see_packets(&mut sample));
        let observers: Vec<&Pointer<'static>> =
            parts.iter().map(|part| &part.kernel.world.links.observe.probe).collect();
        (self.before_sample)(&mut self.observer, &observers);
        self.observer.sample(&sample);
        self.sample = sample;
        if !idle {
            let every = self.config.sample_every.expect("a sample was taken").0;
            self.sampled = Some(self.keys.make(Time(key.time().0 + every), class::SAMPLE));
        }
    }

    /// The slice is over, and the mail is in: how it ended.
    pub fn close(&mut self, parts: &[MutexGuard<'_, Part>]) {
        let pending = parts.iter().any(|part| part.kernel.pending() > 0);
        let observed = self.sampled.is_some() || self.watched.is_some();
        let waiting = || {
            self.watchdog.stall_after != 0 && parts.iter().any(|part| part.kernel.world.links.has_waiting())
        };
        let arrives = || parts.iter().any(|part| part.kernel.world.links.last_arrival() > self.limit);
        let next = earliest(parts).min(self.next_look());
        self.progress = if self.stalled {
            Progress::Stalled
        } else if next <= self.limit.0 {
            Progress::Running
        } else if pending || observed && waiting() || arrives() {
            Progress::Limit
        } else {
            Progress::Drained
        };
    }

    /// What parts of the fabric, with their events, have come to so far.
    pub fn totals<'a>(
        &self,
        parts: impl Iterator<Item = (&'a Fabric<Pointer<'static>>, u64)>,
        until: Time,
        end: Time,
    ) -> Outcome {
        let mut all = Outcome { end, ..Outcome::default() };
        for (part, (fabric, events)) in parts.enumerate() {
            add_part(&mut all, fabric.totals(until, end, events), |device| {
                usize::from(self.cut.part(device)) == part
            });
        }
        all.events += self.looks;
        all.stalls.clone_from(&self.watchdog.stalls);
        all
    }

    /// The end of the run: observers, totals, and what it cost.
    pub fn finish(
        mut self,
        mut kernels: Vec<PartKernel>,
    ) -> (Pointer<'static>, Vec<Pointer<'static>>, Outcome, Cost) {
        let drained = self.progress == Progress::Drained;
        let until = match self.progress {
            Progress::Limit | Progress::Drained => self.limit,
            Progress::Running | Progress::Stalled => self.now,
        };
        let key = floor(until.0.saturating_add(1));
        let mut end = if drained { Time::ZERO } else { until };
        for kernel in &mut kernels {
            kernel.conclude(key, |fabric, cx| fabric.settle_until(cx, cx.key(), until.0));
            if drained {
                end = end.max(kernel.world.links.last_change().min(until));
            }
        }
        if matches!(self.progress, Progress::Limit | Progress::Running) {
            let fabrics: Vec<&Fabric<Pointer<'static>>> =
                kernels.iter().map(|kernel| &kernel.world).collect();
            let idle = kernels.iter().all(is_quiet);
            self.watchdog.look_at_end(&fabrics, &self.part_of, until, idle);
        }
        for kernel in &mut kernels {
            kernel.conclude(key, |fabric, cx| fabric.links.settle_waits(cx, end.0));
        }
        let parts = kernels.iter().map(|kernel| (&kernel.world, kernel.events_handled()));
        let mut outcome = self.totals(parts, until, end);
        outcome.over = drained && outcome.in_flight == 0;
        let observers = kernels.into_iter().map(|kernel| kernel.into_world().links.observe.probe).collect();
        assert_eq!(
            outcome.injected + outcome.replicated,
            outcome.delivered + outcome.dropped + outcome.in_flight,
            "packets are conserved"
        );
        (self.observer, observers, outcome, self.cost)
    }
}

/// The earliest instant at which something happens.
fn earliest(parts: &[MutexGuard<'_, Part>]) -> u64 {
    parts.iter().map(|part| part.next).min().unwrap_or(u64::MAX)
}

/// Nothing is left to happen in a part.
fn is_quiet(kernel: &PartKernel) -> bool {
    kernel.pending() == 0 && kernel.world.links.cold.iter().all(|cold| cold.in_flight.is_empty())
}
