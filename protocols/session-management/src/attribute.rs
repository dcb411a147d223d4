//! Attributes: always 8 octets, identifier first (Annex 2 §3.5.3).
//!
//! The first octet alone says how wide the identifier is: 0x00 to 0x7F one octet, 0x80 to 0xEF two, 0xF0 to
//! 0xFF four. Which attribute an identifier names also depends on the protocol and on the attribute before
//! it, because 0x8003 is MAC_ADDRESS of Ethernet and DATA_OFFSET of everything else ([`Kind`]).

use crate::octets::{be16, be32};
use crate::protocol::{ETHERNET, NO_STREAM, Protocol, VENDOR_DEFINED};
use alloc::vec::Vec;
use core::fmt;

/// Identifiers.
pub mod id {
    /// Width 8.
    pub const VENDOR: u8 = 0x00;
    /// Width 8, ProtoID 0x0101 only.
    pub const PROTOCOL_NAME: u8 = 0x01;
    /// Width 8.
    pub const DATA_OFFSET_VENDOR: u8 = 0x02;
    /// Width 16.
    pub const CONVEYANCE: u16 = 0x8001;
    /// Width 16.
    pub const MTU: u16 = 0x8002;
    /// Width 16: MAC_ADDRESS or DATA_OFFSET.
    pub const MAC_OR_OFFSET: u16 = 0x8003;
    /// Width 32, microseconds.
    pub const REQUEST_RETRY_PERIOD: u32 = 0xF000_0000;
    /// Width 32, microseconds.
    pub const REQUEST_TIMEOUT_PERIOD: u32 = 0xF000_0001;
    /// Width 32, microseconds.
    pub const FLOW_CONTROL_XON_TIMEOUT_PERIOD: u32 = 0xF000_0002;
    /// Width 32.
    pub const OPEN_MESSAGE_NUMBER: u32 = 0xF000_0003;
    /// Width 32.
    pub const CONDUIT_STREAM: u32 = 0xF000_0004;
    /// Width 32.
    pub const DATA_HEADER_FORMAT: u32 = 0xF000_0005;
}

/// CONVEYANCE channel of messages; its information is the mailbox.
pub const CHANNEL_MESSAGE: u16 = 0x0001;
/// The channel by which this implementation offers Ethernet over Type 9; it needs VENDOR and does not
/// interoperate with others (Table 3-8 has no code for Type 9).
pub const CHANNEL_STREAM: u16 = 0xFF09;
/// Largest mailbox number (Part 2: 6 bits).
pub const MAX_MAILBOX: u8 = 63;

/// An identifier with its width.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Id {
    /// One octet; 56 bits of value.
    Byte(u8),
    /// Two octets; 48 bits of value.
    Half(u16),
    /// Four octets; 32 bits of value.
    Word(u32),
}

impl Id {
    /// 0x78 to 0x7F, 0xEF00 to 0xEFFF, 0xFE000000 to 0xFFFFFFFF belong to vendors (Table 3-3).
    #[must_use]
    pub const fn is_vendor(self) -> bool {
        match self {
            Self::Byte(id) => id >= 0x78,
            Self::Half(id) => id >= 0xEF00,
            Self::Word(id) => id >= 0xFE00_0000,
        }
    }
}

/// The format of data messages of a stream (DATA_HEADER_FORMAT).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum HeaderFormat {
    /// DATA: 12-bit Length. What holds when nothing is said.
    #[default]
    Data,
    /// DATA1: 30-bit Length.
    Data1,
    /// DATA2: no StreamID; this octet stands for it.
    Data2(u8),
    /// DATA3: no header, the conveyance names the stream.
    Data3,
}

impl HeaderFormat {
    /// The command octet: 06, 09, 0A, 0B.
    #[must_use]
    pub const fn command(self) -> u8 {
        match self {
            Self::Data => 0x06,
            Self::Data1 => 0x09,
            Self::Data2(_) => 0x0A,
            Self::Data3 => 0x0B,
        }
    }
}

/// Where data of a stream goes (CONVEYANCE).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Conveyance {
    /// 0x0001 messages, 0xFF00 to 0xFFFF vendors; the rest is reserved.
    pub channel: u16,
    /// For messages, the mailbox in the last octet.
    pub info: u32,
}

