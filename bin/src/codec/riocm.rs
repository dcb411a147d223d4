//! `riocm`: frames of the LINX RapidIO connection manager, version 2.

use super::CodecError;
use super::form::{Fields, Form, Given, Key, Made, Shape};
use linx_riocm::wire::{
    Address, Data, DataKind, FRAME_MAX_OCTETS, Frame, Kind, Message, Packet, RIO_FRAME_OCTETS, View,
};

/// Names by code; codes without a type have none.
const NAMES: [&str; 0x84] = {
    let mut names = [""; 0x84];
    let mut index = 0;
    while index < Kind::ALL.len() {
        names[Kind::ALL[index].code() as usize] = Kind::ALL[index].name();
        index += 1;
    }
    names
};

/// The names alone.
const TYPE_NAMES: [&str; Kind::ALL.len()] = {
    let mut names = [""; Kind::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = Kind::ALL[index].name();
        index += 1;
    }
    names
};

const CONNECTION: &str = "with type 0x81, 0x82 or 0x83";
const REQUEST_OR_RESET: &str = "with type 0x81 or 0x83";
const REQUEST: &str = "with type 0x81";
const ACK: &str = "with type 0x82";
const HEARTBEAT: &str = "with type 0x06";
const RESERVED: &str = "with type 0x06, 0x81 or 0x83";
const DATA: &str = "with type 0x01 to 0x05";
const DATA_OR_HEARTBEAT: &str = "with type 0x01 to 0x06";
const START: &str = "with type 0x01, 0x02 or 0x04";
const PATCH_START: &str = "with type 0x04";

const KEYS: [Key; 26] = [
    Key::hex("type", 2, 0xFF),
    Key::name("type_name", &TYPE_NAMES).rule("type"),
    Key::number("size", 0xFFFF).rule("octets of header, payload and surplus"),
    Key::number("dst_port", 0xFFFF),
    Key::number("sender", 0xFFFF),
    Key::number("src_port", 0xFFFF),
    Key::number("generation", 0xFF).only(CONNECTION),
    Key::number("mtu", 0xFFFF).only(REQUEST_OR_RESET),
    Key::number("hb_tmo", 0xFF).only(REQUEST),
    Key::number("mtu_ack", 0xFFFF).only(ACK),
    Key::number("hb_tmo_ack", 0xFF).only(ACK),
    Key::number("generation_ack", 0xFF).only(ACK),
    Key::number("my_cid", 0xFFFF).only(ACK),
    Key::number("msgid", 0xFF).only(DATA),
    Key::number("seqno", 0xFFFF).only(DATA),
    Key::number("dst_cid", 0xFFFF).only(DATA_OR_HEARTBEAT),
    Key::number("src", 0xFFFF_FFFF).only(START),
    Key::number("dst", 0xFFFF_FFFF).only(START),
    Key::number("payl_size", 0xFFFF_FFFF).only(START),
    Key::number("count_frag", 0xFFFF).only(PATCH_START),
    Key::number("count_patch", 0xFFFF).only(PATCH_START),
    Key::octets("payload", FRAME_MAX_OCTETS).only(DATA),
    Key::hex("pad", 2, 0xFF).only(HEARTBEAT),
    Key::hex("rsvd", 4, 0xFFFF).only(RESERVED),
    // Counted by size, and no part of the header or the message.
    Key::octets("surplus", FRAME_MAX_OCTETS),
    // Beyond size.
    Key::octets("padding", FRAME_MAX_OCTETS),
];

/// The one layout.
pub(super) const FORMS: [Form; 1] = [Form { name: "frame", shape: Shape::Named, keys: &[&KEYS], read, make }];

fn frame_error(error: linx_riocm::wire::Error) -> CodecError {
    CodecError::new("frame", error.to_string())
}

