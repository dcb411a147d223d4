//! Session management messages (Annex 2), nested JSON.
//!
//! `offsetN:HEX` says that a data message has N Offset octets; nothing in the message does.

use super::hex::{self, Input};
use super::json::{object, shown};
use super::{CodecError, did_you_mean};
use serde_json::{Map, Value, json};
use session_management::attribute::{Attribute, Attributes, Conveyance, HeaderFormat, Kind, List};
use session_management::control::{Accept, Advertise, Answer, Blocks, Open, ProtocolList, Refuse, Request};
use session_management::data::{Data, Header};
use session_management::message::{Command, Message, Mode};
use session_management::status::{Close, Flow, FlowControl, Status, StatusBits, UserDefined};

type Object = Map<String, Value>;

const COMMANDS: [Command; 11] = [
    Command::Request,
    Command::Advertise,
    Command::Open,
    Command::Accept,
    Command::Refuse,
    Command::Data,
    Command::FlowControl,
    Command::Close,
    Command::Data1,
    Command::Data2,
    Command::Status,
];

const STATUS_NAMES: [(&str, StatusBits); 8] = [
    ("Stream Unknown", StatusBits::STREAM_UNKNOWN),
    ("Stream Functional", StatusBits::FUNCTIONAL),
    ("Ready to Receive", StatusBits::READY_TO_RECEIVE),
    ("Data Ready to Send", StatusBits::DATA_READY),
    ("Error", StatusBits::ERROR),
    ("Closed", StatusBits::CLOSED),
    ("Command Unknown", StatusBits::COMMAND_UNKNOWN),
    ("Request Status of Remote", StatusBits::REQUEST),
];

const FLOWS: [(&str, Flow); 3] = [("XOFF", Flow::Xoff), ("XON", Flow::Xon), ("RTS", Flow::Rts)];

fn hex16(value: u16) -> Value {
    format!("{value:#06x}").into()
}

fn hex8(value: u8) -> Value {
    format!("{value:#04x}").into()
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
    serde_json::to_string_pretty(&fields).map_err(|error| CodecError::new("json", error.to_string()))
}

