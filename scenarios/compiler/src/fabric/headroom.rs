//! Places that the detectors of congestion need above their threshold, and those that there are (Part 12
//! §2.5).

use super::{Lengths, Loops, switch, wires};
use models::config::*;
use models::sim_core::Time;
use models::voq_backpressure::{codec::PORTS_PER_GROUP, csr};
use std::collections::{BTreeMap, BTreeSet};

/// A detector of a switch with the thresholds that it has at some time, and whether it speaks up early
/// enough.
#[derive(Clone, Debug)]
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
    /// Likewise, if messages about all groups of ports, and about all channels, are asked for at once: it may
    /// be the last of them that is about this detector.
    pub crowded: u64,
    /// Most packets for this port that can count for its verdict at a time. A detector whose `on` is
    /// higher never goes on.
    pub most: u64,
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

impl Headroom {
    /// Whether the detector can go on at all.
    pub fn is_reachable(&self) -> bool {
        u64::from(self.detector.x_on) <= self.most
    }

    /// Whether packets that still come when it has gone on lack places.
    pub fn is_short(&self) -> bool {
        self.is_reachable() && self.there < self.needed
    }
}

/// The priorities of a source.
pub(crate) fn priorities(source: &SourceConfig) -> Vec<u8> {
    match &source.arrivals {
        Arrivals::Replay(packets) => packets.iter().map(|packet| packet.priority).collect(),
        _ => vec![source.priority],
    }
}

/// What there is to send, as far as it decides how many packets a switch holds.
struct Levels {
    /// Priorities of VC0 that occur, a bit for each.
    vc0: u8,
    /// Virtual channels of each link beside VC0.
    active: BTreeMap<u32, u64>,
    /// Receive buffers of the virtual channels of ports beside it, if something is sent in one.
    channels: BTreeMap<(u32, u8), Vec<u64>>,
}

impl Levels {
    fn of(config: &FabricConfig) -> Self {
        // Protocols answer at higher priorities than they ask at.
        let mut vc0 = if config.agents.is_empty() { 0 } else { 0b1111 };
        let mut in_channels = false;
        for priority in config.all_sources().flat_map(priorities) {
            match vc_of(priority) {
                0 => vc0 |= 1 << priority,
                _ => in_channels = true,
            }
        }
        let ends = config.symbolic.iter().filter(|_| in_channels).flat_map(|symbolic| {
            let link = &config.links[symbolic.link as usize];
            let channels = symbolic.channels.as_deref();
            let active = channels.map_or(&[][..], |own| &own.vcs[..usize::from(own.channels.count())]);
            [link.a, link.b].map(|end| (end, active.iter().map(|vc| vc.buffers.into()).collect()))
        });
        let numbers = config.symbolic.iter().filter_map(|symbolic| {
            let channels = symbolic.channels.as_deref()?;
            Some((symbolic.link, channels.channels.count().into()))
        });
        Levels { vc0, active: numbers.collect(), channels: ends.collect() }
    }

    /// Virtual channels of a link beside VC0.
    fn active(&self, link: u32) -> u64 {
        self.active.get(&link).copied().unwrap_or(0)
    }

    /// Receive buffers of the virtual channels of a port beside VC0, if something is sent in one.
    fn of_channels(&self, end: (u32, u8)) -> impl Iterator<Item = u64> + '_ {
        self.channels.get(&end).into_iter().flatten().copied()
    }

    /// Receive buffers of a port that packets of VC0 can take: those of the highest priority most of them.
    fn buffers(&self, port: &PortConfig) -> u64 {
        let Some(highest) = self.vc0.checked_ilog2() else { return 0 };
        // A packet is sent if as many are free, its own included.
        let kept = port.watermarks.get(highest as usize).map_or(1, |own| u64::from(*own));
        (u64::from(port.buffers) + 1).saturating_sub(kept)
    }
}

