//! What endpoints do, made up when somebody can hear of it.
//!
//! A source tells nobody that it makes a packet, nor an endpoint that it starts one: the switch hears of it
//! when the packet is there. So if nothing can keep it from starting, one event does for both: what the
//! endpoint was due to do ([`due`](crate::link::port::Cold::due)) is done in the event of the arrival, as of
//! its own key.
//!
//! Who looks before that:
//!
//! - Messages that may stop a queue, credit that wakes, samples, the watchdog, the end of a run: all that was
//!   due by then is made up first ([`Fabric::make_up`]).
//! - A message after which something is stopped, or at the instant of a creation: what is due later is an
//!   event after all ([`Fabric::withdraw`]).
//! - The switch, short of credit for packets to the endpoint: what arrived up to what is due is settled
//!   ([`Links::flush`]); that is enough, because the endpoint has room for all that can arrive while
//!   something is due ([`Lengths::has_room`]).
//! - Credit told to the endpoint changes nothing, as long as there is enough (`Endpoint::defers`).
//!
//! [`Links::flush`]: crate::link::Links::flush

use crate::endpoint::Lag;
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::{EndpointId, PortId};
use crate::link::credit::Lengths;
use crate::link::port::Due;
use crate::observe::Build;
use crate::ports::Ports as _;
use crate::world::Fabric;
use sim_core::{EventKey, EventList};

impl<P: Build> Fabric<P> {
    /// Decides whose packets may be made up.
    pub(super) fn set_up_lags(&mut self, lengths: &Lengths) {
        let config = self.links.config.clone();
        // Agents act on what arrives, a host that sets the fabric up changes it, links in symbol granularity
        // decide anew about each symbol, and who follows packets may want their steps in order.
        let probe = &self.links.observe.probe;
        let in_order = probe.follows_packets() && !probe.follows_in_any_order();
        if self.links.unfolded
            || !config.agents.is_empty()
            || config.enumeration.is_some()
            || !self.links.ends.is_empty()
            || in_order
        {
            return;
        }
        // Octets of the shortest packet of each endpoint; 0: a source of it hears of its packets.
        let mut shortest = vec![u16::MAX; config.devices.len()];
        for source in &config.sources {
            let own = source.lengths().filter(|_| !source.is_closed_loop()).map_or(0, |(least, _)| least);
            let least = &mut shortest[source.endpoint as usize];
            *least = own.min(*least);
        }
        for link in &config.links {
            for ((device, _), (other, _)) in [(link.a, link.b), (link.b, link.a)] {
                let (own, switch) = (self.links.nodes.first_port(device), self.links.nodes.first_port(other));
                let least = match shortest[device as usize] {
                    0 | u16::MAX => continue,
                    least => least,
                };
                if !self.links.nodes.is_switch(switch) {
                    continue;
                }
                let timing = &self.links.timings[usize::from(self.links.ports[own.index()].tx.timing)];
                let whole = timing.packet_chars(least) * timing.char_num / timing.char_den;
                let first = match timing.head_ps {
                    0 => whole,
                    head => head.min(whole),
                };
                let ps = first + timing.propagation + timing.pipeline;
                if lengths.has_room(link, ps, &config.devices[device as usize].ports[0]) {
                    let starts = ps.div_ceil(whole.max(1)) + 1;
                    let starts = u16::try_from(starts).expect("fewer than there are buffers for");
                    let e = self.links.nodes.endpoint(own);
                    self.endpoints[e].lags_by(Lag { ps, starts });
                }
            }
        }
    }

    /// Does what the endpoint was due to do before `key`, that of the event being handled.
    #[inline(always)]
    pub fn make_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId, key: EventKey) {
        if self.links.cold[self.endpoints[e].port.index()].due.0 < key {
            // Its event finds nothing to do, and must not keep a run going.
            self.links.observe.pending += 1;
            self.make_up_due(cx, e);
        }
    }

    /// Does what the endpoint was due to do before the event being handled, and what it was due to do then.
    #[inline(never)]
    fn make_up_due<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId) {
        let port = self.endpoints[e].port.index();
        loop {
            let due = std::mem::take(&mut self.links.cold[port].due).0;
            if due.class() == class::DONE {
                self.links.ports[port].tx.clock.end_posted = false;
            } else {
                self.endpoints[e].create_posted = false;
            }
            let mut then = cx.as_of(due);
            let left = self.endpoints[e].turn(&mut self.links, &mut then);
            debug_assert!(left.is_none(), "a packet of a source is nobody's else");
            if self.links.cold[port].due.0 == EventKey::MAX {
                self.endpoints[e].rest(&mut self.links, &mut then);
            }
            if self.links.cold[port].due.0 >= cx.handled() {
                return;
            }
        }
    }

    /// A message was heard. What the endpoint is due to do is an event after all, at its own time,
    ///
    /// - if something is stopped, so that no packet may start thereby: a run must not wait for it;
    /// - if it is a creation of this instant, which has been made before the message was obeyed. Its packet
    ///   may start now, and its end comes before what is due could be made up.
    pub(super) fn withdraw<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId) {
        let port = self.endpoints[e].port;
        let cold = &mut self.links.cold[port.index()];
        let due = cold.due.0;
        let stopped = self.links.ports[port.index()].tx.parked_any || !cold.stopped_lanes.is_empty();
        if due == EventKey::MAX || !stopped && due.time() > cx.now() {
            return;
        }
        cold.due = Due::default();
        // As where it is made up.
        self.links.observe.pending += 1;
        let what = if due.class() == class::DONE { Happening::Done } else { Happening::Create };
        cx.post(due, port.into(), what.pack());
    }

    /// What an endpoint was due to do is made up, as its packet reaches the switch: the port there, the
    /// packet, and how much of it comes later. `None`: it has been made up before, or its packet comes later.
    #[inline(always)]
    pub(super) fn inject_due<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) -> Option<(PortId, u32, u32)> {
        let e = self.links.nodes.endpoint(port);
        let due = self.links.cold[port.index()].due.0;
        if self.endpoints[e].lag().is_none_or(|lag| lag.told(due) != cx.key()) {
            self.links.observe.pending -= 1;
            return None;
        }
        self.make_up_due(cx, e);
        self.links.take_reached()
    }
}
