//! Who goes first: the policies, the cell clock and iSLIP.
//!
//! One choice serves all: a transmitter among its lanes, an output buffer among the inputs that want to enter
//! it, a virtual channel among its lanes. Pointers name who was served last, one for each output and
//! priority, and turn with every start (with output buffers: with every admission), also of a packet that
//! nobody competes with. Offers that nobody took leave no trace.

use super::Switch;
use crate::config::Arbitration;
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::choice::Device;
use crate::observe::Build;
use crate::ports::Ports;
use sim_core::{EventKey, EventList, Time};

impl<S: Ports> Switch<S> {
    /// A member of `set` by the policy of the switch, for packets of `priority` to `output`. `pointer` is who
    /// was served last, `stamp` when the first packet of a member arrived in the switch.
    #[inline(always)]
    pub fn choose<P: Build<Ports = S>>(
        &mut self,
        links: &Links<P>,
        (output, priority): (PortId, usize),
        set: S,
        pointer: u8,
        stamp: impl Fn(&Self, &Links<P>, u32) -> u32,
    ) -> u32 {
        match self.arbitration {
            Arbitration::RoundRobin | Arbitration::Islip { .. } => set.next_after(pointer),
            Arbitration::OldestFirst => oldest_of(set, |member| stamp(self, links, member)),
            Arbitration::LongestQueueFirst => {
                self.longest_of(set, priority, output - self.base).next_after(pointer)
            }
            Arbitration::Random => self.random_of(set),
        }
    }

    /// The members of a set of inputs from which most packets of `priority` wait for `out`.
    #[inline(never)]
    fn longest_of(&mut self, set: S, priority: usize, out: u32) -> S {
        let (mut most, mut longest) = (0, S::EMPTY);
        for input in set.members() {
            let length = self.queued(priority, input, out).map_or(0, |length| *length);
            if length > most {
                (most, longest) = (length, S::EMPTY);
            }
            longest |= S::one_if(input, length == most);
        }
        longest
    }

    /// A random member of a set, from the switch's own stream; no draw if there is no choice.
    #[inline(never)]
    fn random_of(&mut self, set: S) -> u32 {
        if set.without_first().is_empty() {
            return set.first();
        }
        let rng = self.rng.as_mut().expect("random arbitration has a stream");
        let mut left = set;
        for _ in 0..rng.below(u64::from(set.count())) {
            left = left.without_first();
        }
        left.first()
    }

    // --- all outputs together --------------------------------------------------------------------

    /// The instant at which the outputs of switch `s` choose together: the next tick of its cell clock, or,
    /// without one, the end of this instant. Posted once.
    pub(super) fn post_tick<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
    ) {
        let switch = &mut *self;
        if switch.tick_posted {
            return;
        }
        switch.tick_posted = true;
        let (device, slot) = (switch.device, switch.slot);
        let now = cx.now().0;
        // At a boundary this very instant still counts, because ticks come last; the tick itself asks for the
        // next one.
        let on_boundary = || now.is_multiple_of(slot) && cx.key() < EventKey::floor(Time(now), class::TICK);
        let at = match slot {
            // What links do when they train or time out comes after the ticks of its instant.
            0 => now + u64::from(cx.key() >= EventKey::floor(Time(now), class::HOST)),
            _ if on_boundary() => now,
            _ => (now / slot + 1) * slot,
        };
        let key = links.key(device, at, class::TICK);
        cx.post(key, links.nodes.switch(self.base).into(), Happening::Tick.pack());
    }
}

/// The member whose stamp is oldest; stamps wrap.
#[inline(never)]
fn oldest_of<S: Ports>(set: S, stamp: impl Fn(u32) -> u32) -> u32 {
    let mut best = set.first();
    let mut oldest = stamp(best);
    for lane in set.without_first().members() {
        let other = stamp(lane);
        if (other.wrapping_sub(oldest) as i32) < 0 {
            (best, oldest) = (lane, other);
        }
    }
    best
}

impl<S: Ports, P: Build<Ports = S>> Device<P> for Switch<S> {
    #[inline(always)]
    fn readable<L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        port: PortId,
        lanes: S,
        priority: usize,
    ) -> S {
        Switch::readable(self, links, cx, port, lanes, priority)
    }

    #[inline(always)]
    fn choose(
        &mut self,
        links: &Links<P>,
        queue: (PortId, usize),
        lanes: S,
        pointer: u8,
        stamp: impl Fn(&Links<P>, u32) -> u32,
    ) -> u32 {
        Switch::choose(self, links, queue, lanes, pointer, |_, links, lane| stamp(links, lane))
    }

    #[inline(always)]
    fn await_inputs<L: EventList<Payload>>(&mut self, links: &mut Links<P>, cx: &mut Cx<'_, L>, lanes: S) {
        Switch::await_inputs(self, links, cx, lanes);
    }
}
