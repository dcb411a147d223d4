//! Session management against messages written by hand: ep/1 is a node, ep/0 says nothing of its own and
//! takes nothing in, so everything that comes from it is octets of this file. Ids of both are 0 and 1.

use crate::watched::{injected, watched};
use models::Probe;
use models::probe::{Signal, SignalKind};
use models::stats::SessionTotals;
use serde_json::{Value, json};

/// What ep/1 says.
#[derive(Default)]
struct Words(Vec<String>);

impl Probe for Words {
    fn signal(&mut self, signal: &Signal) {
        if let (1, SignalKind::Sent { words, .. }) = (signal.device, &signal.kind) {
            self.0.push(words.clone());
        }
    }
}

/// What ep/1 answers to these messages, one each 10 us, and what comes of it.
fn answers(node: Value, messages: &[&str]) -> (Vec<String>, SessionTotals) {
    let scenario = json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 2}},
        "endpoint": {"session": node},
        "overrides": [{"devices": "ep/0", "endpoint": {"session": {"mute": true}}}],
        "traffic": [{
            "name": "f", "from": "ep/0", "to": "ep/1",
            "session": {"opens": "stream", "at": "1 ms", "chart": true, "inject": injected(messages)}
        }],
        "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
    });
    let (words, outcome): (Words, _) = watched(&scenario);
    let totals = outcome.totals.one::<SessionTotals>().expect("one flow").clone();
    (words.0, totals)
}

/// OPEN number 7 for protocol 0x0200, and what it gets.
const OPEN: &str = "0301 0000 0200 0001 F000000300000007";
const ACCEPT: &str = "ACCEPT 7 0x0000";
/// CLOSE of its stream, and what it gets.
const CLOSE: &str = "0801 0000 0001 00 00 0000 000000000000";
const CLOSED: &str = "STATUS 0x0000 Closed";
/// A query about it.
const QUERY: &str = "1001 00 00 0000 0000 00 00 00 00 80000000";
/// A report of a command that is not understood.
const REPORT: &str = "STATUS F Command Unknown";

/// Holds what ep/1 answers against a table.
fn expect(table: &[(&[&str], &[&str])]) {
    for (messages, expected) in table {
        assert_eq!(answers(json!({}), messages).0, *expected, "{messages:?}");
    }
}

/// Requests that come again get the same answer once more and have no second effect; another OPEN of a number
/// is refused. REQUEST is answered by ADVERTISE.
///
/// Proves: SMP-3.4.3-3, SMP-3.7.1-2, SMP-4.2.3-1, SMP-4.2.1-1
#[test]
fn requests_are_answered() {
    expect(&[
        (&[OPEN], &[ACCEPT]),
        (&["0301 0000 0200 0001 F000000300000008", OPEN], &["ACCEPT 8 0x0000", "ACCEPT 7 0x0001"]),
        (&["0101 0000 0001 00 00 0200 0000 00000000"], &["ADVERTISE"]),
        (&["0101 0000 0001 00 00 FFFF 0000 00000000"], &["ADVERTISE"]),
        (&[OPEN, "0301 0000 0200 0002 F000000300000007 F0000001000F4240"], &[ACCEPT, "REFUSE 7"]),
    ]);
    let (words, totals) = answers(json!({}), &[OPEN, OPEN, OPEN]);
    assert_eq!((words, totals.stats.allocated), (vec![ACCEPT.to_owned(); 3], 1));
}

/// DATA that nobody sent, on the stream of a flow: what it says of the instant at which it left lies ahead of
/// the end of all runs. It is told as damaged, and neither it nor its time is in the books of what was sent.
#[test]
fn what_nobody_has_sent_yet_is_not_delivered() {
    let data = "0601 0000 0000 0000 C00A 0000 00010203 04050607 08090A0B";
    let scenario = json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 2}},
        "traffic": [{
            "name": "f", "from": "ep/0", "to": "ep/1", "size": 64, "limit": 2,
            "arrivals": {"constant": {"interval": "5 us", "phase": "5 us"}},
            "session": {"inject": [{"at": "20 us", "from": "ep/0", "to": "ep/1", "octets": data}]}
        }],
        "run": {"until": "100 us", "warmup": "0 ps", "sample_every": "off"}
    });
    let (_, outcome): (Words, _) = watched(&scenario);
    let stats = &outcome.totals.one::<SessionTotals>().expect("one flow").stats;
    assert_eq!((stats.pdus_sent, stats.pdus_delivered, stats.pdus_damaged), (2, 2, 1));
}

/// A node answers REQUEST by ADVERTISE, or, if it is to do without, reports a command that it does not know;
/// OPENs get the same answer from both.
///
/// Proves: SMP-3.8.1-1, SMP-3.9-2
#[test]
fn a_node_may_do_without_advertise() {
    let messages = ["0101 0000 0001 00 00 0200 0000 00000000", OPEN];
    for (node, answer) in [(json!({}), "ADVERTISE"), (json!({"advertises": false}), REPORT)] {
        assert_eq!(answers(node, &messages).0, [answer, ACCEPT]);
    }
}

