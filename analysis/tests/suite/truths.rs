//! What reports say of runs of which the truth is known.

use analysis::Observed;
use analysis::baselines::baselines;
use analysis::enumeration::EnumerationSummary;
use analysis::figures::{self, Caption};
use analysis::num::{count_text, time_text};
use analysis::protocol::echo::EchoSummary;
use analysis::protocol::transfer::TransferSummary;
use analysis::run::Role;
use analysis::series::flows_csv;
use analysis::sweep::METRICS;
use analysis::table::{conclusion, variant};
use analysis::{Collector, CollectorConfig, RunData, VariantReport};
use models::probe::{Cause, Signal, SignalKind};
use models::run::{Progress, RunOptions};
use models::stats::{LinxEnd, LinxTotals, SessionTotals, TransferTotals};
use scenarios::Warmup;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn run(text: &str, name: &str) -> Vec<VariantReport> {
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

pub(crate) fn study(name: &str) -> Vec<VariantReport> {
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
        said[2].starts_with("4 \u{2192} 64: goodput of write 4.71 \u{2192} 15.8 Gb/s (+236 %)"),
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

/// Of two that carry equal octets, who is done earlier is faster. Over type 11 a session waits for a round
/// trip with each part of a PDU.
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
    assert_eq!((reports[0].run.name.as_str(), stats.pdu_ps.len()), ("no-xoff", 400));
    let mean = stats.pdu_ps.iter().sum::<u64>() as f64 / 400.0 / 1e6;
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
            assert!(
                table
                    .lines()
                    .any(|line| line.starts_with("  links send packets for 2")
                        && line.contains("% of the time")),
                "{table}"
            );
        }
    }
}

