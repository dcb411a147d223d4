//! Deterministic discrete-event kernel: time, order, event lists, timers, random streams, fingerprints

pub mod event;
pub mod fingerprint;
pub mod kernel;
pub mod key;
mod mix;
pub mod ring;
pub mod rng;
pub mod slab;
pub mod time;
pub mod timer;
pub mod watch;

pub use event::{Event, EventList, HeapList};
pub use fingerprint::Fingerprint;
pub use kernel::{Context, Kernel, RunEnd, World};
pub use key::{ActorId, Class, EventKey, KeySource, Shake};
pub use ring::{BucketRing, RingConfig};
pub use rng::{Purpose, Stream};
pub use slab::{Handle, Slab};
pub use time::{Duration, Time};
pub use timer::{DeadlineHeap, TimerPop, TimerSlot};
pub use watch::{WaitGraph, Walk, walk};
