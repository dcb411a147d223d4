//! The data streaming engine: one test per rule of Part 10 §3.2.5, all arrivals of short sequences, any
//! interleaving of flows, traffic management.

use logical::engine::Divisible;
use logical::engine::stream::traffic::{Action, Management, Mode, Operand, Rate};
use logical::engine::stream::{
    Defect, Flow, Mtu, Pdu, Policy, Receiver, ReceiverEvent, ReceiverOptions, Sender, SenderEvent,
    SenderOptions, Transmit,
};
use logical::wire::stream::{Part, Segment};
use logical::wire::traffic_management::{Operation, TrafficManagement};
use logical::wire::{Error, Extent, Priority};
use proptest::prelude::*;

const US: u64 = 1_000_000;

fn flow(prio: u8) -> Flow {
    Flow { vc: false, priority: Priority::new(prio, false).unwrap() }
}

fn mtu(octets: u16) -> Mtu {
    Mtu::from_bytes(octets).unwrap()
}

fn bytes(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|index| (index as u8).wrapping_mul(7).wrapping_add(seed)).collect()
}

fn pdu(destination: u32, prio: u8, stream_id: u16, payload: Vec<u8>) -> Pdu<Vec<u8>> {
    Pdu { destination, flow: flow(prio), cos: 1, stream_id, payload, token: stream_id.into() }
}

fn sender(octets: u16, policy: Policy) -> Sender<Vec<u8>> {
    Sender::new(SenderOptions { mtu: mtu(octets), policy })
}

fn receiver() -> Receiver<Vec<u8>> {
    Receiver::new(ReceiverOptions { mtu: mtu(32), ..ReceiverOptions::default() })
}

fn drain<P: Divisible>(sender: &mut Sender<P>) -> Vec<Transmit<P>> {
    std::iter::from_fn(|| sender.poll_transmit()).collect()
}

fn events<P: Divisible>(receiver: &mut Receiver<P>) -> Vec<ReceiverEvent<P>> {
    std::iter::from_fn(|| receiver.poll_event()).collect()
}

fn segment(part: Part, octets: usize) -> Segment<Vec<u8>> {
    Segment::new(1, part, bytes(octets, 0)).unwrap()
}

const SINGLE: Part = Part::Single { stream_id: 9 };
const START: Part = Part::Start { stream_id: 9 };

fn feed(receiver: &mut Receiver<Vec<u8>>, segments: &[Segment<Vec<u8>>]) -> Vec<Result<usize, Defect>> {
    for segment in segments {
        receiver.handle_segment(0, 5, 2, flow(0), segment.clone(), true);
    }
    let outcome = |event: ReceiverEvent<Vec<u8>>| match event {
        ReceiverEvent::Delivered { payload, .. } => Ok(payload.len()),
        ReceiverEvent::Discarded { defect, .. } => Err(defect),
    };
    events(receiver).into_iter().map(outcome).collect()
}

/// Shows: Part 10 table 5-8: the MTU has 32 to 256 bytes in steps of 4.
#[test]
fn mtu_codes() {
    for octets in 0..=300u16 {
        let legal = (32..=256).contains(&octets) && octets % 4 == 0;
        assert_eq!(Mtu::from_bytes(octets).is_ok(), legal);
        if legal {
            let mtu = mtu(octets);
            assert_eq!((mtu.octets(), Mtu::from_code(mtu.code())), (usize::from(octets), Some(mtu)));
        }
    }
    assert_eq!([7, 65].map(Mtu::from_code), [None, None]);
}

/// Shows: Part 10 §3.2.5, segmentation 2 to 8: start and continuations have the MTU, the last is what is
/// left.
#[test]
fn a_pdu_is_cut_at_the_mtu() {
    let part = |stream_id, length| [Part::Start { stream_id }, Part::Continuation, Part::End { length }];
    for (octets, expected) in [
        (1, vec![(SINGLE, 1)]),
        (32, vec![(SINGLE, 32)]),
        (33, vec![(START, 32), (part(9, 33)[2], 1)]),
        (64, vec![(START, 32), (part(9, 64)[2], 32)]),
        (97, vec![(START, 32), (Part::Continuation, 32), (Part::Continuation, 32), (part(9, 97)[2], 1)]),
    ] {
        let mut sender = sender(32, Policy::Sequential);
        sender.submit(pdu(2, 0, 9, bytes(octets, 3))).unwrap();
        let sent = drain(&mut sender);
        let shape =
            |transmit: &Transmit<Vec<u8>>| (transmit.segment.part(), transmit.segment.payload().len());
        assert_eq!(sent.iter().map(shape).collect::<Vec<_>>(), expected, "{octets} bytes");
        let joined: Vec<u8> = sent.iter().flat_map(|transmit| transmit.segment.payload().clone()).collect();
        assert_eq!(joined, bytes(octets, 3));
        assert_eq!(sender.poll_event(), Some(SenderEvent::Sent { token: 9 }));
        assert!(sender.is_idle());
    }
}

