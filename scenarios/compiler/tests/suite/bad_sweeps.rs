//! Every kind of mistake in a sweep file has a file in `scenarios/compiler/tests/bad-sweeps` and a golden
//! message beside it. `BLESS=1` rewrites them.

use crate::golden::Messages;
use scenarios::diagnostic::CODES;
use scenarios::sweep::{PointErrors, SweepPlan, load, replication_seed};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Columns that stop rules and figures may name here.
const METRICS: [&str; 3] = ["accepted_load", "latency_mean_ns", "latency_p99_ns"];

/// Messages about a sweep file and the codes in them: about the file, or else about its first wrong point, or
/// else what is no mistake.
fn messages(path: &str) -> (String, BTreeSet<&'static str>) {
    let text = fs::read_to_string(path).expect("readable");
    let found = match load(&text, path, &METRICS) {
        Err(errors) => (errors.render(), errors.items.iter().map(|item| item.code).collect()),
        Ok(plan) => {
            let compile = |point| plan.compile(point, replication_seed(plan.seed, 1)).err();
            match plan.points.iter().find_map(compile).or_else(|| of_all_points(&plan).err()) {
                Some(errors) => {
                    (errors.render(false), errors.identity().into_iter().map(|(code, _)| code).collect())
                }
                None => {
                    assert!(!plan.remarks.items.is_empty(), "{path}: a point that is wrong");
                    (plan.remarks.render(), plan.remarks.items.iter().map(|item| item.code).collect())
                }
            }
        }
    };
    // where the sources are is not part of a message
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-sweeps").join("");
    (found.0.replace(&folder.display().to_string(), ""), found.1)
}

/// What is wrong with all points together.
fn of_all_points(plan: &SweepPlan) -> Result<(), Box<PointErrors>> {
    let check = |point| plan.check(point, replication_seed(plan.seed, 1));
    let checked = (0..).zip(plan.points.iter().map(check));
    let told =
        checked.map(|(index, checked)| Ok((index, checked?))).collect::<Result<_, Box<PointErrors>>>()?;
    plan.together(&told).map(|_| ())
}

/// A value without effect is a mistake if that is so wherever it is set: thresholds where backpressure is
/// off, but not where another axis, or another case, switches it on somewhere.
#[test]
fn a_value_counts_if_it_has_an_effect_at_some_point() {
    let thresholds =
        r#"{ "pointer": "/voq/thresholds", "values": [{ "on": 3, "off": 1 }, { "on": 6, "off": 2 }] }"#;
    let switched = |values: &str| format!(r#"{{ "pointer": "/voq/enabled", "values": [{values}] }}"#);
    let cases = r#"{ "name": "how", "cases": [
        { "name": "off", "set": { "/switch/input_buffers": 8 } },
        { "name": "on", "set": { "/voq/enabled": true, "/voq/thresholds": { "on": 4, "off": 2 } } }] }"#;
    let lost = r#"{ "name": "how", "cases": [
        { "name": "on", "set": { "/voq/enabled": true } },
        { "name": "off", "set": { "/voq/thresholds": { "on": 4, "off": 2 } } }] }"#;
    let all = [
        (thresholds.to_owned(), false),
        // Who says that it is off knows it.
        (format!("{thresholds}, {}", switched("false")), true),
        (format!("{thresholds}, {}", switched("false, true")), true),
        (cases.to_owned(), true),
        (lost.to_owned(), false),
    ];
    for (axes, good) in all {
        let text = format!(
            r#"{{ "name": "s", "axes": [{axes}], "scenario": {{ "name": "s", "run": {{ "until": "60 us" }},
                "topology": {{ "single_switch": {{ "ports": 4 }} }},
                "traffic": [{{ "name": "f", "from": "ep/0", "to": "ep/1",
                    "arrivals": {{ "poisson": {{ "load": 0.6 }} }} }}] }} }}"#
        );
        let plan = load(&text, "s.json", &METRICS).unwrap_or_else(|wrong| panic!("{}", wrong.render()));
        let found = of_all_points(&plan);
        assert_eq!(found.is_ok(), good, "{axes}");
        if let Err(errors) = found {
            assert!(errors.identity().iter().all(|(code, _)| *code == "SC051"), "{}", errors.render(false));
        }
    }
}

#[test]
fn every_mistake_has_its_message() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad-sweeps");
    let mut golden = Messages::of(&folder);
    let mut names = golden.files();
    names.retain(|name| !name.ends_with(".scenario.json"));
    assert!(names.len() >= 40, "only {} files", names.len());
    let mut codes = BTreeSet::new();
    for name in &names {
        let (found, known) = messages(&folder.join(name).display().to_string());
        codes.extend(known);
        golden.compare(name, &found);
    }
    golden.assert_unchanged();
    let of_sweeps = CODES.iter().map(|code| code.0).filter(|code| code.starts_with("SW"));
    let silent: Vec<&str> = of_sweeps.filter(|code| !codes.contains(code)).collect();
    assert!(silent.is_empty(), "codes without a file: {silent:?}");
}
