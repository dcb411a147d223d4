//! Figures of a run: the same scenes as SVG (the same bytes everywhere) and PNG.
//!
//! The colours are those of Okabe and Ito, which colour-blind readers can tell apart; lines differ in dashes
//! and markers as well. What does not fit on a page is left out with a note; the CSV series have everything.

use crate::axes::{
    Axis, Key, MARGIN, PAGE, PANEL, Panel, SHADE, Stroke, TICK, heading, legend, legend_height, shorten,
    stroke,
};
use crate::books::Books;
use crate::collect::{Bin, Spread};
use crate::num::{TimeUnit, gbps, ratio, time_text};
use crate::report::{FlowReport, VariantReport, retry_share};
use crate::scene::{Align, Scene};
use bars::{ACCEPTED, EFFICIENCY, GOODPUT, PER_SLOT, RETRY, TRANSFERS, bars, decomposition};
use models::stats::FlowStats;
use std::collections::{BTreeMap, BTreeSet};

mod bars;
mod conduits;
mod timeouts;
mod victims;

/// Flows shown as lines or panels.
const FLOWS_SHOWN: usize = 6;
/// Variants shown as panels of their own.
const PANELS_SHOWN: usize = 30;
/// Queues shown as lines.
const QUEUES_SHOWN: usize = 5;
/// Points of a curve over time.
const POINTS: usize = 64;

/// What stands above every figure.
#[derive(Clone, Debug)]
pub struct Caption {
    /// Name or title of the scenario.
    pub scenario: String,
    /// What else the reader must know, for example a scaled protocol clock; may be empty.
    pub note: String,
}

impl Caption {
    /// The title of a scenario, and what these runs add to it.
    pub fn new(scenario: &str, reports: &[VariantReport]) -> Self {
        let clocks: BTreeSet<String> = reports.iter().flat_map(VariantReport::protocol_clocks).collect();
        let clocks: Vec<&str> = clocks.iter().map(String::as_str).collect();
        let scaled = reports.iter().filter(|report| !report.protocol_clocks().is_empty()).count();
        let note = match clocks.is_empty() {
            true => String::new(),
            false if scaled == reports.len() => format!("protocol clock x {}", clocks.join(", ")),
            false => {
                format!("protocol clock x {} in {scaled} of {} variants", clocks.join(", "), reports.len())
            }
        };
        Self { scenario: scenario.into(), note }
    }
}

/// A finished figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// File name without extension.
    pub name: &'static str,
    /// SVG text.
    pub svg: String,
    /// PNG file.
    pub png: Vec<u8>,
}

/// All figures of a set of variants.
pub fn all(caption: &Caption, reports: &[VariantReport]) -> Vec<Figure> {
    let draw = |row: &Row| {
        let scene = (row.draw)(caption, reports)?;
        Some(Figure { name: row.name, svg: scene.to_svg(), png: scene.to_png() })
    };
    ROWS.iter().filter_map(draw).collect()
}

/// What a figure is about: packets, or what protocols made of them. `None`: the flow has no such thing.
#[derive(Copy, Clone)]
struct Level {
    /// One of them.
    noun: &'static str,
    /// Many of them, with how they end.
    ended: &'static str,
    /// Whether the time that packets wait for the link of their source belongs to it in any case. That of
    /// packets above saturation would flatten everything else.
    with_source_queue: bool,
    /// What a reader may take it for, and is not.
    trap: &'static str,
    of: fn(&FlowReport) -> Option<&FlowReport>,
}

const PACKETS: Level = Level {
    noun: "packet",
    ended: "packets delivered",
    with_source_queue: false,
    trap: "",
    of: |flow| Some(flow),
};
const MESSAGES: Level = Level {
    noun: "message",
    ended: "messages delivered",
    with_source_queue: true,
    trap: "source queue: also of its later packets while the earlier are sent",
    of: |flow| flow.messages.as_deref().filter(|messages| messages.delivered.packets > 0),
};
const TRIPS: Level = Level {
    noun: "round trip",
    ended: "round trips completed",
    with_source_queue: true,
    trap: "",
    of: |flow| flow.round_trips.as_deref().filter(|trips| trips.delivered.packets > 0),
};

impl Level {
    fn is_in(&self, reports: &[VariantReport]) -> bool {
        reports.iter().flat_map(|report| &report.flows).any(|flow| (self.of)(flow).is_some())
    }
}

/// A figure: its file name without extension, what it shows, and the drawing; `None` if these runs have
/// nothing of it to show.
struct Row {
    name: &'static str,
    about: &'static str,
    draw: fn(&Caption, &[VariantReport]) -> Option<Scene>,
}

const fn row(
    name: &'static str,
    about: &'static str,
    draw: fn(&Caption, &[VariantReport]) -> Option<Scene>,
) -> Row {
    Row { name, about, draw }
}

