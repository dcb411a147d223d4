//! Small fabrics for the tests of this crate, built without scenario files.
#![allow(dead_code, missing_docs)]

use models::config::*;
use models::enumeration::{Outline, plan};
use models::probe::{
    Crossed, Crossing, Delivery, Journey, Offered, Probe, ProtocolEvent, RegisterEvent, Sample, StagingEdge,
    Timeout,
};
use models::run::{ListKind, PipelineMode};
use models::{Outcome, Progress, RunOptions, Simulation};
use proptest::test_runner::{Config, RngSeed};
use sim_core::{Duration, Time};
use std::sync::Arc;

/// 4x 6.25 Gbaud: 400 ps a character.
pub const CHAR_PS: u64 = 400;
/// 276 octets on the wire with the 8-character delimiter.
pub const T: u64 = 284 * CHAR_PS;
/// One long symbol.
pub const T_CS: u64 = 8 * CHAR_PS;
pub const SIZE: PacketSize = PacketSize { payload: 256, wire: 276 };

pub fn port() -> PortConfig {
    PortConfig { buffers: 16, watermarks: [4, 3, 2], voq: PortVoq::default() }
}

pub fn voq_port() -> PortConfig {
    let voq = PortVoq {
        gen_sup: true,
        rx_sup: true,
        gen_en: true,
        part: true,
        xoff: false,
        link_sup: false,
        link_en: false,
        obey: Duration::ZERO,
    };
    PortConfig { voq, ..port() }
}

pub fn switch(ports: u8) -> SwitchConfig {
    let _ = ports;
    SwitchConfig {
        input: InputQueueing::Voq,
        buffering: Buffering::Direct,
        arbitration: Arbitration::RoundRobin,
        slot: None,
        reads_per_input: 1,
        forwarding: Forwarding::StoreAndForward,
        pipeline: Duration(100_000),
        routes: RouteTable::default(),
        detector: None,
        refresh: None,
        generation_delay: Duration(0),
        after_recovery: true,
        port_rules: Vec::new(),
        leave_out_stopped: false,
        queue_quota: None,
        staging: StagingConfig::None,
    }
}

/// A property of random fabrics, on `cases` of them, the same ones at every desk. With
/// `RIOSIM_FABRICS_SEED=7` they are others, with `RIOSIM_FABRICS_TIMES=20` twenty times as many.
pub fn property(cases: u32, series: u64) -> Config {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let (fresh, times) = (number("RIOSIM_FABRICS_SEED"), number("RIOSIM_FABRICS_TIMES"));
    Config {
        cases: cases * times.unwrap_or(1) as u32,
        rng_seed: RngSeed::Fixed(series ^ fresh.unwrap_or(0) << 8),
        failure_persistence: None,
        ..Config::default()
    }
}

/// One switch, one endpoint on each port; endpoint n has id n and is device n, the switch is the last device.
pub struct Star {
    pub config: FabricConfig,
}

impl Star {
    pub fn new(ports: u8, model: SwitchConfig) -> Self {
        let n = u32::from(ports);
        let mut model = model;
        model.routes.entries =
            (0..n).map(|d| Route { egress: Egress::Port(d as u8), next_hop: NO_PORT }).collect();
        let table: Arc<IdTable<u8>> = Arc::new((0..ports).collect());
        let mut devices: Vec<DeviceConfig> = (0..n)
            .map(|d| DeviceConfig {
                path: format!("e{d:03}"),
                ports: vec![port()],
                model: DeviceModel::Endpoint(EndpointConfig {
                    ids: vec![d],
                    staging: StagingConfig::None,
                    next_hop: table.clone(),
                }),
            })
            .collect();
        devices.push(DeviceConfig {
            path: "switch".into(),
            ports: vec![port(); ports as usize],
            model: DeviceModel::Switch(model),
        });
        let links = (0..n)
            .map(|d| LinkConfig {
                a: (d, 0),
                b: (n, d as u8),
                char_ps: (CHAR_PS, 1),
                lanes: 4,
                symbol_chars: 8,
                long_symbols: true,
                link_crc: false,
                ack_window: 63,
                propagation: Duration(20_000),
            })
            .collect();
        let config = FabricConfig {
            seed: 1,
            devices,
            links,
            id_space: n,
            owners: (0..n).collect(),
            ..FabricConfig::default()
        };
        Star { config }
    }

