//! Control symbols: the 24-bit "short" one (CRC-5) and the 48-bit "long" one (CRC-13), Part 6 chapter 3.
//!
//! A control symbol carries two independent functions: stype0 (acknowledgement or status) and stype1 (a
//! request or a packet delimiter). The long symbol has 14 more bits that Part 6 Rev 2.x reserves; Part 12
//! uses them as *stype2*. They are carried here as a plain number, because their meaning belongs to another
//! crate.
//!
//! | | short | long |
//! |---|---|---|
//! | stype0, parameter0, parameter1 | 3, 5, 5 | 3, 6, 6 |
//! | stype1, cmd | 3, 3 | 3, 3 |
//! | stype2 | none | 14 |
//! | CRC | 5 | 13 |
//! | on the wire | start character + 3 octets | start character + 6 octets + the same character |
//!
//! Bit 0 is the most significant bit and leaves first, in every field.
//!
//! [`ControlSymbol`] keeps the *raw fields*, so that a symbol survives decode and encode bit for bit whatever
//! it says; [`ControlSymbol::stype0`] and [`ControlSymbol::stype1`] interpret them. An encoding that Rev 2.2
//! does not define is not an error: that one function is ignored and the other functions of the symbol are
//! carried out (Part 6 §3.1).

use crate::crc::{crc5, crc13};
use crate::field::Field as Row;
use core::fmt;

/// Field positions: (first bit, width), bit 0 being the most significant bit of the symbol (Part 6 §3.1,
/// §3.3).
mod field {
    pub(super) type Field = (u32, u32);

    pub(super) const STYPE0: Field = (0, 3);

    pub(super) mod short {
        use super::Field;
        pub(in super::super) const PARAMETER0: Field = (3, 5);
        pub(in super::super) const PARAMETER1: Field = (8, 5);
        pub(in super::super) const STYPE1: Field = (13, 3);
        pub(in super::super) const CMD: Field = (16, 3);
        pub(in super::super) const CRC: Field = (19, 5);
    }

    pub(super) mod long {
        use super::Field;
        pub(in super::super) const PARAMETER0: Field = (3, 6);
        pub(in super::super) const PARAMETER1: Field = (9, 6);
        pub(in super::super) const STYPE1: Field = (15, 3);
        pub(in super::super) const CMD: Field = (18, 3);
        pub(in super::super) const STYPE2: Field = (21, 14);
        pub(in super::super) const CRC: Field = (35, 13);
    }
}

const fn row(name: &'static str, (first, width): field::Field, base: u32) -> Row {
    (name, first..first + width, base)
}

/// The fields of a short symbol.
const SHORT_FIELDS: [Row; 6] = [
    row("stype0", field::STYPE0, 10),
    row("param0", field::short::PARAMETER0, 10),
    row("param1", field::short::PARAMETER1, 10),
    row("stype1", field::short::STYPE1, 10),
    row("cmd", field::short::CMD, 10),
    row("crc5", field::short::CRC, 16),
];

/// The fields of a long symbol.
const LONG_FIELDS: [Row; 7] = [
    row("stype0", field::STYPE0, 10),
    row("param0", field::long::PARAMETER0, 10),
    row("param1", field::long::PARAMETER1, 10),
    row("stype1", field::long::STYPE1, 10),
    row("cmd", field::long::CMD, 10),
    row("stype2", field::long::STYPE2, 16),
    row("crc13", field::long::CRC, 16),
];

/// Data octet of the packet-delimiter character PD, K28.3.
pub const PD: u8 = 0x7C;

/// Data octet of the start-of-control-symbol character SC, K28.0.
pub const SC: u8 = 0x1C;

/// Largest stype2 value: 14 bits.
pub const STYPE2_MAX: u16 = 0x3FFF;

/// Which of the two 8b/10b control symbols a link uses. Both directions of a link use the same (Part 6 §3.1).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Form {
    /// 24 bits, CRC-5, with IDLE1.
    Short,
    /// 48 bits, CRC-13, with IDLE2. "Extended" and "Control Symbol 48" are other names of it.
    Long,
}

impl Form {
    /// Octets of the symbol without delimiters: 3 or 6.
    #[must_use]
    pub const fn octets(self) -> usize {
        match self {
            Self::Short => 3,
            Self::Long => 6,
        }
    }

    /// Characters of the delimited symbol on the link: 4 or 8 (Part 6 §5.5.2).
    #[must_use]
    pub const fn characters(self) -> usize {
        match self {
            Self::Short => 4,
            Self::Long => 8,
        }
    }

    /// Largest ackID, and largest value of parameter0 and parameter1: 31 or 63.
    #[must_use]
    pub const fn parameter_max(self) -> u8 {
        match self {
            Self::Short => 31,
            Self::Long => 63,
        }
    }

    /// The fields, of which the last is the CRC (Part 6 §3.1, §3.3).
    #[must_use]
    pub const fn fields(self) -> &'static [Row] {
        match self {
            Self::Short => &SHORT_FIELDS,
            Self::Long => &LONG_FIELDS,
        }
    }

    const fn bits(self) -> u32 {
        self.octets() as u32 * 8
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "short",
            Self::Long => "long",
        })
    }
}

/// A field of a control symbol, for error messages.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FieldName {
    /// stype0 function code.
    Stype0,
    /// parameter0: ackID, VCID or an arbitrary value.
    Parameter0,
    /// parameter1: buf_status, cause or port_status.
    Parameter1,
    /// stype1 function code.
    Stype1,
    /// cmd, the modifier of stype1.
    Cmd,
    /// The 14 bits after cmd in the long symbol.
    Stype2,
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stype0 => "stype0",
            Self::Parameter0 => "parameter0",
            Self::Parameter1 => "parameter1",
            Self::Stype1 => "stype1",
            Self::Cmd => "cmd",
            Self::Stype2 => "stype2",
        })
    }
}

