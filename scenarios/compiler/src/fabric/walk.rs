//! Where packets go by the tables, and where they turn.

use super::blocks::NO_BLOCK;
use super::{Blocks, Wires, mask_behind, switch, wires};
use models::config::{BLOCK, Egress, FabricConfig, NO_OWNER, PortSet, Route};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Blocks of ids for which a thread is worth its start.
const BLOCKS_OF_A_THREAD: usize = 64;

/// Where packets for an id end that enter the fabric at a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Dropped by this switch: it has no route.
    Dropped(u32),
    /// Never: they go round through these switches.
    Loop(Vec<u32>),
    /// At this device, which does not own the id.
    Astray(u32),
}

/// What following every packet through the tables shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Entry switches from which packets for an id do not arrive: (id, switch) -> why.
    pub lost: BTreeMap<(u32, u32), Fate>,
    /// `turns[switch][input]` = outputs to which some packet turns from that input; inputs and outputs that
    /// lead to other switches only.
    pub turns: Turns,
    /// Whether links wait for each other in a circle by these turns.
    pub(super) circles: bool,
}

/// Outputs by switch and input.
type Turns = Vec<Vec<PortSet>>;

/// Follows packets for every used id from every switch that has endpoints.
///
/// Ids of a block go together, one bit each: a switch hands those that it sends through one port on at once.
/// What is lost, or could go round for ever, is followed alone.
pub fn walk(config: &FabricConfig) -> Walk {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    walk_on(config, cores.min(config.id_space as usize / BLOCK / BLOCKS_OF_A_THREAD))
}

/// As [`walk`], on so many threads. What it shows does not depend on them: each block of ids is followed on
/// one of them, as if it were the only one, and what they show is put together.
pub fn walk_on(config: &FabricConfig, threads: usize) -> Walk {
    let wires = wires(config);
    let entries: Vec<u32> = (0..config.devices.len() as u32)
        .filter(|&d| {
            switch(config, d).is_some()
                && wires[d as usize].iter().flatten().any(|&(_, other, _)| switch(config, other).is_none())
        })
        .collect();
    let mut walk = Walk::default();
    let blocks = Blocks::new(config);
    let groups = groups(&blocks);
    let is_used = |id: u32| {
        !groups.contains(&id) && config.owners.get(id as usize).is_some_and(|&owner| owner != NO_OWNER)
    };
    let mut doubtful;
    (doubtful, walk.turns) = shared_out(config, &wires, &blocks, &entries, &is_used, threads);
    walk.circles = turns_in_circles(&walk.turns, &wires);
    if walk.circles {
        doubtful = (0..config.id_space).filter(|&id| is_used(id)).collect();
    }
    let mut fates: Vec<Option<Option<Fate>>> = vec![None; config.devices.len()];
    let alone = doubtful.len() + groups.len();
    for id in doubtful {
        let mut known = Vec::new();
        for &entry in &entries {
            follow(config, &wires, entry, id, &mut fates, &mut known, &mut walk);
        }
        known.into_iter().for_each(|device: u32| fates[device as usize] = None);
    }
    for &id in groups.range(..config.id_space) {
        turns_of_group(config, &wires, &entries, id, &mut walk);
    }
    if alone > 0 && !walk.circles {
        walk.circles = turns_in_circles(&walk.turns, &wires);
    }
    walk
}

/// Follows the ids of all blocks, each block on the thread that comes to it first; those that do not arrive,
/// and the turns.
fn shared_out(
    config: &FabricConfig,
    wires: &Wires,
    blocks: &Blocks,
    entries: &[u32],
    is_used: &(impl Fn(u32) -> bool + Sync),
    threads: usize,
) -> (Vec<u32>, Turns) {
    let next = AtomicUsize::new(0);
    let one = || {
        let mut turns: Turns = config.devices.iter().map(|d| vec![PortSet::EMPTY; d.ports.len()]).collect();
        let mut together = Together::new(config, wires, blocks);
        let mut lost = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= (config.id_space as usize).div_ceil(BLOCK) {
                return (lost, turns);
            }
            together.walk(index, entries, is_used, &mut turns, &mut lost);
        }
    };
    let (mut lost, turns) = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        let (mut lost, mut turns) = one();
        for other in others {
            let (more, also) = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            lost.extend(more);
            for (outputs, also) in turns.iter_mut().flatten().zip(also.into_iter().flatten()) {
                *outputs |= also;
            }
        }
        (lost, turns)
    });
    lost.sort_unstable();
    (lost, turns)
}

