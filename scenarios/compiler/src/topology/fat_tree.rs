//! Folded Clos networks of 2 or 3 levels.

use super::{Builder, DEVICES_MAX, Defaults, Graph, Shape, Tree, padded, ports_fit, within};
use crate::diagnostic::Diagnostic;
use crate::settings::filled;
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A folded Clos network of equal switches: `leaf/<n>` and `spine/<n>`; with 3 levels `leaf`, `middle` and
/// `top`. Down ports come first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTreeSpec {
    /// Levels of switches: 2 (default) or 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    /// Ports of every switch.
    pub ports: u32,
    /// Endpoints.
    pub endpoints: u32,
    /// Endpoints at each leaf (default: half of its ports).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoints_per_leaf: Option<u32>,
    /// Spines of a 2-level tree. Default: as few as give every leaf as many up links as endpoints, or as many
    /// as its ports allow if they are fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spines: Option<u32>,
    /// Parallel links between a leaf and a spine (in a 3-level tree: between middle and top switches).
    /// Default: with `spines`, as many as the ports allow; without, as many as they allow that divide the up
    /// links of a leaf evenly (in a 3-level tree: half of the ports).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
}

impl Defaults for FatTreeSpec {
    fn fill(&mut self) {
        self.levels.get_or_insert(2);
    }
}

/// The graph.
pub(super) fn build(spec: &FatTreeSpec, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let (ports, endpoints) = (u64::from(spec.ports), u64::from(spec.endpoints));
    let levels = *filled(&spec.levels);
    let mut good = ports_fit(out, &format!("{at}/ports"), "a switch", ports)
        && within(out, &format!("{at}/ports"), ports, 2, PORTS_MAX as u64);
    good &= within(out, &format!("{at}/levels"), u64::from(levels), 2, 3);
    good &= within(out, &format!("{at}/endpoints"), endpoints, 1, 65_536);
    if !good {
        return None;
    }
    let down = u64::from(spec.endpoints_per_leaf.unwrap_or(spec.ports / 2));
    if !within(out, &format!("{at}/endpoints_per_leaf"), down, 1, ports - 1) {
        return None;
    }
    let leaves = endpoints.div_ceil(down);
    if levels == 2 {
        two_levels(spec, at, down, leaves, out)
    } else {
        three_levels(spec, at, down, leaves, out)
    }
}

fn two_levels(
    spec: &FatTreeSpec,
    at: &str,
    down: u64,
    leaves: u64,
    out: &mut Vec<Diagnostic>,
) -> Option<Graph> {
    let ports = u64::from(spec.ports);
    let up_max = ports - down;
    let parallel = spec.parallel.map(u64::from);
    if let Some(parallel) = parallel
        && !within(out, &format!("{at}/parallel"), parallel, 1, up_max)
    {
        return None;
    }
    let wanted = down.min(up_max);
    let parallel = match (parallel, spec.spines) {
        (Some(parallel), _) => parallel,
        (None, Some(spines)) => up_max.checked_div(u64::from(spines)).unwrap_or(0).min(ports / leaves),
        (None, None) => {
            (1..=wanted).rev().find(|p| p * leaves <= ports && wanted.is_multiple_of(*p)).unwrap_or(1)
        }
    };
    // There is at least one link between a leaf and a spine, and no more than there are up links.
    let fewest = || wanted.div_ceil(parallel.max(1)).min(up_max / parallel.max(1));
    let spines = spec.spines.map_or_else(fewest, u64::from);
    if !within(out, &format!("{at}/spines"), spines, 1, up_max) {
        return None;
    }
    if parallel == 0 || spines * parallel > up_max || leaves * parallel > ports {
        let message = format!(
            "{leaves} leaves with {down} endpoints each and {spines} spines with {parallel} parallel links \
             do not fit switches of {ports} ports"
        );
        let help = "spines x parallel <= ports - endpoints_per_leaf, and leaves x parallel <= ports";
        out.push(Diagnostic::error("SC019", at, message).help(help));
        return None;
    }
    let mut b = Builder::default();
    let leaf: Vec<usize> = (0..leaves as u32)
        .map(|i| b.switch(format!("leaf/{}", padded(i, leaves as u32)), spec.ports))
        .collect();
    let spine: Vec<usize> = (0..spines as u32)
        .map(|i| b.switch(format!("spine/{}", padded(i, spines as u32)), spec.ports))
        .collect();
    let hosts = hang_endpoints(&mut b, &leaf, spec.endpoints, down as u32);
    for k in 0..parallel as u32 {
        for (s, &spine) in spine.iter().enumerate() {
            for (l, &leaf) in leaf.iter().enumerate() {
                let up = down as u32 + k * spines as u32 + s as u32;
                b.link((leaf, up), (spine, k * leaves as u32 + l as u32));
            }
        }
    }
    Some(b.finish(|place| {
        let level = leaf.iter().map(|&s| (place[s], 0)).chain(spine.iter().map(|&s| (place[s], 1))).collect();
        let rank = hosts.iter().enumerate().map(|(i, &h)| (place[h], i as u32)).collect();
        Shape::FatTree(Tree { up: vec![(spines * parallel) as u32], level, rank })
    }))
}