    pub fn flow(&mut self, name: &str) -> u16 {
        self.config.flows.push(FlowConfig { name: name.into() });
        (self.config.flows.len() - 1) as u16
    }

    pub fn source(&mut self, endpoint: u32, flow: u16, arrivals: Arrivals, destinations: Destinations) {
        let n = self.config.sources.len();
        self.config.sources.push(SourceConfig {
            endpoint,
            flow,
            stream: format!("e{endpoint:03}/{n}"),
            priority: 0,
            start: Time::ZERO,
            stop: Time::MAX,
            goes_on: false,
            limit: u64::MAX,
            arrivals,
            destinations,
            sizes: Sizes::Fixed(SIZE),
            ftype: 5,
        });
    }

    /// Turns VoQ backpressure on everywhere, endpoints staging by `staging`.
    pub fn backpressure(&mut self, staging: StagingConfig, detector: Detector) {
        for device in &mut self.config.devices {
            for p in &mut device.ports {
                p.voq = voq_port().voq;
            }
            match &mut device.model {
                DeviceModel::Endpoint(e) => e.staging = staging.clone(),
                DeviceModel::Switch(s) => s.detector = Some(detector),
            }
        }
    }

    pub fn switch_mut(&mut self) -> &mut SwitchConfig {
        match &mut self.config.devices.last_mut().unwrap().model {
            DeviceModel::Switch(s) => s,
            DeviceModel::Endpoint(_) => unreachable!(),
        }
    }

    /// Makes the link of endpoint `d` `factor` times slower.
    pub fn slow_link(&mut self, d: usize, factor: u64) {
        self.config.links[d].char_ps.0 *= factor;
    }
}

/// Counts deliveries by flow after a warm-up and keeps what tests look at.
#[derive(Default)]
pub struct Count {
    pub from: u64,
    pub offered: Vec<u64>,
    pub delivered: Vec<u64>,
    pub wait_ps: u128,
    pub parts: [u128; 13],
    pub latency: u128,
    pub last: std::collections::BTreeMap<(u32, u32, u8), u64>,
    pub edges: Vec<StagingEdge>,
    pub samples: u64,
    pub reordered: u64,
    pub keep_order: bool,
}

impl Count {
    pub fn after(from: u64) -> Self {
        Count { from, ..Count::default() }
    }
    pub fn rate(&self, flow: usize, until: u64) -> f64 {
        self.delivered.get(flow).copied().unwrap_or(0) as f64 * T as f64 / (until - self.from) as f64
    }
}

impl Probe for Count {
    fn offered(&mut self, o: &Offered) {
        let f = o.flow as usize;
        if self.offered.len() <= f {
            self.offered.resize(f + 1, 0);
        }
        self.offered[f] += 1;
    }
    fn delivered(&mut self, d: &Delivery) {
        assert_eq!(d.parts.total(), d.latency());
        if self.keep_order {
            let key = (d.source, d.destination, d.priority);
            if self.last.insert(key, d.sequence).is_some_and(|before| before >= d.sequence) {
                self.reordered += 1;
            }
        }
        if d.at.0 < self.from {
            return;
        }
        let f = d.flow as usize;
        if self.delivered.len() <= f {
            self.delivered.resize(f + 1, 0);
        }
        self.delivered[f] += 1;
        self.latency += u128::from(d.latency());
        for (sum, part) in self.parts.iter_mut().zip(d.parts.causes) {
            *sum += u128::from(part);
        }
        self.wait_ps += u128::from(d.parts[models::Cause::SourceQueue]);
    }
    fn staging_edge(&mut self, e: &StagingEdge) {
        self.edges.push(*e);
    }
    fn sample(&mut self, s: &Sample) {
        assert_eq!(s.injected + s.replicated, s.delivered + s.dropped + s.in_flight);
        self.samples += 1;
    }
}

