//! Clos networks with one route for each destination: what flows leave each other that meet by chance.

use super::lab::{replicate, run, scenario};
use super::row::{Known, Row, Source};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const STATIC: Source = Source::literature(
    "static routing in a Clos network: flows that share an up link divide it (Geoffray and Hoefler 2008 \
        measured what \
     that leaves)",
    Known::Derived,
);

/// Permutations over a Clos network of 512 endpoints and 32-port crossbars, one route for each destination.
pub(crate) fn clos() -> Vec<Row> {
    let topology = json!({ "fat_tree": { "ports": 32, "endpoints": 512 } });
    let flow = json!({
        "name": "f", "from": "all", "size": 256, "address_bits": 66,
        "arrivals": { "saturated": { "backlog": 2 } },
        "to": { "permutation": { "kind": "random", "seed": 1 } }
    });
    let scenario = scenario(topology, json!([flow]), "150 us", "50 us");
    // What a permutation leaves to each flow follows from who shares an up link; down links have one flow
    // each.
    let pairs = replicate(&scenario, 4, |run| {
        let sources = &run.config.sources;
        let destination = |source: &models::config::SourceConfig| match source.destinations {
            models::config::Destinations::Fixed(id) => id,
            _ => panic!("one partner"),
        };
        let id_of = |endpoint: u32| match &run.config.devices[endpoint as usize].model {
            models::config::DeviceModel::Endpoint(e) => e.ids[0],
            models::config::DeviceModel::Switch(_) => panic!("an endpoint"),
        };
        let (per_leaf, spines) = (16, 16);
        let mut up = vec![0_u32; 32 * spines];
        let link = |source: &models::config::SourceConfig| {
            let (from, to) = (id_of(source.endpoint), destination(source));
            (from / per_leaf != to / per_leaf)
                .then(|| (from / per_leaf) as usize * spines + to as usize % spines)
        };
        for l in sources.iter().filter_map(link) {
            up[l] += 1;
        }
        let share: f64 =
            sources.iter().map(|source| link(source).map_or(1.0, |l| 1.0 / f64::from(up[l]))).sum();
        let law = share / sources.len() as f64;
        let found = run.load("f") / sources.len() as f64;
        found / law
    });
    vec![
        Row::exact(
            "clos",
            "512 endpoints, random permutation: throughput by what the up links leave",
            "",
            STATIC,
        )
        .expects(1.0)
        .allows(0.005, "acknowledgements and packets under way at both ends of the window")
        .found_in(&pairs),
    ]
}

const FLUID: Source = Source::literature(
    "static routing of a Clos network, as fluids: who shares an up link goes as fast as the slowest, outputs \
     serve their inputs in turn",
    Known::Derived,
);
const MEASURED: Source = Source::literature(
    "Geoffray and Hoefler 2008: 38 % on 512 nodes, crossbars of 32 ports, one static route: a mean over \
     random pairs that exchange 1 MB both ways, so that the slower way counts",
    Known::Abstract,
);
const COUNT: Source = Source::literature(
    "Hoefler, Schneider, Lumsdaine 2008: the effective bisection is the mean of 1 / (flows on the fullest \
     link of the way) over random halves and pairs",
    Known::Abstract,
);
const CLUSTERS: Source = Source::literature(
    "Hoefler, Schneider, Lumsdaine 2008: 55 to 60 % for production clusters with the whole bisection (three \
     and more levels of crossbars of 24 ports; here crossbars of 16)",
    Known::Abstract,
);

/// Numbers that are nobody else's (Marsaglia's xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * n as u128) >> 64) as usize
    }
}

/// A fat tree of whole switches, and a drawn pattern of pairs in it.
struct Pattern {
    /// Links up (and down) of a switch.
    half: usize,
    levels: usize,
    /// (from, to) of each flow.
    flows: Vec<(usize, usize)>,
    /// The links between switches on the way of each, in order.
    ways: Vec<Vec<Link>>,
    /// Entries of switches for destinations.
    tables: BTreeMap<String, Map<String, Value>>,
}

/// A link between switches: going up or down, from which switch, through which of its ports.
type Link = (bool, usize, usize, usize);