/// Why octets are no control symbol, or why a control symbol cannot be made.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// The input does not have the length of this form. Nothing was consumed.
    Length {
        /// Octets that the form needs.
        expected: usize,
        /// Octets that were given.
        found: usize,
    },
    /// The CRC does not match; no function of the symbol may be applied (Part 6 §3.6). Reported to the link
    /// partner as [`Cause::SymbolCrc`].
    Crc {
        /// CRC of the information bits.
        expected: u16,
        /// CRC that the symbol carries.
        found: u16,
    },
    /// The first character is neither PD nor SC.
    StartDelimiter {
        /// Octet of the first character.
        found: u8,
    },
    /// A long symbol's end character differs from its start character (Part 6 §5.5.2).
    EndDelimiter {
        /// Octet of the start character.
        expected: u8,
        /// Octet of the end character.
        found: u8,
    },
    /// A value does not fit its field.
    Range {
        /// Which field.
        field: FieldName,
        /// Largest value it can hold in this form; 0 means that the form has no such field.
        max: u16,
        /// The value that was asked for.
        found: u16,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { expected, found } => {
                write!(f, "control symbol length: {expected} octets needed, {found} found")
            }
            Self::Crc { expected, found } => {
                write!(f, "control symbol CRC: {expected:#06x} computed, {found:#06x} received")
            }
            Self::StartDelimiter { found } => {
                write!(f, "control symbol start character: PD (0x7c) or SC (0x1c) needed, {found:#04x} found")
            }
            Self::EndDelimiter { expected, found } => {
                write!(f, "control symbol end character: must repeat {expected:#04x}, {found:#04x} found")
            }
            Self::Range { field, max, found } => {
                write!(f, "control symbol {field}: at most {max} fits, {found} given")
            }
        }
    }
}

impl core::error::Error for Error {}

/// The bits of a symbol, unjudged: every getter works on every bit pattern, also with a bad CRC.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View {
    form: Form,
    bits: u64,
}

impl View {
    /// Looks at `octets`, which must be exactly [`Form::octets`] long.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn new(form: Form, octets: &[u8]) -> Result<Self, Error> {
        if octets.len() != form.octets() {
            return Err(Error::Length { expected: form.octets(), found: octets.len() });
        }
        let bits = octets.iter().fold(0, |bits, &octet| bits << 8 | u64::from(octet));
        Ok(Self { form, bits })
    }

    /// Looks at the low 24 or 48 bits of `bits`; symbol bit 0 is the most significant of them.
    #[must_use]
    pub const fn from_bits(form: Form, bits: u64) -> Self {
        Self { form, bits: bits & ((1 << form.bits()) - 1) }
    }

    /// Short or long.
    #[must_use]
    pub const fn form(self) -> Form {
        self.form
    }

    /// The whole symbol, right-aligned.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.bits
    }

    const fn get(self, (first, width): field::Field) -> u64 {
        self.bits >> (self.form.bits() - first - width) & ((1 << width) - 1)
    }

    const fn pick(self, short: field::Field, long: field::Field) -> u8 {
        match self.form {
            Form::Short => self.get(short) as u8,
            Form::Long => self.get(long) as u8,
        }
    }

    /// stype0, 0..=7.
    #[must_use]
    pub const fn stype0(self) -> u8 {
        self.get(field::STYPE0) as u8
    }

    /// parameter0, 0..=31 or 0..=63.
    #[must_use]
    pub const fn parameter0(self) -> u8 {
        self.pick(field::short::PARAMETER0, field::long::PARAMETER0)
    }

    /// parameter1, 0..=31 or 0..=63.
    #[must_use]
    pub const fn parameter1(self) -> u8 {
        self.pick(field::short::PARAMETER1, field::long::PARAMETER1)
    }

    /// stype1, 0..=7.
    #[must_use]
    pub const fn stype1(self) -> u8 {
        self.pick(field::short::STYPE1, field::long::STYPE1)
    }

    /// cmd, 0..=7.
    #[must_use]
    pub const fn cmd(self) -> u8 {
        self.pick(field::short::CMD, field::long::CMD)
    }

    /// stype2, 0..=0x3FFF; 0 in a short symbol, which has none.
    #[must_use]
    pub const fn stype2(self) -> u16 {
        match self.form {
            Form::Short => 0,
            Form::Long => self.get(field::long::STYPE2) as u16,
        }
    }

    /// The CRC that the symbol carries.
    #[must_use]
    pub const fn crc(self) -> u16 {
        match self.form {
            Form::Short => self.get(field::short::CRC) as u16,
            Form::Long => self.get(field::long::CRC) as u16,
        }
    }

    /// The CRC that its information bits call for.
    #[must_use]
    pub const fn computed_crc(self) -> u16 {
        match self.form {
            Form::Short => crc5((self.bits >> field::short::CRC.1) as u32) as u16,
            Form::Long => crc13(self.bits >> field::long::CRC.1),
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} symbol: stype0 {} ({}, {}), stype1 {} cmd {}",
            self.form,
            self.stype0(),
            self.parameter0(),
            self.parameter1(),
            self.stype1(),
            self.cmd()
        )?;
        if self.form == Form::Long {
            write!(f, ", stype2 {:#06x}", self.stype2())?;
        }
        write!(f, ", crc {:#06x}", self.crc())?;
        if self.crc() != self.computed_crc() {
            write!(f, " BAD (computed {:#06x})", self.computed_crc())?;
        }
        Ok(())
    }
}

/// Why a packet or symbol was not accepted (Part 6 Table 3-3). For information only: the reaction to all is
/// the same.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Cause {
    /// 1: a packet with an unexpected ackID.
    UnexpectedAckId,
    /// 2: a control symbol with a bad CRC.
    SymbolCrc,
    /// 3: reception of packets other than maintenance is stopped.
    NonMaintenanceStopped,
    /// 4: a packet with a bad CRC.
    PacketCrc,
    /// 5: an invalid or illegal character.
    IllegalCharacter,
    /// 6: no resources (multi-VC mode's form of retry).
    LackOfResources,
    /// 7: the descrambler lost synchronisation.
    DescramblerSync,
    /// 31: general error.
    General,
    /// A code that Part 6 does not define, 0..=31.
    Reserved(u8),
}

impl Cause {
    /// Every cause that Part 6 defines, by code.
    pub const ALL: [Self; 8] = [
        Self::UnexpectedAckId,
        Self::SymbolCrc,
        Self::NonMaintenanceStopped,
        Self::PacketCrc,
        Self::IllegalCharacter,
        Self::LackOfResources,
        Self::DescramblerSync,
        Self::General,
    ];

