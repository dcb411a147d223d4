//! Generators and routing: golden edge lists, agreement of the two levels of routing, freedom from deadlock.

use models::config::{
    BLOCK, DeviceConfig, DeviceModel, Egress, FabricConfig, IdTable, NO_OWNER, NO_PORT, StagingConfig,
};
use models::sim_core::Time;
use models::{Progress, RunOptions, Simulation};
use scenarios::fabric::{channel_cycle, stopping_cycle, walk, wires};
use scenarios::{RunPlan, check_next_hops, load, topology};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) fn scenario(topology: Value) -> Value {
    json!({
        "name": "t",
        "topology": topology,
        "voq": {"enabled": true},
        "traffic": [{
            "name": "random", "from": "all", "to": {"uniform": {"include_self": true}},
            "arrivals": {"poisson": {"load": 0.1}}
        }]
    })
}

fn plan(value: &Value) -> RunPlan {
    load(&value.to_string(), "t.json", &[]).unwrap_or_else(|errors| panic!("{value}\n{}", errors.render()))
}

pub(crate) fn config(value: &Value) -> FabricConfig {
    (*plan(value).variants[0].config).clone()
}

/// Every generator in several sizes.
pub(crate) fn instances() -> Vec<Value> {
    let mut all = Vec::new();
    all.extend([1, 2, 8, 64].map(|n| json!({"single_switch": {"ports": n}})));
    all.extend(
        [(2, 1), (5, 3), (9, 2)].map(|(n, e)| json!({"chain": {"switches": n, "endpoints_per_switch": e}})),
    );
    all.extend([(1, 2), (4, 3), (16, 4)].map(|(n, e)| json!({"star": {"arms": n, "endpoints_per_arm": e}})));
    for size in [json!([2, 2]), json!([4, 3]), json!([1, 5]), json!([3, 3, 3]), json!([2, 4, 3])] {
        all.push(json!({"mesh": {"size": size}}));
        all.push(json!({"mesh": {"size": size, "endpoints_per_switch": 3}}));
    }
    for size in [json!([2, 2]), json!([4, 4]), json!([5, 3]), json!([3, 3, 3]), json!([2, 4, 5])] {
        all.push(json!({"torus": {"size": size, "endpoints_per_switch": 2}}));
    }
    for (ports, endpoints) in [(4, 4), (4, 8), (8, 32), (8, 20), (32, 256), (16, 16), (2, 2)] {
        all.push(json!({"fat_tree": {"ports": ports, "endpoints": endpoints}}));
    }
    all.push(json!({"fat_tree": {"ports": 32, "endpoints": 256, "spines": 8, "parallel": 2}}));
    all.push(json!({"fat_tree": {"ports": 8, "endpoints": 36, "endpoints_per_leaf": 6, "spines": 2}}));
    for (ports, endpoints) in [(4, 16), (4, 8), (8, 128), (8, 50), (8, 4)] {
        all.push(json!({"fat_tree": {"levels": 3, "ports": ports, "endpoints": endpoints}}));
    }
    all.push(json!({"xgft": {"down": [5]}}));
    all.push(json!({"xgft": {"down": [2, 3], "up": [4]}}));
    all.push(json!({"xgft": {"down": [3, 2, 4], "up": [2, 1]}}));
    for (groups, switches, endpoints) in [(2, 1, 1), (3, 2, 2), (9, 4, 2), (5, 4, 1), (7, 3, 3)] {
        all.push(json!({"dragonfly": {
            "groups": groups, "switches_per_group": switches, "endpoints_per_switch": endpoints
        }}));
    }
    all
}

/// Proves: VOQ-1.2-3
/// Proves: VOQ-2.2-2
/// Proves: VOQ-2.2-3
#[test]
fn two_level_routing_agrees_for_every_generator() {
    for topology in instances() {
        let config = config(&scenario(topology.clone()));
        let wrong = check_next_hops(&config);
        assert!(wrong.is_empty(), "{topology}: {:?}", &wrong[..wrong.len().min(5)]);
        for device in &config.devices {
            if let DeviceModel::Switch(switch) = &device.model {
                assert_eq!(switch.routes.entries.len(), config.id_space as usize);
                for (route, &owner) in switch.routes.entries.iter().zip(&config.owners) {
                    let port = matches!(route.egress, Egress::Port(_));
                    assert!(port || owner == NO_OWNER, "a local port for every id");
                }
            }
        }
    }
}

/// Proves: VOQ-2.2-3
#[test]
fn the_checker_finds_every_difference() {
    let good = config(&scenario(json!({"chain": {"switches": 3, "endpoints_per_switch": 1}})));
    let mut found = 0;
    for device in 0..good.devices.len() {
        let mut bad = good.clone();
        match &mut bad.devices[device].model {
            DeviceModel::Switch(switch) => {
                let route = &mut switch.routes.entries[0];
                route.next_hop = if route.next_hop == NO_PORT { 0 } else { route.next_hop + 1 };
            }
            DeviceModel::Endpoint(endpoint) => {
                let mut table = (*endpoint.next_hop).clone();
                table[0] ^= 1;
                endpoint.next_hop = table.into();
            }
        }
        assert_eq!(check_next_hops(&bad).len(), 1, "{}", bad.devices[device].path);
        found += 1;
    }
    assert_eq!(found, 6);
}

