//! VoQ backpressure in the fabric: verdicts become messages, messages stop staging queues.
//!
//! What is said and what it means is decided by the `voq-backpressure` crate; here are the places where a
//! message waits for its symbol, travels, and acts on the queues of the upstream transmitter.

use crate::config::{FabricConfig, LossKind, PRIORITIES};
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::{Mode, Parked, special};
use crate::link::symbol::{CHANNEL_COUNT, MessagePlace};
use crate::link::wire::Function;
use crate::observe::Build;
use crate::observe::mark;
use crate::observe::probe::StagingEdge;
use crate::packet::{List, MULTICAST_QUEUES, UNSTAGED, sole_port};
use crate::ports::{PortSet, Ports};
use lp_serial::control_symbol::ControlSymbol;
use sim_core::{Event, EventKey, EventList, Time};
use std::collections::BTreeMap;
use voq_backpressure::codec::View;
use voq_backpressure::originator::{Verdict, Written};
use voq_backpressure::symbol::{Scope, Vc};
use voq_backpressure::{Carrier, Message, Opportunity, Originator, Receiver, csr};

/// A scheduled loss and what it has seen.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    port: (u32, u8),
    kind: LossKind,
    left: u32,
    /// Status bits last sent, by channel and group.
    sent: Vec<[u8; 32]>,
}

/// Scheduled losses of messages of a device.
pub(crate) fn losses(config: &FabricConfig, device: u32) -> Vec<Loss> {
    config
        .symbol_losses
        .iter()
        .filter(|loss| loss.device == device)
        .map(|l| Loss {
            port: (l.device, l.port),
            kind: l.kind,
            left: l.nth,
            sent: vec![[0; 32]; CHANNEL_COUNT],
        })
        .collect()
}

/// What a message rides on that is tied to no virtual channel: anything, so which symbol it is does not
/// matter.
const ANY_SYMBOL: Carrier = Carrier::Status;

impl<P: Build> Links<P> {
    /// Whether packets of VC0 in a staging queue, or set, of `output` have to wait for a message.
    #[inline(always)]
    pub fn is_stopped(&self, output: PortId, queue: u8) -> bool {
        let stopped = |parked: &Parked<P::Ports>| parked.queue == queue && parked.stopped;
        self.ports[output.index()].tx.parked_any
            && queue != UNSTAGED
            && self.cold[output.index()].parked.iter().any(stopped)
    }

    /// Whether a packet has to wait at its output for a message.
    pub fn is_held(&self, packet: u32) -> bool {
        let record = &self.packets[packet];
        match self.channel_of(record.port, record.priority) {
            0 => self.is_stopped(record.port, record.queue),
            channel => self.is_stopped_in(record.port, channel, record.queue),
        }
    }

    /// Staging queue of a unicast packet that leaves through `output` for the neighbour's port `next_hop`.
    #[inline(always)]
    pub fn queue_of(&self, output: PortId, next_hop: u8) -> u8 {
        match self.identity_queues[output.index()] {
            0 => UNSTAGED,
            0xFF => self.cold[output.index()].queue_of(next_hop),
            ports if next_hop < ports => next_hop,
            _ => UNSTAGED,
        }
    }

    /// Queue of a packet that stands for a set of the neighbour's ports.
    pub fn queue_of_set(&self, output: PortId, set: PortSet) -> u8 {
        let cold = &self.cold[output.index()];
        match set.len() {
            0 => UNSTAGED,
            1 => cold.queue_of(sole_port(set)),
            _ => match &cold.staging {
                None => UNSTAGED,
                Some(staging) => {
                    let n = staging.multicast.iter().position(|m| *m == set).expect("set was announced");
                    MULTICAST_QUEUES + n as u8
                }
            },
        }
    }

