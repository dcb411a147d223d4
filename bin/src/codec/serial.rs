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
use super::form::{self, Fields, Form, Given, Key, Made, Shape, after, keys, octets_of};
use lp_serial::control_symbol::{Cause, Delimited, Delimiter, Error, Form as Size, PortStatus};
use lp_serial::field;
use lp_serial::packet::{
    self, FIRST_PART_BYTES, FTYPE_NAMES, Header, PACKET_MAX_BYTES, TT_NAMES, final_crc_at,
};
use lp_serial::{ControlSymbol, Stype0, Stype1};
use std::slice;

/// stype2 is written with at least so many digits: as many as a VoQ message has.
pub(super) const STYPE2_DIGITS: usize = 3;

/// The keys of a symbol, and those of its stype2 bits.
pub(super) fn symbol_keys(size: Size, stype2: Vec<Key>) -> Vec<Key> {
    let names = |code: u8, name: usize| Stype0::from_fields(code, 0, 0).names()[name];
    // Once each, in the order in which they are listed to readers.
    let meanings = |codes: [u8; 6], name| codes.map(|code| names(code, name));
    let stype0 = Key::code("stype0_name", (0..8).map(|code| names(code, 0))).rule("Part 6 Table 3-2");
    let param0 = Key::name("param0_means", meanings([0, 4, 5, 2, 3, 7], 1)).rule("Part 6 Table 3-2");
    let param1 = [
        Key::name("param1_means", meanings([0, 2, 6, 6, 3, 7], 2)).rule("Part 6 Table 3-2"),
        Key::name("cause_name", Cause::ALL.map(Cause::name).into_iter().chain(["reserved"]))
            .rule("Part 6 Table 3-3")
            .only("with stype0 2 (packet-not-accepted)"),
        Key::name("port_status_name", PortStatus::ALL.map(PortStatus::name).into_iter().chain(["reserved"]))
            .rule("Part 6 Table 3-8")
            .only("with stype0 6 (link-response)"),
    ];
    let stype1 = Key::name("stype1_name", Stype1::ALL.map(Stype1::name).into_iter().chain(["reserved"]));
    let mut keys = after(keys(&[size.fields()]), "stype0", [stype0]);
    let crc = keys.pop();
    keys.retain(|key| !key.is("stype2"));
    keys = after(keys, "param0", [param0]);
    keys = after(keys, "param1", param1);
    keys = after(keys, "cmd", [stype1.rule("Part 6 Table 3-7")]);
    keys.extend(stype2);
    keys.extend(crc.zip(size.fields().last()).map(|(crc, (_, bits, _))| {
        crc.rule(format!("CRC-{} of symbol bits 0 to {}", bits.len(), bits.start - 1))
    }));
    keys
}

/// The keys of the CRCs of a packet; the first exists `only` in long ones.
pub(super) fn crc_keys(only: &'static str) -> [Key; 2] {
    let [first, last] = &packet::CRC_FIELDS;
    [
        Key::of(first)
            .rule(format!("CRC-16 of the first {FIRST_PART_BYTES} octets, ackID taken as 0"))
            .only(only),
        Key::of(last).rule("CRC-16 of all before it, ackID taken as 0"),
    ]
}

/// The keys of the first bits of a packet.
pub(super) fn header_keys() -> Vec<Key> {
    let keys = after(
        keys(&[&packet::FIELDS]),
        "ftype",
        [Key::code("ftype_name", FTYPE_NAMES).rule("the name of ftype")],
    );
    after(keys, "tt", [Key::code("tt_name", TT_NAMES).rule("the name of tt")])
}

fn packet_keys() -> Vec<Key> {
    let channel = Key::number("virtual_channel", 8).rule("0 without VC, else 1 + 2 * prio + CRF");
    let mut keys = after(header_keys(), "prio", [channel]);
    keys.push(Key::half_words("content", packet::BODY_MAX_BYTES - packet::BODY_MIN_BYTES));
    keys.push(Key::number("body_bytes", packet::BODY_MAX_BYTES as u64).rule("2 more than content"));
    keys.extend(crc_keys("with more than 80 body_bytes"));
    keys.push(Key::number("padding_bytes", 2).rule("zeros, up to a multiple of 4 octets"));
    keys
}

