//! Laws of what figures and their captions say.

use super::courses::{
    Course, Scale, Scales, busy_end, chosen, longest_packet, over_time, panels_over_time, rates, roughness,
    unit_of_panels,
};
use super::latency::{LEAST_OF_TAIL, bucket, cdf, least_tail, tail};
use super::synthetic::{LENGTH, Mood, REFRESH, WITH, WITHOUT, closed_loops, deliveries, run};
use super::words::{
    UNSTEADY, mixture, others_text, starved, still_under_way, stuck, transient, unequal_overloads, worth_most,
};
use super::*;
use crate::axes::{Axis, LABEL, MARGIN, Panel, Ticks, coinciding};
use crate::books::{Above, Books};
use crate::collect::{Collector, CollectorConfig, Spread};
use crate::level::{come_share, left_share, never_share, under_way_share};
use crate::num::{TimeUnit, count_text, gbps, ratio, three_digits, time_text};
use crate::run::RunData;
use crate::scene::text_width;
use models::config::FlowConfig;
use models::probe::Cause;
use models::run::StallReport;
use models::sim_core::Time;
use models::stats::{FlowLeft, FlowStats, SessionStats, SessionTotals, TranslatorTotals};
use plotters::style::RGBColor;
use std::sync::Arc;

/// Frames of Scheduled Transfer are the messages of a flow.
const FRAMES: Above = Above {
    carries: "frames of Scheduled Transfer",
    nothing_else: true,
    latency: "mean time of a Transfer",
    sum_ps: 1,
    count: 1,
    at_application_ps: 0,
    begun: (0, 0),
    stops: 0,
    lost_late: 0,
    touched: [0; 2],
};

/// A run with the victims spread over this many flows.
fn many_flows(count: usize, mood: Mood) -> RunData {
    let mut data = run(mood);
    let mut config = (*data.config).clone();
    config.flows = (0..count).map(|n| FlowConfig { name: format!("tenant {n} bulk transfers") }).collect();
    data.collector = Collector::new(&CollectorConfig::new(&config, LENGTH));
    for (index, mut delivery) in deliveries(mood, 3).into_iter().enumerate() {
        delivery.flow = (index % count) as u16;
        models::Probe::delivered(&mut data.collector, &delivery);
    }
    data.config = Arc::new(config);
    data
}

/// Three of four packets take 1 us, one takes 4 us: 75 % up to there, and nobody in between.
#[test]
fn a_distribution_has_steps_where_nothing_occurs() {
    let histogram = hdrhistogram::Histogram::new_with_bounds(1_000, 1 << 30, 3).unwrap();
    let mut spread = Spread { histogram, min: 1_000_000, max: 4_000_000 };
    for ps in [1_000_000, 1_000_000, 1_000_000, 4_000_000] {
        spread.histogram.record(ps).unwrap();
    }
    let panel = Panel {
        x: 0.0,
        y: 0.0,
        width: 500.0,
        height: 300.0,
        horizontal: Axis::log_times(1e6, 4e6),
        vertical: Axis::exactly(100.0),
    };
    let points = cdf(&spread, &panel);
    let close = |a: (f64, f64), b: (f64, f64)| (a.0 / b.0 - 1.0).abs() < 0.01 && (a.1 - b.1).abs() < 1e-9;
    let law = [(1e6, 0.0), (1e6, 75.0), (4e6, 75.0), (4e6, 100.0), (panel.horizontal.high, 100.0)];
    assert_eq!(points.len(), law.len(), "{points:?}");
    assert!(points.iter().zip(law).all(|(&found, law)| close(found, law)), "{points:?}");
}

/// One scale for runs that can be seen beside each other, one each where the longest hides the shortest.
#[test]
fn runs_of_very_different_lengths_have_their_own_axes() {
    let scales = |lengths: [u64; 2]| {
        let report = |to_ps| {
            let mut report = VariantReport::new(run(WITH));
            report.window.to_ps = to_ps;
            report
        };
        let scales = Scales::new(&lengths.map(report), |report| report.window.to_ps, |_| 0);
        (scales.apart, scales.of.iter().map(|scale| scale.end_ps).collect::<Vec<u64>>())
    };
    assert_eq!(scales([1_000, 8_000]), (false, vec![8_000, 8_000]));
    assert_eq!(scales([1_000, 8_001]), (true, vec![1_000, 8_001]));
}

/// One height for panels that can be read beside each other, one each where the highest flattens another;
/// one without anything flattens nobody.
#[test]
fn panels_of_very_different_heights_have_their_own_axes() {
    let reports = [WITHOUT, WITH, REFRESH].map(|mood| VariantReport::new(run(mood)));
    let uneven = |highs: [f64; 3]| {
        let courses = highs.map(|high| Course { label: "", lines: vec![vec![(0.0, 0.0), (1.0, high)]] });
        let mut scales = Scales::new(&reports, |report| report.window.to_ps, |_| 0);
        scales.level(&courses);
        let scene = panels_over_time("t", "", &reports, Vec::new(), &courses, &scales).to_svg();
        assert_eq!(scene.contains("t, each variant on a vertical axis of its own"), scales.uneven);
        scales.uneven
    };
    assert!(!uneven([1.0, 10.0, 0.0]) && uneven([1.0, 10.1, 0.0]));
}

/// Runs of many variants, with names.
fn variants<const N: usize>(flows: usize) -> [VariantReport; N] {
    std::array::from_fn(|n| {
        let data = many_flows(flows, if n % 2 == 0 { WITH } else { WITHOUT });
        VariantReport::new(RunData { name: format!("variant-{n}"), ..data })
    })
}

/// Seven lines can be told apart; eight are two times four, on the same axis.
#[test]
fn distributions_of_many_variants_are_parted() {
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let of = |reports: &[VariantReport]| {
        latency_cdf(&caption, reports, "t", Quantity::Latency(PACKETS), Shape::Distribution).unwrap().to_svg()
    };
    let eight = variants::<8>(1);
    let (seven, eight) = (of(&eight[..7]), of(&eight));
    assert!(!seven.contains(" to variant"));
    assert!(eight.contains(", variant-0 to variant-3") && eight.contains(", variant-4 to variant-7"));
}

/// A title of two lines keeps clear of the keys above it: their baselines are a line and a half apart.
#[test]
fn titles_of_two_lines_keep_clear_of_the_legend() {
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let mut reports = variants::<8>(1);
    for (n, report) in reports.iter_mut().enumerate() {
        report.run.name = format!("a variant with a name that is long {n}");
    }
    let drawn = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
    let [key, title] = [&reports[7].run.name, "flow tenant 0 bulk transfers"];
    let apart = place_of(&drawn, title, "y") - place_of(&drawn, key, "y");
    // the page is drawn in eighths
    assert!(apart / 8.0 >= 1.5 * LABEL.size, "{apart}");
}

/// All seven lie on one another, and their names are longer than a panel: each of them can be read below
/// it.
#[test]
fn every_line_that_is_hidden_is_named() {
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let mut reports = variants::<7>(2);
    for (n, report) in reports.iter_mut().enumerate() {
        let data = RunData { name: format!("a long name of a variant, number {n}"), ..many_flows(2, WITH) };
        *report = VariantReport::new(data);
    }
    let drawn = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
    let words: Vec<&str> = drawn.lines().filter(|line| !line.starts_with('<')).collect();
    let words = words.join(" ");
    let list = words.split("one line: ").nth(1).expect("they lie on one another");
    let all: Vec<String> = reports.iter().map(|report| report.run.name.clone()).collect();
    assert!(list.starts_with(&all.join(" = ")), "{list}");
}

/// A label with the name of a protocol is longer than the axis of one panel of several, and would lie on
/// the keys above it.
#[test]
fn labels_are_no_longer_than_their_axes() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    for flow in reports.iter_mut().flat_map(|report| &mut report.flows) {
        flow.messages = Some(Box::new(flow.clone()));
        flow.above = Some(FRAMES);
    }
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let drawn = svg(&caption, &reports, "latency_tail").expect("it is drawn");
    let label = drawn.lines().find(|line| line.ends_with("that take longer (%)")).expect("a label");
    assert!(drawn.matches(label).count() == 2 && text_width(label, LABEL) <= 230.0, "{label}");
}

/// What is less than a pixel everywhere has no key; all flows of a study with many variants have bars.
#[test]
fn decompositions_name_what_can_be_seen_and_show_all_flows() {
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let of = |reports: &[VariantReport]| bars::decomposition(&caption, reports, PACKETS).unwrap().to_svg();
    let mut reports = variants::<18>(4);
    let (cause, total) = {
        let flow = &reports[3].flows[2];
        (Cause::Recovery as usize, flow.spread.parts_ps.iter().sum::<u128>())
    };
    assert!(!of(&reports).contains("of 4 flows") && !of(&reports).contains(Cause::Recovery.name()));
    reports[3].flows[2].spread.parts_ps[cause] = total / 1_000_000;
    let thin = of(&reports);
    assert!(!thin.contains(Cause::Recovery.name()) && thin.contains("less than 0.3 % everywhere"));
    reports[3].flows[2].spread.parts_ps[cause] = total / 100;
    assert!(of(&reports).contains(Cause::Recovery.name()));
}

