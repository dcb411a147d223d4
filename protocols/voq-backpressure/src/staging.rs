//! The two maps of an upstream device (Part 12 §2.2, §2.3).
//!
//! The *forward map* takes a destination ID, once, to the egress port, the next-hop port (the egress port of
//! the device at the other end of that link) and the staging queue. The *reverse map*, [`QueueMap`], one per
//! egress link, takes a next-hop port in a received message to the staging queue that it stops. They must
//! agree: for every destination the queue of the forward map is the queue that the reverse map gives for the
//! next-hop port.

use crate::codec::{GROUPS, MAX_PORTS, PORTS_PER_GROUP};
use alloc::vec::Vec;
use core::fmt;

/// Reverse map of one egress link: the neighbour's ports to staging queues.
///
/// Total over all 192 ports: a port that the neighbour does not have is in no queue.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct QueueMap {
    queues: u16,
    of_port: Vec<u8>,
}

/// Why a map cannot be made.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum MapError {
    /// The neighbour would have more than 192 ports, or none.
    Ports {
        /// Ports that were asked for.
        found: usize,
    },
    /// There would be no queue, or more than 192.
    Queues {
        /// Queues that were asked for.
        found: u16,
    },
    /// A table names a queue that does not exist.
    Queue {
        /// The port whose entry it is.
        port: u16,
        /// The queue that it names.
        found: u16,
    },
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ports { found } => write!(f, "staging map ports: 1 to 192, {found} given"),
            Self::Queues { found } => write!(f, "staging map queues: 1 to 192, {found} given"),
            Self::Queue { port, found } => write!(f, "staging map port {port}: there is no queue {found}"),
        }
    }
}

impl core::error::Error for MapError {}

impl QueueMap {
    /// A map by table: entry p is the queue (`0..queues`) of the neighbour's port p.
    ///
    /// # Errors
    /// [`MapError`].
    pub fn table(queues: u16, of_port: impl IntoIterator<Item = u16>) -> Result<Self, MapError> {
        if queues == 0 || queues > MAX_PORTS {
            return Err(MapError::Queues { found: queues });
        }
        let mut table = Vec::new();
        for queue in of_port {
            let port = table.len();
            if port >= usize::from(MAX_PORTS) {
                return Err(MapError::Ports { found: port + 1 });
            }
            if queue >= queues {
                return Err(MapError::Queue { port: port as u16, found: queue });
            }
            table.push(queue as u8);
        }
        if table.is_empty() {
            return Err(MapError::Ports { found: 0 });
        }
        table.shrink_to_fit();
        Ok(Self { queues, of_port: table })
    }

    /// A queue of its own for each of the neighbour's `ports` ports.
    ///
    /// # Errors
    /// [`MapError`].
    pub fn one_per_port(ports: u16) -> Result<Self, MapError> {
        Self::ports_in_range(ports)?;
        Self::table(ports, 0..ports)
    }

    /// `queues` queues, queue = port modulo `queues`: neighbouring ports are apart.
    ///
    /// # Errors
    /// [`MapError`].
    pub fn modulo(ports: u16, queues: u16) -> Result<Self, MapError> {
        Self::ports_in_range(ports)?;
        Self::table(queues, (0..ports).map(|port| port % queues.max(1)))
    }

    /// `queues` queues, each for a block of neighbouring ports; blocks differ by one port at most.
    ///
    /// # Errors
    /// [`MapError`].
    pub fn blocks(ports: u16, queues: u16) -> Result<Self, MapError> {
        Self::ports_in_range(ports)?;
        Self::table(
            queues,
            (0..ports).map(|port| (u32::from(port) * u32::from(queues) / u32::from(ports)) as u16),
        )
    }

    /// One queue for all ports: nothing is told apart. For an endpoint as neighbour, `ports` is 1.
    ///
    /// # Errors
    /// [`MapError`].
    pub fn single(ports: u16) -> Result<Self, MapError> {
        Self::modulo(ports, 1)
    }

