//! The message engine: one test per rule, all arrivals of small messages, and pairs over a bad network.

use logical::engine::Divisible;
use logical::engine::message::{
    Cause, Failure, Message, Order, Receiver, ReceiverEvent, ReceiverOptions, Sender, SenderEvent,
    SenderOptions, Transmit,
};
use logical::wire::message::{Segment, SegmentSize, TargetInfo};
use logical::wire::response::{Response, Status};
use logical::wire::{Error, Extent, Payload, Priority};
use proptest::prelude::*;
use std::collections::BTreeSet;

const US: u64 = 1_000_000;

fn prio(prio: u8) -> Priority {
    Priority::new(prio, false).unwrap()
}

fn message(destination: u32, mailbox: u8, token: u64, payload: Vec<u8>) -> Message<Vec<u8>> {
    let (letter, order, size) = (None, Order::Free, SegmentSize::B8);
    Message { destination, mailbox, letter, priority: prio(0), order, size, payload, token }
}

fn bytes(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|index| (index as u8).wrapping_mul(7).wrapping_add(seed)).collect()
}

fn sender() -> Sender<Vec<u8>> {
    Sender::new(SenderOptions::default())
}

fn receiver() -> Receiver<Vec<u8>> {
    Receiver::new(ReceiverOptions::default())
}

fn drain<P: Divisible>(sender: &mut Sender<P>, now: u64) -> Vec<Transmit<P>> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

fn events<P: Divisible>(sender: &mut Sender<P>) -> Vec<SenderEvent> {
    std::iter::from_fn(|| sender.poll_event()).collect()
}

fn deliveries<P: Divisible>(receiver: &mut Receiver<P>) -> Vec<ReceiverEvent<P>> {
    std::iter::from_fn(|| receiver.poll_event()).collect()
}

fn target(letter: u8, mbox: u8, msgseg: u8) -> TargetInfo {
    TargetInfo::new(letter, mbox, msgseg).unwrap()
}

/// Segment `index` of a message of `segments` of 8 bytes, letter 0, mailbox 0.
fn segment(segments: u8, index: u8) -> Segment<Vec<u8>> {
    Segment::new(segments, SegmentSize::B8, target(0, 0, index), vec![index; 8]).unwrap()
}

/// Shows: Part 2 §4.2.5: number, size, order of the segments and the padding of the last one.
#[test]
fn a_message_is_cut_into_segments_of_the_standard_size() {
    let mut sender = sender();
    let payload = bytes(37, 1);
    sender
        .submit(Message { size: SegmentSize::B16, mailbox: 2, ..message(9, 2, 1, payload.clone()) })
        .unwrap();
    let sent = drain(&mut sender, 0);
    assert_eq!(sent.len(), 3);
    for (index, transmit) in sent.iter().enumerate() {
        let segment = &transmit.segment;
        assert_eq!((transmit.destination, segment.segments(), segment.size()), (9, 3, SegmentSize::B16));
        assert_eq!((segment.mailbox(), segment.target()), (2, target(0, 2, index as u8)));
    }
    assert_eq!(sent[2].segment.payload(), &[&payload[32..], &[0, 0, 0]].concat());
    // 2 bytes of header: msglen 2, ssize 0b1010, letter 0, mbox 2, msgseg 1.
    let mut wire = [0; 18];
    assert_eq!(sent[1].segment.emit(&mut wire), Ok(18));
    assert_eq!(wire, *[&[0x2A, 0x21], &payload[16..32]].concat());
}

/// Shows: Part 2 §4.2.5: 4096 bytes are the most, at every segment size 16 segments are; only messages of one
/// segment reach mailboxes 4 to 63.
#[test]
fn what_cannot_be_sent_is_refused() {
    let mut sender = sender();
    for size in SegmentSize::ALL {
        let max = 16 * size.octets();
        for (octets, good) in [(0, false), (1, true), (max, true), (max + 1, false)] {
            let outcome = sender.submit(Message { size, ..message(1, 0, 0, bytes(octets, 0)) });
            assert_eq!(outcome.is_ok(), good, "{octets} bytes in segments of {}", size.octets());
        }
    }
    let range = |field, max, found| Err(Error::Range { field, max, found });
    assert_eq!(sender.submit(message(1, 63, 0, bytes(8, 0))), Ok(()));
    assert_eq!(sender.submit(message(1, 64, 0, bytes(8, 0))), range("mailbox", 63, 64));
    assert_eq!(sender.submit(message(1, 4, 0, bytes(9, 0))), range("mailbox", 3, 4));
    let base = message(1, 0, 0, bytes(8, 0));
    assert_eq!(sender.submit(Message { letter: Some(4), ..base.clone() }), range("letter", 3, 4));
    assert_eq!(sender.submit(Message { priority: prio(3), ..base }), range("prio", 2, 3));
}

