//! Whole packets: transport fields and one of the formats.
//!
//! A packet on a link has CRCs and padding, and only its contents tell where its body ends:
//! [`body_octets`] says so, [`open`] checks the packet and takes the body out.

use super::address;
use super::doorbell::{self, Doorbell};
use super::flow_control::{self, FlowControl};
use super::maintenance::{self, Maintenance};
use super::message;
use super::read::{self, Read};
use super::response::{self, Response, Status};
use super::stream;
use super::stream_write::{self, StreamWrite};
use super::traffic_management::TrafficManagement;
use super::transport::Transport;
use super::write::{self, Write};
use super::{Error, Payload};
use core::fmt;
use lp_serial::PacketClass;
use lp_serial::cost::AddressSize;
use lp_serial::packet::{BODY_MAX_BYTES, FIRST_PART_BYTES, sealed_len};

/// What a packet says.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Body<P> {
    /// Type 2.
    Read(Read),
    /// Type 5.
    Write(Write<P>),
    /// Type 6.
    StreamWrite(StreamWrite<P>),
    /// Type 7.
    FlowControl(FlowControl),
    /// Type 8.
    Maintenance(Maintenance<P>),
    /// Type 9.
    Stream(stream::Segment<P>),
    /// Type 9, extended.
    TrafficManagement(TrafficManagement),
    /// Type 10.
    Doorbell(Doorbell),
    /// Type 11.
    Message(message::Segment<P>),
    /// Type 13.
    Response(Response<P>),
}

impl<P> Body<P> {
    /// Format type.
    #[must_use]
    pub const fn ftype(&self) -> u8 {
        match self {
            Self::Read(_) => read::FTYPE,
            Self::Write(_) => write::FTYPE,
            Self::StreamWrite(_) => stream_write::FTYPE,
            Self::FlowControl(_) => flow_control::FTYPE,
            Self::Maintenance(_) => maintenance::FTYPE,
            Self::Stream(_) | Self::TrafficManagement(_) => stream::FTYPE,
            Self::Doorbell(_) => doorbell::FTYPE,
            Self::Message(_) => message::FTYPE,
            Self::Response(_) => response::FTYPE,
        }
    }

    /// Kind of packet, as far as its size on a link goes.
    #[must_use]
    pub const fn class(&self) -> PacketClass {
        match self {
            Self::Read(_) => PacketClass::Read,
            Self::Write(_) => PacketClass::Write,
            Self::StreamWrite(_) => PacketClass::StreamWrite,
            Self::FlowControl(_) => PacketClass::FlowControl,
            Self::Maintenance(_) => PacketClass::Maintenance,
            Self::Stream(segment) => match segment.part() {
                stream::Part::Continuation => PacketClass::DataStreamingContinuation,
                _ => PacketClass::DataStreamingStart,
            },
            Self::TrafficManagement(_) => PacketClass::TrafficManagement,
            Self::Doorbell(_) => PacketClass::Doorbell,
            Self::Message(_) => PacketClass::Message,
            Self::Response(_) => PacketClass::Response,
        }
    }

    /// This body under another srcTID; nothing changes in what has none.
    #[must_use]
    pub fn with_tid(self, src_tid: u8) -> Self {
        match self {
            Self::Read(read) => Self::Read(read.with_tid(src_tid)),
            Self::Write(write) => Self::Write(write.with_tid(src_tid)),
            Self::Maintenance(maintenance) => Self::Maintenance(maintenance.with_tid(src_tid)),
            Self::Doorbell(doorbell) => Self::Doorbell(Doorbell { src_tid, ..doorbell }),
            other => other,
        }
    }

    /// The data, if the format has any.
    #[must_use]
    pub const fn payload(&self) -> Option<&P> {
        match self {
            Self::Write(write) => Some(write.payload()),
            Self::StreamWrite(write) => Some(write.payload()),
            Self::Maintenance(maintenance) => maintenance.payload(),
            Self::Stream(segment) => Some(segment.payload()),
            Self::Message(segment) => Some(segment.payload()),
            Self::Response(Response::Data { payload, .. }) => Some(payload),
            _ => None,
        }
    }
}

