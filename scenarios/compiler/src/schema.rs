//! What is wrong with a value by a JSON Schema, as far as the schemas of this crate go.
//!
//! They use fourteen of its keywords that refuse something. A validator that knows all of them, with regular
//! expressions and numbers of any size, takes longer to build than this crate. One such is the second opinion
//! of the tests.

use crate::source;
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;

/// Something that a schema does not allow.
pub(crate) struct Fault<'a> {
    /// JSON pointer to what is wrong.
    pub at: String,
    /// What is there.
    pub value: &'a Value,
    /// What is wrong with it.
    pub kind: Kind<'a>,
}

/// What a schema asks for, and the value is not.
pub(crate) enum Kind<'a> {
    /// One of these types.
    Type(Vec<&'a str>),
    /// One of these values.
    Enum(&'a [Value]),
    /// This value.
    Constant(&'a Value),
    /// One of these choices: what is wrong with each, in order.
    Choice(&'a [Value], Vec<Vec<Fault<'a>>>),
    /// Only one of the choices; the value is several.
    Ambiguous,
    /// No other fields than these; it has some.
    Unexpected(Vec<&'a str>, Option<&'a Map<String, Value>>),
    /// This field.
    Missing(&'a str),
    /// At least that much.
    Minimum(&'a Value),
    /// At most that much.
    Maximum(&'a Value),
    /// At least so many elements.
    MinItems(u64),
    /// At most so many elements.
    MaxItems(u64),
}

/// A schema behind its reference, in the schema of the whole file.
pub(crate) fn dereference<'a>(root: &'a Value, node: &'a Value) -> Option<&'a Value> {
    let mut node = node;
    while let Some(target) = node.get("$ref").and_then(Value::as_str) {
        node = root.pointer(target.strip_prefix('#')?)?;
    }
    Some(node)
}

/// All that is wrong with a value by the schema `root`; nothing: it is as the schema wants it.
pub(crate) fn faults<'a>(root: &'a Value, value: &'a Value) -> Vec<Fault<'a>> {
    let mut found = Vec::new();
    check(root, root, value, "", &mut found);
    found
}

/// Holds a value against one schema of a file.
fn check<'a>(root: &'a Value, schema: &'a Value, value: &'a Value, at: &str, found: &mut Vec<Fault<'a>>) {
    let Some(keywords) = schema.as_object() else { return };
    for (keyword, argument) in keywords {
        let kind = match (keyword.as_str(), value) {
            ("$ref", _) => {
                if let Some(target) = dereference(root, schema) {
                    check(root, target, value, at, found);
                }
                None
            }
            ("oneOf" | "anyOf", _) => choice(root, argument, value, at, keyword == "oneOf"),
            ("properties", Value::Object(map)) => {
                for (name, schema) in argument.as_object().into_iter().flatten() {
                    if let Some(inner) = map.get(name) {
                        check(root, schema, inner, &beneath(at, name), found);
                    }
                }
                None
            }
            ("additionalProperties", Value::Object(map)) => {
                let known = keywords.get("properties").and_then(Value::as_object);
                let others = map.iter().filter(|(name, _)| !known.is_some_and(|map| map.contains_key(*name)));
                if *argument == Value::Bool(false) {
                    let others: Vec<&str> = others.map(|(name, _)| name.as_str()).collect();
                    (!others.is_empty()).then_some(Kind::Unexpected(others, known))
                } else {
                    others.for_each(|(name, value)| check(root, argument, value, &beneath(at, name), found));
                    None
                }
            }
            ("items", Value::Array(list)) => {
                for (place, inner) in list.iter().enumerate() {
                    check(root, argument, inner, &format!("{at}/{place}"), found);
                }
                None
            }
            ("required", Value::Object(map)) => {
                let names = argument.as_array().into_iter().flatten().filter_map(Value::as_str);
                let missing = names.filter(|name| !map.contains_key(*name));
                found.extend(missing.map(|name| Fault { at: at.into(), value, kind: Kind::Missing(name) }));
                None
            }
            (keyword, _) => refused(keyword, argument, value),
        };
        found.extend(kind.map(|kind| Fault { at: at.into(), value, kind }));
    }
}

/// What a keyword refuses that looks at nothing but the value itself.
fn refused<'a>(keyword: &str, argument: &'a Value, value: &'a Value) -> Option<Kind<'a>> {
    let (is_wrong, kind) = match (keyword, value) {
        ("type", _) => {
            let types: Vec<&str> = match argument {
                Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
                one => one.as_str().into_iter().collect(),
            };
            (!types.iter().any(|name| has_type(value, name)), Kind::Type(types))
        }
        ("const", _) => (!equal(argument, value), Kind::Constant(argument)),
        ("enum", _) => {
            let options = argument.as_array().map_or(&[][..], Vec::as_slice);
            (!options.iter().any(|option| equal(option, value)), Kind::Enum(options))
        }
        ("minimum", Value::Number(number)) => (against(number, argument).is_lt(), Kind::Minimum(argument)),
        ("maximum", Value::Number(number)) => (against(number, argument).is_gt(), Kind::Maximum(argument)),
        ("minItems", Value::Array(list)) => {
            let limit = argument.as_u64().unwrap_or(0);
            ((list.len() as u64) < limit, Kind::MinItems(limit))
        }
        ("maxItems", Value::Array(list)) => {
            let limit = argument.as_u64().unwrap_or(u64::MAX);
            (list.len() as u64 > limit, Kind::MaxItems(limit))
        }
        _ => return None,
    };
    is_wrong.then_some(kind)
}

/// Holds a value against each of several schemas, of which one has to allow it, or exactly one.
fn choice<'a>(
    root: &'a Value,
    branches: &'a Value,
    value: &'a Value,
    at: &str,
    exactly_one: bool,
) -> Option<Kind<'a>> {
    let branches = branches.as_array()?;
    let mut faults = Vec::with_capacity(branches.len());
    let mut allowed = 0;
    for branch in branches {
        let mut found = Vec::new();
        check(root, branch, value, at, &mut found);
        allowed += u32::from(found.is_empty());
        faults.push(found);
    }
    match allowed {
        0 => Some(Kind::Choice(branches, faults)),
        1 => None,
        _ => exactly_one.then_some(Kind::Ambiguous),
    }
}

/// Pointer to a field of what is at `at`.
fn beneath(at: &str, name: &str) -> String {
    format!("{at}/{}", source::escape(name))
}

fn has_type(value: &Value, name: &str) -> bool {
    match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
        Value::Number(number) => name == "number" || name == "integer" && is_whole(number),
    }
}

/// `1.0` is a whole number, too.
fn is_whole(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// A number beside a limit, exactly.
fn against(number: &Number, limit: &Value) -> Ordering {
    let limit = limit.as_u64().unwrap_or(0);
    match (number.as_u64(), number.as_f64()) {
        (Some(whole), _) => whole.cmp(&limit),
        (None, Some(float)) if number.is_f64() && float >= 0.0 => {
            // The conversion cuts the fraction, and stops at the highest number.
            let fits = float < 18_446_744_073_709_551_616.0;
            let cut = if fits { (float as u64).cmp(&limit) } else { Ordering::Greater };
            cut.then(if float.fract() > 0.0 { Ordering::Greater } else { Ordering::Equal })
        }
        _ => Ordering::Less,
    }
}

/// Equal values, numbers by what they are worth.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Whether a schema has only keywords that are checked here, or refuse nothing; limits are whole numbers.
    fn is_known(schema: &Value) -> bool {
        let Some(map) = schema.as_object() else { return *schema == json!(true) };
        map.iter().all(|(keyword, argument)| match keyword.as_str() {
            "properties" | "$defs" => argument.as_object().is_some_and(|map| map.values().all(is_known)),
            "oneOf" | "anyOf" => argument.as_array().is_some_and(|list| list.iter().all(is_known)),
            "items" => is_known(argument),
            "additionalProperties" => *argument == json!(false) || is_known(argument),
            "minimum" | "maximum" | "minItems" | "maxItems" => argument.is_u64(),
            "$ref" => argument.as_str().is_some_and(|target| target.starts_with("#/")),
            "type" | "const" | "enum" | "required" => true,
            "$schema" | "default" | "description" | "format" | "title" => true,
            _ => false,
        })
    }

    #[test]
    fn every_keyword_of_our_schemas_is_known() {
        assert!(is_known(crate::structure::schema_value()));
        assert!(is_known(&serde_json::from_str(&crate::sweep::schema()).unwrap()));
        assert!(!is_known(&json!({"properties": {"a": {"pattern": "b"}}})));
    }

    fn says(schema: &Value, value: Value) -> String {
        let texts = faults(schema, &value).into_iter().map(|fault| {
            let word = match fault.kind {
                Kind::Type(_) => "type",
                Kind::Enum(_) => "enum",
                Kind::Constant(_) => "const",
                Kind::Choice(..) => "choice",
                Kind::Ambiguous => "ambiguous",
                Kind::Unexpected(..) => "unexpected",
                Kind::Missing(_) => "missing",
                Kind::Minimum(_) => "minimum",
                Kind::Maximum(_) => "maximum",
                Kind::MinItems(_) => "minItems",
                Kind::MaxItems(_) => "maxItems",
            };
            format!("{} {word}", fault.at)
        });
        texts.collect::<Vec<String>>().join(", ")
    }

    #[test]
    fn numbers_are_held_against_limits_exactly() {
        let most = json!({"type": "integer", "minimum": 3, "maximum": u64::MAX});
        for right in [json!(3), json!(3.0), json!(u64::MAX), json!(1e19)] {
            assert_eq!(says(&most, right), "");
        }
        assert_eq!(says(&most, json!(2)), " minimum");
        assert_eq!(says(&most, json!(-9)), " minimum");
        assert_eq!(says(&most, json!(-0.5)), " type,  minimum");
        assert_eq!(says(&most, json!(3.5)), " type");
        // two to the 64 is one more than there may be, and looks the same as a float
        assert_eq!(says(&most, json!(18_446_744_073_709_551_616.0)), " maximum");
        assert_eq!(says(&json!({"maximum": 3}), json!(3.25)), " maximum");
        assert_eq!(says(&json!({"enum": [8, 16]}), json!(8.0)), "");
        assert_eq!(says(&json!({"enum": [8, 16]}), json!(9)), " enum");
    }

    #[test]
    fn exactly_one_of_several_is_one() {
        let either = json!([{"type": "integer"}, {"type": "number"}]);
        assert_eq!(says(&json!({"oneOf": either}), json!(1.5)), "");
        assert_eq!(says(&json!({"oneOf": either}), json!(1)), " ambiguous");
        assert_eq!(says(&json!({"anyOf": either}), json!(1)), "");
        assert_eq!(says(&json!({"anyOf": either}), json!("1")), " choice");
    }

    #[test]
    fn pointers_name_the_place() {
        let schema = json!({"properties": {"a/b": {"items": {"$ref": "#/$defs/few"}}}, "required": ["c"],
            "additionalProperties": {"type": "null"}, "$defs": {"few": {"maxItems": 1, "minItems": 1}}});
        let value = json!({"a/b": [[1], [], [1, 2]], "~": 1});
        assert_eq!(says(&schema, value), "/a~1b/1 minItems, /a~1b/2 maxItems,  missing, /~0 type");
        assert_eq!(says(&json!({"additionalProperties": false}), json!({"x": 1})), " unexpected");
    }
}
