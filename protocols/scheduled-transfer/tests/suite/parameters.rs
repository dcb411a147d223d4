//! What the ends declare and keep to: sizes, Slots, channels, addresses (4, 5.2, 6.2, Annex A and B).

use crate::common::{A, ALL, B, Faults, LANDING, LATENCY, Pair, SERVICE, ula};
use scheduled_transfer::connection::State;
use scheduled_transfer::errors::Logged;
use scheduled_transfer::llp::Medium;
use scheduled_transfer::memory::BufferTable;
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::wire::{Body, Flags, Header, Op, Operation};
use scheduled_transfer::{
    Config, Event, ExposeOptions, Extras, Failure, Outcome, Span, TransferOptions, Ula, checksum, layout,
};
use std::collections::BTreeSet;

fn pair(change: impl Fn(&mut Config)) -> Pair {
    let mut a = Config::default();
    change(&mut a);
    Pair::new(a, Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a }, 2 << 20)
}

/// Proves: ST-3.2-1
#[test]
fn every_field_is_unsigned() {
    let (header, _) = Header::parse(&[0xFF; 40]).unwrap();
    assert_eq!((header.op, header.param, header.b_id, header.cksum), (31, u16::MAX, u16::MAX, u16::MAX));
    assert_eq!([header.bufx, header.offset, header.sync, header.b_num, header.d_id], [u32::MAX; 5]);
    let operation = Operation::parse(&Header { op: Op::RequestToReceive as u8, ..header }).unwrap();
    assert!(matches!(operation.body, Body::RequestToReceive { t_len: u64::MAX, .. }));
}

/// Proves: ST-5.2.3-1, ST-5.2.4-1, ST-5.2.4-3, ST-5.2.4-6, ST-6.3-2, ST-4.1-1, ST-8.2-22
#[test]
fn a_configuration_declares_what_is_legal() {
    let legal = |change: &dyn Fn(&mut Config)| {
        let mut config = Config { medium: Medium::Hippi6400, ..Config::default() };
        change(&mut config);
        config.validate().map_err(|invalid| invalid.field)
    };
    for bufsize in 0..=40 {
        let expected = if (8..=32).contains(&bufsize) { Ok(()) } else { Err("bufsize") };
        assert_eq!(legal(&|config| (config.bufsize, config.max_stu) = (bufsize, 8)), expected, "{bufsize}");
        // STUs have at most 2^31 octets and fit a buffer.
        let expected = if (8..=31).contains(&bufsize) { Ok(()) } else { Err("max_stu") };
        assert_eq!(legal(&|config| (config.bufsize, config.max_stu) = (32, bufsize)), expected, "{bufsize}");
    }
    assert_eq!(legal(&|config| (config.bufsize, config.max_stu) = (12, 13)), Err("max_stu"));
    for medium in Medium::ALL {
        let cap = medium.stu_exponent();
        let with = |max_stu| {
            legal(&|config| (config.medium, config.bufsize, config.max_stu) = (medium, 32, max_stu))
        };
        assert_eq!(with(cap), Ok(()), "{}", medium.name());
        assert_eq!(with(cap + 1), Err("max_stu"), "{}", medium.name());
    }
    for channels in [0, 0b0001, 0b1_0010] {
        assert_eq!(legal(&|config| config.data_channels = channels), Err("data_channels"));
    }
    let caps = [DataChannel::ONE, DataChannel::TWO, DataChannel::THREE].map(DataChannel::stu_exponent);
    assert_eq!(caps, [17, 17, 31]);
}

/// A device in between that takes short STUs only: the source cuts no longer ones, or the destination
/// declares no longer ones, and Max_Block is what so many STUs can be.
///
/// Proves: ST-A.1-8
#[test]
fn the_smallest_limit_on_the_way_counts() {
    for (cut_stu, max_stu) in [(31, 10), (9, 10), (31, 9), (8, 9), (9, 8)] {
        let a = Config { cut_stu, ..Config::default() };
        let b = Config { max_stu, first_port: 0x8000, first_key: 9, ..Config::default() };
        let mut pair = Pair::new(a, b, 2 << 20);
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window: 1, blocksize: 14 };
        let id = pair.ends[A].write(pair.now, a, Span::new(0, 65_536), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete);
        let stu = cut_stu.min(max_stu);
        assert_eq!(pair.sent(A, Op::Data).len(), 65_536 >> stu, "{cut_stu} {max_stu}");
        assert_eq!(u32::from(pair.sent(A, Op::RequestToSend)[0].b_id), 16 + stu, "65 536 STUs a Block");
        pair.assert_clean();
    }
}