    /// A staging queue of `port` stops or goes, in VC0 (0) or another channel of its link.
    fn edge(&mut self, port: PortId, channel: u8, queue: u8, stopped: bool, now: u64) {
        let tx = &mut self.ports[port.index()].tx;
        tx.clock.edge(now, channel, queue, stopped);
        let cold = &mut self.cold[port.index()];
        if stopped {
            cold.stats.xoff_edges += 1;
        } else {
            cold.stats.xon_edges += 1;
        }
        if channel == 0 {
            self.edge_in_vc0(port, queue, stopped);
        } else {
            self.channels_mut(port).stop(channel, queue, stopped);
        }
        let device = self.ports[port.index()].link.device;
        let number = self.nodes.number(device, port);
        let kind = if stopped { mark::STOPPED } else { mark::RELEASED };
        let place = u64::from(channel) << 8 | u64::from(queue);
        self.observe.outcome.record(kind, Time(now), u64::from(port), place);
        let edge = StagingEdge { at: Time(now), device, port: number, channel, queue, stopped };
        self.observe.probe.staging_edge(&edge);
    }

    /// What waits for a staging queue of VC0 moves aside, or comes back.
    fn edge_in_vc0(&mut self, port: PortId, queue: u8, stopped: bool) {
        let tx = &mut self.ports[port.index()].tx;
        let cold = &mut self.cold[port.index()];
        if queue < tx.queue_lanes {
            cold.stopped_lanes = cold.stopped_lanes ^ P::Ports::one(queue.into());
            debug_assert_eq!(cold.stopped_lanes.has(queue.into()), stopped);
        }
        match cold.parked_of(queue) {
            _ if queue < tx.queue_lanes => {}
            Some(n) => {
                cold.parked[n].stopped = stopped;
                if !stopped && cold.parked[n].count == 0 {
                    let emptied = cold.parked.swap_remove(n);
                    cold.spare.push(emptied);
                }
            }
            None => {
                debug_assert!(stopped, "a queue that goes was stopped");
                let mut parked = cold.spare.pop().unwrap_or_else(|| Parked {
                    lists: vec![List::default(); cold.lane_count as usize * PRIORITIES],
                    ..Parked::default()
                });
                (parked.queue, parked.stopped) = (queue, stopped);
                cold.parked.push(parked);
            }
        }
        tx.parked_any = !cold.parked.is_empty();
    }

    /// A message reaches the upstream transmitter `port`; creations of this instant have been made up.
    /// Whether it releases a queue, if the port stages.
    pub fn receive_message<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        message: (u8, u16),
    ) -> Option<bool> {
        if !self.take_message(port) {
            return None;
        }
        let what = u64::from(message.0) << 16 | u64::from(message.1);
        self.observe.trajectory.record(mark::MESSAGE, cx.now(), u64::from(port), what);
        if self.ports[port.index()].tx.clock.blocked() != 0 {
            // The clock's changes come in the order of time.
            self.consume(cx, port, cx.key());
        }
        let cold = &mut self.cold[port.index()];
        cold.staging.as_ref()?;
        cold.stats.voq_received += 1;
        self.apply_message(cx.now().0, port, message)
    }

    /// Does what a message says, on a port that stages; it came on a symbol that names the channel. Whether a
    /// queue is released.
    pub fn apply_message(&mut self, now: u64, port: PortId, (channel, field): (u8, u16)) -> Option<bool> {
        let tx = &mut self.ports[port.index()].tx;
        let cold = &mut self.cold[port.index()];
        let staging = cold.staging.as_mut()?;
        let base = u16::from(View::new(field).group()) * 6;
        let receiver = &mut staging.receiver;
        let vcs = staging.vcs;
        let named = vcs.iter().nth(channel.into()).expect("the channel is active");
        let status = |receiver: &Receiver, vc| {
            let congested = |k: &u16| receiver.is_congested(vc, base + k);
            (0..6).filter(congested).fold(0u8, |status, k| status | 1 << k)
        };
        let mut before = [0; CHANNEL_COUNT];
        vcs.iter().zip(&mut before).for_each(|(vc, before)| *before = status(receiver, vc));
        let mut edges = [(0u8, 0u8, false); 6 * CHANNEL_COUNT];
        let mut count = 0;
        receiver.apply(Carrier::naming(named), field, |edge| {
            let channel = vcs.iter().position(|vc| vc == edge.vc).expect("the channel is active");
            edges[count] = (channel as u8, edge.queue as u8, edge.stopped);
            count += 1;
        });
        for ((channel, vc), before) in (0..).zip(vcs.iter()).zip(before) {
            let after = status(receiver, vc);
            for k in (0..6).filter(|k| (before ^ after) >> k & 1 == 1) {
                tx.clock.set_congested(now, channel, (base + k) as u8, after >> k & 1 == 1);
            }
        }
        let mut sets = 0u64;
        for (n, set) in staging.multicast.iter().enumerate() {
            let named: voq_backpressure::Ports = set.iter().map(u16::from).collect();
            if !receiver.eligible_ports(&named) {
                sets |= 1 << n;
            }
        }
        let mut changed = sets ^ staging.multicast_stopped;
        staging.multicast_stopped = sets;
        let mut released = false;
        for &(channel, queue, stopped) in &edges[..count] {
            self.edge(port, channel, queue, stopped, now);
            released |= !stopped;
        }
        while changed != 0 {
            let n = changed.trailing_zeros();
            changed &= changed - 1;
            let stopped = sets & (1 << n) != 0;
            self.edge(port, 0, MULTICAST_QUEUES + n as u8, stopped, now);
            released |= !stopped;
        }
        Some(released)
    }

    /// Messages, with their channels, by which everything that `port` stages can be released: what the
    /// neighbour had said is void.
    pub fn all_clear(&self, port: PortId) -> impl Iterator<Item = (u8, u16)> + use<P> {
        let staging = self.cold[port.index()].staging.as_ref();
        let ports = staging.map_or(0, |staging| staging.queue_of_port.len());
        let channels = staging.filter(|staging| staging.linked).map_or(1, |staging| staging.vcs.count());
        let clear = |group| Message::new(group, 0).expect("ports are below 192").to_field();
        (0..channels as u8)
            .flat_map(move |channel| (0..ports.div_ceil(6) as u8).map(move |group| (channel, clear(group))))
    }
}

