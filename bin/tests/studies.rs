//! Every study shows what its description says: each scenario runs as it is shipped, and what it measures is
//! compared with a law, and with the summary and figures in `results/reference`.
//!
//! `BLESS=1 cargo test --test studies` writes the reference anew.

use analysis::Observed;
use analysis::chart::Chart;
use analysis::figures::{self, Caption};
use analysis::report::FlowReport;
use analysis::{Collector, CollectorConfig, RunData, Summary, VariantReport};
use models::Outcome;
use models::agent::initialise::InitialiseTotals;
use models::config::SourceConfig;
use models::probe::{Cause, FACTS, SignalKind};
use models::run::{ListKind, Parallel, Partition, PipelineMode, Progress, RunOptions, Threads};
use models::sim_core::{Duration, Time};
use models::stats::{LinkStats, LinxEnd, LinxTotals, PortStats, SessionTotals};
use rayon::prelude::*;
use scenarios::{RunPlan, Variant, Warmup};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

#[path = "studies/claims.rs"]
mod claims;
#[path = "studies/linx.rs"]
mod linx;
#[path = "studies/transfer.rs"]
mod transfer;

/// Packet with its delimiter on a 4x 6.25 Gbaud link: 276 + 8 characters of 0.4 ns.
const T_PS: f64 = 113_600.0;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Where a study is, and what it says.
fn read(name: &str) -> (PathBuf, String) {
    let path = root().join("scenarios").join(name).with_extension("json");
    let text = fs::read_to_string(&path).unwrap();
    (path, text)
}

fn plan(name: &str) -> RunPlan {
    let (path, text) = read(name);
    scenarios::load(&text, &path.to_string_lossy(), &[])
        .unwrap_or_else(|errors| panic!("{}", errors.render()))
}

fn collector(variant: &Variant) -> Collector {
    Collector::new(
        &CollectorConfig::new(&variant.config, variant.until).measured_from(variant.warmup.given()),
    )
}

/// Runs to the end. The collector asserts that the parts of every latency add up to it, and at every sample
/// that packets are conserved.
fn simulate(variant: &Variant, options: RunOptions) -> (Collector, Outcome) {
    let collector = collector(variant);
    let mut simulation = Observed::new(Arc::clone(&variant.config), options, collector);
    while simulation.run(variant.until, 1 << 20) == Progress::Running {}
    simulation.finish()
}

/// Likewise on two threads, in parts of the fabric.
fn in_parts(variant: &Variant, cut: &Partition) -> (Collector, Outcome) {
    let (config, options) = (Arc::clone(&variant.config), RunOptions::default());
    let threads = Threads { count: 2, clock: || 0, ledger: false };
    let mut simulation = Parallel::new(config, options, collector(variant), cut, threads);
    while simulation.run(variant.until, 1 << 20) == Progress::Running {}
    let (collector, outcome, _) = simulation.finish();
    (collector, outcome)
}

fn report(variant: &Variant, (collector, outcome): (Collector, Outcome)) -> VariantReport {
    let report = VariantReport::new(RunData {
        name: variant.name.clone(),
        config: Arc::clone(&variant.config),
        collector,
        outcome,
        warmup: match variant.warmup {
            Warmup::Auto => analysis::Warmup::Auto,
            Warmup::Until(time) => analysis::Warmup::Fixed(time.0),
        },
        victims: variant.victims.clone(),
        hot: variant.hot.clone(),
    });
    // or figures lack what the command draws: changes from the variant that a scenario names
    let report = VariantReport { compare_with: variant.compare_with.clone(), ..report };
    let (name, outcome) = (&report.run.name, &report.run.outcome);
    assert_eq!(report.broken, Vec::<String>::new(), "{name}");
    let lost: u64 = outcome.links.iter().map(|(.., end)| end.lost_no_room + end.lost_on_link).sum();
    let lossless = report.run.config.media.iter().all(|media| media.medium.is_lossless());
    assert!(outcome.dropped == lost || !lossless, "{name}: only continuous traffic is lost");
    for flow in &report.flows {
        let parts: u128 = flow.spread.parts_ps.iter().sum();
        assert_eq!(parts, flow.delivered.latency_ps, "{name}: the parts of {} do not add up", flow.name);
    }
    report
}

/// A study as it is shipped, but with samples in any case: they change nothing, and check conservation.
struct Study {
    reports: Vec<VariantReport>,
}

impl Study {
    fn run(name: &str) -> Self {
        let mut plan = plan(name);
        let reports: Vec<VariantReport> = plan
            .variants
            .iter_mut()
            .map(|variant| {
                let every = Duration((variant.until.0 / 200).max(1));
                Arc::make_mut(&mut variant.config).sample_every.get_or_insert(every);
                report(variant, simulate(variant, RunOptions::default()))
            })
            .collect();
        reference(&plan, &reports);
        Study { reports }
    }

    fn of(&self, variant: &str) -> &VariantReport {
        self.reports.iter().find(|report| report.run.name == variant).expect("the study has this variant")
    }

    fn flow(&self, variant: &str, flow: &str) -> &FlowReport {
        self.of(variant).flow(flow).expect("the study has this flow")
    }

    /// Accepted load of a flow: share of the link of its source.
    fn load(&self, variant: &str, flow: &str) -> f64 {
        self.flow(variant, flow).accepted_load.value
    }

    fn stats(&self, variant: &str, device: &str, port: u8) -> PortStats {
        let report = self.of(variant);
        let name = format!("{device}:{port}");
        let ports = &report.run.outcome.ports;
        ports.iter().find(|(d, p, _)| report.port_name(*d, *p) == name).expect("the port exists").2
    }
}

/// Figures that are worth a look without a run.
const FIGURES: [(&str, &str); 19] = [
    ("conduit-leak", "conduits"),
    ("hol-blocking", "goodput"),
    ("hol-blocking", "decomposition"),
    ("hol-saturation", "load"),
    ("hol-staging-queues", "goodput"),
    ("hotspot-fattree", "goodput"),
    ("hotspot-fattree", "latency_cdf"),
    ("linx-detection", "heartbeat_detection"),
    ("linx-reboot-jitter", "throughput"),
    ("message-retry-storm", "message_decomposition"),
    ("message-retry-storm", "retry"),
    ("rpc-latency", "round_trip_cdf"),
    ("rpc-latency", "round_trip_decomposition"),
    ("st-delivery", "goodput"),
    ("st-incast", "goodput"),
    ("st-vs-voq", "victims"),
    ("stream-segmentation", "efficiency"),
    ("voq-chatter", "load"),
    ("voq-unequal-neighbours", "load"),
];

/// Charts of runs that are worth a look, beside those of the figures of the session management annex.
const CHARTS: [(&str, &str); 3] = [
    ("linx-crossing-connect", "crossing"),
    ("linx-crossing-connect", "lone-initiator"),
    ("linx-crossing-connect", "loss-of-peer"),
];

/// Compares with `results/reference`, or writes it.
fn reference(plan: &RunPlan, reports: &[VariantReport]) {
    let folder = root().join("results/reference");
    let stamp = |runs: &[VariantReport]| figures::stamp(&plan.name, env!("CARGO_PKG_VERSION"), runs);
    let caption = Caption::new(&plan.title, stamp(reports), reports);
    let mut files: Vec<(String, String)> = Vec::new();
    for (_, name) in FIGURES.iter().filter(|(study, _)| *study == plan.name) {
        let figure = figures::svg(&caption, reports, name).expect("it is drawn");
        files.push((format!("{}-{name}.svg", plan.name), figure));
    }
    let charts = Chart::of_runs(&plan.title, stamp, reports).into_iter();
    let kept = |variant: &str| {
        plan.name.starts_with("session-figure") || CHARTS.contains(&(plan.name.as_str(), variant))
    };
    for (variant, chart) in charts.filter(|(variant, _)| kept(variant)) {
        files.push((format!("{}-{variant}.svg", plan.name), chart.to_svg()));
        files.push((format!("{}-{variant}.txt", plan.name), chart.to_text()));
    }
    files.push((format!("{}.json", plan.name), Summary::new(&plan.name, reports).to_json()));
    for (name, text) in files {
        let path = folder.join(&name);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, text).unwrap();
            continue;
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        let line = kept.lines().zip(text.lines()).position(|(a, b)| a != b);
        let line = line.map_or_else(|| "in length".into(), |line| format!("from line {}", line + 1));
        assert!(kept == text, "results/reference/{name} differs {line}; BLESS=1 writes it anew");
    }
}

#[track_caller]
fn near(what: &str, value: f64, law: f64, tolerance: f64) {
    assert!((value - law).abs() <= tolerance, "{what} is {value:.5}, the law says {law:.5} ± {tolerance:.5}");
}

/// Proves: VOQ-1.1-2, VOQ-1.1-3, VOQ-4.3-3
#[test]
fn hol_blocking() {
    let study = Study::run("hol-blocking");
    // Three ports compete for port 2: s = 1/3. A FIFO upstream serves one victim for each hot packet.
    let s = 1.0 / 3.0;
    for (variant, victim) in [("fifo-switch", s), ("voq-switch", s), ("backpressure", 1.0 - s)] {
        near(&format!("{variant}: victim"), study.load(variant, "victim"), victim, 0.01 * victim);
        near(&format!("{variant}: hot"), study.load(variant, "hot"), s, 0.01 * s);
        near(&format!("{variant}: others"), study.load(variant, "others"), s, 0.01 * s);
    }
    let share = |variant, flow, cause| study.flow(variant, flow).share(cause);
    // each variant has its own reason why victims wait, and the last one has none
    assert!(share("fifo-switch", "victim", Cause::HeadOfLine) > 0.4);
    assert!(share("voq-switch", "victim", Cause::NoBuffer) > 0.3);
    assert!(share("backpressure", "hot", Cause::Staged) > 0.03);
    for (variant, causes) in [
        ("fifo-switch", &[Cause::Staged][..]),
        ("voq-switch", &[Cause::HeadOfLine, Cause::Staged]),
        ("backpressure", &[Cause::HeadOfLine, Cause::Staged, Cause::NoBuffer, Cause::OutputContention]),
    ] {
        for cause in causes {
            assert_eq!(share(variant, "victim", *cause), 0.0, "{variant}: {}", cause.name());
        }
    }
}

