//! What became of what was asked for, where it is easily told wrong: what is given up and comes late, what is
//! in a dead link, what leaves twice, and what was never asked for.

use crate::truths::run;
use analysis::VariantReport;
use analysis::enumeration::EnumerationSummary;
use analysis::series::timeouts_csv;
use analysis::table::variant;
use serde_json::{Value, json};

const US: u64 = 1_000_000;

/// A star of four endpoints, with a flow.
fn star(until: &str, flow: Value) -> Value {
    json!({
        "name": "z",
        "seed": 1,
        "run": {"until": until, "warmup": "0 ps", "stall_after": "off"},
        "topology": {"single_switch": {"ports": 4}},
        "links": {"rate": "6.25 Gbaud", "width": "4x", "length": "2 m", "phy_latency": "30 ns"},
        "traffic": [flow],
    })
}

/// A flow of one PDU, message or request each `every` from `phase` on.
fn regular(every: &str, phase: &str, size: u64, how: &str, settings: Value) -> Value {
    let arrivals = json!({"constant": {"interval": every, "phase": phase}});
    let mut flow = json!({"name": "m", "from": "ep/0", "to": "ep/1", "arrivals": arrivals, "size": size});
    flow[how] = settings;
    flow
}

fn report(scenario: &Value) -> VariantReport {
    run(&scenario.to_string(), "fates").swap_remove(0)
}

fn until(scenario: &Value, until: &str) -> VariantReport {
    let mut scenario = scenario.clone();
    scenario["run"]["until"] = json!(until);
    report(&scenario)
}

/// Asked, arrived, never, under way.
fn books(report: &VariantReport) -> [u64; 4] {
    let books = &report.flows[0].books;
    [books.asked, books.arrived, books.never, books.under_way]
}

/// Resets that overlap are one, from the first beginning to the last end. A PDU leaves each 10 us, at 1 000
/// us too: of those from then until 1 500 us, 51, none is taken; the node is up 2 ns later, and does not know
/// the stream that the last of them comes on.
///
/// Proves: SMP-3.2-1
#[test]
fn resets_that_overlap_are_one() {
    let taken = |restarts: &[(&str, &str)]| {
        let restart = |&(at, reset): &(&str, &str)| json!({"node": "ep/1", "at": at, "reset": reset});
        let restarts: Vec<Value> = restarts.iter().map(restart).collect();
        let mut scenario =
            star("3 ms", regular("10 us", "0 ps", 600, "session", json!({"restarts": restarts})));
        scenario["endpoint"] = json!({"host": {"protocol_clock": 1000, "response_timeout": "1 s"}});
        books(&report(&scenario))
    };
    let one = taken(&[("1 ms", "500 us")]);
    assert_eq!(one[2], 51, "{one:?}");
    // One in another, three in a row, one that goes on where another ends, and two that overlap.
    assert_eq!(taken(&[("1 ms", "500 us"), ("1.1 ms", "100 us")]), one);
    let row = [("1 ms", "500 us"), ("1.000001 ms", "500 us"), ("1.000002 ms", "500 us")];
    assert_eq!(taken(&row), taken(&[("1 ms", "500.002 us")]));
    assert_eq!(taken(&[("1 ms", "200 us"), ("1.2 ms", "300 us")]), one);
    assert_eq!(taken(&[("1 ms", "300 us"), ("1.2 ms", "300 us")]), one);
}

/// A link that is down from 100.3 to 160.3 us, and a request each 2 us from 100 ns on.
fn asked_over_an_outage(timeout: &str, carrier: Option<&str>) -> Value {
    let mut settings = json!({"timeout": timeout});
    if let Some(carrier) = carrier {
        settings["via"] = json!(carrier);
        settings["response"] = json!(64);
    }
    let mut flow = regular("2 us", "100 ns", 1_000, "rpc", settings);
    let mut host = json!({"tx_service": "200 ns", "response_timeout": "20 us"});
    if carrier == Some("read") {
        flow.as_object_mut().unwrap().remove("size");
    } else {
        (host["rx_service"], host["rx_queue"]) = (json!("300 ns"), json!(4));
        host["retry_delay"] = json!("500 ns");
    }
    let mut scenario = star("2 ms", flow);
    scenario["endpoint"] = json!({"host": host});
    scenario["links"]["timeout"] = json!("20 us");
    scenario["faults"] = json!({"outages": [{"link": "ep/1", "at": "100.3 us", "for": "60 us"}]});
    scenario
}

