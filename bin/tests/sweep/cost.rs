//! What the machinery of a sweep costs. These measure, so they run when asked and on a machine that does
//! nothing else: `RIOSIM_COST=1 cargo test --release -p riosim --test sweep cost:: -- --nocapture
//! --test-threads 1`.

use super::*;
use analysis::{Collector, CollectorConfig, RunData, VariantReport, Warmup};
use std::time::Instant;

/// The points of a sweep without the sweep: read, simulated and evaluated one after the other.
fn by_hand(scenario: &str, loads: &[String], replications: u32) -> f64 {
    let begun = Instant::now();
    for load in loads {
        for replication in 1..=replications {
            let seed = scenarios::sweep::replication_seed(1, replication);
            let load: f64 = load.parse().unwrap();
            let set = [
                ("/seed".to_owned(), seed.into()),
                ("/traffic/any/arrivals/poisson/load".to_owned(), load.into()),
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

fn sweep_of(count: u32, replications: u32) -> String {
    format!(
        r#"{{ "name": "cost", "scenario": "one.json", "replications": {{ "count": {replications} }},
            "axes": [{{ "parameter": "load", "range": {{ "from": 0.4, "to": 0.5, "count": {count} }} }}] }}"#
    )
}

/// [`SCENARIO`] without variants, of another length.
fn one(until: &str) -> String {
    let end = SCENARIO.find("\"variants\"").unwrap();
    let text = SCENARIO[..end].trim_end().trim_end_matches(',').to_owned() + "}";
    text.replace("\"20 us\"", &format!("\"{until}\""))
}

/// Against the points by hand, on one thread: the least of several takes of each, turn about.
#[test]
fn the_machinery_costs_less_than_two_percent() {
    if std::env::var_os("RIOSIM_COST").is_none() {
        return eprintln!("skipped: RIOSIM_COST is not set");
    }
    let home = Home::new();
    // the length of a study: what a process costs once does not hide what a run costs
    let scenario = one("8 ms");
    home.write("one.json", &scenario);
    home.write("cost.json", &sweep_of(40, 2));
    home.ok(&["sweep", "cost.json", "--out", "points", "--quiet"]);
    let csv = home.read("points/results.csv");
    let mut loads: Vec<String> = rows(&csv).iter().map(|row| row["load"].to_owned()).collect();
    loads.dedup();
    assert_eq!(loads.len(), 40);
    let (mut hand, mut sweep) = (f64::INFINITY, f64::INFINITY);
    for take in 0..3 {
        hand = hand.min(by_hand(&scenario, &loads, 2));
        let begun = Instant::now();
        home.ok(&["sweep", "cost.json", "--out", &format!("take-{take}"), "--quiet", "--jobs", "1"]);
        sweep = sweep.min(begun.elapsed().as_secs_f64());
    }
    let share = sweep / hand - 1.0;
    eprintln!("80 runs by hand {hand:.3} s, as a sweep {sweep:.3} s: {:+.2} %", share * 100.0);
    assert!(share < 0.02, "the sweep costs {:.1} % more", share * 100.0);
}

#[test]
fn ten_thousand_points_take_less_than_a_minute() {
    if std::env::var_os("RIOSIM_COST").is_none() {
        return eprintln!("skipped: RIOSIM_COST is not set");
    }
    let home = Home::new();
    // a run of about a millisecond
    let mut until = 20;
    let each = loop {
        let runs: Vec<String> = vec!["0.45".into(); 200];
        let each = by_hand(&one(&format!("{until} us")), &runs, 1) / 200.0;
        if each >= 1e-3 {
            break each;
        }
        until = until * 5 / 4 + 1;
    };
    home.write("one.json", &one(&format!("{until} us")));
    home.write("cost.json", &sweep_of(10_000, 1));
    let begun = Instant::now();
    home.ok(&["sweep", "cost.json", "--out", "all", "--quiet"]);
    let wall = begun.elapsed().as_secs_f64();
    eprintln!("10 000 points of {:.2} ms ({until} us simulated): {wall:.1} s", each * 1e3);
    assert_eq!(rows(&home.read("all/results.csv")).len(), 20_000);
    assert!(wall < 60.0, "{wall} s");
}