pub fn run(config: &FabricConfig, until: u64, probe: Count) -> (Count, Outcome) {
    run_with(config, until, probe, RunOptions::default())
}

pub fn run_with(
    config: &FabricConfig,
    until: u64,
    mut probe: Count,
    options: RunOptions,
) -> (Count, Outcome) {
    let mut sim = models::Watched::new(Arc::new(config.clone()), options, &mut probe);
    while sim.run(Time(until), u64::MAX) == Progress::Running {}
    let outcome = sim.finish();
    (probe, outcome)
}

pub const ALL_OPTIONS: [RunOptions; 4] = [
    RunOptions { list: ListKind::Heap, pipeline: PipelineMode::Folded, wire_check: false, profile: false },
    RunOptions { list: ListKind::Ring, pipeline: PipelineMode::Folded, wire_check: false, profile: false },
    RunOptions { list: ListKind::Heap, pipeline: PipelineMode::Unfolded, wire_check: false, profile: false },
    RunOptions { list: ListKind::Ring, pipeline: PipelineMode::Unfolded, wire_check: false, profile: false },
];

/// Uniform Poisson traffic of every endpoint to all others.
pub fn uniform(star: &mut Star, load_percent: u64) {
    let n = star.config.devices.len() as u32 - 1;
    let flow = star.flow("uniform");
    let ids: Arc<Vec<u32>> = Arc::new((0..n).collect());
    for e in 0..n {
        star.source(
            e,
            flow,
            Arrivals::Poisson { mean: Duration(T * 100 / load_percent) },
            Destinations::Uniform { ids: ids.clone(), except: Some(e) },
        );
    }
}

/// Switches joined by trunks into a tree, with endpoints on their first ports.
///
/// Endpoint n has id n and is device n; switch s is device `endpoints + s`. The ports of a switch are its
/// endpoints in the order of their ids, then its trunks in the order of `trunks`.
pub struct Net {
    pub config: FabricConfig,
    pub endpoints: u32,
    /// `(device, port)` at the other end of every port, by device.
    pub neighbours: Vec<Vec<(u32, u8)>>,
}

impl Net {
    /// `at[n]` = switch of endpoint n; `trunks` = pairs of switches.
    pub fn new(models: Vec<SwitchConfig>, at: &[usize], trunks: &[(usize, usize)]) -> Self {
        let endpoints = at.len() as u32;
        let mut neighbours: Vec<Vec<(u32, u8)>> = vec![Vec::new(); at.len() + models.len()];
        let mut links = Vec::new();
        let device = |s: usize| at.len() + s;
        let ends = at.iter().enumerate().map(|(e, &s)| (e, device(s)));
        for (a, b) in ends.chain(trunks.iter().map(|&(a, b)| (device(a), device(b)))) {
            let (pa, pb) = (neighbours[a].len() as u8, neighbours[b].len() as u8);
            neighbours[a].push((b as u32, pb));
            neighbours[b].push((a as u32, pa));
            links.push(LinkConfig {
                a: (a as u32, pa),
                b: (b as u32, pb),
                char_ps: (CHAR_PS, 1),
                lanes: 4,
                symbol_chars: 8,
                long_symbols: true,
                link_crc: false,
                ack_window: 63,
                propagation: Duration(20_000),
            });
        }
        let mut devices = Vec::new();
        for (e, &s) in at.iter().enumerate() {
            let next_hop = (0..endpoints).map(|id| Self::egress(&neighbours, device(s), id)).collect();
            devices.push(DeviceConfig {
                path: format!("e{e:03}"),
                ports: vec![port()],
                model: DeviceModel::Endpoint(EndpointConfig {
                    ids: vec![e as u32],
                    staging: StagingConfig::None,
                    next_hop: Arc::new(next_hop),
                }),
            });
        }
        for (s, mut model) in models.into_iter().enumerate() {
            let d = device(s);
            model.routes.entries = (0..endpoints)
                .map(|id| {
                    let egress = Self::egress(&neighbours, d, id);
                    let (peer, _) = neighbours[d][egress as usize];
                    let next_hop =
                        if peer < endpoints { NO_PORT } else { Self::egress(&neighbours, peer as usize, id) };
                    Route { egress: Egress::Port(egress), next_hop }
                })
                .collect();
            devices.push(DeviceConfig {
                path: format!("s{s:03}"),
                ports: vec![port(); neighbours[d].len()],
                model: DeviceModel::Switch(model),
            });
        }
        let config = FabricConfig {
            seed: 1,
            devices,
            links,
            id_space: endpoints,
            owners: (0..endpoints).collect(),
            ..FabricConfig::default()
        };
        Net { config, endpoints, neighbours }
    }

