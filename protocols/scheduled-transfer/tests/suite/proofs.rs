//! Rules that need a case of their own: teardown of what was given up, flags together, guards of End.

use crate::common::{A, B, LANDING, Pair, SERVICE, ula};
use scheduled_transfer::connection::State;
use scheduled_transfer::errors::Logged;
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::wire::{Body, Flags, Function, Header, Op, Operation};
use scheduled_transfer::{
    Config, ConnectionId, Event, ExposeOptions, Extras, Failure, Outcome, Span, TransferOptions,
};

fn pair(change: impl Fn(&mut Config)) -> Pair {
    let mut a = Config::default();
    change(&mut a);
    Pair::new(a, Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a }, 2 << 20)
}

/// Handles octets at `to` now, without a checksum.
fn say(pair: &mut Pair, to: usize, header: &Header, payload: &[u8]) {
    let header = Header { cksum: 0, ..*header };
    let now = pair.now;
    pair.ends[to].handle(now, (ula(1 - to, 0), 0), &[&header.to_bytes()[..], payload].concat());
    pair.settle();
}

/// The header of an operation of the other end of `to`'s connection.
fn towards(pair: &Pair, to: usize, body: Body) -> Header {
    let own = pair.ends[to].connections().next().unwrap();
    let (d_port, s_port, d_key) = (own.local().port, own.remote().port, own.local().key);
    Operation { d_port, s_port, d_key, interrupt: false, body }.header()
}

