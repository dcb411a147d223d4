//! Receive buffers that keep a link busy, reckoned and simulated.

use models::config::FabricConfig;
use models::probe::{Delivery, Probe};
use models::sim_core::Time;
use models::{RunOptions, Watched};
use scenarios::{RunPlan, check_report, load};
use serde_json::{Value, json};
use std::sync::Arc;

const ENOUGH: u8 = 61;

/// One switch with two endpoints; `buffers` receive buffers at the switch. From ep/0 goes what `rows` say,
/// all of it at once; back go the longest packets, one after the other.
fn system(buffers: u8, phy: u64, buffering: &str, rows: &[String]) -> Value {
    json!({
        "name": "t",
        "topology": {"single_switch": {"ports": 2}},
        "links": {"rate": "6.25 Gbaud", "width": "4x", "length": "2 m", "phy_latency": format!("{phy} ps")},
        "switch": {"input_buffers": buffers, "watermarks": [3, 2, 1], "pipeline": "100 ns",
            "buffering": buffering, "buffer_packets": 1000},
        "endpoint": {"input_buffers": ENOUGH, "watermarks": [3, 2, 1]},
        "run": {"until": "200 us", "warmup": "0 ps", "sample_every": "off"},
        "traffic": [
            {"name": "there", "arrivals": {"trace": {"rows": rows}}},
            {"name": "back", "from": "ep/1", "to": "ep/0", "size": 256, "priority": 3,
             "arrivals": {"saturated": {}}}
        ]
    })
}

fn plan(value: &Value) -> RunPlan {
    load(&value.to_string(), "t.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()))
}

/// A long packet and then so many short ones, so often, of priority 3: it needs no more than one free buffer.
fn trains(short: usize, times: usize) -> Vec<String> {
    let row = |octets: u16| format!("0,ep/0,ep/1,{octets},3,5");
    let train = || std::iter::once(row(256)).chain(std::iter::repeat_n(row(8), short));
    (0..times).flat_map(|_| train()).collect()
}

/// The last delivery at ep/1, and how many there were.
#[derive(Default)]
struct Last {
    at: Time,
    count: usize,
}

impl Probe for Last {
    fn delivered(&mut self, delivery: &Delivery) {
        if delivery.flow == 0 {
            self.at = self.at.max(delivery.at);
            self.count += 1;
        }
    }
}

/// When everything is there.
fn takes(buffers: u8, phy: u64, buffering: &str, rows: &[String]) -> Time {
    let plan = plan(&system(buffers, phy, buffering, rows));
    let variant = &plan.variants[0];
    let config: Arc<FabricConfig> = Arc::clone(&variant.config);
    let mut last = Last::default();
    let mut simulation = Watched::new(config, RunOptions::default(), &mut last);
    simulation.run(variant.until, u64::MAX);
    simulation.finish();
    assert_eq!(last.count, rows.len(), "all of it is there within the run");
    last.at
}

/// Smallest number of receive buffers with which nothing is lost against as many as there can be.
fn smallest(phy: u64, buffering: &str, rows: &[String]) -> u8 {
    let ideal = takes(ENOUGH, phy, buffering, rows);
    let (mut less, mut enough) = (2, ENOUGH);
    while enough - less > 1 {
        let middle = less.midpoint(enough);
        if takes(middle, phy, buffering, rows) == ideal { enough = middle } else { less = middle }
    }
    enough
}

/// `check` says how many receive buffers keep a link busy whatever the order of its packets, and with fewer
/// some order loses throughput. A long packet (112 ns with its delimiter) is followed by short ones (11.2
/// ns); packets of the other direction are long, and symbols take 3.2 ns.
///
/// By hand: a buffer is in use while the long packet is sent, travels, passes the pipeline and is sent on,
/// and until a symbol is back. From one packet of the other direction to the next r short ones are accepted,
/// each with a symbol of which the first rides: r = ceil((112 + 3.2 (r - 1)) / 11.2) = 14. A symbol can so
/// have to wait for 112 + 14 x 3.2 ns. Behind the long packet start as many short ones as fit in 112 (sent
/// on, not with buffers behind the inputs) + 156.8 + 100 (pipeline) + twice the delay of the link.
///
/// With packets of one length this is (3 T + S + pipeline + 2 d) / T, rounded up: r = 1.
#[test]
fn buffers_that_keep_a_link_busy_with_packets_of_mixed_lengths() {
    let said = |plan: &RunPlan| -> u64 {
        let report = check_report(plan);
        let (before, _) = report.split_once(" receive buffers keep it busy").expect("it is said");
        before.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    // In tenths of nanoseconds.
    let law = |held: u64, link: u64| 1 + (held + 1_568 + 1_000 + 2 * link).div_ceil(112);
    for (buffering, held) in [("direct", 1_120), ("output", 0)] {
        // The link is 10 ns long beside the latency of its ends.
        for (phy, reached) in [(30_000, false), (33_000, true), (39_000, true)] {
            let law = law(held, 100 + phy / 100);
            for short in [5, 30, 40, 70] {
                let rows = trains(short, 4_000 / (10 + short));
                let smallest = u64::from(smallest(phy, buffering, &rows));
                assert!(smallest <= law, "{buffering}, {phy} ps, {short}: {smallest} > {law}");
                if short == 70 {
                    assert_eq!(smallest == law, reached, "{buffering}, {phy} ps: {smallest}, {law}");
                }
            }
            let mixed = plan(&system(ENOUGH, phy, buffering, &trains(1, 1)));
            assert_eq!(said(&mixed), law, "{buffering}, {phy} ps");
            assert!(mixed.warnings.items.is_empty(), "{:?}", mixed.warnings.items);
            // Of one length: with the symbol that frees a buffer 3.2 ns.
            let alike = (1_120 + held + 1_120 + 32 + 1_000 + 2 * (100 + phy / 100)).div_ceil(1_120);
            let rows = trains(0, 300);
            assert_eq!(said(&plan(&system(ENOUGH, phy, buffering, &rows))), alike);
            // The two directions are in step, not in the worst one.
            let smallest = u64::from(smallest(phy, buffering, &rows));
            assert!((alike - 1..=alike).contains(&smallest), "{buffering}, {phy} ps: {smallest}, {alike}");
        }
    }
}
