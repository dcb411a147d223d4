//! One run on several threads, in parts that hear of each other at the borders of windows.
//!
//! Each part is a fabric of its own over the ports of the whole one, with a kernel of its own; what is not
//! its own stands still in it. A window is not longer than the time in which anything that happens in one
//! part is learned by another ([`lookahead`](crate::link::border::lookahead)), so within it the parts need
//! not know of each other. Keys do not depend on the partition, and records are visible by their keys: so all
//! results are those of one thread, whatever the partition and the number of threads.
//!
//! Who sees the whole fabric, the sampling and the watchdog, looks between two windows ([`overseer`]).

mod ledger;
mod overseer;
mod partition;
mod threads;

pub use ledger::{Ledger, Row, Spent};
pub use partition::{Partition, Whole};

use crate::config::FabricConfig;
use crate::event::{Happening, LinkStep, Payload, class};
use crate::ids::{Id as _, PortId, SwitchId};
use crate::link::border::Mail;
use crate::observe::pointer::Pointer;
use crate::switch::Routes;
use crate::world::outcome::{Outcome, Progress};
use crate::world::{Fabric, PipelineMode};
pub(crate) use overseer::BeforeSample;
use overseer::{Overseer, Step};
use sim_core::{ChosenList, Event, EventKey, Kernel, ListCounts, Time};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use threads::{Claims, Gate, Meeting};

/// The lower bound of an instant: whatever happens before it has a smaller key.
fn floor(at: u64) -> EventKey {
    EventKey::floor(Time(at), class::ARRIVAL)
}

/// What it cost that a run was cut.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Parts of the fabric.
    pub parts: usize,
    /// Threads that did them.
    pub threads: usize,
    /// Windows.
    pub windows: u64,
    /// Packets, records and messages from one part to another.
    pub letters: u64,
    /// Events of all windows.
    pub events: u64,
    /// Events of the part with most of them, summed over windows.
    pub longest: u64,
    /// How long threads waited for each other, summed over threads, in units of the clock that was given.
    pub waited: u64,
}

/// Threads for a run, and a clock by which they measure how long they wait; it decides nothing.
#[derive(Copy, Clone, Debug)]
pub struct Threads {
    /// How many, at least one.
    pub count: usize,
    /// The time now, in any unit.
    pub clock: fn() -> u64,
    /// Whether it is kept what each window comes to.
    pub ledger: bool,
}

type PartKernel = Kernel<Fabric<Pointer<'static>>, ChosenList<Payload>>;

/// One part.
struct Part {
    kernel: PartKernel,
    /// What has not been sent yet, by part; empty between windows.
    out: Vec<Mail>,
    /// Events on their way from mail to the kernel; empty otherwise.
    arriving: Vec<Event<Payload>>,
    /// The earliest instant at which something happens here, or elsewhere because of what has left.
    next: u64,
    /// Events of the last window, and letters that left after it.
    events: u64,
    letters: u64,
    /// To which part how many, and the time spent here so far: if windows are kept.
    sent: Vec<(u16, u32)>,
    spent: Spent,
}

impl Part {
    fn new(
        mut fabric: Fabric<Pointer<'static>>,
        list: ChosenList<Payload>,
        cut: &Partition,
        own: u16,
    ) -> Self {
        let owners = isolate(&mut fabric, cut, own);
        let config = fabric.links.config.clone();
        let mut first = Vec::new();
        let mut kernel = Kernel::new(fabric, list);
        kernel.world.bootstrap(|event| first.push(event));
        for event in first {
            if is_own(&kernel.world, &config, &owners, own, &event) {
                kernel.schedule(event);
            }
        }
        let out = (0..cut.parts()).map(|_| Mail::default()).collect();
        let mut part = Part {
            kernel,
            out,
            arriving: Vec::new(),
            next: 0,
            events: 0,
            letters: 0,
            sent: Vec::new(),
            spent: Spent::default(),
        };
        part.next = part.next_here();
        part
    }

    /// The earliest instant at which something happens here.
    fn next_here(&mut self) -> u64 {
        let links = &self.kernel.world.links;
        let unaccepted =
            links.border.unaccepted().iter().map(|port| links.ports[port.index()].rx.accepted.time().0);
        let accepted = unaccepted.min().unwrap_or(u64::MAX);
        self.kernel.next_key().map_or(accepted, |key| accepted.min(key.time().0))
    }