/// Proves: ST-4.2-10, ST-5.1.1-7, ST-5.1.1-9, ST-5.1.1-10, ST-5.2.3-2, ST-5.2.4-2, ST-5.2.4-4, ST-8.2-15
#[test]
fn both_ends_keep_what_both_declared() {
    let mut a = Config { slots: 20, bufsize: 12, max_stu: 8, ..Config::default() };
    a.attributes.fetch_op = false;
    let mut b = Config { slots: 30, bufsize: 9, max_stu: 9, out_of_order: false, ..Config::default() };
    (b.first_port, b.first_key) = (0x8000, 0x5E6F_7081);
    b.attributes.little_endian = true;
    let mut pair = Pair::new(a, b, 2 << 20);
    let (at_a, at_b) = pair.open();
    let declared = |pair: &Pair| {
        let (a, b) = (pair.ends[A].connection(at_a).unwrap(), pair.ends[B].connection(at_b).unwrap());
        assert_eq!((a.local(), a.remote()), (b.remote(), b.local()));
        assert!(!a.out_of_order_agreed() && !b.out_of_order_agreed());
        [*a.local(), *b.local()]
    };
    let before = declared(&pair);
    let [of_a, of_b] = before;
    assert_eq!((of_a.slots, of_a.bufsize, of_a.max_stu, of_a.out_of_order), (20, 12, 8, true));
    assert_eq!((of_b.slots, of_b.bufsize, of_b.max_stu, of_b.out_of_order), (30, 9, 9, false));
    assert_eq!((of_a.attributes, of_b.attributes), (a.attributes, b.attributes));
    let flags = [pair.sent(A, Op::RequestConnection)[0], pair.sent(B, Op::ConnectionAnswer)[0]];
    assert_eq!(flags.map(|header| header.flags.has(Flags::OUT_OF_ORDER)), [true, false]);
    // Each direction is cut for its receiver.
    for (end, connection, other) in [(A, at_a, of_b), (B, at_b, of_a)] {
        let span = Span::new(0, 40_000);
        let id = pair.ends[end].write(pair.now, connection, span, TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(end, id), Outcome::Complete);
        let mut data = pair.sent(end, Op::Data);
        data.retain(|data| !data.flags.has(Flags::LAST));
        assert!(data.windows(2).filter(|two| two[0].b_num == two[1].b_num).all(|two| {
            let stu = (two[1].bufx - two[0].bufx) << other.bufsize;
            stu + two[1].offset - two[0].offset == 1 << other.max_stu
        }));
    }
    assert_eq!(declared(&pair), before);
    pair.assert_clean();
}

/// Proves: ST-5.2.6-1, ST-5.2.6-2
#[test]
fn a_connection_says_what_it_carries() {
    for (listens, asks, opens) in [(0, 0, true), (0x0800, 0x0800, true), (0x0800, 0x8180, false)] {
        let mut pair = pair(|_| {});
        let port = SERVICE + 1;
        pair.ends[B].listen(port, listens);
        let a = pair.ends[A].connect(0, (ula(B, 0), 0), (port, asks), Extras::default());
        pair.run(5_000_000);
        assert_eq!(pair.sent(A, Op::RequestConnection)[0].b_id, asks);
        assert_eq!(pair.ends[A].connection(a).unwrap().state() == State::Open, opens);
        assert_eq!(pair.has(B, |event| *event == Event::Incoming { port, ether_type: asks }), opens);
    }
}

