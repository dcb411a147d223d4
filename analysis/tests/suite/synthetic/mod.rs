//! A run that never happened: a switch under a hot spot, with numbers that resemble a real one.

// every test file compiles this module for itself and uses its own part of it
#![allow(dead_code, unreachable_pub)]

use analysis::{Collector, CollectorConfig, RunData, Warmup};
use models::config::{
    Arbitration, Arrivals, Buffering, Destinations, DeviceConfig, DeviceModel, EndpointConfig, FabricConfig,
    FlowConfig, Forwarding, InputQueueing, LinkConfig, PacketSize, PortConfig, PortVoq, RouteTable, Sizes,
    SourceConfig, StagingConfig, SwitchConfig,
};
use models::probe::{Cause, Delivery, Offered, Parts, Probe, Sample, StagingEdge};
use models::sim_core::{Duration, Fingerprint, Time};
use models::stats::PortStats;
use models::{Outcome, probe};
use std::sync::Arc;

/// Endpoints around the one switch.
const ENDPOINTS: u32 = 6;
/// Length of the run: 2 ms.
pub const LENGTH: Time = Time(2_000_000_000);

/// Knuth's generator: tests need numbers, not randomness.
pub struct Lcg(pub u64);

impl Lcg {
    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// About exponential.
    pub fn gap(&mut self, mean: f64) -> u64 {
        let u = (self.below(1 << 30) as f64 + 0.5) / (1u64 << 30) as f64;
        (-libm::log(u) * mean) as u64
    }
}

/// Endpoints 0..6 and one switch, device 6; flow 0 = victim, 1 = hot.
pub fn fabric(seed: u64) -> FabricConfig {
    let port = PortConfig { buffers: 16, watermarks: [4, 3, 2], voq: PortVoq::default() };
    let mut devices: Vec<DeviceConfig> = (0..ENDPOINTS)
        .map(|index| DeviceConfig {
            path: format!("ep/{index}"),
            ports: vec![port.clone()],
            model: DeviceModel::Endpoint(EndpointConfig {
                ids: vec![index],
                staging: StagingConfig::None,
                next_hop: Arc::default(),
            }),
        })
        .collect();
    devices.push(DeviceConfig {
        path: "leaf/0".into(),
        ports: vec![port; ENDPOINTS as usize],
        model: DeviceModel::Switch(SwitchConfig {
            input: InputQueueing::Fifo,
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
        }),
    });
    let links = (0..ENDPOINTS)
        .map(|index| LinkConfig {
            a: (index, 0),
            b: (ENDPOINTS, index as u8),
            char_ps: (400, 1),
            lanes: 4,
            symbol_chars: 8,
            long_symbols: true,
            link_crc: false,
            ack_window: 31,
            propagation: Duration(20_000),
        })
        .collect();
    let source = |endpoint: u32, flow: u16| SourceConfig {
        endpoint,
        flow,
        stream: format!("ep/{endpoint}/{flow}"),
        priority: 0,
        start: Time(0),
        stop: LENGTH,
        goes_on: true,
        limit: u64::MAX,
        arrivals: Arrivals::Poisson { mean: Duration(1) },
        destinations: Destinations::Fixed(5),
        sizes: Sizes::Fixed(PacketSize { payload: 256, wire: 276 }),
        ftype: 5,
    };
    FabricConfig {
        seed,
        devices,
        links,
        id_space: ENDPOINTS,
        owners: (0..ENDPOINTS).collect(),
        flows: vec![FlowConfig { name: "victim".into() }, FlowConfig { name: "hot".into() }],
        sources: vec![source(0, 0), source(1, 0), source(2, 1), source(3, 1), source(0, 1)],
        sample_every: Some(Duration(1_000_000)),
        ..FabricConfig::default()
    }
}

/// How bad it is.
#[derive(Copy, Clone)]
pub struct Mood {
    pub name: &'static str,
    /// Mean gap of the victim's deliveries, picoseconds.
    pub victim_gap: f64,
    /// Mean head-of-line blocking of a victim, picoseconds.
    pub hol: f64,
    /// Mean time a hot packet is staged, picoseconds.
    pub staged: f64,
    /// Packets in the fullest queue.
    pub queue: u64,
}

pub const WITHOUT: Mood =
    Mood { name: "no backpressure", victim_gap: 380_000.0, hol: 3.1e6, staged: 0.0, queue: 14 };
pub const WITH: Mood =
    Mood { name: "VoQ backpressure", victim_gap: 192_000.0, hol: 0.12e6, staged: 4.2e6, queue: 6 };
pub const REFRESH: Mood =
    Mood { name: "with refresh", victim_gap: 196_000.0, hol: 0.2e6, staged: 4.0e6, queue: 7 };

