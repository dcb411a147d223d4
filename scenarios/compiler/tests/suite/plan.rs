//! From text to plan: exact loads, defaults that can be written out, the schema, comments.

use models::config::{Arrivals, Destinations, PacketSize, Sizes};
use models::probe::{Probe, StagingEdge};
use models::sim_core::{Duration, Time};
use models::{RunOptions, Watched};
use scenarios::{Diagnostics, RunPlan, Warmup, check_report, load, schema, templates};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Where the studies lie.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies beside the studies")
}

fn plan(value: &Value) -> RunPlan {
    load(&value.to_string(), "t.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()))
}

fn scenario(flow: Value) -> Value {
    json!({"name": "t", "topology": {"single_switch": {"ports": 4}}, "traffic": [flow]})
}

fn arrivals(flow: Value) -> Arrivals {
    plan(&scenario(flow)).variants[0].config.sources[0].arrivals.clone()
}

/// A packet of 272 octets and its delimiter of 8 take 280 characters of 400 ps on 4x 6.25 Gbaud: 112 ns.
#[test]
fn load_is_the_share_of_time_with_delimiters() {
    let flow = |arrivals: Value| json!({"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": arrivals});
    match arrivals(flow(json!({"poisson": {"load": 0.3}}))) {
        // 112 ns / 0.3 = 373.333.. ns, rounded once.
        Arrivals::Poisson { mean } => assert_eq!(mean, Duration(373_333)),
        other => panic!("{other:?}"),
    }
    match arrivals(flow(json!({"constant": {"load": 0.3, "phase": "5 ns"}}))) {
        Arrivals::Constant { interval, phase } => {
            assert_eq!((interval, phase), ((1_120_000, 3), Duration(5_000)));
        }
        other => panic!("{other:?}"),
    }
    match arrivals(flow(json!({"constant": {"interval": "200 ns"}}))) {
        Arrivals::Constant { interval, .. } => assert_eq!(interval, (200_000, 1)),
        other => panic!("{other:?}"),
    }
    match arrivals(flow(json!({"bernoulli": {"load": "30 %", "slot": "117 ns"}}))) {
        // 0.3 x 117 / 112.
        Arrivals::Bernoulli { slot, numerator, denominator } => {
            assert_eq!((slot, numerator, denominator), (Duration(117_000), 351, 1_120));
        }
        other => panic!("{other:?}"),
    }
    match arrivals(flow(json!({"on_off": {"load": "1/4", "on": "10 us", "off": "10 us"}}))) {
        // Within bursts twice the load: a packet every 224 ns.
        Arrivals::OnOff { on, off, interval } => {
            assert_eq!((on, off, interval), (Duration(10_000_000), Duration(10_000_000), Duration(224_000)));
        }
        other => panic!("{other:?}"),
    }
}

/// Sources of equal gaps begin anywhere within the first gap, each of them elsewhere, and with another seed
/// elsewhere; or all when the scenario says so.
#[test]
fn constant_sources_are_not_in_phase() {
    let phases = |seed: u64, constant: Value| -> Vec<u64> {
        let mut value = scenario(json!({
            "name": "f", "from": "all", "to": {"uniform": {}}, "arrivals": {"constant": constant}
        }));
        value["seed"] = json!(seed);
        let sources = plan(&value).variants[0].config.sources.clone();
        let phase = |arrivals: &Arrivals| match arrivals {
            Arrivals::Constant { phase, .. } => phase.0,
            other => panic!("{other:?}"),
        };
        sources.iter().map(|source| phase(&source.arrivals)).collect()
    };
    let drawn = phases(1, json!({"interval": "2 us"}));
    assert_eq!(drawn, phases(1, json!({"interval": "2 us", "phase": "random"})));
    assert!(drawn.iter().all(|phase| *phase < 2_000_000), "{drawn:?}");
    let different: std::collections::BTreeSet<_> = drawn.iter().collect();
    assert_eq!(different.len(), 4, "{drawn:?}");
    assert_ne!(drawn, phases(2, json!({"interval": "2 us"})));
    assert_eq!(phases(1, json!({"interval": "2 us", "phase": "5 ns"})), [5_000; 4]);
}

/// 0.1 + 0.2 as a program writes it, and the third of 0.01.
#[test]
fn loads_with_seventeen_digits_are_loads() {
    let mean = |load: f64| {
        let flow =
            json!({"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": load}}});
        match arrivals(flow) {
            Arrivals::Poisson { mean } => mean,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(mean(0.1 + 0.2), mean(0.3));
    assert_eq!(mean(0.01 / 3.0), Duration(33_600_000));
    assert_eq!(mean(0.123_456_789_012_345_67), Duration(907_200));
    let flow =
        json!({"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"constant": {"load": 1.0 / 3.0}}});
    match arrivals(flow) {
        Arrivals::Constant { interval: (num, den), .. } => assert_eq!((num + den / 2) / den, 336_000),
        other => panic!("{other:?}"),
    }
}

#[test]
fn load_follows_link_symbol_and_mix_of_sizes() {
    let mut value = scenario(json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"constant": {"load": 1}},
        "size": [{"payload": 8, "weight": 3}, {"payload": 256, "weight": 1}]
    }));
    // 1x 1.25 Gbaud, short symbols: 8 ns a character; (3 x (20 + 4) + (272 + 4)) / 4 = 87 characters.
    value["links"] = json!({"rate": "1.25 Gbaud", "width": "1x", "symbol": "short"});
    let config = plan(&value).variants[0].config.clone();
    match &config.sources[0].arrivals {
        Arrivals::Constant { interval, .. } => assert_eq!(*interval, (87 * 8_000, 1)),
        other => panic!("{other:?}"),
    }
    match &config.sources[0].sizes {
        Sizes::Mix(list) => assert_eq!(list[0], (3, PacketSize { payload: 8, wire: 20 })),
        other => panic!("{other:?}"),
    }
    // 64b/67b: 272 + 4 octets of link CRC, padded to 280, and 8 of delimiter; 67/8 bits for each.
    value["links"] = json!({"rate": "10.3125 Gbaud", "width": "4x"});
    value["traffic"][0]["size"] = json!(256);
    let config = plan(&value).variants[0].config.clone();
    match &config.sources[0].arrivals {
        Arrivals::Constant { interval: (num, den), .. } => {
            let link = &config.links[0];
            assert_eq!(link.char_ps, (6_700, 33), "67/8 bits at 4 x 10.3125 Gbaud");
            assert_eq!(num * link.char_ps.1, 288 * link.char_ps.0 * den);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_extended_address_makes_the_largest_packet() {
    let flow = json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"saturated": {}},
        "size": 256, "address_bits": 66
    });
    for bits in [8, 16] {
        let mut value = scenario(flow.clone());
        value["id_bits"] = json!(bits);
        match plan(&value).variants[0].config.sources[0].sizes {
            Sizes::Fixed(size) => assert_eq!(size, PacketSize { payload: 256, wire: 276 }),
            ref other => panic!("{other:?}"),
        }
    }
}

