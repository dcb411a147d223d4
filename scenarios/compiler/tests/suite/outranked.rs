//! Flows behind others of a higher priority that always have something to send.

use models::probe::{Delivery, Probe};
use models::sim_core::{Purpose, Stream, Time};
use models::{RunOptions, Watched};
use scenarios::{RunPlan, load};
use serde_json::{Value, json};
use std::sync::Arc;

/// Packets that arrived, by flow: in the whole run, and in its second half.
#[derive(Default)]
struct Arrived([[u32; 2]; 8]);

const END: u64 = 60_000_000;

impl Probe for Arrived {
    fn delivered(&mut self, delivery: &Delivery) {
        let [all, later] = &mut self.0[usize::from(delivery.flow)];
        *all += 1;
        *later += u32::from(delivery.at.0 > END / 2);
    }
}

fn plan(value: &Value) -> RunPlan {
    load(&value.to_string(), "t.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()))
}

/// The flows, by number, that are told to get nowhere, and what arrives of each.
fn told(value: &Value) -> (Vec<usize>, Arrived) {
    let plan = plan(value);
    let warned = plan.warnings.items.iter().filter(|item| item.code == "SC125");
    let warned = warned.map(|item| item.pointer.rsplit('/').next().unwrap().parse().unwrap());
    let mut arrived = Arrived::default();
    let config = Arc::clone(&plan.variants[0].config);
    let mut simulation = Watched::new(config, RunOptions::default(), &mut arrived);
    simulation.run(Time(END), u64::MAX);
    simulation.finish();
    (warned.collect(), arrived)
}

fn system(switch: &Value, traffic: &[Value]) -> Value {
    json!({
        "name": "t", "topology": {"single_switch": {"ports": 5}}, "switch": switch, "traffic": traffic,
        "run": {"until": "60 us", "warmup": "0 ps", "sample_every": "off"}
    })
}

fn flow(name: &str, [from, to]: [&str; 2], priority: u64, arrivals: &Value) -> Value {
    json!({"name": name, "from": from, "to": to, "priority": priority, "arrivals": arrivals})
}

/// By hand. Beside a saturated flow of a higher priority at the same endpoint nothing leaves, wherever it
/// goes; from another endpoint nothing passes the output that such a flow has for itself. An equal priority,
/// an end, a load, a second destination of the ruler, or a way of one's own, and packets arrive.
#[test]
fn who_stands_behind_a_saturated_flow_is_told() {
    let (full, some) = (json!({"saturated": {}}), json!({"poisson": {"load": 0.2}}));
    let ends = json!({"saturated": {}});
    let with = |mut flow: Value, key: &str, value: Value| {
        flow[key] = value;
        flow
    };
    let [own, other] = [["ep/0", "ep/1"], ["ep/2", "ep/1"]];
    let ruler = |priority| flow("ruler", own, priority, &full);
    let low = |ends: [&str; 2]| flow("low", ends, 1, &some);
    let cycle = json!({"cycle": ["ep/1", "ep/3"]});
    let cases = [
        (vec![ruler(2), low(["ep/0", "ep/3"])], true),
        (vec![ruler(2), low(other)], true),
        (vec![ruler(1), low(other)], false),
        (vec![ruler(1), low(["ep/0", "ep/3"])], false),
        (vec![flow("ruler", own, 2, &json!({"poisson": {"load": 0.7}})), low(other)], false),
        (vec![with(ruler(2), "limit", json!(50)), low(other)], false),
        (vec![with(flow("ruler", own, 2, &ends), "stop", json!("20 us")), low(own)], false),
        (vec![with(ruler(2), "start", json!("20 us")), low(other)], false),
        (vec![with(ruler(2), "to", cycle), low(other)], false),
        (vec![ruler(2), flow("third", ["ep/0", "ep/3"], 2, &some), low(other)], false),
        (vec![ruler(2), low(["ep/2", "ep/3"])], false),
        // One source behind it at its endpoint, the other one at the output.
        (vec![ruler(2), with(low(own), "from", json!(["ep/0", "ep/2"]))], true),
        // Acknowledgements of what comes to the ruler's endpoint leave gaps.
        (vec![ruler(2), with(flow("in", ["ep/3", "ep/0"], 0, &full), "size", json!(64)), low(other)], false),
    ];
    for (traffic, nowhere) in cases {
        let last = traffic.len() - 1;
        let (warned, arrived) = told(&system(&json!({}), &traffic));
        assert_eq!(warned, if nowhere { vec![last] } else { vec![] }, "{traffic:?}");
        // What is under way before the ruler comes may arrive.
        let [all, later] = arrived.0[last];
        assert_eq!(later == 0 && all < 20, nowhere, "{traffic:?}: {:?}", arrived.0);
    }
    // Backpressure stops the ruler, so that others get on.
    let mut voq = system(&json!({}), &[ruler(2), low(other), flow("more", ["ep/3", "ep/1"], 2, &full)]);
    voq["voq"] = json!({"enabled": true});
    assert!(told(&voq).0.is_empty());
    // So do errors.
    let mut errors = system(&json!({}), &[ruler(2), low(other)]);
    errors["faults"] = json!({"bit_errors": [{"link": "ep/0:0", "rate": 1e-6}]});
    assert!(told(&errors).0.is_empty());
}

/// Of drawn flows nothing arrives in the second half of the run where that was said, whatever the switch
/// does.
#[test]
fn of_whom_it_is_told_nothing_arrives() {
    let (mut nowhere, mut gets_on) = (0, 0);
    for seed in 0..300 {
        let mut stream = Stream::new(seed, "outranked", Purpose::ARBITRATION);
        let mut draw = |below: usize| stream.below(below as u64) as usize;
        let buffering = ["direct", "crosspoint", "output", "shared"][draw(4)];
        let input = ["voq", "fifo"][draw(2)];
        let arbitration = ["round_robin", "oldest_first", "longest_queue_first", "random"][draw(4)];
        let forwarding = ["cut_through", "store_and_forward"][draw(2)];
        let mut switch = json!({
            "input": input, "buffering": buffering, "arbitration": arbitration, "forwarding": forwarding,
            "input_buffers": 8 + draw(20)
        });
        match buffering {
            "direct" => switch["reads_per_input"] = json!(1 + draw(3)),
            "crosspoint" => switch["buffer_packets"] = json!(1 + draw(4)),
            _ => switch["buffer_packets"] = json!(20 + draw(40)),
        }
        if buffering != "direct" {
            switch["input"] = json!("voq");
        }
        let count = 2 + draw(4);
        let traffic: Vec<Value> = (0..count)
            .map(|n| {
                let arrivals = match draw(3) {
                    0 => json!({"poisson": {"load": 0.3}}),
                    _ => json!({"saturated": {}}),
                };
                let from = draw(5);
                let to = (from + 1 + draw(2)) % 5;
                let ends = [format!("ep/{from}"), format!("ep/{to}")];
                let mut flow = flow(&format!("f{n}"), [&ends[0], &ends[1]], draw(4) as u64, &arrivals);
                flow["size"] = [json!(64), json!(256)][draw(2)].clone();
                flow
            })
            .collect();
        let (warned, arrived) = told(&system(&switch, &traffic));
        for n in 0..count {
            let [all, later] = arrived.0[n];
            if warned.contains(&n) {
                assert!(later == 0 && all < 100, "{seed} flow {n}: {all}, {later}; {switch} {traffic:?}");
                nowhere += 1;
            } else {
                gets_on += u32::from(later > 0);
            }
        }
    }
    assert!(nowhere > 100 && gets_on > 300, "{nowhere} and {gets_on}");
}
