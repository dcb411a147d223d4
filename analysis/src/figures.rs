//! Figures of a run: the same scenes as SVG (the same bytes everywhere) and PNG.
//!
//! The colours are those of Okabe and Ito, which colour-blind readers can tell apart; lines differ in dashes
//! and markers as well. What does not fit on a page is left out with a note; the CSV series have everything.

use crate::axes::{
    Axis, Key, LABEL, MARGIN, PAGE, PANEL, Panel, SHADE, Stroke, TICK, Ticks, coinciding, foot, heading,
    legend, legend_height, shorten, shorten_name, stroke,
};
use crate::collect::{Bin, Spread};
use crate::level::{Level, MESSAGES, PACKETS, TRIPS, come_share, left_share, never_share, oldest};
use crate::num::{TimeUnit, count_text, counted_text, gbps, ratio, three_digits, time_text};
use crate::protocol;
use crate::report::{FlowReport, VariantReport, retry_share};
use crate::scene::{Align, Scene, text_width};
use bars::{ACCEPTED, EFFICIENCY, GOODPUT, PER_SLOT, RETRY, TRANSFERS, bars, decomposition};
use models::stats::TranslatorTotals;
use std::collections::BTreeSet;
use steady::Quantity;

mod bars;
mod conduits;
mod detection;
mod notes;
mod steady;
mod things;
mod timeouts;
mod victims;

/// Flows shown as lines or panels.
const FLOWS_SHOWN: usize = 6;
/// Variants shown as panels of their own.
const PANELS_SHOWN: usize = 30;
/// Queues shown as lines.
const QUEUES_SHOWN: usize = 7;
/// Seeds at the foot of a figure.
const SEEDS_SHOWN: usize = 4;
/// Points of a curve over time.
const POINTS: usize = 64;
/// As many are left where packets are long.
const LEAST_POINTS: u64 = 12;
/// A mean of a rate is over so many of the longest packets at least, if that leaves enough points: packets
/// count where they end, so one more or less is in it.
const PACKETS_OF_MEAN: u64 = 20;

/// What stands above every figure.
#[derive(Clone, Debug)]
pub struct Caption {
    /// Name or title of the scenario.
    pub scenario: String,
    /// What else the reader must know, for example a scaled protocol clock; may be empty.
    pub note: String,
    /// What made it, for the foot of each figure: see [`stamp`]; may be empty.
    pub stamp: String,
}

/// One line at the foot of every figure: what it was made of, and by which version of the program.
pub fn stamp(name: &str, version: &str, reports: &[VariantReport]) -> String {
    let seeds = seeds_text(reports.iter().map(|report| report.run.config.seed));
    joined(&[name, &seeds, &format!("riosim {version}")])
}

/// The seeds of variants, each once.
pub(crate) fn seeds_text(all: impl Iterator<Item = u64>) -> String {
    let mut seeds: Vec<u64> = Vec::new();
    for seed in all {
        if !seeds.contains(&seed) {
            seeds.push(seed);
        }
    }
    match seeds[..] {
        [] => String::new(),
        [seed] => format!("seed {seed}"),
        [first, .., last] if seeds.len() > SEEDS_SHOWN => {
            format!("{} seeds from {first} to {last}, in the order of variants", seeds.len())
        }
        ref all => format!("seeds {}", all.iter().map(u64::to_string).collect::<Vec<String>>().join(", ")),
    }
}

impl Caption {
    /// The title of a scenario, what these runs add to it, and their [`stamp`].
    pub fn new(scenario: &str, stamp: String, reports: &[VariantReport]) -> Self {
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
        Self { scenario: scenario.into(), note, stamp }
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
        let scene = row.scene(caption, reports)?;
        Some(Figure { name: row.name, svg: scene.to_svg(), png: scene.to_png() })
    };
    ROWS.iter().filter_map(draw).collect()
}

/// One of these figures, as an SVG file. None: there is nothing to show.
///
/// # Panics
/// If no figure has this name.
#[must_use]
pub fn svg(caption: &Caption, reports: &[VariantReport], name: &str) -> Option<String> {
    let row = ROWS.iter().find(|row| row.name == name).expect("a figure has this name");
    row.scene(caption, reports).map(|scene| scene.to_svg())
}

/// Packets from their first bit on the injection link.
const ON_LINKS: Level = Level { since_creation: false, ..PACKETS };

/// Many of this level, by the name that a title gives them, with how they end.
fn ended(reports: &[VariantReport], level: Level) -> String {
    format!("{} {}", plural(reports, level), level.ends)
}

/// A figure: its file name without extension, what it shows, and the drawing; `None` if these runs have
/// nothing of it to show.
struct Row {
    name: &'static str,
    about: &'static str,
    draw: fn(&Caption, &[VariantReport]) -> Option<Scene>,
}

impl Row {
    /// The drawing, with its foot.
    fn scene(&self, caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
        let mut scene = (self.draw)(caption, reports)?;
        foot(&mut scene, &caption.stamp);
        Some(scene)
    }
}

const fn row(
    name: &'static str,
    about: &'static str,
    draw: fn(&Caption, &[VariantReport]) -> Option<Scene>,
) -> Row {
    Row { name, about, draw }
}

/// Every figure of a run, in the order of its report.
static ROWS: [Row; 21] = [
    row(
        "times",
        "what users of protocols wait for, and how long it takes until what is set up is there: Transfers, \
         PDUs, programs, connections, conduits, registers, fabrics",
        things::taken,
    ),
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
            let title = "Latency of packets from creation to last bit";
            let creation = Quantity::Latency(PACKETS);
            latency_cdf(caption, reports, title, creation, Shape::Distribution)
        },
    ),
    row("network_latency_cdf", "likewise from the first bit on the injection link", |caption, reports| {
        let title = "Network latency (from the first bit on the injection link)";
        latency_cdf(caption, reports, title, Quantity::Network, Shape::Distribution)
    }),
    row(
        "latency_tail",
        "share of round trips, else of messages, else of packets, that take longer, on logarithmic axes",
        tails,
    ),
    row("decomposition", "where the time of packets goes, cause by cause", |caption, reports| {
        decomposition(caption, reports, PACKETS)
    }),
    row("message_cdf", "distribution of the latency of messages", |caption, reports| {
        let title = format!("Latency of {} from protocol to protocol", plural(reports, MESSAGES));
        latency_cdf(caption, reports, &title, Quantity::Latency(MESSAGES), Shape::Distribution)
    }),
    row("message_decomposition", "where the time of messages goes", |caption, reports| {
        decomposition(caption, reports, MESSAGES)
    }),
    row("round_trip_cdf", "distribution of round trips", |caption, reports| {
        let title = "Round trips from request to response";
        latency_cdf(caption, reports, title, Quantity::Latency(TRIPS), Shape::Distribution)
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
    row(
        "victims",
        "what each flow that is not hot gets and how long it takes, beside the hot flows, variant by variant",
        victims::victims,
    ),
    row(
        "heartbeat_timeouts",
        "LINX connections lost although the peer lived, by the length of a stall",
        timeouts::timeouts,
    ),
    row(
        "heartbeat_detection",
        "the same, and the time to notice a crash, by the period of heartbeats",
        detection::detection,
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
        things::counted,
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

/// So many lines of a distribution can be told apart. Of more variants each flow has several panels.
const LINES_SHOWN: usize = 7;

/// Of the variants that have something of this level.
fn variant_keys(reports: &[VariantReport], level: Level) -> Vec<(Key, String)> {
    reports
        .iter()
        .enumerate()
        .filter(|(_, report)| level.is_in(std::slice::from_ref(report)))
        .map(|(index, report)| (Key::Line(stroke(index)), report.run.name.clone()))
        .collect()
}

/// How a distribution is drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// The share that takes at most so long: half of it is where the median is.
    Distribution,
    /// The share that takes longer, logarithmic: one in a thousand is as far from one in a hundred as that
    /// is from one in ten.
    Tail,
}

/// Tails of what users of the flows wait for.
fn tails(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let level = [TRIPS, MESSAGES].into_iter().find(|level| level.is_in(reports)).unwrap_or(PACKETS);
    let what = plural(reports, level);
    let title = match level.noun {
        "packet" => format!("Tails of the latency of {what}, from creation to last bit"),
        "message" => format!("Tails of the latency of {what}, from protocol to protocol"),
        _ => format!("Tails of {what}, from request to response"),
    };
    latency_cdf(caption, reports, &title, Quantity::Latency(level), Shape::Tail)
}

fn latency_cdf(
    caption: &Caption,
    reports: &[VariantReport],
    title: &str,
    quantity: Quantity,
    shape: Shape,
) -> Option<Scene> {
    let (level, of): (Level, fn(&FlowReport) -> &Spread) = match quantity {
        Quantity::Latency(level) => (level, |flow| &flow.spread.latency),
        _ => (ON_LINKS, |flow| &flow.spread.network),
    };
    if !level.is_in(reports) {
        return None;
    }
    let names = told(reports, level);
    let shown = &worth_most(reports, &names)[..];
    let has_line = |spread: &Spread| match shape {
        Shape::Distribution => !spread.histogram.is_empty(),
        Shape::Tail => spread.histogram.len() >= LEAST_OF_TAIL,
    };
    let few = if shape == Shape::Tail { too_few(reports, shown, level, &of) } else { String::new() };
    let is_drawn = |report: &VariantReport, name: &str| {
        report.flow(name).and_then(level.of).is_some_and(|flow| has_line(of(flow)))
    };
    if !few.is_empty() && !shown.iter().any(|name| reports.iter().any(|report| is_drawn(report, name))) {
        return None;
    }
    // Each flow has its own range: a victim's nanoseconds would vanish on the scale of a hot flow's
    // milliseconds.
    let range = |name: &str, width: f64| {
        let (mut low, mut high, mut step) = (f64::INFINITY, 0.0f64, 0.0f64);
        let spreads = reports.iter().filter_map(|report| report.flow(name).and_then(level.of)).map(&of);
        for spread in spreads.filter(|spread| !spread.histogram.is_empty()) {
            // One packet in ten thousand is not worth a decade of the axis.
            low = low.min(spread.quantile(0.0001).map_or(low, |ps| ps as f64));
            let last = if shape == Shape::Tail { 1.0 } else { 0.9999 };
            // all of the bucket, as it stands where it ends
            let end = |ps: u64| spread.histogram.highest_equivalent(ps) as f64;
            high = high.max(spread.quantile(last).map_or(high, end));
            step = step.max(bucket(spread, high));
        }
        // on an axis of few buckets two times that differ by less than one would be drawn apart
        let least = step * width / SEEN_WIDTH;
        let more = (least - (high - low)).max(0.0) / 2.0;
        if high <= 2.0 * low { Axis::times(low - more, high + more) } else { Axis::times(low, high) }
    };
    let vertical = match shape {
        Shape::Distribution => Axis::exactly(100.0),
        Shape::Tail => {
            // down to what the most that any of them has let see
            let spreads = reports.iter().flat_map(|report| &report.flows).filter_map(level.of).map(&of);
            let most = spreads.map(|spread| spread.histogram.len()).max().unwrap_or(0).max(LEAST_OF_TAIL);
            let low = libm::pow(10.0, libm::floor(libm::log10(100.0 * least_tail(most as f64))));
            Axis { low, high: 100.0, log: true, ticks: Ticks::Plain }
        }
    };
    let there: Vec<usize> =
        (0..reports.len()).filter(|variant| level.is_in(&reports[*variant..=*variant])).collect();
    let parts = there.len().div_ceil(LINES_SHOWN).max(1);
    let groups: Vec<&[usize]> = there.chunks(there.len().div_ceil(parts).max(1)).collect();
    let is_filled =
        |name: &str, group: &[usize]| group.iter().any(|variant| is_drawn(&reports[*variant], name));
    // A panel is named by the first and the last that has a line in it.
    let named = |name: &str, group: &[usize]| {
        let has = |variant: &&usize| is_filled(name, &[**variant]);
        let (first, last) = (group.iter().find(has), group.iter().rev().find(has));
        match (first, last) {
            (Some(first), Some(last)) if first != last => {
                format!("{} to {}", reports[*first].run.name, reports[*last].run.name)
            }
            (Some(only), _) => reports[*only].run.name.clone(),
            _ => String::new(),
        }
    };
    let every = || shown.iter().flat_map(|name| groups.iter().map(move |group| (*name, *group)));
    // Variants in which a flow is not, or nothing of it arrives, have no panel, unless all are so.
    let any = |name: &str| groups.iter().any(|group| is_filled(name, group));
    let kept: Vec<(&str, &[usize])> =
        every().filter(|(name, group)| is_filled(name, group) || !any(name) && group == &groups[0]).collect();
    let panels = || kept.iter().copied();
    let columns = if panels().count() > 1 { 2 } else { 1 };
    let rows = panels().count().max(1).div_ceil(columns);
    let keys = variant_keys(reports, level);
    let (gap, plot) = (74.0, if columns == 1 { 340.0 } else { 230.0 });
    // room for the label and the longest text of a tick, left of each panel
    let texts = vertical.marks().into_iter().map(|(_, text)| text_width(&text, TICK));
    let beside = texts.fold(0.0, f64::max) + 34.0;
    let (left, gap) = (MARGIN + beside.max(58.0), beside.max(gap));
    let width = (PAGE - MARGIN - left - gap * (columns - 1) as f64) / columns as f64;
    let panel_title = |(name, group): (&str, &[usize])| {
        let flow = format!("flow {name}");
        if group.len() < 2 || groups.len() < 2 {
            return shorten_name(&flow, PANEL, width);
        }
        let these = named(name, group);
        let whole = format!("{flow}, {these}");
        match text_width(&whole, PANEL) <= width {
            true => whole,
            false => format!("{}\n{}", shorten_name(&flow, PANEL, width), shorten(&these, PANEL, width)),
        }
    };
    let titles: Vec<String> = panels().map(panel_title).collect();
    // the second line of a title stands where the legend would end
    let high = if titles.iter().any(|title| title.contains('\n')) { 14.0 } else { 0.0 };
    let top = 66.0 + legend_height(&keys, PAGE - 2.0 * MARGIN) + high;
    let panel_at = |index: usize, y: f64| Panel {
        x: left + (index % columns) as f64 * (width + gap),
        y,
        width,
        height: plot,
        horizontal: range(kept[index].0, width),
        vertical,
    };
    let curves = |(name, group): (&str, &[usize]), panel: &Panel| -> Vec<(usize, Curve)> {
        let curve = |variant: &usize| {
            let report = &reports[*variant];
            let spread = report.flow(name).and_then(level.of).map(&of).filter(|spread| has_line(spread))?;
            let arrived = report.flow(name).map_or(1.0, |flow| come_share(report, flow, level));
            let points: Curve = match shape {
                Shape::Distribution => {
                    cdf(spread, panel).into_iter().map(|(ps, share)| (ps, share * arrived)).collect()
                }
                Shape::Tail => tail(spread, arrived, panel),
            };
            Some((*variant, points))
        };
        group.iter().filter_map(curve).collect()
    };
    // how high a panel stands does not matter to what is in it
    let drawn: Vec<Vec<(usize, Curve)>> =
        panels().enumerate().map(|(index, these)| curves(these, &panel_at(index, 0.0))).collect();
    // which lines lie on one another is said below their panel, in as many lines as it takes
    let hidden: Vec<Vec<String>> = drawn
        .iter()
        .enumerate()
        .map(|(index, curves)| {
            let panel = panel_at(index, 0.0);
            let place = |points: &Curve| points.iter().map(|point| panel.place(*point)).collect();
            let places: Vec<(usize, Curve)> =
                curves.iter().map(|(variant, points)| (*variant, place(points))).collect();
            hidden(reports, &places, width)
        })
        .collect();
    let below = hidden.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
    let pitch = plot + 92.0 + NOTE_PITCH * below as f64;
    let mut scene = Scene::new(PAGE as u32, (top + rows as f64 * pitch + 8.0) as u32);
    let note = flows_left_out(shown.len(), names.len(), WORTH_MOST);
    let flows = shown.iter().flat_map(|name| reports.iter().filter_map(|one| Some((one, one.flow(name)?))));
    let short = flows.into_iter().any(|(report, flow)| come_share(report, flow, level) < 1.0);
    let (short, share) = match shape {
        Shape::Distribution => (
            if short {
                "what never arrives, or falls behind to the end of a run, is missing to 100 %"
            } else {
                ""
            },
            format!("share of {} within a time", ended(reports, level)),
        ),
        Shape::Tail => (
            if short {
                "what never arrives, or falls behind to the end of a run, takes longer than any time"
            } else {
                ""
            },
            format!(
                "share of {} that take longer than a time, logarithmic, down to where fewer than four \
                 are left",
                plural(reports, level)
            ),
        ),
    };
    let (contents, unlike) = (contents(reports, shown, level), unlike(reports, shown, level));
    let unsteady = steady::times(reports, shown, quantity);
    let waiting = still_under_way(reports, shown, level);
    let unmeasured = unmeasured(reports, shown, level);
    let lost = never_there(reports, shown, level);
    let parts = [&share, &contents, short, &few, &lost, &waiting, &unlike, &unsteady, &unmeasured, &note];
    let more = joined(&parts);
    heading(&mut scene, &format!("{title}{}", not_of(reports, level)), &subtitle(caption, &more));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys);
    let what = plural(reports, level);
    // the title says of which protocol
    let short = what.split(" of ").next().unwrap_or(&what);
    let label = match shape {
        Shape::Distribution => format!("{short} (%)"),
        Shape::Tail => {
            // longer than the axis it would run over the legend
            let all = format!("{what} that take longer (%)");
            if text_width(&all, LABEL) <= plot { all } else { format!("{short} that take longer (%)") }
        }
    };
    for (index, (name, group)) in panels().enumerate() {
        let panel = panel_at(index, top + (index / columns) as f64 * pitch + 34.0);
        panel.draw(&mut scene, &titles[index], &format!("latency{}", panel.horizontal.scale_word()), &label);
        let mut filled = false;
        for &(variant, ref points) in &drawn[index] {
            let place = group.iter().position(|other| *other == variant).unwrap_or(0);
            filled |= points.len() > 1;
            let phase = 0.2 + place as f64 / group.len() as f64;
            // the tail at 100 % says nothing more, so it carries no markers
            let rise = &points[..points.len().saturating_sub(1)];
            panel.plot(&mut scene, rise, stroke(variant), phase);
            if let [.., a, b] = points[..] {
                let Stroke { color, dash, .. } = stroke(variant);
                scene.dashed(&[panel.place(a), panel.place(b)], color, 2, dash);
            }
        }
        for (line, text) in hidden[index].iter().enumerate() {
            let at = (panel.x, panel.y + panel.height + 52.0 + NOTE_PITCH * line as f64);
            scene.text(at, text, TICK, Align::Left);
        }
        if !filled {
            let middle = (panel.x + panel.width / 2.0, panel.y + panel.height / 2.0);
            let spreads = reports.iter().filter_map(|report| report.flow(name).and_then(level.of)).map(&of);
            let any = spreads.into_iter().any(|spread| !spread.histogram.is_empty());
            let none =
                if any { "too few for a tail".into() } else { format!("no {}", ended(reports, level)) };
            scene.text(middle, &none, TICK, Align::Center);
        }
    }
    Some(scene)
}

/// From line to line of what stands below a panel.
const NOTE_PITCH: f64 = 14.0;

/// Lines of text of this width that say which lines of a panel lie on one another: only the last of them is
/// seen. Empty if none do.
fn hidden(reports: &[VariantReport], lines: &[(usize, Curve)], width: f64) -> Vec<String> {
    let groups = coinciding(lines);
    if groups.is_empty() {
        return Vec::new();
    }
    let names = |group: &Vec<usize>| {
        let names: Vec<&str> = group.iter().map(|variant| reports[*variant].run.name.as_str()).collect();
        names.join(" = ")
    };
    let text = format!("one line: {}", groups.iter().map(names).collect::<Vec<String>>().join("; "));
    let mut texts: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match texts.last_mut() {
            Some(last) if text_width(&format!("{last} {word}"), TICK) <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => texts.push(word.to_owned()),
        }
    }
    texts.iter().map(|text| shorten(text, TICK, width)).collect()
}

