//! The world: devices, ports and packets in dense arenas, and what every event does to them.
//!
//! Reading order: `event.rs` lists what can happen ([`Happening`]), `packet.rs` what a packet is, `link.rs`
//! and `link/transmit.rs` what a transmitter does with it, `link/mail.rs` what its two ends learn of each
//! other, `voq.rs` how messages are made and obeyed, `switch.rs` what an arriving packet does,
//! `switch/output.rs` how it leaves again, `endpoint.rs` how packets are made; then this file,
//! `world/links.rs` and `world/hosts.rs`, which carry out what those below give back, and `world/stall.rs`.
//!
//! Events per packet-hop: one arrival, and a drain only if somebody waits for the transmitter. The arrival is
//! handled when the packet has passed the receiving device's pipeline, which is also the instant at which it
//! is accepted (acknowledged), so nothing is committed early and nothing has to be revoked. Acknowledgements
//! and buffer releases are records with keys, consumed when somebody needs them. What endpoints do is made up
//! as their packets arrive (`injection.rs`).

mod access;
pub(crate) mod footprint;
mod foresight;
mod hosts;
mod injection;
mod links;
pub(crate) mod outcome;
mod registers;
mod sinks;
mod staging;
pub(crate) mod stall;

use crate::config::{
    Arbitration, Buffering, Detector, DeviceModel, FabricConfig, Forwarding, InputQueueing, PRIORITIES,
    StagingConfig, Verdict,
};
use crate::endpoint::Endpoint;
use crate::endpoint::traffic::Source;
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::{ById, EndpointId, Id as _, Node, Owner, PortId, SwitchId};
use crate::link::Links;
use crate::link::credit::Lengths;
use crate::link::port::{Cold, Port, UNSERVED};
use crate::observe::Build;
use crate::packet::{Lanes, List, NIL};
use crate::ports::Ports;
use crate::registers::Registers;
use crate::switch::{Routes, Switch, Watch};
use crate::voq::Backpressure;
use crate::world::hosts::Hosts;
use crate::world::outcome::Outcome;
use crate::world::stall::Watchdog;
use sim_core::{Ahead, Event, EventKey, EventList, Purpose, Stream, Time, World};
use std::sync::Arc;

/// How the pipeline latency of switches becomes events; results are equal with both.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum PipelineMode {
    /// One event for arrival and pipeline; acknowledgements, releases and deliveries are events only where
    /// somebody waits for them.
    #[default]
    Folded,
    /// Arrival, end of pipeline, end of transmission and delivery are events of their own: the reference.
    Unfolded,
}

/// How far it is worth to look ahead of events, and to fetch what they will touch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Foresight {
    /// The state fits a second-level cache: fetching costs a third of the time, and gains nothing.
    No,
    /// It does not.
    Large,
    /// Not even what leads to the state does: routes, events to come.
    Crowded,
}

impl Foresight {
    /// Links from which on the state does not fit a second-level cache (about 2 KiB a link).
    const LARGE: usize = 1_000;
    /// And from which on the events to come do not.
    const CROWDED: usize = 32_000;

    pub fn of(config: &FabricConfig) -> Self {
        match config.links.len() {
            Self::CROWDED.. => Foresight::Crowded,
            Self::LARGE.. => Foresight::Large,
            _ => Foresight::No,
        }
    }
}

/// The world that the kernel runs: the parts, each above those that it is made of.
pub(crate) struct Fabric<P: Build> {
    pub foresight: Foresight,
    /// Links with both halves of their ports, packets, and what is observed.
    pub links: Links<P>,
    pub switches: ById<SwitchId, Switch<P::Ports>>,
    pub endpoints: ById<EndpointId, Endpoint>,
    pub hosts: Hosts,
    pub registers: Registers,
    pub watchdog: Watchdog,
}

impl<P: Build> Fabric<P> {
    pub fn new(config: Arc<FabricConfig>, pipeline: PipelineMode, probe: P) -> Self {
        Fabric::part(config, pipeline, probe, |_| true)
    }

