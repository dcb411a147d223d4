//! What reports and figures say so that nobody takes a true number for another one.

use crate::truths::{run, study};
use analysis::VariantReport;
use analysis::baselines::baselines;
use analysis::figures::Caption;
use analysis::num::count_text;
use analysis::series::queues_csv;
use analysis::table::{conclusion, variant};
use models::stats::LinxTotals;

/// The figure of this name.
fn svg(reports: &[VariantReport], name: &str) -> Option<String> {
    let caption = Caption { scenario: "s".into(), note: String::new(), stamp: String::new() };
    analysis::figures::svg(&caption, reports, name)
}

/// Two messages of which each meets another accident say nothing of each other; two algorithms that meet the
/// same one do, and so does one beside that which meets none.
#[test]
fn accidents_are_part_of_what_is_compared() {
    let fault = |message: &str, from: &str, to: &str| {
        format!(
            r#""/traffic/0/session/faults": [{{"from": "{from}", "to": "{to}", "message": "{message}",
            "nth": 1, "fate": "lose"}}]"#
        )
    };
    let (open, accept) = (fault("open", "ep/0", "ep/1"), fault("accept", "ep/1", "ep/0"));
    let text = format!(
        r#"{{"name": "accidents", "topology": {{"single_switch": {{"ports": 2}}}},
        "endpoint": {{"host": {{"protocol_clock": 1000, "response_timeout": "1 s"}}}},
        "run": {{"until": "1 ms", "sample_every": "off"}},
        "traffic": [{{"name": "c", "from": "ep/0", "to": "ep/1", "session": {{}}}}],
        "variants": [{{"name": "first", "set": {{{open}}}}}, {{"name": "second", "set": {{{accept}}}}},
        {{"name": "third", "set": {{{open}, "/endpoint/session/algorithm": "minimal"}}}},
        {{"name": "whole"}}, {{"name": "fourth", "set": {{{accept}}}}},
        {{"name": "mute", "set": {{
        "/overrides": [{{"devices": "ep/1", "endpoint": {{"session": {{"mute": true}}}}}}]}}}},
        {{"name": "anew", "set": {{
        "/traffic/0/session/restarts": [{{"node": "ep/0", "at": "500 us"}}]}}}}]}}"#
    );
    assert_eq!(baselines(&run(&text, "accidents")), [0, 1, 0, 3, 1, 3, 3]);
}

/// One flow of several that change alike is not the one that changes.
#[test]
fn a_flow_that_changes_as_others_do_does_not_stand_out() {
    let text = r#"{"name": "alike", "topology": {"single_switch": {"ports": 6}},
        "run": {"until": "200 us", "warmup": "0 ns", "sample_every": "off"},
        "traffic": [
        {"name": "a", "from": "ep/0", "to": "ep/3", "size": 256, "arrivals": {"saturated": {}}},
        {"name": "b", "from": "ep/1", "to": "ep/4", "size": 256, "arrivals": {"saturated": {}}},
        {"name": "c", "from": "ep/2", "to": "ep/5", "size": 256,
        "arrivals": {"constant": {"interval": "10 us", "phase": "0 ns"}}}],
        "variants": [{"name": "4x"}, {"name": "2x", "set": {"/links": {"width": "2x"}}},
        {"name": "small", "set": {"/traffic/a/size": 8}}]}"#;
    let mut reports = run(text, "alike");
    let said = conclusion(&reports);
    // a and b are alike, and c gets what it asks for
    assert!(said[0].contains("4x \u{2192} 2x: goodput of a "), "{said:?}");
    assert!(said[0].contains("(\u{2212}50 %, as another flow)"), "{said:?}");
    reports[1].flows[1].goodput_gbps.value /= 2.0;
    let said = conclusion(&reports);
    assert!(said[0].contains("2x: goodput of b ") && !said[0].contains(", as "), "{said:?}");
}

