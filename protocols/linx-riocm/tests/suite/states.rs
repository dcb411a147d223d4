//! Every event in every state: what is sent, what is told, and what comes next.

use crate::common::*;
use linx_riocm::options::Opening;
use linx_riocm::wire::{DataKind, Message};
use linx_riocm::{Event, Options, Phase, Timer};
use std::collections::HashSet;

/// An event of the table.
#[derive(Clone, Copy)]
enum Input {
    Connect,
    Disconnect,
    Transmit,
    Hear(&'static str),
    Single(u16),
    Frag,
    Run(Timer),
    Link(bool),
}

impl Input {
    fn apply(self, end: &mut End) {
        let id = end.id;
        match self {
            Self::Connect => end.node.connect(0, id),
            Self::Disconnect => end.node.disconnect(0, id),
            Self::Transmit => end.node.transmit(0, id, 5, 9, &[1]),
            Self::Hear(frame) => end.hear(frame),
            Self::Single(seqno) => end.hear_single(seqno),
            Self::Frag => end.hear_data(0x22, 0, DataKind::Frag, 77, &[1]),
            Self::Run(timer) => end.node.fire(0, id, timer),
            Self::Link(up) => end.node.handle_link(0, up),
        }
    }
}

/// Disconnected, connecting, connecting with an ACK sent, connected, resetting.
const STATES: [fn(Options) -> End; 5] = [End::y, End::connecting, End::acked, End::connected, End::resetting];

const NOTHING: [&str; 5] = [""; 5];
const UP: &str = "ACK HEARTBEAT Up -> Connected";
const UP_AT_ONCE: &str = "ACK Up -> Connected";
const RESTARTED: &str = "Down(begun anew by the peer) -> Disconnected";
const PROBLEM: &str = "RESET -> Resetting";
const AFTER_PROBLEM: &str = "Down(malformed packet) -> Disconnected";
const TIMEOUT: &str = "RESET Down(timeout) -> Disconnected";

const REQUEST_GENERATION: Input = Input::Hear("22cf000c810201000002000500010001");
const REQUEST_MTU: Input = Input::Hear("22cf000c810100640002000500010001");
const REQUEST_HB: Input = Input::Hear("22cf000c810101000002000b00010001");
const REQUEST_63: Input = Input::Hear("22cf000c8101003f0002000500010001");
const ACK_CID: Input = Input::Hear("22cf000e820100800002420a000100010012");
const ACK_GENERATION: Input = Input::Hear("22cf000e820200800002420a000100010011");
const ACK_MTU: Input = Input::Hear("22cf000e820100640002420a000100010011");
const ACK_HB: Input = Input::Hear("22cf000e820100800002420b000100010011");
const ACK_63: Input = Input::Hear("22cf000e8201003f0002420a000100010011");
const ACK_OF_41: Input = Input::Hear("22cf000e820100800002410a000100010011");
const RESET_OLD: Input = Input::Hear("22cf000c830000000002000000010001");
const UNKNOWN_TYPE: Input = Input::Hear("22cf000c070100000002002200010001");
const TRUNCATED: Input = Input::Hear("22cf002001010000000200220001000100000005000000090000000800010203");
const SHORT_HEADER: Input = Input::Hear("22cf00140101000000020022000100010000000500000009");
const PAYL_SIZE: Input =
    Input::Hear("22cf00200101000000020022000100010000000500000009000000090001020304050607");
const UNKNOWN_CONN: Input = Input::Hear("22cf000c840100000002000000010001");
const SHORT_REQUEST: Input = Input::Hear("22cf000a81010100000200050001");
const VERSION_1: Input = Input::Hear("8911000c810101000002000500010001");
const OTHER_SENDER: Input = Input::Hear("22cf000c810101000002000500030001");
const OTHER_CID: Input =
    Input::Hear("22cf00200101000000027777000100010000000500000009000000080001020304050607");
const WRONG_SENDER: Input =
    Input::Hear("22cf00200101000000020022000300010000000500000009000000080001020304050607");

/// Table D.1 of the checklist, row by row.
const TABLE: &[(&str, Input, [&str; 5])] = &[
    ("Connect", Input::Connect, ["REQ -> Connecting", "", "", "", ""]),
    (
        "Disconnect",
        Input::Disconnect,
        [
            "",
            "Down(requested) -> Disconnected",
            "RESET Down(requested) -> Disconnected",
            "RESET Down(requested) -> Disconnected",
            "Down(requested) -> Disconnected",
        ],
    ),
    ("Transmit", Input::Transmit, ["", "", "", "SINGLE", ""]),
    ("REQ_same", Input::Hear(REQUEST_X), ["", "ACK", "ACK", RESTARTED, AFTER_PROBLEM]),
    ("REQ_new, generation", REQUEST_GENERATION, ["", "ACK", "ACK", RESTARTED, AFTER_PROBLEM]),
    ("REQ_new, mtu", REQUEST_MTU, ["", "ACK", "ACK", RESTARTED, AFTER_PROBLEM]),
    ("REQ_new, hb_tmo", REQUEST_HB, ["", "ACK", "ACK", RESTARTED, AFTER_PROBLEM]),
    ("REQ, mtu below 64", REQUEST_63, NOTHING),
    // Before a REQ was seen no ACK is correct.
    ("ACK_ok", Input::Hear(ACK_X), ["", "ACK", UP, "", ""]),
    ("ACK_ok, other my_cid", ACK_CID, ["", "ACK", UP, RESTARTED, ""]),
    ("ACK_bad, generation", ACK_GENERATION, ["", "ACK", "ACK", RESTARTED, AFTER_PROBLEM]),
    ("ACK_bad, mtu", ACK_MTU, ["", "ACK", "ACK", PROBLEM, ""]),
    ("ACK_bad, hb_tmo", ACK_HB, ["", "ACK", "ACK", PROBLEM, ""]),
    ("ACK_bad, mtu below 64", ACK_63, NOTHING),
    ("ACK_bad, generation_ack", ACK_OF_41, ["", "ACK", "ACK", "", ""]),
    (
        "RST_ok",
        Input::Hear(RESET_X),
        ["", "", "", "RESET Down(reset by peer) -> Disconnected", AFTER_PROBLEM],
    ),
    ("RST_old", RESET_OLD, NOTHING),
    ("HEARTBEAT", Input::Hear(HEARTBEAT_X), NOTHING),
    ("data, d = 0", Input::Single(0), ["", "", "", "Deliver", ""]),
    ("data, d = 1", Input::Single(1), NOTHING),
    ("data, d = 63", Input::Single(63), NOTHING),
    ("data, d = 64", Input::Single(64), ["", "", "RESET REQ", PROBLEM, ""]),
    ("data, d = 32767", Input::Single(32767), ["", "", "RESET REQ", PROBLEM, ""]),
    ("data, d = 32768", Input::Single(32768), NOTHING),
    ("data, d = 65535", Input::Single(65535), NOTHING),
    ("data of another cid", OTHER_CID, NOTHING),
    ("data of another sender", WRONG_SENDER, NOTHING),
    ("malformed: type", UNKNOWN_TYPE, ["", "", "REQ", PROBLEM, ""]),
    ("malformed: truncated", TRUNCATED, ["", "", "REQ", PROBLEM, ""]),
    ("malformed: size", SHORT_HEADER, ["", "", "REQ", PROBLEM, ""]),
    ("malformed: payl_size", PAYL_SIZE, ["", "", "REQ", PROBLEM, ""]),
    // Judged in its turn: not while connecting.
    ("malformed: FRAG of nothing", Input::Frag, ["", "", "", PROBLEM, ""]),
    ("unknown CONN", UNKNOWN_CONN, NOTHING),
    ("short REQ", SHORT_REQUEST, NOTHING),
    ("version 1", VERSION_1, NOTHING),
    ("another connection", OTHER_SENDER, NOTHING),
    ("req timer", Input::Run(Timer::Request), ["", "REQ", "REQ", "", ""]),
    ("hb timer", Input::Run(Timer::Heartbeat), ["", "", "", "HEARTBEAT", ""]),
    ("supervision", Input::Run(Timer::Supervision), ["", "", "", TIMEOUT, "Down(timeout) -> Disconnected"]),
    ("gap timer, no gap", Input::Run(Timer::Gap), NOTHING),
    (
        "link down",
        Input::Link(false),
        ["", "", "", "Down(link down) -> Disconnected", "Down(link down) -> Disconnected"],
    ),
];

fn check(options: &Options, table: &[(&str, Input, [&str; 5])]) {
    for (name, input, effects) in table {
        for (state, expected) in STATES.into_iter().zip(effects) {
            let mut end = state(options.clone());
            let before = end.phase();
            input.apply(&mut end);
            assert_eq!(&end.effect(before), expected, "{name} in {before:?}");
        }
    }
}

/// Proves: RIOCM-10.1-4, RIOCM-10.1-8, RIOCM-10.1.1-4, RIOCM-10.1.1-5, RIOCM-10.1.1-6, RIOCM-10.1.1-7
/// Proves: RIOCM-10.1.1-8, RIOCM-10.1.1-11, RIOCM-10.1.1.1-2, RIOCM-10.1.1.1-5, RIOCM-10.1.1.3-3
/// Proves: RIOCM-10.1.1.3-4, RIOCM-10.1.2-14, RIOCM-RLNH-4, RIOCM-RLNH-5
#[test]
fn the_table_of_the_default_profile() {
    check(&Options::default(), TABLE);
}

/// A connection that is up, but of which nothing proves that the peer is: it may still be connecting, and ask
/// again because an ACK was lost.
///
/// Proves: RIOCM-10.1.1-7, RIOCM-10.1.1-15, RIOCM-10.1.1-16
#[test]
fn before_the_peer_has_proved_itself() {
    for (name, input, effect) in [
        ("REQ_same", Input::Hear(REQUEST_X), "ACK"),
        ("REQ_new", REQUEST_GENERATION, RESTARTED),
        ("REQ_new, mtu", REQUEST_MTU, RESTARTED),
        ("ACK_ok", Input::Hear(ACK_X), ""),
        ("ACK_ok, other my_cid", ACK_CID, RESTARTED),
        ("ACK_bad, generation_ack", ACK_OF_41, "ACK"),
        ("Transmit", Input::Transmit, ""),
        ("HEARTBEAT", Input::Hear(HEARTBEAT_X), ""),
        ("data, d = 0", Input::Single(0), "Deliver"),
    ] {
        let mut end = End::unproved(Options::default());
        input.apply(&mut end);
        assert_eq!(end.effect(Phase::Connected), effect, "{name}");
    }
    // Messages wait for a heartbeat or data, and then leave in order; afterwards a REQ is not late any more.
    for proof in [Input::Hear(HEARTBEAT_X), Input::Single(0)] {
        let mut end = End::unproved(Options::default());
        for octet in 1..=2 {
            end.node.transmit(0, end.id, 5, 9, &[octet]);
        }
        end.hear(REQUEST_X);
        assert_eq!(end.sent(), [ACK_Y]);
        proof.apply(&mut end);
        let single =
            |n: u8| format!("22cf001901{n:02x}{:04x}000100110002000200000005000000090000000{}", n - 1, 1);
        let sent = end.sent();
        assert_eq!(sent, [1, 2].map(|n| format!("{}{n:02x}", single(n))));
        end.told();
        end.hear(REQUEST_X);
        assert_eq!((end.sent(), end.told()), (vec![], vec!["Down(begun anew by the peer)".into()]));
    }
    // A heartbeat that came before the last ACK is as good.
    let mut end = End::acked(Options::default());
    end.hear(HEARTBEAT_X);
    end.hear(ACK_X);
    end.sent();
    end.node.transmit(0, end.id, 5, 9, &[1]);
    assert_eq!(end.sent().len(), 1);
    // Who does not wait for a proof has sent something that may be lost with the peer's last life.
    let mut end = End::unproved(Options { opening: Opening::AtOnce, ..Options::default() });
    end.hear(REQUEST_X);
    assert_eq!(end.sent(), [ACK_Y]);
    end.node.transmit(0, end.id, 5, 9, &[1]);
    assert_eq!(end.sent().len(), 1);
    end.hear(REQUEST_X);
    assert_eq!((end.sent(), end.told()), (vec![], vec!["Down(begun anew by the peer)".into()]));
}

/// Table D.2, as far as it differs.
#[test]
fn the_table_of_linx_for_linux() {
    // Nothing is sent after a local problem, so there is no state to wait in.
    let states = [End::y, End::connecting, End::acked, End::connected];
    const LEFT: &str = "Down(malformed packet) -> Disconnected";
    let table: &[(&str, Input, [&str; 4])] = &[
        ("REQ_same", Input::Hear(REQUEST_X), ["", "ACK", "ACK", RESTARTED]),
        ("REQ_new", REQUEST_GENERATION, ["", "ACK", "ACK", RESTARTED]),
        ("ACK_ok", Input::Hear(ACK_X), ["", "ACK", UP_AT_ONCE, ""]),
        ("ACK_bad, mtu", ACK_MTU, ["", "ACK", "ACK", RESTARTED]),
        ("ACK_bad, generation_ack", ACK_OF_41, ["", "ACK", "ACK", RESTARTED]),
        ("RESET", Input::Hear(RESET_X), ["", "", "", "Down(reset by peer) -> Disconnected"]),
        ("RESET of any generation", RESET_OLD, ["", "", "", "Down(reset by peer) -> Disconnected"]),
        ("FRAG of nothing", Input::Frag, ["", "", "", LEFT]),
        ("unknown type", UNKNOWN_TYPE, ["", "", "", ""]),
        ("wrong size", SHORT_HEADER, ["", "", "", ""]),
        ("data, d = 64", Input::Single(64), ["", "", "", "Down(packet beyond the window) -> Disconnected"]),
        ("tick", Input::Run(Timer::Heartbeat), ["", "", "", "HEARTBEAT"]),
        ("supervision", Input::Run(Timer::Supervision), ["", "", "", ""]),
        ("req timer", Input::Run(Timer::Request), ["", "REQ", "REQ", ""]),
    ];
    for (name, input, effects) in table {
        for (state, expected) in states.into_iter().zip(effects) {
            let mut end = state(Options::linx_for_linux());
            let before = end.phase();
            input.apply(&mut end);
            assert_eq!(&end.effect(before), expected, "{name} in {before:?}");
        }
    }
    let mut end = End::connected(Options::linx_for_linux());
    for expected in ["HEARTBEAT", "HEARTBEAT", TIMEOUT] {
        end.node.fire(0, end.id, Timer::Heartbeat);
        assert_eq!(end.effect(Phase::Connected), expected);
    }
}

/// An attempt that is begun again has a new generation and a new connection ID, and knows nothing.
#[test]
fn a_restarted_attempt_is_new() {
    for (restart, sent) in [(Input::Single(64), 2), (UNKNOWN_TYPE, 1)] {
        let mut end = End::acked(Options::default());
        end.hear_single(0);
        restart.apply(&mut end);
        let frames = end.sent();
        assert_eq!(frames.len(), sent);
        assert_eq!(frames.last().unwrap(), "22cf000c814300800001000a00020002");
        // Correct before, unknown now.
        end.hear(&ACK_X.replace("0242", "0243"));
        assert_eq!(end.sent(), ["22cf000e824300800001010a000200020023"]);
        assert_eq!(end.phase(), Phase::Connecting);
        end.hear(&ACK_X.replace("0242", "0243"));
        // What was held belonged to the attempt before.
        assert_eq!(end.told(), ["Up"]);
    }
}

/// A peer that begins anew while this node is still connecting may have been up before: what it sent then
/// must not be delivered now, whether it is held already or still under way.
///
/// Proves: RIOCM-10.1.1.3-2
#[test]
fn data_of_the_peer_s_earlier_life_is_not_delivered() {
    let renewed = "22cf000e824200800001020a000200020023";
    for news in [REQUEST_GENERATION, ACK_GENERATION] {
        let mut end = End::acked(Options::default());
        end.hear_single(0);
        end.hear_single(1);
        news.apply(&mut end);
        assert_eq!(end.sent(), [renewed]);
        end.hear_single(0);
        ACK_GENERATION.apply(&mut end);
        end.hear_single(0);
        assert_eq!((end.told(), end.sent()), (vec!["Up".into()], vec![renewed.into(), HEARTBEAT_Y.into()]));
        assert_eq!(end.node.counters().stray, 1);
    }
    // A RESET says the same.
    let mut end = End::acked(Options::default());
    end.hear_single(0);
    end.hear(RESET_X);
    end.hear(REQUEST_X);
    end.hear(ACK_X);
    assert_eq!(end.told(), ["Up"]);
    let ack = "22cf000e824200800001010a000200020023";
    assert_eq!(end.sent(), [ack, ack, HEARTBEAT_Y]);
}

/// A late REQ of an earlier attempt must not change what the present one was told: the peer may be up with
/// it.
#[test]
fn a_detour_to_an_earlier_attempt_of_the_peer_changes_nothing() {
    let mut end = End::acked(Options::default());
    end.hear_single(0);
    REQUEST_GENERATION.apply(&mut end);
    // Held for the attempt it belongs to.
    end.hear_single(1);
    end.hear(&ACK_X.replace("0242", "0241"));
    assert_eq!(end.sent(), ["22cf000e824200800001020a000200020023", ACK_Y]);
    end.hear(ACK_X);
    assert_eq!(end.told(), ["Up", "Deliver", "Deliver"]);
    assert_eq!(end.node.link(end.id).unwrap().cid, 0x22);
}

/// Whatever comes in whatever order: Connected and Disconnected alternate, Deliver is between them, the
/// timers fit the phase, and a disconnected node says nothing.
///
/// Proves: RIOCM-RLNH-2, RIOCM-RLNH-3, RIOCM-RLNH-6
#[test]
fn every_sequence_of_five_events_keeps_the_contract_of_the_link_handler() {
    for options in [Options::default(), Options::linx_for_linux()] {
        let start = End::connecting(options);
        let mut layer = vec![(start, false)];
        let mut seen = HashSet::new();
        for _ in 0..5 {
            let mut next = vec![];
            for (end, up) in layer {
                for (name, input, _) in TABLE {
                    let mut end = end.clone();
                    let mut up = up;
                    let before = end.phase();
                    input.apply(&mut end);
                    while let Some(event) = end.node.poll_event() {
                        match event {
                            Event::Connected { .. } => assert!(!std::mem::replace(&mut up, true), "{name}"),
                            Event::Disconnected { .. } => {
                                let asked = matches!(input, Input::Disconnect);
                                assert!(std::mem::replace(&mut up, false) || asked, "{name}");
                            }
                            Event::Deliver { .. } => assert!(up, "{name}"),
                        }
                    }
                    let sent = end.sent();
                    if before == Phase::Disconnected && !matches!(input, Input::Connect) {
                        assert!(sent.is_empty() && end.phase() == before, "{name}");
                    }
                    assert_eq!(up, matches!(end.phase(), Phase::Connected | Phase::Resetting), "{name}");
                    let armed = |timer| end.node.timer(end.id, timer).is_some();
                    assert_eq!(armed(Timer::Heartbeat), end.phase() == Phase::Connected);
                    assert!(!armed(Timer::Request) || end.phase() == Phase::Connecting);
                    assert_eq!(end.node.poll_timeout().is_some(), Timer::ALL.into_iter().any(armed));
                    end.node.take_counters();
                    if seen.insert((end.clone(), up)) {
                        next.push((end, up));
                    }
                }
            }
            layer = next;
        }
        assert!(seen.len() > 1_000, "{}", seen.len());
    }
}

/// Proves: RIOCM-RLNH-1, RIOCM-RLNH-7
#[test]
fn every_connect_starts_fresh() {
    let mut end = End::connected(Options::default());
    for _ in 0..3 {
        end.node.transmit(0, end.id, 1, 2, &pay(200, 0));
    }
    end.hear_single(0);
    end.hear_single(2);
    end.hear_data(0x22, 1, DataKind::FragStart(Message { src: 1, dst: 2, payl_size: 9 }), 5, &[1]);
    end.node.disconnect(0, end.id);
    end.told();
    end.sent();
    end.node.connect(0, end.id);
    end.hear(&REQUEST_X.replace("8101", "8102"));
    end.hear("22cf000e820200800002430a000100010033");
    assert_eq!(end.told(), ["Up"]);
    let link = end.node.link(end.id).unwrap();
    assert_eq!((link.generation, link.peer_generation), (0x43, 2));
    assert_eq!((link.cid, link.peer_cid), (0x23, 0x33));
    end.hear(&HEARTBEAT_X.replace("0022", "0023"));
    end.sent();
    end.node.transmit(0, end.id, 1, 2, &[7]);
    assert_eq!(end.sent(), ["22cf001901010000000100330002000200000001000000020000000107"]);
    // The old connection ID finds nobody; the numbers begin with 0, and msgid 5 is not open.
    end.hear_single(3);
    assert_eq!(end.node.counters().stray, 1);
    end.hear_data(0x23, 0, DataKind::FragStart(Message { src: 1, dst: 2, payl_size: 2 }), 5, &[1]);
    end.hear_data(0x23, 1, DataKind::Frag, 5, &[2]);
    assert_eq!(end.told(), ["Deliver"]);
}
