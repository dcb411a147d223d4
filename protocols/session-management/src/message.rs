//! Any message: what it is, whether it is well formed, and what a fault in it calls for (Annex 2 §3.8.5, §4).
//!
//! [`View`] looks at octets without judging them. [`Message::parse`] judges, in the order that decides which
//! fault is reported: length, command, version, fixed header, lists and lengths and enumerations, and in
//! [`Mode::Validation`] every reserved field and pad octet. What depends on the state of a receiver (does the
//! stream exist?) is not decided here.

use crate::control::{Accept, Advertise, Open, Refuse, Request};
use crate::data::Data;
use crate::octets::EmitError;
use crate::status::{Close, FlowControl, Status, UserDefined};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// VER of this annex.
pub const VERSION: u8 = 0x01;

/// Octets that a conveyance may add to a message (§3.8.5: messages are padded to its granularity).
pub const MAX_PADDING: usize = 7;

/// Command codes (§3.5).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Command {
    /// 0x01
    Request,
    /// 0x02
    Advertise,
    /// 0x03
    Open,
    /// 0x04
    Accept,
    /// 0x05
    Refuse,
    /// 0x06
    Data,
    /// 0x07
    FlowControl,
    /// 0x08
    Close,
    /// 0x09
    Data1,
    /// 0x0A
    Data2,
    /// 0x10
    Status,
    /// 0xF0 to 0xFF
    UserDefined(u8),
}

impl Command {
    /// Every command but those that users define, by code.
    pub const ALL: [Self; 11] = [
        Self::Request,
        Self::Advertise,
        Self::Open,
        Self::Accept,
        Self::Refuse,
        Self::Data,
        Self::FlowControl,
        Self::Close,
        Self::Data1,
        Self::Data2,
        Self::Status,
    ];

    /// The command of a code. 0x0B (DATA3) is never transmitted, and so unknown.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x01 => Self::Request,
            0x02 => Self::Advertise,
            0x03 => Self::Open,
            0x04 => Self::Accept,
            0x05 => Self::Refuse,
            0x06 => Self::Data,
            0x07 => Self::FlowControl,
            0x08 => Self::Close,
            0x09 => Self::Data1,
            0x0A => Self::Data2,
            0x10 => Self::Status,
            0xF0..=0xFF => Self::UserDefined(code),
            _ => return None,
        })
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Request => 0x01,
            Self::Advertise => 0x02,
            Self::Open => 0x03,
            Self::Accept => 0x04,
            Self::Refuse => 0x05,
            Self::Data => 0x06,
            Self::FlowControl => 0x07,
            Self::Close => 0x08,
            Self::Data1 => 0x09,
            Self::Data2 => 0x0A,
            Self::Status => 0x10,
            Self::UserDefined(code) => code,
        }
    }

    /// The name in the annex.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Advertise => "ADVERTISE",
            Self::Open => "OPEN",
            Self::Accept => "ACCEPT",
            Self::Refuse => "REFUSE",
            Self::Data => "DATA",
            Self::FlowControl => "FLOW_CONTROL",
            Self::Close => "CLOSE",
            Self::Data1 => "DATA1",
            Self::Data2 => "DATA2",
            Self::Status => "STATUS",
            Self::UserDefined(_) => "USERDEFINED",
        }
    }

    /// Its priority class.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::Accept | Self::Close | Self::FlowControl | Self::Status => Class::High,
            _ => Class::Low,
        }
    }

    /// Octets in front of lists, data and user data.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::Request | Self::FlowControl | Self::Close | Self::Status | Self::Data1 => 16,
            Self::Accept | Self::Refuse | Self::Data => 12,
            Self::Advertise | Self::Open | Self::UserDefined(_) => 8,
            Self::Data2 => 4,
        }
    }
}

/// Priority classes (§3.7.2): high is sent and received before low.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Class {
    /// ACCEPT, CLOSE, FLOW_CONTROL, STATUS.
    High,
    /// OPEN, REQUEST, ADVERTISE, REFUSE, data, USERDEFINED.
    Low,
}

