//! `docs/riosim.lua`: the dissector of captures, made of the tables of fields that the two verbs walk.
//! `dissector.lua` is the part of it that is no table. The page is written by a test: `BLESS=1`.

use super::form::{Form, Key};
use super::packet::{self, LAYOUTS};
use super::{hex, riocm, serial};
use analysis::capture::pseudo;
use linx_riocm::wire as linx;
use lp_serial::control_symbol::{Cause, Delimiter, Form as Size, PortStatus};
use lp_serial::field::{Field, RESERVED, chain};
use lp_serial::packet::{FIRST_PART_BYTES, FTYPE_NAMES, PACKET_MAX_BYTES, TT_NAMES};
use lp_serial::{Stype0, Stype1, crc};
use scheduled_transfer::llp::{ETHER_TYPE, ULA_FIELDS, ethernet};
use scheduled_transfer::wire::{HEADER_BYTES, header, operation};
use session_management::attribute::Kind;
use session_management::message::{Command, Message, Mode};
use session_management::status::Flow;
use std::collections::BTreeMap;
use std::fmt::Write;

const TEMPLATE: &str = include_str!("dissector.lua");

/// One message of session management of each kind.
const MESSAGES: &str = include_str!("smp_messages.txt");

/// Names of the values of a field, by value.
type Names = Vec<(u64, String)>;

/// The whole page.
pub(super) fn page() -> String {
    let parts = [
        ("@FORMS@", forms()),
        ("@PACKETS@", packets()),
        ("@SESSION@", session()),
        ("@ATTRIBUTES@", attributes()),
        ("@RIOCM@", riocm()),
        ("@CONSTANTS@", constants()),
    ];
    parts.into_iter().fold(TEMPLATE.to_owned(), |page, (mark, text)| page.replacen(mark, text.trim_end(), 1))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `{ [0] = "a", [2] = "b" }`, without values that have no name.
fn table<K: std::fmt::Display>(names: impl IntoIterator<Item = (K, String)>) -> String {
    let named = names.into_iter().filter(|(_, name)| !name.is_empty());
    let entries: Vec<String> = named.map(|(value, name)| format!("[{value}] = {}", quoted(&name))).collect();
    format!("{{ {} }}", entries.join(", "))
}

fn by_code<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
    (0..).zip(names.into_iter().map(str::to_owned)).collect()
}

/// What the keys of a form call the values of a field.
fn names_of(keys: &[Key], field: &str) -> Names {
    let names = keys.iter().filter_map(Key::code_names).find(|(key, _)| *key == field);
    names.map_or_else(Vec::new, |(_, names)| by_code(names.iter().copied()))
}

/// The entry of one form.
fn form(out: &mut String, name: &str, rows: impl IntoIterator<Item = Field>, names: impl Fn(&str) -> Names) {
    writeln!(out, "  [{}] = {{", quoted(name)).unwrap();
    for (field, bits, base) in rows.into_iter().filter(|row| row.0 != RESERVED) {
        let names = names(field);
        let names = if names.is_empty() { String::new() } else { format!(", {}", table(names)) };
        writeln!(out, "    {{ {}, {}, {}, {base}{names} }},", quoted(field), bits.start, bits.len()).unwrap();
    }
    out.push_str("  },\n");
}

/// The keys of a symbol with everything that has names.
fn of_symbol(size: Size) -> impl Fn(&str) -> Names {
    let keys = serial::symbol_keys(size, vec![]);
    move |field| names_of(&keys, field)
}

