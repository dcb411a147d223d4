//! What became of what was asked for: books of small systems of which the answer is known before.

use crate::truths::run;
use analysis::VariantReport;
use analysis::protocol::linx::LinxSummary;
use analysis::protocol::session::SessionSummary;
use analysis::protocol::transfer::TransferSummary;
use analysis::require::{Verdict, judge};
use analysis::requirement::{Dimension, Limit, Relation, Requirement, Subjects};
use models::stats::TransferTotals;
use serde_json::{Value, json};

/// A star of so many endpoints, with a flow.
fn star(ports: u32, until: &str, flow: Value) -> Value {
    json!({
        "name": "z",
        "run": {"until": until, "warmup": "0 ps"},
        "topology": {"single_switch": {"ports": ports}},
        "traffic": [flow],
    })
}

fn report(scenario: &Value) -> VariantReport {
    run(&scenario.to_string(), "accounts").swap_remove(0)
}

/// Asked, arrived, never, under way.
fn books(report: &VariantReport) -> [u64; 4] {
    let books = &report.flows[0].books;
    [books.asked, books.arrived, books.never, books.under_way]
}

/// What is required of the first flow.
fn required(metric: &str, relation: Relation, value: f64, dimension: Dimension) -> Requirement {
    let limit = Limit { text: String::new(), relation, value, dimension };
    analysis::require::requirement(Subjects::Flows(vec![0]), metric, limit).unwrap()
}

/// A sender of 100 packets to ten others; with `stop`, the switch hears XOFF for the way to one of them.
fn group(stop: bool) -> Value {
    let arrivals = json!({"constant": {"interval": "1 us", "phase": "500 ns"}});
    let flow = json!({"name": "f", "from": "ep/00", "to": "mc", "arrivals": arrivals, "size": 256});
    let mut scenario = star(12, "100 us", flow);
    scenario["multicast"] = json!([{"name": "mc", "members": ["ep/0?", "ep/10", "!ep/00"]}]);
    let writes = json!([{"at": "20 us", "port": "sw:1", "xoff": true}]);
    scenario["voq"] =
        json!({"enabled": true, "refresh": "off", "writes": if stop { writes } else { json!([]) }});
    scenario
}

/// By hand: 100 packets to ten members are 1 000 copies, whether switches have made them or not. Of 20
/// packets all copies arrive before a port is stopped, that is a fifth; the last of 100 is created at 99.5
/// us.
#[test]
fn a_multicast_packet_is_asked_for_by_each_member() {
    let free = books(&report(&group(false)));
    assert_eq!(free[0], 1_000);
    assert_eq!(free[1] + free[3], 1_000, "{free:?}");
    let mut stopped = report(&group(true));
    assert_eq!(books(&stopped), [1_000, 200, 0, 800]);
    let requirement = |value: f64| required("delivered", Relation::AtLeast, value, Dimension::Share);
    stopped.required = vec![requirement(0.2), requirement(0.201)];
    let verdicts: Vec<Verdict> = judge(&stopped).iter().map(|judged| judged.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail]);
}

/// A connection is taken down by the end that did not ask for it, later and later. Law: whatever was begun is
/// complete, given up or under way, each once, and what was begun in vain is told as failed. The upper layer
/// is slow, so the end of a Write may be known while its connection is taken down: nothing is read back then.
#[test]
fn transfers_of_a_connection_that_is_taken_down_are_in_the_books() {
    for operation in ["write", "read", "read_back", "put", "get", "fetch_op"] {
        let mut seen = [0, 0];
        for after in (0..24_u32).map(|step| step * 500) {
            let mut st = json!({
                "operation": operation, "bytes": 8, "count": 3, "concurrent": 2,
                "disconnect_after": format!("{after} ns"),
            });
            if ["write", "read", "read_back"].contains(&operation) {
                st["upper"] = json!({"header": "2 us"});
            }
            let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "st": st});
            let report = report(&star(2, "60 us", flow));
            let ends: &TransferTotals = report.run.outcome.totals.one().expect("one flow");
            let (completed, given_up) = (ends.stats.completed, ends.stats.aborted.iter().sum::<u64>());
            assert_eq!((ends.stats.begun, ends.under_way), (completed + given_up, 0), "{operation} {after}");
            let facts = &report.flows[0].protocol.as_ref().expect("Transfers").facts;
            let failed = facts[models::probe::ProtocolFact::Failed as usize];
            assert_eq!(failed, given_up, "{operation} {after}");
            seen = [seen[0] + completed, seen[1] + given_up];
        }
        assert!(seen.iter().all(|&count| count > 0), "{operation}: {seen:?}");
    }
}

/// A host lets an endpoint send after 20 us of 200: what it sends from then on, a packet of 280 octets and
/// delimiter in 0.4 ns each every microsecond, is its load, to a packet more or less. Over the whole run it
/// would be a tenth less.
#[test]
fn rates_begin_when_a_host_lets_a_source_send() {
    let arrivals = json!({"constant": {"interval": "1 us", "phase": "0 ps"}});
    let flow = json!({"name": "f", "from": "ep/1", "to": "ep/2", "size": 256, "arrivals": arrivals});
    let mut scenario = star(4, "200 us", flow);
    scenario["configure"] = json!({"fabric": {"host": "ep/0"}});
    let report = report(&scenario);
    let devices = &report.run.config.devices;
    let source = devices.iter().position(|device| device.path == "ep/1").expect("it is there") as u32;
    let started = report.run.outcome.enumeration.as_ref().expect("there is a host").started[&source].0;
    let (flow, time) = (&report.flows[0], 200_000_000 - started);
    assert!((19_000_000..21_000_000).contains(&started), "{started}");
    assert_eq!(flow.late_span, Some((started, 200_000_000)));
    let law = flow.offered.packets as f64 * 112_000.0 / time as f64;
    assert!((flow.offered_load - law).abs() < 1e-9, "{} {law}", flow.offered_load);
    assert!((law - 0.112).abs() <= 112_000.0 / time as f64, "{law}");
    let law = 8_000.0 * flow.delivered.payload as f64 / time as f64;
    assert!((flow.goodput_gbps.value - law).abs() < 1e-9, "{:?} {law}", flow.goodput_gbps);
}

/// All frames are lost, and the ends have given up long before the limit: what is missing will never arrive.
#[test]
fn nothing_is_under_way_when_everything_is_over() {
    let st = json!({"bytes": 10_000, "count": 4, "loss": {"data": 1, "control": 1}});
    let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "st": st});
    let mut scenario = star(3, "500 us", flow);
    let lost = report(&scenario);
    assert!(lost.run.outcome.end.0 < 500_000_000);
    assert_eq!(books(&lost), [4, 0, 4, 0]);
    // The same where something else goes on until the run is cut off: nobody connects a second time.
    let arrivals = json!({"saturated": {"backlog": 2}});
    let other = json!({"name": "g", "from": "ep/2", "to": "ep/1", "size": 256, "arrivals": arrivals});
    scenario["traffic"].as_array_mut().unwrap().push(other);
    let cut = report(&scenario);
    assert_eq!(cut.run.outcome.end.0, 500_000_000);
    assert_eq!(books(&cut), [4, 0, 4, 0]);
}

/// The line with the times of echoes.
fn returned_text(told: &str) -> &str {
    told.lines().find(|line| line.trim_start().starts_with("round trip:")).unwrap()
}

/// The host has one place and takes 1 us; a PDU of type 9 that finds none is discarded, and nobody waits.
#[test]
fn echoes_that_were_discarded_never_come_back() {
    let arrivals = json!({"constant": {"interval": "500 ns", "phase": "0 ps"}});
    let flow = json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "start": "0 ps", "limit": 100, "arrivals": arrivals,
        "size": 100, "echo": {"carrier": "stream"},
    });
    let mut scenario = star(3, "2 ms", flow);
    scenario["endpoint"] = json!({"host": {"rx_queue": 1, "rx_service": "1 us"}});
    let whole = report(&scenario);
    let [asked, arrived, never, under_way] = books(&whole);
    assert_eq!((asked, arrived + never, under_way), (100, 100, 0));
    assert!(never > 0);
    let told = analysis::table::variant(&whole);
    assert!(!told.contains(" under way\n    round"), "{told}");
    assert!(told.contains(&format!("{never} lost")), "{told}");
    // 99 % are told of 368 values or more, in every table.
    assert!(returned_text(&told).contains("p99 -,"), "{told}");
    // The run is cut off while some are on their way: those are not lost.
    let mut short = scenario.clone();
    short["run"]["until"] = json!("20 us");
    assert!(books(&report(&short))[3] > 0);
}

/// Where nobody confirms, a source takes what it has sent for done. Without loss four of four Writes arrive;
/// with loss those that their receiver has found whole, and no others, whatever the source believes.
#[test]
fn what_nobody_confirms_and_nobody_gets_has_not_arrived() {
    let scenario = |loss: f64| {
        let st = json!({"bytes": 100_000, "count": 4, "reliable": false, "loss": {"data": loss}});
        star(3, "5 ms", json!({"name": "f", "from": "ep/0", "to": "ep/1", "st": st}))
    };
    assert_eq!(books(&report(&scenario(0.0))), [4, 4, 0, 0]);
    let lost = report(&scenario(0.05));
    let told = &TransferSummary::all(&lost.run)[0];
    assert_eq!(books(&lost), [4, told.verified, 4 - told.verified, 0]);
    assert!(told.verified < 4 && told.not_come == Some(4 - told.verified), "{told:?}");
    let text = analysis::table::variant(&lost);
    let wanted = format!("{} of 4 complete, {} octets compared", told.verified, told.verified_octets);
    assert!(text.contains(&wanted) && text.contains("sent and never there whole"), "{text}");
    // The longest time is not that of all: most have none.
    assert!(told.verified == 0 || text.contains(" at most of those that are complete"), "{text}");
    let whole = analysis::table::variant(&report(&scenario(0.0)));
    assert!(whole.contains(" at most\n"), "{whole}");
}