/// Deliveries in the order of their times.
pub fn deliveries(mood: Mood, seed: u64) -> Vec<Delivery> {
    let mut lcg = Lcg(seed);
    let mut all = Vec::new();
    for flow in 0..2u16 {
        let mut at = 3_000_000;
        let mut sequence = 0;
        loop {
            let ramp = libm::fmin(1.0, 0.25 + at as f64 / 3e8);
            let mean = if flow == 0 { mood.victim_gap } else { 195_000.0 };
            at += lcg.gap(mean) / 2 + (mean / 2.0) as u64;
            if at > LENGTH.0 {
                break;
            }
            let mut parts = Parts::default();
            parts[Cause::Serialization] = 242_000;
            parts[Cause::Propagation] = 40_000;
            parts[Cause::Pipeline] = 100_000;
            parts[Cause::InputContention] = lcg.gap(60_000.0);
            parts[Cause::OutputContention] = lcg.gap(180_000.0);
            if flow == 0 {
                parts[Cause::SourceQueue] = lcg.gap(mood.hol * 0.7 * ramp);
                parts[Cause::HeadOfLine] = lcg.gap(mood.hol * ramp);
            } else {
                parts[Cause::SourceQueue] = at / 3 + lcg.gap(800_000.0);
                parts[Cause::OutputContention] += lcg.gap(2.4e6 * ramp);
                parts[Cause::Staged] = lcg.gap(mood.staged * ramp);
                parts[Cause::NoBuffer] = lcg.gap(700_000.0);
            }
            let created = at.saturating_sub(parts.total());
            parts[Cause::SourceQueue] = 0;
            parts[Cause::SourceQueue] = (at - created).saturating_sub(parts.total());
            if parts.total() != at - created {
                continue;
            }
            all.push(Delivery {
                at: Time(at),
                created: Time(created),
                flow,
                priority: 0,
                source: if flow == 0 { sequence as u32 % 2 } else { 2 + sequence as u32 % 2 },
                destination: if flow == 0 { 4 } else { 5 },
                sequence,
                payload: 256,
                link_ps: 114_000,
                parts,
            });
            sequence += 1;
        }
    }
    all.sort_by_key(|delivery| (delivery.at, delivery.flow));
    all
}

/// The creation of a delivered packet.
pub fn offer(delivery: &Delivery) -> Offered {
    Offered {
        at: delivery.created,
        flow: delivery.flow,
        source: delivery.source,
        payload: delivery.payload,
        link_ps: delivery.link_ps,
    }
}

/// A whole run.
pub fn run(mood: Mood) -> RunData {
    let config = Arc::new(fabric(7));
    let mut collector = Collector::new(&CollectorConfig::new(&config, LENGTH));
    let all = deliveries(mood, 99);
    for delivery in &all {
        collector.offered(&offer(delivery));
        collector.delivered(delivery);
    }
    let ports: Arc<Vec<(u32, u8)>> = Arc::new(
        (0..ENDPOINTS).map(|index| (index, 0)).chain((0..ENDPOINTS as u8).map(|p| (ENDPOINTS, p))).collect(),
    );
    let mut lcg = Lcg(5);
    const EVERY: u64 = 1_000_000;
    for at in (EVERY..LENGTH.0).step_by(EVERY as usize) {
        let ramp = libm::fmin(1.0, at as f64 / 2e8);
        let mut sample =
            Sample { at: Time(at), since: Time(at - EVERY), ports: Arc::clone(&ports), ..Sample::default() };
        for &(device, port) in ports.iter() {
            let full = match (device, port) {
                (ENDPOINTS, 0 | 2 | 3) => mood.queue,
                (ENDPOINTS, 1) => mood.queue / 2 + 1,
                _ => 1,
            };
            let waiting = if (device, port) == (ENDPOINTS, 5) { 2 * mood.queue } else { 1 };
            sample.input_ps.push((ramp * (full as f64 + lcg.below(4) as f64)) as u64 * EVERY);
            sample.waiting_ps.push((ramp * (waiting as f64 + lcg.below(5) as f64)) as u64 * EVERY);
        }
        sample.injected = 100;
        sample.delivered = 60;
        sample.in_flight = 40;
        sample.in_flight_ps = 40 * EVERY;
        collector.sample(&sample);
    }
    for edge in 0..100u64 {
        let at = Time(edge * 17_000_000);
        collector.staging_edge(&StagingEdge {
            at,
            device: 2,
            port: 0,
            channel: 0,
            queue: 5,
            stopped: edge % 2 == 0,
        });
    }
    let stats = |device: u32, port: u8| PortStats {
        packets_sent: 1_000,
        packet_ps: 1_000_000_000 + u64::from(device) * 50_000_000 + u64::from(port) * 10_000_000,
        symbol_ps: 12_000_000,
        hol_ps: if device == ENDPOINTS { u128::from(port) * 1_500_000_000 } else { 0 },
        ..PortStats::default()
    };
    let mut outcome_fingerprint = Fingerprint::new();
    outcome_fingerprint.record(1, Time(2), 3, 4);
    RunData {
        name: mood.name.into(),
        outcome: Outcome {
            over: false,
            end: LENGTH,
            ports: ports.iter().map(|&(device, port)| (device, port, stats(device, port))).collect(),
            agents: Vec::new(),
            enumeration: None,
            protocols: Vec::new(),
            totals: Default::default(),
            links: Vec::new(),
            symbol_hops: 0,
            wire_checked: Default::default(),
            outcome: outcome_fingerprint,
            trajectory: Fingerprint::new(),
            stalls: Vec::new(),
            silent: Vec::new(),
            held: Vec::new(),
            events: 123_456,
            packet_hops: 2 * all.len() as u64,
            injected: all.len() as u64,
            replicated: 0,
            delivered: all.len() as u64,
            dropped: 0,
            in_flight: 0,
            left: Vec::new(),
        },
        config,
        collector,
        warmup: Warmup::Auto,
        victims: vec![0],
        hot: vec![1],
    }
}

/// A run whose sources always have more to send.
pub fn closed_loops(mood: Mood) -> RunData {
    let mut data = run(mood);
    let mut config = (*data.config).clone();
    for source in &mut config.sources {
        source.arrivals = Arrivals::Saturated { backlog: 1 };
    }
    data.config = Arc::new(config);
    data
}

/// A delivery with nothing but a time, a latency and a flow.
pub fn plain(at: u64, latency: u64, flow: u16) -> probe::Delivery {
    let mut parts = Parts::default();
    parts[Cause::OutputContention] = latency;
    Delivery {
        at: Time(at),
        created: Time(at - latency),
        flow,
        priority: 0,
        source: 0,
        destination: 1,
        sequence: 0,
        payload: 256,
        link_ps: 114_000,
        parts,
    }
}
