//! Times that are over before an answer can be there: told where a run without other traffic gets none.

use crate::watched::watched;
use models::Probe;
use models::agent::echo::EchoTotals;
use models::probe::{Journey, ProtocolFact};
use models::stats::LinxTotals;
use scenarios::load;
use serde_json::{Value, json};

/// One message or request over a switch that stores and forwards, with what is told of it, and whether it was
/// answered in time.
fn asked(flow: &Value, host: &Value) -> (Vec<String>, bool) {
    let mut own = json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "limit": 1,
        "arrivals": {"constant": {"interval": "1 ms", "phase": "0 ps"}}
    });
    own.as_object_mut().unwrap().extend(flow.as_object().unwrap().clone());
    let value = json!({
        "name": "t",
        "topology": {"single_switch": {"ports": 2}},
        "endpoint": {"host": host},
        "traffic": [own],
        "run": {"until": "400 us", "warmup": "0 ps", "sample_every": "off"}
    });
    let plan = load(&value.to_string(), "t.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let told = plan.warnings.items.iter().filter(|item| item.code == "SC118");
    let told = told.map(|item| item.pointer.clone()).collect();
    let ((), outcome) = watched::<()>(&value);
    let stats = &outcome.protocols[0];
    let answered = match outcome.totals.of::<EchoTotals>().next() {
        Some(echoes) => echoes.stats.returned == 1,
        None if flow["rpc"].is_object() => stats.round_trips == 1,
        None => stats.delivered == 1 && stats.facts[ProtocolFact::Failed as usize] == 0,
    };
    (told, answered)
}

/// Links of 40 ns and 400 ps a character, a pipeline of 100 ns, symbols of 8 characters. A packet of n octets
/// takes 180 ns and 2 (n + 8) 0.4 ns; a message of 8 octets is 16 of a packet, a PDU of 8 is 20, a message
/// of 256 is 268, a request to read is 12, a response 8 and what it carries. Hosts take 1 us for what
/// goes out and 3 us for what comes in, where they take part; hardware answers reads, and single packets.
///
/// - message, 8 and 8 octets: 2 (4 us + 199.2 ns)
/// - the same between hosts that take no time: 2 x 199.2 ns, and the answer behind the response of 6.4 ns
/// - the same where the host that answers takes 5 ns, which is less than the response
/// - echo over a stream, 8 octets: 2 (4 us + 202.4 ns)
/// - read of 64: 1 us + 360 ns + 2 x 28 x 0.4 ns + 2 x 72 x 0.4 ns
/// - message of 256: 360 ns + 2 (276 + 16) 0.4 ns
#[test]
fn what_cannot_be_answered_in_time_is_told() {
    let both = json!({"rx_service": "3 us", "tx_service": "1 us"});
    let sending = json!({"tx_service": "1 us"});
    let with = |host: &Value, time: u64| {
        let mut host = host.clone();
        host["response_timeout"] = json!(format!("{time} ps"));
        host
    };
    type Made<'a> = &'a dyn Fn(u64) -> (Value, Value);
    let message = |time: u64| {
        (json!({"size": 8, "rpc": {"via": "message", "timeout": format!("{time} ps")}}), both.clone())
    };
    let idle = |time: u64| (message(time).0, json!({}));
    let quick = |time: u64| (message(time).0, json!({"tx_service": "5 ns"}));
    let echo = |time: u64| {
        (json!({"size": 8, "echo": {"carrier": "stream", "timeout": format!("{time} ps")}}), both.clone())
    };
    let read = |time: u64| {
        (json!({"rpc": {"via": "read", "response": 64, "timeout": format!("{time} ps")}}), sending.clone())
    };
    let single = |time: u64| (json!({"size": 256, "messages": {}}), with(&both, time));
    for (made, law, at) in [
        (&message as Made<'_>, 2 * (4_000_000 + 199_200), "/traffic/0/rpc/timeout"),
        (&idle, 2 * 199_200 + 6_400, "/traffic/0/rpc/timeout"),
        (&quick, 5_000 + 2 * 199_200 + 6_400, "/traffic/0/rpc/timeout"),
        (&echo, 2 * (4_000_000 + 202_400), "/traffic/0/echo/timeout"),
        (&read, 1_360_000 + 800 * (20 + 80), "/traffic/0/rpc/timeout"),
        (&single, 360_000 + 800 * (276 + 16), "/endpoint/host/response_timeout"),
    ] {
        for (time, in_time) in [(law - 1, false), (law + 1, true)] {
            let (flow, host) = made(time);
            let told = Vec::from_iter((!in_time).then(|| at.to_owned()));
            assert_eq!(asked(&flow, &host), (told, in_time), "{flow} {host}");
        }
    }
}

/// A host that gives up its register accesses too early finds nothing behind the first switch that it cannot
/// wait for. It is told exactly where devices are missing: the least time is what it takes to the last one
/// and back, by hand four links of 40 ns and three switches of 100 ns, a read of 12 octets there and
/// its answer of 20 back, each with a symbol of 8: 2 x 460 ns + 4 x 48 x 0.4 ns = 996.8 ns.
#[test]
fn a_host_that_cannot_wait_for_registers_is_told() {
    let set_up = |timeout: u64| {
        let value = json!({
            "name": "x",
            "run": {"until": "20 ms", "sample_every": "off"},
            "topology": {"chain": {"switches": 3, "endpoints_per_switch": 1}},
            "configure": {"fabric": {"host": "ep/0"}},
            "endpoint": {"host": {"response_timeout": format!("{timeout} ps")}},
            "traffic": [{"name": "f", "from": "ep/1", "to": "ep/0", "limit": 1,
                "arrivals": {"constant": {"interval": "1 us"}}}]
        });
        let plan = load(&value.to_string(), "t.json", &[]);
        let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render()));
        let told = plan.warnings.items.iter().filter(|item| item.code == "SC118");
        let told: Vec<String> = told.map(|item| item.message.clone()).collect();
        let ((), outcome) = watched::<()>(&value);
        let report = outcome.enumeration.expect("a host");
        (told, report.unnamed)
    };
    let mut least = (0, 10_000_000);
    while least.1 - least.0 > 1 {
        let middle = (least.0 + least.1) / 2;
        if set_up(middle).0.is_empty() { least.1 = middle } else { least.0 = middle }
    }
    assert_eq!(least.1, 996_800);
    assert_eq!(set_up(least.1).1, 0, "{least:?}");
    assert!(set_up(least.0).1 > 0, "{least:?}");
    let told = set_up(least.0).0.remove(0);
    assert!(told.contains("from \"ep/0\" to \"ep/2\""), "{told}");
}

