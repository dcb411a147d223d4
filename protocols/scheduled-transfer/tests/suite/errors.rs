//! Operations that no conforming peer sends: each has its entry in the log, and nothing else happens.

use crate::common::{A, ALL, B, LANDING, Pair, SERVICE, ula};
use scheduled_transfer::errors::Logged;
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::wire::{Body, Flags, Function, Header, Op, Operation};
use scheduled_transfer::{
    Config, ConnectionId, Event, ExposeOptions, Extras, Failure, Outcome, Span, TransferOptions, checksum,
};

fn pair(change: impl Fn(&mut Config)) -> Pair {
    let mut a = Config { op_timeout: 100_000_000_000, ..Config::default() };
    change(&mut a);
    Pair::new(a, Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a }, 2 << 20)
}

/// Handles an operation at B now, as if A had sent it, with a good checksum if it is one alone.
fn say(pair: &mut Pair, header: &Header, payload: &[u8]) {
    let mut header = *header;
    if header.cksum == 0 {
        header.cksum = checksum::of_operation(&header, payload);
    }
    let octets = [&header.to_bytes()[..], payload].concat();
    let now = pair.now;
    pair.ends[B].handle(now, (ula(A, 0), 0), &octets);
    pair.settle();
}

/// The header of an operation of A's end of the connection.
fn from_a(pair: &Pair, a: ConnectionId, body: Body) -> Header {
    let connection = pair.ends[A].connection(a).unwrap();
    let (d_port, s_port, d_key) =
        (connection.remote().port, connection.local().port, connection.remote().key);
    Operation { d_port, s_port, d_key, interrupt: false, body }.header()
}

/// What B has logged since the last call.
fn news(pair: &mut Pair, seen: &mut usize) -> Vec<Logged> {
    let all = pair.logged(B);
    let new = all[*seen..].to_vec();
    *seen = all.len();
    new
}

/// A Write of which B has enabled the first Block and A's own Data are never carried.
fn half_open(pair: &mut Pair, t_len: u64, blocksize: u16) -> (ConnectionId, Header) {
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 1, blocksize };
    pair.lose.push((A, Op::Data, u32::MAX));
    pair.ends[A].write(pair.now, a, Span::new(0, t_len), TransferOptions::default()).unwrap();
    pair.run(100_000_000);
    let cts = pair.sent(B, Op::ClearToSend)[0];
    (a, cts)
}

fn data(pair: &Pair, a: ConnectionId, cts: &Header, stu_num: u16, offset: u32, last: bool) -> Header {
    from_a(
        pair,
        a,
        Body::Data {
            silent: true,
            send_state: false,
            last,
            channel: 1,
            stu_num,
            mx: cts.b_id,
            bufx: cts.bufx,
            offset: cts.offset + offset,
            sync: 900 + u32::from(stu_num),
            b_num: cts.b_num,
            d_id: cts.s_id,
            s_id: 0,
        },
    )
}

/// Proves: ST-4.2-4, ST-10.4-1, ST-10.5.1-1, ST-10.5.1-2, ST-8.1-18, ST-10-3, ST-8.3.3-1, ST-8.3.3-3
#[test]
fn what_is_no_operation() {
    let mut pair = pair(|_| {});
    let (a, _) = pair.open();
    let rs = from_a(&pair, a, Body::RequestState { sync: 9, b_num: 0, d_id: u32::MAX, s_id: 0 });
    for length in [0, 39, 41, 71, 73] {
        let mut octets = rs.to_bytes().to_vec();
        octets.resize(length, 0);
        pair.ends[B].handle(pair.now, (ula(A, 0), 0), &octets);
    }
    assert_eq!(pair.ends[B].device_log().counters().illegal_length, 5);
    assert_eq!(pair.logged(B), []);
    say(&mut pair, &Header { cksum: 1, ..rs }, &[]);
    assert_eq!(pair.logged(B), [Logged::Cksum_Error]);
    let mut seen = 1;
    for op in (0..32).filter(|&op| Op::parse(op).is_err()) {
        say(&mut pair, &Header { op, ..rs }, &[]);
        let expected = Logged::Undefined_Opcode_Error { undefined_opcode_value: op };
        assert_eq!(news(&mut pair, &mut seen), [expected]);
    }
    assert!(pair.sent(B, Op::RequestStateResponse).is_empty());
    // Cksum 0 is no checksum.
    pair.ends[B].handle(pair.now, (ula(A, 0), 0), &rs.to_bytes());
    pair.settle();
    assert_eq!(pair.sent(B, Op::RequestStateResponse).len(), 1);
}