/// A flow that asks for nothing gets nothing, in any of its times: that is no transient, whatever is said of
/// the warm-up.
#[test]
fn who_asks_for_nothing_is_steady() {
    for kind in [json!({"echo": {}}), json!({"rpc": {}}), json!({"messages": {}}), json!({})] {
        for warmup in ["0 ps", "auto"] {
            let arrivals = json!({"constant": {"interval": "5 us", "phase": "0 ps"}});
            let mut flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "size": 256, "limit": 0});
            flow["arrivals"] = arrivals;
            for (key, settings) in kind.as_object().unwrap() {
                flow[key] = settings.clone();
            }
            let mut scenario = star(3, "1 ms", flow);
            scenario["run"]["warmup"] = json!(warmup);
            let report = report(&scenario);
            assert_eq!((books(&report), report.flows[0].goodput_gbps.value), ([0; 4], 0.0), "{kind}");
            let text = analysis::table::variant(&report);
            assert!(!text.contains("not steady"), "{kind} {warmup}: {text}");
        }
    }
}

/// Three of four ranks live on, and all send: what is meant for the dead one waits in the switch, and behind
/// it what is meant for others. Data of Writes is guarded by nobody (ST-10.1-4), so a source whose Data
/// cannot leave waits for ever, while destinations give up after their retries. So nothing arrives and
/// nothing will, yet nobody says so but the watchdog: it names the port behind which all of it waits.
///
/// Proves: ST-10.1-4
#[test]
fn transfers_behind_a_dead_link_wait_and_the_watchdog_says_where() {
    let st = json!({"program": {"collective": "all_to_all", "octets": 20_000}});
    let mut scenario = star(5, "5 ms", json!({"name": "p", "from": "ep/{0..3}", "st": st}));
    scenario["faults"] = json!({"dead_devices": [{"device": "ep/1", "at": "10 us"}]});
    let report = report(&scenario);
    let [asked, arrived, never, under_way] = books(&report);
    assert_eq!((asked, arrived + never + under_way), (12, 12));
    assert!(under_way > 0, "some wait for ever");
    let stalls = &report.run.outcome.stalls;
    let mut last = stalls.iter().filter_map(|stall| stall.walk.last());
    assert!(last.any(|line| line.contains("its link is down")), "{stalls:?}");
    let text = analysis::table::variant(&report);
    assert!(text.contains("stall found at"), "{text}");
}

/// Two flows of priority 2 want all of an output, so a third of priority 0 that begins later never has it.
/// The link is at work, so nothing stalls; but what has been under way since 10 us, and of which nothing
/// arrived, is as good as lost: the requirement fails, and the last line names the flow.
#[test]
fn who_is_never_served_fails_what_is_required() {
    let flow = |name: &str, from: &str, priority: u8, start: &str| {
        json!({"name": name, "from": from, "to": "ep/1", "priority": priority, "start": start,
               "arrivals": {"saturated": {"backlog": 2}}})
    };
    let verdicts = |until: &str| {
        let mut scenario = star(4, until, flow("low", "ep/0", 0, "10 us"));
        let traffic = scenario["traffic"].as_array_mut().unwrap();
        traffic.extend([flow("a", "ep/2", 2, "0 ps"), flow("b", "ep/3", 2, "0 ps")]);
        scenario["run"]["stall_after"] = json!("50 us");
        let mut report = report(&scenario);
        report.required = vec![
            required("delivered", Relation::AtLeast, 0.99, Dimension::Share),
            required("p50", Relation::Below, 1e9, Dimension::Time),
        ];
        let [asked, arrived, never, under_way] = books(&report);
        assert!(arrived == 0 && never == 0 && under_way == asked && asked > 0, "{until}");
        assert!(report.run.outcome.stalls.is_empty());
        let said = analysis::table::conclusion(std::slice::from_ref(&report)).remove(0);
        assert_eq!(said.starts_with("low: 0 of "), until == "60 us", "{said}");
        judge(&report).into_iter().map(|judged| judged.verdict).collect::<Vec<Verdict>>()
    };
    assert_eq!(verdicts("59.9 us"), [Verdict::NotEnough; 2]);
    assert_eq!(verdicts("60 us"), [Verdict::Fail; 2]);
}

/// A Transfer of 20 000 octets whose source waits for 300 ns and repeats it in vain: it gives it up, and
/// all of it is there. So it has arrived, and what is required holds.
#[test]
fn a_transfer_that_was_given_up_and_is_there_has_arrived() {
    let st = json!({"bytes": 20_000, "op_timeout": "300 ns"});
    let mut report = report(&star(2, "1 ms", json!({"name": "r", "from": "ep/1", "to": "ep/0", "st": st})));
    report.required = vec![required("delivered", Relation::AtLeast, 1.0, Dimension::Share)];
    let [transfers] = &TransferSummary::all(&report.run)[..] else { panic!("one flow") };
    assert_eq!((transfers.completed, transfers.verified, transfers.verified_octets), (0, 1, 20_000));
    assert_eq!(books(&report), [1, 1, 0, 0]);
    assert_eq!(judge(&report)[0].verdict, Verdict::Pass);
}

/// A message of 4 096 octets takes 16 packets of 112 ns, 1.8 us: in 1.5 us none is whole, so nothing was
/// moved, although packets came. In 3 us one was.
#[test]
fn packets_of_no_message_move_nothing() {
    let arrivals = json!({"saturated": {"backlog": 1}});
    let flow = json!({"name": "q", "from": "ep/0", "to": "ep/1", "size": 4_096, "messages": {"segment": 256},
                      "arrivals": arrivals});
    for (until, whole) in [("1.5 us", false), ("3 us", true)] {
        let report = report(&star(3, until, flow.clone()));
        let flow = &report.flows[0];
        assert!(flow.delivered.packets > 5);
        assert_eq!([flow.goodput_gbps.value > 0.0, report.overall.goodput_gbps.value > 0.0], [whole; 2]);
    }
}

/// A FIFO behind a dead link: `v` sends to the dead endpoint and to another one in turn, `w` to the dead one.
/// Packet 103 of `v` is for the dead one and stands at the head; 104 is for the other, whose port idles, and
/// waits for nothing but 103.
#[test]
fn who_stands_in_a_fifo_waits_for_its_head_and_not_for_its_output() {
    let arrivals = json!({"constant": {"interval": "1 us", "phase": "0 ps"}});
    let flow = |name: &str, from: &str, to: Value| {
        let to = json!({"cycle": to});
        json!({"name": name, "from": from, "to": to, "arrivals": arrivals, "stop": "112 us"})
    };
    let mut scenario = star(4, "600 us", flow("v", "ep/0", json!(["ep/1", "ep/2"])));
    scenario["traffic"].as_array_mut().unwrap().push(flow("w", "ep/3", json!(["ep/1"])));
    scenario["switch"] = json!({"input": "fifo", "input_buffers": 8});
    scenario["faults"] = json!({"dead_devices": [{"device": "ep/1", "at": "100.688 us"}]});
    for reads in [1, 2] {
        scenario["switch"]["reads_per_input"] = json!(reads);
        let report = report(&scenario);
        let walks: Vec<&Vec<String>> = report.run.outcome.stalls.iter().map(|stall| &stall.walk).collect();
        let of_104 = walks.iter().find(|walk| walk[0].starts_with("packet ep/0:v:104 "));
        let of_104: Vec<&str> = of_104.expect("it stands still").iter().map(String::as_str).collect();
        assert_eq!(
            of_104,
            [
                "packet ep/0:v:104 to id 2 waits in sw for port 2: behind another packet",
                "packet ep/0:v:103 to id 1 waits in sw for port 1: its link is down"
            ]
        );
        assert!(!walks.iter().any(|walk| walk.iter().any(|line| line.contains("at work"))), "{walks:?}");
    }
}

/// A host stops the port of a destination at 100 us and never lets it go: packet 102 finds its queue stopped
/// by a port where nothing waits, as its register says. Nothing was lost that should have said otherwise.
#[test]
fn a_port_that_a_host_stopped_says_so() {
    let arrivals = json!({"constant": {"interval": "1 us", "phase": "0 ps"}});
    let flow = json!({"name": "a", "from": "ep/0", "to": "ep/1", "arrivals": arrivals});
    let mut scenario = star(4, "400 us", flow);
    let write = json!({"at": "100 us", "port": "sw:1", "xoff": true});
    scenario["voq"] = json!({"enabled": true, "refresh": "off", "writes": [write]});
    let report = report(&scenario);
    let walks: Vec<&Vec<String>> = report.run.outcome.stalls.iter().map(|stall| &stall.walk).collect();
    let law = "packet ep/0:a:102 to id 1 waits in ep/0 for port 0: staging queue 1 is stopped by \
               port 1 of sw, whose register says XOFF";
    assert_eq!(walks, [&[law]]);
}