impl Class {
    /// The class of a message that this crate has made.
    pub(crate) fn from_octets(octets: &[u8]) -> Self {
        octets.first().copied().and_then(Command::from_code).map_or(Self::Low, Command::class)
    }
}

/// Whether reserved fields are checked (§3.8.5).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mode {
    /// Reserved fields and padding have to be zero.
    Validation,
    /// They are ignored.
    #[default]
    NonValidation,
}

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Fault {
    /// Shorter than 2 octets: nothing can be reported.
    Fragment {
        /// Octets received.
        found: usize,
    },
    /// No such command (R1).
    Command {
        /// Octet 0.
        found: u8,
    },
    /// VER other than 1 (R2; of STATUS, R3).
    Version {
        /// The command.
        command: Command,
        /// Octet 1.
        found: u8,
    },
    /// Shorter than the fixed header (R4; of STATUS, R3).
    Header {
        /// The command.
        command: Command,
        /// Octets received.
        found: usize,
    },
    /// A count promises more than there is (R5; DataSize of STATUS, R3).
    Overrun {
        /// The command.
        command: Command,
        /// The field that counts.
        field: &'static str,
        /// Octets that it promises, header included.
        needed: usize,
        /// Octets received.
        found: usize,
    },
    /// More than 7 octets after the message.
    Trailing {
        /// The command.
        command: Command,
        /// Octets after the message.
        found: usize,
    },
    /// S, A and Count of ADVERTISE contradict each other (R6).
    Advertise {
        /// Octets 6 and 7.
        found: u16,
    },
    /// OPEN, ACCEPT or REFUSE without OPEN_MESSAGE_NUMBER (R8, R10).
    MessageNumber {
        /// The command.
        command: Command,
    },
    /// Flow_Control is neither XOFF, XON nor RTS (R13).
    FlowControl {
        /// Octet 3.
        found: u8,
    },
    /// Length promises more than there is, or DATA2 more than 16380 (R16).
    Length {
        /// The command.
        command: Command,
        /// Length.
        length: u32,
        /// Octets after header and Offset octets.
        found: usize,
    },
    /// A StreamID that this message cannot name (§3.5.2.5).
    Stream {
        /// The command.
        command: Command,
        /// The StreamID.
        found: u16,
    },
    /// A status query with DataSize other than 0 (R3).
    QueryData {
        /// DataSize.
        found: u8,
    },
    /// A reserved field or pad octet is not zero (R18), or not what it always is.
    Reserved {
        /// The command.
        command: Command,
        /// The field.
        field: &'static str,
        /// Octet number in the message.
        octet: usize,
    },
    /// SourceID should name the sender and does not.
    Sender {
        /// The command.
        command: Command,
        /// SourceID.
        found: u16,
        /// The sender that the transport names.
        transport: u16,
    },
}

/// What a fault calls for (R1 to R21 in requirements.txt).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Reaction {
    /// No message.
    Drop,
    /// STATUS with Command Unknown that echoes the command.
    CommandUnknown,
    /// REFUSE that echoes the attributes.
    Refuse,
}

impl Fault {
    /// The message to send.
    #[must_use]
    pub const fn reaction(&self) -> Reaction {
        match *self {
            Self::Fragment { .. } | Self::QueryData { .. } => Reaction::Drop,
            Self::Version { command, .. }
            | Self::Header { command, .. }
            | Self::Overrun { command, .. }
            | Self::Trailing { command, .. }
            | Self::Stream { command, .. }
                if matches!(command, Command::Status) =>
            {
                Reaction::Drop
            }
            Self::Reserved { command: Command::Status, .. } => Reaction::Drop,
            Self::Reserved { command: Command::Open, .. } => Reaction::Refuse,
            _ => Reaction::CommandUnknown,
        }
    }