    fn ports_in_range(ports: u16) -> Result<(), MapError> {
        if (1..=MAX_PORTS).contains(&ports) { Ok(()) } else { Err(MapError::Ports { found: ports.into() }) }
    }

    /// Staging queues of the link.
    #[must_use]
    pub const fn queues(&self) -> u16 {
        self.queues
    }

    /// Ports of the neighbour.
    #[must_use]
    pub fn ports(&self) -> u16 {
        self.of_port.len() as u16
    }

    /// The queue of a port; none if the neighbour has no such port.
    #[must_use]
    pub fn queue(&self, port: u16) -> Option<u16> {
        self.of_port.get(usize::from(port)).map(|&queue| u16::from(queue))
    }

    /// The queue by group (0..32) and offset (0..6) of a message: every message has 6 of these 192 inputs,
    /// all legal.
    #[must_use]
    pub fn queue_at(&self, group: u8, offset: u8) -> Option<u16> {
        let in_range = u16::from(group) < GROUPS && u16::from(offset) < PORTS_PER_GROUP;
        in_range.then(|| self.queue(u16::from(group) * PORTS_PER_GROUP + u16::from(offset)))?
    }
}

/// Where a packet goes: what one look-up of its destination ID yields.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Hop {
    /// Egress port of this device.
    pub egress: u16,
    /// Egress port of the device at the other end of that link; none if the packet ends there or its way is
    /// unknown.
    pub next_hop: Option<u16>,
    /// Staging queue of the egress link; none is the unstaged queue, which no message stops.
    pub queue: Option<u16>,
}

/// Forward map: destination IDs `0..n` to hops.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ForwardMap {
    hops: Vec<Option<Hop>>,
}

/// A destination on which two maps differ.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Disagreement {
    /// The destination ID.
    pub destination: u32,
    /// What the forward map holds.
    pub hop: Hop,
    /// What it should hold: a queue, from [`ForwardMap::queue_disagreements`], or a next-hop port, from
    /// [`ForwardMap::next_hop_disagreements`].
    pub expected: Option<u16>,
}

