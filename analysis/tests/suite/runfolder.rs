//! Result folders appear whole or not at all.

use crate::synthetic::{WITH, run};
use analysis::VariantReport;
use analysis::figures::Caption;
use analysis::num::Num;
use analysis::runfolder::{Perf, RunFolder, VariantCost};
use std::fs;
use std::path::Path;

fn folder(resolved: &str) -> RunFolder {
    let reports = [VariantReport::new(run(WITH))];
    let caption = Caption { scenario: "hotspot".into(), note: String::new(), stamp: String::new() };
    let variants = vec![VariantCost::new(&reports[0], 0.5)];
    let (read_s, draw_s) = (Num(0.1), Num(0.0));
    let perf = Perf { wall_s: Num(0.6), read_s, draw_s, parallel: 1, memory_peak_bytes: None, variants };
    RunFolder::new("hotspot", resolved, &reports)
        .drawn(&caption, |_| caption.stamp.clone(), &reports)
        .measured(&perf)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn replaces_or_keeps_what_was_there() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("results/hotspot");
    let results = target.parent().unwrap();
    folder("one").write(&target, false).unwrap();
    assert_eq!(
        names(&target),
        [
            "figures",
            "fingerprints.txt",
            "histograms.json",
            "perf.json",
            "resolved.json",
            "series",
            "summary.json"
        ]
    );
    fs::write(target.join("stale"), "from the first run").unwrap();
    folder("two").write(&target, false).unwrap();
    assert_eq!(fs::read_to_string(target.join("resolved.json")).unwrap(), "two");
    assert!(!target.join("stale").exists());
    assert_eq!(names(results), ["hotspot"]);
    folder("three").write(&target, true).unwrap();
    folder("four").write(&target, true).unwrap();
    assert_eq!(names(results), ["hotspot", "hotspot.1", "hotspot.2"]);
    let resolved = |name: &str| fs::read_to_string(results.join(name).join("resolved.json")).unwrap();
    assert_eq!((resolved("hotspot.1").as_str(), resolved("hotspot.2").as_str()), ("two", "three"));
    assert_eq!(resolved("hotspot"), "four");
}

#[test]
fn foreign_folders_are_not_touched() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("letters");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("to-mother"), "dear").unwrap();
    assert!(folder("x").write(&target, false).is_err());
    assert_eq!(names(home.path()), ["letters"]);
    assert_eq!(names(&target), ["to-mother"]);
    // an empty folder belongs to nobody
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    folder("x").write(&empty, false).unwrap();
    assert!(empty.join("summary.json").exists());
}

#[test]
fn perf_counts_per_second() {
    let report = VariantReport::new(run(WITH));
    let cost = VariantCost::new(&report, 0.5);
    assert_eq!(cost.events_per_s, Num(246_912.0));
}
