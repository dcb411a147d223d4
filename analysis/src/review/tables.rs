//! Tables and charts of a page.

use super::charts::{self, Chart, Series};
use super::files::{Csv, list, number, real, word};
use super::html::Html;
use super::{Run, Sweep, verdict_class};
use crate::figures::seeds_text;
use crate::flows;
use crate::num::{count_text, counted_text, share_text, three_digits, time_text};
use crate::require::{Verdict, beside, endless};
use crate::summary::stall_text;
use crate::sweep::compare;
use crate::sweep::paired::Paired;
use crate::sweep::table::HALF_WIDTH;
use serde_json::Value;
use std::collections::BTreeMap;

/// Rows in a table of many.
pub(super) const ROWS: usize = 500;
/// Lines in a chart.
const LINES: usize = 16;
/// Points of a line.
const POINTS: usize = 160;

/// A cell: what is read, and what it is sorted by if that is a number.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    text: String,
    value: Option<String>,
    class: &'static str,
}

impl Cell {
    pub fn text(text: &str) -> Self {
        Self { text: text.into(), value: None, class: "" }
    }

    /// A number of a file, as it is there, and how people read it.
    pub fn number(value: &Value, shown: impl Fn(f64) -> String) -> Self {
        match value.as_f64() {
            Some(number) => Self { text: shown(number), value: Some(value.to_string()), class: "n" },
            None => Self { text: "-".into(), value: None, class: "n" },
        }
    }

    /// A number that was reckoned.
    pub fn real(number: f64, shown: impl Fn(f64) -> String) -> Self {
        Self::number(&serde_json::json!(crate::num::Num(number)), shown)
    }

    fn verdict(verdict: &str) -> Self {
        Self { text: verdict.into(), value: None, class: verdict_class(verdict) }
    }
}

/// A table that sorts by its columns and can be filtered.
pub(super) fn table(html: &mut Html, id: &str, caption: &str, head: &[&str], rows: &[Vec<Cell>]) {
    first_rows(html, id, caption, head, &rows[..rows.len().min(ROWS)], rows.len());
}

