//! VoQ backpressure in the fabric: verdicts become messages, messages stop staging queues.
//!
//! What is said and what it means is decided by the `voq-backpressure` crate; here are the places where a
//! message waits for its symbol, travels, and acts on the queues of the upstream transmitter.

use crate::config::{DeviceModel, FabricConfig, LossKind, PRIORITIES, StagingConfig};
use crate::event::{Cx, Happening, Payload, class};
use crate::link::Links;
use crate::link::port::{NONE, Parked, Staging, special};
use crate::link::wire::Function;
use crate::observe::mark;
use crate::observe::probe::{Probe, StagingEdge};
use crate::packet::{List, MULTICAST_QUEUES, UNSTAGED};
use crate::world::Fabric;
use lp_serial::Form;
use sim_core::{Event, EventList, Time};
use voq_backpressure::codec::View;
use voq_backpressure::csr::{self, Support};
use voq_backpressure::originator::{Options, Verdict};
use voq_backpressure::receiver::Reception;
use voq_backpressure::symbol::Vc;
use voq_backpressure::{ActiveVcs, Carrier, Opportunity, Originator, Ports, Receiver};

/// A scheduled loss and what it has seen.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    port: (u32, u8),
    kind: LossKind,
    left: u32,
    /// Status bits last sent, by group.
    sent: [u8; 32],
}

pub(crate) fn losses(config: &FabricConfig) -> Vec<Loss> {
    config
        .symbol_losses
        .iter()
        .map(|l| Loss { port: (l.device, l.port), kind: l.kind, left: l.nth, sent: [0; 32] })
        .collect()
}

/// What a message can ride on here: everything but the linked forms, because the fabric runs VC0 alone.
const ANY_SYMBOL: Carrier = Carrier::Status;

impl<P: Probe> Links<P> {
    /// Charges the refreshes that fell due while the direction was not used: one run before the packet. They
    /// repeat what the neighbour knows, so they are no events.
    #[inline]
    pub fn charge_refresh(&mut self, port: u32, now: u64) {
        if now >= self.ports[port as usize].tx.refresh_at {
            self.charge_due_refresh(port, now);
        }
    }

    #[cold]
    fn charge_due_refresh(&mut self, port: u32, now: u64) {
        let tx = &mut self.ports[port as usize].tx;
        let cold = &mut self.cold[port as usize];
        if cold.refresh_event == now {
            // The event of this instant sends it.
            return;
        }
        tx.refresh_at = due_after(tx.refresh_at, now, cold.refresh_every);
        cold.stats.voq_refreshes += 1;
        let rx = &mut self.ports[port as usize].rx;
        let groups = self.config.devices[rx.device as usize].ports.len().div_ceil(6);
        let timing = self.timings[rx.timing as usize].wire;
        for _ in 0..groups {
            let slot = rx.wire.due(now, Function::Stype2, timing);
            if let Some(Some(end)) = self.ends.get_mut(port as usize) {
                end.note_place(now, slot.start);
            }
            if slot.riding {
                cold.stats.voq_riding += 1;
            } else {
                cold.stats.voq_standalone += 1;
            }
        }
    }

    /// A message was lost: the next refresh of this port can change the neighbour, so it is an event, one for
    /// all that were lost before it.
    pub fn schedule_refresh<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let due = self.ports[port as usize].tx.refresh_at;
        let cold = &self.cold[port as usize];
        if due != u64::MAX && cold.refresh_event == u64::MAX {
            let at = due_after(due, cx.now().0, cold.refresh_every);
            self.post_refresh(cx, port, at);
        }
    }

    fn post_refresh<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, at: u64) {
        self.cold[port as usize].refresh_event = at;
        let key = self.key(self.ports[port as usize].rx.device, at, class::SYMBOL);
        cx.post(key, port, Happening::Refresh.pack());
    }

    /// A staging queue of `port` stops or goes.
    fn edge(&mut self, port: u32, queue: u8, stopped: bool, now: u64) {
        let tx = &mut self.ports[port as usize].tx;
        tx.clock.set_stopped(now, queue, stopped);
        let cold = &mut self.cold[port as usize];
        if stopped {
            cold.stats.xoff_edges += 1;
        } else {
            cold.stats.xon_edges += 1;
        }
        if queue < tx.queue_lanes {
            cold.stopped_lanes ^= 1 << queue;
            debug_assert_eq!(cold.stopped_lanes >> queue & 1 == 1, stopped);
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
        let device = self.ports[port as usize].rx.device;
        let number = self.nodes.number(device, port);
        let kind = if stopped { mark::STOPPED } else { mark::RELEASED };
        self.observe.outcome.record(kind, Time(now), u64::from(port), u64::from(queue));
        self.observe.probe.staging_edge(&StagingEdge { at: Time(now), device, port: number, queue, stopped });
    }
}

