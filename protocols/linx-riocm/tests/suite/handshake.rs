//! Establishment step by step: the traces of the vectors, negotiation, repetition.

use crate::common::*;
use linx_riocm::wire::{Frame, Packet};
use linx_riocm::{Config, ConfigError, Node, Options, Peer, Phase};

/// Carries what `from` has to send to `to`; how many frames.
fn carry(from: &mut End, to: &mut End) -> usize {
    let frames = from.sent();
    frames.iter().for_each(|frame| to.hear(frame));
    frames.len()
}

fn are_crossed(x: &End, y: &End) {
    let (x, y) = (x.node.link(x.id).unwrap(), y.node.link(y.id).unwrap());
    assert_eq!((x.mtu, x.hb_tmo), (y.mtu, y.hb_tmo));
    assert_eq!((x.generation, x.cid), (y.peer_generation, y.peer_cid));
    assert_eq!((y.generation, y.cid), (x.peer_generation, x.peer_cid));
}

/// H01: X begins, Y's own REQ is lost.
///
/// Proves: RIOCM-10.1.1-13, RIOCM-10.1.1-9, RIOCM-10.1.1-10, RIOCM-10.1.1.1-3, RIOCM-10.1.1.2-3
/// Proves: RIOCM-10.1.1.2-4
#[test]
fn a_lone_initiator() {
    let (mut x, mut y) = (End::x(Options::default()), End::connecting(Options::default()));
    x.node.connect(0, x.id);
    assert_eq!(x.sent(), [REQUEST_X]);
    y.hear(REQUEST_X);
    assert_eq!((y.sent(), y.phase()), (vec![ACK_Y.into()], Phase::Connecting));
    x.hear(ACK_Y);
    assert_eq!((x.sent(), x.phase()), (vec![ACK_X.into()], Phase::Connecting));
    y.hear(ACK_X);
    assert_eq!((y.sent(), y.told()), (vec![ACK_Y.into(), HEARTBEAT_Y.into()], vec!["Up".into()]));
    x.hear(ACK_Y);
    assert_eq!((x.sent(), x.told()), (vec![ACK_X.into(), HEARTBEAT_X.into()], vec!["Up".into()]));
    y.hear(ACK_X);
    assert_eq!((y.sent(), y.told()), (vec![], vec![]));
    are_crossed(&x, &y);
    let link = x.node.link(x.id).unwrap();
    assert_eq!((link.mtu, link.hb_tmo), (128, 10));
}

/// H02.
///
/// Proves: RIOCM-10.1.1-12, RIOCM-10.1.1-3
#[test]
fn crossing_requests_make_one_connection() {
    let (mut x, mut y) = (End::x(Options::default()), End::y(Options::default()));
    x.node.connect(0, x.id);
    y.node.connect(0, y.id);
    let (request_x, request_y) = (x.sent(), y.sent());
    assert_eq!((&request_x[..], &request_y[..]), (&[REQUEST_X.into()][..], &[REQUEST_Y.into()][..]));
    x.hear(REQUEST_Y);
    y.hear(REQUEST_X);
    assert_eq!((x.sent(), y.sent()), (vec![ACK_X.into()], vec![ACK_Y.into()]));
    x.hear(ACK_Y);
    y.hear(ACK_X);
    assert_eq!((x.told(), y.told()), (vec!["Up".into()], vec!["Up".into()]));
    let (last_x, last_y) = (vec![ACK_X.into(), HEARTBEAT_X.into()], vec![ACK_Y.into(), HEARTBEAT_Y.into()]);
    assert_eq!((x.sent(), y.sent()), (last_x, last_y));
    x.hear(ACK_Y);
    y.hear(ACK_X);
    assert!(x.node.is_drained() && y.node.is_drained());
    are_crossed(&x, &y);
}

/// H03: an incorrect ACK is a request with the values it carries.
///
/// Proves: RIOCM-10.1.1-11
#[test]
fn an_incorrect_ack_is_a_request() {
    let (mut x, mut y) = (End::x(Options::default()), End::acked(Options::default()));
    x.node.connect(0, x.id);
    x.hear(REQUEST_Y);
    assert_eq!(x.sent(), [REQUEST_X, ACK_X]);
    x.hear("22cf000e824201000001010a000200020022");
    assert_eq!(x.sent(), ["22cf000e820101000002420a000100010011"]);
    y.hear("22cf000e820101000002420a000100010011");
    assert_eq!(carry(&mut y, &mut x), 1);
    assert_eq!(x.sent(), [ACK_X]);
    y.hear(ACK_X);
    assert_eq!((x.phase(), y.phase()), (Phase::Connecting, Phase::Connected));
    carry(&mut y, &mut x);
    carry(&mut x, &mut y);
    assert_eq!((x.told(), y.told(), y.sent()), (vec!["Up".into()], vec!["Up".into()], vec![]));
    are_crossed(&x, &y);
}

