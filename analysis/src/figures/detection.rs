//! What a period of heartbeats costs and brings where paths of LINX are blocked for a while: false timeouts
//! against the time to notice a crash.

use super::timeouts::{LIGHT, law_keys, laws, radius, stalls};
use super::{Caption, subtitle};
use crate::axes::{Axis, INK, Key, MARGIN, PAGE, Panel, heading, legend, legend_height, stroke};
use crate::report::VariantReport;
use crate::scene::Scene;
use models::stats::LinxTotals;

/// A variant: length of its stalls in periods, share of them that end a connection, and the least, mean and
/// most time to notice a crash, in lengths of a stall.
struct Point {
    periods: f64,
    share: f64,
    noticed: [f64; 3],
}

fn point(report: &VariantReport) -> Option<(u64, Point)> {
    let stalls = stalls(report)?;
    let mut noticed = report.run.outcome.totals.of::<LinxTotals>().map(|totals| totals.stats.detected);
    let noticed = noticed.find(|times| times.count > 0)?;
    let length = stalls.length as f64;
    let mean = noticed.sum as f64 / noticed.count as f64;
    let noticed = [noticed.min as f64, mean, noticed.max as f64].map(|time| time / length);
    Some((stalls.length, Point { periods: stalls.periods, share: stalls.share, noticed }))
}

/// Points by family: what stands before the last dash of a variant's name. `None` unless all stalls are as
/// long, and periods of heartbeats are not.
fn families(reports: &[VariantReport]) -> Option<Vec<(&str, Vec<Point>)>> {
    let mut families: Vec<(&str, Vec<Point>)> = Vec::new();
    let mut length = None;
    for report in reports {
        let (own, point) = point(report)?;
        if *length.get_or_insert(own) != own {
            return None;
        }
        let name = report.run.name.rsplit_once('-').map_or(report.run.name.as_str(), |name| name.0);
        match families.iter_mut().find(|family| family.0 == name) {
            Some(family) => family.1.push(point),
            None => families.push((name, vec![point])),
        }
    }
    let several =
        |family: &(&str, Vec<Point>)| family.1.iter().any(|point| point.periods != family.1[0].periods);
    families.iter().any(several).then_some(families)
}

/// Mean time to notice a crash, in periods: three less half of one, and less half of another by ticks.
const NOTICED: [f64; 2] = [2.5, 2.0];
/// Page units between bars of two families.
const BESIDE: f64 = 9.0;
/// The shortest stall that is shown, in periods.
const SHORTEST: f64 = 1.5;

/// The figure, if runs differ in the period and in nothing else.
pub(super) fn detection(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let families = families(reports)?;
    let keys = || {
        let family = |(index, family): (usize, &(&str, Vec<Point>))| {
            (Key::Points(stroke(index)), family.0.to_string())
        };
        let mut keys: Vec<(Key, String)> = families.iter().enumerate().map(family).collect();
        keys.extend(law_keys());
        keys
    };
    let top = 66.0 + legend_height(&keys(), PAGE - 2.0 * MARGIN);
    let mut scene = Scene::new(PAGE as u32, (top + 34.0 + 340.0 + 62.0) as u32);
    let about = "paths blocked for B, nodes that go down, and heartbeats each T: a long T is patient, and \
                 slow · at right the families of a B stand side by side around it";
    let caption = Caption { note: String::new(), ..caption.clone() };
    heading(&mut scene, "False timeouts, and the time to notice a crash", &subtitle(&caption, about));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys());
    let points = || families.iter().flat_map(|family| &family.1);
    let longest = points().map(|point| point.periods).fold(3.5, f64::max);
    let slowest = points().map(|point| point.noticed[2]).fold(3.0 / SHORTEST, f64::max);
    let horizontal = Axis { low: SHORTEST, ..Axis::exactly(longest) };
    let width = (PAGE - 2.0 * MARGIN - 66.0 - 84.0) / 2.0;
    let panel = |index: f64, vertical| Panel {
        x: MARGIN + 66.0 + index * (width + 84.0),
        y: top + 34.0,
        width,
        height: 340.0,
        horizontal,
        vertical,
    };
    let label = "length of a stall B, in periods T";
    let shares = panel(0.0, Axis::exactly(100.0));
    shares.draw(&mut scene, "", label, "stalls that end a connection (%)");
    let times = panel(1.0, Axis::from_zero(slowest));
    times.draw(&mut scene, "", label, "crash noticed after, in B: least, mean, most");
    for (law, color) in [INK, LIGHT].into_iter().enumerate().rev() {
        let at = |n: u32| SHORTEST + (longest - SHORTEST) * f64::from(n) / 140.0;
        let curve = |panel: &Panel, of: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
            (0..=140).map(at).map(|b| panel.place((b, of(b)))).collect()
        };
        scene.line(&curve(&shares, &|b| laws(b)[law]), color, 2);
        scene.line(&curve(&times, &|b| NOTICED[law] / b), color, 2);
    }
    for (index, (_, points)) in families.iter().enumerate() {
        let look = stroke(index);
        let Some(marker) = look.marker else { continue };
        for Point { periods, share, noticed: [least, mean, most] } in points {
            let shown = shares.place((*periods, *share));
            scene.marker_of(shown, marker, look.color, radius(index, families.len()));
            // Bars of families stand beside each other.
            let aside = BESIDE * (index as f64 - (families.len() - 1) as f64 / 2.0);
            let [least, mean, most] = [*least, *mean, *most].map(|time| {
                let (x, y) = times.place((*periods, time));
                (x + aside, y)
            });
            scene.line(&[least, most], look.color, 1);
            scene.marker(mean, marker, look.color);
        }
    }
    Some(scene)
}