fn read(octets: &[u8], offset: u8) -> Result<Object, CodecError> {
    let fault = |fault: session_management::message::Fault| CodecError::new("message", fault.to_string());
    let message = Message::parse(octets, Mode::Validation).map_err(fault)?;
    let mut fields = Object::new();
    let mut put = |key: &str, value: Value| fields.insert(key.into(), value);
    put("command", message.command().name().into());
    match message {
        Message::Request(request) => {
            put("SourceID", hex16(request.source));
            put("DestID", hex16(request.destination));
            put("COS", hex8(request.cos));
            put("ProtoID", hex16(request.protocol));
            put("attributes", attributes(request.protocol, request.attributes));
        }
        Message::Advertise(advertise) => {
            put("SourceID", hex16(advertise.source));
            put("DestID", hex16(advertise.destination));
            match advertise.answer {
                Answer::Unsupported => put("S", 0.into()),
                Answer::Protocols(list) => {
                    put("S", 1.into());
                    put("A", 0.into());
                    put("ProtoIDs", list.iter().map(hex16).collect())
                }
                Answer::Blocks(blocks) => {
                    put("S", 1.into());
                    put("A", 1.into());
                    let block = |block: session_management::control::Block<'_>| {
                        json!({
                            "ProtoID": hex16(block.protocol),
                            "attributes": attributes(block.protocol, block.attributes),
                        })
                    };
                    put("blocks", blocks.iter().map(block).collect())
                }
            };
        }
        Message::Open(open) => {
            put("SourceID", hex16(open.source));
            put("ProtoID", hex16(open.protocol));
            put("attributes", attributes(open.protocol, open.attributes));
        }
        Message::Accept(accept) => {
            put("DestID", hex16(accept.destination));
            put("COS", hex8(accept.cos));
            put("StreamID", hex16(accept.stream));
            put("ProtoID", hex16(accept.protocol));
            put("attributes", attributes(accept.protocol, accept.attributes));
        }
        Message::Refuse(refuse) => {
            put("DestID", hex16(refuse.destination));
            put("ProtoID", hex16(refuse.protocol));
            put("attributes", attributes(refuse.protocol, refuse.attributes));
        }
        Message::FlowControl(message) => {
            put("COS", hex8(message.cos));
            let name = FLOWS.iter().find(|(_, flow)| *flow == message.flow);
            put("Flow_Control", name.map_or("", |(name, _)| name).into());
            put("SourceID", hex16(message.source));
            put("StreamID", hex16(message.stream));
            put("ProtoID", hex16(message.protocol));
        }
        Message::Close(close) => {
            put("SourceID", hex16(close.source));
            put("DestID", hex16(close.destination));
            put("COS", hex8(close.cos));
            put("StreamID", hex16(close.stream));
        }
        Message::Status(status) => {
            put("COS", hex8(status.cos));
            put("SourceID", hex16(status.source));
            put("StreamID", hex16(status.stream));
            put("Mailbox", status.mailbox.into());
            put("CmdID", hex8(status.command));
            put("CmdVersion", hex8(status.version));
            put("Status", format!("{:#010x}", status.bits.0).into());
            let names = STATUS_NAMES.iter().filter(|(_, bit)| status.bits.has(*bit));
            put("Status_bits", names.map(|&(name, _)| Value::from(name)).collect());
            put("ContextSpecificData", hex::print(status.data.as_flattened()).into());
        }
        Message::Data(data) => {
            let (skipped, payload) = data.payload(offset, Mode::Validation).map_err(fault)?;
            match data.header {
                Header::Data { mailbox, cos, source, .. } | Header::Data1 { mailbox, cos, source, .. } => {
                    put("Mailbox", mailbox.into());
                    put("COS", hex8(cos));
                    put("SourceID", hex16(source));
                }
                Header::Data2 { specific } => {
                    put("Implementation-Specific", hex8(specific));
                }
            }
            put("S", u8::from(data.start).into());
            put("E", u8::from(data.end).into());
            put("Length", data.length.into());
            if let Some(stream) = data.stream() {
                put("StreamID", hex16(stream));
            }
            if let Some(length) = data.pdu_length() {
                put("PDU-Length", length.into());
            }
            if offset > 0 {
                put("Offset", hex::print(skipped).into());
            }
            put("payload", hex::print(payload).into());
        }
        Message::UserDefined(message) => {
            put("CMD", hex8(message.code()));
            put("COS", hex8(message.cos));
            put("SourceID", hex16(message.source));
            put("StreamID", hex16(message.stream));
            put("user_data", hex::print(message.data).into());
        }
    }
    let padding = octets.len() - length_of(&message, offset);
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
    let mut put = |key: &str, value: Value| fields.insert(key.into(), value);
    put("attribute", kind.name().into());
    match kind {
        Kind::Vendor | Kind::ProtocolName | Kind::DataOffsetVendor => {
            put("value", hex::print(&attribute.value56()).into());
        }
        Kind::MacAddress => {
            put("value", hex::print(&attribute.value48()).into());
        }
        Kind::Conveyance => {
            let conveyance = attribute.as_conveyance();
            put("channel", hex16(conveyance.channel));
            put("info", format!("{:#010x}", conveyance.info).into());
        }
        Kind::DataOffset => {
            put("Offset", attribute.0[2].into());
            put("Vendor", hex::print(&attribute.0[3..]).into());
        }
        Kind::Mtu | Kind::RetryPeriod | Kind::TimeoutPeriod | Kind::XonTimeoutPeriod => {
            put("value", attribute.number(kind).into());
        }
        Kind::MessageNumber => {
            put("value", format!("{:#010x}", attribute.value32()).into());
        }
        Kind::ConduitStream => {
            let (transmit, receive) = attribute.as_conduit_stream();
            put("transmit", hex16(transmit));
            put("receive", hex16(receive));
        }
        Kind::DataHeaderFormat => {
            put("impl", hex8(attribute.0[6]));
            put("format", hex8(attribute.0[7]));
        }
        Kind::VendorRange | Kind::Reserved => {}
    }
    put("octets", hex::print(&attribute.0).into());
    fields
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

    fn u8(&self, key: &str) -> Result<u8, CodecError> {
        Ok(self.number(key, 0xFF)? as u8)
    }

    fn u16(&self, key: &str) -> Result<u16, CodecError> {
        Ok(self.number(key, 0xFFFF)? as u16)
    }

    fn u32(&self, key: &str) -> Result<u32, CodecError> {
        Ok(self.number(key, 0xFFFF_FFFF)? as u32)
    }

    fn flag(&self, key: &str) -> Result<bool, CodecError> {
        Ok(self.number(key, 1)? == 1)
    }

    fn octets(&self, key: &str) -> Result<Vec<u8>, CodecError> {
        let text = self.text(key)?;
        let wrong = || CodecError::new(self.at(key), format!("{text:?} found; allowed: pairs of hex digits"));
        hex::octets(text).ok_or_else(wrong)
    }

    fn exactly<const N: usize>(&self, key: &str) -> Result<[u8; N], CodecError> {
        let octets = self.octets(key)?;
        let wrong = |octets: Vec<u8>| {
            CodecError::new(self.at(key), format!("{} octets found; allowed: {N}", octets.len()))
        };
        octets.try_into().map_err(wrong)
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
            return Ok(Attribute(self.exactly("octets")?));
        }
        let name = self.text("attribute")?;
        let Some(kind) = ATTRIBUTES.into_iter().find(|kind| kind.name() == name) else {
            let hint = did_you_mean(name, ATTRIBUTES.iter().map(|kind| kind.name()));
            let problem = format!("{name:?} found;{hint} an attribute without a name needs octets");
            return Err(CodecError::new(self.at("attribute"), problem));
        };
        Ok(match kind {
            Kind::Vendor => Attribute::vendor(self.exactly("value")?),
            Kind::ProtocolName => Attribute::protocol_name(self.exactly("value")?),
            Kind::DataOffsetVendor => Attribute::data_offset_vendor(self.exactly("value")?),
            Kind::MacAddress => Attribute::mac_address(self.exactly("value")?),
            Kind::Conveyance => {
                Attribute::conveyance(Conveyance { channel: self.u16("channel")?, info: self.u32("info")? })
            }
            Kind::Mtu => Attribute::mtu(self.u16("value")?),
            Kind::DataOffset => Attribute::data_offset(self.u8("Offset")?, self.exactly("Vendor")?),
            Kind::RetryPeriod => Attribute::retry_period(self.u32("value")?),
            Kind::TimeoutPeriod => Attribute::timeout_period(self.u32("value")?),
            Kind::XonTimeoutPeriod => Attribute::xon_timeout_period(self.u32("value")?),
            Kind::MessageNumber => Attribute::message_number(self.u32("value")?),
            Kind::ConduitStream => Attribute::conduit_stream(self.u16("transmit")?, self.u16("receive")?),
            Kind::DataHeaderFormat => {
                let (specific, format) = (self.u8("impl")?, self.u8("format")?);
                let mut attribute = Attribute::data_header_format(HeaderFormat::Data);
                attribute.0[6..].copy_from_slice(&[specific, format]);
                attribute
            }
            Kind::VendorRange | Kind::Reserved => unreachable!("they have no name of their own"),
        })
    }
}

