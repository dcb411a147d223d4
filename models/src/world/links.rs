//! What happens on links that need more than the closed form: a step of a link is done there, and what
//! follows from it is carried out by the device.
//!
//! Two things are done to both ends at one instant: the scenario takes a link down or up (`take_down`,
//! `bring_up`), for a cable is pulled or plugged in for both; and a link changes its granularity (`enter`).

use crate::config::FaultAction;
use crate::event::{Cx, Happening, LinkStep, Payload};
use crate::ids::{EndpointId, Node, PortId};
use crate::link::interleave::{Ended, Turn};
use crate::link::symbol::Judged;
use crate::observe::Build;
use crate::world::Fabric;
use sim_core::{Duration, EventList};

impl<P: Build> Fabric<P> {
    /// Something happens on a link.
    pub(super) fn link_event<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        target: PortId,
        step: LinkStep,
    ) {
        // Errors alone do not keep a run going, and nobody waits for news of buffers.
        if !matches!(step, LinkStep::Error | LinkStep::Credit { .. }) {
            self.links.observe.last_event = cx.now().0;
        }
        match step {
            LinkStep::Poll => self.poll(cx, target),
            LinkStep::Symbol => self.symbol_arrives(cx, target),
            LinkStep::Control => {
                self.prune_reads(cx, target);
                if self.links.control(cx.key(), target) {
                    self.after_link_port(cx, target, false);
                }
            }
            LinkStep::Arrive { packet, behind } => self.packet_arrives(cx, target, packet, behind),
            LinkStep::Timer { generation } => self.deadline(cx, target, generation),
            LinkStep::Error => self.error(cx, target),
            LinkStep::Idle => {
                self.links.idle_damage(target);
                self.after_link_port(cx, target, false);
                self.links.ask_until_up(cx, target);
            }
            LinkStep::Enter => {
                self.enter(cx, target);
                self.links.stay(cx.now().0, target);
            }
            LinkStep::Resume => self.after_link_port(cx, target, false),
            LinkStep::Tell => {
                self.prune_reads(cx, target);
                self.links.tell_now(target);
                self.after_link_port(cx, target, false);
                self.links.tell_until_up(cx, target);
            }
            LinkStep::Fault => self.fault(cx, target.into()),
            LinkStep::Register => self.write_voq(cx, target.into()),
            LinkStep::Credit { channel } => self.credit_returned(cx, target, channel),
            LinkStep::Left => self.message_ended(cx, target),
            LinkStep::Pins { packet, behind } => self.links.message_at_pins(cx, target, packet, behind),
            LinkStep::Reach { packet, behind } => self.message_reached(cx, target, packet, behind),
            LinkStep::Border => self.border(cx, target),
        }
    }

    // --- in symbol granularity -------------------------------------------------------------------

    /// A symbol reaches `port`.
    pub(super) fn symbol_arrives<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let now = cx.now().0;
        let Some(symbol) = self.links.take_symbol(cx.key(), port) else { return };
        if !symbol.damaged {
            self.materialise_due(cx, port, self.links.ports[port.index()].tx.credit_waiting);
        }
        self.prune_reads(cx, port);
        let second = self.links.receive_symbol(cx, port, &symbol);
        self.after_link_port(cx, port, true);
        if let Some(key) = second {
            self.prune_reads(cx, port);
            if self.links.control(key, port) {
                self.after_link_port(cx, port, false);
            }
        }
        self.links.try_leave(now, port);
    }

    /// Unfolded: the deciding octet has arrived; the pipeline, if there is one, becomes an event with the
    /// same order.
    pub(super) fn waits_in_pipeline<L: EventList<Payload>>(
        &self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        behind: u32,
    ) -> bool {
        let pipeline = self.links.arriving(port).pipeline;
        if pipeline != 0 {
            let key = cx.key().later(Duration(pipeline));
            cx.post(key, port.into(), Happening::Ready { packet, from_wire: true, behind }.pack());
        }
        pipeline != 0
    }

    /// A packet has passed the pipeline of the device of `port`.
    #[inline(always)]
    pub(super) fn past_pipeline<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        behind: u32,
    ) {
        if self.links.is_symbolic(port) {
            self.packet_arrives(cx, port, packet, behind);
        } else {
            self.arrive(cx, port, packet, behind);
        }
    }

    /// The input side of `port` gets to a packet.
    #[cold]
    pub(super) fn packet_arrives<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        behind: u32,
    ) {
        self.prune_reads(cx, port);
        let node = self.links.nodes.node(port);
        match (self.links.judge(cx, port, packet, behind), node) {
            (Judged::Gone, _) => {}
            (Judged::Refused, _) => self.after_link_port(cx, port, false),
            (Judged::Accepted, Node::Switch(_)) => self.arrive(cx, port, packet, behind),
            (Judged::Accepted, Node::Endpoint(_)) => self.reach_endpoint(cx, port, packet, cx.now()),
            (Judged::AcceptedInChannel(channel), node) => {
                match node {
                    Node::Switch(s) => {
                        self.switches[s].arrive_in_channel(&mut self.links, cx, port, packet, channel);
                    }
                    Node::Endpoint(_) => self.links.deliver(port, packet, cx.now()),
                }
                self.prune_reads(cx, port);
                self.links.tell_of_channel(port, Some(channel));
                self.after_link_port(cx, port, false);
            }
        }
    }

    /// A deadline of the link port.
    fn deadline<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, generation: u32) {
        if self.links.is_deadline(cx, port, generation) {
            self.materialise_due(cx, port, false);
            self.links.time_out(cx.now().0, port);
            self.after_link_port(cx, port, false);
        }
    }

    /// A place on the wire of `port`: what leaves there.
    fn poll<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        if self.links.poll(cx, port) {
            if let Some(carrier) = self.links.linked_carrier(port) {
                self.tell(cx, port, |backpressure, links, cx, port| {
                    backpressure.send_linked(links, cx, port, carrier);
                });
            }
            self.take_news(cx, port);
            self.links.sync(cx.now().0, port);
            self.links.arrange(cx, port);
        }
    }

    /// The buffers of `port` are about to be counted: reads that ended without an event are over.
    fn prune_reads<L: EventList<Payload>>(&mut self, cx: &Cx<'_, L>, port: PortId) {
        if let Node::Switch(s) = self.links.nodes.node(port) {
            let switch = &mut self.switches[s];
            switch.prune(&mut self.links, port - switch.base, cx.key());
        }
    }

    /// Creations come before what changes the credit that they would find: those before now, or also those of
    /// now if somebody waits for the change.
    fn materialise_due<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, waits: bool) {
        if let Node::Endpoint(e) = self.links.nodes.node(port)
            && (waits || self.links.ports[port.index()].tx.clock.blocked() != 0)
            && let Some(until) = cx.now().0.checked_sub(u64::from(!waits))
        {
            self.endpoints[e].materialise(&mut self.links, cx, until);
        }
    }

    /// The link of `port` runs in symbol granularity from now on; all symbols of this instant have left.
    fn enter<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        if !self.links.is_watched(port) {
            return;
        }
        let ports = self.links.ends_of(port);
        for port in ports {
            if let Node::Endpoint(e) = self.links.nodes.node(port) {
                self.endpoints[e].materialise(&mut self.links, cx, cx.now().0);
                self.flush(cx, port, cx.key());
            }
        }
        self.links.enter(cx, ports);
        for port in ports {
            self.prune_reads(cx, port);
            self.links.entered(cx, port);
        }
    }

    /// A character that leaves `port` now is damaged.
    fn error<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        self.links.observe.pending -= 1;
        // Errors alone do not keep a run going.
        if cx.pending() == self.links.observe.pending {
            self.settle(cx, cx.key());
            if self.links.is_idle(cx) && !self.links.symbols_under_way(cx.now().0) {
                return;
            }
        }
        self.enter(cx, port);
        self.links.damage(cx, port);
    }

    /// A scheduled fault.
    fn fault<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, number: u32) {
        let fault = self.links.config.faults[number as usize];
        let link = &self.links.config.links[fault.link as usize];
        let ports = [link.a, link.b].map(|(device, port)| self.links.nodes.port((device, port)));
        match fault.action {
            FaultAction::Down => self.take_down(cx, ports),
            FaultAction::Up => self.bring_up(cx, ports),
            FaultAction::Lanes(lanes) => ports.iter().for_each(|&port| self.links.take_lanes(port, lanes)),
            FaultAction::Credits(side, told) => {
                let port = ports[usize::from(side)];
                self.prune_reads(cx, port);
                self.links.withhold_credits(port, !told);
                self.after_link_port(cx, port, false);
            }
        }
    }

    fn bring_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, ports: [PortId; 2]) {
        for port in ports {
            self.prune_reads(cx, port);
            self.links.bring_up(cx, port);
        }
    }

    fn take_down<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, ports: [PortId; 2]) {
        for port in ports {
            self.materialise_due(cx, port, false);
            if self.links.take_down(cx.now().0, port)
                && let Node::Switch(s) = self.links.nodes.node(port)
                && let Some(backpressure) = &mut self.switches[s].backpressure
            {
                backpressure.originator.link_down((port - backpressure.base) as u16);
            }
        }
        for port in ports {
            self.after_link_port(cx, port, false);
        }
    }

    // --- on other media --------------------------------------------------------------------------

    /// The sender of `port` hears of a free place.
    fn credit_returned<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, channel: u32) {
        let now = cx.now().0;
        match self.links.nodes.node(port) {
            Node::Switch(s) => {
                let switch = &mut self.switches[s];
                if self.links.credit_returned(now, port, channel) {
                    switch.try_output(&mut self.links, cx, port);
                }
                // Or somebody waits while a message of another channel is on the wire.
                switch.look(&mut self.links, cx);
            }
            Node::Endpoint(e) => {
                self.endpoints[e].materialise(&mut self.links, cx, now);
                if self.links.credit_returned(now, port, channel) {
                    self.endpoint_turn(cx, e);
                }
            }
        }
        self.links.may_pass(cx, port);
    }

    /// A message of a channel that shares its link has reached the device of `port`.
    fn message_reached<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        behind: u32,
    ) {
        match self.links.nodes.node(port) {
            Node::Switch(s) => {
                self.arrive(cx, port, packet, behind);
                self.switches[s].look(&mut self.links, cx);
            }
            Node::Endpoint(_) => {
                self.links.return_at_sink(cx, port, packet);
                self.reach_endpoint(cx, port, packet, cx.now());
            }
        }
    }

    /// A transmission of `port` was to end now.
    fn message_ended<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let e = match self.links.nodes.node(port) {
            Node::Switch(s) => return self.switches[s].message_ended(&mut self.links, cx, port),
            Node::Endpoint(e) => e,
        };
        let Some(Ended { channel, whole }) = self.links.message_ended(cx, port) else { return };
        let turn = self.links.next_turn(&mut self.endpoints[e], cx, port, channel);
        self.take_turn(cx, e, turn);
        if whole && self.links.interleaved(port).is_some_and(|messages| messages.is_free()) {
            self.endpoint_turn(cx, e);
        }
    }

    /// A border of micropackets at `port`, where a message was to stop.
    fn border<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        match self.links.nodes.node(port) {
            Node::Switch(s) => self.switches[s].border(&mut self.links, cx, port),
            Node::Endpoint(e) => {
                let turn = self.links.border(&mut self.endpoints[e], cx, port);
                self.take_turn(cx, e, turn);
            }
        }
    }

    fn take_turn<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: EndpointId, turn: Option<Turn>) {
        if let Some(Turn::Begins(packet)) = turn
            && let Some(left) = self.endpoints[e].start(&mut self.links, cx, packet)
        {
            self.packet_left(cx, e, left);
        }
    }

    // --- deliveries ------------------------------------------------------------------------------
}
