//! Tables in blocks, and ids that are followed together, come to the same as entry by entry and id by id.

use super::fabric::{config, instances, scenario};
use models::config::*;
use models::sim_core::{Purpose, Stream};
use scenarios::fabric::{Fate, channel_cycle, walk, walk_on, wires};
use scenarios::{check_next_hops, next_hops};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

fn entries(config: &FabricConfig, device: u32) -> Option<&IdTable<Route>> {
    match &config.devices[device as usize].model {
        DeviceModel::Switch(switch) => Some(&switch.routes.entries),
        DeviceModel::Endpoint(_) => None,
    }
}

type Turns = BTreeSet<(u32, u8, u8)>;

/// Follows each id from each switch with endpoints, alone, without remembering anything.
fn one_by_one(config: &FabricConfig) -> (BTreeMap<(u32, u32), Fate>, Turns) {
    let wires = wires(config);
    let is_switch = |device: u32| entries(config, device).is_some();
    let (mut lost, mut turns) = (BTreeMap::new(), Turns::new());
    for entry in (0..config.devices.len() as u32).filter(|&device| is_switch(device)) {
        if wires[entry as usize].iter().flatten().all(|&(_, other, _)| is_switch(other)) {
            continue;
        }
        for id in (0..config.id_space).filter(|&id| config.owners[id as usize] != NO_OWNER) {
            let (mut at, mut ingress, mut way) = (entry, None, Vec::new());
            let fate = loop {
                let Some(table) = entries(config, at) else {
                    break (config.owners[id as usize] != at).then_some(Fate::Astray(at));
                };
                let port = match table[id as usize].egress {
                    Egress::Port(port) => port,
                    _ => break Some(Fate::Dropped(at)),
                };
                let Some((_, next, input)) = wires[at as usize][usize::from(port)] else {
                    break Some(Fate::Dropped(at));
                };
                if let (Some(ingress), true) = (ingress, is_switch(next)) {
                    turns.insert((at, ingress, port));
                }
                if let Some(start) = way.iter().position(|&device| device == at) {
                    break Some(Fate::Loop(way[start..].to_vec()));
                }
                way.push(at);
                (at, ingress) = (next, Some(input));
            };
            if let Some(fate) = fate {
                lost.insert((id, entry), turned(&fate));
            }
        }
    }
    (lost, turns)
}

/// A loop begins anywhere: it is named from its first switch.
fn turned(fate: &Fate) -> Fate {
    let Fate::Loop(way) = fate else { return fate.clone() };
    let first = (0..way.len()).min_by_key(|&place| way[place]).expect("a loop has a switch");
    Fate::Loop([&way[first..], &way[..first]].concat())
}

/// Whether links wait for each other in a circle: what waits for nobody is taken away until nothing changes.
fn in_circles(config: &FabricConfig, turns: &Turns) -> bool {
    let wires = wires(config);
    let mut left: BTreeSet<((u32, u8), (u32, u8))> = turns
        .iter()
        .map(|&(device, input, output)| {
            let (_, next, entered) = wires[device as usize][usize::from(output)].expect("a link");
            ((device, input), (next, entered))
        })
        .collect();
    loop {
        let waiting: BTreeSet<(u32, u8)> = left.iter().map(|(from, _)| *from).collect();
        let before = left.len();
        left.retain(|(_, to)| waiting.contains(to));
        if left.len() == before {
            return before > 0;
        }
    }
}

