//! Where a fabric is cut into parts: what leaves a part for another, and what comes from there.
//!
//! Every part has ports for the whole fabric. Those of other parts are *shadows*: they keep what both ends of
//! a link know, and gather what is written to them. Nothing crosses before the window in which it was made is
//! over; it bears the key that it would have without a cut, which lies in a later window
//! ([`lookahead`]). So the parts see what one fabric would see, at the same keys.
//!
//! Two abbreviations of `mail.rs` reach across without delay, and are put back in their place here: who is
//! short of credit cannot ask for acceptances, so a port at the border notes all of them when the window is
//! over ([`Border::awaits_acceptance`]); and what a symbol says of buffers may be corrected until it leaves,
//! which is a letter of its own once the record has left.

use crate::config::LinkConfig;
use crate::event::{Happening, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::mail::apply_visible;
use crate::link::port::{CreditRecord, special};
use crate::observe::Build;
use crate::packet::{Delay, Packet};
use sim_core::{Event, EventKey};
use std::sync::Arc;

/// How long after it was made the other end of a link learns of anything at the earliest, picoseconds: after
/// one symbol and the way.
pub(crate) fn lookahead(link: &LinkConfig) -> u64 {
    let (num, den) = link.char_ps;
    u64::from(link.symbol_chars) * num / den + link.propagation.0
}

/// A packet on its way to another part.
#[derive(Debug)]
struct Transit {
    to: PortId,
    key: EventKey,
    behind: u32,
    delay: Option<Delay>,
    record: Packet,
}

/// What one part has for another after a window.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    packets: Vec<Transit>,
    /// What records say that have left before: to be read before `credits`.
    corrected: Vec<(PortId, u8)>,
    credits: Vec<(PortId, CreditRecord)>,
    messages: Vec<Message>,
}

/// A VoQ message: where it arrives, its key, the channel that it is linked with, its content.
type Message = (PortId, EventKey, (u8, u16));

impl Mail {
    /// How many letters there are.
    pub fn len(&self) -> usize {
        self.packets.len() + self.corrected.len() + self.credits.len() + self.messages.len()
    }
}

/// A packet that has begun to leave: where it arrives, its number, its key, and what comes later of it.
type Leaving = (PortId, u32, EventKey, u32);

/// What waits at the border until the window is over.
#[derive(Debug, Default)]
pub(crate) struct Border {
    /// The part that each port belongs to; empty where nothing is cut.
    parts: Arc<[u16]>,
    packets: Vec<Leaving>,
    /// Shadows to which records were written.
    told: Vec<PortId>,
    corrected: Vec<(PortId, u8)>,
    messages: Vec<Message>,
    /// Own ports through which a packet came whose acceptance is neither noted nor an event.
    unaccepted: Vec<PortId>,
}

impl Border {
    /// A packet has begun to leave, and arrives at this shadow.
    pub(super) fn send_packet(&mut self, shadow: PortId, packet: u32, key: EventKey, behind: u32) {
        self.packets.push((shadow, packet, key, behind));
    }

    /// The first record since the window began is written to this shadow.
    pub(super) fn tell(&mut self, shadow: PortId) {
        self.told.push(shadow);
    }

    /// The last record written to this shadow, which has left, is to say this.
    pub(super) fn correct(&mut self, shadow: PortId, buffers: u8) {
        self.corrected.push((shadow, buffers));
    }

    pub(super) fn send_message(&mut self, shadow: PortId, key: EventKey, message: (u8, u16)) {
        self.messages.push((shadow, key, message));
    }

    /// Cut-through: nobody has to hear yet that the packet which came through `port` is accepted, but its
    /// sender cannot say when it has to.
    pub(super) fn awaits_acceptance(&mut self, port: PortId) {
        self.unaccepted.push(port);
    }

    /// The ports of which [`awaits_acceptance`](Self::awaits_acceptance) was said; whoever takes them puts
    /// back those that still wait.
    pub fn take_unaccepted(&mut self) -> Vec<PortId> {
        std::mem::take(&mut self.unaccepted)
    }