    /// Whether the sender is suspect (reason: non-compliance). A newer version is not a fault.
    #[must_use]
    pub const fn is_suspect(&self) -> bool {
        !matches!(self, Self::Fragment { .. } | Self::Command { .. } | Self::Version { .. })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Fragment { found } => write!(f, "message: at least 2 octets, {found} found"),
            Self::Command { found } => write!(f, "CMD: {found:#04x} is unknown"),
            Self::Version { command, found } => {
                write!(f, "{} VER: 0x01, {found:#04x} found", command.name())
            }
            Self::Header { command, found } => {
                write!(f, "{}: at least {} octets, {found} found", command.name(), command.header_len())
            }
            Self::Overrun { command, field, needed, found } => {
                write!(f, "{} {field}: takes {needed} octets, {found} found", command.name())
            }
            Self::Trailing { command, found } => {
                write!(f, "{}: at most {MAX_PADDING} octets may follow, {found} do", command.name())
            }
            Self::Advertise { found } => {
                write!(f, "ADVERTISE S, A, Count: without S, A and Count are 0, {found:#06x} found")
            }
            Self::MessageNumber { command } => {
                write!(f, "{} attributes: OPEN_MESSAGE_NUMBER is missing", command.name())
            }
            Self::FlowControl { found } => {
                write!(f, "FLOW_CONTROL Flow_Control: 0x00, 0x01 or 0xff, {found:#04x} found")
            }
            Self::Length { command, length, found } => {
                write!(f, "{} Length: {length}, but {found} octets of payload found", command.name())
            }
            Self::Stream { command, found } => {
                write!(f, "{} StreamID: {found:#06x} cannot stand there", command.name())
            }
            Self::QueryData { found } => write!(f, "STATUS DataSize: 0 in a query, {found} found"),
            Self::Reserved { command, field, octet } => {
                write!(f, "{} {field}: octet {octet} is reserved", command.name())
            }
            Self::Sender { command, found, transport } => write!(
                f,
                "{} SourceID: the sender's, {transport:#06x}, but {found:#06x} found",
                command.name()
            ),
        }
    }
}

impl core::error::Error for Fault {}

/// Octets, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a>(pub &'a [u8]);

impl View<'_> {
    /// The command, if octet 0 is one.
    #[must_use]
    pub fn command(self) -> Option<Command> {
        self.0.first().copied().and_then(Command::from_code)
    }

    /// Octet 1: VER, and of DATA2 Implementation-Specific.
    #[must_use]
    pub fn version(self) -> Option<u8> {
        self.0.get(1).copied()
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.command(), self.0.first()) {
            (Some(command), _) => write!(f, "{}", command.name())?,
            (None, Some(code)) => write!(f, "unknown command {code:#04x}")?,
            (None, None) => return write!(f, "empty message"),
        }
        write!(f, ", {} octets", self.0.len())
    }
}

/// Checks the number of octets after the message, and in validation mode that they are zero.
pub(crate) fn check_padding(command: Command, octets: &[u8], end: usize, mode: Mode) -> Result<(), Fault> {
    let padding = &octets[end..];
    if padding.len() > MAX_PADDING {
        return Err(Fault::Trailing { command, found: padding.len() });
    }
    match padding.iter().position(|&octet| octet != 0) {
        Some(at) if mode == Mode::Validation => {
            Err(Fault::Reserved { command, field: "padding", octet: end + at })
        }
        _ => Ok(()),
    }
}

/// In validation mode the octets of `range` have to be zero.
pub(crate) fn check_zero(
    command: Command,
    octets: &[u8],
    range: core::ops::Range<usize>,
    mode: Mode,
) -> Result<(), Fault> {
    if mode == Mode::NonValidation {
        return Ok(());
    }
    match range.clone().find(|&octet| octets[octet] != 0) {
        Some(octet) => Err(Fault::Reserved { command, field: "reserved", octet }),
        None => Ok(()),
    }
}