/// Proves: ST-10.6.4-2
#[test]
fn an_answer_with_an_illegal_bufsize_is_taken_down() {
    let mut pair = pair(|_| {});
    pair.auto = false;
    let a = pair.ends[A].connect(0, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
    pair.run(3_000_000);
    let rc = pair.sent(A, Op::RequestConnection)[0];
    let body = Body::ConnectionAnswer {
        attributes: 3,
        out_of_order: true,
        reject: false,
        slots: 10,
        bufsize: 7,
        key: 0xABCD,
        max_stu: 8,
    };
    let mut header =
        Operation { d_port: rc.s_port, s_port: 0x8123, d_key: rc.offset, interrupt: false, body }.header();
    header.cksum = checksum::of_operation(&header, &[]);
    let now = pair.now;
    pair.ends[A].handle(now, (ula(B, 0), 0), &header.to_bytes());
    pair.settle();
    assert_eq!(pair.logged(A), [Logged::Illegal_Bufsize_Error]);
    let rd = pair.sent(A, Op::RequestDisconnect)[0];
    assert_eq!((rd.d_port, rd.d_key, rd.offset), (0x8123, 0xABCD, rc.offset));
    assert_eq!(pair.ends[A].connection(a).unwrap().state(), State::RdSent);
    assert!(!pair.has(A, |event| *event == Event::Opened));
}

/// Whether an operation takes a Slot of its receiver.
fn takes_a_slot(header: &Header) -> bool {
    let data = header.op == Op::Data as u8;
    let silent = header.flags.has(Flags::SILENT) && !header.flags.has(Flags::SEND_STATE);
    header.op != Op::RequestConnection as u8 && !(data && silent)
}

/// Without loss and repetition nobody is ever overrun: at every step, what a sender believes to be free and
/// what is on its way fit the receiver's free Slots (section 2.4 of the requirements, 2 and 3).
///
/// Proves: ST-5.2.5-1, ST-5.2.5-3, ST-4.2-8, ST-7.1-2, ST-5.2.5-4
#[test]
fn no_receiver_is_ever_overrun() {
    for (slots, silent, state_every, take) in
        [(4, false, 1, 1), (5, false, 0, 3), (8, true, 1, 0), (16, false, 2, 5), (4, true, 0, 0)]
    {
        let mut pair = pair(|config| config.slots = slots);
        let (a, b) = pair.open();
        pair.expose = ExposeOptions { window: 2, blocksize: 11 };
        let options = TransferOptions { silent, state_every, ..TransferOptions::default() };
        let mut ids = Vec::new();
        for (end, connection) in [(A, a), (B, b)] {
            for n in 0..3 {
                let span = Span::new(n * 9000, 9000);
                ids.push((end, pair.ends[end].write(pair.now, connection, span, options).unwrap()));
            }
        }
        let done = |pair: &Pair, (end, wanted): (usize, u32)| {
            pair.has(end, |event| {
                matches!(event, Event::Finished { id, outcome: Outcome::Complete, .. } if *id == wanted)
            })
        };
        let mut views = [slots; 2];
        let mut steps = 0;
        while !ids.iter().all(|&id| done(&pair, id)) {
            assert!(pair.step(u64::MAX), "{slots} Slots: nothing happens any more");
            steps += 1;
            assert!(steps < 100_000, "no end: {take}");
            for (end, connection, peer) in [(A, a, b), (B, b, a)] {
                let gate = pair.ends[end].connection(connection).unwrap().gate();
                let way = pair.in_flight(1 - end);
                // Answers may leave at view 0: who asks keeps a place for them.
                let answer = |h: &Header| h.op == Op::RequestStateResponse as u8 || h.op == Op::EndAck as u8;
                let counted = way.iter().filter(|h| takes_a_slot(h) && !answer(h)).count();
                let receiver = pair.ends[1 - end].connection(peer).unwrap();
                let free = u32::from(slots) - receiver.occupied_slots();
                assert!(
                    u32::from(gate.view()) + counted as u32 <= free,
                    "{} + {counted} > {free}",
                    gate.view()
                );
                if views[end] == 1 && gate.view() == 0 {
                    let last = pair.trace.iter().rfind(|(from, header)| *from == end && takes_a_slot(header));
                    let op = Op::parse(last.unwrap().1.op).unwrap();
                    let reserve =
                        matches!(op, Op::RequestState | Op::RequestStateResponse | Op::End | Op::EndAck);
                    assert!(reserve, "{op:?} took the reserve");
                }
                views[end] = gate.view();
            }
        }
        pair.assert_clean();
    }
}

/// Questions about Slots that are lost, or their answers, cost an Op_timeout each and no more: a destination
/// that grants 24 Blocks with 4 Slots goes on.
#[test]
fn lost_questions_about_slots_stop_nobody() {
    for lost in [(B, Op::RequestState), (A, Op::RequestStateResponse)] {
        for times in 1..=3 {
            let mut pair = pair(|config| config.slots = 4);
            let (a, _) = pair.open();
            pair.expose = ExposeOptions { window: 2, blocksize: 9 };
            pair.lose.push((lost.0, lost.1, times));
            let options = TransferOptions { max_block: 9, ..TransferOptions::default() };
            let id = pair.ends[A].write(pair.now, a, Span::new(0, 24 << 9), options).unwrap();
            let begun = pair.now;
            assert_eq!(pair.outcome(A, id), Outcome::Complete, "{lost:?} lost {times} times");
            let timeout = pair.ends[A].config().op_timeout;
            assert!(
                pair.now - begun < u64::from(times + 1) * timeout,
                "{lost:?} {times}: {}",
                pair.now - begun
            );
        }
    }
}

/// On a link that reorders, ends with few Slots get on, at the pace of round trips: what a Transfer waits for
/// shows that the request before has come. They asked each other for Slots without an end.
///
/// Proves: ST-5.2.5-3, ST-5.2.5-10, ST-5.2.5-16
#[test]
fn few_slots_on_a_link_that_reorders() {
    for slots in [4, 5, 8, 64] {
        for together in [1, 8, 32] {
            for reorder in [0, 100] {
                let mut pair = pair(|config| {
                    config.slots = slots;
                    config.ordered = false;
                    config.op_timeout = 10_000_000_000;
                });
                pair.faults.reorder = reorder;
                let (a, _) = pair.open();
                pair.expose = ExposeOptions { window: 8, blocksize: 10 };
                let begun = pair.now;
                let write = |pair: &mut Pair| {
                    let options = TransferOptions { max_block: 10, ..TransferOptions::default() };
                    pair.ends[A].write(pair.now, a, Span::new(0, 4 << 10), options).unwrap()
                };
                let ids: Vec<u32> = (0..together).map(|_| write(&mut pair)).collect();
                for id in ids {
                    assert_eq!(pair.outcome(A, id), Outcome::Complete, "{slots} Slots, {together} Writes");
                }
                let taken = pair.now - begun;
                let timeout = pair.ends[A].config().op_timeout;
                // The question for the state that overtakes its Data is asked again after an Op_timeout.
                let longest = if reorder == 0 { timeout / 2 } else { 10 * timeout };
                assert!(taken < longest, "{slots} Slots, {together} Writes: {taken}");
                pair.assert_clean();
            }
        }
    }
}

/// However many Blocks wait for Slots, each request is answered first, and what has no permission to leave is
/// not missing: nobody gives up while the other end answers.
///
/// Proves: ST-10.1-3, ST-10.2-10
#[test]
fn permissions_that_wait_for_slots_are_not_missing() {
    let timeout = 20 * LATENCY;
    let mut pair = pair(|config| {
        config.slots = 4;
        config.op_timeout = timeout;
        config.missing_timeout = Some(2 * timeout);
    });
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 0, blocksize: 8 };
    let begun = pair.now;
    let options = TransferOptions { max_block: 8, ..TransferOptions::default() };
    let write = |pair: &mut Pair| pair.ends[A].write(pair.now, a, Span::new(0, 64 << 8), options).unwrap();
    let ids: Vec<u32> = (0..8).map(|_| write(&mut pair)).collect();
    for id in ids {
        assert_eq!(pair.outcome(A, id), Outcome::Complete);
    }
    let taken = pair.now - begun;
    assert!(taken > 20 * timeout, "512 Clear_To_Send, two in a round trip: {taken}");
    assert_eq!(pair.sent(B, Op::ClearToSend).len(), 8 * 64, "none goes twice");
    pair.assert_clean();
}