impl<P: Probe> Fabric<P> {
    /// Builds originators and receivers from the compiled registers and staging.
    pub fn set_up_staging(&mut self) {
        let config = self.links.config.clone();
        let mut long = vec![false; self.links.ports.len()];
        for link in &config.links {
            for (device, port) in [link.a, link.b] {
                long[self.links.nodes.port((device, port)) as usize] = link.long_symbols;
            }
        }
        for (d, device) in config.devices.iter().enumerate() {
            let base = self.links.nodes.first_port(d as u32);
            let staging = match &device.model {
                DeviceModel::Endpoint(e) => &e.staging,
                DeviceModel::Switch(s) => &s.staging,
            };
            for (p, port) in device.ports.iter().enumerate() {
                let index = base + p as u32;
                let peer = self.links.ports[index as usize].tx.peer;
                if peer == NONE
                    || *staging == StagingConfig::None
                    || !port.voq.rx_sup
                    || !long[index as usize]
                {
                    continue;
                }
                if !self.links.nodes.is_switch(peer) {
                    continue;
                }
                let built = self.build_staging(index, peer, staging);
                if !self.links.nodes.is_switch(index) {
                    let queues = built.receiver.map().queues().min(63);
                    let first = self.links.lists.len() as u32;
                    let lanes = u32::from(queues) + 1;
                    self.links
                        .lists
                        .resize(self.links.lists.len() + lanes as usize * PRIORITIES, List::default());
                    self.links.ports[index as usize].tx.lists = first;
                    self.links.ports[index as usize].tx.queue_lanes = queues as u8;
                    self.links.cold[index as usize].stride = lanes;
                    self.links.cold[index as usize].lane_count = lanes;
                }
                let ports = built.queue_of_port.len();
                let identity = built.queue_of_port.iter().enumerate().all(|(p, q)| usize::from(*q) == p);
                self.links.ports[index as usize].tx.identity_queues =
                    if identity { ports as u8 } else { 0xFF };
                self.links.cold[index as usize].staging = Some(built);
            }
            if let DeviceModel::Switch(s) = &device.model {
                self.build_originator(d, s, &long);
            } else {
                self.announce_multicast(d);
            }
        }
    }

    fn build_staging(&self, port: u32, peer: u32, staging: &StagingConfig) -> Box<Staging> {
        let neighbour = &self.switches[self.links.nodes.switch(peer)];
        let ports = neighbour.ports as u16;
        let map = staging.map(ports).expect("the scenario compiler checks staging maps");
        let queue_of_port =
            (0..ports).map(|p| map.queue(p).map_or(UNSTAGED, |q| q as u8)).collect::<Vec<u8>>();
        let mut multicast: Vec<u64> = Vec::new();
        if self.links.nodes.is_switch(port) {
            let own = &self.switches[self.links.nodes.switch(port)];
            let n = (port - own.base) as usize;
            multicast.extend(own.mask_next_hops.iter().map(|sets| sets[n]));
        } else {
            multicast.extend(neighbour.masks.iter().map(|m| m & !(1u64 << (peer - neighbour.base))));
        }
        multicast.retain(|set| set.count_ones() > 1);
        multicast.sort_unstable();
        multicast.dedup();
        assert!(multicast.len() <= 63, "more than 63 multicast sets behind one port");
        Box::new(Staging {
            receiver: Receiver::new(map, ActiveVcs::None, Reception::Honoured),
            queue_of_port,
            multicast,
            multicast_stopped: 0,
        })
    }

