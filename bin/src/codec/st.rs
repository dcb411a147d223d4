//! Scheduled Transfer: the Schedule Header, operations, and the frames of the lower layers.

use super::CodecError;
use super::form::{self, Field, Fields, Form, Given, Key, Made, Shape, after, octets_of};
use lp_serial::field::put;
use scheduled_transfer::llp::{Medium, ULA_FIELDS, Ula, ethernet, fibre_channel, hippi_fp, hippi6400, lane};
use scheduled_transfer::wire::header::{FIELDS, OP_MAX};
use scheduled_transfer::wire::operation;
use scheduled_transfer::wire::{HEADER_BYTES, OPTIONAL_PAYLOAD_BYTES};
use std::slice;

/// Longest payload that is read: more than any medium but HIPPI and Fibre Channel carries.
const PAYLOAD_MAX: usize = 1 << 17;

fn header_keys() -> Vec<Key> {
    let names = (0..=OP_MAX).map(operation::name);
    after(form::keys(&[&FIELDS]), "op", [Key::code("op_name", names).rule("op")])
}

fn operation_keys() -> Vec<Key> {
    let mut keys = header_keys();
    keys.push(Key::octets("payload", PAYLOAD_MAX));
    keys
}

/// The form of a frame, with the keys that only some media have before and behind the addresses.
fn frame(name: &'static str, medium: Medium) -> Form {
    let lecid = Key::of(&lane::LECID);
    let (lecid, more) = match medium {
        Medium::Lane8023 => (Some(lecid), Some(Key::number("zero_length", 1))),
        Medium::LaneDix => (Some(lecid), None),
        Medium::TokenRing4 | Medium::TokenRing16 => {
            (Some(lecid), Some(Key::octets("routing", lane::ROUTING_MAX_BYTES)))
        }
        _ => (None, None),
    };
    let addresses = ULA_FIELDS.iter().map(Key::of);
    Form {
        name,
        shape: Shape::Named,
        keys: lecid.into_iter().chain(addresses).chain(more).chain(operation_keys()).collect(),
        read: Box::new(move |octets| read_frame(medium, octets)),
        make: Box::new(move |given| make_frame(medium, given)),
    }
}

/// Every layout of the format.
pub(super) fn forms() -> Vec<Form> {
    let operation = |name, shape| Form {
        name,
        shape,
        keys: operation_keys(),
        read: Box::new(read_operation),
        make: Box::new(make_operation),
    };
    let header = Form {
        name: "header",
        shape: Shape::Octets(HEADER_BYTES),
        keys: header_keys(),
        read: Box::new(read_header),
        make: Box::new(|given| {
            let octets = header_octets(given)?;
            let fields = read_header(&octets)?;
            Ok((octets, fields))
        }),
    };
    let control = operation("control", Shape::Octets(HEADER_BYTES + OPTIONAL_PAYLOAD_BYTES));
    let mut forms = vec![header, control, operation("operation", Shape::Named)];
    let names = [
        "hippi 6400",
        "hippi fp",
        "ethernet",
        "lane 802.3",
        "lane dix",
        "token ring 4",
        "token ring 16",
        "fibre channel",
    ];
    forms.extend(names.into_iter().zip(Medium::ALL).map(|(name, medium)| frame(name, medium)));
    forms
}

fn read_header(octets: &[u8]) -> Result<Fields, CodecError> {
    if octets.len() < HEADER_BYTES {
        let problem = format!("{} found; a Schedule Header has {HEADER_BYTES}", octets_of(octets.len()));
        return Err(CodecError::new("hex", problem));
    }
    let mut fields = Fields::default();
    fields.read(&[&FIELDS], octets);
    Ok(fields)
}

fn read_operation(octets: &[u8]) -> Result<Fields, CodecError> {
    let mut fields = read_header(octets)?;
    let payload = &octets[HEADER_BYTES..];
    if payload.len() > PAYLOAD_MAX {
        let problem = format!("{} found; at most {PAYLOAD_MAX} are read", octets_of(payload.len()));
        return Err(CodecError::new("payload", problem));
    }
    fields.octets("payload", payload);
    Ok(fields)
}

/// The header that JSON gives; what is left out is 0, but for Op.
fn header_octets(given: &Given<'_>) -> Result<Vec<u8>, CodecError> {
    let mut octets = vec![0; HEADER_BYTES];
    form::write(&[&FIELDS], &mut octets, |key| match key {
        "op" => given.need(key),
        _ => Ok(given.get(key).unwrap_or_default()),
    })?;
    Ok(octets)
}