/// Shows: Part 2 §3.3.2: letters tell concurrent messages to a mailbox apart; each mailbox of each
/// destination has its own four.
#[test]
fn four_letters_for_each_mailbox_of_each_destination() {
    let mut sender = sender();
    for token in 0..6 {
        sender.submit(message(1, 0, token, bytes(16, 0))).unwrap();
    }
    sender.submit(message(1, 1, 6, bytes(16, 0))).unwrap();
    sender.submit(message(2, 0, 7, bytes(16, 0))).unwrap();
    let sent = drain(&mut sender, 0);
    let letters = |destination, mbox| -> Vec<u8> {
        let to = |transmit: &&Transmit<Vec<u8>>| {
            (transmit.destination, transmit.segment.mailbox(), transmit.segment.index())
                == (destination, mbox, 0)
        };
        sent.iter().filter(to).map(|transmit| transmit.segment.target().letter()).collect()
    };
    assert_eq!(letters(1, 0), [0, 1, 2, 3]);
    assert_eq!((letters(1, 1).len(), letters(2, 0).len()), (1, 1));

    // The fifth message takes the letter that becomes free.
    for index in 0..2 {
        sender.handle_response(1, 1, target(2, 0, index), Status::Done);
    }
    assert_eq!(events(&mut sender), [SenderEvent::Sent { token: 2 }]);
    let next = drain(&mut sender, 1);
    assert!(next.iter().all(|transmit| transmit.segment.target().letter() == 2));
    assert_eq!(next.len(), 2);
}

#[test]
fn fewer_letters_and_chosen_letters() {
    let mut sender = Sender::new(SenderOptions { letters: 2, ..SenderOptions::default() });
    for token in 0..3 {
        sender.submit(message(1, 0, token, bytes(16, 0))).unwrap();
    }
    assert_eq!(drain(&mut sender, 0).len(), 4);

    let mut sender = self::sender();
    for token in 0..2 {
        sender.submit(Message { letter: Some(3), ..message(1, 0, token, bytes(8, 0)) }).unwrap();
    }
    let sent = drain(&mut sender, 0);
    assert_eq!(sent.iter().map(|transmit| transmit.segment.target().letter()).collect::<Vec<_>>(), [3]);
}

/// Parts of a whole that nobody numbers leave one after the other, and other groups do not wait.
#[test]
fn parts_leave_one_after_the_other() {
    let mut sender = sender();
    let part = |group, first, last| Order::Part { group, first, last };
    let orders = [
        part(0, true, false),      // 0
        part(0, false, true),      // 1: waits for 0
        Order::Whole { group: 0 }, // 2: waits for 0 and 1
        Order::Whole { group: 0 }, // 3: like 2, not for 2
        part(1, true, false),      // 4: another group
        Order::Whole { group: 2 }, // 5: a third one
        part(0, true, false),      // 6: waits for 2 and 3
        Order::Free,               // 7: for nobody
    ];
    for (token, order) in (0..).zip(orders) {
        sender.submit(Message { order, ..message(1, 0, token, vec![token as u8; 8]) }).unwrap();
    }
    let leave = |sender: &mut Sender<Vec<u8>>| -> Vec<(u64, TargetInfo)> {
        let sent = drain(sender, 0).into_iter();
        sent.map(|sent| (sent.segment.payload()[0].into(), sent.segment.target())).collect()
    };
    let tokens = |sent: &[(u64, TargetInfo)]| sent.iter().map(|&(token, _)| token).collect::<Vec<_>>();
    let done = |sender: &mut Sender<Vec<u8>>, target| sender.handle_response(0, 1, target, Status::Done);
    let sent = leave(&mut sender);
    assert_eq!(tokens(&sent), [0, 4, 5, 7]);
    // A refusal is no end.
    sender.handle_response(0, 1, sent[0].1, Status::Retry);
    let again = leave(&mut sender);
    assert_eq!(tokens(&again), [0]);
    done(&mut sender, again[0].1);
    let one = leave(&mut sender);
    assert_eq!(tokens(&one), [1]);
    done(&mut sender, one[0].1);
    let two = leave(&mut sender);
    assert_eq!(tokens(&two), [2]);
    // 3 has to wait for a letter only.
    done(&mut sender, sent[1].1);
    let three = leave(&mut sender);
    assert_eq!(tokens(&three), [3]);
    done(&mut sender, three[0].1);
    assert_eq!(tokens(&leave(&mut sender)), []);
    done(&mut sender, two[0].1);
    assert_eq!(tokens(&leave(&mut sender)), [6]);
}