fn forms() -> String {
    let none = |_: &str| Vec::new();
    let mut out = String::from("local FORMS = {\n");
    form(&mut out, "pseudo", pseudo::FIELDS, |field| match field {
        "kind" => pseudo::Kind::ALL.map(|kind| (kind as u64, kind.name().to_owned())).into(),
        "protocol" => pseudo::Carries::ALL.map(|carries| (carries as u64, carries.name().to_owned())).into(),
        "cause" => models::Cause::ALL.map(|cause| (cause as u64, cause.name().to_owned())).into(),
        _ => Vec::new(),
    });
    for (name, size) in [("short", Size::Short), ("long", Size::Long)] {
        form(&mut out, name, size.fields().iter().cloned(), of_symbol(size));
    }
    form(&mut out, "stype2", voq_backpressure::codec::FIELDS, |field| match field {
        "s2_cmd" => by_code(voq_backpressure::codec::COMMAND_NAMES),
        _ => Vec::new(),
    });
    let message = voq_backpressure::codec::MESSAGE_FIELDS;
    form(&mut out, "VoQ message", message.into_iter().skip(1), none);
    form(&mut out, "packet", lp_serial::packet::FIELDS, |field| match field {
        "ftype" => by_code(FTYPE_NAMES),
        "tt" => by_code(TT_NAMES),
        _ => Vec::new(),
    });
    let forms: Vec<Form> = packet::forms();
    for (layout, of) in LAYOUTS.iter().zip(&forms) {
        assert_eq!(layout.form, of.name, "layouts and forms are in one order");
        form(&mut out, layout.form, chain(layout.tables), |field| names_of(&of.keys, field));
    }
    assert_eq!(LAYOUTS.len(), forms.len());
    for (name, rows) in session_forms() {
        form(&mut out, &name, rows.iter().cloned(), |field| match field {
            "Flow_Control" => Flow::ALL.map(|flow| (flow.code().into(), flow.name().to_owned())).into(),
            _ => Vec::new(),
        });
    }
    for kind in Kind::NAMED {
        form(&mut out, &format!("attribute {}", kind.name()), kind.fields().iter().cloned(), none);
    }
    let types = riocm::forms();
    for kind in linx::Kind::ALL {
        let rows = kind.fields().iter().copied().chain([kind.ignored()]).flatten().cloned();
        form(&mut out, &format!("RIOCM {}", kind.name()), rows, |field| names_of(&types[0].keys, field));
    }
    form(&mut out, "ST", header::FIELDS, |field| match field {
        "op" => by_code((0..=header::OP_MAX).map(operation::name)),
        _ => Vec::new(),
    });
    out + "}\n"
}

fn packets() -> String {
    let mut out = String::from("local PACKETS = {\n");
    for layout in &LAYOUTS {
        let rows: Vec<Field> = chain(layout.tables).collect();
        let row = |name: &str| rows.iter().find(|row| row.0 == name).expect("a field of the form").1.clone();
        let known = layout.known.iter().filter(|(name, _)| rows.iter().any(|row| row.0 == *name));
        let mut known: Vec<String> = known
            .map(|&(name, value)| {
                let bits = row(name);
                format!("{{ {}, {}, {{ [{value}] = true }} }}", bits.start, bits.len())
            })
            .collect();
        // Requests and responses have one ftype.
        let transactions = match layout.form {
            "maintenance request" => "[0] = true, [1] = true, [4] = true",
            "maintenance response" => "[2] = true, [3] = true",
            _ => "",
        };
        if !transactions.is_empty() {
            let bits = row("transaction");
            known.push(format!("{{ {}, {}, {{ {transactions} }} }}", bits.start, bits.len()));
        }
        let octets = rows.last().map_or(0, |row| row.1.end / 8);
        writeln!(
            out,
            "  {{ name = {}, ftype = {}, octets = {octets}, second = {}, known = {{ {} }} }},",
            quoted(layout.form),
            layout.ftype,
            quoted(layout.second_id()),
            known.join(", ")
        )
        .unwrap();
    }
    out + "}\n"
}

/// The layouts of session management, each once: name of the form, and fields.
fn session_forms() -> BTreeMap<String, &'static [session_management::fields::Field]> {
    let mut forms = BTreeMap::new();
    // Segments in the middle of a PDU, which are not among the messages.
    let middles = ["060100000000000000000000", "09010000000000000000000000000000"];
    for line in MESSAGES.lines().chain(middles) {
        let octets = hex::octets(line.rsplit(':').next().unwrap()).unwrap();
        let message = Message::parse(&octets, Mode::Validation).unwrap();
        forms.insert(session_form(&message), message.fields());
    }
    forms
}

fn session_form(message: &Message<'_>) -> String {
    let name = message.command().name();
    match message {
        // Those of DATA2 are the implementation's own.
        Message::Data(data) if data.names_stream() && data.command() != Command::Data2 => {
            format!("{name} with StreamID")
        }
        _ => name.to_owned(),
    }
}

