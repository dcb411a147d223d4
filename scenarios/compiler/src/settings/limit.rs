//! What a metric has to be, as a requirement writes it.

use super::Unit;
use crate::units::Comparison;

/// What a metric has to be: a comparison and a quantity.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Limit {}

impl Unit for Limit {
    type Value = Comparison;

    fn read(text: &str) -> Result<Comparison, String> {
        Comparison::read(text)
    }
}