/// Every figure of a run, in the order of its report.
static ROWS: [Row; 18] = [
    row("goodput", "octets delivered once, for each flow", |caption, reports| {
        bars(caption, reports, &GOODPUT)
    }),
    row(
        "load",
        "accepted load, for each flow: of the link, or of the slots of a cell clock",
        |caption, reports| bars(caption, reports, if slotted(reports) { &PER_SLOT } else { &ACCEPTED }),
    ),
    row("throughput", "what arrives, over time", |caption, reports| Some(throughput(caption, reports))),
    row(
        "latency_cdf",
        "distribution of the latency of packets, from creation to last bit",
        |caption, reports| {
            let title = "Latency from creation to last bit";
            latency_cdf(caption, reports, title, PACKETS, |flow| &flow.spread.latency)
        },
    ),
    row("network_latency_cdf", "likewise from the first bit on the injection link", |caption, reports| {
        let title = "Network latency (from the first bit on the injection link)";
        latency_cdf(caption, reports, title, PACKETS, |flow| &flow.spread.network)
    }),
    row("decomposition", "where the time of packets goes, cause by cause", |caption, reports| {
        decomposition(caption, reports, PACKETS)
    }),
    row("message_cdf", "distribution of the latency of messages", |caption, reports| {
        let title = "Latency of messages from protocol to protocol";
        latency_cdf(caption, reports, title, MESSAGES, |flow| &flow.spread.latency)
    }),
    row("message_decomposition", "where the time of messages goes", |caption, reports| {
        decomposition(caption, reports, MESSAGES)
    }),
    row("round_trip_cdf", "distribution of round trips", |caption, reports| {
        let title = "Round trips from request to response";
        latency_cdf(caption, reports, title, TRIPS, |flow| &flow.spread.latency)
    }),
    row("round_trip_decomposition", "where the time of round trips goes", |caption, reports| {
        decomposition(caption, reports, TRIPS)
    }),
    row("efficiency", "payload as a share of what protocols put on links", |caption, reports| {
        let any = with_protocols(reports).next().is_some();
        any.then(|| bars(caption, reports, &EFFICIENCY)).flatten()
    }),
    row("retry", "packets answered by RETRY, as a share", |caption, reports| {
        let any = with_protocols(reports).any(|flow| retry_share(flow) > 0.0);
        any.then(|| bars(caption, reports, &RETRY)).flatten()
    }),
    row("transfers", "rate of whole Transfers, where it is not the goodput", |caption, reports| {
        // else that of goodput says it all
        let differs =
            |flow: &FlowReport| flow.transfer_gbps.is_some_and(|gbps| gbps != flow.goodput_gbps.value);
        let any = reports.iter().flat_map(|report| &report.flows).any(differs);
        any.then(|| bars(caption, reports, &TRANSFERS)).flatten()
    }),
    row("victims", "declared victims beside the hot flows, variant by variant", victims::victims),
    row(
        "heartbeat_timeouts",
        "LINX connections lost although the peer lived, by the length of a stall",
        timeouts::timeouts,
    ),
    row(
        "conduits",
        "conduits, records and leaked streams of session management over time, where a census counts them",
        conduits::conduits,
    ),
    row("queues", "packets that wait, over time", queues),
    row(
        "counts",
        "VoQ messages, repetitions, drops, timeouts, leaks: what was counted, variant by variant",
        bars::counted_things,
    ),
];

/// Names of all figures, each with what it shows.
pub fn list() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.iter().map(|row| (row.name, row.about))
}

fn with_protocols(reports: &[VariantReport]) -> impl Iterator<Item = &FlowReport> {
    reports.iter().flat_map(|report| &report.flows).filter(|flow| flow.protocol.is_some())
}

/// Whether every variant runs a cell clock.
fn slotted(reports: &[VariantReport]) -> bool {
    reports.iter().all(|report| report.overall.per_slot.is_some())
}

fn subtitle(caption: &Caption, more: &str) -> String {
    [caption.scenario.as_str(), more, caption.note.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<&str>>()
        .join(" · ")
}

/// The flows of all variants that have something of this level, in order of first appearance.
fn flow_names(reports: &[VariantReport], level: Level) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for flow in reports.iter().flat_map(|report| &report.flows) {
        if (level.of)(flow).is_some() && !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    names
}

/// Of these flows those of which something came to its end in any variant; all, if there are none.
fn told(reports: &[VariantReport], level: Level) -> Vec<&str> {
    let names = flow_names(reports, level);
    let ended = |name: &&str| {
        let flows = reports.iter().filter_map(|report| report.flow(name).and_then(level.of));
        flows.into_iter().any(|flow| flow.delivered.packets > 0)
    };
    let told: Vec<&str> = names.iter().copied().filter(|name| ended(name)).collect();
    if told.is_empty() { names } else { told }
}

fn left_out(shown: usize, all: usize, what: &str) -> String {
    if shown < all { format!("first {shown} of {all} {what}") } else { String::new() }
}

fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<&str>>().join(" · ")
}

/// Of the variants that have something of this level.
fn variant_keys(reports: &[VariantReport], level: Level) -> Vec<(Key, String)> {
    reports
        .iter()
        .enumerate()
        .filter(|(_, report)| level.is_in(std::slice::from_ref(report)))
        .map(|(index, report)| (Key::Line(stroke(index)), report.run.name.clone()))
        .collect()
}

