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
use crate::observe::Build;
use crate::packet::{AT_INPUT, MULTICAST_QUEUES, NIL, Packet, UNSTAGED, WAITING};
use crate::world::Fabric;
use crate::world::outcome::StallReport;
use sim_core::watch::{WaitGraph, Walk, walk};
use sim_core::{EventKey, EventList, Time};
use voq_backpressure::csr::XOFF;

/// A packet that waits: the part of the fabric that it is in, and its number there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    part: usize,
    packet: u32,
}

/// Why a packet does not move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Reason {
    /// It does, or what it waits for does.
    Moving,
    /// Another packet has to go first.
    Behind(Spot),
    /// The staging queue is stopped by this port of the neighbour, where this packet waits, if one does.
    Stopped(u8, Option<Spot>),
    /// The staging queue is stopped by this port of the neighbour, whose register says XOFF whatever waits.
    Forced(u8),
    /// The link is down, or its ends have given up.
    NoLink,
    /// Errors or outages strike again and again, and let nothing through.
    Errors,
    /// No credit; this packet holds a buffer of the neighbour, if one does.
    NoCredit(Option<Spot>),
}

/// The whole fabric at one instant, whether or not it is cut.
pub(crate) struct View<'a, P: Build> {
    /// One, or all parts.
    parts: &'a [&'a Fabric<P>],
    /// The part of each port; empty if there is only one.
    part_of: &'a [u16],
    key: EventKey,
}

