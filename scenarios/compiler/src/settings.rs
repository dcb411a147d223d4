//! What topologies need of the scenario language, which is built from them: quantities, the settings of a
//! link, and the methods of routing. [`crate::spec`] shows all of it as its own.

mod channels;
mod limit;
mod link;
mod quantity;

pub use channels::*;
pub use limit::*;
pub use link::*;
pub use quantity::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A setting of an expanded scenario.
///
/// # Panics
/// If nobody filled it in: then `expand` has no default for it.
pub(crate) fn filled<T>(setting: &Option<T>) -> &T {
    setting.as_ref().expect("expand writes every default out")
}

/// Method of the computed routing tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoutingMethod {
    /// Mesh: dimension_order; torus and dragonfly: up_down; fat tree and xgft: fat_tree; others: shortest.
    Auto,
    /// Fewest hops; the lowest port among equals.
    Shortest,
    /// Up towards a root, then down: deadlock-free on every graph. Of two switches the one nearer to the root
    /// is higher, and of two equally near the first by name.
    UpDown,
    /// X first, then Y, then Z (mesh only).
    DimensionOrder,
    /// Up by destination id modulo over all up links, then down (fat tree only).
    FatTree,
    /// Only the entries of `tables`.
    Tables,
}
