//! The observer behind a pointer: a fabric is compiled once, whoever watches it.

use super::Build;
use super::probe::{
    Crossing, Delivery, Dropped, Journey, Offered, PacketId, PacketStep, Probe, ProtocolEvent, RegisterEvent,
    Sample, Signal, StagingEdge, Timeout,
};
use crate::ports::Ports;
use sim_core::Time;
use std::any::Any;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard};

/// Writes down the methods of [`Probe`] that tell something once: behind a pointer, and for who lends an
/// observer.
macro_rules! observer {
    ($($method:ident($($name:ident: $value:ty),*);)*) => {
        trait Observer {
            $(fn $method(&mut self, $($name: $value),*);)*
            fn as_any(&self) -> &dyn Any where Self: 'static;
            fn as_any_mut(&mut self) -> &mut dyn Any where Self: 'static;
            fn into_any(self: Box<Self>) -> Box<dyn Any> where Self: 'static;
        }

        impl<P: Probe> Observer for P {
            $(fn $method(&mut self, $($name: $value),*) {
                Probe::$method(self, $($name),*);
            })*

            fn as_any(&self) -> &dyn Any where Self: 'static {
                self
            }

            fn as_any_mut(&mut self) -> &mut dyn Any where Self: 'static {
                self
            }

            fn into_any(self: Box<Self>) -> Box<dyn Any> where Self: 'static {
                self
            }
        }

        impl<S> Probe for Pointer<'_, S> {
            fn follows_packets(&self) -> bool {
                self.follows_packets
            }

            fn follows_in_any_order(&self) -> bool {
                self.follows_in_any_order
            }

            fn follows_wire(&self) -> bool {
                self.follows_wire
            }

            $(fn $method(&mut self, $($name: $value),*) {
                self.observer.$method($($name),*);
            })*
        }

        /// An observer that is lent.
        impl<P: Probe> Probe for &mut P {
            fn follows_packets(&self) -> bool {
                (**self).follows_packets()
            }

            fn follows_in_any_order(&self) -> bool {
                (**self).follows_in_any_order()
            }

            fn follows_wire(&self) -> bool {
                (**self).follows_wire()
            }

            $(fn $method(&mut self, $($name: $value),*) {
                (**self).$method($($name),*);
            })*
        }

        /// An observer that can be asked during the run.
        impl<P: Probe> Probe for &Mutex<P> {
            fn follows_packets(&self) -> bool {
                asked(self).follows_packets()
            }

            fn follows_in_any_order(&self) -> bool {
                asked(self).follows_in_any_order()
            }

            fn follows_wire(&self) -> bool {
                asked(self).follows_wire()
            }

            $(fn $method(&mut self, $($name: $value),*) {
                asked(self).$method($($name),*);
            })*
        }
    };
}

fn asked<P>(observer: &Mutex<P>) -> MutexGuard<'_, P> {
    observer.lock().expect("whoever panics ends the run")
}

observer! {
    packet(at: Time, id: PacketId, step: &PacketStep);
    crossing(crossing: &Crossing<'_>);
    offered(offered: &Offered);
    delivered(delivery: &Delivery);
    dropped(dropped: &Dropped);
    message(message: &Journey);
    round_trip(whole: &Journey);
    register(event: &RegisterEvent);
    protocol_event(event: &ProtocolEvent);
    timeout(timeout: &Timeout);
    signal(signal: &Signal);
    staging_edge(edge: &StagingEdge);
    sample(sample: &Sample);
}

/// Any observer. A packet has a few calls in its life, and one for each of its steps if it is followed: next
/// to the steps themselves that is little, and to compile the fabric for every observer took longer than all
/// else. `S`: sets of the ports of the switches that are watched.
pub(crate) struct Pointer<'a, S = u64> {
    observer: Box<dyn Observer + Send + 'a>,
    follows_packets: bool,
    follows_in_any_order: bool,
    follows_wire: bool,
    switches: PhantomData<S>,
}

impl<S: Ports> Build for Pointer<'_, S> {
    type Ports = S;
}

impl<'a, S> Pointer<'a, S> {
    pub fn new(probe: impl Probe + Send + 'a) -> Self {
        Self {
            follows_packets: probe.follows_packets(),
            follows_in_any_order: probe.follows_in_any_order(),
            follows_wire: probe.follows_wire(),
            observer: Box::new(probe),
            switches: PhantomData,
        }
    }

    /// This observer over a fabric for sets of ports of another size.
    pub fn over<T>(self) -> Pointer<'a, T> {
        let Self { observer, follows_packets, follows_in_any_order, follows_wire, .. } = self;
        Pointer { observer, follows_packets, follows_in_any_order, follows_wire, switches: PhantomData }
    }
}

impl<S> Pointer<'static, S> {
    /// The observer that this was made with.
    pub fn get<P: Probe + 'static>(&self) -> &P {
        self.observer.as_any().downcast_ref().expect("an observer keeps its type")
    }

    /// Likewise, to change it.
    pub fn get_mut<P: Probe + 'static>(&mut self) -> &mut P {
        self.observer.as_any_mut().downcast_mut().expect("an observer keeps its type")
    }

    /// Likewise, at the end.
    pub fn take<P: Probe + 'static>(self) -> P {
        *self.observer.into_any().downcast().expect("an observer keeps its type")
    }
}