/// A refresh of a switch with eight ports takes two messages for each neighbour, whether anything changes or
/// not; each other one stops a queue of a neighbour or releases it, be there something in it or not.
#[test]
fn refreshes_are_counted_apart_from_changes() {
    let text = r#"{"name": "refreshed", "topology": {"single_switch": {"ports": 8}},
        "switch": {"input": "voq"},
        "voq": {"enabled": true, "thresholds": {"on": 8, "off": 4}, "verdict": "VERDICT", "refresh": "2 us"},
        "run": {"until": "1 ms", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": ["ep/0", "ep/1", "ep/2"], "to": "ep/3",
        "arrivals": {"saturated": {}}}],
        "variants": [{"name": "with"}, {"name": "without", "set": {"/voq/refresh": "off"}}]}"#;
    let sum = |report: &VariantReport, of: fn(&models::stats::PortStats) -> u64| -> u64 {
        report.run.outcome.ports.iter().map(|(.., stats)| of(stats)).sum()
    };
    for verdict in ["per_ingress", "shared"] {
        let reports = run(&text.replace("VERDICT", verdict), "refreshed");
        let told = |report: &VariantReport, key: &str| {
            let summary = serde_json::to_value(analysis::summary::VariantSummary::new(report)).unwrap();
            summary["fabric"]["symbols"][key].as_u64().unwrap_or(0)
        };
        let refreshes = sum(&reports[0], |stats| stats.voq_refreshes);
        assert!(refreshes > 100, "{refreshes}");
        assert_eq!(told(&reports[0], "voq_refresh_messages"), 2 * refreshes, "{verdict}");
        assert_eq!(told(&reports[1], "voq_refresh_messages"), 0);
        for report in &reports {
            let messages = sum(report, |stats| stats.voq_riding + stats.voq_standalone);
            let changes = messages - told(report, "voq_refresh_messages");
            let edges = sum(report, |stats| stats.xoff_edges + stats.xon_edges);
            let unheeded = told(report, "voq_unheeded");
            // who shares a verdict is told at all eight ports, and three of them send something
            assert_eq!(unheeded > 0, verdict == "shared" || told(report, "voq_refresh_messages") > 0);
            // one at each port may be under way
            assert!(edges <= changes && changes <= edges + 8, "{changes} {edges}");
            let text = variant(report);
            let said =
                format!("{} only to repeat what was said", count_text(told(report, "voq_refresh_messages")));
            assert_eq!(text.contains(&said), refreshes > 0 && report.run.name == "with", "{text}");
        }
        assert!(svg(&reports, "counts").expect("refreshes differ").contains("VoQ messages of refreshes"));
    }
}

/// What was dropped of all flows stands beside what never arrives of one: each says whose it is.
#[test]
fn drops_say_of_which_flows_they_are() {
    let text = r#"{"name": "whose", "topology": {"single_switch": {"ports": 3}},
        "run": {"until": "200 us", "warmup": "0 ns"},
        "traffic": [
        {"name": "a", "from": "ep/0", "to": "ep/2", "arrivals": {"constant": {"load": 0.1}}},
        {"name": "b", "from": "ep/1", "to": "ep/2", "arrivals": {"constant": {"load": 0.1}}}],
        "declare": {"victims": ["a"], "hot": ["b"]},
        "variants": [{"name": "one"}, {"name": "two"}]}"#;
    let mut reports = run(text, "whose");
    reports[1].overall.dropped = 7;
    reports[1].flows[0].books.never = 3;
    let said = conclusion(&reports).remove(0);
    assert!(said.contains("packets dropped of all flows 0 \u{2192} 7"), "{said}");
    assert!(said.contains("never arriving of a 0 \u{2192} 3"), "{said}");
    assert!(svg(&reports, "counts").expect("drops differ").contains("packets dropped of all flows"));
}

