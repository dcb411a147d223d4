//! What pictures of small runs show, held against what the runs counted.

use crate::truths::{run, study};
use analysis::VariantReport;
use analysis::figures::{self, Caption};
use analysis::num::time_text;
use analysis::table::conclusion;
use models::agent::initialise::InitialiseTotals;
use models::stats::{LinxTotals, SessionTotals};

fn svg(reports: &[VariantReport], name: &str) -> String {
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    figures::svg(&caption, reports, name).expect("it is drawn")
}

/// Points of the lines of a colour, in the order of the file.
fn lines(svg: &str, color: &str) -> Vec<Vec<(f64, f64)>> {
    let is_line = |line: &&str| line.starts_with("<polyline") && line.contains(&format!("\"{color}\""));
    let points = |line: &str| -> Vec<(f64, f64)> {
        let text = line.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("points");
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let pair = |text: &str| text.split_once(',').map(|(x, y)| (number(x), number(y))).expect("a pair");
        text.split_whitespace().map(pair).collect()
    };
    svg.lines().filter(is_line).map(points).collect()
}

/// Colours of the first two variants.
const COLORS: [&str; 2] = ["#0072B2", "#D55E00"];

/// Heartbeats of eight nodes beside data that ask for twice what the hot link takes.
const STARVED: &str = r#"{"name": "starved", "topology": {"single_switch": {"ports": 8}},
    "switch": {"input": "voq", "buffering": "direct", "input_buffers": 24},
    "endpoint": {"host": {"protocol_clock": 50000, "response_timeout": "10 s"},
    "linx": {"carrier": "stream", "hb_tmo": 5, "connection_priority": 0, "heartbeat_priority": 0}},
    "traffic": [{"name": "linx", "from": "all", "to": {"uniform": {}}, "linx": {"spread": "8 us"}},
    {"name": "data", "from": "ep/{1..7}", "to": "ep/0", "arrivals": {"poisson": {"load": "0.3"}},
    "priority": 1, "start": "100 us"}], "run": {"until": "400 us", "warmup": "0 ps"},
    "variants": [{"name": "above", "set": {"/endpoint/linx/connection_priority": 2,
    "/endpoint/linx/heartbeat_priority": 2}}, {"name": "below"}]}"#;

/// Law: of frames that were sent those that were delivered are in a distribution, and it ends at their share;
/// a tail never falls below the share of the others. That nobody asks for heartbeats does not make them
/// arrive.
#[test]
fn frames_that_never_come_are_missing_in_a_distribution() {
    let reports = run(STARVED, "starved");
    let share = |report: &VariantReport| {
        let stats = report.flow("linx").and_then(|flow| flow.protocol).expect("LINX runs it");
        stats.delivered as f64 / stats.sent as f64
    };
    let law = [share(&reports[0]), share(&reports[1])];
    assert!(law[0] > 0.99 && law[1] < 0.4, "{law:?}");
    // The highest and the lowest point of the line of each variant, in the panel of LINX: the first comes to
    // 100 %.
    let ends = |figure: &str, right: f64| {
        let svg = svg(&reports, figure);
        let points = COLORS.map(|color| lines(&svg, color).into_iter().flatten().collect::<Vec<_>>());
        // keys are above all lines, in one row
        let keys = points.iter().flatten().map(|point| point.1).fold(f64::INFINITY, f64::min);
        points.map(|points| {
            let ys = || points.iter().filter(|at| at.0 < right && at.1 > keys + 100.0).map(|at| at.1);
            [ys().fold(f64::INFINITY, f64::min), ys().fold(0.0, f64::max)]
        })
    };
    let [[full, zero], [starved, _]] = ends("message_cdf", 7_680.0);
    let drawn = (zero - starved) / (zero - full);
    assert!((drawn - law[1]).abs() < 0.002, "drawn {drawn}, law {}", law[1]);
    // Of packets, whose books are nobody's either, as many are missing as are left in queues.
    let flow = reports[1].flow("linx").expect("it is there");
    let law = flow.arrived as f64 / (flow.arrived + flow.left) as f64;
    assert!(law < 0.995, "{law}");
    let [[full, zero], [starved, _]] = ends("latency_cdf", 3_800.0);
    let drawn = (zero - starved) / (zero - full);
    assert!((drawn - law).abs() < 0.001, "drawn {drawn}, law {law}");
    // The tail of what keeps up falls to the least share that is told of so many (q^n = 0.025).
    let [[top, edge], [_, starved]] = ends("latency_tail", 7_680.0);
    let least = 1.0 - 0.025f64.powf(1.0 / delivered(&reports[0]) as f64);
    let decades = -least.log10();
    let drawn = 10f64.powf(2.0 - decades * (starved - top) / (edge - top)) / 100.0;
    let law = 1.0 - share(&reports[1]);
    assert!((drawn - law).abs() < 0.02, "drawn {drawn}, law {law}");
}