#[test]
fn destinations_are_what_their_names_say() {
    let target = |to: Value| {
        let value = scenario(json!({"name": "f", "from": "all", "to": to, "arrivals": {"saturated": {}}}));
        let sources = plan(&value).variants[0].config.sources.clone();
        let fixed = |d: &Destinations| match d {
            Destinations::Fixed(id) => *id,
            other => panic!("{other:?}"),
        };
        sources.iter().map(|s| fixed(&s.destinations)).collect::<Vec<u32>>()
    };
    let permutation = |kind: &str| target(json!({"permutation": {"kind": kind}}));
    assert_eq!(permutation("bit_complement"), [3, 2, 1, 0]);
    // 0 and 3 are mapped to themselves and send nothing.
    assert_eq!(permutation("bit_reverse"), [2, 1]);
    assert_eq!(permutation("transpose"), [2, 1]);
    assert_eq!(permutation("shuffle"), [2, 1]);
    assert_eq!(target(json!({"tornado": {}})), [1, 2, 3, 0]);
    assert_eq!(target(json!({"neighbour": {}})), [1, 2, 3, 0]);
    assert_eq!(target(json!({"incast": {"target": "ep/2"}})), [2, 2, 2]);
    let random = permutation("random");
    assert_eq!(random, permutation("random"), "the same seed");
    let mut sorted = random.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2, 3]);
    assert!(random.iter().enumerate().all(|(i, &to)| i as u32 != to));
    // Of 900 seeds each of the nine permutations of four without fixed points is drawn by about 100: the
    // squares of what is more or less, over 100, are less than 26.1 in 999 of 1 000 cases (chi-square with 8
    // degrees of freedom). Three of them are two pairs that send to each other.
    let mut drawn: std::collections::BTreeMap<Vec<u32>, f64> = Default::default();
    for seed in 0..900 {
        *drawn.entry(target(json!({"permutation": {"kind": "random", "seed": seed}}))).or_default() += 1.0;
    }
    let squares: f64 = drawn.values().map(|count| (count - 100.0) * (count - 100.0) / 100.0).sum();
    assert!(drawn.len() == 9 && squares < 26.1, "{squares}: {drawn:?}");
    assert!(drawn.contains_key(&vec![1, 0, 3, 2]));
}