impl<'a, P: Build> View<'a, P> {
    pub fn new(parts: &'a [&'a Fabric<P>], part_of: &'a [u16], key: EventKey) -> Self {
        View { parts, part_of, key }
    }

    fn part_of(&self, port: PortId) -> usize {
        self.part_of.get(port.index()).map_or(0, |part| usize::from(*part))
    }

    /// The part that a port belongs to.
    fn of(&self, port: PortId) -> &'a Fabric<P> {
        self.parts[self.part_of(port)]
    }

    fn record(&self, spot: Spot) -> &'a Packet {
        &self.parts[spot.part].links.packets[spot.packet]
    }

    /// All packets of the part that a port belongs to.
    fn beside(&self, port: PortId) -> impl Iterator<Item = (Spot, &'a Packet)> {
        self.within(self.part_of(port))
    }

    fn within(&self, part: usize) -> impl Iterator<Item = (Spot, &'a Packet)> {
        let all = self.parts[part].links.packets.iter();
        all.map(move |(packet, record)| (Spot { part, packet }, record))
    }

    /// The port at the other end of a link that somebody waits for.
    fn across(&self, port: PortId) -> PortId {
        self.of(port).links.across(port).expect("nobody waits for a port without a link")
    }

    fn reason(&self, spot: Spot) -> Reason {
        let record = self.record(spot);
        let port = record.port;
        let f = self.of(port);
        if record.flags & WAITING == 0 {
            return match () {
                () if f.links.is_cut_off(port) => Reason::NoLink,
                () if self.is_starved(record) => Reason::NoCredit(self.holder(spot, self.across(port))),
                () if self.is_refused(port, record.priority) => {
                    Reason::NoCredit(self.refuser(spot, self.across(port)))
                }
                () if self.troubled_since(spot).is_some() => Reason::Errors,
                () => Reason::Moving,
            };
        }
        // Who is not the head of its FIFO waits for nothing at its own output.
        if let Some(head) = self.head_of_fifo(spot) {
            return Reason::Behind(head);
        }
        let tx = &f.links.ports[port.index()].tx;
        if self.is_refused(port, record.priority) {
            return Reason::NoCredit(self.refuser(spot, self.across(port)));
        }
        if self.troubled_since(spot).is_some() {
            return Reason::Errors;
        }
        if tx.done > self.key {
            let ahead = self.held_up(port).filter(|held| *held != spot);
            return ahead.map_or(Reason::Moving, Reason::Behind);
        }
        if record.queue != UNSTAGED && tx.clock.stopped_since(record.priority, record.queue).is_some() {
            return self.stopped(port, record);
        }
        if f.links.blocked_at(port, self.key) & (1 << record.priority) != 0 {
            let peer = self.across(port);
            if f.links.cold[port.index()].channels.as_ref().is_some_and(|channels| channels.coming > 0) {
                return Reason::Moving;
            }
            let arrives = !self.of(peer).links.cold[peer.index()].in_flight.is_empty();
            if tx.wake_posted || f.links.is_told_later(port, self.key) || arrives {
                return Reason::Moving;
            }
            if let Some(Some(end)) = f.links.ends.get(port.index()) {
                if end.is_gone() {
                    return Reason::NoLink;
                }
                let partner = f.links.ends[peer.index()].as_ref().expect("both ends of a link are symbolic");
                // Recovery from errors, which may never stop, brings no credit from who tells of none.
                let recovers = tx.clock.is_recovering() && self.held_up(port).is_none();
                let at_work = recovers || end.is_busy() || partner.is_busy();
                // A status that was lost is told again; who waits for an answer waits up to its timeout.
                let at_work = at_work || partner.tells_later() || end.awaits_answer();
                if at_work && !partner.is_mute() {
                    return Reason::Moving;
                }
            }
            let holder = self.holder(spot, peer);
            // A buffer of one that is under way, or leaves right now, will be told of.
            let under_way = tx.outstanding > 0 && !f.links.is_symbolic(port);
            if holder.is_none() && (under_way || self.is_read(peer)) {
                return Reason::Moving;
            }
            return Reason::NoCredit(holder);
        }
        if record.flags & AT_INPUT != 0 {
            let s = f.links.nodes.switch(port);
            let switch = &f.switches[s];
            let n = switch.ports as usize;
            let (priority, input) = (record.priority as usize, record.input as usize);
            let list = (priority * n + (port - switch.base) as usize) * n + input;
            if !switch.fifo && ![NIL, spot.packet].contains(&switch.inputs[list].head) {
                return Reason::Behind(Spot { packet: switch.inputs[list].head, ..spot });
            }
        }
        // The head of its queue: whatever else is stored at the output, or in a pool, is ahead of it.
        let pool = match f.links.nodes.node(port) {
            Node::Switch(s) if record.flags & AT_INPUT != 0 && f.switches[s].pool => Some(f.switches[s].base),
            _ => None,
        };
        let in_way = |other: &Packet| match pool {
            Some(base) => f.links.base_of(other.port) == base,
            None => other.port == port,
        };
        let ahead = self
            .beside(port)
            .filter(|(other, p)| {
                // A virtual channel waits for no other but VC0; several VCs may share a channel.
                let channel = |p: &Packet| f.links.channel_of(p.port, p.priority);
                let same = matches!(channel(p), c if c == 0 || c == channel(record));
                same && *other != spot && p.flags & WAITING != 0 && p.flags & AT_INPUT == 0 && in_way(p)
            })
            .min_by_key(|(_, p)| p.stamp);
        match ahead {
            // At the head of its input queue it waits for a place in the buffer, whatever the ages.
            Some((other, p))
                if record.flags & AT_INPUT != 0 || (p.stamp.wrapping_sub(record.stamp) as i32) < 0 =>
            {
                Reason::Behind(other)
            }
            _ => Reason::Moving,
        }
    }

    /// The packet that a packet in a FIFO of a switch is behind, if it is behind one: the first that waits
    /// there, or, where outputs read from inputs, the one that has its place at its output.
    fn head_of_fifo(&self, spot: Spot) -> Option<Spot> {
        let record = self.record(spot);
        if record.flags & AT_INPUT == 0 {
            return None;
        }
        let links = &self.of(record.port).links;
        let switch = &self.of(record.port).switches[links.nodes.switch(record.port)];
        if !switch.fifo {
            return None;
        }
        let head =
            switch.inputs[record.priority as usize * switch.ports as usize + record.input as usize].head;
        if head != spot.packet && head != NIL {
            return Some(Spot { packet: head, ..spot });
        }
        // With buffers behind the inputs who has a place there has left the FIFO.
        let (base, shown) = (switch.base, WAITING | AT_INPUT);
        let ahead = self.beside(record.port).filter(|(_, p)| {
            let same = (p.input, p.priority) == (record.input, record.priority);
            same && p.flags & shown == WAITING && links.base_of(p.port) == base
        });
        ahead.min_by_key(|(_, p)| p.stamp).filter(|_| switch.direct).map(|(other, _)| other)
    }

    /// The packet of the same channel as this one that has held a buffer of `peer` longest.
    fn holder(&self, spot: Spot, peer: PortId) -> Option<Spot> {
        let links = &self.of(peer).links;
        let channel = links.channel_of(peer, self.record(spot).priority);
        let waits = self.beside(peer).filter(|(other, p)| {
            let same = links.channel_of(peer, p.priority) == channel && links.input_of(p) == peer;
            same && p.flags & WAITING != 0 && *other != spot
        });
        waits.min_by_key(|(_, p)| p.stamp).map(|(other, _)| other)
    }

    /// Likewise where `peer` refuses packets: those that it sends on, and that are refused in turn, hold its
    /// buffers, too.
    fn refuser(&self, spot: Spot, peer: PortId) -> Option<Spot> {
        let links = &self.of(peer).links;
        let sent = self.beside(peer).filter(|(other, p)| {
            p.flags & WAITING == 0 && *other != spot && p.port != peer && links.input_of(p) == peer
        });
        self.holder(spot, peer).or_else(|| sent.min_by_key(|(_, p)| p.stamp).map(|(other, _)| other))
    }

    /// Receiver-controlled flow control: the neighbour refuses what `port` sends, has no room for `priority`,
    /// and gets none from a transmission that succeeds. The wire is busy with repetitions, and yet nothing
    /// moves.
    fn is_refused(&self, port: PortId, priority: u8) -> bool {
        let f = self.of(port);
        let refused = |port: PortId| {
            let end = f.links.ends.get(port.index()).and_then(|end| end.as_ref());
            end.is_some_and(|end| end.is_refused()) && f.links.is_symbolic(port)
        };
        if !refused(port) {
            return false;
        }
        let peer = self.across(port);
        let free = self.free_at(peer);
        let partner = f.links.ends[peer.index()].as_ref().expect("both ends of a link are symbolic");
        !partner.has_room(free, priority) && !self.readers(peer).any(|output| !refused(output))
    }

    /// Outputs that read from the input buffers of `port` right now.
    fn readers(&self, port: PortId) -> impl Iterator<Item = PortId> {
        let f = self.of(port);
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
        let links = &self.of(port).links;
        let (channel, queue) = (links.channel_of(port, record.priority), record.queue);
        let linked = links.ends.get(port.index()).is_some_and(|e| e.as_ref().is_some_and(|e| e.is_linked()));
        let cold = &links.cold[port.index()];
        let staging = cold.staging.as_ref().expect("a stopped queue has staging");
        let vc = staging.vcs.iter().nth(channel.into()).expect("the channel is active");
        let peer = self.across(port);
        let f = self.of(peer);
        let neighbour = &f.switches[f.links.nodes.switch(peer)];
        let ports = neighbour.ports as u16;
        // Only sets of several ports have a pseudo queue.
        let set = queue.checked_sub(MULTICAST_QUEUES).map(|n| staging.multicast[usize::from(n)]);
        let stops = |p: u16| {
            staging.receiver.is_congested(vc, p)
                && set.map_or_else(|| cold.queue_of(p as u8) == queue, |set| set.contains(p as u8))
        };
        let Some(p) = (0..ports).find(|p| stops(*p)) else { return Reason::Stopped(0, None) };
        let output = neighbour.base + u32::from(p);
        let own = (peer - neighbour.base) as u16;
        let originator = neighbour.backpressure.as_ref().map(|said| &said.originator);
        if !originator.is_some_and(|o| o.reported_in(own, vc, p)) {
            // The neighbour calls the port clear. If it has nothing more to say, the message that says so was
            // lost.
            let on_wire = |part: &&Fabric<P>| part.links.cold[peer.index()].messages_on_wire;
            let comes = originator.is_some_and(|o| o.pending_messages(own) > 0)
                || self.parts.iter().map(on_wire).sum::<i32>() > 0;
            return if comes { Reason::Moving } else { Reason::Stopped(p as u8, None) };
        }
        let holder = self
            .beside(output)
            .filter(|(_, w)| w.flags & WAITING != 0 && w.port == output)
            // A linked message is about one channel of the link that it came by (F-155).
            .filter(|(_, w)| !linked || f.links.channel_of(peer, w.priority) == channel)
            .min_by_key(|(_, w)| w.stamp)
            .map(|(other, _)| other);
        match holder {
            None if f.links.ports[output.index()].tx.done > self.key => Reason::Moving,
            None if originator.is_some_and(|o| o.block().port(p).has(XOFF)) => Reason::Forced(p as u8),
            holder => Reason::Stopped(p as u8, holder),
        }
    }

    /// A packet has started, did not get through because of an error, and stands at its link: it could only
    /// be repeated with credit, and the neighbour tells of none any more, or has no room for its priority.
    fn is_starved(&self, record: &Packet) -> bool {
        let links = &self.of(record.port).links;
        let Some(Some(end)) = links.ends.get(record.port.index()) else { return false };
        // Several VCs may share a channel of the link.
        let channel = links.channel_of(record.port, record.priority);
        if !links.is_symbolic(record.port) {
            return false;
        }
        let Some(told) = end.told_at_rest(channel) else { return false };
        let peer = self.across(record.port);
        let Some(partner) = &self.of(peer).links.ends[peer.index()] else { return false };
        if told == 0 && partner.is_mute() {
            return true;
        }
        let room = |free: u16| end.may_send(free, record.priority);
        channel == 0
            && !room(told)
            && !room(self.free_at(peer))
            && !self.readers(peer).any(|by| self.sends(by))
    }

    /// Free receive buffers of `port`.
    fn free_at(&self, port: PortId) -> u16 {
        let rx = &self.of(port).links.ports[port.index()].rx;
        u16::from(rx.buffers.saturating_sub(rx.in_use()))
    }

    /// A packet is on its way from `port`: one that was cut off and waits for credit is not.
    fn sends(&self, port: PortId) -> bool {
        let end = self.of(port).links.ends.get(port.index()).and_then(|end| end.as_ref());
        end.is_none_or(|end| end.told_at_rest(0).is_none())
    }

    /// The packet that was cut off by an error and stands at the link of `port`, and all others behind it.
    fn held_up(&self, port: PortId) -> Option<Spot> {
        let end = self.of(port).links.ends.get(port.index())?.as_ref()?;
        let spot = Spot { part: self.part_of(port), packet: end.first_sent()? };
        let record = self.record(spot);
        // The neighbour may have it by now, and its record be free, or another packet's.
        let is_here = record.wire != 0 && record.port == port && record.flags & WAITING == 0;
        (is_here && self.is_starved(record)).then_some(spot)
    }

    /// Since when a packet stands where it is: it waits there; or it has left for a link that is down,
    /// that has no place for it, or that lets nothing through. `None`: it is on its way.
    fn stands_since(&self, spot: Spot) -> Option<u64> {
        let record = self.record(spot);
        if record.flags & WAITING != 0 {
            return Some(record.since.at);
        }
        let links = &self.of(record.port).links;
        if let Some(since) = links.cut_off_since(record.port) {
            return Some(since);
        }
        if self.is_starved(record) {
            return Some(links.ports[record.port.index()].tx.clock.last_start());
        }
        self.troubled_since(spot)
    }

    /// The link of a port is down, and was not at `t`.
    fn is_cut_off_after(&self, port: PortId, t: u64) -> bool {
        self.of(port).links.cut_off_since(port).is_some_and(|since| since > t)
    }

    /// Since when errors or outages have let nothing through to the neighbour of this packet, if that is as
    /// long as a packet may wait, and the packet has waited for that long. Recovery is work as long as
    /// something comes of it.
    fn troubled_since(&self, spot: Spot) -> Option<u64> {
        let record = self.record(spot);
        let links = &self.of(record.port).links;
        let end = links.ends.get(record.port.index())?.as_ref()?;
        // Who has no room lets nothing through either, and errors have no part in it.
        if !links.is_symbolic(record.port) || self.held_up(record.port).is_some() {
            return None;
        }
        let now = self.key.time().0;
        let patience = links.config.stall_after.map_or(u64::MAX, |patience| patience.0);
        let since = end.troubled_since(now, patience)?;
        let peer = self.across(record.port);
        let mute = self.of(peer).links.ends[peer.index()].as_ref().is_some_and(|partner| partner.is_mute());
        let waits = match record.flags & WAITING {
            0 => end.holds(spot.packet),
            _ => now - record.since.at >= patience,
        };
        (waits && !mute).then_some(since)
    }

    fn describe(&self, spot: Spot) -> String {
        let record = self.record(spot);
        let port = record.port;
        let links = &self.of(port).links;
        let path = |port: PortId| &links.config.devices[links.ports[port.index()].link.device as usize].path;
        let device = path(port);
        let flow = &links.config.flows[record.flow as usize].name;
        let number = port - links.base_of(port);
        // Nobody counts all packets of a run, so it has the name that its source gives it.
        let head = format!(
            "packet {}:{flow}:{} to id {} waits in {device} for port {number}",
            links.config.devices[record.source as usize].path,
            record.sequence + 1,
            record.destination_id()
        );
        let why = match self.reason(spot) {
            Reason::Moving => "which is at work".to_string(),
            Reason::NoLink => "its link is down".to_string(),
            Reason::Errors => "errors or outages let nothing through its link".to_string(),
            Reason::Behind(_) => "behind another packet".to_string(),
            Reason::Stopped(p, holder) => {
                let peer = path(self.across(port));
                let stop = format!("staging queue {} is stopped by port {p} of {peer}", record.queue);
                if holder.is_none() {
                    format!("{stop}, which is clear: the message that says so never came")
                } else {
                    stop
                }
            }
            Reason::Forced(p) => format!(
                "staging queue {} is stopped by port {p} of {}, whose register says XOFF",
                record.queue,
                path(self.across(port))
            ),
            Reason::NoCredit(holder) => {
                let peer = path(self.across(port));
                if holder.is_none() {
                    format!("{peer} advertises no free buffer, though no packet holds one")
                } else {
                    match (vc_of(record.priority), links.channel_of(port, record.priority)) {
                        (0, _) => format!("{peer} has no free buffer for priority {}", record.priority),
                        (vc, channel) => {
                            format!("{peer} has no free buffer in channel {channel}, which carries VC{vc}")
                        }
                    }
                }
            }
        };
        format!("{head}: {why}")
    }
}

