//! Periods of session management, and what a source does when it is stopped. One node is real, the other says
//! only what is written here, as octets, and takes nothing in: nothing it says depends on what it hears.

use crate::watched::watched;
use models::Probe;
use models::probe::{Signal, SignalKind};
use models::stats::SessionTotals;
use serde_json::{Value, json};

/// What ep/1 says, and when, in picoseconds.
#[derive(Default)]
struct Words(Vec<(u64, String)>);

impl Probe for Words {
    fn signal(&mut self, signal: &Signal) {
        if signal.device != 1 {
            return;
        }
        match &signal.kind {
            SignalKind::Sent { words, .. } => self.0.push((signal.at.0, words.clone())),
            SignalKind::Note { words } => self.0.push((signal.at.0, format!("({words})"))),
            _ => {}
        }
    }
}

/// ep/1 opens `session` to ep/0, which is mute, and has PDUs of `size` octets at 0, 1, 2, 3 and 4 ms.
fn source(
    node: &Value,
    size: u32,
    session: &Value,
    inject: &[(&str, &str)],
) -> (Vec<(u64, String)>, SessionTotals) {
    run(&scenario(node, size, session, inject))
}

/// Likewise, with a stream of another protocol, which has one PDU at 1.1 ms.
fn with_another(
    node: &Value,
    size: u32,
    session: &Value,
    inject: &[(&str, &str)],
) -> (Vec<(u64, String)>, SessionTotals) {
    let mut scenario = scenario(node, size, session, inject);
    let other = json!({
        "name": "g", "from": "ep/1", "to": "ep/0", "size": 100, "limit": 1, "start": "1100 us",
        "arrivals": {"constant": {"interval": "1 ms", "phase": "0 ps"}},
        "session": {"opens": "stream", "protocol": 513, "chart": true}
    });
    scenario["traffic"].as_array_mut().unwrap().push(other);
    run(&scenario)
}

fn scenario(node: &Value, size: u32, session: &Value, inject: &[(&str, &str)]) -> Value {
    let inject: Vec<Value> = inject
        .iter()
        .map(|(at, octets)| json!({"at": at, "from": "ep/0", "to": "ep/1", "octets": octets}))
        .collect();
    let mut flow = json!({"opens": "stream", "chart": true, "inject": inject});
    flow.as_object_mut().unwrap().extend(session.as_object().unwrap().clone());
    json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 2}},
        "endpoint": {"session": node},
        "overrides": [{"devices": "ep/0", "endpoint": {"session": {"mute": true}}}],
        "traffic": [{
            "name": "f", "from": "ep/1", "to": "ep/0", "size": size, "limit": 5,
            "arrivals": {"constant": {"interval": "1 ms", "phase": "0 ps"}}, "session": flow
        }],
        "run": {"until": "4 s", "warmup": "0 ps", "sample_every": "off"}
    })
}

fn run(scenario: &Value) -> (Vec<(u64, String)>, SessionTotals) {
    let (words, outcome): (Words, _) = watched(scenario);
    let totals = outcome.totals.of::<SessionTotals>().next().expect("a flow").clone();
    (words.0, totals)
}

/// ep/0 accepts OPEN number 0 and gives stream 5; it stops that stream, and lets it go on.
const ACCEPT: &str = "0401 0000 0000 0005 0200 0001 F000000300000000";
const XOFF: &str = "0701 0000 0001 0005 0200 0000 00000000";
const XON: &str = "0701 0001 0001 0005 0200 0000 00000000";

/// Words with their instants in nanoseconds, without notes of what happens inside.
fn spoken(words: &[(u64, String)]) -> Vec<(u64, &str)> {
    words
        .iter()
        .filter(|(_, words)| !words.starts_with('('))
        .map(|(at, words)| (at / 1_000, &words[..]))
        .collect()
}

/// Instants of the messages with these words, in nanoseconds.
fn times(words: &[(u64, String)], said: &str) -> Vec<u64> {
    spoken(words).into_iter().filter(|(_, words)| *words == said).map(|(at, _)| at).collect()
}

const MS: u64 = 1_000_000;

