//! What both ends say in each sequence, and in what order: ids, answers, ends, Syncs (5, 6, 7, 9.1).

use crate::common::{A, B, LANDING, Pair, ula};
use scheduled_transfer::connection::State;
use scheduled_transfer::errors::Logged;
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::wire::{Body, Flags, Function, Header, Op, Operation};
use scheduled_transfer::{
    Config, ConnectionId, Event, ExposeOptions, Extras, Failure, Outcome, Span, TransferOptions, checksum,
};
use std::collections::{BTreeMap, BTreeSet};

fn pair(change: impl Fn(&mut Config)) -> Pair {
    let mut a = Config::default();
    change(&mut a);
    Pair::new(a, Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a }, 2 << 20)
}

fn plain() -> Pair {
    pair(|_| {})
}

/// Says something to `to` now as if the other end had sent it.
fn say(pair: &mut Pair, to: usize, connection: ConnectionId, body: Body) {
    let peer = pair.ends[1 - to].connection(connection).unwrap();
    let (d_port, s_port, d_key) = (peer.remote().port, peer.local().port, peer.remote().key);
    let mut header = Operation { d_port, s_port, d_key, interrupt: false, body }.header();
    header.cksum = checksum::of_operation(&header, &[]);
    let now = pair.now;
    pair.ends[to].handle(now, (ula(1 - to, 0), 0), &header.to_bytes());
    pair.settle();
}

fn region(pair: &mut Pair, a: ConnectionId, bytes: u64) -> u32 {
    let id = pair.ends[A].request_region(pair.now, a, bytes, DataChannel::TWO, Extras::default()).unwrap();
    pair.wait(A, |event| *event == Event::RegionReady { id });
    id
}

/// One of everything, and what was said.
fn everything() -> (Pair, ConnectionId, ConnectionId) {
    let mut pair = plain();
    pair.expose = ExposeOptions { window: 2, blocksize: 12 };
    let (a, b) = pair.open();
    let options =
        TransferOptions { channel: DataChannel::THREE, opaque: 0x0BAD_CAFE, ..TransferOptions::default() };
    let write = pair.ends[A].write(pair.now, a, Span::new(0, 20_000), options).unwrap();
    assert_eq!(pair.outcome(A, write), Outcome::Complete);
    let (span, extras) = ((Span::new(LANDING, 20_000), false), Extras::default());
    let read = pair.ends[A].read(pair.now, a, span, DataChannel::TWO, pair.expose, extras).unwrap();
    assert_eq!(pair.outcome(A, read), Outcome::Complete);
    let id = region(&mut pair, a, 4096);
    pair.ends[A].put(pair.now, a, (id, 0), Span::new(0, 2000), options).unwrap();
    pair.wait(A, |event| matches!(event, Event::PutFinished { outcome: Outcome::Complete, .. }));
    let get = pair.ends[A].get(pair.now, a, (id, 8), Span::new(LANDING, 2000), extras).unwrap();
    assert_eq!(pair.outcome(A, get), Outcome::Complete);
    let up = Function::Increment;
    let fetch = pair.ends[A].fetch_op(pair.now, a, (id, 64), up, LANDING, extras).unwrap();
    assert_eq!(pair.outcome(A, fetch), Outcome::Complete);
    assert!(pair.ends[A].end(pair.now, a, id));
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    pair.run(10_000_000);
    pair.assert_clean();
    (pair, a, b)
}

/// Proves: ST-9.1-40, ST-9.1-41, ST-6.2.1-1, ST-6.2.1-5, ST-6.2.1-6, ST-6.2.1-7, ST-3.1-2, ST-9.2-1, ST-9.2-3
#[test]
fn every_id_is_its_receivers() {
    let (pair, ..) = everything();
    // Ids that each end has assigned so far, by what assigns them.
    let mut own: [BTreeSet<u32>; 2] = Default::default();
    let ports = |end: usize| if end == A { (0x4000, 0x8000) } else { (0x8000, 0x4000) };
    for &(from, header) in &pair.trace {
        let to = 1 - from;
        let op = Op::parse(header.op).unwrap();
        if op != Op::RequestConnection && op != Op::ConnectionAnswer {
            assert_eq!((header.s_port, header.d_port), ports(from), "{header}");
            let key = pair.ends[to].connections().next().unwrap().local().key;
            assert_eq!(header.d_key, key, "{header}");
        }
        let slots_only = header.d_id == u32::MAX;
        let unused = matches!(
            op,
            Op::RequestConnection | Op::ConnectionAnswer | Op::RequestMemoryRegion | Op::RequestToReceive
        );
        if unused || (op == Op::RequestToSend && header.d_id == 0) {
            assert_eq!(header.d_id, 0, "{header}");
        } else if !slots_only {
            assert!(own[to].contains(&header.d_id), "{header}: D_id is not the receiver's");
        }
        let opaque = op == Op::Data && header.s_id == 0x0BAD_CAFE;
        if header.s_id != 0 && !opaque {
            own[from].insert(header.s_id);
        }
    }
    // A began everything: five sequences and a region; B answered Write, Read and region with ids of its own.
    assert_eq!(own.each_ref().map(BTreeSet::len), [5, 3]);
    for own in own {
        let ids: Vec<u32> = own.into_iter().collect();
        assert!(ids.windows(2).all(|two| two[1] == two[0] + 1), "{ids:?}");
    }
}

/// Proves: ST-8.2-18, ST-6.2.10-1, ST-6.2.9-2, ST-7.1-1, ST-4.2-6, ST-6.1.4.1-7
#[test]
fn channels_opaque_and_grants_of_a_transfer() {
    let (pair, ..) = everything();
    let of = |op: Op, from: usize| pair.sent(from, op);
    let (write, put): (Vec<Header>, Vec<Header>) =
        of(Op::Data, A).into_iter().partition(|data| data.d_id == of(Op::ClearToSend, B)[0].s_id);
    assert_eq!((write.len(), put.len()), (20, 2));
    assert!(write.iter().chain(&put).all(|data| data.s_id == 0x0BAD_CAFE));
    assert!(write.iter().all(|data| data.flags.channel() == 3), "as Request_To_Send said");
    assert!(put.iter().all(|data| data.flags.channel() == 2), "as Request_Memory_Region said");
    let read: Vec<Header> = of(Op::Data, B);
    assert!(read.iter().all(|data| data.flags.channel() == 2));
    // One permission for one Block, sent once; Put, Get and FetchOp need none.
    for (source, target) in [(A, B), (B, A)] {
        let grants: Vec<u32> = of(Op::ClearToSend, target).iter().map(|cts| cts.b_num).collect();
        assert_eq!(grants, [0, 1, 2, 3, 4]);
        let id = of(Op::ClearToSend, target)[0].s_id;
        let lasts = of(Op::Data, source);
        let lasts = lasts.iter().filter(|data| data.d_id == id && data.flags.has(Flags::LAST));
        assert_eq!(lasts.map(|data| data.b_num).collect::<Vec<_>>(), grants);
    }
    // A Sync in each, all different.
    let syncs: BTreeSet<u32> = of(Op::Data, A).iter().map(|data| data.sync).collect();
    assert_eq!(syncs.len(), write.len() + put.len());
}

