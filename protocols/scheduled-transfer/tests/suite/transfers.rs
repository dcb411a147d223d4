//! Two endpoints that move data, with and without faults.

use crate::common::{A, B, Faults, LANDING, Pair, RING, SERVICE, ula};
use scheduled_transfer::connection::State;
use scheduled_transfer::errors::Logged;
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::wire::{Body, Flags, Function, Op, Operation};
use scheduled_transfer::{Config, Event, ExposeOptions, Extras, Failure, Outcome, Span, TransferOptions};

const MEMORY: usize = 2 << 20;

fn pair() -> Pair {
    Pair::new(
        Config::default(),
        Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..Config::default() },
        MEMORY,
    )
}

fn config(change: impl Fn(&mut Config)) -> Pair {
    let mut a = Config::default();
    let mut b = Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a };
    change(&mut a);
    change(&mut b);
    Pair::new(a, b, MEMORY)
}

/// Proves: ST-5.1.1-1, ST-5.1.1-5, ST-5.1.1-6, ST-5.2.1-1, ST-5.2.1-2, ST-5.2.1-3, ST-5.2.1-5, ST-5.2.2-1
/// Proves: ST-5.2.2-3, ST-5.1.2-1, ST-5.1.2-4, ST-5.1.2-6
#[test]
fn set_up_and_teardown() {
    let mut pair = pair();
    let (a, b) = pair.open();
    let rc = pair.sent(A, Op::RequestConnection)[0];
    let ca = pair.sent(B, Op::ConnectionAnswer)[0];
    assert_eq!((rc.d_port, rc.d_key, rc.b_num, rc.d_id, rc.s_id), (SERVICE, 0, 0, 0, 0));
    assert_eq!((ca.d_port, ca.d_key, ca.s_port), (rc.s_port, rc.offset, 0x8000));
    pair.ends[A].disconnect(pair.now, a);
    pair.wait(A, |event| matches!(event, Event::Closed(Outcome::Complete)));
    pair.wait(B, |event| matches!(event, Event::Closed(Outcome::Complete)));
    let rd = pair.sent(A, Op::RequestDisconnect)[0];
    assert_eq!((rd.d_port, rd.d_key, rd.offset), (ca.s_port, ca.offset, rc.offset));
    pair.run(20 * Config::default().op_timeout);
    assert!(pair.ends[A].connection(a).is_none() && pair.ends[B].connection(b).is_none());
    pair.assert_clean();
}

/// Proves: ST-6.1.2-1, ST-6.1.2-3, ST-6.1.2-7, ST-6.1.2-9, ST-6.1.2-11, ST-6.1.2-12, ST-6.2.7-1, ST-6.2.7-3
/// Proves: ST-6.2.8-5, ST-6.2.8-6, ST-4.2-1, ST-8.2-16, ST-6.2.2-1, ST-6.2.2-2
#[test]
fn a_write_lands_octet_by_octet() {
    for (address, bytes, blocksize) in [(0, 1, 0), (7, 100_000, 12), (0x1234, 65_536, 16), (0, 300_000, 10)] {
        let mut pair = pair();
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window: 3, blocksize };
        let before = pair.ends[B].memory().clone();
        let id =
            pair.ends[A].write(pair.now, a, Span::new(address, bytes), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete);
        let (source, landed) = (pair.ends[A].memory(), pair.ends[B].memory());
        let (from, to, n) = (address as usize, LANDING as usize, bytes as usize);
        assert_eq!(landed[to..to + n], source[from..from + n]);
        // Guard octets around them.
        assert_eq!(landed[..to], before[..to]);
        assert_eq!(landed[to + n..], before[to + n..]);
        for cts in pair.sent(B, Op::ClearToSend) {
            let data: Vec<_> =
                pair.sent(A, Op::Data).into_iter().filter(|data| data.b_num == cts.b_num).collect();
            assert_eq!((data[0].bufx, data[0].offset, data[0].b_id), (cts.bufx, cts.offset, cts.b_id));
            assert!(data.iter().enumerate().all(|(at, data)| usize::from(data.param) == at));
            let lasts = data.iter().filter(|data| data.flags.has(Flags::LAST)).count();
            assert!(lasts == 1 && data[data.len() - 1].flags.has(Flags::LAST));
            assert_eq!(cts.sync, pair.sent(B, Op::ClearToSend)[0].offset);
        }
        pair.assert_clean();
    }
}

