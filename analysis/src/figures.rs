//! Figures of a run: the same scenes as SVG (the same bytes everywhere) and PNG.
//!
//! The colours are those of Okabe and Ito, which colour-blind readers can tell apart; lines differ in dashes
//! and markers as well. What does not fit on a page is left out with a note; the CSV series have everything.

use crate::axes::{
    Axis, GREY, INK, Key, LABEL, MARGIN, PAGE, PANEL, Panel, SHADE, Stroke, TICK, WHITE, heading, legend,
    legend_height, shorten, stroke,
};
use crate::collect::Spread;
use crate::num::{TimeUnit, change_text, gbps, ratio, three_digits, time_text};
use crate::report::{Estimate, FlowReport, Unit, VariantReport, baselines};
use crate::scene::{Align, Scene, Type, text_width};
use models::probe::Cause;
use plotters::style::RGBColor;
use std::collections::BTreeMap;

/// Flows shown as lines or panels.
const FLOWS_SHOWN: usize = 6;
/// Variants shown as panels of their own.
const PANELS_SHOWN: usize = 6;
/// Rows of a bar chart.
const ROWS_SHOWN: usize = 42;
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
    scenes(caption, reports)
        .into_iter()
        .map(|(name, scene)| Figure { name, svg: scene.to_svg(), png: scene.to_png() })
        .collect()
}

fn scenes(caption: &Caption, reports: &[VariantReport]) -> Vec<(&'static str, Scene)> {
    let mut scenes = vec![
        ("goodput", bars(caption, reports, &GOODPUT)),
        ("load", bars(caption, reports, if slotted(reports) { &PER_SLOT } else { &ACCEPTED })),
        ("throughput", throughput(caption, reports)),
        (
            "latency_cdf",
            latency_cdf(caption, reports, &latency_title(reports), |flow| &flow.felt().spread.latency),
        ),
        (
            "network_latency_cdf",
            latency_cdf(caption, reports, "Network latency (without source queue)", |flow| {
                &flow.spread.network
            }),
        ),
        ("decomposition", decomposition(caption, reports)),
    ];
    if let Some(scene) = queues(caption, reports) {
        scenes.push(("queues", scene));
    }
    scenes
}

fn subtitle(caption: &Caption, more: &str) -> String {
    [caption.scenario.as_str(), more, caption.note.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<&str>>()
        .join(" · ")
}

/// The flows of all variants, in order of first appearance.
fn flow_names(reports: &[VariantReport]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for flow in reports.iter().flat_map(|report| &report.flows) {
        if !names.contains(&flow.name.as_str()) {
            names.push(&flow.name);
        }
    }
    names
}

fn left_out(shown: usize, all: usize, what: &str) -> String {
    if shown < all { format!("first {shown} of {all} {what}") } else { String::new() }
}

fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<&str>>().join(" · ")
}

fn variant_keys(reports: &[VariantReport]) -> Vec<(Key, String)> {
    reports
        .iter()
        .enumerate()
        .map(|(index, report)| (Key::Line(stroke(index)), report.run.name.clone()))
        .collect()
}

fn latency_cdf(
    caption: &Caption,
    reports: &[VariantReport],
    title: &str,
    of: impl Fn(&FlowReport) -> &Spread,
) -> Scene {
    let names = flow_names(reports);
    let shown = &names[..names.len().min(FLOWS_SHOWN)];
    // Each flow has its own range: a victim's nanoseconds would vanish on the scale of a hot flow's
    // milliseconds.
    let range = |name: &str| {
        let (mut low, mut high) = (f64::INFINITY, 0.0f64);
        let spreads = reports.iter().filter_map(|report| report.flow(name)).map(&of);
        for spread in spreads.filter(|spread| !spread.histogram.is_empty()) {
            // One packet in ten thousand is not worth a decade of the axis.
            low = low.min(spread.quantile(0.0001).map_or(low, |ps| ps as f64));
            high = high.max(spread.quantile(0.9999).map_or(high, |ps| ps as f64));
        }
        Axis::log_times(low, high)
    };
    let columns = if shown.len() > 1 { 2 } else { 1 };
    let rows = shown.len().max(1).div_ceil(columns);
    let keys = variant_keys(reports);
    let top = 66.0 + legend_height(&keys, PAGE - 2.0 * MARGIN);
    let (gap, plot) = (74.0, if columns == 1 { 340.0 } else { 230.0 });
    let pitch = plot + 92.0;
    let mut scene = Scene::new(PAGE as u32, (top + rows as f64 * pitch + 8.0) as u32);
    let note = left_out(shown.len(), names.len(), "flows");
    heading(&mut scene, title, &subtitle(caption, &joined(&["share delivered within a time", &note])));
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
        panel.draw(&mut scene, &format!("flow {name}"), "latency (logarithmic)", "share (%)");
        let mut filled = false;
        for (variant, report) in reports.iter().enumerate() {
            let Some(flow) = report.flow(name) else { continue };
            let points = cdf(of(flow), &panel);
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
            scene.text(middle, "no packets delivered", TICK, Align::Center);
        }
    }
    scene
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
        let near = panel.width * (axis.at(ps) - axis.at(last.0)) < 1.5 && share - last.1 < 0.8;
        if points.len() > 1 && near && seen < spread.histogram.len() {
            continue;
        }
        points.push((ps, share));
    }
    // every packet has arrived from the maximum on
    if let Some(&(_, share)) = points.last() {
        points.push((axis.high, share));
    }
    points
}

