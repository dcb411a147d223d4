//! Which attributes an OPEN may carry, what an acceptor makes of them, and what governs a stream in the end
//! (Annex 2 §3.5.3, §3.8.2, §6.2, §7.2).

use crate::attribute::{Attribute, Attributes, Conveyance, HeaderFormat, Id, Kind, List, is_vendor_value};
use crate::protocol::{ETHERNET, Protocol, VENDOR_DEFINED};
use alloc::vec::Vec;

/// REQUEST_RETRY_PERIOD when nothing is said, in microseconds.
pub const RETRY_PERIOD: u32 = 250_000;
/// REQUEST_TIMEOUT_PERIOD when nothing is said, in microseconds.
pub const TIMEOUT_PERIOD: u32 = 1_000_000;
/// FLOW_CONTROL_XON_TIMEOUT_PERIOD when nothing is said, in microseconds.
pub const XON_TIMEOUT_PERIOD: u32 = 1_000_000;

/// A protocol that a node takes part in.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Offer {
    /// Which.
    pub protocol: Protocol,
    /// The block of ADVERTISE: several copies of an attribute are several acceptable values. For 0x0101 it
    /// begins with VENDOR and PROTOCOL_NAME.
    pub advertise: Attributes,
    /// What this node's own OPENs carry after OPEN_MESSAGE_NUMBER (and around CONDUIT_STREAM).
    pub open: Attributes,
    /// COS of streams to this node.
    pub cos: u8,
    /// Data header of streams to this node; of DATA2 the octet is chosen for each stream.
    pub header: HeaderFormat,
    /// Attributes of vendor ranges that this node understands.
    pub vendor_attributes: Vec<Id>,
    /// Whether a further plain OPEN of a peer gets the stream that it has already.
    pub reuse: bool,
    /// Shortest period that a peer may set, in microseconds: a short one makes this node repeat itself fast.
    pub min_period: u32,
    /// The vendor protocol hands out StreamIDs 0xE000 to 0xEFFF in ACCEPT.
    pub vendor_streams: bool,
}

impl Offer {
    /// A protocol without attributes, COS 0, DATA headers.
    #[must_use]
    pub fn plain(protocol: Protocol) -> Self {
        let mut identity = Attributes::new();
        if let Some(vendor) = protocol.vendor_protocol() {
            identity.push(Attribute::vendor(vendor.vendor));
            identity.push(Attribute::protocol_name(vendor.name));
        }
        Self {
            protocol,
            advertise: identity.clone(),
            open: identity,
            cos: 0,
            header: HeaderFormat::Data,
            vendor_attributes: Vec::new(),
            reuse: false,
            min_period: 1,
            vendor_streams: false,
        }
    }

    fn understands(&self, kind: Kind, id: Id) -> bool {
        match kind {
            Kind::Reserved => false,
            Kind::VendorRange => self.vendor_attributes.contains(&id),
            _ => true,
        }
    }
}

/// Why an OPEN is refused.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Refusal {
    /// Nobody here speaks that protocol.
    Protocol,
    /// An attribute that is not understood.
    NotUnderstood(Kind),
    /// A required attribute is missing.
    Missing(Kind),
    /// An attribute stands in the wrong place.
    Order(Kind),
    /// An attribute stands there twice and must not.
    Duplicate(Kind),
    /// A value that is illegal for everybody.
    Value(Kind),
    /// A legal value that this node does not offer.
    NotOffered(Kind),
    /// A reserved octet is not zero (validation mode).
    Reserved,
    /// No StreamID, no room, or no conduit that fits.
    State,
    /// The number of an earlier OPEN with other octets.
    NumberReused,
}

impl Refusal {
    /// Whether the sender breaks a rule, rather than asking for what there is not.
    #[must_use]
    pub const fn is_suspect(self) -> bool {
        matches!(self, Self::Order(_) | Self::Duplicate(_) | Self::Value(_) | Self::Reserved)
    }
}

/// Place of a kind in a list: message number, required, optional, vendor's.
const fn rank(kind: Kind, protocol: u16) -> u8 {
    match kind {
        Kind::MessageNumber => 0,
        Kind::Vendor | Kind::ProtocolName if protocol == VENDOR_DEFINED => 1,
        Kind::Mtu | Kind::Conveyance | Kind::MacAddress if protocol == ETHERNET => 1,
        Kind::Vendor | Kind::VendorRange => 3,
        _ => 2,
    }
}

