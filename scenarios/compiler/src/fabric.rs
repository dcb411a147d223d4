//! Checks on a compiled fabric: do the two levels of routing agree, does every packet arrive, can it
//! deadlock? And how many buffers a link needs.

mod blocks;
mod headroom;
mod walk;

use models::config::{
    BLOCK, Block, Buffering, DeviceConfig, DeviceModel, Egress, FabricConfig, Forwarding, IdTable,
    InputQueueing, LinkConfig, NO_PORT, PortSet, Route, SourceConfig, StagingConfig, SwitchConfig, Verdict,
};
use models::ratio::is_less;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use blocks::NO_BLOCK;

pub(crate) use blocks::Blocks;
pub(crate) use headroom::{Headroom, detectors, priorities};
pub use walk::{Fate, Walk, walk, walk_on};

/// `wires[device][port]` = (link, neighbour, port of the neighbour).
pub type Wires = Vec<Vec<Option<(u32, u32, u8)>>>;

/// The links by port.
pub fn wires(config: &FabricConfig) -> Wires {
    let mut wires: Wires = config.devices.iter().map(|d| vec![None; d.ports.len()]).collect();
    for (i, link) in config.links.iter().enumerate() {
        wires[link.a.0 as usize][usize::from(link.a.1)] = Some((i as u32, link.b.0, link.b.1));
        wires[link.b.0 as usize][usize::from(link.b.1)] = Some((i as u32, link.a.0, link.a.1));
    }
    wires
}

pub(crate) fn switch(config: &FabricConfig, device: u32) -> Option<&SwitchConfig> {
    match &config.devices[device as usize].model {
        DeviceModel::Switch(switch) => Some(switch),
        DeviceModel::Endpoint(_) => None,
    }
}

/// `device:port` for messages.
pub fn port_name(config: &FabricConfig, device: u32, port: u8) -> String {
    format!("{}:{port}", config.devices[device as usize].path)
}

/// Ids that are not reached from a switch with endpoints, as a walk found. What translators join they join by
/// their interfaces, and not by routes.
pub(crate) fn lost<'a>(
    config: &'a FabricConfig,
    walk: &'a Walk,
) -> impl Iterator<Item = (&'a (u32, u32), &'a Fate)> {
    let segment = |device: u32| config.translation.segments.get(device as usize);
    walk.lost.iter().filter(move |((id, switch), _)| segment(config.owners[*id as usize]) == segment(*switch))
}

/// What a walk has shown, as far as reports tell it: the walk itself knows each turn, and is as large as the
/// fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// Ways from one link between switches to another that some packet goes.
    pub turns: u32,
    /// How often an id is not reached from a switch with endpoints.
    pub lost: usize,
    /// Endpoints that the host which sets the fabric up cannot reach.
    pub cut_off: usize,
    /// Links that can wait for each other ([`channel_cycle`]).
    pub circle: Option<Vec<(u32, u8)>>,
    /// How VoQ messages can make links wait for each other though no route does; not looked for where there
    /// is a circle in any case.
    pub stopping: Option<Stopping>,
}

/// How VoQ messages can make links wait for each other, and the links, as (device, output port).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// For what only shares a staging queue with their packets.
    Queues(Vec<(u32, u8)>),
    /// For what only stands before others in FIFO inputs.
    Inputs(Vec<(u32, u8)>),
    /// As copies of multicast packets, for any port of their set.
    Copies([(u32, u8); 2]),
}

impl Stopping {
    fn new(config: &FabricConfig, walk: &Walk) -> Option<Self> {
        let queues = stopping_cycle(config, walk).map(Stopping::Queues);
        let inputs = || input_cycle(config, walk).map(Stopping::Inputs);
        queues.or_else(inputs).or_else(|| copies_that_stop(config).map(Stopping::Copies))
    }
}

impl Routes {
    /// What a walk through this fabric has shown.
    pub fn new(config: &FabricConfig, walk: &Walk, cut_off: usize) -> Self {
        let circle = channel_cycle(config, walk);
        Routes {
            turns: walk.turns.iter().flatten().map(|outputs| outputs.len()).sum(),
            lost: lost(config, walk).count(),
            cut_off,
            stopping: if circle.is_none() { Stopping::new(config, walk) } else { None },
            circle,
        }
    }
}

