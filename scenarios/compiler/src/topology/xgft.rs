//! Extended generalized fat trees: slimmed and fattened trees of any number of levels.

use super::{Builder, DEVICES_MAX, Defaults, Graph, Shape, Tree, padded, ports_fit, within};
use crate::diagnostic::Diagnostic;
use models::config::PORTS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An extended generalized fat tree, XGFT(h; m1, ..., mh; 1, w2, ..., wh) of Öhring et al. (1995): switches
/// `level1/<n>` above the endpoints up to `level<h>/<n>`. Each level says how many below and above a switch
/// of it is linked to; a slimmed tree has fewer above than below. Down ports come first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct XgftSpec {
    /// Links down of a switch of each level, from the lowest: m1 endpoints, then m2, ... switches of the
    /// level below. 1 to 6 levels.
    pub down: Vec<u32>,
    /// Links up of a switch of each level but the highest: w2, w3, ... (none if there is one level).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub up: Vec<u32>,
}

impl Defaults for XgftSpec {}

/// The graph.
pub(super) fn build(spec: &XgftSpec, at: &str, out: &mut Vec<Diagnostic>) -> Option<Graph> {
    let levels = spec.down.len();
    if !within(out, &format!("{at}/down"), levels as u64, 1, 6) {
        return None;
    }
    if spec.up.len() != levels - 1 {
        let message = format!("{} numbers of links up for {levels} levels", spec.up.len());
        let help = format!("every level but the highest has one: {}", levels - 1);
        out.push(Diagnostic::error("SC019", format!("{at}/up"), message).help(help));
        return None;
    }
    let up = |level: usize| spec.up.get(level).copied().unwrap_or(0);
    let mut good = true;
    for (level, &down) in spec.down.iter().enumerate() {
        let pointer = format!("{at}/down/{level}");
        let ports = u64::from(down) + u64::from(up(level));
        good &= ports_fit(out, &pointer, "a switch", ports)
            && within(out, &pointer, u64::from(down), 1, PORTS_MAX as u64);
    }
    for (level, &up) in spec.up.iter().enumerate() {
        good &= within(out, &format!("{at}/up/{level}"), u64::from(up), 1, PORTS_MAX as u64);
    }
    if !good {
        return None;
    }
    // Every number is at most that of ports, and there are 6 of them: the products fit.
    let below = |level: usize| spec.down[..level].iter().map(|&m| u64::from(m)).product::<u64>();
    let above = |level: usize| spec.up[..level].iter().map(|&w| u64::from(w)).product::<u64>();
    let switches = |level: usize| below(levels) / below(level + 1) * above(level);
    let devices: u64 = below(levels) + (0..levels).map(switches).sum::<u64>();
    if !within(out, at, devices, 1, DEVICES_MAX) {
        return None;
    }
    let mut b = Builder::default();
    let rows: Vec<Vec<usize>> = (0..levels)
        .map(|level| {
            let (count, ports) = (switches(level) as u32, spec.down[level] + up(level));
            let name = |n| format!("level{}/{}", level + 1, padded(n, count));
            (0..count).map(|n| b.switch(name(n), ports)).collect()
        })
        .collect();
    b.populate(&rows[0], spec.down[0], 0);
    // Switch `group * copies + copy` of a level: which part of the tree it is over, and which of the `copies`
    // over that part. `down` parts make the part of the next level, which has `up` times as many copies.
    for level in 1..levels {
        let (down, up) = (spec.down[level] as usize, spec.up[level - 1] as usize);
        let copies = above(level - 1) as usize;
        for (n, &lower) in rows[level - 1].iter().enumerate() {
            let (group, copy) = (n / copies, n % copies);
            for way in 0..up {
                let upper = rows[level][group / down * copies * up + way * copies + copy];
                let port = spec.down[level - 1] + way as u32;
                b.link((lower, port), (upper, (group % down) as u32));
            }
        }
    }
    let hosts: Vec<usize> = (0..b.nodes.len()).filter(|&n| b.nodes[n].ports.is_none()).collect();
    Some(b.finish(|place| {
        let level =
            rows.iter().zip(0..).flat_map(|(row, l)| row.iter().map(move |&s| (place[s], l))).collect();
        let rank = hosts.iter().zip(0..).map(|(&host, rank)| (place[host], rank)).collect();
        Shape::FatTree(Tree { up: spec.up.clone(), level, rank })
    }))
}