/// Many of what this level is about: of messages that carry those of a protocol, what they are.
fn plural(reports: &[VariantReport], level: Level) -> String {
    let flows = reports.iter().flat_map(|report| &report.flows).filter(|flow| (level.of)(flow).is_some());
    let own = |flow: &FlowReport| flow.above.filter(|_| level.noun == "message").map(|above| above.carries);
    let what: BTreeSet<Option<&str>> = flows.map(own).collect();
    match what.iter().collect::<Vec<_>>()[..] {
        [Some(carries)] => (*carries).to_owned(),
        [] | [None] => format!("{}s", level.noun),
        // frames of one protocol and messages of another
        _ => {
            let word = |carries: &Option<&str>| {
                let all = carries.unwrap_or("messages");
                all.split(' ').next().unwrap_or(all).to_owned()
            };
            let words: BTreeSet<String> = what.iter().map(word).collect();
            format!("{} of protocols", words.into_iter().collect::<Vec<String>>().join(" and "))
        }
    }
}

/// What users of the flows wait for, if it is not what this level shows.
fn waited_for(reports: &[VariantReport], level: Level) -> Vec<&str> {
    let flows = reports.iter().flat_map(|report| &report.flows).filter(|flow| (level.of)(flow).is_some());
    let above = flows.filter(|flow| flow.above.is_some() && level.noun != "round trip");
    let units: BTreeSet<&str> = above.map(|flow| flow.books.unit).collect();
    units.into_iter().filter(|unit| !unit.is_empty()).collect()
}

/// For the title of what packets or messages do: what users of the flows wait for, if it is not these. The
/// variant with the fastest frames need not have the fastest Transfers. Of several such things, or where
/// what is drawn is called as they are, a caption speaks ([`others_wait`]).
fn not_of(reports: &[VariantReport], level: Level) -> String {
    match waited_for(reports, level)[..] {
        [unit] if !plural(reports, level).contains(unit) => format!(", not of {unit}"),
        _ => String::new(),
    }
}

/// For a caption: what users wait for, where the title does not say it.
fn others_wait(reports: &[VariantReport], level: Level) -> String {
    let units = waited_for(reports, level);
    match units.is_empty() || !not_of(reports, level).is_empty() {
        true => String::new(),
        false => format!("users wait for {} of their own, not for these", units.join(" or ")),
    }
}

/// What packets and messages of protocols are, where they are not what users of flows see; what of them
/// is not shown, and what of the time of users is not in them.
fn carried(reports: &[VariantReport], level: Level) -> String {
    let (what, lost) = (carried_by(reports, level), notes::translated(reports, level));
    joined(&[&what, notes::permissions(reports, level), &lost])
}

/// What messages are, where they are not what users of flows see, and what of them is not shown.
fn carried_by(reports: &[VariantReport], level: Level) -> String {
    let flows = || {
        let flows = reports.iter().flat_map(|report| &report.flows);
        flows.filter(|flow| level.noun == "message" && (level.of)(flow).is_some())
    };
    let what: BTreeSet<&str> =
        flows().map(|flow| flow.above.map_or("messages", |above| above.carries)).collect();
    let what_is_one = what.len() == 1;
    let mut text = match what.iter().collect::<Vec<&&str>>()[..] {
        [] | [&"messages"] => return String::new(),
        // the title says it
        [only] => (*only).to_owned(),
        _ => format!("messages here are {}", what.into_iter().collect::<Vec<&str>>().join(" or ")),
    };
    let [lost, delayed] =
        [0, 1].map(|n| flows().any(|flow| flow.above.is_some_and(|above| above.touched[n] > 0)));
    if what_is_one && !lost && !delayed {
        return String::new();
    }
    if lost {
        text += ", without those that the scenario loses";
    }
    if delayed {
        text += if lost { " and without its delays" } else { ", without delays that the scenario makes" };
    }
    text
}

/// What is in one distribution or mean, and differs: requests and what answers them.
fn answered(reports: &[VariantReport], shown: &[&str], level: Level) -> &'static str {
    let flows = reports.iter().flat_map(|report| &report.flows);
    let mut flows = flows.filter(|flow| shown.contains(&flow.name.as_str()) && (level.of)(flow).is_some());
    let both = |flow: &FlowReport| match level.noun {
        "packet" => flow.protocol.is_some_and(|stats| stats.responses > 0 && stats.requests > 0),
        "message" => flow.round_trips.is_some(),
        _ => false,
    };
    match level.noun {
        _ if !flows.any(both) => "",
        "packet" => "packets are requests and responses alike",
        _ => "messages are requests and answers alike, round trips have a picture of their own",
    }
}

/// For a caption: what a distribution or mean of this level is of, and what users wait for.
fn contents(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let (users, carried) = (others_wait(reports, level), carried(reports, level));
    joined(&[&users, &carried, &mixture(reports, shown, level)])
}

/// For a caption: who is in it too little or too long to be compared.
fn unlike(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let (stuck, overloads) = (stuck(reports, shown, level), unequal_overloads(reports, shown, level));
    joined(&[&stuck, &overloads, &starved(reports, shown, level)])
}

/// Where the oldest that is under way at the end has waited for longer than any that arrived: it may never.
/// The oldest first.
///
/// It is one of what this level shows: a Transfer may be older than any of its frames, and of those in the
/// network it is not known since when.
fn stuck(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let mut all: Vec<(u64, String)> = Vec::new();
    for (report, name) in each(reports, shown) {
        let Some(flow) = report.flow(name) else { continue };
        let Some(longest) = (level.of)(flow).map(|own| own.latency.max) else { continue };
        let waits = oldest(report, flow, level).filter(|ps| *ps as f64 > longest);
        all.extend(waits.map(|ps| (ps, format!("{} {}", place(shown, name, report), time_text(ps as f64)))));
    }
    all.sort_by_key(|(ps, _)| std::cmp::Reverse(*ps));
    listed("some wait for longer than any that arrived", LISTED, all.into_iter().map(|one| one.1))
}

/// Variants without a steady state, for what is counted in all of a run and has no course over time.
fn transient(reports: &[VariantReport]) -> String {
    let unsteady = reports.iter().filter(|report| !report.window.steady);
    let unsteady: Vec<String> = unsteady.map(|report| report.run.name.clone()).collect();
    match !unsteady.is_empty() && unsteady.len() == reports.len() {
        true => UNSTEADY.into(),
        false => listed(UNSTEADY, LISTED, unsteady.into_iter()),
    }
}

/// For a caption.
const UNSTEADY: &str =
    "runs that are not steady as a whole: load or times change, or somebody begins or ends in them";

/// For a caption, where packets or messages of a flow are not all what users wait for, or not of one size,
/// and differ in that from variant to variant: a variant with more small ones looks faster, whatever its data
/// do.
fn mixture(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    /// Shares are in percent.
    type Of = fn(&VariantReport, usize, Level) -> Option<f64>;
    if level.noun == "round trip" {
        return String::new();
    }
    let messages = plural(reports, MESSAGES);
    let messages = messages.split(" of ").next().unwrap_or(&messages);
    let shares: [(String, Of); 2] = [
        ("responses among packets".into(), |report, index, level| {
            let stats = report.flows[index].protocol.as_ref().filter(|_| level.noun == "packet")?;
            let made = stats.requests + stats.responses;
            (made > 0).then(|| 100.0 * ratio(stats.responses.into(), made.into()))
        }),
        (format!("management among {messages}"), |report, index, _| {
            let (other, all) = management(report, index).map(|([other, all], _)| (other, all))?;
            (all > 0).then(|| 100.0 * ratio(other.into(), all.into()))
        }),
    ];
    let extremes = |name: &str, of: &dyn Fn(&VariantReport, usize) -> Option<f64>| {
        let own = |report: &VariantReport| {
            let index = report.number(name)?;
            of(report, index)
        };
        let mut values: Vec<(f64, usize)> =
            reports.iter().enumerate().filter_map(|(n, report)| Some((own(report)?, n))).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some((*values.first()?, *values.last()?))
    };
    let at = |name: &str, variant: usize| place(shown, name, &reports[variant]);
    // some of those sent did not come, and nobody counted which
    let of_sent = |name: &str, variant: usize| {
        let index = reports[variant].number(name);
        let all_came = index.and_then(|index| management(&reports[variant], index)).is_none_or(|told| told.1);
        if all_came { "" } else { " of those sent" }
    };
    let shares = shares.map(|(what, of)| {
        let widest = shown.iter().filter_map(|name| Some((*name, extremes(name, &|r, n| of(r, n, level))?)));
        let widest = widest.max_by(|a, b| (a.1.1.0 - a.1.0.0).total_cmp(&(b.1.1.0 - b.1.0.0)));
        let sent = |name, variant| if what.starts_with("management") { of_sent(name, variant) } else { "" };
        widest.and_then(|(name, (least, most))| match () {
            () if most.0 < 100.0 * MIXED => None,
            // that is no mixture
            () if least.0 > 99.5 => None,
            () if most.0 - least.0 < 100.0 * MIXED => {
                Some(format!("{what} {:.0} %{}", most.0, sent(name, most.1)))
            }
            () => {
                let [from, to] = [least, most]
                    .map(|(share, n)| format!("{share:.0} %{} in {}", sent(name, n), at(name, n)));
                Some(format!("{what} {from}, {to}"))
            }
        })
    });
    let alike = if shares[0].is_some() { "" } else { answered(reports, shown, level) };
    let mut told: Vec<String> = shares.into_iter().flatten().collect();
    let octets = |report: &VariantReport, index: usize| {
        let flow = report.flows[index].protocol.as_ref().and((level.of)(&report.flows[index]))?;
        let Bin { payload, packets, .. } = flow.delivered;
        (packets > 0).then(|| ratio(payload.into(), packets.into()))
    };
    let widest = shown.iter().filter_map(|name| Some((*name, extremes(name, &octets)?)));
    let widest = widest.max_by(|a, b| (a.1.1.0 - a.1.0.0).total_cmp(&(b.1.1.0 - b.1.0.0)));
    told.extend(widest.filter(|(_, (least, most))| most.0 - least.0 > MIXED * most.0).map(
        |(name, (least, most))| {
            let text = |(octets, n): (f64, usize)| format!("{octets:.0} in {}", at(name, n));
            let one = match level.noun {
                "message" if !messages.contains(' ') => messages.trim_end_matches('s'),
                noun => noun,
            };
            format!("mean octets of a {one} {}, {}", text(least), text(most))
        },
    ));
    let all_other = |report: &VariantReport, name: &str| {
        let index = report.number(name)?;
        protocol::management(&report.run, index).map(|[other, all]| all > 0 && other == all)
    };
    let mut other = each(reports, shown).filter_map(|(report, name)| all_other(report, name)).peekable();
    let all_management = other.peek().is_some() && other.all(|is| is);
    let nothing_else = format!("all {messages} are management, none is data");
    let nothing_else = if all_management { nothing_else } else { String::new() };
    let mixed = if told.is_empty() { String::new() } else { format!("a mixture: {}", told.join("; ")) };
    joined(&[&nothing_else, &mixed, alike])
}

/// Of the messages of a flow that arrived those that keep connections or conduits, and all; and whether it is
/// so: else it is that of those that were sent.
///
/// Switches copy data and nothing else, so what arrived more than once is none of the others.
fn management(report: &VariantReport, index: usize) -> Option<([u64; 2], bool)> {
    let [other, sent] = protocol::management(&report.run, index)?;
    let flow = &report.flows[index];
    let stats = flow.protocol?;
    let none_lost = flow.dropped == 0 && flow.left == 0 && flow.books.never == 0;
    let all_came = stats.sent == sent && (stats.delivered == sent || flow.copied && none_lost);
    Some(([other, if all_came { stats.delivered.max(other) } else { sent }], all_came))
}

/// From this share on a mixture is worth a word.
const MIXED: f64 = 0.05;

/// Times that differ by no more than this share are as long as each other.
const ALIKE_SHARE: f64 = 0.05;

/// Flows that fall behind for longer in one variant than in another, the shortest and the longest: their
/// latency grows with that, so it is no difference of the variants. What waits at its source does not yet
/// take network time.
fn unequal_overloads(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    if !level.since_creation {
        return String::new();
    }
    let busy = |report: &VariantReport, name: &str| {
        let index = report.number(name).filter(|index| report.flows[*index].falls_behind)?;
        let data = &report.run.collector.flows()[index];
        Some(data.last_offer.0.saturating_sub(data.extent.first.0)).filter(|ps| *ps > 0)
    };
    let told = |name: &&str| {
        let times = reports.iter().filter_map(|report| Some((busy(report, name)?, &report.run.name)));
        let mut times: Vec<(u64, &String)> = times.collect();
        times.sort_by_key(|time| time.0);
        let (least, most) = (times.first()?, times.last()?);
        let differ = most.0 as f64 > (1.0 + ALIKE_SHARE) * least.0 as f64;
        let text = |(ps, variant): &(u64, &String)| format!("{} in {variant}", time_text(*ps as f64));
        differ.then(|| format!("{name} for {}, {}", text(least), text(most)))
    };
    let told: Vec<String> = shown.iter().filter_map(told).collect();
    listed("latency grows for as long as a flow asks for more than it gets", LISTED, told.into_iter())
}

/// From this share on it is worth a word in a figure how much is under way.
const UNDER_WAY_SHARE: f64 = 0.01;
/// So many variants and flows are named in a caption.
const LISTED: usize = 4;

/// Where much of what was asked for was left behind when the run ended: this is the slowest, and is missing
/// in the distribution. The most of it first. What is merely on its way is neither told nor missing.
fn still_under_way(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let left = |report: &VariantReport, flow: &FlowReport| left_share(report, flow, level);
    largest_first("not there at the end", reports, shown, left, UNDER_WAY_SHARE)
}