/// The benefit falls with the radius (Part 12 §2): a staging queue knows the ports of the next switch only,
/// and who is not told of congestion is not stopped.
fn radius(study: &Study, prefix: &str, hops: u32, hows: &[&str], slow: Option<&str>) {
    let s = 1.0 / 5.0;
    for (leaves, how) in (1..=hops).flat_map(|leaves| hows.iter().map(move |how| (leaves, *how))) {
        let variant = format!("{prefix}{how}-{leaves}");
        let victim = if leaves == 1 && how != "none" { 1.0 - s } else { s };
        let beside = match (leaves, how) {
            (1, _) => 1.0,
            (2, "ingress") => 1.0 - 2.0 * s,
            _ => 2.0 * s,
        };
        // 7/39 of the hot port instead of a fifth.
        let part = if slow == Some(variant.as_str()) { 35.0 / 39.0 } else { 1.0 };
        for (flow, law) in [("victim", victim), ("hot", s), ("beside", beside)] {
            near(&format!("{variant}: {flow}"), study.load(&variant, flow), part * law, 0.01 * law);
        }
    }
}

/// Proves: VOQ-2-2
#[test]
fn voq_radius() {
    let study = Study::run("voq-radius");
    // Who shares a link with victims comes late when all are let go: the law is held window by window in
    // scenarios/compiler/tests/suite/radius.rs.
    radius(&study, "", 4, &["none", "shared", "ingress"], Some("shared-4"));
    radius(&study, "output-", 3, &["shared", "ingress"], None);
}

#[test]
fn voq_radius_tree() {
    radius(&Study::run("voq-radius-tree"), "", 4, &["none", "shared", "ingress"], None);
}

/// Proves: VOQ-2.3-1, VOQ-2.3-3, VOQ-4.3-8
#[test]
fn hol_staging_queues() {
    let study = Study::run("hol-staging-queues");
    let s = 1.0 / 7.0;
    let co_mingled = 0.1 * s / 0.3;
    for (variant, queues) in [
        ("none", None),
        ("queues-1", Some(1)),
        ("queues-2", Some(2)),
        ("queues-4", Some(4)),
        ("queues-8", Some(8)),
    ] {
        near(&format!("{variant}: hot"), study.load(variant, "hot"), s, 0.01 * s);
        let mut suffering = Vec::new();
        for port in [1, 3, 4, 5, 6, 7u32] {
            let victim = study.flow(variant, &format!("victim-{port}"));
            // the hot port is 2
            let suffers = queues.is_none_or(|queues| port % queues == 2 % queues);
            assert_eq!(victim.saturated, suffers, "{variant}: victim of port {port}");
            if suffers {
                // The mixture of a Poisson process in so short a time is a random number itself.
                near(
                    &format!("{variant}: port {port}"),
                    victim.accepted_load.value,
                    co_mingled,
                    0.1 * co_mingled,
                );
                suffering.push(victim.accepted_load.value);
            }
            // without backpressure nobody is blocked inside the switch: the link stalls
            let blocked = victim.share(Cause::HeadOfLine) > 0.5;
            assert_eq!(blocked, suffers && queues.is_some(), "{variant}: port {port}");
        }
        if !suffering.is_empty() {
            let mean = suffering.iter().sum::<f64>() / suffering.len() as f64;
            near(&format!("{variant}: mean of victims"), mean, co_mingled, 0.05 * co_mingled);
        }
    }
}

/// Karol, Hluchyj and Morgan 1987, table I and its continuation.
#[test]
fn hol_saturation() {
    let study = Study::run("hol-saturation");
    for (ports, law) in [
        (2, 0.7500),
        (3, 0.6825),
        (4, 0.6553),
        (5, 0.6399),
        (6, 0.6302),
        (7, 0.6234),
        (8, 0.6184),
        (16, 0.6016),
        (32, 0.5936),
        (64, 0.5897),
    ] {
        let rate = study.of(&format!("fifo-{ports}")).overall.per_slot.expect("there is a cell clock");
        println!("N = {ports}: {:.4} ± {:.4}, {law:.4} in the table", rate.value, rate.half_width);
        near(&format!("N = {ports}"), rate.value, law, 0.004);
        assert!(rate.half_width < 0.003, "N = {ports}: the interval is ± {}", rate.half_width);
    }
    for ports in [4, 8, 16, 32] {
        let report = study.of(&format!("islip-{ports}"));
        let rate = report.overall.per_slot.expect("there is a cell clock");
        assert!(rate.value > 0.94, "iSLIP with {ports} ports: {}", rate.value);
        assert_eq!(report.overall.share(Cause::HeadOfLine), 0.0);
    }
    // the figure has the law above and below the bar of each FIFO, and at no other bar
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let lines = |reports: &[VariantReport]| {
        let figure = figures::svg(&caption, reports, "load").expect("it is drawn");
        (figure.contains("law for one FIFO at each input"), figure.matches("stroke-width=\"24\"").count())
    };
    assert_eq!((lines(&study.reports), lines(&study.reports[10..])), ((true, 20), (false, 0)));
}

#[test]
fn voq_headroom() {
    let study = Study::run("voq-headroom");
    // D = pipeline + generation + wait for a delimiter + symbol + twice the cable, at most
    let d = 100_000.0 + 20_000.0 + T_PS + 3_200.0 + 2.0 * 40_000.0;
    let per_link = (d / T_PS).ceil() + 1.0;
    let mut last = 0;
    for places in [12, 8, 6, 4, 3, 2, 1] {
        let variant = format!("headroom-{places}");
        let late = study.stats(&variant, "sw", 2).late_hol;
        let blocked = study.flow(&variant, "victim").share(Cause::HeadOfLine);
        println!("{variant}: {late} packets late, {:.2} % of a victim's time blocked", 100.0 * blocked);
        // sufficient for two upstream links; the study's own traffic needs four places
        if f64::from(places) >= 2.0 * per_link || places >= 4 {
            assert_eq!((late, blocked), (0, 0.0), "{variant}");
        } else {
            assert!(late > last && blocked > 0.0, "{variant}: {late} late after {last}");
            last = late;
        }
    }
    assert_eq!(per_link, 4.0);
    let enough = ((d + 2.0 * T_PS) / T_PS).ceil();
    for off in 0..=6 {
        let variant = format!("off-{off}");
        let through = study.load(&variant, "hot") + study.load(&variant, "others");
        println!("{variant}: the hot output is busy {:.2} % of the time", 100.0 * through);
        match off {
            0 | 1 => assert!(through < 0.99, "{variant}: {through}"),
            _ if f64::from(off) >= enough => near(&variant, through, 1.0, 0.001),
            _ => near(&variant, through, 1.0, 0.01),
        }
    }
    assert_eq!(enough, 5.0);
}

/// Proves: VOQ-2.5-7
#[test]
fn voq_chatter() {
    let study = Study::run("voq-chatter");
    let mut last = u64::MAX;
    for h in [1, 2, 4, 8, 16, 32] {
        let variant = format!("hysteresis-{h}");
        let left = study.stats(&variant, "sw", 2).packets_sent;
        let mut most = 0;
        for port in [1, 2, 3, 4] {
            let stats = study.stats(&variant, "sw", port);
            let messages = stats.voq_riding + stats.voq_standalone;
            // A cycle may be cut at either end of the run.
            assert!(messages <= 2 * left / h + 2, "{variant}: {messages} messages for {left} packets");
            most = most.max(messages);
        }
        println!("{variant}: {most} messages of one port, at most {} allowed", 2 * left / h);
        assert!(most < last, "{variant}: {most} messages, {last} with less hysteresis");
        last = most;
    }
}

#[test]
fn voq_shared_threshold() {
    let study = Study::run("voq-shared-threshold");
    for (variant, hot, victim) in [
        ("n-2", 1.0 / 3.0, 1.0),
        ("n-3", 1.0 / 5.0, 1.0),
        ("n-4", 1.0 / 7.0, 1.0),
        ("half-2", 1.0 / 6.0, 1.0),
        // 0.8 and 0.19 offered: hot packets are 0.8/0.99 of what the upstream device sends while it may
        ("open-2", 0.8 / 0.99 / (1.0 + 0.8 / 0.99), 0.19),
    ] {
        near(&format!("{variant}: hot"), study.load(variant, "hot"), hot, 0.03);
        near(&format!("{variant}: victim"), study.load(variant, "victim"), f64::min(victim, 1.0 - hot), 0.03);
    }
}

#[test]
fn voq_unequal_neighbours() {
    let study = Study::run("voq-unequal-neighbours");
    assert_eq!(study.load("saturated", "hot"), 0.0, "who honours messages starves");
    near("saturated: victim", study.load("saturated", "victim"), 1.0, 0.01);
    near("load-60: hot", study.load("load-60", "hot"), 0.4, 0.03);
    near("per-ingress: hot", study.load("per-ingress", "hot"), 0.5, 0.005);
    near("per-ingress: victim", study.load("per-ingress", "victim"), 0.5, 0.005);
    near("per-ingress: others", study.load("per-ingress", "others"), 0.5, 0.005);
}

