//! Choices of the generator: each table of values has a name, so that a test can tell which value was never
//! drawn.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How long a table is, and which of its entries were drawn.
pub type Taken = BTreeMap<String, (usize, BTreeSet<usize>)>;

/// Random choices of one system.
pub struct Draw {
    rng: ChaCha8Rng,
    pub taken: Taken,
}

impl Draw {
    /// The choices of system `index` of the series `seed`.
    pub fn new(seed: u64, index: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&index.to_le_bytes());
        key[16..].copy_from_slice(b"random systems 1");
        Self { rng: ChaCha8Rng::from_seed(key), taken: Taken::new() }
    }

    /// Uniform in `0..n`; the bias of a remainder of 64 bits does not matter here.
    pub fn below(&mut self, n: usize) -> usize {
        (self.rng.next_u64() % n as u64) as usize
    }

    /// Uniform in `from..=to`.
    pub fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of a table.
    pub fn of<X: Clone>(&mut self, table: &str, values: &[X]) -> X {
        let index = self.below(values.len());
        let entry = self.taken.entry(table.to_owned()).or_insert((values.len(), BTreeSet::new()));
        assert_eq!(entry.0, values.len(), "one name, one table: {table}");
        entry.1.insert(index);
        values[index].clone()
    }

    /// One of a list that depends on the system.
    pub fn any<X: Clone>(&mut self, values: &[X]) -> X {
        values[self.below(values.len())].clone()
    }

    /// Sets a field in so many of 100 cases: `table` is `definition/field`.
    pub fn set<X: Clone + Into<Value>>(
        &mut self,
        object: &mut Map<String, Value>,
        percent: usize,
        table: &str,
        values: &[X],
    ) {
        if self.chance(percent) {
            let key = table.rsplit('/').next().expect("there is a last part");
            object.insert(key.to_owned(), self.of(table, values).into());
        }
    }

    /// Some of a list, in its order, at least `least`.
    pub fn some<X: Clone>(&mut self, values: &[X], least: usize) -> Vec<X> {
        let mut left: Vec<usize> = (0..values.len()).collect();
        let count = self.between(least, values.len());
        while left.len() > count {
            let out = self.below(left.len());
            left.remove(out);
        }
        left.into_iter().map(|index| values[index].clone()).collect()
    }
}