/// Values of `sum(bins)` in groups of time bins: (middle of the group in `unit`, value).
fn over_time(
    report: &VariantReport,
    unit: TimeUnit,
    value: impl Fn(std::ops::Range<usize>, u64) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let bins = report.window.to_bin;
    let bin_ps = report.run.collector.bin_ps();
    let group = bins.div_ceil(POINTS).max(1);
    (0..bins)
        .step_by(group)
        .filter_map(|from| {
            let to = (from + group).min(bins);
            let start = from as u64 * bin_ps;
            let end = (to as u64 * bin_ps).min(report.window.to_ps);
            // a sliver at the end would draw a spike
            if end <= start || (from > 0 && (end - start) * 2 < group as u64 * bin_ps) {
                return None;
            }
            Some((unit.scale((start + end) as f64 / 2.0), value(from..to, end - start)?))
        })
        .collect()
}

/// One panel for each variant, all with the same axes.
fn panels_over_time(
    title: &str,
    subtitle: &str,
    y_label: &str,
    reports: &[VariantReport],
    mut keys: Vec<(Key, String)>,
    lines: &[Vec<Vec<(f64, f64)>>],
    unit: TimeUnit,
) -> Scene {
    if reports.iter().any(|report| report.window.from_ps > 0) {
        keys.push((Key::Box(SHADE), "warm-up, not measured".into()));
    }
    let keys = &keys[..];
    let count = lines.len().max(1);
    let top = 66.0 + legend_height(keys, PAGE - 2.0 * MARGIN);
    let plot = match count {
        1 => 320.0,
        2 => 210.0,
        _ => 160.0,
    };
    let pitch = plot + 44.0;
    let mut scene = Scene::new(PAGE as u32, (top + count as f64 * pitch + 54.0) as u32);
    heading(&mut scene, title, subtitle);
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, keys);
    let end = reports.iter().map(|report| report.window.to_ps).max().unwrap_or(0) as f64;
    let high = lines.iter().flatten().flatten().map(|point| point.1).fold(0.0, f64::max);
    let left = MARGIN + 66.0;
    for (index, report) in reports.iter().take(count).enumerate() {
        let panel = Panel {
            x: left,
            y: top + index as f64 * pitch + 34.0,
            width: PAGE - MARGIN - left,
            height: plot,
            horizontal: Axis::exactly(unit.scale(end)),
            vertical: Axis::from_zero(high),
        };
        let cut = unit.scale(report.window.from_ps as f64);
        if cut > 0.0 {
            let (x, _) = panel.place((cut, 0.0));
            scene.rect(panel.x, panel.y, x - panel.x, panel.height, SHADE);
        }
        let last = index + 1 == count;
        let x_label = if last { format!("simulated time ({})", unit.symbol) } else { String::new() };
        panel.draw(&mut scene, &report.run.name, &x_label, y_label);
        for (line, points) in lines[index].iter().enumerate() {
            panel.plot(
                &mut scene,
                points,
                stroke(line),
                0.3 + line as f64 / (lines[index].len() as f64 + 0.5),
            );
        }
    }
    scene
}

fn time_unit(reports: &[VariantReport]) -> TimeUnit {
    TimeUnit::for_max(reports.iter().map(|report| report.window.to_ps).max().unwrap_or(0) as f64)
}