/// Where some of what was asked for never arrives: it is missing in the distribution as well, and however
/// little it is a tail ends there. The most of it first.
fn never_there(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let lost = |report: &VariantReport, flow: &FlowReport| never_share(report, flow, level);
    largest_first("never arrives", reports, shown, lost, f64::MIN_POSITIVE)
}

/// Shares of flows from `least` on under a heading, the largest first.
fn largest_first(
    heading: &str,
    reports: &[VariantReport],
    shown: &[&str],
    of: impl Fn(&VariantReport, &FlowReport) -> f64,
    least: f64,
) -> String {
    let shares = each(reports, shown).filter_map(|(report, name)| {
        let share = of(report, report.flow(name)?);
        (share >= least).then(|| (share, place(shown, name, report)))
    });
    let mut shares: Vec<(f64, String)> = shares.collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let percent = |share: f64| match 100.0 * share {
        much @ 0.995.. => format!("{much:.0} %"),
        little => format!("{} %", three_digits(little)),
    };
    listed(heading, LISTED, shares.iter().map(|(share, at)| format!("{at} {}", percent(*share))))
}

/// The flows that are shown, in each variant.
fn each<'a>(
    reports: &'a [VariantReport],
    shown: &'a [&'a str],
) -> impl Iterator<Item = (&'a VariantReport, &'a str)> {
    reports.iter().flat_map(|report| shown.iter().map(move |name| (report, *name)))
}

/// Of which flow something is said in a caption, and of which variant: there may be only one flow.
fn place(shown: &[&str], name: &str, report: &VariantReport) -> String {
    let variant = &report.run.name;
    if shown.len() == 1 { variant.clone() } else { format!("{name} in {variant}") }
}

/// The first of `texts`, `most` at most, and how many more there are, under a heading; nothing if there are
/// none.
fn listed(heading: &str, most: usize, texts: impl ExactSizeIterator<Item = String>) -> String {
    let all = texts.len();
    let mut shown: Vec<String> = texts.take(most).collect();
    if all > most {
        shown.push(format!("{} more", all - most));
    }
    if shown.is_empty() { String::new() } else { format!("{heading}: {}", shown.join(", ")) }
}

/// Variants in which a flow has nothing in the measured part, though something of it arrived before: they
/// have no line.
fn unmeasured(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let mut none: Vec<String> = Vec::new();
    for (report, name) in each(reports, shown) {
        let Some(flow) = report.flow(name).filter(|flow| flow.arrived > 0) else { continue };
        if (level.of)(flow).is_some_and(|flow| flow.delivered.packets == 0) {
            none.push(format!("{name} in {}", report.run.name));
        }
    }
    if none.is_empty() { String::new() } else { format!("nothing in the measured part: {}", none.join(", ")) }
}

/// A source that waits for its own packets makes few of them where they are slow. From less than this share
/// of the link time that another one like it gets on, a distribution of these few says little.
const FEW_SHARE: f64 = 0.25;

/// Closed loops that deliver few packets beside others like them: beside themselves in other variants, and
/// beside other closed loops of their variant. As many as they can be, their packets are those that had to
/// wait least often. The fewest first.
fn starved(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    // Endless loops only: who ends has made all that it had to. Where protocols run a flow, a host or the
    // size of what it asks for may be why.
    let rate = |flow: &FlowReport| {
        let endless = flow.closed_loop && flow.rate_span.is_none() && flow.protocol.is_none();
        let loops = endless && (level.of)(flow).is_some();
        // Long packets are as many as short ones by the time that they take.
        loops.then_some(flow.accepted_load.value)
    };
    let most = |of: &mut dyn Iterator<Item = &FlowReport>| of.filter_map(rate).fold(0.0, f64::max);
    let busiest = most(&mut reports.iter().flat_map(|report| &report.flows));
    let mut few: Vec<(f64, String)> = Vec::new();
    for report in reports {
        let peers = most(&mut report.flows.iter());
        for flow in report.flows.iter().filter(|flow| shown.contains(&flow.name.as_str())) {
            let Some(own) = rate(flow) else { continue };
            let best = most(&mut reports.iter().filter_map(|other| other.flow(&flow.name))).max(peers);
            if own < FEW_SHARE * best {
                let (name, variant) = (&flow.name, &report.run.name);
                let at = if reports.len() > 1 { format!("{name} in {variant}") } else { name.clone() };
                let count = count_text(flow.delivered.packets);
                let share = 100.0 * own / busiest;
                few.push((own / busiest, format!("{at} {count} (a source {share:.1} % of the busiest)")));
            }
        }
    }
    few.sort_by(|a, b| a.0.total_cmp(&b.0));
    listed("closed loops make few packets where they are slow", LISTED, few.into_iter().map(|few| few.1))
}

/// The flows that are drawn, [`FLOWS_SHOWN`] at most: the first of each variant, then the second of each,
/// and so on. In a variant those come first that the scenario declares, then those that carry most; flows
/// that carry nothing for anybody, because they keep connections or set something up, come last. Flows that
/// differ by less than a twentieth of the most that one carries are alike, so that flows that do the same
/// are not chosen by chance. Of those that go up and down together from variant to variant one is enough,
/// as long as others wait.
fn worth_most<'a>(reports: &[VariantReport], names: &[&'a str]) -> Vec<&'a str> {
    let idle =
        |name: &str| reports.iter().filter_map(|report| report.flow(name)).all(FlowReport::carries_nothing);
    let payload_of = |report: &VariantReport, index: usize| -> u64 {
        report.run.collector.flows()[index].bins.iter().map(|bin| bin.payload).sum()
    };
    // what it carries in each variant, in tenths of the most
    let course = |name: &str| -> Vec<Option<u64>> {
        let of = |report: &VariantReport| {
            let index = report.number(name)?;
            Some(payload_of(report, index))
        };
        let all: Vec<Option<u64>> = reports.iter().map(of).collect();
        let most = all.iter().flatten().copied().max().unwrap_or(0).max(1);
        all.into_iter().map(|own| Some((10 * own? + most / 2) / most)).collect()
    };
    let rank = |report: &VariantReport| -> Vec<&'a str> {
        let payload = |index: usize| payload_of(report, index);
        let most = (0..report.flows.len()).map(payload).max().unwrap_or(0).max(1);
        let key = |index: usize| {
            let twentieths = u128::from(payload(index)) * 20 / u128::from(most);
            let flow = &report.flows[index];
            (idle(&flow.name), flow.role.is_none(), std::cmp::Reverse(twentieths))
        };
        let here = |name: &&'a str| Some((key(report.number(name)?), *name));
        let mut here: Vec<_> = names.iter().filter_map(here).collect();
        here.sort_by_key(|(key, _)| *key);
        here.into_iter().map(|(_, name)| name).collect()
    };
    let ranks: Vec<Vec<&str>> = reports.iter().map(rank).collect();
    let (mut chosen, mut courses): (Vec<&str>, Vec<_>) = (Vec::new(), Vec::new());
    for others_wait in [true, false] {
        for place in 0..names.len() {
            for name in ranks.iter().filter_map(|rank| rank.get(place)) {
                if chosen.len() == FLOWS_SHOWN || chosen.contains(name) {
                    continue;
                }
                let own = course(name);
                // who carries nothing is drawn before others only where there is nobody else
                let waits = others_wait && (courses.contains(&own) || place > 0 && idle(name));
                if !waits {
                    chosen.push(name);
                    courses.push(own);
                }
            }
        }
    }
    names.iter().copied().filter(|name| chosen.contains(name)).collect()
}

/// For the key of their line. Of two the names: one of them may be called like all that are left.
fn others_text(others: &[&str]) -> String {
    match others {
        [only] => format!("flow {only}"),
        [one, two] => format!("flows {one} and {two} together"),
        many => format!("{} other flows together", many.len()),
    }
}

/// For a subtitle, where not all flows are drawn.
fn flows_left_out(shown: usize, all: usize, rule: &str) -> String {
    if shown < all { format!("{shown} of {all} flows: {rule}") } else { String::new() }
}

/// Which flows are drawn over time, and as distributions.
const WORTH_MOST: &str = "those that differ or carry most, declared ones first";

/// What is less than this is not seen apart, page units.
const SEEN_WIDTH: f64 = 1.5;

/// Width of the bucket in which a time is counted, picoseconds.
fn bucket(spread: &Spread, ps: f64) -> f64 {
    let ps = ps as u64;
    (spread.histogram.highest_equivalent(ps) - spread.histogram.lowest_equivalent(ps) + 1) as f64
}

/// Points of a cumulative distribution in percent, thinned to what can be seen. Every bucket stands where it
/// ends, also the last one, of which the maximum is known: else two flows that share it would differ.
fn cdf(spread: &Spread, panel: &Panel) -> Vec<(f64, f64)> {
    let total = spread.histogram.len() as f64;
    let axis = panel.horizontal;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut seen = 0u64;
    for bucket in spread.histogram.iter_recorded() {
        let before = 100.0 * seen as f64 / total;
        seen += bucket.count_since_last_iteration();
        let ps = bucket.value_iterated_to() as f64;
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
        let wide = panel.width * (axis.at(ps) - axis.at(last.0)) >= SEEN_WIDTH;
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

/// The smallest share beyond a percentile that is told of so many values ([`quantile_samples`]): with fewer
/// beyond it, nothing in the data bounds it.
fn least_tail(values: f64) -> f64 {
    1.0 - libm::pow(0.025, 1.0 / values)
}

/// Of fewer values there is no tail: a first step would be down to less than is told of so few.
const LEAST_OF_TAIL: u64 = 10;

/// Flows with too few values for a tail: they have no line.
fn too_few(
    reports: &[VariantReport],
    shown: &[&str],
    level: Level,
    of: &impl Fn(&FlowReport) -> &Spread,
) -> String {
    let mut few: Vec<String> = Vec::new();
    for (report, name) in each(reports, shown) {
        let Some(flow) = report.flow(name).and_then(level.of) else { continue };
        let values = of(flow).histogram.len();
        if (1..LEAST_OF_TAIL).contains(&values) {
            few.push(format!("{values} of {name} in {}", report.run.name));
        }
    }
    listed("too few for a tail", LISTED, few.into_iter())
}

/// Points of the share that takes longer than a time, percent, where `arrived` of all arrive: a step down at
/// each latency that occurs. Steps that nobody would see apart are one. It ends where too few are left, which
/// would make steps of chance.
fn tail(spread: &Spread, arrived: f64, panel: &Panel) -> Vec<(f64, f64)> {
    let (across, up) = (panel.horizontal, panel.vertical);
    let total = spread.histogram.len();
    if total == 0 {
        return Vec::new();
    }
    let least = 100.0 * least_tail(total as f64 / arrived);
    let longer = |seen: u64| 100.0 * (1.0 - arrived * seen as f64 / total as f64);
    let mut points = vec![(across.low, 100.0)];
    let mut seen = 0;
    for bucket in spread.histogram.iter_recorded() {
        let before = longer(seen);
        seen += bucket.count_since_last_iteration();
        let ps = bucket.value_iterated_to() as f64;
        if longer(seen) < least {
            let at = ps.max(across.low);
            points.extend([(at, before), (at, least)]);
            return points;
        }
        if ps < across.low {
            points = vec![(across.low, longer(seen))];
            continue;
        }
        let last = points[points.len() - 1];
        let right = panel.width * (across.at(ps) - across.at(last.0));
        let down = panel.height * (up.at(last.1) - up.at(longer(seen)));
        if right < SEEN_WIDTH && down < SEEN_WIDTH && seen < total {
            continue;
        }
        if right >= SEEN_WIDTH {
            points.push((ps, before));
        }
        points.push((ps, longer(seen)));
    }
    // what never arrives is still to come
    points.push((across.high, longer(total)));
    points
}

/// A scale of time.
#[derive(Copy, Clone, Debug)]
struct Scale {
    unit: TimeUnit,
    end_ps: u64,
    /// A mean is over at least so much time, picoseconds.
    least_ps: u64,
}

impl Scale {
    /// How many bins a point stands for. Variants of another length have bins of another width, and are
    /// averaged over the same time.
    fn group(&self, bin_ps: u64) -> usize {
        (self.end_ps / POINTS as u64).max(self.least_ps).div_ceil(bin_ps).max(1) as usize
    }

    /// Over how much time a point of this variant is a mean.
    fn grain(&self, report: &VariantReport) -> u64 {
        let bin_ps = report.run.collector.bin_ps();
        (bin_ps * self.group(bin_ps) as u64).min(report.window.to_ps.max(1))
    }
}

/// Values of `sum(bins)` in groups of time bins up to a time: (middle of the group in `unit`, value); of few
/// groups both ends of each, which are steps.
fn over_time(
    report: &VariantReport,
    scale: Scale,
    value: impl Fn(std::ops::Range<usize>, u64) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let Scale { unit, end_ps, .. } = scale;
    let collector = &report.run.collector;
    let bins = (0..report.window.to_bin).take_while(|bin| collector.bin_start(*bin) < end_ps).count();
    let bin_ps = collector.bin_ps();
    let group = scale.group(bin_ps);
    let at = |bin: usize| collector.bin_start(bin).min(report.window.to_ps);
    let mut edges: Vec<usize> = (0..bins).step_by(group).chain([bins]).collect();
    // A run that ends does so with the end of a packet, which counts there: in less than a whole group at the
    // end that would be a spike, so what is left belongs to the group before it.
    if let [.., last, end] = edges[..]
        && edges.len() > 2
        && at(end) - at(last) < group as u64 * bin_ps
    {
        edges.remove(edges.len() - 2);
    }
    let means = edges.windows(2).filter_map(|edge| {
        let (start, end) = (at(edge[0]), at(edge[1]));
        if end <= start {
            return None;
        }
        Some((start, end, value(edge[0]..edge[1], end - start)?))
    });
    let means: Vec<(u64, u64, f64)> = means.collect();
    // A slope between few means would be drawn where nothing is known of it, and one alone would not be seen.
    if (means.len() as u64) < LEAST_POINTS {
        let step =
            |(start, end, value): (u64, u64, f64)| [start, end].map(|ps| (unit.scale(ps as f64), value));
        return means.into_iter().flat_map(step).collect();
    }
    means.into_iter().map(|(start, end, value)| (unit.scale((start + end) as f64 / 2.0), value)).collect()
}

/// Points of a line: time in the unit of its scale, and value.
type Curve = Vec<(f64, f64)>;

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

/// One panel for each variant: all with the same axes, unless they are too different to be seen on them.
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
    // Whoever compares heights does not read captions first.
    let own = if scales.uneven { ", each variant on a vertical axis of its own" } else { "" };
    heading(&mut scene, &format!("{title}{own}"), subtitle);
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, keys);
    let high = courses.iter().map(Course::high).fold(0.0, f64::max);
    let (left, gap) = (MARGIN + 66.0, 74.0);
    let width = (PAGE - MARGIN - left - gap * (columns - 1) as f64) / columns as f64;
    for (index, (report, course)) in reports.iter().zip(courses).enumerate() {
        let Scale { unit, end_ps, .. } = scales.of[index];
        let (row, column) = (index % rows, index / rows);
        let panel = Panel {
            x: left + column as f64 * (width + gap),
            y: top + row as f64 * pitch + 34.0,
            width,
            height: plot,
            horizontal: Axis::exactly(unit.scale(end_ps as f64)),
            vertical: Axis::from_zero(match scales.uneven {
                // of a queue that is as good as empty a tick is no number to read
                true if course.label == QUEUED => course.high().max(1.0),
                true => course.high(),
                false => high,
            }),
        };
        let cut = unit.scale(report.window.from_ps as f64);
        if cut > 0.0 {
            let (x, _) = panel.place((cut, 0.0));
            scene.rect(panel.x, panel.y, x - panel.x, panel.height, SHADE);
        }
        let last = scales.apart || row + 1 == rows || index + 1 == count;
        let x_label = if last { format!("simulated time ({})", unit.symbol) } else { String::new() };
        panel.draw(&mut scene, &shorten_name(&report.run.name, PANEL, width), &x_label, course.label);
        for (line, points) in course.lines.iter().enumerate() {
            let phase = 0.3 + line as f64 / (course.lines.len() as f64 + 0.5);
            panel.plot(&mut scene, points, stroke(line), phase);
        }
    }
    scene
}

/// Label of the axis of queues.
const QUEUED: &str = "packets";

/// So many times as long as the shortest, and the longest has to have a scale of its own: nothing could be
/// seen of the others.
const APART: u64 = 8;

/// So many times as high as the lowest, and the highest leaves nothing to see of the others on one axis.
const UNEVEN: f64 = 10.0;

/// Jumps below this share of what is highest are none to see.
const ROUGH: f64 = 0.01;
/// Larger ones have to be told of.
const CUT: f64 = 0.1;
/// For a subtitle.
const CUT_BURSTS: &str = "bursts that means cut look higher or lower than others";
/// By so much smaller jumps are not just those of means over a little more.
const CALMER: f64 = 3.0;