/// One packet or message every 200 us, the first at once: five in a millisecond, or one where they are
/// farther apart than the run is long. It goes on for as long as its flows do, and what they offer is that
/// of all of it, also in the silence after the last one; so of samples. A limit that it does not come to
/// changes nothing, and one that it comes to is the end of it.
#[test]
fn silence_between_packets_is_measured() {
    let text = r#"{"name": "sparse", "topology": {"single_switch": {"ports": 2}},
        "links": {"rate": "6.25 Gbaud", "width": "4x"},
        "run": {"until": "1 ms", "warmup": WARMUP, "sample_every": SAMPLES},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "size": 256, CARRIED
        LIMIT "arrivals": {"constant": {"interval": "INTERVAL", "phase": "0 ns"}}}]}"#;
    let carried = ["", r#""messages": {},"#, r#""streams": {},"#];
    for (carried, (warmup, samples), us) in carried.into_iter().flat_map(|carried| {
        let observed = [(r#""auto""#, r#""off""#), (r#""0 ns""#, r#""10 us""#)];
        let observed = observed.map(|observed| [200, 600, 7_000].map(|us| (observed, us)));
        observed.into_iter().flatten().map(move |(observed, us)| (carried, observed, us))
    }) {
        let count = 1_000_u64.div_ceil(us);
        let text = text.replace("CARRIED", carried).replace("INTERVAL", &format!("{us} us"));
        let text = text.replace("WARMUP", warmup).replace("SAMPLES", samples);
        let limited = |limit: u64| run(&text.replace("LIMIT", &format!(r#""limit": {limit},"#)), "sparse");
        let done = &limited(count)[0];
        let (from, to) = done.flows[0].rate_span.expect("it ends");
        // Each is on its way for less than 2 us.
        assert!((0..2_000_000).contains(&(to - from - (count - 1) * us * 1_000_000)), "{from} to {to}");
        let open = [run(&text.replace("LIMIT", ""), "sparse"), limited(count + 1), limited(1_000)];
        for report in open.iter().flatten() {
            let case = format!("{carried} {warmup} {us}");
            assert_eq!(report.run.outcome.end.0, 1_000_000_000, "{case}");
            assert_eq!(report.window.to_ps, 1_000_000_000, "{case}");
            let flow = &report.flows[0];
            assert_eq!((flow.books.asked, flow.books.arrived), (count, count), "{case}");
            // The rule cuts the first packet off, or does not.
            if report.window.from_ps > 0 {
                assert_eq!(warmup, r#""auto""#, "{case}");
                continue;
            }
            let law = (count * 256 * 8) as f64 / 1e6;
            assert!((flow.goodput_gbps.value / law - 1.0).abs() < 1e-12, "{case}: {law} Gb/s");
            if carried.is_empty() {
                let law = (count * 112_000) as f64 / 1e9;
                assert!((flow.offered_load / law - 1.0).abs() < 1e-12, "{case}: {law}");
                assert!((flow.accepted_load.value / law - 1.0).abs() < 1e-12, "{case}: {law}");
            }
        }
    }
}

/// Packets of 256 octets every microsecond from 10 us on, and small ones all the time: the rate of the
/// first is that of the 10.5 us in which they may come, 11 packets, and that of both is over the time of
/// any: the first adds 10.5 of its 20.5 parts.
#[test]
fn who_begins_late_has_a_rate_from_then_on() {
    let text = r#"{"name": "late", "topology": {"single_switch": {"ports": 4}},
        "run": {"until": "20500 ns", "warmup": "0 ns"}, "traffic": [
        {"name": "f", "from": "ep/0", "to": "ep/1", "size": 256, "start": "10 us",
        "arrivals": {"constant": {"interval": "1 us", "phase": "0 ns"}}},
        {"name": "keep", "from": "ep/2", "to": "ep/3", "size": 8, "start": "START",
        "arrivals": {"constant": {"interval": "100 ns", "phase": "0 ns"}}}]}"#;
    let late = Some((10_000_000, 20_500_000));
    for (start, whole) in [("0 ns", None), ("10 us", late)] {
        let report = run(&text.replace("START", start), "late").remove(0);
        let (flow, keep) = (&report.flows[0], &report.flows[1]);
        let law = (11 * 256 * 8) as f64 / 10_500.0;
        assert!((flow.goodput_gbps.value / law - 1.0).abs() < 1e-12, "{law} Gb/s");
        assert_eq!((flow.late_span, keep.late_span, report.overall.late_span), (late, whole, whole));
        let share = if whole.is_none() { 10.5 / 20.5 } else { 1.0 };
        let law = flow.goodput_gbps.value * share + keep.goodput_gbps.value;
        assert!((report.overall.goodput_gbps.value / law - 1.0).abs() < 1e-12, "{law} Gb/s");
    }
}

/// Nobody confirms what is sent, so its source is done when it has left: the rate is that of what arrived
/// up to when it did, and that of one Put alone is not nothing.
#[test]
fn transfers_that_nobody_confirms_are_done_when_they_are_there() {
    for (operation, count, bytes) in
        [("put", 1, 1_000), ("put", 4, 1_000), ("write", 1, 8), ("write", 4, 1_000), ("put", 2, 100_000)]
    {
        let text = r#"{"name": "told", "topology": {"single_switch": {"ports": 2}},
            "run": {"until": "2 ms", "warmup": "0 ns"}, "traffic": [{"name": "t", "from": "ep/0",
            "to": "ep/1", "st": {"operation": "OPERATION", "bytes": BYTES, "count": COUNT,
            "concurrent": COUNT, "reliable": false}}]}"#;
        let text = text.replace("OPERATION", operation).replace("BYTES", &bytes.to_string());
        let report = run(&text.replace("COUNT", &count.to_string()), "told").remove(0);
        let flow = &report.flows[0];
        assert_eq!(flow.books.arrived, count, "{operation} {count} {bytes}");
        let (from, to) = flow.rate_span.expect("it ends");
        let last = report.run.collector.flows()[0].extent.last.0;
        let law = 8_000.0 * (count * bytes) as f64 / (to - from) as f64;
        println!("{operation} {count} {bytes}: {from} {to} {last} {law}");
        assert!((flow.goodput_gbps.value / law - 1.0).abs() < 1e-12, "{operation} {count} {bytes}: {law}");
        // 4x at 6.25 Gbaud carries 20 Gb/s.
        assert!(law < 20.0, "{operation} {count} {bytes}: {law} Gb/s");
    }
}

/// Ten echoes of 256 octets, 20 us apart, so that each finds everything idle. A segment has 268 octets on the
/// wire (header of 6, or of 8 in a stream; two CRCs; padding), its delimiter 8, the response of type 13
/// 8 and as many.
#[test]
fn an_echo_takes_what_its_packets_and_hosts_take() {
    const CHARACTER: u64 = 400;
    const CABLE: u64 = 40_000;
    let link = (268 + 8) * CHARACTER + CABLE;
    let switch = 2 * link + 100_000;
    // The receiver of a message answers before its host sends it back.
    let response = (8 + 8) * CHARACTER;
    let pair = r#"{"explicit": {"devices": [{"name": "ep/0"}, {"name": "ep/1"}],
        "links": [{"a": "ep/0", "b": "ep/1"}]}}"#;
    let four = r#"{"single_switch": {"ports": 4}}"#;
    let hosts = r#"{"tx_service": "100 ns", "rx_service": "300 ns"}"#;
    for (topology, host, echo, expected) in [
        (pair, "{}", "{}", 2 * link + response),
        (four, "{}", "{}", 2 * switch + response),
        (pair, "{}", r#"{"carrier": "stream"}"#, 2 * link),
        (four, "{}", r#"{"carrier": "stream"}"#, 2 * switch),
        // The response is gone when the host has read the message.
        (four, hosts, "{}", 2 * (switch + 100_000 + 300_000)),
    ] {
        let report = echoes(topology, host, echo, "1 ms");
        let [told] = &EchoSummary::all(&report.run).collect::<Vec<_>>()[..] else { panic!("one flow") };
        assert_eq!([told.sent, told.echoed, told.returned], [10; 3], "{topology} {host} {echo}");
        assert_eq!([told.lost, told.late, told.under_way], [0; 3], "{topology} {host} {echo}");
        let times = told.round_trip.as_ref().expect("some came back");
        let found = [times.min_us, times.p50_us, times.mean_us, times.max_us].map(|us| us.0);
        assert_eq!(found, [expected as f64 / 1e6; 4], "{topology} {host} {echo}");
        assert!(times.p99_us.0.is_nan(), "ten do not say what 99 of 100 take");
        // What every flow tells of its round trips is the same.
        let trips = report.flows[0].round_trips.as_ref().expect("round trips");
        assert_eq!((trips.latency.mean.value, trips.delivered.packets), (expected as f64, 10));
    }
}

/// One way takes 400 800 ps, and there and back 808 000 ps.
#[test]
fn echoes_are_back_lost_or_under_way() {
    let four = r#"{"single_switch": {"ports": 4}}"#;
    for (timeout, until, books) in [
        // patience of one picosecond more and of one less, the last still on its way, the last not yet there
        ("808001 ps", "1 ms", [10, 10, 10, 0, 0, 0]),
        ("807999 ps", "1 ms", [10, 10, 0, 10, 10, 0]),
        ("807999 ps", "20.8 us", [2, 2, 0, 1, 1, 1]),
        ("1 us", "20.3 us", [2, 1, 1, 0, 0, 1]),
    ] {
        let report = echoes(four, "{}", &format!(r#"{{"timeout": "{timeout}"}}"#), until);
        let [told] = &EchoSummary::all(&report.run).collect::<Vec<_>>()[..] else { panic!("one flow") };
        let found = [told.sent, told.echoed, told.returned, told.lost, told.late, told.under_way];
        assert_eq!(found, books, "{timeout} {until}");
        let own = &report.flows[0].books;
        assert_eq!(
            [own.asked, own.arrived, own.never, own.under_way],
            [books[0], books[2], books[3], books[5]]
        );
        assert_eq!(told.round_trip.is_some(), books[2] > 0);
    }
}

fn echoes(topology: &str, host: &str, echo: &str, until: &str) -> VariantReport {
    let text = format!(
        r#"{{"name": "echoes", "topology": {topology}, "endpoint": {{"host": {host}}},
        "run": {{"until": "{until}", "warmup": "0 ns"}},
        "traffic": [{{"name": "f", "from": "ep/0", "to": "ep/1", "limit": 10, "echo": {echo},
        "arrivals": {{"constant": {{"interval": "20 us", "phase": "0 ps"}}}}}}]}}"#
    );
    run(&text, "echoes").remove(0)
}

/// Two sources send 1 020 PDUs of 600 octets each through a switch that dies.
fn behind_a_dead_switch(protocol: &str, until: &str) -> VariantReport {
    let text = r#"{"name": "dead", "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}},
        "run": {"until": "UNTIL", "warmup": "0 ns", "sample_every": "off"},
        "faults": {"dead_devices": [{"device": "sw/1", "at": "300 us"}]},
        "traffic": [{"name": "s", "from": ["ep/0", "ep/1"], "to": "ep/2", PROTOCOL}]}"#;
    let sent = r#""size": 600, "limit": 1020, "arrivals": {"constant": {"interval": "1 us"}}, "#;
    let protocol = if protocol.contains("\"st\"") { protocol.into() } else { format!("{sent}{protocol}") };
    run(&text.replace("UNTIL", until).replace("PROTOCOL", &protocol), "dead").remove(0)
}

/// What was asked for arrived, never will, or has an age, whoever carries it; the headline begins with it.
#[test]
fn what_a_dead_switch_swallowed_is_told() {
    for protocol in
        [r#""session": {}"#, r#""linx": {}"#, r#""messages": {}"#, r#""st": {"bytes": 65536, "count": 20}"#]
    {
        for until in ["400 us", "20 ms"] {
            let report = behind_a_dead_switch(protocol, until);
            let books = report.flows[0].books;
            assert_eq!(books.asked, books.arrived + books.never + books.under_way, "{protocol} {until}");
            assert!(books.arrived > 0 && books.arrived < books.asked, "{protocol} {until}: {books:?}");
            assert!(books.under_way == 0 || books.oldest_ps.is_some(), "{protocol} {until}: {books:?}");
            let end = report.run.outcome.end.0;
            assert!(books.oldest_ps.is_none_or(|age| age <= end), "{protocol} {until}: {books:?}");
            // After the longest response time everything of type 11 that left has failed.
            if until == "20 ms" && !protocol.contains("\"st\"") {
                assert!(books.never > 0, "{protocol}: {books:?}");
            }
            let said = &conclusion(std::slice::from_ref(&report))[0];
            assert!(
                said.starts_with(&format!("s: {} of ", count_text(books.arrived))),
                "{protocol} {until}: {said}"
            );
        }
    }
}

/// Three operations, and the run cut off in the middle of the third: the rate is that of all three, whatever
/// the operation, less what one STU of a KiB more or less makes of it, and the time in which nothing comes
/// between two of them. Of a Put that was under way nothing counted.
#[test]
fn a_transfer_under_way_has_the_rate_of_what_arrived() {
    for (operation, octets, tolerance) in
        [("write", 1 << 20, 0.01), ("read", 1 << 20, 0.01), ("put", 1 << 20, 0.01), ("get", 60_000, 0.03)]
    {
        let text = r#"{"name": "cut", "topology": {"single_switch": {"ports": 2}},
            "run": {"until": "UNTIL", "warmup": "0 ns"}, "traffic": [{"name": "w", "from": "ep/0",
            "to": "ep/1", "st": {"operation": "OPERATION", "bytes": OCTETS, "count": 3}}]}"#
            .replace("OPERATION", operation)
            .replace("OCTETS", &octets.to_string());
        let cut = |until: &str| run(&text.replace("UNTIL", until), "cut").remove(0);
        let whole = cut("5 ms");
        let (from, to) = whole.flows[0].rate_span.expect("it ends");
        assert_eq!(whole.flows[0].books.arrived, 3, "{operation}");
        let until = from + (to - from) / 6 * 5;
        let report = cut(&format!("{until} ps"));
        let flow = &report.flows[0];
        assert_eq!((flow.books.arrived, flow.books.under_way), (2, 1), "{operation}");
        assert_eq!(flow.rate_span, Some((from, until)), "{operation}");
        let (found, law) = (flow.goodput_gbps.value, whole.flows[0].goodput_gbps.value);
        assert!((found / law - 1.0).abs() < tolerance, "{operation}: {found} of {law} Gb/s");
    }
}

/// Transfers one after the other, of which some are given up because a question or its answer is lost, with
/// one seed the last one, too: the rate goes on for as long as something of a Transfer was said, and not up
/// to the last that was complete.
#[test]
fn transfers_that_are_given_up_make_their_flow_no_faster() {
    for (seed, last_is_lost) in [("2", true), ("4", false)] {
        let text = r#"{"name": "lossy", "topology": {"single_switch": {"ports": 2}}, "seed": SEED,
            "run": {"until": "100 ms", "warmup": "0 ns"}, "traffic": [{"name": "w", "from": "ep/0",
            "to": "ep/1", "st": {"bytes": 2000, "count": 20, "op_timeout": "50 us", "max_retry": 0,
            "loss": {"control": 0.2}}}]}"#;
        let report = run(&text.replace("SEED", seed), "lossy").remove(0);
        let (flow, totals) = (&report.flows[0], report.run.outcome.totals.one::<TransferTotals>().unwrap());
        let books = flow.books;
        assert!(books.arrived > 0 && books.never > 0 && books.under_way == 0, "{books:?}");
        let (from, to) = flow.rate_span.expect("it ends");
        let last = totals.stats.last_done.expect("some are complete").0;
        // One begins when the one before it is over: the last of all after the last that was complete. It is
        // given up an Op_timeout after what was last said of it; only then is the connection taken down.
        let end = report.run.outcome.end.0;
        assert_eq!(last < to, last_is_lost, "{seed}: {last} {to}");
        assert!(last <= to && to + 50_000_000 <= end, "{seed}: {last} {to} {end}");
        let law = 8_000.0 * (totals.stats.verified * 2_000) as f64 / (to - from) as f64;
        assert!((flow.goodput_gbps.value / law - 1.0).abs() < 1e-12, "{seed}: {law} Gb/s");
    }
}

/// Two messages to be lost by number, the first and the millionth: the second never comes, and that is told.
#[test]
fn a_message_that_was_to_be_lost_and_never_came_is_told() {
    let text = |nth: &str| {
        let loss = r#"{"device": "sw", "port": 0, "kind": "any", "nth": N}"#;
        let losses: Vec<String> = nth.split(' ').map(|nth| loss.replace('N', nth)).collect();
        r#"{"name": "lost", "topology": {"single_switch": {"ports": 4}}, "voq": {"enabled": true},
        "run": {"until": "100 us", "warmup": "0 ns"}, "faults": {"lose_voq_symbols": [LOSSES]},
        "traffic": [{"name": "f", "from": "ep/{0..2}", "to": "ep/3",
        "arrivals": {"saturated": {"backlog": 4}}}]}"#
            .replace("LOSSES", &losses.join(", "))
    };
    for (nth, law) in [("1", 0), ("1 1000000", 1), ("1000000 1000001", 2)] {
        let report = run(&text(nth), "lost").remove(0);
        let table = variant(&report);
        let line = format!("VoQ messages that the scenario was to lose, and that were never sent: {law}");
        assert_eq!(table.contains(&line), law > 0, "{nth}: {table}");
        assert_eq!(table.contains("never sent"), law > 0, "{nth}: {table}");
        assert_eq!(table.contains("1 VoQ message lost on purpose"), law < 2, "{nth}: {table}");
    }
}

/// A deadline of a protocol beyond the end is something left to happen, so the time to the end is measured:
/// the heartbeat that is due each 100 ms is still to come 1 ms before, as it is 1 ms after; and so are four
/// of five answers of a host with one place, of which it discards what comes while it serves.
#[test]
fn deadlines_after_the_end_are_left_to_happen() {
    let linx = r#"{"name": "idle", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "99 ms", "warmup": "0 ps", "sample_every": "off"},
        "endpoint": {"linx": {"hb_tmo": 1}},
        "traffic": [{"name": "l", "from": "ep/0", "to": "ep/1", "linx": {"at": "0 ps"}}]}"#;
    let requests = r#"{"name": "waits", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "20 ms", "warmup": "0 ps", "sample_every": "off"},
        "endpoint": {"host": {"rx_queue": 1, "rx_service": "5 us"}},
        "traffic": [{"name": "m", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 5, "start": "10 us",
        "arrivals": {"constant": {"interval": "100 ns", "phase": "0 ps"}},
        "rpc": {"via": "stream", "timeout": "50 ms"}}]}"#;
    for (text, ms) in [(linx, 99), (&linx.replace("99 ms", "101 ms"), 101), (requests, 20)] {
        let report = run(text, "left").remove(0);
        assert_eq!(report.window.to_ps, ms * 1_000_000_000, "{}", variant(&report));
    }
}