/// Proves: ST-6.1.3-1, ST-6.1.3-3, ST-6.1.3-4, ST-6.1.3-6, ST-6.1.3-10, ST-6.1.3-11
#[test]
fn a_read_lands_octet_by_octet() {
    let mut pair = pair();
    let (a, _) = pair.open();
    let options = ExposeOptions { window: 2, blocksize: 13 };
    let span = (Span::new(LANDING + 5, 77_777), false);
    let id = pair.ends[A].read(pair.now, a, span, DataChannel::THREE, options, Extras::default()).unwrap();
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    let to = LANDING as usize + 5;
    assert_eq!(pair.ends[A].memory()[to..to + 77_777], pair.ends[B].memory()[..77_777]);
    pair.run(LANDING);
    assert!(pair.sent(B, Op::Data).iter().all(|data| data.s_id == 0 && data.flags.channel() == 3));
    assert_eq!(pair.sent(A, Op::RequestStateResponse).len(), 1);
    pair.assert_clean();
}

/// Who takes the connection down at once when its Read or FetchOp is over answers the Data before: the other
/// end hears that all is well, and nothing comes again.
///
/// Proves: ST-6.1.3-10, ST-6.1.4.4-11
#[test]
fn who_leaves_at_once_answers_what_has_arrived() {
    let answered_and_left = |mut pair: Pair, answer: Op| {
        pair.wait(A, |event| matches!(event, Event::Closed(Outcome::Complete)));
        pair.run(20 * Config::default().op_timeout);
        let sent: Vec<u8> = pair.trace.iter().filter(|(end, _)| *end == A).map(|(_, sent)| sent.op).collect();
        let down = sent.iter().position(|&op| op == Op::RequestDisconnect as u8).expect("it leaves");
        assert_eq!(sent[down - 1], answer as u8);
        assert!(pair.logged(B).is_empty() && pair.logged(A).is_empty());
        pair
    };
    let mut pair = pair();
    let (a, _) = pair.open();
    pair.leaves = 1;
    let span = (Span::new(LANDING, 9_000), false);
    let options = ExposeOptions { window: 2, blocksize: 13 };
    pair.ends[A].read(pair.now, a, span, DataChannel::THREE, options, Extras::default()).unwrap();
    let pair = answered_and_left(pair, Op::RequestStateResponse);
    let served = |event: &Event| matches!(event, Event::Finished { outcome: Outcome::Complete, .. });
    assert!(pair.has(B, served), "{:?}", pair.events[B]);

    let mut pair = config(|_| {});
    let (a, id) = region(&mut pair, 4096);
    pair.leaves = 1;
    let increment = Function::Increment;
    pair.ends[A].fetch_op(pair.now, a, (id, 64), increment, LANDING, Extras::default()).unwrap();
    answered_and_left(pair, Op::Get);
}

/// Ends with so few Slots that what is owed takes the last one, or more.
fn with_slots(slots: u16) -> Pair {
    config(|own| own.slots = slots)
}

/// A, which leaves as soon as it has what it asked for, is gone without a timeout, and B with it; what A
/// sent.
fn leaves_cleanly(pair: &mut Pair) -> Vec<Body> {
    let closed = |event: &Event| matches!(event, Event::Closed(_));
    pair.wait(A, closed);
    pair.wait(B, closed);
    assert!(pair.has(A, |event| *event == Event::Closed(Outcome::Complete)));
    assert!(pair.has(B, |event| *event == Event::Closed(Outcome::Complete)));
    pair.run(20 * Config::default().op_timeout);
    assert_eq!(pair.sent(A, Op::RequestDisconnect).len(), 1);
    pair.assert_clean();
    let sent = pair.trace.iter().filter(|(end, _)| *end == A);
    sent.map(|(_, sent)| Operation::parse(sent).expect("what is sent is right").body).collect()
}