/// Those that have a name.
const ATTRIBUTES: [Kind; 13] = [
    Kind::Vendor,
    Kind::ProtocolName,
    Kind::DataOffsetVendor,
    Kind::Conveyance,
    Kind::Mtu,
    Kind::MacAddress,
    Kind::DataOffset,
    Kind::RetryPeriod,
    Kind::TimeoutPeriod,
    Kind::XonTimeoutPeriod,
    Kind::MessageNumber,
    Kind::ConduitStream,
    Kind::DataHeaderFormat,
];

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
    let command = COMMANDS.iter().find(|command| command.name() == name).copied();
    let command = match command {
        Some(command) => command,
        None if name == "USERDEFINED" => Command::UserDefined(given.u8("CMD")?),
        None => {
            let names = COMMANDS.iter().map(|command| command.name()).chain(["USERDEFINED"]);
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
            source: given.u16("SourceID")?,
            destination: given.u16("DestID")?,
            cos: given.u8("COS")?,
            protocol: given.u16("ProtoID")?,
            attributes: given.attributes()?.list(),
        })),
        Command::Advertise => {
            let (source, destination) = (given.u16("SourceID")?, given.u16("DestID")?);
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
                        octets.extend_from_slice(&block.u16("ProtoID")?.to_be_bytes());
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
            source: given.u16("SourceID")?,
            protocol: given.u16("ProtoID")?,
            attributes: given.attributes()?.list(),
        })),
        Command::Accept => emit(Message::Accept(Accept {
            destination: given.u16("DestID")?,
            cos: given.u8("COS")?,
            stream: given.u16("StreamID")?,
            protocol: given.u16("ProtoID")?,
            attributes: given.attributes()?.list(),
        })),
        Command::Refuse => emit(Message::Refuse(Refuse {
            destination: given.u16("DestID")?,
            protocol: given.u16("ProtoID")?,
            attributes: given.attributes()?.list(),
        })),
        Command::FlowControl => {
            let name = given.text("Flow_Control")?;
            let flow = FLOWS.iter().find(|(flow, _)| *flow == name).map(|&(_, flow)| flow);
            let wrong = || {
                CodecError::new(
                    "/Flow_Control",
                    format!("{name:?} found; allowed: \"XOFF\", \"XON\" or \"RTS\""),
                )
            };
            emit(Message::FlowControl(FlowControl {
                cos: given.u8("COS")?,
                flow: flow.ok_or_else(wrong)?,
                source: given.u16("SourceID")?,
                stream: given.u16("StreamID")?,
                protocol: given.u16("ProtoID")?,
            }))
        }
        Command::Close => emit(Message::Close(Close {
            source: given.u16("SourceID")?,
            destination: given.u16("DestID")?,
            cos: given.u8("COS")?,
            stream: given.u16("StreamID")?,
        })),
        Command::Status => {
            let data = given.octets("ContextSpecificData")?;
            let (words, rest) = data.as_chunks();
            if !rest.is_empty() {
                let problem = format!("{} octets found; allowed: a multiple of 8", data.len());
                return Err(CodecError::new("/ContextSpecificData", problem));
            }
            emit(Message::Status(Status {
                cos: given.u8("COS")?,
                source: given.u16("SourceID")?,
                stream: given.u16("StreamID")?,
                mailbox: given.u8("Mailbox")?,
                command: given.u8("CmdID")?,
                version: given.u8("CmdVersion")?,
                bits: StatusBits(given.u32("Status")?),
                data: words,
            }))
        }
        Command::Data | Command::Data1 | Command::Data2 => data(given, command, emit),
        Command::UserDefined(code) => {
            let data = given.octets("user_data")?;
            let message = UserDefined::new(
                code,
                given.u8("COS")?,
                given.u16("SourceID")?,
                given.u16("StreamID")?,
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
    let tag = if start || end { ("StreamID", 0xFFFF) } else { ("PDU-Length", 0xFFFF_FFFF) };
    let lane = || Ok::<_, CodecError>((given.u8("Mailbox")?, given.u8("COS")?, given.u16("SourceID")?));
    let header = match command {
        Command::Data2 => Header::Data2 { specific: given.u8("Implementation-Specific")? },
        Command::Data1 => {
            let (mailbox, cos, source) = lane()?;
            Header::Data1 { mailbox, cos, source, tag: given.number(tag.0, tag.1)? as u32 }
        }
        _ => {
            let (mailbox, cos, source) = lane()?;
            Header::Data { mailbox, cos, source, tag: given.u16(tag.0)? }
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