/// H04 to H07, and T07 for T06.
///
/// Proves: RIOCM-10.1.1.3-2, RIOCM-10.1.1.3-3, RIOCM-10.1.1.3-4
#[test]
fn late_requests_and_resets() {
    let mut y = End::unproved(Options::default());
    y.hear(REQUEST_X);
    assert_eq!((y.sent(), y.told(), y.phase()), (vec![ACK_Y.into()], vec![], Phase::Connected));
    let up = End::connected(Options::default());

    let mut y = up.clone();
    y.hear("22cf000c810201000002000500010001");
    assert_eq!((y.sent(), y.told()), (vec![], vec!["Down(begun anew by the peer)".into()]));

    for reset in [RESET_X, "22cf000c830100800002beef00010001"] {
        let mut y = up.clone();
        y.hear_single(1);
        y.hear(reset);
        assert_eq!((y.sent(), y.told()), (vec![RESET_Y.into()], vec!["Down(reset by peer)".into()]));
        y.hear_single(0);
        y.hear(reset);
        assert!(y.node.is_drained());
    }

    let mut y = up.clone();
    y.hear(&RESET_X.replace("8301", "8300"));
    assert!(y.node.is_drained());
    assert_eq!((y.phase(), y.node.counters().old_resets), (Phase::Connected, 1));
}

/// Proves: RIOCM-10.1.1-2, RIOCM-10.1.1-15
#[test]
fn a_request_is_repeated_until_the_connection_is_up() {
    let mut x = End::x(Options::default());
    x.wait(ms(10_000));
    assert!(x.node.is_drained(), "nothing before the connect");
    x.node.connect(x.now, x.id);
    for turn in 0..20 {
        assert_eq!(x.sent(), [REQUEST_X], "REQ {turn}");
        x.wait(x.now + ms(200) - 1);
        assert!(x.node.is_drained());
        x.wait(x.now + 1);
    }
    x.sent();
    x.hear(REQUEST_Y);
    x.hear(ACK_Y);
    assert_eq!(x.sent(), [ACK_X, ACK_X, HEARTBEAT_X]);
    x.wait(x.now + ms(900));
    assert!(x.sent().is_empty(), "no REQ when up");
}

/// The owner's jitter is used in turn, and may not stop the requests.
#[test]
fn jitter_comes_from_the_owner() {
    let jitter = vec![ms(50) as i64, -(ms(100) as i64)];
    let mut x = End::x(Options { jitter, ..Options::default() });
    x.node.connect(0, x.id);
    let mut at = vec![];
    for _ in 0..4 {
        let next = x.node.poll_timeout().unwrap();
        x.wait(next);
        at.push(next / ms(1));
    }
    assert_eq!(at, [250, 350, 600, 700]);
}

/// Proves: RIOCM-10.1.1-9, RIOCM-10.1.1-10, RIOCM-10.1.1.1-5, RIOCM-10.1.1.1-6
#[test]
fn the_lower_mtu_and_the_larger_period() {
    for own_mtu in [64, 65, 256, 65535] {
        for mtu in [0_u16, 63, 64, 65, 255, 257, 65535] {
            for (own_hb, effective) in [(0, 5), (1, 1), (5, 5), (255, 255)] {
                for hb_tmo in [0, 1, 5, 6, 255] {
                    let peer = Peer { mtu: own_mtu, hb_tmo: own_hb, ..Peer::new(1) };
                    let mut end = End::new(2, 1, peer, Options::default());
                    end.node.connect(0, end.id);
                    let Packet::Request { hb_tmo: wish, .. } =
                        Frame::parse(end.node.poll_transmit().unwrap().octets).unwrap().packet
                    else {
                        panic!("REQ")
                    };
                    assert_eq!(wish, effective);
                    let mut frame = vec![];
                    let address = linx_riocm::wire::Address { dst_port: 1, sender: 1, src_port: 1 };
                    Frame { address, packet: Packet::Request { generation: 9, mtu, hb_tmo } }
                        .emit(&mut frame);
                    end.node.handle_frame(0, &frame);
                    let answer = end.sent();
                    if mtu < 64 {
                        assert_eq!(answer, [""; 0]);
                        assert_eq!(end.node.counters().below_minimum_mtu, 1);
                        continue;
                    }
                    let answer = octets(&answer[0]);
                    let Packet::Ack { mtu_ack, hb_tmo_ack, generation_ack, .. } =
                        Frame::parse(&answer).unwrap().packet
                    else {
                        panic!("ACK")
                    };
                    assert_eq!((mtu_ack, hb_tmo_ack), (mtu.min(own_mtu), hb_tmo.max(effective)));
                    assert_eq!(generation_ack, 9);
                }
            }
        }
    }
}