/// The answer to the last Data of a Read may take the last Slot: 1 for the request, one for each Block and
/// one for that answer come to 2 more than there are Blocks, so of S Slots none is left where S divides that,
/// but for what questions bring. Request_Disconnect leaves all the same, whatever is left.
///
/// Proves: ST-5.1.2-4, ST-5.2.5-4
#[test]
fn who_leaves_with_the_last_slot_leaves_all_the_same() {
    for slots in [4, 5, 6, 8, 16, 64] {
        for blocks in 1..70 {
            let mut pair = with_slots(slots);
            let (a, _) = pair.open();
            pair.leaves = 1;
            let span = (Span::new(LANDING, blocks * 1024), false);
            let options = ExposeOptions { window: 2, blocksize: 10 };
            pair.ends[A].read(pair.now, a, span, DataChannel::ONE, options, Extras::default()).unwrap();
            let sent = leaves_cleanly(&mut pair);
            let answered = sent.iter().any(|body| matches!(body, Body::RequestStateResponse { .. }));
            assert!(answered, "{slots} Slots, {blocks} Blocks");
        }
    }
}

/// What completes a FetchOp leaves one Slot. Where there are too few for all, who leaves asks for more,
/// completes each, and goes then; where nobody answers, after 1 + Max_Retry questions.
///
/// Proves: ST-6.1.4.4-11, ST-5.2.5-4
#[test]
fn who_leaves_with_few_slots_completes_its_fetch_ops() {
    let fetches = |slots: u16, count: usize| {
        let mut pair = with_slots(slots);
        let (a, id) = region(&mut pair, 4096);
        pair.leaves = count;
        for n in 0..count as u64 {
            let (word, to) = ((id, 8 * n), LANDING + 8 * n);
            pair.ends[A].fetch_op(pair.now, a, word, Function::Increment, to, Extras::default()).unwrap();
        }
        pair
    };
    for slots in [4, 5, 6, 8, 64] {
        for count in 1..9 {
            let sent = leaves_cleanly(&mut fetches(slots, count));
            let down = sent.iter().position(|body| matches!(body, Body::RequestDisconnect { .. }));
            let before = &sent[..down.expect("it leaves")];
            let completed = before.iter().filter(|body| matches!(body, Body::FetchOpComplete { .. }));
            assert_eq!(completed.count(), count, "{slots} Slots");
        }
    }
    let mut pair = fetches(4, 2);
    pair.wait(A, |event| matches!(event, Event::Fetched { .. }));
    pair.lose = vec![(B, Op::RequestStateResponse, u32::MAX)];
    pair.wait(A, |event| *event == Event::Closed(Outcome::Complete));
    assert!(pair.now < 6 * Config::default().op_timeout, "{}", pair.now);
}

/// Wherever a Write is ended that asks about its Blocks, while another one goes the other way, End leaves as
/// soon as the answers on their way have brought Slots, once, and is answered: nobody waits for a timeout.
///
/// Proves: ST-5.2.5-10
#[test]
fn answers_about_what_is_over_bring_slots_all_the_same() {
    for (slots, window, state_every) in [(4, 0, 1), (4, 0, 2), (4, 3, 1), (5, 0, 1), (64, 0, 1)] {
        for ended in 1..100 {
            let mut pair = with_slots(slots);
            let (a, b) = pair.open();
            pair.expose = ExposeOptions { window, blocksize: 10 };
            let options = TransferOptions { state_every, ..TransferOptions::default() };
            let mut write = |end: usize, connection| {
                pair.ends[end].write(pair.now, connection, Span::new(0, 12 * 1024), options).unwrap()
            };
            let id = write(A, a);
            write(A, a);
            write(B, b);
            let going = (0..ended).all(|_| pair.step(u64::MAX));
            if !going || !pair.ends[A].end(pair.now, a, id) {
                break;
            }
            pair.outcome(A, id);
            pair.run(4 * Config::default().op_timeout);
            let case = format!("{slots} Slots, window {window}, each {state_every}, {ended} steps");
            assert!(pair.sent(A, Op::End).len() <= 1, "{case}");
            assert!(!pair.logged(A).contains(&Logged::Op_timeout_Occurance), "{case}");
        }
    }
}

