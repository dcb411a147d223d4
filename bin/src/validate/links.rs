//! Links: what they carry, how far, how fast.

use super::lab::{CHARACTER_PS, ONE_WAY_PS, PIPELINE_PS, SYMBOL, T_PS, run, scenario};
use super::row::{Row, Source};
use serde_json::{Value, json};

const EFFICIENCY: Source =
    Source::document("Part 2 and Part 6: 10 octets of header, CRCs, padding to 4, an 8-character delimiter");
const WINDOW: Source =
    Source::document("Part 6 §5.6, §5.9: W packets in T + S + twice the cable, W = buffers - (WM - 1)");
const BEHIND: Source = Source::document(
    "Part 6 §5.9 behind a switch: W packets in T + S + pipeline + twice the cable, and T more where the next \
     link reads the receive buffer",
);
const ACK_IDS: Source =
    Source::document("Part 6 §5.6: 63 packets of the long symbol's ackIDs in T + S + twice the cable");
const BY_HAND: Source = Source::derived("sum over links and switches, by hand");

fn link(length: &str, more: Value) -> Value {
    let mut link = json!({ "a": "a", "b": "b", "set": { "length": length } });
    for (key, value) in more.as_object().expect("an object") {
        link["set"][key.as_str()] = value.clone();
    }
    json!({ "explicit": { "devices": [{ "name": "a" }, { "name": "b" }], "links": [link] } })
}

fn stream(size: u32, priority: u8) -> Value {
    json!([{
        "name": "f", "from": "a", "to": "b", "size": size, "priority": priority, "address_bits": 66,
        "arrivals": { "saturated": { "backlog": 100 } }
    }])
}

/// Payload by all that the link carries.
pub(crate) fn efficiency() -> Vec<Row> {
    let row = |payload: u32| {
        let mut flows = stream(payload, 0);
        flows[0]["address_bits"] = json!(34);
        let run = run(&scenario(link("2 m", json!({})), flows, "1100 us", "100 us"));
        let body = 10 + payload;
        let packet = (body + if body > 80 { 4 } else { 2 }).next_multiple_of(4);
        let law = f64::from(payload) / (f64::from(packet) + SYMBOL);
        let carried = run.packets("f").octets as f64 * CHARACTER_PS / run.window_ps as f64;
        Row::exact(
            "efficiency",
            format!("NWRITE of {payload} octets: payload by characters of the link"),
            "",
            EFFICIENCY,
        )
        .expects(law)
        .allows(
            f64::from(payload) * CHARACTER_PS / run.window_ps as f64,
            "one packet at the ends of the window",
        )
        .found(carried)
    };
    [8, 32, 64, 128, 256].map(row).into()
}

/// Long cables in front of a sink that takes every packet at once.
pub(crate) fn windows() -> Vec<Row> {
    let law = |window: f64, metres: f64| {
        window * T_PS / (T_PS + SYMBOL * CHARACTER_PS + 2.0 * (30_000.0 + 5_000.0 * metres))
    };
    let row = |(priority, watermark, metres): (u8, u32, u32)| {
        let buffers = 8_u32;
        let mut scenario =
            scenario(link(&format!("{metres} m"), json!({})), stream(256, priority), "1200 us", "200 us");
        scenario["endpoint"] = json!({ "input_buffers": buffers, "watermarks": [4, 3, 2] });
        let run = run(&scenario);
        let window = f64::from(buffers - (watermark - 1));
        let what = format!("{buffers} buffers, {metres} m, priority {priority}: load of the link");
        Row::exact("windows", what, "", WINDOW)
            .expects(law(window, metres.into()))
            .allows(window * T_PS / run.window_ps as f64, "one window at the ends of the measured time")
            .found(run.load("f"))
    };
    let mut rows: Vec<Row> =
        [(0, 4, 100), (0, 4, 400), (1, 3, 400), (2, 2, 400), (3, 1, 400)].map(row).into();
    let metres = 1600.0;
    let run = run(&scenario(
        link("1600 m", json!({ "flow_control": "receiver" })),
        stream(256, 0),
        "2200 us",
        "200 us",
    ));
    rows.push(
        Row::exact("windows", "63 ackIDs, 1600 m, receiver-controlled: load of the link", "", ACK_IDS)
            .expects(law(63.0, metres))
            .allows(63.0 * T_PS / run.window_ps as f64, "one window at the ends of the measured time")
            .found(run.load("f")),
    );
    rows.extend(behind_a_switch());
    rows
}