/// Shows: Part 10 figure 4-4, table 4-2: an end segment of 5 bytes on the wire: O and P set, padded, length.
#[test]
fn the_end_segment_on_the_wire() {
    let mut sender = sender(32, Policy::Sequential);
    sender.submit(pdu(2, 0, 9, bytes(37, 0))).unwrap();
    let sent = drain(&mut sender);
    let mut wire = [0xA5; 10];
    assert_eq!(sent[1].segment.emit(&mut wire), Ok(10));
    assert_eq!(wire[..4], [1, 0b0100_0011, 0, 37]);
    assert_eq!(wire[4..], [&bytes(37, 0)[32..], &[0]].concat());
}

/// Shows: Part 10 table 4-1: 64 KiB is the longest PDU, with length 0; and comes through.
#[test]
fn the_longest_pdu() {
    let mut sender = Sender::new(SenderOptions::default());
    let pdu = |octets| Pdu {
        destination: 2,
        flow: flow(0),
        cos: 0,
        stream_id: 0,
        payload: Extent(octets),
        token: 0,
    };
    let length = |found| Err(Error::Payload { format: "PDU", found, rule: "1 to 65536 bytes" });
    assert_eq!(sender.submit(pdu(0)), length(0));
    assert_eq!(sender.submit(pdu(65_537)), length(65_537));
    sender.submit(pdu(65_536)).unwrap();
    let sent = drain(&mut sender);
    assert_eq!((sent.len(), sent[255].segment.part()), (256, Part::End { length: 0 }));
    let mut receiver = Receiver::new(ReceiverOptions::default());
    for transmit in sent {
        receiver.handle_segment(0, 5, 2, flow(0), transmit.segment, true);
    }
    let payload = Extent(65_536);
    let delivered =
        ReceiverEvent::Delivered { source: 5, destination: 2, flow: flow(0), cos: 0, stream_id: 0, payload };
    assert_eq!(events(&mut receiver), [delivered]);
}

/// Shows: Part 10 §3.2.5, segmentation 1: one PDU at a time in a flow and in a stream; PDUs of different
/// flows may interleave.
#[test]
fn only_flows_interleave() {
    for policy in [Policy::Sequential, Policy::Interleaved] {
        let mut sender = sender(32, policy);
        for (destination, stream_id) in [(2, 1), (2, 2), (3, 3), (2, 1)] {
            sender.submit(pdu(destination, 0, stream_id, bytes(96, 0))).unwrap();
        }
        let order: Vec<u32> = drain(&mut sender).iter().map(|transmit| transmit.destination).collect();
        let ends: Vec<u64> = std::iter::from_fn(|| sender.poll_event())
            .map(|event| match event {
                SenderEvent::Sent { token } => token,
                other => panic!("{other:?}"),
            })
            .collect();
        match policy {
            Policy::Sequential => {
                assert_eq!(order, [2, 2, 2, 3, 3, 3, 2, 2, 2, 2, 2, 2]);
                assert_eq!(ends, [1, 3, 2, 1]);
            }
            Policy::Interleaved => {
                assert_eq!(order, [2, 3, 2, 3, 2, 3, 2, 2, 2, 2, 2, 2]);
                assert_eq!(ends, [1, 3, 2, 1]);
            }
        }
    }
}

