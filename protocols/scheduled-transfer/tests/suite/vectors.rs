//! The vectors of the requirements, both ways.

use scheduled_transfer::checksum::{self, Sum};
use scheduled_transfer::layout::{self, Layout, Place};
use scheduled_transfer::llp::{Medium, SNAP, ULA_FIELDS};
use scheduled_transfer::llp::{Ula, aal5, dix, ethernet, fibre_channel, hippi_fp, hippi6400, lane};
use scheduled_transfer::wire::{Body, Flags, HEADER_BYTES, Header, Operation, View};
use std::num::NonZeroU64;

fn octets(words: &str) -> Vec<u8> {
    let digits: String = words.split_whitespace().collect();
    (0..digits.len() / 2).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// (name, fields, octets of the header, payload).
fn operations() -> Vec<(String, String, Vec<u8>, Vec<u8>)> {
    let rows = include_str!("golden/operations.txt").lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let [name, fields, header, payload] = row.split('|').collect::<Vec<_>>()[..] else { panic!("{row}") };
        (name.trim().into(), fields.trim().into(), octets(header), octets(payload))
    })
    .collect()
}

fn operation(name: &str) -> Vec<u8> {
    let (.., header, payload) = operations().into_iter().find(|row| row.0 == name).unwrap();
    [header, payload].concat()
}

/// The header that the text of a vector describes.
fn described(fields: &str) -> Header {
    let value = |key: &str| {
        let found = fields.split(' ').find_map(|word| word.strip_prefix(&format!("{key}=")));
        u32::from_str_radix(found.unwrap_or_else(|| panic!("{key} in {fields}")), 16).unwrap()
    };
    let f = fields.split(' ').find_map(|word| word.strip_prefix("F=")).unwrap();
    let mut flags = Flags::NONE
        .with_function(u8::from_str_radix(f, 2).unwrap())
        .with_channel(value("D").try_into().unwrap());
    let between = fields.split("F=").nth(1).unwrap().split("D=").next().unwrap()[3..].trim();
    for letter in between.chars() {
        flags = flags.with(match letter {
            'T' => Flags::SILENT,
            'I' => Flags::INTERRUPT,
            'S' => Flags::SEND_STATE,
            'O' => Flags::OUT_OF_ORDER,
            'L' => Flags::LAST,
            'R' => Flags::REJECT,
            other => panic!("{other}"),
        });
    }
    Header {
        op: value("Op") as u8,
        flags,
        param: value("param") as u16,
        d_port: value("d_port") as u16,
        s_port: value("s_port") as u16,
        d_key: value("d_key"),
        cksum: value("cksum") as u16,
        b_id: value("b_id") as u16,
        bufx: value("bufx"),
        offset: value("offset"),
        sync: value("sync"),
        b_num: value("b_num"),
        d_id: value("d_id"),
        s_id: value("s_id"),
    }
}

