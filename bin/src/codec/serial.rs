//! `lp-serial`: control symbols and packet framing (Part 6).
//!
//! A symbol comes bare or with the special characters around it; a packet is what lies between two symbols.
//! Its framing is all that is looked at: `content` is everything from the third octet up to the CRC, without
//! the CRC that long packets have in the middle.
//!
//! A packet does not say how long its body is: a body whose CRC is zero looks like a shorter one with
//! padding. Two zero octets at the end are read as padding where the length allows that; either reading makes
//! the same octets.

use super::CodecError;
use super::form::{Fields, Form, Given, Key, Made, Shape, octets_of};
use lp_serial::control_symbol::{
    Cause, Delimited, Delimiter, Error, Form as Size, LinkRequest, PortStatus, View,
};
use lp_serial::packet::{self, FIRST_PART_BYTES, Header, PACKET_MAX_BYTES};
use lp_serial::{ControlSymbol, Stype0, Stype1};

/// stype0 by code.
const STYPE0_NAMES: [&str; 8] = [
    "packet-accepted",
    "packet-retry",
    "packet-not-accepted",
    "reserved",
    "status",
    "VC_status",
    "link-response",
    "implementation-defined",
];

const STYPE1_NAMES: [&str; 10] = [
    "start-of-packet",
    "stomp",
    "end-of-packet",
    "restart-from-retry",
    "link-request/reset-port",
    "link-request/reset-device",
    "link-request/input-status",
    "multicast-event",
    "NOP",
    "reserved",
];

/// Name, stype1, cmd of everything but "reserved"; the order is that of [`STYPE1_NAMES`].
const STYPE1_CODES: [(Stype1, &str); 9] = [
    (Stype1::StartOfPacket, STYPE1_NAMES[0]),
    (Stype1::Stomp, STYPE1_NAMES[1]),
    (Stype1::EndOfPacket, STYPE1_NAMES[2]),
    (Stype1::RestartFromRetry, STYPE1_NAMES[3]),
    (Stype1::LinkRequest(LinkRequest::ResetPort), STYPE1_NAMES[4]),
    (Stype1::LinkRequest(LinkRequest::ResetDevice), STYPE1_NAMES[5]),
    (Stype1::LinkRequest(LinkRequest::InputStatus), STYPE1_NAMES[6]),
    (Stype1::MulticastEvent, STYPE1_NAMES[7]),
    (Stype1::Nop, STYPE1_NAMES[8]),
];

const PARAMETER0_MEANINGS: [&str; 6] =
    ["packet_ackID", "ackID_status", "VCID", "arbitrary", "reserved", "implementation-defined"];

const PARAMETER1_MEANINGS: [&str; 5] =
    ["buf_status", "cause", "port_status", "reserved", "implementation-defined"];

const CAUSE_NAMES: [&str; 9] = [
    "unexpected-ackID",
    "symbol-CRC",
    "non-maintenance-stopped",
    "packet-CRC",
    "illegal-character",
    "lack-of-resources",
    "descrambler-sync",
    "general",
    "reserved",
];

const PORT_STATUS_NAMES: [&str; 5] = ["error", "retry-stopped", "error-stopped", "OK", "reserved"];

/// tt by code.
pub(super) const TT_NAMES: [&str; 4] = ["Dev8", "Dev16", "Dev32", "reserved"];

/// ftype by code.
pub(super) const FTYPE_NAMES: [&str; 16] = [
    "other",
    "other",
    "request",
    "other",
    "other",
    "write",
    "streaming-write",
    "flow-control",
    "maintenance",
    "data-streaming",
    "doorbell",
    "message",
    "other",
    "response",
    "other",
    "other",
];

const fn functions(parameter_max: u64) -> [Key; 11] {
    [
        Key::number("stype0", 7),
        Key::name("stype0_name", &STYPE0_NAMES).rule("Part 6 Table 3-2"),
        Key::number("param0", parameter_max),
        Key::name("param0_means", &PARAMETER0_MEANINGS).rule("Part 6 Table 3-2"),
        Key::number("param1", parameter_max),
        Key::name("param1_means", &PARAMETER1_MEANINGS).rule("Part 6 Table 3-2"),
        Key::name("cause_name", &CAUSE_NAMES)
            .rule("Part 6 Table 3-3")
            .only("with stype0 2 (packet-not-accepted)"),
        Key::name("port_status_name", &PORT_STATUS_NAMES)
            .rule("Part 6 Table 3-8")
            .only("with stype0 6 (link-response)"),
        Key::number("stype1", 7),
        Key::number("cmd", 7),
        Key::name("stype1_name", &STYPE1_NAMES).rule("Part 6 Table 3-7"),
    ]
}