/// Shows: Part 10 §2.4: a stream stays in its flow as long as it has PDUs there; higher priorities go first.
#[test]
fn a_stream_keeps_its_flow() {
    let mut sender = sender(32, Policy::Sequential);
    sender.submit(pdu(2, 0, 1, bytes(64, 0))).unwrap();
    let rule = "that of the stream's PDUs not sent yet";
    let refused = Err(Error::Value { field: "flow", found: 1, rule });
    assert_eq!(sender.submit(pdu(2, 1, 1, bytes(64, 0))), refused);
    sender.poll_transmit();
    assert_eq!(sender.submit(pdu(2, 1, 1, bytes(64, 0))), refused);
    sender.submit(pdu(2, 2, 2, bytes(8, 0))).unwrap();
    assert_eq!(sender.poll_transmit().unwrap().flow, flow(2));
    assert_eq!(sender.poll_transmit().unwrap().segment.part(), Part::End { length: 64 });
    assert_eq!(sender.submit(pdu(2, 1, 1, bytes(64, 0))), Ok(()));
    assert!(sender.submit(pdu(2, 3, 3, bytes(64, 0))).is_err());
    let vc = Flow { vc: true, ..flow(3) };
    assert_eq!(sender.submit(Pdu { flow: vc, ..pdu(2, 3, 3, bytes(64, 0)) }), Ok(()));
}

/// Shows: Part 10 §3.2.5, segmentation 9, and §4.2: a PDU is given up by an end segment of length 0 without
/// data, and its receiver discards it.
#[test]
fn an_aborted_pdu_is_discarded() {
    let mut sender = sender(32, Policy::Sequential);
    sender.submit(pdu(2, 0, 9, bytes(200, 0))).unwrap();
    assert!(!sender.abort(2, 1, 9), "nothing has left");
    let first = sender.poll_transmit().unwrap().segment;
    assert!(sender.abort(2, 1, 9));
    let last = sender.poll_transmit().unwrap().segment;
    assert!(last.is_abort() && sender.poll_transmit().is_none() && sender.is_idle());
    assert_eq!(sender.poll_event(), Some(SenderEvent::Aborted { token: 9 }));
    let mut receiver = receiver();
    assert_eq!(feed(&mut receiver, &[first, last]), [Err(Defect::Aborted)]);
    assert_eq!(receiver.contexts(), 0);
}

/// A PDU needs a place of its owner from its first segment to its last, unless it is found defective or its
/// owner had no room: then the rest of it passes and needs none. Law, for three PDUs of two whole segments
/// and an end: 0, then 1 as long as it is sound, then 0.
#[test]
fn only_what_may_still_be_delivered_needs_a_place() {
    let start = || segment(Part::Start { stream_id: 7 }, 32);
    let middle = |octets| segment(Part::Continuation, octets);
    let end = || segment(Part::End { length: 72 }, 8);
    for (room, second, places) in [(true, 32, [1, 1, 0]), (true, 24, [1, 0, 0]), (false, 32, [0, 0, 0])] {
        let mut receiver = receiver();
        let mut found = Vec::new();
        for segment in [start(), middle(second), end()] {
            receiver.handle_segment(0, 1, 2, flow(0), segment, room);
            found.push(receiver.reassembling());
        }
        assert_eq!((&found[..], receiver.contexts()), (&places[..], 0), "{room}, {second}");
    }
    // Time, and the start of the next, end it as well.
    let mut receiver =
        Receiver::new(ReceiverOptions { timeout: Some(10), mtu: mtu(32), ..ReceiverOptions::default() });
    receiver.handle_segment(0, 1, 2, flow(0), start(), true);
    receiver.handle_segment(1, 1, 2, flow(0), start(), false);
    assert_eq!((receiver.reassembling(), receiver.contexts()), (0, 1));
    receiver.handle_segment(2, 1, 2, flow(0), start(), true);
    assert_eq!((receiver.reassembling(), receiver.contexts()), (1, 1));
    receiver.handle_timeout(12);
    assert_eq!((receiver.reassembling(), receiver.contexts()), (0, 0));
}

