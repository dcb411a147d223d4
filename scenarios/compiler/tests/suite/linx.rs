//! What the compiler makes of LINX, run. The protocol clock makes its 100 ms a fabric microsecond, unless a
//! test says otherwise.

use crate::watched::watched;
use models::probe::{Signal, SignalKind};
use models::stats::{LinxEnd, LinxStats, LinxTotals};
use models::{Probe, RunOptions, Watched};
use scenarios::load;
use serde_json::{Value, json};

const MICROSECOND: u64 = 1_000_000;

/// Two endpoints on a switch; `flows` between them, until `until`.
pub(crate) fn system(until: &str, node: Value, flows: Value) -> Value {
    json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 3}},
        "endpoint": {"host": {"protocol_clock": 100_000, "response_timeout": "1000 s"}, "linx": node},
        "traffic": flows,
        "run": {"until": until, "warmup": "0 ps", "sample_every": "off"}
    })
}

/// What the flows of a system come to.
pub(crate) fn run(system: &Value) -> Vec<LinxTotals> {
    let ((), outcome) = watched(system);
    outcome.totals.of::<LinxTotals>().cloned().collect()
}

/// A flow of `count` messages of 300 octets, one in each 20 us, with answers. It begins `at` microseconds.
fn core(name: &str, port: u16, at: u32, count: u32) -> Value {
    json!({
        "name": name, "from": "ep/0", "to": "ep/1", "size": 300, "limit": count,
        "arrivals": {"constant": {"interval": "20 us", "phase": format!("{} us", at + 10)}},
        "linx": {"src_port": port, "dst_port": port, "at": format!("{at} us"), "reply": 40}
    })
}

/// Two cores of one pair of devices have a connection each, and neither is aware of the other: each comes to
/// what it comes to alone, to the picosecond, where their frames do not wait for each other. That messages
/// keep to their core their octets say, which are others for each port.
///
/// Proves: RIOCM-10.1-12
#[test]
fn two_cores_are_two_connections() {
    for carrier in ["message", "stream"] {
        let node = json!({"carrier": carrier});
        let flows = [core("zero", 0, 1, 20), core("one", 1, 4, 30)];
        let both = run(&system("700 us", node.clone(), json!(flows)));
        for (flow, count, together) in [(&flows[0], 20, &both[0]), (&flows[1], 30, &both[1])] {
            let alone = &run(&system("700 us", node.clone(), json!([flow])))[0];
            assert_eq!(*together, LinxTotals { flow: together.flow, ..alone.clone() }, "{carrier}");
            let stats = &together.stats;
            assert_eq!((together.up, stats.connected, stats.ended.iter().sum::<u64>()), (1, 2, 0));
            assert_eq!((stats.delivered, stats.round_trips.len() as u64), (2 * count, count), "{carrier}");
            assert_eq!((stats.corrupt, stats.repeated, stats.portless, stats.frames.stray), (0, 0, 0, 0));
        }
    }
}

/// Ports of the two ends may differ, and a core may be the peer of several.
///
/// Proves: RIOCM-10.1.1.1-4
#[test]
fn the_ends_of_a_connection_may_have_different_ports() {
    let flow = json!({
        "name": "f", "from": ["ep/0", "ep/1"], "to": "ep/2", "size": 60, "limit": 5,
        "arrivals": {"constant": {"interval": "9 us", "phase": "9 us"}},
        "linx": {"src_port": 4, "dst_port": 65535}
    });
    let totals = &run(&system("100 us", json!({}), json!([flow])))[0];
    assert_eq!((totals.wanted, totals.up, totals.stats.delivered), (2, 2, 10));
    assert!(totals.all_up.is_some_and(|at| at.0 < 5 * MICROSECOND));
}

/// A connection of ep/0 and ep/1 that comes up at 0, T = 5 us, with this in the flow.
pub(crate) fn pair(node: Value, linx: Value) -> Value {
    let flow = json!({"name": "f", "from": "ep/0", "to": "ep/1", "linx": linx});
    system("100 us", node, json!([flow]))
}

/// A message of 60 octets in each microsecond, from 10 us on.
pub(crate) fn with_messages(mut system: Value) -> Value {
    let flow = &mut system["traffic"][0];
    flow["size"] = json!(60);
    flow["arrivals"] = json!({"constant": {"interval": "1 us", "phase": "10 us"}});
    system
}

