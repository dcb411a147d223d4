//! Settings that say nothing, and times that a run does not reach: what is a mistake, and what is told.

use scenarios::{Diagnostic, RunPlan, Severity, load};
use serde_json::{Value, json};

/// One switch, one flow of packets, 1 ms; with these fields in place of its own.
fn scenario(fields: &Value) -> Value {
    let mut scenario = json!({
        "name": "vain",
        "topology": {"single_switch": {"ports": 4}},
        "run": {"until": "1 ms"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}}]
    });
    let own = scenario.as_object_mut().expect("an object");
    own.extend(fields.as_object().expect("an object").clone());
    scenario
}

fn plan(fields: &Value) -> RunPlan {
    load(&scenario(fields).to_string(), "vain.json", &[])
        .unwrap_or_else(|errors| panic!("{}", errors.render()))
}

fn errors(fields: &Value) -> Vec<Diagnostic> {
    load(&scenario(fields).to_string(), "vain.json", &[]).expect_err("it is refused").items
}

/// Where findings of a code stand.
fn places<'a>(items: &'a [Diagnostic], code: &str) -> Vec<(&'a str, Severity)> {
    items.iter().filter(|item| item.code == code).map(|item| (item.pointer.as_str(), item.severity)).collect()
}

/// What says nothing in one operation, and would in another, is told: a sweep over operations has all of
/// them.
#[test]
fn what_a_sweep_may_use_is_told_and_allowed() {
    let st = |st: Value| json!({"traffic": [{"name": "t", "from": "ep/0", "to": "ep/1", "st": st}]});
    for (fields, place) in [
        (st(json!({"bytes": 65_536, "operation": "read", "receives": 2})), "/traffic/0/st/receives"),
        (st(json!({"bytes": 65_536, "loss": {}})), "/traffic/0/st/loss"),
        (st(json!({"bytes": 65_536, "doubled": {}})), "/traffic/0/st/doubled"),
        (st(json!({"bytes": 65_536, "checksum": true, "damaged": {}})), "/traffic/0/st/damaged"),
        (st(json!({"bytes": 65_536, "delayed": {}})), "/traffic/0/st/delayed"),
        (st(json!({"bytes": 65_536, "request": {}})), "/traffic/0/st/request"),
        (json!({"run": {"until": "1 ms", "on_stall": "stop", "stall_after": "off"}}), "/run/on_stall"),
    ] {
        let plan = plan(&fields);
        assert_eq!(places(&plan.warnings.items, "SC051"), [(place, Severity::Warning)], "{fields}");
    }
    let used = plan(&st(json!({"bytes": 65_536, "receives": 2, "loss": {"data": 0.1}})));
    assert_eq!(places(&used.warnings.items, "SC051"), []);
}

/// Nothing waits for a symbol where there are none: however a file says that nothing is faulty.
#[test]
fn a_timeout_needs_symbols_to_wait_for() {
    let with = |faults: Value| json!({"links": {"timeout": "200 us"}, "faults": faults});
    for faults in [json!({}), json!({"bit_errors": []}), json!({"outages": [], "corrupt": []})] {
        let found = errors(&with(faults.clone()));
        assert_eq!(places(&found, "SC051"), [("/links/timeout", Severity::Error)], "{faults}");
    }
    let of_one = json!({"faults": {}, "overrides": [{"link": "ep/1", "links": {"timeout": "200 us"}}]});
    assert_eq!(places(&errors(&of_one), "SC051"), [("/overrides/0/links/timeout", Severity::Error)]);
    plan(&with(json!({"bit_errors": [{"link": "ep/1", "rate": 0}]})));
    // One variant that has symbols is enough.
    let mut both = with(json!({}));
    let set = json!({"/faults/outages": [{"link": "ep/1", "at": "100 us", "for": "1 us"}]});
    both["variants"] = json!([{"name": "whole"}, {"name": "faulty", "set": set}]);
    plan(&both);
}