#[test]
fn voq_lost_xon() {
    let study = Study::run("voq-lost-xon");
    let stalls = |variant| &study.of(variant).run.outcome.stalls;
    for lost in ["refresh-off", "damaged"] {
        let [stall] = &stalls(lost)[..] else { panic!("{lost}: {:?}", stalls(lost)) };
        assert!(!stall.cycle && stall.walk[0].contains(":hot:"), "{lost}: {stall:?}");
        assert!(study.load(lost, "hot") < 0.01, "{lost}");
    }
    for variant in ["refresh-on", "intact", "repaired"] {
        assert_eq!(*stalls(variant), [], "{variant}");
        near(&format!("{variant}: hot"), study.load(variant, "hot"), 0.5, 0.015);
    }
    // the queue stands until the next refresh, and no longer
    let longest = |variant| study.flow(variant, "hot").latency.max;
    let refresh = 16.0 * 1024.0 * 1_600.0;
    println!(
        "longest hot packet: {} ps with refresh, {} ps intact",
        longest("refresh-on"),
        longest("intact")
    );
    assert!(longest("refresh-on") > 2.0 * longest("intact"));
    assert!(longest("refresh-on") < refresh + longest("intact"));
    for variant in ["refresh-off", "refresh-on", "intact", "damaged", "repaired"] {
        near(&format!("{variant}: victim"), study.load(variant, "victim"), 0.3, 0.003);
    }
}

#[test]
fn hotspot_fattree() {
    let study = Study::run("hotspot-fattree");
    let load = |variant: &str| study.load(variant, "background");
    let p99 = |variant: &str| study.flow(variant, "background").latency.p99.value;
    near("load 0.1: background", load("voq-10"), load("none-10"), 0.01 * load("none-10"));
    for (none, voq, gain) in [("none-30", "voq-30", 1.8), ("none-50", "voq-50", 3.0)] {
        println!(
            "{none}: {:.4}, {:.1} us; {voq}: {:.4}, {:.1} us",
            load(none),
            p99(none) / 1e6,
            load(voq),
            p99(voq) / 1e6
        );
        assert!(load(voq) > gain * load(none), "{voq}: {} against {}", load(voq), load(none));
        assert!(p99(voq) < 0.75 * p99(none), "{voq}: 99 % within {} against {} ps", p99(voq), p99(none));
        // Every source is a FIFO of nine background packets for each hot one, so at last all get nine times
        // their share of the hot links: it does not matter how much they offer.
        near(&format!("{none}: background"), load(none), 9.0 * 4.0 / 256.0, 0.01 * 9.0 * 4.0 / 256.0);
        // the hot links are full in any case: 4 of 256 endpoints
        near(&format!("{voq}: hot"), study.load(voq, "hot"), 4.0 / 256.0, 0.01 * 4.0 / 256.0);
    }
}

/// One way over the idle switch of these studies for a packet of so many octets, picoseconds.
fn one_way(octets: u64) -> f64 {
    (2 * ((octets + 8) * 400 + 40_000) + 100_000) as f64
}

#[test]
fn rpc_latency() {
    let study = Study::run("rpc-latency");
    let trips = |variant| study.flow(variant, "rpc").round_trips.as_deref().expect("there are answers");
    // The type 13 response to a segment goes before the message that its receiver sends next, at either end.
    let responses = 2.0 * 16.0 * 400.0;
    let burst = 15.0 * 276.0 * 400.0;
    for (variant, law) in [
        ("message-8", 2.0 * one_way(16) + responses),
        ("message-256", 2.0 * one_way(268) + responses),
        ("message-4096", 2.0 * (one_way(268) + burst) + responses),
        ("stream-256", 2.0 * one_way(268)),
        ("read-256", one_way(12) + one_way(268)),
        ("write-256", one_way(272) + one_way(8)),
        ("host-256", 2.0 * one_way(268) + 2.0 * 700_000.0),
    ] {
        let trips = trips(variant);
        println!("{variant}: {} ps, {law} by the law", trips.latency.mean.value);
        assert_eq!((trips.latency.mean.value, trips.latency.max), (law, law), "{variant}");
        let parts: u128 = trips.spread.parts_ps.iter().sum();
        assert_eq!(parts, trips.delivered.latency_ps, "{variant}");
        assert_eq!(trips.mean_part_ps(Cause::Host), if variant == "host-256" { 1_400_000.0 } else { 0.0 });
    }
    let mean = |variant| trips(variant).latency.mean.value;
    println!("loaded: {}, {}, {} ps", mean("loaded-0"), mean("loaded-1"), mean("loaded-2"));
    assert!(mean("loaded-0") > 1.2 * mean("message-256"), "the load is felt");
    assert!(mean("loaded-1") < mean("loaded-0") && mean("loaded-2") <= 1.02 * mean("loaded-1"));
}

#[test]
fn message_retry_storm() {
    let study = Study::run("message-retry-storm");
    let full = 256.0 * 8.0 / 1_000.0;
    let of = |variant| {
        let flow = study.flow(variant, "letters");
        let stats = flow.protocol.expect("protocols run the flow");
        let retries = stats.facts[models::probe::ProtocolFact::Retried as usize];
        let (goodput, share) = (flow.goodput_gbps.value, retries as f64 / stats.requests as f64);
        let outcome = &study.of(variant).run.outcome;
        let (_, host) = outcome.agents.last().expect("the receiver");
        let depth = host.rx_depth_ps as f64 / outcome.end.0 as f64;
        println!("{variant}: {goodput:.3} Gb/s, {share:.3} RETRY, queue {depth:.2}");
        (goodput, share, depth)
    };
    // One sender repeats each of its four messages as soon as the RETRY is there; two fill the link.
    let (alone, filled) = (1.0 - (one_way(268) + one_way(8)) / 4e6, 1.0 - 276.0 * 400.0 / 1e6);
    for (variant, places, law) in [
        ("senders-1", 4.0, alone),
        ("senders-2", 4.0, filled),
        ("senders-4", 4.0, filled),
        ("senders-7", 4.0, filled),
        // a longer queue is as full, and as many are refused
        ("places-8", 8.0, filled),
        ("places-32", 32.0, filled),
    ] {
        let (goodput, share, depth) = of(variant);
        near(variant, goodput, full, 0.01 * full);
        near(variant, share, law, 0.01 * law);
        assert!(depth > 0.97 * places && depth < places, "{variant}: {depth} in the queue");
    }
    assert!(of("places-1").0 < 0.99 * full, "one place is none while it is being served");
    let (goodput, share, _) = of("delay-1");
    near("delay-1", goodput, full, 0.01 * full);
    near("delay-1", share, filled, 0.01 * filled);
    // who was refused together comes back together
    let (goodput, share, _) = of("delay-10");
    assert!(goodput < 0.7 * full && share > 0.75, "{goodput} Gb/s, {share}");
    assert!(of("delay-30").0 < 0.5 * full, "the host runs idle");
    assert!(of("answered-4").1 > 0.5 && of("answered-16").1 > 0.1);
    assert_eq!(of("answered-32").1, 0.0, "the storm is over");
}

#[test]
fn stream_segmentation() {
    let study = Study::run("stream-segmentation");
    for (variant, mtu, size) in [
        ("mtu256-64", 256, 64),
        ("mtu256-256", 256, 256),
        ("mtu256-257", 256, 257),
        ("mtu256-1500", 256, 1_500),
        ("mtu256-4096", 256, 4_096),
        ("mtu256-65535", 256, 65_535),
        ("mtu128-1500", 128, 1_500),
        ("mtu64-1500", 64, 1_500),
        ("mtu32-1500", 32, 1_500u64),
    ] {
        // Part 10 and Part 6 by hand: header, data padded to 2, one CRC or two, padding to 4, delimiter.
        let segments = size.div_ceil(mtu);
        let chars: u64 = (0..segments)
            .map(|n| {
                let header = if n == 0 || n + 1 == segments { 8 } else { 6 };
                let body = header + (size - n * mtu).min(mtu).next_multiple_of(2);
                let crcs = if body > 80 { 4 } else { 2 };
                (body + crcs).next_multiple_of(4) + 8
            })
            .sum();
        let flow = study.flow(variant, "pdus");
        let stats = flow.protocol.expect("protocols run the flow");
        let count = stats.sent;
        assert_eq!((stats.completed, stats.delivered, stats.facts), (count, count, [0; FACTS]), "{variant}");
        assert_eq!((stats.requests, stats.responses), (count * segments, 0), "{variant}");
        assert_eq!((stats.link_octets, stats.payload), (count * chars, count * size), "{variant}");
        // The link was full for a millisecond, and what began by then came to its end.
        let pdu_ps = chars * 400;
        assert_eq!(study.stats(variant, "ep/0", 0).packet_ps, count * pdu_ps, "{variant}");
        assert!(count * pdu_ps >= 1_000_000_000, "{variant}: {count} PDUs");
        // two are under way, one waits for the link, and one is on it
        assert!((count - 4) * pdu_ps < 1_000_000_000, "{variant}: {count} PDUs");
        let goodput = flow.goodput_gbps.value;
        let law = 20.0 * size as f64 / chars as f64;
        println!("{variant}: {goodput:.4} Gb/s, {law:.4} by the law");
        // the way through the switch, and the time bin of the last PDU
        near(variant, goodput, law, 0.005 * law);
    }
}

