//! Cost of the engines: one iteration is one message, doorbell or PDU, from `submit` to the event that ends
//! it, through sender and receiver and, where there are any, responses. 1 000 others are under way all the
//! time, so that maps and deadlines have a size. `extent` carries a length, `bytes` carries bytes.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use logical::engine::{Divisible, doorbell, message, stream};
use logical::wire::message::SegmentSize;
use logical::wire::response::Status;
use logical::wire::{Extent, Priority};
use std::hint::black_box;

/// Destinations with an unanswered request each.
const BACKGROUND: u32 = 1_000;
const DESTINATION: u32 = 500;
const OCTETS: [u32; 4] = [8, 256, 1024, 4096];

fn message<P: Divisible>(destination: u32, payload: P) -> message::Message<P> {
    message::Message {
        destination,
        mailbox: 0,
        letter: None,
        order: message::Order::Free,
        priority: Priority::LOWEST,
        size: SegmentSize::B256,
        payload,
        token: 0,
    }
}

fn one_message<P: Divisible>(c: &mut Criterion, name: &str, make: fn(u32) -> P) {
    let mut group = c.benchmark_group("message");
    for octets in OCTETS {
        let options = message::SenderOptions { window: u32::MAX, ..Default::default() };
        let mut sender = message::Sender::new(options);
        let mut receiver = message::Receiver::new(message::ReceiverOptions::default());
        for destination in 0..BACKGROUND {
            sender.submit(message(destination, make(8))).unwrap();
            sender.poll_transmit(0).unwrap();
        }
        let payload = make(octets);
        let mut now = 1;
        group.throughput(Throughput::Elements(u64::from(octets.div_ceil(256))));
        group.bench_function(BenchmarkId::new(name, octets), |bencher| {
            bencher.iter(|| {
                now += 1;
                sender.submit(message(DESTINATION, payload.clone())).unwrap();
                while let Some(transmit) = sender.poll_transmit(now) {
                    let target = transmit.segment.target();
                    let status = receiver.handle_segment(now, 1, transmit.segment, true);
                    sender.handle_response(now, transmit.destination, target, status);
                }
                black_box((sender.poll_timeout(), receiver.poll_timeout()));
                (sender.poll_event().unwrap(), receiver.poll_event().unwrap())
            });
        });
    }
    group.finish();
}

fn messages(c: &mut Criterion) {
    one_message(c, "extent", Extent);
    one_message(c, "bytes", |octets| vec![7u8; octets as usize]);
}

fn one_pdu<P: Divisible>(c: &mut Criterion, name: &str, make: fn(u32) -> P) {
    let mut group = c.benchmark_group("pdu");
    let pdu = |destination, payload| stream::Pdu {
        destination,
        flow: stream::Flow::default(),
        cos: 0,
        stream_id: 0,
        payload,
        token: 0,
    };
    for octets in OCTETS {
        let mut sender = stream::Sender::new(stream::SenderOptions::default());
        let mut receiver = stream::Receiver::new(stream::ReceiverOptions::default());
        for source in 0..BACKGROUND {
            sender.submit(pdu(DESTINATION, make(512))).unwrap();
            let start = sender.poll_transmit().unwrap();
            while sender.poll_transmit().is_some() {}
            sender.poll_event();
            receiver.handle_segment(0, source + 2, DESTINATION, start.flow, start.segment, true);
        }
        let payload = make(octets);
        let mut now = 1;
        group.throughput(Throughput::Elements(u64::from(octets.div_ceil(256))));
        group.bench_function(BenchmarkId::new(name, octets), |bencher| {
            bencher.iter(|| {
                now += 1;
                sender.submit(pdu(DESTINATION, payload.clone())).unwrap();
                while let Some(stream::Transmit { destination, flow, segment }) = sender.poll_transmit() {
                    receiver.handle_segment(now, 1, destination, flow, segment, true);
                }
                black_box(receiver.poll_timeout());
                (sender.poll_event().unwrap(), receiver.poll_event().unwrap())
            });
        });
    }
    group.finish();
}

fn pdus(c: &mut Criterion) {
    one_pdu(c, "extent", Extent);
    one_pdu(c, "bytes", |octets| vec![7u8; octets as usize]);
}

fn doorbells(c: &mut Criterion) {
    let ring = |info| doorbell::Ring { destination: 1, info, priority: Priority::LOWEST, token: 0 };
    let mut sender = doorbell::Sender::new(doorbell::Options::default());
    let mut receiver = doorbell::Receiver::new(4);
    for info in 0..200 {
        sender.submit(ring(info)).unwrap();
        sender.poll_transmit(0).unwrap();
    }
    let mut now = 1;
    c.bench_function("doorbell", |bencher| {
        bencher.iter(|| {
            now += 1;
            sender.submit(ring(7)).unwrap();
            let transmit = sender.poll_transmit(now).unwrap();
            let status = receiver.handle_doorbell(2, transmit.doorbell.info);
            assert_eq!(status, Status::Done);
            sender.handle_response(now, 1, transmit.doorbell.src_tid, status);
            black_box(sender.poll_timeout());
            (sender.poll_event().unwrap(), receiver.poll_event().unwrap())
        });
    });
}

criterion_group!(benches, messages, pdus, doorbells);
criterion_main!(benches);
