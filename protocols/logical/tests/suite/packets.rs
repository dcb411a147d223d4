//! Every format, whole packets: golden bytes both ways, any packet there and back, any bytes without a panic.

use crate::common::{any_packet, hex};
use logical::wire::address::{Address, Span};
use logical::wire::flow_control::{Command, FlowControl, FlowId};
use logical::wire::maintenance::{Access, Maintenance, Operation as Register};
use logical::wire::message::{self, SegmentSize, TargetInfo};
use logical::wire::packet::{body_octets, open, refusal};
use logical::wire::read::{Operation as ReadOperation, Read};
use logical::wire::response::{Response, Status};
use logical::wire::stream::{self, Part};
use logical::wire::stream_write::StreamWrite;
use logical::wire::traffic_management::{self, TrafficManagement};
use logical::wire::transport::{Priority, Transport};
use logical::wire::write::{Operation as WriteOperation, Write};
use logical::wire::{Body, Error, Packet, doorbell::Doorbell};
use lp_serial::cost::{AddressSize, header_bytes, packet_bytes};
use lp_serial::packet::{BODY_MAX_BYTES, PACKET_MAX_BYTES};
use lp_serial::{IdSize, PacketClass};
use proptest::prelude::*;

const BITS_34: AddressSize = AddressSize::Bits34;

fn transport(prio: u8, crf: bool) -> Transport {
    Transport::new(Priority::new(prio, crf).unwrap(), IdSize::Dev8, 1, 2).unwrap()
}

fn address(byte: u64) -> Address {
    Address::new(BITS_34, byte / 8).unwrap()
}

const DATA: [u8; 8] = [0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7];