/// Proves: ST-10.6.1-1, ST-10.6.1-2, ST-10.6.1-3, ST-10.6.1-4, ST-10.6.1-5, ST-5.2.1-4, ST-5.1.1-8
/// Proves: ST-4.2-9, ST-10-1
#[test]
fn ports_and_keys_must_match() {
    let mut pair = pair(|_| {});
    let (a, _) = pair.open();
    let rs = from_a(&pair, a, Body::RequestState { sync: 9, b_num: 0, d_id: u32::MAX, s_id: 0 });
    let mut seen = 0;
    let rows = [
        (Header { d_port: 0x7777, ..rs }, Logged::Invalid_Port_Error),
        (Header { d_key: rs.d_key ^ 1, ..rs }, Logged::Invalid_Key_Error),
        (Header { s_port: 0x7777, ..rs }, Logged::Invalid_Port_Error),
    ];
    for (header, expected) in rows {
        say(&mut pair, &header, &[]);
        let found = pair.logged(B);
        assert!(found.len() == seen + 1 && found.contains(&expected), "{found:?}");
        seen += 1;
    }
    assert_eq!(pair.ends[B].log(rs.d_port).unwrap().entries().len(), 2, "two name the Port");
    assert_eq!(pair.ends[B].device_log().entries().len(), 1);
    // Teardown is answered from what was received, without a log.
    for (op, answer) in [(3, Op::DisconnectAnswer), (4, Op::DisconnectComplete)] {
        say(&mut pair, &Header { op, d_key: 0xDEAD, offset: 0xBEEF, ..rs }, &[]);
        let sent = pair.sent(B, answer);
        assert_eq!(sent.len(), 1);
        let found = (sent[0].d_port, sent[0].s_port, sent[0].d_key, sent[0].offset);
        assert_eq!(found, (rs.s_port, rs.d_port, 0xBEEF, 0xDEAD));
    }
    say(&mut pair, &Header { op: 5, d_key: 0xDEAD, ..rs }, &[]);
    assert_eq!(pair.logged(B).len(), seen);
}

/// Proves: ST-5.1.1-4, ST-10.6.3-1, ST-10.6.4-1, ST-5.2.3-4, ST-5.2.6-4, ST-7.3-1, ST-10.6.3-2
/// Proves: ST-8-5
#[test]
fn request_connection_is_refused() {
    let mut pair = pair(|_| {});
    let legal = Body::RequestConnection {
        attributes: 3,
        out_of_order: true,
        slots: 10,
        ether_type: 0,
        bufsize: 12,
        key: 1,
        max_stu: 10,
    };
    let header =
        Operation { d_port: SERVICE, s_port: 0x4444, d_key: 0, interrupt: false, body: legal }.header();
    let rows = [
        (Header { d_port: 0x15, ..header }, vec![Logged::Invalid_Port_Error]),
        (Header { b_id: 0x0801, ..header }, vec![Logged::Unknown_EtherType_Error]),
        (Header { bufx: 7, ..header }, vec![Logged::Illegal_Bufsize_Error]),
        (Header { bufx: 33, ..header }, vec![Logged::Illegal_Bufsize_Error]),
        (Header { bufx: 0x10C, ..header }, vec![Logged::Illegal_Bufsize_Error]),
        (Header { sync: 7, ..header }, vec![]),
        (Header { sync: 13, ..header }, vec![]),
    ];
    for (n, (rejected, expected)) in rows.into_iter().enumerate() {
        let before = pair.logged(B).len();
        let rejected = Header { offset: 100 + n as u32, ..rejected };
        say(&mut pair, &rejected, &[]);
        say(&mut pair, &rejected, &[]);
        assert_eq!(pair.logged(B).len() - before, expected.len(), "{n}");
        assert!(expected.iter().all(|entry| pair.logged(B).contains(entry)));
        let answers = pair.sent(B, Op::ConnectionAnswer);
        assert_eq!(answers.len(), 2 * n + 2, "the repetition is answered too");
        let ca = answers[2 * n];
        assert_eq!(ca.flags, Flags::REJECT);
        let found = (ca.d_port, ca.d_key, ca.s_port, ca.param, ca.bufx, ca.offset, ca.sync);
        assert_eq!(found, (0x4444, 100 + n as u32, rejected.d_port, 0, 0, 0, 0));
    }
    assert_eq!(pair.ends[B].connections().count(), 0);
    assert_eq!(pair.ends[B].log(SERVICE).unwrap().counters().illegal_max_stu, 2);
}