impl Conveyance {
    /// Messages to a mailbox.
    #[must_use]
    pub const fn mailbox(mailbox: u8) -> Self {
        Self { channel: CHANNEL_MESSAGE, info: mailbox as u32 }
    }

    /// The mailbox, if this is the message channel and such a mailbox can exist.
    #[must_use]
    pub const fn as_mailbox(self) -> Option<u8> {
        let mailbox = self.info as u8;
        if self.channel == CHANNEL_MESSAGE && mailbox <= MAX_MAILBOX { Some(mailbox) } else { None }
    }

    /// Whether both name the same place, whatever stands in reserved octets.
    #[must_use]
    pub fn is_same(self, other: Self) -> bool {
        self == other || self.as_mailbox().is_some() && self.as_mailbox() == other.as_mailbox()
    }

    /// Whether the channel belongs to a vendor, so that the list needs VENDOR.
    #[must_use]
    pub const fn is_vendor(self) -> bool {
        self.channel >= 0xFF00
    }
}

/// What an identifier means where it stands.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// VENDOR.
    Vendor,
    /// PROTOCOL_NAME.
    ProtocolName,
    /// DATA_OFFSET_VENDOR.
    DataOffsetVendor,
    /// CONVEYANCE.
    Conveyance,
    /// MTU.
    Mtu,
    /// MAC_ADDRESS.
    MacAddress,
    /// DATA_OFFSET.
    DataOffset,
    /// REQUEST_RETRY_PERIOD.
    RetryPeriod,
    /// REQUEST_TIMEOUT_PERIOD.
    TimeoutPeriod,
    /// FLOW_CONTROL_XON_TIMEOUT_PERIOD.
    XonTimeoutPeriod,
    /// OPEN_MESSAGE_NUMBER.
    MessageNumber,
    /// CONDUIT_STREAM.
    ConduitStream,
    /// DATA_HEADER_FORMAT.
    DataHeaderFormat,
    /// In a vendor range.
    VendorRange,
    /// Neither defined nor a vendor's.
    Reserved,
}

impl Kind {
    /// Whether two copies say a range and several a set of numbers (§3.8.2).
    #[must_use]
    pub const fn is_numeric(self) -> bool {
        matches!(self, Self::Mtu | Self::RetryPeriod | Self::TimeoutPeriod | Self::XonTimeoutPeriod)
    }

    /// Whether a list holds it at most once, whoever sends it.
    #[must_use]
    pub const fn is_single(self) -> bool {
        !self.is_numeric() && !matches!(self, Self::Conveyance | Self::VendorRange | Self::Reserved)
    }

    /// The name in the annex.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vendor => "VENDOR",
            Self::ProtocolName => "PROTOCOL_NAME",
            Self::DataOffsetVendor => "DATA_OFFSET_VENDOR",
            Self::Conveyance => "CONVEYANCE",
            Self::Mtu => "MTU",
            Self::MacAddress => "MAC_ADDRESS",
            Self::DataOffset => "DATA_OFFSET",
            Self::RetryPeriod => "REQUEST_RETRY_PERIOD",
            Self::TimeoutPeriod => "REQUEST_TIMEOUT_PERIOD",
            Self::XonTimeoutPeriod => "FLOW_CONTROL_XON_TIMEOUT_PERIOD",
            Self::MessageNumber => "OPEN_MESSAGE_NUMBER",
            Self::ConduitStream => "CONDUIT_STREAM",
            Self::DataHeaderFormat => "DATA_HEADER_FORMAT",
            Self::VendorRange => "vendor attribute",
            Self::Reserved => "reserved attribute",
        }
    }
}

/// Eight octets, as on the wire.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Attribute(pub [u8; 8]);

impl Attribute {
    const fn byte(id: u8, v: [u8; 7]) -> Self {
        Self([id, v[0], v[1], v[2], v[3], v[4], v[5], v[6]])
    }

    const fn half(id: u16, v: [u8; 6]) -> Self {
        let id = id.to_be_bytes();
        Self([id[0], id[1], v[0], v[1], v[2], v[3], v[4], v[5]])
    }

