//! Permuting ties changes single runs and no statistics.
use crate::common::*;
use models::config::*;
use sim_core::Duration;
use std::sync::Arc;

/// Slotted traffic ties by design. Mean latency and throughput over permutations differ from those over seeds
/// by less than what two such means differ by chance.
#[test]
fn permuting_ties_leaves_statistics_within_noise() {
    let run = |seed: u64, shake: u64, voq: bool| {
        let mut net = single(6, switch(6));
        if voq {
            let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress };
            net.backpressure(&StagingConfig::PerPort, Some(detector));
        }
        net.slow(5, 2);
        (net.config.seed, net.config.shake) = (seed, shake);
        let ids: Arc<Vec<u32>> = Arc::new((0..6).collect());
        for from in 0..6 {
            let slot = Duration(T + 2 * T_CS);
            let arrivals = Arrivals::Bernoulli { slot, numerator: 2, denominator: 5 };
            let to = Destinations::Uniform { ids: ids.clone(), except: Some(from) };
            net.source(from, 0, arrivals, to);
        }
        let (log, outcome) = net.run(4_000 * T);
        let mean =
            log.deliveries.iter().map(|d| d.latency()).sum::<u64>() as f64 / log.deliveries.len() as f64;
        (mean, log.deliveries.len() as f64, outcome.trajectory)
    };
    for voq in [false, true] {
        const RUNS: u64 = 12;
        let seeds: Vec<_> = (1..=RUNS).map(|n| run(n, 0, voq)).collect();
        let shaken: Vec<_> = (1..=RUNS).map(|n| run(n, 100 + n, voq)).collect();
        assert!(seeds.iter().zip(&shaken).all(|(a, b)| a.2 != b.2), "the permutation does something");
        assert_eq!(run(3, 103, voq).2, shaken[2].2, "the same permutation is the same run");
        let law = |pick: fn(&(f64, f64, sim_core::Fingerprint)) -> f64| {
            let n = RUNS as f64;
            let mean = |runs: &[(f64, f64, sim_core::Fingerprint)]| runs.iter().map(pick).sum::<f64>() / n;
            let (a, b) = (mean(&seeds), mean(&shaken));
            let variance = seeds.iter().map(|r| (pick(r) - a).powi(2)).sum::<f64>() / (n - 1.0);
            // Four standard deviations of the difference of two means of independent runs; with common
            // traffic the difference is smaller still.
            let noise = 4.0 * (2.0 * variance / n).sqrt();
            println!("voq {voq}: {a:.1} and {b:.1}, noise {noise:.1}");
            assert!((a - b).abs() <= noise, "{a} and {b}, noise {noise}");
        };
        law(|r| r.0);
        law(|r| r.1);
    }
}