fn latency_cdf(
    caption: &Caption,
    reports: &[VariantReport],
    title: &str,
    level: Level,
    of: impl Fn(&FlowReport) -> &Spread,
) -> Option<Scene> {
    if !level.is_in(reports) {
        return None;
    }
    let names = told(reports, level);
    let shown = &names[..names.len().min(FLOWS_SHOWN)];
    // Each flow has its own range: a victim's nanoseconds would vanish on the scale of a hot flow's
    // milliseconds.
    let range = |name: &str| {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        let spreads = reports.iter().filter_map(|report| report.flow(name).and_then(level.of)).map(&of);
        for spread in spreads.filter(|spread| !spread.histogram.is_empty()) {
            // One packet in ten thousand is not worth a decade of the axis.
            low = low.min(spread.quantile(0.0001).map_or(low, |ps| ps as f64));
            high = high.max(spread.quantile(0.9999).map_or(high, |ps| ps as f64));
        }
        Axis::log_times(low, high)
    };
    let columns = if shown.len() > 1 { 2 } else { 1 };
    let rows = shown.len().max(1).div_ceil(columns);
    let keys = variant_keys(reports, level);
    let top = 66.0 + legend_height(&keys, PAGE - 2.0 * MARGIN);
    let (gap, plot) = (74.0, if columns == 1 { 340.0 } else { 230.0 });
    let pitch = plot + 92.0;
    let mut scene = Scene::new(PAGE as u32, (top + rows as f64 * pitch + 8.0) as u32);
    let note = left_out(shown.len(), names.len(), "flows");
    let flows = || shown.iter().flat_map(|name| reports.iter().filter_map(|report| report.flow(name)));
    let short = flows().any(|flow| arrived_share(flow, level) < 1.0);
    let short = if short { "what never arrives is missing to 100 %" } else { "" };
    let share = format!("share of {} within a time", level.ended);
    let (carried, waiting) = (carried(reports, level), still_under_way(reports, shown, level));
    heading(&mut scene, title, &subtitle(caption, &joined(&[&share, &carried, short, &waiting, &note])));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys);
    let left = MARGIN + 58.0;
    let width = (PAGE - MARGIN - left - gap * (columns - 1) as f64) / columns as f64;
    for (index, name) in shown.iter().enumerate() {
        let panel = Panel {
            x: left + (index % columns) as f64 * (width + gap),
            y: top + (index / columns) as f64 * pitch + 34.0,
            width,
            height: plot,
            horizontal: range(name),
            vertical: Axis::exactly(100.0),
        };
        panel.draw(
            &mut scene,
            &format!("flow {name}"),
            "latency (logarithmic)",
            &format!("{}s (%)", level.noun),
        );
        let mut filled = false;
        for (variant, report) in reports.iter().enumerate() {
            let Some(flow) = report.flow(name).and_then(level.of) else { continue };
            let arrived = report.flow(name).map_or(1.0, |flow| arrived_share(flow, level));
            let points: Vec<(f64, f64)> =
                cdf(of(flow), &panel).into_iter().map(|(ps, share)| (ps, share * arrived)).collect();
            filled |= points.len() > 1;
            let phase = 0.2 + variant as f64 / reports.len() as f64;
            // the tail at 100 % says nothing more, so it carries no markers
            let rise = &points[..points.len().saturating_sub(1)];
            panel.plot(&mut scene, rise, stroke(variant), phase);
            if let [.., a, b] = points[..] {
                let Stroke { color, dash, .. } = stroke(variant);
                scene.dashed(&[panel.place(a), panel.place(b)], color, 2, dash);
            }
        }
        if !filled {
            let middle = (panel.x + panel.width / 2.0, panel.y + panel.height / 2.0);
            scene.text(middle, &format!("no {}", level.ended), TICK, Align::Center);
        }
    }
    Some(scene)
}

/// What messages are, where they are not what users of flows see, and what of them is not shown.
fn carried(reports: &[VariantReport], level: Level) -> String {
    let flows = || {
        let flows = reports.iter().flat_map(|report| &report.flows);
        flows.filter(|flow| level.noun == "message" && (level.of)(flow).is_some())
    };
    let what: BTreeSet<&str> =
        flows().map(|flow| flow.above.map_or("messages", |above| above.carries)).collect();
    let mut text = match what.iter().collect::<Vec<&&str>>()[..] {
        [] | [&"messages"] => return String::new(),
        _ => format!("messages here are {}", what.into_iter().collect::<Vec<&str>>().join(" or ")),
    };
    let [lost, delayed] =
        [0, 1].map(|n| flows().any(|flow| flow.above.is_some_and(|above| above.touched[n] > 0)));
    if lost {
        text += ", without those that the scenario loses";
    }
    if delayed {
        text += if lost { " and without its delays" } else { ", without delays that the scenario makes" };
    }
    text
}

/// From this share on it is worth a word in a figure how much is under way.
const UNDER_WAY_SHARE: f64 = 0.01;
/// So many are named there.
const UNDER_WAY_LISTED: usize = 4;

/// What became of the messages of a protocol that others run over, which have no books: arrived, lost in the
/// fabric, and not there. What the scenario loses is none of these.
fn carried_books(flow: &FlowReport, level: Level) -> Option<[u64; 3]> {
    let (stats, above) = flow.protocol.zip(flow.above)?;
    if level.noun != "message" || !above.nothing_else {
        return None;
    }
    let missing = stats.sent.saturating_sub(stats.delivered + above.lost_late);
    let never = missing.min(flow.dropped);
    Some([stats.delivered, never, missing - never])
}

