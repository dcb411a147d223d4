//! Generators: from a few numbers to devices and links.

use crate::diagnostic::Diagnostic;
use crate::spec::{
    ChainSpec, DragonflySpec, ExplicitSpec, FatTreeSpec, GridSpec, LinkSpec, SingleSwitchSpec, StarSpec,
    Topology,
};
use models::config::PORTS_MAX;
use std::collections::BTreeMap;

/// Most devices of one scenario: 65 536 endpoints and the switches for them.
const DEVICES_MAX: u64 = 200_000;

/// A device before its settings are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique name.
    pub name: String,
    /// Ports of a switch; `None` = endpoint.
    pub ports: Option<u8>,
    /// Destination id of an endpoint, if the file gives it.
    pub id: Option<u32>,
    /// Place in the file.
    pub pointer: String,
}

/// A link before its settings are known.
#[derive(Clone, Debug)]
pub struct Edge {
    /// One end: (device, port).
    pub a: (usize, u8),
    /// The other end.
    pub b: (usize, u8),
    /// Settings of this link alone.
    pub set: Option<LinkSpec>,
    /// Place in the file.
    pub pointer: String,
}

/// What routing can know about the topology besides its graph.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Nothing.
    Plain,
    /// Coordinates of every switch; the first direction port of a switch.
    Grid {
        /// Switches in each dimension.
        size: Vec<u32>,
        /// Whether rows close to rings.
        torus: bool,
        /// Coordinates by device.
        at: BTreeMap<usize, Vec<u32>>,
        /// First direction port.
        first: u8,
    },
    /// Levels of a fat tree.
    FatTree(Tree),
    /// Dragonfly.
    Dragonfly,
}

/// Numbers of a fat tree.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Endpoints at each leaf, at most.
    pub down: u32,
    /// Up links of a leaf.
    pub up: u32,
    /// Level of every switch: 0 = leaf.
    pub level: BTreeMap<usize, u32>,
    /// Order in which endpoints were made: position by device.
    pub rank: BTreeMap<usize, u32>,
}

/// Devices and links, devices sorted by name.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Devices in the order of their names.
    pub nodes: Vec<Node>,
    /// Links.
    pub edges: Vec<Edge>,
    /// What routing may use.
    pub shape: Shape,
    /// Endpoints in the order in which they were made: ids follow it.
    pub endpoints: Vec<usize>,
}

impl Graph {
    /// Whether a device is a switch.
    pub fn is_switch(&self, device: usize) -> bool {
        self.nodes[device].ports.is_some()
    }

    /// Number of ports of a device.
    pub fn ports(&self, device: usize) -> u8 {
        self.nodes[device].ports.unwrap_or(1)
    }

    /// `table[device][port]` = (link, neighbour, port of the neighbour).
    pub fn neighbours(&self) -> Vec<Vec<Option<(usize, usize, u8)>>> {
        let mut table: Vec<Vec<_>> =
            (0..self.nodes.len()).map(|device| vec![None; usize::from(self.ports(device))]).collect();
        for (link, edge) in self.edges.iter().enumerate() {
            table[edge.a.0][usize::from(edge.a.1)] = Some((link, edge.b.0, edge.b.1));
            table[edge.b.0][usize::from(edge.b.1)] = Some((link, edge.a.0, edge.a.1));
        }
        table
    }

    /// Device of this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.nodes.binary_search_by(|node| node.name.as_str().cmp(name)).ok()
    }

    /// `device:port` of one end.
    pub fn port_name(&self, (device, port): (usize, u8)) -> String {
        if self.is_switch(device) {
            format!("{}:{port}", self.nodes[device].name)
        } else {
            self.nodes[device].name.clone()
        }
    }

    /// Links as text, one a line: for golden files.
    pub fn edge_list(&self) -> String {
        let line = |edge: &Edge| format!("{} - {}\n", self.port_name(edge.a), self.port_name(edge.b));
        self.edges.iter().map(line).collect()
    }
}

