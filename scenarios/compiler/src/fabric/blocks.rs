//! The blocks of which routing tables are made, by number.

use super::Wires;
use models::config::{Block, BlockNumbers, DeviceModel, Egress, FabricConfig, IdTable, Route};

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
}

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
        Blocks { of, lengths, sole: sole.collect(), distinct: numbers.distinct }
    }

    /// A block that leads to one port, and the block of the neighbour there; `None`: to several.
    pub fn sole_pair(&self, wires: &Wires, device: usize, index: usize) -> Option<(u32, Option<u32>)> {
        let number = *self.of[device].get(index)?;
        let port = self.sole[number as usize]?;
        let next = wires[device].get(usize::from(port)).copied().flatten();
        Some((number, next.and_then(|(_, next, _)| self.of[next as usize].get(index).copied())))
    }
}
