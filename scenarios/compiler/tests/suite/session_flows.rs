//! Several flows of session management at one endpoint: one node with a protocol for each of them.

use crate::watched::watched;
use models::Outcome;
use models::stats::SessionTotals;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Runs flows among so many endpoints.
fn run(endpoints: u16, until: &str, flows: Value) -> Outcome {
    let scenario = json!({
        "name": "test",
        "topology": {"single_switch": {"ports": endpoints}},
        "traffic": flows,
        "run": {"until": until, "warmup": "0 ps", "sample_every": "off"}
    });
    simulate(&scenario)
}

fn simulate(scenario: &Value) -> Outcome {
    let ((), outcome) = watched(scenario);
    outcome
}

fn totals(outcome: &Outcome) -> Vec<&SessionTotals> {
    outcome.totals.of::<SessionTotals>().collect()
}

/// A flow from ep/0 to ep/1 that sends so many PDUs over conduits.
fn flow(name: &str, limit: u64, session: Value) -> Value {
    json!({
        "name": name, "from": "ep/0", "to": "ep/1", "size": 600, "limit": limit,
        "arrivals": {"constant": {"interval": "10 us"}}, "session": session
    })
}

/// Two endpoints speak Ethernet, a protocol of their own and a vendor's, each with a conduit. Law: each flow
/// has one conduit, made of two OPENs and two ACCEPTs; each end has given three StreamIDs to the other, 0 to
/// 2, none of them twice although the ACCEPTs are of different protocols; and what one flow sends comes in
/// that flow.
///
/// Proves: SMP-1.2-3, SMP-3.5.2.5-6, SMP-3.4-2
#[test]
fn flows_share_the_node_of_an_endpoint() {
    let outcome = run(
        2,
        "1 ms",
        json!([
            flow("frames", 5, json!({"ethernet": {}})),
            flow("files", 7, json!({})),
            flow("bulk", 9, json!({"vendor": {"vendor": "EXAMPLE", "name": "bulk"}})),
        ]),
    );
    let mut streams = [BTreeSet::new(), BTreeSet::new()];
    for (totals, pdus) in totals(&outcome).into_iter().zip([5, 7, 9]) {
        assert_eq!((totals.pairs, totals.records, totals.leaked), (1, 2, 0));
        assert_eq!((totals.stats.opens, totals.stats.accepts, totals.stats.allocated), (2, 2, 2));
        assert_eq!((totals.stats.pdus_sent, totals.stats.pdus_delivered), (pdus, pdus));
        assert_eq!(totals.stats.octets_delivered, 600 * pdus);
        for end in &totals.ends {
            assert!(streams[end.device as usize].insert(end.receive), "{end:?}");
        }
    }
    assert_eq!(streams, [BTreeSet::from([0, 1, 2]), BTreeSet::from([0, 1, 2])]);
}

/// What is sent is that of its flow also below the protocol, whatever made the node send it: a timer of the
/// node, or a message of another flow that ended. Law: the first OPEN of the second flow is lost and comes
/// again; so its node makes 3 OPENs, 2 ACCEPTs and a message for each PDU, of which all but one leave; 4 and
/// the PDUs in the other flow.
#[test]
fn messages_are_those_of_their_flow() {
    let faults = json!([{"from": "ep/0", "to": "ep/1", "message": "open", "nth": 1, "fate": "lose"}]);
    let outcome = run(
        2,
        "1 s",
        json!([flow("frames", 5, json!({"ethernet": {}})), flow("files", 7, json!({"faults": faults}))]),
    );
    for (totals, (pdus, lost)) in totals(&outcome).into_iter().zip([(5, 0), (7, 1)]) {
        let flow = outcome.protocols[usize::from(totals.flow)];
        assert_eq!((totals.stats.messages, totals.stats.data_messages), (4 + lost + pdus, pdus));
        assert_eq!((totals.stats.opens, totals.stats.injected), (2 + lost, [lost, 0, 0]));
        assert_eq!((flow.sent, flow.delivered, flow.completed), (4 + pdus, 4 + pdus, 4 + pdus));
    }
}

