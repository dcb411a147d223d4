//! Where devices are drawn: grids of switches with their endpoints around them, everything else in levels
//! above the endpoints.

use super::modules::{Module, modules};
use models::config::{DeviceModel, FabricConfig};
use std::collections::{BTreeMap, VecDeque};

/// Devices beyond which endpoints are drawn together, and switches as well.
pub(super) const DEVICES_MAX: usize = 700;
/// Groups of a level, if its devices are drawn together.
const GROUPS_MAX: usize = 48;

/// A thing in the drawing: one device, or several that are drawn as one.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// What it is called.
    pub name: String,
    /// The devices.
    pub devices: Vec<u32>,
    pub is_switch: bool,
    pub x: f64,
    pub y: f64,
}

/// A line: one link, or several between two groups.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub from: usize,
    pub to: usize,
    /// The links, by index.
    pub links: Vec<u32>,
    /// How far it bends aside, because others lie between the same two, or a device lies on the way.
    pub bend: f64,
}

/// A module or a chassis.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub name: String,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// A drawing.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub nodes: Vec<Node>,
    pub lines: Vec<Line>,
    /// Outer ones first.
    pub frames: Vec<Frame>,
    /// The node of each device.
    pub of: Vec<usize>,
    pub width: f64,
    pub height: f64,
    /// Devices are drawn together.
    pub grouped: bool,
}

fn is_switch(config: &FabricConfig, device: usize) -> bool {
    matches!(config.devices[device].model, DeviceModel::Switch(_))
}

/// `sw/2-1` as [2, 1, 0].
fn coordinates(name: &str) -> Option<[u32; 3]> {
    let rest = name.strip_prefix("sw/")?;
    let mut at = [0; 3];
    let parts: Vec<&str> = rest.split('-').collect();
    if !(2..=3).contains(&parts.len()) {
        return None;
    }
    for (slot, part) in at.iter_mut().zip(parts) {
        *slot = part.parse().ok()?;
    }
    Some(at)
}

impl Layout {
    pub fn new(config: &FabricConfig) -> Self {
        let levels = levels(config);
        let (of, mut nodes) = groups(config, &levels);
        let grid: Option<Vec<[u32; 3]>> = (0..config.devices.len())
            .filter(|device| is_switch(config, *device))
            .map(|device| coordinates(&config.devices[device].path))
            .collect();
        let whole = nodes.len() == config.devices.len();
        let modules = if whole { modules(config) } else { Vec::new() };
        let (width, height) = match grid.filter(|grid| whole && grid.len() > 1) {
            Some(_) => place_grid(config, &mut nodes),
            None if modules.is_empty() => place_levels(config, &levels, &of, &mut nodes),
            None => place_modules(&levels, &modules, &mut nodes),
        };
        let frames = modules.iter().map(|module| frame(module, &modules, &of, &nodes)).collect();
        let lines = lines(config, &of, &nodes, whole);
        Self { nodes, lines, frames, of, width, height, grouped: !whole }
    }
}

/// How far each device is from the nearest endpoint.
fn levels(config: &FabricConfig) -> Vec<usize> {
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); config.devices.len()];
    for link in &config.links {
        next[link.a.0 as usize].push(link.b.0);
        next[link.b.0 as usize].push(link.a.0);
    }
    let mut level = vec![usize::MAX; config.devices.len()];
    let mut queue: VecDeque<usize> =
        (0..config.devices.len()).filter(|device| !is_switch(config, *device)).collect();
    queue.iter().for_each(|device| level[*device] = 0);
    while let Some(device) = queue.pop_front() {
        for &other in &next[device] {
            if level[other as usize] == usize::MAX {
                level[other as usize] = level[device] + 1;
                queue.push_back(other as usize);
            }
        }
    }
    // a switch without any way to an endpoint stands with those that have one
    level.into_iter().map(|level| if level == usize::MAX { 1 } else { level }).collect()
}

/// The switch that an endpoint hangs on.
fn homes(config: &FabricConfig) -> BTreeMap<u32, u32> {
    let mut homes = BTreeMap::new();
    for link in &config.links {
        for (own, other) in [(link.a.0, link.b.0), (link.b.0, link.a.0)] {
            if !is_switch(config, own as usize) {
                homes.entry(own).or_insert(other);
            }
        }
    }
    homes
}

