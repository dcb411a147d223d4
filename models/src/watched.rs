//! A run whose observer is behind a pointer: slower than [`Simulation`], and compiled once for all observers.

use crate::config::FabricConfig;
use crate::observe::probe::{
    Delivery, Dropped, Journey, Offered, PacketId, PacketStep, ProtocolEvent, RegisterEvent, Sample, Signal,
    StagingEdge,
};
use crate::{Outcome, Probe, Progress, RunOptions, Simulation};
use sim_core::Time;
use std::cell::RefCell;
use std::sync::Arc;

/// Writes down the methods of [`Probe`] once: as a trait without constants, for every probe, and behind a
/// pointer.
macro_rules! observer {
    ($($method:ident($($name:ident: $value:ty),*);)*) => {
        trait Observer {
            $(fn $method(&mut self, $($name: $value),*);)*
        }

        impl<P: Probe> Observer for P {
            $(fn $method(&mut self, $($name: $value),*) {
                Probe::$method(self, $($name),*);
            })*
        }

        struct Pointer<'a>(&'a mut dyn Observer);

        impl Probe for Pointer<'_> {
            const FOLLOWS_PACKETS: bool = true;
            $(fn $method(&mut self, $($name: $value),*) {
                self.0.$method($($name),*);
            })*
        }

        /// An observer that can be asked during the run.
        impl<P: Probe> Probe for &RefCell<P> {
            const FOLLOWS_PACKETS: bool = P::FOLLOWS_PACKETS;
            $(fn $method(&mut self, $($name: $value),*) {
                Probe::$method(&mut *self.borrow_mut(), $($name),*);
            })*
        }
    };
}

observer! {
    packet(at: Time, id: PacketId, step: &PacketStep);
    offered(offered: &Offered);
    delivered(delivery: &Delivery);
    dropped(dropped: &Dropped);
    message(message: &Journey);
    round_trip(whole: &Journey);
    register(event: &RegisterEvent);
    protocol_event(event: &ProtocolEvent);
    signal(signal: &Signal);
    staging_edge(edge: &StagingEdge);
    sample(sample: &Sample);
}

/// A run that any observer watches; it hears of packets even if it does not follow them.
pub struct Watched<'a>(Simulation<Pointer<'a>>);

impl<'a> Watched<'a> {
    /// Builds the fabric at t = 0. To ask the observer during the run hand in a `&mut &RefCell`.
    pub fn new(config: Arc<FabricConfig>, options: RunOptions, probe: &'a mut impl Probe) -> Self {
        Self::build(config, options, Pointer(probe))
    }

    #[inline(never)]
    fn build(config: Arc<FabricConfig>, options: RunOptions, probe: Pointer<'a>) -> Self {
        Watched(Simulation::new(config, options, probe))
    }

    /// Runs until `limit` (inclusive) or until about `max_events` more events are handled.
    #[inline(never)]
    pub fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        self.0.run(limit, max_events)
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.0.now()
    }

    /// Ends the run: settles everything that is due by now and gives the totals.
    #[inline(never)]
    pub fn finish(self) -> Outcome {
        self.0.finish().1
    }
}