/// A's Request_Connection is given up while B still thinks; B accepts late. The Connection_Answer is lost if
/// `lost`.
fn late_answer(lost: bool, lose: &[(usize, Op, u32)]) -> (Pair, ConnectionId) {
    let mut pair = pair(|_| {});
    pair.auto = false;
    let a = pair.ends[A].connect(0, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
    pair.wait(B, |event| matches!(event, Event::Incoming { .. }));
    let now = pair.now;
    pair.ends[A].disconnect(now, a);
    pair.lose.extend(lose);
    if lost {
        pair.lose.push((B, Op::ConnectionAnswer, 1));
    }
    let b = pair.ends[B].connections().next().unwrap().id();
    assert!(pair.ends[B].accept(now, b, Extras::default()));
    (pair, b)
}

fn closed(pair: &Pair, end: usize) -> Vec<Outcome> {
    let outcome = |(_, event): &(ConnectionId, Event)| match event {
        Event::Closed(outcome) => Some(*outcome),
        _ => None,
    };
    pair.events[end].iter().filter_map(outcome).collect()
}

/// Of the Request_Disconnect, the Disconnect_Answer and the Disconnect_Complete any may be lost, or two.
///
/// Proves: ST-10.2-8, ST-5.1.2-6, ST-5.1.2-7
#[test]
fn a_late_answer_is_taken_down_whatever_is_lost() {
    for lose in [
        &[][..],
        &[(A, Op::RequestDisconnect, 1)],
        &[(A, Op::RequestDisconnect, 2)],
        &[(B, Op::DisconnectAnswer, 2)],
        &[(A, Op::DisconnectComplete, 1)],
    ] {
        let (mut pair, _) = late_answer(false, lose);
        pair.run(60 * Config::default().op_timeout);
        assert_eq!(closed(&pair, B), [Outcome::Complete], "{lose:?}");
        assert_eq!(closed(&pair, A), [Outcome::Failed(Failure::Aborted)], "told once: {lose:?}");
        for end in [A, B] {
            assert_eq!(pair.ends[end].connections().count(), 0, "{lose:?}");
        }
    }
}

/// Proves: ST-5.1.2-4, ST-5.1.2-10
#[test]
fn who_gave_up_still_answers_a_teardown() {
    // Both take down: the one because the answer came late, the other of its own accord.
    let (mut pair, b) = late_answer(false, &[(A, Op::RequestDisconnect, 1)]);
    pair.run(2_000_000);
    assert_eq!(pair.ends[B].connection(b).unwrap().state(), State::Open);
    let now = pair.now;
    pair.ends[B].disconnect(now, b);
    pair.run(60 * Config::default().op_timeout);
    assert_eq!(closed(&pair, B), [Outcome::Complete]);
    assert_eq!(closed(&pair, A), [Outcome::Failed(Failure::Aborted)]);
    assert_eq!(pair.sent(A, Op::DisconnectAnswer).len(), 1);
    // The answer was lost, and its sender uses the Port that was asked for.
    for lose in [&[][..], &[(A, Op::DisconnectAnswer, 1)]] {
        let (mut pair, _) = late_answer(true, lose);
        pair.run(2_000_000);
        let header = towards(&pair, A, Body::RequestDisconnect { key: 0xBEEF });
        say(&mut pair, A, &header, &[]);
        let answer = pair.sent(A, Op::DisconnectAnswer)[0];
        assert_eq!((answer.d_port, answer.d_key, answer.offset), (SERVICE, 0xBEEF, header.d_key));
        say(&mut pair, A, &Header { op: Op::DisconnectComplete as u8, ..header }, &[]);
        assert_eq!(closed(&pair, A), [Outcome::Failed(Failure::Aborted)]);
        assert_eq!(pair.ends[A].connections().next().unwrap().state(), State::TimeWait);
    }
}

/// Proves: ST-5.1.2-9
#[test]
fn who_takes_down_says_nothing_else() {
    for late in [0, 1_000_000, 2_500_000, 4_000_000, 5_500_000] {
        let mut pair = pair(|_| {});
        let (a, b) = pair.open();
        pair.expose = ExposeOptions { window: 2, blocksize: 12 };
        for (end, connection) in [(A, a), (B, b), (A, a), (B, b)] {
            let now = pair.now;
            pair.ends[end].write(now, connection, Span::new(0, 60_000), TransferOptions::default()).unwrap();
        }
        pair.run(late);
        pair.auto = false;
        let now = pair.now;
        pair.ends[A].disconnect(now, a);
        pair.run(20 * Config::default().op_timeout);
        let teardown = 3..=5;
        for end in [A, B] {
            let said: Vec<u8> =
                pair.trace.iter().filter(|(from, _)| *from == end).map(|row| row.1.op).collect();
            let first = said.iter().position(|op| teardown.contains(op)).unwrap();
            assert!(said[first..].iter().all(|op| teardown.contains(op)), "{late}: {said:?}");
        }
    }
}

/// Proves: ST-10.2-4, ST-6.1.1.4-5
#[test]
fn an_end_is_sent_again_and_ends_one_transfer() {
    for (from, op) in [(A, Op::End), (B, Op::EndAck)] {
        let mut pair = pair(|_| {});
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window: 1, blocksize: 12 };
        let now = pair.now;
        let mut write =
            || pair.ends[A].write(now, a, Span::new(0, 60_000), TransferOptions::default()).unwrap();
        let (ended, other) = (write(), write());
        pair.run(4_000_000);
        pair.lose.push((from, op, 2));
        let now = pair.now;
        assert!(pair.ends[A].end(now, a, ended));
        assert_eq!(pair.outcome(A, ended), Outcome::Failed(Failure::Aborted));
        assert_eq!(pair.outcome(A, other), Outcome::Complete, "the other one goes on");
        let ends = pair.sent(A, Op::End);
        assert_eq!(ends.len(), 3, "{op:?}");
        assert!(ends.iter().all(|end| *end == ends[0]));
        assert_eq!(pair.ends[B].memory()[LANDING as usize..][..60_000], pair.ends[A].memory()[..60_000]);
        assert_eq!(pair.ends[A].connection(a).unwrap().state(), State::Open);
    }
}