/// The node of each device, and the nodes.
fn groups(config: &FabricConfig, levels: &[usize]) -> (Vec<usize>, Vec<Node>) {
    let count = config.devices.len();
    let name = |device: u32| config.devices[device as usize].path.clone();
    let node = |devices: Vec<u32>, is_switch: bool| {
        let label = match devices[..] {
            [one] => name(one),
            _ => format!("{} to {} ({})", name(devices[0]), name(devices[devices.len() - 1]), devices.len()),
        };
        Node { name: label, devices, is_switch, x: 0.0, y: 0.0 }
    };
    let mut nodes: Vec<Node> = Vec::new();
    if count <= DEVICES_MAX {
        nodes.extend((0..count as u32).map(|device| node(vec![device], is_switch(config, device as usize))));
    } else {
        // switches of a level in equal parts, in order, and the endpoints of each part
        let homes = homes(config);
        let mut hanging: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (endpoint, home) in homes {
            hanging.entry(home).or_default().push(endpoint);
        }
        let most = levels.iter().copied().max().unwrap_or(0);
        for level in 1..=most {
            let all: Vec<u32> = (0..count as u32)
                .filter(|device| levels[*device as usize] == level && is_switch(config, *device as usize))
                .collect();
            let size = all.len().div_ceil(GROUPS_MAX).max(1);
            for part in all.chunks(size) {
                nodes.push(node(part.to_vec(), true));
                let own: Vec<u32> =
                    part.iter().filter_map(|device| hanging.get(device)).flatten().copied().collect();
                if !own.is_empty() {
                    nodes.push(node(own, false));
                }
            }
        }
    }
    let mut of = vec![0; count];
    for (index, node) in nodes.iter().enumerate() {
        node.devices.iter().for_each(|device| of[*device as usize] = index);
    }
    (of, nodes)
}

/// Grids: planes side by side, endpoints below and beside their switch.
fn place_grid(config: &FabricConfig, nodes: &mut [Node]) -> (f64, f64) {
    let homes = homes(config);
    let mut hanging: BTreeMap<u32, u32> = BTreeMap::new();
    for home in homes.values() {
        *hanging.entry(*home).or_insert(0) += 1;
    }
    let most = hanging.values().copied().max().unwrap_or(0);
    let step = 70.0 + 14.0 * f64::from(most.saturating_sub(3).min(8));
    let at = |device: u32| coordinates(&config.devices[device as usize].path);
    let all: Vec<[u32; 3]> = (0..config.devices.len() as u32).filter_map(at).collect();
    let size = |axis: usize| f64::from(all.iter().map(|at| at[axis]).max().unwrap_or(0) + 1);
    let plane = size(0) * step + 40.0;
    let mut switches: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for node in nodes.iter_mut().filter(|node| node.is_switch) {
        let device = node.devices[0];
        let [x, y, z] = at(device).unwrap_or_default();
        node.x = f64::from(z) * plane + (f64::from(x) + 0.5) * step + 20.0;
        node.y = (f64::from(y) + 0.4) * step + 20.0;
        switches.insert(device, (node.x, node.y));
    }
    let mut placed: BTreeMap<u32, u32> = BTreeMap::new();
    for node in nodes.iter_mut().filter(|node| !node.is_switch) {
        let Some(home) = homes.get(&node.devices[0]) else { continue };
        let n = placed.entry(*home).or_insert(0);
        let own = f64::from(*hanging.get(home).unwrap_or(&1));
        let (x, y) = switches.get(home).copied().unwrap_or_default();
        node.x = x + (f64::from(*n) - (own - 1.0) / 2.0) * 15.0 + 6.0;
        node.y = y + 28.0;
        *n += 1;
    }
    (size(2) * plane, size(1) * step + 40.0)
}

/// Levels: endpoints at the bottom, by their switches; each level of switches above its neighbours below.
fn place_levels(config: &FabricConfig, levels: &[usize], of: &[usize], nodes: &mut [Node]) -> (f64, f64) {
    let most = levels.iter().copied().max().unwrap_or(0);
    let level = |node: &Node| levels[node.devices[0] as usize];
    let homes = homes(config);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); most + 1];
    for (index, node) in nodes.iter().enumerate() {
        rows[level(node)].push(index);
    }
    // endpoints go by their switches
    let by_home = |node: &Node| homes.get(&node.devices[0]).map(|home| of[*home as usize]);
    rows[0].sort_by_key(|index| (by_home(&nodes[*index]), *index));
    let widest = rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let width = (widest as f64 * 30.0).clamp(640.0, 1_600.0);
    let height = 90.0 + 110.0 * most as f64;
    for (number, row) in rows.iter().enumerate() {
        let step = width / row.len().max(1) as f64;
        for (place, index) in row.iter().enumerate() {
            nodes[*index].x = (place as f64 + 0.5) * step;
            nodes[*index].y = height - 40.0 - 110.0 * number as f64;
        }
    }
    // leaves over the middle of their endpoints, if that keeps their order
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for index in &rows[0] {
        if let Some(home) = by_home(&nodes[*index]) {
            let sum = sums.entry(home).or_insert((0.0, 0.0));
            *sum = (sum.0 + nodes[*index].x, sum.1 + 1.0);
        }
    }
    if most > 0 && rows[1].iter().all(|index| sums.contains_key(index)) {
        for index in &rows[1] {
            let (sum, count) = sums[index];
            nodes[*index].x = sum / count;
        }
    }
    (width, height)
}

