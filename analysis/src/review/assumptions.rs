//! What a result rests on: each setting with where it comes from, what is not modelled, what is warned of.

use super::Run;
use super::files::{list, word};
use super::html::Html;
use super::tables::{self, Cell};
use crate::num::count_text;
use crate::summary::left_stopped_text;
use serde_json::Value;

/// Settings in the table.
const LISTED: usize = 600;
/// Fields that are words about the scenario, or that other parts of the page show.
const WORDS: [&str; 8] =
    ["name", "title", "description", "variants", "parameters", "declare", "require", "sweep"];

/// What a setting rests on.
fn origin(run: &Run, pointer: &str) -> &'static str {
    let given = run.given.as_ref();
    let own = given.is_some_and(|given| has(given, pointer));
    match own {
        true => "user's own",
        _ if run.vendor.contains(pointer) => "vendor fact",
        _ if given.is_none() => "project default or user's own",
        _ => "project default",
    }
}

/// Whether the file sets this place, or a part of it, or all of which it is a part.
fn has(given: &Value, pointer: &str) -> bool {
    let mut at = given;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let next = match at {
            Value::Object(map) => map.get(&step),
            Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
            // a short form stands for all that it says
            _ => return true,
        };
        match next {
            Some(value) => at = value,
            None => return false,
        }
    }
    true
}

fn leaves(value: &Value, at: &str, out: &mut Vec<(String, String)>) {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, inner) in map {
                leaves(inner, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, inner) in items.iter().enumerate() {
                leaves(inner, &format!("{at}/{index}"), out);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        Value::Object(_) | Value::Null => {}
        _ => out.push((at.to_owned(), text(value))),
    }
}

/// What is not modelled, in the words of ARCHITECTURE.md.
const NOT_MODELLED: [&str; 8] = [
    "symbols inside packets, and periodic credit return on links in packet granularity",
    "protocols and multicast in virtual channels",
    "finite speed-up into output buffers",
    "more than 192 ports a switch",
    "one read of a receive buffer for several multicast copies",
    "striping over RapidIO",
    "gaps inside a message of HIPPI-6400 whose micropackets come late behind a switch that cuts through",
    "what a preset does not name: no vendor publishes buffers, pipelines and arbitration of all its parts",
];

pub(super) fn show(html: &mut Html, number: usize, run: &Run) {
    let mut all = Vec::new();
    if let Value::Object(sections) = &run.resolved {
        for (key, value) in sections.iter().filter(|(key, _)| !WORDS.contains(&key.as_str())) {
            leaves(value, &format!("/{key}"), &mut all);
        }
    }
    html.element(
        "p",
        &[],
        "Every setting of the base of the scenario. A vendor fact stands in a \
         public document about the device; a project default is a choice of this project; the rest \
         is the user's own.",
    );
    if run.given.is_none() {
        html.element(
            "p",
            &[],
            "The result folder does not say what its user wrote (origin.json is \
             missing), so defaults and settings of the user cannot be told apart.",
        );
    }
    let head = ["setting", "value", "origin"];
    let rows: Vec<Vec<Cell>> = all
        .iter()
        .take(LISTED)
        .map(|(pointer, value)| {
            vec![Cell::text(pointer), Cell::text(value), Cell::text(origin(run, pointer))]
        })
        .collect();
    tables::table(html, &format!("assume{number}"), "Settings", &head, &rows);
    if all.len() > LISTED {
        let more = count_text((all.len() - LISTED) as u64);
        html.element("p", &[], &format!("{more} more settings are in resolved.json."));
    }
    for variant in list(&run.resolved, "variants") {
        let set = variant["set"].as_object().into_iter().flatten();
        let names: Vec<&str> = set.map(|(key, _)| key.as_str()).collect();
        if !names.is_empty() {
            let text = format!("Variant {} differs in {}.", word(variant, "name"), names.join(", "));
            html.element("p", &[], &text);
        }
    }
    html.element("h3", &[], "What is not modelled").raw("<ul>");
    for line in NOT_MODELLED {
        html.element("li", &[], line);
    }
    html.raw("</ul>").element("h3", &[], "Warnings").raw("<ul>");
    let warnings = warnings(run);
    for line in &warnings {
        html.element("li", &[], line);
    }
    html.raw("</ul>");
    if warnings.is_empty() {
        html.element("p", &[], "None.");
    }
}

/// What to look at before the numbers are trusted.
fn warnings(run: &Run) -> Vec<String> {
    let mut all = run.warnings.clone();
    for variant in list(&run.summary, "variants") {
        let name = word(variant, "name");
        let mut say = |text: String| all.push(format!("Variant {name}: {text}"));
        if variant["measured"]["steady"] == false {
            say("no steady state was found, or times climb; estimates describe a transient".into());
        }
        say(format!("warm-up: {}", word(&variant["measured"], "warmup_rule")));
        for flow in list(variant, "flows") {
            let flow_name = word(flow, "name");
            if flow["saturated"] == true {
                say(format!(
                    "flow {flow_name} is saturated: it asks for more than it gets, or always has more to send"
                ));
            }
            let packets = flow["delivered_packets"].as_u64().unwrap_or(0);
            if packets > 0 && flow["latency_ns"]["p99.9"]["value"].is_null() {
                say(format!(
                    "flow {flow_name} has {} packets: too few samples for a 99.9th percentile",
                    count_text(packets)
                ));
            }
        }
        for stall in list(variant, "stalls") {
            say(tables::stall(stall));
        }
        for left in list(variant, "left_stopped") {
            let congested: Vec<&str> = list(left, "congested").iter().filter_map(Value::as_str).collect();
            let at = left["at_us"].as_f64().unwrap_or(f64::NAN);
            say(left_stopped_text(at, word(left, "port"), &congested));
        }
        for law in list(&variant["conservation"], "broken") {
            say(format!("broken invariant: {}", law.as_str().unwrap_or("")));
        }
    }
    all
}
