//! stype2 messages on symbolic links: they are lost with their symbols, and told again after recovery.

use crate::event::{Cx, Happening, Payload};
use crate::link::Links;
use crate::observe::probe::Probe;
use crate::world::Fabric;
use lp_serial::Form;
use sim_core::{EventKey, EventList};
use voq_backpressure::Message;

impl<P: Probe> Links<P> {
    /// The symbol of a message leaves now, sound or damaged.
    pub(super) fn send_message<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        (key, field): (EventKey, u16),
        damaged: bool,
    ) {
        if damaged {
            self.message_lost(port);
            self.schedule_refresh(cx, port);
        } else {
            cx.post(key, self.ports[port as usize].tx.peer, Happening::Message { field }.pack());
        }
    }

    pub(super) fn message_lost(&mut self, port: u32) {
        let cold = &mut self.cold[port as usize];
        cold.messages_on_wire -= 1;
        cold.stats.voq_lost += 1;
    }
}

impl<P: Probe> Fabric<P> {
    /// Whether a symbol leaves `port` now that can carry the message which was placed here. If the wire has
    /// changed since, it gets another place.
    pub(crate) fn has_place<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) -> bool {
        let now = cx.now().0;
        let end = self.links.end(port);
        if !end.link.is_up() {
            // Told when the link is up again.
            self.links.ports[port as usize].tx.voq_pending = false;
            return false;
        }
        let free = end.places.contains(&now) && end.polled <= now && end.message.is_none();
        if !free {
            self.place_message(cx, port);
        }
        free
    }

    /// The output side of `port` has recovered from an error: what it had told may have been lost (Part 12
    /// §4.2 g).
    pub(super) fn link_recovered<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        self.originate(cx, port, |originator, p| {
            originator.link_recovered(p);
        });
    }

    /// The link of `port` is lost.
    pub(super) fn link_lost(&mut self, port: u32) {
        if self.links.nodes.is_switch(port) {
            let switch = &mut self.switches[self.links.nodes.switch(port)];
            if let Some(originator) = &mut switch.originator {
                originator.link_down((port - switch.base) as u16);
            }
        }
    }

    /// The link of `port` is initialised: its neighbour knows nothing, and what the neighbour had said is
    /// void.
    pub(super) fn link_initialised<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let form = self.links.end(port).link.config().form;
        if form == Form::Long {
            self.originate(cx, port, |originator, p| {
                originator.link_up(p, form);
            });
        }
        let ports =
            self.links.cold[port as usize].staging.as_ref().map_or(0, |staging| staging.queue_of_port.len());
        for group in 0..ports.div_ceil(6) as u8 {
            let clear = Message::new(group, 0).expect("ports are below 192");
            self.obey(cx, port, clear.to_field());
        }
    }

    fn originate<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        what: impl FnOnce(&mut voq_backpressure::Originator, u16),
    ) {
        if !self.links.nodes.is_switch(port) {
            return;
        }
        let switch = &mut self.switches[self.links.nodes.switch(port)];
        let p = (port - switch.base) as u16;
        let Some(originator) = &mut switch.originator else { return };
        what(originator, p);
        if originator.needs_symbol(p) {
            self.request_message(cx, port);
        }
    }
}