    /// Port of device `from` on the way to endpoint `id`.
    pub fn egress(neighbours: &[Vec<(u32, u8)>], from: usize, id: u32) -> u8 {
        fn reaches(n: &[Vec<(u32, u8)>], at: usize, came: usize, id: usize) -> bool {
            at == id || n[at].iter().any(|&(d, _)| d as usize != came && reaches(n, d as usize, at, id))
        }
        let port =
            neighbours[from].iter().position(|&(d, _)| reaches(neighbours, d as usize, from, id as usize));
        port.expect("the tree is connected") as u8
    }

    pub fn switch_mut(&mut self, s: usize) -> &mut SwitchConfig {
        match &mut self.config.devices[self.endpoints as usize + s].model {
            DeviceModel::Switch(s) => s,
            DeviceModel::Endpoint(_) => unreachable!(),
        }
    }

    pub fn endpoint_mut(&mut self, e: usize) -> &mut EndpointConfig {
        match &mut self.config.devices[e].model {
            DeviceModel::Endpoint(e) => e,
            DeviceModel::Switch(_) => unreachable!(),
        }
    }

    /// Ports of switch `s`.
    pub fn ports_mut(&mut self, s: usize) -> &mut Vec<PortConfig> {
        &mut self.config.devices[self.endpoints as usize + s].ports
    }

    /// A new flow with one source of its own.
    pub fn source(
        &mut self,
        from: u32,
        priority: u8,
        arrivals: Arrivals,
        to: Destinations,
    ) -> &mut SourceConfig {
        let flow = self.config.sources.len();
        self.config.flows.push(FlowConfig { name: format!("flow {flow}") });
        self.config.sources.push(SourceConfig {
            endpoint: from,
            flow: flow as u16,
            stream: format!("e{from:03}/{flow}"),
            priority,
            start: Time::ZERO,
            stop: Time::MAX,
            goes_on: false,
            limit: u64::MAX,
            arrivals,
            destinations: to,
            sizes: Sizes::Fixed(SIZE),
            ftype: 5,
        });
        self.config.sources.last_mut().unwrap()
    }

    /// `count` packets from `from` to `to` that are all there at `at`.
    pub fn burst(&mut self, from: u32, priority: u8, to: u32, at: u64, count: u64) {
        let arrivals = Arrivals::Constant { interval: (0, 1), phase: Duration(at) };
        self.source(from, priority, arrivals, Destinations::Fixed(to)).limit = count;
    }

    /// Packets from `from` to `to` at `percent` of the link rate, evenly spaced from `phase` on.
    pub fn constant(
        &mut self,
        from: u32,
        priority: u8,
        to: u32,
        percent: u64,
        phase: u64,
    ) -> &mut SourceConfig {
        let arrivals = Arrivals::Constant { interval: (T * 100, percent), phase: Duration(phase) };
        self.source(from, priority, arrivals, Destinations::Fixed(to))
    }

