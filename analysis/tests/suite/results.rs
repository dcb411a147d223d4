//! `docs/results.md`: its tables are made from the rows that write the numbers, and from what the types of
//! `summary.json` say of their fields.

use analysis::dictionary;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Parts of `summary.json`: where they stand, and the type that is written there.
const PARTS: [(&str, &str, &str); 31] = [
    ("", "summary.rs", "Summary"),
    ("variants[].", "summary.rs", "VariantSummary"),
    ("measured.", "summary.rs", "MeasuredSummary"),
    ("flows[].books.", "flows.rs", "BooksSummary"),
    ("flows[].protocol.", "flows/messages.rs", "ProtocolSummary"),
    ("flows[].protocol.", "flows/messages.rs", "FactCounts"),
    ("flows[].protocol.messages.", "flows/messages.rs", "JourneySummary"),
    ("hosts[].", "flows/messages.rs", "HostSummary"),
    ("hosts[].", "flows/messages.rs", "FactCounts"),
    ("echoes[].", "protocol/echo.rs", "EchoSummary"),
    ("linx[].", "protocol/linx.rs", "LinxSummary"),
    ("linx[].ended_ends.", "protocol/linx.rs", "EndSummary"),
    ("linx[].messages.", "protocol/linx.rs", "MessageLedger"),
    ("linx[].frames.", "protocol/linx.rs", "FrameSummary"),
    ("linx[].frames.injected.", "protocol/linx.rs", "InjectedSummary"),
    ("sessions[].", "protocol/session.rs", "SessionSummary"),
    ("sessions[].messages.", "protocol/session.rs", "MessageSummary"),
    ("sessions[].pdus.", "protocol/session.rs", "PduSummary"),
    ("sessions[].injected.", "protocol/session.rs", "InjectedSummary"),
    ("sessions[].cost.", "protocol/session.rs", "CostSummary"),
    ("transfers[].", "protocol/transfer.rs", "TransferSummary"),
    ("transfers[].aborted.", "protocol/transfer.rs", "AbortSummary"),
    ("transfers[].upper.", "protocol/transfer.rs", "UpperSummary"),
    ("translators[].", "protocol/translator.rs", "TranslatorSummary"),
    ("programs[].", "protocol/program.rs", "FlowProgramSummary"),
    ("programs[].", "protocol/program.rs", "ProgramSummary"),
    ("hol_blocking.", "summary.rs", "HolSummary"),
    ("conservation.", "summary.rs", "ConservationSummary"),
    ("enumeration.", "enumeration.rs", "EnumerationSummary"),
    ("stalls[].", "summary.rs", "StallSummary"),
    ("fingerprints.", "summary.rs", "FingerprintSummary"),
];

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results.md")
}

/// Fields of a type that is written as JSON, and their comments.
fn fields(file: &str, name: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
    let source = fs::read_to_string(&path).unwrap();
    let (_, rest) = source.split_once(&format!("\npub struct {name} {{\n")).expect(name);
    let (body, _) = rest.split_once("\n}\n").unwrap();
    let (mut found, mut comment, mut spread) = (Vec::new(), Vec::new(), false);
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            comment.push(text.trim());
        } else if line.contains("serde(flatten)") {
            spread = true;
        } else if let Some((field, _)) = line.strip_prefix("pub ").and_then(|line| line.split_once(':')) {
            assert!(!comment.is_empty(), "{name}.{field}: nobody says what it is");
            let about = std::mem::take(&mut comment).join(" ");
            // what is spread out has keys of its own
            if !std::mem::take(&mut spread) {
                found.push((field.to_owned(), about));
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
    }
    text
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
