//! LINX against frames written by hand: one end is a node that is real, the other one wants no connection and
//! says nothing of its own, so everything that comes from it is octets of this file. The protocol clock makes
//! its 100 ms a fabric microsecond.

use crate::linx::{ends, pair, reasons, run, sound, with_messages};
use crate::watched::watched;
use models::Probe;
use models::probe::{Signal, SignalKind};
use models::stats::{LinxEnd, LinxTotals};
use serde_json::{Value, json};

/// What nodes send, and what their link handlers are told, in words.
#[derive(Default)]
struct Words([Vec<String>; 2]);

impl Probe for Words {
    fn signal(&mut self, signal: &Signal) {
        if let SignalKind::Sent { words, .. } | SignalKind::Note { words } = &signal.kind {
            self.0[signal.device as usize].push(words.clone());
        }
    }
}

/// What both nodes of a system with one flow say, and what comes of it.
fn said(mut system: Value) -> ([Vec<String>; 2], LinxTotals) {
    system["traffic"][0]["linx"]["chart"] = json!(true);
    let (words, outcome): (Words, _) = watched(&system);
    (words.0, outcome.totals.one::<LinxTotals>().expect("one flow").clone())
}

/// What ep/1 says, of MTU 128, hb_tmo 10, generation 66 and connection IDs from 768 on, when these frames
/// come from ep/0, a microsecond apart from 1 us on, none where one is empty. It asks again after 30 us.
fn answers(node: Value, frames: &[&str]) -> (Vec<String>, LinxTotals) {
    let inject: Vec<Value> = (1..)
        .zip(frames)
        .filter(|(_, octets)| !octets.is_empty())
        .map(|(at, octets)| json!({"at": format!("{at} us"), "from": "ep/0", "to": "ep/1", "octets": octets}))
        .collect();
    let linx = json!({"inject": inject, "disconnects": [{"node": "ep/0", "at": "0 ps"}]});
    let mut other = json!({"mtu": 128, "hb_tmo": 10, "generation": 66, "first_cid": 768});
    for (key, value) in node.as_object().into_iter().flatten() {
        other[key] = value.clone();
    }
    let mut system = pair(json!({"request_period": "3 s"}), linx);
    system["overrides"] = json!([{"devices": "ep/1", "endpoint": {"linx": other}}]);
    system["run"]["until"] = json!("29 us");
    let ([first, second], totals) = said(system);
    assert_eq!(first.len(), frames.iter().filter(|octets| !octets.is_empty()).count(), "a puppet");
    (second, totals)
}

/// What ep/1 has not simply taken. Its heartbeats and its RESET find a puppet without a connection.
fn untaken(totals: &LinxTotals) -> Vec<(&'static str, u64)> {
    let puppet = |reason: &&'static str| ["stray", "old reset"].contains(reason);
    reasons(&totals.stats).into_iter().filter(|(reason, _)| !puppet(reason)).collect()
}

/// REQ of generation 7 for an MTU of 64 and hb_tmo 5, to port 1 of device 1 from port 1 of device 0.
const REQ: &str = "22CF 000C 8107 0040 0001 0005 0000 0001";
/// The ACK that is right after it: to generation 66, MTU 64 and hb_tmo 10, connection ID 5.
const ACK: &str = "22CF 000E 8207 0040 0001 420A 0000 0001 0005";
/// What ep/1 says to REQ.
const ANSWER: &str = "ACK 66 to 7 (64, 10), cid 768";
/// What ep/1 says when it asks.
const ASKS: &str = "REQ 66 (128, 10)";