/// Who waits for Slots of an end that answers no question gives up all the same, and enables no more: End is
/// all that leaves when there are Slots again.
///
/// Proves: ST-10.7.8-2
#[test]
fn permissions_for_an_end_that_is_gone() {
    let mut pair = pair(|config| {
        config.slots = 4;
        config.op_timeout = 20 * LATENCY;
        config.missing_timeout = Some(40 * LATENCY);
    });
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 0, blocksize: 8 };
    pair.lose.extend([(A, Op::Data, u32::MAX), (A, Op::RequestStateResponse, 30)]);
    let options = TransferOptions { max_block: 8, ..TransferOptions::default() };
    pair.ends[A].write(pair.now, a, Span::new(0, 64 << 8), options).unwrap();
    pair.wait(B, |event| matches!(event, Event::Finished { outcome: Outcome::Failed(Failure::Timeout), .. }));
    assert_eq!(pair.sent(B, Op::ClearToSend).len(), 2, "as many as there were Slots");
}

/// Proves: ST-5.2.5-8, ST-5.2.5-13, ST-5.2.5-18
#[test]
fn what_is_reported_of_slots() {
    // The operation that asks still occupies its own.
    for (slots, expected) in [(4, 3), (0xFFFE, 0xFFFD), (0xFFFF, 0xFFFF)] {
        let mut pair = pair(|config| config.slots = slots);
        let (a, _) = pair.open();
        assert_eq!(pair.sent(A, Op::RequestConnection)[0].param, slots);
        // One Block at a time, so that no other header waits to be taken.
        pair.expose = ExposeOptions { window: 1, blocksize: 16 };
        let options = TransferOptions { state_every: 1, ..TransferOptions::default() };
        let id = pair.ends[A].write(pair.now, a, Span::new(0, 200_000), options).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete);
        let reported = pair.sent(B, Op::RequestStateResponse);
        assert!(reported.len() == 4 && reported.iter().all(|rsr| rsr.param == expected));
        pair.assert_clean();
    }
}

