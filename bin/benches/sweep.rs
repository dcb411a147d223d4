//! What the machinery of a sweep costs: `cargo bench -p riosim --bench sweep`.
//!
//! Against the points by hand (read, simulated and evaluated one after the other, in this process) on one
//! thread, and for ten thousand points of a millisecond. Required: 2 %, and a minute.

use analysis::{Collector, CollectorConfig, RunData, VariantReport, Warmup};
use std::process::{Command, Stdio};
use std::time::Instant;

/// One switch with random traffic.
fn scenario(until: &str) -> String {
    format!(
        r#"{{ "name": "one", "run": {{ "until": "{until}", "warmup": "2 us", "sample_every": "off" }},
            "topology": {{ "single_switch": {{ "ports": 4 }} }},
            "parameters": {{ "load": ["/traffic/any/arrivals/poisson/load"] }},
            "traffic": [{{ "name": "any", "from": "all", "to": {{ "uniform": {{}} }},
                "arrivals": {{ "poisson": {{ "load": 0.5 }} }} }}] }}"#
    )
}

fn sweep_of(count: u32, replications: u32) -> String {
    format!(
        r#"{{ "name": "cost", "scenario": "one.json", "replications": {{ "count": {replications} }},
            "axes": [{{ "parameter": "load", "range": {{ "from": 0.4, "to": 0.5, "count": {count} }} }}] }}"#
    )
}

/// The points of a sweep without the sweep: read, simulated and evaluated one after the other.
fn by_hand(scenario: &str, loads: &[f64], replications: u32) -> f64 {
    let begun = Instant::now();
    for load in loads {
        for replication in 1..=replications {
            let seed = scenarios::sweep::replication_seed(1, replication);
            let set = [
                ("/seed".to_owned(), seed.into()),
                ("/traffic/any/arrivals/poisson/load".to_owned(), (*load).into()),
            ];
            let plan = scenarios::load(scenario, "x.json", &set).unwrap();
            let variant = &plan.variants[0];
            let collector = Collector::new(&CollectorConfig::new(&variant.config, variant.until));
            let mut simulation = models::Simulation::new(
                variant.config.clone(),
                models::run::RunOptions::default(),
                collector,
            );
            let _ = simulation.run(variant.until, u64::MAX);
            let (collector, outcome) = simulation.finish();
            let scenarios::Warmup::Until(cut) = variant.warmup else { panic!("a fixed warm-up") };
            let report = VariantReport::new(RunData {
                name: "base".into(),
                config: variant.config.clone(),
                collector,
                outcome,
                warmup: Warmup::Fixed(cut.0),
                victims: Vec::new(),
                hot: Vec::new(),
            });
            assert!(!analysis::sweep::measure(&report).is_empty());
        }
    }
    begun.elapsed().as_secs_f64()
}

/// Wall-clock seconds of a sweep of `count` loads.
fn sweep(until: &str, count: u32, replications: u32, more: &[&str]) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("writable");
    write("one.json", &scenario(until));
    write("cost.json", &sweep_of(count, replications));
    let begun = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_riosim"))
        .args(["sweep", "cost.json", "--out", "out", "--quiet"])
        .args(more)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .status();
    assert!(status.expect("it starts").success());
    begun.elapsed().as_secs_f64()
}

fn main() {
    // The length of a study: what a process costs once does not hide what a run costs.
    let loads: Vec<f64> = (0..40).map(|n| 0.4 + 0.1 * f64::from(n) / 39.0).collect();
    let (mut hand, mut machinery) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        hand = hand.min(by_hand(&scenario("8 ms"), &loads, 2));
        machinery = machinery.min(sweep("8 ms", 40, 2, &["--jobs", "1"]));
    }
    println!(
        "80 runs by hand {hand:.3} s, as a sweep {machinery:.3} s: {:+.2} %",
        100.0 * (machinery / hand - 1.0)
    );
    let mut until = 20;
    let each = loop {
        let each = by_hand(&scenario(&format!("{until} us")), &[0.45; 200], 1) / 200.0;
        if each >= 1e-3 {
            break each;
        }
        until = until * 5 / 4 + 1;
    };
    let wall = sweep(&format!("{until} us"), 10_000, 1, &[]);
    println!("10 000 points of {:.2} ms ({until} us simulated): {wall:.1} s", each * 1e3);
}