    /// A short name (Part 6 Table 3-3).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnexpectedAckId => "unexpected-ackID",
            Self::SymbolCrc => "symbol-CRC",
            Self::NonMaintenanceStopped => "non-maintenance-stopped",
            Self::PacketCrc => "packet-CRC",
            Self::IllegalCharacter => "illegal-character",
            Self::LackOfResources => "lack-of-resources",
            Self::DescramblerSync => "descrambler-sync",
            Self::General => "general",
            Self::Reserved(_) => "reserved",
        }
    }

    /// Meaning of the five cause bits; higher bits of `code` are ignored.
    #[must_use]
    pub const fn from_code(code: u8) -> Self {
        match code & 0x1F {
            1 => Self::UnexpectedAckId,
            2 => Self::SymbolCrc,
            3 => Self::NonMaintenanceStopped,
            4 => Self::PacketCrc,
            5 => Self::IllegalCharacter,
            6 => Self::LackOfResources,
            7 => Self::DescramblerSync,
            31 => Self::General,
            other => Self::Reserved(other),
        }
    }

    /// The code on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::UnexpectedAckId => 1,
            Self::SymbolCrc => 2,
            Self::NonMaintenanceStopped => 3,
            Self::PacketCrc => 4,
            Self::IllegalCharacter => 5,
            Self::LackOfResources => 6,
            Self::DescramblerSync => 7,
            Self::General => 31,
            Self::Reserved(code) => code,
        }
    }
}

/// State of the input side of the port that answers a link-request (Part 6 Table 3-8).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PortStatus {
    /// 2: an error that this port cannot leave by itself.
    Error,
    /// 4: stopped because of a packet-retry.
    RetryStopped,
    /// 5: stopped because of an error.
    ErrorStopped,
    /// 16: ready for packets.
    Ok,
    /// A code that Part 6 does not define, 0..=31.
    Reserved(u8),
}

impl PortStatus {
    /// Every status that Part 6 defines, by code.
    pub const ALL: [Self; 4] = [Self::Error, Self::RetryStopped, Self::ErrorStopped, Self::Ok];

    /// A short name (Part 6 Table 3-8).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::RetryStopped => "retry-stopped",
            Self::ErrorStopped => "error-stopped",
            Self::Ok => "OK",
            Self::Reserved(_) => "reserved",
        }
    }

    /// Meaning of the five port_status bits; higher bits of `code` are ignored.
    #[must_use]
    pub const fn from_code(code: u8) -> Self {
        match code & 0x1F {
            2 => Self::Error,
            4 => Self::RetryStopped,
            5 => Self::ErrorStopped,
            16 => Self::Ok,
            other => Self::Reserved(other),
        }
    }

    /// The code on the wire.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Error => 2,
            Self::RetryStopped => 4,
            Self::ErrorStopped => 5,
            Self::Ok => 16,
            Self::Reserved(code) => code,
        }
    }
}

/// First function of a control symbol (Part 6 Table 3-2). Units: ackIDs count packets; buf_status counts free
/// maximum-size packet buffers, see [`BufStatus`](crate::cost::BufStatus).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Stype0 {
    /// 0b000: the packet was received without error and is now this port's.
    PacketAccepted {
        /// ackID of that packet.
        ack_id: u8,
        /// Free buffers of the VC of that packet.
        buf_status: u8,
    },
    /// 0b001: the packet must be sent again (single-VC mode only).
    PacketRetry {
        /// ackID of that packet.
        ack_id: u8,
        /// Free buffers of VC0.
        buf_status: u8,
    },
    /// 0b010: an error was detected.
    PacketNotAccepted {
        /// Any value; the receiver does not use it.
        arbitrary: u8,
        /// Why.
        cause: Cause,
    },
    /// 0b011: reserved in Rev 2.x; ignored.
    Reserved {
        /// parameter0 as received.
        parameter0: u8,
        /// parameter1 as received.
        parameter1: u8,
    },
    /// 0b100: the default when there is nothing else to say.
    Status {
        /// ackID that this port expects next.
        ack_id_status: u8,
        /// Free buffers of VC0.
        buf_status: u8,
    },
    /// 0b101: buffer status of one of VC1 to VC8.
    VcStatus {
        /// 0..=7; which VC it names depends on how many VCs are active (Part 6 Table 3-5).
        vcid: u8,
        /// Free buffers of that VC.
        buf_status: u8,
    },
    /// 0b110: answer to a link-request/input-status.
    LinkResponse {
        /// ackID that this port expects next.
        ack_id_status: u8,
        /// State of this port's input side.
        port_status: PortStatus,
    },
    /// 0b111: left to the implementer.
    ImplementationDefined {
        /// parameter0 as received.
        parameter0: u8,
        /// parameter1 as received.
        parameter1: u8,
    },
}

impl Stype0 {
    /// The name of the function, and what its parameter0 and parameter1 are (Part 6 Table 3-2).
    #[must_use]
    pub const fn names(self) -> [&'static str; 3] {
        match self {
            Self::PacketAccepted { .. } => ["packet-accepted", "packet_ackID", "buf_status"],
            Self::PacketRetry { .. } => ["packet-retry", "packet_ackID", "buf_status"],
            Self::PacketNotAccepted { .. } => ["packet-not-accepted", "arbitrary", "cause"],
            Self::Reserved { .. } => ["reserved"; 3],
            Self::Status { .. } => ["status", "ackID_status", "buf_status"],
            Self::VcStatus { .. } => ["VC_status", "VCID", "buf_status"],
            Self::LinkResponse { .. } => ["link-response", "ackID_status", "port_status"],
            Self::ImplementationDefined { .. } => ["implementation-defined"; 3],
        }
    }

    /// Meaning of the raw fields. Bits that the function does not define (the high bits of VCID, cause,
    /// port_status) are ignored, as a receiver must.
    #[must_use]
    pub const fn from_fields(stype0: u8, parameter0: u8, parameter1: u8) -> Self {
        match stype0 & 7 {
            0 => Self::PacketAccepted { ack_id: parameter0, buf_status: parameter1 },
            1 => Self::PacketRetry { ack_id: parameter0, buf_status: parameter1 },
            2 => Self::PacketNotAccepted { arbitrary: parameter0, cause: Cause::from_code(parameter1) },
            3 => Self::Reserved { parameter0, parameter1 },
            4 => Self::Status { ack_id_status: parameter0, buf_status: parameter1 },
            5 => Self::VcStatus { vcid: parameter0 & 7, buf_status: parameter1 },
            6 => Self::LinkResponse {
                ack_id_status: parameter0,
                port_status: PortStatus::from_code(parameter1),
            },
            _ => Self::ImplementationDefined { parameter0, parameter1 },
        }
    }

