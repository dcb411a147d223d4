//! One switch with a cell clock: Karol's two tables, and iSLIP beside a slot-by-slot reference.

use super::islip;
use super::lab::{CHARACTER_PS, PACKET_256, SYMBOL, replicate, run, scenario};
use super::row::{Known, Row, Source};
use models::config::Arrivals;
use serde_json::{Value, json};

const INPUT: Source =
    Source::literature("Karol, Hluchyj, Morgan 1987, table I: saturation of FIFO inputs", Known::Abstract);
const OUTPUT: Source = Source::literature(
    "Karol, Hluchyj, Morgan 1987: output queues wait (N - 1)/N p / (2 (1 - p)) slots",
    Known::Abstract,
);
const ISLIP: Source = Source::literature(
    "McKeown 1999, iSLIP: a slot-by-slot implementation beside this one, the same arrivals",
    Known::Abstract,
);

/// A slot holds a packet, its delimiter and a symbol more.
const SLOT_NS: u64 = 117;

fn switch(ports: u32, input: &str, buffering: &str, arbitration: &str) -> Value {
    json!({
        "topology": { "single_switch": { "ports": ports } },
        "switch": {
            "input": input, "buffering": buffering, "arbitration": arbitration,
            "slot": format!("{SLOT_NS} ns"),
            "input_buffers": 32
        }
    })
}

fn with(mut scenario: Value, more: Value) -> Value {
    for (key, value) in more.as_object().expect("an object") {
        scenario[key.as_str()] = value.clone();
    }
    scenario
}

/// Saturation of FIFO inputs.
pub(crate) fn karol_input() -> Vec<Row> {
    let row = |(ports, law): (u32, f64)| {
        let flow = json!({
            "name": "f", "from": "all", "to": { "uniform": { "include_self": true } }, "size": 256,
            "address_bits": 66, "arrivals": { "saturated": { "backlog": 4 } }
        });
        let until = if ports < 8 { "10 ms" } else { "4 ms" };
        let scenario = scenario(Value::Null, json!([flow]), until, "500 us");
        let scenario = with(scenario, switch(ports, "fifo", "direct", "random"));
        let rates = replicate(&scenario, 8, |run| {
            let slots = run.window_ps as f64 / (SLOT_NS * 1_000) as f64;
            run.delivered() as f64 / slots / f64::from(ports)
        });
        Row::exact("karol-input", format!("FIFO inputs, N = {ports}: packets per slot and port"), "", INPUT)
            .expects(law)
            .allows(0.000_05, "the table has four digits")
            .found_in(&rates)
    };
    [(2, 0.7500), (3, 0.6825), (4, 0.6553), (5, 0.6399), (6, 0.6302), (7, 0.6234), (8, 0.6184)]
        .map(row)
        .into()
}

/// Waiting in output buffers.
pub(crate) fn karol_output() -> Vec<Row> {
    let ports = 8;
    let packet = (PACKET_256 + SYMBOL) * CHARACTER_PS;
    let slot = (SLOT_NS * 1_000) as f64;
    let scenario = |p: f64| {
        let flow = json!({
            "name": "f", "from": "all", "to": { "uniform": { "include_self": true } }, "size": 256,
            "address_bits": 66,
            "arrivals": { "bernoulli": { "load": p * packet / slot, "slot": format!("{SLOT_NS} ns") } }
        });
        let scenario = scenario(Value::Null, json!([flow]), "8 ms", "1 ms");
        let mut scenario = with(scenario, switch(ports, "voq", "output", "oldest_first"));
        scenario["switch"]["buffer_packets"] = json!(4096);
        scenario
    };
    let wait = |p: f64| f64::from(ports - 1) / f64::from(ports) * p / (2.0 * (1.0 - p));
    let row = |p: f64| {
        // All else is the same for every packet; the shortest latency is that of one that met nobody.
        let waits = replicate(&scenario(p), 16, |run| {
            let Arrivals::Bernoulli { .. } = run.config.sources[0].arrivals else {
                panic!("Bernoulli trials")
            };
            let tally = run.packets("f");
            (tally.mean_ps() - tally.least_ps as f64) / slot
        });
        Row::exact("karol-output", format!("output buffers, N = 8: mean wait at p = {p}"), "slots", OUTPUT)
            .expects(wait(p))
            .allows(1e-9, "p is a fraction of whole numbers")
            .found_in(&waits)
    };
    [0.5, 0.7, 0.8, 0.9].map(row).into()
}

/// Every packet of a trace waits as long as in the reference.
pub(crate) fn islip() -> Vec<Row> {
    let (ports, slots) = (8, 20_000);
    let row = |(percent, iterations): (u64, u8)| {
        let arrivals = islip::arrivals(ports, slots, percent, 1);
        let reference = islip::total_wait(ports, iterations, &arrivals);
        let rows: Vec<String> = arrivals
            .iter()
            .map(|a| format!("{},ep/{},ep/{},256,0,5", a.slot * SLOT_NS * 1_000, a.input, a.output))
            .collect();
        let flow = json!({ "name": "f", "arrivals": { "trace": { "rows": rows } } });
        let until = format!("{} us", (slots + 2_000) * SLOT_NS / 1_000);
        let scenario = scenario(Value::Null, json!([flow]), &until, "0 ps");
        let mut scenario = with(scenario, switch(ports, "voq", "direct", "islip"));
        scenario["switch"]["iterations"] = json!(iterations);
        scenario["switch"]["input_buffers"] = json!(61);
        scenario["switch"]["watermarks"] = json!([3, 2, 1]);
        let run = run(&scenario);
        let tally = run.packets("f");
        assert_eq!(tally.count, arrivals.len() as u64, "all arrive");
        let waited = tally.latency_ps - u128::from(tally.count) * u128::from(tally.least_ps);
        let rounds = if iterations == 1 { "iteration" } else { "iterations" };
        let what =
            format!("iSLIP, 8 ports, {iterations} {rounds}, load 0.{percent}: slots waited by all packets");
        Row::exact("islip", what, "slots", ISLIP)
            .expects(reference as f64)
            .found(waited as f64 / (SLOT_NS * 1_000) as f64)
    };
    [(30, 1), (50, 1), (60, 1), (70, 1), (70, 2), (70, 3)].map(row).into()
}
