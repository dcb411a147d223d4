//! Which options of the schema, and which of their named values, were drawn.

use serde_json::Value;
use std::collections::BTreeSet;

/// Options that no system has, and why.
const NOT_DRAWN: [(&str, &str); 6] = [
    ("ProgramSpec/file", "systems have no files beside them"),
    ("TraceSpec/file", "systems have no files beside them"),
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
        self.walk("Spec", &self.schema, system, &mut seen);
        self.seen = seen;
    }

    fn walk(&self, name: &str, node: &Value, value: &Value, seen: &mut BTreeSet<String>) {
        if let Some(target) = node["$ref"].as_str() {
            let name = target.rsplit('/').next().expect("a name");
            self.walk(name, &self.schema["$defs"][name], value, seen);
        }
        for part in alternatives(node) {
            self.walk(name, part, value, seen);
        }
        if node["const"].is_string() && node["const"] == *value {
            seen.insert(format!("{name}={}", value.as_str().expect("a string")));
        }
        if let Some(fields) = value.as_object() {
            for (key, value) in fields {
                let inner = &node["properties"][key];
                if inner.is_object() {
                    seen.insert(format!("{name}/{key}"));
                    self.walk(name, inner, value, seen);
                } else if node["additionalProperties"].is_object() {
                    self.walk(name, &node["additionalProperties"], value, seen);
                }
            }
        }
        for item in value.as_array().into_iter().flatten() {
            if node["items"].is_object() {
                self.walk(name, &node["items"], item, seen);
            }
        }
    }

    /// What the schema has and nobody drew.
    pub fn missing(&self) -> Vec<String> {
        let mut all = BTreeSet::new();
        options("Spec", &self.schema, &mut all);
        for (name, node) in self.schema["$defs"].as_object().expect("definitions") {
            options(name, node, &mut all);
        }
        for (option, _) in NOT_DRAWN {
            assert!(!self.seen.contains(option), "{option} is drawn");
        }
        let known = |option: &&String| NOT_DRAWN.iter().any(|(name, _)| name == *option);
        all.difference(&self.seen).filter(|option| !known(option)).cloned().collect()
    }
}

fn alternatives(node: &Value) -> impl Iterator<Item = &Value> {
    ["oneOf", "anyOf"].into_iter().filter_map(|key| node[key].as_array()).flatten()
}

fn options(name: &str, node: &Value, all: &mut BTreeSet<String>) {
    for part in alternatives(node) {
        options(name, part, all);
    }
    if let Some(word) = node["const"].as_str() {
        all.insert(format!("{name}={word}"));
    }
    for key in node["properties"].as_object().into_iter().flat_map(|fields| fields.keys()) {
        all.insert(format!("{name}/{key}"));
    }
}
