//! Which part of a fabric each device belongs to.
//!
//! An endpoint goes with the device at the other end of its link, and so do the two ends of a link in symbol
//! granularity: what cannot be cut is a *piece*. Pieces are divided in two, and each half again, so that few
//! links are cut and every part has about as many ports in use.

use crate::config::{DeviceConfig, DeviceModel, FabricConfig, LinkConfig, SymbolicLink};
use crate::link::border::lookahead;
use sim_core::{Purpose, Stream};
use std::fmt;

/// Why a fabric is not cut.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Whole {
    /// Endpoints run protocols, whose ends know of each other.
    Protocols,
    /// Links have faults or random errors.
    Faults,
    /// Links are of other media than RapidIO.
    Media,
    /// A switch has more than 64 ports.
    LargeSwitch,
    /// It is one piece: endpoints go with their switch, and there is only one.
    OnePiece,
    /// It is one piece, because links in symbol granularity, whose ends go together, join all switches.
    Symbols,
    /// So little happens in a window that whoever waits for others would wait most of the time.
    TooSmall,
    /// So little happens in a window that it takes longer to begin and end it: whoever runs it has counted
    /// that.
    Quiet,
    /// Threads waited for each other so long that one is faster: whoever runs it has measured that.
    Waiting,
    /// One thread has done the same in less time, or hardly more: whoever runs it has measured that.
    Slower,
}

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Whole::Protocols => "endpoints run protocols",
            Whole::Faults => "links have faults or random errors",
            Whole::Media => "links are of other media than RapidIO",
            Whole::LargeSwitch => "a switch has more than 64 ports",
            Whole::OnePiece => "endpoints stay with their switch, and there is no second one",
            Whole::Symbols => {
                "both ends of a link in symbol granularity stay together, and such links join all switches"
            }
            Whole::TooSmall => "the fabric is too small",
            Whole::Quiet => "too little happens while parts need not hear of each other",
            Whole::Waiting => "several waited for each other most of the time",
            Whole::Slower => "several were no faster",
        })
    }
}

/// Packets that can be under way at a time on all links together within a lookahead, below which cutting does
/// not pay.
const WORTHWHILE: u64 = 64;

/// The part of every device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// By device.
    part_of: Vec<u16>,
    parts: usize,
    /// Shortest time in which a part learns of another, ps.
    lookahead: u64,
}

impl Partition {
    /// Cuts a fabric into so many parts, or as many as it has pieces.
    ///
    /// # Errors
    /// Why it is better left whole.
    pub fn new(config: &FabricConfig, parts: usize) -> Result<Self, Whole> {
        let pieces = Pieces::new(config)?;
        let parts = parts.min(pieces.weights.len()).min(u16::MAX.into());
        if parts < 2 {
            return Err(Whole::OnePiece);
        }
        let mut part_of_piece = vec![0; pieces.weights.len()];
        pieces.divide((0..pieces.weights.len()).collect(), 0, parts, &mut part_of_piece);
        let partition = pieces.partition(config, &part_of_piece);
        if partition.lookahead < worthwhile(config) { Err(Whole::TooSmall) } else { Ok(partition) }
    }