#[test]
fn hotspots_report_under_their_own_flow_and_never_hit_themselves() {
    let value = scenario(json!({
        "name": "f", "from": "all",
        "to": {"hotspot": {"hot": ["ep/0", "ep/2"], "share": "10 %"}}, "arrivals": {"poisson": {"load": 0.5}}
    }));
    let variant = plan(&value).variants.remove(0);
    assert_eq!(variant.labels.flows, ["f", "f.hot"]);
    assert_eq!(variant.hot, [1]);
    for (i, source) in variant.config.sources.iter().enumerate() {
        match &source.destinations {
            Destinations::Hotspot {
                hot,
                hot_except,
                cold,
                cold_except,
                numerator,
                denominator,
                hot_flow,
            } => {
                assert_eq!((&hot[..], &cold[..]), (&[0, 2][..], &[1, 3][..]));
                assert_eq!((*numerator, *denominator, *hot_flow), (1, 10, 1));
                let own = i as u32;
                assert_eq!(hot_except.map(|p| hot[p as usize]), own.is_multiple_of(2).then_some(own));
                assert_eq!(cold_except.map(|p| cold[p as usize]), (own % 2 == 1).then_some(own));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// A source that has nobody cold to send to sends all its packets to hot endpoints, and they count as hot.
#[test]
fn where_nobody_is_cold_all_packets_are_hot() {
    for (hot, share) in [(json!("ep/*"), json!(1)), (json!(["ep/0", "ep/1", "ep/2"]), json!("1/3"))] {
        let value = scenario(json!({
            "name": "f", "from": "ep/3", "to": {"hotspot": {"hot": hot, "share": share}},
            "arrivals": {"poisson": {"load": 0.5}}
        }));
        let variant = plan(&value).variants.remove(0);
        let Destinations::Hotspot { hot, hot_except, hot_flow, numerator, denominator, .. } =
            &variant.config.sources[0].destinations
        else {
            panic!("{:?}", variant.config.sources[0].destinations)
        };
        assert_eq!(variant.labels.flows[usize::from(*hot_flow)], "f.hot");
        assert_eq!(numerator, denominator);
        let reached = hot.len() - usize::from(hot_except.is_some());
        assert_eq!((reached, hot_except.map(|at| hot[at as usize])), (3, (hot.len() == 4).then_some(3)));
    }
}

#[test]
fn traces_become_replays_and_move_into_the_resolved_file() {
    let value = scenario(json!({"name": "f", "arrivals": {"trace": {"file": "x.csv"}}}));
    let csv = "time_ps,src,dst,bytes,prio,ftype\n500,ep/0,ep/1,256,0,5\n100,0,3,8,2,6\n\n200,ep/1,2,0,1,10\n";
    let read = |name: &str| if name == "x.csv" { Ok(csv.to_owned()) } else { Err("none".to_owned()) };
    let plan = scenarios::load_with(&value.to_string(), "t.json", &[], &read).expect("valid");
    let sources = &plan.variants[0].config.sources;
    assert_eq!(sources.len(), 2);
    match &sources[0].arrivals {
        Arrivals::Replay(list) => {
            assert_eq!(list.iter().map(|p| p.at).collect::<Vec<_>>(), [Time(100), Time(500)]);
            assert_eq!(list[0].size, PacketSize { payload: 8, wire: 20 });
            assert_eq!((list[0].destination, list[0].priority), (3, 2));
        }
        other => panic!("{other:?}"),
    }
    let none = |_: &str| Err("no file is needed".to_owned());
    let again = scenarios::load_with(&plan.resolved, "resolved.json", &[], &none).expect("alone");
    assert_eq!(format!("{:?}", again.variants), format!("{:?}", plan.variants));
}

/// A value that was given in place of what the file says is not in the file: no line of it is shown, and the
/// message says why. What is wrong in the file itself is shown where it is.
#[test]
fn a_replaced_value_is_not_looked_for_in_the_file() {
    let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "size": 1});
    let mut file = scenario(flow);
    file["run"] = json!({"until": "1 us"});
    let given = [("/run/until".to_string(), json!("-5 us"))];
    let errors = load(&file.to_string(), "t.json", &given).expect_err("a negative time");
    let told = errors.render();
    assert!(
        told.contains("\"-5 us\" is negative") && told.contains("in place of what the file says"),
        "{told}"
    );
    assert!(!told.contains("t.json:1:"), "{told}");
    let other = load(&file.to_string(), "t.json", &[]).expect_err("a size that no packet has").render();
    assert!(other.contains("t.json:1:") && !other.contains("in place of"), "{other}");
}

/// What a profile decides stands in the resolved file, and means there what it meant: for all endpoints, in
/// overrides that choose another profile, and not where an override would hide what stands below it.
#[test]
fn what_a_profile_decides_is_written_out() {
    let resolved = |linx: Value, overrides: Value| {
        let text = json!({
            "name": "test",
            "topology": {"single_switch": {"ports": 4}},
            "endpoint": {"linx": linx},
            "overrides": overrides,
            "traffic": [{"name": "f", "from": ["ep/1", "ep/2"], "to": "ep/0", "linx": {}}],
            "run": {"until": "1 us"}
        });
        let plan = scenarios::load(&text.to_string(), "t.json", &[]).expect("valid");
        let again = scenarios::load(&plan.resolved, "resolved.json", &[]).expect("alone");
        assert_eq!(format!("{:?}", again.variants), format!("{:?}", plan.variants));
        assert_eq!(again.resolved, plan.resolved);
        serde_json::from_str::<Value>(&plan.resolved).expect("a JSON value")
    };
    let standard = json!({
        "request_jitter": "0 ps", "liveness": "heartbeat", "supervision": "deadline", "periods": 3,
        "gap_timer": "auto", "reset_mode": "handshake", "repeated_request": "acknowledge",
        "opening": "proved", "renewal": "connect", "open_messages": 32, "longest_message": 16_777_216
    });
    let linux = json!({
        "liveness": "any", "supervision": "ticks", "periods": 3, "gap_timer": "off",
        "reset_mode": "immediate", "repeated_request": "teardown", "opening": "at_once",
        "renewal": "never", "open_messages": 32, "longest_message": 16_777_216
    });
    let has = |found: &Value, wanted: &Value, without: &[&str]| {
        for (key, value) in wanted.as_object().expect("settings") {
            let expected = if without.contains(&key.as_str()) { &Value::Null } else { value };
            assert_eq!(&found[key], expected, "{key}");
        }
    };
    let alone = resolved(json!({"profile": "standard"}), json!([]));
    has(&alone["endpoint"]["linx"], &standard, &[]);
    let alone = resolved(json!({"profile": "linx_for_linux", "periods": 4}), json!([]));
    has(&alone["endpoint"]["linx"], &json!({"periods": 4, "liveness": "any", "gap_timer": "off"}), &[]);
    assert_eq!(alone["endpoint"]["linx"]["request_jitter"], Value::Null);
    // One that chooses another profile, after one that has a choice of its own: `liveness` stays open.
    let layers = resolved(
        json!({}),
        json!([
            {"devices": "ep/1", "endpoint": {"linx": {"liveness": "any"}}},
            {"devices": "ep/*", "endpoint": {"linx": {"profile": "linx_for_linux"}}},
            {"devices": "ep/2", "endpoint": {"linx": {"renewal": "connect"}}}
        ]),
    );
    has(&layers["endpoint"]["linx"], &standard, &["liveness", "request_jitter"]);
    has(&layers["overrides"][1]["endpoint"]["linx"], &linux, &["liveness"]);
    assert_eq!(layers["overrides"][2]["endpoint"]["linx"], json!({"renewal": "connect"}));
}

/// The resolved file gives the same plan without any default, trace or override.
#[test]
fn resolved_files_reproduce_the_plan() {
    let mut files: Vec<(String, String)> =
        templates().iter().map(|t| (t.name.into(), t.text.into())).collect();
    for folder in [root().to_owned(), root().join("perf")] {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            // Three levels would say the same, more slowly.
            let name = path.display().to_string();
            if path.extension().is_some_and(|ext| ext == "json") && !name.contains("fattree3") {
                files.push((name, fs::read_to_string(&path).expect("readable")));
            }
        }
    }
    for (name, text) in files {
        let changes = [("/seed".to_owned(), json!(77))];
        let first = load(&text, &name, &changes).unwrap_or_else(|e| panic!("{}", e.render()));
        let second = load(&first.resolved, &name, &[]).unwrap_or_else(|e| panic!("{}", e.render()));
        assert_eq!(first.resolved, second.resolved, "{name}: resolving twice changes something");
        assert_eq!(format!("{:?}", first.variants), format!("{:?}", second.variants), "{name}");
        assert_eq!(
            (first.name, first.title, first.description),
            (second.name, second.title, second.description)
        );
        assert_eq!(first.variants[0].config.seed, 77);
    }
}

#[test]
fn templates_say_what_they_are() {
    for template in templates() {
        assert!(template.text.starts_with("//"), "{}: no comment at the top", template.name);
        let plan = load(template.text, template.name, &[]).unwrap_or_else(|e| panic!("{}", e.render()));
        let report = scenarios::check_report(&plan);
        assert!(
            report.contains("that the neighbour will choose") && report.contains("every id is reached"),
            "{report}"
        );
    }
}

#[test]
fn variants_share_the_seed_and_differ_where_they_say() {
    let mut value =
        scenario(json!({"name": "f", "from": "all", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}}));
    value["seed"] = json!(5);
    value["run"] = json!({"warmup": "10 us"});
    value["variants"] = json!([
        {"name": "a", "set": {}},
        {"name": "b", "set": {"/traffic/f/priority": 2, "/traffic/0/arrivals/poisson/load": 0.2}},
        {"name": "c", "set": {"/topology/single_switch/ports": 8, "/voq/enabled": true}}
    ]);
    let plan = plan(&value);
    assert_eq!(plan.variants.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert!(plan.variants.iter().all(|v| v.config.seed == 5 && v.warmup == Warmup::Until(Time(10_000_000))));
    let priority = |i: usize| plan.variants[i].config.sources[0].priority;
    assert_eq!([priority(0), priority(1), priority(2)], [0, 2, 0]);
    assert_eq!(plan.variants[2].config.devices.len(), 9);
    assert_eq!(plan.variants[1].offered[0].load, Some((1, 5)));
}

/// In which order a file lists devices whose ids are given, links and flows, and which end of a link it names
/// first, changes nothing: each run is the same to the last event, whatever is drawn in it.
#[test]
fn the_order_of_the_file_changes_nothing() {
    let device = |n: u32| json!({"name": format!("e{n}"), "id": n});
    let link =
        |n: usize, (a, b): (&str, &str)| json!({"a": a, "b": b, "set": {"length": format!("{} m", n + 1)}});
    let pairs = [("s:0", "e0"), ("s:1", "e1"), ("s:2", "e2"), ("s:3", "t:0"), ("t:1", "e3"), ("t:2", "e4")];
    let mut devices: Vec<Value> = (0..5).map(device).collect();
    devices.extend([json!({"name": "s", "ports": 4}), json!({"name": "t", "ports": 3})]);
    let links: Vec<Value> = pairs.into_iter().enumerate().map(|(n, pair)| link(n, pair)).collect();
    let flows = vec![
        json!({"name": "a", "from": ["e0", "e1"], "to": "e3", "arrivals": {"poisson": {"load": 0.5}}}),
        json!({"name": "b", "from": "e2", "to": {"uniform": {}}, "priority": 1,
            "arrivals": {"bernoulli": {"load": 0.4}}}),
        json!({"name": "c", "from": ["e3", "e4"], "arrivals": {"poisson": {"load": 0.3}},
            "to": {"hotspot": {"hot": ["e0", "e1"], "share": 0.3}}}),
        json!({"name": "d", "from": "e4", "to": "e0", "messages": {},
            "arrivals": {"poisson": {"load": 0.1}}}),
    ];
    let run = |[devices, links, flows]: [&[Value]; 3]| {
        let plan = plan(&json!({
            "name": "t", "topology": {"explicit": {"devices": devices, "links": links}},
            "switch": {"arbitration": "random"}, "voq": {"enabled": true, "thresholds": {"on": 8, "off": 4}},
            "traffic": flows, "run": {"until": "100 us", "warmup": "0 ps"}
        }));
        let variant = &plan.variants[0];
        let config = std::sync::Arc::clone(&variant.config);
        let mut simulation = models::Simulation::new(config, models::RunOptions::default(), ());
        let _ = simulation.run(variant.until, u64::MAX);
        let outcome = simulation.finish().1;
        assert!(outcome.delivered > 500, "{}", outcome.delivered);
        (outcome.outcome, outcome.trajectory, outcome.delivered)
    };
    let reversed = |list: &[Value]| list.iter().rev().cloned().collect::<Vec<Value>>();
    let swapped: Vec<Value> =
        links.iter().map(|link| json!({"a": link["b"], "b": link["a"], "set": link["set"]})).collect();
    let law = run([&devices, &links, &flows]);
    assert_eq!(run([&reversed(&devices), &links, &flows]), law, "devices");
    assert_eq!(run([&devices, &reversed(&links), &flows]), law, "links");
    assert_eq!(run([&devices, &swapped, &flows]), law, "ends of links");
    assert_eq!(run([&devices, &links, &reversed(&flows)]), law, "flows");
    let mut hot_first = flows.clone();
    hot_first[2]["to"]["hotspot"]["hot"] = json!(["e1", "e0"]);
    assert_eq!(run([&devices, &links, &hot_first]), law, "names of a set");
}

/// Patterns in which places of a row say who sends to whom: the row is that of ids, whatever devices are
/// called, and whichever the file lists first. By hand for the neighbours and the tornado of five.
#[test]
fn who_sends_to_whom_follows_ids() {
    let names = ["m", "z", "a", "q", "b"];
    let devices: Vec<Value> =
        names.into_iter().zip(0..).map(|(name, id)| json!({"name": name, "id": id})).collect();
    let links: Vec<Value> =
        names.into_iter().zip(0..).map(|(name, port)| json!({"a": format!("s:{port}"), "b": name})).collect();
    let pairs = |devices: &[Value], to: &Value| {
        let mut devices = devices.to_vec();
        devices.push(json!({"name": "s", "ports": 5}));
        let plan = plan(&json!({
            "name": "t", "topology": {"explicit": {"devices": devices, "links": links}},
            "traffic": [{"name": "f", "from": "all", "to": to, "arrivals": {"saturated": {}}}]
        }));
        let config = &plan.variants[0].config;
        let pair = |source: &models::config::SourceConfig| {
            let Destinations::Fixed(to) = source.destinations else { panic!("one destination") };
            let own = config.owners.iter().position(|&device| device == source.endpoint);
            (own.expect("an endpoint") as u32, to)
        };
        let mut pairs: Vec<(u32, u32)> = config.sources.iter().map(pair).collect();
        pairs.sort_unstable();
        pairs
    };
    let reversed: Vec<Value> = devices.iter().rev().cloned().collect();
    let turned: Vec<Value> = [2, 4, 0, 3, 1].into_iter().map(|n: usize| devices[n].clone()).collect();
    let by_hand = |step: u32| Some((0..5).map(|n| (n, (n + step) % 5)).collect::<Vec<_>>());
    let four = json!(["m", "z", "a", "q"]);
    let permutation = |kind: &str| json!({"permutation": {"kind": kind, "among": four}});
    for (to, law) in [
        (json!({"neighbour": {}}), by_hand(1)),
        (json!({"tornado": {}}), by_hand(2)),
        (json!({"permutation": {"kind": "random", "seed": 3}}), None),
        (permutation("bit_complement"), Some(vec![(0, 3), (1, 2), (2, 1), (3, 0)])),
        (permutation("bit_reverse"), Some(vec![(1, 2), (2, 1)])),
        (permutation("transpose"), Some(vec![(1, 2), (2, 1)])),
        (permutation("shuffle"), Some(vec![(1, 2), (2, 1)])),
        (permutation("random"), None),
    ] {
        let as_listed = pairs(&devices, &to);
        assert_eq!(pairs(&reversed, &to), as_listed, "{to}");
        assert_eq!(pairs(&turned, &to), as_listed, "{to}");
        assert_eq!(law.unwrap_or_else(|| as_listed.clone()), as_listed, "{to}");
    }
}

#[test]
fn devices_are_sorted_and_ids_follow_the_file() {
    let value = json!({
        "name": "t",
        "topology": {"explicit": {
            "devices": [
                {"name": "z", "ports": 3}, {"name": "cpu"}, {"name": "b", "id": 0}, {"name": "a"}
            ],
            "links": [{"a": "z:0", "b": "cpu"}, {"a": "b", "b": "z:1"}, {"a": "z:2", "b": "a:0"}]
        }},
        "traffic": [{"name": "f", "from": "cpu", "to": 0, "arrivals": {"saturated": {}}}]
    });
    let variant = plan(&value).variants.remove(0);
    assert_eq!(variant.labels.devices, ["a", "b", "cpu", "z"]);
    assert_eq!(variant.labels.links, ["z:0-cpu", "b-z:1", "z:2-a"]);
    // b asked for 0; cpu and a get the lowest free ids in the order of the file.
    assert_eq!(variant.config.owners, [1, 2, 0]);
    assert_eq!(variant.config.sources[0].stream, "cpu/f/0");
}

#[test]
fn refresh_follows_the_slowest_link() {
    let mut value =
        scenario(json!({"name": "f", "from": "all", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}}));
    value["voq"] = json!({"enabled": true});
    let refresh = |value: &Value| {
        let config = plan(value).variants[0].config.clone();
        config.devices.iter().find_map(|d| match &d.model {
            models::config::DeviceModel::Switch(s) => s.refresh,
            models::config::DeviceModel::Endpoint(_) => None,
        })
    };
    assert_eq!(refresh(&value), Some(Duration(26_214_400)), "16 x 1024 code-groups of 1.6 ns");
    value["links"] = json!({"rate": "3.125 Gbaud"});
    assert_eq!(refresh(&value), Some(Duration(52_428_800)));
    value["voq"]["refresh"] = json!("off");
    assert_eq!(refresh(&value), None);
    value["voq"]["refresh"] = json!("5 us");
    assert_eq!(refresh(&value), Some(Duration(5_000_000)));
}