/// Proves: ST-10.5.2-2, ST-5.1.1-13, ST-10.5.2-1, ST-10.5.2-3, ST-7.3-2
#[test]
fn operations_out_of_place() {
    let mut pair = pair(|_| {});
    let (a, cts) = half_open(&mut pair, 10_000, 12);
    let mut seen = 0;
    let rs = from_a(&pair, a, Body::RequestState { sync: 9, b_num: 0, d_id: u32::MAX, s_id: 0 });
    say(&mut pair, &Header { op: Op::ConnectionAnswer as u8, d_key: 0x1234, ..rs }, &[]);
    let unexpected = |op: Op| Logged::Unexpected_Opcode_Error { unexpected_opcode_value: op as u8 };
    assert_eq!(pair.ends[B].device_log().entries()[0].1, unexpected(Op::ConnectionAnswer));
    seen += pair.logged(B).len();
    // Clear_To_Send to a data destination.
    let body = Body::ClearToSend {
        blocksize: 12,
        mx: 1,
        bufx: 1,
        offset: 0,
        f_offset: 0,
        b_num: 0,
        d_id: cts.s_id,
        s_id: cts.d_id,
    };
    let header = from_a(&pair, a, body);
    let before = pair.trace.len();
    say(&mut pair, &header, &[]);
    assert_eq!(pair.logged(B).len(), seen + 1);
    assert!(pair.logged(B).contains(&unexpected(Op::ClearToSend)));
    assert_eq!(pair.trace.len(), before, "no such operation has a reject form");
}

/// Proves: ST-10.7.1-1, ST-10.7.2-1, ST-10.7.4-2, ST-10.7.4-5, ST-10.7.4-6, ST-10.7.4-7, ST-10.6.5-1
/// Proves: ST-9.2-6
/// Proves: ST-6.2.8-2, ST-9.2-5
#[test]
fn data_that_has_no_place() {
    type Change = fn(&mut Header);
    let rows: [(Change, usize, Logged); 9] = [
        (|h| h.d_id = 0x999, 8, Logged::Invalid_D_id_Error),
        (|h| h.b_num = 1, 8, Logged::Out_Of_Range_B_num_Error),
        (|h| h.b_id += 1, 8, Logged::Invalid_Mx_Error),
        (|_| {}, 1025, Logged::Illegal_STU_Size_Error),
        (|h| h.param = 1, 8, Logged::Out_Of_Order_STU_Error),
        (|h| h.offset = 1 << 16, 8, Logged::Oversized_Offset_Error),
        (|h| h.bufx += 1, 8, Logged::Out_Of_Range_Bufx_Error),
        (|h| h.offset += 4090, 8, Logged::Out_Of_Range_Bufx_Error),
        (|h| h.cksum = 1, 8, Logged::Cksum_Error),
    ];
    for (change, bytes, expected) in rows {
        let mut pair = pair(|_| {});
        let (a, cts) = half_open(&mut pair, 10_000, 12);
        let before = pair.ends[B].memory().clone();
        let mut header = data(&pair, a, &cts, 0, 0, false);
        change(&mut header);
        say(&mut pair, &header, &vec![0xEE; bytes]);
        assert_eq!(pair.logged(B), [expected]);
        assert!(*pair.ends[B].memory() == before, "{expected:?} wrote");
        // The Block is damaged where the STU was its own, and what follows is dropped without more logs.
        let next = data(&pair, a, &cts, 0, 0, false);
        say(&mut pair, &next, &[1; 8]);
        assert_eq!(pair.logged(B), [expected]);
        let own = !matches!(
            expected,
            Logged::Invalid_D_id_Error | Logged::Out_Of_Range_B_num_Error | Logged::Invalid_Mx_Error
        );
        assert_eq!(*pair.ends[B].memory() == before, own, "{expected:?}");
    }
}

