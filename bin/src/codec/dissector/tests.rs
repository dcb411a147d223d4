//! The page is that of the tables, and tshark with it says what `decode` says.

use super::page;
use crate::codec::{decode, encode, hex};
use analysis::capture::pseudo::{Carries, Kind, Pseudo};
use logical::wire::packet::body_octets;
use lp_serial::cost::AddressSize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const VECTORS: &str = include_str!("../vectors.jsonl");
const ST_OPERATIONS: &str =
    include_str!("../../../../protocols/scheduled-transfer/tests/suite/golden/operations.txt");
const FRAMES: [&str; 9] = [
    "22cf000c810101000002000500010001",
    "22cf000e824200800001010a000200020022",
    "22cf000c830100800002beef00010001",
    "22cf000c065a12340002002200010001",
    "22cf0018010200010002002200010001000000050000000900000000",
    "22cf001902040003000200220001000100000005000000090000006400",
    "22cf000d030500070002002200010001c4",
    "22cf001d0406000800020022000100010000000500000009000000960002000220",
    "22cf00140507001000020022000100018081828384858687",
];

/// What follows from fields that are shown, and is not shown itself.
const FOLLOWS: [&str; 7] = ["form", "bytes", "lane", "offset", "segment_bytes", "mailbox", "command_name"];

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/riosim.lua")
}

#[test]
fn the_dissector_is_made_of_the_tables() {
    let page = page();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path(), &page).unwrap();
    }
    assert!(std::fs::read_to_string(path()).is_ok_and(|kept| kept == page), "BLESS=1 writes it anew");
}

/// A record with its pseudo header.
fn record(kind: Kind, carries: Carries, octets: &[u8]) -> Vec<u8> {
    let body = match kind {
        Kind::Packet => body_octets(octets, AddressSize::Bits34).unwrap_or_default(),
        Kind::Symbol | Kind::Message => 0,
    };
    let pseudo = Pseudo {
        kind,
        picoseconds: 7,
        damaged: false,
        again: false,
        filler: false,
        body: body as u16,
        queue: Some(3),
        waited: Some((models::Cause::Staged, 1 << 40)),
        carries,
        flow: "video",
        from: "ep/0",
        to: "sw:1",
    };
    [&pseudo.octets(), octets].concat()
}

/// A field as tshark shows it: value and words.
type Shown = BTreeMap<String, Vec<(String, String)>>;

/// What tshark says of records; `None` where it is not installed.
fn tshark(records: &[Vec<u8>]) -> Option<Vec<Shown>> {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("tshark is not installed: nobody runs the dissector here");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors.pcap");
    // The older format of such files: USER0 is 147.
    let mut octets = Vec::new();
    for word in [0xA1B2_C3D4u32, 4 << 16 | 2, 0, 0, 1 << 18, 147] {
        octets.extend(word.to_le_bytes());
    }
    for record in records {
        for word in [0, 0, record.len() as u32, record.len() as u32] {
            octets.extend(word.to_le_bytes());
        }
        octets.extend(record);
    }
    std::fs::write(&file, octets).unwrap();
    let script = format!("lua_script:{}", path().display());
    let output = Command::new("tshark")
        .args(["-X", &script, "-T", "pdml", "-r", file.to_str().unwrap()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("Lua"), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("Lua Error"), "{}", &text[text.find("Lua Error").unwrap()..][..400]);
    let all: Vec<Shown> = text.split("<packet>").skip(1).map(shown).collect();
    assert_eq!(all.len(), records.len());
    Some(all)
}

fn shown(packet: &str) -> Shown {
    let mut shown = Shown::new();
    for line in packet.lines().filter(|line| line.contains("<field name=\"riosim")) {
        let attribute = |name: &str| {
            let begin = line.find(&format!(" {name}=\""))? + name.len() + 3;
            Some(line[begin..].split('"').next()?.to_owned())
        };
        let (value, words) = (attribute("show"), attribute("showname"));
        let entry = (value.unwrap_or_default(), words.unwrap_or_default());
        shown.entry(attribute("name").unwrap()).or_default().push(entry);
    }
    shown
}

/// The number that JSON or tshark writes.
fn number(text: &str) -> Option<u64> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok();
    match text.split_at_checked(2) {
        Some(("0x", digits)) => radix(digits, 16),
        Some(("0b", digits)) => radix(digits, 2),
        _ => radix(text, 10),
    }
}

