//! Heartbeats and what follows when they do not come.

use crate::common::*;
use linx_riocm::options::{Liveness, Supervision};
use linx_riocm::{Options, Phase, Timer};

/// Y, wishing for 500 ms as X does, up at time 0.
fn half_second(options: Options) -> End {
    let peer = *End::y(Options::default()).node.peer(End::y(Options::default()).id);
    let mut end = End::new(2, 0x22, linx_riocm::Peer { hb_tmo: 5, ..peer }, options);
    end.node.connect(0, end.id);
    end.hear(REQUEST_X);
    end.hear("22cf000e8201008000024205000100010011");
    assert_eq!(end.told(), ["Up"]);
    end.sent();
    end
}

/// When it is timed out, with heartbeats (in ms) arriving; data every 100 ms from the first if asked for.
fn timed_out(mut end: End, heartbeats: &[u64], data: bool) -> Option<u64> {
    let mut seqno = 0;
    for at in 1..6_000 {
        // Arrivals first.
        if heartbeats.contains(&at) {
            end.now = ms(at);
            end.hear(HEARTBEAT_X);
        }
        if data && at % 100 == 0 {
            end.now = ms(at);
            end.hear_single(seqno);
            seqno += 1;
        }
        end.wait(ms(at));
        end.sent();
        if end.told().contains(&"Down(timeout)".into()) {
            return Some(at);
        }
    }
    None
}

/// S01 to S04.
///
/// Proves: RIOCM-10.1.3-2, RIOCM-10.1.3-4
#[test]
fn three_periods_without_a_heartbeat() {
    for (heartbeats, at) in
        [(&[][..], 1_500), (&[500, 1_000], 2_500), (&[500, 2_000], 3_500), (&[500, 2_001], 2_000)]
    {
        assert_eq!(timed_out(half_second(Options::default()), heartbeats, false), Some(at), "{heartbeats:?}");
    }
    let all: Vec<u64> = (0..20).map(|turn| 1_400 * turn).collect();
    assert_eq!(timed_out(half_second(Options::default()), &all, false), None);
}

/// Another number of periods than the text has, by either rule, and for how long a gap is waited for.
///
/// Proves: RIOCM-10.1.3-2, RIOCM-10.1.2-16
#[test]
fn the_number_of_periods_can_be_set() {
    for periods in [1, 2, 7] {
        let options = Options { periods, ..Options::default() };
        let until = 500 * u64::from(periods);
        assert_eq!(timed_out(half_second(options.clone()), &[], false), Some(until));
        let mut end = half_second(options.clone());
        end.hear(HEARTBEAT_X);
        end.hear_single(1);
        assert_eq!(end.node.timer(end.id, Timer::Gap), Some(ms(until)));
        // The first tick is at 100 ms.
        let supervision = Supervision::Ticks;
        let options = Options { supervision, request_period: ms(100), ..options };
        assert_eq!(timed_out(half_second(options), &[], false), Some(until - 400));
    }
}

/// X wishes for 500 ms and Y for 1 s: 1 s is what counts, at both ends, for heartbeats and for supervision.
///
/// Proves: RIOCM-10.1.3-1, RIOCM-10.1.3-2, RIOCM-10.1.3-4
#[test]
fn the_negotiated_period_counts_at_both_ends() {
    let mut x = End::x(Options::default());
    x.node.connect(0, x.id);
    x.hear(REQUEST_Y);
    x.hear(ACK_Y);
    let y = End::connected(Options::default());
    for (mut end, own, from_peer) in [(x, HEARTBEAT_X, HEARTBEAT_Y), (y, HEARTBEAT_Y, HEARTBEAT_X)] {
        end.hear(from_peer);
        end.sent();
        end.told();
        let (mut at, mut ended) = (vec![], None);
        for now in 1..6_000 {
            end.wait(ms(now));
            if now == 700 {
                end.hear(from_peer);
            }
            if end.sent().contains(&own.into()) {
                at.push(now);
            }
            if end.told().contains(&"Down(timeout)".into()) {
                ended = Some(now);
            }
        }
        assert_eq!((at, ended), (vec![1_000, 2_000, 3_000], Some(3_700)));
    }
}

/// After a local problem the peer has the rest of its three ticks to answer.
///
/// Proves: RIOCM-10.1-6
#[test]
fn ticks_that_are_left_bound_the_wait_for_the_answer_to_a_reset() {
    // Ticks at 100, 600 and 1 100 ms: at 1 100 the third one without a heartbeat.
    let options = Options { supervision: Supervision::Ticks, request_period: ms(100), ..Options::default() };
    for (problem_at, until) in [(50, 1_100), (300, 1_100), (800, 1_100)] {
        let mut end = half_second(options.clone());
        end.wait(ms(problem_at));
        end.sent();
        end.hear_single(64);
        assert_eq!((end.sent(), end.node.poll_timeout()), (vec![RESET_Y.into()], Some(ms(until))));
        end.wait(ms(until) - 1);
        assert!(end.node.is_drained());
        end.wait(ms(until));
        assert_eq!(end.told(), ["Down(timeout)"]);
    }
}

