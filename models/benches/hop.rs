//! Packet-hops per second of the full model, against the floor of the machine.
//!
//! `cargo bench -p models --bench hop` prints the table of docs/performance.md. The floor is a time-ordered
//! bucket ring whose every event does one read-modify-write of a random 64-byte line in a state as large as
//! what the model touches; it is measured in the same run, because machines are noisy.
//!
//! `cargo bench -p models --bench hop -- window b-uniform 1000000` runs one fabric for so many hops after a
//! warm-up and a sweep that evicts every cache: under `valgrind --tool=cachegrind` with a 64 MiB last-level
//! cache the misses of a run minus those of a run with 0 hops count the lines that the model touches.

mod fabrics;
mod floor;

use fabrics::{Load, cut_through, one_switch, three_levels, two_levels};
use floor::floor;
use models::config::FabricConfig;
use models::{Progress, RunOptions, Simulation};
use sim_core::Time;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// (name, fabric, load, touched bytes as measured with cachegrind, packets pending in the floor).
type Case = (&'static str, fn(Load) -> FabricConfig, Load, usize);

const CASES: [Case; 12] = [
    ("a-uniform", one_switch, Load::Uniform, 69 << 10),
    ("a-hotspot", one_switch, Load::Hotspot, 130 << 10),
    ("b-uniform", two_levels, Load::Uniform, 1_340 << 10),
    ("b-hotspot", two_levels, Load::Hotspot, 1_364 << 10),
    ("c-uniform", three_levels, Load::Uniform, 28_322 << 10),
    ("c-hotspot", three_levels, Load::Hotspot, 28_322 << 10),
    ("a-uniform-cut", |load| cut_through(one_switch(load)), Load::Uniform, 69 << 10),
    ("a-hotspot-cut", |load| cut_through(one_switch(load)), Load::Hotspot, 130 << 10),
    ("b-uniform-cut", |load| cut_through(two_levels(load)), Load::Uniform, 1_340 << 10),
    ("b-hotspot-cut", |load| cut_through(two_levels(load)), Load::Hotspot, 1_364 << 10),
    ("c-uniform-cut", |load| cut_through(three_levels(load)), Load::Uniform, 28_322 << 10),
    ("c-hotspot-cut", |load| cut_through(three_levels(load)), Load::Hotspot, 28_322 << 10),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if let [verb, name, hops] = &arguments[..]
        && verb == "window"
    {
        window(name, hops.parse().expect("a number of hops"));
        return;
    }
    let filter = arguments.first().cloned().unwrap_or_default();
    println!(
        "{:<13} {:>10} {:>9} {:>9} {:>7} {:>9} {:>10} {:>9}",
        "fabric", "Mhop/s", "ns/hop", "floor ns", "ratio", "ev/hop", "touched", "RSS/ep"
    );
    for (name, fabric, load, touched) in CASES {
        if name.contains(&filter) {
            measure(name, &fabric(load), touched);
        }
    }
}

fn advance(sim: &mut Simulation<()>, hops: u64) {
    let target = sim.packet_hops() + hops;
    while sim.packet_hops() < target {
        assert_eq!(sim.run(Time::MAX, 20_000), Progress::Running);
    }
}

fn measure(name: &str, config: &FabricConfig, touched: usize) {
    let endpoints = config.owners.len();
    let before = resident();
    let mut sim = Simulation::new(Arc::new(config.clone()), RunOptions::default(), ());
    advance(&mut sim, 50 * endpoints as u64 + 200_000);
    let mut per_hop = Vec::new();
    let mut floors = Vec::new();
    let (events, hops) = (sim.events(), sim.packet_hops());
    for _ in 0..7 {
        let (start, from) = (Instant::now(), sim.packet_hops());
        advance(&mut sim, 1_000_000);
        per_hop.push(start.elapsed().as_nanos() as f64 / (sim.packet_hops() - from) as f64);
        floors.push(floor(touched, endpoints * 6));
    }
    let events = (sim.events() - events) as f64 / (sim.packet_hops() - hops) as f64;
    let rss = resident().saturating_sub(before) as f64 / endpoints as f64;
    let (hop, floor) = (median(per_hop), median(floors));
    println!(
        "{name:<13} {:>10.2} {hop:>9.1} {floor:>9.1} {:>7.1} {events:>9.3} {:>6} KiB {:>5.1} KiB",
        1e3 / hop,
        hop / floor,
        touched >> 10,
        rss / 1024.0
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn window(name: &str, hops: u64) {
    let (_, fabric, load, _) = CASES.into_iter().find(|c| c.0 == name).expect("a case of the table");
    let config = fabric(load);
    let mut sim = Simulation::new(Arc::new(config), RunOptions::default(), ());
    advance(&mut sim, 400_000);
    let sweep = vec![1u8; 160 << 20];
    black_box(sweep.iter().step_by(64).map(|b| u64::from(*b)).sum::<u64>());
    if hops > 0 {
        advance(&mut sim, hops);
    }
}

/// Resident bytes of this process.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|p| p.parse::<usize>().ok()).map_or(0, |pages| pages * 4096)
}