/// By hand: a shared verdict on buffers of 8 is on 8 packets of each priority that occurs. Of a crosspoint
/// of 2 and an input of 6 buffers three priorities fill 3 * 2 + 5, as one buffer is kept for the fourth.
/// Three inputs of 16 that keep three each from priority 0 hold 39 packets for a port.
#[test]
fn a_detector_that_never_counts_so_many_is_warned_of() {
    let warns = |switch: Value, verdict: &str, priorities: u64, on: u64| {
        let flow = |n: u64| {
            json!({"name": format!("f{n}"), "from": "ep/0", "to": "ep/1", "priority": n,
                                   "arrivals": {"constant": {"load": 0.1}}})
        };
        let mut value = scenario(flow(0));
        value["traffic"] = (0..priorities).map(flow).collect();
        value["switch"] = switch;
        value["voq"] = json!({"enabled": true, "verdict": verdict, "thresholds": {"on": on, "off": 0}});
        plan(&value).warnings.items.iter().any(|item| item.code == "SC072")
    };
    let output = json!({"buffering": "output", "buffer_packets": 8});
    let crosspoint = json!({"buffering": "crosspoint", "buffer_packets": 2, "input_buffers": 6});
    for (switch, verdict, priorities, most) in [
        (&output, "shared", 1, 8),
        (&output, "shared", 2, 16),
        (&crosspoint, "per_ingress", 3, 11),
        (&json!({"input_buffers": 16}), "shared", 1, 39),
    ] {
        let found = [most, most + 1].map(|on| warns(switch.clone(), verdict, priorities, on));
        assert_eq!(found, [false, true], "{switch}, {verdict}, {priorities} priorities: {most}");
    }
}