/// Proves: ST-8.2-10, ST-8.2-11, ST-6.2.10-2, ST-6.2.10-3, ST-5.2.5-2
#[test]
fn silent_interrupting_and_asking() {
    let mut pair = pair(|config| config.slots = 4);
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 1, blocksize: 12 };
    pair.lose.push((A, Op::Data, u32::MAX));
    pair.ends[A].write(pair.now, a, Span::new(0, 4096), TransferOptions::default()).unwrap();
    pair.run(10_000_000);
    let stus = pair.sent(A, Op::Data);
    pair.auto = false;
    let now = pair.now;
    let mut out = Vec::new();
    let mut hear = |n: usize, flags: Flags| {
        let header = Header { cksum: 0, flags, s_id: 0xDEAD_0000 + n as u32, ..stus[n] };
        pair.ends[B].handle(now, (ula(A, 0), 0), &[&header.to_bytes()[..], &[7; 1024]].concat());
        let occupied = pair.ends[B].connections().next().unwrap().occupied_slots();
        let told: Vec<Event> = std::iter::from_fn(|| pair.ends[B].poll_event().map(|row| row.1)).collect();
        let opaque = told.iter().find_map(|event| match event {
            Event::Header { header, .. } => Some(header.s_id),
            _ => None,
        });
        while pair.ends[B].poll_transmit(now, 0, crate::common::ALL, &mut out).is_some() {}
        (occupied, opaque, told.contains(&Event::Interrupt { op: Op::Data as u8 }))
    };
    let silent = Flags::SILENT;
    assert_eq!(hear(0, silent.with(Flags::INTERRUPT)), (0, None, true));
    assert_eq!(hear(1, silent.with(Flags::SEND_STATE)), (1, Some(0xDEAD_0001), false));
    assert_eq!(hear(2, silent.with(Flags::SEND_STATE).with(Flags::INTERRUPT)), (1, Some(0xDEAD_0002), true));
    assert_eq!(hear(3, silent.with(Flags::LAST)), (0, None, false));
    pair.assert_clean();
}

/// Proves: ST-5.2.5-2
#[test]
fn a_control_operation_needs_a_slot() {
    let mut pair = pair(|config| config.slots = 4);
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 1, blocksize: 12 };
    pair.lose.push((A, Op::Data, u32::MAX));
    pair.ends[A].write(pair.now, a, Span::new(0, 4096), TransferOptions::default()).unwrap();
    pair.run(10_000_000);
    let now = pair.now;
    for data in &pair.sent(A, Op::Data)[..4] {
        let header = Header { cksum: 0, flags: Flags::NONE, ..*data };
        pair.ends[B].handle(now, (ula(A, 0), 0), &[&header.to_bytes()[..], &[7; 1024]].concat());
    }
    let body = Body::RequestToSend { channel: 1, cts_req: 0, max_block: 12, t_len: 8, d_id: 0, s_id: 77 };
    let header = towards(&pair, B, body);
    pair.ends[B].handle(now, (ula(A, 0), 0), &header.to_bytes());
    assert_eq!(pair.logged(B), [Logged::Slots_Exceeded_Error]);
    // Neither a new connection nor a teardown needs one.
    let rc = Header { s_port: 0x4444, offset: 5, ..pair.sent(A, Op::RequestConnection)[0] };
    say(&mut pair, B, &rc, &[]);
    assert_eq!(pair.ends[B].connections().count(), 2);
}