    /// The raw fields (stype0, parameter0, parameter1).
    #[must_use]
    pub const fn fields(self) -> (u8, u8, u8) {
        match self {
            Self::PacketAccepted { ack_id, buf_status } => (0, ack_id, buf_status),
            Self::PacketRetry { ack_id, buf_status } => (1, ack_id, buf_status),
            Self::PacketNotAccepted { arbitrary, cause } => (2, arbitrary, cause.code()),
            Self::Reserved { parameter0, parameter1 } => (3, parameter0, parameter1),
            Self::Status { ack_id_status, buf_status } => (4, ack_id_status, buf_status),
            Self::VcStatus { vcid, buf_status } => (5, vcid, buf_status),
            Self::LinkResponse { ack_id_status, port_status } => (6, ack_id_status, port_status.code()),
            Self::ImplementationDefined { parameter0, parameter1 } => (7, parameter0, parameter1),
        }
    }
}

/// What a link-request asks for (Part 6 Table 3-7).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LinkRequest {
    /// cmd 2, reset-port: reserved before Rev 3.0, known here so that a trace can name it.
    ResetPort,
    /// cmd 3, reset-device: four in a row reset the device; no response.
    ResetDevice,
    /// cmd 4, input-status: also acts as "restart from error".
    InputStatus,
}

/// Second function of a control symbol (Part 6 Table 3-7).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Stype1 {
    /// 0b000: a packet begins; one in progress ends.
    StartOfPacket,
    /// 0b001: the packet in progress is cancelled.
    Stomp,
    /// 0b010: the packet in progress ends.
    EndOfPacket,
    /// 0b011: answer to packet-retry; cancels a packet in progress.
    RestartFromRetry,
    /// 0b100: cancels a packet in progress.
    LinkRequest(LinkRequest),
    /// 0b101.
    MulticastEvent,
    /// 0b111: the default.
    Nop,
    /// Any combination of stype1 and cmd that Part 6 does not define; ignored.
    Reserved {
        /// stype1 as received, 0..=7.
        stype1: u8,
        /// cmd as received, 0..=7.
        cmd: u8,
    },
}

impl Stype1 {
    /// Every function that Part 6 defines, by stype1 and cmd.
    pub const ALL: [Self; 9] = [
        Self::StartOfPacket,
        Self::Stomp,
        Self::EndOfPacket,
        Self::RestartFromRetry,
        Self::LinkRequest(LinkRequest::ResetPort),
        Self::LinkRequest(LinkRequest::ResetDevice),
        Self::LinkRequest(LinkRequest::InputStatus),
        Self::MulticastEvent,
        Self::Nop,
    ];

    /// The name of the function (Part 6 Table 3-7).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StartOfPacket => "start-of-packet",
            Self::Stomp => "stomp",
            Self::EndOfPacket => "end-of-packet",
            Self::RestartFromRetry => "restart-from-retry",
            Self::LinkRequest(LinkRequest::ResetPort) => "link-request/reset-port",
            Self::LinkRequest(LinkRequest::ResetDevice) => "link-request/reset-device",
            Self::LinkRequest(LinkRequest::InputStatus) => "link-request/input-status",
            Self::MulticastEvent => "multicast-event",
            Self::Nop => "NOP",
            Self::Reserved { .. } => "reserved",
        }
    }

    /// Meaning of the raw fields.
    #[must_use]
    pub const fn from_fields(stype1: u8, cmd: u8) -> Self {
        match (stype1, cmd) {
            (0, 0) => Self::StartOfPacket,
            (1, 0) => Self::Stomp,
            (2, 0) => Self::EndOfPacket,
            (3, 0) => Self::RestartFromRetry,
            (4, 2) => Self::LinkRequest(LinkRequest::ResetPort),
            (4, 3) => Self::LinkRequest(LinkRequest::ResetDevice),
            (4, 4) => Self::LinkRequest(LinkRequest::InputStatus),
            (5, 0) => Self::MulticastEvent,
            (7, 0) => Self::Nop,
            (stype1, cmd) => Self::Reserved { stype1, cmd },
        }
    }

    /// The raw fields (stype1, cmd).
    #[must_use]
    pub const fn fields(self) -> (u8, u8) {
        match self {
            Self::StartOfPacket => (0, 0),
            Self::Stomp => (1, 0),
            Self::EndOfPacket => (2, 0),
            Self::RestartFromRetry => (3, 0),
            Self::LinkRequest(LinkRequest::ResetPort) => (4, 2),
            Self::LinkRequest(LinkRequest::ResetDevice) => (4, 3),
            Self::LinkRequest(LinkRequest::InputStatus) => (4, 4),
            Self::MulticastEvent => (5, 0),
            Self::Nop => (7, 0),
            Self::Reserved { stype1, cmd } => (stype1, cmd),
        }
    }

    /// Whether the symbol delimits a packet. start-of-packet, stomp and end-of-packet always do;
    /// restart-from-retry and link-request do while a packet is in progress (Part 6 §5.5.2).
    #[must_use]
    pub const fn delimits(self, packet_in_progress: bool) -> bool {
        match self {
            Self::StartOfPacket | Self::Stomp | Self::EndOfPacket => true,
            Self::RestartFromRetry | Self::LinkRequest(_) => packet_in_progress,
            Self::MulticastEvent | Self::Nop | Self::Reserved { .. } => false,
        }
    }
}

/// A control symbol: fields that fit their widths. The CRC is not part of it; `parse` checks it, `emit` makes
/// it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ControlSymbol {
    form: Form,
    stype0: u8,
    parameter0: u8,
    parameter1: u8,
    stype1: u8,
    cmd: u8,
    stype2: u16,
}

impl ControlSymbol {
    /// A symbol from its two functions; stype2 is 0.
    ///
    /// # Errors
    /// [`Error::Range`] if a parameter does not fit (31 in the short form, 63 in the long; VCID 7; cause and
    /// port_status 31; reserved stype1 and cmd 7).
    pub fn new(form: Form, stype0: Stype0, stype1: Stype1) -> Result<Self, Error> {
        let (code0, parameter0, parameter1) = stype0.fields();
        let (code1, cmd) = stype1.fields();
        match stype0 {
            Stype0::VcStatus { vcid, .. } => fits(FieldName::Parameter0, u16::from(vcid), 7)?,
            Stype0::PacketNotAccepted { .. } | Stype0::LinkResponse { .. } => {
                fits(FieldName::Parameter1, u16::from(parameter1), 31)?;
            }
            _ => {}
        }
        Self::from_fields(form, [code0, parameter0, parameter1, code1, cmd], 0)
    }

