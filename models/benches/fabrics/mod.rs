//! The three fabrics of the speed figures, compiled by hand so that this crate can measure itself.

use models::config::*;
use sim_core::{Duration, Time};
use std::sync::Arc;

/// 4x 6.25 Gbaud: 400 ps a character; 276 octets with their 8-character delimiter.
pub const T: u64 = 284 * 400;

/// Where packets go.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Load {
    /// Every destination alike.
    Uniform,
    /// Four endpoints are offered 95 % of their links: hot enough for queues and messages everywhere, and
    /// just not more than the links carry, because open sources would pile up the rest without bound.
    Hotspot,
}

fn switch(ports: usize) -> DeviceConfig {
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
    DeviceConfig {
        path: String::new(),
        ports: vec![PortConfig { buffers: 24, watermarks: [4, 3, 2], voq }; ports],
        model: DeviceModel::Switch(SwitchConfig {
            input: InputQueueing::Voq,
            buffering: Buffering::Direct,
            arbitration: Arbitration::RoundRobin,
            slot: None,
            reads_per_input: 2,
            forwarding: Forwarding::StoreAndForward,
            pipeline: Duration(100_000),
            routes: RouteTable::default(),
            detector: Some(Detector { x_on: 8, x_off: 4, verdict: Verdict::PerIngress }),
            refresh: Some(Duration(16 * 1_024 * 1_600)),
            generation_delay: Duration(0),
            after_recovery: true,
            port_rules: Vec::new(),
            leave_out_stopped: false,
            queue_quota: None,
            staging: StagingConfig::PerPort,
        }),
    }
}

fn link(a: (usize, usize), b: (usize, usize)) -> LinkConfig {
    LinkConfig {
        a: (a.0 as u32, a.1 as u8),
        b: (b.0 as u32, b.1 as u8),
        char_ps: (400, 1),
        lanes: 4,
        symbol_chars: 8,
        long_symbols: true,
        link_crc: false,
        ack_window: 63,
        propagation: Duration(40_000),
    }
}

/// Devices are endpoints 0..n, then switches; `route(switch, id)` is the egress port.
fn build(
    endpoints: usize,
    mut switches: Vec<DeviceConfig>,
    links: Vec<LinkConfig>,
    route: impl Fn(usize, usize) -> u8,
    load: Load,
) -> FabricConfig {
    let n = endpoints;
    // Neighbour of (switch, port): (device, port).
    let mut neighbour = vec![vec![(0usize, 0u8); 64]; switches.len()];
    let mut attached = vec![(0usize, 0u8); n];
    for l in &links {
        for ((d, p), (e, q)) in [(l.a, l.b), (l.b, l.a)] {
            if (d as usize) < n {
                attached[d as usize] = (e as usize - n, q);
            } else {
                neighbour[d as usize - n][p as usize] = (e as usize, q);
            }
        }
    }
    for (s, device) in switches.iter_mut().enumerate() {
        let DeviceModel::Switch(model) = &mut device.model else { unreachable!() };
        model.routes.entries = (0..n)
            .map(|id| {
                let egress = route(s, id);
                let (next, _) = neighbour[s][egress as usize];
                let next_hop = if next < n { NO_PORT } else { route(next - n, id) };
                Route { egress: Egress::Port(egress), next_hop }
            })
            .collect();
        device.path = format!("switch/{s:04}");
    }
    let mut tables: Vec<Option<Arc<IdTable<u8>>>> = vec![None; switches.len()];
    let mut devices = Vec::new();
    for (e, (s, _)) in attached.iter().enumerate() {
        let table =
            tables[*s].get_or_insert_with(|| Arc::new((0..n).map(|id| route(*s, id)).collect())).clone();
        let voq = PortVoq {
            gen_sup: false,
            rx_sup: true,
            gen_en: false,
            part: false,
            xoff: false,
            link_sup: false,
            link_en: false,
            obey: Duration::ZERO,
        };
        devices.push(DeviceConfig {
            path: format!("endpoint/{e:04}"),
            ports: vec![PortConfig { buffers: 16, watermarks: [4, 3, 2], voq }],
            model: DeviceModel::Endpoint(EndpointConfig {
                ids: vec![e as u32],
                staging: StagingConfig::PerPort,
                next_hop: table,
            }),
        });
    }
    devices.append(&mut switches);
    let ids: Arc<Vec<u32>> = Arc::new((0..n as u32).collect());
    let hot: Arc<Vec<u32>> = Arc::new((0..4).map(|k| (k * n / 4) as u32).collect());
    let cold: Arc<Vec<u32>> = Arc::new(ids.iter().copied().filter(|id| !hot.contains(id)).collect());
    let size = PacketSize { payload: 256, wire: 276 };
    let sources = (0..n as u32)
        .map(|e| SourceConfig {
            endpoint: e,
            flow: 0,
            stream: format!("endpoint/{e:04}/0"),
            priority: 0,
            start: Time::ZERO,
            stop: Time::MAX,
            goes_on: false,
            limit: u64::MAX,
            arrivals: Arrivals::Poisson { mean: Duration(T * 10 / 6) },
            destinations: match load {
                Load::Uniform => Destinations::Uniform { ids: ids.clone(), except: Some(e) },
                Load::Hotspot => Destinations::Hotspot {
                    hot: hot.clone(),
                    hot_except: hot.iter().position(|h| *h == e).map(|p| p as u32),
                    hot_flow: 1,
                    // n * 0.6 * share / 4 = 0.95
                    numerator: 19,
                    denominator: 3 * u64::from(n as u32),
                    cold: cold.clone(),
                    cold_except: cold.iter().position(|c| *c == e).map(|p| p as u32),
                },
            },
            sizes: Sizes::Fixed(size),
            ftype: 5,
        })
        .collect();
    FabricConfig {
        seed: 1,
        devices,
        links,
        id_space: n as u32,
        owners: (0..n as u32).collect(),
        flows: vec![FlowConfig { name: "background".into() }, FlowConfig { name: "hot".into() }],
        sources,
        ..FabricConfig::default()
    }
}

