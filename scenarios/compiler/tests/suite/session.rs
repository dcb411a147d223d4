//! What the compiler makes of session management, run.

use models::probe::Journey;
use models::stats::SessionTotals;
use models::{Outcome, Probe, Progress, RunOptions, Watched};
use scenarios::load;

/// Octets of the messages of the first device, in their order.
#[derive(Default)]
struct Octets(Vec<u32>);

impl Probe for Octets {
    fn message(&mut self, message: &Journey) {
        if message.source == 0 {
            self.0.push(message.payload);
        }
    }
}

/// Two nodes with these settings, the first of which sends three PDUs over a conduit by `session`.
fn run(first: &str, second: &str, session: &str) -> SessionTotals {
    observed(first, second, session).0
}

/// What [`run`] gives, with the octets of the messages of the first node.
fn observed(first: &str, second: &str, session: &str) -> (SessionTotals, Vec<u32>) {
    let text = format!(
        r#"{{
            "name": "test",
            "topology": {{"single_switch": {{"ports": 2}}}},
            "endpoint": {{"session": {{{first}}}}},
            "overrides": [{{"devices": "ep/1", "endpoint": {{"session": {{{second}}}}}}}],
            "traffic": [{{
                "name": "pdus", "from": "ep/0", "to": "ep/1", "size": 600, "limit": 3,
                "arrivals": {{"constant": {{"interval": "10 us"}}}}, "session": {{{session}}}
            }}],
            "run": {{"until": "200 us", "warmup": "0 ps", "sample_every": "off"}}
        }}"#
    );
    let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = &plan.variants[0];
    let mut seen = Octets::default();
    let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut seen);
    assert_ne!(simulation.run(variant.until, u64::MAX), Progress::Stalled);
    let outcome = simulation.finish();
    let Octets(octets) = seen;
    (outcome.totals.one::<SessionTotals>().expect("one flow").clone(), octets)
}

/// Runs a scenario of two nodes and one flow until then: settings of both nodes, and the flow.
fn until(time: &str, node: &str, flow: &str) -> Outcome {
    let text = format!(
        r#"{{
            "name": "test",
            "topology": {{"single_switch": {{"ports": 2}}}},
            "links": {{"length": "40 m"}},
            "endpoint": {{"session": {{{node}}}}},
            "traffic": [{{"name": "pdus", {flow}}}],
            "run": {{"until": "{time}", "warmup": "0 ps", "sample_every": "off"}}
        }}"#
    );
    let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = &plan.variants[0];
    let mut seen = Octets::default();
    let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut seen);
    assert_ne!(simulation.run(variant.until, u64::MAX), Progress::Stalled);
    simulation.finish()
}

fn outcome(node: &str, flow: &str) -> Outcome {
    until("200 us", node, flow)
}

fn totals(outcome: &Outcome) -> &SessionTotals {
    outcome.totals.one().expect("one flow")
}