/// An ACK is right if it repeats the generation, the MTU and the hb_tmo of the node and comes from the
/// generation that it answered: it brings the connection up, which is told by ACK and a heartbeat. One that
/// is wrong in one point is a REQ with other wishes, and its connection ID is not used: one that is right,
/// with another, brings the connection up after it.
///
/// Proves: RIOCM-10.1-7, RIOCM-10.1.1-8, RIOCM-10.1.1-11, RIOCM-10.1.1.1-1, RIOCM-10.1.1.2-2
#[test]
fn an_ack_is_right_in_each_point_or_a_request() {
    let (words, totals) = answers(json!({}), &[REQ, ACK]);
    assert_eq!(words[..4], [ASKS, ANSWER, ANSWER, "HEARTBEAT"]);
    assert_eq!(totals.stats.connected, 1);
    // The first one cannot be right: the node has computed nothing.
    let (words, totals) = answers(json!({}), &[ACK, ACK]);
    assert_eq!(words[..4], [ASKS, ANSWER, ANSWER, "HEARTBEAT"]);
    assert_eq!(totals.stats.connected, 1);
    for (wrong, answer, right) in [
        ("22CF 000E 8207 0040 0001 430A 0000 0001 0009", ANSWER, ACK),
        (
            "22CF 000E 8207 0064 0001 430A 0000 0001 0009",
            "ACK 66 to 7 (100, 10), cid 768",
            "22CF 000E 8207 0064 0001 420A 0000 0001 0005",
        ),
        (
            "22CF 000E 8207 0040 0001 430C 0000 0001 0009",
            "ACK 66 to 7 (64, 12), cid 768",
            "22CF 000E 8207 0040 0001 420C 0000 0001 0005",
        ),
        // Its MTU would be right if 100 were what the node had computed.
        (
            "22CF 000E 8207 0064 0001 420A 0000 0001 0005",
            "ACK 66 to 7 (100, 10), cid 768",
            "22CF 000E 8207 0064 0001 420A 0000 0001 0005",
        ),
        (
            "22CF 000E 8207 0040 0001 420C 0000 0001 0005",
            "ACK 66 to 7 (64, 12), cid 768",
            "22CF 000E 8207 0040 0001 420C 0000 0001 0005",
        ),
        // Another generation is another attempt of the peer, with a connection ID of its own.
        (
            "22CF 000E 8208 0040 0001 420A 0000 0001 0005",
            "ACK 66 to 8 (64, 10), cid 769",
            "22CF 000E 8208 0040 0001 420A 0000 0001 0005",
        ),
    ] {
        let (words, totals) = answers(json!({}), &[REQ, wrong]);
        assert_eq!(words, [ASKS, ANSWER, answer], "{wrong}");
        assert_eq!(totals.stats.connected, 0, "{wrong}");
        let (words, totals) = answers(json!({}), &[REQ, wrong, right]);
        assert_eq!(words[..5], [ASKS, ANSWER, answer, answer, "HEARTBEAT"], "{wrong}");
        assert_eq!(totals.stats.connected, 1, "{wrong}");
    }
}

/// A wish of hb_tmo 0 never wins, and a node that is set to 0 wants 5.
///
/// Proves: RIOCM-10.1.1.1-6
#[test]
fn a_period_of_nothing_never_wins() {
    const NOTHING: &str = "22CF 000C 8107 0040 0001 0000 0000 0001";
    let (words, _) = answers(json!({}), &[NOTHING]);
    assert_eq!(words, [ASKS, ANSWER]);
    let (words, _) = answers(json!({"hb_tmo": 0}), &[NOTHING]);
    assert_eq!(words, ["REQ 66 (128, 5)", "ACK 66 to 7 (64, 5), cid 768"]);
}

/// Whatever a peer calls its connection, it comes up; and lives by its heartbeats, one in each three periods
/// of 10 us, which name the node's own ID.
///
/// Proves: RIOCM-10.1.1.2-6, RIOCM-10.1.3.1-1
#[test]
fn a_peer_may_choose_any_connection_id() {
    for cid in ["0000", "0001", "7FFF", "8000", "FFFF"] {
        let ack = format!("22CF 000E 8207 0040 0001 420A 0000 0001 {cid}");
        let (_, totals) = answers(json!({}), &[REQ, &ack]);
        assert_eq!((totals.stats.connected, ends(&totals.stats)), (1, vec![]), "{cid}");
    }
    // With a period of 1 us the three are over soon, unless a heartbeat comes.
    let req = "22CF 000C 8107 0040 0001 0001 0000 0001";
    let ack = "22CF 000E 8207 0040 0001 4201 0000 0001 0005";
    let life = "22CF 000C 06EE EEEE 0001 0300 0000 0001";
    let (quick, none) = (json!({"hb_tmo": 1}), "");
    let lives = |frames: &[&str]| {
        let (_, totals) = answers(quick.clone(), frames);
        let stats = &totals.stats;
        (stats.ended[LinxEnd::Timeout as usize], stats.frames.heartbeats)
    };
    assert_eq!(lives(&[req, ack]), (1, 0));
    let mut frames = vec![req, ack];
    frames.extend([none, life].iter().cycle().take(26));
    assert_eq!(lives(&frames), (0, 13));
    // Of another connection it is no sign of life.
    let other = "22CF 000C 0600 0000 0001 0301 0000 0001";
    let frames: Vec<&str> =
        frames.into_iter().map(|frame| if frame == life { other } else { frame }).collect();
    assert_eq!(lives(&frames), (1, 0));
}

