//! User data: numbers, the reordering queue, what is held, what resets.

use crate::common::*;
use linx_riocm::fragment::{Fragmentation, Limits};
use linx_riocm::options::GapTimer;
use linx_riocm::wire::{Data, DataKind, Frame, Message, Packet};
use linx_riocm::{Event, Options, Phase};

/// Y, connected, with `expected` as the next number in order.
fn expecting(expected: u16) -> End {
    let mut end = End::connected(Options::default());
    (0..expected).for_each(|seqno| end.hear_single(seqno));
    assert_eq!(end.delivered().len(), usize::from(expected));
    end
}

/// Q01, Q02, Q06: arrivals, and what each delivers.
///
/// Proves: RIOCM-10.1-2, RIOCM-10.1.2-4, RIOCM-10.1.2-5, RIOCM-10.1.2-6
#[test]
fn packets_are_delivered_in_the_order_of_their_numbers() {
    /// A number that arrives, and the numbers that are delivered then.
    type Arrival = (u16, &'static [u16]);
    let cases: [(u16, &[Arrival]); 3] = [
        (0, &[(0, &[0]), (2, &[]), (3, &[]), (1, &[1, 2, 3]), (5, &[]), (4, &[4, 5])]),
        (65534, &[(65534, &[65534]), (0, &[]), (65535, &[65535, 0]), (1, &[1])]),
        (10, &[(12, &[]), (12, &[]), (11, &[]), (10, &[10, 11, 12])]),
    ];
    for (expected, arrivals) in cases {
        let mut end = expecting(expected);
        for (seqno, delivered) in arrivals {
            end.hear_single(*seqno);
            assert_eq!(end.delivered(), *delivered, "{seqno}");
        }
        assert_eq!(end.node.counters().duplicates, u64::from(expected == 10));
        assert_eq!(end.phase(), Phase::Connected);
    }
}

/// Q03, Q04, Q05, Q07, Q08.
///
/// Proves: RIOCM-10.1.2-5, RIOCM-10.1-5
#[test]
fn the_window_is_64_packets() {
    for (expected, seqno, held, phase) in [
        (10, 73, 1, Phase::Connected),
        (10, 74, 0, Phase::Resetting),
        (10, 9, 0, Phase::Connected),
        (65500, 20, 1, Phase::Connected),
        (65500, 28, 0, Phase::Resetting),
        (0, 32767, 0, Phase::Resetting),
        (0, 32768, 0, Phase::Connected),
    ] {
        let mut end = expecting(expected);
        end.hear_single(seqno);
        assert_eq!((end.node.counters().held, end.phase()), (held, phase), "{seqno} at {expected}");
        let old = seqno.wrapping_sub(expected) >= 32768;
        assert_eq!(end.node.counters().old_data, u64::from(old));
        assert!(end.delivered().is_empty());
    }
}

/// Q09: a patched message in another order.
///
/// Proves: RIOCM-10.1.2-4, RIOCM-10.1-3
#[test]
fn fragments_are_reordered_too() {
    let mut end = End::connected(Options::default());
    let mut pieces = vec![];
    let message = pay(150, 0);
    linx_riocm::fragment::cut(5, 9, &message, 64, Fragmentation::Patch, |kind, payload| {
        pieces.push((kind, payload.to_vec()));
    });
    assert_eq!(pieces.len(), 5);
    for (turn, number) in [0, 2, 1, 4, 3].into_iter().enumerate() {
        let (kind, payload) = &pieces[number];
        end.hear_data(0x22, number as u16, *kind, 6, payload);
        let delivered = std::iter::from_fn(|| end.node.poll_event()).collect::<Vec<_>>();
        assert_eq!(delivered.len(), usize::from(turn == 4));
        for event in delivered {
            let Event::Deliver { delivery, .. } = event else { panic!("a message") };
            assert_eq!((delivery.src, delivery.dst, &delivery.octets), (5, 9, &message));
        }
    }
}

/// Five kinds share one counter, connection packets and heartbeats take none; msgid goes on with every
/// message.
///
/// Proves: RIOCM-10.1.2-2, RIOCM-10.1.2-3, RIOCM-10.1.2.1-3, RIOCM-10.1-1, RIOCM-10.1-3
#[test]
fn numbers_of_sent_packets() {
    let mut end = End::connected(Options { fragmentation: Fragmentation::Patch, ..Options::default() });
    let (mut seqno, mut now) = (0_u16, 0);
    for turn in 0..=65_600_u32 {
        let long = turn % 1_000 == 7;
        end.node.transmit(now, end.id, 5, 9, &pay(if long { 300 } else { 3 }, 0));
        if turn % 5_000 == 4 {
            now += ms(1_000);
            end.hear(HEARTBEAT_X);
            end.wait(now);
            end.hear(ACK_X);
        }
        let mut data = 0;
        for frame in end.sent() {
            let frame = octets(&frame);
            if let Packet::Data(packet) = Frame::parse(&frame).unwrap().packet {
                assert_eq!(packet.seqno, seqno);
                assert_eq!(packet.msgid, (1 + turn) as u8);
                assert_eq!(packet.dst_cid, 0x11);
                assert!(frame.len() <= 128);
                seqno = seqno.wrapping_add(1);
                data += 1;
            }
        }
        assert_eq!(data > 1, long);
    }
    // Sent once: nothing comes again by itself.
    let sent = end.node.counters().sent_data;
    end.wait(now + ms(2_500));
    assert_eq!(end.node.counters().sent_data, sent);
}

/// Proves: RIOCM-10.1.2-13
#[test]
fn data_ahead_of_the_last_ack_is_held() {
    let mut end = End::connecting(Options::default());
    end.hear_single(0);
    assert_eq!(end.node.counters().untimely, 1, "nobody can know the ID yet");
    end.hear(REQUEST_X);
    for seqno in [1, 0, 3] {
        end.hear_single(seqno);
    }
    assert!(end.told().is_empty());
    end.hear(ACK_X);
    assert_eq!(end.told(), ["Up", "Deliver", "Deliver"]);
    end.hear_single(2);
    assert_eq!(end.delivered(), [2, 3]);

    // What is held may be wrong.
    let mut end = End::acked(Options::default());
    end.hear_single(0);
    end.hear_data(0x22, 1, DataKind::Frag, 3, &[1]);
    end.hear_single(2);
    end.sent();
    end.hear(ACK_X);
    assert_eq!(end.told(), ["Up", "Deliver"]);
    assert_eq!(
        (end.sent(), end.phase()),
        (vec![ACK_Y.into(), HEARTBEAT_Y.into(), RESET_Y.into()], Phase::Resetting)
    );
}

/// Proves: RIOCM-10.1.2-14
#[test]
fn data_of_others_is_dropped() {
    let mut end = End::connected(Options::default());
    for (at, octet) in [(11, 0x23), (13, 3), (15, 2), (9, 1)] {
        let mut frame = octets(SINGLE_X);
        frame[at] = octet;
        end.node.handle_frame(0, &frame);
    }
    assert!(end.node.is_drained());
    assert_eq!((end.node.counters().stray, end.phase()), (4, Phase::Connected));
    end.hear(SINGLE_X);
    assert_eq!(end.told(), ["Deliver"]);
}

/// Proves: RIOCM-10.1.2-16, RIOCM-10.1-5
#[test]
fn a_gap_does_not_stay_open() {
    let run = |gap_timer| {
        let mut end = End::connected(Options { gap_timer, ..Options::default() });
        end.wait(ms(100));
        end.hear_single(1);
        for at in 1..8 {
            end.hear(HEARTBEAT_X);
            if end.phase() == Phase::Resetting {
                return Some(end.node.counters().heartbeats);
            }
            end.wait(ms(100 + 1_000 * at));
        }
        None
    };
    // Reset 3 000 ms after the gap opened; heartbeats at 100, 1 100 and 2 100 were accepted.
    assert_eq!(run(GapTimer::Periods), Some(3));
    assert_eq!(run(GapTimer::After(ms(1_500))), Some(2));
    assert_eq!(run(GapTimer::Off), None);

    // Another gap has its own time.
    let mut end = End::connected(Options { gap_timer: GapTimer::After(ms(700)), ..Options::default() });
    end.hear_single(1);
    end.hear_single(3);
    end.wait(ms(600));
    end.hear_single(0);
    end.wait(ms(1_299));
    assert_eq!(end.phase(), Phase::Connected);
    end.wait(ms(1_300));
    assert_eq!(end.phase(), Phase::Resetting);
    // Closed in time: no effect.
    let mut end = End::connected(Options { gap_timer: GapTimer::After(ms(700)), ..Options::default() });
    end.hear_single(1);
    end.hear_single(0);
    end.wait(ms(900));
    assert_eq!(end.phase(), Phase::Connected);
}

/// Proves: RIOCM-10.1-5, RIOCM-10.1-6
#[test]
fn what_cannot_be_delivered_resets_and_waits_for_the_peer() {
    let limits = Limits { open: 2, octets: 40 };
    let start = |payl_size| DataKind::FragStart(Message { src: 1, dst: 2, payl_size });
    /// What is wrong, and what makes it so.
    type Problem<'a> = (&'a str, &'a dyn Fn(&mut End));
    let problems: [Problem<'_>; 6] = [
        ("too many open messages", &|end| {
            (0..3).for_each(|seqno| end.hear_data(0x22, seqno, start(9), seqno as u8, &[1]));
        }),
        ("message too long", &|end| end.hear_data(0x22, 0, start(41), 1, &[1])),
        ("message too long", &|end| end.node.transmit(0, end.id, 1, 2, &[0; 41])),
        ("packet beyond the window", &|end| end.hear_single(100)),
        ("frame not sent", &|end| end.node.handle_send_failure(0, end.id, 0x22)),
        ("peer renumbered", &|end| (0..65).for_each(|back| end.hear_single(65535 - back))),
    ];
    for (name, cause) in problems {
        let mut end = End::connected(Options { limits, ..Options::default() });
        cause(&mut end);
        assert_eq!(end.sent(), [RESET_Y], "{name}");
        assert!(end.told().is_empty(), "{name}: told before the peer answered");
        assert_eq!(end.phase(), Phase::Resetting);
        // No data and no heartbeats in this time, and no life from those of the peer.
        let waiting = end.clone();
        end.hear_single(0);
        end.hear(HEARTBEAT_X);
        end.node.transmit(0, end.id, 1, 2, &[]);
        assert!(end.node.is_drained());
        end.hear(RESET_X);
        assert_eq!((end.sent(), end.told()), (vec![], vec![format!("Down({name})")]));
        let mut end = waiting;
        end.wait(ms(2_999));
        end.hear(HEARTBEAT_X);
        assert!(end.node.is_drained());
        end.wait(ms(3_000));
        assert_eq!((end.sent(), end.told()), (vec![], vec!["Down(timeout)".into()]));
    }
}

/// The longest message that is allowed is taken and sent, by both ends.
///
/// Proves: RIOCM-10.1-5
#[test]
fn the_limit_of_a_message_is_the_last_that_fits() {
    let limits = Limits { octets: 40, ..Limits::default() };
    let mut end = End::connected(Options { limits, ..Options::default() });
    end.node.transmit(0, end.id, 1, 2, &[7; 40]);
    assert_eq!((end.sent().len(), end.phase()), (1, Phase::Connected));
    end.hear_data(0x22, 0, DataKind::Single(Message { src: 1, dst: 2, payl_size: 40 }), 1, &[7; 40]);
    assert_eq!(end.told(), ["Deliver"]);
    end.node.transmit(0, end.id, 1, 2, &[7; 41]);
    assert_eq!((end.sent(), end.phase()), (vec![RESET_Y.into()], Phase::Resetting));
}

/// A frame that failed belongs to the connection it was sent in: another one has nothing to do with it.
///
/// Proves: RIOCM-10.1-5
#[test]
fn a_failed_frame_of_an_earlier_connection_changes_nothing() {
    let mut end = End::connected(Options::default());
    end.node.handle_send_failure(0, end.id, 0x21);
    assert!(end.node.is_drained());
    assert_eq!(end.phase(), Phase::Connected);
    for mut end in [End::y(Options::default()), End::acked(Options::default())] {
        let before = end.phase();
        end.node.handle_send_failure(0, end.id, 0x22);
        assert!(end.node.is_drained());
        assert_eq!(end.phase(), before);
    }
}

/// As many messages as allowed may be open, each with its own fragments.
///
/// Proves: RIOCM-10.1.2-15, RIOCM-10.1.2-12
#[test]
fn open_messages_up_to_the_limit() {
    let mut end = End::connected(Options::default());
    let message = DataKind::FragStart(Message { src: 1, dst: 2, payl_size: 3 });
    for msgid in 0..32 {
        end.hear_data(0x22, msgid, message, msgid as u8, &[msgid as u8, 1]);
    }
    for msgid in (0..32_u16).rev() {
        end.hear_data(0x22, 63 - msgid, DataKind::Frag, msgid as u8, &[2]);
        let Some(Event::Deliver { delivery, .. }) = end.node.poll_event() else { panic!("a message") };
        assert_eq!(delivery.octets, [msgid as u8, 1, 2]);
        assert!(end.node.poll_event().is_none());
    }
}

/// Frames longer than negotiated and octets that nobody announced are counted, no more.
#[test]
fn surplus_is_counted() {
    let mut end = End::connected(Options::default());
    end.hear("22cf00200109000000020022000100010000000500000009000000050001020304eeeeee");
    assert_eq!((end.told(), end.node.counters().surplus), (vec!["Deliver".into()], 1));
    let long = pay(101, 0);
    end.hear_data(0x22, 1, DataKind::Single(Message { src: 1, dst: 2, payl_size: 101 }), 1, &long);
    assert_eq!((end.told(), end.node.counters().above_mtu), (vec!["Deliver".into()], 1));
}

/// Any frame, cut anywhere, with any type: no panic, and a connection that is not meant stays up.
///
/// Proves: RIOCM-10.1-8, RIOCM-10.1-15
#[test]
fn whatever_arrives() {
    let up = End::connected(Options::default());
    for kind in 0..=255 {
        let mut frame = octets(SINGLE_X);
        frame[4] = kind;
        for length in 0..=frame.len() {
            let mut end = up.clone();
            end.node.handle_frame(0, &frame[..length]);
            let counters = end.node.counters();
            let reset = end.phase() == Phase::Resetting;
            assert_eq!(reset, kind < 0x80 && length >= 16 && counters.malformed == 1);
            assert_eq!(counters.foreign, u64::from(length < 4));
            assert_eq!(counters.unattributable, u64::from((4..16).contains(&length)));
        }
        frame[1] = 0xCE;
        let mut end = up.clone();
        end.node.handle_frame(0, &frame);
        assert_eq!((end.phase(), end.node.counters().foreign), (Phase::Connected, 1));
    }
}

/// The vectors of data as frames of a connection.
#[test]
fn data_of_the_vectors() {
    let data = |payload| Data {
        dst_cid: 0x22,
        seqno: 0,
        msgid: 1,
        kind: DataKind::Single(Message { src: 5, dst: 9, payl_size: 8 }),
        payload,
    };
    let payload = pay(8, 0);
    let mut frame = vec![];
    Frame { address: X_TO_Y, packet: Packet::Data(data(&payload)) }.emit(&mut frame);
    assert_eq!(hex(&frame), SINGLE_X);
    let mut x = End::x(Options::default());
    x.node.connect(0, x.id);
    x.hear(REQUEST_Y);
    x.hear(ACK_Y);
    x.hear(HEARTBEAT_Y);
    x.sent();
    x.node.transmit(0, x.id, 5, 9, &payload);
    assert_eq!(x.sent(), [SINGLE_X]);
}