/// A node that restarts loses what it had in all its flows, whichever of them says so, and has one conduit in
/// each of them again.
#[test]
fn a_restart_is_one_of_all_flows() {
    let restarts = json!([{"node": "ep/0", "at": "300 us"}]);
    let outcome = run(
        2,
        "2 s",
        json!([flow("frames", 5, json!({"ethernet": {}})), flow("files", 7, json!({"restarts": restarts}))]),
    );
    for totals in totals(&outcome) {
        assert_eq!((totals.pairs, totals.records, totals.leaked), (1, 2, 0));
        assert_eq!((totals.stats.restarts, totals.stats.ended), (1, 2));
        assert_eq!(totals.stats.allocated, 4);
    }
}

/// A node asks a peer for the attributes of one protocol at a time: two REQUESTs leave one after the other,
/// and each OPEN waits for its own answer. Law: REQUEST, ADVERTISE, two OPENs and two ACCEPTs in each flow.
///
/// Proves: SMP-3.5.1.1-1
#[test]
fn attributes_are_asked_for_one_after_the_other() {
    let outcome = run(
        2,
        "1 ms",
        json!([
            flow("frames", 1, json!({"ethernet": {}, "request": true})),
            flow("files", 1, json!({"request": true})),
        ]),
    );
    for totals in totals(&outcome) {
        assert_eq!((totals.pairs, totals.stats.pdus_delivered), (1, 1));
    }
    let messages: u64 = totals(&outcome).iter().map(|totals| totals.stats.messages).sum();
    assert_eq!(messages, 2 * (1 + 1 + 2 + 2 + 1));
}

/// Figure 2-1: a node speaks Ethernet with one peer and a file protocol with another; neither of these knows
/// the other protocol. Each flow sees the nodes that take part in it.
#[test]
fn each_protocol_has_its_own_peers() {
    let mut files = flow("files", 4, json!({"opens": "stream"}));
    files["to"] = json!("ep/2");
    let outcome = run(3, "1 ms", json!([flow("frames", 5, json!({"ethernet": {}})), files]));
    let all = totals(&outcome);
    assert_eq!((all[0].nodes, all[0].pairs, all[0].streams), (2, 1, 0));
    assert_eq!((all[1].nodes, all[1].pairs, all[1].streams), (2, 0, 1));
    assert_eq!(all.iter().map(|totals| totals.stats.pdus_delivered).collect::<Vec<_>>(), [5, 4]);
}

/// ep/7 takes part in two flows, ep/2 in one of them. Whatever ep/7 says to ep/2, an answer for instance, is
/// said in the flow that both know, whichever acts at that instant: nobody gets a message of a flow that it
/// is not in.
#[test]
fn messages_go_in_a_flow_that_both_ends_are_in() {
    let outcome = simulate(&json!({
        "name": "test",
        "seed": 7,
        "topology": {"single_switch": {"ports": 8}},
        "links": {"length": "100 m", "rate": "1.25 Gbaud"},
        "endpoint": {
            "host": {"rx_service": {"uniform": ["0 ps", "2 us"]}, "rx_queue": 1, "protocol_clock": 50_000},
            "session": {"record_limit": 1, "first_stream": 0}
        },
        "traffic": [
            {
                "name": "one", "from": ["ep/0", "ep/1", "ep/5", "ep/6"], "to": "ep/7", "size": 900,
                "limit": 1,
                "arrivals": {"constant": {"interval": "9 us", "phase": "random"}}, "priority": 1,
                "session": {"inject": [{"at": "5 us", "from": "ep/0", "to": "ep/7", "octets": "00"}]}
            },
            {
                "name": "exchange", "from": "all",
                "session": {"program": {"collective": "all_to_all", "octets": 1}, "protocol": 701}
            }
        ],
        "run": {"until": "100 us"}
    }));
    assert!(totals(&outcome).iter().all(|totals| totals.stats.opens > 0));
}