/// Tables of several blocks, of which switches and endpoints share most: an entry that is wrong in one of
/// them is found there and nowhere else, and a table that is wrong for all who share it is found at each.
///
/// Proves: VOQ-2.2-3
#[test]
fn the_checker_finds_what_is_wrong_in_shared_tables() {
    let good = config(&scenario(json!({"chain": {"switches": 4, "endpoints_per_switch": 40}})));
    let of = |config: &FabricConfig| -> Vec<(String, String)> {
        let named = |text: String| {
            let (path, rest) = text.split_once(": id ").expect("a device and an id");
            (path.to_owned(), rest.split(':').next().expect("an id").to_owned())
        };
        check_next_hops(config).into_iter().map(named).collect()
    };
    assert!(of(&good).is_empty() && good.id_space > 2 * BLOCK as u32);
    let mut kinds = [0; 2];
    for (device, id) in
        (0..good.devices.len()).flat_map(|device| [0, 63, 64, 130, 159].map(|id| (device, id)))
    {
        let mut bad = good.clone();
        match &mut bad.devices[device].model {
            DeviceModel::Switch(switch) => {
                switch.routes.entries[id].next_hop ^= 1;
                kinds[0] += 1;
            }
            DeviceModel::Endpoint(endpoint) => {
                let mut table = (*endpoint.next_hop).clone();
                table[id] ^= 1;
                endpoint.next_hop = table.into();
                kinds[1] += 1;
            }
        }
        assert_eq!(of(&bad), [(bad.devices[device].path.clone(), id.to_string())]);
    }
    assert_eq!(kinds, [4 * 5, 160 * 5]);
    // One table of 40 endpoints, wrong.
    let mut bad = good.clone();
    let ends = |device: &DeviceConfig| matches!(device.model, DeviceModel::Endpoint(_));
    let first = bad.devices.iter().position(ends).expect("an endpoint");
    let DeviceModel::Endpoint(endpoint) = &bad.devices[first].model else { unreachable!() };
    let shared = endpoint.next_hop.clone();
    let mut table = (*shared).clone();
    table[100] ^= 1;
    let wrong: Arc<IdTable<u8>> = table.into();
    let mut paths = Vec::new();
    for device in &mut bad.devices {
        let DeviceModel::Endpoint(endpoint) = &mut device.model else { continue };
        if Arc::ptr_eq(&endpoint.next_hop, &shared) {
            endpoint.next_hop = wrong.clone();
            paths.push((device.path.clone(), "100".to_owned()));
        }
    }
    assert_eq!((of(&bad), paths.len()), (paths, 40));
    // A table that is right elsewhere: all ids for which the two switches go different ways are wrong.
    let tables = |device: &DeviceConfig| match &device.model {
        DeviceModel::Endpoint(endpoint) => Some(endpoint.next_hop.clone()),
        DeviceModel::Switch(_) => None,
    };
    let other = good.devices.iter().filter_map(tables).find(|table| !Arc::ptr_eq(table, &shared));
    let other = other.expect("the table of another switch");
    let mut bad = good.clone();
    let last =
        good.devices.iter().rposition(|device| tables(device).is_some_and(|t| Arc::ptr_eq(&t, &shared)));
    let last = last.expect("an endpoint");
    let DeviceModel::Endpoint(endpoint) = &mut bad.devices[last].model else { unreachable!() };
    endpoint.next_hop = other.clone();
    let differ = (0..good.id_space as usize).filter(|&id| shared[id] != other[id]);
    let differ: Vec<_> = differ.map(|id| (bad.devices[last].path.clone(), id.to_string())).collect();
    assert!(differ.len() >= 40);
    assert_eq!(of(&bad), differ);
}

/// What a device knows of its neighbour's routes is read from the neighbour's own table: when the fabric is
/// built, and again after a route change; until then it is stale (VOQ-D22).
///
/// Proves: VOQ-2.2-5
#[test]
fn next_hops_follow_a_route_change() {
    let mut config = config(&scenario(json!({"torus": {"size": [3, 3]}})));
    let target =
        (0..config.devices.len()).find(|&d| matches!(config.devices[d].model, DeviceModel::Switch(_)));
    let DeviceModel::Switch(switch) = &mut config.devices[target.expect("a switch")].model else {
        unreachable!()
    };
    let entries = &mut switch.routes.entries;
    let distant = (0..entries.len()).rev().find(|&id| entries[id].next_hop != NO_PORT);
    let entry = &mut entries[distant.expect("a distant id")];
    entry.egress = match entry.egress {
        Egress::Port(1) => Egress::Port(2),
        _ => Egress::Port(1),
    };
    let stale = config.clone();
    assert!(!check_next_hops(&config).is_empty());
    scenarios::next_hops(&mut config);
    assert!(check_next_hops(&config).is_empty());
    // Entry by entry, without the checker.
    let wires = wires(&config);
    let table = |d: usize| match &config.devices[d].model {
        DeviceModel::Switch(switch) => Some(&switch.routes.entries),
        DeviceModel::Endpoint(_) => None,
    };
    let mut changed = 0;
    for d in (0..config.devices.len()).filter(|&d| table(d).is_some()) {
        let DeviceModel::Switch(before) = &stale.devices[d].model else { unreachable!() };
        for (id, route) in table(d).expect("a switch").iter().enumerate() {
            let Egress::Port(port) = route.egress else { panic!("every id is reached") };
            let (_, next, _) = wires[d][usize::from(port)].expect("a link");
            let law = match table(next as usize).map(|entries| entries[id].egress) {
                Some(Egress::Port(egress)) => egress,
                _ => NO_PORT,
            };
            assert_eq!(route.next_hop, law, "device {d}, id {id}");
            changed += u32::from(before.routes.entries[id].next_hop != law);
        }
    }
    assert!(changed > 0, "the change was seen by a neighbour");
}

#[test]
fn default_routing_arrives_and_cannot_deadlock() {
    for topology in instances() {
        let config = config(&scenario(topology.clone()));
        let walk = walk(&config);
        assert!(walk.lost.is_empty(), "{topology}: {:?}", walk.lost.iter().next());
        assert_eq!(channel_cycle(&config, &walk), None, "{topology}");
    }
}

#[test]
fn shortest_paths_on_a_ring_can_deadlock_and_the_cycle_is_named() {
    let mut value = scenario(json!({"torus": {"size": [4, 2]}}));
    value["routing"] = json!({"method": "shortest"});
    let errors = load(&value.to_string(), "t.json", &[]).expect_err("a ring");
    assert_eq!(errors.items[0].code, "SC022");
    assert!(errors.items[0].message.contains(" -> "));
    value["routing"]["allow_deadlock"] = json!(true);
    let accepted = plan(&value);
    assert_eq!(accepted.warnings.items[0].code, "SC075");
    let config = &accepted.variants[0].config;
    let cycle = channel_cycle(config, &walk(config)).expect("a cycle");
    // Each channel of the cycle leads to the switch that owns the next one.
    let wires = wires(config);
    for (i, &(device, port)) in cycle.iter().enumerate() {
        let (_, next, _) = wires[device as usize][usize::from(port)].expect("a link");
        assert_eq!(next, cycle[(i + 1) % cycle.len()].0);
    }
}