/// How far lines go up and down from point to point, as a share of what is highest: four of five jumps are
/// not larger. So the few at the beginning and the end of traffic do not count.
fn roughness(lines: &[Curve]) -> f64 {
    let high = lines.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    let of = |line: &Curve| {
        let mut jumps: Vec<f64> = line.windows(2).map(|pair| libm::fabs(pair[1].1 - pair[0].1)).collect();
        jumps.sort_by(f64::total_cmp);
        jumps.get(jumps.len() * 4 / 5).copied().unwrap_or(0.0)
    };
    if high > 0.0 { lines.iter().map(of).fold(0.0, f64::max) / high } else { 0.0 }
}

/// Scales of time.
struct Scales {
    /// Of each variant.
    of: Vec<Scale>,
    /// Each has its own.
    apart: bool,
    /// Each has a vertical axis of its own.
    uneven: bool,
}

impl Scales {
    /// `least`: over how much time a mean should be at least; not more than a twelfth of the scale.
    fn new(
        reports: &[VariantReport],
        end: fn(&VariantReport) -> u64,
        least: fn(&VariantReport) -> u64,
    ) -> Self {
        let ends: Vec<u64> = reports.iter().map(end).collect();
        let longest = ends.iter().copied().max().unwrap_or(0);
        let apart = ends.iter().any(|end| end.saturating_mul(APART) < longest);
        let scale = |(report, end): (&VariantReport, &u64)| {
            let end_ps = if apart { *end } else { longest };
            let least_ps = least(report).min(end_ps / LEAST_POINTS);
            Scale { unit: TimeUnit::for_max(end_ps as f64), end_ps, least_ps }
        };
        Self { of: reports.iter().zip(&ends).map(scale).collect(), apart, uneven: false }
    }

    /// Where traffic comes in bursts, means over another time than theirs beat with them: they go up and down
    /// although nothing changes. If some time of up to four times as much has means that jump far less, it
    /// holds whole bursts, and takes the place of the one before. `lines`: what is drawn of a variant.
    fn fit_bursts(&mut self, reports: &[VariantReport], lines: &dyn Fn(&VariantReport, Scale) -> Vec<Curve>) {
        let all: Vec<usize> = (0..reports.len()).collect();
        let together: Vec<&[usize]> = if self.apart { all.chunks(1).collect() } else { vec![&all] };
        for variants in together {
            let Some(bin_ps) = variants.iter().map(|at| reports[*at].run.collector.bin_ps()).min() else {
                continue;
            };
            let rough = |least_ps: u64| {
                let of = |at: &usize| roughness(&lines(&reports[*at], Scale { least_ps, ..self.of[*at] }));
                variants.iter().map(of).fold(0.0, f64::max)
            };
            let end_ps = self.of[variants[0]].end_ps;
            let base = variants.iter().map(|at| self.of[*at].least_ps).fold(end_ps / POINTS as u64, u64::max);
            let before = rough(base);
            let times = (1..=3 * base / bin_ps).map(|bins| base + bins * bin_ps);
            let times = times.filter(|time| *time <= end_ps / LEAST_POINTS);
            let best = times.map(|time| (rough(time), time)).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((after, time)) = best
                && before > ROUGH
                && after < before / CALMER
            {
                variants.iter().for_each(|at| self.of[*at].least_ps = time);
            }
        }
    }

    /// Whether what is drawn of some variant goes up and down with the time of its means: one of its own,
    /// which the others do not share, would hold whole bursts.
    fn beats(&self, reports: &[VariantReport], lines: &dyn Fn(&VariantReport, Scale) -> Vec<Curve>) -> bool {
        let mut own = Self { of: self.of.clone(), apart: true, uneven: self.uneven };
        own.fit_bursts(reports, lines);
        let rough = |(report, scale): (&VariantReport, &Scale)| roughness(&lines(report, *scale)) > CUT;
        let pairs = reports.iter().zip(&self.of).zip(&own.of);
        pairs
            .into_iter()
            .any(|((report, shared), own)| shared.least_ps != own.least_ps && rough((report, shared)))
    }

    /// Nothing can be seen of what is low on the axis of what is very much higher.
    fn level(&mut self, courses: &[Course]) {
        let high = courses.iter().map(Course::high).fold(0.0, f64::max);
        let is_flat = |course: &Course| course.high() > 0.0 && course.high() * UNEVEN < high;
        self.uneven |= courses.iter().any(is_flat);
    }

    /// For a subtitle.
    fn note(&self) -> &'static str {
        // the title speaks of vertical axes
        if self.apart { "each variant has a time axis of its own" } else { "" }
    }

    /// Over how much time [`over_time`] averages, for a subtitle: bursts that are shorter look lower than
    /// they are.
    fn grain(&self, reports: &[VariantReport]) -> String {
        let grains: BTreeSet<u64> =
            reports.iter().zip(&self.of).map(|(report, scale)| scale.grain(report)).collect();
        let text = |ps: &u64| time_text(*ps as f64);
        let last = "the last over the rest as well";
        match (grains.first(), grains.last()) {
            (Some(one), Some(other)) if one == other => format!("means over {}, {last}", text(one)),
            (Some(least), Some(most)) => format!("means over {} to {}, {last}", text(least), text(most)),
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

/// Link time and payload of the longest packets of a variant: of the bin in which they are longest on
/// average.
fn longest_packet(report: &VariantReport) -> (u64, u64) {
    let bins = report.run.collector.flows().iter().flat_map(|flow| &flow.bins);
    let bins = bins.filter(|bin| bin.packets > 0);
    bins.map(|bin| (bin.link_ps / bin.packets, bin.payload / bin.packets)).max().unwrap_or((0, 0))
}

/// What one of the longest packets more or less makes in a mean, where that is more than a hundredth of what
/// is drawn.
fn one_packet(panels: &[VariantReport], scales: &Scales, courses: &[Course]) -> String {
    let error = |((report, scale), course): ((&VariantReport, &Scale), &Course)| {
        let (octets, grain) = (longest_packet(report).1, scale.grain(report));
        let one = gbps(octets, grain);
        (one > 0.01 * course.high()).then_some((one, octets, grain, course.high()))
    };
    let errors = panels.iter().zip(&scales.of).zip(courses).filter_map(error);
    let Some((most, octets, grain, high)) =
        errors.reduce(|most, error| if error.0 > most.0 { error } else { most })
    else {
        return String::new();
    };
    let (unit, factor) = unit_of_rates(high);
    format!(
        "a packet counts where it ends: one of {} makes {} {unit} in a mean over {}",
        counted_text(octets, "octets"),
        three_digits(most * factor),
        time_text(grain as f64)
    )
}

/// Unit of rates up to `high` Gb/s, and how many of it a Gb/s is.
fn unit_of_rates(high: f64) -> (&'static str, f64) {
    match high {
        ..1e-4 if high > 0.0 => ("kb/s", 1e6),
        ..0.1 if high > 0.0 => ("Mb/s", 1e3),
        _ => ("Gb/s", 1.0),
    }
}

/// One unit for panels whose lines go up to these rates, Gb/s, or they would be read for each other: that of
/// the lowest, if the highest is no number of five digits in it, or else that of the highest. `None` where
/// the lowest would be less than a thousandth then: each has its own.
fn unit_of_panels(highs: impl Iterator<Item = f64>) -> Option<(&'static str, f64)> {
    let busy: Vec<f64> = highs.filter(|high| *high > 0.0).collect();
    let (least, most) =
        (busy.iter().copied().fold(f64::INFINITY, f64::min), busy.iter().copied().fold(0.0, f64::max));
    let [low, high] = [least, most].map(unit_of_rates);
    match () {
        () if most * low.1 < 1e4 => Some(low),
        () if least * high.1 >= 1e-3 => Some(high),
        () => None,
    }
}

/// What arrives of these flows over time, Gb/s; of a flow that the variant does not have nothing.
fn rates(report: &VariantReport, scale: Scale, flows: &[&str]) -> Vec<Curve> {
    let line = |name: &&str| {
        let Some(index) = report.number(name) else { return Vec::new() };
        let bins = &report.run.collector.flows()[index].bins;
        over_time(report, scale, |range, ps| Some(gbps(bins[range].iter().map(|bin| bin.payload).sum(), ps)))
    };
    flows.iter().map(line).collect()
}

/// Likewise of all other flows together, of which there are some.
fn rates_of_others(report: &VariantReport, scale: Scale, shown: &[&str]) -> Curve {
    let all = report.flows.iter().zip(report.run.collector.flows());
    let others: Vec<_> =
        all.filter(|(flow, _)| !shown.contains(&&*flow.name)).map(|(_, data)| data).collect();
    if others.is_empty() {
        return Vec::new();
    }
    over_time(report, scale, |range, ps| {
        let sum = others.iter().flat_map(|data| &data.bins[range.clone()]).map(|bin| bin.payload).sum();
        Some(gbps(sum, ps))
    })
}

/// What is added up in a line of throughput.
fn both_ways(reports: &[VariantReport]) -> &'static str {
    match with_protocols(reports).next().is_some() {
        true => {
            "payload of all packets delivered, also of those that say or repeat something; of a flow that a \
             protocol runs in both directions together, which may be more than a link carries in one"
        }
        false => "payload of all packets delivered",
    }
}

/// What is counted on several links, for a caption.
fn twice(reports: &[VariantReport]) -> &'static str {
    let translated = |report: &VariantReport| {
        report.run.outcome.totals.of::<TranslatorTotals>().any(|totals| !totals.translators.is_empty())
    };
    match reports.iter().any(translated) {
        true => {
            "what a translator passes on is delivered once more, and counts on each link that it is sent on"
        }
        false => "",
    }
}

fn throughput(caption: &Caption, reports: &[VariantReport]) -> Scene {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    let names = flow_names(panels, PACKETS);
    let shown = &worth_most(panels, &names)[..];
    let mut scales = Scales::new(panels, busy_end, |report| longest_packet(report).0 * PACKETS_OF_MEAN);
    scales.fit_bursts(panels, &|report, scale| rates(report, scale, shown));
    // Flows that there is no room for are one line, or traffic would seem to end with those that are shown.
    let rest: Vec<&str> = names.iter().copied().filter(|name| !shown.contains(name)).collect();
    let others = rest.len();
    let drawn = |(report, scale): (&VariantReport, &Scale)| {
        let mut lines = rates(report, *scale, shown);
        lines.extend((others > 0).then(|| rates_of_others(report, *scale, shown)));
        lines
    };
    let lines: Vec<_> = panels.iter().zip(&scales.of).map(drawn).collect();
    let cut = lines.iter().any(|lines| roughness(lines) > CUT);
    let cut = if cut { CUT_BURSTS } else { "" };
    let mut courses: Vec<Course> =
        lines.into_iter().map(|lines| Course { label: "in packets (Gb/s)", lines }).collect();
    scales.level(&courses);
    let coarse = one_packet(panels, &scales, &courses);
    let unit = unit_of_panels(courses.iter().map(Course::high));
    for course in &mut courses {
        let (unit, factor) = unit.unwrap_or_else(|| unit_of_rates(course.high()));
        course.label = match unit {
            "kb/s" => "in packets (kb/s)",
            "Mb/s" => "in packets (Mb/s)",
            _ => "in packets (Gb/s)",
        };
        course.lines.iter_mut().flatten().for_each(|point| point.1 *= factor);
    }
    let keys: Vec<(Key, String)> = shown
        .iter()
        .enumerate()
        .map(|(index, name)| (Key::Line(stroke(index)), format!("flow {name}")))
        .chain((others > 0).then(|| (Key::Line(stroke(shown.len())), others_text(&rest))))
        .collect();
    let notes = joined(&[
        both_ways(panels),
        twice(panels),
        &coarse,
        cut,
        &scales.grain(panels),
        scales.note(),
        &flows_left_out(shown.len(), names.len(), WORTH_MOST),
        &left_out(panels.len(), reports.len(), "variants"),
    ]);
    let text = subtitle(caption, &notes);
    panels_over_time("Throughput over time", &text, panels, keys, &courses, &scales)
}

/// On average a queue that is drawn has so many packets at least, in thousandths of one: of less nothing
/// would be seen.
const LEAST_QUEUE: u64 = 10;

/// A queue of a variant: thousandths of a packet in it on average, its port, and whether it waits for the
/// output there (else in the input buffers).
type QueueMean = (u64, String, bool);

fn queue_text((_, name, waiting): &QueueMean) -> String {
    format!("{} {name}", if *waiting { "waiting for output" } else { "input buffers of" })
}

/// The queues of switches, the fullest first. Source queues are left out: above saturation they would flatten
/// everything else.
fn queue_means(report: &VariantReport) -> Vec<QueueMean> {
    let collector = &report.run.collector;
    let mut means = Vec::new();
    for ((device, port), series) in collector.ports().iter().filter(|_| collector.has_queues()) {
        if collector.is_endpoint(*device) || series.ps == 0 {
            continue;
        }
        let name = report.port_name(*device, *port);
        for (sum, waiting) in [(series.input, false), (series.waiting, true)] {
            means.push(((sum * 1_000 / u128::from(series.ps)) as u64, name.clone(), waiting));
        }
    }
    means.sort_by(fuller_first);
    means
}

fn is_seen(queue: &&QueueMean) -> bool {
    queue.0 >= LEAST_QUEUE
}

fn fuller_first(a: &QueueMean, b: &QueueMean) -> std::cmp::Ordering {
    b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
}

/// The queues that are drawn, the same in every panel: the fullest of each variant, then the second of each,
/// and so on, those of the fullest variant first. What is [`LEAST_QUEUE`] in its own variant is one of them,
/// however full those of others are: a panel may have an axis of its own.
fn chosen(means: &[Vec<QueueMean>]) -> Vec<QueueMean> {
    let mut peaks: Vec<QueueMean> = Vec::new();
    for rank in 0..QUEUES_SHOWN {
        let mut round: Vec<&QueueMean> = means.iter().filter_map(|panel| panel.get(rank)).collect();
        round.retain(is_seen);
        round.sort_by(|a, b| fuller_first(a, b));
        for queue in round {
            if peaks.len() < QUEUES_SHOWN
                && !peaks.iter().any(|peak| (&peak.1, peak.2) == (&queue.1, queue.2))
            {
                peaks.push(queue.clone());
            }
        }
    }
    peaks
}

/// Names of the ports whose queues [`queues`] draws.
pub(crate) fn queues_drawn(reports: &[VariantReport]) -> BTreeSet<String> {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    let means: Vec<Vec<QueueMean>> = panels.iter().map(queue_means).collect();
    chosen(&means).into_iter().map(|queue| queue.1).collect()
}

/// `None` if the run took no samples, or no queue ever held anything to speak of.
fn queues(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    let means: Vec<Vec<QueueMean>> = panels.iter().map(queue_means).collect();
    let fullest = means.iter().flatten().map(|queue| queue.0).max().unwrap_or(0);
    // what is always empty tells nothing
    if fullest < LEAST_QUEUE {
        return None;
    }
    let all: BTreeSet<(&str, bool)> = means.iter().flatten().map(|queue| (&*queue.1, queue.2)).collect();
    let all = all.len();
    let peaks = chosen(&means);
    let missed = |panel: &[QueueMean]| {
        let own = panel.first().filter(is_seen)?;
        let shown = peaks.iter().any(|peak| (&peak.1, peak.2) == (&own.1, own.2));
        (!shown).then(|| queue_text(own))
    };
    let missed: Vec<String> = panels
        .iter()
        .zip(&means)
        .filter_map(|(report, panel)| Some(format!("{} of {}", missed(panel)?, report.run.name)))
        .collect();
    let missed = match &missed[..] {
        [] => String::new(),
        [only] => format!("not shown, though the fullest: {only}"),
        [first, rest @ ..] => format!("not shown, though the fullest: {first}, and {} more", rest.len()),
    };
    let lengths = |report: &VariantReport, scale: Scale| -> Vec<Curve> {
        let collector = &report.run.collector;
        let line = |(_, name, waiting): &QueueMean| {
            let mut ports = collector.ports().iter().map(|(port, _)| *port);
            let Some(port) = ports.find(|(device, port)| report.port_name(*device, *port) == *name) else {
                return Vec::new();
            };
            over_time(report, scale, |range, _| {
                let time: u64 = collector.samples()[range.clone()].iter().map(|bin| bin.ps).sum();
                let sum: u128 = range
                    .filter_map(|bin| collector.queue(port, bin))
                    .map(|(input, output)| u128::from(if *waiting { output } else { input }))
                    .sum();
                (time > 0).then(|| ratio(sum, time.into()))
            })
        };
        peaks.iter().map(line).collect()
    };
    let mut scales = Scales::new(panels, |report| report.window.to_ps, |_| 0);
    scales.fit_bursts(panels, &lengths);
    let cut = if scales.beats(panels, &lengths) { CUT_BURSTS } else { "" };
    let courses: Vec<Course> = panels
        .iter()
        .zip(&scales.of)
        .map(|(report, scale)| Course { label: QUEUED, lines: lengths(report, *scale) })
        .collect();
    scales.level(&courses);
    let keys: Vec<(Key, String)> = peaks
        .iter()
        .enumerate()
        .map(|(index, queue)| (Key::Line(stroke(index)), queue_text(queue)))
        .collect();
    let note = if all > peaks.len() && peaks.len() == 1 {
        "the fullest queue of switches on average".into()
    } else if all > peaks.len() {
        let of = if panels.len() > 1 {
            ": of each variant the fullest one, then the second of each, and so on"
        } else {
            ""
        };
        // of these some were not chosen, although they are the fullest of their variant
        let empty = means.iter().flat_map(|panel| panel.iter().take(peaks.len()));
        let empty = empty.into_iter().any(|queue| !is_seen(&queue));
        let least = LEAST_QUEUE as f64 / 1e3;
        let least = if empty { format!(", none of less than {least} packets") } else { String::new() };
        format!("the {} fullest queues of switches on average{of}{least}", peaks.len())
    } else {
        String::new()
    };
    let both = peaks.iter().any(|peak| peak.2) && peaks.iter().any(|peak| !peak.2);
    let twice = "a packet in an input buffer that waits for an output is in both lines";
    let twice = if both { twice } else { "" };
    let left_out = left_out(panels.len(), reports.len(), "variants");
    let grain = scales.grain(panels);
    let more = joined(&[&note, &missed, twice, cut, &grain, scales.note(), &left_out]);
    let text = subtitle(caption, &more);
    Some(panels_over_time("Queue occupancy over time", &text, panels, keys, &courses, &scales))
}

