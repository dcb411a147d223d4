//! Default routing: which port of every switch leads to every endpoint.

use crate::topology::{Graph, Shape, Tree};
use models::config::NO_PORT;
use std::collections::{BTreeMap, VecDeque};

/// `tables[device][position of the endpoint in Graph::endpoints]` = port or [`NO_PORT`]; empty for endpoints.
pub type Tables = Vec<Vec<u8>>;

/// (link, neighbour, port of the neighbour) of every port of every device.
pub type Neighbours = [Vec<Option<(usize, usize, u8)>>];

fn empty(graph: &Graph) -> Tables {
    let n = graph.endpoints.len();
    (0..graph.nodes.len()).map(|d| if graph.is_switch(d) { vec![NO_PORT; n] } else { Vec::new() }).collect()
}

/// Endpoints by the switch they hang on: switch -> [(position, port of the switch)].
fn attached(graph: &Graph, neighbours: &Neighbours) -> BTreeMap<usize, Vec<(usize, u8)>> {
    let mut by_switch: BTreeMap<usize, Vec<(usize, u8)>> = BTreeMap::new();
    for (position, &endpoint) in graph.endpoints.iter().enumerate() {
        if let Some((_, switch, port)) = neighbours[endpoint][0]
            && graph.is_switch(switch)
        {
            by_switch.entry(switch).or_default().push((position, port));
        }
    }
    by_switch
}

/// Tables without any entry.
pub fn none(graph: &Graph) -> Tables {
    empty(graph)
}

/// Fewest hops; among equals the lowest port.
pub fn shortest(graph: &Graph, neighbours: &Neighbours) -> Tables {
    let mut tables = empty(graph);
    for (target, hosts) in attached(graph, neighbours) {
        let distance = distances(graph, neighbours, target, |_, _| true);
        for switch in (0..graph.nodes.len()).filter(|&d| graph.is_switch(d)) {
            let port = if switch == target { None } else { nearest(neighbours, switch, &distance) };
            for &(position, last) in &hosts {
                tables[switch][position] = if switch == target { last } else { port.unwrap_or(NO_PORT) };
            }
        }
    }
    tables
}

/// Lowest port of `switch` to a neighbour that is one hop nearer.
fn nearest(neighbours: &Neighbours, switch: usize, distance: &[u32]) -> Option<u8> {
    let own = distance[switch];
    let nearer = |link: &Option<(usize, usize, u8)>| {
        link.is_some_and(|(_, other, _)| own != u32::MAX && distance[other].checked_add(1) == Some(own))
    };
    neighbours[switch].iter().position(nearer).map(|port| port as u8)
}

/// Hops from every switch to `target` over switches, on steps `from -> to` that `allowed` admits.
fn distances(
    graph: &Graph,
    neighbours: &Neighbours,
    target: usize,
    allowed: impl Fn(usize, usize) -> bool,
) -> Vec<u32> {
    let mut distance = vec![u32::MAX; graph.nodes.len()];
    distance[target] = 0;
    let mut queue = VecDeque::from([target]);
    while let Some(to) = queue.pop_front() {
        for &(_, from, _) in neighbours[to].iter().flatten() {
            if graph.is_switch(from) && distance[from] == u32::MAX && allowed(from, to) {
                distance[from] = distance[to] + 1;
                queue.push_back(from);
            }
        }
    }
    distance
}

/// Up towards `root`, then down. A switch that can reach the target by down steps alone does so, so no packet
/// goes up after it went down; every cycle of links would need such a turn. The table depends on the
/// destination only, as RapidIO tables do.
pub fn up_down(graph: &Graph, neighbours: &Neighbours, root: usize) -> Tables {
    let level = distances(graph, neighbours, root, |_, _| true);
    // A total order: nearer to the root is higher, ties by index.
    let higher = |x: usize, y: usize| (level[x], x) < (level[y], y);
    let mut by_height: Vec<usize> = (0..graph.nodes.len()).filter(|&d| graph.is_switch(d)).collect();
    by_height.sort_by_key(|&d| (level[d], d));
    let mut tables = empty(graph);
    for (target, hosts) in attached(graph, neighbours) {
        let down = distances(graph, neighbours, target, higher);
        let mut total = down.clone();
        let mut port_to = vec![NO_PORT; graph.nodes.len()];
        // From the top downwards: every higher neighbour has its final distance already.
        for &switch in &by_height {
            let mut best = u32::MAX;
            for (port, link) in neighbours[switch].iter().enumerate() {
                let Some((_, other, _)) = *link else { continue };
                if !graph.is_switch(other) || other == switch {
                    continue;
                }
                let going_down = down[switch] != u32::MAX;
                let via = if going_down {
                    if higher(switch, other) { down[other] } else { u32::MAX }
                } else if higher(other, switch) {
                    total[other]
                } else {
                    u32::MAX
                };
                if via < best {
                    best = via;
                    port_to[switch] = port as u8;
                }
            }
            if down[switch] == u32::MAX && best != u32::MAX {
                total[switch] = best + 1;
            }
        }
        for &switch in &by_height {
            for &(position, last) in &hosts {
                tables[switch][position] = if switch == target { last } else { port_to[switch] };
            }
        }
    }
    tables
}

