//! Random fabrics that draw from every option of [`FabricConfig`], and the count of what was drawn.

use models::config::*;
use models::lp_serial::link::{Channels, FlowControl, Traffic, VcConfig};
use sim_core::{Duration, Purpose, Stream, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// 4x 6.25 Gbaud: 400 ps a character.
const CHAR_PS: u64 = 400;
/// 4x 10.3125 Gbaud, 64b/67b.
const IDLE3: (u64, u64) = (2_680_000, 4_125);
/// A packet of 276 octets with a long delimiter.
const T: u64 = 284 * CHAR_PS;

/// A fabric, and how long it runs.
#[derive(Clone)]
pub struct Case {
    pub number: u64,
    pub config: FabricConfig,
    pub until: u64,
}

/// What the plain simulator does not know yet: (option, value, why). Fabrics are drawn without it.
pub const EXCLUDED: &[(&str, &str, &str)] = &[];

/// The option and the value that a fabric must have to be drawn.
fn only() -> Option<(String, String)> {
    let text = std::env::var("RIOSIM_PLAIN_ONLY").ok()?;
    let (option, value) = text.split_once('=').expect("RIOSIM_PLAIN_ONLY is an option, `=` and a value");
    Some((option.into(), value.into()))
}

/// How many times longer than it is drawn a fabric runs.
fn longer() -> u64 {
    let text = std::env::var("RIOSIM_PLAIN_LONGER").ok();
    text.map_or(1, |text| text.parse().expect("RIOSIM_PLAIN_LONGER is a whole number"))
}

/// Random choices; each has a name, so that what is not covered can be left out.
struct Draw(Stream);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }
    fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0.uniform_between(low, high)
    }
    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    fn of<X: Clone>(&mut self, choices: &[X]) -> X {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

fn excluded(option: &str, value: &str) -> bool {
    EXCLUDED.iter().any(|&(o, v, _)| o == option && (v == value || v == "*"))
}

/// The `number`th fabric.
pub fn case(number: u64) -> Case {
    let only = only();
    let times = longer();
    let mut draw = Draw(Stream::new(number, "plain fabric", Purpose(1_000)));
    let d = &mut draw;
    let mut sizes = Draw(Stream::new(number, "large switch", Purpose(1_000)));
    let mut thresholds = Draw(Stream::new(number, "written thresholds", Purpose(1_000)));
    let mut places = Draw(Stream::new(number, "ample", Purpose(1_000)));
    loop {
        let large = large(&mut sizes);
        let mut config = fabric(d, large);
        // Of three fabrics one may have these: none of those that are kept as they were before there were
        // any.
        if number % 3 == 2 {
            written_thresholds(&mut thresholds, &mut config);
        }
        if number % 8 == 6 {
            ample(&mut places, &mut config);
        }
        // Large ones take the plain simulator long.
        let longest = if large.is_some() { 9 } else { 60 };
        let until = times * (d.between(8, longest) * T + d.below(T));
        // What is left out is drawn again: so the rest keeps its shares.
        let options = options(&config);
        let wanted = only.as_ref().is_none_or(|(option, value)| {
            options.iter().any(|(other, drawn)| other == option && drawn == value)
        });
        if wanted && options.iter().all(|(option, value)| !excluded(option, value)) {
            return Case { number, config, until };
        }
    }
}

/// Switches, endpoints and who is beside whom.
struct Shape {
    endpoints: usize,
    /// `(device, port)` at the other end of every port, by device.
    neighbours: Vec<Vec<(usize, usize)>>,
    links: Vec<((usize, usize), (usize, usize))>,
}

/// One fabric in fifty is a switch with so many ports that sets of them take more than a word, and an
/// endpoint at each.
fn large(d: &mut Draw) -> Option<usize> {
    d.chance(2).then(|| d.of(&[65, 72, 129]))
}

fn shape(d: &mut Draw, large: Option<usize>) -> Shape {
    let switches = if large.is_some() { 1 } else { d.of(&[0, 1, 1, 1, 2, 2, 3, 4]) };
    let mut trunks: Vec<(usize, usize)> = Vec::new();
    for s in 1..switches {
        // A chain, or a tree.
        let to = if d.chance(50) { s - 1 } else { d.below(s as u64) as usize };
        trunks.push((to, s));
    }
    if switches >= 3 && d.chance(30) {
        // A ring or a mesh.
        trunks.push((0, switches - 1));
    }
    if switches >= 2 && d.chance(10) {
        // A second link beside the first; only one is used.
        trunks.push(trunks[0]);
    }
    let mut at: Vec<usize> = Vec::new();
    if let Some(ports) = large {
        at = vec![0; ports];
    } else if switches == 0 {
        at = vec![0, 0];
    } else {
        let room = 12 - switches as u64;
        let endpoints = d.between(2, room.min(2 + 2 * switches as u64 + 2)) as usize;
        for e in 0..endpoints {
            // Leaves first, so that every switch has a purpose if there are enough endpoints.
            at.push(if e < switches { e } else { d.below(switches as u64) as usize });
        }
    }
    let endpoints = at.len();
    let mut neighbours = vec![Vec::new(); endpoints + switches];
    let mut links = Vec::new();
    let mut wires: Vec<(usize, usize)> = Vec::new();
    if switches == 0 {
        wires.push((0, 1));
    } else {
        wires.extend(at.iter().enumerate().map(|(e, &s)| (e, endpoints + s)));
        wires.extend(trunks.iter().map(|&(a, b)| (endpoints + a, endpoints + b)));
        // Ports in any order.
        for i in (1..wires.len()).rev() {
            wires.swap(i, d.below(i as u64 + 1) as usize);
        }
    }
    for (a, b) in wires {
        let (pa, pb) = (neighbours[a].len(), neighbours[b].len());
        neighbours[a].push((b, pb));
        neighbours[b].push((a, pa));
        links.push(if d.chance(50) { ((a, pa), (b, pb)) } else { ((b, pb), (a, pa)) });
    }
    Shape { endpoints, neighbours, links }
}

impl Shape {
    /// Port of `device` towards `to`: fewest hops, the lowest port among equals.
    fn egress(&self, device: usize, to: usize) -> usize {
        let mut distance = vec![usize::MAX; self.neighbours.len()];
        distance[to] = 0;
        let mut queue = std::collections::VecDeque::from([to]);
        while let Some(at) = queue.pop_front() {
            if at < self.endpoints && at != to {
                continue;
            }
            for &(next, _) in &self.neighbours[at] {
                if distance[next] == usize::MAX {
                    distance[next] = distance[at] + 1;
                    queue.push_back(next);
                }
            }
        }
        (0..self.neighbours[device].len())
            .min_by_key(|&p| distance[self.neighbours[device][p].0])
            .expect("every device has a link")
    }

    /// Port towards `to`; the port that leads to the endpoint itself if it is beside the switch.
    fn next_hop(&self, device: usize, port: usize, to: usize) -> u8 {
        let (next, _) = self.neighbours[device][port];
        if next < self.endpoints { NO_PORT } else { self.egress(next, to) as u8 }
    }
}

fn staging(d: &mut Draw) -> StagingConfig {
    match d.below(6) {
        0 => StagingConfig::None,
        1 => StagingConfig::Modulo(d.between(1, 3) as u8),
        2 => StagingConfig::Table(for_all((0..12).map(|_| d.below(3) as u8))),
        _ => StagingConfig::PerPort,
    }
}

fn detector(d: &mut Draw) -> Detector {
    let x_off = d.of(&[0, 0, 1, 2, 4]);
    Detector {
        x_on: x_off + d.between(1, 4) as u16,
        x_off,
        verdict: d.of(&[Verdict::Shared, Verdict::PerIngress]),
    }
}

/// What few ports have, again and again for as many as a switch may have.
fn for_all<X: Clone>(few: impl Iterator<Item = X>) -> Vec<X> {
    few.collect::<Vec<X>>().into_iter().cycle().take(PORTS_MAX).collect()
}

fn rules(d: &mut Draw) -> PortRules {
    PortRules {
        detector: d.chance(80).then(|| detector(d)),
        refresh: d.chance(25).then(|| Duration(d.between(2, 30) * T / 2)),
        generation_delay: Duration(d.of(&[0, 0, 1, 45_000, 200_000])),
        after_recovery: d.chance(50),
    }
}

fn switch(d: &mut Draw, voq: bool) -> SwitchConfig {
    let arbitration = match d.below(6) {
        5 => Arbitration::LongestQueueFirst,
        0 => Arbitration::OldestFirst,
        1 => Arbitration::Random,
        2 => Arbitration::Islip { iterations: d.of(&[1, 2, 4]) },
        _ => Arbitration::RoundRobin,
    };
    let detector = detector(d);
    SwitchConfig {
        input: d.of(&[InputQueueing::Fifo, InputQueueing::Voq, InputQueueing::Voq]),
        buffering: match d.below(5) {
            4 => Buffering::Shared { packets: d.of(&[1, 2, 5]) },
            0 => Buffering::Crosspoint { depth: d.of(&[1, 2, 4]) },
            1 => Buffering::Output { packets: d.of(&[1, 2, 5]) },
            _ => Buffering::Direct,
        },
        arbitration,
        slot: d.chance(15).then(|| Duration(d.of(&[T, T + 16 * CHAR_PS, T / 3, 2 * T]))),
        reads_per_input: d.of(&[1, 1, 2, 3]),
        forwarding: if d.chance(30) {
            Forwarding::CutThrough { header: d.of(&[4, 5, 12]) }
        } else {
            Forwarding::StoreAndForward
        },
        pipeline: Duration(d.of(&[0, 1, 30_000, 100_000, 112_000, 250_000])),
        routes: RouteTable::default(),
        detector: (voq && d.chance(85)).then_some(detector),
        refresh: (voq && d.chance(25)).then(|| Duration(d.between(2, 30) * T / 2)),
        generation_delay: Duration(if voq { d.of(&[0, 0, 1, 45_000, 200_000]) } else { 0 }),
        // Without channels, what it does after errors is beyond the plain simulator (F-102).
        after_recovery: d.chance(50),
        port_rules: if voq && d.chance(30) { for_all((0..12).map(|_| rules(d))) } else { Vec::new() },
        leave_out_stopped: voq && d.chance(30),
        queue_quota: (voq && d.chance(30)).then(|| d.of(&[1, 2, 3])),
        staging: if voq { staging(d) } else { StagingConfig::None },
    }
}

fn size(d: &mut Draw) -> PacketSize {
    let payload = d.of(&[8, 8, 64, 100, 128, 256, 256]);
    PacketSize { payload, wire: payload + d.of(&[10, 12, 16, 20]) }
}

fn fabric(d: &mut Draw, large: Option<usize>) -> FabricConfig {
    let shape = shape(d, large);
    let endpoints = shape.endpoints;
    let voq = d.chance(50);
    let obey = d.chance(30);
    let same_links = d.chance(35);
    let mut devices = Vec::new();
    for (device, ports) in shape.neighbours.iter().enumerate() {
        let watermarks = d.of(&[[4, 3, 2], [4, 3, 2], [3, 2, 1], [8, 5, 3]]);
        let buffers = d.of(&[0, 0, 1, 2, 4, 12, 40]) + watermarks[0];
        let ports = ports.iter().map(|_| PortConfig {
            buffers,
            watermarks,
            voq: if voq {
                PortVoq {
                    gen_sup: d.chance(95),
                    rx_sup: d.chance(90),
                    gen_en: d.chance(92),
                    part: d.chance(92),
                    xoff: d.chance(3),
                    link_sup: false,
                    link_en: false,
                    obey: Duration(if obey { d.of(&[0, 1, 30_000, 150_000, 400_000]) } else { 0 }),
                }
            } else {
                PortVoq::default()
            },
        });
        let ports: Vec<PortConfig> = ports.collect();
        if device < endpoints {
            let (next, _) = shape.neighbours[device][0];
            let mut ports = ports;
            let table = if next < endpoints || d.chance(5) {
                // VOQ-2.2-8: without a table RX_SUP is 0.
                ports[0].voq.rx_sup = false;
                IdTable::default()
            } else {
                (0..endpoints).map(|to| shape.egress(next, to) as u8).collect()
            };
            devices.push(DeviceConfig {
                path: format!("e{device:02}"),
                ports,
                model: DeviceModel::Endpoint(EndpointConfig {
                    ids: vec![device as u32],
                    staging: if voq { staging(d) } else { StagingConfig::None },
                    next_hop: Arc::new(table),
                }),
            });
        } else {
            let mut model = switch(d, voq);
            model.routes.entries = (0..endpoints)
                .map(|to| {
                    let port = shape.egress(device, to);
                    let next_hop = shape.next_hop(device, port, to);
                    Route { egress: Egress::Port(port as u8), next_hop }
                })
                .collect();
            devices.push(DeviceConfig {
                path: format!("s{device:02}"),
                ports,
                model: DeviceModel::Switch(model),
            });
        }
    }
    let links: Vec<LinkConfig> = {
        let mut first: Option<LinkConfig> = None;
        let ends = shape.links.iter();
        ends.map(|&((a, pa), (b, pb))| {
            let (a, b) = ((a as u32, pa as u8), (b as u32, pb as u8));
            if same_links && let Some(first) = &first {
                return LinkConfig { a, b, ..first.clone() };
            }
            // Long symbols over 8b/10b, short ones, 64b/67b.
            let kind = d.below(10);
            let lanes = d.of(&[1, 2, 4, 4, 8, 16]);
            let link = LinkConfig {
                a,
                b,
                char_ps: if kind < 8 {
                    d.of(&[(CHAR_PS, 1), (CHAR_PS, 1), (2 * CHAR_PS, 1), (500, 1), (800, 3), (1_000, 1)])
                } else {
                    IDLE3
                },
                lanes,
                symbol_chars: if kind < 2 { 4 } else { 8 },
                // Part 12 of revision 2 knows 8b/10b only.
                long_symbols: (2..8).contains(&kind),
                // IDLE3 alone has one, and always; that is not what a link's timing asks.
                link_crc: if kind < 8 { d.below(16) == 0 } else { d.below(8) > 0 },
                ack_window: match kind {
                    0 | 1 => 31,
                    2..8 => 63,
                    _ => 4_095,
                },
                propagation: Duration(d.of(&[1, 20_000, 40_000, 40_000, 113_600, 300_001])),
            };
            first.get_or_insert_with(|| link.clone());
            link
        })
        .collect()
    };
    // GEN_EN is set only where messages can be made and have a place.
    for link in &links {
        for (device, port) in [link.a, link.b] {
            let voq = &mut devices[device as usize].ports[port as usize].voq;
            voq.gen_en &= voq.gen_sup && link.long_symbols;
        }
    }
    let mut config = FabricConfig {
        seed: d.below(1 << 40),
        shake: if d.chance(20) { d.between(1, 99) } else { 0 },
        devices,
        links,
        id_space: endpoints as u32,
        owners: (0..endpoints as u32).collect(),
        ..FabricConfig::default()
    };
    let mut ids: Vec<u32> = (0..endpoints as u32).collect();
    let ring = shape.links.len() >= shape.neighbours.len();
    if !ring && endpoints < shape.neighbours.len() && d.chance(25) {
        ids.push(multicast(d, &shape, &mut config));
    }
    if endpoints < shape.neighbours.len() && d.chance(10) {
        ids.push(unroutable(d, &mut config));
    }
    if voq && endpoints < shape.neighbours.len() {
        while d.chance(25) && config.symbol_losses.len() < 3 {
            let s = d.between(endpoints as u64, shape.neighbours.len() as u64 - 1) as usize;
            let port = d.below(shape.neighbours[s].len() as u64) as u8;
            let kind = d.of(&[LossKind::Any, LossKind::Xoff, LossKind::Xon]);
            let nth = d.between(1, 5) as u32;
            config.symbol_losses.push(SymbolLoss { device: s as u32, port, kind, nth });
        }
    }
    if voq && endpoints < shape.neighbours.len() && d.chance(30) {
        for _ in 0..d.between(1, 5) {
            config.voq_writes.push(voq_write(d, &shape));
        }
        config.voq_writes.sort_by_key(|write| write.at);
    }
    symbolic(d, &mut config);
    sources(d, &mut config, &ids);
    if d.chance(15) {
        channels(d, &mut config);
    }
    config
}

/// Links of endpoints with so many buffers that nobody waits for one, or nearly so many, and no source that
/// hears of its packets: there the fast simulator makes up what endpoints do.
fn ample(d: &mut Draw, config: &mut FabricConfig) {
    if !config.symbolic.is_empty() {
        return;
    }
    for link in &config.links {
        let ends = [link.a, link.b];
        let is_endpoint = |&(device, _): &(u32, u8)| {
            matches!(config.devices[device as usize].model, DeviceModel::Endpoint(_))
        };
        if ends.iter().any(is_endpoint) {
            let buffers = if link.ack_window == 31 { 30 } else { d.of(&[14, 20, 28, 40, 120, 250]) };
            for (device, port) in ends {
                config.devices[device as usize].ports[port as usize].buffers = buffers;
            }
        }
    }
    for source in &mut config.sources {
        if let Arrivals::Saturated { .. } = source.arrivals {
            source.arrivals = Arrivals::Constant { interval: (T, d.between(1, 3)), phase: Duration(0) };
        }
    }
}

/// Writes to thresholds of switches with detectors.
fn written_thresholds(d: &mut Draw, config: &mut FabricConfig) {
    let judges = |device: &DeviceConfig| match &device.model {
        DeviceModel::Switch(s) => (0..device.ports.len()).any(|port| s.rules(port).detector.is_some()),
        DeviceModel::Endpoint(_) => false,
    };
    let switches: Vec<u32> =
        (0..).zip(&config.devices).filter(|(_, own)| judges(own)).map(|(n, _)| n).collect();
    if switches.is_empty() {
        return;
    }
    for _ in 0..d.between(1, 6) {
        let at = Time(d.between(0, 40) * T / 2 + d.of(&[0, 0, 1]));
        let device = d.of(&switches);
        let x_off = d.of(&[0, 0, 0, 1, 1, 2, 4]);
        let change = VoqChange::Thresholds { x_on: x_off + d.of(&[1, 1, 2, 3, 6]), x_off };
        // Packets wait at few ports: often it is written to all of a switch.
        let ports = config.devices[device as usize].ports.len() as u8;
        let one = d.below(u64::from(ports)) as u8;
        let written = if d.chance(70) { 0..ports } else { one..one + 1 };
        config.voq_writes.extend(written.map(|port| VoqWrite { at, device, port, change }));
    }
    config.voq_writes.sort_by_key(|write| write.at);
}

/// Some bits of the register of some port of a switch.
fn voq_write(d: &mut Draw, shape: &Shape) -> VoqWrite {
    let device = d.between(shape.endpoints as u64, shape.neighbours.len() as u64 - 1) as usize;
    let mut bits = || [1u32 << 23, 1 << 22, 1 << 21].into_iter().filter(|_| d.chance(50)).sum::<u32>();
    let (mask, value) = (bits(), bits());
    VoqWrite {
        at: Time(d.between(0, 40) * T / 2 + d.of(&[0, 0, 1])),
        device: device as u32,
        port: d.below(shape.neighbours[device].len() as u64) as u8,
        change: VoqChange::Register { mask, value },
    }
}

/// A multicast id for some endpoints: copies leave every switch through the ports behind which they are.
fn multicast(d: &mut Draw, shape: &Shape, config: &mut FabricConfig) -> u32 {
    let id = config.id_space;
    config.id_space += 1;
    config.owners.push(NO_OWNER);
    let endpoints = shape.endpoints;
    let empty = d.chance(8);
    let members: Vec<usize> = (0..endpoints).filter(|_| !empty && d.chance(60)).collect();
    let mask = |device: usize| members.iter().map(|&m| shape.egress(device, m) as u8).collect::<PortSet>();
    for (device, ports) in shape.neighbours.iter().enumerate() {
        let sets = ports.iter().map(|&(next, back)| match next {
            next if next < endpoints => PortSet::EMPTY,
            next => mask(next).without(back as u8),
        });
        match &mut config.devices[device].model {
            DeviceModel::Switch(s) => {
                let egress = Egress::Multicast(s.routes.masks.len() as u8);
                s.routes.entries.push(Route { egress, next_hop: NO_PORT });
                s.routes.mask_next_hops.push(sets.collect());
                s.routes.masks.push(mask(device));
            }
            DeviceModel::Endpoint(e) => {
                if !e.next_hop.is_empty() {
                    Arc::make_mut(&mut e.next_hop).push(NO_PORT);
                }
            }
        }
    }
    id
}

/// An id that some switch drops.
fn unroutable(d: &mut Draw, config: &mut FabricConfig) -> u32 {
    let id = config.id_space;
    config.id_space += 1;
    config.owners.push(NO_OWNER);
    let like = d.below(config.owners.iter().filter(|&&o| o != NO_OWNER).count() as u64) as usize;
    let mut dropped = false;
    for device in &mut config.devices {
        match &mut device.model {
            DeviceModel::Switch(s) => {
                let mut route = s.routes.entries[like];
                // The first switch always does, or the id could arrive where nobody owns it.
                let leads_on = route.next_hop != NO_PORT && dropped && d.chance(60);
                if !leads_on {
                    route = Route { egress: Egress::Drop, next_hop: NO_PORT };
                }
                dropped = true;
                s.routes.entries.push(route);
            }
            DeviceModel::Endpoint(e) => {
                if !e.next_hop.is_empty() {
                    Arc::make_mut(&mut e.next_hop).push(NO_PORT);
                }
            }
        }
    }
    id
}

fn cuts_through(config: &FabricConfig, device: u32) -> bool {
    match &config.devices[device as usize].model {
        DeviceModel::Switch(s) => s.forwarding != Forwarding::StoreAndForward,
        DeviceModel::Endpoint(_) => false,
    }
}

/// Links in symbol granularity.
fn symbolic(d: &mut Draw, config: &mut FabricConfig) {
    let any = d.chance(25);
    let flow = d.of(&[FlowControl::Transmitter, FlowControl::Receiver]);
    for link in 0..config.links.len() as u32 {
        if !any || d.chance(30) {
            continue;
        }
        let l = &config.links[link as usize];
        // 8b/10b characters only; a refused packet must not have left already.
        let cuts = cuts_through(config, l.a.0) || cuts_through(config, l.b.0);
        let short_buffers = [l.a, l.b]
            .iter()
            .any(|&(device, port)| config.devices[device as usize].ports[port as usize].buffers > 30);
        if l.char_ps == IDLE3 || cuts && flow == FlowControl::Receiver {
            continue;
        }
        if !l.long_symbols && short_buffers {
            continue;
        }
        config.symbolic.push(SymbolicLink {
            link,
            flow,
            timeout: Duration(1_000 * T),
            status_period: Duration(200 * T),
            throughout: d.chance(70),
            channels: None,
            damage: Default::default(),
        });
    }
}

/// Virtual channels on every link, and sources that send in them. Nothing else may be there that does not go
/// with them.
fn channels(d: &mut Draw, config: &mut FabricConfig) {
    let multicast = |device: &DeviceConfig| match &device.model {
        DeviceModel::Switch(s) => !s.routes.masks.is_empty(),
        DeviceModel::Endpoint(_) => false,
    };
    if config.devices.iter().any(multicast) {
        return;
    }
    for device in &mut config.devices {
        for port in &mut device.ports {
            port.buffers = port.buffers.min(28);
        }
        match &mut device.model {
            DeviceModel::Endpoint(_) => {}
            DeviceModel::Switch(s) => {
                if let Arbitration::Islip { .. } | Arbitration::LongestQueueFirst = s.arbitration {
                    s.arbitration = Arbitration::RoundRobin;
                }
                (s.input, s.buffering) = (InputQueueing::Voq, Buffering::Direct);
                (s.forwarding, s.slot) = (Forwarding::StoreAndForward, None);
                s.queue_quota = None;
            }
        }
    }
    for link in config.links.iter_mut().filter(|link| link.char_ps == IDLE3) {
        (link.char_ps, link.symbol_chars) = ((CHAR_PS, 1), 8);
        (link.long_symbols, link.ack_window) = (true, 63);
    }
    let replays = |source: &SourceConfig| matches!(source.arrivals, Arrivals::Replay(_));
    // Where the receiver looks after its buffers.
    let blind = d.chance(50);
    if d.chance(25) {
        config.links.iter_mut().for_each(|link| link.ack_window = d.of(&[2, 3, 7]));
    }
    let names = d.of(&[None, None, Some(Channels::One), Some(Channels::Two), Some(Channels::Four)]);
    let vc0_share = d.of(&[None, None, Some(1), Some(3)]);
    let refresh = d.chance(50).then(|| Duration(d.between(1, 20) * T));
    config.symbolic.clear();
    for link in 0..config.links.len() as u32 {
        let any = d.of(&[Channels::One, Channels::Two, Channels::Four, Channels::Eight, Channels::Eight]);
        let channels = names.unwrap_or(any);
        let count = u64::from(channels.count());
        let continuous = d.below(count + 1);
        let mut vcs = [VcConfig::default(); 8];
        for (n, vc) in vcs.iter_mut().enumerate() {
            vc.buffers = d.of(&[1, 1, 2, 3, 8, 29]);
            vc.share = d.of(&[1, 1, 1, 2, 3, 50]);
            if n as u64 >= count - continuous.min(count) {
                vc.traffic = Traffic::Continuous;
            }
        }
        config.symbolic.push(SymbolicLink {
            link,
            flow: if blind { FlowControl::Receiver } else { FlowControl::Transmitter },
            timeout: Duration(1_000 * T),
            status_period: Duration(200 * T),
            throughout: true,
            channels: Some(Box::new(ChannelsConfig { channels, vcs, vc0_share, refresh })),
            damage: Default::default(),
        });
    }
    if names.is_some() && d.chance(60) {
        link_messages(d, config);
    }
    let few = d.chance(50);
    for source in &mut config.sources {
        if !replays(source) && d.chance(70) {
            source.priority = vc_priority(if few { d.of(&[1, 4, 8]) } else { d.between(1, 8) as u8 });
        }
    }
}

/// Messages on most links that carry them are linked with channels.
fn link_messages(d: &mut Draw, config: &mut FabricConfig) {
    for link in config.links.iter().filter(|link| link.long_symbols) {
        let linked = d.chance(80);
        for (device, port) in [link.a, link.b] {
            config.devices[device as usize].ports[usize::from(port)].voq.link_en = linked;
        }
    }
}

fn sources(d: &mut Draw, config: &mut FabricConfig, ids: &[u32]) {
    let endpoints =
        config.devices.iter().filter(|d| matches!(d.model, DeviceModel::Endpoint(_))).count() as u64;
    let all = Arc::new(ids.to_vec());
    let alone = config.devices.len() == 2;
    let hot = d.below(endpoints) as u32;
    let one_size = d.chance(60).then(|| size(d));
    let one_priority = d.chance(40).then(|| d.below(4) as u8);
    let heavy = d.chance(50);
    for endpoint in 0..endpoints as u32 {
        if d.chance(15) && endpoint > 0 {
            continue;
        }
        for _ in 0..d.of(&[1, 1, 2, 3]) {
            let flow = config.flows.len() as u16;
            config.flows.push(FlowConfig { name: format!("flow {flow}") });
            let start = Time(if d.chance(20) { d.below(5 * T) } else { 0 });
            let sizes = match (one_size, d.below(3)) {
                (Some(size), _) => Sizes::Fixed(size),
                (None, 0) => Sizes::Fixed(size(d)),
                _ => Sizes::Mix(Arc::new(
                    (0..d.between(1, 3)).map(|_| (d.between(1, 4) as u32, size(d))).collect(),
                )),
            };
            let mean = if heavy { d.between(1, 3) } else { d.between(2, 9) };
            let arrivals = match d.below(6) {
                0 => Arrivals::Poisson { mean: Duration(T * mean) },
                1 => Arrivals::Bernoulli {
                    slot: Duration(T),
                    numerator: d.between(1, 3),
                    denominator: 3 * mean,
                },
                2 => Arrivals::Constant {
                    interval: (T * mean * 3, d.of(&[1, 2, 3, 7])),
                    phase: Duration(if d.chance(50) { d.below(2 * T) } else { 0 }),
                },
                3 => Arrivals::OnOff {
                    on: Duration(8 * T),
                    off: Duration(5 * T),
                    interval: Duration(T * mean / 2),
                },
                4 => {
                    let mut at = 0;
                    let mut packets = Vec::new();
                    for _ in 0..d.between(1, 12) {
                        at += d.of(&[0, 1, T / 2, T, 3 * T]);
                        let destination = if alone { 1 - endpoint } else { d.of(ids) };
                        packets.push(ReplayPacket {
                            at: Time(at),
                            destination,
                            size: size(d),
                            priority: d.below(4) as u8,
                            ftype: 5,
                        });
                    }
                    Arrivals::Replay(Arc::new(packets))
                }
                _ => Arrivals::Saturated { backlog: d.between(1, 4) as u16 },
            };
            let replayed = matches!(arrivals, Arrivals::Replay(_));
            let own = Some(endpoint);
            let destinations = match d.below(6) {
                // Without a switch nothing brings a packet back.
                _ if alone => Destinations::Fixed(1 - endpoint),
                0 | 1 if hot != endpoint => Destinations::Fixed(hot),
                2 => Destinations::Fixed(d.of(ids)),
                3 => Destinations::Cycle(all.clone()),
                4 => {
                    let hot_flow = config.flows.len() as u16;
                    config.flows.push(FlowConfig { name: format!("hot {hot_flow}") });
                    let two: Vec<u32> = vec![0, 1];
                    Destinations::Hotspot {
                        hot_except: two.iter().position(|&id| id == endpoint).map(|p| p as u32),
                        hot: Arc::new(two),
                        hot_flow,
                        numerator: d.between(1, 3),
                        denominator: 4,
                        cold: all.clone(),
                        cold_except: if d.chance(70) { own } else { None },
                    }
                }
                _ => {
                    Destinations::Uniform { ids: all.clone(), except: if d.chance(70) { own } else { None } }
                }
            };
            config.sources.push(SourceConfig {
                endpoint,
                flow,
                stream: format!("e{endpoint:02}/{flow}"),
                priority: one_priority.unwrap_or_else(|| d.below(4) as u8),
                start,
                stop: if d.chance(15) { Time(start.0 + d.below(30 * T)) } else { Time::MAX },
                goes_on: false,
                limit: if d.chance(20) { d.between(1, 30) } else { u64::MAX },
                destinations: if replayed { Destinations::Replay } else { destinations },
                sizes: if replayed { Sizes::Replay } else { sizes },
                ftype: 5,
                arrivals,
            });
        }
    }
}

/// Every option and value that must be drawn.
pub const VALUES: &[(&str, &[&str])] = &[
    ("switches", &["0", "1", "2", "3", "4"]),
    ("ports", &["up to 64", "65", "72", "129"]),
    ("endpoints", &["2", "3", "4", "5+"]),
    ("graph", &["tree", "ring", "parallel links"]),
    ("input", &["fifo", "voq"]),
    ("buffering", &["direct", "crosspoint", "output", "shared"]),
    ("depth", &["1", "2", "more"]),
    (
        "arbiter",
        &[
            "direct round_robin",
            "direct oldest_first",
            "direct longest_queue_first",
            "direct random",
            "direct islip",
            "crosspoint round_robin",
            "crosspoint oldest_first",
            "crosspoint longest_queue_first",
            "crosspoint random",
            "crosspoint islip",
            "output round_robin",
            "output oldest_first",
            "output longest_queue_first",
            "output random",
            "output islip",
            "shared round_robin",
            "shared oldest_first",
            "shared longest_queue_first",
            "shared random",
            "shared islip",
        ],
    ),
    ("iterations", &["1", "2", "4"]),
    ("reads_per_input", &["1", "2", "3"]),
    ("forwarding", &["store_and_forward", "cut_through"]),
    ("slot", &["none", "some"]),
    ("pipeline", &["zero", "short", "long"]),
    ("detector", &["none", "shared", "per_ingress"]),
    ("thresholds", &["off 0, on 1", "off 0, on more", "off more"]),
    ("refresh", &["none", "some"]),
    ("generation_delay", &["zero", "some"]),
    ("obey", &["zero", "some"]),
    ("after_recovery", &["false", "true"]),
    ("port_rules", &["none", "some"]),
    ("refresh beside PART 0", &["none", "some"]),
    ("voq_writes", &["none", "some"]),
    ("written", &["GEN_EN 0", "GEN_EN 1", "PART 0", "PART 1", "XOFF 0", "XOFF 1"]),
    ("written thresholds", &["lower on", "higher on", "lower off", "higher off", "equal", "no detector"]),
    ("leave_out_stopped", &["false", "true"]),
    ("queue_quota", &["none", "some"]),
    ("switch staging", &["none", "per_port", "modulo", "table"]),
    ("endpoint staging", &["none", "per_port", "modulo", "table"]),
    ("next_hop table", &["none", "some"]),
    ("gen_sup", &["false", "true"]),
    ("rx_sup", &["false", "true"]),
    ("gen_en", &["false", "true"]),
    ("part", &["false", "true"]),
    ("xoff", &["false", "true"]),
    ("losses", &["none", "any", "xoff", "xon"]),
    ("multicast", &["none", "some", "empty mask"]),
    ("staged sets", &["none", "some"]),
    ("unroutable", &["none", "some"]),
    ("links", &["equal", "mixed"]),
    ("lanes", &["1", "2", "4", "8", "16"]),
    ("symbols", &["short", "long", "64b/67b"]),
    ("char time", &["whole", "fraction"]),
    ("link CRC", &["yes", "no"]),
    ("ack_window", &["fewer", "31", "63", "4095"]),
    ("propagation", &["1 ps", "short", "long"]),
    ("buffers", &["WM0", "WM0 + 1", "WM0 + 2", "WM0 + 4", "more"]),
    ("granularity", &["packet", "symbol on error", "symbol throughout"]),
    ("flow control", &["transmitter", "receiver"]),
    ("virtual channels", &["none", "1", "2", "4", "8"]),
    ("messages beside channels", &["none", "unlinked", "linked"]),
    ("vc0_share", &["none", "some"]),
    ("channel refresh", &["none", "some"]),
    ("channel traffic", &["reliable", "continuous"]),
    ("channel flow control", &["transmitter", "receiver"]),
    ("channel buffers", &["1", "more"]),
    ("channel share", &["1", "more"]),
    ("refusals in channels", &["none", "some"]),
    ("arrivals", &["poisson", "bernoulli", "constant", "on_off", "saturated", "trace"]),
    ("phase", &["zero", "some"]),
    ("backlog", &["1", "more"]),
    ("destinations", &["fixed", "cycle", "uniform", "uniform except", "hotspot", "replay"]),
    ("sizes", &["fixed", "mix", "replay"]),
    ("priority", &["0", "1", "2", "3", "channel"]),
    ("start", &["0", "later"]),
    ("stop", &["never", "some"]),
    ("limit", &["none", "some"]),
    ("shake", &["none", "some"]),
];

fn staging_name(staging: &StagingConfig) -> &'static str {
    match staging {
        StagingConfig::None => "none",
        StagingConfig::PerPort => "per_port",
        StagingConfig::Modulo(_) => "modulo",
        StagingConfig::Table(_) => "table",
    }
}

