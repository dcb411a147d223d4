//! Counting, numbering, guards and striping.

use crate::common::{A, B, LANDING, Pair};
use scheduled_transfer::errors::Logged;
use scheduled_transfer::ids::{Ids, KEY_QUARANTINE, Keys, MemoryIndices};
use scheduled_transfer::memory::{Memory, Pattern};
use scheduled_transfer::slots::{Class, Gate, UNCOUNTED};
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::wire::{Attributes, Flags, Function, Header, Op};
use scheduled_transfer::{Config, Event, ExposeOptions, Extras, Outcome, Span, TransferOptions};
use std::collections::BTreeSet;

fn pair(change: impl Fn(&mut Config)) -> Pair {
    let mut a = Config::default();
    change(&mut a);
    Pair::new(a, Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a }, 2 << 20)
}

/// Proves: ST-5.2.5-4, ST-5.2.5-5, ST-5.2.5-6, ST-5.2.5-7, ST-5.2.5-9, ST-5.2.5-10, ST-5.2.5-11, ST-5.2.5-12
#[test]
fn the_view_of_slots() {
    let mut gate = Gate::new(64);
    let send = |gate: &mut Gate, class, times| (0..times).for_each(|_| gate.send(class, 0, 0, None));
    send(&mut gate, Class::Ordinary, 11);
    send(&mut gate, Class::Free, 5);
    send(&mut gate, Class::Reserve, 1);
    gate.ask(0x70, 0, 0, None, false);
    assert_eq!(gate.view(), 52);
    let mut gate = Gate::new(64);
    send(&mut gate, Class::Ordinary, 1);
    gate.ask(0x76, 0, 0, None, false);
    send(&mut gate, Class::Ordinary, 10);
    send(&mut gate, Class::Free, 5);
    send(&mut gate, Class::Ordinary, 1);
    gate.ask(0x77, 0, 0, None, false);
    send(&mut gate, Class::Ordinary, 4);
    assert_eq!(gate.view(), 48);
    assert!(gate.answer(0x77, 60));
    assert_eq!(gate.view(), 56);
    assert!(gate.answer(0x76, 3), "an older question was asked");
    assert_eq!(gate.view(), 56, "but changes nothing");
    assert!(!gate.answer(0x77, 1), "no question is answered twice");
    gate.ask(0x78, 0, 0, None, false);
    gate.answer(0x78, UNCOUNTED);
    assert_eq!(gate.view(), 56);
    send(&mut gate, Class::Ordinary, 55);
    let allowed = |gate: &Gate| {
        [Class::Response, Class::Reserve, Class::Ordinary, Class::Free].map(|class| gate.allows(class, false))
    };
    assert_eq!((gate.view(), allowed(&gate)), (1, [true, true, false, true]));
    send(&mut gate, Class::Reserve, 1);
    assert_eq!((gate.view(), allowed(&gate)), (0, [true, false, false, true]));
    assert!(gate.allows(Class::Reserve, true), "a repetition");
    let free = Gate::new(UNCOUNTED);
    assert_eq!(allowed(&free), [true; 4]);
}

/// What may arrive after a question lowers its answer: sends of other channels shortly before it, and of its
/// own where the link reorders.
#[test]
fn a_question_that_may_overtake() {
    for (reorders, late, view) in [(false, 0, 60 - 3), (true, 0, 60 - 4), (false, 11, 60), (true, 11, 60)] {
        let mut gate = Gate::new(64);
        for channel in [1, 0, 1, 1, 0] {
            gate.send(Class::Ordinary, 0, channel, Some(10));
        }
        gate.ask(1, late, 0, Some(10), reorders);
        assert!(gate.answer(1, 60));
        assert_eq!(gate.view(), view, "reorders {reorders}, {late} later");
    }
}

