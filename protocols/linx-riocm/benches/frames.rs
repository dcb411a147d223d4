//! Frames and heartbeats, without allocation.
//!
//! One iteration of `emit_and_parse` is one of each; one of `heartbeats` is a heartbeat sent by one of
//! 1 023 connections of a node and one taken in by it, the deadlines of all kept in order.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use linx_riocm::wire::{Address, Data, DataKind, Message, Packet};
use linx_riocm::{Class, Config, Frame, Node, Peer};
use std::hint::black_box;

const ADDRESS: Address = Address { dst_port: 2, sender: 1, src_port: 1 };

fn frames(criterion: &mut Criterion) {
    let message = Message { src: 5, dst: 9, payl_size: 200 };
    let payload = [0x5A; 200];
    let data = |kind, payload| Packet::Data(Data { dst_cid: 0x22, seqno: 7, msgid: 1, kind, payload });
    let all = [
        ("request", Packet::Request { generation: 1, mtu: 256, hb_tmo: 5 }),
        ("ack", Packet::Ack { generation: 1, mtu_ack: 256, generation_ack: 2, hb_tmo_ack: 5, my_cid: 0x11 }),
        ("heartbeat", Packet::Heartbeat { dst_cid: 0x22 }),
        ("single_200", data(DataKind::Single(message), &payload)),
        ("frag_200", data(DataKind::Frag, &payload)),
    ];
    let mut group = criterion.benchmark_group("emit_and_parse");
    for (name, packet) in all {
        let frame = Frame { address: ADDRESS, packet };
        let mut octets = Vec::with_capacity(256);
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                octets.clear();
                black_box(&frame).emit(&mut octets);
                black_box(Frame::parse(black_box(&octets)).is_ok())
            });
        });
    }
    group.finish();
}

/// A node with connections to `count` peers, and the heartbeat of each of them.
fn meshed(count: u16) -> (Node, Vec<[u8; 16]>) {
    let mut node = Node::new(Config { device: 0, ..Config::default() }).unwrap();
    let mut frames = Vec::new();
    let mut answer = Vec::new();
    for device in 1..=count {
        let id = node.add(Peer { hb_tmo: 10, ..Peer::new(device) }).unwrap();
        // Phases spread over the period.
        let now = u64::from(device) * 1_000_000_000_000 / u64::from(count);
        node.connect(now, id);
        while node.poll_transmit().is_some() {}
        let address = Address { dst_port: 1, sender: device, src_port: 1 };
        let ack = Packet::Ack { generation: 1, mtu_ack: 256, generation_ack: 1, hb_tmo_ack: 10, my_cid: 5 };
        for packet in [Packet::Request { generation: 1, mtu: 256, hb_tmo: 10 }, ack] {
            answer.clear();
            Frame { address, packet }.emit(&mut answer);
            node.handle_frame(now, &answer);
            while node.poll_transmit().is_some() {}
        }
        while node.poll_event().is_some() {}
        answer.clear();
        let dst_cid = node.link(id).unwrap().cid;
        Frame { address, packet: Packet::Heartbeat { dst_cid } }.emit(&mut answer);
        frames.push(answer[..].try_into().unwrap());
    }
    (node, frames)
}

fn heartbeats(criterion: &mut Criterion) {
    let (mut node, frames) = meshed(1_023);
    eprintln!("memory: {} octets for each of 1023 idle connections", node.octets() / 1_023);
    let mut group = criterion.benchmark_group("node");
    group.throughput(Throughput::Elements(1));
    group.bench_function("heartbeat_out_and_in", |bencher| {
        bencher.iter(|| {
            let now = node.poll_timeout().unwrap();
            node.handle_timeout(now);
            while let Some(frame) = node.poll_transmit() {
                assert_eq!(frame.class, Class::Heartbeat);
                let from = frame.connection.index();
                // The peer's arrives at the same time.
                node.handle_frame(now, &frames[from]);
            }
        });
    });
    group.finish();
}

criterion_group!(benches, frames, heartbeats);
criterion_main!(benches);