/// 20 PDUs of 10 000 octets, each in three messages, and what the scenario does to some messages of data.
fn session(size: u32, faults: &[(u32, &str)]) -> VariantReport {
    let way = |nth: u32| json!({"from": "ep/0", "to": "ep/1", "message": "data", "nth": nth});
    let fault = |&(nth, fate): &(u32, &str)| {
        let mut fault = way(nth);
        fault["fate"] = json!(fate);
        fault
    };
    let faults: Vec<Value> = faults.iter().map(fault).collect();
    let arrivals = json!({"constant": {"interval": "20 us", "phase": "0 ps"}});
    let flow = json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "size": size, "limit": 20, "start": "50 us",
        "arrivals": arrivals, "session": {"faults": faults},
    });
    let mut scenario = star(4, "3 ms", flow);
    scenario["endpoint"] = json!({"host": {"protocol_clock": 1_000, "response_timeout": "1 s"}});
    report(&scenario)
}

/// Delivered as they were sent, lost with a word and without, damaged, again; octets.
fn pdus(report: &VariantReport) -> ([u64; 5], u64) {
    let told = serde_json::to_value(&SessionSummary::all(&report.run)[0]).unwrap();
    let count = |key: &str| told["pdus"][key].as_u64().unwrap_or(0);
    (["delivered", "lost", "lost_unseen", "damaged", "again"].map(count), count("octets"))
}

/// An application asked for what it sent. By hand: a PDU of one message that comes twice is there twice, and
/// counts once. Of one in three messages the first or the last alone is a beginning or an end of nothing, so
/// the PDU is there once and whole; with the second message twice it is no longer what was sent.
#[test]
fn what_comes_twice_was_asked_for_once() {
    let five: Vec<(u32, &str)> = (1..=5).map(|nth| (nth, "duplicate")).collect();
    let twice = session(1_000, &five);
    assert_eq!(books(&twice), [20, 20, 0, 0]);
    assert_eq!(pdus(&twice), ([20, 0, 0, 0, 5], 20_000));
    let rate = |report: &VariantReport| report.flows[0].goodput_gbps.value;
    assert_eq!(rate(&twice), rate(&session(1_000, &[])), "what came twice was not delivered twice");
    for part in [1, 3] {
        let once = session(10_000, &[(part, "duplicate")]);
        assert_eq!((books(&once), pdus(&once)), ([20, 20, 0, 0], ([20, 0, 0, 0, 0], 200_000)), "{part}");
    }
    let longer = session(10_000, &[(2, "duplicate")]);
    let ([delivered, lost, unseen, damaged, again], octets) = pdus(&longer);
    assert_eq!((delivered, lost + damaged, unseen, again, octets), (19, 1, 0, 0, 190_000));
    assert_eq!(books(&longer), [20, 19, 1, 0]);
}

/// The protocol does not number the messages of a PDU, so it cannot see that one in the middle is missing;
/// who knows what was sent can. The loss of the first or the last message is seen by both.
#[test]
fn a_pdu_without_its_middle_has_not_arrived() {
    let cut = session(10_000, &[(2, "lose")]);
    assert_eq!((books(&cut), pdus(&cut)), ([20, 19, 1, 0], ([19, 0, 0, 1, 0], 190_000)));
    let told = analysis::table::variant(&cut);
    assert!(
        told.contains("19 delivered, 0 lost, 0 waiting, 1 delivered with parts missing or twice"),
        "{told}"
    );
    for part in [1, 3] {
        let lost = session(10_000, &[(part, "lose")]);
        let ([delivered, told, unseen, damaged, again], octets) = pdus(&lost);
        assert_eq!(
            (delivered + told + unseen + damaged, again, octets),
            (20, 0, 10_000 * delivered),
            "{part}"
        );
        assert_eq!(books(&lost)[2], 20 - delivered, "{part}");
    }
}

/// Of a PDU of one message that the scenario takes nobody learns. It was counted as one that an endpoint had
/// refused, or had lost in reassembly.
#[test]
fn a_pdu_that_the_scenario_takes_is_lost_without_a_word() {
    for lost in [&[][..], &[5], &[1, 7, 20]] {
        let faults: Vec<(u32, &str)> = lost.iter().map(|nth| (*nth, "lose")).collect();
        let (gone, left) = (lost.len() as u64, 20 - lost.len() as u64);
        let report = session(1_000, &faults);
        assert_eq!(books(&report), [20, left, gone, 0]);
        assert_eq!(pdus(&report), ([left, 0, gone, 0, 0], 1_000 * left));
    }
}

/// Five messages over LINX, 2 us apart, and forged data without payload that is sent at `at` with `ahead`
/// added to the number of the next.
fn forged(at: &str, ahead: u16) -> VariantReport {
    forged_until("600 us", at, ahead)
}

fn forged_until(until: &str, at: &str, ahead: u16) -> VariantReport {
    let octets = format!("22CF001801FF{ahead:04X}0000000000000000FFFFFFFF0000000000000000");
    let inject = json!([{"at": at, "from": "ep/0", "to": "ep/1", "octets": octets, "relative": true}]);
    let arrivals = json!({"constant": {"interval": "2 us", "phase": "0 ps"}});
    let flow = json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "size": 0, "limit": 5, "start": "5 us",
        "arrivals": arrivals, "linx": {"inject": inject},
    });
    report(&star(2, until, flow))
}

/// A fifth of a link, beside another endpoint that is offered 0.8 of its own: nothing falls behind, however
/// short the run is, although one or two of some ninety packets are on their way at its end, and those of the
/// second half may take longer by chance.
#[test]
fn short_runs_that_keep_up_do_not_fall_behind() {
    let flow = |name: &str, from: Value, to: &str, load: f64| {
        let arrivals = json!({"poisson": {"load": load}});
        json!({"name": name, "from": from, "to": to, "arrivals": arrivals})
    };
    for seed in 1..=100 {
        let mut scenario = star(4, "50 us", flow("victim", json!("ep/0"), "ep/3", 0.2));
        scenario["seed"] = json!(seed);
        let hot = flow("hot", json!(["ep/0", "ep/1"]), "ep/2", 0.4);
        scenario["traffic"].as_array_mut().unwrap().push(hot);
        let report = report(&scenario);
        let [asked, arrived, ..] = books(&report);
        assert!(!report.flows[0].falls_behind, "seed {seed}: {arrived} of {asked}");
    }
}

/// A PDU of 60 000 octets each 30 us over a link that is down from 10 us on for 4 ms. One is half there when
/// its receiver gives it up, and no other is lost, however long the run is: all that wait arrive, one each 26
/// us.
#[test]
fn a_pdu_that_is_given_up_halfway_is_one() {
    let mut arrived = Vec::new();
    for until in ["6 ms", "9 ms", "30 ms"] {
        let flow = json!({
            "name": "f", "from": "ep/0", "to": "ep/1", "size": 60_000, "streams": {},
            "arrivals": {"constant": {"interval": "30 us", "phase": "0 ps"}}
        });
        let mut scenario = star(2, until, flow);
        scenario["faults"] = json!({"outages": [{"link": "ep/0", "at": "10 us", "for": "4 ms"}]});
        let report = report(&scenario);
        let [asked, came, never, under_way] = books(&report);
        assert_eq!((never, asked - came - under_way), (1, 1), "until {until}");
        arrived.push(came);
    }
    assert_eq!((arrived[0], arrived[2]), (76, 999));
}

/// A program whose ranks a host has not let send yet is not lost: a run that ends before tells all of it as
/// under way, whatever carries it, and a longer one that all arrives.
#[test]
fn programs_that_have_not_begun_are_under_way() {
    for carrier in ["linx", "session", "st"] {
        for (until, expected) in [("5 us", [6, 0, 0, 6]), ("200 us", [6, 6, 0, 0])] {
            let program = json!({"program": {"collective": "all_to_all", "octets": 1_000}});
            let mut scenario = star(3, until, json!({"name": "f", "from": "all", carrier: program}));
            scenario["configure"] = json!({"fabric": {"host": "ep/0"}});
            assert_eq!(books(&report(&scenario)), expected, "{carrier}, {until}");
        }
    }
}

/// A host takes 1 us for what comes each 0.8 us over 4 km of cable: the wait that grows is not yet twice what
/// the way takes, and is told all the same. So it is where messages of LINX are answered, whose times are
/// those of the messages, too: by hand a fifth of them waits. With one each 1.25 us nothing waits.
#[test]
fn waits_that_grow_behind_a_long_way_are_told() {
    for (interval, behind) in [("800 ns", true), ("1250 ns", false)] {
        let arrivals = json!({"constant": {"interval": interval, "phase": "0 ps"}});
        let flow = json!({
            "name": "f", "from": "ep/0", "to": "ep/1", "size": 64, "streams": {}, "arrivals": arrivals
        });
        let mut far = star(2, "150 us", flow);
        far["links"] = json!({"length": "2 km"});
        far["switch"] = json!({"input_buffers": 61});
        far["endpoint"] = json!({"input_buffers": 61, "host": {"rx_service": "1 us"}});
        let flow = json!({
            "name": "f", "from": "ep/0", "to": "ep/1", "size": 64, "linx": {"reply": 64}, "arrivals": arrivals
        });
        let mut answered = star(2, "1600 us", flow);
        answered["endpoint"] = json!({"host": {"rx_service": "1 us"}});
        for scenario in [far, answered] {
            let report = report(&scenario);
            assert_eq!(report.flows[0].falls_behind, behind, "{interval}: {:?}", report.flows[0].books);
        }
    }
}