/// Packets from device 2 to device 1, and their bytes without CRC.
fn golden() -> Vec<(Packet<&'static [u8]>, &'static str)> {
    let low = transport(0, false);
    let packet = |body| Packet { transport: low, body };
    let data: &[u8] = &DATA;
    let double_word = Span::DOUBLE_WORD;
    let read = |operation, span| Body::Read(Read::new(operation, 7, address(0x1000), span).unwrap());
    let write = |operation, byte, span, data| {
        Body::Write(Write::new(operation, 7, address(byte), span, data).unwrap())
    };
    let maintenance = |hops, operation| Body::Maintenance(Maintenance::new(hops, operation).unwrap());
    let register = |offset| Access::register(offset).unwrap();
    let stream = |part, data| Body::Stream(stream::Segment::new(0x5A, part, data).unwrap());
    let sixteen: &[u8] = b"0123456789abcdef";
    vec![
        (packet(read(ReadOperation::Nread, double_word)), "00020102 4B07 00001000"),
        (packet(read(ReadOperation::Nread, Span::read(0, 256).unwrap())), "00020102 4F07 00001004"),
        (packet(read(ReadOperation::Increment, Span::read(6, 2).unwrap())), "00020102 C607 00001004"),
        (packet(read(ReadOperation::Clear, Span::read(0, 4).unwrap())), "00020102 F807 00001000"),
        (
            packet(write(WriteOperation::Nwrite, 0x3_0000_0008, double_word, data)),
            "00050102 4B07 0000000B A0A1A2A3A4A5A6A7",
        ),
        (
            packet(write(WriteOperation::NwriteR, 0x1000, Span::write(5, 3).unwrap(), data)),
            "00050102 5507 00001004 A0A1A2A3A4A5A6A7",
        ),
        (
            packet(write(WriteOperation::CompareAndSwap, 0x1000, Span::TWO_DOUBLE_WORDS, sixteen)),
            "00050102 DB07 00001004 30313233343536373839616263646566",
        ),
        (
            packet(Body::StreamWrite(StreamWrite::new(address(0x1000), data).unwrap())),
            "00060102 00001000 A0A1A2A3A4A5A6A7",
        ),
        (
            Packet {
                transport: transport(3, true),
                body: Body::FlowControl(FlowControl {
                    command: Command::Xoff,
                    flow: FlowId::vc0(2).unwrap(),
                    from_endpoint: true,
                }),
            },
            "01C70102 0005",
        ),
        (
            packet(Body::FlowControl(FlowControl {
                command: Command::RequestMultiple { sequence: true },
                flow: FlowId::of_channel(8).unwrap(),
                from_endpoint: false,
            })),
            "00070102 F090",
        ),
        (
            packet(maintenance(255, Register::Read { src_tid: 9, access: register(0x6C) })),
            "00080102 0809 FF 00006C",
        ),
        (
            packet(maintenance(3, Register::Write { src_tid: 9, access: register(0x68), payload: data })),
            "00080102 1809 03 000068 A0A1A2A3A4A5A6A7",
        ),
        (
            packet(maintenance(255, Register::ReadDone { target_tid: 9, payload: data })),
            "00080102 2009 FF 000000 A0A1A2A3A4A5A6A7",
        ),
        (packet(maintenance(255, Register::ReadError { target_tid: 9 })), "00080102 2709 FF 000000"),
        (packet(maintenance(255, Register::WriteDone { target_tid: 9 })), "00080102 3009 FF 000000"),
        (
            packet(maintenance(255, Register::PortWrite { octets: 16, payload: sixteen })),
            "00080102 4B00 FF 000004 30313233343536373839616263646566",
        ),
        (packet(stream(Part::Single { stream_id: 0x1234 }, &data[..3])), "00090102 5AC1 1234 A0A1A200"),
        (packet(stream(Part::Single { stream_id: 0x1234 }, &data[..2])), "00090102 5AC2 1234 A0A1"),
        (packet(stream(Part::Start { stream_id: 0x1234 }, data)), "00090102 5A80 1234 A0A1A2A3A4A5A6A7"),
        (packet(stream(Part::Continuation, data)), "00090102 5A00 A0A1A2A3A4A5A6A7"),
        (packet(stream(Part::End { length: 0x0155 }, &data[..5])), "00090102 5A43 0155 A0A1A2A3A400"),
        (packet(Body::Stream(stream::Segment::abort(0x5A))), "00090102 5A40 0000"),
        (
            packet(Body::TrafficManagement(TrafficManagement {
                cos: 0x5A,
                stream_id: 0x1234,
                operation: traffic_management::Operation::Credit,
                any_destination: true,
                any_class: false,
                any_stream: true,
                mask: 0xF0,
                parameter1: 0x12,
                parameter2: 0x34,
            })),
            "00090102 5A04 1234 25 F0 12 34",
        ),
        (packet(Body::Doorbell(Doorbell { src_tid: 3, info: 0xABCD })), "000A0102 00 03 ABCD"),
        (
            packet(Body::Message(
                message::Segment::new(3, SegmentSize::B8, TargetInfo::new(1, 2, 0).unwrap(), data).unwrap(),
            )),
            "000B0102 29 60 A0A1A2A3A4A5A6A7",
        ),
        (packet(Body::Response(Response::Io { target_tid: 7, status: Status::Retry })), "000D0102 0307"),
        (packet(Body::Response(Response::Io { target_tid: 7, status: Status::Error })), "000D0102 0707"),
        (
            packet(Body::Response(Response::Data { target_tid: 7, payload: data })),
            "000D0102 8007 A0A1A2A3A4A5A6A7",
        ),
        (
            packet(Body::Response(Response::Message {
                target: TargetInfo::new(1, 2, 3).unwrap(),
                status: Status::Done,
            })),
            "000D0102 1063",
        ),
    ]
}

#[test]
fn golden_bytes_both_ways() {
    for (packet, text) in golden() {
        let expected = hex(text);
        let mut out = [0xA5; BODY_MAX_BYTES];
        assert_eq!(packet.emit(&mut out), Ok(expected.len()), "{packet}");
        assert_eq!(out[..expected.len()], expected, "{packet}");
        assert!(out[expected.len()..].iter().all(|&byte| byte == 0xA5));
        assert_eq!(Packet::parse(BITS_34, &expected), Ok(packet));
    }
}

#[test]
fn a_doorbell_is_sealed_with_the_crc_of_the_standard_and_padding() {
    let bell = Packet::<&[u8]> {
        transport: transport(0, false),
        body: Body::Doorbell(Doorbell { src_tid: 3, info: 0xABCD }),
    };
    let mut out = [0xA5; 12];
    assert_eq!(bell.seal(&mut out), Ok(12));
    assert_eq!(out[..], hex("000A0102 0003ABCD 5366 0000"));
    // The ackID is the link's.
    out[0] |= 0xFC;
    assert_eq!(open(&out, BITS_34, &mut [0; 8]), Ok(bell));
    assert_eq!(bell.seal(&mut [0; 11]), Err(Error::Buffer { needed: 12, found: 11 }));
}