/// Shows: Part 10 §3.2.5, reassembly 3 to 9, each once.
#[test]
fn each_defect_is_found() {
    let end = |length, octets| segment(Part::End { length }, octets);
    let middle = |octets| segment(Part::Continuation, octets);
    let (start, single) = (|octets| segment(START, octets), |octets| segment(SINGLE, octets));
    let ok = |octets| -> Result<usize, Defect> { Ok(octets) };
    let other_class = Segment::new(2, Part::Continuation, bytes(32, 0)).unwrap();
    for (segments, outcome) in [
        (vec![single(33)], vec![Err(Defect::Long)]),
        (vec![start(28), middle(32), end(68, 8)], vec![Err(Defect::Short)]),
        (vec![start(36), end(44, 8)], vec![Err(Defect::Long)]),
        (vec![start(32), middle(28), middle(32), end(68, 8)], vec![Err(Defect::Short)]),
        (vec![start(32), middle(36), end(76, 8)], vec![Err(Defect::Long)]),
        (vec![start(32), end(65, 33)], vec![Err(Defect::Long)]),
        (vec![start(32), end(41, 8)], vec![Err(Defect::Length)]),
        (vec![start(32), end(32, 0)], vec![Err(Defect::Empty)]),
        (vec![middle(32), end(40, 8)], vec![Err(Defect::MissingStart)]),
        (vec![middle(32), middle(32), end(72, 8), end(40, 8)], vec![Err(Defect::MissingStart); 2]),
        (vec![start(32), start(32), end(40, 8)], vec![Err(Defect::MissingEnd), ok(40)]),
        (vec![start(32), single(7)], vec![Err(Defect::MissingEnd), ok(7)]),
        (vec![start(32), other_class, end(72, 8)], vec![Err(Defect::Class)]),
    ] {
        let mut receiver = receiver();
        assert_eq!(feed(&mut receiver, &segments), outcome, "{segments:?}");
        assert_eq!((receiver.contexts(), receiver.poll_timeout()), (0, None));
        // It is over with the PDU.
        assert_eq!(feed(&mut receiver, &[start(32), middle(32), end(65, 1)]), [ok(65)]);
    }
}

/// Shows: Part 10 §5.5.3: MaxPDU and SegSupport; and what the owner has no room for is discarded.
#[test]
fn limits_of_the_receiver() {
    let options = ReceiverOptions { mtu: mtu(32), max_pdu: 64, contexts: 1, timeout: Some(10 * US) };
    let end = |length, octets| segment(Part::End { length }, octets);
    let (start, middle) = (segment(START, 32), segment(Part::Continuation, 32));
    let mut receiver = Receiver::new(options);
    assert_eq!(feed(&mut receiver, &[start.clone(), middle.clone(), end(65, 1)]), [Err(Defect::MaxPdu)]);

    receiver.handle_segment(0, 5, 2, flow(0), start.clone(), true);
    receiver.handle_segment(0, 6, 2, flow(0), start.clone(), true);
    let discarded = |source, stream_id, defect| ReceiverEvent::Discarded {
        source,
        destination: 2,
        flow: flow(0),
        cos: 1,
        stream_id,
        defect,
    };
    assert_eq!(events(&mut receiver), [discarded(6, Some(9), Defect::NoContext)]);
    receiver.handle_segment(0, 6, 2, flow(0), end(33, 1), true);
    assert_eq!(events(&mut receiver), []);
    receiver.handle_timeout(10 * US - 1);
    assert_eq!(receiver.contexts(), 1);
    receiver.handle_timeout(10 * US);
    assert_eq!(events(&mut receiver), [discarded(5, Some(9), Defect::Timeout)]);
    assert_eq!((receiver.contexts(), receiver.poll_timeout()), (0, None));
    // What comes of a PDU after that, up to its end, is of the one that was discarded.
    for (segment, found) in [
        (middle.clone(), vec![]),
        (middle, vec![]),
        (end(33, 1), vec![]),
        (end(33, 1), vec![discarded(5, None, Defect::MissingStart)]),
    ] {
        receiver.handle_segment(20 * US, 5, 2, flow(0), segment, true);
        assert_eq!(events(&mut receiver), found);
    }

    receiver.handle_segment(0, 5, 2, flow(0), start, false);
    receiver.handle_segment(0, 5, 2, flow(0), end(33, 1), true);
    assert_eq!(events(&mut receiver), [discarded(5, Some(9), Defect::NoRoom)]);
    assert_eq!((receiver.contexts(), receiver.poll_timeout()), (0, None));
}

