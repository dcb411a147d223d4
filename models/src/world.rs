//! The world: devices, ports and packets in dense arenas, and what every event does to them.
//!
//! Reading order: `event.rs` lists what can happen ([`Happening`]), `packet.rs` what a packet is, `link.rs`
//! and `link/transmit.rs` what a transmitter does with it, `switch.rs` what an arriving packet does,
//! `endpoint.rs` how packets are made and delivered, `voq.rs` how messages are made and obeyed,
//! `world/transmit.rs` how a transmitter chooses and starts a packet and how credits come back,
//! `world/stall.rs` how a stall is found.
//!
//! Events per packet-hop: one arrival, and a drain only if somebody waits for the transmitter. The arrival is
//! handled when the packet has passed the receiving device's pipeline, which is also the instant at which it
//! is accepted (acknowledged), so nothing is committed early and nothing has to be revoked. Acknowledgements
//! and buffer releases are records with keys, consumed when somebody needs them.

pub(crate) mod stall;
mod transmit;

use crate::agent::world::Hosts;
use crate::config::{
    Arbitration, Buffering, DeviceModel, Egress, FabricConfig, Forwarding, InputQueueing, PRIORITIES,
    StagingConfig, Verdict,
};
use crate::endpoint::Endpoint;
use crate::endpoint::traffic::Source;
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::{Node, Owner};
use crate::link::Links;
use crate::link::credit::Lengths;
use crate::link::port::{Cold, LinkTiming, NO_INPUT, NONE, Port, Rx, Tx, UNSERVED, special};
use crate::link::wire::{Wire, WireTiming};
use crate::observe::probe::Probe;
use crate::packet::List;
use crate::registers::Registers;
use crate::run::PipelineMode;
use crate::switch::{DROP, Hop, MASK, Reads, Switch};
use crate::voq;
use crate::world::stall::Watchdog;
use sim_core::{Class, Event, EventKey, EventList, Purpose, Stream, Time, World, prefetch};
use std::sync::Arc;

/// The world that the kernel runs: the parts, each above those that it is made of.
pub(crate) struct Fabric<P> {
    /// The state is larger than a second-level cache: fetch ahead of events.
    pub foresight: bool,
    /// Links with both halves of their ports, packets, and what is observed.
    pub links: Links<P>,
    pub switches: Vec<Switch>,
    /// Scheduled losses of VoQ messages.
    pub losses: Vec<voq::Loss>,
    pub endpoints: Vec<Endpoint>,
    pub hosts: Hosts,
    pub registers: Registers,
    pub watchdog: Watchdog,
}

impl<P: Probe> Links<P> {
    fn connect(&mut self, link: &crate::config::LinkConfig, lengths: &Lengths) {
        let config = self.config.clone();
        for ((from, from_port), (to, to_port)) in [(link.a, link.b), (link.b, link.a)] {
            let from_index = self.nodes.first_port(from) + u32::from(from_port);
            let to_index = self.nodes.first_port(to) + u32::from(to_port);
            let neighbour = &config.devices[to as usize];
            let receiver = &neighbour.ports[to_port as usize];
            let (pipeline, header) = match &neighbour.model {
                DeviceModel::Endpoint(_) => (0, 0),
                DeviceModel::Switch(s) => match s.forwarding {
                    Forwarding::StoreAndForward => (s.pipeline.0, 0),
                    Forwarding::CutThrough { header } => (s.pipeline.0, u64::from(header)),
                },
            };
            let (num, den) = link.char_ps;
            let symbol_ps = (u64::from(link.symbol_chars) * num).div_ceil(den);
            let column_ps = if link.lanes > 4 { u64::from(link.lanes) * num / den } else { 0 };
            let timing = LinkTiming {
                char_num: num,
                char_den: den,
                symbol_chars: u64::from(link.symbol_chars),
                wire: WireTiming { symbol: symbol_ps, column: column_ps },
                propagation: link.propagation.0,
                pipeline,
                header,
                watermarks: receiver.watermarks,
                to_sink: matches!(neighbour.model, DeviceModel::Endpoint(_)),
                to_agent: false,
                ack_window: link.ack_window,
            };
            let number = self.timing_number(timing);
            self.ports[to_index as usize].rx.eager_at = lengths.eager_at(link, pipeline, receiver);
            let Port { tx, rx } = &mut self.ports[from_index as usize];
            tx.peer = to_index;
            tx.free = i16::from(receiver.buffers);
            tx.timing = number;
            rx.peer = to_index;
            rx.timing = tx.timing;
        }
    }

