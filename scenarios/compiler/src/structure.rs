//! The shape of a scenario file: JSON Schema, and what an error against it means to a person.

use crate::diagnostic::Diagnostic;
use crate::schema::{Fault, Kind, dereference, faults};
use crate::source;
use crate::spec::Spec;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::OnceLock;

/// A kind of file, by its schema.
pub(crate) struct Language {
    pub schema: Value,
}

impl Language {
    /// Of files with a schema that `schemars` has made.
    pub fn new(schema: schemars::Schema) -> Self {
        let mut schema = schema.to_value();
        tighten(&mut schema);
        Self { schema }
    }

    fn scenario() -> &'static Self {
        static SCENARIO: OnceLock<Language> = OnceLock::new();
        SCENARIO.get_or_init(|| Self::new(schemars::schema_for!(Spec)))
    }

    /// Reads a value as such a file, or says everything that is wrong with its structure.
    pub fn read<T: DeserializeOwned>(&'static self, value: &Value) -> Result<T, Vec<Diagnostic>> {
        let mut found = Vec::new();
        for fault in faults(&self.schema, value) {
            self.explain(&fault, &mut found);
        }
        if !found.is_empty() {
            return Err(found);
        }
        serde_json::from_value(value.clone())
            .or_else(|_| serde_json::from_value(whole_numbers(value.clone())))
            .map_err(|error| vec![Diagnostic::error("SC003", "", format!("the structure is wrong: {error}"))])
    }
}

/// JSON Schema of scenario files.
pub fn schema_value() -> &'static Value {
    &Language::scenario().schema
}

/// Removes the `null` that schemars allows for optional fields (a field is left out or has a value) and adds
/// the upper bounds of 32-bit and 64-bit integers.
fn tighten(schema: &mut Value) {
    let Value::Object(map) = schema else {
        if let Value::Array(list) = schema {
            list.iter_mut().for_each(tighten);
        }
        return;
    };
    if let Some(Value::Array(options)) = map.get_mut("anyOf") {
        options.retain(|option| option.get("type").and_then(Value::as_str) != Some("null"));
        if let [Value::Object(only)] = &options[..] {
            let only = only.clone();
            map.shift_remove("anyOf");
            map.extend(only);
        }
    }
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            map.insert("type".into(), only);
        }
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.shift_remove("default");
    }
    let most = match map.get("format").and_then(Value::as_str) {
        Some("uint32") => Some(u64::from(u32::MAX)),
        Some("uint64") => Some(u64::MAX),
        _ => None,
    };
    if let (Some(most), false) = (most, map.contains_key("maximum")) {
        map.insert("maximum".into(), most.into());
    }
    map.values_mut().for_each(tighten);
}

/// Reads a value as a scenario, or says everything that is wrong with its structure.
pub fn read(value: &Value) -> Result<Spec, Vec<Diagnostic>> {
    Language::scenario().read(value)
}

/// To JSON Schema `1.0` and `1e3` are whole numbers, to serde only `1` and `1000` are.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            // Display of a whole f64 is all of its digits, without a point.
            let digits = number.as_f64().map(|float| float.to_string()).unwrap_or_default();
            match (digits.parse::<u64>(), digits.parse::<i64>()) {
                _ if digits == "-0" => 0.into(),
                (Ok(whole), _) => whole.into(),
                (_, Ok(whole)) => whole.into(),
                _ => Value::Number(number),
            }
        }
        Value::Array(list) => list.into_iter().map(whole_numbers).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect(),
        other => other,
    }
}

impl Language {
    fn explain(&self, fault: &Fault<'_>, out: &mut Vec<Diagnostic>) {
        let Fault { at: pointer, value, kind } = fault;
        let found = describe(value);
        match kind {
            Kind::Choice(branches, faults) => {
                let viable: Vec<&Vec<Fault<'_>>> =
                    faults.iter().filter(|branch| meant(branch, pointer)).collect();
                if let [only] = viable[..] {
                    only.iter().for_each(|inner| self.explain(inner, out));
                    return;
                }
                out.push(wrong_choice(pointer, value, &self.choices(branches)));
            }
            Kind::Enum(options) => {
                let texts = options.iter().map(Value::to_string);
                let choices: Vec<Choice> = texts.map(|text| Choice { name: text.clone(), text }).collect();
                out.push(wrong_choice(pointer, value, &choices));
            }
            Kind::Constant(expected) => {
                let message = format!("expected {expected}, found {found}");
                out.push(Diagnostic::error("SC006", pointer, message));
            }
            Kind::Unexpected(unexpected, known) => {
                let fields: Vec<&str> = known.iter().flat_map(|map| map.keys().map(String::as_str)).collect();
                for key in unexpected {
                    let at = format!("{pointer}/{}", source::escape(key));
                    out.push(
                        Diagnostic::error("SC004", at, format!("unknown field \"{key}\""))
                            .help(format!("allowed here: {}", fields.join(", ")))
                            .did_you_mean(key, fields.iter().copied())
                            .at_key(),
                    );
                }
            }
            Kind::Missing(name) => {
                out.push(Diagnostic::error("SC005", pointer, format!("field \"{name}\" is missing")));
            }
            Kind::Type(types) => {
                let types: Vec<String> = types.iter().map(|name| article(name)).collect();
                let message = format!("expected {}, found {found}", types.join(" or "));
                out.push(Diagnostic::error("SC003", pointer, message));
            }
            Kind::Minimum(limit) => out.push(range(pointer, &found, &format!("at least {limit}"))),
            Kind::Maximum(limit) => out.push(range(pointer, &found, &format!("at most {limit}"))),
            Kind::MinItems(limit) => out.push(range(pointer, &found, &format!("at least {limit} elements"))),
            Kind::MaxItems(limit) => out.push(range(pointer, &found, &format!("at most {limit} elements"))),
            Kind::Ambiguous => {
                let message = format!("{found} is not allowed here (oneOf)");
                out.push(Diagnostic::error("SC003", pointer, message));
            }
        }
    }