/// Shows: Part 10 §3.2.4: the context is source, destination and flow, not the class or the stream.
#[test]
fn contexts_are_source_destination_and_flow() {
    let mut receiver = receiver();
    let crf = Flow { priority: Priority::new(0, true).unwrap(), ..flow(0) };
    let vc = Flow { vc: true, ..flow(0) };
    let keys = [(5, 2, flow(0)), (6, 2, flow(0)), (5, 3, flow(0)), (5, 2, flow(1)), (5, 2, crf), (5, 2, vc)];
    for (index, &(source, destination, flow)) in keys.iter().enumerate() {
        let start = Segment::new(index as u8, Part::Start { stream_id: index as u16 }, vec![0; 32]).unwrap();
        receiver.handle_segment(0, source, destination, flow, start, true);
    }
    assert_eq!(receiver.contexts(), keys.len());
    for (index, &(source, destination, flow)) in keys.iter().enumerate() {
        let end = Segment::new(index as u8, Part::End { length: 33 }, vec![index as u8]).unwrap();
        receiver.handle_segment(0, source, destination, flow, end, true);
        let (cos, stream_id) = (index as u8, index as u16);
        let payload = [&[0; 32][..], &[cos]].concat();
        let delivered = ReceiverEvent::Delivered { source, destination, flow, cos, stream_id, payload };
        assert_eq!(events(&mut receiver), [delivered]);
    }
}

/// All sequences of up to five segments from a small alphabet, against the rules of Part 10 §3.2.5 written
/// down as they stand there.
#[test]
fn all_short_sequences() {
    /// Bytes counted so far, or nothing if the PDU is known to be defective.
    type Open = Option<Option<usize>>;
    fn explore(receiver: &Receiver<Vec<u8>>, (open, passes): (Open, bool), depth: u32, count: &mut u32) {
        *count += 1;
        if depth == 0 {
            return;
        }
        for (part, octets) in [
            (SINGLE, 8),
            (START, 32),
            (START, 28),
            (Part::Continuation, 32),
            (Part::Continuation, 28),
            (Part::End { length: 40 }, 8),
            (Part::End { length: 72 }, 8),
        ] {
            let mut receiver = receiver.clone();
            let found = feed(&mut receiver, &[segment(part, octets)]);
            let mut expected = Vec::new();
            let begins = matches!(part, Part::Single { .. } | Part::Start { .. });
            if begins && let Some(Some(_)) = open {
                expected.push(Err(Defect::MissingEnd));
            }
            let fits = octets == 32;
            let next: Open = match (part, open) {
                (Part::Single { .. }, _) => {
                    expected.push(Ok(octets));
                    None
                }
                (Part::Start { .. }, _) if fits => Some(Some(octets)),
                (Part::Start { .. }, _) | (Part::Continuation, Some(Some(_))) if !fits => {
                    expected.push(Err(Defect::Short));
                    Some(None)
                }
                (Part::Continuation, Some(Some(received))) => Some(Some(received + octets)),
                (Part::Continuation | Part::End { .. }, None) => {
                    expected.extend((!passes).then_some(Err(Defect::MissingStart)));
                    None
                }
                (Part::End { length }, Some(Some(received))) => {
                    let total = received + octets;
                    expected.push(if total == usize::from(length) { Ok(total) } else { Err(Defect::Length) });
                    None
                }
                (Part::End { .. }, Some(None)) => None,
                (_, open) => open,
            };
            assert_eq!(found, expected, "{part:?} of {octets} bytes, {open:?}");
            assert_eq!(receiver.contexts(), usize::from(next.is_some()));
            assert_eq!(receiver.poll_timeout().is_some(), next.is_some());
            // Of a PDU without a start the first segment is told, and what follows up to its end is not.
            let passes = part == Part::Continuation && open.is_none();
            explore(&receiver, (next, passes), depth - 1, count);
        }
    }
    let mut count = 0;
    explore(&receiver(), (None, false), 5, &mut count);
    assert_eq!(count, (7u32.pow(6) - 1) / 6);
}

fn management(operand: Operand, action: Action) -> Management {
    Management { operand, action }
}

const XOFF: Action = Action::Xoff { mode: Mode::Basic };
const XON: Action = Action::Xon { mode: Mode::Basic };