/// Wherever the destination ends a Write that asks about its Blocks, while another one goes the same way, the
/// other one is done without a pause of an Op_timeout: what Data of the first has asked since is answered by
/// nobody, and its source does not wait for that.
///
/// Proves: ST-5.2.5-16, ST-6.1.1.4-5
#[test]
fn what_data_asked_of_a_transfer_that_the_other_end_ends_is_not_waited_for() {
    for (slots, window, state_every) in [(4, 0, 1), (4, 0, 0), (4, 3, 1), (5, 0, 1), (6, 2, 1), (64, 0, 1)] {
        for ended in 1..100 {
            let mut pair = with_slots(slots);
            let (a, b) = pair.open();
            pair.expose = ExposeOptions { window, blocksize: 10 };
            let options = TransferOptions { state_every, ..TransferOptions::default() };
            let mut write = || pair.ends[A].write(pair.now, a, Span::new(0, 12 * 1024), options).unwrap();
            let (first, second) = (write(), write());
            let going = (0..ended).all(|_| pair.step(u64::MAX));
            let offered = pair.events[B].iter().find_map(|(_, event)| match event {
                Event::WriteOffered { id, .. } => Some(*id),
                _ => None,
            });
            let Some(at_b) = offered else { continue };
            if !going || !pair.ends[B].end(pair.now, b, at_b) {
                break;
            }
            let begun = pair.now;
            let case = format!("{slots} Slots, window {window}, each {state_every}, {ended} steps");
            pair.outcome(A, first);
            assert_eq!(pair.outcome(A, second), Outcome::Complete, "{case}");
            assert!(pair.now - begun < Config::default().op_timeout, "{case}");
        }
    }
}

/// What is ended before its request has left is over at once: nobody knows of it who could answer. The peer
/// never hears of it, and what waits behind it goes on.
///
/// Proves: ST-6.1.1.4-9, ST-6.1.1.4-1
#[test]
fn what_is_ended_before_it_was_asked_for_is_over_at_once() {
    let span = Span::new(0, 8);
    for (op, count) in [(Op::RequestToSend, 4), (Op::RequestToReceive, 4), (Op::RequestMemoryRegion, 4)] {
        let mut pair = with_slots(4);
        let (a, _) = pair.open();
        pair.deliver();
        let (exposed, extras) = (ExposeOptions { window: 1, blocksize: 10 }, Extras::default());
        let mut ask = |n: u64| {
            let (end, now) = (&mut pair.ends[A], pair.now);
            match op {
                Op::RequestToSend => end.write(now, a, span, TransferOptions::default()).unwrap(),
                Op::RequestToReceive => {
                    let own = (Span::new(LANDING + 8 * n, 8), false);
                    end.read(now, a, own, DataChannel::ONE, exposed, extras).unwrap()
                }
                _ => end.request_region(now, a, 4096, DataChannel::ONE, extras).unwrap(),
            }
        };
        let ids: Vec<u32> = (0..count).map(&mut ask).collect();
        let now = pair.now;
        for &id in &ids {
            assert!(pair.ends[A].end(now, a, id), "{op:?}");
        }
        pair.settle();
        let failed = Outcome::Failed(Failure::Aborted);
        let told = |id: u32| pair.has(A, |event| *event == Event::Finished { id, outcome: failed, bytes: 0 });
        assert!(ids.iter().all(|id| told(*id)), "{op:?}");
        assert!(pair.sent(A, op).is_empty(), "{op:?}");
        pair.run(20 * Config::default().op_timeout);
        assert_eq!(pair.ends[A].connection(a).unwrap().live_sequences(), 0);
        pair.assert_clean();
    }
}