/// Two switches with FIFO inputs and crosspoints, of which each stops the other's copies whole: all wait
/// for ever in a run. With queues for each output, or a verdict for each input, nobody waits so.
#[test]
fn copies_that_stop_each_other_are_warned_of() {
    let warns = |input: &str, verdict: &str| {
        let value = json!({
            "name": "t",
            "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}},
            "switch": {"input": input, "buffering": "crosspoint", "buffer_packets": 1},
            "voq": {"enabled": true, "staging": "per_port", "verdict": verdict},
            "multicast": [{"name": "m", "members": "all"}],
            "traffic": [{"name": "f", "from": "ep/0", "to": "m", "arrivals": {"saturated": {}}}]
        });
        plan(&value).warnings.items.iter().any(|item| item.code == "SC076")
    };
    assert!(warns("fifo", "shared"));
    assert!(!warns("voq", "shared") && !warns("fifo", "per_ingress"));
}

#[test]
fn suspicious_settings_are_warned_of() {
    let mut value =
        scenario(json!({"name": "f", "from": "all", "to": "ep/1", "arrivals": {"poisson": {"load": 0.7}}}));
    let codes = |value: &Value| plan(value).warnings.items.iter().map(|i| i.code).collect::<Vec<_>>();
    assert!(codes(&value).is_empty());
    let mut more = value.clone();
    more["traffic"]
        .as_array_mut()
        .expect("a list")
        .push(json!({"name": "g", "from": "ep/0", "to": "ep/2", "arrivals": {"poisson": {"load": 0.6}}}));
    assert_eq!(codes(&more), ["SC070"]);
    // Not if one of them begins when the other is over, by its clock or because it has made all that it
    // makes: 1 000 packets of 112 ns each on the link, at a load of 0.6, take 186.7 us.
    let apart = |key: &str, ends: Value, start: &str| {
        let mut apart = more.clone();
        apart["traffic"][0][key] = ends;
        apart["traffic"][0]["arrivals"]["poisson"]["load"] = json!(0.6);
        apart["traffic"][1]["start"] = json!(start);
        codes(&apart)
    };
    assert_eq!(apart("stop", json!("50 us"), "49 us"), ["SC070"]);
    assert!(apart("stop", json!("50 us"), "50 us").is_empty());
    assert_eq!(apart("limit", json!(1_000), "186 us"), ["SC070"]);
    assert!(apart("limit", json!(1_000), "187 us").is_empty());
    let mut tight = value.clone();
    tight["switch"] = json!({"input_buffers": 5});
    assert_eq!(codes(&tight), ["SC071"]);
    let mut deaf = value.clone();
    deaf["voq"] = json!({"enabled": true, "thresholds": {"on": 99, "off": 4}});
    assert_eq!(codes(&deaf), ["SC072"]);
    let mut lost = value.clone();
    lost["routing"] = json!({"tables": {"sw": {"ep/3": "drop"}}});
    assert_eq!(codes(&lost), ["SC073"]);
    value["overrides"] = json!([{"link": "sw:3", "links": {"width": "1x"}}]);
    assert_eq!(codes(&value), ["SC074"]);
}

/// `check` says what it judged and what it did not. Of four links one end each of two has packets that come;
/// the detector of a port that nobody can fill never goes on.
#[test]
fn check_says_what_it_looked_at() {
    let looked = |value: &Value| -> Vec<String> {
        let report = check_report(&plan(value));
        let lines: Vec<&str> = report.lines().map(str::trim).collect();
        let at = lines.iter().position(|line| *line == "looked at:").expect("it is said");
        lines[at + 1..].iter().map(|line| (*line).to_owned()).take_while(|line| !line.is_empty()).collect()
    };
    let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}});
    let mut value = scenario(flow);
    let loads = "the loads of 1 flow on the links of their sources".to_owned();
    let idle = "the receive buffers of 2 ends of links; not at 6 to which nothing comes".to_owned();
    assert_eq!(looked(&value), [idle.clone(), loads.clone()]);
    value["voq"] = json!({"enabled": true});
    let all = "the places above the thresholds of 4 detectors".to_owned();
    assert_eq!(looked(&value), [idle.clone(), all, loads.clone()]);
    value["voq"] = json!({"enabled": true, "thresholds": {"on": 99, "off": 4}});
    let none = "the places above the thresholds of 0 detectors; not at 4 that never go on, or that \
                nobody hears";
    assert_eq!(looked(&value), [idle, none.to_owned(), loads]);
    value["voq"] = json!({});
    value["links"] = json!({"flow_control": "receiver"});
    value["traffic"][0]["arrivals"] = json!({"saturated": {}});
    let blind = "the receive buffers of 0 ends of links; not at 8 whose receivers control the flow";
    let unknown = "the loads of 0 flows on the links of their sources; not at 1 whose load is not known \
                   before the run";
    assert_eq!(looked(&value), [blind, unknown]);
}