/// What is known to have arrived is not under way, and an answer takes none of the Slots that are reported:
/// however many questions an Op_timeout holds, with 4 Slots each brings 3. Else a view that has come to an
/// end never recovers.
///
/// Proves: ST-5.2.5-9, ST-5.2.5-10
#[test]
fn what_has_arrived_is_not_under_way() {
    let window = Some(1000);
    let mut gate = Gate::new(4);
    gate.send(Class::Ordinary, 0, 0, window);
    gate.send(Class::Ordinary, 0, 0, window);
    for sync in 0..50 {
        let now = u64::from(sync) * 10;
        gate.send(Class::Reserve, now, 0, window);
        gate.ask(sync, now, 0, window, true);
        // Its peer asks as well.
        gate.send(Class::Response, now, 0, window);
        assert!(gate.answer(sync, 3));
        // Two that nothing is known of, and the answer after the question.
        assert_eq!(gate.view(), 0, "{now}");
    }
    gate.send(Class::Reserve, 1001, 0, window);
    gate.ask(99, 1001, 0, window, true);
    assert!(gate.answer(99, 3));
    assert_eq!(gate.view(), 3, "an Op_timeout later they have arrived, and all questions were answered");
    gate.send(Class::Reserve, 1002, 0, window);
    gate.ask(100, 1002, 0, window, true);
    gate.send(Class::Reserve, 1003, 0, window);
    gate.ask(101, 1003, 0, window, true);
    assert!(gate.answer(101, 3));
    assert_eq!(gate.view(), 2, "the question before may come after this one");
}

/// A question is worth asking from the first instant on at which its answer brings the Slots that are needed,
/// if all are free at the other end; by hand, asking at every instant.
///
/// Proves: ST-5.2.5-10
#[test]
fn questions_that_can_bring_nothing_are_not_worth_asking() {
    for (slots, sent) in [(2, 1), (3, 2), (4, 1), (4, 3), (6, 4), (6, 6), (UNCOUNTED, 3)] {
        for reorders in [false, true] {
            for window in [None, Some(0), Some(7), Some(20)] {
                let mut gate = Gate::new(slots);
                (0..sent).for_each(|n| gate.send(Class::Ordinary, 3 * n, (n % 3) as u8, window));
                for need in [1, 2] {
                    let begun = 3 * (sent - 1);
                    let brings = |&now: &u64| {
                        let mut gate = gate.clone();
                        gate.send(Class::Reserve, now, 0, window);
                        gate.ask(1, now, 0, window, reorders);
                        assert!(gate.answer(1, slots - 1));
                        gate.view() >= need
                    };
                    // Of two Slots one is the question's: nothing will do, so it goes on as it did.
                    let law = if slots > need { (begun..).find(brings) } else { Some(begun) };
                    let found = gate.worth_asking_at(need, begun, window, reorders);
                    assert_eq!(Some(found), law, "{need} of {slots}, {sent} sent, {reorders} {window:?}");
                }
            }
        }
    }
}

/// A pattern's octets are those of their addresses.
#[test]
fn a_pattern_is_read_where_it_is_asked_for() {
    for shift in [0, 12_345] {
        let memory = Pattern::new(1 << 40, shift);
        for address in [0u64, 1, 1000, (1 << 40) - 64] {
            let mut octets = vec![7];
            memory.read(address, 64, &mut octets);
            let expected: Vec<u8> = (address..address + 64).map(|at| memory.octet(at)).collect();
            assert_eq!(octets[1..], expected, "{address}");
            assert!(expected.iter().collect::<BTreeSet<_>>().len() > 8, "they differ");
            let mut copy = memory.clone();
            copy.write(address, &expected);
            assert_eq!((copy.stored, copy.wrong), (64, 0));
        }
    }
}