/// The fabric, with switches that forward as real ones do: they decide when the header is in.
pub fn cut_through(mut config: FabricConfig) -> FabricConfig {
    for device in &mut config.devices {
        if let DeviceModel::Switch(model) = &mut device.model {
            model.forwarding = Forwarding::CutThrough { header: 16 };
        }
    }
    config
}

/// (a) One 18-port switch.
pub fn one_switch(load: Load) -> FabricConfig {
    let n = 18;
    let links = (0..n).map(|e| link((e, 0), (n, e))).collect();
    build(n, vec![switch(n)], links, |_, id| id as u8, load)
}

/// (b) 256 endpoints, 16 leaves and 8 spines of 32 ports, two parallel links for each pair.
pub fn two_levels(load: Load) -> FabricConfig {
    let n = 256;
    let mut links = Vec::new();
    for leaf in 0..16 {
        for k in 0..16 {
            links.push(link((leaf * 16 + k, 0), (n + leaf, k)));
            links.push(link((n + leaf, 16 + k), (n + 16 + k / 2, 2 * leaf + k % 2)));
        }
    }
    let route = |s: usize, id: usize| -> u8 {
        let (leaf, k) = (id / 16, id % 16);
        if s >= 16 {
            (2 * leaf + k % 2) as u8
        } else if s == leaf {
            k as u8
        } else {
            (16 + k) as u8
        }
    };
    build(n, (0..24).map(|_| switch(32)).collect(), links, route, load)
}

/// (c) 4 096 endpoints, 256 leaves, 256 middle and 128 top switches of 32 ports.
pub fn three_levels(load: Load) -> FabricConfig {
    let n = 4_096;
    let (leaf0, middle0, top0) = (n, n + 256, n + 512);
    let mut links = Vec::new();
    for pod in 0..16 {
        for l in 0..16 {
            let leaf = pod * 16 + l;
            for k in 0..16 {
                links.push(link((leaf * 16 + k, 0), (leaf0 + leaf, k)));
                links.push(link((leaf0 + leaf, 16 + k), (middle0 + pod * 16 + k, l)));
            }
        }
        for j in 0..16 {
            for u in 0..16 {
                links.push(link((middle0 + pod * 16 + j, 16 + u), (top0 + j * 8 + u / 2, 2 * pod + u % 2)));
            }
        }
    }
    let route = |s: usize, id: usize| -> u8 {
        let (pod, l, k) = (id / 256, id / 16 % 16, id % 16);
        if s < 256 {
            if s == id / 16 { k as u8 } else { (16 + k) as u8 }
        } else if s < 512 {
            if (s - 256) / 16 == pod { l as u8 } else { (16 + (l + k) % 16) as u8 }
        } else {
            (2 * pod + l % 2) as u8
        }
    };
    build(n, (0..640).map(|_| switch(32)).collect(), links, route, load)
}
