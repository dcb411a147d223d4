//! The vectors of the frames: every well-formed one read and written, every other one refused by its rule.

use linx_riocm::wire::{
    Address, Data, DataKind, Error, Field, Frame, Kind, Message, PROTOCOL_FIELD, Packet, View,
};

const X_TO_Y: Address = Address { dst_port: 2, sender: 1, src_port: 1 };
const Y_TO_X: Address = Address { dst_port: 1, sender: 2, src_port: 2 };

fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// `count` octets that count up from `first`.
fn pay(count: u8, first: u8) -> Vec<u8> {
    (0..count).map(|index| first.wrapping_add(index)).collect()
}

fn emitted(frame: Frame<'_>) -> Vec<u8> {
    let mut out = vec![];
    frame.emit(&mut out);
    assert_eq!(out.len(), frame.octets());
    out
}

fn message(src: u32, dst: u32, payl_size: u32) -> Message {
    Message { src, dst, payl_size }
}

/// Data from X to Y.
fn data(msgid: u8, seqno: u16, kind: DataKind, payload: &[u8]) -> Frame<'_> {
    Frame { address: X_TO_Y, packet: Packet::Data(Data { dst_cid: 0x22, seqno, msgid, kind, payload }) }
}

fn same(hex: &str, frame: Frame<'_>) {
    assert_eq!(Frame::parse(&octets(hex)), Ok(frame), "{hex}");
    assert_eq!(emitted(frame), octets(hex), "{hex}");
}

/// Proves: RIOCM-10.1-10, RIOCM-10.1-11, RIOCM-10.1-14, RIOCM-10.1.1-1, RIOCM-10.1.1.1-1, RIOCM-10.1.1.1-4
/// Proves: RIOCM-10.1.1.2-1, RIOCM-10.1.1.2-2, RIOCM-10.1.1.3-1, RIOCM-10.1.3.1-1, RIOCM-10.1-7, RIOCM-10.1-9
#[test]
fn connection_packets_and_heartbeats_both_ways() {
    same(
        "22cf000c810101000002000500010001",
        Frame { address: X_TO_Y, packet: Packet::Request { generation: 1, mtu: 256, hb_tmo: 5 } },
    );
    same(
        "22cf000e824200800001010a000200020022",
        Frame {
            address: Y_TO_X,
            packet: Packet::Ack {
                generation: 66,
                mtu_ack: 128,
                generation_ack: 1,
                hb_tmo_ack: 10,
                my_cid: 34,
            },
        },
    );
    same(
        "22cf000e820100800002420a000100010011",
        Frame {
            address: X_TO_Y,
            packet: Packet::Ack {
                generation: 1,
                mtu_ack: 128,
                generation_ack: 66,
                hb_tmo_ack: 10,
                my_cid: 17,
            },
        },
    );
    same(
        "22cf000e824201000001010a000200020022",
        Frame {
            address: Y_TO_X,
            packet: Packet::Ack {
                generation: 66,
                mtu_ack: 256,
                generation_ack: 1,
                hb_tmo_ack: 10,
                my_cid: 34,
            },
        },
    );
    same(
        "22cf000e824200800001000a000200020022",
        Frame {
            address: Y_TO_X,
            packet: Packet::Ack {
                generation: 66,
                mtu_ack: 128,
                generation_ack: 0,
                hb_tmo_ack: 10,
                my_cid: 34,
            },
        },
    );
    same(
        "22cf000c830100000002000000010001",
        Frame { address: X_TO_Y, packet: Packet::Reset { generation: 1 } },
    );
    same(
        "22cf000c060000000002002200010001",
        Frame { address: X_TO_Y, packet: Packet::Heartbeat { dst_cid: 34 } },
    );
    same(
        "22cf000c060000000001001100020002",
        Frame { address: Y_TO_X, packet: Packet::Heartbeat { dst_cid: 17 } },
    );
}