/// Collects devices and links in generator order; [`Builder::finish`] sorts them.
#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl Builder {
    fn switch(&mut self, name: String, ports: u32) -> usize {
        self.nodes.push(Node { name, ports: Some(ports as u8), id: None, pointer: "/topology".into() });
        self.nodes.len() - 1
    }

    fn endpoint(&mut self, name: String) -> usize {
        self.nodes.push(Node { name, ports: None, id: None, pointer: "/topology".into() });
        self.nodes.len() - 1
    }

    fn link(&mut self, a: (usize, u32), b: (usize, u32)) {
        let (a, b) = ((a.0, a.1 as u8), (b.0, b.1 as u8));
        self.edges.push(Edge { a, b, set: None, pointer: "/topology".into() });
    }

    /// Endpoints `ep/<n>` on ports 0.. of each of the switches.
    fn populate(&mut self, switches: &[usize], each: u32, first_port: u32) {
        let total = switches.len() as u32 * each;
        for (i, &switch) in switches.iter().enumerate() {
            for k in 0..each {
                let endpoint = self.endpoint(format!("ep/{}", padded(i as u32 * each + k, total)));
                self.link((switch, first_port + k), (endpoint, 0));
            }
        }
    }

    fn finish(self, shape: impl FnOnce(&[usize]) -> Shape) -> Graph {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by(|&x, &y| self.nodes[x].name.cmp(&self.nodes[y].name));
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let made = (0..self.nodes.len()).filter(|&old| self.nodes[old].ports.is_none());
        let endpoints = made.map(|old| place[old]).collect();
        let mut edges = self.edges;
        for edge in &mut edges {
            edge.a.0 = place[edge.a.0];
            edge.b.0 = place[edge.b.0];
        }
        let nodes = order.iter().map(|&old| self.nodes[old].clone()).collect();
        Graph { nodes, edges, shape: shape(&place), endpoints }
    }
}

/// `n` with as many digits as the largest number below `total` has: names sort as numbers do.
fn padded(n: u32, total: u32) -> String {
    let width = total.saturating_sub(1).to_string().len();
    format!("{n:0width$}")
}

/// Builds the graph of a topology; `None` after errors that leave nothing to work with.
pub fn build(topology: &Topology, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    match topology {
        Topology::Explicit(spec) => explicit(spec, out),
        Topology::SingleSwitch(spec) => single_switch(spec, out),
        Topology::Chain(spec) => chain(spec, out),
        Topology::Star(spec) => star(spec, out),
        Topology::Mesh(spec) => grid(spec, false, out),
        Topology::Torus(spec) => grid(spec, true, out),
        Topology::FatTree(spec) => fat_tree(spec, out),
        Topology::Dragonfly(spec) => dragonfly(spec, out),
    }
}

/// Checks that a number is within bounds.
fn within(out: &mut Vec<Diagnostic>, pointer: &str, value: u64, min: u64, max: u64) -> bool {
    let good = (min..=max).contains(&value);
    if !good {
        out.push(
            Diagnostic::error("SC019", pointer, format!("{value} is not possible here"))
                .help(format!("allowed: {min} to {max}")),
        );
    }
    good
}

fn ports_fit(out: &mut Vec<Diagnostic>, pointer: &str, what: &str, ports: u64) -> bool {
    if ports > PORTS_MAX as u64 {
        let message = format!("{what} would have {ports} ports");
        let help = format!("a switch has at most {PORTS_MAX} ports");
        out.push(Diagnostic::error("SC018", pointer, message).help(help));
    }
    ports <= PORTS_MAX as u64
}

fn single_switch(spec: &SingleSwitchSpec, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = "/topology/single_switch/ports";
    if !ports_fit(out, at, "the switch", u64::from(spec.ports))
        || !within(out, at, u64::from(spec.ports), 1, 64)
    {
        return None;
    }
    let mut b = Builder::default();
    let switch = b.switch("sw".into(), spec.ports);
    b.populate(&[switch], spec.ports, 0);
    Some(b.finish(|_| Shape::Plain))
}