/// Counts that differ are drawn, the largest at full length; those that are alike are no result.
#[test]
fn counts_that_differ_are_drawn() {
    let mut reports = [WITHOUT, WITHOUT].map(|mood| VariantReport::new(run(mood)));
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    assert!(reports[0].flows.len() > 1);
    assert!(things::counted(&caption, &reports).is_none());
    (reports[0].overall.dropped, reports[1].overall.dropped) = (1_234, 5_678);
    let svg = things::counted(&caption, &reports).expect("they differ").to_svg();
    assert!(svg.contains("packets dropped") && svg.contains("1 234") && svg.contains("5 678"), "{svg}");
}

/// x of a text in a drawing.
fn x_of(svg: &str, text: &str) -> f64 {
    place_of(svg, text, "x")
}

/// Where the first text stands that says this: `x` or `y`.
fn place_of(svg: &str, text: &str, axis: &str) -> f64 {
    let at = svg.lines().zip(svg.lines().skip(1)).find(|(_, line)| line.trim() == text);
    let (open, _) = at.unwrap_or_else(|| panic!("{text} is not in {svg}"));
    open.split(&format!(" {axis}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
}

/// By hand: of two variants the first waits 9 us at its source and 1 us behind it, the second 2 us and
/// 3 us. What is decided on is 10 us against 5 us, so the first panel has the first variant longer,
/// although the second is longer without the source queue, which has a panel that says so.
#[test]
fn the_whole_latency_comes_first() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    for (report, parts) in reports.iter_mut().zip([[9u128, 1], [2, 3]]) {
        report.flows.truncate(1);
        let flow = &mut report.flows[0];
        let packets = u128::from(flow.delivered.packets);
        flow.spread.parts_ps = [0; 13];
        flow.spread.parts_ps[Cause::SourceQueue as usize] = parts[0] * 1_000_000 * packets;
        flow.spread.parts_ps[Cause::OutputContention as usize] = parts[1] * 1_000_000 * packets;
        flow.latency.mean.value = ((parts[0] + parts[1]) * 1_000_000) as f64;
    }
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let figure = svg(&caption, &reports, "decomposition").expect("it is drawn");
    assert!(x_of(&figure, "10.0 µs") > x_of(&figure, "5.00 µs"));
    let [whole, rest, shares] = ["whole latency", "without the source queue", "shares of the whole"]
        .map(|title| x_of(&figure, title));
    assert!(whole < rest && rest < shares && x_of(&figure, "10.0 µs") < rest);
    // of little that waits at the source there is nothing to leave out
    for report in &mut reports {
        report.flows[0].spread.parts_ps[Cause::SourceQueue as usize] /= 100;
    }
    let figure = svg(&caption, &reports, "decomposition").expect("it is drawn");
    assert!(!figure.contains("without the source queue"));
}

/// By hand: the first variant has the faster frames, and its 4 Transfers take 8 us in all, 2 us each; the
/// 3 of 4 of the second take 3 us, 1 us each, half as much. The first figure is about these, and the
/// others say in their titles that they are not.
#[test]
fn transfers_come_before_their_frames() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    for (report, (sum_ps, count)) in reports.iter_mut().zip([(8_000_000, 4), (3_000_000, 3)]) {
        report.flows.truncate(1);
        let above = Above {
            carries: "frames of Scheduled Transfer",
            nothing_else: true,
            latency: "mean time of a Transfer",
            sum_ps,
            count,
            ..Above::default()
        };
        let flow = &mut report.flows[0];
        flow.messages = Some(Box::new(flow.clone()));
        flow.above = Some(above);
        flow.books = Books { unit: "Transfers", asked: 4, arrived: count, ..Books::default() };
        report.compare_with = Some(WITHOUT_NAME.into());
    }
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    reports[0].run.name = WITHOUT_NAME.into();
    let figures = all(&caption, &reports);
    assert_eq!(figures[0].name, "times");
    let first = &figures[0].svg;
    let half = format!("1.00 µs, of 75.0 %  (\u{2212}50 % against {WITHOUT_NAME})");
    assert!(x_of(first, "2.00 µs") > x_of(first, &half), "{first}");
    assert!(first.contains("mean time of a Transfer"));
    for (name, what) in [
        ("message_cdf", "frames of Scheduled Transfer from protocol to protocol, not of Transfers"),
        ("message_decomposition", "frames of Scheduled Transfer goes, not of Transfers"),
        ("latency_cdf", "packets from creation to last bit, not of Transfers"),
        ("decomposition", "packets goes, not of Transfers"),
    ] {
        assert!(svg(&caption, &reports, name).expect("it is drawn").contains(what), "{name}");
    }
    // no other picture of a single run has them
    let single = svg(&caption, &reports[..1], "times").expect("it is drawn");
    assert!(single.contains("mean time of a Transfer") && single.contains("2.00 \u{b5}s"), "{single}");
    reports.iter_mut().for_each(|report| report.flows[0].above = None);
    assert!(things::taken(&caption, &reports).is_none());
    assert!(all(&caption, &reports).iter().all(|figure| !figure.svg.contains("not of Transfers")));
}

/// Titles say what is drawn: frames of one protocol beside messages of another are both, and where users
/// wait for messages a title does not say that messages are not messages.
#[test]
fn titles_say_what_is_drawn() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let above = FRAMES;
    let carried = ["frames of Scheduled Transfer", "messages of sessions"];
    for ((report, carries), unit) in reports.iter_mut().zip(carried).zip(["Transfers", "messages"]) {
        report.flows.truncate(1);
        let flow = &mut report.flows[0];
        flow.messages = Some(Box::new(flow.clone()));
        flow.above = Some(Above { carries, ..above });
        flow.books = Books { unit, asked: 4, arrived: 4, ..Books::default() };
    }
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let figure = |name: &str, reports: &[VariantReport]| svg(&caption, reports, name).expect("it is drawn");
    for (name, title) in [
        ("message_cdf", "Latency of frames and messages of protocols from protocol to protocol"),
        (
            "latency_tail",
            "Tails of the latency of frames and messages of protocols, from protocol to protocol",
        ),
        ("message_decomposition", "Where the time of frames and messages of protocols goes"),
    ] {
        let drawn = figure(name, &reports);
        assert!(drawn.lines().any(|line| line == title), "{name}: {drawn}");
        assert!(!drawn.contains("not of"), "{name}");
        let words: Vec<&str> = drawn.lines().filter(|line| !line.starts_with('<')).collect();
        assert!(words.join(" ").contains("users wait for Transfers or messages of their own"), "{name}");
    }
    // of messages of sessions alone
    let alone = figure("message_decomposition", &reports[1..]);
    assert!(alone.lines().any(|line| line == "Where the time of messages of sessions goes"), "{alone}");
    assert!(figure("decomposition", &reports[1..]).contains("packets goes, not of messages"));
}

/// 7 245 of 18 738 packets are responses in one variant, 39 %, and none of 4 731 in the other; the
/// packets of one carry 100 octets, of the other 300. Two that are alike in that need no word of it.
#[test]
fn mixtures_are_told() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    for (report, name) in reports.iter_mut().zip(["copies", "multicast"]) {
        report.run.name = name.into();
        report.flows.truncate(1);
    }
    let mix = |reports: &mut [VariantReport; 2], made: [[u64; 2]; 2], octets: [u64; 2]| {
        for ((report, [requests, responses]), octets) in reports.iter_mut().zip(made).zip(octets) {
            let flow = &mut report.flows[0];
            flow.protocol = Some(FlowStats { requests, responses, ..FlowStats::default() });
            flow.delivered.payload = octets * flow.delivered.packets;
        }
        let name = reports[0].flows[0].name.clone();
        mixture(reports, &[&name], PACKETS)
    };
    let told = mix(&mut reports, [[11_493, 7_245], [4_731, 0]], [100, 300]);
    assert_eq!(
        told,
        "a mixture: responses among packets 0 % in multicast, 39 % in copies; mean octets of a packet \
         100 in copies, 300 in multicast"
    );
    let alike = mix(&mut reports, [[100, 98], [100, 100]], [100, 103]);
    assert_eq!(alike, "a mixture: responses among packets 50 %");
    assert_eq!(mix(&mut reports, [[100, 0], [100, 0]], [100, 100]), "");
    // all of them are no mixture
    assert_eq!(mix(&mut reports, [[0, 100], [0, 100]], [100, 100]), "");
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    mix(&mut reports, [[100, 0], [100, 100]], [100, 100]);
    for name in ["latency_cdf", "network_latency_cdf", "decomposition"] {
        let drawn = svg(&caption, &reports, name).expect("it is drawn");
        let words: Vec<&str> = drawn.lines().filter(|line| !line.starts_with('<')).collect();
        assert!(words.join(" ").contains("responses among packets 0 % in copies, 50 % in"), "{name}");
    }
}