    /// Writes and reads back whatever crosses a link from now on.
    pub fn check_wire(&mut self) {
        self.ports.iter_mut().for_each(|port| port.rx.special |= special::CHECK);
    }

    /// The number of a kind of link.
    pub fn timing_number(&mut self, timing: LinkTiming) -> u16 {
        let known = self.timings.iter().position(|known| *known == timing);
        let number = known.unwrap_or_else(|| {
            self.timings.push(timing);
            self.timings.len() - 1
        });
        u16::try_from(number).expect("at most 65 536 kinds of links")
    }

    /// The key of device `device` for `at`.
    #[inline(always)]
    pub fn key(&mut self, device: u32, at: u64, class: Class) -> EventKey {
        self.keys[device as usize].make(Time(at), class)
    }

    /// The link of `port` runs in symbol granularity now.
    #[inline(always)]
    pub fn is_symbolic(&self, port: u32) -> bool {
        !self.ends.is_empty() && self.ports[port as usize].rx.special & special::SYMBOLS != 0
    }

    /// Whether nothing is left to happen but observations.
    pub fn is_idle<L: EventList<Payload>>(&self, cx: &Cx<'_, L>) -> bool {
        cx.pending() == self.observe.pending && self.cold.iter().all(|c| c.in_flight.is_empty())
    }

    /// Arrival of the last packet that is on its way to a sink.
    pub fn last_arrival(&self) -> Time {
        self.cold
            .iter()
            .filter_map(|c| c.in_flight.back())
            .map(|(key, _)| key.time())
            .max()
            .unwrap_or(Time::ZERO)
    }

    /// The end of a run in which nothing is left to happen: its last change, whether or not it was an event.
    /// What is left somewhere stays for ever.
    pub fn last_change(&self) -> Time {
        if self.packets.len() > 0 {
            return Time::MAX;
        }
        let mut last = self.observe.last_event;
        for Port { tx, rx } in self.ports.iter().filter(|port| port.tx.peer != NONE) {
            let timing = &self.timings[tx.timing as usize];
            if tx.packets_sent > 0 {
                last = last.max(tx.done.time().0 + timing.propagation + timing.pipeline);
            }
            if let Some(end) = rx.wire.last_message(timing.wire) {
                last = last.max(end + timing.propagation);
            }
        }
        Time(last)
    }

    /// What moved aside for a stopped queue is counted; a queue that goes keeps a place as long as it has
    /// packets.
    #[cfg(debug_assertions)]
    fn check_parked(&self) {
        for parked in self.cold.iter().flat_map(|cold| &cold.parked) {
            let count: usize = parked.lists.iter().map(|list| self.packets.iter_list(list).count()).sum();
            assert_eq!(parked.count as usize, count, "packets that moved aside are counted");
            assert!(parked.stopped || count > 0, "a place is given up with its last packet");
        }
    }

    /// Conservation: injected + replicated = delivered + dropped + in flight.
    pub fn check_conservation(&self) {
        let l = &self.observe.ledger;
        assert_eq!(
            l.injected + l.replicated,
            l.delivered + l.dropped + self.packets.len() as u64,
            "packets are conserved"
        );
    }
}

