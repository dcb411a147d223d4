//! What protocols have come to at the end of a run: one list, whichever protocols there are.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// What a protocol has come to in one flow. Each protocol has a type of its own for it.
pub trait FlowTotals: Any + Debug + Send + Sync {
    /// The flow.
    fn flow(&self) -> u16;
}

/// What all protocols have come to, in the order of flows. Who reads it asks for the type that it knows.
#[derive(Clone, Debug, Default)]
pub struct Totals(Vec<Arc<dyn FlowTotals>>);

impl Totals {
    /// Adds those of a flow. A flow may have several, of different types: a program, and what carries it.
    pub fn push(&mut self, totals: impl FlowTotals) {
        self.0.push(Arc::new(totals));
    }

    /// Those of one type, in the order of flows.
    pub fn of<T: FlowTotals>(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(|totals| (&**totals as &dyn Any).downcast_ref())
    }

    /// That of one type and flow.
    pub fn of_flow<T: FlowTotals>(&self, flow: usize) -> Option<&T> {
        self.of().find(|totals: &&T| usize::from(totals.flow()) == flow)
    }

    /// That of one type, if there is exactly one.
    pub fn one<T: FlowTotals>(&self) -> Option<&T> {
        let mut all = self.of();
        all.next().filter(|_| all.next().is_none())
    }

    /// Whether a protocol that counts for itself runs this flow.
    pub fn has_flow(&self, flow: usize) -> bool {
        self.0.iter().any(|totals| usize::from(totals.flow()) == flow)
    }
}
