//! Fragmentation both ways: the vectors, every rule of reassembly, and any message through any MTU.

use linx_riocm::fragment::{Delivery, Error, Fragmentation, Limits, Reassembly, cut, moved_octets};
use linx_riocm::wire::{Data, DataKind, Frame, Message, Packet};
use proptest::prelude::*;

fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn pay(count: u8, first: u8) -> Vec<u8> {
    (0..count).map(|index| first.wrapping_add(index)).collect()
}

fn pieces(message: &[u8], mtu: u16, how: Fragmentation) -> Vec<(DataKind, Vec<u8>)> {
    let mut pieces = vec![];
    cut(5, 9, message, mtu, how, |kind, payload| pieces.push((kind, payload.to_vec())));
    pieces
}

/// The frames are one message: they are what is sent for it, and it is what they deliver.
fn both_ways(frames: &[&str], how: Fragmentation, message: Vec<u8>) {
    let frames: Vec<_> = frames.iter().map(|hex| octets(hex)).collect();
    let mut reassembly = Reassembly::default();
    let mut parsed = vec![];
    for (index, frame) in frames.iter().enumerate() {
        let Packet::Data(data) = Frame::parse(frame).unwrap().packet else { panic!("data") };
        parsed.push((data.kind, data.payload.to_vec()));
        let delivered = reassembly.handle(&data, Limits::default()).unwrap();
        let last = index + 1 == frames.len();
        let moved = moved_octets(message.len(), 64, how);
        let whole = Delivery { src: 5, dst: 9, octets: message.clone(), moved };
        assert_eq!(delivered, last.then_some(whole));
    }
    assert!(reassembly.is_empty());
    assert_eq!(pieces(&message, 64, how), parsed);
}

/// Proves: RIOCM-10.1.2-7, RIOCM-10.1.2-8, RIOCM-10.1.2.2-1, RIOCM-10.1.2.3-3
#[test]
fn simple_vectors_both_ways() {
    both_ways(
        &["22cf00200101000000020022000100010000000500000009000000080001020304050607"],
        Fragmentation::Simple,
        pay(8, 0),
    );
    both_ways(
        &[
            "22cf003c020400030002002200010001000000050000000900000064000102030405060708090a0b0c0d0e0f10111213\
             1415161718191a1b1c1d1e1f20212223",
            "22cf003c0304000400020022000100012425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f40414243\
             4445464748494a4b4c4d4e4f50515253",
            "22cf001c0304000500020022000100015455565758595a5b5c5d5e5f60616263",
        ],
        Fragmentation::Simple,
        pay(100, 0),
    );
    both_ways(
        &[
            "22cf003c020500060002002200010001000000050000000900000025a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3\
             b4b5b6b7b8b9babbbcbdbebfc0c1c2c3",
            "22cf000d030500070002002200010001c4",
        ],
        Fragmentation::Simple,
        pay(37, 0xa0),
    );
}

/// Proves: RIOCM-10.1.2-9, RIOCM-10.1.2-10, RIOCM-10.1.2.4-1, RIOCM-10.1.2.4-2, RIOCM-10.1.2.5-3
#[test]
fn patch_vectors_both_ways() {
    both_ways(
        &[
            "22cf003c04060008000200220001000100000005000000090000009600020002202122232425262728292a2b2c2d2e2f\
             303132333435363738393a3b3c3d3e3f",
            "22cf003c030600090002002200010001505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f\
             707172737475767778797a7b7c7d7e7f",
            "22cf00120306000a0002002200010001909192939495",
            "22cf003c0506000b0002002200010001000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\
             404142434445464748494a4b4c4d4e4f",
            "22cf001c0506000c0002002200010001808182838485868788898a8b8c8d8e8f",
        ],
        Fragmentation::Patch,
        pay(150, 0),
    );
    both_ways(
        &[
            "22cf003c0407000d000200220001000100000005000000090000008800010002202122232425262728292a2b2c2d2e2f\
             303132333435363738393a3b3c3d3e3f",
            "22cf003c0307000e0002002200010001505152535455565758595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f\
             707172737475767778797a7b7c7d7e7f",
            "22cf003c0507000f0002002200010001000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\
             404142434445464748494a4b4c4d4e4f",
            "22cf00140507001000020022000100018081828384858687",
        ],
        Fragmentation::Patch,
        pay(136, 0),
    );
    both_ways(
        &[
            "22cf002e04080011000200220001000100000005000000090000003200000001505152535455565758595a5b5c5d5e5f\
             6061",
            "22cf002c050800120002002200010001303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c\
             4d4e4f",
        ],
        Fragmentation::Patch,
        pay(50, 0x30),
    );
}

const FRAG: DataKind = DataKind::Frag;
const PATCH: DataKind = DataKind::Patch;

fn start(payl_size: u32) -> DataKind {
    DataKind::FragStart(Message { src: 5, dst: 9, payl_size })
}

fn patch_start(payl_size: u32, count_frag: u16, count_patch: u16) -> DataKind {
    DataKind::PatchStart { message: Message { src: 5, dst: 9, payl_size }, count_frag, count_patch }
}

/// What the last of these packets, of one msgid and so many octets each, leads to; those before are in order.
fn last(packets: &[(DataKind, usize)]) -> Result<Option<usize>, Error> {
    let mut reassembly = Reassembly::default();
    let zeros = [0; 200];
    let mut outcome = Ok(None);
    for &(kind, length) in packets {
        assert_eq!(outcome, Ok(None));
        let data = Data { dst_cid: 1, seqno: 0, msgid: 7, kind, payload: &zeros[..length] };
        let delivery = reassembly.handle(&data, Limits { open: 32, octets: 1_000 });
        outcome = delivery.map(|delivery| delivery.map(|delivery| delivery.octets.len()));
    }
    outcome
}

