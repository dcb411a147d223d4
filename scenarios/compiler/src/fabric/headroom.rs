//! Places that the detectors of congestion need above their threshold, and those that there are (Part 12
//! §2.5).

use super::{Lengths, round_trip_packets, switch, wires};
use models::config::*;
use models::sim_core::Time;
use models::voq_backpressure::csr;
use std::collections::BTreeSet;

/// A detector of a switch with the thresholds that it has at some time, and whether it speaks up early
/// enough.
pub(crate) struct Headroom {
    pub device: u32,
    /// The egress port that it watches.
    pub port: u8,
    /// When it is given these thresholds first; `None`: it has them when the run begins.
    pub since: Option<Time>,
    pub detector: Detector,
    /// Neighbours that hear of it; a verdict by ingress is about one of them.
    pub neighbours: usize,
    /// N_hr, of the neighbour with most: packets that may still come when the detector has gone on.
    pub each: u64,
    /// Places needed above `on`: then packets for this port leave a place to those for other ports, who
    /// wait for no other packets than each other's.
    pub needed: u64,
    /// Places that there are.
    pub there: u64,
    /// Places beyond those that are needed with which packets for other ports do not wait for each other's
    /// either, as long as each goes on at once: a loop of their link full of them. `None`: they do not share
    /// places with those for this port.
    pub beyond: Option<u64>,
}

/// Packets for one egress port that a switch can hold, as far as its detector counts them.
pub(crate) fn most_for_one_port(own: &SwitchConfig, ports: &[PortConfig], verdict: Verdict) -> u64 {
    let inputs = ports.iter().map(|port| u64::from(port.buffers));
    let (inputs, sources) = match verdict {
        Verdict::Shared => (inputs.sum(), ports.len() as u64),
        Verdict::PerIngress => (inputs.max().unwrap_or(0), 1),
    };
    let behind = match own.buffering {
        Buffering::Direct => 0,
        Buffering::Crosspoint { depth } => u64::from(depth) * sources,
        Buffering::Output { packets } | Buffering::Shared { packets } => u64::from(packets),
    };
    inputs + behind
}

/// Ports of which a write sets bits of the register.
struct Enabled {
    gen_en: BTreeSet<(u32, u8)>,
    part: BTreeSet<(u32, u8)>,
}

impl Enabled {
    fn later(config: &FabricConfig) -> Self {
        let set = |bit: u32| {
            let sets = |write: &&VoqWrite| match write.change {
                VoqChange::Register { mask, value } => mask & value & bit != 0,
                VoqChange::Thresholds { .. } => false,
            };
            config.voq_writes.iter().filter(sets).map(|write| (write.device, write.port)).collect()
        };
        Enabled { gen_en: set(csr::GEN_EN), part: set(csr::PART) }
    }
}

/// The detector of a port with each pair of thresholds that it ever has, and since when.
fn values(config: &FabricConfig, port: (u32, u8), first: Detector) -> Vec<(Option<Time>, Detector)> {
    let mut all = vec![(None, first)];
    for write in config.voq_writes.iter().filter(|write| (write.device, write.port) == port) {
        let VoqChange::Thresholds { x_on, x_off } = write.change else { continue };
        let detector = Detector { x_on, x_off, ..first };
        if all.iter().all(|(_, known)| *known != detector) {
            all.push((Some(write.at), detector));
        }
    }
    all
}

