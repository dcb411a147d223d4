//! The type 11 engines under any sequence of calls: every message ends exactly once, the window holds,
//! deadlines lie ahead, and nothing is left when time has passed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logical::engine::message::{
    Message, Receiver, ReceiverOptions, Sender, SenderEvent, SenderOptions, Transmit,
};
use logical::wire::message::{Segment, SegmentSize, TargetInfo, View};
use logical::wire::response::Status;
use logical::wire::{Extent, Priority};
use std::collections::BTreeSet;

const WINDOW: u32 = 9;
const TIMEOUT: u64 = 1_000;

struct World {
    now: u64,
    sender: Sender<Extent>,
    receiver: Receiver<Extent>,
    wire: Vec<Transmit<Extent>>,
    submitted: u64,
    ended: BTreeSet<u64>,
}

impl World {
    fn new(options: u8) -> Self {
        let sender = SenderOptions {
            letters: options % 4 + 1,
            window: WINDOW,
            response_timeout: TIMEOUT,
            retry_delay: u64::from(options >> 2 & 3),
            patience: 2 * TIMEOUT,
            linger: u64::from(options >> 4) * 100,
        };
        let receiver = ReceiverOptions { timeout: TIMEOUT, contexts: 5, ..ReceiverOptions::default() };
        Self {
            now: 0,
            sender: Sender::new(sender),
            receiver: Receiver::new(receiver),
            wire: Vec::new(),
            submitted: 0,
            ended: BTreeSet::new(),
        }
    }

    fn operate(&mut self, [operation, a, b, c]: [u8; 4]) {
        let place = if self.wire.is_empty() { None } else { Some(usize::from(a) % self.wire.len()) };
        match operation % 8 {
            0 => {
                let message = Message {
                    destination: u32::from(a >> 6),
                    mailbox: a & 0x3F,
                    letter: (c & 8 != 0).then_some(c & 7),
                    priority: Priority::new(c >> 4 & 3, false).unwrap(),
                    size: SegmentSize::ALL[usize::from(c >> 5) % 6],
                    payload: Extent(u32::from(b) * 3),
                    token: self.submitted,
                };
                self.submitted += u64::from(self.sender.submit(message).is_ok());
            }
            1 => self.wire.extend(self.sender.poll_transmit(self.now)),
            2 | 3 => {
                let Some(place) = place else { return };
                let (lost, repeated) = (operation & 8 != 0, operation & 16 != 0);
                let transmit = if repeated { self.wire[place].clone() } else { self.wire.swap_remove(place) };
                let target = transmit.segment.target();
                let answer = self.receiver.handle_segment(self.now, 7, transmit.segment, b & 1 == 0);
                if !lost {
                    self.sender.handle_response(self.now, transmit.destination, target, answer);
                }
            }
            4 => {
                let status = Status::ALL[usize::from(c % 3)];
                self.sender.handle_response(self.now, u32::from(a & 3), TargetInfo::from_byte(b), status);
            }
            5 => self.receive(&[a, b, c, 0, 0, 0, 0, 0, 0, 0][..usize::from(operation >> 3) % 11]),
            6 => _ = place.map(|place| self.wire.swap_remove(place)),
            _ => {
                self.now += u64::from(a) * 8;
                self.time_out();
            }
        }
        self.check();
    }

    fn receive(&mut self, bytes: &[u8]) {
        let Ok(view) = View::new(bytes) else { return };
        match Segment::parse(bytes) {
            Ok(segment) => {
                let payload = Extent(segment.payload().len() as u32);
                let (segments, size) = (segment.segments(), segment.size());
                let segment = Segment::new(segments, size, segment.target(), payload).unwrap();
                self.receiver.handle_segment(self.now, 7, segment, true);
            }
            Err(_) => {
                let answer = self.receiver.handle_malformed(7, view.msglen(), view.target_info());
                assert_eq!(answer, Status::Error);
            }
        }
    }

    fn time_out(&mut self) {
        self.sender.handle_timeout(self.now);
        self.receiver.handle_timeout(self.now);
        assert!(self.sender.poll_timeout().is_none_or(|at| at > self.now));
        assert!(self.receiver.poll_timeout().is_none_or(|at| at > self.now));
    }

    fn check(&mut self) {
        while let Some(event) = self.sender.poll_event() {
            let (SenderEvent::Sent { token } | SenderEvent::Failed { token, .. }) = event;
            assert!(token < self.submitted && self.ended.insert(token), "{event:?}");
        }
        while self.receiver.poll_event().is_some() {}
        assert!(self.sender.outstanding() <= WINDOW);
        assert!(self.receiver.contexts() <= 5);
        assert_eq!(self.receiver.poll_timeout().is_some(), self.receiver.contexts() > 0);
    }

    /// Nobody answers any more.
    fn finish(mut self) {
        loop {
            while self.sender.poll_transmit(self.now).is_some() {}
            self.check();
            let deadlines = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
            let Some(at) = deadlines.into_iter().flatten().min() else { break };
            self.now = self.now.max(at);
            self.time_out();
            self.check();
        }
        assert!(self.sender.is_idle());
        assert_eq!((self.receiver.contexts(), self.ended.len() as u64), (0, self.submitted));
    }
}

fn run(bytes: &[u8]) {
    let Some((&options, operations)) = bytes.split_first() else { return };
    let mut world = World::new(options);
    for operation in operations.chunks_exact(4) {
        world.operate([operation[0], operation[1], operation[2], operation[3]]);
    }
    world.finish();
}

fuzz_target!(|bytes: &[u8]| run(bytes));