    /// A part of a fabric: devices that are not its own have neither sources nor lists of packets, which is
    /// most of what a large switch takes.
    pub fn part(
        config: Arc<FabricConfig>,
        pipeline: PipelineMode,
        probe: P,
        own: impl Fn(u32) -> bool,
    ) -> Self {
        let mut fabric = Fabric {
            foresight: Foresight::of(&config),
            links: Links::new(config.clone(), pipeline == PipelineMode::Unfolded, probe),
            switches: ById::default(),
            endpoints: ById::default(),
            hosts: Hosts::default(),
            registers: Registers::default(),
            watchdog: Watchdog::new(config.stall_after.map_or(0, |d| d.0)),
        };
        fabric.links.lanes = Lanes::with_room(footprint::all_lanes(&config, &own));
        for (index, device) in config.devices.iter().enumerate() {
            let index = index as u32;
            fabric.add_device(index, device.ports.len() as u32, own(index));
        }
        let tables = config.devices.iter().filter_map(|device| match &device.model {
            DeviceModel::Switch(switch) => Some(&switch.routes.entries),
            DeviceModel::Endpoint(_) => None,
        });
        for (switch, routes) in fabric.switches.iter_mut().zip(Routes::of_all(tables)) {
            switch.routes = routes;
        }
        let lengths = Lengths::of(&config);
        for link in &config.links {
            fabric.links.connect(link, &lengths);
        }
        // A host that sets the fabric up lets traffic start.
        let early = if config.enumeration.is_none() { &config.sources[..] } else { &[] };
        for source in early.iter().filter(|source| own(source.endpoint)) {
            let port = fabric.links.nodes.first_port(source.endpoint);
            let endpoint = fabric.links.nodes.endpoint(port);
            fabric.endpoints[endpoint].sources.push(Source::new(config.seed, source));
        }
        for endpoint in fabric.endpoints.iter_mut() {
            endpoint.next = endpoint.sources.iter().map(|s| s.next).min().unwrap_or(u64::MAX);
        }
        fabric.set_up_agents();
        for s in fabric.links.set_up_media() {
            fabric.switches[s].share_channels();
        }
        fabric.set_up_stripes();
        fabric.links.set_up_links();
        fabric.set_up_registers();
        fabric.set_up_staging();
        fabric.set_up_lags(&lengths);
        for e in fabric.endpoints.ids() {
            fabric.links.cold[fabric.endpoints[e].port.index()].listens = fabric.listens(e);
        }
        fabric
    }

