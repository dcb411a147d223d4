//! Routing tables: the method, entries by hand, multicast masks, next hops, and whether it all works.

use crate::compiler::{Compiler, no_match};
use crate::diagnostic::Diagnostic;
use crate::fabric::{self, Fate, Stopping};
use crate::names;
use crate::routing;
use crate::source::escape;
use crate::spec::*;
use crate::topology::shortened;
use models::config::*;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

impl Compiler<'_> {
    pub fn routes(&mut self) -> Option<routing::Tables> {
        let spec = filled(&self.spec.routing);
        let method = match filled(&spec.method) {
            RoutingMethod::Auto => self.spec.topology.method(),
            method => *method,
        };
        let mut root = (0..self.graph.nodes.len()).find(|&d| self.graph.is_switch(d)).unwrap_or(0);
        if let Some(name) = &spec.root {
            match self.graph.find(name).filter(|&d| self.graph.is_switch(d)) {
                Some(device) => root = device,
                None => {
                    let message = format!("there is no switch \"{name}\"");
                    let names = self.device_names();
                    let finding =
                        Diagnostic::error("SC011", "/routing/root", message).did_you_mean_name(name, names);
                    self.out.push(finding);
                }
            }
        }
        let tables = match method {
            RoutingMethod::Shortest | RoutingMethod::Auto => {
                Some(routing::shortest(&self.graph, &self.neighbours))
            }
            RoutingMethod::UpDown => Some(routing::up_down(&self.graph, &self.neighbours, root)),
            RoutingMethod::DimensionOrder => routing::dimension_order(&self.graph, &self.neighbours),
            RoutingMethod::FatTree => routing::fat_tree(&self.graph, &self.neighbours),
            RoutingMethod::Tables => Some(routing::none()),
        };
        if tables.is_none() {
            let (word, shape) = match method {
                RoutingMethod::DimensionOrder => ("dimension_order", "a mesh"),
                _ => ("fat_tree", "a fat tree"),
            };
            let message = format!("\"{word}\" needs {shape}");
            let help = "use \"auto\", \"shortest\" or \"up_down\"";
            self.out.push(Diagnostic::error("SC026", "/routing/method", message).help(help));
        }
        tables
    }

    /// The entries of every switch by the method of routing, without the second level. What is the same in
    /// many tables is there once.
    pub fn unicast(&self, tables: &routing::Tables, id_space: usize) -> Vec<IdTable<Route>> {
        let ids: Vec<usize> =
            self.graph.endpoints.iter().map(|&endpoint| self.ids[endpoint] as usize).collect();
        let mut row = vec![NO_PORT; ids.len()];
        let mut ports = vec![NO_PORT; id_space.next_multiple_of(BLOCK)];
        let mut known: BTreeMap<[u8; BLOCK], Block<Route>> = BTreeMap::new();
        let of_switch = |device| {
            if !self.graph.is_switch(device) {
                return IdTable::default();
            }
            tables(device, &mut row);
            ports.fill(NO_PORT);
            for (&id, &port) in ids.iter().zip(&row).filter(|(id, port)| **id < id_space && **port != NO_PORT)
            {
                ports[id] = port;
            }
            let block = |ports: &[u8; BLOCK]| match known.get(ports) {
                Some(block) => Arc::clone(block),
                None => {
                    let block =
                        Arc::new(ports.map(|port| Route { egress: egress_of(port), next_hop: NO_PORT }));
                    known.insert(*ports, Arc::clone(&block));
                    block
                }
            };
            IdTable::of_blocks(id_space, ports.as_chunks().0.iter().map(block).collect())
        };
        (0..self.graph.nodes.len()).map(of_switch).collect()
    }

    /// Routing entries that the file gives.
    pub fn explicit_tables(&mut self, devices: &mut [DeviceConfig], owners: &[u32]) {
        let spec = self.spec;
        let Some(tables) = spec.routing.as_ref().and_then(|r| r.tables.as_ref()) else { return };
        let mut dropped = BTreeMap::new();
        for (switch, rows) in tables {
            let at = format!("/routing/tables/{}", escape(switch));
            let Some(device) = self.graph.find(switch).filter(|&d| self.graph.is_switch(d)) else {
                let message = format!("there is no switch \"{switch}\"");
                let names = self.device_names();
                let finding =
                    Diagnostic::error("SC011", at, message).did_you_mean_name(switch, names).at_key();
                self.out.push(finding);
                continue;
            };
            let DeviceModel::Switch(config) = &mut devices[device].model else { continue };
            // "default" fills what is left, so it comes last; patterns are applied from general to special by
            // the order of the file's keys, which a map does not keep: names without wild cards win.
            let mut keys: Vec<&String> = rows.keys().collect();
            keys.sort_by_key(|key| (*key == "default", !key.contains(['*', '?', '{']), *key));
            // Who has given an id its route last, and who has given any.
            let mut given: BTreeMap<u32, &str> = BTreeMap::new();
            let mut giving: BTreeSet<&str> = BTreeSet::new();
            for key in keys {
                let pointer = format!("{at}/{}", escape(key));
                let egress = match route_target(&rows[key], self.graph.ports(device), switch) {
                    Ok(egress) => egress,
                    Err((message, help)) => {
                        self.out.push(Diagnostic::error("SC024", pointer, message).help(help));
                        continue;
                    }
                };
                let ids: Vec<u32> = if key == "default" {
                    let entries = &config.routes.entries;
                    let open =
                        |id: &u32| !given.contains_key(id) && entries[*id as usize].egress == Egress::Drop;
                    (0..entries.len() as u32).filter(open).collect()
                } else if let Ok(id) = key.parse::<u32>() {
                    if let Some((group, _)) = self.groups.iter().find(|(_, own)| **own == id) {
                        let message = format!("destination id {id} is the multicast group \"{group}\"");
                        let help =
                            "packets of a group go to its members, by a tree that is computed from them";
                        self.out.push(Diagnostic::error("SC024", pointer, message).help(help).at_key());
                        continue;
                    }
                    vec![id]
                } else {
                    let endpoints: Vec<usize> = self.graph.endpoints.clone();
                    let names: Vec<&str> =
                        endpoints.iter().map(|&e| self.graph.nodes[e].name.as_str()).collect();
                    match names::select(std::slice::from_ref(key), &names) {
                        Ok(hits) => hits.into_iter().map(|i| self.ids[endpoints[i]]).collect(),
                        Err(_) => {
                            let finding = Diagnostic::error("SC024", pointer, no_match("endpoint", key))
                                .help("write an endpoint, a pattern, a destination id or \"default\"")
                                .did_you_mean_name(key, names)
                                .at_key();
                            self.out.push(finding);
                            continue;
                        }
                    }
                };
                for id in ids {
                    match config.routes.entries.get_mut(id as usize) {
                        Some(entry) => {
                            entry.egress = egress;
                            given.insert(id, key);
                            giving.insert(key);
                            match egress {
                                Egress::Drop => drop(dropped.insert((device as u32, id), pointer.clone())),
                                _ => drop(dropped.remove(&(device as u32, id))),
                            }
                        }
                        None => {
                            let message = format!("destination id {id} belongs to nobody");
                            let help = format!("ids in use: up to {}", owners.len() - 1);
                            self.out.push(
                                Diagnostic::error("SC024", pointer.clone(), message).help(help).at_key(),
                            );
                        }
                    }
                }
            }
            let kept: BTreeSet<&str> = given.into_values().collect();
            for key in giving.difference(&kept) {
                let message = "this entry has no effect: others say where all its destinations go";
                let help = "the name of an endpoint goes before its id, and an id before a pattern; of \
                            patterns the one that comes later in the order of their characters";
                let pointer = format!("{at}/{}", escape(key));
                self.out.push(Diagnostic::error("SC051", pointer, message).help(help).at_key());
            }
        }
        self.dropped = dropped;
    }

    /// Why a switch drops what is for an id, for messages.
    pub fn why_dropped(&self, switch: u32, id: u32) -> String {
        let name = &self.graph.nodes[switch as usize].name;
        match self.dropped.get(&(switch, id)) {
            Some(pointer) => format!("switch \"{name}\" drops it, as {pointer} says"),
            None => format!("switch \"{name}\" has no route for it"),
        }
    }

    /// Multicast masks: one tree of shortest paths over the members, the same from every side.
    pub fn multicast(&mut self, config: &mut FabricConfig) {
        let spec = self.spec;
        for (i, group) in spec.multicast.iter().flatten().enumerate() {
            let pointer = format!("/multicast/{i}/members");
            let endpoints = self.graph.endpoints.clone();
            let names: Vec<&str> = endpoints.iter().map(|&e| self.graph.nodes[e].name.as_str()).collect();
            let members: Vec<usize> = match names::select(group.members.patterns(), &names) {
                Ok(hits) => hits.into_iter().map(|h| endpoints[h]).collect(),
                Err(pattern) => {
                    let finding = Diagnostic::error(
                        "SC023",
                        group.members.place(&pointer, &pattern),
                        no_match("endpoint", &pattern),
                    )
                    .help(format!("endpoints: {}", shortened(names.iter().copied())))
                    .did_you_mean_name(&pattern, names.iter().copied());
                    self.out.push(finding);
                    continue;
                }
            };
            let id = self.groups[&group.name];
            if let [member] = members[..] {
                self.sole_members.insert(id, member);
            }
            let Some(masks) = self.tree(&members) else {
                let message = format!("the members of \"{}\" are not connected", group.name);
                self.out.push(Diagnostic::error("SC023", pointer, message));
                continue;
            };
            for (device, mask) in masks {
                let limit = self.devices[device].preset.masks_max;
                let DeviceModel::Switch(own) = &mut config.devices[device].model else { continue };
                let index = own.routes.masks.len();
                if index >= limit {
                    let message =
                        format!("\"{}\" has only {limit} multicast masks", self.graph.nodes[device].name);
                    self.once(Diagnostic::error("SC023", format!("/multicast/{i}"), message));
                    continue;
                }
                own.routes.masks.push(mask);
                own.routes.mask_next_hops.push(vec![PortSet::EMPTY; usize::from(self.graph.ports(device))]);
                if let Some(entry) = own.routes.entries.get_mut(id as usize) {
                    *entry = Route { egress: Egress::Multicast(index as u8), next_hop: NO_PORT };
                }
            }
        }
    }

    /// Port masks of the tree over the members, for every switch; a switch off the tree sends towards it.
    fn tree(&self, members: &[usize]) -> Option<BTreeMap<usize, PortSet>> {
        let first = self.neighbours[*members.first()?][0]?.1;
        // Breadth-first from the switch of the first member: every switch knows the port towards it.
        let mut towards: BTreeMap<usize, (usize, u8, u8)> = BTreeMap::new();
        let mut queue = VecDeque::from([first]);
        let mut order = vec![first];
        while let Some(at) = queue.pop_front() {
            for (port, link) in self.neighbours[at].iter().enumerate() {
                let Some((_, other, other_port)) = *link else { continue };
                if self.graph.is_switch(other) && other != first && !towards.contains_key(&other) {
                    towards.insert(other, (at, other_port, port as u8));
                    queue.push_back(other);
                    order.push(other);
                }
            }
        }
        let mut masks: BTreeMap<usize, PortSet> = BTreeMap::new();
        for &member in members {
            let (_, mut at, port) = self.neighbours[member][0]?;
            masks.entry(at).or_default().insert(port);
            while at != first {
                let &(before, up, down) = towards.get(&at)?;
                masks.entry(at).or_default().insert(up);
                masks.entry(before).or_default().insert(down);
                at = before;
            }
        }
        for at in order {
            if let (false, Some(&(_, up, _))) = (masks.contains_key(&at), towards.get(&at)) {
                masks.insert(at, PortSet::of(up));
            }
        }
        Some(masks)
    }

    /// Whether every port that stages can tell apart the sets of the neighbour's ports that multicast packets
    /// stand for (VOQ-4.3-10).
    pub fn check_sets(&mut self, config: &FabricConfig) {
        let wires = fabric::wires(config);
        for (d, device) in config.devices.iter().enumerate() {
            let (DeviceModel::Switch(SwitchConfig { staging, .. })
            | DeviceModel::Endpoint(EndpointConfig { staging, .. })) = &device.model;
            if *staging == StagingConfig::None {
                continue;
            }
            for (p, wire) in wires[d].iter().enumerate().filter(|(p, _)| device.ports[*p].voq.rx_sup) {
                let &Some((link, neighbour, back)) = wire else { continue };
                let Some(neighbour) = fabric::switch(config, neighbour) else { continue };
                if !config.links[link as usize].long_symbols {
                    continue;
                }
                let sets = match &device.model {
                    DeviceModel::Switch(own) => {
                        of_several(own.routes.mask_next_hops.iter().map(|sets| sets[p]))
                    }
                    DeviceModel::Endpoint(_) => {
                        of_several(neighbour.routes.masks.iter().map(|mask| mask.without(back)))
                    }
                };
                if sets.len() > MULTICAST_SETS_MAX {
                    let message = format!(
                        "\"{}\" would stage for {} sets of its neighbour's ports",
                        self.graph.port_name((d, p as u8)),
                        sets.len()
                    );
                    let help = format!(
                        "at most {MULTICAST_SETS_MAX}: use fewer groups, or \"staging\": \"none\" there"
                    );
                    self.once(Diagnostic::error("SC097", "/multicast", message).help(help));
                }
            }
        }
    }

    /// Follows every route: does everything arrive, can the fabric deadlock?
    pub fn follow(&mut self, config: &FabricConfig) -> (fabric::Walk, fabric::Routes) {
        let walk = fabric::walk(config);
        let routes = fabric::Routes::new(config, &walk, self.cut_off);
        let accepted = *filled(&filled(&self.spec.routing).allow_deadlock);
        let name = |device: u32| config.devices[device as usize].path.as_str();
        let mut found = Vec::new();
        if let Some(((id, _), Fate::Loop(cycle))) =
            walk.lost.iter().find(|(_, fate)| matches!(fate, Fate::Loop(_)))
        {
            let mut names: Vec<&str> = cycle.iter().map(|&d| name(d)).collect();
            names.push(names[0]);
            let target = name(config.owners[*id as usize]);
            let message =
                format!("packets for \"{target}\" (id {id}) go round for ever: {}", names.join(" -> "));
            found.push(
                Diagnostic::error("SC021", "/routing/tables", message).help("correct one of these switches"),
            );
        } else if let Some(cycle) = &routes.circle {
            let message = format!("links can wait for each other in a circle: {}", circle(config, cycle));
            let finding = if accepted {
                Diagnostic::warning("SC075", "/routing/allow_deadlock", message)
            } else {
                Diagnostic::error("SC022", "/routing", message)
                    .help("use another routing method, or accept it with \"allow_deadlock\": true")
            };
            found.push(finding);
        } else if let Some(stopping) = &routes.stopping {
            const QUEUES: &str = "\"per_port\" staging, or the verdict \"per_ingress\"";
            const INPUTS: &str = "\"input\": \"voq\", or the verdict \"per_ingress\"";
            let (place, what, help, cycle) = match stopping {
                Stopping::Queues(cycle) => {
                    let what = "staging queues that ports share can stop each other in a circle";
                    ("/voq/staging", what, QUEUES, &cycle[..])
                }
                Stopping::Inputs(cycle) => {
                    let what = "packets behind others in fifo inputs can stop each other in a circle";
                    ("/voq/verdict", what, INPUTS, &cycle[..])
                }
                Stopping::Copies(ends) => {
                    let what = "copies of multicast packets can stop each other behind fifo inputs";
                    ("/voq/verdict", what, INPUTS, &ends[..])
                }
            };
            let message = format!("{what}: {}", circle(config, cycle));
            found.push(Diagnostic::warning("SC076", place, message).help(help));
        }
        let pools: Vec<&str> = fabric::shared_pools(config).map(|device| device.path.as_str()).collect();
        if let [one, other, ..] = pools[..]
            && routes.circle.is_none()
        {
            let message = format!(
                "the pools of \"{one}\", \"{other}\"{} can fill with packets for each other, which then wait \
                 for ever",
                match pools.len() - 2 {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                }
            );
            let help = "\"buffering\": \"output\" or \"crosspoint\", or loads that no pool is filled by";
            found.push(Diagnostic::warning("SC122", "/switch/buffering", message).help(help));
        }
        self.out.append(&mut found);
        (walk, routes)
    }

    /// Destinations that some endpoints cannot reach; where traffic needs them, the traffic finds the error.
    pub fn lost(&mut self, config: &FabricConfig, walk: &fabric::Walk) {
        let strays = fabric::lost(config, walk).filter(|(_, fate)| !matches!(fate, Fate::Loop(_)));
        let mut count = 0;
        let mut first = None;
        for ((id, switch), fate) in strays {
            count += 1;
            first.get_or_insert((*id, *switch, fate.clone()));
        }
        let Some((id, switch, fate)) = first else { return };
        let name = |device: u32| config.devices[device as usize].path.as_str();
        let target = config.owners[id as usize];
        let why = match fate {
            Fate::Dropped(at) => self.why_dropped(at, id),
            Fate::Astray(at) => format!("it arrives at \"{}\"", name(at)),
            Fate::Loop(_) => "it goes round for ever".into(),
        };
        let message = format!(
            "a packet for \"{}\" (id {id}) that enters at \"{}\" is lost: {why}",
            name(target),
            name(switch)
        );
        let more = if count > 1 {
            format!("{count} pairs of entry switch and destination are concerned")
        } else {
            String::new()
        };
        let finding = Diagnostic::warning("SC073", "/routing", message);
        let finding = if more.is_empty() { finding } else { finding.help(more) };
        self.out.push(finding);
    }
}

