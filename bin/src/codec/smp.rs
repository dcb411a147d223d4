//! Session management messages (Annex 2), nested JSON.
//!
//! `offsetN:HEX` says that a data message has N Offset octets; nothing in the message does.

use super::hex::{self, Input};
use super::json::{object, shown};
use super::{CodecError, did_you_mean};
use lp_serial::field::{self, get};
use serde_json::{Map, Value, json};
use session_management::attribute::{Attribute, Attributes, Kind, List};
use session_management::control::{Accept, Advertise, Answer, Blocks, Open, ProtocolList, Refuse, Request};
use session_management::data::{Data, Header};
use session_management::fields::{Field, RESERVED};
use session_management::message::{Command, Message, Mode};
use session_management::status::{Close, Flow, FlowControl, Status, StatusBits, UserDefined};

type Object = Map<String, Value>;

/// Fields that say how long a list is that is shown itself.
const COUNTS: [&str; 4] = ["NumAttrib", "numAttributes", "Count", "DataSize"];

/// What lies in the bits of a field, as JSON.
fn shown_field(octets: &[u8], (_, bits, base): &Field) -> Value {
    match base {
        10 => get(octets, bits).into(),
        16 => format!("{:#0width$x}", get(octets, bits), width = 2 + bits.len() / 4).into(),
        _ => hex::print(&octets[bits.start as usize / 8..bits.end as usize / 8]).into(),
    }
}

// Decoding.

/// The fields of a message.
pub(super) fn decode(text: &str) -> Result<String, CodecError> {
    let input = Input::parse(text)?;
    let offset = match input.form {
        None => 0,
        Some(form) => match form.strip_prefix("offset").map(str::parse) {
            Some(Ok(offset)) => offset,
            _ => {
                let problem = format!("{form:?} found; allowed: offset0 to offset255, or nothing");
                return Err(CodecError::new("form", problem));
            }
        },
    };
    let fields = read(&input.octets()?, offset)?;
    if offset > 0 && !fields.contains_key("Offset") {
        let command = fields.get("command").and_then(Value::as_str).unwrap_or_default();
        let problem =
            format!("offset{offset} found, and {command} has no Offset: only DATA, DATA1 and DATA2 have");
        return Err(CodecError::new("form", problem));
    }
    serde_json::to_string_pretty(&fields).map_err(|error| CodecError::new("json", error.to_string()))
}

fn read(octets: &[u8], offset: u8) -> Result<Object, CodecError> {
    let fault = |fault: session_management::message::Fault| CodecError::new("message", fault.to_string());
    let message = Message::parse(octets, Mode::Validation).map_err(fault)?;
    let mut fields = Object::new();
    let mut put = |key: &str, value: Value| fields.insert(key.into(), value);
    put("command", message.command().name().into());
    for row in message.fields().iter().filter(|row| row.0 != RESERVED && !COUNTS.contains(&row.0)) {
        let code = get(octets, &row.1);
        match row.0 {
            "Flow_Control" => put(row.0, Flow::from_code(code as u8).map_or("", Flow::name).into()),
            // Without S it says nothing.
            "A" if matches!(message, Message::Advertise(Advertise { answer: Answer::Unsupported, .. })) => {
                None
            }
            _ => put(row.0, shown_field(octets, row)),
        };
    }
    match message {
        Message::Request(Request { protocol, attributes: list, .. })
        | Message::Open(Open { protocol, attributes: list, .. })
        | Message::Accept(Accept { protocol, attributes: list, .. })
        | Message::Refuse(Refuse { protocol, attributes: list, .. }) => {
            put("attributes", attributes(protocol, list));
        }
        Message::Advertise(advertise) => match advertise.answer {
            Answer::Unsupported => {}
            Answer::Protocols(list) => {
                put("ProtoIDs", list.iter().map(protocol_id).collect());
            }
            Answer::Blocks(blocks) => {
                let block = |block: session_management::control::Block<'_>| {
                    json!({
                        "ProtoID": protocol_id(block.protocol),
                        "attributes": attributes(block.protocol, block.attributes),
                    })
                };
                put("blocks", blocks.iter().map(block).collect());
            }
        },
        Message::FlowControl(_) | Message::Close(_) => {}
        Message::Status(status) => {
            let names = StatusBits::NAMES.iter().filter(|(_, bit)| status.bits.has(*bit));
            put("Status_bits", names.map(|&(name, _)| Value::from(name)).collect());
            put("ContextSpecificData", hex::print(status.data.as_flattened()).into());
        }
        Message::Data(data) => {
            let (skipped, payload) = data.payload(offset, Mode::Validation).map_err(fault)?;
            if offset > 0 {
                put("Offset", hex::print(skipped).into());
            }
            put("payload", hex::print(payload).into());
        }
        Message::UserDefined(message) => {
            put("user_data", hex::print(message.data).into());
        }
    }
    let length = length_of(&message, offset);
    let Some(padding) = octets.len().checked_sub(length) else {
        let problem = format!("{} octets, with the padding of its blocks it has {length}", octets.len());
        return Err(CodecError::new("message", problem));
    };
    if padding > 0 {
        put("padding", padding.into());
    }
    Ok(fields)
}