fn chain(spec: &ChainSpec, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = "/topology/chain";
    let (n, each) = (spec.switches, spec.endpoints_per_switch);
    let good = within(out, &format!("{at}/switches"), u64::from(n), 2, 1_024)
        & ports_fit(out, &format!("{at}/endpoints_per_switch"), "a switch", u64::from(each) + 2)
        & within(out, &format!("{at}/endpoints_per_switch"), u64::from(each), 1, u64::MAX);
    if !good {
        return None;
    }
    let mut b = Builder::default();
    let switches: Vec<usize> = (0..n).map(|i| b.switch(format!("sw/{}", padded(i, n)), each + 2)).collect();
    b.populate(&switches, each, 0);
    for pair in switches.windows(2) {
        b.link((pair[0], each + 1), (pair[1], each));
    }
    Some(b.finish(|_| Shape::Plain))
}

fn star(spec: &StarSpec, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = "/topology/star";
    let (n, each) = (spec.arms, spec.endpoints_per_arm);
    let good = within(out, &format!("{at}/arms"), u64::from(n), 1, u64::MAX)
        & ports_fit(out, &format!("{at}/arms"), "the hub", u64::from(n))
        & within(out, &format!("{at}/endpoints_per_arm"), u64::from(each), 1, u64::MAX)
        & ports_fit(out, &format!("{at}/endpoints_per_arm"), "an arm", u64::from(each) + 1);
    if !good {
        return None;
    }
    let mut b = Builder::default();
    let hub = b.switch("hub".into(), n);
    let arms: Vec<usize> = (0..n).map(|i| b.switch(format!("arm/{}", padded(i, n)), each + 1)).collect();
    b.populate(&arms, each, 1);
    for (i, &arm) in arms.iter().enumerate() {
        b.link((hub, i as u32), (arm, 0));
    }
    Some(b.finish(|_| Shape::Plain))
}

fn grid(spec: &GridSpec, torus: bool, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = if torus { "/topology/torus" } else { "/topology/mesh" };
    let size = &spec.size;
    if !(2..=3).contains(&size.len()) {
        let message = format!("{} dimensions are not possible", size.len());
        out.push(
            Diagnostic::error("SC019", format!("{at}/size"), message).help("allowed: 2 or 3 dimensions"),
        );
        return None;
    }
    let each = spec.endpoints_per_switch.unwrap_or(1);
    let directions = 2 * size.len() as u32;
    let mut good = true;
    for (d, &n) in size.iter().enumerate() {
        let pointer = format!("{at}/size/{d}");
        if torus && n == 1 {
            let message = "a ring of one switch would be a link from a switch to itself";
            out.push(
                Diagnostic::error("SC019", pointer, message).help("use 2 or more, or one dimension fewer"),
            );
            good = false;
        } else {
            good &= within(out, &pointer, u64::from(n), if torus { 2 } else { 1 }, 1_024);
        }
    }
    let pointer = format!("{at}/endpoints_per_switch");
    good &= within(out, &pointer, u64::from(each), 1, u64::MAX)
        && ports_fit(out, &pointer, "a switch", u64::from(each) + u64::from(directions));
    let total = size.iter().fold(1u64, |t, &n| t.saturating_mul(u64::from(n)));
    good =
        good && within(out, &format!("{at}/size"), total.saturating_mul(u64::from(each) + 1), 2, DEVICES_MAX);
    if !good {
        return None;
    }
    let mut b = Builder::default();
    let coordinates = |i: u32| {
        let mut rest = i;
        size.iter()
            .map(|&n| {
                let c = rest % n;
                rest /= n;
                c
            })
            .collect::<Vec<u32>>()
    };
    let switches: Vec<usize> = (0..total as u32)
        .map(|i| {
            let text: Vec<String> = coordinates(i).iter().zip(size).map(|(&c, &n)| padded(c, n)).collect();
            b.switch(format!("sw/{}", text.join("-")), each + directions)
        })
        .collect();
    b.populate(&switches, each, 0);
    let mut stride = 1;
    for (d, &n) in size.iter().enumerate() {
        for i in 0..total as u32 {
            let c = (i / stride) % n;
            let up = each + 2 * d as u32 + 1;
            if c + 1 < n {
                b.link((switches[i as usize], up), (switches[(i + stride) as usize], up - 1));
            } else if torus {
                b.link((switches[i as usize], up), (switches[(i - c * stride) as usize], up - 1));
            }
        }
        stride *= n;
    }
    let size = size.clone();
    Some(b.finish(|place| Shape::Grid {
        at: switches.iter().enumerate().map(|(i, &s)| (place[s], coordinates(i as u32))).collect(),
        size: size.clone(),
        torus,
        first: each as u8,
    }))
}

