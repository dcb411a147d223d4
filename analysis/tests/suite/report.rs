//! Estimates, summary and table of synthetic runs.

use crate::synthetic::{LENGTH, WITH, WITHOUT, fabric, plain, run};
use analysis::baselines::baselines;
use analysis::figures::{self, Caption};
use analysis::table::{conclusion, variant};
use analysis::{Collector, CollectorConfig, Role, RunData, Summary, VariantReport, Warmup, series};
use models::config::{PacketSize, Sizes};
use models::probe::{Cause, Probe};
use models::sim_core::Time;
use models::stats::{FlowLeft, FlowStats};
use std::sync::Arc;

/// A run of the given deliveries, all of them created as well.
pub fn run_of(deliveries: &[models::probe::Delivery], warmup: Warmup, end: u64) -> RunData {
    let config = Arc::new(fabric(1));
    let mut collector = Collector::new(&CollectorConfig::new(&config, LENGTH));
    for delivery in deliveries {
        collector.offered(&crate::synthetic::offer(delivery));
        collector.delivered(delivery);
    }
    let count = deliveries.len() as u64;
    let outcome =
        models::Outcome { end: Time(end), injected: count, delivered: count, ..models::Outcome::default() };
    RunData { name: "v".into(), config, collector, outcome, warmup, victims: vec![], hot: vec![] }
}

#[test]
fn loads_and_rates_of_a_regular_stream() {
    // 256 octets every 400 ns from two sources: 5.12 Gb/s, and 114 ns of 800 ns on each link.
    let stream: Vec<_> = (0..5_000).map(|n| plain(400_000 * n + 399_999, 300_000, 0)).collect();
    let report = VariantReport::new(run_of(&stream, Warmup::Fixed(0), LENGTH.0));
    let victim = &report.flows[0];
    assert_eq!(victim.delivered.packets, 5_000);
    assert!((victim.goodput_gbps.value - 5.12).abs() < 1e-9);
    assert!((victim.accepted_load.value - 0.1425).abs() < 1e-9);
    assert!((victim.offered_load - 0.1425).abs() < 1e-9);
    assert!(!victim.saturated);
    assert_eq!(victim.latency.mean.value, 300_000.0);
    assert_eq!(victim.latency.mean.half_width, 0.0);
    assert_eq!((victim.latency.p50.value, victim.latency.max), (300_000.0, 300_000.0));
    // Little: 5 000 packets of 300 ns in 2 ms
    assert!((victim.mean_blocked[Cause::OutputContention as usize] - 0.75).abs() < 1e-9);
    assert_eq!(victim.share(Cause::OutputContention), 1.0);
    assert!(report.flows[1].latency.mean.value.is_nan());
}

#[test]
fn saturation_is_less_than_99_percent_accepted() {
    let stream: Vec<_> = (0..1_000).map(|n| plain(400_000 * n + 400_000, 300_000, 0)).collect();
    for (lost, saturated) in [(9, false), (12, true)] {
        let mut data = run_of(&stream[lost..], Warmup::Fixed(0), LENGTH.0);
        for delivery in &stream[..lost] {
            data.collector.offered(&crate::synthetic::offer(delivery));
        }
        let left = FlowLeft { packets: lost as u64, to_arrive: lost as u64, ..Default::default() };
        data.outcome.left = vec![left, FlowLeft::default()];
        assert_eq!(VariantReport::new(data).flows[0].saturated, saturated, "{lost} of 1 000 lost");
    }
}

/// Every 400 ns one packet of 256 octets is delivered, 300 ns after its creation.
fn regular(from: u64, to: u64) -> Vec<models::probe::Delivery> {
    (from..to).map(|n| plain(400_000 * n + 399_999, 300_000, 0)).collect()
}

