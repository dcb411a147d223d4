//! `docs/results.md`: its tables are made from the rows that write the numbers, and from what the types of
//! `summary.json` say of their fields.

use analysis::dictionary;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Parts of `summary.json`: where they stand, and the type that is written there.
const PARTS: [(&str, &str, &str); 61] = [
    ("", "summary.rs", "Summary"),
    ("variants[].", "summary.rs", "VariantSummary"),
    ("measured.", "summary.rs", "MeasuredSummary"),
    ("require[].", "require.rs", "JudgedSummary"),
    // what stands at many places
    ("flows[].*.", "flows.rs", "EstimateSummary"),
    ("flows[].*latency_ns.", "flows.rs", "LatencySummary"),
    ("flows[].*latency_ns.*.", "flows.rs", "EstimateSummary"),
    ("flows[].decomposition.*.", "flows.rs", "Part"),
    ("flows[].books.", "flows.rs", "BooksSummary"),
    ("flows[].users.", "flows.rs", "UserSummary"),
    ("flows[].protocol.", "flows/messages.rs", "ProtocolSummary"),
    ("flows[].protocol.", "flows/messages.rs", "FactCounts"),
    ("flows[].protocol.messages.", "flows/messages.rs", "JourneySummary"),
    ("flows[].protocol.messages.goodput_gbps.", "flows.rs", "EstimateSummary"),
    ("flows[].protocol.messages.latency_ns.", "flows.rs", "LatencySummary"),
    ("flows[].protocol.messages.latency_ns.*.", "flows.rs", "EstimateSummary"),
    ("flows[].protocol.messages.decomposition.*.", "flows.rs", "Part"),
    ("hosts[].", "flows/messages.rs", "HostSummary"),
    ("hosts[].", "flows/messages.rs", "FactCounts"),
    ("echoes[].", "protocol/echo.rs", "EchoSummary"),
    ("echoes[].round_trip.", "protocol.rs", "TimesSummary"),
    ("linx[].", "protocol/linx.rs", "LinxSummary"),
    ("linx[].detection.", "protocol/linx.rs", "TimesSummary"),
    ("linx[].reestablishment.", "protocol/linx.rs", "TimesSummary"),
    ("linx[].heartbeat_gaps.", "protocol/linx.rs", "TimesSummary"),
    ("linx[].messages.latency.", "protocol/linx.rs", "TimesSummary"),
    ("linx[].messages.round_trips.", "protocol/linx.rs", "TimesSummary"),
    ("linx[].ended_ends.", "protocol/linx.rs", "EndSummary"),
    ("linx[].messages.", "protocol/linx.rs", "MessageLedger"),
    ("linx[].frames.", "protocol/linx.rs", "FrameSummary"),
    ("linx[].frames.injected.", "protocol/linx.rs", "InjectedSummary"),
    ("sessions[].", "protocol/session.rs", "SessionSummary"),
    ("sessions[].messages.", "protocol/session.rs", "MessageSummary"),
    ("sessions[].pdus.", "protocol/session.rs", "PduSummary"),
    ("sessions[].injected.", "protocol/session.rs", "InjectedSummary"),
    ("sessions[].management.", "protocol/session.rs", "ManagementSummary"),
    ("sessions[].bridged.", "protocol/session.rs", "BridgedSummary"),
    ("sessions[].user_defined.", "protocol/session.rs", "UserDefinedSummary"),
    ("sessions[].cost.", "protocol/session.rs", "CostSummary"),
    ("transfers[].", "protocol/transfer.rs", "TransferSummary"),
    ("transfers[].completion.", "protocol.rs", "TimesSummary"),
    ("transfers[].program.", "protocol/program.rs", "ProgramSummary"),
    ("transfers[].program.waiting[].", "protocol/program.rs", "WaitingRank"),
    ("transfers[].aborted.", "protocol/transfer.rs", "AbortSummary"),
    ("transfers[].upper.", "protocol/transfer.rs", "UpperSummary"),
    ("translators[].", "protocol/translator.rs", "TranslatorSummary"),
    ("programs[].", "protocol/program.rs", "FlowProgramSummary"),
    ("programs[].", "protocol/program.rs", "ProgramSummary"),
    ("programs[].waiting[].", "protocol/program.rs", "WaitingRank"),
    ("initialisation[].", "protocol/initialise.rs", "InitialiseSummary"),
    ("initialisation[].held.", "protocol.rs", "TimesSummary"),
    ("hol_blocking.", "summary.rs", "HolSummary"),
    ("hol_blocking.switches[].", "summary.rs", "HolPlace"),
    ("hol_blocking.worst_ports[].", "summary.rs", "HolPlace"),
    ("conservation.", "summary.rs", "ConservationSummary"),
    ("enumeration.", "enumeration.rs", "EnumerationSummary"),
    ("enumeration.phases[].", "enumeration.rs", "PhaseSummary"),
    ("enumeration.found[].", "enumeration.rs", "FoundSummary"),
    ("stalls[].", "summary.rs", "StallSummary"),
    ("left_stopped[].", "summary.rs", "LeftStoppedSummary"),
    ("fingerprints.", "summary.rs", "FingerprintSummary"),
];

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results.md")
}

/// Fields of a type that is written as JSON, and their comments.
fn fields(file: &str, name: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let source = fs::read_to_string(&path).unwrap();
    let (_, rest) = source.split_once(&format!("struct {name} {{\n")).expect(name);
    let (body, _) = rest.split_once("\n}\n").unwrap();
    let (mut found, mut comment, mut spread, mut other) = (Vec::new(), Vec::new(), false, None);
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.trim());
        } else if line.contains("serde(flatten)") {
            spread = true;
        } else if let Some((_, renamed)) = line.split_once("serde(rename = \"") {
            other = renamed.split('"').next();
        } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|line| line.split_once(':')) {
            assert!(!comment.is_empty(), "{name}.{field}: nobody says what it is");
            let about = std::mem::take(&mut comment).join(" ");
            // what is spread out has keys of its own
            if !std::mem::take(&mut spread) {
                found.push((other.take().unwrap_or(field).to_owned(), about));
            }
        }
    }
    found
}