fn fat_tree(spec: &FatTreeSpec, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = "/topology/fat_tree";
    let (ports, endpoints) = (u64::from(spec.ports), u64::from(spec.endpoints));
    let levels = spec.levels.unwrap_or(2);
    let mut good = ports_fit(out, &format!("{at}/ports"), "a switch", ports)
        && within(out, &format!("{at}/ports"), ports, 2, PORTS_MAX as u64);
    good &= within(out, &format!("{at}/levels"), u64::from(levels), 2, 3);
    good &= within(out, &format!("{at}/endpoints"), endpoints, 1, 65_536);
    if !good {
        return None;
    }
    let down = u64::from(spec.endpoints_per_leaf.unwrap_or(spec.ports / 2));
    if !within(out, &format!("{at}/endpoints_per_leaf"), down, 1, ports - 1) {
        return None;
    }
    let leaves = endpoints.div_ceil(down);
    if levels == 2 { two_levels(spec, down, leaves, out) } else { three_levels(spec, down, leaves, out) }
}

fn two_levels(spec: &FatTreeSpec, down: u64, leaves: u64, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = "/topology/fat_tree";
    let ports = u64::from(spec.ports);
    let up_max = ports - down;
    let wanted = down.min(up_max);
    let parallel = match (spec.parallel, spec.spines) {
        (Some(parallel), _) => u64::from(parallel),
        (None, Some(spines)) => up_max.checked_div(u64::from(spines)).unwrap_or(0).min(ports / leaves),
        (None, None) => {
            (1..=wanted).rev().find(|p| p * leaves <= ports && wanted.is_multiple_of(*p)).unwrap_or(1)
        }
    };
    let spines = spec.spines.map_or(wanted.checked_div(parallel).unwrap_or(0), u64::from);
    if !within(out, &format!("{at}/spines"), spines, 1, up_max) {
        return None;
    }
    if parallel == 0 || spines * parallel > up_max || leaves * parallel > ports {
        let message = format!(
            "{leaves} leaves with {down} endpoints each and {spines} spines with {parallel} parallel links \
             do not fit switches of {ports} ports"
        );
        let help = "spines x parallel <= ports - endpoints_per_leaf, and leaves x parallel <= ports";
        out.push(Diagnostic::error("SC019", at, message).help(help));
        return None;
    }
    let mut b = Builder::default();
    let leaf: Vec<usize> = (0..leaves as u32)
        .map(|i| b.switch(format!("leaf/{}", padded(i, leaves as u32)), spec.ports))
        .collect();
    let spine: Vec<usize> = (0..spines as u32)
        .map(|i| b.switch(format!("spine/{}", padded(i, spines as u32)), spec.ports))
        .collect();
    let hosts = hang_endpoints(&mut b, &leaf, spec.endpoints, down as u32);
    for k in 0..parallel as u32 {
        for (s, &spine) in spine.iter().enumerate() {
            for (l, &leaf) in leaf.iter().enumerate() {
                let up = down as u32 + k * spines as u32 + s as u32;
                b.link((leaf, up), (spine, k * leaves as u32 + l as u32));
            }
        }
    }
    Some(b.finish(|place| {
        let level = leaf.iter().map(|&s| (place[s], 0)).chain(spine.iter().map(|&s| (place[s], 1))).collect();
        let rank = hosts.iter().enumerate().map(|(i, &h)| (place[h], i as u32)).collect();
        Shape::FatTree(Tree { down: down as u32, up: (spines * parallel) as u32, level, rank })
    }))
}

