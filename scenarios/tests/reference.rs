//! `docs/scenarios.md` ends with a reference of every field, made from the schema: `BLESS=1` writes it anew.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const MARK: &str = "<!-- Everything below is made from the schema by scenarios/tests/reference.rs. -->\n";

/// The section of a definition, as GitHub makes anchors of headings.
fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

/// One line of Markdown inside a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// What a value may be, in a few words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        return link(name.rsplit('/').next().unwrap_or(name));
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    for any in ["anyOf", "oneOf"] {
        if let Some(all) = schema[any].as_array() {
            return all.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    let one = |name: &str| match name {
        "array" => format!("list of {}", schema.get("items").map_or("anything".into(), kind)),
        "object" => match schema.get("additionalProperties") {
            Some(value @ Value::Object(_)) => format!("name -> {}", kind(value)),
            _ => "object".into(),
        },
        "integer" => {
            let bound = |key: &str| schema[key].as_u64().filter(|bound| *bound <= 65_535);
            match (bound("minimum"), bound("maximum")) {
                (Some(low), Some(high)) => format!("integer {low} to {high}"),
                (Some(low), None) => format!("integer from {low}"),
                _ => "integer".into(),
            }
        }
        other => other.to_string(),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".into(),
    }
}

fn text_of(schema: &Value) -> String {
    cell(schema["description"].as_str().unwrap_or(""))
}

fn fields(out: &mut String, schema: &Value) {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)))
    };
    out.push_str("| field | value | meaning |\n|---|---|---|\n");
    for (name, field) in schema["properties"].as_object().expect("an object has properties") {
        let must = if required(name) { " (required)" } else { "" };
        writeln!(out, "| `{name}`{must} | {} | {} |", kind(field), text_of(field)).unwrap();
    }
}

fn choices(out: &mut String, all: &[Value]) {
    out.push_str("| choice | meaning |\n|---|---|\n");
    for choice in all {
        let what = match choice["properties"].as_object().and_then(|object| object.iter().next()) {
            Some((name, value)) => format!("`{{ \"{name}\": ... }}` {}", kind(value)),
            None => kind(choice),
        };
        writeln!(out, "| {what} | {} |", text_of(choice)).unwrap();
    }
}

fn section(out: &mut String, name: &str, schema: &Value) {
    write!(out, "\n### {name}\n\n{}\n", schema["description"].as_str().unwrap_or("").replace('\n', " "))
        .unwrap();
    out.push('\n');
    let choice = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    if let Some(all) = choice {
        choices(out, all);
    } else if schema.get("properties").is_some() {
        fields(out, schema);
    } else {
        writeln!(out, "Value: {}.", kind(schema)).unwrap();
    }
}

fn reference() -> String {
    let schema: Value = serde_json::from_str(&scenarios::schema()).expect("the schema is JSON");
    let mut out = String::from("\n## Reference of all fields\n");
    section(&mut out, "Scenario", &schema);
    for (name, definition) in schema["$defs"].as_object().expect("the schema has definitions") {
        section(&mut out, name, definition);
    }
    out
}

#[test]
fn the_reference_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    let text = fs::read_to_string(&path).expect("docs/scenarios.md");
    let (head, old) = text.split_once(MARK).expect("docs/scenarios.md has the mark of its generated part");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, format!("{head}{MARK}{}", reference())).expect("written");
        return;
    }
    assert!(old == reference(), "the reference in docs/scenarios.md is stale: BLESS=1 writes it anew");
}

/// What is written by hand names every preset, kind of topology and cause.
#[test]
fn the_manual_names_everything() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    let text = fs::read_to_string(path).expect("docs/scenarios.md");
    let manual = text.split(MARK).next().unwrap_or_default();
    let topologies = scenarios::list_topologies();
    let topologies = topologies.lines().filter_map(|line| line.split_whitespace().next());
    let presets = scenarios::presets::SWITCHES.iter().chain(scenarios::presets::ENDPOINTS);
    let causes = models::probe::Cause::ALL.map(models::probe::Cause::name);
    for name in topologies.chain(presets.map(|preset| preset.name)).chain(causes) {
        assert!(manual.contains(name), "docs/scenarios.md does not mention {name}");
    }
}
