//! Registers of session management that processors initialise from afar, through the fabric.

use models::agent::initialise::{InitialiseStats, InitialiseTotals};
use models::stats::SessionTotals;
use models::{Outcome, Progress, RunOptions, Watched};
use scenarios::load;
use serde_json::{Value, json};

/// ep/0 and ep/1 are nodes that read registers, ep/2 to ep/4 are free, and ep/5 sets the fabric up. The nodes
/// open a conduit at 1 ms and send three PDUs over it.
fn scenario(node: Value, processors: &[Value]) -> Value {
    let mut session = json!({"contact": "registers", "poll": "20 us"});
    session.as_object_mut().unwrap().extend(node.as_object().unwrap().clone());
    let mut traffic = vec![json!({
        "name": "pdus", "from": "ep/0", "to": "ep/1", "size": 100, "limit": 3,
        "arrivals": {"constant": {"interval": "10 us", "phase": "0 ps"}}, "session": {"at": "1 ms"}
    })];
    traffic.extend_from_slice(processors);
    json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 6}},
        "configure": {"fabric": {"host": "ep/5"}},
        "endpoint": {"session": session},
        "traffic": traffic,
        "run": {"until": "5 ms", "warmup": "0 ps", "sample_every": "off"}
    })
}

/// Processors that initialise both nodes.
fn flow(name: &str, from: Value, initialise: Value) -> Value {
    json!({"name": name, "from": from, "to": {"cycle": ["ep/0", "ep/1"]}, "initialise": initialise})
}

fn simulate(scenario: &Value) -> Outcome {
    let plan =
        load(&scenario.to_string(), "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = &plan.variants[0];
    let mut nobody = ();
    let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut nobody);
    assert_ne!(simulation.run(variant.until, u64::MAX), Progress::Stalled);
    simulation.finish()
}

fn sessions(outcome: &Outcome) -> &SessionTotals {
    outcome.totals.one().expect("one flow of sessions")
}

fn initialised(outcome: &Outcome) -> Vec<&InitialiseTotals> {
    outcome.totals.of().collect()
}

/// Visits by how they ended: done, past, found, strangers, given up.
fn ends(stats: &InitialiseStats) -> [u64; 5] {
    [stats.done, stats.past, stats.found, stats.strangers, stats.given_up]
}

/// The nodes have a conduit, over which everything came.
fn assert_up(outcome: &Outcome) {
    let totals = sessions(outcome);
    assert_eq!((totals.pairs, totals.leaked, totals.stats.pdus_delivered), (1, 0, 3), "{totals:?}");
    assert_eq!(totals.stats.failed_opens, 0);
}

/// Whoever writes the registers, they say the same: the node itself, another processor, or each in part. An
/// OPEN that is lost is repeated after the period that they name, 100 us, so that the first PDU takes this
/// long and a few ways of less than 1 us.
///
/// What the last word of a processor says of Max_Attr, 0, changes nothing: readers read all attributes.
///
/// Proves: SMP-3.2-3, SMP-3.2-2, SMP-5.2.4-3
#[test]
fn whoever_writes_registers_they_say_the_same() {
    let lost = |mut scenario: Value| {
        scenario["endpoint"]["session"]["retry"] = json!("100 us");
        let fault = json!([{"from": "ep/0", "to": "ep/1", "message": "open", "nth": 1, "fate": "lose"}]);
        scenario["traffic"][0]["session"]["faults"] = fault;
        scenario["traffic"][0]["arrivals"]["constant"]["phase"] = json!("1100 us");
        simulate(&scenario)
    };
    let all = flow("remote", json!("ep/2"), json!({}));
    let rest = |writes: &str| flow("rest", json!("ep/2"), json!({"stage": 2, "writes": [writes]}));
    let ways = [
        (json!({}), vec![]),
        (json!({"writes": []}), vec![all.clone()]),
        (json!({"writes": ["contact"]}), vec![rest("periods")]),
        (json!({"writes": ["periods"]}), vec![rest("contact")]),
        (
            json!({"writes": []}),
            vec![
                flow("first", json!("ep/2"), json!({"writes": ["contact"]})),
                flow("second", json!("ep/3"), json!({"stage": 2, "writes": ["periods"], "poll": "10 us"})),
            ],
        ),
    ];
    let mut told = Vec::new();
    for (node, processors) in ways {
        let outcome = lost(scenario(node, &processors));
        assert_up(&outcome);
        let stats = &sessions(&outcome).stats;
        assert_eq!(stats.retransmissions, 1);
        for totals in initialised(&outcome) {
            assert_eq!((ends(&totals.stats), totals.together, totals.left), ([2, 0, 0, 0, 0], 0, 0));
        }
        told.push((stats.register_reads, stats.messages, stats.pdus_sent));
    }
    assert!(told.iter().all(|other| *other == told[0]), "{told:?}");
}