/// Frames of LINX that arrived in a variant.
fn delivered(report: &VariantReport) -> u64 {
    report.flow("linx").and_then(|flow| flow.protocol).map_or(0, |stats| stats.delivered)
}

/// Seven sources ask for 0.3 of a link each from 100 us on, and one link takes what they get: 276 octets and
/// a delimiter in place of 256 octets of payload.
///
/// Law: what a flow gets is told over the time since its sources may send. Over all of the window it would be
/// three quarters of that (300 of 400 us), and no interval of the parts would hold the rate of any instant.
#[test]
fn who_begins_late_is_not_thinned_by_the_time_before() {
    let text = STARVED.split("\"variants\"").next().expect("a beginning");
    let text = format!("{}}}", text.trim_end().trim_end_matches(','));
    let report = run(&text, "starved").remove(0);
    let flow = report.flow("data").expect("it is there");
    let window = report.window;
    assert_eq!((window.from_ps, window.to_ps), (0, 400_000_000));
    let law = flow.delivered.payload as f64 * 8_000.0 / 300_000_000.0;
    assert!((flow.goodput_gbps.value - law).abs() < 1e-9, "{} Gb/s, law {law}", flow.goodput_gbps.value);
    let share = flow.delivered.link_ps as f64 / (7.0 * 300_000_000.0);
    assert!((flow.accepted_load.value - share).abs() < 1e-12, "{}", flow.accepted_load.value);
    // The hot link is busy from the beginning on, but for a way through an empty fabric: a seventh for each.
    assert!((share - 1.0 / 7.0).abs() < 0.002, "{share}");
    // a batch in which it does not run is none of its batches
    assert!(flow.goodput_gbps.half_width < 0.05 * law, "{:?}", flow.goodput_gbps);
    assert!((flow.offered_load - 0.3).abs() < 0.02, "{}", flow.offered_load);
    // what is there from the beginning on meets another load from 100 us on
    assert!(!window.steady);
    // all of its time is in the window of who begins with it
    let calm = run(&text.replace("\"100 us\"", "\"0 ps\""), "calm").remove(0);
    let flow = calm.flow("data").expect("it is there");
    let law = flow.delivered.payload as f64 * 8_000.0 / 400_000_000.0;
    assert!((flow.goodput_gbps.value - law).abs() < 1e-9);
}

/// Texts of a picture, in the order of the file.
fn texts(svg: &str) -> Vec<String> {
    svg.lines().filter(|line| !line.starts_with('<')).map(|line| line.replace("&amp;", "&")).collect()
}

/// What stands beside the bars under a heading, with the names of their variants.
fn bars(svg: &str, heading: &str) -> Vec<(String, String)> {
    let texts = texts(svg);
    let mut rest = texts.iter().skip_while(|text| *text != heading).skip(1);
    let pair = || Some((rest.next()?.clone(), rest.next()?.clone()));
    std::iter::from_fn(pair).collect()
}

/// The first bar of a variant under a heading.
fn bar(svg: &str, heading: &str, variant: &str) -> String {
    let all = bars(svg, heading);
    let own = all.iter().find(|bar| bar.0 == variant);
    own.unwrap_or_else(|| panic!("{variant} has no bar under {heading}: {all:?}")).1.clone()
}

fn of<'a>(reports: &'a [VariantReport], name: &str) -> &'a VariantReport {
    reports.iter().find(|report| report.run.name == name).expect("the study has this variant")
}

/// Law: registers are initialised when the last lock is given back. Who comes after that finds that nothing
/// is left to do, and a visit takes more than one access, of two ways through the fabric each: so it ends
/// later. Octets of registers are no goodput: each node by itself needs the fewest of them.
#[test]
fn registers_are_initialised_when_the_last_lock_is_given_back() {
    let reports = study("session-registers");
    let times = svg(&reports, "times");
    let last = |name: &str, flow: &str| {
        let report = of(&reports, name);
        let index = report.flows.iter().position(|own| own.name == flow).expect("it is there");
        let totals = report.run.outcome.totals.of_flow::<InitialiseTotals>(index).expect("it initialises");
        let written = totals.stats.holds.iter().filter_map(|hold| hold.until).max().expect("it writes").0;
        let visited = totals.stats.last.expect("it ends").0;
        assert!(written + 2 * 380_000 < visited, "{written} {visited}");
        (written, visited)
    };
    let mut all = Vec::new();
    for name in ["together", "opposite"] {
        for flow in ["down", "up"] {
            let (written, visited) = last(name, flow);
            let text = bar(&times, &format!("time until registers are initialised: {flow}"), name);
            assert!(text.starts_with(&time_text(written as f64)), "{flow} in {name}: {text}");
            assert!(!text.starts_with(&time_text(visited as f64)));
        }
        all.push(["down", "up"].map(|flow| last(name, flow).0).into_iter().max().unwrap());
    }
    let [together, opposite] = [all[0], all[1]].map(|ps| time_text(ps as f64));
    let law = format!("together \u{2192} opposite: registers initialised at {together} \u{2192} {opposite}");
    let said = conclusion(&reports).join("\n");
    assert!(said.contains(&law) && !said.contains("goodput of registers"), "{said}");
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    assert!(figures::svg(&caption, &reports, "goodput").is_none());
}

