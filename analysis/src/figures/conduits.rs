//! Conduits, records and leaked streams of session management over time, as a census found them.

use super::courses::{Course, Scale, Scales, panels_over_time};
use super::{Caption, PANELS_SHOWN, joined, left_out, subtitle};
use crate::axes::{Key, stroke};
use crate::report::VariantReport;
use crate::scene::Scene;
use models::stats::{SessionCount, SessionTotals};

/// Gets what a line shows.
type Get = fn(&SessionCount) -> u64;

/// What is drawn, in the order of the lines.
const LINES: [(&str, Get); 3] = [
    ("conduits", |count| count.conduits),
    ("records of conduits", |count| count.records),
    ("leaked streams", |count| count.leaked),
];

/// What all flows of a variant had at each instant of the census.
fn counts(report: &VariantReport) -> Vec<SessionCount> {
    let mut sums: Vec<SessionCount> = Vec::new();
    for totals in report.run.outcome.totals.of::<SessionTotals>() {
        for count in &totals.census {
            match sums.iter_mut().find(|sum| sum.at == count.at) {
                Some(sum) => {
                    sum.conduits += count.conduits;
                    sum.records += count.records;
                    sum.leaked += count.leaked;
                }
                None => sums.push(*count),
            }
        }
    }
    sums.sort_by_key(|count| count.at);
    sums
}

/// When nothing changes any more; the end of the run, if that is not long after.
fn settled(report: &VariantReport) -> u64 {
    let (counts, end) = (counts(report), report.run.outcome.end.0);
    let values = |count: &SessionCount| LINES.map(|(_, of)| of(count));
    let changes = counts.windows(2).filter(|pair| values(&pair[0]) != values(&pair[1]));
    let last = changes.map(|pair| pair[1].at.0).max();
    let last = last.or(counts.first().map(|count| count.at.0)).unwrap_or(end);
    if last < end / 4 { (2 * last).min(end) } else { end }
}

/// The figure, if there was a census in any variant: a panel for each, those without one left empty.
pub(super) fn conduits(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    if panels.iter().all(|report| counts(report).is_empty()) {
        return None;
    }
    let mut scales = Scales::new(panels, settled, |_| 0);
    let course = |(report, Scale { unit, end_ps, .. }): (&VariantReport, &Scale)| {
        let counts = counts(report);
        let line = |of: Get| {
            let points = counts.iter().filter(|count| count.at.0 <= *end_ps);
            let points = points.map(|count| (unit.scale(count.at.0 as f64), of(count) as f64));
            let begin = counts.first().map(|_| (0.0, 0.0));
            begin.into_iter().chain(points).collect()
        };
        Course { label: "at the census", lines: LINES.map(|(_, of)| line(of)).into() }
    };
    let courses: Vec<Course> = panels.iter().zip(&scales.of).map(course).collect();
    scales.level(&courses);
    let keys: Vec<(Key, String)> = LINES
        .iter()
        .enumerate()
        .map(|(index, (name, _))| (Key::Line(stroke(index)), (*name).into()))
        .collect();
    let left_out = left_out(panels.len(), reports.len(), "variants");
    let note = "each end of a conduit has a record, and a conduit two streams; lines only join the counts, \
                and end soon after the last change";
    let text = subtitle(caption, &joined(&[note, scales.note(), &left_out]));
    Some(panels_over_time("Conduits over time", &text, panels, keys, &courses, &scales))
}
