//! What reaches a device: packets at an endpoint, and what the link of a port has to say.

use crate::event::{Cx, Payload};
use crate::ids::{Node, PortId};
use crate::link::port::Mode;
use crate::link::symbol::News;
use crate::observe::Build;
use crate::world::Fabric;
use sim_core::{EventKey, EventList, Time};

impl<P: Build> Fabric<P> {
    /// The link port of `port` has met something: what follows from it. `heard`: a symbol, which may change
    /// the credit that somebody waits for.
    pub fn after_link_port<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, heard: bool) {
        match self.links.nodes.node(port) {
            Node::Switch(s) => self.switches[s].after_link_port(&mut self.links, cx, port, heard),
            Node::Endpoint(e) => {
                self.take_news(cx, port);
                if self.links.settle_end(cx, port, heard) {
                    self.endpoint_turn(cx, e);
                }
            }
        }
    }

    /// Acts on the news of the link port of `port`. Afterwards what was created before now has been made up.
    pub fn take_news<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let e = match self.links.nodes.node(port) {
            Node::Switch(s) => return self.switches[s].take_news(&mut self.links, cx, port),
            Node::Endpoint(e) => e,
        };
        let now = cx.now().0;
        while let Some(news) = self.links.next_news(cx, port) {
            if news == News::Initialised {
                for clear in self.links.all_clear(port) {
                    if self.links.apply_message(now, port, clear).is_some() {
                        self.endpoint_turn(cx, e);
                    }
                }
            }
        }
        if let Some(until) = now.checked_sub(1) {
            self.endpoints[e].materialise(&mut self.links, cx, until);
        }
    }

    /// Delivers everything that has arrived at the sink behind `port` by `key` (inclusive).
    pub fn flush<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, key: EventKey) {
        self.make_up(cx, self.links.nodes.endpoint(port), key);
        while self.links.flush(cx, port, key) {
            let next = self.links.cold[port.index()].in_flight.pop_front();
            let (at, packet) = next.expect("a packet of an agent comes next");
            self.reach_endpoint(cx, port, packet, at.time());
        }
    }

    /// A packet reaches the endpoint behind `port` at `at`, with what it carries.
    pub(super) fn reach_endpoint<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        at: Time,
    ) {
        if self.links.packets[packet].is_of_agent() {
            let id = self.links.packets[packet].destination_id();
            let delivery = self.links.delivery(port, packet, at);
            self.links.deliver(port, packet, at);
            self.make_status(cx, port, at.0);
            self.deliver_cargo(cx, port, packet, id, &delivery);
        } else {
            self.links.deliver(port, packet, at);
            self.make_status(cx, port, at.0);
        }
    }

    /// The receiver of an endpoint tells of a packet that it has taken at `t`.
    pub fn make_status<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, t: u64) {
        match self.links.ports[port.index()].link.mode() {
            Mode::Closed => {
                self.links.place_status(cx, port, t, 1);
            }
            Mode::Symbols => {
                self.links.acknowledge(port);
                self.after_link_port(cx, port, false);
            }
            // Only what becomes free is told.
            Mode::Medium | Mode::Interleaved => {}
        }
    }

    /// Settles everything that is due before `key` but that nobody has needed yet.
    pub fn settle<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, key: EventKey) {
        self.settle_until(cx, key, key.time().0);
    }

    /// Settles what is due before `key`, with creations up to `created` only.
    pub fn settle_until<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, key: EventKey, created: u64) {
        for e in self.endpoints.ids() {
            let port = self.endpoints[e].port;
            self.flush(cx, port, key);
            self.endpoints[e].materialise(&mut self.links, cx, created);
        }
        for switch in self.switches.iter_mut() {
            for input in 0..switch.ports {
                switch.prune(&mut self.links, input, key);
            }
        }
    }
}