    /// Cuts a fabric anywhere: every piece goes to one of `parts` by lot. For tests: no partition changes a
    /// result.
    ///
    /// # Errors
    /// Why it cannot be cut.
    pub fn by_lot(config: &FabricConfig, parts: usize, seed: u64) -> Result<Self, Whole> {
        let pieces = Pieces::new(config)?;
        let mut lot = Stream::new(seed, "partition", Purpose::ARBITRATION);
        let mut part_of_piece: Vec<u16> =
            pieces.weights.iter().map(|_| lot.below(parts as u64) as u16).collect();
        // Parts without a piece are left out.
        let mut used: Vec<u16> = part_of_piece.clone();
        used.sort_unstable();
        used.dedup();
        if used.len() < 2 {
            return Err(Whole::OnePiece);
        }
        for part in &mut part_of_piece {
            *part = used.iter().position(|other| other == part).expect("it is used") as u16;
        }
        Ok(pieces.partition(config, &part_of_piece))
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Length of a window, ps.
    pub fn lookahead(&self) -> u64 {
        self.lookahead
    }

    /// The part of a device.
    pub fn part(&self, device: u32) -> u16 {
        self.part_of[device as usize]
    }
}

/// A lookahead in which as much can happen on all links as is worth cutting, ps.
fn worthwhile(config: &FabricConfig) -> u64 {
    // Packets of 256 octets with all around them, in a millisecond, both ways.
    let rate = |link: &LinkConfig| 2_000_000_000 * link.char_ps.1 / (284 * link.char_ps.0);
    let rate: u64 = config.links.iter().map(rate).sum();
    WORTHWHILE * 1_000_000_000 / rate.max(1)
}

/// What cannot be cut, and the links between.
struct Pieces {
    /// By device.
    piece_of: Vec<usize>,
    /// Ports in use.
    weights: Vec<u64>,
    /// Neighbours of each piece, once for each link.
    neighbours: Vec<Vec<usize>>,
}

impl Pieces {
    fn new(config: &FabricConfig) -> Result<Self, Whole> {
        if !config.agents.is_empty() || config.enumeration.is_some() {
            return Err(Whole::Protocols);
        }
        let random = |link: &SymbolicLink| link.damage.iter().any(|way| way.errors.is_some());
        if !config.faults.is_empty() || config.symbolic.iter().any(random) {
            return Err(Whole::Faults);
        }
        if !config.media.is_empty() {
            return Err(Whole::Media);
        }
        if config.has_large_switch() {
            return Err(Whole::LargeSwitch);
        }
        let is_endpoint =
            |device: u32| matches!(config.devices[device as usize].model, DeviceModel::Endpoint(_));
        let mut symbolic = vec![false; config.links.len()];
        config.symbolic.iter().for_each(|link| symbolic[link.link as usize] = true);
        let mut leader: Vec<usize> = (0..config.devices.len()).collect();
        for (link, symbolic) in config.links.iter().zip(symbolic) {
            if symbolic || is_endpoint(link.a.0) || is_endpoint(link.b.0) {
                let (a, b) = (find(&mut leader, link.a.0 as usize), find(&mut leader, link.b.0 as usize));
                leader[a.max(b)] = a.min(b);
            }
        }
        let mut piece_of = vec![usize::MAX; config.devices.len()];
        let mut count = 0;
        for device in 0..piece_of.len() {
            // The leader of a piece is its first device.
            let first = find(&mut leader, device);
            if first == device {
                piece_of[device] = count;
                count += 1;
            } else {
                piece_of[device] = piece_of[first];
            }
        }
        let is_switch = |device: &&DeviceConfig| matches!(device.model, DeviceModel::Switch(_));
        if count < 2 {
            // Endpoints have one link each: two switches are one piece by links in symbol granularity alone.
            let switches = config.devices.iter().filter(is_switch).count();
            return Err(if switches > 1 { Whole::Symbols } else { Whole::OnePiece });
        }
        let mut pieces = Pieces { piece_of, weights: vec![0; count], neighbours: vec![Vec::new(); count] };
        for link in &config.links {
            let [a, b] = [link.a, link.b].map(|(device, _)| pieces.piece_of[device as usize]);
            pieces.weights[a] += 1;
            pieces.weights[b] += 1;
            if a != b {
                pieces.neighbours[a].push(b);
                pieces.neighbours[b].push(a);
            }
        }
        Ok(pieces)
    }

    fn partition(&self, config: &FabricConfig, part_of_piece: &[u16]) -> Partition {
        let part_of: Vec<u16> = self.piece_of.iter().map(|&piece| part_of_piece[piece]).collect();
        let parts = part_of_piece.iter().max().map_or(1, |last| usize::from(*last) + 1);
        let cut = config.links.iter().filter(|l| part_of[l.a.0 as usize] != part_of[l.b.0 as usize]);
        // Parts without a link between them never hear of each other.
        let lookahead = cut.map(lookahead).min().unwrap_or(u64::MAX);
        Partition { part_of, parts, lookahead }
    }