/// Proves: ST-8.2-20
#[test]
fn the_channel_of_received_data_is_not_checked() {
    for d in 0..4 {
        let mut pair = pair(|_| {});
        let (a, _) = pair.open();
        pair.lose.push((A, Op::Data, 1));
        pair.ends[A].write(pair.now, a, Span::new(0, 100), TransferOptions::default()).unwrap();
        pair.run(5_000_000);
        let data = pair.sent(A, Op::Data)[0];
        let flags = Flags::from_bits(data.flags.bits() & !3 | d);
        let header = Header { flags, cksum: 0, ..data };
        let payload = pair.ends[A].memory()[..100].to_vec();
        let now = pair.now;
        pair.ends[B].handle(now, (ula(A, 0), 0), &[&header.to_bytes()[..], &payload].concat());
        pair.settle();
        assert!(pair.has(B, |event| matches!(event, Event::Finished { outcome: Outcome::Complete, .. })));
        pair.assert_clean();
    }
}

/// Proves: ST-6.2.5-4, ST-6.3-2
#[test]
fn max_block_follows_the_stu_that_the_source_cuts() {
    for (cut_stu, trailers, expected) in [(31, false, 26), (9, false, 25), (8, true, 23)] {
        let mut pair = pair(|config| (config.cut_stu, config.trailers) = (cut_stu, trailers));
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window: 1, blocksize: 40 };
        let id = pair.ends[A].write(pair.now, a, Span::new(0, 5000), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete);
        assert_eq!(pair.sent(A, Op::RequestToSend)[0].b_id, expected);
        assert_eq!(pair.sent(B, Op::ClearToSend)[0].param, expected, "as asked, but no more than Max_Block");
        let stus = pair.sent(A, Op::Data).len() as u64;
        assert_eq!(stus, 5000u64.div_ceil(1 << cut_stu.min(10)) + u64::from(trailers));
        pair.assert_clean();
    }
}