/// A conduit is open from the end of its handshake on, whatever becomes of it. Law: until 1 ms nothing
/// happens to it in either variant, so it is open at the same instant in both; after a restart it is open a
/// second time.
#[test]
fn conduits_are_open_before_they_are_closed() {
    const FIRST: &str = "time until all conduits are open, one for each pair, and no other records";
    let reports = study("session-message-loss");
    let times = svg(&reports, "times");
    let first = |name: &str| {
        let totals = of(&reports, name).run.outcome.totals.one::<SessionTotals>().expect("one flow");
        totals.first_open.expect("it was open").0
    };
    let law = first("corrected-close-lost");
    assert!(law < 10_000_000, "{law}");
    for name in ["corrected-close-lost", "corrected-restart"] {
        assert_eq!(first(name), law, "{name}");
        let text = bar(&times, FIRST, name);
        assert!(text.starts_with(&time_text(law as f64)), "{name}: {text}");
    }
    let again = bar(&times, "since when all conduits are open again, one for each pair", "corrected-restart");
    assert!(again.starts_with("1.25 ms"), "{again}");
    // A storm leaves records that fit nobody's: no instant is told at which all was well.
    // A storm leaves records that fit nobody's: no instant is told at which all was well.
    assert_eq!(bar(&times, FIRST, "literal-open-twice"), "-");
}

/// Connections that are lost later were up. Law: what is lost or dies from 1.3 s on is up as soon as where
/// nothing is. VoQ messages can come in all variants, refreshes where there is a period. The link that dies
/// at 1.3 s is missed at 2.5 s, 1.2 s later; the one that is there again before that is missed by nobody, and
/// no words say that it is.
#[test]
fn connections_were_up_before_they_were_lost() {
    let reports = study("linx-lost-xon");
    let all: Vec<u64> = reports
        .iter()
        .map(|report| report.run.outcome.totals.one::<LinxTotals>().expect("one flow"))
        .map(|totals| totals.first_up.expect("it was up").0)
        .collect();
    assert!(all.iter().all(|first| *first == all[0] && *first < 1_000_000), "{all:?}");
    let times = svg(&reports, "times");
    let missed =
        "mean time until a node that went down is missed or tells by coming back, or a broken way is missed";
    assert!(bar(&times, missed, "dead-link").starts_with("1.20 s"), "{times}");
    assert!(!bars(&times, missed).iter().take(1).any(|bar| bar.0 == "link-back"), "{times}");
    let times = texts(&times).join(" ");
    let law = format!("time until every connection had come up {}", time_text(all[0] as f64));
    assert!(times.contains(&law), "{times}");
    let counts = svg(&reports, "counts");
    assert_eq!(bar(&counts, "VoQ messages, without refreshes", "link-back"), "0");
    // what none is sent of may be lost, and is not
    for (name, lost) in [("link-back", "0"), ("intact", "0"), ("refresh-off", "1")] {
        assert_eq!(bar(&counts, "VoQ messages lost on purpose", name), lost, "{name}");
    }
    let refreshes = bars(&counts, "VoQ messages of refreshes");
    let with = |name: &str| refreshes.iter().take(7).any(|bar| bar.0 == name && bar.1 != "-");
    assert!(with("refresh-late") && with("refresh-early") && with("refresh-default"), "{refreshes:?}");
    assert!(!with("refresh-off") && !with("intact"), "{refreshes:?}");
}

/// A connection that was there all the time has no time since when it is there again, and is not one that
/// never came up. The link of the other variant is down from 100 to 120 us, so it is up again after that.
#[test]
fn what_never_went_down_is_told_apart() {
    let text = r#"{"name": "again", "topology": {"single_switch": {"ports": 2}},
        "endpoint": {"host": {"protocol_clock": 50000}, "linx": {"carrier": "stream", "hb_tmo": 5}},
        "traffic": [{"name": "linx", "from": "ep/0", "to": "ep/1", "linx": {}}],
        "run": {"until": "400 us", "warmup": "0 ps"},
        "variants": [{"name": "whole"}, {"name": "back", "set": {"/faults":
        {"outages": [{"link": "ep/0", "at": "100 us", "for": "20 us"}]}}}]}"#;
    let reports = run(text, "again");
    let times = svg(&reports, "times");
    let again = "since when all connections are up again";
    assert_eq!(bar(&times, again, "whole"), "never down");
    let up = of(&reports, "back").run.outcome.totals.one::<LinxTotals>().expect("one flow").all_up;
    let up = up.expect("it is up again").0;
    assert!(up >= 120_000_000, "{up}");
    assert!(bar(&times, again, "back").starts_with(&time_text(up as f64)), "{times}");
}