/// Shows: Part 10 §3.4.1, §3.4.2: XOFF stops the streams it names, and no other; XON lets them go.
#[test]
fn xoff_stops_what_it_names() {
    let streams: Vec<(u32, u8, u16)> =
        [2, 3].into_iter().flat_map(|dest| [4, 5, 6].map(|cos| (dest, cos, 7))).chain([(2, 4, 8)]).collect();
    let stopped = |operand| -> Vec<(u32, u8, u16)> {
        let mut sender = sender(32, Policy::Sequential);
        for &(destination, cos, stream_id) in &streams {
            sender.submit(Pdu { cos, ..pdu(destination, 0, stream_id, bytes(40, 0)) }).unwrap();
        }
        let untouched = sender.clone();
        sender.handle_management(2, management(operand, XOFF));
        let held: Vec<_> =
            streams.iter().copied().filter(|&(dest, cos, id)| sender.is_stopped(dest, cos, id)).collect();
        assert_eq!(drain(&mut sender).len(), 2 * (streams.len() - held.len()));
        assert_eq!(sender.is_idle(), held.is_empty());
        // An XOFF to what is off is ignored (Part 10 §3.4.5).
        sender.handle_management(2, management(operand, XOFF));
        assert!(!sender.wants_transmit());
        sender.handle_management(2, management(operand, XON));
        assert_eq!(drain(&mut sender).len(), 2 * held.len());
        assert!(sender.is_idle() && !sender.is_stopped(2, 4, 7));
        // An XON to what is on is ignored.
        let mut on = untouched.clone();
        on.handle_management(2, management(operand, XON));
        while on.poll_event().is_some() {}
        assert_eq!(drain(&mut on), drain(&mut untouched.clone()));
        held
    };
    let stream = Operand::Stream { cos: 4, stream_id: 7 };
    assert_eq!(stopped(stream), [(2, 4, 7)]);
    assert_eq!(stopped(Operand::Classes { cos: 4, mask: 0 }), [(2, 4, 7), (2, 4, 8)]);
    assert_eq!(stopped(Operand::Classes { cos: 5, mask: 1 }), [(2, 4, 7), (2, 5, 7), (2, 4, 8)]);
    assert_eq!(stopped(Operand::Destination), [(2, 4, 7), (2, 5, 7), (2, 6, 7), (2, 4, 8)]);
    assert_eq!(stopped(Operand::Everything).len(), streams.len());
}

/// A PDU that is open when XOFF comes is finished; the stream's next one waits.
#[test]
fn xoff_takes_effect_between_pdus() {
    let mut sender = sender(32, Policy::Sequential);
    for _ in 0..2 {
        sender.submit(pdu(2, 0, 9, bytes(64, 0))).unwrap();
    }
    sender.poll_transmit();
    sender.handle_management(2, management(Operand::Destination, XOFF));
    assert_eq!(drain(&mut sender).len(), 1);
    assert_eq!(sender.waiting(2, 1, 9), 1);
    sender.handle_management(2, management(Operand::Destination, XON));
    assert_eq!(drain(&mut sender).len(), 2);
}

/// A short PDU that is alone has no queue; it waits, counts and is stopped like any other.
#[test]
fn a_lone_pdu_is_like_any_other() {
    let mut sender = sender(32, Policy::Sequential);
    assert!(sender.is_idle() && !sender.wants_transmit());
    sender.submit(pdu(2, 0, 9, bytes(20, 0))).unwrap();
    assert!(!sender.is_idle() && sender.wants_transmit());
    assert_eq!((sender.waiting(2, 1, 9), sender.waiting(2, 1, 8)), (1, 0));
    assert!(sender.submit(pdu(2, 1, 9, bytes(20, 0))).is_err(), "a stream has one priority");
    sender.handle_management(2, management(Operand::Destination, XOFF));
    assert!(sender.poll_transmit().is_none());
    assert_eq!(sender.waiting(2, 1, 9), 1);
    // What comes while the stream is stopped does not pass it.
    sender.submit(pdu(2, 0, 9, bytes(10, 1))).unwrap();
    sender.submit(pdu(3, 0, 9, bytes(30, 2))).unwrap();
    let sent = |sender: &mut Sender<Vec<u8>>| -> Vec<(u32, usize)> {
        drain(sender).iter().map(|packet| (packet.destination, packet.segment.payload().len())).collect()
    };
    assert_eq!(sent(&mut sender), [(3, 30)]);
    sender.handle_management(2, management(Operand::Destination, XON));
    assert_eq!(sent(&mut sender), [(2, 20), (2, 10)]);
    assert!(sender.is_idle());
    assert_eq!((sender.counters().segments, sender.counters().pdus), (3, 3));
}