pub(crate) fn ends(stats: &LinxStats) -> Vec<(LinxEnd, u64)> {
    let all = LinxEnd::ALL.into_iter().map(|end| (end, stats.ended[end as usize]));
    all.filter(|(_, count)| *count > 0).collect()
}

/// Every message is accounted for, and none is wrong.
pub(crate) fn sound(totals: &LinxTotals) {
    let stats = &totals.stats;
    assert_eq!((stats.repeated, stats.missing, stats.unannounced, stats.corrupt), (0, 0, 0, 0), "{totals:?}");
    let known = stats.refused + stats.delivered + totals.lost + totals.unseen + totals.under_way;
    assert_eq!(stats.messages, known, "{totals:?}");
}

/// An application gives its connection up for 30 us. Its end is told at once, that of the peer by RESET,
/// which it answers; the peer wants the connection all the time and asks in vain; messages are refused in
/// between.
///
/// Proves: RIOCM-10.1.1.3-2, RIOCM-RLNH-1, RIOCM-RLNH-3, RIOCM-RLNH-6
#[test]
fn an_application_gives_its_connection_up_and_wants_it_again() {
    for node in [json!({"carrier": "message"}), json!({"carrier": "stream"})] {
        let linx = json!({"disconnects": [{"node": "ep/0", "at": "50500 ns", "for": "30 us"}]});
        let totals = &run(&with_messages(pair(node, linx)))[0];
        sound(totals);
        let stats = &totals.stats;
        assert_eq!(ends(stats), [(LinxEnd::PeerReset, 1), (LinxEnd::Requested, 1)]);
        assert_eq!((stats.connected, totals.up, stats.false_timeouts, stats.flaps), (4, 1, 0, 0));
        // A REQ of either end finds the other connecting: two to four ways of less than a microsecond.
        let up = totals.all_up.expect("it is up again").0;
        assert!((80_500_000..84_500_000).contains(&up), "{up}");
        assert_eq!(stats.reestablished.count, 2);
        assert!(stats.reestablished.max < 4 * MICROSECOND, "{:?}", stats.reestablished);
        // One in a microsecond, until both are up.
        assert!((30..=34).contains(&stats.refused), "{}", stats.refused);
        // The answer to its RESET finds it disconnected.
        assert_eq!((stats.frames.old_resets, totals.lost), (1, 0));
    }
}

/// An application that wants no connection any more neither asks nor answers, whoever asks it.
///
/// Proves: RIOCM-10.1.1-2, RIOCM-10.1.1-4, RIOCM-RLNH-5
#[test]
fn who_has_disconnected_does_not_answer() {
    let linx = json!({"disconnects": [
        {"node": "ep/0", "peer": "ep/1", "at": "50 us"},
        {"node": "ep/0", "at": "70 us"}
    ]});
    let totals = &run(&pair(json!({}), linx))[0];
    let stats = &totals.stats;
    assert_eq!(ends(stats), [(LinxEnd::PeerReset, 1), (LinxEnd::Requested, 1)]);
    assert_eq!((stats.connected, totals.up, totals.half_up), (2, 0, 0));
    // Crossing: a REQ and two ACK of each end. RESET and its answer. Then a REQ of ep/1 alone in each 2 us of
    // the 50 that are left, less the way of RESET.
    assert_eq!(stats.frames.sent_management, 6 + 2 + 25);
}

/// An attempt that is given up is no end of a connection, and sends no RESET to a peer that was told nothing.
///
/// Proves: RIOCM-RLNH-3
#[test]
fn an_attempt_can_be_given_up() {
    let linx = json!({
        "faults": [{"node": "ep/1", "kind": "crash", "at": "0 ps", "for": "200 us"}],
        "disconnects": [{"node": "ep/0", "at": "9 us"}]
    });
    let totals = &run(&pair(json!({}), linx))[0];
    // REQ at 0, 2, 4, 6 and 8 us.
    assert_eq!(totals.stats.frames.sent_management, 5);
    assert_eq!((totals.stats.connected, ends(&totals.stats)), (0, vec![]));
}