/// Attributes that a protocol requires, OPEN_MESSAGE_NUMBER apart.
const fn required(protocol: u16) -> &'static [Kind] {
    match protocol {
        ETHERNET => &[Kind::Mtu, Kind::Conveyance, Kind::MacAddress],
        VENDOR_DEFINED => &[Kind::Vendor, Kind::ProtocolName],
        _ => &[],
    }
}

/// Whether a value is legal at all.
fn is_legal(kind: Kind, attribute: Attribute) -> bool {
    match kind {
        Kind::Vendor | Kind::DataOffsetVendor => is_vendor_value(attribute.value56()),
        Kind::Conveyance => {
            let conveyance = attribute.as_conveyance();
            conveyance.is_vendor() || conveyance.as_mailbox().is_some()
        }
        Kind::Mtu | Kind::RetryPeriod | Kind::TimeoutPeriod | Kind::XonTimeoutPeriod => {
            attribute.number(kind) != 0
        }
        Kind::MacAddress => {
            let address = attribute.value48();
            address[0] & 1 == 0 && address != [0; 6]
        }
        Kind::DataHeaderFormat => attribute.as_header_format().is_some(),
        _ => true,
    }
}

/// Order, repetition, presence and legality of the attributes of an OPEN, whoever receives it.
///
/// # Errors
/// The first rule that is broken.
pub fn check_open(protocol: u16, list: List<'_>) -> Result<(), Refusal> {
    let mut seen: u32 = 0;
    let has = |seen: u32, kind: Kind| seen >> kind as u32 & 1 == 1;
    let (mut highest, mut before) = (0, None);
    for (kind, attribute) in list.kinds(protocol) {
        match kind {
            Kind::Reserved => return Err(Refusal::NotUnderstood(kind)),
            Kind::MessageNumber if before.is_none() => {}
            _ if before.is_none() => return Err(Refusal::Order(Kind::MessageNumber)),
            _ if kind.is_single() && has(seen, kind) => return Err(Refusal::Duplicate(kind)),
            Kind::VendorRange if !has(seen, Kind::Vendor) => return Err(Refusal::Missing(Kind::Vendor)),
            _ => {}
        }
        let place = rank(kind, protocol);
        let misplaced = match (kind, before) {
            (Kind::Vendor, Some(before)) if protocol == VENDOR_DEFINED => before != Kind::MessageNumber,
            (Kind::ProtocolName, before) => before != Some(Kind::Vendor),
            (_, Some(Kind::Vendor)) if protocol == VENDOR_DEFINED => true,
            (kind, Some(Kind::DataOffsetVendor)) => kind != Kind::DataOffset,
            (Kind::DataOffset, _) => has(seen, Kind::DataOffsetVendor),
            _ => false,
        };
        if place < highest || misplaced {
            return Err(Refusal::Order(kind));
        }
        if !is_legal(kind, attribute) {
            return Err(Refusal::Value(kind));
        }
        highest = place;
        seen |= 1 << kind as u32;
        before = Some(kind);
    }
    if before == Some(Kind::DataOffsetVendor) {
        return Err(Refusal::Missing(Kind::DataOffset));
    }
    if let Some(&missing) = required(protocol).iter().find(|&&kind| !has(seen, kind)) {
        return Err(Refusal::Missing(missing));
    }
    let vendor_channel = list
        .kinds(protocol)
        .any(|(kind, attribute)| kind == Kind::Conveyance && attribute.as_conveyance().is_vendor());
    if vendor_channel && !has(seen, Kind::Vendor) {
        return Err(Refusal::Missing(Kind::Vendor));
    }
    Ok(())
}

/// The acceptable numbers that copies of an attribute express (§3.8.2).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Numbers {
    /// No copy.
    Any,
    /// Exactly two: from the smaller to the larger.
    Range(u32, u32),
    /// One, or more than two.
    Set(Vec<u32>),
}

impl Numbers {
    /// What the copies of `kind` in a list say.
    #[must_use]
    pub fn of(list: List<'_>, protocol: u16, kind: Kind) -> Self {
        let copies = list.kinds(protocol).filter(|&(found, _)| found == kind);
        let numbers: Vec<u32> = copies.map(|(_, attribute)| attribute.number(kind)).collect();
        match *numbers {
            [] => Self::Any,
            [a, b] => Self::Range(a.min(b), a.max(b)),
            _ => Self::Set(numbers),
        }
    }