/// Proves: ST-8-1, ST-8-2, ST-8-3, ST-6.1-2, ST-6.2.3-1, ST-6.2.3-5
/// Proves: ST-8.1-1, ST-8.1-2, ST-8.1-3, ST-8.1-4, ST-8.1-5, ST-8.1-6, ST-8.1-7, ST-8.1-8, ST-8.1-9
/// Proves: ST-8.1-10, ST-8.1-11, ST-8.1-12, ST-8.1-13, ST-8.1-14, ST-8.1-15, ST-8.1-16, ST-8.1-17
/// Proves: ST-9.1-1, ST-9.1-2, ST-9.1-3, ST-9.1-4, ST-9.1-5, ST-9.1-6, ST-9.1-7, ST-9.1-8, ST-9.1-9
/// Proves: ST-9.1-10, ST-9.1-11, ST-9.1-12, ST-9.1-13, ST-9.1-14, ST-9.1-15, ST-9.1-16, ST-9.1-17
/// Proves: ST-9.1-18, ST-9.1-19, ST-9.1-21, ST-9.1-23, ST-9.1-24, ST-9.1-25, ST-9.1-26, ST-9.1-27
/// Proves: ST-9.1-28, ST-9.1-30, ST-9.1-31, ST-9.1-33, ST-9.1-34, ST-9.1-35, ST-9.1-36, ST-9.1-37
/// Proves: ST-9.1-38, ST-9.1-39, ST-5.1.1-2, ST-5.1.1-3, ST-5.1.2-2, ST-6.1.2-2, ST-6.1.2-6, ST-6.1.2-8
/// Proves: ST-6.1.2-10, ST-6.1.3-2, ST-6.1.3-8, ST-6.1.3-9, ST-6.1.4.1-1, ST-6.1.4.1-5, ST-6.1.4.3-1
/// Proves: ST-6.1.4.4-5, ST-6.1.4.4-6, ST-6.1.1.1-2, ST-6.1.1.2-1, ST-6.1.1.2-2
#[test]
fn headers_both_ways() {
    let rows = operations();
    assert_eq!(rows.len(), 55);
    for (name, fields, wire, _) in rows {
        let (header, rest) = Header::parse(&wire).unwrap();
        assert!(rest.is_empty());
        assert_eq!(header, described(&fields), "{name}");
        assert_eq!(header.to_bytes()[..], wire, "{name}");
        assert_eq!(header.to_string(), fields, "{name}");
        // Every vector is an operation of its row and nothing more: the fields that it does not use are 0.
        let parsed = Operation::parse(&header).unwrap();
        assert_eq!(Header { cksum: header.cksum, ..parsed.header() }, header, "{name}");
        assert_eq!(header.flags.outside(parsed.body.mask()), Flags::NONE, "{name}");
    }
}

/// Proves: ST-8.2-1, ST-8.2-2, ST-8.2-3, ST-8.2-4, ST-8.2-5
#[test]
fn one_code_for_get_and_fetch_op() {
    let body = |name: &str| Operation::parse(&Header::parse(&operation(name)).unwrap().0).unwrap().body;
    assert!(matches!(body("T-35"), Body::Get { t_len: 512, .. }));
    let functions = ["T-38", "T-39", "T-40"].map(|name| match body(name) {
        Body::FetchOp { function, .. } => function.apply(5),
        other => panic!("{other:?}"),
    });
    assert_eq!(functions, [6, 4, 0]);
    assert!(matches!(body("T-42"), Body::FetchOpComplete { sync: 0xC, .. }));
}

/// Proves: ST-8.3.1-1, ST-8.3.1-2, ST-8.3.1-3, ST-8.3.1-4, ST-8.3.2-2, ST-8.3.3-2
#[test]
fn control_checksums() {
    for (name, cksum) in [("C-0", 0x9090), ("C-0z", 0xFFFF), ("T-2", 0x60E9)] {
        let mut wire = operation(name);
        let (header, payload) = Header::parse(&wire).unwrap();
        assert_eq!(header.cksum, cksum);
        assert_eq!(checksum::of_operation(&header, payload), cksum, "{name}");
        assert!(checksum::is_intact(&wire));
        for at in 0..wire.len() {
            if !matches!(at, 12 | 13) {
                wire[at] ^= 0x10;
                assert!(!checksum::is_intact(&wire), "{name} octet {at}");
                wire[at] ^= 0x10;
            }
        }
    }
}

/// Proves: ST-8.3.2-3, ST-8.3.2-4, ST-8.3.2-7, ST-8.3.2-8, ST-8.3.2-9, ST-8.3.4-1
#[test]
fn segments() {
    for segment in [&["C-1", "C-2", "C-3"][..], &["C-4", "C-5"], &["C-6a", "C-6b"]] {
        let (mut sent, mut received) = (Sum::ZERO, Sum::ZERO);
        let mut last = 0;
        for name in segment {
            let wire = operation(name);
            let (header, payload) = Header::parse(&wire).unwrap();
            sent.add(&Header { cksum: 0, ..header }.to_bytes());
            sent.add(payload);
            received.add(&wire[..HEADER_BYTES]);
            received.add(payload);
            last = header.cksum;
        }
        assert_eq!(sent.cksum(), last, "{segment:?}");
        assert!(received.is_intact(), "{segment:?}");
    }
}

