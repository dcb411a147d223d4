//! Progress watchdog: packets that have not moved for too long, and what they wait for.
//!
//! Every `stall_after` the watchdog looks for packets that have waited at least that long. From each it
//! walks: the packet waits for a packet ahead of it, for a stopped queue (and so for the congested port of
//! the neighbour), or for a buffer of the neighbour (and so for a packet that holds one). A walk that reaches
//! a transmitter at work is no stall; one that comes back is a deadlock; one that ends elsewhere is a stall.
//!
//! The watchdog is nobody in the fabric and changes nothing, so it may see what a device would have to be
//! told: the other end of a link ([`View::across`]), and every packet.

use crate::config::vc_of;
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::{Node, PortId};
use crate::link::Links;
use crate::observe::probe::Probe;
use crate::packet::{AT_INPUT, MULTICAST_QUEUES, NIL, Packet, UNSTAGED, WAITING};
use crate::world::Fabric;
use crate::world::outcome::StallReport;
use sim_core::watch::{WaitGraph, Walk, walk};
use sim_core::{EventKey, EventList, Time};

/// Why a packet does not move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Reason {
    /// It does, or what it waits for does.
    Moving,
    /// Another packet has to go first.
    Behind(u32),
    /// The staging queue is stopped by this port of the neighbour, where this packet waits ([`NIL`]: none
    /// does).
    Stopped(u8, u32),
    /// The link is down, or its ends have given up.
    NoLink,
    /// No credit; this packet holds a buffer of the neighbour ([`NIL`]: none does).
    NoCredit(u32),
}

struct View<'a, P> {
    fabric: &'a Fabric<P>,
    key: EventKey,
}

