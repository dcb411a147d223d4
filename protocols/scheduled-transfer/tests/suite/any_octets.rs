//! Whatever arrives, nothing panics and what must always hold does.

use proptest::prelude::*;
use scheduled_transfer::llp::{Medium, ethernet, fibre_channel, hippi_fp, hippi6400, lane};
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::wire::{Flags, Function, Header, Op};
use scheduled_transfer::{Config, Endpoint, Event, ExposeOptions, Extras, Span, TransferOptions, Ula};

const PEER: Ula = Ula([2; 6]);
const MEMORY: usize = 1 << 16;

fn rc() -> Header {
    Header {
        op: Op::RequestConnection as u8,
        flags: Flags::from_bits(0x310),
        param: 64,
        d_port: 20,
        s_port: 0x4001,
        bufx: 12,
        offset: 0x1A2B,
        sync: 10,
        ..Header::default()
    }
}

fn run(rounds: &[[u8; 16]]) {
    let config = Config { bufsize: 12, missing_timeout: Some(1 << 30), ..Config::default() };
    let mut end = Endpoint::new(config, vec![0u8; MEMORY]).unwrap();
    end.listen(20, 0);
    end.handle(0, (PEER, 0), &rc().to_bytes());
    let (id, _) = end.poll_event().unwrap();
    assert!(end.accept(0, id, Extras::default()));
    let local = *end.connection(id).unwrap().local();
    let (mut now, mut out) = (0u64, Vec::new());
    let (mut last, mut names) = (Header::default(), vec![1u32]);
    for round in rounds {
        let [what, op, flags, param, mx, bufx, offset, sync, b_num, d_id, s_id, length, ..] = *round;
        let name = names[usize::from(d_id) % names.len()];
        let span = Span::new(u64::from(offset) << 4, u64::from(length) + 1);
        match what % 16 {
            0..=8 => {
                let header = Header {
                    // The Op codes that have a meaning on an open connection, and a few that have none.
                    op: 0x13 + op % 13,
                    flags: Flags::from_bits(u16::from_be_bytes([round[12] & 7, flags])),
                    param: u16::from(param) % 8,
                    d_port: local.port,
                    s_port: 0x4001,
                    d_key: local.key,
                    b_id: if mx & 1 == 0 { last.b_id } else { u16::from(mx >> 1) % 24 },
                    bufx: if bufx & 1 == 0 { last.bufx } else { (bufx >> 1).into() },
                    offset: u32::from(offset) << (round[13] % 16),
                    sync: sync.into(),
                    b_num: if b_num == 255 { u32::MAX } else { (b_num % 8).into() },
                    d_id: if d_id == 255 {
                        u32::MAX
                    } else if d_id % 3 == 0 {
                        0
                    } else {
                        name
                    },
                    s_id: s_id.into(),
                    cksum: 0,
                };
                let payload = if header.op == Op::Data as u8 { usize::from(length) * 5 } else { 0 };
                end.handle(now, (PEER, 0), &[&header.to_bytes()[..], &vec![length; payload]].concat());
            }
            9 => now += u64::from(round[14]) << 28,
            10 => names.extend(end.write(now, id, span, TransferOptions::default())),
            11 => {
                let options = ExposeOptions { window: 2, blocksize: 8 };
                let extras = Extras::default();
                names.extend(end.read(now, id, (span, false), DataChannel::ONE, options, extras));
            }
            12 => {
                names.extend(end.request_region(now, id, span.bytes, DataChannel::ONE, Extras::default()));
            }
            13 => {
                names.extend(end.get(now, id, (name, 0), span, Extras::default()));
                names.extend(end.fetch_op(now, id, (name, 0), Function::Clear, 8, Extras::default()));
                end.put(now, id, (name, 0), span, TransferOptions::default());
            }
            14 => {
                end.end(now, id, name);
            }
            _ if param == 0 => end.disconnect(now, id),
            _ => {}
        }
        end.handle_timeout(now);
        while let Some(transmit) = end.poll_transmit(now, 0, 0b1111, &mut out) {
            last = transmit.header;
        }
        while let Some((connection, event)) = end.poll_event() {
            let options = ExposeOptions { window: 3, blocksize: 8 };
            match event {
                Event::WriteOffered { id, t_len, .. } => {
                    names.push(id);
                    end.expose(now, connection, id, Span::new(256, t_len.min(1 << 15)), options);
                }
                Event::ReadRequested { id, t_len } => {
                    names.push(id);
                    end.serve(now, connection, id, Span::new(0, t_len), TransferOptions::default());
                }
                Event::RegionRequested { id, t_len } => {
                    names.push(id);
                    end.grant(now, connection, id, Span::new(0, t_len));
                }
                _ => {}
            }
        }
        // The upper layer's answers leave too.
        while let Some(transmit) = end.poll_transmit(now, 0, 0b1111, &mut out) {
            last = transmit.header;
        }
        assert_eq!(end.check_invariants(), Ok(()));
        assert!(end.poll_timeout().is_none_or(|at| at > now), "a deadline lies in the past");
        assert!(end.poll_transmit(now, 0, 0b1111, &mut out).is_none(), "drained twice");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn any_sequence_of_operations(rounds in proptest::collection::vec(any::<[u8; 16]>(), 0..60)) {
        run(&rounds);
    }

    #[test]
    fn any_frame(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = hippi6400::Frame::parse(&octets);
        let _ = hippi_fp::Frame::parse(&octets);
        let _ = ethernet::Frame::parse(&octets);
        let _ = fibre_channel::Frame::parse(&octets);
        for medium in Medium::ALL {
            let _ = lane::Frame::parse(medium, &octets);
        }
        let mut end = Endpoint::new(Config::default(), vec![0u8; 16]).unwrap();
        end.listen(20, 0);
        end.handle(0, (PEER, 0), &octets);
        prop_assert_eq!(end.check_invariants(), Ok(()));
    }
}