/// Octets without padding; the body of a data message holds its own.
fn length_of(message: &Message<'_>, offset: u8) -> usize {
    match message {
        Message::Data(data) => data.command().header_len() + usize::from(offset) + data.length as usize,
        other => other.octets(),
    }
}

fn attributes(protocol: u16, list: List<'_>) -> Value {
    list.kinds(protocol).map(|(kind, attribute)| Value::Object(attribute_fields(kind, attribute))).collect()
}

fn attribute_fields(kind: Kind, attribute: Attribute) -> Object {
    let mut fields = Object::new();
    fields.insert("attribute".into(), kind.name().into());
    for row in kind.fields().iter().filter(|row| row.0 != RESERVED) {
        fields.insert(row.0.into(), shown_field(&attribute.0, row));
    }
    fields.insert("octets".into(), hex::print(&attribute.0).into());
    fields
}

fn protocol_id(id: u16) -> Value {
    format!("{id:#06x}").into()
}

// Encoding.

/// The keys of one object of the JSON, with the place where it stands.
struct Given<'a> {
    place: String,
    object: &'a Object,
}

impl<'a> Given<'a> {
    fn new(place: String, value: &'a Value) -> Result<Self, CodecError> {
        match value {
            Value::Object(object) => Ok(Self { place, object }),
            other => Err(CodecError::new(place, format!("{} found; allowed: an object", shown(other)))),
        }
    }

    fn at(&self, key: &str) -> String {
        format!("{}/{key}", self.place)
    }