/// What is in one mean or distribution and differs is said beside it, and so is who waits while others come.
/// Law: with one place in the queue some of 28 messages get it as soon as it is free, and others never: one
/// of them has waited since the beginning of the run.
#[test]
fn captions_say_what_a_number_is_of() {
    let reports = study("message-retry-storm");
    let told = |name: &str| texts(&svg(&reports, name)).join(" ");
    for name in ["message_decomposition", "message_cdf"] {
        let told = told(name);
        assert!(told.contains("messages are requests and answers alike"), "{name}");
        assert!(told.contains("some wait for longer than any that arrived"), "{name}");
        assert!(told.contains("places-1 2.00 ms") && !told.contains("senders-7 2.00 ms"), "{name}");
    }
    assert!(told("latency_cdf").contains("responses among packets"));
    assert!(told("goodput").contains("octets of answers count as those of requests do"));
    assert!(told("retry").contains("packets of answers count as well"));
    // without answers there is nothing to be mixed
    let unanswered: Vec<VariantReport> =
        reports.into_iter().filter(|report| !report.run.name.starts_with("answered")).collect();
    let told = |name: &str| texts(&svg(&unanswered, name)).join(" ");
    assert!(!told("message_cdf").contains("answers") && !told("goodput").contains("answers"));
}

/// Eight bursts, one after the other: six have lines, and the others are one line together, or traffic would
/// seem to end with the sixth.
#[test]
fn flows_without_a_line_of_their_own_have_one_together() {
    let burst = |n: u64| {
        format!(
            r#"{{"name": "burst-{n}", "from": "ep/0", "to": "ep/1", "size": 256, "limit": 64,
            "arrivals": {{"saturated": {{"backlog": 8}}}}, "start": "{} us"}}"#,
            100 * n
        )
    };
    let bursts: Vec<String> = (0..8).map(burst).collect();
    let text = format!(
        r#"{{"name": "bursts", "topology": {{"single_switch": {{"ports": 2}}}},
        "run": {{"until": "800 us", "warmup": "0 ps"}}, "traffic": [{}]}}"#,
        bursts.join(", ")
    );
    let reports = run(&text, "bursts");
    let svg = svg(&reports, "throughput");
    assert!(texts(&svg).iter().any(|text| text == "flows burst-6 and burst-7 together"), "{:?}", texts(&svg));
    // the seventh line rises behind all others: its last burst is in the last eighth of the axis
    let drawn = lines(&svg, "#000000").into_iter().flatten().filter(|point| point.1 > 900.0);
    let right = drawn.clone().map(|point| point.0).fold(0.0, f64::max);
    let low = drawn.clone().map(|point| point.1).fold(0.0, f64::max);
    let busy = drawn.filter(|point| point.1 < low - 50.0).map(|point| point.0).fold(0.0, f64::max);
    assert!(busy > 0.8 * right, "{busy} of {right}");
}

/// The label of an axis stands on the page, however small the shares of its ticks are; and it names what is
/// counted, as the title does.
#[test]
fn labels_of_tails_are_on_the_page() {
    let reports = run(STARVED, "starved");
    let svg = svg(&reports, "latency_tail");
    let label = "frames of LINX that take longer (%)";
    let before = svg.lines().zip(svg.lines().skip(1)).find(|pair| pair.1 == label).expect("it is there").0;
    let x = before.split(" x=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a place");
    assert!(x.parse::<f64>().expect("a number") > 60.0, "{before}");
}

/// A storm goes on until records are at their limit, so counts of it are no result; messages that are refused
/// are lost for who sent them.
#[test]
fn counts_say_where_a_limit_ends_them() {
    let reports = study("session-message-loss");
    let told = texts(&svg(&reports, "counts")).join(" ");
    assert!(told.contains("the limit of records stops a storm, and its counts there: literal-"), "{told}");
    let reports = study("linx-reorder");
    let counts = svg(&reports, "counts");
    let refused = |name: &str| {
        let totals = of(&reports, name).run.outcome.totals.one::<LinxTotals>().expect("one flow");
        totals.stats.refused
    };
    let text = bar(&counts, "messages refused without a connection", "overloaded");
    assert_eq!(text, analysis::num::count_text(refused("overloaded")));
    assert!(refused("overloaded") > 1_000);
}