    /// Takes in what others have sent; nothing of it is earlier than `from`.
    fn receive(&mut self, mail: &mut Mail, from: u64) {
        self.kernel.world.links.import(mail, floor(from), |event| self.arriving.push(event));
        self.arriving.drain(..).for_each(|event| self.kernel.schedule(event));
    }

    /// Everything before `end`.
    fn run(&mut self, end: u64) {
        let before = self.kernel.events_handled();
        let _ = self.kernel.run_until(Time(end - 1));
        self.events = self.kernel.events_handled() - before;
    }

    /// The window is over at `end`: gathers what others have to hear.
    fn gather(&mut self, end: u64) {
        let fabric = &mut self.kernel.world;
        let mut waiting = fabric.links.border.take_unaccepted();
        waiting.retain(|&port| {
            let switch = &mut fabric.switches[fabric.links.nodes.switch(port)];
            switch.note_acceptance(&mut fabric.links, port - switch.base, floor(end));
            fabric.links.ports[port.index()].rx.unaccepted != 0
        });
        fabric.links.border.put_unaccepted(waiting);
        let learned = fabric.links.export(&mut self.out);
        self.letters = self.out.iter().map(|mail| mail.len() as u64).sum();
        self.next = self.next_here().min(learned);
    }
}

/// Devices of other parts stand still in this fabric, and links to them are cut. The part of each port.
fn isolate(fabric: &mut Fabric<Pointer<'static>>, cut: &Partition, own: u16) -> Arc<[u16]> {
    let owners: Arc<[u16]> = fabric.links.ports.iter().map(|port| cut.part(port.link.device)).collect();
    fabric.links.cut(owners.clone(), own);
    fabric.links.observe.sample_every = 0;
    fabric.watchdog.stall_after = 0;
    for switch in fabric.switches.iter_mut().filter(|switch| cut.part(switch.device) != own) {
        switch.backpressure = None;
        switch.routes = Routes::default();
    }
    owners
}

/// Whether a first event of a run is for a device of this part.
fn is_own(
    fabric: &Fabric<Pointer<'static>>,
    config: &FabricConfig,
    owners: &[u16],
    own: u16,
    event: &Event<Payload>,
) -> bool {
    let port = match event.payload.unpack() {
        Happening::Link(LinkStep::Register) => {
            let write = &config.voq_writes[event.target as usize];
            fabric.links.nodes.port((write.device, write.port))
        }
        Happening::Tick => fabric.switches[SwitchId::new(event.target)].base,
        _ => PortId::new(event.target),
    };
    owners[port.index()] == own
}

/// A run in parts, and the threads that do them beside the one that asks for it.
pub(crate) struct Cut {
    shared: Arc<Shared>,
    others: Vec<JoinHandle<()>>,
}

/// What all threads know.
struct Shared {
    parts: Vec<Mutex<Part>>,
    /// What was sent in the windows with an even number, and in the others: by who gets it, and who sent it.
    post: [Vec<Mutex<Mail>>; 2],
    overseer: Mutex<Overseer>,
    gate: Gate,
    meeting: Meeting,
    claims: Claims,
    threads: Threads,
    /// Windows that are over.
    windows: AtomicU64,
    /// Where the last window ended, and where this one does.
    from: AtomicU64,
    end: AtomicU64,
    /// The slice of the run is over.
    over: AtomicBool,
    waited: AtomicU64,
    /// Time between windows, and of that for looks; if windows are kept.
    between: AtomicU64,
    looks: AtomicU64,
}