/// Share of what was asked for that had not arrived when the run ended, where books count what this level
/// shows.
fn under_way_share(flow: &FlowReport, level: Level) -> f64 {
    match carried_books(flow, level) {
        _ if tells(flow, level) => ratio(flow.books.under_way.into(), flow.books.asked.into()),
        Some([arrived, never, left]) => ratio(left.into(), (arrived + never + left).into()),
        None => 0.0,
    }
}

/// Where much of what was asked for had not arrived when the run ended: this may be the slowest, and is in no
/// distribution. The most of it first.
fn still_under_way(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let share = |flow: &FlowReport| under_way_share(flow, level);
    let alone = shown.len() == 1;
    let mut many: Vec<(f64, String)> = Vec::new();
    for (report, name) in reports.iter().flat_map(|report| shown.iter().map(move |name| (report, name))) {
        let share = report.flow(name).map_or(0.0, share);
        let variant = &report.run.name;
        if share >= UNDER_WAY_SHARE {
            many.push((share, if alone { variant.clone() } else { format!("{name} in {variant}") }));
        }
    }
    many.sort_by(|a, b| b.0.total_cmp(&a.0));
    let listed = many.iter().take(UNDER_WAY_LISTED);
    let mut texts: Vec<String> = listed.map(|(share, at)| format!("{at} {:.0} %", 100.0 * share)).collect();
    if many.len() > UNDER_WAY_LISTED {
        texts.push(format!("{} more", many.len() - UNDER_WAY_LISTED));
    }
    if texts.is_empty() { String::new() } else { format!("not there at the end: {}", texts.join(", ")) }
}

/// Which share of what ended has arrived, where books count what this level shows: a distribution of those
/// that arrived alone would make a flow that loses its slow ones look fast. The messages of a protocol that
/// has others of its own above (frames of LINX, parts of PDUs) are none of these.
fn arrived_share(flow: &FlowReport, level: Level) -> f64 {
    if level.noun == "packet" {
        return if flow.arrived > 0 {
            ratio(flow.arrived.into(), (flow.arrived + flow.dropped).into())
        } else {
            1.0
        };
    }
    if let Some([arrived, never, _]) = carried_books(flow, level) {
        return if arrived > 0 { ratio(arrived.into(), (arrived + never).into()) } else { 1.0 };
    }
    let Books { arrived, never, .. } = flow.books;
    if tells(flow, level) && arrived > 0 { ratio(arrived.into(), (arrived + never).into()) } else { 1.0 }
}

/// Whether books count what this level shows.
fn tells(flow: &FlowReport, level: Level) -> bool {
    let Books { unit, arrived, .. } = flow.books;
    let counted = |of: fn(&FlowStats) -> u64| flow.protocol.as_ref().map(of) == Some(arrived);
    match level.noun {
        "packet" => unit == "packets",
        "message" if flow.above.is_some() => false,
        "message" => matches!(unit, "messages" | "PDUs" | "doorbells") && counted(|stats| stats.delivered),
        _ => matches!(unit, "requests" | "echoes") && counted(|stats| stats.round_trips),
    }
}

/// Points of a cumulative distribution in percent, thinned to what can be seen.
fn cdf(spread: &Spread, panel: &Panel) -> Vec<(f64, f64)> {
    let total = spread.histogram.len() as f64;
    let axis = panel.horizontal;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut seen = 0u64;
    for bucket in spread.histogram.iter_recorded() {
        let before = 100.0 * seen as f64 / total;
        seen += bucket.count_since_last_iteration();
        // buckets are named by their largest value, which the exact extremes may undercut
        let ps = bucket.value_iterated_to().clamp(spread.min, spread.max) as f64;
        let share = 100.0 * seen as f64 / total;
        if ps < axis.low {
            points = vec![(axis.low, share)];
            continue;
        }
        if ps > axis.high {
            points.push((axis.high, before));
            return points;
        }
        if points.is_empty() {
            points.push((ps, 0.0));
        }
        let last = points[points.len() - 1];
        let wide = panel.width * (axis.at(ps) - axis.at(last.0)) >= 1.5;
        if points.len() > 1 && !wide && share - last.1 < 0.8 && seen < spread.histogram.len() {
            continue;
        }
        // Between two values that occur there is none.
        if wide {
            points.push((ps, before));
        }
        points.push((ps, share));
    }
    // every packet has arrived from the maximum on
    if let Some(&(_, share)) = points.last() {
        points.push((axis.high, share));
    }
    points
}

/// How many bins a point stands for. Variants of another length have bins of another width, and are averaged
/// over the same time.
fn group(end_ps: u64, bin_ps: u64) -> usize {
    (end_ps / POINTS as u64).div_ceil(bin_ps).max(1) as usize
}