/// A host that takes a message in 10 us answers most segments by RETRY. They cross the fabric, so they are
/// accepted load, and it says so.
#[test]
fn accepted_load_says_that_refused_segments_are_in_it() {
    let text = r#"{"name": "refused", "topology": {"single_switch": {"ports": 3}},
        "endpoint": {"host": {"rx_queue": 2, "rx_service": "SERVICE"}},
        "run": {"until": "500 us", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": ["ep/0", "ep/1"], "to": "ep/2", "size": 256, "messages": {},
        "arrivals": {"saturated": {"backlog": 4}}}]}"#;
    let slow = run(&text.replace("SERVICE", "10 us"), "refused");
    let stats = slow[0].flows[0].protocol.expect("messages");
    let share = 100.0 * stats.facts[0] as f64 / stats.requests as f64;
    assert!(share > 80.0, "{share}");
    let law =
        format!("accepted load (closed loop), with {share:.1} % of the packets of requests refused by RETRY");
    assert!(conclusion(&slow)[0].contains(&law), "{:?}", conclusion(&slow));
    let words = "with segments that hosts refused by RETRY";
    assert!(svg(&slow, "load").expect("a load").contains(words));
    // no answers here
    assert!(!svg(&slow, "retry").expect("some are refused").contains("those of answers"));
    let fast = run(&text.replace("SERVICE", "0 ns"), "refused");
    assert!(!conclusion(&fast)[0].contains("RETRY") && !svg(&fast, "load").unwrap().contains(words));
}

/// What fragmentation moves and what waits for an earlier frame are drawn, as far as variants differ in it.
#[test]
fn what_linx_moves_and_holds_is_drawn() {
    let text = r#"{"name": "moved", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "1 ms", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "size": 16000, "limit": 20,
        "arrivals": {"constant": {"interval": "40 us", "phase": "20 us"}}, "linx": {}}],
        "variants": [{"name": "simple"}, {"name": "patch",
        "set": {"/endpoint/linx": {"fragmentation": "patch"}}}]}"#;
    let reports = run(text, "moved");
    let figure = svg(&reports, "counts").expect("they differ");
    assert!(figure.contains("octets that receivers had to move"), "{figure}");
    // nothing overtakes anything here
    assert!(!figure.contains("held"));
    for report in &reports {
        let totals: &LinxTotals = report.run.outcome.totals.of().next().unwrap();
        assert!(totals.stats.moved > 0);
        let moved = count_text(totals.stats.moved);
        assert!(figure.contains(&moved), "{moved}");
        assert!(variant(report).contains(&format!("had to move to put messages together: {moved}")));
    }
}

/// Clocks of protocols that differ are named beside each variant; when all connections are up is a moment,
/// and differs by a time. Means are called so.
#[test]
fn times_say_what_they_are() {
    let text = r#"{"name": "clocks", "topology": {"single_switch": {"ports": 2}},
        "endpoint": {"host": {"protocol_clock": 1000, "response_timeout": "10 s"}},
        "run": {"until": "20 ms"},
        "traffic": [{"name": "f", "from": ["ep/0", "ep/1"], "to": {"neighbour": {"among": ["ep/0", "ep/1"]}},
        "linx": {"faults": [{"node": "ep/1", "kind": "crash", "at": "3 ms", "for": "3 ms"}]}}],
        "variants": [{"name": "slow"},
        {"name": "fast", "set": {"/endpoint/host/protocol_clock": 4000, "/traffic/0/linx/faults":
        [{"node": "ep/1", "kind": "crash", "at": "3 ms", "for": "4 ms"}]}}]}"#;
    let mut reports = run(text, "clocks");
    reports[1].compare_with = Some("slow".into());
    let figure = svg(&reports, "times").expect("they differ");
    for words in [
        "slow (clock \u{d7} 1000)",
        "fast (clock \u{d7} 4000)",
        "mean time until a node that went down is missed or tells by coming back",
    ] {
        assert!(figure.contains(words), "{words}: {figure}");
    }
    assert!(figure.contains("(1.00 ms later than slow)"), "{figure}");
}