/// The options and values that a fabric uses. A field that comes new to the configuration does not compile
/// here before it has a place in [`VALUES`], or a name that says why not.
pub fn options(config: &FabricConfig) -> BTreeSet<(&'static str, String)> {
    let FabricConfig {
        seed: _any,
        ids: _on_the_wire,
        id_space: _as_many,
        owners: _of_ids,
        flows: _by_sources,
        agents: _no_protocols,
        enumeration: _no_host,
        media: _no_media,
        translation: _no_translators,
        faults: _no_faults,
        sample_every: _see_relations,
        stall_after: _changes_nothing,
        stop_on_stall: _no_stall,
        devices: _,
        links: _,
        sources: _,
        symbol_losses: _,
        voq_writes: _,
        symbolic: _,
        shake: _,
    } = config;
    let mut all: BTreeSet<(&'static str, String)> = BTreeSet::new();
    let mut add = |option: &'static str, value: &str| {
        all.insert((option, value.to_string()));
    };
    let some = |yes: bool| if yes { "some" } else { "none" };
    let bit = |bit: bool| if bit { "true" } else { "false" };
    let zero = |zero: bool| if zero { "zero" } else { "some" };
    let (mut switches, mut endpoints) = (0, 0);
    let (mut staged, mut sets) = (false, false);
    for device in &config.devices {
        for port in &device.ports {
            let PortConfig { buffers: _, watermarks: _, voq } = *port;
            // What a port can link is asked by hosts, and there are none here.
            let PortVoq {
                gen_sup: _,
                rx_sup: _,
                gen_en: _,
                part: _,
                xoff: _,
                link_sup: _,
                link_en: _linked,
                obey: _,
            } = voq;
            add("obey", zero(voq.obey.0 == 0));
            add("gen_sup", bit(voq.gen_sup));
            add("rx_sup", bit(voq.rx_sup));
            add("gen_en", bit(voq.gen_en));
            add("part", bit(voq.part));
            add("xoff", bit(voq.xoff));
            match port.buffers - port.watermarks[0] {
                0 => add("buffers", "WM0"),
                1 => add("buffers", "WM0 + 1"),
                2 => add("buffers", "WM0 + 2"),
                4 => add("buffers", "WM0 + 4"),
                _ => add("buffers", "more"),
            }
        }
        match &device.model {
            DeviceModel::Endpoint(e) => {
                endpoints += 1;
                let EndpointConfig { ids: _one, staging: _, next_hop: _ } = e;
                staged |= e.staging != StagingConfig::None;
                add("endpoint staging", staging_name(&e.staging));
                add("next_hop table", some(!e.next_hop.is_empty()));
            }
            DeviceModel::Switch(s) => {
                switches += 1;
                let SwitchConfig {
                    input: _,
                    buffering: _,
                    arbitration: _,
                    slot: _,
                    reads_per_input: _,
                    forwarding: _,
                    pipeline: _,
                    routes: RouteTable { entries: _, masks: _, mask_next_hops: _by_masks },
                    detector: _,
                    refresh: _,
                    generation_delay: _,
                    after_recovery: _,
                    port_rules: _,
                    leave_out_stopped: _,
                    queue_quota: _,
                    staging: _,
                } = s;
                for rules in (0..device.ports.len()).map(|port| s.rules(port)) {
                    let PortRules { detector: _, refresh: _, generation_delay: _, after_recovery: _ } = rules;
                    add("after_recovery", bit(rules.after_recovery));
                }
                // A refresh tells of ports whose PART is 0, too.
                let apart = |(port, p): (usize, &PortConfig)| !p.voq.part && s.rules(port).refresh.is_some();
                add("refresh beside PART 0", some(device.ports.iter().enumerate().any(apart)));
                match device.ports.len() {
                    ..=64 => add("ports", "up to 64"),
                    many => add("ports", &many.to_string()),
                }
                staged |= s.staging != StagingConfig::None;
                sets |= s.routes.masks.iter().any(|mask| !mask.is_empty());
                add("input", if s.input == InputQueueing::Fifo { "fifo" } else { "voq" });
                let depth = |n: u16| match n {
                    1 => "1",
                    2 => "2",
                    _ => "more",
                };
                let buffering = match s.buffering {
                    Buffering::Direct => "direct",
                    Buffering::Crosspoint { .. } => "crosspoint",
                    Buffering::Output { .. } => "output",
                    Buffering::Shared { .. } => "shared",
                };
                match s.buffering {
                    Buffering::Direct => add("buffering", "direct"),
                    Buffering::Crosspoint { depth: n } => {
                        add("buffering", "crosspoint");
                        add("depth", depth(n));
                    }
                    Buffering::Output { packets: n } => {
                        add("buffering", "output");
                        add("depth", depth(n));
                    }
                    Buffering::Shared { packets: n } => {
                        add("buffering", "shared");
                        add("depth", depth(n));
                    }
                }
                let policy = match s.arbitration {
                    Arbitration::RoundRobin => "round_robin",
                    Arbitration::OldestFirst => "oldest_first",
                    Arbitration::LongestQueueFirst => "longest_queue_first",
                    Arbitration::Random => "random",
                    Arbitration::Islip { iterations } => {
                        add("iterations", &iterations.to_string());
                        "islip"
                    }
                };
                add("arbiter", &format!("{buffering} {policy}"));
                add("reads_per_input", &s.reads_per_input.to_string());
                let cuts = s.forwarding != Forwarding::StoreAndForward;
                add("forwarding", if cuts { "cut_through" } else { "store_and_forward" });
                add("slot", some(s.slot.is_some()));
                add(
                    "pipeline",
                    match s.pipeline.0 {
                        0 => "zero",
                        1..=30_000 => "short",
                        _ => "long",
                    },
                );
                match s.detector {
                    None => add("detector", "none"),
                    Some(d) => {
                        add("detector", if d.verdict == Verdict::Shared { "shared" } else { "per_ingress" });
                        add(
                            "thresholds",
                            match (d.x_off, d.x_on) {
                                (0, 1) => "off 0, on 1",
                                (0, _) => "off 0, on more",
                                _ => "off more",
                            },
                        );
                    }
                }
                add("refresh", some(s.refresh.is_some()));
                add("port_rules", some(!s.port_rules.is_empty()));
                add("leave_out_stopped", bit(s.leave_out_stopped));
                add("queue_quota", some(s.queue_quota.is_some()));
                add("generation_delay", zero(s.generation_delay.0 == 0));
                add("switch staging", staging_name(&s.staging));
                add("multicast", some(!s.routes.masks.is_empty()));
                if s.routes.masks.contains(&PortSet::EMPTY) {
                    add("multicast", "empty mask");
                }
                let drops = s.routes.entries.iter().any(|r| r.egress == Egress::Drop);
                add("unroutable", some(drops));
            }
        }
    }
    add("voq_writes", some(!config.voq_writes.is_empty()));
    for write in &config.voq_writes {
        let VoqWrite { at: _, device, port, change } = *write;
        match change {
            VoqChange::Register { mask, value } => {
                for (n, name) in [(23, "GEN_EN"), (22, "PART"), (21, "XOFF")] {
                    if mask >> n & 1 != 0 {
                        add("written", &format!("{name} {}", value >> n & 1));
                    }
                }
            }
            VoqChange::Thresholds { x_on, x_off } => {
                let DeviceModel::Switch(s) = &config.devices[device as usize].model else { continue };
                let Some(d) = s.rules(port.into()).detector else {
                    add("written thresholds", "no detector");
                    continue;
                };
                for (new, old, names) in [
                    (x_on, d.x_on, ["lower on", "equal", "higher on"]),
                    (x_off, d.x_off, ["lower off", "equal", "higher off"]),
                ] {
                    add("written thresholds", names[1usize.saturating_add_signed(new.cmp(&old) as isize)]);
                }
            }
        }
    }
    add("switches", &switches.to_string());
    add(
        "endpoints",
        match endpoints {
            2 => "2",
            3 => "3",
            4 => "4",
            _ => "5+",
        },
    );
    let mut pairs: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for link in &config.links {
        let pair = (link.a.0.min(link.b.0), link.a.0.max(link.b.0));
        *pairs.entry(pair).or_default() += 1;
        let LinkConfig {
            a: _,
            b: _,
            char_ps: _,
            lanes: _,
            symbol_chars: _,
            long_symbols: _by_kind,
            link_crc,
            ack_window: _,
            propagation: _,
        } = link;
        let window = link.ack_window.to_string();
        add("lanes", &link.lanes.to_string());
        add(
            "symbols",
            match (link.symbol_chars, link.char_ps) {
                (4, _) => "short",
                (_, IDLE3) => "64b/67b",
                _ => "long",
            },
        );
        add("link CRC", if *link_crc { "yes" } else { "no" });
        add("char time", if link.char_ps.0.is_multiple_of(link.char_ps.1) { "whole" } else { "fraction" });
        add("ack_window", if link.ack_window < 31 { "fewer" } else { &window });
        add(
            "propagation",
            match link.propagation.0 {
                1 => "1 ps",
                2..=60_000 => "short",
                _ => "long",
            },
        );
    }
    let ring = pairs.len() >= config.devices.len();
    add("graph", if ring { "ring" } else { "tree" });
    if pairs.values().any(|&n| n > 1) {
        add("graph", "parallel links");
    }
    let alike = |a: &LinkConfig, b: &LinkConfig| {
        (a.char_ps, a.lanes, a.symbol_chars, a.propagation)
            == (b.char_ps, b.lanes, b.symbol_chars, b.propagation)
    };
    let equal = config.links.iter().all(|l| alike(l, &config.links[0]));
    add("links", if equal { "equal" } else { "mixed" });
    add("losses", "none");
    for loss in &config.symbol_losses {
        let SymbolLoss { device: _, port: _, kind: _, nth: _ } = loss;
        add(
            "losses",
            match loss.kind {
                LossKind::Any => "any",
                LossKind::Xoff => "xoff",
                LossKind::Xon => "xon",
            },
        );
    }
    if config.symbolic.len() < config.links.len() {
        add("granularity", "packet");
        add("flow control", "transmitter");
        add("virtual channels", "none");
    }
    for link in &config.symbolic {
        let SymbolicLink {
            link: _,
            flow: _,
            timeout: _nothing_is_lost,
            status_period: _nor_told_again,
            throughout: _,
            channels: _,
            damage: _none,
        } = link;
        add("granularity", if link.throughout { "symbol throughout" } else { "symbol on error" });
        add("flow control", if link.flow == FlowControl::Receiver { "receiver" } else { "transmitter" });
        let Some(vcs) = &link.channels else {
            add("virtual channels", "none");
            continue;
        };
        let ChannelsConfig { channels: _, vcs: _, vc0_share: _, refresh: _ } = &**vcs;
        let count = vcs.channels.count();
        add("virtual channels", &count.to_string());
        let ends = [config.links[link.link as usize].a, config.links[link.link as usize].b];
        let voq = |(device, port): (u32, u8)| config.devices[device as usize].ports[usize::from(port)].voq;
        let [a, b] = ends.map(voq);
        let told = a.gen_en && b.rx_sup || b.gen_en && a.rx_sup;
        let kind = if a.link_en { "linked" } else { "unlinked" };
        add("messages beside channels", if told { kind } else { "none" });
        add("vc0_share", some(vcs.vc0_share.is_some()));
        add("channel refresh", some(vcs.refresh.is_some()));
        let receiver = link.flow == FlowControl::Receiver;
        add("channel flow control", if receiver { "receiver" } else { "transmitter" });
        for vc in &vcs.vcs[..usize::from(count)] {
            let continuous = vc.traffic == Traffic::Continuous;
            add("channel traffic", if continuous { "continuous" } else { "reliable" });
            let VcConfig { traffic: _, buffers: _, share: _ } = vc;
            add("channel share", if vc.share == 1 { "1" } else { "more" });
            add("channel buffers", if vc.buffers == 1 { "1" } else { "more" });
        }
        let in_vc0 = config.sources.iter().any(|source| vc_of(source.priority) == 0);
        let reliable = vcs.vcs[..usize::from(count)].iter().any(|vc| vc.traffic == Traffic::Reliable);
        add("refusals in channels", some(receiver && (in_vc0 || reliable)));
    }
    for source in &config.sources {
        let SourceConfig {
            endpoint: _,
            flow: _,
            stream: _own,
            priority: _,
            start: _,
            stop: _,
            goes_on: _,
            limit: _,
            arrivals: _,
            destinations: _,
            sizes: _,
            ftype: _on_the_wire,
        } = source;
        match &source.arrivals {
            Arrivals::Poisson { .. } => add("arrivals", "poisson"),
            Arrivals::Bernoulli { .. } => add("arrivals", "bernoulli"),
            Arrivals::Constant { phase, .. } => {
                add("arrivals", "constant");
                add("phase", zero(phase.0 == 0));
            }
            Arrivals::OnOff { .. } => add("arrivals", "on_off"),
            Arrivals::Saturated { backlog } => {
                add("arrivals", "saturated");
                add("backlog", if *backlog == 1 { "1" } else { "more" });
            }
            Arrivals::Replay(_) => add("arrivals", "trace"),
        }
        match &source.destinations {
            Destinations::Fixed(_) => add("destinations", "fixed"),
            Destinations::Cycle(_) => add("destinations", "cycle"),
            Destinations::Uniform { except: None, .. } => add("destinations", "uniform"),
            Destinations::Uniform { .. } => add("destinations", "uniform except"),
            Destinations::Hotspot { .. } => add("destinations", "hotspot"),
            Destinations::Replay => add("destinations", "replay"),
        }
        match &source.sizes {
            Sizes::Fixed(_) => add("sizes", "fixed"),
            Sizes::Mix(_) => add("sizes", "mix"),
            Sizes::Replay => add("sizes", "replay"),
        }
        match vc_of(source.priority) {
            0 => add("priority", &source.priority.to_string()),
            _ => add("priority", "channel"),
        }
        add("start", if source.start == Time::ZERO { "0" } else { "later" });
        add("stop", if source.stop == Time::MAX { "never" } else { "some" });
        add("limit", if source.limit == u64::MAX { "none" } else { "some" });
    }
    add("staged sets", some(staged && sets));
    add("shake", if config.shake == 0 { "none" } else { "some" });
    all
}

/// How often each value was drawn.
#[derive(Default)]
pub struct Coverage(BTreeMap<(&'static str, String), u64>);

impl Coverage {
    pub fn count(&mut self, config: &FabricConfig) {
        for key in options(config) {
            *self.0.entry(key).or_default() += 1;
        }
    }

    /// The counts as a table, and the values that were never drawn, those that are left out excepted.
    pub fn table(&self) -> (String, Vec<String>) {
        let (mut text, mut missing) = (String::new(), Vec::new());
        for (option, values) in VALUES {
            text += &format!("{option:20}");
            for value in *values {
                let count = self.0.get(&(*option, value.to_string())).copied().unwrap_or(0);
                text += &format!("  {value}: {count}");
                if count == 0 && !excluded(option, value) {
                    missing.push(format!("{option}: {value}"));
                }
            }
            text.push('\n');
        }
        for (option, value) in self.0.keys() {
            let known = VALUES.iter().any(|(o, values)| o == option && values.contains(&value.as_str()));
            assert!(known, "{option}: {value} is not in the table of values");
        }
        for (option, value, reason) in EXCLUDED {
            text += &format!("left out: {option} {value}: {reason}\n");
        }
        (text, missing)
    }
}