/// Proves: ST-10.3-1
#[test]
fn a_repeated_stu_leaves_the_block_good() {
    let mut pair = pair(|_| {});
    let (a, cts) = half_open(&mut pair, 16, 12);
    for (stu, at, last) in [(0, 0, false), (0, 0, false), (1, 8, true)] {
        let header = data(&pair, a, &cts, stu, at, last);
        // Only what closes a segment carries a checksum; none is needed.
        let octets = [&header.to_bytes()[..], &[stu as u8 + 1; 8]].concat();
        let now = pair.now;
        pair.ends[B].handle(now, (ula(A, 0), 0), &octets);
        pair.settle();
    }
    assert!(pair.has(B, |event| matches!(event, Event::Finished { outcome: Outcome::Complete, .. })));
    assert_eq!(pair.logged(B), []);
    let at = LANDING as usize;
    assert_eq!(pair.ends[B].memory()[at..at + 16], [[1; 8], [2; 8]].concat());
}

/// Proves: ST-10.7.3-1, ST-8.2-19, ST-6.2.5-1, ST-6.2.5-6, ST-6.1.4.1-8, ST-6.1.2-5
/// Proves: ST-7.3-1
#[test]
fn requests_that_cannot_be_met_are_rejected() {
    let mut pair = pair(|config| config.data_channels = 0b0010);
    let (a, _) = pair.open();
    let rts = |channel, max_block, s_id| Body::RequestToSend {
        channel,
        cts_req: 0,
        max_block,
        t_len: 8,
        d_id: 0,
        s_id,
    };
    let rows = [
        rts(0, 20, 50),
        rts(2, 20, 51),
        rts(1, 7, 52),
        rts(1, 49, 53),
        Body::RequestToReceive { channel: 0, t_len: 8, s_id: 54 },
        Body::RequestMemoryRegion { channel: 3, t_len: 8, s_id: 55 },
        Body::RequestMemoryRegion { channel: 1, t_len: 0, s_id: 56 },
    ];
    for (n, body) in rows.into_iter().enumerate() {
        let header = from_a(&pair, a, body);
        say(&mut pair, &header, &[]);
        let answers = pair.sent(B, Op::RequestAnswer);
        assert_eq!(answers.len(), n + 1);
        assert_eq!((answers[n].d_id, answers[n].s_id), (50 + n as u32, 0));
        assert_eq!(answers[n].flags, Flags::REJECT);
    }
    assert_eq!(pair.logged(B), []);
    assert!(!pair.has(B, |event| matches!(event, Event::WriteOffered { .. })));
}

/// Proves: ST-6.2.6-1, ST-6.2.6-2, ST-6.2.6-3, ST-10.7.6-1, ST-10.7.4-1, ST-9.2-4
#[test]
fn clear_to_send_is_checked() {
    let mut pair = pair(|_| {});
    let (_, b) = pair.open();
    pair.auto = false;
    // B writes, so that what A says is Clear_To_Send to a data source at B.
    let id = pair.ends[B].write(pair.now, b, Span::new(0, 10_000), TransferOptions::default()).unwrap();
    pair.settle();
    let a = pair.events[A][0].0;
    let max_block = pair.sent(B, Op::RequestToSend)[0].b_id;
    let grant = |blocksize, b_num, offset| Body::ClearToSend {
        blocksize,
        mx: 5,
        bufx: 0x100,
        offset,
        f_offset: 0,
        b_num,
        d_id: id,
        s_id: 77,
    };
    let rows = [
        (grant(7, 0, 0), Logged::Illegal_Blocksize_Error),
        (grant(49, 0, 0), Logged::Illegal_Blocksize_Error),
        (grant(max_block + 1, 0, 0), Logged::Illegal_Blocksize_Error),
        (grant(12, 3, 0), Logged::Out_Of_Range_B_num_Error),
        (grant(12, u32::MAX, 0), Logged::Out_Of_Range_B_num_Error),
    ];
    for (n, (body, expected)) in rows.into_iter().enumerate() {
        let header = from_a(&pair, a, body);
        say(&mut pair, &header, &[]);
        assert_eq!(pair.logged(B).len(), n + 1);
        assert_eq!(pair.logged(B)[n], expected);
        assert!(pair.sent(B, Op::Data).is_empty());
    }
    let header = from_a(&pair, a, grant(12, 0, 0));
    say(&mut pair, &header, &[]);
    assert_eq!(pair.sent(B, Op::Data).len(), 4);
    let header = from_a(&pair, a, grant(13, 1, 0));
    say(&mut pair, &header, &[]);
    assert_eq!(pair.logged(B)[5], Logged::Illegal_Blocksize_Error);
}