/// Who initialises registers from afar moves no octets of its own: it has no rate, and no efficiency. Its
/// times and those of the accesses to registers are told.
#[test]
fn visits_have_no_rate() {
    let reports = study("session-registers");
    let figure = svg(&reports, "efficiency").expect("registers are read");
    assert!(figure.contains("flow registers") && !figure.contains("flow down"), "{figure}");
    // octets of registers are nobody's goodput
    assert!(svg(&reports, "goodput").is_none());
    assert!(svg(&reports, "times").expect("they differ").contains("registers are initialised: down"));
}

/// Four of 4 002 messages came through: how long two round trips took is no mean to compare with another one,
/// in words and in the figure. What is left of the goodput is not nothing.
#[test]
fn a_few_survivors_are_not_compared() {
    let mut reports = study("linx-reorder");
    let overloaded = reports.iter_mut().find(|report| report.run.name == "overloaded");
    overloaded.expect("a variant").compare_with = Some("reordered".into());
    let said = conclusion(&reports);
    let line = said.iter().find(|line| line.contains("\u{2192} overloaded")).expect("it is compared");
    assert!(line.contains("no change is told of 2)") && !line.contains("100 %"), "{line}");
    let figure = svg(&reports, "times").expect("they differ");
    assert!(figure.contains("(no change is told of 2)"), "{figure}");
}

/// Of two packets that come at once in each period the second waits for as long as the first takes: that
/// share of the period is the mean queue, whenever it is looked at, in the file and in the figure.
#[test]
fn a_mean_queue_does_not_depend_on_when_it_is_looked_at() {
    let text = r#"{"name": "step", "topology": {"single_switch": {"ports": 3}},
        "run": {"until": "2 ms", "warmup": "0 ns", "sample_every": "EVERY"},
        "traffic": [{"name": "f", "from": ["ep/0", "ep/1"], "to": "ep/2",
        "arrivals": {"constant": {"interval": "1 us", "phase": "PHASE"}}}]}"#;
    for (every, phase) in [("1 us", "0 ns"), ("1 us", "300 ns"), ("1 us", "990 ns"), ("4 us", "5 ns")] {
        let reports = run(&text.replace("EVERY", every).replace("PHASE", phase), "step");
        let outcome = &reports[0].run.outcome;
        let (.., busiest) = outcome.ports.iter().max_by_key(|port| port.2.packets_sent).unwrap();
        let share = busiest.packet_ps as f64 / busiest.packets_sent as f64 / 1e6;
        let queues = queues_csv(&reports);
        let rows: Vec<Vec<&str>> = queues.lines().map(|line| line.split(',').collect()).collect();
        // neither the first one nor the last are whole
        let rows = rows.iter().filter(|row| row[1] == "sw:2");
        let rows: Vec<f64> = rows.map(|row| row[4].parse().unwrap()).collect();
        assert!(rows.len() > 400, "{queues}");
        // Two pieces in a bin of 1.95 us, each rounded by less than a packet-picosecond.
        for mean in &rows[4..rows.len() - 4] {
            assert!((mean - share).abs() < 2.0 / 1.95e6, "{every} {phase}: {mean} for {share}");
        }
        let svg = svg(&reports, "queues").expect("packets wait");
        assert!(!svg.contains("samples"), "{svg}");
    }
}

/// A Transfer that is over in the middle of the measured part leaves another load behind: not steady. One
/// that goes on, or was over before, changes nothing there.
#[test]
fn a_transfer_that_ends_in_the_middle_is_not_steady() {
    let text = r#"{"name": "out", "topology": {"single_switch": {"ports": 4}},
        "run": {"until": "1 ms", "warmup": "100 us"},
        "traffic": [{"name": "w", "from": "ep/0", "to": "ep/1", "st": {"bytes": BYTES}},
        {"name": "f", "from": "ep/2", "to": "ep/3", "arrivals": {"constant": {"load": 0.2}}}]}"#;
    for (bytes, runs_out) in [(16_384, false), (393_216, true), (8_388_608, false)] {
        let report = run(&text.replace("BYTES", &bytes.to_string()), "out").remove(0);
        assert_eq!(report.window.runs_out, runs_out, "{bytes}");
        assert_eq!(report.window.steady, !runs_out, "{bytes}");
        assert_eq!(variant(&report).contains("some Transfers end in the measured part"), runs_out);
    }
}