/// Values of `sum(bins)` in groups of time bins up to a time: (middle of the group in `unit`, value).
fn over_time(
    report: &VariantReport,
    (unit, end_ps): (TimeUnit, u64),
    value: impl Fn(std::ops::Range<usize>, u64) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let collector = &report.run.collector;
    let bins = (0..report.window.to_bin).take_while(|bin| collector.bin_start(*bin) < end_ps).count();
    let bin_ps = collector.bin_ps();
    let group = group(end_ps, bin_ps);
    let at = |bin: usize| collector.bin_start(bin).min(report.window.to_ps);
    let mut edges: Vec<usize> = (0..bins).step_by(group).chain([bins]).collect();
    // A sliver at the end would draw a spike: it belongs to the group before it.
    if let [.., last, end] = edges[..]
        && edges.len() > 2
        && (at(end) - at(last)) * 2 < group as u64 * bin_ps
    {
        edges.remove(edges.len() - 2);
    }
    let mut points: Vec<(f64, f64)> = edges
        .windows(2)
        .filter_map(|edge| {
            let (from, to) = (edge[0], edge[1]);
            let (start, end) = (at(from), at(to));
            if end <= start {
                return None;
            }
            Some((unit.scale((start + end) as f64 / 2.0), value(from..to, end - start)?))
        })
        .collect();
    // One mean of all is a line as long as its time: a point alone would not be seen.
    if let [(_, only)] = points[..]
        && let [from, .., to] = edges[..]
    {
        points = [from, to].map(|edge| (unit.scale(at(edge) as f64), only)).into();
    }
    points
}

/// What a panel shows over time.
struct Course {
    /// What the vertical axis shows.
    label: &'static str,
    /// A line for each key, perhaps empty.
    lines: Vec<Vec<(f64, f64)>>,
}

impl Course {
    fn high(&self) -> f64 {
        self.lines.iter().flatten().map(|point| point.1).fold(0.0, f64::max)
    }
}

/// One panel for each variant: all with the same axes, unless each has a scale of time of its own.
fn panels_over_time(
    title: &str,
    subtitle: &str,
    reports: &[VariantReport],
    mut keys: Vec<(Key, String)>,
    courses: &[Course],
    scales: &Scales,
) -> Scene {
    if reports.iter().any(|report| report.window.from_ps > 0) {
        keys.push((Key::Box(SHADE), "warm-up, not measured".into()));
    }
    let keys = &keys[..];
    let count = courses.len().max(1);
    let top = 66.0 + legend_height(keys, PAGE - 2.0 * MARGIN);
    let plot = match count {
        1 => 320.0,
        2 => 210.0,
        _ => 160.0,
    };
    let pitch = plot + if scales.apart { 92.0 } else { 44.0 };
    // From top to bottom, then the second column.
    let columns = if count > 4 { 2 } else { 1 };
    let rows = count.div_ceil(columns);
    let mut scene = Scene::new(PAGE as u32, (top + rows as f64 * pitch + 54.0) as u32);
    heading(&mut scene, title, subtitle);
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, keys);
    let high = courses.iter().map(Course::high).fold(0.0, f64::max);
    let (left, gap) = (MARGIN + 66.0, 74.0);
    let width = (PAGE - MARGIN - left - gap * (columns - 1) as f64) / columns as f64;
    for (index, (report, course)) in reports.iter().zip(courses).enumerate() {
        let (unit, end_ps) = scales.of[index];
        let (row, column) = (index % rows, index / rows);
        let panel = Panel {
            x: left + column as f64 * (width + gap),
            y: top + row as f64 * pitch + 34.0,
            width,
            height: plot,
            horizontal: Axis::exactly(unit.scale(end_ps as f64)),
            vertical: Axis::from_zero(if scales.apart { course.high() } else { high }),
        };
        let cut = unit.scale(report.window.from_ps as f64);
        if cut > 0.0 {
            let (x, _) = panel.place((cut, 0.0));
            scene.rect(panel.x, panel.y, x - panel.x, panel.height, SHADE);
        }
        let last = scales.apart || row + 1 == rows || index + 1 == count;
        let x_label = if last { format!("simulated time ({})", unit.symbol) } else { String::new() };
        panel.draw(&mut scene, &shorten(&report.run.name, PANEL, width), &x_label, course.label);
        for (line, points) in course.lines.iter().enumerate() {
            let phase = 0.3 + line as f64 / (course.lines.len() as f64 + 0.5);
            panel.plot(&mut scene, points, stroke(line), phase);
        }
    }
    scene
}

/// So many times as long as the shortest, and the longest has to have a scale of its own: nothing could be
/// seen of the others.
const APART: u64 = 8;

/// Scales of time.
struct Scales {
    /// Of each variant: unit and end, picoseconds.
    of: Vec<(TimeUnit, u64)>,
    /// Each has its own.
    apart: bool,
}

impl Scales {
    fn new(reports: &[VariantReport], end: fn(&VariantReport) -> u64) -> Self {
        let ends: Vec<u64> = reports.iter().map(end).collect();
        let longest = ends.iter().copied().max().unwrap_or(0);
        let apart = ends.iter().any(|end| end.saturating_mul(APART) < longest);
        let scale = |end: u64| (TimeUnit::for_max(end as f64), end);
        Self { of: ends.iter().map(|end| scale(if apart { *end } else { longest })).collect(), apart }
    }

