//! Numbers in documents come from results: `docs/templates/` holds texts with places for numbers, and the documents
//! are made from them.
//!
//! A place is `{{STUDY VARIANT FLOW KEY FORMAT}}`. STUDY names `results/reference/STUDY.json`, VARIANT and FLOW
//! entries of it (`@` for FLOW: the variant itself), KEY is a path of field names with `/` in between (positions in
//! lists are numbers). FORMAT: `.N` decimals, `%N` per cent with N decimals, `n` a count in groups of three; a
//! factor may go before it: `*0.001.2` is a thousandth with two decimals. `{{file NAME}}` is the text of a file in
//! `docs/templates/`, for what several documents say.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Templates and the documents that are made from them.
const TEMPLATES: &str = "docs/templates";

/// Compares the documents with what their templates give; with `write` they are written.
pub(crate) fn check(root: &Path, write: bool) -> Result<(Vec<String>, String), String> {
    let folder = root.join(TEMPLATES);
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| format!("{TEMPLATES}: {error}"))? {
        let name = entry.map_err(|error| format!("{TEMPLATES}: {error}"))?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    let mut numbers = Numbers { root, studies: BTreeMap::new() };
    let (mut found, mut places, mut documents) = (Vec::new(), 0, 0);
    for name in names.iter().filter(|name| name.ends_with(".md")) {
        let template = read(&folder.join(name))?;
        let (text, count, faults) = numbers.fill(&template);
        places += count;
        documents += 1;
        found.extend(faults.into_iter().map(|fault| format!("{TEMPLATES}/{name}: {fault}")));
        let target = if name == "README.md" { name.clone() } else { format!("docs/{name}") };
        let path = root.join(&target);
        if write {
            fs::write(&path, &text).map_err(|error| format!("{target}: {error}"))?;
        } else if fs::read_to_string(&path).unwrap_or_default() != text {
            found.push(format!(
                "{target}: is not what {TEMPLATES}/{name} gives; `xtask figures --write` makes it anew"
            ));
        }
    }
    Ok((found, format!("{documents} documents, {places} numbers from results/reference")))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

struct Numbers<'a> {
    root: &'a Path,
    studies: BTreeMap<String, Value>,
}

impl Numbers<'_> {
    /// The text with its places filled, how many there were, and what was wrong.
    fn fill(&mut self, template: &str) -> (String, usize, Vec<String>) {
        let (mut text, mut count, mut faults) = (String::new(), 0, Vec::new());
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("{{") {
            text.push_str(before);
            let Some((place, after)) = after.split_once("}}") else {
                faults.push("a place without an end".into());
                rest = after;
                break;
            };
            match self.number(place) {
                Ok(number) => text.push_str(&number),
                Err(fault) => faults.push(format!("{{{{{place}}}}}: {fault}")),
            }
            count += 1;
            rest = after;
        }
        text.push_str(rest);
        (text, count, faults)
    }

    fn number(&mut self, place: &str) -> Result<String, String> {
        let words: Vec<&str> = place.split_whitespace().collect();
        if let ["file", name] = words[..] {
            return read(&self.root.join(TEMPLATES).join(name)).map(|text| text.trim_end().to_string());
        }
        let [study, variant, flow, key, format] = words[..] else {
            return Err("expected STUDY VARIANT FLOW KEY FORMAT".into());
        };
        if !self.studies.contains_key(study) {
            let text = read(&self.root.join("results/reference").join(format!("{study}.json")))?;
            let value = serde_json::from_str(&text).map_err(|error| format!("{study}.json: {error}"))?;
            self.studies.insert(study.into(), value);
        }
        let mut value = named(&self.studies[study]["variants"], variant).ok_or("no such variant")?;
        if flow != "@" {
            value = if flow == "overall" {
                &value["overall"]
            } else {
                named(&value["flows"], flow).ok_or("no such flow")?
            };
        }
        for step in key.split('/') {
            value = match step.parse::<usize>() {
                Ok(position) if value.is_array() => &value[position],
                _ => &value[step],
            };
        }
        let value = value.as_f64().ok_or_else(|| format!("no number there, but {value}"))?;
        shown(value, format)
    }
}

fn named<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    list.as_array()?.iter().find(|entry| entry["name"] == name)
}

fn shown(value: f64, format: &str) -> Result<String, String> {
    let wrong = || format!("{format} is no format");
    let (factor, format) = match format.strip_prefix('*') {
        // The factor ends at its last digit before the format: `*0.001.2`, `*1000n`.
        Some(rest) => {
            let end = rest.rfind(['.', '%', 'n']).ok_or_else(wrong)?;
            (rest[..end].parse::<f64>().map_err(|_| wrong())?, &rest[end..])
        }
        None => (1.0, format),
    };
    let value = value * factor;
    match format.split_at(1) {
        (".", digits) => digits.parse().map(|digits: usize| format!("{value:.digits$}")).map_err(|_| wrong()),
        ("%", digits) => {
            digits.parse().map(|digits: usize| format!("{:.digits$} %", 100.0 * value)).map_err(|_| wrong())
        }
        ("n", "") => Ok(grouped(value.round() as u64)),
        _ => Err(wrong()),
    }
}

fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_their_format_says() {
        let show = |value, format| shown(value, format).unwrap();
        assert_eq!(show(0.333_348, ".3"), "0.333");
        assert_eq!(show(0.666_7, "%1"), "66.7 %");
        assert_eq!(show(23_544.0, "n"), "23 544");
        assert_eq!(show(3_745.6, "*0.001.2"), "3.75");
        assert!(shown(1.0, "x").is_err() && shown(1.0, ".x").is_err() && shown(1.0, "*2").is_err());
    }

    #[test]
    fn a_place_that_names_nothing_is_a_finding() {
        let mut numbers = Numbers { root: Path::new("."), studies: BTreeMap::new() };
        let study = serde_json::json!({ "variants": [{ "name": "v", "flows": [{ "name": "f", "x": { "y": 2.5 } }] }] });
        numbers.studies.insert("s".into(), study);
        let (text, count, faults) = numbers.fill("a {{s v f x/y .1}} b {{s v f x/z .1}} c {{s w f x .1}}");
        assert_eq!((text.as_str(), count, faults.len()), ("a 2.5 b  c ", 3, 2));
    }
}