/// A warm-up that the collector knows is exact to the picosecond, in counts, distributions and lengths: 200
/// us are 200 us, and not a sixteenth of the run more.
#[test]
fn a_given_warmup_is_exact() {
    for from in [1, 200_000_000, 200_000_001, 1_234_567_891, LENGTH.0 - 1_000_000] {
        let stream = regular(0, 5_000);
        let mut data = run_of(&[], Warmup::Fixed(from), LENGTH.0);
        let of = CollectorConfig::new(&data.config, LENGTH).measured_from(Time(from));
        data.collector = Collector::new(&of);
        for delivery in &stream {
            data.collector.offered(&crate::synthetic::offer(delivery));
            data.collector.delivered(delivery);
        }
        (data.outcome.injected, data.outcome.delivered) = (5_000, 5_000);
        let report = VariantReport::new(data);
        assert_eq!((report.window.from_ps, report.window.rule), (from, "fixed"));
        let after = stream.iter().filter(|delivery| delivery.at.0 >= from).count() as u64;
        assert_eq!(report.flows[0].delivered.packets, after, "{from}");
        assert_eq!(report.flows[0].spread.latency.histogram.len(), after, "{from}");
        let law = after as f64 * 2_048.0 / ((LENGTH.0 - from) as f64 / 1e3);
        assert!((report.flows[0].goodput_gbps.value / law - 1.0).abs() < 1e-9, "{from}");
        assert!(report.broken.is_empty(), "{:?}", report.broken);
    }
}

#[test]
fn a_warmup_that_the_collector_does_not_know_rounds_up_and_says_so() {
    let stream = regular(0, 5_000);
    let report = VariantReport::new(run_of(&stream, Warmup::Fixed(1), LENGTH.0));
    assert_eq!((report.window.from_bin, report.window.from_ps), (64, 64 * 1_953_126));
    assert_eq!(report.window.rule, "fixed, rounded up to a sixteenth of the run");
    let after = stream.iter().filter(|delivery| delivery.at.0 >= report.window.from_ps).count() as u64;
    assert_eq!(report.flows[0].delivered.packets, after);
    assert_eq!(report.flows[0].spread.latency.histogram.len(), after);
    // a warm-up longer than the run leaves nothing to measure, so the whole run is reported, marked
    let report = VariantReport::new(run_of(&stream, Warmup::Fixed(u64::MAX), LENGTH.0));
    assert!(report.window.from_ps == 0 && !report.window.steady);
}

/// Packets arrive up to 40 or 400 us, and then one stands in the fabric for ever: what is measured from 100
/// us on is no steady state, though nothing changes in it. With arrivals to the end it is one, and with a
/// packet that has been on its way for 100 us: who sends seldom has long pauses.
#[test]
fn who_stands_still_is_not_steady() {
    for (until, since, steady) in
        [(100, 40, false), (1_000, 400, false), (100, 1_900, true), (5_000, 400, true)]
    {
        let mut data = run_of(&regular(0, until), Warmup::Fixed(100_000_000), LENGTH.0);
        data.outcome.injected += 1;
        data.outcome.in_flight = 1;
        let oldest_packet = Some(Time(since * 1_000_000));
        data.outcome.left = vec![
            FlowLeft { packets: 1, to_arrive: 1, oldest_packet, ..FlowLeft::default() },
            FlowLeft::default(),
        ];
        let report = VariantReport::new(data);
        assert_eq!(report.window.steady, steady, "{until}, {since}: {:?}", report.window);
        assert_eq!(report.flows[0].delivered.packets > 0, until > 100);
    }
}

/// A flow that ends has one rate: 256 octets in each 400 ns are 5.12 Gb/s, however long the run goes on after
/// it, and whatever is cut off at its beginning.
#[test]
fn a_flow_that_ends_is_not_divided_by_the_run() {
    for (from, to, warmup) in [(0, 1_000, 0), (0, 100, 0), (2_000, 3_000, 0), (0, 4_000, 300_000_000)] {
        let stream = regular(from, to);
        let mut data = run_of(&stream, Warmup::Fixed(warmup), LENGTH.0);
        let mut config = (*data.config).clone();
        config.sources.iter_mut().for_each(|source| source.limit = 1_000);
        data.config = Arc::new(config);
        let report = VariantReport::new(data);
        // From the first creation to the last delivery: the last packet has no gap behind it.
        let span = ((to - from - 1) * 400_000 + 300_000) as f64;
        let law = (to - from) as f64 * 2_048_000.0 / span;
        for flow in [&report.flows[0], &report.overall] {
            assert!(
                (flow.goodput_gbps.value / law - 1.0).abs() < 1e-9,
                "{from} to {to}: {:?}",
                flow.goodput_gbps
            );
            assert!(flow.goodput_gbps.half_width.is_nan());
        }
        let summary = Summary::new("s", &[report]).to_json();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let told = &summary["variants"][0]["flows"][0];
        assert!((told["goodput_gbps"]["value"].as_f64().unwrap() / law - 1.0).abs() < 1e-8);
        assert_eq!(told["goodput_over_us"][0].as_f64().unwrap(), from as f64 * 0.4 + 0.099_999);
    }
}