/// A lone initiator sends one REQ; the four ACKs after it are two of each end.
///
/// Proves: RIOCM-10.1.1-13
#[test]
fn a_lone_initiator_takes_four_acks() {
    let linx = json!({"disconnects": [{"node": "ep/0", "at": "0 ps", "for": "5 us"}]});
    let mut system = pair(json!({"request_period": "10 s", "generation": 1, "first_cid": 512}), linx);
    system["run"]["until"] = json!("12 us");
    let ([first, second], totals) = said(system);
    // The REQ of ep/1 finds nobody.
    let (req, ack) = ("REQ 1 (256, 5)", "ACK 1 to 1 (256, 5), cid 512");
    for words in [first, second] {
        let is_management = |words: &&str| words.starts_with("REQ") || words.starts_with("ACK");
        let management: Vec<&str> = words.iter().map(String::as_str).filter(is_management).collect();
        assert_eq!(management, [req, ack, ack]);
    }
    let stats = &totals.stats;
    assert_eq!((totals.up, stats.connected, stats.frames.sent_management), (1, 2, 6));
    // The initiator is up after four ways, REQ and three ACKs; where REQs cross it is two. An ACK is longer.
    let lone = totals.all_up.expect("it is up").0 - 5_000_000;
    let (_, crossing) = said(pair(json!({}), json!({})));
    let crossing = crossing.all_up.expect("it is up").0;
    assert!((2 * crossing..2 * crossing + crossing / 10).contains(&lone), "{lone} and {crossing}");
}

/// SINGLE of two octets with number 0 for connection ID 768.
const SINGLE: &str = "22CF 001A 0101 0000 0001 0300 0000 0001 FFFFFFFF 00000000 00000002 A1A2";

/// Data for a connection that is not up yet waits, once the ID that it names was told, and is taken when the
/// connection comes up; before that it is not for anybody.
///
/// Proves: RIOCM-10.1.2-13
#[test]
fn data_waits_for_the_last_ack() {
    let taken = |frames: &[&str]| {
        let (_, totals) = answers(json!({}), frames);
        (totals.stats.connected, untaken(&totals))
    };
    assert_eq!(taken(&[REQ, SINGLE, ACK]), (1, vec![("held", 1), ("forged", 1)]));
    assert_eq!(taken(&[REQ, SINGLE]), (0, vec![("held", 1)]));
    assert_eq!(taken(&[REQ, ACK, SINGLE]), (1, vec![("forged", 1)]));
    assert_eq!(taken(&[SINGLE, REQ, ACK]), (1, vec![]));
}

/// What goes wrong while a node connects is told to nobody: it asks anew.
///
/// Proves: RIOCM-RLNH-4
#[test]
fn errors_of_an_attempt_are_not_told() {
    // SINGLE that is cut off, a number beyond the window, RESET of the peer's generation.
    for wrong in [
        "22CF 001A 0101 0000 0001 0300 0000 0001 FFFFFFFF 00000000 00000002 A1",
        "22CF 001A 0101 0040 0001 0300 0000 0001 FFFFFFFF 00000000 00000002 A1A2",
        "22CF 000C 8307 0000 0001 0000 0000 0001",
    ] {
        let (words, totals) = answers(json!({"request_period": "400 ms"}), &[REQ, wrong]);
        let asks = words.iter().filter(|words| words.starts_with("REQ")).count();
        assert!(asks >= 29 / 4, "{wrong}: {words:?}");
        assert!(
            !words.iter().any(|words| words.starts_with("up") || words.starts_with("ended")),
            "{words:?}"
        );
        assert_eq!((totals.stats.connected, ends(&totals.stats)), (0, vec![]), "{wrong}");
    }
}