/// Nothing gets through to a dead endpoint, and three packets or PDUs wait for it from 10 us on: the flow is
/// under way until the end, and not over before anything was measured.
#[test]
fn a_flow_of_which_all_is_under_way_is_not_over() {
    for carried in ["", r#", "streams": {}"#, r#", "messages": {}"#] {
        let text = r#"{"name": "stuck", "topology": {"single_switch": {"ports": 2}},
            "run": {"until": "900 us", "warmup": "0 ps", "stall_after": "off"},
            "faults": {"dead_devices": [{"device": "ep/1", "at": "5 us"}]},
            "traffic": [{"name": "m", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 3, "start": "10 us",
            "arrivals": {"constant": {"interval": "100 us", "phase": "0 ps"}}CARRIED}]}"#;
        let report = run(&text.replace("CARRIED", carried), "stuck").remove(0);
        let (flow, said) = (&report.flows[0], variant(&report));
        assert_eq!((flow.books.arrived, flow.books.under_way), (0, 3), "{said}");
        assert_eq!(flow.rate_span, Some((10_000_000, 900_000_000)), "{said}");
        assert!(!said.contains("is over before"), "{said}");
    }
}

/// 40 packets of which the fabric keeps some: the rate is over the time to the end of the run, and not up to
/// the last that got through.
#[test]
fn a_flow_that_is_stuck_is_not_done() {
    let text = r#"{"name": "stuck", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "1 ms", "warmup": "0 ns", "stall_after": "off"},
        "faults": {"dead_devices": [{"device": "ep/1", "at": "2 us"}]},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "limit": 40, "size": 256,
        "arrivals": {"saturated": {"backlog": 40}}}]}"#;
    let report = run(text, "stuck").remove(0);
    let flow = &report.flows[0];
    let arrived = flow.books.arrived;
    assert!(arrived > 0 && flow.books.under_way > 0, "{:?}", flow.books);
    let law = (arrived * 256 * 8) as f64 / 1e6;
    assert!((flow.goodput_gbps.value / law - 1.0).abs() < 0.001, "{} of {law}", flow.goodput_gbps.value);
}