/// What `summary.json` has beside flows and links.
fn summary() -> String {
    let mut text = String::from("| key | what it is |\n|---|---|\n");
    for (at, file, name) in PARTS {
        for (field, about) in fields(file, name) {
            let _ = writeln!(text, "| `{at}{field}` | {} |", about.replace('|', "\\|"));
        }
        if name == "VariantSummary" {
            for part in protocols() {
                let _ = writeln!(text, "| `variants[].{part}` | Flows of this kind, if there are any. |");
            }
        }
    }
    text
}

/// Parts of a variant that protocols bring.
fn protocols() -> Vec<&'static str> {
    let common = fields("summary.rs", "VariantSummary");
    let parts = PARTS.iter().filter_map(|(at, ..)| at.strip_suffix("[]."));
    let parts = parts.filter(|part| !part.contains('.') && *part != "variants");
    let mut parts: Vec<&str> = parts.filter(|part| !common.iter().any(|(known, _)| known == part)).collect();
    parts.dedup();
    parts
}

/// Puts each table in its place: `<!-- table NAME -->` to `<!-- end of table -->`.
fn rewritten(page: &str) -> String {
    let mut tables = dictionary::tables();
    tables.push(dictionary::Table { name: "summary", text: summary() });
    let end = "<!-- end of table -->";
    let mut page = page.to_owned();
    for table in tables {
        let mark = format!("<!-- table {} -->\n", table.name);
        let (head, rest) = page.split_once(&mark).unwrap_or_else(|| panic!("no place for {}", table.name));
        let (_, tail) = rest.split_once(end).expect("a mark where it ends");
        page = format!("{head}{mark}{}{end}{tail}", table.text);
    }
    page
}

#[test]
fn the_table_of_figures_and_all_others_are_fresh() {
    let old = fs::read_to_string(page()).unwrap();
    let new = rewritten(&old);
    if std::env::var_os("BLESS").is_some() {
        fs::write(page(), new).unwrap();
        return;
    }
    let stale = old.lines().zip(new.lines()).find(|(old, new)| old != new);
    assert!(old == new, "docs/results.md is stale, BLESS=1 writes its tables anew: {stale:?}");
}

/// Ways to every key below this value: `[]` is each entry of a list.
fn ways(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                ways(value, &at, found);
                found.insert(at);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| ways(item, &format!("{at}[]"), found)),
        _ => (),
    }
}

/// Whether a way is one of those that a key of the page stands for: a star is anything but a full stop, of
/// which there is one in `p99.9`.
fn stands_for(key: &str, way: &str) -> bool {
    match key.split_once('*') {
        None => key == way,
        Some((head, tail)) => way.strip_prefix(head).is_some_and(|rest| {
            let ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            let stars = ends.filter(|end| !rest[..*end].contains('.') || &rest[..*end] == "p99.9");
            stars.into_iter().any(|end| stands_for(tail, &rest[end..]))
        }),
    }
}

/// First cells of a table of the page.
fn keys(page: &str, table: &str) -> Vec<String> {
    let (_, rest) = page.split_once(&format!("<!-- table {table} -->\n")).expect(table);
    let (body, _) = rest.split_once("<!-- end of table -->").expect("an end");
    let rows = body.lines().skip(2).filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    rows.map(|cell| cell.trim_matches('`').to_owned()).collect()
}

/// What a way of a summary is called on the page: all flows together are told as each is, round trips as
/// messages are, an end of a link as all ends together.
fn called(way: &str) -> String {
    let inner = way.strip_prefix("variants[].").filter(|inner| inner.contains('.'));
    let inner = inner.unwrap_or(way);
    let flow = inner.strip_prefix("overall.").map(|rest| format!("flows[].{rest}"));
    let flow = flow.unwrap_or_else(|| inner.to_owned());
    let messages = flow.strip_prefix("flows[].protocol.round_trips");
    messages.map_or(flow.clone(), |rest| format!("flows[].protocol.messages{rest}"))
}

/// Every key that a summary of a study has is on the page: what it is, in what unit, and when it is there.
#[test]
fn every_key_of_a_summary_is_told() {
    let page = fs::read_to_string(page()).unwrap();
    let mut told = keys(&page, "summary");
    told.extend(keys(&page, "flows").into_iter().map(|key| format!("flows[].{key}")));
    told.extend(keys(&page, "fabric").into_iter().map(|key| format!("fabric.{key}")));
    told.extend(["symbols", "total", "ends", "ends.*"].map(|key| match key {
        "symbols" => "fabric.symbols".to_owned(),
        of_links => format!("links.{of_links}"),
    }));
    for part in ["total", "ends.*"] {
        told.extend(keys(&page, "links").into_iter().map(|key| format!("links.{part}.{key}")));
    }
    for level in ["flows[]", "flows[].protocol.messages"] {
        told.extend(keys(&page, "causes").into_iter().map(|key| format!("{level}.decomposition.{key}")));
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/reference");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            ways(&serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap(), "", &mut found);
        }
    }
    assert!(found.len() > 500, "{}", found.len());
    let names: BTreeSet<String> = found.iter().map(|way| called(way)).collect();
    let silent: Vec<&String> =
        names.iter().filter(|way| !told.iter().any(|key| stands_for(key, way))).collect();
    assert!(silent.is_empty(), "keys that docs/results.md does not tell: {silent:#?}");
}