impl<P: Probe> View<'_, P> {
    /// The port at the other end of a link that somebody waits for.
    fn across(&self, port: PortId) -> PortId {
        self.fabric.links.across(port).expect("nobody waits for a port without a link")
    }

    fn reason(&self, packet: u32) -> Reason {
        let f = self.fabric;
        let record = &f.links.packets[packet];
        let port = f.links.port_of(packet);
        if record.flags & WAITING == 0 {
            return if f.links.is_cut_off(port) { Reason::NoLink } else { Reason::Moving };
        }
        let tx = &f.links.ports[port.index()].tx;
        if self.is_refused(port, record.priority) {
            return Reason::NoCredit(self.holder(packet, self.across(port)));
        }
        if tx.done > self.key {
            return Reason::Moving;
        }
        if record.queue != UNSTAGED && tx.clock.stopped_since(record.priority, record.queue).is_some() {
            return self.stopped(port, record);
        }
        if tx.clock.blocked() & (1 << record.priority) != 0 {
            let peer = self.across(port);
            if f.links.cold[port.index()].channels.as_ref().is_some_and(|channels| channels.coming > 0) {
                return Reason::Moving;
            }
            if tx.wake_posted || tx.pending > 0 || !f.links.cold[peer.index()].in_flight.is_empty() {
                return Reason::Moving;
            }
            if let Some(Some(end)) = f.links.ends.get(port.index()) {
                if end.is_gone() {
                    return Reason::NoLink;
                }
                let partner = f.links.ends[peer.index()].as_ref().expect("both ends of a link are symbolic");
                if tx.clock.is_recovering() || end.is_busy() || partner.is_busy() {
                    return Reason::Moving;
                }
            }
            let holder = self.holder(packet, peer);
            // A buffer of one that is under way, or leaves right now, will be told of.
            let under_way = tx.outstanding > 0 && !f.links.is_symbolic(port);
            if holder == NIL && (under_way || self.is_read(peer)) {
                return Reason::Moving;
            }
            return Reason::NoCredit(holder);
        }
        if record.flags & AT_INPUT != 0 {
            let s = f.links.nodes.switch(port);
            let switch = &f.switches[s];
            let n = switch.ports as usize;
            let (priority, input) = (record.priority as usize, record.input as usize);
            let list = if switch.fifo {
                priority * n + input
            } else {
                (priority * n + (port - switch.base) as usize) * n + input
            };
            let head = switch.inputs[list].head;
            if head != packet && head != NIL {
                return Reason::Behind(head);
            }
        }
        // The head of its queue: whatever else is stored at the output, or in a pool, is ahead of it.
        let pool = match f.links.nodes.node(port) {
            Node::Switch(s) if record.flags & AT_INPUT != 0 && f.switches[s].pool => Some(f.switches[s].base),
            _ => None,
        };
        let in_way = |id: u32| match pool {
            Some(base) => f.links.base_of(f.links.port_of(id)) == base,
            None => f.links.port_of(id) == port,
        };
        let ahead = f
            .links
            .packets
            .iter()
            .filter(|(id, p)| {
                // A virtual channel waits for no other but VC0.
                let same = matches!(vc_of(p.priority), vc if vc == 0 || vc == vc_of(record.priority));
                same && *id != packet && p.flags & WAITING != 0 && p.flags & AT_INPUT == 0 && in_way(*id)
            })
            .min_by_key(|(_, p)| p.stamp);
        match ahead {
            // At the head of its input queue it waits for a place in the buffer, whatever the ages.
            Some((id, p))
                if record.flags & AT_INPUT != 0 || (p.stamp.wrapping_sub(record.stamp) as i32) < 0 =>
            {
                Reason::Behind(id)
            }
            _ => Reason::Moving,
        }
    }

    /// The packet of the same channel as `packet` that has held a buffer of `peer` longest, or [`NIL`].
    fn holder(&self, packet: u32, peer: PortId) -> u32 {
        let f = self.fabric;
        let vc = vc_of(f.links.packets[packet].priority);
        let waits = f.links.packets.iter().filter(|(id, p)| {
            vc_of(p.priority) == vc
                && p.flags & WAITING != 0
                && *id != packet
                && f.links.input_of(*id) == peer
        });
        waits.min_by_key(|(_, p)| p.stamp).map_or(NIL, |(id, _)| id)
    }

    /// Receiver-controlled flow control: the neighbour refuses what `port` sends, has no room for `priority`,
    /// and gets none from a transmission that succeeds. The wire is busy with repetitions, and yet nothing
    /// moves.
    fn is_refused(&self, port: PortId, priority: u8) -> bool {
        let f = self.fabric;
        let refused = |port: PortId| {
            let end = f.links.ends.get(port.index()).and_then(|end| end.as_ref());
            end.is_some_and(|end| end.is_refused()) && f.links.is_symbolic(port)
        };
        if !refused(port) {
            return false;
        }
        let peer = self.across(port);
        let rx = &f.links.ports[peer.index()].rx;
        let free = u16::from(rx.buffers.saturating_sub(rx.occupied.saturating_sub(rx.unaccepted)));
        let partner = f.links.ends[peer.index()].as_ref().expect("both ends of a link are symbolic");
        !partner.has_room(free, priority) && !self.readers(peer).any(|output| !refused(output))
    }

    /// Outputs that read from the input buffers of `port` right now.
    fn readers(&self, port: PortId) -> impl Iterator<Item = PortId> {
        let f = self.fabric;
        let (base, ports) = match f.links.nodes.node(port) {
            Node::Switch(s) => (f.switches[s].base, f.switches[s].ports),
            Node::Endpoint(_) => (port, 0),
        };
        base.span(ports).filter(move |&output| {
            let tx = &f.links.ports[output.index()].tx;
            let reads = u32::from(tx.reading) == port - base && tx.done > self.key;
            reads || f.links.interleaved(output).is_some_and(|messages| messages.reads(port - base))
        })
    }

    /// Whether a packet is leaving the input buffers of `port` right now.
    fn is_read(&self, port: PortId) -> bool {
        self.readers(port).next().is_some()
    }

    fn stopped(&self, port: PortId, record: &Packet) -> Reason {
        let (f, queue) = (self.fabric, record.queue);
        let channel = f.links.channel_of(port, record.priority);
        let cold = &f.links.cold[port.index()];
        let staging = cold.staging.as_ref().expect("a stopped queue has staging");
        let vc = staging.vcs.iter().nth(channel.into()).expect("the channel is active");
        let peer = self.across(port);
        let neighbour = &f.switches[f.links.nodes.switch(peer)];
        let ports = neighbour.ports as u16;
        // Only sets of several ports have a pseudo queue.
        let set = queue.checked_sub(MULTICAST_QUEUES).map(|n| staging.multicast[usize::from(n)]);
        let stops = |p: u16| {
            staging.receiver.is_congested(vc, p)
                && set.map_or_else(|| cold.queue_of(p as u8) == queue, |set| set >> p & 1 == 1)
        };
        let Some(p) = (0..ports).find(|p| stops(*p)) else { return Reason::Stopped(0, NIL) };
        let output = neighbour.base + u32::from(p);
        // The neighbour calls the port clear and has nothing more to say: the message that says so was lost.
        let own = (peer - neighbour.base) as u16;
        let originator = neighbour.backpressure.as_ref().map(|said| &said.originator);
        let told = originator.is_some_and(|o| {
            o.reported_in(own, vc, p)
                || o.pending_messages(own) > 0
                || f.links.cold[peer.index()].messages_on_wire > 0
        });
        if !told {
            return Reason::Stopped(p as u8, NIL);
        }
        let holder = f
            .links
            .packets
            .iter()
            .filter(|(id, w)| w.flags & WAITING != 0 && f.links.port_of(*id) == output)
            .min_by_key(|(_, w)| w.stamp)
            .map(|(id, _)| id);
        match holder {
            Some(id) => Reason::Stopped(p as u8, id),
            None if f.links.ports[output.index()].tx.done > self.key => Reason::Moving,
            None => Reason::Stopped(p as u8, NIL),
        }
    }
}