#[test]
fn truncated_packets_are_refused() {
    for (packet, text) in golden() {
        let whole = hex(text);
        let payload = packet.body.payload().map_or(0, |payload| payload.len());
        let header = whole.len() - payload.next_multiple_of(2);
        for length in 0..header {
            let found = Packet::parse(BITS_34, &whole[..length]);
            // A stream segment without data can be the end of an abort; nothing else is whole.
            assert!(matches!(found, Err(Error::Short { .. })), "{packet}: {length} bytes");
        }
        let mut out = [0xA5; BODY_MAX_BYTES];
        let short = packet.emit(&mut out[..whole.len() - 1]);
        assert_eq!(short, Err(Error::Buffer { needed: whole.len(), found: whole.len() - 1 }));
        assert!(out.iter().all(|&byte| byte == 0xA5));
    }
}

/// A body of this class with this payload, if it can carry it.
fn of_class(class: PacketClass, address: Address, payload: &[u8]) -> Option<Body<&[u8]>> {
    let octets = payload.len();
    let none = payload.is_empty();
    Some(match class {
        PacketClass::Read if none => {
            Body::Read(Read::new(ReadOperation::Nread, 1, address, Span::DOUBLE_WORD).unwrap())
        }
        PacketClass::Write => {
            let span = Span::announced(octets as u16).ok()?;
            Body::Write(Write::new(WriteOperation::Nwrite, 1, address, span, payload).ok()?)
        }
        PacketClass::StreamWrite => Body::StreamWrite(StreamWrite::new(address, payload).ok()?),
        PacketClass::FlowControl if none => Body::FlowControl(FlowControl {
            command: Command::Xon,
            flow: FlowId::vc0(0).unwrap(),
            from_endpoint: false,
        }),
        PacketClass::Maintenance if none => Body::Maintenance(
            Maintenance::new(0, Register::Read { src_tid: 1, access: Access::register(0).unwrap() }).ok()?,
        ),
        PacketClass::Maintenance => {
            Body::Maintenance(Maintenance::new(0, Register::ReadDone { target_tid: 1, payload }).ok()?)
        }
        PacketClass::DataStreamingStart => {
            Body::Stream(stream::Segment::new(1, Part::End { length: 1 }, payload).ok()?)
        }
        PacketClass::DataStreamingContinuation => {
            Body::Stream(stream::Segment::new(1, Part::Continuation, payload).ok()?)
        }
        PacketClass::TrafficManagement if none => Body::TrafficManagement(TrafficManagement {
            cos: 0,
            stream_id: 0,
            operation: traffic_management::Operation::Basic,
            any_destination: false,
            any_class: false,
            any_stream: false,
            mask: 0,
            parameter1: 0,
            parameter2: traffic_management::XOFF,
        }),
        PacketClass::Doorbell if none => Body::Doorbell(Doorbell { src_tid: 0, info: 0 }),
        PacketClass::Message => {
            let target = TargetInfo::single(0, 0).unwrap();
            Body::Message(message::Segment::new(1, SegmentSize::B256, target, payload).ok()?)
        }
        PacketClass::Response if none => Body::Response(Response::Io { target_tid: 1, status: Status::Done }),
        PacketClass::Response => {
            let response = Response::Data { target_tid: 1, payload };
            response.check().ok()?;
            Body::Response(response)
        }
        _ => return None,
    })
}

#[test]
fn lengths_are_those_of_the_cost_table() {
    let data = [0x5A; 300];
    let mut compared = 0;
    for class in PacketClass::ALL {
        for ids in [IdSize::Dev8, IdSize::Dev16, IdSize::Dev32] {
            for size in [AddressSize::Bits34, AddressSize::Bits50, AddressSize::Bits66] {
                let transport = Transport::new(Priority::LOWEST, ids, 1, 2).unwrap();
                for octets in 0..data.len() {
                    let address = Address::new(size, 0).unwrap();
                    let body = of_class(class, address, &data[..octets]);
                    let cost = packet_bytes(class, ids, octets as u32, size);
                    let Some(body) = body else {
                        // A register of 4 bytes is sent as 8; segments that go on have a multiple of 4 bytes.
                        let allowed = match class {
                            PacketClass::Maintenance => octets == 4,
                            PacketClass::DataStreamingContinuation => octets % 4 == 2,
                            _ => false,
                        };
                        assert!(cost.is_err() || allowed, "{class:?}: {octets} bytes cost {cost:?}");
                        continue;
                    };
                    assert_eq!(body.class(), class);
                    let packet = Packet { transport, body };
                    // An odd number of bytes at the end of a stream is padded.
                    let carried = (octets as u32).next_multiple_of(2);
                    let header = header_bytes(class, ids, size);
                    assert_eq!(
                        packet.octets() as u32,
                        header + carried,
                        "{class:?} {ids:?} {size:?} {octets}"
                    );
                    let mut out = [0xA5; PACKET_MAX_BYTES];
                    let length = packet.seal(&mut out).unwrap();
                    assert_eq!(packet_bytes(class, ids, carried, size), Ok(length as u32));
                    assert_eq!(packet.sealed_octets(), length);
                    compared += 1;
                }
            }
        }
    }
    // 9 combinations; payloads: 1 for each of the 5 classes without, 32 of 5 classes, and so on.
    let payloads = 4 + 3 * 32 + (1 + 8) + 257 + 64 + (1 + 32);
    assert_eq!(compared, 9 * payloads);
}