/// X first, then Y, then Z.
pub fn dimension_order(graph: &Graph, neighbours: &Neighbours) -> Option<Tables> {
    let Shape::Grid { torus: false, at, first, .. } = &graph.shape else { return None };
    let mut tables = empty(graph);
    for (target, hosts) in attached(graph, neighbours) {
        let goal = &at[&target];
        for (&switch, here) in at {
            let turn = here.iter().zip(goal).position(|(x, y)| x != y);
            let port = turn.map(|d| first + 2 * d as u8 + u8::from(goal[d] > here[d]));
            for &(position, last) in &hosts {
                tables[switch][position] = port.unwrap_or(last);
            }
        }
    }
    Some(tables)
}

/// Up by destination modulo over all up links, until the destination is below; then down. Among parallel
/// links a destination comes down on the one that corresponds to its way up.
pub fn fat_tree(graph: &Graph, neighbours: &Neighbours) -> Option<Tables> {
    let Shape::FatTree(tree) = &graph.shape else { return None };
    let below = below(graph, neighbours, tree);
    let leaf_of = |endpoint: usize| neighbours[endpoint][0].map(|(_, leaf, port)| (leaf, port));
    let mut tables = empty(graph);
    for (&switch, &level) in &tree.level {
        let ups: Vec<u8> = (0..graph.ports(switch))
            .filter(|&port| {
                neighbours[switch][usize::from(port)]
                    .is_some_and(|(_, other, _)| tree.level.get(&other).is_some_and(|&l| l > level))
            })
            .collect();
        for (position, &endpoint) in graph.endpoints.iter().enumerate() {
            let (leaf, last) = leaf_of(endpoint)?;
            let rank = tree.rank[&endpoint];
            tables[switch][position] = if leaf == switch {
                last
            } else if let Some(ports) = below[&switch].get(&leaf) {
                let (choice, ups) = up_choice(tree, rank, level - 1);
                ports[choice / (ups / ports.len()).max(1) % ports.len()]
            } else {
                let (choice, _) = up_choice(tree, rank, level);
                ups.get(choice % ups.len().max(1)).copied().unwrap_or(NO_PORT)
            };
        }
    }
    Some(tables)
}

/// Up link that a destination takes at a level, and of how many: a digit of its number, each level a base.
fn up_choice(tree: &Tree, rank: u32, level: u32) -> (usize, usize) {
    let mut ways = tree.up.iter().copied();
    let below = ways.by_ref().take(level as usize).fold(1, u32::saturating_mul);
    let own = ways.next().unwrap_or(1);
    ((rank / below % own) as usize, own as usize)
}

/// For every switch the down ports that lead to each leaf below it.
fn below(graph: &Graph, neighbours: &Neighbours, tree: &Tree) -> BTreeMap<usize, BTreeMap<usize, Vec<u8>>> {
    let mut below: BTreeMap<usize, BTreeMap<usize, Vec<u8>>> = BTreeMap::new();
    let top = tree.level.values().copied().max().unwrap_or(0);
    for level in 0..=top {
        for &switch in tree.level.iter().filter(|(_, l)| **l == level).map(|(switch, _)| switch) {
            let mut leaves: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
            for port in 0..graph.ports(switch) {
                let Some((_, other, _)) = neighbours[switch][usize::from(port)] else { continue };
                match tree.level.get(&other) {
                    Some(0) if level == 1 => leaves.entry(other).or_default().push(port),
                    Some(&l) if l + 1 == level => {
                        for &leaf in below[&other].keys() {
                            leaves.entry(leaf).or_default().push(port);
                        }
                    }
                    _ => {}
                }
            }
            below.insert(switch, leaves);
        }
    }
    below
}