#[test]
fn fat_tree_uses_all_up_links_evenly() {
    let value = scenario(json!({"fat_tree": {"ports": 32, "endpoints": 256, "spines": 8, "parallel": 2}}));
    let config = config(&value);
    for device in &config.devices {
        let DeviceModel::Switch(switch) = &device.model else { continue };
        let mut used = [0u32; 32];
        for route in switch.routes.entries.iter() {
            if let Egress::Port(port) = route.egress {
                used[usize::from(port)] += 1;
            }
        }
        if device.path.starts_with("leaf") {
            assert!(used[..16].iter().all(|n| *n == 1), "{used:?}");
            assert!(used[16..].iter().all(|n| *n == 15), "{}: {used:?}", device.path);
        } else {
            // What comes through a spine came up by destination modulo: each parallel link carries its half.
            assert!(used.iter().all(|n| *n > 0 && *n <= 16), "{}: {used:?}", device.path);
        }
    }
}

/// Unless a file says how many spines there are, a leaf has as many up links as endpoints, if its ports
/// suffice. By hand, for leaves with 3 endpoints and 7 other ports: 3 spines with one link each, 2 with two
/// (4 links), one with three; with 7 endpoints and 3 other ports one spine with two links, because a second
/// would need four.
#[test]
fn a_leaf_has_an_up_link_for_each_endpoint() {
    let up = |per_leaf: u32, parallel: Option<u32>| {
        let mut tree = json!({"ports": 10, "endpoints": 3 * per_leaf, "endpoints_per_leaf": per_leaf});
        if let Some(parallel) = parallel {
            tree["parallel"] = json!(parallel);
        }
        let config = config(&scenario(json!({ "fat_tree": tree })));
        let place =
            |name: &str| config.devices.iter().position(|device| device.path == name).map(|at| at as u32);
        let leaf = place("leaf/0").expect("a leaf");
        let spines = (0..).take_while(|n| place(&format!("spine/{n}")).is_some()).count();
        let links = config.links.iter().filter(|link| [link.a.0, link.b.0].contains(&leaf)).count();
        (spines, links - per_leaf as usize)
    };
    assert_eq!([Some(1), Some(2), Some(3)].map(|n| up(3, n)), [(3, 3), (2, 4), (1, 3)]);
    assert_eq!([Some(1), Some(2), Some(3)].map(|n| up(7, n)), [(3, 3), (1, 2), (1, 3)]);
    // As many parallel links as divide the three evenly.
    assert_eq!((up(3, None), up(7, None)), ((1, 3), (1, 3)));
}

/// Flows over each link of a switch, by (device, port), if each endpoint sends to the one half of all on.
fn flows_to_the_other_half(config: &FabricConfig) -> BTreeMap<(u32, u8), u32> {
    let wires = wires(config);
    let mut flows = BTreeMap::new();
    let n = config.id_space;
    for from in 0..n {
        let source = config.owners[from as usize];
        let (_, mut device, _) = wires[source as usize][0].expect("a link");
        while let DeviceModel::Switch(switch) = &config.devices[device as usize].model {
            let to = (from + n / 2) % n;
            let Egress::Port(port) = switch.routes.entries[to as usize].egress else { panic!("a way") };
            *flows.entry((device, port)).or_default() += 1;
            device = wires[device as usize][usize::from(port)].expect("a link").1;
        }
    }
    flows
}

/// Who sends to the other half goes over the top, and destination modulo divides all links of a level alike:
/// m1 ... ml endpoints below a switch, w2 ... wl+1 ways up: their quotient on each link, up as down.
#[test]
fn slimmed_trees_share_the_links_of_each_level_evenly() {
    for (down, up) in [
        (vec![4, 4], vec![2]),
        (vec![4, 2], vec![1]),
        (vec![2, 2, 2], vec![2, 2]),
        (vec![4, 2, 2], vec![2, 2]),
        (vec![4, 4, 4], vec![2, 2]),
        (vec![4, 4, 2], vec![4, 1]),
        (vec![2, 2, 2, 2], vec![1, 2, 1]),
    ] {
        let config = config(&scenario(json!({"xgft": {"down": down, "up": up}})));
        assert!(check_next_hops(&config).is_empty());
        let flows = flows_to_the_other_half(&config);
        for (device, model) in (0..).zip(&config.devices) {
            let Some(name) = model.path.strip_prefix("level") else { continue };
            let level: usize = name.split('/').next().and_then(|l| l.parse().ok()).expect("a level");
            let quotient = |level: usize| {
                let (m, w): (u32, u32) = (down[..level].iter().product(), up[..level].iter().product());
                m / w
            };
            for port in 0..model.ports.len() as u8 {
                let upward = u32::from(port) >= down[level - 1];
                let law = if upward { quotient(level) } else { quotient(level - 1) };
                assert_eq!(flows.get(&(device, port)), Some(&law), "{down:?} {up:?} {}:{port}", model.path);
            }
        }
    }
}

/// The trees of the generator `fat_tree` are extended generalized fat trees: the links are those, by place.
#[test]
fn xgft_has_the_links_of_a_fat_tree() {
    let ours = edges(&json!({"xgft": {"down": [2, 2, 4], "up": [2, 2]}}));
    let theirs = edges(&json!({"fat_tree": {"levels": 3, "ports": 4, "endpoints": 16}}));
    let renamed = theirs.replace("leaf", "level1").replace("middle", "level2").replace("top", "level3");
    let ends = |list: &str| -> BTreeMap<String, usize> {
        let mut ends = BTreeMap::new();
        for end in list.lines().flat_map(|line| line.split(" - ")) {
            let device = end.split(':').next().unwrap_or_default().to_owned();
            *ends.entry(device).or_default() += 1;
        }
        ends
    };
    assert_eq!(ends(&ours), ends(&renamed));
}

#[test]
fn large_three_level_tree_has_the_advertised_shape() {
    let config = config(&scenario(json!({"fat_tree": {"levels": 3, "ports": 32, "endpoints": 4096}})));
    let count = |kind: &str| config.devices.iter().filter(|d| d.path.starts_with(kind)).count();
    assert_eq!([count("leaf"), count("middle"), count("top"), count("ep")], [256, 256, 128, 4096]);
    assert!(check_next_hops(&config).is_empty());
    let walk = walk(&config);
    assert!(walk.lost.is_empty() && channel_cycle(&config, &walk).is_none());
}