/// A cycle of output ports, for messages.
fn circle(config: &FabricConfig, cycle: &[(u32, u8)]) -> String {
    const SHOWN: usize = 12;
    let mut steps: Vec<String> = cycle.iter().map(|&(d, p)| fabric::port_name(config, d, p)).collect();
    if steps.len() > SHOWN {
        let more = steps.len() - SHOWN;
        steps.truncate(SHOWN);
        steps.push(format!("... {more} more ..."));
    }
    steps.push(steps[0].clone());
    steps.join(" -> ")
}

fn route_target(target: &RouteTarget, ports: u8, switch: &str) -> Result<Egress, (String, String)> {
    let help = format!("allowed: \"drop\" or a port, 0 to {}", ports - 1);
    match target {
        RouteTarget::Port(port) if *port < u32::from(ports) => Ok(Egress::Port(*port as u8)),
        RouteTarget::Port(port) => Err((format!("port {port} of \"{switch}\" does not exist"), help)),
        RouteTarget::Word(word) if word == "drop" => Ok(Egress::Drop),
        RouteTarget::Word(word) => Err((format!("\"{word}\" is not a route"), help)),
    }
}

fn egress_of(port: u8) -> Egress {
    if port == NO_PORT { Egress::Drop } else { Egress::Port(port) }
}

