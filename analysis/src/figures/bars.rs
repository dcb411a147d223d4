//! Bar charts: one quantity of every flow in every variant, or the parts of a time.

use super::words::{LISTED, contents, flows_left_out, listed, not_of, plural, transient, unlike};
use super::{
    Caption, Level, PACKETS, ended, flow_names, joined,
    steady::{self, Quantity},
    subtitle, told,
};
use crate::axes::{
    Axis, GREY, INK, Key, LABEL, MARGIN, PAGE, PANEL, Panel, Stroke, TICK, WHITE, heading, legend,
    legend_height, shorten, shorten_name, stroke,
};
use crate::baselines::baselines;
use crate::estimate::Estimate;
use crate::level::come_share;
use crate::num::{TimeUnit, change_text, points_text, three_digits, time_text};
use crate::palette::cause_color;
use crate::report::{FlowReport, VariantReport, efficiency, retry_share};
use crate::scene::{Align, Scene, Type, text_width};
use crate::weight::{RULE, heaviest};
use models::config::{Arbitration, Arrivals, Buffering, Destinations, DeviceModel, InputQueueing};
use models::probe::Cause;
use models::stats::{TransferTotals, TranslatorTotals};
use plotters::style::RGBColor;
use std::collections::BTreeSet;

/// Rows of a bar chart.
pub(super) const ROWS_SHOWN: usize = 120;

/// A row of a bar chart: index of flow and of variant.
struct Row<'a> {
    flow: &'a FlowReport,
    variant: usize,
    /// Whether it begins the group of its flow.
    first: bool,
    /// Whether there is only one variant: then the flow's name stands beside the bar.
    alone: bool,
}