/// A part that fails takes those behind it along, also those submitted later, and nothing of another whole;
/// and nothing of its group leaves while something of it may be under way.
#[test]
fn a_part_that_fails_breaks_the_whole() {
    let mut sender = sender();
    let part = |token, first, last| Message {
        order: Order::Part { group: 3, first, last },
        ..message(1, 0, token, vec![token as u8; 8])
    };
    sender.submit(part(0, true, false)).unwrap();
    sender.submit(part(1, false, false)).unwrap();
    let sent = drain(&mut sender, 0);
    sender.handle_response(0, 1, sent[0].segment.target(), Status::Error);
    let failed = |token, cause| SenderEvent::Failed { token, cause };
    assert_eq!(events(&mut sender), [failed(0, Failure::ErrorResponse), failed(1, Failure::Broken)]);
    sender.submit(part(2, false, true)).unwrap();
    assert_eq!(events(&mut sender), [failed(2, Failure::Broken)]);
    // The next whole.
    sender.submit(part(10, true, false)).unwrap();
    sender.submit(part(11, false, true)).unwrap();
    let linger = SenderOptions::default().linger;
    sender.handle_timeout(linger - 1);
    assert_eq!(drain(&mut sender, linger - 1), []);
    sender.handle_timeout(linger);
    for token in [10, 11] {
        let sent = drain(&mut sender, linger);
        assert_eq!(sent.iter().map(|sent| sent.segment.payload()[0]).collect::<Vec<_>>(), [token]);
        sender.handle_response(linger, 1, sent[0].segment.target(), Status::Done);
        assert_eq!(events(&mut sender), [SenderEvent::Sent { token: token.into() }]);
    }
    assert!(sender.is_idle());

    // A whole whose first part is all that was ever submitted does not break the next one.
    sender.submit(part(20, true, false)).unwrap();
    let sent = drain(&mut sender, linger);
    sender.handle_response(linger, 1, sent[0].segment.target(), Status::Error);
    sender.submit(part(30, true, true)).unwrap();
    sender.submit(part(31, true, false)).unwrap();
    assert_eq!(events(&mut sender), [failed(20, Failure::ErrorResponse)]);
}

/// Shows: Part 2 §4.2.5 (aliasing): messages of one segment share a letter if their upper mailbox numbers
/// differ, and not with a message whose segment numbers include it.
#[test]
fn upper_mailbox_numbers_and_segment_numbers_exclude_each_other() {
    let letter = Some(0);
    let mut sender = sender();
    sender.submit(Message { letter, ..message(1, 0, 0, bytes(24, 0)) }).unwrap(); // msgseg 0 to 2
    sender.submit(Message { letter, ..message(1, 3 << 2, 1, bytes(8, 0)) }).unwrap(); // xmbox 3
    sender.submit(Message { letter, ..message(1, 2 << 2, 2, bytes(8, 0)) }).unwrap(); // xmbox 2
    assert_eq!(drain(&mut sender, 0).len(), 4);
    // The response to xmbox 3 is not one to a segment.
    sender.handle_response(1, 1, target(0, 0, 3), Status::Done);
    assert_eq!(events(&mut sender), [SenderEvent::Sent { token: 1 }]);
    for index in 0..3 {
        sender.handle_response(1, 1, target(0, 0, index), Status::Done);
    }
    assert_eq!(events(&mut sender), [SenderEvent::Sent { token: 0 }]);
    let sent = drain(&mut sender, 1);
    assert_eq!((sent.len(), sent[0].segment.mailbox()), (1, 8));
}

#[test]
fn higher_priorities_leave_first() {
    let mut sender = sender();
    for (token, priority) in [(0, 0), (1, 2), (2, 1), (3, 2)] {
        let destination = token as u32;
        sender
            .submit(Message { priority: prio(priority), ..message(destination, 0, token, bytes(8, 0)) })
            .unwrap();
    }
    let order: Vec<u32> = drain(&mut sender, 0).iter().map(|transmit| transmit.destination).collect();
    assert_eq!(order, [1, 3, 2, 0]);
}

/// Shows: Part 2 §3.1, RETRY: just that segment is sent again, at once or after the delay.
#[test]
fn a_retried_segment_is_sent_again() {
    for retry_delay in [0, 5 * US] {
        let mut sender = Sender::new(SenderOptions { retry_delay, ..SenderOptions::default() });
        sender.submit(message(1, 0, 7, bytes(24, 0))).unwrap();
        let first = drain(&mut sender, 0);
        sender.handle_response(US, 1, target(0, 0, 0), Status::Done);
        sender.handle_response(US, 1, target(0, 0, 1), Status::Retry);
        sender.handle_response(US, 1, target(0, 0, 2), Status::Done);
        if retry_delay > 0 {
            assert_eq!((drain(&mut sender, US).len(), sender.poll_timeout()), (0, Some(6 * US)));
            sender.handle_timeout(6 * US - 1);
            assert!(!sender.wants_transmit());
            sender.handle_timeout(6 * US);
        }
        assert_eq!(drain(&mut sender, 6 * US), [first[1].clone()]);
        sender.handle_response(7 * US, 1, target(0, 0, 1), Status::Done);
        assert_eq!(events(&mut sender), [SenderEvent::Sent { token: 7 }]);
        assert!(sender.is_idle() && sender.poll_timeout().is_none());
        assert_eq!((sender.counters().retries, sender.counters().segments), (1, 4));
    }
}