const D_ULA: Ula = Ula([0x0A, 0, 0x1E, 0, 0, 2]);
const S_ULA: Ula = Ula([0x0A, 0, 0x1E, 0, 0, 1]);

fn frame(name: &str) -> Vec<u8> {
    let rows = include_str!("golden/frames.txt").lines();
    let row = rows.filter_map(|line| line.split_once('|')).find(|row| row.0.trim() == name).unwrap();
    octets(row.1)
}

fn control() -> Vec<u8> {
    operation("T-8")
}

fn data() -> Vec<u8> {
    [&operation("T-30")[..HEADER_BYTES], &octets("CAFEF00D11")].concat()
}

macro_rules! both_ways {
    ($module:ident, $name:expr, $operation:expr) => {{
        let (wire, operation) = (frame($name), $operation);
        let expected = $module::Frame { d_ula: D_ULA, s_ula: S_ULA, operation: &operation };
        assert_eq!($module::Frame::parse(&wire), Ok(expected));
        let mut out = Vec::new();
        expected.emit(&mut out).unwrap();
        assert_eq!(out, wire, $name);
    }};
}

/// Proves: ST-A.1-1, ST-A.1-2, ST-A.1-3, ST-A.1-4, ST-A.1-5, ST-A-2
#[test]
fn hippi_6400() {
    both_ways!(hippi6400, "L-1", control());
    both_ways!(hippi6400, "L-2", data());
    let wire = frame("L-1");
    assert_eq!(hippi6400::View::new(&wire).unwrap().m_len(), 48);
    assert_eq!(wire[24..32], control()[..8]);
    assert_eq!(wire[32..64], control()[8..]);
    assert_eq!(wire[16..24], SNAP);
}

/// Proves: ST-A.2-1, ST-A.2-2, ST-A.2-3, ST-A.2-5
#[test]
fn hippi_framing_protocol() {
    both_ways!(hippi_fp, "L-3", control());
    both_ways!(hippi_fp, "L-4", data());
    let wire = frame("L-4");
    let view = hippi_fp::View::new(&wire).unwrap();
    assert_eq!((view.ulp_id(), view.d2_size(), view.m_len()), (0x0C, 69, 53));
    assert_eq!(wire[..4], [0x0C, 0, 0, 0]);
}

/// Proves: ST-A.3-1, ST-A.3-2, ST-A.3-4, ST-5.2.6-3
#[test]
fn ethernet_802_3() {
    both_ways!(ethernet, "L-5", control());
    both_ways!(ethernet, "L-6", data());
    // The medium's own padding is not the operation's.
    let padded = [frame("L-5"), vec![0xEE; 9]].concat();
    assert_eq!(ethernet::Frame::parse(&padded).unwrap().operation, control());
}

