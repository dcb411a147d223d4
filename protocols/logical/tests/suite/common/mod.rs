//! What the tests of this crate share.
#![allow(dead_code)]

use logical::wire::address::{Address, Span};
use logical::wire::doorbell::Doorbell;
use logical::wire::flow_control::{Command, FlowControl, FlowId};
use logical::wire::maintenance::{Access, Maintenance, Operation as Register};
use logical::wire::message::{self, SegmentSize, TargetInfo};
use logical::wire::packet::{body_octets, open, refusal};
use logical::wire::read::{Operation as ReadOperation, Read};
use logical::wire::response::{Response, Status};
use logical::wire::stream::{self, Part};
use logical::wire::stream_write::StreamWrite;
use logical::wire::traffic_management::{Operation as Management, TrafficManagement};
use logical::wire::transport::{Priority, Transport};
use logical::wire::write::{Operation as WriteOperation, Write};
use logical::wire::{Body, Packet};
use lp_serial::IdSize;
use lp_serial::cost::AddressSize;
use lp_serial::packet::BODY_MAX_BYTES;
use proptest::collection::vec;
use proptest::prelude::*;

pub fn hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// A copy of the packet with data of its own.
pub fn owned(packet: Packet<&[u8]>) -> Packet<Vec<u8>> {
    let body = match packet.body {
        Body::Read(read) => Body::Read(read),
        Body::Write(w) => Body::Write(
            Write::new(w.operation(), w.src_tid(), w.address(), w.span(), w.payload().to_vec()).unwrap(),
        ),
        Body::StreamWrite(w) => {
            Body::StreamWrite(StreamWrite::new(w.address(), w.payload().to_vec()).unwrap())
        }
        Body::FlowControl(body) => Body::FlowControl(body),
        Body::Maintenance(m) => {
            let operation = match *m.operation() {
                Register::Read { src_tid, access } => Register::Read { src_tid, access },
                Register::Write { src_tid, access, payload } => {
                    Register::Write { src_tid, access, payload: payload.to_vec() }
                }
                Register::ReadDone { target_tid, payload } => {
                    Register::ReadDone { target_tid, payload: payload.to_vec() }
                }
                Register::ReadError { target_tid } => Register::ReadError { target_tid },
                Register::WriteDone { target_tid } => Register::WriteDone { target_tid },
                Register::WriteError { target_tid } => Register::WriteError { target_tid },
                Register::PortWrite { octets, payload } => {
                    Register::PortWrite { octets, payload: payload.to_vec() }
                }
            };
            Body::Maintenance(Maintenance::new(m.hop_count(), operation).unwrap())
        }
        Body::Stream(s) => {
            Body::Stream(stream::Segment::new(s.cos(), s.part(), s.payload().to_vec()).unwrap())
        }
        Body::TrafficManagement(body) => Body::TrafficManagement(body),
        Body::Doorbell(body) => Body::Doorbell(body),
        Body::Message(s) => Body::Message(
            message::Segment::new(s.segments(), s.size(), s.target(), s.payload().to_vec()).unwrap(),
        ),
        Body::Response(response) => Body::Response(match response {
            Response::Io { target_tid, status } => Response::Io { target_tid, status },
            Response::Data { target_tid, payload } => {
                Response::Data { target_tid, payload: payload.to_vec() }
            }
            Response::Message { target, status } => Response::Message { target, status },
        }),
    };
    Packet { transport: packet.transport, body }
}

/// Everything that takes bytes: no panic, and what parses comes back unchanged but for bits that are ignored.
pub fn exercise(bytes: &[u8]) {
    for size in [AddressSize::Bits34, AddressSize::Bits50, AddressSize::Bits66] {
        let _ = body_octets(bytes, size);
        let _ = refusal::<&[u8]>(size, bytes);
        let mut out = [0xA5; BODY_MAX_BYTES];
        if let Ok(packet) = open(bytes, size, &mut out) {
            assert!(!packet.to_string().is_empty());
        }
        let Ok(packet) = Packet::parse(size, bytes) else { continue };
        assert!(!packet.to_string().is_empty());
        let mut out = [0xA5; BODY_MAX_BYTES];
        let length = packet.emit(&mut out).unwrap();
        assert_eq!(Packet::parse(size, &out[..length]), Ok(packet));
    }
}

