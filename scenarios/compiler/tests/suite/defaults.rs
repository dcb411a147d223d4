//! The resolved file has every default that is a value of its own.

use crate::options::{settings, table};
use scenarios::{load, schema};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Settings that only some have: a kind of flow, operation or program; links of RapidIO; who stops streams.
const OF_A_KIND: [&str; 9] = [
    "FlowSpec/packet",
    "FlowSpec/size",
    "FlowSpec/start",
    "StSpec/function",
    "SessionSpec/protocol",
    "ProgramSpec/octets",
    "ConsumerSpec/go_at",
    "LinkSpec/width",
    "LinkSpec/flow_control",
];
/// What faults decide unless it is said.
const FOLLOWS: [&str; 1] = ["LinkSpec/granularity"];
/// What is named of these is injected, and nothing else.
const INJECTED: [&str; 2] = ["FrameShares/", "LinxLossSpec/"];
/// Below these stand settings that lie over others, and nothing has to be said there.
const LAYERS: [&str; 2] = ["overrides", "set"];

struct Walk<'a> {
    schema: &'a Value,
    missing: BTreeSet<String>,
    /// How many defaults were looked for.
    looked: usize,
}

/// The value that a description calls the default: a text, number, truth or list, or one of the words that
/// the schema of the field has.
fn default_of(field: &Value, words: &BTreeSet<String>) -> Option<Value> {
    let told = field["description"].as_str()?.replace('\n', " ");
    let told =
        ["(default ", "Default "].into_iter().find_map(|begin| Some(told.split_once(begin)?.1.to_owned()))?;
    let end = told.find([')', ';']).unwrap_or(told.len());
    let value = told[..end].trim_matches(['`', '.', ' ']);
    match serde_json::from_str(value) {
        Ok(value) => Some(value),
        Err(_) => words.contains(value).then(|| value.into()),
    }
}

impl Walk<'_> {
    fn definition<'b>(&'b self, schema: &'b Value) -> (Option<&'b str>, &'b Value) {
        let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) else {
            return (None, schema);
        };
        (Some(name), &self.schema["$defs"][name])
    }

    /// The words that a schema allows.
    fn words(&self, schema: &Value) -> BTreeSet<String> {
        let (_, own) = self.definition(schema);
        let below = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| own[key].as_array()).flatten();
        let mut found: BTreeSet<String> = below.flat_map(|part| self.words(part)).collect();
        let listed = own["enum"].as_array().into_iter().flatten().chain([&own["const"]]);
        found.extend(listed.filter_map(|word| word.as_str()).map(str::to_owned));
        found
    }

    /// Looks through a value of this schema; `name` is the definition that it belongs to.
    fn walk(&mut self, schema: &Value, value: &Value, name: &str) {
        let (own, definition) = self.definition(schema);
        let (name, definition) = (own.unwrap_or(name).to_owned(), definition.clone());
        for key in ["anyOf", "oneOf", "allOf"] {
            for part in definition[key].as_array().into_iter().flatten() {
                self.walk(part, value, &name);
            }
        }
        match value {
            Value::Array(values) => {
                for value in values {
                    self.walk(&definition["items"], value, &name);
                }
            }
            Value::Object(fields) => self.object(&definition, fields, &name),
            _ => {}
        }
    }

    fn object(&mut self, definition: &Value, fields: &Map<String, Value>, name: &str) {
        let Some(properties) = definition["properties"].as_object() else { return };
        // Of alternatives the one that has all of these fields is meant.
        if !fields.keys().all(|key| properties.contains_key(key)) {
            return;
        }
        for (key, field) in properties {
            let path = format!("{name}/{key}");
            if let Some(value) = fields.get(key) {
                if !LAYERS.contains(&key.as_str()) {
                    self.walk(field, value, &path);
                }
            } else if let Some(default) = default_of(field, &self.words(field)) {
                self.missing.insert(format!("{path}: {default}"));
            }
            self.looked += 1;
        }
    }
}

/// Every option of the schema is in one of these files.
#[test]
fn every_default_is_written_out() {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let mut walk = Walk { schema: &schema, missing: BTreeSet::new(), looked: 0 };
    let table = table();
    for (option, entry) in table["shown"].as_object().expect("a table") {
        let base = &table["bases"][entry[0].as_str().expect("the name of a base")];
        let sets: Vec<_> = [&entry[1], &entry[2]].into_iter().flat_map(settings).collect();
        let Ok(plan) = load(&base.to_string(), "t.json", &sets) else { continue };
        let resolved = serde_json::from_str(&plan.resolved).unwrap_or_else(|why| panic!("{option}: {why}"));
        walk.walk(&schema, &resolved, "Spec");
    }
    let expected =
        |path: &String| OF_A_KIND.iter().chain(&FOLLOWS).chain(&INJECTED).any(|own| path.starts_with(own));
    walk.missing.retain(|path| !expected(path));
    assert!(walk.missing.is_empty(), "{:#?}", walk.missing);
    assert!(walk.looked > 10_000, "{}", walk.looked);
}