/// A client gives a request up after 15 us, and the engine of its message after 20: it is lost once. So what
/// was asked 15 us ago is answered or lost, what is under way was asked since then, and nothing that was lost
/// is under way again.
#[test]
fn a_request_is_lost_once_whoever_gives_it_up() {
    for (timeout_us, carrier) in [(15, None), (30, None), (30, Some("read"))] {
        let scenario = asked_over_an_outage(&format!("{timeout_us} us"), carrier);
        let mut before = 0;
        for at_us in [110, 130, 155, 170, 200, 230, 300] {
            let report = until(&scenario, &format!("{at_us} us"));
            let [asked, arrived, never, under_way] = books(&report);
            let asked_by = |us: u64| (10 * us).div_ceil(20);
            let told = format!("{timeout_us} us, {carrier:?}, at {at_us} us: {:?}", books(&report));
            assert_eq!((asked, arrived + never + under_way), (asked_by(at_us), asked), "{told}");
            assert!(arrived + never >= asked_by(at_us - timeout_us), "{told}");
            assert!(never >= before, "{told}");
            before = never;
            let oldest = report.flows[0].books.oldest_ps;
            assert!(under_way == 0 || oldest.unwrap() <= timeout_us * US, "{told}, {oldest:?}");
        }
    }
    // Of 100 that were asked 43 were lost: 47 with those that failed after their client had given them up.
    assert_eq!(books(&until(&asked_over_an_outage("15 us", None), "200 us"))[2], 43);
}

/// Three messages, 50 us apart, for a host that takes 70 us for each. The link goes down when the second has
/// come and its answer has not left: its engine gives it up after 20 us, so it is lost, and waits for its
/// host all the same. At 130 us the first has arrived and the third is under way, for 29.9 us: the second is
/// not the oldest.
#[test]
fn what_an_engine_gave_up_is_not_the_oldest() {
    let mut scenario = star("130 us", regular("50 us", "100 ns", 1_000, "messages", json!({})));
    scenario["traffic"][0]["limit"] = json!(3);
    scenario["endpoint"] = json!({"host": {
        "rx_service": "70 us", "tx_service": "200 ns", "rx_queue": 4, "response_timeout": "20 us",
    }});
    let mut met = 0;
    for at in (50_300..52_000).step_by(50) {
        scenario["faults"] = json!({"outages": [{"link": "ep/1", "at": format!("{at} ns"), "for": "60 us"}]});
        let report = report(&scenario);
        if books(&report) == [3, 1, 1, 1] {
            assert_eq!(report.flows[0].books.oldest_ps, Some(29_900_000), "{at} ns");
            met += u64::from(books(&until(&scenario, "300 us"))[1] == 3);
        }
    }
    assert!(met > 0, "the second is to arrive, and to be given up");
}

/// What the host, type 9 all the way, of two nodes does of PDUs of 1 000 octets each 2 us until 200 us.
fn slow_takers(how: &str, settings: Value) -> Value {
    let mut flow = regular("2 us", "100 ns", 1_000, how, settings);
    flow["limit"] = json!(100);
    let mut scenario = star("2 ms", flow);
    scenario["links"]["timeout"] = json!("20 us");
    scenario["endpoint"] = json!({"host": {
        "rx_service": "3 us", "tx_service": "200 ns", "rx_queue": 3, "response_timeout": "40 ms",
        "protocol_clock": 1000,
    }});
    scenario
}

/// What holds of all books over time, of a flow that asks for the last time at 198.1 us: nothing that is lost
/// comes back, all of it is somewhere, and what is under way is at least as old as the last that was asked
/// for.
fn hold(scenario: &Value, times_us: &[u64]) -> Vec<[u64; 4]> {
    let mut all: Vec<[u64; 4]> = Vec::new();
    for &at_us in times_us {
        let report = until(scenario, &format!("{at_us} us"));
        let told @ [asked, arrived, never, under_way] = books(&report);
        assert_eq!(arrived + never + under_way, asked, "{at_us} us");
        if let Some(&[_, arrived_before, never_before, _]) = all.last() {
            assert!(never >= never_before && arrived >= arrived_before, "{at_us} us: {all:?}, {told:?}");
        }
        let oldest = report.flows[0].books.oldest_ps;
        assert!(under_way == 0 || oldest.unwrap() >= at_us * US - 198_100_000, "{at_us} us: {oldest:?}");
        all.push(told);
    }
    all
}

