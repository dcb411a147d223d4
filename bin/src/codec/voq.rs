//! `voq`: VoQ backpressure messages (Part 12, Rev 2.x), on the long symbol that carries them or alone.

use super::CodecError;
use super::form::{Fields, Form, Given, Key, Shape};
use super::serial::{
    CRC13, DELIMITER, LONG_FUNCTIONS, bare, crc, delimit, delimited, delimiter_name, octets, put_functions,
    symbol,
};
use lp_serial::ControlSymbol;
use lp_serial::control_symbol::Form as Size;
use voq_backpressure::codec::{MAX_PORTS, Message, PORTS_PER_GROUP, Stype2, View};

/// stype2 CMD by code.
const COMMAND_NAMES: [&str; 8] =
    ["NOP", "VoQ backpressure", "reserved", "reserved", "reserved", "reserved", "reserved", "reserved"];

const BACKPRESSURE: u64 = 1;

const ONLY: &str = "with s2_cmd 1 (VoQ backpressure)";

static MESSAGE: [Key; 6] = [
    Key::number("s2_cmd", 7),
    Key::name("s2_cmd_name", &COMMAND_NAMES).rule("Part 12 Table 3-1"),
    Key::hex("s2_param", 3, 0x7FF),
    Key::binary("status", PORTS_PER_GROUP as usize).rule("the first six bits of s2_param").only(ONLY),
    Key::number("group", 31).rule("the last five bits of s2_param").only(ONLY),
    Key::set("congested", MAX_PORTS as u64 - 1)
        .rule("port 6 * group + k for each bit k of status that is 1")
        .only(ONLY),
];

/// The forms of this format.
pub(super) static FORMS: [Form; 3] = [
    Form {
        name: "long",
        shape: Shape::Octets(6),
        keys: &[&LONG_FUNCTIONS, &MESSAGE, &CRC13],
        read: |octets| Ok(symbol_fields(bare(Size::Long, octets)?)),
        make: |given| {
            let symbol = carrier(given)?;
            Ok((octets(symbol), symbol_fields(symbol)))
        },
    },
    Form {
        name: "long delimited",
        shape: Shape::Octets(8),
        keys: &[&DELIMITER, &LONG_FUNCTIONS, &MESSAGE, &CRC13],
        read: delimited_fields,
        make: |given| {
            let wire = delimit(given, carrier(given)?)?;
            let fields = delimited_fields(&wire)?;
            Ok((wire, fields))
        },
    },
    Form {
        name: "stype2",
        shape: Shape::Number { bits: 14, digits: 3 },
        keys: &[&MESSAGE],
        read: |octets| {
            let field = octets.iter().fold(0, |field, &octet| field << 8 | u16::from(octet));
            Ok(message_fields(field))
        },
        make: |given| {
            let field = stype2(given)?;
            Ok((field.to_be_bytes().to_vec(), message_fields(field)))
        },
    },
];

fn symbol_fields(symbol: ControlSymbol) -> Fields {
    let mut fields = Fields::default();
    put_functions(&mut fields, symbol);
    put_message(&mut fields, symbol.stype2());
    fields.number("crc13", crc(symbol));
    fields
}

fn delimited_fields(octets: &[u8]) -> Result<Fields, CodecError> {
    let (delimiter, symbol) = delimited(Size::Long, octets)?;
    let mut fields = symbol_fields(symbol);
    fields.name("delimiter", delimiter_name(delimiter));
    Ok(fields)
}

fn message_fields(field: u16) -> Fields {
    let mut fields = Fields::default();
    put_message(&mut fields, field);
    fields
}

fn put_message(fields: &mut Fields, field: u16) {
    let view = View::new(field);
    fields.number("s2_cmd", view.command());
    fields.name("s2_cmd_name", COMMAND_NAMES[usize::from(view.command())]);
    fields.number("s2_param", view.parameter());
    if let Ok(Stype2::Backpressure(message)) = Stype2::parse(field) {
        fields.number("status", message.status());
        fields.number("group", message.group());
        fields.set("congested", message.congested());
    }
}

fn carrier(given: &Given<'_>) -> Result<ControlSymbol, CodecError> {
    symbol(given, Size::Long, stype2(given)?)
}

/// The 14 bits.
fn stype2(given: &Given<'_>) -> Result<u16, CodecError> {
    let command = given.need_code("s2_cmd", "s2_cmd_name", &COMMAND_NAMES)?;
    if command != BACKPRESSURE {
        given.refuse(&["status", "group", "congested"])?;
        return Ok((command << 11 | given.need("s2_param")?) as u16);
    }
    if let Some(parameter) = given.get("s2_param") {
        return Ok((command << 11 | parameter) as u16);
    }
    let per_group = u64::from(PORTS_PER_GROUP);
    let congested = given.members("congested");
    let first_group = congested.and_then(|ports| ports.first()).map(|port| port / per_group);
    let hint = ", or else status and group, or group and congested";
    if given.get("status").is_none() && congested.is_none() {
        return Err(given.missing("s2_param", hint));
    }
    let Some(group) = given.get("group").or(first_group) else {
        return Err(given.missing("group", ", or else s2_param"));
    };
    let status = match (given.get("status"), congested) {
        (Some(status), _) => status,
        (None, ports) => {
            let (base, ports) = (group * per_group, ports.unwrap_or_default());
            let members = base..base + per_group;
            if let Some(other) = ports.iter().find(|port| !members.contains(port)) {
                let problem = format!(
                    "port {other} found; a message speaks of one group, allowed in group {group}: {base} to \
                     {}",
                    members.end - 1
                );
                return Err(CodecError::new("/congested", problem));
            }
            ports.iter().map(|port| 1 << (port - base)).sum()
        }
    };
    let message = Message::new(group as u8, status as u8)
        .map_err(|error| CodecError::new("/s2_param", error.to_string()))?;
    Ok(message.to_field())
}