/// Proves: ST-6.2.12-2, ST-5.2.3-3, ST-4.2-12
#[test]
fn the_place_of_a_get_is_computed_with_the_servers_buffers() {
    let a = Config::default();
    let b = Config { bufsize: 9, max_stu: 9, first_port: 0x8000, first_key: 9, ..a };
    let mut pair = Pair::new(a, b, 2 << 20);
    let (a, _) = pair.open();
    let region = pair.ends[A].request_region(0, a, 10_000, DataChannel::ONE, Extras::default()).unwrap();
    pair.wait(A, |event| *event == Event::RegionReady { id: region });
    let mra = pair.sent(B, Op::MemoryRegionAvailable)[0];
    for offset in [0, 511, 512, 3000] {
        let before = pair.sent(A, Op::Get).len();
        let span = Span::new(LANDING + 7, 1500);
        let get = pair.ends[A].get(pair.now, a, (region, offset), span, Extras::default()).unwrap();
        assert_eq!(pair.outcome(A, get), Outcome::Complete);
        let asked = pair.sent(A, Op::Get)[before];
        let at = u64::from(mra.offset) + offset;
        assert_eq!((asked.bufx, asked.offset), (mra.bufx + (at >> 9) as u32, (at & 511) as u32));
        let to = LANDING as usize + 7;
        assert_eq!(pair.ends[A].memory()[to..to + 1500], pair.ends[B].memory()[offset as usize..][..1500]);
    }
    // The table from index to address.
    let mut table = BufferTable::new(9, 0x100);
    let first = table.expose(Span::new(0x1234, 2000)).unwrap();
    assert_eq!((first.bufx, first.offset), (0x100, 0x034));
    assert_eq!(table.address(first), Some(0x1234));
    assert_eq!(table.address(layout::Place { bufx: 0x103, offset: 5 }), Some(0x1200 + 3 * 512 + 5));
    assert_eq!(table.address(layout::Place { bufx: 0x105, offset: 0 }), None);
    assert_eq!(table.expose(Span::new(0, 1)).unwrap().bufx, 0x105, "consecutive");
}

/// Proves: ST-10-4
#[test]
fn names_of_the_log() {
    let entries = [
        (Logged::Cksum_Error, "Cksum_Error"),
        (
            Logged::Undefined_Opcode_Error { undefined_opcode_value: 25 },
            "Undefined_Opcode_Error { undefined_opcode_value: 25 }",
        ),
        (
            Logged::Unexpected_Opcode_Error { unexpected_opcode_value: 26 },
            "Unexpected_Opcode_Error { unexpected_opcode_value: 26 }",
        ),
        (Logged::Invalid_Key_Error, "Invalid_Key_Error"),
        (Logged::Invalid_Port_Error, "Invalid_Port_Error"),
        (Logged::Slots_Exceeded_Error, "Slots_Exceeded_Error"),
        (Logged::Unknown_EtherType_Error, "Unknown_EtherType_Error"),
        (Logged::Illegal_Bufsize_Error, "Illegal_Bufsize_Error"),
        (Logged::Illegal_STU_Size_Error, "Illegal_STU_Size_Error"),
        (Logged::Invalid_D_id_Error, "Invalid_D_id_Error"),
        (Logged::Invalid_Mx_Error, "Invalid_Mx_Error"),
        (Logged::Out_Of_Range_B_num_Error, "Out_Of_Range_B_num_Error"),
        (Logged::Out_Of_Range_Bufx_Error, "Out_Of_Range_Bufx_Error"),
        (Logged::Oversized_Offset_Error, "Oversized_Offset_Error"),
        (Logged::Out_Of_Order_STU_Error, "Out_Of_Order_STU_Error"),
        (Logged::Out_Of_Order_B_num, "Out_Of_Order_B_num"),
        (Logged::Illegal_Blocksize_Error, "Illegal_Blocksize_Error"),
        (Logged::Improper_Flag_Use_Error { flags: 5 }, "Improper_Flag_Use_Error { flags: 5 }"),
        (Logged::Op_timeout_Occurance, "Op_timeout_Occurance"),
        (Logged::Max_Retry_Occurance, "Max_Retry_Occurance"),
    ];
    for (entry, name) in entries {
        assert_eq!(format!("{entry:?}"), name);
    }
}

