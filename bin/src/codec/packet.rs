//! `packet`: packets as they go over an 8b/10b link, with CRCs and padding, field by field (Parts 1, 2, 3, 9
//! and 10).
//!
//! Each form is one layout behind the device IDs, see [`forms`]. The form follows from the octets, and need
//! not be named. Addresses have 34 bits.
//!
//! Receivers ignore reserved bits. `decode` does not: a packet in which they are not 0 is refused, because no
//! JSON would lead back to it.

mod forms;

use super::CodecError;
use super::form::{Fields, Form, Given, Made};
use super::hex::Input;
use super::serial::{self, FTYPE_NAMES, TT_NAMES};
use forms::{COMMAND_NAMES, Layout, Piece};
use logical::wire::maintenance::Operation as Register;
use logical::wire::packet::body_octets;
use logical::wire::response::Response;
use logical::wire::{Body, Error, Packet, Priority, Transport, maintenance, stream};
use lp_serial::IdSize;
use lp_serial::cost::AddressSize;
use lp_serial::packet::{self, BODY_MAX_BYTES, FIRST_PART_BYTES, Header};

pub(super) use forms::FORMS;

const ADDRESS_SIZE: AddressSize = AddressSize::Bits34;

/// The form that the octets of a packet have.
pub(super) fn recognise<'a>(forms: &'a [Form], input: &Input<'_>) -> Result<&'a Form, CodecError> {
    let octets = input.octets()?;
    check(&octets)?;
    let name = form_name(&octets)?;
    forms
        .iter()
        .find(|form| form.name == name)
        .ok_or_else(|| CodecError::new("form", format!("{name:?} is unknown")))
}

fn form_name(packet: &[u8]) -> Result<&'static str, CodecError> {
    let (_, ftype, rest) = Transport::parse(packet).map_err(explain)?;
    Ok(match ftype {
        2 => "read",
        5 => "write",
        6 => "streaming write",
        7 => "flow control",
        8 => match maintenance::View::new(rest).map_err(explain)?.transaction() {
            2 | 3 => "maintenance response",
            _ => "maintenance request",
        },
        9 => {
            let view = stream::View::new(rest).map_err(explain)?;
            match (view.start(), view.end()) {
                _ if view.extended() => "traffic management",
                (true, true) => "single segment",
                (true, false) => "start segment",
                (false, false) => "continuation segment",
                (false, true) => "end segment",
            }
        }
        10 => "doorbell",
        11 => "message",
        13 => "response",
        found => {
            return Err(CodecError::new("ftype", format!("{found} found; allowed: 2, 5 to 11 or 13")));
        }
    })
}

/// Length and CRCs of a packet.
fn check(octets: &[u8]) -> Result<(), CodecError> {
    packet::check(octets).map_err(|error| {
        let body_bytes = match body_octets(octets, ADDRESS_SIZE) {
            Ok(body_bytes) if packet::sealed_len(body_bytes) == octets.len() => body_bytes,
            _ => serial::body_bytes(octets),
        };
        serial::explain_packet(octets, body_bytes, error)
    })
}

fn explain(error: Error) -> CodecError {
    match error {
        Error::Value { field, found, rule } => {
            CodecError::new(field.replace(' ', "_"), format!("{found} found; allowed: {rule}"))
        }
        Error::Range { field, max, found } => {
            CodecError::new(field, format!("{found} found; allowed: 0 to {max}"))
        }
        Error::Payload { found, rule, .. } => {
            CodecError::new("data", format!("{} found; allowed: {rule}", super::form::octets_of(found)))
        }
        error => CodecError::new("packet", error.to_string()),
    }
}

