//! DATA, DATA1 and DATA2 (Annex 2 §4.3). DATA3 has no header: the conveyance carries the payload alone.

use crate::message::{Command, Fault, MAX_PADDING, Mode, VERSION, check_zero};
use crate::octets::{EmitError, Writer, be16, be32, fits};
use crate::protocol::NO_STREAM;

/// Largest Length of DATA (12 bits).
pub const MAX_DATA: u32 = 0xFFF;
/// Largest Length of DATA1 (30 bits).
pub const MAX_DATA1: u32 = 0x3FFF_FFFF;
/// Largest Length of DATA2: 16384 less the header.
pub const MAX_DATA2: u32 = 16380;

/// What the header says beside S, E and Length.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Header {
    /// DATA.
    Data {
        /// Mailbox of the receiver.
        mailbox: u8,
        /// COS of the stream.
        cos: u8,
        /// The sender.
        source: u16,
        /// In first and last segments the StreamID, in others the length of the PDU.
        tag: u16,
    },
    /// DATA1.
    Data1 {
        /// Mailbox of the receiver.
        mailbox: u8,
        /// COS of the stream.
        cos: u8,
        /// The sender.
        source: u16,
        /// In first and last segments the StreamID, in others the length of the PDU.
        tag: u32,
    },
    /// DATA2.
    Data2 {
        /// Implementation-Specific: which stream of this sender.
        specific: u8,
    },
}

/// A data message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Data<'a> {
    /// Fields that depend on the format.
    pub header: Header,
    /// S: first segment.
    pub start: bool,
    /// E: last segment.
    pub end: bool,
    /// Octets of payload in this message, without Offset octets and padding.
    pub length: u32,
    /// All after the header: Offset octets, payload, and if received perhaps padding.
    pub body: &'a [u8],
}

impl<'a> Data<'a> {
    /// The command.
    #[must_use]
    pub const fn command(&self) -> Command {
        match self.header {
            Header::Data { .. } => Command::Data,
            Header::Data1 { .. } => Command::Data1,
            Header::Data2 { .. } => Command::Data2,
        }
    }

    /// Whether the header names a stream; if not, DATA and DATA1 give the length of the PDU in its place.
    #[must_use]
    pub const fn names_stream(&self) -> bool {
        self.start || self.end
    }

    /// The StreamID, where the header has one.
    #[must_use]
    pub const fn stream(&self) -> Option<u16> {
        match self.header {
            Header::Data { tag, .. } if self.names_stream() => Some(tag),
            Header::Data1 { tag, .. } if self.names_stream() => Some(tag as u16),
            _ => None,
        }
    }

    /// The length of the PDU, where the header has it.
    #[must_use]
    pub const fn pdu_length(&self) -> Option<u32> {
        match self.header {
            Header::Data { tag, .. } if !self.names_stream() => Some(tag as u32),
            Header::Data1 { tag, .. } if !self.names_stream() => Some(tag),
            _ => None,
        }
    }

    /// Mailbox, COS and SourceID, where the header has them.
    #[must_use]
    pub const fn context(&self) -> Option<(u8, u8, u16)> {
        match self.header {
            Header::Data { mailbox, cos, source, .. } | Header::Data1 { mailbox, cos, source, .. } => {
                Some((mailbox, cos, source))
            }
            Header::Data2 { .. } => None,
        }
    }

