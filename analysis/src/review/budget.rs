//! Link budget: what each direction of each link has to carry, by routes and offered loads alone.

use crate::num::count_text;
use models::config::{
    Arrivals, Carrier, Destinations, DeviceModel, Egress, FabricConfig, FaultAction, LinkConfig, NO_OWNER,
    PartConfig, ProtocolConfig, Sizes, SourceConfig,
};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A port: device and number. It stands for the direction of its link that it transmits.
pub(crate) type Port = (u32, u8);

/// Pairs of a source and a destination beyond which nothing is reckoned.
const PAIRS_MAX: usize = 40_000_000;

/// What links have to carry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Budget {
    /// Of each flow, the ports that its packets pass: share of time that the transmitter is expected to be
    /// busy with them. Not a number where the flow has no load of its own.
    pub flows: Vec<BTreeMap<Port, f64>>,
    /// There are too many pairs to follow.
    pub too_large: bool,
    /// Protocols run on endpoints: what they send by themselves, answer and repeat may pass anywhere.
    pub protocols: bool,
    /// Routes are those of a plan: a host sets them up, and something fails that it may lead packets around.
    pub planned: bool,
}

impl Budget {
    /// What a port is expected to carry, share of time; and whether flows pass it of which that is not known.
    pub fn of(&self, port: Port) -> (f64, bool) {
        let parts = self.flows.iter().filter_map(|flow| flow.get(&port));
        parts.fold(
            (0.0, self.protocols),
            |(sum, open), part| {
                if part.is_nan() { (sum, true) } else { (sum + part, open) }
            },
        )
    }

    /// `loads`: of each flow of the file, share of the time that each source keeps its injection link busy.
    /// One with a constant interval says it itself: its share is another one on links of another speed.
    pub fn new(config: &FabricConfig, loads: &BTreeMap<u16, (u64, u64)>) -> Self {
        Self::within(config, loads, PAIRS_MAX)
    }

    /// Likewise, of no more than so many pairs.
    fn within(config: &FabricConfig, loads: &BTreeMap<u16, (u64, u64)>, most: usize) -> Self {
        let mut budget = Self {
            flows: vec![BTreeMap::new(); config.flows.len()],
            too_large: false,
            protocols: !config.agents.is_empty(),
            // Links that are down from start to end are none to the plan either.
            planned: config.enumeration.is_some()
                && config.faults.iter().any(|fault| fault.at.0 > 0 || fault.action != FaultAction::Down),
        };
        let pairs: usize = config.all_sources().map(reached).sum();
        if pairs > most {
            return Self { too_large: true, ..budget };
        }
        let ways = Ways::new(config);
        let mut sums: Vec<Option<Vec<f64>>> = vec![None; config.flows.len()];
        let run: BTreeSet<u16> =
            config.agents.iter().flat_map(|agent| agent.parts.iter().map(|part| part.flow)).collect();
        for source in config.all_sources().filter(|source| source.limit > 0) {
            // what protocols answer and repeat is not known before
            let load = loads.get(&source.flow).copied().filter(|_| !run.contains(&source.flow));
            let times: Vec<f64> = ways.kinds.iter().map(|link| packet_time(source, link)).collect();
            let Some((_, injection)) = ways.peers[ways.place((source.endpoint, 0))] else { continue };
            let share = |(num, den): (u64, u64)| num as f64 / den as f64;
            let load = load.map_or(f64::NAN, |load| match source.arrivals {
                Arrivals::Constant { interval, .. } => times[injection] / share(interval),
                _ => share(load),
            });
            for (flow, id, share) in destinations(source) {
                let sums = sums[usize::from(flow)].get_or_insert_with(|| vec![0.0; ways.peers.len()]);
                ways.follow(source.endpoint, id, &mut |place, kind| {
                    sums[place] += load * share * (times[kind] / times[injection]);
                });
            }
        }
        for (flow, sums) in budget.flows.iter_mut().zip(&sums) {
            let passed = ways.ports.iter().zip(sums.iter().flatten()).filter(|(_, sum)| **sum != 0.0);
            flow.extend(passed.map(|(port, sum)| (*port, *sum)));
        }
        let meetings = meetings(config);
        if pairs + 2 * meetings.len() <= most {
            for (flow, [from, to], ids) in meetings {
                let flow = &mut budget.flows[usize::from(flow)];
                let mut leg = |from, id| {
                    ways.follow(from, id, &mut |place, _| {
                        flow.entry(ways.ports[place]).or_insert(f64::NAN);
                    });
                };
                // By translators, if there are any: their ids are short.
                let mut meet = |from, id: u32| match u16::try_from(id) {
                    Ok(end) => {
                        let steps = config.translation.way(from, end, &config.owners);
                        steps.iter().for_each(|step| leg(step.from, step.to.into()));
                    }
                    Err(_) => leg(from, id),
                };
                meet(from, ids[1]);
                meet(to, ids[0]);
            }
        }
        budget
    }