impl Pattern {
    /// Random halves of the endpoints, paired at random; both ways, or from the one half to the other. Each
    /// switch on the way up leads to each destination through a port that is drawn.
    fn draw(half: usize, levels: usize, both: bool, seed: u64) -> Self {
        let endpoints = half.pow(levels as u32 - 1) * 2 * half;
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..16).for_each(|_| _ = draw.below(2));
        let mut order: Vec<usize> = (0..endpoints).collect();
        (1..endpoints).rev().for_each(|n| order.swap(n, draw.below(n + 1)));
        let mut pattern =
            Pattern { half, levels, flows: Vec::new(), ways: Vec::new(), tables: BTreeMap::new() };
        for pair in order.chunks_exact(2) {
            pattern.add(pair[0], pair[1], &mut draw);
            if both {
                pattern.add(pair[1], pair[0], &mut draw);
            }
        }
        pattern
    }

    fn add(&mut self, from: usize, to: usize, draw: &mut Draw) {
        let half = self.half;
        let (leaf, last) = (from / half, to / half);
        let mut way = Vec::new();
        if leaf != last {
            let up = draw.below(half);
            self.enter("leaf", half.pow(self.levels as u32 - 2) * 2 * half, leaf, to, up);
            way.push((true, 0, leaf, up));
            let (pod, other) = (leaf / half, last / half);
            if self.levels == 3 && pod != other {
                let middle = pod * half + up;
                let top = draw.below(half);
                self.enter("middle", half * 2 * half, middle, to, top);
                way.push((true, 1, middle, top));
                way.push((false, 1, other * half + up, top));
            }
            way.push((false, 0, last, up));
        }
        self.flows.push((from, to));
        self.ways.push(way);
    }

    fn enter(&mut self, kind: &str, count: usize, switch: usize, to: usize, up: usize) {
        let wide = (count - 1).to_string().len();
        let table = self.tables.entry(format!("{kind}/{switch:0wide$}")).or_default();
        table.insert(to.to_string(), json!(self.half + up));
    }

    /// Flows on each link.
    fn counts(&self) -> BTreeMap<Link, usize> {
        let mut counts = BTreeMap::new();
        self.ways.iter().flatten().for_each(|&link| *counts.entry(link).or_insert(0) += 1);
        counts
    }

    /// The static count: each flow has the share of its fullest link.
    fn by_count(&self) -> Vec<f64> {
        let counts = self.counts();
        let most = |way: &Vec<Link>| way.iter().map(|link| counts[link]).max().unwrap_or(1);
        self.ways.iter().map(|way| 1.0 / most(way) as f64).collect()
    }

    /// What flows of two levels leave each other as fluids. Those of an up link take turns there and share
    /// one buffer behind it, so all of them go as fast as the slowest; an output serves the up links that
    /// lead to it in turn, and who has not enough for its turn leaves the rest to the others.
    fn by_fluid(&self) -> Vec<f64> {
        let mut ups: BTreeMap<Link, f64> = BTreeMap::new();
        let mut downs: BTreeMap<Link, BTreeMap<Link, f64>> = BTreeMap::new();
        for way in self.ways.iter().filter(|way| !way.is_empty()) {
            *ups.entry(way[0]).or_insert(0.0) += 1.0;
            *downs.entry(way[1]).or_default().entry(way[0]).or_insert(0.0) += 1.0;
        }
        let mut rates: BTreeMap<Link, f64> = ups.iter().map(|(up, flows)| (*up, 1.0 / flows)).collect();
        for _ in 0..400 {
            let mut next: BTreeMap<Link, f64> = ups.iter().map(|(up, flows)| (*up, 1.0 / flows)).collect();
            for shares in downs.values() {
                let mut asked: Vec<(f64, Link)> =
                    shares.iter().map(|(up, flows)| (flows * rates[up], *up)).collect();
                asked.sort_by(|a, b| a.0.total_cmp(&b.0));
                let (mut left, mut turns) = (1.0, asked.len());
                for (wanted, up) in asked {
                    let turn = left / turns as f64;
                    let most = turn / shares[&up];
                    let slot = next.get_mut(&up).expect("an up link");
                    *slot = slot.min(most);
                    left -= wanted.min(turn);
                    turns -= 1;
                }
            }
            rates.iter_mut().for_each(|(up, rate)| *rate = (*rate + next[up]) / 2.0);
        }
        self.ways.iter().map(|way| way.first().map_or(1.0, |up| rates[up])).collect()
    }

    /// Accepted load of each flow.
    fn run(&self) -> Vec<f64> {
        let ports = 2 * self.half;
        let endpoints = self.half.pow(self.levels as u32 - 1) * ports;
        let topology =
            json!({ "fat_tree": { "levels": self.levels, "ports": ports, "endpoints": endpoints } });
        let wide = (endpoints - 1).to_string().len();
        let flow = |&(from, to): &(usize, usize)| {
            json!({
                "name": format!("f{from}"), "from": format!("ep/{from:0wide$}"), "to": to, "size": 256,
                "address_bits": 66, "arrivals": { "saturated": { "backlog": 2 } }
            })
        };
        let traffic = self.flows.iter().map(flow).collect();
        let mut scenario = scenario(topology, traffic, "150 us", "50 us");
        scenario["routing"] = json!({ "tables": self.tables });
        scenario["switch"] = json!({ "input_buffers": 32 });
        let run = run(&scenario);
        self.flows.iter().map(|(from, _)| run.load(&format!("f{from}"))).collect()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A pair in which both send is done when the slower one is.
fn slower(values: &[f64]) -> f64 {
    mean(&values.chunks_exact(2).map(|pair| pair[0].min(pair[1])).collect::<Vec<f64>>())
}

/// Patterns 1 to 8 of a kind, with the loads that were simulated.
fn patterns(half: usize, levels: usize, both: bool) -> Vec<(Pattern, Vec<f64>)> {
    let one = |seed| {
        let pattern = Pattern::draw(half, levels, both, seed);
        let loads = pattern.run();
        (pattern, loads)
    };
    (1..=8).into_par_iter().map(one).collect()
}

/// Random halves of the endpoints, paired at random, by routes that were drawn: the effective bisection.
pub(crate) fn bisections() -> Vec<Row> {
    let row = |what: &str, source| Row::exact("bisections", what, "", source);
    let of = |all: &[(Pattern, Vec<f64>)], measure: fn(&[f64]) -> f64| -> Vec<f64> {
        all.iter().map(|(_, loads)| measure(loads)).collect()
    };
    let law = |all: &[(Pattern, Vec<f64>)], by: fn(&Pattern) -> Vec<f64>, measure: fn(&[f64]) -> f64| {
        mean(&all.iter().map(|(pattern, _)| measure(&by(pattern))).collect::<Vec<f64>>())
    };
    let whole = "packets are whole, and two outputs that hold up one link alike wait for each other in turns";
    let (both, one) = (patterns(16, 2, true), patterns(16, 2, false));
    let tall = patterns(8, 3, false);
    let (flows, pairs) = (law(&both, Pattern::by_fluid, mean), law(&both, Pattern::by_fluid, slower));
    let (alone, counted) = (law(&one, Pattern::by_fluid, mean), law(&tall, Pattern::by_count, mean));
    vec![
        row("512 endpoints, random pairs, both ways: mean load of a flow", FLUID)
            .expects(flows)
            .allows(0.02 * flows, whole)
            .found(mean(&of(&both, mean))),
        row("512 endpoints, random pairs, both ways: the slower flow of each pair", FLUID)
            .expects(pairs)
            .allows(0.04 * pairs, whole)
            .found(mean(&of(&both, slower))),
        row("512 endpoints, the slower flow of each pair, beside 512 nodes of Myrinet", MEASURED)
            .expects(0.38)
            .allows(0.005, "two digits; buffers and software of the machine are not known")
            .found_in(&of(&both, slower)),
        row("512 endpoints, one half sends: mean load of a flow", FLUID)
            .expects(alone)
            .allows(0.01 * alone, whole)
            .found(mean(&of(&one, mean))),
        row("1 024 endpoints, three levels, one half sends: mean load of a flow", COUNT)
            .expects(counted)
            .allows(
                0.04 * counted,
                "a count does not know that flows of one link also wait for what holds up others",
            )
            .found(mean(&of(&tall, mean))),
        row("1 024 endpoints, three levels, one half sends, beside clusters", CLUSTERS)
            .expects(0.575)
            .allows(0.025, "clusters with the whole bisection are between 0.55 and 0.60, by their routes")
            .found_in(&of(&tall, mean)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, two links up from a leaf: endpoints 0 and 1 share an up link and go to two leaves; beside
    /// 1 two others come to its leaf from elsewhere by one link each. So the last hop gives a third to each
    /// of its three, and 0 waits for 1, which a count does not know. 2 has a link for itself.
    #[test]
    fn a_count_and_a_fluid_by_hand() {
        let up = |leaf, port| (true, 0, leaf, port);
        let down = |leaf, port| (false, 0, leaf, port);
        let ways = vec![
            vec![up(0, 0), down(1, 0)],
            vec![up(0, 0), down(2, 0)],
            vec![up(3, 0), down(2, 0)],
            vec![up(4, 0), down(2, 0)],
            vec![up(3, 1), down(4, 1)],
            vec![],
        ];
        let flows = vec![(0, 2); ways.len()];
        let pattern = Pattern { half: 2, levels: 2, flows, ways, tables: BTreeMap::new() };
        let third = 1.0 / 3.0;
        assert_eq!(pattern.by_count(), [0.5, third, third, third, 1.0, 1.0]);
        let fluid = pattern.by_fluid();
        for (found, law) in fluid.iter().zip([third, third, third, third, 1.0, 1.0]) {
            assert!((found - law).abs() < 1e-9, "{fluid:?}");
        }
    }

    /// What one input cannot take of its turn is shared by the others: 1/4 each of a link of four flows
    /// leaves 3/4 to one flow beside it.
    #[test]
    fn who_has_less_than_a_turn_leaves_the_rest() {
        let up = |leaf| (true, 0, leaf, 0);
        let down = |leaf| (false, 0, leaf, 0);
        let mut ways: Vec<Vec<Link>> = (5..9).map(|leaf| vec![up(0), down(leaf)]).collect();
        ways.push(vec![up(1), down(5)]);
        let flows = vec![(0, 2); ways.len()];
        let pattern = Pattern { half: 4, levels: 2, flows, ways, tables: BTreeMap::new() };
        let fluid = pattern.by_fluid();
        for (found, law) in fluid.iter().zip([0.25, 0.25, 0.25, 0.25, 0.75]) {
            assert!((found - law).abs() < 1e-9, "{fluid:?}");
        }
    }
}