/// Walks all destination ids and all links and reports every place where a next-hop value differs from the
/// egress port in the neighbour's own table. Empty = the two levels agree.
pub fn check_next_hops(config: &FabricConfig) -> Vec<String> {
    let wires = wires(config);
    let blocks = Blocks::new(config);
    let switches: Vec<(u32, &SwitchConfig)> =
        (0..config.devices.len() as u32).filter_map(|d| Some((d, switch(config, d)?))).collect();
    let mut alike = Alike::new(&blocks);
    // As (device, id), so that they can be told in this order.
    let mut wrong: Vec<((u32, u32), String)> = Vec::new();
    let mut here = Vec::new();
    for first in (0..config.id_space).step_by(BLOCK) {
        let ids = first..config.id_space.min(first + BLOCK as u32);
        blocks.place(first as usize / BLOCK, &mut here);
        // A table that ends within a block has entries there that mean nothing.
        let is_whole = |device: u32| blocks.lengths[device as usize] >= first as usize + BLOCK;
        let whole = switches.iter().all(|(device, _)| is_whole(*device));
        for &(d, own) in &switches {
            if !(whole && alike.is_right(&wires[d as usize], &here, here[d as usize])) {
                ids.clone().for_each(|id| check_entry(config, &wires, d, own, id, &mut wrong));
            }
        }
    }
    // Endpoints of one switch share their table.
    let mut right: BTreeSet<(*const IdTable<u8>, Option<u32>)> = BTreeSet::new();
    for (d, device) in (0..).zip(&config.devices) {
        let DeviceModel::Endpoint(own) = &device.model else { continue };
        let next = wires[d as usize][0].map(|(_, next, _)| next);
        let shared = (Arc::as_ptr(&own.next_hop), next);
        if own.next_hop.is_empty() || right.contains(&shared) {
            continue;
        }
        let before = wrong.len();
        for first in (0..config.id_space).step_by(BLOCK) {
            let (index, end) = (first as usize / BLOCK, first as usize + BLOCK);
            let behind = next.and_then(|next| blocks.of[next as usize].get(index).copied());
            let whole = next.is_none_or(|next| behind.is_none() || blocks.lengths[next as usize] >= end);
            if whole
                && own.next_hop.len() >= end
                && alike.is_right_at_end(&own.next_hop.blocks()[index], behind.unwrap_or(NO_BLOCK))
            {
                continue;
            }
            for id in first..config.id_space.min(first + BLOCK as u32) {
                let expected = next.map_or(NO_PORT, |next| expected_port(config, next, id));
                let found = own.next_hop.get(id as usize).copied().unwrap_or(NO_PORT);
                // An endpoint holds no set for a group: multicast injection is unstaged.
                if found != expected {
                    let text = format!("{}: id {id}: next hop {found}, neighbour {expected}", device.path);
                    wrong.push(((d, id), text));
                }
            }
        }
        if wrong.len() == before {
            right.insert(shared);
        }
    }
    wrong.sort_by_key(|(at, _)| *at);
    wrong.into_iter().map(|(_, text)| text).collect()
}

/// Blocks whose next hops are right, as found. Devices share blocks, and their neighbours do: what was
/// looked at in two of them is not looked at again.
struct Alike<'a> {
    blocks: &'a Blocks,
    /// Of each block whether it copies packets, or has a next hop of what it drops: such entries are
    /// looked at one by one.
    special: Vec<bool>,
    /// Of each way of each block: a block of the neighbour there with which all is right.
    right: Vec<Vec<Option<u32>>>,
    /// Of each block: one of an endpoint's table before it with which all is right.
    right_at_ends: Vec<Option<*const [u8; BLOCK]>>,
}

impl<'a> Alike<'a> {
    fn new(blocks: &'a Blocks) -> Self {
        let is_special = |route: &Route| match route.egress {
            Egress::Port(_) => false,
            Egress::Multicast(_) => true,
            Egress::Drop => route.next_hop != NO_PORT,
        };
        Self {
            blocks,
            special: blocks.distinct.iter().map(|block| block.iter().any(is_special)).collect(),
            right: blocks.ways.iter().map(|ways| vec![None; ways.len()]).collect(),
            right_at_ends: vec![None; blocks.distinct.len()],
        }
    }

    /// Port to which an entry of a block of the neighbour leads, [`NO_PORT`] if it is not one port.
    fn expected(blocks: &Blocks, next: u32, bit: usize) -> u8 {
        match blocks.distinct.get(next as usize).map(|block| block[bit].egress) {
            Some(Egress::Port(port)) => port,
            _ => NO_PORT,
        }
    }

