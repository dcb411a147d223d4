//! Golden vectors both ways, every message, and the laws of the two verbs.

use super::{decode, encode, formats};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Symbols (T) and damaged symbols (N), one object per line.
const VECTORS: &str = include_str!("vectors.jsonl");

/// Operations and frames of Scheduled Transfer, the vectors of its crate.
const ST_OPERATIONS: &str =
    include_str!("../../../protocols/scheduled-transfer/tests/suite/golden/operations.txt");
const ST_FRAMES: &str = include_str!("../../../protocols/scheduled-transfer/tests/suite/golden/frames.txt");

fn vectors(kind: &str) -> Vec<Map<String, Value>> {
    let rows: Vec<Map<String, Value>> =
        VECTORS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    rows.into_iter().filter(|row| row["id"].as_str().unwrap().starts_with(kind)).collect()
}

fn text<'a>(row: &'a Map<String, Value>, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap()
}

fn encoded(format: &str, object: &Map<String, Value>) -> Result<String, String> {
    encode(format, &Value::from(object.clone()).to_string()).map_err(|error| error.to_string())
}

/// Decodes, encodes, and gives the fields if that led back.
fn round_trip(format: &str, input: &str, canonical: &str) -> Map<String, Value> {
    let json = decode(format, input).unwrap();
    assert_eq!(encode(format, &json).as_deref(), Ok(canonical), "{format} {input}: {json}");
    object(&json)
}