/// An OPEN that asks for what there is not is refused, and leaves nothing behind: another protocol; a
/// transmit stream where none can be known; a reserved identifier; an attribute of a vendor and no VENDOR;
/// VENDOR of no vendor; a period of nothing; a reserved channel; DATA_HEADER_FORMAT twice.
///
/// Proves: SMP-3.4-5, SMP-3.5.3-4, SMP-3.5.3.1-2, SMP-3.5.3.5-5, SMP-3.5.3.10-2, SMP-3.5.1.3-1
#[test]
fn what_cannot_be_had_is_refused() {
    for open in [
        "0301 0000 0201 0001 F000000300000007",
        "0301 0000 0200 0002 F000000300000007 F000000400010000",
        "0301 0000 0200 0002 F000000300000007 0500000000000000",
        "0301 0000 0200 0002 F000000300000007 7801020304050607",
        "0301 0000 0200 0002 F000000300000007 0000000000000000",
        "0301 0000 0200 0002 F000000300000007 F000000000000000",
        "0301 0000 0200 0002 F000000300000007 F000000100000000",
        "0301 0000 0200 0002 F000000300000007 F000000200000000",
        "0301 0000 0200 0002 F000000300000007 8001000000000000",
        "0301 0000 0200 0003 F000000300000007 F000000500000006 F000000500000006",
    ] {
        let (words, totals) = answers(json!({}), &[open, "0301 0000 0200 0001 F000000300000009"]);
        assert_eq!(words, ["REFUSE 7", "ACCEPT 9 0x0000"], "{open}");
        assert_eq!(totals.stats.allocated, 1, "{open}");
    }
}

/// CLOSE is answered, whether there is such a stream or not, whatever its COS and whoever sends it. A query
/// is answered by what the stream is, and with what it was opened.
///
/// Proves: SMP-3.5.1.8-4, SMP-3.6.4-1, SMP-3.6.4-2, SMP-4.2.7-1, SMP-4.2.7-7
#[test]
fn streams_are_closed_and_asked_about() {
    let unknown = "1001 00 00 0000 0123 00 00 00 00 80000000";
    let cos = "0801 0000 0001 2A 00 0000 000000000000";
    let others = "0801 0005 0006 00 00 0000 000000000000";
    expect(&[
        (&[CLOSE], &[CLOSED]),
        (&[OPEN, CLOSE, CLOSE], &[ACCEPT, CLOSED, CLOSED]),
        (
            &[OPEN, QUERY, CLOSE, QUERY],
            &[ACCEPT, "STATUS 0x0000 Functional", CLOSED, "STATUS 0x0000 Stream Unknown"],
        ),
        (&[unknown], &["STATUS 0x0123 Stream Unknown"]),
        (&[OPEN, cos, QUERY], &[ACCEPT, CLOSED, "STATUS 0x0000 Stream Unknown"]),
        // Of a stream between two others nothing is closed here.
        (&[OPEN, others, QUERY], &[ACCEPT, CLOSED, "STATUS 0x0000 Functional"]),
    ]);
    // A STATUS has 16 octets; of a stream that is open, as many more for ProtoID, number of attributes and
    // its one attribute. OPEN has 16, ACCEPT 20.
    let octets = |messages: &[&str]| answers(json!({}), messages).1.stats.management_octets;
    assert_eq!(octets(&[OPEN, QUERY]), 16 + 20 + 16 + 32);
    assert_eq!(octets(&[unknown]), 16 + 16);
}

/// Data on a stream that was closed is thrown away in silence for one REQUEST_TIMEOUT_PERIOD, then it is
/// unknown.
///
/// Proves: SMP-3.6.3-2
#[test]
fn closed_streams_rest() {
    let data = "0601 00 00 0000 0000 C004 0000 AABBCCDD";
    let node = json!({"retry": "20 us", "timeout": "50 us"});
    let at = |late: usize| {
        let mut messages = vec![OPEN, CLOSE];
        messages.resize(late, "");
        messages.push(data);
        answers(node.clone(), &messages).0
    };
    // CLOSE is at 20 us.
    assert_eq!(at(2), [ACCEPT, CLOSED]);
    assert_eq!(at(5), [ACCEPT, CLOSED]);
    assert_eq!(at(8), [ACCEPT, CLOSED, "STATUS 0x0000 Stream Unknown"]);
}

