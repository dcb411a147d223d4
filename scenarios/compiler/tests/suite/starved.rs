//! Who gets nothing, and whether that is told: messages that RETRY refuses, frames of LINX that others pass.

use crate::linx;
use crate::watched::watched;
use models::Probe;
use models::probe::Journey;
use scenarios::load;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Messages that were handed over, by flow.
#[derive(Default)]
struct Taken(BTreeMap<u16, u64>);

impl Probe for Taken {
    fn message(&mut self, message: &Journey) {
        *self.0.entry(message.flow).or_default() += 1;
    }
}

/// Codes and places of what is told of a scenario, of these two kinds.
fn told(value: &Value) -> Vec<(&'static str, String)> {
    let plan = load(&value.to_string(), "t.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let mine = plan.warnings.items.iter().filter(|item| ["SC116", "SC117"].contains(&item.code));
    mine.map(|item| (item.code, item.pointer.clone())).collect()
}

/// Flows of so many endpoints to the mailbox of "ep/0", which takes a message each microsecond and has so
/// many places.
fn mailbox(senders: usize, places: u32, arrivals: &Value) -> Value {
    let flow = |n: usize| {
        json!({
            "name": format!("m{n}"), "from": format!("ep/{n}"), "to": "ep/0", "size": 256,
            "messages": {}, "arrivals": arrivals
        })
    };
    json!({
        "name": "t",
        "topology": {"single_switch": {"ports": senders + 1}},
        "endpoint": {"host": {"rx_queue": places}},
        "overrides": [{"devices": "ep/0", "endpoint": {"host": {"rx_service": "1 us"}}}],
        "traffic": (1..=senders).map(flow).collect::<Vec<Value>>(),
        "run": {"until": "1 ms", "sample_every": "off"}
    })
}

/// A message of 256 octets and its answer are round in less than a service time, so who is refused comes back
/// a whole number of times before the next place is free, always at the same point: where senders are more
/// than places, some get (next to) nothing, and that is told. With a place for each, or where there is less
/// to send than the host takes (packets of 110 ns at a load of 0.05 are 0.9 in a microsecond from two), each
/// gets a third of an equal share at least, and there is nothing to tell; nor of messages that come to an
/// end.
#[test]
fn who_is_starved_by_retry_is_told() {
    let full = json!({"saturated": {"backlog": 4}});
    let poisson = |load: f64| json!({"poisson": {"load": load}});
    for (senders, places, arrivals, starved) in [
        (2, 1, full.clone(), true),
        (2, 2, full.clone(), false),
        (4, 1, full.clone(), true),
        (4, 4, full, false),
        (2, 1, poisson(0.4), true),
        (2, 1, poisson(0.05), false),
    ] {
        let mut value = mailbox(senders, places, &arrivals);
        let (Taken(taken), _) = watched::<Taken>(&value);
        let of = |n: usize| taken.get(&(n as u16)).copied().unwrap_or(0);
        let (least, all) = ((0..senders).map(of).min().unwrap(), (0..senders).map(of).sum::<u64>());
        let what = format!("{senders} senders, {places} places, {arrivals}: {taken:?}");
        assert!(all > 700, "{what}");
        let share = least as f64 * senders as f64 / all as f64;
        assert!(if starved { share < 0.02 } else { share > 1.0 / 3.0 }, "{what}");
        let place = ("SC116", "/overrides/0/endpoint/host/rx_queue".to_owned());
        assert_eq!(told(&value), Vec::from_iter(starved.then_some(place)), "{what}");
        for flow in value["traffic"].as_array_mut().unwrap() {
            flow["limit"] = json!(30);
        }
        assert_eq!(told(&value), [], "{what}, each of 30 messages");
    }
}

/// One message of LINX, of so many octets, with these settings of the node.
fn one(octets: u32, host: &Value, node: &Value) -> Value {
    json!({
        "name": "t",
        "topology": {"single_switch": {"ports": 3}},
        "endpoint": {"host": host, "linx": node},
        "traffic": [{
            "name": "l", "from": "ep/0", "to": "ep/1", "size": octets, "limit": 1, "linx": {},
            "arrivals": {"constant": {"interval": "1 ms", "phase": "10 us"}}
        }],
        "run": {"until": "200 us", "warmup": "0 ps", "sample_every": "off"}
    })
}

/// Frames of 256 octets carry 228 of the beginning of a message and 240 of its rest, so 64 of them hold
/// 228 + 63 x 240 = 15 348 octets. Frames have two priorities in turn: of 128 all 64 of the higher one leave
/// before the lower ones, but for those first that had a way at once, and the last is further from these than
/// the window of 64. The connection ends. A message of as many frames as the window has is in no danger; one
/// octet more is told.
///
/// Proves: RIOCM-10.1-5
#[test]
fn frames_that_pass_others_are_told() {
    let most = 228 + 63 * 240;
    for carrier in ["message", "stream"] {
        for (octets, priorities, lost, warned) in [
            (most, json!([0, 1]), false, false),
            (most + 1, json!([0, 1]), false, true),
            (2 * most, json!([0, 1]), true, true),
            (2 * most, json!([1, 1]), false, false),
            (2 * most, json!([0]), false, false),
        ] {
            let value = one(octets, &json!({}), &json!({"carrier": carrier, "data_priorities": priorities}));
            let stats = &linx::run(&value)[0].stats;
            let what = format!("{carrier}, {octets} octets, {priorities}: {stats:?}");
            assert_eq!(stats.delivered, u64::from(!lost), "{what}");
            let place = ("SC117", "/endpoint/linx/data_priorities".to_owned());
            assert_eq!(told(&value), Vec::from_iter(warned.then_some(place)), "{what}");
            if warned {
                let wide = json!({"carrier": carrier, "data_priorities": priorities, "window": 200});
                let value = one(octets, &json!({}), &wide);
                assert_eq!((linx::run(&value)[0].stats.delivered, told(&value)), (1, vec![]), "{what}");
            }
        }
    }
}

/// A rank gives 20 000 octets, 84 frames of LINX, to the other one, whose host takes one in 300 ns. With one
/// place a frame is refused until 64 behind it are there, and the connection ends. With places for the four
/// frames that are under way at a time nothing is lost, and nothing is told.
///
/// Proves: RIOCM-10.1-5
#[test]
fn frames_that_retry_holds_up_are_told() {
    for (places, lost) in [(1, true), (4, false)] {
        let value = json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 2}},
            "switch": {"reads_per_input": 8},
            "endpoint": {"host": {"rx_service": "300 ns", "rx_queue": places}},
            "traffic": [{
                "name": "l", "from": "all", "linx": {"program": {"collective": "gather", "octets": 20000}}
            }],
            "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
        });
        let ended: u64 = linx::run(&value)[0].stats.ended.iter().sum();
        assert_eq!(ended > 0, lost, "{places} places: {ended} ends of connections");
        let place = ("SC116", "/endpoint/host/rx_queue".to_owned());
        assert_eq!(told(&value), Vec::from_iter(lost.then_some(place)), "{places} places");
    }
}