/// All detectors of a fabric that can go on, and whose verdict somebody hears, with all thresholds that they
/// ever have: who writes lower ones may find more packets than the new `on`, but fewer than the old one,
/// whose places it then needs.
pub(crate) fn detectors(config: &FabricConfig) -> Vec<Headroom> {
    let wires = wires(config);
    let lengths = Lengths::of(config);
    let writes = Enabled::later(config);
    let mut all = Vec::new();
    for device in 0..config.devices.len() as u32 {
        let Some(own) = switch(config, device) else { continue };
        let ports = &config.devices[device as usize].ports;
        let arriving: Vec<Option<u64>> = ports
            .iter()
            .zip(&wires[device as usize])
            .enumerate()
            .map(|(u, (port, wire))| {
                let enabled = port.voq.gen_en || writes.gen_en.contains(&(device, u as u8));
                let (link, other, back) = wire.filter(|_| enabled)?;
                let obeyed = config.devices[other as usize].ports[usize::from(back)].voq.obey;
                let fixed = own.rules(u).generation_delay.0 + own.pipeline.0 + obeyed.0;
                Some(arriving(&config.links[link as usize], lengths, fixed))
            })
            .collect();
        for (port, reported) in (0u8..).zip(ports) {
            let Some(detector) = own.rules(port.into()).detector else { continue };
            let told = writes.part.contains(&(device, port)) || reported.voq.part;
            if !told || wires[device as usize][usize::from(port)].is_none() {
                continue;
            }
            // What turns back does not count: no route leads there.
            let others = arriving.iter().enumerate().filter(|&(u, _)| u != usize::from(port));
            let heard: Vec<(usize, u64)> = others.filter_map(|(u, n)| Some((u, (*n)?))).collect();
            let Some(each) = heard.iter().map(|(_, n)| *n).max() else { continue };
            let neighbours = heard.len();
            let wired = |&(u, _): &(usize, u64)| wires[device as usize][u];
            let model = &config.devices[device as usize].model;
            let loops = heard.iter().filter_map(wired).map(|(link, ..)| {
                // One of them has a place already.
                round_trip_packets(&config.links[link as usize], model, lengths) - 1
            });
            let beyond = loops.max().filter(|_| own.buffering == Buffering::Direct);
            for (since, detector) in values(config, (device, port), detector) {
                if u64::from(detector.x_on) <= most_for_one_port(own, ports, detector.verdict) {
                    let (needed, there) = places(own, ports, detector, &heard);
                    let it =
                        Headroom { device, port, since, detector, neighbours, each, needed, there, beyond };
                    all.push(it);
                }
            }
        }
    }
    all
}

/// ceil(D / T) + 1 packets that one neighbour may still send, D = wait for a delimiter + symbol + twice the
/// one-way delay + what does not go with the link: generation delay, obey latency, pipeline
/// (docs/scenarios.md, "What to expect"). The message waits behind the longest packet, the shortest come.
fn arriving(link: &LinkConfig, lengths: Lengths, fixed: u64) -> u64 {
    let symbol = u128::from(link.symbol_chars) * u128::from(link.char_ps.0);
    let [shortest, longest] = lengths.with(link);
    let delay = longest + symbol + u128::from(fixed + 2 * link.propagation.0) * u128::from(link.char_ps.1);
    delay.div_ceil(shortest) as u64 + 1
}

/// Places needed above `on` by the packets of these neighbours, by port and number, and places there: of the
/// buffer in which a packet that comes too late would stand in others' way.
fn places(
    own: &SwitchConfig,
    ports: &[PortConfig],
    detector: Detector,
    heard: &[(usize, u64)],
) -> (u64, u64) {
    let on = u64::from(detector.x_on);
    let above = |places: u64| places.saturating_sub(on);
    let worst = |places: &dyn Fn(usize) -> u64| {
        // The neighbour that is short of most places, or has fewest to spare.
        let of = |&(u, n): &(usize, u64)| (n, above(places(u)));
        let pairs = heard.iter().map(of);
        pairs.min_by_key(|&(needed, there)| i128::from(there) - i128::from(needed)).unwrap_or_default()
    };
    let quota = own.queue_quota.map_or(u64::MAX, u64::from);
    match own.buffering {
        // A receive buffer less than WM0 keeps packets of priority 0 for other outputs outside.
        Buffering::Direct => {
            worst(&|u| u64::from(ports[u].buffers).saturating_sub(u64::from(ports[u].watermarks[0])))
        }
        Buffering::Crosspoint { depth } => worst(&|_| u64::from(depth).min(quota)),
        Buffering::Output { packets } | Buffering::Shared { packets } => {
            let arriving: u64 = heard.iter().map(|(_, n)| n).sum();
            let more = match detector.verdict {
                Verdict::Shared => 0,
                // Each of them may have as many there before it is stopped.
                Verdict::PerIngress => on * (heard.len() as u64 - 1),
            };
            (arriving + more, above(u64::from(packets).min(quota)))
        }
    }
}