    pub fn saturated(&mut self, from: u32, priority: u8, to: u32) -> &mut SourceConfig {
        self.source(from, priority, Arrivals::Saturated { backlog: 4 }, Destinations::Fixed(to))
    }

    /// All bits of Part 12 on everywhere; every device stages by `staging`, every switch has `detector`.
    pub fn backpressure(&mut self, staging: &StagingConfig, detector: Option<Detector>) {
        for device in &mut self.config.devices {
            for p in &mut device.ports {
                p.voq = voq_port().voq;
            }
            match &mut device.model {
                DeviceModel::Endpoint(e) => e.staging = staging.clone(),
                DeviceModel::Switch(s) => {
                    s.detector = detector;
                    s.staging = staging.clone();
                }
            }
        }
    }

    /// Receive buffers of every port.
    pub fn buffers(&mut self, count: u8) {
        self.config.devices.iter_mut().flat_map(|d| &mut d.ports).for_each(|p| p.buffers = count);
    }

    /// Makes the link of endpoint `e` `factor` times slower.
    pub fn slow(&mut self, e: usize, factor: u64) {
        self.config.links[e].char_ps.0 *= factor;
    }

    /// A multicast id for `members`: copies leave every switch through the ports behind which members are.
    pub fn multicast(&mut self, members: &[u32]) -> u32 {
        let id = self.config.id_space;
        self.config.id_space += 1;
        self.config.owners.push(NO_OWNER);
        let n = self.neighbours.clone();
        let mask = |d: usize| members.iter().map(|&m| Self::egress(&n, d, m)).collect::<PortSet>();
        for (d, device) in self.config.devices.iter_mut().enumerate() {
            if let DeviceModel::Switch(s) = &mut device.model {
                let sets = n[d].iter().map(|&(peer, back)| {
                    if peer < self.endpoints { PortSet::EMPTY } else { mask(peer as usize).without(back) }
                });
                s.routes
                    .entries
                    .push(Route { egress: Egress::Multicast(s.routes.masks.len() as u8), next_hop: NO_PORT });
                s.routes.mask_next_hops.push(sets.collect());
                s.routes.masks.push(mask(d));
            }
        }
        id
    }

    pub fn run(&self, until: u64) -> (Log, Outcome) {
        log(&self.config, until)
    }

    /// The agent of endpoint `e`, made if there is none yet: no service times, no limit of the queue.
    pub fn agent(&mut self, e: u32) -> &mut AgentConfig {
        let at = match self.config.agents.binary_search_by_key(&e, |agent| agent.device) {
            Ok(at) => at,
            Err(at) => {
                let zero = ServiceTime::Fixed(Duration(0));
                let agent = AgentConfig {
                    device: e,
                    id: e,
                    ids: IdSize::Dev8,
                    host: HostConfig { rx_service: zero, tx_service: zero, rx_queue: 1 << 20 },
                    clock: (1, 1),
                    response_timeout: 1_000_000_000,
                    retry_delay: 0,
                    stream_packets: 1,
                    mtu: Mtu::MAX,
                    parts: Vec::new(),
                };
                self.config.agents.insert(at, agent);
                at
            }
        };
        &mut self.config.agents[at]
    }

    /// Gives the endpoints 0, 1, 2 ... these ends of Scheduled Transfer.
    pub fn transfers(&mut self, ends: Vec<TransferConfig>) {
        let ids: Vec<u32> = (0..ends.len() as u32).collect();
        self.conversation(ProtocolConfig::Transfer(Box::new(ends[0].clone())), &ids, &[]);
        for (&id, end) in ids.iter().zip(ends) {
            self.agent(id).parts[0].protocol = ProtocolConfig::Transfer(Box::new(end));
        }
    }