    /// Whether a number is one of them.
    #[must_use]
    pub fn contains(&self, number: u32) -> bool {
        match self {
            Self::Any => true,
            Self::Range(low, high) => (*low..=*high).contains(&number),
            Self::Set(numbers) => numbers.contains(&number),
        }
    }

    /// Numbers worth trying, in order of preference.
    fn candidates(&self) -> impl Iterator<Item = u32> + '_ {
        let (ends, set) = match self {
            Self::Any => (None, &[][..]),
            Self::Range(low, high) => (Some([*low, *high]), &[][..]),
            Self::Set(numbers) => (None, &numbers[..]),
        };
        ends.into_iter().flatten().chain(set.iter().copied())
    }

    /// A number of both.
    fn common(&self, own: &Self) -> Option<u32> {
        let mut all = self.candidates().chain(own.candidates());
        all.find(|&number| self.contains(number) && own.contains(number))
    }

    /// The largest number of `own` that the OPEN allows; an MTU may be answered with a smaller one.
    fn largest(&self, own: &Self) -> Option<u32> {
        let (low, high) = match self {
            Self::Any => (1, u32::from(u16::MAX)),
            Self::Range(low, high) => (*low, *high),
            Self::Set(numbers) if numbers.len() == 1 => (1, numbers[0]),
            Self::Set(_) => {
                return self.candidates().filter(|&number| own.contains(number)).max();
            }
        };
        let all = [high].into_iter().chain(own.candidates());
        all.filter(|&number| number >= low && number <= high && own.contains(number)).max()
    }
}

/// What an acceptor makes of an OPEN: the list for ACCEPT in the order of the OPEN, one value for each
/// attribute, without DATA_HEADER_FORMAT. `mailbox`: where this node takes data if its offer does not say.
///
/// # Errors
/// Why the OPEN has to be refused.
pub fn judge_open(offer: &Offer, list: List<'_>, mailbox: Option<u8>) -> Result<Attributes, Refusal> {
    let protocol = offer.protocol.id();
    check_open(protocol, list)?;
    let mut agreed = Attributes::new();
    let mut done: Vec<Id> = Vec::new();
    for (kind, attribute) in list.kinds(protocol) {
        let id = attribute.id();
        if !offer.understands(kind, id) {
            return Err(Refusal::NotUnderstood(kind));
        }
        if kind == Kind::DataHeaderFormat || !kind.is_single() && done.contains(&id) {
            continue;
        }
        done.push(id);
        agreed.push(match kind {
            Kind::Mtu => {
                let (asked, own) = numbers(offer, list, kind);
                Attribute::mtu(asked.largest(&own).ok_or(Refusal::NotOffered(kind))? as u16)
            }
            Kind::RetryPeriod | Kind::TimeoutPeriod | Kind::XonTimeoutPeriod => {
                let (asked, own) = numbers(offer, list, kind);
                let number = asked.common(&own).filter(|&number| number >= offer.min_period);
                let number = number.ok_or(Refusal::NotOffered(kind))?;
                match kind {
                    Kind::RetryPeriod => Attribute::retry_period(number),
                    Kind::TimeoutPeriod => Attribute::timeout_period(number),
                    _ => Attribute::xon_timeout_period(number),
                }
            }
            Kind::Conveyance => {
                let Some(conveyance) = own_conveyance(offer, list, mailbox)? else { continue };
                Attribute::conveyance(conveyance)
            }
            _ => attribute,
        });
    }
    Ok(agreed)
}