/// Proves: ST-6.2.1-2, ST-6.2.1-3, ST-6.2.1-4
#[test]
fn ids_increase_and_leave_out_what_is_reserved() {
    let mut ids = Ids::new(0xFFFF_FFFC);
    let next: Vec<u32> = (0..5).map(|_| ids.assign(|id| id == 2)).collect();
    assert_eq!(next, [0xFFFF_FFFC, 0xFFFF_FFFD, 0xFFFF_FFFE, 1, 3]);
    let known = [0xFFFF_FFFB, 0xFFFF_FFFC, 0xFFFF_FFFF, 0, 1, 3, 4].map(|id| ids.was_issued(id));
    assert_eq!(known, [false, true, false, false, true, true, false]);
    let mut indices = MemoryIndices::default();
    assert_eq!([indices.assign(0), indices.assign(0)], [Some(1), Some(2)]);
    indices.retire(1, 10);
    for mx in 3..=u16::MAX {
        assert_eq!(indices.assign(9), Some(mx));
    }
    assert_eq!(indices.assign(9), None);
    assert_eq!(indices.assign(10), Some(1));
}

/// Proves: ST-5.2.2-2, ST-5.2.2-5, ST-9.2-2
#[test]
fn a_key_rests_for_ten_minutes() {
    let mut keys = Keys::new(u32::MAX);
    assert_eq!([keys.assign(0), keys.assign(0)], [u32::MAX, 1]);
    keys.release(u32::MAX, 5);
    assert!(keys.is_blocked(u32::MAX));
    keys.assign(5 + KEY_QUARANTINE - 1);
    assert!(keys.is_blocked(u32::MAX));
    keys.assign(5 + KEY_QUARANTINE);
    assert!(!keys.is_blocked(u32::MAX) && keys.is_blocked(1));
    // A Key that rests is passed over, until its time has come.
    let mut keys = Keys::new(9);
    keys.release(9, 5);
    keys.release(10, 6);
    assert_eq!(keys.assign(4 + KEY_QUARANTINE), 11);
    let mut keys = Keys::new(9);
    keys.release(9, 5);
    keys.release(10, 6);
    assert_eq!([keys.assign(5 + KEY_QUARANTINE), keys.assign(5 + KEY_QUARANTINE)], [9, 11]);
}

/// Proves: ST-10.2-2, ST-10.2-6, ST-10.2-9, ST-10.2-10, ST-10.2-11, ST-10.2-12, ST-6.2.9-1, ST-10.2-14
#[test]
fn every_guarded_operation_is_sent_again() {
    let rows = [
        (A, Op::RequestToSend),
        (B, Op::ClearToSend),
        (B, Op::RequestStateResponse),
        (A, Op::RequestToReceive),
        (B, Op::RequestToSend),
        (A, Op::RequestMemoryRegion),
        (B, Op::MemoryRegionAvailable),
        (A, Op::Get),
    ];
    for (from, op) in rows {
        let mut pair = pair(|_| {});
        let (a, _) = pair.open();
        pair.lose.push((from, op, 2));
        let write = pair.ends[A].write(pair.now, a, Span::new(0, 3000), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, write), Outcome::Complete, "{op:?}");
        let (span, options, extras) =
            ((Span::new(LANDING, 3000), false), ExposeOptions::default(), Extras::default());
        let read = pair.ends[A].read(pair.now, a, span, DataChannel::ONE, options, extras).unwrap();
        assert_eq!(pair.outcome(A, read), Outcome::Complete, "{op:?}");
        let region = pair.ends[A].request_region(pair.now, a, 4096, DataChannel::ONE, extras).unwrap();
        pair.wait(A, |event| *event == Event::RegionReady { id: region });
        let get = pair.ends[A].get(pair.now, a, (region, 0), Span::new(LANDING, 4096), extras).unwrap();
        assert_eq!(pair.outcome(A, get), Outcome::Complete, "{op:?}");
        let to = LANDING as usize;
        assert_eq!(pair.ends[A].memory()[to..to + 4096], pair.ends[B].memory()[..4096]);
        let errors = pair.logged(A).into_iter().chain(pair.logged(B));
        let other: Vec<Logged> = errors.filter(|entry| *entry != Logged::Op_timeout_Occurance).collect();
        assert_eq!(other, [], "{op:?}");
        assert_eq!(pair.lose[0].2, 0, "{op:?} was lost twice");
        // What is said again is said unchanged; only a question for the state is a new one each time.
        let said = pair.sent(from, op);
        if op == Op::RequestStateResponse {
            let asked = pair.sent(A, Op::RequestState);
            let syncs: BTreeSet<u32> = asked.iter().map(|header| header.sync).collect();
            assert!(asked.len() >= 2 && syncs.len() == asked.len(), "each question has a Sync of its own");
            let rest = |header: &Header| Header { sync: 0, cksum: 0, ..*header };
            assert!(asked[..2].iter().all(|header| rest(header) == rest(&asked[0])));
        } else {
            let same: Vec<&Header> = said
                .iter()
                .filter(|header| (header.b_num, header.s_id) == (said[0].b_num, said[0].s_id))
                .collect();
            assert!(same.len() >= 3, "{op:?}");
            assert!(same.iter().all(|header| **header == said[0]), "{op:?}: {same:?}");
        }
    }
}

