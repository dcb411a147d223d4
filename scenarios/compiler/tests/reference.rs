//! `docs/scenarios.md` and `docs/sweeps.md` end with a reference of every field, made from the schema, and
//! `docs/errors.md` has every code with a message, made from the table of codes and the messages kept in
//! `tests/bad` and `tests/bad-sweeps`: `BLESS=1` writes both anew.

use scenarios::diagnostic::CODES;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const MARK: &str =
    "<!-- Everything below is made from the schema by scenarios/compiler/tests/reference.rs. -->\n";

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

fn reference(schema: &str, title: &str) -> String {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let mut out = String::from("\n## Reference of all fields\n");
    section(&mut out, title, &schema);
    for (name, definition) in schema["$defs"].as_object().expect("the schema has definitions") {
        section(&mut out, name, definition);
    }
    out
}

#[test]
fn the_reference_is_fresh() {
    for (page, schema, title) in [
        ("scenarios.md", scenarios::schema(), "Scenario"),
        ("sweeps.md", scenarios::sweep::schema(), "Sweep"),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
        let text = fs::read_to_string(&path).expect(page);
        let (head, old) = text.split_once(MARK).expect("the mark of the generated part");
        let new = reference(&schema, title);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, format!("{head}{MARK}{new}")).expect("written");
        } else {
            assert!(old == new, "the reference in docs/{page} is stale: BLESS=1 writes it anew");
        }
    }
}

/// The first message with each code among those kept in a folder.
fn examples(folder: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    names.sort();
    let is_code = |line: &str| CODES.iter().any(|(code, _)| *code == line);
    let mut found = BTreeMap::new();
    for name in names {
        let text = fs::read_to_string(name).expect("readable");
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if is_code(line) {
                // Its message ends where the next one begins, or before the line that counts them.
                let mut message = Vec::new();
                let counts = |line: &str| line.ends_with(" warnings") || line.ends_with(", 1 warning");
                while let Some(next) = lines.next_if(|next| !is_code(next) && !counts(next)) {
                    message.push(next.trim_end());
                }
                found
                    .entry(line.to_owned())
                    .or_insert_with(|| message.join("\n").trim_matches('\n').to_owned());
            }
        }
    }
    found
}

const ERRORS: &str = "# Errors and warnings

<!-- Made by scenarios/compiler/tests/reference.rs from the codes and the messages beside the tests. -->

A scenario or a sweep with an error does not run: exit status 2, and nothing is written. With warnings it
runs; look at them before you trust its results (`riosim check` prints them, and what else it knows of a
scenario). A message names its code, the place (a JSON pointer), what was found there and what is
allowed. Codes are never given to something else.
";

fn errors() -> String {
    let mut out = String::from(ERRORS);
    let mut examples =
        examples("bad-sweeps").into_iter().chain(self::examples("bad")).collect::<BTreeMap<_, _>>();
    for (kind, title) in [("SC", "Scenarios"), ("SW", "Sweeps")] {
        write!(out, "\n## {title}\n").unwrap();
        for (code, meaning) in CODES.iter().filter(|(code, _)| code.starts_with(kind)) {
            write!(out, "\n### {code}: {meaning}\n\n").unwrap();
            match examples.remove(*code) {
                Some(example) => writeln!(out, "```text\n{example}\n```").unwrap(),
                None if *code == "SC098" => {
                    writeln!(out, "What is refused depends on the machine, so there is no example.").unwrap();
                }
                None => writeln!(out, "A warning.").unwrap(),
            }
        }
    }
    out
}

#[test]
fn the_page_of_errors_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, errors()).expect("written");
        return;
    }
    let old = fs::read_to_string(&path).unwrap_or_default();
    assert!(old == errors(), "docs/errors.md is stale: BLESS=1 writes it anew");
}

/// What is written by hand names every preset, kind of topology and cause.
#[test]
fn the_manual_names_everything() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios.md");
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