/// By hand, as in the studies `ethernet-bridge` and `ethernet-multicast`: 480 messages open and accept
/// conduits. Of 4 894 that are delivered that is 9.8 %, whether their sources send 4 414 copies of data
/// or switches copy 1 600; of 24 480 it is 2 %. Where 894 are lost, nobody counted of which kind: the
/// share is that of those sent, and says so.
#[test]
fn mixtures_are_of_what_is_drawn() {
    let report = |name: &str, [sent, delivered]: [u64; 2], copied: bool| {
        let mut report = VariantReport::new(run(WITH));
        report.run.name = name.into();
        report.flows.truncate(1);
        let stats = SessionStats { messages: sent, data_messages: sent - 480, ..SessionStats::default() };
        report.run.outcome.totals.push(SessionTotals { flow: 0, stats, ..SessionTotals::default() });
        let flow = &mut report.flows[0];
        flow.messages = Some(Box::new(flow.clone()));
        flow.protocol = Some(FlowStats { sent, delivered, ..FlowStats::default() });
        (flow.left, flow.dropped, flow.copied) = (0, sent.saturating_sub(delivered), copied);
        report
    };
    let told = |reports: [VariantReport; 2]| {
        let name = reports[0].flows[0].name.clone();
        mixture(&reports, &[&name], MESSAGES)
    };
    let copies = || report("copies", [4_894, 4_894], false);
    let same = told([copies(), report("multicast", [2_080, 4_894], true)]);
    assert_eq!(same, "a mixture: management among messages 10 %");
    let none = [report("copies", [24_480, 24_480], false), report("multicast", [2_080, 24_480], true)];
    assert_eq!(told(none), "");
    let lost = told([report("all", [960, 960], false), report("lossy", [4_894, 4_000], false)]);
    let law = "a mixture: management among messages 10 % of those sent in lossy, 50 % in all";
    assert_eq!(lost, law);
}

/// A Transfer is under way for 999 us, in packets and frames of which none takes longer than 68 us; the
/// oldest packet of all is 3 us old, the oldest frame 5 us. Then a packet is 900 us old: it is told where
/// times count from its creation.
#[test]
fn ages_are_of_what_is_drawn() {
    let mut report = VariantReport::new(run(WITH));
    let name = report.flows[0].name.clone();
    let end = report.run.outcome.end.0;
    let flow = &mut report.flows[0];
    flow.latency.max = 68e6;
    flow.messages = Some(Box::new(flow.clone()));
    flow.above = Some(FRAMES);
    let books = Books { unit: "Transfers", asked: 5, arrived: 1, under_way: 4, ..Books::default() };
    flow.books = Books { oldest_ps: Some(999_000_000), ..books };
    let ago = |ps: u64| Some(Time(end - ps));
    let left = |packet: u64| FlowLeft {
        oldest_packet: ago(packet),
        oldest_message: ago(5_000_000),
        ..FlowLeft::default()
    };
    let told = |report: &VariantReport| {
        let reports = std::slice::from_ref(report);
        [PACKETS, ON_LINKS, MESSAGES].map(|level| stuck(reports, &[&name], level))
    };
    report.run.outcome.left = vec![left(3_000_000), FlowLeft::default()];
    assert_eq!(told(&report), ["", "", ""]);
    // a request that waits for its answer is no packet, whose oldest is 3 us old
    let was = report.flows[0].clone();
    let flow = &mut report.flows[0];
    (flow.above, flow.books.unit) = (None, "requests");
    flow.protocol = Some(FlowStats { round_trips: 1, ..FlowStats::default() });
    assert_eq!(told(&report)[0], "");
    report.flows[0] = was;
    report.run.outcome.left[0] = left(900_000_000);
    let variant = &report.run.name;
    let law = format!("some wait for longer than any that arrived: {variant} 900 \u{b5}s");
    assert_eq!(told(&report), [law.as_str(), "", ""]);
}

/// Twice as long above saturation is twice the latency: whose overload is longer is said beside it.
#[test]
fn overloads_of_other_lengths_are_told() {
    let overload = |ps: u64| {
        let mut data = run(WITH);
        data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
        let delivery = super::synthetic::plain(2_000_000, 500_000, 0);
        models::Probe::delivered(&mut data.collector, &delivery);
        for at in [0, ps] {
            let offer = models::probe::Offered { at: Time(at), ..super::synthetic::offer(&delivery) };
            models::Probe::offered(&mut data.collector, &offer);
        }
        data.name = format!("until-{}", ps / 1_000_000);
        let mut report = VariantReport::new(data);
        report.flows[0].falls_behind = true;
        report
    };
    let name = overload(100_000_000).flows[0].name.clone();
    let told = |lengths: [u64; 2]| unequal_overloads(&lengths.map(overload), &[&name], PACKETS);
    let law = "latency grows for as long as a flow asks for more than it gets";
    let both = format!("{law}: {name} for 100 \u{b5}s in until-100, 200 \u{b5}s in until-200");
    assert_eq!(told([200_000_000, 100_000_000]), both);
    // what waits at its source takes no network time yet
    let lengths = [200_000_000, 100_000_000].map(overload);
    assert_eq!(unequal_overloads(&lengths, &[&name], ON_LINKS), "");
    assert_eq!(told([100_000_000, 103_000_000]), "");
}

/// 407.200 and 407.295 ns are counted in one bucket of 256 ps, and one flow has its maximum there: both
/// stand at one place. The axis is as wide as it takes not to see a bucket.
#[test]
fn a_bucket_is_no_difference() {
    let of = |times: &[u64]| {
        let mut spread = Spread::default();
        for ps in times {
            spread.histogram.record(*ps).unwrap();
            (spread.min, spread.max) = (spread.min.min(*ps), spread.max.max(*ps));
        }
        spread
    };
    let spreads = [of(&[407_100, 407_100]), of(&[407_100, 407_289])];
    assert_eq!(bucket(&spreads[0], 407_100.0), 256.0);
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    for (report, spread) in reports.iter_mut().zip(&spreads) {
        report.flows.truncate(1);
        report.flows[0].spread.latency = spread.clone();
    }
    let panel = |horizontal| Panel {
        x: 0.0,
        y: 0.0,
        width: 400.0,
        height: 200.0,
        horizontal,
        vertical: Axis::exactly(100.0),
    };
    let axis = panel(Axis::times(400_000.0, 420_000.0));
    let [a, b] = [&spreads[0], &spreads[1]].map(|spread| cdf(spread, &axis));
    assert_eq!(a.last().map(|point| point.1), Some(100.0));
    assert_eq!(a, b);
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let drawn = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
    // 256 ps in less than a line: 854 units of the page are 146 ns at the least, from 334 to 480
    assert!(drawn.contains("\n300 ns\n") && drawn.contains("\n500 ns\n"), "{drawn}");
    assert!(!drawn.contains("(logarithmic)"));
}

/// Without the source queue a packet takes 9 us, of which its network latency is 1: the picture says that
/// it may wait at its source for other causes.
#[test]
fn what_is_left_without_the_source_queue_is_named() {
    let mut report = VariantReport::new(run(WITH));
    report.flows.truncate(1);
    let flow = &mut report.flows[0];
    let packets = u128::from(flow.delivered.packets);
    flow.spread.parts_ps = [0; 13];
    flow.spread.parts_ps[Cause::SourceQueue as usize] = 20_000_000 * packets;
    flow.spread.parts_ps[Cause::Recovery as usize] = 9_000_000 * packets;
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let says = |report: &mut VariantReport, network: f64| {
        report.flows[0].network.mean.value = network;
        let drawn = svg(&caption, std::slice::from_ref(report), "decomposition").expect("it is drawn");
        drawn.contains("without the source queue is more than network latency")
    };
    assert!(says(&mut report, 1e6) && !says(&mut report, 9e6));
}

const WITHOUT_NAME: &str = "base";