/// What never arrives has been asked for: a flow of which nothing is under way any more, because the rest was
/// lost behind a switch that died, has the rate of the time in which it asked.
#[test]
fn a_flow_that_lost_its_rest_is_not_faster_for_it() {
    for protocol in [r#""session": {}"#, r#""linx": {}"#, r#""messages": {}"#, r#""streams": {}"#, ""] {
        // the last of 1 020 is asked for after 1 019 us
        let text = r#"{"name": "dead", "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}},
            "run": {"until": "100 ms", "warmup": "0 ns", "sample_every": "off", "stall_after": "off"},
            HOST"faults": {"dead_devices": [{"device": "sw/1", "at": "300 us"}]},
            "traffic": [{"name": "s", "from": "ep/0", "to": "ep/2", "size": 600, "limit": 1020,
            "arrivals": {"constant": {"interval": "1 us", "phase": "0 ps"}}PROTOCOL}]}"#;
        let host = r#""endpoint": {"host": {"response_timeout": "1 ms"}}, "#;
        let (size, more, host) =
            if protocol.is_empty() { (256, String::new(), "") } else { (600, format!(", {protocol}"), host) };
        let text = text.replace("600", &size.to_string()).replace("PROTOCOL", &more).replace("HOST", host);
        let report = run(&text, "dead").remove(0);
        let flow = &report.flows[0];
        assert!((101..1_020).contains(&flow.books.arrived), "{protocol}: {:?}", flow.books);
        let law = (flow.books.arrived * size * 8) as f64 / 1_019e3;
        assert!(flow.goodput_gbps.value <= law, "{protocol}: {} of {law} Gb/s", flow.goodput_gbps.value);
    }
}

/// A comparison tells the time of what users ask for, and not that of the frames that carry it.
#[test]
fn comparisons_tell_what_users_wait_for() {
    let text = r#"{"name": "frames", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "2 ms", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "size": 2000, "limit": 100, "linx": {},
        "arrivals": {"constant": {"interval": "10 us", "phase": "50 us"}}}],
        "variants": [{"name": "large"}, {"name": "small", "set": {"/endpoint/linx": {"mtu": 256}}}]}"#;
    let reports = run(text, "frames");
    let mean = |report: &VariantReport| {
        let totals: &LinxTotals = report.run.outcome.totals.of().next().unwrap();
        let times = &totals.stats.message_ps;
        assert_eq!(times.len(), 100);
        (times.iter().sum::<u64>() / 100) as f64
    };
    let said = conclusion(&reports).pop().unwrap();
    let law = format!(
        "mean message latency {} \u{2192} {}",
        time_text(mean(&reports[0])),
        time_text(mean(&reports[1]))
    );
    assert!(said.contains(&law), "{law}: {said}");
    let table = variant(&reports[1]);
    assert!(
        table.lines().any(|line| line.starts_with("  f: ") && line.contains(" frames of LINX, mean ")),
        "{table}"
    );
}

