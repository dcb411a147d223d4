//! A host sets up fabrics of every topology: it finds what the file describes, what it writes is what was
//! compiled, and every endpoint reaches every other.

use crate::watched::watched;
use models::config::{DeviceModel, Egress, FabricConfig, NO_OWNER, VoqChange};
use models::enumeration::{EnumerationReport, UnmadeBecause};
use models::probe::Delivery;
use models::voq_backpressure::csr::{PART, XOFF};
use models::{Outcome, Probe, RunOptions, Watched};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Default)]
struct Pairs(Vec<(u16, u32, u32)>);

impl Probe for Pairs {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.push((delivery.flow, delivery.source, delivery.destination));
    }
}

fn load(value: &Value) -> scenarios::Variant {
    let plan = scenarios::load(&value.to_string(), "x.json", &[]);
    plan.unwrap_or_else(|errors| panic!("{}", errors.render())).variants.remove(0)
}

fn run(value: &Value) -> (Arc<FabricConfig>, Pairs, Outcome) {
    let variant = load(value);
    let mut pairs = Pairs::default();
    let mut simulation = Watched::new(Arc::clone(&variant.config), RunOptions::default(), &mut pairs);
    let _ = simulation.run(variant.until, u64::MAX);
    let outcome = simulation.finish();
    (variant.config, pairs, outcome)
}

/// All endpoints send to all in turn, once the host `host` lets them.
fn scenario(topology: &Value, host: &str, more: &Value) -> Value {
    let mut value = json!({
        "name": "x",
        "run": {"until": "20 ms", "sample_every": "off"},
        "topology": topology,
        "traffic": [
            {"name": "x", "from": "all", "to": {"uniform": {}}, "arrivals": {"poisson": {"load": 0.1}}}
        ]
    });
    let names = load(&value).labels.devices;
    let endpoints: Vec<&String> = names.iter().filter(|name| name.contains("ep")).collect();
    let flow = &mut value["traffic"][0];
    flow["to"] = json!({ "cycle": endpoints });
    flow["limit"] = endpoints.len().into();
    value["configure"] = json!({"fabric": {"host": host}});
    for (key, setting) in more.as_object().into_iter().flatten() {
        value[key] = setting.clone();
    }
    value
}

fn check(config: &FabricConfig, report: &EnumerationReport) {
    assert!(report.as_planned && report.done().is_some());
    assert_eq!((report.problems, report.timeouts, report.repetitions), (0, 0, 0));
    let devices: Vec<u32> = report.devices.iter().map(|found| found.device.expect("a tag")).collect();
    assert_eq!(devices.iter().collect::<BTreeSet<_>>().len(), config.devices.len());
    let pair = |a: (u32, u8), b: (u32, u8)| if a < b { (a, b) } else { (b, a) };
    let named = |(n, port): (u32, u8)| (devices[n as usize], port);
    let real: BTreeSet<_> = config.links.iter().map(|link| pair(link.a, link.b)).collect();
    let found: BTreeSet<_> = report.links.iter().map(|&(a, b)| pair(named(a), named(b))).collect();
    assert_eq!((report.links.len(), found), (real.len(), real));
    for found in &report.devices {
        let device = &config.devices[found.device.expect("a tag") as usize];
        assert_eq!(usize::from(found.ports), device.ports.len());
        match &device.model {
            DeviceModel::Endpoint(endpoint) => assert_eq!(found.id, Some(endpoint.ids[0])),
            DeviceModel::Switch(_) => assert!(found.switch),
        }
    }
    for (device, table) in &report.tables {
        let DeviceModel::Switch(switch) = &config.devices[*device as usize].model else {
            panic!("no switch")
        };
        for (id, route) in switch.routes.entries.iter().enumerate() {
            let written = table.get(id).copied().flatten();
            assert_eq!(written.map_or(Egress::Drop, Egress::Port), route.egress, "device {device}, id {id}");
        }
    }
    for (device, registers) in &report.voq {
        for (port, csr) in config.devices[*device as usize].ports.iter().zip(registers) {
            let set = (csr & 0x0080_0000 != 0, csr & 0x0040_0000 != 0, csr & 0x0020_0000 != 0);
            assert_eq!((port.voq.gen_en, port.voq.part, port.voq.xoff), set, "device {device}");
        }
    }
}