/// A buffer of a switch comes back when the packet has passed the pipeline and, without buffers behind the
/// inputs, has been read by the next link.
fn behind_a_switch() -> Vec<Row> {
    let row = |(buffering, priority, watermark): (&str, u8, u32)| {
        let (buffers, metres) = (8_u32, 100.0);
        let topology = json!({ "explicit": {
            "devices": [{ "name": "a" }, { "name": "b" }, { "name": "sw", "ports": 2 }],
            "links": [{ "a": "a", "b": "sw:0", "set": { "length": "100 m" } }, { "a": "sw:1", "b": "b" }]
        } });
        let mut scenario = scenario(topology, stream(256, priority), "1200 us", "200 us");
        scenario["switch"] =
            json!({ "input_buffers": buffers, "watermarks": [4, 3, 2], "buffering": buffering });
        let run = run(&scenario);
        let window = f64::from(buffers - (watermark - 1));
        let read = if buffering == "direct" { T_PS } else { 0.0 };
        let cable = 30_000.0 + 5_000.0 * metres;
        let round = T_PS + read + SYMBOL * CHARACTER_PS + PIPELINE_PS + 2.0 * cable;
        let what =
            format!("8 buffers of a switch ({buffering}), 100 m, priority {priority}: load of the link");
        Row::exact("windows", what, "", BEHIND)
            .expects(window * T_PS / round)
            .allows(window * T_PS / run.window_ps as f64, "one window at the ends of the measured time")
            .found(run.load("f"))
    };
    [("direct", 0, 4), ("direct", 3, 1), ("output", 0, 4)].map(row).into()
}

/// One packet through idle switches.
pub(crate) fn idle() -> Vec<Row> {
    let latency = |switches: u32, forwarding: &str| {
        let topology = json!({ "chain": { "switches": switches, "endpoints_per_switch": 1 } });
        let last = switches - 1;
        let flow = json!([{
            "name": "f", "from": "ep/0", "to": format!("ep/{last}"), "size": 256, "limit": 1,
            "address_bits": 66,
            "arrivals": { "saturated": { "backlog": 1 } }
        }]);
        let mut scenario = scenario(topology, flow, "20 us", "0 ps");
        scenario["switch"] = json!({ "forwarding": forwarding });
        run(&scenario).packets("f").mean_ps() / 1e3
    };
    let links = |switches: u32| f64::from(switches + 1) * ONE_WAY_PS + f64::from(switches) * PIPELINE_PS;
    let mut rows = Vec::new();
    for switches in [2, 4] {
        let law = links(switches) + f64::from(switches + 1) * T_PS;
        rows.push(
            Row::exact(
                "idle",
                format!("stored by {switches} switches: latency of 256 octets"),
                "ns",
                BY_HAND,
            )
            .expects(law / 1e3)
            .found(latency(switches, "store_and_forward")),
        );
        // The delimiter, two octets of header and the 8-bit destination id decide.
        let law = links(switches) + T_PS + f64::from(switches) * (3.0 + SYMBOL) * CHARACTER_PS;
        rows.push(
            Row::exact(
                "idle",
                format!("cut through by {switches} switches: latency of 256 octets"),
                "ns",
                BY_HAND,
            )
            .expects(law / 1e3)
            .found(latency(switches, "cut_through")),
        );
    }
    rows
}