/// Places above `on`: T = 113.6 ns, D = T + 3.2 + 100 + 20 + twice (30 + 5 a metre) ns,
/// N_hr = ceil(D / T) + 1.
///
/// Proves: VOQ-2.5-4
#[test]
fn places_above_a_threshold_are_counted() {
    let mut value =
        scenario(json!({"name": "f", "from": "all", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}}));
    value["links"] = json!({"rate": "6.25 Gbaud", "width": "4x", "phy_latency": "30 ns", "length": "2 m"});
    let tell = |value: &Value| {
        let plan = plan(value);
        let lines: Vec<String> = check_report(&plan).lines().map(|line| line.trim().to_owned()).collect();
        let at = lines.iter().position(|line| line == "detectors of congestion:").expect("there are some");
        (lines[at + 1].clone(), plan.warnings.items.iter().map(|i| i.code).collect::<Vec<_>>())
    };
    value["voq"] = json!({"enabled": true});
    // 16 receive buffers, of which 4 (WM0) have to stay free, less 8; D = 316.8.
    let (line, codes) = tell(&value);
    assert!(
        line.contains(" 4 packets (N_hr)")
            && line.contains("takes 4 places above the threshold; there are 4; with 4 more, packets"),
        "{line}"
    );
    assert!(codes.is_empty(), "{codes:?}");
    // All packets have 8 octets, 20 on the wire: T = 11.2, D = 214.4.
    value["traffic"][0]["size"] = json!(8);
    let (line, codes) = tell(&value);
    assert!(line.contains(" 21 packets (N_hr) of 20 octets from each of 3 neighbours"), "{line}");
    assert_eq!(codes, ["SC071", "SC081"]);
    // Behind a packet of 256 octets D = 316.8, in which 29 of 8 octets may be sent.
    value["traffic"][0]["size"] = json!([{"payload": 8, "weight": 1}, {"payload": 256, "weight": 1}]);
    let (line, _) = tell(&value);
    assert!(line.contains(" 30 packets (N_hr) of 20 to 272 octets from each of 3 neighbours"), "{line}");
    value["traffic"][0]["size"] = json!(256);
    // D = 396.8
    value["links"]["length"] = json!("10 m");
    let (line, codes) = tell(&value);
    assert!(
        line.contains(" 5 packets (N_hr)")
            && line.contains("takes 5 places above the threshold; there are 4; with 5 more, packets"),
        "{line}"
    );
    assert_eq!(codes, ["SC081"]);
    // One place more for each of four inputs.
    value["switch"] = json!({"input_buffers": 17});
    let (line, codes) = tell(&value);
    assert!(codes.is_empty() && line.contains("; with 5 more, packets for other ports"), "{line}");
    // What is not counted has no bound: then nothing is promised to packets for other ports.
    value["topology"] = json!({"chain": {"switches": 2, "endpoints_per_switch": 2}});
    value["switch"]["leave_out_stopped"] = json!(true);
    let (line, _) = tell(&value);
    assert!(line.contains("stopped are not counted") && !line.contains("for other ports"), "{line}");
    value["topology"] = json!({"single_switch": {"ports": 4}});
    // In output buffers the packets of all three other neighbours come on top.
    value["switch"] = json!({"buffering": "output", "buffer_packets": 23});
    value["voq"]["verdict"] = json!("shared");
    let (line, codes) = tell(&value);
    assert!(
        line.ends_with("takes 15 places above the threshold; there are 15") && codes.is_empty(),
        "{line} {codes:?}"
    );
    value["switch"]["buffer_packets"] = json!(22);
    assert_eq!(tell(&value).1, ["SC081"]);
    // With a verdict for each ingress port, every one of them may have 8 there.
    value["voq"]["verdict"] = json!("per_ingress");
    let (line, _) = tell(&value);
    assert!(line.ends_with("takes 31 places above the threshold; there are 14"), "{line}");
}

/// Places have to be there for every `on` that a port ever has: 16 receive buffers less WM0 = 4 less `on` are
/// 4 with 8 and 2 with 10, where 4 are needed; and none is reached with more than its 16.
///
/// Proves: VOQ-2.5-4
#[test]
fn thresholds_that_are_written_are_judged_as_well() {
    let told = |writes: Value| {
        let mut value = scenario(
            json!({"name": "f", "from": "all", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}}),
        );
        value["voq"] = json!({"enabled": true, "writes": writes});
        let plan = plan(&value);
        let items = plan.warnings.items.iter().map(|item| (item.code, item.pointer.clone())).collect();
        let report = check_report(&plan);
        let from = report.lines().filter(|line| line.contains(" on XOFF at ")).map(str::trim);
        let lines = from.map(|line| line.split(", for").next().unwrap_or(line).to_owned()).collect();
        (items, lines)
    };
    let (items, lines): (Vec<(&str, String)>, Vec<String>) = told(json!([
        {"at": "10 us", "port": "sw:1", "xoff": false},
        {"at": "20 us", "port": "sw:2", "thresholds": {"on": 10, "off": 4}},
        {"at": "30 us", "port": "sw:*", "thresholds": {"on": 5, "off": 4}},
        {"at": "40 us", "port": "sw:2", "thresholds": {"on": 10, "off": 4}}
    ]));
    assert_eq!(items, [("SC081", "/voq/writes/1/thresholds".to_owned())]);
    let law = [
        "sw:0 and 3 more: from 30 us on XOFF at 5 waiting packets and XON at 4",
        "sw:2: from 20 us on XOFF at 10 waiting packets and XON at 4",
    ];
    assert_eq!(lines, law);
    let (items, lines) = told(json!([{"at": "20 us", "port": "sw:2", "thresholds": {"on": 17, "off": 4}}]));
    assert_eq!(items, [("SC072", "/voq/writes/0/thresholds".to_owned())]);
    assert!(lines.is_empty(), "it is never reached");
}

/// Messages that stop somebody, and when the first does.
#[derive(Default)]
struct Stops(Vec<Time>);

impl Probe for Stops {
    fn staging_edge(&mut self, edge: &StagingEdge) {
        self.0.extend(edge.stopped.then_some(edge.at));
    }
}

/// A switch that may not send messages at first judges its ports all the same if a write lets it later. Then
/// it tells what is true by the thresholds that hold by then: of two that send all they can to a third one is
/// always ahead.
///
/// Proves: VOQ-4.2-1
#[test]
fn a_switch_that_is_enabled_later_has_detectors() {
    let build = |writes: Value| {
        let flow = json!({"name": "f", "from": ["ep/3", "ep/4"], "to": "ep/5",
            "arrivals": {"saturated": {}}});
        let mut value = scenario(flow);
        value["run"] = json!({"until": "50 us"});
        value["topology"] = json!({"chain": {"switches": 2, "endpoints_per_switch": 3}});
        value["overrides"] = json!([{"devices": "sw/1", "switch": {"voq": {"gen_en": false}}}]);
        value["voq"] = json!({"enabled": true, "writes": writes});
        plan(&value).variants[0].config.clone()
    };
    let on = |config: &models::config::FabricConfig| {
        let switches = config.devices.iter().filter_map(|device| match &device.model {
            models::config::DeviceModel::Switch(own) => Some(own.rules(0).detector.map(|own| own.x_on)),
            models::config::DeviceModel::Endpoint(_) => None,
        });
        switches.collect::<Vec<_>>()
    };
    let stops = |config: &std::sync::Arc<models::config::FabricConfig>| {
        let mut stops = Stops::default();
        let mut simulation = Watched::new(config.clone(), RunOptions::default(), &mut stops);
        let _ = simulation.run(Time(50_000_000), u64::MAX);
        simulation.finish();
        stops.0
    };
    let config = build(json!([]));
    assert_eq!((on(&config), stops(&config)), (vec![Some(8), None], Vec::new()));
    let config = build(json!([{"at": "20 us", "port": "sw/1:{0..3}", "gen_en": true,
        "thresholds": {"on": 4, "off": 2}}]));
    assert_eq!(on(&config), [Some(8), Some(8)]);
    let thresholds = |write: &&models::config::VoqWrite| {
        write.change == models::config::VoqChange::Thresholds { x_on: 4, x_off: 2 }
    };
    assert_eq!(config.voq_writes.iter().filter(thresholds).count(), 4);
    assert!(config.voq_writes.chunks(2).all(|pair| thresholds(&&pair[0]) && !thresholds(&&pair[1])));
    let stops = stops(&config);
    // All groups are told with GEN_EN: a symbol takes 3.2 ns and 40 ns to be there.
    let first = Time(20_000_000 + 43_200);
    assert!(stops.len() > 20 && (first..first + Duration(200_000)).contains(&stops[0]), "{stops:?}");
}