impl Cut {
    /// `part`: an observer for a part. Without type parameters, so that the fabric is compiled in this crate
    /// and nowhere else.
    pub fn new(
        config: &Arc<FabricConfig>,
        (pipeline, wire_check): (PipelineMode, bool),
        (cut, threads): (&Partition, Threads),
        list: &mut dyn FnMut() -> ChosenList<Payload>,
        observer: (Pointer<'static>, BeforeSample),
        part: &dyn Fn() -> Pointer<'static>,
    ) -> Self {
        let count = cut.parts();
        let parts: Vec<Mutex<Part>> = (0..count as u16)
            .map(|own| {
                let mut fabric =
                    Fabric::part(config.clone(), pipeline, part(), |device| cut.part(device) == own);
                if wire_check {
                    fabric.links.check_wire();
                }
                Mutex::new(Part::new(fabric, list(), cut, own))
            })
            .collect();
        let post = || (0..count * count).map(|_| Mutex::default()).collect();
        let threads = Threads { count: threads.count.clamp(1, count), ..threads };
        let shared = Arc::new(Shared {
            post: [post(), post()],
            overseer: Mutex::new(Overseer::new(config, cut, observer, threads.ledger)),
            gate: Gate::default(),
            meeting: Meeting::new(threads.count),
            claims: Claims::new(count),
            threads,
            windows: AtomicU64::new(0),
            from: AtomicU64::new(0),
            end: AtomicU64::new(0),
            over: AtomicBool::new(false),
            waited: AtomicU64::new(0),
            between: AtomicU64::new(0),
            looks: AtomicU64::new(0),
            parts,
        });
        let others = (1..threads.count).map(|thread| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.slices(thread))
        });
        Cut { others: others.collect(), shared }
    }

    /// Runs until `limit` (inclusive) or until about `max_events` more events are handled.
    pub fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        let shared = &*self.shared;
        lock(&shared.overseer).begin(limit, max_events);
        shared.over.store(false, Ordering::Relaxed);
        shared.prepare();
        if !shared.over.load(Ordering::Relaxed) {
            shared.gate.open();
            shared.work(0);
            shared.gate.wait_for_all(self.others.len() as u64);
            if shared.meeting.is_broken() {
                self.end();
            }
        }
        lock(&self.shared.overseer).progress()
    }

    /// The other threads end; a panic of one of them goes on here.
    fn end(&mut self) {
        self.shared.gate.close();
        for other in self.others.drain(..) {
            if let (Err(panic), false) = (other.join(), std::thread::panicking()) {
                std::panic::resume_unwind(panic);
            }
        }
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        lock(&self.shared.overseer).now()
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        lock(&self.shared.overseer).events()
    }

    /// Totals so far; nobody works.
    pub fn look(&self) -> Outcome {
        let parts: Vec<MutexGuard<'_, Part>> = self.shared.parts.iter().map(lock).collect();
        let overseer = lock(&self.shared.overseer);
        let fabrics = parts.iter().map(|part| (&part.kernel.world, part.kernel.events_handled()));
        overseer.totals(fabrics, overseer.now(), overseer.now())
    }

    /// What it has cost so far that the run is cut.
    pub fn cost(&self) -> Cost {
        let waited = self.shared.waited.load(Ordering::Relaxed);
        Cost { waited, threads: self.shared.threads.count, ..lock(&self.shared.overseer).cost() }
    }

    /// What windows have come to so far, if that is kept.
    pub fn ledger(&self) -> Option<Ledger> {
        let mut ledger = lock(&self.shared.overseer).ledger()?.clone();
        let looks = self.shared.looks.load(Ordering::Relaxed);
        let between = self.shared.between.load(Ordering::Relaxed) - looks;
        ledger.spent = Spent { between, looks, ..Spent::default() };
        for part in &self.shared.parts {
            let spent = lock(part).spent;
            ledger.spent.events += spent.events;
            ledger.spent.mail += spent.mail;
        }
        Some(ledger)
    }

    /// What has passed through the lists of all parts so far, and samples and looks of the watchdog, which
    /// are events of none of them; if lists count.
    pub fn counts(&self) -> Option<(ListCounts, [u64; 2])> {
        let mut all: Option<ListCounts> = None;
        for part in &self.shared.parts {
            let part = lock(part);
            let counts = part.kernel.list().counts()?;
            match &mut all {
                None => all = Some(counts.clone()),
                Some(all) => all.add(counts),
            }
        }
        Some((all?, lock(&self.shared.overseer).own()))
    }

    /// Ends the run: settles everything that is due by now. The observers, that of the whole first, the
    /// totals, and what it cost.
    pub fn finish(mut self) -> (Pointer<'static>, Vec<Pointer<'static>>, Outcome, Cost) {
        self.end();
        let shared = Arc::clone(&self.shared);
        drop(self);
        let shared = Arc::into_inner(shared).expect("the other threads have ended");
        let open = |part: Mutex<Part>| part.into_inner().expect("no part has panicked");
        let kernels = shared.parts.into_iter().map(|part| open(part).kernel).collect();
        let overseer = shared.overseer.into_inner().expect("the overseer has not panicked");
        let (waited, threads) = (shared.waited.into_inner(), shared.threads.count);
        let (observer, observers, outcome, cost) = overseer.finish(kernels);
        (observer, observers, outcome, Cost { waited, threads, ..cost })
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// What a thread does as long as there are slices.
    fn slices(&self, thread: usize) {
        let mut slice = 0;
        while self.gate.wait(slice) {
            let _done = Leaving(&self.gate);
            self.work(thread);
            slice += 1;
        }
    }

    /// Windows until the slice is over.
    fn work(&self, thread: usize) {
        let _alarm = self.meeting.watch();
        loop {
            let window = self.windows.load(Ordering::Acquire);
            let (from, end) = (self.from.load(Ordering::Relaxed), self.end.load(Ordering::Relaxed));
            for part in self.claims.of(window, thread, self.threads.count) {
                self.window(window, part, from, end);
            }
            let begin = (self.threads.clock)();
            let mut prepared = false;
            let goes_on = self.meeting.meet(window, || {
                prepared = true;
                self.windows.store(window + 1, Ordering::Release);
                self.prepare();
            });
            if !prepared {
                self.waited.fetch_add((self.threads.clock)() - begin, Ordering::Relaxed);
            }
            if !goes_on || self.over.load(Ordering::Acquire) {
                return;
            }
        }
    }

    /// The time, if windows are kept, for what they come to.
    fn clock(&self) -> u64 {
        if self.threads.ledger { (self.threads.clock)() } else { 0 }
    }

    /// One window of one part.
    fn window(&self, window: u64, number: usize, from: u64, end: u64) {
        let mut part = lock(&self.parts[number]);
        let begin = self.clock();
        self.deliver(window, number, &mut part, from);
        let delivered = self.clock();
        part.run(end);
        let done = self.clock();
        part.gather(end);
        let count = self.parts.len();
        let post = &self.post[(window % 2) as usize];
        let Part { out, sent, .. } = &mut *part;
        for (to, mail) in out.iter_mut().enumerate().filter(|(_, mail)| mail.len() > 0) {
            if self.threads.ledger {
                sent.push((to as u16, mail.len() as u32));
            }
            std::mem::swap(&mut *lock(&post[to * count + number]), mail);
        }
        part.spent.events += done - delivered;
        part.spent.mail += delivered - begin + self.clock() - done;
    }

    /// What was sent in the window before `window`.
    fn deliver(&self, window: u64, number: usize, part: &mut Part, from: u64) {
        let count = self.parts.len();
        let post = &self.post[((window + 1) % 2) as usize];
        for mail in &post[number * count..(number + 1) * count] {
            let mut mail = lock(mail);
            if mail.len() > 0 {
                part.receive(&mut mail, from);
            }
        }
    }

    /// Nobody works: what comes next.
    fn prepare(&self) {
        let begin = self.clock();
        self.prepare_next();
        self.between.fetch_add(self.clock() - begin, Ordering::Relaxed);
    }

    fn prepare_next(&self) {
        let mut overseer = lock(&self.overseer);
        let mut parts: Vec<MutexGuard<'_, Part>> = self.parts.iter().map(lock).collect();
        overseer.count(&mut parts, self.windows.load(Ordering::Relaxed));
        loop {
            match overseer.next(&parts) {
                Step::Look => {
                    let begin = self.clock();
                    self.deliver_all(&mut parts);
                    overseer.look(&mut parts);
                    self.looks.fetch_add(self.clock() - begin, Ordering::Relaxed);
                }
                Step::Window(end) => {
                    self.from.store(self.end.load(Ordering::Relaxed), Ordering::Relaxed);
                    self.end.store(end, Ordering::Relaxed);
                    return;
                }
                Step::Over => {
                    self.deliver_all(&mut parts);
                    overseer.close(&parts);
                    self.over.store(true, Ordering::Release);
                    return;
                }
            }
        }
    }

    /// The mail is in before a window begins, for who looks at all parts.
    fn deliver_all(&self, parts: &mut [MutexGuard<'_, Part>]) {
        let (window, end) = (self.windows.load(Ordering::Relaxed), self.end.load(Ordering::Relaxed));
        for (number, part) in parts.iter_mut().enumerate() {
            self.deliver(window, number, part, end);
            part.next = part.next_here();
        }
    }
}

/// Leaves a slice, however that ends.
struct Leaving<'a>(&'a Gate);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().expect("whoever panics ends the run")
}