    /// Whether all of a block of an endpoint's table are right, before the block `next` of its neighbour.
    fn is_right_at_end(&mut self, own: &Block<u8>, next: u32) -> bool {
        let known = self.right_at_ends.get_mut(next as usize);
        if known.as_ref().is_some_and(|known| **known == Some(Arc::as_ptr(own))) {
            return true;
        }
        let right = (0..BLOCK).all(|bit| own[bit] == Self::expected(self.blocks, next, bit));
        if let (true, Some(known)) = (right, known) {
            *known = Some(Arc::as_ptr(own));
        }
        right
    }

    /// Whether all next hops of the block `own` of a switch are right; `here` are the blocks of all devices.
    fn is_right(&mut self, wires: &[Option<(u32, u32, u8)>], here: &[u32], own: u32) -> bool {
        if self.special[own as usize] {
            return false;
        }
        let block = &self.blocks.distinct[own as usize];
        let ways = self.blocks.ways[own as usize].iter().zip(&mut self.right[own as usize]);
        for (&(port, through), known) in ways {
            let next = wires.get(usize::from(port)).copied().flatten();
            let next = next.map_or(NO_BLOCK, |(_, next, _)| here[next as usize]);
            if *known == Some(next) {
                continue;
            }
            let expected = |bit: usize| Self::expected(self.blocks, next, bit);
            let leads = |bit: &usize| through >> bit & 1 == 1;
            if (0..BLOCK).filter(leads).any(|bit| block[bit].next_hop != expected(bit)) {
                return false;
            }
            *known = Some(next);
        }
        true
    }
}

/// Egress port for an id in a device, [`NO_PORT`] if it is not one port.
fn expected_port(config: &FabricConfig, device: u32, id: u32) -> u8 {
    match switch(config, device).and_then(|s| s.routes.entries.get(id as usize)).map(|route| route.egress) {
        Some(Egress::Port(port)) => port,
        _ => NO_PORT,
    }
}

fn check_entry(
    config: &FabricConfig,
    wires: &Wires,
    device: u32,
    own: &SwitchConfig,
    id: u32,
    wrong: &mut Vec<((u32, u32), String)>,
) {
    let path = &config.devices[device as usize].path;
    let mut wrong = |text| wrong.push(((device, id), text));
    let Some(route) = own.routes.entries.get(id as usize) else {
        wrong(format!("{path}: id {id} has no entry"));
        return;
    };
    match route.egress {
        Egress::Port(port) => {
            let next = wires[device as usize].get(usize::from(port)).copied().flatten();
            let right = next.map_or(NO_PORT, |(_, next, _)| expected_port(config, next, id));
            if route.next_hop != right {
                wrong(format!("{path}: id {id}: next hop {}, neighbour {right}", route.next_hop));
            }
        }
        Egress::Multicast(mask) => {
            for port in own.routes.masks[usize::from(mask)].iter() {
                let found = own.routes.mask_next_hops[usize::from(mask)].get(usize::from(port)).copied();
                let next = wires[device as usize].get(usize::from(port)).copied().flatten();
                let right =
                    next.map_or(PortSet::EMPTY, |(_, next, ingress)| mask_behind(config, next, ingress, id));
                if found != Some(right) {
                    wrong(format!(
                        "{path}: group {id}, port {port}: next hops {found:x?}, neighbour {right:x?}"
                    ));
                }
            }
        }
        Egress::Drop => {
            if route.next_hop != NO_PORT {
                wrong(format!("{path}: id {id} is dropped but has the next hop {}", route.next_hop));
            }
        }
    }
}

/// Ports through which a copy that enters `device` at `ingress` leaves it.
pub(crate) fn mask_behind(config: &FabricConfig, device: u32, ingress: u8, id: u32) -> PortSet {
    let Some(own) = switch(config, device) else { return PortSet::EMPTY };
    match own.routes.entries.get(id as usize).map(|route| route.egress) {
        Some(Egress::Multicast(mask)) => own.routes.masks[usize::from(mask)].without(ingress),
        Some(Egress::Port(port)) => PortSet::of(port),
        _ => PortSet::EMPTY,
    }
}

