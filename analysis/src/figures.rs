//! Figures of a run: the same scenes as SVG (the same bytes everywhere) and PNG.
//!
//! The colours are those of Okabe and Ito, which colour-blind readers can tell apart; lines differ in dashes
//! and markers as well. What does not fit on a page is left out with a note; the CSV series have everything.

use crate::axes::{Key, foot, stroke};
use crate::level::{Level, MESSAGES, PACKETS, TRIPS};
use crate::report::{FlowReport, VariantReport, retry_share};
use crate::scene::Scene;
use bars::{ACCEPTED, EFFICIENCY, GOODPUT, PER_SLOT, RETRY, TRANSFERS, bars, decomposition};
pub(crate) use courses::queues_drawn;
use courses::{queues, throughput};
use latency::{Shape, latency_cdf, tails};
use std::collections::BTreeSet;
use steady::Quantity;
use words::plural;

mod bars;
mod conduits;
mod courses;
mod detection;
mod latency;
mod notes;
mod steady;
mod things;
mod timeouts;
mod victims;
mod words;

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

/// Points of a line: time in the unit of its scale, and value.
type Curve = Vec<(f64, f64)>;

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

#[cfg(test)]
#[path = "../tests/suite/synthetic/mod.rs"]
mod synthetic;

#[cfg(test)]
mod tests;