fn edges(topology: &Value) -> String {
    let mut spec: topology::Topology = serde_json::from_value(topology.clone()).expect("a topology");
    spec.fill();
    let mut out = Vec::new();
    topology::build(&spec, &mut out).expect("it can be built").edge_list()
}

#[test]
fn small_instances_have_these_links() {
    let lists = [
        (json!({"single_switch": {"ports": 2}}), "sw:0 - ep/0|sw:1 - ep/1"),
        (
            json!({"chain": {"switches": 3, "endpoints_per_switch": 1}}),
            "sw/0:0 - ep/0|sw/1:0 - ep/1|sw/2:0 - ep/2|sw/0:2 - sw/1:1|sw/1:2 - sw/2:1",
        ),
        (
            json!({"star": {"arms": 2, "endpoints_per_arm": 1}}),
            "arm/0:1 - ep/0|arm/1:1 - ep/1|hub:0 - arm/0:0|hub:1 - arm/1:0",
        ),
        (
            json!({"mesh": {"size": [2, 2]}}),
            "sw/0-0:0 - ep/0|sw/1-0:0 - ep/1|sw/0-1:0 - ep/2|sw/1-1:0 - ep/3|\
             sw/0-0:2 - sw/1-0:1|sw/0-1:2 - sw/1-1:1|sw/0-0:4 - sw/0-1:3|sw/1-0:4 - sw/1-1:3",
        ),
        (
            json!({"torus": {"size": [3, 2], "endpoints_per_switch": 1}}),
            "sw/0-0:0 - ep/0|sw/1-0:0 - ep/1|sw/2-0:0 - ep/2|sw/0-1:0 - ep/3|sw/1-1:0 - ep/4|sw/2-1:0 - ep/5|\
             sw/0-0:2 - sw/1-0:1|sw/1-0:2 - sw/2-0:1|sw/2-0:2 - sw/0-0:1|\
             sw/0-1:2 - sw/1-1:1|sw/1-1:2 - sw/2-1:1|sw/2-1:2 - sw/0-1:1|\
             sw/0-0:4 - sw/0-1:3|sw/1-0:4 - sw/1-1:3|sw/2-0:4 - sw/2-1:3|\
             sw/0-1:4 - sw/0-0:3|sw/1-1:4 - sw/1-0:3|sw/2-1:4 - sw/2-0:3",
        ),
        (
            json!({"fat_tree": {"ports": 4, "endpoints": 4}}),
            "leaf/0:0 - ep/0|leaf/0:1 - ep/1|leaf/1:0 - ep/2|leaf/1:1 - ep/3|\
             leaf/0:2 - spine:0|leaf/1:2 - spine:1|leaf/0:3 - spine:2|leaf/1:3 - spine:3",
        ),
        (
            json!({"xgft": {"down": [2, 2], "up": [1]}}),
            "level1/0:0 - ep/0|level1/0:1 - ep/1|level1/1:0 - ep/2|level1/1:1 - ep/3|\
             level1/0:2 - level2/0:0|level1/1:2 - level2/0:1",
        ),
        (
            json!({"dragonfly": {"groups": 3, "switches_per_group": 2, "endpoints_per_switch": 1}}),
            "g0/sw0:0 - ep/0|g0/sw1:0 - ep/1|g1/sw0:0 - ep/2|g1/sw1:0 - ep/3|g2/sw0:0 - ep/4|g2/sw1:0 - ep/5|\
             g0/sw0:1 - g0/sw1:1|g1/sw0:1 - g1/sw1:1|g2/sw0:1 - g2/sw1:1|\
             g0/sw0:2 - g1/sw1:2|g0/sw1:2 - g2/sw0:2|g1/sw0:2 - g2/sw1:2",
        ),
    ];
    for (topology, golden) in lists {
        let found = edges(&topology);
        let found = found.trim_end().replace('\n', "|").replace("spine/0:", "spine:");
        assert_eq!(found, golden, "{topology}");
    }
}

#[test]
fn three_level_tree_of_four_ports() {
    let list = edges(&json!({"fat_tree": {"levels": 3, "ports": 4, "endpoints": 16}}));
    let lines: BTreeSet<&str> = list.lines().collect();
    // 16 endpoint links, 4 pods x 2 leaves x 2 middles, 8 middles x 2 ups.
    assert_eq!(lines.len(), 16 + 16 + 16);
    for line in
        ["leaf/3:2 - middle/2:1", "leaf/3:3 - middle/3:1", "middle/2:2 - top/0:1", "middle/7:3 - top/3:3"]
    {
        assert!(lines.contains(line), "{line} is not in\n{list}");
    }
}

#[test]
fn multicast_reaches_every_member_once_and_next_hops_are_sets() {
    let mut value = scenario(json!({"mesh": {"size": [3, 3]}}));
    value["multicast"] = json!([{"name": "group", "members": ["ep/0", "ep/4", "ep/8"]}]);
    value["traffic"] = json!([
        {"name": "m", "from": "ep/2", "to": "group", "arrivals": {"poisson": {"load": 0.1}}}
    ]);
    let config = config(&value);
    assert!(check_next_hops(&config).is_empty());
    let wires = wires(&config);
    let id = config.id_space - 1;
    assert_eq!(config.owners[id as usize], NO_OWNER);
    // Follow a copy from every endpoint: each member but the sender gets exactly one.
    let endpoints: Vec<usize> = (0..config.devices.len())
        .filter(|&d| matches!(config.devices[d].model, DeviceModel::Endpoint(_)))
        .collect();
    for &source in &endpoints {
        let (_, switch, port) = wires[source][0].expect("a link");
        let mut open = vec![(switch, port)];
        let mut got: Vec<String> = Vec::new();
        while let Some((device, ingress)) = open.pop() {
            let DeviceModel::Switch(own) = &config.devices[device as usize].model else {
                got.push(config.devices[device as usize].path.clone());
                continue;
            };
            let Egress::Multicast(mask) = own.routes.entries[id as usize].egress else { panic!("no mask") };
            for out in own.routes.masks[usize::from(mask)].without(ingress).iter() {
                let (_, next, next_port) = wires[device as usize][usize::from(out)].expect("a link");
                open.push((next, next_port));
            }
        }
        got.sort();
        let own = &config.devices[source].path;
        let members: Vec<&str> = ["ep/0", "ep/4", "ep/8"].into_iter().filter(|m| m != own).collect();
        assert_eq!(got, members, "from {own}");
    }
}