/// The fields of a vector without what is no field.
fn fields_of(row: &Map<String, Value>) -> Map<String, Value> {
    let notes = ["id", "desc", "hex", "wire", "expect"];
    row.iter()
        .filter(|(key, _)| !notes.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn with(object: &Map<String, Value>, key: &str, value: impl Into<Value>) -> Map<String, Value> {
    let mut object = object.clone();
    object.insert(key.into(), value.into());
    object
}

fn without(object: &Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    let mut object = object.clone();
    object.retain(|key, _| !keys.contains(&key.as_str()));
    object
}

#[test]
fn st_vectors_both_ways() {
    let digits = |words: &str| words.split_whitespace().collect::<String>();
    let rows: Vec<Vec<&str>> =
        ST_OPERATIONS.lines().skip(1).map(|row| row.split('|').map(str::trim).collect()).collect();
    assert_eq!(rows.len(), 55);
    for row in rows {
        let (header, payload) = (digits(row[2]), digits(row[3]));
        let fields = round_trip("st", &header, &header);
        for key in ["param", "bufx", "sync", "s_id"] {
            let value = row[1].split(' ').find_map(|word| word.strip_prefix(&format!("{key}="))).unwrap();
            assert_eq!(fields[key].as_str().unwrap(), format!("0x{}", value.to_lowercase()), "{}", row[0]);
        }
        let whole = header + &payload;
        let fields = round_trip("st", &format!("operation:{whole}"), &whole);
        assert_eq!(fields["payload"], payload.as_str());
        // What follows from others, and what is 0, may be left out.
        let lean: Map<String, Value> = fields
            .into_iter()
            .filter(|(key, value)| {
                let zero = value.as_u64() == Some(0)
                    || value
                        .as_str()
                        .is_some_and(|text| text.trim_start_matches("0x").chars().all(|c| c == '0'));
                key == "op" || !(zero || key == "op_name")
            })
            .collect();
        assert_eq!(encoded("st", &lean).as_deref(), Ok(whole.as_str()), "{}", row[0]);
    }
    let forms = [
        ("hippi-6400", 2),
        ("hippi-fp", 2),
        ("ethernet", 2),
        ("lane-802.3", 2),
        ("lane-dix", 1),
        ("token-ring-4", 1),
        ("token-ring-16", 1),
        ("fibre-channel", 1),
    ];
    let names = forms.into_iter().flat_map(|(name, count)| std::iter::repeat_n(name, count));
    let frames: Vec<String> =
        ST_FRAMES.lines().skip(1).map(|row| digits(row.split_once('|').unwrap().1)).collect();
    assert_eq!(frames.len(), 12);
    for (name, frame) in names.zip(frames) {
        let fields = round_trip("st", &format!("{name}:{frame}"), &frame);
        assert_eq!(fields["d_ula"], "0x0a001e000002", "{name}");
        assert_eq!(fields["s_ula"], "0x0a001e000001", "{name}");
        let cut = &frame[..frame.len() - 2];
        // A Fibre Channel Sequence ends where it ends; all others have a length field.
        let ends_anywhere = name == "fibre-channel";
        assert_eq!(decode("st", &format!("{name}:{cut}")).is_ok(), ends_anywhere, "{name} cut short");
    }
}

#[test]
fn voq_vectors_both_ways() {
    let rows = vectors("VOQ-T");
    assert_eq!(rows.len(), 31);
    for row in &rows {
        let fields = fields_of(row);
        for (form, hex) in [("long", text(row, "hex")), ("long delimited", text(row, "wire"))] {
            let found = round_trip("voq", hex, hex);
            assert_eq!(found["form"], form);
            for (key, value) in &fields {
                assert_eq!(found[key], *value, "{} {key}", row["id"]);
            }
            // The vector itself is JSON for `encode`, once it names its form; the derived fields may go.
            let mut given = with(&fields, "form", form);
            if form == "long delimited" {
                given.insert("delimiter".into(), found["delimiter"].clone());
            }
            assert_eq!(encoded("voq", &given).as_deref(), Ok(hex));
            let lean = without(&given, &["crc13", "status", "group", "congested"]);
            assert_eq!(encoded("voq", &lean).as_deref(), Ok(hex));
            if fields.contains_key("status") {
                for derived in [&["s2_param"][..], &["s2_param", "congested"], &["s2_param", "status"]] {
                    assert_eq!(encoded("voq", &without(&given, derived)).as_deref(), Ok(hex));
                }
            }
        }
    }
}

#[test]
fn voq_vectors_as_lp_serial_symbols() {
    for row in vectors("VOQ-T") {
        let parameter = u64::from_str_radix(&text(&row, "s2_param")[2..], 16).unwrap();
        let stype2 = row["s2_cmd"].as_u64().unwrap() << 11 | parameter;
        for key in ["hex", "wire"] {
            let found = round_trip("lp-serial", text(&row, key), text(&row, key));
            assert_eq!(found["stype2"], format!("0x{stype2:03x}"));
            for key in ["stype0", "param0", "param1", "stype1", "cmd", "crc13"] {
                assert_eq!(found[key], row[key], "{}", row["id"]);
            }
        }
    }
}

#[test]
fn damaged_vectors_are_refused() {
    let expected = [
        "crc13: 0x1863 found, but the other bits make it 0x1862",
        "crc13: 0x1862 found, but the other bits make it 0x13e9",
        "hex: 5 octets fit no form; allowed: 6 (long), 8 (long delimited), a number of up to 14 bits with 0x \
         in front (stype2)",
        "crc13: 0x079d found, but the other bits make it 0x1862; what was found is the complement, and Part \
         6 sends the CRC as it is",
        "delimiter: 0x7c found at the end; allowed: the one in front again, 0x1c",
        "crc13: 0x1862 found, but the other bits make it 0x1cf6",
    ];
    let rows = vectors("VOQ-N");
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(expected) {
        assert_eq!(decode("voq", text(row, "hex")).unwrap_err().to_string(), expected, "{}", row["id"]);
    }
}

#[test]
fn every_stype2_field_both_ways() {
    for (status, group, field) in [
        ("0b000000", 0, "0x800"),
        ("0b000001", 0, "0x820"),
        ("0b100000", 0, "0xc00"),
        ("0b111111", 0, "0xfe0"),
        ("0b000001", 1, "0x821"),
        ("0b010110", 0, "0xac0"),
        ("0b101010", 15, "0xd4f"),
        ("0b100000", 31, "0xc1f"),
        ("0b111111", 31, "0xfff"),
    ] {
        let found = round_trip("voq", field, field);
        assert_eq!((&found["status"], &found["group"]), (&json!(status), &json!(group)));
    }
    for field in 0..0x4000 {
        let canonical = format!("0x{field:03x}");
        round_trip("voq", &canonical, &canonical);
        round_trip("voq", &format!("stype2: {field:04X}"), &canonical);
    }
}

#[test]
fn lp_serial_symbols_both_ways() {
    for (hex, fields) in [
        ("80ff0f", [4, 0, 31, 7, 0]),
        ("053811", [0, 5, 7, 0, 0]),
        ("80fc87", [4, 0, 31, 4, 4]),
        ("23ff11", [1, 3, 31, 7, 0]),
        ("807fc0000a35", [4, 0, 63, 7, 0]),
        ("028e0000028e", [0, 5, 7, 0, 0]),
        ("a189c00009e1", [5, 3, 4, 7, 0]),
    ] {
        let form = if hex.len() == 6 { "short" } else { "long" };
        let end = |delimiter| if form == "long" { delimiter } else { "" };
        let forms = [
            (String::from(hex), String::from(form), None),
            (format!("1c{hex}{}", end("1c")), format!("{form} delimited"), Some("SC")),
            (format!("7c{hex}{}", end("7c")), format!("{form} delimited"), Some("PD")),
        ];
        for (hex, form, delimiter) in forms {
            let found = round_trip("lp-serial", &hex, &hex);
            assert_eq!(found["form"], form);
            assert_eq!(found.get("delimiter").and_then(Value::as_str), delimiter);
            for (key, value) in ["stype0", "param0", "param1", "stype1", "cmd"].into_iter().zip(fields) {
                assert_eq!(found[key], value, "{hex} {key}");
            }
            // Named, in each spelling.
            for name in [form.clone(), form.replace(' ', "-"), form.replace(' ', "_")] {
                assert_eq!(round_trip("lp-serial", &format!("{name}:{hex}"), &hex), found);
            }
        }
    }
}

#[test]
fn json_is_pretty_and_in_the_order_of_the_bits() {
    let expected = r#"{
  "form": "long delimited",
  "delimiter": "SC",
  "stype0": 2,
  "stype0_name": "packet-not-accepted",
  "param0": 0,
  "param0_means": "arbitrary",
  "param1": 4,
  "param1_means": "cause",
  "cause_name": "packet-CRC",
  "stype1": 4,
  "cmd": 4,
  "stype1_name": "link-request/input-status",
  "s2_cmd": 1,
  "s2_cmd_name": "VoQ backpressure",
  "s2_param": "0x604",
  "status": "0b110000",
  "group": 4,
  "congested": [28, 29],
  "crc13": "0x1139"
}"#;
    assert_eq!(decode("voq", "1C 400921C09139 1C").as_deref(), Ok(expected));
}

#[test]
fn packet_framing_both_ways() {
    let doorbell = "000a01020003abcd53660000";
    let expected = r#"{
  "form": "packet",
  "ackID": 0,
  "VC": 0,
  "CRF": 0,
  "prio": 0,
  "virtual_channel": 0,
  "tt": 0,
  "tt_name": "Dev8",
  "ftype": 10,
  "ftype_name": "doorbell",
  "content": "01020003abcd",
  "body_bytes": 8,
  "crc16": "0x5366",
  "padding_bytes": 2
}"#;
    assert_eq!(decode("lp-serial", &format!("packet:{doorbell}")).as_deref(), Ok(expected));
    let found = round_trip("lp-serial", &format!("packet:{doorbell}"), doorbell);
    // The ackID is in no CRC.
    let renumbered = with(&found, "ackID", 63);
    assert_eq!(encoded("lp-serial", &renumbered).as_deref(), Ok("fc0a01020003abcd53660000"));
    let lean = without(&found, &["virtual_channel", "tt", "ftype", "body_bytes", "crc16", "padding_bytes"]);
    assert_eq!(encoded("lp-serial", &lean).as_deref(), Ok(doorbell));
    let spread = with(&lean, "content", "0x01 0x02 00_03 ABCD");
    assert_eq!(encoded("lp-serial", &spread).as_deref(), Ok(doorbell));
}

