//! Scheduled Transfer: the Schedule Header, operations, and the frames of the lower layers.

use super::CodecError;
use super::form::{Fields, Form, Given, Key, Made, Shape, octets_of};
use scheduled_transfer::llp::{Medium, Ula, ethernet, fibre_channel, hippi_fp, hippi6400, lane};
use scheduled_transfer::wire::operation;
use scheduled_transfer::wire::{Flags, HEADER_BYTES, Header, OPTIONAL_PAYLOAD_BYTES};

/// Longest payload that is read: more than any medium but HIPPI and Fibre Channel carries.
const PAYLOAD_MAX: usize = 1 << 17;

const NAMES: [&str; 32] = {
    let mut names = [""; 32];
    let mut op = 0;
    while op < names.len() {
        names[op] = operation::name(op as u8);
        op += 1;
    }
    names
};

const HEADER: [Key; 22] = [
    Key::hex("op", 2, 0x1F),
    Key::name("op_name", &NAMES).rule("op"),
    Key::binary("f", 3),
    Key::number("t", 1),
    Key::number("i", 1),
    Key::number("s", 1),
    Key::number("o", 1),
    Key::number("l", 1),
    Key::number("r", 1),
    Key::number("d", 3),
    Key::hex("param", 4, 0xFFFF),
    Key::hex("d_port", 4, 0xFFFF),
    Key::hex("s_port", 4, 0xFFFF),
    Key::hex("d_key", 8, 0xFFFF_FFFF),
    Key::hex("cksum", 4, 0xFFFF),
    Key::hex("b_id", 4, 0xFFFF),
    Key::hex("bufx", 8, 0xFFFF_FFFF),
    Key::hex("offset", 8, 0xFFFF_FFFF),
    Key::hex("sync", 8, 0xFFFF_FFFF),
    Key::hex("b_num", 8, 0xFFFF_FFFF),
    Key::hex("d_id", 8, 0xFFFF_FFFF),
    Key::hex("s_id", 8, 0xFFFF_FFFF),
];
const PAYLOAD: [Key; 1] = [Key::octets("payload", PAYLOAD_MAX)];
const ADDRESSES: [Key; 2] =
    [Key::hex("d_ula", 12, 0xFFFF_FFFF_FFFF), Key::hex("s_ula", 12, 0xFFFF_FFFF_FFFF)];
const LECID: [Key; 1] = [Key::hex("lecid", 4, 0xFFFF)];
const ZERO_LENGTH: [Key; 1] = [Key::number("zero_length", 1)];
const ROUTING: [Key; 1] = [Key::octets("routing", 30)];

const FLAGS: [(&str, Flags); 6] = [
    ("t", Flags::SILENT),
    ("i", Flags::INTERRUPT),
    ("s", Flags::SEND_STATE),
    ("o", Flags::OUT_OF_ORDER),
    ("l", Flags::LAST),
    ("r", Flags::REJECT),
];

const PLAIN: &[&[Key]] = &[&ADDRESSES, &HEADER, &PAYLOAD];
const LANE: &[&[Key]] = &[&LECID, &ADDRESSES, &HEADER, &PAYLOAD];
const LANE_8023: &[&[Key]] = &[&LECID, &ADDRESSES, &ZERO_LENGTH, &HEADER, &PAYLOAD];
const RING: &[&[Key]] = &[&LECID, &ADDRESSES, &ROUTING, &HEADER, &PAYLOAD];

