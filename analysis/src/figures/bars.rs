//! Bar charts: one quantity of every flow in every variant, or the parts of a time.

use super::{
    Caption, Level, PACKETS, UNDER_WAY_SHARE, arrived_share, carried, flow_names, joined, left_out, listed,
    starved, subtitle, told, transient, under_way_share,
};
use crate::axes::{
    Axis, GREY, INK, Key, LABEL, MARGIN, PAGE, PANEL, Panel, TICK, WHITE, heading, legend, legend_height,
    shorten, stroke,
};
use crate::baselines::baselines;
use crate::counts::{self, measures};
use crate::estimate::Estimate;
use crate::num::{TimeUnit, change_text, count_text, ratio, three_digits, time_text};
use crate::report::{FlowReport, VariantReport, efficiency, retry_share};
use crate::scene::{Align, Scene, Type, text_width};
use models::probe::Cause;
use plotters::style::RGBColor;
use std::collections::BTreeSet;

/// Rows of a bar chart.
const ROWS_SHOWN: usize = 120;

/// A row of a bar chart: index of flow and of variant.
struct Row<'a> {
    flow: &'a FlowReport,
    variant: usize,
    /// Whether it begins the group of its flow.
    first: bool,
    /// Whether there is only one variant: then the flow's name stands beside the bar.
    alone: bool,
}