#[test]
fn packet_vectors_both_ways() {
    let rows = vectors("PKT");
    assert_eq!(rows.len(), 25);
    let mut forms = std::collections::BTreeSet::new();
    for row in &rows {
        let (hex, fields) = (text(row, "hex"), fields_of(row));
        let found = round_trip("packet", hex, hex);
        for (key, value) in &fields {
            assert_eq!(found[key], *value, "{} {key}", row["id"]);
        }
        // The vector itself is JSON for `encode`.
        assert_eq!(encoded("packet", &fields).as_deref(), Ok(hex));
        let form = text(row, "form");
        assert_eq!(round_trip("packet", &format!("{}:{hex}", form.replace(' ', "-")), hex), found);
        forms.insert(form);
    }
    assert_eq!(forms.len(), 14, "every form has a vector");
}

/// A body that ends with its own CRC has a CRC of zero, which `decode` takes for padding.
#[test]
fn a_packet_whose_crc_is_zero_can_be_encoded() {
    let doorbell = "000a01020003abcd53660000";
    let found = object(&decode("lp-serial", &format!("packet:{doorbell}")).unwrap());
    let longer = with(&with(&found, "content", "01020003abcd5366"), "body_bytes", 10);
    let longer = with(&with(&longer, "crc16", "0x0000"), "padding_bytes", 0);
    assert_eq!(encoded("lp-serial", &longer).as_deref(), Ok(doorbell));
}