/// Lengths of packets on the link of who sends them, by flow: how many there are.
#[derive(Default)]
struct Lengths(BTreeMap<(u16, u64), u64>);

impl Probe for Lengths {
    fn delivered(&mut self, delivery: &Delivery) {
        *self.0.entry((delivery.flow, delivery.link_ps)).or_default() += 1;
    }
}

/// By hand, with ids of 8 bits: 2 octets of header, 2 of ids, 6 of type, size, tid, hop count and offset, 2
/// of CRC make 12 without data, and 20 with. With ids of 16 bits these are 14 and 22, filled up to 16 and 24.
/// On the link come 8 octets of delimiter; an octet takes 400 ps. Requests and answers are as long as each
/// other, data goes one way of the two, and there are as many of either with any ids.
#[test]
fn registers_are_asked_and_answered_with_the_ids_of_the_fabric() {
    let lengths = |bits: u32| -> Vec<(u64, u64)> {
        let topology = json!({"chain": {"switches": 2, "endpoints_per_switch": 1}});
        let value = scenario(&topology, "ep/0", &json!({"id_bits": bits}));
        let (Lengths(all), _) = watched::<Lengths>(&value);
        all.into_iter().filter(|((flow, _), _)| *flow == 1).map(|((_, ps), n)| (ps, n)).collect()
    };
    let (small, large) = (lengths(8), lengths(16));
    let octets = |all: &[(u64, u64)]| all.iter().map(|(ps, _)| ps / 400 - 8).collect::<Vec<u64>>();
    assert_eq!((octets(&small), octets(&large)), (vec![12, 20], vec![16, 24]));
    let numbers = |all: &[(u64, u64)]| all.iter().map(|(_, n)| *n).collect::<Vec<u64>>();
    assert_eq!(numbers(&small)[0], numbers(&small)[1]);
    assert_eq!(numbers(&small), numbers(&large));
}

#[test]
fn every_topology_is_set_up() {
    let cyclic = json!({"routing": {"method": "shortest", "allow_deadlock": true}});
    let voq = json!({"voq": {"enabled": true}});
    let wide = json!({"id_bits": 16});
    let none = json!({});
    for (topology, host, more) in [
        (json!({"single_switch": {"ports": 5}}), "ep/3", &voq),
        (json!({"chain": {"switches": 4, "endpoints_per_switch": 2}}), "ep/2-1", &none),
        (json!({"star": {"arms": 3, "endpoints_per_arm": 3}}), "ep/0-0", &wide),
        (json!({"mesh": {"size": [3, 3], "endpoints_per_switch": 2}}), "ep/1-1-0", &voq),
        (json!({"torus": {"size": [4, 3]}}), "ep/0-0", &cyclic),
        (json!({"fat_tree": {"ports": 8, "endpoints": 16}}), "ep/05", &voq),
        (json!({"fat_tree": {"levels": 3, "ports": 4, "endpoints": 16}}), "ep/15", &none),
        (json!({"xgft": {"down": [3, 2, 2], "up": [2, 1]}}), "ep/11", &voq),
        (
            json!({"dragonfly": {"groups": 3, "switches_per_group": 2, "endpoints_per_switch": 2}}),
            "",
            &cyclic,
        ),
    ] {
        let plain = json!({
            "name": "x", "topology": topology,
            "traffic": [{"name": "x", "from": "all", "to": {"uniform": {}},
                         "arrivals": {"poisson": {"load": 0.1}}}]
        });
        let names = load(&plain).labels.devices;
        let host = match names.iter().any(|name| name == host) {
            true => host,
            // Names of endpoints differ by topology: any one will do.
            false => names.iter().find(|name| name.contains("ep")).expect("an endpoint"),
        };
        let (config, pairs, outcome) = run(&scenario(&topology, host, more));
        let report = outcome.enumeration.expect("a host sets it up");
        check(&config, &report);
        assert_eq!((outcome.dropped, outcome.in_flight), (0, 0), "{topology}");
        // Each endpoint to each, itself included.
        let endpoints = report.devices.iter().filter(|device| !device.switch).count();
        let sent: BTreeSet<_> = pairs.0.iter().filter(|pair| pair.0 == 0).collect();
        assert_eq!(sent.len(), endpoints * endpoints, "{topology}");
    }
}

