//! The I/O engine under any sequence of calls, and under packets that answer nothing: every request ends
//! exactly once, transaction IDs stay in their range, and nothing is left when time has passed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logical::engine::io::requester::{Event, Options, Order, Requester, Transmit};
use logical::engine::io::{Memory, serve};
use logical::wire::address::{Address, Span};
use logical::wire::maintenance::{Access, Maintenance, Operation as Register};
use logical::wire::read::{Operation as ReadOperation, Read};
use logical::wire::response::{Response, Status};
use logical::wire::write::{Operation as WriteOperation, Write};
use logical::wire::{Body, Packet, Priority, Transport};
use lp_serial::IdSize;
use lp_serial::cost::AddressSize;
use std::collections::BTreeSet;

type Data = Vec<u8>;

fn request(kind: u8, at: u8) -> Body<Data> {
    let address = Address::new(AddressSize::Bits34, u64::from(at)).unwrap();
    let word = Span::read(4, 4).unwrap();
    let write = |operation, span, octets: usize| {
        Body::Write(Write::new(operation, 0, address, span, vec![at; octets]).unwrap())
    };
    let read = |operation, span| Body::Read(Read::new(operation, 0, address, span).unwrap());
    let access = Access::register(u32::from(at) * 4).unwrap();
    let maintenance = |operation| Body::Maintenance(Maintenance::new(255, operation).unwrap());
    match kind % 9 {
        0 => read(ReadOperation::Nread, Span::read(0, 96).unwrap()),
        1 => read(ReadOperation::Increment, word),
        2 => write(WriteOperation::Nwrite, Span::DOUBLE_WORD, 8),
        3 => write(WriteOperation::NwriteR, Span::write(0, 128).unwrap(), 24),
        4 => write(WriteOperation::CompareAndSwap, Span::TWO_DOUBLE_WORDS, 16),
        5 => write(WriteOperation::TestAndSwap, word, 8),
        6 => maintenance(Register::Read { src_tid: 0, access }),
        7 => maintenance(Register::Write { src_tid: 0, access, payload: vec![at; 8] }),
        _ => maintenance(Register::PortWrite { octets: 16, payload: vec![at; 16] }),
    }
}

fn deliver(requester: &mut Requester<Data>, packet: Packet<Data>) {
    let source = packet.transport.source();
    match packet.body {
        Body::Response(response) => requester.handle_response(source, response),
        Body::Maintenance(maintenance) => requester.handle_maintenance(source, maintenance.into_operation()),
        _ => unreachable!("no response"),
    }
}

fn take(requester: &mut Requester<Data>, submitted: u64, ended: &mut BTreeSet<u64>) {
    while let Some(event) = requester.poll_event() {
        let (Event::Done { token, .. } | Event::Failed { token, .. }) = event;
        assert!(token < submitted && ended.insert(token), "{token} ended twice");
    }
}

fn answer(
    Transmit { destination, priority, body }: Transmit<Data>,
    device: &mut Memory,
) -> Option<Packet<Data>> {
    serve(Packet { transport: Transport::new(priority, IdSize::Dev8, destination, 9).unwrap(), body }, device)
}

fn run(bytes: &[u8]) {
    let Some((&options, operations)) = bytes.split_first() else { return };
    let (first_tid, last_tid) = (options & 7, (options & 7) + (options >> 3 & 7));
    let mut requester = Requester::new(Options {
        first_tid,
        last_tid,
        response_timeout: 1_000,
        retries: options >> 6,
        window: 1 + (options >> 5 & 3),
        maintenance_window: 1,
    });
    let mut device = Memory::new(0, 64);
    let (mut now, mut submitted, mut ended) = (0, 0, BTreeSet::new());
    let mut responses: Vec<Packet<Data>> = Vec::new();
    for operation in operations.chunks_exact(3) {
        let [operation, a, b] = [operation[0], operation[1], operation[2]];
        match operation % 8 {
            0 | 1 => {
                let (priority, body) = (Priority::new(b & 3, b & 4 != 0).unwrap(), request(a, b));
                let order = Order { destination: u32::from(a & 3), priority, body, token: submitted };
                submitted += u64::from(requester.submit(order).is_ok());
            }
            2 | 3 => {
                if let Some(transmit) = requester.poll_transmit(now) {
                    let response = answer(transmit, &mut device);
                    responses.extend(response.filter(|_| b & 3 != 0));
                }
            }
            4 if !responses.is_empty() => {
                let response = responses.swap_remove(usize::from(a) % responses.len());
                if b & 1 == 0 {
                    responses.push(response.clone());
                }
                deliver(&mut requester, response);
            }
            5 => {
                let target_tid = a & 15;
                let status = Status::ALL[usize::from(b) % 3];
                requester.handle_response(u32::from(b & 3), Response::Io { target_tid, status });
                let payload = vec![0; 8];
                requester.handle_maintenance(u32::from(b & 3), Register::ReadDone { target_tid, payload });
            }
            6 => {
                now += 8 * u64::from(a);
                requester.handle_timeout(now);
                assert!(requester.poll_timeout().is_none_or(|next| next > now));
            }
            _ => take(&mut requester, submitted, &mut ended),
        }
        assert!(requester.active() <= usize::from(last_tid - first_tid) + 1);
    }
    for _ in 0..10 * (submitted + 1) {
        while let Some(transmit) = requester.poll_transmit(now) {
            if let Some(response) = answer(transmit, &mut device) {
                deliver(&mut requester, response);
            }
        }
        let Some(next) = requester.poll_timeout() else { break };
        now = next;
        requester.handle_timeout(now);
    }
    take(&mut requester, submitted, &mut ended);
    assert_eq!(ended.len() as u64, submitted);
    assert_eq!((requester.active(), requester.wants_transmit(), requester.poll_timeout()), (0, false, None));
}

fuzz_target!(|bytes: &[u8]| run(bytes));