/// Proves: RIOCM-10.1-3, RIOCM-10.1.2-1, RIOCM-10.1.2.1-1, RIOCM-10.1.2.1-2, RIOCM-10.1.2.2-1
/// Proves: RIOCM-10.1.2.3-1, RIOCM-10.1.2.4-1, RIOCM-10.1.2.5-1
#[test]
fn data_packets_both_ways() {
    same(
        "22cf00200101000000020022000100010000000500000009000000080001020304050607",
        data(1, 0, DataKind::Single(message(5, 9, 8)), &pay(8, 0x0)),
    );
    same(
        "22cf0018010200010002002200010001000000050000000900000000",
        data(2, 1, DataKind::Single(message(5, 9, 0)), &[]),
    );
    same(
        "22cf003c010300020002002200010001000000100000002000000024000102030405060708090a0b0c0d0e0f101112131415\
         161718191a1b1c1d1e1f20212223",
        data(3, 2, DataKind::Single(message(16, 32, 36)), &pay(36, 0x0)),
    );
    same(
        "22cf001c01ffffff000200220001000100000001000000020000000480818283",
        data(255, 65535, DataKind::Single(message(1, 2, 4)), &pay(4, 0x80)),
    );
    same(
        "22cf001c01000000000200220001000100000001000000020000000484858687",
        data(0, 0, DataKind::Single(message(1, 2, 4)), &pay(4, 0x84)),
    );
    same(
        "22cf003c020400030002002200010001000000050000000900000064000102030405060708090a0b0c0d0e0f101112131415\
         161718191a1b1c1d1e1f20212223",
        data(4, 3, DataKind::FragStart(message(5, 9, 100)), &pay(36, 0x0)),
    );
    same(
        "22cf003c0304000400020022000100012425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445\
         464748494a4b4c4d4e4f50515253",
        data(4, 4, DataKind::Frag, &pay(48, 0x24)),
    );
    same(
        "22cf001c0304000500020022000100015455565758595a5b5c5d5e5f60616263",
        data(4, 5, DataKind::Frag, &pay(16, 0x54)),
    );
    same(
        "22cf003c020500060002002200010001000000050000000900000025a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5\
         b6b7b8b9babbbcbdbebfc0c1c2c3",
        data(5, 6, DataKind::FragStart(message(5, 9, 37)), &pay(36, 0xa0)),
    );
    same("22cf000d030500070002002200010001c4", data(5, 7, DataKind::Frag, &pay(1, 0xc4)));
    same(
        "22cf003c04060008000200220001000100000005000000090000009600020002202122232425262728292a2b2c2d2e2f3031\
         32333435363738393a3b3c3d3e3f",
        data(
            6,
            8,
            DataKind::PatchStart { message: message(5, 9, 150), count_frag: 2, count_patch: 2 },
            &pay(32, 0x20),
        ),
    );
    same(
        "22cf003c030600090002002200010001505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f7071\
         72737475767778797a7b7c7d7e7f",
        data(6, 9, DataKind::Frag, &pay(48, 0x50)),
    );
    same("22cf00120306000a0002002200010001909192939495", data(6, 10, DataKind::Frag, &pay(6, 0x90)));
    same(
        "22cf003c0506000b0002002200010001000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f4041\
         42434445464748494a4b4c4d4e4f",
        data(6, 11, DataKind::Patch, &[pay(32, 0), pay(16, 64)].concat()),
    );
    same(
        "22cf001c0506000c0002002200010001808182838485868788898a8b8c8d8e8f",
        data(6, 12, DataKind::Patch, &pay(16, 0x80)),
    );
    same(
        "22cf003c0407000d000200220001000100000005000000090000008800010002202122232425262728292a2b2c2d2e2f3031\
         32333435363738393a3b3c3d3e3f",
        data(
            7,
            13,
            DataKind::PatchStart { message: message(5, 9, 136), count_frag: 1, count_patch: 2 },
            &pay(32, 0x20),
        ),
    );
    same(
        "22cf003c0307000e0002002200010001505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f7071\
         72737475767778797a7b7c7d7e7f",
        data(7, 14, DataKind::Frag, &pay(48, 0x50)),
    );
    same(
        "22cf003c0507000f0002002200010001000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f4041\
         42434445464748494a4b4c4d4e4f",
        data(7, 15, DataKind::Patch, &[pay(32, 0), pay(16, 64)].concat()),
    );
    same("22cf00140507001000020022000100018081828384858687", data(7, 16, DataKind::Patch, &pay(8, 0x80)));
    same(
        "22cf002e04080011000200220001000100000005000000090000003200000001505152535455565758595a5b5c\
         5d5e5f6061",
        data(
            8,
            17,
            DataKind::PatchStart { message: message(5, 9, 50), count_frag: 0, count_patch: 1 },
            &pay(18, 0x50),
        ),
    );
    same(
        "22cf002c050800120002002200010001303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f",
        data(8, 18, DataKind::Patch, &pay(32, 0x30)),
    );
}