/// The egress port of a route, [`NO_PORT`] if it is not one port.
fn port_of(route: &Route) -> u8 {
    match route.egress {
        Egress::Port(port) => port,
        Egress::Multicast(_) | Egress::Drop => NO_PORT,
    }
}

/// Fills in the second level of routing from the tables of the neighbours (VOQ-2.2-5).
pub fn next_hops(config: &mut FabricConfig) {
    let wires = fabric::wires(config);
    next_hops_of_groups(config, &wires);
    let blocks = fabric::Blocks::new(config);
    let egress: Vec<Block<u8>> =
        blocks.distinct.iter().map(|b| Arc::new(b.each_ref().map(port_of))).collect();
    let mut second = SecondLevel::new(&blocks, &egress);
    // Endpoints of one switch share their table.
    let mut of_switch: Vec<Option<Arc<IdTable<u8>>>> = vec![None; config.devices.len()];
    for (device, ports) in wires.iter().enumerate() {
        match &mut config.devices[device].model {
            DeviceModel::Switch(own) => {
                let new = (0..blocks.of[device].len()).map(|index| second.block(device, index, ports));
                own.routes.entries = IdTable::of_blocks(own.routes.entries.len(), new.collect());
            }
            DeviceModel::Endpoint(own) => {
                if let (Some((_, next, _)), true) = (ports[0], own.staging != StagingConfig::None) {
                    let table = of_switch[next as usize].get_or_insert_with(|| {
                        let numbers = blocks.of[next as usize].iter();
                        let all = numbers.map(|number| Arc::clone(&egress[*number as usize])).collect();
                        Arc::new(IdTable::of_blocks(blocks.lengths[next as usize], all))
                    });
                    own.next_hop = Arc::clone(table);
                }
            }
        }
    }
}

