//! Every option of the schema has an effect, or is an error: `options.json` has a scenario for each of
//! them, and what to set in it. An option that the table does not know fails the test, so a new one comes
//! with its effect.
//!
//! An entry is `[base, first, set]` or `[base, first, set, kind]`: the base with the values of `first` is
//! run, and again with those of `set`. Without a kind the results of the run differ. The kinds are
//!
//! - `wire`: what happens is the same, but other octets cross the links;
//! - `chart`: what happens is the same, and the message sequence chart is there;
//! - `words`: what happens is the same, but it is called, declared, cut off or warned of differently;
//! - a code: it is an error of this code.

use models::probe::{Probe, RegisterEvent, Sample, Signal};
use models::run::{ListKind, PipelineMode};
use models::stats::SessionTotals;
use models::{RunOptions, Watched};
use scenarios::{RunPlan, load, schema};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

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

pub(crate) fn settings(value: &Value) -> Vec<(String, Value)> {
    let pairs = value.as_object().expect("pointers and values");
    pairs.iter().map(|(pointer, value)| (pointer.clone(), value.clone())).collect()
}

/// What an observer is told beside the totals of a run.
#[derive(Default)]
struct Eyes {
    chart: String,
    registers: String,
    samples: u64,
}

impl Probe for Eyes {
    fn signal(&mut self, signal: &Signal) {
        self.chart += &format!("{signal:?}\n");
    }

    fn register(&mut self, event: &RegisterEvent) {
        self.registers += &format!("{event:?}\n");
    }

    fn sample(&mut self, _: &Sample) {
        self.samples += 1;
    }
}

/// What a reader of results can see, as text.
#[derive(Default, PartialEq)]
struct Seen {
    /// Names, declarations, what is cut off, warnings.
    words: String,
    /// Totals and fingerprints.
    result: String,
    /// The octets that crossed links.
    wire: String,
    chart: String,
}

impl Seen {
    /// Whether the change to `after` is of this kind.
    fn changes(&self, after: &Seen, kind: Option<&str>) -> bool {
        let same = |a: &str, b: &str| a == b;
        let result = same(&self.result, &after.result);
        let wire = same(&self.wire, &after.wire);
        let words = same(&self.words, &after.words);
        match kind {
            None => !result,
            Some("wire") => result && !wire,
            Some("chart") => result && wire && words && self.chart.is_empty() && !after.chart.is_empty(),
            Some("words") => result && wire && !words,
            Some(kind) => panic!("\"{kind}\" is no kind of an effect"),
        }
    }

    /// What changes up to `after`.
    fn difference(&self, after: &Seen) -> String {
        let parts = [
            ("result", self.result == after.result),
            ("wire", self.wire == after.wire),
            ("chart", self.chart == after.chart),
            ("words", self.words == after.words),
        ];
        parts.into_iter().filter(|(_, same)| !same).map(|(name, _)| format!(" {name}")).collect()
    }
}

/// What comes out of the base with these values; or the code of the first error.
fn seen(base: &Value, sets: &[&Value]) -> Result<Seen, String> {
    seen_with(base, sets, RunOptions::default())
}

