//! Switches in a row.

use super::{Builder, Defaults, Graph, Shape, padded, ports_fit, within};
use crate::diagnostic::Diagnostic;
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switches `sw/<n>` in a row. Ports 0.. lead to endpoints, then one to the left, then one to the right.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChainSpec {
    /// Switches.
    pub switches: u32,
    /// Endpoints at each.
    pub endpoints_per_switch: u32,
}

impl Defaults for ChainSpec {}

/// The graph.
pub(super) fn build(spec: &ChainSpec, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let (n, each) = (spec.switches, spec.endpoints_per_switch);
    let per_switch = format!("{at}/endpoints_per_switch");
    let good = within(out, &format!("{at}/switches"), u64::from(n), 2, 1_024)
        & (ports_fit(out, &per_switch, "a switch", u64::from(each) + 2)
            && within(out, &per_switch, u64::from(each), 1, PORTS_MAX as u64 - 2));
    if !good {
        return None;
    }
    let mut b = Builder::default();
    let switches: Vec<usize> = (0..n).map(|i| b.switch(format!("sw/{}", padded(i, n)), each + 2)).collect();
    b.populate(&switches, each, 0);
    for pair in switches.windows(2) {
        b.link((pair[0], each + 1), (pair[1], each));
    }
    Some(b.finish(|_| Shape::Plain))
}