/// The RESET of an application that gives up is lost: its peer finds out by supervision, and that is no false
/// alarm.
///
/// Proves: RIOCM-10.1.3-2, RIOCM-10.1.3-3
#[test]
fn a_lost_reset_is_found_by_supervision() {
    let linx = json!({"loss": {"connection": 0.5}, "disconnects": [{"node": "ep/0", "at": "70 us"}]});
    let mut lost = 0;
    for seed in 1..=24 {
        let mut system = pair(json!({}), linx.clone());
        system["seed"] = json!(seed);
        let totals = &run(&system)[0];
        let stats = &totals.stats;
        assert_eq!((stats.ended[LinxEnd::Requested as usize], stats.false_timeouts, totals.up), (1, 0, 0));
        if ends(stats) == [(LinxEnd::Timeout, 1), (LinxEnd::Requested, 1)] {
            lost += 1;
            assert_eq!(stats.detected.count, 1);
            // Two to three periods of 5 us, and the way of a heartbeat.
            let found = stats.detected.max;
            assert!((10 * MICROSECOND..=16 * MICROSECOND).contains(&found), "{found}");
        }
    }
    // Half of 24, within three standard deviations.
    assert!((5..=19).contains(&lost), "{lost} RESET were lost");
}

/// What was counted of frames that nobody takes, by reason.
pub(crate) fn reasons(stats: &LinxStats) -> Vec<(&'static str, u64)> {
    let frames = &stats.frames;
    let all = [
        ("foreign", frames.foreign),
        ("unattributable", frames.unattributable),
        ("management", frames.stray_management),
        ("stray", frames.stray),
        ("portless", stats.portless),
        ("malformed", frames.malformed),
        ("mtu", frames.below_minimum_mtu),
        ("old reset", frames.old_resets),
        ("old", frames.old_data),
        ("duplicate", frames.duplicates),
        ("held", frames.held),
        ("surplus", frames.surplus),
        ("above mtu", frames.above_mtu),
        ("forged", stats.forged),
    ];
    all.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// What both ends see of a reset by this node: it could not deliver, and its peer answers.
const RESET: [(LinxEnd, u64); 2] = [(LinxEnd::PeerReset, 1), (LinxEnd::Local, 1)];

/// Frames that are wrong in one point, to a connection that is up: each is counted for its reason, and resets
/// the connection if it is malformed and the connection's own; then the connection comes up again.
///
/// Proves: RIOCM-10.1-4, RIOCM-10.1-8, RIOCM-10.1-9, RIOCM-10.1-10, RIOCM-10.1-14, RIOCM-10.1-15
/// Proves: RIOCM-10.1.1.1-5, RIOCM-10.1.1.3-3, RIOCM-10.1.2-14, RIOCM-10.1.2.3-2, RIOCM-10.1.3-6
#[test]
fn a_wrong_frame_is_counted_for_its_reason() {
    for (frame, reason, resets) in [
        ("short", "foreign", false),
        ("other_protocol", "foreign", false),
        ("version1", "foreign", false),
        ("headless", "unattributable", false),
        ("unknown_management", "management", false),
        ("unknown_type", "malformed", true),
        ("cut_off", "malformed", true),
        ("short_header", "malformed", true),
        ("long_payload", "malformed", true),
        ("stray_fragment", "malformed", true),
        ("small_mtu", "mtu", false),
        ("old_reset", "old reset", false),
        ("wrong_cid", "stray", false),
        ("wrong_sender", "stray", false),
        ("wrong_port", "portless", false),
    ] {
        for carrier in ["message", "stream"] {
            let inject = json!({"inject": [{"at": "33 us", "from": "ep/0", "to": "ep/1", "frame": frame}]});
            let totals = &run(&pair(json!({"carrier": carrier}), inject))[0];
            let stats = &totals.stats;
            assert_eq!((stats.injected, reasons(stats)), (1, vec![(reason, 1)]), "{frame} over {carrier}");
            let found = (ends(stats), stats.connected, totals.up);
            let expected = if resets { (RESET.to_vec(), 4, 1) } else { (vec![], 2, 1) };
            assert_eq!(found, expected, "{frame} over {carrier}");
        }
    }
}

/// Frames of a message that nobody sent, given in octets, with what becomes of them: reasons, and whether the
/// connection is reset.
struct Forged {
    what: &'static str,
    frames: &'static [&'static str],
    reasons: &'static [(&'static str, u64)],
    resets: bool,
}