/// Proves: ST-A.4-1, ST-A.4-2, ST-A.4-3, ST-A.4.1-1, ST-A.4.1-2, ST-A.4.2-1, ST-A.4.3-1, ST-A.4.3-2
/// Proves: ST-A.4.3-3
#[test]
fn lan_emulation() {
    let routing = octets("06800A110B20");
    let rows: [(&str, Medium, Vec<u8>, &[u8]); 5] = [
        ("L-7", Medium::Lane8023, control(), &[]),
        ("L-8", Medium::Lane8023, data(), &[]),
        ("L-9", Medium::LaneDix, control(), &[]),
        ("L-10", Medium::TokenRing4, control(), &[]),
        ("L-11", Medium::TokenRing16, control(), &routing),
    ];
    for (name, medium, operation, routing) in rows {
        let wire = frame(name);
        let expected = lane::Frame {
            lecid: 7,
            d_ula: D_ULA,
            s_ula: S_ULA,
            operation: &operation,
            routing,
            zero_length: false,
        };
        assert_eq!(lane::Frame::parse(medium, &wire), Ok(expected), "{name}");
        let mut out = Vec::new();
        expected.emit(medium, &mut out).unwrap();
        assert_eq!(out, wire, "{name}");
        let ends: Vec<bool> = aal5::cells(&wire).map(|(_, end)| end).collect();
        assert_eq!(ends, [false, true]);
        for at in 0..wire.len() {
            let mut damaged = wire.clone();
            damaged[at] ^= 1;
            assert!(lane::Frame::parse(medium, &damaged).is_err(), "{name} octet {at}");
        }
    }
    // LAN emulation writes Length 0 from 1 536 octets on; both are read (ST-D85).
    let long = [&data()[..HEADER_BYTES], &[0x5A; 2000]].concat();
    for zero_length in [false, true] {
        let (lecid, d_ula, s_ula, operation, routing) = (7, D_ULA, S_ULA, &long[..], &[][..]);
        let expected = lane::Frame { lecid, d_ula, s_ula, operation, routing, zero_length };
        let mut out = Vec::new();
        expected.emit(Medium::Lane8023, &mut out).unwrap();
        assert_eq!(lane::Frame::parse(Medium::Lane8023, &out), Ok(expected));
        assert_eq!(out[14..16] == [0, 0], zero_length);
    }
}

/// Proves: ST-A.2-4
#[test]
fn only_the_last_burst_is_short() {
    for payload in [0, 1, 943, 952, 960, 2_000, 8_192] {
        let mut operation = data()[..40].to_vec();
        operation.resize(40 + payload, 0x5A);
        let mut packet = Vec::new();
        let (d_ula, s_ula) = (Ula([1; 6]), Ula([2; 6]));
        hippi_fp::Frame { d_ula, s_ula, operation: &operation }.emit(&mut packet).unwrap();
        let bursts: Vec<&[u8]> = hippi_fp::bursts(&packet).collect();
        let (last, whole) = bursts.split_last().unwrap();
        assert!(whole.iter().all(|burst| burst.len() == hippi_fp::BURST_BYTES));
        assert!((8..=hippi_fp::BURST_BYTES).contains(&last.len()) && last.len() % 8 == 0);
        assert_eq!(bursts.concat(), packet);
    }
}

/// Proves: ST-A.5-1, ST-A.5-2
#[test]
fn fibre_channel_le() {
    both_ways!(fibre_channel, "L-12", data());
    let frames: Vec<usize> = fibre_channel::frames(&[0; 300], 128).map(<[u8]>::len).collect();
    assert_eq!(frames, [128, 128, 44]);
}

/// Proves: ST-A.3-3, ST-A.4.1-3, ST-A.4.2-2, ST-A.4.3-4, ST-A.5-3, ST-A-4, ST-4.2-3, ST-8.2-21
#[test]
fn limits_of_the_media() {
    let header = operation("T-30")[..HEADER_BYTES].to_vec();
    for medium in Medium::ALL {
        let fits = |payload: usize, d: u8| {
            let mut operation = header.clone();
            operation[1] = operation[1] & !3 | d;
            operation.resize(HEADER_BYTES + payload, 0);
            medium.fits(&operation).is_ok()
        };
        let limit = match medium {
            Medium::Hippi6400 | Medium::HippiFp => 1 << 17,
            Medium::Ethernet | Medium::LaneDix => 1024,
            Medium::Lane8023 => 8192,
            Medium::TokenRing4 => 4096,
            Medium::TokenRing16 => 16384,
            Medium::FibreChannel => 1 << 23,
        };
        assert!(fits(0, 1) && fits(limit, 1) && !fits(limit + 1, 1), "{}", medium.name());
        let control = |payload: usize| medium.fits(&[control(), vec![0; payload]].concat()).is_ok();
        assert!(control(0) && control(32) && !control(31) && !control(33));
        assert!(medium.fits(&header[..39]).is_err());
    }
    assert_eq!(fibre_channel::stu_exponent(128), 22);
    assert_eq!(fibre_channel::stu_exponent(2112), 23);
    // A length field that lies gives no operation.
    for length in [0u16, 47, 49, 0xFFFF] {
        let mut wire = frame("L-5");
        wire[12..14].copy_from_slice(&length.to_be_bytes());
        assert!(ethernet::Frame::parse(&wire).is_err(), "{length}");
    }
}

