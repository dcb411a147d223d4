//! What an event to come will touch, asked for ahead of it.
//!
//! In a large fabric nothing of a hop is left in the caches when its next step comes (ARCHITECTURE.md, "Lines
//! that a hop touches"), and most of it lies behind something that is not there either: a route behind a
//! switch, a packet behind a list behind an output. So each event is looked at several times, one step along
//! that chain each: what is fetched at one distance is there to be read at the next. All of it is a guess,
//! and nothing depends on it.

use super::{Fabric, Foresight};
use crate::event::{Happening, Payload};
use crate::ids::{EndpointId, Node, PortId, SwitchId};
use crate::observe::Build;
use crate::packet::Lane;
use crate::ports::Ports;
use crate::switch::Switch;
use sim_core::{Ahead, Event, prefetch};

impl<P: Build> Fabric<P> {
    /// Asks for what is known of `event` at this distance.
    #[inline(always)]
    pub(super) fn fetch(&self, event: &Event<Payload>, ahead: Ahead) {
        let port = PortId::new(event.target);
        if port.index() >= self.links.ports.len() {
            // The targets of some events are no ports.
            return;
        }
        match event.payload.unpack() {
            Happening::Arrive { packet, destination, .. } => {
                if ahead == Ahead::Far {
                    self.links.packets.prefetch(packet);
                }
                self.fetch_arrival(port, destination, ahead);
            }
            Happening::Inject => {
                let e = self.links.nodes.endpoint(port);
                self.fetch_endpoint(port, e, ahead);
                // What is known of its packet comes one step later than of one that is under way.
                let known = match ahead {
                    Ahead::Far => None,
                    Ahead::Middle => Some((Ahead::Far, 0)),
                    Ahead::Near => self.endpoints[e].makes_for().map(|id| (Ahead::Middle, id)),
                    Ahead::Next => self.endpoints[e].makes_for().map(|id| (Ahead::Near, id)),
                };
                if let Some((ahead, id)) = known
                    && let Some(to) = self.links.across(port)
                {
                    self.fetch_arrival(to, id as u16, ahead);
                }
            }
            Happening::Done => match self.links.nodes.node(port) {
                Node::Switch(s) => self.fetch_end(port, s, ahead),
                Node::Endpoint(e) => self.fetch_endpoint(port, e, ahead),
            },
            Happening::Create => self.fetch_endpoint(port, self.links.nodes.endpoint(port), ahead),
            Happening::Host(_) | Happening::Deliver if ahead == Ahead::Next => {
                let port_state = &self.links.ports[port.index()];
                port_state.tx.prefetch();
                prefetch(&port_state.rx);
                self.prefetch_agent(port);
            }
            _ if ahead == Ahead::Next => prefetch(&self.links.ports[port.index()].link),
            _ => {}
        }
    }

    #[inline(always)]
    fn fetch_arrival(&self, port: PortId, destination: u16, ahead: Ahead) {
        let links = &self.links;
        let rx = &links.ports[port.index()].rx;
        let Node::Switch(s) = links.nodes.node(port) else { return };
        let switch = &self.switches[s];
        if ahead == Ahead::Far {
            prefetch(rx);
            prefetch(&links.ports[port.index()].link);
            switch.prefetch();
            return;
        }
        // Very large tables are not in a cache: their blocks are asked for one step before they are read.
        let (is_crowded, id) = (self.foresight == Foresight::Crowded, destination.into());
        if ahead == Ahead::Middle && is_crowded {
            switch.routes.prefetch(id);
            return;
        }
        let Some(hop) = switch.routes.get(id) else { return };
        let out = u32::from(hop.egress);
        if out >= switch.ports {
            return;
        }
        let output = switch.base + out;
        let input = port - switch.base;
        let Some(queue) = self.queue_of(switch, input, out) else { return };
        if ahead == Ahead::Middle || ahead == Ahead::Near && is_crowded {
            links.prefetch_output(output);
            prefetch(queue);
        }
        match ahead {
            Ahead::Near => {
                switch.prefetch_cell(links, (input, out));
                // Who sent it is told that it was accepted.
                links.prefetch_sender(port);
                // Who still reads its input is asked for how long.
                if let Some(reader) = rx.readers.members().next() {
                    links.ports[(switch.base + reader).index()].tx.prefetch_waiting();
                }
                prefetch(&links.keys[rx.device as usize]);
                if !is_crowded {
                    links.prefetch_sink(output);
                }
            }
            Ahead::Next => {
                links.packets.prefetch_tail(&queue.list);
                links.prefetch_told(output);
                if is_crowded {
                    links.prefetch_sink(output);
                } else {
                    links.prefetch_flight(output);
                }
            }
            _ => {}
        }
    }

