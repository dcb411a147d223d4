//! What reports say of runs of which the truth is known.

use analysis::Observed;
use analysis::table::{conclusion, variant};
use analysis::{Collector, CollectorConfig, RunData, VariantReport};
use models::run::{Progress, RunOptions};
use models::stats::SessionTotals;
use scenarios::Warmup;
use std::path::Path;
use std::sync::Arc;

fn run(text: &str, name: &str) -> Vec<VariantReport> {
    let plan = scenarios::load(text, name, &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let one = |one: &scenarios::Variant| {
        let of = CollectorConfig::new(&one.config, one.until).measured_from(one.warmup.given());
        let mut simulation =
            Observed::new(Arc::clone(&one.config), RunOptions::default(), Collector::new(&of));
        while simulation.run(one.until, 1 << 20) == Progress::Running {}
        let (collector, outcome) = simulation.finish();
        let report = VariantReport::new(RunData {
            name: one.name.clone(),
            config: Arc::clone(&one.config),
            collector,
            outcome,
            warmup: match one.warmup {
                Warmup::Auto => analysis::Warmup::Auto,
                Warmup::Until(time) => analysis::Warmup::Fixed(time.0),
            },
            victims: one.victims.clone(),
            hot: one.hot.clone(),
        });
        assert_eq!(report.broken, Vec::<String>::new());
        report
    };
    plan.variants.iter().map(one).collect()
}

fn study(name: &str) -> Vec<VariantReport> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(name).with_extension("json");
    run(&std::fs::read_to_string(path).unwrap(), name)
}

fn goodput(reports: &[VariantReport], name: &str) -> f64 {
    let report = reports.iter().find(|report| report.run.name == name).expect("the study has this variant");
    report.flows[0].goodput_gbps.value
}

/// 1 MiB in the time from the beginning of the Transfer to its end, and not in that of the run.
#[test]
fn transfers_have_one_rate() {
    let slots = study("st-slots");
    for (name, law) in [("4", 4.710), ("8", 9.124), ("16", 12.440), ("64", 15.818)] {
        let found = goodput(&slots, name);
        assert!((found - law).abs() < 0.001, "{name}: {found} Gb/s");
    }
    let said = conclusion(&slots);
    assert!(
        said[2].starts_with("4 \u{2192} 64: write goodput 4.71 \u{2192} 15.8 Gb/s (+236 %)"),
        "{}",
        said[2]
    );
    assert!(variant(&slots[0]).contains("4.71 Gb/s"));
    assert!(
        slots.iter().all(|report| !report.flows[0].closed_loop),
        "a Transfer has no source that always has more"
    );
    for report in &slots {
        let told = analysis::sweep::measure(report);
        let column = analysis::sweep::metric("goodput_gbps").unwrap();
        let flow = told.iter().find(|row| row.scope == "write").unwrap();
        let rate = report.flows[0].goodput_gbps.value;
        assert!((flow.values[column].unwrap() / rate - 1.0).abs() < 1e-8);
        assert_eq!(report.overall.goodput_gbps.value, rate, "one flow is all flows");
    }
}

/// The same octets: who is done earlier is faster. Over type 11 a session waits for a round trip with
/// each part of a PDU.
#[test]
fn programs_are_compared_by_when_they_are_done() {
    let reports = study("goal-transports");
    let st = goodput(&reports, "st");
    for (name, faster) in
        [("session-message", false), ("session-stream", true), ("linx-message", false), ("linx-stream", true)]
    {
        let found = goodput(&reports, name);
        assert_eq!(found > st, faster, "{name}: {found} Gb/s, st: {st}");
    }
}

#[test]
fn an_overload_of_requests_looks_like_one() {
    let text = r#"{"name": "rpc-read", "topology": {"single_switch": {"ports": 4}},
        "run": {"until": "2 ms", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"constant": {"load": LOAD}},
        "rpc": {"via": "read", "response": 256}}]}"#;
    let report = &run(&text.replace("LOAD", "0.2"), "rpc-read")[0];
    let flow = &report.flows[0];
    assert!(flow.saturated && report.overall.saturated);
    assert_eq!((flow.books.unit, flow.books.never), ("requests", 0));
    assert_eq!(flow.books.asked, flow.books.arrived + flow.books.under_way);
    assert!(flow.books.asked > 49_000 && flow.books.arrived < 20_000, "{:?}", flow.books);
    // The oldest request has waited for as long as the last answer took.
    let age = flow.books.oldest_ps.expect("requests wait") as f64;
    let slowest = flow.round_trips.as_ref().expect("some were answered").latency.max;
    assert!((age / slowest - 1.0).abs() < 0.01, "{age} ps, {slowest} ps");
    // what requests take of the link of who asks, without the answers
    assert!(flow.offered_load < 0.2, "{}", flow.offered_load);
    assert!(variant(report).lines().nth(2).unwrap().contains("50 000 requests"), "{}", variant(report));
    let calm = &run(&text.replace("LOAD", "0.02"), "rpc-read")[0];
    assert!(!calm.flows[0].saturated, "{:?}", calm.flows[0].books);
}