    /// Flows on a direction of a link, by their expected share of its time.
    pub fn users(&self, config: &FabricConfig, port: Port) -> String {
        let flows = self.flows.iter().zip(&config.flows);
        let mut all: Vec<(f64, &str)> =
            flows.filter_map(|(parts, flow)| Some((*parts.get(&port)?, flow.name.as_str()))).collect();
        // those of which nothing is known come last
        let known = |load: f64| if load.is_nan() { -1.0 } else { load };
        all.sort_by(|a, b| known(b.0).total_cmp(&known(a.0)));
        let text = |(load, name): &(f64, &str)| match load.is_nan() {
            true => format!("{name} (load not known before the run)"),
            false => format!("{name} {:.1} %", 100.0 * load),
        };
        let mut shown: Vec<String> = all.iter().take(5).map(text).collect();
        if all.len() > 5 {
            shown.push(format!("{} more", count_text(all.len() as u64 - 5)));
        }
        match (shown.is_empty(), self.protocols) {
            (false, _) => shown.join(", "),
            (true, false) => "no flow has its way here".into(),
            (true, true) => "of no flow it is known before the run that it has its way here".into(),
        }
    }
}

/// Pairs of a source and a destination beyond which nothing is reckoned before a run.
const CHECKED_MAX: usize = 4_000_000;

/// Directions of links that are told before a run.
const TOLD_MAX: usize = 3;

/// What the fullest directions of links are offered by routes and loads while all flows send, for a reader:
/// the fullest, and those that are offered more than they carry. `loads`: of each flow of the file, share of
/// the time that each source keeps its injection link busy.
pub fn offered(config: &FabricConfig, loads: &BTreeMap<u16, (u64, u64)>) -> Vec<String> {
    let budget = Budget::within(config, loads, CHECKED_MAX);
    if budget.too_large {
        return vec!["not reckoned: there are too many pairs of sources and destinations".into()];
    }
    let ports: BTreeSet<Port> = budget.flows.iter().flat_map(|flow| flow.keys().copied()).collect();
    let mut all: Vec<(f64, Port)> = ports.into_iter().map(|port| (budget.of(port).0, port)).collect();
    all.retain(|(load, _)| *load > 0.0);
    // Of equal ones the first.
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    // Loads are fractions, and their sums are rounded.
    let over = all.iter().filter(|(load, _)| *load > 1.0 + 1e-9).count();
    let line = |(load, port): &(f64, Port)| {
        let name = &config.devices[port.0 as usize].path;
        format!(
            "{name}:{}: {:.1} % of what it carries ({})",
            port.1,
            100.0 * load,
            budget.users(config, *port)
        )
    };
    let told = over.clamp(1, TOLD_MAX);
    let mut lines: Vec<String> = all.iter().take(told).map(line).collect();
    match over.saturating_sub(told) {
        _ if lines.is_empty() => lines.push("not known before the run".into()),
        0 => {}
        more => lines.push(format!("and {} more of more than it carries", count_text(more as u64))),
    }
    lines
}