/// Proves: RIOCM-10.1.2.2-3, RIOCM-10.1.2.3-1, RIOCM-10.1.2.3-2, RIOCM-10.1.2.3-3, RIOCM-10.1.2.3-4
/// Proves: RIOCM-10.1.2.4-2, RIOCM-10.1.2.4-3, RIOCM-10.1.2.5-2, RIOCM-10.1.2.5-3, RIOCM-10.1.2-12
#[test]
fn every_row_of_the_table_of_reassembly() {
    assert_eq!(last(&[(start(20), 10), (start(20), 10)]), Err(Error::Open));
    assert_eq!(last(&[(start(20), 10), (patch_start(60, 0, 1), 10)]), Err(Error::Open));
    assert_eq!(last(&[(patch_start(60, 0, 1), 10), (patch_start(60, 0, 1), 10)]), Err(Error::Open));
    assert_eq!(last(&[(FRAG, 10)]), Err(Error::NotOpen));
    assert_eq!(last(&[(PATCH, 10)]), Err(Error::NotOpen));
    assert_eq!(last(&[(start(20), 10), (PATCH, 10)]), Err(Error::NotOpen));
    assert_eq!(last(&[(start(20), 10), (FRAG, 0)]), Err(Error::EmptyFrag));
    assert_eq!(last(&[(start(20), 10), (FRAG, 9)]), Ok(None));
    assert_eq!(last(&[(start(20), 10), (FRAG, 10)]), Ok(Some(20)));
    assert_eq!(last(&[(start(20), 10), (FRAG, 11)]), Err(Error::Total));
    assert_eq!(last(&[(patch_start(80, 1, 1), 10), (PATCH, 38)]), Err(Error::EarlyPatch));
    assert_eq!(last(&[(patch_start(80, 1, 1), 10), (FRAG, 5), (FRAG, 5)]), Err(Error::CountFrag));
    assert_eq!(last(&[(patch_start(58, 1, 1), 10), (FRAG, 0), (PATCH, 48)]), Ok(Some(58)));
    assert_eq!(last(&[(patch_start(58, 1, 1), 10), (FRAG, 0), (PATCH, 47)]), Err(Error::Total));
    assert_eq!(last(&[(patch_start(58, 1, 2), 10), (FRAG, 0), (PATCH, 49)]), Err(Error::Total));
    assert_eq!(last(&[(patch_start(57, 1, 1), 10), (FRAG, 0), (PATCH, 47)]), Err(Error::Total));
    assert_eq!(last(&[(patch_start(50, 0, 2), 10), (PATCH, 32), (PATCH, 8)]), Ok(Some(50)));
    assert_eq!(last(&[(start(1_001), 10)]), Err(Error::TooLong));
    assert_eq!(last(&[(patch_start(1_001, 0, 1), 10)]), Err(Error::TooLong));
}

/// Proves: RIOCM-10.1.2-15
#[test]
fn messages_of_different_msgid_do_not_mix() {
    let limits = Limits::default();
    let mut reassembly = Reassembly::default();
    for msgid in 0..32 {
        assert_eq!(reassembly.handle(&packet(msgid, start(2), &[msgid]), limits), Ok(None));
    }
    let more = packet(32, start(2), &[0]);
    assert_eq!(reassembly.clone().handle(&more, limits), Err(Error::TooManyOpen));
    for msgid in (0..32).rev() {
        let delivery = reassembly.handle(&packet(msgid, FRAG, &[100 + msgid]), limits).unwrap().unwrap();
        assert_eq!(delivery.octets, [msgid, 100 + msgid]);
    }
    assert!(reassembly.is_empty());
}

fn packet(msgid: u8, kind: DataKind, payload: &[u8]) -> Data<'_> {
    Data { dst_cid: 1, seqno: 0, msgid, kind, payload }
}

proptest! {
    /// Proves: RIOCM-10.1.2-7, RIOCM-10.1.2-8, RIOCM-10.1.2-9, RIOCM-10.1.2-11, RIOCM-10.1.2-12
    #[test]
    fn any_message_passes_any_mtu(
        message in prop::collection::vec(any::<u8>(), 0..3_000),
        mtu in 64..400_u16,
        patch in any::<bool>(),
    ) {
        let how = if patch { Fragmentation::Patch } else { Fragmentation::Simple };
        let pieces = pieces(&message, mtu, how);
        prop_assert_eq!(pieces.len() == 1, message.len() <= usize::from(mtu) - 28);
        let moves = |kind: DataKind| pieces.len() > 1 && (!patch || kind == DataKind::Patch);
        let moved = pieces.iter().filter(|(kind, _)| moves(*kind));
        let moved: usize = moved.map(|(_, payload)| payload.len()).sum();
        prop_assert_eq!(moved_octets(message.len(), mtu, how), moved);
        let mut reassembly = Reassembly::default();
        for (index, (kind, payload)) in pieces.iter().enumerate() {
            prop_assert!(kind.kind().header_octets() + payload.len() <= usize::from(mtu));
            let data = Data { dst_cid: 1, seqno: 0, msgid: 3, kind: *kind, payload };
            let delivered = reassembly.handle(&data, Limits::default()).unwrap();
            prop_assert_eq!(delivered.is_some(), index + 1 == pieces.len());
            if let Some(delivered) = delivered {
                prop_assert_eq!(&delivered.octets, &message);
                prop_assert_eq!(delivered.moved, moved);
            }
        }
        if !patch && pieces.len() > 1 {
            let full = usize::from(mtu) - 16;
            prop_assert!(pieces[1..pieces.len() - 1].iter().all(|(_, payload)| payload.len() == full));
        }
    }
}
