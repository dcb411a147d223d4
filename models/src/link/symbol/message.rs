//! stype2 messages on symbolic links: they are lost with their symbols, and told again after recovery.

use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::observe::Build;
use lp_serial::Form;
use lp_serial::control_symbol::ControlSymbol;
use sim_core::{EventKey, EventList};

/// Where a message that was placed at an instant leaves.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum MessagePlace {
    Here,
    /// The wire has changed since: it gets another place.
    Later,
    NoLink,
}

impl<P: Build> Links<P> {
    /// The symbol of a message leaves now, sound or damaged.
    pub(super) fn send_message<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        (key, field): (EventKey, u16),
        damaged: bool,
    ) {
        if damaged {
            self.message_lost(port);
            self.schedule_refresh(cx, port);
        } else {
            self.post_message(cx, port, key, (0, field));
        }
    }

    /// The symbol that has just left `port` can carry a message: which one, and whether it is damaged.
    pub fn linked_carrier(&mut self, port: PortId) -> Option<(ControlSymbol, bool)> {
        self.end(port).carries.take()
    }

    /// The last message of `port` is lost with its symbol.
    pub fn linked_lost<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        self.cold[port.index()].stats.voq_lost += 1;
        self.schedule_refresh(cx, port);
    }

    pub(super) fn message_lost(&mut self, port: PortId) {
        let cold = &mut self.cold[port.index()];
        cold.messages_on_wire -= 1;
        cold.stats.voq_lost += 1;
    }

    /// Whether a symbol leaves `port` now that can carry the message which was placed here.
    pub fn place_for_message(&mut self, now: u64, port: PortId) -> MessagePlace {
        let end = self.end(port);
        if !end.link.is_up() {
            // Told when the link is up again.
            self.ports[port.index()].tx.voq_pending = false;
            return MessagePlace::NoLink;
        }
        let free = end.places.contains(&now) && end.polled <= now && end.message.is_none();
        if free { MessagePlace::Here } else { MessagePlace::Later }
    }

    /// Which symbols the link of `port` has.
    pub fn form(&self, port: PortId) -> Form {
        let end = self.ends[port.index()].as_ref().expect("the link runs in symbol granularity");
        end.link.config().form
    }
}