fn throughput(caption: &Caption, reports: &[VariantReport]) -> Scene {
    let names = flow_names(reports);
    let shown = &names[..names.len().min(FLOWS_SHOWN)];
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    let unit = time_unit(panels);
    let lines: Vec<Vec<Vec<(f64, f64)>>> = panels
        .iter()
        .map(|report| {
            let line = |name: &&str| {
                let Some(index) = report.flows.iter().position(|flow| flow.name == **name) else {
                    return Vec::new();
                };
                let bins = &report.run.collector.flows()[index].bins;
                over_time(report, unit, |range, ps| {
                    Some(gbps(bins[range].iter().map(|bin| bin.payload).sum(), ps))
                })
            };
            shown.iter().map(line).collect()
        })
        .collect();
    let keys: Vec<(Key, String)> = shown
        .iter()
        .enumerate()
        .map(|(index, name)| (Key::Line(stroke(index)), format!("flow {name}")))
        .collect();
    let notes = joined(&[
        "payload delivered per flow",
        &left_out(shown.len(), names.len(), "flows"),
        &left_out(panels.len(), reports.len(), "variants"),
    ]);
    let text = subtitle(caption, &notes);
    panels_over_time("Goodput over time", &text, "goodput (Gb/s)", panels, keys, &lines, unit)
}