/// Ends of flows that protocols run and that talk to each other, in both directions: flow, devices, ids.
fn meetings(config: &FabricConfig) -> Vec<(u16, [u32; 2], [u32; 2])> {
    let mut all = Vec::new();
    for agent in &config.agents {
        for part in agent.parts.iter().filter(|part| is_answered(part)) {
            let of_sources = part.source.iter().flat_map(destinations).map(|to| to.1);
            let met: BTreeSet<u32> = of_sources.chain(peers(part)).collect();
            for id in met {
                let owner = config.owners.get(id as usize).copied().filter(|owner| *owner != NO_OWNER);
                let Some(owner) = owner.filter(|owner| *owner != agent.device) else { continue };
                all.push((part.flow, [agent.device, owner], [agent.id, id]));
            }
        }
    }
    all
}

/// Whether something comes back: answers, acknowledgements, what is read.
fn is_answered(part: &PartConfig) -> bool {
    !matches!(part.protocol, ProtocolConfig::Workload { carrier: Carrier::Stream { .. } })
}

/// Ids to which a protocol speaks by itself.
fn peers(part: &PartConfig) -> Vec<u32> {
    let wide = |ids: &[u16]| ids.iter().map(|id| u32::from(*id)).collect();
    match &part.protocol {
        ProtocolConfig::Linx(linx) => wide(&linx.peers),
        ProtocolConfig::Transfer(transfer) => wide(&transfer.peers),
        ProtocolConfig::Session(session) => {
            session.creates.iter().flat_map(|creates| creates.peers.iter().copied()).collect()
        }
        _ => Vec::new(),
    }
}

/// How many destinations a source has.
fn reached(source: &SourceConfig) -> usize {
    match &source.destinations {
        Destinations::Fixed(_) => 1,
        Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => ids.len(),
        Destinations::Hotspot { hot, cold, .. } => hot.len() + cold.len(),
        Destinations::Replay => replayed(source).len(),
    }
}

/// How many packets of a trace go to each destination.
fn replayed(source: &SourceConfig) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    if let Arrivals::Replay(packets) = &source.arrivals {
        packets.iter().for_each(|packet| *counts.entry(packet.destination).or_default() += 1);
    }
    counts
}

/// Where a source sends: flow, destination id, share of its packets.
fn destinations(source: &SourceConfig) -> Vec<(u16, u32, f64)> {
    let even = |flow: u16, ids: &[u32], except: Option<u32>, share: f64| -> Vec<(u16, u32, f64)> {
        let count = ids.len() - usize::from(except.is_some());
        let own =
            |(at, id): (usize, &u32)| (except != Some(at as u32)).then(|| (flow, *id, share / count as f64));
        ids.iter().enumerate().filter_map(own).collect()
    };
    match &source.destinations {
        Destinations::Fixed(id) => vec![(source.flow, *id, 1.0)],
        Destinations::Cycle(ids) => even(source.flow, ids, None, 1.0),
        Destinations::Uniform { ids, except } => even(source.flow, ids, *except, 1.0),
        Destinations::Hotspot { hot, hot_except, hot_flow, numerator, denominator, cold, cold_except } => {
            let share = *numerator as f64 / *denominator as f64;
            let mut all = even(*hot_flow, hot, *hot_except, share);
            all.extend(even(source.flow, cold, *cold_except, 1.0 - share));
            all
        }
        Destinations::Replay => {
            let counts = replayed(source);
            let all: usize = counts.values().sum();
            counts.into_iter().map(|(id, count)| (source.flow, id, count as f64 / all as f64)).collect()
        }
    }
}

/// How long the packets of a source keep a link busy on the mean, ps. What a packet takes there depends on
/// its length and on what the link adds.
fn packet_time(source: &SourceConfig, link: &LinkConfig) -> f64 {
    let chars = |wire: u16| f64::from(link.packet_octets(wire.into())) + f64::from(link.symbol_chars);
    let chars = match &source.sizes {
        Sizes::Fixed(size) => chars(size.wire),
        Sizes::Mix(sizes) => {
            let weights: f64 = sizes.iter().map(|(weight, _)| f64::from(*weight)).sum();
            sizes.iter().map(|(weight, size)| f64::from(*weight) * chars(size.wire)).sum::<f64>() / weights
        }
        // Whose load nobody knows before.
        Sizes::Replay => f64::NAN,
    };
    chars * link.char_ps.0 as f64 / link.char_ps.1 as f64
}