/// Of multicast groups: the neighbours' masks.
fn next_hops_of_groups(config: &mut FabricConfig, wires: &fabric::Wires) {
    let mut masks: Vec<(usize, usize, u8, PortSet)> = Vec::new();
    for (device, ports) in wires.iter().enumerate() {
        let Some(own) = fabric::switch(config, device as u32) else { continue };
        if own.routes.masks.is_empty() {
            continue;
        }
        for (id, route) in own.routes.entries.iter().enumerate() {
            let Egress::Multicast(mask) = route.egress else { continue };
            for port in own.routes.masks[usize::from(mask)].iter() {
                if let Some((_, next, ingress)) = ports[usize::from(port)] {
                    masks.push((
                        device,
                        usize::from(mask),
                        port,
                        fabric::mask_behind(config, next, ingress, id as u32),
                    ));
                }
            }
        }
    }
    for (device, mask, port, bits) in masks {
        if let DeviceModel::Switch(own) = &mut config.devices[device].model {
            own.routes.mask_next_hops[mask][usize::from(port)] = bits;
        }
    }
}

/// Makes blocks with both levels of those with one.
struct SecondLevel<'a> {
    blocks: &'a fabric::Blocks,
    egress: &'a [Block<u8>],
    /// By block, where it leads to one port alone, and block of the neighbour there.
    by_neighbour: BTreeMap<(u32, Option<u32>), Block<Route>>,
    /// By block and next hops.
    by_ports: BTreeMap<(u32, [u8; BLOCK]), Block<Route>>,
}