/// Proves: RIOCM-10.1.1.2-6
#[test]
fn every_id_of_the_peer_is_used() {
    let acked = End::acked(Options::default());
    for cid in 0..=u16::MAX {
        let mut end = acked.clone();
        end.hear(&format!("{}{cid:04x}", &ACK_X[..32]));
        end.sent();
        assert_eq!(end.node.link(end.id).unwrap().peer_cid, cid);
        end.hear(HEARTBEAT_X);
        end.node.transmit(0, end.id, 0, 0, &[]);
        assert_eq!(end.sent()[0][20..24], format!("{cid:04x}"));
    }
}

/// ACKs that do not fit are answered 16 times in a period at most, connecting or connected.
///
/// Proves: RIOCM-10.1.1-16
#[test]
fn incorrect_acks_are_not_answered_for_ever() {
    for mut end in [End::acked(Options::default()), End::unproved(Options::default())] {
        let wrong = ACK_X.replace("0242", "0241");
        for period in 1..3 {
            for _ in 0..40 {
                end.hear(&wrong);
            }
            assert_eq!(end.sent().len(), 16);
            assert_eq!(end.node.counters().acks_withheld, 24 * period);
            end.wait(end.node.poll_timeout().unwrap());
            assert_eq!(end.sent().len(), 1);
        }
    }
}

/// Proves: RIOCM-10.1-12
#[test]
fn ports_tell_connections_of_one_device_apart() {
    let mut node = Node::new(Config { device: 2, first_cid: 7, ..Config::default() }).unwrap();
    let peers = [(1, 1, 1), (1, 1, 2), (1, 2, 1), (3, 1, 1)].map(|(device, port, local_port)| Peer {
        port,
        local_port,
        ..Peer::new(device)
    });
    let ids = peers.map(|peer| node.add(peer).unwrap());
    assert_eq!(node.add(Peer { mtu: 64, ..peers[2] }), Err(ConfigError::Taken(ids[2])));
    for (index, (peer, id)) in peers.into_iter().zip(ids).enumerate() {
        assert_eq!(node.peer(id).device, peer.device);
        node.connect(0, id);
        let request = node.poll_transmit().unwrap();
        assert_eq!((request.connection, request.destination, request.port), (id, peer.device, peer.port));
        let address =
            linx_riocm::wire::Address { dst_port: peer.local_port, sender: peer.device, src_port: peer.port };
        let mut frame = vec![];
        Frame { address, packet: Packet::Request { generation: 3, mtu: 256, hb_tmo: 5 } }.emit(&mut frame);
        node.handle_frame(0, &frame);
        let answer = node.poll_transmit().unwrap();
        assert_eq!(answer.connection, id);
        let Packet::Ack { my_cid, .. } = Frame::parse(answer.octets).unwrap().packet else { panic!("ACK") };
        assert_eq!(usize::from(my_cid), 7 + index);
        assert!(node.poll_transmit().is_none());
        // Nothing of this concerns the others.
        let connecting = node.ids().filter(|&id| node.phase(id) == Phase::Connecting).count();
        assert_eq!(connecting, index + 1);
    }
}

#[test]
fn a_node_refuses_what_cannot_work() {
    let with = |options| Node::new(Config { options, ..Config::default() }).err();
    assert_eq!(with(Options { window: 0, ..Options::default() }), Some(ConfigError::Window { found: 0 }));
    let found = 32768;
    assert_eq!(with(Options { window: found, ..Options::default() }), Some(ConfigError::Window { found }));
    assert_eq!(with(Options { window: 32767, ..Options::default() }), None);
    assert_eq!(with(Options { request_period: 0, ..Options::default() }), Some(ConfigError::RequestPeriod));
    assert_eq!(with(Options { periods: 0, ..Options::default() }), Some(ConfigError::Periods));
    let mut node = Node::new(Config::default()).unwrap();
    let error = node.add(Peer { mtu: 63, ..Peer::new(1) }).unwrap_err();
    assert_eq!(error.to_string(), "mtu: 64 to 65535, 63 found");
}

