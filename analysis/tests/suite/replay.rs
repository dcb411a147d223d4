//! Paths of explorations end in the simulator as they do in the explorer.

use analysis::explore::conduit::{Class, Conduit, Configuration, FAULTS};
use analysis::explore::script::Walk;
use analysis::explore::{Graph, Order};
use models::run::{Progress, RunOptions};
use models::stats::SessionTotals;
use models::{Outcome, Simulation};
use session_management::conduit::Algorithm;
use std::collections::BTreeMap;
use std::sync::Arc;

fn run(text: &str) -> Outcome {
    let plan =
        scenarios::load(text, "path", &[]).unwrap_or_else(|errors| panic!("{}\n{text}", errors.render()));
    let variant = &plan.variants[0];
    let mut simulation = Simulation::new(Arc::clone(&variant.config), RunOptions::default(), ());
    while simulation.run(variant.until, 1 << 20) == Progress::Running {}
    simulation.finish().1
}

/// Records as (receive, transmit) and streams handed out, of M and P.
fn ending(totals: &SessionTotals) -> [(Vec<(u16, u16)>, u16); 2] {
    [0, 1].map(|node: usize| {
        let device = totals.by_node[node].0;
        let ends = totals.ends.iter().filter(|end| end.device == device);
        let mut records: Vec<(u16, u16)> = ends.map(|end| (end.receive, end.transmit)).collect();
        records.sort_unstable();
        (records, totals.by_node[node].2 as u16)
    })
}

/// A path of every class of outcome, for each algorithm, fault, configuration and order whose graph is small.
#[test]
fn paths_replay_in_the_simulator() {
    let mut replayed: BTreeMap<Class, (usize, usize)> = BTreeMap::new();
    for algorithm in Algorithm::ALL {
        for fault in FAULTS {
            for configuration in Configuration::ALL {
                for order in Order::ALL {
                    let model = Conduit::new(algorithm, fault, configuration, order);
                    let Some(graph) = Graph::explore(&model, 60_000) else { continue };
                    for class in Class::ALL {
                        let Some(path) = graph.shortest(|end| end.spent && end.class() == class) else {
                            continue;
                        };
                        let what = format!(
                            "{} {} {} {} {}",
                            algorithm.name(),
                            fault.name,
                            configuration.name(),
                            order.name(),
                            class.name()
                        );
                        let walk = Walk::new(&model, &path).expect("it is a path of the model");
                        let text = walk.scenario(class).to_string();
                        let outcome = run(&text);
                        let totals = outcome.totals.one::<SessionTotals>().expect("one flow");
                        assert_eq!(totals.stats.missed_steps, 0, "{what}\n{text}");
                        assert_eq!(ending(totals), walk.ending(), "{what}\n{text}");
                        let count = replayed.entry(class).or_default();
                        count.0 += 1;
                        count.1 += usize::from(walk.instants().is_some());
                    }
                }
            }
        }
    }
    println!("(paths, realisable ones) by class: {replayed:?}");
    let classes: Vec<Class> = replayed.keys().copied().collect();
    // Two conduits come only of another reading of find_partial_conduit.
    let all = [Class::One, Class::None, Class::Leak, Class::HalfOpen, Class::Orphan, Class::Storm];
    assert_eq!(classes, all);
}