/// Switches whose outputs share a pool. Packets of one direction can fill it, and those of the other wait
/// for it: two of them can so wait for each other, whatever the routes.
pub fn shared_pools(config: &FabricConfig) -> impl Iterator<Item = &DeviceConfig> {
    config.devices.iter().filter(|device| match &device.model {
        DeviceModel::Switch(switch) => matches!(switch.buffering, Buffering::Shared { .. }),
        DeviceModel::Endpoint(_) => false,
    })
}

/// A cycle of links that can wait for each other, as (device, output port); `None`: no deadlock is possible.
///
/// Vertices are the directed links between switches, edges the turns that some packet makes.
pub fn channel_cycle(config: &FabricConfig, walk: &Walk) -> Option<Vec<(u32, u8)>> {
    if walk.circles { cycle(&turns(config, walk)) } else { None }
}

/// A cycle where links also wait for what only shares a staging queue with their packets: a message about
/// one port of the neighbour stops that queue whole. `None`: no queue does that, or stopped queues go again.
///
/// Only where the neighbour counts all packets for a port: what it counts for one ingress port alone are
/// packets that turn there, and these wait in any case.
pub fn stopping_cycle(config: &FabricConfig, walk: &Walk) -> Option<Vec<(u32, u8)>> {
    let wires = wires(config);
    let mut stops = Vec::new();
    for link in config.links.iter().filter(|link| link.long_symbols) {
        for (from, to) in [(link.a, link.b), (link.b, link.a)] {
            let (Some(own), Some(next)) = (switch(config, from.0), switch(config, to.0)) else { continue };
            let ports = &config.devices[to.0 as usize].ports;
            let all = |port: u8| counts_all(next, port);
            let map = own.staging.map(ports.len() as u16).filter(|_| obeys(config, from, to));
            let Some(map) = map else { continue };
            let mut of_queue = [0u16; 256];
            let queues = (0..map.ports()).filter_map(|port| map.queue(port));
            queues.for_each(|queue| of_queue[usize::from(queue)] += 1);
            let shares = |port: u16| map.queue(port).is_some_and(|queue| of_queue[usize::from(queue)] > 1);
            for (port, reported) in (0u8..).zip(ports) {
                let leads_on = wires[to.0 as usize][usize::from(port)]
                    .is_some_and(|(_, device, _)| switch(config, device).is_some());
                if reported.voq.part && leads_on && all(port) && shares(port.into()) {
                    stops.push((from, (to.0, port)));
                }
            }
        }
    }
    waits_in_circle(config, walk, stops)
}

/// A cycle of the turns that packets make, and of more channels that wait for others.
fn waits_in_circle(
    config: &FabricConfig,
    walk: &Walk,
    stops: Vec<((u32, u8), (u32, u8))>,
) -> Option<Vec<(u32, u8)>> {
    if stops.is_empty() {
        return None;
    }
    let mut graph = turns(config, walk);
    let vertices: Vec<NodeIndex> = graph.node_indices().collect();
    let mut vertex: BTreeMap<(u32, u8), NodeIndex> = vertices.into_iter().map(|v| (graph[v], v)).collect();
    for (from, to) in stops {
        let [waits, on] =
            [from, to].map(|channel| *vertex.entry(channel).or_insert_with(|| graph.add_node(channel)));
        graph.add_edge(waits, on, ());
    }
    cycle(&graph)
}

/// Whether one end of a link hears of congestion at the other, and does something about it.
fn obeys(config: &FabricConfig, from: (u32, u8), to: (u32, u8)) -> bool {
    let port = |(device, port): (u32, u8)| &config.devices[device as usize].ports[usize::from(port)].voq;
    port(to).gen_en && port(from).rx_sup
}

/// Whether the detector of a port counts what comes from all inputs.
fn counts_all(switch: &SwitchConfig, port: u8) -> bool {
    switch.rules(port.into()).detector.is_some_and(|detector| detector.verdict == Verdict::Shared)
}

/// Whether one end of a link stages, and the switch at the other stops it because of packets that stand in
/// FIFO inputs: with crosspoints these count for their outputs (F-72).
fn stops_by_fifos(config: &FabricConfig, from: (u32, u8), to: (u32, u8)) -> bool {
    let (Some(own), Some(next)) = (switch(config, from.0), switch(config, to.0)) else { return false };
    next.input == InputQueueing::Fifo
        && matches!(next.buffering, Buffering::Crosspoint { .. })
        && own.staging != StagingConfig::None
        && obeys(config, from, to)
}