/// While the link is down a connecting node is silent; when it comes up the requests go on.
#[test]
fn nothing_is_sent_while_the_link_is_down() {
    let mut y = End::connecting(Options::default());
    y.node.handle_link(ms(100), false);
    assert_eq!(y.node.poll_timeout(), None);
    y.node.handle_link(ms(900), true);
    assert_eq!(y.sent(), [REQUEST_Y]);
    assert_eq!(y.node.poll_timeout(), Some(ms(1_100)));
    y.node.handle_link(ms(900), true);
    assert!(y.node.is_drained(), "no change, no effect");
}

/// Two ends with these connection IDs that begin at once, on a way that takes so long: what they are told in
/// 40 periods of REQ, and when.
fn far_apart(cids: [u16; 2], delay: u64) -> ([End; 2], Vec<(u64, String)>) {
    let mut ends = [(1, 2, cids[0]), (2, 1, cids[1])].map(|(own, other, cid)| {
        let peer = Peer { generation: 7 * own as u8, ..Peer::new(other) };
        let mut end = End::new(own, cid, peer, Options::default());
        end.node.connect(0, end.id);
        end
    });
    let mut wire: Vec<(u64, usize, String)> = Vec::new();
    let (mut now, mut told) = (0, vec![]);
    while now < 40 * Options::default().request_period {
        for (side, end) in ends.iter_mut().enumerate() {
            end.wait(now);
            let here = wire.extract_if(.., |(at, to, _)| (*at, *to) == (now, side));
            here.for_each(|(.., frame)| end.hear(&frame));
            wire.extend(end.sent().into_iter().map(|frame| (now + delay, 1 - side, frame)));
            told.extend(end.told().into_iter().map(|event| (now, event)));
        }
        let timers = ends.iter().filter_map(|end| end.node.poll_timeout());
        let next = wire.iter().map(|flight| flight.0).chain(timers);
        now = next.filter(|&at| at > now).min().unwrap();
    }
    (ends, told)
}

/// A way on which an answer takes longer than from one REQ to the next. Who has been acknowledged begins a
/// new attempt with each REQ, so no answer would ever be to the present one: answers to attempts that were
/// given up say that they are only late, and the attempt stays. Ends that begin at once are up after four
/// ways at most.
#[test]
fn answers_that_take_longer_than_a_request_period_connect_all_the_same() {
    let period = Options::default().request_period;
    for percent in [10, 40, 60, 90, 130, 170, 210, 260, 310, 390, 450] {
        let delay = period * percent / 100;
        let (ends, told) = far_apart([0x1234, 0x2345], delay);
        assert_eq!(told.len(), 2, "{percent} %: {told:?}");
        assert!(told.iter().all(|(at, event)| event == "Up" && *at <= 4 * delay), "{percent} %: {told:?}");
        are_crossed(&ends[0], &ends[1]);
    }
}

/// A connection ID below 256 may be one of LINX for Linux, whose late answers look like those of a connection
/// that has come up and ended meanwhile: they are not taken for late, so such ends are up where answers come
/// within a period, and never where they take longer.
#[test]
fn late_answers_of_those_who_take_an_id_again_are_not_trusted() {
    let period = Options::default().request_period;
    for percent in [10, 40] {
        assert_eq!(far_apart([0x34, 0x45], period * percent / 100).1.len(), 2, "{percent} %");
    }
    for percent in [130, 210, 310] {
        assert_eq!(far_apart([0x34, 0x45], period * percent / 100).1, [], "{percent} %");
    }
}

/// What a node sends without a connection is counted, and nothing else; each frame of a message is one of
/// data.
#[test]
fn messages_are_counted_with_and_without_a_connection() {
    let mut end = End::y(Options::default());
    end.node.transmit(0, end.id, 5, 9, &pay(8, 0));
    assert_eq!((end.sent(), end.node.counters().not_connected), (vec![], 1));
    let mut end = End::connected(Options::default());
    // An MTU of 128 takes three frames for 300 octets.
    end.node.transmit(0, end.id, 5, 9, &pay(300, 0));
    let counters = *end.node.counters();
    assert_eq!((end.sent().len(), counters.sent_data, counters.not_connected), (3, 3, 0));
}