/// Shows: Part 2 §3.1, ERROR: the message ends; what was not sent is not sent; its letter is free again only
/// when nothing of it can be under way.
#[test]
fn an_error_response_ends_the_message() {
    let options = SenderOptions { window: 2, linger: 10 * US, letters: 1, ..SenderOptions::default() };
    let mut sender = Sender::new(options);
    sender.submit(message(1, 0, 1, bytes(40, 0))).unwrap();
    sender.submit(message(1, 0, 2, bytes(8, 0))).unwrap();
    assert_eq!(drain(&mut sender, 0).len(), 2);
    sender.handle_response(US, 1, target(0, 0, 1), Status::Error);
    assert_eq!(events(&mut sender), [SenderEvent::Failed { token: 1, cause: Failure::ErrorResponse }]);
    assert_eq!(drain(&mut sender, US).len(), 0);
    // Segment 0 is still out; then the letter rests.
    sender.handle_response(2 * US, 1, target(0, 0, 0), Status::Retry);
    assert_eq!((drain(&mut sender, 2 * US).len(), sender.poll_timeout()), (0, Some(12 * US)));
    sender.handle_timeout(12 * US);
    assert_eq!(drain(&mut sender, 12 * US).len(), 1);
}

/// Shows: Part 8 §2.3.2.2, packet response timeout: each segment has its own; the message is not sent again
/// (Part 2 §3.1 forbids to repeat a msgseg without RETRY).
#[test]
fn a_segment_without_response_fails_the_message() {
    let mut sender =
        Sender::new(SenderOptions { response_timeout: 10 * US, linger: 0, ..SenderOptions::default() });
    sender.submit(message(1, 0, 1, bytes(16, 0))).unwrap();
    sender.poll_transmit(0);
    sender.poll_transmit(3 * US);
    assert_eq!(sender.poll_timeout(), Some(10 * US));
    sender.handle_response(4 * US, 1, target(0, 0, 0), Status::Done);
    assert_eq!(sender.poll_timeout(), Some(13 * US));
    sender.handle_timeout(13 * US - 1);
    assert_eq!(events(&mut sender), []);
    sender.handle_timeout(13 * US);
    assert_eq!(events(&mut sender), [SenderEvent::Failed { token: 1, cause: Failure::Timeout }]);
    assert!(sender.is_idle() && !sender.wants_transmit() && sender.poll_timeout().is_none());
    sender.handle_response(14 * US, 1, target(0, 0, 1), Status::Done);
    assert_eq!((sender.counters().unsolicited, sender.counters().timeouts), (1, 1));
}

/// A segment that waits for longer than the sender's patience finds the receiver's message gone.
#[test]
fn a_pause_that_is_too_long_fails_the_message() {
    for (pause, left) in [(20 * US, 1), (20 * US + 1, 0)] {
        let options =
            SenderOptions { patience: 20 * US, response_timeout: 99 * US, linger: 0, ..Default::default() };
        let mut sender = Sender::new(options);
        sender.submit(message(1, 0, 1, bytes(16, 0))).unwrap();
        assert!(sender.poll_transmit(0).is_some());
        assert_eq!(drain(&mut sender, pause).len(), left);
        let failed = [SenderEvent::Failed { token: 1, cause: Failure::Stalled }];
        assert_eq!(events(&mut sender), failed[left..]);
    }
}

/// Where nothing was accepted, nobody waits for the rest.
#[test]
fn a_refused_message_may_wait_for_long() {
    let options = SenderOptions { patience: 5 * US, retry_delay: 50 * US, ..Default::default() };
    let mut sender = Sender::new(options);
    sender.submit(message(1, 0, 1, bytes(16, 0))).unwrap();
    assert_eq!(drain(&mut sender, 0).len(), 2);
    for index in 0..2 {
        sender.handle_response(US, 1, target(0, 0, index), Status::Retry);
    }
    sender.handle_timeout(51 * US);
    assert_eq!((drain(&mut sender, 51 * US).len(), events(&mut sender)), (2, vec![]));
    // Now segment 0 is accepted, and segment 1 comes too late.
    sender.handle_response(52 * US, 1, target(0, 0, 0), Status::Done);
    sender.handle_response(52 * US, 1, target(0, 0, 1), Status::Retry);
    sender.handle_timeout(102 * US);
    assert_eq!(drain(&mut sender, 102 * US).len(), 0);
    assert_eq!(events(&mut sender), [SenderEvent::Failed { token: 1, cause: Failure::Stalled }]);
}