#[cfg(test)]
#[path = "../tests/suite/synthetic/mod.rs"]
mod synthetic;

#[cfg(test)]
mod tests {
    use super::synthetic::{LENGTH, Mood, REFRESH, WITH, WITHOUT, closed_loops, deliveries, run};
    use super::*;
    use crate::books::{Above, Books};
    use crate::collect::{Collector, CollectorConfig};
    use crate::level::under_way_share;
    use crate::run::RunData;
    use models::config::FlowConfig;
    use models::probe::Cause;
    use models::run::StallReport;
    use models::sim_core::Time;
    use models::stats::{FlowLeft, FlowStats, SessionStats, SessionTotals};
    use plotters::style::RGBColor;
    use std::sync::Arc;

    /// Frames of Scheduled Transfer are the messages of a flow.
    const FRAMES: Above = Above {
        carries: "frames of Scheduled Transfer",
        nothing_else: true,
        latency: "mean time of a Transfer",
        sum_ps: 1,
        count: 1,
        lost_late: 0,
        touched: [0; 2],
    };

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
            let scales = Scales::new(&lengths.map(report), |report| report.window.to_ps, |_| 0);
            (scales.apart, scales.of.iter().map(|scale| scale.end_ps).collect::<Vec<u64>>())
        };
        assert_eq!(scales([1_000, 8_000]), (false, vec![8_000, 8_000]));
        assert_eq!(scales([1_000, 8_001]), (true, vec![1_000, 8_001]));
    }

    /// One height for panels that can be read beside each other, one each where the highest flattens another;
    /// one without anything flattens nobody.
    #[test]
    fn panels_of_very_different_heights_have_their_own_axes() {
        let reports = [WITHOUT, WITH, REFRESH].map(|mood| VariantReport::new(run(mood)));
        let uneven = |highs: [f64; 3]| {
            let courses = highs.map(|high| Course { label: "", lines: vec![vec![(0.0, 0.0), (1.0, high)]] });
            let mut scales = Scales::new(&reports, |report| report.window.to_ps, |_| 0);
            scales.level(&courses);
            let scene = panels_over_time("t", "", &reports, Vec::new(), &courses, &scales).to_svg();
            assert_eq!(scene.contains("t, each variant on a vertical axis of its own"), scales.uneven);
            scales.uneven
        };
        assert!(!uneven([1.0, 10.0, 0.0]) && uneven([1.0, 10.1, 0.0]));
    }

    /// Runs of many variants, with names.
    fn variants<const N: usize>(flows: usize) -> [VariantReport; N] {
        std::array::from_fn(|n| {
            let data = many_flows(flows, if n % 2 == 0 { WITH } else { WITHOUT });
            VariantReport::new(RunData { name: format!("variant-{n}"), ..data })
        })
    }

    /// Seven lines can be told apart; eight are two times four, on the same axis.
    #[test]
    fn distributions_of_many_variants_are_parted() {
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let of = |reports: &[VariantReport]| {
            latency_cdf(&caption, reports, "t", Quantity::Latency(PACKETS), Shape::Distribution)
                .unwrap()
                .to_svg()
        };
        let eight = variants::<8>(1);
        let (seven, eight) = (of(&eight[..7]), of(&eight));
        assert!(!seven.contains(" to variant"));
        assert!(eight.contains(", variant-0 to variant-3") && eight.contains(", variant-4 to variant-7"));
    }

    /// A title of two lines keeps clear of the keys above it: their baselines are a line and a half apart.
    #[test]
    fn titles_of_two_lines_keep_clear_of_the_legend() {
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let mut reports = variants::<8>(1);
        for (n, report) in reports.iter_mut().enumerate() {
            report.run.name = format!("a variant with a name that is long {n}");
        }
        let drawn = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
        let [key, title] = [&reports[7].run.name, "flow tenant 0 bulk transfers"];
        let apart = place_of(&drawn, title, "y") - place_of(&drawn, key, "y");
        // the page is drawn in eighths
        assert!(apart / 8.0 >= 1.5 * LABEL.size, "{apart}");
    }

    /// All seven lie on one another, and their names are longer than a panel: each of them can be read below
    /// it.
    #[test]
    fn every_line_that_is_hidden_is_named() {
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let mut reports = variants::<7>(2);
        for (n, report) in reports.iter_mut().enumerate() {
            let data =
                RunData { name: format!("a long name of a variant, number {n}"), ..many_flows(2, WITH) };
            *report = VariantReport::new(data);
        }
        let drawn = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
        let words: Vec<&str> = drawn.lines().filter(|line| !line.starts_with('<')).collect();
        let words = words.join(" ");
        let list = words.split("one line: ").nth(1).expect("they lie on one another");
        let all: Vec<String> = reports.iter().map(|report| report.run.name.clone()).collect();
        assert!(list.starts_with(&all.join(" = ")), "{list}");
    }

    /// A label with the name of a protocol is longer than the axis of one panel of several, and would lie on
    /// the keys above it.
    #[test]
    fn labels_are_no_longer_than_their_axes() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        for flow in reports.iter_mut().flat_map(|report| &mut report.flows) {
            flow.messages = Some(Box::new(flow.clone()));
            flow.above = Some(FRAMES);
        }
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let drawn = svg(&caption, &reports, "latency_tail").expect("it is drawn");
        let label = drawn.lines().find(|line| line.ends_with("that take longer (%)")).expect("a label");
        assert!(drawn.matches(label).count() == 2 && text_width(label, LABEL) <= 230.0, "{label}");
    }

    /// What is less than a pixel everywhere has no key; all flows of a study with many variants have bars.
    #[test]
    fn decompositions_name_what_can_be_seen_and_show_all_flows() {
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let of =
            |reports: &[VariantReport]| bars::decomposition(&caption, reports, PACKETS).unwrap().to_svg();
        let mut reports = variants::<18>(4);
        let (cause, total) = {
            let flow = &reports[3].flows[2];
            (Cause::Recovery as usize, flow.spread.parts_ps.iter().sum::<u128>())
        };
        assert!(!of(&reports).contains("of 4 flows") && !of(&reports).contains(Cause::Recovery.name()));
        reports[3].flows[2].spread.parts_ps[cause] = total / 1_000_000;
        let thin = of(&reports);
        assert!(!thin.contains(Cause::Recovery.name()) && thin.contains("less than 0.3 % everywhere"));
        reports[3].flows[2].spread.parts_ps[cause] = total / 100;
        assert!(of(&reports).contains(Cause::Recovery.name()));
    }

    /// Counts that differ are drawn, the largest at full length; those that are alike are no result.
    #[test]
    fn counts_that_differ_are_drawn() {
        let mut reports = [WITHOUT, WITHOUT].map(|mood| VariantReport::new(run(mood)));
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        assert!(reports[0].flows.len() > 1);
        assert!(things::counted(&caption, &reports).is_none());
        (reports[0].overall.dropped, reports[1].overall.dropped) = (1_234, 5_678);
        let svg = things::counted(&caption, &reports).expect("they differ").to_svg();
        assert!(svg.contains("packets dropped") && svg.contains("1 234") && svg.contains("5 678"), "{svg}");
    }

    /// x of a text in a drawing.
    fn x_of(svg: &str, text: &str) -> f64 {
        place_of(svg, text, "x")
    }

    /// Where the first text stands that says this: `x` or `y`.
    fn place_of(svg: &str, text: &str, axis: &str) -> f64 {
        let at = svg.lines().zip(svg.lines().skip(1)).find(|(_, line)| line.trim() == text);
        let (open, _) = at.unwrap_or_else(|| panic!("{text} is not in {svg}"));
        open.split(&format!(" {axis}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    }

    /// By hand: of two variants the first waits 9 us at its source and 1 us behind it, the second 2 us and
    /// 3 us. What is decided on is 10 us against 5 us, so the first panel has the first variant longer,
    /// although the second is longer without the source queue, which has a panel that says so.
    #[test]
    fn the_whole_latency_comes_first() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        for (report, parts) in reports.iter_mut().zip([[9u128, 1], [2, 3]]) {
            report.flows.truncate(1);
            let flow = &mut report.flows[0];
            let packets = u128::from(flow.delivered.packets);
            flow.spread.parts_ps = [0; 13];
            flow.spread.parts_ps[Cause::SourceQueue as usize] = parts[0] * 1_000_000 * packets;
            flow.spread.parts_ps[Cause::OutputContention as usize] = parts[1] * 1_000_000 * packets;
            flow.latency.mean.value = ((parts[0] + parts[1]) * 1_000_000) as f64;
        }
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let figure = svg(&caption, &reports, "decomposition").expect("it is drawn");
        assert!(x_of(&figure, "10.0 µs") > x_of(&figure, "5.00 µs"));
        let [whole, rest, shares] = ["whole latency", "without the source queue", "shares of the whole"]
            .map(|title| x_of(&figure, title));
        assert!(whole < rest && rest < shares && x_of(&figure, "10.0 µs") < rest);
        // of little that waits at the source there is nothing to leave out
        for report in &mut reports {
            report.flows[0].spread.parts_ps[Cause::SourceQueue as usize] /= 100;
        }
        let figure = svg(&caption, &reports, "decomposition").expect("it is drawn");
        assert!(!figure.contains("without the source queue"));
    }

    /// By hand: the first variant has the faster frames, and its 4 Transfers take 8 us in all, 2 us each; the
    /// 3 of 4 of the second take 3 us, 1 us each, half as much. The first figure is about these, and the
    /// others say in their titles that they are not.
    #[test]
    fn transfers_come_before_their_frames() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        for (report, (sum_ps, count)) in reports.iter_mut().zip([(8_000_000, 4), (3_000_000, 3)]) {
            report.flows.truncate(1);
            let above = Above {
                carries: "frames of Scheduled Transfer",
                nothing_else: true,
                latency: "mean time of a Transfer",
                sum_ps,
                count,
                lost_late: 0,
                touched: [0; 2],
            };
            let flow = &mut report.flows[0];
            flow.messages = Some(Box::new(flow.clone()));
            flow.above = Some(above);
            flow.books = Books { unit: "Transfers", asked: 4, arrived: count, ..Books::default() };
            report.compare_with = Some(WITHOUT_NAME.into());
        }
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        reports[0].run.name = WITHOUT_NAME.into();
        let figures = all(&caption, &reports);
        assert_eq!(figures[0].name, "times");
        let first = &figures[0].svg;
        let half = format!("1.00 µs, of 75.0 %  (\u{2212}50 % against {WITHOUT_NAME})");
        assert!(x_of(first, "2.00 µs") > x_of(first, &half), "{first}");
        assert!(first.contains("mean time of a Transfer"));
        for (name, what) in [
            ("message_cdf", "frames of Scheduled Transfer from protocol to protocol, not of Transfers"),
            ("message_decomposition", "frames of Scheduled Transfer goes, not of Transfers"),
            ("latency_cdf", "packets from creation to last bit, not of Transfers"),
            ("decomposition", "packets goes, not of Transfers"),
        ] {
            assert!(svg(&caption, &reports, name).expect("it is drawn").contains(what), "{name}");
        }
        // no other picture of a single run has them
        let single = svg(&caption, &reports[..1], "times").expect("it is drawn");
        assert!(single.contains("mean time of a Transfer") && single.contains("2.00 \u{b5}s"), "{single}");
        reports.iter_mut().for_each(|report| report.flows[0].above = None);
        assert!(things::taken(&caption, &reports).is_none());
        assert!(all(&caption, &reports).iter().all(|figure| !figure.svg.contains("not of Transfers")));
    }

    /// Titles say what is drawn: frames of one protocol beside messages of another are both, and where users
    /// wait for messages a title does not say that messages are not messages.
    #[test]
    fn titles_say_what_is_drawn() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        let above = FRAMES;
        let carried = ["frames of Scheduled Transfer", "messages of sessions"];
        for ((report, carries), unit) in reports.iter_mut().zip(carried).zip(["Transfers", "messages"]) {
            report.flows.truncate(1);
            let flow = &mut report.flows[0];
            flow.messages = Some(Box::new(flow.clone()));
            flow.above = Some(Above { carries, ..above });
            flow.books = Books { unit, asked: 4, arrived: 4, ..Books::default() };
        }
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let figure =
            |name: &str, reports: &[VariantReport]| svg(&caption, reports, name).expect("it is drawn");
        for (name, title) in [
            ("message_cdf", "Latency of frames and messages of protocols from protocol to protocol"),
            (
                "latency_tail",
                "Tails of the latency of frames and messages of protocols, from protocol to protocol",
            ),
            ("message_decomposition", "Where the time of frames and messages of protocols goes"),
        ] {
            let drawn = figure(name, &reports);
            assert!(drawn.lines().any(|line| line == title), "{name}: {drawn}");
            assert!(!drawn.contains("not of"), "{name}");
            let words: Vec<&str> = drawn.lines().filter(|line| !line.starts_with('<')).collect();
            assert!(words.join(" ").contains("users wait for Transfers or messages of their own"), "{name}");
        }
        // of messages of sessions alone
        let alone = figure("message_decomposition", &reports[1..]);
        assert!(alone.lines().any(|line| line == "Where the time of messages of sessions goes"), "{alone}");
        assert!(figure("decomposition", &reports[1..]).contains("packets goes, not of messages"));
    }

    /// 7 245 of 18 738 packets are responses in one variant, 39 %, and none of 4 731 in the other; the
    /// packets of one carry 100 octets, of the other 300. Two that are alike in that need no word of it.
    #[test]
    fn mixtures_are_told() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        for (report, name) in reports.iter_mut().zip(["copies", "multicast"]) {
            report.run.name = name.into();
            report.flows.truncate(1);
        }
        let mix = |reports: &mut [VariantReport; 2], made: [[u64; 2]; 2], octets: [u64; 2]| {
            for ((report, [requests, responses]), octets) in reports.iter_mut().zip(made).zip(octets) {
                let flow = &mut report.flows[0];
                flow.protocol = Some(FlowStats { requests, responses, ..FlowStats::default() });
                flow.delivered.payload = octets * flow.delivered.packets;
            }
            let name = reports[0].flows[0].name.clone();
            mixture(reports, &[&name], PACKETS)
        };
        let told = mix(&mut reports, [[11_493, 7_245], [4_731, 0]], [100, 300]);
        assert_eq!(
            told,
            "a mixture: responses among packets 0 % in multicast, 39 % in copies; mean octets of a packet \
             100 in copies, 300 in multicast"
        );
        let alike = mix(&mut reports, [[100, 98], [100, 100]], [100, 103]);
        assert_eq!(alike, "a mixture: responses among packets 50 %");
        assert_eq!(mix(&mut reports, [[100, 0], [100, 0]], [100, 100]), "");
        // all of them are no mixture
        assert_eq!(mix(&mut reports, [[0, 100], [0, 100]], [100, 100]), "");
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        mix(&mut reports, [[100, 0], [100, 100]], [100, 100]);
        for name in ["latency_cdf", "network_latency_cdf", "decomposition"] {
            let drawn = svg(&caption, &reports, name).expect("it is drawn");
            let words: Vec<&str> = drawn.lines().filter(|line| !line.starts_with('<')).collect();
            assert!(words.join(" ").contains("responses among packets 0 % in copies, 50 % in"), "{name}");
        }
    }

    /// By hand, as in the studies `ethernet-bridge` and `ethernet-multicast`: 480 messages open and accept
    /// conduits. Of 4 894 that are delivered that is 9.8 %, whether their sources send 4 414 copies of data
    /// or switches copy 1 600; of 24 480 it is 2 %. Where 894 are lost, nobody counted of which kind: the
    /// share is that of those sent, and says so.
    #[test]
    fn mixtures_are_of_what_is_drawn() {
        let report = |name: &str, [sent, delivered]: [u64; 2], copied: bool| {
            let mut report = VariantReport::new(run(WITH));
            report.run.name = name.into();
            report.flows.truncate(1);
            let stats = SessionStats { messages: sent, data_messages: sent - 480, ..SessionStats::default() };
            report.run.outcome.totals.push(SessionTotals { flow: 0, stats, ..SessionTotals::default() });
            let flow = &mut report.flows[0];
            flow.messages = Some(Box::new(flow.clone()));
            flow.protocol = Some(FlowStats { sent, delivered, ..FlowStats::default() });
            (flow.left, flow.dropped, flow.copied) = (0, sent.saturating_sub(delivered), copied);
            report
        };
        let told = |reports: [VariantReport; 2]| {
            let name = reports[0].flows[0].name.clone();
            mixture(&reports, &[&name], MESSAGES)
        };
        let copies = || report("copies", [4_894, 4_894], false);
        let same = told([copies(), report("multicast", [2_080, 4_894], true)]);
        assert_eq!(same, "a mixture: management among messages 10 %");
        let none = [report("copies", [24_480, 24_480], false), report("multicast", [2_080, 24_480], true)];
        assert_eq!(told(none), "");
        let lost = told([report("all", [960, 960], false), report("lossy", [4_894, 4_000], false)]);
        let law = "a mixture: management among messages 10 % of those sent in lossy, 50 % in all";
        assert_eq!(lost, law);
    }

    /// A Transfer is under way for 999 us, in packets and frames of which none takes longer than 68 us; the
    /// oldest packet of all is 3 us old, the oldest frame 5 us. Then a packet is 900 us old: it is told where
    /// times count from its creation.
    #[test]
    fn ages_are_of_what_is_drawn() {
        let mut report = VariantReport::new(run(WITH));
        let name = report.flows[0].name.clone();
        let end = report.run.outcome.end.0;
        let flow = &mut report.flows[0];
        flow.latency.max = 68e6;
        flow.messages = Some(Box::new(flow.clone()));
        flow.above = Some(FRAMES);
        let books = Books { unit: "Transfers", asked: 5, arrived: 1, under_way: 4, ..Books::default() };
        flow.books = Books { oldest_ps: Some(999_000_000), ..books };
        let ago = |ps: u64| Some(Time(end - ps));
        let left = |packet: u64| FlowLeft {
            oldest_packet: ago(packet),
            oldest_message: ago(5_000_000),
            ..FlowLeft::default()
        };
        let told = |report: &VariantReport| {
            let reports = std::slice::from_ref(report);
            [PACKETS, ON_LINKS, MESSAGES].map(|level| stuck(reports, &[&name], level))
        };
        report.run.outcome.left = vec![left(3_000_000), FlowLeft::default()];
        assert_eq!(told(&report), ["", "", ""]);
        // a request that waits for its answer is no packet, whose oldest is 3 us old
        let was = report.flows[0].clone();
        let flow = &mut report.flows[0];
        (flow.above, flow.books.unit) = (None, "requests");
        flow.protocol = Some(FlowStats { round_trips: 1, ..FlowStats::default() });
        assert_eq!(told(&report)[0], "");
        report.flows[0] = was;
        report.run.outcome.left[0] = left(900_000_000);
        let variant = &report.run.name;
        let law = format!("some wait for longer than any that arrived: {variant} 900 \u{b5}s");
        assert_eq!(told(&report), [law.as_str(), "", ""]);
    }

    /// Twice as long above saturation is twice the latency: whose overload is longer is said beside it.
    #[test]
    fn overloads_of_other_lengths_are_told() {
        let overload = |ps: u64| {
            let mut data = run(WITH);
            data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
            let delivery = super::synthetic::plain(2_000_000, 500_000, 0);
            models::Probe::delivered(&mut data.collector, &delivery);
            for at in [0, ps] {
                let offer = models::probe::Offered { at: Time(at), ..super::synthetic::offer(&delivery) };
                models::Probe::offered(&mut data.collector, &offer);
            }
            data.name = format!("until-{}", ps / 1_000_000);
            let mut report = VariantReport::new(data);
            report.flows[0].falls_behind = true;
            report
        };
        let name = overload(100_000_000).flows[0].name.clone();
        let told = |lengths: [u64; 2]| unequal_overloads(&lengths.map(overload), &[&name], PACKETS);
        let law = "latency grows for as long as a flow asks for more than it gets";
        let both = format!("{law}: {name} for 100 \u{b5}s in until-100, 200 \u{b5}s in until-200");
        assert_eq!(told([200_000_000, 100_000_000]), both);
        // what waits at its source takes no network time yet
        let lengths = [200_000_000, 100_000_000].map(overload);
        assert_eq!(unequal_overloads(&lengths, &[&name], ON_LINKS), "");
        assert_eq!(told([100_000_000, 103_000_000]), "");
    }

    /// 407.200 and 407.295 ns are counted in one bucket of 256 ps, and one flow has its maximum there: both
    /// stand at one place. The axis is as wide as it takes not to see a bucket.
    #[test]
    fn a_bucket_is_no_difference() {
        let of = |times: &[u64]| {
            let mut spread = Spread::default();
            for ps in times {
                spread.histogram.record(*ps).unwrap();
                (spread.min, spread.max) = (spread.min.min(*ps), spread.max.max(*ps));
            }
            spread
        };
        let spreads = [of(&[407_100, 407_100]), of(&[407_100, 407_289])];
        assert_eq!(bucket(&spreads[0], 407_100.0), 256.0);
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        for (report, spread) in reports.iter_mut().zip(&spreads) {
            report.flows.truncate(1);
            report.flows[0].spread.latency = spread.clone();
        }
        let panel = |horizontal| Panel {
            x: 0.0,
            y: 0.0,
            width: 400.0,
            height: 200.0,
            horizontal,
            vertical: Axis::exactly(100.0),
        };
        let axis = panel(Axis::times(400_000.0, 420_000.0));
        let [a, b] = [&spreads[0], &spreads[1]].map(|spread| cdf(spread, &axis));
        assert_eq!(a.last().map(|point| point.1), Some(100.0));
        assert_eq!(a, b);
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let drawn = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
        // 256 ps in less than a line: 854 units of the page are 146 ns at the least, from 334 to 480
        assert!(drawn.contains("\n300 ns\n") && drawn.contains("\n500 ns\n"), "{drawn}");
        assert!(!drawn.contains("(logarithmic)"));
    }

    /// Without the source queue a packet takes 9 us, of which its network latency is 1: the picture says that
    /// it may wait at its source for other causes.
    #[test]
    fn what_is_left_without_the_source_queue_is_named() {
        let mut report = VariantReport::new(run(WITH));
        report.flows.truncate(1);
        let flow = &mut report.flows[0];
        let packets = u128::from(flow.delivered.packets);
        flow.spread.parts_ps = [0; 13];
        flow.spread.parts_ps[Cause::SourceQueue as usize] = 20_000_000 * packets;
        flow.spread.parts_ps[Cause::Recovery as usize] = 9_000_000 * packets;
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let says = |report: &mut VariantReport, network: f64| {
            report.flows[0].network.mean.value = network;
            let drawn = svg(&caption, std::slice::from_ref(report), "decomposition").expect("it is drawn");
            drawn.contains("without the source queue is more than network latency")
        };
        assert!(says(&mut report, 1e6) && !says(&mut report, 9e6));
    }

    const WITHOUT_NAME: &str = "base";

    /// Of a run with more full queues of hosts than `queues.csv` has room for, it has those that are drawn as
    /// well: each key of the picture stands in the file.
    #[test]
    fn what_is_drawn_of_queues_is_in_a_file() {
        let mut data = run(WITH);
        let mut config = (*data.config).clone();
        let hosts = crate::series::QUEUES_LISTED as u32 + 6;
        let switch = config.devices.pop().expect("it is the last");
        for n in config.devices.len() as u32..hosts {
            let mut host = config.devices[0].clone();
            host.path = format!("ep/{n}");
            config.devices.push(host);
        }
        config.devices.push(switch);
        config.links.iter_mut().for_each(|link| link.b.0 = hosts);
        let ports: Arc<Vec<(u32, u8)>> =
            Arc::new((0..hosts).map(|host| (host, 0)).chain([(hosts, 5)]).collect());
        data.collector = Collector::new(&CollectorConfig::new(&config, LENGTH));
        const EVERY: u64 = 1_000_000;
        for at in (EVERY..LENGTH.0).step_by(EVERY as usize) {
            let mut sample = models::probe::Sample {
                at: Time(at),
                since: Time(at - EVERY),
                ports: Arc::clone(&ports),
                ..Default::default()
            };
            for (device, _) in ports.iter() {
                sample.input_ps.push(0);
                sample.waiting_ps.push(EVERY * if *device == hosts { 3 } else { 9 });
            }
            models::Probe::sample(&mut data.collector, &sample);
        }
        data.config = Arc::new(config);
        let reports = [VariantReport::new(data)];
        let drawn = queues_drawn(&reports);
        assert_eq!(drawn.iter().collect::<Vec<_>>(), ["leaf/0:5"]);
        let file = crate::series::queues_csv(&reports);
        assert!(file.lines().any(|line| line.contains("leaf/0:5,")), "{}", &file[..200]);
        let listed: BTreeSet<&str> = file.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
        assert_eq!(listed.len(), crate::series::QUEUES_LISTED + 1);
    }

    /// One link with a message that rides and two with a symbol of eight characters of their own: 16
    /// characters. What links do is counted in words of its own.
    #[test]
    fn what_messages_and_errors_of_links_come_to_is_counted() {
        let mut report = VariantReport::new(run(WITH));
        let at = report.run.outcome.ports.iter_mut().find(|port| (port.0, port.1) == (6, 2)).expect("a port");
        (at.2.voq_riding, at.2.voq_standalone) = (1, 2);
        let end = models::stats::LinkStats { timeouts: 3, not_accepted: 5, retries: 7, ..Default::default() };
        report.run.outcome.links = vec![(0, 0, end), (6, 0, end)];
        let counts = crate::counts::measures(&report);
        for (what, law) in [
            ("characters of VoQ messages with symbols of their own", 16),
            ("link timeouts", 6),
            ("refusals (packet-not-accepted)", 10),
            ("refusals without room (packet-retry)", 14),
        ] {
            assert_eq!(counts.iter().find(|count| count.0 == what).map(|count| count.1), Some(law), "{what}");
        }
    }

    /// Links of which one end repeats packets are in one variant only, and their repetitions are the result.
    #[test]
    fn what_only_some_variants_count_is_shown() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let end = models::stats::LinkStats { repeated: 4_321, ..Default::default() };
        reports[1].run.outcome.links = vec![(0, 0, end)];
        let figure = things::counted(&caption, &reports).expect("one repeats").to_svg();
        assert!(figure.contains("repetitions on links") && figure.contains("4 321"), "{figure}");
        assert!(x_of(&figure, "4 321") > x_of(&figure, "-"));
        assert!(figure.contains("-: nothing of the kind can happen in this variant"));
        reports[1].run.outcome.links[0].2.repeated = 0;
        let none = things::counted(&caption, &reports).map(|scene| scene.to_svg());
        assert!(none.is_none_or(|figure| !figure.contains("repetitions")));
    }

    /// A third waits: figures of latencies say so, for who waits is in none of them.
    #[test]
    fn what_is_under_way_is_told_beside_distributions() {
        let mut report = VariantReport::new(run(WITH));
        let name = report.flows[0].name.clone();
        (report.flows[0].arrived, report.flows[0].left) = (200, 100);
        report.flows[0].falls_behind = true;
        // the same of packets that a protocol sends, which has books of its own
        report.flows[0].books = Books { unit: "PDUs", asked: 3, arrived: 3, ..Books::default() };
        let told = |report: &VariantReport| still_under_way(std::slice::from_ref(report), &[&name], PACKETS);
        assert_eq!(told(&report), format!("not there at the end: {} 33 %", report.run.name));
        report.flows[0].left = 2;
        assert_eq!(told(&report), "");
        // 17 of 1 242 are on their way in a loop that keeps up: curve, caption and mean all pass over them
        let flow = &mut report.flows[0];
        (flow.arrived, flow.left, flow.falls_behind) = (1_225, 17, false);
        report.run.outcome.stalls.clear();
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let says = |report: &VariantReport| {
            let reports = std::slice::from_ref(report);
            let drawn =
                ["latency_cdf", "decomposition"].map(|name| svg(&caption, reports, name).expect("is drawn"));
            let caption = drawn[0].contains("not there at the end");
            let curve = come_share(report, &report.flows[0], PACKETS) < 1.0;
            (caption, curve, drawn[1].contains(", of 98.6 %"))
        };
        assert_eq!(says(&report), (false, false, false));
        report.flows[0].falls_behind = true;
        assert_eq!(says(&report), (true, true, true));
    }

    /// A packet every microsecond takes 100 us, in a run of 2 ms: 1 900 of 2 000 arrive, and 100 are under
    /// way at any time (Little's law). The flow does not fall behind for it, its curve ends at 100 %, and
    /// nothing is "not there". Where each takes longer than the one before, so that 1 000 are under way at
    /// the end, and 500 on average, it falls behind; and where those of the second half take 100 us and those
    /// before 50.
    #[test]
    fn what_is_on_its_way_in_a_short_run_is_not_left_behind() {
        let report = |slower: u64| {
            let mut data = run(WITH);
            data.warmup = crate::Warmup::Fixed(0);
            data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
            let mut left = 0;
            for created in (0..LENGTH.0).step_by(1_000_000) {
                let latency = match slower {
                    0 => 100_000_000,
                    1 => created,
                    _ if created > LENGTH.0 / 2 => 100_000_000,
                    _ => 50_000_000,
                };
                let mut delivery = super::synthetic::plain(created + latency, latency, 0);
                delivery.link_ps = 114_000;
                models::Probe::offered(&mut data.collector, &super::synthetic::offer(&delivery));
                match created + latency <= LENGTH.0 {
                    true => models::Probe::delivered(&mut data.collector, &delivery),
                    false => left += 1,
                }
            }
            data.outcome.left =
                vec![models::stats::FlowLeft { packets: left, to_arrive: left, ..Default::default() }; 1];
            VariantReport::new(data)
        };
        let (short, behind) = (report(0), report(1));
        assert!(report(2).flows[0].falls_behind);
        assert_eq!((short.flows[0].arrived, short.flows[0].left), (1_901, 99));
        assert!(!short.flows[0].saturated && !short.flows[0].falls_behind);
        assert_eq!(come_share(&short, &short.flows[0], PACKETS), 1.0);
        assert!(behind.flows[0].falls_behind && come_share(&behind, &behind.flows[0], PACKETS) < 0.51);
    }

    /// Of a closed loop that made a tenth of the packets that it makes elsewhere only these few are in a
    /// distribution, so it says how few; open loops make as many as they were told to.
    #[test]
    fn starved_closed_loops_are_told_beside_distributions() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(closed_loops(mood)));
        let names: Vec<String> = reports[0].flows.iter().map(|flow| flow.name.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(starved(&reports, &names, PACKETS), "");
        let most = reports[1].flows[0].delivered.packets / reports[1].flows[0].sources;
        let rest =
            [&reports[0].flows[1], &reports[1].flows[1]].map(|flow| flow.delivered.packets / flow.sources);
        assert!(rest.iter().all(|count| *count < most), "{most} {rest:?}");
        let few = most / 10 * reports[0].flows[0].sources;
        let length = reports[0].flows[0].delivered.link_ps / reports[0].flows[0].delivered.packets;
        reports[0].flows[0].delivered.packets = few;
        assert_eq!(starved(&reports, &names, PACKETS), "", "as few as they are, they take all of the link");
        reports[0].flows[0].delivered.link_ps = few * length;
        let time = reports[0].window.ps() * reports[0].flows[0].sources;
        reports[0].flows[0].accepted_load.value = ratio((few * length).into(), time.into());
        let said = starved(&reports, &names, PACKETS);
        let rate = |n: usize| reports[n].flows[0].delivered.link_ps as f64 / reports[n].window.ps() as f64;
        let share = 100.0 * rate(0) / rate(1);
        let count = count_text(few);
        let law =
            format!("{} in {} {count} (a source {share:.1} % of the busiest)", names[0], reports[0].run.name);
        assert!(said.contains(&law), "{law}: {said}");
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        for name in ["latency_cdf", "decomposition"] {
            let figure = svg(&caption, &reports, name).expect("it is drawn");
            assert!(figure.contains("make few packets where they are slow"), "{name}");
        }
        let mut open = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        open[0].flows[0].delivered.link_ps = few * length;
        assert_eq!(starved(&open, &names, PACKETS), "");
    }

    /// By hand: of two flows that get a packet every microsecond one takes 1 us in one variant, and 1 us to
    /// 15 us in another, evenly, at its source. So its mean from creation is that of the length of the run,
    /// whatever the run as a whole is said to be; its rate is not, nor its network latency, nor the other
    /// flow. One that is done after half of the run has half of its rate in a run as long again.
    #[test]
    fn who_is_not_steady_is_named_in_what_is_not() {
        let report = |name: &str, climb: u64, half: bool| {
            let mut data = run(WITH);
            data.name = name.into();
            data.warmup = crate::Warmup::Fixed(0);
            data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
            let end = |flow| if half && flow == 1 { LENGTH.0 / 2 } else { LENGTH.0 };
            for at in (20_000_000..LENGTH.0).step_by(1_000_000) {
                for flow in (0..2).filter(|flow| at < end(*flow)) {
                    let wait =
                        if flow == 0 { 14_000_000 * climb * (at / 1_000) / (LENGTH.0 / 1_000) } else { 0 };
                    let mut delivery = super::synthetic::plain(at, 1_000_000 + wait, flow);
                    delivery.parts[Cause::OutputContention] = 1_000_000;
                    delivery.parts[Cause::SourceQueue] = wait;
                    delivery.parts.source = wait;
                    models::Probe::offered(&mut data.collector, &super::synthetic::offer(&delivery));
                    models::Probe::delivered(&mut data.collector, &delivery);
                }
            }
            VariantReport::new(data)
        };
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let said = |reports: &[VariantReport], name: &str| {
            let drawn = svg(&caption, reports, name).expect("it is drawn");
            let words: Vec<&str> = drawn.lines().filter(|line| !line.starts_with('<')).collect();
            let words = words.join(" ");
            let at = words.find("not steady").map(|at| &words[at..])?;
            Some(at.split(" \u{b7} ").next().unwrap_or(at).to_owned())
        };
        let mut reports = [report("flat", 0, false), report("climbs", 1, false)];
        reports[0].window.steady = false;
        let victim = reports[0].flows[0].name.clone();
        for name in ["goodput", "load", "network_latency_cdf"] {
            assert_eq!(said(&reports, name), None, "{name}");
        }
        for (name, law) in [
            ("decomposition", "not steady, mean depends on the length of the run"),
            ("latency_cdf", "not steady, they depend on the length of the run"),
            ("latency_tail", "not steady, they depend on the length of the run"),
            ("victims", "not steady, they depend on the length of the run"),
        ] {
            let said = said(&reports, name).unwrap_or_default();
            // the only one that is not hot
            let at = if name == "victims" { "climbs".into() } else { format!("{victim} in climbs") };
            assert!(said.starts_with(&format!("{law}: {at}")), "{name}: {said}");
        }
        let reports = [report("flat", 0, false), report("half", 0, true)];
        let hot = &reports[0].flows[1].name;
        for name in ["goodput", "load"] {
            let said = said(&reports, name).unwrap_or_default();
            assert!(said.contains(&format!("length of the run: {hot} in half")), "{name}: {said}");
        }
        assert_eq!(said(&reports, "decomposition"), None);
    }

    /// What is counted in all of a run has no course: the variants that are not steady are named.
    #[test]
    fn variants_that_are_not_steady_are_named() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        let name = reports[1].run.name.clone();
        (reports[0].window.steady, reports[1].window.steady) = (true, true);
        assert_eq!(transient(&reports), "");
        reports[1].window.steady = false;
        assert_eq!(transient(&reports), format!("{UNSTEADY}: {name}"));
        reports[0].window.steady = false;
        assert_eq!(transient(&reports), UNSTEADY);
    }

    /// Where a ratio has no value a dash stands where its bar would begin, on the page.
    #[test]
    fn what_has_no_value_stays_on_the_page() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        reports[1].flows[0].goodput_gbps.value = f64::NAN;
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let figure = svg(&caption, &reports, "goodput").expect("it is drawn");
        let dash = figure.lines().scan("", |before, line| {
            let pair = (*before, line);
            *before = line;
            Some(pair)
        });
        let places: Vec<f64> = dash
            .filter(|(_, line)| line.trim() == "-")
            .map(|(open, _)| open.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert!(!places.is_empty() && places.iter().all(|x| *x > MARGIN), "{places:?}");
    }

    /// The fullest queue of each variant is drawn, however empty it is elsewhere and however full are those
    /// of others; what has no room is the second of somebody. Where nothing waits nothing is the fullest.
    #[test]
    fn every_panel_shows_its_own_fullest_queue() {
        let queue = |mean: u64, name: &str| (mean, name.to_owned(), true);
        let many = (0..9).map(|n| queue(9_000 - n, &format!("a:{n}"))).collect();
        let quiet = vec![queue(50, "d:0"), queue(40, "d:1"), queue(9, "d:2")];
        let means = [many, vec![queue(500, "b:0"), queue(400, "a:0")], vec![queue(1, "c:0")], quiet];
        let shown = chosen(&means);
        let names: Vec<&str> = shown.iter().map(|queue| queue.1.as_str()).collect();
        assert_eq!(names, ["a:0", "b:0", "d:0", "a:1", "d:1", "a:2", "a:3"]);
        assert_eq!(chosen(&means[2..]).iter().map(|queue| queue.0).collect::<Vec<u64>>(), [50, 40]);
    }

    /// One packet of 4 us after the other: means over a sixty-fourth of 2 ms hold 7 or 8 of them, and look up
    /// to 3 % faster than the line; over 20 packets at least, none is off by more than one of them.
    #[test]
    fn long_packets_are_no_faster_than_their_link() {
        const LONG: u64 = 4_300_000;
        let mut data = run(WITH);
        data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
        for n in 1..=LENGTH.0 / LONG {
            let mut delivery = super::synthetic::plain(n * LONG, LONG, 0);
            (delivery.payload, delivery.link_ps) = (4_000, LONG);
            models::Probe::delivered(&mut data.collector, &delivery);
        }
        let reports = [VariantReport::new(data)];
        assert_eq!(longest_packet(&reports[0]), (LONG, 4_000));
        let line = gbps(4_000, LONG);
        let most = |least: fn(&VariantReport) -> u64| {
            let scales = Scales::new(&reports, busy_end, least);
            let bins = &reports[0].run.collector.flows()[0].bins;
            let points = over_time(&reports[0], scales.of[0], |range, ps| {
                Some(gbps(bins[range].iter().map(|bin| bin.payload).sum(), ps))
            });
            (points.iter().map(|point| point.1).fold(0.0, f64::max) / line, points.len())
        };
        let (before, after) = (most(|_| 0), most(|report| PACKETS_OF_MEAN * longest_packet(report).0));
        assert!(before.0 > 1.05 && before.1 > 60, "{before:?}");
        assert!(after.0 <= 1.05 && after.1 >= LEAST_POINTS as usize, "{after:?}");
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let told = throughput(&caption, &reports).to_svg();
        // 4 000 octets in 20 packets of 4.3 us, in bins of the collector
        let mut scales = Scales::new(&reports, busy_end, |report| longest_packet(report).0 * PACKETS_OF_MEAN);
        let names = flow_names(&reports, PACKETS);
        scales.fit_bursts(&reports, &|report, scale| rates(report, scale, &names));
        let grain = scales.of[0].grain(&reports[0]);
        assert!(grain >= 20 * LONG, "{grain}");
        let law = format!(
            "one of 4 000 octets makes {} Gb/s in a mean over {}",
            three_digits(32_000.0 * 1e3 / grain as f64),
            time_text(grain as f64)
        );
        let words: Vec<&str> = told.lines().filter(|line| !line.starts_with('<')).collect();
        assert!(words.join(" ").contains(&law), "{law}: {words:?}");
    }

    /// What arrived of a flow that leaves nothing behind.
    fn arrived_share(flow: &FlowReport, level: Level) -> f64 {
        let mut report = VariantReport::new(run(WITH));
        report.run.outcome.stalls.clear();
        1.0 - never_share(&report, flow, level)
    }

    /// 900 of 1 000 arrived: the distribution of those that did ends at 90 %.
    #[test]
    fn what_never_arrives_is_missing_in_a_distribution() {
        let mut flow = VariantReport::new(run(WITH)).flows.remove(0);
        flow.falls_behind = false;
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
        // of 10 000 the scenario lost 100, the fabric dropped 600, and 300 pile up
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
        assert_eq!(arrived_share(&flow, MESSAGES), 1.0 - 600.0 / 9_900.0);
        assert_eq!(under_way_share(&flow, MESSAGES), 300.0 / 9_900.0);
        // others send more than such frames
        flow.above = Some(Above { nothing_else: false, ..above });
        assert_eq!((arrived_share(&flow, MESSAGES), under_way_share(&flow, MESSAGES)), (1.0, 0.0));
    }

    /// 32 of 36 packets arrived, and four stand still for ever: they are neither fast nor lost. The same four
    /// on their way at the end of a run without a stall say nothing; of a flow that falls behind they do.
    #[test]
    fn who_stands_still_is_missing_in_a_distribution() {
        let mut report = VariantReport::new(run(WITH));
        let mut flow = report.flows[0].clone();
        (flow.arrived, flow.dropped, flow.left, flow.falls_behind) = (32, 0, 4, false);
        flow.books = Books { asked: 36, arrived: 32, never: 0, under_way: 4, ..flow.books };
        report.run.outcome.stalls.clear();
        assert_eq!(come_share(&report, &flow, PACKETS), 1.0);
        flow.falls_behind = true;
        assert_eq!(come_share(&report, &flow, PACKETS), 1.0 - 4.0 / 36.0);
        // Beside what stands still, what never arrives is a share of the same whole.
        let books = flow.books;
        flow.books = Books { asked: 78, arrived: 23, never: 24, under_way: 31, ..books };
        (flow.arrived, flow.dropped, flow.left) = (23, 24, 31);
        let parts = [never_share(&report, &flow, PACKETS), left_share(&report, &flow, PACKETS)];
        assert_eq!(parts, [24.0 / 78.0, 31.0 / 78.0]);
        (flow.arrived, flow.dropped, flow.left, flow.books) = (32, 0, 4, books);
        flow.falls_behind = false;
        let walk = vec!["it waits".into()];
        // found 100 us after it stopped, half a run before the end
        let (at, since) = (Time(LENGTH.0 / 2), Time(LENGTH.0 / 2 - 100_000_000));
        report.run.outcome.stalls.push(StallReport { at, since, cycle: false, walk });
        let end = LENGTH.0;
        let share = |oldest_ps: Option<u64>| {
            let mut flow = flow.clone();
            (flow.books.oldest_ps, flow.books.under_way) = (oldest_ps, 4);
            come_share(&report, &flow, PACKETS)
        };
        let stands = 1.0 - 4.0 / 36.0;
        // made before it stopped, at that very moment, or nobody knows when: it stands with it
        assert_eq!([Some(end), Some(end - since.0), None].map(share), [stands; 3]);
        // made a microsecond before the end: it is on its way, though another flow stands
        assert_eq!([Some(1_000_000), Some(end - since.0 - 1)].map(share), [1.0; 2]);
        Arc::make_mut(&mut report.run.config).stall_after = Some(models::sim_core::Duration(100_000_000));
        let share = |ps: u64| {
            let mut flow = flow.clone();
            flow.books.oldest_ps = Some(ps);
            come_share(&report, &flow, PACKETS)
        };
        // or it has waited for as long as the watchdog waits before it calls that a stall
        assert_eq!([100_000_000, 99_999_999].map(share), [stands, 1.0]);
    }

    /// Three lines, of which the first and the last lie on one another: the caption names both. Half a line
    /// more, and all are seen.
    #[test]
    fn lines_that_hide_one_another_are_named() {
        let line = |up: f64| vec![(10.0, 50.0 + up), (20.0, 40.0 + up)];
        assert_eq!(coinciding(&[(3, line(0.0)), (4, line(9.0)), (7, line(0.5))]), [[3, 7]]);
        assert!(coinciding(&[(3, line(0.0)), (7, line(0.8))]).is_empty());
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let reports = ["a", "b"].map(|name| VariantReport::new(RunData { name: name.into(), ..run(WITH) }));
        let figure = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
        assert!(figure.contains("one line: a = b"));
        // as many lines as it takes, and no end is cut
        let names: Vec<String> = (0..7).map(|n| format!("a-variant-with-a-long-name-{n}")).collect();
        let reports: Vec<VariantReport> = names
            .iter()
            .map(|name| VariantReport::new(RunData { name: name.clone(), ..run(WITH) }))
            .collect();
        let figure = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
        let words: Vec<&str> = figure.lines().filter(|line| !line.starts_with('<')).collect();
        assert!(words.join(" ").contains(&format!("one line: {}", names.join(" = "))), "{words:?}");
        let reports = [WITH, WITHOUT].map(|mood| VariantReport::new(run(mood)));
        let figure = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
        assert!(!figure.lines().any(|line| line.starts_with("one line: VoQ")), "{figure}");
    }

    /// 221 frames of Scheduled Transfer arrived, 80 of them at a translator that dropped them, as in the
    /// study `st-translator`: all have their times in curve and mean, so these are of all 221, and captions
    /// say that the 80 are among them. They say as well that frames do not wait for a Clear_To_Send, and name
    /// frames as their title does.
    #[test]
    fn what_a_translator_drops_has_come_that_far() {
        let above = Above {
            carries: "frames of Scheduled Transfer",
            nothing_else: true,
            latency: "mean time of a Transfer",
            sum_ps: 0,
            count: 0,
            lost_late: 0,
            touched: [0; 2],
        };
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        for report in &mut reports {
            let flow = &mut report.flows[0];
            flow.messages = Some(Box::new(flow.clone()));
            flow.protocol = Some(FlowStats { sent: 221, delivered: 221, ..FlowStats::default() });
            flow.above = Some(above);
        }
        let flow = &mut reports[1].flows[0];
        assert_eq!(arrived_share(flow, MESSAGES), 1.0);
        flow.not_passed = 80;
        assert_eq!(arrived_share(flow, MESSAGES), 1.0, "the curve of all 221 is not pressed");
        let variant = reports[1].run.name.clone();
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let words = |name: &str| {
            let figure = svg(&caption, &reports, name).expect("it is drawn");
            figure.lines().filter(|line| !line.starts_with('<')).collect::<Vec<&str>>().join(" ")
        };
        let lost = format!("with frames that arrived at a translator, which dropped them: 80 in {variant}");
        for name in ["message_cdf", "latency_tail", "message_decomposition"] {
            assert!(words(name).contains(&lost), "{name}: {}", words(name));
            assert!(!words(name).contains("messages") && !words(name).contains(", of "), "{}", words(name));
        }
        let share = "share of frames of Scheduled Transfer delivered within a time";
        assert!(words("message_cdf").contains(share));
        let lost = format!("arrived at a translator, which dropped them: 80 in {variant}");
        for name in ["latency_cdf", "decomposition"] {
            assert!(words(name).contains(&lost), "{name}: {}", words(name));
            assert!(
                words(name).contains("waiting for a Clear_To_Send, or for Slots, is in none of them"),
                "{name}"
            );
        }
        assert!(words("throughput").contains("in both directions together"));
    }

    /// A label that is longer than the axis beside which it stands runs over the legend above: of two panels
    /// side by side it names frames and leaves it to the title of which protocol they are.
    #[test]
    fn labels_are_no_longer_than_their_axis() {
        let mut report = VariantReport::new(run(WITH));
        for flow in &mut report.flows {
            flow.messages = Some(Box::new(flow.clone()));
            flow.above = Some(FRAMES);
        }
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let labels = |report: &VariantReport| -> Vec<String> {
            let drawn = svg(&caption, std::slice::from_ref(report), "latency_tail").expect("it is drawn");
            drawn.lines().filter(|line| line.ends_with("that take longer (%)")).map(Into::into).collect()
        };
        let long = "frames of Scheduled Transfer that take longer (%)";
        assert!((231.0..340.0).contains(&text_width(long, LABEL)));
        assert_eq!(labels(&report), ["frames that take longer (%)"; 2]);
        report.flows.truncate(1);
        assert_eq!(labels(&report), [long]);
    }

    /// What a translator passes on is delivered twice, and a picture of rates says so.
    #[test]
    fn rates_say_that_translators_send_again() {
        let mut report = VariantReport::new(run(WITH));
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let words = "counts on each link that it is sent on";
        assert!(!throughput(&caption, std::slice::from_ref(&report)).to_svg().contains(words));
        let translators = vec![models::stats::TranslatorPart::default()];
        report.run.outcome.totals.push(TranslatorTotals { flow: 0, translators });
        assert!(throughput(&caption, std::slice::from_ref(&report)).to_svg().contains(words));
    }

    /// A flow that stands still has a line of its own beside the rates of those who gain by it: `hot`
    /// has four packets under way for 995 us of a run whose other flows go on.
    #[test]
    fn who_stands_still_is_named_beside_victims() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let figure = |reports: &[VariantReport]| svg(&caption, reports, "victims").expect("it is drawn");
        assert!(!figure(&reports).contains("stands still"));
        let books = Books { unit: "packets", under_way: 4, oldest_ps: Some(995_000_000), ..Books::default() };
        reports[1].flows[1].books = Books { asked: 36, arrived: 32, ..books };
        assert!(!figure(&reports).contains("stands still"), "what is under way may come");
        let since = Time(LENGTH.0 - 990_000_000);
        let stall = StallReport { at: LENGTH, since, cycle: false, walk: vec!["it waits".into()] };
        reports[1].run.outcome.stalls.push(stall);
        let law = "hot stands still: 4 packets under way to the end, the oldest for 995 \u{b5}s";
        assert!(figure(&reports).contains(law), "{}", figure(&reports));
        // without a watchdog that finds it: nothing of it arrived in the measured part, and it waits all
        // of it
        reports[1].run.outcome.stalls.clear();
        reports[1].flows[1].books.oldest_ps = Some(reports[1].window.ps());
        assert!(!figure(&reports).contains("stands still"));
        reports[1].flows[1].delivered.packets = 0;
        assert!(figure(&reports).contains("hot stands still: 4 packets under way to the end"));
    }

    /// A bar of 1.55 us beside one of 6.8 ms is a hair of two units; nothing has none.
    #[test]
    fn what_is_very_short_has_a_bar() {
        let mut reports = [WITHOUT, WITH, REFRESH].map(|mood| VariantReport::new(run(mood)));
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        for (report, dropped) in reports.iter_mut().zip([1_000_000, 1, 0]) {
            report.overall.dropped = dropped;
        }
        let figure = things::counted(&caption, &reports).expect("they differ").to_svg();
        // the page is drawn in eighths, and edges are rounded
        let bars = figure.matches("width=\"15\"").count() + figure.matches("width=\"16\"").count();
        assert_eq!(bars, 1, "{figure}");
    }

    /// By hand: of forty packets ten take 1 us, twenty 2 us and ten 4 us; of fifty that were sent ten never
    /// arrive. So 100 % take longer than nothing, 80, 40 and 20 % longer than these, and 20 % for ever. A
    /// share of forty is told from 8.8 % on (0.912^40 = 0.025), of four from 60 %: four have no tail, and
    /// from nine on a share that is told is one of more than three.
    #[test]
    fn tails_fall_in_steps() {
        let of = |times: usize| {
            let histogram = hdrhistogram::Histogram::new_with_bounds(1_000, 1 << 30, 3).unwrap();
            let mut spread = Spread { histogram, min: 1_000_000, max: 4_000_000 };
            for ps in [1_000_000, 2_000_000, 2_000_000, 4_000_000].repeat(times) {
                spread.histogram.record(ps).unwrap();
            }
            spread
        };
        let panel = Panel {
            x: 0.0,
            y: 0.0,
            width: 400.0,
            height: 200.0,
            horizontal: Axis::log_times(1e5, 1e7),
            vertical: Axis { low: 1.0, high: 100.0, log: true, ticks: Ticks::Plain },
        };
        let points = |times: usize, arrived: f64| tail(&of(times), arrived, &panel);
        let shares = |times: usize, arrived: f64| -> Vec<f64> {
            points(times, arrived).into_iter().map(|point| libm::round(10.0 * point.1) / 10.0).collect()
        };
        assert_eq!(shares(10, 0.8), [100.0, 100.0, 80.0, 80.0, 40.0, 40.0, 20.0, 20.0]);
        // all arrive: nothing is told of what is beyond the last
        assert_eq!(shares(10, 1.0), [100.0, 100.0, 75.0, 75.0, 25.0, 25.0, 8.8]);
        assert!((points(10, 1.0)[5].0 / 4e6 - 1.0).abs() < 0.001);
        assert!((LEAST_OF_TAIL..10_000).all(|n| (3.0..4.0).contains(&(n as f64 * least_tail(n as f64)))));
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let reports = [("many", 10), ("few", 1)].map(|(name, times)| {
            let mut report = VariantReport::new(RunData { name: name.into(), ..run(WITH) });
            report.flows.truncate(1);
            report.flows[0].spread.latency = of(times);
            report
        });
        let flow = &reports[0].flows[0].name;
        let told = svg(&caption, &reports, "latency_tail").expect("one of them has a tail");
        assert!(told.contains(&format!("too few for a tail: 4 of {flow} in few")), "{told}");
        // each has a key, and only one has steps
        let steps = |variant: usize| {
            let RGBColor(red, green, blue) = stroke(variant).color;
            let color = format!("\"#{red:02X}{green:02X}{blue:02X}\"");
            let lines = told.lines().filter(|line| line.starts_with("<polyline") && line.contains(&color));
            let points =
                |line: &str| line.split("points=\"").nth(1).map_or(0, |text| text.matches(',').count());
            lines.map(points).max()
        };
        assert!(steps(0) > Some(4) && steps(1) <= Some(2), "{:?}", [steps(0), steps(1)]);
        assert!(svg(&caption, &reports[1..], "latency_tail").is_none());
        assert!((least_tail(40.0) - 0.0881).abs() < 1e-4 && (least_tail(4.0) - 0.6024).abs() < 1e-4);
        assert!(least_tail(368.0) <= 0.01 && least_tail(367.0) > 0.01);
    }

    /// By hand: ten packets at once every 50 us are 0.2 packets a microsecond. Means over 31.25 us hold ten
    /// or none of them or what is between; means over 50 us, or 100, hold all of one burst or of two.
    #[test]
    fn means_hold_whole_bursts() {
        const PERIOD: u64 = 50_000_000;
        let mut data = run(WITH);
        data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
        for burst in 0..LENGTH.0 / PERIOD {
            for n in 1..=10 {
                let mut delivery = super::synthetic::plain(burst * PERIOD + n * 500_000, 500_000, 0);
                (delivery.payload, delivery.link_ps) = (1_000, 500_000);
                models::Probe::delivered(&mut data.collector, &delivery);
            }
        }
        let reports = [VariantReport::new(data)];
        let names = flow_names(&reports, PACKETS);
        let lines = |report: &VariantReport, scale: Scale| rates(report, scale, &names);
        let mut scales = Scales::new(&reports, busy_end, |_| 0);
        assert!(roughness(&lines(&reports[0], scales.of[0])) > 0.3);
        scales.fit_bursts(&reports, &lines);
        let (grain, bin) = (scales.of[0].grain(&reports[0]), reports[0].run.collector.bin_ps());
        let beside = |grain: u64| grain.abs_diff((grain + PERIOD / 2) / PERIOD * PERIOD);
        assert!(beside(grain) <= 2 * bin, "{grain} in bins of {bin}");
        let drawn = lines(&reports[0], scales.of[0]);
        let law = gbps(10 * 1_000, PERIOD);
        let near = drawn[0].iter().filter(|point| libm::fabs(point.1 - law) < 0.1 * law).count();
        assert!(5 * near >= 4 * drawn[0].len(), "{law}: {drawn:?}");
    }

    /// Of more flows than there is room for those are drawn that carry something somewhere: seven alike in
    /// one variant, one that is all of another, and a management flow only where nothing else is.
    #[test]
    fn flows_that_carry_most_somewhere_are_drawn() {
        let with = |flows: std::ops::Range<usize>| {
            let mut data = many_flows(9, WITH);
            data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
            for n in 0..70 {
                let mut delivery = super::synthetic::plain((n as u64 + 1) * 1_000_000, 500_000, 0);
                (delivery.payload, delivery.flow) = (64, (flows.start + n % flows.len()) as u16);
                models::Probe::delivered(&mut data.collector, &delivery);
            }
            let mut report = VariantReport::new(data);
            report.flows[0].books.asked = 0;
            report.flows[0].goodput_gbps.value = 0.0;
            report
        };
        let shown = |reports: &[VariantReport]| -> Vec<usize> {
            let names = flow_names(reports, PACKETS);
            let place = |name: &&str| names.iter().position(|other| other == name).unwrap();
            worth_most(reports, &names).iter().map(place).collect()
        };
        // flow 0 is told to carry nothing
        let alike = with(1..8);
        assert_eq!(shown(&[alike.clone(), with(8..9)]), [1, 2, 3, 4, 5, 8]);
        let only = |report: &VariantReport, flow: usize| {
            let mut report = report.clone();
            report.flows.retain(|other| other.name == alike.flows[flow].name);
            report
        };
        assert_eq!(shown(&[alike.clone(), only(&alike, 0)]), [0, 1, 2, 3, 4, 5]);
        // the first of each course come first (1, 6 and 8), then the next of each variant (2, 7 and 3)
        let mut some = with(1..8);
        some.run.collector = with(6..8).run.collector;
        assert_eq!(shown(&[alike.clone(), some, with(8..9)]), [1, 2, 3, 6, 7, 8]);
        // of many of which each carries a small part it is those that carry most, wherever they stand: these
        // six and the next carry 20 to 14 twentieths of the most
        let many = |order: fn(u64) -> u64| {
            let mut data = many_flows(40, WITH);
            data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
            let all = (0..40).flat_map(|flow| (0..5 + order(flow) * order(flow) / 4).map(move |n| (flow, n)));
            for (flow, n) in all {
                let mut delivery = super::synthetic::plain((n + 1) * 1_000_000, 500_000, 0);
                (delivery.payload, delivery.flow) = (64, flow as u16);
                models::Probe::delivered(&mut data.collector, &delivery);
            }
            let mut report = VariantReport::new(data);
            report.flows.iter_mut().for_each(|flow| flow.role = None);
            report
        };
        assert_eq!(shown(&[many(|flow| flow)]), [34, 35, 36, 37, 38, 39]);
        assert_eq!(shown(&[many(|flow| flow * 7 % 40)]), [5, 11, 17, 22, 28, 34]);
        // what the scenario declares comes before what carries more
        let mut declared = alike.clone();
        declared.flows[7].role = Some(crate::run::Role::Victim);
        assert_eq!(shown(&[declared]), [1, 2, 3, 4, 5, 7]);
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let told = throughput(&caption, &[alike]).to_svg();
        assert!(told.contains("6 of 9 flows: those that differ or carry most"), "{told}");
    }

    /// By hand: of twenty flows each carries more than the one before; of the third something is required,
    /// and the sixth is declared. These two and the ten that carry most are listed, in the order of the
    /// scenario; bars are of 120 of 130.
    #[test]
    fn flows_that_somebody_looks_for_are_listed() {
        use crate::requirement::{Amount, Limit, Relation, Requirement, Subjects};
        let of = |count: usize| {
            let mut report = VariantReport::new(many_flows(count, WITH));
            for (n, flow) in report.flows.iter_mut().enumerate() {
                (flow.role, flow.goodput_gbps.value) = (None, n as f64);
            }
            report.flows[5].role = Some(crate::run::Role::Victim);
            let limit = Limit::new("< 1 us".into(), Relation::Below, Amount::Time(1_000_000));
            let subjects = Subjects::Flows(vec![2]);
            report.required = vec![Requirement { subjects, metric: "mean".into(), limit }];
            report
        };
        let report = of(20);
        let text = crate::table::variant(&report);
        let names: Vec<&str> = report.flows.iter().map(|flow| flow.name.as_str()).collect();
        let lines = |n: &usize| text.lines().any(|line| line.trim_start().starts_with(names[*n]));
        let listed: Vec<usize> = (0..20).filter(lines).collect();
        assert_eq!(listed, [2, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19], "{text}");
        let rule = "8 more flows are in summary.json; these are those of which something is required, then";
        assert!(text.contains(rule), "{text}");
        let reports = [of(130)];
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let figure = svg(&caption, &reports, "goodput").expect("it is drawn");
        assert!(figure.contains("120 of 130 flows: those of which something is required, then"), "{figure}");
        let drawn = |n: usize| figure.contains(&reports[0].flows[n].name);
        assert!(drawn(2) && drawn(5) && drawn(129) && !drawn(0) && !drawn(11) && drawn(12));
    }

    /// A share of a link changes in points of it: told as a share of a share, it would be taken for these.
    #[test]
    fn shares_change_in_points() {
        let reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let figure = svg(&caption, &reports, "load").expect("it is drawn");
        let [before, after] = [0, 1].map(|n| 100.0 * reports[n].flows[0].accepted_load.value);
        let law = format!("({})", crate::num::points_text(before, after).expect("it changes"));
        assert!(law.contains("points") && !law.contains('%') && figure.contains(&law), "{law}");
        assert!(figure.contains("in percentage points)"));
        let rates = svg(&caption, &reports, "goodput").expect("it is drawn");
        assert!(rates.contains(" %)") && !rates.contains(" points)"));
    }

    /// By hand: 0.08 and 0.125 Gb/s are 80 and 125 Mb/s, beside each other; 0.05 beside 10 Gb/s stays one. 8
    /// kb/s are 0.000008 Gb/s, which nobody reads.
    #[test]
    fn panels_have_one_unit() {
        assert_eq!(unit_of_panels([8e-6, 10.0].into_iter()), None);
        let unit = |highs: &[f64]| unit_of_panels(highs.iter().copied()).expect("one").0;
        assert_eq!((unit(&[0.08, 0.125]), unit(&[1.26, 18.0, 0.0])), ("Mb/s", "Gb/s"));
        assert_eq!((unit(&[0.05, 10.0]), unit(&[]), unit(&[5e-5])), ("Gb/s", "Gb/s", "kb/s"));
        assert_eq!(others_text(&["victim-7", "others"]), "flows victim-7 and others together");
    }

    /// A flow that a variant does not ask for anything has a row only where it has something.
    #[test]
    fn who_wants_nothing_has_no_row() {
        let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
        let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
        let rows = |reports: &[VariantReport]| {
            let figure = svg(&caption, reports, "decomposition").expect("it is drawn");
            figure.matches(&format!("\n{}\n", reports[0].run.name)).count()
        };
        assert_eq!(rows(&reports), reports[0].flows.len());
        let flow = &mut reports[0].flows[0];
        (flow.arrived, flow.books.asked, flow.goodput_gbps.value) = (0, 0, 0.0);
        assert_eq!(rows(&reports), reports[0].flows.len() - 1);
        // who asks and gets nothing has one
        reports[0].flows[0].books.asked = 5;
        assert_eq!(rows(&reports), reports[0].flows.len());
    }

    /// A picture of one run has the seed of this run.
    #[test]
    fn a_chart_has_its_own_seed() {
        let seeded = |seed| {
            let mut run = run(WITH);
            Arc::make_mut(&mut run.config).seed = seed;
            VariantReport::new(run)
        };
        let reports = [seeded(1), seeded(3)];
        assert_eq!(stamp("s", "0.1.0", &reports), "s · seeds 1, 3 · riosim 0.1.0");
        assert_eq!(stamp("s", "0.1.0", &reports[1..]), "s · seed 3 · riosim 0.1.0");
    }

    /// A run so short that all of it is one mean: a line, as a point alone is not drawn. Of two each is a
    /// line as long as its time, and there is no slope; of twelve their middles are joined.
    #[test]
    fn few_means_are_steps() {
        let report = VariantReport::new(run(WITH));
        let bin = |n: usize| report.run.collector.bin_start(n);
        let points = |bins: usize| {
            let end = bin(bins);
            let scale = Scale { unit: TimeUnit::for_max(end as f64), end_ps: end, least_ps: 0 };
            (scale, over_time(&report, scale, |range, ps| Some((range.len() as u64 * ps) as f64)))
        };
        let (scale, one) = points(1);
        let ps = bin(1) as f64;
        assert_eq!(one, [(0.0, ps), (scale.unit.scale(ps), ps)]);
        let (scale, two) = points(2);
        let at = |n: usize| scale.unit.scale(bin(n) as f64);
        assert_eq!(two.iter().map(|point| point.0).collect::<Vec<f64>>(), [at(0), at(1), at(1), at(2)]);
        assert_eq!((two[0].1, two[2].1), (two[1].1, two[3].1));
        let (scale, twelve) = points(12);
        assert_eq!(twelve.len(), 12);
        assert_eq!(twelve[0].0, scale.unit.scale(bin(1) as f64 / 2.0));
    }

    #[test]
    fn texts_neither_overlap_nor_leave_the_page() {
        let mut long = run(WITH);
        long.name = "a variant with a name that is much longer than anybody should ever choose".into();
        let mut empty = run(WITH);
        empty.collector = Collector::new(&CollectorConfig::new(&empty.config, LENGTH));
        empty.outcome.end = models::sim_core::Time(0);
        let caption = Caption {
            scenario: "hotspot-single-switch".into(),
            note: "protocol clock x 1000".into(),
            stamp: "hotspot-single-switch · seed 1 · riosim 0.1.0".into(),
        };
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
                ROWS.iter().filter_map(|row| Some((row.name, row.scene(&caption, &reports)?)))
            {
                assert_eq!(scene.text_trouble(), None, "{case}: {name}");
            }
        }
    }
}
