//! Random whole systems, as texts of scenarios: small, and valid in most cases.

use crate::draw::Draw;
use crate::traffic;
use models::config::{DeviceModel, NO_OWNER};
use scenarios::presets::SWITCHES;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

pub type Fields = Map<String, Value>;

/// What the rest of a scenario has to know of the devices.
pub struct Shape {
    /// Names of endpoints.
    pub endpoints: Vec<String>,
    /// Names of switches, and how many ports they have.
    pub switches: Vec<(String, usize)>,
    /// "device:port" of both ends of each link.
    pub links: Vec<[(String, u8); 2]>,
    /// Destination ids of endpoints, if the builder gives them.
    pub ids: Vec<usize>,
}

/// What may be drawn.
pub struct World {
    pub shape: Shape,
    /// Links of another medium than RapidIO.
    pub medium: Option<&'static str>,
    /// Links with virtual channels.
    pub channels: bool,
    /// Links without faults and without VoQ messages: 64b/67b.
    pub idle3: bool,
    pub voq: bool,
    /// A host sets the fabric up.
    pub configured: bool,
    /// Links of 3.125 Gbaud or less, as every device has them.
    pub slow: bool,
    /// Receivers look after their buffers.
    pub receiver: bool,
    /// Lanes of links, unless they are different.
    pub lanes: u64,
    /// Some link may run in symbol granularity.
    pub symbolic: bool,
    /// Nodes read the registers of others.
    pub scans: bool,
    /// What nodes write into their registers themselves, if that is said.
    pub writes: Option<Vec<String>>,
    /// All nodes are in the group to which broadcasts of Ethernet go.
    pub broadcast: bool,
    /// Groups of multicast.
    pub groups: Vec<String>,
    /// The end of the run, microseconds.
    pub until: usize,
    /// MTU of type 9 in all flows that name it.
    pub mtu: u64,
    /// How much faster protocols see time.
    pub clock: u64,
    /// No host does anything, and no link is damaged: what can run on several threads.
    pub bare: bool,
}

/// Times in microseconds.
pub fn us(time: usize) -> Value {
    format!("{time} us").into()
}

/// The text of system `index` of a series.
pub fn system(seed: u64, index: u64) -> (Value, Draw) {
    let mut d = Draw::new(seed, index);
    let value = without_vain(draw(&mut d, index));
    (value, d)
}

/// Takes out what has no effect beside what else was drawn (SC051), and what the run does not reach (SC120):
/// who draws a setting does not know all others.
fn without_vain(mut system: Value) -> Value {
    loop {
        let Err(errors) = scenarios::load(&system.to_string(), "system.json", &[]) else { return system };
        let vain = errors.items.iter().filter(|item| ["SC051", "SC120"].contains(&item.code));
        // The last of a list first: so the places of the others stay what they are.
        let pointers: BTreeSet<String> = vain.map(|item| item.pointer.clone()).collect();
        let taken = pointers.iter().rev().filter(|pointer| take(&mut system, pointer)).count();
        if taken == 0 {
            return system;
        }
    }
}

/// Takes out what a pointer leads to; whether there was something.
fn take(system: &mut Value, pointer: &str) -> bool {
    let Some((parent, key)) = pointer.rsplit_once('/') else { return false };
    match system.pointer_mut(parent) {
        Some(Value::Object(fields)) => fields.remove(key).is_some(),
        Some(Value::Array(items)) => key.parse().is_ok_and(|at: usize| {
            let there = at < items.len();
            if there {
                items.remove(at);
            }
            there
        }),
        _ => false,
    }
}

/// Of so many systems one has translators: all others stay what they are.
const TRANSLATED: u64 = 20;
/// ... and one has nothing that keeps a run to one thread.
const BARE: u64 = 10;

