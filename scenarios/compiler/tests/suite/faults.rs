//! Faults of links that overlap, and of nodes.

use super::linx;
use models::config::{Fault, FaultAction};
use models::probe::{Delivery, Probe};
use models::{Outcome, RunOptions, Simulation, Watched};
use scenarios::load;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const US: u64 = 1_000_000;

fn system(faults: &Value) -> Value {
    json!({
        "name": "test", "topology": {"single_switch": {"ports": 2}},
        "run": {"until": "100 us", "warmup": "0 ps", "stall_after": "off"},
        "traffic": [{"name": "p", "from": "ep/0", "to": "ep/1", "limit": 60, "size": 64,
                     "arrivals": {"constant": {"interval": "1 us", "phase": "0 ps"}}}],
        "faults": faults
    })
}

/// When which link goes down (true) and comes back, of ep/1.
fn steps(faults: &Value) -> Vec<(u64, bool)> {
    let plan =
        load(&system(faults).to_string(), "test.json", &[]).unwrap_or_else(|e| panic!("{}", e.render()));
    let config = &plan.variants[0].config;
    let step = |fault: &Fault| match fault.action {
        FaultAction::Down => Some((fault.at.0 / US, true)),
        FaultAction::Up => Some((fault.at.0 / US, false)),
        _ => None,
    };
    config.faults.iter().filter_map(step).collect()
}

/// Deliveries, ps.
#[derive(Default)]
struct Log(Vec<u64>);

impl Probe for Log {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0.push(delivery.at.0);
    }
}

fn run(faults: &Value) -> (Vec<u64>, Outcome) {
    let plan =
        load(&system(faults).to_string(), "test.json", &[]).unwrap_or_else(|e| panic!("{}", e.render()));
    let variant = &plan.variants[0];
    let mut log = Log::default();
    let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut log);
    simulation.run(variant.until, u64::MAX);
    let outcome = simulation.finish();
    (log.0, outcome)
}

/// Observers see each transmission once, also that of a packet that was committed in packet granularity and
/// starts when its link has symbols, because a bit error strikes: as many as links count, with those that are
/// sent again.
#[test]
fn a_transmission_is_seen_once() {
    let mut repeated = 0;
    let ends = [["A", "up:0"], ["B", "up:1"], ["up:2", "dn:0"], ["C", "dn:1"], ["D", "dn:2"], ["F", "up:3"]];
    let links: Vec<Value> = ends.iter().map(|[a, b]| json!({"a": a, "b": b})).collect();
    let mut devices: Vec<Value> =
        ["A", "B", "C", "D", "F"].iter().map(|name| json!({ "name": name })).collect();
    devices.extend([json!({"name": "up", "ports": 4}), json!({"name": "dn", "ports": 3})]);
    for seed in 0..12 {
        let value = json!({
            "name": "test", "seed": seed, "run": {"until": "400 us", "warmup": "0 ps"},
            "topology": {"explicit": {"devices": devices, "links": links}},
            "voq": {"enabled": true, "thresholds": {"on": 3, "off": 1}, "verdict": "per_ingress"},
            "endpoint": {"host": {"protocol_clock": 1, "rx_service": {"exponential": "300 ns"}}},
            "traffic": [
                {"name": "p", "from": "A", "to": "F", "arrivals": {"saturated": {}}},
                {"name": "q", "from": "C", "to": "F", "size": 1000, "echo": {},
                 "arrivals": {"constant": {"interval": "1 us"}}}
            ],
            "faults": {"bit_errors": [{"link": "*", "rate": 1e-5}]}
        });
        let plan = load(&value.to_string(), "test.json", &[]).unwrap_or_else(|e| panic!("{}", e.render()));
        let variant = &plan.variants[0];
        let options = RunOptions { wire_check: true, ..RunOptions::default() };
        let mut log = Log::default();
        let mut simulation = Watched::new(variant.config.clone(), options, &mut log);
        simulation.run(variant.until, u64::MAX);
        let outcome = simulation.finish();
        let sums = outcome.links.iter().map(|(.., stats)| [stats.packets, stats.repeated]);
        let [first, again] = sums.fold([0, 0], |sum, own| [sum[0] + own[0], sum[1] + own[1]]);
        assert_eq!(outcome.wire_checked.packets, first + again, "seed {seed}");
        repeated += again;
    }
    assert!(repeated > 100, "{repeated}");
}

