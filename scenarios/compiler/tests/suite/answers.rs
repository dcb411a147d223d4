//! Times that are over before an answer can be there: told where a run without other traffic gets none.

use crate::watched::watched;
use models::agent::echo::EchoTotals;
use models::probe::ProtocolFact;
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
    let echo = |time: u64| {
        (json!({"size": 8, "echo": {"carrier": "stream", "timeout": format!("{time} ps")}}), both.clone())
    };
    let read = |time: u64| {
        (json!({"rpc": {"via": "read", "response": 64, "timeout": format!("{time} ps")}}), sending.clone())
    };
    let single = |time: u64| (json!({"size": 256, "messages": {}}), with(&both, time));
    for (made, law, at) in [
        (&message as Made<'_>, 2 * (4_000_000 + 199_200), "/traffic/0/rpc/timeout"),
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