fn double_words(max: usize) -> impl Strategy<Value = Vec<u8>> {
    (1..=max / 8).prop_flat_map(|count| vec(any::<u8>(), 8 * count))
}

pub fn any_address() -> impl Strategy<Value = Address> {
    (0usize..3, any::<u64>()).prop_map(|(size, double_word)| {
        let size = [AddressSize::Bits34, AddressSize::Bits50, AddressSize::Bits66][size];
        let width = 31 + 16 * (size as u32);
        Address::new(size, double_word & ((1 << width) - 1)).unwrap()
    })
}

fn any_read(address: Address) -> impl Strategy<Value = Body<Vec<u8>>> {
    (0usize..5, 0u8..8, 1u16..257, any::<u8>()).prop_filter_map(
        "no such size",
        move |(operation, lane, octets, tid)| {
            let span = Span::read(lane, octets).or_else(|_| Span::read(lane & 4, 4)).ok()?;
            Some(Body::Read(Read::new(ReadOperation::ALL[operation], tid, address, span).ok()?))
        },
    )
}

fn any_write(address: Address) -> impl Strategy<Value = Body<Vec<u8>>> {
    let sizes = [(0, 8), (0, 16), (0, 32), (0, 64), (0, 128), (0, 256), (4, 4), (5, 3), (7, 1), (6, 2)];
    (0usize..5, 0usize..10, double_words(256), any::<u8>()).prop_filter_map(
        "no such size",
        move |(operation, size, mut data, tid)| {
            let (lane, octets) = sizes[size];
            let span = Span::write(lane, octets).ok()?;
            data.truncate(span.payload_octets().into());
            let operation = WriteOperation::ALL[operation];
            Some(Body::Write(Write::new(operation, tid, address, span, data).ok()?))
        },
    )
}

fn any_flow_control() -> impl Strategy<Value = Body<Vec<u8>>> {
    (0usize..7, any::<bool>(), 0u8..14, any::<bool>()).prop_map(|(command, sequence, flow, endpoint)| {
        let command = [
            Command::Xoff,
            Command::Xon,
            Command::Refused { sequence },
            Command::Granted { sequence },
            Command::Release { sequence },
            Command::RequestSingle { sequence },
            Command::RequestMultiple { sequence },
        ][command];
        let flow = if flow < 6 { FlowId::vc0(flow) } else { FlowId::of_channel(flow - 5) };
        Body::FlowControl(FlowControl { command, flow: flow.unwrap(), from_endpoint: endpoint })
    })
}

fn any_maintenance() -> impl Strategy<Value = Body<Vec<u8>>> {
    (0usize..7, 0usize..5, any::<u32>(), any::<u8>(), any::<u8>(), double_words(64)).prop_map(
        |(operation, octets, offset, tid, hop_count, mut payload)| {
            let octets = [4, 8, 16, 32, 64][octets];
            let offset = offset & 0xFF_FFFC & if octets == 4 { u32::MAX } else { !4 };
            let access = Access::new(offset, octets).unwrap();
            if matches!(operation, 1 | 6) {
                payload.truncate(access.payload_octets());
            }
            let operation = match operation {
                0 => Register::Read { src_tid: tid, access },
                1 => Register::Write { src_tid: tid, access, payload },
                2 => Register::ReadDone { target_tid: tid, payload },
                3 => Register::ReadError { target_tid: tid },
                4 => Register::WriteDone { target_tid: tid },
                5 => Register::WriteError { target_tid: tid },
                _ => Register::PortWrite { octets, payload },
            };
            Body::Maintenance(Maintenance::new(hop_count, operation).unwrap())
        },
    )
}