    /// The transmission of an output is over: its input can be read again, and its next packet starts.
    #[inline(always)]
    fn fetch_end(&self, port: PortId, s: SwitchId, ahead: Ahead) {
        let links = &self.links;
        let output = &links.ports[port.index()];
        let tx = &output.tx;
        let switch = &self.switches[s];
        if ahead == Ahead::Far {
            links.prefetch_output(port);
            switch.prefetch();
            return;
        }
        let readable = tx.mask[0] & !switch.reading;
        let lanes = if readable.is_empty() { tx.mask[0] } else { readable };
        let lane = if lanes.is_empty() { None } else { Some(lanes.next_after(tx.pointers[0])) };
        let queue = lane.and_then(|lane| links.lanes.lowest(tx.lanes + lane));
        let read = Some(u32::from(tx.reading)).filter(|&input| input < switch.ports);
        let next = lane.filter(|&lane| lane < switch.ports);
        match ahead {
            Ahead::Far | Ahead::Middle => {
                for input in [read, next].into_iter().flatten() {
                    let input = switch.base + input;
                    prefetch(&links.ports[input.index()].rx);
                    prefetch(&links.ports[input.index()].link);
                }
                if let Some(queue) = queue {
                    prefetch(queue);
                }
                if let Some(input) = next {
                    switch.prefetch_cell(links, (input, port - switch.base));
                }
                prefetch(&links.keys[output.link.device as usize]);
                links.prefetch_sink(port);
            }
            Ahead::Near => {
                if let Some(queue) = queue {
                    links.packets.prefetch(queue.list.head);
                }
                for input in [read, next].into_iter().flatten() {
                    links.prefetch_sender(switch.base + input);
                }
                for (output, queue) in self.waiting_for(s, read) {
                    links.ports[output.index()].tx.prefetch();
                    prefetch(queue);
                }
            }
            Ahead::Next => {
                links.prefetch_told(port);
                links.prefetch_flight(port);
                for (_, queue) in self.waiting_for(s, read) {
                    links.packets.prefetch(queue.list.head);
                }
            }
        }
    }

    /// Outputs that idle until input `read` can be read again, and the queues of what they want of it; two at
    /// most.
    #[inline(always)]
    fn waiting_for(&self, s: SwitchId, read: Option<u32>) -> impl Iterator<Item = (PortId, &Lane)> {
        let switch = &self.switches[s];
        let idle =
            |input: u32| self.links.ports[(switch.base + input).index()].rx.wanted & switch.waiting_outputs;
        let outputs =
            read.into_iter().flat_map(move |input| idle(input).members().map(move |out| (input, out)));
        let queue = move |(input, out)| Some((switch.base + out, self.queue_of(switch, input, out)?));
        outputs.take(2).filter_map(queue)
    }

    /// Where packets of `input` wait for output `out`.
    #[inline(always)]
    fn queue_of(&self, switch: &Switch<P::Ports>, input: u32, out: u32) -> Option<&Lane> {
        self.links.lanes.lowest(switch.lane(input, out))
    }

    /// An endpoint makes a packet or sends the next one, and looks at what has come.
    #[inline(always)]
    fn fetch_endpoint(&self, port: PortId, e: EndpointId, ahead: Ahead) {
        let links = &self.links;
        let own = &links.ports[port.index()];
        let endpoint = &self.endpoints[e];
        let in_flight = &links.cold[port.index()].in_flight;
        let waiting = links.lanes.lowest(own.tx.lanes);
        match ahead {
            Ahead::Far => {
                own.tx.prefetch();
                prefetch(&own.link);
                prefetch(&own.rx);
                prefetch(endpoint);
                prefetch(in_flight);
            }
            Ahead::Middle => {
                if let Some(source) = endpoint.sources.first() {
                    source.prefetch();
                }
                prefetch(&*endpoint.next_hop);
                if let Some(first) = in_flight.front() {
                    prefetch(first);
                }
                if let Some(waiting) = waiting {
                    prefetch(waiting);
                }
                prefetch(&links.keys[own.link.device as usize]);
                links.prefetch_sender(port);
            }
            Ahead::Near => {
                if let Some(source) = endpoint.sources.first() {
                    source.prefetch_rest();
                }
                for &(_, packet) in in_flight.iter().take(2) {
                    links.packets.prefetch_all(packet);
                }
                if let Some(waiting) = waiting {
                    links.packets.prefetch(waiting.list.head);
                }
                if let Some(id) = endpoint.aims_at() {
                    endpoint.next_hop.prefetch_block(id as usize);
                }
            }
            Ahead::Next => {
                if let Some(id) = endpoint.aims_at() {
                    endpoint.next_hop.prefetch_entry(id as usize);
                }
            }
        }
    }
}