/// PATCH that fills two holes, 48 octets.
const HOLES: &str = "22CF 003C 0501 0002 0000 0000 0000 0000 00000000000000000000000000000000 \
                     00000000000000000000000000000000 00000000000000000000000000000000";

/// SINGLE, FRAG_START and PATCH_START have 0xFFFFFFFF as `src`. The fourth group of digits is the sequence
/// number, counted from the next one.
const FORGERIES: [Forged; 22] = [
    Forged {
        what: "a message of two octets, of none, and one with three octets behind it",
        frames: &[
            "22CF 001A 0101 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000002 A1A2",
            "22CF 0018 0102 0001 0000 0000 0000 0000 FFFFFFFF 00000000 00000000",
            "22CF 001C 0103 0002 0000 0000 0000 0000 FFFFFFFF 00000000 00000001 A1EEEEEE",
        ],
        reasons: &[("surplus", 1), ("forged", 3)],
        resets: false,
    },
    Forged {
        what: "FRAG_START that needs no fragment",
        frames: &["22CF 001A 0201 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000002 A1A2"],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "two FRAG_START of one msgid",
        frames: &[
            "22CF 001A 0201 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000009 A1A2",
            "22CF 001A 0201 0001 0000 0000 0000 0000 FFFFFFFF 00000000 00000009 A1A2",
        ],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "fragments of two messages alternate, and overtake each other",
        frames: &[
            "22CF 001A 0201 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000003 A1A2",
            "22CF 000D 0301 0002 0000 0000 0000 0000 A3",
            "22CF 001A 0202 0001 0000 0000 0000 0000 FFFFFFFF 00000000 00000004 B1B2",
            "22CF 000E 0302 0003 0000 0000 0000 0000 B3B4",
        ],
        reasons: &[("held", 1), ("forged", 2)],
        resets: false,
    },
    Forged {
        what: "more fragments than the message has octets",
        frames: &[
            "22CF 001A 0201 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000003 A1A2",
            "22CF 000E 0301 0001 0000 0000 0000 0000 A3A4",
        ],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "an empty FRAG in simple fragmentation",
        frames: &[
            "22CF 001A 0201 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000003 A1A2",
            "22CF 000C 0301 0001 0000 0000 0000 0000",
        ],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "a message in patches: 32 octets of hole, two of the first packet, 16 of hole, one of a FRAG",
        frames: &[
            "22CF 001E 0401 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000033 0001 0001 A1A2",
            "22CF 000D 0301 0001 0000 0000 0000 0000 A3",
            HOLES,
        ],
        reasons: &[("forged", 1)],
        resets: false,
    },
    Forged {
        what: "an empty FRAG in patch fragmentation: a chunk of just 16 octets",
        frames: &[
            "22CF 001E 0401 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000032 0001 0001 A1A2",
            "22CF 000C 0301 0001 0000 0000 0000 0000",
            HOLES,
        ],
        reasons: &[("forged", 1)],
        resets: false,
    },
    Forged {
        what: "PATCH_START without PATCH",
        frames: &["22CF 001E 0401 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000022 0000 0000 A1A2"],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "PATCH_START of a message that is too short for it",
        frames: &["22CF 001E 0401 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000021 0000 0001 A1A2"],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "PATCH before all FRAG",
        frames: &[
            "22CF 001E 0401 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000033 0001 0001 A1A2",
            "22CF 000D 0501 0001 0000 0000 0000 0000 A3",
        ],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "more FRAG than announced",
        frames: &[
            "22CF 001E 0401 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000022 0000 0001 A1A2",
            "22CF 000D 0301 0001 0000 0000 0000 0000 A3",
        ],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "an empty PATCH",
        frames: &[
            "22CF 001E 0401 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000022 0000 0001 A1A2",
            "22CF 000C 0501 0001 0000 0000 0000 0000",
        ],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "patches that do not fill the holes",
        frames: &[
            "22CF 001E 0401 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000022 0000 0001 A1A2",
            "22CF 000D 0501 0001 0000 0000 0000 0000 A3",
        ],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "PATCH of a message in simple fragmentation",
        frames: &[
            "22CF 001A 0201 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000003 A1A2",
            "22CF 000D 0501 0001 0000 0000 0000 0000 A3",
        ],
        reasons: &[("malformed", 1)],
        resets: true,
    },
    Forged {
        what: "64 ahead: beyond the window",
        frames: &["22CF 0018 0101 0040 0000 0000 0000 0000 FFFFFFFF 00000000 00000000"],
        reasons: &[],
        resets: true,
    },
    Forged {
        what: "63 ahead, twice: held once; the gap does not close in three periods",
        frames: &[
            "22CF 0018 0101 003F 0000 0000 0000 0000 FFFFFFFF 00000000 00000000",
            "22CF 0018 0101 003F 0000 0000 0000 0000 FFFFFFFF 00000000 00000000",
        ],
        reasons: &[("duplicate", 1), ("held", 1)],
        resets: true,
    },
    Forged {
        what: "the one before the first, and 32768 ahead, which is as far behind",
        frames: &[
            "22CF 0018 0101 FFFF 0000 0000 0000 0000 FFFFFFFF 00000000 00000000",
            "22CF 0018 0101 8000 0000 0000 0000 0000 FFFFFFFF 00000000 00000000",
        ],
        reasons: &[("old", 2)],
        resets: false,
    },
    Forged {
        what: "32767 ahead",
        frames: &["22CF 0018 0101 7FFF 0000 0000 0000 0000 FFFFFFFF 00000000 00000000"],
        reasons: &[],
        resets: true,
    },
    Forged {
        what: "a frame of 65 octets where 64 were agreed on: taken",
        frames: &[
            "22CF 003D 0101 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000025 000000000000000000000000 \
             00000000000000000000000000000000000000000000000000",
        ],
        reasons: &[("above mtu", 1), ("forged", 1)],
        resets: false,
    },
    Forged {
        what: "a correct ACK, padded: dropped and not answered",
        frames: &["22CF 0010 8200 0040 0000 0005 0000 0000 0000 0000"],
        reasons: &[],
        resets: false,
    },
    Forged {
        what: "RESET with the fields that nobody reads",
        frames: &["22CF 000C 8300 BEEF 0000 BEEF 0000 0000"],
        reasons: &[("old reset", 1)],
        resets: true,
    },
];

