//! Where a switch sends packets: two octets for each destination id.

use super::{COPIED, DROP, Hop};
use crate::config::{BLOCK, BlockNumbers, Egress, IdTable, NO_PORT, Route};
use sim_core::prefetch;
use std::sync::Arc;

/// What happens to an id without a route.
const NOWHERE: Hop = Hop { egress: DROP, next_hop: NO_PORT };

impl From<&Route> for Hop {
    fn from(route: &Route) -> Self {
        let (egress, next_hop) = match route.egress {
            Egress::Port(port) => (port, route.next_hop),
            Egress::Multicast(mask) => (COPIED, mask),
            Egress::Drop => (DROP, route.next_hop),
        };
        Hop { egress, next_hop }
    }
}

/// The routes of a switch, in blocks that all switches of a fabric have in one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    /// Which block each [`BLOCK`] ids have.
    blocks: Numbers,
    hops: Arc<[Hop]>,
}

/// Numbers of blocks, as short as the fabric allows: regular ones have few blocks, and then those of a switch
/// for thousands of ids are one line.
#[derive(Clone, Debug)]
enum Numbers {
    Bytes(Box<[u8]>),
    Words(Box<[u16]>),
    Long(Box<[u32]>),
}

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Bytes(Box::default())
    }
}

impl Numbers {
    /// These, of so many blocks.
    fn new(numbers: &[u32], blocks: usize) -> Self {
        match blocks {
            0..=0x100 => Numbers::Bytes(numbers.iter().map(|&number| number as u8).collect()),
            0x101..=0x1_0000 => Numbers::Words(numbers.iter().map(|&number| number as u16).collect()),
            _ => Numbers::Long(numbers.into()),
        }
    }

    #[inline(always)]
    fn get(&self, place: usize) -> Option<usize> {
        match self {
            Numbers::Bytes(numbers) => numbers.get(place).map(|&number| number.into()),
            Numbers::Words(numbers) => numbers.get(place).map(|&number| number.into()),
            Numbers::Long(numbers) => numbers.get(place).map(|&number| number as usize),
        }
    }

    #[inline(always)]
    fn prefetch(&self, place: usize) {
        match self {
            Numbers::Bytes(numbers) => numbers.get(place).map(prefetch),
            Numbers::Words(numbers) => numbers.get(place).map(prefetch),
            Numbers::Long(numbers) => numbers.get(place).map(prefetch),
        };
    }

    fn len(&self) -> usize {
        match self {
            Numbers::Bytes(numbers) => numbers.len(),
            Numbers::Words(numbers) => numbers.len(),
            Numbers::Long(numbers) => numbers.len(),
        }
    }
}