/// A message that has begun is finished before others of its priority begin.
#[test]
fn retried_segments_go_before_new_messages() {
    let mut sender = sender();
    for token in 0..3 {
        sender.submit(message(token as u32, 0, token, bytes(16, 0))).unwrap();
    }
    let letter = sender.poll_transmit(0).unwrap().segment.target().letter();
    sender.poll_transmit(0);
    sender.poll_transmit(0);
    sender.handle_response(1, 0, target(letter, 0, 0), Status::Retry);
    let order: Vec<u32> = drain(&mut sender, 1).iter().map(|transmit| transmit.destination).collect();
    assert_eq!(order, [1, 0, 2, 2]);
}

/// Shows: Part 8 §2.3.2.2, unsolicited responses: wrong source, letter, mailbox, segment, or one too many.
#[test]
fn responses_to_nothing_are_counted() {
    let mut sender = sender();
    sender.submit(message(1, 0, 1, bytes(16, 0))).unwrap();
    assert_eq!(drain(&mut sender, 0).len(), 2);
    let before = sender.clone();
    for (source, target) in
        [(2, target(0, 0, 0)), (1, target(1, 0, 0)), (1, target(0, 1, 0)), (1, target(0, 0, 2))]
    {
        for status in Status::ALL {
            sender.handle_response(1, source, target, status);
        }
    }
    assert_eq!(sender.counters().unsolicited, 12);
    assert_eq!((sender.poll_timeout(), sender.outstanding()), (before.poll_timeout(), 2));
    sender.handle_response(1, 1, target(0, 0, 0), Status::Done);
    sender.handle_response(1, 1, target(0, 0, 0), Status::Done);
    assert_eq!((sender.counters().unsolicited, events(&mut sender)), (13, vec![]));
}

/// Shows: the response of a segment names it (Part 2 §4.3.3) and never has data.
#[test]
fn the_answer_on_the_wire() {
    let mut receiver = receiver();
    let segment = segment(2, 1);
    let (target, status) = (segment.target(), receiver.handle_segment(0, 5, segment, true));
    let response: Response<&[u8]> = Response::Message { target, status };
    let mut wire = [0; 2];
    assert_eq!(response.emit(&mut wire), Ok(2));
    assert_eq!(wire, [0x10, 0x01]);
}

/// All sequences of up to `depth` arrivals of the segments of a message of `segments`: the receiver against a
/// model that keeps the set of segments that came.
///
/// Shows: Part 2 §3.3.2: segments in any order; a repeated segment is an error and costs the message.
#[test]
fn all_arrivals_of_small_messages() {
    fn explore(receiver: &Receiver<Vec<u8>>, seen: BTreeSet<u8>, segments: u8, depth: u32, count: &mut u32) {
        *count += 1;
        if depth == 0 {
            return;
        }
        for index in 0..segments {
            let (mut receiver, mut seen) = (receiver.clone(), seen.clone());
            let status = receiver.handle_segment(0, 5, segment(segments, index), true);
            let event = receiver.poll_event();
            assert!(receiver.poll_event().is_none());
            if !seen.insert(index) {
                assert_eq!(status, Status::Error);
                let cause = Cause::Repeated;
                assert_eq!(event, Some(ReceiverEvent::Rejected { source: 5, mailbox: 0, letter: 0, cause }));
                seen.clear();
            } else {
                assert_eq!(status, Status::Done);
                let payload: Vec<u8> = (0..segments).flat_map(|index| [index; 8]).collect();
                let whole = ReceiverEvent::Delivered { source: 5, mailbox: 0, letter: 0, payload };
                let complete = seen.len() == usize::from(segments);
                assert_eq!(event, complete.then_some(whole));
                if complete {
                    seen.clear();
                }
            }
            assert_eq!(receiver.contexts(), usize::from(!seen.is_empty()));
            assert_eq!(receiver.poll_timeout().is_some(), !seen.is_empty());
            explore(&receiver, seen, segments, depth - 1, count);
        }
    }
    let mut count = 0;
    for (segments, depth) in [(2, 8), (3, 7), (4, 6)] {
        explore(&receiver(), BTreeSet::new(), segments, depth, &mut count);
    }
    assert_eq!(count, 511 + 3280 + 5461);
}