    fn add_device(&mut self, index: u32, ports: u32, own: bool) {
        let config = self.links.config.clone();
        let device = &config.devices[index as usize];
        let base = PortId::new(self.links.ports.len() as u32);
        let (lanes, owner) = match &device.model {
            DeviceModel::Endpoint(_) => (1, Owner::from(self.endpoints.next_id())),
            DeviceModel::Switch(s) => {
                let lanes = footprint::lanes(s, ports as usize) as u32;
                (lanes, Owner::from(self.switches.next_id()))
            }
        };
        // Of a device that stands still nobody asks for one; whoever did would find none.
        let first = if own { self.links.lanes.add(ports * lanes) } else { NIL - ports * lanes };
        for (p, port) in device.ports.iter().enumerate() {
            self.links.cold.push(Cold {
                lane_count: lanes,
                reading_share: NIL,
                refresh_every: u64::MAX,
                refresh_event: u64::MAX,
                ..Cold::default()
            });
            let first = first + p as u32 * lanes;
            self.links.ports.push(Port::new(first, index, port.buffers, port.watermarks[0]));
        }
        self.links.nodes.push(owner, device.ports.len());
        match &device.model {
            DeviceModel::Endpoint(e) => {
                let staged = e.staging != StagingConfig::None && !e.next_hop.is_empty();
                self.endpoints.push(Endpoint::new((index, base), e.next_hop.clone(), staged));
            }
            DeviceModel::Switch(s) => {
                let n = ports as usize;
                let direct = s.buffering == Buffering::Direct;
                let fifo = s.input == InputQueueing::Fifo;
                let (depth, crosspoint) = match s.buffering {
                    Buffering::Direct => (0, false),
                    Buffering::Crosspoint { depth } => (u32::from(depth), true),
                    Buffering::Output { packets } | Buffering::Shared { packets } => {
                        (u32::from(packets), false)
                    }
                };
                let inputs = if !own {
                    0
                } else if fifo {
                    n * PRIORITIES
                } else if direct {
                    0
                } else {
                    n * n * PRIORITIES
                };
                let detectors: Vec<Option<Detector>> = (0..n).map(|port| s.rules(port).detector).collect();
                let detector = detectors.iter().flatten().next().copied();
                let alike = detectors.iter().all(|other| *other == detector);
                let by_ingress = |d: &Detector| d.verdict == Verdict::PerIngress;
                let per_ingress = detectors.iter().flatten().any(by_ingress);
                let mut switch = Switch {
                    device: index,
                    base,
                    ports,
                    lanes: first,
                    fifo,
                    direct,
                    depth,
                    crosspoint,
                    arbitration: s.arbitration,
                    slot: s.slot.map_or(0, |d| d.0),
                    reads: u32::from(s.reads_per_input),
                    cuts_through: matches!(s.forwarding, Forwarding::CutThrough { .. }),
                    routes: Routes::default(),
                    masks: s.routes.masks.clone(),
                    mask_next_hops: s.routes.mask_next_hops.clone(),
                    inputs: vec![List::default(); inputs],
                    heads: vec![P::Ports::EMPTY; if direct { 0 } else { n * PRIORITIES }],
                    filled: vec![0; if direct { 0 } else { n * PRIORITIES * lanes as usize }],
                    queued: vec![0; if s.arbitration.counts_queues() { n * n * PRIORITIES } else { 0 }]
                        .into(),
                    reading: P::Ports::EMPTY,
                    channel_reads: None,
                    waiting_outputs: P::Ports::EMPTY,
                    choose_together: P::Ports::EMPTY,
                    exposed: vec![[0; 4]; if fifo { n } else { 0 }],
                    x_on: detector.map_or(0, |d| u32::from(d.x_on)),
                    x_off: detector.map_or(0, |d| u32::from(d.x_off)),
                    detect: detector.is_some(),
                    per_ingress,
                    watches: if alike { Box::default() } else { detectors.iter().map(Watch::new).collect() },
                    told_apart: lp_serial::link::Channels::None,
                    leave_out: s.leave_out_stopped && detector.is_some(),
                    quota: s.queue_quota.map_or(u32::MAX, u32::from),
                    pool: matches!(s.buffering, Buffering::Shared { .. }),
                    pool_pointers: [UNSERVED; PRIORITIES],
                    occupancy: Box::default(),
                    backpressure: None,
                    stamp: 0,
                    rng: (s.arbitration == Arbitration::Random)
                        .then(|| Box::new(Stream::new(config.seed, &device.path, Purpose::ARBITRATION))),
                    tick_posted: false,
                };
                if switch.slot != 0 || switch.matches() {
                    switch.choose_together = !P::Ports::EMPTY;
                }
                if own && switch.detect {
                    switch.make_cells();
                }
                self.switches.push(switch);
            }
        }
    }

