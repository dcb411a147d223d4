//! Generators: from a few numbers to devices and links.
//!
//! Each topology is a file that brings its part of the scenario language, its defaults and its graph, and a
//! line in the table below.

mod chain;
mod dragonfly;
mod explicit;
mod fat_tree;
mod grid;
mod single_switch;
mod star;
mod xgft;

pub use chain::ChainSpec;
pub use dragonfly::DragonflySpec;
pub use explicit::{ExplicitDevice, ExplicitLink, ExplicitSpec};
pub use fat_tree::FatTreeSpec;
pub use grid::GridSpec;
pub use single_switch::SingleSwitchSpec;
pub use star::StarSpec;
pub use xgft::XgftSpec;

use crate::diagnostic::Diagnostic;
use crate::names;
use crate::settings::{LinkSpec, RoutingMethod};
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of a topology that do not follow from others.
trait Defaults {
    /// Writes them out.
    fn fill(&mut self) {}
}

macro_rules! topologies {
    ($($(#[$doc:meta])* $variant:ident($spec:ty) $name:tt, $method:ident, $build:path, $about:literal;)*) => {
        /// Devices and links.
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub enum Topology {
            $($(#[$doc])* #[serde(rename = $name)] $variant($spec),)*
        }

        /// Names with a line about each.
        pub(crate) const TOPOLOGIES: &[(&str, &str)] = &[$(($name, $about)),*];

        impl Topology {
            /// Writes out the defaults.
            pub fn fill(&mut self) {
                match self {
                    $(Self::$variant(spec) => spec.fill(),)*
                }
            }

            /// What "auto" means as a method of routing.
            pub(crate) fn method(&self) -> RoutingMethod {
                match self {
                    $(Self::$variant(_) => RoutingMethod::$method,)*
                }
            }
        }

        /// Builds the graph of a topology with its defaults; `None` after errors that leave nothing to work
        /// with.
        pub fn build(topology: &Topology, out: &mut Vec<Diagnostic>) -> Option<Graph> {
            match topology {
                $(Topology::$variant(spec) => $build(spec, concat!("/topology/", $name), out),)*
            }
        }
    };
}

// What the language says of it, name, method of routing, graph, and the line of `list topologies`.
topologies! {
    /// Devices and links one by one.
    Explicit(ExplicitSpec) "explicit", Shortest, explicit::build, "devices and links one by one";
    /// One switch `sw` with an endpoint `ep/<n>` on each port.
    SingleSwitch(SingleSwitchSpec) "single_switch", Shortest, single_switch::build,
        "one switch with an endpoint on each port";
    /// Switches in a row, each with endpoints.
    Chain(ChainSpec) "chain", Shortest, chain::build, "switches in a row, each with endpoints";
    /// A hub with arms; each arm is a switch with endpoints.
    Star(StarSpec) "star", Shortest, star::build, "a hub, arms, endpoints at the arms";
    /// A grid of switches in 2 or 3 dimensions.
    Mesh(GridSpec) "mesh", DimensionOrder, grid::mesh, "2-D or 3-D grid, dimension-order routing";
    /// A grid whose rows close to rings.
    Torus(GridSpec) "torus", UpDown, grid::torus, "2-D or 3-D grid with closed rows, up*/down* routing";
    /// A folded Clos network of equal switches, 2 or 3 levels.
    FatTree(FatTreeSpec) "fat_tree", FatTree, fat_tree::build,
        "folded Clos of 2 or 3 levels, by destination modulo over all up links";
    /// An extended generalized fat tree: any number of levels, slimmed or fattened.
    Xgft(XgftSpec) "xgft", FatTree, xgft::build,
        "slimmed and fattened trees, by destination modulo over all up links";
    /// Groups of switches, fully connected inside, one link between any two groups.
    Dragonfly(DragonflySpec) "dragonfly", UpDown, dragonfly::build,
        "groups with one link between any two, up*/down* routing";
}

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
}

/// Numbers of a fat tree.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Up links of a switch of each level but the highest.
    pub up: Vec<u32>,
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

    /// Whether a pattern names one end of a link: its device, or the port as "device:port".
    pub fn is_end_like(&self, (device, port): (usize, u8), pattern: &str) -> bool {
        let name = &self.nodes[device].name;
        names::matches(pattern, name) || names::matches(pattern, &format!("{name}:{port}"))
    }

    /// Whether a pattern names a port: as "device:port", or that of an endpoint by its device.
    pub fn is_port_like(&self, (device, port): (usize, u8), pattern: &str) -> bool {
        let name = &self.nodes[device].name;
        let by_device = !self.is_switch(device) && names::matches(pattern, name);
        by_device || names::matches(pattern, &format!("{name}:{port}"))
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

/// Whether a name can be told apart from patterns and port numbers.
pub fn good_name(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(allowed) || ["all", "default", "overall"].contains(&name) {
        return Err(format!(
            "\"{name}\" is not a name: use letters, digits, / - _ . (not \"all\", \"default\" or \"overall\")"
        ));
    }
    Ok(())
}

/// Most characters of a name that a file or a folder of results has: file systems take 255 octets, with what
/// is written behind the name.
const FILE_NAME_MAX: usize = 200;

/// Whether the name at `at` can be that of `what`: a file or a folder of results. It stays where it is put,
/// and is not hidden.
pub(crate) fn is_file_name(at: &str, name: &str, what: &str, out: &mut Vec<Diagnostic>) -> bool {
    let refused = |why: String| Diagnostic::error("SC009", at, why);
    let item = match good_name(name) {
        Err(why) => refused(why),
        Ok(()) if name.contains('/') || name.starts_with('.') => {
            refused(format!("\"{name}\" cannot be the name of {what}")).help("use letters, digits, - and _")
        }
        Ok(()) if name.len() > FILE_NAME_MAX => {
            refused(format!("a name of {} characters cannot be that of {what}", name.len()))
                .help(format!("allowed: at most {FILE_NAME_MAX}"))
        }
        Ok(()) => return true,
    };
    out.push(item);
    false
}

/// Checks that a title at `at` is one line of text: a terminal would obey what else may stand in it.
pub(crate) fn check_title(at: &str, title: Option<&String>, out: &mut Vec<Diagnostic>) {
    if let Some(odd) = title.and_then(|title| title.chars().find(|c| c.is_control())) {
        let message = format!("the character U+{:04X} cannot stand in a title", u32::from(odd));
        out.push(Diagnostic::error("SC009", at, message).help("one line of letters, digits and signs"));
    }
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