/// Shows: Part 2 §3.3.2: all segments of a message have the same msglen and ssize.
#[test]
fn segments_that_do_not_agree_cost_the_message() {
    for other in [
        segment(4, 1),
        Segment::new(3, SegmentSize::B16, target(0, 0, 1), vec![0; 16]).unwrap(),
        Segment::new(3, SegmentSize::B16, target(0, 0, 2), vec![0; 8]).unwrap(),
    ] {
        let mut receiver = receiver();
        assert_eq!(receiver.handle_segment(0, 5, segment(3, 0), true), Status::Done);
        assert_eq!(receiver.handle_segment(0, 5, other, true), Status::Error);
        let cause = Cause::Inconsistent;
        assert_eq!(
            deliveries(&mut receiver),
            [ReceiverEvent::Rejected { source: 5, mailbox: 0, letter: 0, cause }]
        );
        assert_eq!((receiver.contexts(), receiver.poll_timeout()), (0, None));
    }
}

/// Shows: Part 2 §3.3.2, message format errors (no data, not double-words, wrong size, msgseg above msglen,
/// reserved ssize): answered by ERROR, message lost.
#[test]
fn malformed_packets_are_answered_by_error() {
    let mut wire = [0; 10];
    assert_eq!(segment(3, 1).emit(&mut wire), Ok(10));
    let long = [&wire[..], &[0; 8]].concat();
    let (mut beyond, mut reserved) = (wire, wire);
    beyond[1] |= 0xF;
    reserved[0] &= 0xF0;
    for malformed in [&wire[..2], &wire[..6], &long, &beyond, &reserved] {
        assert!(Segment::parse(malformed).is_err());
        let view = logical::wire::message::View::new(malformed).unwrap();
        let mut receiver = receiver();
        receiver.handle_segment(0, 5, segment(3, 0), true);
        assert_eq!(receiver.handle_malformed(5, view.msglen(), view.target_info()), Status::Error);
        let cause = Cause::Malformed;
        assert_eq!(
            deliveries(&mut receiver),
            [ReceiverEvent::Rejected { source: 5, mailbox: 0, letter: 0, cause }]
        );
        assert_eq!((receiver.contexts(), receiver.counters().errors), (0, 1));
    }
}

/// Shows: messages of other sources, letters and mailboxes, and single segments to extended mailboxes, do not
/// touch a message in reassembly (Part 2 §3.3.2).
#[test]
fn contexts_are_apart() {
    let mut receiver = receiver();
    receiver.handle_segment(0, 5, segment(2, 0), true);
    for (source, target) in [(6, target(0, 0, 0)), (5, target(1, 0, 0)), (5, target(0, 1, 0))] {
        let other = Segment::new(2, SegmentSize::B8, target, vec![9; 8]).unwrap();
        assert_eq!(receiver.handle_segment(0, source, other, true), Status::Done);
    }
    assert_eq!(receiver.contexts(), 4);
    let single = Segment::new(1, SegmentSize::B64, target(0, 0, 15), vec![3; 24]).unwrap();
    assert_eq!(receiver.handle_segment(0, 5, single, true), Status::Done);
    receiver.handle_segment(0, 5, segment(2, 1), true);
    let payload = vec![3; 24];
    assert_eq!(
        deliveries(&mut receiver),
        [
            ReceiverEvent::Delivered { source: 5, mailbox: 60, letter: 0, payload },
            ReceiverEvent::Delivered { source: 5, mailbox: 0, letter: 0, payload: [[0; 8], [1; 8]].concat() },
        ]
    );
}

/// Shows: Part 2 §4.3 RETRY: no room for a new message; one that was begun has its place.
#[test]
fn room_is_asked_for_once_a_message() {
    let mut receiver = receiver();
    assert_eq!(receiver.handle_segment(0, 5, segment(2, 1), false), Status::Retry);
    assert_eq!((receiver.contexts(), receiver.counters().retries), (0, 1));
    assert_eq!(receiver.handle_segment(0, 5, segment(2, 1), true), Status::Done);
    assert_eq!(receiver.handle_segment(0, 5, segment(2, 0), false), Status::Done);
    assert_eq!(receiver.handle_segment(0, 5, segment(1, 0), false), Status::Retry);
    assert_eq!(deliveries(&mut receiver).len(), 1);

    let one = ReceiverOptions { contexts: 1, mailboxes: 0b1, ..ReceiverOptions::default() };
    let mut receiver = Receiver::new(one);
    receiver.handle_segment(0, 5, segment(2, 0), true);
    assert_eq!(receiver.handle_segment(0, 6, segment(2, 0), true), Status::Retry);
    assert_eq!(receiver.handle_segment(0, 6, segment(1, 0), true), Status::Done);
    assert_eq!(receiver.handle_segment(0, 6, segment(1, 1), true), Status::Error);
}

