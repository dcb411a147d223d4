//! Who gets nothing, and whether that is told: messages that RETRY refuses, frames of LINX that others pass.

use crate::linx;
use crate::watched::watched;
use models::Probe;
use models::probe::{Journey, ProtocolFact};
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
    let mine = plan.warnings.items.iter().filter(|item| ["SC115", "SC116", "SC117"].contains(&item.code));
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
/// to send than the host takes (packets of 110 ns at a load of 0.03 are one in 1.8 us from two, and one place
/// waits less than 0.8 us for who was refused), each gets a third of an equal share at least, and there is
/// nothing to tell; nor of messages that come to an end.
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
        (2, 1, poisson(0.03), false),
    ] {
        let mut value = mailbox(senders, places, &arrivals);
        let (Taken(taken), _) = watched::<Taken>(&value);
        let of = |n: usize| taken.get(&(n as u16)).copied().unwrap_or(0);
        let (least, all) = ((0..senders).map(of).min().unwrap(), (0..senders).map(of).sum::<u64>());
        let what = format!("{senders} senders, {places} places, {arrivals}: {taken:?}");
        assert!(all > 480, "{what}");
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

/// A host serves nobody until one that it refused is back. With 1 us a message, one place and a delay of 10
/// us that is one in more than 11 us, by hand less than 12: one in 1.2 us collapses though the host would
/// take it, and one in 12.5 us does not. With a second place it takes two in that time, with eight all that
/// two can have on their way. So it is with PDUs of sessions, whose header of 12 octets makes a second
/// segment of what fits one without it.
#[test]
fn one_place_waits_for_who_comes_back() {
    for (gap, places, told_of) in
        [(1_200, 1, true), (12_500, 1, false), (1_200, 2, true), (6_500, 2, false), (1_200, 8, false)]
    {
        let load = 110.4 / (2.0 * f64::from(gap));
        let mut value = mailbox(2, places, &json!({"poisson": {"load": load}}));
        value["run"]["until"] = json!("5 ms");
        value["endpoint"]["host"]["retry_delay"] = json!("10 us");
        let (Taken(taken), _) = watched::<Taken>(&value);
        let (arrived, due) = (taken.values().sum::<u64>(), 5_000_000 / gap as u64);
        let what = format!("one each {gap} ns, {places} places: {arrived} of {due}");
        assert!(if told_of { arrived < due * 2 / 3 } else { arrived > due * 9 / 10 }, "{what}");
        let place = ("SC116", "/overrides/0/endpoint/host/rx_queue".to_owned());
        assert_eq!(told(&value), Vec::from_iter(told_of.then_some(place)), "{what}");
    }
    // 2 senders x 4 letters x 2 segments of 110 ns and less go round in 1 us or so.
    for (octets, told_of) in [(244, false), (245, true)] {
        let mut value = mailbox(2, 2, &json!({"constant": {"interval": "2200 ns"}}));
        value["traffic"] = json!([{
            "name": "s", "from": ["ep/1", "ep/2"], "to": "ep/0", "size": octets, "session": {},
            "arrivals": {"constant": {"interval": "2200 ns"}}
        }]);
        value["overrides"][0]["endpoint"]["host"]["rx_service"] = json!("1090 ns");
        let place = ("SC116", "/overrides/0/endpoint/host/rx_queue".to_owned());
        assert_eq!(told(&value), Vec::from_iter(told_of.then_some(place)), "{octets}");
    }
}

/// By hand: a message of 2 048 octets is eight segments of 110.4 ns. Where two senders are refused, the four
/// messages that each has on its way (letters) go round in 2 x 4 x 8 x 110.4 = 7 066 ns, and one that is
/// refused is back after 593 ns, so with 1 us of service one place is taken for 8 659 ns a message. What
/// comes less often than that arrives, what comes more often collapses by chance, though each takes but 1.8
/// us where none is refused: so it is told. More places are a cure: with 4 us between two of them 8 659 / 4
/// 000 = 2.2, so three; with less than a service time as many as have letters, 2 x 4.
#[test]
fn messages_of_several_segments_hold_their_places() {
    for (gap, places, starved) in [
        (8_900_u32, 1, false),
        (4_000, 1, true),
        (4_000, 2, true),
        (4_000, 3, false),
        (900, 7, true),
        (900, 8, false),
    ] {
        // Each of the two sends every other message.
        let load = 8.0 * 110.4 / (2.0 * f64::from(gap));
        let mut value = mailbox(2, places, &json!({"poisson": {"load": load}}));
        for flow in value["traffic"].as_array_mut().unwrap() {
            flow["size"] = json!(2_048);
        }
        value["run"]["until"] = json!("10 ms");
        let (Taken(taken), _) = watched::<Taken>(&value);
        let arrived: u64 = taken.values().sum();
        // The host takes no more than one in a service time, whatever it refuses.
        let due = 10_000_000 / u64::from(gap.max(1_000));
        let what = format!("one each {gap} ns, {places} places: {arrived} of {due}");
        if !starved {
            assert!(arrived > due * 97 / 100, "{what}");
        } else if places == 1 {
            assert!(arrived < due * 2 / 3, "{what}");
        }
        let place = ("SC116", "/overrides/0/endpoint/host/rx_queue".to_owned());
        assert_eq!(told(&value), Vec::from_iter(starved.then_some(place)), "{what}");
    }
    let mut value = mailbox(2, 1, &json!({"constant": {"interval": "8 us"}}));
    for flow in value["traffic"].as_array_mut().unwrap() {
        flow["size"] = json!(2_048);
    }
    let plan = load(&value.to_string(), "t.json", &[]).unwrap();
    let help =
        plan.warnings.items.iter().find(|item| item.code == "SC116").and_then(|item| item.help.clone());
    let help = help.unwrap_or_default();
    assert!(help.contains("use 3 places") && help.contains("one in 8.6"), "{help}");
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

/// A rank gives 20 000 octets, 84 frames of LINX of 110.4 ns (the last has less), to the other one, whose
/// host takes one in 300 ns: it takes 30 while 83 come, so with 54 places it refuses none. With fewer it may,
/// and it is told: one that is refused comes back when it likes. With one place more than 64 pass it, and the
/// connection ends; with four or eight nobody is as unlucky here. A window for all frames, or one for those
/// that come at a time, is no danger.
///
/// Proves: RIOCM-10.1-5
#[test]
fn frames_that_retry_holds_up_are_told() {
    let mut ended = BTreeMap::new();
    for (places, window) in [1, 4, 8, 40, 54, 84].into_iter().flat_map(|places| [(places, 64), (places, 84)])
    {
        let value = json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 2}},
            "switch": {"reads_per_input": 8},
            "endpoint": {"host": {"rx_service": "300 ns", "rx_queue": places}, "linx": {"window": window}},
            "traffic": [{
                "name": "l", "from": "all", "linx": {"program": {"collective": "gather", "octets": 20000}}
            }],
            "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
        });
        let (_, outcome): (Taken, _) = watched(&value);
        let retries = outcome.protocols[0].facts[ProtocolFact::Retried as usize];
        let refused = retries > 0;
        assert_eq!(refused, places < 54, "{places} places: {retries} RETRY");
        let told = told(&value);
        let place = ("SC116", "/endpoint/host/rx_queue".to_owned());
        let warned = refused && window == 64;
        assert_eq!(told, Vec::from_iter(warned.then_some(place)), "{places} places, {window}");
        ended.insert((places, window), linx::run(&value)[0].stats.ended.iter().sum::<u64>() > 0);
    }
    let lost: Vec<(i32, i32)> = ended.into_iter().filter(|(_, lost)| *lost).map(|(key, _)| key).collect();
    assert_eq!(lost, [(1, 64)]);
}

