//! A hub with arms.

use super::{Builder, Defaults, Graph, Shape, padded, ports_fit, within};
use crate::diagnostic::Diagnostic;
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A switch `hub` with arms `arm/<n>`. Port 0 of an arm leads to the hub, the others to its endpoints.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StarSpec {
    /// Arms.
    pub arms: u32,
    /// Endpoints at each arm.
    pub endpoints_per_arm: u32,
}

impl Defaults for StarSpec {}

/// The graph.
pub(super) fn build(spec: &StarSpec, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let (n, each) = (spec.arms, spec.endpoints_per_arm);
    let (arms, per_arm) = (format!("{at}/arms"), format!("{at}/endpoints_per_arm"));
    let most = PORTS_MAX as u64;
    let good = (ports_fit(out, &arms, "the hub", u64::from(n)) && within(out, &arms, u64::from(n), 1, most))
        & (ports_fit(out, &per_arm, "an arm", u64::from(each) + 1)
            && within(out, &per_arm, u64::from(each), 1, most - 1));
    if !good {
        return None;
    }
    let mut b = Builder::default();
    let hub = b.switch("hub".into(), n);
    let arms: Vec<usize> = (0..n).map(|i| b.switch(format!("arm/{}", padded(i, n)), each + 1)).collect();
    b.populate(&arms, each, 1);
    for (i, &arm) in arms.iter().enumerate() {
        b.link((hub, i as u32), (arm, 0));
    }
    Some(b.finish(|_| Shape::Plain))
}
