//! Groups of switches, one link between any two groups.

use super::{Builder, DEVICES_MAX, Defaults, Graph, Shape, padded, ports_fit, within};
use crate::diagnostic::Diagnostic;
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Groups of switches `g<i>/sw<j>`. Ports 0.. lead to endpoints, then to the other switches of the group,
/// then to other groups.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflySpec {
    /// Groups.
    pub groups: u32,
    /// Switches in each group.
    pub switches_per_group: u32,
    /// Endpoints at each switch.
    pub endpoints_per_switch: u32,
    /// Links of each switch to other groups (default: as few as suffice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global_per_switch: Option<u32>,
}

impl Defaults for DragonflySpec {}

/// The graph.
pub(super) fn build(spec: &DragonflySpec, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let (groups, a, each) = (spec.groups, spec.switches_per_group, spec.endpoints_per_switch);
    let good = within(out, &format!("{at}/groups"), u64::from(groups), 2, 4_096)
        & within(out, &format!("{at}/switches_per_group"), u64::from(a), 1, PORTS_MAX as u64)
        & within(out, &format!("{at}/endpoints_per_switch"), u64::from(each), 1, PORTS_MAX as u64);
    if !good {
        return None;
    }
    let needed = (groups - 1).div_ceil(a);
    let h = spec.global_per_switch.unwrap_or(needed);
    let ports = u64::from(each) + u64::from(a) - 1 + u64::from(h);
    let total = u64::from(groups) * u64::from(a) * (u64::from(each) + 1);
    let good =
        within(out, &format!("{at}/global_per_switch"), u64::from(h), u64::from(needed), PORTS_MAX as u64)
            && ports_fit(out, at, "a switch", ports)
            && within(out, &format!("{at}/groups"), total, 1, DEVICES_MAX);
    if !good {
        return None;
    }
    let mut b = Builder::default();
    let name = |g: u32, s: u32| format!("g{}/sw{}", padded(g, groups), padded(s, a));
    let switches: Vec<usize> = (0..groups * a).map(|i| b.switch(name(i / a, i % a), ports as u32)).collect();
    b.populate(&switches, each, 0);
    let switch = |g: u32, s: u32| switches[(g * a + s) as usize];
    // Local port of switch x towards switch y of its group.
    let local = |x: u32, y: u32| each + if y < x { y } else { y - 1 };
    for g in 0..groups {
        for x in 0..a {
            for y in x + 1..a {
                b.link((switch(g, x), local(x, y)), (switch(g, y), local(y, x)));
            }
        }
    }
    // Global link k of a group, 0 <= k < groups - 1, leads to the group k + 1 further on.
    let global = |k: u32| (k / h, each + a - 1 + k % h);
    for g in 0..groups {
        for other in g + 1..groups {
            let (s, p) = global(other - g - 1);
            let (t, q) = global(groups - 1 - (other - g));
            b.link((switch(g, s), p), (switch(other, t), q));
        }
    }
    Some(b.finish(|_| Shape::Plain))
}
