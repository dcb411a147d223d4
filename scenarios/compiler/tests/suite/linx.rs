//! What the compiler makes of LINX, run. The protocol clock makes its 100 ms a fabric microsecond, unless a
//! test says otherwise.

use models::stats::LinxTotals;
use models::{Progress, RunOptions, Watched};
use scenarios::load;
use serde_json::{Value, json};

const MICROSECOND: u64 = 1_000_000;

/// Two endpoints on a switch; `flows` between them, until `until`.
fn system(until: &str, node: Value, flows: Value) -> Value {
    json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 3}},
        "endpoint": {"host": {"protocol_clock": 100_000, "response_timeout": "1000 s"}, "linx": node},
        "traffic": flows,
        "run": {"until": until, "warmup": "0 ps", "sample_every": "off"}
    })
}

/// What the flows of a system come to.
fn run(system: &Value) -> Vec<LinxTotals> {
    let plan =
        load(&system.to_string(), "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = &plan.variants[0];
    let mut nobody = ();
    let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut nobody);
    assert_ne!(simulation.run(variant.until, u64::MAX), Progress::Stalled);
    let outcome = simulation.finish();
    outcome.totals.of::<LinxTotals>().cloned().collect()
}

/// A flow of `count` messages of 300 octets, one in each 20 us, with answers. It begins `at` microseconds.
fn core(name: &str, port: u16, at: u32, count: u32) -> Value {
    json!({
        "name": name, "from": "ep/0", "to": "ep/1", "size": 300, "limit": count,
        "arrivals": {"constant": {"interval": "20 us", "phase": format!("{} us", at + 10)}},
        "linx": {"src_port": port, "dst_port": port, "at": format!("{at} us"), "reply": 40}
    })
}

/// Two cores of one pair of devices have a connection each, and neither is aware of the other: each comes to
/// what it comes to alone, to the picosecond, where their frames do not wait for each other. That messages
/// keep to their core their octets say, which are others for each port.
///
/// Proves: RIOCM-10.1-12
#[test]
fn two_cores_are_two_connections() {
    for carrier in ["message", "stream"] {
        let node = json!({"carrier": carrier});
        let flows = [core("zero", 0, 1, 20), core("one", 1, 4, 30)];
        let both = run(&system("700 us", node.clone(), json!(flows)));
        for (flow, count, together) in [(&flows[0], 20, &both[0]), (&flows[1], 30, &both[1])] {
            let alone = &run(&system("700 us", node.clone(), json!([flow])))[0];
            assert_eq!(*together, LinxTotals { flow: together.flow, ..alone.clone() }, "{carrier}");
            let stats = &together.stats;
            assert_eq!((together.up, stats.connected, stats.ended.iter().sum::<u64>()), (1, 2, 0));
            assert_eq!((stats.delivered, stats.round_trips.count), (2 * count, count), "{carrier}");
            assert_eq!((stats.corrupt, stats.repeated, stats.portless, stats.frames.stray), (0, 0, 0, 0));
        }
    }
}

/// Ports of the two ends may differ, and a core may be the peer of several.
///
/// Proves: RIOCM-10.1.1.1-4
#[test]
fn the_ends_of_a_connection_may_have_different_ports() {
    let flow = json!({
        "name": "f", "from": ["ep/0", "ep/1"], "to": "ep/2", "size": 60, "limit": 5,
        "arrivals": {"constant": {"interval": "9 us", "phase": "9 us"}},
        "linx": {"src_port": 4, "dst_port": 65535}
    });
    let totals = &run(&system("100 us", json!({}), json!([flow])))[0];
    assert_eq!((totals.wanted, totals.up, totals.stats.delivered), (2, 2, 10));
    assert!(totals.all_up.is_some_and(|at| at.0 < 5 * MICROSECOND));
}
