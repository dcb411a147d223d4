//! What the compiler makes of session management, run.

use crate::watched::watched;
use models::probe::Journey;
use models::stats::SessionTotals;
use models::{Outcome, Probe, Progress, RunOptions, Watched};
use scenarios::load;
use serde_json::{Value, json};

/// When the one PDU of a stream arrives whose ACCEPT meets twenty commands that a host takes a microsecond
/// each for, at the end that sends them or at the one that gets them.
fn behind_commands(carrier: &str, service: &str, classes: bool) -> u64 {
    let commands: Vec<String> =
        (0..20).map(|_| r#"{"at": "1 us", "from": "ep/1", "to": "ep/0", "code": 240}"#.to_owned()).collect();
    let text = format!(
        r#"{{
            "name": "test",
            "topology": {{"single_switch": {{"ports": 2}}}},
            "endpoint": {{"session": {{
                "management": "{carrier}", "classes": {classes}, "user_commands": [240]
            }}}},
            "overrides": [{{"devices": "ep/{}", "endpoint": {{"host": {{"{service}": "1 us"}}}}}}],
            "traffic": [{{
                "name": "pdus", "from": "ep/0", "to": "ep/1", "size": 60, "limit": 1,
                "arrivals": {{"constant": {{"interval": "1 us", "phase": "0 ps"}}}},
                "session": {{"opens": "stream", "at": "2 us", "user_defined": [{}]}}
            }}],
            "run": {{"until": "200 us", "warmup": "0 ps", "sample_every": "off"}}
        }}"#,
        u8::from(service == "tx_service"),
        commands.join(", ")
    );
    let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = &plan.variants[0];
    let mut nobody = ();
    let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut nobody);
    assert_ne!(simulation.run(variant.until, u64::MAX), Progress::Stalled);
    let outcome = simulation.finish();
    let stats = &totals(&outcome).stats;
    assert_eq!((stats.user_defined, stats.pdus_delivered), ([20, 20, 0], 1));
    longest(stats)
}

/// ACCEPT goes before commands in both queues of the host, whatever carries it: it waits for the one that is
/// served, not for twenty.
///
/// Proves: SMP-3.7.2-1
#[test]
fn the_high_class_goes_first() {
    for carrier in ["stream", "message"] {
        for service in ["tx_service", "rx_service"] {
            let (behind, before) =
                (behind_commands(carrier, service, false), behind_commands(carrier, service, true));
            // Twenty of 1 us, from 1 us on, and its own. Over type 11 it overtakes those on the way that are
            // not there yet.
            let least = if (carrier, service) == ("message", "rx_service") { 10_000_000 } else { 20_000_000 };
            assert!((least..23_000_000).contains(&behind), "{carrier}, {service}: {behind}");
            // OPEN at 2 us, three ways of less than 0.3 us, the rest of one service, and its own.
            assert!((3_000_000..5_000_000).contains(&before), "{carrier}, {service}: {before}");
        }
    }
}

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