impl<P: Build> WaitGraph for View<'_, P> {
    type Node = Spot;

    fn waits_for(&self, node: Spot) -> Option<Spot> {
        match self.reason(node) {
            Reason::Moving | Reason::NoLink | Reason::Errors | Reason::Forced(_) => None,
            Reason::Behind(other) => Some(other),
            Reason::Stopped(_, holder) | Reason::NoCredit(holder) => holder,
        }
    }
}

/// Longest time between two looks of the watchdog at an idle fabric, in units of `stall_after`.
const WATCH_STEPS: u64 = 256;

/// What the watchdog has found, and when it looks.
#[derive(Debug, Default)]
pub(crate) struct Watchdog {
    pub stalls: Vec<StallReport>,
    /// Places of which a stall has been reported: port, channel and staging queue.
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

    /// Looks for what stands still. `idle`: no event is left, so whatever waits now waits for ever. Whether
    /// it has found something new.
    pub fn look<P: Build>(&mut self, view: &View<'_, P>, idle: bool) -> bool {
        let at = view.key.time();
        let due = if idle { Some(at.0) } else { at.0.checked_sub(self.stall_after) };
        // So early nothing can have stood for so long.
        let Some(deadline) = due else { return false };
        let before = self.stalls.len();
        let mut seen: Vec<(PortId, u8, u8)> = self.stalled.clone();
        // The longest wait first, ties by name: what is reported must not depend on where packets lie.
        let mut old: Vec<(u64, Spot, &Packet)> = (0..view.parts.len())
            .flat_map(|part| view.within(part))
            .filter_map(|(spot, p)| Some((view.stands_since(spot)?, spot, p)))
            .filter(|(since, ..)| *since <= deadline)
            .collect();
        old.sort_by_key(|(since, _, p)| (*since, p.source, p.origin, p.sequence, p.port));
        for (since, spot, record) in old {
            let port = record.port;
            let links = &view.of(port).links;
            let place = (port, links.channel_of(port, record.priority), record.queue);
            if seen.contains(&place) {
                continue;
            }
            // At its source a packet may wait long behind others; only a stopped queue or a transmitter
            // that does not start anything is suspicious there.
            let troubled = view.troubled_since(spot);
            let clock = &links.ports[port.index()].tx.clock;
            let suspicious = match clock.stopped_since(record.priority, record.queue) {
                Some(since) => since <= deadline,
                // Repetitions count as starts.
                None => {
                    let fruitless = troubled.is_some() || view.is_refused(port, record.priority);
                    links.nodes.is_switch(port) || clock.last_start() <= deadline || fruitless
                }
            };
            if !suspicious {
                continue;
            }
            seen.push(place);
            let (cycle, nodes) = match walk(view, spot, 10_000) {
                Walk::Cycle(nodes) => (true, nodes),
                Walk::Chain(nodes) => (false, nodes),
                Walk::Cut(_) => continue,
            };
            let last = *nodes.last().expect("a walk has its start");
            let moves = match view.reason(last) {
                Reason::Moving => true,
                // Who waited before may have waited for something else.
                Reason::NoLink => view.is_cut_off_after(view.record(last).port, deadline),
                _ => false,
            };
            // With nothing left to happen, nothing moves: whatever the walk ends at is stuck.
            if !cycle && !idle && moves {
                continue;
            }
            let walk = nodes.iter().map(|n| view.describe(*n)).collect();
            self.stalled.push(place);
            self.stalls.push(StallReport { at, since: Time(since), cycle, walk });
        }
        self.stalls.len() > before
    }