/// Endpoints in order, `down` to a leaf.
fn hang_endpoints(b: &mut Builder, leaves: &[usize], endpoints: u32, down: u32) -> Vec<usize> {
    (0..endpoints)
        .map(|i| {
            let endpoint = b.endpoint(format!("ep/{}", padded(i, endpoints)));
            b.link((leaves[(i / down) as usize], i % down), (endpoint, 0));
            endpoint
        })
        .collect()
}

fn three_levels(spec: &FatTreeSpec, down: u64, leaves: u64, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = "/topology/fat_tree";
    let ports = u64::from(spec.ports);
    if spec.spines.is_some() {
        let message = "spines belong to a tree of 2 levels";
        out.push(Diagnostic::error("SC019", format!("{at}/spines"), message).help("leave it out"));
        return None;
    }
    let half = ports / 2;
    if down > half {
        let message = format!("{down} endpoints at a leaf leave too few up links");
        let help = format!("allowed: 1 to {half}");
        out.push(Diagnostic::error("SC019", format!("{at}/endpoints_per_leaf"), message).help(help));
        return None;
    }
    // A pod: `half` leaves and `half` middle switches, every leaf linked to every middle switch of its pod.
    let pods = leaves.div_ceil(half);
    let most = ports.checked_div(pods).unwrap_or(0).min(half);
    let parallel = match spec.parallel {
        Some(parallel) => u64::from(parallel),
        None => (1..=most).rev().find(|p| half.is_multiple_of(*p)).unwrap_or(0),
    };
    if parallel == 0 || parallel * pods > ports || !half.is_multiple_of(parallel) {
        let message =
            format!("{pods} pods with {parallel} parallel links do not fit switches of {ports} ports");
        let help = "pods x parallel <= ports, and parallel divides half of the ports";
        out.push(Diagnostic::error("SC019", at, message).help(help));
        return None;
    }
    let tops_per_group = half / parallel;
    let middles = pods * half;
    let tops = half * tops_per_group;
    if !within(out, at, leaves + middles + tops + u64::from(spec.endpoints), 1, DEVICES_MAX) {
        return None;
    }
    let mut b = Builder::default();
    let mut row = |kind: &str, n: u64| -> Vec<usize> {
        (0..n as u32).map(|i| b.switch(format!("{kind}/{}", padded(i, n as u32)), spec.ports)).collect()
    };
    let (leaf, middle, top) = (row("leaf", leaves), row("middle", middles), row("top", tops));
    let (half, down) = (half as usize, down as u32);
    let hosts = hang_endpoints(&mut b, &leaf, spec.endpoints, down);
    for (l, &leaf) in leaf.iter().enumerate() {
        let pod = l / half;
        for j in 0..half {
            b.link((leaf, down + j as u32), (middle[pod * half + j], (l % half) as u32));
        }
    }
    for k in 0..parallel as usize {
        for s in 0..tops_per_group as usize {
            for (m, &middle) in middle.iter().enumerate() {
                let (pod, group) = (m / half, m % half);
                let up = half + k * tops_per_group as usize + s;
                let top = top[group * tops_per_group as usize + s];
                b.link((middle, up as u32), (top, (k * pods as usize + pod) as u32));
            }
        }
    }
    Some(b.finish(|place| {
        let rows = [(&leaf, 0), (&middle, 1), (&top, 2)];
        let level = rows.iter().flat_map(|(row, l)| row.iter().map(|&s| (place[s], *l))).collect();
        let rank = hosts.iter().enumerate().map(|(i, &h)| (place[h], i as u32)).collect();
        Shape::FatTree(Tree { down, up: half as u32, level, rank })
    }))
}