/// Likewise of the first rows of `all`.
pub(super) fn first_rows(
    html: &mut Html,
    id: &str,
    caption: &str,
    head: &[&str],
    rows: &[Vec<Cell>],
    all: usize,
) {
    if rows.len() > 8 {
        html.raw("<p class=\"filter\"><label>Filter ");
        html.open(
            "input",
            &[("type", "search"), ("data-filter", id), ("aria-label", &format!("Filter {caption}"))],
        );
        html.raw("</label></p>");
    }
    html.open("div", &[("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)]);
    html.open("table", &[("id", id), ("class", "sorts")]).element("caption", &[], caption).raw("<thead><tr>");
    for (column, title) in head.iter().enumerate() {
        let is_number = rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.class == "n"));
        html.open("th", &[("scope", "col"), ("class", if is_number { "n" } else { "" })]);
        html.text(title).close("th");
    }
    html.raw("</tr></thead><tbody>\n");
    for row in rows {
        html.raw("<tr>");
        for cell in row {
            let mut attributes = Vec::new();
            if !cell.class.is_empty() {
                attributes.push(("class", cell.class));
            }
            if let Some(value) = &cell.value {
                attributes.push(("data-v", value.as_str()));
            }
            html.element("td", &attributes, &cell.text);
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>");
    if all > rows.len() {
        let more = count_text((all - rows.len()) as u64);
        html.element(
            "p",
            &[("class", "soft")],
            &format!("{more} more are in the files of the result folder."),
        );
    }
}

fn variants(run: &Run) -> &[Value] {
    list(&run.summary, "variants")
}

/// A measured value of a requirement.
fn measured(one: &Value) -> Cell {
    let short = one["arrived_share"].as_f64();
    if let (Value::Null, Some(share)) = (&one["measured"], short)
        && word(one, "verdict") != Verdict::NotEnough.name()
    {
        return Cell::text(&endless(share));
    }
    let of_those =
        short.map(share_text).map_or(String::new(), |share| format!(" (of those that arrived: {share})"));
    let limit = real(&one["limit"]);
    Cell::number(&one["measured"], |value| beside(word(one, "unit"), value, limit) + &of_those)
}

/// Share of what was due that arrived: of these are all times beside it.
fn arrived(of: &Value) -> Cell {
    match of["arrived_share"].as_f64() {
        Some(share) => Cell::real(share, share_text),
        // Nothing was due yet.
        None if of["books"]["arrived"] == 0 => Cell::text("-"),
        None => Cell::real(1.0, |_| "all".into()),
    }
}

/// A stall of `summary.json`, in words.
pub(super) fn stall(told: &Value) -> String {
    let first = list(told, "walk").first().and_then(Value::as_str).unwrap_or("");
    stall_text(word(told, "kind"), real(&told["at_us"]), first)
}

/// Variants in which something stood still, before their verdicts: numbers of a run that was stopped are of
/// what came before.
fn stalls(html: &mut Html, run: &Run) {
    for (variant, simulated) in variants(run).iter().zip(&run.variants) {
        let all = list(variant, "stalls");
        let Some(first) = all.first() else { continue };
        let stopped = if simulated.config.stop_on_stall { " was stopped before its end" } else { "" };
        let more = match all.len() - 1 {
            0 => String::new(),
            more => format!(" ({} under Warnings)", counted_text(more as u64, "more stalls")),
        };
        let text = format!("Variant {}{stopped}: {}{more}", simulated.name, stall(first));
        html.element("p", &[("class", verdict_class(Verdict::Fail.name()))], &text);
        let others = list(first, "walk").iter().skip(1).filter_map(Value::as_str);
        let others: Vec<&str> = others.collect();
        if !others.is_empty() {
            html.raw("<ul>");
            for line in others {
                html.element("li", &[], line);
            }
            html.raw("</ul>");
        }
    }
}

/// Question, stalls, verdicts, and how to get the same again.
pub(super) fn cover(html: &mut Html, section: usize, run: &Run) {
    if !run.description.is_empty() {
        html.element("p", &[], &run.description);
    }
    stalls(html, run);
    let judged: Vec<(&str, &Value)> = variants(run)
        .iter()
        .flat_map(|variant| list(variant, "require").iter().map(|one| (word(variant, "name"), one)))
        .collect();
    if judged.is_empty() {
        html.element("p", &[], "The scenario requires nothing: there is no verdict.");
    } else {
        let count = |verdict: Verdict| {
            judged.iter().filter(|(_, one)| word(one, "verdict") == verdict.name()).count()
        };
        let all = [Verdict::Fail, Verdict::NotEnough, Verdict::Pass];
        let told = all.map(|verdict| format!("{} {}", count(verdict), verdict.name())).join(", ");
        html.element("p", &[("class", "v")], &told);
        let head = ["verdict", "variant", "of", "metric", "required", "measured", "samples", "needed"];
        let row = |(variant, one): &(&str, &Value)| {
            let count = |value: &Value| Cell::number(value, |n| count_text(n as u64));
            vec![
                Cell::verdict(word(one, "verdict")),
                Cell::text(variant),
                Cell::text(&format!("{} {}", word(one, "of"), word(one, "name"))),
                Cell::text(word(one, "metric")),
                Cell::text(word(one, "wanted")),
                measured(one),
                count(&one["samples"]),
                count(&one["samples_needed"]),
            ]
        };
        let rows: Vec<Vec<Cell>> = judged.iter().map(row).collect();
        table(html, &format!("verdicts{section}"), "Requirements", &head, &rows);
    }
    let version = run.version.as_deref().unwrap_or("not told by the folder");
    html.raw("<dl>");
    let mut fact = |name: &str, value: &str| {
        html.element("dt", &[("class", "soft")], name).raw("<dd>").element("code", &[], value).raw("</dd>");
    };
    fact("scenario", word(&run.summary, "scenario"));
    fact("version", version);
    fact("hash of the resolved scenario", &run.hash);
    for variant in variants(run) {
        let prints = &variant["fingerprints"];
        let text = format!(
            "seed {}, {} us simulated, outcome {}, trajectory {}",
            variant["seed"],
            variant["duration_us"],
            word(prints, "outcome"),
            word(prints, "trajectory")
        );
        fact(&format!("variant {}", word(variant, "name")), &text);
    }
    fact("the same again", "riosim run resolved.json --out again");
    html.raw("</dl>");
}

/// What never arrived, before anything is said of what did.
pub(super) fn losses(html: &mut Html, section: usize, run: &Run) {
    let mut rows = Vec::new();
    let mut asked = false;
    for variant in variants(run) {
        for flow in list(variant, "flows") {
            let books = &flow["books"];
            asked |= books["asked"] != 0;
            let count = |value: &Value| Cell::number(value, |n| count_text(n as u64));
            if books["asked"] == books["arrived"] && flow["dropped_packets"] == 0 {
                continue;
            }
            rows.push(vec![
                Cell::text(word(variant, "name")),
                Cell::text(word(flow, "name")),
                Cell::text(word(books, "unit")),
                count(&books["asked"]),
                count(&books["arrived"]),
                count(&books["never"]),
                count(&books["under_way"]),
                Cell::number(&books["oldest_us"], |us| time_text(us * 1e6)),
                count(&flow["dropped_packets"]),
            ]);
        }
    }
    if rows.is_empty() {
        let text = if asked { "Everything that was asked for arrived." } else { "Nothing was asked for." };
        html.element("p", &[], text);
        return;
    }
    let head = [
        "variant",
        "flow",
        "counted in",
        "asked",
        "arrived",
        "never",
        "under way",
        "oldest",
        "packets dropped",
    ];
    table(html, &format!("losses{section}"), "What did not arrive, in the whole run", &head, &rows);
}

/// Every flow of every variant; buttons show its way.
pub(super) fn flows(html: &mut Html, section: usize, run: &Run) {
    let of = |flow: &Value, key: &str, part: &str| {
        Cell::number(&flow[key][part]["value"], |ns| time_text(ns * 1e3))
    };
    let share = |value: &Value| Cell::number(value, |share| format!("{:.1} %", 100.0 * share));
    let row = |variant: &Value, flow: &Value| {
        let latency = &flow["latency_ns"];
        let hol = Cell::number(&flow["hol_blocked_ns"]["value"], |ns| time_text(ns * 1e3));
        vec![
            Cell::text(word(variant, "name")),
            Cell::text(word(flow, "name")),
            Cell::text(word(flow, "role")),
            match flow["closed_loop"] == true {
                true => Cell::text("closed loop"),
                false => share(&flow["offered_load"]),
            },
            share(&flow["accepted_load"]["value"]),
            Cell::number(&flow["goodput_gbps"]["value"], |gbps| format!("{} Gb/s", three_digits(gbps))),
            Cell::number(&flow["delivered_packets"], |n| count_text(n as u64)),
            arrived(flow),
            of(flow, "latency_ns", "mean"),
            of(flow, "latency_ns", "p50"),
            of(flow, "latency_ns", "p99"),
            of(flow, "latency_ns", "p99.9"),
            Cell::number(&latency["max"], |ns| time_text(ns * 1e3)),
            of(flow, "network_latency_ns", "mean"),
            hol,
        ]
    };
    let mut rows = Vec::new();
    for variant in variants(run) {
        rows.extend(list(variant, "flows").iter().map(|flow| row(variant, flow)));
        rows.push(row(variant, &variant["overall"]));
    }
    let head = [
        "variant",
        "flow",
        "role",
        "offered",
        "accepted",
        "goodput",
        "packets",
        "arrived",
        "mean",
        "median",
        "p99",
        "p99.9",
        "max",
        "network mean",
        "HOL blocked",
    ];
    table(html, &format!("flows{section}"), "Flows in the measured part; times of packets", &head, &rows);
    html.raw("<details><summary>What the columns mean</summary><dl>");
    for [key, _, about] in flows::notes() {
        html.element("dt", &[], key).element("dd", &[], about);
    }
    html.raw("</dl></details>");
}

/// Deadlines of the scenario for times: words and picoseconds.
fn deadlines(run: &Run) -> Vec<(String, f64)> {
    let mut found: BTreeMap<String, f64> = BTreeMap::new();
    let all = variants(run).iter().flat_map(|variant| list(variant, "require"));
    for one in all.filter(|one| word(one, "unit") == "ns" && word(one, "of") == "flow") {
        let name = format!("{} {} {}", word(one, "name"), word(one, "metric"), word(one, "wanted"));
        found.insert(name, real(&one["limit"]) * 1e3);
    }
    found.into_iter().take(8).collect()
}

/// Who took longer than that: a complementary distribution, from pairs of a time and a count, of what
/// arrived. What did not, which is the rest of this share, takes longer than any time.
fn beyond(pairs: &Value, arrived: f64) -> Vec<(f64, f64)> {
    let pairs: Vec<(f64, f64)> =
        pairs.as_array().into_iter().flatten().map(|pair| (real(&pair[0]), real(&pair[1]))).collect();
    let total: f64 = pairs.iter().map(|pair| pair.1).sum();
    let mut left = total;
    let mut points = Vec::new();
    for (at, count) in &pairs {
        left -= count;
        points.push((*at, if arrived < 1.0 { 1.0 - arrived * (1.0 - left / total) } else { left / total }));
    }
    thin(points)
}

/// The points that can be told apart, the first and the last always. Shares stand on a logarithmic axis, so a
/// step that is left out is less than one of [`POINTS`] parts of its height.
fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let shares = points.iter().map(|point| point.1).filter(|&share| share > 0.0);
    let part = libm::pow(shares.fold(1.0, f64::min), 1.0 / POINTS as f64);
    let last = points.len().saturating_sub(1);
    let mut told: Vec<(f64, f64)> = Vec::new();
    for (n, point) in points.into_iter().enumerate() {
        if n == last || told.last().is_none_or(|before| point.1 <= before.1 * part) {
            told.push(point);
        }
    }
    told
}

pub(super) fn figure(html: &mut Html, chart: &Chart<'_>, left_out: usize, empty: &str) {
    html.raw("<figure>").element("figcaption", &[], &chart.title);
    match chart.svg() {
        Some(svg) => {
            html.drawing(&svg);
        }
        None => {
            html.element("p", &[("class", "soft")], empty);
        }
    }
    let hidden = chart.hidden();
    if !hidden.is_empty() {
        let text = format!("One line, of which the last is seen: {}.", hidden.join("; "));
        html.element("p", &[("class", "soft")], &text);
    }
    if left_out > 0 {
        let text = format!("{left_out} more lines are not drawn; the files of the result folder have them.");
        html.element("p", &[("class", "soft")], &text);
    }
    html.raw("</figure>\n");
}

/// Whose run a figure is of.
pub(super) fn stamp(run: &Run) -> String {
    let seeds = seeds_text(variants(run).iter().filter_map(|variant| variant["seed"].as_u64()));
    let version = run.version.as_deref().map(|version| format!(", riosim {version}")).unwrap_or_default();
    format!("{}, {seeds}{version}", word(&run.summary, "scenario"))
}

/// Of what belongs to flows as much as is drawn, in the order in which it stands, and how much is not: first
/// that of flows of which something is required, then that of those that the scenario declares, then that of
/// those that carry most in one of the variants.
fn worth_drawing<T>(run: &Run, all: Vec<(String, T)>) -> (Vec<T>, usize) {
    // not required, not declared, payload rate, place
    let mut ranks: BTreeMap<&str, (bool, bool, f64, usize)> = BTreeMap::new();
    for (place, flow) in variants(run).iter().flat_map(|variant| list(variant, "flows")).enumerate() {
        let rank = ranks.entry(word(flow, "name")).or_insert((true, true, 0.0, place));
        rank.1 &= !flow["role"].is_string();
        rank.2 = rank.2.max(flow["goodput_gbps"]["value"].as_f64().unwrap_or(0.0));
    }
    let required = variants(run).iter().flat_map(|variant| list(variant, "require"));
    for one in required.filter(|one| word(one, "of") == "flow") {
        if let Some(rank) = ranks.get_mut(word(one, "name")) {
            rank.0 = false;
        }
    }
    let rank = |at: &usize| ranks.get(all[*at].0.as_str()).copied().unwrap_or((true, true, 0.0, usize::MAX));
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)).then(a.3.cmp(&b.3))
    });
    let mut is_drawn = vec![false; all.len()];
    order.into_iter().take(LINES).for_each(|at| is_drawn[at] = true);
    let left_out = all.len().saturating_sub(LINES);
    (all.into_iter().zip(is_drawn).filter(|one| one.1).map(|one| one.0.1).collect(), left_out)
}