/// Nobody answers. OPEN and REQUEST go by the periods of the peer, which is taken to have the same settings:
/// each RETRY period after the first time, until the TIMEOUT period is over; then the OPEN has failed, and
/// after a REQUEST that failed the OPEN goes without.
///
/// Proves: SMP-3.5.3.4-1, SMP-3.5.3.5-1, SMP-3.7.1-10
#[test]
fn what_is_not_answered_is_repeated_and_fails() {
    for (retry, timeout) in [(100, 450), (250, 1_000), (70, 71)] {
        let node = json!({"retry": format!("{retry} ms"), "timeout": format!("{timeout} ms")});
        let instants = |from: u64| {
            (0..)
                .map(|n| n * retry)
                .take_while(|&at| at < timeout)
                .map(|at| (from + at) * MS)
                .collect::<Vec<_>>()
        };
        let (words, totals) = source(&node, 100, &json!({}), &[]);
        assert_eq!(times(&words, "OPEN 0"), instants(0));
        assert_eq!((spoken(&words).len(), totals.stats.failed_opens), (instants(0).len(), 1));
        let (words, totals) = source(&node, 100, &json!({"request": true}), &[]);
        assert_eq!(times(&words, "REQUEST"), instants(0));
        assert_eq!(times(&words, "OPEN 0"), instants(timeout));
        assert_eq!(totals.stats.failed_opens, 1);
    }
}

/// A CLOSE that nobody answers: the stream ends at once, CLOSE is repeated until its time is over, and who
/// says nothing is suspect.
///
/// Proves: SMP-3.7.1-9
#[test]
fn a_close_without_an_answer_leaves_a_suspect() {
    let (words, totals) = source(&json!({}), 100, &json!({"close_at": "100 ms"}), &[("10 us", ACCEPT)]);
    assert_eq!(times(&words, "CLOSE 0x0005"), [100, 350, 600, 850].map(|at| at * MS));
    let ended: Vec<u64> =
        words.iter().filter(|(_, words)| words.contains("ends")).map(|(at, _)| at / 1_000).collect();
    assert_eq!(ended, [100 * MS]);
    assert_eq!((totals.stats.suspects, totals.streams), (1, 0));
    // Answered in time it is said once, and nobody is suspect.
    let closed = "1001 0000 0001 0005 0000 0801 20000000";
    let (words, totals) =
        source(&json!({}), 100, &json!({"close_at": "100 ms"}), &[("10 us", ACCEPT), ("101 ms", closed)]);
    assert_eq!((times(&words, "CLOSE 0x0005").len(), totals.stats.suspects), (1, 0));
}

/// The peer says that it does not know one of three streams. The source asks it about the two others, 10 ms
/// and 20 ms later. Of one it hears; the query about the other is repeated each 250 ms, and after 1 s that
/// stream ends here, without a CLOSE.
///
/// Proves: SMP-3.8.3-5, SMP-3.7.1-8, SMP-3.5.3.5-4
#[test]
fn an_unanswered_query_closes_its_stream_in_silence() {
    let accept = |n: u8| format!("0401 0000 0000 000{} 0200 0001 F00000030000000{n}", n + 5);
    let (second, third) = (accept(1), accept(2));
    let unknown = "1001 0000 0001 0005 0000 0601 20000001";
    let functional = "1001 0000 0001 0006 0000 1001 00000006";
    let inject = [
        ("10 us", ACCEPT),
        ("11 us", &second),
        ("12 us", &third),
        ("100 ms", unknown),
        ("111 ms", functional),
    ];
    let (words, _) = source(&json!({}), 100, &json!({"streams": 3}), &inject);
    let since = |at: u64| at - 100 * MS - 205;
    let asked = |stream: &str| {
        times(&words, &format!("STATUS {stream} query")).into_iter().map(since).collect::<Vec<_>>()
    };
    assert_eq!(asked("0x0006"), [10 * MS]);
    assert_eq!(asked("0x0007"), [20, 270, 520, 770].map(|at| at * MS));
    let ends: Vec<(u64, &str)> = words
        .iter()
        .filter(|(_, words)| words.contains("ends"))
        .map(|(at, words)| (since(at / 1_000), &words[..]))
        .collect();
    assert_eq!(ends, [(0, "(transmit stream 0x0005 ends)"), (1_020 * MS, "(transmit stream 0x0007 ends)")]);
    assert!(spoken(&words).iter().all(|(_, words)| !words.starts_with("CLOSE")));
}