/// Proves: ST-10.1-1
#[test]
fn op_timeout_and_max_retry_are_the_systems() {
    for (op_timeout, max_retry) in [(10_000_000, 0), (3_000_000_000, 2)] {
        let mut pair = pair(|config| (config.op_timeout, config.max_retry) = (op_timeout, max_retry));
        pair.lose.push((A, Op::RequestConnection, u32::MAX));
        pair.ends[A].connect(0, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
        pair.wait(A, |event| *event == Event::Closed(Outcome::Failed(Failure::Timeout)));
        assert_eq!(pair.now, (u64::from(max_retry) + 1) * op_timeout);
        let port = pair.ends[A].connections().next().unwrap().local().port;
        let log = pair.ends[A].log(port).unwrap();
        assert_eq!(log.count(Logged::Op_timeout_Occurance), max_retry as usize + 1);
        let times: Vec<u64> = log.entries().iter().map(|row| row.0).collect();
        assert!(
            times.iter().zip(1..).all(|(&at, n): (_, u64)| at == op_timeout * n.min(max_retry as u64 + 1))
        );
    }
}

/// Proves: ST-A.1-6, ST-A.2-6, ST-A.3-5, ST-A.3-6, ST-4.1-1, ST-4.1-2, ST-4.1-3
#[test]
fn control_and_data_have_their_channels() {
    let mut pair = pair(|_| {});
    let (a, b) = pair.open();
    pair.expose = ExposeOptions { window: 8, blocksize: 12 };
    for (end, connection, channel) in [(A, a, DataChannel::TWO), (B, b, DataChannel::THREE)] {
        let options = TransferOptions { channel, state_every: 1, ..TransferOptions::default() };
        pair.ends[end].write(pair.now, connection, Span::new(0, 30_000), options).unwrap();
    }
    // Everything that waits comes out on the channel that is asked for, and on no other.
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    for _ in 0..40 {
        let now = pair.now;
        for end in [A, B] {
            for channel in 0..4 {
                if let Some(transmit) = pair.ends[end].poll_transmit(now, 0, 1 << channel, &mut out) {
                    let data = transmit.header.op == Op::Data as u8;
                    let expected = if data { transmit.header.flags.channel() } else { 0 };
                    assert_eq!((transmit.channel, channel), (expected, expected));
                    seen.insert((end, channel));
                    let octets = out.clone();
                    pair.inject(end, octets);
                }
            }
        }
        pair.deliver();
    }
    assert_eq!(seen, BTreeSet::from([(A, 0), (A, 2), (B, 0), (B, 3)]));
    // In one FIFO both share: Control gets between the Data of a Block, and its STUs stay in order.
    let mut pair = self::pair(|_| {});
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 1, blocksize: 16 };
    pair.ends[A].write(pair.now, a, Span::new(0, 8000), TransferOptions::default()).unwrap();
    let mut said = Vec::new();
    for _ in 0..3 {
        let now = pair.now;
        for end in [A, B] {
            while let Some(transmit) = pair.ends[end].poll_transmit(now, 0, ALL, &mut out) {
                let octets = out.clone();
                pair.inject(end, octets);
                said.push((end, transmit.header));
                if transmit.header.op == Op::Data as u8 && transmit.header.param == 2 {
                    assert!(
                        pair.ends[A].write(now, a, Span::new(0, 8), TransferOptions::default()).is_some()
                    );
                }
            }
        }
        pair.deliver();
    }
    said.retain(|row| row.0 == A);
    let ops: Vec<(u8, u16)> = said.iter().skip(1).map(|(_, h)| (h.op, h.param)).collect();
    let data = |n| (Op::Data as u8, n);
    let rts = (Op::RequestToSend as u8, 0);
    assert_eq!(ops[..9], [data(0), data(1), data(2), rts, data(3), data(4), data(5), data(6), data(7)]);
}