/// Which flows are drawn, where not all are.
fn choice(left_out: usize) -> &'static str {
    match left_out {
        0 => "",
        _ => {
            "; of flows of which something is required, then of declared ones, then of those that carry most"
        }
    }
}

/// Distributions of all flows, on logarithmic axes.
pub(super) fn latency(html: &mut Html, run: &Run) {
    let mut all = Vec::new();
    for variant in variants(run) {
        let name = word(variant, "name");
        let of = &run.histograms["variants"][name];
        for told in list(variant, "flows") {
            let flow = word(told, "name");
            let points = beyond(&of[flow]["latency"], told["arrived_share"].as_f64().unwrap_or(1.0));
            if !points.is_empty() {
                let name = format!("{flow}, {name}");
                all.push((flow.to_owned(), Series { name, points, ..Series::default() }));
            }
        }
    }
    let (series, left_out) = worth_drawing(run, all);
    let marks = deadlines(run);
    let required = if marks.is_empty() { "" } else { ", with what is required" };
    let short = variants(run).iter().flat_map(|variant| list(variant, "flows"));
    let short = short.into_iter().any(|flow| flow["arrived_share"].is_number());
    let rest = if short { "; what did not arrive takes longer than any time" } else { "" };
    let title = format!("Share of packets that take longer, by flow and variant{rest}");
    let chart = Chart {
        title: format!("{title}{required}{} ({})", choice(left_out), stamp(run)),
        x: "latency, creation to last bit at the destination",
        y: "share that takes longer",
        log: true,
        series,
        marks,
    };
    figure(html, &chart, left_out, "No packet was delivered in the measured part.");
}