impl<P: Payload> Body<P> {
    /// Bytes behind the transport fields.
    #[must_use]
    pub fn octets(&self) -> usize {
        match self {
            Self::Read(body) => body.octets(),
            Self::Write(body) => body.octets(),
            Self::StreamWrite(body) => body.octets(),
            Self::FlowControl(body) => body.octets(),
            Self::Maintenance(body) => body.octets(),
            Self::Stream(body) => body.octets(),
            Self::TrafficManagement(body) => body.octets(),
            Self::Doorbell(body) => body.octets(),
            Self::Message(body) => body.octets(),
            Self::Response(body) => body.octets(),
        }
    }
}

impl<'a> Body<&'a [u8]> {
    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Value`] if no format of this crate has this type; those of the format.
    pub fn parse(ftype: u8, size: AddressSize, bytes: &'a [u8]) -> Result<Self, Error> {
        Ok(match ftype {
            read::FTYPE => Self::Read(Read::parse(size, bytes)?),
            write::FTYPE => Self::Write(Write::parse(size, bytes)?),
            stream_write::FTYPE => Self::StreamWrite(StreamWrite::parse(size, bytes)?),
            flow_control::FTYPE => Self::FlowControl(FlowControl::parse(bytes)?),
            maintenance::FTYPE => Self::Maintenance(Maintenance::parse(bytes)?),
            stream::FTYPE => match stream::View::new(bytes)? {
                view if view.extended() => Self::TrafficManagement(TrafficManagement::parse(bytes)?),
                view => Self::Stream(stream::Segment::of_view(view)?),
            },
            doorbell::FTYPE => Self::Doorbell(Doorbell::parse(bytes)?),
            message::FTYPE => Self::Message(message::Segment::parse(bytes)?),
            response::FTYPE => Self::Response(Response::parse(bytes)?),
            found => return Err(unknown(found)),
        })
    }
}

impl<P: Payload + AsRef<[u8]>> Body<P> {
    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Payload`] if a response has data that no packet can carry.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        match self {
            Self::Read(body) => body.emit(out),
            Self::Write(body) => body.emit(out),
            Self::StreamWrite(body) => body.emit(out),
            Self::FlowControl(body) => body.emit(out),
            Self::Maintenance(body) => body.emit(out),
            Self::Stream(body) => body.emit(out),
            Self::TrafficManagement(body) => body.emit(out),
            Self::Doorbell(body) => body.emit(out),
            Self::Message(body) => body.emit(out),
            Self::Response(body) => body.emit(out),
        }
    }
}

impl<P: Payload> fmt::Display for Body<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(body) => body.fmt(f),
            Self::Write(body) => body.fmt(f),
            Self::StreamWrite(body) => body.fmt(f),
            Self::FlowControl(body) => body.fmt(f),
            Self::Maintenance(body) => body.fmt(f),
            Self::Stream(body) => body.fmt(f),
            Self::TrafficManagement(body) => body.fmt(f),
            Self::Doorbell(body) => body.fmt(f),
            Self::Message(body) => body.fmt(f),
            Self::Response(body) => body.fmt(f),
        }
    }
}

/// A packet: who says what to whom.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Packet<P> {
    /// Device IDs and priority.
    pub transport: Transport,
    /// What is said.
    pub body: Body<P>,
}

impl<P: Payload> Packet<P> {
    /// Bytes of the packet without CRCs and padding.
    #[must_use]
    pub fn octets(&self) -> usize {
        self.transport.octets() + self.body.octets()
    }

    /// Bytes of the packet on an 8b/10b link.
    #[must_use]
    pub fn sealed_octets(&self) -> usize {
        sealed_len(self.octets())
    }
}

impl<'a> Packet<&'a [u8]> {
    /// Reads a packet without CRCs and padding. `size` is the size of addresses in this system. The ackID is
    /// ignored.
    ///
    /// # Errors
    /// Those of [`Transport::parse`] and [`Body::parse`].
    pub fn parse(size: AddressSize, packet: &'a [u8]) -> Result<Self, Error> {
        let (transport, ftype, rest) = Transport::parse(packet)?;
        Ok(Self { transport, body: Body::parse(ftype, size, rest)? })
    }
}

