//! Where a switch sends packets: two octets for each destination id.

use super::{COPIED, DROP, Hop};
use crate::config::{BLOCK, BlockNumbers, Egress, IdTable, NO_PORT, Route};
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
    /// Where each block begins.
    first: Vec<u32>,
    hops: Arc<[Hop]>,
}

impl Routes {
    /// Those of all switches of a fabric.
    pub fn of_all<'a>(tables: impl Iterator<Item = &'a IdTable<Route>>) -> Vec<Self> {
        let mut blocks = BlockNumbers::default();
        let mut near = Vec::new();
        let mut all = Vec::new();
        let mut ends = Vec::new();
        for table in tables {
            near = blocks.of(table, &near);
            let mut first: Vec<u32> = near.iter().map(|number| number * BLOCK as u32).collect();
            // What is behind the last id leads nowhere, whatever the others of the block do elsewhere.
            let open = table.len() % BLOCK;
            if open != 0 {
                let last = table.iter().skip(table.len() - open).map(Hop::from);
                ends.push((all.len(), last.collect::<Vec<Hop>>()));
                first.pop();
            }
            all.push(Routes { first, hops: Arc::default() });
        }
        let mut hops: Vec<Hop> =
            blocks.distinct.iter().flat_map(|block| block.iter().map(Hop::from)).collect();
        for (table, last) in ends {
            all[table].first.push(hops.len() as u32);
            let end = hops.len() + BLOCK;
            hops.extend(last);
            hops.resize(end, NOWHERE);
        }
        let hops: Arc<[Hop]> = hops.into();
        all.iter_mut().for_each(|routes| routes.hops = Arc::clone(&hops));
        all
    }

    /// Of a switch that nobody has told anything: so many ids lead nowhere.
    pub fn nowhere(ids: usize) -> Self {
        let blocks = ids.div_ceil(BLOCK);
        let first = (0..blocks).map(|block| (block * BLOCK) as u32).collect();
        Routes { first, hops: vec![NOWHERE; blocks * BLOCK].into() }
    }

    /// The route of an id; `None` where the table has no place for it.
    #[inline(always)]
    pub fn get(&self, id: usize) -> Option<Hop> {
        let first = *self.first.get(id / BLOCK)?;
        self.hops.get(first as usize + id % BLOCK).copied()
    }

    /// The route of an id, to change it in [`Routes::nowhere`] and what became of it.
    pub fn get_mut(&mut self, id: usize) -> Option<&mut Hop> {
        let first = *self.first.get(id / BLOCK)?;
        Arc::make_mut(&mut self.hops).get_mut(first as usize + id % BLOCK)
    }

    /// All routes, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = Hop> {
        (0..self.first.len() * BLOCK).filter_map(|id| self.get(id))
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

    #[test]
    fn a_switch_learns() {
        let mut routes = Routes::nowhere(70);
        assert!(routes.iter().all(|hop| hop == NOWHERE) && routes.get(128).is_none());
        *routes.get_mut(69).expect("a place") = Hop { egress: 4, next_hop: 5 };
        assert_eq!(routes.iter().filter(|hop| *hop != NOWHERE).count(), 1);
        assert_eq!(routes.get(69), Some(Hop { egress: 4, next_hop: 5 }));
    }
}