/// Shares of causes, flow by flow.
pub(super) fn causes(html: &mut Html, section: usize, run: &Run) {
    let first = variants(run).iter().flat_map(|variant| list(variant, "flows")).next();
    let names: Vec<&str> = first
        .and_then(|flow| flow["decomposition"].as_object())
        .into_iter()
        .flatten()
        .map(|(k, _)| k.as_str())
        .collect();
    let mut rows = Vec::new();
    let mut cells = Vec::new();
    for variant in variants(run) {
        for flow in list(variant, "flows") {
            let name = format!("{}, {}", word(flow, "name"), word(variant, "name"));
            let (level, parts, mean) = whole(flow);
            let of = match level {
                "packets" => flow,
                level => &flow["protocol"][level.replace(' ', "_")],
            };
            let shares: Vec<f64> = names.iter().map(|cause| real(&parts[*cause]["share"])).collect();
            if !mean.is_finite() {
                continue;
            }
            let mut row =
                vec![Cell::text(word(variant, "name")), Cell::text(word(flow, "name")), Cell::text(level)];
            row.push(arrived(of));
            row.push(Cell::real(mean, |ns| time_text(ns * 1e3)));
            row.extend(names.iter().map(|cause| {
                Cell::number(&parts[*cause]["share"], |share| format!("{:.1} %", 100.0 * share))
            }));
            cells.push(row);
            rows.push((word(flow, "name").to_owned(), (name, mean * 1e3, shares)));
        }
    }
    if rows.is_empty() {
        html.element("p", &[("class", "soft")], "Nothing was delivered in the measured part.");
        return;
    }
    let (rows, left_out) = worth_drawing(run, rows);
    html.raw("<figure>");
    let about = "Mean time, cause by cause; every picosecond has one";
    html.element("figcaption", &[], &format!("{about}{} ({})", choice(left_out), stamp(run)));
    html.drawing(&charts::bars("Where the time goes", &names, &rows)).raw("</figure>");
    if left_out > 0 {
        html.element("p", &[("class", "soft")], &format!("{left_out} more flows are in the table."));
    }
    let head: Vec<&str> =
        ["variant", "flow", "times of", "arrived", "mean"].into_iter().chain(names.iter().copied()).collect();
    table(html, &format!("causes{section}"), "Shares of the mean time", &head, &cells);
}