/// Every generator, with some entries changed by lot: lost ids, loops, ids that end elsewhere.
#[test]
fn together_is_one_by_one() {
    let mut lot = Stream::new(7, "walks", Purpose::ARBITRATION);
    let (mut kinds, mut circles, mut clean) = ([0; 3], 0, 0);
    // One with more than a block of ids behind a port.
    let long = json!({"chain": {"switches": 5, "endpoints_per_switch": 40}});
    for topology in instances().into_iter().chain([long]) {
        let good = config(&scenario(topology.clone()));
        if good.devices.len() > 300 {
            continue;
        }
        for changes in [0, 1, 3, 20] {
            let mut config = good.clone();
            for _ in 0..changes {
                let device = lot.below(config.devices.len() as u64) as usize;
                let ports = config.devices[device].ports.len() as u64;
                let DeviceModel::Switch(switch) = &mut config.devices[device].model else { continue };
                let id = lot.below(switch.routes.entries.len() as u64) as usize;
                let port = lot.below(ports + 1);
                switch.routes.entries[id].egress =
                    if port == ports { Egress::Drop } else { Egress::Port(port as u8) };
                switch.routes.entries[id].next_hop = NO_PORT;
            }
            next_hops(&mut config);
            second_level(&config);
            let (lost, turns) = one_by_one(&config);
            let found = walk(&config);
            for threads in [2, 5] {
                assert!(walk_on(&config, threads) == found, "{topology}: {threads} threads");
            }
            let named: BTreeMap<(u32, u32), Fate> =
                found.lost.iter().map(|(&at, f)| (at, turned(f))).collect();
            assert_eq!(named, lost, "{topology}");
            let mut known = Turns::new();
            for (device, inputs) in (0..).zip(&found.turns) {
                for (input, outputs) in (0..).zip(inputs) {
                    known.extend(outputs.iter().map(|p| (device, input, p)));
                }
            }
            assert_eq!(known, turns, "{topology}");
            assert_eq!(channel_cycle(&config, &found).is_some(), in_circles(&config, &turns), "{topology}");
            circles += u32::from(in_circles(&config, &turns));
            clean += u32::from(lost.is_empty());
            for fate in lost.values() {
                kinds[match fate {
                    Fate::Dropped(_) => 0,
                    Fate::Loop(_) => 1,
                    Fate::Astray(_) => 2,
                }] += 1;
            }
        }
    }
    assert!(kinds.iter().all(|&n| n > 20) && circles > 5 && clean > 20, "{kinds:?}, {circles}, {clean}");
}

/// The second level, entry by entry, of switches and of endpoints.
fn second_level(config: &FabricConfig) {
    let wires = wires(config);
    let egress = |device: u32, id: usize| match entries(config, device).map(|table| table[id].egress) {
        Some(Egress::Port(port)) => port,
        _ => NO_PORT,
    };
    assert!(check_next_hops(config).is_empty());
    for (device, ports) in (0..).zip(&wires) {
        for id in 0..config.id_space as usize {
            let (found, law) = match &config.devices[device as usize].model {
                DeviceModel::Switch(switch) => {
                    let next = ports.get(usize::from(egress(device, id))).copied().flatten();
                    (
                        switch.routes.entries[id].next_hop,
                        next.map_or(NO_PORT, |(_, next, _)| egress(next, id)),
                    )
                }
                DeviceModel::Endpoint(own) if own.next_hop.is_empty() => continue,
                DeviceModel::Endpoint(own) => {
                    (own.next_hop[id], ports[0].map_or(NO_PORT, |(_, next, _)| egress(next, id)))
                }
            };
            assert_eq!(found, law, "{}: id {id}", config.devices[device as usize].path);
        }
    }
}

/// A tree of 4 096 endpoints has 640 switches with 64 blocks each: 4 leaves with 16 endpoints are in a block.
/// Leaves: 4 blocks for other pods, 4 for their own, and 16 with the leaf itself, at 4 places of 4 blocks.
/// Middle switches: 4 for their own pod, 4 for each of 16 others, since the top switch goes on to
/// the pod. Top switches: 4 for each pod.
#[test]
fn large_tables_share_their_blocks() {
    let config = config(&scenario(json!({"fat_tree": {"levels": 3, "ports": 32, "endpoints": 4_096}})));
    let mut blocks = BlockNumbers::default();
    let tables = (0..config.devices.len() as u32).filter_map(|device| entries(&config, device));
    let all: usize = tables.map(|table| blocks.of(table, &[]).len()).sum();
    assert_eq!((all, blocks.distinct.len()), (640 * 64, (4 + 4 + 16) + (4 + 4 * 16) + 4 * 16));
}