/// The two functions of a short symbol.
static SHORT_FUNCTIONS: [Key; 11] = functions(31);

/// The two functions of a long symbol.
pub(super) static LONG_FUNCTIONS: [Key; 11] = functions(63);

static CRC5: [Key; 1] = [Key::hex("crc5", 2, 0x1F).rule("CRC-5 of symbol bits 0 to 18")];

static STYPE2: [Key; 1] = [Key::hex("stype2", 3, 0x3FFF)];

/// The CRC of a long symbol.
pub(super) static CRC13: [Key; 1] = [Key::hex("crc13", 4, 0x1FFF).rule("CRC-13 of symbol bits 0 to 34")];

/// The character around a symbol.
pub(super) static DELIMITER: [Key; 1] = [Key::name("delimiter", &["PD", "SC"])];

static PACKET: [Key; 14] = [
    Key::number("ackID", 63),
    Key::number("VC", 1),
    Key::number("CRF", 1),
    Key::number("prio", 3),
    Key::number("virtual_channel", 8).rule("0 without VC, else 1 + 2 * prio + CRF"),
    Key::number("tt", 3),
    Key::name("tt_name", &TT_NAMES).rule("the name of tt"),
    Key::number("ftype", 15),
    Key::name("ftype_name", &FTYPE_NAMES).rule("the name of ftype"),
    Key::half_words("content", packet::BODY_MAX_BYTES - 2),
    Key::number("body_bytes", packet::BODY_MAX_BYTES as u64).rule("2 more than content"),
    Key::hex("crc16_first", 4, 0xFFFF)
        .rule("CRC-16 of the first 80 octets, ackID taken as 0")
        .only("with more than 80 body_bytes"),
    Key::hex("crc16", 4, 0xFFFF).rule("CRC-16 of all before it, ackID taken as 0"),
    Key::number("padding_bytes", 2).rule("zeros, up to a multiple of 4 octets"),
];

/// The forms of this format.
pub(super) static FORMS: [Form; 5] = [
    Form {
        name: "short",
        shape: Shape::Octets(3),
        keys: &[&SHORT_FUNCTIONS, &CRC5],
        read: |octets| Ok(symbol_fields(bare(Size::Short, octets)?)),
        make: |given| {
            let symbol = symbol(given, Size::Short, 0)?;
            Ok((octets(symbol), symbol_fields(symbol)))
        },
    },
    Form {
        name: "short delimited",
        shape: Shape::Octets(4),
        keys: &[&DELIMITER, &SHORT_FUNCTIONS, &CRC5],
        read: |octets| delimited_fields(Size::Short, octets),
        make: |given| {
            let wire = delimit(given, symbol(given, Size::Short, 0)?)?;
            let fields = delimited_fields(Size::Short, &wire)?;
            Ok((wire, fields))
        },
    },
    Form {
        name: "long",
        shape: Shape::Octets(6),
        keys: &[&LONG_FUNCTIONS, &STYPE2, &CRC13],
        read: |octets| Ok(symbol_fields(bare(Size::Long, octets)?)),
        make: |given| {
            let symbol = long_symbol(given)?;
            Ok((octets(symbol), symbol_fields(symbol)))
        },
    },
    Form {
        name: "long delimited",
        shape: Shape::Octets(8),
        keys: &[&DELIMITER, &LONG_FUNCTIONS, &STYPE2, &CRC13],
        read: |octets| delimited_fields(Size::Long, octets),
        make: |given| {
            let wire = delimit(given, long_symbol(given)?)?;
            let fields = delimited_fields(Size::Long, &wire)?;
            Ok((wire, fields))
        },
    },
    Form {
        name: "packet",
        shape: Shape::Named,
        keys: &[&PACKET],
        read: |octets| packet_fields(octets, body_bytes(octets)),
        make: make_packet,
    },
];

/// Reads a symbol without delimiters.
pub(super) fn bare(size: Size, octets: &[u8]) -> Result<ControlSymbol, CodecError> {
    ControlSymbol::parse(size, octets).map_err(|error| explain(size, error))
}

