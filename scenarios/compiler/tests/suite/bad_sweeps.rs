//! Every kind of mistake in a sweep file has a file in `scenarios/compiler/tests/bad-sweeps` and a golden
//! message beside it. `BLESS=1` rewrites them.

use crate::golden::Messages;
use scenarios::diagnostic::CODES;
use scenarios::sweep::{load, replication_seed};
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
            match plan.points.iter().find_map(compile) {
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