    /// A symbol from raw fields `[stype0, parameter0, parameter1, stype1, cmd]` and stype2.
    ///
    /// # Errors
    /// [`Error::Range`] naming the first field that does not fit; a short symbol has no room for a stype2
    /// other than 0.
    pub fn from_fields(form: Form, fields: [u8; 5], stype2: u16) -> Result<Self, Error> {
        let [stype0, parameter0, parameter1, stype1, cmd] = fields;
        let parameter_max = u16::from(form.parameter_max());
        fits(FieldName::Stype0, u16::from(stype0), 7)?;
        fits(FieldName::Parameter0, u16::from(parameter0), parameter_max)?;
        fits(FieldName::Parameter1, u16::from(parameter1), parameter_max)?;
        fits(FieldName::Stype1, u16::from(stype1), 7)?;
        fits(FieldName::Cmd, u16::from(cmd), 7)?;
        let symbol = Self { form, stype0, parameter0, parameter1, stype1, cmd, stype2: 0 };
        symbol.with_stype2(stype2)
    }

    /// This symbol with other stype2 bits, 0..=0x3FFF.
    ///
    /// # Errors
    /// [`Error::Range`] if the value has more than 14 bits, or is not 0 and the symbol is short.
    pub fn with_stype2(self, stype2: u16) -> Result<Self, Error> {
        let max = match self.form {
            Form::Short => 0,
            Form::Long => STYPE2_MAX,
        };
        fits(FieldName::Stype2, stype2, max)?;
        Ok(Self { stype2, ..self })
    }

    /// Reads and checks the octets of one symbol, without delimiters.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::Crc`]. Nothing else: every field value is a symbol.
    pub fn parse(form: Form, octets: &[u8]) -> Result<Self, Error> {
        Self::from_view(View::new(form, octets)?)
    }

    /// The symbol behind a view.
    ///
    /// # Errors
    /// [`Error::Crc`].
    pub const fn from_view(view: View) -> Result<Self, Error> {
        if view.crc() != view.computed_crc() {
            return Err(Error::Crc { expected: view.computed_crc(), found: view.crc() });
        }
        Ok(Self {
            form: view.form,
            stype0: view.stype0(),
            parameter0: view.parameter0(),
            parameter1: view.parameter1(),
            stype1: view.stype1(),
            cmd: view.cmd(),
            stype2: view.stype2(),
        })
    }

    /// The symbol with its CRC, right-aligned in 24 or 48 bits.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        let width = match self.form {
            Form::Short => 5,
            Form::Long => 6,
        };
        let mut info = self.stype0 as u64;
        info = info << width | self.parameter0 as u64;
        info = info << width | self.parameter1 as u64;
        info = info << 3 | self.stype1 as u64;
        info = info << 3 | self.cmd as u64;
        match self.form {
            Form::Short => info << 5 | crc5(info as u32) as u64,
            Form::Long => {
                info = info << 14 | self.stype2 as u64;
                info << 13 | crc13(info) as u64
            }
        }
    }

    /// Writes the octets, without delimiters, to the start of `out` and returns how many (3 or 6).
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is shorter; it is unchanged then.
    pub fn emit(self, out: &mut [u8]) -> Result<usize, Error> {
        let expected = self.form.octets();
        let found = out.len();
        let octets = out.get_mut(..expected).ok_or(Error::Length { expected, found })?;
        octets.copy_from_slice(&self.to_bits().to_be_bytes()[8 - expected..]);
        Ok(expected)
    }

    /// Writes the delimited form and returns its length in characters (4 or 8). `packet_in_progress`: whether
    /// a packet of this direction has begun and not ended.
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is shorter; it is unchanged then.
    pub fn emit_delimited(self, packet_in_progress: bool, out: &mut [u8]) -> Result<usize, Error> {
        Delimited { delimiter: self.delimiter(packet_in_progress), symbol: self }.emit(out)
    }

    /// The special character that must begin this symbol (and end it, if long).
    #[must_use]
    pub const fn delimiter(self, packet_in_progress: bool) -> Delimiter {
        if self.stype1().delimits(packet_in_progress) { Delimiter::Packet } else { Delimiter::Symbol }
    }

    /// Short or long.
    #[must_use]
    pub const fn form(self) -> Form {
        self.form
    }

    /// The first function.
    #[must_use]
    pub const fn stype0(self) -> Stype0 {
        Stype0::from_fields(self.stype0, self.parameter0, self.parameter1)
    }

    /// The second function.
    #[must_use]
    pub const fn stype1(self) -> Stype1 {
        Stype1::from_fields(self.stype1, self.cmd)
    }

    /// The 14 stype2 bits; 0 in a short symbol.
    #[must_use]
    pub const fn stype2(self) -> u16 {
        self.stype2
    }

    /// Raw fields `[stype0, parameter0, parameter1, stype1, cmd]`.
    #[must_use]
    pub const fn fields(self) -> [u8; 5] {
        [self.stype0, self.parameter0, self.parameter1, self.stype1, self.cmd]
    }
}

impl fmt::Display for ControlSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        View::from_bits(self.form, self.to_bits()).fmt(f)
    }
}

fn fits(field: FieldName, found: u16, max: u16) -> Result<(), Error> {
    if found > max { Err(Error::Range { field, max, found }) } else { Ok(()) }
}

/// The special character around a symbol.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Delimiter {
    /// PD, K28.3: the symbol delimits a packet.
    Packet,
    /// SC, K28.0: it does not.
    Symbol,
}

impl Delimiter {
    /// PD or SC.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packet => "PD",
            Self::Symbol => "SC",
        }
    }

    /// Data octet of the character.
    #[must_use]
    pub const fn octet(self) -> u8 {
        match self {
            Self::Packet => PD,
            Self::Symbol => SC,
        }
    }

    /// The delimiter with this data octet, if it is one.
    #[must_use]
    pub const fn from_octet(octet: u8) -> Option<Self> {
        match octet {
            PD => Some(Self::Packet),
            SC => Some(Self::Symbol),
            _ => None,
        }
    }
}

/// A symbol as it came off the link, with the character it came in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Delimited {
    /// The character that began it.
    pub delimiter: Delimiter,
    /// What it says.
    pub symbol: ControlSymbol,
}

