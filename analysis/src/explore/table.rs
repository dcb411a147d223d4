//! Tables of interleavings.

use super::conduit::{Class, Conduit};
use super::graph::{Cyclic, Graph};
use std::collections::BTreeMap;

/// One row: interleavings, different endings and probability of each class, of runs in which everything went
/// wrong that should.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// States of the graph.
    pub states: usize,
    /// (interleavings, endings, probability) by class; classes that do not occur are left out.
    pub classes: BTreeMap<Class, (u128, usize, f64)>,
}

impl Row {
    /// Interleavings together.
    #[must_use]
    pub fn interleavings(&self) -> u128 {
        self.classes.values().map(|class| class.0).sum()
    }
}

/// The row of one exploration. None if there are more states than `max_states`.
///
/// # Errors
/// [`Cyclic`].
pub fn conduit_table(model: &Conduit, max_states: usize) -> Result<Option<Row>, Cyclic> {
    Graph::explore(model, max_states).as_ref().map(conduit_row).transpose()
}

/// The row of a graph.
///
/// # Errors
/// [`Cyclic`].
pub fn conduit_row(graph: &Graph<'_, Conduit>) -> Result<Row, Cyclic> {
    let mut row = Row { states: graph.len(), ..Row::default() };
    for (ending, tally) in graph.tally()? {
        if ending.spent {
            let class = row.classes.entry(ending.class()).or_default();
            class.0 += tally.paths;
            class.1 += tally.finals.len();
            class.2 += tally.probability;
        }
    }
    Ok(row)
}