/// Whatever comes with the addresses of a connection is judged by what it says, in the order of its numbers.
///
/// Proves: RIOCM-10.1-2, RIOCM-10.1-5, RIOCM-10.1-6, RIOCM-10.1-13, RIOCM-10.1.1-7, RIOCM-10.1.1.2-1
/// Proves: RIOCM-10.1.1.3-1, RIOCM-10.1.1.3-4, RIOCM-10.1.2-4, RIOCM-10.1.2-5, RIOCM-10.1.2-6
/// Proves: RIOCM-10.1.2-9, RIOCM-10.1.2-1, RIOCM-10.1.2-15, RIOCM-10.1.2-16, RIOCM-10.1.2.1-1
/// Proves: RIOCM-10.1.2.1-2, RIOCM-10.1.2.2-1, RIOCM-10.1.2.2-2, RIOCM-10.1.2.2-3, RIOCM-10.1.2.3-1
/// Proves: RIOCM-10.1.2.3-3, RIOCM-10.1.2.3-4, RIOCM-10.1.2.4-1, RIOCM-10.1.2.4-2, RIOCM-10.1.2.4-3
/// Proves: RIOCM-10.1.2.5-1, RIOCM-10.1.2.5-2, RIOCM-10.1.2.5-3
#[test]
fn forged_frames_are_judged_by_what_they_say() {
    for Forged { what, frames, reasons: expected, resets } in FORGERIES {
        let inject: Vec<Value> = (32..)
            .zip(frames)
            .map(|(at, octets)| {
                let at = format!("{at} us");
                json!({"at": at, "from": "ep/0", "to": "ep/1", "octets": octets, "relative": true})
            })
            .collect();
        let totals = &run(&pair(json!({"mtu": 64}), json!({"inject": inject})))[0];
        let stats = &totals.stats;
        assert_eq!(stats.injected, frames.len() as u64, "{what}");
        assert_eq!(reasons(stats), expected, "{what}");
        // ep/0 has not sent the RESET that ep/1 answers, so it answers in turn. By then ep/1 connects anew.
        let reset = if what.starts_with("RESET") { vec![(LinxEnd::PeerReset, 2)] } else { RESET.to_vec() };
        let found = (ends(stats), stats.connected, totals.up);
        let expected = if resets { (reset, 4, 1) } else { (vec![], 2, 1) };
        assert_eq!(found, expected, "{what}");
        if !resets {
            // Crossing REQs alone.
            assert_eq!(stats.frames.sent_management, 6, "{what}");
        }
    }
}