fn draw(d: &mut Draw, index: u64) -> Value {
    let mut spec = Fields::new();
    if index % TRANSLATED == TRANSLATED - 1 {
        return translated(d, index);
    }
    spec.insert("name".into(), format!("system-{index}").into());
    d.set(&mut spec, 10, "Spec/title", &["A system"]);
    if d.chance(10) {
        let words = d.of("Words", &[json!("one, two"), json!(["one", "two"])]);
        spec.insert("description".into(), words);
    }
    d.set(&mut spec, 80, "Spec/seed", &[1, 2, 3, 4, 5, 6, 7]);
    d.set(&mut spec, 10, "Spec/shake", &[0, 1, 17]);

    let bare = index % BARE == BARE / 2;
    let medium = (!bare && d.chance(14)).then(|| {
        let atm = ["atm-lane", "atm-dix", "atm-token-ring-4", "atm-token-ring-16"];
        match d.of("medium", &["hippi-6400", "hippi-fp", "ethernet", "atm", "fibre-channel", "rapidio"]) {
            "atm" => d.of("medium/atm", &atm),
            medium => medium,
        }
    });
    let medium = medium.filter(|medium| *medium != "rapidio" || d.chance(50));
    let foreign = medium.is_some_and(|medium| medium != "rapidio");
    let configured = !foreign && !bare && d.chance(14);
    let mut topology = topology(d, configured);
    let shape = shape(&topology);
    let channels = !foreign && !configured && !bare && d.chance(12);
    let idle3 = !foreign && !channels && d.chance(8);
    let until = match configured {
        true => d.of("until.configured", &[600, 1_000]),
        false if idle3 => 20,
        false => d.of("until", &[20, 40, 60, 60, 100, 100, 200]),
    };
    let mut world = World {
        shape,
        medium: medium.filter(|_| foreign),
        channels,
        idle3,
        voq: !foreign && !idle3 && d.chance(45),
        configured,
        slow: false,
        receiver: false,
        lanes: 4,
        symbolic: channels,
        scans: false,
        writes: None,
        broadcast: false,
        groups: Vec::new(),
        until,
        mtu: d.of("mtu", &[32, 64, 100, 256]),
        clock: d.of("clock", &[1, 1, 10, 1_000, 10_000, 50_000]),
        bare,
    };

    let mut links = links(d, &mut world);
    if let Some(medium) = medium {
        links.insert("medium".into(), medium.into());
    }
    let faults = if d.chance(45) { faults(d, &mut world) } else { Fields::new() };
    let switch = switch(d, &world);
    let endpoint = endpoint(d, &world);
    let overrides = if d.chance(25) { overrides(d, &world) } else { Vec::new() };
    if let Some(list) = topology.pointer_mut("/explicit/links").and_then(Value::as_array_mut)
        && d.chance(30)
    {
        let chosen = d.below(list.len());
        list[chosen]["set"] = json!({"length": d.of("ExplicitLink/set", &["1 m", "30 m"])});
    }
    world.scans = endpoint["session"]["contact"] == "registers";
    let part = |part: &Value| part.as_str().map(str::to_owned);
    let writes = endpoint["session"]["writes"].as_array();
    world.writes = writes.map(|writes| writes.iter().filter_map(part).collect());
    spec.insert("run".into(), run(d, &world));
    spec.insert("topology".into(), topology.clone());
    for (key, fields) in [("links", links), ("switch", switch), ("endpoint", endpoint), ("faults", faults)] {
        if !fields.is_empty() {
            spec.insert(key.into(), fields.into());
        }
    }
    if !overrides.is_empty() {
        spec.insert("overrides".into(), overrides.into());
    }
    if world.voq || d.chance(5) {
        spec.insert("voq".into(), voq(d, &world));
    }
    d.set(&mut spec, 15, "Spec/id_bits", &[8, 16]);
    routing(d, &world, &topology, &mut spec);
    multicast(d, &mut world, &mut spec);
    if world.configured {
        let mut fabric = Fields::new();
        fabric.insert("host".into(), d.any(&world.shape.endpoints).into());
        d.set(&mut fabric, 40, "FabricSetup/priority", &[0, 1, 2]);
        spec.insert("configure".into(), json!({"fabric": fabric}));
    } else {
        d.set(&mut spec, 5, "Spec/configure", &["builder"]);
    }
    let flows = traffic::flows(d, &world);
    declare(d, &flows, &mut spec);
    require(d, &flows, &mut spec);
    spec.insert("traffic".into(), flows.into());
    if d.chance(5) {
        spec.insert("parameters".into(), json!({"seed": "/seed", "both": ["/seed", "/run/until"]}));
        spec.entry("seed").or_insert(1.into());
    }
    spec.into()
}

/// Two or three parts of a fabric, of different media, and translators between them.
fn translated(d: &mut Draw, index: u64) -> Value {
    let media = ["rapidio", "hippi-6400", "hippi-fp", "ethernet", "atm-lane", "fibre-channel"];
    let parts: Vec<&str> = (0..d.of("translated/parts", &[2, 3, 3])).map(|_| d.of("part", &media)).collect();
    let (mut devices, mut links, mut translators, mut ends) = (vec![], vec![], vec![], vec![]);
    for (n, medium) in parts.iter().enumerate() {
        devices.push(json!({"name": format!("s{n}"), "ports": 5}));
        let mut names: Vec<String> = (0..2).map(|end| format!("e{n}/{end}")).collect();
        ends.extend(names.clone());
        // Each translator joins two parts, in a row.
        names.extend((n > 0).then(|| format!("t{}/in", n - 1)));
        names.extend((n + 1 < parts.len()).then(|| format!("t{n}/out")));
        for (port, name) in names.iter().enumerate() {
            devices.push(json!({"name": name}));
            links.push(json!({"a": format!("s{n}:{port}"), "b": name, "set": {"medium": medium}}));
        }
    }
    for n in 1..parts.len() {
        let mut fields = Fields::new();
        fields.insert("name".into(), format!("t{n}").into());
        fields.insert("interfaces".into(), json!([format!("t{}/out", n - 1), format!("t{}/in", n - 1)]));
        d.set(&mut fields, 25, "TranslatorSpec/stu", &[256, 1_024]);
        d.set(&mut fields, 25, "TranslatorSpec/lowers", &[true, false]);
        d.set(&mut fields, 25, "TranslatorSpec/block", &[256, 1_024]);
        d.set(&mut fields, 25, "TranslatorSpec/buffer", &[40_000, 1_000_000]);
        translators.push(Value::from(fields));
    }
    let until = d.of("translated/until", &[100, 1_000]);
    let world = World {
        shape: Shape { endpoints: ends, switches: Vec::new(), links: Vec::new(), ids: Vec::new() },
        // The smallest STUs.
        medium: Some("ethernet"),
        channels: false,
        idle3: false,
        voq: false,
        configured: false,
        slow: false,
        receiver: false,
        lanes: 4,
        symbolic: false,
        scans: false,
        writes: None,
        broadcast: false,
        groups: Vec::new(),
        until,
        mtu: 256,
        clock: d.of("translated/clock", &[1, 1, 10]),
        bare: false,
    };
    let mut spec = Fields::new();
    spec.insert("name".into(), format!("system-{index}").into());
    spec.insert("run".into(), run(d, &world));
    spec.insert("topology".into(), json!({"explicit": {"devices": devices, "links": links}}));
    spec.insert("translators".into(), translators.into());
    for (key, fields) in [("switch", switch(d, &world)), ("endpoint", endpoint(d, &world))] {
        if !fields.is_empty() {
            spec.insert(key.into(), fields.into());
        }
    }
    let flows = traffic::flows(d, &world);
    declare(d, &flows, &mut spec);
    spec.insert("traffic".into(), flows.into());
    spec.into()
}