impl Delimited {
    /// Reads the delimited form.
    ///
    /// # Errors
    /// In this order: [`Error::Length`], [`Error::StartDelimiter`], [`Error::EndDelimiter`], [`Error::Crc`].
    /// A delimiter that does not suit the content is no error, see [`Delimited::delimiter_agrees`].
    pub fn parse(form: Form, wire: &[u8]) -> Result<Self, Error> {
        let expected = form.characters();
        if wire.len() != expected {
            return Err(Error::Length { expected, found: wire.len() });
        }
        let start = wire[0];
        let delimiter = Delimiter::from_octet(start).ok_or(Error::StartDelimiter { found: start })?;
        let octets = &wire[1..=form.octets()];
        if form == Form::Long && wire[expected - 1] != start {
            return Err(Error::EndDelimiter { expected: start, found: wire[expected - 1] });
        }
        Ok(Self { delimiter, symbol: ControlSymbol::parse(form, octets)? })
    }

    /// Writes the delimited form, whether or not the character suits the content, and returns its length in
    /// characters (4 or 8).
    ///
    /// # Errors
    /// [`Error::Length`] if `out` is shorter; it is unchanged then.
    pub fn emit(self, out: &mut [u8]) -> Result<usize, Error> {
        let form = self.symbol.form;
        let (expected, found) = (form.characters(), out.len());
        let wire = out.get_mut(..expected).ok_or(Error::Length { expected, found })?;
        wire[0] = self.delimiter.octet();
        self.symbol.emit(&mut wire[1..])?;
        if form == Form::Long {
            wire[expected - 1] = self.delimiter.octet();
        }
        Ok(expected)
    }