    /// Those that still wait.
    pub fn unaccepted(&self) -> &[PortId] {
        &self.unaccepted
    }

    pub fn put_unaccepted(&mut self, ports: Vec<PortId>) {
        self.unaccepted = ports;
    }

    /// Whether nothing waits to leave.
    pub fn is_clear(&self) -> bool {
        self.packets.is_empty()
            && self.told.is_empty()
            && self.corrected.is_empty()
            && self.messages.is_empty()
    }
}

impl<P: Build> Links<P> {
    /// This is the part `own` of a fabric: links to ports of other parts are cut from now on.
    pub fn cut(&mut self, parts: Arc<[u16]>, own: u16) {
        let ends = self.config.clone();
        for link in &ends.links {
            let [a, b] = [link.a, link.b].map(|end| self.nodes.port(end));
            for (port, peer) in [(a, b), (b, a)] {
                if parts[port.index()] == own && parts[peer.index()] != own {
                    self.ports[port.index()].run_specially(special::CUT, 0);
                }
            }
        }
        self.border.parts = parts;
    }

    /// The window is over: what has gathered goes to the mail of each part. The earliest instant at which
    /// any of it is learned, `u64::MAX` if there is nothing.
    pub fn export(&mut self, mail: &mut [Mail]) -> u64 {
        let mut first = u64::MAX;
        let Links { border, packets, ports, cold, .. } = self;
        let parts = border.parts.clone();
        let part = |port: PortId| usize::from(parts[port.index()]);
        for (to, packet, key, behind) in border.packets.drain(..) {
            first = first.min(key.time().0);
            let delay = packets.late.take(packet);
            let record = packets.give_away(packet);
            mail[part(to)].packets.push(Transit { to, key, behind, delay, record });
        }
        for (to, buffers) in border.corrected.drain(..) {
            mail[part(to)].corrected.push((to, buffers));
        }
        for to in border.told.drain(..) {
            let tx = &mut ports[to.index()].tx;
            while tx.pending > 0 {
                let record = tx.pop_record(cold, to);
                first = first.min(record.key.time().0);
                mail[part(to)].credits.push((to, record));
            }
        }
        for (to, key, message) in border.messages.drain(..) {
            first = first.min(key.time().0);
            mail[part(to)].messages.push((to, key, message));
        }
        first
    }

    /// Takes in what another part has sent; `from` is below every key of it, and above every event handled.
    pub fn import(&mut self, mail: &mut Mail, from: EventKey, mut schedule: impl FnMut(Event<Payload>)) {
        for Transit { to, key, behind, delay, record } in mail.packets.drain(..) {
            let destination = record.destination as u16;
            let packet = self.packets.insert(record);
            if let Some(delay) = delay {
                self.packets.late.put(packet, delay);
            }
            let payload = Happening::Arrive { packet, destination, behind }.pack();
            schedule(Event { key, target: to.into(), payload });
        }
        let Links { ports, cold, timings, .. } = self;
        for (port, buffers) in mail.corrected.drain(..) {
            ports[port.index()].tx.amend_last(&mut cold[port.index()], buffers);
        }
        for (port, record) in mail.credits.drain(..) {
            assert!(record.key >= from, "a record comes too late: {} in a window from {from}", record.key);
            let tx = &mut ports[port.index()].tx;
            // As where a record is written: those that are visible are applied, unless they change more.
            if tx.clock.blocked() == 0 {
                apply_visible(tx, &timings[tx.timing as usize], cold, port, from);
            }
            tx.push_record(cold, port, record);
            if tx.credit_waiting && !tx.wake_posted {
                tx.wake_posted = true;
                schedule(Event { key: record.key, target: port.into(), payload: Happening::Wake.pack() });
            }
        }
        for (port, key, (channel, field)) in mail.messages.drain(..) {
            let payload = Happening::Message { field, channel }.pack();
            schedule(Event { key, target: port.into(), payload });
        }
    }
}