/// Proves: ST-4.2-2, ST-6.2.7-2, ST-6.2.7-5, ST-6.2.8-1, ST-6.2.8-3, ST-6.2.10-4, ST-6.2.4-1
/// Proves: ST-6.2.7-4, ST-6.2.7-7
#[test]
fn stus_fill_consecutive_buffers() {
    let mut pair = pair(|config| (config.bufsize, config.max_stu) = (11, 9));
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 1, blocksize: 13 };
    let options = TransferOptions { opaque: u32::MAX, ..TransferOptions::default() };
    let id = pair.ends[A].write(pair.now, a, Span::new(77, 50_000), options).unwrap();
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    let first = pair.sent(B, Op::ClearToSend)[0];
    let mut sent: u64 = 0;
    let mut next = BTreeMap::<u32, u16>::new();
    for data in pair.sent(A, Op::Data) {
        let at = u64::from(first.offset) + sent;
        let place = (first.bufx + (at >> 11) as u32, (at & 2047) as u32);
        assert_eq!((data.bufx, data.offset), place);
        let stu = next.entry(data.b_num).or_default();
        assert_eq!(data.param, *stu);
        *stu += 1;
        // What follows lies in the next STU: its size.
        let room = 2048 - u64::from(data.offset);
        let block_end = (u64::from(data.b_num) + 1) * 8192 - u64::from(first.offset) % 8192;
        sent += 512.min(room).min(block_end - sent).min(50_000 - sent);
    }
    assert_eq!(sent, 50_000);
    pair.assert_clean();
}

/// Proves: ST-6.1.2-4, ST-6.1.3-5, ST-6.1.4.1-4, ST-9.1-22, ST-9.1-29, ST-10.2-15, ST-8.2-17, ST-7.3-3
/// Proves: ST-6.1.3-7
#[test]
fn pending_is_followed_by_a_decision() {
    for request in [Op::RequestToSend, Op::RequestToReceive, Op::RequestMemoryRegion] {
        for accept in [true, false] {
            let mut pair = plain();
            let (a, b) = pair.open();
            pair.auto = false;
            let now = pair.now;
            let extras = Extras::default();
            let end = &mut pair.ends[A];
            let own = match request {
                Op::RequestToSend => end.write(now, a, Span::new(0, 100), TransferOptions::default()),
                Op::RequestToReceive => {
                    let span = (Span::new(LANDING, 100), false);
                    end.read(now, a, span, DataChannel::ONE, ExposeOptions::default(), extras)
                }
                _ => end.request_region(now, a, 100, DataChannel::ONE, extras),
            }
            .unwrap();
            let asked = |event: &Event| match *event {
                Event::WriteOffered { id, .. }
                | Event::ReadRequested { id, .. }
                | Event::RegionRequested { id, .. } => Some(id),
                _ => None,
            };
            pair.wait(B, |event| asked(event).is_some());
            let id = pair.events[B].iter().find_map(|(_, event)| asked(event)).unwrap();
            assert!(pair.ends[B].pause(now, b, id));
            assert!(!pair.ends[B].pause(now, b, id) || request == Op::RequestToReceive);
            // Longer than a guard, shorter than what a decision may take.
            pair.run(5 * Config::default().op_timeout);
            let pending = pair.sent(B, Op::RequestAnswer);
            assert!(!pending.is_empty() && pending.iter().all(|ra| ra.flags == Flags::NONE));
            assert!(pending.iter().all(|ra| (ra.d_id, ra.s_id) == (own, 0)));
            assert_eq!(pair.sent(A, request).len(), 1, "the guard of the request is cleared");
            let span = Span::new(LANDING, 100);
            let now = pair.now;
            let end = &mut pair.ends[B];
            let done = match (accept, request) {
                (false, _) => end.refuse(now, b, id),
                (true, Op::RequestToSend) => end.expose(now, b, id, span, ExposeOptions::default()),
                (true, Op::RequestToReceive) => end.serve(now, b, id, span, TransferOptions::default()),
                (true, _) => end.grant(now, b, id, span),
            };
            assert!(done, "{request:?}");
            if !accept {
                assert_eq!(pair.outcome(A, own), Outcome::Failed(Failure::Rejected));
                assert_eq!(pair.sent(B, Op::RequestAnswer).last().unwrap().flags, Flags::REJECT);
                pair.run(5 * Config::default().op_timeout);
                assert_eq!(pair.sent(A, request).len(), 1, "what to do then is the upper layer's");
            } else if request == Op::RequestMemoryRegion {
                pair.wait(A, |event| *event == Event::RegionReady { id: own });
            } else {
                assert_eq!(pair.outcome(A, own), Outcome::Complete);
            }
            pair.assert_clean();
        }
    }
}

/// Proves: ST-6.1.3-12
#[test]
fn a_read_of_another_length_is_refused() {
    let mut pair = plain();
    let (a, _) = pair.open();
    pair.lose.push((B, Op::RequestToSend, u32::MAX));
    let span = (Span::new(LANDING, 100), false);
    let (options, extras) = (ExposeOptions::default(), Extras::default());
    let read = pair.ends[A].read(pair.now, a, span, DataChannel::ONE, options, extras).unwrap();
    pair.run(5_000_000);
    let rts = pair.sent(B, Op::RequestToSend)[0];
    let connection = pair.ends[B].connections().next().unwrap().id();
    let body = Body::RequestToSend {
        channel: 1,
        cts_req: 0,
        max_block: rts.b_id,
        t_len: 101,
        d_id: read,
        s_id: rts.s_id,
    };
    say(&mut pair, A, connection, body);
    let answer = pair.sent(A, Op::RequestAnswer)[0];
    assert_eq!((answer.flags, answer.d_id, answer.s_id), (Flags::REJECT, rts.s_id, 0));
    assert_eq!(pair.outcome(A, read), Outcome::Failed(Failure::Rejected));
}