    /// Whether the character suits the content. If not, a receiver counts it and carries the symbol out all
    /// the same.
    #[must_use]
    pub fn delimiter_agrees(&self, packet_in_progress: bool) -> bool {
        self.delimiter == self.symbol.delimiter(packet_in_progress)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    /// Form, [stype0, parameter0, parameter1, stype1, cmd], the whole symbol.
    const GOLDEN: [(Form, [u8; 5], u64); 7] = [
        (Form::Short, [4, 0, 31, 7, 0], 0x80_FF0F),
        (Form::Short, [0, 5, 7, 0, 0], 0x05_3811),
        (Form::Short, [4, 0, 31, 4, 4], 0x80_FC87),
        (Form::Short, [1, 3, 31, 7, 0], 0x23_FF11),
        (Form::Long, [4, 0, 63, 7, 0], 0x807F_C000_0A35),
        (Form::Long, [0, 5, 7, 0, 0], 0x028E_0000_028E),
        (Form::Long, [5, 3, 4, 7, 0], 0xA189_C000_09E1),
    ];

    #[test]
    fn every_bit_is_one_field_of_the_table_and_read_where_it_is_written() {
        for form in [Form::Short, Form::Long] {
            let table = form.fields();
            assert!(table.iter().flat_map(|(_, bits, _)| bits.clone()).eq(0..form.bits()));
            let read = |octets: &[u8]| -> [u64; 7] {
                let view = View::new(form, octets).unwrap();
                let functions =
                    [view.stype0(), view.parameter0(), view.parameter1(), view.stype1(), view.cmd()];
                let [a, b, c, d, e] = functions.map(u64::from);
                [a, b, c, d, e, view.stype2().into(), view.crc().into()]
            };
            let places = if form == Form::Short { &[0, 1, 2, 3, 4, 6][..] } else { &[0, 1, 2, 3, 4, 5, 6] };
            for ((_, bits, _), &place) in table.iter().zip(places) {
                let walking = bits.clone().map(|bit| 1 << (bits.end - 1 - bit));
                for value in walking.chain([crate::field::max(bits)]) {
                    let mut octets = [0; 6];
                    crate::field::put(&mut octets, bits, value);
                    let mut expected = [0; 7];
                    expected[place] = value;
                    assert_eq!(read(&octets[..form.octets()]), expected, "{form} {bits:?}");
                }
            }
        }
    }

    #[test]
    fn names_name_one_function() {
        for function in Stype1::ALL {
            let (stype1, cmd) = function.fields();
            assert_eq!(Stype1::from_fields(stype1, cmd), function);
            assert_eq!(Stype1::ALL.iter().filter(|other| other.name() == function.name()).count(), 1);
        }
        for cause in Cause::ALL {
            assert_eq!(Cause::from_code(cause.code()), cause);
            assert_eq!(Cause::ALL.iter().filter(|other| other.name() == cause.name()).count(), 1);
        }
        for status in PortStatus::ALL {
            assert_eq!(PortStatus::from_code(status.code()), status);
        }
    }

    /// Shows: R1.3p6s3.3c0529, R2.2p6s3.2c0017, R2.2p6s3.3c0018, R2.2p6s3.3c0019, R2.2p6s3.6c0072,
    /// R2.2p6s3.6c0073, R2.2p6s3.6.1c0075, R2.2p6s3.6.1c0076, R2.2p6s3.6.1c0077, R2.2p6s3.6.1c0078,
    /// R2.2p6s3.6.1c0079, R2.2p6s3.6.3r0001, R2.2p6s3.6.3c0081, R2.2p6s3.6.3c0082, R2.2p6s3.6.3c0083,
    /// R2.2p6s3.6.3c0084, R2.2p6s3.6.3r0002, R2.2p6s3.6.3r0004
    #[test]
    fn deconstruct() {
        for (form, fields, bits) in GOLDEN {
            let view = View::from_bits(form, bits);
            let found = [view.stype0(), view.parameter0(), view.parameter1(), view.stype1(), view.cmd()];
            assert_eq!(found, fields, "{view}");
            assert_eq!(view.crc(), view.computed_crc(), "{view}");
            assert_eq!(view.stype2(), 0);
        }
    }

    #[test]
    fn emit_writes_every_octet_and_no_other() {
        for (form, fields, bits) in GOLDEN {
            let symbol = ControlSymbol::from_fields(form, fields, 0).unwrap();
            let mut out = [0xA5u8; 9];
            assert_eq!(symbol.emit(&mut out), Ok(form.octets()));
            assert_eq!(out[..form.octets()], bits.to_be_bytes()[8 - form.octets()..], "{symbol}");
            assert!(out[form.octets()..].iter().all(|&octet| octet == 0xA5));
        }
    }

    /// Shows: R1.3p6s3.4c0881, R2.2p6s3.4.1c0028, R2.2p6s3.4.2c0032, R2.2p6s3.4.3c0035,
    /// R2.2p6s3.4.4c0038, R2.2p6s3.4.5c0040, R2.2p6s3.4.6c0046
    #[test]
    fn parse_and_functions() {
        let octets = |bits: u64| bits.to_be_bytes();
        for (form, fields, bits) in GOLDEN {
            let symbol = ControlSymbol::parse(form, &octets(bits)[8 - form.octets()..]).unwrap();
            assert_eq!(symbol.fields(), fields);
            assert_eq!(ControlSymbol::new(form, symbol.stype0(), symbol.stype1()), Ok(symbol));
        }
        let link_request = ControlSymbol::parse(Form::Short, &[0x80, 0xFC, 0x87]).unwrap();
        assert_eq!(link_request.stype1(), Stype1::LinkRequest(LinkRequest::InputStatus));
        let retry = ControlSymbol::parse(Form::Short, &[0x23, 0xFF, 0x11]).unwrap();
        assert_eq!(retry.stype0(), Stype0::PacketRetry { ack_id: 3, buf_status: 31 });
        let vc_status = ControlSymbol::parse(Form::Long, &[0xA1, 0x89, 0xC0, 0x00, 0x09, 0xE1]).unwrap();
        assert_eq!(vc_status.stype0(), Stype0::VcStatus { vcid: 3, buf_status: 4 });
    }

    /// Shows: R1.3p6s3.6c0530
    #[test]
    fn every_short_symbol_survives_parse_and_emit() {
        let mut out = [0u8; 3];
        for info in 0u64..1 << 19 {
            let bits = info << 5 | u64::from(crc5(info as u32));
            let symbol = ControlSymbol::from_view(View::from_bits(Form::Short, bits)).unwrap();
            symbol.emit(&mut out).unwrap();
            assert_eq!(out, bits.to_be_bytes()[5..]);
        }
    }

    fn is_detected(form: Form, bits: u64, damage: u64) -> bool {
        matches!(ControlSymbol::from_view(View::from_bits(form, bits ^ damage)), Err(Error::Crc { .. }))
    }

    /// The generator of CRC-5 has the factor x + 1 and period 15: it finds every odd number of errors, and
    /// two errors unless 15 places apart (the extra zero bit between information and CRC counts as a place).
    ///
    /// Shows: R2.2p6s3.6.1c0080
    #[test]
    fn crc5_detects_one_and_three_errors_and_two_that_are_near() {
        for (form, _, bits) in GOLDEN.into_iter().filter(|&(form, ..)| form == Form::Short) {
            for first in 0..24 {
                assert!(is_detected(form, bits, 1 << first));
                for second in first + 1..24 {
                    let places = second - first + u32::from(first < 5 && second >= 5);
                    let two = 1 << first | 1 << second;
                    assert_eq!(is_detected(form, bits, two), places != 15, "bits {first}, {second}");
                    for third in second + 1..24 {
                        assert!(is_detected(form, bits, two | 1 << third), "{first}, {second}, {third}");
                    }
                }
            }
        }
    }

    /// Shows: R2.2p6s3.6.3c0085, R2.2p6s3.6.3r0005
    #[test]
    fn crc13_detects_one_two_and_three_errors() {
        for (form, _, bits) in GOLDEN.into_iter().filter(|&(form, ..)| form == Form::Long) {
            for first in 0..48 {
                for second in first..48 {
                    for third in second..48 {
                        // Equal positions stand for fewer errors.
                        let damage = 1 << first | 1 << second | 1 << third;
                        assert!(is_detected(form, bits, damage), "bits {first}, {second}, {third}");
                    }
                }
            }
        }
    }

    /// Shows: R1.3p6s3.5c0877, R2.2p6s3.4c0021, R2.2p6s3.4c0023, R2.2p6s3.5c0050, R2.2p6s3.5.1c0054,
    /// R2.2p6s3.5.2c0056, R2.2p6s3.5.3c0058, R2.2p6s3.5.4c0061, R2.2p6s3.5.5c0064, R2.2p6s3.5.5c0065,
    /// R2.2p6s3.5.6c0071, R2.2p6s5.5c0400
    #[test]
    fn all_functions_have_distinct_fields_and_come_back() {
        for stype0 in 0..8 {
            for parameter1 in 0..32 {
                let function = Stype0::from_fields(stype0, 5, parameter1);
                assert_eq!(function.fields(), (stype0, 5, parameter1), "{function:?}");
            }
        }
        for stype1 in 0..8 {
            for cmd in 0..8 {
                assert_eq!(Stype1::from_fields(stype1, cmd).fields(), (stype1, cmd));
            }
        }
    }

    #[test]
    fn undefined_bits_of_a_parameter_are_ignored_but_kept() {
        // VC_status with the three bits above VCID set; a receiver uses VCID alone.
        let symbol = ControlSymbol::from_fields(Form::Long, [5, 0b111_010, 1, 7, 0], 0).unwrap();
        assert_eq!(symbol.stype0(), Stype0::VcStatus { vcid: 2, buf_status: 1 });
        assert_eq!(symbol.fields()[1], 0b111_010);
    }

    /// Shows: R2.2p6s3.4.3c0037, R2.2p6s3.4.6c0049, R2.2p6s5.7c0471
    #[test]
    fn causes_and_port_states_have_their_codes() {
        let causes = [
            (1, Cause::UnexpectedAckId),
            (2, Cause::SymbolCrc),
            (3, Cause::NonMaintenanceStopped),
            (4, Cause::PacketCrc),
            (5, Cause::IllegalCharacter),
            (6, Cause::LackOfResources),
            (7, Cause::DescramblerSync),
            (8, Cause::Reserved(8)),
            (31, Cause::General),
        ];
        for (code, cause) in causes {
            assert_eq!(Cause::from_code(code), cause);
        }
        let states = [
            (2, PortStatus::Error),
            (3, PortStatus::Reserved(3)),
            (4, PortStatus::RetryStopped),
            (5, PortStatus::ErrorStopped),
            (16, PortStatus::Ok),
        ];
        for (code, state) in states {
            assert_eq!(PortStatus::from_code(code), state);
        }
    }

    #[test]
    fn fields_that_do_not_fit_are_named() {
        let too_big = |form, fields, stype2| ControlSymbol::from_fields(form, fields, stype2).unwrap_err();
        let range = |field, max, found| Error::Range { field, max, found };
        assert_eq!(too_big(Form::Short, [8, 0, 0, 0, 0], 0), range(FieldName::Stype0, 7, 8));
        assert_eq!(too_big(Form::Short, [0, 32, 0, 0, 0], 0), range(FieldName::Parameter0, 31, 32));
        assert_eq!(too_big(Form::Long, [0, 0, 64, 0, 0], 0), range(FieldName::Parameter1, 63, 64));
        assert_eq!(too_big(Form::Long, [0, 0, 0, 8, 0], 0), range(FieldName::Stype1, 7, 8));
        assert_eq!(too_big(Form::Long, [0, 0, 0, 0, 8], 0), range(FieldName::Cmd, 7, 8));
        assert_eq!(too_big(Form::Long, [0; 5], 0x4000), range(FieldName::Stype2, 0x3FFF, 0x4000));
        assert_eq!(too_big(Form::Short, [0; 5], 1), range(FieldName::Stype2, 0, 1));
        let vc = Stype0::VcStatus { vcid: 8, buf_status: 0 };
        assert_eq!(ControlSymbol::new(Form::Long, vc, Stype1::Nop), Err(range(FieldName::Parameter0, 7, 8)));
        let cause = Stype0::PacketNotAccepted { arbitrary: 0, cause: Cause::Reserved(32) };
        assert_eq!(
            ControlSymbol::new(Form::Long, cause, Stype1::Nop),
            Err(range(FieldName::Parameter1, 31, 32))
        );
    }

    #[test]
    fn errors_name_the_field_and_the_rule() {
        let text = |error: Error| error.to_string();
        assert_eq!(
            text(Error::Length { expected: 6, found: 5 }),
            "control symbol length: 6 octets needed, 5 found"
        );
        assert_eq!(
            text(Error::EndDelimiter { expected: SC, found: PD }),
            "control symbol end character: must repeat 0x1c, 0x7c found"
        );
        assert_eq!(
            text(Error::Range { field: FieldName::Parameter0, max: 31, found: 40 }),
            "control symbol parameter0: at most 31 fits, 40 given"
        );
    }

    #[test]
    fn display_of_a_damaged_symbol_says_so() {
        let view = View::from_bits(Form::Short, 0x80_FF0E);
        assert_eq!(
            view.to_string(),
            "short symbol: stype0 4 (0, 31), stype1 7 cmd 0, crc 0x000e BAD (computed 0x000f)"
        );
    }

    /// Shows: R1.3p6s3.5.4c0875, R1.3p6s3.5.5c0876, R1.3p6s5.3.1c0874, R2.2p6s3.5c0051,
    /// R2.2p6s5.5.2c0404, R2.2p6s5.5.2c0405, R2.2p6s5.5.2c0406, R2.2p6s5.5.2c0407, R2.2p6s5.6.1c0437
    #[test]
    fn delimiter_depends_on_the_packet_in_progress() {
        let request = |what| Stype1::LinkRequest(what);
        // Function, delimiter while idle, delimiter while a packet is in progress.
        let table = [
            (Stype1::StartOfPacket, PD, PD),
            (Stype1::Stomp, PD, PD),
            (Stype1::EndOfPacket, PD, PD),
            (Stype1::RestartFromRetry, SC, PD),
            (request(LinkRequest::ResetPort), SC, PD),
            (request(LinkRequest::ResetDevice), SC, PD),
            (request(LinkRequest::InputStatus), SC, PD),
            (Stype1::MulticastEvent, SC, SC),
            (Stype1::Nop, SC, SC),
            (Stype1::Reserved { stype1: 6, cmd: 4 }, SC, SC),
        ];
        let status = Stype0::Status { ack_id_status: 1, buf_status: 2 };
        for form in [Form::Short, Form::Long] {
            for (stype1, idle, busy) in table {
                let symbol = ControlSymbol::new(form, status, stype1).unwrap();
                for (in_progress, octet) in [(false, idle), (true, busy)] {
                    let mut wire = [0xA5u8; 8];
                    let length = symbol.emit_delimited(in_progress, &mut wire).unwrap();
                    assert_eq!(length, form.characters());
                    assert_eq!(wire[0], octet, "{stype1:?}");
                    let back = Delimited::parse(form, &wire[..length]).unwrap();
                    assert_eq!(back.symbol, symbol);
                    assert!(back.delimiter_agrees(in_progress));
                    assert_eq!(back.delimiter_agrees(!in_progress), idle == busy);
                }
            }
        }
    }

    /// Shows: R2.2p6s5.13.2.3.2c0603
    #[test]
    fn delimited_form_of_wrong_length_or_character_is_refused() {
        let symbol = ControlSymbol::from_fields(Form::Long, [4, 0, 63, 7, 0], 0).unwrap();
        let mut wire = [0u8; 8];
        symbol.emit_delimited(false, &mut wire).unwrap();
        for length in 0..8 {
            let error = Error::Length { expected: 8, found: length };
            assert_eq!(Delimited::parse(Form::Long, &wire[..length]), Err(error));
            assert_eq!(symbol.emit_delimited(false, &mut [0u8; 8][..length]), Err(error));
        }
        let mut bad_end = wire;
        bad_end[7] = PD;
        assert_eq!(
            Delimited::parse(Form::Long, &bad_end),
            Err(Error::EndDelimiter { expected: SC, found: PD })
        );
        let mut bad_start = wire;
        bad_start[0] = 0xBC;
        assert_eq!(Delimited::parse(Form::Long, &bad_start), Err(Error::StartDelimiter { found: 0xBC }));
    }

    proptest! {
        #[test]
        fn every_long_symbol_survives_parse_and_emit(info in 0u64..1 << 35) {
            let bits = info << 13 | u64::from(crc13(info));
            let symbol = ControlSymbol::from_view(View::from_bits(Form::Long, bits)).unwrap();
            prop_assert_eq!(symbol.to_bits(), bits);
            let built = ControlSymbol::from_fields(Form::Long, symbol.fields(), symbol.stype2());
            prop_assert_eq!(built, Ok(symbol));
        }

        #[test]
        fn any_octets_decode_or_fail_without_panic(octets in proptest::collection::vec(any::<u8>(), 0..12)) {
            for form in [Form::Short, Form::Long] {
                if let Ok(view) = View::new(form, &octets) {
                    prop_assert!(!view.to_string().is_empty());
                }
                let _ = ControlSymbol::parse(form, &octets);
                let _ = Delimited::parse(form, &octets);
            }
        }
    }
}