impl<P: Probe> Fabric<P> {
    pub fn new(config: Arc<FabricConfig>, pipeline: PipelineMode, probe: P) -> Self {
        let mut fabric = Fabric {
            foresight: crate::run::is_large(&config),
            links: Links::new(config.clone(), pipeline == PipelineMode::Unfolded, probe),
            switches: Vec::new(),
            losses: voq::losses(&config),
            endpoints: Vec::new(),
            hosts: Hosts::default(),
            registers: Registers::default(),
            watchdog: Watchdog::new(config.stall_after.map_or(0, |d| d.0)),
        };
        for (index, device) in config.devices.iter().enumerate() {
            fabric.add_device(index as u32, device.ports.len() as u32);
        }
        let lengths = Lengths::of(&config);
        for link in &config.links {
            fabric.links.connect(link, &lengths);
        }
        // A host that sets the fabric up lets traffic start.
        let early = if config.enumeration.is_none() { &config.sources[..] } else { &[] };
        for source in early {
            let port = fabric.links.nodes.first_port(source.endpoint);
            let endpoint = fabric.links.nodes.endpoint(port);
            fabric.endpoints[endpoint].sources.push(Source::new(config.seed, source));
        }
        for endpoint in &mut fabric.endpoints {
            endpoint.next = endpoint.sources.iter().map(|s| s.next).min().unwrap_or(u64::MAX);
        }
        fabric.set_up_agents();
        fabric.set_up_media();
        fabric.set_up_stripes();
        fabric.links.set_up_links();
        fabric.set_up_registers();
        fabric.set_up_staging();
        fabric
    }

    fn add_device(&mut self, index: u32, ports: u32) {
        let config = self.links.config.clone();
        let device = &config.devices[index as usize];
        let base = self.links.ports.len() as u32;
        let (lanes, owner) = match &device.model {
            DeviceModel::Endpoint(_) => (1, Owner::endpoint(self.endpoints.len())),
            DeviceModel::Switch(s) => {
                let lanes = if matches!(s.buffering, Buffering::Output { .. }) { 1 } else { ports };
                (lanes, Owner::switch(self.switches.len()))
            }
        };
        let first_list = self.links.lists.len() as u32;
        let per_priority = ports * lanes;
        self.links
            .lists
            .resize(self.links.lists.len() + (per_priority as usize) * PRIORITIES, List::default());
        for (p, port) in device.ports.iter().enumerate() {
            self.links.cold.push(Cold {
                stride: per_priority,
                lane_count: lanes,
                reading_share: NONE,
                refresh_every: u64::MAX,
                refresh_event: u64::MAX,
                ..Cold::default()
            });
            let rx = Rx {
                wire: Wire::new(),
                status_standalone: 0,
                peer: NONE,
                device: index,
                timing: 0,
                occupied: 0,
                unaccepted: 0,
                advertised: port.buffers,
                buffers: port.buffers,
                eager_at: port.watermarks[0],
                high_water: 0,
                deliver_posted: false,
                special: 0,
            };
            self.links.ports.push(Port { tx: Tx::new(first_list + p as u32 * lanes), rx });
        }
        self.links.nodes.push(owner, device.ports.len());
        match &device.model {
            DeviceModel::Endpoint(e) => self.endpoints.push(Endpoint {
                device: index,
                port: base,
                sources: Vec::new(),
                next: u64::MAX,
                create_posted: false,
                next_hop: e.next_hop.clone(),
                multicast: Vec::new(),
                staged: e.staging != StagingConfig::None && !e.next_hop.is_empty(),
                stamp: 0,
            }),
            DeviceModel::Switch(s) => {
                let n = ports as usize;
                let direct = s.buffering == Buffering::Direct;
                let fifo = s.input == InputQueueing::Fifo;
                let (depth, crosspoint) = match s.buffering {
                    Buffering::Direct => (0, false),
                    Buffering::Crosspoint { depth } => (u32::from(depth), true),
                    Buffering::Output { packets } => (u32::from(packets), false),
                };
                let inputs = if fifo {
                    n * PRIORITIES
                } else if direct {
                    0
                } else {
                    n * n * PRIORITIES
                };
                let detector = s.detector;
                let per_ingress = detector.is_some_and(|d| d.verdict == Verdict::PerIngress);
                let routes = s
                    .routes
                    .entries
                    .iter()
                    .map(|r| Hop {
                        egress: match r.egress {
                            Egress::Port(p) => p,
                            Egress::Multicast(m) => MASK | m,
                            Egress::Drop => DROP,
                        },
                        next_hop: r.next_hop,
                    })
                    .collect();
                let mut switch = Switch {
                    device: index,
                    base,
                    ports,
                    lists: first_list,
                    fifo,
                    direct,
                    depth,
                    crosspoint,
                    arbitration: s.arbitration,
                    slot: s.slot.map_or(0, |d| d.0),
                    reads: u32::from(s.reads_per_input),
                    routes,
                    masks: s.routes.masks.clone(),
                    mask_next_hops: s.routes.mask_next_hops.clone(),
                    inputs: vec![List::default(); inputs],
                    heads: vec![0; if direct { 0 } else { n * PRIORITIES }],
                    filled: vec![0; if direct { 0 } else { n * PRIORITIES * lanes as usize }],
                    reading: 0,
                    reads_of: vec![Reads { outputs: 0, last: [UNSERVED; PRIORITIES + 1] }; n],
                    channel_reads: None,
                    waiting_outputs: 0,
                    choose_together: 0,
                    exposed: vec![[0; 4]; if fifo { n } else { 0 }],
                    x_on: detector.map_or(0, |d| u32::from(d.x_on)),
                    x_off: detector.map_or(0, |d| u32::from(d.x_off)),
                    detect: detector.is_some(),
                    per_ingress,
                    occupancy: vec![0; if per_ingress { n * n } else { n }],
                    raw: vec![0; if per_ingress { n } else { 1 }],
                    originator: None,
                    generation_delay: s.generation_delay.0,
                    stamp: 0,
                    rng: (s.arbitration == Arbitration::Random)
                        .then(|| Box::new(Stream::new(config.seed, &device.path, Purpose::ARBITRATION))),
                    tick_posted: false,
                };
                if switch.slot != 0 || switch.matches() {
                    switch.choose_together = u64::MAX;
                }
                self.switches.push(switch);
            }
        }
    }