    /// What the branches of a `oneOf` or `anyOf` offer.
    fn choices(&self, branches: &[Value]) -> Vec<Choice> {
        let mut out = Vec::new();
        branches.iter().for_each(|branch| self.collect(branch, &mut out));
        out
    }

    fn collect(&self, branch: &Value, out: &mut Vec<Choice>) {
        let Some(schema) = dereference(&self.schema, branch) else { return };
        let word =
            |text: &Value| Choice { name: text.as_str().unwrap_or_default().into(), text: text.to_string() };
        if let Some(inner) = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array) {
            inner.iter().for_each(|branch| self.collect(branch, out));
        } else if let Some(constant) = schema.get("const") {
            out.push(word(constant));
        } else if let Some(options) = schema.get("enum").and_then(Value::as_array) {
            out.extend(options.iter().map(word));
        } else if let Some([Value::String(key)]) =
            schema.get("required").and_then(Value::as_array).map(Vec::as_slice)
        {
            out.push(Choice { name: key.clone(), text: format!("{{\"{key}\": ...}}") });
        } else if let Some(kind) = schema.get("type").and_then(Value::as_str) {
            out.push(Choice { name: String::new(), text: article(kind) });
        }
    }
}

fn range(pointer: &str, found: &str, limit: &str) -> Diagnostic {
    Diagnostic::error("SC008", pointer, format!("{found} is out of range")).help(format!("allowed: {limit}"))
}

/// Whether a branch of a choice is the one that the author meant: nothing is wrong with it at its very root.
fn meant(branch: &[Fault<'_>], pointer: &str) -> bool {
    let is_tag = |fault: &Fault<'_>| match &fault.kind {
        Kind::Type(_) | Kind::Constant(_) | Kind::Enum(_) | Kind::Missing(_) => true,
        // A choice within a choice is meant if one of its branches is.
        Kind::Choice(_, faults) => !faults.iter().any(|inner| meant(inner, pointer)),
        _ => false,
    };
    !branch.iter().filter(|fault| fault.at == pointer).any(is_tag)
}

struct Choice {
    /// What the author would have to write at the least.
    name: String,
    /// How it looks in the file.
    text: String,
}

fn wrong_choice(pointer: &str, instance: &Value, choices: &[Choice]) -> Diagnostic {
    let texts: Vec<&str> = choices.iter().map(|choice| choice.text.as_str()).collect();
    let help = format!("allowed: {}", texts.join(", "));
    let key = instance.as_object().and_then(|map| map.keys().next());
    let (message, word) = match (instance, key) {
        (Value::Object(map), Some(_)) if map.len() > 1 => {
            let keys: Vec<String> = map.keys().map(|key| format!("\"{key}\"")).collect();
            (format!("exactly one choice is needed, found {}", keys.join(", ")), None)
        }
        (_, Some(key)) => (format!("unknown choice \"{key}\""), Some(key.clone())),
        (Value::String(text), _) => (format!("unknown choice \"{text}\""), Some(text.clone())),
        _ => (format!("{} is not allowed here", describe(instance)), None),
    };
    // the choice is right, but not its form
    let meant = word.as_ref().and_then(|word| choices.iter().find(|choice| choice.name == *word));
    if let Some(Choice { name, text }) = meant {
        let bare = if text.starts_with('"') { ", without braces" } else { "" };
        let message = format!("the choice \"{name}\" is written {text}{bare}");
        return Diagnostic::error("SC006", pointer, message).help(help);
    }
    let diagnostic = Diagnostic::error("SC006", pointer, message).help(help);
    match word {
        Some(word) => diagnostic.did_you_mean(&word, choices.iter().map(|choice| choice.name.as_str())),
        None => diagnostic,
    }
}

fn article(kind: &str) -> String {
    match kind {
        "string" => "a text".into(),
        "object" => "an object".into(),
        "array" => "a list".into(),
        "integer" => "a whole number".into(),
        "boolean" => "true or false".into(),
        other => format!("a {other}"),
    }
}

/// A value as a person would name it.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => n.to_string(),
        Value::String(s) if s.chars().count() <= 40 => format!("\"{s}\""),
        Value::String(_) => "a long text".into(),
        Value::Array(list) => format!("a list of {}", crate::diagnostic::count(list.len(), "element")),
        Value::Object(_) => "an object".into(),
    }
}
