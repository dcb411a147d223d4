//! Type 7: flow control between a place of congestion and a source of packets (Part 9 §3).
//!
//! ```text
//! bit    0       1   3 4      7 8     14  15
//!      | XON/XOFF| FAM | reserved| flowID | SOC |
//! ```
//!
//! The packet goes to the source of the packets that met the congestion. It has no source ID of its own: in
//! this place it has tgtdestinationID, where those packets went. It is sent with priority 3 and CRF, and has
//! no response.

use super::{Error, bits, header, no_payload, put};
use core::fmt;
use lp_serial::field::{Field, RESERVED};

/// Field positions: (shift of the last bit, width).
mod field {
    pub(super) const XON: (u32, u32) = (15, 1);
    pub(super) const FAM: (u32, u32) = (12, 3);
    pub(super) const RESERVED: (u32, u32) = (8, 4);
    pub(super) const FLOW_ID: (u32, u32) = (1, 7);
    pub(super) const SOC: (u32, u32) = (0, 1);
}

const FORMAT: &str = "FLOW CONTROL";

/// The fields (Part 9 §3).
pub const FIELDS: [Field; 5] =
    [("XON", 0..1, 10), ("FAM", 1..4, 10), (RESERVED, 4..8, 2), ("flowID", 8..15, 10), ("SOC", 15..16, 10)];

/// Format type.
pub const FTYPE: u8 = 7;

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View(u32);

impl View {
    /// Looks at the bytes that follow the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let (head, _) = header::<2>(FORMAT, bytes)?;
        Ok(Self(u16::from_be_bytes(*head).into()))
    }

    /// XON (1) or XOFF (0).
    #[must_use]
    pub const fn xon(self) -> bool {
        bits(self.0, field::XON) == 1
    }

    /// Flow arbitration message, 0..=7.
    #[must_use]
    pub const fn fam(self) -> u8 {
        bits(self.0, field::FAM) as u8
    }

    /// The four bits that senders write as 0 and receivers ignore.
    #[must_use]
    pub const fn reserved(self) -> u8 {
        bits(self.0, field::RESERVED) as u8
    }

    /// Code of the flow, 0..=127.
    #[must_use]
    pub const fn flow_id(self) -> u8 {
        bits(self.0, field::FLOW_ID) as u8
    }

    /// Source of congestion: an endpoint (1) or a switch (0).
    #[must_use]
    pub const fn soc(self) -> bool {
        bits(self.0, field::SOC) == 1
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "FLOW CONTROL {} FAM {:03b} flow {:#04x} from {}",
            if self.xon() { "XON" } else { "XOFF" },
            self.fam(),
            self.flow_id(),
            if self.soc() { "an endpoint" } else { "a switch" }
        )
    }
}

/// A transaction request flow.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FlowId(u8);

impl FlowId {
    /// Flow A (0) to F (5) of VC0. Where CRF is in use, A and B have priority 0, C and D 1, E and F 2, and B,
    /// D and F have CRF; elsewhere A has priority 0, B 1, and C 2 (Part 6 §6.11).
    ///
    /// # Errors
    /// [`Error::Range`].
    pub const fn vc0(flow: u8) -> Result<Self, Error> {
        match super::fits("flow", flow as u32, 5) {
            Ok(()) => Ok(Self(flow)),
            Err(error) => Err(error),
        }
    }

    /// The flow of VC1 to VC8.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub const fn of_channel(channel: u8) -> Result<Self, Error> {
        if channel == 0 || channel > 8 {
            return Err(Error::Value { field: "virtual channel", found: channel as u32, rule: "1 to 8" });
        }
        Ok(Self(0x40 | channel))
    }

    /// The meaning of a code.
    ///
    /// # Errors
    /// [`Error::Value`]: the other codes are reserved, and ask for no action.
    pub const fn from_code(code: u8) -> Result<Self, Error> {
        if matches!(code, 0..=5 | 0x41..=0x48) {
            Ok(Self(code))
        } else {
            let rule = "0 to 5 (VC0, flow A to F) or 65 to 72 (VC1 to VC8)";
            Err(Error::Value { field: "flowID", found: code as u32, rule })
        }
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self.0
    }

    /// Which of VC1 to VC8, or 0 for VC0.
    #[must_use]
    pub const fn channel(self) -> u8 {
        if self.0 & 0x40 == 0 { 0 } else { self.0 & 0x3F }
    }
}