    const fn word(id: u32, value: u32) -> Self {
        let (id, v) = (id.to_be_bytes(), value.to_be_bytes());
        Self([id[0], id[1], id[2], id[3], v[0], v[1], v[2], v[3]])
    }

    /// VENDOR with its 7 octets: an OUI and four zeros, or a name without zeros.
    #[must_use]
    pub const fn vendor(value: [u8; 7]) -> Self {
        Self::byte(id::VENDOR, value)
    }

    /// The value of VENDOR in OUI form.
    #[must_use]
    pub const fn oui([a, b, c]: [u8; 3]) -> [u8; 7] {
        [a, b, c, 0, 0, 0, 0]
    }

    /// PROTOCOL_NAME, opaque.
    #[must_use]
    pub const fn protocol_name(value: [u8; 7]) -> Self {
        Self::byte(id::PROTOCOL_NAME, value)
    }

    /// DATA_OFFSET_VENDOR, formats as VENDOR.
    #[must_use]
    pub const fn data_offset_vendor(value: [u8; 7]) -> Self {
        Self::byte(id::DATA_OFFSET_VENDOR, value)
    }

    /// DATA_OFFSET: octets after each data header, and five octets of the vendor.
    #[must_use]
    pub const fn data_offset(count: u8, v: [u8; 5]) -> Self {
        Self::half(id::MAC_OR_OFFSET, [count, v[0], v[1], v[2], v[3], v[4]])
    }

    /// MAC_ADDRESS of the node that sends it.
    #[must_use]
    pub const fn mac_address(address: [u8; 6]) -> Self {
        Self::half(id::MAC_OR_OFFSET, address)
    }

    /// MTU in octets of Ethernet payload, 1 to 65535.
    #[must_use]
    pub const fn mtu(octets: u16) -> Self {
        let [high, low] = octets.to_be_bytes();
        Self::half(id::MTU, [0, 0, 0, 0, high, low])
    }

    /// CONVEYANCE.
    #[must_use]
    pub const fn conveyance(conveyance: Conveyance) -> Self {
        let (c, i) = (conveyance.channel.to_be_bytes(), conveyance.info.to_be_bytes());
        Self::half(id::CONVEYANCE, [c[0], c[1], i[0], i[1], i[2], i[3]])
    }

    /// REQUEST_RETRY_PERIOD in microseconds.
    #[must_use]
    pub const fn retry_period(microseconds: u32) -> Self {
        Self::word(id::REQUEST_RETRY_PERIOD, microseconds)
    }

    /// REQUEST_TIMEOUT_PERIOD in microseconds.
    #[must_use]
    pub const fn timeout_period(microseconds: u32) -> Self {
        Self::word(id::REQUEST_TIMEOUT_PERIOD, microseconds)
    }

    /// FLOW_CONTROL_XON_TIMEOUT_PERIOD in microseconds.
    #[must_use]
    pub const fn xon_timeout_period(microseconds: u32) -> Self {
        Self::word(id::FLOW_CONTROL_XON_TIMEOUT_PERIOD, microseconds)
    }

    /// OPEN_MESSAGE_NUMBER.
    #[must_use]
    pub const fn message_number(number: u32) -> Self {
        Self::word(id::OPEN_MESSAGE_NUMBER, number)
    }

    /// CONDUIT_STREAM as its sender sees it; 0xFFFF is "not known".
    #[must_use]
    pub const fn conduit_stream(transmit: u16, receive: u16) -> Self {
        Self::word(id::CONDUIT_STREAM, (transmit as u32) << 16 | receive as u32)
    }

    /// DATA_HEADER_FORMAT.
    #[must_use]
    pub const fn data_header_format(format: HeaderFormat) -> Self {
        let specific = if let HeaderFormat::Data2(specific) = format { specific } else { 0 };
        Self::word(id::DATA_HEADER_FORMAT, (specific as u32) << 8 | format.command() as u32)
    }

    /// The identifier.
    #[must_use]
    pub const fn id(self) -> Id {
        let [a, b, c, d, ..] = self.0;
        match a {
            0x00..=0x7F => Id::Byte(a),
            0x80..=0xEF => Id::Half(u16::from_be_bytes([a, b])),
            0xF0..=0xFF => Id::Word(u32::from_be_bytes([a, b, c, d])),
        }
    }