/// What users of a flow wait for: round trips, messages, else packets. Its parts and its mean, nanoseconds.
pub(super) fn whole(flow: &Value) -> (&'static str, &Value, f64) {
    for (key, level) in [("round_trips", "round trips"), ("messages", "messages")] {
        let journeys = &flow["protocol"][key];
        if journeys.is_object() {
            return (level, &journeys["decomposition"], real(&journeys["latency_ns"]["mean"]["value"]));
        }
    }
    ("packets", &flow["decomposition"], real(&flow["latency_ns"]["mean"]["value"]))
}

/// Throughput and queues.
pub(super) fn over_time(html: &mut Html, run: &Run) {
    let mut flows: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    let mut order: Vec<(String, String)> = Vec::new();
    for row in Csv::new(&run.flows).rows() {
        let name = format!("{}, {}", row.get("flow"), row.get("variant"));
        if !flows.contains_key(&name) {
            order.push((row.get("flow").to_owned(), name.clone()));
        }
        flows.entry(name).or_default().push((number(row.get("time_us")), number(row.get("delivered_gbps"))));
    }
    let (drawn, left_out) = worth_drawing(run, order);
    let series = drawn
        .into_iter()
        .filter_map(|name| Some(Series { points: mean_of(flows.remove(&name)?), name, ..Series::default() }))
        .collect();
    let about = "Payload of all packets delivered, by flow and variant";
    let title = format!("{about}{} ({})", choice(left_out), stamp(run));
    let chart = Chart { title, x: "time, µs", y: "Gb/s", series, ..Chart::default() };
    figure(html, &chart, left_out, "There is no series of throughput in the folder.");
    let mut queues: Vec<Series> = Vec::new();
    for row in Csv::new(&run.fabric).rows() {
        for (column, words) in
            [("source_waiting_packets", "at sources"), ("switch_waiting_packets", "in switches")]
        {
            let name = format!("{words}, {}", row.get("variant"));
            let point = (number(row.get("time_us")), number(row.get(column)));
            match queues.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => queues.push(Series { name, points: vec![point], ..Series::default() }),
            }
        }
    }
    queues.iter_mut().for_each(|series| series.points = mean_of(std::mem::take(&mut series.points)));
    let left_out = queues.len().saturating_sub(LINES);
    queues.truncate(LINES);
    let title = format!("Packets that wait, mean over time ({})", stamp(run));
    let chart = Chart { title, x: "time, µs", y: "packets", series: queues, ..Chart::default() };
    figure(html, &chart, left_out, "The run took no samples of queues.");
}