/// A Block has 65 536 STUs at most: one that begins inside an STU would have one more.
#[test]
fn a_grant_of_too_many_stus() {
    let a = Config { cut_stu: 8, op_timeout: 100_000_000_000, ..Config::default() };
    let b = Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a };
    for (b_num, offset, expected) in [(0, 0, None), (1, 1, Some(Logged::Illegal_Blocksize_Error))] {
        let mut pair = Pair::new(a, b, 34 << 20);
        let (_, at_b) = pair.open();
        pair.auto = false;
        pair.tracing = false;
        pair.lose.push((B, Op::Data, u32::MAX));
        let id =
            pair.ends[B].write(pair.now, at_b, Span::new(0, 33 << 20), TransferOptions::default()).unwrap();
        pair.settle();
        let at_a = pair.events[A][0].0;
        let grant = Body::ClearToSend {
            blocksize: 24,
            mx: 5,
            bufx: 0x100,
            offset,
            f_offset: 0,
            b_num,
            d_id: id,
            s_id: 77,
        };
        let header = from_a(&pair, at_a, grant);
        say(&mut pair, &header, &[]);
        assert_eq!(pair.logged(B), expected.into_iter().collect::<Vec<_>>(), "Block {b_num} at {offset}");
    }
}

/// A connection that nobody takes down, or that is not open yet, stays as it is whatever comes of a teardown.
#[test]
fn a_teardown_out_of_place() {
    let rows = |key| [Body::DisconnectAnswer { key }, Body::DisconnectComplete { key }];
    let mut pair = pair(|_| {});
    let (a, _) = pair.open();
    for body in rows(pair.ends[A].connection(a).unwrap().local().key) {
        let before = pair.logged(B).len();
        let header = from_a(&pair, a, body);
        say(&mut pair, &header, &[]);
        let entry = Logged::Unexpected_Opcode_Error { unexpected_opcode_value: header.op };
        assert_eq!(pair.logged(B)[before..], [entry]);
    }
    assert!(pair.sent(B, Op::DisconnectComplete).is_empty());
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 5000), TransferOptions::default()).unwrap();
    assert_eq!(pair.outcome(A, id), Outcome::Complete, "it is as open as before");
}