/// Flow by flow, the variants of each under one another; and the flows that are shown.
fn rows<'a, 'n>(
    reports: &'a [VariantReport],
    names: &[&'n str],
    level: Level,
) -> (Vec<Row<'a>>, Vec<&'n str>) {
    let (rows, flows) = first_rows(reports, names, level);
    if flows == names.len() {
        return (rows, names.to_vec());
    }
    let heaviest = heaviest(reports, names);
    let (_, flows) = first_rows(reports, &heaviest, level);
    let shown: Vec<&str> = names.iter().copied().filter(|name| heaviest[..flows].contains(name)).collect();
    (first_rows(reports, &shown, level).0, shown)
}

/// The rows of the first of these flows, and how many those are.
fn first_rows<'a>(reports: &'a [VariantReport], names: &[&str], level: Level) -> (Vec<Row<'a>>, usize) {
    let (mut rows, mut flows): (Vec<Row<'a>>, usize) = (Vec::new(), 0);
    for name in names {
        let here = reports.iter().enumerate();
        let here =
            here.filter_map(|(variant, report)| Some((variant, report.flow(name).and_then(level.of)?)));
        let mut here: Vec<(usize, &FlowReport)> = here.collect();
        // A variant in which nobody wanted anything of the flow has no row beside those that have something.
        let wanted = |variant: usize| {
            let whole = reports[variant].flow(name);
            whole.is_some_and(|flow| flow.arrived > 0 || !flow.carries_nothing())
        };
        if here.iter().any(|(variant, _)| wanted(*variant)) {
            here.retain(|(variant, _)| wanted(*variant));
        }
        if flows > 0 && rows.len() + here.len() > ROWS_SHOWN {
            break;
        }
        let row = |(n, (variant, flow))| Row { flow, variant, first: n == 0, alone: reports.len() == 1 };
        rows.extend(here.into_iter().enumerate().map(row));
        flows += 1;
    }
    (rows, flows)
}

pub(super) const BAR: f64 = 20.0;
pub(super) const BAR_PITCH: f64 = 25.0;
pub(super) const GROUP_GAP: f64 = 30.0;

const LAW: &str =
    "law for one FIFO at each input, above and below a bar: 0.586 for many ports (Karol and others 1987)";
/// How a law is drawn: above and below the bar, so that the end of the bar and its interval stay free.
const LAW_STROKE: Stroke = Stroke { color: INK, dash: &[], marker: None };

/// Room for the name of the variant that another one is compared with.
pub(super) const BASE: f64 = 160.0;

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
    trap: fn(&VariantReport, &FlowReport) -> Option<&'static str>,
    /// Why a flow may have no value.
    missing: &'static str,
    /// What a law says that it comes to, where there is one.
    law: fn(&VariantReport) -> Option<f64>,
    level: Level,
    /// Who has such a value as well and is not shown, and why, where that is so.
    left_out: Option<(Level, &'static str)>,
    /// What it comes from, whose course over time tells whether it depends on the length of the run. `None`:
    /// it is of all of the run.
    course: Option<Quantity>,
    of: fn(&FlowReport) -> Estimate,
}

/// Whether it has octets to move. Connections and conduits that are set up and carry nothing have none, and
/// nor has who gets what it asks for without any packet of its own: a rate of nothing looks like a fault.
fn moves(flow: &FlowReport) -> bool {
    let elsewhere = flow.books.arrived > 0 && flow.arrived == 0 && flow.goodput_gbps.value == 0.0;
    !flow.carries_nothing() && !elsewhere
}

/// These have a goodput. Octets of registers are read to set something up: who needs fewer of them is no
/// slower.
const MOVING: Level =
    Level { of: |flow| (moves(flow) && !flow.is_of_registers()).then_some(flow), ..PACKETS };

/// Of a flow that ends the share of the whole run says how long the run was.
const ENDLESS: Level = Level { of: |flow| flow.rate_span.is_none().then_some(flow), ..MOVING };

impl Metric {
    /// How a value differs from another one: of percentages in points, as a share of a share would be taken
    /// for these. And whether that may be chance, where both have intervals: it is less than the half width
    /// of the interval of a difference.
    fn change(&self, before: Estimate, after: Estimate) -> Option<(String, &'static str)> {
        let of = if self.is_percentage() { points_text } else { change_text };
        let text = of(before.value, after.value)?;
        let chance = libm::hypot(before.half_width, after.half_width);
        let within = !text.starts_with('±') && libm::fabs(after.value - before.value) <= chance;
        Some((text, if within { ", within intervals" } else { "" }))
    }

    fn is_percentage(&self) -> bool {
        self.label.contains('%')
    }
}

/// For the subtitle where Transfers are read back.
const READ_BACK: &str = "what is read back after it was written is on the link, and is not counted";

/// Whether Transfers of a flow are read back: that is a test of the memory, and nobody's payload.
fn reads_back(report: &VariantReport, flow: &FlowReport) -> bool {
    let index = report.number(&flow.name);
    let totals = index.and_then(|index| report.run.outcome.totals.of_flow::<TransferTotals>(index));
    totals.is_some_and(|totals| totals.stats.read_back_octets > 0)
}

/// Over which time the rate of a flow that ends is.
const ENDS: &str = "flows that end: over the time from the first start to the last completion; to the last \
                    try where something never arrives, to the end of the run where something is under way";

pub(super) const GOODPUT: Metric = Metric {
    title: "Goodput",
    subtitle: "octets delivered, once to each receiver",
    label: "goodput (Gb/s)",
    most: None,
    // the same words for all flows that end: those that are complete have no last try
    trap: |report, flow| match flow.round_trips {
        _ if reads_back(report, flow) => Some(READ_BACK),
        Some(_) if !flow.carries_nothing() => Some("octets of answers count as those of requests do"),
        _ => flow.rate_span.map(|_| ENDS),
    },
    missing: "-: there is none",
    law: |_| None,
    level: MOVING,
    left_out: None,
    course: Some(Quantity::Payload),
    of: |flow| flow.goodput_gbps,
};

pub(super) const ACCEPTED: Metric = Metric {
    title: "Accepted load",
    subtitle: "share of the injection link, mean over the sources of a flow without end",
    label: "accepted load (% of the link of a source)",
    most: Some(100.0),
    trap: |_, flow| (retry_share(flow) > 0.0).then_some("with segments that hosts refused by RETRY"),
    missing: "-: there is none",
    law: |_| None,
    level: ENDLESS,
    left_out: Some((MOVING, "not shown, since what it has to send ends")),
    course: Some(Quantity::Load),
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
    trap: |_, _| None,
    missing: "-: there is none",
    law: saturation_law,
    level: PACKETS,
    left_out: None,
    course: Some(Quantity::Load),
    of: |flow| flow.per_slot.unwrap_or(Estimate { value: 0.0, half_width: f64::NAN }),
};

const PROTOCOLS: Level = Level { of: |flow| flow.protocol.as_ref().map(|_| flow), ..PACKETS };

/// Likewise those that somebody asks something of.
const CARRYING: Level =
    Level { of: |flow| flow.protocol.as_ref().filter(|_| moves(flow)).map(|_| flow), ..PACKETS };

pub(super) const EFFICIENCY: Metric = Metric {
    title: "Efficiency",
    subtitle: "octets that users got, each once, in all that their flow sent, delimiters included",
    label: "payload (% of octets on the link)",
    most: Some(100.0),
    trap: |report, flow| {
        if reads_back(report, flow) {
            return Some(READ_BACK);
        }
        let index = report.number(&flow.name)?;
        let translated = report.run.outcome.totals.of_flow::<TranslatorTotals>(index)?;
        let some = !translated.translators.is_empty();
        some.then_some(
            "what a translator passes on is sent once more, and counts on each link that it is sent on",
        )
    },
    missing: "-: switches copy its packets, so one that is sent once arrives several times",
    law: |_| None,
    level: CARRYING,
    left_out: None,
    course: None,
    of: |flow| counted(flow, efficiency),
};

pub(super) const RETRY: Metric = Metric {
    title: "RETRY",
    subtitle: "share of packets for which the host had no place",
    label: "answered by RETRY (% of packets that want a response)",
    most: Some(100.0),
    trap: |_, flow| {
        let answered = flow.round_trips.is_some();
        answered.then_some(
            "packets of answers count as well: where hosts take these, more of the requests are refused",
        )
    },
    missing: "-: there is none",
    law: |_| None,
    level: PROTOCOLS,
    left_out: None,
    course: None,
    of: |flow| counted(flow, retry_share),
};

const TRANSFERRING: Level = Level { of: |flow| flow.transfer_gbps.map(|_| flow), ..PACKETS };

pub(super) const TRANSFERS: Metric = Metric {
    title: "Payload rate of Scheduled Transfers",
    subtitle: "from the first beginning until all are complete, or the run is over",
    label: "payload rate (Gb/s)",
    most: None,
    trap: |_, _| None,
    missing: "-: no Transfer has begun",
    law: |_| None,
    level: TRANSFERRING,
    left_out: None,
    course: None,
    of: |flow| Estimate { value: flow.transfer_gbps.unwrap_or(f64::NAN), half_width: f64::NAN },
};

/// Packets per slot and source that leave one switch whose inputs have a FIFO each, when every source always
/// has a packet for a port drawn anew: Karol, Hluchyj and Morgan 1987, table I; from nine ports on 1/4N above
/// the limit for many, 2 - sqrt(2), which is what simulations of it come to.
fn saturation_law(report: &VariantReport) -> Option<f64> {
    const BY_PORTS: [f64; 8] = [1.0, 0.75, 0.6825, 0.6553, 0.6399, 0.6302, 0.6234, 0.6184];
    let config = &report.run.config;
    let mut ports = 0;
    let mut switches = config.devices.iter().filter_map(|device| match &device.model {
        DeviceModel::Switch(switch) => Some(switch),
        DeviceModel::Endpoint(_) => {
            ports += 1;
            None
        }
    });
    let (only, more) = (switches.next()?, switches.next());
    let sources: Vec<_> = config.all_sources().collect();
    let fits = more.is_none()
        && only.slot.is_some()
        && only.input == InputQueueing::Fifo
        && only.arbitration == Arbitration::Random
        && matches!(only.buffering, Buffering::Direct)
        && sources.len() == ports
        && sources.iter().all(|source| {
            let everywhere = match &source.destinations {
                Destinations::Uniform { ids, except } => ids.len() == ports && except.is_none(),
                _ => false,
            };
            everywhere && matches!(source.arrivals, Arrivals::Saturated { .. })
        });
    let limit = 2.0 - std::f64::consts::SQRT_2 + 0.25 / ports as f64;
    fits.then(|| BY_PORTS.get(ports - 1).copied().unwrap_or(limit))
}

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
    let note = flows_left_out(flows.len(), names.len(), RULE);
    let lawful = reports.iter().any(|report| (metric.law)(report).is_some());
    let keys: Vec<(Key, String)> =
        if lawful { vec![(Key::Line(LAW_STROKE), LAW.to_owned())] } else { Vec::new() };
    let top = 82.0 + legend_height(&keys, PAGE - 2.0 * MARGIN);
    let mut scene = Scene::new(PAGE as u32, (top + height + 60.0) as u32);
    let variant = if let [only] = reports { only.run.name.as_str() } else { "" };
    let bases = baselines(reports);
    let changed = |row: &Row<'_>| {
        let base = bases[row.variant];
        let before = reports[base].flow(&row.flow.name).and_then(metric.level.of).map(metric.of)?;
        let change = metric.change(before, (metric.of)(row.flow))?;
        (row.variant != base).then_some((base, change))
    };
    let compared: BTreeSet<usize> = rows.iter().filter_map(changed).map(|(base, _)| base).collect();
    let points = if metric.is_percentage() { "in percentage points" } else { "" };
    let against = match compared.first() {
        None => String::new(),
        Some(&base) if compared.len() == 1 => {
            let points = if points.is_empty() { String::new() } else { format!(", {points}") };
            format!("(changes against {}{points})", reports[base].run.name)
        }
        Some(_) if points.is_empty() => String::new(),
        Some(_) => format!("changes {points}"),
    };
    let drawn = rows.iter().any(|row| (metric.of)(row.flow).half_width.is_finite());
    let intervals = if drawn { "intervals: 95 %" } else { "" };
    let trap = rows.iter().find_map(|row| (metric.trap)(&reports[row.variant], row.flow)).unwrap_or("");
    let missing = rows.iter().any(|row| !(metric.of)(row.flow).value.is_finite());
    let missing = if missing { metric.missing } else { "" };
    let transient = match metric.course {
        Some(quantity) => steady::means(reports, &flows, quantity),
        None => transient(reports),
    };
    let left = metric.left_out.map_or(String::new(), |(level, why)| {
        let all = flow_names(reports, level);
        let others: Vec<String> =
            all.into_iter().filter(|name| !names.contains(name)).map(Into::into).collect();
        listed(why, LISTED, others.into_iter())
    });
    let subtitle_parts =
        [variant, metric.subtitle, trap, missing, intervals, &against, &left, &transient, &note];
    let more = joined(&subtitle_parts);
    heading(&mut scene, metric.title, &subtitle(caption, &more));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys);
    let label_width = row_label_width(&rows, reports);
    // of several bases each change names its own
    let value_text = |row: &Row<'_>| {
        let change = match changed(row) {
            None => String::new(),
            Some((_, (change, within))) if compared.len() == 1 => format!("  ({change}{within})"),
            Some((base, (change, within))) => {
                format!("  ({change} against {}{within})", shorten_name(&reports[base].run.name, LABEL, BASE))
            }
        };
        format!("{}{change}", three_digits((metric.of)(row.flow).value))
    };
    let beside = rows.iter().map(|row| text_width(&value_text(row), LABEL)).fold(0.0, f64::max);
    let left = MARGIN + label_width + 10.0;
    let reach =
        |shown: Estimate| shown.value + if shown.half_width.is_finite() { shown.half_width } else { 0.0 };
    let high = rows.iter().map(|row| (metric.of)(row.flow).value).fold(0.0, f64::max);
    let widest = rows.iter().map(|row| reach((metric.of)(row.flow))).fold(high, f64::max);
    let panel = Panel {
        x: left,
        y: top,
        // room for the value behind the longest bar
        width: PAGE - MARGIN - left - (beside + 10.0).max(130.0),
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
        if let Some(law) = (metric.law)(&reports[row.variant]) {
            let (x, _) = panel.place((law, 0.0));
            for (from, to) in [(y - 2.0, y + 4.0), (y + BAR - 4.0, y + BAR + 2.0)] {
                scene.line(&[(x, from), (x, to)], INK, 3);
            }
            end = end.max(x);
        }
        if shown.half_width.is_finite() && shown.half_width > 0.0 {
            let (from, _) = panel.place(((shown.value - shown.half_width).max(0.0), 0.0));
            let (to, _) = panel.place((shown.value + shown.half_width, 0.0));
            let middle = y + BAR / 2.0;
            // An interval that leaves the scale has no end there; its value needs the room behind.
            let edge = panel.x + panel.width;
            // nobody would see the half of it that lies on a dark bar
            let inside = if is_light(stroke(row.variant).color) { INK } else { WHITE };
            scene.line(&[(from, middle), (x, middle)], inside, 1);
            scene.line(&[(x, middle), (to.min(edge), middle)], INK, 1);
            for (x, color) in [(from, inside), (to, INK)].into_iter().filter(|end| end.0 <= edge) {
                scene.line(&[(x, middle - 4.0), (x, middle + 4.0)], color, 1);
            }
            end = to.min(edge).max(end);
        }
        scene.value((end + 7.0, y + BAR / 2.0 + 4.6), &value_text(row), LABEL);
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
        let text = shorten_name(&group_heading(row, reports), PANEL, width);
        scene.text((MARGIN, y - 8.0), &text, PANEL, Align::Left);
    }
    let name = shorten_name(&row_name(row, reports), LABEL, width);
    scene.text((left - 10.0, y + BAR / 2.0 + 4.6), &name, LABEL, Align::Right);
}

