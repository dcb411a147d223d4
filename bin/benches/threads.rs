//! Two threads over one, through the command: `cargo bench -p riosim --bench threads` runs each variant of
//! shipped scenarios on one thread and on two, in turns, and prints medians; words after `--` take only
//! scenarios with that in their names.
//!
//! Two threads should nowhere be slower than 0.97 of one, as the command gives them up where they would be
//! (docs/performance.md, "More cores"). Variants of less than a tenth of a second are left out, since their
//! trial is a good part of them. It takes minutes, and figures are worth as much as the machine is quiet.

mod command;

use command::{median, perf};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Runs of each, an odd number.
const RUNS: usize = 5;
/// Time on one thread from which on a variant is measured, s.
const LEAST: f64 = 0.1;

/// What one run of a variant came to.
struct Measured {
    name: String,
    simulate_s: f64,
    threads: Value,
}

/// All variants of a scenario, one after the other.
fn run(scenario: &Path, threads: u32) -> Vec<Measured> {
    let perf = perf(scenario, threads);
    let of = |variant: &Value| Measured {
        name: variant["variant"].as_str().expect("a name").to_owned(),
        simulate_s: variant["phases"]["simulate_s"].as_f64().expect("a number"),
        threads: variant["threads"].clone(),
    };
    perf["variants"].as_array().expect("a list").iter().map(of).collect()
}

/// Scenarios of the folder, but for those that take minutes.
fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut all = Vec::new();
    for folder in [root.clone(), root.join("perf")] {
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        all.extend(files.filter(|path| path.extension().is_some_and(|end| end == "json")));
    }
    let long = [
        "conduit-leak",
        "conduit-storm",
        "linx-mesh",
        "linx-reboot-jitter",
        "linx-reboot-storm",
        "st-gibibyte",
    ];
    all.retain(|path| !long.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)));
    all.sort();
    all
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    println!(
        "| scenario | variant | one thread, s | two threads, s | one over two | on |\n\
         |---|---|---|---|---|---|"
    );
    let mut worst: Option<(f64, String)> = None;
    for path in scenarios() {
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if !(words.is_empty() || words.iter().any(|word| stem.contains(word.as_str()))) {
            continue;
        }
        // Once in vain: what the first run reads from a disk the others do not.
        if run(&path, 1).iter().all(|one| one.simulate_s < LEAST) {
            continue;
        }
        let rounds: Vec<[Vec<Measured>; 2]> = (0..RUNS).map(|_| [run(&path, 1), run(&path, 2)]).collect();
        for n in 0..rounds[0][0].len() {
            let times = |who: usize| median(rounds.iter().map(|round| round[who][n].simulate_s));
            let (one, two) = (times(0), times(1));
            if one < LEAST {
                continue;
            }
            let Measured { name, threads, .. } = &rounds[RUNS - 1][1][n];
            let on = match threads["because"].as_str() {
                Some(because) => format!("one: {because}"),
                None => "two".to_owned(),
            };
            println!("| {stem} | {name} | {one:.3} | {two:.3} | {:.2} | {on} |", one / two);
            if worst.as_ref().is_none_or(|(ratio, _)| one / two < *ratio) {
                worst = Some((one / two, format!("{stem}/{name}")));
            }
        }
    }
    if let Some((ratio, which)) = worst {
        println!("\nlowest: {ratio:.3}, {which}");
    }
}