/// What is waited for is told of what users ask for, by its name; and with "of what arrived" where a tenth of
/// it is under way for good.
#[test]
fn conclusions_say_whose_time_they_tell() {
    let text = |more: &str| {
        format!(
            r#"{{"name": "whose", "topology": {{"single_switch": {{"ports": 3}}}},
            "run": {{"until": "1 ms", "warmup": "0 ns"}},
            "traffic": [{{"name": "asks", "from": "ep/0", "to": "ep/2", "size": 256,
            "arrivals": {{"constant": {{"interval": "10 us", "phase": "1 us"}}}}, "messages": {{}}}},
            {{"name": "plain", "from": "ep/1", "to": "ep/2", "size": 256,
            "arrivals": {{"constant": {{"interval": "10 us", "phase": "1 us"}}}}}}]{more}}}"#
        )
    };
    let alone = run(&text(""), "whose").remove(0);
    let said = conclusion(std::slice::from_ref(&alone)).remove(0);
    assert!(said.contains("; most waiting of messages and packets is "), "{said}");
    let plain = run(&text("").replace(r#", "messages": {}"#, ""), "whose");
    assert!(conclusion(&plain)[0].contains("; most waiting is output contention"));
    let variants = r#", "variants": [{"name": "a"}, {"name": "b", "set": {"/links": {"length": "40 m"}}}]"#;
    let mut reports = run(&text(variants), "whose");
    assert!(!conclusion(&reports)[0].contains("of what arrived"));
    for flow in &mut reports[1].flows {
        flow.books.under_way = 10;
    }
    let said = conclusion(&reports).remove(0);
    assert!(said.contains(" (of what arrived") && !said.contains("arrived in"), "{said}");
    // the longer a run in which more is asked for than arrives, the longer the times
    reports[1].flows.iter_mut().for_each(|flow| flow.falls_behind = true);
    let said = conclusion(&reports).remove(0);
    assert!(said.contains(" (of what arrived in 1.00 ms"), "{said}");
}

/// Each variant is compared with the first, and one that names another with that, whatever that one asks for.
#[test]
fn a_variant_can_name_what_it_is_compared_with() {
    let text = r#"{"name": "named", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "100 us", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}}],
        "variants": [{"name": "first"}, {"name": "short", "set": {"/links": {"length": "1 m"}}},
        {"name": "busy", "set": {"/traffic/0/arrivals/poisson/load": 0.2}},
        {"name": "long", "set": {"/links": {"length": "9 m"}}}]}"#;
    let mut reports = run(text, "named");
    assert_eq!(baselines(&reports), [0, 0, 2, 0]);
    reports[3].compare_with = Some("short".into());
    reports[2].compare_with = Some("first".into());
    assert_eq!(baselines(&reports), [0, 0, 0, 1]);
    // two that name each other's rival: the one that is named is compared with nobody
    reports[0].compare_with = Some("short".into());
    assert_eq!(baselines(&reports), [1, 1, 0, 1]);
    reports[0].compare_with = None;
    assert!(conclusion(&reports)[2].starts_with("short \u{2192} long: "));
}

/// A closed loop that has sent all that it had to, and of which all arrived, falls behind in nothing; one
/// without an end always has more to send.
#[test]
fn a_burst_that_arrived_is_not_saturated() {
    let text = r#"{"name": "burst", "topology": {"single_switch": {"ports": 3}},
        "run": {"until": "1 ms", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": ["ep/0", "ep/1"], "to": "ep/2",
        "arrivals": {"saturated": {}}LIMIT}]}"#;
    let of = |limit: &str| run(&text.replace("LIMIT", limit), "burst").remove(0);
    let (burst, endless) = (of(r#", "limit": 50"#), of(""));
    assert_eq!(burst.flows[0].books.arrived, 100);
    assert!(!burst.flows[0].saturated && !burst.overall.saturated);
    assert!(endless.flows[0].saturated && endless.overall.saturated);
    assert!(
        !conclusion(&[burst])[0].contains("saturated") && !conclusion(&[endless])[0].contains("saturated")
    );
}

/// Sources that may send nothing have no part in the mean over the sources of a flow.
#[test]
fn who_may_send_nothing_is_no_source() {
    let text = r#"{"name": "idle", "topology": {"single_switch": {"ports": 4}},
        "run": {"until": "1 ms", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/3", "arrivals": {"poisson": {"load": 0.5}}},
        {"name": "off", "from": ["ep/1", "ep/2"], "to": "ep/3", "limit": 0,
        "arrivals": {"poisson": {"load": 0.5}}}]}"#;
    let report = run(text, "idle").remove(0);
    assert_eq!(report.overall.offered_load, report.flows[0].offered_load);
    assert!(report.flows[0].offered_load > 0.4);
}

/// The last bin is not as long as the others: its rate is that of its own time and of the bin before, and all
/// bins together give what was delivered. A run that ends with a packet may have it in a bin of some
/// nanoseconds; all the same no bin has more than the link carries, and the packet of 256 octets that is
/// whole in it.
#[test]
fn rates_of_bins_add_up_to_what_was_delivered() {
    let text = r#"{"name": "bins", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "1234567 ns", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.5}}}]}"#;
    rates_add_up(text);
    for start in 0..40 {
        let text = format!(
            r#"{{"name": "bins", "topology": {{"single_switch": {{"ports": 2}}}},
            "run": {{"until": "1 ms", "warmup": "0 ns"}},
            "traffic": [{{"name": "f", "from": "ep/0", "to": "ep/1", "size": 256, "limit": 100,
            "start": "{} ns", "arrivals": {{"constant": {{"load": 0.5, "phase": "0 ns"}}}}}}]}}"#,
            10_000 + 25 * start
        );
        let most = rates_add_up(&text);
        let bin_us = 1_000.0 / 1_024.0;
        assert!(most <= 20.0 + 256.0 * 8.0 / 1e3 / bin_us, "{start}: {most} Gb/s");
    }
}

/// Runs one flow; gives back the largest rate of a bin, Gb/s.
fn rates_add_up(text: &str) -> f64 {
    let report = run(text, "bins").remove(0);
    let octets: u64 = report.run.collector.flows()[0].bins.iter().map(|bin| bin.payload).sum();
    let csv = flows_csv(std::slice::from_ref(&report));
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = rows.next().unwrap();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let (time, rate) = (column("time_us"), column("delivered_gbps"));
    let cell = |text: &str| text.parse::<f64>().unwrap();
    let rows: Vec<(f64, f64)> = rows.map(|row| (cell(row[time]), cell(row[rate]))).collect();
    let ends = rows.iter().skip(1).map(|row| row.0).chain([report.window.to_ps as f64 / 1e6]);
    // Gb/s times us are thousands of bits
    let bits: f64 = rows.iter().zip(ends).map(|(&(from, rate), to)| 1e3 * rate * (to - from)).sum();
    let law = 8.0 * octets as f64;
    // nine digits of each
    assert!((bits / law - 1.0).abs() < 1e-6, "{bits} of {law}");
    rows.iter().map(|row| row.1).fold(0.0, f64::max)
}

/// VoQ messages in a millisecond are those of the time in which there was traffic: not of the set-up before.
#[test]
fn rates_begin_when_the_fabric_is_set_up() {
    let text = r#"{"name": "late", "topology": {"single_switch": {"ports": 4}},
        "switch": {"input": "voq"}, "voq": {"enabled": true, "thresholds": {"on": 8, "off": 4}},
        "run": {"until": "3 ms", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": ["ep/0", "ep/1", "ep/2"], "to": "ep/3",
        "arrivals": {"saturated": {}}}],
        "variants": [{"name": "at-once"},
        {"name": "set-up", "set": {"/configure": {"fabric": {"host": "ep/0"}}}}]}"#;
    let reports = run(text, "late");
    let set_up = reports[1].run.outcome.enumeration.as_ref().and_then(|found| found.done()).unwrap();
    assert!(set_up.0 > 10_000_000);
    let said = conclusion(&reports).pop().unwrap();
    println!("{set_up:?}: {said}");
    // the same traffic for a shorter time
    assert!(!said.contains("VoQ messages"), "{said}");
    // who needs no setting up is not one that never came to it
    let times = figures::svg(&Caption::new("s", String::new(), &reports), &reports, "times").unwrap();
    assert!(times.contains("set up from the start") && !times.contains("never came"), "{times}");
}

