//! Setting values by JSON pointer, with names for the elements of lists.

use crate::diagnostic::Diagnostic;
use crate::source::{escape, unescape};
use crate::topology::shortened;
use serde_json::{Map, Value};

/// Why a pointer leads nowhere.
pub(crate) struct Wrong {
    message: String,
    help: String,
    found: String,
    names: Vec<String>,
}

impl Wrong {
    /// As a finding at `at`.
    pub fn diagnostic(self, at: &str, prefix: &str) -> Diagnostic {
        Diagnostic::error("SC060", at, format!("{prefix}{}", self.message))
            .help(self.help)
            .did_you_mean(&self.found, self.names.iter().map(String::as_str))
    }
}

/// Most parts of a pointer: no scenario is nearly as deep, and values that are would exhaust the stack.
const DEPTH_MAX: usize = 32;

/// Sets the value at `pointer`; gives the pointer back with positions instead of names. Members of objects
/// that do not exist yet are made: whether such a field may exist is a question of structure.
pub(crate) fn set(root: &mut Value, pointer: &str, new: Value) -> Result<String, Wrong> {
    if !pointer.starts_with('/') {
        return Err(Wrong {
            message: format!("\"{pointer}\" is not a JSON pointer"),
            help: "a pointer starts with \"/\", for example \"/run/until\"".into(),
            found: format!("/{pointer}"),
            names: Vec::new(),
        });
    }
    if pointer.matches('/').count() > DEPTH_MAX {
        return Err(Wrong {
            message: "the pointer has too many parts".into(),
            help: format!("allowed: at most {DEPTH_MAX}"),
            found: String::new(),
            names: Vec::new(),
        });
    }
    let mut at = root;
    let mut path = String::new();
    for part in pointer.split('/').skip(1).map(unescape) {
        at = match at {
            Value::Object(map) => {
                path = format!("{path}/{}", escape(&part));
                map.entry(part).or_insert_with(|| Value::Object(Map::new()))
            }
            Value::Array(list) => {
                let name = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
                let named = list.iter().position(|item| name(item).as_deref() == Some(&part));
                let index = named.or_else(|| part.parse().ok().filter(|i| *i < list.len()));
                let Some(index) = index else {
                    let names: Vec<String> = list.iter().filter_map(name).collect();
                    let known = shortened(names.iter().map(String::as_str));
                    return Err(Wrong {
                        message: format!("the list \"{path}\" has no element \"{part}\""),
                        help: format!("elements: 0 to {} (names: {known})", list.len().saturating_sub(1)),
                        found: part,
                        names,
                    });
                };
                path = format!("{path}/{index}");
                &mut list[index]
            }
            other => {
                return Err(Wrong {
                    message: format!(
                        "\"{path}\" is {}, which has no field \"{part}\"",
                        crate::structure::describe(other)
                    ),
                    help: "set the value there as a whole".into(),
                    found: part,
                    names: Vec::new(),
                });
            }
        };
    }
    *at = new;
    Ok(path)
}

/// Whether `value` says all that `wanted` says: an object may say more.
fn says(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(value), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| value.get(key).is_some_and(|value| says(value, wanted)))
        }
        _ => value == wanted,
    }
}

/// Whether a value set at `later` takes away something of the value that was set at `earlier` before it. Both
/// are (pointer with positions instead of names, value).
pub(crate) fn overwrites(later: (&str, &Value), earlier: (&str, &Value)) -> bool {
    if let Some(rest) = beneath(later.0, earlier.0) {
        return earlier.1.pointer(rest).is_some_and(|before| !says(later.1, before));
    }
    beneath(earlier.0, later.0)
        .is_some_and(|rest| !later.1.pointer(rest).is_some_and(|now| says(now, earlier.1)))
}

/// What leads from `outer` to `inner`, if `inner` is there or within.
pub(crate) fn beneath<'a>(inner: &'a str, outer: &str) -> Option<&'a str> {
    inner.strip_prefix(outer).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A later value takes something away unless it says the same, or something else beside it.
    #[test]
    fn what_overwrites_what() {
        for (earlier, later, law) in [
            (("/a", json!(1)), ("/a", json!(2)), true),
            (("/a", json!(1)), ("/a", json!(1)), false),
            (("/a", json!(1)), ("/ab", json!(2)), false),
            (("/a/0", json!(1)), ("/a/1", json!(2)), false),
            // the later one is within
            (("/a", json!({"b": 1, "c": 2})), ("/a/b", json!(3)), true),
            (("/a", json!({"b": 1})), ("/a/b", json!(1)), false),
            (("/a", json!({"b": 1})), ("/a/c", json!(3)), false),
            (("/a", json!({"b": {"c": 1}})), ("/a/b", json!({"d": 1})), true),
            // the later one is around
            (("/a/b", json!(1)), ("/a", json!({"b": 2})), true),
            (("/a/b", json!(1)), ("/a", json!({"c": 1})), true),
            (("/a/b", json!(1)), ("/a", json!({"b": 1, "c": 1})), false),
            (("/a/0/b", json!(1)), ("/a", json!([{"b": 2}])), true),
        ] {
            let found = overwrites((later.0, &later.1), (earlier.0, &earlier.1));
            assert_eq!(found, law, "{later:?} after {earlier:?}");
        }
    }
}