    /// For a subtitle.
    fn note(&self) -> &'static str {
        if self.apart { "each variant has axes of its own" } else { "" }
    }

    /// Over how much time [`over_time`] averages, for a subtitle: bursts that are shorter look lower than
    /// they are.
    fn grain(&self, reports: &[VariantReport]) -> String {
        let bins = reports.iter().map(|report| report.run.collector.bin_ps());
        let grain = |(bin, scale): (u64, &(TimeUnit, u64))| bin * group(scale.1, bin) as u64;
        let grains: BTreeSet<u64> = bins.zip(&self.of).map(grain).collect();
        let text = |ps: &u64| time_text(*ps as f64);
        match (grains.first(), grains.last()) {
            (Some(one), Some(other)) if one == other => {
                format!("means over {}, the last over the rest", text(one))
            }
            (Some(least), Some(most)) => {
                format!("means over {} to {}, the last over the rest", text(least), text(most))
            }
            _ => String::new(),
        }
    }
}

/// The end of what is measured; or of what arrives, if that is over long before.
fn busy_end(report: &VariantReport) -> u64 {
    let (collector, end) = (&report.run.collector, report.window.to_ps);
    let last = |bins: &[Bin]| bins.iter().rposition(|bin| bin.payload > 0);
    let bin = collector.flows().iter().filter_map(|flow| last(&flow.bins)).max();
    let last = bin.map(|bin| collector.bin_start(bin + 1).min(end));
    last.filter(|last| *last < end / 4).unwrap_or(end)
}

fn throughput(caption: &Caption, reports: &[VariantReport]) -> Scene {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    let names = flow_names(panels, PACKETS);
    let shown = &names[..names.len().min(FLOWS_SHOWN)];
    let scales = Scales::new(panels, busy_end);
    let lines: Vec<Vec<Vec<(f64, f64)>>> = panels
        .iter()
        .zip(&scales.of)
        .map(|(report, scale)| {
            let line = |name: &&str| {
                let Some(index) = report.flows.iter().position(|flow| flow.name == **name) else {
                    return Vec::new();
                };
                let bins = &report.run.collector.flows()[index].bins;
                over_time(report, *scale, |range, ps| {
                    Some(gbps(bins[range].iter().map(|bin| bin.payload).sum(), ps))
                })
            };
            shown.iter().map(line).collect()
        })
        .collect();
    let mut courses: Vec<Course> =
        lines.into_iter().map(|lines| Course { label: "in packets (Gb/s)", lines }).collect();
    let high = courses.iter().map(Course::high).fold(0.0, f64::max);
    for course in &mut courses {
        let high = if scales.apart { course.high() } else { high };
        let (label, factor) = match high {
            ..1e-4 if high > 0.0 => ("in packets (kb/s)", 1e6),
            ..0.1 if high > 0.0 => ("in packets (Mb/s)", 1e3),
            _ => ("in packets (Gb/s)", 1.0),
        };
        course.label = label;
        course.lines.iter_mut().flatten().for_each(|point| point.1 *= factor);
    }
    let keys: Vec<(Key, String)> = shown
        .iter()
        .enumerate()
        .map(|(index, name)| (Key::Line(stroke(index)), format!("flow {name}")))
        .collect();
    let notes = joined(&[
        "payload of all packets delivered, also of those that say or repeat something",
        &scales.grain(panels),
        scales.note(),
        &left_out(shown.len(), names.len(), "flows"),
        &left_out(panels.len(), reports.len(), "variants"),
    ]);
    let text = subtitle(caption, &notes);
    panels_over_time("Throughput over time", &text, panels, keys, &courses, &scales)
}

/// `None` if the run took no samples, or no queue ever held anything to speak of.
fn queues(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    // The fullest queues of switches over all variants, the same in every panel. Source queues are left out:
    // above saturation they would flatten everything else.
    let mut means: BTreeMap<(String, bool), u64> = BTreeMap::new();
    for report in panels {
        let collector = &report.run.collector;
        for ((device, port), series) in collector.ports().iter().filter(|_| collector.has_queues()) {
            if collector.is_endpoint(*device) || series.samples == 0 {
                continue;
            }
            let name = report.port_name(*device, *port);
            for (sum, waiting) in [(series.input_sum, false), (series.waiting_sum, true)] {
                let mean = sum * 1_000 / series.samples;
                let most = means.entry((name.clone(), waiting)).or_default();
                *most = (*most).max(mean);
            }
        }
    }
    let mut peaks: Vec<(u64, String, bool)> =
        means.into_iter().map(|((name, waiting), mean)| (mean, name, waiting)).collect();
    if peaks.is_empty() {
        return None;
    }
    let all = peaks.len();
    // Thousandths of a packet; what is always empty tells nothing.
    let fullest = peaks.iter().map(|peak| peak.0).max().unwrap_or(0);
    if fullest < 10 {
        return None;
    }
    peaks.retain(|peak| peak.0 >= (fullest / 50).max(10));
    peaks.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    peaks.truncate(QUEUES_SHOWN);
    let scales = Scales::new(panels, |report| report.window.to_ps);
    let courses: Vec<Course> = panels
        .iter()
        .zip(&scales.of)
        .map(|(report, scale)| {
            let collector = &report.run.collector;
            let line = |(_, name, waiting): &(u64, String, bool)| {
                let mut ports = collector.ports().iter().map(|(port, _)| *port);
                let Some(port) = ports.find(|(device, port)| report.port_name(*device, *port) == *name)
                else {
                    return Vec::new();
                };
                over_time(report, *scale, |range, _| {
                    let samples: u64 = collector.samples()[range.clone()].iter().map(|bin| bin.samples).sum();
                    let sum: u64 = range
                        .filter_map(|bin| collector.queue(port, bin))
                        .map(|(input, output)| u64::from(if *waiting { output } else { input }))
                        .sum();
                    (samples > 0).then(|| ratio(sum.into(), samples.into()))
                })
            };
            Course { label: "packets", lines: peaks.iter().map(line).collect() }
        })
        .collect();
    let keys: Vec<(Key, String)> = peaks
        .iter()
        .enumerate()
        .map(|(index, (_, name, waiting))| {
            let what = if *waiting { "waiting for output" } else { "input buffers of" };
            (Key::Line(stroke(index)), format!("{what} {name}"))
        })
        .collect();
    let note = if all > peaks.len() && peaks.len() == 1 {
        "the fullest queue of switches".into()
    } else if all > peaks.len() {
        format!("the {} fullest queues of switches", peaks.len())
    } else {
        String::new()
    };
    let both = peaks.iter().any(|peak| peak.2) && peaks.iter().any(|peak| !peak.2);
    let twice = if both { "who waits in an input for an output is in both" } else { "" };
    let left_out = left_out(panels.len(), reports.len(), "variants");
    let text = subtitle(caption, &joined(&[&note, twice, &scales.grain(panels), scales.note(), &left_out]));
    Some(panels_over_time("Queue occupancy over time", &text, panels, keys, &courses, &scales))
}