/// Proves: RIOCM-10.1-13, RIOCM-10.1-14, RIOCM-10.1.1.2-1, RIOCM-10.1.1.3-1, RIOCM-10.1.2.1-1
/// Proves: RIOCM-10.1.3.1-1
#[test]
fn reserved_fields_and_octets_beyond_are_ignored() {
    // What is received, and what the same frame looks like when it is sent.
    for (received, sent) in [
        ("22cf000c830100800002beef00010001", "22cf000c830100000002000000010001"),
        ("22cf000c81ffffffffffffffffffffff", "22cf000c81ffffffffff00ffffffffff"),
        ("22cf0010824200800001010a0002000200220000", "22cf000e824200800001010a000200020022"),
        (
            "22cf0020010100000002002200010001000000050000000900000008000102030405060700000000",
            "22cf00200101000000020022000100010000000500000009000000080001020304050607",
        ),
        (
            "22cf00200109001300020022000100010000000500000009000000050001020304eeeeee",
            "22cf001d0109001300020022000100010000000500000009000000050001020304",
        ),
        ("22cf000c065a12340002002200010001", "22cf000c060000000002002200010001"),
    ] {
        assert_eq!(emitted(Frame::parse(&octets(received)).unwrap()), octets(sent), "{received}");
    }
}

/// Proves: RIOCM-10.1-8, RIOCM-10.1-9, RIOCM-10.1-14, RIOCM-10.1-10, RIOCM-10.1.2.1-1, RIOCM-10.1.2.2-2
/// Proves: RIOCM-10.1.2.4-2, RIOCM-10.1.2.4-3, RIOCM-10.1.2.5-1
#[test]
fn every_broken_rule_has_its_error() {
    for (hex, error) in [
        ("8911000c810101000002000500010001", Error::Protocol { found: 0x8911 }),
        ("22cf00", Error::RioFrame { found: 3 }),
        (
            "22cf002001010000000200220001000100000005000000090000000800010203",
            Error::Truncated { size: 32, found: 28 },
        ),
        (
            "22cf00200101000000020022000100010000000500000009000000090001020304050607",
            Error::PayloadSize { kind: Kind::Single, found: 9, payload: 8 },
        ),
        ("22cf000a81010100000200050001", Error::Unattributable { found: 10 }),
        ("22cf000c070100000002002200010001", Error::Type { found: 0x07 }),
        ("22cf000c840100000002000000010001", Error::Type { found: 0x84 }),
        (
            "22cf003c020400000002002200010001000000050000000900000024000102030405060708090a0b0c0d0e0f10111213\
             1415161718191a1b1c1d1e1f20212223",
            Error::PayloadSize { kind: Kind::FragStart, found: 36, payload: 36 },
        ),
        (
            "22cf003c04060000000200220001000100000005000000090000009600020000202122232425262728292a2b2c2d2e2f\
             303132333435363738393a3b3c3d3e3f",
            Error::CountPatch,
        ),
        ("22cf000c8242008000010000000200020022", Error::HeaderSize { kind: Kind::Ack, found: 12 }),
        ("22cf000c050800120002002200010001", Error::EmptyPatch),
        (
            "22cf001d0407000d0002002200010001000000050000000900000020000100022a",
            Error::PayloadSize { kind: Kind::PatchStart, found: 32, payload: 1 },
        ),
    ] {
        assert_eq!(Frame::parse(&octets(hex)), Err(error), "{hex}");
        assert!(!error.to_string().is_empty() && !View::new(&octets(hex)).to_string().is_empty());
    }
    // In patch mode a chunk may be of 16 octets: then nothing of it is left for a FRAG.
    assert!(Frame::parse(&octets("22cf000c030600090002002200010001")).is_ok());
}

/// Proves: RIOCM-10.1-15
#[test]
fn every_prefix_is_refused_or_read_without_a_panic() {
    for hex in [
        "22cf000e824200800001010a000200020022",
        "22cf00200101000000020022000100010000000500000009000000080001020304050607",
        "22cf003c04060008000200220001000100000005000000090000009600020002202122232425262728292a2b2c2d2e2f3031\
         32333435363738393a3b3c3d3e3f",
    ] {
        let octets = octets(hex);
        for end in 0..octets.len() {
            assert!(Frame::parse(&octets[..end]).is_err());
            for size in 0..=255 {
                let mut cut = octets[..end].to_vec();
                if let Some(low) = cut.get_mut(3) {
                    *low = size;
                }
                let _ = (Frame::parse(&cut), View::new(&cut).to_string());
            }
        }
    }
}

