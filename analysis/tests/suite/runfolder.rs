//! Result folders appear whole or not at all.

use crate::synthetic::{WITH, run};
use analysis::VariantReport;
use analysis::figures::Caption;
use analysis::num::Num;
use analysis::runfolder::{Perf, RunFolder, VariantCost};
use serde_json::Value;
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
    folder("two").write(&target, false).unwrap();
    assert_eq!(fs::read_to_string(target.join("resolved.json")).unwrap(), "two");
    assert_eq!(names(results), ["hotspot"]);
    folder("three").write(&target, true).unwrap();
    folder("four").write(&target, true).unwrap();
    assert_eq!(names(results), ["hotspot", "hotspot.1", "hotspot.2"]);
    let resolved = |name: &str| fs::read_to_string(results.join(name).join("resolved.json")).unwrap();
    assert_eq!((resolved("hotspot.1").as_str(), resolved("hotspot.2").as_str()), ("two", "three"));
    assert_eq!(resolved("hotspot"), "four");
}

/// What the second run has not is gone, and what no run wrote stays, wherever it stands in the folder.
#[test]
fn files_of_others_stay() {
    let home = tempfile::tempdir().unwrap();
    let target = home.path().join("hotspot");
    folder("one").from("0.1.0", &Value::Null).write(&target, false).unwrap();
    let reports = [VariantReport::new(run(WITH))];
    let variant = &reports[0].run.name;
    let at = |name: &str| target.join(name);
    // a chart of a flow that is not charted any more
    fs::create_dir(at("charts")).unwrap();
    fs::create_dir(at("notes")).unwrap();
    fs::write(at(&format!("charts/{variant}.svg")), "of an earlier run").unwrap();
    let own = ["review.html", "notes/1.txt", "charts/mine.svg", "series/mine.csv", "figures/mine.png"];
    for name in own {
        fs::write(at(name), name).unwrap();
    }
    assert!(at("origin.json").exists());
    assert!(names(&at("figures")).len() > 1);
    RunFolder::new("hotspot", "two", &reports).write(&target, false).unwrap();
    for name in own {
        assert_eq!(fs::read_to_string(at(name)).unwrap(), name);
    }
    assert_eq!(names(&at("charts")), ["mine.svg"]);
    assert_eq!(names(&at("figures")), ["mine.png"]);
    assert!(!at("origin.json").exists() && !at("perf.json").exists());
    assert_eq!(fs::read_to_string(at("resolved.json")).unwrap(), "two");
    assert_eq!(names(home.path()), ["hotspot"]);
    // what stands where results have to be is not moved out of their way
    fs::create_dir(at("origin.json")).unwrap();
    let refused = folder("three").from("0.1.0", &Value::Null).write(&target, false).unwrap_err();
    assert!(refused.to_string().ends_with("origin.json is in the way of what is written"), "{refused}");
    assert_eq!(fs::read_to_string(at("resolved.json")).unwrap(), "two");
    assert_eq!(names(home.path()), ["hotspot"]);
    // with its earlier run all of it is kept
    RunFolder::new("hotspot", "four", &reports).write(&target, true).unwrap();
    assert!(!at("review.html").exists() && home.path().join("hotspot.1/review.html").exists());
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