/// Of a run with more full queues of hosts than `queues.csv` has room for, it has those that are drawn as
/// well: each key of the picture stands in the file.
#[test]
fn what_is_drawn_of_queues_is_in_a_file() {
    let mut data = run(WITH);
    let mut config = (*data.config).clone();
    let hosts = crate::series::QUEUES_LISTED as u32 + 6;
    let switch = config.devices.pop().expect("it is the last");
    for n in config.devices.len() as u32..hosts {
        let mut host = config.devices[0].clone();
        host.path = format!("ep/{n}");
        config.devices.push(host);
    }
    config.devices.push(switch);
    config.links.iter_mut().for_each(|link| link.b.0 = hosts);
    let ports: Arc<Vec<(u32, u8)>> = Arc::new((0..hosts).map(|host| (host, 0)).chain([(hosts, 5)]).collect());
    data.collector = Collector::new(&CollectorConfig::new(&config, LENGTH));
    const EVERY: u64 = 1_000_000;
    for at in (EVERY..LENGTH.0).step_by(EVERY as usize) {
        let mut sample = models::probe::Sample {
            at: Time(at),
            since: Time(at - EVERY),
            ports: Arc::clone(&ports),
            ..Default::default()
        };
        for (device, _) in ports.iter() {
            sample.input_ps.push(0);
            sample.waiting_ps.push(EVERY * if *device == hosts { 3 } else { 9 });
        }
        models::Probe::sample(&mut data.collector, &sample);
    }
    data.config = Arc::new(config);
    let reports = [VariantReport::new(data)];
    let drawn = queues_drawn(&reports);
    assert_eq!(drawn.iter().collect::<Vec<_>>(), ["leaf/0:5"]);
    let file = crate::series::queues_csv(&reports);
    assert!(file.lines().any(|line| line.contains("leaf/0:5,")), "{}", &file[..200]);
    let listed: BTreeSet<&str> = file.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!(listed.len(), crate::series::QUEUES_LISTED + 1);
}

/// One link with a message that rides and two with a symbol of eight characters of their own: 16
/// characters. What links do is counted in words of its own.
#[test]
fn what_messages_and_errors_of_links_come_to_is_counted() {
    let mut report = VariantReport::new(run(WITH));
    let at = report.run.outcome.ports.iter_mut().find(|port| (port.0, port.1) == (6, 2)).expect("a port");
    (at.2.voq_riding, at.2.voq_standalone) = (1, 2);
    let end = models::stats::LinkStats { timeouts: 3, not_accepted: 5, retries: 7, ..Default::default() };
    report.run.outcome.links = vec![(0, 0, end), (6, 0, end)];
    let counts = crate::counts::measures(&report);
    for (what, law) in [
        ("characters of VoQ messages with symbols of their own", 16),
        ("link timeouts", 6),
        ("refusals (packet-not-accepted)", 10),
        ("refusals without room (packet-retry)", 14),
    ] {
        assert_eq!(counts.iter().find(|count| count.0 == what).map(|count| count.1), Some(law), "{what}");
    }
}

/// Links of which one end repeats packets are in one variant only, and their repetitions are the result.
#[test]
fn what_only_some_variants_count_is_shown() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let end = models::stats::LinkStats { repeated: 4_321, ..Default::default() };
    reports[1].run.outcome.links = vec![(0, 0, end)];
    let figure = things::counted(&caption, &reports).expect("one repeats").to_svg();
    assert!(figure.contains("repetitions on links") && figure.contains("4 321"), "{figure}");
    assert!(x_of(&figure, "4 321") > x_of(&figure, "-"));
    assert!(figure.contains("-: nothing of the kind can happen in this variant"));
    reports[1].run.outcome.links[0].2.repeated = 0;
    let none = things::counted(&caption, &reports).map(|scene| scene.to_svg());
    assert!(none.is_none_or(|figure| !figure.contains("repetitions")));
}

/// A third waits: figures of latencies say so, for who waits is in none of them.
#[test]
fn what_is_under_way_is_told_beside_distributions() {
    let mut report = VariantReport::new(run(WITH));
    let name = report.flows[0].name.clone();
    (report.flows[0].arrived, report.flows[0].left) = (200, 100);
    report.flows[0].falls_behind = true;
    // the same of packets that a protocol sends, which has books of its own
    report.flows[0].books = Books { unit: "PDUs", asked: 3, arrived: 3, ..Books::default() };
    let told = |report: &VariantReport| still_under_way(std::slice::from_ref(report), &[&name], PACKETS);
    assert_eq!(told(&report), format!("not there at the end: {} 33 %", report.run.name));
    report.flows[0].left = 2;
    assert_eq!(told(&report), "");
    // 17 of 1 242 are on their way in a loop that keeps up: curve, caption and mean all pass over them
    let flow = &mut report.flows[0];
    (flow.arrived, flow.left, flow.falls_behind) = (1_225, 17, false);
    report.run.outcome.stalls.clear();
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let says = |report: &VariantReport| {
        let reports = std::slice::from_ref(report);
        let drawn =
            ["latency_cdf", "decomposition"].map(|name| svg(&caption, reports, name).expect("is drawn"));
        let caption = drawn[0].contains("not there at the end");
        let curve = come_share(report, &report.flows[0], PACKETS) < 1.0;
        (caption, curve, drawn[1].contains(", of 98.6 %"))
    };
    assert_eq!(says(&report), (false, false, false));
    report.flows[0].falls_behind = true;
    assert_eq!(says(&report), (true, true, true));
}

/// A packet every microsecond takes 100 us, in a run of 2 ms: 1 900 of 2 000 arrive, and 100 are under
/// way at any time (Little's law). The flow does not fall behind for it, its curve ends at 100 %, and
/// nothing is "not there". Where each takes longer than the one before, so that 1 000 are under way at
/// the end, and 500 on average, it falls behind; and where those of the second half take 100 us and those
/// before 50.
#[test]
fn what_is_on_its_way_in_a_short_run_is_not_left_behind() {
    let report = |slower: u64| {
        let mut data = run(WITH);
        data.warmup = crate::Warmup::Fixed(0);
        data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
        let mut left = 0;
        for created in (0..LENGTH.0).step_by(1_000_000) {
            let latency = match slower {
                0 => 100_000_000,
                1 => created,
                _ if created > LENGTH.0 / 2 => 100_000_000,
                _ => 50_000_000,
            };
            let mut delivery = super::synthetic::plain(created + latency, latency, 0);
            delivery.link_ps = 114_000;
            models::Probe::offered(&mut data.collector, &super::synthetic::offer(&delivery));
            match created + latency <= LENGTH.0 {
                true => models::Probe::delivered(&mut data.collector, &delivery),
                false => left += 1,
            }
        }
        data.outcome.left =
            vec![models::stats::FlowLeft { packets: left, to_arrive: left, ..Default::default() }; 1];
        VariantReport::new(data)
    };
    let (short, behind) = (report(0), report(1));
    assert!(report(2).flows[0].falls_behind);
    assert_eq!((short.flows[0].arrived, short.flows[0].left), (1_901, 99));
    assert!(!short.flows[0].saturated && !short.flows[0].falls_behind);
    assert_eq!(come_share(&short, &short.flows[0], PACKETS), 1.0);
    assert!(behind.flows[0].falls_behind && come_share(&behind, &behind.flows[0], PACKETS) < 0.51);
}

/// Of a closed loop that made a tenth of the packets that it makes elsewhere only these few are in a
/// distribution, so it says how few; open loops make as many as they were told to.
#[test]
fn starved_closed_loops_are_told_beside_distributions() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(closed_loops(mood)));
    let names: Vec<String> = reports[0].flows.iter().map(|flow| flow.name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(starved(&reports, &names, PACKETS), "");
    let most = reports[1].flows[0].delivered.packets / reports[1].flows[0].sources;
    let rest = [&reports[0].flows[1], &reports[1].flows[1]].map(|flow| flow.delivered.packets / flow.sources);
    assert!(rest.iter().all(|count| *count < most), "{most} {rest:?}");
    let few = most / 10 * reports[0].flows[0].sources;
    let length = reports[0].flows[0].delivered.link_ps / reports[0].flows[0].delivered.packets;
    reports[0].flows[0].delivered.packets = few;
    assert_eq!(starved(&reports, &names, PACKETS), "", "as few as they are, they take all of the link");
    reports[0].flows[0].delivered.link_ps = few * length;
    let time = reports[0].window.ps() * reports[0].flows[0].sources;
    reports[0].flows[0].accepted_load.value = ratio((few * length).into(), time.into());
    let said = starved(&reports, &names, PACKETS);
    let rate = |n: usize| reports[n].flows[0].delivered.link_ps as f64 / reports[n].window.ps() as f64;
    let share = 100.0 * rate(0) / rate(1);
    let count = count_text(few);
    let law =
        format!("{} in {} {count} (a source {share:.1} % of the busiest)", names[0], reports[0].run.name);
    assert!(said.contains(&law), "{law}: {said}");
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    for name in ["latency_cdf", "decomposition"] {
        let figure = svg(&caption, &reports, name).expect("it is drawn");
        assert!(figure.contains("make few packets where they are slow"), "{name}");
    }
    let mut open = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    open[0].flows[0].delivered.link_ps = few * length;
    assert_eq!(starved(&open, &names, PACKETS), "");
}