/// The form of a frame on medium number `M` of [`Medium::ALL`].
const fn frame<const M: usize>(name: &'static str, keys: &'static [&'static [Key]]) -> Form {
    Form { name, shape: Shape::Named, keys, read: read_frame::<M>, make: make_frame::<M> }
}

/// Every layout of the format.
pub(super) const FORMS: [Form; 11] = [
    Form {
        name: "header",
        shape: Shape::Octets(HEADER_BYTES),
        keys: &[&HEADER],
        read: read_header,
        make: make_header,
    },
    Form {
        name: "control",
        shape: Shape::Octets(HEADER_BYTES + OPTIONAL_PAYLOAD_BYTES),
        keys: &[&HEADER, &PAYLOAD],
        read: read_operation,
        make: make_operation,
    },
    Form {
        name: "operation",
        shape: Shape::Named,
        keys: &[&HEADER, &PAYLOAD],
        read: read_operation,
        make: make_operation,
    },
    frame::<0>("hippi 6400", PLAIN),
    frame::<1>("hippi fp", PLAIN),
    frame::<2>("ethernet", PLAIN),
    frame::<3>("lane 802.3", LANE_8023),
    frame::<4>("lane dix", LANE),
    frame::<5>("token ring 4", RING),
    frame::<6>("token ring 16", RING),
    frame::<7>("fibre channel", PLAIN),
];

fn short(octets: &[u8]) -> CodecError {
    CodecError::new("hex", format!("{} found; a Schedule Header has {HEADER_BYTES}", octets_of(octets.len())))
}

fn header_fields(fields: &mut Fields, header: &Header) {
    fields.number("op", header.op);
    fields.name("op_name", NAMES[usize::from(header.op)]);
    fields.number("f", header.flags.function());
    for (key, flag) in FLAGS {
        fields.number(key, u8::from(header.flags.has(flag)));
    }
    fields.number("d", header.flags.channel());
    for (key, value) in [
        ("param", header.param.into()),
        ("d_port", header.d_port.into()),
        ("s_port", header.s_port.into()),
        ("d_key", header.d_key),
        ("cksum", header.cksum.into()),
        ("b_id", header.b_id.into()),
        ("bufx", header.bufx),
        ("offset", header.offset),
        ("sync", header.sync),
        ("b_num", header.b_num),
        ("d_id", header.d_id),
        ("s_id", header.s_id),
    ] {
        fields.number(key, value);
    }
}

fn read_header(octets: &[u8]) -> Result<Fields, CodecError> {
    let (header, _) = Header::parse(octets).map_err(|_| short(octets))?;
    let mut fields = Fields::default();
    header_fields(&mut fields, &header);
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
fn given_header(given: &Given<'_>) -> Result<Header, CodecError> {
    let op = given.need_code("op", "op_name", &NAMES)?;
    let mut flags = Flags::NONE
        .with_function(given.get("f").unwrap_or_default() as u8)
        .with_channel(given.get("d").unwrap_or_default() as u8);
    for (key, flag) in FLAGS {
        flags = flags.with_if(flag, given.get(key) == Some(1));
    }
    let half = |key| given.get(key).unwrap_or_default() as u16;
    let word = |key| given.get(key).unwrap_or_default() as u32;
    Ok(Header {
        op: op as u8,
        flags,
        param: half("param"),
        d_port: half("d_port"),
        s_port: half("s_port"),
        d_key: word("d_key"),
        cksum: half("cksum"),
        b_id: half("b_id"),
        bufx: word("bufx"),
        offset: word("offset"),
        sync: word("sync"),
        b_num: word("b_num"),
        d_id: word("d_id"),
        s_id: word("s_id"),
    })
}

fn make_header(given: &Given<'_>) -> Result<Made, CodecError> {
    let octets = given_header(given)?.to_bytes().to_vec();
    let fields = read_header(&octets)?;
    Ok((octets, fields))
}

fn operation_octets(given: &Given<'_>) -> Result<Vec<u8>, CodecError> {
    let mut octets = given_header(given)?.to_bytes().to_vec();
    octets.extend_from_slice(given.octets("payload").unwrap_or_default());
    Ok(octets)
}

fn make_operation(given: &Given<'_>) -> Result<Made, CodecError> {
    let octets = operation_octets(given)?;
    let fields = read_operation(&octets)?;
    Ok((octets, fields))
}

fn ula(value: u64) -> Ula {
    let [_, _, octets @ ..] = value.to_be_bytes();
    Ula(octets)
}

fn number(ula: Ula) -> u64 {
    ula.0.iter().fold(0, |value, &octet| value << 8 | u64::from(octet))
}

/// What a frame holds, whatever the medium.
struct Contents<'a> {
    d_ula: Ula,
    s_ula: Ula,
    operation: &'a [u8],
    lecid: u16,
    routing: &'a [u8],
    zero_length: bool,
}

type LlpError = scheduled_transfer::llp::Error;

fn parse(medium: Medium, octets: &[u8]) -> Result<Contents<'_>, LlpError> {
    let plain = |d_ula, s_ula, operation| Contents {
        d_ula,
        s_ula,
        operation,
        lecid: 0,
        routing: &[],
        zero_length: false,
    };
    Ok(match medium {
        Medium::Hippi6400 => {
            let hippi6400::Frame { d_ula, s_ula, operation } = hippi6400::Frame::parse(octets)?;
            plain(d_ula, s_ula, operation)
        }
        Medium::HippiFp => {
            let hippi_fp::Frame { d_ula, s_ula, operation } = hippi_fp::Frame::parse(octets)?;
            plain(d_ula, s_ula, operation)
        }
        Medium::Ethernet => {
            let ethernet::Frame { d_ula, s_ula, operation } = ethernet::Frame::parse(octets)?;
            plain(d_ula, s_ula, operation)
        }
        Medium::FibreChannel => {
            let fibre_channel::Frame { d_ula, s_ula, operation } = fibre_channel::Frame::parse(octets)?;
            plain(d_ula, s_ula, operation)
        }
        _ => {
            let lane::Frame { lecid, d_ula, s_ula, operation, routing, zero_length } =
                lane::Frame::parse(medium, octets)?;
            Contents { d_ula, s_ula, operation, lecid, routing, zero_length }
        }
    })
}

