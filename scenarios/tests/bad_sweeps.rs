//! Every kind of mistake in a sweep file has a file in `scenarios/bad/sweeps` and a golden message beside it.
//! `BLESS=1` rewrites them.

use scenarios::diagnostic::CODES;
use scenarios::sweep::{load, replication_seed};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Some columns of results.
const METRICS: [&str; 5] =
    ["accepted_load", "goodput_gbps", "latency_mean_ns", "latency_p99_ns", "part_hol_blocking_ns"];

/// What is said about a sweep file: when it is read, or about the first of its points that is wrong.
fn message(folder: &Path, name: &str, codes: &mut BTreeSet<&'static str>) -> Option<String> {
    let text = fs::read_to_string(folder.join(name)).expect("readable");
    let path = folder.join(name);
    let plan = match load(&text, &path.to_string_lossy(), &METRICS) {
        Ok(plan) => plan,
        Err(errors) => {
            codes.extend(errors.items.iter().map(|item| item.code));
            return Some(errors.render());
        }
    };
    let wrong = |point| plan.compile(point, replication_seed(plan.seed, 1)).err();
    plan.points.iter().find_map(wrong).map(|errors| errors.render(false))
}

#[test]
fn every_mistake_has_its_message() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bad/sweeps");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("the folder exists")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".json"))
        .collect();
    names.sort();
    assert!(names.len() >= 50, "only {} files", names.len());
    let bless = std::env::var_os("BLESS").is_some();
    let (mut wrong, mut accepted, mut codes) = (Vec::new(), Vec::new(), BTreeSet::new());
    for name in &names {
        let Some(found) = message(&folder, name, &mut codes) else {
            accepted.push(name);
            continue;
        };
        let found = found.replace(&format!("{}/", folder.display()), "");
        let golden = folder.join(name.replace(".json", ".txt"));
        if bless {
            fs::write(&golden, &found).expect("writable");
        } else if fs::read_to_string(&golden).unwrap_or_default() != found {
            wrong.push(format!("{name}:\n{found}"));
        }
    }
    assert!(accepted.is_empty(), "these are accepted: {accepted:?}");
    assert!(
        wrong.is_empty(),
        "{} messages changed (BLESS=1 accepts them):\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let silent: Vec<&str> = CODES.iter().map(|code| code.0).filter(|code| !codes.contains(code)).collect();
    assert!(silent.iter().all(|code| !code.starts_with("SW")), "codes without a file: {silent:?}");
}