/// Ordinal, bytes, place, STUs.
type Block = (u64, u64, Place, Vec<(Place, u64)>);

fn blocks(layout: Layout, bufsize: u32, stu: u64) -> Vec<Block> {
    let first = Place { bufx: 0x100, offset: layout.f_offset };
    (0..layout.blocks().unwrap())
        .map(|ordinal| {
            let (bytes, mut place) = (layout.bytes(ordinal), first.advance(layout.start(ordinal), bufsize));
            let start = place;
            let (mut left, mut stus) = (bytes, Vec::new());
            while left > 0 {
                let n = left.min(stu).min(place.room(bufsize));
                stus.push((place, n));
                place = place.advance(n, bufsize);
                left -= n;
            }
            assert_eq!(layout::stus(start, bytes, bufsize, stu), stus.len() as u64);
            (ordinal, bytes, start, stus)
        })
        .collect()
}

const fn at(bufx: u32, offset: u32) -> Place {
    Place { bufx, offset }
}

/// Proves: ST-6.3-1, ST-6.3-4, ST-6.2.6-4, ST-6.2.6-5, ST-6.2.6-6, ST-6.2.6-7, ST-6.2.6-8, ST-6.2.6-9
/// Proves: ST-6.2.8-4, ST-6.2.8-7
#[test]
fn packing() {
    let write = |blocksize| Layout { t_len: NonZeroU64::new(26000), blocksize, f_offset: 1536 };
    let a = blocks(write(12), 12, 4096);
    assert_eq!(a.len(), 7);
    assert_eq!(a[0], (0, 2560, at(0x100, 0x600), vec![(at(0x100, 0x600), 2560)]));
    assert_eq!(a[1], (1, 4096, at(0x101, 0), vec![(at(0x101, 0), 4096)]));
    assert_eq!(a[6], (6, 2960, at(0x106, 0), vec![(at(0x106, 0), 2960)]));
    let b = blocks(write(10), 12, 1024);
    assert_eq!(b.len(), 26);
    assert_eq!((b[0].1, b[0].2, b[1].2, b[2].2), (512, at(0x100, 0x600), at(0x100, 0x800), at(0x100, 0xC00)));
    assert_eq!((b[3].2, b[24].2, b[25].2, b[25].1), (at(0x101, 0), at(0x106, 0x400), at(0x106, 0x800), 912));
    let c = blocks(write(13), 12, 4096);
    assert_eq!(c.len(), 4);
    assert_eq!(c[0], (0, 6656, at(0x100, 0x600), vec![(at(0x100, 0x600), 2560), (at(0x101, 0), 4096)]));
    assert_eq!(c[3], (3, 2960, at(0x106, 0), vec![(at(0x106, 0), 2960)]));
    let a2 = blocks(write(12), 12, 2048);
    assert_eq!(a2[0].3, [(at(0x100, 0x600), 2048), (at(0x100, 0xE00), 512)]);
    assert_eq!(a2[6].3, [(at(0x106, 0), 2048), (at(0x106, 0x800), 912)]);
    let d = blocks(Layout { t_len: NonZeroU64::new(50000), blocksize: 14, f_offset: 20000 }, 16, 1 << 14);
    assert_eq!(d.iter().map(|block| block.1).collect::<Vec<_>>(), [12768, 16384, 16384, 4464]);
    assert_eq!(
        d.iter().map(|block| block.2).collect::<Vec<_>>(),
        [at(0x100, 0x4E20), at(0x100, 0x8000), at(0x100, 0xC000), at(0x101, 0)]
    );
    let e = blocks(Layout { t_len: NonZeroU64::new(1000), blocksize: 12, f_offset: 1536 }, 12, 4096);
    assert_eq!((e.len(), e[0].1), (1, 1000));
    // 4 GiB + 1024 from Offset 0x200 (T-19, T-22).
    let long = Layout { t_len: NonZeroU64::new((1 << 32) + 1024), blocksize: 16, f_offset: 0x200 };
    assert_eq!((long.bytes(0), long.blocks()), (65024, Some(65537)));
}