#[cfg(test)]
#[path = "../tests/suite/synthetic/mod.rs"]
mod synthetic;

#[cfg(test)]
mod tests {
    use super::synthetic::{LENGTH, Mood, REFRESH, WITH, WITHOUT, closed_loops, deliveries, run};
    use super::*;
    use crate::books::Above;
    use crate::collect::{Collector, CollectorConfig};
    use crate::run::RunData;
    use models::config::FlowConfig;
    use std::sync::Arc;

    /// A run with the victims spread over this many flows.
    fn many_flows(count: usize, mood: Mood) -> RunData {
        let mut data = run(mood);
        let mut config = (*data.config).clone();
        config.flows =
            (0..count).map(|n| FlowConfig { name: format!("tenant {n} bulk transfers") }).collect();
        data.collector = Collector::new(&CollectorConfig::new(&config, LENGTH));
        for (index, mut delivery) in deliveries(mood, 3).into_iter().enumerate() {
            delivery.flow = (index % count) as u16;
            models::Probe::delivered(&mut data.collector, &delivery);
        }
        data.config = Arc::new(config);
        data
    }

    /// Three of four packets take 1 us, one takes 4 us: 75 % up to there, and nobody in between.
    #[test]
    fn a_distribution_has_steps_where_nothing_occurs() {
        let histogram = hdrhistogram::Histogram::new_with_bounds(1_000, 1 << 30, 3).unwrap();
        let mut spread = Spread { histogram, min: 1_000_000, max: 4_000_000 };
        for ps in [1_000_000, 1_000_000, 1_000_000, 4_000_000] {
            spread.histogram.record(ps).unwrap();
        }
        let panel = Panel {
            x: 0.0,
            y: 0.0,
            width: 500.0,
            height: 300.0,
            horizontal: Axis::log_times(1e6, 4e6),
            vertical: Axis::exactly(100.0),
        };
        let points = cdf(&spread, &panel);
        let close = |a: (f64, f64), b: (f64, f64)| (a.0 / b.0 - 1.0).abs() < 0.01 && (a.1 - b.1).abs() < 1e-9;
        let law = [(1e6, 0.0), (1e6, 75.0), (4e6, 75.0), (4e6, 100.0), (panel.horizontal.high, 100.0)];
        assert_eq!(points.len(), law.len(), "{points:?}");
        assert!(points.iter().zip(law).all(|(&found, law)| close(found, law)), "{points:?}");
    }

    /// One scale for runs that can be seen beside each other, one each where the longest hides the shortest.
    #[test]
    fn runs_of_very_different_lengths_have_their_own_axes() {
        let scales = |lengths: [u64; 2]| {
            let report = |to_ps| {
                let mut report = VariantReport::new(run(WITH));
                report.window.to_ps = to_ps;
                report
            };
            let scales = Scales::new(&lengths.map(report), |report| report.window.to_ps);
            (scales.apart, scales.of.iter().map(|scale| scale.1).collect::<Vec<u64>>())
        };
        assert_eq!(scales([1_000, 8_000]), (false, vec![8_000, 8_000]));
        assert_eq!(scales([1_000, 8_001]), (true, vec![1_000, 8_001]));
    }

    /// Counts that differ are drawn, the largest at full length; those that are alike are no result.
    #[test]
    fn counts_that_differ_are_drawn() {
        let mut reports = [WITHOUT, WITHOUT].map(|mood| VariantReport::new(run(mood)));
        let caption = Caption { scenario: "s".into(), note: String::new() };
        assert!(reports[0].flows.len() > 1);
        assert!(bars::counted_things(&caption, &reports).is_none());
        (reports[0].overall.dropped, reports[1].overall.dropped) = (1_234, 5_678);
        let svg = bars::counted_things(&caption, &reports).expect("they differ").to_svg();
        assert!(svg.contains("packets dropped") && svg.contains("1 234") && svg.contains("5 678"), "{svg}");
    }

