//! What congestion costs those who have nothing to do with it, and what freeing them costs the hot flows:
//! variants side by side.

use super::{Caption, UNDER_WAY_SHARE, joined, subtitle, transient};
use crate::axes::{Axis, GREY, INK, LABEL, MARGIN, PAGE, PANEL, Panel, TICK, heading, shorten, stroke};
use crate::collect::senders_of;
use crate::num::{ratio, three_digits, time_text};
use crate::report::{FlowReport, VariantReport};
use crate::run::Role;
use crate::scene::{Align, Scene, text_width};
use std::collections::BTreeSet;

/// Variants that are shown.
const VARIANTS: std::ops::RangeInclusive<usize> = 2..=30;
const BAR: f64 = 20.0;
const PITCH: f64 = 27.0;
const GAP: f64 = 26.0;

/// Variants whose share of survivors is named, the smallest first.
const SURVIVORS_LISTED: usize = 6;

/// What the bars of one column say of a variant.
struct Column {
    heading: &'static str,
    label: &'static str,
    values: Vec<f64>,
    /// What was asked for, where it is less than the axis.
    marks: Vec<Option<f64>>,
    axis: Axis,
    text: fn(f64) -> String,
}

fn of_role(report: &VariantReport, role: Role) -> impl Iterator<Item = &FlowReport> {
    report.flows.iter().filter(move |flow| flow.role == Some(role))
}

/// Whether some victim always has more to send: what it offers is what the fabric lets in.
fn greedy(reports: &[VariantReport]) -> bool {
    reports.iter().any(|report| of_role(report, Role::Victim).any(|flow| flow.closed_loop))
}

/// A load of the victims, summed over their sources.
fn load(report: &VariantReport, of: fn(&FlowReport) -> f64) -> f64 {
    of_role(report, Role::Victim).map(|flow| flow.sources as f64 * of(flow)).sum()
}

/// Links on which victims send: two flows of one source share its link.
fn links(report: &VariantReport) -> f64 {
    let victims = (0..).zip(&report.flows).filter(|(_, flow)| flow.role == Some(Role::Victim));
    let sources: BTreeSet<u32> = victims.flat_map(|(flow, _)| senders_of(&report.run.config, flow)).collect();
    sources.len() as f64
}

/// Share of what the victims ask for that arrives, in percent. One that always has more to send asks for all
/// of its link, so with such victims it is the share of their links.
fn accepted(report: &VariantReport, greedy: bool) -> f64 {
    let asked = if greedy { links(report) } else { load(report, |flow| flow.offered_load) };
    100.0 * load(report, |flow| flow.accepted_load.value) / asked
}

/// What the victims of a variant ask for, in percent of their links, if none of them always has more to send.
fn asked(report: &VariantReport) -> Option<f64> {
    let open = of_role(report, Role::Victim).all(|flow| !flow.closed_loop);
    open.then(|| 100.0 * load(report, |flow| flow.offered_load) / links(report))
}

/// How far into the tail of the victims' latencies their number lets see.
struct Tail {
    heading: &'static str,
    label: &'static str,
    /// Likewise, where there are several victims: it is that of the slowest.
    of_several: &'static str,
    of: fn(&FlowReport) -> f64,
}

const TAILS: [Tail; 3] = [
    Tail {
        heading: "victims: 99.9 % of latencies",
        label: "99.9th percentile (logarithmic)",
        of_several: "99.9th percentile of the slowest flow (logarithmic)",
        of: |flow| flow.latency.p999.value,
    },
    Tail {
        heading: "victims: 99 % of latencies",
        label: "99th percentile (logarithmic)",
        of_several: "99th percentile of the slowest flow (logarithmic)",
        of: |flow| flow.latency.p99.value,
    },
    Tail {
        heading: "victims: latency",
        label: "mean (logarithmic)",
        of_several: "mean of the slowest flow (logarithmic)",
        of: |flow| flow.latency.mean.value,
    },
];

