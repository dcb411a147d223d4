//! Every option of the schema has an effect, or is an error: `options.json` has a scenario for each of
//! them, and what to set in it. An option that the table does not know fails the test, so a new one comes
//! with its effect.
//!
//! An entry is `[base, first, set]`: the base with the values of `first` is run, and again with those of
//! `set`; what comes out differs. Or `[base, first, set, code]`: with `set` it is an error of this code.
//! `not_yet` lists what nobody has shown yet; it only gets shorter.

use models::{RunOptions, Unobserved};
use scenarios::{RunPlan, load, schema};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Most options without an effect shown. This number only falls.
const NOT_YET: usize = 57;

/// Every option of the schema: `definition/field`.
fn options() -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(&schema()).expect("JSON");
    let mut found = BTreeSet::new();
    let mut add = |name: &str, definition: &Value| {
        let alternatives =
            ["oneOf", "anyOf"].into_iter().filter_map(|key| definition[key].as_array()).flatten();
        for part in alternatives.chain([definition]) {
            for field in part["properties"].as_object().into_iter().flat_map(|fields| fields.keys()) {
                found.insert(format!("{name}/{field}"));
            }
        }
    };
    add("Spec", &schema);
    for (name, definition) in schema["$defs"].as_object().expect("it has definitions") {
        add(name, definition);
    }
    found
}

fn settings(value: &Value) -> Vec<(String, Value)> {
    let pairs = value.as_object().expect("pointers and values");
    pairs.iter().map(|(pointer, value)| (pointer.clone(), value.clone())).collect()
}

/// What a reader of results can see, as text; or the code of the first error.
fn seen(base: &Value, sets: &[&Value]) -> Result<String, String> {
    let sets: Vec<_> = sets.iter().flat_map(|set| settings(set)).collect();
    let plan = load(&base.to_string(), "t.json", &sets).map_err(|errors| errors.items[0].code.to_owned())?;
    let RunPlan { name, title, description, variants, .. } = plan;
    let mut text = format!("{name} {title} {description}");
    for variant in variants {
        let mut simulation = Unobserved::new(Arc::clone(&variant.config), RunOptions::default());
        simulation.run(variant.until, u64::MAX);
        let outcome = simulation.finish();
        let flows: Vec<_> = variant.config.flows.iter().map(|flow| &flow.name).collect();
        text += &format!(
            "{} {:?} {:?} {:?} {:?} {flows:?} {:?} {outcome:?}",
            variant.name, variant.until, variant.warmup, variant.victims, variant.hot, variant.labels
        );
    }
    Ok(text)
}

#[test]
fn every_option_has_an_effect() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/options.json");
    let table: Value = serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON");
    let shown = table["shown"].as_object().expect("a table");
    let not_yet: BTreeSet<String> =
        table["not_yet"].as_array().expect("a list").iter().map(|v| v.as_str().unwrap().to_owned()).collect();
    let known: BTreeSet<String> = shown.keys().cloned().chain(not_yet.iter().cloned()).collect();
    assert_eq!(known.len(), shown.len() + not_yet.len(), "an option is shown, or it is not");
    let options = options();
    let new: Vec<_> = options.difference(&known).collect();
    assert!(new.is_empty(), "options.json does not know {new:?}");
    let gone: Vec<_> = known.difference(&options).collect();
    assert!(gone.is_empty(), "the schema does not know {gone:?}");
    assert!(not_yet.len() <= NOT_YET, "{} options are without a shown effect", not_yet.len());

    let mut before: BTreeMap<String, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (option, entry) in shown {
        let base = &table["bases"][entry[0].as_str().expect("the name of a base")];
        let key = format!("{}{}", entry[0], entry[1]);
        if !before.contains_key(&key) {
            match seen(base, &[&entry[1]]) {
                Ok(text) => drop(before.insert(key.clone(), text)),
                Err(code) => {
                    wrong.push(format!("{option}: {code} before it is set"));
                    continue;
                }
            }
        }
        match (seen(base, &[&entry[1], &entry[2]]), entry[3].as_str()) {
            (Ok(text), None) if text != before[&key] => {}
            (Err(found), Some(code)) if found == code => {}
            (Ok(_), None) => wrong.push(format!("{option}: no effect")),
            (Ok(_), Some(code)) => wrong.push(format!("{option}: no error, and {code} was expected")),
            (Err(found), _) => wrong.push(format!("{option}: error {found}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), shown.len(), wrong.join("\n"));
}