    /// What it means in a list of this ProtoID, directly after `before`.
    #[must_use]
    pub const fn kind(self, protocol: u16, before: Option<Kind>) -> Kind {
        match self.id() {
            Id::Byte(id::VENDOR) => Kind::Vendor,
            Id::Byte(id::PROTOCOL_NAME) if protocol == VENDOR_DEFINED => Kind::ProtocolName,
            Id::Byte(id::DATA_OFFSET_VENDOR) => Kind::DataOffsetVendor,
            Id::Half(id::CONVEYANCE) => Kind::Conveyance,
            Id::Half(id::MTU) => Kind::Mtu,
            Id::Half(id::MAC_OR_OFFSET) => {
                if protocol == ETHERNET && !matches!(before, Some(Kind::DataOffsetVendor)) {
                    Kind::MacAddress
                } else {
                    Kind::DataOffset
                }
            }
            Id::Word(id::REQUEST_RETRY_PERIOD) => Kind::RetryPeriod,
            Id::Word(id::REQUEST_TIMEOUT_PERIOD) => Kind::TimeoutPeriod,
            Id::Word(id::FLOW_CONTROL_XON_TIMEOUT_PERIOD) => Kind::XonTimeoutPeriod,
            Id::Word(id::OPEN_MESSAGE_NUMBER) => Kind::MessageNumber,
            Id::Word(id::CONDUIT_STREAM) => Kind::ConduitStream,
            Id::Word(id::DATA_HEADER_FORMAT) => Kind::DataHeaderFormat,
            id if id.is_vendor() => Kind::VendorRange,
            _ => Kind::Reserved,
        }
    }

    /// Octets 1 to 7: the value of an 8-bit identifier.
    #[must_use]
    pub const fn value56(self) -> [u8; 7] {
        let [_, a, b, c, d, e, f, g] = self.0;
        [a, b, c, d, e, f, g]
    }

    /// Octets 2 to 7: the value of a 16-bit identifier.
    #[must_use]
    pub const fn value48(self) -> [u8; 6] {
        let [_, _, a, b, c, d, e, f] = self.0;
        [a, b, c, d, e, f]
    }

    /// Octets 4 to 7: the value of a 32-bit identifier.
    #[must_use]
    pub const fn value32(self) -> u32 {
        let [_, _, _, _, a, b, c, d] = self.0;
        u32::from_be_bytes([a, b, c, d])
    }

    /// The number of an MTU (octets 6 and 7) or a period (octets 4 to 7).
    #[must_use]
    pub fn number(self, kind: Kind) -> u32 {
        if kind == Kind::Mtu { be16(&self.0, 6).into() } else { self.value32() }
    }

    /// The value of CONVEYANCE.
    #[must_use]
    pub fn as_conveyance(self) -> Conveyance {
        Conveyance { channel: be16(&self.0, 2), info: be32(&self.0, 4) }
    }

    /// The value of CONDUIT_STREAM: (transmit, receive).
    #[must_use]
    pub const fn as_conduit_stream(self) -> (u16, u16) {
        let value = self.value32();
        ((value >> 16) as u16, value as u16)
    }

    /// The value of DATA_HEADER_FORMAT; none if its command octet is no data format. Octet 6 means nothing
    /// unless the format is DATA2 (the text and Table 3-7 differ, so a literal sender may set it for DATA1).
    #[must_use]
    pub const fn as_header_format(self) -> Option<HeaderFormat> {
        match self.0[7] {
            0x06 => Some(HeaderFormat::Data),
            0x09 => Some(HeaderFormat::Data1),
            0x0A => Some(HeaderFormat::Data2(self.0[6])),
            0x0B => Some(HeaderFormat::Data3),
            _ => None,
        }
    }

