//! The shape of a scenario file: JSON Schema, and what an error against it means to a person.

use crate::diagnostic::Diagnostic;
use crate::source;
use crate::spec::Spec;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{ValidationError, Validator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::OnceLock;

/// A kind of file: its schema, and what checks a value against it.
pub(crate) struct Language {
    pub schema: Value,
    validator: Validator,
}

impl Language {
    /// Of files with a schema that `schemars` has made.
    pub fn new(schema: schemars::Schema) -> Self {
        let mut schema = schema.to_value();
        tighten(&mut schema);
        let validator = jsonschema::validator_for(&schema).expect("the generated schema is valid");
        Self { schema, validator }
    }

    fn scenario() -> &'static Self {
        static SCENARIO: OnceLock<Language> = OnceLock::new();
        SCENARIO.get_or_init(|| Self::new(schemars::schema_for!(Spec)))
    }

    /// Reads a value as such a file, or says everything that is wrong with its structure.
    pub fn read<T: DeserializeOwned>(&'static self, value: &Value) -> Result<T, Vec<Diagnostic>> {
        let mut found = Vec::new();
        for error in self.validator.iter_errors(value) {
            self.explain(&error, &mut found);
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
    fn explain(&'static self, error: &ValidationError<'_>, out: &mut Vec<Diagnostic>) {
        let pointer = error.instance_path().as_str();
        let instance = error.instance().as_ref();
        let found = describe(instance);
        match error.kind() {
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                let viable: Vec<&Vec<ValidationError<'_>>> =
                    context.iter().filter(|branch| meant(branch, pointer)).collect();
                if let [only] = viable[..] {
                    only.iter().for_each(|inner| self.explain(inner, out));
                    return;
                }
                let choices = self.choices(error.schema_path().as_str());
                out.push(wrong_choice(pointer, instance, &choices));
            }
            Kind::Enum { options } => {
                let texts: Vec<String> =
                    options.as_array().into_iter().flatten().map(Value::to_string).collect();
                let choices: Vec<Choice> =
                    texts.into_iter().map(|text| Choice { name: text.clone(), text }).collect();
                out.push(wrong_choice(pointer, instance, &choices));
            }
            Kind::Constant { expected_value } => {
                let message = format!("expected {expected_value}, found {found}");
                out.push(Diagnostic::error("SC006", pointer, message));
            }
            Kind::AdditionalProperties { unexpected } => {
                let fields = self.fields(error.schema_path().as_str());
                for key in unexpected {
                    let at = format!("{pointer}/{}", source::escape(key));
                    let names = fields.iter().map(String::as_str);
                    out.push(
                        Diagnostic::error("SC004", at, format!("unknown field \"{key}\""))
                            .help(format!("allowed here: {}", fields.join(", ")))
                            .did_you_mean(key, names)
                            .at_key(),
                    );
                }
            }
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                out.push(Diagnostic::error("SC005", pointer, format!("field \"{name}\" is missing")));
            }
            Kind::Type { kind } => {
                let expected = match kind {
                    TypeKind::Single(one) => article(&one.to_string()),
                    TypeKind::Multiple(set) => {
                        set.iter().map(|one| article(&one.to_string())).collect::<Vec<_>>().join(" or ")
                    }
                };
                out.push(Diagnostic::error("SC003", pointer, format!("expected {expected}, found {found}")));
            }
            Kind::Minimum { limit } => out.push(range(pointer, &found, &format!("at least {limit}"))),
            Kind::Maximum { limit } => out.push(range(pointer, &found, &format!("at most {limit}"))),
            Kind::MinItems { limit } => {
                out.push(range(pointer, &found, &format!("at least {limit} elements")))
            }
            Kind::MaxItems { limit } => {
                out.push(range(pointer, &found, &format!("at most {limit} elements")))
            }
            other => {
                let message = format!("{found} is not allowed here ({})", other.keyword());
                out.push(Diagnostic::error("SC003", pointer, message));
            }
        }
    }

    /// Follows a path of the schema, through references.
    fn follow(&'static self, path: &str) -> Option<&'static Value> {
        let mut node = &self.schema;
        for part in path.split('/').skip(1).map(source::unescape) {
            if part == "$ref" {
                node = self.dereference(node)?;
                continue;
            }
            let next = match node {
                Value::Array(list) => list.get(part.parse::<usize>().ok()?),
                _ => node.get(&part),
            };
            node = match next {
                Some(next) => next,
                None => self.dereference(node)?.get(&part)?,
            };
        }
        Some(node)
    }

    fn dereference(&'static self, node: &'static Value) -> Option<&'static Value> {
        let mut node = node;
        while let Some(target) = node.get("$ref").and_then(Value::as_str) {
            node = self.schema.pointer(target.strip_prefix('#')?)?;
        }
        Some(node)
    }

    /// Names of the fields of the object schema whose `additionalProperties` failed.
    fn fields(&'static self, path: &str) -> Vec<String> {
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let properties = self
            .follow(parent)
            .and_then(|node| self.dereference(node))
            .and_then(|schema| schema.get("properties"));
        properties.and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }

    /// What the branches of a `oneOf` or `anyOf` offer.
    fn choices(&'static self, path: &str) -> Vec<Choice> {
        let mut out = Vec::new();
        for branch in self.follow(path).and_then(Value::as_array).into_iter().flatten() {
            self.collect(branch, &mut out);
        }
        out
    }

    fn collect(&'static self, branch: &'static Value, out: &mut Vec<Choice>) {
        let Some(schema) = self.dereference(branch) else { return };
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
fn meant(branch: &[ValidationError<'_>], pointer: &str) -> bool {
    let at_root = |error: &&ValidationError<'_>| error.instance_path().as_str() == pointer;
    let tag = |error: &ValidationError<'_>| {
        matches!(
            error.kind(),
            Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. } | Kind::Required { .. }
        )
    };
    let nested = |error: &ValidationError<'_>| match error.kind() {
        // A choice within a choice is meant if one of its branches is.
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            !context.iter().any(|inner| meant(inner, pointer))
        }
        _ => false,
    };
    !branch.iter().filter(at_root).any(|error| tag(error) || nested(error))
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