/// A chart over time of what only changes in steps: of equal parts of a line the last value is drawn.
pub(super) fn steps(html: &mut Html, mut chart: Chart<'_>, empty: &str) {
    let left_out = chart.series.len().saturating_sub(LINES);
    chart.series.truncate(LINES);
    for series in &mut chart.series {
        let size = series.points.len().div_ceil(POINTS).max(1);
        series.points = series.points.chunks(size).filter_map(|part| part.last().copied()).collect();
    }
    figure(html, &Chart { x: "time, µs", ..chart }, left_out, empty);
}

/// Means of equal parts of a series.
fn mean_of(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = points.into_iter().filter(|point| point.1.is_finite()).collect();
    let size = points.len().div_ceil(POINTS).max(1);
    let mean =
        |part: &[(f64, f64)]| (part[0].0, part.iter().map(|point| point.1).sum::<f64>() / part.len() as f64);
    points.chunks(size).map(mean).collect()
}

/// Parts of `summary.json` that are no protocol.
const COMMON: [&str; 16] = [
    "name",
    "seed",
    "duration_us",
    "measured",
    "require",
    "overall",
    "flows",
    "hosts",
    "fabric",
    "links",
    "hol_blocking",
    "conservation",
    "enumeration",
    "stalls",
    "left_stopped",
    "fingerprints",
];

/// What protocols say of their flows: a row for each number, a column for each variant.
pub(super) fn protocols(html: &mut Html, section: usize, run: &Run) {
    let names: Vec<&str> = variants(run).iter().map(|variant| word(variant, "name")).collect();
    let mut rows: Vec<(String, Vec<Option<Value>>)> = Vec::new();
    for (column, variant) in variants(run).iter().enumerate() {
        let mut put = |name: String, value: &Value| match rows.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1[column] = Some(value.clone()),
            None => {
                let mut cells = vec![None; names.len()];
                cells[column] = Some(value.clone());
                rows.push((name, cells));
            }
        };
        for (key, value) in variant.as_object().into_iter().flatten() {
            if !COMMON.contains(&key.as_str()) {
                flat(value, key, &mut put);
            }
        }
        for flow in list(variant, "flows").iter().filter(|flow| flow["protocol"].is_object()) {
            flat(&flow["protocol"], &format!("messages {}", word(flow, "name")), &mut put);
        }
        flat(&variant["links"]["total"], "links", &mut put);
    }
    if rows.is_empty() {
        html.element("p", &[], "No protocol runs over the fabric, and no link can err.");
        return;
    }
    let head: Vec<&str> = std::iter::once("what").chain(names).collect();
    let cell = |value: &Option<Value>| match value {
        None | Some(Value::Null) => Cell::text("-"),
        Some(value @ Value::Number(_)) => Cell::number(value, |_| value.to_string()),
        Some(Value::String(text)) => Cell::text(text),
        Some(other) => Cell::text(&other.to_string()),
    };
    let line = |(name, cells): &(String, Vec<Option<Value>>)| {
        std::iter::once(Cell::text(name)).chain(cells.iter().map(cell)).collect()
    };
    let table_rows: Vec<Vec<Cell>> = rows.iter().map(line).collect();
    table(
        html,
        &format!("protocols{section}"),
        "Protocols and links, as summary.json has them",
        &head,
        &table_rows,
    );
}

/// Numbers, words and flags of a part of a summary, with the way to each.
fn flat(value: &Value, at: &str, put: &mut dyn FnMut(String, &Value)) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter().filter(|(key, _)| *key != "flow" && *key != "decomposition") {
                flat(inner, &format!("{at} {}", key.replace('_', " ")), put);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate().take(16) {
                let name = inner["flow"].as_str().or(inner["name"].as_str());
                let place = name.map_or_else(|| index.to_string(), str::to_owned);
                flat(inner, &format!("{at} {place}"), put);
            }
        }
        Value::Null => {}
        _ => put(at.to_owned(), value),
    }
}