/// One flow over LINX or session management whose nodes talk in messages: what is told, and how many messages
/// counted as lost before anybody connected.
fn connects(flow: &Value, timeout: u64) -> (Vec<String>, bool) {
    let mut own = json!({"name": "f", "from": "ep/0", "to": "ep/1"});
    own.as_object_mut().unwrap().extend(flow.as_object().unwrap().clone());
    let value = json!({
        "name": "t",
        "topology": {"single_switch": {"ports": 2}},
        "endpoint": {"host": {"response_timeout": format!("{timeout} ps")}},
        "traffic": [own],
        "run": {"until": "400 us", "warmup": "0 ps", "sample_every": "off"}
    });
    let plan = load(&value.to_string(), "t.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let told = plan.warnings.items.iter().filter(|item| item.code == "SC118");
    let told = told.map(|item| item.message.clone()).collect();
    let ((), outcome) = watched::<()>(&value);
    (told, outcome.protocols[0].facts[ProtocolFact::Failed as usize] > 0)
}

/// By hand, on the links above: a CONN_REQ of 16 octets is 24 of a packet, an OPEN of 24 is 32, and the
/// response of hardware 8, each with a symbol of 8 and 180 ns on its way.
#[test]
fn messages_of_linx_and_sessions_that_cannot_be_answered_in_time_are_told() {
    let linx = json!({"linx": {}});
    let session = json!({"session": {}});
    for (flow, what, law) in [
        (linx, "a CONN_REQ of 16 octets", 360_000 + 800 * (32 + 16)),
        (session, "an OPEN of 24 octets", 360_000 + 800 * (40 + 16)),
    ] {
        let (told, lost) = connects(&flow, law - 1);
        assert!(told.len() == 1 && told[0].starts_with(what) && lost, "{flow}: {told:?}");
        let (told, _) = connects(&flow, law);
        assert!(told.is_empty(), "{flow}: {told:?}");
    }
}

/// By hand, on the links above: a heartbeat of 16 octets is 24 of a packet, with a symbol of 8, so 205.6 ns
/// of its way are links and the rest is hosts. Both ends wait for 3 periods of 1 us, 6 us together, and what
/// lacks to that are 2 x 2794.4 ns. A picosecond more is told, and nothing ever arrives; where each end alone
/// waits for a way there and back, all does.
#[test]
fn connections_that_cannot_last_are_told() {
    let links = 180_000 + 800 * (24 + 8);
    let connects = |rx: u64, tx: u64, carrier: &str| {
        let value = json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 2}},
            "endpoint": {
                "host": {
                    "protocol_clock": 100_000, "response_timeout": "1000 s",
                    "rx_service": format!("{rx} ps"), "tx_service": format!("{tx} ps")
                },
                "linx": {"carrier": carrier, "hb_tmo": 1}
            },
            "traffic": [{
                "name": "f", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 10, "linx": {},
                "arrivals": {"constant": {"interval": "40 us", "phase": "20 us"}}
            }],
            "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
        });
        let plan = load(&value.to_string(), "t.json", &[]);
        let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render()));
        let told = plan.warnings.items.iter().filter(|item| item.pointer.ends_with("/hb_tmo"));
        let told: Vec<String> = told.map(|item| item.message.clone()).collect();
        let ((), outcome) = watched::<()>(&value);
        let totals = outcome.totals.one::<LinxTotals>().expect("one flow of LINX");
        (told, totals.stats.delivered)
    };
    let rest = 3_000_000 - links;
    for (rx, tx, lasts) in [
        (rest - 500_000, 500_000, true),
        (rest - 500_000, 500_001, false),
        (0, rest, true),
        (3 * rest, 0, false),
        (0, 100 * rest, false),
    ] {
        let (told, delivered) = connects(rx, tx, "message");
        assert_eq!(told.is_empty(), lasts, "{rx} {tx}: {told:?}");
        assert!(lasts || told.len() == 1 && delivered == 0, "{rx} {tx}: {told:?}, {delivered}");
    }
    assert_eq!(connects(rest / 3, rest / 6, "message"), (Vec::new(), 10));
    // A PDU of 16 octets is 28 of a packet.
    let more = 800 * 4;
    assert!(connects(rest - more, 0, "stream").0.is_empty());
    let (told, delivered) = connects(rest - more + 1, 0, "stream");
    assert_eq!(
        (told, delivered),
        (
            vec![
                "a heartbeat from \"ep/0\" to \"ep/1\" and one back take 6.000002 us at least, and both ends \
                 together wait for 6 us: no connection lasts"
                    .to_owned()
            ],
            0
        )
    );
}

