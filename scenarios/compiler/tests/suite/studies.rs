//! Every scenario file of the project loads, checks and compiles.

use scenarios::{RunPlan, STUDIES, Study, load};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
}

fn load_file(path: &Path) -> RunPlan {
    let text = fs::read_to_string(path).expect("readable");
    let name = path.display().to_string();
    // Seconds for the release, minutes for a test: a part of it says the same.
    let smaller = |topology: &str, size: Value, half: u32| {
        let hot = ["ep/0000".to_owned(), format!("ep/{half:04}")];
        vec![(format!("/topology/{topology}"), size), ("/traffic/0/to/hotspot/hot".to_owned(), json!(hot))]
    };
    let changes = match path.file_stem().and_then(|name| name.to_str()) {
        Some("fattree-65536") => smaller("fat_tree/endpoints", json!(2_048), 1_024),
        Some("torus-4096") => smaller("torus/size", json!([8, 8, 16]), 512),
        Some("dragonfly-8192") => smaller("dragonfly/groups", json!(16), 1_024),
        _ => Vec::new(),
    };
    load(&text, &name, &changes).unwrap_or_else(|errors| panic!("{}", errors.render()))
}

#[test]
fn studies_compile_without_a_word() {
    let folders = [".", "perf", "scale"].map(folder);
    for path in folders.iter().flat_map(|folder| files(folder)) {
        let plan = load_file(&path);
        assert!(!plan.description.is_empty(), "{}: no description", path.display());
        let allowed =
            ["voq-shared-threshold", "voq-headroom", "link-distance", "st-translator", "message-retry-storm"];
        if !allowed.contains(&plan.name.as_str()) {
            assert!(plan.warnings.items.is_empty(), "{}", plan.warnings.render());
        }
        for variant in &plan.variants {
            let wrong = scenarios::check_next_hops(&variant.config);
            assert!(wrong.is_empty(), "{}: {wrong:?}", path.display());
        }
    }
}

/// Every file is listed, once, with a title of its own that fits a line.
#[test]
fn studies_are_listed() {
    let mut found: Vec<String> = STUDIES.iter().map(|study| study.file.to_owned()).collect();
    found.sort();
    let names = files(&folder(".")).into_iter().map(|path| path.file_name().expect("a name").to_owned());
    let names: Vec<String> = names.map(|name| name.into_string().expect("ASCII")).collect();
    assert_eq!(found, names);
    let titles: BTreeSet<String> = STUDIES.iter().map(Study::title).collect();
    assert_eq!(titles.len(), STUDIES.len());
    assert!(titles.iter().all(|title| title.len() <= 80));
}