    /// First events of a run.
    pub fn bootstrap(&mut self, mut schedule: impl FnMut(Event<Payload>)) {
        for e in self.endpoints.ids() {
            let endpoint = &mut self.endpoints[e];
            if endpoint.next != u64::MAX {
                endpoint.create_posted = true;
                let key = self.links.keys[endpoint.device as usize].make(Time(endpoint.next), class::TRAFFIC);
                schedule(Event { key, target: endpoint.port.into(), payload: Happening::Create.pack() });
            }
        }
        self.bootstrap_agents(&mut schedule);
        for switch in self.switches.iter() {
            if let Some(backpressure) = &switch.backpressure {
                backpressure.bootstrap(&mut self.links, switch.ports, &mut schedule);
            }
        }
        self.bootstrap_writes(&mut schedule);
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

    #[inline(never)]
    fn take_sample<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>) {
        self.settle(cx, cx.key());
        let mut sample = std::mem::take(&mut self.links.observe.sample);
        sample.begin(cx.now());
        let ports = PortId::new(0).span(self.links.ports.len() as u32);
        ports.for_each(|port| self.links.see_port(port, &mut sample));
        self.links.see_packets(&mut sample);
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
        self.watchdog.stall_after != 0 && self.links.has_waiting()
    }

    /// Totals at the end of a run, or so far. The wire is looked at up to `until`, which is later than the
    /// end where everything is over before.
    pub fn totals(&self, until: Time, end: Time, events: u64) -> Outcome {
        let mut ports = Vec::with_capacity(self.links.ports.len());
        for (index, Port { tx, link, rx }) in self.links.ports.iter().enumerate() {
            let port = PortId::new(index as u32);
            let number = self.links.nodes.number(link.device, port);
            let mut stats = self.links.cold[index].stats;
            stats.packets_sent = u64::from(tx.packets_sent);
            stats.packet_ps = tx.packet_ps;
            if tx.peer.is_some() {
                let timing = self.links.timings[tx.timing as usize].wire;
                // Symbols have their places ahead of time, and packets their ends: what is over counts.
                let placed = u64::from(link.wire.own_symbols) * timing.symbol;
                stats.symbol_ps = placed.saturating_sub(link.wire.symbols_beyond(until.0, timing));
                stats.packet_ps -= match self.links.interleaved(port) {
                    Some(messages) => messages.unsent(tx.done.time().0, end.0),
                    None => link.wire.beyond(end.0),
                };
            }
            stats.status_riding = u64::from(link.wire.status_riding);
            stats.status_standalone = u64::from(link.status_standalone);
            stats.input_high_water = u32::from(rx.high_water);
            stats.output_high_water = tx.high_water;
            stats.stopped_ps = tx.clock.stopped_total(end.0);
            stats.longest_stop_ps = tx.clock.longest_stop(end.0);
            ports.push((link.device, number, stats));
        }
        let (agents, protocols) = self.agent_totals(end.0);
        let totals = self.protocol_totals(end.0);
        let links = self.links.link_totals(end.0);
        Outcome {
            end,
            over: false,
            ports,
            agents,
            protocols,
            totals,
            links,
            symbol_hops: self.links.observe.ledger.symbol_hops,
            wire_checked: self.links.wire_checked,
            enumeration: self.enumeration_report(end),
            outcome: self.links.observe.outcome,
            trajectory: self.links.observe.trajectory,
            stalls: self.watchdog.stalls.clone(),
            silent: self.silent(),
            held: self.held(),
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
    fn done<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        self.links.ports[port.index()].tx.clock.end_posted = false;
        match self.links.nodes.node(port) {
            Node::Switch(s) => self.switches[s].done(&mut self.links, cx, port),
            Node::Endpoint(e) => {
                debug_assert_eq!(
                    self.links.cold[port.index()].due.0,
                    EventKey::MAX,
                    "only its end comes next"
                );
                self.endpoint_turn(cx, e);
            }
        }
    }

    /// A credit record becomes visible to the blocked transmitter of `port`.
    fn wake<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        if self.links.is_symbolic(port) {
            // The record has become a symbol.
            self.links.ports[port.index()].tx.wake_posted = false;
            return self.symbol_arrives(cx, port);
        }
        match self.links.nodes.node(port) {
            Node::Switch(s) => {
                self.links.wake(cx, port);
                self.switches[s].try_output(&mut self.links, cx, port);
            }
            Node::Endpoint(e) => {
                self.make_up(cx, e, cx.key());
                // Creations come before the credit that wakes.
                self.endpoints[e].materialise(&mut self.links, cx, cx.now().0);
                self.links.wake(cx, port);
                self.endpoint_turn(cx, e);
            }
        }
    }

