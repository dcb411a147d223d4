//! Intervals contain the truth as often as they say.

/// One queue with a constant service time and random arrivals, at load 0.5: packets wait for T / 2 on average
/// (Pollaczek and Khinchine), where T is what a packet takes on the link.
const M_D_1: &str = r#"{
    "name": "m-d-1",
    "run": { "until": "150 us", "warmup": "30 us", "sample_every": "off" },
    "topology": { "single_switch": { "ports": 2 } },
    "switch": { "input_buffers": 60 },
    "traffic": [
        { "name": "one", "from": "ep/0", "to": "ep/1", "size": 256,
          "arrivals": { "poisson": { "load": 0.5 } } }
    ]
}"#;

/// A run of it: mean wait and the half width that the run gives of itself, and the true mean; nanoseconds.
fn m_d_1(replication: u32, until: &str) -> (f64, f64, f64) {
    use analysis::sweep::{measure, metric};
    use analysis::{Collector, CollectorConfig, RunData, VariantReport, Warmup};
    let seed = scenarios::sweep::replication_seed(1, replication);
    let set = [("/seed".to_owned(), seed.into()), ("/run/until".to_owned(), until.into())];
    let plan = scenarios::load(M_D_1, "m-d-1", &set).unwrap();
    let variant = &plan.variants[0];
    let collector = Collector::new(
        &CollectorConfig::new(&variant.config, variant.until).measured_from(variant.warmup.given()),
    );
    let mut simulation =
        analysis::Observed::new(variant.config.clone(), models::run::RunOptions::default(), collector);
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
    let wait = measure(&report)[0].values[metric("part_source_queue_ns").unwrap()].unwrap();
    let delivered = &report.overall.delivered;
    let service = delivered.link_ps as f64 / delivered.packets as f64 / 1e3;
    // beyond the wait the latency is constant, so its interval is that of the wait
    (wait, report.overall.latency.mean.half_width / 1e3, service / 2.0)
}

/// Over 200 sweeps of 10 replications each, the 95 % interval covers the true mean in 90 to 99 % of cases;
/// and so does the interval that a longer run gives of itself, over 200 seeds.
#[test]
fn intervals_are_honest() {
    let share = |hits: Vec<bool>| hits.iter().filter(|hit| **hit).count() as f64 / hits.len() as f64;
    let runs: Vec<(f64, f64, f64)> = (1..=2_000).map(|replication| m_d_1(replication, "150 us")).collect();
    let hit = |group: &[(f64, f64, f64)]| {
        let values: Vec<f64> = group.iter().map(|run| run.0).collect();
        let mean = analysis::sweep::Mean::of(&values).unwrap();
        (mean.mean - group[0].2).abs() <= mean.half_width
    };
    let sweeps = share(runs.chunks(10).map(hit).collect());
    let alone = |replication| {
        let (wait, half_width, truth) = m_d_1(replication, "3 ms");
        (wait - truth).abs() <= half_width
    };
    let alone = share((1..=200).map(alone).collect());
    eprintln!("covered: {sweeps} by replications, {alone} by the batch means of a run");
    assert!((0.90..=0.99).contains(&sweeps), "intervals over replications cover {sweeps}");
    assert!((0.90..=0.99).contains(&alone), "intervals of single runs cover {alone}");
}