/// What is down from start to end the host does not find, and the plan knows that: tables written are those
/// planned, endpoints have the ids planned, and each that can be reached reaches each that can. The one
/// behind a dead device keeps an id of its own, and gets nothing.
#[test]
fn a_plan_leads_around_what_is_down_from_the_start() {
    let mesh = json!({"mesh": {"size": [3, 3], "endpoints_per_switch": 1}});
    let cyclic = json!({"method": "shortest", "allow_deadlock": true});
    let short = json!({"link": "sw/2-1", "at": "0 ps", "for": "1 ns"});
    let cut = |link: &str| json!({"outages": [{"link": link, "at": "0 ps"}, short]});
    let dead = json!({"dead_devices": [{"device": "sw/1-1", "at": "0 ps"}]});
    let mut tables = Vec::new();
    // The last one cuts off the host itself, which then knows nobody, and nobody begins.
    // One that ends with the run ends no earlier.
    let to_the_end = json!({"outages": [{"link": "ep/4", "at": "0 ps", "for": "20 ms"}, short]});
    let all = [(json!({}), 0), (cut("sw/0-0:2"), 0), (dead, 1), (cut("ep/0"), 8), (to_the_end, 1)];
    for (faults, lost) in all {
        let value = scenario(&mesh, "ep/0", &json!({"faults": faults, "routing": cyclic}));
        let (config, pairs, outcome) = run(&value);
        let report = outcome.enumeration.expect("a host sets it up");
        assert_eq!((report.unnamed, report.astray), (lost, false), "{faults}");
        // As many as that the check names beforehand, and it does not call routes whole.
        let plan = scenarios::load(&value.to_string(), "x.json", &[]).unwrap();
        assert_eq!(plan.variants[0].routes.cut_off as u64, lost, "{faults}");
        let told = scenarios::check_report(&plan);
        assert_eq!(told.contains("reached; it cannot reach"), lost > 0, "{told}");
        let words = plan.warnings.render().replace("\n  │ ", " ");
        assert_eq!(words.contains("\"ep/0\" cannot reach"), lost > 0, "{words}");
        let named: BTreeMap<u32, u32> =
            report.devices.iter().filter_map(|found| Some((found.device?, found.id?))).collect();
        let mut owned = BTreeMap::new();
        for (id, &owner) in (0..).zip(&config.owners).filter(|(_, owner)| **owner != NO_OWNER) {
            assert_eq!(owned.insert(owner, id), None, "{faults}");
        }
        assert_eq!(owned.len(), 9, "{faults}");
        assert!(named.iter().all(|(device, id)| owned.get(device) == Some(id)), "{faults}");
        let found: BTreeSet<u32> = report.devices.iter().filter_map(|found| found.device).collect();
        for (device, written) in report.tables.iter().filter(|(device, _)| found.contains(device)) {
            let DeviceModel::Switch(switch) = &config.devices[*device as usize].model else {
                panic!("no switch")
            };
            for &id in named.values().filter(|_| !written.is_empty()) {
                let route = switch.routes.entries[id as usize].egress;
                let written = written[id as usize].map_or(Egress::Drop, Egress::Port);
                assert_eq!(written, route, "{faults}: device {device}, id {id}");
            }
        }
        let sent: BTreeSet<_> = pairs.0.iter().filter(|pair| pair.0 == 0).collect();
        // What the host sends to itself takes the link as well.
        let reached = if lost == 8 { 0 } else { 9 - lost };
        assert_eq!(sent.len() as u64, reached * reached, "{faults}");
        tables.push(report.tables);
    }
    assert_ne!(tables[0], tables[1]);
}