/// An application that takes 1 us for a PDU has arrivals each 800 ns: a PDU that waits for it has not
/// arrived. By hand, PDUs from 50 us to 1 050 us are 1 250; the first is there by 51 us, so of those at most
/// 1 000 are done with, and 998 at least, and the rest is at the application or under way. With one each
/// 1 250 ns none waits. An application that restarts forgets what it was not done with: one of 1 ms, which
/// nothing else has come to in 10 us before.
#[test]
fn what_waits_for_its_application_has_not_arrived() {
    let of = |interval: &str, service: &str, more: Value| {
        let flow = json!({
            "name": "f", "from": "ep/0", "to": "ep/1", "size": 64, "start": "50 us", "session": more,
            "arrivals": {"constant": {"interval": interval, "phase": "0 ps"}},
        });
        let mut scenario = star(2, "1050 us", flow);
        scenario["endpoint"] = json!({"session": {"consumer": {"service": service}}});
        report(&scenario)
    };
    let held = |report: &VariantReport| {
        let told = serde_json::to_value(&SessionSummary::all(&report.run)[0]).unwrap();
        ["delivered", "at_application", "forgotten"].map(|key| told["pdus"][key].as_u64().unwrap_or(0))
    };
    let behind = of("800 ns", "1 us", json!({}));
    let ([asked, arrived, never, under_way], [delivered, at_application, forgotten]) =
        (books(&behind), held(&behind));
    assert!(asked == 1_250 && (998..=1_000).contains(&arrived), "{asked} {arrived}");
    assert_eq!((never, under_way, forgotten), (0, asked - arrived, 0));
    assert_eq!(arrived, delivered - at_application);
    assert!(behind.flows[0].falls_behind, "{:?}", behind.flows[0].books);
    // Nor do they make a rate: 64 octets each, in the whole run.
    let gbps = behind.flows[0].goodput_gbps.value;
    assert!((gbps - arrived as f64 * 64.0 * 8e-3 / 1_050.0).abs() < 1e-9, "{gbps}");
    assert_eq!(behind.flows[0].books.oldest_ps.map(|age| age / 1_000_000), Some(200), "a fifth of the time");
    let ahead = of("1250 ns", "1 us", json!({}));
    assert!(!ahead.flows[0].falls_behind && held(&ahead)[1] <= 1, "{:?}", ahead.flows[0].books);
    let restarted = of("10 us", "1 ms", json!({"restarts": [{"node": "ep/1", "at": "69 us"}]}));
    let [_, _, forgotten] = held(&restarted);
    assert_eq!((forgotten, books(&restarted)[1]), (2, 0), "{:?}", restarted.flows[0].books);
}

/// An application that takes a PDU at once has none that waits: it stops nobody, however few may. One that is
/// behind stops its source, and closes at 30 us, when what has come waits for it: what has not left its
/// source is lost, and known to be.
#[test]
fn who_has_no_queue_stops_nobody() {
    let of = |interval: &str, more: Value| {
        let mut flow = json!({
            "name": "f", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 20, "start": "20 us",
            "session": more, "arrivals": {"constant": {"interval": interval, "phase": "0 ps"}},
        });
        flow["session"]["at"] = json!("1 us");
        let mut scenario = star(2, "200 us", flow);
        scenario["endpoint"] = json!({"session": {"consumer": {"service": "3 us", "stop_at": 1}}});
        let report = report(&scenario);
        let told = serde_json::to_value(&SessionSummary::all(&report.run)[0]).unwrap();
        (report, told["pdus"].clone(), told["messages"]["xoff"].clone())
    };
    let (_, pdus, xoffs) = of("4 us", json!({}));
    assert_eq!((&pdus["delivered"], &pdus["consumer_high_water"], xoffs), (&json!(20), &json!(0), json!(0)));
    let (report, pdus, xoffs) = of("1 us", json!({"close_at": "30 us"}));
    assert!(xoffs.as_u64() > Some(0) && pdus["consumer_high_water"].as_u64() >= Some(1), "{pdus}");
    let [asked, arrived, never, under_way] = books(&report);
    assert_eq!([asked, arrived + never, under_way], [20, 20, 0]);
    // What is asked for when all is closed waits for ever.
    let [lost, waiting] = ["lost", "waiting"].map(|key| pdus[key].as_u64().unwrap());
    assert!(lost > 0 && lost + waiting == never && pdus["lost_unseen"] == 0, "{pdus}");
}

/// A packet arrives, and then a register is written 400 times, 20 ns each, so that a symbol of 8 characters,
/// 3.2 ns, goes each time: of the whole run the port sends symbols for 3.2 in 20 ns, less what lies before
/// and behind. No share is of a time in which that was not sent.
#[test]
fn symbols_behind_the_last_arrival_are_of_the_whole_run() {
    let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "limit": 1, "size": 256,
        "arrivals": {"constant": {"interval": "1 us", "phase": "0 ps"}}});
    let mut scenario = star(3, "20 us", flow);
    let write =
        |n: u64| json!({"at": format!("{} ns", 1_000 + 20 * n), "port": "sw:1", "xoff": n.is_multiple_of(2)});
    let writes: Vec<Value> = (0..400).map(write).collect();
    scenario["voq"] =
        json!({"enabled": true, "generation_delay": "0 ps", "refresh": "off", "writes": writes});
    let report = report(&scenario);
    let told: Value =
        serde_json::from_str(&analysis::Summary::new("s", std::slice::from_ref(&report)).to_json()).unwrap();
    let end = told["variants"][0]["duration_us"].as_f64().unwrap();
    let text = analysis::series::links_csv(std::slice::from_ref(&report));
    let mut rows = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap();
    let row = rows.find(|row| row[column("port")] == "sw:0").unwrap();
    let share: f64 = row[column("symbol_share")].parse().unwrap();
    // 400 messages, and one status.
    assert!(end > 9.0 && (share - 401.0 * 3.2e-3 / end).abs() < 1e-7, "{share} of {end} us");
}

/// Three PDUs, one each 2 us, for an application that takes 5 us for each: if their way takes `w`, the last
/// one is done 15 us later than the first has come, and all are on average 8 us longer under way than `w`,
/// which they spend at the application. If one that waits stops the stream, the third waits at its source
/// instead for a while: their application, which is never idle, is done no later, and both waits together are
/// 8 us again, less that the answer to XON is on the link before the third, 16 characters of 400 ps.
#[test]
fn the_time_of_a_pdu_is_told_in_parts() {
    let of = |stop_at: u32| {
        let flow = json!({
            "name": "f", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 3, "start": "20 us",
            "session": {"at": "1 us"}, "arrivals": {"constant": {"interval": "2 us", "phase": "0 ps"}},
        });
        let mut scenario = star(2, "200 us", flow);
        scenario["endpoint"] = json!({"session": {"consumer": {"service": "5 us", "stop_at": stop_at}}});
        let summary = analysis::Summary::new("s", &[report(&scenario)]).to_json();
        let told: Value = serde_json::from_str(&summary).unwrap();
        told["variants"][0]["flows"][0]["users"].clone()
    };
    let [free, stopped] = [100, 1].map(of);
    let us = |told: &Value, key: &str| told[key].as_f64();
    assert_eq!(
        (us(&free, "application_us"), us(&free, "source_us"), &free["stops"]),
        (Some(8.0), None, &Value::Null)
    );
    assert_eq!(
        (&stopped["mean_us"], &stopped["stops"], &stopped["count"]),
        (&free["mean_us"], &json!(2), &json!(3))
    );
    let parts = ["source_us", "application_us"].map(|key| us(&stopped, key).unwrap());
    assert!(parts[0] > 1.0 / 3.0 && (parts[0] + parts[1] - (8.0 - 0.0064 / 3.0)).abs() < 1e-7, "{stopped}");
}

/// By hand: a message each microsecond over 2 km. Those that are sent before the connection is up, after 21
/// us, are refused; those after it wait for a sign of life of the peer, and then for their way of 10 us. The
/// oldest that is under way was sent at 21 us, so it is as many microseconds old as there are, whatever else
/// the ends tell each other; the first is there behind 40 us.
#[test]
fn messages_that_wait_for_their_peer_have_an_age() {
    for (until, age) in [("22 us", 1), ("26 us", 5), ("36 us", 15)] {
        let flow = json!({
            "name": "f", "from": "ep/0", "to": "ep/1", "size": 64, "linx": {}, "start": "0 ps",
            "arrivals": {"constant": {"interval": "1 us", "phase": "0 ps"}}
        });
        let mut scenario = star(2, until, flow);
        scenario["links"] = json!({"length": "1 km"});
        let report = report(&scenario);
        assert_eq!(books(&report), [age + 21, 0, 21, age], "{until}");
        assert_eq!(report.flows[0].books.oldest_ps, Some(age * 1_000_000), "{until}");
    }
}

/// A host takes 1 ms for each, and the run ends after 400 us: nothing has arrived, and the first one asked
/// for has waited for longer than 100 us, whatever carries it. Of longer than 500 us nobody knows yet.
#[test]
fn what_waits_for_longer_than_a_limit_fails_it_before_anything_arrives() {
    for how in [json!({"messages": {}}), json!({"streams": {}}), json!({"rpc": {}}), json!({"echo": {}})] {
        let mut flow = json!({
            "name": "f", "from": "ep/0", "to": "ep/1",
            "arrivals": {"constant": {"interval": "200 us", "phase": "0 ps"}}
        });
        flow.as_object_mut().unwrap().extend(how.as_object().unwrap().clone());
        let mut scenario = star(2, "400 us", flow);
        scenario["endpoint"] =
            json!({"host": {"rx_service": "1 ms", "tx_service": "1 ms", "response_timeout": "1 s"}});
        let mut report = report(&scenario);
        let limit = |us: f64| required("max", Relation::Below, us * 1e6, Dimension::Time);
        report.required = vec![limit(100.0), limit(500.0)];
        let verdicts: Vec<Verdict> = judge(&report).iter().map(|judged| judged.verdict).collect();
        assert_eq!(verdicts, [Verdict::Fail, Verdict::NotEnough], "{how}: {:?}", books(&report));
    }
}