/// Proves: ST-8.2-6, ST-8.2-23, ST-10.7.7-1, ST-7.3-1, ST-6.1.4.3-7, ST-6.1.4.3-3
#[test]
fn region_operations_are_checked() {
    let mut pair = pair(|_| {});
    let (a, _) = pair.open();
    let region = pair.ends[A].request_region(pair.now, a, 4096, DataChannel::ONE, Extras::default()).unwrap();
    pair.wait(A, |event| *event == Event::RegionReady { id: region });
    let mra = pair.sent(B, Op::MemoryRegionAvailable)[0];
    let before = pair.ends[B].memory().clone();
    let get = |t_len, bufx, offset, s_id| Body::Get {
        channel: 1,
        t_len,
        mx: 3,
        bufx,
        offset,
        i_bufx: 0x100,
        i_offset: 0,
        d_id: mra.s_id,
        s_id,
    };
    let fetch = |offset, s_id| Body::FetchOp {
        function: Function::Increment,
        channel: 1,
        mx: 3,
        bufx: mra.bufx,
        offset,
        i_bufx: 0x100,
        i_offset: 0,
        d_id: mra.s_id,
        s_id,
    };
    let rows = [
        (get(0, mra.bufx, 0, 90), None),
        (get(8, mra.bufx, 4090, 91), Some(Logged::Out_Of_Range_Bufx_Error)),
        (get(8, mra.bufx, 1 << 16, 92), Some(Logged::Oversized_Offset_Error)),
        (get(8, mra.bufx + 1, 0, 93), Some(Logged::Out_Of_Range_Bufx_Error)),
        (fetch(4, 94), None),
        (fetch(4096, 95), Some(Logged::Out_Of_Range_Bufx_Error)),
    ];
    let mut logged = vec![];
    for (n, (body, expected)) in rows.into_iter().enumerate() {
        let header = from_a(&pair, a, body);
        say(&mut pair, &header, &[]);
        logged.extend(expected);
        assert_eq!(pair.logged(B), logged);
        let answers = pair.sent(B, Op::RequestAnswer);
        let answer = answers[n];
        assert_eq!((answer.flags, answer.d_id, answer.s_id), (Flags::REJECT, 90 + n as u32, mra.s_id));
    }
    // F 0b100 to 0b110 is no Get.
    for f in 4..7 {
        let mut header = from_a(&pair, a, get(8, mra.bufx, 0, 100 + u32::from(f)));
        header.flags = header.flags.with_function(f);
        say(&mut pair, &header, &[]);
        logged.push(Logged::Improper_Flag_Use_Error { flags: u16::from(f) << 8 });
        assert_eq!(pair.logged(B), logged);
    }
    assert!(pair.sent(B, Op::Data).is_empty());
    assert!(*pair.ends[B].memory() == before);
    // A flag that an operation does not list is ignored; the operation is executed.
    let mut header = from_a(&pair, a, get(8, mra.bufx, 0, 120));
    header.flags = header.flags.with(Flags::REJECT).with(Flags::LAST);
    say(&mut pair, &header, &[]);
    logged.push(Logged::Improper_Flag_Use_Error { flags: 0x00C });
    assert_eq!(pair.logged(B), logged);
    assert_eq!(pair.sent(B, Op::Data).len(), 1);
}

/// Proves: ST-6.1.1.1-3, ST-6.1.1.1-4, ST-6.1.1-1, ST-6.1.1.3-2, ST-6.1.1.3-1, ST-10.7.4-3
/// Proves: ST-6.2.1-8, ST-6.2.1-9, ST-6.2.9-3, ST-7.2-1
#[test]
fn request_state_in_its_three_forms() {
    let mut pair = pair(|_| {});
    let (a, cts) = half_open(&mut pair, 10_000, 12);
    let mut ask = |d_id, s_id, b_num| {
        let header = from_a(&pair, a, Body::RequestState { sync: 0x77, b_num, d_id, s_id });
        let before = pair.sent(B, Op::RequestStateResponse).len();
        say(&mut pair, &header, &[]);
        let answer = pair.sent(B, Op::RequestStateResponse).get(before).copied();
        (
            answer.map(|rsr| (rsr.param, rsr.offset, rsr.b_num, rsr.d_id, rsr.s_id, rsr.sync)),
            pair.logged(B).len(),
        )
    };
    let no = u32::MAX;
    assert_eq!(ask(no, 0, 0), (Some((63, 0, 0, no, 0, 0x77)), 0));
    assert_eq!(ask(0xFFFF, 0, 0), (Some((63, 0, 0, 0xFFFF, 0, 0x77)), 0));
    assert_eq!(ask(0xFFFF, 7, 0), (Some((63, no, no, 7, no, 0x77)), 0));
    assert_eq!(ask(cts.s_id, cts.d_id, no), (Some((63, no, no, cts.d_id, cts.s_id, 0x77)), 0));
    assert_eq!(ask(cts.s_id, cts.d_id, 0), (Some((63, no, no, cts.d_id, cts.s_id, 0x77)), 0));
    assert_eq!(ask(cts.s_id, cts.d_id, 1), (None, 1));
    assert_eq!(pair.logged(B), [Logged::Out_Of_Range_B_num_Error]);
}