/// By hand: 16 nodes send 100 frames each. Where every tenth is a broadcast without multicast, 1 440 go to
/// one peer and 160 to 15 each. The times until all conduits are open differ, and read alike.
#[test]
fn copies_of_broadcasts_are_counted() {
    let reports = study("ethernet-broadcast");
    let caption = Caption::new("s", String::new(), &reports);
    let figure = |name: &str| figures::svg(&caption, &reports, name).expect("it is drawn");
    let counts = figure("counts");
    assert!(counts.contains("messages of data sent, each copy counted"), "{counts}");
    let law = [count_text(1_600), count_text(1_440 + 160 * 15)];
    assert!(law.iter().all(|count| counts.contains(&format!("\n{count}\n"))), "{law:?}");
    assert!(figure("times").contains("about the same in all variants: time until all conduits are open"));
}

/// Heartbeats to a node that died are nobody's octets, and refused to nobody.
#[test]
fn who_asks_for_nothing_is_not_saturated() {
    let text = r#"{"name": "idle", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "4 s", "warmup": "0 ns", "stall_after": "off"},
        "faults": {"dead_devices": [{"device": "ep/1", "at": "1 s"}]},
        "traffic": [{"name": "f", "from": "all", "to": {"uniform": {}}, "linx": {}}]}"#;
    let report = run(text, "idle").remove(0);
    assert_eq!(report.flows[0].books.asked, 0);
    assert!(!report.flows[0].saturated && !report.overall.saturated);
}

/// Where Transfers are under way, what was sent of them is not "sent again".
#[test]
fn octets_of_unfinished_transfers_are_not_repetitions() {
    let text = r#"{"name": "ratio", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "UNTIL", "warmup": "0 ns"},
        "traffic": [{"name": "w", "from": "ep/0", "to": "ep/1", "st": {"bytes": 262144, "count": 4}}]}"#;
    let ratio = |until: &str| {
        let report = run(&text.replace("UNTIL", until), "ratio").remove(0);
        let summary = &TransferSummary::all(&report.run)[0];
        (summary.completed, summary.payload_ratio.map(|ratio| ratio.0))
    };
    assert_eq!(ratio("5 ms"), (4, Some(1.0)));
    let (completed, unfinished) = ratio("300 us");
    assert!((1..4).contains(&completed), "{completed}");
    assert_eq!(unfinished, None);
}

/// Each octet that arrives counts once, however often it was sent: efficiency by octets on the link is what
/// was asked for, whatever was lost on the way.
#[test]
fn what_is_sent_again_is_no_payload() {
    let reports = study("st-lossy");
    let mut again = 0;
    for report in &reports {
        let flow = &report.flows[0];
        let stats = flow.protocol.expect("Transfers run it");
        let summary = &TransferSummary::all(&report.run)[0];
        assert_eq!(summary.completed, summary.wanted, "{}", report.run.name);
        assert_eq!(flow.once, Some(summary.verified_octets), "{}", report.run.name);
        // what the scenario lost at the end of its way has not arrived
        assert_eq!(stats.sent, stats.delivered + summary.faults[0], "{}", report.run.name);
        // what was handed up holds headers, and what came again
        assert!(stats.payload > summary.verified_octets, "{}", report.run.name);
        let law = 100.0 * summary.verified_octets as f64 / stats.link_octets as f64;
        let said = format!("{law:.1} % of the octets sent for it are payload");
        assert!(variant(report).contains(&said), "{said}: {}", variant(report));
        again += u32::from(summary.payload_ratio.is_some_and(|ratio| ratio.0 > 1.0));
    }
    assert!(again > 1, "something was sent again in {again}");
}

/// Two victims of one source: one gets half of its link and the other a sixteenth. A mean of both would be
/// that of neither, so each has its own row.
#[test]
fn every_victim_has_its_own_row() {
    let mut reports = study("voq-channels");
    for report in &mut reports {
        for flow in report.flows.iter_mut().filter(|flow| flow.name == "beside") {
            flow.role = Some(Role::Victim);
        }
    }
    let caption = Caption::new("s", String::new(), &reports);
    let figure = figures::svg(&caption, &reports, "victims").expect("there are victims and hot flows");
    assert!(["6.3 %", "50.0 %"].iter().all(|share| figure.contains(share)), "{figure}");
    assert!(!figure.contains("56.3 %"));
}

/// A closed loop waits for what is under way; of what is lost it gets nothing, however much more it sends.
#[test]
fn a_closed_loop_that_loses_falls_behind() {
    let reports = study("vc-isolation");
    let flow = |variant: &str, flow: &str| {
        let report = reports.iter().find(|report| report.run.name == variant).expect("a variant");
        let flow = report.flow(flow).expect("a flow");
        let lost = flow.books.never as f64 / flow.books.asked as f64;
        (flow.closed_loop, flow.falls_behind, lost > 0.01)
    };
    assert_eq!(flow("overload-ct", "overload"), (true, true, true));
    assert_eq!(flow("one-channel", "overload"), (true, false, false));
}

/// All StreamIDs that its limit allows are the share that is gone, and not those of 57 344.
#[test]
fn all_that_the_limit_allows_is_all() {
    let reports = study("conduit-leak");
    let costs: Vec<[u64; 2]> = reports
        .iter()
        .filter_map(|report| report.run.outcome.totals.one::<SessionTotals>())
        .map(|totals| totals.most_from_one.into())
        .collect();
    assert!(costs.contains(&[500, 500]) && costs.contains(&[20, 20]), "{costs:?}");
    let literal = reports.iter().find(|report| report.run.name == "literal-pair").expect("a variant");
    let text = variant(literal);
    assert!(text.contains("at most 500 of 500 by one node for one other"), "{text}");
}

/// 37 registers set this fabric up; the sessions read others of their own afterwards.
#[test]
fn accesses_of_sessions_set_nothing_up() {
    let report = study("session-figure-3-1").remove(0);
    let summary = EnumerationSummary::new(&report).expect("a host sets it up");
    let counted: u64 = summary.phases.iter().map(|phase| phase.reads + phase.writes).sum();
    assert_eq!((summary.requests, counted, summary.repetitions), (37, 37, 0));
    let sessions = report.run.outcome.totals.one::<SessionTotals>().expect("one flow");
    assert_eq!(sessions.stats.register_reads, 28);
    // All 65 are packets of one flow: an access moves 4 octets, and takes packets of 12 and 20 octets (a
    // read: the answer is the longer one; a write: the request) with a delimiter of 8 each.
    let flow = report.flow("registers").expect("accesses have a flow");
    let stats = flow.protocol.expect("agents make them");
    assert_eq!((stats.requests, stats.responses), (65, 65));
    assert_eq!((flow.once, stats.link_octets), (Some(65 * 4), 65 * (12 + 20 + 2 * 8)));
    let (from, to) = flow.rate_span.expect("it ends");
    let law = 65.0 * 32.0 * 1e3 / (to - from) as f64;
    assert!(libm::fabs(flow.goodput_gbps.value - law) < 1e-9, "{} for {law}", flow.goodput_gbps.value);
}