    /// A VoQ message reaches the upstream transmitter `port`.
    fn message<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, message: (u8, u16)) {
        // With an obey latency that may be long after the packet behind it.
        self.links.observe.last_event = cx.now().0;
        match self.links.nodes.node(port) {
            Node::Switch(s) => {
                let released = self.links.receive_message(cx, port, message);
                self.switches[s].obeyed(&mut self.links, cx, port, released);
            }
            Node::Endpoint(e) => {
                self.make_up(cx, e, cx.key());
                // What is created at this instant meets the queues as the message leaves them.
                self.endpoints[e].materialise_only(&mut self.links, cx, cx.now().0);
                let heard = self.links.receive_message(cx, port, message).is_some();
                self.withdraw(cx, e);
                if heard {
                    self.endpoint_turn(cx, e);
                }
            }
        }
    }

    // --- endpoints -------------------------------------------------------------------------------

    fn create<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let e = self.links.nodes.endpoint(port);
        self.make_up(cx, e, cx.key());
        self.endpoints[e].create_posted = false;
        self.endpoint_turn(cx, e);
    }

    /// The posted delivery is due.
    fn deliver_event<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        self.links.ports[port.index()].rx.deliver_posted = false;
        if self.links.is_symbolic(port) {
            let (_, packet) = self.links.cold[port.index()].in_flight.pop_front().expect("it was posted");
            return self.packet_arrives(cx, port, packet, 0);
        }
        self.flush(cx, port, cx.key());
        if self.links.unfolded || self.links.cold[port.index()].listens {
            self.links.post_delivery(cx, port);
        }
    }
}

impl<P: Build> World for Fabric<P> {
    type Payload = Payload;

    #[inline]
    fn foresees(&self) -> bool {
        self.foresight != Foresight::No
    }

    #[inline(always)]
    fn foresee(&self, event: &Event<Payload>, ahead: Ahead) {
        self.fetch(event, ahead);
    }

    #[inline]
    fn handle<L: EventList<Payload>>(&mut self, event: Event<Payload>, cx: &mut Cx<'_, L>) {
        let target = PortId::new(event.target);
        match event.payload.unpack() {
            Happening::Arrive { packet, behind, .. } => {
                if self.links.unfolded && self.waits_in_pipeline(cx, target, packet, behind) {
                    return;
                }
                self.past_pipeline(cx, target, packet, behind);
            }
            Happening::Ready { packet, from_wire, behind } => {
                if from_wire {
                    self.past_pipeline(cx, target, packet, behind);
                } else {
                    self.arrive(cx, target, packet, behind);
                }
            }
            Happening::Done => self.done(cx, target),
            Happening::Create => self.create(cx, target),
            Happening::Inject => {
                if let Some((to, packet, behind)) = self.inject_due(cx, target) {
                    self.past_pipeline(cx, to, packet, behind);
                }
            }
            Happening::Deliver => self.deliver_event(cx, target),
            Happening::Wake => self.wake(cx, target),
            Happening::Message { field, channel } => self.message(cx, target, (channel, field)),
            Happening::MessageOut => self.tell(cx, target, Backpressure::send),
            Happening::MessageDue => self.tell(cx, target, Backpressure::place),
            Happening::Refresh => self.tell(cx, target, Backpressure::refresh),
            Happening::Accepted => {
                let s = self.links.nodes.switch(target);
                self.switches[s].accepted(&mut self.links, cx, target);
            }
            Happening::Tick => self.switches[SwitchId::new(event.target)].tick(&mut self.links, cx),
            Happening::Link(step) => self.link_event(cx, target, step),
            Happening::Host(step) => self.host_event(cx, target, step),
            Happening::Sample => self.take_sample(cx),
            Happening::Watch => self.watch(cx),
        }
    }
}