/// Proves: ST-6.1-1
#[test]
fn nothing_moves_without_a_connection() {
    let mut pair = plain();
    pair.auto = false;
    let a = pair.ends[A].connect(0, (ula(B, 0), 0), (crate::common::SERVICE, 0), Extras::default());
    let write = TransferOptions::default();
    let (options, extras) = (ExposeOptions::default(), Extras::default());
    assert!(pair.ends[A].write(0, a, Span::new(0, 1), write).is_none());
    let span = (Span::new(LANDING, 1), false);
    assert!(pair.ends[A].read(0, a, span, DataChannel::ONE, options, extras).is_none());
    assert!(pair.ends[A].request_region(0, a, 8, DataChannel::ONE, extras).is_none());
    pair.run(3_000_000);
    let b = pair.ends[B].connections().next().unwrap().id();
    assert_eq!(pair.ends[B].connection(b).unwrap().state(), State::RcReceived);
    let body = Body::RequestToSend { channel: 1, cts_req: 0, max_block: 12, t_len: 8, d_id: 0, s_id: 1 };
    // A's connection has not been answered, so B's Port and Key are known to nobody but this test.
    let local = *pair.ends[B].connection(b).unwrap().local();
    let header =
        Operation { d_port: local.port, s_port: 0x4000, d_key: local.key, interrupt: false, body }.header();
    let now = pair.now;
    pair.ends[B].handle(now, (ula(A, 0), 0), &header.to_bytes());
    let unexpected = Logged::Unexpected_Opcode_Error { unexpected_opcode_value: Op::RequestToSend as u8 };
    assert_eq!(pair.logged(B), [unexpected]);
    // An upper layer that never decides: the request is forgotten when its sender has long given up.
    let config = Config::default();
    pair.run(config.quarantine() + config.op_timeout);
    assert!(pair.has(B, |event| *event == Event::Closed(Outcome::Failed(Failure::Timeout))));
    assert_eq!(pair.ends[B].connections().count(), 0);
    pair.run(config.quarantine() + config.op_timeout);
    assert_eq!(pair.ends[A].connections().count(), 0);
}

/// A Write of three Blocks at B of which nothing has arrived; its grants.
fn three_blocks(agreed: bool, state_every: u32) -> (Pair, ConnectionId, u32, Vec<Header>) {
    let mut pair = pair(|config| config.out_of_order = agreed);
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 3, blocksize: 12 };
    pair.lose.push((A, Op::Data, u32::MAX));
    let options = TransferOptions { state_every, ..TransferOptions::default() };
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 12_000), options).unwrap();
    pair.run(20_000_000);
    let grants = pair.sent(B, Op::ClearToSend);
    assert_eq!(grants.len(), 3);
    (pair, a, id, grants)
}

/// Says to B the Data of Block `cts` that A sent into the void, with `flags` set; `some` of its STUs.
fn again(pair: &mut Pair, cts: &Header, some: std::ops::Range<usize>, flags: Flags) {
    let data: Vec<Header> =
        pair.sent(A, Op::Data).into_iter().filter(|data| data.b_num == cts.b_num).collect();
    let f_offset = pair.sent(B, Op::ClearToSend)[0].offset;
    for (n, header) in data.iter().enumerate().filter(|(n, _)| some.contains(n)) {
        let start = u64::from(cts.b_num) * 4096 + 1024 * n as u64;
        let end = (start + 1024).min(12_000) as usize;
        let payload = pair.ends[A].memory()[start as usize..end].to_vec();
        assert_eq!(f_offset, 0, "the arithmetic above");
        let header = Header { cksum: 0, flags: header.flags.with(flags), ..*header };
        let now = pair.now;
        pair.ends[B].handle(now, (ula(A, 0), 0), &[&header.to_bytes()[..], &payload].concat());
    }
    pair.settle();
}

/// Proves: ST-6.1.1.3-3, ST-6.1.1.3-4, ST-8.2-14, ST-6.1.2-14, ST-9.1-20, ST-6.2.4-7, ST-6.2.4-10
#[test]
fn send_state_is_answered_after_success() {
    let (mut pair, _, id, grants) = three_blocks(true, 0);
    let answers = |pair: &Pair| pair.sent(B, Op::RequestStateResponse);
    // In the middle of a Block: answered, and the Block is not yet received.
    again(&mut pair, &grants[1], 0..1, Flags::SEND_STATE);
    assert_eq!(answers(&pair).len(), 1);
    assert_eq!((answers(&pair)[0].offset, answers(&pair)[0].b_num), (u32::MAX, u32::MAX));
    // A lost STU: what follows it is discarded, and so not answered.
    again(&mut pair, &grants[0], 1..2, Flags::SEND_STATE);
    assert_eq!(answers(&pair).len(), 1);
    // The rest of Block 1: it is correct although Block 0 is not.
    again(&mut pair, &grants[1], 1..3, Flags::NONE);
    again(&mut pair, &grants[1], 3..4, Flags::SEND_STATE);
    assert_eq!(answers(&pair).len(), 2);
    let last = answers(&pair)[1];
    assert_eq!((last.offset, last.b_num, last.d_id, last.s_id), (u32::MAX, 1, id, grants[0].s_id));
    let asked = pair.sent(A, Op::Data).into_iter().rfind(|data| data.b_num == 1).unwrap();
    assert_eq!(last.sync, asked.sync);
}

/// Proves: ST-6.2.4-9, ST-6.2.4-7, ST-6.1.2-13, ST-10.7.8-2, ST-10.1-4
#[test]
fn b_seq_stops_at_the_missing_block() {
    let mut pair = pair(|config| config.missing_timeout = Some(50_000_000));
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 10, blocksize: 12 };
    pair.lose.push((A, Op::Data, u32::MAX));
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 40_960), TransferOptions::default()).unwrap();
    pair.run(20_000_000);
    let grants = pair.sent(B, Op::ClearToSend);
    for cts in grants.iter().filter(|cts| cts.b_num != 6) {
        let data = pair.sent(A, Op::Data).into_iter().filter(|data| data.b_num == cts.b_num);
        for header in data.collect::<Vec<_>>() {
            let octets = [&Header { cksum: 0, ..header }.to_bytes()[..], &[9; 1024]].concat();
            let now = pair.now;
            pair.ends[B].handle(now, (ula(A, 0), 0), &octets);
        }
    }
    pair.settle();
    let mut state = |b_num| {
        let body = Body::RequestState { sync: 5, b_num, d_id: grants[0].s_id, s_id: id };
        say(&mut pair, B, a, body);
        let answer = *pair.sent(B, Op::RequestStateResponse).last().unwrap();
        (answer.offset, answer.b_num)
    };
    assert_eq!(state(u32::MAX), (5, u32::MAX));
    assert_eq!(state(9), (5, 9));
    assert_eq!(state(6), (5, u32::MAX));
    // The destination notices; with Out_of_Order agreed it asks again by itself.
    pair.lose.clear();
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    let again: Vec<u32> = pair.sent(B, Op::ClearToSend)[10..].iter().map(|cts| cts.b_num).collect();
    assert_eq!(again, [6]);
}