/// Ids that some switch copies.
fn groups(blocks: &Blocks) -> BTreeSet<u32> {
    let copied = |route: &Route| matches!(route.egress, Egress::Multicast(_));
    let some: Vec<bool> = blocks.distinct.iter().map(|block| block.iter().any(copied)).collect();
    let mut groups = BTreeSet::new();
    for (numbers, &length) in blocks.of.iter().zip(&blocks.lengths) {
        for (index, &number) in numbers.iter().enumerate().filter(|(_, number)| some[**number as usize]) {
            let ids = (index * BLOCK..length).zip(blocks.distinct[number as usize].iter());
            groups.extend(ids.filter(|(_, route)| copied(route)).map(|(id, _)| id as u32));
        }
    }
    groups
}

/// Packets for the ids of a block on their way, one bit for each.
struct Together<'a> {
    config: &'a FabricConfig,
    wires: &'a Wires,
    blocks: &'a Blocks,
    /// Of each block: place in its ways of the one that an entry leads to.
    way_of: Vec<[u8; BLOCK]>,
    /// Block of each device for the ids that are followed now.
    here: Vec<u32>,
    is_switch: Vec<bool>,
    /// What has been handed on, by device.
    passed: Vec<u64>,
    /// What is on its way: to which device, through which of its ports.
    open: Vec<(u32, Option<u8>, u64)>,
}

impl<'a> Together<'a> {
    fn new(config: &'a FabricConfig, wires: &'a Wires, blocks: &'a Blocks) -> Self {
        Together {
            config,
            wires,
            blocks,
            way_of: blocks.ways.iter().map(|ways| ways_by_entry(ways)).collect(),
            here: Vec::new(),
            is_switch: (0..config.devices.len() as u32).map(|d| switch(config, d).is_some()).collect(),
            passed: vec![0; config.devices.len()],
            open: Vec::new(),
        }
    }

    /// Follows the used ids of a block; those that do not arrive are `lost`.
    fn walk(
        &mut self,
        index: usize,
        entries: &[u32],
        is_used: &impl Fn(u32) -> bool,
        turns: &mut Turns,
        lost: &mut Vec<u32>,
    ) {
        let first = (index * BLOCK) as u32;
        let ids = first..self.config.id_space.min(first + BLOCK as u32);
        let used = ids.clone().filter(|&id| is_used(id)).fold(0, |bits, id| bits | 1u64 << (id - first));
        if used == 0 {
            return;
        }
        self.blocks.place(index, &mut self.here);
        self.passed.fill(0);
        let mut astray = 0;
        for &entry in entries {
            self.open.push((entry, None, used));
            while let Some((device, ingress, packets)) = self.open.pop() {
                astray |= self.step(first, (device, ingress), packets, turns);
            }
        }
        lost.extend(ids.filter(|id| astray >> (id - first) & 1 == 1));
    }

    /// Packets are in a switch; those that get no further, or end where they should not.
    fn step(&mut self, first: u32, at: (u32, Option<u8>), packets: u64, turns: &mut Turns) -> u64 {
        let device = at.0 as usize;
        let new = packets & !self.passed[device];
        self.passed[device] |= packets;
        let number = self.here[device];
        if number == NO_BLOCK {
            return new;
        }
        let mut astray = new;
        let mut left = packets;
        // Most of what comes is a few ids that take one way of many, so ways are asked for by these.
        while left != 0 {
            let way = self.way_of[number as usize][left.trailing_zeros() as usize];
            let Some(&(port, through)) = self.blocks.ways[number as usize].get(usize::from(way)) else {
                left &= left - 1;
                continue;
            };
            left &= !through;
            let Some((_, other, ingress)) = self.wires[device].get(usize::from(port)).copied().flatten()
            else {
                continue;
            };
            let next = new & through;
            if self.is_switch[other as usize] {
                if let Some(ingress) = at.1 {
                    turns[device][usize::from(ingress)].insert(port);
                }
                astray &= !next;
                if next != 0 {
                    self.open.push((other, Some(ingress), next));
                }
            } else if next != 0 {
                let home = |bit: &u32| self.config.owners[(first + bit) as usize] == other;
                astray &= !bits(next).filter(home).fold(0, |home, bit| home | 1u64 << bit);
            }
        }
        astray
    }
}

