//! `packet`: packets as they go over an 8b/10b link, with CRCs and padding, field by field (Parts 1, 2, 3, 9
//! and 10).
//!
//! Each form is one layout behind the device IDs, see [`mod@forms`]. It follows from the octets, and need
//! not be named. Addresses have 34 bits.
//!
//! Receivers ignore reserved bits. `decode` does not: a packet in which they are not 0 is refused, because no
//! JSON would lead back to it.

mod forms;

use super::CodecError;
use super::form::{self, Fields, Form, Given, Made};
use super::hex::Input;
use super::serial;
use forms::Layout;
use logical::wire::address::{Address, Span};
use logical::wire::flow_control::Command;
use logical::wire::maintenance::Operation as Register;
use logical::wire::packet::body_octets;
use logical::wire::response::Response;
use logical::wire::{Body, Error, Packet, Priority, Transport, flow_control, maintenance, stream};
use lp_serial::IdSize;
use lp_serial::cost::AddressSize;
use lp_serial::field::{get, put};
use lp_serial::packet::{self, BODY_MAX_BYTES};

#[cfg(test)]
pub(super) use forms::LAYOUTS;
pub(super) use forms::forms;

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
    check_ignored_bits(&packet, &plain)?;

    let mut fields = Fields::default();
    fields.read(&[&packet::FIELDS], &plain);
    fields.number("destinationID", packet.transport.destination());
    fields.number(layout.second_id(), packet.transport.source());
    fields.read(layout.tables, &plain[packet.transport.octets()..]);
    put_derived(&mut fields, &packet);
    serial::put_crcs(&mut fields, octets, body_bytes);
    Ok(fields)
}

/// The complaint about bits that a sender does not write so.
fn check_ignored_bits(packet: &Packet<&[u8]>, plain: &[u8]) -> Result<(), CodecError> {
    let mut canonical = [0; BODY_MAX_BYTES];
    let length = packet.emit(&mut canonical).map_err(explain)?;
    // The ackID is the link's.
    copy_ack_id(plain, &mut canonical);
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

fn copy_ack_id(from: &[u8], to: &mut [u8]) {
    let [ack_id, ..] = &packet::FIELDS;
    put(to, &ack_id.1, get(from, &ack_id.1));
}

impl Layout {
    /// The name of the second device ID.
    pub(in crate::codec) fn second_id(&self) -> &'static str {
        if self.ftype == flow_control::FTYPE { "tgtdestinationID" } else { "sourceID" }
    }
}

/// What follows from other fields, and the data.
fn put_derived(fields: &mut Fields, packet: &Packet<&[u8]>) {
    let place = |fields: &mut Fields, address: Address| fields.change("address", address.byte() as u64);
    let span = |fields: &mut Fields, span: Span| {
        fields.number("bytes", span.octets());
        fields.number("lane", span.lane());
    };
    match packet.body {
        Body::Read(read) => {
            place(fields, read.address());
            span(fields, read.span());
        }
        Body::Write(write) => {
            place(fields, write.address());
            span(fields, write.span());
        }
        Body::StreamWrite(write) => place(fields, write.address()),
        Body::FlowControl(_) => {
            let name = Command::name(fields.value("XON") == 1, fields.value("FAM") as u8);
            fields.name("command_name", name.unwrap_or("reserved"));
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
    let data = match layout.tables.iter().copied().flatten().any(|row| row.0 == "O") {
        true => Some(given.need_octets("data")?),
        false => given.octets("data"),
    };
    let [ack_id, ..] = &packet::FIELDS;
    let number = given.need(ack_id.0)?;
    let transport = transport(layout, given)?;
    let mut plain = vec![0; transport.octets()];
    transport.emit(layout.ftype, &mut plain).map_err(explain)?;
    put(&mut plain, &ack_id.1, number);
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
    let tt = given.need("tt")?;
    let ids = [IdSize::Dev8, IdSize::Dev16, IdSize::Dev32].into_iter().find(|ids| u64::from(ids.tt()) == tt);
    let ids = ids.ok_or_else(|| CodecError::new("/tt", "3 found; allowed: 0, 1 or 2 (3 is reserved)"))?;
    let second_key = layout.second_id();
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

/// The octets of the layout.
fn header(layout: &Layout, given: &Given<'_>, data_octets: usize) -> Result<Vec<u8>, CodecError> {
    let address = || {
        let address = given.need("address")?;
        if !address.is_multiple_of(8) {
            let problem = format!("{address:#011x} found; allowed: a multiple of 8");
            return Err(CodecError::new("/address", problem));
        }
        Ok(Address::new(ADDRESS_SIZE, address / 8).map_err(explain)?.last_word())
    };
    let mut octets = vec![0; form::octets(layout.tables)];
    form::write(layout.tables, &mut octets, |key| {
        let known = layout.known.iter().find(|(known, _)| *known == key);
        Ok(match (key, known) {
            (_, Some(&(_, value))) => value,
            ("address", _) => address()?.0.into(),
            ("xamsbs", _) => address()?.1.into(),
            ("O", _) => data_octets.div_ceil(2) as u64 % 2,
            ("P", _) => data_octets as u64 % 2,
            _ => given.need(key)?,
        })
    })?;
    Ok(octets)
}
