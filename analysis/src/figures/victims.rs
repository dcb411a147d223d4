//! What congestion costs those who have nothing to do with it, and what freeing them costs the hot flows:
//! variants side by side.

use super::{Caption, UNDER_WAY_SHARE, joined, subtitle, transient};
use crate::axes::{Axis, GREY, INK, LABEL, MARGIN, PAGE, PANEL, Panel, TICK, heading, shorten, stroke};
use crate::num::{ratio, three_digits, time_text};
use crate::report::{FlowReport, VariantReport};
use crate::run::Role;
use crate::scene::{Align, Marker, Scene, text_width};
use std::collections::BTreeSet;

/// Variants that are shown.
const VARIANTS: std::ops::RangeInclusive<usize> = 2..=30;
const BAR: f64 = 18.0;
const PITCH: f64 = 23.0;
/// More from variant to variant.
const BETWEEN: f64 = 7.0;
const GAP: f64 = 26.0;

/// Room for the names of flows.
const FLOW_WIDTH: f64 = 150.0;

/// The title of a flow in so much room: of a long one the name is cut, and what the scenario declares it to
/// be stays.
pub(super) fn with_role(title: &str, width: f64) -> String {
    if text_width(title, TICK) <= width {
        return title.to_owned();
    }
    let (name, role) =
        title.rsplit_once(" (").map_or((title, String::new()), |(name, role)| (name, format!(" ({role}")));
    shorten(name, TICK, width - text_width(&role, TICK)) + &role
}

/// Variants whose share of survivors is named, the smallest first.
const SURVIVORS_LISTED: usize = 6;

/// What one column says of each row.
struct Column {
    heading: &'static str,
    label: &'static str,
    /// Not a number: the row has no such thing.
    values: Vec<f64>,
    /// What was asked for, where it is less than the axis.
    marks: Vec<Option<f64>>,
    axis: Axis,
    text: fn(f64) -> String,
}

/// A row: a variant, and one of the flows that are not hot.
struct Row<'a> {
    variant: usize,
    flow: &'a FlowReport,
    /// It begins its variant.
    first: bool,
}

/// Every flow that is not hot and asks for something, with the declared victims first. Each has a row of its
/// own: a mean of two would be that of neither, and those that the scenario calls nothing pay as well.
fn rows(reports: &[VariantReport]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (variant, report) in reports.iter().enumerate() {
        let mut flows: Vec<&FlowReport> = report
            .flows
            .iter()
            .filter(|flow| flow.role != Some(Role::Hot) && !flow.carries_nothing())
            .collect();
        flows.sort_by_key(|flow| flow.role != Some(Role::Victim));
        let row = |(n, flow)| Row { variant, flow, first: n == 0 };
        rows.extend(flows.into_iter().enumerate().map(row));
    }
    rows
}

fn of_role(report: &VariantReport, role: Role) -> impl Iterator<Item = &FlowReport> {
    report.flows.iter().filter(move |flow| flow.role == Some(role))
}