/// What other variants change, in one metric and scope.
fn differences(html: &mut Html, (about, paired): &(String, Paired), stamp: &str) {
    let first = &paired.first;
    let series: Vec<Series> = paired
        .lines
        .iter()
        .map(|line| Series {
            name: line.name.clone(),
            points: line.points.iter().map(|(x, one)| (*x, one.mean)).collect(),
            band: line.points.iter().map(|(_, one)| one.half_width).collect(),
        })
        .collect();
    let left_out = series.len().saturating_sub(LINES);
    let title = format!(
        "{about}, less that of {first}: the band is the 95 % interval of the difference of pairs, which \
         have the same seeds in both ({stamp})"
    );
    let series = series.into_iter().take(LINES).collect();
    let x = paired.axis.as_deref().unwrap_or_default();
    let y = match paired.unit {
        "" => "difference".to_owned(),
        unit => format!("difference, {unit}"),
    };
    figure(
        html,
        &Chart { title, x, y: &y, series, ..Chart::default() },
        left_out,
        "No axis of the sweep has numbers to draw along.",
    );
    html.raw("<ul>");
    for (name, whole) in &paired.whole {
        let half = match whole.difference.half_width {
            half if half.is_finite() => format!(" ± {}", three_digits(half)),
            _ => String::new(),
        };
        let verdict = match whole.verdict {
            compare::Verdict::Higher => format!("{name} is higher"),
            compare::Verdict::Lower => format!("{name} is lower"),
            other => other.text().to_owned(),
        };
        let text = format!(
            "Over all {} pairs, each point weighing the same: {first} {}, {name} {}, difference {}{half}: \
             {}.",
            count_text(whole.pairs as u64),
            three_digits(whole.a),
            three_digits(whole.b),
            three_digits(whole.difference.mean),
            whole.said(&verdict),
        );
        html.element("li", &[], &text);
    }
    html.raw("</ul>");
}

/// Whether a column of `estimates.csv` is a mean, or half the width of its interval.
fn is_estimate(titles: &[String], title: &str) -> bool {
    title.ends_with(HALF_WIDTH)
        || titles.iter().any(|other| other.strip_suffix(HALF_WIDTH).is_some_and(|of| of == title))
}