#[test]
fn names_do_instead_of_numbers() {
    let symbol = r#"{"form": "long", "stype0_name": "packet-accepted", "param0": "0b000101", "param1": "0xC",
        "stype1_name": "start-of-packet", "s2_cmd_name": "VoQ backpressure", "congested": [2]}"#;
    assert_eq!(encode("voq", symbol).as_deref(), Ok("029801101c97"));
    // Order of keys and of ports does not matter.
    let message = r#"{"congested": [11, 6, 9], "s2_cmd": 1, "form": "stype2"}"#;
    assert_eq!(encode("voq", message).as_deref(), Ok("0xd21"));
}

#[test]
fn the_formats_are_named() {
    assert_eq!(formats(), ["lp-serial", "packet", "riocm", "smp", "st", "voq"]);
}

/// A field that is changed alone is found out, or is no derived field and changes the octets.
#[test]
fn no_given_field_is_ignored() {
    let inputs = [
        ("voq", "1c803fc10418621c"),
        ("voq", "c8a1c104e549"),
        ("voq", "0x2021"),
        ("lp-serial", "400921c09139"),
        ("lp-serial", "1c80ff0f"),
        ("lp-serial", "packet:000a01020003abcd53660000"),
    ];
    let packets = vectors("PKT");
    let inputs = inputs.into_iter().chain(packets.iter().map(|row| ("packet", text(row, "hex"))));
    for (format, hex) in inputs {
        let canonical = hex.rsplit(':').next().unwrap();
        let fields = round_trip(format, hex, canonical);
        for (key, value) in fields.iter().filter(|(key, _)| *key != "form") {
            let others: Vec<Value> = match value {
                Value::Number(number) if number.as_u64() == Some(0) => vec![1.into()],
                Value::Number(number) => vec![(number.as_u64().unwrap() - 1).into()],
                Value::Array(_) => vec![json!([]), json!([1]), json!([0, 1])],
                Value::String(text) if text.starts_with("0x") => vec!["0x01".into(), "0x02".into()],
                Value::String(text) if text.starts_with("0b") => vec!["0b10".into()],
                _ => vec!["reserved".into(), "SC".into(), "PD".into(), "0102".into()],
            };
            for other in others.iter().filter(|other| *other != value) {
                let result = encoded(format, &with(&fields, key, other.clone()));
                assert_ne!(result.as_deref(), Ok(canonical), "{format} {hex}: {key} {other}");
            }
            // Left out, it is computed or missed.
            match encoded(format, &without(&fields, &[key])) {
                Ok(found) => assert_eq!(found, canonical, "{format} {hex}: {key}"),
                Err(error) => assert!(error.starts_with(&format!("/{key}: missing; ")), "{error}"),
            }
        }
    }
}