    /// First events of a run.
    pub fn bootstrap(&mut self, mut schedule: impl FnMut(Event<Payload>)) {
        for e in 0..self.endpoints.len() {
            let endpoint = &mut self.endpoints[e];
            if endpoint.next != u64::MAX {
                endpoint.create_posted = true;
                let key = self.links.keys[endpoint.device as usize].make(Time(endpoint.next), class::TRAFFIC);
                schedule(Event { key, target: endpoint.port, payload: Happening::Create.pack() });
            }
        }
        self.bootstrap_agents(&mut schedule);
        self.bootstrap_messages(&mut schedule);
        self.links.bootstrap_faults(&mut schedule);
        if self.links.observe.sample_every != 0 {
            let key = self.links.observe.keys.make(Time(self.links.observe.sample_every), class::SAMPLE);
            self.links.observe.pending += 1;
            schedule(Event { key, target: 0, payload: Happening::Sample.pack() });
        }
        if self.watchdog.stall_after != 0 {
            let key = self.links.observe.keys.make(Time(self.watchdog.stall_after), class::WATCH);
            self.links.observe.pending += 1;
            schedule(Event { key, target: 0, payload: Happening::Watch.pack() });
        }
    }

    /// Settles everything that is due before `key` but that nobody has needed yet.
    pub fn settle<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, key: EventKey) {
        self.settle_until(cx, key, key.time().0);
    }

    /// The same, with creations up to `created` only.
    pub fn settle_until<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, key: EventKey, created: u64) {
        for e in 0..self.endpoints.len() {
            let port = self.endpoints[e].port;
            self.flush(cx, port, key);
            self.materialise(cx, e, created);
        }
        for s in 0..self.switches.len() {
            for input in 0..self.switches[s].ports {
                self.prune(s, input, key);
            }
        }
    }

    #[inline(never)]
    fn take_sample<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>) {
        self.settle(cx, cx.key());
        let mut sample = std::mem::take(&mut self.links.observe.sample);
        sample.at = cx.now();
        sample.input_occupancy.clear();
        sample.input_occupancy.extend(self.links.ports.iter().map(|p| u32::from(p.rx.occupied)));
        for (port, in_use) in sample.input_occupancy.iter_mut().enumerate().take(self.links.ends.len()) {
            *in_use += self.links.channels(port as u32).map_or(0, |channels| u32::from(channels.held()));
        }
        sample.output_waiting.clear();
        sample.output_waiting.extend(self.links.ports.iter().map(|p| p.tx.waiting));
        sample.injected = self.links.observe.ledger.injected;
        sample.replicated = self.links.observe.ledger.replicated;
        sample.delivered = self.links.observe.ledger.delivered;
        sample.dropped = self.links.observe.ledger.dropped;
        sample.in_flight = self.links.packets.len() as u64;
        self.links.check_conservation();
        #[cfg(debug_assertions)]
        self.links.check_parked();
        self.links.observe.probe.sample(&sample);
        self.links.observe.sample = sample;
        self.links.observe.pending -= 1;
        // Observers alone do not keep a run going.
        if !self.links.is_idle(cx) {
            self.links.observe.pending += 1;
            let key = self
                .links
                .observe
                .keys
                .make(Time(cx.now().0 + self.links.observe.sample_every), class::SAMPLE);
            cx.post(key, 0, Happening::Sample.pack());
        }
    }

    /// Whether packets are left that the watchdog will look at, others than those on their way to a sink.
    pub fn is_watched(&self) -> bool {
        let arriving: usize = self.links.cold.iter().map(|c| c.in_flight.len()).sum();
        self.watchdog.stall_after != 0 && self.links.packets.len() > arriving
    }

    /// Totals at the end of a run.
    pub fn totals(&mut self, end: Time, events: u64) -> crate::run::Outcome {
        let mut ports = Vec::with_capacity(self.links.ports.len());
        for (index, Port { tx, rx }) in self.links.ports.iter().enumerate() {
            let number = (index as u32 - self.links.nodes.first_port(rx.device)) as u8;
            let mut stats = self.links.cold[index].stats;
            stats.packets_sent = u64::from(tx.packets_sent);
            stats.packet_ps = tx.packet_ps;
            if tx.peer != NONE {
                let timing = self.links.timings[tx.timing as usize].wire;
                // A symbol counts when it gets its place, a packet as far as it got.
                stats.symbol_ps = u64::from(rx.wire.own_symbols) * timing.symbol;
                stats.packet_ps -= match self.links.interleaved(index as u32) {
                    Some(messages) => messages.unsent(tx.done.time().0, end.0),
                    None => rx.wire.beyond(end.0),
                };
            }
            stats.status_riding = u64::from(rx.wire.status_riding);
            stats.status_standalone = u64::from(rx.status_standalone);
            stats.input_high_water = u32::from(rx.high_water);
            stats.output_high_water = tx.high_water;
            stats.stopped_ps = tx.clock.stopped_total(end.0);
            ports.push((rx.device, number, stats));
        }
        let (agents, protocols) = self.agent_totals(end.0);
        let totals = self.protocol_totals(end.0);
        let links = self.links.link_totals(end.0);
        crate::run::Outcome {
            end,
            ports,
            agents,
            protocols,
            totals,
            links,
            symbol_hops: self.links.observe.ledger.symbol_hops,
            wire_checked: self.links.wire_checked,
            enumeration: self.enumeration_report(),
            outcome: self.links.observe.outcome,
            trajectory: self.links.observe.trajectory,
            stalls: std::mem::take(&mut self.watchdog.stalls),
            events,
            packet_hops: self.links.observe.ledger.packet_hops,
            injected: self.links.observe.ledger.injected,
            replicated: self.links.observe.ledger.replicated,
            delivered: self.links.observe.ledger.delivered,
            dropped: self.links.observe.ledger.dropped,
            in_flight: self.links.packets.len() as u64,
            left: self.left(),
        }
    }

    #[inline(always)]
    fn done<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        self.links.ports[port as usize].tx.done_posted = false;
        if !self.links.nodes.is_switch(port) {
            let e = self.links.nodes.endpoint(port);
            self.endpoint_turn(cx, e);
            return;
        }
        let input = self.links.ports[port as usize].tx.reading;
        if input != NO_INPUT {
            self.finish_read(cx, port, true);
            if self.offer_input(cx, port, input.into()) {
                return;
            }
        }
        self.try_output(cx, port);
    }
}