/// A sweep: its figures, and its estimates.
pub(super) fn sweep(html: &mut Html, section: usize, sweep: &Sweep, several: bool) {
    html.open("section", &[("id", &format!("s{section}"))]);
    if several {
        html.element("h2", &[], &sweep.title);
    }
    html.element("h2", &[], "Sweep").raw("<dl>");
    for (name, value) in &sweep.facts {
        html.element("dt", &[("class", "soft")], name).raw("<dd>").element("code", &[], value).raw("</dd>");
    }
    html.raw("</dl>");
    html.element(
        "p",
        &[],
        "Bands and the columns that end in ci95 are 95 % intervals of means over replications.",
    );
    for (about, svg) in &sweep.figures {
        html.raw("<figure>")
            .element("figcaption", &[], &format!("{about} ({})", sweep.stamp))
            .raw("<div class=\"plot\">")
            .drawing(svg)
            .raw("</div></figure>");
    }
    sweep.paired.iter().for_each(|paired| differences(html, paired, &sweep.stamp));
    let csv = Csv::new(&sweep.estimates);
    // a column in which nothing stands says nothing
    let used: Vec<usize> = (0..csv.titles().len())
        .filter(|column| csv.cells().iter().any(|row| row.get(*column).is_some_and(|cell| !cell.is_empty())))
        .collect();
    let head: Vec<&str> = used.iter().map(|column| csv.titles()[*column].as_str()).collect();
    // where a point is stands as it was given; what was measured there has as many digits as one reads
    let measured: Vec<bool> = head.iter().map(|title| is_estimate(csv.titles(), title)).collect();
    let cell = |text: &str, measured: bool| match text.parse::<serde_json::Number>() {
        Ok(value) if measured => Cell::number(&Value::Number(value), three_digits),
        Ok(value) => Cell::number(&Value::Number(value), |_| text.to_owned()),
        _ => Cell::text(text),
    };
    let row = |row: &Vec<String>| {
        used.iter().zip(&measured).map(|(column, measured)| cell(&row[*column], *measured)).collect()
    };
    let rows: Vec<Vec<Cell>> = csv.cells().iter().map(row).collect();
    let caption = "Estimates at each point, to three digits; estimates.csv has all";
    table(html, &format!("estimates{section}"), caption, &head, &rows);
    html.close("section");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Many values, of which ever fewer take ever longer, and the same where a tenth does not arrive. Law:
    /// at every time the curve that is drawn, which keeps the share of the point before, is above the true
    /// one by less than one of so many parts of the height of its axis, and it has hardly more points than
    /// parts.
    #[test]
    fn what_is_left_out_of_a_curve_cannot_be_seen() {
        let pairs: Vec<[u64; 2]> = (0..3_000).map(|n| [1_000 + n, 1 + 40_000 / (1 + n)]).collect();
        let total: u64 = pairs.iter().map(|pair| pair[1]).sum();
        for arrived in [1.0, 0.9] {
            let drawn = beyond(&json!(pairs), arrived);
            assert!(drawn.len() <= POINTS + 2, "{}", drawn.len());
            let mut left = total;
            let mut least = 1.0_f64;
            let mut true_shares = Vec::new();
            for [at, count] in &pairs {
                left -= count;
                let share = 1.0 - arrived * (1.0 - left as f64 / total as f64);
                least = if share > 1e-12 { least.min(share) } else { least };
                true_shares.push((*at as f64, share));
            }
            let part = libm::log10(least).abs() / POINTS as f64;
            for (at, share) in true_shares {
                let shown = drawn.iter().rev().find(|point| point.0 <= at).expect("the first is drawn").1;
                let off = if share > 1e-12 { libm::log10(shown / share) } else { shown };
                assert!((-1e-9..=part + 1e-9).contains(&off), "{at}: {shown} for {share}");
            }
        }
    }

    /// Two packets, of which one takes 2 ps: half of those that arrived take longer than the first, and none
    /// longer than the second. If as many did not arrive, three quarters of all and half of them do.
    #[test]
    fn what_did_not_arrive_takes_longer_than_any_time() {
        let pairs = json!([[1, 1], [2, 1]]);
        assert_eq!(beyond(&pairs, 1.0), [(1.0, 0.5), (2.0, 0.0)]);
        assert_eq!(beyond(&pairs, 0.5), [(1.0, 0.75), (2.0, 0.5)]);
    }

    /// What is required of a time is told with the share that arrived.
    #[test]
    fn a_measured_time_says_of_which_share_it_is() {
        let text = |measured: Value, share: Option<f64>, verdict: &str| {
            let mut one = json!({"unit": "ns", "measured": measured, "verdict": verdict});
            share.into_iter().for_each(|share| one["arrived_share"] = json!(share));
            super::measured(&one).text
        };
        assert_eq!(text(json!(404.0), None, "PASS"), "404 ns");
        assert_eq!(text(json!(404.0), Some(0.2), "PASS"), "404 ns (of those that arrived: 20.0 %)");
        assert_eq!(text(Value::Null, Some(0.2), "FAIL"), "longer than any time, as only 20.0 % arrived");
        assert_eq!(text(Value::Null, Some(0.2), Verdict::NotEnough.name()), "-");
    }

    /// Axes keep their digits: 0.123456 is a point, and its mean is 1.23 to three digits.
    #[test]
    fn an_axis_is_no_estimate() {
        let titles = ["load", "scope", "latency_mean_ns", "latency_mean_ns_ci95", "runs"].map(String::from);
        let found = [0, 1, 2, 3, 4].map(|at: usize| is_estimate(&titles, &titles[at]));
        assert_eq!(found, [false, false, true, true, false]);
    }

    /// By hand: half of the packets take 1 us, half 10 us. So all of them take longer than anything below
    /// 1 us, half longer than what is from there to 10 us, and none longer than that. One that always takes
    /// 10 us is as simple. The share is 1 to 0.1 upwards of the lower edge (254), 14 being the upper.
    #[test]
    fn a_share_is_drawn_from_its_value_on() {
        assert_eq!(beyond(&json!([[1e6, 5], [1e7, 5]]), 1.0), [(1e6, 0.5), (1e7, 0.0)]);
        let series = |name: &str, pairs: Value| Series {
            name: name.into(),
            points: beyond(&pairs, 1.0),
            ..Series::default()
        };
        let all = vec![
            series("two", json!([[1e6, 5], [1e7, 5]])),
            series("one", json!([[1e7, 3]])),
            series("same", json!([[1e7, 4]])),
            series("more", json!([[1e8, 1]])),
        ];
        let chart = Chart { log: true, series: all, ..Chart::default() };
        let svg = chart.svg().expect("it is drawn");
        let paths: Vec<&str> = svg.split(" d=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        // two decades from 72 to 706, and one from 14 to 254: half of it is log 2 below the upper edge
        let half = 14.0 + 240.0 * 2f64.log10();
        let law = format!("M72.0 14.0H72.0V{half:.1}H389.0V254.0");
        assert!(paths.contains(&law.as_str()), "{law}: {paths:?}");
        assert!(paths.contains(&"M72.0 14.0H389.0V254.0"), "{paths:?}");
        // of as many that never arrive the line goes on to the end
        let points = beyond(&json!([[1e6, 1]]), 0.5);
        let lost = Series { name: "lost".into(), points, ..Series::default() };
        let half_lost =
            Chart { log: true, series: vec![lost], ..Chart::default() }.svg().expect("it is drawn");
        assert!(half_lost.contains(&format!("M72.0 14.0H72.0V{half:.1}H706.0V{half:.1}")), "{half_lost}");
        // who is not seen is named
        assert_eq!(chart.hidden(), ["one = same"]);
    }
}