/// Proves: ST-6.2.4-2, ST-6.2.4-3, ST-6.2.4-4, ST-6.2.5-2, ST-6.2.4-8
#[test]
fn block_numbers() {
    let rows = [
        (0, 0),
        (1, 1),
        (4294967293, 0xFFFF_FFFD),
        (4294967294, 0xFFFF_FFFE),
        (4294967295, 0),
        (4294967296, 1),
        (8589934590, 0),
    ];
    for (ordinal, b_num) in rows {
        assert_eq!(layout::b_num(ordinal), b_num);
        for near in [ordinal.saturating_sub(1 << 30), ordinal, ordinal + (1 << 30)] {
            assert_eq!(layout::ordinal(b_num, near), Some(ordinal));
        }
    }
    assert_eq!(layout::ordinal(u32::MAX, 7), None);
    assert_eq!((layout::b_seq(0), layout::b_seq(1), layout::b_seq(6)), (u32::MAX, 0, 5));
    let bounds = [(8, 24, 23), (14, 30, 29), (17, 33, 32), (31, 47, 46)];
    for (stu, without, with) in bounds {
        assert_eq!((layout::max_block(stu, false), layout::max_block(stu, true)), (without, with));
    }
    assert_eq!(at(0x100, 0x600).advance(2560, 12), at(0x101, 0));
    assert_eq!(at(0x101, 0).advance(100, 12), at(0x101, 0x64));
    assert_eq!(at(u32::MAX, 0xFFF).advance(1, 12), at(0, 0));
}

proptest::proptest! {
    /// Proves: ST-8-6, ST-8-4
    #[test]
    fn every_header_comes_back(
        wire in proptest::array::uniform32(proptest::num::u8::ANY),
        rest in proptest::array::uniform8(proptest::num::u8::ANY),
    ) {
        let wire = [&wire[..], &rest].concat();
        let (header, _) = Header::parse(&wire).unwrap();
        assert_eq!(header.to_bytes()[..], wire);
        assert_eq!(Header::from(View::new(&wire).unwrap().0), header);
        // What an operation does not use is not looked at.
        if let Ok(operation) = Operation::parse(&header) {
            assert_eq!(Operation::parse(&operation.header()), Ok(operation));
        }
    }

    #[test]
    fn blocks_tile_the_transfer(t_len in 1u64..1 << 40, blocksize in 20u16..48, f_offset: u32) {
        let layout = Layout { t_len: NonZeroU64::new(t_len), blocksize, f_offset };
        let count = layout.blocks().unwrap();
        proptest::prop_assume!(count < 5000);
        let mut next = 0;
        for ordinal in 0..count {
            assert_eq!(layout.start(ordinal), next);
            assert!(layout.bytes(ordinal) > 0);
            next += layout.bytes(ordinal);
        }
        assert_eq!(next, t_len);
        assert_eq!(layout.bytes(count), 0);
    }

    /// A sum of 16-bit pairs, one by one, is the reference.
    #[test]
    fn sums(octets in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
        let mut reference = 0u32;
        for pair in octets.chunks(2) {
            reference += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            reference = (reference & 0xFFFF) + (reference >> 16);
        }
        let mut sum = Sum::ZERO;
        sum.add(&octets);
        assert_eq!(u32::from(sum.value()), reference);
    }

    /// An intermediate device that changes one pair gets the checksum of the changed operation.
    #[test]
    fn updated_checksums(
        wire in proptest::collection::vec(proptest::num::u8::ANY, 40),
        at in 7usize..20,
        new: u16,
    ) {
        let (header, _) = Header::parse(&wire).unwrap();
        let old = u16::from_be_bytes([wire[2 * at], wire[2 * at + 1]]);
        let mut changed = wire.clone();
        changed[2 * at..2 * at + 2].copy_from_slice(&new.to_be_bytes());
        let cksum = checksum::updated(checksum::of_operation(&header, &[]), old, new);
        changed[12..14].copy_from_slice(&cksum.to_be_bytes());
        assert!(checksum::is_intact(&changed));
        assert_eq!(checksum::updated(0, old, new), 0);
    }
}

