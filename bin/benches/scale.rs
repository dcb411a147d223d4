//! What fabrics cost by size, through the command: `cargo bench -p riosim --bench scale` prints the table of
//! docs/performance.md; `-- --write` writes it there; numbers of ports after `--` take only these sizes.
//!
//! Fat trees of three levels of switches of 4, 8, 16, 32 and 64 ports, all full: 16 to 65 536 endpoints, six
//! links at most from one to another, the same load on each. So a hop is the same work everywhere, and what
//! differs is how much lies between a hop and the next one at the same place.
//!
//! It takes minutes, and figures are worth as much as the machine is quiet: see that nobody else works on it.

#[path = "../../models/benches/floor/mod.rs"]
mod floor;

mod command;

use command::{median, perf};
use floor::floor;
use serde_json::Value;
use std::path::Path;

/// Ports of a switch, the end of the run, and how often it is measured. Ends are such that some million
/// packets cross a link, and the fabric is full most of the time (it fills in two microseconds).
const SIZES: [(u64, &str, usize); 5] =
    [(4, "10 ms", 3), (8, "2 ms", 3), (16, "200 us", 3), (32, "30 us", 3), (64, "10 us", 1)];

/// What a hop touches, by endpoint: counted on 4 096 of them (docs/performance.md, "What is touched").
const TOUCHED: usize = 7_065;
/// Packets on their way, by endpoint, in the ring of the floor.
const PENDING: usize = 6;

/// Where the table stands in the page.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance.md");
const MARKS: [&str; 2] = ["<!-- scale: begin -->\n", "<!-- scale: end -->"];

fn scenario(ports: u64, until: &str) -> String {
    let endpoints = ports.pow(3) / 4;
    format!(
        r#"{{ "name": "scale", "seed": 1, 
            "run": {{ "until": "{until}", "warmup": "0 ps", "sample_every": "off" }},
            "links": {{ "rate": "6.25 Gbaud", "width": "4x", "length": "2 m", "phy_latency": "30 ns" }},
            "topology": {{ "fat_tree": {{ "levels": 3, "ports": {ports}, "endpoints": {endpoints} }} }},
            "switch": {{ "input": "voq", "buffering": "direct", "arbitration": "round_robin",
                "forwarding": "cut_through", "pipeline": "100 ns", "input_buffers": 32 }},
            "traffic": [{{ "name": "load", "from": "all", "to": {{ "uniform": {{}} }},
                "arrivals": {{ "poisson": {{ "load": 0.6 }} }}, "size": 256, "address_bits": 66 }}] }}"#
    )
}

/// What one run came to.
struct Measured {
    ns_a_hop: f64,
    events_a_hop: f64,
    set_up_s: f64,
    resident: f64,
    floor: f64,
}

fn measure(ports: u64, until: &str) -> Measured {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x.json");
    std::fs::write(&path, scenario(ports, until)).unwrap();
    let perf = perf(&path, 1);
    let variant = &perf["variants"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let hops = number(&variant["packet_hops"]);
    let endpoints = (ports.pow(3) / 4) as usize;
    Measured {
        ns_a_hop: number(&variant["phases"]["simulate_s"]) * 1e9 / hops,
        events_a_hop: number(&variant["events_per_packet_hop"]),
        set_up_s: number(&perf["read_s"]) + number(&variant["phases"]["build_s"]),
        resident: perf["memory_peak_bytes"].as_f64().unwrap_or(f64::NAN),
        floor: floor(TOUCHED * endpoints, PENDING * endpoints),
    }
}

/// `65536` as `65 536`.
fn grouped(number: u64) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        thousands => format!("{} {:03}", grouped(thousands), number % 1_000),
    }
}

fn row(ports: u64, until: &str, runs: usize) -> String {
    let measured: Vec<Measured> = (0..runs).map(|_| measure(ports, until)).collect();
    let of = |value: fn(&Measured) -> f64| median(measured.iter().map(value));
    let (hop, floor) = (of(|m| m.ns_a_hop), of(|m| m.floor));
    let endpoints = ports.pow(3) / 4;
    format!(
        "| {} | {} of {ports} ports | {:.2} M | {hop:.0} | {floor:.1} | {:.1} \
         | {:.2} | {:.2} | {:.0} | {:.1} |",
        grouped(endpoints),
        grouped(5 * ports * ports / 4),
        1e3 / hop,
        hop / floor,
        of(|m| m.events_a_hop),
        of(|m| m.set_up_s),
        of(|m| m.resident) / f64::from(1 << 20),
        of(|m| m.resident) / endpoints as f64 / 1024.0,
    )
}

/// The page with this table between the marks.
fn written(page: &str, table: &str) -> String {
    let [begin, end] =
        MARKS.map(|mark| page.find(mark).expect("docs/performance.md has a place for the table"));
    format!("{}{table}{}", &page[..begin + MARKS[0].len()], &page[end..])
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let (write, sizes): (Vec<String>, Vec<String>) = words.into_iter().partition(|word| word == "--write");
    let wanted = |ports: u64| sizes.is_empty() || sizes.contains(&ports.to_string());
    let mut table = String::from(
        "| endpoints | switches | packet-hops/s | ns a hop | floor, ns | hop over floor | events a hop \
         | set-up, s | resident, MiB | KiB an endpoint |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    print!("{table}");
    for (ports, until, runs) in SIZES.into_iter().filter(|(ports, ..)| wanted(*ports)) {
        let row = row(ports, until, runs) + "\n";
        print!("{row}");
        table += &row;
    }
    if !write.is_empty() {
        assert!(sizes.is_empty(), "the page has all sizes");
        let page = Path::new(PAGE);
        let text = std::fs::read_to_string(page).unwrap();
        std::fs::write(page, written(&text, &table)).unwrap();
    }
}