/// Whether some of them always have more to send: what such a flow offers is what the fabric lets in.
fn greedy(rows: &[Row<'_>]) -> bool {
    rows.iter().any(|row| row.flow.closed_loop)
}

/// Share of what a flow asks for that arrives, in percent. One that always has more to send asks for all of
/// its link, so with such flows it is the share of the link of a source.
fn accepted(flow: &FlowReport, greedy: bool) -> f64 {
    100.0 * flow.accepted_load.value / if greedy { 1.0 } else { flow.offered_load }
}

/// How far into the tail of the victims' latencies their number lets see.
struct Tail {
    heading: &'static str,
    label: &'static str,
    of: fn(&FlowReport) -> f64,
}

const TAILS: [Tail; 3] = [
    Tail {
        heading: "latency, 99.9 %",
        label: "99.9th percentile (logarithmic)",
        of: |flow| flow.latency.p999.value,
    },
    Tail {
        heading: "latency, 99 %",
        label: "99th percentile (logarithmic)",
        of: |flow| flow.latency.p99.value,
    },
    Tail { heading: "latency, mean", label: "mean (logarithmic)", of: |flow| flow.latency.mean.value },
];

/// The first of them that all victims of all variants have.
fn tail(rows: &[Row<'_>]) -> Option<&'static Tail> {
    let victims = || rows.iter().filter(|row| row.flow.role == Some(Role::Victim));
    TAILS.iter().find(|tail| victims().all(|row| (tail.of)(row.flow) > 0.0))
}

/// Where much of what victims asked for did not arrive: latencies are those of the rest. If more is asked for
/// than arrives they grow with the run, so its length is told.
fn survivors(reports: &[VariantReport]) -> String {
    let share = |report: &VariantReport| {
        let shares = of_role(report, Role::Victim)
            .filter(|flow| !flow.closed_loop && flow.books.asked > 0)
            .map(|flow| ratio(flow.books.arrived.into(), flow.books.asked.into()));
        shares.fold(1.0, f64::min)
    };
    let mut few: Vec<(f64, &VariantReport)> = reports.iter().map(|report| (share(report), report)).collect();
    few.retain(|few| few.0 < 1.0 - UNDER_WAY_SHARE);
    few.sort_by(|a, b| a.0.total_cmp(&b.0));
    if few.is_empty() {
        return String::new();
    }
    let text =
        |(share, report): &(f64, &VariantReport)| format!("{:.1} % in {}", 100.0 * share, report.run.name);
    let listed: Vec<String> = few.iter().take(SURVIVORS_LISTED).map(text).collect();
    let more = match few.len().saturating_sub(SURVIVORS_LISTED) {
        0 => String::new(),
        more => format!(" and more in {more} other variants"),
    };
    let behind = few.iter().filter(|few| of_role(few.1, Role::Victim).any(|flow| flow.falls_behind));
    let ends: BTreeSet<u64> = behind.map(|few| few.1.run.outcome.end.0).collect();
    let end = |ps: Option<&u64>| ps.map_or(String::new(), |ps| time_text(*ps as f64));
    let run = match ends.len() {
        0 => String::new(),
        1 => format!(" in a run of {}", end(ends.first())),
        _ => format!(" in runs of {} to {}", end(ends.first()), end(ends.last())),
    };
    format!("latencies of those that arrived{run}: of {}{more}", listed.join(", "))
}

/// Payload of the hot flows, Gb/s: of Scheduled Transfer, octets compared at their destination.
fn hot(report: &VariantReport) -> f64 {
    let rate = |flow: &FlowReport| flow.goodput_gbps.value;
    of_role(report, Role::Hot).map(rate).sum()
}

/// Sums over different flows are no comparison.
fn other_hot_flows(reports: &[VariantReport]) -> String {
    fn names(report: &VariantReport) -> Vec<&str> {
        of_role(report, Role::Hot).map(|flow| flow.name.as_str()).collect()
    }
    let Some(first) = reports.first().map(names) else { return String::new() };
    let others: Vec<&VariantReport> = reports.iter().filter(|report| names(report) != first).collect();
    let Some(other) = others.first().map(|report| names(report)) else { return String::new() };
    let variants: Vec<&str> = others.iter().map(|report| report.run.name.as_str()).collect();
    format!("hot flows: {} in {}, elsewhere {}", other.join(" + "), variants.join(", "), first.join(" + "))
}

/// The figure, if some variants have victims that offer a load, and hot flows.
pub(super) fn victims(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let has = |report: &VariantReport, role| of_role(report, role).next().is_some();
    let both = |report: &VariantReport| has(report, Role::Victim) && has(report, Role::Hot);
    if !VARIANTS.contains(&reports.len()) || !reports.iter().all(both) {
        return None;
    }
    let mut rows = rows(reports);
    let greedy = greedy(&rows);
    let declared = |row: &&Row<'_>| row.flow.role == Some(Role::Victim);
    if !rows.iter().filter(declared).all(|row| accepted(row.flow, greedy).is_finite()) {
        return None;
    }
    let tail = tail(&rows)?;
    // Who is done before anything is measured would have a row of nothing.
    rows.retain(|row| declared(&row) || accepted(row.flow, greedy).is_finite() || (tail.of)(row.flow) > 0.0);
    let rows = rows;
    let known = |values: &[f64]| values.iter().copied().filter(|value| *value > 0.0).collect::<Vec<f64>>();
    let most = |values: &[f64]| known(values).into_iter().fold(0.0, f64::max);
    let tails: Vec<f64> = rows.iter().map(|row| (tail.of)(row.flow)).collect();
    let least = known(&tails).into_iter().fold(f64::INFINITY, f64::min);
    // the hot flows of a variant are one sum, which stands in its first row
    let rate = |row: &Row<'_>| if row.first { hot(&reports[row.variant]) } else { f64::NAN };
    let rates: Vec<f64> = rows.iter().map(rate).collect();
    let none = || vec![None; rows.len()];
    // Whoever gets all that it asks for must not look worse than one that asks for more.
    let asks = |row: &Row<'_>| (!row.flow.closed_loop).then_some(100.0 * row.flow.offered_load);
    let marks: Vec<Option<f64>> = if greedy { rows.iter().map(asks).collect() } else { none() };
    let columns = [
        Column {
            heading: "throughput",
            label: match greedy {
                true if marks.iter().any(Option::is_some) => "accepted (% of its link; line: asked for)",
                true => "accepted (% of its link)",
                false => "accepted (% of offered)",
            },
            values: rows.iter().map(|row| accepted(row.flow, greedy)).collect(),
            marks,
            axis: Axis::exactly(100.0),
            text: |value| format!("{value:.1} %"),
        },
        Column {
            heading: tail.heading,
            label: tail.label,
            axis: Axis::log_times(least, most(&tails)),
            values: tails,
            marks: none(),
            text: time_text,
        },
        Column {
            heading: "all hot flows",
            label: "payload rate (Gb/s)",
            axis: Axis::from_zero(most(&rates)),
            values: rates,
            marks: none(),
            text: three_digits,
        },
    ];
    let name = |row: &Row<'_>| {
        let variant = reports[row.variant].run.name.as_str();
        if row.first { (variant.to_owned(), row.flow.title()) } else { (String::new(), row.flow.title()) }
    };
    let names: Vec<(String, String)> = rows.iter().map(name).collect();
    let widest = |of: fn(&(String, String)) -> &str, look| {
        names.iter().map(|name| text_width(of(name), look)).fold(0.0, f64::max)
    };
    let variant_width = widest(|name| &name.0, LABEL).clamp(60.0, 150.0);
    let flow_width = widest(|name| &name.1, TICK).min(FLOW_WIDTH);
    let left = MARGIN + variant_width + 10.0 + flow_width + 10.0;
    let mut y = 102.0 + 6.0;
    let mut places = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        y += if n > 0 && row.first { BETWEEN } else { 0.0 };
        places.push(y);
        y += PITCH;
    }
    let (top, height) = (102.0, y - 102.0);
    let mut scene = Scene::new(PAGE as u32, (top + height + 60.0) as u32);
    let declared = "victims and hot flows as the scenario declares them; the others are neither";
    let others = other_hot_flows(reports);
    let title = "What congestion costs the flows that are not hot";
    let more = joined(&[declared, &others, &survivors(reports), &transient(reports)]);
    heading(&mut scene, title, &subtitle(caption, &more));
    let width = (PAGE - MARGIN - left - 2.0 * GAP) / 3.0;
    for (n, column) in columns.iter().enumerate() {
        // Room for the value behind the longest bar.
        let x = left + n as f64 * (width + GAP);
        let (horizontal, vertical) = (column.axis, Axis::exactly(1.0));
        let panel = Panel { x, y: top, width: width - 62.0, height, horizontal, vertical };
        panel.vertical_grid(&mut scene, true);
        scene.line(&[(x, top), (x, top + height)], GREY, 1);
        scene.text((x, top - 10.0), column.heading, PANEL, Align::Left);
        let middle = x + panel.width / 2.0;
        scene.text((middle, top + height + 38.0), column.label, TICK, Align::Center);
        for (at, &value) in column.values.iter().enumerate() {
            if !value.is_finite() || column.axis.log && value <= 0.0 {
                continue;
            }
            let (y, look) = (places[at], stroke(rows[at].variant));
            let (mut end, _) = panel.place((value, 0.0));
            match column.axis.log {
                // a logarithmic axis has no zero where a bar could begin
                true => {
                    scene.marker_of((end, y + BAR / 2.0), Marker::Circle, look.color, 5.5);
                    end += 5.0;
                }
                false => scene.rect(x, y, (end - x).max(0.0), BAR, look.color),
            }
            let mark = column.marks[at].map(|mark| panel.place((mark, 0.0)).0);
            if let Some(mark) = mark {
                scene.line(&[(mark, y - 2.0), (mark, y + BAR + 2.0)], INK, 3);
            }
            let end = mark.map_or(end, |mark| end.max(mark));
            scene.value((end + 6.0, y + BAR / 2.0 + 4.6), &(column.text)(value), TICK);
        }
    }
    for (name, y) in names.iter().zip(&places) {
        let y = y + BAR / 2.0 + 4.6;
        scene.text((MARGIN, y), &shorten(&name.0, LABEL, variant_width), LABEL, Align::Left);
        scene.text((left - 10.0, y), &with_role(&name.1, flow_width), TICK, Align::Right);
    }
    Some(scene)
}