fn seen_with(base: &Value, sets: &[&Value], options: RunOptions) -> Result<Seen, String> {
    let sets: Vec<_> = sets.iter().flat_map(|set| settings(set)).collect();
    let plan = load(&base.to_string(), "t.json", &sets).map_err(|errors| errors.items[0].code.to_owned())?;
    let RunPlan { name, title, description, variants, warnings, .. } = plan;
    let warned: Vec<_> = warnings.items.iter().map(|item| (item.code, &item.pointer)).collect();
    let mut seen = Seen { words: format!("{name} {title} {description} {warned:?}"), ..Seen::default() };
    for variant in variants {
        let options = RunOptions { wire_check: true, ..options };
        let mut eyes = Eyes::default();
        let mut simulation = Watched::new(Arc::clone(&variant.config), options, &mut eyes);
        simulation.run(variant.until, u64::MAX);
        let mut outcome = simulation.finish();
        // A step that finds nothing to do is no effect of the step.
        let missed: u64 = outcome.totals.of::<SessionTotals>().map(|totals| totals.stats.missed_steps).sum();
        assert_eq!(missed, 0, "a script is obeyed: {sets:?}");
        seen.wire += &format!("{:?} ", outcome.wire_checked.octets);
        outcome.wire_checked = Default::default();
        seen.result += &format!("{outcome:?} {} {} {:?}", eyes.registers, eyes.samples, variant.until);
        seen.chart += &eyes.chart;
        let flows: Vec<_> = variant.config.flows.iter().map(|flow| &flow.name).collect();
        seen.words += &format!(
            "{} {:?} {:?} {:?} {:?} {flows:?} {:?} {:?}",
            variant.name,
            variant.compare_with,
            variant.warmup,
            variant.victims,
            variant.hot,
            variant.labels,
            variant.require
        );
    }
    Ok(seen)
}

pub(crate) fn table() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/options.json");
    serde_json::from_str(&fs::read_to_string(path).expect("readable")).expect("JSON")
}

/// How the kernel keeps its events decides nothing: the same octets cross the same links.
#[test]
fn octets_on_links_do_not_depend_on_the_kernel() {
    let table = table();
    let mut told = BTreeSet::new();
    for (name, base) in table["bases"].as_object().expect("a table") {
        let all = [(ListKind::Ring, PipelineMode::Folded), (ListKind::Heap, PipelineMode::Unfolded)];
        let [folded, unfolded] = all.map(|(list, pipeline)| {
            let options = RunOptions { list, pipeline, ..RunOptions::default() };
            seen_with(base, &[], options).unwrap_or_else(|code| panic!("{name}: {code}")).wire
        });
        assert_eq!(folded, unfolded, "{name}");
        told.insert(folded);
    }
    assert!(told.len() > 20, "only {} bases differ in what they send", told.len());
}

#[test]
fn every_option_has_an_effect() {
    let table = table();
    let shown = table["shown"].as_object().expect("a table");
    let known: BTreeSet<String> = shown.keys().cloned().collect();
    let options = options();
    let new: Vec<_> = options.difference(&known).collect();
    assert!(new.is_empty(), "options.json shows no effect of {new:?}");
    let gone: Vec<_> = known.difference(&options).collect();
    assert!(gone.is_empty(), "the schema does not know {gone:?}");

    let mut before: BTreeMap<String, Seen> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (option, entry) in shown {
        let base = &table["bases"][entry[0].as_str().expect("the name of a base")];
        let field = option.rsplit('/').next().expect("definition/field");
        let keys = format!("{base} {} {}", entry[1], entry[2]).replace('/', "\"");
        assert!(keys.contains(&format!("\"{field}\"")), "{option}: the entry does not speak of it");
        let key = format!("{}{}", entry[0], entry[1]);
        if !before.contains_key(&key) {
            match seen(base, &[&entry[1]]) {
                Ok(seen) => drop(before.insert(key.clone(), seen)),
                Err(code) => {
                    wrong.push(format!("{option}: {code} before it is set"));
                    continue;
                }
            }
        }
        let kind = entry[3].as_str();
        let code = kind.filter(|kind| kind.starts_with("SC"));
        match (seen(base, &[&entry[1], &entry[2]]), code) {
            (Ok(after), None) if before[&key].changes(&after, kind) => {}
            (Ok(after), None) => wrong.push(format!(
                "{option}: not {}, but:{}",
                kind.unwrap_or("result"),
                before[&key].difference(&after)
            )),
            (Err(found), Some(code)) if found == code => {}
            (Ok(_), Some(code)) => wrong.push(format!("{option}: no error, and {code} was expected")),
            (Err(found), _) => wrong.push(format!("{option}: error {found}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), shown.len(), wrong.join("\n"));
}