/// Which flows reports compare.
fn declare(d: &mut Draw, flows: &[Value], spec: &mut Fields) {
    if !d.chance(15) {
        return;
    }
    let names: Vec<Value> = flows.iter().map(|flow| flow["name"].clone()).collect();
    let mut declare = Fields::new();
    declare.insert("victims".into(), json!([names[0]]));
    if names.len() > 1 {
        declare.insert("hot".into(), json!([names[1]]));
    }
    spec.insert("declare".into(), declare.into());
}

/// What results must show: whether they do decides nothing.
fn require(d: &mut Draw, flows: &[Value], spec: &mut Fields) {
    if !d.chance(10) {
        return;
    }
    let mut flow = Fields::new();
    flow.insert("flow".into(), json!([flows[0]["name"], "*"]));
    let metrics = [("p99.9", "< 2 us"), ("mean", "> 1 ns"), ("delivered", "100 %"), ("goodput", ">= 1 Gb/s")];
    let (metric, limit) = metrics[d.below(metrics.len())];
    flow.insert(metric.into(), limit.into());
    spec.insert("require".into(), json!([flow, {"link": "all", "use": "<= 100 %"}]));
}

fn run(d: &mut Draw, world: &World) -> Value {
    let mut run = Fields::new();
    run.insert("until".into(), us(world.until));
    d.set(&mut run, 50, "RunSpec/warmup", &["auto", "0 ps", "10 us", "13333 ns"]);
    d.set(&mut run, 60, "RunSpec/sample_every", &["auto", "off", "1 us", "7777 ns"]);
    d.set(&mut run, 60, "RunSpec/stall_after", &["auto", "off", "15 us", "30 us"]);
    if run.get("stall_after").is_some_and(|after| after == "30 us") && world.until < 30 {
        run.remove("stall_after");
    }
    if run.get("stall_after").is_none_or(|after| after != "off") {
        d.set(&mut run, 20, "RunSpec/on_stall", &["report", "stop"]);
    }
    run.into()
}

/// Two to nine endpoints.
fn topology(d: &mut Draw, configured: bool) -> Value {
    let kinds =
        ["single_switch", "chain", "star", "mesh", "torus", "fat_tree", "xgft", "dragonfly", "explicit"];
    match d.of("topology", &kinds) {
        "single_switch" => json!({"single_switch": {"ports": d.of("ports", &[2, 3, 4, 5, 8])}}),
        "chain" => json!({"chain": {
            "switches": d.of("chain", &[2, 3]), "endpoints_per_switch": d.of("chain.endpoints", &[1, 2])
        }}),
        "star" => json!({"star": {
            "arms": d.of("star", &[2, 3]), "endpoints_per_arm": d.of("star.endpoints", &[1, 2])
        }}),
        "mesh" => match d.of("mesh", &[0, 1, 2]) {
            0 => json!({"mesh": {"size": [2, 2]}}),
            1 => json!({"mesh": {"size": [2, 2, 2]}}),
            _ => json!({"mesh": {"size": [2, 2], "endpoints_per_switch": 2}}),
        },
        "torus" => json!({"torus": {"size": d.of("torus", &[[3, 2], [3, 3]])}}),
        "fat_tree" => match d.of("fat_tree", &[0, 1, 2]) {
            0 => json!({"fat_tree": {"ports": 4, "endpoints": d.of("fat_tree.endpoints", &[4, 6])}}),
            1 => json!({"fat_tree": {"levels": 2, "ports": 6, "endpoints": 4, "endpoints_per_leaf": 2,
                                     "spines": 1, "parallel": d.of("parallel", &[1, 2])}}),
            _ => json!({"fat_tree": {"levels": 3, "ports": 4, "endpoints": 8}}),
        },
        "xgft" => match d.of("xgft", &[0, 1, 2]) {
            0 => json!({"xgft": {"down": [3, 2], "up": [1]}}),
            1 => json!({"xgft": {"down": [2, 2], "up": [3]}}),
            _ => json!({"xgft": {"down": [2, 2, 2], "up": [2, 1]}}),
        },
        "dragonfly" => {
            let mut fields = Fields::new();
            fields.insert("groups".into(), d.of("groups", &[2, 3]).into());
            fields.insert("switches_per_group".into(), d.of("switches_per_group", &[1, 2]).into());
            fields.insert("endpoints_per_switch".into(), 1.into());
            d.set(&mut fields, 40, "DragonflySpec/global_per_switch", &[2]);
            json!({"dragonfly": fields})
        }
        _ => explicit(d, configured),
    }
}