    fn weight(&self, members: &[usize]) -> u64 {
        members.iter().map(|&piece| self.weights[piece]).sum()
    }

    /// Gives `members` the parts from `first` on, `parts` of them.
    fn divide(&self, members: Vec<usize>, first: u16, parts: usize, part_of: &mut [u16]) {
        if parts == 1 {
            return members.iter().for_each(|&piece| part_of[piece] = first);
        }
        let left = parts / 2;
        let target = self.weight(&members) * left as u64 / parts as u64;
        let (one, other) = self.halve(members, target, left, parts - left);
        self.divide(one, first, left, part_of);
        self.divide(other, first + left as u16, parts - left, part_of);
    }

    /// Divides `members` in two, the one with about `target` ports, and at least so many pieces each.
    fn halve(&self, members: Vec<usize>, target: u64, least: usize, rest: usize) -> (Vec<usize>, Vec<usize>) {
        let mut side = vec![Side::Outside; self.weights.len()];
        members.iter().for_each(|&piece| side[piece] = Side::Right);
        // From somewhere at the edge, whatever has most links to what is there and fewest elsewhere.
        let mut pull = vec![0i64; self.weights.len()];
        let mut next = self.farthest(&members, &side);
        let (mut taken, mut weight) = (0, 0);
        loop {
            side[next] = Side::Left;
            taken += 1;
            weight += self.weights[next];
            self.neighbours[next].iter().for_each(|&other| pull[other] += 1);
            if members.len() - taken <= rest || taken >= least && weight >= target {
                break;
            }
            let free = members.iter().copied().filter(|&piece| side[piece] == Side::Right);
            let degree = |piece: usize| self.neighbours[piece].len() as i64;
            next = free
                .min_by_key(|&piece| (pull[piece] == 0, degree(piece) - 2 * pull[piece], piece))
                .expect("pieces are left");
        }
        self.improve(&members, &mut side, target, least, rest);
        members.into_iter().partition(|&piece| side[piece] == Side::Left)
    }

    /// The last of the pieces that a search from the first reaches.
    fn farthest(&self, members: &[usize], side: &[Side]) -> usize {
        let mut seen = vec![false; self.weights.len()];
        let mut queue = vec![members[0]];
        seen[members[0]] = true;
        let mut at = 0;
        while at < queue.len() {
            for &other in &self.neighbours[queue[at]] {
                if side[other] == Side::Right && !std::mem::replace(&mut seen[other], true) {
                    queue.push(other);
                }
            }
            at += 1;
        }
        queue[queue.len() - 1]
    }

    /// Moves pieces to the other side as long as fewer links are cut, and the weights stay near the target.
    fn improve(&self, members: &[usize], side: &mut [Side], target: u64, least: usize, rest: usize) {
        let of = |side: &[Side], wanted| -> Vec<usize> {
            members.iter().copied().filter(|&piece| side[piece] == wanted).collect()
        };
        let mut weight = self.weight(&of(side, Side::Left));
        let mut left = of(side, Side::Left).len();
        let slack = target / 16;
        for _ in 0..8 {
            let mut moved = false;
            for &piece in members {
                let (here, there) = match side[piece] {
                    Side::Left => (Side::Left, Side::Right),
                    _ => (Side::Right, Side::Left),
                };
                let links = |wanted| self.neighbours[piece].iter().filter(|&&o| side[o] == wanted).count();
                let (after, count) = match here {
                    Side::Left => (weight - self.weights[piece], left - 1),
                    _ => (weight + self.weights[piece], left + 1),
                };
                let fits = after.abs_diff(target) <= slack.max(weight.abs_diff(target));
                let enough = count >= least && members.len() - count >= rest;
                if fits && enough && links(there) > links(here) {
                    side[piece] = there;
                    (weight, left, moved) = (after, count, true);
                }
            }
            if !moved {
                return;
            }
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Outside,
}

/// The leader of a device's piece.
fn find(leader: &mut [usize], device: usize) -> usize {
    let mut root = device;
    while leader[root] != root {
        root = leader[root];
    }
    let mut at = device;
    while leader[at] != root {
        at = std::mem::replace(&mut leader[at], root);
    }
    root
}