    fn get(&self, key: &str) -> Result<&'a Value, CodecError> {
        self.object.get(key).ok_or_else(|| CodecError::new(self.at(key), "missing"))
    }

    fn text(&self, key: &str) -> Result<&'a str, CodecError> {
        let value = self.get(key)?;
        let wrong = || CodecError::new(self.at(key), format!("{} found; allowed: text", shown(value)));
        value.as_str().ok_or_else(wrong)
    }

    fn number(&self, key: &str, max: u64) -> Result<u64, CodecError> {
        let value = self.get(key)?;
        match integer(value) {
            Some(number) if number <= max => Ok(number),
            _ => {
                let problem =
                    format!("{} found; allowed: 0 to {max}, or text such as \"0x1f\"", shown(value));
                Err(CodecError::new(self.at(key), problem))
            }
        }
    }

    /// A number of the type that a message has for it, all of whose values fit the field.
    fn int<T: TryFrom<u64>>(&self, key: &str) -> Result<T, CodecError> {
        let max = u64::MAX >> (64 - 8 * size_of::<T>());
        let number = self.number(key, max)?;
        T::try_from(number).map_err(|_| CodecError::new(self.at(key), format!("{number} found")))
    }

    fn flag(&self, key: &str) -> Result<bool, CodecError> {
        Ok(self.number(key, 1)? == 1)
    }

    fn octets(&self, key: &str) -> Result<Vec<u8>, CodecError> {
        let text = self.text(key)?;
        let wrong = || CodecError::new(self.at(key), format!("{text:?} found; allowed: pairs of hex digits"));
        hex::octets(text).ok_or_else(wrong)
    }

    fn exactly(&self, key: &str, count: usize) -> Result<Vec<u8>, CodecError> {
        let octets = self.octets(key)?;
        if octets.len() != count {
            let problem = format!("{} octets found; allowed: {count}", octets.len());
            return Err(CodecError::new(self.at(key), problem));
        }
        Ok(octets)
    }

    fn list(&self, key: &str) -> Result<impl Iterator<Item = (String, &'a Value)> + use<'a>, CodecError> {
        let value = self.get(key)?;
        let Some(values) = value.as_array() else {
            let problem = format!("{} found; allowed: a list", shown(value));
            return Err(CodecError::new(self.at(key), problem));
        };
        let place = self.at(key);
        Ok(values.iter().enumerate().map(move |(index, value)| (format!("{place}/{index}"), value)))
    }

    fn attributes(&self) -> Result<Attributes, CodecError> {
        let list = self.list("attributes")?;
        list.map(|(place, value)| Given::new(place, value)?.attribute()).collect()
    }

    fn attribute(&self) -> Result<Attribute, CodecError> {
        if self.object.contains_key("octets") {
            let octets = self.exactly("octets", size_of::<Attribute>())?;
            let mut attribute = Attribute([0; 8]);
            attribute.0.copy_from_slice(&octets);
            return Ok(attribute);
        }
        let name = self.text("attribute")?;
        let unnamed = || {
            let hint = did_you_mean(name, Kind::NAMED.iter().map(|kind| kind.name()));
            let problem = format!("{name:?} found;{hint} an attribute without a name needs octets");
            CodecError::new(self.at("attribute"), problem)
        };
        let kind = Kind::NAMED.into_iter().find(|kind| kind.name() == name).ok_or_else(unnamed)?;
        let Some(mut attribute) = kind.blank() else { return Err(unnamed()) };
        for (key, bits, base) in kind.fields().iter().filter(|row| row.0 != RESERVED) {
            match base {
                256 => {
                    let to = &mut attribute.0[bits.start as usize / 8..bits.end as usize / 8];
                    to.copy_from_slice(&self.exactly(key, to.len())?);
                }
                _ => field::put(&mut attribute.0, bits, self.number(key, field::max(bits))?),
            }
        }
        Ok(attribute)
    }
}

/// A JSON number, or text such as "0x1f".
fn integer(value: &Value) -> Option<u64> {
    match value.as_str().and_then(|text| text.strip_prefix("0x")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => value.as_u64(),
    }
}

/// The octets of a message.
pub(super) fn encode(text: &str) -> Result<String, CodecError> {
    let value = Value::Object(object(text)?.into_iter().collect());
    let given = Given::new(String::new(), &value)?;
    let mut octets = build(&given)?;
    if given.object.contains_key("padding") {
        octets.resize(octets.len() + given.number("padding", 7)? as usize, 0);
    }
    let offset = match given.object.get("Offset") {
        Some(_) => given.octets("Offset")?.len() as u8,
        None => 0,
    };
    // What was given is what is read again, or something in it contradicts the rest.
    let read = Value::Object(read(&octets, offset)?);
    compare("", &value, &read)?;
    let printed = hex::print(&octets);
    Ok(if offset > 0 { format!("offset{offset}:{printed}") } else { printed })
}