/// What nobody compares any more does not stay in `results/reference`.
#[test]
fn every_reference_is_of_something_that_is_drawn() {
    let studies = shipped();
    let of_study = |name: &str| {
        let figure = FIGURES.iter().any(|(study, figure)| name == format!("{study}-{figure}.svg"));
        let chart = |(study, variant): &(&str, &str)| {
            [".svg", ".txt"].iter().any(|end| name == format!("{study}-{variant}{end}"))
        };
        figure || CHARTS.iter().any(chart) || studies.iter().any(|study| name == format!("{study}.json"))
    };
    for entry in fs::read_dir(root().join("results/reference")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Charts of the annex have the names of their variants, sweeps a test of their own.
        let elsewhere =
            name == "README.md" || name.starts_with("session-figure") || name.starts_with("sweep-");
        assert!(elsewhere || of_study(&name), "results/reference/{name} is compared with nothing");
    }
}

/// All scenario files, without extension, below `scenarios/`.
fn shipped() -> Vec<String> {
    let mut names = Vec::new();
    for folder in ["", "perf/"] {
        for entry in fs::read_dir(root().join("scenarios").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                names.push(format!("{folder}{}", path.file_stem().unwrap().to_string_lossy()));
            }
        }
    }
    names.sort();
    assert!(names.len() >= 15, "{names:?}");
    names
}

/// No result depends on the event list, on how the pipeline becomes events, on samples, or on how the fabric
/// is cut: two by two, because what two of them change does not go away between them.
#[test]
fn equal_however_it_is_computed() {
    let (mut different, mut parted) = (Vec::new(), 0);
    for name in shipped() {
        let mut plan = plan(&name);
        // The largest storm takes minutes, and shows nothing that smaller ones do not.
        plan.variants.retain(|variant| variant.config.devices.len() < 500);
        for variant in &mut plan.variants {
            // about as many packets in each
            let links = variant.config.links.len() as u64;
            let until = (variant.until.0 / 8).min(1_000_000_000 / links.max(1));
            variant.until = Time(until.max(8_000_000));
            let first = simulate(variant, RunOptions::default());
            let summary = |run| Summary::new(&name, &[report(variant, run)]).to_json();
            let hashes = |outcome: &Outcome| (outcome.outcome, outcome.trajectory);
            let (base, expected) = (hashes(&first.1), summary(first));
            let mut compare = |how: &str, run: (Collector, Outcome)| {
                let case = format!("{name}: {}: {how}", variant.name);
                if hashes(&run.1) != base {
                    different.push(case);
                } else if summary(run) != expected {
                    different.push(case + ": only the summaries");
                }
            };
            let (list, pipeline) = (ListKind::Heap, PipelineMode::Unfolded);
            let other = RunOptions { list, pipeline, ..RunOptions::default() };
            compare("heap and unfolded", simulate(variant, other));
            let mut sampled = variant.clone();
            let config = Arc::make_mut(&mut sampled.config);
            config.sample_every = match config.sample_every {
                None => Some(Duration(variant.until.0 / 20)),
                Some(_) => None,
            };
            match Partition::by_lot(&sampled.config, 4, 7) {
                Ok(cut) => {
                    compare("in parts, and samples", in_parts(&sampled, &cut));
                    parted += 1;
                }
                Err(_) => compare("samples", simulate(&sampled, RunOptions::default())),
            }
        }
    }
    assert!(different.is_empty(), "these differ from the plain run: {different:#?}");
    assert!(parted > 0, "no variant was cut");
}

/// No result depends on how many variants are simulated at the same time: one study of each family that has
/// several, of those that still say something when they end early.
#[test]
fn equal_with_any_number_of_jobs() {
    let home = tempfile::tempdir().unwrap();
    let until = "50 us";
    let mut several: Vec<String> = shipped()
        .into_iter()
        .filter(|name| {
            let plan = plan(name);
            // Larger ones take longer to be built than to be run, and show nothing that these do not.
            let small = plan.variants.iter().all(|variant| variant.config.devices.len() < 300);
            // What begins late has not begun by then, and what would be done after the end is refused.
            let late = |source: &SourceConfig| source.start.0 >= 50_000_000;
            let late = plan.variants.iter().any(|variant| variant.config.sources.iter().any(late));
            let (file, text) = read(name);
            let cut = ("/run/until".to_owned(), until.into());
            let short = !late && scenarios::load(&text, &file.to_string_lossy(), &[cut]).is_ok();
            plan.variants.len() > 1 && small && short
        })
        .collect();
    several.dedup_by(|later, name| later.split('-').next() == name.split('-').next());
    assert!(several.len() > 7, "{}", several.len());
    several.par_iter().for_each(|name| {
        let mut found = Vec::new();
        for jobs in ["1", "2"] {
            let out = home.path().join(name).join(jobs);
            let output = Command::new(env!("CARGO_BIN_EXE_riosim"))
                .arg(read(name).0)
                .args([
                    "--until",
                    until,
                    "--warmup",
                    "0 ps",
                    "--json",
                    "--no-figures",
                    "--jobs",
                    jobs,
                    "--out",
                ])
                .arg(&out)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            found.push((output.stdout, fs::read(out.join("fingerprints.txt")).unwrap()));
        }
        assert!(found[0] == found[1], "{name} depends on the number of jobs");
    });
}

/// What the nodes of the (only) flow of conduits of a variant have come to.
fn conduits<'a>(study: &'a Study, variant: &str) -> &'a SessionTotals {
    study
        .of(variant)
        .run
        .outcome
        .totals
        .one::<SessionTotals>()
        .unwrap_or_else(|| panic!("{variant}: one flow"))
}

/// (conduits, duplicates, half-open records, orphans, leaked streams).
fn audit(totals: &SessionTotals) -> [u64; 5] {
    [totals.pairs, totals.duplicates, totals.half_open, totals.orphans, totals.leaked]
}

/// Proves: SMP-3.4.2-1, SMP-3.4.2-2
#[test]
fn conduit_race_peers() {
    let study = Study::run("conduit-race-peers");
    for variant in ["literal-crossing", "literal-half"] {
        let totals = conduits(&study, variant);
        assert_eq!((totals.records, totals.all_open), (200, None), "{variant}");
        // One OPEN and one stream for each node and round trip, until there are 100 records at each. What
        // would make one more is dropped; each OPEN of before is answered.
        assert_eq!(totals.stats.opens - totals.stats.accepts, 0, "{variant}");
        assert!(totals.leaked > 190 && totals.orphans > 190, "{variant}: {totals:?}");
        let rate = totals.stats.limited_at.expect("it was stopped") as f64 / 200.0;
        near(variant, rate / 1e6, 1.0, 0.02);
    }
    // One way takes 1 us: what P wants later than that finds M's OPEN there.
    let one_way = 984_000.0;
    let others =
        ["literal-after", "minimal-crossing", "corrected-crossing", "corrected-half", "corrected-after"];
    for (variant, ways) in others.into_iter().zip([3.0, 2.0, 2.0, 2.5, 3.0]) {
        let totals = conduits(&study, variant);
        assert_eq!(audit(totals), [1, 0, 0, 0, 0], "{variant}");
        assert_eq!((totals.stats.opens, totals.stats.accepts), (2, 2), "{variant}");
        let open = totals.all_open.expect("it is open").0 as f64;
        near(variant, open / one_way, ways, 0.1);
    }
}

#[test]
fn conduit_storm() {
    let study = Study::run("conduit-storm");
    for (variant, nodes) in [
        ("corrected-32", 32),
        ("corrected-64", 64),
        ("corrected-128", 128),
        ("corrected-512", 512),
        ("minimal-32", 32),
    ] {
        let totals = conduits(&study, variant);
        let pairs = nodes * (nodes - 1) / 2;
        assert_eq!(totals.expected, pairs);
        assert_eq!(audit(totals), [pairs, 0, 0, 0, 0], "{variant}");
        assert_eq!((totals.stats.opens, totals.stats.accepts), (2 * pairs, 2 * pairs), "{variant}");
        assert_eq!((totals.stats.retransmissions, totals.stats.allocated), (0, 2 * pairs), "{variant}");
        // Each host takes 2 (N - 1) messages in, 500 ns each; the first comes within a few microseconds.
        let hosts = 2.0 * (nodes - 1) as f64 * 0.5;
        let open = totals.all_open.expect("all are open").0 as f64 / 1e6;
        println!("{variant}: all open at {open:.1} us, the hosts work for {hosts:.1} us");
        assert!(open > hosts && open < hosts + 2.5, "{variant}: {open} us");
    }
    for (variant, nodes) in [("literal-32", 32), ("literal-64", 64)] {
        let totals = conduits(&study, variant);
        let pairs: u64 = nodes * (nodes - 1) / 2;
        assert!(totals.leaked > pairs && totals.orphans > pairs, "{variant}: {totals:?}");
        assert!(totals.stats.limited > 0 && totals.all_open.is_none(), "{variant}");
        assert!(totals.records <= 4 * 2 * pairs, "{variant}");
    }
    // Data arrive over either: what was opened on the way carries them.
    for variant in ["corrected-32-data", "literal-32-data"] {
        let stats = &conduits(&study, variant).stats;
        assert_eq!((stats.pdus_sent, stats.pdus_delivered, stats.pdus_lost), (3_200, 3_200, 0), "{variant}");
    }
}