/// Where this node takes the data of a stream whose OPEN has CONVEYANCE: there, if it is one of its places. A
/// mailbox is what the initiator supposes, and where data is taken only the acceptor knows (§7.2.2): it names
/// its own. `None`: on a stream of type 9, which DATA_HEADER_FORMAT says.
fn own_conveyance(offer: &Offer, list: List<'_>, mailbox: Option<u8>) -> Result<Option<Conveyance>, Refusal> {
    let protocol = offer.protocol.id();
    let of = |list: List<'_>| -> Vec<Conveyance> {
        let found = list.kinds(protocol).filter(|&(kind, _)| kind == Kind::Conveyance);
        found.map(|(_, attribute)| attribute.as_conveyance()).collect()
    };
    let (asked, mut own) = (of(list), of(offer.advertise.list()));
    let supposed = asked.iter().any(|asked| asked.as_mailbox().is_some());
    if offer.header == HeaderFormat::Data3 && protocol != ETHERNET && own.is_empty() && supposed {
        return Ok(None);
    }
    if own.is_empty() {
        own.extend(mailbox.map(Conveyance::mailbox));
    }
    let same = asked.iter().find(|asked| own.iter().any(|own| own.is_same(**asked)));
    let mine = || own.iter().find(|own| supposed && own.as_mailbox().is_some());
    let conveyance = *same.or_else(mine).ok_or(Refusal::NotOffered(Kind::Conveyance))?;
    // Without what may have stood in reserved octets.
    Ok(Some(conveyance.as_mailbox().map_or(conveyance, Conveyance::mailbox)))
}

fn numbers(offer: &Offer, list: List<'_>, kind: Kind) -> (Numbers, Numbers) {
    let protocol = offer.protocol.id();
    (Numbers::of(list, protocol, kind), Numbers::of(offer.advertise.list(), protocol, kind))
}

/// Where DATA_HEADER_FORMAT belongs: after the optional attributes, before the vendor's.
#[must_use]
pub fn optional_end(protocol: u16, list: List<'_>) -> usize {
    list.kinds(protocol).take_while(|&(kind, _)| rank(kind, protocol) < 3).count()
}

/// What an initiator finds wrong with an ACCEPT; it closes the stream.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Surprise {
    /// An attribute that the OPEN did not have and that is not understood.
    NotUnderstood(Kind),
    /// A value that the OPEN did not allow, an illegal one, or a second one.
    Value(Kind),
    /// The ProtoID is not that of the OPEN.
    Protocol,
    /// A conveyance or data header that this node cannot use.
    Conveyance,
}

/// What governs a stream, from the list of its OPEN and that of its ACCEPT.
///
/// # Errors
/// Why the stream cannot be used.
pub fn judge_accept(offer: &Offer, open: List<'_>, accept: List<'_>) -> Result<Attributes, Surprise> {
    let protocol = offer.protocol.id();
    let mut agreed = Attributes::new();
    for (kind, attribute) in accept.kinds(protocol) {
        let asked = open.kinds(protocol).any(|(_, asked)| asked.id() == attribute.id());
        if !asked && !offer.understands(kind, attribute.id()) {
            return Err(Surprise::NotUnderstood(kind));
        }
        let fits = match kind {
            Kind::Mtu => {
                let asked = open.kinds(protocol).filter(|&(asked, _)| asked == kind);
                let largest = asked.map(|(_, asked)| asked.number(kind)).max();
                largest.is_none_or(|largest| attribute.number(kind) <= largest)
            }
            _ if kind.is_numeric() => {
                let number = attribute.number(kind);
                number >= offer.min_period && Numbers::of(open, protocol, kind).contains(number)
            }
            _ => true,
        };
        let again =
            agreed.list().kinds(protocol).any(|(before, old)| before == kind && old.id() == attribute.id());
        if again || !fits || !is_legal(kind, attribute) {
            return Err(Surprise::Value(kind));
        }
        agreed.push(attribute);
    }
    // What the ACCEPT leaves out stands as in the OPEN, except what the ACCEPT alone decides: the header,
    // and with it whether data goes to a mailbox.
    let by_stream = Terms::of(protocol, agreed.list(), 0, 0, 0).header == HeaderFormat::Data3;
    for (kind, attribute) in open.kinds(protocol) {
        let known =
            agreed.list().kinds(protocol).any(|(known, old)| known == kind && old.id() == attribute.id());
        if known || kind == Kind::DataHeaderFormat || kind == Kind::Conveyance && by_stream {
            continue;
        }
        // Of several values the least, which all of them cover; of those without order the first.
        let copies = open.kinds(protocol).filter(|&(copy, _)| kind.is_numeric() && copy == kind);
        let least = copies.map(|(_, copy)| copy).min_by_key(|copy| copy.number(kind));
        agreed.push(least.unwrap_or(attribute));
    }
    Ok(agreed)
}