/// By hand: of two flows that get a packet every microsecond one takes 1 us in one variant, and 1 us to
/// 15 us in another, evenly, at its source. So its mean from creation is that of the length of the run,
/// whatever the run as a whole is said to be; its rate is not, nor its network latency, nor the other
/// flow. One that is done after half of the run has half of its rate in a run as long again.
#[test]
fn who_is_not_steady_is_named_in_what_is_not() {
    let report = |name: &str, climb: u64, half: bool| {
        let mut data = run(WITH);
        data.name = name.into();
        data.warmup = crate::Warmup::Fixed(0);
        data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
        let end = |flow| if half && flow == 1 { LENGTH.0 / 2 } else { LENGTH.0 };
        for at in (20_000_000..LENGTH.0).step_by(1_000_000) {
            for flow in (0..2).filter(|flow| at < end(*flow)) {
                let wait = if flow == 0 { 14_000_000 * climb * (at / 1_000) / (LENGTH.0 / 1_000) } else { 0 };
                let mut delivery = super::synthetic::plain(at, 1_000_000 + wait, flow);
                delivery.parts[Cause::OutputContention] = 1_000_000;
                delivery.parts[Cause::SourceQueue] = wait;
                delivery.parts.source = wait;
                models::Probe::offered(&mut data.collector, &super::synthetic::offer(&delivery));
                models::Probe::delivered(&mut data.collector, &delivery);
            }
        }
        VariantReport::new(data)
    };
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let said = |reports: &[VariantReport], name: &str| {
        let drawn = svg(&caption, reports, name).expect("it is drawn");
        let words: Vec<&str> = drawn.lines().filter(|line| !line.starts_with('<')).collect();
        let words = words.join(" ");
        let at = words.find("not steady").map(|at| &words[at..])?;
        Some(at.split(" \u{b7} ").next().unwrap_or(at).to_owned())
    };
    let mut reports = [report("flat", 0, false), report("climbs", 1, false)];
    reports[0].window.steady = false;
    let victim = reports[0].flows[0].name.clone();
    for name in ["goodput", "load", "network_latency_cdf"] {
        assert_eq!(said(&reports, name), None, "{name}");
    }
    for (name, law) in [
        ("decomposition", "not steady, mean depends on the length of the run"),
        ("latency_cdf", "not steady, they depend on the length of the run"),
        ("latency_tail", "not steady, they depend on the length of the run"),
        ("victims", "not steady, they depend on the length of the run"),
    ] {
        let said = said(&reports, name).unwrap_or_default();
        // the only one that is not hot
        let at = if name == "victims" { "climbs".into() } else { format!("{victim} in climbs") };
        assert!(said.starts_with(&format!("{law}: {at}")), "{name}: {said}");
    }
    let reports = [report("flat", 0, false), report("half", 0, true)];
    let hot = &reports[0].flows[1].name;
    for name in ["goodput", "load"] {
        let said = said(&reports, name).unwrap_or_default();
        assert!(said.contains(&format!("length of the run: {hot} in half")), "{name}: {said}");
    }
    assert_eq!(said(&reports, "decomposition"), None);
}

/// What is counted in all of a run has no course: the variants that are not steady are named.
#[test]
fn variants_that_are_not_steady_are_named() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let name = reports[1].run.name.clone();
    (reports[0].window.steady, reports[1].window.steady) = (true, true);
    assert_eq!(transient(&reports), "");
    reports[1].window.steady = false;
    assert_eq!(transient(&reports), format!("{UNSTEADY}: {name}"));
    reports[0].window.steady = false;
    assert_eq!(transient(&reports), UNSTEADY);
}

/// Where a ratio has no value a dash stands where its bar would begin, on the page.
#[test]
fn what_has_no_value_stays_on_the_page() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    reports[1].flows[0].goodput_gbps.value = f64::NAN;
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let figure = svg(&caption, &reports, "goodput").expect("it is drawn");
    let dash = figure.lines().scan("", |before, line| {
        let pair = (*before, line);
        *before = line;
        Some(pair)
    });
    let places: Vec<f64> = dash
        .filter(|(_, line)| line.trim() == "-")
        .map(|(open, _)| open.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
        .collect();
    assert!(!places.is_empty() && places.iter().all(|x| *x > MARGIN), "{places:?}");
}

/// The fullest queue of each variant is drawn, however empty it is elsewhere and however full are those
/// of others; what has no room is the second of somebody. Where nothing waits nothing is the fullest.
#[test]
fn every_panel_shows_its_own_fullest_queue() {
    let queue = |mean: u64, name: &str| (mean, name.to_owned(), true);
    let many = (0..9).map(|n| queue(9_000 - n, &format!("a:{n}"))).collect();
    let quiet = vec![queue(50, "d:0"), queue(40, "d:1"), queue(9, "d:2")];
    let means = [many, vec![queue(500, "b:0"), queue(400, "a:0")], vec![queue(1, "c:0")], quiet];
    let shown = chosen(&means);
    let names: Vec<&str> = shown.iter().map(|queue| queue.1.as_str()).collect();
    assert_eq!(names, ["a:0", "b:0", "d:0", "a:1", "d:1", "a:2", "a:3"]);
    assert_eq!(chosen(&means[2..]).iter().map(|queue| queue.0).collect::<Vec<u64>>(), [50, 40]);
}

/// One packet of 4 us after the other: means over a sixty-fourth of 2 ms hold 7 or 8 of them, and look up
/// to 3 % faster than the line; over 20 packets at least, none is off by more than one of them.
#[test]
fn long_packets_are_no_faster_than_their_link() {
    const LONG: u64 = 4_300_000;
    let mut data = run(WITH);
    data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
    for n in 1..=LENGTH.0 / LONG {
        let mut delivery = super::synthetic::plain(n * LONG, LONG, 0);
        (delivery.payload, delivery.link_ps) = (4_000, LONG);
        models::Probe::delivered(&mut data.collector, &delivery);
    }
    let reports = [VariantReport::new(data)];
    assert_eq!(longest_packet(&reports[0]), (LONG, 4_000));
    let line = gbps(4_000, LONG);
    let most = |least: fn(&VariantReport) -> u64| {
        let scales = Scales::new(&reports, busy_end, least);
        let bins = &reports[0].run.collector.flows()[0].bins;
        let points = over_time(&reports[0], scales.of[0], |range, ps| {
            Some(gbps(bins[range].iter().map(|bin| bin.payload).sum(), ps))
        });
        (points.iter().map(|point| point.1).fold(0.0, f64::max) / line, points.len())
    };
    let (before, after) = (most(|_| 0), most(|report| PACKETS_OF_MEAN * longest_packet(report).0));
    assert!(before.0 > 1.05 && before.1 > 60, "{before:?}");
    assert!(after.0 <= 1.05 && after.1 >= LEAST_POINTS as usize, "{after:?}");
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let told = throughput(&caption, &reports).to_svg();
    // 4 000 octets in 20 packets of 4.3 us, in bins of the collector
    let mut scales = Scales::new(&reports, busy_end, |report| longest_packet(report).0 * PACKETS_OF_MEAN);
    let names = flow_names(&reports, PACKETS);
    scales.fit_bursts(&reports, &|report, scale| rates(report, scale, &names));
    let grain = scales.of[0].grain(&reports[0]);
    assert!(grain >= 20 * LONG, "{grain}");
    let law = format!(
        "one of 4 000 octets makes {} Gb/s in a mean over {}",
        three_digits(32_000.0 * 1e3 / grain as f64),
        time_text(grain as f64)
    );
    let words: Vec<&str> = told.lines().filter(|line| !line.starts_with('<')).collect();
    assert!(words.join(" ").contains(&law), "{law}: {words:?}");
}

/// What arrived of a flow that leaves nothing behind.
fn arrived_share(flow: &FlowReport, level: Level) -> f64 {
    let mut report = VariantReport::new(run(WITH));
    report.run.outcome.stalls.clear();
    1.0 - never_share(&report, flow, level)
}

/// 900 of 1 000 arrived: the distribution of those that did ends at 90 %.
#[test]
fn what_never_arrives_is_missing_in_a_distribution() {
    let mut flow = VariantReport::new(run(WITH)).flows.remove(0);
    flow.falls_behind = false;
    let books = |unit, arrived, never| Books { unit, arrived, never, ..Books::default() };
    flow.books = books("packets", 900, 100);
    (flow.arrived, flow.dropped) = (900, 100);
    assert_eq!(arrived_share(&flow, PACKETS), 0.9);
    // these books are of packets
    assert_eq!(arrived_share(&flow, MESSAGES), 1.0);
    (flow.arrived, flow.dropped) = (900, 0);
    flow.books = books("PDUs", 3, 1);
    flow.protocol = Some(FlowStats { delivered: 3, round_trips: 1, ..FlowStats::default() });
    assert_eq!((arrived_share(&flow, MESSAGES), arrived_share(&flow, PACKETS)), (0.75, 1.0));
    flow.books = books("echoes", 1, 3);
    assert_eq!((arrived_share(&flow, TRIPS), arrived_share(&flow, MESSAGES)), (0.25, 1.0));
    // four messages of an application in nine thousand frames: the curve is of frames
    flow.books = books("messages", 4, 4_000);
    flow.protocol = Some(FlowStats { delivered: 9_000, ..FlowStats::default() });
    assert_eq!(arrived_share(&flow, MESSAGES), 1.0);
    // of 10 000 the scenario lost 100, the fabric dropped 600, and 300 pile up
    let above = Above {
        carries: "frames",
        nothing_else: true,
        lost_late: 100,
        touched: [100, 0],
        ..Above::default()
    };
    flow.protocol = Some(FlowStats { sent: 10_000, delivered: 9_000, ..FlowStats::default() });
    (flow.above, flow.dropped) = (Some(above), 600);
    assert_eq!(arrived_share(&flow, MESSAGES), 1.0 - 600.0 / 9_900.0);
    assert_eq!(under_way_share(&flow, MESSAGES), 300.0 / 9_900.0);
    // others send more than such frames
    flow.above = Some(Above { nothing_else: false, ..above });
    assert_eq!((arrived_share(&flow, MESSAGES), under_way_share(&flow, MESSAGES)), (1.0, 0.0));
}