/// "All links but this one": the last entry about a link counts.
#[test]
fn the_last_rate_of_a_link_counts() {
    let rates = |list: Value| {
        let plan = plan(&json!({"faults": {"bit_errors": list}}));
        let config = &plan.variants[0].config;
        let chance = |link: usize| {
            let symbolic = config.symbolic.iter().find(|symbolic| symbolic.link == link as u32);
            symbolic.map(|symbolic| symbolic.damage[0].errors.as_ref().map_or(0, |own| own.probability.0))
        };
        [0, 1, 2, 3].map(chance)
    };
    let one = rates(json!([{"link": "*", "rate": 1e-9}]));
    let some = one[0].expect("a rate");
    // 1 - (1 - 1e-9)^10 of 1e18 parts.
    assert!(some.abs_diff(9_999_999_955) <= 1, "{some}");
    assert_eq!(one, [Some(some); 4]);
    let but = rates(json!([{"link": "*", "rate": 1e-9}, {"link": "ep/1", "rate": 0}]));
    assert_eq!(but, [Some(some), Some(0), Some(some), Some(some)]);
    // Lanes that are lost have to do with rates that count.
    let four = json!([1e-9, 0, 0, 0]);
    let lost = json!([{"link": "ep/1", "at": "10 us", "retrain": "1 us"}]);
    let rates = |last: Value| json!([{"link": "*", "rate": four}, last]);
    let faults = |last: Value| json!({"faults": {"lane_losses": lost, "bit_errors": rates(last)}});
    plan(&faults(json!({"link": "ep/1", "rate": 1e-9})));
    let found = errors(&faults(json!({"link": "ep/2", "rate": 1e-9})));
    assert_eq!(places(&found, "SC067"), [("/faults/bit_errors/0/rate", Severity::Error)]);
}

/// One change of a file makes its run shorter, also where it replays a trace; unless nothing is left of it.
#[test]
fn a_trace_ends_with_its_run() {
    let trace = |until: &str| {
        let rows = ["0,ep/0,ep/1,64,0,5", "100000000,ep/0,ep/1,64,0,5", "600000000,ep/0,ep/1,64,0,5"];
        json!({
            "run": {"until": until},
            "traffic": [
                {"name": "f", "arrivals": {"trace": {"rows": rows}}},
                {"name": "g", "from": "ep/2", "to": "ep/3", "arrivals": {"poisson": {"load": 0.1}}}
            ]
        })
    };
    let late = |plan: &RunPlan| places(&plan.warnings.items, "SC120").len();
    assert_eq!(late(&plan(&trace("1 ms"))), 0);
    let short = plan(&trace("200 us"));
    assert_eq!(places(&short.warnings.items, "SC120"), [("/traffic/0/arrivals/trace", Severity::Warning)]);
    let nothing = json!({
        "run": {"until": "100 us"},
        "traffic": [{"name": "f", "arrivals": {"trace": {"rows": ["100000000,ep/0,ep/1,64,0,5"]}}}]
    });
    assert_eq!(places(&errors(&nothing), "SC120"), [("/traffic/0/arrivals/trace", Severity::Error)]);
}

/// Who begins up to so much later, at random, may begin after the run: that is told.
#[test]
fn a_spread_beyond_the_run_is_told() {
    let told = |begin: &str, spread: &str| {
        let linx = json!({"at": begin, "offset": "100 us", "spread": spread});
        let flow = json!({"name": "l", "from": ["ep/0", "ep/1", "ep/2"], "to": "ep/3", "linx": linx});
        let items = plan(&json!({"traffic": [flow]})).warnings.items;
        places(&items, "SC120").iter().map(|(at, severity)| ((*at).to_owned(), *severity)).collect::<Vec<_>>()
    };
    let late = [("/traffic/0/linx/spread".to_owned(), Severity::Warning)];
    assert_eq!(told("0 ps", "800 us"), []);
    assert_eq!(told("0 ps", "801 us"), late);
    assert_eq!(told("700 us", "101 us"), late);
}