/// Shows: Part 8 §2.3.2.2, message request timeout, from the last segment that came.
#[test]
fn a_message_that_stays_incomplete_is_abandoned() {
    let mut receiver = Receiver::new(ReceiverOptions { timeout: 10 * US, ..ReceiverOptions::default() });
    receiver.handle_segment(0, 5, segment(3, 0), true);
    receiver.handle_segment(6 * US, 5, segment(3, 2), true);
    assert_eq!(receiver.poll_timeout(), Some(16 * US));
    receiver.handle_timeout(16 * US - 1);
    assert_eq!(receiver.contexts(), 1);
    receiver.handle_timeout(16 * US);
    assert_eq!((receiver.contexts(), receiver.poll_timeout()), (0, None));
    assert_eq!(
        deliveries(&mut receiver),
        [ReceiverEvent::Abandoned { source: 5, mailbox: 0, letter: 0, received: 2 }]
    );
}

#[test]
fn idle_machines_are_small() {
    assert!(size_of::<Sender<Extent>>() <= 320, "{}", size_of::<Sender<Extent>>());
    assert!(size_of::<Receiver<Extent>>() <= 160, "{}", size_of::<Receiver<Extent>>());
}

/// What a network does with packets, drawn from a list of choices: the one that is carried, its fate.
struct Network {
    choices: Vec<u16>,
    next: usize,
}

impl Network {
    fn draw(&mut self, below: usize) -> usize {
        self.next += 1;
        // Beyond the list nothing is lost and there is room.
        self.choices.get(self.next - 1).map_or(below - 1, |&choice| usize::from(choice) % below)
    }
}

enum Packet {
    Request(Segment<Vec<u8>>),
    Response(TargetInfo, Status),
}

/// What became of a message: events of the sender, deliveries.
struct Outcome {
    ends: Vec<SenderEvent>,
    delivered: Vec<Vec<u8>>,
}

/// Sender 1 and receiver 2 until both are idle. `loss` in 256 packets are lost, `full` in 256 segments find
/// no room; any packet under way may be next, but none is under way for a fifth of the timeout; time passes
/// when nothing is under way, and sometimes before.
fn run(messages: &[Message<Vec<u8>>], choices: Vec<u16>, loss: usize, full: usize) -> Outcome {
    let timeout = 100;
    // The receiver has more patience than the sender, and a letter rests for longer than that.
    let (patience, linger) = (2 * timeout, 3 * timeout);
    let retry_delay = 3;
    let options =
        SenderOptions { window: 7, response_timeout: timeout, retry_delay, patience, linger, letters: 4 };
    let mut sender = Sender::new(options);
    let mut receiver = Receiver::new(ReceiverOptions { timeout: linger, ..ReceiverOptions::default() });
    for message in messages {
        sender.submit(message.clone()).unwrap();
    }
    let mut network = Network { choices, next: 0 };
    let (mut now, mut wire) = (0, Vec::new());
    let mut outcome = Outcome { ends: Vec::new(), delivered: Vec::new() };
    for _ in 0..100_000 {
        while let Some(transmit) = sender.poll_transmit(now) {
            assert_eq!((transmit.destination, transmit.priority), (2, prio(0)));
            wire.push((now, Packet::Request(transmit.segment)));
        }
        outcome.ends.extend(events(&mut sender));
        for event in deliveries(&mut receiver) {
            if let ReceiverEvent::Delivered { payload, .. } = event {
                outcome.delivered.push(payload);
            }
        }
        let deadline = [sender.poll_timeout(), receiver.poll_timeout()].into_iter().flatten().min();
        assert!(deadline.is_none_or(|at| at > now));
        if wire.is_empty() {
            let Some(at) = deadline else {
                assert!(sender.is_idle() && receiver.contexts() == 0);
                return outcome;
            };
            now = at;
            sender.handle_timeout(now);
            receiver.handle_timeout(now);
            continue;
        }
        let (_, packet) = wire.remove(network.draw(wire.len()));
        if network.draw(256) < loss {
            continue;
        }
        match packet {
            Packet::Request(segment) => {
                let (target, room) = (segment.target(), network.draw(256) >= full);
                let status = receiver.handle_segment(now, 1, segment, room);
                wire.push((now, Packet::Response(target, status)));
            }
            Packet::Response(target, status) => sender.handle_response(now, 2, target, status),
        }
        let young = wire.first().is_none_or(|&(sent, _)| now < sent + timeout / 5);
        now += u64::from(young && network.next.is_multiple_of(16));
        sender.handle_timeout(now);
        receiver.handle_timeout(now);
    }
    panic!("never idle");
}