/// Who is at the other end of each port, and over what kind of link.
struct Ways<'a> {
    config: &'a FabricConfig,
    /// Every port, in the order of devices.
    ports: Vec<Port>,
    /// Where the ports of each device begin.
    starts: Vec<usize>,
    /// A link of each kind that differs in how long packets take.
    kinds: Vec<&'a LinkConfig>,
    /// The other end, and the kind of the link.
    peers: Vec<Option<(Port, usize)>>,
}

impl<'a> Ways<'a> {
    fn new(config: &'a FabricConfig) -> Self {
        let (mut ports, mut starts) = (Vec::new(), Vec::new());
        for (device, own) in config.devices.iter().enumerate() {
            starts.push(ports.len());
            ports.extend((0..own.ports.len()).map(|port| (device as u32, port as u8)));
        }
        let mut ways = Self { config, kinds: Vec::new(), peers: vec![None; ports.len()], ports, starts };
        let mut known = BTreeMap::new();
        for link in &config.links {
            let kind = match known.entry((link.char_ps, link.symbol_chars, link.link_crc)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    ways.kinds.push(link);
                    *new.insert(ways.kinds.len() - 1)
                }
            };
            for (own, other) in [(link.a, link.b), (link.b, link.a)] {
                let place = ways.place(own);
                ways.peers[place] = Some((other, kind));
            }
        }
        ways
    }

    fn place(&self, (device, port): Port) -> usize {
        self.starts[device as usize] + usize::from(port)
    }

    /// Tells the place of every port that a packet from `endpoint` to `id` leaves, with the kind of its link.
    fn follow(&self, endpoint: u32, id: u32, tell: &mut dyn FnMut(usize, usize)) {
        // a loop in the tables must not be one here
        let mut left = self.config.devices.len() * 2;
        let mut heads: Vec<Port> = vec![(endpoint, 0)];
        while let Some(port) = heads.pop() {
            let place = self.place(port);
            let Some((peer, kind)) = self.peers[place].filter(|_| left > 0) else { continue };
            left -= 1;
            tell(place, kind);
            let DeviceModel::Switch(switch) = &self.config.devices[peer.0 as usize].model else { continue };
            match switch.routes.entries.get(id as usize).map(|route| route.egress) {
                Some(Egress::Port(next)) => heads.push((peer.0, next)),
                Some(Egress::Multicast(mask)) => {
                    let ports = switch.routes.masks[usize::from(mask)].without(peer.1);
                    heads.extend(ports.iter().map(|port| (peer.0, port)));
                }
                Some(Egress::Drop) | None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 20 octets are 24 on a 64b/67b link and have a symbol of 8; on a 4x link of 6.25 Gbaud at
    /// half load, and then on one of 10.3125 Gbaud (6 700/33 ps a character), they take 28 x 400 and 32 x
    /// 203.03 ps; with a short symbol, on the same link at 5 Gbaud, 24 x 500 ps.
    #[test]
    fn a_load_is_another_one_on_each_kind_of_link() {
        let text = r#"{"name": "z", "run": {"until": "1 us"}, "topology": {"single_switch": {"ports": 3}},
            "overrides": [{"link": "ep/1", "links": {"rate": "10.3125 Gbaud"}},
                          {"link": "ep/2", "links": {"rate": "5 Gbaud", "symbol": "short"}}],
            "traffic": [
                {"name": "f", "from": "ep/0", "to": "ep/1", "size": 8,
                 "arrivals": {"poisson": {"load": 0.5}}},
                {"name": "g", "from": "ep/0", "to": "ep/2", "size": 8,
                 "arrivals": {"poisson": {"load": 0.5}}}
            ]}"#;
        let plan = scenarios::load(text, "z", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let loads = BTreeMap::from([(0, (1, 2)), (1, (1, 2))]);
        let budget = Budget::new(&plan.variants[0].config, &loads);
        let [first, last] = [(0, 0), (3, 1)].map(|port| budget.flows[0][&port]);
        assert!((first - 0.5).abs() < 1e-12 && (last - 0.5 * 32.0 * 6_700.0 / 33.0 / 11_200.0).abs() < 1e-12);
        assert!((budget.flows[1][&(3, 2)] - 0.5 * 12_000.0 / 11_200.0).abs() < 1e-12);
    }

    /// A packet of 280 characters every 500 ns takes 448 ns of a link of one lane, and 112 ns of four: 89.6
    /// and 22.4 %, and both together 44.8 % of the link that they share, whichever source comes last.
    #[test]
    fn an_interval_is_another_load_on_a_link_of_another_speed() {
        for slow in ["ep/0", "ep/1"] {
            let text = format!(
                r#"{{"name": "z", "run": {{"until": "1 us"}}, "topology": {{"single_switch": {{"ports": 3}}}},
                "overrides": [{{"link": "{slow}", "links": {{"width": "1x"}}}}],
                "traffic": [{{"name": "c", "from": ["ep/0", "ep/1"], "to": "ep/2", "size": 256,
                    "arrivals": {{"constant": {{"interval": "500 ns"}}}}}}]}}"#
            );
            let plan =
                scenarios::load(&text, "z", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
            let own = &plan.variants[0].offered[0];
            assert_eq!((own.load, own.load_most), (Some((28, 125)), Some((112, 125))));
            let config = &plan.variants[0].config;
            let budget = Budget::new(config, &BTreeMap::from([(0, own.load.unwrap())]));
            for (name, port, law) in [("ep/0", 0, 0.224), ("ep/1", 0, 0.224), ("sw", 2, 0.448)] {
                let law = if name == slow { 4.0 * law } else { law };
                let device = config.devices.iter().position(|device| device.path == name).unwrap();
                let found = budget.flows[0][&(device as u32, port)];
                assert!((found - law).abs() < 1e-12, "{slow} is slow, {name}: {found}");
            }
            assert!(
                scenarios::check_report(&plan)
                    .contains("2 sources, load 28/125 to 112/125 of the link of each")
            );
        }
    }

    /// A trace has its way too, though nobody knows its load before: whoever shares a direction with it
    /// is expected to fill at least its own part.
    #[test]
    fn a_trace_has_its_way() {
        let text = r#"{"name": "z", "run": {"until": "9 us"}, "topology": {"single_switch": {"ports": 4}},
            "traffic": [
                {"name": "p", "from": "ep/0", "to": "ep/1", "arrivals": {"constant": {"load": 0.2}}},
                {"name": "t", "arrivals": {"trace": {"rows": ["0,ep/2,ep/1,256,0,5", "9,ep/2,ep/3,256,0,5"]}}}
            ]}"#;
        let plan = scenarios::load(text, "z", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let config = &plan.variants[0].config;
        let budget = Budget::new(config, &BTreeMap::from([(0, (1, 5))]));
        let port = |name: &str, port| {
            let device = config.devices.iter().position(|device| device.path == name).unwrap();
            (device as u32, port)
        };
        let passed: BTreeSet<Port> = budget.flows[1].keys().copied().collect();
        assert_eq!(passed, BTreeSet::from([port("ep/2", 0), port("sw", 1), port("sw", 3)]));
        assert_eq!(budget.of(port("sw", 1)), (0.2, true), "at least a fifth");
        assert_eq!(budget.users(config, port("sw", 1)), "p 20.0 %, t (load not known before the run)");
        assert!(budget.of(port("ep/0", 0)) == (0.2, false));
    }

    /// What passes a translator is on all links of its way, both ways: what is asked for and what is
    /// answered.
    #[test]
    fn a_flow_passes_all_links_between_translators() {
        let text = r#"{"name": "z", "run": {"until": "1 us"}, "topology": {"explicit": {
                "devices": [{"name": "A"}, {"name": "R", "ports": 2}, {"name": "T/r"}, {"name": "T/e"},
                    {"name": "E", "ports": 2}, {"name": "B"}],
                "links": [{"a": "A", "b": "R:0"}, {"a": "R:1", "b": "T/r"}, {"a": "E:0", "b": "T/e"},
                    {"a": "E:1", "b": "B"}]}},
            "overrides": [{"link": "E", "links": {"medium": "ethernet", "rate": "1 Gb/s"}}],
            "translators": [{"name": "T", "interfaces": ["T/r", "T/e"]}],
            "traffic": [{"name": "w", "from": "A", "to": "B", "st": {"bytes": 65536}}]}"#;
        let plan = scenarios::load(text, "z", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let config = &plan.variants[0].config;
        let budget = Budget::new(config, &BTreeMap::new());
        let mut passed: Vec<String> = budget.flows[0]
            .keys()
            .map(|port| format!("{}:{}", config.devices[port.0 as usize].path, port.1))
            .collect();
        passed.sort();
        assert_eq!(passed, ["A:0", "B:0", "E:0", "E:1", "R:0", "R:1", "T/e:0", "T/r:0"]);
    }

    /// Two loads of 0.6 to one endpoint are 120 % of its link, and one of 0.3 to another one is less than
    /// that of its own: the fullest direction is told, and those that are offered more than they carry, but
    /// not all of many. What is saturated has no load, and where nothing has one nothing is told.
    #[test]
    fn the_fullest_links_are_told_before_a_run() {
        let told = |flows: &[(&str, &str, &str)]| {
            let flow = |(n, (from, to, arrivals)): (usize, &(&str, &str, &str))| {
                format!(
                    r#"{{"name": "f{n}", "from": "ep/{from}", "to": "ep/{to}", "arrivals": {{{arrivals}}}}}"#
                )
            };
            let flows: Vec<String> = flows.iter().enumerate().map(flow).collect();
            let text = format!(
                r#"{{"name": "z", "run": {{"until": "1 us"}}, "topology": {{"single_switch": {{"ports": 9}}}},
                "traffic": [{}]}}"#,
                flows.join(", ")
            );
            let plan =
                scenarios::load(&text, "z", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
            let loads = plan.variants[0].offered.iter().filter_map(|own| Some((own.flow, own.load?)));
            offered(&plan.variants[0].config, &loads.collect())
        };
        const LARGE: &str = r#""poisson": {"load": 0.6}"#;
        const SMALL: &str = r#""poisson": {"load": 0.3}"#;
        assert_eq!(
            told(&[("0", "2", LARGE), ("1", "2", LARGE), ("3", "4", SMALL)]),
            ["sw:2: 120.0 % of what it carries (f0 60.0 %, f1 60.0 %)"]
        );
        let saturated = ("1", "2", r#""saturated": {}"#);
        assert_eq!(told(&[("0", "2", SMALL), saturated]), ["ep/0:0: 30.0 % of what it carries (f0 30.0 %)"]);
        assert_eq!(told(&[saturated]), ["not known before the run"]);
        let crowd: Vec<_> =
            ["0", "1", "2", "3"].into_iter().flat_map(|to| [("5", to, LARGE), ("6", to, LARGE)]).collect();
        let lines = told(&crowd);
        assert_eq!((lines.len(), &lines[3][..]), (4, "and 3 more of more than it carries"));
    }

    /// Of a Get the octets come back, and of a connection of LINX heartbeats go both ways: both directions of
    /// both links are ways of the flow. Streams are not answered.
    #[test]
    fn what_is_answered_has_a_way_back() {
        let ways = |flow: &str| {
            let text = format!(
                r#"{{"name": "z", "run": {{"until": "1 us"}}, "topology": {{"single_switch": {{"ports": 3}}}},
                "traffic": [{{"name": "f", "from": "ep/0", "to": "ep/1", {flow}}}]}}"#
            );
            let plan =
                scenarios::load(&text, "z", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
            Budget::new(&plan.variants[0].config, &BTreeMap::new()).flows[0].len()
        };
        assert_eq!(ways(r#""st": {"operation": "get", "bytes": 1000, "count": 1}"#), 4);
        assert_eq!(ways(r#""arrivals": {"poisson": {"load": 0.1}}, "size": 100, "linx": {}"#), 4);
        assert_eq!(ways(r#""arrivals": {"poisson": {"load": 0.1}}, "size": 100, "streams": {}"#), 2);
        assert_eq!(ways(r#""arrivals": {"poisson": {"load": 0.1}}, "size": 96"#), 2);
    }
}
