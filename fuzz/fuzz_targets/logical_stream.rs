//! The type 9 engines under any sequence of calls: every PDU ends exactly once, no flow has two PDUs open,
//! what is delivered fits the receiver, and nothing is left when time has passed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logical::engine::stream::traffic::{Action, Management, Mode, Operand};
use logical::engine::stream::{
    Flow, Mtu, Pdu, Policy, Receiver, ReceiverEvent, ReceiverOptions, Sender, SenderEvent, SenderOptions,
    Transmit,
};
use logical::wire::stream::{Part, Segment};
use logical::wire::traffic_management::TrafficManagement;
use logical::wire::{Extent, Payload, Priority};
use std::collections::BTreeSet;

const MAX_PDU: u32 = 600;
const CONTEXTS: u32 = 4;

struct World {
    now: u64,
    sender: Sender<Extent>,
    receiver: Receiver<Extent>,
    wire: Vec<Transmit<Extent>>,
    /// Flows in which a PDU has begun to leave.
    open: BTreeSet<(u32, Flow)>,
    submitted: u64,
    ended: BTreeSet<u64>,
}

fn flow(byte: u8) -> Flow {
    Flow { vc: byte & 8 != 0, priority: Priority::new(byte & 3, byte & 4 != 0).unwrap() }
}

impl World {
    fn new(options: u8) -> Self {
        let mtu = Mtu::from_code(8 + options % 16).unwrap();
        let policy = if options & 0x80 == 0 { Policy::Sequential } else { Policy::Interleaved };
        let receiver = ReceiverOptions { mtu, max_pdu: MAX_PDU, contexts: CONTEXTS, timeout: Some(1_000) };
        Self {
            now: 0,
            sender: Sender::new(SenderOptions { mtu, policy }),
            receiver: Receiver::new(receiver),
            wire: Vec::new(),
            open: BTreeSet::new(),
            submitted: 0,
            ended: BTreeSet::new(),
        }
    }

    fn transmit(&mut self) -> Option<Transmit<Extent>> {
        let transmit = self.sender.poll_transmit()?;
        let key = (transmit.destination, transmit.flow);
        match transmit.segment.part() {
            Part::Single { .. } => assert!(!self.open.contains(&key)),
            Part::Start { .. } => assert!(self.open.insert(key)),
            Part::Continuation => assert!(self.open.contains(&key)),
            Part::End { .. } => assert!(self.open.remove(&key)),
        }
        Some(transmit)
    }

    fn operate(&mut self, [operation, a, b, c]: [u8; 4]) {
        let place = if self.wire.is_empty() { None } else { Some(usize::from(a) % self.wire.len()) };
        match operation % 8 {
            0 => {
                let pdu = Pdu {
                    destination: u32::from(a & 1),
                    flow: flow(c),
                    cos: a >> 1 & 3,
                    stream_id: u16::from(a >> 3 & 1),
                    payload: Extent(u32::from(b) * 3),
                    token: self.submitted,
                };
                self.submitted += u64::from(self.sender.submit(pdu).is_ok());
            }
            1 => {
                let transmit = self.transmit();
                self.wire.extend(transmit);
            }
            2 | 3 => {
                let Some(place) = place else { return };
                let Transmit { destination, flow, segment } = self.wire.remove(place);
                self.receiver.handle_segment(self.now, 5, destination, flow, segment, b & 3 != 0);
            }
            4 => {
                let part = match a & 3 {
                    0 => Part::Single { stream_id: 0 },
                    1 => Part::Start { stream_id: 0 },
                    2 => Part::Continuation,
                    _ => Part::End { length: b.into() },
                };
                let Ok(segment) = Segment::new(a >> 2 & 3, part, Extent(b.into())) else { return };
                self.receiver.handle_segment(self.now, 5, 0, flow(c), segment, true);
            }
            5 => {
                // cos, xh; TM OP and wildcards, mask, parameters.
                let bytes = [a >> 1 & 3, 4, 0, 0, b, c, operation >> 3 & 3, if a & 8 == 0 { 0 } else { 255 }];
                let Ok(packet) = TrafficManagement::parse(&bytes) else { return };
                if let Ok(message) = Management::parse(&packet) {
                    assert_eq!(Management::parse(&message.packet()), Ok(message));
                    self.sender.handle_management(u32::from(a & 1), message);
                }
            }
            6 => _ = self.sender.abort(u32::from(a & 1), a >> 1 & 3, u16::from(a >> 3 & 1)),
            _ => {
                self.now += u64::from(a) * 8;
                self.receiver.handle_timeout(self.now);
                assert!(self.receiver.poll_timeout().is_none_or(|at| at > self.now));
            }
        }
        self.check();
    }

    fn check(&mut self) {
        while let Some(event) = self.sender.poll_event() {
            if let SenderEvent::Sent { token } | SenderEvent::Aborted { token } = event {
                assert!(token < self.submitted && self.ended.insert(token), "{event:?}");
            }
        }
        while let Some(event) = self.receiver.poll_event() {
            if let ReceiverEvent::Delivered { payload, .. } = event {
                assert!((1..=MAX_PDU as usize).contains(&payload.octets()));
            }
        }
        assert!(self.receiver.contexts() <= CONTEXTS as usize);
        assert_eq!(self.receiver.poll_timeout().is_some(), self.receiver.contexts() > 0);
    }

    fn finish(mut self) {
        let action = Action::Xon { mode: Mode::Basic };
        self.sender.handle_management(0, Management { operand: Operand::Everything, action });
        while self.transmit().is_some() {}
        self.now += 1_000;
        self.receiver.handle_timeout(self.now);
        self.check();
        assert!(self.sender.is_idle() && self.open.is_empty());
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
