//! Refreshes: what a port has told of congestion is told again now and then. As long as no message was lost
//! and no register was written they repeat what the neighbour knows, so they are no events.

use crate::event::{Cx, Happening, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::special;
use crate::link::symbol::End;
use crate::link::wire::Function;
use crate::observe::Build;
use sim_core::EventList;

impl<P: Build> Links<P> {
    /// Charges the refreshes that fell due while the direction was not used: one run before the packet. They
    /// repeat what the neighbour knows, so they are no events.
    #[inline]
    pub fn charge_refresh(&mut self, port: PortId, now: u64) {
        if now >= self.ports[port.index()].tx.refresh_at {
            self.charge_due_refresh(port, now);
        }
    }

    #[cold]
    fn charge_due_refresh(&mut self, port: PortId, now: u64) {
        let tx = &mut self.ports[port.index()].tx;
        let cold = &mut self.cold[port.index()];
        let linked = |end: &Option<Box<End>>| end.as_ref().is_some_and(|end| end.is_linked());
        if cold.refresh_event == now || self.ends.get(port.index()).is_some_and(linked) {
            // Linked with channels: behind the packet. Or the event of this instant sends it.
            return;
        }
        tx.refresh_at = due_after(tx.refresh_at, now, cold.refresh_every);
        cold.stats.voq_refreshes += 1;
        let groups = self.voq_groups(port);
        let link = &self.ports[port.index()].link;
        let (timing, checks) =
            (self.timings[link.timing as usize].wire, link.special() & special::CHECK != 0);
        for group in 0..groups {
            let slot = self.ports[port.index()].link.wire.due(now, Function::Stype2, timing);
            if let Some(Some(end)) = self.ends.get_mut(port.index()) {
                end.note_place(now, slot.start);
            }
            let stats = &mut self.cold[port.index()].stats;
            stats.voq_refresh_messages += 1;
            if slot.riding {
                stats.voq_riding += 1;
            } else {
                stats.voq_standalone += 1;
            }
            if checks {
                self.check_repeated(port, slot.start, group);
            }
        }
    }

    /// A message was lost, or a status has changed that is not told for its own sake: the next refresh of
    /// this port can change the neighbour, so it is an event, one for all of that before it.
    pub fn schedule_refresh<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let due = self.ports[port.index()].tx.refresh_at;
        let cold = &self.cold[port.index()];
        if due != u64::MAX && cold.refresh_event == u64::MAX {
            let at = due_after(due, cx.now().0, cold.refresh_every);
            self.post_refresh(cx, port, at);
        }
    }

    pub fn post_refresh<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, at: u64) {
        self.cold[port.index()].refresh_event = at;
        let key = self.key(self.ports[port.index()].link.device, at, class::SYMBOL);
        cx.post(key, port.into(), Happening::Refresh.pack());
    }

    /// Whether the refresh that is due now is still owed.
    pub fn takes_refresh(&mut self, now: u64, port: PortId) -> bool {
        let tx = &mut self.ports[port.index()].tx;
        let cold = &mut self.cold[port.index()];
        if tx.refresh_at == u64::MAX || cold.refresh_event != now {
            // The port was disabled meanwhile; enabled again it has another one.
            return false;
        }
        cold.refresh_event = u64::MAX;
        cold.stats.voq_refreshes += 1;
        // What fell due before is sent with it.
        tx.refresh_at = due_after(tx.refresh_at, now, cold.refresh_every);
        let groups = u64::from(self.voq_groups(port));
        let end = self.ends.get(port.index()).and_then(Option::as_ref);
        let channels = u64::from(end.map_or(0, |end| end.linked_channels()));
        self.cold[port.index()].stats.voq_refresh_messages += groups * (1 + channels);
        true
    }

    /// How many VoQ messages tell of all ports of the device of `port`: each is about six.
    pub(super) fn voq_groups(&self, port: PortId) -> u8 {
        let device = self.ports[port.index()].link.device;
        self.config.devices[device as usize].ports.len().div_ceil(6) as u8
    }
}

/// The first instant after `now` of those from `due` on, `every` apart.
pub(super) fn due_after(due: u64, now: u64, every: u64) -> u64 {
    if due > now { due } else { due + ((now - due) / every + 1) * every }
}