fn session() -> String {
    let forms = session_forms();
    let mut out = String::from("local SESSION = {\n");
    for command in Command::ALL.iter().copied().chain([Command::UserDefined(USER_DEFINED)]) {
        let name = command.name();
        let rows = forms.get(name).unwrap_or_else(|| panic!("no message shows the form of {name}"));
        let with_stream = format!("{name} with StreamID");
        let with_stream = match forms.contains_key(&with_stream) {
            true => format!(", form_with_stream = {}", quoted(&with_stream)),
            false => String::new(),
        };
        let count = rows.iter().find(|row| ["NumAttrib", "numAttributes"].contains(&row.0));
        let list = match count {
            Some(row) => format!(", list = \"attributes\", count = {}", quoted(row.0)),
            None if command == Command::Advertise => ", list = \"protocols\"".to_owned(),
            None => String::new(),
        };
        writeln!(
            out,
            "  [{}] = {{ name = {}, form = {}, header = {}{with_stream}{list} }},",
            command.code(),
            quoted(name),
            quoted(name),
            command.header_len()
        )
        .unwrap();
    }
    out + "}\n"
}

/// The first command that users define.
const USER_DEFINED: u8 = 0xF0;

fn attributes() -> String {
    let mut out = String::from("local ATTRIBUTES = {\n");
    for kind in Kind::NAMED {
        let blank = kind.blank().expect("a kind with an identifier");
        let octets = kind.fields().first().map_or(2, |row| row.1.start as usize / 8);
        let begin = hex::print(&blank.0[..octets]).to_uppercase();
        writeln!(out, "  {{ {}, {} }},", quoted(kind.name()), quoted(&begin)).unwrap();
    }
    out + "}\n"
}

fn riocm() -> String {
    let mut out = String::from("local RIOCM = {\n");
    for kind in linx::Kind::ALL {
        let (name, header) = (quoted(kind.name()), kind.header_octets());
        let (code, data) = (kind.code(), kind.is_data());
        writeln!(out, "  [{code}] = {{ name = {name}, header = {header}, data = {data} }},").unwrap();
    }
    out + "}\n"
}

fn constants() -> String {
    let mut out = String::from("local NAMED = {\n");
    let mut named: Vec<(&str, &str, &str)> = vec![
        ("pseudo", "flow", "text"),
        ("pseudo", "from", "text"),
        ("pseudo", "to", "text"),
        ("symbol", "delimiter", "text"),
        ("symbol", "param0_means", "text"),
        ("symbol", "param1_means", "text"),
        ("symbol", "cause_name", "text"),
        ("symbol", "port_status_name", "text"),
        ("symbol", "stype1_name", "text"),
        ("VoQ message", "congested", "text"),
        ("packet", "virtual_channel", "number"),
        ("packet", "body_bytes", "number"),
        ("packet", "destinationID", "hex"),
        ("packet", "sourceID", "hex"),
        ("packet", "tgtdestinationID", "hex"),
        ("packet", "crc16_first", "hex"),
        ("packet", "crc16", "hex"),
        ("packet", "padding_bytes", "number"),
        ("filler", "destination", "hex"),
        ("filler", "number", "number"),
        ("filler", "data", "octets"),
        ("session", "command", "text"),
        ("session", "attribute", "text"),
        ("session", "octets", "octets"),
        ("session", "payload", "octets"),
        ("session", "ProtoID", "hex"),
        ("session", "numAttributes", "number"),
        ("RIOCM", "protocol", "hex"),
        ("RIOCM", "payload", "octets"),
        ("ST", "payload", "octets"),
    ];
    named.extend(ULA_FIELDS.iter().map(|row| ("ST", row.0, "wide")));
    for layout in &LAYOUTS {
        named.push((layout.form, "data", "octets"));
        if chain(layout.tables).any(|row| row.0 == "xamsbs") {
            named.push((layout.form, "byte_address", "wide"));
        }
    }
    for (of, name, kind) in named {
        writeln!(out, "  {{ {}, {}, {} }},", quoted(of), quoted(name), quoted(kind)).unwrap();
    }
    out.push_str("}\n");
    let mut line = |name: &str, value: String| writeln!(out, "local {name} = {value}").unwrap();
    line("VERSION", pseudo::VERSION.to_string());
    line("PSEUDO", pseudo::FIXED_OCTETS.to_string());
    line("CAUSES", table(models::Cause::ALL.map(|cause| (cause as u8, cause.name().to_owned()))));
    line("FTYPES", table(by_code(FTYPE_NAMES)));
    let delimiters = [Delimiter::Packet, Delimiter::Symbol].map(|it| (it.octet(), it.name().to_owned()));
    line("DELIMITERS", table(delimiters));
    line("STYPE0", table((0..8).map(|code| (code, stype0(code, 0).names()[0].to_owned()))));
    let functions = (0..64).filter_map(|code| {
        let function = Stype1::from_fields(code / 8, code % 8);
        (function.name() != "reserved").then(|| (code, function.name().to_owned()))
    });
    line("STYPE1", table(functions));
    line("MEANINGS", meanings());
    let stype2 = Size::Long.fields().iter().find(|row| row.0 == "stype2").expect("long symbols have it");
    line("FIRST_OF_STYPE2", stype2.1.start.to_string());
    line("FIRST_PART", FIRST_PART_BYTES.to_string());
    line("LONGEST", PACKET_MAX_BYTES.to_string());
    line("DATA_STREAMING", logical::wire::stream::FTYPE.to_string());
    line("USER_DEFINED", USER_DEFINED.to_string());
    line("RIOCM_PROTOCOL", linx::PROTOCOL.to_string());
    line("ST_HEADER", HEADER_BYTES.to_string());
    line("ST_OPERATIONS", table(by_code((0..=header::OP_MAX).map(operation::name))));
    line("ETHERNET_OVERHEAD", ethernet::OVERHEAD_BYTES.to_string());
    line("ETHER_TYPE", ETHER_TYPE.to_string());
    line("SNAP", quoted(&format!("AAAA03000000{ETHER_TYPE:04X}")));
    line("CRC", crcs());
    out
}