/// Switches in a random tree, with endpoints in random places; some ports lead nowhere.
fn explicit(d: &mut Draw, configured: bool) -> Value {
    let switches = d.between(1, 3);
    let endpoints = d.between(2, 6).max(switches);
    let mut next = vec![0; switches];
    let end = |switch: usize, next: &mut Vec<usize>| {
        next[switch] += 1;
        format!("s{switch}:{}", next[switch] - 1)
    };
    let mut links = Vec::new();
    for switch in 1..switches {
        let to = d.below(switch);
        links.push(json!({"a": end(to, &mut next), "b": end(switch, &mut next)}));
    }
    let ids = !configured && d.chance(40);
    let mut devices = Vec::new();
    for n in 0..endpoints {
        let at = if n < switches { n } else { d.below(switches) };
        let mut device = json!({"name": format!("e{n}")});
        if ids {
            device["id"] = (10 + 7 * n).into();
        }
        devices.push(device);
        links.push(json!({"a": end(at, &mut next), "b": format!("e{n}")}));
    }
    for (switch, used) in next.iter().enumerate() {
        let ports = (used + d.below(2)).max(2);
        devices.push(json!({"name": format!("s{switch}"), "ports": ports}));
    }
    json!({"explicit": {"devices": devices, "links": links}})
}

/// The devices and links of a topology, as the compiler names them.
fn shape(topology: &Value) -> Shape {
    let bare = json!({
        "name": "shape", "topology": topology, "routing": {"allow_deadlock": true},
        "traffic": [{"name": "x", "from": "all", "to": {"uniform": {}}, "arrivals": {"saturated": {}}}]
    });
    let plan = scenarios::load(&bare.to_string(), "shape.json", &[])
        .unwrap_or_else(|errors| panic!("the topology is refused:\n{}\n{topology}", errors.render()));
    let config = &plan.variants[0].config;
    let name = |device: u32| config.devices[device as usize].path.clone();
    let (mut endpoints, mut switches) = (Vec::new(), Vec::new());
    for device in &config.devices {
        match device.model {
            DeviceModel::Endpoint(_) => endpoints.push(device.path.clone()),
            DeviceModel::Switch(_) => switches.push((device.path.clone(), device.ports.len())),
        }
    }
    let links = config.links.iter().map(|link| [link.a, link.b].map(|(device, port)| (name(device), port)));
    let id =
        |path: &String| config.owners.iter().position(|owner| *owner != NO_OWNER && name(*owner) == *path);
    let ids = endpoints.iter().map(|path| id(path).expect("every endpoint has an id")).collect();
    Shape { links: links.collect(), ids, endpoints, switches }
}

fn links(d: &mut Draw, world: &mut World) -> Fields {
    let mut links = Fields::new();
    d.set(&mut links, 40, "LinkSpec/length", &["0 m", "1 m", "20 m", "100 m"]);
    d.set(&mut links, 30, "LinkSpec/phy_latency", &["1 ns", "17 ns", "200 ns"]);
    if let Some(medium) = world.medium {
        let rates: &[&str] = match medium {
            "hippi-6400" => &["6.4 Gb/s"],
            "hippi-fp" => &["800 Mb/s"],
            "ethernet" => &["100 Mb/s", "1 Gb/s", "2.5 Gb/s", "10 Gb/s", "25 Gb/s", "40 Gb/s", "100 Gb/s"],
            "atm-lane" | "atm-dix" | "atm-token-ring-4" | "atm-token-ring-16" => {
                &["155.52 Mb/s", "622.08 Mb/s", "2.48832 Gb/s"]
            }
            _ => &["1.0625 Gbaud", "2.125 Gbaud", "4.25 Gbaud", "8.5 Gbaud"],
        };
        let kind = if medium.starts_with("atm") { "atm" } else { medium };
        d.set(&mut links, 85, &format!("{kind}/rate"), rates);
        return links;
    }
    d.set(&mut links, 30, "LinkSpec/width", &["1x", "2x", "4x", "8x", "16x"]);
    let width = links.get("width").and_then(Value::as_str).unwrap_or("4x").to_owned();
    world.lanes = width.trim_end_matches('x').parse().expect("a number");
    if world.idle3 {
        links.insert(
            "rate".into(),
            d.of("rate.64b67b", &["10.3125 Gbaud", "12.5 Gbaud", "25.78125 Gbaud"]).into(),
        );
        return links;
    }
    if world.voq {
        d.set(&mut links, 40, "voq/rate", &["2.5 Gbaud", "5 Gbaud", "6.25 Gbaud"]);
        d.set(&mut links, 15, "voq/symbol", &["auto", "long"]);
    } else if d.chance(15) {
        links.insert("rate".into(), d.of("short/rate", &["1.25 Gbaud", "3.125 Gbaud", "5 Gbaud"]).into());
        links.insert("symbol".into(), "short".into());
    } else {
        d.set(&mut links, 30, "LinkSpec/rate", &["1.25 Gbaud", "3.125 Gbaud", "6.25 Gbaud"]);
        world.slow = links.get("rate").is_some_and(|rate| rate != "6.25 Gbaud");
        d.set(&mut links, 15, "LinkSpec/symbol", &["auto", "long"]);
    }
    let receiver = d.chance(15);
    if receiver {
        links.insert("flow_control".into(), "receiver".into());
        (world.symbolic, world.receiver) = (true, true);
    } else {
        d.set(&mut links, 5, "LinkSpec/flow_control", &["transmitter"]);
    }
    if d.chance(20) {
        let granularity = d.of("LinkSpec/granularity", &["packet", "symbol"]);
        if granularity == "symbol" || !(receiver || world.channels) {
            links.insert("granularity".into(), granularity.into());
            world.symbolic |= granularity == "symbol";
        }
    }
    if world.symbolic {
        d.set(&mut links, 20, "LinkSpec/timeout", &["5 us", "40 us"]);
    }
    if world.channels {
        let count = d.of("VcsSpec/count", &[1, 2, 4, 8, 0]);
        let mut vcs = Fields::new();
        vcs.insert("count".into(), count.into());
        d.set(&mut vcs, 50, "VcsSpec/buffers", &[2, 4, 9]);
        if count > 0 {
            if d.chance(40) {
                let shares: Vec<Value> = (0..count).map(|_| d.of("shares", &[1, 2, 5]).into()).collect();
                vcs.insert("shares".into(), shares.into());
            }
            d.set(&mut vcs, 30, "VcsSpec/vc0_share", &[1, 3]);
            if d.chance(40) {
                vcs.insert("continuous".into(), d.between(0, count).into());
            }
        }
        d.set(&mut vcs, 50, "VcsSpec/refresh", &["default", "off", "5 us"]);
        links.insert("vcs".into(), vcs.into());
        world.channels = count > 0;
    }
    links
}