/// Request_Disconnect overtakes the Connection_Answer of an end that leaves at once: who asked for the
/// connection is told that it was open and is closed, and sends nothing but its answer, also when the other
/// one comes.
///
/// Proves: ST-5.1.2-9
#[test]
fn an_answer_that_comes_after_the_end_opens_nothing() {
    let mut pair = pair();
    let a = pair.ends[A].connect(pair.now, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
    pair.lose = vec![(B, Op::ConnectionAnswer, 1)];
    pair.wait(B, |event| *event == Event::Opened);
    let b = pair.events[B].iter().find(|(_, event)| *event == Event::Opened).unwrap().0;
    pair.ends[B].disconnect(pair.now, b);
    pair.wait(A, |event| *event == Event::Closed(Outcome::Complete));
    let late = pair.sent(B, Op::ConnectionAnswer)[0];
    pair.inject(B, late.to_bytes().to_vec());
    pair.wait(B, |event| *event == Event::Closed(Outcome::Complete));
    pair.run(20 * Config::default().op_timeout);
    let told: Vec<Event> = pair.events[A].iter().map(|(_, event)| *event).collect();
    assert_eq!(told, [Event::Opened, Event::Closed(Outcome::Complete)]);
    let sent: Vec<u8> = pair.trace.iter().filter(|(end, _)| *end == A).map(|(_, sent)| sent.op).collect();
    assert_eq!(sent, [Op::RequestConnection as u8, Op::DisconnectAnswer as u8]);
    assert!(pair.ends[A].connection(a).is_none() && pair.ends[B].connection(b).is_none());
    pair.assert_clean();
}

/// Proves: ST-4.2-7, ST-3.1-1
#[test]
fn many_transfers_at_once_in_both_directions() {
    let mut pair = pair();
    let (a, b) = pair.open();
    pair.auto = false;
    pair.expose = ExposeOptions { window: 2, blocksize: 12 };
    let mut ids = vec![];
    for n in 0..6u64 {
        for (end, connection) in [(A, a), (B, b)] {
            let span = Span::new(n * 30_000, 30_000);
            let id = pair.ends[end].write(pair.now, connection, span, TransferOptions::default()).unwrap();
            ids.push((end, id, n));
        }
    }
    let mut offered = [0, 0];
    for _ in 0..200_000 {
        pair.step(u64::MAX);
        for end in [A, B] {
            let offers: Vec<_> = pair.events[end]
                .iter()
                .filter_map(|&(connection, event)| match event {
                    Event::WriteOffered { id, t_len, .. } => Some((connection, id, t_len)),
                    _ => None,
                })
                .collect();
            for &(connection, id, t_len) in &offers[offered[end]..] {
                let at = LANDING + offered[end] as u64 * 30_000;
                assert!(pair.ends[end].expose(pair.now, connection, id, Span::new(at, t_len), pair.expose));
                offered[end] += 1;
            }
        }
        let complete = |event: &Event, id| match event {
            Event::Finished { id: found, outcome: Outcome::Complete, .. } => *found == id,
            _ => false,
        };
        if ids.iter().all(|&(end, id, _)| pair.has(end, |event| complete(event, id))) {
            break;
        }
    }
    assert_eq!(offered, [6, 6]);
    let (at, bytes) = (LANDING as usize, 180_000);
    assert_eq!(pair.ends[B].memory()[at..at + bytes], pair.ends[A].memory()[..bytes]);
    assert_eq!(pair.ends[A].memory()[at..at + bytes], pair.ends[B].memory()[..bytes]);
    pair.assert_clean();
}

/// Proves: ST-10.7.8-1, ST-10.1-3, ST-10.2-1
#[test]
fn transfers_survive_loss_repetition_and_reordering() {
    for seed in 1..=6 {
        let mut pair = config(|config| {
            config.max_retry = 30;
            config.op_timeout = 50_000_000;
            config.missing_timeout = Some(60_000_000);
            config.slots = 200;
            config.max_stu = 10;
        });
        pair.tracing = false;
        pair.seed(seed);
        pair.faults = Faults { loss: 20, duplication: 20, reorder: 50 };
        let (a, _) = pair.open();
        pair.expose = ExposeOptions { window: 4, blocksize: 12 };
        let bytes = 600_000;
        let id = pair.ends[A].write(pair.now, a, Span::new(3, bytes), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete, "seed {seed}");
        let to = LANDING as usize;
        assert_eq!(
            pair.ends[B].memory()[to..to + bytes as usize],
            pair.ends[A].memory()[3..3 + bytes as usize],
            "seed {seed}"
        );
        let span = (Span::new(LANDING, 300_000), false);
        let id =
            pair.ends[A].read(pair.now, a, span, DataChannel::ONE, pair.expose, Extras::default()).unwrap();
        assert_eq!(pair.outcome(A, id), Outcome::Complete, "seed {seed}");
        assert_eq!(pair.ends[A].memory()[to..to + 300_000], pair.ends[B].memory()[..300_000]);
    }
}

/// Proves: ST-6.2.3-2, ST-6.2.6-6
#[test]
fn an_unlimited_transfer_ends_with_end() {
    let mut pair = pair();
    let (a, _) = pair.open();
    pair.expose = ExposeOptions { window: 2, blocksize: 16 };
    let options = TransferOptions { unlimited: true, ..TransferOptions::default() };
    let id = pair.ends[A].write(pair.now, a, Span::new(0, RING), options).unwrap();
    pair.ends[A].supply(pair.now, a, id, 100_000, false);
    pair.run(1_000_000_000);
    pair.ends[A].supply(pair.now, a, id, 700_000, true);
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    let end = pair.sent(A, Op::End);
    assert_eq!(end.len(), 1);
    assert!(
        pair.has(B, |event| matches!(
            event,
            Event::Finished { outcome: Outcome::Complete, bytes: 700_000, .. }
        ))
    );
    // Octet n of the Transfer lies at n modulo the ring, at both ends.
    let at = LANDING as usize;
    assert_eq!(pair.ends[B].memory()[at..at + RING as usize], pair.ends[A].memory()[..RING as usize]);
    pair.assert_clean();
}

fn region(pair: &mut Pair, bytes: u64) -> (scheduled_transfer::ConnectionId, u32) {
    let (a, _) = pair.open();
    let id = pair.ends[A].request_region(pair.now, a, bytes, DataChannel::TWO, Extras::default()).unwrap();
    pair.wait(A, |event| *event == Event::RegionReady { id });
    (a, id)
}

/// Proves: ST-6.1.4-1, ST-6.1.4-2, ST-6.1.4-3, ST-6.1.4.1-2, ST-6.1.4.2-1, ST-6.1.4.2-2, ST-6.1.4.2-3
/// Proves: ST-6.1.4.2-4, ST-6.1.4.3-2, ST-6.1.4.3-4, ST-6.1.4.3-6, ST-6.1.4.3-8, ST-9.1-32
#[test]
fn put_and_get() {
    let mut pair = pair();
    let (a, id) = region(&mut pair, 200_000);
    for (put, offset, bytes) in [(0, 0, 10), (1, 65_530, 20_000), (2, 199_999, 1)] {
        let options = TransferOptions { opaque: 7, ..TransferOptions::default() };
        let found = pair.ends[A].put(pair.now, a, (id, offset), Span::new(500, bytes), options);
        assert_eq!(found, Some(put));
        pair.wait(A, |event| *event == Event::PutFinished { id, put, outcome: Outcome::Complete });
        let at = offset as usize;
        assert_eq!(
            pair.ends[B].memory()[at..at + bytes as usize],
            pair.ends[A].memory()[500..500 + bytes as usize]
        );
    }
    // What answers a Put: Slots, B_seq, Sync and Block of its last Data, and both ids.
    let lasts: Vec<_> =
        pair.sent(A, Op::Data).into_iter().filter(|data| data.flags.has(Flags::SEND_STATE)).collect();
    let answers = pair.sent(B, Op::RequestStateResponse);
    assert_eq!((lasts.len(), answers.len()), (3, 3));
    let theirs = pair.sent(B, Op::MemoryRegionAvailable)[0].s_id;
    for (put, (data, rsr)) in (0..).zip(lasts.iter().zip(&answers)) {
        let found = (rsr.param, rsr.offset, rsr.sync, rsr.b_num, rsr.d_id, rsr.s_id, rsr.b_id, rsr.bufx);
        assert_eq!(found, (63, put, data.sync, put, id, theirs, 0, 0));
        assert_eq!(rsr.flags, Flags::NONE);
    }
    assert!(
        pair.ends[A].put(pair.now, a, (id, 199_999), Span::new(0, 2), TransferOptions::default()).is_none()
    );
    let mut gets = vec![];
    for n in 0..4u64 {
        let span = Span::new(LANDING + 70_000 * n, 65_535);
        gets.push(pair.ends[A].get(pair.now, a, (id, 1000 * n + 3), span, Extras::default()).unwrap());
    }
    for (n, get) in gets.into_iter().enumerate() {
        assert_eq!(pair.outcome(A, get), Outcome::Complete);
        let (to, from) = (LANDING as usize + 70_000 * n, 1000 * n + 3);
        assert_eq!(pair.ends[A].memory()[to..to + 65_535], pair.ends[B].memory()[from..from + 65_535]);
    }
    assert!(pair.ends[A].end(pair.now, a, id));
    assert_eq!(pair.outcome(A, id), Outcome::Complete);
    pair.assert_clean();
}

/// The word that a FetchOp changes lies in the byte order of the end that has it, and its carry goes that
/// way; the other end is told the value, whatever its own order.
#[test]
fn a_fetch_op_knows_the_byte_order() {
    for (ours, theirs) in [(false, false), (false, true), (true, false), (true, true)] {
        for (function, before, after) in [
            (Function::Increment, 0x00FF_FFFF_u64, 0x0100_0000_u64),
            (Function::Decrement, 0, u64::MAX),
            (Function::Clear, 0x0102_0304_0506_0708, 0),
        ] {
            let mut a = Config::default();
            a.attributes.little_endian = ours;
            let mut b = Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a };
            b.attributes.little_endian = theirs;
            let mut pair = Pair::new(a, b, 2 << 20);
            let (a, id) = region(&mut pair, 4096);
            let octets = |word: u64| if theirs { word.to_le_bytes() } else { word.to_be_bytes() };
            pair.ends[B].memory_mut()[64..72].copy_from_slice(&octets(before));
            let around = pair.ends[B].memory()[72..80].to_vec();
            let fetch =
                pair.ends[A].fetch_op(pair.now, a, (id, 64), function, LANDING, Extras::default()).unwrap();
            assert_eq!(pair.outcome(A, fetch), Outcome::Complete);
            assert_eq!(pair.ends[B].memory()[64..72], octets(after), "{function:?}, {ours} {theirs}");
            assert_eq!(pair.ends[B].memory()[72..80], around);
            assert!(pair.has(A, |event| *event == Event::Fetched { id: fetch, word: before }));
            assert_eq!(pair.ends[A].memory()[LANDING as usize..][..8], octets(before), "as it lay there");
        }
    }
}