impl Routes {
    /// Those of all switches of a fabric.
    pub fn of_all<'a>(tables: impl Iterator<Item = &'a IdTable<Route>>) -> Vec<Self> {
        let mut blocks = BlockNumbers::default();
        let mut near = Vec::new();
        let mut all: Vec<Vec<u32>> = Vec::new();
        let mut ends = Vec::new();
        for table in tables {
            near = blocks.of(table, &near);
            let mut numbers = near.clone();
            // What is behind the last id leads nowhere, whatever the others of the block do elsewhere.
            let open = table.len() % BLOCK;
            if open != 0 {
                let last = table.iter().skip(table.len() - open).map(Hop::from);
                ends.push((all.len(), last.collect::<Vec<Hop>>()));
                numbers.pop();
            }
            all.push(numbers);
        }
        let mut hops: Vec<Hop> =
            blocks.distinct.iter().flat_map(|block| block.iter().map(Hop::from)).collect();
        for (table, last) in ends {
            all[table].push((hops.len() / BLOCK) as u32);
            let end = hops.len() + BLOCK;
            hops.extend(last);
            hops.resize(end, NOWHERE);
        }
        let hops: Arc<[Hop]> = hops.into();
        let count = hops.len() / BLOCK;
        let routes = |numbers: Vec<u32>| Routes { blocks: Numbers::new(&numbers, count), hops: hops.clone() };
        all.into_iter().map(routes).collect()
    }

    /// Of a switch that nobody has told anything: so many ids lead nowhere.
    pub fn nowhere(ids: usize) -> Self {
        let blocks = ids.div_ceil(BLOCK);
        let numbers: Vec<u32> = (0..blocks as u32).collect();
        Routes { blocks: Numbers::new(&numbers, blocks), hops: vec![NOWHERE; blocks * BLOCK].into() }
    }

    /// The route of an id; `None` where the table has no place for it.
    #[inline(always)]
    pub fn get(&self, id: usize) -> Option<Hop> {
        let block = self.blocks.get(id / BLOCK)?;
        self.hops.get(block * BLOCK + id % BLOCK).copied()
    }

    /// Asks for which block the route of an id is in.
    #[inline(always)]
    pub fn prefetch(&self, id: usize) {
        self.blocks.prefetch(id / BLOCK);
    }

    /// The route of an id, to change it in [`Routes::nowhere`] and what became of it.
    pub fn get_mut(&mut self, id: usize) -> Option<&mut Hop> {
        let block = self.blocks.get(id / BLOCK)?;
        Arc::make_mut(&mut self.hops).get_mut(block * BLOCK + id % BLOCK)
    }

    /// All routes, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = Hop> {
        (0..self.blocks.len() * BLOCK).filter_map(|id| self.get(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every switch finds what its own table says, and nothing behind its end, where blocks are shared, too.
    #[test]
    fn routes_are_those_of_the_tables() {
        let port = |port: u8| Route { egress: Egress::Port(port), next_hop: port / 2 };
        let drop = Route { egress: Egress::Drop, next_hop: NO_PORT };
        let one: IdTable<Route> = (0..150).map(|id| port((id / 70) as u8)).collect();
        let mut other = one.clone();
        other[149] = drop;
        let mask = Route { egress: Egress::Multicast(3), next_hop: NO_PORT };
        let short: IdTable<Route> = IdTable::of_blocks(100, one.blocks()[..2].to_vec());
        let third: IdTable<Route> = [mask; 64].into_iter().collect();
        let tables = [one, other, short, third];
        let all = Routes::of_all(tables.iter());
        for (table, routes) in tables.iter().zip(&all) {
            let end = table.len().div_ceil(BLOCK) * BLOCK;
            for id in 0..end + 1 {
                let law = match table.get(id).map(Hop::from) {
                    None if id < end => Some(NOWHERE),
                    law => law,
                };
                assert_eq!(routes.get(id), law, "{id}");
            }
            assert!(routes.iter().take(table.len()).eq(table.iter().map(Hop::from)));
        }
        assert_eq!(all[0].hops.len(), (3 + 1 + 1 + 1 + 1 + 1) * BLOCK, "blocks are shared");
    }

    /// Of so many blocks that one octet, or two, cannot number them, each is found.
    #[test]
    fn numbers_of_blocks_are_as_long_as_they_have_to_be() {
        for (blocks, octets) in [(256, 1), (257, 2), (65_536, 2), (65_537, 4)] {
            let last = blocks as u32 - 1;
            let numbers = Numbers::new(&[0, last], blocks);
            assert_eq!([0, 1, 2].map(|place| numbers.get(place)), [Some(0), Some(blocks - 1), None]);
            let length = match numbers {
                Numbers::Bytes(_) => 1,
                Numbers::Words(_) => 2,
                Numbers::Long(_) => 4,
            };
            assert_eq!(length, octets, "{blocks} blocks");
        }
    }

    #[test]
    fn a_switch_learns() {
        let mut routes = Routes::nowhere(70);
        assert!(routes.iter().all(|hop| hop == NOWHERE) && routes.get(128).is_none());
        *routes.get_mut(69).expect("a place") = Hop { egress: 4, next_hop: 5 };
        assert_eq!(routes.iter().filter(|hop| *hop != NOWHERE).count(), 1);
        assert_eq!(routes.get(69), Some(Hop { egress: 4, next_hop: 5 }));
    }
}