/// Reads a symbol with delimiters.
pub(super) fn delimited(size: Size, octets: &[u8]) -> Result<(Delimiter, ControlSymbol), CodecError> {
    match Delimited::parse(size, octets) {
        Ok(Delimited { delimiter, symbol }) => Ok((delimiter, symbol)),
        Err(error) => Err(explain(size, error)),
    }
}

fn explain(size: Size, error: Error) -> CodecError {
    match error {
        Error::Crc { expected, found } => {
            let (field, digits, mask) = match size {
                Size::Short => ("crc5", 4, 0x1F),
                Size::Long => ("crc13", 6, 0x1FFF),
            };
            let mut problem =
                format!("{found:#0digits$x} found, but the other bits make it {expected:#0digits$x}");
            if found == !expected & mask {
                problem += "; what was found is the complement, and Part 6 sends the CRC as it is";
            }
            CodecError::new(field, problem)
        }
        Error::StartDelimiter { found } => CodecError::new(
            "delimiter",
            format!("{found:#04x} found in front; allowed: 0x7c (PD) or 0x1c (SC)"),
        ),
        Error::EndDelimiter { expected, found } => CodecError::new(
            "delimiter",
            format!("{found:#04x} found at the end; allowed: the one in front again, {expected:#04x}"),
        ),
        Error::Length { .. } => CodecError::new("hex", error.to_string()),
        Error::Range { field, max, found } => {
            CodecError::new(format!("/{field}"), format!("{found} found; allowed: 0 to {max}"))
        }
    }
}

fn delimited_fields(size: Size, octets: &[u8]) -> Result<Fields, CodecError> {
    let (delimiter, symbol) = delimited(size, octets).map_err(|mut error| {
        if matches!(octets, [first, ..] if Delimiter::from_octet(*first).is_none()) {
            error.problem += "; a packet is written packet:HEX";
        }
        error
    })?;
    let mut fields = symbol_fields(symbol);
    fields.name("delimiter", delimiter_name(delimiter));
    Ok(fields)
}

/// PD or SC.
pub(super) fn delimiter_name(delimiter: Delimiter) -> &'static str {
    match delimiter {
        Delimiter::Packet => "PD",
        Delimiter::Symbol => "SC",
    }
}

fn symbol_fields(symbol: ControlSymbol) -> Fields {
    let mut fields = Fields::default();
    put_functions(&mut fields, symbol);
    match symbol.form() {
        Size::Short => fields.number("crc5", crc(symbol)),
        Size::Long => {
            fields.number("stype2", symbol.stype2());
            fields.number("crc13", crc(symbol));
        }
    }
    fields
}

/// The CRC of a symbol.
pub(super) fn crc(symbol: ControlSymbol) -> u16 {
    View::from_bits(symbol.form(), symbol.to_bits()).crc()
}

/// The fields of [`LONG_FUNCTIONS`].
pub(super) fn put_functions(fields: &mut Fields, symbol: ControlSymbol) {
    let [stype0, param0, param1, stype1, cmd] = symbol.fields();
    fields.number("stype0", stype0);
    fields.name("stype0_name", STYPE0_NAMES[usize::from(stype0)]);
    fields.number("param0", param0);
    fields.number("param1", param1);
    let (means0, means1) = match symbol.stype0() {
        Stype0::PacketAccepted { .. } | Stype0::PacketRetry { .. } => ("packet_ackID", "buf_status"),
        Stype0::PacketNotAccepted { cause, .. } => {
            fields.name("cause_name", cause_name(cause));
            ("arbitrary", "cause")
        }
        Stype0::Reserved { .. } => ("reserved", "reserved"),
        Stype0::Status { .. } => ("ackID_status", "buf_status"),
        Stype0::VcStatus { .. } => ("VCID", "buf_status"),
        Stype0::LinkResponse { port_status, .. } => {
            fields.name("port_status_name", port_status_name(port_status));
            ("ackID_status", "port_status")
        }
        Stype0::ImplementationDefined { .. } => ("implementation-defined", "implementation-defined"),
    };
    fields.name("param0_means", means0);
    fields.name("param1_means", means1);
    fields.number("stype1", stype1);
    fields.number("cmd", cmd);
    let known = STYPE1_CODES.iter().find(|(function, _)| *function == symbol.stype1());
    fields.name("stype1_name", known.map_or("reserved", |(_, name)| name));
}

const fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::UnexpectedAckId => "unexpected-ackID",
        Cause::SymbolCrc => "symbol-CRC",
        Cause::NonMaintenanceStopped => "non-maintenance-stopped",
        Cause::PacketCrc => "packet-CRC",
        Cause::IllegalCharacter => "illegal-character",
        Cause::LackOfResources => "lack-of-resources",
        Cause::DescramblerSync => "descrambler-sync",
        Cause::General => "general",
        Cause::Reserved(_) => "reserved",
    }
}

const fn port_status_name(status: PortStatus) -> &'static str {
    match status {
        PortStatus::Error => "error",
        PortStatus::RetryStopped => "retry-stopped",
        PortStatus::ErrorStopped => "error-stopped",
        PortStatus::Ok => "OK",
        PortStatus::Reserved(_) => "reserved",
    }
}

fn long_symbol(given: &Given<'_>) -> Result<ControlSymbol, CodecError> {
    symbol(given, Size::Long, given.need("stype2")? as u16)
}

/// The symbol with the two functions that are given, and these stype2 bits.
pub(super) fn symbol(given: &Given<'_>, size: Size, stype2: u16) -> Result<ControlSymbol, CodecError> {
    let stype0 = given.need_code("stype0", "stype0_name", &STYPE0_NAMES)?;
    let (param0, param1) = (given.need("param0")?, given.need("param1")?);
    let (stype1, cmd) = stype1(given)?;
    // Every number is within the range of its key, and so fits.
    let fields = [stype0, param0, param1, stype1, cmd].map(|field| field as u8);
    ControlSymbol::from_fields(size, fields, stype2).map_err(|error| explain(size, error))
}

fn stype1(given: &Given<'_>) -> Result<(u64, u64), CodecError> {
    let numbers = (given.get("stype1"), given.get("cmd"));
    if let (Some(stype1), Some(cmd)) = numbers {
        return Ok((stype1, cmd));
    }
    let key = if numbers.0.is_none() { "stype1" } else { "cmd" };
    let Some(name) = given.text("stype1_name") else {
        return Err(given.missing(key, ", or a name in stype1_name"));
    };
    match STYPE1_CODES.iter().find(|(_, known)| *known == name) {
        Some((function, _)) => {
            let (stype1, cmd) = function.fields();
            Ok((stype1.into(), cmd.into()))
        }
        None => Err(given.missing(key, &format!("; stype1_name \"{name}\" does not tell which"))),
    }
}

/// The octets of a symbol, without delimiters.
pub(super) fn octets(symbol: ControlSymbol) -> Vec<u8> {
    symbol.to_bits().to_be_bytes()[8 - symbol.form().octets()..].to_vec()
}

/// The octets of a symbol with the delimiter that is given.
pub(super) fn delimit(given: &Given<'_>, symbol: ControlSymbol) -> Result<Vec<u8>, CodecError> {
    // Whether some symbols are delimiters depends on what went before, so this is a field of its own.
    let hint = "; PD if the symbol delimits a packet";
    let delimiter = match given.need_text("delimiter", hint)? {
        "PD" => Delimiter::Packet,
        _ => Delimiter::Symbol,
    };
    let mut wire = vec![delimiter.octet()];
    wire.extend(octets(symbol));
    if symbol.form() == Size::Long {
        wire.push(delimiter.octet());
    }
    Ok(wire)
}

fn packet_fields(octets: &[u8], body_bytes: usize) -> Result<Fields, CodecError> {
    packet::check(octets).map_err(|error| explain_packet(octets, body_bytes, error))?;
    let mut body = vec![0; body_bytes];
    packet::unseal(octets, body_bytes, &mut body)
        .map_err(|error| explain_packet(octets, body_bytes, error))?;
    let header = Header::parse(&body).map_err(|error| explain_packet(octets, body_bytes, error))?;

    let mut fields = Fields::default();
    fields.number("ackID", header.ack_id());
    fields.number("VC", u8::from(header.virtual_channel() != 0));
    fields.number("CRF", u8::from(header.crf()));
    fields.number("prio", header.prio());
    fields.number("virtual_channel", header.virtual_channel());
    fields.number("tt", header.tt());
    fields.name("tt_name", TT_NAMES[usize::from(header.tt())]);
    fields.number("ftype", header.ftype());
    fields.name("ftype_name", FTYPE_NAMES[usize::from(header.ftype())]);
    fields.octets("content", &body[2..]);
    fields.number("body_bytes", body_bytes as u64);
    let crc_at = crc_position(body_bytes);
    if body_bytes > FIRST_PART_BYTES {
        fields.number("crc16_first", half_word(octets, FIRST_PART_BYTES));
    }
    fields.number("crc16", half_word(octets, crc_at));
    fields.number("padding_bytes", (octets.len() - crc_at - 2) as u64);
    Ok(fields)
}