/// What leaked streams cost, and when there is none left: a StreamID, a record, an OPEN and an ACCEPT for
/// each node and round trip.
#[test]
fn conduit_leak() {
    let study = Study::run("conduit-leak");
    let pair = conduits(&study, "corrected-pair");
    // Both OPENs, then both ACCEPTs: a round trip.
    let round_trip = pair.all_open.expect("it is open").0;
    let literal = conduits(&study, "literal-pair");
    for count in &literal.census {
        let law = (2 * count.at.0 / round_trip).min(1_000);
        assert!(count.allocated.abs_diff(law) <= 2, "{count:?}: {law} StreamIDs");
        assert!(count.allocated.abs_diff(count.records) <= 2, "{count:?}");
        assert!(count.allocated.abs_diff(count.leaked) <= 4, "{count:?}");
        // Of the OPENs two are not answered yet, or refused in the end.
        let unanswered = count.octets - 52 * count.allocated;
        assert!(unanswered <= 2 * 52, "{count:?}");
    }
    assert_eq!((literal.most_from_one, literal.stats.refuses), ((500, 500), 2));
    for (variant, nodes) in [("corrected-pair", 2), ("corrected-32", 32)] {
        let (totals, pairs) = (conduits(&study, variant), nodes * (nodes - 1) / 2);
        let last = totals.census.last().expect("there was a census");
        assert_eq!(audit(totals), [pairs, 0, 0, 0, 0], "{variant}");
        let counted = [last.conduits, last.records, last.streams, last.leaked, last.octets];
        assert_eq!(counted, [pairs, 2 * pairs, 2 * pairs, 0, 2 * 52 * pairs], "{variant}");
        assert_eq!(totals.most_from_one.0, 1);
    }
    let storm = conduits(&study, "literal-32");
    // Every node has given every other all that it has for it, and refuses what comes then.
    assert_eq!((storm.stats.allocated, storm.most_from_one), (32 * 31 * 20, (20, 20)));
    assert_eq!((storm.stats.refuses, storm.stats.opens), (32 * 31, 32 * 31 * 21));
    for report in &study.reports {
        let stats = &conduits(&study, &report.run.name).stats;
        assert_eq!((stats.pdus_delivered, stats.pdus_lost), (stats.pdus_sent, 0), "{}", report.run.name);
    }
}

/// Proves: SMP-3.5.3.4-1, SMP-3.5.3.5-2, SMP-3.7.1-1, SMP-3.7.1-7, SMP-3.7.1-10, SMP-4.2.7-4
#[test]
fn session_message_loss() {
    let study = Study::run("session-message-loss");
    let sound = [1, 0, 0, 0, 0];
    let leak = [1, 0, 0, 0, 1];
    for (accident, literal, minimal) in [
        ("open-lost", Some(sound), Some(sound)),
        ("accept-lost", None, Some(leak)),
        ("return-open-lost", Some(sound), Some(sound)),
        ("return-accept-lost", Some(leak), Some(leak)),
        ("open-twice", None, None),
        ("accept-overtaken", None, Some(sound)),
    ] {
        for (algorithm, end) in [("literal", literal), ("minimal", minimal), ("corrected", Some(sound))] {
            let variant = format!("{algorithm}-{accident}");
            let totals = conduits(&study, &variant);
            match end {
                Some(end) => assert_eq!(audit(totals), end, "{variant}"),
                None => assert!(totals.stats.limited > 0 && totals.leaked > 20, "{variant}: {totals:?}"),
            }
            // A retry period of 250 ms by a clock that runs 1000 times as fast.
            let lost = accident.ends_with("lost");
            if let Some(open) = totals.all_open.filter(|_| end.is_some()) {
                let expected = if lost { 250.0..255.0 } else { 2.0..4.0 };
                assert!(expected.contains(&(open.0 as f64 / 1e6)), "{variant}: {open:?}");
            }
            assert_eq!(totals.stats.injected.iter().sum::<u64>(), 1, "{variant}");
        }
    }
    assert_eq!(audit(conduits(&study, "corrected-restart")), sound);
    assert_eq!(conduits(&study, "corrected-restart").stats.restarts, 1);
    let mute = conduits(&study, "corrected-mute");
    assert_eq!((mute.records, mute.leaked, mute.stats.opens, mute.stats.suspects), (0, 0, 4, 1));
    let closed = conduits(&study, "corrected-close-lost");
    assert_eq!((closed.records, closed.leaked, closed.stats.retransmissions), (0, 0, 1));
}

/// Proves: SMP-3.5.3.6-1, SMP-3.7.1-5, SMP-4.2.6-6, SMP-4.2.6-8
#[test]
fn session_xoff() {
    let study = Study::run("session-xoff");
    let stats = |variant: &str| &conduits(&study, variant).stats;
    for report in &study.reports {
        let stats = stats(&report.run.name);
        assert_eq!((stats.pdus_sent, stats.pdus_delivered, stats.pdus_lost), (400, 400, 0));
        // 400 PDUs at 4 us each.
        assert!(report.run.outcome.in_flight == 0);
    }
    let free = stats("no-xoff");
    // One PDU every 2 us, one taken every 4 us: half of them wait when the last one comes.
    assert_eq!((free.xoffs, free.consumer_high_water), (0, 200));
    for variant in ["xoff", "xoff-over-streams", "xon-lost", "xon-lost-rts"] {
        let stats = stats(variant);
        println!("{variant}: {} XOFF, at most {} PDUs", stats.xoffs, stats.consumer_high_water);
        assert!(stats.consumer_high_water <= 12, "{variant}: {}", stats.consumer_high_water);
    }
    assert_eq!(stats("xon-lost").resumed[1], 1, "the source went on when XOFF was not repeated");
    assert_eq!(stats("xon-lost-rts").resumed[1], 0, "RTS was answered by XON");
    // A lost XOFF is repeated after 50 us: what comes in the meantime.
    let late = stats("xoff-lost").consumer_high_water;
    assert!((12..=40).contains(&late), "{late}");
}

/// Who visits a node makes 21 accesses of one length there: five to find the block, four until it has the
/// lock, ten while it has it, two to give it back. Of two processors one does it at each node, and half of
/// the nodes each, since who finds the lock with the other goes on.
///
/// Proves: SMP-3.2-3, SMP-3.2-4, SMP-3.2-5
#[test]
fn session_registers() {
    let study = Study::run("session-registers");
    let stats = |variant: &str| -> Vec<&InitialiseTotals> {
        let totals = conduits(&study, variant);
        assert_eq!(audit(totals), [16, 0, 0, 0, 0], "{variant}");
        assert_eq!(totals.stats.failed_opens, 0, "{variant}");
        study.of(variant).run.outcome.totals.of().collect()
    };
    assert!(stats("itself").is_empty());
    let [one] = stats("one")[..] else { panic!("one flow") };
    assert_eq!((one.stats.done, one.stats.reads, one.stats.writes), (17, 17 * 11, 17 * 10));
    let holds = &one.stats.holds;
    let access = (holds[0].until.unwrap().0 - holds[0].from.0) / 10;
    for (n, hold) in (0..).zip(holds) {
        let from = holds[0].from.0 + 21 * n * access;
        assert_eq!((hold.from.0, hold.until.map(|until| until.0)), (from, Some(from + 10 * access)));
    }
    assert_eq!(one.stats.last.unwrap().0, holds[0].from.0 + (16 * 21 + 12) * access);
    for variant in ["together", "opposite"] {
        let [down, up] = stats(variant)[..] else { panic!("two flows") };
        assert_eq!([down.stats.done, down.stats.past, up.stats.done, up.stats.past], [9, 8, 8, 9]);
        let both = || down.stats.holds.iter().chain(&up.stats.holds);
        let nodes: BTreeSet<u16> = both().map(|hold| hold.node).collect();
        assert_eq!((nodes.len(), both().count(), down.left + up.left), (17, 17, 0), "{variant}");
        // Half of the nodes, half of the time: nine visits, and what is lost where they meet.
        let last = both().filter_map(|hold| hold.until).max().unwrap().0;
        let time = (last - both().map(|hold| hold.from.0).min().unwrap()) / access;
        println!("{variant}: {time} accesses until the last lock is given back");
        assert!((8 * 21 + 10..12 * 21).contains(&time), "{variant}: {time}");
    }
    let locked = |variant| stats(variant).iter().map(|totals| totals.stats.locked).sum::<u64>();
    assert!(locked("together") > 8 && locked("opposite") <= 1);
}

/// U = 1 440 frames to one node, of which F go to everybody, and B = 160 broadcasts: sources and server send
/// U - F + 15 (B + F), and with a server one more for each that it repeats; where switches copy, U + B. Each
/// is where it has to be, and a frame for a host that is not known is discarded by 14 nodes.
///
/// Proves: SMP-7.3.2-2, SMP-7.3.3-2
#[test]
fn ethernet_bridge() {
    let study = Study::run("ethernet-bridge");
    let stats = |variant: &str| {
        let totals = conduits(&study, variant);
        let stats = &totals.stats;
        assert_eq!(audit(totals), [120, 0, 0, 0, 0], "{variant}");
        assert_eq!((stats.pdus_sent, stats.broadcasts, stats.pdus_lost), (1_600, 160, 0), "{variant}");
        assert_eq!((stats.pdus_delivered, stats.broadcasts_delivered), (3_840, 2_400), "{variant}");
        assert_eq!(stats.foreign, 14 * stats.flooded, "{variant}");
        assert!(stats.flooded > 0, "{variant}");
        stats
    };
    let [copies, server, multicast] = ["copies", "server", "multicast"].map(stats);
    let law = |flooded: u64| 1_440 - flooded + 15 * (160 + flooded);
    assert_eq!((copies.data_messages, copies.repeated), (law(copies.flooded), 0));
    assert_eq!(server.data_messages, law(server.flooded) + server.repeated);
    // Ten of the broadcasts are those of the server.
    assert!(server.repeated >= 150 && server.returned == server.repeated);
    assert_eq!((multicast.data_messages, multicast.repeated), (1_600, 0));
    assert_eq!(copies.octets_delivered, server.octets_delivered);
    assert_eq!(copies.octets_delivered, multicast.octets_delivered);
}

