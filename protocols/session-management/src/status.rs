//! FLOW_CONTROL, CLOSE, STATUS, USERDEFINED (Annex 2 §4.2.6 to §4.2.9).

use crate::message::{Command, Fault, Mode, VERSION, check_padding, check_zero};
use crate::octets::{EmitError, Writer, be16, be32, fits};
use crate::protocol::NO_STREAM;

/// Octets of FLOW_CONTROL, of CLOSE, and of STATUS without data.
pub const FIXED_OCTETS: usize = 16;

/// What FLOW_CONTROL asks for.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Flow {
    /// 0x00: stop.
    Xoff,
    /// 0x01: go on.
    Xon,
    /// 0xFF: the source asks to go on.
    Rts,
}

impl Flow {
    /// Every one, by code.
    pub const ALL: [Self; 3] = [Self::Xoff, Self::Xon, Self::Rts];

    /// The name in the annex.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xoff => "XOFF",
            Self::Xon => "XON",
            Self::Rts => "RTS",
        }
    }

    /// The octet.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Xoff => 0x00,
            Self::Xon => 0x01,
            Self::Rts => 0xFF,
        }
    }

    /// The meaning of an octet.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0x00 => Some(Self::Xoff),
            0x01 => Some(Self::Xon),
            0xFF => Some(Self::Rts),
            _ => None,
        }
    }
}

/// FLOW_CONTROL.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct FlowControl {
    /// COS of the stream.
    pub cos: u8,
    /// What is asked for.
    pub flow: Flow,
    /// The node that sends the data of the stream, whoever sends this message.
    pub source: u16,
    /// The stream.
    pub stream: u16,
    /// ProtoID of the stream.
    pub protocol: u16,
}

impl FlowControl {
    const COMMAND: Command = Command::FlowControl;

    pub(crate) fn parse(octets: &[u8], mode: Mode) -> Result<Self, Fault> {
        check_padding(Self::COMMAND, octets, FIXED_OCTETS, Mode::NonValidation)?;
        let flow = Flow::from_code(octets[3]).ok_or(Fault::FlowControl { found: octets[3] })?;
        let stream = be16(octets, 6);
        if stream == NO_STREAM {
            return Err(Fault::Stream { command: Self::COMMAND, found: stream });
        }
        check_zero(Self::COMMAND, octets, 10..16, mode)?;
        check_padding(Self::COMMAND, octets, FIXED_OCTETS, mode)?;
        Ok(Self { cos: octets[2], flow, source: be16(octets, 4), stream, protocol: be16(octets, 8) })
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        fits("StreamID", self.stream.into(), usize::from(NO_STREAM - 1))?;
        let mut writer = Writer::new(out, FIXED_OCTETS)?;
        writer.u8(Self::COMMAND.code()).u8(VERSION).u8(self.cos).u8(self.flow.code());
        writer.u16(self.source).u16(self.stream).u16(self.protocol);
        Ok(writer.finish())
    }
}

/// CLOSE: either end ends a stream.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Close {
    /// The node that sends the data of the stream.
    pub source: u16,
    /// The node that receives it.
    pub destination: u16,
    /// COS of the stream.
    pub cos: u8,
    /// The stream.
    pub stream: u16,
}

impl Close {
    const COMMAND: Command = Command::Close;

    pub(crate) fn parse(octets: &[u8], mode: Mode) -> Result<Self, Fault> {
        check_padding(Self::COMMAND, octets, FIXED_OCTETS, Mode::NonValidation)?;
        let stream = be16(octets, 8);
        if stream == NO_STREAM {
            return Err(Fault::Stream { command: Self::COMMAND, found: stream });
        }
        check_zero(Self::COMMAND, octets, 7..8, mode)?;
        check_zero(Self::COMMAND, octets, 10..16, mode)?;
        check_padding(Self::COMMAND, octets, FIXED_OCTETS, mode)?;
        Ok(Self { source: be16(octets, 2), destination: be16(octets, 4), cos: octets[6], stream })
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        fits("StreamID", self.stream.into(), usize::from(NO_STREAM - 1))?;
        let mut writer = Writer::new(out, FIXED_OCTETS)?;
        writer.u8(Self::COMMAND.code()).u8(VERSION).u16(self.source).u16(self.destination);
        writer.u8(self.cos).u8(0).u16(self.stream);
        Ok(writer.finish())
    }
}

/// Bits of the Status word.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StatusBits(pub u32);

impl StatusBits {
    /// The sender of the STATUS has no such stream.
    pub const STREAM_UNKNOWN: Self = Self(0x0000_0001);
    /// The stream is open.
    pub const FUNCTIONAL: Self = Self(0x0000_0002);
    /// The sender is the destination and takes data.
    pub const READY_TO_RECEIVE: Self = Self(0x0000_0004);
    /// The sender is the source and has data.
    pub const DATA_READY: Self = Self(0x0000_0008);
    /// Always zero.
    pub const RESERVED: Self = Self(0x0FFF_FFF0);
    /// The stream exists but failed.
    pub const ERROR: Self = Self(0x1000_0000);
    /// The stream is not open, or not any more.
    pub const CLOSED: Self = Self(0x2000_0000);
    /// A command was not understood.
    pub const COMMAND_UNKNOWN: Self = Self(0x4000_0000);
    /// A query.
    pub const REQUEST: Self = Self(0x8000_0000);
    /// What is said of a stream that is not open here.
    pub const NO_SUCH_STREAM: Self = Self(0x2000_0001);