fn read(octets: &[u8]) -> Result<Fields, CodecError> {
    let frame = Frame::parse(octets).map_err(frame_error)?;
    let view = View::new(octets);
    let kind = frame.packet.kind();
    let end = RIO_FRAME_OCTETS + usize::from(view.size().unwrap_or_default());
    let mut fields = Fields::default();
    fields.number("type", kind.code());
    fields.name("type_name", kind.name());
    fields.number("size", view.size().unwrap_or_default());
    fields.number("dst_port", frame.address.dst_port);
    fields.number("sender", frame.address.sender);
    fields.number("src_port", frame.address.src_port);
    let mut message = |Message { src, dst, payl_size }| {
        fields.number("src", src);
        fields.number("dst", dst);
        fields.number("payl_size", payl_size);
    };
    match frame.packet {
        Packet::Request { generation, mtu, hb_tmo } => {
            fields.number("generation", generation);
            fields.number("mtu", mtu);
            fields.number("hb_tmo", hb_tmo);
            fields.number("rsvd", view.generation_ack().unwrap_or_default());
        }
        Packet::Ack { generation, mtu_ack, generation_ack, hb_tmo_ack, my_cid } => {
            fields.number("generation", generation);
            fields.number("mtu_ack", mtu_ack);
            fields.number("generation_ack", generation_ack);
            fields.number("hb_tmo_ack", hb_tmo_ack);
            fields.number("my_cid", my_cid);
        }
        Packet::Reset { generation } => {
            fields.number("generation", generation);
            fields.number("mtu", view.word().unwrap_or_default());
            fields.number("rsvd", view.dst_cid().unwrap_or_default());
        }
        Packet::Heartbeat { dst_cid } => {
            fields.number("dst_cid", dst_cid);
            fields.number("pad", view.tag().unwrap_or_default());
            fields.number("rsvd", view.word().unwrap_or_default());
        }
        Packet::Data(data) => {
            match data.kind {
                DataKind::Single(start) | DataKind::FragStart(start) => message(start),
                DataKind::PatchStart { message: start, count_frag, count_patch } => {
                    message(start);
                    fields.number("count_frag", count_frag);
                    fields.number("count_patch", count_patch);
                }
                DataKind::Frag | DataKind::Patch => {}
            }
            fields.number("msgid", data.msgid);
            fields.number("seqno", data.seqno);
            fields.number("dst_cid", data.dst_cid);
            fields.octets("payload", data.payload);
        }
    }
    for (key, octets) in [("surplus", &octets[frame.octets()..end]), ("padding", &octets[end..])] {
        if !octets.is_empty() {
            fields.octets(key, octets);
        }
    }
    Ok(fields)
}

fn make(given: &Given<'_>) -> Result<Made, CodecError> {
    let code = given.need_code("type", "type_name", &NAMES)?;
    let Some(kind) = Kind::from_code(code as u8) else {
        return Err(frame_error(linx_riocm::wire::Error::Type { found: code as u8 }));
    };
    let octet = |key| given.need(key).map(|value| value as u8);
    let half = |key| given.need(key).map(|value| value as u16);
    let word = |key| given.need(key).map(|value| value as u32);
    let address =
        Address { dst_port: half("dst_port")?, sender: half("sender")?, src_port: half("src_port")? };
    let payload = given.octets("payload").unwrap_or_default();
    let message = || -> Result<Message, CodecError> {
        Ok(Message { src: word("src")?, dst: word("dst")?, payl_size: word("payl_size")? })
    };
    let data = match kind {
        Kind::Single => Some(DataKind::Single(message()?)),
        Kind::FragStart => Some(DataKind::FragStart(message()?)),
        Kind::Frag => Some(DataKind::Frag),
        Kind::PatchStart => Some(DataKind::PatchStart {
            message: message()?,
            count_frag: half("count_frag")?,
            count_patch: half("count_patch")?,
        }),
        Kind::Patch => Some(DataKind::Patch),
        Kind::Heartbeat | Kind::Request | Kind::Ack | Kind::Reset => None,
    };
    let packet = match (kind, data) {
        (_, Some(kind)) => Packet::Data(Data {
            dst_cid: half("dst_cid")?,
            seqno: half("seqno")?,
            msgid: octet("msgid")?,
            kind,
            payload,
        }),
        (Kind::Request, _) => {
            Packet::Request { generation: octet("generation")?, mtu: half("mtu")?, hb_tmo: octet("hb_tmo")? }
        }
        (Kind::Ack, _) => Packet::Ack {
            generation: octet("generation")?,
            mtu_ack: half("mtu_ack")?,
            generation_ack: octet("generation_ack")?,
            hb_tmo_ack: octet("hb_tmo_ack")?,
            my_cid: half("my_cid")?,
        },
        (Kind::Reset, _) => Packet::Reset { generation: octet("generation")? },
        _ => Packet::Heartbeat { dst_cid: half("dst_cid")? },
    };
    let frame = Frame { address, packet };
    let surplus = given.octets("surplus").unwrap_or_default();
    let Ok(size) = u16::try_from(frame.octets() - RIO_FRAME_OCTETS + surplus.len()) else {
        return Err(CodecError::new("/payload", format!("a frame has at most {FRAME_MAX_OCTETS} octets")));
    };
    let mut octets = Vec::new();
    frame.emit(&mut octets);
    // What receivers ignore, where the sender would write zeros.
    octets[2..4].copy_from_slice(&size.to_be_bytes());
    let rsvd = given.get("rsvd").unwrap_or_default() as u16;
    match kind {
        Kind::Request => octets[10] = rsvd as u8,
        Kind::Reset => {
            let mtu = given.get("mtu").unwrap_or_default() as u16;
            octets[6..8].copy_from_slice(&mtu.to_be_bytes());
            octets[10..12].copy_from_slice(&rsvd.to_be_bytes());
        }
        Kind::Heartbeat => {
            octets[5] = given.get("pad").unwrap_or_default() as u8;
            octets[6..8].copy_from_slice(&rsvd.to_be_bytes());
        }
        _ => {}
    }
    octets.extend_from_slice(surplus);
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