/// Proves: ST-B.1-1, ST-B.1-7, ST-B.2-1, ST-B.2-3, ST-B.3-1, ST-B.3-2, ST-B.4-1, ST-B.1-5
#[test]
fn striping_from_many_to_many() {
    for (source, target) in [(3, 1), (1, 3), (3, 3)] {
        let a = Config { interfaces: source, ..Config::default() };
        let b = Config { interfaces: target, first_port: 0x8000, first_key: 9, ..Config::default() };
        let striped = written(a, b);
        let said = |end: usize, op: Op| {
            let all = striped.trace.iter().zip(&striped.ways);
            let found = all.filter(move |((from, header), _)| *from == end && header.op == op as u8);
            found.map(|((_, header), way)| (*header, *way)).collect::<Vec<_>>()
        };
        let data = said(A, Op::Data);
        let grants = said(B, Op::ClearToSend);
        let used = |ways: &[(Header, (u8, u8))]| ways.iter().map(|(_, way)| way.0).collect::<BTreeSet<u8>>();
        // Blocks leave through any interface of the source, and are granted by each interface of the
        // destination.
        assert_eq!(used(&data), (0..source).collect(), "{source} to {target}");
        assert_eq!(used(&grants), (0..target).collect(), "{source} to {target}");
        for block in 0..300_000u32.div_ceil(4096) {
            let of = |rows: &[(Header, (u8, u8))]| {
                rows.iter()
                    .filter(|(header, _)| header.b_num == block)
                    .map(|(_, way)| *way)
                    .collect::<BTreeSet<_>>()
            };
            let (sent, granted) = (of(&data), of(&grants));
            assert_eq!(
                (sent.len(), granted.len()),
                (1, 1),
                "a Block goes one way, and is granted by one interface"
            );
            assert_eq!(
                sent.first().unwrap().1,
                granted.first().unwrap().0,
                "Data goes where its grant came from"
            );
        }
        // A Transfer is asked for where the connection was set up.
        assert!(said(A, Op::RequestToSend).iter().all(|(_, way)| way.1 == 0));
        // Blocks arrive intermingled where several interfaces send at a time.
        let order: Vec<u32> = data.iter().map(|(header, _)| header.b_num).collect();
        let changes = order.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let blocks = order.iter().collect::<BTreeSet<_>>().len();
        assert_eq!(
            changes >= blocks,
            source > 1,
            "{source} to {target}: {changes} changes in {blocks} Blocks"
        );
        // No header says anything of stripes: they are those of one link, each Block in its own order.
        let one = |config| Config { interfaces: 1, ..config };
        let plain = written(one(a), one(b));
        let headers = |pair: &Pair, end, op| {
            // Memory indices are handed out in the order of grants, and the Block that leaves last asks for
            // the state.
            let plain = |h: Header| Header {
                flags: h.flags.outside(Flags::SEND_STATE),
                sync: 0,
                b_id: if op == Op::RequestToSend { h.b_id } else { 0 },
                cksum: 0,
                ..h
            };
            let mut headers: Vec<_> = pair.sent(end, op).into_iter().map(plain).collect();
            headers.sort_by_key(|header| (header.b_num, header.param));
            headers
        };
        for (end, op) in [(A, Op::Data), (B, Op::ClearToSend), (A, Op::RequestToSend)] {
            let (found, expected) = (headers(&striped, end, op), headers(&plain, end, op));
            assert_eq!(found.len(), expected.len(), "{op:?}");
            let other = found.iter().zip(&expected).find(|(found, expected)| found != expected);
            assert_eq!(other, None, "{op:?}");
        }
    }
}

