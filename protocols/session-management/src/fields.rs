//! Where the fields of messages and attributes lie (Annex 2 §3.5.3, §4.2, §4.3), for whoever shows or changes
//! one field by field. Tests hold the tables against what the messages read and write.

use crate::attribute::{Attribute, Conveyance, HeaderFormat, Kind};
use crate::message::{Command, Message};
use core::ops::Range;

/// A field: name, bits counted from the first of the message or attribute, and the base in which it is
/// written: 10, 16, 2 for bits without a meaning of their own, or 256 for octets that are no number.
pub type Field = (&'static str, Range<u32>, u32);

/// The name of bits that mean nothing, and of those that always have the same value.
pub const RESERVED: &str = "reserved";

const REQUEST: [Field; 7] = [
    ("SourceID", 16..32, 16),
    ("DestID", 32..48, 16),
    ("COS", 48..56, 16),
    (RESERVED, 56..64, 2),
    ("ProtoID", 64..80, 16),
    ("NumAttrib", 80..96, 10),
    (RESERVED, 96..128, 2),
];
const ADVERTISE: [Field; 5] = [
    ("SourceID", 16..32, 16),
    ("DestID", 32..48, 16),
    ("S", 48..49, 10),
    ("A", 49..50, 10),
    ("Count", 50..64, 10),
];
const OPEN: [Field; 3] = [("SourceID", 16..32, 16), ("ProtoID", 32..48, 16), ("numAttributes", 48..64, 10)];
const ACCEPT: [Field; 6] = [
    ("DestID", 16..32, 16),
    (RESERVED, 32..40, 2),
    ("COS", 40..48, 16),
    ("StreamID", 48..64, 16),
    ("ProtoID", 64..80, 16),
    ("numAttributes", 80..96, 10),
];
const REFUSE: [Field; 4] =
    [("DestID", 16..32, 16), (RESERVED, 32..64, 2), ("ProtoID", 64..80, 16), ("numAttributes", 80..96, 10)];
const FLOW_CONTROL: [Field; 6] = [
    ("COS", 16..24, 16),
    ("Flow_Control", 24..32, 16),
    ("SourceID", 32..48, 16),
    ("StreamID", 48..64, 16),
    ("ProtoID", 64..80, 16),
    (RESERVED, 80..128, 2),
];
const CLOSE: [Field; 6] = [
    ("SourceID", 16..32, 16),
    ("DestID", 32..48, 16),
    ("COS", 48..56, 16),
    (RESERVED, 56..64, 2),
    ("StreamID", 64..80, 16),
    (RESERVED, 80..128, 2),
];
const STATUS: [Field; 9] = [
    ("COS", 16..24, 16),
    ("DataSize", 24..32, 10),
    ("SourceID", 32..48, 16),
    ("StreamID", 48..64, 16),
    ("Mailbox", 64..72, 10),
    (RESERVED, 72..80, 2),
    ("CmdID", 80..88, 16),
    ("CmdVersion", 88..96, 16),
    ("Status", 96..128, 16),
];
const USER_DEFINED: [Field; 5] = [
    ("CMD", 0..8, 16),
    ("COS", 16..24, 16),
    (RESERVED, 24..32, 2),
    ("SourceID", 32..48, 16),
    ("StreamID", 48..64, 16),
];
const DATA_STREAM: [Field; 9] = data(("StreamID", 80..96, 16));
const DATA_LENGTH: [Field; 9] = data(("PDU-Length", 80..96, 10));
const DATA1_STREAM: [Field; 9] = data1(("StreamID", 96..112, 16), (RESERVED, 112..128, 2));
const DATA1_LENGTH: [Field; 9] = data1(("PDU-Length", 96..128, 10), (RESERVED, 128..128, 2));
const DATA2: [Field; 4] =
    [("Implementation-Specific", 8..16, 16), ("S", 16..17, 10), ("E", 17..18, 10), ("Length", 18..32, 10)];

const fn data(tag: Field) -> [Field; 9] {
    [
        ("Mailbox", 16..24, 10),
        ("COS", 24..32, 16),
        (RESERVED, 32..48, 2),
        ("SourceID", 48..64, 16),
        ("S", 64..65, 10),
        ("E", 65..66, 10),
        (RESERVED, 66..68, 2),
        ("Length", 68..80, 10),
        tag,
    ]
}

const fn data1(tag: Field, rest: Field) -> [Field; 9] {
    [
        ("Mailbox", 16..24, 10),
        ("COS", 24..32, 16),
        (RESERVED, 32..48, 2),
        ("SourceID", 48..64, 16),
        ("S", 64..65, 10),
        ("E", 65..66, 10),
        ("Length", 66..96, 10),
        tag,
        rest,
    ]
}

impl Message<'_> {
    /// The fields of the fixed header behind CMD and VER. CMD itself is among them where it may have several
    /// values. Fields that count a list are called NumAttrib, numAttributes, Count or DataSize.
    #[must_use]
    pub const fn fields(&self) -> &'static [Field] {
        match self {
            Self::Request(_) => &REQUEST,
            Self::Advertise(_) => &ADVERTISE,
            Self::Open(_) => &OPEN,
            Self::Accept(_) => &ACCEPT,
            Self::Refuse(_) => &REFUSE,
            Self::Data(data) => match (data.command(), data.names_stream()) {
                (Command::Data1, true) => &DATA1_STREAM,
                (Command::Data1, false) => &DATA1_LENGTH,
                (Command::Data2, _) => &DATA2,
                (_, true) => &DATA_STREAM,
                (_, false) => &DATA_LENGTH,
            },
            Self::FlowControl(_) => &FLOW_CONTROL,
            Self::Close(_) => &CLOSE,
            Self::Status(_) => &STATUS,
            Self::UserDefined(_) => &USER_DEFINED,
        }
    }
}