/// A link is down while anything keeps it down: the union of all faults, and for good if one of them is.
#[test]
fn a_link_comes_back_when_the_last_fault_is_over() {
    let outages = |spans: &[(u64, u64)]| -> Value {
        let one = |&(at, lasts): &(u64, u64)| match lasts {
            0 => json!({"link": "ep/1", "at": format!("{at} us")}),
            _ => json!({"link": "ep/1", "at": format!("{at} us"), "for": format!("{lasts} us")}),
        };
        json!({"outages": spans.iter().map(one).collect::<Vec<_>>()})
    };
    for (spans, expected) in [
        (&[(10, 20), (15, 2)][..], &[(10, true), (30, false)][..]),
        (&[(15, 20), (10, 20)], &[(10, true), (35, false)]),
        (&[(10, 5), (15, 5)], &[(10, true), (20, false)]),
        (&[(10, 5), (16, 5)], &[(10, true), (15, false), (16, true), (21, false)]),
        (&[(10, 0), (20, 1)], &[(10, true)]),
        (&[(10, 15), (20, 0)], &[(10, true)]),
    ] {
        assert_eq!(steps(&outages(spans)), expected, "{spans:?}");
    }
    // The device dies while its link loses lanes, or before an outage of it ends.
    let death = json!([{"device": "ep/1", "at": "20 us"}]);
    let lanes = json!([{"link": "ep/1", "at": "18 us", "retrain": "5 us"}]);
    assert_eq!(steps(&json!({"dead_devices": death, "lane_losses": lanes})), [(18, true)]);
    let outage = json!([{"link": "ep/1", "at": "40 us", "for": "1 us"}]);
    assert_eq!(steps(&json!({"dead_devices": death, "outages": outage})), [(20, true)]);
    // Nothing comes of a dead device any more: packets 0 to 19 were there before.
    let (deliveries, outcome) = run(&json!({"dead_devices": death, "outages": outage}));
    assert!(deliveries.iter().all(|&at| at < 21 * US), "{deliveries:?}");
    assert_eq!((outcome.delivered, outcome.in_flight), (20, 40));
}

/// A fault that changes nothing, because others last all the time that it does, is told.
#[test]
fn a_fault_while_others_last_is_told() {
    let told = |faults: Value| -> Vec<String> {
        let text = system(&faults).to_string();
        let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let found = plan.warnings.items.iter().filter(|item| item.code == "SC114");
        found.map(|item| item.pointer.clone()).collect()
    };
    let outage = |link: &str, at: u64| json!({"link": link, "at": format!("{at} us"), "for": "5 us"});
    let lanes = |link: &str, at: u64| json!([{"link": link, "at": format!("{at} us"), "retrain": "1 us"}]);
    let death = json!([{"device": "ep/1", "at": "20 us"}]);
    for (faults, expected) in [
        (json!({"outages": [outage("ep/1", 10), outage("ep/1", 12)]}), &[][..]),
        (json!({"outages": [outage("ep/1", 10), outage("sw:1", 10)]}), &["/faults/outages/1"]),
        (json!({"dead_devices": death, "outages": [outage("ep/1", 30)]}), &["/faults/outages/0"]),
        // It begins before.
        (json!({"dead_devices": death, "outages": [outage("ep/1", 18)]}), &[]),
        // One link of two is down already.
        (json!({"dead_devices": death, "outages": [outage("sw:*", 30)]}), &[]),
        (
            json!({"dead_devices": [{"device": "sw", "at": "30 us"}, {"device": "ep/1", "at": "31 us"}]}),
            &["/faults/dead_devices/1"],
        ),
        (
            json!({"silent_credits": [
                {"device": "ep/1", "port": 0, "at": "15 us", "for": "2 us"},
                {"device": "ep/1", "port": 0, "at": "10 us"},
                {"device": "sw", "port": 1, "at": "15 us", "for": "2 us"}
            ]}),
            &["/faults/silent_credits/0"],
        ),
        // Lanes are lost, whatever else is wrong, unless the link never comes back.
        (json!({"dead_devices": death, "lane_losses": lanes("ep/1", 20)}), &["/faults/lane_losses/0"]),
        (json!({"dead_devices": death, "lane_losses": lanes("ep/1", 19)}), &[]),
        (json!({"dead_devices": death, "lane_losses": lanes("sw:*", 25)}), &[]),
        (json!({"outages": [outage("ep/1", 20)], "lane_losses": lanes("ep/1", 22)}), &[]),
        (
            json!({"outages": [{"link": "ep/1", "at": "20 us"}], "lane_losses": lanes("ep/1", 22)}),
            &["/faults/lane_losses/0"],
        ),
    ] {
        assert_eq!(told(faults.clone()), expected, "{faults}");
    }
}