/// Proves: SMP-7.3.2-2
#[test]
fn ethernet_broadcast() {
    let study = Study::run("ethernet-broadcast");
    for (variant, broadcasts) in [("unicast", 0), ("broadcast", 160), ("broadcast-type-9", 160)] {
        let totals = conduits(&study, variant);
        let stats = &totals.stats;
        assert_eq!(audit(totals), [120, 0, 0, 0, 0], "{variant}");
        assert_eq!((stats.pdus_sent, stats.broadcasts, stats.pdus_lost), (1_600, broadcasts, 0), "{variant}");
        // Every broadcast is a copy to each of 15 peers.
        assert_eq!(stats.broadcasts_delivered, 15 * broadcasts, "{variant}");
        assert_eq!(stats.pdus_delivered, 1_600 + 14 * broadcasts, "{variant}");
    }
}

/// One frame on the link of its source for each broadcast instead of 15, and between the switches one instead
/// of 8.
///
/// Proves: SMP-7.3.2-1
#[test]
fn ethernet_multicast() {
    let study = Study::run("ethernet-multicast");
    let said = |variant: &str| {
        let totals = conduits(&study, variant);
        let stats = &totals.stats;
        assert_eq!((totals.pairs, totals.leaked, stats.pdus_lost), (120, 0, 0), "{variant}");
        let broadcasts = if variant.starts_with("all") { 1_600 } else { 160 };
        assert_eq!((stats.pdus_sent, stats.broadcasts), (1_600, broadcasts), "{variant}");
        assert_eq!(stats.broadcasts_delivered, 15 * broadcasts, "{variant}");
        assert_eq!(stats.pdus_delivered, 1_600 + 14 * broadcasts, "{variant}");
        (stats.data_messages, stats.octets_delivered)
    };
    // Frames that leave their sources: each broadcast 15 times, or once.
    assert_eq!(said("copies").0, 1_600 + 14 * 160);
    assert_eq!(said("multicast").0, 1_600);
    assert_eq!(said("all-copies").0, 15 * 1_600);
    assert_eq!(said("all-multicast").0, 1_600);
    assert_eq!(said("copies").1, said("multicast").1, "the same frames arrive");
    // Where all frames are broadcasts an endpoint sends its s segments once, or to each of 15 peers, and then
    // answers those of the others; beside them 30 OPENs and ACCEPTs.
    let packets = |variant: &str, device: &str, port: u8| study.stats(variant, device, port).packets_sent;
    let endpoints: Vec<String> = (0..16).map(|n| format!("ep/{n:02}")).collect();
    let own: Vec<u64> = endpoints.iter().map(|ep| packets("all-multicast", ep, 0) - 30).collect();
    let all: u64 = own.iter().sum();
    for (endpoint, segments) in endpoints.iter().zip(&own) {
        let copies = packets("all-copies", endpoint, 0);
        assert_eq!(copies, 15 * segments + (all - segments) + 30, "{endpoint}");
    }
    // Between the switches, with 64 OPENs and 64 ACCEPTs: once, or to each of eight, with as many answers.
    let here: u64 = own[..8].iter().sum();
    assert_eq!(packets("all-multicast", "sw/0", 9), here + 128);
    assert_eq!(packets("all-copies", "sw/0", 9), 8 * here + 8 * (all - here) + 128);
}

/// What the nodes say to each other in a run that is charted: whether the source says it, and what.
fn said(study: &Study) -> Vec<(bool, String)> {
    let report = &study.reports[0];
    let device = |name: &str| report.run.config.devices.iter().position(|device| device.path == name);
    let source = device("source").expect("a node is called so") as u32;
    let mut sent: Vec<(Time, bool, String)> = report
        .run
        .collector
        .signals()
        .iter()
        .filter_map(|signal| match &signal.kind {
            SignalKind::Sent { words, .. } => Some((signal.at, signal.device == source, words.clone())),
            _ => None,
        })
        .collect();
    sent.sort_by_key(|(at, ..)| *at);
    sent.into_iter().map(|(_, from, words)| (from, words)).collect()
}

/// The charts of the figures of the annex: who says what, in which order.
///
/// Proves: SMP-3.6.1-1, SMP-3.6.5-1, SMP-4.2.6-6
#[test]
fn session_figures() {
    const TO: bool = true;
    const BACK: bool = false;
    let expected: [&[(bool, &str)]; 5] = [
        &[
            (TO, "REQUEST"),
            (BACK, "ADVERTISE"),
            (TO, "OPEN 0"),
            (BACK, "ACCEPT 0 0x0000"),
            (TO, "DATA 0x0000"),
            (TO, "DATA 0x0000"),
            (TO, "DATA 0x0000"),
        ],
        &[(TO, "OPEN 0"), (BACK, "REFUSE 0")],
        &[
            (TO, "OPEN 0"),
            (BACK, "ACCEPT 0 0x0000"),
            (TO, "DATA 0x0000"),
            (TO, "DATA 0x0000"),
            (TO, "CLOSE 0x0000"),
            (BACK, "STATUS 0x0000 Closed"),
        ],
        &[
            (TO, "OPEN 0"),
            (BACK, "ACCEPT 0 0x0000"),
            (TO, "STATUS 0x0000 query"),
            (BACK, "STATUS 0x0000 Functional"),
            (TO, "STATUS 0x0123 query"),
            (BACK, "STATUS 0x0123 Stream Unknown"),
            (TO, "command 0x55"),
            (BACK, "STATUS F Command Unknown"),
            (TO, "malformed STATUS"),
        ],
        &[
            (TO, "OPEN 0"),
            (BACK, "ACCEPT 0 0x0000"),
            (TO, "DATA 0x0000"),
            (TO, "DATA 0x0000"),
            (TO, "DATA 0x0000"),
            (BACK, "XOFF 0x0000"),
            (TO, "RTS 0x0000"),
            (BACK, "XON 0x0000"),
            (TO, "DATA 0x0000"),
        ],
    ];
    for (figure, expected) in (1..).zip(expected) {
        let study = Study::run(&format!("session-figure-3-{figure}"));
        let said = said(&study);
        let said: Vec<(bool, &str)> = said.iter().map(|(from, words)| (*from, words.as_str())).collect();
        println!("3-{figure}: {said:?}");
        assert!(said.starts_with(expected), "figure 3-{figure}: {said:?}");
        let totals = study.reports[0].run.outcome.totals.one::<SessionTotals>().expect("one flow");
        assert_eq!((totals.leaked, totals.stats.suspects > 0), (0, figure == 4), "figure 3-{figure}");
        // Each end of the first one reads 5 words of features and headers, 3 of the block, 6 of attributes.
        assert_eq!(totals.stats.register_reads, if figure == 1 { 28 } else { 0 });
    }
}

/// What the nodes of the (only) flow of LINX of a variant have come to.
fn connections<'a>(study: &'a Study, variant: &str) -> &'a LinxTotals {
    study.of(variant).run.outcome.totals.one::<LinxTotals>().unwrap_or_else(|| panic!("{variant}: one flow"))
}

/// All connections are up, and no message was lost, repeated or changed unseen.
fn whole(study: &Study) {
    for report in &study.reports {
        let name = &report.run.name;
        let totals = connections(study, name);
        let stats = &totals.stats;
        if name != "starved" {
            assert_eq!((totals.up, totals.half_up), (totals.wanted, 0), "{name}");
        }
        let unseen = [stats.missing, stats.repeated, stats.unannounced, stats.corrupt];
        assert_eq!(unseen, [0; 4], "{name}");
        let sent = stats.messages - stats.refused;
        assert_eq!(sent, stats.delivered + totals.lost + totals.unseen + totals.under_way, "{name}");
    }
}

/// Proves: RIOCM-10.1.1-12, RIOCM-10.1.1-13, RIOCM-10.1.3-2
#[test]
fn linx_crossing_connect() {
    let study = Study::run("linx-crossing-connect");
    whole(&study);
    // One way: a REQ of 16 octets; an ACK has two more, and padding.
    let one_way = 992_000.0;
    for (variant, ways, offset) in [
        ("crossing", 2.0, 0.0),
        ("over-streams", 2.0, 0.0),
        ("crossing-half", 2.0, 0.5),
        ("lone-initiator", 4.0, 1.2),
    ] {
        let totals = connections(&study, variant);
        let up = totals.all_up.expect("all are up").0 as f64;
        near(variant, (up - offset * 1e6) / one_way, ways, 0.02);
        // 1 REQ and 2 ACK a side; a lone initiator takes 4 ACK, and the other's REQ found nobody.
        assert_eq!(totals.stats.frames.sent_management, 6, "{variant}");
        assert_eq!((totals.stats.connected, totals.stats.ended), (2, [0; 7]), "{variant}");
    }
    // The larger period wins: heartbeats each second of the protocol clock, after the one that opens.
    let different = connections(&study, "different");
    near("period", different.stats.heartbeat_gaps.max as f64 / 1e12, 1.0, 0.02);
    // Nothing comes up before a REQ is repeated after 20 us.
    let lossy = connections(&study, "lossy");
    let up = lossy.all_up.expect("it comes up").0;
    assert!(lossy.stats.muted > 0 && up >= 20_000_000, "{up} ps");
    let lost = connections(&study, "loss-of-peer");
    assert_eq!(lost.stats.ended[LinxEnd::Timeout as usize], 1);
    // Up after two ways, a heartbeat each 10 us from then on; three periods after the last one came. Y went
    // down at 60 us.
    let expected = 3.0 * one_way / 1e6 + 50.0 + 30.0 - 60.0;
    near("detection", lost.stats.detected.max as f64 / 1e6, expected, 0.02);
}

