//! REQUEST, ADVERTISE, OPEN, ACCEPT, REFUSE (Annex 2 §4.2.1 to §4.2.5): the messages with attributes.

use crate::attribute::List;
use crate::message::{Command, Fault, Mode, VERSION, check_padding, check_zero};
use crate::octets::{EmitError, Writer, be16, fits};
use crate::protocol::{ALL_PROTOCOLS, NO_STREAM, StreamClass, VENDOR_DEFINED};

/// Largest Count of ADVERTISE (14 bits).
pub const MAX_COUNT: usize = 0x3FFF;

const S: u16 = 0x8000;
const A: u16 = 0x4000;
/// Octets 5 to 7 of REFUSE.
const REFUSE_FILL: [u8; 3] = [0xFF; 3];

/// The list of `count` attributes from octet `at` on.
fn list<'a>(command: Command, octets: &'a [u8], at: usize, count: u16) -> Result<List<'a>, Fault> {
    let needed = at + 8 * usize::from(count);
    let found = octets.len();
    let Some(list) = octets.get(at..needed) else {
        return Err(Fault::Overrun { command, field: "numAttributes", needed, found });
    };
    Ok(List(list.as_chunks().0))
}

/// In validation mode: reserved octets of attributes that begin at octet `at`.
fn check_attributes(command: Command, list: List<'_>, at: usize, mode: Mode) -> Result<(), Fault> {
    if mode == Mode::NonValidation {
        return Ok(());
    }
    for (index, attribute) in list.iter().enumerate() {
        if let Some(octet) = attribute.reserved_octet() {
            return Err(Fault::Reserved { command, field: "attribute", octet: at + 8 * index + octet });
        }
    }
    Ok(())
}

/// REQUEST: for the list of protocols, or for the attributes of one.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Request<'a> {
    /// The node that asks.
    pub source: u16,
    /// The node that is asked.
    pub destination: u16,
    /// Without meaning; a receiver does not look at it.
    pub cos: u8,
    /// ProtoID; 0xFFFF asks for the list.
    pub protocol: u16,
    /// Filter: identifiers that the answer is to hold. Empty: all.
    pub attributes: List<'a>,
}

impl<'a> Request<'a> {
    const COMMAND: Command = Command::Request;

    pub(crate) fn parse(octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        let attributes = list(Self::COMMAND, octets, 16, be16(octets, 10))?;
        let end = 16 + 8 * attributes.len();
        check_padding(Self::COMMAND, octets, end, Mode::NonValidation)?;
        check_zero(Self::COMMAND, octets, 7..8, mode)?;
        check_zero(Self::COMMAND, octets, 12..16, mode)?;
        let protocol = be16(octets, 8);
        if mode == Mode::Validation && protocol == ALL_PROTOCOLS && !attributes.is_empty() {
            return Err(Fault::Reserved { command: Self::COMMAND, field: "NumAttrib", octet: 10 });
        }
        check_attributes(Self::COMMAND, attributes, 16, mode)?;
        check_padding(Self::COMMAND, octets, end, mode)?;
        Ok(Self {
            source: be16(octets, 2),
            destination: be16(octets, 4),
            cos: octets[6],
            protocol,
            attributes,
        })
    }

    pub(crate) const fn octets(&self) -> usize {
        16 + 8 * self.attributes.len()
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        fits("NumAttrib", self.attributes.len(), 0xFFFF)?;
        let mut writer = Writer::new(out, self.octets())?;
        writer.u8(Self::COMMAND.code()).u8(VERSION).u16(self.source).u16(self.destination).u8(self.cos).u8(0);
        writer.u16(self.protocol).u16(self.attributes.len() as u16).u32(0);
        writer.octets(self.attributes.0.as_flattened());
        Ok(writer.finish())
    }
}

/// What ADVERTISE says.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Answer<'a> {
    /// S = 0: the protocol is not supported.
    Unsupported,
    /// S = 1, A = 0: protocols.
    Protocols(ProtocolList<'a>),
    /// S = 1, A = 1: protocols with attributes.
    Blocks(Blocks<'a>),
}

/// ProtoIDs, two octets each.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ProtocolList<'a>(pub &'a [[u8; 2]]);

impl<'a> ProtocolList<'a> {
    /// The ProtoIDs in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u16> + 'a {
        self.0.iter().map(|&octets| u16::from_be_bytes(octets))
    }
}

/// One protocol of ADVERTISE, and the data of a STATUS reply.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Block<'a> {
    /// ProtoID.
    pub protocol: u16,
    /// Attributes; several copies of one are several acceptable values.
    pub attributes: List<'a>,
}

/// Blocks, one after the other without padding.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Blocks<'a> {
    octets: &'a [u8],
    count: u16,
}

impl<'a> Blocks<'a> {
    /// `count` blocks in front of `octets`.
    ///
    /// # Errors
    /// [`Fault::Overrun`] as of an ADVERTISE.
    pub fn new(octets: &'a [u8], count: u16) -> Result<Self, Fault> {
        let mut end = 0;
        for _ in 0..count {
            let needed = end + 4;
            if octets.len() < needed {
                return Err(Self::overrun("Count", needed, octets.len()));
            }
            end = needed + 8 * usize::from(be16(octets, end + 2));
            if octets.len() < end {
                return Err(Self::overrun("numAttributes", end, octets.len()));
            }
        }
        Ok(Self { octets: &octets[..end], count })
    }