/// One end is dead from 100.3 us on, the other forgets all at 150 us, and repeats its OPEN into the dead link
/// for ever. No PDU is made after 200 us, so none changes what it is: the OPENs are no PDUs.
#[test]
fn an_open_on_a_dead_link_is_no_pdu() {
    let restarts = json!([{"node": "ep/0", "at": "150 us", "reset": "13 us"}]);
    let mut scenario = slow_takers("session", json!({"restarts": restarts}));
    scenario["endpoint"]["session"] = json!({"management": "stream", "data": "stream"});
    scenario["faults"] = json!({"dead_devices": [{"device": "ep/1", "at": "100.3 us"}]});
    let all = hold(&scenario, &[220, 400, 700, 1_000, 1_900]);
    assert!(all.iter().all(|books| *books == all[0]), "{all:?}");
    assert_eq!(all[0][0..2], [100, 31], "{all:?}");
}

/// Likewise LINX over a link that is down from 100.3 to 160.3 us: its frames of type 9 are on their way in
/// the fabric, too.
#[test]
fn frames_of_linx_in_the_fabric_are_on_their_way() {
    let mut scenario = slow_takers("linx", json!({}));
    scenario["endpoint"]["linx"] = json!({"carrier": "stream"});
    scenario["faults"] = json!({"outages": [{"link": "ep/1", "at": "100.3 us", "for": "60 us"}]});
    hold(&scenario, &[199, 202, 205, 207, 210, 215, 220, 400]);
}

/// A broadcast to three over sessions, of which one PDU leaves twice and none is lost: nothing is lost at any
/// time.
#[test]
fn what_leaves_twice_is_not_lost() {
    let doubled = json!([{"from": "ep/0", "to": "ep/1", "message": "data", "nth": 1, "fate": "duplicate"}]);
    let program = json!({"collective": "broadcast", "octets": 30_000});
    let mut scenario = star(
        "2 ms",
        json!({
            "name": "p", "from": "all", "session": {"program": program, "faults": doubled},
        }),
    );
    scenario["endpoint"] = json!({"host": {
        "rx_service": "300 ns", "tx_service": "200 ns", "rx_queue": 16, "response_timeout": "40 ms",
        "retry_delay": "500 us", "protocol_clock": 1000,
    }});
    for at_us in [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60] {
        let [asked, arrived, never, under_way] = books(&until(&scenario, &format!("{at_us} us")));
        assert_eq!((asked, never, arrived + under_way), (3, 0, 3), "{at_us} us");
    }
    assert_eq!(books(&until(&scenario, "60 us")), [3, 3, 0, 0]);
}

/// A program whose sender forgets all it had to send: of three messages none is ever there whole, so nothing
/// of them arrived, however many octets did.
#[test]
fn a_message_that_is_never_whole_has_no_goodput() {
    let program = json!({"collective": "broadcast", "octets": 65_536});
    let session = json!({"program": program, "restarts": [{"node": "ep/0", "at": "20 us"}]});
    let mut scenario = star("3 ms", json!({"name": "p", "from": "all", "session": session}));
    scenario["links"].as_object_mut().unwrap().clear();
    scenario["endpoint"] = json!({"host": {"protocol_clock": 1000, "response_timeout": "1 s"}});
    let lost = report(&scenario);
    assert_eq!(books(&lost), [3, 0, 3, 0]);
    assert_eq!(lost.flows[0].goodput_gbps.value, 0.0);
    assert!(variant(&lost).contains("0 of 3 messages received, 0 octets compared"), "{}", variant(&lost));
    // Without the restart all octets of all messages are compared.
    scenario["traffic"][0]["session"].as_object_mut().unwrap().remove("restarts");
    let whole = report(&scenario);
    assert!(
        variant(&whole).contains("3 of 3 messages received, 196 608 octets compared"),
        "{}",
        variant(&whole)
    );
    assert!(whole.flows[0].goodput_gbps.value > 0.0);
}