/// A switch dies later and later, and a register of it is to be changed at 100 us. As long as it dies before
/// the read is there, nothing is changed; while its answers may be lost nobody knows, and afterwards it is
/// done. The register itself says the same. What is due and cannot be made is told, not only counted.
#[test]
fn a_change_that_was_not_made_is_told() {
    let chain = json!({"chain": {"switches": 2, "endpoints_per_switch": 1}});
    let mut seen = Vec::new();
    for death in 0..40 {
        let value = json!({
            "voq": {"enabled": true, "writes": [{"at": "100 us", "port": "sw/1:1", "xoff": true}]},
            "links": {"symbol": "long"},
            "endpoint": {"host": {"response_timeout": "20 us"}},
            "faults": {"dead_devices": [{"device": "sw/1", "at": format!("{} ns", 99_800 + 50 * death)}]}
        });
        let mut value = scenario(&chain, "ep/0", &value);
        value["run"]["until"] = json!("1 ms");
        let (config, _, outcome) = run(&value);
        let report = outcome.enumeration.expect("a host sets it up");
        let place = config.devices.iter().position(|device| device.path == "sw/1").expect("a switch");
        let (_, csr) =
            report.voq.iter().find(|(device, _)| *device == place as u32).expect("it has registers");
        let changed = csr[1] & XOFF != 0;
        let why = report.unmade.first().map(|unmade| {
            assert_eq!((unmade.device, unmade.port, unmade.due.0), (place as u32, 1, 100_000_000));
            unmade.why
        });
        assert_eq!(report.problems, report.unmade.len() as u64);
        match why {
            Some(UnmadeBecause::Unread) => assert!(!changed),
            Some(UnmadeBecause::Unconfirmed) => {}
            None => assert!(changed),
            Some(UnmadeBecause::Waiting) => panic!("it had its turn"),
        }
        seen.push((why, changed));
    }
    seen.dedup();
    let expected = [
        (Some(UnmadeBecause::Unread), false),
        (Some(UnmadeBecause::Unconfirmed), false),
        (Some(UnmadeBecause::Unconfirmed), true),
        (None, true),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn traffic_waits_for_the_host() {
    let mut value = scenario(&json!({"single_switch": {"ports": 4}}), "ep/0", &json!({}));
    let (_, pairs, outcome) = run(&value);
    assert_eq!(pairs.0.iter().filter(|pair| pair.0 == 0).count(), 16);
    let done = outcome.enumeration.and_then(|report| report.done()).expect("it ends");
    // Too short a run: no endpoint ever sends.
    value["run"]["until"] = json!(format!("{} ps", done.0 / 2));
    let (_, pairs, outcome) = run(&value);
    assert!(outcome.enumeration.is_some_and(|report| report.done().is_none()));
    assert_eq!(pairs.0.iter().filter(|pair| pair.0 == 0).count(), 0);
}

#[test]
fn messages_and_requests_wait_as_well() {
    let mut value = scenario(&json!({"single_switch": {"ports": 4}}), "ep/2", &json!({}));
    value["traffic"] = json!([
        {"name": "asks", "from": ["ep/0", "ep/2"], "to": "ep/1", "rpc": {},
         "arrivals": {"constant": {"interval": "5 us"}}, "limit": 20}
    ]);
    let (_, pairs, outcome) = run(&value);
    assert_eq!(outcome.protocols[0].round_trips, 40);
    assert_eq!(outcome.protocols[0].facts, [0; models::probe::FACTS]);
    assert!(!pairs.0.is_empty());
}

/// Writes of the scenario are made by the host, to every switch, whatever their place: what its registers say
/// in the end is what was written, and bits that were not given are what the host had set before.
#[test]
fn the_host_makes_the_writes_of_the_scenario() {
    let more = json!({
        "links": {"symbol": "long"},
        "voq": {"enabled": true, "writes": [
            {"at": "1 us", "port": "sw/*:1", "xoff": true},
            {"at": "15 ms", "port": "sw/2:0", "part": false}
        ]}
    });
    let value = scenario(&json!({"chain": {"switches": 3, "endpoints_per_switch": 2}}), "ep/0", &more);
    let (config, _, outcome) = run(&value);
    let report = outcome.enumeration.expect("a host sets the fabric up");
    let name = |device: u32| config.devices[device as usize].path.as_str();
    assert_eq!(report.voq.len(), 3);
    assert!(config.voq_writes.is_empty());
    // Four registers are read and written: no repetitions, and each is answered.
    let enumerated: u64 = report.phases.iter().map(|phase| phase.reads + phase.writes).sum();
    assert_eq!((report.packets, report.repetitions, report.timeouts), (enumerated + 8, 0, 0));
    for (device, registers) in &report.voq {
        for (port, value) in registers.iter().enumerate() {
            let part = (name(*device), port) != ("sw/2", 0);
            assert_eq!((value & XOFF != 0, value & PART != 0), (port == 1, part), "{} {port}", name(*device));
        }
    }
}

/// Thresholds have no register: the scenario writes them, at their time, while the host writes the bits
/// beside them.
#[test]
fn the_host_writes_no_thresholds() {
    let more = json!({
        "links": {"symbol": "long"},
        "voq": {"enabled": true, "writes": [
            {"at": "15 ms", "port": "sw/*:1", "xoff": true, "thresholds": {"on": 3, "off": 1}},
            {"at": "16 ms", "port": "sw/2:0", "thresholds": {"on": 3, "off": 1}}
        ]}
    });
    let value = scenario(&json!({"chain": {"switches": 3, "endpoints_per_switch": 2}}), "ep/0", &more);
    let (config, _, outcome) = run(&value);
    let report = outcome.enumeration.expect("a host sets the fabric up");
    let enumerated: u64 = report.phases.iter().map(|phase| phase.reads + phase.writes).sum();
    assert_eq!((report.packets, report.repetitions), (enumerated + 6, 0), "three registers");
    let change = VoqChange::Thresholds { x_on: 3, x_off: 1 };
    let made: Vec<_> = config.voq_writes.iter().map(|write| (write.at.0, write.port, write.change)).collect();
    let at = 15_000_000_000;
    assert_eq!(made, [(at, 1, change), (at, 1, change), (at, 1, change), (at + 1_000_000_000, 0, change)]);
}

/// Two roots, and every way by the first: no packet of the host gets to the second, and its registers stay as
/// they are. That is said for the pattern that names it, and the other switches are written to.
#[test]
fn a_switch_that_no_route_leads_to_is_not_written_to() {
    let tree = json!({"fat_tree": {"ports": 4, "endpoints": 8}});
    let written = |port: &str| {
        let more = json!({
            "routing": {"method": "shortest"},
            "links": {"symbol": "long"},
            "voq": {"enabled": true, "writes": [{"at": "10 ms", "port": port, "xoff": true}]}
        });
        let value = scenario(&tree, "ep/0", &more);
        let plan = scenarios::load(&value.to_string(), "x.json", &[]);
        let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render()));
        let told = plan.warnings.render();
        let (config, _, outcome) = run(&value);
        let report = outcome.enumeration.expect("a host");
        assert_eq!((report.problems, report.unmade.len()), (0, 0));
        let stopped = report.voq.iter().filter(|(_, csrs)| csrs.iter().any(|csr| csr & XOFF != 0));
        let names: Vec<&str> =
            stopped.map(|(device, _)| config.devices[*device as usize].path.as_str()).collect();
        (told.contains("SC123").then_some(told), names.len())
    };
    let (told, stopped) = written("*");
    assert!(told.is_some_and(|told| told.contains("(and 3 more)")));
    assert_eq!(stopped, 5);
    let (told, stopped) = written("leaf/*:0");
    assert_eq!((told, stopped), (None, 4));
}
