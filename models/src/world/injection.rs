//! What endpoints do, made up when somebody can hear of it.
//!
//! A source tells nobody that it makes a packet, nor an endpoint that it starts one: the switch hears of it when
//! the packet is there. So if nothing can keep it from starting, one event does for both: what the endpoint was
//! due to do ([`due`](crate::link::port::Cold::due)) is done in the event of the arrival, as of its own key.
//!
//! | who looks before that | what follows |
//! |---|---|
//! | a message that may stop a queue, credit, a delivery, a sample, the watchdog, the end | all that was due by then is made up first ([`Fabric::make_up`]) |
//! | the switch, short of credit for packets to the endpoint | deliveries up to what is due are settled ([`Links::flush`]); that is enough, because the endpoint has room for all that can arrive in the time for which something is due |
//! | a status on the way back | it takes its place on the wire when the deliveries are settled, in their order and that of starts |
//! | credit told to the endpoint | has no effect as long as there is enough (`Endpoint::defers`) |
//!
//! [`Links::flush`]: crate::link::Links::flush

use crate::endpoint::Lag;
use crate::event::{Cx, Payload, class};
use crate::ids::{EndpointId, PortId};
use crate::link::credit::Lengths;
use crate::observe::Build;
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
        let mut sizes = vec![None::<(u16, u16)>; config.devices.len()];
        let mut closed = vec![false; config.devices.len()];
        for source in &config.sources {
            let size = &mut sizes[source.endpoint as usize];
            let one = source.lengths();
            *size = size.zip(one).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).or(*size).or(one);
            closed[source.endpoint as usize] |= source.is_closed_loop() || one.is_none();
        }
        for link in &config.links {
            for ((device, _), (other, _)) in [(link.a, link.b), (link.b, link.a)] {
                let (own, switch) = (self.links.nodes.first_port(device), self.links.nodes.first_port(other));
                let Some((least, _)) = sizes[device as usize] else { continue };
                if closed[device as usize] || !self.links.nodes.is_switch(switch) {
                    continue;
                }
                let timing = &self.links.timings[usize::from(self.links.ports[own.index()].tx.timing)];
                let first = match timing.header {
                    0 => u64::from(least),
                    header => header.min(least.into()),
                };
                let time = |octets: u64| (octets + timing.symbol_chars) * timing.char_num / timing.char_den;
                let ps = time(first) + timing.propagation + timing.pipeline;
                let starts = u16::try_from(ps.div_ceil(time(least.into()).max(1)) + 1).unwrap_or(u16::MAX);
                let receiver = &config.devices[device as usize].ports[0];
                if lengths.has_room(link, ps, receiver) {
                    let e = self.links.nodes.endpoint(own);
                    self.endpoints[e].lag = Some(Lag { ps, starts });
                }
            }
        }
    }

    /// Does what the endpoint was due to do before `key`.
    #[inline(always)]
    pub fn make_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId, key: EventKey) {
        let port = self.endpoints[e].port;
        if self.links.cold[port.index()].due.0 < key {
            self.make_up_due(cx, e, key);
        }
    }

    #[inline(never)]
    fn make_up_due<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId, key: EventKey) {
        let port = self.endpoints[e].port;
        loop {
            let due = self.links.cold[port.index()].due.0;
            if due >= key {
                return;
            }
            self.links.cold[port.index()].due.0 = EventKey::MAX;
            let endpoint = &mut self.endpoints[e];
            endpoint.generation = endpoint.generation.wrapping_add(1);
            if std::mem::take(&mut endpoint.inject_posted) {
                // Its event finds nothing to do, and must not keep a run going.
                self.links.observe.pending += 1;
            }
            if due.class() == class::DONE {
                self.links.ports[port.index()].tx.clock.end_posted = false;
            } else {
                endpoint.create_posted = false;
            }
            self.endpoint_turn(&mut cx.as_of(due), e);
        }
    }

    /// What an endpoint was due to do is made up, as its packet reaches the switch.
    #[inline(always)]
    pub(super) fn injected<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        generation: u32,
    ) {
        let e = self.links.nodes.endpoint(port);
        if self.endpoints[e].generation != generation {
            self.links.observe.pending -= 1;
            return;
        }
        self.endpoints[e].inject_posted = false;
        self.make_up_due(cx, e, cx.key());
        if let Some((to, packet, behind)) = self.links.take_reached() {
            self.past_pipeline(cx, to, packet, behind);
        }
    }
}