/// A gap that a forged frame tears is given up after three periods, or after the time that is set.
///
/// Proves: RIOCM-10.1.2-16
#[test]
fn a_gap_is_given_up_in_time() {
    let octets = "22CF 0018 0101 0001 0000 0000 0000 0000 FFFFFFFF 00000000 00000000";
    let inject = json!([{"at": "32 us", "from": "ep/0", "to": "ep/1", "octets": octets, "relative": true}]);
    // Both are up for the time from 0 to the end but for the way of the handshake, RESET and its answer.
    let down = |gap: &str| {
        let totals = &run(&pair(json!({"gap_timer": gap}), json!({"inject": inject})))[0];
        (totals.stats.ended[LinxEnd::Local as usize], totals.all_up.expect("it is up").0)
    };
    let (count, never) = down("off");
    assert!(count == 0 && never < 2 * MICROSECOND);
    for (gap, wait) in [("auto", 15), ("700 ms", 7), ("100 ms", 1)] {
        let (count, up) = down(gap);
        let least = (32 + wait) * MICROSECOND;
        assert!(count == 1 && (least..least + 4 * MICROSECOND).contains(&up), "{gap}: {up}");
    }
}

/// Frames that leave as they are: one that happens to be right is taken, one for another core is its own.
/// Connection ID and generation are known because they are set.
///
/// Proves: RIOCM-10.1-12
#[test]
fn octets_can_be_given_as_they_are() {
    let node = json!({"carrier": "stream", "first_cid": 512, "generation": 7});
    let reset = |port: u16, generation: u8| {
        format!("22CF 000C 83{generation:02X} 0000 00{port:02X} 0000 0000 00{port:02X}")
    };
    for (port, generation, first, second) in [(0, 7, 2, 0), (1, 7, 0, 2), (0, 8, 0, 0), (2, 7, 0, 0)] {
        let inject =
            json!([{"at": "41 us", "from": "ep/0", "to": "ep/1", "octets": reset(port, generation)}]);
        let mut flows = [core("zero", 0, 1, 0), core("one", 1, 4, 0)];
        flows[0]["linx"]["inject"] = inject;
        let totals = run(&system("100 us", node.clone(), json!(flows)));
        let resets = |totals: &LinxTotals| totals.stats.ended[LinxEnd::PeerReset as usize];
        assert_eq!((resets(&totals[0]), resets(&totals[1])), (first, second), "port {port}, {generation}");
        assert_eq!(totals[0].stats.portless, u64::from(port == 2));
        assert!(totals.iter().all(|totals| totals.up == 1));
    }
}

/// A restarted node that has the generation it had is told by what its peer has exchanged: the connection
/// ends and comes up again, whether it renews generations or not.
///
/// Proves: RIOCM-10.1.1.1-2
#[test]
fn a_node_may_begin_again_with_the_generation_it_had() {
    for renewal in ["connect", "never"] {
        let node = json!({"generation": 9, "renewal": renewal});
        let linx = json!({"faults": [{"node": "ep/1", "kind": "crash", "at": "40 us", "for": "1 us"}]});
        let totals = &run(&with_messages(pair(node, linx)))[0];
        sound(totals);
        let stats = &totals.stats;
        assert_eq!(ends(stats), [(LinxEnd::PeerRestart, 1), (LinxEnd::Crash, 1)], "{renewal}");
        assert_eq!((totals.up, stats.connected), (1, 4), "{renewal}");
    }
}

