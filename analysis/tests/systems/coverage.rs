//! Which options of the schema were drawn, and which of their values: those that have names, both of a
//! boolean, and each kind of JSON where there are several.

use serde_json::Value;
use std::collections::BTreeSet;

/// Options that no system has, and why.
const NOT_DRAWN: [(&str, &str); 9] = [
    ("ProgramSpec/file", "systems have no files beside them"),
    ("TraceSpec/file", "systems have no files beside them"),
    ("RunSpec/cut_short", "nothing lies behind the end of a system"),
    ("RunSpec/cut_short=false", "nothing lies behind the end of a system"),
    ("RunSpec/cut_short=true", "nothing lies behind the end of a system"),
    ("Spec/variants", "a system is one run"),
    ("VariantSpec/compare_with", "a system is one run"),
    ("VariantSpec/name", "a system is one run"),
    ("VariantSpec/set", "a system is one run"),
];

pub struct Seen {
    schema: Value,
    seen: BTreeSet<String>,
}

impl Seen {
    pub fn new() -> Self {
        let schema = serde_json::from_str(&scenarios::schema()).expect("JSON");
        Self { schema, seen: BTreeSet::new() }
    }

    pub fn add(&mut self, system: &Value) {
        let mut seen = std::mem::take(&mut self.seen);
        self.walk("Spec", "Spec", &self.schema, system, &mut seen);
        self.seen = seen;
    }

    /// `value` stands at `place`, a definition or an option; `node` of the definition `name` says what it is.
    fn walk(&self, name: &str, place: &str, node: &Value, value: &Value, seen: &mut BTreeSet<String>) {
        if let Some(target) = node["$ref"].as_str() {
            let name = target.rsplit('/').next().expect("a name");
            self.walk(name, name, &self.schema["$defs"][name], value, seen);
        }
        for part in alternatives(node) {
            self.walk(name, place, part, value, seen);
        }
        if node["const"].is_string() && node["const"] == *value {
            seen.insert(format!("{name}={}", value.as_str().expect("a string")));
        }
        let kind = kind(value);
        if types(node).contains(&kind) {
            seen.insert(format!("{place} as {kind}"));
            seen.insert(format!("{place}={value}"));
        }
        if let Some(fields) = value.as_object() {
            for (key, value) in fields {
                let inner = &node["properties"][key];
                if inner.is_object() {
                    let place = format!("{name}/{key}");
                    self.walk(name, &place, inner, value, seen);
                    seen.insert(place);
                } else if node["additionalProperties"].is_object() {
                    self.walk(name, place, &node["additionalProperties"], value, seen);
                }
            }
        }
        for item in value.as_array().into_iter().flatten() {
            if node["items"].is_object() {
                self.walk(name, &format!("{place}/item"), &node["items"], item, seen);
            }
        }
    }

    /// What the schema has and nobody drew.
    pub fn missing(&self) -> Vec<String> {
        let mut all = BTreeSet::new();
        options("Spec", "Spec", &self.schema, &mut all);
        for (name, node) in self.schema["$defs"].as_object().expect("definitions") {
            options(name, name, node, &mut all);
        }
        for (option, _) in NOT_DRAWN {
            assert!(all.contains(option), "the schema has no {option}");
            assert!(!self.seen.contains(option), "{option} is drawn");
        }
        let known = |option: &&String| NOT_DRAWN.iter().any(|(name, _)| name == *option);
        all.difference(&self.seen).filter(|option| !known(option)).cloned().collect()
    }
}

fn alternatives(node: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"].into_iter().filter_map(|key| node[key].as_array()).flatten()
}

/// What a value is in JSON; whether a number is whole is a matter of its definition.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The kinds that a node allows by itself.
fn types(node: &Value) -> Vec<&str> {
    let named = node["type"].as_str().into_iter();
    let all = named.chain(node["type"].as_array().into_iter().flatten().filter_map(Value::as_str));
    all.map(|kind| if kind == "integer" { "number" } else { kind }).collect()
}

fn options(name: &str, place: &str, node: &Value, all: &mut BTreeSet<String>) {
    for part in alternatives(node) {
        options(name, place, part, all);
    }
    if let Some(word) = node["const"].as_str() {
        all.insert(format!("{name}={word}"));
    }
    let kinds: BTreeSet<&str> =
        alternatives(node).chain([node]).flat_map(types).filter(|kind| *kind != "null").collect();
    let others = alternatives(node).any(|part| part["$ref"].is_string());
    if kinds.len() > usize::from(!others) {
        all.extend(kinds.iter().map(|kind| format!("{place} as {kind}")));
    }
    if kinds.contains("boolean") {
        all.extend([true, false].map(|value| format!("{place}={value}")));
    }
    for (key, inner) in node["properties"].as_object().into_iter().flatten() {
        let place = format!("{name}/{key}");
        options(name, &place, inner, all);
        all.insert(place);
    }
    if node["items"].is_object() {
        options(name, &format!("{place}/item"), &node["items"], all);
    }
}