/// What a receiver without the stream discards is in the books, and in the line about PDUs.
#[test]
fn a_pdu_after_its_stream_is_lost_unseen() {
    let report = study("session-figure-3-3").remove(0);
    let books = &report.flows[0].books;
    assert_eq!((books.asked, books.arrived, books.never), (3, 2, 1));
    let text = variant(&report);
    assert!(text.contains("3 sent, 2 delivered, 0 lost, 0 waiting, 1 lost without a word"), "{text}");
    // It was tried until its receiver had it, and nothing came there after it: two PDUs in all that time.
    let is_there = |signal: &&Signal| {
        let device = &report.run.config.devices[signal.device as usize];
        device.path == "destination" && matches!(signal.kind, SignalKind::Arrived { .. })
    };
    let arrivals = report.run.collector.signals().iter().filter(is_there);
    let last = arrivals.map(|signal| signal.at.0).max().unwrap();
    assert!(last > 6_000_000);
    let flow = &report.flows[0];
    assert_eq!(flow.rate_span, Some((0, last)));
    assert!((flow.goodput_gbps.value - 2.0 * 64.0 * 8e3 / last as f64).abs() < 1e-9);
    // A PDU waits for its stream, too: what messages wait for is not what users do.
    let lines = conclusion(&[report]).join("; ");
    assert!(!lines.contains("waiting is") && lines.contains("waiting of messages of sessions is"), "{lines}");
}

/// Two cables join two switches, and the one of the plan is down while a host sets the fabric up: so traffic
/// goes over the other. What is on that way counts, and not what was planned: where it dies after the host
/// was done, no timeout is false; and where only the planned cable is down, and the scenario loses all
/// heartbeats, all are.
#[test]
fn ways_are_those_that_the_host_found() {
    let ends = |downs: &str, loss: &str| {
        let text = format!(
            r#"{{"name": "ways", "run": {{"until": "2 ms", "warmup": "0 ps"}},
            "topology": {{"explicit": {{
            "devices": [{{"name": "left", "ports": 3}}, {{"name": "right", "ports": 3}},
            {{"name": "a"}}, {{"name": "c"}}], "links": [{{"a": "left:0", "b": "right:0"}},
            {{"a": "left:1", "b": "right:1"}}, {{"a": "left:2", "b": "a"}}, {{"a": "right:2", "b": "c"}}]}}}},
            "configure": {{"fabric": {{"host": "a"}}}},
            "endpoint": {{"host": {{"response_timeout": "400 ms", "protocol_clock": 20000}}}},
            "traffic": [{{"name": "x", "from": "a", "to": "c", "size": 64,
            "arrivals": {{"constant": {{"interval": "20 us"}}}}, "linx": {{"at": "500 us"{loss}}}}}],
            "faults": {{"outages": [{downs}]}}}}"#
        );
        let report = run(&text, "ways").remove(0);
        let totals: &LinxTotals = report.run.outcome.totals.of().next().unwrap();
        (totals.stats.ended[LinxEnd::Timeout as usize], totals.stats.false_timeouts)
    };
    let planned = r#"{"link": "left:0", "at": "0 ps", "for": "300 us"}"#;
    let other = r#"{"link": "left:1", "at": "1 ms"}"#;
    let (timeouts, false_ones) = ends(&format!("{planned}, {other}"), "");
    assert!(timeouts > 0 && false_ones == 0, "{false_ones} of {timeouts}");
    let mute = r#", "loss": {"heartbeat": 1.0}"#;
    for down in [r#"{"link": "left:0", "at": "0 ps"}"#, r#"{"link": "left:1", "at": "0 ps"}"#, ""] {
        let (timeouts, false_ones) = ends(down, mute);
        assert!(timeouts > 10 && false_ones == timeouts, "{down}: {false_ones} of {timeouts}");
    }
}

/// A packet more than there are ackIDs, all there at once: the last waits until the first is acknowledged, a
/// symbol and twice the cable after its end, and from the start of the one before it on for nothing else.
/// Long symbols have 63 ackIDs, short ones 31.
#[test]
fn who_waits_for_ack_ids_is_told_so() {
    let waits = |rate: &str, symbol: &str, packets: u32, control: &str, buffers: u32| {
        let text = format!(
            r#"{{"name": "acks", "run": {{"until": "1 ms", "warmup": "0 ps"}},
            "links": {{"rate": "{rate} Gbaud", "width": "4x", "length": "1600 m", "phy_latency": "30 ns",
            "symbol": "{symbol}", "flow_control": "{control}"}}, "endpoint": {{"input_buffers": {buffers}}},
            "topology": {{"explicit": {{"devices": [{{"name": "a"}}, {{"name": "b"}}],
            "links": [{{"a": "a", "b": "b"}}]}}}},
            "traffic": [{{"name": "stream", "from": "a", "to": "b", "size": 256, "address_bits": 66,
            "limit": {packets}, "arrivals": {{"saturated": {{"backlog": {packets}}}}}}}]}}"#
        );
        let report = run(&text, "acks").remove(0);
        let parts = report.flows[0].spread.parts_ps;
        [Cause::NoAckId, Cause::NoBuffer, Cause::SourceQueue].map(|cause| parts[cause as usize])
    };
    let cable = 30_000 + 5_000 * 1_600;
    // Octets with their delimiter, and those of a symbol, by four lanes.
    let times = |octets: u128, symbol: u128, character: u128| (octets * character, symbol * character);
    for (rate, kind, ids, (packet, symbol)) in
        [("6.25", "long", 63, times(276 + 8, 8, 400)), ("3.125", "short", 31, times(276 + 4, 4, 800))]
    {
        let ahead = u128::from(ids - 1);
        let last = packet + symbol + 2 * cable - ahead * packet;
        // The others wait for those before them, and the last until the one before it starts.
        let queue = (ahead * (ahead + 1) / 2 + ahead) * packet;
        let told = waits(rate, kind, ids + 1, "receiver", 16);
        assert_eq!(told, [last, 0, queue], "{ids} ackIDs");
    }
    // A sender that counts buffers never gets so far: no symbol can tell of as many as there are ackIDs.
    let [no_ack_id, no_buffer, _] = waits("3.125", "short", 32, "transmitter", 30);
    assert!(no_ack_id == 0 && no_buffer > 2 * cable, "{no_ack_id}, {no_buffer}");
}