/// Likewise ports that tell no free buffers: the silence ends when the last one does.
#[test]
fn a_port_is_silent_until_the_last_silence_is_over() {
    let silence = |at: u64, lasts: Option<u64>| {
        let mut silence = json!({"device": "ep/1", "port": 0, "at": format!("{at} us")});
        if let Some(lasts) = lasts {
            silence["for"] = format!("{lasts} us").into();
        }
        silence
    };
    let steps = |all: &[Value]| -> Vec<(u64, bool)> {
        let text = system(&json!({"silent_credits": all})).to_string();
        let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let step = |fault: &Fault| match fault.action {
            FaultAction::Credits(_, told) => (fault.at.0 / US, told),
            _ => unreachable!("{fault:?}"),
        };
        plan.variants[0].config.faults.iter().map(step).collect()
    };
    assert_eq!(steps(&[silence(10, Some(30)), silence(15, Some(2))]), [(10, false), (40, true)]);
    assert_eq!(steps(&[silence(10, None), silence(15, Some(2))]), [(10, false)]);
}

/// A node that crashed is there again when all its crashes are over; connections are counted from then on.
#[test]
fn a_crash_inside_a_crash_changes_no_time() {
    let us = |time: u64| format!("{time} us");
    let crash =
        |at: u64, lasts: u64| json!({"kind": "crash", "node": "ep/1", "at": us(at), "for": us(lasts)});
    let times = |faults: Value| {
        let flow = json!({"name": "l", "from": "ep/0", "to": "ep/1", "size": 300, "limit": 1,
            "arrivals": {"constant": {"interval": "20 us", "phase": "0 us"}}, "linx": {"faults": faults}});
        let totals = linx::run(&linx::system("100 us", json!({}), json!([flow])));
        let stats = &totals[0].stats;
        assert_eq!(stats.reestablished.count, 2, "{stats:?}");
        (stats.reestablished.max, stats.detected.max)
    };
    let alone = times(json!([crash(20, 20)]));
    assert!(alone.0 < 15 * US, "{alone:?}");
    assert_eq!(times(json!([crash(20, 20), crash(24, 4)])), alone);
    assert_eq!(times(json!([crash(24, 4), crash(20, 20)])), alone);
}

/// Packets of ep/0 that arrive from an instant on.
#[derive(Default)]
struct Late(u64);

impl Probe for Late {
    fn delivered(&mut self, delivery: &Delivery) {
        self.0 += u64::from(delivery.source == 0 && delivery.at.0 >= 80 * US);
    }
}

/// Four sources fill one output, so that the inputs of the switch have few buffers left when the link of ep/0
/// goes down. They drain while it is down, and nothing tells of that but the initialisation: afterwards ep/0
/// has its quarter of the link again, 40 us / (4 x 112 ns) = 89 packets, one more or less at each end,
/// whatever the instant within the cycle of the four at which the link went down, and also where the port
/// told that nothing was free up to then.
#[test]
fn a_link_that_comes_back_tells_what_was_freed_meanwhile() {
    for phase in (0..448).step_by(16) {
        for silent in [false, true] {
            let mut faults = json!({"outages": [
                {"link": "ep/0", "at": format!("{} ns", 20_000 + phase), "for": "20 us"}
            ]});
            if silent {
                let lasts = format!("{} ns", 20_000 + phase);
                faults["silent_credits"] = json!([{"device": "sw", "port": 0, "at": "10 us", "for": lasts}]);
            }
            let hot =
                json!({"name": "hot", "from": "ep/{0..3}", "to": "ep/4", "arrivals": {"saturated": {}}});
            let scenario = json!({
                "name": "test",
                "topology": {"single_switch": {"ports": 5}},
                "run": {"until": "120 us", "warmup": "0 ps"},
                "traffic": [hot],
                "faults": faults
            });
            let (late, _): (Late, Outcome) = crate::watched::watched(&scenario);
            assert!((88..=91).contains(&late.0), "{phase} {silent}: {}", late.0);
        }
    }
}

/// Arrivals by flow: how many, and the last.
#[derive(Default)]
struct ByFlow([(u32, u64); 2]);

impl Probe for ByFlow {
    fn delivered(&mut self, delivery: &Delivery) {
        let (count, last) = &mut self.0[usize::from(delivery.flow)];
        (*count, *last) = (*count + 1, delivery.at.0);
    }
}

