//! The doorbell engine: one test per rule, and pairs over a bad network.

use logical::engine::doorbell::{Event, Failure, Options, Received, Receiver, Ring, Sender, Transmit};
use logical::wire::doorbell::Doorbell;
use logical::wire::response::Status;
use logical::wire::{Error, Priority};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn prio(prio: u8) -> Priority {
    Priority::new(prio, false).unwrap()
}

fn ring(destination: u32, info: u16) -> Ring {
    Ring { destination, info, priority: prio(0), token: info.into() }
}

fn drain(sender: &mut Sender, now: u64) -> Vec<Transmit> {
    std::iter::from_fn(|| sender.poll_transmit(now)).collect()
}

fn events(sender: &mut Sender) -> Vec<Event> {
    std::iter::from_fn(|| sender.poll_event()).collect()
}

/// Shows: Part 2 §4.2.4: info and transaction ID; several doorbells under way are told apart by it.
#[test]
fn doorbells_under_way_have_ids_of_their_own() {
    let mut sender = Sender::new(Options { first_tid: 10, last_tid: 12, ..Options::default() });
    for info in 0..4 {
        sender.submit(ring(1, info)).unwrap();
    }
    let sent = drain(&mut sender, 0);
    let packets: Vec<Doorbell> = sent.iter().map(|transmit| transmit.doorbell).collect();
    assert_eq!(packets, [10, 11, 12].map(|src_tid| Doorbell { src_tid, info: u16::from(src_tid) - 10 }));
    assert!(!sender.wants_transmit());
    sender.handle_response(1, 1, 11, Status::Done);
    assert_eq!(events(&mut sender), [Event::Sent { token: 1 }]);
    assert_eq!(drain(&mut sender, 1)[0].doorbell, Doorbell { src_tid: 11, info: 3 });
}

/// Shows: Part 2 §3.3.1: DONE, RETRY, ERROR and no answer at all.
#[test]
fn every_answer() {
    for retry_delay in [0, 5] {
        let mut sender = Sender::new(Options { response_timeout: 100, retry_delay, ..Options::default() });
        for info in 0..4 {
            sender.submit(ring(1, info)).unwrap();
        }
        let sent = drain(&mut sender, 0);
        for (tid, status) in [(0, Status::Done), (1, Status::Retry), (2, Status::Error)] {
            sender.handle_response(10, 1, tid, status);
        }
        let failed = |token, cause| Event::Failed { token, cause };
        assert_eq!(events(&mut sender), [Event::Sent { token: 0 }, failed(2, Failure::ErrorResponse)]);
        assert_eq!(sender.wants_transmit(), retry_delay == 0);
        sender.handle_timeout(10 + retry_delay);
        assert_eq!(drain(&mut sender, 20), [sent[1]]);
        assert_eq!(sender.poll_timeout(), Some(100));
        sender.handle_timeout(100);
        assert_eq!(events(&mut sender), [failed(3, Failure::Timeout)]);
        sender.handle_response(101, 1, 1, Status::Done);
        assert_eq!(events(&mut sender), [Event::Sent { token: 1 }]);
        assert_eq!((sender.active(), sender.poll_timeout(), sender.counters().retries), (0, None, 1));
    }
}

/// Shows: Part 8 §2.3.2.2: a response with an ID that is not in use, or from somebody else, has no effect.
#[test]
fn responses_to_nothing_are_counted() {
    let mut sender = Sender::new(Options { retry_delay: 5, ..Options::default() });
    sender.submit(ring(1, 7)).unwrap();
    drain(&mut sender, 0);
    for status in Status::ALL {
        sender.handle_response(1, 2, 0, status);
        sender.handle_response(1, 1, 1, status);
    }
    assert_eq!((sender.counters().unsolicited, sender.active()), (6, 1));
    sender.handle_response(1, 1, 0, Status::Retry);
    sender.handle_response(2, 1, 0, Status::Done);
    assert_eq!((sender.counters().unsolicited, events(&mut sender)), (7, vec![]));
}