/// Where a fault is: a link by one of its ends, or a device for all of its links.
fn place(d: &mut Draw, world: &World) -> String {
    let link = d.any(&world.shape.links);
    let (device, port) = &link[d.below(2)];
    match d.of("link.of", &["port", "device"]) {
        "port" => format!("{device}:{port}"),
        _ => device.clone(),
    }
}

fn end(d: &mut Draw, world: &World) -> (String, u8) {
    let link = d.any(&world.shape.links);
    link[d.below(2)].clone()
}

fn faults(d: &mut Draw, world: &mut World) -> Fields {
    let mut faults = Fields::new();
    let late = |d: &mut Draw, world: &World| us(d.between(1, world.until * 3 / 4));
    if world.voq && d.chance(50) {
        // A port that leads to another switch sends messages in most cases.
        let (switch, ports) = d.any(&world.shape.switches);
        let between = |end: &(String, u8)| world.shape.switches.iter().any(|(name, _)| *name == end.0);
        let trunk = world.shape.links.iter().find(|link| link.iter().all(between));
        let (switch, port) = trunk.map_or((switch, d.below(ports) as u8), |link| link[0].clone());
        let loss = json!({
            "device": switch, "port": port,
            "kind": d.of("LossSpec/kind", &["xon", "xoff", "any"]), "nth": d.of("LossSpec/nth", &[1, 2])
        });
        faults.insert("lose_voq_symbols".into(), json!([loss]));
    }
    if world.idle3 || world.medium.is_some() || world.bare {
        return faults;
    }
    if d.chance(35) {
        let rate = match if world.lanes == 4 { d.of("BitErrorRate", &["all", "lanes"]) } else { "all" } {
            "all" => json!(d.of("BitErrorSpec/rate", &[0.0, 1e-7, 1e-6, 1e-5, 1e-4])),
            _ => json!([1e-6, 1e-6, 0.0, 1e-5]),
        };
        let mut errors = Fields::new();
        errors.insert("link".into(), place(d, world).into());
        errors.insert("rate".into(), rate);
        d.set(&mut errors, 30, "BitErrorSpec/burst", &[1, 3, 40]);
        faults.insert("bit_errors".into(), json!([errors]));
    }
    if d.chance(25) {
        let mut hits: Vec<Value> = (0..d.between(1, 3))
            .map(|_| {
                let (device, port) = end(d, world);
                json!({"device": device, "port": port,
                       "what": d.of("CorruptSpec/what", &["packet", "symbol"]),
                       "nth": d.of("CorruptSpec/nth", &[1, 2, 5, 30])})
            })
            .collect();
        // What is sent once is damaged once.
        for at in (1..hits.len()).rev() {
            if hits[..at].contains(&hits[at]) {
                hits.remove(at);
            }
        }
        faults.insert("corrupt".into(), hits.into());
    }
    if d.chance(30) {
        let mut outage = Fields::new();
        outage.insert("link".into(), place(d, world).into());
        let at = d.between(1, world.until * 3 / 4);
        outage.insert("at".into(), us(at));
        if d.chance(80) {
            outage.insert("for".into(), d.of("OutageSpec/for", &["1 us", "8 us", "30 us"]).into());
            let times = d.of("OutageSpec/times", &[2, 3]);
            // All of them within the run.
            if d.chance(60) && at + 35 * (times - 1) <= world.until {
                outage.insert("every".into(), "35 us".into());
                outage.insert("times".into(), times.into());
            }
        }
        faults.insert("outages".into(), json!([outage]));
    }
    // Nothing says which lanes are left, so all have one rate.
    let uneven = faults.get("bit_errors").is_some_and(|errors| errors[0]["rate"].is_array());
    if !uneven && d.chance(20) {
        let mut loss = Fields::new();
        loss.insert("link".into(), place(d, world).into());
        loss.insert("at".into(), late(d, world));
        loss.insert("retrain".into(), d.of("LaneLossSpec/retrain", &["2 us", "20 us"]).into());
        d.set(&mut loss, 40, "LaneLossSpec/width", &["1x"]);
        faults.insert("lane_losses".into(), json!([loss]));
    }
    if !world.receiver && d.chance(20) {
        let (device, port) = end(d, world);
        let mut silence = Fields::new();
        silence.insert("device".into(), device.into());
        silence.insert("port".into(), port.into());
        silence.insert("at".into(), late(d, world));
        d.set(&mut silence, 60, "SilenceSpec/for", &["3 us", "25 us"]);
        faults.insert("silent_credits".into(), json!([silence]));
    }
    if d.chance(20) {
        let all = world.shape.endpoints.iter().chain(world.shape.switches.iter().map(|(name, _)| name));
        let all: Vec<String> = all.cloned().collect();
        let death = json!({"device": d.any(&all), "at": late(d, world)});
        faults.insert("dead_devices".into(), json!([death]));
    }
    world.symbolic |= !faults.is_empty();
    faults
}