/// Packets for one egress port that a switch can hold, as far as they count for one verdict of its
/// detector. A shared verdict on what is behind buffers is on what is in them; a place there is one of
/// each priority.
fn most(config: &FabricConfig, at: (u32, u8), own: &SwitchConfig, verdict: Verdict, levels: &Levels) -> u64 {
    let (device, egress) = at;
    // What turns back does not count: no route leads there.
    let ports = || (0u8..).zip(&config.devices[device as usize].ports).filter(|(port, _)| *port != egress);
    let of_all = |places: &mut dyn Iterator<Item = u64>| match verdict {
        Verdict::Shared => places.sum::<u64>(),
        Verdict::PerIngress => places.max().unwrap_or(0),
    };
    let inputs = of_all(&mut ports().map(|(_, port)| levels.buffers(port)));
    let used = u64::from(levels.vc0.count_ones());
    let in_vc0 = match (own.buffering, verdict) {
        (Buffering::Direct, _) => inputs,
        (Buffering::Crosspoint { depth }, _) => {
            inputs + of_all(&mut ports().map(|_| used * u64::from(depth)))
        }
        (Buffering::Output { packets } | Buffering::Shared { packets }, Verdict::Shared) => {
            used * u64::from(packets)
        }
        (Buffering::Output { packets } | Buffering::Shared { packets }, Verdict::PerIngress) => {
            inputs + used * u64::from(packets)
        }
    };
    let linked = ports().any(|(_, port)| port.voq.link_en);
    let of_port = |(port, _)| {
        let buffers = levels.of_channels((device, port));
        if linked { buffers.max().unwrap_or(0) } else { buffers.sum() }
    };
    let in_channels = of_all(&mut ports().map(of_port));
    if linked { in_vc0.max(in_channels) } else { in_vc0 + in_channels }
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

/// All detectors of a fabric whose verdict somebody hears, with all thresholds that they
/// ever have: who writes lower ones may find more packets than the new `on`, but fewer than the old one,
/// whose places it then needs.
pub(crate) fn detectors(config: &FabricConfig) -> Vec<Headroom> {
    let wires = wires(config);
    let loops = Loops::of(config);
    let lengths = loops.lengths;
    let writes = Enabled::later(config);
    let levels = Levels::of(config);
    let mut all = Vec::new();
    for device in 0..config.devices.len() as u32 {
        let Some(own) = switch(config, device) else { continue };
        let ports = &config.devices[device as usize].ports;
        let groups: BTreeSet<usize> = (ports.iter().enumerate())
            .filter(|(q, port)| port.voq.part || writes.part.contains(&(device, *q as u8)))
            .filter(|(q, _)| wires[device as usize][*q].is_some())
            .map(|(q, _)| q / usize::from(PORTS_PER_GROUP))
            .collect();
        let arriving: Vec<Option<[u64; 2]>> = ports
            .iter()
            .zip(&wires[device as usize])
            .enumerate()
            .map(|(u, (port, wire))| {
                let enabled = port.voq.gen_en || writes.gen_en.contains(&(device, u as u8));
                let (link, other, back) = wire.filter(|_| enabled)?;
                let obeyed = config.devices[other as usize].ports[usize::from(back)].voq.obey;
                let generation = own.rules(u).generation_delay.0;
                let fixed = generation + own.pipeline.0 + obeyed.0;
                let channels = if port.voq.link_en { 1 + levels.active(link) } else { 1 };
                let further = ((groups.len() as u64 * channels).saturating_sub(1), generation);
                let link = &config.links[link as usize];
                Some([(0, 0), further].map(|further| arriving(link, lengths, fixed, further)))
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
            let heard: Vec<(usize, [u64; 2])> = others.filter_map(|(u, n)| Some((u, (*n)?))).collect();
            let most_of = |which: usize| heard.iter().map(|(_, n)| n[which]).max();
            let (Some(each), Some(crowded)) = (most_of(0), most_of(1)) else { continue };
            let heard: Vec<(usize, u64)> = heard.into_iter().map(|(u, n)| (u, n[0])).collect();
            let neighbours = heard.len();
            let wired = |&(u, _): &(usize, u64)| wires[device as usize][u];
            let needed = heard.iter().filter_map(wired).map(|(link, ..)| {
                // One of them has a place already.
                loops.packets(&config.links[link as usize], device) - 1
            });
            let beyond = needed.max().filter(|_| own.buffering == Buffering::Direct);
            // A receive buffer less than WM0 keeps packets of priority 0 for other outputs outside; those
            // of a channel wait when its last one is taken.
            let room = |u: usize| {
                let in_vc0 = u64::from(ports[u].buffers).saturating_sub(u64::from(ports[u].watermarks[0]));
                let in_channels = levels.of_channels((device, u as u8)).min().map(|own| own - 1);
                let in_vc0 = (levels.vc0 != 0 || in_channels.is_none()).then_some(in_vc0);
                in_vc0.into_iter().chain(in_channels).min().unwrap_or(0)
            };
            let most = most(config, (device, port), own, detector.verdict, &levels);
            for (since, detector) in values(config, (device, port), detector) {
                let (needed, there) = places(own, &room, detector, &heard);
                all.push(Headroom {
                    device,
                    port,
                    since,
                    detector,
                    neighbours,
                    each,
                    crowded,
                    most,
                    needed,
                    there,
                    beyond,
                });
            }
        }
    }
    all
}

/// ceil(D / T) + 1 packets that one neighbour may still send, D = wait for a delimiter + symbol + twice the
/// one-way delay + what does not go with the link: generation delay, obey latency, pipeline
/// (docs/scenarios.md, "What to expect"). The message waits behind the longest packet, the shortest come.
/// `further` messages leave before, each of them asked for when the one before has left: number, and
/// generation delay.
fn arriving(link: &LinkConfig, lengths: Lengths, fixed: u64, further: (u64, u64)) -> u64 {
    let symbol = u128::from(link.symbol_chars) * u128::from(link.char_ps.0);
    let [shortest, longest] = lengths.with(link);
    let scale = u128::from(link.char_ps.1);
    let delay = longest + symbol + u128::from(fixed + 2 * link.propagation.0) * scale;
    let delay = delay + u128::from(further.0) * (longest + u128::from(further.1) * scale);
    delay.div_ceil(shortest) as u64 + 1
}

/// Places needed above `on` by the packets of these neighbours, by port and number, and places there: of the
/// buffer in which a packet that comes too late would stand in others' way. `room`: the receive buffers of
/// a port that may be full before it does.
fn places(
    own: &SwitchConfig,
    room: &dyn Fn(usize) -> u64,
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
        Buffering::Direct => worst(room),
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
