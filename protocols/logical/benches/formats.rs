//! Cost of the packet formats: one iteration reads a packet with 16-bit device IDs and 8 bytes of data, where
//! its format has any, and writes it again. Nothing is allocated. `sealed` also takes CRCs and padding off
//! and puts them on.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use logical::wire::Packet;
use logical::wire::packet::open;
use lp_serial::cost::AddressSize;
use lp_serial::packet::{BODY_MAX_BYTES, PACKET_MAX_BYTES};
use std::hint::black_box;

/// Name, what follows the device IDs; the first byte here is the format type.
const BODIES: [(&str, &[u8]); 13] = [
    ("2 read", &[2, 0x4B, 7, 0, 0, 0x10, 0]),
    ("5 write", &[5, 0x5B, 7, 0, 0, 0x10, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("6 stream write", &[6, 0, 0, 0x10, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("7 flow control", &[7, 0x00, 0x05]),
    ("8 maintenance read", &[8, 0x08, 9, 0xFF, 0, 0, 0x6C]),
    ("8 maintenance response", &[8, 0x20, 9, 0xFF, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("9 start", &[9, 0x5A, 0x80, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("9 continuation", &[9, 0x5A, 0x00, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("9 end", &[9, 0x5A, 0x43, 0x01, 0x05, 1, 2, 3, 4, 5, 0]),
    ("9 traffic management", &[9, 0x5A, 0x04, 0x12, 0x34, 0x25, 0xF0, 0x12, 0x34]),
    ("10 doorbell", &[10, 0x00, 0x03, 0xAB, 0xCD]),
    ("11 message", &[11, 0x29, 0x60, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("13 response", &[13, 0x80, 7, 1, 2, 3, 4, 5, 6, 7, 8]),
];

fn packet(body: &[u8]) -> Vec<u8> {
    [&[0, 0x10 | body[0], 0x12, 0x34, 0x56, 0x78], &body[1..]].concat()
}

fn formats(c: &mut Criterion) {
    let mut group = c.benchmark_group("format");
    group.throughput(Throughput::Elements(1));
    for (name, body) in BODIES {
        let bytes = packet(body);
        let mut out = [0; BODY_MAX_BYTES];
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let packet = Packet::parse(AddressSize::Bits34, black_box(&bytes)).unwrap();
                let length = packet.emit(&mut out).unwrap();
                black_box(&out);
                length
            });
        });
        assert_eq!(out[..bytes.len()], bytes);
    }
    group.finish();
}

fn sealed(c: &mut Criterion) {
    let mut group = c.benchmark_group("sealed");
    group.throughput(Throughput::Elements(1));
    for (name, payload) in [("write of 8 bytes", 8), ("write of 256 bytes", 256)] {
        let size = if payload == 8 { [0x5B, 0x10] } else { [0x5F, 0x14] };
        let mut bytes = packet(&[5, size[0], 7, 0, 0, 0x10, size[1] & 4]);
        bytes.resize(bytes.len() + payload, 0x5A);
        let mut link = [0; PACKET_MAX_BYTES];
        let length = Packet::parse(AddressSize::Bits34, &bytes).unwrap().seal(&mut link).unwrap();
        let mut out = [0; PACKET_MAX_BYTES];
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut plain = [0; BODY_MAX_BYTES];
                let packet = open(black_box(&link[..length]), AddressSize::Bits34, &mut plain).unwrap();
                let length = packet.seal(&mut out).unwrap();
                black_box(&out);
                length
            });
        });
        assert_eq!(out, link);
    }
    group.finish();
}

criterion_group!(benches, formats, sealed);
criterion_main!(benches);