#[test]
fn linx_reboot_storm() {
    let study = Study::run("linx-reboot-storm");
    whole(&study);
    for report in &study.reports {
        let name = &report.run.name;
        let totals = connections(&study, name);
        let stats = &totals.stats;
        assert_eq!((totals.wanted, stats.false_timeouts), (496, 0), "{name}");
        if name == "lost" {
            // A REQ that comes again because its answer was lost ends a connection that is in use already.
            assert!((1..496).contains(&stats.flaps), "{} flaps", stats.flaps);
            continue;
        }
        assert_eq!(stats.flaps, 0, "{name}");
        // 16 nodes with 31 connections each; 16 more know of each of them.
        assert_eq!(stats.ended[LinxEnd::Crash as usize], 16 * 31, "{name}");
        let end = if name == "quick" { LinxEnd::PeerRestart } else { LinxEnd::Timeout };
        assert_eq!(stats.ended[end as usize], 16 * 16, "{name}");
        // 376 connections with a node that was down, both ends.
        assert_eq!((stats.connected, stats.reestablished.count), (2 * 496 + 752, 752), "{name}");
        if name == "quick" {
            // The nodes are back after a millisecond.
            assert!(stats.detected.min > 1_000_000_000 && stats.detected.max < 1_050_000_000, "{name}");
            continue;
        }
        // T is 5 ms: two to three periods, ticks one to three; a host may have a queue.
        let least = if name == "linux" { 5_000_000_000 } else { 10_000_000_000 };
        let found = (stats.detected.min, stats.detected.max);
        assert!(found.0 >= least && found.1 < 15_050_000_000, "{name}: {found:?}");
    }
    let mean = |variant: &str| {
        let times = connections(&study, variant).stats.reestablished;
        times.sum as f64 / times.count as f64 / 1e6
    };
    // Three or four frames for each of up to 31 peers, and a service time of 500 ns or 20 us.
    assert!(mean("long") < 31.0 * 4.0 * 0.5 && mean("slow") > 10.0 * mean("long"), "{}", mean("slow"));
    // A lost frame costs a REQ period of 2 ms.
    assert!(mean("lost") > 5.0 * mean("long") && mean("lost") < 2_000.0, "{}", mean("lost"));
}

/// Proves: RIOCM-10.1-2
#[test]
fn linx_reorder() {
    let study = Study::run("linx-reorder");
    whole(&study);
    let stats = |variant: &str| &connections(&study, variant).stats;
    for variant in ["in-order", "reordered", "over-messages"] {
        let stats = stats(variant);
        assert_eq!((stats.messages, stats.delivered, stats.connected), (8_000, 8_000, 4), "{variant}");
        assert_eq!(stats.frames.held > 0, variant != "in-order", "{variant}: {} held", stats.frames.held);
        assert!(stats.frames.held_max < 64, "{variant}");
    }
    let narrow = connections(&study, "window-16");
    assert!(narrow.stats.ended[LinxEnd::Local as usize] > 0 && narrow.lost > 0, "{narrow:?}");
    assert!(narrow.stats.frames.held_max < 16);
    let overloaded = connections(&study, "overloaded");
    assert!(overloaded.stats.ended[LinxEnd::Local as usize] > 0 && overloaded.stats.refused > 0);
    let crashes = connections(&study, "crashes");
    assert_eq!(crashes.stats.ended[LinxEnd::Crash as usize], 10);
    assert!(crashes.lost > 0 && crashes.lost < 20 * 20, "{} lost in ten crashes", crashes.lost);
}

/// Proves: RIOCM-10.1.2-10
#[test]
fn linx_fragmentation() {
    let study = Study::run("linx-fragmentation");
    whole(&study);
    let octets = 16_000_u64;
    for report in &study.reports {
        let name = &report.run.name;
        let mtu: u64 =
            name.rsplit('-').next().and_then(|mtu| mtu.parse().ok()).expect("the name ends with the MTU");
        let stats = &connections(&study, name).stats;
        assert_eq!((stats.messages, stats.delivered), (100, 100), "{name}");
        let simple = 1 + (octets - (mtu - 28)).div_ceil(mtu - 16);
        // A chunk each MTU, and the holes: 32 and 16 octets, so many to a PATCH as fit whole.
        let chunks = octets.div_ceil(mtu);
        let holes = 32 + 16 * (chunks - 1);
        let (frames, moved) = if name.contains("patch") {
            (chunks + holes.div_ceil(mtu - 16), holes)
        } else {
            (simple, octets)
        };
        assert_eq!(stats.frames.sent_data, 100 * frames, "{name}");
        assert_eq!(stats.moved, 100 * moved, "{name}");
    }
    for mtu in ["256", "1024", "4096"] {
        let time = |how: &str| connections(&study, &format!("{how}-{mtu}")).stats.message_ps[99] as f64;
        // A frame more: less than one part in a hundred of the time.
        let cost = time("patch") / time("simple");
        println!("{mtu}: patch fragmentation takes {cost:.4} of the time");
        assert!((1.0..1.01).contains(&cost), "{mtu}: {cost}");
    }
}

#[test]
fn linx_timeouts() {
    let study = Study::run("linx-timeouts");
    whole(&study);
    let stalls = 16.0 * 120.0;
    let share = |variant: &str| connections(&study, variant).stats.false_timeouts as f64 / stalls;
    // (B - 2 T) / T, and for ticks 1 - (1 + x)^2 / 2 with x = (2 T - B) / T in between.
    for (variant, expected) in [
        ("stall-below", 0.0),
        ("stall-1100", 0.2),
        ("stall-1250", 0.5),
        ("stall-1400", 0.8),
        ("stall-above", 1.0),
        ("ticks-below", 0.0),
        ("ticks-900", 0.32),
        ("ticks-1000", 0.5),
        ("ticks-1250", 0.875),
        ("ticks-above", 1.0),
    ] {
        let found = share(variant);
        println!("{variant}: {found:.4} of the stalls, {expected} expected");
        // Three standard deviations of as many independent draws.
        let tolerance = 3.0 * (expected * (1.0 - expected) / stalls).sqrt();
        assert!((found - expected).abs() <= tolerance, "{variant}: {found} for {expected}");
    }
    for (variant, p) in [("loss-10", 0.1_f64), ("loss-20", 0.2)] {
        let stats = &connections(&study, variant).stats;
        let time = stats.up_ps as f64 / 1e12;
        let expected = time / (0.5 * (1.0 - p.powi(3)) / (p.powi(3) * (1.0 - p)));
        println!("{variant}: {} timeouts, {expected:.1} expected", stats.false_timeouts);
        assert!((stats.false_timeouts as f64 - expected).abs() < 3.0 * expected.sqrt(), "{variant}");
    }
    // Seven senders, ten bursts: only what goes to the hot node is held up for all of B.
    let bursts = 70.0;
    for (variant, shares) in [
        ("burst-19", 0.0..=0.0),
        ("burst-25", 0.4..=0.9),
        ("burst-32", 1.0..=1.0),
        ("burst-32-above", 0.0..=0.0),
        ("burst-32-longer", 0.0..=0.0),
        ("burst-32-voq", 1.0..=3.0),
        // The heartbeats to others do not wait any more behind those that are held.
        ("burst-32-voq-8", 1.0..=1.0),
        ("starved-above", 0.0..=0.0),
    ] {
        let found = connections(&study, variant).stats.false_timeouts as f64 / bursts;
        println!("{variant}: {found:.3} false timeouts for each sender and burst");
        assert!(shares.contains(&found), "{variant}: {found}");
    }
    let starved = connections(&study, "starved");
    assert!(starved.up == 0 && starved.stats.false_timeouts >= 7, "{starved:?}");
}

/// Type 5 with 8-bit ids and 34-bit addresses: 10 octets, the payload, CRCs, padding; a long start-of-packet.
#[test]
fn link_efficiency() {
    let study = Study::run("link-efficiency");
    for payload in [8u32, 16, 32, 64, 96, 128, 160, 192, 224, 256] {
        let body = 10 + payload;
        let packet = (body + if body > 80 { 4 } else { 2 }).next_multiple_of(4);
        let flow = study.flow(&format!("payload-{payload}"), "writes");
        let law = 20.0 * f64::from(payload) / f64::from(packet + 8);
        // Back to back: the 350 us may cut off one packet. An octet more in each would be ten times that.
        let one = 8.0 * f64::from(payload) / 350_000.0;
        near(&format!("{payload} octets"), flow.goodput_gbps.value, law, one);
    }
}