/// Two OPENs that cross, as printed: each node takes one StreamID in a round trip, until it has none left for
/// the other. From then on an OPEN is answered by REFUSE, which leaves nothing behind.
///
/// Proves: SMP-4.2.3-4
/// Proves: SMP-3.6.2-1
#[test]
fn who_has_no_stream_id_left_refuses() {
    let end = |limit: u16| {
        let node = format!(r#""algorithm": "literal", "stream_limit": {limit}"#);
        let flow = r#""from": "all", "to": {"uniform": {}}, "session": {"census": "50 us"}"#;
        totals(&outcome(&node, flow)).clone()
    };
    for limit in [1, 2, 30] {
        let end = end(limit);
        let (taken, last) = (2 * u64::from(limit), end.census[3]);
        assert_eq!((end.stats.allocated, end.most_from_one), (taken, limit.into()), "{end:?}");
        assert_eq!((end.stats.accepts, end.stats.refuses, end.stats.opens), (taken, 2, taken + 2));
        assert_eq!((last.streams, last.records), (taken, end.records));
        // OPEN has 24 octets, ACCEPT and REFUSE have 28.
        assert_eq!(end.stats.management_octets, 24 * (taken + 2) + 28 * (taken + 2));
    }
    // With all its StreamIDs it goes on.
    assert_eq!(end(57_344).stats.refuses, 0);
}

/// What a census counts at its instants is what it would have found at the end of a shorter run; it changes
/// nothing else.
#[test]
fn a_census_counts_what_there_is() {
    let node = r#""algorithm": "literal", "stream_limit": 20"#;
    let flow = |more: &str| format!(r#""from": "all", "to": {{"uniform": {{}}}}, "session": {{{more}}}"#);
    let (without, with) = (outcome(node, &flow("")), outcome(node, &flow(r#""census": "7 us""#)));
    assert_eq!((without.outcome, without.trajectory), (with.outcome, with.trajectory));
    assert_eq!(without.events, with.events);
    let (mut end, bare) = (totals(&with).clone(), totals(&without));
    assert_eq!(end.census.len(), 28);
    for count in std::mem::take(&mut end.census) {
        let instant = format!("{} ps", count.at.0);
        let shorter = until(&instant, node, &flow(""));
        let found = totals(&shorter);
        assert_eq!(
            [count.conduits, count.records, count.half_open, count.orphans, count.leaked],
            [found.pairs, found.records, found.half_open, found.orphans, found.leaked],
            "at {instant}"
        );
        assert_eq!((count.allocated, count.octets), (found.stats.allocated, found.stats.management_octets));
    }
    assert_eq!(&end, bare);
}

/// Nodes that take data in different mailboxes, or by different conveyances, come to one conduit, over which
/// everything arrives: where data is taken the acceptor says.
#[test]
fn nodes_with_different_mailboxes_come_to_a_conduit() {
    let ethernet = r#""ethernet": {"mtu": 1500}"#;
    for (first, second) in [
        (r#""data_mailbox": 1"#, r#""data_mailbox": 2"#),
        (r#""data_mailbox": 1"#, r#""data_mailbox": 1"#),
        (r#""data_mailbox": 1"#, ""),
        ("", r#""data_mailbox": 3"#),
        ("", r#""management": "stream", "stream": 100"#),
        ("", r#""data": "stream""#),
        (r#""data_mailbox": 1"#, r#""data": "stream""#),
        (r#""data_mailbox": 1"#, r#""data": "stream", "management": "stream", "stream": 100"#),
    ] {
        for protocol in ["", ethernet] {
            for asks in [false, true] {
                let comma = if protocol.is_empty() { "" } else { ", " };
                let session = format!(r#"{protocol}{comma}"request": {asks}"#);
                let totals = run(first, second, &session);
                let stats = &totals.stats;
                let what = format!("{first} and {second}, {session}: {totals:?}");
                assert_eq!((totals.pairs, totals.duplicates, totals.leaked), (1, 0, 0), "{what}");
                assert_eq!((stats.pdus_sent, stats.pdus_delivered, stats.pdus_lost), (3, 3, 0), "{what}");
                assert_eq!((stats.refuses, stats.failed_opens, stats.opens), (0, 0, 2), "{what}");
            }
        }
    }
}

/// Who has asked, and was told that the protocol is not supported, sends no OPEN; who has not asked is
/// refused.
#[test]
fn no_open_after_unsupported() {
    for (asks, opens) in [(true, 0), (false, 1)] {
        let totals = run("", r#""refuses": true"#, &format!(r#""request": {asks}"#));
        let stats = &totals.stats;
        assert_eq!((stats.opens, stats.refuses, stats.failed_opens), (opens, opens, 1), "{totals:?}");
        assert_eq!((totals.pairs, totals.records, stats.pdus_delivered), (0, 0, 0));
    }
}

/// A node advertises where it takes data, and who has asked repeats that in its OPEN: one attribute of eight
/// octets more than to a node that takes data where it takes everything. Who has not asked cannot know.
#[test]
fn opens_carry_what_was_advertised() {
    let open = |second: &str, asks: bool| {
        let (_, octets) = observed("", second, &format!(r#""request": {asks}"#));
        // REQUEST goes first.
        octets[usize::from(asks)]
    };
    let apart = r#""data_mailbox": 3"#;
    assert_eq!(open(apart, true), open("", true) + 8);
    assert_eq!(open(apart, false), open("", false));
}
