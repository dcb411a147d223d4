//! One link, one queue: the oldest laws there are.

use super::lab::{
    CHARACTER_PS, ONE_WAY_PS, PIPELINE_PS, SYMBOL, T_PS, replicate, replicate_all, run, scenario,
};
use super::row::{Known, Row, Source};
use models::config::Sizes;
use models::probe::Cause;
use serde_json::{Value, json};

const POLLACZEK: Source = Source::literature(
    "Pollaczek-Khinchine: W = lambda E[S^2] / (2 (1 - rho)); M/D/1: rho T / (2 (1 - rho))",
    Known::Derived,
);
const COBHAM: Source = Source::literature(
    "Cobham 1954, non-preemptive priorities: W_k = W_0 / ((1 - sigma_(k-1)) (1 - sigma_k))",
    Known::Abstract,
);
const TANDEM: Source = Source::literature(
    "Friedman 1965: behind a queue of equal constant service there is no second queue",
    Known::Abstract,
);
const LITTLE: Source = Source::literature("Little 1961: L = lambda W", Known::Derived);

const ENDS: &str = "an end of packet symbol of 3.2 ns closes each burst, and the law does not know it";

/// Two endpoints on one link.
fn link() -> Value {
    json!({ "explicit": {
        "devices": [{ "name": "a" }, { "name": "b" }],
        "links": [{ "a": "a", "b": "b" }]
    }})
}

fn flow(name: &str, load: f64, priority: u8) -> Value {
    json!({
        "name": name, "from": "a", "to": "b", "size": 256, "address_bits": 66, "priority": priority,
        "arrivals": { "poisson": { "load": load } }
    })
}

/// The wait at the source in front of one link.
pub(crate) fn md1() -> Vec<Row> {
    let row = |load: f64| {
        let scenario = scenario(link(), json!([flow("f", load, 0)]), "10 ms", "1 ms");
        let waits = replicate(&scenario, 16, |run| run.packets("f").mean_part_ps(Cause::SourceQueue) / 1e3);
        let law = load * T_PS / (2.0 * (1.0 - load)) / 1e3;
        Row::exact("md1", format!("M/D/1: mean wait at load {load}"), "ns", POLLACZEK)
            .expects(law)
            .allows(SYMBOL * CHARACTER_PS / 2e3 * load * (1.0 - load), ENDS)
            .found_in(&waits)
    };
    [0.3, 0.6, 0.8].map(row).into()
}

/// A queue with packets of several lengths.
pub(crate) fn mg1() -> Vec<Row> {
    let row = |load: f64| {
        let mut flow = flow("f", load, 0);
        flow["size"] = json!([{ "payload": 8, "weight": 3 }, { "payload": 256, "weight": 1 }]);
        let scenario = scenario(link(), json!([flow]), "10 ms", "1 ms");
        // The moments of the lengths as they are on the wire.
        let config = run(&{
            let mut short = scenario.clone();
            short["run"] = json!({ "until": "1 us", "warmup": "0 ps", "sample_every": "off" });
            short
        })
        .config;
        let Sizes::Mix(mix) = &config.sources[0].sizes else { panic!("a mixture") };
        let total: f64 = mix.iter().map(|(weight, _)| f64::from(*weight)).sum();
        let moment = |power: i32| -> f64 {
            let term = |size: u32| ((f64::from(size) + SYMBOL) * CHARACTER_PS / 1e3).powi(power);
            mix.iter().map(|(weight, size)| f64::from(*weight) / total * term(size.wire.into())).sum()
        };
        let law = load * moment(2) / moment(1) / (2.0 * (1.0 - load));
        let waits = replicate(&scenario, 16, |run| run.packets("f").mean_part_ps(Cause::SourceQueue) / 1e3);
        Row::exact(
            "mg1",
            format!("M/G/1, lengths 3:1 of 8 and 256 octets: mean wait at load {load}"),
            "ns",
            POLLACZEK,
        )
        .expects(law)
        .allows(SYMBOL * CHARACTER_PS / 2e3 * load * (1.0 - load), ENDS)
        .found_in(&waits)
    };
    [0.4, 0.7].map(row).into()
}

/// Three priorities on one link.
pub(crate) fn cobham() -> Vec<Row> {
    let share = 0.25;
    let flows = json!([flow("p0", share, 0), flow("p1", share, 1), flow("p2", share, 2)]);
    let scenario = scenario(link(), flows, "20 ms", "1 ms");
    let names = ["p0", "p1", "p2"];
    let waits = replicate_all(&scenario, 16, |run| {
        names.map(|name| run.packets(name).mean_part_ps(Cause::SourceQueue) / 1e3)
    });
    let rest = 3.0 * share * T_PS / 2.0 / 1e3;
    let rows = names.iter().zip(waits).enumerate().map(|(priority, (_, waits))| {
        let above = share * (2 - priority) as f64;
        Row::exact(
            "cobham",
            format!("three priorities at 0.25 each: mean wait of priority {priority}"),
            "ns",
            COBHAM,
        )
        .expects(rest / ((1.0 - above) * (1.0 - above - share)))
        .allows(SYMBOL * CHARACTER_PS / 2e3, ENDS)
        .found_in(&waits)
    });
    rows.collect()
}

/// Queues behind each other.
pub(crate) fn tandem() -> Vec<Row> {
    let topology = json!({ "chain": { "switches": 3, "endpoints_per_switch": 1 } });
    let mut flow = flow("f", 0.8, 0);
    (flow["from"], flow["to"]) = (json!("ep/0"), json!("ep/2"));
    let scenario = scenario(topology, json!([flow]), "10 ms", "1 ms");
    let idle = 4.0 * (T_PS + ONE_WAY_PS) + 3.0 * PIPELINE_PS;
    let waits = replicate(&scenario, 4, |run| {
        let tally = run.packets("f");
        (tally.mean_ps() - tally.mean_part_ps(Cause::SourceQueue) - idle) / 1e3
    });
    vec![
        Row::exact(
            "tandem",
            "load 0.8 through three switches: mean wait behind the first queue",
            "ns",
            TANDEM,
        )
        .expects(0.0)
        .found_in(&waits),
    ]
}

/// What is in a system, and how long.
pub(crate) fn little() -> Vec<Row> {
    let topology = json!({ "single_switch": { "ports": 8 } });
    let flow = json!({
        "name": "f", "from": "all", "to": { "uniform": {} }, "size": 256, "address_bits": 66,
        "arrivals": { "poisson": { "load": 0.6 } }
    });
    let mut scenario = scenario(topology, json!([flow]), "4 ms", "500 us");
    scenario["run"]["sample_every"] = json!("500 ns");
    let ratios = replicate(&scenario, 16, |run| {
        let tally = run.packets("f");
        run.mean_in_flight() / (tally.latency_ps as f64 / run.window_ps as f64)
    });
    vec![
        Row::exact("little", "8 ports at load 0.6: packets seen by samples / (rate x latency)", "", LITTLE)
            .expects(1.0)
            .found_in(&ratios),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::config::Arrivals;

    /// The law of lengths needs the process that the scenario says.
    #[test]
    fn a_poisson_flow_is_compiled_to_one() {
        let scenario = scenario(link(), json!([flow("f", 0.5, 0)]), "1 us", "0 ps");
        assert!(matches!(run(&scenario).config.sources[0].arrivals, Arrivals::Poisson { .. }));
    }
}