    pub(crate) fn parse(command: Command, octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        let (flags, length) = match command {
            Command::Data1 => (octets[8], be32(octets, 8) & MAX_DATA1),
            Command::Data2 => (octets[2], (be16(octets, 2) & 0x3FFF).into()),
            _ => (octets[8], u32::from(be16(octets, 8)) & MAX_DATA),
        };
        let (start, end) = (flags & 0x80 != 0, flags & 0x40 != 0);
        let body = &octets[command.header_len()..];
        let header = match command {
            Command::Data2 => Header::Data2 { specific: octets[1] },
            Command::Data1 => {
                let tag = be32(octets, 12);
                let tag = if start || end { tag >> 16 } else { tag };
                Header::Data1 { mailbox: octets[2], cos: octets[3], source: be16(octets, 6), tag }
            }
            _ => Header::Data {
                mailbox: octets[2],
                cos: octets[3],
                source: be16(octets, 6),
                tag: be16(octets, 10),
            },
        };
        let found = Self { header, start, end, length, body };
        // At least so much payload has to be there, whatever the Offset octets of the stream.
        found.check_length(0)?;
        if let Some(NO_STREAM) = found.stream() {
            return Err(Fault::Stream { command, found: NO_STREAM });
        }
        if command != Command::Data2 {
            check_zero(command, octets, 4..6, mode)?;
        }
        match command {
            Command::Data if mode == Mode::Validation && octets[8] & 0x30 != 0 => {
                return Err(Fault::Reserved { command, field: "reserved", octet: 8 });
            }
            Command::Data1 if start || end => check_zero(command, octets, 14..16, mode)?,
            _ => {}
        }
        Ok(found)
    }

    fn check_length(&self, offset: usize) -> Result<(), Fault> {
        let found = self.body.len().saturating_sub(offset);
        let too_long = matches!(self.header, Header::Data2 { .. }) && self.length > MAX_DATA2;
        if too_long || found < self.length as usize || self.body.len() < offset {
            return Err(Fault::Length { command: self.command(), length: self.length, found });
        }
        Ok(())
    }

    /// The payload of a stream whose messages have `offset` Offset octets: (Offset octets, payload).
    ///
    /// # Errors
    /// [`Fault::Length`], [`Fault::Trailing`], and in validation mode [`Fault::Reserved`] for the padding.
    pub fn payload(&self, offset: u8, mode: Mode) -> Result<(&'a [u8], &'a [u8]), Fault> {
        let (command, offset) = (self.command(), usize::from(offset));
        self.check_length(offset)?;
        let (offset, rest) = self.body.split_at(offset);
        let (payload, padding) = rest.split_at(self.length as usize);
        if padding.len() > MAX_PADDING {
            return Err(Fault::Trailing { command, found: padding.len() });
        }
        if mode == Mode::Validation && padding.iter().any(|&octet| octet != 0) {
            let octet = command.header_len() + self.body.len() - padding.len();
            return Err(Fault::Reserved { command, field: "padding", octet });
        }
        Ok((offset, payload))
    }

    pub(crate) const fn octets(&self) -> usize {
        self.command().header_len() + self.body.len()
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let length = self.length as usize;
        fits("Length", length, self.body.len())?;
        let mut writer = Writer::new(out, self.octets())?;
        let flags = u32::from(self.start) << 1 | u32::from(self.end);
        match self.header {
            Header::Data { mailbox, cos, source, tag } => {
                fits("Length", length, MAX_DATA as usize)?;
                writer.u8(Command::Data.code()).u8(VERSION).u8(mailbox).u8(cos).u16(0).u16(source);
                writer.u16((flags << 14 | self.length) as u16).u16(tag);
            }
            Header::Data1 { mailbox, cos, source, tag } => {
                fits("Length", length, MAX_DATA1 as usize)?;
                writer.u8(Command::Data1.code()).u8(VERSION).u8(mailbox).u8(cos).u16(0).u16(source);
                writer.u32(flags << 30 | self.length);
                if self.names_stream() {
                    fits("StreamID", tag as usize, 0xFFFF)?;
                    writer.u16(tag as u16).u16(0);
                } else {
                    writer.u32(tag);
                }
            }
            Header::Data2 { specific } => {
                fits("Length", length, MAX_DATA2 as usize)?;
                writer.u8(Command::Data2.code()).u8(specific).u16((flags << 14 | self.length) as u16);
            }
        }
        writer.octets(self.body);
        Ok(writer.finish())
    }
}