/// Every field of a packet of this layout.
fn read(layout: &Layout, octets: &[u8]) -> Result<Fields, CodecError> {
    check(octets)?;
    let name = form_name(octets)?;
    if name != layout.form {
        let problem = format!("\"{}\" found; these octets have form \"{name}\"", layout.form);
        return Err(CodecError::new("form", problem));
    }
    let body_bytes = body_octets(octets, ADDRESS_SIZE).map_err(explain)?;
    let mut plain = vec![0; body_bytes];
    packet::unseal(octets, body_bytes, &mut plain).map_err(|_| {
        let problem = format!(
            "{} with CRC found, but none of this form has that",
            super::form::octets_of(octets.len())
        );
        CodecError::new("hex", problem)
    })?;
    let packet = Packet::parse(ADDRESS_SIZE, &plain).map_err(explain)?;
    let header = Header::parse(&plain).map_err(|error| explain(error.into()))?;
    check_ignored_bits(&packet, &plain)?;

    let mut fields = Fields::default();
    put_head(&mut fields, header, &packet);
    put_layout(&mut fields, layout, &plain[packet.transport.octets()..]);
    put_derived(&mut fields, &packet);
    if body_bytes > FIRST_PART_BYTES {
        fields.number("crc16_first", serial::half_word(octets, FIRST_PART_BYTES));
    }
    fields.number("crc16", serial::half_word(octets, serial::crc_position(body_bytes)));
    Ok(fields)
}

/// The complaint about bits that a sender does not write so.
fn check_ignored_bits(packet: &Packet<&[u8]>, plain: &[u8]) -> Result<(), CodecError> {
    let mut canonical = [0; BODY_MAX_BYTES];
    let length = packet.emit(&mut canonical).map_err(explain)?;
    // The ackID is the link's.
    canonical[0] |= plain[0] & 0xFC;
    if length != plain.len() {
        return Err(CodecError::new("data", "data behind an ERROR found; it is ignored, allowed: none"));
    }
    let Some(at) = (0..length).find(|&at| canonical[at] != plain[at]) else { return Ok(()) };
    let problem = format!(
        "octet {at} is {:#04x}, and a sender makes it {:#04x}; receivers ignore the difference",
        plain[at], canonical[at]
    );
    Err(CodecError::new("reserved", problem))
}

fn put_head(fields: &mut Fields, header: Header, packet: &Packet<&[u8]>) {
    let transport = packet.transport;
    fields.number("ackID", header.ack_id());
    fields.number("VC", u8::from(transport.vc()));
    fields.number("CRF", u8::from(header.crf()));
    fields.number("prio", header.prio());
    fields.number("tt", header.tt());
    fields.name("tt_name", TT_NAMES[usize::from(header.tt())]);
    fields.number("ftype", header.ftype());
    fields.name("ftype_name", FTYPE_NAMES[usize::from(header.ftype())]);
    fields.number("destinationID", transport.destination());
    fields.number(second_id(header.ftype()), transport.source());
}

const fn second_id(ftype: u8) -> &'static str {
    if ftype == 7 { "tgtdestinationID" } else { "sourceID" }
}

fn put_layout(fields: &mut Fields, layout: &Layout, bytes: &[u8]) {
    let mut at = 0;
    let mut take = |width: u32| {
        let bits = at..at + width;
        at += width;
        bits.fold(0, |value, bit| value << 1 | u64::from(bytes[bit as usize / 8] >> (7 - bit % 8) & 1))
    };
    let mut address = 0;
    for piece in layout.pieces {
        match *piece {
            Piece::Field(key, width) | Piece::Known(key, width, _) => fields.number(key, take(width)),
            Piece::Code(key, width, name_key, names) => {
                let code = take(width);
                fields.number(key, code);
                fields.name(name_key, names[code as usize]);
            }
            Piece::Zero(width) => {
                take(width);
            }
            Piece::Odd => fields.number("O", take(1)),
            Piece::Pad => fields.number("P", take(1)),
            Piece::Address => address = take(29) << 3,
            Piece::Xamsbs => fields.number("address", take(2) << 32 | address),
        }
    }
}

/// What follows from other fields, and the data.
fn put_derived(fields: &mut Fields, packet: &Packet<&[u8]>) {
    let mut span = |span: logical::wire::address::Span| {
        fields.number("bytes", span.octets());
        fields.number("lane", span.lane());
    };
    match packet.body {
        Body::Read(read) => span(read.span()),
        Body::Write(write) => span(write.span()),
        Body::FlowControl(_) => {
            let code = fields.value("XON") << 3 | fields.value("FAM");
            fields.name("command_name", COMMAND_NAMES[code as usize]);
        }
        Body::Maintenance(maintenance) => match *maintenance.operation() {
            Register::Read { access, .. } | Register::Write { access, .. } => {
                fields.number("offset", access.offset());
                fields.number("bytes", access.octets());
            }
            Register::PortWrite { octets, .. } => fields.number("bytes", octets),
            _ => {}
        },
        Body::Message(segment) => {
            fields.number("segment_bytes", segment.size().octets() as u64);
            fields.number("mailbox", segment.mailbox());
        }
        Body::Response(Response::Message { target, .. }) => {
            fields.number("letter", target.letter());
            fields.number("mbox", target.mbox());
            fields.number("msgseg", target.msgseg());
        }
        _ => {}
    }
    if let Some(payload) = packet.body.payload() {
        fields.octets("data", payload);
    }
}