/// What a switch has to say to its neighbours, and how it says it.
#[derive(Clone, Debug)]
pub(crate) struct Backpressure {
    pub originator: Originator,
    /// Port 0.
    pub base: PortId,
    /// From a mark to its message, by port.
    pub delays: Vec<u64>,
    /// Whether all is told again after the link of a port has recovered.
    pub after_recovery: Vec<bool>,
    /// Scheduled losses of its messages.
    pub losses: Vec<Loss>,
    /// Since when GEN_EN of a port is cleared that was set, by port.
    pub silent: BTreeMap<u16, Time>,
}

/// The device that sends a message through `port` now, and the key at which the other end obeys it.
fn arrival<P: Build, L: EventList<Payload>>(
    links: &mut Links<P>,
    cx: &Cx<'_, L>,
    port: PortId,
) -> (u32, EventKey) {
    let link = &links.ports[port.index()].link;
    let (device, timing) = (link.device, &links.timings[link.timing as usize]);
    let obeyed = links.cold[port.index()].obeyed_after;
    let at = cx.now().0 + timing.wire.symbol + timing.propagation + obeyed;
    (device, links.key(device, at, class::SYMBOL))
}

impl Backpressure {
    /// Messages that are due at the start of the run.
    pub fn bootstrap<P: Build>(
        &self,
        links: &mut Links<P>,
        ports: u32,
        schedule: &mut impl FnMut(Event<Payload>),
    ) {
        for port in self.base.span(ports) {
            if self.originator.needs_symbol((port - self.base) as u16) {
                links.ports[port.index()].tx.voq_pending = true;
                let key = links.key(links.ports[port.index()].link.device, 0, class::SYMBOL);
                schedule(Event { key, target: port.into(), payload: Happening::MessageDue.pack() });
            }
        }
    }