/// Every field that `decode` gives is shown, with this value, under one of these forms.
fn agree(what: &str, shown: &Shown, fields: &Map<String, Value>, forms: &[&str]) {
    assert!(!shown.contains_key("riosim.malformed"), "{what}: {shown:?}");
    let find = |name: &str| {
        forms.iter().find_map(|form| shown.get(&format!("riosim.{}.{name}", form.replace([' ', '.'], "_"))))
    };
    for (key, value) in fields.iter().filter(|(key, _)| !FOLLOWS.contains(&key.as_str())) {
        // The parts of targetTID follow from it.
        if fields["form"] == "response" && ["letter", "mbox", "msgseg"].contains(&key.as_str()) {
            continue;
        }
        let named = key.strip_suffix("_name").filter(|_| find(key).is_none());
        let place = match named {
            Some(number) => number,
            None if key == "address" => "byte_address",
            None => key,
        };
        let Some([(found, words), ..]) = find(place).map(Vec::as_slice) else {
            // Nothing at all is no field of a capture.
            assert!(*value == json!("") || *value == json!(0), "{what}: {key} is not shown: {shown:?}");
            continue;
        };
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let same = match value {
            _ if named.is_some() || key == "Flow_Control" => {
                text.is_empty() || words.contains(&text.replace('>', "&gt;"))
            }
            Value::Array(_) => format!("[{found}]") == text.replace(',', ", ").replace("  ", " "),
            _ if number(&text).is_some() && number(found).is_some() => number(&text) == number(found),
            _ => found.replace(':', "") == text,
        };
        assert!(same, "{what}: {key} is {text}, shown as {found} ({words})");
    }
}

fn object(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap()
}

/// A packet of one segment with these octets; letters and messages are filled up to eight.
fn wrapped(form: &str, digits: &str) -> Vec<u8> {
    let head = "\"ackID\": 1, \"VC\": 0, \"CRF\": 0, \"prio\": 1, \"tt\": 0, \"destinationID\": 2, \
                \"sourceID\": 1";
    let json = match form {
        "message" => {
            let filled = format!("{digits:0<width$}", width = digits.len().next_multiple_of(16));
            format!(
                "{{\"form\": \"message\", {head}, \"msglen\": 0, \"ssize\": 14, \"letter\": 0, \"mbox\": 1, \
                 \"msgseg\": 0, \"data\": \"{filled}\"}}"
            )
        }
        _ => format!(
            "{{\"form\": \"single segment\", {head}, \"cos\": 3, \"streamID\": 5, \"data\": \"{digits}\"}}"
        ),
    };
    hex::octets(&encode("packet", &json).unwrap_or_else(|error| panic!("{error}: {json}"))).unwrap()
}

fn rows(kind: &str) -> Vec<Map<String, Value>> {
    let rows = VECTORS.lines().map(object);
    rows.filter(|row| row["id"].as_str().unwrap().starts_with(kind)).collect()
}

/// ProtoIDs that `decode` finds in an ADVERTISE, of a list or of blocks.
fn protocols(line: &str) -> Vec<u64> {
    let fields = object(&decode("smp", line).unwrap());
    let list = |key: &str| fields.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let blocks = list("blocks").into_iter().map(|block| block["ProtoID"].clone());
    let all = list("ProtoIDs").into_iter().chain(blocks);
    all.map(|id| number(id.as_str().unwrap()).unwrap()).collect()
}