    const fn overrun(field: &'static str, needed: usize, found: usize) -> Fault {
        Fault::Overrun { command: Command::Advertise, field, needed: needed + 8, found: found + 8 }
    }

    /// How many there are.
    #[must_use]
    pub const fn count(self) -> u16 {
        self.count
    }

    /// The octets of the blocks.
    #[must_use]
    pub const fn as_octets(self) -> &'a [u8] {
        self.octets
    }

    /// The blocks in order.
    pub fn iter(self) -> impl Iterator<Item = Block<'a>> {
        let mut rest = self.octets;
        (0..self.count).map(move |_| {
            let (head, tail) = rest.split_at(4);
            let (list, tail) = tail.split_at(8 * usize::from(be16(head, 2)));
            rest = tail;
            Block { protocol: be16(head, 0), attributes: List(list.as_chunks().0) }
        })
    }
}

/// ADVERTISE: the answer to REQUEST.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Advertise<'a> {
    /// The node that advertises.
    pub source: u16,
    /// The node that asked.
    pub destination: u16,
    /// What it says.
    pub answer: Answer<'a>,
}

impl<'a> Advertise<'a> {
    const COMMAND: Command = Command::Advertise;

    pub(crate) fn parse(octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        let flags = be16(octets, 6);
        let (count, body) = (flags & MAX_COUNT as u16, &octets[8..]);
        let answer = match (flags & S != 0, flags & A != 0) {
            (false, false) if count == 0 => Answer::Unsupported,
            (false, _) => return Err(Fault::Advertise { found: flags }),
            (true, false) => {
                let needed = 2 * usize::from(count);
                let Some(list) = body.get(..needed) else {
                    return Err(Blocks::overrun("Count", needed, body.len()));
                };
                Answer::Protocols(ProtocolList(list.as_chunks().0))
            }
            (true, true) => Answer::Blocks(Blocks::new(body, count)?),
        };
        let found = Self { source: be16(octets, 2), destination: be16(octets, 4), answer };
        // The zeros at the end of the body belong to the message, so a short pad is tolerated and a long one
        // is not counted twice.
        let end = found.octets().min(octets.len());
        check_padding(Self::COMMAND, octets, end, mode)?;
        if mode == Mode::Validation {
            found.check_reserved(octets, end)?;
        }
        Ok(found)
    }

    fn check_reserved(&self, octets: &[u8], end: usize) -> Result<(), Fault> {
        check_zero(Self::COMMAND, octets, 8 + self.body()..end, Mode::Validation)?;
        if let Answer::Blocks(blocks) = self.answer {
            let mut at = 8;
            for block in blocks.iter() {
                check_attributes(Self::COMMAND, block.attributes, at + 4, Mode::Validation)?;
                at += 4 + 8 * block.attributes.len();
            }
        }
        Ok(())
    }

    /// Octets of lists and blocks without the zeros after them.
    const fn body(&self) -> usize {
        match self.answer {
            Answer::Unsupported => 0,
            Answer::Protocols(list) => 2 * list.0.len(),
            Answer::Blocks(blocks) => blocks.octets.len(),
        }
    }

    pub(crate) const fn octets(&self) -> usize {
        8 + self.body().next_multiple_of(8)
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let (flags, body) = match self.answer {
            Answer::Unsupported => (0, &[][..]),
            Answer::Protocols(list) => {
                fits("Count", list.0.len(), MAX_COUNT)?;
                (S | list.0.len() as u16, list.0.as_flattened())
            }
            Answer::Blocks(blocks) => {
                fits("Count", blocks.count.into(), MAX_COUNT)?;
                (S | A | blocks.count, blocks.octets)
            }
        };
        let mut writer = Writer::new(out, self.octets())?;
        writer.u8(Self::COMMAND.code()).u8(VERSION).u16(self.source).u16(self.destination).u16(flags);
        writer.octets(body);
        Ok(writer.finish())
    }
}

/// OPEN: asks for a stream from the sender to the receiver of this message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Open<'a> {
    /// The node that asks.
    pub source: u16,
    /// ProtoID.
    pub protocol: u16,
    /// OPEN_MESSAGE_NUMBER first.
    pub attributes: List<'a>,
}

impl<'a> Open<'a> {
    const COMMAND: Command = Command::Open;

    pub(crate) fn parse(octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        let found = Self::parse_lists(octets)?;
        let end = 8 + 8 * found.attributes.len();
        check_attributes(Self::COMMAND, found.attributes, 8, mode)?;
        check_padding(Self::COMMAND, octets, end, mode)?;
        Ok(found)
    }