#[test]
fn every_priority_crf_vc_and_id_size_comes_back() {
    for prio in 0..4 {
        for (crf, vc) in [(false, false), (false, true), (true, false), (true, true)] {
            for (ids, max) in [(IdSize::Dev8, 0xFF), (IdSize::Dev16, 0xFFFF), (IdSize::Dev32, u32::MAX)] {
                let priority = Priority::new(prio, crf).unwrap();
                let transport = Transport::new(priority, ids, max, max - 1).unwrap().with_vc(vc);
                let mut out = [0xA5; 10];
                let length = transport.emit(13, &mut out).unwrap();
                assert_eq!(out[0], u8::from(vc) << 1 | u8::from(crf));
                assert_eq!(out[1], prio << 6 | ids.tt() << 4 | 13);
                assert_eq!(Transport::parse(&out[..length]), Ok((transport, 13, &[][..])));
                if max < u32::MAX {
                    let beyond = Error::Range { field: "sourceID", max, found: max + 1 };
                    assert_eq!(Transport::new(priority, ids, 0, max + 1), Err(beyond));
                }
            }
        }
    }
    let reserved = Transport::parse(&[0x00, 0x3A, 1, 2, 0, 0, 0, 0, 0, 0]);
    assert_eq!(reserved, Err(Error::Value { field: "tt", found: 3, rule: "0, 1 or 2 (3 is reserved)" }));
    assert!(Priority::new(4, false).is_err());
}

#[test]
fn a_reply_goes_back_one_priority_higher_and_keeps_crf() {
    for (prio, expected) in [(0, 1), (1, 2), (2, 3), (3, 3)] {
        let reply = transport(prio, true).reply();
        assert_eq!((reply.destination(), reply.source()), (2, 1));
        assert_eq!(reply.priority(), Priority::new(expected, true).unwrap());
    }
}

#[test]
fn reserved_bits_are_ignored_and_written_as_0() {
    // (bytes, offset of a byte, reserved bits of it)
    let reserved = [
        ("000A0102 0003ABCD", 4, 0xFF),
        ("00060102 00001000 A0A1A2A3A4A5A6A7", 7, 0x04),
        ("01C70102 0005", 4, 0x0F),
        ("00080102 0809 FF00006C", 9, 0x03),
        ("00080102 3009 FF000000", 7, 0xFF),
        ("00080102 4B00 FF000004 3031323334353637", 5, 0xFF),
        ("00090102 5A80 1234 A0A1A2A3A4A5A6A7", 5, 0x3B),
        ("00090102 5A04 1234 25F01234", 5, 0xC3),
        ("00090102 5A04 1234 25F01234", 8, 0x08),
    ];
    for (text, at, mask) in reserved {
        let clean = hex(text);
        let mut dirty = clean.clone();
        dirty[at] |= mask;
        let packet = Packet::parse(BITS_34, &dirty).unwrap();
        assert_eq!(Packet::parse(BITS_34, &clean), Ok(packet));
        let mut out = [0xA5; BODY_MAX_BYTES];
        let length = packet.emit(&mut out).unwrap();
        assert_eq!(out[..length], clean, "{text}");
    }
}