/// What is sent over and over, one frame each: 4 endpoints send 2 frames in a microsecond to a host that
/// takes one and has one place. Some get little. With a place for each they share, and with a host that takes
/// 4 there is nothing to tell. A message that is longer than its receiver takes resets the connection.
#[test]
fn short_messages_of_linx_starve_like_others() {
    let value = |places: u32, service: &str, linx: Value| {
        json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 5}},
            "endpoint": {"host": {"rx_queue": places, "rx_service": service}, "linx": linx},
            "traffic": [{"name": "l", "from": ["ep/1", "ep/2", "ep/3", "ep/4"], "to": "ep/0", "size": 200,
                         "start": "5 us", "arrivals": {"constant": {"interval": "2 us"}}, "linx": {}}],
            "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
        })
    };
    let place = ("SC116", "/endpoint/host/rx_queue".to_owned());
    assert_eq!(told(&value(1, "1 us", json!({}))), [place]);
    assert_eq!(told(&value(4, "250 ns", json!({}))), []);
    for (longest, fits) in [(200, true), (199, false)] {
        let value = value(4, "250 ns", json!({"longest_message": longest}));
        let place = ("SC115", "/endpoint/linx/longest_message".to_owned());
        assert_eq!(told(&value), Vec::from_iter((!fits).then_some(place)));
        let stats = &linx::run(&value)[0].stats;
        assert_eq!((stats.delivered > 0, stats.ended.iter().sum::<u64>() == 0), (fits, fits), "{stats:?}");
    }
}