/// The narrowest order that is in force decides; a wider one overrides those inside it.
#[test]
fn exceptions_to_wider_orders() {
    let mut sender = sender(32, Policy::Sequential);
    let stream = Operand::Stream { cos: 4, stream_id: 7 };
    sender.handle_management(2, management(Operand::Everything, XOFF));
    sender.handle_management(2, management(stream, XON));
    assert_eq!(
        [(2, 4, 7), (2, 4, 8), (3, 4, 7)].map(|(a, b, c)| sender.is_stopped(a, b, c)),
        [false, true, true]
    );
    sender.handle_management(2, management(Operand::Classes { cos: 0, mask: 7 }, XOFF));
    assert!(sender.is_stopped(2, 4, 7));
    sender.handle_management(3, management(Operand::Everything, XON));
    assert_eq!(sender.counters().xoff, 2);
    while sender.poll_event().is_some() {}
    assert!(!sender.is_stopped(2, 4, 7) && !sender.is_stopped(9, 9, 9));
}

/// Shows: Part 10 tables 4-3 to 4-6: every value of the fields is read or refused; what is read is written
/// back, but for fields that do not matter.
#[test]
fn all_traffic_management_packets() {
    let mut legal = [0; 4];
    for operation in Operation::ALL {
        for parameter1 in 0..=255 {
            for parameter2 in 0..=255 {
                let packet = TrafficManagement {
                    cos: 3,
                    stream_id: 7,
                    operation,
                    any_destination: false,
                    any_class: false,
                    any_stream: false,
                    mask: 0,
                    parameter1,
                    parameter2,
                };
                if let Ok(message) = Management::parse(&packet) {
                    assert_eq!(message.packet(), packet);
                    legal[usize::from(operation.code())] += 1;
                }
            }
        }
    }
    // Basic: parameter 1 of 0 and 3. Rate: also 1, 5, and 2, 6 without 0. Credit: 0, 0x10 to 0x30.
    assert_eq!(legal, [512, 512 + 512 + 510, 256 * 34, 65_536]);
    for wildcard in 0..8u8 {
        for mask in 0..=255u8 {
            let packet = TrafficManagement {
                cos: 3,
                stream_id: 7,
                operation: Operation::Basic,
                any_destination: wildcard & 4 != 0,
                any_class: wildcard & 2 != 0,
                any_stream: wildcard & 1 != 0,
                mask,
                parameter1: 0,
                parameter2: 0,
            };
            let group = [0, 1, 3, 7, 15, 31, 63, 127, 255].contains(&mask);
            let expected = match wildcard {
                0 if mask == 0 => Some(Operand::Stream { cos: 3, stream_id: 7 }),
                1 if group => Some(Operand::Classes { cos: 3, mask }),
                3 => Some(Operand::Destination),
                7 => Some(Operand::Everything),
                _ => None,
            };
            assert_eq!(Management::parse(&packet).ok().map(|message| message.operand), expected);
        }
    }
    let peak = Action::Reduce { rate: Rate::Peak, amount: 0 };
    assert_eq!(management(Operand::Destination, peak).packet().parameter1, 5);
}

/// What the sender does not obey itself it hands on.
#[test]
fn other_orders_go_to_the_owner() {
    let mut sender = sender(32, Policy::Sequential);
    let message = management(Operand::Destination, Action::Allocate { unit: 3, credits: 16 });
    sender.handle_management(4, message);
    assert_eq!(sender.poll_event(), Some(SenderEvent::Managed { source: 4, message }));
    assert!(!sender.is_stopped(4, 0, 0));
}

#[test]
fn idle_machines_are_small() {
    assert!(size_of::<Sender<Extent>>() <= 256, "{}", size_of::<Sender<Extent>>());
    assert!(size_of::<Receiver<Extent>>() <= 168, "{}", size_of::<Receiver<Extent>>());
}

