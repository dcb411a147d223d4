//! The type 10 engines under any sequence of calls: every doorbell ends exactly once, transaction IDs stay in
//! their range, and nothing is left when time has passed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logical::engine::doorbell::{Event, Options, Receiver, Ring, Sender, Transmit};
use logical::wire::Priority;
use logical::wire::response::Status;
use std::collections::BTreeSet;

const CAPACITY: usize = 3;

fn take(sender: &mut Sender, submitted: u64, ended: &mut BTreeSet<u64>) {
    while let Some(event) = sender.poll_event() {
        let (Event::Sent { token } | Event::Failed { token, .. }) = event;
        assert!(token < submitted && ended.insert(token), "{event:?}");
    }
}

fn run(bytes: &[u8]) {
    let Some((&options, operations)) = bytes.split_first() else { return };
    let (first_tid, last_tid) = (options & 7, (options & 7) + (options >> 3 & 7));
    let retry_delay = u64::from(options >> 6);
    let mut sender = Sender::new(Options { first_tid, last_tid, response_timeout: 1_000, retry_delay });
    let mut receiver = Receiver::new(CAPACITY);
    let (mut now, mut submitted, mut ended) = (0, 0, BTreeSet::new());
    let mut wire: Vec<Transmit> = Vec::new();
    for operation in operations.chunks_exact(3) {
        let [operation, a, b] = [operation[0], operation[1], operation[2]];
        let place = if wire.is_empty() { None } else { Some(usize::from(a) % wire.len()) };
        match (operation % 8, place) {
            (0, _) => {
                let priority = Priority::new(b & 3, b & 4 != 0).unwrap();
                let ring = Ring { destination: u32::from(a & 3), info: a.into(), priority, token: submitted };
                submitted += u64::from(sender.submit(ring).is_ok());
            }
            (1, _) => {
                if let Some(transmit) = sender.poll_transmit(now) {
                    assert!((first_tid..=last_tid).contains(&transmit.doorbell.src_tid));
                    wire.push(transmit);
                }
            }
            (2 | 3, Some(place)) => {
                let transmit = wire.swap_remove(place);
                let status = receiver.handle_doorbell(9, transmit.doorbell.info);
                if b & 1 == 0 {
                    sender.handle_response(now, transmit.destination, transmit.doorbell.src_tid, status);
                }
            }
            (4, _) => {
                let status = Status::ALL[usize::from(operation >> 3) % 3];
                sender.handle_response(now, u32::from(a & 3), b, status);
            }
            (5, _) => _ = receiver.poll_event(),
            (6, Some(place)) => _ = wire.swap_remove(place),
            (7, _) => {
                now += u64::from(a) * 8;
                sender.handle_timeout(now);
            }
            _ => {}
        }
        take(&mut sender, submitted, &mut ended);
        assert!(sender.active() <= usize::from(last_tid - first_tid) + 1 && receiver.len() <= CAPACITY);
    }
    loop {
        while sender.poll_transmit(now).is_some() {}
        let Some(at) = sender.poll_timeout() else { break };
        now = now.max(at);
        sender.handle_timeout(now);
        assert!(sender.poll_timeout().is_none_or(|at| at > now));
        take(&mut sender, submitted, &mut ended);
    }
    assert_eq!((sender.active(), ended.len() as u64), (0, submitted));
    assert!(!sender.wants_transmit());
}

fuzz_target!(|bytes: &[u8]| run(bytes));
