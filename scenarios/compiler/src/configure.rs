//! `configure: fabric`: a host explores the fabric and sets it up through it.
//!
//! Ids and routes are then the host's business. They follow from the topology, so they are known beforehand:
//! the same host plans them on the same registers ([`models::enumeration::plan`]), and everything that needs
//! ids is compiled with them.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::resolved::Enumeration;
use crate::routing::Tables;
use crate::spec::*;
use crate::topology::shortened;
use models::config::{EnumerationConfig, NO_PORT, PortConfig, PortVoq};
use models::enumeration::{Outline, OutlineDevice, Plan, plan};
use std::collections::BTreeSet;

/// Flow under which the host's register accesses are reported.
pub(crate) const FLOW: &str = "enumeration";
/// Its name where sessions read registers as well: not all of them set the fabric up.
pub(crate) const REGISTERS: &str = "registers";

/// Whether a flow of this name is that of the host's own requests.
pub(crate) fn is_of_host(name: &str) -> bool {
    [FLOW, REGISTERS].contains(&name)
}

/// The host's settings, if there is a host.
pub(crate) fn setup(spec: &Spec) -> Option<&FabricSetup> {
    match &spec.configure {
        Some(Configure::Fabric(setup)) => Some(setup),
        Some(Configure::Builder) | None => None,
    }
}

/// Fills in the defaults.
pub(crate) fn expand(spec: &mut Spec) {
    if let Configure::Fabric(setup) = spec.configure.get_or_insert(Configure::Builder) {
        setup.priority.get_or_insert(2);
    }
}

/// What the host will find where some links are down from start to end.
///
/// Endpoints that it cannot reach get no id from it. They keep the one they would have if all links were up,
/// or another that the host gives nobody. Where no way is left, routes are those of the fabric with all its
/// links: such flows are packets like others, and what becomes of them is for the run to show. With it, which
/// devices it cannot reach.
fn around(mut outline: Outline, down: &BTreeSet<usize>, whole: Plan) -> (Plan, Vec<usize>) {
    let mut link = 0..;
    outline.links.retain(|_| link.next().is_some_and(|link| !down.contains(&link)));
    let mut found = plan(&outline);
    let mut taken: BTreeSet<u32> = found.ids.iter().flatten().copied().collect();
    let mut cut_off = Vec::new();
    for (device, &own) in whole.ids.iter().enumerate() {
        let Some(own) = own else { continue };
        let mut free = std::iter::once(own).chain(0..).filter(|id| taken.insert(*id));
        if found.ids[device].is_none() {
            cut_off.push(device);
        }
        let Some(id) = found.ids[device].or_else(|| free.next()) else { continue };
        found.ids[device] = Some(id);
        for (table, whole) in found.tables.iter_mut().zip(&whole.tables) {
            if table.len() <= id as usize {
                table.resize(id as usize + 1, None);
            }
            let entry = &mut table[id as usize];
            *entry = entry.or_else(|| whole.get(own as usize).copied().flatten());
        }
    }
    (found, cut_off)
}