/// Every field where Tables 10.1 to 10.13 have it, and `None` as soon as one octet of it is missing.
///
/// Proves: RIOCM-10.1-7, RIOCM-10.1-11, RIOCM-10.1-15
#[test]
fn a_view_reads_each_field_at_its_place() {
    // Octet i of the frame is i + 0x40: no two places read alike.
    let frame: Vec<u8> = (0x40..0x40 + 32).collect();
    /// A field, its first octet, its octets.
    type Field = (fn(View<'_>) -> Option<u32>, usize, usize);
    let fields: [Field; 16] = [
        (|view| view.protocol().map(u32::from), 0, 2),
        (|view| view.size().map(u32::from), 2, 2),
        (|view| view.type_code().map(u32::from), 4, 1),
        (|view| view.tag().map(u32::from), 5, 1),
        (|view| view.word().map(u32::from), 6, 2),
        (|view| view.dst_port().map(u32::from), 8, 2),
        (|view| view.dst_cid().map(u32::from), 10, 2),
        (|view| view.generation_ack().map(u32::from), 10, 1),
        (|view| view.hb_tmo().map(u32::from), 11, 1),
        (|view| view.sender().map(u32::from), 12, 2),
        (|view| view.src_port().map(u32::from), 14, 2),
        (|view| view.my_cid().map(u32::from), 16, 2),
        (|view| view.src(), 16, 4),
        (|view| view.dst(), 20, 4),
        (|view| view.payl_size(), 24, 4),
        (|view| view.count_frag().map(u32::from), 28, 2),
    ];
    let patches: Field = (|view| view.count_patch().map(u32::from), 30, 2);
    for (number, (read, at, octets)) in fields.into_iter().chain([patches]).enumerate() {
        let value = frame[at..at + octets].iter().fold(0, |value, &octet| value << 8 | u32::from(octet));
        assert_eq!(read(View::new(&frame)), Some(value), "field {number}");
        assert_eq!(read(View::new(&frame[..at + octets])), Some(value), "field {number}, nothing behind it");
        assert_eq!(read(View::new(&frame[..at + octets - 1])), None, "field {number}, cut");
    }
}

/// Who sent it is known if `size` and the octets reach to the end of src_port, 16 octets from the beginning.
///
/// Proves: RIOCM-10.1-11, RIOCM-10.1-15
#[test]
fn an_address_needs_sixteen_octets() {
    let mut frame = octets("22cf000c060000000002002200010003");
    let address = Address { dst_port: 2, sender: 1, src_port: 3 };
    assert_eq!(View::new(&frame).address(), Some(address));
    assert_eq!(View::new(&frame[..15]).address(), None);
    frame[3] = 11;
    assert_eq!(View::new(&frame).address(), None, "size ends before");
    frame.push(0);
    frame[3] = 13;
    assert_eq!(View::new(&frame).address(), Some(address));
}

/// What a frame is, in words.
#[test]
fn a_view_says_what_it_is() {
    for (frame, words) in [
        ("22cf000c060000000002002200010003", "RIO_HEARTBEAT from 1.3 to port 2"),
        ("22cf000c070000000002002200010003", "type 0x07 from 1.3 to port 2"),
        ("22cf000c0600000000020022000100", "RIO_HEARTBEAT"),
        ("22cf000c", "RIOCM without header"),
        ("8911000c810101000002000500010001", "protocol 0x8911"),
        ("22", "1 octets"),
    ] {
        assert_eq!(View::new(&octets(frame)).to_string(), words);
    }
}

fn put(octets: &mut [u8], (_, bits, _): &Field, value: u64) {
    for bit in bits.clone() {
        let mask = 0x80 >> (bit % 8);
        let octet = &mut octets[bit as usize / 8];
        *octet = if value >> (bits.end - 1 - bit) & 1 == 1 { *octet | mask } else { *octet & !mask };
    }
}

/// What the frame itself takes for this field; none of what receivers ignore.
fn value(frame: &Frame<'_>, field: &str) -> Option<u64> {
    let message = match frame.packet {
        Packet::Data(Data { kind: DataKind::Single(message) | DataKind::FragStart(message), .. })
        | Packet::Data(Data { kind: DataKind::PatchStart { message, .. }, .. }) => Some(message),
        _ => None,
    };
    Some(match (frame.packet, field) {
        (_, "dst_port") => frame.address.dst_port.into(),
        (_, "sender") => frame.address.sender.into(),
        (_, "src_port") => frame.address.src_port.into(),
        (_, "src") => message?.src.into(),
        (_, "dst") => message?.dst.into(),
        (_, "payl_size") => message?.payl_size.into(),
        (Packet::Request { generation, .. }, "generation") => generation.into(),
        (Packet::Request { mtu, .. }, "mtu") => mtu.into(),
        (Packet::Request { hb_tmo, .. }, "hb_tmo") => hb_tmo.into(),
        (Packet::Ack { generation, .. }, "generation") => generation.into(),
        (Packet::Ack { mtu_ack, .. }, "mtu_ack") => mtu_ack.into(),
        (Packet::Ack { generation_ack, .. }, "generation_ack") => generation_ack.into(),
        (Packet::Ack { hb_tmo_ack, .. }, "hb_tmo_ack") => hb_tmo_ack.into(),
        (Packet::Ack { my_cid, .. }, "my_cid") => my_cid.into(),
        (Packet::Reset { generation }, "generation") => generation.into(),
        (Packet::Heartbeat { dst_cid }, "dst_cid") => dst_cid.into(),
        (Packet::Data(data), "dst_cid") => data.dst_cid.into(),
        (Packet::Data(data), "seqno") => data.seqno.into(),
        (Packet::Data(data), "msgid") => data.msgid.into(),
        (Packet::Data(Data { kind: DataKind::PatchStart { count_frag, .. }, .. }), "count_frag") => {
            count_frag.into()
        }
        (Packet::Data(Data { kind: DataKind::PatchStart { count_patch, .. }, .. }), "count_patch") => {
            count_patch.into()
        }
        _ => return None,
    })
}

/// A frame of this type whose fields are 0 but for those that make it one.
fn blank(kind: Kind) -> Vec<u8> {
    let payload = usize::from(kind == Kind::Patch);
    let mut octets = vec![0; kind.header_octets() + payload];
    put(&mut octets, &PROTOCOL_FIELD, 0x22CF);
    let size = (kind.header_octets() + payload - 4) as u64;
    for row in kind.fields().iter().copied().flatten() {
        match (kind, row.0) {
            (_, "type") => put(&mut octets, row, kind.code().into()),
            (_, "size") => put(&mut octets, row, size),
            (Kind::FragStart | Kind::PatchStart, "payl_size") => put(&mut octets, row, 100),
            (_, "count_patch") => put(&mut octets, row, 1),
            _ => {}
        }
    }
    octets
}

#[test]
fn every_bit_of_a_header_is_one_field_and_read_where_it_is_written() {
    for kind in Kind::ALL {
        let fields = || kind.fields().iter().copied().flatten();
        let rows = [&PROTOCOL_FIELD].into_iter().chain(fields()).chain(kind.ignored());
        let mut bits: Vec<u32> = rows.flat_map(|row| row.1.clone()).collect();
        bits.sort_unstable();
        assert!(bits.into_iter().eq(0..8 * kind.header_octets() as u32), "{}", kind.name());

        let octets = blank(kind);
        let frame = Frame::parse(&octets).unwrap();
        assert_eq!((frame.packet.kind(), emitted(frame)), (kind, octets.clone()));
        for row in fields().filter(|row| !["type", "size"].contains(&row.0)) {
            let walking = row.1.clone().map(|bit| 1 << (row.1.end - 1 - bit));
            for pattern in walking.chain([0, (1 << row.1.len()) - 1]) {
                let mut octets = octets.clone();
                put(&mut octets, row, pattern);
                // Some sizes and counts are none.
                let Ok(frame) = Frame::parse(&octets) else {
                    assert!(["payl_size", "count_patch"].contains(&row.0), "{} {}", kind.name(), row.0);
                    continue;
                };
                assert_eq!(value(&frame, row.0), Some(pattern), "{} {}", kind.name(), row.0);
                assert_eq!(emitted(frame), octets, "{} {}", kind.name(), row.0);
            }
        }
        for row in kind.ignored() {
            let mut ignored = octets.clone();
            put(&mut ignored, row, u64::MAX);
            assert_eq!(Frame::parse(&ignored), Ok(frame), "{} {}", kind.name(), row.0);
        }
    }
}