    /// All checks but those of reserved fields: what a REFUSE for those needs to know.
    ///
    /// # Errors
    /// As [`Message::parse`](crate::message::Message::parse) without validation.
    pub(crate) fn parse_lists(octets: &'a [u8]) -> Result<Self, Fault> {
        let attributes = list(Self::COMMAND, octets, 8, be16(octets, 6))?;
        check_padding(Self::COMMAND, octets, 8 + 8 * attributes.len(), Mode::NonValidation)?;
        if attributes.message_number().is_none() {
            return Err(Fault::MessageNumber { command: Self::COMMAND });
        }
        Ok(Self { source: be16(octets, 2), protocol: be16(octets, 4), attributes })
    }

    /// The first OPEN_MESSAGE_NUMBER.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.attributes.message_number().unwrap_or_default()
    }

    pub(crate) const fn octets(&self) -> usize {
        8 + 8 * self.attributes.len()
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        fits("numAttributes", self.attributes.len(), 0xFFFF)?;
        let mut writer = Writer::new(out, self.octets())?;
        writer.u8(Self::COMMAND.code()).u8(VERSION).u16(self.source).u16(self.protocol);
        writer.u16(self.attributes.len() as u16).octets(self.attributes.0.as_flattened());
        Ok(writer.finish())
    }
}

/// ACCEPT: the stream, and what governs it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Accept<'a> {
    /// The node that sends the ACCEPT and will receive on the stream.
    pub destination: u16,
    /// COS of the data messages.
    pub cos: u8,
    /// The stream.
    pub stream: u16,
    /// ProtoID of the OPEN.
    pub protocol: u16,
    /// OPEN_MESSAGE_NUMBER of the OPEN, and what was agreed.
    pub attributes: List<'a>,
}

impl<'a> Accept<'a> {
    const COMMAND: Command = Command::Accept;

    pub(crate) fn parse(octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        let attributes = list(Self::COMMAND, octets, 12, be16(octets, 10))?;
        let end = 12 + 8 * attributes.len();
        check_padding(Self::COMMAND, octets, end, Mode::NonValidation)?;
        if attributes.message_number().is_none() {
            return Err(Fault::MessageNumber { command: Self::COMMAND });
        }
        let (stream, protocol) = (be16(octets, 6), be16(octets, 8));
        match StreamClass::of(stream) {
            StreamClass::Application => {}
            StreamClass::Vendor if protocol == VENDOR_DEFINED => {}
            _ => return Err(Fault::Stream { command: Self::COMMAND, found: stream }),
        }
        check_zero(Self::COMMAND, octets, 4..5, mode)?;
        check_attributes(Self::COMMAND, attributes, 12, mode)?;
        check_padding(Self::COMMAND, octets, end, mode)?;
        Ok(Self { destination: be16(octets, 2), cos: octets[5], stream, protocol, attributes })
    }

    pub(crate) const fn octets(&self) -> usize {
        12 + 8 * self.attributes.len()
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        fits("numAttributes", self.attributes.len(), 0xFFFF)?;
        fits("StreamID", self.stream.into(), usize::from(NO_STREAM - 1))?;
        let mut writer = Writer::new(out, self.octets())?;
        writer.u8(Self::COMMAND.code()).u8(VERSION).u16(self.destination).u8(0).u8(self.cos);
        writer.u16(self.stream).u16(self.protocol).u16(self.attributes.len() as u16);
        writer.octets(self.attributes.0.as_flattened());
        Ok(writer.finish())
    }
}

/// REFUSE: the attributes are not acceptable.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Refuse<'a> {
    /// The node that sends the REFUSE.
    pub destination: u16,
    /// ProtoID of the OPEN.
    pub protocol: u16,
    /// All attributes of the OPEN, as they were.
    pub attributes: List<'a>,
}

impl<'a> Refuse<'a> {
    const COMMAND: Command = Command::Refuse;

    pub(crate) fn parse(octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        let attributes = list(Self::COMMAND, octets, 12, be16(octets, 10))?;
        let end = 12 + 8 * attributes.len();
        check_padding(Self::COMMAND, octets, end, Mode::NonValidation)?;
        if attributes.message_number().is_none() {
            return Err(Fault::MessageNumber { command: Self::COMMAND });
        }
        check_zero(Self::COMMAND, octets, 4..5, mode)?;
        if mode == Mode::Validation && octets[5..8] != REFUSE_FILL {
            return Err(Fault::Reserved { command: Self::COMMAND, field: "constant", octet: 5 });
        }
        check_attributes(Self::COMMAND, attributes, 12, mode)?;
        check_padding(Self::COMMAND, octets, end, mode)?;
        Ok(Self { destination: be16(octets, 2), protocol: be16(octets, 8), attributes })
    }

    pub(crate) const fn octets(&self) -> usize {
        12 + 8 * self.attributes.len()
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        fits("numAttributes", self.attributes.len(), 0xFFFF)?;
        let mut writer = Writer::new(out, self.octets())?;
        writer.u8(Self::COMMAND.code()).u8(VERSION).u16(self.destination).u8(0).octets(&REFUSE_FILL);
        writer.u16(self.protocol).u16(self.attributes.len() as u16);
        writer.octets(self.attributes.0.as_flattened());
        Ok(writer.finish())
    }
}