impl<P: Probe> WaitGraph for View<'_, P> {
    type Node = u32;

    fn waits_for(&self, node: u32) -> Option<u32> {
        match self.reason(node) {
            Reason::Moving | Reason::NoLink => None,
            Reason::Behind(id) | Reason::Stopped(_, id) | Reason::NoCredit(id) => (id != NIL).then_some(id),
        }
    }
}

/// Longest time between two looks of the watchdog at an idle fabric, in units of `stall_after`.
const WATCH_STEPS: u64 = 256;

/// What the watchdog has found, and when it looks.
#[derive(Debug)]
pub(crate) struct Watchdog {
    pub stalls: Vec<StallReport>,
    /// Places of which a stall has been reported: port, VC and staging queue.
    stalled: Vec<(PortId, u8, u8)>,
    /// How long a packet may wait, ps; 0: nobody looks.
    pub stall_after: u64,
    /// From one look to the next, in units of `stall_after`.
    watch_steps: u64,
}

impl Watchdog {
    pub fn new(stall_after: u64) -> Self {
        Watchdog { stalls: Vec::new(), stalled: Vec::new(), stall_after, watch_steps: 1 }
    }
}

impl<P: Probe> Links<P> {
    /// The port whose transmitter a waiting packet is for.
    fn port_of(&self, packet: u32) -> PortId {
        self.packets[packet].port
    }

    /// The port through which a waiting packet came in, or [`PortId::NONE`] at its source.
    fn input_of(&self, packet: u32) -> PortId {
        let base = self.base_of(self.packets[packet].port);
        if self.nodes.is_switch(base) { base + u32::from(self.packets[packet].input) } else { PortId::NONE }
    }

    /// The link of this port is down, or has given up: what was sent and is not acknowledged stands here.
    fn is_cut_off(&self, port: PortId) -> bool {
        matches!(self.ends.get(port.index()), Some(Some(end)) if end.is_gone())
    }
}