/// What each round trip took.
#[derive(Default)]
struct RoundTrips(Vec<u64>);

impl Probe for RoundTrips {
    fn round_trip(&mut self, whole: &Journey) {
        self.0.push(whole.latency());
    }
}

/// Four links of 40 ns, two pipelines of 100 ns, and on two links each 28 octets of a request and its
/// response, with a symbol of 8 each.
const LEAST: u64 = 360_000 + 800 * (28 + 16);

/// So many requests over a link that goes down for a while, so many at a time.
fn interrupted(how: &Value, limit: u32, backlog: u32, outage_us: u32) -> Value {
    let mut flow = json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "limit": limit,
        "arrivals": {"saturated": {"backlog": backlog}}
    });
    flow.as_object_mut().unwrap().extend(how.as_object().unwrap().clone());
    json!({
        "name": "t",
        "topology": {"single_switch": {"ports": 2}},
        "endpoint": {"host": {"response_timeout": "2 us"}},
        "traffic": [flow],
        "faults": {"outages": [{"link": "ep/1", "at": "10 us", "for": format!("{outage_us} us")}]},
        "run": {"until": "3 ms", "warmup": "0 ps", "sample_every": "off"}
    })
}

/// Requests that are given up while a link is down are answered when it is up again. Their transaction IDs
/// rest, so no answer ends the request of another: no round trip is shorter than the wire allows.
/// IDs for reads are 112: so many are given up at most, 4 in each 2 us of 50 us, or one in each of 200 us.
#[test]
fn late_answers_end_nobody_elses_request() {
    let read = json!({"rpc": {"via": "read", "response": 8}});
    let write = json!({"rpc": {"via": "write"}, "size": 8});
    for (backlog, how, outage) in [(4, &read, 50), (4, &write, 50), (1, &read, 200), (16, &read, 13)] {
        let value = interrupted(how, 600, backlog, outage);
        let (trips, outcome) = watched::<RoundTrips>(&value);
        let least = *trips.0.iter().min().expect("some are answered");
        assert!(outcome.protocols[0].requests > 600, "some are sent again: {how}");
        assert!(least >= LEAST, "{backlog} {how}, {outage} us: {least} ps");
    }
}

/// Where more requests are given up than there are IDs, a late answer may end the request of another, as it
/// does with hardware: nobody who asks can tell, so it is counted. No other round trip is shorter than above.
#[test]
fn answers_that_end_the_request_of_another_are_counted() {
    let mut mistaken = 0;
    for (backlog, outage) in [(4, 50), (1, 500), (16, 200), (64, 60), (100, 500)] {
        let read = json!({"rpc": {"via": "read", "response": 8}});
        let value = interrupted(&read, 3_000, backlog, outage);
        let (trips, outcome) = watched::<RoundTrips>(&value);
        let short = trips.0.iter().filter(|trip| **trip < LEAST).count() as u64;
        let told = outcome.protocols[0].facts[ProtocolFact::Mistaken as usize];
        assert!(short <= told, "{backlog}, {outage} us: {short} too short, {told} told");
        mistaken += told;
    }
    assert!(mistaken > 0);
}