fn dragonfly(spec: &DragonflySpec, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = "/topology/dragonfly";
    let (groups, a, each) = (spec.groups, spec.switches_per_group, spec.endpoints_per_switch);
    let good = within(out, &format!("{at}/groups"), u64::from(groups), 2, 4_096)
        & within(out, &format!("{at}/switches_per_group"), u64::from(a), 1, PORTS_MAX as u64)
        & within(out, &format!("{at}/endpoints_per_switch"), u64::from(each), 1, PORTS_MAX as u64);
    if !good {
        return None;
    }
    let needed = (groups - 1).div_ceil(a);
    let h = spec.global_per_switch.unwrap_or(needed);
    let ports = u64::from(each) + u64::from(a) - 1 + u64::from(h);
    let total = u64::from(groups) * u64::from(a) * (u64::from(each) + 1);
    let good =
        within(out, &format!("{at}/global_per_switch"), u64::from(h), u64::from(needed), PORTS_MAX as u64)
            && ports_fit(out, at, "a switch", ports)
            && within(out, &format!("{at}/groups"), total, 1, DEVICES_MAX);
    if !good {
        return None;
    }
    let mut b = Builder::default();
    let name = |g: u32, s: u32| format!("g{}/sw{}", padded(g, groups), padded(s, a));
    let switches: Vec<usize> = (0..groups * a).map(|i| b.switch(name(i / a, i % a), ports as u32)).collect();
    b.populate(&switches, each, 0);
    let switch = |g: u32, s: u32| switches[(g * a + s) as usize];
    // Local port of switch x towards switch y of its group.
    let local = |x: u32, y: u32| each + if y < x { y } else { y - 1 };
    for g in 0..groups {
        for x in 0..a {
            for y in x + 1..a {
                b.link((switch(g, x), local(x, y)), (switch(g, y), local(y, x)));
            }
        }
    }
    // Global link k of a group, 0 <= k < groups - 1, leads to the group k + 1 further on.
    let global = |k: u32| (k / h, each + a - 1 + k % h);
    for g in 0..groups {
        for other in g + 1..groups {
            let (s, p) = global(other - g - 1);
            let (t, q) = global(groups - 1 - (other - g));
            b.link((switch(g, s), p), (switch(other, t), q));
        }
    }
    Some(b.finish(|_| Shape::Dragonfly))
}