impl<'a> SecondLevel<'a> {
    fn new(blocks: &'a fabric::Blocks, egress: &'a [Block<u8>]) -> Self {
        SecondLevel { blocks, egress, by_neighbour: BTreeMap::new(), by_ports: BTreeMap::new() }
    }

    fn block(&mut self, device: usize, index: usize, ports: &[Option<(u32, u32, u8)>]) -> Block<Route> {
        let number = self.blocks.of[device][index];
        let behind = |port: u8| {
            let (_, next, _) = ports.get(usize::from(port)).copied().flatten()?;
            self.blocks.of[next as usize].get(index).copied()
        };
        let sole = self.blocks.sole[number as usize].map(|port| (number, behind(port)));
        if let Some(block) = sole.and_then(|key| self.by_neighbour.get(&key)) {
            return Arc::clone(block);
        }
        let own = &self.egress[number as usize];
        let next: [u8; BLOCK] =
            std::array::from_fn(|i| behind(own[i]).map_or(NO_PORT, |next| self.egress[next as usize][i]));
        let block = self.by_ports.entry((number, next)).or_insert_with(|| {
            let mut block = *self.blocks.distinct[number as usize];
            for (route, next) in block.iter_mut().zip(next) {
                if matches!(route.egress, Egress::Port(_)) {
                    route.next_hop = next;
                }
            }
            Arc::new(block)
        });
        let block = Arc::clone(block);
        if let Some(key) = sole {
            self.by_neighbour.insert(key, Arc::clone(&block));
        }
        block
    }
}