/// A trunk that is down for 3 s parts two nodes that live: no timeout is false, the path was not whole.
#[test]
fn an_outage_between_switches_is_no_false_timeout() {
    let text = r#"{"name": "trunk", "run": {"until": "20 s", "warmup": "0 ps", "stall_after": "off",
        "sample_every": "off"}, "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}},
        "endpoint": {"linx": {"carrier": "stream", "hb_tmo": 5}},
        "traffic": [{"name": "linx", "from": ["ep/0", "ep/2"],
        "to": {"neighbour": {"among": ["ep/0", "ep/2"]}}, "linx": {}}],
        "faults": {"outages": [{"link": "sw/0:3", "at": "5.2 s", "for": "3 s"}]}}"#;
    let report = run(text, "trunk").remove(0);
    let stats = &report.run.outcome.totals.one::<LinxTotals>().expect("one flow").stats;
    assert_eq!((stats.ended[LinxEnd::Timeout as usize], stats.false_timeouts), (2, 0), "{stats:?}");
    // and once is enough
    let text = variant(&report);
    assert!(text.contains("2 timed out") && !text.contains("not answered"), "{text}");
}

/// A column that tells the most of a run tells the most of all its replications, others their mean.
#[test]
fn the_most_of_replications_is_the_largest() {
    let (mut most, mut others) = (0, 0);
    for column in METRICS.iter() {
        let together = column.together(&[3.0, 9.0, 6.0]).expect("three values").mean;
        let is_most = column.name.contains("_max_") && !column.unit.is_empty();
        assert_eq!(together, if is_most { 9.0 } else { 6.0 }, "{}", column.name);
        most += u32::from(is_most);
        others += u32::from(!is_most);
    }
    assert!(most > 2 && others > 20, "{most} {others}");
}

/// The load of all sources goes up and comes back: means are of two loads, and not steady, although no time
/// has another level from then on. A flow that begins in the first sixteenth of what is measured is as good
/// as there from the beginning; one that begins later and goes on is not.
#[test]
fn a_load_that_comes_and_goes_is_not_steady() {
    let steady = |other: &str| {
        let text = format!(
            r#"{{
                "name": "t", "run": {{"until": "2 ms", "warmup": "0 ps"}},
                "topology": {{"single_switch": {{"ports": 4}}}},
                "traffic": [
                    {{"name": "a", "from": "ep/0", "to": "ep/1", "size": 256,
                      "arrivals": {{"poisson": {{"load": 0.4}}}}}},
                    {{"name": "b", "from": "ep/2", "to": "ep/3", "size": 256, {other}}}
                ]
            }}"#
        );
        run(&text, "steady")[0].window.steady
    };
    let whole = r#""arrivals": {"poisson": {"load": 0.4}}"#;
    for (other, wanted) in [
        (whole.to_owned(), true),
        (format!(r#"{whole}, "start": "400 us", "stop": "1600 us""#), false),
        (format!(r#"{whole}, "start": "800 us", "stop": "1200 us""#), false),
        (format!(r#"{whole}, "start": "1 us""#), true),
        (format!(r#"{whole}, "start": "100 us""#), true),
        (r#""arrivals": {"poisson": {"load": 0.005}}, "start": "1 us""#.to_owned(), true),
        (r#""arrivals": {"poisson": {"load": 0.005}}, "start": "1 ms""#.to_owned(), false),
    ] {
        assert_eq!(steady(&other), wanted, "{other}");
    }
}

/// Messages of 4 096 octets, 16 packets, beside reads whose answers go the same way: at most a packet a
/// message is between, so a message takes 2 056.8 ns (16 of 110.4, twice the last one, and 180) and a little
/// more, and a read 0.6 us. Their mean is that of neither: what both have is packets, and a pipeline that
/// takes 100 ns more adds that to each of them. The figure shows what each of them waits for.
#[test]
fn victims_of_two_kinds_have_packets_in_common() {
    let text = r#"{"name": "t", "run": {"until": "300 us", "warmup": "0 ps"},
        "topology": {"single_switch": {"ports": 4}},
        "traffic": [
            {"name": "h", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.4}}},
            {"name": "m", "from": "ep/2", "to": "ep/3", "messages": {}, "size": 4096,
                "arrivals": {"constant": {"interval": "5 us"}}},
            {"name": "q", "from": "ep/3", "to": "ep/2", "rpc": {"via": "read", "response": 256},
                "arrivals": {"constant": {"interval": "3 us"}}}],
        "declare": {"victims": ["m", "q"], "hot": ["h"]},
        "variants": [{"name": "a"}, {"name": "b", "set": {"/switch/pipeline": "200 ns"}}]}"#;
    let reports = run(text, "t");
    let said = conclusion(&reports).join("\n");
    assert!(said.contains("mean network latency") && !said.contains("mean round trip"), "{said}");
    let packets = |report: &VariantReport| {
        let own = ["m", "q"].map(|name| report.flow(name).expect("a flow").delivered);
        let [sum, count] = [0, 1].map(|which| {
            own.iter().map(|one| if which == 0 { one.network_ps } else { one.packets.into() }).sum::<u128>()
        });
        sum as f64 / count as f64
    };
    let [a, b] = [&reports[0], &reports[1]].map(packets);
    assert!((b - a - 100_000.0).abs() < 2_000.0, "{a} {b}");
    assert!(said.contains(&format!("{} \u{2192} {}", time_text(a), time_text(b))), "{said}");
    let caption = Caption::new("s", String::new(), &reports);
    let figure = figures::svg(&caption, &reports, "victims").expect("there are victims and hot flows");
    let median = |name: &str, messages: bool| {
        let flow = reports[0].flow(name).expect("a flow");
        let level = if messages { &flow.messages } else { &flow.round_trips };
        level.as_ref().expect("it has some").spread.latency.quantile(0.5).expect("a median") as f64
    };
    let [message, trip] = [median("m", true), median("q", false)];
    assert!((2_056_800.0..2_300_000.0).contains(&message) && (500_000.0..700_000.0).contains(&trip));
    for time in [message, trip] {
        assert!(figure.contains(&time_text(time)), "{}", time_text(time));
    }
}

/// A measured part of a moment at the end of a run has as many bins as are worth it, and begins with one.
#[test]
fn a_short_measured_part_makes_no_more_bins() {
    let variant = r#"{"name": "t", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "10 us", "warmup": "0 ps"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}}]}"#;
    let plan = scenarios::load(variant, "t", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let one = &plan.variants[0];
    for left in [1, 2, 7, 100, 1_000, 99_999, 100_000, 156_250, 312_500, 5_000_000, 9_999_999, 10_000_000] {
        let from = models::sim_core::Time(10_000_000 - left);
        let of = CollectorConfig::new(&one.config, one.until).measured_from(from);
        let collector = Collector::new(&of);
        let bins = collector.bins();
        assert!((1_024 / 16..6_000).contains(&bins), "{left} ps: {bins}");
        assert_eq!(collector.bin_start(collector.first_bin()), from.0, "{left} ps");
        assert!(collector.bin_start(bins) > one.until.0, "{left} ps: the end is in the last one");
    }
}