    /// Looks once more when a run ends: what waited in a fabric that had been empty for long would be told at
    /// a look that does not come any more.
    pub fn look_at_end<P: Build>(&mut self, parts: &[&Fabric<P>], part_of: &[u16], until: Time, idle: bool) {
        if self.stall_after != 0 {
            self.look(&View::new(parts, part_of, EventKey::floor(until, class::WATCH)), idle);
        }
    }

    /// From a look to the next, ps. Where nothing is on its way nothing waits: it looks less and less often,
    /// or an idle hour costs millions of looks.
    pub fn pause(&mut self, empty: bool) -> u64 {
        self.watch_steps = if empty { (2 * self.watch_steps).min(WATCH_STEPS) } else { 1 };
        self.watch_steps * self.stall_after
    }
}

impl<P: Build> Links<P> {
    /// The port through which a waiting packet came in, or [`PortId::NONE`] at its source.
    fn input_of(&self, record: &Packet) -> PortId {
        let base = self.base_of(record.port);
        if self.nodes.is_switch(base) { base + u32::from(record.input) } else { PortId::NONE }
    }

    /// The link of this port is down, or has given up: what was sent and is not acknowledged stands here.
    fn is_cut_off(&self, port: PortId) -> bool {
        self.cut_off_since(port).is_some()
    }

