//! A design review as one file: HTML that needs nothing else and asks no network.
//!
//! It is made of result folders, not of runs: what it shows is what they hold. The caller reads them, and
//! compiles the scenario that they name once more for the fabric and its routes ([`Run`]).
//!
//! - `html` writes markup and is the only place where a text becomes part of it;
//! - `layout` says where devices stand, by levels, grids or `modules`, `fabric` draws them, `sides` says what
//!   of it is coloured, and `budget` reckons what links have to carry;
//! - `frames` are what its slider shows;
//! - `tables`, `charts`, `outcomes`, `timeouts` and `assumptions` are the parts of a page.

mod assumptions;
pub(crate) mod budget;
mod charts;
mod fabric;
mod files;
mod frames;
mod html;
mod labels;
mod layout;
mod modules;
mod outcomes;
mod sides;
mod sound;
mod tables;
mod timeouts;
mod why;

pub use crate::collect::congestion::FRAMES;
pub use budget::offered;
pub use sound::check;
pub use why::{Question, why};

use crate::require::Verdict;
use crate::sweep::paired::Paired;
use html::Html;
use models::config::FabricConfig;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Largest page, octets: what can be mailed.
pub const SIZE_MAX: usize = 5_000_000;
const STYLE: &str = include_str!("review/style.css");
const SCRIPT: &str = include_str!("review/script.js");

/// A result folder of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// One line for the head.
    pub title: String,
    /// What the scenario asks.
    pub description: String,
    /// Hash of the resolved scenario.
    pub hash: String,
    /// Version of the program that ran it, if the folder says so.
    pub version: Option<String>,
    /// `summary.json`
    pub summary: Value,
    /// `histograms.json`
    pub histograms: Value,
    /// `resolved.json`
    pub resolved: Value,
    /// The scenario as it was given, if the folder has it.
    pub given: Option<Value>,
    /// Settings that a preset fixes: pointers into the resolved scenario.
    pub vendor: BTreeSet<String>,
    /// `series/congestion.json`, if the folder has it.
    pub congestion: Option<Value>,
    /// `series/flows.csv`
    pub flows: String,
    /// `series/fabric.csv`
    pub fabric: String,
    /// `series/links.csv`
    pub links: String,
    /// `series/conduits.csv`, if the folder has it.
    pub conduits: String,
    /// `series/timeouts.csv`, if the folder has it.
    pub timeouts: String,
    /// Sequence charts of the folder.
    pub talks: Vec<Talk>,
    /// What the compiler warns of.
    pub warnings: Vec<String>,
    /// The variants, in the order of the summary.
    pub variants: Vec<Variant>,
}

/// A sequence chart.
#[derive(Clone, Debug)]
pub struct Talk {
    /// The variant.
    pub variant: String,
    /// Who said what to whom, as text.
    pub text: String,
}

/// What was simulated.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name.
    pub name: String,
    /// The fabric.
    pub config: Arc<FabricConfig>,
    /// Names of links.
    pub links: Vec<String>,
    /// Of flows of the file with a load: share of the time that each source keeps its injection link busy,
    /// as a
    /// fraction.
    pub loads: BTreeMap<u16, (u64, u64)>,
}

/// A result folder of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// One line for the head.
    pub title: String,
    /// Name, seed and version, for each figure.
    pub stamp: String,
    /// Version, scenario, seed: name and value.
    pub facts: Vec<(String, String)>,
    /// Figures: what each shows, and its SVG.
    pub figures: Vec<(String, String)>,
    /// What variants change, for each figure: what it is about, and the differences to the first variant.
    pub paired: Vec<(String, Paired)>,
    /// `estimates.csv`
    pub estimates: String,
}

/// The page about these results. Sliders over time have at most so many parts, and fewer if the page would be
/// too large to mail: they take most room.
pub fn page(runs: &[Run], sweeps: &[Sweep], version: &str, parts: usize) -> String {
    let less = [parts, parts / 4, parts / 16].into_iter().filter(|parts| *parts > 0);
    let mut pages = less.map(|parts| written(runs, sweeps, version, parts));
    let small = pages.find(|page| page.len() <= SIZE_MAX);
    small.unwrap_or_else(|| written(runs, sweeps, version, 0))
}

