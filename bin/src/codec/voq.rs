//! `voq`: VoQ backpressure messages (Part 12, Rev 2.x), on the long symbol that carries them or alone.

use super::CodecError;
use super::form::{Fields, Form, Given, Key, Shape, after, keys};
use super::serial::{STYPE2_DIGITS, symbol_forms, symbol_keys};
use lp_serial::control_symbol::Form as Size;
use voq_backpressure::codec::{
    COMMAND_NAMES, FIELD_BITS, FIELDS, MAX_PORTS, MESSAGE_FIELDS, Message, PORTS_PER_GROUP, Stype2, View,
};

const BACKPRESSURE: u8 = 1;

const ONLY: &str = "with s2_cmd 1 (VoQ backpressure)";

fn message_keys() -> Vec<Key> {
    let [_, status, group] = &MESSAGE_FIELDS;
    let derived = [
        Key::of(status).rule("the first six bits of s2_param"),
        Key::of(group).rule("the last five bits of s2_param"),
        Key::set("congested", u64::from(MAX_PORTS) - 1)
            .rule("port 6 * group + k for each bit k of status that is 1"),
    ];
    let names = Key::code("s2_cmd_name", COMMAND_NAMES).rule("Part 12 Table 3-1");
    let derived = derived.into_iter().map(|key| key.only(ONLY));
    after(keys(&[&FIELDS]), "s2_cmd", [names]).into_iter().chain(derived).collect()
}

/// The forms of this format.
pub(super) fn forms() -> Vec<Form> {
    let alone = Form {
        name: "stype2",
        shape: Shape::Number { bits: FIELD_BITS, digits: STYPE2_DIGITS },
        keys: message_keys(),
        read: Box::new(|octets| {
            let field = octets.iter().fold(0, |field, &octet| field << 8 | u16::from(octet));
            Ok(message_fields(field))
        }),
        make: Box::new(|given| {
            let field = stype2(given)?;
            Ok((field.to_be_bytes().to_vec(), message_fields(field)))
        }),
    };
    let keys = symbol_keys(Size::Long, message_keys());
    symbol_forms(Size::Long, keys, "", put_message, stype2).into_iter().chain([alone]).collect()
}

fn message_fields(field: u16) -> Fields {
    let mut fields = Fields::default();
    put_message(&mut fields, field);
    fields
}

fn put_message(fields: &mut Fields, field: u16) {
    let view = View::new(field);
    fields.number("s2_cmd", view.command());
    fields.number("s2_param", view.parameter());
    if let Ok(Stype2::Backpressure(message)) = Stype2::parse(field) {
        fields.number("status", message.status());
        fields.number("group", message.group());
        fields.set("congested", message.congested());
    }
}

/// The 14 bits.
fn stype2(given: &Given<'_>) -> Result<u16, CodecError> {
    let command = given.need("s2_cmd")? as u8;
    // Every number is within the range of its key, and so fits.
    let field = |parameter: u64| {
        let view = View::from_parts(command, parameter as u16);
        view.map(View::bits).map_err(|error| CodecError::new("/s2_param", error.to_string()))
    };
    if command != BACKPRESSURE {
        given.refuse(&["status", "group", "congested"])?;
        return field(given.need("s2_param")?);
    }
    if let Some(parameter) = given.get("s2_param") {
        return field(parameter);
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
    let message = match (given.get("status"), congested) {
        (Some(status), _) => Message::new(group as u8, status as u8),
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
            Message::about(base as u16, &ports.iter().map(|&port| port as u16).collect())
        }
    };
    message.map(Message::to_field).map_err(|error| CodecError::new("/s2_param", error.to_string()))
}