/// The switch dies at 1 us, before the host has asked it anything: of four endpoints the host alone has an
/// id.
#[test]
fn a_fabric_that_was_not_set_up_is_not_as_planned() {
    let flow = json!({
        "name": "a", "from": "ep/1", "to": "ep/2",
        "arrivals": {"constant": {"interval": "1 us", "phase": "0 ps"}},
    });
    let mut scenario = star("300 us", flow);
    scenario["configure"] = json!({"fabric": {"host": "ep/0"}});
    scenario["endpoint"] = json!({"host": {"response_timeout": "5 us"}});
    let told = |scenario: &Value| {
        let report = report(scenario);
        (EnumerationSummary::new(&report).unwrap(), variant(&report))
    };
    let (all, text) = told(&scenario);
    assert_eq!((all.endpoints, all.unnamed, all.silent, all.as_planned), (4, 0, 0, true));
    assert!(all.done_us.is_some() && !text.contains("no traffic was started"), "{text}");
    scenario["faults"] = json!({"dead_devices": [{"device": "sw", "at": "1 us"}]});
    let (one, text) = told(&scenario);
    assert_eq!((one.devices, one.endpoints, one.unnamed, one.silent), (1, 4, 3, 3));
    assert!(!one.as_planned && one.done_us.is_none());
    let law =
        "3 of 4 endpoints were never told to begin, 3 of them without an id: no traffic was started there";
    assert!(text.contains(law), "{text}");
    // The run ends before the host is done: nothing is as planned yet.
    scenario.as_object_mut().unwrap().remove("faults");
    scenario["run"]["until"] = json!("5 us");
    let (early, text) = told(&scenario);
    assert!(!early.as_planned && early.done_us.is_none() && early.silent > 0, "{text}");
    assert!(text.contains("and did not finish") && text.contains("no traffic was started there"), "{text}");
}

/// Packets until a link goes for good: none arrives after any warm-up that is looked for, so all that
/// arrived are measured, from the beginning, and it is no steady state.
#[test]
fn a_warm_up_that_is_looked_for_leaves_what_arrived() {
    let arrivals = json!({"poisson": {"load": 0.3}});
    let mut scenario = star("2 ms", json!({"name": "a", "from": "ep/0", "to": "ep/1", "arrivals": arrivals}));
    scenario["run"] = json!({"until": "2 ms", "warmup": "auto", "stall_after": "50 us", "on_stall": "stop"});
    scenario["faults"] = json!({"dead_devices": [{"device": "ep/1", "at": "100 us"}]});
    let report = report(&scenario);
    let flow = &report.flows[0];
    assert!(flow.arrived > 200 && flow.delivered.packets == flow.arrived, "{}", variant(&report));
    assert!(report.window.from_ps == 0, "{}", variant(&report));
}

/// Fifty packets in 50 us, and a warm-up of 100: to cut that off would leave nothing, and that is said. What
/// is over is as steady as can be, and to run longer would change nothing.
#[test]
fn a_warm_up_that_outlasts_the_traffic_is_not_cut_off() {
    let arrivals = json!({"constant": {"interval": "1 us", "phase": "0 ps"}});
    let mut scenario =
        star("500 us", json!({"name": "a", "from": "ep/0", "to": "ep/1", "arrivals": arrivals, "limit": 50}));
    for (warmup, limit) in [("100 us", Some(50)), ("499.9 us", None)] {
        scenario["run"]["warmup"] = json!(warmup);
        let flow = scenario["traffic"][0].as_object_mut().unwrap();
        match limit {
            Some(limit) => flow.insert("limit".into(), json!(limit)),
            None => flow.remove("limit"),
        };
        let report = report(&scenario);
        let text = variant(&report);
        assert!(text.contains("warm-up none: nothing arrives after the one that is set"), "{text}");
        assert!(report.window.from_ps == 0 && report.window.steady && !text.contains("not steady"), "{text}");
    }
    // One that leaves something is cut off.
    scenario["run"]["warmup"] = json!("20 us");
    scenario["traffic"][0]["limit"] = json!(50);
    let cut = report(&scenario);
    assert_eq!((cut.window.from_ps, cut.window.rule), (20 * US, "fixed"));
}