/// One flow alone on a way without a queue, whose packets all take as long: a run may end within a burst, or
/// with seven under way where two are on average, and nothing falls behind. Two links of 0.67 can.
#[test]
fn bursts_at_the_end_of_a_run_do_not_fall_behind() {
    let found = |senders: usize, octets: u32, arrivals: &Value| {
        let behind = (1..=300).filter(|seed| {
            let from: Vec<String> = (0..senders).map(|sender| format!("ep/{sender}")).collect();
            let flow = json!({"name": "f", "from": from, "to": "ep/2", "size": octets, "arrivals": arrivals});
            let mut scenario = star(3, "100 us", flow);
            scenario["switch"] = json!({"pipeline": "1 us"});
            scenario["switch"]["input_buffers"] = json!(61);
            scenario["seed"] = json!(seed);
            report(&scenario).flows[0].falls_behind
        });
        behind.count()
    };
    assert_eq!(found(1, 256, &json!({"poisson": {"load": 0.1}})), 0);
    assert_eq!(found(1, 64, &json!({"on_off": {"load": 0.15, "on": "20 us", "off": "60 us"}})), 0);
    assert_eq!(found(2, 256, &json!({"poisson": {"load": 0.67}})), 300);
}

/// The value of a FetchOp is kept until somebody claims it: one that is repeated after a way that took longer
/// than all quarantines is answered, and not executed again. Four words are fetched, whatever the link does.
#[test]
fn a_fetch_op_is_executed_once_however_long_its_way_takes() {
    for us in [100, 350, 500, 1_000, 3_000] {
        for at in ["2300 ns", "2500 ns", "2700 ns"] {
            let flow = json!({
                "name": "f", "from": "ep/0", "to": "ep/1", "st": {"operation": "fetch_op", "count": 4}
            });
            let mut scenario = star(2, "20 ms", flow);
            scenario["faults"] = json!({"outages": [{"link": "ep/0", "at": at, "for": format!("{us} us")}]});
            let report = report(&scenario);
            assert!(report.broken.is_empty(), "{us} us from {at} on: {:?}", report.broken);
        }
    }
}

/// A flow that starts late and keeps up: eight packets are on their way at any time since it started, and at
/// the end, whenever that was; they were too many for the whole run.
#[test]
fn a_flow_that_starts_late_and_keeps_up_does_not_fall_behind() {
    for start in ["0 ps", "30 us", "45 us", "52 us"] {
        let flow = json!({
            "name": "r", "from": "all", "to": {"neighbour": {}}, "start": start,
            "arrivals": {"constant": {"interval": "200 ns"}}
        });
        let report = report(&star(4, "60 us", flow));
        let [asked, arrived, ..] = books(&report);
        assert!(asked > arrived && !report.flows[0].falls_behind, "from {start}: {arrived} of {asked}");
    }
}

/// Ten senders give a host 1.03 messages in the time in which it takes one: messages wait there longer and
/// longer, and packets do not. By hand 3 of 100 are missing at the end, at most 1.5 times what waits on
/// average, but those of the second half take 1.5 times as long as all.
#[test]
fn a_host_that_is_the_bound_leaves_its_flow_behind() {
    for (times, behind) in [(103, true), (90, false)] {
        let interval = format!("{} ps", 10 * 100_000_000 / times);
        let flow = json!({
            "name": "r", "from": ["ep/{0..9}"], "to": "ep/10", "size": 64, "messages": {},
            "arrivals": {"constant": {"interval": interval}}
        });
        let mut scenario = star(11, "1 ms", flow);
        scenario["endpoint"] = json!({"host": {"response_timeout": "100 ms", "rx_queue": 100_000}});
        let slow = json!({"rx_service": "1 us", "response_timeout": "100 ms", "rx_queue": 100_000});
        scenario["overrides"] = json!([{"devices": "ep/10", "endpoint": {"host": slow}}]);
        let report = report(&scenario);
        assert_eq!(report.flows[0].falls_behind, behind, "{times} of 100: {:?}", books(&report));
    }
}

/// Data beyond the window makes its receiver send a RESET. Until that is answered its end is neither up nor
/// ended, and was in no count. By hand, the ends that are up, reset, and have ended, one state after the
/// other: the RESET leaves, reaches the other end, and its answer comes back; then they connect anew.
#[test]
fn an_end_that_waits_for_the_answer_to_its_reset_is_counted() {
    let mut seen: Vec<[u64; 3]> = Vec::new();
    for ns in (10_000..12_000).step_by(20) {
        let report = forged_until(&format!("{ns} ns"), "10 us", 0x4000);
        let told = serde_json::to_value(&LinxSummary::all(&report.run)[0]).unwrap();
        let count = |key: &str| told[key].as_u64().unwrap_or(0);
        let ended: u64 = told["ended_ends"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        let state = [2 * count("up") + count("half_up"), count("resetting_ends"), ended];
        assert_eq!(count("connected_ends"), state.iter().sum::<u64>(), "{ns} ns");
        if seen.last() != Some(&state) {
            seen.push(state);
        }
    }
    assert_eq!(seen, [[2, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 2], [1, 0, 2], [2, 0, 2]]);
}

/// By hand: messages leave at 5, 7, 9, 11 and 13 us. Forged data that comes before one of them has its
/// number, so the message is old when it comes, and reaches nobody. Whether others follow it, which show the
/// gap, or none does: it never arrives, and is not under way. Data forged for the number after the last is
/// in nobody's way.
#[test]
fn a_message_whose_number_was_forged_never_arrives() {
    for at in ["6 us", "10 us", "12 us", "12.9 us"] {
        assert_eq!(books(&forged(at, 0)), [5, 4, 1, 0], "{at}");
    }
    // It waits until the one before it has come, and then the last finds its number taken.
    assert_eq!(books(&forged("10 us", 1)), [5, 4, 1, 0]);
    assert_eq!(books(&forged("14 us", 0)), [5, 5, 0, 0]);
}

/// A PDU every 50 us to a node that dies at 1.02 ms; what the scenario loses before.
fn to_a_dead_node(until: &str, lost: &[u32]) -> VariantReport {
    let fault =
        |nth: &u32| json!({"from": "ep/0", "to": "ep/1", "message": "data", "nth": nth, "fate": "lose"});
    let faults: Vec<Value> = lost.iter().map(fault).collect();
    let arrivals = json!({"constant": {"interval": "50 us", "phase": "0 ps"}});
    let flow = json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "size": 200, "limit": 100,
        "arrivals": arrivals, "session": {"faults": faults},
    });
    let mut scenario = star(2, until, flow);
    scenario["endpoint"] = json!({"host": {"protocol_clock": 1_000}});
    scenario["faults"] = json!({"dead_devices": [{"device": "ep/1", "at": "1.02 ms"}]});
    report(&scenario)
}

/// PDUs of one stream arrive, or are given up, in their order: so the oldest that is under way is the one
/// after all of these, which was sent 50 us later for each of them. 21 were there when the node died, of
/// which one less arrives where the scenario loses one. A packet of a PDU that was given up still lies in the
/// switch, and is no PDU under way.
#[test]
fn the_oldest_pdu_is_one_that_is_under_way() {
    for (until, us) in [("1.5 ms", 1_500u64), ("2.06 ms", 2_060), ("20 ms", 20_000)] {
        for lost in [&[][..], &[3], &[1, 7]] {
            let report = to_a_dead_node(until, lost);
            let [asked, arrived, never, under_way] = books(&report);
            assert_eq!(arrived, 21 - lost.len() as u64, "{until} {lost:?}");
            assert_eq!(
                asked,
                us.div_ceil(50).min(100),
                "{until}: what is asked for when the run is over is not"
            );
            assert!(never >= lost.len() as u64 && (us == 1_500 || never > lost.len() as u64), "{never}");
            assert_eq!(under_way, asked - arrived - never);
            let oldest = report.flows[0].books.oldest_ps;
            assert_eq!(oldest, Some((us - 50 * (arrived + never)) * 1_000_000), "{until} {lost:?}");
        }
    }
}

/// Requests of 8 octets and answers of 24, or echoes of 8, between hosts that take 300 ns for what comes.
fn asked(protocol: &str, settings: Value, load: f64, limit: Option<u32>) -> VariantReport {
    let mut flow = json!({
        "name": "r", "from": "ep/0", "to": "ep/1", "size": 8, "arrivals": {"poisson": {"load": load}},
    });
    flow[protocol] = settings;
    limit.into_iter().for_each(|limit| flow["limit"] = json!(limit));
    let mut scenario = star(3, "1 ms", flow);
    scenario["endpoint"] = json!({"host": {"rx_service": "300 ns"}});
    report(&scenario)
}