/// Proves: ST-A-1, ST-A.1-7, ST-B.1-6
#[test]
fn addresses_come_from_the_lower_layer() {
    let mut pair = pair(|_| {});
    let a = pair.ends[A].connect(0, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
    let mut out = Vec::new();
    let rc = pair.ends[A].poll_transmit(0, 0, ALL, &mut out).unwrap();
    assert_eq!(rc.to, ula(B, 0));
    let elsewhere = |n| Ula([2, 0, 0, 0, 0, n]);
    pair.ends[B].handle(0, (elsewhere(1), 0), &out);
    let (b, _) = pair.ends[B].poll_event().unwrap();
    assert!(pair.ends[B].accept(0, b, Extras::default()));
    let ca = pair.ends[B].poll_transmit(0, 0, ALL, &mut out).unwrap();
    assert_eq!(ca.to, elsewhere(1), "where the request came from");
    assert!(out.windows(6).all(|octets| octets != elsewhere(1).0), "and no octet of it in the header");
    pair.ends[A].handle(0, (elsewhere(7), 0), &out);
    pair.ends[A].write(0, a, Span::new(0, 8), TransferOptions::default()).unwrap();
    let rts = pair.ends[A].poll_transmit(0, 0, ALL, &mut out).unwrap();
    assert_eq!(rts.to, elsewhere(7));
    pair.ends[B].handle(0, (elsewhere(2), 0), &out);
    let offered = std::iter::from_fn(|| pair.ends[B].poll_event()).find_map(|(_, event)| match event {
        Event::WriteOffered { id, .. } => Some(id),
        _ => None,
    });
    let span = Span::new(LANDING, 8);
    assert!(pair.ends[B].expose(0, b, offered.unwrap(), span, ExposeOptions::default()));
    let cts = pair.ends[B].poll_transmit(0, 0, ALL, &mut out).unwrap();
    assert_eq!(cts.to, elsewhere(2), "where the operation came from");
}

/// Proves: ST-A.5-4, ST-A.5-5
#[test]
fn one_stu_a_block_where_the_medium_reorders() {
    for ordered in [true, false] {
        let mut pair = pair(|config| {
            (config.medium, config.ordered, config.max_stu) = (Medium::FibreChannel, ordered, 12)
        });
        let (a, _) = pair.open();
        if !ordered {
            pair.faults = Faults { reorder: 500, ..Faults::default() };
        }
        let id = pair.ends[A].write(pair.now, a, Span::new(0, 65_536), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete);
        assert_eq!(pair.ends[B].memory()[LANDING as usize..][..65_536], pair.ends[A].memory()[..65_536]);
        let one = pair.sent(A, Op::Data).iter().all(|data| data.param == 0 && data.flags.has(Flags::LAST));
        assert_eq!(one, !ordered);
        assert_eq!(pair.sent(B, Op::ClearToSend)[0].param, if ordered { 16 } else { 12 });
        pair.assert_clean();
    }
}

/// Proves: ST-B.1-2, ST-B.2-2
#[test]
fn striping_needs_agreement_and_grants() {
    for (agreed, window, expected) in [(true, 8, 3), (true, 2, 2), (false, 8, 1)] {
        let a = Config { interfaces: 3, ..Config::default() };
        let b = Config { out_of_order: agreed, first_port: 0x8000, first_key: 9, ..Config::default() };
        let mut pair = Pair::new(a, b, 2 << 20);
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window, blocksize: 12 };
        pair.ends[A].write(pair.now, a, Span::new(0, 100_000), TransferOptions::default()).unwrap();
        // Request_To_Send, Clear_To_Send; then take one operation from each interface.
        let mut out = Vec::new();
        let now = pair.now;
        assert!(pair.ends[A].poll_transmit(now, 0, ALL, &mut out).is_some());
        pair.ends[B].handle(now, (ula(A, 0), 0), &out);
        pair.deliver();
        let mut grants = Vec::new();
        while pair.ends[B].poll_transmit(now, 0, ALL, &mut out).is_some() {
            grants.push(out.clone());
        }
        assert_eq!(grants.len(), window as usize);
        grants.iter().for_each(|cts| pair.ends[A].handle(now, (ula(B, 0), 0), cts));
        let mut blocks = BTreeSet::new();
        for interface in 0..3 {
            for _ in 0..2 {
                if let Some(transmit) = pair.ends[A].poll_transmit(now, interface, ALL, &mut out) {
                    assert_eq!(transmit.interface, interface);
                    blocks.insert(transmit.header.b_num);
                }
            }
        }
        assert_eq!(blocks.len(), expected, "agreed {agreed}, {window} grants");
    }
}