/// A connection that ended has left nothing to the next: neither numbers, nor what waited for others before
/// it, nor parts of messages, nor what was agreed on.
///
/// Proves: RIOCM-RLNH-7, RIOCM-10.1.1-1
#[test]
fn each_connection_begins_anew() {
    let frames = [
        REQ,
        ACK,
        // The beginning of a message, and one that is ahead.
        "22CF 001A 0205 0000 0001 0300 0000 0001 FFFFFFFF 00000000 00000003 A1A2",
        "22CF 0018 0106 0002 0001 0300 0000 0001 FFFFFFFF 00000000 00000000",
        "22CF 000C 8307 0000 0001 0000 0000 0001",
        // Generation 8 wants an MTU of 100 and hb_tmo 20.
        "22CF 000C 8108 0064 0001 0014 0000 0001",
        "22CF 000E 8208 0064 0001 4314 0000 0001 0006",
        // The same beginning, with the first number, and its end: the one that was ahead does not follow.
        "22CF 001A 0205 0000 0001 0301 0000 0001 FFFFFFFF 00000000 00000003 A1A2",
        "22CF 000D 0305 0001 0001 0301 0000 0001 A3",
    ];
    let (words, totals) = answers(json!({}), &frames);
    let ack = "ACK 67 to 8 (100, 20), cid 769";
    let first = [ASKS, ANSWER, ANSWER, "HEARTBEAT", "up: MTU 64, hb_tmo 10"];
    let end = ["RESET 66", "ended: reset by peer"];
    let second = ["REQ 67 (128, 10)", ack, ack, "HEARTBEAT", "up: MTU 100, hb_tmo 20"];
    let expected: Vec<&str> = first.into_iter().chain(end).chain(second).collect();
    assert_eq!(words[..expected.len()], expected);
    assert_eq!(untaken(&totals), [("held", 1), ("forged", 1)]);
    assert_eq!((totals.stats.connected, ends(&totals.stats)), (2, vec![(LinxEnd::PeerReset, 1)]));
}

/// A message in patches: 32 octets of hole and 96 of message, 16 and 106, and then what the holes left out.
///
/// Proves: RIOCM-10.1.2-10
#[test]
fn a_sender_may_cut_in_patches() {
    let mut system = pair(json!({"mtu": 128, "fragmentation": "patch"}), json!({}));
    system["traffic"][0]["size"] = json!(250);
    system["traffic"][0]["limit"] = json!(1);
    system["traffic"][0]["arrivals"] = json!({"constant": {"interval": "20 us", "phase": "20 us"}});
    let ([first, _], totals) = said(system);
    let parts = [
        "PATCH_START 0, message 1, 96 octets",
        "FRAG 1, message 1, 106 octets",
        "PATCH 2, message 1, 48 octets",
    ];
    let data: Vec<&String> = first.iter().filter(|words| words.contains("octets")).collect();
    assert_eq!(data, parts.iter().collect::<Vec<_>>());
    sound(&totals);
    assert_eq!(totals.stats.delivered, 1);
}

/// A sender takes the next msgid for each message, also for those of one frame, of which nobody needs it.
/// Law: the 258 messages of a connection have 1 to 255, 0, 1 and 2, each the same in all its frames.
///
/// Proves: RIOCM-10.1.2.1-3
#[test]
fn each_message_has_the_next_msgid() {
    for (size, frames) in [(60, 1), (120, 2)] {
        let mut system = pair(json!({"mtu": 128}), json!({}));
        system["traffic"][0]["size"] = json!(size);
        system["traffic"][0]["limit"] = json!(258);
        system["traffic"][0]["arrivals"] = json!({"constant": {"interval": "2 us", "phase": "20 us"}});
        system["run"]["until"] = json!("800 us");
        let ([first, _], totals) = said(system);
        assert_eq!(totals.stats.delivered, 258);
        let of = |words: &String| words.split(", message ").nth(1)?.split(',').next()?.parse().ok();
        let found: Vec<u16> = first.iter().filter_map(of).collect();
        let law: Vec<u16> = (1..=258).flat_map(|message| vec![message % 256; frames]).collect();
        assert_eq!(found, law, "{size} octets");
    }
}

/// Packets of three priorities overtake each other; messages, of several packets each, do not.
///
/// Proves: RIOCM-10.1.2-12
#[test]
fn messages_arrive_once_and_whole_and_in_order() {
    for fragmentation in ["simple", "patch"] {
        let node = json!({"mtu": 128, "fragmentation": fragmentation, "data_priorities": [0, 1, 2],
                          "carrier": "stream"});
        let mut system = with_messages(pair(node, json!({})));
        system["traffic"][0]["size"] = json!(1_500);
        system["traffic"][0]["arrivals"]["constant"]["interval"] = json!("3 us");
        let totals = &run(&system)[0];
        sound(totals);
        let stats = &totals.stats;
        assert!(stats.delivered >= 29 && stats.frames.held > 0, "{fragmentation}: {totals:?}");
        assert_eq!((stats.missing, stats.repeated, stats.corrupt), (0, 0, 0), "{fragmentation}");
    }
}
