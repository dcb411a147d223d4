//! Default routing: which port of every switch leads to every endpoint.

use crate::topology::{Graph, Shape, Tree};
use models::config::NO_PORT;
use std::collections::{BTreeMap, VecDeque};

/// Which port of a switch leads to each endpoint: the function fills in a row of ports, or [`NO_PORT`], by
/// position in [`Graph::endpoints`]. Rows are not kept: a large fabric has hundreds of millions of entries.
pub type Tables = Box<dyn Fn(usize, &mut [u8])>;

/// (link, neighbour, port of the neighbour) of every port of every device.
pub type Neighbours = [Vec<Option<(usize, usize, u8)>>];

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
pub fn none() -> Tables {
    Box::new(|_, row| row.fill(NO_PORT))
}

/// Way of a switch to the endpoints that hang on it: for each of them another port.
const HERE: u8 = 0xFE;

/// Tables by the switch on which endpoints hang: all of them are reached the same way.
struct Ways {
    /// Leaf, by number, and port there; by endpoint.
    hosts: Vec<Option<(usize, u8)>>,
    /// Port by leaf, of every switch.
    ways: Vec<Vec<u8>>,
}

impl Ways {
    /// `to`: fills in the port of every switch that leads to this one.
    fn new(graph: &Graph, neighbours: &Neighbours, mut to: impl FnMut(usize, &mut [u8])) -> Self {
        let leaves = attached(graph, neighbours);
        let mut hosts = vec![None; graph.endpoints.len()];
        let of = |d| if graph.is_switch(d) { vec![NO_PORT; leaves.len()] } else { Vec::new() };
        let mut ways: Vec<Vec<u8>> = (0..graph.nodes.len()).map(of).collect();
        let mut ports = vec![NO_PORT; graph.nodes.len()];
        for (number, (target, own)) in leaves.into_iter().enumerate() {
            own.into_iter().for_each(|(position, port)| hosts[position] = Some((number, port)));
            ports.fill(NO_PORT);
            to(target, &mut ports);
            ports[target] = HERE;
            ways.iter_mut().zip(&ports).for_each(|(ways, port)| {
                if let Some(way) = ways.get_mut(number) {
                    *way = *port;
                }
            });
        }
        Ways { hosts, ways }
    }

    fn tables(self) -> Tables {
        Box::new(move |switch, row| {
            let ways = &self.ways[switch];
            for (port, host) in row.iter_mut().zip(&self.hosts) {
                *port =
                    host.map_or(NO_PORT, |(leaf, last)| if ways[leaf] == HERE { last } else { ways[leaf] });
            }
        })
    }
}

/// Fewest hops; among equals the lowest port.
pub fn shortest(graph: &Graph, neighbours: &Neighbours) -> Tables {
    let ways = Ways::new(graph, neighbours, |target, ports| {
        let distance = distances(graph, neighbours, target, |_, _| true);
        for switch in (0..graph.nodes.len()).filter(|&d| graph.is_switch(d) && d != target) {
            ports[switch] = nearest(neighbours, switch, &distance).unwrap_or(NO_PORT);
        }
    });
    ways.tables()
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
    let ways = Ways::new(graph, neighbours, |target, port_to| {
        let down = distances(graph, neighbours, target, higher);
        let mut total = down.clone();
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
    });
    ways.tables()
}

/// X first, then Y, then Z.
pub fn dimension_order(graph: &Graph, neighbours: &Neighbours) -> Option<Tables> {
    let Shape::Grid { torus: false, at, first, .. } = &graph.shape else { return None };
    let ways = Ways::new(graph, neighbours, |target, ports| {
        let goal = &at[&target];
        for (&switch, here) in at {
            let turn = here.iter().zip(goal).position(|(x, y)| x != y);
            ports[switch] = turn.map_or(NO_PORT, |d| first + 2 * d as u8 + u8::from(goal[d] > here[d]));
        }
    });
    Some(ways.tables())
}