/// 32 of 36 packets arrived, and four stand still for ever: they are neither fast nor lost. The same four
/// on their way at the end of a run without a stall say nothing; of a flow that falls behind they do.
#[test]
fn who_stands_still_is_missing_in_a_distribution() {
    let mut report = VariantReport::new(run(WITH));
    let mut flow = report.flows[0].clone();
    (flow.arrived, flow.dropped, flow.left, flow.falls_behind) = (32, 0, 4, false);
    flow.books = Books { asked: 36, arrived: 32, never: 0, under_way: 4, ..flow.books };
    report.run.outcome.stalls.clear();
    assert_eq!(come_share(&report, &flow, PACKETS), 1.0);
    flow.falls_behind = true;
    assert_eq!(come_share(&report, &flow, PACKETS), 1.0 - 4.0 / 36.0);
    // Beside what stands still, what never arrives is a share of the same whole.
    let books = flow.books;
    flow.books = Books { asked: 78, arrived: 23, never: 24, under_way: 31, ..books };
    (flow.arrived, flow.dropped, flow.left) = (23, 24, 31);
    let parts = [never_share(&report, &flow, PACKETS), left_share(&report, &flow, PACKETS)];
    assert_eq!(parts, [24.0 / 78.0, 31.0 / 78.0]);
    (flow.arrived, flow.dropped, flow.left, flow.books) = (32, 0, 4, books);
    flow.falls_behind = false;
    let walk = vec!["it waits".into()];
    // found 100 us after it stopped, half a run before the end
    let (at, since) = (Time(LENGTH.0 / 2), Time(LENGTH.0 / 2 - 100_000_000));
    report.run.outcome.stalls.push(StallReport { at, since, cycle: false, walk });
    let end = LENGTH.0;
    let share = |oldest_ps: Option<u64>| {
        let mut flow = flow.clone();
        (flow.books.oldest_ps, flow.books.under_way) = (oldest_ps, 4);
        come_share(&report, &flow, PACKETS)
    };
    let stands = 1.0 - 4.0 / 36.0;
    // made before it stopped, at that very moment, or nobody knows when: it stands with it
    assert_eq!([Some(end), Some(end - since.0), None].map(share), [stands; 3]);
    // made a microsecond before the end: it is on its way, though another flow stands
    assert_eq!([Some(1_000_000), Some(end - since.0 - 1)].map(share), [1.0; 2]);
    Arc::make_mut(&mut report.run.config).stall_after = Some(models::sim_core::Duration(100_000_000));
    let share = |ps: u64| {
        let mut flow = flow.clone();
        flow.books.oldest_ps = Some(ps);
        come_share(&report, &flow, PACKETS)
    };
    // or it has waited for as long as the watchdog waits before it calls that a stall
    assert_eq!([100_000_000, 99_999_999].map(share), [stands, 1.0]);
}

/// Three lines, of which the first and the last lie on one another: the caption names both. Half a line
/// more, and all are seen.
#[test]
fn lines_that_hide_one_another_are_named() {
    let line = |up: f64| vec![(10.0, 50.0 + up), (20.0, 40.0 + up)];
    assert_eq!(coinciding(&[(3, line(0.0)), (4, line(9.0)), (7, line(0.5))]), [[3, 7]]);
    assert!(coinciding(&[(3, line(0.0)), (7, line(0.8))]).is_empty());
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let reports = ["a", "b"].map(|name| VariantReport::new(RunData { name: name.into(), ..run(WITH) }));
    let figure = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
    assert!(figure.contains("one line: a = b"));
    // as many lines as it takes, and no end is cut
    let names: Vec<String> = (0..7).map(|n| format!("a-variant-with-a-long-name-{n}")).collect();
    let reports: Vec<VariantReport> =
        names.iter().map(|name| VariantReport::new(RunData { name: name.clone(), ..run(WITH) })).collect();
    let figure = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
    let words: Vec<&str> = figure.lines().filter(|line| !line.starts_with('<')).collect();
    assert!(words.join(" ").contains(&format!("one line: {}", names.join(" = "))), "{words:?}");
    let reports = [WITH, WITHOUT].map(|mood| VariantReport::new(run(mood)));
    let figure = svg(&caption, &reports, "latency_cdf").expect("it is drawn");
    assert!(!figure.lines().any(|line| line.starts_with("one line: VoQ")), "{figure}");
}

/// 221 frames of Scheduled Transfer arrived, 80 of them at a translator that dropped them, as in the
/// study `st-translator`: all have their times in curve and mean, so these are of all 221, and captions
/// say that the 80 are among them. They say as well that frames do not wait for a Clear_To_Send, and name
/// frames as their title does.
#[test]
fn what_a_translator_drops_has_come_that_far() {
    let above = Above {
        carries: "frames of Scheduled Transfer",
        nothing_else: true,
        latency: "mean time of a Transfer",
        ..Above::default()
    };
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    for report in &mut reports {
        let flow = &mut report.flows[0];
        flow.messages = Some(Box::new(flow.clone()));
        flow.protocol = Some(FlowStats { sent: 221, delivered: 221, ..FlowStats::default() });
        flow.above = Some(above);
    }
    let flow = &mut reports[1].flows[0];
    assert_eq!(arrived_share(flow, MESSAGES), 1.0);
    flow.not_passed = 80;
    assert_eq!(arrived_share(flow, MESSAGES), 1.0, "the curve of all 221 is not pressed");
    let variant = reports[1].run.name.clone();
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let words = |name: &str| {
        let figure = svg(&caption, &reports, name).expect("it is drawn");
        figure.lines().filter(|line| !line.starts_with('<')).collect::<Vec<&str>>().join(" ")
    };
    let lost = format!("with frames that arrived at a translator, which dropped them: 80 in {variant}");
    for name in ["message_cdf", "latency_tail", "message_decomposition"] {
        assert!(words(name).contains(&lost), "{name}: {}", words(name));
        assert!(!words(name).contains("messages") && !words(name).contains(", of "), "{}", words(name));
    }
    let share = "share of frames of Scheduled Transfer delivered within a time";
    assert!(words("message_cdf").contains(share));
    let lost = format!("arrived at a translator, which dropped them: 80 in {variant}");
    for name in ["latency_cdf", "decomposition"] {
        assert!(words(name).contains(&lost), "{name}: {}", words(name));
        assert!(
            words(name).contains("waiting for a Clear_To_Send, or for Slots, is in none of them"),
            "{name}"
        );
    }
    assert!(words("throughput").contains("in both directions together"));
}

/// A label that is longer than the axis beside which it stands runs over the legend above: of two panels
/// side by side it names frames and leaves it to the title of which protocol they are.
#[test]
fn labels_are_no_longer_than_their_axis() {
    let mut report = VariantReport::new(run(WITH));
    for flow in &mut report.flows {
        flow.messages = Some(Box::new(flow.clone()));
        flow.above = Some(FRAMES);
    }
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let labels = |report: &VariantReport| -> Vec<String> {
        let drawn = svg(&caption, std::slice::from_ref(report), "latency_tail").expect("it is drawn");
        drawn.lines().filter(|line| line.ends_with("that take longer (%)")).map(Into::into).collect()
    };
    let long = "frames of Scheduled Transfer that take longer (%)";
    assert!((231.0..340.0).contains(&text_width(long, LABEL)));
    assert_eq!(labels(&report), ["frames that take longer (%)"; 2]);
    report.flows.truncate(1);
    assert_eq!(labels(&report), [long]);
}

/// What a translator passes on is delivered twice, and a picture of rates says so.
#[test]
fn rates_say_that_translators_send_again() {
    let mut report = VariantReport::new(run(WITH));
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let words = "counts on each link that it is sent on";
    assert!(!throughput(&caption, std::slice::from_ref(&report)).to_svg().contains(words));
    let translators = vec![models::stats::TranslatorPart::default()];
    report.run.outcome.totals.push(TranslatorTotals { flow: 0, translators });
    assert!(throughput(&caption, std::slice::from_ref(&report)).to_svg().contains(words));
}