/// Bytes of the body of a packet: with padding, if it can be. Only for lengths that packets have.
pub(super) fn body_bytes(packet: &[u8]) -> usize {
    let crcs = if packet.len() > packet::sealed_len(FIRST_PART_BYTES) { 4 } else { 2 };
    let longest = packet.len().saturating_sub(crcs);
    let padded = longest.saturating_sub(2);
    let fills = |body| body >= packet::BODY_MIN_BYTES && packet::sealed_len(body) == packet.len();
    if fills(padded) && (packet.ends_with(&[0, 0]) || !fills(longest)) { padded } else { longest }
}

/// Where the final CRC begins.
pub(super) fn crc_position(body_bytes: usize) -> usize {
    if body_bytes > FIRST_PART_BYTES { body_bytes + 2 } else { body_bytes }
}

pub(super) fn half_word(octets: &[u8], at: usize) -> u16 {
    match octets.get(at..at + 2) {
        Some(&[high, low]) => u16::from_be_bytes([high, low]),
        _ => 0,
    }
}

/// The octets of a packet with this body.
pub(super) fn seal(body: &[u8]) -> Result<Vec<u8>, packet::Error> {
    let mut sealed = vec![0; packet::sealed_len(body.len())];
    packet::seal(body, &mut sealed)?;
    Ok(sealed)
}

pub(super) fn explain_packet(octets: &[u8], body_bytes: usize, error: packet::Error) -> CodecError {
    // The CRC that stands behind `octets[..at]`, which hold `body`.
    let wrong_crc = |field, at, body: &[u8]| {
        let found = half_word(octets, at);
        let right = seal(body).map_or(0, |sealed| half_word(&sealed, at));
        let problem = format!("{found:#06x} found, but the {} before it make it {right:#06x}", octets_of(at));
        CodecError::new(field, problem)
    };
    match error {
        packet::Error::PacketLength { found } => CodecError::new(
            "hex",
            format!(
                "{} found; allowed in a packet: a multiple of 4 from 4 to {PACKET_MAX_BYTES}",
                octets_of(found)
            ),
        ),
        packet::Error::FirstCrc => wrong_crc("crc16_first", FIRST_PART_BYTES, &octets[..FIRST_PART_BYTES]),
        packet::Error::FinalCrc => {
            let at = crc_position(body_bytes);
            let mut body = octets[..at].to_vec();
            if body_bytes > FIRST_PART_BYTES {
                body.drain(FIRST_PART_BYTES..FIRST_PART_BYTES + 2);
            }
            wrong_crc("crc16", at, &body)
        }
        packet::Error::Padding { body } => {
            let padding = &octets[crc_position(body) + 2..];
            let problem = format!(
                "{:#06x} found behind the CRC of a body of {body} octets; allowed: zeros",
                half_word(padding, 0)
            );
            CodecError::new("padding", problem)
        }
        error => CodecError::new("packet", error.to_string()),
    }
}

fn make_packet(given: &Given<'_>) -> Result<Made, CodecError> {
    let ack_id = given.need("ackID")? as u8;
    let (vc, crf) = (given.need("VC")? == 1, given.need("CRF")? == 1);
    let prio = given.need("prio")? as u8;
    let tt = given.need_code("tt", "tt_name", &TT_NAMES)? as u8;
    let ftype = given.need_code("ftype", "ftype_name", &FTYPE_NAMES)? as u8;
    let content = given.need_octets("content")?;

    let packet = || -> Result<Vec<u8>, packet::Error> {
        let header = Header::new(prio, tt, ftype)?.with_channel(vc, crf).with_ack_id(ack_id)?;
        let mut body = vec![0; 2];
        header.emit(&mut body)?;
        body.extend(content);
        seal(&body)
    };
    let sealed = packet().map_err(|error| CodecError::new("/content", error.to_string()))?;
    // Not `body_bytes`: here the length is known, even if the CRC is zero.
    let fields = packet_fields(&sealed, content.len() + 2)?;
    Ok((sealed, fields))
}