/// Goodput is that of what was answered in time. A request is there and its answer back after two services of
/// 300 ns at the least: with a patience of 500 ns none is in time, though each message arrives. Else, so many
/// octets for each that arrived, over the time that `goodput_over_us` says; and of a flow without an end,
/// over the whole run, because there is no warm-up.
#[test]
fn what_was_not_answered_in_time_is_no_goodput() {
    let kinds = [("rpc", json!({"response": 24}), 32.0), ("echo", json!({}), 8.0)];
    for (protocol, settings, octets) in kinds {
        let with = |timeout: &str, load: f64, limit: Option<u32>| {
            let mut settings = settings.clone();
            settings["timeout"] = json!(timeout);
            asked(protocol, settings, load, limit)
        };
        for limit in [Some(500), None] {
            let late = with("500 ns", 0.01, limit);
            assert_eq!(books(&late)[1], 0, "{protocol}");
            assert_eq!(late.flows[0].goodput_gbps.value, 0.0, "{protocol} {limit:?}");
            // Some wait for others, and are late.
            let some = with("1.5 us", 0.02, limit);
            let [asked, arrived, never, _] = books(&some);
            assert!(
                arrived > asked / 20 && never > asked / 20,
                "{protocol}: {arrived} and {never} of {asked}"
            );
            let flow = &some.flows[0];
            let (from, to) = flow.rate_span.unwrap_or((0, 1_000_000_000));
            let law = arrived as f64 * octets * 8.0 / (to - from) as f64 * 1e3;
            let told = flow.goodput_gbps.value;
            assert!((told / law - 1.0).abs() < 1e-9, "{protocol} {limit:?}: {told} Gb/s for {law}");
        }
    }
}

/// A program over sessions or LINX, in which the scenario loses the first data message between two ranks.
fn program(over: &str, program: Value, loses: bool) -> VariantReport {
    let mut flow = json!({"name": "p", "from": "ep/{0..3}"});
    let mut carrier = json!({"program": program});
    if over == "session" && loses {
        carrier["faults"] =
            json!([{"from": "ep/0", "to": "ep/1", "message": "data", "nth": 1, "fate": "lose"}]);
    }
    if over == "linx" && loses {
        carrier["loss"] = json!({"data": 1});
    }
    flow[over] = carrier;
    report(&star(5, "1 ms", flow))
}

/// By hand: of twelve messages of one PDU each one is lost, and nothing else is on its way; sessions do not
/// say it again. LINX that loses all of its data frames gets no message there. A rank that waits for what
/// waits for it sends nothing, whatever carries its messages: two are asked for, and neither will ever
/// arrive.
#[test]
fn what_a_program_lost_is_not_under_way() {
    let all_to_all = || json!({"collective": "all_to_all", "octets": 4_096});
    assert_eq!(books(&program("session", all_to_all(), true)), [12, 11, 1, 0]);
    let [asked, arrived, never, under_way] = books(&program("linx", all_to_all(), true));
    assert_eq!([asked, arrived, never, under_way], [12, 0, 12, 0]);
    for over in ["session", "linx"] {
        let waits = |rank: u32| {
            let other = 1 - rank;
            [
                format!("rank {rank} {{"),
                format!("r: recv 8b from {other}"),
                format!("s: send 8b to {other}"),
                "s requires r".to_owned(),
                "}".to_owned(),
            ]
        };
        let text = [vec!["num_ranks 4".to_owned()], waits(0).to_vec(), waits(1).to_vec()].concat();
        let rest = [2, 3].map(|rank| [format!("rank {rank} {{"), "c: calc 1".to_owned(), "}".to_owned()]);
        let text = [text, rest.concat()].concat();
        let report = program(over, json!({"text": text}), false);
        assert_eq!(books(&report), [2, 0, 2, 0], "{over}");
        assert_eq!(report.flows[0].books.oldest_ps, None, "{over}");
    }
}

/// By hand: three messages of 3 octets are 9, in the time until the last rank is done, whatever carries them.
/// A Transfer has 8 octets at least.
#[test]
fn short_messages_count_as_what_they_are() {
    for over in ["session", "linx", "st"] {
        let report = program(over, json!({"collective": "gather", "octets": 3}), false);
        let flow = &report.flows[0];
        assert_eq!((books(&report), flow.once), ([3, 3, 0, 0], Some(9)), "{over}");
        let (from, to) = flow.rate_span.expect("it ends");
        let law = 9.0 * 8_000.0 / (to - from) as f64;
        assert!((flow.goodput_gbps.value / law - 1.0).abs() < 1e-12, "{over}: {law} Gb/s");
    }
}

/// By hand: a link that is down for 3 ms is no time of the connection manager. From when it is up again the
/// next attempt and one exchange are left: with a protocol clock of 1 000 one each 100 us, and far less than
/// 1 ms.
#[test]
fn a_link_that_is_down_is_not_time_to_connect_again() {
    let down = json!({"node": "ep/1", "kind": "link_down", "at": "5.1 ms", "for": "3 ms"});
    let arrivals = json!({"constant": {"interval": "50 us", "phase": "0 ps"}});
    let flow = json!({
        "name": "x", "from": "ep/0", "to": "ep/1", "size": 100, "start": "1 ms", "arrivals": arrivals,
        "linx": {"faults": [down]},
    });
    let mut scenario = star(3, "20 ms", flow);
    scenario["endpoint"] = json!({"linx": {}, "host": {"protocol_clock": 1_000}});
    let told = serde_json::to_value(&LinxSummary::all(&report(&scenario).run)[0]).unwrap();
    assert_eq!(told["reestablishment"]["count"], 2);
    let longest = told["reestablishment"]["max_us"].as_f64().unwrap();
    assert!(longest < 200.0, "{longest}");
}

/// Sessions time what applications send, and not the messages of a program: there is no mean of nothing.
#[test]
fn what_was_not_timed_has_no_mean() {
    let done = program("session", json!({"collective": "all_to_all", "octets": 4_096}), false);
    let told = serde_json::to_value(&SessionSummary::all(&done.run)[0]).unwrap();
    assert_eq!(told["pdus"]["delivered"], 12);
    assert!(told["pdus"]["mean_us"].is_null() && told["pdus"]["max_us"].is_null(), "{told}");
}

/// By hand: twelve messages of 20 000 octets between four ranks are two PDUs each. Those of the first way
/// lose their shape because messages of theirs come twice; what was asked for stays 24.
#[test]
fn a_program_asks_for_what_it_sends() {
    let twice =
        |nth: u32| json!({"from": "ep/0", "to": "ep/1", "message": "data", "nth": nth, "fate": "duplicate"});
    let program = json!({"collective": "all_to_all", "octets": 20_000});
    let session = json!({"program": program, "faults": [twice(1), twice(2), twice(3)]});
    let done = report(&star(5, "5 ms", json!({"name": "p", "from": "ep/{0..3}", "session": session})));
    let ([delivered, lost, unseen, damaged, _], _) = pdus(&done);
    assert_eq!(delivered + lost + unseen + damaged, 24);
    assert!(delivered < 24);
    let [asked, arrived, never, under_way] = books(&done);
    assert_eq!((asked, arrived + never, under_way), (12, 12, 0), "nothing is left to happen");
}

/// Of 500 packets, one each us, 100 arrive before their destination dies; 404 ns each (four links' worth of
/// nothing in their way). Of all that was asked for that is a fifth: the tenth percentile is the median of
/// those that arrived, the twentieth the last of them, and every percentile above, and the longest time, are
/// those of packets that never come. A mean is of those that arrived, and says so.
#[test]
fn what_never_arrives_takes_longer_than_any_limit() {
    let arrivals = json!({"constant": {"interval": "1 us", "phase": "0 ps"}});
    let flow = json!({"name": "a", "from": "ep/0", "to": "ep/1", "arrivals": arrivals});
    let mut scenario = star(4, "500 us", flow);
    scenario["links"] = json!({"length": "2 m", "phy_latency": "30 ns"});
    scenario["faults"] = json!({"dead_devices": [{"device": "ep/1", "at": "100.2 us"}]});
    let mut dead = report(&scenario);
    assert_eq!(books(&dead), [500, 100, 0, 400]);
    let limit = |relation| Limit { relation, value: 1e6, dimension: Dimension::Time, text: "1 us".into() };
    let one = |metric: &str, relation| {
        analysis::require::requirement(Subjects::Flows(vec![0]), metric, limit(relation)).unwrap()
    };
    let cases = [
        ("max", Relation::Below, Verdict::Fail, "longer than any time, as only 20.0 % arrived"),
        ("max", Relation::Above, Verdict::Pass, "longer than any time, as only 20.0 % arrived"),
        ("latency_max", Relation::Below, Verdict::Fail, "longer than any time, as only 20.0 % arrived"),
        ("p99", Relation::Below, Verdict::Fail, "longer than any time, as only 20.0 % arrived"),
        ("p20.1", Relation::Below, Verdict::Fail, "longer than any time, as only 20.0 % arrived"),
        ("p20", Relation::Below, Verdict::Pass, "404 ns (of those that arrived: 20.0 %)"),
        ("p10", Relation::Below, Verdict::Pass, "404 ns (of those that arrived: 20.0 %)"),
        ("mean", Relation::Below, Verdict::Pass, "404 ns (of those that arrived: 20.0 %)"),
    ];
    dead.required = cases.iter().map(|(metric, relation, ..)| one(metric, *relation)).collect();
    for (judged, (metric, _, verdict, words)) in judge(&dead).iter().zip(cases) {
        assert_eq!((judged.verdict, judged.arrived), (verdict, Some(0.2)), "{metric}");
        assert!(judged.line().ends_with(words), "{}", judged.line());
    }
    // Where nothing arrives a percentile takes as many values as where all does, and has none.
    scenario["faults"]["dead_devices"][0]["at"] = json!("0 ps");
    let mut silent = report(&scenario);
    silent.required = vec![one("p99", Relation::Below)];
    let judged = &judge(&silent)[0];
    assert_eq!((judged.samples, judged.verdict), (Some((0, 368)), Verdict::Fail));
    let told: Value =
        serde_json::from_str(&analysis::Summary::new("s", std::slice::from_ref(&dead)).to_json()).unwrap();
    let told = &told["variants"][0];
    assert_eq!(
        (&told["require"][0]["measured"], &told["require"][0]["arrived_share"]),
        (&Value::Null, &json!(0.2))
    );
    for flow in [&told["flows"][0], &told["overall"]] {
        assert_eq!(flow["books"]["arrived_share"], json!(0.2));
    }
    for flow in [&told["flows"][0], &told["overall"]] {
        assert_eq!(flow["arrived_share"], json!(0.2));
    }
    let column = analysis::sweep::metric(analysis::sweep::ARRIVED_SHARE).unwrap();
    assert_eq!(analysis::sweep::measure(&dead)[0].value(column), Some(0.2));
    // what stands still comes before what arrived
    let words = analysis::table::conclusion(std::slice::from_ref(&dead)).join("");
    assert!(words.starts_with("a: 100 of 500 packets arrived, 0 never will, 400 under way"), "{words}");
    // the same without the fault: 500 are asked for, and all that is due arrives
    scenario["faults"] = json!({});
    let mut whole = report(&scenario);
    whole.required = vec![one("max", Relation::Below)];
    let judged = &judge(&whole)[0];
    assert!(judged.verdict == Verdict::Pass && judged.line().ends_with(": 404 ns"), "{}", judged.line());
    let told = analysis::Summary::new("s", std::slice::from_ref(&whole)).to_json();
    assert!(!told.contains("arrived_share"), "{told}");
}