impl<P: Probe> World for Fabric<P> {
    type Payload = Payload;

    #[inline]
    fn foresees(&self) -> bool {
        self.foresight
    }

    #[inline]
    fn foresee(&self, event: &Event<Payload>) {
        let port = event.target as usize;
        let Some(Port { tx, rx }) = self.links.ports.get(port) else { return };
        prefetch(rx);
        match event.payload.unpack() {
            Happening::Arrive { packet, destination, .. } => {
                self.links.packets.prefetch(packet);
                let Node::Switch(s) = self.links.nodes.node(event.target) else { return };
                let switch = &self.switches[s];
                let Some(hop) = switch.routes.get(usize::from(destination)) else { return };
                if u32::from(hop.egress) >= switch.ports {
                    return;
                }
                let out = u32::from(hop.egress);
                let output = &self.links.ports[(switch.base + out) as usize];
                output.tx.prefetch();
                prefetch(&output.rx);
                let input = port as u32 - switch.base;
                let lane = if switch.direct || switch.crosspoint { out * switch.ports + input } else { out };
                prefetch(&self.links.lists[(switch.lists + lane) as usize]);
            }
            Happening::Done | Happening::Create => tx.prefetch(),
            Happening::Host(_) | Happening::Deliver => {
                tx.prefetch();
                self.prefetch_agent(port);
            }
            _ => {}
        }
    }