fn operation_octets(given: &Given<'_>) -> Result<Vec<u8>, CodecError> {
    let mut octets = header_octets(given)?;
    octets.extend_from_slice(given.octets("payload").unwrap_or_default());
    Ok(octets)
}

fn make_operation(given: &Given<'_>) -> Result<Made, CodecError> {
    let octets = operation_octets(given)?;
    let fields = read_operation(&octets)?;
    Ok((octets, fields))
}

fn ula(given: &Given<'_>, (key, bits, _): &Field) -> Result<Ula, CodecError> {
    let mut ula = Ula::default();
    put(&mut ula.0, bits, given.need(key)?);
    Ok(ula)
}

type LlpError = scheduled_transfer::llp::Error;

/// What a frame holds, whatever the medium: LAN emulation has all that others have.
fn parse(medium: Medium, octets: &[u8]) -> Result<lane::Frame<'_>, LlpError> {
    let (d_ula, s_ula, operation) = match medium {
        Medium::Hippi6400 => {
            let hippi6400::Frame { d_ula, s_ula, operation } = hippi6400::Frame::parse(octets)?;
            (d_ula, s_ula, operation)
        }
        Medium::HippiFp => {
            let hippi_fp::Frame { d_ula, s_ula, operation } = hippi_fp::Frame::parse(octets)?;
            (d_ula, s_ula, operation)
        }
        Medium::Ethernet => {
            let ethernet::Frame { d_ula, s_ula, operation } = ethernet::Frame::parse(octets)?;
            (d_ula, s_ula, operation)
        }
        Medium::FibreChannel => {
            let fibre_channel::Frame { d_ula, s_ula, operation } = fibre_channel::Frame::parse(octets)?;
            (d_ula, s_ula, operation)
        }
        _ => return lane::Frame::parse(medium, octets),
    };
    Ok(lane::Frame { lecid: 0, d_ula, s_ula, operation, routing: &[], zero_length: false })
}

fn emit(medium: Medium, frame: &lane::Frame<'_>) -> Result<Vec<u8>, LlpError> {
    let &lane::Frame { d_ula, s_ula, operation, .. } = frame;
    let mut out = Vec::new();
    match medium {
        Medium::Hippi6400 => hippi6400::Frame { d_ula, s_ula, operation }.emit(&mut out)?,
        Medium::HippiFp => hippi_fp::Frame { d_ula, s_ula, operation }.emit(&mut out)?,
        Medium::Ethernet => ethernet::Frame { d_ula, s_ula, operation }.emit(&mut out)?,
        Medium::FibreChannel => fibre_channel::Frame { d_ula, s_ula, operation }.emit(&mut out)?,
        _ => frame.emit(medium, &mut out)?,
    }
    Ok(out)
}

fn read_frame(medium: Medium, octets: &[u8]) -> Result<Fields, CodecError> {
    let wrong = |error: LlpError| CodecError::new("frame", error.to_string());
    let frame = parse(medium, octets).map_err(wrong)?;
    // A receiver ignores padding and reserved bits; but then the JSON would not be all of the frame.
    if emit(medium, &frame).map_err(wrong)? != octets {
        let problem = "padding and reserved bits are not those that are sent; allowed: zeros, and no more \
                       of them than the medium needs";
        return Err(CodecError::new("frame", problem));
    }
    let mut fields = read_operation(frame.operation)?;
    for (row, ula) in ULA_FIELDS.iter().zip([frame.d_ula, frame.s_ula]) {
        fields.read(&[slice::from_ref(row)], &ula.0);
    }
    // A form without a key for one of these does not show it.
    fields.number("lecid", frame.lecid);
    fields.number("zero_length", u8::from(frame.zero_length));
    fields.octets("routing", frame.routing);
    Ok(fields)
}

fn make_frame(medium: Medium, given: &Given<'_>) -> Result<Made, CodecError> {
    let operation = operation_octets(given)?;
    let [d_ula, s_ula] = &ULA_FIELDS;
    let frame = lane::Frame {
        d_ula: ula(given, d_ula)?,
        s_ula: ula(given, s_ula)?,
        operation: &operation,
        lecid: given.get("lecid").unwrap_or_default() as u16,
        routing: given.octets("routing").unwrap_or_default(),
        zero_length: given.get("zero_length") == Some(1),
    };
    let octets = emit(medium, &frame).map_err(|error| CodecError::new("frame", error.to_string()))?;
    let fields = read_frame(medium, &octets)?;
    Ok((octets, fields))
}