fn emit(medium: Medium, contents: &Contents<'_>) -> Result<Vec<u8>, LlpError> {
    let &Contents { d_ula, s_ula, operation, lecid, routing, zero_length } = contents;
    let mut out = Vec::new();
    match medium {
        Medium::Hippi6400 => hippi6400::Frame { d_ula, s_ula, operation }.emit(&mut out)?,
        Medium::HippiFp => hippi_fp::Frame { d_ula, s_ula, operation }.emit(&mut out)?,
        Medium::Ethernet => ethernet::Frame { d_ula, s_ula, operation }.emit(&mut out)?,
        Medium::FibreChannel => fibre_channel::Frame { d_ula, s_ula, operation }.emit(&mut out)?,
        _ => lane::Frame { lecid, d_ula, s_ula, operation, routing, zero_length }.emit(medium, &mut out)?,
    }
    Ok(out)
}

fn read_frame<const M: usize>(octets: &[u8]) -> Result<Fields, CodecError> {
    let medium = Medium::ALL[M];
    let wrong = |error: LlpError| CodecError::new("frame", error.to_string());
    let contents = parse(medium, octets).map_err(wrong)?;
    // A receiver ignores padding and reserved bits; but then the JSON would not be all of the frame.
    if emit(medium, &contents).map_err(wrong)? != octets {
        let problem = "padding and reserved bits are not those that are sent; allowed: zeros, and no more \
                       of them than the medium needs";
        return Err(CodecError::new("frame", problem));
    }
    let mut fields = read_operation(contents.operation)?;
    fields.number("d_ula", number(contents.d_ula));
    fields.number("s_ula", number(contents.s_ula));
    match medium {
        Medium::Lane8023 => {
            fields.number("lecid", contents.lecid);
            fields.number("zero_length", u8::from(contents.zero_length));
        }
        Medium::LaneDix => fields.number("lecid", contents.lecid),
        Medium::TokenRing4 | Medium::TokenRing16 => {
            fields.number("lecid", contents.lecid);
            fields.octets("routing", contents.routing);
        }
        _ => {}
    }
    Ok(fields)
}

fn make_frame<const M: usize>(given: &Given<'_>) -> Result<Made, CodecError> {
    let medium = Medium::ALL[M];
    let operation = operation_octets(given)?;
    let contents = Contents {
        d_ula: ula(given.need("d_ula")?),
        s_ula: ula(given.need("s_ula")?),
        operation: &operation,
        lecid: given.get("lecid").unwrap_or_default() as u16,
        routing: given.octets("routing").unwrap_or_default(),
        zero_length: given.get("zero_length") == Some(1),
    };
    let octets = emit(medium, &contents).map_err(|error| CodecError::new("frame", error.to_string()))?;
    let fields = read_frame::<M>(&octets)?;
    Ok((octets, fields))
}
