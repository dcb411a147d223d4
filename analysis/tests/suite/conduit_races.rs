//! Every row of the tables of conduit races, by exhaustive exploration.

use analysis::explore::conduit::{Class, Conduit, Configuration, Event, FAULTS, Fault, Message};
use analysis::explore::{Graph, Order, conduit_table};
use session_management::conduit::Algorithm;

/// Expected rows.
const ROWS: &str = include_str!("conduit_rows.txt");

fn fault(name: &str) -> Fault {
    *FAULTS.iter().find(|fault| fault.name == name).unwrap()
}

fn model(algorithm: &str, fault_name: &str, configuration: &str, order: &str) -> Conduit {
    let algorithm = *Algorithm::ALL.iter().find(|known| known.name() == algorithm).unwrap();
    let configuration = *Configuration::ALL.iter().find(|known| known.name() == configuration).unwrap();
    let order = *Order::ALL.iter().find(|known| known.name() == order).unwrap();
    Conduit::new(algorithm, fault(fault_name), configuration, order)
}

/// The row as the expected text writes it.
fn row(words: &[&str]) -> String {
    let &[algorithm, fault, configuration, order, ..] = words else { panic!("{words:?}") };
    let found = conduit_table(&model(algorithm, fault, configuration, order), 20_000_000).unwrap().unwrap();
    let mut text = format!("{algorithm} {fault} {configuration} {order} {}", found.interleavings());
    for class in Class::ALL {
        if let Some((paths, finals, _)) = found.classes.get(&class) {
            text.push_str(&format!(" {}={paths}/{finals}", class.name()));
        }
    }
    text
}

/// Explores every row of an algorithm. Returns how many there are.
fn check(algorithm: &str) -> usize {
    let mut count = 0;
    for line in ROWS.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == algorithm {
            assert_eq!(row(&words), line);
            count += 1;
        }
    }
    count
}

/// Proves: SMP-3.4.2-4
#[test]
fn the_printed_algorithm() {
    assert_eq!(check("literal"), 30);
}

/// Proves: SMP-3.4.2-4
#[test]
fn the_printed_algorithm_with_one_check() {
    assert_eq!(check("minimal"), 30);
}

/// Up to 4 * 10^11 interleavings: all end well.
///
/// Proves: SMP-3.4.2-4, SMP-3.4.3-1, SMP-3.4.3-2, SMP-3.4.3-4, SMP-3.4.3-5, SMP-3.4.3-6, SMP-3.4.3-7
/// Proves: SMP-3.4.3-9, SMP-3.4.3-10, SMP-3.4.3-11, SMP-3.4.3-12, SMP-3.4.3-13
#[test]
fn the_corrected_algorithm() {
    assert_eq!(check("corrected"), 72);
    let bad = ["duplicate", "leak", "half-open", "orphan", "storm"];
    let rows = ROWS.lines().filter(|line| line.starts_with("corrected"));
    assert!(rows.clone().all(|row| !bad.iter().any(|bad| row.contains(bad))));
}

/// A node forgets everything once. The peer finds out and gives its streams up.
///
/// Proves: SMP-3.4.3-13, SMP-3.8.3-4
#[test]
fn a_restart_leaves_one_conduit_or_none() {
    for (configuration, order, states) in [
        ("MS", "fifo", 337),
        ("PEERS", "fifo", 4567),
        ("CROSS", "fifo", 905),
        // 68 386 if a node remembers that a stream was confirmed after its conduit has ended.
        ("MS", "any", 60_035),
    ] {
        let model = model("corrected", "RESTART1", configuration, order);
        let graph = Graph::explore(&model, 10_000_000).unwrap();
        assert_eq!(graph.len(), states, "{configuration} {order}");
        assert!(graph.outcomes().keys().all(|end| matches!(end.class(), Class::One | Class::None)));
        assert!(graph.outcomes().keys().any(|end| end.spent && end.class() == Class::One));
    }
}

/// How likely it is with a scheduler that knows no preference.
#[test]
fn probabilities() {
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
    let probability = |configuration, order, class| {
        let row = conduit_table(&model("literal", "none", configuration, order), 1_000_000).unwrap().unwrap();
        row.classes.get(&class).map_or(0.0, |class| class.2)
    };
    near(probability("PEERS", "fifo", Class::One), 0.5);
    near(probability("PEERS", "any", Class::One), 0.25);
    near(probability("MS", "any", Class::One), 0.5);
    near(probability("CROSS", "any", Class::Storm), 1.0);
}

/// Where the storm is cut changes neither what ends nor how.
#[test]
fn the_limit_does_not_matter() {
    for configuration in Configuration::ALL {
        for order in Order::ALL {
            let ending = |limit| {
                let model =
                    Conduit { limit, ..Conduit::new(Algorithm::Literal, FAULTS[0], configuration, order) };
                let row = conduit_table(&model, 10_000_000).unwrap().unwrap();
                let ended = row.classes.into_iter().filter(|(class, _)| *class != Class::Storm);
                ended.map(|(class, (paths, finals, _))| (class, paths, finals)).collect::<Vec<_>>()
            };
            let six = ending(6);
            assert_eq!(ending(4), six);
            if order == Order::Fifo {
                assert_eq!(ending(80), six);
            } else {
                assert_eq!(ending(8), six);
            }
        }
    }
}

/// One corrected end is enough when nothing is lost: it refuses the superfluous OPEN.
#[test]
fn a_corrected_end_calms_the_other() {
    for other in [Algorithm::Literal, Algorithm::Minimal] {
        for algorithms in [[Algorithm::Corrected, other], [other, Algorithm::Corrected]] {
            for configuration in Configuration::ALL {
                for order in Order::ALL {
                    let same = Conduit::new(other, FAULTS[0], configuration, order);
                    let row = conduit_table(&Conduit { algorithms, ..same }, 1_000_000).unwrap().unwrap();
                    let classes: Vec<Class> = row.classes.keys().copied().collect();
                    assert_eq!(classes, [Class::One], "{algorithms:?} {configuration:?} {order:?}");
                }
            }
        }
    }
}

/// Crossing OPENs are lost from the start with the printed algorithm; with the corrected one a good end is
/// always possible, whatever went wrong.
#[test]
fn traps() {
    let literal = model("literal", "none", "CROSS", "fifo");
    let graph = Graph::explore(&literal, 1_000_000).unwrap();
    assert_eq!(graph.trapped(|end| end.class() == Class::One), Some(vec![]));
    for fault in FAULTS.iter().filter(|fault| fault.name != "RESTART1") {
        let model = Conduit::new(Algorithm::Corrected, *fault, Configuration::Crossing, Order::Any);
        let graph = Graph::explore(&model, 1_000_000).unwrap();
        assert_eq!(graph.trapped(|end| matches!(end.class(), Class::One | Class::None)), None);
    }
}

/// The shortest way to a stream that nobody will close: the ACCEPT of a return OPEN is lost.
#[test]
fn a_shortest_path_to_a_leak() {
    let model = model("literal", "LOSS1", "MS", "fifo");
    let graph = Graph::explore(&model, 1_000_000).unwrap();
    let path = graph.shortest(|end| end.spent && end.class() == Class::Leak).unwrap();
    let lost: Vec<&Event> = path.iter().filter(|event| matches!(event, Event::Lose(..))).collect();
    assert!(matches!(lost[..], [Event::Lose(1, Message::Accept { .. })]), "{path:#?}");
    assert!(matches!(path[0], Event::Create(0)));
    assert_eq!(graph.shortest(|end| end.spent && end.class() == Class::HalfOpen), None);
}
