//! Studies of LINX: what a period of heartbeats, a lost control symbol and jitter decide.

use super::{Study, connections, near, plan, whole};
use models::probe::Delivery;
use models::stats::LinxEnd;
use models::{Probe, RunOptions, Watched};
use std::collections::BTreeMap;

/// Three standard deviations of a share of `count` independent draws.
fn three_sigma(share: f64, count: f64) -> f64 {
    3.0 * (share * (1.0 - share) / count).sqrt()
}

/// Stalls of B = 2.4 s and crashes, 960 of each, against the period T.
#[test]
fn linx_detection() {
    let study = Study::run("linx-detection");
    whole(&study);
    let draws = 16.0 * 60.0;
    for report in &study.reports {
        let name = &report.run.name;
        let (family, units) = name.rsplit_once('-').expect("a family and a period");
        let period = units.parse::<f64>().expect("the period in units of 100 ms") * 0.1;
        let b = 2.4 / period;
        let ticks = family == "ticks";
        let share = match (ticks, b) {
            (false, _) => (b - 2.0).clamp(0.0, 1.0),
            (true, ..2.0) => (b - 1.0).max(0.0).powi(2) / 2.0,
            (true, _) => 1.0 - (3.0 - b).max(0.0).powi(2) / 2.0,
        };
        let stats = &connections(&study, name).stats;
        let found = stats.false_timeouts as f64 / draws;
        println!("{name}: B = {b:.3} T, {found:.4} of the stalls, {share:.4} expected");
        near(&format!("{name}: stalls that end a connection"), found, share, three_sigma(share, draws));
        // Crashes: an even distribution of width T, by ticks the sum of two.
        let detected = &stats.detected;
        assert_eq!(detected.count as f64, draws, "{name}");
        let mean = detected.sum as f64 / draws / 1e12 / period;
        let (law, variance) = if ticks { (2.0, 1.0 / 6.0) } else { (2.5, 1.0 / 12.0) };
        println!("{name}: a crash is noticed after {mean:.4} T");
        near(&format!("{name}: periods to notice a crash"), mean, law, 3.0 * (variance / draws).sqrt());
        let [least, most] = [detected.min, detected.max].map(|time| time as f64 / 1e12 / period);
        // A frame is under way for less than a microsecond.
        let earliest = if ticks { 1.0 } else { 2.0 };
        assert!(least >= earliest && most <= 3.0 + 1e-5, "{name}: {least} to {most} T");
    }
}

/// A lost XON holds heartbeats back until the next refresh; a link that dies is known at one end.
#[test]
fn linx_lost_xon() {
    let study = Study::run("linx-lost-xon");
    // The last heartbeat before 1.3 s comes at 1 s and some microseconds, and supervision waits for 3 T.
    for (variant, timeouts, all_false, up) in [
        ("refresh-off", 1, true, 0),
        ("refresh-late", 1, true, 1),
        ("refresh-early", 0, true, 1),
        ("refresh-default", 0, true, 1),
        ("intact", 0, true, 1),
        ("dead-link", 1, false, 0),
        ("link-back", 0, false, 1),
    ] {
        let totals = connections(&study, variant);
        let stats = &totals.stats;
        let found = (stats.ended[LinxEnd::Timeout as usize], stats.false_timeouts, totals.up);
        assert_eq!(found, (timeouts, if all_false { timeouts } else { 0 }, up), "{variant}");
        let down = u64::from(variant == "dead-link" || variant == "link-back");
        assert_eq!(stats.ended[LinxEnd::LinkDown as usize], down, "{variant}");
        let restart = u64::from(variant == "link-back");
        assert_eq!(stats.ended[LinxEnd::PeerRestart as usize], restart, "{variant}");
        let gap = stats.heartbeat_gaps.max as f64 / 1e12;
        match variant {
            // Freed by the second refresh, at 2.4 s.
            "refresh-early" => near("gap", gap, 1.4, 1e-3),
            "refresh-default" | "intact" => near("gap", gap, 0.5, 1e-3),
            _ => {}
        }
    }
    let dead = &connections(&study, "dead-link").stats.detected;
    near("a dead link is noticed", dead.max as f64 / 1e12, 1.2, 1e-3);
    // The new request of link-back tells before: nobody is missed.
    assert_eq!(connections(&study, "link-back").stats.detected.count, 0);
    // The connection is there again once the refresh has come.
    let late = connections(&study, "refresh-late").all_up.expect("it is up again");
    assert!((2.6..2.8).contains(&(late.0 as f64 / 1e12)), "{late:?}");
    assert!(!study.of("refresh-off").run.outcome.stalls.is_empty(), "what waits for ever is reported");
}

/// When requests come to the node that all ask, by who asks.
#[derive(Default)]
struct Asked(BTreeMap<u32, Vec<u64>>);

impl Probe for Asked {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.entry(delivery.source).or_default().push(delivery.at.0);
    }
}

/// Requests that are repeated in step come at once each time; with jitter J the second ones come in 2 J.
#[test]
fn linx_reboot_jitter() {
    let study = Study::run("linx-reboot-jitter");
    let (n, period, service) = (31.0_f64, 200.0, 1.0);
    for variant in &plan("linx-reboot-jitter").variants {
        let name = &variant.name;
        let jitter = name.strip_prefix("jitter-").map_or(0.0, |ms| ms.parse().expect("milliseconds"));
        let mut asked = Asked::default();
        let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut asked);
        simulation.run(variant.until, u64::MAX);
        simulation.finish();
        // Milliseconds of the second request of each.
        let mut second: Vec<f64> = asked.0.values().map(|times| times[1] as f64 / 1e9).collect();
        second.sort_by(f64::total_cmp);
        let (first, last) = (second[0], second[30]);
        println!("{name}: second requests from {first:.3} to {last:.3} ms");
        assert!(first >= period - jitter && last <= period + jitter + 0.01, "{name}: {first} to {last}");
        if jitter == 0.0 {
            // 31 frames on one link, one after the other.
            assert!(last - first < 0.001, "{first} to {last}");
            continue;
        }
        // The distance of the first and the last of n even draws: a beta distribution with n - 1 and 2.
        let (width, law) = ((last - first) / (2.0 * jitter), (n - 1.0) / (n + 1.0));
        let sigma = (2.0 * (n - 1.0) / ((n + 1.0).powi(2) * (n + 2.0))).sqrt();
        near(&format!("{name}: width"), width, law, 3.0 * sigma);
        let middle = second.iter().sum::<f64>() / n;
        near(&format!("{name}: middle"), middle, period, 3.0 * jitter / (3.0 * n).sqrt());
    }
    let frames = |variant| &study.flow(variant, "requests").messages.as_deref().expect("frames").delivered;
    let mean = |variant| frames(variant).latency_ps as f64 / frames(variant).packets as f64 / 1e9;
    near("in step: mean time of a frame", mean("in-step"), (n + 1.0) / 2.0 * service, 0.01);
    let means = ["in-step", "jitter-10", "jitter-50", "jitter-100"].map(mean);
    println!("mean time of a frame, ms: {means:?}");
    assert!(means.windows(2).all(|pair| pair[1] < pair[0]) && means[3] < 0.2 * means[0], "{means:?}");
}