/// A flow with a limit of 0 is switched off. That is told unless some variant switches it on.
#[test]
fn flows_that_are_switched_off_are_told() {
    let arrivals = json!({"poisson": {"load": 0.1}});
    let mut value =
        scenario(json!({"name": "f", "from": "ep/0", "to": "ep/1", "limit": 0, "arrivals": arrivals}));
    let told = |value: &Value| -> Vec<(&'static str, String)> {
        let plan = plan(value);
        plan.warnings.items.iter().map(|item| (item.code, item.pointer.clone())).collect()
    };
    assert_eq!(told(&value), [("SC113", "/traffic/0/limit".to_owned())]);
    value["variants"] = json!([{"name": "off"}, {"name": "on", "set": {"/traffic/0/limit": 7}}]);
    assert_eq!(told(&value), []);
    value["variants"][1]["set"] = json!({"/seed": 2});
    assert_eq!(told(&value), [("SC113", "/traffic/0/limit".to_owned())]);
}

/// A trace may be longer than the run: that is told, unless it is cut off on purpose.
#[test]
fn stop_cuts_a_trace_off() {
    let rows = ["5000000,ep/0,ep/1,64,0,5", "2000000000,ep/0,ep/1,64,0,5"];
    let mut value = scenario(json!({"name": "f", "arrivals": {"trace": {"rows": rows}}}));
    let told = plan(&value).warnings.items;
    assert_eq!((told.len(), told[0].code), (1, "SC120"));
    value["traffic"][0]["stop"] = json!("1 ms");
    assert!(plan(&value).warnings.items.is_empty());
}

/// `BLESS=1` writes the file.
#[test]
fn committed_schema_is_fresh() {
    let file = root().join("../docs/scenario.schema.json");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&file, schema()).expect("writable");
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(committed == schema(), "docs/scenario.schema.json is stale: BLESS=1 rewrites it");
}

/// LINX for Linux adds a signed octet of milliseconds to the time between two REQ: -128 to 127 ms, drawn for
/// each node and seed. The standard profile adds nothing.
#[test]
fn requests_of_linx_for_linux_are_spread_by_a_signed_octet() {
    let drawn = |profile: &str, seed: u64| -> Vec<Vec<i64>> {
        let mut value = scenario(json!({"name": "f", "from": "all", "to": {"uniform": {}}, "linx": {}}));
        value["endpoint"] = json!({"linx": {"profile": profile}});
        value["seed"] = json!(seed);
        let agents = &plan(&value).variants[0].config.agents;
        let part = |agent: &models::config::AgentConfig| match &agent.parts[0].protocol {
            models::config::ProtocolConfig::Linx(node) => node.options.jitter.clone(),
            _ => panic!("a node of LINX"),
        };
        agents.iter().map(part).collect()
    };
    let (ms, all) = (1_000_000_000, drawn("linx_for_linux", 1));
    assert_eq!(all.len(), 4);
    let every: Vec<i64> = all.iter().flatten().copied().collect();
    assert!(every.iter().all(|time| time % ms == 0 && (-128..128).contains(&(time / ms))));
    // About 1 000 uniform draws: each eighth of the range has its share of 125, to five standard deviations.
    for eighth in 0..8 {
        let low = -128 + 32 * eighth;
        let count = every.iter().filter(|time| (low..low + 32).contains(&(**time / ms))).count();
        assert!((73..=178).contains(&count), "{low}: {count}");
    }
    assert_ne!(all[0], all[1], "nodes draw for themselves");
    assert_ne!(all, drawn("linx_for_linux", 2), "and so do seeds");
    assert!(drawn("standard", 1).iter().all(Vec::is_empty));
}

/// The CPS-1432 by its vendor: eight quads of lanes, six of which make one port of four lanes or two of at
/// most two, and two of which make one port. Seven links of four lanes and three of one are too many.
#[test]
fn ports_share_the_lanes_of_a_switch() {
    let loads = |wide: u32, narrow: u32, width: &str| {
        let ports = 0..wide + narrow;
        let mut devices = vec![json!({"name": "sw", "ports": 14})];
        devices.extend(ports.clone().map(|port| json!({"name": format!("e{port}")})));
        let link = |port| {
            let width = if port < wide { "4x" } else { width };
            json!({"a": format!("sw:{port}"), "b": format!("e{port}"), "set": {"width": width}})
        };
        let text = json!({"name": "quads", "run": {"until": "1 us"}, "switch": {"device": "CPS-1432"},
            "topology": {"explicit": {"devices": devices, "links": ports.map(link).collect::<Vec<_>>()}},
            "traffic": [{"name": "f", "from": "e0", "to": "e1", "arrivals": {"poisson": {"load": 0.1}}}]});
        scenarios::load(&text.to_string(), "quads.json", &[])
    };
    for (wide, narrow, width, allowed) in [
        (6, 4, "2x", true),
        (6, 4, "1x", true),
        (1, 13, "2x", true),
        (7, 3, "1x", false),
        (7, 3, "2x", false),
    ] {
        let loaded = loads(wide, narrow, width).map(drop).map_err(|errors| errors.render());
        match allowed {
            true => assert_eq!(loaded, Ok(())),
            false => assert!(loaded.unwrap_err().contains("take 34 lanes, but a CPS-1432 has 32")),
        }
    }
}

/// LINK_EN at the ends of each link, as one string for the switch and then one for each endpoint.
fn linked(value: &Value) -> Vec<String> {
    let config = &plan(value).variants[0].config;
    let bit = |linked: bool| if linked { '1' } else { '0' };
    config.devices.iter().map(|d| d.ports.iter().map(|port| bit(port.voq.link_en)).collect()).collect()
}