/// An output idles because its input is read for another one when its link goes down, and the input can be
/// read again before the link is back. What waits for it starts then all the same, as a packet does that
/// comes while the link is down: after outages of one end the last packet is there at one time, whenever they
/// began.
#[test]
fn an_outage_does_not_make_an_output_forget_its_input() {
    let arrived = |at: u64, lasts: u64, granularity: &str| {
        let link = |a: &str, b: &str, width: &str| json!({"a": a, "b": b, "set": {"width": width}});
        let flow = |name: &str, to: &str, size: u64, priority: u64, limit: u64| {
            json!({"name": name, "from": "a", "to": to, "size": size, "priority": priority, "limit": limit,
                   "arrivals": {"saturated": {}}})
        };
        let text = json!({
            "name": "test",
            "topology": {"explicit": {
                "devices": [{"name": "s", "ports": 3}, {"name": "a"}, {"name": "b"}, {"name": "c"}],
                "links": [link("a", "s:0", "4x"), link("b", "s:1", "1x"), link("c", "s:2", "1x")]
            }},
            "links": {"granularity": granularity},
            "run": {"until": "1 ms", "warmup": "0 ps", "stall_after": "off"},
            "traffic": [flow("big", "c", 256, 2, 2), flow("x", "b", 8, 0, 1)],
            "faults": {"outages": [{"link": "s:1", "at": format!("{at} ns"), "for": format!("{lasts} ns")}]}
        });
        let plan = load(&text.to_string(), "test.json", &[]).unwrap_or_else(|e| panic!("{}", e.render()));
        let variant = &plan.variants[0];
        let mut arrived = ByFlow::default();
        let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut arrived);
        simulation.run(variant.until, u64::MAX);
        simulation.finish();
        let [(big, _), (x, last)] = arrived.0;
        assert_eq!((big, x), (2, 1), "an outage of {lasts} ns at {at} ns, {granularity}");
        last
    };
    for granularity in ["packet", "symbol"] {
        // The packet comes while the link is down, and finds nobody in front of it.
        let back = 20_000;
        let there = arrived(100, back - 100, granularity);
        for at in (150..1_100).step_by(50) {
            assert_eq!(arrived(at, back - at, granularity), there, "at {at} ns, {granularity}");
            for lasts in [300, 1_000, 2_000] {
                arrived(at, lasts, granularity);
            }
        }
    }
}

/// A packet that an outage cut off is passed by those of a higher priority that came meanwhile. Once they
/// have filled the buffers, it cannot be sent again for want of a buffer, whatever strikes the link besides:
/// its source stands behind it, and what they wait for is named. With eight buffers and watermarks of 4, 3
/// and 2 the sink that tells of none leaves two free, so a packet of priority 2 or more gets through.
///
/// It was called "at work", and later errors were blamed.
#[test]
fn a_packet_that_cannot_be_sent_again_waits_for_a_buffer() {
    for (strikes, priority, sent) in [
        (false, 0, 10),
        (true, 0, 10),
        (false, 1, 10),
        (true, 1, 10),
        (false, 0, 9),
        (true, 1, 9),
        (false, 3, 9),
    ] {
        let mut outages = vec![json!({"link": "ep/0:0", "at": "60 ns", "for": "5 us"})];
        if strikes {
            outages
                .push(json!({"link": "ep/0:0", "at": "50 us", "for": "1 us", "every": "90 us", "times": 20}));
        }
        let interval = |time: &str| json!({"constant": {"interval": time, "phase": "0 ps"}});
        let scenario = json!({
            "name": "test", "topology": {"single_switch": {"ports": 3}},
            "links": {"granularity": "symbol"}, "switch": {"input_buffers": 8},
            "traffic": [
                {"name": "cut", "from": "ep/0", "to": "ep/2", "priority": priority, "limit": 1,
                 "arrivals": interval("10 us")},
                {"name": "stuck", "from": "ep/0", "to": "ep/1", "priority": 2, "limit": sent, "start": "1 us",
                 "arrivals": interval("200 ns")}
            ],
            "faults": {"outages": outages, "silent_credits": [{"device": "ep/1", "port": 0, "at": "0 ps"}]},
            "run": {"until": "3 ms", "warmup": "0 ps", "sample_every": "off"}
        });
        let plan = load(&scenario.to_string(), "test.json", &[]).unwrap_or_else(|e| panic!("{}", e.render()));
        let variant = &plan.variants[0];
        let mut simulation = Simulation::new(variant.config.clone(), RunOptions::default(), ());
        simulation.run(variant.until, u64::MAX);
        let outcome = simulation.finish().1;
        // Two are with the sink, and seven fill the switch.
        let first = match (priority, sent) {
            (3, _) => None,
            (_, 9) => Some(("cut:1 to id 2", priority)),
            _ => Some(("stuck:10 to id 1", 2)),
        };
        let last =
            "packet ep/0:stuck:3 to id 1 waits in sw for port 1: ep/1 advertises no free buffer, though no \
                    packet holds one"
                .to_owned();
        let first = first.map(|(packet, priority)| {
            format!(
                "packet ep/0:{packet} waits in ep/0 for port 0: sw has no free buffer for priority {priority}"
            )
        });
        let both = first.map(|first| vec![first, last.clone()]);
        let law: BTreeSet<Vec<String>> = both.into_iter().chain([vec![last]]).collect();
        let found: BTreeSet<Vec<String>> = outcome.stalls.into_iter().map(|stall| stall.walk).collect();
        assert_eq!(found, law, "{priority}, {sent} sent, outages later: {strikes}");
    }
}