/// Fifty packets, one each microsecond from the beginning; the last one has two hops of 112 ns, 40 ns each
/// and a pipeline of 100 ns: 49.404 us. Whoever measures later is told where the goodput comes from; who
/// measures some of them is not.
#[test]
fn a_flow_that_is_over_before_the_measured_part_says_so() {
    let text = r#"{"name": "early", "topology": {"single_switch": {"ports": 4}},
        "run": {"until": "200 us", "warmup": "WARMUP"},
        "traffic": [{"name": "early", "from": "ep/0", "to": "ep/1", "limit": 50,
        "arrivals": {"constant": {"interval": "1 us", "phase": "0 ns"}}},
        {"name": "f", "from": "ep/2", "to": "ep/3", "arrivals": {"constant": {"load": 0.2}}}]}"#;
    for (warmup, over) in [("25 us", false), ("50 us", true)] {
        let report = run(&text.replace("WARMUP", warmup), "early").remove(0);
        let said = variant(&report);
        let line = "\"early\" is over before the measured part: its goodput is that of 0 to 49.4 \u{b5}s";
        assert_eq!(said.contains(line), over, "{said}");
        assert_eq!(said.contains("over before the measured part"), over, "{said}");
        assert_eq!(report.flows[0].delivered.packets == 0, over);
        // 50 x 256 octets
        let goodput = 50.0 * 256.0 * 8.0 / 49_404.0;
        assert!((report.flows[0].goodput_gbps.value - goodput).abs() < 1e-9, "{said}");
    }
}

/// What is still on its way at the end has not been moved by anybody: of three messages two came.
#[test]
fn what_receivers_had_to_move_has_come() {
    let text = r#"{"name": "came", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "102 us", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "size": 16000, "limit": 20,
        "arrivals": {"constant": {"interval": "40 us", "phase": "20 us"}}, "linx": {}}]}"#;
    let report = run(text, "came").remove(0);
    let totals: &LinxTotals = report.run.outcome.totals.of().next().unwrap();
    assert_eq!((totals.stats.messages, totals.stats.delivered), (3, 2));
    assert_eq!(totals.stats.moved, 2 * 16_000);
}