    /// A flow of `protocol` between `members`; of them `senders` send as `source` says.
    pub fn conversation(
        &mut self,
        protocol: ProtocolConfig,
        members: &[u32],
        senders: &[(u32, SourceConfig)],
    ) -> u16 {
        let flow = self.config.flows.len() as u16;
        self.config.flows.push(FlowConfig { name: format!("flow {flow}") });
        for &e in members {
            let source = senders.iter().find(|sender| sender.0 == e).map(|(_, source)| {
                let stream = format!("e{e:03}/{flow}");
                SourceConfig { endpoint: e, flow, stream, ..source.clone() }
            });
            self.agent(e).parts.push(PartConfig { flow, protocol: protocol.clone(), source });
        }
        flow
    }

    /// A flow of session management: each member has settings of its own.
    pub fn sessions(&mut self, members: &[(u32, ProtocolConfig)], senders: &[(u32, SourceConfig)]) -> u16 {
        let flow = self.config.flows.len() as u16;
        self.config.flows.push(FlowConfig { name: format!("flow {flow}") });
        for (e, protocol) in members {
            let source = senders.iter().find(|sender| sender.0 == *e).map(|(_, source)| {
                let stream = format!("e{e:03}/{flow}");
                SourceConfig { endpoint: *e, flow, stream, ..source.clone() }
            });
            self.agent(*e).parts.push(PartConfig { flow, protocol: protocol.clone(), source });
        }
        flow
    }
}

impl Net {
    /// Endpoint `host` sets everything up: ids, routes and registers are what will come of it. Everything
    /// else must be there already, and there must be no multicast.
    pub fn enumerated_by(&mut self, host: u32, spread: bool) {
        let ids = IdSize::Dev8;
        let own = self.config.devices[host as usize].ports[0].voq;
        let settings = EnumerationConfig {
            host,
            ids,
            spread,
            enables: true,
            host_hears: own.rx_sup,
            links: own.link_en,
            host_links: own.link_sup,
        };
        self.config.enumeration = Some(settings);
        let planned = plan(&Outline::of(&self.config).unwrap());
        let ids: Vec<u32> = planned.ids[..self.endpoints as usize].iter().map(|id| id.unwrap()).collect();
        self.config.id_space = 256;
        self.config.owners = vec![NO_OWNER; 256];
        for (e, &id) in ids.iter().enumerate() {
            self.config.owners[id as usize] = e as u32;
        }
        let egress = |d: u32, id: usize| planned.tables[d as usize].get(id).copied().flatten();
        let neighbours = self.neighbours.clone();
        let abilities: Vec<Vec<PortVoq>> =
            self.config.devices.iter().map(|d| d.ports.iter().map(|p| p.voq).collect()).collect();
        for (d, device) in self.config.devices.iter_mut().enumerate() {
            for (p, port) in device.ports.iter_mut().enumerate() {
                let (other, back) = neighbours[d][p];
                let switch = d >= self.endpoints as usize;
                let hears = abilities[other as usize][back as usize].rx_sup;
                port.voq.gen_en = switch && port.voq.gen_sup && hears;
                port.voq.part = switch;
                port.voq.xoff = false;
            }
            match &mut device.model {
                DeviceModel::Endpoint(e) => {
                    e.ids = vec![ids[d]];
                    let (switch, _) = neighbours[d][0];
                    let hop = |id| egress(switch, id).unwrap_or(NO_PORT);
                    e.next_hop = Arc::new((0..256).map(hop).collect());
                }
                DeviceModel::Switch(s) => {
                    let route = |id| match egress(d as u32, id) {
                        Some(port) => {
                            let (next, _) = neighbours[d][port as usize];
                            let next_hop = egress(next, id).unwrap_or(NO_PORT);
                            Route { egress: Egress::Port(port), next_hop }
                        }
                        None => Route { egress: Egress::Drop, next_hop: NO_PORT },
                    };
                    s.routes.entries = (0..256).map(route).collect();
                }
            }
        }
        let renamed = |destinations: &mut Destinations| match destinations {
            Destinations::Fixed(id) => *id = ids[*id as usize],
            Destinations::Cycle(list) | Destinations::Uniform { ids: list, .. } => {
                *list = Arc::new(list.iter().map(|id| ids[*id as usize]).collect());
            }
            Destinations::Hotspot { .. } | Destinations::Replay => unreachable!("not used here"),
        };
        self.config.sources.iter_mut().for_each(|source| renamed(&mut source.destinations));
        for agent in &mut self.config.agents {
            agent.id = ids[agent.device as usize];
            for source in agent.parts.iter_mut().filter_map(|part| part.source.as_mut()) {
                renamed(&mut source.destinations);
            }
        }
        let writes = Arc::default();
        let settings = ProtocolConfig::Enumerate { settings, priority: 2, writes };
        let flow = self.conversation(settings, &[host], &[]);
        self.config.flows[usize::from(flow)].name = "enumeration".into();
        self.agent(host).id = 0;
    }
}