    /// The first octet that has to be zero and is not, seen in a list of this ProtoID.
    pub(crate) fn reserved_octet(self) -> Option<usize> {
        let zeros = match self.id() {
            Id::Half(id::MTU) => 2..6,
            Id::Half(id::CONVEYANCE) if be16(&self.0, 2) == CHANNEL_MESSAGE => 4..7,
            Id::Word(id::DATA_HEADER_FORMAT) => 4..6,
            _ => return None,
        };
        zeros.into_iter().find(|&octet| self.0[octet] != 0)
    }
}

impl fmt::Debug for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

/// Whether the 7 octets of VENDOR or DATA_OFFSET_VENDOR are an OUI or a name (§3.5.3.1).
#[must_use]
pub fn is_vendor_value(value: [u8; 7]) -> bool {
    let oui = value[3..] == [0; 4] && value[..3] != [0; 3];
    oui || value.iter().all(|&octet| octet != 0)
}

/// A borrowed list, as on the wire.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct List<'a>(pub &'a [[u8; 8]]);

impl<'a> List<'a> {
    /// How many there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// In order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Attribute> + Clone + 'a {
        self.0.iter().map(|&octets| Attribute(octets))
    }

    /// In order, with what each means in a list of this ProtoID.
    pub fn kinds(self, protocol: u16) -> impl Iterator<Item = (Kind, Attribute)> + Clone + 'a {
        let mut before = None;
        self.iter().map(move |attribute| {
            let kind = attribute.kind(protocol, before);
            before = Some(kind);
            (kind, attribute)
        })
    }

    /// The first of a kind.
    #[must_use]
    pub fn find(self, protocol: u16, kind: Kind) -> Option<Attribute> {
        self.kinds(protocol).find(|&(found, _)| found == kind).map(|(_, attribute)| attribute)
    }

    /// The first OPEN_MESSAGE_NUMBER.
    #[must_use]
    pub fn message_number(self) -> Option<u32> {
        self.iter()
            .find(|attribute| attribute.id() == Id::Word(id::OPEN_MESSAGE_NUMBER))
            .map(Attribute::value32)
    }

    /// CONDUIT_STREAM: (transmit, receive) as the sender sees it.
    #[must_use]
    pub fn conduit_stream(self) -> Option<(u16, u16)> {
        self.iter()
            .find(|attribute| attribute.id() == Id::Word(id::CONDUIT_STREAM))
            .map(Attribute::as_conduit_stream)
    }

    /// The protocol that a list of this ProtoID speaks of. None for 0x0101 without VENDOR and PROTOCOL_NAME
    /// in front (after OPEN_MESSAGE_NUMBER), and for 0xFFFF.
    #[must_use]
    pub fn protocol(self, id: u16) -> Option<Protocol> {
        if id != VENDOR_DEFINED {
            return Protocol::standard(id);
        }
        let mut rest = self.kinds(id).skip_while(|&(kind, _)| kind == Kind::MessageNumber);
        match (rest.next()?, rest.next()?) {
            ((Kind::Vendor, vendor), (Kind::ProtocolName, name)) => {
                Some(Protocol::vendor(vendor.value56(), name.value56()))
            }
            _ => None,
        }
    }
}

/// An owned list.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Attributes(Vec<[u8; 8]>);

impl Attributes {
    /// No attributes.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Appends one.
    pub fn push(&mut self, attribute: Attribute) {
        self.0.push(attribute.0);
    }

    /// Inserts one before position `at` (0 to the length).
    ///
    /// # Panics
    /// If `at` is beyond the end.
    pub fn insert(&mut self, at: usize, attribute: Attribute) {
        self.0.insert(at, attribute.0);
    }

    /// The list, borrowed.
    #[must_use]
    pub fn list(&self) -> List<'_> {
        List(&self.0)
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives back what the list does not need.
    pub(crate) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }
}

impl FromIterator<Attribute> for Attributes {
    fn from_iter<T: IntoIterator<Item = Attribute>>(attributes: T) -> Self {
        Self(attributes.into_iter().map(|attribute| attribute.0).collect())
    }
}

impl From<List<'_>> for Attributes {
    fn from(list: List<'_>) -> Self {
        Self(list.0.to_vec())
    }
}

/// The pair that stands for "neither known" in CONDUIT_STREAM.
pub const NEITHER_KNOWN: (u16, u16) = (NO_STREAM, NO_STREAM);
