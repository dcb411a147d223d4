//! Small fabrics for the tests of this crate, built without scenario files.
#![allow(dead_code, missing_docs)]

use models::config::*;
use models::probe::{Delivery, Offered, Probe, Sample, StagingEdge};
use models::run::{ListKind, PipelineMode};
use models::{Outcome, Progress, RunOptions, Simulation};
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
    let voq = PortVoq { gen_sup: true, rx_sup: true, gen_en: true, part: true, xoff: false };
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
        staging: StagingConfig::None,
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
        let table: Arc<Vec<u8>> = Arc::new((0..ports).collect());
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
                ack_window: 63,
                propagation: Duration(20_000),
            })
            .collect();
        let config = FabricConfig {
            seed: 1,
            shake: 0,
            devices,
            links,
            id_space: n,
            owners: (0..n).collect(),
            flows: Vec::new(),
            sources: Vec::new(),
            symbol_losses: Vec::new(),
            sample_every: None,
            stall_after: None,
            stop_on_stall: false,
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
            limit: u64::MAX,
            arrivals,
            destinations,
            sizes: Sizes::Fixed(SIZE),
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
    pub parts: [u128; 12],
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
        for (sum, part) in self.parts.iter_mut().zip(d.parts.0) {
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

pub fn run_with(config: &FabricConfig, until: u64, probe: Count, options: RunOptions) -> (Count, Outcome) {
    let mut sim = Simulation::new(Arc::new(config.clone()), options, probe);
    while sim.run(Time(until), u64::MAX) == Progress::Running {}
    sim.finish()
}

pub const ALL_OPTIONS: [RunOptions; 4] = [
    RunOptions { list: ListKind::Heap, pipeline: PipelineMode::Folded },
    RunOptions { list: ListKind::Ring, pipeline: PipelineMode::Folded },
    RunOptions { list: ListKind::Heap, pipeline: PipelineMode::Unfolded },
    RunOptions { list: ListKind::Ring, pipeline: PipelineMode::Unfolded },
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