/// Proves: ST-10.7.8-2, ST-6.2.4-5
#[test]
fn without_agreed_order_a_missing_block_is_the_upper_layers_business() {
    let mut pair = pair(|config| (config.out_of_order, config.missing_timeout) = (false, Some(50_000_000)));
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 3, blocksize: 12 };
    pair.lose.push((A, Op::Data, 5));
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 12_000), TransferOptions::default()).unwrap();
    pair.wait(B, |event| matches!(event, Event::Missing { block: 1, .. }));
    let grants: Vec<u32> = pair.sent(B, Op::ClearToSend).iter().map(|cts| cts.b_num).collect();
    assert_eq!(grants, [0, 1, 2], "in ascending order, and none again");
    let missing: Vec<u64> = pair.events[B]
        .iter()
        .filter_map(|(_, event)| if let Event::Missing { block, .. } = event { Some(*block) } else { None })
        .collect();
    assert_eq!(missing, [0, 1]);
    let (b, theirs) = (pair.events[B][0].0, pair.sent(B, Op::ClearToSend)[0].s_id);
    assert!(!pair.ends[B].reissue(pair.now, b, theirs, 1));
    assert!(pair.ends[B].end(pair.now, b, theirs));
    assert_eq!(pair.outcome(A, id), Outcome::Failed(Failure::EndedByPeer));
}

/// Of three Slots the request takes one and Block 2, which asks for the state, the other. So Block 5 waits
/// for an answer. Block 6 is silent and needs no Slot, but Blocks begin in order (ST-D40).
///
/// Proves: ST-6.2.4-5, ST-10.7.5-1
#[test]
fn a_block_that_waits_for_a_slot_is_not_overtaken() {
    for (agreed, expected) in [(false, [0, 1, 2, 3, 4, 5, 6, 7]), (true, [0, 1, 2, 3, 4, 6, 5, 7])] {
        let a = Config { op_timeout: 100_000_000, out_of_order: agreed, ..Config::default() };
        let b = Config { slots: 3, first_port: 0x8000, first_key: 0x5E6F_7081, ..a };
        let mut pair = Pair::new(a, b, 2 << 20);
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window: 8, blocksize: 10 };
        let options = TransferOptions { state_every: 3, max_block: 10, ..TransferOptions::default() };
        let id = pair.ends[A].write(pair.now, a, Span::new(0, 8192), options).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete);
        let blocks: Vec<u32> = pair.sent(A, Op::Data).iter().map(|data| data.b_num).collect();
        assert_eq!(blocks, expected);
        pair.assert_clean();
    }
}

/// Proves: ST-6.2.8-8, ST-6.2.4-5, ST-10.7.5-1
#[test]
fn grants_may_come_in_any_order() {
    for agreed in [true, false] {
        let mut pair = pair(|config| config.out_of_order = agreed);
        let (_, b) = pair.open();
        pair.auto = false;
        let id = pair.ends[B].write(pair.now, b, Span::new(0, 12_000), TransferOptions::default()).unwrap();
        pair.settle();
        let a = pair.events[A][0].0;
        for b_num in [2, 0, 1] {
            let body = Body::ClearToSend {
                blocksize: 12,
                mx: 5 + b_num as u16,
                bufx: 0x100,
                offset: 4096 * b_num,
                f_offset: 0,
                b_num,
                d_id: id,
                s_id: 77,
            };
            say(&mut pair, B, a, body);
        }
        let mut blocks: Vec<u32> = pair.sent(B, Op::Data).iter().map(|data| data.b_num).collect();
        blocks.dedup();
        assert_eq!(blocks, if agreed { [2, 0, 1] } else { [0, 1, 2] });
        assert_eq!(pair.logged(B), []);
    }
    // And at the destination: Blocks out of order are logged if that was not agreed, and taken.
    for agreed in [true, false] {
        let (mut pair, _, _, grants) = three_blocks(agreed, 0);
        for n in [1, 0, 2] {
            again(&mut pair, &grants[n], 0..4, Flags::NONE);
        }
        let expected: &[Logged] = if agreed { &[] } else { &[Logged::Out_Of_Order_B_num; 3] };
        assert_eq!(pair.logged(B), expected);
        assert!(pair.has(B, |event| matches!(event, Event::Finished { outcome: Outcome::Complete, .. })));
        assert_eq!(pair.ends[B].memory()[LANDING as usize..][..12_000], pair.ends[A].memory()[..12_000]);
    }
}

/// Proves: ST-6.1.1-2, ST-10.7.4-4, ST-6.1.1-4
#[test]
fn only_the_answer_to_a_question_counts() {
    let (mut pair, _, id, grants) = three_blocks(true, 1);
    let b = pair.ends[B].connections().next().unwrap().id();
    let syncs: Vec<u32> =
        pair.sent(A, Op::Data).iter().filter(|data| data.flags.has(Flags::LAST)).map(|d| d.sync).collect();
    assert_eq!(syncs.len(), 3);
    let answer = |sync, b_seq, b_num| Body::RequestStateResponse {
        slots: 63,
        b_seq,
        sync,
        b_num,
        d_id: id,
        s_id: grants[0].s_id,
    };
    say(&mut pair, A, b, answer(syncs[2] + 1, 2, 2));
    assert!(!pair.has(A, |event| matches!(event, Event::Progress { .. })), "nobody asked that");
    // More than was sent, or about another Block.
    say(&mut pair, A, b, answer(syncs[0], 3, 0));
    say(&mut pair, A, b, answer(syncs[1], 0, 2));
    assert_eq!(pair.logged(A), [Logged::Out_Of_Range_B_num_Error; 2]);
    assert!(!pair.has(A, |event| matches!(event, Event::Progress { .. })));
    say(&mut pair, A, b, answer(syncs[2], 1, u32::MAX));
    assert!(pair.has(A, |event| *event == Event::Progress { id, blocks: 2 }));
    // The source, asked about its own Transfer, has received nothing.
    let ask = Body::RequestState { sync: 9, b_num: u32::MAX, d_id: id, s_id: grants[0].s_id };
    say(&mut pair, A, b, ask);
    let found = *pair.sent(A, Op::RequestStateResponse).last().unwrap();
    assert_eq!((found.offset, found.b_num, found.sync), (u32::MAX, u32::MAX, 9));
    // The guard asks for the state of the last Block that was sent (Com3).
    pair.run(3 * Config::default().op_timeout);
    let asked = pair.sent(A, Op::RequestState);
    assert!(!asked.is_empty());
    assert!(asked.iter().all(|rs| (rs.d_id, rs.s_id, rs.b_num) == (grants[0].s_id, id, 2)));
}