/// The forms of this format.
pub(super) fn forms() -> Vec<Form> {
    let hint = "; a packet is written packet:HEX";
    let packet = Form {
        name: "packet",
        shape: Shape::Named,
        keys: packet_keys(),
        read: Box::new(|octets| packet_fields(octets, body_bytes(octets))),
        make: Box::new(make_packet),
    };
    let short = symbol_forms(Size::Short, symbol_keys(Size::Short, vec![]), hint, |_, _| {}, |_| Ok(0));
    let stype2 = Size::Long.fields().iter().find(|(name, ..)| *name == "stype2");
    let keys =
        symbol_keys(Size::Long, stype2.map(|row| Key::of(row).digits(STYPE2_DIGITS)).into_iter().collect());
    let long = symbol_forms(Size::Long, keys, hint, |_, _| {}, |given| Ok(given.need("stype2")? as u16));
    short.into_iter().chain(long).chain([packet]).collect()
}

/// The forms of a symbol, bare and delimited. `more` says what its stype2 bits mean, `stype2` what they are;
/// `hint` is for octets without a delimiter.
pub(super) fn symbol_forms(
    size: Size,
    keys: Vec<Key>,
    hint: &'static str,
    more: fn(&mut Fields, u16),
    stype2: fn(&Given<'_>) -> Result<u16, CodecError>,
) -> [Form; 2] {
    let [bare, delimited] = match size {
        Size::Short => ["short", "short delimited"],
        Size::Long => ["long", "long delimited"],
    };
    let fields = move |symbol: ControlSymbol| {
        let mut fields = symbol_fields(symbol);
        more(&mut fields, symbol.stype2());
        fields
    };
    let delimited_fields = move |Delimited { delimiter, symbol }| {
        let mut fields = fields(symbol);
        fields.name("delimiter", delimiter.name());
        fields
    };
    let delimiter = Key::name("delimiter", [Delimiter::Packet, Delimiter::Symbol].map(Delimiter::name));
    let delimited_keys = [delimiter].into_iter().chain(keys.clone()).collect();
    let bare = Form {
        name: bare,
        shape: Shape::Octets(size.octets()),
        keys,
        read: Box::new(move |octets| {
            ControlSymbol::parse(size, octets).map(fields).map_err(|error| explain(size, error))
        }),
        make: Box::new(move |given| {
            let symbol = symbol(given, size, stype2(given)?)?;
            Ok((octets(symbol), fields(symbol)))
        }),
    };
    let delimited = Form {
        name: delimited,
        shape: Shape::Octets(size.characters()),
        keys: delimited_keys,
        read: Box::new(move |octets| {
            Delimited::parse(size, octets).map(delimited_fields).map_err(|error| {
                let mut explained = explain(size, error);
                if matches!(error, Error::StartDelimiter { .. }) {
                    explained.problem += hint;
                }
                explained
            })
        }),
        make: Box::new(move |given| {
            let symbol = delimit(given, symbol(given, size, stype2(given)?)?)?;
            let mut wire = vec![0; size.characters()];
            symbol.emit(&mut wire).map_err(|error| explain(size, error))?;
            Ok((wire, delimited_fields(symbol)))
        }),
    };
    [bare, delimited]
}

fn explain(size: Size, error: Error) -> CodecError {
    match error {
        Error::Crc { expected, found } => {
            let (field, bits) =
                size.fields().last().map_or(("", 0..0), |(name, bits, _)| (*name, bits.clone()));
            let digits = 2 + bits.len().div_ceil(4);
            let mut problem =
                format!("{found:#0digits$x} found, but the other bits make it {expected:#0digits$x}");
            if u64::from(found) == !u64::from(expected) & field::max(&bits) {
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

fn symbol_fields(symbol: ControlSymbol) -> Fields {
    let mut fields = Fields::default();
    fields.read(&[symbol.form().fields()], &octets(symbol));
    let [_, means0, means1] = symbol.stype0().names();
    fields.name("param0_means", means0);
    fields.name("param1_means", means1);
    match symbol.stype0() {
        Stype0::PacketNotAccepted { cause, .. } => fields.name("cause_name", cause.name()),
        Stype0::LinkResponse { port_status, .. } => fields.name("port_status_name", port_status.name()),
        _ => {}
    }
    fields.name("stype1_name", symbol.stype1().name());
    fields
}

/// The symbol with the two functions that are given, and these stype2 bits.
fn symbol(given: &Given<'_>, size: Size, stype2: u16) -> Result<ControlSymbol, CodecError> {
    let (stype0, param0, param1) = (given.need("stype0")?, given.need("param0")?, given.need("param1")?);
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
    match Stype1::ALL.into_iter().find(|known| known.name() == name) {
        Some(function) => {
            let (stype1, cmd) = function.fields();
            Ok((stype1.into(), cmd.into()))
        }
        None => Err(given.missing(key, &format!("; stype1_name \"{name}\" does not tell which"))),
    }
}

/// The octets of a symbol, without delimiters.
fn octets(symbol: ControlSymbol) -> Vec<u8> {
    symbol.to_bits().to_be_bytes()[8 - symbol.form().octets()..].to_vec()
}

/// The symbol with the delimiter that is given.
fn delimit(given: &Given<'_>, symbol: ControlSymbol) -> Result<Delimited, CodecError> {
    // Whether some symbols are delimiters depends on what went before, so this is a field of its own.
    let hint = "; PD if the symbol delimits a packet";
    let name = given.need_text("delimiter", hint)?;
    let delimiter = if name == Delimiter::Packet.name() { Delimiter::Packet } else { Delimiter::Symbol };
    Ok(Delimited { delimiter, symbol })
}

fn packet_fields(octets: &[u8], body_bytes: usize) -> Result<Fields, CodecError> {
    packet::check(octets).map_err(|error| explain_packet(octets, body_bytes, error))?;
    let mut body = vec![0; body_bytes];
    packet::unseal(octets, body_bytes, &mut body)
        .map_err(|error| explain_packet(octets, body_bytes, error))?;
    let header = Header::parse(&body).map_err(|error| explain_packet(octets, body_bytes, error))?;

    let mut fields = Fields::default();
    fields.read(&[&packet::FIELDS], &body);
    fields.number("virtual_channel", header.virtual_channel());
    fields.octets("content", &body[packet::BODY_MIN_BYTES..]);
    fields.number("body_bytes", body_bytes as u64);
    put_crcs(&mut fields, octets, body_bytes);
    let padding = octets.len() - packet::CRC_BYTES - final_crc_at(body_bytes);
    fields.number("padding_bytes", padding as u64);
    Ok(fields)
}

/// The CRCs of a packet.
pub(super) fn put_crcs(fields: &mut Fields, octets: &[u8], body_bytes: usize) {
    let [first, last] = &packet::CRC_FIELDS;
    if body_bytes > FIRST_PART_BYTES {
        fields.read(&[slice::from_ref(first)], &octets[FIRST_PART_BYTES..]);
    }
    fields.read(&[slice::from_ref(last)], &octets[final_crc_at(body_bytes)..]);
}

/// Bytes of the body of a packet: with padding, if it can be. Only for lengths that packets have.
pub(super) fn body_bytes(packet: &[u8]) -> usize {
    let crcs = if packet.len() > packet::sealed_len(FIRST_PART_BYTES) { 2 } else { 1 };
    let longest = packet.len().saturating_sub(crcs * packet::CRC_BYTES);
    let padded = longest.saturating_sub(2);
    let fills = |body| body >= packet::BODY_MIN_BYTES && packet::sealed_len(body) == packet.len();
    if fills(padded) && (packet.ends_with(&[0, 0]) || !fills(longest)) { padded } else { longest }
}

fn half_word(octets: &[u8], at: usize) -> u16 {
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
            let at = final_crc_at(body_bytes);
            let mut body = octets[..at].to_vec();
            if body_bytes > FIRST_PART_BYTES {
                body.drain(FIRST_PART_BYTES..FIRST_PART_BYTES + packet::CRC_BYTES);
            }
            wrong_crc("crc16", at, &body)
        }
        packet::Error::Padding { body } => {
            let padding = &octets[final_crc_at(body) + packet::CRC_BYTES..];
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
    let mut body = vec![0; packet::BODY_MIN_BYTES];
    form::write(&[&packet::FIELDS], &mut body, |key| given.need(key))?;
    let content = given.need_octets("content")?;
    body.extend(content);
    let sealed = seal(&body).map_err(|error| CodecError::new("/content", error.to_string()))?;
    // Not `body_bytes`: here the length is known, even if the CRC is zero.
    let fields = packet_fields(&sealed, body.len())?;
    Ok((sealed, fields))
}