/// What was asked for comes first, with what became of it: 1 000 packets, of which 9 were dropped and 41 are
/// left, the oldest for 1.5 ms.
#[test]
fn the_books_come_before_latencies() {
    let mut data = run_of(&regular(0, 950), Warmup::Fixed(0), LENGTH.0);
    for _ in 0..9 {
        data.collector.dropped(&models::probe::Dropped {
            at: Time(1),
            flow: 0,
            device: 6,
            members: 1,
            reason: models::probe::DropReason::NoRoom,
        });
    }
    (data.outcome.dropped, data.outcome.in_flight) = (9, 41);
    data.outcome.injected += 50;
    let left = models::stats::FlowLeft {
        packets: 41,
        to_arrive: 41,
        oldest_packet: Some(Time(500_000_000)),
        ..Default::default()
    };
    data.outcome.left = vec![left, Default::default()];
    let report = VariantReport::new(data);
    let books = report.flows[0].books;
    assert_eq!((books.asked, books.arrived, books.never, books.under_way), (1_000, 950, 9, 41));
    assert_eq!(books.oldest_ps, Some(1_500_000_000));
    let text = variant(&report);
    let rows: Vec<&str> = text.lines().collect();
    let words: Vec<&str> = rows[2].split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    assert_eq!(words[..6], ["victim", "1 000", "950", "9", "41", "1.50 ms"], "{text}");
    assert!(rows[5].trim_start().starts_with("times of"), "latencies come after: {text}");
    let said = &conclusion(&[report])[0];
    assert!(
        said.starts_with(
            "victim: 950 of 1 000 packets arrived, 9 never will, 41 under way, the oldest for 1.50 ms;"
        ),
        "{said}"
    );
}

/// Of 367 values even the largest may well lie below the 99th percentile: there is none. From 368 on there
/// is.
#[test]
fn a_quantile_needs_values_beyond_it() {
    for (count, known) in [(9, false), (367, false), (368, true)] {
        let latency =
            VariantReport::new(run_of(&regular(0, count), Warmup::Fixed(0), LENGTH.0)).flows[0].latency;
        assert_eq!(latency.p99.value.is_finite(), known, "{count}");
        assert!(latency.p50.value.is_finite() && latency.p999.value.is_nan() && latency.max.is_finite());
    }
}

/// Times that climb all through what is measured are not steady, although MSER-5 and a given warm-up find
/// nothing. What arrives every 400 ns is steady all the same, and its figure does not say that it is not; of
/// every third packet less in the second half it does.
#[test]
fn a_climb_is_not_steady() {
    let climb = |slope: u64| -> Vec<_> {
        (0..5_000).map(|n| plain(400_000 * n + 399_999, 300_000 + slope * n, 0)).collect()
    };
    for (slope, steady) in [(0, true), (60, false)] {
        let stream: Vec<_> = climb(slope).split_off(10);
        let report = |stream: &[_]| VariantReport::new(run_of(stream, Warmup::Fixed(400_000_000), LENGTH.0));
        let rates_steady = |report: &VariantReport| {
            let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
            let drawn = figures::svg(&caption, std::slice::from_ref(report), "goodput").expect("it is drawn");
            !drawn.contains("not steady")
        };
        let whole = report(&stream);
        assert_eq!((whole.window.steady, rates_steady(&whole)), (steady, true), "slope {slope}");
        let half = stream.len() / 2;
        let fewer = stream.iter().enumerate().filter(|(n, _)| *n < half || n % 3 > 0);
        let fewer: Vec<_> = fewer.map(|(_, delivery)| *delivery).collect();
        assert!(!rates_steady(&report(&fewer)), "slope {slope}");
    }
}

