//! A JSON object, in order, no key twice.

use super::CodecError;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

struct Object(Vec<(String, Value)>);

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object in braces")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        while let Some((key, value)) = map.next_entry()? {
            if entries.iter().any(|(earlier, _)| *earlier == key) {
                return Err(A::Error::custom(format_args!("key {key:?} is given twice")));
            }
            entries.push((key, value));
        }
        Ok(Object(entries))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

/// The entries of the one object in `text`.
pub(super) fn object(text: &str) -> Result<Vec<(String, Value)>, CodecError> {
    let front = match text.trim_start().chars().next() {
        Some('{') => None,
        Some(other) => Some(format!("{other:?} found in front")),
        None => Some("nothing found".into()),
    };
    if let Some(front) = front {
        let problem = format!("{front}; allowed: an object in braces, as decode prints it");
        return Err(CodecError::new("json", problem));
    }
    match serde_json::from_str::<Object>(text) {
        Ok(Object(entries)) => Ok(entries),
        Err(error) => Err(CodecError::new("json", error.to_string())),
    }
}

/// A value as a message shows it: JSON, not too long.
pub(super) fn shown(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