/// Proves: ST-6.1.4.4-1, ST-6.1.4.4-2, ST-6.1.4.4-3, ST-6.1.4.4-4, ST-6.1.4.4-7, ST-6.1.4.4-9, ST-6.1.4.4-10
/// Proves: ST-6.1.4.4-11, ST-6.1.4.4-13, ST-6.1.4.4-14, ST-10.2-5
#[test]
fn a_fetch_op_is_executed_once_whatever_is_lost() {
    for seed in 1..=40 {
        let mut pair = config(|config| {
            config.max_retry = 40;
            config.op_timeout = 30_000_000;
        });
        let (a, id) = region(&mut pair, 4096);
        pair.ends[B].memory_mut()[64..72].copy_from_slice(&100u64.to_be_bytes());
        pair.seed(seed);
        pair.faults = Faults { loss: 250, duplication: 250, reorder: 300 };
        let ids: Vec<u32> = (0..10)
            .map(|n| {
                let address = LANDING + 8 * n;
                let function = if n % 5 == 4 { Function::Decrement } else { Function::Increment };
                pair.ends[A].fetch_op(pair.now, a, (id, 64), function, address, Extras::default()).unwrap()
            })
            .collect();
        for fetch in &ids {
            assert_eq!(pair.outcome(A, *fetch), Outcome::Complete, "seed {seed}");
        }
        let word = u64::from_be_bytes(pair.ends[B].memory()[64..72].try_into().unwrap());
        assert_eq!(word, 106, "seed {seed}: eight up, two down");
        let told = pair.events[A].iter().filter(|(_, event)| matches!(event, Event::Fetched { .. })).count();
        assert_eq!(told, 10, "seed {seed}");
        // Every repetition of the Data carries the same Sync.
        for fetch in ids {
            let syncs: std::collections::BTreeSet<u32> = pair
                .sent(B, Op::Data)
                .iter()
                .filter(|data| data.d_id == fetch)
                .map(|data| data.sync)
                .collect();
            assert_eq!(syncs.len(), 1);
        }
    }
}