/// What changes at 60 % of the run is beyond the half in which MSER-5 looks for a transient: times that fall
/// or rise by half, and a load of which every other packet is left out. What falls all the time is not steady
/// either.
#[test]
fn a_change_beyond_the_middle_is_not_steady() {
    let stream = |latency: &dyn Fn(u64) -> u64, keep: &dyn Fn(u64) -> bool| -> Vec<_> {
        let some = (0..5_000u64).filter(|n| keep(*n));
        some.map(|n| plain(400_000 * n + 399_999, latency(n), 0)).collect()
    };
    let (flat, all) = (|n: u64| 300_000 + n % 7, |_: u64| true);
    let cases: [(&str, Vec<_>, bool); 5] = [
        ("as it was", stream(&flat, &all), true),
        ("faster", stream(&|n| if n < 3_000 { flat(n) } else { 150_000 }, &all), false),
        ("slower", stream(&|n| if n < 3_000 { 150_000 } else { flat(n) }, &all), false),
        ("falling", stream(&|n| 300_000 - 40 * n, &all), false),
        ("fewer", stream(&flat, &|n| n < 3_000 || n % 2 == 0), false),
    ];
    for (what, stream, steady) in &cases {
        for warmup in [Warmup::Auto, Warmup::Fixed(400_000_000)] {
            let report = VariantReport::new(run_of(&stream[10..], warmup, LENGTH.0));
            assert_eq!(report.window.steady, *steady, "{what}, {warmup:?}");
        }
    }
}

/// Latency falls from 20 to 1 microseconds in the first 300 microseconds.
#[test]
fn automatic_warmup_cuts_the_transient() {
    let stream: Vec<_> = (0..10_000u64)
        .map(|n| {
            let at = 200_000 * n + 100_000;
            let excess = 19_000_000u64.saturating_sub(at / 300 * 19);
            plain(at + 21_000_000, 1_000_000 + excess + n * 7919 % 1_000, 0)
        })
        .filter(|delivery| delivery.at <= LENGTH)
        .collect();
    let report = VariantReport::new(run_of(&stream, Warmup::Auto, LENGTH.0));
    let window = report.window;
    assert_eq!(window.rule, "MSER-5");
    assert!(window.steady);
    // 321 us rounds up to three segments of 125 us
    assert_eq!(window.from_ps, 3 * 64 * 1_953_126);
    assert!(report.flows[0].latency.max < 1_010_000.0);
}

#[test]
fn a_finite_workload_is_measured_whole() {
    let stream: Vec<_> = (0..100).map(|n| plain(400_000 * n + 400_000, 300_000, 0)).collect();
    // whether the run ends with it or sits out its time, up to the last delivery at 40 us
    for end in [40_000_000, LENGTH.0] {
        let mut run = run_of(&stream, Warmup::Auto, end);
        Arc::make_mut(&mut run.config).sources.iter_mut().for_each(|source| source.limit = 100);
        let report = VariantReport::new(run);
        assert_eq!((report.window.from_ps, report.window.to_ps), (0, 40_000_000));
        assert_eq!(report.window.rule, "none: all is over before the end of the run");
        assert!(report.window.steady);
        assert_eq!(report.flows[0].delivered.packets, 100);
    }
    // packets that never arrived are not a workload that ended
    let mut stuck = run_of(&stream, Warmup::Auto, LENGTH.0);
    stuck.outcome.in_flight = 1;
    stuck.outcome.injected += 1;
    let window = VariantReport::new(stuck).window;
    assert_eq!((window.from_ps, window.to_ps, window.steady), (0, LENGTH.0, false));
}

#[test]
fn broken_laws_are_reported() {
    let stream = [plain(400_000, 300_000, 0)];
    let mut data = run_of(&stream, Warmup::Auto, 50_000_000);
    assert!(VariantReport::new(data.clone()).broken.is_empty());
    data.outcome.in_flight = 1;
    assert_eq!(VariantReport::new(data.clone()).broken.len(), 1);
    data.outcome.injected = 2;
    let broken = VariantReport::new(data).broken;
    assert!(broken[0].starts_with("observation"), "{broken:?}");
}

