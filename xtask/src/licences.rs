//! Licences of everything that is linked: permissive ones only, so that the whole stays MIT OR Apache-2.0.

use crate::{Checked, list, text};
use serde_json::Value;
use std::collections::BTreeMap;

const PERMISSIVE: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Checks what `cargo metadata` says, of all platforms.
pub(crate) fn check(metadata: &Value) -> Checked {
    let mut found = Vec::new();
    let mut table: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        match package["license"].as_str() {
            None => found.push(format!("{name}: no licence is given")),
            Some(licence) => {
                if !permissive(licence) {
                    found
                        .push(format!("{name}: \"{licence}\" offers no choice of permissive licences alone"));
                }
                table.entry(licence.replace('/', " OR ")).or_default().push(name);
            }
        }
    }
    let mut summary = String::new();
    for (licence, names) in &table {
        let names = if names.len() > 6 { String::new() } else { format!("  {}", names.join(", ")) };
        summary += &format!("{:4}  {licence}{names}\n", table[licence].len());
    }
    summary += "licences: all permissive";
    Ok((found, summary))
}

/// Whether a licence expression can be met with permissive licences alone. What cannot be read is not.
fn permissive(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    either(&words, &mut at) == Some(true) && at == words.len()
}

fn either(words: &[&str], at: &mut usize) -> Option<bool> {
    let mut fine = both(words, at)?;
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        fine |= both(words, at)?;
    }
    Some(fine)
}

fn both(words: &[&str], at: &mut usize) -> Option<bool> {
    let mut fine = one(words, at)?;
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        fine &= one(words, at)?;
    }
    Some(fine)
}

fn one(words: &[&str], at: &mut usize) -> Option<bool> {
    let word = *words.get(*at)?;
    *at += 1;
    if word == "(" {
        let fine = either(words, at)?;
        (words.get(*at) == Some(&")")).then(|| *at += 1)?;
        return Some(fine);
    }
    let mut name = word.to_owned();
    if words.get(*at) == Some(&"WITH") {
        name = format!("{word} WITH {}", words.get(*at + 1)?);
        *at += 2;
    }
    Some(PERMISSIVE.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions() {
        for fine in [
            "MIT",
            "MIT/Apache-2.0",
            "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0-only",
            "GPL-2.0-only OR (MIT AND (Zlib OR MPL-2.0))",
        ] {
            assert!(permissive(fine), "{fine}");
        }
        for wrong in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR Apache-2.0) AND MPL-2.0",
            "Apache-2.0 WITH Some-exception",
            "MIT OR",
            "MIT MIT",
            "(MIT",
            "SSPL-1.0 OR AGPL-3.0-only",
        ] {
            assert!(!permissive(wrong), "{wrong}");
        }
    }

    #[test]
    fn packages() {
        let package = |licence| check(&json!({"packages": [{"name": "x", "license": licence}]})).unwrap().0;
        assert_eq!(package(Some("MIT/Apache-2.0")), [""; 0]);
        assert_eq!(package(Some("AGPL-3.0-only")).len(), 1);
        assert_eq!(package(None), ["x: no licence is given"]);
    }
}