#[test]
fn tshark_shows_each_vector_as_decode_does() {
    const SYMBOL: [&str; 5] = ["long", "short", "symbol", "stype2", "VoQ message"];
    // What it is called, the record, what decode says, and where that is shown.
    type Case = (String, Vec<u8>, Map<String, Value>, Vec<String>);
    let mut cases: Vec<Case> = Vec::new();
    let mut case = |what: &str, record, json: String, forms: &[&str]| {
        cases.push((
            what.to_owned(),
            record,
            object(&json),
            forms.iter().map(|form| (*form).into()).collect(),
        ));
    };
    for row in rows("VOQ-T") {
        let wire = row["wire"].as_str().unwrap();
        let octets = hex::octets(wire).unwrap();
        let record = record(Kind::Symbol, Carries::Data, &octets);
        case(wire, record, decode("voq", wire).unwrap(), &SYMBOL);
    }
    for short in ["1c80ff0f", "7c053811", "1c80fc87", "1c23ff11"] {
        let record = record(Kind::Symbol, Carries::Data, &hex::octets(short).unwrap());
        case(short, record, decode("lp-serial", short).unwrap(), &SYMBOL);
    }
    for field in ["0x800", "0x820", "0xac0", "0xd4f", "0x2021"] {
        let octets = (number(field).unwrap() as u16).to_be_bytes();
        case(field, record(Kind::Message, Carries::Data, &octets), decode("voq", field).unwrap(), &SYMBOL);
    }
    for row in rows("PKT") {
        let digits = row["hex"].as_str().unwrap();
        let record = record(Kind::Packet, Carries::Data, &hex::octets(digits).unwrap());
        let form = row["form"].as_str().unwrap();
        case(digits, record, decode("packet", digits).unwrap(), &["packet", form]);
    }
    for frame in FRAMES {
        let record = record(Kind::Packet, Carries::Linx, &wrapped("message", frame));
        let json = decode("riocm", frame).unwrap();
        let form = format!("RIOCM {}", object(&json)["type_name"].as_str().unwrap());
        case(frame, record, json, &["RIOCM", &form]);
    }
    for row in ST_OPERATIONS.lines().skip(1) {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let operation: String = [columns[2], columns[3]].concat().split_whitespace().collect();
        let json = decode("st", &format!("operation:{operation}")).unwrap();
        let mut frame = object(&json);
        frame.insert("form".into(), "ethernet".into());
        frame.insert("d_ula".into(), "0x0a001e000002".into());
        frame.insert("s_ula".into(), "0x0a001e000001".into());
        let frame = encode("st", &Value::from(frame).to_string()).unwrap();
        if frame.len() > 512 {
            continue;
        }
        // The same in DIX Ethernet, where the EtherType and zeros stand for the length and SNAP.
        let dix = format!("{}81810000000000000000{}", &frame[..24], &frame[44..]);
        let json = decode("st", &format!("ethernet:{frame}")).unwrap();
        for frame in [&frame, &dix] {
            let octets = wrapped("single segment", frame);
            case(columns[0], record(Kind::Packet, Carries::Transfer, &octets), json.clone(), &["ST"]);
        }
    }
    for line in super::MESSAGES.lines().filter(|line| !line.contains(':')) {
        let record = record(Kind::Packet, Carries::Session, &wrapped("message", line));
        let mut fields = object(&decode("smp", line).unwrap());
        let form = fields["command"].as_str().unwrap().to_owned();
        let with_stream = format!("{form} with StreamID");
        fields.insert("form".into(), form.as_str().into());
        // Lists are compared by their number of members; what only some commands have is octets here.
        fields.retain(|key, value| {
            !value.is_array() && !matches!(key.as_str(), "padding" | "user_data" | "ContextSpecificData")
        });
        case(line, record, Value::from(fields).to_string(), &["session", &form, &with_stream]);
    }
    assert!(cases.len() > 130, "{}", cases.len());
    let records: Vec<Vec<u8>> = cases.iter().map(|(_, record, ..)| record.clone()).collect();
    let Some(all) = tshark(&records) else { return };
    for ((what, _, fields, forms), shown) in cases.iter().zip(&all) {
        let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
        agree(what, shown, fields, &forms);
        if forms[0] == "session" {
            let listed = shown.get("riosim.session.ProtoID").map_or(&[][..], Vec::as_slice);
            let listed: Vec<u64> = listed.iter().filter_map(|(value, _)| number(value)).collect();
            assert_eq!(listed, protocols(what), "{what}: {shown:?}");
        }
        for (name, value) in [
            ("flow", "video"),
            ("from", "ep/0"),
            ("to", "sw:1"),
            ("picoseconds", "7"),
            ("staging_queue", "3"),
            ("waited_ps", "1099511627776"),
        ] {
            assert_eq!(shown[&format!("riosim.pseudo.{name}")][0].0, value, "{what}");
        }
        assert!(shown["riosim.pseudo.cause"][0].1.contains("staged by backpressure"));
    }
}

#[test]
fn tshark_calls_malformed_what_is_malformed() {
    let mut records = Vec::new();
    for row in rows("VOQ-N") {
        let digits = row["hex"].as_str().unwrap();
        let digits = if digits.len() < 16 { format!("1c{digits}1c") } else { digits.into() };
        records.push(record(Kind::Symbol, Carries::Data, &hex::octets(&digits).unwrap()));
    }
    assert_eq!(records.len(), 6);
    for row in rows("PKT") {
        let octets = hex::octets(row["hex"].as_str().unwrap()).unwrap();
        // A bit of the second octet, the last octets missing, and octets too many.
        let mut flipped = record(Kind::Packet, Carries::Data, &octets);
        let header = flipped.len() - octets.len();
        flipped[header + 1] ^= 0x10;
        let whole = record(Kind::Packet, Carries::Data, &octets);
        records.extend([flipped, whole[..whole.len() - 2].to_vec(), [&whole[..], &[0; 4]].concat()]);
    }
    let frames = [
        (Carries::Linx, "message", "8911000c810101000002000500010001"),
        (Carries::Linx, "message", "22cf000c070100000002002200010001"),
        (Carries::Linx, "message", "22cf00ff810101000002000500010001"),
        (Carries::Session, "message", "0c01000000000000"),
        (Carries::Session, "message", "0301000102000009"),
        // nine ProtoIDs, and a block of nine attributes, in eight octets
        (Carries::Session, "message", "02010034001280090101010202000000"),
        (Carries::Session, "message", "020100340012c0010102000900000000"),
        (Carries::Transfer, "single segment", "0a001e000002"),
        (Carries::Transfer, "single segment", "0a001e0000020a001e0000010008aaaa030000000800"),
    ];
    for (carries, form, digits) in frames {
        records.push(record(Kind::Packet, carries, &wrapped(form, digits)));
    }
    // No pseudo header, one of another version, and nothing behind it.
    let whole = record(Kind::Message, Carries::Data, &[8, 0]);
    records.extend([vec![1, 2, 3], [&[9], &whole[1..]].concat(), whole[..whole.len() - 2].to_vec()]);
    let Some(all) = tshark(&records) else { return };
    for (record, shown) in records.iter().zip(all) {
        assert!(shown.contains_key("riosim.malformed"), "{}: {shown:?}", hex::print(record));
    }
}