#[test]
fn higher_priorities_and_repetitions_leave_first() {
    let mut sender = Sender::new(Options::default());
    for (info, priority) in [(0, 0), (1, 1), (2, 0)] {
        sender.submit(Ring { priority: prio(priority), ..ring(1, info) }).unwrap();
    }
    assert_eq!(sender.poll_transmit(0).unwrap().doorbell.info, 1);
    assert_eq!(sender.poll_transmit(0).unwrap().doorbell.info, 0);
    sender.handle_response(1, 1, 1, Status::Retry);
    sender.submit(Ring { priority: prio(2), ..ring(1, 3) }).unwrap();
    let order: Vec<u16> = drain(&mut sender, 1).iter().map(|transmit| transmit.doorbell.info).collect();
    assert_eq!(order, [3, 0, 2]);
    let refused = sender.submit(Ring { priority: prio(3), ..ring(1, 4) });
    assert_eq!(refused, Err(Error::Range { field: "prio", max: 2, found: 3 }));
}

/// Shows: Part 2 §3.3.1: doorbells are put into a queue; a full one answers RETRY (§4.3).
#[test]
fn a_full_queue_answers_retry() {
    let mut receiver = Receiver::new(2);
    let answers: Vec<Status> = (0..4).map(|info| receiver.handle_doorbell(5, info)).collect();
    assert_eq!(answers, [Status::Done, Status::Done, Status::Retry, Status::Retry]);
    assert_eq!(receiver.poll_event(), Some(Received { source: 5, info: 0 }));
    assert_eq!(receiver.handle_doorbell(6, 9), Status::Done);
    let rest: Vec<u16> = std::iter::from_fn(|| receiver.poll_event()).map(|received| received.info).collect();
    assert_eq!((rest, receiver.counters().retries, receiver.counters().accepted), (vec![1, 9], 2, 3));
}

#[test]
fn idle_machines_are_small() {
    assert!(size_of::<Sender>() <= 336, "{}", size_of::<Sender>());
    assert!(size_of::<Receiver>() <= 64, "{}", size_of::<Receiver>());
}

proptest! {
    /// Every doorbell ends once; one that was sent was received once, one that failed at most once.
    #[test]
    fn ends_agree_with_receptions(
        rings in 1usize..40, choices in proptest::collection::vec(any::<u16>(), 0..400),
        loss in 0usize..100, capacity in 1usize..5, last_tid in 0u8..6, retry_delay in 0u64..3,
    ) {
        let mut sender = Sender::new(Options {
            first_tid: 0,
            last_tid,
            response_timeout: 50,
            linger: 150,
            retry_delay,
        });
        let mut receiver = Receiver::new(capacity);
        for info in 0..rings {
            sender.submit(ring(2, info as u16)).unwrap();
        }
        let mut choices = choices.into_iter().map(usize::from);
        let (mut now, mut ends, mut received) = (0, Vec::new(), Vec::new());
        let mut wire: Vec<(Doorbell, Option<Status>)> = Vec::new();
        loop {
            wire.extend(drain(&mut sender, now).iter().map(|transmit| (transmit.doorbell, None)));
            ends.extend(events(&mut sender));
            if wire.is_empty() {
                received.extend(std::iter::from_fn(|| receiver.poll_event()));
                let Some(at) = sender.poll_timeout() else { break };
                prop_assert!(at > now);
                now = at;
                sender.handle_timeout(now);
                continue;
            }
            let (doorbell, status) = wire.swap_remove(choices.next().unwrap_or(0) % wire.len());
            let fate = choices.next().unwrap_or(255);
            if fate % 256 < loss {
                continue;
            }
            match status {
                Some(status) => sender.handle_response(now, 2, doorbell.src_tid, status),
                None => wire.push((doorbell, Some(receiver.handle_doorbell(1, doorbell.info)))),
            }
            if fate % 3 == 0 {
                received.extend(receiver.poll_event());
            }
        }
        prop_assert_eq!((ends.len(), sender.active(), receiver.len()), (rings, 0, 0));
        let once: BTreeSet<u16> = received.iter().map(|received| received.info).collect();
        prop_assert_eq!(once.len(), received.len());
        for info in 0..rings as u16 {
            let sent = ends.contains(&Event::Sent { token: info.into() });
            let failed = ends.contains(&Event::Failed { token: info.into(), cause: Failure::Timeout });
            prop_assert!(sent != failed);
            prop_assert!(failed || once.contains(&info));
        }
    }
}