/// What one processor asks for at one node. To find the block: features, pointer, and three headers (link,
/// VoQ backpressure, sessions). Then the stage, the lock read, written and read, the stage again, six words
/// of three attributes, the contact, their count with the end of the stage, that read, and the lock given
/// back and read.
///
/// Proves: SMP-3.2-4, SMP-3.2-5, SMP-5.2.2-2, SMP-5.2.2-3
#[test]
fn what_a_processor_asks_for() {
    let all = flow("remote", json!("ep/2"), json!({}));
    let outcome = simulate(&scenario(json!({"writes": []}), &[all]));
    assert_up(&outcome);
    let totals = initialised(&outcome)[0];
    assert_eq!(totals.processors, 1);
    let (reads, writes) = (5 + 6, 1 + 6 + 1 + 1 + 1);
    assert_eq!((totals.stats.reads, totals.stats.writes), (2 * reads, 2 * writes));
    assert_eq!(totals.stats.holds.len(), 2);
    // One access after the other: it has the first lock back before it takes the second.
    let [first, second] = [totals.stats.holds[0], totals.stats.holds[1]];
    assert!(first.from < first.until.unwrap() && first.until.unwrap() < second.from);
}

/// Two processors want the same, one a little later than the other, by all that a dozen accesses take. Law:
/// one of them does it, at each node; the other comes again and finds it done; never do both count a lock as
/// theirs, and no lock is left.
///
/// Proves: SMP-3.2-4, SMP-3.2-5
#[test]
fn exactly_one_of_two_processors_does_it() {
    let (mut locked, mut beaten, mut both) = (0, 0, 0);
    for offset in (0..8_000).step_by(125) {
        let initialise = json!({"offset": format!("{offset} ns"), "poll": "3 us"});
        let all = flow("remote", json!(["ep/2", "ep/3"]), initialise);
        let outcome = simulate(&scenario(json!({"writes": []}), &[all]));
        assert_up(&outcome);
        let totals = initialised(&outcome)[0];
        assert_eq!((totals.processors, totals.together, totals.left), (2, 0, 0), "{offset} ns: {totals:?}");
        assert_eq!(ends(&totals.stats), [2, 2, 0, 0, 0], "{offset} ns: {totals:?}");
        assert_eq!((totals.stats.undone, totals.stats.failed), (0, 0));
        locked += totals.stats.locked;
        beaten += totals.stats.beaten;
        let by: Vec<u16> = totals.stats.holds.iter().map(|hold| hold.by).collect();
        both += usize::from(by[0] != by[1]);
    }
    // All three cases of a race occur, and each of the two wins one node in some of them.
    assert!(locked > 0 && beaten > 0 && both > 0, "{locked} {beaten} {both}");
}

/// Two processors that lock with one value do not see each other, of which the compiler warns: at some offset
/// both count the lock as theirs, and both do the stage.
///
/// Proves: SMP-5.2.2-5
#[test]
fn one_value_locks_for_nobody() {
    let run = |offset: u64| {
        let initialise = json!({"lock": 7, "offset": format!("{offset} ns"), "poll": "3 us"});
        let all = flow("remote", json!(["ep/2", "ep/3"]), initialise);
        scenario(json!({"writes": []}), &[all])
    };
    let plan = load(&run(0).to_string(), "test.json", &[]).expect("it is no error");
    let codes: Vec<&str> = plan.warnings.items.iter().map(|item| item.code).collect();
    assert_eq!(codes, ["SC099"]);
    let together = |offset| {
        let outcome = simulate(&run(offset));
        let totals = initialised(&outcome)[0];
        assert!(totals.same_value);
        (totals.together, totals.stats.done)
    };
    let found: Vec<(u64, u64)> = (0..6_000).step_by(300).map(together).collect();
    assert!(found.iter().any(|&(together, done)| together > 0 && done > 2), "{found:?}");
}