/// Who asks a dead device runs out of transaction IDs for it, and for nobody else: what it asks others is
/// answered as if there were no dead one, 200 requests in 2 ms.
#[test]
fn a_dead_device_takes_no_ids_from_others() {
    for (via, often) in [("read", "1 us"), ("write", "1 us"), ("read", "100 ns")] {
        let flow = |name: &str, to: &str, interval: &str| {
            let mut rpc = json!({"via": via});
            if via == "read" {
                rpc["response"] = json!(64);
            }
            json!({"name": name, "from": "ep/0", "to": to, "rpc": rpc,
                "arrivals": {"constant": {"interval": interval, "phase": "7 ns"}}})
        };
        let value = json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 3}},
            "switch": {"buffering": "output", "buffer_packets": 5_000},
            "endpoint": {"host": {"response_timeout": "20 us"}},
            "traffic": [flow("dead", "ep/1", often), flow("live", "ep/2", "10 us")],
            "faults": {"dead_devices": [{"device": "ep/1", "at": "0 ps"}]},
            "run": {"until": "2 ms", "warmup": "0 ps", "sample_every": "off"}
        });
        let ((), outcome) = watched::<()>(&value);
        let [dead, live] = [0, 1].map(|flow| outcome.protocols[flow].round_trips);
        assert_eq!((dead, live), (0, 200), "{via}, {often}");
    }
}

/// A host that sets the fabric up gives an endpoint up whose link is down, and finds all others, however long
/// that lasts: the answers that come later belong to accesses that have ended.
#[test]
fn late_answers_to_register_accesses_lose_no_device() {
    for ns in (9_000..28_000).step_by(950) {
        let value = json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 6}},
            "configure": {"fabric": {"host": "ep/0"}},
            "endpoint": {"host": {"response_timeout": "2 us"}},
            "traffic": [{"name": "f", "from": "ep/3", "to": "ep/4", "limit": 1,
                "arrivals": {"constant": {"interval": "10 us"}}}],
            "faults": {"outages": [{"link": "ep/1", "at": "6 us", "for": format!("{ns} ns")}]},
            "run": {"until": "400 us", "warmup": "0 ps", "sample_every": "off", "stall_after": "off"}
        });
        let ((), outcome) = watched::<()>(&value);
        let report = outcome.enumeration.expect("a host");
        assert_eq!(
            (report.devices.len(), report.unnamed <= 1, report.problems <= 1),
            (6, true, true),
            "{ns} ns"
        );
    }
}

/// By hand, on the links above: a REQ of 16 octets is 24 of a packet and an ACK of 18 is 32, so 417.6 ns
/// there and back. Whoever asks again before that is told of, and of ends that begin at different times some
/// come up and end each other; whoever waits for it is not, and none does.
#[test]
fn requests_that_are_repeated_before_their_answer_are_told() {
    let law = 360_000 + 800 * (24 + 8 + 32 + 8);
    let connects = |period: u64, seed: u64| {
        let value = json!({
            "name": "t", "seed": seed,
            "topology": {"single_switch": {"ports": 2}},
            "endpoint": {"linx": {"request_period": format!("{period} ps")}},
            "traffic": [{
                "name": "f", "from": "ep/0", "to": "ep/1", "linx": {"spread": format!("{period} ps")}
            }],
            "run": {"until": "100 us", "warmup": "0 ps", "sample_every": "off"}
        });
        let plan = load(&value.to_string(), "t.json", &[]);
        let plan = plan.unwrap_or_else(|errors| panic!("{}", errors.render()));
        let told = plan.warnings.items.iter().filter(|item| item.code == "SC118");
        let told: Vec<String> = told.map(|item| item.pointer.clone()).collect();
        let ((), outcome) = watched::<()>(&value);
        let totals = outcome.totals.one::<LinxTotals>().expect("one flow of LINX");
        (told, totals.stats.ended.iter().sum::<u64>())
    };
    for (period, is_told) in
        [(law / 4, true), (law / 2, true), (law - 1, true), (law, false), (2 * law, false)]
    {
        let ends: u64 = (1..=20)
            .map(|seed| {
                let (told, ends) = connects(period, seed);
                let at: &[&str] = if is_told { &["/endpoint/linx/request_period"] } else { &[] };
                assert_eq!(told, at, "{period}");
                ends
            })
            .sum();
        assert!(if is_told { ends > 0 || period == law - 1 } else { ends == 0 }, "{period}: {ends}");
    }
}