/// Keeps everything that a probe can see.
#[derive(Default)]
pub struct Log {
    pub accesses: Vec<RegisterEvent>,
    pub deliveries: Vec<Delivery>,
    pub edges: Vec<StagingEdge>,
    pub samples: Vec<Sample>,
    pub messages: Vec<Journey>,
    pub round_trips: Vec<Journey>,
    pub events: Vec<ProtocolEvent>,
    pub timeouts: Vec<Timeout>,
    /// It looks at what crosses links, and so many packets and symbols did.
    pub follows_wire: bool,
    pub crossed: (u64, u64),
}

impl Probe for Log {
    fn follows_wire(&self) -> bool {
        self.follows_wire
    }
    fn crossing(&mut self, crossing: &Crossing<'_>) {
        assert!(self.follows_wire);
        match crossing.what {
            Crossed::Packet { body, parts, .. } => {
                lp_serial::packet::check(crossing.octets).expect("CRCs are right");
                let body = usize::from(body);
                assert_eq!(lp_serial::packet::sealed_len(body), crossing.octets.len());
                assert!(parts.total() > 0);
                self.crossed.0 += 1;
            }
            Crossed::Symbol { .. } => self.crossed.1 += 1,
            Crossed::Message { .. } => assert_eq!(crossing.octets[0] >> 3, 1, "VoQ backpressure"),
        }
    }
    fn register(&mut self, event: &RegisterEvent) {
        self.accesses.push(*event);
    }
    fn message(&mut self, m: &Journey) {
        assert_eq!(m.parts.total(), m.latency(), "the parts add up");
        self.messages.push(*m);
    }
    fn round_trip(&mut self, m: &Journey) {
        assert_eq!(m.parts.total(), m.latency(), "the parts add up");
        self.round_trips.push(*m);
    }
    fn protocol_event(&mut self, e: &ProtocolEvent) {
        self.events.push(*e);
    }
    fn timeout(&mut self, t: &Timeout) {
        self.timeouts.push(*t);
    }
    fn delivered(&mut self, d: &Delivery) {
        assert_eq!(d.parts.total(), d.latency(), "the parts add up");
        self.deliveries.push(*d);
    }
    fn staging_edge(&mut self, e: &StagingEdge) {
        self.edges.push(*e);
    }
    fn sample(&mut self, s: &Sample) {
        assert_eq!(s.injected + s.replicated, s.delivered + s.dropped + s.in_flight, "packets are conserved");
        self.samples.push(s.clone());
    }
}

impl Log {
    pub fn of(&self, flow: u16) -> impl Iterator<Item = &Delivery> {
        self.deliveries.iter().filter(move |d| d.flow == flow)
    }

    /// Deliveries of a flow in `[from, until)` as a share of what a link of the base rate carries.
    pub fn rate(&self, flow: u16, from: u64, until: u64) -> f64 {
        let count = self.of(flow).filter(|d| d.at.0 >= from && d.at.0 < until).count();
        count as f64 * T as f64 / (until - from) as f64
    }