impl Compiler<'_> {
    /// What a host will do with devices of these ports; sets the ids of endpoints.
    pub fn enumeration(&mut self, ports: &[Vec<PortConfig>]) -> Option<Enumeration> {
        let setup = setup(self.spec)?;
        let before = self.out.len();
        self.check_setup();
        let host = match self.graph.find(&setup.host).filter(|&device| !self.graph.is_switch(device)) {
            Some(host) => host,
            None => {
                let message = format!("there is no endpoint \"{}\"", setup.host);
                let names: Vec<&str> =
                    self.graph.endpoints.iter().map(|&e| self.graph.nodes[e].name.as_str()).collect();
                let finding = Diagnostic::error("SC011", "/configure/fabric/host", message)
                    .help(format!("endpoints: {}", shortened(names.iter().copied())))
                    .did_you_mean_name(&setup.host, names.iter().copied());
                self.out.push(finding);
                return None;
            }
        };
        let enabled = self.voq.enabled;
        self.check_registers(ports, enabled);
        if self.out.len() > before {
            return None;
        }
        let method = *filled(&filled(&self.spec.routing).method);
        let tree = self.spec.topology.method() == RoutingMethod::FatTree;
        let config = EnumerationConfig {
            host: host as u32,
            ids: self.id_size(),
            spread: method == RoutingMethod::FatTree || tree && method == RoutingMethod::Auto,
            enables: enabled,
            host_hears: ports[host][0].voq.rx_sup,
            links: enabled && self.voq.linked,
            host_links: ports[host][0].voq.link_sup,
        };
        let outline = Outline {
            devices: (ports.iter().enumerate())
                .map(|(device, ports)| OutlineDevice {
                    switch: self.graph.is_switch(device),
                    sessions: 0,
                    tagged: false,
                    ports: ports.iter().map(|port| port.voq).collect(),
                })
                .collect(),
            links: (self.graph.edges.iter())
                .map(|edge| ((edge.a.0 as u32, edge.a.1), (edge.b.0 as u32, edge.b.1)))
                .collect(),
            enumeration: config,
        };
        let mut plan = plan(&outline);
        let down = self.down_throughout();
        if !down.is_empty() {
            let (found, cut_off) = around(outline, &down, plan);
            plan = found;
            self.warn_of_cut_off(&setup.host, &cut_off);
        }
        for &endpoint in &self.graph.endpoints {
            match plan.ids[endpoint] {
                Some(id) => self.ids[endpoint] = id,
                None => {
                    let name = &self.graph.nodes[endpoint].name;
                    let message = format!("\"{}\" cannot reach \"{name}\"", setup.host);
                    let finding = Diagnostic::error("SC066", "/configure/fabric/host", message)
                        .help("there is no way of links between them, or no id left (255 with 8 bits)");
                    self.out.push(finding);
                    return None;
                }
            }
        }
        Some(Enumeration { config, priority: *filled(&setup.priority), plan, writes: Vec::new() })
    }

    /// Endpoints get no id and no route from a host that cannot reach them.
    fn warn_of_cut_off(&mut self, host: &str, cut_off: &[usize]) {
        self.cut_off = cut_off.len();
        if cut_off.is_empty() {
            return;
        }
        let names = shortened(cut_off.iter().map(|&device| self.graph.nodes[device].name.as_str()));
        let message = format!(
            "with links that are down from start to end \"{host}\" cannot reach {names}: it gives no id \
             there, and writes no route to there"
        );
        let finding = Diagnostic::warning("SC073", "/configure/fabric/host", message);
        self.once(finding.help("an outage that ends, or another way"));
    }

    /// The tables that the host will write.
    pub fn planned_routes(&self, enumeration: &Enumeration) -> Tables {
        let ids: Vec<u32> = self.graph.endpoints.iter().map(|&endpoint| self.ids[endpoint]).collect();
        let planned = enumeration.plan.tables.clone();
        Box::new(move |device, row| {
            for (port, &id) in row.iter_mut().zip(&ids) {
                *port = planned[device].get(id as usize).copied().flatten().unwrap_or(NO_PORT);
            }
        })
    }

    /// What the file says beside the host's back.
    fn check_setup(&mut self) {
        let spec = self.spec;
        let mut refuse = |at: String, message: &str, help: &str| {
            self.out.push(Diagnostic::error("SC065", at, message).help(help));
        };
        for node in self.graph.nodes.iter().filter(|node| node.id.is_some()) {
            let message = format!("the id of \"{}\" is the host's to give", node.name);
            refuse(
                format!("{}/id", node.pointer),
                &message,
                "leave it out, or use \"configure\": \"builder\"",
            );
        }
        if spec.multicast.as_ref().is_some_and(|groups| !groups.is_empty()) {
            let message = "a host that sets the fabric up makes no multicast groups";
            refuse("/multicast".into(), message, "leave them out, or use \"configure\": \"builder\"");
        }
        let routing = filled(&spec.routing);
        let allowed = [RoutingMethod::Auto, RoutingMethod::Shortest, RoutingMethod::FatTree];
        if routing.method.is_some_and(|method| !allowed.contains(&method)) {
            let message = "the host knows another way only: fewest hops";
            let help = "allowed: \"shortest\" (lowest port), \"fat_tree\" (spread over all), \"auto\"";
            refuse("/routing/method".into(), message, help);
        }
        for (key, given) in [("tables", routing.tables.is_some()), ("root", routing.root.is_some())] {
            if given {
                let message = "the host writes the routing tables";
                refuse(format!("/routing/{key}"), message, "leave it out, or use \"configure\": \"builder\"");
            }
        }
        if let Some(i) = spec.traffic.iter().position(|flow| is_of_host(&flow.name)) {
            let message = format!("\"{}\" is the flow of the host's own requests", spec.traffic[i].name);
            let at = format!("/traffic/{i}/name");
            self.out.push(Diagnostic::error("SC046", at, message).help("choose another name"));
        }
    }

    /// The host sets GEN_EN wherever both ends can, PART everywhere, XOFF nowhere.
    fn check_registers(&mut self, ports: &[Vec<PortConfig>], enabled: bool) {
        for (device, own) in ports.iter().enumerate() {
            let switch = self.graph.is_switch(device);
            for (number, port) in (0..).zip(own) {
                let hears = self.neighbours[device][usize::from(number)]
                    .is_some_and(|(_, other, back)| ports[other][usize::from(back)].voq.rx_sup);
                let PortVoq { gen_sup, gen_en, part, xoff, .. } = port.voq;
                if (gen_en, part, xoff) == (enabled && switch && gen_sup && hears, enabled && switch, false) {
                    continue;
                }
                let name = self.graph.port_name((device, number));
                let message = format!("the VoQ registers of \"{name}\" are not those that the host sets");
                let help = "it sets gen_en where both ends can, part everywhere and xoff nowhere: leave \
                            these out, or use \"configure\": \"builder\"";
                self.once(Diagnostic::error("SC065", "/configure/fabric", message).help(help));
            }
        }
    }
}