/// A stream is stopped at 500 us; PDUs come at 1 ms and later. With the first one that waits the source says
/// RTS, and again each 250 ms. It goes on by itself 1 s after the XOFF, or with an XON, or 1 s after another
/// XOFF, which also ends the RTS. An XON for a stream that goes changes nothing.
///
/// Proves: SMP-4.2.6-3, SMP-4.2.6-5, SMP-4.2.6-7, SMP-3.5.3.6-1, SMP-3.5.3.6-2
#[test]
fn a_stopped_source_asks_and_goes_on() {
    let run = |inject: &[(&str, &str)]| {
        let all: Vec<(&str, &str)> = [("10 us", ACCEPT)].iter().chain(inject).copied().collect();
        let (words, _) = source(&json!({}), 100, &json!({}), &all);
        let rts: Vec<u64> = times(&words, "RTS 0x0005").iter().map(|at| at / MS).collect();
        let data = times(&words, "DATA 0x0005");
        assert_eq!(data.len(), 5);
        (rts, data)
    };
    // A message needs 205 ns to the other end.
    let at = |ms: u64| ms * MS + 205;
    let (rts, data) = run(&[]);
    assert_eq!((rts, &data[1..]), (vec![], &[1, 2, 3, 4].map(|at| at * MS)[..]));
    let (rts, data) = run(&[("500 us", XOFF)]);
    assert_eq!((rts, &data[1..]), (vec![1, 251, 501, 751], &[1_000 * MS + 500_205; 4][..]));
    let (rts, data) = run(&[("500 us", XOFF), ("300 ms", XON), ("400 ms", XON)]);
    assert_eq!((rts, &data[1..]), (vec![1, 251], &[at(300); 4][..]));
    let (rts, data) = run(&[("500 us", XOFF), ("600 ms", XOFF)]);
    assert_eq!((rts, &data[1..]), (vec![1, 251, 501], &[at(1_600); 4][..]));
    let (rts, data) = run(&[("500 us", XON)]);
    assert_eq!((rts, &data[1..]), (vec![], &[1, 2, 3, 4].map(|at| at * MS)[..]));
}

/// PDUs of 20 000 octets are five messages; the transport takes four at a time. An XOFF in the middle of one:
/// the last message waits for the XON, and no PDU of another stream to the same mailbox begins before it.
///
/// Proves: SMP-4.2.6-3, SMP-4.2.6-4
#[test]
fn a_pdu_that_was_begun_is_ended_before_another() {
    let second = "0401 0000 0000 0006 0201 0001 F000000300000001";
    let inject = [("10 us", ACCEPT), ("11 us", second), ("1001 us", XOFF), ("1900 us", XON)];
    let words = with_another(&json!({}), 20_000, &json!({}), &inject).0;
    let said = spoken(&words);
    let find = |words: &str, nth: usize| said.iter().filter(|said| said.1 == words).nth(nth).unwrap().0;
    assert_eq!(find("DATA 0x0005 start", 1), MS);
    assert_eq!(find("DATA 0x0005 end", 1), 1_900_205);
    // The PDU of the other stream was there at 1.1 ms.
    assert!(find("DATA 0x0006", 0) >= 1_900_205, "{said:?}");
    let words = with_another(&json!({}), 20_000, &json!({}), &inject[..2]).0;
    let said = spoken(&words);
    assert_eq!(said.iter().find(|said| said.1 == "DATA 0x0006").unwrap().0, 1_100_000);
}

/// Ethernet frames of 20 000 octets are five messages, four of which have left when the XOFF comes. That
/// frame is sent to its end with the XON; of the three that come meanwhile the two older ones are dropped.
///
/// Proves: SMP-7.3.1-3
#[test]
fn a_frame_that_was_begun_is_not_dropped() {
    let accept = "0401 0000 0000 0005 0102 0004 F000000300000000 8002000000004E20 8001000100000000 \
                  8003020000000000"
        .replace(' ', "");
    let (xoff, xon) = (XOFF.replace("0200", "0102"), XON.replace("0200", "0102"));
    let session = json!({"ethernet": {"mtu": 20_000}});
    let inject = [("10 us", &accept[..]), ("1001 us", &xoff[..]), ("4900 us", &xon[..])];
    let (words, totals) = source(&json!({}), 20_000, &session, &inject);
    let starts = times(&words, "DATA 0x0005 start");
    let ends = times(&words, "DATA 0x0005 end");
    let xon = 4_900_205;
    assert_eq!((starts.len(), ends.len(), totals.stats.frames_dropped), (3, 3, 2), "{words:?}");
    assert_eq!((starts[1], ends[1]), (MS, xon), "the one that was begun");
    assert!(starts[2] >= xon, "{words:?}");
}