    /// Since when; 0 if it has given up by itself.
    fn cut_off_since(&self, port: PortId) -> Option<u64> {
        let end = self.ends.get(port.index())?.as_ref()?;
        end.is_gone().then(|| end.down_since().unwrap_or(0))
    }
}

impl<P: Build> Fabric<P> {
    /// The last look of the watchdog, at the end of a run.
    pub fn watch_the_end(&mut self, until: Time, idle: bool) {
        let mut watchdog = std::mem::take(&mut self.watchdog);
        watchdog.look_at_end(&[&*self], &[], until, idle);
        self.watchdog = watchdog;
    }

    pub(super) fn watch<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>) {
        let now = cx.now().0;
        self.settle(cx, cx.key());
        self.links.observe.pending -= 1;
        let idle = self.links.is_idle(cx);
        let mut watchdog = std::mem::take(&mut self.watchdog);
        let found = watchdog.look(&View::new(&[&*self], &[], cx.key()), idle);
        self.watchdog = watchdog;
        if found && self.links.config.stop_on_stall {
            cx.stop();
        }
        if !idle {
            self.links.observe.pending += 1;
            let next = now + self.watchdog.pause(self.links.packets.len() == 0);
            let key = self.links.observe.keys.make(Time(next), class::WATCH);
            cx.post(key, 0, Happening::Watch.pack());
        }
    }
}