/// Proves: ST-10.6.2-1, ST-8.2-12, ST-8.2-13, ST-8.2-9
/// Proves: ST-7.4-1
#[test]
fn headers_occupy_slots_until_they_are_taken() {
    let mut pair = pair(|config| config.slots = 4);
    let (a, cts) = half_open(&mut pair, 10_000, 12);
    let now = pair.now;
    let mut out = Vec::new();
    for n in 0..5u16 {
        let mut header = data(&pair, a, &cts, n, 8 * u32::from(n), false);
        header.flags = header.flags.outside(Flags::SILENT).with(Flags::INTERRUPT);
        header.s_id = 0xDEAD_0000 + u32::from(n);
        let octets = [&header.to_bytes()[..], &[7; 8]].concat();
        pair.ends[B].handle(now, (ula(A, 0), 0), &octets);
    }
    assert_eq!(pair.logged(B), [Logged::Slots_Exceeded_Error]);
    // Silent Data needs none.
    let silent = data(&pair, a, &cts, 4, 32, false);
    pair.ends[B].handle(now, (ula(A, 0), 0), &[&silent.to_bytes()[..], &[7; 8]].concat());
    assert_eq!(pair.logged(B), [Logged::Slots_Exceeded_Error]);
    while pair.ends[B].poll_transmit(now, 0, ALL, &mut out).is_some() {}
    let b = pair.ends[B].connections().next().unwrap();
    assert_eq!(b.occupied_slots(), 4);
    let told: Vec<Event> = std::iter::from_fn(|| pair.ends[B].poll_event().map(|row| row.1)).collect();
    let opaque: Vec<u32> = told
        .iter()
        .filter_map(|event| match event {
            Event::Header { header, bytes: 8 } => Some(header.s_id),
            _ => None,
        })
        .collect();
    assert_eq!(opaque, [0xDEAD_0000, 0xDEAD_0001, 0xDEAD_0002, 0xDEAD_0003]);
    let signals = told.iter().filter(|event| matches!(event, Event::Interrupt { op: 0x1B })).count();
    assert_eq!(signals, 4, "what is discarded signals nothing");
    assert_eq!(pair.ends[B].connections().next().unwrap().occupied_slots(), 0);
}

/// Proves: ST-6.1.1.4-2, ST-6.1.1.4-8, ST-6.1.1.4-3, ST-6.1.1.4-4
#[test]
fn end_is_acknowledged_as_often_as_it_comes() {
    let mut pair = pair(|_| {});
    let (a, cts) = half_open(&mut pair, 10_000, 12);
    let end = from_a(&pair, a, Body::End { d_id: cts.s_id, s_id: cts.d_id });
    for n in 1..=3 {
        say(&mut pair, &end, &[]);
        let acks = pair.sent(B, Op::EndAck);
        assert_eq!(acks.len(), n);
        assert_eq!((acks[0].d_id, acks[0].s_id), (cts.d_id, cts.s_id));
    }
    assert!(pair.has(B, |event| {
        matches!(event, Event::Finished { outcome: Outcome::Failed(Failure::EndedByPeer), .. })
    }));
    assert_eq!(pair.logged(B), []);
    let grants = pair.sent(B, Op::ClearToSend).len();
    let late = data(&pair, a, &cts, 0, 0, false);
    say(&mut pair, &late, &[1; 8]);
    say(&mut pair, &late, &[1; 8]);
    assert_eq!(pair.logged(B), [Logged::Invalid_D_id_Error], "once for a stale id");
    assert_eq!(pair.sent(B, Op::ClearToSend).len(), grants);
    let unknown = from_a(&pair, a, Body::End { d_id: 0x7777, s_id: 1 });
    say(&mut pair, &unknown, &[]);
    assert_eq!(pair.sent(B, Op::EndAck).len(), 3);
    assert_eq!(pair.logged(B).len(), 2);
}

/// Proves: ST-4.2-5
#[test]
fn optional_payload_and_interrupt_of_control_operations() {
    let mut pair = pair(|_| {});
    let extras = Extras { interrupt: true, payload: Some([0x5A; 32]) };
    let a = pair.ends[A].connect(0, (ula(B, 0), 0), (SERVICE, 0), extras);
    pair.wait(A, |event| *event == Event::Opened);
    let told = |pair: &Pair, op: Op| {
        (
            pair.has(B, |event| *event == Event::Interrupt { op: op as u8 }),
            pair.has(B, |event| *event == Event::Payload { op: op as u8, octets: [0x5A; 32] }),
        )
    };
    assert_eq!(told(&pair, Op::RequestConnection), (true, true));
    let options = TransferOptions { extras, ..TransferOptions::default() };
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 100), options).unwrap();
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    assert_eq!(told(&pair, Op::RequestToSend), (true, true));
    pair.assert_clean();
}