/// Proves: VOQ-2.3-2
#[test]
fn forward_and_reverse_map_are_one_function() {
    for (staging, expected) in [
        (json!("per_port"), StagingConfig::PerPort),
        (json!({"modulo": 3}), StagingConfig::Modulo(3)),
        (json!({"table": [0, 0, 1, 1, 2, 2, 3, 3]}), StagingConfig::Table(vec![0, 0, 1, 1, 2, 2, 3, 3])),
    ] {
        let mut value = scenario(json!({"chain": {"switches": 3, "endpoints_per_switch": 2}}));
        value["voq"]["staging"] = staging;
        let config = config(&value);
        for device in &config.devices {
            // One map from next-hop port to queue serves both: the queue of a destination is the queue of its
            // next-hop port, and that port is the one in the neighbour's own table.
            let found = match &device.model {
                DeviceModel::Switch(switch) => &switch.staging,
                DeviceModel::Endpoint(endpoint) => &endpoint.staging,
            };
            assert_eq!(*found, expected);
        }
        assert!(check_next_hops(&config).is_empty());
    }
    // A table that does not cover the neighbour's ports would break the agreement: it is refused.
    let mut value = scenario(json!({"chain": {"switches": 3, "endpoints_per_switch": 2}}));
    value["voq"]["staging"] = json!({"table": [0, 1]});
    assert_eq!(load(&value.to_string(), "t.json", &[]).expect_err("too short").items[0].code, "SC033");
    // Entries for ports that no neighbour has are told. The switch in the middle has four ports; endpoints
    // beside others have neighbours of three, but the table is that of all devices.
    for (entries, told) in [(4, 0), (5, 1), (191, 1)] {
        value["voq"]["staging"] = json!({"table": vec![0; entries]});
        let plan = load(&value.to_string(), "t.json", &[]).expect("it is a warning");
        let found = plan.warnings.items.iter().filter(|item| item.code == "SC033");
        assert_eq!(found.count(), told, "{entries} entries");
    }
}

fn code(value: &Value) -> &'static str {
    load(&value.to_string(), "t.json", &[]).expect_err("an error").items[0].code
}

/// Proves: VOQ-3-1
/// Proves: VOQ-4.1-4
#[test]
fn messages_need_long_control_symbols() {
    let base = scenario(json!({"single_switch": {"ports": 4}}));
    let mut short = base.clone();
    short["links"] = json!({"rate": "3.125 Gbaud", "symbol": "short"});
    assert_eq!(code(&short), "SC034");
    let mut gen3 = base.clone();
    gen3["links"] = json!({"rate": "10.3125 Gbaud"});
    assert_eq!(code(&gen3), "SC035");
    // One short link is fine if nothing is generated on it, and then nothing is.
    let mut mixed = base;
    mixed["links"] = json!({"rate": "3.125 Gbaud"});
    mixed["overrides"] = json!([
        {"link": "sw:2", "links": {"symbol": "short"}},
        {"port": "sw:2", "voq": {"gen_en": false}}
    ]);
    let config = config(&mixed);
    for link in &config.links {
        for (device, port) in [link.a, link.b] {
            let voq = config.devices[device as usize].ports[usize::from(port)].voq;
            assert!(link.long_symbols || !voq.gen_en);
        }
    }
}

/// Proves: VOQ-3-2
#[test]
fn slow_links_may_run_long_symbols() {
    let mut value = scenario(json!({"single_switch": {"ports": 4}}));
    for rate in ["1.25 Gbaud", "2.5 Gbaud", "3.125 Gbaud"] {
        value["links"] = json!({"rate": rate, "symbol": "long"});
        let config = config(&value);
        assert!(config.links.iter().all(|link| link.long_symbols && link.symbol_chars == 8));
        assert!(config.devices.iter().any(|d| d.ports.iter().any(|p| p.voq.gen_en)));
    }
}

/// Proves: VOQ-5.1.2.2-3
#[test]
fn generation_is_enabled_only_towards_neighbours_that_receive() {
    let mut value = scenario(json!({"mesh": {"size": [2, 2], "endpoints_per_switch": 2}}));
    value["overrides"] = json!([
        {"devices": "ep/3", "endpoint": {"voq": {"rx_sup": false}}},
        {"devices": "ep/5", "endpoint": {"staging": "none"}},
        {"devices": "sw/1-1", "switch": {"voq": {"rx_sup": false}}}
    ]);
    let config = config(&value);
    let mut silent = 0;
    for link in &config.links {
        for ((device, port), (other, other_port)) in [(link.a, link.b), (link.b, link.a)] {
            let own = config.devices[device as usize].ports[usize::from(port)].voq;
            let neighbour = config.devices[other as usize].ports[usize::from(other_port)].voq;
            assert!(!own.gen_en || (own.gen_sup && neighbour.rx_sup));
            silent += u32::from(own.gen_sup && !own.gen_en);
        }
    }
    // ep/3, ep/5, and the two neighbours of sw/1-1.
    assert_eq!(silent, 4);
    value["overrides"][0] = json!({"port": "ep/3:0", "voq": {"gen_en": true}});
    assert_eq!(code(&value), "SC036");
}

/// GEN_EN is 0 after reset (Table 5-3), and software sets it later: ports that send nothing at first are no
/// mistake if a write lets them, nor is the loss of what they send then. At a port without such a write it
/// is.
#[test]
fn messages_may_begin_with_a_write() {
    let mut value = scenario(json!({"single_switch": {"ports": 3}}));
    value["overrides"] = json!([{"port": "sw:*", "voq": {"gen_en": false}}]);
    assert_eq!(code(&value), "SC037");
    value["voq"]["writes"] = json!([{"at": "1 us", "port": "sw:1", "gen_en": true}]);
    assert!(config(&value).devices.iter().all(|device| device.ports.iter().all(|port| !port.voq.gen_en)));
    let lost =
        |port: u8| json!({"lose_voq_symbols": [{"device": "sw", "port": port, "kind": "xoff", "nth": 1}]});
    value["faults"] = lost(1);
    config(&value);
    value["faults"] = lost(0);
    assert_eq!(code(&value), "SC063");
}