/// A share of waiting is told of those whose time it is: a flow without packets has none, and that of a
/// protocol is not that of the packets beside it.
#[test]
fn waiting_is_told_of_those_who_wait() {
    let flow = |name: &str, from: u32, load: &str, more: &str| {
        format!(
            r#"{{"name": "{name}", "from": "ep/{from}", "to": "ep/3", "size": 256,
            "arrivals": {{"poisson": {{"load": {load}}}}}{more}}}"#
        )
    };
    let said = |flows: &[String]| {
        let text = format!(
            r#"{{"name": "waits", "topology": {{"single_switch": {{"ports": 4}}}},
            "run": {{"until": "200 us", "warmup": "0 ns"}}, "traffic": [{}]}}"#,
            flows.join(", ")
        );
        conclusion(&run(&text, "waits")).remove(0)
    };
    let messages = flow("asks", 0, "0.3", r#", "messages": {}"#);
    let idle = said(&[messages, flow("idle", 1, "0.4", r#", "limit": 0"#)]);
    assert!(idle.contains("; most waiting of messages of \"asks\" is "), "{idle}");
    let linx = r#"{"name": "linx", "from": "ep/0", "to": "ep/1", "linx": {}}"#.to_owned();
    let beside = said(&[linx, flow("one", 1, "0.4", ""), flow("two", 2, "0.4", "")]);
    assert!(beside.contains("; most waiting of packets of \"one\" and 1 other flow is "), "{beside}");
}

/// Where goodput is that of before, a flow that waits for longer has a word beside the first one.
#[test]
fn a_flow_that_waits_longer_is_told_of() {
    let text = r#"{"name": "waits", "topology": {"single_switch": {"ports": 3}},
        "run": {"until": "200 us", "warmup": "0 ns"},
        "traffic": [
        {"name": "a", "from": "ep/0", "to": "ep/2", "arrivals": {"constant": {"load": 0.1}}},
        {"name": "b", "from": "ep/1", "to": "ep/2", "arrivals": {"constant": {"load": 0.1}}}],
        "variants": [{"name": "one"}, {"name": "two"}]}"#;
    let mut reports = run(text, "waits");
    assert!(!conclusion(&reports)[0].contains(" of b "), "{:?}", conclusion(&reports));
    reports[1].flows[1].delivered.network_ps *= 3;
    let said = conclusion(&reports).remove(0);
    assert!(said.contains("two: goodput of a "), "{said}");
    assert!(said.contains(", mean network latency of b ") && said.contains(" (+200 %)"), "{said}");
}

/// Two flows that end are told over one time, though a connection beside them goes on and carries nothing;
/// messages too few for a rate are counted; and what was noticed may be a link and not a peer.
#[test]
fn a_lost_xon_is_told_as_it_is() {
    let mut reports = study("linx-lost-xon");
    for report in reports.iter_mut().filter(|report| report.run.name != "intact") {
        report.compare_with = Some("intact".into());
    }
    let of = |name: &str| reports.iter().find(|report| report.run.name == name).expect("a variant");
    let intact = of("intact");
    let spans: Vec<(u64, u64)> = intact.flows[1..].iter().filter_map(|flow| flow.rate_span).collect();
    let from = spans.iter().map(|span| span.0).min().expect("they end");
    let to = spans.iter().map(|span| span.1).max().expect("they end");
    let rate = 80.0 * 256.0 * 8_000.0 / (to - from) as f64;
    assert_eq!((spans.len(), intact.overall.rate_span), (2, Some((from, to))));
    assert!((intact.overall.goodput_gbps.value / rate - 1.0).abs() < 1e-9, "{rate}");
    let said = conclusion(&reports);
    assert!(said[0].ends_with(", VoQ messages 12 \u{2192} 6 in the whole run (\u{2212}50 %)"), "{}", said[0]);
    assert!(
        variant(of("dead-link"))
            .contains("a peer that went down, or the way to it, was noticed after 1.20 s")
    );
}

/// A stream that was asked for and refused, and a conduit that was closed on purpose, are what they are.
#[test]
fn what_is_refused_or_closed_was_asked_for() {
    let refused = study("session-figure-3-2");
    assert_eq!(conclusion(&refused), ["0 of 1 stream open, 1 OPEN refused"]);
    assert!(variant(&refused[0]).contains("streams of 2 nodes (stream): 0 of 1 wanted"));
    let text = r#"{"name": "closed", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "200 us", "sample_every": "off"},
        "traffic": [{"name": "c", "from": "ep/0", "to": "ep/1", "session": {}}],
        "variants": [{"name": "open"},
        {"name": "closed", "set": {"/traffic/0/session/close_at": "100 us"}}]}"#;
    let reports = run(text, "closed");
    assert_eq!(conclusion(&reports[1..]), ["1 closed by who opened them"]);
    assert!(variant(&reports[1]).contains("(c): 0, none wanted, 1 closed by who opened them"));
    assert!(variant(&reports[0]).contains("(c): 1 of 1 wanted, all open at "));
}

/// A broadcast that switches copy is sent once and arrives at all: no share of what was sent for it.
#[test]
fn copies_of_switches_are_no_payload_of_a_sender() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/ethernet-multicast.json");
    let text = std::fs::read_to_string(path).unwrap();
    let short = text.replace(r#""limit": 100"#, r#""limit": 10"#).replace("2 ms", "200 us");
    let reports = run(&short, "copies");
    for report in &reports {
        let summary = serde_json::to_value(analysis::summary::VariantSummary::new(report)).unwrap();
        let share = &summary["flows"][0]["protocol"]["efficiency"];
        let copied = report.run.name.ends_with("multicast");
        assert_eq!(share.is_null(), copied, "{}: {share}", report.run.name);
        assert!(share.as_f64().is_none_or(|share| share < 1.0), "{share}");
        assert_eq!(variant(report).contains("switches copy its packets"), copied);
    }
    assert_eq!(reports.iter().filter(|report| report.run.name.ends_with("multicast")).count(), 2);
}

/// A packet that comes late lacks another thing in a switch that reads its inputs directly.
#[test]
fn late_packets_say_what_they_lack() {
    let text = r#"{"name": "late", "topology": {"single_switch": {"ports": 3}}, "switch": {"buffering": HOW},
        "run": {"until": "20 us", "warmup": "0 ns"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"constant": {"load": 0.1}}}]}"#;
    for (how, lacks) in [
        (r#""direct""#, "fewer buffers of their input were free than its watermark asks for"),
        (r#""output""#, "no place behind their input was free"),
    ] {
        let mut report = run(&text.replace("HOW", how), "late").remove(0);
        assert!(!variant(&report).contains("too little room"));
        let at = report
            .run
            .outcome
            .ports
            .iter()
            .position(|(device, ..)| report.run.config.devices[*device as usize].path == "sw");
        report.run.outcome.ports[at.expect("ports of the switch")].2.late_hol = 1_234;
        let line = format!(
            "1 234 packets came for a congested output before their senders had heard of it, and found too \
             little room: {lacks}"
        );
        assert!(variant(&report).contains(&line), "{}", variant(&report));
    }
}

/// A headline names the flow that is short first. The goodput behind it is that of all flows, which it says,
/// and so is how many others lose something or are not done.
#[test]
fn a_headline_does_not_give_the_goodput_of_all_to_one() {
    let linx = r#"{"name": "l", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 5, "linx": {},
        "arrivals": {"constant": {"interval": "2 us", "phase": "5 us"}}}"#;
    let program = |name: &str, loss: u8| {
        format!(
            r#"{{"name": "{name}", "from": ["ep/0", "ep/1"], "st": {{"loss": {{"control": {loss}}},
            "program": {{"collective": "broadcast", "octets": 64}}}}}}"#
        )
    };
    let said = |flows: &[&str], until: &str| {
        let text = format!(
            r#"{{"name": "h", "topology": {{"single_switch": {{"ports": 2}}}}, "traffic": [{}],
            "run": {{"until": "{until}", "warmup": "0 ps", "sample_every": "off"}}}}"#,
            flows.join(", ")
        );
        conclusion(&run(&text, "h")).remove(0)
    };
    let (lost, second, third) = (program("p", 1), program("q", 1), program("r", 1));
    let first = "p: 0 of 1 Transfer arrived, 1 never will, 0 under way; ";
    let begins = |said: &str, words: &str| assert!(said.starts_with(words), "{said}");
    // alone, what is said of all is said of it
    begins(&said(&[&lost], "100 ms"), &format!("{first}goodput 0 Gb/s"));
    begins(&said(&[&lost, linx], "100 ms"), &format!("{first}all flows: goodput 0.0"));
    begins(
        &said(&[&lost, &second, linx], "100 ms"),
        &format!("{first}1 other flow loses something, too; all flows: goodput 0.0"),
    );
    begins(
        &said(&[&lost, &second, &third], "100 ms"),
        &format!("{first}2 other flows lose something, too; all flows: goodput 0 Gb/s"),
    );
    let early = said(&[&lost, &second, &third, linx], "15 us");
    begins(&early, "p: 0 of 1 Transfer arrived, 0 never will, 1 under way");
    assert!(early.contains("; 2 other flows are not done, too; all flows: goodput 0.1"), "{early}");
    // 320 octets in 8 us and a way
    begins(&said(&[linx], "100 ms"), "goodput 0.3");
}