/// A flow that stands still has a line of its own beside the rates of those who gain by it: `hot`
/// has four packets under way for 995 us of a run whose other flows go on.
#[test]
fn who_stands_still_is_named_beside_victims() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let figure = |reports: &[VariantReport]| svg(&caption, reports, "victims").expect("it is drawn");
    assert!(!figure(&reports).contains("stands still"));
    let books = Books { unit: "packets", under_way: 4, oldest_ps: Some(995_000_000), ..Books::default() };
    reports[1].flows[1].books = Books { asked: 36, arrived: 32, ..books };
    assert!(!figure(&reports).contains("stands still"), "what is under way may come");
    let since = Time(LENGTH.0 - 990_000_000);
    let stall = StallReport { at: LENGTH, since, cycle: false, walk: vec!["it waits".into()] };
    reports[1].run.outcome.stalls.push(stall);
    let law = "hot stands still: 4 packets under way to the end, the oldest for 995 \u{b5}s";
    assert!(figure(&reports).contains(law), "{}", figure(&reports));
    // without a watchdog that finds it: nothing of it arrived in the measured part, and it waits all
    // of it
    reports[1].run.outcome.stalls.clear();
    reports[1].flows[1].books.oldest_ps = Some(reports[1].window.ps());
    assert!(!figure(&reports).contains("stands still"));
    reports[1].flows[1].delivered.packets = 0;
    assert!(figure(&reports).contains("hot stands still: 4 packets under way to the end"));
}

/// A bar of 1.55 us beside one of 6.8 ms is a hair of two units; nothing has none.
#[test]
fn what_is_very_short_has_a_bar() {
    let mut reports = [WITHOUT, WITH, REFRESH].map(|mood| VariantReport::new(run(mood)));
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    for (report, dropped) in reports.iter_mut().zip([1_000_000, 1, 0]) {
        report.overall.dropped = dropped;
    }
    let figure = things::counted(&caption, &reports).expect("they differ").to_svg();
    // the page is drawn in eighths, and edges are rounded
    let bars = figure.matches("width=\"15\"").count() + figure.matches("width=\"16\"").count();
    assert_eq!(bars, 1, "{figure}");
}

/// By hand: of forty packets ten take 1 us, twenty 2 us and ten 4 us; of fifty that were sent ten never
/// arrive. So 100 % take longer than nothing, 80, 40 and 20 % longer than these, and 20 % for ever. A
/// share of forty is told from 8.8 % on (0.912^40 = 0.025), of four from 60 %: four have no tail, and
/// from nine on a share that is told is one of more than three.
#[test]
fn tails_fall_in_steps() {
    let of = |times: usize| {
        let histogram = hdrhistogram::Histogram::new_with_bounds(1_000, 1 << 30, 3).unwrap();
        let mut spread = Spread { histogram, min: 1_000_000, max: 4_000_000 };
        for ps in [1_000_000, 2_000_000, 2_000_000, 4_000_000].repeat(times) {
            spread.histogram.record(ps).unwrap();
        }
        spread
    };
    let panel = Panel {
        x: 0.0,
        y: 0.0,
        width: 400.0,
        height: 200.0,
        horizontal: Axis::log_times(1e5, 1e7),
        vertical: Axis { low: 1.0, high: 100.0, log: true, ticks: Ticks::Plain },
    };
    let points = |times: usize, arrived: f64| tail(&of(times), arrived, &panel);
    let shares = |times: usize, arrived: f64| -> Vec<f64> {
        points(times, arrived).into_iter().map(|point| libm::round(10.0 * point.1) / 10.0).collect()
    };
    assert_eq!(shares(10, 0.8), [100.0, 100.0, 80.0, 80.0, 40.0, 40.0, 20.0, 20.0]);
    // all arrive: nothing is told of what is beyond the last
    assert_eq!(shares(10, 1.0), [100.0, 100.0, 75.0, 75.0, 25.0, 25.0, 8.8]);
    assert!((points(10, 1.0)[5].0 / 4e6 - 1.0).abs() < 0.001);
    assert!((LEAST_OF_TAIL..10_000).all(|n| (3.0..4.0).contains(&(n as f64 * least_tail(n as f64)))));
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let reports = [("many", 10), ("few", 1)].map(|(name, times)| {
        let mut report = VariantReport::new(RunData { name: name.into(), ..run(WITH) });
        report.flows.truncate(1);
        report.flows[0].spread.latency = of(times);
        report
    });
    let flow = &reports[0].flows[0].name;
    let told = svg(&caption, &reports, "latency_tail").expect("one of them has a tail");
    assert!(told.contains(&format!("too few for a tail: 4 of {flow} in few")), "{told}");
    // each has a key, and only one has steps
    let steps = |variant: usize| {
        let RGBColor(red, green, blue) = stroke(variant).color;
        let color = format!("\"#{red:02X}{green:02X}{blue:02X}\"");
        let lines = told.lines().filter(|line| line.starts_with("<polyline") && line.contains(&color));
        let points = |line: &str| line.split("points=\"").nth(1).map_or(0, |text| text.matches(',').count());
        lines.map(points).max()
    };
    assert!(steps(0) > Some(4) && steps(1) <= Some(2), "{:?}", [steps(0), steps(1)]);
    assert!(svg(&caption, &reports[1..], "latency_tail").is_none());
    assert!((least_tail(40.0) - 0.0881).abs() < 1e-4 && (least_tail(4.0) - 0.6024).abs() < 1e-4);
    assert!(least_tail(368.0) <= 0.01 && least_tail(367.0) > 0.01);
}

/// By hand: ten packets at once every 50 us are 0.2 packets a microsecond. Means over 31.25 us hold ten
/// or none of them or what is between; means over 50 us, or 100, hold all of one burst or of two.
#[test]
fn means_hold_whole_bursts() {
    const PERIOD: u64 = 50_000_000;
    let mut data = run(WITH);
    data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
    for burst in 0..LENGTH.0 / PERIOD {
        for n in 1..=10 {
            let mut delivery = super::synthetic::plain(burst * PERIOD + n * 500_000, 500_000, 0);
            (delivery.payload, delivery.link_ps) = (1_000, 500_000);
            models::Probe::delivered(&mut data.collector, &delivery);
        }
    }
    let reports = [VariantReport::new(data)];
    let names = flow_names(&reports, PACKETS);
    let lines = |report: &VariantReport, scale: Scale| rates(report, scale, &names);
    let mut scales = Scales::new(&reports, busy_end, |_| 0);
    assert!(roughness(&lines(&reports[0], scales.of[0])) > 0.3);
    scales.fit_bursts(&reports, &lines);
    let (grain, bin) = (scales.of[0].grain(&reports[0]), reports[0].run.collector.bin_ps());
    let beside = |grain: u64| grain.abs_diff((grain + PERIOD / 2) / PERIOD * PERIOD);
    assert!(beside(grain) <= 2 * bin, "{grain} in bins of {bin}");
    let drawn = lines(&reports[0], scales.of[0]);
    let law = gbps(10 * 1_000, PERIOD);
    let near = drawn[0].iter().filter(|point| libm::fabs(point.1 - law) < 0.1 * law).count();
    assert!(5 * near >= 4 * drawn[0].len(), "{law}: {drawn:?}");
}

/// Of more flows than there is room for those are drawn that carry something somewhere: seven alike in
/// one variant, one that is all of another, and a management flow only where nothing else is.
#[test]
fn flows_that_carry_most_somewhere_are_drawn() {
    let with = |flows: std::ops::Range<usize>| {
        let mut data = many_flows(9, WITH);
        data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
        for n in 0..70 {
            let mut delivery = super::synthetic::plain((n as u64 + 1) * 1_000_000, 500_000, 0);
            (delivery.payload, delivery.flow) = (64, (flows.start + n % flows.len()) as u16);
            models::Probe::delivered(&mut data.collector, &delivery);
        }
        let mut report = VariantReport::new(data);
        report.flows[0].books.asked = 0;
        report.flows[0].goodput_gbps.value = 0.0;
        report
    };
    let shown = |reports: &[VariantReport]| -> Vec<usize> {
        let names = flow_names(reports, PACKETS);
        let place = |name: &&str| names.iter().position(|other| other == name).unwrap();
        worth_most(reports, &names).iter().map(place).collect()
    };
    // flow 0 is told to carry nothing
    let alike = with(1..8);
    assert_eq!(shown(&[alike.clone(), with(8..9)]), [1, 2, 3, 4, 5, 8]);
    let only = |report: &VariantReport, flow: usize| {
        let mut report = report.clone();
        report.flows.retain(|other| other.name == alike.flows[flow].name);
        report
    };
    assert_eq!(shown(&[alike.clone(), only(&alike, 0)]), [0, 1, 2, 3, 4, 5]);
    // the first of each course come first (1, 6 and 8), then the next of each variant (2, 7 and 3)
    let mut some = with(1..8);
    some.run.collector = with(6..8).run.collector;
    assert_eq!(shown(&[alike.clone(), some, with(8..9)]), [1, 2, 3, 6, 7, 8]);
    // of many of which each carries a small part it is those that carry most, wherever they stand: these
    // six and the next carry 20 to 14 twentieths of the most
    let many = |order: fn(u64) -> u64| {
        let mut data = many_flows(40, WITH);
        data.collector = Collector::new(&CollectorConfig::new(&data.config, LENGTH));
        let all = (0..40).flat_map(|flow| (0..5 + order(flow) * order(flow) / 4).map(move |n| (flow, n)));
        for (flow, n) in all {
            let mut delivery = super::synthetic::plain((n + 1) * 1_000_000, 500_000, 0);
            (delivery.payload, delivery.flow) = (64, flow as u16);
            models::Probe::delivered(&mut data.collector, &delivery);
        }
        let mut report = VariantReport::new(data);
        report.flows.iter_mut().for_each(|flow| flow.role = None);
        report
    };
    assert_eq!(shown(&[many(|flow| flow)]), [34, 35, 36, 37, 38, 39]);
    assert_eq!(shown(&[many(|flow| flow * 7 % 40)]), [5, 11, 17, 22, 28, 34]);
    // what the scenario declares comes before what carries more
    let mut declared = alike.clone();
    declared.flows[7].role = Some(crate::run::Role::Victim);
    assert_eq!(shown(&[declared]), [1, 2, 3, 4, 5, 7]);
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let told = throughput(&caption, &[alike]).to_svg();
    assert!(told.contains("6 of 9 flows: those that differ or carry most"), "{told}");
}