/// A bar below this share of the longest is too short to see its parts: its value stands beside it, and the
/// panel of shares has the parts.
const SHORT_SHARE: f64 = 0.05;
/// From panel to panel of a decomposition: half of the last text of one axis and of the first of the
/// next must not read as one number.
const GAP: f64 = 44.0;
/// A smaller share of a bar is less than a pixel.
const SEEN_SHARE: f64 = 0.003;

/// Time without the source queue that is this share longer than network latency is worth a word.
const BEFORE_NETWORK: f64 = 0.01;

/// Whether packets wait for the link of their source for other causes than each other: what is left without
/// the source queue is more than network latency then.
fn before_network(rows: &[Row<'_>], without_queue: &dyn Fn(&Row<'_>) -> f64) -> &'static str {
    let more = |row: &Row<'_>| {
        let network = row.flow.network.mean.value;
        network > 0.0 && without_queue(row) > (1.0 + BEFORE_NETWORK) * network
    };
    match rows.iter().any(more) {
        true => {
            "without the source queue is more than network latency: a packet that is next may still wait for \
             the link of its source"
        }
        false => "",
    }
}

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
    let total = |row: &Row<'_>| -> f64 { used.iter().map(|cause| row.flow.mean_part_ps(*cause)).sum() };
    // Above saturation the source queue flattens everything else, so what is left of the time without it has
    // a panel of its own.
    let waits = |row: &Row<'_>| row.flow.share(Cause::SourceQueue) >= 0.5;
    let apart = !level.with_source_queue && rows.iter().any(waits);
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
    let note = flows_left_out(flows.len(), names.len(), RULE);
    let variant = if let [only] = reports { only.run.name.as_str() } else { "" };
    let (contents, quantity) = (contents(reports, &flows, level), Quantity::Latency(level));
    let unlike = unlike(reports, &flows, level);
    let over = format!("mean over the {}", ended(reports, level));
    let is_short = |row: &Row<'_>| sum(row) > 0.0 && sum(row) < SHORT_SHARE * high;
    let beside = if apart { before_network(&rows, &sum) } else { "" };
    let flat = apart && rows.iter().any(is_short);
    let flat = if flat { "bars that are too short to read have their value beside them" } else { "" };
    let transient = steady::means(reports, &flows, quantity);
    let more =
        joined(&[variant, &over, &contents, level.trap, beside, &unlike, flat, &thin, &transient, &note]);
    let title = format!("Where the time of {} goes{}", plural(reports, level), not_of(reports, level));
    heading(&mut scene, &title, &subtitle(caption, &more));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys);
    let label_width = row_label_width(&rows, reports);
    let left = MARGIN + label_width + 10.0;
    // Who is left behind is as little in a mean as who never comes.
    let whole = |row: &Row<'_>| {
        let report = &reports[row.variant];
        report.flow(&row.flow.name).map(|flow| come_share(report, flow, level))
    };
    let arrived: Vec<f64> = rows.iter().map(|row| whole(row).unwrap_or(1.0)).collect();
    // what would read 100.0 % says nothing
    let is_told = |share: f64| share < 0.9995;
    let short = arrived.iter().any(|share| is_told(*share));
    let unit = TimeUnit::for_max(high);
    let longest = rows.iter().map(total).fold(0.0, f64::max);
    let whole_unit = TimeUnit::for_max(longest);
    // What a reviewer decides on is the whole, so it comes first, with its value.
    let means: Vec<String> = rows
        .iter()
        .zip(&arrived)
        .map(|(row, arrived)| {
            let mean = time_text(row.flow.latency.mean.value);
            let some = is_told(*arrived) && row.flow.delivered.packets > 0;
            if some { format!("{mean}, of {:.1} %", 100.0 * arrived) } else { mean }
        })
        .collect();
    let beside = means.iter().map(|mean| text_width(mean, TICK)).fold(0.0, f64::max) + 6.0;
    let panels = if apart { 3.0 } else { 2.0 };
    let room = PAGE - MARGIN - left - beside - GAP * (panels - 1.0);
    let width = room / panels;
    let panel = |x: f64, horizontal: Axis| Panel {
        x,
        y: top,
        width,
        height,
        horizontal,
        vertical: Axis::exactly(1.0),
    };
    let whole = panel(left, Axis::from_zero(whole_unit.scale(longest)));
    let rest = panel(left + width + beside + GAP, Axis::from_zero(unit.scale(high)));
    let shares = panel(PAGE - MARGIN - width, Axis::exactly(100.0));
    let of_those = if short { "whole latency, of those that arrived" } else { "whole latency" };
    let mut columns = vec![(&whole, width + beside, of_those, format!("mean ({})", whole_unit.symbol))];
    if apart {
        columns.push((&rest, width + GAP, "without the source queue", format!("mean ({})", unit.symbol)));
    }
    columns.push((&shares, width, "shares of the whole", "share of latency (%)".to_string()));
    for (panel, room, heading, label) in columns {
        panel.vertical_grid(&mut scene, true);
        scene.line(&[(panel.x, panel.y), (panel.x, panel.y + height)], GREY, 1);
        let heading = shorten(heading, PANEL, room - 8.0);
        scene.text((panel.x, panel.y - 8.0), &heading, PANEL, Align::Left);
        let middle = panel.x + panel.width / 2.0;
        scene.text((middle, top + height + 38.0), &label, LABEL, Align::Center);
    }
    for ((row, y), mean) in rows.iter().zip(&places).zip(&means) {
        let y = top + y;
        row_label(&mut scene, row, reports, left, y, label_width);
        let stack = |scene: &mut Scene, panel: &Panel, unit: TimeUnit, causes: &[Cause]| {
            let mut at = 0.0;
            for cause in causes {
                let next = at + unit.scale(row.flow.mean_part_ps(*cause));
                segment(scene, panel, (at, next), y, *cause, "");
                at = next;
            }
            panel.place((at, 0.0)).0 + 6.0
        };
        let end = stack(&mut scene, &whole, whole_unit, &used);
        scene.value((end, y + BAR / 2.0 + 4.6), mean, TICK);
        if apart {
            let end = stack(&mut scene, &rest, unit, &shown);
            // of a bar that is flattened by others
            if is_short(row) {
                scene.value((end, y + BAR / 2.0 + 4.6), &time_text(sum(row)), TICK);
            }
        }
        let mut at = 0.0;
        for cause in &used {
            let share = 100.0 * row.flow.share(*cause);
            segment(&mut scene, &shares, (at, at + share), y, *cause, &format!("{share:.0}"));
            at += share;
        }
    }
    Some(scene)
}