fn staging(d: &mut Draw) -> Value {
    let table = [
        json!("none"),
        json!("per_port"),
        json!({"modulo": 1}),
        json!({"modulo": 2}),
        json!({"modulo": 7}),
        json!({"table": [0, 1, 0, 1, 2, 2, 0, 1, 0, 1, 0, 1]}),
    ];
    d.of("Staging", &table)
}

fn switch(d: &mut Draw, world: &World) -> Fields {
    let mut switch = Fields::new();
    if world.medium.is_none() && !world.idle3 && world.lanes <= 4 && world.slow {
        let presets: Vec<&str> = SWITCHES.iter().map(|preset| preset.name).collect();
        d.set(&mut switch, 60, "SwitchSpec/device", &presets);
    }
    d.set(&mut switch, 40, "SwitchSpec/pipeline", &["0 ps", "30 ns", "250 ns"]);
    d.set(&mut switch, 40, "SwitchSpec/input_buffers", &[5, 8, 20, 30]);
    d.set(&mut switch, 10, "SwitchSpec/watermarks", &[json!([4, 3, 2]), json!([3, 2, 1])]);
    if world.channels {
        d.set(&mut switch, 60, "vcs/arbitration", &["round_robin", "oldest_first", "random"]);
        d.set(&mut switch, 40, "vcs/reads_per_input", &[1, 2, 4]);
    } else {
        queues(d, world, &mut switch);
    }
    if world.voq && d.chance(30) {
        switch.insert("staging".into(), staging(d));
    }
    if world.voq {
        d.set(&mut switch, 30, "SwitchSpec/leave_out_stopped", &[true, false]);
    }
    if world.voq && !world.configured && d.chance(20) {
        let mut registers = Fields::new();
        d.set(&mut registers, 20, "PortVoqSpec/rx_sup", &[true, false]);
        d.set(&mut registers, 30, "PortVoqSpec/gen_sup", &[true, true, false]);
        d.set(&mut registers, 30, "PortVoqSpec/part", &[true, false]);
        d.set(&mut registers, 20, "PortVoqSpec/xoff", &[true, false]);
        if world.channels {
            d.set(&mut registers, 40, "PortVoqSpec/link_sup", &[true, false]);
        }
        port_rules(d, &mut registers);
        if !registers.is_empty() {
            switch.insert("voq".into(), registers.into());
        }
    }
    switch
}

/// How packets wait in a switch, and who goes first, where links have no virtual channels.
fn queues(d: &mut Draw, world: &World, switch: &mut Fields) {
    if world.voq || d.chance(60) {
        d.set(switch, 40, "voq/input", &["voq"]);
    } else {
        d.set(switch, 100, "SwitchSpec/input", &["fifo", "voq"]);
    }
    d.set(switch, 60, "SwitchSpec/buffering", &["direct", "crosspoint", "output", "shared"]);
    let direct = switch.get("buffering").is_none_or(|kind| kind == "direct");
    if direct {
        d.set(switch, 40, "SwitchSpec/reads_per_input", &[1, 2, 8]);
    } else {
        d.set(switch, 70, "SwitchSpec/buffer_packets", &[1, 2, 9]);
        if switch.get("buffer_packets").is_some_and(|packets| packets == 9) && world.voq {
            d.set(switch, 50, "SwitchSpec/queue_quota", &[1, 2, 4]);
        }
    }
    let policies = &["round_robin", "oldest_first", "longest_queue_first", "random", "islip"];
    d.set(switch, 70, "SwitchSpec/arbitration", policies);
    if switch.get("arbitration").is_some_and(|kind| kind == "islip") {
        d.set(switch, 60, "SwitchSpec/iterations", &[1, 2, 4]);
    }
    d.set(switch, 12, "SwitchSpec/slot", &["off", "120 ns", "700 ns"]);
    let faulty = world.symbolic;
    if faulty {
        d.set(switch, 10, "faults/forwarding", &["store_and_forward"]);
    } else {
        d.set(switch, 35, "SwitchSpec/forwarding", &["store_and_forward", "cut_through"]);
    }
}

