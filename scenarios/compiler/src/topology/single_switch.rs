//! One switch.

use super::{Builder, Defaults, Graph, Shape, ports_fit, within};
use crate::diagnostic::Diagnostic;
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One switch `sw` with an endpoint `ep/<n>` on each port n.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleSwitchSpec {
    /// Ports, and so endpoints.
    pub ports: u32,
}

impl Defaults for SingleSwitchSpec {}

/// The graph.
pub(super) fn build(spec: &SingleSwitchSpec, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let at = &format!("{at}/ports");
    if !ports_fit(out, at, "the switch", u64::from(spec.ports))
        || !within(out, at, u64::from(spec.ports), 1, PORTS_MAX as u64)
    {
        return None;
    }
    let mut b = Builder::default();
    let switch = b.switch("sw".into(), spec.ports);
    b.populate(&[switch], spec.ports, 0);
    Some(b.finish(|_| Shape::Plain))
}