/// Of each entry of a block the place of its way; one that is no place, where it has none.
fn ways_by_entry(ways: &[(u8, u64)]) -> [u8; BLOCK] {
    let mut of = [u8::MAX; BLOCK];
    for (way, &(_, through)) in (0..).zip(ways) {
        bits(through).for_each(|bit| of[bit as usize] = way);
    }
    of
}

/// The bits of a word that are set, from the lowest.
fn bits(mut word: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(bit)
    })
}

/// Whether links wait for each other in a circle by these turns; without one no packet goes round for ever.
fn turns_in_circles(turns: &[Vec<PortSet>], wires: &Wires) -> bool {
    #[derive(Copy, Clone, PartialEq)]
    enum Seen {
        Never,
        Open,
        Done,
    }
    // A link from a switch is known by the port that it enters.
    let mut seen: Vec<Vec<Seen>> = turns.iter().map(|ports| vec![Seen::Never; ports.len()]).collect();
    for (device, inputs) in turns.iter().enumerate() {
        for input in 0..inputs.len() {
            let mut path = Vec::new();
            if !inputs[input].is_empty() && seen[device][input] == Seen::Never {
                seen[device][input] = Seen::Open;
                path.push((device, input, inputs[input]));
            }
            while let Some((at, ingress, left)) = path.last_mut() {
                let Some(port) = left.take_first() else {
                    seen[*at][*ingress] = Seen::Done;
                    path.pop();
                    continue;
                };
                let Some((_, next, input)) = wires[*at][usize::from(port)] else { continue };
                let (next, input) = (next as usize, usize::from(input));
                match seen[next][input] {
                    Seen::Never => {
                        seen[next][input] = Seen::Open;
                        path.push((next, input, turns[next][input]));
                    }
                    Seen::Open => return true,
                    Seen::Done => {}
                }
            }
        }
    }
    false
}

fn follow(
    config: &FabricConfig,
    wires: &Wires,
    entry: u32,
    id: u32,
    fates: &mut [Option<Option<Fate>>],
    known: &mut Vec<u32>,
    walk: &mut Walk,
) {
    let mut path: Vec<u32> = Vec::new();
    let mut at = entry;
    let mut ingress: Option<u8> = None;
    let fate = loop {
        let Some(own) = switch(config, at) else {
            break if config.owners[id as usize] == at { None } else { Some(Fate::Astray(at)) };
        };
        let egress = own.routes.entries.get(id as usize).map(|route| route.egress);
        let next = match egress {
            Some(Egress::Port(port)) => {
                wires[at as usize].get(usize::from(port)).copied().flatten().map(|to| (port, to))
            }
            _ => None,
        };
        if let (Some(ingress), Some((port, (_, other, _)))) = (ingress, next)
            && switch(config, other).is_some()
        {
            walk.turns[at as usize][usize::from(ingress)].insert(port);
        }
        if let Some(known) = &fates[at as usize] {
            break known.clone();
        }
        if let Some(start) = path.iter().position(|&d| d == at) {
            break Some(Fate::Loop(path[start..].to_vec()));
        }
        path.push(at);
        match next {
            Some((_, (_, other, other_port))) => {
                at = other;
                ingress = Some(other_port);
            }
            None => break Some(Fate::Dropped(at)),
        }
    };
    for &device in &path {
        fates[device as usize] = Some(fate.clone());
    }
    known.append(&mut path);
    if let Some(fate) = fate {
        walk.lost.insert((id, entry), fate);
    }
}

fn turns_of_group(config: &FabricConfig, wires: &Wires, entries: &[u32], id: u32, walk: &mut Walk) {
    let mut seen: BTreeSet<(u32, u8)> = BTreeSet::new();
    let mut open: Vec<(u32, u8)> = Vec::new();
    for &entry in entries {
        for (port, link) in wires[entry as usize].iter().enumerate() {
            if link.is_some_and(|(_, other, _)| switch(config, other).is_none()) {
                open.push((entry, port as u8));
            }
        }
    }
    while let Some((device, ingress)) = open.pop() {
        if !seen.insert((device, ingress)) {
            continue;
        }
        let from_switch = wires[device as usize][usize::from(ingress)]
            .is_some_and(|(_, other, _)| switch(config, other).is_some());
        for port in mask_behind(config, device, ingress, id).iter() {
            let Some((_, other, other_port)) =
                wires[device as usize].get(usize::from(port)).copied().flatten()
            else {
                continue;
            };
            if switch(config, other).is_some() {
                if from_switch {
                    walk.turns[device as usize][usize::from(ingress)].insert(port);
                }
                open.push((other, other_port));
            }
        }
    }
}