/// Commands that are not known, of another version, and USERDEFINED ones without a handler get a report; a
/// malformed STATUS and one of another version get none. Who sent them is not suspect, but who sends
/// something malformed is. What is shorter than two octets is passed over. Validation of reserved fields
/// changes nothing of this.
///
/// Proves: SMP-3.5.2.1-3, SMP-3.5.2.1-4, SMP-3.6.4-3, SMP-3.6.4-4, SMP-3.7.3-1, SMP-3.8.4-1
/// Proves: SMP-3.8.5-4, SMP-3.8.5-8, SMP-4.2.3-2, SMP-4.2.8-9, SMP-4.3.4-1
#[test]
fn bad_commands_are_reported() {
    for (message, expected, suspects) in [
        ("0B01 0000 0000 0000", &[REPORT][..], 0),
        ("0001 0000 0000 0000", &[REPORT], 0),
        ("1101 0000 0000 0000", &[REPORT], 0),
        ("F101 00 00 0000 FFFF", &[REPORT], 0),
        ("0302 0000 0200 0001 F000000300000007", &[REPORT], 0),
        // OPENs without a number.
        ("0301 0000 0200 0001 F0000001000F4240", &[REPORT], 1),
        ("0301 0000 0200 0000", &[REPORT], 1),
        ("1002 00 00 0000 0000 00 00 00 00 80000000", &[], 0),
        ("1001 00 00 0000", &[], 1),
        ("10", &[], 0),
    ] {
        for validation in [false, true] {
            let (words, totals) = answers(json!({"validation": validation}), &[message, OPEN]);
            let expected: Vec<&str> = expected.iter().copied().chain([ACCEPT]).collect();
            assert_eq!(words, expected, "{message}");
            assert_eq!(totals.stats.suspects, suspects, "{message}");
        }
    }
}

/// DATA and FLOW_CONTROL for a stream that is not there, or of another protocol, get a STATUS; one peer gets
/// one for a stream in 100 ms.
///
/// Proves: SMP-3.8.3-3, SMP-4.2.6-9, SMP-4.3.1-9, SMP-4.2.8-19
#[test]
fn unknown_streams_are_told() {
    let data = "0601 00 00 0000 0000 C004 0123 AABBCCDD";
    let flow = "0701 00 FF 0000 0123 0200 000000000000";
    let unknown = "STATUS 0x0123 Stream Unknown";
    expect(&[
        (&[data], &[unknown]),
        (&[flow], &[unknown]),
        (&[data, flow, data], &[unknown]),
        (&[OPEN, "0701 00 FF 0000 0000 0200 000000000000"], &[ACCEPT, "XON 0x0000"]),
        (&[OPEN, "0701 00 FF 0000 0000 0201 000000000000"], &[ACCEPT, "STATUS 0x0000 Stream Unknown"]),
    ]);
}

/// Reserved fields count in validation mode only.
///
/// Proves: SMP-3.8.5-2, SMP-3.8.5-3, SMP-3.8.5-9
#[test]
fn reserved_fields_count_in_validation_mode() {
    let close = "0801 0000 0001 00 01 0000 000000000000";
    for (validation, closes) in [(false, true), (true, false)] {
        let (words, totals) = answers(json!({"validation": validation}), &[OPEN, close, QUERY]);
        let known = words.last().is_some_and(|words| words == "STATUS 0x0000 Functional");
        assert_eq!((known, totals.stats.suspects), (!closes, u64::from(validation)), "{words:?}");
    }
}

/// What is reserved: an octet of REQUEST, of FLOW_CONTROL and of STATUS; kinds of acknowledgement; octets of
/// REFUSE that have to be 0xFF; bits of STATUS, and all of them but Closed beside Stream Unknown; zero octets
/// of attributes; padding. Who sends one of these is suspect in validation mode, and in no other.
///
/// Proves: SMP-3.8.5-5, SMP-4.2.8-11
#[test]
fn everything_reserved_counts_in_validation_mode() {
    for message in [
        "0101 0000 0001 00 01 0200 0000 00000000",
        "0701 00 FF 0000 0000 0200 0000 00000001",
        "0401 0000 01 00 0005 0200 0001 F000000300000009",
        "0501 0000 01 FFFFFF 0200 0001 F000000300000009",
        "0501 0000 00 FFFFFE 0200 0001 F000000300000009",
        "1001 00 00 0000 0000 00 00 1001 00000012",
        "1001 00 00 0000 0000 00 00 1001 08000002",
        "1001 00 00 0000 0000 00 01 1001 00000002",
        "1001 00 00 0000 0000 00 00 1001 00000003",
        "0101 0000 0001 00 00 0200 0001 00000000 8002000100000000",
        "0301 0000 0200 0001 F000000300000008 01",
    ] {
        let suspects =
            |validation| answers(json!({"validation": validation}), &[OPEN, message]).1.stats.suspects;
        assert_eq!([suspects(false), suspects(true)], [0, 1], "{message}");
    }
    // What is not reserved.
    for message in [
        "1001 00 00 0000 0000 00 00 1001 00000002",
        "1001 00 00 0000 0000 00 00 0801 20000001",
        "0301 0000 0200 0001 F000000300000008 00",
    ] {
        assert_eq!(answers(json!({"validation": true}), &[OPEN, message]).1.stats.suspects, 0, "{message}");
    }
}

/// Up to seven octets may follow a message, not eight.
///
/// Proves: SMP-3.8.5-7
#[test]
fn padding_has_seven_octets_at_most() {
    let with = |octets: usize| format!("{OPEN} {}", "00".repeat(octets));
    assert_eq!(answers(json!({}), &[&with(7)]).0, [ACCEPT]);
    let (words, totals) = answers(json!({}), &[&with(8), OPEN]);
    assert_eq!((words.contains(&ACCEPT.to_owned()), totals.stats.suspects), (true, 1), "{words:?}");
    assert_ne!(words[0], ACCEPT);
}