/// What the receiver is told.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Command {
    /// Stop the flow, and those of lower priority.
    Xoff,
    /// Let the flow go, and those of higher priority.
    Xon,
    /// A request for resources is refused.
    Refused {
        /// Sequence bit of the request.
        sequence: bool,
    },
    /// A request for resources is granted.
    Granted {
        /// Sequence bit of the request.
        sequence: bool,
    },
    /// Resources are not needed any more.
    Release {
        /// Sequence bit of the request.
        sequence: bool,
    },
    /// Resources for one PDU are asked for.
    RequestSingle {
        /// It tells this request from the one before.
        sequence: bool,
    },
    /// Resources for any number of PDUs are asked for, until they are released.
    RequestMultiple {
        /// It tells this request from the one before.
        sequence: bool,
    },
}

impl Command {
    const fn from_code(xon: bool, fam: u8) -> Result<Self, Error> {
        let sequence = fam & 1 == 1;
        Ok(match (xon, fam) {
            (false, 0) => Self::Xoff,
            (true, 0) => Self::Xon,
            (false, 2 | 3) => Self::Refused { sequence },
            (true, 2 | 3) => Self::Granted { sequence },
            (false, 4 | 5) => Self::Release { sequence },
            (true, 4 | 5) => Self::RequestSingle { sequence },
            (true, 6 | 7) => Self::RequestMultiple { sequence },
            _ => {
                let rule = "0, 2 to 5, or with XON 6 and 7";
                return Err(Error::Value { field: "FAM", found: fam as u32, rule });
            }
        })
    }

    /// The name of what XON and FAM say (Part 9 Table 3-2); none where they are reserved.
    #[must_use]
    pub const fn name(xon: bool, fam: u8) -> Option<&'static str> {
        let Ok(command) = Self::from_code(xon, fam) else { return None };
        Some(match command {
            Self::Xoff => "XOFF",
            Self::Xon => "XON",
            Self::Refused { .. } => "XOFF(ARB)",
            Self::Granted { .. } => "XON(ARB)",
            Self::Release { .. } => "RELEASE",
            Self::RequestSingle { .. } => "REQUEST single PDU",
            Self::RequestMultiple { .. } => "REQUEST multi-PDU",
        })
    }

    const fn code(self) -> (bool, u8) {
        match self {
            Self::Xoff => (false, 0),
            Self::Xon => (true, 0),
            Self::Refused { sequence } => (false, 2 | sequence as u8),
            Self::Granted { sequence } => (true, 2 | sequence as u8),
            Self::Release { sequence } => (false, 4 | sequence as u8),
            Self::RequestSingle { sequence } => (true, 4 | sequence as u8),
            Self::RequestMultiple { sequence } => (true, 6 | sequence as u8),
        }
    }
}

/// A flow control packet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct FlowControl {
    /// What the receiver is told.
    pub command: Command,
    /// Of which flow.
    pub flow: FlowId,
    /// Whether an endpoint, and not a switch, says so.
    pub from_endpoint: bool,
}

impl FlowControl {
    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`], [`Error::Payload`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let view = View::new(bytes)?;
        no_payload(FORMAT, &bytes[2..])?;
        Ok(Self {
            command: Command::from_code(view.xon(), view.fam())?,
            flow: FlowId::from_code(view.flow_id())?,
            from_endpoint: view.soc(),
        })
    }

    /// Bytes behind the transport fields.
    #[must_use]
    pub const fn octets(self) -> usize {
        2
    }

    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(self, out: &mut [u8]) -> Result<usize, Error> {
        put((self.to_bits() as u16).to_be_bytes(), &[], out)
    }

    const fn to_bits(self) -> u32 {
        let (xon, fam) = self.command.code();
        (xon as u32) << field::XON.0
            | (fam as u32) << field::FAM.0
            | (self.flow.code() as u32) << field::FLOW_ID.0
            | (self.from_endpoint as u32) << field::SOC.0
    }
}

impl fmt::Display for FlowControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        View(self.to_bits()).fmt(f)
    }
}