    #[inline]
    fn handle<L: EventList<Payload>>(&mut self, event: Event<Payload>, cx: &mut Cx<'_, L>) {
        let target = event.target;
        match event.payload.unpack() {
            Happening::Arrive { packet, behind, .. } => {
                if self.links.is_symbolic(target) && !self.links.unfolded {
                    self.packet_arrives(cx, target, packet, behind);
                } else if self.links.unfolded {
                    self.arrive_unfolded(cx, target, packet, behind);
                } else {
                    self.arrive(cx, target, packet, behind);
                }
            }
            Happening::Ready { packet, from_wire, behind } => {
                if from_wire && self.links.is_symbolic(target) {
                    self.packet_arrives(cx, target, packet, behind);
                } else {
                    self.arrive(cx, target, packet, behind);
                }
            }
            Happening::Done => self.done(cx, target),
            Happening::Create => self.create(cx, target),
            Happening::Deliver => self.deliver_event(cx, target),
            Happening::Wake => self.wake(cx, target),
            Happening::Message { field } => self.message(cx, target, field),
            Happening::MessageOut => self.message_out(cx, target),
            Happening::MessageDue => self.message_due(cx, target),
            Happening::Refresh => self.refresh_event(cx, target),
            Happening::Accepted => self.accepted(cx, target),
            Happening::Tick => self.tick(cx, target),
            Happening::Link(step) => self.link_event(cx, target, step),
            Happening::Host(step) => self.host_event(cx, target, step),
            Happening::Sample => self.take_sample(cx),
            Happening::Watch => self.watch(cx),
        }
    }
}