fn written(runs: &[Run], sweeps: &[Sweep], version: &str, parts: usize) -> String {
    let titles: Vec<&str> = runs
        .iter()
        .map(|run| run.title.as_str())
        .chain(sweeps.iter().map(|sweep| sweep.title.as_str()))
        .collect();
    let title = match titles[..] {
        [only] => only.to_owned(),
        _ => format!("Design review of {} results", titles.len()),
    };
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n",
    );
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.element("title", &[], &title).raw("\n<style>").raw(STYLE).raw("</style>\n</head>\n<body>\n");
    html.raw("<header class=\"top\">");
    html.element("h1", &[], &title);
    html.open("p", &[("class", "soft")])
        .text(&format!(
            "Written by riosim {version} from result folders; nothing in this file asks a network. "
        ))
        .raw("<button id=\"theme\" type=\"button\">Light or dark</button>")
        .close("p");
    html.raw("<nav aria-label=\"Contents\"><ul>");
    for (number, title) in titles.iter().enumerate().filter(|_| titles.len() > 1) {
        html.raw("<li>").element("a", &[("href", &format!("#s{number}"))], title).raw("</li>");
    }
    if titles.len() == 1 && !runs.is_empty() {
        for (id, name) in PARTS {
            html.raw("<li>").element("a", &[("href", &format!("#s0-{id}"))], name).raw("</li>");
        }
    }
    html.raw("</ul></nav></header>\n<main>\n");
    let mut data = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        part(&mut html, number, run, titles.len() > 1, parts, &mut data);
    }
    for (number, sweep) in sweeps.iter().enumerate() {
        tables::sweep(&mut html, runs.len() + number, sweep, titles.len() > 1);
    }
    html.raw(
        "</main>\n<footer><p class=\"soft\">Numbers are those of the files in the result \
         folders; bars, lines and colours show them.</p></footer>\n",
    );
    html.data("data", &Value::Array(data));
    html.raw("<script>").raw(SCRIPT).raw("</script>\n</body>\n</html>\n");
    html.into_text()
}

/// Parts of a run: the end of their id, and what they are called.
const PARTS: [(&str, &str); 11] = [
    ("cover", "Verdicts"),
    ("losses", "What did not arrive"),
    ("flows", "Flows"),
    ("fabric", "Fabric"),
    ("budget", "Link budget"),
    ("latency", "Latency"),
    ("causes", "Where the time goes"),
    ("time", "Over time"),
    ("outcomes", "Races and timeouts"),
    ("protocols", "Protocols"),
    ("assumptions", "Assumptions"),
];

/// One run; `data`: what the script needs of each drawing.
fn part(html: &mut Html, number: usize, run: &Run, several: bool, parts: usize, data: &mut Vec<Value>) {
    html.open("section", &[("id", &format!("s{number}"))]);
    if several {
        html.element("h2", &[], &run.title);
    }
    let drawings = fabric::Drawings::new(run);
    let heading = if several { "h3" } else { "h2" };
    for (id, name) in PARTS {
        html.element(heading, &[("id", &format!("s{number}-{id}"))], name).raw("\n");
        match id {
            "cover" => tables::cover(html, number, run),
            "losses" => tables::losses(html, number, run),
            "flows" => tables::flows(html, number, run),
            "fabric" => drawings.show(html, data.len(), parts),
            "budget" => drawings.budget(html, number),
            "latency" => tables::latency(html, run),
            "causes" => tables::causes(html, number, run),
            "time" => tables::over_time(html, run),
            "outcomes" => outcomes::show(html, number, run),
            "protocols" => tables::protocols(html, number, run),
            _ => assumptions::show(html, number, run),
        }
    }
    html.close("section").raw("\n");
    data.extend(drawings.data(number, parts));
}

/// How a verdict looks.
fn verdict_class(verdict: &str) -> &'static str {
    match verdict {
        v if v == Verdict::Pass.name() => "v PASS",
        v if v == Verdict::Fail.name() => "v FAIL",
        _ => "v OPEN",
    }
}