proptest! {
    /// Whatever the interleaving of flows, streams arrive whole and in order.
    #[test]
    fn reassembly_gives_what_was_sent(
        pdus in proptest::collection::vec((2u32..4, 0u8..3, 0u16..3, 1usize..300), 1..20),
        code in 8u8..=64, interleaved in any::<bool>(),
        order in proptest::collection::vec(any::<u16>(), 0..200),
    ) {
        let policy = if interleaved { Policy::Interleaved } else { Policy::Sequential };
        let mtu = Mtu::from_code(code).unwrap();
        let mut sender = Sender::new(SenderOptions { mtu, policy });
        let mut receiver = Receiver::new(ReceiverOptions { mtu, ..ReceiverOptions::default() });
        let mut expected = Vec::new();
        for (index, &(destination, prio, stream, octets)) in pdus.iter().enumerate() {
            // A stream has one flow.
            let pdu = pdu(destination, prio, 8 * u16::from(prio) + stream, bytes(octets, index as u8));
            expected.push((destination, pdu.stream_id, pdu.payload.clone()));
            sender.submit(pdu).unwrap();
        }
        // The network keeps the order within (destination, flow) and no other.
        let mut queues: Vec<std::collections::VecDeque<Transmit<Vec<u8>>>> = vec![Default::default(); 12];
        while let Some(transmit) = sender.poll_transmit() {
            let queue = transmit.destination * 3 + u32::from(transmit.flow.priority.prio());
            queues[queue as usize].push_back(transmit);
        }
        let mut order = order.into_iter().map(usize::from);
        while queues.iter().any(|queue| !queue.is_empty()) {
            let full: Vec<usize> = (0..12).filter(|&queue| !queues[queue].is_empty()).collect();
            let queue = full[order.next().unwrap_or(0) % full.len()];
            let Transmit { destination, flow, segment } = queues[queue].pop_front().unwrap();
            receiver.handle_segment(0, 1, destination, flow, segment, true);
        }
        let mut delivered: Vec<(u32, u16, Vec<u8>)> = Vec::new();
        for event in events(&mut receiver) {
            match event {
                ReceiverEvent::Delivered { destination, stream_id, payload, .. } => {
                    delivered.push((destination, stream_id, payload));
                }
                ReceiverEvent::Discarded { defect, .. } => prop_assert!(false, "{:?}", defect),
            }
        }
        // Streams are unordered to each other; a stable sort keeps the order within each.
        expected.sort_by_key(|&(destination, stream_id, _)| (destination, stream_id));
        delivered.sort_by_key(|&(destination, stream_id, _)| (destination, stream_id));
        prop_assert_eq!(delivered, expected);
        prop_assert_eq!((receiver.contexts(), receiver.poll_timeout()), (0, None));
        prop_assert!(sender.is_idle());
    }

    /// Where segments are lost or repeated, what is delivered has a length that was sent; the rest is
    /// reported; no context outlives its timeout. (Part 10 cannot notice more: if the end of a PDU and the
    /// start of the next are lost together, the beginning of one is delivered with the rest of the other.)
    #[test]
    fn what_is_lost_is_reported(
        sizes in proptest::collection::vec(1usize..200, 1..12),
        fates in proptest::collection::vec(0u8..16, 0..100),
    ) {
        let mut sender = sender(32, Policy::Sequential);
        for (index, &octets) in sizes.iter().enumerate() {
            sender.submit(pdu(2, 0, index as u16, bytes(octets, index as u8))).unwrap();
        }
        let mut receiver = receiver();
        let (mut fates, mut clean) = (fates.into_iter(), true);
        while let Some(transmit) = sender.poll_transmit() {
            let copies = match fates.next() {
                Some(0) => 0,
                Some(1) => 2,
                _ => 1,
            };
            clean &= copies == 1;
            for _ in 0..copies {
                receiver.handle_segment(0, 1, 2, transmit.flow, transmit.segment.clone(), true);
            }
        }
        if let Some(at) = receiver.poll_timeout() {
            receiver.handle_timeout(at);
        }
        prop_assert_eq!((receiver.contexts(), receiver.poll_timeout()), (0, None));
        let mut discarded = 0;
        for event in events(&mut receiver) {
            match event {
                ReceiverEvent::Delivered { payload, .. } => prop_assert!(sizes.contains(&payload.len())),
                ReceiverEvent::Discarded { .. } => discarded += 1,
            }
        }
        prop_assert_eq!(receiver.counters().discarded, discarded);
        prop_assert!(!clean || discarded == 0);
    }
}
