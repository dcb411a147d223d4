//! What a reader of a figure would take for something else, and what hides in it: parts of its caption.

use super::{LISTED, Level, listed};
use crate::num::count_text;
use crate::report::{FlowReport, VariantReport};

/// Flows that have something of this level, with their variants.
fn flows(reports: &[VariantReport], level: Level) -> impl Iterator<Item = (&VariantReport, &FlowReport)> {
    let all = reports.iter().flat_map(|report| report.flows.iter().map(move |flow| (report, flow)));
    all.filter(move |(_, flow)| (level.of)(flow).is_some())
}

/// A frame of Data is made when its destination has enabled its Block: the time until then is in no
/// packet and in no frame, and may be most of a Transfer.
pub(super) fn permissions(reports: &[VariantReport], level: Level) -> &'static str {
    let enabled = |flow: &FlowReport| flow.above.is_some_and(|above| above.carries.contains("Transfer"));
    match flows(reports, level).any(|(_, flow)| enabled(flow)) {
        true => "waiting for a Clear_To_Send is in none of them: it comes before there are frames of Data",
        false => "",
    }
}

/// Operations that a translator drops: their frames arrived there, and nobody behind it gets them.
pub(super) fn translated(reports: &[VariantReport], level: Level) -> String {
    let mut some: Vec<String> = Vec::new();
    for (report, flow) in flows(reports, level).filter(|(_, flow)| flow.not_passed > 0) {
        let count = count_text(flow.not_passed);
        some.push(if reports.len() > 1 { format!("{count} in {}", report.run.name) } else { count });
    }
    let heading = match level.noun {
        "packet" => "with packets of operations that arrived at a translator, which dropped them",
        _ => "arrived at a translator, which dropped them, and are missing",
    };
    listed(heading, LISTED, some.into_iter())
}

/// Lines of a panel that lie on one another, so that only the last is seen: places of their lines.
pub(super) fn coinciding(lines: &[(usize, Vec<(f64, f64)>)]) -> Vec<Vec<usize>> {
    /// Less than half a line apart, page units.
    const SEEN: f64 = 0.75;
    let on = |a: &[(f64, f64)], b: &[(f64, f64)]| {
        let near =
            |(a, b): (&(f64, f64), &(f64, f64))| libm::fabs(a.0 - b.0) < SEEN && libm::fabs(a.1 - b.1) < SEEN;
        a.len() > 1 && a.len() == b.len() && a.iter().zip(b).all(near)
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, (_, line)) in lines.iter().enumerate() {
        match groups.iter_mut().find(|group| on(&lines[group[0]].1, line)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups.into_iter().map(|group| group.into_iter().map(|at| lines[at].0).collect()).collect()
}