pub fn service(d: &mut Draw) -> Value {
    let table = [
        json!("0 ps"),
        json!("100 ns"),
        json!("3 us"),
        json!({"exponential": "500 ns"}),
        json!({"uniform": ["0 ps", "2 us"]}),
    ];
    d.of("ServiceSpec", &table)
}

fn endpoint(d: &mut Draw, world: &World) -> Fields {
    let mut endpoint = Fields::new();
    if world.medium.is_none() && !world.idle3 && world.lanes <= 4 && world.slow {
        d.set(&mut endpoint, 40, "EndpointSpec/device", &["generic", "Tsi721"]);
    }
    d.set(&mut endpoint, 30, "EndpointSpec/input_buffers", &[5, 9, 30]);
    d.set(&mut endpoint, 10, "EndpointSpec/watermarks", &[json!([4, 3, 2]), json!([3, 2, 1])]);
    if world.voq && d.chance(30) {
        endpoint.insert("staging".into(), staging(d));
    }
    if world.voq && !world.configured {
        let mut registers = Fields::new();
        d.set(&mut registers, 8, "endpoint/rx_sup", &[true, false]);
        if !registers.is_empty() {
            endpoint.insert("voq".into(), registers.into());
        }
    }
    let mut host = Fields::new();
    if d.chance(45) {
        host.insert("rx_service".into(), service(d));
    }
    if d.chance(35) {
        host.insert("tx_service".into(), service(d));
    }
    d.set(&mut host, 35, "HostSpec/rx_queue", &[1, 2, 6, 1_024]);
    if world.clock > 1 {
        host.insert("protocol_clock".into(), world.clock.into());
    } else {
        d.set(&mut host, 20, "HostSpec/protocol_clock", &[json!(1), json!("1/3"), json!(2.5)]);
    }
    if d.chance(30) {
        // Times of the fabric: 20 us and 1 ms.
        let time = d.of("HostSpec/response_timeout", &[20, 1_000]) * world.clock;
        host.insert("response_timeout".into(), format!("{time} us").into());
    }
    if d.chance(30) {
        d.set(&mut host, 30, "HostSpec/stream_packets", &[1, 2, 8]);
        let time = d.of("HostSpec/retry_delay", &[0, 1, 400]) * world.clock;
        host.insert("retry_delay".into(), format!("{time} ns").into());
    }
    if !host.is_empty() {
        endpoint.insert("host".into(), host.into());
    }
    if d.chance(40) {
        endpoint.insert("linx".into(), traffic::linx_node(d, world).into());
    }
    endpoint.insert("session".into(), traffic::session_node(d, world).into());
    endpoint
}

fn overrides(d: &mut Draw, world: &World) -> Vec<Value> {
    let kinds = ["endpoint", "switch", "link", "port"];
    let count = d.between(1, 2);
    let mut list = Vec::new();
    for _ in 0..count {
        let drawn = match d.of("OverrideSpec", &kinds) {
            "endpoint" => {
                let names = d.some(&world.shape.endpoints, 1);
                json!({"devices": names, "endpoint": {"host": {"rx_service": service(d)}}})
            }
            "switch" => {
                let (name, _) = d.any(&world.shape.switches);
                json!({"devices": name, "switch": {
                    "pipeline": d.of("override/pipeline", &["0 ps", "90 ns"])
                }})
            }
            "link" => {
                let longer = json!({"length": "7 m"});
                let links = if world.idle3 {
                    // On 64b/67b links packets have a CRC more, on the others they have not.
                    let slower = json!({"rate": "6.25 Gbaud"});
                    let short = json!({"rate": "2.5 Gbaud", "symbol": "short"});
                    d.of("override/kinds", &[longer, slower, short])
                } else if world.medium.is_none() && !world.receiver {
                    d.of("override/links", &[longer, json!({"granularity": "symbol"})])
                } else {
                    longer
                };
                json!({"link": place(d, world), "links": links})
            }
            _ if world.voq && !world.configured => {
                let (name, ports) = d.any(&world.shape.switches);
                let port = format!("{name}:{}", d.below(ports));
                let mut registers = Fields::new();
                registers.insert("gen_en".into(), d.of("PortVoqSpec/gen_en", &[true, false]).into());
                port_rules(d, &mut registers);
                json!({"port": port, "voq": registers})
            }
            _ => continue,
        };
        list.push(drawn);
    }
    list
}

/// What a port judges by and how it tells and obeys.
fn port_rules(d: &mut Draw, registers: &mut Fields) {
    let thresholds = [json!({"on": 3, "off": 1}), json!({"on": 6, "off": 5})];
    d.set(registers, 20, "PortVoqSpec/thresholds", &thresholds);
    d.set(registers, 20, "PortVoqSpec/verdict", &["shared", "per_ingress"]);
    d.set(registers, 20, "PortVoqSpec/refresh", &["default", "off", "5 us"]);
    d.set(registers, 20, "PortVoqSpec/generation_delay", &["0 ps", "90 ns"]);
    d.set(registers, 20, "PortVoqSpec/after_recovery", &[true, false]);
    d.set(registers, 20, "PortVoqSpec/obey_latency", &["0 ps", "150 ns"]);
}

