//! Runs small scenarios and counts what arrives, without the collectors and estimators of `analysis`: a
//! second way from the simulator to a number.

use models::config::FabricConfig;
use models::probe::{Cause, Delivery, Journey, Parts, Probe, Sample};
use models::run::{Progress, RunOptions};
use models::sim_core::Time;
use models::{Outcome, Watched};
use rayon::prelude::*;
use scenarios::{Variant, Warmup};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a flow had delivered in the measured time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Deliveries.
    pub count: u64,
    /// Payload octets.
    pub octets: u64,
    /// Picoseconds of injection links.
    pub link_ps: u128,
    /// Sum of latencies, picoseconds.
    pub latency_ps: u128,
    /// Shortest and longest latency, picoseconds.
    pub least_ps: u64,
    /// Longest latency, picoseconds.
    pub most_ps: u64,
    /// Sums by cause, picoseconds.
    pub parts_ps: [u128; 13],
}

impl Tally {
    fn add(&mut self, latency: u64, payload: u32, link_ps: u64, parts: &Parts) {
        self.least_ps = if self.count == 0 { latency } else { self.least_ps.min(latency) };
        self.most_ps = self.most_ps.max(latency);
        self.count += 1;
        self.octets += u64::from(payload);
        self.link_ps += u128::from(link_ps);
        self.latency_ps += u128::from(latency);
        for (sum, part) in self.parts_ps.iter_mut().zip(parts.causes) {
            *sum += u128::from(part);
        }
    }

    /// Mean latency, picoseconds.
    pub fn mean_ps(&self) -> f64 {
        self.latency_ps as f64 / self.count as f64
    }

    /// Mean of a cause, picoseconds.
    pub fn mean_part_ps(&self, cause: Cause) -> f64 {
        self.parts_ps[cause as usize] as f64 / self.count as f64
    }
}

/// The observer.
struct Counter {
    from: Time,
    packets: Vec<Tally>,
    round_trips: Vec<Tally>,
    in_flight: (u64, u64),
}

impl Probe for Counter {
    fn delivered(&mut self, delivery: &Delivery) {
        if delivery.at >= self.from {
            let tally = &mut self.packets[usize::from(delivery.flow)];
            tally.add(delivery.latency(), delivery.payload, delivery.link_ps, &delivery.parts);
        }
    }

    fn round_trip(&mut self, whole: &Journey) {
        if whole.at >= self.from {
            let tally = &mut self.round_trips[usize::from(whole.flow)];
            tally.add(whole.latency(), whole.payload, 0, &whole.parts);
        }
    }

    fn sample(&mut self, sample: &Sample) {
        if sample.at >= self.from {
            self.in_flight.0 += sample.in_flight;
            self.in_flight.1 += 1;
        }
    }
}

/// A run that is over.
pub(crate) struct Run {
    /// What was simulated.
    pub config: Arc<FabricConfig>,
    /// Totals of the simulator.
    pub outcome: Outcome,
    /// Measured time, picoseconds.
    pub window_ps: u64,
    packets: Vec<Tally>,
    round_trips: Vec<Tally>,
    in_flight: (u64, u64),
}

impl Run {
    fn index(&self, flow: &str) -> usize {
        let found = self.config.flows.iter().position(|f| f.name == flow);
        found.unwrap_or_else(|| panic!("no flow is called {flow:?}"))
    }

    /// Packets of a flow.
    pub fn packets(&self, flow: &str) -> &Tally {
        &self.packets[self.index(flow)]
    }

    /// Round trips of a flow.
    pub fn round_trips(&self, flow: &str) -> &Tally {
        &self.round_trips[self.index(flow)]
    }

    /// Accepted load of a flow of one source: share of its injection link.
    pub fn load(&self, flow: &str) -> f64 {
        self.packets(flow).link_ps as f64 / self.window_ps as f64
    }

    /// Packets of all flows that were delivered in the measured time.
    pub fn delivered(&self) -> u64 {
        self.packets.iter().map(|tally| tally.count).sum()
    }

    /// Mean of the sampled number of packets that exist.
    pub fn mean_in_flight(&self) -> f64 {
        self.in_flight.0 as f64 / self.in_flight.1 as f64
    }

    /// Totals of a port.
    pub fn port(&self, device: &str, port: u8) -> &models::stats::PortStats {
        let number = self.config.devices.iter().position(|d| d.path == device);
        let number = number.unwrap_or_else(|| panic!("no device is called {device:?}")) as u32;
        let found = self.outcome.ports.iter().find(|(d, p, _)| (*d, *p) == (number, port));
        &found.unwrap_or_else(|| panic!("{device:?} has no port {port}")).2
    }
}