proptest! {
    #[test]
    fn encode_undoes_decode_for_symbols(
        raw in any::<[u8; 5]>(), bits in 0u16..0x4000, packet_delimiter in any::<bool>(),
        long in any::<bool>(),
    ) {
        let (form, max) =
            if long { (lp_serial::Form::Long, 63) } else { (lp_serial::Form::Short, 31) };
        let [stype0, param0, param1, stype1, cmd] = raw;
        let fields = [stype0 & 7, param0 & max, param1 & max, stype1 & 7, cmd & 7];
        let stype2 = if long { bits } else { 0 };
        let symbol = lp_serial::ControlSymbol::from_fields(form, fields, stype2).unwrap();
        let mut octets = vec![0; form.octets()];
        symbol.emit(&mut octets).unwrap();
        let hex = super::hex::print(&octets);
        let delimiter = if packet_delimiter { "7c" } else { "1c" };
        let wire = format!("{delimiter}{hex}{}", if long { delimiter } else { "" });
        for hex in [&hex, &wire] {
            round_trip("lp-serial", hex, hex);
            round_trip("lp-serial", &hex.to_uppercase(), hex);
            if long {
                round_trip("voq", hex, hex);
            }
        }
    }

    #[test]
    fn encode_undoes_decode_for_damaged_packet_vectors(
        row in 0usize..25, changes in proptest::collection::vec((0usize..20, any::<u8>()), 1..4),
    ) {
        // New CRCs behind some other octets: what is accepted leads back.
        let hex = vectors("PKT")[row]["hex"].as_str().unwrap().to_string();
        let fields = object(&decode("packet", &hex).unwrap());
        let mut body: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let crc = u16::from_str_radix(&text(&fields, "crc16")[2..], 16).unwrap().to_be_bytes();
        let end = body.windows(2).rposition(|pair| pair == crc).unwrap();
        body.truncate(end);
        if fields.contains_key("crc16_first") {
            body.drain(80..82);
        }
        for (at, value) in changes {
            if let Some(octet) = body.get_mut(at) {
                *octet = value;
            }
        }
        let mut packet = vec![0; lp_serial::packet::sealed_len(body.len())];
        lp_serial::packet::seal(&body, &mut packet).unwrap();
        let hex = super::hex::print(&packet);
        match decode("packet", &hex) {
            Ok(json) => prop_assert_eq!(encode("packet", &json), Ok(hex)),
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }

    #[test]
    fn encode_undoes_decode_for_packets(halves in proptest::collection::vec(any::<[u8; 2]>(), 1..=138)) {
        let body = halves.concat();
        let mut packet = vec![0; lp_serial::packet::sealed_len(body.len())];
        lp_serial::packet::seal(&body, &mut packet).unwrap();
        let hex = super::hex::print(&packet);
        let fields = round_trip("lp-serial", &format!("packet:{hex}"), &hex);
        // A CRC of zero is read as padding, see the module.
        if !packet.ends_with(&[0, 0]) {
            prop_assert_eq!(&fields["content"], &super::hex::print(&body[2..]));
            prop_assert_eq!(&fields["body_bytes"], &body.len());
        }
    }

    #[test]
    fn every_accepted_input_leads_back(octets in proptest::collection::vec(any::<u8>(), 0..12)) {
        let hex = super::hex::print(&octets);
        for format in formats() {
            for prefix in ["", "0x", "packet:", "short:", "stype2:"] {
                if let Ok(json) = decode(format, &format!("{prefix}{hex}")) {
                    let back = encode(format, &json).unwrap();
                    let canonical = match json.contains("\"stype2\",") {
                        true => format!("0x{:03x}", u64::from_str_radix(&hex, 16).unwrap()),
                        false => hex.clone(),
                    };
                    prop_assert_eq!(back, canonical);
                }
            }
        }
    }

    #[test]
    fn any_text_is_answered_in_one_line(
        text in any::<String>(), key in any::<String>(), value in any::<i64>(),
    ) {
        for format in formats() {
            for input in [text.clone(), format!("packet:{text}"), format!("0x{text}")] {
                if let Err(error) = decode(format, &input) {
                    prop_assert!(!error.to_string().contains('\n'));
                }
            }
            for form in ["short", "long", "packet", "stype2", &text] {
                let given = json!({"form": form, key.as_str(): value, "content": text.as_str()}).to_string();
                if let Err(error) = encode(format, &given) {
                    prop_assert!(!error.to_string().contains('\n'));
                }
            }
            let _ = encode(format, &text);
        }
    }
}

#[test]
fn messages_word_for_word() {
    let mut parts = Vec::new();
    let mut lines = include_str!("messages.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    while let Some(line) = lines.next() {
        if line.is_empty() {
            continue;
        }
        if line.starts_with('$') {
            parts.push(line.split_once(" = ").unwrap());
            continue;
        }
        let mut words = line.splitn(3, ' ');
        let (verb, format) = (words.next().unwrap(), words.next().unwrap());
        let input =
            parts.iter().fold(String::from(words.next().unwrap_or_default()), |input, (name, part)| {
                input.replace(name, part)
            });
        let result = if verb == "decode" { decode(format, &input) } else { encode(format, &input) };
        let expected = lines.next().unwrap().trim_start();
        assert_eq!(result.map_err(|error| error.to_string()), Err(expected.into()), "{line}");
        count += 1;
    }
    assert_eq!(count, 138);
}

#[test]
fn messages_about_long_packets() {
    let message = |octets: &[u8]| {
        decode("lp-serial", &format!("packet:{}", super::hex::print(octets))).unwrap_err().to_string()
    };
    assert_eq!(
        message(&[0; 284]),
        "hex: 284 octets found; allowed in a packet: a multiple of 4 from 4 to 280"
    );
    assert_eq!(message(&[0; 88]), "crc16_first: 0x0000 found, but the 80 octets before it make it 0x3de5");

    let body: Vec<u8> = (0..84).collect();
    let mut packet = [0; 88];
    lp_serial::packet::seal(&body, &mut packet).unwrap();
    let right = u16::from_be_bytes([packet[86], packet[87]]);
    packet[87] ^= 1;
    assert_eq!(
        message(&packet),
        format!("crc16: {:#06x} found, but the 86 octets before it make it {right:#06x}", right ^ 1)
    );

    // One CRC behind 82 octets: intact, but such a body has two.
    let crc = lp_serial::crc::crc16(lp_serial::crc::CRC16_INIT, &body[..82]);
    let packet = [&body[..82], &crc.to_be_bytes()].concat();
    assert_eq!(
        message(&packet),
        format!("padding: {crc:#06x} found behind the CRC of a body of 80 octets; allowed: zeros")
    );

    let content = format!(
        r#"{{"form": "packet", "ackID": 0, "VC": 0, "CRF": 0, "prio": 0, "tt": 0, "ftype": 2,
            "content": "{}"}}"#,
        "00".repeat(276)
    );
    assert_eq!(
        encode("lp-serial", &content).unwrap_err().to_string(),
        "/content: 276 octets found; allowed: text of hex digits, an even number of octets from 0 to 274"
    );
}
