//! Every kind of mistake in a sweep file has a file in `scenarios/bad-sweeps` and a golden message beside it.
//! `BLESS=1` rewrites them.

use scenarios::diagnostic::CODES;
use scenarios::sweep::{load, replication_seed};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Columns that stop rules and figures may name here.
const METRICS: [&str; 3] = ["accepted_load", "latency_mean_ns", "latency_p99_ns"];

/// Messages about a sweep file and the codes in them: about the file, or else about its first wrong point.
fn messages(path: &str) -> (String, BTreeSet<&'static str>) {
    let text = fs::read_to_string(path).expect("readable");
    let found = match load(&text, path, &METRICS) {
        Err(errors) => (errors.render(), errors.items.iter().map(|item| item.code).collect()),
        Ok(plan) => {
            let compile = |point| plan.compile(point, replication_seed(plan.seed, 1)).err();
            let errors = plan.points.iter().find_map(compile).expect("a point that is wrong");
            (errors.render(false), errors.identity().into_iter().map(|(code, _)| code).collect())
        }
    };
    // where the sources are is not part of a message
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bad-sweeps").join("");
    (found.0.replace(&folder.display().to_string(), ""), found.1)
}

#[test]
fn every_mistake_has_its_message() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bad-sweeps");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the folder exists")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".json") && !name.ends_with(".scenario.json"))
        .collect();
    names.sort();
    assert!(names.len() >= 40, "only {} files", names.len());
    let bless = std::env::var_os("BLESS").is_some();
    let (mut wrong, mut codes) = (Vec::new(), BTreeSet::new());
    for name in &names {
        let (found, known) = messages(&folder.join(name).display().to_string());
        codes.extend(known);
        let golden = folder.join(name.replace(".json", ".txt"));
        if bless {
            fs::write(&golden, &found).expect("writable");
        } else if fs::read_to_string(&golden).unwrap_or_default() != found {
            wrong.push(format!("{name}:\n{found}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} messages changed (BLESS=1 accepts them):\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let of_sweeps = CODES.iter().map(|code| code.0).filter(|code| code.starts_with("SW"));
    let silent: Vec<&str> = of_sweeps.filter(|code| !codes.contains(code)).collect();
    assert!(silent.is_empty(), "codes without a file: {silent:?}");
}