/// What a list says that a stream has to obey. Periods in microseconds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Terms {
    /// REQUEST_RETRY_PERIOD.
    pub retry: u32,
    /// REQUEST_TIMEOUT_PERIOD.
    pub timeout: u32,
    /// FLOW_CONTROL_XON_TIMEOUT_PERIOD.
    pub xon_timeout: u32,
    /// MTU.
    pub mtu: Option<u16>,
    /// Offset octets in each data message.
    pub offset: u8,
    /// Where data goes, if not where management messages go.
    pub conveyance: Option<Conveyance>,
    /// Data header.
    pub header: HeaderFormat,
}

impl Terms {
    /// The terms of a list, with defaults for what it does not say.
    #[must_use]
    pub fn of(protocol: u16, list: List<'_>, retry: u32, timeout: u32, xon_timeout: u32) -> Self {
        let mut terms = Self {
            retry,
            timeout,
            xon_timeout,
            mtu: None,
            offset: 0,
            conveyance: None,
            header: HeaderFormat::Data,
        };
        for (kind, attribute) in list.kinds(protocol) {
            match kind {
                Kind::RetryPeriod => terms.retry = attribute.value32(),
                Kind::TimeoutPeriod => terms.timeout = attribute.value32(),
                Kind::XonTimeoutPeriod => terms.xon_timeout = attribute.value32(),
                Kind::Mtu => terms.mtu = Some(attribute.number(kind) as u16),
                Kind::DataOffset => terms.offset = attribute.0[2],
                Kind::Conveyance => terms.conveyance = Some(attribute.as_conveyance()),
                Kind::DataHeaderFormat => terms.header = attribute.as_header_format().unwrap_or_default(),
                _ => {}
            }
        }
        terms
    }
}

/// The attributes of an OPEN made from a block of ADVERTISE.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proposal {
    /// Without OPEN_MESSAGE_NUMBER and CONDUIT_STREAM.
    pub attributes: Attributes,
    /// A value between the ends of a range is among them: if that is refused, only the ends remain.
    pub intermediate: bool,
}

/// Makes an OPEN of an ADVERTISE: its order is kept, optional and vendor attributes that `offer` does not
/// understand are left out, copies are reduced to the wish where there is one (one attribute of a kind in
/// `wishes`), MAC_ADDRESS is the own one. With `ends_only` a wish inside a range becomes its lower end.
#[must_use]
pub fn propose(offer: &Offer, block: List<'_>, wishes: List<'_>, ends_only: bool) -> Proposal {
    let protocol = offer.protocol.id();
    let mut proposal = Proposal { attributes: Attributes::new(), intermediate: false };
    // Two kinds have one identifier: MAC_ADDRESS and, behind DATA_OFFSET_VENDOR, DATA_OFFSET.
    let mut done: Vec<(Kind, Id)> = Vec::new();
    for (kind, attribute) in block.kinds(protocol) {
        let id = attribute.id();
        if done.contains(&(kind, id)) || !offer.understands(kind, id) {
            continue;
        }
        let wish = wishes.kinds(protocol).find(|&(wish, own)| wish == kind && own.id() == id);
        let Some((_, wish)) = wish else {
            proposal.attributes.push(attribute);
            continue;
        };
        done.push((kind, id));
        let (number, offered) = (wish.number(kind), Numbers::of(block, protocol, kind));
        match offered {
            _ if kind == Kind::MacAddress => proposal.attributes.push(wish),
            _ if !kind.is_numeric() => {
                let offered = block.iter().any(|offered| offered == wish);
                proposal.attributes.push(if offered { wish } else { attribute });
            }
            Numbers::Range(low, high) if number == low || number == high => proposal.attributes.push(wish),
            Numbers::Range(low, high) if low < number && number < high && !ends_only => {
                proposal.intermediate = true;
                proposal.attributes.push(wish);
            }
            Numbers::Range(low, high) => {
                let end = if number > high { high } else { low };
                let copies = block.kinds(protocol).filter(|&(copy, _)| copy == kind);
                let end = copies.map(|(_, copy)| copy).find(|copy| copy.number(kind) == end);
                proposal.attributes.push(end.unwrap_or(attribute));
            }
            _ if offered.contains(number) => proposal.attributes.push(wish),
            _ => proposal.attributes.push(attribute),
        }
    }
    proposal
}