/// The rows of what lies in front of an operation are as wide as what is read there.
#[test]
fn rows_of_frames() {
    let (_, lecid, _) = lane::LECID;
    for pattern in (0..16).map(|bit| 1 << bit).chain([0, 0xFFFF]) {
        let mut sdu = [0u8; lane::OVERHEAD_BYTES + HEADER_BYTES];
        sdu[lecid.start as usize / 8..lecid.end as usize / 8].copy_from_slice(&u16::to_be_bytes(pattern));
        assert_eq!(lane::View::new(Medium::LaneDix, &sdu).unwrap().lecid(), pattern);
    }
    for (_, bits, _) in ULA_FIELDS {
        assert_eq!(bits, 0..8 * size_of::<Ula>() as u32);
    }
    let operation = Header::default().to_bytes();
    for octets in (2..=lane::ROUTING_MAX_BYTES + 2).step_by(2) {
        let mut routing = vec![0; octets];
        routing[0] = octets as u8;
        let frame = lane::Frame {
            lecid: 0,
            d_ula: Ula::default(),
            s_ula: Ula::default(),
            operation: &operation,
            routing: &routing,
            zero_length: false,
        };
        let fits = frame.emit(Medium::TokenRing4, &mut vec![]).is_ok();
        assert_eq!(fits, octets <= lane::ROUTING_MAX_BYTES, "{octets}");
    }
}

/// A DIX frame on a network of longer frames is told from one of 802.3 by its EtherType, comes back as it
/// was, and ends with its operation.
#[test]
fn long_frames_have_an_ether_type() {
    let mut operation: Vec<u8> = (0..40 + 32_768_u32).map(|at| at as u8).collect();
    operation[0] = 0x1B << 3;
    let (d_ula, s_ula) = (Ula([2, 0, 0, 0, 0, 1]), Ula([2, 0, 0, 0, 0, 2]));
    let mut frame = Vec::new();
    dix::Frame { d_ula, s_ula, operation: &operation }.emit(&mut frame);
    assert_eq!(frame.len(), 22 + operation.len());
    assert_eq!(frame[..14], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0x81]);
    assert_eq!(dix::Frame::parse(&frame), Ok(dix::Frame { d_ula, s_ula, operation: &operation }));
    let mut short = Vec::new();
    ethernet::Frame { d_ula, s_ula, operation: &operation[..1_064] }.emit(&mut short).unwrap();
    assert!(dix::Frame::is(&frame) && !dix::Frame::is(&short) && dix::Frame::parse(&short).is_err());
    for length in 0..62 {
        assert!(dix::Frame::parse(&frame[..length]).is_err(), "{length}");
    }
}