/// A Write of 300 000 octets in Blocks of 4 KiB, six at a time; its interfaces take turns.
fn written(a: Config, b: Config) -> Pair {
    let mut pair = Pair::new(a, b, 2 << 20);
    pair.in_turn = true;
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 6, blocksize: 12 };
    let id = pair.ends[A].write(pair.now, a, Span::new(0, 300_000), TransferOptions::default()).unwrap();
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    let to = LANDING as usize;
    assert_eq!(pair.ends[B].memory()[to..to + 300_000], pair.ends[A].memory()[..300_000]);
    pair.assert_clean();
    pair
}

/// Proves: ST-8.2-7, ST-8.2-8
#[test]
fn attributes_of_an_end() {
    for f in 0..8 {
        let (attributes, defined) = Attributes::parse(f);
        assert_eq!(defined, f & 3 != 2);
        assert_eq!(attributes.bits(), if defined { f } else { f & 4 });
        assert_eq!(attributes.little_endian, f & 4 != 0);
    }
    let mut pair = pair(|config| config.attributes.persistent = false);
    let (a, _) = pair.open();
    assert!(pair.ends[A].request_region(0, a, 8, DataChannel::ONE, Extras::default()).is_none());
    assert_eq!(Function::Decrement.apply(0), u64::MAX);
}

/// Proves: ST-8.3-1, ST-8.3.2-1, ST-8.3.2-5, ST-8.3.2-6
#[test]
fn checksums_on_the_way() {
    for (compute, trailers, segment_stus) in
        [(false, false, 0), (true, false, 0), (true, true, 0), (true, false, 2)]
    {
        let mut pair = pair(|config| {
            (config.compute, config.trailers, config.segment_stus) = (compute, trailers, segment_stus)
        });
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window: 2, blocksize: 12 };
        let id = pair.ends[A].write(pair.now, a, Span::new(1, 20_001), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete);
        for (_, header) in &pair.trace {
            let last = header.flags.has(scheduled_transfer::wire::Flags::LAST);
            if !compute {
                assert_eq!(header.cksum, 0, "{header}");
            } else if header.op != Op::Data as u8 || last {
                assert_ne!(header.cksum, 0, "{header}");
            }
        }
        pair.assert_clean();
    }
}

/// 4 MiB there and back over a lossy link.
#[test]
fn four_mebibytes_there_and_back() {
    let bytes = 4u64 << 20;
    let a = Config {
        op_timeout: 50_000_000,
        max_retry: 30,
        missing_timeout: Some(60_000_000),
        ..Config::default()
    };
    let mut pair = Pair::new(a, Config { first_port: 0x8000, first_key: 9, ..a }, 6 << 20);
    pair.tracing = false;
    pair.faults = crate::common::Faults { loss: 3, duplication: 3, reorder: 3 };
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 16, blocksize: 14 };
    let id = pair.ends[A].write(pair.now, a, Span::new(0, bytes), TransferOptions::default()).unwrap();
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    let (to, n) = (LANDING as usize, bytes as usize);
    assert_eq!(pair.ends[B].memory()[to..to + n], pair.ends[A].memory()[..n]);
    let (span, extras) = ((Span::new(LANDING, bytes), false), Extras::default());
    let id = pair.ends[A].read(pair.now, a, span, DataChannel::ONE, pair.expose, extras).unwrap();
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    assert_eq!(pair.ends[A].memory()[to..to + n], pair.ends[B].memory()[..n]);
}