/// A window of W packets carries W T / (T + S + 2 L) of a link.
#[test]
fn link_distance() {
    let study = Study::run("link-distance");
    let symbol = 3_200.0;
    let law = |window: f64, metres: f64| {
        let cable = 30_000.0 + 5_000.0 * metres;
        (window * T_PS / (T_PS + symbol + 2.0 * cable)).min(1.0)
    };
    let mut limited = 0;
    for buffers in [8u32, 16, 32] {
        for metres in [10u32, 50, 100, 200, 400, 800] {
            let load = study.load(&format!("buffers-{buffers}-{metres}m"), "stream");
            let law = law(f64::from(buffers - 3), metres.into());
            near(&format!("{buffers} buffers, {metres} m"), load, law, 0.01 * law);
            limited += u32::from(law < 1.0);
        }
    }
    for metres in [200u32, 400, 500, 600, 700, 800, 1600] {
        let load = study.load(&format!("ackids-{metres}m"), "stream");
        let law = law(63.0, metres.into());
        near(&format!("63 ackIDs, {metres} m"), load, law, 0.01 * law);
        limited += u32::from(law < 1.0);
        // Once the first window is sent, every acknowledgement lets one packet go: who is next in the switch
        // waits for nothing else.
        let stream = study.flow(&format!("ackids-{metres}m"), "stream");
        let waits = [Cause::NoAckId, Cause::OutputContention].map(|cause| stream.share(cause));
        println!("63 ackIDs, {metres} m: {waits:?}");
        match law < 1.0 {
            true => assert!(waits[0] > 0.1 && waits[1] < 0.01 * waits[0], "{metres} m: {waits:?}"),
            false => assert_eq!(waits[0], 0.0, "{metres} m"),
        }
    }
    let buffers = study.reports.iter().filter(|report| report.run.name.starts_with("buffers"));
    assert!(buffers.into_iter().all(|report| report.flows[0].share(Cause::NoAckId) == 0.0));
    assert!(limited > 8);
}

/// Goodput falls and tails grow with the error rate; nothing is lost, and what is damaged is accounted for.
#[test]
fn link_errors() {
    let study = Study::run("link-errors");
    let rates = ["none", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5"];
    // Where buffers are never short, it does not matter who controls the flow; when what a recovery held back
    // comes at once, they are.
    let refused = |name: &str| study.of(name).run.outcome.links.iter().map(|end| end.2.retries).sum::<u64>();
    for rate in rates {
        let [a, b] = ["transmitter", "receiver"].map(|control| format!("{rate}-{control}"));
        let alike = ["there", "back"].into_iter().all(|flow| {
            let of = |name| &study.flow(name, flow).spread;
            of(&a) == of(&b)
        });
        println!("{rate}: alike {alike}, {} refused", refused(&b));
        assert_eq!((alike, refused(&a)), (refused(&b) == 0, 0));
        assert_eq!(refused(&b) > 0, rate == "1e-5");
    }
    for control in ["transmitter", "receiver"] {
        let mut last = (0, 0.0);
        for rate in rates {
            let name = format!("{rate}-{control}");
            let links = &study.of(&name).run.outcome.links;
            let sum = |what: fn(&LinkStats) -> u64| links.iter().map(|end| what(&end.2)).sum::<u64>();
            let damaged = sum(|end| end.damaged_packets + end.damaged_symbols + end.damaged_idle);
            let tail = study.flow(&name, "there").share(Cause::Recovery);
            println!("{name}: {damaged} damaged, {:.3} % of the time in recovery", 100.0 * tail);
            // 5 ms of 25 Gb/s in each direction
            let expected = rate.parse::<f64>().unwrap_or(0.0) * 2.0 * 5e-3 * 25e9;
            assert!((damaged as f64 - expected).abs() <= 4.0 * expected.sqrt() + 1.0, "{name}: {damaged}");
            assert!(damaged >= last.0 && tail >= last.1);
            assert_eq!(sum(|end| u64::from(end.failed)), 0);
            last = (damaged, tail);
        }
        assert!(last.1 > 0.05);
    }
}

/// One channel is congested at an output: another one keeps what it has without messages, and with those that
/// are linked; messages about all channels take most of it.
///
/// Proves: VOQ-2.4-1, VOQ-2.4-3, VOQ-3.2-4, VOQ-3.2-5
#[test]
fn voq_channels() {
    let study = Study::run("voq-channels");
    let laws = [
        ("off", 1.0 / 2.0, 1.0 / 16.0, 1.0 / 16.0),
        ("unlinked", 1.0 / 5.0, 1.0 / 10.0, 7.0 / 10.0),
        ("linked", 1.0 / 2.0, 1.0 / 16.0, 7.0 / 16.0),
    ];
    for (variant, beside, hot, victim) in laws {
        for (flow, law) in [("beside", beside), ("hot", hot), ("victim", victim)] {
            let load = study.load(variant, flow);
            println!("{variant} {flow}: {load:.4}, law {law:.4}");
            // A window of messages has some ten packets, and may end with one or two more of either.
            near(&format!("{variant}: {flow}"), load, law, if variant == "unlinked" { 0.01 } else { 0.004 });
        }
    }
}

/// Channels of their own keep a victim from an overload, shares divide a trunk, continuous traffic is lost
/// and counted.
#[test]
fn vc_isolation() {
    let study = Study::run("vc-isolation");
    let load = |variant, flow| study.load(variant, flow);
    // Three inputs of far compete for hot. In one channel the trunk moves at that pace, and the victim is one
    // of four inputs there.
    let hot = 1.0 / 3.0;
    near("one-channel: victim", load("one-channel", "victim"), hot / 3.0, 0.01 * hot / 3.0);
    let share = |variant, cause| study.flow(variant, "victim").share(cause);
    assert!(share("one-channel", Cause::NoBuffer) > 0.99);
    for variant in ["one-channel", "two-channels", "errors-rt", "errors-ct", "overload-ct"] {
        near(&format!("{variant}: overload"), load(variant, "overload"), hot / 3.0, 0.01 * hot / 3.0);
        near(&format!("{variant}: local"), load(variant, "local"), hot, 0.01 * hot);
    }
    for variant in ["two-channels", "errors-rt", "overload-ct"] {
        let offered = study.flow(variant, "victim").offered_load;
        near(&format!("{variant}: victim"), load(variant, "victim"), offered, 0.002);
        assert!(share(variant, Cause::NoBuffer) < 0.02, "{variant}");
    }
    // Where the trunk is short each channel gets its share: three sources divide that of the overload.
    for (variant, share) in [("shares-1-1", 1.0 / 2.0), ("shares-3-1", 3.0 / 4.0), ("shares-7-1", 7.0 / 8.0)]
    {
        near(&format!("{variant}: victim"), load(variant, "victim"), share, 0.01 * share);
        let rest = (1.0 - share) / 3.0;
        near(&format!("{variant}: overload"), load(variant, "overload"), rest, 0.01 * rest);
    }
    let total = |variant, what: fn(&LinkStats) -> u64| {
        study.of(variant).run.outcome.links.iter().map(|end| what(&end.2)).sum::<u64>()
    };
    let dropped = |variant, flow| study.flow(variant, flow).dropped;
    // The same errors strike: what is sent again in one is lost in the other.
    let (again, lost) = (total("errors-rt", |end| end.repeated), total("errors-ct", |end| end.lost_on_link));
    println!("{again} packets repeated, {lost} lost");
    assert_eq!(total("errors-rt", |end| end.lost_on_link), 0);
    let flows = |variant| ["victim", "overload", "local"].map(|flow| dropped(variant, flow));
    assert!(lost > 10 && flows("errors-ct").iter().sum::<u64>() == lost);
    let longest = |variant| study.flow(variant, "victim").latency.max;
    println!("longest: {} and {} ps", longest("errors-rt"), longest("errors-ct"));
    assert!(longest("errors-ct") < longest("errors-rt"));
    // A flow that never waits for credit: what hot does not take is lost, and nothing of the victim's.
    let [victim, overload, local] = flows("overload-ct");
    println!("lost: {overload} and {local} packets");
    assert_eq!((victim, overload + local), (0, total("overload-ct", |end| end.lost_no_room)));
    assert!(share("overload-ct", Cause::Recovery) < 0.001);
    // It waits no longer than for what stands in the buffers on its way: 8 packets of each of three inputs at
    // a quarter of the trunk, then 8 at a third of hot; and it is stored three times.
    let bound = (3.0 * 8.0 * 4.0 + 8.0 * 3.0 + 3.0) * T_PS + 3.0 * 40_000.0 + 2.0 * 100_000.0;
    let longest = study.flow("overload-ct", "overload").network.max;
    assert!(longest <= bound, "{longest} ps, at most {bound}");
}

/// Refused packets come again; the hot output does not notice.
#[test]
fn retry_storm() {
    let study = Study::run("retry-storm");
    for variant in ["transmitter", "receiver"] {
        near(variant, study.load(variant, "hot"), 1.0 / 3.0, 0.01 / 3.0);
    }
    let links = |variant| &study.of(variant).run.outcome.links;
    assert!(links("transmitter").is_empty());
    let total = |what: fn(&LinkStats) -> u64| links("receiver").iter().map(|end| what(&end.2)).sum::<u64>();
    let (packets, repeated) = (total(|end| end.packets), total(|end| end.repeated));
    println!("{repeated} repetitions of {packets} packets, {} retries", total(|end| end.retries));
    assert!(repeated > packets / 4);
    assert_eq!(total(|end| end.recoveries), 0);
}

/// High priority waits for what is refused before it.
#[test]
fn priority_inversion() {
    let study = Study::run("priority-inversion");
    let p99 = |variant| study.flow(variant, "high").latency.p99.value;
    println!("p99: {} and {} ps", p99("transmitter"), p99("receiver"));
    assert!(p99("receiver") > 1.3 * p99("transmitter"));
    let share = |variant| study.flow(variant, "high").share(Cause::Recovery);
    assert_eq!(share("transmitter"), 0.0);
    assert!(share("receiver") > 0.1);
}

/// The reference has what the command draws: of a study whose scenario says what is compared with what, too.
#[test]
fn the_command_draws_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_riosim"))
        .arg(root().join("scenarios/st-incast.json"))
        .args(["--quiet", "--out", "there"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let drawn = fs::read_to_string(folder.path().join("there/figures/goodput.svg")).unwrap();
    assert!(drawn == fs::read_to_string(root().join("results/reference/st-incast-goodput.svg")).unwrap());
}