/// The processor of a later stage comes first. It takes no lock before its turn, and does its stage when the
/// first is done. A node whose registers are not complete gets no message.
///
/// Proves: SMP-3.2-6, SMP-3.2-7, SMP-5.2.4-5
#[test]
fn a_stage_waits_for_the_one_before() {
    let first = flow("first", json!("ep/3"), json!({"at": "2 ms", "writes": ["contact"]}));
    let second = flow("second", json!("ep/2"), json!({"stage": 2, "writes": ["periods"], "poll": "100 us"}));
    let outcome = simulate(&scenario(json!({"writes": []}), &[first, second]));
    assert_up(&outcome);
    let [first, second] = initialised(&outcome)[..] else { panic!("two flows") };
    assert_eq!((ends(&first.stats), ends(&second.stats)), ([2, 0, 0, 0, 0], [2, 0, 0, 0, 0]));
    // From its begin to 2 ms later every 100 us, to each of two nodes; a look takes less than that.
    assert!((2 * 18..=2 * 21).contains(&second.stats.early), "{second:?}");
    assert_eq!((second.stats.locked, second.stats.beaten, second.stats.holds.len()), (0, 0, 2));
    let done = first.stats.holds.iter().map(|hold| hold.until.unwrap()).max();
    assert!(second.stats.holds.iter().map(|hold| hold.from).max() > done);
    // The conduit is wanted at 1 ms, and there after both stages are done.
    let ready = second.stats.last.unwrap();
    assert!(sessions(&outcome).all_open.unwrap() > ready, "{ready:?}");
    assert!(sessions(&outcome).stats.register_reads > 28, "it is read again and again");
}

/// The link of a processor goes down while it has the lock of the first node. The other one respects that,
/// and gives the node up after ten attempts; the second node it initialises. The first never gets a message.
///
/// Proves: SMP-3.2-4, SMP-3.2-7
#[test]
fn a_lock_that_is_left_behind_is_respected() {
    let initialise = json!({"offset": "1 us", "poll": "100 us", "attempts": 10});
    let all = flow("remote", json!(["ep/2", "ep/3"]), initialise);
    let mut scenario = scenario(json!({"writes": []}), &[all]);
    let outcome = simulate(&scenario);
    let hold = initialised(&outcome)[0].stats.holds[0];
    let middle = (hold.from.0 + hold.until.unwrap().0) / 2;
    let outage = json!([{"link": "ep/2:0", "at": format!("{middle} ps")}]);
    scenario["faults"] = json!({"outages": outage});
    let outcome = simulate(&scenario);
    let totals = initialised(&outcome)[0];
    // Of its own two visits one processor ends none in time, or gives both up; the other one ends one of two.
    assert_eq!((totals.stats.done, totals.stats.past, totals.together), (1, 0, 0), "{totals:?}");
    assert!(totals.stats.locked >= 10, "{totals:?}");
    assert_eq!(totals.stats.holds.iter().filter(|hold| hold.until.is_none()).count(), 1);
    let totals = sessions(&outcome);
    assert_eq!((totals.pairs, totals.stats.pdus_delivered, totals.stats.failed_opens), (0, 0, 0));
}

/// A node without a block: both CARs of operations, its Component Tag, which is written and read again. The
/// lower half of the tag is that of who sets the fabric up. A second processor finds it said.
///
/// Proves: SMP-5.1-3, SMP-5.3-1, SMP-3.2-2
#[test]
fn a_component_tag_is_written_from_afar() {
    let node = json!({"mailbox": 2, "announces": "component_tag", "writes": []});
    let all = flow("remote", json!("ep/2"), json!({}));
    let outcome = simulate(&scenario(node.clone(), &[all]));
    assert_up(&outcome);
    let stats = &initialised(&outcome)[0].stats;
    assert_eq!((ends(stats), stats.holds.len()), ([2, 0, 0, 0, 0], 0));
    assert_eq!((stats.reads, stats.writes), (2 * (4 + 3 + 1), 2));
    let found = &outcome.enumeration.as_ref().unwrap().devices;
    assert!(found.iter().all(|found| found.device.is_some()), "the numbers of the host are still there");
    let later = flow("remote", json!(["ep/2", "ep/3"]), json!({"offset": "500 us"}));
    let outcome = simulate(&scenario(node, &[later]));
    assert_up(&outcome);
    assert_eq!(ends(&initialised(&outcome)[0].stats), [2, 2, 0, 0, 0]);
}

/// Who visits all endpoints finds the nodes among them, also those that initialise themselves, by their
/// blocks and by their Component Tags.
///
/// Proves: SMP-3.3-6
#[test]
fn who_looks_finds_who_takes_part() {
    for announces in ["block", "component_tag"] {
        let all =
            json!({"name": "remote", "from": "ep/2", "to": {"uniform": {}}, "initialise": {"at": "500 us"}});
        let outcome = simulate(&scenario(json!({"announces": announces}), &[all]));
        assert_up(&outcome);
        let stats = &initialised(&outcome)[0].stats;
        assert_eq!((ends(stats), stats.writes), ([0, 0, 2, 3, 0], 0), "{announces}: {stats:?}");
    }
}