/// Endpoints in order, `down` to a leaf.
fn hang_endpoints(b: &mut Builder, leaves: &[usize], endpoints: u32, down: u32) -> Vec<usize> {
    (0..endpoints)
        .map(|i| {
            let endpoint = b.endpoint(format!("ep/{}", padded(i, endpoints)));
            b.link((leaves[(i / down) as usize], i % down), (endpoint, 0));
            endpoint
        })
        .collect()
}

fn three_levels(
    spec: &FatTreeSpec,
    at: &str,
    down: u64,
    leaves: u64,
    out: &mut Vec<Diagnostic>,
) -> Option<Graph> {
    let ports = u64::from(spec.ports);
    if spec.spines.is_some() {
        let message = "spines belong to a tree of 2 levels";
        out.push(Diagnostic::error("SC019", format!("{at}/spines"), message).help("leave it out"));
        return None;
    }
    let half = ports / 2;
    if down > half {
        let message = format!("{down} endpoints at a leaf leave too few up links");
        let help = format!("allowed: 1 to {half}");
        out.push(Diagnostic::error("SC019", format!("{at}/endpoints_per_leaf"), message).help(help));
        return None;
    }
    // A pod: `half` leaves and `half` middle switches, every leaf linked to every middle switch of its pod.
    let pods = leaves.div_ceil(half);
    let most = ports.checked_div(pods).unwrap_or(0).min(half);
    if let Some(parallel) = spec.parallel
        && !within(out, &format!("{at}/parallel"), parallel.into(), 1, half)
    {
        return None;
    }
    let parallel = match spec.parallel {
        Some(parallel) => u64::from(parallel),
        None => (1..=most).rev().find(|p| half.is_multiple_of(*p)).unwrap_or(0),
    };
    if parallel == 0 || parallel * pods > ports || !half.is_multiple_of(parallel) {
        let (message, help) = if pods > ports {
            (
                format!("{} endpoints do not fit three levels of switches of {ports} ports", spec.endpoints),
                format!("with {down} at a leaf at most {}", down * half * ports),
            )
        } else {
            (
                format!("{pods} pods with {parallel} parallel links do not fit switches of {ports} ports"),
                "pods x parallel <= ports, and parallel divides half of the ports".into(),
            )
        };
        out.push(Diagnostic::error("SC019", at, message).help(help));
        return None;
    }
    let tops_per_group = half / parallel;
    let middles = pods * half;
    let tops = half * tops_per_group;
    if !within(out, at, leaves + middles + tops + u64::from(spec.endpoints), 1, DEVICES_MAX) {
        return None;
    }
    let mut b = Builder::default();
    let mut row = |kind: &str, n: u64| -> Vec<usize> {
        (0..n as u32).map(|i| b.switch(format!("{kind}/{}", padded(i, n as u32)), spec.ports)).collect()
    };
    let (leaf, middle, top) = (row("leaf", leaves), row("middle", middles), row("top", tops));
    let (half, down) = (half as usize, down as u32);
    let hosts = hang_endpoints(&mut b, &leaf, spec.endpoints, down);
    for (l, &leaf) in leaf.iter().enumerate() {
        let pod = l / half;
        for j in 0..half {
            b.link((leaf, down + j as u32), (middle[pod * half + j], (l % half) as u32));
        }
    }
    for k in 0..parallel as usize {
        for s in 0..tops_per_group as usize {
            for (m, &middle) in middle.iter().enumerate() {
                let (pod, group) = (m / half, m % half);
                let up = half + k * tops_per_group as usize + s;
                let top = top[group * tops_per_group as usize + s];
                b.link((middle, up as u32), (top, (k * pods as usize + pod) as u32));
            }
        }
    }
    Some(b.finish(|place| {
        let rows = [(&leaf, 0), (&middle, 1), (&top, 2)];
        let level = rows.iter().flat_map(|(row, l)| row.iter().map(|&s| (place[s], *l))).collect();
        let rank = hosts.iter().enumerate().map(|(i, &h)| (place[h], i as u32)).collect();
        Shape::FatTree(Tree { up: vec![half as u32; 2], level, rank })
    }))
}