fn explicit(spec: &ExplicitSpec, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let before = out.len();
    let mut b = Builder::default();
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, device) in spec.devices.iter().enumerate() {
        let pointer = format!("/topology/explicit/devices/{i}");
        if let Err(why) = good_name(&device.name) {
            out.push(Diagnostic::error("SC009", format!("{pointer}/name"), why));
        }
        if let Some(&first) = by_name.get(device.name.as_str()) {
            let message = format!("a second device is called \"{}\"", device.name);
            out.push(
                Diagnostic::error("SC015", format!("{pointer}/name"), message)
                    .also(format!("/topology/explicit/devices/{first}/name"), "the first one"),
            );
            continue;
        }
        by_name.insert(&device.name, i);
        let ports = u64::from(device.ports.unwrap_or(1));
        let at = format!("{pointer}/ports");
        let what = format!("switch \"{}\"", device.name);
        if ports_fit(out, &at, &what, ports) {
            within(out, &at, ports, 1, PORTS_MAX as u64);
        }
        if let (Some(_), Some(_)) = (device.ports, device.id) {
            let message = format!(
                "\"{}\" has ports, so it is a switch, and a switch has no destination id",
                device.name
            );
            out.push(
                Diagnostic::error("SC004", format!("{pointer}/id"), message)
                    .help("remove id or ports")
                    .at_key(),
            );
        }
    }
    if before != out.len() {
        return None;
    }
    for (i, device) in spec.devices.iter().enumerate() {
        let pointer = format!("/topology/explicit/devices/{i}");
        let ports = device.ports.map(|p| p as u8);
        b.nodes.push(Node { name: device.name.clone(), ports, id: device.id, pointer });
    }
    let mut used: BTreeMap<(usize, u8), String> = BTreeMap::new();
    for (i, link) in spec.links.iter().enumerate() {
        let pointer = format!("/topology/explicit/links/{i}");
        let mut ends = Vec::new();
        for (key, text) in [("a", &link.a), ("b", &link.b)] {
            let at = format!("{pointer}/{key}");
            let Some(end) = resolve_end(spec, &by_name, text, &at, out) else { continue };
            if let Some(first) = used.get(&end) {
                let message = format!("port {} of \"{}\" already has a link", end.1, b.nodes[end.0].name);
                out.push(Diagnostic::error("SC013", at, message).also(first.clone(), "the first one"));
                continue;
            }
            used.insert(end, at);
            ends.push(end);
        }
        if let [x, y] = ends[..] {
            b.edges.push(Edge { a: x, b: y, set: link.set.clone(), pointer });
        }
    }
    for node in b.nodes.iter().enumerate().filter(|(i, n)| n.ports.is_none() && !used.contains_key(&(*i, 0)))
    {
        let message = format!("endpoint \"{}\" has no link", node.1.name);
        let help = "link it to a port of a switch, or remove it";
        out.push(Diagnostic::error("SC025", node.1.pointer.clone(), message).help(help));
    }
    if before != out.len() { None } else { Some(b.finish(|_| Shape::Plain)) }
}

/// Device and port of `device:port`; an endpoint may leave out its only port.
fn resolve_end(
    spec: &ExplicitSpec,
    by_name: &BTreeMap<&str, usize>,
    text: &str,
    at: &str,
    out: &mut Vec<Diagnostic>,
) -> Option<(usize, u8)> {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (text, None),
    };
    let Some(&device) = by_name.get(name) else {
        let message = format!("there is no device \"{name}\"");
        let names = by_name.keys().copied();
        let help = format!("devices: {}", shortened(names.clone()));
        out.push(Diagnostic::error("SC014", at, message).help(help).did_you_mean(name, names));
        return None;
    };
    let ports = spec.devices[device].ports;
    let number = match (port, ports) {
        (None, None) => 0,
        (None, Some(n)) => {
            let message = format!("\"{name}\" is a switch; say which of its ports");
            let help = format!("write \"{name}:0\" to \"{name}:{}\"", n.saturating_sub(1));
            out.push(Diagnostic::error("SC012", at, message).help(help));
            return None;
        }
        (Some(text), _) => text.parse::<u32>().unwrap_or(u32::MAX),
    };
    let count = ports.unwrap_or(1);
    if number >= count {
        let message = format!("port {} of \"{name}\" does not exist", port.unwrap_or("?"));
        let help = match ports {
            Some(_) => format!("switch \"{name}\" has ports 0 to {}", count - 1),
            None => format!("\"{name}\" is an endpoint: its only port is 0"),
        };
        let place = format!("/topology/explicit/devices/{device}");
        out.push(Diagnostic::error("SC012", at, message).help(help).also(place, "the device"));
        return None;
    }
    Some((device, number as u8))
}

/// Whether a name can be told apart from patterns and port numbers.
pub fn good_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(allowed) || name == "all" || name == "default" {
        return Err(format!(
            "\"{name}\" is not a name: use letters, digits, / - _ . (not \"all\" or \"default\")"
        ));
    }
    Ok(())
}

/// A list of names for a message: the first few, then how many more.
pub fn shortened<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.into_iter().collect();
    const SHOWN: usize = 8;
    let mut text = all.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if all.len() > SHOWN {
        text.push_str(&format!(", ... ({} in all)", all.len()));
    }
    if text.is_empty() { "none".into() } else { text }
}
