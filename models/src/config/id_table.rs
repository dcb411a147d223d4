//! Tables by destination id, in blocks that tables share.

use sim_core::prefetch;
use std::collections::BTreeMap;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// Ids of a block.
pub const BLOCK: usize = 64;

/// Entries of [`BLOCK`] ids.
pub type Block<T> = Arc<[T; BLOCK]>;

/// A table with an entry for each destination id. It is kept in blocks, and what is the same in many tables,
/// or in many places of one, is there once: a switch knows tens of thousands of ids, but few ways.
#[derive(Clone, Debug)]
pub struct IdTable<T> {
    len: usize,
    /// What is behind the last entry has no meaning.
    blocks: Vec<Block<T>>,
}

impl<T> Default for IdTable<T> {
    fn default() -> Self {
        IdTable { len: 0, blocks: Vec::new() }
    }
}

impl<T: Copy> IdTable<T> {
    /// `len` entries, [`BLOCK`] in each of these blocks.
    ///
    /// # Panics
    /// If these are not as many blocks as so many entries take.
    pub fn of_blocks(len: usize, blocks: Vec<Block<T>>) -> Self {
        assert_eq!(blocks.len(), len.div_ceil(BLOCK), "blocks for {len} entries");
        IdTable { len, blocks }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entry of an id; `None` beyond the end.
    #[inline(always)]
    pub fn get(&self, id: usize) -> Option<&T> {
        if id < self.len { Some(&self.blocks[id / BLOCK][id % BLOCK]) } else { None }
    }

    /// Asks for which block the entry of an id is in.
    #[inline(always)]
    pub fn prefetch_block(&self, id: usize) {
        self.blocks.get(id / BLOCK).map(prefetch);
    }

    /// Asks for the entry of an id, whose block is known.
    #[inline(always)]
    pub fn prefetch_entry(&self, id: usize) {
        self.get(id).map(prefetch);
    }

    /// The entry of an id, to change it: in this table alone.
    pub fn get_mut(&mut self, id: usize) -> Option<&mut T> {
        if id < self.len { Some(&mut Arc::make_mut(&mut self.blocks[id / BLOCK])[id % BLOCK]) } else { None }
    }

    /// One more entry.
    pub fn push(&mut self, entry: T) {
        if self.len.is_multiple_of(BLOCK) {
            self.blocks.push(Arc::new([entry; BLOCK]));
        }
        self.len += 1;
        let last = self.len - 1;
        self[last] = entry;
    }

    /// All entries, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.blocks.iter().flat_map(|block| block.iter()).take(self.len)
    }

    /// All blocks; of the last one only the entries within the table mean anything.
    pub fn blocks(&self) -> &[Block<T>] {
        &self.blocks
    }
}

impl<T: Copy> FromIterator<T> for IdTable<T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        let mut table = IdTable::default();
        entries.into_iter().for_each(|entry| table.push(entry));
        table
    }
}

impl<T: Copy> Index<usize> for IdTable<T> {
    type Output = T;

    fn index(&self, id: usize) -> &T {
        self.get(id).expect("an id of the table")
    }
}

impl<T: Copy> IndexMut<usize> for IdTable<T> {
    fn index_mut(&mut self, id: usize) -> &mut T {
        self.get_mut(id).expect("an id of the table")
    }
}

impl<T: Copy + PartialEq> PartialEq for IdTable<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

/// Numbers of the blocks of many tables: those of the same memory have the same one.
#[derive(Clone, Debug)]
pub struct BlockNumbers<T> {
    /// The blocks, by number.
    pub distinct: Vec<Block<T>>,
    known: BTreeMap<*const [T; BLOCK], u32>,
}

impl<T> Default for BlockNumbers<T> {
    fn default() -> Self {
        BlockNumbers { distinct: Vec::new(), known: BTreeMap::new() }
    }
}

impl<T: Copy> BlockNumbers<T> {
    /// The numbers of the blocks of a table. `near`: those of a table that is likely to have many in common;
    /// empty is one that has none.
    pub fn of(&mut self, table: &IdTable<T>, near: &[u32]) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(table.blocks.len());
        for (index, block) in table.blocks.iter().enumerate() {
            let same = |number: &&u32| Arc::ptr_eq(&self.distinct[**number as usize], block);
            let number = match near.get(index).filter(same).or(numbers.last().filter(same)) {
                Some(number) => *number,
                None => *self.known.entry(Arc::as_ptr(block)).or_insert_with(|| {
                    self.distinct.push(Arc::clone(block));
                    (self.distinct.len() - 1) as u32
                }),
            };
            numbers.push(number);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table is what was put in, whatever the number of entries, and tables do not change each other.
    #[test]
    fn a_table_is_a_list() {
        for len in [0, 1, 63, 64, 65, 200] {
            let entries: Vec<usize> = (0..len).map(|n| n * n).collect();
            let mut table: IdTable<usize> = entries.iter().copied().collect();
            assert_eq!(table.iter().copied().collect::<Vec<_>>(), entries);
            assert_eq!((table.len(), table.get(len), table.blocks().len()), (len, None, len.div_ceil(64)));
            let before = table.clone();
            assert!(table == before);
            if len > 0 {
                table[len - 1] = 7;
                assert!((table != before) == (entries[len - 1] != 7), "{len}");
                assert_eq!(before[len - 1], entries[len - 1]);
            }
        }
    }

    /// Blocks of the same memory have one number, and nothing else has.
    #[test]
    fn numbers() {
        let one: IdTable<u8> = (0..130).collect();
        let mut other = one.clone();
        other[70] = 0;
        let mut numbers = BlockNumbers::default();
        let first = numbers.of(&one, &[]);
        assert_eq!((first.as_slice(), numbers.of(&other, &first)), ([0, 1, 2].as_slice(), vec![0, 3, 2]));
        assert_eq!(numbers.distinct.len(), 4);
    }
}