/// The packet of this layout for these fields.
fn make(layout: &Layout, given: &Given<'_>) -> Result<Made, CodecError> {
    // Where O and P follow from the data, none must not be taken for empty.
    let data = match layout.pieces.iter().any(|piece| matches!(piece, Piece::Odd)) {
        true => Some(given.need_octets("data")?),
        false => given.octets("data"),
    };
    let ack_id = given.need("ackID")? as u8;
    let transport = transport(layout, given)?;
    let mut plain = vec![0; transport.octets()];
    transport.emit(layout.ftype, &mut plain).map_err(explain)?;
    plain[0] |= ack_id << 2;
    plain.extend(header(layout, given, data.unwrap_or_default().len())?);
    plain.extend(data.unwrap_or_default());
    if !plain.len().is_multiple_of(2) {
        plain.push(0);
    }

    let made = serial::seal(&plain).map_err(|error| explain(error.into())).and_then(|sealed| {
        // First as it is: sealed, a body of a length that the form does not have may look like another.
        Packet::parse(ADDRESS_SIZE, &plain).map_err(explain)?;
        let fields = read(layout, &sealed)?;
        Ok((sealed, fields))
    });
    made.map_err(|error| {
        if error.place == "data" && data.is_none() {
            return given.missing("data", "");
        }
        CodecError { place: format!("/{}", error.place), ..error }
    })
}

fn transport(layout: &Layout, given: &Given<'_>) -> Result<Transport, CodecError> {
    let (vc, crf) = (given.need("VC")? == 1, given.need("CRF")? == 1);
    let prio = given.need("prio")? as u8;
    let tt = given.need_code("tt", "tt_name", &TT_NAMES)?;
    let ids = [IdSize::Dev8, IdSize::Dev16, IdSize::Dev32].into_iter().find(|ids| u64::from(ids.tt()) == tt);
    let ids = ids.ok_or_else(|| CodecError::new("/tt", "3 found; allowed: 0, 1 or 2 (3 is reserved)"))?;
    let second_key = second_id(layout.ftype);
    let (destination, second) = (given.need("destinationID")? as u32, given.need(second_key)? as u32);
    let transport = Priority::new(prio, crf)
        .and_then(|priority| Transport::new(priority, ids, destination, second))
        .map_err(|error| {
            let error = explain(error);
            let key = if error.place == "sourceID" { second_key } else { &error.place };
            let problem = format!("{} (tt is {tt})", error.problem);
            CodecError::new(format!("/{key}"), problem)
        })?;
    Ok(transport.with_vc(vc))
}

/// The bits of the layout.
fn header(layout: &Layout, given: &Given<'_>, data_octets: usize) -> Result<Vec<u8>, CodecError> {
    let address = || {
        let address = given.need("address")?;
        if address.is_multiple_of(8) {
            return Ok(address);
        }
        let problem = format!("{address:#011x} found; allowed: a multiple of 8");
        Err(CodecError::new("/address", problem))
    };
    let (mut bits, mut count) = (0u128, 0);
    for piece in layout.pieces {
        let (value, width) = match *piece {
            Piece::Field(key, width) => (given.need(key)?, width),
            Piece::Code(key, width, name_key, names) => (given.need_code(key, name_key, names)?, width),
            Piece::Known(_, width, value) => (value, width),
            Piece::Zero(width) => (0, width),
            Piece::Address => (address()? >> 3 & 0x1FFF_FFFF, 29),
            Piece::Xamsbs => (address()? >> 32, 2),
            Piece::Odd => (data_octets.div_ceil(2) as u64 % 2, 1),
            Piece::Pad => (data_octets as u64 % 2, 1),
        };
        bits = bits << width | u128::from(value);
        count += width;
    }
    let all = (bits << (128 - count)).to_be_bytes();
    Ok(all[..count as usize / 8].to_vec())
}