    /// The bits that mean something with their names, from the last one on.
    pub const NAMES: [(&str, Self); 8] = [
        ("Stream Unknown", Self::STREAM_UNKNOWN),
        ("Stream Functional", Self::FUNCTIONAL),
        ("Ready to Receive", Self::READY_TO_RECEIVE),
        ("Data Ready to Send", Self::DATA_READY),
        ("Error", Self::ERROR),
        ("Closed", Self::CLOSED),
        ("Command Unknown", Self::COMMAND_UNKNOWN),
        ("Request Status of Remote", Self::REQUEST),
    ];

    /// Whether any bit of `other` is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The bits of both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// STATUS.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Status<'a> {
    /// COS of the stream; 0 in a report of an unknown command.
    pub cos: u8,
    /// The node that sends the data of the stream; in a report of an unknown command, the sender.
    pub source: u16,
    /// The stream, or 0xFFFF.
    pub stream: u16,
    /// Mailbox on which the sender takes management messages; 0 with Type 9.
    pub mailbox: u8,
    /// Command that is answered; 0 in a query.
    pub command: u8,
    /// Its VER; 0 in a query.
    pub version: u8,
    /// What is said.
    pub bits: StatusBits,
    /// ContextSpecificData, up to 255 words of 8 octets.
    pub data: &'a [[u8; 8]],
}

impl<'a> Status<'a> {
    const COMMAND: Command = Command::Status;

    pub(crate) fn parse(octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        let command = Self::COMMAND;
        let end = FIXED_OCTETS + 8 * usize::from(octets[3]);
        let Some(data) = octets.get(FIXED_OCTETS..end) else {
            return Err(Fault::Overrun { command, field: "DataSize", needed: end, found: octets.len() });
        };
        check_padding(command, octets, end, Mode::NonValidation)?;
        let (stream, received) = (be16(octets, 6), StatusBits(be32(octets, 12)));
        if received.has(StatusBits::REQUEST) {
            if octets[3] != 0 {
                return Err(Fault::QueryData { found: octets[3] });
            }
            if stream == NO_STREAM {
                return Err(Fault::Stream { command, found: stream });
            }
        }
        let reserved = |field, octet| Fault::Reserved { command, field, octet };
        if mode == Mode::Validation {
            if received.has(StatusBits::RESERVED) {
                return Err(reserved("Status", 12));
            }
            check_zero(command, octets, 9..10, mode)?;
            if received.has(StatusBits::STREAM_UNKNOWN)
                && received.without(StatusBits::NO_SUCH_STREAM) != StatusBits(0)
            {
                return Err(reserved("Status beside Stream Unknown", 12));
            }
            check_padding(command, octets, end, mode)?;
        }
        // Figure 3-4 combines the two bits, against the text; this one value is taken for what it means.
        const FIGURE_3_4: StatusBits = StatusBits::COMMAND_UNKNOWN.with(StatusBits::STREAM_UNKNOWN);
        let bits = match received.without(StatusBits::RESERVED) {
            FIGURE_3_4 => StatusBits::COMMAND_UNKNOWN,
            bits if bits.has(StatusBits::STREAM_UNKNOWN) => StatusBits(bits.0 & StatusBits::NO_SUCH_STREAM.0),
            bits => bits,
        };
        Ok(Self {
            cos: octets[2],
            source: be16(octets, 4),
            stream,
            mailbox: octets[8],
            command: octets[10],
            version: octets[11],
            bits,
            data: data.as_chunks().0,
        })
    }

    pub(crate) const fn octets(&self) -> usize {
        FIXED_OCTETS + 8 * self.data.len()
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        fits("DataSize", self.data.len(), 0xFF)?;
        let mut writer = Writer::new(out, self.octets())?;
        writer.u8(Self::COMMAND.code()).u8(VERSION).u8(self.cos).u8(self.data.len() as u8);
        writer.u16(self.source).u16(self.stream).u8(self.mailbox).u8(0).u8(self.command).u8(self.version);
        writer.u32(self.bits.0).octets(self.data.as_flattened());
        Ok(writer.finish())
    }
}

/// USERDEFINED: what it means, and how long it is, only the two users know.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct UserDefined<'a> {
    code: u8,
    /// COS.
    pub cos: u8,
    /// The sender.
    pub source: u16,
    /// A stream, or 0xFFFF.
    pub stream: u16,
    /// All octets after the header, padding of the conveyance included.
    pub data: &'a [u8],
}

impl<'a> UserDefined<'a> {
    /// A message with one of the codes 0xF0 to 0xFF.
    ///
    /// # Errors
    /// [`EmitError::Field`] for another code.
    pub const fn new(code: u8, cos: u8, source: u16, stream: u16, data: &'a [u8]) -> Result<Self, EmitError> {
        if code < 0xF0 {
            return Err(EmitError::Field {
                field: "USERDEFINED CMD (from 0xF0 on)",
                max: 0xFF,
                found: code as u64,
            });
        }
        Ok(Self { code, cos, source, stream, data })
    }

    /// CMD.
    #[must_use]
    pub const fn code(&self) -> u8 {
        self.code
    }

    pub(crate) fn parse(code: u8, octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        check_zero(Command::UserDefined(code), octets, 3..4, mode)?;
        Ok(Self {
            code,
            cos: octets[2],
            source: be16(octets, 4),
            stream: be16(octets, 6),
            data: &octets[8..],
        })
    }

    pub(crate) const fn octets(&self) -> usize {
        8 + self.data.len()
    }

    pub(crate) fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let mut writer = Writer::new(out, self.octets())?;
        writer.u8(self.code).u8(VERSION).u8(self.cos).u8(0).u16(self.source).u16(self.stream);
        writer.octets(self.data);
        Ok(writer.finish())
    }
}