fn any_stream() -> impl Strategy<Value = Body<Vec<u8>>> {
    (0usize..4, any::<u8>(), any::<u16>(), vec(any::<u8>(), 0..257)).prop_filter_map(
        "no such segment",
        |(part, cos, second, mut data)| {
            let part = match part {
                0 => Part::Single { stream_id: second },
                1 => Part::Start { stream_id: second },
                2 => Part::Continuation,
                _ => Part::End { length: second },
            };
            if matches!(part, Part::Start { .. } | Part::Continuation) {
                data.truncate(data.len() & !3);
            }
            Some(Body::Stream(stream::Segment::new(cos, part, data).ok()?))
        },
    )
}

fn any_traffic_management() -> impl Strategy<Value = Body<Vec<u8>>> {
    (any::<[u8; 4]>(), any::<u16>(), 0usize..4, any::<[bool; 3]>()).prop_map(
        |([cos, mask, parameter1, parameter2], stream_id, operation, wildcards)| {
            let [any_destination, any_class, any_stream] = wildcards;
            Body::TrafficManagement(TrafficManagement {
                cos,
                stream_id,
                operation: Management::ALL[operation],
                any_destination,
                any_class,
                any_stream,
                mask,
                parameter1,
                parameter2,
            })
        },
    )
}

fn any_message() -> impl Strategy<Value = Body<Vec<u8>>> {
    (1u8..17, 0usize..6, any::<u8>(), double_words(256)).prop_filter_map(
        "no such segment",
        |(segments, size, target, mut data)| {
            let size = SegmentSize::ALL[size];
            let mut target = TargetInfo::from_byte(target);
            if segments > 1 {
                target = TargetInfo::new(target.letter(), target.mbox(), target.msgseg() % segments).unwrap();
                if target.msgseg() + 1 < segments {
                    data.resize(size.octets(), 0x5A);
                }
            }
            data.truncate(size.octets());
            Some(Body::Message(message::Segment::new(segments, size, target, data).ok()?))
        },
    )
}

fn any_response() -> impl Strategy<Value = Body<Vec<u8>>> {
    (0u8..3, 0usize..3, any::<u8>(), double_words(256)).prop_map(|(kind, status, target, payload)| {
        let status = Status::ALL[status];
        Body::Response(match kind {
            0 => Response::Io { target_tid: target, status },
            1 => Response::Data { target_tid: target, payload },
            _ => Response::Message { target: TargetInfo::from_byte(target), status },
        })
    })
}

/// Any packet, and the size of addresses in its system.
pub fn any_packet() -> impl Strategy<Value = (AddressSize, Packet<Vec<u8>>)> {
    let transport = (0usize..3, any::<[u32; 2]>(), 0u8..4, any::<[bool; 2]>()).prop_map(
        |(ids, [destination, source], prio, [crf, vc])| {
            let (ids, max) = [(IdSize::Dev8, 0xFF), (IdSize::Dev16, 0xFFFF), (IdSize::Dev32, u32::MAX)][ids];
            let priority = Priority::new(prio, crf).unwrap();
            Transport::new(priority, ids, destination & max, source & max).unwrap().with_vc(vc)
        },
    );
    (transport, any_address()).prop_flat_map(|(transport, address)| {
        let body = prop_oneof![
            any_read(address),
            any_write(address),
            double_words(256)
                .prop_map(move |data| { Body::StreamWrite(StreamWrite::new(address, data).unwrap()) }),
            any_flow_control(),
            any_maintenance(),
            any_stream(),
            any_traffic_management(),
            (any::<u8>(), any::<u16>())
                .prop_map(|(src_tid, info)| Body::Doorbell(Doorbell { src_tid, info })),
            any_message(),
            any_response(),
        ];
        body.prop_map(move |body| (address.size(), Packet { transport, body }))
    })
}