/// Either end closes a stream when it wants: the source at 1.5 ms, or the destination at 2.5 ms, whose CLOSE
/// the source answers. Nothing is sent on it afterwards.
///
/// Proves: SMP-2.3-2
#[test]
fn either_end_closes_a_stream() {
    let (words, _) = source(&json!({}), 100, &json!({"close_at": "1500 us"}), &[("10 us", ACCEPT)]);
    assert_eq!(times(&words, "CLOSE 0x0005")[0], 1_500_000);
    assert_eq!(times(&words, "DATA 0x0005").len(), 2, "{words:?}");
    let close = "0801 0001 0000 0000 0005 000000000000";
    let (words, _) = source(&json!({}), 100, &json!({}), &[("10 us", ACCEPT), ("2500 us", close)]);
    assert_eq!(times(&words, "STATUS 0x0005 Closed"), [2_500_205], "{words:?}");
    assert_eq!(times(&words, "DATA 0x0005").len(), 3, "{words:?}");
}

/// The other end opens a stream of its own, and closes it again: what goes the other way has its stream
/// still. Its PDUs waited for ever.
#[test]
fn the_end_of_one_way_is_none_of_the_other() {
    let (open, close) = ("0301 0000 0200 0001 F000000300000007", "0801 0000 0001 00 00 0000 000000000000");
    let inject = [("10 us", ACCEPT), ("20 us", open), ("2500 us", close)];
    let (words, totals) = source(&json!({}), 100, &json!({}), &inject);
    assert_eq!(totals.stats.accepts, 1, "{words:?}");
    assert_eq!(times(&words, "DATA 0x0005").len(), 5, "{words:?}");
}

/// Attributes are asked for before the first OPEN of a conduit, or not.
///
/// Proves: SMP-3.4.1-7
#[test]
fn attributes_may_be_asked_for_before_a_conduit() {
    let advertise = "0201 0000 0001 C001 0200 0000";
    for (request, first) in [(false, "OPEN 0 (F,F)"), (true, "REQUEST")] {
        let session = json!({"opens": "conduit", "request": request});
        let (words, _) = source(&json!({}), 100, &session, &[("10 us", advertise)]);
        let said = spoken(&words);
        assert_eq!(said[0], (0, first));
        let open = times(&words, "OPEN 0 (F,F)")[0];
        assert_eq!(open, if request { 10_205 } else { 0 }, "{said:?}");
        assert_eq!(times(&words, "REQUEST").len(), usize::from(request));
    }
}

/// Twenty streams are opened at once: all OPENs have left before the first is answered, each by its own
/// number, and each gets what it was answered with.
///
/// Proves: SMP-3.5.3.7-4
#[test]
fn opens_are_outstanding_in_parallel() {
    let accepts: Vec<String> =
        (0..20).map(|n| format!("0401 0000 0000 00{:02x} 0200 0001 F0000003 000000{n:02x}", n + 5)).collect();
    let times: Vec<String> = (0..20).map(|n| format!("{} us", 10 + n)).collect();
    let inject: Vec<(&str, &str)> =
        times.iter().zip(&accepts).map(|(at, octets)| (&at[..], &octets[..])).collect();
    let (words, totals) = source(&json!({}), 100, &json!({"streams": 20}), &inject);
    let said = spoken(&words);
    let opens: Vec<&str> = said.iter().take_while(|(at, _)| *at < 10_000).map(|(_, words)| *words).collect();
    assert_eq!(opens, (0..20).map(|n| format!("OPEN {n}")).collect::<Vec<_>>());
    assert_eq!((totals.stats.failed_opens, totals.stats.opens), (0, 20), "{totals:?}");
}

/// The second of five PDUs is lost. Nobody says so and nobody sends it again: it is the concern of the
/// application, which gets the four others.
///
/// Proves: SMP-3.7.1-6
#[test]
fn lost_data_is_left_to_the_application() {
    let run = |faults: Value| {
        let scenario = json!({
            "name": "test",
            "topology": {"single_switch": {"ports": 2}},
            "traffic": [{
                "name": "f", "from": "ep/1", "to": "ep/0", "size": 100, "limit": 5,
                "arrivals": {"constant": {"interval": "1 ms", "phase": "0 ps"}},
                "session": {"opens": "stream", "chart": true, "faults": faults}
            }],
            "run": {"until": "4 s", "warmup": "0 ps", "sample_every": "off"}
        });
        let (words, totals) = run(&scenario);
        (times(&words, "DATA 0x0000"), totals.stats.pdus_delivered, totals.stats.management_octets)
    };
    let (all, delivered, octets) = run(json!([]));
    assert_eq!((all.len(), delivered), (5, 5));
    let fault = json!([{"from": "ep/1", "to": "ep/0", "message": "data", "nth": 2, "fate": "lose"}]);
    let (sent, delivered, as_many) = run(fault);
    assert_eq!((delivered, as_many), (4, octets));
    assert!(sent.len() == 4 || sent == all, "{sent:?}");
}
