//! Nodes of session management that take management messages by type 11, by type 9, or by both.

use crate::watched::watched;
use models::Outcome;
use models::agent::initialise::InitialiseTotals;
use models::stats::SessionTotals;
use serde_json::{Value, json};

/// ep/0 manages by messages, ep/2 by streams; both open a conduit to ep/1, whose settings are given, and send
/// three PDUs over it. ep/3 sets the fabric up.
fn scenario(middle: Value, contact: &str) -> Value {
    json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 5}},
        "configure": {"fabric": {"host": "ep/3"}},
        "endpoint": {"session": {"contact": contact}},
        "overrides": [
            {"devices": "ep/1", "endpoint": {"session": middle}},
            {"devices": "ep/2", "endpoint": {"session": {"management": "stream"}}}
        ],
        "traffic": [{
            "name": "pdus", "from": ["ep/0", "ep/2"], "to": "ep/1", "size": 100, "limit": 3,
            "arrivals": {"constant": {"interval": "10 us", "phase": "0 ps"}}, "session": {"at": "1 ms"}
        }],
        "run": {"until": "5 ms", "warmup": "0 ps", "sample_every": "off"}
    })
}

fn simulate(scenario: &Value) -> Outcome {
    let ((), outcome) = watched(scenario);
    outcome
}

/// Two conduits, made of two OPENs and two ACCEPTs each, over which everything came.
fn sessions(outcome: &Outcome) -> &SessionTotals {
    let totals: &SessionTotals = outcome.totals.one().expect("one flow of sessions");
    assert_eq!((totals.pairs, totals.leaked, totals.stats.pdus_delivered), (2, 0, 6), "{totals:?}");
    assert_eq!((totals.stats.opens, totals.stats.accepts, totals.stats.retransmissions), (4, 4, 0));
    totals
}

/// A node on both conveyances: all four messages of a conduit go by type 11 where the other node is on it,
/// and by type 9 where that one is. A node on one of them is sent what goes to it by that one, and so mixes
/// both in a conduit with a node on the other.
///
/// Proves: SMP-2.4-2, SMP-3.3-2, SMP-2.4-4
#[test]
fn each_peer_is_met_on_its_own_conveyance() {
    for contact in ["assumed", "registers"] {
        let managed = |middle: Value| sessions(&simulate(&scenario(middle, contact))).stats.managed;
        assert_eq!(managed(json!({"management": "both"})), [4, 4], "{contact}");
        // Three nodes send to ep/1, or get from it; what goes to ep/2 goes by type 9.
        assert_eq!(managed(json!({"management": "message"})), [6, 2], "{contact}");
        assert_eq!(managed(json!({"management": "stream"})), [2, 6], "{contact}");
        // Nodes on both take type 11 among themselves.
        let mut all = scenario(json!({}), contact);
        all["overrides"] = json!([]);
        all["endpoint"]["session"]["management"] = json!("both");
        assert_eq!(sessions(&simulate(&all)).stats.managed, [8, 0], "{contact}");
    }
}

/// What is read of whom. A node with one block: features, pointer, three headers (link, VoQ backpressure,
/// sessions), three registers and six words of attributes. A second block is a header and nine registers
/// more. If the mailbox stands in the Component Tag, who manages by streams alone reads the block alone; who
/// manages by messages, or by these in the first place, reads both CARs of operations and the tag besides, of
/// each node whose blocks offer none: of ep/1 and of ep/2.
///
/// Proves: SMP-2.4-2, SMP-3.3-5, SMP-5.3-5
#[test]
fn a_block_for_each_conveyance_or_a_block_and_a_tag() {
    let reads = |middle: Value| {
        let outcome = simulate(&scenario(middle, "registers"));
        let stats = &sessions(&outcome).stats;
        (stats.register_reads, stats.managed)
    };
    let one = 5 + 9;
    assert_eq!(reads(json!({})), (4 * one, [6, 2]));
    assert_eq!(reads(json!({"management": "both"})), (2 * one + 2 * (one + 10), [4, 4]));
    let beside = json!({"management": "both", "announces": "block_and_tag", "stream": 255, "mailbox": 3});
    assert_eq!(reads(beside), (2 * one + 2 * (one + 3), [4, 4]));
}

/// A processor elsewhere writes both blocks, each under its own lock, or the block and the tag. It makes the
/// accesses of one block twice, without the list of blocks; of the tag it reads both CARs and the tag, writes
/// it and reads it again.
///
/// Proves: SMP-3.2-3
#[test]
fn registers_of_two_conveyances_are_written_from_afar() {
    for (announces, reads, writes) in [("block", 6 + 2 * 6, 2 * 10), ("block_and_tag", 5 + 6 + 3 + 1, 10 + 1)]
    {
        let middle = json!({"management": "both", "announces": announces, "writes": []});
        let mut scenario = scenario(middle, "registers");
        let traffic = scenario["traffic"].as_array_mut().unwrap();
        traffic.push(json!({"name": "remote", "from": "ep/4", "to": "ep/1", "initialise": {}}));
        let outcome = simulate(&scenario);
        assert_eq!(sessions(&outcome).stats.managed, [4, 4], "{announces}");
        let totals: &InitialiseTotals = outcome.totals.one().expect("one flow of processors");
        let stats = &totals.stats;
        assert_eq!((stats.done, stats.given_up, totals.left), (1, 0, 0), "{announces}: {totals:?}");
        assert_eq!((stats.reads, stats.writes), (reads, writes), "{announces}");
    }
}
