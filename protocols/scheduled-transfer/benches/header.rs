//! Schedule Headers per second, and octets of checksum per second beside a plain sum.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use scheduled_transfer::checksum::Sum;
use scheduled_transfer::wire::{Header, Operation};
use std::hint::black_box;

fn headers(criterion: &mut Criterion) {
    let wire: Vec<[u8; 40]> = (0..64u8)
        .map(|n| {
            let mut octets = [n; 40];
            octets[0] = 0x1B << 3;
            octets
        })
        .collect();
    let mut group = criterion.benchmark_group("header");
    group.throughput(Throughput::Elements(wire.len() as u64));
    group.bench_function("parse and emit", |bencher| {
        let mut out = [0; 40];
        bencher.iter(|| {
            for octets in &wire {
                let (header, _) = Header::parse(black_box(octets)).unwrap();
                header.emit(&mut out).unwrap();
                black_box(&out);
            }
        });
    });
    group.bench_function("parse and emit, through the operation", |bencher| {
        let mut out = [0; 40];
        bencher.iter(|| {
            for octets in &wire {
                let (header, _) = Header::parse(black_box(octets)).unwrap();
                Operation::parse(&header).unwrap().header().emit(&mut out).unwrap();
                black_box(&out);
            }
        });
    });
    group.finish();
}

fn checksums(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("checksum");
    for bytes in [1 << 10, 64 << 10, 64 << 20] {
        let octets: Vec<u8> = (0..bytes).map(|n: usize| n as u8).collect();
        group.throughput(Throughput::Bytes(bytes as u64)).sample_size(20);
        group.bench_function(format!("one's complement of {bytes}"), |bencher| {
            bencher.iter(|| {
                let mut sum = Sum::ZERO;
                sum.add(black_box(&octets));
                sum.value()
            });
        });
        group.bench_function(format!("plain sum of {bytes}"), |bencher| {
            bencher.iter(|| {
                let words = black_box(&octets).as_chunks::<8>().0;
                words.iter().fold(0u64, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, headers, checksums);
criterion_main!(benches);