#[test]
fn a_slow_host_looks_slow() {
    let text = r#"{"name": "msg-slow", "topology": {"single_switch": {"ports": 3}},
        "run": {"until": "1 ms", "warmup": "0 ns"}, "endpoint": {"host": {"tx_service": "SERVICE"}},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "messages": {},
        "arrivals": {"constant": {"load": 0.4}}}]}"#;
    for (service, slow) in [("2 us", true), ("100 ns", false)] {
        let report = &run(&text.replace("SERVICE", service), "msg-slow")[0];
        let flow = &report.flows[0];
        assert_eq!(flow.saturated, slow, "{service}: {:?}", flow.books);
        assert_eq!(report.window.steady, !slow, "{service}: times of messages climb");
        if slow {
            // One each 2 us, of what 0.4 of the link would bring.
            assert!((498..=500).contains(&flow.books.arrived), "{:?}", flow.books);
            assert!(flow.books.oldest_ps.is_some_and(|age| age > 500_000_000), "{:?}", flow.books);
            assert!(
                conclusion(std::slice::from_ref(report))[0].starts_with("f: 499 of"),
                "{:?}",
                conclusion(std::slice::from_ref(report))
            );
        }
    }
}

/// 400 PDUs, one each 2 us, of which each takes the application 4 us: the n-th waits for n times 2 us.
#[test]
fn a_pdus_time_ends_when_the_application_is_done_with_it() {
    let reports = study("session-xoff");
    let stats = &reports[0].run.outcome.totals.one::<SessionTotals>().expect("one flow").stats;
    assert_eq!((reports[0].run.name.as_str(), stats.pdus_taken), ("no-xoff", 400));
    let mean = stats.pdu_ps as f64 / 400.0 / 1e6;
    // (399 x 2 us) / 2, its own service and the way
    assert!((mean - 403.7).abs() < 1.0, "{mean} us");
    // 400 000 octets in 400 services
    let rate = reports[0].flows[0].goodput_gbps.value;
    assert!((rate - 2.0).abs() < 0.01, "{rate} Gb/s");
}

/// Frames that manage connections are nobody's octets.
#[test]
fn connections_without_messages_have_no_goodput() {
    for report in study("linx-crossing-connect") {
        assert_eq!(report.flows[0].goodput_gbps.value, 0.0, "{}", report.run.name);
    }
}

/// 100 packets of 280 characters of 400 ps, and silence: shares of time are of the time until the last one
/// arrived, whether the run sits out the silence, and however the beginning was chosen.
#[test]
fn silence_after_a_finite_workload_is_not_measured() {
    let text = r#"{"name": "ends", "topology": {"single_switch": {"ports": 2}},
        "links": {"rate": "6.25 Gbaud", "width": "4x"},
        "run": {"until": "UNTIL", "warmup": WARMUP, "sample_every": SAMPLES},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "limit": 100, "size": 256,
        "arrivals": {"constant": {"load": 0.5, "phase": "0 ns"}}}]}"#;
    for until in ["100 us", "2 ms"] {
        for (warmup, samples) in [(r#""auto""#, r#""off""#), (r#""0 ns""#, r#""1 us""#)] {
            let text = text.replace("UNTIL", until).replace("WARMUP", warmup).replace("SAMPLES", samples);
            let report = &run(&text, "ends")[0];
            let last = report.run.collector.flows()[0].extent.last.0;
            assert_eq!((report.window.from_ps, report.window.to_ps), (0, last), "{until} {warmup}");
            // The last one is created after 198 times its length.
            assert!((199 * 112_000..200 * 112_000 + 500_000).contains(&last), "{last} ps");
            let law = 100.0 * 112_000.0 / last as f64;
            let summary = analysis::Summary::new("ends", std::slice::from_ref(report));
            let fabric = &summary.variants[0].fabric;
            // nine significant digits
            let used = fabric["link_use_max"].as_f64().unwrap();
            assert!((used / law - 1.0).abs() < 5e-9, "{until} {warmup}: {law}");
            assert!((report.flows[0].offered_load / law - 1.0).abs() < 1e-9);
            let table = variant(report);
            assert!(table.lines().any(|line| line.starts_with("  links 2")), "{table}");
        }
    }
}