fn build(given: &Given<'_>) -> Result<Vec<u8>, CodecError> {
    let name = given.text("command")?;
    let command = Command::ALL.iter().find(|command| command.name() == name).copied();
    let command = match command {
        Some(command) => command,
        None if name == "USERDEFINED" => Command::UserDefined(given.int("CMD")?),
        None => {
            let names = Command::ALL.iter().map(|command| command.name()).chain(["USERDEFINED"]);
            let problem =
                format!("{name:?} found;{} allowed: the names of Annex 2", did_you_mean(name, names));
            return Err(CodecError::new("/command", problem));
        }
    };
    let emit = |message: Message<'_>| {
        message.to_vec().map_err(|error| CodecError::new("message", error.to_string()))
    };
    match command {
        Command::Request => emit(Message::Request(Request {
            source: given.int("SourceID")?,
            destination: given.int("DestID")?,
            cos: given.int("COS")?,
            protocol: given.int("ProtoID")?,
            attributes: given.attributes()?.list(),
        })),
        Command::Advertise => {
            let (source, destination) = (given.int("SourceID")?, given.int("DestID")?);
            let advertise = |answer| emit(Message::Advertise(Advertise { source, destination, answer }));
            match (given.flag("S")?, given.object.contains_key("A") && given.flag("A")?) {
                (false, _) => advertise(Answer::Unsupported),
                (true, false) => {
                    let mut ids = Vec::new();
                    for (place, value) in given.list("ProtoIDs")? {
                        let id = integer(value).and_then(|id| u16::try_from(id).ok());
                        let wrong =
                            || CodecError::new(place, format!("{} found; allowed: 16 bits", shown(value)));
                        ids.push(id.ok_or_else(wrong)?.to_be_bytes());
                    }
                    advertise(Answer::Protocols(ProtocolList(&ids)))
                }
                (true, true) => {
                    let (mut octets, mut count) = (Vec::new(), 0);
                    for (place, value) in given.list("blocks")? {
                        let block = Given::new(place, value)?;
                        let list = block.attributes()?;
                        octets.extend_from_slice(&block.int::<u16>("ProtoID")?.to_be_bytes());
                        octets.extend_from_slice(&(list.len() as u16).to_be_bytes());
                        octets.extend_from_slice(list.list().0.as_flattened());
                        count += 1;
                    }
                    let blocks = Blocks::new(&octets, count)
                        .map_err(|fault| CodecError::new("/blocks", fault.to_string()))?;
                    advertise(Answer::Blocks(blocks))
                }
            }
        }
        Command::Open => emit(Message::Open(Open {
            source: given.int("SourceID")?,
            protocol: given.int("ProtoID")?,
            attributes: given.attributes()?.list(),
        })),
        Command::Accept => emit(Message::Accept(Accept {
            destination: given.int("DestID")?,
            cos: given.int("COS")?,
            stream: given.int("StreamID")?,
            protocol: given.int("ProtoID")?,
            attributes: given.attributes()?.list(),
        })),
        Command::Refuse => emit(Message::Refuse(Refuse {
            destination: given.int("DestID")?,
            protocol: given.int("ProtoID")?,
            attributes: given.attributes()?.list(),
        })),
        Command::FlowControl => {
            let name = given.text("Flow_Control")?;
            let flow = Flow::ALL.into_iter().find(|flow| flow.name() == name);
            let wrong = || {
                CodecError::new(
                    "/Flow_Control",
                    format!("{name:?} found; allowed: \"XOFF\", \"XON\" or \"RTS\""),
                )
            };
            emit(Message::FlowControl(FlowControl {
                cos: given.int("COS")?,
                flow: flow.ok_or_else(wrong)?,
                source: given.int("SourceID")?,
                stream: given.int("StreamID")?,
                protocol: given.int("ProtoID")?,
            }))
        }
        Command::Close => emit(Message::Close(Close {
            source: given.int("SourceID")?,
            destination: given.int("DestID")?,
            cos: given.int("COS")?,
            stream: given.int("StreamID")?,
        })),
        Command::Status => {
            let data = given.octets("ContextSpecificData")?;
            let (words, rest) = data.as_chunks();
            if !rest.is_empty() {
                let problem = format!("{} octets found; allowed: a multiple of 8", data.len());
                return Err(CodecError::new("/ContextSpecificData", problem));
            }
            emit(Message::Status(Status {
                cos: given.int("COS")?,
                source: given.int("SourceID")?,
                stream: given.int("StreamID")?,
                mailbox: given.int("Mailbox")?,
                command: given.int("CmdID")?,
                version: given.int("CmdVersion")?,
                bits: StatusBits(given.int("Status")?),
                data: words,
            }))
        }
        Command::Data | Command::Data1 | Command::Data2 => data(given, command, emit),
        Command::UserDefined(code) => {
            let data = given.octets("user_data")?;
            let message = UserDefined::new(
                code,
                given.int("COS")?,
                given.int("SourceID")?,
                given.int("StreamID")?,
                &data,
            )
            .map_err(|error| CodecError::new("/CMD", error.to_string()))?;
            emit(Message::UserDefined(message))
        }
    }
}