#[test]
fn values_that_no_format_allows_are_named() {
    let value = |field, found| (field, found);
    let cases = [
        ("00000102 0000", value("ftype", 0)),
        ("000C0102 0000", value("ftype", 12)),
        ("000F0102 0000", value("ftype", 15)),
        ("00020102 5B07 00001000", value("transaction", 5)),
        ("00020102 CB07 00001000", value("rdsize", 8)),
        ("00050102 6B07 00001000 A0A1A2A3A4A5A6A7", value("transaction", 6)),
        ("00050102 4D07 00001000 A0A1A2A3A4A5A6A7", value("wrsize", 13)),
        ("00050102 DB07 00001000 A0A1A2A3A4A5A6A7", value("wrsize", 8)),
        ("00050102 EB07 00001000 A0A1A2A3A4A5A6A7", value("wrsize", 8)),
        ("01C70102 1005", value("FAM", 1)),
        ("01C70102 6005", value("FAM", 6)),
        ("01C70102 000C", value("flowID", 6)),
        ("00080102 5809 FF00006C", value("transaction", 5)),
        ("00080102 0709 FF00006C", value("size", 7)),
        ("00080102 0D09 FF00006C", value("size", 13)),
        ("00080102 2309 FF000000", value("status", 3)),
        ("00090102 5AC0 1234 A0A1", value("O", 0)),
        ("00090102 5AC2 1234 A0A1A2A3", value("O", 1)),
        ("00090102 5A41 0000", value("P", 1)),
        ("00090102 5A0C 1234 25F01234", value("xtype", 1)),
        ("00090102 5A04 1234 45F01234", value("TM OP", 4)),
        ("000B0102 2860 A0A1A2A3A4A5A6A7", value("ssize", 8)),
        ("000B0102 2F60 A0A1A2A3A4A5A6A7", value("ssize", 15)),
        ("000B0102 1962 A0A1A2A3A4A5A6A7", value("msgseg", 2)),
        ("000D0102 2007", value("transaction", 2)),
        ("000D0102 0107", value("status", 1)),
        ("000D0102 8307", value("status", 3)),
    ];
    for (text, (name, number)) in cases {
        match Packet::parse(BITS_34, &hex(text)) {
            Err(Error::Value { field, found, .. }) => assert_eq!((field, found), (name, number), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn payloads_that_no_format_allows_are_named() {
    let cases = [
        // NREAD, doorbell, flow control, requests and responses without data: none.
        "00020102 4B07 00001000 A0A1A2A3A4A5A6A7",
        "000A0102 0003ABCD 0000",
        "01C70102 0005 0000",
        "00080102 0809 FF00006C A0A1A2A3A4A5A6A7",
        "00080102 3009 FF000000 A0A1A2A3A4A5A6A7",
        "00090102 5A04 1234 25F01234 0000",
        "000D0102 0007 A0A1A2A3A4A5A6A7",
        "000D0102 1063 A0A1A2A3A4A5A6A7",
        "000D0102 8707 A0A1A2A3A4A5A6A7",
        // Data is missing, or is no whole number of double-words, or is more than announced.
        "00050102 4B07 00001000",
        "00050102 4B07 00001000 A0A1A2A3",
        "00050102 4B07 00001000 A0A1A2A3A4A5A6A7 A0A1A2A3A4A5A6A7",
        "00050102 DB07 00001004 A0A1A2A3A4A5A6A7",
        "00060102 00001000",
        "00060102 00001000 A0A1A2A3",
        "00080102 1809 03000068",
        "00080102 1809 03000068 A0A1A2A3A4A5A6A7 A0A1A2A3A4A5A6A7",
        "00080102 2009 FF000000",
        "000D0102 8007",
        "000D0102 8007 A0A1A2A3",
        // A message segment without data, a short one that is not the last, one longer than its size.
        "000B0102 0960",
        "000B0102 1A60 A0A1A2A3A4A5A6A7",
        "000B0102 0960 A0A1A2A3A4A5A6A7 A0A1A2A3A4A5A6A7",
        "000B0102 0A60 A0A1A2A3",
        // A single segment without data; a start segment that is no multiple of 4 bytes.
        "00090102 5AC0 1234",
        "00090102 5A80 1234 A0A1",
    ];
    for text in cases {
        let bytes = hex(text);
        let found = Packet::parse(BITS_34, &bytes);
        assert!(matches!(found, Err(Error::Payload { .. })), "{text}: {found:?}");
    }
}

#[test]
fn an_error_may_name_either_transaction_and_maintenance_errors_may_have_data() {
    let parsed = |text| Packet::parse(BITS_34, &hex(text)).map(|packet| packet.octets());
    assert_eq!(Packet::parse(BITS_34, &hex("000D0102 8707")), Packet::parse(BITS_34, &hex("000D0102 0707")));
    assert_eq!(parsed("00080102 2709 FF000000 A0A1A2A3A4A5A6A7"), Ok(10));
}

#[test]
fn a_bad_request_is_refused_with_the_error_response_to_it() {
    let refused = |text: &str| {
        let bytes = hex(text);
        assert!(Packet::parse(BITS_34, &bytes).is_err(), "{text}");
        refusal::<&[u8]>(BITS_34, &bytes).map(|packet| {
            let mut out = [0xA5; 20];
            let length = packet.emit(&mut out).unwrap();
            out[..length].to_vec()
        })
    };
    // NREAD with a reserved transaction, NWRITE_R without data, maintenance of 1 byte.
    assert_eq!(refused("00020102 5B07 00001000"), Some(hex("004D0201 0707")));
    assert_eq!(refused("00850102 5B07 00001000"), Some(hex("00CD0201 0707")));
    assert_eq!(refused("00080102 0009 FF00006C"), Some(hex("00480201 2709 FF000000")));
    assert_eq!(refused("00080102 1009 FF00006C"), Some(hex("00480201 3709 FF000000")));
    // A message segment without data, a doorbell that is too long.
    assert_eq!(refused("010B0102 0963"), Some(hex("014D0201 1763")));
    assert_eq!(refused("000A0102 0003ABCD 0000"), Some(hex("004D0201 0703")));
    // Nobody waits for an answer to these.
    for text in ["00050102 4B07 00001000", "00060102 00001000", "01C70102 1005", "00080102 4009 FF000000"] {
        assert_eq!(refused(text), None, "{text}");
    }
}

#[test]
fn extended_addresses() {
    // xamsbs 2, extended address, address: from the most significant bit on.
    let cases = [
        (AddressSize::Bits34, 0x5234_5678, "00020102 4B07 91A2B3C2"),
        (AddressSize::Bits50, 0x5ABC_D234_5678, "00020102 4B07 D5E6 91A2B3C2"),
        (AddressSize::Bits66, 0x4123_4567_9234_5678, "00020102 4B07 091A2B3C 91A2B3C2"),
    ];
    for (size, double_word, text) in cases {
        let packet = Packet::<&[u8]> {
            transport: transport(0, false),
            body: Body::Read(
                Read::new(
                    ReadOperation::Nread,
                    7,
                    Address::new(size, double_word).unwrap(),
                    Span::DOUBLE_WORD,
                )
                .unwrap(),
            ),
        };
        let mut out = [0xA5; 20];
        let length = packet.emit(&mut out).unwrap();
        assert_eq!(out[..length], hex(text), "{size:?}");
        assert_eq!(Packet::parse(size, &out[..length]), Ok(packet));
    }
    for (size, width) in [(AddressSize::Bits34, 31), (AddressSize::Bits50, 47), (AddressSize::Bits66, 63)] {
        assert!(Address::new(size, (1 << width) - 1).is_ok());
        assert!(Address::new(size, 1 << width).is_err());
    }
}

proptest! {
    #[test]
    fn any_packet_there_and_back((size, packet) in any_packet()) {
        let mut out = [0xA5; BODY_MAX_BYTES];
        let length = packet.emit(&mut out).unwrap();
        prop_assert_eq!(length, packet.octets());
        let parsed = Packet::parse(size, &out[..length]).unwrap();
        prop_assert_eq!(&crate::common::owned(parsed), &packet);

        let mut sealed = [0xA5; PACKET_MAX_BYTES];
        let sealed_length = packet.seal(&mut sealed).unwrap();
        prop_assert_eq!(body_octets(&sealed[..sealed_length], size), Ok(length));
        let mut opened = [0xA5; BODY_MAX_BYTES];
        let opened = open(&sealed[..sealed_length], size, &mut opened).unwrap();
        prop_assert_eq!(&crate::common::owned(opened), &packet);
        prop_assert!(!packet.to_string().is_empty());
    }

    #[test]
    fn a_damaged_packet_is_found((size, packet) in any_packet(), bit in 6usize..32) {
        let mut sealed = [0xA5; PACKET_MAX_BYTES];
        let length = packet.seal(&mut sealed).unwrap();
        sealed[bit / 8] ^= 0x80 >> (bit % 8);
        let mut out = [0; BODY_MAX_BYTES];
        let found = open(&sealed[..length], size, &mut out);
        prop_assert!(matches!(found, Err(Error::Physical(_))));
    }

    #[test]
    fn any_bytes_are_looked_at_without_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300), ftype in 0u8..16,
    ) {
        let mut bytes = bytes;
        if let Some(second) = bytes.get_mut(1) {
            *second = *second & 0xF0 | ftype;
        }
        crate::common::exercise(&bytes);
    }
}