/// All Control frames are lost, or all are damaged, which their receiver finds and discards: either way
/// nobody knows why an answer did not come.
#[test]
fn damage_is_no_lateness() {
    for fault in ["loss", "damaged"] {
        let mut st = json!({"bytes": 65_536, "count": 10});
        st[fault] = json!({"control": 1});
        let lost = report(&star("2 ms", json!({"name": "a", "from": "ep/0", "to": "ep/1", "st": st})));
        let csv = timeouts_csv(&[lost]).expect("there are timeouts");
        assert!(csv.contains("not known") && !csv.contains("nothing was lost"), "{fault}: {csv}");
    }
}

/// Where the other end is dead nothing is lost, and nothing is late: it waits at the dead end, or was never
/// answered. Where all links are whole, and the host takes longer than anybody waits, it is late.
#[test]
fn who_waits_for_the_dead_is_not_told_of_lateness() {
    let ask = json!({"via": "read", "timeout": "20 us"});
    let mut scenario = star("300 us", regular("10 us", "0 ps", 100, "rpc", ask));
    scenario["traffic"][0].as_object_mut().unwrap().remove("size");
    scenario["endpoint"] = json!({"host": {"response_timeout": "20 us"}});
    scenario["faults"] = json!({"dead_devices": [{"device": "ep/1", "at": "100 us"}]});
    let csv = timeouts_csv(&[report(&scenario)]).expect("there are timeouts");
    assert!(csv.contains("not known") && !csv.contains("nothing was lost"), "{csv}");
    let ask = json!({"via": "message", "timeout": "5 us"});
    let mut scenario = star("300 us", regular("10 us", "0 ps", 100, "rpc", ask));
    scenario["endpoint"] = json!({"host": {"rx_service": "3 us"}});
    let csv = timeouts_csv(&[report(&scenario)]).expect("there are timeouts");
    assert!(csv.contains("nothing was lost") && !csv.contains("not known"), "{csv}");
}

/// What is given up never arrives, whoever else still lives: a program over Scheduled Transfer and one over
/// sessions, and PDUs for a conduit that does not open, have the same books alone and beside a connection of
/// LINX that is kept alive to the end. Until the last try they are under way.
#[test]
fn what_is_given_up_never_arrives_beside_others() {
    let lost = json!({"program": {"collective": "broadcast", "octets": 64}, "loss": {"control": 1}});
    let program = json!({"program": {"collective": "broadcast", "octets": 64}});
    let pair = |how: &str, settings: Value| {
        let mut flow = json!({"name": "m", "from": ["ep/0", "ep/1"]});
        flow[how] = settings;
        flow
    };
    let pdus = |limit: u64| {
        let mut flow = regular("20 us", "0 ps", 100, "session", json!({}));
        flow["limit"] = json!(limit);
        flow
    };
    // An OPEN is given up after 1 ms of the protocol, an operation of Scheduled Transfer after some more.
    for (flow, asked) in [(pair("st", lost), 1), (pair("session", program), 1), (pdus(2), 2)] {
        let mut scenario = star("20 ms", flow);
        scenario["endpoint"] = json!({"host": {"protocol_clock": 1000}});
        if scenario["traffic"][0].get("session").is_some() {
            scenario["overrides"] = json!([{"devices": "ep/1", "endpoint": {"session": {"mute": true}}}]);
        }
        let alone = report(&scenario);
        assert!(alone.run.outcome.over, "{scenario}");
        let mut linx = regular("2 us", "5 us", 64, "linx", json!({}));
        (linx["name"], linx["limit"]) = (json!("l"), json!(5));
        scenario["traffic"].as_array_mut().unwrap().push(linx);
        let beside = report(&scenario);
        assert!(!beside.run.outcome.over, "{scenario}");
        for report in [&alone, &beside] {
            assert_eq!(books(report), [asked, 0, asked, 0], "{scenario}");
        }
        assert_eq!(beside.flows[1].books.arrived, 5, "{scenario}");
        // One protocol millisecond is a microsecond.
        assert_eq!(books(&until(&scenario, "25 us")), [asked, 0, 0, asked], "{scenario}");
    }
}