/// Messages are linked on a link only if both its ends support that: they stage inside the virtual channels
/// of the link, and a switch sends and honours messages. Without being asked for they are linked nowhere.
///
/// Proves: VOQ-3.2-6, VOQ-5.1.2.2-2
#[test]
fn messages_are_linked_where_both_ends_can() {
    let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.3}}});
    let mut value = scenario(flow);
    value["voq"] = json!({"enabled": true});
    value["links"] = json!({"vcs": {"count": 2, "buffers": 8}});
    let devices = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(linked(&value), devices("0 0 0 0 0000"));
    value["voq"]["linked"] = json!(true);
    assert_eq!(linked(&value), devices("1 1 1 1 1111"));
    value["overrides"] = json!([
        {"devices": "ep/0", "endpoint": {"staging": "none"}},
        {"port": "ep/1", "voq": {"rx_sup": false}},
        {"port": "sw:2", "voq": {"link_sup": false}},
    ]);
    assert_eq!(linked(&value), devices("0 0 0 1 0001"));
    value["overrides"] = json!([{"link": "sw:3", "links": {"vcs": {"count": 0}}}]);
    assert_eq!(linked(&value), devices("1 1 1 0 1110"));
    value["overrides"] = json!([{"port": "sw:3", "voq": {"gen_sup": false}}]);
    assert_eq!(linked(&value), devices("1 1 1 0 1110"));
}

/// Two switches with pools may wait for each other's: packets of one direction fill what those of the other
/// wait for. One alone, or any number with a buffer for each output, cannot.
#[test]
fn pools_that_outputs_share_may_deadlock() {
    let verdict = |switches: usize, buffering: &str| {
        let text = json!({
            "name": "pools",
            "topology": {"chain": {"switches": switches, "endpoints_per_switch": 2}},
            "switch": {"buffering": buffering, "buffer_packets": 2},
            "run": {"until": "1 us"},
            "traffic": [{
                "name": "f", "from": "all", "to": {"uniform": {}}, "arrivals": {"poisson": {"load": 0.1}}
            }]
        })
        .to_string();
        let report = crate::transfer::report(&text);
        report.lines().find(|line| line.contains("deadlock")).expect("a word on deadlocks").trim().to_owned()
    };
    assert!(verdict(2, "shared").starts_with("routes alone cannot deadlock, pools that outputs share may"));
    assert!(verdict(2, "output").starts_with("no deadlock is possible"));
}

/// What comes when the run is over is a mistake of the file; where somebody cuts its run short it is not, but
/// is told. 600 us of trace, a stop, a phase, samples, a watchdog and an outage that comes three times, run
/// for 500 us.
#[test]
fn who_cuts_a_run_short_is_told_what_comes_later() {
    let text = |until: &str| {
        let rows = ["0,ep/0,ep/1,64,0,5", "600000000,ep/0,ep/1,64,0,5"];
        let outage = json!({"link": "ep/3", "at": "100 us", "for": "10 us", "every": "300 us", "times": 3});
        let run = json!({
            "until": until, "warmup": "0 ns", "sample_every": "700 us", "stall_after": "800 us"
        });
        json!({
            "name": "cut",
            "topology": {"single_switch": {"ports": 4}},
            "run": run,
            "faults": {"outages": [outage]},
            "traffic": [
                {"name": "trace", "arrivals": {"trace": {"rows": rows}}},
                {"name": "stops", "from": "ep/1", "to": "ep/2", "size": 64, "stop": "900 us",
                 "arrivals": {"poisson": {"load": 0.1}}},
                {"name": "late", "from": "ep/2", "to": "ep/0", "size": 64,
                 "arrivals": {"constant": {"interval": "650 us", "phase": "640 us"}}}
            ]
        })
        .to_string()
    };
    let places = [
        "/faults/outages/0/times",
        "/run/sample_every",
        "/run/stall_after",
        "/traffic/0/arrivals/trace",
        "/traffic/1/stop",
        "/traffic/2/arrivals/constant/phase",
    ];
    let of = |found: &Diagnostics| {
        let mut places: Vec<String> = found.items.iter().map(|item| item.pointer.clone()).collect();
        places.sort();
        places
    };
    assert!(load(&text("1 ms"), "cut.json", &[]).expect("all of it comes").warnings.items.is_empty());
    assert_eq!(of(&load(&text("500 us"), "cut.json", &[]).expect_err("it comes too late")), places);
    let cut = load(&text("1 ms"), "cut.json", &[("/run/until".to_owned(), "500 us".into())]);
    assert_eq!(of(&cut.expect("it is cut short").warnings), places);
}

/// What is given beside the file counts in variants that do not set the same place themselves: where there is
/// none it is refused, and where there are some the others are told. It was lost in silence.
#[test]
fn values_that_variants_replace_are_told() {
    let value = json!({
        "name": "t",
        "topology": {"single_switch": {"ports": 3}},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.1}}}],
        "variants": [
            {"name": "a", "set": {"/traffic/0/size": 64, "/seed": 2}},
            {"name": "b", "set": {"/traffic/f": {"name": "f", "from": "ep/0", "to": "ep/2", "size": 64,
                "arrivals": {"poisson": {"load": 0.1}}}}}
        ]
    });
    let told = |given: &[(&str, Value)]| {
        let given: Vec<_> = given.iter().map(|(at, new)| ((*at).to_owned(), new.clone())).collect();
        match scenarios::load(&value.to_string(), "t.json", &given) {
            Ok(plan) => plan.warnings.items,
            Err(found) => found.items,
        }
        .into_iter()
        .map(|item| (item.code, item.pointer, item.message))
        .collect::<Vec<_>>()
    };
    let refused = |new: &str| format!("{new} has no effect: each variant sets a value of its own here");
    let size = "/traffic/0/size".to_owned();
    assert_eq!(told(&[("/traffic/f/size", json!(8))]), [("SC051", size.clone(), refused("8"))]);
    assert_eq!(told(&[("/traffic/f/size", json!(64))]), []);
    let [(code, at, message)] = told(&[("/seed", json!(7))]).try_into().expect("one");
    assert_eq!((code, at.as_str()), ("SC051", "/seed"));
    assert_eq!(message, "7 has no effect in variants that set a value of their own: a");
    assert_eq!(told(&[("/run/until", json!("20 us"))]), []);
}

/// What a variant sets without effect in its own run is told at its place, also where another variant shares
/// the setting and uses it; nothing is told of what is said to be off, nor twice of what has no effect in any
/// run.
#[test]
fn a_variant_is_told_of_what_has_no_effect_in_it() {
    let thresholds = json!({"on": 4, "off": 2});
    let told = |variants: Value| -> Vec<(&'static str, String)> {
        let value = json!({
            "name": "variants",
            "topology": {"single_switch": {"ports": 4}},
            "run": {"until": "1 ms"},
            "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.2}}}],
            "variants": variants,
        });
        plan(&value).warnings.items.iter().map(|item| (item.code, item.pointer.clone())).collect()
    };
    let on = json!({"name": "on", "set": {"/voq/enabled": true, "/voq/thresholds": thresholds}});
    let bare = json!({"name": "bare", "set": {"/voq/thresholds": thresholds}});
    let off = json!({"name": "off", "set": {"/voq/enabled": false, "/voq/thresholds": thresholds}});
    let host = json!({"name": "host", "set": {"/endpoint/host/rx_queue": 3}});
    assert_eq!(told(json!([on, off])), []);
    assert_eq!(told(json!([on, bare])), [("SC051", "/variants/1/set/~1voq~1thresholds".to_owned())]);
    assert_eq!(told(json!([on, host])), [("SC051", "/variants/1/set/~1endpoint~1host~1rx_queue".to_owned())]);
}