/// Proves: ST-6.1.1-3, ST-6.1.4.2-5, ST-6.1.4.1-6, ST-6.2.12-1, ST-6.2.3-3, ST-4.2-11
#[test]
fn a_region_lives_until_it_is_ended() {
    for ends in [A, B] {
        let mut pair = plain();
        let (a, b) = pair.open();
        let id = region(&mut pair, a, 5000);
        let rmr = pair.sent(A, Op::RequestMemoryRegion)[0];
        assert_eq!((rmr.sync, rmr.b_num), (0, 5000));
        let mra = pair.sent(B, Op::MemoryRegionAvailable)[0];
        for put in 0..3 {
            let options = TransferOptions::default();
            let found = pair.ends[A].put(pair.now, a, (id, 4000), Span::new(put, 1000), options);
            assert_eq!(found, Some(put));
            pair.wait(A, |event| *event == Event::PutFinished { id, put, outcome: Outcome::Complete });
            pair.run(20 * Config::default().op_timeout);
        }
        assert_eq!(pair.ends[B].memory()[4000..5000], pair.ends[A].memory()[2..1002]);
        // State of the region is state of its Puts.
        for (b_num, expected) in [(u32::MAX, (2, u32::MAX)), (1, (2, 1)), (3, (2, u32::MAX))] {
            say(&mut pair, B, a, Body::RequestState { sync: 5, b_num, d_id: mra.s_id, s_id: id });
            let found = *pair.sent(B, Op::RequestStateResponse).last().unwrap();
            assert_eq!((found.offset, found.b_num), expected);
        }
        // Nothing outside it is written.
        let before = pair.ends[B].memory().clone();
        let body = Body::Data {
            silent: true,
            send_state: false,
            last: true,
            channel: 2,
            stu_num: 0,
            mx: mra.b_id,
            bufx: mra.bufx,
            offset: mra.offset + 4999,
            sync: 99,
            b_num: 3,
            d_id: mra.s_id,
            s_id: 0,
        };
        let connection = pair.ends[A].connection(a).unwrap();
        let (d_port, s_port, d_key) =
            (connection.remote().port, connection.local().port, connection.remote().key);
        let header = Operation { d_port, s_port, d_key, interrupt: false, body }.header();
        let now = pair.now;
        pair.ends[B].handle(now, (ula(A, 0), 0), &[&header.to_bytes()[..], &[1, 2]].concat());
        assert_eq!(pair.logged(B), [Logged::Out_Of_Range_Bufx_Error]);
        assert!(*pair.ends[B].memory() == before);
        let (connection, own) = if ends == A { (a, id) } else { (b, mra.s_id) };
        assert!(pair.ends[ends].end(pair.now, connection, own));
        assert_eq!(pair.outcome(ends, own), Outcome::Complete);
        let put = pair.ends[A].put(pair.now, a, (id, 0), Span::new(0, 8), TransferOptions::default());
        assert_eq!(put, None);
    }
}

/// Proves: ST-6.1.1.4-6, ST-6.1.1.4-1, ST-5.1.2-8
#[test]
fn the_end_of_a_region_ends_what_runs_on_it() {
    for teardown in [false, true] {
        let mut pair = plain();
        let (a, _) = pair.open();
        let id = region(&mut pair, a, 4096);
        pair.lose.push((A, Op::Data, u32::MAX));
        pair.lose.push((A, Op::Get, u32::MAX));
        let extras = Extras::default();
        let put = pair.ends[A].put(pair.now, a, (id, 0), Span::new(0, 100), TransferOptions::default());
        assert_eq!(put, Some(0));
        let get = pair.ends[A].get(pair.now, a, (id, 0), Span::new(LANDING, 100), extras).unwrap();
        let up = Function::Increment;
        let fetch = pair.ends[A].fetch_op(pair.now, a, (id, 8), up, LANDING, extras).unwrap();
        let write =
            pair.ends[A].write(pair.now, a, Span::new(0, 50_000), TransferOptions::default()).unwrap();
        pair.run(4_000_000);
        let failure = if teardown {
            pair.ends[A].disconnect(pair.now, a);
            Failure::Disconnected
        } else {
            assert!(pair.ends[A].end(pair.now, a, id));
            Failure::Aborted
        };
        for sequence in [get, fetch] {
            assert_eq!(pair.outcome(A, sequence), Outcome::Failed(failure));
        }
        let event =
            |event: &Event| *event == Event::PutFinished { id, put: 0, outcome: Outcome::Failed(failure) };
        assert!(pair.has(A, event));
        if teardown {
            assert_eq!(pair.outcome(A, write), Outcome::Failed(failure));
            pair.wait(B, |event| matches!(event, Event::Closed(_)));
            let ended = pair.events[B].iter().filter(|(_, event)| {
                matches!(event, Event::Finished { outcome: Outcome::Failed(Failure::Disconnected), .. })
            });
            assert_eq!(ended.count(), 2, "the Transfer and the region");
        } else {
            // A Transfer may be ended as well, by either end.
            assert!(pair.ends[A].end(pair.now, a, write));
            assert_eq!(pair.outcome(A, write), Outcome::Failed(Failure::Aborted));
        }
    }
}

/// Proves: ST-6.1.1.4-7, ST-6.1.1.4-9
#[test]
fn crossing_ends_and_an_end_that_waits() {
    let (mut pair, a, id, grants) = three_blocks(true, 0);
    let b = pair.events[B][0].0;
    let now = pair.now;
    assert!(pair.ends[A].end(now, a, id) && pair.ends[B].end(now, b, grants[0].s_id));
    pair.run(5_000_000);
    for end in [A, B] {
        assert_eq!((pair.sent(end, Op::End).len(), pair.sent(end, Op::EndAck).len()), (1, 1));
    }
    assert!(matches!(pair.outcome(A, id), Outcome::Failed(_)));
    pair.assert_clean();
    // The other end's id is not known: End waits for it.
    let mut pair = plain();
    let (a, _) = pair.open();
    pair.auto = false;
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 100), TransferOptions::default()).unwrap();
    pair.run(3_000_000);
    assert!(pair.ends[A].end(pair.now, a, id));
    pair.run(3_000_000);
    assert!(pair.sent(A, Op::End).is_empty());
    let (b, offered) = pair.events[B]
        .iter()
        .find_map(|&(b, event)| match event {
            Event::WriteOffered { id, .. } => Some((b, id)),
            _ => None,
        })
        .unwrap();
    let span = Span::new(LANDING, 100);
    assert!(pair.ends[B].expose(pair.now, b, offered, span, ExposeOptions::default()));
    assert_eq!(pair.outcome(A, id), Outcome::Failed(Failure::Aborted));
    assert_eq!(pair.sent(A, Op::End)[0].d_id, offered);
    assert!(pair.sent(A, Op::Data).is_empty());
}

