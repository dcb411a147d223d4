//! Deterministic discrete-event kernel: time, order, event lists, timers, random streams, fingerprints.
//!
//! The kernel knows no packet. A model implements [`World`]: its actors, and what an event does to them. The
//! [`Kernel`] takes events from an [`EventList`] in the order of their keys and hands them to the world,
//! which posts further events through its [`Context`]. The same world and seed give the same trajectory
//! with every list, on every machine, in one run or in many pieces.
//!
//! # What to know before writing a model
//!
//! - **Time** is a whole number of picoseconds: [`Time`] is an instant, [`Duration`] a span.
//! - **Order is data.** An [`EventKey`] is (time, [`Class`], source, the source's own counter), made by the
//!   [`KeySource`] of the actor that causes the event. What happens first at one instant is decided by the
//!   model and not by the order of insertion. Equal keys and exhausted counters panic.
//! - **Take the key when the thing is made**, also of what becomes an event only if somebody waits for it. A
//!   record with a smaller key than [`Context::key`] is visible to the event being handled.
//! - **What one actor sends another takes time.** [`Context::send`] panics without a delay. What happens at
//!   one instant inside one actor is a function call.
//! - **Randomness** comes from one [`Stream`] per (seed, actor path, [`Purpose`]), so a draw added in one
//!   place changes nothing anywhere else.
//! - **Timers** are [`TimerSlot`]s: moving a deadline later costs nothing. An actor with many deadlines
//!   keeps a [`DeadlineHeap`] behind one slot. Idle actors hold no timer.
//! - **Payloads are small and `Copy`**: an event with 12 bytes of payload takes 32. Larger things live in a
//!   [`Slab`] and travel as [`Handle`]s.
//! - **Proof**: a [`Fingerprint`] hashes what happened, independent of who reports it first. Two runs that
//!   should be equal have equal fingerprints. [`Shake`] permutes ties: what changes with it hides a race.
//! - **No progress** is somebody else's discovery, but [`walk`] tells a deadlock from a stall.
//!
//! Use [`BucketRing`] for speed ([`RingConfig::for_rate`] sizes it) and [`HeapList`] to check it.
//!
//! # Example: the M/D/1 queue
//!
//! Customers arrive at random (Poisson) and are served one by one, each for the same time T. At load rho the
//! mean wait before service is rho T / (2 (1 - rho)) (Pollaczek and Khinchine). One actor, two kinds
//! of event:
//!
//! ```
//! use sim_core::*;
//! use std::collections::VecDeque;
//!
//! const SERVICE: Duration = Duration::from_us(1);
//! const MEAN_GAP: Duration = Duration::from_us(2); // load 0.5
//! const CUSTOMERS: u64 = 1_000_000;
//!
//! // At one instant the server is freed before the next customer looks at it.
//! const DEPARTURES: Class = Class::new(0);
//! const ARRIVALS: Class = Class::new(1);
//!
//! #[derive(Clone, Copy)]
//! enum Step {
//!     Arrival,
//!     Departure,
//! }
//!
//! struct Queue {
//!     keys: KeySource,
//!     gaps: Stream,
//!     arrived: u64,
//!     waiting_since: VecDeque<Time>,
//!     busy: bool,
//!     wait_total: Duration,
//! }
//!
//! impl Queue {
//!     fn start_service<L: EventList<Step>>(&mut self, cx: &mut Context<'_, Step, L>) {
//!         if let Some(since) = self.waiting_since.pop_front() {
//!             self.wait_total += cx.now() - since;
//!             self.busy = true;
//!             cx.send(self.keys.make(cx.now() + SERVICE, DEPARTURES), 0, Step::Departure);
//!         }
//!     }
//! }
//!
//! impl World for Queue {
//!     type Payload = Step;
//!
//!     fn handle<L: EventList<Step>>(&mut self, event: Event<Step>, cx: &mut Context<'_, Step, L>) {
//!         match event.payload {
//!             Step::Arrival => {
//!                 self.arrived += 1;
//!                 self.waiting_since.push_back(cx.now());
//!                 if !self.busy {
//!                     self.start_service(cx);
//!                 }
//!                 if self.arrived < CUSTOMERS {
//!                     // A gap may round to zero; an event is always later than its cause.
//!                     let gap = self.gaps.exponential_ps(MEAN_GAP).max(Duration(1));
//!                     cx.send(self.keys.make(cx.now() + gap, ARRIVALS), 0, Step::Arrival);
//!                 }
//!             }
//!             Step::Departure => {
//!                 self.busy = false;
//!                 self.start_service(cx);
//!             }
//!         }
//!     }
//! }
//!
//! let mut keys = KeySource::new(ActorId::new(0), Shake::NONE);
//! let first = Event { key: keys.make(Time::ZERO, ARRIVALS), target: 0, payload: Step::Arrival };
//! let queue = Queue {
//!     keys,
//!     gaps: Stream::new(1, "queue", Purpose::ARRIVALS),
//!     arrived: 0,
//!     waiting_since: VecDeque::new(),
//!     busy: false,
//!     wait_total: Duration::ZERO,
//! };
//! // About one event per microsecond, none more than some ten microseconds ahead.
//! let list = BucketRing::new(RingConfig::for_rate(1, Duration::from_us(20)));
//! let mut kernel = Kernel::new(queue, list);
//! kernel.schedule(first);
//!
//! assert_eq!(kernel.run_until(Time::MAX), RunEnd::Empty);
//! assert_eq!(kernel.events_handled(), 2 * CUSTOMERS);
//!
//! let mean_wait = kernel.world.wait_total / CUSTOMERS;
//! let expected = Duration::from_ns(500); // 0.5 T / (2 * 0.5)
//! let tolerance = expected / 50; // 2 %: about three standard errors
//! assert!(
//!     expected - tolerance < mean_wait && mean_wait < expected + tolerance,
//!     "mean wait {mean_wait}, expected {expected}",
//! );
//! ```

mod chosen;
pub mod event;
pub mod fingerprint;
pub mod kernel;
pub mod key;
mod mix;
mod pages;
pub mod prefetch;
mod ring;
pub mod rng;
pub mod slab;
pub mod time;
pub mod timer;
pub mod watch;

pub use chosen::{ChosenList, ListCounts, RingCounts};
pub use event::{Ahead, Event, EventList, Foresees, HeapList};
pub use fingerprint::Fingerprint;
pub use kernel::{Context, Kernel, RunEnd, World};
pub use key::{ActorId, Class, EventKey, KeySource, Shake};
pub use pages::large_pages;
pub use prefetch::prefetch;
pub use ring::{BucketRing, RingConfig};
pub use rng::{Purpose, Stream, path_hash};
pub use slab::{Handle, Slab};
pub use time::{Duration, Time};
pub use timer::{DeadlineHeap, TimerEntry, TimerPop, TimerSlot};
pub use watch::{WaitGraph, Walk, walk};