/// Of n endpoints the last begins (n - 1) offsets after the first. Whoever cuts the run short is told; the
/// file itself may not promise what its run does not reach.
#[test]
fn every_endpoint_of_a_flow_begins_within_the_run() {
    let flow = |begin: &str, offset: &str| {
        let linx = json!({"at": begin, "offset": offset});
        json!({"traffic": [{"name": "l", "from": ["ep/0", "ep/1", "ep/2"], "to": "ep/3", "linx": linx}]})
    };
    plan(&flow("0 ps", "500 us"));
    plan(&flow("1 ms", "0 ps"));
    for (begin, offset) in [("0 ps", "500001 ns"), ("1 us", "500 us"), ("1 ms", "1 ps")] {
        let found = errors(&flow(begin, offset));
        assert_eq!(
            places(&found, "SC120"),
            [("/traffic/0/linx/offset", Severity::Error)],
            "{begin} {offset}"
        );
    }
    let cut = [("/run/until".to_owned(), json!("900 us"))];
    let plan = load(&scenario(&flow("0 ps", "500 us")).to_string(), "vain.json", &cut)
        .unwrap_or_else(|errors| panic!("{}", errors.render()));
    assert_eq!(places(&plan.warnings.items, "SC120"), [("/traffic/0/linx/offset", Severity::Warning)]);
    assert_eq!(plan.variants[0].config.agents.len(), 4);
    // What it resolves to says that it was cut, and is told the same; nothing else says so.
    let again =
        load(&plan.resolved, "resolved.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    assert_eq!(places(&again.warnings.items, "SC120"), places(&plan.warnings.items, "SC120"));
    assert_eq!(again.resolved, plan.resolved);
    let whole = [("/run/until".to_owned(), json!("1 ms"))];
    let whole = load(&scenario(&flow("0 ps", "500 us")).to_string(), "vain.json", &whole).unwrap();
    assert!(whole.resolved.contains(r#""cut_short": false"#) && whole.warnings.items.is_empty());
    let vain = load(&plan.resolved, "resolved.json", &[("/run/until".to_owned(), json!("1 ms"))]).unwrap();
    assert_eq!(places(&vain.warnings.items, "SC051"), [("/run/cut_short", Severity::Warning)]);
}

/// Who writes a setting of what is off in every run meant something by it: place by place, and not where one
/// variant, or a default that is written out, makes it right.
#[test]
fn settings_of_what_is_off_are_mistakes() {
    let set = |pointer: &str, value: Value| {
        let settings = [(pointer.to_owned(), value)];
        load(&scenario(&json!({})).to_string(), "vain.json", &settings)
    };
    for (pointer, value, place) in [
        ("/switch", json!({"iterations": 4}), "/switch/iterations"),
        ("/switch", json!({"iterations": 4, "arbitration": "random"}), "/switch/iterations"),
        ("/switch", json!({"buffer_packets": 4}), "/switch/buffer_packets"),
        ("/switch", json!({"leave_out_stopped": true}), "/switch/leave_out_stopped"),
        ("/switch", json!({"staging": {"modulo": 2}}), "/switch/staging"),
        ("/switch", json!({"voq": {"xoff": true}}), "/switch/voq/xoff"),
        ("/switch", json!({"voq": {"part": false}}), "/switch/voq/part"),
        ("/endpoint", json!({"staging": "none"}), "/endpoint/staging"),
        ("/endpoint", json!({"voq": {"obey_latency": "10 ns"}}), "/endpoint/voq/obey_latency"),
        ("/endpoint", json!({"host": {"rx_queue": 3}}), "/endpoint/host"),
        ("/endpoint", json!({"linx": {"mtu": 300}}), "/endpoint/linx"),
        ("/endpoint", json!({"session": {"mtu": 300}}), "/endpoint/session"),
        ("/voq", json!({"thresholds": {"on": 3, "off": 1}}), "/voq/thresholds"),
        ("/voq", json!({"enabled": true, "after_recovery": false}), "/voq/after_recovery"),
        (
            "/overrides",
            json!([{"devices": "sw", "switch": {"iterations": 4}}]),
            "/overrides/0/switch/iterations",
        ),
        ("/overrides", json!([{"port": "sw:1", "voq": {"xoff": true}}]), "/overrides/0/voq/xoff"),
        ("/overrides", json!([{"devices": "ep/1", "endpoint": {"host": {}}}]), "/overrides/0/endpoint/host"),
    ] {
        let found = set(pointer, value.clone()).expect_err("it is refused").items;
        assert_eq!(places(&found, "SC051"), [(place, Severity::Error)], "{pointer} {value}");
    }
    let fine = |fields: Value| places(&plan(&fields).warnings.items, "SC051").len();
    for fields in [
        json!({"switch": {"iterations": 4, "arbitration": "islip"}}),
        json!({"switch": {"buffer_packets": 4, "buffering": "output"}}),
        json!({"switch": {"device": "Tsi578", "buffering": "direct"}, "links": {"rate": "3.125 Gbaud"}}),
        json!({"switch": {"voq": {"part": true, "xoff": false}, "iterations": 2}}),
        json!({"switch": {"leave_out_stopped": false, "buffer_packets": 16}}),
        json!({"switch": {"iterations": 4},
               "overrides": [{"devices": "sw", "switch": {"arbitration": "islip"}}]}),
        json!({"switch": {"iterations": 4}, "variants": [{"name": "a"},
               {"name": "b", "set": {"/switch/arbitration": "islip"}}]}),
        json!({"switch": {"leave_out_stopped": true, "voq": {"xoff": true}},
               "voq": {"thresholds": {"on": 3, "off": 1}},
               "variants": [{"name": "a"}, {"name": "b", "set": {"/voq/enabled": true}}]}),
        json!({"voq": {"enabled": false, "thresholds": {"on": 3, "off": 1}}}),
    ] {
        assert_eq!(fine(fields.clone()), 0, "{fields}");
    }
    // a variant gives it
    let variants = json!([{"name": "a"}, {"name": "b", "set": {"/switch/iterations": 4}}]);
    let found = errors(&json!({"variants": variants}));
    assert_eq!(places(&found, "SC051"), [("/switch/iterations", Severity::Error)]);
    // a switch that reports nothing, beside one that does
    let two = |device: &str| {
        json!({
            "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}}, "voq": {"enabled": true},
            "overrides": [{"devices": "sw/1", "switch": {"voq": {"gen_sup": false}}},
                          {"devices": device, "switch": {"leave_out_stopped": true}}]
        })
    };
    let place = "/overrides/1/switch/leave_out_stopped";
    assert_eq!(places(&errors(&two("sw/1")), "SC051"), [(place, Severity::Error)]);
    assert_eq!(fine(two("sw/0")), 0);
    // who says that it is off is told only
    let off = plan(&json!({"voq": {"enabled": false}, "switch": {"leave_out_stopped": true}}));
    assert_eq!(places(&off.warnings.items, "SC051"), [("/switch/leave_out_stopped", Severity::Warning)]);
}

/// Hosts do some things only for some of what is sent: a setting of these is a mistake where no run has
/// that. What is sent is what the flows say, whatever their kind.
#[test]
fn settings_of_hosts_that_nothing_needs_are_mistakes() {
    let arrivals = json!({"poisson": {"load": 0.1}});
    let carried = |key: &str, by: Value| {
        let mut flow = json!({"name": key, "from": "ep/0", "to": "ep/1", "arrivals": arrivals});
        flow[key] = by;
        flow
    };
    let read = carried("rpc", json!({"via": "read"}));
    let write = carried("rpc", json!({"via": "write"}));
    let pdus = carried("streams", json!({}));
    let mail = carried("messages", json!({}));
    let echo = |by: &str| carried("echo", json!({"carrier": by}));
    let transfer = json!({"name": "t", "from": "ep/0", "to": "ep/1", "st": {"bytes": 65_536}});
    let sessions = carried("session", json!({}));
    let linx = carried("linx", json!({}));
    let all = json!({"rx_service": "1 us", "rx_queue": 8, "retry_delay": "1 us", "stream_packets": 2});
    let with = |flow: &Value| json!({"traffic": [flow], "endpoint": {"host": all}});
    let by = |management: &str, data: &str| {
        let node = json!({"management": management, "data": data});
        json!({"traffic": [sessions], "endpoint": {"host": all, "session": node}})
    };
    let bare = ["rx_service", "rx_queue", "retry_delay", "stream_packets"];
    for (flow, law) in [
        (&read, &bare[..]),
        (&write, &bare),
        (&pdus, &["retry_delay"]),
        (&echo("stream"), &["retry_delay"]),
        (&transfer, &["retry_delay"]),
        (&mail, &["stream_packets"]),
        (&echo("message"), &["stream_packets"]),
        (&linx, &["stream_packets"]),
        (&sessions, &["stream_packets"]),
    ] {
        let law: Vec<String> = law.iter().map(|key| format!("/endpoint/host/{key}")).collect();
        let law: Vec<_> = law.iter().map(|place| (place.as_str(), Severity::Error)).collect();
        assert_eq!(places(&errors(&with(flow)), "SC051"), law, "{flow}");
    }
    let fine = |fields: Value| assert_eq!(places(&plan(&fields).warnings.items, "SC051"), [], "{fields}");
    fine(by("stream", "message"));
    fine(by("message", "stream"));
    let found = errors(&by("stream", "stream"));
    assert_eq!(places(&found, "SC051"), [("/endpoint/host/retry_delay", Severity::Error)]);
    fine(json!({"traffic": [pdus, mail], "endpoint": {"host": all}}));
    // a variant makes it right; what is so anyway says nothing
    fine(json!({"traffic": [read], "endpoint": {"host": {"rx_service": "1 us"}},
                "variants": [{"name": "a"}, {"name": "b", "set": {"/traffic/0/rpc/via": "message"}}]}));
    fine(json!({"traffic": [read], "endpoint": {"host": {
        "rx_service": "0 ps", "rx_queue": 1024, "retry_delay": "0 ps", "stream_packets": 1,
        "tx_service": "1 us"
    }}}));
}

/// A program takes what comes for it, and a barrier has no vector: a setting of either is a mistake, unless
/// some run has a use for it.
#[test]
fn settings_that_a_program_leaves_alone_are_mistakes() {
    let ranks =
        |key: &str, program: Value| json!({"name": "ranks", "from": "all", key: {"program": program}});
    let consumer = json!({"session": {"consumer": {"service": "1 us"}}});
    let broadcast = json!({"collective": "broadcast"});
    let barrier = |octets: u64| json!({"collective": "barrier", "octets": octets});
    let plain = json!({"name": "plain", "from": "ep/0", "to": "ep/1", "session": {"protocol": 701},
                       "arrivals": {"poisson": {"load": 0.1}}});
    let program = ranks("session", broadcast.clone());
    let found = errors(&json!({"traffic": [program], "endpoint": consumer}));
    assert_eq!(places(&found, "SC051"), [("/endpoint/session/consumer", Severity::Error)]);
    for key in ["linx", "session", "st"] {
        let found = errors(&json!({"traffic": [ranks(key, barrier(4_096))]}));
        let place = format!("/traffic/0/{key}/program/octets");
        assert_eq!(places(&found, "SC051"), [(place.as_str(), Severity::Error)]);
    }
    for fields in [
        json!({"traffic": [program, plain], "endpoint": consumer}),
        json!({"traffic": [ranks("st", barrier(65_536))]}),
        json!({"traffic": [ranks("st", json!({"collective": "broadcast", "octets": 4_096}))],
               "variants": [{"name": "a"},
                            {"name": "b", "set": {"/traffic/0/st/program/collective": "barrier"}}]}),
    ] {
        assert_eq!(places(&plan(&fields).warnings.items, "SC051"), [], "{fields}");
    }
}