/// By hand: of twenty flows each carries more than the one before; of the third something is required,
/// and the sixth is declared. These two and the ten that carry most are listed, in the order of the
/// scenario; bars are of 120 of 130.
#[test]
fn flows_that_somebody_looks_for_are_listed() {
    use crate::requirement::{Amount, Limit, Relation, Requirement, Subjects};
    let of = |count: usize| {
        let mut report = VariantReport::new(many_flows(count, WITH));
        for (n, flow) in report.flows.iter_mut().enumerate() {
            (flow.role, flow.goodput_gbps.value) = (None, n as f64);
        }
        report.flows[5].role = Some(crate::run::Role::Victim);
        let limit = Limit::new("< 1 us".into(), Relation::Below, Amount::Time(1_000_000));
        let subjects = Subjects::Flows(vec![2]);
        report.required = vec![Requirement { subjects, metric: "mean".into(), limit }];
        report
    };
    let report = of(20);
    let text = crate::table::variant(&report);
    let names: Vec<&str> = report.flows.iter().map(|flow| flow.name.as_str()).collect();
    let lines = |n: &usize| text.lines().any(|line| line.trim_start().starts_with(names[*n]));
    let listed: Vec<usize> = (0..20).filter(lines).collect();
    assert_eq!(listed, [2, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19], "{text}");
    let rule = "8 more flows are in summary.json; these are those of which something is required, then";
    assert!(text.contains(rule), "{text}");
    let reports = [of(130)];
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let figure = svg(&caption, &reports, "goodput").expect("it is drawn");
    assert!(figure.contains("120 of 130 flows: those of which something is required, then"), "{figure}");
    let drawn = |n: usize| figure.contains(&reports[0].flows[n].name);
    assert!(drawn(2) && drawn(5) && drawn(129) && !drawn(0) && !drawn(11) && drawn(12));
}

/// A share of a link changes in points of it: told as a share of a share, it would be taken for these.
#[test]
fn shares_change_in_points() {
    let reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let figure = svg(&caption, &reports, "load").expect("it is drawn");
    let [before, after] = [0, 1].map(|n| 100.0 * reports[n].flows[0].accepted_load.value);
    let law = format!("({})", crate::num::points_text(before, after).expect("it changes"));
    assert!(law.contains("points") && !law.contains('%') && figure.contains(&law), "{law}");
    assert!(figure.contains("in percentage points)"));
    let rates = svg(&caption, &reports, "goodput").expect("it is drawn");
    assert!(rates.contains(" %)") && !rates.contains(" points)"));
}

/// By hand: 0.08 and 0.125 Gb/s are 80 and 125 Mb/s, beside each other; 0.05 beside 10 Gb/s stays one. 8
/// kb/s are 0.000008 Gb/s, which nobody reads.
#[test]
fn panels_have_one_unit() {
    assert_eq!(unit_of_panels([8e-6, 10.0].into_iter()), None);
    let unit = |highs: &[f64]| unit_of_panels(highs.iter().copied()).expect("one").0;
    assert_eq!((unit(&[0.08, 0.125]), unit(&[1.26, 18.0, 0.0])), ("Mb/s", "Gb/s"));
    assert_eq!((unit(&[0.05, 10.0]), unit(&[]), unit(&[5e-5])), ("Gb/s", "Gb/s", "kb/s"));
    assert_eq!(others_text(&["victim-7", "others"]), "flows victim-7 and others together");
}

/// A flow that a variant does not ask for anything has a row only where it has something.
#[test]
fn who_wants_nothing_has_no_row() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    let rows = |reports: &[VariantReport]| {
        let figure = svg(&caption, reports, "decomposition").expect("it is drawn");
        figure.matches(&format!("\n{}\n", reports[0].run.name)).count()
    };
    assert_eq!(rows(&reports), reports[0].flows.len());
    let flow = &mut reports[0].flows[0];
    (flow.arrived, flow.books.asked, flow.goodput_gbps.value) = (0, 0, 0.0);
    assert_eq!(rows(&reports), reports[0].flows.len() - 1);
    // who asks and gets nothing has one
    reports[0].flows[0].books.asked = 5;
    assert_eq!(rows(&reports), reports[0].flows.len());
}

/// A picture of one run has the seed of this run.
#[test]
fn a_chart_has_its_own_seed() {
    let seeded = |seed| {
        let mut run = run(WITH);
        Arc::make_mut(&mut run.config).seed = seed;
        VariantReport::new(run)
    };
    let reports = [seeded(1), seeded(3)];
    assert_eq!(stamp("s", "0.1.0", &reports), "s · seeds 1, 3 · riosim 0.1.0");
    assert_eq!(stamp("s", "0.1.0", &reports[1..]), "s · seed 3 · riosim 0.1.0");
}

/// A run so short that all of it is one mean: a line, as a point alone is not drawn. Of two each is a
/// line as long as its time, and there is no slope; of twelve their middles are joined.
#[test]
fn few_means_are_steps() {
    let report = VariantReport::new(run(WITH));
    let bin = |n: usize| report.run.collector.bin_start(n);
    let points = |bins: usize| {
        let end = bin(bins);
        let scale = Scale { unit: TimeUnit::for_max(end as f64), end_ps: end, least_ps: 0 };
        (scale, over_time(&report, scale, |range, ps| Some((range.len() as u64 * ps) as f64)))
    };
    let (scale, one) = points(1);
    let ps = bin(1) as f64;
    assert_eq!(one, [(0.0, ps), (scale.unit.scale(ps), ps)]);
    let (scale, two) = points(2);
    let at = |n: usize| scale.unit.scale(bin(n) as f64);
    assert_eq!(two.iter().map(|point| point.0).collect::<Vec<f64>>(), [at(0), at(1), at(1), at(2)]);
    assert_eq!((two[0].1, two[2].1), (two[1].1, two[3].1));
    let (scale, twelve) = points(12);
    assert_eq!(twelve.len(), 12);
    assert_eq!(twelve[0].0, scale.unit.scale(bin(1) as f64 / 2.0));
}

#[test]
fn texts_neither_overlap_nor_leave_the_page() {
    let mut long = run(WITH);
    long.name = "a variant with a name that is much longer than anybody should ever choose".into();
    let mut empty = run(WITH);
    empty.collector = Collector::new(&CollectorConfig::new(&empty.config, LENGTH));
    empty.outcome.end = models::sim_core::Time(0);
    let caption = Caption {
        scenario: "hotspot-single-switch".into(),
        note: "protocol clock x 1000".into(),
        stamp: "hotspot-single-switch · seed 1 · riosim 0.1.0".into(),
    };
    for (case, runs) in [
        ("one", vec![run(WITHOUT)]),
        ("three", [WITHOUT, WITH, REFRESH].map(run).into()),
        ("seven", [WITHOUT, WITH, REFRESH, WITH, WITHOUT, WITH, WITH].map(run).into()),
        ("long name", vec![run(WITHOUT), long]),
        ("empty", vec![empty]),
        ("closed and open loops", vec![closed_loops(WITHOUT), run(WITH)]),
        ("many flows", vec![many_flows(9, WITHOUT)]),
        ("many flows and variants", vec![many_flows(20, WITHOUT), many_flows(20, WITH)]),
    ] {
        let reports: Vec<VariantReport> = runs.into_iter().map(VariantReport::new).collect();
        for (name, scene) in ROWS.iter().filter_map(|row| Some((row.name, row.scene(&caption, &reports)?))) {
            assert_eq!(scene.text_trouble(), None, "{case}: {name}");
        }
    }
}
