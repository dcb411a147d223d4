//! Devices between the ends (3.1.14): what they lower, and what the ends make of it.

use crate::common::{A, B, LANDING, Pair};
use scheduled_transfer::checksum;
use scheduled_transfer::intermediate::{Limits, Lowered, lower};
use scheduled_transfer::wire::{Header, Op};
use scheduled_transfer::{Config, ExposeOptions, Outcome, Span, TransferOptions};

const LIMITS: Limits = Limits { max_stu: 10, max_block: 13 };

/// The octets of a Control operation of which these fields are not 0, with its Cksum if it has one.
fn octets(header: Header, payload: &[u8], has_cksum: bool) -> Vec<u8> {
    let cksum = if has_cksum { checksum::of_operation(&header, payload) } else { 0 };
    [&Header { cksum, ..header }.to_bytes()[..], payload].concat()
}

fn of(op: Op) -> Header {
    let (d_port, s_port, d_key) = (0x8005, 0x4001, 0x5E6F_7081);
    Header { op: op as u8, d_port, s_port, d_key, ..Header::default() }
}

/// By hand: exponents 12 and 14 become 10, a Block of 2^16 one of 2^13; Cksum, if there is one, is what the
/// lowered operation has when it is reckoned anew; payload and all other fields stay.
///
/// Proves: ST-5.2.4-5, ST-6.2.5-5
#[test]
fn two_fields_are_lowered_and_nothing_else() {
    let payload = [7; 32];
    for has_cksum in [false, true] {
        for payload in [&[][..], &payload] {
            for (header, lowered, what) in [
                (
                    Header { sync: 12, bufx: 12, ..of(Op::RequestConnection) },
                    Header { sync: 10, bufx: 12, ..of(Op::RequestConnection) },
                    Lowered::MaxStu,
                ),
                (
                    Header { sync: 14, bufx: 16, ..of(Op::ConnectionAnswer) },
                    Header { sync: 10, bufx: 16, ..of(Op::ConnectionAnswer) },
                    Lowered::MaxStu,
                ),
                (
                    Header { b_id: 16, s_id: 0x101, ..of(Op::RequestToSend) },
                    Header { b_id: 13, s_id: 0x101, ..of(Op::RequestToSend) },
                    Lowered::MaxBlock,
                ),
            ] {
                let mut passing = octets(header, payload, has_cksum);
                assert_eq!(lower(&mut passing, &LIMITS), Some(what));
                assert_eq!(passing, octets(lowered, payload, has_cksum), "{header:?}");
                assert_eq!(lower(&mut passing, &LIMITS), None, "the next such device finds nothing to lower");
            }
        }
    }
}

/// Smaller values, values that no end may declare, other operations, and what is no operation pass. Data with
/// its Opaque is among it, whatever stands where the two fields are.
///
/// Proves: ST-5.2.4-5, ST-6.2.5-5, ST-6.2.10-3
#[test]
fn all_else_passes() {
    let mut passing = vec![
        octets(Header { sync: 10, ..of(Op::RequestConnection) }, &[], true),
        octets(Header { sync: 8, ..of(Op::ConnectionAnswer) }, &[], true),
        octets(Header { b_id: 13, ..of(Op::RequestToSend) }, &[], true),
        // A rejecting answer has none.
        octets(Header { sync: 0, ..of(Op::ConnectionAnswer) }, &[], true),
        // The other end has to see what is illegal.
        octets(Header { sync: 33, ..of(Op::RequestConnection) }, &[], true),
        octets(Header { sync: 1 << 16 | 12, ..of(Op::RequestConnection) }, &[], true),
        octets(Header { b_id: 49, ..of(Op::RequestToSend) }, &[], true),
        octets(Header { sync: 31, b_id: 40, s_id: 0xDEAD_BEEF, ..of(Op::Data) }, &[1; 4096], true),
        octets(Header { sync: 31, b_id: 40, ..of(Op::Data) }, &[], true),
        // Neither 40 nor 72 octets.
        octets(Header { sync: 31, ..of(Op::RequestConnection) }, &[0; 8], true),
    ];
    passing.extend((0..40).map(|length| vec![0x0F; length]));
    for before in passing {
        let mut after = before.clone();
        assert_eq!(lower(&mut after, &LIMITS), None, "{before:?}");
        assert_eq!(after, before);
    }
    let mut any = octets(Header { sync: 32, ..of(Op::RequestConnection) }, &[], true);
    assert_eq!(lower(&mut any, &Limits::NONE), None, "a device without limits");
}

/// The ends use what arrives: of 65 536 octets with STUs of 32 KiB and Blocks of 16 KiB, as both ends have
/// them, a device makes 64 Data of 1 KiB in 8 Blocks of 8 KiB, each way, with checksums on and nothing
/// logged.
///
/// Proves: ST-5.2.4-5, ST-6.2.5-5, ST-A.1-8
#[test]
fn the_ends_keep_to_what_arrives() {
    let a = Config { max_stu: 15, stu_carried: Some(15), ..Config::default() };
    let b = Config { first_port: 0x8000, first_key: 9, ..a };
    for (between, data, blocks) in [(None, 4, 4), (Some(LIMITS), 64, 8)] {
        let mut pair = Pair::new(a, b, 2 << 20);
        pair.between = between;
        let (at_a, _) = pair.open();
        pair.expose = ExposeOptions { window: 1, blocksize: 14 };
        let written =
            pair.ends[A].write(pair.now, at_a, Span::new(0, 65_536), TransferOptions::default()).unwrap();
        assert_eq!(pair.outcome(A, written), Outcome::Complete);
        assert_eq!(pair.sent(A, Op::Data).len(), data);
        assert_eq!(pair.sent(B, Op::ClearToSend).len(), blocks);
        let [from, to] = [A, B].map(|end| pair.ends[end].memory());
        assert_eq!(to[LANDING as usize..][..65_536], from[..65_536]);
        let options = ExposeOptions { window: 1, blocksize: 14 };
        let channel = TransferOptions::default().channel;
        let span = (Span::new(LANDING, 65_536), false);
        let read = pair.ends[A].read(pair.now, at_a, span, channel, options, Default::default()).unwrap();
        assert_eq!(pair.outcome(A, read), Outcome::Complete);
        assert_eq!(pair.sent(B, Op::Data).len(), data);
        assert_eq!(pair.sent(A, Op::ClearToSend).len(), blocks);
        pair.assert_clean();
    }
}