#[test]
fn summary_is_the_same_bytes_again_and_parses() {
    let reports = || [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let text = Summary::new("hotspot", &reports()).to_json();
    assert_eq!(text, Summary::new("hotspot", &reports()).to_json());
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["format", "scenario", "variants"]);
    let variant = &value["variants"][1];
    assert_eq!(variant["name"], "VoQ backpressure");
    assert_eq!(variant["overall"]["decomposition"].as_object().unwrap().len(), 13);
    // the worst input port of the one switch comes first
    assert_eq!(variant["hol_blocking"]["switches"][0]["at"], "leaf/0");
    assert_eq!(variant["hol_blocking"]["worst_ports"][0]["at"], "leaf/0:5");
    assert_eq!(variant["hol_blocking"]["worst_ports"][0]["sum_ps"], 7_500_000_000u64);
    assert_eq!(variant["fabric"]["link_use_max_port"], "leaf/0:5");
    assert_eq!(variant["fabric"]["link_use_max"], 0.675);
    // nine digits at most
    for number in
        text.split([' ', ',', '\n']).filter(|word| word.contains('.') && word.parse::<f64>().is_ok())
    {
        let digits =
            number.split('e').next().unwrap().chars().filter(char::is_ascii_digit).collect::<String>();
        assert!(digits.trim_matches('0').len() <= 9, "{number}");
    }
}

#[test]
fn series_have_a_field_for_every_column() {
    let reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    // which percentiles so many packets tell, by hand: 0.5^6 and 0.99^368 are less than 0.025
    let told = |packets: u64| match packets {
        0 => 0,
        count => {
            let inner = [(6, 1), (8, 2), (11, 2), (13, 2), (17, 2), (36, 2), (72, 2)];
            let outer = [(368, 2), (3_688, 1), (36_887, 1)];
            let beyond = inner.iter().chain(&outer);
            2 + beyond.filter(|(least, _)| count >= *least).map(|(_, rows)| rows).sum::<usize>()
        }
    };
    let flows = reports.iter().flat_map(|report| report.flows.iter().chain([&report.overall]));
    let known: usize = flows.map(|flow| told(flow.spread.latency.histogram.len())).sum();
    for (name, text, rows) in [
        ("flows", series::flows_csv(&reports), 2 * 2 * 1024),
        ("fabric", series::fabric_csv(&reports), 2 * 1024),
        ("percentiles", series::percentiles_csv(&reports), known),
        ("links", series::links_csv(&reports), 2 * 12),
        ("endpoints", series::endpoints_csv(&reports), 2 * 6),
        ("queues", series::queues_csv(&reports), 2 * 12 * 1024),
    ] {
        let mut lines = text.lines();
        let columns = lines.next().unwrap().split(',').count();
        assert!(lines.clone().all(|line| line.split(',').count() == columns), "{name}");
        let slack = rows / 50;
        assert!((rows - slack..=rows).contains(&lines.count()), "{name}");
    }
}

/// By hand: at each of twelve ports a tenth of a packet waits all the time, and one queue is stopped from
/// half of the run on. Each port has a byte of 1, so that it can be seen; together 1.2 packets wait in each
/// part, and not 12.
#[test]
fn what_waits_at_many_ports_is_added_before_it_is_rounded() {
    let mut data = run(WITH);
    let config = CollectorConfig::new(&data.config, LENGTH).watching(&data.config);
    data.collector = Collector::new(&config);
    let ports = Arc::new((0..6).map(|n| (n, 0)).chain((0..6).map(|n| (6, n))).collect::<Vec<(u32, u8)>>());
    const EVERY: u64 = 1_000_000;
    for at in (EVERY..=LENGTH.0).step_by(EVERY as usize) {
        if at == LENGTH.0 / 2 + EVERY {
            data.collector.staging_edge(&models::probe::StagingEdge {
                at: Time(at - EVERY),
                device: 2,
                port: 0,
                channel: 0,
                queue: 5,
                stopped: true,
            });
        }
        data.collector.sample(&models::probe::Sample {
            at: Time(at),
            since: Time(at - EVERY),
            ports: Arc::clone(&ports),
            input_ps: vec![0; 12],
            waiting_ps: vec![EVERY / 10; 12],
            carried_ps: vec![0; 12],
            ..models::probe::Sample::default()
        });
    }
    let all = series::all(&[VariantReport::new(data)]);
    let text = &all.iter().find(|file| file.name == "congestion.json").expect("it is watched").text;
    let json: serde_json::Value = serde_json::from_str(text).unwrap();
    let told = &json["variants"][WITH.name];
    let means = |key: &str| -> Vec<f64> { serde_json::from_value(told[key].clone()).unwrap() };
    let (waiting, stopped) = (means("waiting_packets"), means("stopped_queues"));
    assert_eq!(told["ports"].as_array().map(Vec::len), Some(12));
    assert!(waiting.len() > 100 && waiting.iter().all(|mean| (mean - 1.2).abs() < 1e-9), "{waiting:?}");
    assert_eq!((stopped[0], stopped.last()), (0.0, Some(&1.0)));
}