/// A well-formed message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Message<'a> {
    /// REQUEST
    Request(Request<'a>),
    /// ADVERTISE
    Advertise(Advertise<'a>),
    /// OPEN
    Open(Open<'a>),
    /// ACCEPT
    Accept(Accept<'a>),
    /// REFUSE
    Refuse(Refuse<'a>),
    /// DATA, DATA1 or DATA2
    Data(Data<'a>),
    /// FLOW_CONTROL
    FlowControl(FlowControl),
    /// CLOSE
    Close(Close),
    /// STATUS
    Status(Status<'a>),
    /// USERDEFINED
    UserDefined(UserDefined<'a>),
}

impl<'a> Message<'a> {
    /// Meaning of a received message. In [`Mode::NonValidation`] reserved fields are ignored. The payload of
    /// data messages is judged by [`Data::payload`], because that takes the Offset octets of the stream.
    ///
    /// # Errors
    /// The first [`Fault`] in the order of decision SMP-D63.
    pub fn parse(octets: &'a [u8], mode: Mode) -> Result<Self, Fault> {
        let &[code, version, ..] = octets else { return Err(Fault::Fragment { found: octets.len() }) };
        let command = Command::from_code(code).ok_or(Fault::Command { found: code })?;
        if version != VERSION && command != Command::Data2 {
            return Err(Fault::Version { command, found: version });
        }
        if octets.len() < command.header_len() {
            return Err(Fault::Header { command, found: octets.len() });
        }
        Ok(match command {
            Command::Request => Self::Request(Request::parse(octets, mode)?),
            Command::Advertise => Self::Advertise(Advertise::parse(octets, mode)?),
            Command::Open => Self::Open(Open::parse(octets, mode)?),
            Command::Accept => Self::Accept(Accept::parse(octets, mode)?),
            Command::Refuse => Self::Refuse(Refuse::parse(octets, mode)?),
            Command::Data | Command::Data1 | Command::Data2 => {
                Self::Data(Data::parse(command, octets, mode)?)
            }
            Command::FlowControl => Self::FlowControl(FlowControl::parse(octets, mode)?),
            Command::Close => Self::Close(Close::parse(octets, mode)?),
            Command::Status => Self::Status(Status::parse(octets, mode)?),
            Command::UserDefined(code) => Self::UserDefined(UserDefined::parse(code, octets, mode)?),
        })
    }

    /// The command.
    #[must_use]
    pub const fn command(&self) -> Command {
        match self {
            Self::Request(_) => Command::Request,
            Self::Advertise(_) => Command::Advertise,
            Self::Open(_) => Command::Open,
            Self::Accept(_) => Command::Accept,
            Self::Refuse(_) => Command::Refuse,
            Self::Data(data) => data.command(),
            Self::FlowControl(_) => Command::FlowControl,
            Self::Close(_) => Command::Close,
            Self::Status(_) => Command::Status,
            Self::UserDefined(message) => Command::UserDefined(message.code()),
        }
    }

    /// Octets of the message, without padding for a conveyance.
    #[must_use]
    pub const fn octets(&self) -> usize {
        match self {
            Self::Request(message) => message.octets(),
            Self::Advertise(message) => message.octets(),
            Self::Open(message) => message.octets(),
            Self::Accept(message) => message.octets(),
            Self::Refuse(message) => message.octets(),
            Self::Data(message) => message.octets(),
            Self::FlowControl(_) | Self::Close(_) => 16,
            Self::Status(message) => message.octets(),
            Self::UserDefined(message) => message.octets(),
        }
    }

    /// Writes the message to the front of `out`. Returns its length.
    ///
    /// # Errors
    /// [`EmitError`] if the buffer is too short, or a number has no place in its field.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        match self {
            Self::Request(message) => message.emit(out),
            Self::Advertise(message) => message.emit(out),
            Self::Open(message) => message.emit(out),
            Self::Accept(message) => message.emit(out),
            Self::Refuse(message) => message.emit(out),
            Self::Data(message) => message.emit(out),
            Self::FlowControl(message) => message.emit(out),
            Self::Close(message) => message.emit(out),
            Self::Status(message) => message.emit(out),
            Self::UserDefined(message) => message.emit(out),
        }
    }

    /// The message in a buffer of its own.
    ///
    /// # Errors
    /// [`EmitError::Field`].
    pub fn to_vec(&self) -> Result<Vec<u8>, EmitError> {
        let mut out = vec![0; self.octets()];
        self.emit(&mut out)?;
        Ok(out)
    }
}