/// What the receiver gets.
fn padded(message: &Message<Vec<u8>>) -> Vec<u8> {
    message.payload.part(0, message.payload.octets().next_multiple_of(8))
}

fn arbitrary_messages() -> impl Strategy<Value = Vec<Message<Vec<u8>>>> {
    proptest::collection::vec((1usize..=128, 0u8..4, proptest::option::of(0u8..4)), 1..10).prop_map(|list| {
        let make = |(token, (octets, mailbox, letter))| Message {
            letter,
            ..message(2, mailbox, token as u64, bytes(octets, token as u8))
        };
        list.into_iter().enumerate().map(make).collect()
    })
}

proptest! {
    /// Over a network that loses nothing every message arrives once, whole, whatever the order and however
    /// often there is no room.
    #[test]
    fn reassembly_gives_what_was_sent(
        messages in arbitrary_messages(), choices in proptest::collection::vec(any::<u16>(), 0..600),
        full in 0usize..200,
    ) {
        let outcome = run(&messages, choices, 0, full);
        let all = |messages: &[Message<Vec<u8>>]| -> BTreeSet<u64> {
            messages.iter().map(|message| message.token).collect()
        };
        let sent = |end: &SenderEvent| match *end {
            SenderEvent::Sent { token } => Some(token),
            SenderEvent::Failed { .. } => None,
        };
        prop_assert_eq!(outcome.ends.iter().filter_map(sent).collect::<BTreeSet<_>>(), all(&messages));
        prop_assert_eq!(outcome.ends.len(), messages.len());
        let mut sent: Vec<Vec<u8>> = messages.iter().map(padded).collect();
        let mut delivered = outcome.delivered;
        sent.sort();
        delivered.sort();
        prop_assert_eq!(delivered, sent);
    }

    /// Parts arrive in the order in which they were submitted, however often there is no room.
    #[test]
    fn parts_arrive_in_order(
        octets in proptest::collection::vec(1usize..=64, 1..10),
        choices in proptest::collection::vec(any::<u16>(), 0..600), full in 0usize..200,
    ) {
        let messages: Vec<_> = octets.iter().enumerate().map(|(token, &size)| Message {
            order: Order::Part { group: 0, first: token == 0, last: token + 1 == octets.len() },
            ..message(2, 0, token as u64, bytes(size, token as u8))
        }).collect();
        let outcome = run(&messages, choices, 0, full);
        prop_assert_eq!(outcome.delivered, messages.iter().map(padded).collect::<Vec<_>>());
    }

    /// Over one that loses packets every message ends exactly once; one that was sent was delivered once, one
    /// that failed at most once; and nothing is delivered that was not sent.
    #[test]
    fn ends_agree_with_deliveries(
        messages in arbitrary_messages(), choices in proptest::collection::vec(any::<u16>(), 0..600),
        loss in 1usize..120, full in 0usize..100,
    ) {
        let outcome = run(&messages, choices, loss, full);
        prop_assert_eq!(outcome.ends.len(), messages.len());
        let mut delivered = outcome.delivered;
        for message in &messages {
            let place = delivered.iter().position(|payload| *payload == padded(message));
            if let Some(place) = place {
                delivered.swap_remove(place);
            }
            let sent = outcome.ends.contains(&SenderEvent::Sent { token: message.token });
            let failed = [Failure::Timeout, Failure::Stalled, Failure::ErrorResponse]
                .map(|cause| SenderEvent::Failed { token: message.token, cause })
                .iter()
                .any(|end| outcome.ends.contains(end));
            prop_assert!(sent != failed);
            prop_assert!(place.is_some() || failed);
        }
        prop_assert!(delivered.is_empty());
    }

    /// A length instead of bytes makes no difference to anything else.
    #[test]
    fn lengths_behave_as_bytes_do(octets in 1usize..=4096, code in 0usize..6) {
        let size = SegmentSize::ALL[code];
        let bytes = Message { size, ..message(2, 0, 1, bytes(octets, 0)) };
        let length = Message {
            destination: 2, mailbox: 0, letter: None, priority: prio(0), order: Order::Free, size, token: 1,
            payload: Extent(octets as u32),
        };
        let (mut one, mut other) = (sender(), Sender::new(SenderOptions::default()));
        prop_assert_eq!(one.submit(bytes).is_ok(), other.submit(length).is_ok());
        loop {
            match (one.poll_transmit(0), other.poll_transmit(0)) {
                (None, None) => break,
                (Some(one), Some(other)) => {
                    prop_assert_eq!(one.segment.target(), other.segment.target());
                    prop_assert_eq!(one.segment.octets(), other.segment.octets());
                }
                _ => prop_assert!(false),
            }
        }
    }
}