/// Proves: ST-6.1.4.3-9, ST-6.1.4.3-5, ST-6.2.3-4
#[test]
fn get_data_has_its_own_place_and_no_other() {
    type Change = fn(&mut Header);
    let rows: [(Change, Logged); 3] = [
        (|h| h.b_id += 1, Logged::Invalid_Mx_Error),
        (|h| h.offset += 93, Logged::Out_Of_Range_Bufx_Error),
        (|h| h.bufx += 1, Logged::Out_Of_Range_Bufx_Error),
    ];
    for (change, expected) in rows {
        let mut pair = plain();
        let (a, _) = pair.open();
        let id = region(&mut pair, a, 4096);
        pair.lose.push((B, Op::Data, 1));
        let get = pair.ends[A].get(pair.now, a, (id, 8), Span::new(LANDING, 100), Extras::default()).unwrap();
        assert_eq!(pair.sent(A, Op::Get).len(), 0);
        pair.run(4_000_000);
        assert_eq!(pair.sent(A, Op::Get)[0].param, 100);
        let mut header = pair.sent(B, Op::Data)[0];
        assert!(header.flags.has(Flags::LAST), "all of the region that was asked for, in one STU");
        header.cksum = 0;
        change(&mut header);
        let before = pair.ends[A].memory().clone();
        let now = pair.now;
        pair.ends[A].handle(now, (ula(B, 0), 0), &[&header.to_bytes()[..], &[0xEE; 8]].concat());
        assert_eq!(pair.logged(A), [expected]);
        assert!(*pair.ends[A].memory() == before);
        // Asked again, it arrives whole.
        assert_eq!(pair.outcome(A, get), Outcome::Complete);
        assert_eq!(pair.ends[A].memory()[LANDING as usize..][..100], pair.ends[B].memory()[8..108]);
    }
}

/// Proves: ST-6.2.11-1, ST-10.1-5, ST-7.1-2
#[test]
fn the_source_asks_for_blocks_and_the_destination_decides() {
    let at_once = |cts_req, window| {
        let mut pair = plain();
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window, blocksize: 12 };
        pair.lose.push((A, Op::Data, u32::MAX));
        let options = TransferOptions { cts_req, ..TransferOptions::default() };
        pair.ends[A].write(pair.now, a, Span::new(0, 81_920), options).unwrap();
        // Long, but the source's own guard ends it: no timeout repeats a Clear_To_Send.
        pair.run(2 * Config::default().op_timeout);
        assert_eq!(pair.sent(A, Op::RequestToSend)[0].param, cts_req);
        pair.sent(B, Op::ClearToSend).len()
    };
    assert_eq!([(0, 0), (3, 0), (3, 5), (0, 7)].map(|(asked, window)| at_once(asked, window)), [20, 3, 5, 7]);
}

/// Proves: ST-4.2-14
///
/// Nothing is reserved in the network or for a Transfer: what one was granted takes nothing from another. Ten
/// Writes whose Data is lost hold all the Blocks that they were granted, ten times what the link carries in
/// that time; the eleventh says and is answered at each instant what it would say and be answered alone.
#[test]
fn grants_reserve_nothing() {
    let last_of = |others: u32| {
        let mut pair = plain();
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window: 4, blocksize: 12 };
        let bytes = 65_536;
        for n in 0..others {
            let id = pair.ends[A].write(pair.now, a, Span::new(0, bytes), TransferOptions::default());
            assert!(id.is_some(), "Write {n} is not refused for those before it");
        }
        pair.lose.push((A, Op::Data, u32::MAX));
        pair.run(2 * crate::common::LATENCY);
        assert_eq!(pair.sent(B, Op::ClearToSend).len(), 4 * others as usize, "each has its window");
        pair.lose.clear();
        pair.trace.clear();
        let begun = pair.now;
        let id = pair.ends[A].write(pair.now, a, Span::new(0, bytes), TransferOptions::default()).unwrap();
        let outcome = pair.outcome(A, id);
        let of_last = |&(from, header): &(usize, Header)| (from, header.op, header.b_num, header.param);
        let said: Vec<_> = pair.trace.iter().map(of_last).collect();
        (outcome, said, pair.now - begun)
    };
    let (outcome, said, time) = last_of(0);
    assert_eq!(outcome, Outcome::Complete);
    let ops: BTreeSet<u8> = said.iter().map(|said| said.1).collect();
    // No operation but those of a Write: nobody asks the network for anything.
    let write = [Op::RequestToSend, Op::ClearToSend, Op::Data, Op::RequestState, Op::RequestStateResponse];
    assert!(ops.iter().all(|op| write.iter().any(|of| *of as u8 == *op)), "{ops:?}");
    assert_eq!(last_of(10), (outcome, said, time));
}

/// Proves: ST-3.1-3
///
/// Checksum (8.3.2), Out_of_Order (9.1) and FetchOp (6.1.4.3) are optional. An end that has one uses it
/// as the draft says, and one that has not says so in the place for it; whichever they have, Data
/// arrives.
#[test]
fn optional_features_are_those_of_the_draft() {
    for n in 0..16 {
        let has = |bit: u32| n >> bit & 1 == 1;
        let mut a = Config { compute: has(0), out_of_order: has(1), ..Config::default() };
        let mut b = Config { compute: has(2), ..a };
        (b.first_port, b.first_key) = (0x8000, 0x5E6F_7081);
        (b.attributes.fetch_op, b.out_of_order) = (has(3), true);
        a.attributes.fetch_op = false;
        let mut pair = Pair::new(a, b, 2 << 20);
        pair.expose = ExposeOptions { window: 2, blocksize: 12 };
        let (at_a, _) = pair.open();
        let write = pair.ends[A].write(0, at_a, Span::new(0, 20_000), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, write), Outcome::Complete);
        assert_eq!(pair.ends[B].memory()[LANDING as usize..][..20_000], pair.ends[A].memory()[..20_000]);
        let id = region(&mut pair, at_a, 4096);
        let (at, up) = ((id, 64), Function::Increment);
        let fetched = pair.ends[A].fetch_op(pair.now, at_a, at, up, LANDING, Extras::default());
        assert_eq!(fetched.is_some(), has(3), "B says whether it has FetchOp");
        if let Some(id) = fetched {
            assert_eq!(pair.outcome(A, id), Outcome::Complete);
        }
        // FetchOp and FetchOp_Complete, or nothing.
        assert_eq!(pair.sent(A, Op::Get).len(), if has(3) { 2 } else { 0 });
        for (from, header) in &pair.trace {
            // Each Control operation and the last Data of a Block has a checksum where they are supported,
            // and none is there where they are not.
            let computes = if *from == A { has(0) } else { has(2) };
            let last = header.op != Op::Data as u8 || header.flags.has(Flags::LAST);
            assert!(if computes { !last || header.cksum != 0 } else { header.cksum == 0 }, "{n}: {header}");
        }
        let says = [pair.sent(A, Op::RequestConnection)[0], pair.sent(B, Op::ConnectionAnswer)[0]];
        assert_eq!(says.map(|header| header.flags.has(Flags::OUT_OF_ORDER)), [has(1), true]);
        assert_eq!(pair.ends[A].connection(at_a).unwrap().out_of_order_agreed(), has(1));
        pair.assert_clean();
    }
}