fn data(
    given: &Given<'_>,
    command: Command,
    emit: impl Fn(Message<'_>) -> Result<Vec<u8>, CodecError>,
) -> Result<Vec<u8>, CodecError> {
    let (start, end) = (given.flag("S")?, given.flag("E")?);
    let names_stream = start || end;
    let lane = || Ok::<_, CodecError>((given.int("Mailbox")?, given.int("COS")?, given.int("SourceID")?));
    let header = match command {
        Command::Data2 => Header::Data2 { specific: given.int("Implementation-Specific")? },
        Command::Data1 => {
            let (mailbox, cos, source) = lane()?;
            let tag = match names_stream {
                true => given.int::<u16>("StreamID")?.into(),
                false => given.int("PDU-Length")?,
            };
            Header::Data1 { mailbox, cos, source, tag }
        }
        _ => {
            let (mailbox, cos, source) = lane()?;
            let tag = given.int(if names_stream { "StreamID" } else { "PDU-Length" })?;
            Header::Data { mailbox, cos, source, tag }
        }
    };
    let payload = given.octets("payload")?;
    let mut body = match given.object.get("Offset") {
        Some(_) => given.octets("Offset")?,
        None => Vec::new(),
    };
    if body.len() > 0xFF {
        let problem = format!("{} octets found; allowed: 0 to 255", body.len());
        return Err(CodecError::new("/Offset", problem));
    }
    body.extend_from_slice(&payload);
    emit(Message::Data(Data { header, start, end, length: payload.len() as u32, body: &body }))
}

/// Everything given is found again, with the same value.
fn compare(place: &str, given: &Value, found: &Value) -> Result<(), CodecError> {
    let differs = || {
        let problem = format!("{} given, but the rest says {}", shown(given), shown(found));
        Err(CodecError::new(place, problem))
    };
    match (given, found) {
        (Value::Object(given), Value::Object(found)) => {
            for (key, value) in given {
                let place = format!("{place}/{}", key.escape_debug());
                match found.get(key) {
                    Some(found) => compare(&place, value, found)?,
                    // "A" of an ADVERTISE without S says nothing new.
                    None if *value == json!(0) && (key == "A" || key == "padding") => {}
                    None => {
                        let hint = did_you_mean(key, found.keys().map(String::as_str));
                        return Err(CodecError::new(place, format!("no such field here;{hint}")));
                    }
                }
            }
            Ok(())
        }
        (Value::Array(given), Value::Array(found)) if given.len() == found.len() => {
            let pairs = given.iter().zip(found).enumerate();
            pairs
                .into_iter()
                .try_for_each(|(index, (given, found))| compare(&format!("{place}/{index}"), given, found))
        }
        _ if given == found => Ok(()),
        _ if integer(given).is_some() && integer(given) == integer(found) => Ok(()),
        (Value::String(given), Value::String(found)) if given.eq_ignore_ascii_case(found) => Ok(()),
        _ => differs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use session_management::message::View;

    /// One message of each kind.
    const MESSAGES: &str = include_str!("smp_messages.txt");

    #[test]
    fn messages_both_ways() {
        let mut kinds = std::collections::BTreeSet::new();
        for input in MESSAGES.lines() {
            let json = decode(input).unwrap();
            assert_eq!(encode(&json).as_deref(), Ok(input), "{json}");
            let value: Value = serde_json::from_str(&json).unwrap();
            kinds.insert(value["command"].as_str().unwrap().to_owned());
            // Attributes can be written by name alone.
            let mut lean = value.clone();
            if let Some(list) = lean.get_mut("attributes").and_then(Value::as_array_mut) {
                for attribute in list {
                    if attribute.as_object().unwrap().len() > 2 {
                        attribute.as_object_mut().unwrap().remove("octets");
                    }
                }
                assert_eq!(encode(&lean.to_string()).as_deref(), Ok(input));
            }
        }
        assert_eq!(kinds.len(), 12);
    }

    #[test]
    fn names() {
        let open = decode("03010012 02000002 f0000003 00000007 f0000004 ffff2000 000000").unwrap();
        for part in ["\"OPEN\"", "\"ProtoID\": \"0x0200\"", "\"receive\": \"0x2000\"", "\"padding\": 3"] {
            assert!(open.contains(part), "{part}: {open}");
        }
        let status = decode("10014000 00120bad 02000701 20000001").unwrap();
        assert!(status.contains("Stream Unknown") && status.contains("Closed"), "{status}");
        let offset = decode("offset8:06010200 00000012 c0040101 a0a1a2a3 a4a5a6a7 01020304").unwrap();
        assert!(offset.contains("\"Offset\": \"a0a1a2a3a4a5a6a7\""), "{offset}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let close = |key: &str, value: &str| {
            let json = decode("08010012003440000100000000000000").unwrap();
            let mut value_of: Value = serde_json::from_str(&json).unwrap();
            value_of[key] = serde_json::from_str(value).unwrap();
            encode(&value_of.to_string()).map_err(|error| error.to_string())
        };
        assert!(close("COS", "\"0x40\"").is_ok());
        for (key, value, message) in [
            ("COS", "256", "/COS: 256 found; allowed: 0 to 255, or text such as \"0x1f\""),
            ("COSS", "0", "/COSS: no such field here; did you mean \"COS\"?"),
            (
                "command",
                "\"CLOSED\"",
                "/command: \"CLOSED\" found; did you mean \"CLOSE\"? allowed: the names of Annex 2",
            ),
            ("StreamID", "65535", "message: StreamID: at most 65534, 65535 given"),
        ] {
            assert_eq!(close(key, value), Err(message.to_owned()));
        }
        let attribute = |json: &str| {
            let open = format!(
                "{{\"command\": \"OPEN\", \"SourceID\": 1, \"ProtoID\": 512, \"attributes\": [{json}]}}"
            );
            encode(&open).map_err(|error| error.to_string())
        };
        assert_eq!(
            attribute("{\"attribute\": \"OPEN_MESSAGE_NUMBER\", \"value\": 7}").as_deref(),
            Ok("0301000102000001f000000300000007")
        );
        assert_eq!(
            attribute("{\"octets\": \"f000000300000007\", \"value\": 8}"),
            Err("/attributes/0/value: 8 given, but the rest says \"0x00000007\"".to_owned())
        );
        let unknown = decode("0c01").unwrap_err().to_string();
        assert_eq!(unknown, "message: CMD: 0x0c is unknown");
        assert_eq!(View(&[0x0C, 1]).to_string(), "unknown command 0x0c, 2 octets");
        assert!(decode("offset:00").is_err());
        let headed = decode("offset8:f0010200 00000012 c0040101 a0a1a2a3 a4a5a6a7 01020304").unwrap_err();
        assert!(
            headed.to_string().starts_with("form: offset8 found, and USERDEFINED has no Offset"),
            "{headed}"
        );
    }

    proptest! {
        /// Whatever decode accepts, encode gives back.
        #[test]
        fn decode_then_encode_is_the_identity(
            line in proptest::sample::select(MESSAGES.lines().collect::<Vec<_>>()),
            at in any::<prop::sample::Index>(),
            value in any::<u8>(),
            padding in 0usize..8,
        ) {
            let (form, digits) = line.split_once(':').unwrap_or(("", line));
            let mut octets = hex::octets(digits).unwrap();
            let at = at.index(octets.len());
            octets[at] = value;
            octets.resize(octets.len() + padding, 0);
            let colon = if form.is_empty() { "" } else { ":" };
            let input = format!("{form}{colon}{}", hex::print(&octets));
            if let Ok(json) = decode(&input) {
                prop_assert_eq!(encode(&json), Ok(input));
            }
        }
    }
}
