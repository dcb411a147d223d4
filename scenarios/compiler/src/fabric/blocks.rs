//! The blocks of which routing tables are made, by number.

use models::config::{Block, BlockNumbers, DeviceModel, Egress, FabricConfig, IdTable, Route};
use std::collections::BTreeMap;

/// The blocks of all tables of a fabric. What holds for two blocks holds wherever both are.
pub(crate) struct Blocks {
    /// Numbers of the blocks of every device; of an endpoint none.
    pub of: Vec<Vec<u32>>,
    /// Entries of the table of every device.
    pub lengths: Vec<usize>,
    /// Blocks by number.
    pub distinct: Vec<Block<Route>>,
    /// Port to which all entries of a block lead, if they do.
    pub sole: Vec<Option<u8>>,
    /// Of each block: ports, and which entries lead to them, one bit each.
    pub ways: Vec<Vec<(u8, u64)>>,
}

/// There is no such block.
pub(super) const NO_BLOCK: u32 = u32::MAX;

impl Blocks {
    pub fn new(config: &FabricConfig) -> Self {
        let none = IdTable::default();
        let mut numbers = BlockNumbers::default();
        let mut of: Vec<Vec<u32>> = Vec::with_capacity(config.devices.len());
        let mut lengths = Vec::with_capacity(config.devices.len());
        for device in &config.devices {
            let table = match &device.model {
                DeviceModel::Switch(own) => &own.routes.entries,
                DeviceModel::Endpoint(_) => &none,
            };
            lengths.push(table.len());
            of.push(numbers.of(table, of.last().map_or(&[], Vec::as_slice)));
        }
        let sole = numbers.distinct.iter().map(|block| match block[0].egress {
            Egress::Port(port) if block.iter().all(|route| route.egress == Egress::Port(port)) => Some(port),
            _ => None,
        });
        let ways_of = |block: &Block<Route>| {
            let mut ways: BTreeMap<u8, u64> = BTreeMap::new();
            for (bit, route) in block.iter().enumerate() {
                if let Egress::Port(port) = route.egress {
                    *ways.entry(port).or_default() |= 1 << bit;
                }
            }
            ways.into_iter().collect()
        };
        let ways = numbers.distinct.iter().map(ways_of).collect();
        Blocks { of, lengths, sole: sole.collect(), ways, distinct: numbers.distinct }
    }

    /// The blocks at one place of the tables of all devices, side by side; [`NO_BLOCK`] where a table is
    /// shorter. Who asks for the blocks of many neighbours at a place finds them here, and not each in
    /// another table.
    pub fn place(&self, index: usize, blocks: &mut Vec<u32>) {
        blocks.clear();
        blocks.extend(self.of.iter().map(|of| of.get(index).copied().unwrap_or(NO_BLOCK)));
    }
}