/// A multicast packet is asked for by each of three members. Of 500, 100 are out before their source dies: of
/// 1 500 copies 300 arrive, a fifth, however few packets stand at the source for the others.
#[test]
fn copies_that_nobody_has_made_are_missing_in_a_distribution() {
    let arrivals = json!({"constant": {"interval": "1 us", "phase": "0 ps"}});
    let mut scenario =
        star(4, "500 us", json!({"name": "a", "from": "ep/0", "to": "g", "arrivals": arrivals}));
    scenario["multicast"] = json!([{"name": "g", "members": ["ep/1", "ep/2", "ep/3"]}]);
    scenario["faults"] = json!({"dead_devices": [{"device": "ep/0", "at": "100.2 us"}]});
    let dead = report(&scenario);
    assert_eq!(books(&dead), [1_500, 300, 0, 1_200]);
    let told: Value =
        serde_json::from_str(&analysis::Summary::new("s", std::slice::from_ref(&dead)).to_json()).unwrap();
    assert_eq!(told["variants"][0]["flows"][0]["arrived_share"], json!(0.2));
}

/// One message of 1 000 octets every 2 us up to 200 us, to an endpoint whose link is down for 60 us from
/// 100.3 us on; a response is waited for so long.
fn messages_over_an_outage(timeout: &str) -> VariantReport {
    let arrivals = json!({"constant": {"interval": "2 us", "phase": "100 ns"}});
    let flow = json!({
        "name": "m", "from": "ep/0", "to": "ep/1", "arrivals": arrivals, "stop": "200 us", "size": 1_000,
        "messages": {},
    });
    let mut scenario = star(4, "2 ms", flow);
    let outage = json!({"link": "ep/1", "at": "100.3 us", "for": "60 us"});
    scenario["faults"] = json!({"outages": [outage]});
    scenario["endpoint"] = json!({"host": {"response_timeout": timeout, "retry_delay": "500 ns"}});
    report(&scenario)
}

/// All that the link holds up arrives when it is back. The sender has given up the messages of the four
/// letters by then, which are there all the same: they have failed, and they have arrived.
#[test]
fn a_message_that_failed_and_came_has_arrived() {
    let report = messages_over_an_outage("40 us");
    assert_eq!(books(&report), [100, 100, 0, 0]);
    let failed = models::probe::ProtocolFact::Failed as usize;
    assert_eq!(report.flows[0].protocol.as_ref().expect("messages").facts[failed], 4);
}

/// The four letters fail R after their last segments left, and rest for 3 R, because a receiver keeps what it
/// has of a message for so long. The next message gets its letter 4 R after these segments: 10 us more of R
/// are 40 us more for it, and nobody waits for longer.
#[test]
fn a_letter_rests_for_as_long_as_a_receiver_is_patient() {
    let longest = |timeout: &str| {
        let report = messages_over_an_outage(timeout);
        report.flows[0].messages.as_ref().expect("messages").latency.max
    };
    assert_eq!(longest("40 us") - longest("30 us"), 40e6);
}

/// Seven senders want the one place of a host, so most segments are answered by RETRY, and come again only
/// after the host has given up what it had of their message (400 us against 3 R). Nothing is lost in the
/// fabric: what its sender takes for received has arrived, because senders give up first.
#[test]
fn what_a_sender_takes_for_received_has_arrived() {
    let host = json!({"host": {
        "rx_queue": 1, "rx_service": "1 us", "retry_delay": "400 us", "response_timeout": "100 us"
    }});
    let flow = json!({
        "name": "m", "from": "ep/{0..6}", "to": "ep/7", "size": 2_048, "limit": 20,
        "messages": {"segment": 256}, "arrivals": {"saturated": {"backlog": 4}},
    });
    let mut scenario = star(8, "60 ms", flow);
    scenario["endpoint"] = host;
    let report = report(&scenario);
    let [asked, arrived, never, under_way] = books(&report);
    let stats = report.flows[0].protocol.expect("messages");
    let failed = stats.facts[models::probe::ProtocolFact::Failed as usize];
    assert_eq!([asked, arrived + never, under_way], [140, 140, 0]);
    assert_eq!(stats.completed, arrived);
    assert_eq!(failed, never);
}

/// Requests to a host whose link is overloaded: of the messages that carry them and their answers a part
/// stands still when the run ends, and the longest of all is none of those that came. What arrived is the
/// share of all messages, so a percentile above it is longer than any time.
#[test]
fn messages_that_stand_still_are_not_fast() {
    let flow = |name: &str, from: Value, to: &str, load: f64| {
        let arrivals = json!({"poisson": {"load": load}});
        json!({"name": name, "from": from, "to": to, "arrivals": arrivals})
    };
    let mut asks = flow("rpc", json!("ep/2"), "ep/3", 0.1);
    asks["rpc"] = json!({"via": "message"});
    asks["size"] = json!(100);
    let mut scenario = star(4, "300 us", asks);
    scenario["run"]["warmup"] = json!("20 us");
    let traffic = scenario["traffic"].as_array_mut().unwrap();
    traffic.push(flow("p", json!(["ep/0", "ep/3"]), "ep/1", 0.6));
    let mut report = report(&scenario);
    let stats = report.flows[0].protocol.expect("a protocol");
    let share = stats.delivered as f64 / stats.sent as f64;
    assert!((0.4..0.8).contains(&share), "{share}");
    let metrics = ["message_p90", "message_max", "message_mean"];
    report.required = metrics.map(|metric| required(metric, Relation::Below, 1e9, Dimension::Time)).to_vec();
    let judged = judge(&report);
    assert_eq!(judged[0].arrived, Some(share));
    let verdicts: Vec<Verdict> = judged.iter().map(|judged| judged.verdict).collect();
    assert_eq!(verdicts, [Verdict::Fail, Verdict::Fail, Verdict::Pass]);
    let told: Value =
        serde_json::from_str(&analysis::Summary::new("s", std::slice::from_ref(&report)).to_json()).unwrap();
    assert!(told["variants"][0]["flows"][0]["protocol"]["messages"]["arrived_share"].is_number());
}

/// A host with one place. `a` is one PDU of 8 octets, which is served for 1 us from 0.2024 us on; `b`, of 16
/// segments, begins meanwhile and is discarded; `c` comes at 1.7264 us, when nothing waits, while segments of
/// `b` still come. By hand: what is discarded has no place, so `c` finds one.
#[test]
fn what_is_left_of_a_discarded_pdu_takes_no_place() {
    let once = |name: &str, from: &str, size: u32, phase: &str| {
        let arrivals = json!({"constant": {"interval": "9 us", "phase": phase}});
        json!({"name": name, "from": from, "to": "ep/3", "streams": {}, "size": size, "limit": 1,
               "arrivals": arrivals})
    };
    let mut scenario = star(4, "10 us", once("a", "ep/0", 8, "0 ps"));
    let flows = scenario["traffic"].as_array_mut().unwrap();
    flows.extend([once("b", "ep/1", 4_000, "100 ns"), once("c", "ep/2", 8, "1.5 us")]);
    scenario["overrides"] =
        json!([{"devices": "ep/3", "endpoint": {"host": {"rx_queue": 1, "rx_service": "1 us"}}}]);
    let told = report(&scenario);
    let books = |n: usize| {
        let books = &told.flows[n].books;
        [books.asked, books.arrived, books.never, books.under_way]
    };
    assert_eq!([0, 1, 2].map(books), [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]);
}

/// By hand, a message each 500 ns: the first arrives at 400.8 ns, and its DONE is still on its way at 550 ns.
/// So one is under way then, 50 ns old, and what arrived took less than 450 ns. A PDU of four segments that
/// is discarded because the host has no place is not under way while its last segments still come.
#[test]
fn the_oldest_is_the_oldest_that_has_not_arrived() {
    let arrivals = json!({"constant": {"interval": "500 ns", "phase": "0 ps"}});
    let flow = json!({"name": "m", "from": "ep/0", "to": "ep/1", "messages": {}, "size": 256,
                      "arrivals": arrivals});
    let mut told = report(&star(2, "550 ns", flow));
    assert_eq!((books(&told), told.flows[0].books.oldest_ps), ([2, 1, 0, 1], Some(50_000)));
    told.required = vec![required("max", Relation::AtMost, 450_000.0, Dimension::Time)];
    assert_ne!(judge(&told)[0].verdict, Verdict::Fail);

    let pdu = |name: &str, from: &str, size: u32, phase: &str| {
        json!({"name": name, "from": from, "to": "ep/2", "streams": {}, "size": size, "limit": 1,
               "arrivals": {"constant": {"interval": "9 us", "phase": phase}}})
    };
    let mut scenario = star(3, "900 ns", pdu("long", "ep/1", 1_024, "100 ns"));
    scenario["traffic"].as_array_mut().unwrap().push(pdu("first", "ep/0", 8, "0 ps"));
    scenario["overrides"] =
        json!([{"devices": "ep/2", "endpoint": {"host": {"rx_queue": 1, "rx_service": "5 us"}}}]);
    let told = report(&scenario);
    assert_eq!((books(&told), told.flows[0].books.oldest_ps), ([1, 0, 1, 0], None));
}