fn stype0(code: u8, parameter1: u8) -> Stype0 {
    Stype0::from_fields(code, 0, parameter1)
}

/// Names that follow from numbers: name, the number, the only stype0 with it, and names by number.
fn meanings() -> String {
    let of = |name: usize| table((0..8).map(|code| (code, stype0(code, 0).names()[name].to_owned())));
    let by_parameter =
        |names: Vec<(u8, &str)>| table(names.into_iter().map(|(code, name)| (code, name.to_owned())));
    let causes = (0..64).filter_map(|code| match stype0(2, code) {
        Stype0::PacketNotAccepted { cause, .. } if Cause::ALL.contains(&cause) => Some((code, cause.name())),
        _ => None,
    });
    let states = (0..64).filter_map(|code| match stype0(6, code) {
        Stype0::LinkResponse { port_status, .. } if PortStatus::ALL.contains(&port_status) => {
            Some((code, port_status.name()))
        }
        _ => None,
    });
    let rows = [
        ("param0_means", "stype0", "nil", of(1)),
        ("param1_means", "stype0", "nil", of(2)),
        ("cause_name", "param1", "2", by_parameter(causes.collect())),
        ("port_status_name", "param1", "6", by_parameter(states.collect())),
    ];
    let row =
        |(name, from, only, names)| format!("  {{ {}, {}, {only}, {names} }},", quoted(name), quoted(from));
    format!("{{\n{}\n}}", rows.map(row).join("\n"))
}

fn crcs() -> String {
    let last = |size: Size| size.fields().last().expect("a CRC").0;
    let row = |key: &str, name: &str, code: (u32, u16, u16), covers: u32, zeros: u32| {
        let (bits, polynomial, seed) = code;
        format!(
            "  {key} = {{ name = \"{name}\", bits = {bits}, polynomial = {polynomial}, seed = {seed}, \
             covers = {covers}, zeros = {zeros} }},\n"
        )
    };
    let short = row("short", last(Size::Short), (5, crc::CRC5_POLY.into(), 0x1F), crc::CRC5_BITS, 1);
    let long = row("long", last(Size::Long), (13, crc::CRC13_POLY, 0), crc::CRC13_BITS, 0);
    let packet = row("packet", "crc16", (16, crc::CRC16_POLY, crc::CRC16_INIT), 0, 0);
    format!("{{\n{short}{long}{packet}}}")
}

mod tests;