/// A cycle where links also wait for what stands before others in FIFO inputs. A message about one port of
/// the neighbour holds packets for it, as long as others for it stand there; these may stand in a FIFO
/// behind one for another port, which waits in the same way. `None`: nobody counts what stands in FIFOs, or
/// for one input alone, or what they wait for goes on.
fn input_cycle(config: &FabricConfig, walk: &Walk) -> Option<Vec<(u32, u8)>> {
    let wires = wires(config);
    let mut stops = Vec::new();
    for link in config.links.iter().filter(|link| link.long_symbols) {
        for (from, to) in [(link.a, link.b), (link.b, link.a)] {
            if !stops_by_fifos(config, from, to) {
                continue;
            }
            let next = switch(config, to.0).expect("it stops others");
            let ports = &config.devices[to.0 as usize].ports;
            let behind = |port: u8| wires[to.0 as usize][usize::from(port)].map(|(_, device, _)| device);
            let leads_on = |port: u8| behind(port).is_some_and(|device| switch(config, device).is_some());
            let all = |port: &u8| behind(*port).is_some();
            let every = || (0..ports.len() as u8).filter(all);
            // some packet of that input is for that output
            let goes = |input: u8, output: u8| {
                let between_switches = leads_on(input) && leads_on(output);
                input != output
                    && (!between_switches || walk.turns[to.0 as usize][usize::from(input)].contains(output))
            };
            let reports =
                |port: u8| port != to.1 && ports[usize::from(port)].voq.part && counts_all(next, port);
            // what the message is about stands behind what is for another switch
            let stands_behind = |before: u8| {
                every().any(|about| {
                    about != before
                        && reports(about)
                        && every().any(|input| goes(input, about) && goes(input, before))
                })
            };
            stops.extend(
                every()
                    .filter(|before| leads_on(*before) && stands_behind(*before))
                    .map(|before| (from, (to.0, before))),
            );
        }
    }
    waits_in_circle(config, walk, stops)
}

/// Two switches between whose ports copies of multicast packets can stop each other, whatever the staging:
/// a copy waits as long as any port of its set is congested, and the packets that make it so may stand in
/// a FIFO behind a copy that waits for the other switch in the same way. Only where the neighbour counts
/// all packets for a port, those in FIFO inputs included.
fn copies_that_stop(config: &FabricConfig) -> Option<[(u32, u8); 2]> {
    let stops = |from: (u32, u8), to: (u32, u8)| {
        stops_by_fifos(config, from, to)
            && switch(config, to.0).is_some_and(|next| {
                let ports = config.devices[to.0 as usize].ports.len() as u8;
                next.routes.masks.iter().any(|mask| mask.without(to.1).len() > 1)
                    && (0..ports).any(|port| counts_all(next, port))
            })
    };
    let mut links = config.links.iter().filter(|link| link.long_symbols);
    let both = links.find(|link| stops(link.a, link.b) && stops(link.b, link.a));
    both.map(|link| [link.a, link.b])
}

/// The directed links between switches, and the turns that some packet makes from one to the next.
fn turns(config: &FabricConfig, walk: &Walk) -> DiGraph<(u32, u8), ()> {
    let wires = wires(config);
    let mut graph: DiGraph<(u32, u8), ()> = DiGraph::new();
    let mut vertex: BTreeMap<(u32, u8), NodeIndex> = BTreeMap::new();
    for (device, inputs) in walk.turns.iter().enumerate() {
        for (input, &outputs) in inputs.iter().enumerate().filter(|(_, outputs)| !outputs.is_empty()) {
            // The channel into this input is the neighbour's output.
            let Some((_, before, before_port)) = wires[device][input] else { continue };
            let mut of = |channel| *vertex.entry(channel).or_insert_with(|| graph.add_node(channel));
            let from = of((before, before_port));
            let to: Vec<NodeIndex> = outputs.iter().map(|p| of((device as u32, p))).collect();
            for to in to {
                graph.add_edge(from, to, ());
            }
        }
    }
    graph
}

