//! What a reader of a figure would take for something else, and what hides in it: parts of its caption.

use super::Level;
use super::words::{LISTED, listed};
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
        true => {
            "waiting for a Clear_To_Send, or for Slots, is in none of them: it comes before there are frames"
        }
        false => "",
    }
}

/// Operations that a translator drops: nobody behind it gets them, but their frames arrived there, and are in
/// every distribution and mean of frames.
pub(super) fn translated(reports: &[VariantReport], level: Level) -> String {
    let mut some: Vec<String> = Vec::new();
    for (report, flow) in flows(reports, level).filter(|(_, flow)| flow.not_passed > 0) {
        let count = count_text(flow.not_passed);
        some.push(if reports.len() > 1 { format!("{count} in {}", report.run.name) } else { count });
    }
    let heading = match level.noun {
        "packet" => "with packets of operations that arrived at a translator, which dropped them",
        _ => "with frames that arrived at a translator, which dropped them",
    };
    listed(heading, LISTED, some.into_iter())
}