#[test]
fn disabled_means_nothing_of_it_is_left() {
    let mut value = scenario(json!({"single_switch": {"ports": 4}}));
    value["voq"]["enabled"] = json!(false);
    let config = config(&value);
    for device in &config.devices {
        assert!(device.ports.iter().all(|p| !p.voq.gen_en && !p.voq.part && !p.voq.xoff));
        match &device.model {
            DeviceModel::Switch(s) => {
                assert!(s.detector.is_none() && s.refresh.is_none() && s.staging == StagingConfig::None);
            }
            DeviceModel::Endpoint(e) => assert!(e.staging == StagingConfig::None && e.next_hop.is_empty()),
        }
    }
}

/// A scenario cannot ask for LINK_EN. (That no register takes it is a test of the registers.)
#[test]
fn linking_with_virtual_channels_cannot_be_enabled() {
    let mut value = scenario(json!({"single_switch": {"ports": 4}}));
    value["switch"] = json!({"voq": {"link_en": true}});
    assert_eq!(code(&value), "SC004");
}

/// Proves: VOQ-2.2-8
#[test]
fn an_endpoint_without_a_table_ignores_messages() {
    let mut value = scenario(json!({"single_switch": {"ports": 4}}));
    value["overrides"] = json!([{"devices": "ep/1", "endpoint": {"staging": "none"}}]);
    let config = config(&value);
    let endpoint = config.devices.iter().find(|d| d.path == "ep/1").expect("ep/1");
    let DeviceModel::Endpoint(own) = &endpoint.model else { panic!("an endpoint") };
    assert!(own.next_hop.is_empty() && !endpoint.ports[0].voq.rx_sup);
}

/// Proves: VOQ-2.2-7
#[test]
fn packets_that_end_in_the_neighbour_have_no_next_hop() {
    let config = config(&scenario(json!({"chain": {"switches": 2, "endpoints_per_switch": 2}})));
    let wires = wires(&config);
    for (d, device) in config.devices.iter().enumerate() {
        match &device.model {
            DeviceModel::Switch(switch) => {
                for route in switch.routes.entries.iter() {
                    let Egress::Port(port) = route.egress else { panic!("every id is reached") };
                    let (_, next, _) = wires[d][usize::from(port)].expect("a link");
                    let ends = matches!(config.devices[next as usize].model, DeviceModel::Endpoint(_));
                    assert_eq!(route.next_hop == NO_PORT, ends);
                }
            }
            DeviceModel::Endpoint(own) => assert_eq!(own.next_hop.len(), config.id_space as usize),
        }
    }
}

/// With a staging queue for several ports a message about one of them stops the others too, and so links can
/// wait for each other although their packets cannot. Whoever deadlocks that way was warned; with a queue for
/// each port, or verdicts by ingress port, nobody is warned and nobody deadlocks.
#[test]
fn queues_that_can_stop_each_other_are_warned_of_before_they_do() {
    let topologies = [
        json!({"single_switch": {"ports": 4}}),
        json!({"chain": {"switches": 2, "endpoints_per_switch": 3}}),
        json!({"chain": {"switches": 4, "endpoints_per_switch": 2}}),
        json!({"star": {"arms": 3, "endpoints_per_arm": 2}}),
        json!({"mesh": {"size": [2, 2], "endpoints_per_switch": 2}}),
        json!({"mesh": {"size": [3, 2], "endpoints_per_switch": 1}}),
        json!({"fat_tree": {"ports": 4, "endpoints": 8}}),
    ];
    let stagings = [json!("per_port"), json!({"modulo": 1}), json!({"modulo": 2}), json!({"modulo": 3})];
    let (mut deadlocks, mut warned, mut spared) = (0, 0, 0);
    for topology in &topologies {
        for staging in &stagings {
            for verdict in ["shared", "per_ingress"] {
                let mut value = scenario(topology.clone());
                value["switch"] = json!({"input": "voq", "buffering": "direct", "input_buffers": 16});
                value["voq"]["staging"] = staging.clone();
                value["voq"]["verdict"] = json!(verdict);
                value["voq"]["thresholds"] = json!({"on": 4, "off": 2});
                value["traffic"][0]["arrivals"] = json!({"poisson": {"load": 0.9}});
                value["run"] = json!({"until": "100 us", "warmup": "0 ps", "stall_after": "30 us"});
                let plan = plan(&value);
                let variant = &plan.variants[0];
                let warning = plan.warnings.items.iter().any(|item| item.code == "SC076");
                let cycle = stopping_cycle(&variant.config, &walk(&variant.config));
                assert_eq!(warning, cycle.is_some());
                let mut simulation = Simulation::new(Arc::clone(&variant.config), RunOptions::default(), ());
                let _ = simulation.run(variant.until, u64::MAX);
                let stalls = simulation.finish().1.stalls;
                assert!(warning || stalls.is_empty(), "{topology} {staging} {verdict}: {stalls:?}");
                let harmless = *staging == json!("per_port") || verdict == "per_ingress";
                assert!(!(warning && harmless), "{topology} {staging} {verdict}");
                deadlocks += usize::from(stalls.iter().any(|stall| stall.cycle));
                warned += usize::from(warning);
                spared += usize::from(!warning);
            }
        }
    }
    println!("{deadlocks} deadlocks in {warned} scenarios with a warning, none in {spared} without");
    assert!(deadlocks * 2 > warned && spared > 0);
}

/// Runs of 300 us of uniform traffic that never ends, with a seed each: whether `code` warns, and how many of
/// them end in a circle of packets that wait for each other.
fn circles(topology: &Value, switch: &Value, voq: &Value, code: &str) -> (bool, usize) {
    let mut value = scenario(topology.clone());
    value["switch"] = switch.clone();
    value["voq"] = voq.clone();
    value["traffic"][0]["arrivals"] = json!({"saturated": {"backlog": 16}});
    value["run"] = json!({"until": "300 us", "warmup": "0 ps", "stall_after": "50 us"});
    let run = |seed: &u64| {
        value["seed"] = json!(seed);
        let plan = plan(&value);
        let variant = &plan.variants[0];
        let warning = plan.warnings.items.iter().any(|item| item.code == code);
        let mut simulation = Simulation::new(Arc::clone(&variant.config), RunOptions::default(), ());
        let _ = simulation.run(variant.until, u64::MAX);
        (warning, simulation.finish().1.stalls.iter().any(|stall| stall.cycle))
    };
    let runs = [1, 2].each_ref().map(run);
    assert_eq!(runs[0].0, runs[1].0);
    (runs[0].0, runs.iter().filter(|run| run.1).count())
}