impl<P: Payload + AsRef<[u8]>> Packet<P> {
    /// Writes the packet without CRCs and padding, with ackID 0; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Payload`] if a response has data that no packet can carry.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let (needed, found) = (self.octets(), out.len());
        if found < needed {
            return Err(Error::Buffer { needed, found });
        }
        let head = self.transport.emit(self.body.ftype(), out)?;
        Ok(head + self.body.emit(&mut out[head..])?)
    }

    /// Writes the packet as it goes over a link: CRCs and padding added, ackID 0. Returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Payload`] if a response has data that no packet can carry.
    pub fn seal(&self, out: &mut [u8]) -> Result<usize, Error> {
        let mut plain = [0; BODY_MAX_BYTES];
        let length = self.emit(&mut plain)?;
        match lp_serial::packet::seal(&plain[..length], out) {
            Ok(length) => Ok(length),
            Err(lp_serial::packet::Error::Buffer { needed, found }) => Err(Error::Buffer { needed, found }),
            Err(error) => Err(Error::Physical(error)),
        }
    }
}

impl<P: Payload> fmt::Display for Packet<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.transport, self.body)
    }
}

/// Bytes in front of CRCs and padding, of a packet as it came off a link.
///
/// Padding brings a packet to a multiple of 4 bytes, so its length leaves two possible lengths of the body,
/// 2 bytes apart. The format decides: data comes in multiples of 4 bytes, or, at the end of a stream, the O
/// bit tells.
///
/// # Errors
/// [`Error::Value`] for a reserved tt or a type that no format of this crate has; [`Error::Short`].
pub fn body_octets(packet: &[u8], size: AddressSize) -> Result<usize, Error> {
    let (transport, ftype, rest) = Transport::parse(packet)?;
    let header = match ftype {
        read::FTYPE | write::FTYPE => 2 + address::octets(size),
        stream_write::FTYPE => address::octets(size),
        flow_control::FTYPE | message::FTYPE | response::FTYPE => 2,
        maintenance::FTYPE => 6,
        doorbell::FTYPE => 4,
        stream::FTYPE => {
            let view = stream::View::new(rest)?;
            match (view.start(), view.end()) {
                _ if view.extended() => 8,
                (false, false) => 2,
                (true, false) => 4,
                (_, true) => 4 + 2 * usize::from(view.odd()),
            }
        }
        found => return Err(unknown(found)),
    };
    let shortest = transport.octets() + header;
    let crcs = if packet.len() > sealed_len(FIRST_PART_BYTES) { 4 } else { 2 };
    let longest = packet.len().saturating_sub(crcs);
    match longest.checked_sub(shortest) {
        Some(beyond) => Ok(shortest + (beyond & !3)),
        None => Err(Error::Short { format: "packet", needed: shortest, found: longest }),
    }
}

/// Checks a packet as it came off a link, takes its body out into the start of `out`, and reads it. `size` is
/// the size of addresses in this system.
///
/// # Errors
/// [`Error::Physical`] for a wrong CRC, length or padding; those of [`Packet::parse`].
pub fn open<'a>(packet: &[u8], size: AddressSize, out: &'a mut [u8]) -> Result<Packet<&'a [u8]>, Error> {
    // A packet that was damaged must not be judged by its contents.
    lp_serial::packet::check(packet)?;
    let length = body_octets(packet, size)?;
    lp_serial::packet::unseal(packet, length, out)?;
    Packet::parse(size, &out[..length])
}

/// The ERROR response to a request that [`Packet::parse`] does not accept, if there is anything to be
/// answered: its header is complete and asks for a response.
#[must_use]
pub fn refusal<P>(size: AddressSize, packet: &[u8]) -> Option<Packet<P>> {
    let (transport, ftype, rest) = Transport::parse(packet).ok()?;
    let io = |target_tid| Body::Response(Response::Io { target_tid, status: Status::Error });
    let body = match ftype {
        read::FTYPE => io(read::View::new(size, rest).ok()?.src_tid()),
        write::FTYPE => {
            let view = write::View::new(size, rest).ok()?;
            if view.transaction() == write::Operation::Nwrite.code() {
                return None;
            }
            io(view.src_tid())
        }
        maintenance::FTYPE => Body::Maintenance(maintenance::View::new(rest).ok()?.refusal()?),
        doorbell::FTYPE => io(doorbell::View::new(rest).ok()?.src_tid()),
        message::FTYPE => {
            let target = message::View::new(rest).ok()?.target_info();
            Body::Response(Response::Message { target, status: Status::Error })
        }
        _ => return None,
    };
    Some(Packet { transport: transport.reply(), body })
}

fn unknown(ftype: u8) -> Error {
    Error::Value { field: "ftype", found: ftype.into(), rule: "2, 5 to 11 or 13" }
}