/// Proves: ST-5.1.1-11, ST-4.2-5
#[test]
fn an_answer_signals_the_initiator() {
    let mut pair = pair(|_| {});
    pair.auto = false;
    pair.ends[A].connect(0, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
    pair.wait(B, |event| matches!(event, Event::Incoming { .. }));
    let b = pair.events[B][0].0;
    let now = pair.now;
    assert!(pair.ends[B].accept(now, b, Extras { interrupt: true, payload: Some([0x5A; 32]) }));
    pair.wait(A, |event| *event == Event::Opened);
    let op = Op::ConnectionAnswer as u8;
    assert!(pair.has(A, |event| *event == Event::Interrupt { op }));
    assert!(pair.has(A, |event| *event == Event::Payload { op, octets: [0x5A; 32] }));
    assert!(!pair.has(B, |event| matches!(event, Event::Interrupt { .. })));
}

/// Proves: ST-5.2.4-7, ST-5.2.3-4
#[test]
fn an_answer_with_illegal_sizes_is_taken_down() {
    for (bufsize, max_stu) in [(12, 7), (33, 33), (12, 13), (7, 7), (32, 33)] {
        let mut pair = pair(|_| {});
        pair.lose.push((B, Op::ConnectionAnswer, u32::MAX));
        pair.ends[A].connect(0, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
        pair.wait(B, |event| *event == Event::Opened);
        pair.settle();
        let ca = Header { bufx: bufsize, sync: max_stu, ..pair.sent(B, Op::ConnectionAnswer)[0] };
        say(&mut pair, A, &ca, &[]);
        let rd = pair.sent(A, Op::RequestDisconnect);
        assert_eq!(rd.len(), 1, "{bufsize} {max_stu}");
        assert_eq!((rd[0].d_port, rd[0].d_key), (ca.s_port, ca.offset));
        assert!(!pair.has(A, |event| *event == Event::Opened));
        let log = pair.ends[A].log(ca.d_port).unwrap();
        let illegal_bufsize = log.count(Logged::Illegal_Bufsize_Error);
        let expected = if (8..=32).contains(&bufsize) { (0, 1) } else { (1, 0) };
        assert_eq!((illegal_bufsize, log.counters().illegal_max_stu), expected, "{bufsize} {max_stu}");
    }
}

/// Proves: ST-8.2-7
#[test]
fn attributes_that_contradict_themselves() {
    let mut pair = pair(|_| {});
    pair.open();
    let rc = pair.sent(A, Op::RequestConnection)[0];
    let before = pair.logged(B).len();
    let rc = Header { s_port: 0x4444, offset: 5, flags: rc.flags.with_function(2), ..rc };
    say(&mut pair, B, &rc, &[]);
    assert_eq!(pair.logged(B)[before..], [Logged::Improper_Flag_Use_Error { flags: 0x200 }]);
    let found = pair.ends[B].connections().find(|connection| connection.remote().port == 0x4444).unwrap();
    let attributes = found.remote().attributes;
    assert_eq!((attributes.persistent, attributes.fetch_op), (false, false), "as 00");
}

/// Proves: ST-10.7.1-2
#[test]
fn an_id_that_is_not_looked_at() {
    let mut pair = pair(|_| {});
    pair.open();
    for (body, wanted) in [
        (Body::RequestToReceive { channel: 1, t_len: 8, s_id: 54 }, Op::RequestToSend),
        (Body::RequestMemoryRegion { channel: 1, t_len: 8, s_id: 55 }, Op::MemoryRegionAvailable),
    ] {
        let header = Header { d_id: 0x999, ..towards(&pair, B, body) };
        say(&mut pair, B, &header, &[]);
        assert_eq!(pair.sent(B, wanted).len(), 1, "{wanted:?}");
    }
    let rc = pair.sent(A, Op::RequestConnection)[0];
    say(&mut pair, B, &Header { s_port: 0x4444, offset: 5, d_id: 0x999, ..rc }, &[]);
    assert_eq!(pair.sent(B, Op::ConnectionAnswer).len(), 2);
    let header = towards(&pair, B, Body::RequestDisconnect { key: 7 });
    let answers = pair.sent(B, Op::DisconnectAnswer).len();
    say(&mut pair, B, &Header { d_id: 0x999, ..header }, &[]);
    assert_eq!(pair.sent(B, Op::DisconnectAnswer).len(), answers + 1);
    assert_eq!(pair.logged(B), []);
}

/// Proves: ST-6.1.4.4-8
#[test]
fn a_fetch_op_that_is_not_offered() {
    let mut pair = pair(|config| config.attributes.fetch_op = false);
    let (a, _) = pair.open();
    let id = pair.ends[A].request_region(pair.now, a, 4096, DataChannel::ONE, Extras::default()).unwrap();
    pair.wait(A, |event| *event == Event::RegionReady { id });
    let mra = pair.sent(B, Op::MemoryRegionAvailable)[0];
    let before = pair.ends[B].memory().clone();
    let body = Body::FetchOp {
        function: Function::Increment,
        channel: 1,
        mx: 3,
        bufx: mra.bufx,
        offset: mra.offset,
        i_bufx: 0x100,
        i_offset: 0,
        d_id: mra.s_id,
        s_id: 94,
    };
    let header = towards(&pair, B, body);
    say(&mut pair, B, &header, &[]);
    let answer = pair.sent(B, Op::RequestAnswer)[0];
    assert_eq!((answer.flags, answer.d_id, answer.s_id), (Flags::REJECT, 94, mra.s_id));
    assert!(pair.sent(B, Op::Data).is_empty() && *pair.ends[B].memory() == before);
}

/// Proves: ST-6.1.1.1-1
#[test]
fn how_an_end_asks_for_slots() {
    let mut pair = pair(|config| config.slots = 4);
    let (a, _) = pair.open();
    for _ in 0..8 {
        pair.ends[A].write(pair.now, a, Span::new(0, 100), TransferOptions::default()).unwrap();
    }
    pair.lose.push((B, Op::RequestStateResponse, 2));
    pair.run(10 * Config::default().op_timeout);
    let asked: Vec<Header> =
        pair.sent(A, Op::RequestState).into_iter().filter(|rs| rs.d_id == u32::MAX).collect();
    assert!(asked.len() >= 2, "{asked:?}");
    assert!(asked.iter().all(|rs| (rs.s_id, rs.b_num, rs.flags) == (0, 0, Flags::NONE)));
    let syncs: std::collections::BTreeSet<u32> = asked.iter().map(|rs| rs.sync).collect();
    assert_eq!(syncs.len(), asked.len(), "a Sync of its own in each");
}

/// Proves: ST-10.7.4-9, ST-6.2.8-6
#[test]
fn a_grant_with_a_bad_place() {
    let mut pair = pair(|_| {});
    let (_, b) = pair.open();
    pair.auto = false;
    let id = pair.ends[B].write(pair.now, b, Span::new(0, 10_000), TransferOptions::default()).unwrap();
    pair.settle();
    let grant = |b_num, offset, f_offset| Body::ClearToSend {
        blocksize: 12,
        mx: 5,
        bufx: 0x100,
        offset,
        f_offset,
        b_num,
        d_id: id,
        s_id: 77,
    };
    let unexpected = Logged::Unexpected_Opcode_Error { unexpected_opcode_value: Op::ClearToSend as u8 };
    let rows = [
        (grant(0, 8, 0), Some(unexpected)),
        (grant(0, 0, 8), Some(unexpected)),
        (grant(0, 1 << 16, 1 << 16), Some(Logged::Oversized_Offset_Error)),
        (grant(1, u32::MAX, 0), Some(Logged::Oversized_Offset_Error)),
        (grant(0, 0, 0), None),
        (grant(1, 4096, 8), Some(unexpected)),
        (grant(1, 4096, 0), None),
    ];
    let mut logged = vec![];
    let mut sent = 0;
    for (body, expected) in rows {
        let header = towards(&pair, B, body);
        say(&mut pair, B, &header, &[]);
        logged.extend(expected);
        assert_eq!(pair.logged(B), logged, "{header}");
        sent += if expected.is_none() { 4 } else { 0 };
        assert_eq!(pair.sent(B, Op::Data).len(), sent, "{header}");
    }
    assert!(pair.sent(B, Op::RequestAnswer).is_empty());
}

/// Proves: ST-6.2.4-6
#[test]
fn a_block_is_used_once_and_its_memory_again() {
    let mut pair = pair(|_| {});
    let (a, _) = pair.open();
    let first = pair.ends[A].write(pair.now, a, Span::new(0, 1024), TransferOptions::default()).unwrap();
    assert_eq!(pair.outcome(A, first), Outcome::Complete);
    let late = pair.sent(A, Op::Data)[0];
    let second = pair.ends[A].write(pair.now, a, Span::new(5000, 1024), TransferOptions::default()).unwrap();
    assert_eq!(pair.outcome(A, second), Outcome::Complete);
    let landed = pair.ends[A].memory()[5000..6024].to_vec();
    let at = LANDING as usize;
    assert_eq!(pair.ends[B].memory()[at..at + 1024], landed, "the same memory");
    say(&mut pair, B, &late, &[0xEE; 1024]);
    assert_eq!(pair.ends[B].memory()[at..at + 1024], landed, "and not again for the first");
}