/// Packets that make a port congested may stand in a FIFO behind others that wait for the neighbour: where
/// they count, two switches can stop each other for ever although every port has a staging queue. Whoever
/// deadlocks that way was warned; with queues for each output, or a verdict for each input, nobody is warned
/// and nobody deadlocks.
#[test]
fn fifos_that_can_stop_each_other_are_warned_of_before_they_do() {
    let (mut deadlocks, mut warned) = (0, 0);
    for topology in [
        json!({"single_switch": {"ports": 4}}),
        json!({"chain": {"switches": 3, "endpoints_per_switch": 2}}),
        json!({"star": {"arms": 3, "endpoints_per_arm": 2}}),
        json!({"fat_tree": {"ports": 4, "endpoints": 8}}),
    ] {
        for (input, verdict) in [("fifo", "shared"), ("voq", "shared"), ("fifo", "per_ingress")] {
            for (packets, quota) in [(16, Some(1)), (2, None)] {
                let mut switch = json!({"input": input, "buffering": "crosspoint", "input_buffers": 8});
                switch["buffer_packets"] = json!(packets);
                if let Some(quota) = quota {
                    switch["queue_quota"] = json!(quota);
                }
                let thresholds = json!({"on": 2, "off": 0});
                let voq = json!({
                    "enabled": true, "staging": "per_port", "verdict": verdict, "thresholds": thresholds
                });
                let (warning, found) = circles(&topology, &switch, &voq, "SC076");
                assert!(warning || found == 0, "{topology} {switch} {voq}");
                let harmless =
                    topology.get("single_switch").is_some() || (input, verdict) != ("fifo", "shared");
                assert_ne!(warning, harmless, "{topology} {switch} {voq}");
                deadlocks += usize::from(found > 0);
                warned += usize::from(warning);
            }
        }
    }
    println!("{deadlocks} deadlocks in {warned} scenarios with a warning");
    assert!(deadlocks * 2 > warned);
}

/// Pools of two switches that are full of packets for each other are so for ever; the pool of one switch
/// empties into endpoints, and a buffer for each output is never full of what another one takes.
#[test]
fn pools_that_can_fill_for_each_other_are_warned_of_before_they_do() {
    let (mut deadlocks, mut warned) = (0, 0);
    for topology in [
        json!({"single_switch": {"ports": 4}}),
        json!({"chain": {"switches": 2, "endpoints_per_switch": 2}}),
        json!({"star": {"arms": 3, "endpoints_per_arm": 2}}),
    ] {
        for buffering in ["shared", "output"] {
            let switch = json!({"buffering": buffering, "input_buffers": 8, "buffer_packets": 4});
            let (warning, found) = circles(&topology, &switch, &json!({"enabled": false}), "SC122");
            assert!(warning || found == 0, "{topology} {switch}");
            assert_eq!(warning, topology.get("single_switch").is_none() && buffering == "shared");
            deadlocks += usize::from(found > 0);
            warned += usize::from(warning);
        }
    }
    assert_eq!((deadlocks, warned), (2, 2));
}

/// What a saturated flow of packets of 276 octets gets of a long link, in packets of the time of one, and
/// whether SC071 warns of it. `back`: as much comes the other way, which delays the symbols that tell of
/// free buffers.
fn long_link(width: &str, length: &str, buffers: u8, back: bool, priority: u8) -> (f64, bool) {
    let flow = |from: &str, to: &str| {
        json!({
            "name": format!("{from}-{to}"), "from": from, "to": to, "address_bits": 66, "priority": priority,
            "arrivals": {"saturated": {"backlog": 4}}
        })
    };
    let mut flows = vec![flow("ep/0", "ep/1")];
    flows.extend(back.then(|| flow("ep/1", "ep/0")));
    let plan = plan(&json!({
        "name": "t", "topology": {"single_switch": {"ports": 2}},
        "links": {"width": width, "length": "1 m"},
        "overrides": [
            {"link": "ep/0", "links": {"length": length}},
            {"devices": "sw", "switch": {"input_buffers": buffers}}
        ],
        "switch": {"input_buffers": 60},
        "endpoint": {"input_buffers": 60},
        "traffic": flows,
        "run": {"until": "1 ms", "warmup": "0 ps"}
    }));
    let warned = plan.warnings.items.iter().any(|item| item.code == "SC071");
    let config = &plan.variants[0].config;
    let link = config.links.iter().find(|link| link.propagation.0 > 10_000).expect("the long one");
    let packet = (276 + u64::from(link.symbol_chars)) as f64 * link.char_ps.0 as f64 / link.char_ps.1 as f64;
    let mut simulation = Simulation::new(Arc::clone(config), RunOptions::default(), ());
    while simulation.run(Time(1_000_000_000), u64::MAX) == Progress::Running {}
    let outcome = simulation.finish().1;
    let port = link.a.max(link.b);
    let (device, _) = if matches!(config.devices[port.0 as usize].model, DeviceModel::Switch(_)) {
        link.a.min(link.b)
    } else {
        port
    };
    let sent = outcome.ports.iter().find(|(d, _, _)| *d == device).expect("the endpoint").2.packets_sent;
    (sent as f64 * packet / 1e9, warned)
}

/// No credits run out at an end that nothing comes to: with four buffers at a source SC071 warns only if
/// somebody answers it, and a receiver that controls the flow itself has none.
#[test]
fn sc071_warns_of_directions_that_are_used() {
    let warned = |back: bool, control: &str| {
        let flow = |from: &str, to: &str| {
            json!({
                "name": from, "from": from, "to": to, "arrivals": {"poisson": {"load": 0.5}}
            })
        };
        let flows: Vec<Value> =
            [flow("ep/0", "ep/1")].into_iter().chain(back.then(|| flow("ep/1", "ep/0"))).collect();
        let plan = plan(&json!({
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "links": {"length": "1 m", "flow_control": control},
            "switch": {"input_buffers": 60}, "endpoint": {"input_buffers": 60},
            "overrides": [{"devices": "ep/0", "endpoint": {"input_buffers": 4}}],
            "traffic": flows, "run": {"until": "1 ms", "warmup": "0 ps"}
        }));
        plan.warnings.items.iter().any(|item| item.code == "SC071")
    };
    assert_eq!((warned(false, "transmitter"), warned(true, "transmitter")), (false, true));
    assert!(!warned(true, "receiver"));
}