/// One Write with what sequences show as conditional, and one without: Request_Answer (pending) before the
/// grant, a question for the state after each Block, an end with the connection or before it.
///
/// Proves: ST-3.2-2
#[test]
fn conditional_operations_may_stay_away() {
    for pending in [false, true] {
        for state_every in [0, 1] {
            for ends in [false, true] {
                let mut pair = plain();
                let (a, b) = pair.open();
                pair.expose = ExposeOptions { window: 1, blocksize: 12 };
                pair.auto = !pending;
                let options = TransferOptions { state_every, ..TransferOptions::default() };
                let id = pair.ends[A].write(pair.now, a, Span::new(0, 12_000), options).unwrap();
                if pending {
                    let offered = pair.wait(B, |event| matches!(event, Event::WriteOffered { .. }));
                    let Event::WriteOffered { id: theirs, .. } = offered else { unreachable!() };
                    let now = pair.now;
                    assert!(pair.ends[B].pause(now, b, theirs));
                    pair.run(5_000_000);
                    let now = pair.now;
                    assert!(pair.ends[B].expose(now, b, theirs, Span::new(LANDING, 12_000), pair.expose));
                }
                assert_eq!(pair.outcome(A, id), Outcome::Complete);
                assert_eq!(pair.sent(B, Op::RequestAnswer).len(), usize::from(pending));
                let asked =
                    pair.sent(A, Op::Data).iter().filter(|data| data.flags.has(Flags::SEND_STATE)).count();
                assert_eq!(asked, if state_every == 1 { 3 } else { 1 });
                if ends {
                    let now = pair.now;
                    pair.ends[A].disconnect(now, a);
                }
                pair.run(1_000_000_000_000);
                assert_eq!(pair.sent(A, Op::RequestDisconnect).len(), usize::from(ends));
                assert_eq!(
                    pair.ends[B].memory()[LANDING as usize..][..12_000],
                    pair.ends[A].memory()[..12_000]
                );
                pair.assert_clean();
            }
        }
    }
}

/// An end that has no persistent memory says so, whoever asks.
///
/// Proves: ST-6.1.4.1-3
#[test]
fn a_region_of_an_end_that_has_none() {
    for persistent in [false, true] {
        let a = Config::default();
        let mut b = Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a };
        b.attributes.persistent = persistent;
        let mut pair = Pair::new(a, b, 2 << 20);
        let (at_a, at_b) = pair.open();
        // A conforming end would not ask.
        let asked = pair.ends[A].request_region(pair.now, at_a, 8, DataChannel::ONE, Extras::default());
        assert_eq!(asked.is_some(), persistent);
        let _ = at_b;
        say(&mut pair, B, at_a, Body::RequestMemoryRegion { channel: 1, t_len: 4096, s_id: 0x77 });
        pair.run(4_000_000);
        let refused: Vec<(u32, bool)> = pair
            .sent(B, Op::RequestAnswer)
            .iter()
            .map(|answer| (answer.d_id, answer.flags.has(Flags::REJECT)))
            .collect();
        assert_eq!(refused, if persistent { vec![] } else { vec![(0x77, true)] });
        let told = pair.has(B, |event| matches!(event, Event::RegionRequested { t_len: 4096, .. }));
        assert_eq!(told, persistent, "the upper layer is not asked for what there is not");
    }
}

/// Enables a missing Block again, and no other.
#[test]
fn only_a_missing_block_is_enabled_again() {
    let mut pair = plain();
    let (a, b) = pair.open();
    pair.expose = ExposeOptions { window: 2, blocksize: 12 };
    pair.lose.push((A, Op::Data, 4));
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 8192), TransferOptions::default()).unwrap();
    pair.run(10_000_000);
    let grants = pair.sent(B, Op::ClearToSend);
    let theirs = grants[0].s_id;
    let now = pair.now;
    for (transfer, block, expected) in
        [(theirs, 0, true), (theirs, 1, false), (theirs, 2, false), (77, 0, false)]
    {
        assert_eq!(pair.ends[B].reissue(now, b, transfer, block), expected, "{transfer} {block}");
    }
    pair.settle();
    let again = pair.sent(B, Op::ClearToSend)[2];
    assert_eq!((again.b_num, pair.sent(B, Op::ClearToSend).len()), (0, 3));
    assert_ne!(again.b_id, grants[0].b_id, "a new Mx");
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    let now = pair.now;
    assert!(!pair.ends[B].reissue(now, b, theirs, 0), "it is over");
    pair.ends[A].disconnect(now, a);
    pair.run(1_000 * Config::default().op_timeout);
    let now = pair.now;
    assert!(!pair.ends[B].reissue(now, b, theirs, 0), "and so is the connection");
}

/// End_Ack counts for a Transfer that this end ends, and for no other.
#[test]
fn an_end_ack_that_nobody_asked_for() {
    let mut pair = plain();
    let (a, b) = pair.open();
    pair.expose = ExposeOptions { window: 1, blocksize: 12 };
    pair.lose.push((A, Op::Data, 4));
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 8192), TransferOptions::default()).unwrap();
    pair.run(10_000_000);
    let grant = pair.sent(B, Op::ClearToSend)[0];
    say(&mut pair, B, a, Body::EndAck { d_id: grant.s_id, s_id: grant.d_id });
    assert!(!pair.has(B, |event| matches!(event, Event::Finished { .. })));
    let now = pair.now;
    assert!(pair.ends[B].reissue(now, b, grant.s_id, 0), "it goes on");
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    assert_eq!(pair.outcome(B, grant.s_id), Outcome::Complete);
}