    /// An endpoint learns which of the neighbour's ports its multicast packets will use.
    fn announce_multicast(&mut self, device: usize) {
        let port = self.links.nodes.first_port(device as u32);
        let peer = self.links.ports[port as usize].tx.peer;
        if peer == NONE
            || !self.links.nodes.is_switch(peer)
            || self.links.cold[port as usize].staging.is_none()
        {
            return;
        }
        let neighbour = &self.switches[self.links.nodes.switch(peer)];
        let own = peer - neighbour.base;
        let mut found = Vec::new();
        for (id, hop) in neighbour.routes.iter().enumerate() {
            if hop.egress & crate::switch::MASK != 0 && hop.egress != crate::switch::DROP {
                let mask = neighbour.masks[(hop.egress & !crate::switch::MASK) as usize];
                found.push((id as u32, mask & !(1u64 << own)));
            }
        }
        let e = self.links.nodes.endpoint(port);
        self.endpoints[e].multicast =
            found.into_iter().map(|(id, set)| (id, self.links.queue_of_set(port, set), set)).collect();
    }

    fn build_originator(&mut self, d: usize, s: &crate::config::SwitchConfig, long: &[bool]) {
        let config = self.links.config.clone();
        let device = &config.devices[d];
        let later = config.enumeration.is_some();
        if !later && device.ports.iter().all(|p| !p.voq.gen_en) {
            return;
        }
        let support: Vec<Support> = device
            .ports
            .iter()
            .map(|p| Support { generation: p.voq.gen_sup, reception: p.voq.rx_sup, linking: false })
            .collect();
        let verdict = match s.detector {
            Some(d) if d.verdict == crate::config::Verdict::PerIngress => Verdict::PerIngress,
            _ => Verdict::Shared,
        };
        let options = Options { verdict, refresh: s.refresh.is_some(), ..Options::default() };
        let mut originator = Originator::new(&support, options).expect("a switch has at most 64 ports");
        // Registers first, links afterwards: at link-up only groups with a congested port are told (VOQ-D17).
        for (p, port) in device.ports.iter().enumerate().filter(|_| !later) {
            let bit = |on: bool, mask: u32| if on { mask } else { 0 };
            let value = bit(port.voq.gen_en, csr::GEN_EN)
                | bit(port.voq.part, csr::PART)
                | bit(port.voq.xoff, csr::XOFF);
            originator.write_csr(p as u16, value);
        }
        let base = self.links.nodes.first_port(d as u32);
        for p in 0..device.ports.len() {
            let index = base as usize + p;
            if !long[index] || self.links.ports[index].tx.peer == NONE {
                continue;
            }
            originator.link_up(p as u16, Form::Long);
            let every = s.refresh.map_or(u64::MAX, |d| d.0);
            self.links.cold[index].refresh_every = every;
            if originator.active().contains(p as u16) {
                self.links.ports[index].tx.refresh_at = every;
            }
        }
        let switch = self.links.nodes.switch(base);
        self.switches[switch].originator = Some(Box::new(originator));
    }

    /// Messages that are due at the start of the run.
    pub fn bootstrap_messages(&mut self, schedule: &mut impl FnMut(Event<Payload>)) {
        for s in 0..self.switches.len() {
            let (base, ports, device) =
                (self.switches[s].base, self.switches[s].ports, self.switches[s].device);
            for p in 0..ports {
                let due = self.switches[s].originator.as_ref().is_some_and(|o| o.needs_symbol(p as u16));
                if due {
                    self.links.ports[(base + p) as usize].tx.voq_pending = true;
                    let key = self.links.key(device, 0, class::SYMBOL);
                    schedule(Event { key, target: base + p, payload: Happening::MessageDue.pack() });
                }
            }
        }
    }