/// The first of them that all victims of all variants have.
fn tail(reports: &[VariantReport]) -> Option<&'static Tail> {
    let victims = || reports.iter().flat_map(|report| of_role(report, Role::Victim));
    TAILS.iter().find(|tail| victims().all(|flow| (tail.of)(flow) > 0.0))
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
    let greedy = greedy(reports);
    let loaded = reports.iter().all(|report| accepted(report, greedy).is_finite());
    if !VARIANTS.contains(&reports.len()) || !reports.iter().all(both) || !loaded {
        return None;
    }
    let tail = tail(reports)?;
    // of several victims the worst
    let worst = |report| of_role(report, Role::Victim).map(tail.of).fold(0.0, f64::max);
    let of = |value: fn(&VariantReport) -> f64| reports.iter().map(value).collect::<Vec<f64>>();
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let (tails, rates) = (reports.iter().map(worst).collect::<Vec<f64>>(), of(hot));
    let least = tails.iter().copied().fold(f64::INFINITY, f64::min);
    let none = || vec![None; reports.len()];
    let several = reports.iter().any(|report| of_role(report, Role::Victim).count() > 1);
    // Whoever gets all that it asks for must not look worse than one that asks for more.
    let marks = if greedy { reports.iter().map(asked).collect() } else { none() };
    let columns = [
        Column {
            heading: "victims: throughput",
            label: match greedy {
                true if marks.iter().any(Option::is_some) => "accepted (% of their links; line: asked for)",
                true => "accepted (% of their links)",
                false => "accepted (% of offered)",
            },
            values: reports.iter().map(|report| accepted(report, greedy)).collect(),
            marks,
            axis: Axis::exactly(100.0),
            text: |value| format!("{value:.1} %"),
        },
        Column {
            heading: tail.heading,
            label: if several { tail.of_several } else { tail.label },
            axis: Axis::log_times(least / 4.0, most(&tails)),
            values: tails,
            marks: none(),
            text: time_text,
        },
        Column {
            heading: "hot flows: payload",
            label: "payload rate (Gb/s)",
            axis: Axis::from_zero(most(&rates)),
            values: rates,
            marks: none(),
            text: three_digits,
        },
    ];
    let names = reports.iter().map(|report| report.run.name.as_str());
    let label_width = names.clone().map(|name| text_width(name, LABEL)).fold(60.0, f64::max).min(170.0);
    let (top, left) = (102.0, MARGIN + label_width + 10.0);
    let height = PITCH * reports.len() as f64 + 6.0;
    let mut scene = Scene::new(PAGE as u32, (top + height + 60.0) as u32);
    let declared = "flows as the scenario declares them";
    let others = other_hot_flows(reports);
    heading(
        &mut scene,
        "Victims and hot flows",
        &subtitle(caption, &joined(&[declared, &others, &survivors(reports), &transient(reports)])),
    );
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
        for (row, &value) in column.values.iter().enumerate() {
            let y = top + 6.0 + PITCH * row as f64;
            let (end, _) = panel.place((value, 0.0));
            scene.rect(x, y, (end - x).max(0.0), BAR, stroke(row).color);
            let mark = column.marks[row].map(|mark| panel.place((mark, 0.0)).0);
            if let Some(mark) = mark {
                scene.line(&[(mark, y - 3.0), (mark, y + BAR + 3.0)], INK, 3);
            }
            let end = mark.map_or(end, |mark| end.max(mark));
            scene.value((end + 6.0, y + BAR / 2.0 + 4.6), &(column.text)(value), TICK);
        }
    }
    for (row, name) in names.enumerate() {
        let y = top + 6.0 + PITCH * row as f64 + BAR / 2.0 + 4.6;
        scene.text((left - 10.0, y), &shorten(name, LABEL, label_width), LABEL, Align::Right);
    }
    Some(scene)
}