    /// A third waits: figures of latencies say so, for who waits is in none of them.
    #[test]
    fn what_is_under_way_is_told_beside_distributions() {
        let mut report = VariantReport::new(run(WITH));
        let name = report.flows[0].name.clone();
        report.flows[0].books =
            Books { unit: "packets", asked: 300, arrived: 200, under_way: 100, ..Books::default() };
        let told = |report: &VariantReport| still_under_way(std::slice::from_ref(report), &[&name], PACKETS);
        assert_eq!(told(&report), format!("not there at the end: {} 33 %", report.run.name));
        report.flows[0].books.under_way = 2;
        assert_eq!(told(&report), "");
    }

    /// 900 of 1 000 arrived: the distribution of those that did ends at 90 %.
    #[test]
    fn what_never_arrives_is_missing_in_a_distribution() {
        let mut flow = VariantReport::new(run(WITH)).flows.remove(0);
        let books = |unit, arrived, never| Books { unit, arrived, never, ..Books::default() };
        flow.books = books("packets", 900, 100);
        (flow.arrived, flow.dropped) = (900, 100);
        assert_eq!(arrived_share(&flow, PACKETS), 0.9);
        // these books are of packets
        assert_eq!(arrived_share(&flow, MESSAGES), 1.0);
        (flow.arrived, flow.dropped) = (900, 0);
        flow.books = books("PDUs", 3, 1);
        flow.protocol = Some(FlowStats { delivered: 3, round_trips: 1, ..FlowStats::default() });
        assert_eq!((arrived_share(&flow, MESSAGES), arrived_share(&flow, PACKETS)), (0.75, 1.0));
        flow.books = books("echoes", 1, 3);
        assert_eq!((arrived_share(&flow, TRIPS), arrived_share(&flow, MESSAGES)), (0.25, 1.0));
        // four messages of an application in nine thousand frames: the curve is of frames
        flow.books = books("messages", 4, 4_000);
        flow.protocol = Some(FlowStats { delivered: 9_000, ..FlowStats::default() });
        assert_eq!(arrived_share(&flow, MESSAGES), 1.0);
        // of 10 000 the scenario lost 100, the fabric dropped 600, and 300 are on their way
        let above = Above {
            carries: "frames",
            nothing_else: true,
            latency: "",
            sum_ps: 0,
            count: 0,
            lost_late: 100,
            touched: [100, 0],
        };
        flow.protocol = Some(FlowStats { sent: 10_000, delivered: 9_000, ..FlowStats::default() });
        (flow.above, flow.dropped) = (Some(above), 600);
        assert_eq!(arrived_share(&flow, MESSAGES), 9_000.0 / 9_600.0);
        assert_eq!(under_way_share(&flow, MESSAGES), 300.0 / 9_900.0);
        // others send more than such frames
        flow.above = Some(Above { nothing_else: false, ..above });
        assert_eq!((arrived_share(&flow, MESSAGES), under_way_share(&flow, MESSAGES)), (1.0, 0.0));
    }

    /// A run so short that all of it is one mean: a line, as a point alone is not drawn.
    #[test]
    fn one_mean_is_a_line() {
        let report = VariantReport::new(run(WITH));
        let end = report.run.collector.bin_start(1);
        let scale = (TimeUnit::for_max(end as f64), end);
        let points = over_time(&report, scale, |range, ps| Some((range.len() as u64 * ps) as f64));
        assert_eq!(points, [(0.0, end as f64), (scale.0.scale(end as f64), end as f64)]);
    }

    #[test]
    fn texts_neither_overlap_nor_leave_the_page() {
        let mut long = run(WITH);
        long.name = "a variant with a name that is much longer than anybody should ever choose".into();
        let mut empty = run(WITH);
        empty.collector = Collector::new(&CollectorConfig::new(&empty.config, LENGTH));
        empty.outcome.end = models::sim_core::Time(0);
        let caption =
            Caption { scenario: "hotspot-single-switch".into(), note: "protocol clock x 1000".into() };
        for (case, runs) in [
            ("one", vec![run(WITHOUT)]),
            ("three", [WITHOUT, WITH, REFRESH].map(run).into()),
            ("seven", [WITHOUT, WITH, REFRESH, WITH, WITHOUT, WITH, WITH].map(run).into()),
            ("long name", vec![run(WITHOUT), long]),
            ("empty", vec![empty]),
            ("closed and open loops", vec![closed_loops(WITHOUT), run(WITH)]),
            ("many flows", vec![many_flows(9, WITHOUT)]),
            ("many flows and variants", vec![many_flows(20, WITHOUT), many_flows(20, WITH)]),
        ] {
            let reports: Vec<VariantReport> = runs.into_iter().map(VariantReport::new).collect();
            for (name, scene) in
                ROWS.iter().filter_map(|row| Some((row.name, (row.draw)(&caption, &reports)?)))
            {
                assert_eq!(scene.text_trouble(), None, "{case}: {name}");
            }
        }
    }
}