/// ackIDs that run out are warned of, whoever controls the flow: W of them carry W T / (T + S + 2 L + P) of a
/// link (T: packet and delimiter, S: symbol, L: one way, P: pipeline of the switch that acknowledges). By
/// hand: 8 octets make a packet of 20, which takes 11.2 ns with its delimiter, and 3.2 ns a symbol; so 63
/// ackIDs last for 659.2 ns more, of which 100 ns are the pipeline and 559.2 ns are 55 m with the 30 ns of
/// transceivers.
#[test]
fn sc071_warns_where_ackids_run_out() {
    let run = |length: u64, size: u32| -> (f64, bool) {
        let plan = plan(&json!({
            "name": "t", "topology": {"single_switch": {"ports": 2}},
            "links": {"length": format!("{length} m"), "flow_control": "receiver"},
            "switch": {"input_buffers": 60}, "endpoint": {"input_buffers": 60},
            "traffic": [{
                "name": "x", "from": "ep/0", "to": "ep/1", "size": size, "arrivals": {"saturated": {}}
            }],
            "run": {"until": "200 us", "warmup": "0 ps"}
        }));
        let warned = plan.warnings.items.iter().any(|item| item.code == "SC071");
        let config = &plan.variants[0].config;
        let mut simulation = Simulation::new(Arc::clone(config), RunOptions::default(), ());
        while simulation.run(Time(200_000_000), u64::MAX) == Progress::Running {}
        let outcome = simulation.finish().1;
        let busiest = outcome.ports.iter().map(|port| port.2.packet_ps).max().expect("there are ports");
        (busiest as f64 / 200_000_000.0, warned)
    };
    let law = |length: u64, size: u32| -> f64 {
        let (packet, symbol) = (f64::from(size + 12 + 8) * 0.4, 3.2);
        63.0 * packet / (packet + symbol + 2.0 * (30.0 + 5.0 * length as f64) + 100.0)
    };
    for (size, lengths) in [(8, [40, 50, 60, 90, 150]), (64, [150, 200, 210, 250, 300])] {
        for length in lengths {
            let ((used, warned), law) = (run(length, size), law(length, size));
            println!("{size} octets, {length} m: {used}, law {law}, warned: {warned}");
            assert_eq!(warned, law < 1.0, "{size} octets, {length} m");
            assert!(
                (used / law.min(1.0) - 1.0).abs() < 0.005,
                "{size} octets, {length} m: {used}, law {law}"
            );
        }
    }
}

/// SC071 warns of buffers that idle a link, and of no others: at the smallest count without a warning the
/// link is used fully, whatever comes the other way; with two buffers fewer (one of which that traffic
/// would need) it idles.
#[test]
fn sc071_warns_of_links_that_idle_and_of_no_others() {
    for (width, length) in [("4x", "10 m"), ("4x", "50 m"), ("16x", "10 m"), ("2x", "80 m"), ("1x", "1 m")] {
        let needed = (4..60).find(|&buffers| !long_link(width, length, buffers, false, 0).1);
        let needed = needed.expect("some count is enough");
        for back in [false, true] {
            let (used, _) = long_link(width, length, needed, back, 0);
            // What is not used: the first packet's way, and symbols that tell of what came the other way.
            let symbols = if back { 1.0 / 36.0 } else { 0.0 };
            assert!(used > 0.998 - symbols, "{width}, {length}, {needed} buffers, back {back}: {used}");
        }
        let (used, warned) = long_link(width, length, needed - 2, false, 0);
        assert!(warned && used < 0.99, "{width}, {length}, {} buffers: {used}", needed - 2);
    }
}

/// Packets of a priority have the buffers above its watermark, and that one: with watermarks 4, 3, 2 the
/// link needs 3, 2, 1 and 0 more than it does for packets that may use all. SC071 speaks of the priority
/// that sends, and at its count the link is used fully.
#[test]
fn sc071_speaks_of_the_priority_that_sends() {
    let needed = |priority: u8| {
        let enough = (4..60).find(|&buffers| !long_link("4x", "50 m", buffers, false, priority).1);
        enough.expect("some count is enough")
    };
    let all = [0, 1, 2, 3].map(needed);
    assert_eq!(all.map(|needed| needed - all[3]), [3, 2, 1, 0]);
    let (used, _) = long_link("4x", "50 m", all[3], false, 3);
    assert!(used > 0.998, "{} buffers: {used}", all[3]);
    let (used, _) = long_link("4x", "50 m", all[3] - 2, false, 3);
    assert!(used < 0.99, "{} buffers: {used}", all[3] - 2);
}

/// Whose buffers are few is said of the packets that go over the link: of those that its endpoint sends, or
/// is sent, and between switches of anybody's.
#[test]
fn sc071_asks_who_sends_over_a_link() {
    let told = |short: Value, priorities: [u8; 2]| {
        let flow = |from: &str, to: &str, priority: u8| {
            json!({
                "name": from, "from": from, "to": to, "priority": priority,
                "arrivals": {"poisson": {"load": 0.3}}
            })
        };
        let [one, other] = priorities;
        let plan = plan(&json!({
            "name": "t", "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}},
            "links": {"length": "50 m"},
            "switch": {"input_buffers": 60}, "endpoint": {"input_buffers": 60}, "overrides": [short],
            "traffic": [flow("ep/0", "ep/2", one), flow("ep/1", "ep/3", other)],
            "run": {"until": "1 ms", "warmup": "0 ps"}
        }));
        let found = plan.warnings.items.iter().find(|item| item.code == "SC071");
        let message = found.map(|item| item.message.clone()).unwrap_or_default();
        let priority = message.split_once("packets of priority ").map(|(_, rest)| rest[..1].to_owned());
        priority.unwrap_or_default()
    };
    let sink = |name: &str| json!({"devices": name, "endpoint": {"input_buffers": 4}});
    assert_eq!(told(sink("ep/2"), [3, 1]), "3");
    assert_eq!(told(sink("ep/3"), [3, 1]), "1");
    // The links between switches carry both, those of their endpoints one each.
    let switches = json!({"devices": "sw/1", "switch": {"input_buffers": 5}});
    assert_eq!(told(switches, [3, 1]), "1");
}