/// Whether dark marks are seen on this colour.
fn is_light(RGBColor(r, g, b): RGBColor) -> bool {
    299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b) > 140_000
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
        let look = Type { color: if is_light(color) { INK } else { WHITE }, ..TICK };
        scene.text(((x0 + x1) / 2.0, y + BAR / 2.0 + 4.2), text, look, Align::Center);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 20.0 and 20.4 with half widths of 0.3 and 0.4 have a difference of 0.4 in 0.5, and 20.0 and
    /// 20.6 one of 0.6 in 0.5; what has no interval is as different as it is.
    #[test]
    fn differences_within_intervals_are_told() {
        let of = |value, half_width| Estimate { value, half_width };
        let told = |after| ACCEPTED.change(of(20.0, 0.3), after).expect("both are known");
        let law = |text: &str, within| (text.to_owned(), within);
        assert_eq!(told(of(20.4, 0.4)), law("+0.4 points", ", within intervals"));
        assert_eq!(told(of(20.6, 0.4)), law("+0.6 points", ""));
        assert_eq!(told(of(20.4, f64::NAN)), law("+0.4 points", ""));
        assert_eq!(told(of(20.01, 0.4)), law("±0 points", ""));
        let goodput = GOODPUT.change(of(20.0, 0.3), of(20.4, 0.4));
        assert_eq!(goodput, Some(law("+2 %", ", within intervals")));
    }
}