    /// Intervals in which staging queue `queue` of `(device, port)` was stopped; open ends at `u64::MAX`.
    pub fn stops(&self, device: u32, port: u8, queue: u8) -> Vec<(u64, u64)> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        for e in self.edges.iter().filter(|e| (e.device, e.port, e.queue) == (device, port, queue)) {
            if e.stopped {
                assert!(found.last().is_none_or(|s| s.1 != u64::MAX), "edges alternate");
                found.push((e.at.0, u64::MAX));
            } else {
                let open = found.last_mut().expect("a release follows a stop");
                assert_eq!(open.1, u64::MAX, "edges alternate");
                open.1 = e.at.0;
            }
        }
        found
    }

    /// Sequence numbers rise for each (source, flow, priority) at each sink.
    pub fn assert_order(&self) {
        let mut last = std::collections::BTreeMap::new();
        for d in &self.deliveries {
            let key = (d.source, d.flow, d.priority, d.destination);
            if let Some(before) = last.insert(key, d.sequence) {
                assert!(before < d.sequence, "{before} before {} of {key:?}: {d:?}", d.sequence);
            }
        }
    }
}

/// First character of a packet on its injection link, when it met no credit or staging later on.
pub fn injected_at(d: &Delivery) -> u64 {
    use models::Cause::*;
    let waits = [SourceQueue, Staged, HeadOfLine, NoBuffer].map(|cause| d.parts[cause]);
    d.created.0 + waits.iter().sum::<u64>()
}

/// Runs to `until` exactly; a last sample there checks conservation.
pub fn log(config: &FabricConfig, until: u64) -> (Log, Outcome) {
    let mut config = config.clone();
    config.sample_every.get_or_insert(Duration(until));
    let mut sim = Simulation::new(Arc::new(config), RunOptions::default(), Log::default());
    while sim.run(Time(until), u64::MAX) == Progress::Running {}
    sim.finish()
}

/// Totals of one port.
pub fn totals(outcome: &Outcome, device: u32, port: u8) -> models::stats::PortStats {
    outcome.ports.iter().find(|p| (p.0, p.1) == (device, port)).expect("the port exists").2
}

/// One switch with an endpoint on every port.
pub fn single(ports: usize, model: SwitchConfig) -> Net {
    Net::new(vec![model], &vec![0; ports], &[])
}

/// Sends `octets` to `to`; endpoint, flow and stream are those of the conversation.
pub fn sender(to: Destinations, arrivals: Arrivals, octets: u16, limit: u64) -> SourceConfig {
    SourceConfig {
        endpoint: 0,
        flow: 0,
        stream: String::new(),
        priority: 0,
        start: Time::ZERO,
        stop: Time::MAX,
        goes_on: false,
        limit,
        arrivals,
        destinations: to,
        sizes: Sizes::Fixed(PacketSize { payload: octets, wire: 0 }),
        ftype: 0,
    }
}

/// Letters of 256-octet segments to mailbox 0.
pub const MESSAGE: Carrier = Carrier::Message { mailbox: 0, segment: 256 };
pub const STREAM: Carrier = Carrier::Stream { cos: 0, stream_id: 1 };

/// An end of Scheduled Transfer without faults and without peers.
pub fn transfer_end(
    node: u16,
    medium: Option<Medium>,
    protocol: scheduled_transfer::Config,
    job: TransferJob,
) -> TransferConfig {
    TransferConfig {
        node,
        medium,
        interfaces: vec![node],
        priority: 0,
        control_priority: 0,
        cos: 0,
        stream_id: 0,
        protocol,
        job,
        peers: Vec::new(),
        connect_at: Time(u64::from(node) * 77_000),
        spread: Duration(0),
        receives: None,
        upper: UpperLayer::default(),
        faults: [TransferFaults::default(); 2],
        delay: Duration(0),
        program: None,
        stream: format!("e{node:03}/transfer"),
        charted: false,
        captured: false,
        through: std::sync::Arc::default(),
    }
}

/// A small number generator for what need not shrink: one word decides a whole fabric.
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ z >> 31) % n
    }
    pub fn of<X: Clone>(&mut self, choices: &[X]) -> X {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