/// How far a frame is from what is in it: room for the frames inside, and for their names.
fn padding(module: &Module, all: &[Module]) -> f64 {
    let inside = all.iter().filter(|other| module.holds(&other.name)).map(Module::depth).max();
    16.0 + 16.0 * inside.map_or(0.0, |deepest| (deepest - module.depth()) as f64)
}

fn frame(module: &Module, all: &[Module], of: &[usize], nodes: &[Node]) -> Frame {
    let padding = padding(module, all);
    let own = || module.devices.iter().map(|device| &nodes[of[*device as usize]]);
    let least = |get: fn(&Node) -> f64| own().map(get).fold(f64::INFINITY, f64::min);
    let most = |get: fn(&Node) -> f64| own().map(get).fold(f64::NEG_INFINITY, f64::max);
    let (x, y) = (least(|node| node.x) - 10.0 - padding, least(|node| node.y) - 14.0 - padding);
    // the name of an endpoint is below it
    let (right, bottom) = (most(|node| node.x) + 10.0 + padding, most(|node| node.y) + 12.0 + padding);
    Frame { name: module.name.clone(), x, y, width: right - x, height: bottom - y }
}

/// Modules side by side, each in levels of its own. Switches in none stand above all, endpoints in none at
/// the right.
fn place_modules(levels: &[usize], modules: &[Module], nodes: &mut [Node]) -> (f64, f64) {
    let most = levels.iter().copied().max().unwrap_or(0);
    let innermost = |device: u32| {
        let own = modules.iter().filter(|module| module.devices.contains(&device));
        own.max_by_key(|module| module.name.len())
    };
    // neighbours in this order lie in the same outer frames
    let mut columns: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
    let (mut above, mut beside) = (Vec::new(), Vec::new());
    for (index, node) in nodes.iter().enumerate() {
        match innermost(node.devices[0]) {
            Some(module) => columns.entry(module.name.split('/').collect()).or_default().push(index),
            None if node.is_switch => above.push(index),
            None => beside.push(index),
        }
    }
    let outermost = modules.iter().map(|module| padding(module, modules)).fold(0.0, f64::max);
    let height = 90.0 + 2.0 * outermost + 110.0 * (most + usize::from(!above.is_empty())) as f64;
    let mut x = 10.0;
    for column in columns.into_values().chain([beside]).filter(|column| !column.is_empty()) {
        x += 10.0 + outermost;
        let mut rows: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for index in column {
            rows.entry(levels[nodes[index].devices[0] as usize]).or_default().push(index);
        }
        let width = 36.0 * rows.values().map(Vec::len).max().unwrap_or(1) as f64;
        for (level, row) in rows {
            for (place, index) in row.iter().enumerate() {
                nodes[*index].x = x + (place as f64 + 0.5) * width / row.len() as f64;
                nodes[*index].y = height - 30.0 - outermost - 110.0 * level as f64;
            }
        }
        x += width + outermost;
    }
    let width = (x + 10.0).max(320.0);
    for (place, index) in above.iter().enumerate() {
        nodes[*index].x = (place as f64 + 0.5) * width / above.len() as f64;
        nodes[*index].y = 30.0;
    }
    (width, height)
}

/// Every link once.
fn lines(config: &FabricConfig, of: &[usize], nodes: &[Node], whole: bool) -> Vec<Line> {
    let mut together: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
    for (index, link) in config.links.iter().enumerate() {
        let (a, b) = (of[link.a.0 as usize], of[link.b.0 as usize]);
        together.entry((a.min(b), a.max(b))).or_default().push(index as u32);
    }
    let mut lines = Vec::new();
    for ((from, to), links) in together {
        let (a, b) = (&nodes[from], &nodes[to]);
        // links of a row or column go around what stands between
        let along = a.is_switch && b.is_switch && (a.y == b.y || a.x == b.x);
        let far = libm::fabs(a.x - b.x) + libm::fabs(a.y - b.y) > 130.0;
        let straight = if along && far { 26.0 } else { 0.0 };
        if whole {
            let middle = (links.len() as f64 - 1.0) / 2.0;
            lines.extend(links.iter().enumerate().map(|(place, link)| {
                let bend = straight + (place as f64 - middle) * 7.0;
                Line { from, to, links: vec![*link], bend }
            }));
        } else if from != to {
            lines.push(Line { from, to, links, bend: straight });
        }
    }
    lines
}