/// In a chain of two switches of two endpoints each there is nothing that waits for itself, and what is sent
/// arrives: nothing stalls, however long somebody waits behind others.
///
/// A packet that its neighbour had, and whose record was another one's by then, was taken for one that holds
/// others up, and closed a circle; who is refused while the neighbour sends on what it holds, and is refused
/// in turn, was said to lack a buffer that no packet has; and a message that a port is clear again was said
/// to be lost while it was on a cable of 5 us.
#[test]
fn who_only_waits_long_does_not_stand_still() {
    let chain = |seed: u64, until: &str, links: Value, buffers: u8, traffic: Value| {
        json!({
            "name": "test", "seed": seed, "links": links, "switch": {"input_buffers": buffers},
            "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}}, "traffic": traffic,
            "run": {"until": until, "warmup": "0 ps", "sample_every": "off", "on_stall": "report"}
        })
    };
    let heavy = json!({"poisson": {"load": 0.9}});
    let behind = json!([
        {"name": "lo", "from": "ep/0", "to": "ep/3", "arrivals": heavy, "stop": "1 ms"},
        {"name": "hi", "from": "ep/2", "to": "ep/3", "priority": 2, "arrivals": {"saturated": {"backlog": 4}},
         "stop": "1 ms"}
    ]);
    let refused =
        json!([{"name": "a", "from": ["ep/2", "ep/3"], "to": "ep/0", "arrivals": heavy, "stop": "400 us"}]);
    let stopped = json!([
        {"name": "f0", "from": ["ep/2", "ep/0"], "to": "ep/3", "arrivals": heavy, "stop": "53 us"},
        {"name": "f1", "from": ["ep/1", "ep/2", "ep/3"], "to": "g", "arrivals": heavy, "stop": "78 us"}
    ]);
    let symbols = json!({"granularity": "symbol", "length": "2 m"});
    let mut scenarios: Vec<Value> =
        (1..=3).map(|seed| chain(seed, "9 ms", symbols.clone(), 5, behind.clone())).collect();
    scenarios.push(chain(1, "3 ms", json!({"flow_control": "receiver"}), 4, refused));
    let mut far = chain(248, "20 ms", json!({"length": "1 km"}), 8, stopped);
    far["endpoint"] = json!({"input_buffers": 5});
    far["multicast"] = json!([{"name": "g", "members": ["ep/3", "ep/2"]}]);
    far["voq"] = json!({"enabled": true, "thresholds": {"on": 3, "off": 0}, "verdict": "shared",
                        "generation_delay": "2 us"});
    scenarios.push(far);
    for scenario in scenarios {
        let plan = load(&scenario.to_string(), "test.json", &[]).unwrap_or_else(|e| panic!("{}", e.render()));
        let variant = &plan.variants[0];
        let mut simulation = Simulation::new(variant.config.clone(), RunOptions::default(), ());
        simulation.run(variant.until, u64::MAX);
        let outcome = simulation.finish().1;
        let stalls: Vec<Vec<String>> = outcome.stalls.into_iter().map(|stall| stall.walk).collect();
        let left: u64 = outcome.left.iter().map(|left| left.packets).sum();
        assert_eq!((stalls, left), (vec![], 0), "{scenario}");
    }
}
