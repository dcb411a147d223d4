//! `riocm`: frames of the LINX RapidIO connection manager, version 2.

use super::CodecError;
use super::form::{Field, Fields, Form, Given, Key, Made, Shape, after, write};
use linx_riocm::wire::{
    Error, FRAME_MAX_OCTETS, Frame, Kind, PROTOCOL, PROTOCOL_FIELD, Packet, RIO_FRAME_OCTETS, View,
};
use lp_serial::field::put;

/// Fields in the order in which they are printed.
const ORDER: [&str; 22] = [
    "type",
    "size",
    "dst_port",
    "sender",
    "src_port",
    "generation",
    "mtu",
    "hb_tmo",
    "mtu_ack",
    "hb_tmo_ack",
    "generation_ack",
    "my_cid",
    "msgid",
    "seqno",
    "dst_cid",
    "src",
    "dst",
    "payl_size",
    "count_frag",
    "count_patch",
    "pad",
    "rsvd",
];

/// The field of this name that the type has.
fn row(kind: Kind, name: &str) -> Option<&'static Field> {
    kind.fields().iter().copied().flatten().chain(kind.ignored()).find(|row| row.0 == name)
}

/// `with type 0x01, 0x02 or 0x04`; many in a row are told by the first and the last.
fn with_types(has: impl Fn(Kind) -> bool) -> String {
    let codes: Vec<u8> = Kind::ALL.into_iter().filter(|&kind| has(kind)).map(Kind::code).collect();
    let shown: Vec<String> = codes.iter().map(|code| format!("{code:#04x}")).collect();
    match shown.as_slice() {
        [first, .., last] if codes.len() > 3 => format!("with type {first} to {last}"),
        [rest @ .., last] if !rest.is_empty() => format!("with type {} or {last}", rest.join(", ")),
        _ => format!("with type {}", shown.concat()),
    }
}

fn keys() -> Vec<Key> {
    let key = |name: &str| {
        // What is reserved has another width in each type.
        let rows = Kind::ALL.into_iter().filter_map(|kind| row(kind, name));
        let mut key = Key::of(rows.max_by_key(|row| row.1.len())?);
        if name == "size" {
            key = key.rule("octets of header, payload and surplus");
        }
        let everywhere = Kind::ALL.into_iter().all(|kind| row(kind, name).is_some());
        Some(if everywhere { key } else { key.only(with_types(|kind| row(kind, name).is_some())) })
    };
    let names = (0..=u8::MAX).map(|code| Kind::from_code(code).map_or("", Kind::name));
    let payload = Key::octets("payload", FRAME_MAX_OCTETS).only(with_types(Kind::is_data));
    let keys = after(ORDER.into_iter().filter_map(key).collect(), "count_patch", [payload]);
    let mut keys = after(keys, "type", [Key::code("type_name", names).rule("type")]);
    // Counted by size, and no part of the header or the message.
    keys.push(Key::octets("surplus", FRAME_MAX_OCTETS));
    // Beyond size.
    keys.push(Key::octets("padding", FRAME_MAX_OCTETS));
    keys
}

/// The one layout.
pub(super) fn forms() -> Vec<Form> {
    let (read, make) = (Box::new(read), Box::new(make));
    vec![Form { name: "frame", shape: Shape::Named, keys: keys(), read, make }]
}

fn frame_error(error: Error) -> CodecError {
    CodecError::new("frame", error.to_string())
}

fn read(octets: &[u8]) -> Result<Fields, CodecError> {
    let frame = Frame::parse(octets).map_err(frame_error)?;
    let kind = frame.packet.kind();
    let end = RIO_FRAME_OCTETS + usize::from(View::new(octets).size().unwrap_or_default());
    let mut fields = Fields::default();
    for table in kind.fields().iter().copied().chain([kind.ignored()]) {
        fields.read(&[table], octets);
    }
    if let Packet::Data(data) = frame.packet {
        fields.octets("payload", data.payload);
    }
    for (key, octets) in [("surplus", &octets[frame.octets()..end]), ("padding", &octets[end..])] {
        if !octets.is_empty() {
            fields.octets(key, octets);
        }
    }
    Ok(fields)
}

fn make(given: &Given<'_>) -> Result<Made, CodecError> {
    let code = given.need("type")?;
    let Some(kind) = Kind::from_code(code as u8) else {
        return Err(frame_error(Error::Type { found: code as u8 }));
    };
    let mut octets = vec![0; kind.header_octets()];
    put(&mut octets, &PROTOCOL_FIELD.1, PROTOCOL.into());
    for table in kind.fields() {
        write(&[table], &mut octets, |key| match key {
            "type" => Ok(code),
            // It counts what is not there yet.
            "size" => Ok(0),
            _ => given.need(key),
        })?;
    }
    write(&[kind.ignored()], &mut octets, |key| Ok(given.get(key).unwrap_or_default()))?;
    if kind.is_data() {
        octets.extend_from_slice(given.octets("payload").unwrap_or_default());
    }
    octets.extend_from_slice(given.octets("surplus").unwrap_or_default());
    let Ok(size) = u16::try_from(octets.len() - RIO_FRAME_OCTETS) else {
        return Err(CodecError::new("/payload", format!("a frame has at most {FRAME_MAX_OCTETS} octets")));
    };
    if let Some((_, bits, _)) = row(kind, "size") {
        put(&mut octets, bits, size.into());
    }
    octets.extend_from_slice(given.octets("padding").unwrap_or_default());
    let fields = read(&octets)?;
    Ok((octets, fields))
}