impl ForwardMap {
    /// The map of a device: `route` gives egress port and next-hop port of a destination ID in
    /// `0..destinations` (none if there is no route), `maps` the reverse map of an egress link (none if
    /// nothing is staged there).
    pub fn new<'a>(
        destinations: u32,
        route: impl Fn(u32) -> Option<(u16, Option<u16>)>,
        maps: impl Fn(u16) -> Option<&'a QueueMap>,
    ) -> Self {
        let hop = |destination| {
            let (egress, next_hop) = route(destination)?;
            let queue = next_hop.and_then(|port| maps(egress)?.queue(port));
            Some(Hop { egress, next_hop, queue })
        };
        Self { hops: (0..destinations).map(hop).collect() }
    }

    /// A map by table, entry d for destination ID d; not checked, see [`ForwardMap::queue_disagreements`].
    #[must_use]
    pub const fn from_table(hops: Vec<Option<Hop>>) -> Self {
        Self { hops }
    }

    /// The one look-up: where a packet for `destination` goes. None: no route.
    #[must_use]
    pub fn lookup(&self, destination: u32) -> Option<Hop> {
        *self.hops.get(destination as usize)?
    }

    fn entries(&self) -> impl Iterator<Item = (u32, Hop)> {
        (0u32..).zip(&self.hops).filter_map(|(destination, hop)| Some((destination, (*hop)?)))
    }

    /// Destinations whose queue is not the one that the reverse map of their egress link gives for their
    /// next-hop port.
    pub fn queue_disagreements<'a>(
        &self,
        maps: impl Fn(u16) -> Option<&'a QueueMap>,
    ) -> impl Iterator<Item = Disagreement> {
        self.entries().filter_map(move |(destination, hop)| {
            let expected = hop.next_hop.and_then(|port| maps(hop.egress)?.queue(port));
            (hop.queue != expected).then_some(Disagreement { destination, hop, expected })
        })
    }

    /// Destinations whose next-hop port is not the egress port that the neighbour itself uses:
    /// `neighbour(egress, destination)` asks the table of the device at the other end of link `egress` (none:
    /// the packet ends there, or the neighbour knows no way).
    pub fn next_hop_disagreements(
        &self,
        neighbour: impl Fn(u16, u32) -> Option<u16>,
    ) -> impl Iterator<Item = Disagreement> {
        self.entries().filter_map(move |(destination, hop)| {
            let expected = neighbour(hop.egress, destination);
            (hop.next_hop != expected).then_some(Disagreement { destination, hop, expected })
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;
    use std::vec::Vec;

    fn queues_of(map: &QueueMap) -> Vec<u16> {
        (0..map.ports()).map(|port| map.queue(port).unwrap()).collect()
    }

    /// Proves: VOQ-2.3-1, VOQ-2.3-6
    #[test]
    fn standard_maps() {
        assert_eq!(queues_of(&QueueMap::one_per_port(5).unwrap()), [0, 1, 2, 3, 4]);
        assert_eq!(queues_of(&QueueMap::modulo(8, 3).unwrap()), [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(queues_of(&QueueMap::blocks(8, 3).unwrap()), [0, 0, 0, 1, 1, 1, 2, 2]);
        assert_eq!(queues_of(&QueueMap::single(4).unwrap()), [0; 4]);
        assert_eq!(queues_of(&QueueMap::table(6, [5, 0, 5]).unwrap()), [5, 0, 5]);
        for ports in 1..=MAX_PORTS {
            for queues in 1..=ports {
                for map in [QueueMap::modulo(ports, queues), QueueMap::blocks(ports, queues)] {
                    let map = map.unwrap();
                    let mut sizes = std::vec![0u16; usize::from(queues)];
                    for queue in queues_of(&map) {
                        sizes[usize::from(queue)] += 1;
                    }
                    let spread = sizes.iter().max().unwrap() - sizes.iter().min().unwrap();
                    assert!(spread <= 1 && map.queues() == queues, "{ports} ports, {queues} queues");
                }
            }
        }
    }

    #[test]
    fn impossible_maps_are_refused() {
        assert_eq!(QueueMap::one_per_port(0), Err(MapError::Ports { found: 0 }));
        assert_eq!(QueueMap::one_per_port(193), Err(MapError::Ports { found: 193 }));
        assert_eq!(QueueMap::modulo(8, 0), Err(MapError::Queues { found: 0 }));
        assert_eq!(QueueMap::blocks(8, 193), Err(MapError::Queues { found: 193 }));
        assert_eq!(QueueMap::table(2, [0, 2]), Err(MapError::Queue { port: 1, found: 2 }));
        assert_eq!(QueueMap::table(2, []), Err(MapError::Ports { found: 0 }));
        assert_eq!(QueueMap::table(1, [0; 193]), Err(MapError::Ports { found: 193 }));
        assert_eq!(
            MapError::Queue { port: 1, found: 2 }.to_string(),
            "staging map port 1: there is no queue 2"
        );
    }

    /// Proves: VOQ-2.3-5
    #[test]
    fn reverse_map_is_total_over_groups_and_offsets() {
        for ports in [1, 5, 6, 8, 192] {
            let map = QueueMap::modulo(ports, ports.min(4)).unwrap();
            for group in 0..32 {
                for offset in 0..6 {
                    let port = 6 * u16::from(group) + u16::from(offset);
                    let expected = (port < ports).then(|| port % ports.min(4));
                    assert_eq!(map.queue_at(group, offset), expected);
                }
            }
            assert!((ports..=u16::MAX).all(|port| map.queue(port).is_none()));
            assert_eq!([map.queue_at(32, 0), map.queue_at(0, 6)], [None, None]);
        }
    }

    /// Two egress links: 0 to a switch of 8 ports, 1 to an endpoint. Destination 3 has no route, 4 ends in
    /// the switch.
    fn route(destination: u32) -> Option<(u16, Option<u16>)> {
        match destination {
            3 => None,
            4 => Some((0, None)),
            5 => Some((1, Some(0))),
            other => Some((0, Some((other % 8) as u16))),
        }
    }

    fn neighbour(_egress: u16, destination: u32) -> Option<u16> {
        route(destination)?.1
    }

    /// Proves: VOQ-1.2-3, VOQ-2.2-2, VOQ-2.2-6, VOQ-4.3-1, VOQ-2.2-7
    #[test]
    fn one_lookup_gives_egress_next_hop_and_queue() {
        let maps = [QueueMap::modulo(8, 4).unwrap(), QueueMap::single(1).unwrap()];
        let map_of = |egress: u16| maps.get(usize::from(egress));
        let forward = ForwardMap::new(16, route, map_of);
        let hop = |egress, next_hop, queue| Some(Hop { egress, next_hop, queue });
        assert_eq!(forward.lookup(6), hop(0, Some(6), Some(2)));
        assert_eq!(forward.lookup(5), hop(1, Some(0), Some(0)));
        // Ends in the neighbour: the unstaged queue.
        assert_eq!(forward.lookup(4), hop(0, None, None));
        assert_eq!(forward.lookup(3), None);
        assert_eq!(forward.lookup(1000), None);
        // A next-hop port that the neighbour does not have is stopped by nothing either.
        let odd = ForwardMap::new(1, |_| Some((0, Some(8))), map_of);
        assert_eq!(odd.lookup(0), hop(0, Some(8), None));
    }

    #[test]
    fn next_hops_are_compared_with_the_neighbours_own_table() {
        let maps = [QueueMap::modulo(8, 4).unwrap(), QueueMap::single(1).unwrap()];
        let forward = ForwardMap::new(16, route, |egress| maps.get(usize::from(egress)));
        assert_eq!(forward.next_hop_disagreements(neighbour).count(), 0);
        let rerouted =
            |egress, destination| if destination == 9 { Some(7) } else { neighbour(egress, destination) };
        let found: Vec<_> = forward.next_hop_disagreements(rerouted).collect();
        let hop = Hop { egress: 0, next_hop: Some(1), queue: Some(1) };
        assert_eq!(found, [Disagreement { destination: 9, hop, expected: Some(7) }]);
    }

    proptest! {
        /// Proves: VOQ-2.3-2, VOQ-2.2-4
        #[test]
        fn forward_and_reverse_map_agree(
            table in proptest::collection::vec(0u16..7, 1..192), damaged in 0u32..500, wrong in 0u16..7,
        ) {
            let map = QueueMap::table(7, table.iter().copied()).unwrap();
            let ports = u32::from(map.ports());
            let map_of = |egress: u16| (egress == 0).then_some(&map);
            let forward = ForwardMap::new(500, |d| Some((0, Some((d % ports) as u16))), map_of);
            for destination in 0..500 {
                let hop = forward.lookup(destination).unwrap();
                prop_assert_eq!(hop.queue, map.queue(hop.next_hop.unwrap()));
            }
            prop_assert_eq!(forward.queue_disagreements(map_of).count(), 0);

            // The check notices a single wrong entry, and only that.
            let mut hops: Vec<_> = (0..500).map(|destination| forward.lookup(destination)).collect();
            let entry = hops[damaged as usize].as_mut().unwrap();
            let right = entry.queue;
            entry.queue = Some(wrong);
            let found: Vec<_> = ForwardMap::from_table(hops)
                .queue_disagreements(map_of)
                .map(|disagreement| (disagreement.destination, disagreement.expected))
                .collect();
            let expected = if right == Some(wrong) { std::vec![] } else { std::vec![(damaged, right)] };
            prop_assert_eq!(found, expected);
        }
    }
}