impl Kind {
    /// Those that have an identifier of their own.
    pub const NAMED: [Self; 13] = [
        Self::Vendor,
        Self::ProtocolName,
        Self::DataOffsetVendor,
        Self::Conveyance,
        Self::Mtu,
        Self::MacAddress,
        Self::DataOffset,
        Self::RetryPeriod,
        Self::TimeoutPeriod,
        Self::XonTimeoutPeriod,
        Self::MessageNumber,
        Self::ConduitStream,
        Self::DataHeaderFormat,
    ];

    /// The fields behind the identifier; none if nobody knows them.
    #[must_use]
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Self::Vendor | Self::ProtocolName | Self::DataOffsetVendor => &[("value", 8..64, 256)],
            Self::MacAddress => &[("value", 16..64, 256)],
            Self::Conveyance => &[("channel", 16..32, 16), ("info", 32..64, 16)],
            Self::DataOffset => &[("Offset", 16..24, 10), ("Vendor", 24..64, 256)],
            Self::Mtu => &[(RESERVED, 16..48, 2), ("value", 48..64, 10)],
            Self::RetryPeriod | Self::TimeoutPeriod | Self::XonTimeoutPeriod => &[("value", 32..64, 10)],
            Self::MessageNumber => &[("value", 32..64, 16)],
            Self::ConduitStream => &[("transmit", 32..48, 16), ("receive", 48..64, 16)],
            Self::DataHeaderFormat => &[(RESERVED, 32..48, 2), ("impl", 48..56, 16), ("format", 56..64, 16)],
            Self::VendorRange | Self::Reserved => &[],
        }
    }

    /// An attribute of this kind whose fields are zero; none without an identifier of its own.
    #[must_use]
    pub const fn blank(self) -> Option<Attribute> {
        Some(match self {
            Self::Vendor => Attribute::vendor([0; 7]),
            Self::ProtocolName => Attribute::protocol_name([0; 7]),
            Self::DataOffsetVendor => Attribute::data_offset_vendor([0; 7]),
            Self::Conveyance => Attribute::conveyance(Conveyance { channel: 0, info: 0 }),
            Self::Mtu => Attribute::mtu(0),
            Self::MacAddress => Attribute::mac_address([0; 6]),
            Self::DataOffset => Attribute::data_offset(0, [0; 5]),
            Self::RetryPeriod => Attribute::retry_period(0),
            Self::TimeoutPeriod => Attribute::timeout_period(0),
            Self::XonTimeoutPeriod => Attribute::xon_timeout_period(0),
            Self::MessageNumber => Attribute::message_number(0),
            Self::ConduitStream => Attribute::conduit_stream(0, 0),
            Self::DataHeaderFormat => {
                let Attribute([a, b, c, d, ..]) = Attribute::data_header_format(HeaderFormat::Data);
                Attribute([a, b, c, d, 0, 0, 0, 0])
            }
            Self::VendorRange | Self::Reserved => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribute::Id;
    use crate::control::Answer;
    use crate::data::Header;
    use crate::message::Mode;
    use alloc::vec::Vec;

    fn put(octets: &mut [u8], bits: &Range<u32>, value: u64) {
        for bit in bits.clone() {
            let mask = 0x80 >> (bit % 8);
            let octet = &mut octets[bit as usize / 8];
            *octet = if value >> (bits.end - 1 - bit) & 1 == 1 { *octet | mask } else { *octet & !mask };
        }
    }

    /// One bit after the other alone, none, and all.
    fn patterns(bits: &Range<u32>) -> impl Iterator<Item = u64> + use<> {
        let width = bits.end - bits.start;
        (0..width).map(|bit| 1 << bit).chain([0, (1 << width) - 1])
    }

    /// What the message itself takes for this field.
    fn value(message: &Message<'_>, field: &str) -> u64 {
        let found: u64 = match (message, field) {
            (Message::Request(it), "SourceID") => it.source.into(),
            (Message::Request(it), "DestID") => it.destination.into(),
            (Message::Request(it), "COS") => it.cos.into(),
            (Message::Request(it), "ProtoID") => it.protocol.into(),
            (Message::Request(it), "NumAttrib") => it.attributes.len() as u64,
            (Message::Advertise(it), "SourceID") => it.source.into(),
            (Message::Advertise(it), "DestID") => it.destination.into(),
            (Message::Advertise(it), "S") => (it.answer != Answer::Unsupported).into(),
            (Message::Advertise(it), "A") => matches!(it.answer, Answer::Blocks(_)).into(),
            (Message::Advertise(it), "Count") => match it.answer {
                Answer::Unsupported => 0,
                Answer::Protocols(list) => list.0.len() as u64,
                Answer::Blocks(blocks) => blocks.count().into(),
            },
            (Message::Open(it), "SourceID") => it.source.into(),
            (Message::Open(it), "ProtoID") => it.protocol.into(),
            (Message::Open(it), "numAttributes") => it.attributes.len() as u64,
            (Message::Accept(it), "DestID") => it.destination.into(),
            (Message::Accept(it), "COS") => it.cos.into(),
            (Message::Accept(it), "StreamID") => it.stream.into(),
            (Message::Accept(it), "ProtoID") => it.protocol.into(),
            (Message::Accept(it), "numAttributes") => it.attributes.len() as u64,
            (Message::Refuse(it), "DestID") => it.destination.into(),
            (Message::Refuse(it), "ProtoID") => it.protocol.into(),
            (Message::Refuse(it), "numAttributes") => it.attributes.len() as u64,
            (Message::FlowControl(it), "COS") => it.cos.into(),
            (Message::FlowControl(it), "Flow_Control") => it.flow.code().into(),
            (Message::FlowControl(it), "SourceID") => it.source.into(),
            (Message::FlowControl(it), "StreamID") => it.stream.into(),
            (Message::FlowControl(it), "ProtoID") => it.protocol.into(),
            (Message::Close(it), "SourceID") => it.source.into(),
            (Message::Close(it), "DestID") => it.destination.into(),
            (Message::Close(it), "COS") => it.cos.into(),
            (Message::Close(it), "StreamID") => it.stream.into(),
            (Message::Status(it), "COS") => it.cos.into(),
            (Message::Status(it), "DataSize") => it.data.len() as u64,
            (Message::Status(it), "SourceID") => it.source.into(),
            (Message::Status(it), "StreamID") => it.stream.into(),
            (Message::Status(it), "Mailbox") => it.mailbox.into(),
            (Message::Status(it), "CmdID") => it.command.into(),
            (Message::Status(it), "CmdVersion") => it.version.into(),
            (Message::Status(it), "Status") => it.bits.0.into(),
            (Message::UserDefined(it), "CMD") => it.code().into(),
            (Message::UserDefined(it), "COS") => it.cos.into(),
            (Message::UserDefined(it), "SourceID") => it.source.into(),
            (Message::UserDefined(it), "StreamID") => it.stream.into(),
            (Message::Data(it), "S") => it.start.into(),
            (Message::Data(it), "E") => it.end.into(),
            (Message::Data(it), "Length") => it.length.into(),
            (Message::Data(it), "StreamID") => it.stream().unwrap().into(),
            (Message::Data(it), "PDU-Length") => it.pdu_length().unwrap().into(),
            (Message::Data(it), field) => match (it.header, field) {
                (Header::Data { mailbox, .. } | Header::Data1 { mailbox, .. }, "Mailbox") => mailbox.into(),
                (Header::Data { cos, .. } | Header::Data1 { cos, .. }, "COS") => cos.into(),
                (Header::Data { source, .. } | Header::Data1 { source, .. }, "SourceID") => source.into(),
                (Header::Data2 { specific }, "Implementation-Specific") => specific.into(),
                _ => panic!("{field}"),
            },
            (message, field) => panic!("{} {field}", message.command().name()),
        };
        found
    }

    /// One message of each layout: zeros but for what makes it one, then lists and payload.
    fn samples() -> Vec<Vec<u8>> {
        let number = [0xF0, 0, 0, 3, 0, 0, 0, 7];
        let rows: [(&[u8], &[u8]); 15] = [
            (&[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[]),
            (&[2, 1, 0, 0, 0, 0, 0, 0], &[]),
            (&[3, 1, 0, 0, 0, 0, 0, 1], &number),
            (&[4, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1], &number),
            (&[5, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1], &number),
            (&[6, 1, 0, 0, 0, 0, 0, 0, 0x00, 0, 0, 0], &[]),
            (&[6, 1, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0], &[]),
            (&[7, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[]),
            (&[8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[]),
            (&[9, 1, 0, 0, 0, 0, 0, 0, 0x00, 0, 0, 0, 0, 0, 0, 0], &[]),
            (&[9, 1, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0], &[]),
            (&[10, 0, 0, 0], &[]),
            (&[10, 0, 0x80, 0], &[]),
            (&[16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[]),
            (&[0xF0, 1, 0, 0, 0, 0, 0, 0], &[]),
        ];
        let payload = |code| if matches!(code, 6 | 9 | 10) { &[0; 4096][..] } else { &[] };
        rows.into_iter().map(|(head, list)| [head, list, payload(head[0])].concat()).collect()
    }

    #[test]
    fn every_bit_of_a_header_is_one_field_or_reserved() {
        for octets in samples() {
            let message = Message::parse(&octets, Mode::Validation).unwrap();
            let mut bits: Vec<u32> = message.fields().iter().flat_map(|row| row.1.clone()).collect();
            let version = if message.command() == Command::Data2 { 0..0 } else { 8..16 };
            let code = if matches!(message, Message::UserDefined(_)) { 0..0 } else { 0..8 };
            bits.extend(code.chain(version));
            bits.sort_unstable();
            let all = 8 * message.command().header_len() as u32;
            assert!(bits.into_iter().eq(0..all), "{}", message.command().name());
        }
    }

    #[test]
    fn a_message_reads_and_writes_each_field_where_the_table_says() {
        let mut tried = 0;
        for sample in samples() {
            let fields = Message::parse(&sample, Mode::Validation).unwrap().fields();
            for (name, bits, _) in fields.iter().filter(|(name, ..)| *name != RESERVED) {
                for pattern in patterns(bits) {
                    let mut octets = sample.clone();
                    put(&mut octets, bits, pattern);
                    // Lists have to be as long as they are said to be, and some values are none.
                    let Ok(message) = Message::parse(&octets, Mode::Validation) else { continue };
                    if message.fields() == fields {
                        assert_eq!(value(&message, name), pattern, "{} {name}", message.command().name());
                    }
                    assert_eq!(message.to_vec().unwrap(), octets);
                    tried += 1;
                }
            }
        }
        assert!(tried > 700, "{tried}");
    }

    #[test]
    fn lists_are_counted_where_the_table_says() {
        for (octets, name) in [
            ([&[1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0][..], &[0; 8]].concat(), "NumAttrib"),
            ([&[2, 1, 0, 0, 0, 0, 0x80, 2][..], &[0; 8]].concat(), "Count"),
            ([&[16, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[0; 16]].concat(), "DataSize"),
        ] {
            let message = Message::parse(&octets, Mode::Validation).unwrap();
            let (_, bits, _) = message.fields().iter().find(|row| row.0 == name).unwrap();
            let end = bits.end as usize / 8;
            assert_eq!(value(&message, name), u64::from(octets[end - 1]), "{name}");
        }
    }

    #[test]
    fn every_bit_of_an_attribute_is_its_identifier_one_field_or_reserved() {
        for kind in Kind::NAMED {
            let blank = kind.blank().unwrap();
            let begin = match blank.id() {
                Id::Byte(_) => 8,
                Id::Half(_) => 16,
                Id::Word(_) => 32,
            };
            assert!(kind.fields().iter().flat_map(|row| row.1.clone()).eq(begin..64), "{}", kind.name());
            assert_eq!(blank.0[begin as usize / 8..], [0; 8][begin as usize / 8..]);
        }
    }

    #[test]
    fn an_attribute_reads_each_field_where_the_table_says() {
        for kind in Kind::NAMED {
            for (name, bits, _) in kind.fields().iter().filter(|(name, ..)| *name != RESERVED) {
                for pattern in patterns(bits) {
                    let mut attribute = kind.blank().unwrap();
                    put(&mut attribute.0, bits, pattern);
                    let number = |octets: &[u8]| octets.iter().fold(0, |all, &one| all << 8 | u64::from(one));
                    let found = match (kind, *name) {
                        (Kind::Conveyance, "channel") => attribute.as_conveyance().channel.into(),
                        (Kind::Conveyance, _) => attribute.as_conveyance().info.into(),
                        (Kind::ConduitStream, "transmit") => attribute.as_conduit_stream().0.into(),
                        (Kind::ConduitStream, _) => attribute.as_conduit_stream().1.into(),
                        (Kind::DataHeaderFormat, "impl") => attribute.0[6].into(),
                        (Kind::DataHeaderFormat, _) => attribute.0[7].into(),
                        (Kind::DataOffset, "Offset") => attribute.value48()[0].into(),
                        (Kind::DataOffset, _) => number(&attribute.value48()[1..]),
                        (Kind::MacAddress, _) => number(&attribute.value48()),
                        (Kind::Vendor | Kind::ProtocolName | Kind::DataOffsetVendor, _) => {
                            number(&attribute.value56())
                        }
                        _ => attribute.number(kind).into(),
                    };
                    assert_eq!(found, pattern, "{} {name}", kind.name());
                }
            }
        }
    }
}