fn voq(d: &mut Draw, world: &World) -> Value {
    let mut voq = Fields::new();
    voq.insert("enabled".into(), world.voq.into());
    if d.chance(50) {
        voq.insert("staging".into(), staging(d));
    }
    let thresholds = [json!({"on": 1, "off": 0}), json!({"on": 3, "off": 1}), json!({"on": 9, "off": 4})];
    d.set(&mut voq, 50, "VoqSpec/thresholds", &thresholds);
    d.set(&mut voq, 40, "VoqSpec/verdict", &["shared", "per_ingress"]);
    d.set(&mut voq, 40, "VoqSpec/refresh", &["default", "off", "3 us"]);
    d.set(&mut voq, 30, "VoqSpec/generation_delay", &["0 ps", "400 ns"]);
    d.set(&mut voq, 20, "VoqSpec/after_recovery", &[true, false]);
    d.set(&mut voq, 20, "VoqSpec/obey_latency", &["0 ps", "70 ns"]);
    if world.channels {
        d.set(&mut voq, 60, "VoqSpec/linked", &[true, false]);
    }
    if world.voq && d.chance(20) {
        let count = d.between(1, 3);
        let writes: Vec<Value> = (0..count).map(|_| voq_write(d, world)).collect();
        voq.insert("writes".into(), writes.into());
    }
    voq.into()
}

/// A write to the register of a port of a switch, and to its thresholds.
fn voq_write(d: &mut Draw, world: &World) -> Value {
    let (name, ports) = d.any(&world.shape.switches);
    let mut write = Fields::new();
    write.insert("at".into(), d.of("VoqWriteSpec/at", &["0 ps", "2 us", "9 us"]).into());
    write.insert("port".into(), format!("{name}:{}", d.below(ports)).into());
    write.insert("xoff".into(), d.of("VoqWriteSpec/xoff", &[true, false]).into());
    d.set(&mut write, 40, "VoqWriteSpec/part", &[true, false]);
    d.set(&mut write, 30, "VoqWriteSpec/gen_en", &[true, false]);
    let thresholds = [json!({"on": 1, "off": 0}), json!({"on": 2, "off": 1}), json!({"on": 7, "off": 5})];
    d.set(&mut write, 60, "VoqWriteSpec/thresholds", &thresholds);
    write.into()
}

fn routing(d: &mut Draw, world: &World, topology: &Value, spec: &mut Fields) {
    let mut routing = Fields::new();
    let any: &[&str] = &["auto", "shortest", "up_down"];
    let kind = topology.as_object().and_then(|fields| fields.keys().next()).expect("one kind");
    match kind.as_str() {
        "mesh" => d.set(&mut routing, 40, "mesh/method", &["auto", "dimension_order", "up_down"]),
        "fat_tree" | "xgft" => d.set(&mut routing, 40, "fat_tree/method", &["auto", "fat_tree", "up_down"]),
        _ => d.set(&mut routing, 30, "RoutingSpec/method", any),
    }
    if world.configured {
        return;
    }
    if kind == "torus" || kind == "dragonfly" {
        routing.insert("allow_deadlock".into(), true.into());
    } else {
        d.set(&mut routing, 5, "RoutingSpec/allow_deadlock", &[true, false]);
    }
    if routing.get("method").is_some_and(|method| method == "up_down") && d.chance(40) {
        routing.insert("root".into(), d.any(&world.shape.switches).0.into());
    }
    if world.shape.switches.len() == 1 && world.groups.is_empty() && d.chance(25) {
        // All that a switch has to know, entry by entry.
        let (name, _) = &world.shape.switches[0];
        let mut table = Fields::new();
        for link in &world.shape.links {
            let (at, to) = if link[0].0 == *name { (&link[0], &link[1]) } else { (&link[1], &link[0]) };
            table.insert(to.0.clone(), at.1.into());
        }
        table.insert("default".into(), "drop".into());
        routing.insert("method".into(), "tables".into());
        routing.insert("tables".into(), json!({name: table}));
    }
    if !routing.is_empty() {
        spec.insert("routing".into(), routing.into());
    }
}

fn multicast(d: &mut Draw, world: &mut World, spec: &mut Fields) {
    if world.medium.is_some() || world.configured || !d.chance(25) {
        return;
    }
    let mut group = Fields::new();
    group.insert("name".into(), "group".into());
    let members = match d.of("members", &["some", "all"]) {
        "some" => json!(d.some(&world.shape.endpoints, 2)),
        _ => json!("all"),
    };
    group.insert("members".into(), members);
    d.set(&mut group, 40, "MulticastSpec/id", &[200]);
    let typed = spec.get("endpoint").is_some_and(|endpoint| endpoint["session"]["management"] == "stream");
    let mut groups = vec![Value::from(group)];
    if typed && world.shape.endpoints.len() > 1 {
        let id = if spec.get("id_bits").is_some_and(|bits| *bits == 16) { 65_534 } else { 254 };
        groups.push(json!({"name": "everybody", "id": id, "members": "all"}));
        world.broadcast = true;
    }
    spec.insert("multicast".into(), groups.into());
    world.groups.push("group".into());
}