#[test]
fn histograms_hold_every_packet() {
    let report = VariantReport::new(run(WITH));
    let expected = report.flows[0].delivered.packets;
    let value: serde_json::Value = serde_json::from_str(&series::histograms_json(&[report])).unwrap();
    let pairs = value["variants"]["VoQ backpressure"]["victim"]["latency"].as_array().unwrap();
    let sum: u64 = pairs.iter().map(|pair| pair[1].as_u64().unwrap()).sum();
    assert_eq!(sum, expected);
}

#[test]
fn table_and_conclusion() {
    let reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let text = variant(&reports[0]);
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].starts_with("no backpressure  (seed 7, measured"), "{text}");
    assert!(rows[2].trim_start().starts_with("victim"), "{text}");
    assert!(rows[4].trim_start().starts_with("overall"), "{text}");
    let width = rows[1].chars().count();
    assert!(rows[1..5].iter().all(|row| row.chars().count() == width), "{text}");
    let lines = conclusion(&reports);
    assert_eq!(lines.len(), 1);
    let expected =
        "no backpressure \u{2192} VoQ backpressure: goodput of victim 5.42 \u{2192} 10.7 Gb/s (+97 %)";
    assert!(lines[0].starts_with(expected), "{lines:?}");
    let mut undeclared = reports;
    for flow in undeclared.iter_mut().flat_map(|report| &mut report.flows) {
        flow.role = None;
    }
    // the victim's goodput still changes most
    assert_eq!(conclusion(&undeclared), lines);
    assert!(conclusion(&undeclared[..1])[0].contains("Gb/s at"));
    // where nothing happens to the declared victim, the sentence goes on with what happens
    for report in &mut undeclared {
        report.flows[1].role = Some(Role::Victim);
    }
    // it is named first all the same
    let said = &conclusion(&undeclared)[0];
    assert!(said.starts_with("no backpressure \u{2192} VoQ backpressure: goodput of hot "), "{said}");
    assert!(said.contains(", goodput of victim 5.42 \u{2192} 10.7 Gb/s (+97 %)"), "{said}");
    undeclared[1].flows[1].goodput_gbps.value /= 2.0;
    let said = &conclusion(&undeclared)[0];
    assert!(said.contains("goodput of hot 10.6 \u{2192} 5.28"), "{said}");
}

#[test]
fn only_what_asks_for_the_same_is_compared() {
    let report = VariantReport::new(run_of(&[], Warmup::Auto, 0));
    // Of each variant: payload octets of a source, and Transfers asked for.
    let of = |variants: &[(&str, u16, u64)]| {
        let with = |&(name, payload, asked): &(&str, u16, u64)| {
            let mut report = report.clone();
            report.run.name = name.into();
            let config = Arc::make_mut(&mut report.run.config);
            for source in &mut config.sources {
                source.sizes = Sizes::Fixed(PacketSize { payload, wire: payload + 20 });
            }
            report.flows[0].books.asked = asked;
            report.flows[0].protocol = Some(FlowStats::default());
            report
        };
        baselines(&variants.iter().map(with).collect::<Vec<VariantReport>>())
    };
    assert_eq!(of(&[("a", 8, 1), ("b", 8, 1), ("c", 64, 1), ("d", 64, 1)]), [0, 0, 2, 2]);
    // By their names d would be compared with c, but it asks for what b does.
    let crossed = [("fifo-30", 8, 1), ("voq-30", 8, 1), ("fifo-50", 64, 1), ("voq-50", 8, 1)];
    assert_eq!(of(&crossed), [0, 0, 2, 0]);
    // The same sources, and more is asked for: a copy for each member of a group, for example.
    assert_eq!(of(&[("a", 8, 100), ("b", 8, 240), ("c", 8, 101)]), [0, 1, 0]);
}