    /// The verdict of a detector on an egress port changed: for one upstream, or for all.
    pub fn verdict<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        (input, out): (Option<u32>, u32),
        channel: Option<u8>,
        congested: bool,
    ) {
        if let Some(channel) = channel {
            let vc = self.vc(channel);
            let one = input.is_some() || self.originator.options().verdict == Verdict::Shared;
            let last = if one { 0 } else { self.delays.len() as u32 - 1 };
            let first = input.unwrap_or(0);
            let mut marked = voq_backpressure::Ports::default();
            for input in first..=first + last {
                let told = self.originator.set_congested_in(input as u16, vc, out as u16, congested);
                told.iter().for_each(|port| marked.insert(port));
            }
            self.request_all(links, cx, &marked);
        } else if let Some(input) = input {
            if self.originator.set_congested_for(input as u16, out as u16, congested) {
                self.request(links, cx, self.base + input);
            }
        } else {
            let marked = self.originator.set_congested(out as u16, congested);
            self.request_all(links, cx, &marked);
        }
    }

    /// A channel of the ports that link messages with channels.
    pub fn vc(&self, channel: u8) -> Vc {
        self.originator.options().vcs.iter().nth(channel.into()).expect("the channel is active")
    }

    /// Messages have to leave through these ports.
    fn request_all<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        marked: &voq_backpressure::Ports,
    ) {
        for port in marked.iter() {
            self.request(links, cx, self.base + u32::from(port));
        }
    }

    /// The VoQ register of a port was written through the fabric.
    pub fn write<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        value: u32,
    ) {
        let p = (port - self.base) as u16;
        let before = self.originator.block().port(p).has(csr::GEN_EN);
        let Written { marked, stale, .. } = self.originator.write_csr(p, value);
        let after = self.originator.block().port(p).has(csr::GEN_EN);
        if before != after {
            match after {
                true => self.silent.remove(&p),
                false => self.silent.insert(p, cx.now()),
            };
            let cold = &links.cold[port.index()];
            let begin = cx.now().0.saturating_add(cold.refresh_every);
            let owed = cold.refresh_event != u64::MAX;
            links.ports[port.index()].tx.refresh_at = if after { begin } else { u64::MAX };
            if after && owed {
                links.post_refresh(cx, port, begin);
            }
        }
        // What is repeated next is not what the neighbours know.
        for port in stale.iter() {
            links.schedule_refresh(cx, self.base + u32::from(port));
        }
        self.request_all(links, cx, &marked);
    }

    /// Whether all is told again after the link of `port` has recovered (Part 12 §4.2 g).
    pub fn repairs(&self, port: PortId) -> bool {
        self.after_recovery[(port - self.base) as usize]
    }

    /// Something has happened to the link of `port`, of which the originator learns by `what`.
    pub fn learn<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        what: impl FnOnce(&mut Originator, u16),
    ) {
        let p = (port - self.base) as u16;
        what(&mut self.originator, p);
        if self.originator.needs_symbol(p) {
            self.request(links, cx, port);
        }
    }

    /// Something is marked at `port`: a message has to leave through it.
    pub fn request<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let tx = &mut links.ports[port.index()].tx;
        if tx.voq_pending {
            return;
        }
        tx.voq_pending = true;
        let delay = self.delays[(port - self.base) as usize];
        if delay == 0 {
            self.place(links, cx, port);
        } else {
            let device = links.ports[port.index()].link.device;
            let key = links.key(device, cx.now().0 + delay, class::SYMBOL);
            cx.post(key, port.into(), Happening::MessageDue.pack());
        }
    }

    /// The message of `port` takes the next stype2 place on the wire; its content is sampled there.
    pub fn place<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let now = cx.now().0;
        if self.originator.is_linked((port - self.base) as u16) {
            return self.place_linked(links, cx, port);
        }
        let link = &mut links.ports[port.index()].link;
        let slot = link.wire.due(now, Function::Stype2, links.timings[link.timing as usize].wire);
        let (device, mode, watched) = (link.device, link.mode(), link.special() & special::WATCHED != 0);
        let stats = &mut links.cold[port.index()].stats;
        if slot.riding {
            stats.voq_riding += 1;
        } else {
            stats.voq_standalone += 1;
        }
        if mode == Mode::Symbols || watched {
            links.end(port).note_place(now, slot.start);
        }
        if slot.start == now {
            self.send(links, cx, port);
        } else {
            let key = links.key(device, slot.start, class::SYMBOL);
            cx.post(key, port.into(), Happening::MessageOut.pack());
        }
        if mode == Mode::Symbols {
            links.arrange(cx, port);
        }
    }

    /// The message of `port` is tied to a channel: a status of that channel becomes due to carry it.
    fn place_linked<P: Build, L: EventList<Payload>>(
        &self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let needed = self.originator.needed_carrier((port - self.base) as u16);
        let vcs = self.originator.options().vcs;
        let channel = needed.and_then(|carrier| vcs.iter().position(|vc| Carrier::naming(vc) == carrier));
        let placed = channel.is_some_and(|channel| links.place_linked(cx, port, channel as u8));
        links.ports[port.index()].tx.voq_pending = placed;
    }

    /// The status leaves that was due to carry the message of `port`, sound or damaged: its content is what
    /// is true now.
    pub fn send_linked<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        (mut symbol, mut damaged): (ControlSymbol, bool),
    ) {
        let p = (port - self.base) as u16;
        let carrier = Carrier::of(&symbol);
        links.ports[port.index()].tx.voq_pending = false;
        let field = self.originator.poll_symbol(p, Opportunity::riding(carrier));
        let vcs = self.originator.options().vcs;
        if let Some(field) = field {
            let named = carrier.scope(true, vcs);
            let named = vcs.iter().position(|vc| named == Ok(Scope::One(vc))).expect("the channel is active");
            let (device, key) = arrival(links, cx, port);
            let struck = self.struck((device, p as u8), named, field);
            links.cold[port.index()].stats.voq_struck += struck;
            symbol = symbol.with_stype2(field).expect("14 bits, on long symbols");
            damaged |= struck > 0;
            if damaged {
                links.linked_lost(cx, port);
            } else {
                links.cold[port.index()].messages_on_wire += 1;
                links.post_message(cx, port, key, (named as u8, field));
            }
        }
        if links.ports[port.index()].link.special() & special::CHECK != 0 {
            links.check_symbol(port, cx.now().0, symbol, damaged);
        }
        if self.originator.needs_symbol(p) {
            self.request(links, cx, port);
        }
    }

    /// The message of `port` is put on the link: its content is what is true now.
    pub fn send<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let p = (port - self.base) as u16;
        let symbolic = links.ports[port.index()].link.mode() == Mode::Symbols;
        if symbolic {
            match links.place_for_message(cx.now().0, port) {
                MessagePlace::Here => {}
                MessagePlace::Later => return self.place(links, cx, port),
                MessagePlace::NoLink => return,
            }
        }
        links.ports[port.index()].tx.voq_pending = false;
        let field = self.originator.poll_symbol(p, Opportunity::riding(ANY_SYMBOL));
        let more = self.originator.needs_symbol(p);
        if let Some(field) = field {
            let (device, key) = arrival(links, cx, port);
            let struck = self.struck((device, p as u8), 0, field);
            let checks = links.ports[port.index()].link.special() & special::CHECK != 0;
            links.cold[port.index()].stats.voq_struck += struck;
            if checks && !symbolic {
                links.check_message(port, cx.now().0, field, struck > 0);
            }
            if struck > 0 {
                if checks && symbolic {
                    links.end(port).write_only(cx.now().0, field, true);
                }
                links.cold[port.index()].stats.voq_lost += 1;
                links.schedule_refresh(cx, port);
            } else {
                links.cold[port.index()].messages_on_wire += 1;
                if symbolic {
                    links.end(port).message = Some((key, field));
                } else {
                    links.post_message(cx, port, key, (0, field));
                }
            }
        }
        if more {
            self.request(links, cx, port);
        }
    }

    /// How many of the scheduled losses strike this message: with any it is lost.
    fn struck(&mut self, port: (u32, u8), channel: usize, field: u16) -> u64 {
        let message = View::new(field);
        let mut struck = 0;
        for loss in self.losses.iter_mut().filter(|l| l.port == port) {
            let before =
                std::mem::replace(&mut loss.sent[channel][message.group() as usize], message.status());
            let counts = match loss.kind {
                LossKind::Any => true,
                LossKind::Xoff => message.status() & !before != 0,
                LossKind::Xon => before & !message.status() != 0,
            };
            if counts && loss.left > 0 {
                loss.left -= 1;
                struck += u64::from(loss.left == 0);
            }
        }
        struck
    }

    /// The refresh of `port`, whose neighbour missed a message.
    pub fn refresh<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        if links.takes_refresh(cx.now().0, port) && self.originator.refresh((port - self.base) as u16) {
            self.request(links, cx, port);
        }
    }
}