impl<P: Probe> Fabric<P> {
    fn describe(&self, view: &View<'_, P>, packet: u32) -> String {
        let record = &self.links.packets[packet];
        let port = self.links.port_of(packet);
        let path =
            |port: PortId| &self.links.config.devices[self.links.ports[port.index()].rx.device as usize].path;
        let device = path(port);
        let flow = &self.links.config.flows[record.flow as usize].name;
        let number = port - self.links.base_of(port);
        let head = format!(
            "packet {} of flow {flow:?} to id {} waits in {device} for port {number}",
            record.sequence,
            record.destination_id()
        );
        let why = match view.reason(packet) {
            Reason::Moving => "which is at work".to_string(),
            Reason::NoLink => "its link is down".to_string(),
            Reason::Behind(_) => "behind another packet".to_string(),
            Reason::Stopped(p, id) => {
                let peer = path(view.across(port));
                let stop = format!("staging queue {} is stopped by port {p} of {peer}", record.queue);
                if id == NIL {
                    format!("{stop}, which is clear: the message that says so never came")
                } else {
                    stop
                }
            }
            Reason::NoCredit(id) => {
                let peer = path(view.across(port));
                if id == NIL {
                    format!("{peer} advertises no free buffer, though no packet holds one")
                } else {
                    match vc_of(record.priority) {
                        0 => format!("{peer} has no free buffer for priority {}", record.priority),
                        vc => format!("{peer} has no free buffer for VC{vc}"),
                    }
                }
            }
        };
        format!("{head}: {why}")
    }

    pub(super) fn watch<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>) {
        let now = cx.now().0;
        self.settle(cx, cx.key());
        self.links.observe.pending -= 1;
        let idle = self.links.is_idle(cx);
        // Without any event left, whatever waits now waits for ever.
        let deadline = if idle { now } else { now.saturating_sub(self.watchdog.stall_after) };
        let mut found = Vec::new();
        {
            let view = View { fabric: self, key: cx.key() };
            let mut seen: Vec<(PortId, u8, u8)> = self.watchdog.stalled.clone();
            // The longest wait first, ties by name: what is reported must not depend on where packets lie.
            let mut old: Vec<u32> = (self.links.packets.iter())
                .filter(|(_, p)| p.snapshot.at <= deadline)
                .filter(|(id, p)| p.flags & WAITING != 0 || self.links.is_cut_off(self.links.port_of(*id)))
                .map(|(id, _)| id)
                .collect();
            old.sort_by_key(|id| {
                let p = &self.links.packets[*id];
                (p.snapshot.at, p.source, p.origin, p.sequence, p.port)
            });
            for id in old {
                let record = &self.links.packets[id];
                let port = self.links.port_of(id);
                let place = (port, vc_of(record.priority), record.queue);
                if seen.contains(&place) {
                    continue;
                }
                // At its source a packet may wait long behind others; only a stopped queue or a transmitter
                // that does not start anything is suspicious there.
                let tx = &self.links.ports[port.index()].tx;
                let suspicious = match tx.clock.stopped_since(record.priority, record.queue) {
                    Some(since) => since <= deadline,
                    None => self.links.nodes.is_switch(port) || tx.clock.last_start() <= deadline,
                };
                if !suspicious {
                    continue;
                }
                seen.push(place);
                let (cycle, nodes) = match walk(&view, id, 10_000) {
                    Walk::Cycle(nodes) => (true, nodes),
                    Walk::Chain(nodes) => (false, nodes),
                    Walk::Cut(_) => continue,
                };
                let last = *nodes.last().expect("a walk has its start");
                // With nothing left to happen, nothing moves: whatever the walk ends at is stuck.
                if !cycle && !idle && view.reason(last) == Reason::Moving {
                    continue;
                }
                let report = StallReport {
                    at: cx.now(),
                    since: Time(record.snapshot.at),
                    cycle,
                    walk: nodes.iter().map(|n| self.describe(&view, *n)).collect(),
                };
                found.push((place, report));
            }
        }
        let stop = self.links.config.stop_on_stall && !found.is_empty();
        for (place, report) in found {
            self.watchdog.stalled.push(place);
            self.watchdog.stalls.push(report);
        }
        if stop {
            cx.stop();
        }
        if !idle {
            self.links.observe.pending += 1;
            // Where nothing is on its way nothing waits: look less and less often, or an idle hour costs
            // millions of looks.
            self.watchdog.watch_steps = if self.links.packets.len() == 0 {
                (2 * self.watchdog.watch_steps).min(WATCH_STEPS)
            } else {
                1
            };
            let key = self
                .links
                .observe
                .keys
                .make(Time(now + self.watchdog.watch_steps * self.watchdog.stall_after), class::WATCH);
            cx.post(key, 0, Happening::Watch.pack());
        }
    }
}