/// Flow by flow, the variants of each under one another; and how many flows are shown.
fn rows<'a>(reports: &'a [VariantReport], names: &[&str], level: Level) -> (Vec<Row<'a>>, usize) {
    let (mut rows, mut flows): (Vec<Row<'a>>, usize) = (Vec::new(), 0);
    for name in names {
        let here = reports.iter().enumerate();
        let here =
            here.filter_map(|(variant, report)| Some((variant, report.flow(name).and_then(level.of)?)));
        let here: Vec<(usize, &FlowReport)> = here.collect();
        if flows > 0 && rows.len() + here.len() > ROWS_SHOWN {
            break;
        }
        let row = |(n, (variant, flow))| Row { flow, variant, first: n == 0, alone: reports.len() == 1 };
        rows.extend(here.into_iter().enumerate().map(row));
        flows += 1;
    }
    (rows, flows)
}

const BAR: f64 = 20.0;
const BAR_PITCH: f64 = 25.0;
const GROUP_GAP: f64 = 30.0;

/// Vertical positions of bars, relative to the top of the plot, and the height of the plot.
fn bar_places(rows: &[Row<'_>]) -> (Vec<f64>, f64) {
    let mut y = 6.0;
    let places = rows
        .iter()
        .map(|row| {
            if row.first && !row.alone {
                y += GROUP_GAP - 6.0;
            }
            let place = y;
            y += BAR_PITCH;
            place
        })
        .collect();
    (places, y + 4.0)
}

/// What a bar chart shows of a flow.
pub(super) struct Metric {
    title: &'static str,
    subtitle: &'static str,
    label: &'static str,
    /// What it cannot exceed, if there is such a thing.
    most: Option<f64>,
    /// What else is in it of such a flow, and a reader would not expect.
    trap: fn(&FlowReport) -> Option<&'static str>,
    level: Level,
    of: fn(&FlowReport) -> Estimate,
}

/// Connections and conduits that are set up and carry nothing have no goodput.
const MOVING: Level = Level { of: |flow| (!flow.carries_nothing()).then_some(flow), ..PACKETS };

/// Of a flow that ends the share of the whole run says how long the run was.
const ENDLESS: Level = Level { of: |flow| flow.rate_span.is_none().then_some(flow), ..MOVING };

pub(super) const GOODPUT: Metric = Metric {
    title: "Goodput",
    subtitle: "octets delivered, once to each receiver; of flows that end from the first start to the last \
               completion, what never arrives is tried last, or the run is over",
    label: "goodput (Gb/s)",
    most: None,
    trap: |_| None,
    level: MOVING,
    of: |flow| flow.goodput_gbps,
};

pub(super) const ACCEPTED: Metric = Metric {
    title: "Accepted load",
    subtitle: "share of the injection link, mean over the sources of a flow without end",
    label: "accepted load (% of the link of a source)",
    most: Some(100.0),
    trap: |flow| (retry_share(flow) > 0.0).then_some("with segments that hosts refused by RETRY"),
    level: ENDLESS,
    of: |flow| Estimate {
        value: 100.0 * flow.accepted_load.value,
        half_width: 100.0 * flow.accepted_load.half_width,
    },
};

pub(super) const PER_SLOT: Metric = Metric {
    title: "Throughput per slot",
    subtitle: "packets delivered for each source and tick of the cell clock",
    label: "packets per slot and source",
    most: Some(1.0),
    trap: |_| None,
    level: PACKETS,
    of: |flow| flow.per_slot.unwrap_or(Estimate { value: 0.0, half_width: f64::NAN }),
};

const PROTOCOLS: Level = Level { of: |flow| flow.protocol.as_ref().map(|_| flow), ..PACKETS };

/// Likewise those that somebody asks something of.
const CARRYING: Level =
    Level { of: |flow| flow.protocol.as_ref().filter(|_| !flow.carries_nothing()).map(|_| flow), ..PACKETS };

pub(super) const EFFICIENCY: Metric = Metric {
    title: "Efficiency",
    subtitle: "octets that users got, each once, in all that their flow sent, delimiters included",
    label: "payload (% of octets on the link)",
    most: Some(100.0),
    trap: |_| None,
    level: CARRYING,
    of: |flow| counted(flow, efficiency),
};

pub(super) const RETRY: Metric = Metric {
    title: "RETRY",
    subtitle: "share of packets for which the host had no place",
    label: "answered by RETRY (% of packets that want a response)",
    most: Some(100.0),
    trap: |flow| flow.round_trips.as_ref().map(|_| "those of answers count as well"),
    level: PROTOCOLS,
    of: |flow| counted(flow, retry_share),
};

const TRANSFERRING: Level = Level { of: |flow| flow.transfer_gbps.map(|_| flow), ..PACKETS };

pub(super) const TRANSFERS: Metric = Metric {
    title: "Payload rate of Scheduled Transfers",
    subtitle: "from the first beginning until all are complete, or the run is over",
    label: "payload rate (Gb/s)",
    most: None,
    trap: |_| None,
    level: TRANSFERRING,
    of: |flow| Estimate { value: flow.transfer_gbps.unwrap_or(f64::NAN), half_width: f64::NAN },
};

/// A share of counts over the whole run, in percent.
fn counted(flow: &FlowReport, share: fn(&FlowReport) -> f64) -> Estimate {
    Estimate { value: 100.0 * share(flow), half_width: f64::NAN }
}

/// `None` if no flow has such a thing.
pub(super) fn bars(caption: &Caption, reports: &[VariantReport], metric: &Metric) -> Option<Scene> {
    let names = flow_names(reports, metric.level);
    if names.is_empty() {
        return None;
    }
    let (rows, flows) = rows(reports, &names, metric.level);
    let (places, height) = bar_places(&rows);
    let note = left_out(flows, names.len(), "flows");
    let top = 82.0;
    let mut scene = Scene::new(PAGE as u32, (top + height + 60.0) as u32);
    let variant = if let [only] = reports { only.run.name.as_str() } else { "" };
    let bases = baselines(reports);
    let changed = |row: &Row<'_>| {
        let base = bases[row.variant];
        let before = reports[base].flow(&row.flow.name).and_then(metric.level.of).map(metric.of)?;
        let change = change_text(before.value, (metric.of)(row.flow).value)?;
        (row.variant != base).then_some((base, change))
    };
    let compared: BTreeSet<usize> = rows.iter().filter_map(changed).map(|(base, _)| base).collect();
    let against = match compared.first() {
        None => String::new(),
        Some(&base) if compared.len() == 1 => format!("(changes against {})", reports[base].run.name),
        Some(_) => "(changes: each against the variant that the printed lines with → compare it with)".into(),
    };
    let drawn = rows.iter().any(|row| (metric.of)(row.flow).half_width.is_finite());
    let intervals = if drawn { "intervals: 95 %" } else { "" };
    let trap = rows.iter().find_map(|row| (metric.trap)(row.flow)).unwrap_or("");
    let transient = transient(reports);
    let more = joined(&[variant, metric.subtitle, trap, intervals, &against, &transient, &note]);
    heading(&mut scene, metric.title, &subtitle(caption, &more));
    let label_width = row_label_width(&rows, reports);
    let left = MARGIN + label_width + 10.0;
    let reach =
        |shown: Estimate| shown.value + if shown.half_width.is_finite() { shown.half_width } else { 0.0 };
    let high = rows.iter().map(|row| (metric.of)(row.flow).value).fold(0.0, f64::max);
    let widest = rows.iter().map(|row| reach((metric.of)(row.flow))).fold(high, f64::max);
    let panel = Panel {
        x: left,
        y: top,
        // room for the value behind the longest bar
        width: PAGE - MARGIN - left - 130.0,
        height,
        // a full link is the end of its scale
        horizontal: match metric.most {
            Some(most) if high > 0.8 * most && high <= 1.001 * most => Axis::exactly(most),
            most => Axis::from_zero(most.map_or(widest, |most| widest.min(most.max(high)))),
        },
        vertical: Axis::exactly(1.0),
    };
    panel.vertical_grid(&mut scene, true);
    scene.line(&[(panel.x, panel.y), (panel.x, panel.y + height)], GREY, 1);
    scene.text((panel.x + panel.width / 2.0, top + height + 38.0), metric.label, LABEL, Align::Center);
    for (row, y) in rows.iter().zip(&places) {
        let y = top + y;
        row_label(&mut scene, row, reports, left, y, label_width);
        let shown = (metric.of)(row.flow);
        // nothing to show stands where the bar would begin
        let value = if shown.value.is_finite() { shown.value } else { 0.0 };
        let (x, _) = panel.place((value, 0.0));
        scene.rect(left, y, x - left, BAR, stroke(row.variant).color);
        let mut end = x;
        if shown.half_width.is_finite() && shown.half_width > 0.0 {
            let (from, _) = panel.place(((shown.value - shown.half_width).max(0.0), 0.0));
            let (to, _) = panel.place((shown.value + shown.half_width, 0.0));
            let middle = y + BAR / 2.0;
            // An interval that leaves the scale has no end there; its value needs the room behind.
            let edge = panel.x + panel.width;
            scene.line(&[(from, middle), (to.min(edge), middle)], INK, 1);
            for x in [from, to].into_iter().filter(|x| *x <= edge) {
                scene.line(&[(x, middle - 4.0), (x, middle + 4.0)], INK, 1);
            }
            end = to.min(edge).max(x);
        }
        let change = changed(row).map_or(String::new(), |(_, change)| format!("  ({change})"));
        let text = format!("{}{change}", three_digits(shown.value));
        scene.value((end + 7.0, y + BAR / 2.0 + 4.6), &text, LABEL);
    }
    Some(scene)
}

/// What was counted in each run as a whole, each count with a scale of its own. `None`: nothing was, or there
/// is nothing to set it beside.
pub(super) fn counted_things(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let mut things: Vec<(&str, Vec<(usize, u64)>)> = Vec::new();
    for (variant, report) in reports.iter().enumerate() {
        for (what, count) in measures(report) {
            match things.iter_mut().find(|thing| thing.0 == what) {
                Some(thing) => thing.1.push((variant, count)),
                None => things.push((what, vec![(variant, count)])),
            }
        }
    }
    // what is alike everywhere is no result, but a reader of the others has to know of it
    let alike = things.iter().filter(|(_, counts)| {
        counts.len() == reports.len() && counts[0].1 > 0 && counts.iter().all(|count| count.1 == counts[0].1)
    });
    let all_reports: Vec<&VariantReport> = reports.iter().collect();
    let alike: Vec<String> = alike
        .map(|(what, counts)| format!("{} {}", counts::name(what, &all_reports), count_text(counts[0].1)))
        .collect();
    let alike = listed("the same in all variants", 3, alike.into_iter());
    things.retain(|(_, counts)| counts.iter().any(|count| count.1 != counts[0].1));
    let mut bars = 0;
    let all = things.len();
    things.retain(|(_, counts)| {
        bars += counts.len();
        bars <= ROWS_SHOWN
    });
    if things.is_empty() {
        return None;
    }
    let names = things.iter().flat_map(|thing| &thing.1).map(|(variant, _)| &reports[*variant].run.name);
    let label_width = names.map(|name| text_width(name, LABEL)).fold(60.0, f64::max).min(230.0);
    let rows: usize = things.iter().map(|thing| thing.1.len()).sum();
    let top = 82.0;
    let height = rows as f64 * BAR_PITCH + things.len() as f64 * GROUP_GAP + 14.0;
    let mut scene = Scene::new(PAGE as u32, (top + height) as u32);
    let more = joined(&[
        "in the whole run; each count has a scale of its own",
        &left_out(things.len(), all, "counts"),
        &alike,
    ]);
    heading(&mut scene, "Counts", &subtitle(caption, &more));
    let left = MARGIN + label_width + 10.0;
    let width = PAGE - MARGIN - left - 130.0;
    let mut y = top;
    for (what, all) in &things {
        y += GROUP_GAP - 6.0;
        let what = counts::name(what, &all_reports);
        scene.text((MARGIN, y - 8.0), what, PANEL, Align::Left);
        let most = all.iter().map(|count| count.1).max().unwrap_or(0).max(1);
        for &(variant, count) in all {
            let name = shorten(&reports[variant].run.name, LABEL, label_width);
            scene.text((left - 10.0, y + BAR / 2.0 + 4.6), &name, LABEL, Align::Right);
            let length = width * ratio(count.into(), most.into());
            scene.rect(left, y, length, BAR, stroke(variant).color);
            scene.text((left + length + 7.0, y + BAR / 2.0 + 4.6), &count_text(count), LABEL, Align::Left);
            y += BAR_PITCH;
        }
        y += 6.0;
    }
    Some(scene)
}

fn row_name(row: &Row<'_>, reports: &[VariantReport]) -> String {
    if row.alone { row.flow.title() } else { reports[row.variant].run.name.clone() }
}

/// Room left of the bars: for the names beside them and for the headings of groups above them.
fn row_label_width(rows: &[Row<'_>], reports: &[VariantReport]) -> f64 {
    let widths = rows.iter().map(|row| {
        let heading = if row.alone { 0.0 } else { text_width(&group_heading(row, reports), PANEL) };
        text_width(&row_name(row, reports), LABEL).max(heading)
    });
    widths.fold(60.0, f64::max).min(230.0)
}

/// Name of the flow of a group, with its role if it has that in every variant.
fn group_heading(row: &Row<'_>, reports: &[VariantReport]) -> String {
    let mut flows = reports.iter().filter_map(|report| report.flow(&row.flow.name));
    let alike = flows.all(|flow| flow.role == row.flow.role);
    format!("flow {}", if alike { row.flow.title() } else { row.flow.name.clone() })
}

fn row_label(scene: &mut Scene, row: &Row<'_>, reports: &[VariantReport], left: f64, y: f64, width: f64) {
    if row.first && !row.alone {
        let text = shorten(&group_heading(row, reports), PANEL, width);
        scene.text((MARGIN, y - 8.0), &text, PANEL, Align::Left);
    }
    let name = shorten(&row_name(row, reports), LABEL, width);
    scene.text((left - 10.0, y + BAR / 2.0 + 4.6), &name, LABEL, Align::Right);
}

/// Colour of a cause; what the study is about (blocking and backpressure) has the strongest.
fn cause_color(cause: Cause) -> RGBColor {
    match cause {
        Cause::SourceQueue => RGBColor(0xc4, 0xc4, 0xc4),
        Cause::Serialization => RGBColor(0x56, 0xb4, 0xe9),
        Cause::Propagation => RGBColor(0x00, 0x9e, 0x73),
        Cause::Pipeline => RGBColor(0xf0, 0xe4, 0x42),
        Cause::InputContention => RGBColor(0xcc, 0x79, 0xa7),
        Cause::OutputContention => RGBColor(0xe6, 0x9f, 0x00),
        Cause::HeadOfLine => RGBColor(0xd5, 0x5e, 0x00),
        Cause::Staged => RGBColor(0x00, 0x72, 0xb2),
        Cause::NoBuffer => RGBColor(0x30, 0x30, 0x30),
        Cause::Recovery => RGBColor(0x88, 0x22, 0x55),
        Cause::NoAckId => RGBColor(0x66, 0x33, 0xcc),
        Cause::Host => RGBColor(0x7a, 0x5c, 0x3a),
        Cause::Protocol => RGBColor(0x99, 0x99, 0x33),
    }
}

/// A bar below this share of the longest is too short to see its parts: its value stands beside it, and the
/// panel of shares has the parts.
const SHORT_SHARE: f64 = 0.05;
/// A smaller share of a bar is less than a pixel.
const SEEN_SHARE: f64 = 0.003;

pub(super) fn decomposition(caption: &Caption, reports: &[VariantReport], level: Level) -> Option<Scene> {
    if !level.is_in(reports) {
        return None;
    }
    let names = told(reports, level);
    let (rows, flows) = rows(reports, &names, level);
    let (places, height) = bar_places(&rows);
    let used: Vec<Cause> = Cause::ALL
        .into_iter()
        .filter(|cause| rows.iter().any(|row| row.flow.spread.parts_ps[*cause as usize] > 0))
        .collect();
    let shown: Vec<Cause> = used
        .iter()
        .copied()
        .filter(|cause| level.with_source_queue || *cause != Cause::SourceQueue)
        .collect();
    let sum = |row: &Row<'_>| -> f64 { shown.iter().map(|cause| row.flow.mean_part_ps(*cause)).sum() };
    let high = rows.iter().map(sum).fold(0.0, f64::max);
    let is_seen = |cause: &&Cause| {
        rows.iter().any(|row| {
            let time = if shown.contains(cause) { row.flow.mean_part_ps(**cause) } else { 0.0 };
            row.flow.share(**cause) >= SEEN_SHARE || time > 0.0 && time >= SEEN_SHARE * high
        })
    };
    let keys: Vec<(Key, String)> = used
        .iter()
        .filter(is_seen)
        .map(|cause| (Key::Box(cause_color(*cause)), cause.name().to_string()))
        .collect();
    let unseen = used.len() - keys.len();
    let thin = format!("causes of less than {} % everywhere have no key", 100.0 * SEEN_SHARE);
    let thin = if unseen > 0 { thin } else { String::new() };
    let top = 66.0 + legend_height(&keys, PAGE - 2.0 * MARGIN) + 34.0;
    let mut scene = Scene::new(PAGE as u32, (top + height + 60.0) as u32);
    let note = left_out(flows, names.len(), "flows");
    let variant = if let [only] = reports { only.run.name.as_str() } else { "" };
    let carried = carried(reports, level);
    let few = starved(reports, &names[..flows], level);
    let ended = format!("mean over the {}", level.ended);
    let is_short = |row: &Row<'_>| sum(row) > 0.0 && sum(row) < SHORT_SHARE * high;
    let flat = rows.iter().any(is_short);
    let flat = if flat { "bars that are too short to read have their value beside them" } else { "" };
    let transient = transient(reports);
    let more = joined(&[variant, &ended, &carried, level.trap, &few, flat, &thin, &transient, &note]);
    heading(&mut scene, &format!("Where the time of a {} goes", level.noun), &subtitle(caption, &more));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys);
    let label_width = row_label_width(&rows, reports);
    let left = MARGIN + label_width + 10.0;
    // Who is late is as little in a mean as who never comes; a few are at the end of every run.
    let there = |flow: &FlowReport| {
        let (arrived, late) = (arrived_share(flow, level), under_way_share(flow, level));
        if arrived < 1.0 || late >= UNDER_WAY_SHARE { arrived * (1.0 - late) } else { 1.0 }
    };
    let whole = |row: &Row<'_>| reports[row.variant].flow(&row.flow.name).map(there);
    let arrived: Vec<f64> = rows.iter().map(|row| whole(row).unwrap_or(1.0)).collect();
    let short = arrived.iter().any(|share| *share < 1.0);
    let gap = if short { 150.0 } else { 74.0 };
    let width = (PAGE - MARGIN - left - gap - 8.0) / 2.0;
    let unit = TimeUnit::for_max(high);
    let absolute = Panel {
        x: left,
        y: top,
        width,
        height,
        horizontal: Axis::from_zero(unit.scale(high)),
        vertical: Axis::exactly(1.0),
    };
    let shares = Panel { x: left + width + gap, horizontal: Axis::exactly(100.0), ..absolute };
    let (left_title, right_title) = match level.with_source_queue {
        true => ("latency", "shares"),
        false => ("all but the source queue", "shares of the whole latency"),
    };
    for (panel, heading, label) in [
        (&absolute, left_title, format!("mean time per {} ({})", level.noun, unit.symbol)),
        (&shares, right_title, "share of latency (%)".to_string()),
    ] {
        panel.vertical_grid(&mut scene, true);
        scene.line(&[(panel.x, panel.y), (panel.x, panel.y + height)], GREY, 1);
        scene.text((panel.x, panel.y - 8.0), heading, PANEL, Align::Left);
        let middle = panel.x + panel.width / 2.0;
        scene.text((middle, top + height + 38.0), &label, LABEL, Align::Center);
    }
    scene.text(
        (shares.x - 8.0, shares.y - 8.0),
        if short { "mean, of those that arrived" } else { "mean" },
        TICK,
        Align::Right,
    );
    for ((row, y), arrived) in rows.iter().zip(&places).zip(arrived) {
        let y = top + y;
        row_label(&mut scene, row, reports, left, y, label_width);
        let mut at = 0.0;
        for cause in &shown {
            let next = at + unit.scale(row.flow.mean_part_ps(*cause));
            segment(&mut scene, &absolute, (at, next), y, *cause, "");
            at = next;
        }
        // of a bar that is flattened by others
        if is_short(row) {
            let (x, _) = absolute.place((at, 0.0));
            scene.value((x + 6.0, y + BAR / 2.0 + 4.6), &time_text(sum(row)), TICK);
        }
        let mut at = 0.0;
        for cause in &used {
            let share = 100.0 * row.flow.share(*cause);
            segment(&mut scene, &shares, (at, at + share), y, *cause, &format!("{share:.0}"));
            at += share;
        }
        let (end, _) = shares.place((0.0, 0.0));
        let mut mean = time_text(row.flow.latency.mean.value);
        if arrived < 1.0 && row.flow.delivered.packets > 0 {
            mean += &format!(", of {:.1} %", 100.0 * arrived);
        }
        scene.text((end - 8.0, y + BAR / 2.0 + 4.6), &mean, TICK, Align::Right);
    }
    Some(scene)
}

/// One stretch of a stacked bar, with its value inside if there is room.
fn segment(scene: &mut Scene, panel: &Panel, (from, to): (f64, f64), y: f64, cause: Cause, text: &str) {
    let (x0, _) = panel.place((from, 0.0));
    let (x1, _) = panel.place((to, 0.0));
    let color = cause_color(cause);
    scene.rect(x0, y, x1 - x0, BAR, color);
    // a hair of white between neighbours
    if x1 - x0 > 3.0 {
        scene.line(&[(x1, y), (x1, y + BAR)], WHITE, 1);
    }
    if x1 - x0 > text_width(text, TICK) + 8.0 {
        let RGBColor(r, g, b) = color;
        let light = 299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b) > 140_000;
        let look = Type { color: if light { INK } else { WHITE }, ..TICK };
        scene.text(((x0 + x1) / 2.0, y + BAR / 2.0 + 4.2), text, look, Align::Center);
    }
}