/// `None` if the run took no samples.
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
    // thousandths of a packet; what is always empty tells nothing, but one line there must be
    let fullest = peaks.iter().map(|peak| peak.0).max().unwrap_or(0);
    peaks.retain(|peak| peak.0 >= (fullest / 50).max(10) || fullest < 10);
    peaks.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    peaks.truncate(QUEUES_SHOWN);
    let unit = time_unit(panels);
    let lines: Vec<Vec<Vec<(f64, f64)>>> = panels
        .iter()
        .map(|report| {
            let collector = &report.run.collector;
            let line = |(_, name, waiting): &(u64, String, bool)| {
                let mut ports = collector.ports().iter().map(|(port, _)| *port);
                let Some(port) = ports.find(|(device, port)| report.port_name(*device, *port) == *name)
                else {
                    return Vec::new();
                };
                over_time(report, unit, |range, _| {
                    let samples: u64 = collector.samples()[range.clone()].iter().map(|bin| bin.samples).sum();
                    let sum: u64 = range
                        .filter_map(|bin| collector.queue(port, bin))
                        .map(|(input, output)| u64::from(if *waiting { output } else { input }))
                        .sum();
                    (samples > 0).then(|| ratio(sum.into(), samples.into()))
                })
            };
            peaks.iter().map(line).collect()
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
    let note = if all > peaks.len() {
        format!("the {} fullest queues of switches", peaks.len())
    } else {
        String::new()
    };
    let text = subtitle(caption, &joined(&[&note, &left_out(panels.len(), reports.len(), "variants")]));
    Some(panels_over_time("Queue occupancy over time", &text, "packets", panels, keys, &lines, unit))
}

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
fn rows<'a>(reports: &'a [VariantReport], names: &[&str]) -> (Vec<Row<'a>>, usize) {
    let flows = (ROWS_SHOWN / reports.len().max(1)).clamp(1, names.len().max(1)).min(names.len());
    let mut rows = Vec::new();
    for name in &names[..flows] {
        let mut first = true;
        for (variant, report) in reports.iter().enumerate() {
            if let Some(flow) = report.flow(name) {
                rows.push(Row { flow, variant, first, alone: reports.len() == 1 });
                first = false;
            }
        }
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

/// What the time of all flows is the time of.
fn unit_names(reports: &[VariantReport]) -> String {
    Unit::names(reports.iter().flat_map(|report| &report.flows).map(FlowReport::unit))
}

fn latency_title(reports: &[VariantReport]) -> String {
    let packets = || reports.iter().flat_map(|report| &report.flows).all(|flow| flow.unit() == Unit::Packet);
    if packets() {
        "Latency from creation to last bit".into()
    } else {
        format!("Time of a {}", unit_names(reports))
    }
}

/// What a bar chart shows of a flow.
struct Metric {
    title: &'static str,
    subtitle: &'static str,
    label: &'static str,
    /// What it cannot exceed, if there is such a thing.
    most: Option<f64>,
    of: fn(&FlowReport) -> Estimate,
}

const GOODPUT: Metric = Metric {
    title: "Goodput",
    subtitle: "payload delivered per flow, with 95 % confidence intervals",
    label: "goodput (Gb/s)",
    most: None,
    of: |flow| flow.carried().goodput_gbps,
};

const ACCEPTED: Metric = Metric {
    title: "Accepted load",
    subtitle: "share of the injection link, mean over the sources of a flow, with 95 % confidence intervals",
    label: "accepted load (% of the link of a source)",
    most: Some(100.0),
    of: |flow| Estimate {
        value: 100.0 * flow.accepted_load.value,
        half_width: 100.0 * flow.accepted_load.half_width,
    },
};

const PER_SLOT: Metric = Metric {
    title: "Throughput per slot",
    subtitle: "packets delivered for each source and tick of the cell clock, with 95 % confidence intervals",
    label: "packets per slot and source",
    most: Some(1.0),
    of: |flow| flow.per_slot.unwrap_or(Estimate { value: 0.0, half_width: f64::NAN }),
};

/// Whether every variant runs a cell clock.
fn slotted(reports: &[VariantReport]) -> bool {
    reports.iter().all(|report| report.overall.per_slot.is_some())
}

fn bars(caption: &Caption, reports: &[VariantReport], metric: &Metric) -> Scene {
    let names = flow_names(reports);
    let (rows, flows) = rows(reports, &names);
    let (places, height) = bar_places(&rows);
    let note = left_out(flows, names.len(), "flows");
    let top = 82.0;
    let mut scene = Scene::new(PAGE as u32, (top + height + 60.0) as u32);
    let variant = if let [only] = reports { only.run.name.as_str() } else { "" };
    let more = joined(&[variant, metric.subtitle, &note]);
    heading(&mut scene, metric.title, &subtitle(caption, &more));
    let label_width = row_label_width(&rows, reports);
    let left = MARGIN + label_width + 10.0;
    let high = rows.iter().map(|row| (metric.of)(row.flow).value).fold(0.0, f64::max);
    let panel = Panel {
        x: left,
        y: top,
        // room for the value behind the longest bar
        width: PAGE - MARGIN - left - 130.0,
        height,
        // a full link is the end of its scale
        horizontal: match metric.most {
            Some(most) if high > 0.8 * most && high <= 1.001 * most => Axis::exactly(most),
            _ => Axis::from_zero(high),
        },
        vertical: Axis::exactly(1.0),
    };
    panel.vertical_grid(&mut scene, true);
    scene.line(&[(panel.x, panel.y), (panel.x, panel.y + height)], GREY, 1);
    scene.text((panel.x + panel.width / 2.0, top + height + 38.0), metric.label, LABEL, Align::Center);
    let bases = baselines(reports);
    for (row, y) in rows.iter().zip(&places) {
        let y = top + y;
        row_label(&mut scene, row, reports, left, y, label_width);
        let shown = (metric.of)(row.flow);
        let (x, _) = panel.place((shown.value, 0.0));
        scene.rect(left, y, x - left, BAR, stroke(row.variant).color);
        let mut end = x;
        if shown.half_width.is_finite() && shown.half_width > 0.0 {
            let (from, _) = panel.place(((shown.value - shown.half_width).max(0.0), 0.0));
            let (to, _) = panel.place((shown.value + shown.half_width, 0.0));
            let middle = y + BAR / 2.0;
            scene.line(&[(from, middle), (to, middle)], INK, 1);
            for x in [from, to] {
                scene.line(&[(x, middle - 4.0), (x, middle + 4.0)], INK, 1);
            }
            end = to;
        }
        let base = bases[row.variant];
        let before = reports[base].flow(&row.flow.name).map_or(f64::NAN, |flow| (metric.of)(flow).value);
        let change = match change_text(before, shown.value) {
            Some(change) if row.variant != base => format!("  ({change})"),
            _ => String::new(),
        };
        let text = format!("{}{change}", three_digits(shown.value));
        scene.text((end + 7.0, y + BAR / 2.0 + 4.6), &text, LABEL, Align::Left);
    }
    scene
}

fn row_name(row: &Row<'_>, reports: &[VariantReport]) -> String {
    if row.alone { row.flow.title() } else { reports[row.variant].run.name.clone() }
}

/// Room left of the bars: for the names beside them and for the headings of groups above them.
fn row_label_width(rows: &[Row<'_>], reports: &[VariantReport]) -> f64 {
    let widths = rows.iter().map(|row| {
        let heading = if row.alone { 0.0 } else { text_width(&group_heading(row), PANEL) };
        text_width(&row_name(row, reports), LABEL).max(heading)
    });
    widths.fold(60.0, f64::max).min(230.0)
}

fn group_heading(row: &Row<'_>) -> String {
    format!("flow {}", row.flow.title())
}

fn row_label(scene: &mut Scene, row: &Row<'_>, reports: &[VariantReport], left: f64, y: f64, width: f64) {
    if row.first && !row.alone {
        let text = shorten(&group_heading(row), PANEL, width);
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
        Cause::Host => RGBColor(0x7a, 0x5c, 0x3a),
        Cause::Protocol => RGBColor(0x99, 0x99, 0x33),
    }
}

fn decomposition(caption: &Caption, reports: &[VariantReport]) -> Scene {
    let names = flow_names(reports);
    let (rows, flows) = rows(reports, &names);
    let (places, height) = bar_places(&rows);
    let used: Vec<Cause> = Cause::ALL
        .into_iter()
        .filter(|cause| rows.iter().any(|row| row.flow.felt().spread.parts_ps[*cause as usize] > 0))
        .collect();
    let keys: Vec<(Key, String)> =
        used.iter().map(|cause| (Key::Box(cause_color(*cause)), cause.name().to_string())).collect();
    let top = 66.0 + legend_height(&keys, PAGE - 2.0 * MARGIN) + 34.0;
    let mut scene = Scene::new(PAGE as u32, (top + height + 60.0) as u32);
    let note = left_out(flows, names.len(), "flows");
    let variant = if let [only] = reports { only.run.name.as_str() } else { "" };
    let unit_names = unit_names(reports);
    let more = joined(&[variant, "mean over all that were delivered", &note]);
    heading(&mut scene, &format!("Where the time of a {unit_names} goes"), &subtitle(caption, &more));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys);
    let label_width = row_label_width(&rows, reports);
    let left = MARGIN + label_width + 10.0;
    let gap = 74.0;
    let width = (PAGE - MARGIN - left - gap - 8.0) / 2.0;
    let network = |row: &Row<'_>| -> f64 {
        let causes = Cause::ALL.into_iter().filter(|cause| *cause != Cause::SourceQueue);
        causes.map(|cause| row.flow.felt().mean_part_ps(cause)).sum()
    };
    let high = rows.iter().map(&network).fold(0.0, f64::max);
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
    for (panel, heading, label) in [
        (&absolute, "network latency", format!("mean time of a {unit_names} ({})", unit.symbol)),
        (&shares, "whole latency, with source queue", "share of latency (%)".to_string()),
    ] {
        panel.vertical_grid(&mut scene, true);
        scene.line(&[(panel.x, panel.y), (panel.x, panel.y + height)], GREY, 1);
        scene.text((panel.x, panel.y - 8.0), heading, PANEL, Align::Left);
        let middle = panel.x + panel.width / 2.0;
        scene.text((middle, top + height + 38.0), &label, LABEL, Align::Center);
    }
    scene.text((shares.x - 8.0, shares.y - 8.0), "mean", TICK, Align::Right);
    for (row, y) in rows.iter().zip(&places) {
        let y = top + y;
        row_label(&mut scene, row, reports, left, y, label_width);
        let mut at = 0.0;
        for cause in used.iter().filter(|cause| **cause != Cause::SourceQueue) {
            let next = at + unit.scale(row.flow.felt().mean_part_ps(*cause));
            segment(&mut scene, &absolute, (at, next), y, *cause, "");
            at = next;
        }
        let mut at = 0.0;
        for cause in &used {
            let share = 100.0 * row.flow.felt().share(*cause);
            segment(&mut scene, &shares, (at, at + share), y, *cause, &format!("{share:.0}"));
            at += share;
        }
        let (end, _) = shares.place((0.0, 0.0));
        let mean = time_text(row.flow.felt().latency.mean.value);
        scene.text((end - 8.0, y + BAR / 2.0 + 4.6), &mean, TICK, Align::Right);
    }
    scene
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

#[cfg(test)]
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

#[cfg(test)]
mod tests {
    use super::synthetic::{LENGTH, Mood, REFRESH, WITH, WITHOUT, deliveries, run};
    use super::*;
    use crate::collect::{Collector, CollectorConfig};
    use crate::report::RunData;
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
            ("many flows", vec![many_flows(9, WITHOUT)]),
            ("many flows and variants", vec![many_flows(20, WITHOUT), many_flows(20, WITH)]),
        ] {
            let reports: Vec<VariantReport> = runs.into_iter().map(VariantReport::new).collect();
            for (name, scene) in scenes(&caption, &reports) {
                assert_eq!(scene.text_trouble(), None, "{case}: {name}");
            }
        }
    }
}