    /// The detector's verdict on an egress port changed (for one upstream, or for all).
    pub fn verdict<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        s: usize,
        input: u32,
        out: u32,
        congested: bool,
    ) {
        let switch = &mut self.switches[s];
        let (base, per_ingress) = (switch.base, switch.per_ingress);
        let Some(originator) = &mut switch.originator else { return };
        if per_ingress {
            if originator.set_congested_for(input as u16, out as u16, congested) {
                self.request_message(cx, base + input);
            }
        } else {
            let marked: Ports = originator.set_congested(out as u16, congested);
            for port in marked.iter() {
                self.request_message(cx, base + u32::from(port));
            }
        }
    }

    /// The VoQ register of a port was written through the fabric.
    pub fn write_voq<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, value: u32) {
        let s = self.links.nodes.switch(port);
        let base = self.switches[s].base;
        let p = (port - base) as u16;
        let Some(originator) = &mut self.switches[s].originator else { return };
        let before = originator.block().port(p).has(csr::GEN_EN);
        let marked = originator.write_csr(p, value).marked;
        let after = originator.block().port(p).has(csr::GEN_EN);
        if before != after {
            let cold = &self.links.cold[port as usize];
            let begin = cx.now().0.saturating_add(cold.refresh_every);
            let owed = cold.refresh_event != u64::MAX;
            self.links.ports[port as usize].tx.refresh_at = if after { begin } else { u64::MAX };
            if after && owed {
                self.links.post_refresh(cx, port, begin);
            }
        }
        for port in marked.iter() {
            self.request_message(cx, base + u32::from(port));
        }
    }

    /// Something is marked at `port`: a message has to leave through it.
    pub fn request_message<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let s = self.links.nodes.switch(port);
        let delay = self.switches[s].generation_delay;
        let tx = &mut self.links.ports[port as usize].tx;
        if tx.voq_pending {
            return;
        }
        tx.voq_pending = true;
        if delay == 0 {
            self.place_message(cx, port);
        } else {
            let device = self.links.ports[port as usize].rx.device;
            let key = self.links.key(device, cx.now().0 + delay, class::SYMBOL);
            cx.post(key, port, Happening::MessageDue.pack());
        }
    }

    /// The message of `port` takes the next stype2 place on the wire; its content is sampled there.
    pub fn place_message<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let now = cx.now().0;
        let rx = &mut self.links.ports[port as usize].rx;
        let slot = rx.wire.due(now, Function::Stype2, self.links.timings[rx.timing as usize].wire);
        let device = rx.device;
        let stats = &mut self.links.cold[port as usize].stats;
        if slot.riding {
            stats.voq_riding += 1;
        } else {
            stats.voq_standalone += 1;
        }
        let symbolic = rx.special & special::SYMBOLS != 0;
        if symbolic || rx.special & special::WATCHED != 0 {
            self.links.end(port).note_place(now, slot.start);
        }
        if slot.start == now {
            self.message_out(cx, port);
        } else {
            let key = self.links.key(device, slot.start, class::SYMBOL);
            cx.post(key, port, Happening::MessageOut.pack());
        }
        if symbolic {
            self.links.arrange(cx, port);
        }
    }

    pub fn message_due<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        self.place_message(cx, port);
    }

    /// The message of `port` is put on the link: its content is what is true now.
    pub fn message_out<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let s = self.links.nodes.switch(port);
        let base = self.switches[s].base;
        let p = (port - base) as u16;
        let symbolic = self.links.ports[port as usize].rx.special & special::SYMBOLS != 0;
        if symbolic && !self.has_place(cx, port) {
            return;
        }
        self.links.ports[port as usize].tx.voq_pending = false;
        let Some(originator) = &mut self.switches[s].originator else { return };
        let field = originator.poll_symbol(p, Opportunity::riding(ANY_SYMBOL));
        let more = originator.needs_symbol(p);
        if let Some(field) = field {
            let rx = &self.links.ports[port as usize].rx;
            let timing = &self.links.timings[rx.timing as usize];
            let at = cx.now().0 + timing.wire.symbol + timing.propagation;
            let (peer, device) = (rx.peer, rx.device);
            let key = self.links.key(device, at, class::SYMBOL);
            if self.is_lost((device, p as u8), field) {
                self.links.cold[port as usize].stats.voq_lost += 1;
                self.links.schedule_refresh(cx, port);
            } else {
                self.links.cold[port as usize].messages_on_wire += 1;
                if symbolic {
                    self.links.end(port).message = Some((key, field));
                } else {
                    if self.links.ports[port as usize].rx.special & special::CHECK != 0 {
                        self.links.check_message(field);
                    }
                    cx.post(key, peer, Happening::Message { field }.pack());
                }
            }
        }
        if more {
            self.request_message(cx, port);
        }
    }

    fn is_lost(&mut self, port: (u32, u8), field: u16) -> bool {
        let message = View::new(field);
        let mut lost = false;
        for loss in self.losses.iter_mut().filter(|l| l.port == port) {
            let before = std::mem::replace(&mut loss.sent[message.group() as usize], message.status());
            let counts = match loss.kind {
                LossKind::Any => true,
                LossKind::Xoff => message.status() & !before != 0,
                LossKind::Xon => before & !message.status() != 0,
            };
            if counts && loss.left > 0 {
                loss.left -= 1;
                lost |= loss.left == 0;
            }
        }
        lost
    }

    // --- refresh ---------------------------------------------------------------------------------

    pub fn refresh_event<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let s = self.links.nodes.switch(port);
        let p = (port - self.switches[s].base) as u16;
        let tx = &mut self.links.ports[port as usize].tx;
        let cold = &mut self.links.cold[port as usize];
        if tx.refresh_at == u64::MAX || cold.refresh_event != cx.now().0 {
            // The port was disabled meanwhile; enabled again it has another one.
            return;
        }
        cold.refresh_event = u64::MAX;
        cold.stats.voq_refreshes += 1;
        // What fell due before is sent with it.
        tx.refresh_at = due_after(tx.refresh_at, cx.now().0, cold.refresh_every);
        let marked = self.switches[s].originator.as_mut().is_some_and(|o| o.refresh(p));
        if marked {
            self.request_message(cx, port);
        }
    }

    // --- obeying ---------------------------------------------------------------------------------

    /// A message reaches the upstream transmitter `port`.
    pub fn message<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, field: u16) {
        let now = cx.now().0;
        let switch = self.links.nodes.is_switch(port);
        if !switch {
            // What is created at this instant meets the queues as the message leaves them.
            let e = self.links.nodes.endpoint(port);
            self.materialise_only(cx, e, now);
        }
        let sender = self.links.ports[port as usize].tx.peer;
        self.links.cold[sender as usize].messages_on_wire -= 1;
        if self.links.ports[port as usize].rx.special & special::SYMBOLS != 0
            && self.links.end(port).is_down()
        {
            self.links.cold[sender as usize].stats.voq_lost += 1;
            return;
        }
        self.links.observe.trajectory.record(mark::MESSAGE, cx.now(), u64::from(port), u64::from(field));
        if self.links.ports[port as usize].tx.clock.blocked() != 0 {
            // The clock's changes come in the order of time.
            self.consume(cx, port, cx.key());
        }
        if self.links.cold[port as usize].staging.is_some() {
            self.links.cold[port as usize].stats.voq_received += 1;
            self.obey(cx, port, field);
        }
    }

    /// Does what a message says, on a port that stages.
    pub fn obey<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, field: u16) {
        let now = cx.now().0;
        let switch = self.links.nodes.is_switch(port);
        let tx = &mut self.links.ports[port as usize].tx;
        let cold = &mut self.links.cold[port as usize];
        let Some(staging) = &mut cold.staging else { return };
        let base = u16::from(View::new(field).group()) * 6;
        let receiver = &mut staging.receiver;
        let before: [bool; 6] = std::array::from_fn(|k| receiver.is_congested(Vc::VC0, base + k as u16));
        let mut edges = [(0u8, false); 6];
        let mut count = 0;
        receiver.apply(ANY_SYMBOL, field, |edge| {
            edges[count] = (edge.queue as u8, edge.stopped);
            count += 1;
        });
        for (k, before) in before.into_iter().enumerate() {
            let after = receiver.is_congested(Vc::VC0, base + k as u16);
            if after != before {
                tx.clock.set_congested(now, (base + k as u16) as u8, after);
            }
        }
        let mut sets = 0u64;
        for (n, set) in staging.multicast.iter().enumerate() {
            let mut ports = Ports::default();
            (0..64).filter(|p| set >> p & 1 == 1).for_each(|p| ports.insert(p));
            if !receiver.eligible_ports(&ports) {
                sets |= 1 << n;
            }
        }
        let mut changed = sets ^ staging.multicast_stopped;
        staging.multicast_stopped = sets;
        let mut released = false;
        for &(queue, stopped) in &edges[..count] {
            self.links.edge(port, queue, stopped, now);
            released |= !stopped;
        }
        while changed != 0 {
            let n = changed.trailing_zeros();
            changed &= changed - 1;
            let stopped = sets & (1 << n) != 0;
            self.links.edge(port, MULTICAST_QUEUES + n as u8, stopped, now);
            released |= !stopped;
        }
        if !switch {
            let e = self.links.nodes.endpoint(port);
            self.endpoint_turn(cx, e);
        } else if released {
            self.try_output(cx, port);
        }
    }
}

/// The first instant after `now` of those from `due` on, `every` apart.
fn due_after(due: u64, now: u64, every: u64) -> u64 {
    if due > now { due } else { due + ((now - due) / every + 1) * every }
}