/// Proves: ST-5.1.2-10
#[test]
fn both_ends_take_down_at_once() {
    let mut pair = pair();
    let (a, b) = pair.open();
    pair.ends[A].disconnect(pair.now, a);
    pair.ends[B].disconnect(pair.now, b);
    pair.run(20 * Config::default().op_timeout);
    for end in [A, B] {
        assert!(pair.has(end, |event| *event == Event::Closed(Outcome::Complete)));
        assert_eq!(pair.sent(end, Op::DisconnectAnswer).len(), 1);
        assert_eq!(pair.sent(end, Op::DisconnectComplete).len(), 1);
        assert_eq!(pair.ends[end].connections().count(), 0);
    }
    pair.assert_clean();
}

/// Proves: ST-5.1.2-5, ST-5.1.2-7, ST-10.2-3, ST-10.2-7, ST-10.2-8, ST-5.1.1-12
#[test]
fn set_up_and_teardown_survive_every_single_loss() {
    use Op::{ConnectionAnswer, DisconnectAnswer, DisconnectComplete, RequestConnection, RequestDisconnect};
    let rows = [
        (A, RequestConnection),
        (B, ConnectionAnswer),
        (A, RequestDisconnect),
        (B, DisconnectAnswer),
        (A, DisconnectComplete),
    ];
    for (from, op) in rows {
        let mut pair = pair();
        pair.lose.push((from, op, 2));
        let (a, _) = pair.open();
        assert_eq!(pair.ends[A].connection(a).unwrap().state(), State::Open);
        assert_eq!(pair.ends[B].connections().count(), 1);
        pair.ends[A].disconnect(pair.now, a);
        pair.run(40 * Config::default().op_timeout);
        for end in [A, B] {
            assert!(pair.has(end, |event| matches!(event, Event::Closed(Outcome::Complete))), "{op:?}");
            assert_eq!(pair.ends[end].connections().count(), 0, "{op:?}");
        }
        let guard = pair.logged(A).into_iter().chain(pair.logged(B));
        assert!(guard.eq([Logged::Op_timeout_Occurance; 2]), "{op:?}");
    }
}

/// Proves: ST-10.1-6, ST-10.1-7, ST-10.1-8, ST-10.1-9
#[test]
fn a_silent_peer_is_given_up_after_max_retry() {
    let mut pair = pair();
    pair.lose.push((A, Op::RequestConnection, u32::MAX));
    let connection = pair.ends[A].connect(0, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
    pair.wait(A, |event| *event == Event::Closed(Outcome::Failed(Failure::Timeout)));
    assert_eq!(pair.sent(A, Op::RequestConnection).len(), 4);
    assert_eq!(pair.now, 4 * Config::default().op_timeout);
    let timeouts = pair.logged(A).iter().filter(|entry| **entry == Logged::Op_timeout_Occurance).count();
    assert_eq!((timeouts, pair.logged(A).last()), (4, Some(&Logged::Max_Retry_Occurance)));
    pair.run(20 * Config::default().op_timeout);
    assert!(pair.ends[A].connection(connection).is_none());
}