/// A shortest cycle of the smallest knot of a graph.
fn cycle(graph: &DiGraph<(u32, u8), ()>) -> Option<Vec<(u32, u8)>> {
    let knot = tarjan_scc(graph)
        .into_iter()
        .filter(|part| part.len() > 1 || graph.contains_edge(part[0], part[0]))
        .min_by_key(|part| (part.len(), part.iter().map(|v| graph[*v]).min()))?;
    let start = knot.iter().copied().min_by_key(|v| graph[*v])?;
    Some(shortest_cycle(graph, start).into_iter().map(|v| graph[v]).collect())
}

/// Shortest cycle through a vertex that is known to lie on one.
fn shortest_cycle(graph: &DiGraph<(u32, u8), ()>, start: NodeIndex) -> Vec<NodeIndex> {
    let mut before: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        let mut next: Vec<NodeIndex> = graph.neighbors(at).collect();
        next.sort_by_key(|v| graph[*v]);
        for to in next {
            if to == start {
                let mut cycle = vec![at];
                let mut v = at;
                while v != start {
                    v = before[&v];
                    cycle.push(v);
                }
                cycle.reverse();
                return cycle;
            }
            before.entry(to).or_insert_with(|| {
                queue.push_back(to);
                at
            });
        }
    }
    vec![start]
}

/// Links with the buffers that keep them busy.
pub(crate) struct Loops<'a> {
    config: &'a FabricConfig,
    pub lengths: Lengths,
    /// Of each device its fastest and its slowest link, by their characters.
    paces: Vec<Option<[&'a LinkConfig; 2]>>,
}

impl<'a> Loops<'a> {
    pub fn of(config: &'a FabricConfig) -> Self {
        let mut paces: Vec<Option<[&LinkConfig; 2]>> = vec![None; config.devices.len()];
        for link in &config.links {
            for end in [link.a, link.b] {
                let [fastest, slowest] = paces[end.0 as usize].get_or_insert([link; 2]);
                if is_less(link.char_ps, fastest.char_ps) {
                    *fastest = link;
                }
                if is_less(slowest.char_ps, link.char_ps) {
                    *slowest = link;
                }
            }
        }
        Loops { config, lengths: Lengths::of(config), paces }
    }

    /// Buffers of a device with which a link to it is used fully, whatever the order of its packets: a place
    /// each for those in the loop of a buffer.
    ///
    /// A buffer is in use while a packet is sent, travels, passes the pipeline of the switch that it reaches,
    /// and is sent on, unless there are buffers behind the inputs. Then a symbol goes back, behind the packet
    /// of the other direction whose delimiter it has to wait for, and behind the symbols of the packets
    /// before it that waited as well. In the worst case both the packet that is sent on and that of the
    /// other direction are the longest there are; those that need a buffer meanwhile are the shortest.
    pub fn packets(&self, link: &LinkConfig, device: u32) -> u64 {
        let den = u128::from(link.char_ps.1);
        let symbol = u128::from(link.symbol_chars) * u128::from(link.char_ps.0);
        let [shortest, longest] = self.lengths.with(link);
        let pipeline = u128::from(self.pipeline(device));
        let held = self.held(link, device, &|link| self.lengths.with(link)[1]);
        // What is sent on before all of it is here is accepted first, and free by itself: a symbol each.
        let each = 1 + u128::from(held > 0 && self.cuts_through(device));
        // Symbols from one packet of the other direction to the next; the first rides on the delimiter of
        // that packet. Each makes the next packet later, and so makes room for more.
        let mut symbols = each;
        while (longest + (symbols - 1) * symbol).div_ceil(shortest) * each > symbols {
            symbols += 1;
        }
        let behind =
            held + longest + symbols * symbol + (2 * u128::from(link.propagation.0) + pipeline) * den;
        // The first of them, and all that start before its buffer is free again.
        1 + behind.div_ceil(shortest) as u64
    }

    /// ackIDs without which a link to a device is not used fully, even if all packets are as long as the
    /// longest: one each for those that start before the first is acknowledged. A switch does so behind its
    /// pipeline.
    pub fn unacknowledged(&self, link: &LinkConfig, device: u32) -> u64 {
        let symbol = u128::from(link.symbol_chars) * u128::from(link.char_ps.0);
        let way = 2 * u128::from(link.propagation.0) + u128::from(self.pipeline(device));
        let behind = symbol + way * u128::from(link.char_ps.1);
        1 + behind.div_ceil(self.lengths.with(link)[1]) as u64
    }

    /// Buffers with which a link is used fully, of the end that needs more.
    pub fn of_link(&self, link: &LinkConfig) -> u64 {
        self.packets(link, link.a.0).max(self.packets(link, link.b.0))
    }