/// Up by destination modulo over all up links, until the destination is below; then down. Among parallel
/// links a destination comes down on the one that corresponds to its way up.
pub fn fat_tree(graph: &Graph, neighbours: &Neighbours) -> Option<Tables> {
    let Shape::FatTree(tree) = &graph.shape else { return None };
    let wired = graph.endpoints.iter().all(|&endpoint| neighbours[endpoint][0].is_some());
    let routes = TreeRoutes::new(graph, neighbours, tree);
    wired.then(|| -> Tables { Box::new(move |switch, row| routes.row(switch, row)) })
}

/// What the tables of a tree are made of.
struct TreeRoutes {
    /// Leaves, and the endpoints at each: position and port.
    leaves: Vec<(usize, Vec<(usize, u8)>)>,
    /// By level: of how many up links, and which of them each endpoint takes.
    choices: Vec<(usize, Vec<u8>)>,
    levels: BTreeMap<usize, TreeSwitch>,
}

/// A switch of a tree.
#[derive(Default)]
struct TreeSwitch {
    level: usize,
    ups: Vec<u8>,
    /// (leaf, down port) in the order of leaves, then of ports.
    below: Vec<(usize, u8)>,
}

impl TreeRoutes {
    fn new(graph: &Graph, neighbours: &Neighbours, tree: &Tree) -> Self {
        let mut levels: BTreeMap<usize, TreeSwitch> = BTreeMap::new();
        let mut by_level: Vec<(u32, usize)> = tree.level.iter().map(|(&s, &level)| (level, s)).collect();
        by_level.sort_unstable();
        for (level, switch) in by_level {
            let mut own = TreeSwitch { level: level as usize, ..TreeSwitch::default() };
            for port in 0..graph.ports(switch) {
                let Some((_, other, _)) = neighbours[switch][usize::from(port)] else { continue };
                match tree.level.get(&other) {
                    Some(0) if level == 1 => own.below.push((other, port)),
                    Some(&l) if l > level => own.ups.push(port),
                    Some(&l) if l + 1 == level => {
                        let mut leaves: Vec<usize> =
                            levels[&other].below.iter().map(|(leaf, _)| *leaf).collect();
                        leaves.dedup();
                        own.below.extend(leaves.into_iter().map(|leaf| (leaf, port)));
                    }
                    _ => {}
                }
            }
            own.below.sort_unstable();
            levels.insert(switch, own);
        }
        let top = tree.level.values().copied().max().unwrap_or(0);
        let choice = |level: u32| {
            let of = |endpoint: &usize| up_choice(tree, tree.rank[endpoint], level).0 as u8;
            (up_choice(tree, 0, level).1, graph.endpoints.iter().map(of).collect())
        };
        TreeRoutes {
            leaves: attached(graph, neighbours).into_iter().collect(),
            choices: (0..=top).map(choice).collect(),
            levels,
        }
    }

    /// The ports of one switch.
    fn row(&self, switch: usize, row: &mut [u8]) {
        let own = &self.levels[&switch];
        let (of, up) = &self.choices[own.level];
        let ups: Vec<u8> = (0..*of)
            .map(|choice| own.ups.get(choice % own.ups.len().max(1)).copied().unwrap_or(NO_PORT))
            .collect();
        let mut below = own.below.chunk_by(|a, b| a.0 == b.0).peekable();
        for (leaf, hosts) in &self.leaves {
            if *leaf == switch {
                hosts.iter().for_each(|&(position, last)| row[position] = last);
            } else if let Some(ports) = below.next_if(|ports| ports[0].0 == *leaf) {
                let (ways, down) = &self.choices[own.level - 1];
                let share = (ways / ports.len()).max(1);
                for &(position, _) in hosts {
                    row[position] = ports[usize::from(down[position]) / share % ports.len()].1;
                }
            } else {
                hosts.iter().for_each(|&(position, _)| row[position] = ups[usize::from(up[position])]);
            }
        }
    }
}

/// Up link that a destination takes at a level, and of how many: a digit of its number, each level a base.
fn up_choice(tree: &Tree, rank: u32, level: u32) -> (usize, usize) {
    let mut ways = tree.up.iter().copied();
    let below = ways.by_ref().take(level as usize).fold(1, u32::saturating_mul);
    let own = ways.next().unwrap_or(1);
    ((rank / below % own) as usize, own as usize)
}