/// S04 again, but the owner forgets to call in between: what ran out before comes before what arrives.
#[test]
fn an_arrival_after_the_deadline_is_too_late() {
    let mut end = half_second(Options::default());
    end.now = ms(1_501);
    end.hear(HEARTBEAT_X);
    assert_eq!(end.told(), ["Down(timeout)"]);
    let mut end = half_second(Options::default());
    end.now = ms(1_500);
    end.hear(HEARTBEAT_X);
    end.wait(ms(1_500));
    assert_eq!(end.phase(), Phase::Connected);
}

/// S05.
///
/// Proves: RIOCM-10.1.3-2
#[test]
fn data_is_no_sign_of_life_unless_configured() {
    assert_eq!(timed_out(half_second(Options::default()), &[], true), Some(1_500));
    let any = Options { liveness: Liveness::Any, ..Options::default() };
    assert_eq!(timed_out(half_second(any), &[], true), None);
}

/// S06: the timer of the requests goes on as that of the ticks, here with ticks at 100, 600 and 1 100 ms.
#[test]
fn ticks_time_out_after_two_to_three_periods() {
    let options = Options { supervision: Supervision::Ticks, request_period: ms(100), ..Options::default() };
    assert_eq!(timed_out(half_second(options.clone()), &[], false), Some(1_100));
    assert_eq!(timed_out(half_second(options), &[600, 1_099], false), Some(2_100));
}

/// However far apart requests are: the timer that they share with heartbeats does not delay the first of
/// these.
///
/// Proves: RIOCM-10.1.3-1
#[test]
fn the_first_tick_comes_after_a_period_at_most() {
    for (request_period, ticks) in
        [(100, [100, 600, 1_100]), (499, [499, 999, 1_499]), (800, [500, 1_000, 1_500])]
    {
        let supervision = Supervision::Ticks;
        let options = Options { supervision, request_period: ms(request_period), ..Options::default() };
        let mut end = half_second(options.clone());
        end.sent();
        for at in ticks {
            assert_eq!(end.node.poll_timeout(), Some(ms(at)), "REQ every {request_period} ms");
            end.wait(ms(at));
            end.hear(HEARTBEAT_X);
            assert_eq!(end.sent(), [HEARTBEAT_Y]);
        }
        assert_eq!(timed_out(half_second(options), &[], false), Some(ticks[2]));
    }
}

/// Proves: RIOCM-10.1.3-1, RIOCM-10.1.3-5, RIOCM-10.1.3-4
#[test]
fn a_heartbeat_every_period_whatever_else_is_sent() {
    for busy in [false, true] {
        let mut end = half_second(Options::default());
        let mut at = vec![];
        for now in 1..=2_600 {
            end.wait(ms(now));
            if busy {
                end.node.transmit(ms(now), end.id, 1, 2, &[]);
            }
            if end.sent().contains(&HEARTBEAT_Y.into()) {
                at.push(now);
            }
            if now % 400 == 0 {
                end.hear(HEARTBEAT_X);
            }
        }
        assert_eq!(at, [500, 1_000, 1_500, 2_000, 2_500]);
    }
}

/// A late owner sends one heartbeat, not all that it missed, and keeps step.
#[test]
fn heartbeats_do_not_come_in_bursts() {
    let mut end = half_second(Options::default());
    end.node.handle_timeout(ms(700));
    assert_eq!((end.sent().len(), end.node.poll_timeout()), (1, Some(ms(1_000))));
    end.now = ms(701);
    end.hear(HEARTBEAT_X);
    end.node.handle_timeout(ms(2_100));
    assert_eq!((end.sent().len(), end.node.poll_timeout()), (1, Some(ms(2_201))));
}

/// Proves: RIOCM-10.1.3-3, RIOCM-10.1.3-2, RIOCM-RLNH-6
#[test]
fn a_timeout_resets_and_is_told_at_once() {
    let mut end = half_second(Options::default());
    end.wait(ms(1_499));
    end.sent();
    end.node.handle_timeout(ms(1_500));
    // No heartbeat at the same instant.
    assert_eq!((end.sent(), end.told()), (vec![RESET_Y.into()], vec!["Down(timeout)".into()]));
    assert_eq!(end.node.poll_timeout(), None);
    end.hear(RESET_X);
    end.hear(REQUEST_X);
    assert!(end.node.is_drained());
    end.node.connect(ms(1_600), end.id);
    assert_eq!(end.sent(), ["22cf000c814300800001000500020002"]);
}

/// Proves: RIOCM-10.1.3-6
#[test]
fn heartbeats_of_others_are_dropped() {
    let mut end = half_second(Options::default());
    end.now = ms(100);
    for (at, octet) in [(11, 0x23), (13, 3), (15, 2), (9, 1)] {
        let mut frame = octets(HEARTBEAT_X);
        frame[at] = octet;
        end.node.handle_frame(ms(100), &frame);
    }
    let counters = end.node.counters();
    assert_eq!((counters.stray, counters.heartbeats), (4, 0));
    end.wait(ms(1_500));
    assert_eq!(end.told(), ["Down(timeout)"]);
}