/// A Read that is ended before the other end has granted it is ended when it does: under the id that the
/// grant brings, and without a permission.
#[test]
fn a_read_that_is_ended_before_it_is_granted() {
    let mut pair = plain();
    let (a, b) = pair.open();
    pair.auto = false;
    let (span, extras) = ((Span::new(LANDING, 8192), false), Extras::default());
    let read = pair.ends[A].read(pair.now, a, span, DataChannel::ONE, pair.expose, extras).unwrap();
    let asked = pair.wait(B, |event| matches!(event, Event::ReadRequested { .. }));
    let Event::ReadRequested { id: theirs, .. } = asked else { unreachable!() };
    let now = pair.now;
    assert!(pair.ends[A].end(now, a, read));
    assert!(pair.ends[B].serve(now, b, theirs, Span::new(0, 8192), TransferOptions::default()));
    assert_eq!(pair.outcome(A, read), Outcome::Failed(Failure::Aborted));
    let granted = pair.sent(B, Op::RequestToSend)[0];
    let ends = pair.sent(A, Op::End);
    assert_eq!(ends.len(), 1);
    assert_eq!((ends[0].d_id, ends[0].s_id), (granted.s_id, read));
    assert_eq!(pair.outcome(B, theirs), Outcome::Failed(Failure::EndedByPeer));
    assert!(pair.sent(A, Op::ClearToSend).is_empty() && pair.sent(B, Op::Data).is_empty());
    pair.assert_clean();
}

/// A Block that is enabled again before all its Data has left begins anew, at the new place.
#[test]
fn a_grant_that_overtakes_its_block() {
    let mut pair = plain();
    let (a, b) = pair.open();
    pair.auto = false;
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 4096), TransferOptions::default()).unwrap();
    pair.settle();
    let grant = |mx| Body::ClearToSend {
        blocksize: 12,
        mx,
        bufx: 0x100,
        offset: 0,
        f_offset: 0,
        b_num: 0,
        d_id: id,
        s_id: 77,
    };
    let peer = pair.ends[B].connection(b).unwrap();
    let (d_port, s_port, d_key) = (peer.remote().port, peer.local().port, peer.remote().key);
    let now = pair.now;
    for mx in [5, 6] {
        let mut header = Operation { d_port, s_port, d_key, interrupt: false, body: grant(mx) }.header();
        header.cksum = checksum::of_operation(&header, &[]);
        pair.ends[A].handle(now, (ula(B, 0), 0), &header.to_bytes());
        assert_eq!(pair.ends[A].check_invariants(), Ok(()));
        if mx == 5 {
            // One of four STUs leaves for the first place.
            let mut out = Vec::new();
            let first = pair.ends[A].poll_transmit(now, 0, crate::common::ALL, &mut out).unwrap();
            assert_eq!((first.header.b_id, first.header.param), (5, 0));
        }
    }
    pair.settle();
    let sent: Vec<(u16, u16)> = pair.sent(A, Op::Data).iter().map(|data| (data.b_id, data.param)).collect();
    assert_eq!(sent, [(6, 0), (6, 1), (6, 2), (6, 3)]);
    assert_eq!(pair.ends[A].check_invariants(), Ok(()));
}

/// A Get whose first STU was empty begins again with the next STU 0; one that has got octets does not.
#[test]
fn the_first_stu_of_a_get_comes_twice() {
    for empty in [true, false] {
        let mut pair = plain();
        let (a, _) = pair.open();
        let id = region(&mut pair, a, 4096);
        pair.lose.push((B, Op::Data, 2));
        let get =
            pair.ends[A].get(pair.now, a, (id, 0), Span::new(LANDING, 2048), Extras::default()).unwrap();
        pair.run(4_000_000);
        let data = pair.sent(B, Op::Data);
        assert_eq!(data.len(), 2);
        let octets = pair.ends[B].memory()[..2048].to_vec();
        let now = pair.now;
        let first = if empty { &octets[..0] } else { &octets[..1024] };
        for (number, payload) in [(0, first), (0, &octets[..1024]), (1, &octets[1024..])] {
            let header = Header { cksum: 0, ..data[number] };
            pair.ends[A].handle(now, (ula(B, 0), 0), &[&header.to_bytes()[..], payload].concat());
        }
        pair.settle();
        let whole = Event::Finished { id: get, outcome: Outcome::Complete, bytes: 2048 };
        assert!(pair.has(A, |event| *event == whole), "at once: {:?}", pair.events[A]);
        assert_eq!(pair.ends[A].memory()[LANDING as usize..][..2048], octets);
    }
}

/// A Put of more Data than a Block can number, with the one that says that it is all, is not begun.
#[test]
fn the_longest_put() {
    let a = Config { cut_stu: 8, ..Config::default() };
    let b = Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a };
    let mut pair = Pair::new(a, b, 17 << 20);
    let (a, _) = pair.open();
    let id = region(&mut pair, a, 17 << 20);
    let longest = 65_535 * 256;
    for (offset, bytes, possible) in [(0, longest + 1, false), (0, longest, true), (1, longest, false)] {
        let put =
            pair.ends[A].put(pair.now, a, (id, offset), Span::new(0, bytes), TransferOptions::default());
        assert_eq!(put.is_some(), possible, "{bytes} octets from {offset}");
    }
}

/// Proves: ST-3.2-2
#[test]
fn the_end_of_an_unlimited_transfer_may_be_known_late() {
    let mut pair = plain();
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 4, blocksize: 12 };
    let options = TransferOptions { unlimited: true, ..TransferOptions::default() };
    let id = pair.ends[A].write(pair.now, a, Span::new(0, crate::common::RING), options).unwrap();
    assert!(pair.ends[A].supply(pair.now, a, id, 8192, false));
    pair.run(3 * Config::default().op_timeout);
    assert_eq!(pair.sent(A, Op::Data).len(), 8);
    assert!(pair.sent(A, Op::RequestState).is_empty(), "nothing conditional is said before its time");
    assert!(pair.ends[A].supply(pair.now, a, id, 8192, true));
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    assert_eq!(pair.sent(A, Op::RequestState).len(), 1, "that the last Block was the last");
    pair.assert_clean();
}

/// Proves: ST-7.1-1
#[test]
fn a_grant_for_a_confirmed_block_is_late() {
    let (mut pair, _, _, grants) = three_blocks(true, 1);
    let b = pair.ends[B].connections().next().unwrap().id();
    again(&mut pair, &grants[0], 0..4, Flags::NONE);
    pair.run(3_000_000);
    assert!(pair.has(A, |event| matches!(event, Event::Progress { blocks: 1, .. })));
    let before = pair.sent(A, Op::Data).len();
    let Header { b_id: mx, bufx, offset, d_id, s_id, .. } = grants[0];
    let body = Body::ClearToSend { blocksize: 12, mx, bufx, offset, f_offset: 0, b_num: 0, d_id, s_id };
    say(&mut pair, A, b, body);
    pair.run(3_000_000);
    assert_eq!(pair.sent(A, Op::Data).len(), before);
    pair.assert_clean();
}