/// Who is gone is noticed in the last of the periods that a connection may be silent, by ticks of the own
/// timer up to a period sooner.
///
/// Proves: RIOCM-10.1.3-2
#[test]
fn a_dead_peer_is_noticed_in_the_last_period() {
    for (supervision, early) in [("deadline", 0), ("ticks", 1)] {
        for periods in [2, 3, 5] {
            let node = json!({"periods": periods, "supervision": supervision, "request_period": "500 ms"});
            let linx = json!({"faults": [{"node": "ep/1", "kind": "crash", "at": "42 us", "for": "200 us"}]});
            let stats = &run(&pair(node, linx))[0].stats;
            assert_eq!(
                (ends(stats), stats.false_timeouts),
                (vec![(LinxEnd::Timeout, 1), (LinxEnd::Crash, 1)], 0)
            );
            let (least, most) = ((periods - 1 - early) * 5 * MICROSECOND, periods * 5 * MICROSECOND);
            // The last heartbeat was under way for less than a microsecond.
            let found = stats.detected.max;
            assert!((least..most + MICROSECOND).contains(&found), "{supervision} {periods}: {found}");
        }
    }
}

/// What nodes send, in words.
#[derive(Default)]
struct Words([Vec<String>; 2]);

impl Probe for Words {
    fn signal(&mut self, signal: &Signal) {
        if let SignalKind::Sent { words, .. } = &signal.kind {
            self.0[signal.device as usize].push(words.clone());
        }
    }
}

/// Two nodes with different wishes come to the smaller MTU and the longer period; REQ that cross make one
/// connection; fragments are numbered on, and heartbeats leave between them, one a period, without a number.
///
/// Proves: RIOCM-10.1-3, RIOCM-10.1.1-3, RIOCM-10.1.1-5, RIOCM-10.1.1-6, RIOCM-10.1.1-9, RIOCM-10.1.1-10
/// Proves: RIOCM-10.1.1-12, RIOCM-10.1.1.1-3, RIOCM-10.1.1.2-3, RIOCM-10.1.1.2-4, RIOCM-10.1.1.2-5
/// Proves: RIOCM-10.1.2-2, RIOCM-10.1.2-3, RIOCM-10.1.2-7, RIOCM-10.1.2-8, RIOCM-10.1.2-11
/// Proves: RIOCM-10.1.3-1, RIOCM-10.1.3-4, RIOCM-10.1.3-5
#[test]
fn two_nodes_say_what_the_text_says() {
    let flow = json!({
        "name": "f", "from": "ep/0", "to": "ep/1", "size": 250, "limit": 2,
        "arrivals": {"constant": {"interval": "20 us", "phase": "20 us"}}, "linx": {"chart": true}
    });
    let node = json!({"mtu": 256, "hb_tmo": 5, "generation": 1, "first_cid": 512});
    let mut system = system("45 us", node, json!([flow]));
    let other = json!({"mtu": 128, "hb_tmo": 10, "generation": 66, "first_cid": 768});
    system["overrides"] = json!([{"devices": "ep/1", "endpoint": {"linx": other}}]);
    let plan =
        load(&system.to_string(), "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let mut words = Words::default();
    let mut simulation = Watched::new(plan.variants[0].config.clone(), RunOptions::default(), &mut words);
    simulation.run(plan.variants[0].until, u64::MAX);
    simulation.finish();
    let [first, second] = words.0;
    let ack = "ACK 1 to 66 (128, 10), cid 512";
    let message = |seqno: u16, msgid: u8| {
        let parts = [("FRAG_START", 100), ("FRAG", 112), ("FRAG", 38)];
        let said = move |(seqno, (name, octets))| format!("{name} {seqno}, message {msgid}, {octets} octets");
        (seqno..).zip(parts).map(said)
    };
    let mut expected: Vec<String> = vec!["REQ 1 (256, 5)".into(), ack.into(), ack.into()];
    // One that proves that this end is up, and one in each 10 us from there.
    let heartbeats = |count| (0..count).map(|_| "HEARTBEAT".to_owned());
    expected.extend(heartbeats(2).chain(message(0, 1)).chain(heartbeats(2)).chain(message(3, 2)));
    expected.extend(heartbeats(1));
    assert_eq!(first, expected);
    let ack = "ACK 66 to 1 (128, 10), cid 768".to_owned();
    let expected = ["REQ 66 (128, 10)".to_owned(), ack.clone(), ack].into_iter().chain(heartbeats(5));
    assert_eq!(second, expected.collect::<Vec<String>>());
}