/// The longest time of a PDU, ps.
fn longest(stats: &models::stats::SessionStats) -> u64 {
    *stats.pdu_ps.last().expect("PDUs that were taken")
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
        assert_eq!((end.stats.allocated, end.most_from_one.0), (taken, limit.into()), "{end:?}");
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

/// The header of data that the receiver names in ACCEPT, and the Offset octets that the opener asks for, are
/// in front of every PDU, and in no length of it.
///
/// Proves: SMP-3.5.3.9-1
/// Proves: SMP-3.5.3.3-1
/// Proves: SMP-3.5.3.3-3
#[test]
fn headers_and_offset_octets_are_what_was_agreed() {
    for (header, octets) in [("data", 12), ("data1", 16), ("data2", 4)] {
        for offset in [0, 8, 255] {
            let first = format!(r#""data_offset": {offset}"#);
            let (totals, sent) = observed(&first, &format!(r#""header": "{header}""#), "");
            assert_eq!((totals.stats.pdus_delivered, totals.stats.pdus_lost), (3, 0), "{header}: {totals:?}");
            assert_eq!(totals.stats.octets_delivered, 3 * 600);
            let data = sent.iter().filter(|&&message| message == 600 + octets + offset);
            assert_eq!(data.count(), 3, "{header}, {offset}: {sent:?}");
        }
    }
}

/// Offset octets can be somebody's: DATA_OFFSET_VENDOR goes before DATA_OFFSET in OPEN and ADVERTISE, eight
/// octets more, and is passed over by who does not care. Ethernet knows no others. Who has asked sends them
/// too.
///
/// Proves: SMP-3.5.3.2-1
/// Proves: SMP-3.5.3.3-2
/// Proves: SMP-3.9-1
#[test]
fn offset_octets_of_a_vendor() {
    // What is in front of the payload of DATA, and what an OPEN to a node without wishes has.
    let kinds = [
        ("", 12, 24),
        (r#""ethernet": {"mtu": 1500}, "#, 12 + 14, 48),
        (r#""vendor": {"vendor": "EXAMPLE", "name": "bulk"}, "#, 12, 40),
    ];
    for (kind, header, open) in kinds {
        let first = r#""data_offset": 24, "data_offset_vendor": "00:1b:21""#;
        let (totals, sent) = observed(first, "", &format!(r#"{kind}"request": false"#));
        assert_eq!((totals.pairs, totals.stats.refuses, totals.stats.pdus_delivered), (1, 0, 3), "{kind}");
        assert_eq!(sent[0], open + 16, "{kind}");
        assert_eq!(sent.iter().filter(|&&octets| octets == 600 + header + 24).count(), 3, "{kind}: {sent:?}");
        // The other way round: the acceptor advertises them.
        let (totals, sent) = observed("", first, &format!(r#"{kind}"request": true"#));
        assert_eq!((totals.pairs, totals.stats.refuses, totals.stats.pdus_delivered), (1, 0, 3), "{kind}");
        assert_eq!(sent.iter().filter(|&&octets| octets == 600 + header + 24).count(), 3, "{kind}: {sent:?}");
        let (_, sent) = observed("", first, &format!(r#"{kind}"request": false"#));
        assert_eq!(sent.iter().filter(|&&octets| octets == 600 + header).count(), 3, "{kind}: {sent:?}");
    }
}

/// Vendors' attributes in a protocol that is nobody's: VENDOR goes before them, in OPEN and ADVERTISE. Who
/// does not understand them refuses; who has asked leaves them out.
///
/// Proves: SMP-3.5.3.11-1
/// Proves: SMP-3.5.3-7
#[test]
fn vendors_attributes_in_other_protocols() {
    for (kind, open) in [("", 24), (r#""ethernet": {"mtu": 1500}, "#, 48)] {
        for (understands, asks, refused) in
            [(r#"["78", "ef01"]"#, false, 0), (r#"["78"]"#, false, 1), ("[]", true, 0), ("[]", false, 1)]
        {
            let first = r#""vendor": "EXAMPLE", "understands": ["78", "ef01"],
                "vendor_attributes": ["7801020304050607", "ef01000000000000"]"#;
            let second = format!(r#""vendor_attributes": [], "understands": {understands}"#);
            let (totals, sent) = observed(first, &second, &format!(r#"{kind}"request": {asks}"#));
            let what = format!("{kind}{understands}, {asks}: {totals:?}");
            assert_eq!((totals.stats.refuses, totals.pairs), (refused, 1 - refused), "{what}");
            // REQUEST goes first. Of VENDOR and two attributes VENDOR is left for who does not know them.
            let octets = if asks { open + 8 } else { open + 24 };
            assert_eq!(sent[usize::from(asks)], octets, "{what}");
        }
    }
}

/// A PDU of DATA2 is one message of its receiver's mailbox: 4 096 octets, or 256 above mailbox 3, of which
/// the header takes 4 and the sender's Offset octets the rest. A longer one is refused by `check`, at the
/// size; bad cases 460 to 462 have its words.
///
/// Proves: SMP-4.3.3-3
#[test]
fn a_pdu_of_data2_is_one_message() {
    for (octets, settings) in [
        (4_092, r#""header": "data2""#),
        (4_084, r#""header": "data2", "data_offset": 8"#),
        (252, r#""header": "data2", "mailbox": 9"#),
        (244, r#""header": "data2", "mailbox": 9, "data_offset": 8"#),
    ] {
        let flow = format!(
            r#""from": "ep/0", "to": "ep/1", "size": {octets}, "limit": 2,
               "arrivals": {{"constant": {{"interval": "20 us"}}}}, "session": {{}}"#
        );
        let stats = totals(&outcome(settings, &flow)).stats.clone();
        assert_eq!((stats.pdus_delivered, stats.pdus_lost), (2, 0), "{octets}");
    }
}

/// Frames that are bound to be lost, because their nodes agree on a smaller MTU, are told before the run, at
/// their size, and the run loses just these: half of what goes to the node with 900 octets, nothing of what
/// goes to the other. Nodes that come to no conduit, and frames to everybody, have no MTU that could be
/// exceeded.
///
/// Proves: SMP-7.2.1-2
#[test]
fn frames_above_the_mtu_are_told() {
    let scenario = |own: Value, peer: Value, every: u32| {
        json!({
            "name": "x",
            "topology": {"single_switch": {"ports": 3}},
            "overrides": [
                {"devices": "ep/1", "endpoint": {"session": {"mtu": peer}}}
            ],
            "endpoint": {"session": {"mtu": own}},
            "traffic": [{
                "name": "frames", "from": "ep/0", "to": {"cycle": ["ep/1", "ep/2"]},
                "session": {"ethernet": {"mtu": 1500, "broadcast_every": every}},
                "size": [{"payload": 900, "weight": 1}, {"payload": 901, "weight": 1}],
                "arrivals": {"constant": {"interval": "10 us"}}, "limit": 40
            }],
            "run": {"until": "1 ms"}
        })
    };
    let range = |to: u16| json!({"from": 64, "to": to});
    for (own, peer, every, told) in [
        (range(1_500), range(900), 0, true),
        (range(1_500), range(901), 0, false),
        (range(1_500), json!(900), 0, true),
        (json!(1_500), json!(900), 0, false),
        (range(1_500), range(900), 1, false),
    ] {
        let what = format!("{own} and {peer}");
        let scenario = scenario(own, peer, every);
        let plan = load(&scenario.to_string(), "x.json", &[]);
        let plan = plan.unwrap_or_else(|errors| panic!("{what}: {}", errors.render()));
        let found: Vec<&str> = plan.warnings.items.iter().map(|item| item.pointer.as_str()).collect();
        let expected: &[&str] = if told { &["/traffic/0/size/1/payload"] } else { &[] };
        assert_eq!(found, expected, "{what}");
        let ((), outcome) = watched(&scenario);
        let stats = &totals(&outcome).stats;
        assert_eq!((stats.pdus_sent, stats.pdus_too_long > 0), (40, told), "{what}: {stats:?}");
        assert_eq!(stats.pdus_lost, stats.pdus_too_long, "{what}");
        assert!(stats.pdus_too_long < 20, "only what goes to ep/1, and is longer: {what}");
    }
}

/// Of two ranges the smaller end is agreed, and a longer frame is lost at its source. A node that takes one
/// MTU alone refuses who asks for less, so two such nodes come to no conduit.
///
/// Proves: SMP-3.8.2-4
/// Proves: SMP-7.2.1-2
#[test]
fn nodes_with_different_mtus() {
    let ethernet = r#""ethernet": {"mtu": 9000}"#;
    let range = |to: u16| format!(r#""mtu": {{"from": 64, "to": {to}}}"#);
    for (own, peer, arrive) in [(1_500, 700, 3), (1_500, 600, 3), (1_500, 599, 0), (599, 1_500, 0)] {
        let totals = run(&range(own), &range(peer), ethernet);
        let stats = &totals.stats;
        assert_eq!((totals.pairs, stats.refuses), (1, 0), "{own} and {peer}: {totals:?}");
        assert_eq!((stats.pdus_delivered, stats.pdus_lost), (arrive, 3 - arrive), "{own} and {peer}");
        assert_eq!(stats.pdus_too_long, 3 - arrive, "{own} and {peer}");
    }
    let apart = run(r#""mtu": 1500"#, r#""mtu": 700"#, ethernet);
    assert_eq!((apart.pairs, apart.records, apart.stats.refuses), (0, 0, 1), "{apart:?}");
}

/// Who opens a stream that it has already gets it once more, with a word about it, or a new one.
///
/// Proves: SMP-3.8.3-1
/// Proves: SMP-3.8.3-2
/// Proves: SMP-3.5.1.4-2
#[test]
fn a_further_stream_is_the_same_or_another() {
    for (reuses, taken) in [(false, 3), (true, 1)] {
        let second = format!(r#""reuse_stream": {reuses}"#);
        let totals = run("", &second, r#""opens": "stream", "streams": 3"#);
        let stats = &totals.stats;
        assert_eq!((stats.opens, stats.accepts, stats.allocated), (3, 3, taken), "{totals:?}");
        assert_eq!((stats.same_stream, stats.pdus_delivered), (3 - taken, 3));
        // For each ACCEPT of a stream that is open a STATUS follows.
        let status = stats.messages - stats.opens - stats.accepts - stats.data_messages;
        assert_eq!(status, 3 - taken);
    }
}

/// A vendor's protocol has its VENDOR and PROTOCOL_NAME in each OPEN and ACCEPT, and may hand out StreamIDs
/// of the vendors' range.
///
/// Proves: SMP-6.2-1
/// Proves: SMP-3.5.2.5-2
#[test]
fn a_vendors_protocol() {
    let opened = |session: &str| {
        let (totals, octets) = observed("", "", session);
        assert_eq!((totals.pairs, totals.stats.pdus_delivered), (1, 3), "{totals:?}");
        (octets[0], totals.ends.iter().map(|end| end.receive).min())
    };
    let vendor = |more: &str| format!(r#""vendor": {{"vendor": "EXAMPLE", "name": "bulk"{more}}}"#);
    let (plain, first) = opened("");
    assert_eq!((plain, first), (24, Some(0)));
    assert_eq!(opened(&vendor("")), (plain + 16, Some(0)));
    assert_eq!(opened(&vendor(r#", "streams": true"#)), (plain + 16, Some(0xE000)));
}

/// An attribute that the peer does not understand gets an OPEN refused; who has asked before leaves it out.
///
/// Proves: SMP-3.5.3-9
/// Proves: SMP-3.5.3-12
#[test]
fn vendors_attributes_and_who_understands_them() {
    let first = r#""vendor_attributes": ["7801020304050607"], "understands": ["78"]"#;
    for (understands, asks, refused) in
        [(r#"["78"]"#, false, 0), (r#"["79"]"#, false, 1), ("[]", true, 0), ("[]", false, 1)]
    {
        let second = format!(r#""vendor_attributes": [], "understands": {understands}"#);
        let session = format!(r#""vendor": {{"vendor": "00:1b:21", "name": "x"}}, "request": {asks}"#);
        let totals = run(first, &second, &session);
        let what = format!("{understands}, {asks}: {totals:?}");
        assert_eq!((totals.stats.refuses, totals.pairs), (refused, 1 - refused), "{what}");
    }
}

/// A USERDEFINED command with a handler is taken, any other is reported.
///
/// Proves: SMP-4.2.9-2
#[test]
fn user_defined_commands() {
    let session = r#""user_defined": [
        {"at": "1 us", "from": "ep/0", "to": "ep/1", "code": 240, "octets": "01 02"},
        {"at": "2 us", "from": "ep/0", "to": "ep/1", "code": 241},
        {"at": "3 us", "from": "ep/1", "to": "ep/0", "code": 240}
    ]"#;
    let totals = run("", r#""user_commands": [240]"#, session);
    assert_eq!((totals.stats.user_defined, totals.pairs), ([3, 1, 2], 1), "{totals:?}");
}

/// Data on a stream of the vendors' range needs no OPEN, but a definition. Without one there is an answer,
/// not more than one in 100 ms.
///
/// Proves: SMP-3.8.2-9
/// Proves: SMP-3.5.2.5-4
#[test]
fn data_without_open() {
    let session = r#""opens": {"vendor_stream": 57344}"#;
    for carrier in ["message", "stream"] {
        for (streams, arrive) in [("[57344]", 3), ("[57345]", 0), ("[]", 0)] {
            let second = format!(r#""data": "{carrier}", "vendor_streams": {streams}"#);
            let totals = run("", &second, session);
            let stats = &totals.stats;
            assert_eq!((stats.opens, stats.pdus_sent, stats.pdus_delivered), (0, 3, arrive), "{totals:?}");
            assert_eq!(stats.unknown_streams, u64::from(arrive == 0), "{carrier}, {streams}");
        }
    }
}

/// Both ends restart while a PDU is late. If their StreamIDs begin anew, it arrives on the stream of the same
/// number that was opened since; if not, nobody knows its stream any more.
///
/// Proves: SMP-3.5.2.5-7
#[test]
fn a_pdu_of_a_former_life() {
    for (reuse, arrive, former) in [(true, 3, 1), (false, 2, 0)] {
        let session = format!(
            r#""opens": "stream", "restarts": [{{"node": "all", "at": "60 us", "reuse": {reuse}}}],
               "faults": [{{"from": "ep/0", "to": "ep/1", "message": "data", "nth": 1,
                           "fate": {{"delay": "100 us"}}}}]"#
        );
        let totals = run("", "", &session);
        let stats = &totals.stats;
        assert_eq!((stats.restarts, stats.pdus_sent), (2, 3));
        assert_eq!((stats.pdus_delivered, stats.former_life), (arrive, former), "{reuse}: {totals:?}");
        assert_eq!(stats.unknown_streams, 1 - former);
    }
}

/// Both ends of a stream know whose it is, and its data do not say so. A node that restarts and begins with
/// the same StreamIDs gives the stream of one flow to another before its peer hears of it: the twenty PDUs of
/// the first reach the application of the second. They count as lost there and as arrived nowhere. With
/// other StreamIDs nobody knows their stream.
///
/// Proves: SMP-3.5.2.5-7
#[test]
fn a_stream_that_is_given_anew() {
    for (reuse, misdelivered) in [(true, 20), (false, 0)] {
        let text = format!(
            r#"{{
                "name": "test", "topology": {{"single_switch": {{"ports": 2}}}},
                "traffic": [
                    {{"name": "old", "from": ["ep/0"], "to": "ep/1", "limit": 20, "size": 1,
                      "start": "30 us", "arrivals": {{"constant": {{"interval": "2 us", "phase": "0 ps"}}}},
                      "session": {{"protocol": 700}}}},
                    {{"name": "new", "from": ["ep/1"], "to": "ep/0", "limit": 3, "size": 900,
                      "start": "30 us", "arrivals": {{"constant": {{"interval": "2 us", "phase": "0 ps"}}}},
                      "session": {{"protocol": 701, "at": "25 us",
                                   "restarts": [{{"node": "ep/1", "at": "20 us", "reuse": {reuse}}}],
                                   "faults": [{{"from": "ep/1", "to": "ep/0", "message": "accept",
                                                "nth": 1, "fate": "lose"}}]}}}}],
                "run": {{"until": "100 us", "warmup": "0 ps", "sample_every": "off"}}
            }}"#
        );
        let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let variant = &plan.variants[0];
        let mut nobody = ();
        let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut nobody);
        simulation.run(variant.until, u64::MAX);
        let outcome = simulation.finish();
        let totals: Vec<&SessionTotals> = outcome.totals.of::<SessionTotals>().collect();
        let [old, new] = totals[..] else { panic!("two flows") };
        let found = (old.stats.pdus_sent, old.stats.pdus_delivered, old.stats.pdus_misdelivered);
        assert_eq!(found, (20, 0, 0), "{reuse}: {old:?}");
        let found = (new.stats.pdus_delivered <= new.stats.pdus_sent, new.stats.pdus_misdelivered);
        assert_eq!(found, (true, misdelivered), "{reuse}: {new:?}");
    }
}

/// A node that does not know REQUEST says so, and the OPEN goes without what it would have advertised.
///
/// Proves: SMP-3.8.1-4
#[test]
fn a_node_that_does_not_advertise() {
    let open = |advertises: bool| {
        let second = format!(r#""data_mailbox": 3, "advertises": {advertises}"#);
        let (totals, octets) = observed("", &second, r#""request": true"#);
        assert_eq!((totals.pairs, totals.stats.pdus_delivered), (1, 3), "{totals:?}");
        octets[1]
    };
    assert_eq!(open(true), open(false) + 8);
}

/// While a stream of Ethernet is stopped, so many of the youngest frames are kept as the node says. The
/// others cannot be sent and are dropped.
///
/// Proves: SMP-7.3.1-1, SMP-7.3.1-2
#[test]
fn frames_that_are_kept() {
    for kept in [1, 4] {
        let node = format!(r#""frames_kept": {kept}, "consumer": {{"service": "1 ms", "stop_at": 1}}"#);
        let flow = r#""from": "ep/0", "to": "ep/1", "size": 100, "limit": 15,
            "arrivals": {"constant": {"interval": "10 us"}}, "session": {"ethernet": {}}"#;
        let outcome = outcome(&node, flow);
        let stats = &totals(&outcome).stats;
        assert!(stats.stopped > 0, "{stats:?}");
        assert_eq!(stats.pdus_waiting, kept, "{stats:?}");
        assert_eq!(stats.frames_dropped, 15 - stats.pdus_delivered - kept);
    }
}

/// Four endpoints that a host has set up, of which two are nodes that read registers; settings of the second.
fn discovered(second: &str, session: &str) -> SessionTotals {
    let text = format!(
        r#"{{
            "name": "test",
            "topology": {{"single_switch": {{"ports": 4}}}},
            "configure": {{"fabric": {{"host": "ep/3"}}}},
            "endpoint": {{"session": {{"contact": "registers"}}}},
            "overrides": [{{"devices": "ep/1", "endpoint": {{"session": {{{second}}}}}}}],
            "traffic": [{{
                "name": "pdus", "from": "ep/0", "to": "ep/1", "size": 100, "limit": 3,
                "arrivals": {{"constant": {{"interval": "10 us"}}}}, "session": {{"at": "1 ms"{session}}}
            }}],
            "run": {{"until": "5 ms", "warmup": "0 ps", "sample_every": "off"}}
        }}"#
    );
    let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = &plan.variants[0];
    let mut seen = Octets::default();
    let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut seen);
    assert_ne!(simulation.run(variant.until, u64::MAX), Progress::Stalled);
    totals(&simulation.finish()).clone()
}

/// A node without a register block is found by its Component Tag, after both CARs of operations.
///
/// Proves: SMP-5.1-3
/// Proves: SMP-3.2-2
#[test]
fn a_node_is_found_by_its_component_tag() {
    let tagged = r#""mailbox": 2, "announces": "component_tag""#;
    for second in ["", tagged] {
        let totals = discovered(second, "");
        assert_eq!((totals.pairs, totals.leaked, totals.stats.pdus_delivered), (1, 0, 3), "{totals:?}");
    }
    let [block, tag] = ["", tagged].map(|second| discovered(second, "").stats.register_reads);
    // One header of a block less, and three registers instead of three and six words of attributes. The block
    // of the other is read as before.
    assert_eq!(block - tag, 1 + 9 - 3);
}

/// Who scans reads the registers of every endpoint, and opens a conduit to each that takes part, and to no
/// other.
///
/// Proves: SMP-3.3-6
#[test]
fn who_scans_finds_who_takes_part() {
    let (known, scanned) = (discovered("", ""), discovered("", r#", "scan": true"#));
    for totals in [&known, &scanned] {
        let stats = &totals.stats;
        assert_eq!((totals.pairs, totals.records, stats.opens), (1, 2, 2), "{totals:?}");
        assert_eq!((stats.pdus_delivered, stats.failed_opens), (3, 0));
    }
    // Of the two other endpoints, which have no block for it: features, pointer, and the headers of those for
    // the link and for VoQ backpressure.
    assert_eq!(scanned.stats.register_reads - known.stats.register_reads, 2 * 4);
}

/// Who scans leaves nodes of other flows alone, and they him: with two flows, one of two endpoints and one of
/// the others, nothing else is read than what those who know each other read. A node that is in both flows is
/// read.
#[test]
fn who_scans_leaves_nodes_of_other_flows_alone() {
    let reads = |scan: &str, other: &str| {
        let text = format!(
            r#"{{
                "name": "test",
                "topology": {{"single_switch": {{"ports": 5}}}},
                "configure": {{"fabric": {{"host": "ep/4"}}}},
                "endpoint": {{"session": {{"contact": "registers"}}}},
                "traffic": [
                    {{"name": "own", "from": "ep/0", "to": "ep/1", "limit": 3,
                      "arrivals": {{"constant": {{"interval": "10 us"}}}},
                      "session": {{"at": "1 ms"{scan}}}}},
                    {{"name": "other", "from": "ep/4", "to": "{other}", "limit": 3,
                      "arrivals": {{"constant": {{"interval": "10 us"}}}},
                      "session": {{"at": "1 ms", "protocol": 513}}}}
                ],
                "run": {{"until": "5 ms", "warmup": "0 ps", "sample_every": "off"}}
            }}"#
        );
        let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let variant = &plan.variants[0];
        let mut nobody = ();
        let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut nobody);
        assert_ne!(simulation.run(variant.until, u64::MAX), Progress::Stalled);
        let outcome = simulation.finish();
        let flows: Vec<&SessionTotals> = outcome.totals.of().collect();
        let [own, other] = flows[..] else { panic!("two flows") };
        assert_eq!([own.stats.pdus_delivered, other.stats.pdus_delivered], [3, 3], "{scan}");
        (own.stats.register_reads, own.pairs)
    };
    let scan = r#", "scan": true"#;
    let (known, one) = reads("", "ep/2");
    let (scanned, pairs) = reads(scan, "ep/2");
    // Of ep/3, which is no node: features, pointer, and headers of two blocks.
    assert_eq!((scanned - known, one, pairs), (4, 1, 1));
    // ep/1 is a node of both flows, and ep/2 of none.
    assert_eq!(reads(scan, "ep/1").1, 1);
}

/// A fault of the scenario that names data strikes in every conveyance and with every header: of ten PDUs the
/// second is lost, the fourth comes twice, the sixth comes late.
#[test]
fn faults_strike_data_however_it_goes() {
    let fault = |nth: u32, fate: &str| {
        format!(r#"{{"from": "ep/0", "to": "ep/1", "message": "data", "nth": {nth}, "fate": {fate}}}"#)
    };
    let delay = r#"{"delay": "25 us"}"#;
    let faults = [fault(2, r#""lose""#), fault(4, r#""duplicate""#), fault(6, delay)].join(", ");
    let nodes = [
        r#""data": "stream""#,
        r#""data": "stream", "management": "stream""#,
        r#""header": "data""#,
        r#""header": "data1""#,
        r#""header": "data2""#,
    ];
    // PDUs of 1 and 11 octets are too short to say which they are.
    for (node, size) in nodes.into_iter().flat_map(|node| [1, 11, 100].map(|size| (node, size))) {
        let flow = format!(
            r#""from": "ep/0", "to": "ep/1", "size": {size}, "limit": 10,
               "arrivals": {{"constant": {{"interval": "10 us"}}}}, "session": {{"faults": [{faults}]}}"#
        );
        let outcome = outcome(node, &flow);
        let stats = &totals(&outcome).stats;
        assert_eq!(stats.injected, [1, 1, 1], "{node}: {stats:?}");
        // Nine of ten, and one of them once more.
        let found = (stats.pdus_sent, stats.pdus_delivered, stats.pdus_again);
        assert_eq!(found, (10, 9, 1), "{node}: {stats:?}");
    }
}

/// Three PDUs are sent: the fourth cannot be lost, nor an OPEN that nobody repeats, nor what the other node
/// would have to send.
#[test]
fn a_message_that_never_leaves_cannot_be_lost() {
    let fault = |from: u8, message: &str, nth: u8| {
        let to = 1 - from;
        let way = format!(r#""from": "ep/{from}", "to": "ep/{to}""#);
        format!(r#"{{{way}, "message": "{message}", "nth": {nth}, "fate": "lose"}}"#)
    };
    for (faults, lost, never) in [
        (vec![fault(0, "data", 3)], 1, 0),
        (vec![fault(0, "data", 4)], 0, 1),
        (vec![fault(0, "data", 1), fault(0, "data", 4), fault(0, "open", 2), fault(1, "data", 1)], 1, 3),
    ] {
        let session = format!(r#""faults": [{}]"#, faults.join(", "));
        let stats = run("", "", &session).stats;
        assert_eq!((stats.injected[0], stats.never_struck), (lost, never), "{session}: {stats:?}");
    }
}

/// The node that accepted a conduit restarts, and forgets it. The next PDU finds out, and is lost; the opener
/// closes, and opens nothing anew: what comes then waits for ever. Behind the last PDU nobody finds out, and
/// an orphan is left. PDUs come at 0, 10, 20, 30 and 40 us. Where both ends open, the new OPEN makes the
/// other end ask and close; when it comes again, one conduit is there, and nothing is lost.
#[test]
fn nobody_opens_again_for_who_has_accepted() {
    let flow = |way: &str, at: &str| {
        format!(
            r#"{way}, "size": 64, "limit": 5,
            "arrivals": {{"constant": {{"interval": "10 us", "phase": "0 ps"}}}},
            "session": {{"restarts": [{{"node": "ep/1", "at": "{at}"}}]}}"#
        )
    };
    let one = r#""from": "ep/0", "to": "ep/1""#;
    for (at, delivered, waiting, orphans) in [("25 us", 3, 1, 0), ("35 us", 4, 0, 0), ("45 us", 5, 0, 1)] {
        let outcome = outcome("", &flow(one, at));
        let SessionTotals { stats, pairs, records, orphans: left, .. } = totals(&outcome);
        assert_eq!((stats.pdus_delivered, stats.pdus_waiting), (delivered, waiting), "{at}: {stats:?}");
        assert_eq!((*pairs, *records, *left), (0, orphans, orphans), "{at}: {stats:?}");
        assert_eq!(stats.opens, 2, "{at}: {stats:?}");
    }
    let both = r#""from": ["ep/0", "ep/1"], "to": {"neighbour": {}}"#;
    let outcome = until("1 s", "", &flow(both, "25 us"));
    let SessionTotals { stats, pairs, records, orphans, .. } = totals(&outcome);
    assert_eq!((*pairs, *records, *orphans), (1, 2, 0), "{stats:?}");
    assert_eq!((stats.pdus_delivered, stats.pdus_waiting), (10, 0), "{stats:?}");
    // What waits goes when the OPEN comes again, after 250 ms.
    assert!((249_900_000_000..250_100_000_000).contains(&longest(stats)), "{stats:?}");
}

/// Two nodes open a stream to each other, the second 10 us later, and each has PDUs at 2, 7 and 12 us. The
/// stream of the first is there before the second has sent its OPEN: what the second has to send until then
/// waits for its own stream. It was dropped, two PDUs of six. Nor is any lost where more streams are opened,
/// where attributes are asked for before, or where OPENs are spread.
#[test]
fn pdus_wait_for_the_stream_of_their_way() {
    let flow = |more: &str| {
        let every = r#"{"constant": {"interval": "5 us", "phase": "2 us"}}"#;
        let way = r#""from": ["ep/0", "ep/1"], "to": {"neighbour": {}}"#;
        format!(
            r#"{way}, "size": 64, "limit": 3, "arrivals": {every}, "session": {{"opens": "stream"{more}}}"#
        )
    };
    let offsets = ["0 ps", "100 ns", "1 us", "4 us", "10 us"].map(|at| format!(r#", "offset": "{at}""#));
    let more = [r#", "streams": 5"#, r#", "request": true"#, r#", "spread": "20 us""#].map(str::to_owned);
    for more in offsets.iter().chain(&more) {
        let outcome = outcome("", &flow(more));
        let SessionTotals { stats, .. } = totals(&outcome);
        assert_eq!((stats.pdus_sent, stats.pdus_delivered, stats.pdus_lost), (6, 6, 0), "{more}: {stats:?}");
    }
    // The first waits from 2 us until the OPEN of 10 us is accepted: two ways of 0.5 to 0.6 us, and its own.
    let outcome = outcome("", &flow(r#", "offset": "10 us""#));
    let longest = longest(&totals(&outcome).stats);
    assert!((9_500_000..9_900_000).contains(&longest), "{longest}");
}

/// The wish to close a conduit holds, also where it comes before the conduit: one that is not asked for yet
/// never opens, and one whose OPEN was lost is closed as soon as it is there. It stayed open for ever.
#[test]
fn who_closes_early_is_heard() {
    let lost = r#""faults": [{"from": "ep/0", "to": "ep/1", "message": "open", "nth": 1, "fate": "lose"}]"#;
    let streams = r#""opens": "stream""#;
    for (session, opens, delivered) in [
        (r#""at": "20 us", "close_at": "10 us""#.to_owned(), 0, 0),
        (r#""request": true, "at": "20 us", "close_at": "10 us""#.to_owned(), 0, 0),
        (format!(r#"{streams}, "at": "20 us", "close_at": "10 us""#), 0, 0),
        (format!(r#"{lost}, "close_at": "20 us""#), 3, 0),
        (format!(r#"{streams}, {lost}, "close_at": "20 us""#), 2, 0),
        // An OPEN takes longer than this to arrive.
        (r#""close_at": "100 ns""#.to_owned(), 2, 0),
        (r#""close_at": "100 us""#.to_owned(), 2, 3),
        // all of several streams are closed, and the one that opens late
        (format!(r#"{streams}, "streams": 3, "close_at": "100 us""#), 3, 3),
        (format!(r#"{streams}, "streams": 3, {lost}, "close_at": "100 ns""#), 4, 0),
    ] {
        let node = r#""retry": "30 us""#;
        let totals = run(node, node, &session);
        let what = format!("{session}: {totals:?}");
        assert_eq!((totals.stats.opens, totals.stats.pdus_delivered), (opens, delivered), "{what}");
        assert_eq!((totals.pairs, totals.records, totals.streams, totals.leaked), (0, 0, 0, 0), "{what}");
        assert_eq!(totals.closed, 1, "{what}");
        assert_eq!(totals.stats.opened, totals.stats.ended, "{what}");
    }
}

/// What is sent again, or given up, before an answer can be there is told. An OPEN and its ACCEPT pass two
/// links each way, less than 0.5 us together, and a host at each end. Periods are whole microseconds.
#[test]
fn periods_that_are_too_short_are_told() {
    let told = |retry: u32, timeout: u32, service: &str| {
        let text = format!(
            r#"{{
                "name": "test",
                "topology": {{"single_switch": {{"ports": 2}}}},
                "endpoint": {{"session": {{"retry": "{retry} us", "timeout": "{timeout} us"}},
                              "host": {{"rx_service": "{service}"}}}},
                "traffic": [{{"name": "pdus", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 1,
                              "arrivals": {{"constant": {{"interval": "10 us"}}}},
                              "session": {{"opens": "stream"}}}}],
                "run": {{"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}}
            }}"#
        );
        let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let own = plan.warnings.items.iter().filter(|item| item.code == "SC118");
        let words: Vec<String> = own.map(|item| item.message.clone()).collect();
        let variant = &plan.variants[0];
        let mut nobody = ();
        let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut nobody);
        simulation.run(variant.until, u64::MAX);
        let totals = totals(&simulation.finish()).clone();
        (words, totals.stats.retransmissions, totals.stats.failed_opens)
    };
    // Two hosts of 1.5 us: more than 3 us, and less than 4.
    let (words, repeats, failed) = told(4, 10, "1500 ns");
    assert_eq!((words.len(), repeats, failed), (0, 0, 0), "{words:?}");
    let (words, repeats, failed) = told(3, 10, "1500 ns");
    assert!(words.len() == 1 && words[0].ends_with("and it is sent again after 3 us"), "{words:?}");
    assert!(repeats > 0 && failed == 0, "{repeats} {failed}");
    let (words, _, failed) = told(3, 3, "1500 ns");
    assert!(words.len() == 2 && words[1].ends_with("and it is given up after 3 us"), "{words:?}");
    assert!(failed > 0);
}