#[cfg(test)]
mod tests {
    use crate::codec::{decode, encode};
    use proptest::prelude::*;
    use serde_json::Value;

    /// Every type, and one with all that receivers ignore.
    const FRAMES: [(&str, &str, &str, u64); 12] = [
        ("22cf000c810101000002000500010001", "RIO_CONN_REQ", "mtu", 256),
        ("22cf000e824200800001010a000200020022", "RIO_CONN_ACK", "my_cid", 34),
        ("22cf0010824200800001010a0002000200220000", "RIO_CONN_ACK", "hb_tmo_ack", 10),
        ("22cf000c830100800002beef00010001", "RIO_CONN_RESET", "mtu", 128),
        ("22cf000c065a12340002002200010001", "RIO_HEARTBEAT", "dst_cid", 34),
        ("22cf00200109001300020022000100010000000500000009000000050001020304eeeeee", "RIO_SINGLE", "src", 5),
        ("22cf0018010200010002002200010001000000050000000900000000", "RIO_SINGLE", "payl_size", 0),
        (
            "22cf00200101000000020022000100010000000500000009000000080001020304050607 00000000",
            "RIO_SINGLE",
            "size",
            32,
        ),
        ("22cf001902040003000200220001000100000005000000090000006400", "RIO_FRAG_START", "payl_size", 100),
        ("22cf000d030500070002002200010001c4", "RIO_FRAG", "seqno", 7),
        (
            "22cf001d0406000800020022000100010000000500000009000000960002000220",
            "RIO_PATCH_START",
            "count_patch",
            2,
        ),
        ("22cf00140507001000020022000100018081828384858687", "RIO_PATCH", "msgid", 7),
    ];

    #[test]
    fn every_type_both_ways() {
        for (hex, name, key, value) in FRAMES {
            let json = decode("riocm", hex).unwrap();
            let fields: Value = serde_json::from_str(&json).unwrap();
            assert_eq!(fields["type_name"], name);
            assert_eq!(fields[key], value, "{json}");
            assert_eq!(encode("riocm", &json).unwrap(), hex.replace(' ', ""));
        }
    }

    #[test]
    fn what_follows_may_be_left_out_but_not_be_wrong() {
        let json = decode("riocm", FRAMES[9].0).unwrap();
        let mut fields: Value = serde_json::from_str(&json).unwrap();
        let object = fields.as_object_mut().unwrap();
        object.remove("type");
        object.remove("size");
        assert_eq!(encode("riocm", &fields.to_string()).unwrap(), FRAMES[9].0);
        fields["size"] = 12.into();
        assert_eq!(
            encode("riocm", &fields.to_string()).unwrap_err().to_string(),
            "/size: 12 found, but the other fields make it 13 (octets of header, payload and surplus)"
        );
        fields.as_object_mut().unwrap().remove("size");
        fields["my_cid"] = 1.into();
        assert_eq!(
            encode("riocm", &fields.to_string()).unwrap_err().to_string(),
            "/my_cid: out of place; allowed only with type 0x82"
        );
    }

    #[test]
    fn a_frame_that_breaks_a_rule_is_refused() {
        for (hex, error) in [
            ("8911000c810101000002000500010001", "frame: protocol: 0x22cf, 0x8911 found"),
            ("22cf000c070100000002002200010001", "frame: type: 0x01 to 0x06 or 0x81 to 0x83, 0x07 found"),
            ("22cf00", "frame: rio_frame: 4 octets, 3 found"),
        ] {
            assert_eq!(decode("riocm", hex).unwrap_err().to_string(), error);
        }
    }

    proptest! {
        #[test]
        fn encode_undoes_decode(
            frame in 0..FRAMES.len(),
            changes in prop::collection::vec((4..40_usize, any::<u8>()), 0..4),
            more in prop::collection::vec(any::<u8>(), 0..9),
        ) {
            let hex = FRAMES[frame].0.replace(' ', "");
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            let mut octets: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
            octets.extend(more);
            for (at, octet) in changes {
                if let Some(place) = octets.get_mut(at) {
                    *place = octet;
                }
            }
            let hex: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
            if let Ok(json) = decode("riocm", &hex) {
                prop_assert_eq!(encode("riocm", &json).unwrap(), hex);
            }
        }
    }
}
