//! How often a path of LINX that is blocked for a while ends a connection, against how long it is.

use super::{Caption, subtitle};
use crate::axes::{Axis, INK, Key, MARGIN, PAGE, Panel, Stroke, heading, legend, legend_height, stroke};
use crate::num::ratio;
use crate::report::VariantReport;
use crate::scene::Scene;
use models::config::{LinxFaultKind, ProtocolConfig};
use models::stats::LinxTotals;
use plotters::style::RGBColor;

/// The stalls of a variant.
pub(super) struct Stalls {
    /// Their length, ps.
    pub length: u64,
    /// Their length in periods of heartbeats.
    pub periods: f64,
    /// The share of them, in percent, that ended a connection although the peer was there.
    pub share: f64,
}

/// The stalls of a variant, if they are all as long.
pub(super) fn stalls(report: &VariantReport) -> Option<Stalls> {
    let mut lengths: Vec<f64> = Vec::new();
    let mut length = 0;
    let mut chances = 0u64;
    for agent in &report.run.config.agents {
        for part in &agent.parts {
            let ProtocolConfig::Linx(node) = &part.protocol else { continue };
            let (num, den) = agent.clock;
            // A unit of hb_tmo is 100 ms of the protocol clock.
            let period = f64::from(node.hb_tmo) * 1e11 * den as f64 / num as f64;
            for fault in node.faults.iter().filter(|fault| fault.kind == LinxFaultKind::Stall) {
                length = fault.until.0 - fault.from.0;
                lengths.push(length as f64 / period);
                // One that the run did not come to ended nothing, and says nothing.
                if fault.from < report.run.outcome.end {
                    chances += node.peers.len() as u64;
                }
            }
        }
    }
    let first = *lengths.first()?;
    let alike = lengths.iter().all(|length| libm::fabs(length - first) < 1e-6 * first);
    let ended: u64 =
        report.run.outcome.totals.of::<LinxTotals>().map(|totals| totals.stats.false_timeouts).sum();
    let share = 100.0 * ratio(ended.into(), chances.into());
    (alike && chances > 0).then_some(Stalls { length, periods: first, share })
}

/// Shares by length, family by family: what stands before the last dash of a variant's name.
fn families(reports: &[VariantReport]) -> Vec<(&str, Vec<(f64, f64)>)> {
    let mut families: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for report in reports {
        let Some(Stalls { periods, share, .. }) = stalls(report) else { continue };
        let point = (periods, share);
        let name = report.run.name.rsplit_once('-').map_or(report.run.name.as_str(), |name| name.0);
        match families.iter_mut().find(|family| family.0 == name) {
            Some(family) => family.1.push(point),
            None => families.push((name, vec![point])),
        }
    }
    families.iter_mut().for_each(|family| family.1.sort_by(|a, b| a.0.total_cmp(&b.0)));
    families
}

/// Three periods without a sign of life end a connection: never up to 2 T, with the probability (B - 2 T) / T
/// from there on. By ticks of the own timer both ends have a phase: the sum of two even distributions.
pub(super) fn laws(periods: f64) -> [f64; 2] {
    let even = (periods - 2.0).clamp(0.0, 1.0);
    let ticks = match periods.clamp(1.0, 3.0) {
        early if early < 2.0 => (early - 1.0) * (early - 1.0) / 2.0,
        late => 1.0 - (3.0 - late) * (3.0 - late) / 2.0,
    };
    [100.0 * even, 100.0 * ticks]
}

/// The second law: neither a line of the grid nor the first law.
pub(super) const LIGHT: RGBColor = RGBColor(0x9a, 0x9a, 0x9a);

/// How the laws are drawn.
pub(super) fn law_keys() -> [(Key, String); 2] {
    let line = |color| Key::Line(Stroke { color, dash: &[], marker: None });
    [
        (line(INK), "law, three periods after the last heartbeat".into()),
        (line(LIGHT), "law, three ticks of the own timer".into()),
    ]
}

/// Radius of the markers of a family: later ones are drawn over earlier ones, and must not hide them where
/// both have the same value.
pub(super) fn radius(family: usize, families: usize) -> f64 {
    4.0 + 2.5 * (families - 1 - family) as f64
}

/// The figure, if there are stalls of several lengths.
pub(super) fn timeouts(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let families = families(reports);
    if families.iter().all(|family| family.1.len() < 2) {
        return None;
    }
    let mut keys: Vec<(Key, String)> = families
        .iter()
        .enumerate()
        .map(|(index, family)| (Key::Points(stroke(index)), family.0.to_string()))
        .collect();
    keys.extend(law_keys());
    let top = 66.0 + legend_height(&keys, PAGE - 2.0 * MARGIN);
    let mut scene = Scene::new(PAGE as u32, (top + 34.0 + 340.0 + 62.0) as u32);
    let about = "share of stalls of a path that end a connection although the peer is there";
    // Its axis is in periods: whose clock is scaled, and how, does not matter here.
    let caption = Caption { note: String::new(), ..caption.clone() };
    heading(&mut scene, "False timeouts of heartbeats", &subtitle(&caption, about));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys);
    let left = MARGIN + 66.0;
    let longest = families.iter().flat_map(|family| &family.1).map(|point| point.0).fold(3.5, f64::max);
    let panel = Panel {
        x: left,
        y: top + 34.0,
        width: PAGE - MARGIN - left,
        height: 340.0,
        horizontal: Axis::exactly(longest),
        vertical: Axis::exactly(100.0),
    };
    panel.draw(&mut scene, "", "length of a stall B, in periods of heartbeats T", "false timeouts (%)");
    for (law, color) in [INK, LIGHT].into_iter().enumerate().rev() {
        let points: Vec<(f64, f64)> = (0..=140)
            .map(|n| longest * f64::from(n) / 140.0)
            .map(|b| panel.place((b, laws(b)[law])))
            .collect();
        scene.line(&points, color, 2);
    }
    for (index, (_, points)) in families.iter().enumerate() {
        let look = stroke(index);
        for &point in points {
            if let Some(marker) = look.marker {
                scene.marker_of(panel.place(point), marker, look.color, radius(index, families.len()));
            }
        }
    }
    Some(scene)
}

#[cfg(test)]
mod tests {
    use super::laws;

    #[test]
    fn laws_of_stalls() {
        for (periods, even, ticks) in
            [(0.9, 0.0, 0.0), (1.8, 0.0, 32.0), (2.0, 0.0, 50.0), (2.5, 50.0, 87.5), (3.1, 100.0, 100.0)]
        {
            let [found, by_ticks] = laws(periods);
            assert!((found - even).abs() < 1e-9 && (by_ticks - ticks).abs() < 1e-9, "{periods}");
        }
    }
}