    /// Places of a device with which a link of another medium to it is used fully by frames of so many
    /// octets both ways: the news of a free place takes no time of the link.
    pub fn frames(&self, link: &LinkConfig, device: u32, octets: u32) -> u64 {
        let den = u128::from(link.char_ps.1);
        let time = |link: &LinkConfig| u128::from(octets) * u128::from(link.char_ps.0);
        let frame = time(link);
        let pipeline = u128::from(self.pipeline(device));
        let behind = self.held(link, device, &time) + (2 * u128::from(link.propagation.0) + pipeline) * den;
        1 + behind.div_ceil(frame) as u64
    }

    fn pipeline(&self, device: u32) -> u64 {
        switch(self.config, device).map_or(0, |switch| switch.pipeline.0)
    }

    fn cuts_through(&self, device: u32) -> bool {
        let forwarding = switch(self.config, device).map(|switch| switch.forwarding);
        matches!(forwarding, Some(Forwarding::CutThrough { .. }))
    }

    /// How long a packet that goes on at once keeps its receive buffer when all of it is there, times the
    /// denominator of the link. `time`: how long it takes on a link, times the denominator of that one.
    ///
    /// Stored first, it is read then. Cut through, it is read since its head was there: what is left are the
    /// characters of the head, and what a slower output takes longer. With one read at a time such an output
    /// is the bound by itself. To a faster output, and to several, it is stored first (F-62).
    fn held(&self, link: &LinkConfig, device: u32, time: &dyn Fn(&LinkConfig) -> u128) -> u128 {
        let Some(switch) = switch(self.config, device) else { return 0 };
        if switch.buffering != Buffering::Direct {
            return 0;
        }
        let packet = time(link);
        let Some([fastest, slowest]) = self.paces[device as usize] else { return packet };
        let Forwarding::CutThrough { header } = switch.forwarding else { return packet };
        let head = u128::from(u32::from(header) + u32::from(link.symbol_chars)) * u128::from(link.char_ps.0);
        let longer = match switch.reads_per_input {
            1 => 0,
            // The time on that output, in the unit of this link: rounded up.
            _ => {
                let on_it = time(slowest) * u128::from(link.char_ps.1);
                on_it.div_ceil(u128::from(slowest.char_ps.1)).saturating_sub(packet)
            }
        };
        let cut = head.min(packet) + longer;
        let is_stored = is_less(fastest.char_ps, link.char_ps) || !switch.routes.masks.is_empty();
        if is_stored { cut.max(packet) } else { cut }
    }
}

/// Octets on the wire of the longest packet of a protocol, as long as packets with 256 octets of payload are.
pub(crate) const LONGEST_PACKET: u32 = 276;

/// Octets on the wire of the shortest and the longest packet of all flows, delimiters and what links add left
/// out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub shortest: u32,
    pub longest: u32,
}

impl Lengths {
    /// Of all sources; of protocols the longest packets count alone: no host fills a link with its shortest.
    pub fn of(config: &FabricConfig) -> Self {
        let whole = Lengths { shortest: LONGEST_PACKET, longest: LONGEST_PACKET };
        let both = |a: Lengths, b: Lengths| Lengths {
            shortest: a.shortest.min(b.shortest),
            longest: a.longest.max(b.longest),
        };
        let sources = config.sources.iter().filter_map(SourceConfig::lengths);
        let sources = sources.map(|(least, most)| Lengths { shortest: least.into(), longest: most.into() });
        let protocols = (!config.agents.is_empty()).then_some(whole);
        sources.chain(protocols).reduce(both).unwrap_or(whole)
    }

    /// Characters of the shortest and of the longest packet on a link, with a delimiter, times the numerator
    /// of its character time: times in picoseconds, times the denominator.
    fn with(self, link: &LinkConfig) -> [u128; 2] {
        [self.shortest, self.longest]
            .map(|wire| u128::from(link.packet_octets(wire) + u32::from(link.symbol_chars)))
            .map(|chars| chars * u128::from(link.char_ps.0))
    }
}

impl fmt::Display for Lengths {
    /// For messages: `272 octets`, `20 to 272 octets`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shortest < self.longest {
            write!(f, "{} to ", self.shortest)?;
        }
        write!(f, "{} octets", self.longest)
    }
}
