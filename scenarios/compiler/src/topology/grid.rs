//! Grids in 2 or 3 dimensions, open (mesh) and closed (torus).

use super::{Builder, DEVICES_MAX, Defaults, Graph, Shape, padded, ports_fit, within};
use crate::diagnostic::{Diagnostic, count};
use crate::settings::filled;
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switches `sw/<x>-<y>` (or `-<z>`). Ports 0.. lead to endpoints, then for each dimension one port to the
/// lower and one to the higher neighbour.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridSpec {
    /// Switches in each dimension: two or three numbers.
    pub size: Vec<u32>,
    /// Endpoints at each switch (default 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints_per_switch: Option<u32>,
}

impl Defaults for GridSpec {
    fn fill(&mut self) {
        self.endpoints_per_switch.get_or_insert(1);
    }
}

/// The graph without closed rows.
pub(super) fn mesh(spec: &GridSpec, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    grid(spec, false, at, out)
}

/// The graph with closed rows.
pub(super) fn torus(spec: &GridSpec, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    grid(spec, true, at, out)
}

fn grid(spec: &GridSpec, torus: bool, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let size = &spec.size;
    if !(2..=3).contains(&size.len()) {
        let message = format!("there is no grid of {}", count(size.len(), "dimension"));
        out.push(
            Diagnostic::error("SC019", format!("{at}/size"), message).help("allowed: 2 or 3 dimensions"),
        );
        return None;
    }
    let each = *filled(&spec.endpoints_per_switch);
    let directions = 2 * size.len() as u32;
    let mut good = true;
    for (d, &n) in size.iter().enumerate() {
        let pointer = format!("{at}/size/{d}");
        if torus && n == 1 {
            let message = "a ring of one switch would be a link from a switch to itself";
            out.push(
                Diagnostic::error("SC019", pointer, message).help("use 2 or more, or one dimension fewer"),
            );
            good = false;
        } else {
            good &= within(out, &pointer, u64::from(n), if torus { 2 } else { 1 }, 1_024);
        }
    }
    let pointer = format!("{at}/endpoints_per_switch");
    let ports = u64::from(each) + u64::from(directions);
    good &= ports_fit(out, &pointer, "a switch", ports)
        && within(out, &pointer, u64::from(each), 1, (PORTS_MAX as u64).saturating_sub(directions.into()));
    let total = size.iter().fold(1u64, |t, &n| t.saturating_mul(u64::from(n)));
    good =
        good && within(out, &format!("{at}/size"), total.saturating_mul(u64::from(each) + 1), 2, DEVICES_MAX);
    if !good {
        return None;
    }
    let mut b = Builder::default();
    let coordinates = |i: u32| {
        let mut rest = i;
        size.iter()
            .map(|&n| {
                let c = rest % n;
                rest /= n;
                c
            })
            .collect::<Vec<u32>>()
    };
    let switches: Vec<usize> = (0..total as u32)
        .map(|i| {
            let text: Vec<String> = coordinates(i).iter().zip(size).map(|(&c, &n)| padded(c, n)).collect();
            b.switch(format!("sw/{}", text.join("-")), each + directions)
        })
        .collect();
    b.populate(&switches, each, 0);
    let mut stride = 1;
    for (d, &n) in size.iter().enumerate() {
        for i in 0..total as u32 {
            let c = (i / stride) % n;
            let up = each + 2 * d as u32 + 1;
            if c + 1 < n {
                b.link((switches[i as usize], up), (switches[(i + stride) as usize], up - 1));
            } else if torus {
                b.link((switches[i as usize], up), (switches[(i - c * stride) as usize], up - 1));
            }
        }
        stride *= n;
    }
    let size = size.clone();
    Some(b.finish(|place| Shape::Grid {
        at: switches.iter().enumerate().map(|(i, &s)| (place[s], coordinates(i as u32))).collect(),
        size: size.clone(),
        torus,
        first: each as u8,
    }))
}