/// Runs a scenario from beginning to end; what arrives from its fixed `warmup` on counts.
///
/// # Panics
///
/// If the scenario is not valid: that is a defect here.
pub(crate) fn run(scenario: &Value) -> Run {
    let plan = scenarios::load(&scenario.to_string(), "validate", &[])
        .unwrap_or_else(|errors| panic!("{}\n{scenario:#}", errors.render()));
    let [variant] = &plan.variants[..] else { panic!("one variant") };
    simulate(variant)
}

fn simulate(variant: &Variant) -> Run {
    // Studies that find their warm-up themselves are those of protocols, whose totals count from the
    // beginning.
    let from = match variant.warmup {
        Warmup::Until(from) => from,
        Warmup::Auto => Time::ZERO,
    };
    let tallies = vec![Tally::default(); variant.config.flows.len()];
    let mut counter = Counter { from, packets: tallies.clone(), round_trips: tallies, in_flight: (0, 0) };
    let mut simulation = Watched::new(Arc::clone(&variant.config), RunOptions::default(), &mut counter);
    while simulation.run(variant.until, 1 << 20) == Progress::Running {}
    let outcome = simulation.finish();
    Run {
        config: Arc::clone(&variant.config),
        outcome,
        window_ps: variant.until.0 - from.0,
        packets: counter.packets,
        round_trips: counter.round_trips,
        in_flight: counter.in_flight,
    }
}

/// A scenario with seeds 1 to `count`, in parallel: what `measure` makes of each.
pub(crate) fn replicate(scenario: &Value, count: u64, measure: impl Fn(&Run) -> f64 + Sync) -> Vec<f64> {
    let one = |seed| {
        let mut scenario = scenario.clone();
        scenario["seed"] = json!(seed);
        measure(&run(&scenario))
    };
    (1..=count).into_par_iter().map(one).collect()
}

/// Several values of each run, in the order of the values.
pub(crate) fn replicate_all<const N: usize>(
    scenario: &Value,
    count: u64,
    measure: impl Fn(&Run) -> [f64; N] + Sync,
) -> [Vec<f64>; N] {
    let one = |seed| {
        let mut scenario = scenario.clone();
        scenario["seed"] = json!(seed);
        measure(&run(&scenario))
    };
    let runs: Vec<[f64; N]> = (1..=count).into_par_iter().map(one).collect();
    std::array::from_fn(|n| runs.iter().map(|values| values[n]).collect())
}

/// A scenario: topology, flows, and the ordinary links of 4x 6.25 Gbaud, 2 m.
pub(crate) fn scenario(topology: Value, traffic: Value, until: &str, warmup: &str) -> Value {
    json!({
        "name": "validate",
        "run": { "until": until, "warmup": warmup, "sample_every": "off" },
        "links": { "rate": "6.25 Gbaud", "width": "4x", "length": "2 m", "phy_latency": "30 ns" },
        "topology": topology,
        "traffic": traffic,
    })
}

/// Time of a character on the ordinary link, picoseconds.
pub(crate) const CHARACTER_PS: f64 = 400.0;
/// Octets of a packet of 256 octets of payload with an address of 66 bits.
pub(crate) const PACKET_256: f64 = 276.0;
/// Characters of a long control symbol.
pub(crate) const SYMBOL: f64 = 8.0;
/// Such a packet with its delimiter on the ordinary link, picoseconds.
pub(crate) const T_PS: f64 = (PACKET_256 + SYMBOL) * CHARACTER_PS;
/// One way over the ordinary link: 2 m of cable and the physical layers, picoseconds.
pub(crate) const ONE_WAY_PS: f64 = 40_000.0;
/// Pipeline of an ordinary switch, picoseconds.
pub(crate) const PIPELINE_PS: f64 = 100_000.0;

/// Runs a variant of a study as it is shipped.
pub(crate) fn study(text: &str, variant: &str) -> Run {
    let plan = scenarios::load(text, "study", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let found = plan.variants.iter().find(|v| v.name == variant);
    simulate(found.unwrap_or_else(|| panic!("no variant is called {variant:?}")))
}

/// Runs a study as it is shipped, in place of its variants one with these values at some places.
pub(crate) fn altered(text: &str, places: &[(&str, Value)]) -> Run {
    let mut set = vec![("/variants".to_owned(), json!([{ "name": "altered" }]))];
    set.extend(places.iter().map(|(at, value)| ((*at).into(), value.clone())));
    let plan = scenarios::load(text, "study", &set).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let [variant] = &plan.variants[..] else { panic!("one variant") };
    simulate(variant)
}