/// Law: at any instant as many StreamIDs are taken as there are records of both nodes, two for each pair that
/// came about: with the literal algorithm each conduit leaves one at each end. That is so at the end,
/// whatever instant the last census was at.
#[test]
fn what_conduits_cost_is_told_of_the_end() {
    let costs = ["40 us", "149 us", "150 us"].map(|census| {
        let flow = json!({"name": "c", "from": "all", "to": {"uniform": {}}, "session": {"census": census}});
        let mut scenario = star(2, "150 us", flow);
        scenario["endpoint"] = json!({"session": {"algorithm": "literal"}});
        let told = serde_json::to_value(&SessionSummary::all(&report(&scenario).run)[0]).unwrap();
        let cost = &told["cost"];
        let number = |name: &str| cost[name].as_u64().unwrap();
        assert_eq!(number("stream_ids"), 2 * number("most_of_a_pair"), "{cost}");
        number("stream_ids")
    });
    assert!(costs[0] > 100 && costs.iter().all(|&cost| cost == costs[0]), "{costs:?}");
}

/// Two switches are joined by two cables, and the host is at the one. Law: where one cable is down from start
/// to end, all that the host does, and when, is what it does where that cable is not there, but for what it
/// reads of the ports: its ports answer that they are not initialised (Part 6, Port n Error and Status CSR).
/// So its `check` is right that it reaches all. And an endpoint whose link is down costs the others nothing:
/// four packets that nobody takes would fill a switch with five buffers.
#[test]
fn a_link_that_is_down_is_none_to_the_host() {
    let build = |cables: u32, down: bool| {
        let mut links = vec![json!({"a": "s:0", "b": "a"}), json!({"a": "t:2", "b": "b"})];
        links.push(json!({"a": "s:3", "b": "c"}));
        links.push(json!({"a": "s:2", "b": "t:1"}));
        if cables == 2 {
            links.push(json!({"a": "s:1", "b": "t:0"}));
        }
        let devices = json!([{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "s", "ports": 4},
                             {"name": "t", "ports": 3}]);
        let mut scenario = json!({
            "name": "z",
            "run": {"until": "1 ms", "warmup": "0 ps"},
            "topology": {"explicit": {"devices": devices, "links": links}},
            "links": {"granularity": "symbol"},
            "configure": {"fabric": {"host": "a"}},
            "traffic": [{"name": "f", "from": "all", "to": {"uniform": {}},
                         "arrivals": {"constant": {"interval": "10 us"}}}],
        });
        if down {
            scenario["faults"] = json!({"outages": [{"link": "s:1", "at": "0 ps"}]});
        }
        let told = report(&scenario);
        let summary = analysis::Summary::new("s", std::slice::from_ref(&told)).to_json();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        let setup = summary["variants"][0]["enumeration"].clone();
        let [asked, arrived, ..] = books(&told);
        assert!(asked > 100 && arrived > asked - 10, "{asked} {arrived}");
        setup
    };
    let (without, down, both) = (build(1, false), build(2, true), build(2, false));
    assert_eq!(without, down);
    assert_ne!(without, both, "a second cable is looked at");

    let flow = json!({"name": "f", "from": "ep/2", "to": "ep/3",
                      "arrivals": {"constant": {"interval": "1 us", "phase": "0 ps"}}});
    let mut scenario = star(4, "1 ms", flow);
    scenario["switch"] = json!({"input_buffers": 5});
    scenario["configure"] = json!({"fabric": {"host": "ep/0"}});
    scenario["faults"] = json!({"outages": [{"link": "ep/1", "at": "0 ps"}]});
    let [asked, arrived, ..] = books(&report(&scenario));
    assert!(asked > 900 && arrived >= asked - 1, "{asked} {arrived}");
}

/// One flow that goes on, at half of its link, and one of a packet each microsecond: from 90 to 100 us all
/// that arrives is as much whether the second has a limit of 100 packets or none. Of the second that is 10
/// packets of 256 octets. A third, of which nothing ever arrives, changes nothing.
#[test]
fn what_ends_by_itself_counts_where_it_is_measured() {
    let overall = |limit: u64, starved: bool| {
        let each = |interval: &str| json!({"constant": {"interval": interval, "phase": "0 ps"}});
        let load =
            json!({"name": "a", "from": "ep/0", "to": "ep/1", "arrivals": {"constant": {"load": 0.5}}});
        let mut scenario = star(6, "100 us", load);
        scenario["run"]["warmup"] = json!("90 us");
        let traffic = scenario["traffic"].as_array_mut().unwrap();
        traffic.push(
            json!({"name": "b", "from": "ep/2", "to": "ep/3", "arrivals": each("1 us"), "limit": limit}),
        );
        if starved {
            traffic.push(
                json!({"name": "c", "from": "ep/4", "to": "ep/5", "arrivals": each("1 us"), "limit": 9}),
            );
            scenario["faults"] = json!({"outages": [{"link": "ep/4", "at": "0 ps"}]});
        }
        let report = report(&scenario);
        (report.overall.goodput_gbps.value, report.flows[0].goodput_gbps.value)
    };
    for (limit, starved) in [(100, false), (1_000_000, false), (100, true), (1_000_000, true)] {
        let (all, first) = overall(limit, starved);
        let law = first + 10.0 * 256.0 * 8.0 / 10_000.0;
        assert!(first > 9.0 && (all - law).abs() < 1e-9, "{limit} {starved}: {all}, not {law}");
    }
}

/// Verdicts of the first flow for these metrics, each below a limit in ps, if the run ends then.
fn verdicts_at(scenario: &Value, until: &str, wanted: &[(&str, f64)]) -> Vec<Verdict> {
    let mut scenario = scenario.clone();
    scenario["run"]["until"] = json!(until);
    let mut report = report(&scenario);
    let below = |(metric, limit): &(&str, f64)| required(metric, Relation::Below, *limit, Dimension::Time);
    report.required = wanted.iter().map(below).collect();
    judge(&report).into_iter().map(|judged| judged.verdict).collect()
}

/// No message of these takes 300 ns, so at no instant has one been under way for that: one that has arrived
/// is over, though its sender still waits for the response of the logical layer.
#[test]
fn a_message_that_has_arrived_is_not_under_way() {
    let arrivals = |phase: &str| json!({"constant": {"interval": "1 us", "phase": phase}});
    let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "size": 64});
    let with = |key: &str, value: Value, phase: &str| {
        let mut flow = flow.clone();
        (flow[key], flow["arrivals"]) = (value, arrivals(phase));
        star(2, "0 ps", flow)
    };
    let asked = with("rpc", json!({"via": "message", "response": 64}), "0 ps");
    let mut linx = with("linx", json!({}), "100 us");
    linx["endpoint"] = json!({"linx": {"carrier": "message"}});
    for scenario in [asked, linx] {
        for ns in (0..1_000).step_by(20) {
            let until = format!("{} ns", 110_000 + ns);
            let found = verdicts_at(&scenario, &until, &[("message_max", 300_000.0)]);
            assert_eq!(found, [Verdict::Pass], "{until}");
        }
    }
}

/// Reads and writes are no messages: nothing is known of their times as messages, whether one is under way
/// (an answer takes less than 600 ns) or not.
#[test]
fn what_is_asked_by_reads_and_writes_has_no_messages() {
    for via in ["read", "write"] {
        let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "rpc": {"via": via},
                          "arrivals": {"constant": {"interval": "10 us", "phase": "0 ps"}}});
        let wanted = [("message_max", 600_000.0), ("message_p50", 1e12), ("round_trip_max", 600_000.0)];
        for until in ["305 us", "300400 ns"] {
            let found = verdicts_at(&star(2, "0 ps", flow.clone()), until, &wanted);
            assert_eq!(found, [Verdict::NotEnough, Verdict::NotEnough, Verdict::Pass], "{via} {until}");
        }
    }
}

/// By hand: the third packet is alone on its link and begins to leave at 5 us, but two sources of a higher
/// priority have its output from 4 us on. At 6 us it has been in the network for 1 us.
#[test]
fn what_stays_in_the_network_has_been_there_for_so_long() {
    let flow = json!({"name": "f", "arrivals": {"trace": {"rows": [
        "0,ep/0,ep/2,256,0,5", "1000000,ep/0,ep/2,256,0,5", "5000000,ep/0,ep/2,256,0,5"]}}});
    let mut scenario = star(4, "0 ps", flow);
    scenario["traffic"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": "h", "from": ["ep/1", "ep/3"], "to": "ep/2", "priority": 3, "start": "4 us",
               "arrivals": {"saturated": {}}}));
    let judged = |until: &str| verdicts_at(&scenario, until, &[("network_latency_max", 1e6)])[0];
    assert_eq!(judged("5999999 ps"), Verdict::Pass);
    assert_eq!(judged("6 us"), Verdict::Fail);
}
