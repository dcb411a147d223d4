//! What the machinery of a sweep costs.
//!
//! `cargo bench -p riosim --bench sweep` prints the table of docs/performance.md: the same points by hand (one
//! process that loads, simulates and measures them one after the other and keeps the numbers in memory) and as
//! `riosim sweep --jobs 1` (threads, durable logs, tables and all), alternating; and 10 000 short points with
//! all cores.

use analysis::sweep::measure;
use analysis::{Collector, CollectorConfig, RunData, VariantReport, Warmup};
use models::Simulation;
use models::run::RunOptions;
use scenarios::sweep::{SweepPlan, replication_seed};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Pairs of measurements; the table has their medians.
const PAIRS: usize = 5;

const SCENARIO: &str = r#"{
    "name": "x",
    "run": { "until": "UNTIL", "warmup": "2 us", "sample_every": "off" },
    "topology": { "single_switch": { "ports": PORTS } },
    "parameters": { "load": "/traffic/any/arrivals/poisson/load" },
    "traffic": [
        { "name": "any", "from": "all", "to": { "uniform": {} }, "arrivals": { "poisson": { "load": 0.5 } } }
    ]
}"#;

fn sweep(points: u32, until: &str, ports: u32) -> String {
    let scenario = SCENARIO.replace("UNTIL", until).replace("PORTS", &ports.to_string());
    let axis =
        format!(r#"{{ "parameter": "load", "range": {{ "from": 0.3, "to": 0.7, "count": {points} }} }}"#);
    format!(r#"{{ "name": "x", "scenario": {scenario}, "axes": [{axis}] }}"#)
}

/// All points one after the other; gives the time back.
fn by_hand(plan: &SweepPlan) -> f64 {
    let begun = Instant::now();
    let mut kept = Vec::new();
    for point in &plan.points {
        let variant = plan.compile(point, replication_seed(plan.seed, 1)).expect("a valid point");
        let collector = Collector::new(&CollectorConfig::new(&variant.config, variant.until));
        let mut simulation = Simulation::new(variant.config.clone(), RunOptions::default(), collector);
        let _ = simulation.run(variant.until, u64::MAX);
        let (collector, outcome) = simulation.finish();
        let scenarios::Warmup::Until(cut) = variant.warmup else { panic!("a fixed warm-up") };
        kept.push(measure(&VariantReport::new(RunData {
            name: "base".into(),
            config: variant.config,
            collector,
            outcome,
            warmup: Warmup::Fixed(cut.0),
            victims: Vec::new(),
            hot: Vec::new(),
        })));
    }
    assert_eq!(kept.len(), plan.points.len());
    begun.elapsed().as_secs_f64()
}

/// The sweep as a user runs it; gives the time back.
fn by_sweep(home: &Path, flags: &[&str]) -> f64 {
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
    command.args(["sweep", "x.json", "--out", "there", "--quiet", "--restart"]).args(flags);
    assert!(command.current_dir(home).status().expect("riosim starts").success());
    begun.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let home = tempfile::tempdir().expect("a folder");
    println!(
        "{:>8} {:>14} {:>12} {:>12} {:>10}",
        "points", "ms a point", "by hand, s", "sweep, s", "overhead"
    );
    for (points, until, ports) in [(200, "300 us", 16), (20, "3 ms", 16)] {
        let text = sweep(points, until, ports);
        std::fs::write(home.path().join("x.json"), &text).expect("writable");
        let plan = scenarios::sweep::load(&text, "x.json", &[]).expect("a valid sweep");
        let (mut hand, mut swept, mut more) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            let (one, other) = (by_hand(&plan), by_sweep(home.path(), &["--jobs", "1"]));
            hand.push(one);
            swept.push(other);
            more.push(other / one - 1.0);
        }
        let (hand, swept, more) = (median(hand), median(swept), 100.0 * median(more));
        let each = 1e3 * hand / f64::from(points);
        println!("{points:>8} {each:>14.2} {hand:>12.3} {swept:>12.3} {more:>8.2} %");
    }
    let text = sweep(10_000, "20 us", 4);
    std::fs::write(home.path().join("x.json"), &text).expect("writable");
    let plan = scenarios::sweep::load(&text, "x.json", &[]).expect("a valid sweep");
    let hand = by_hand(&plan);
    let all = by_sweep(home.path(), &[]);
    println!(
        "10000 points of {:.2} ms: {hand:.2} s by hand, {all:.2} s as a sweep with all cores",
        hand / 10.0
    );
}
