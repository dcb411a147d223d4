//! Traffic management: what the receiver of streams tells their sender, and the other way round (Part 10
//! §3.4, §4.3). All of it can be read and written here; a [`Sender`](super::Sender) obeys XOFF and XON.
//! Rates and credits it hands to its owner, which is the support set *basic* of Part 10 §3.4.5.

use crate::wire::Error;
use crate::wire::traffic_management::{Operation, TrafficManagement, XOFF, XON};
use alloc::collections::BTreeMap;

/// Which streams a message is about. Their destination is the device that sends the message, if that is the
/// receiver of the data; or the one that gets it, if it is a status of the sender.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Operand {
    /// One stream.
    Stream {
        /// Class of service.
        cos: u8,
        /// Stream ID.
        stream_id: u16,
    },
    /// All streams of a class or a group of classes.
    Classes {
        /// Class of service.
        cos: u8,
        /// The bits of `cos` that do not matter: 0 to 8 of the lower ones.
        mask: u8,
    },
    /// All streams to the destination.
    Destination,
    /// All streams of the sender, to whomever.
    Everything,
}

/// Whose rate is meant.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Rate {
    /// The average rate.
    Average,
    /// The peak rate.
    Peak,
}

/// The TM OP under which messages are sent that several operations have.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Mode {
    /// 0: on and off.
    Basic,
    /// 1: rates.
    Rate,
    /// 2: credits.
    Credit,
}

/// What a message says.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Action {
    /// Do not send.
    Xoff {
        /// Operation.
        mode: Mode,
    },
    /// Send.
    Xon {
        /// Operation.
        mode: Mode,
    },
    /// The queue of the sender is level/255 full.
    QueueStatus {
        /// Operation.
        mode: Mode,
        /// 0 (empty) to 255 (full).
        level: u8,
    },
    /// Multiply the rate by 1 - n/256; 0 says to keep it.
    Reduce {
        /// Whose.
        rate: Rate,
        /// n.
        amount: u8,
    },
    /// Multiply the rate by 1 + n/256; 255 says to double it.
    Increase {
        /// Whose.
        rate: Rate,
        /// n, 1..=255.
        amount: u8,
    },
    /// The receiver grants so many PDUs, or takes back the rest of the unit (0).
    Allocate {
        /// Allocation unit, 0..=15.
        unit: u8,
        /// PDUs.
        credits: u8,
    },
    /// The sender has so many PDUs of the unit left.
    CreditStatus {
        /// Allocation unit, 0..=15.
        unit: u8,
        /// PDUs.
        credits: u8,
    },
    /// Left to users: parameter 1 is 0, parameter 2 neither XOFF nor XON.
    User {
        /// Operation.
        mode: Mode,
        /// Parameter 2, 1..=254.
        value: u8,
    },
    /// Left to applications: operation 3.
    Application {
        /// Parameter 1.
        parameter1: u8,
        /// Parameter 2.
        parameter2: u8,
    },
}

/// A traffic management message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Management {
    /// Which streams.
    pub operand: Operand,
    /// What about them.
    pub action: Action,
}

impl Management {
    /// Reads a packet. Fields that do not matter under a wildcard are ignored.
    ///
    /// # Errors
    /// [`Error::Value`] for wildcards and class mask that do not go together (Part 10 §4.3.1), and for
    /// reserved parameters (tables 4-4 to 4-6).
    pub fn parse(packet: &TrafficManagement) -> Result<Self, Error> {
        Ok(Self { operand: parse_operand(packet)?, action: parse_action(packet)? })
    }

    /// The packet; fields that do not matter under a wildcard are 0. If that leads into another flow than the
    /// data has, the caller may change them (Part 10 §3.4.5).
    #[must_use]
    pub const fn packet(&self) -> TrafficManagement {
        let (wildcards, mask, cos, stream_id) = match self.operand {
            Operand::Stream { cos, stream_id } => ([false, false, false], 0, cos, stream_id),
            Operand::Classes { cos, mask } => ([false, false, true], mask, cos, 0),
            Operand::Destination => ([false, true, true], 0, 0, 0),
            Operand::Everything => ([true, true, true], 0, 0, 0),
        };
        let (operation, parameter1, parameter2) = match self.action {
            Action::Xoff { mode } => (mode.operation(), 0, XOFF),
            Action::Xon { mode } => (mode.operation(), 0, XON),
            Action::User { mode, value } => (mode.operation(), 0, value),
            Action::QueueStatus { mode: Mode::Credit, level } => (Operation::Credit, 0x30, level),
            Action::QueueStatus { mode, level } => (mode.operation(), 3, level),
            Action::Reduce { rate, amount } => (Operation::Rate, 1 | rate.bit(), amount),
            Action::Increase { rate, amount } => (Operation::Rate, 2 | rate.bit(), amount),
            Action::Allocate { unit, credits } => (Operation::Credit, 0x10 | unit, credits),
            Action::CreditStatus { unit, credits } => (Operation::Credit, 0x20 | unit, credits),
            Action::Application { parameter1, parameter2 } => {
                (Operation::Application, parameter1, parameter2)
            }
        };
        let [any_destination, any_class, any_stream] = wildcards;
        TrafficManagement {
            cos,
            stream_id,
            operation,
            any_destination,
            any_class,
            any_stream,
            mask,
            parameter1,
            parameter2,
        }
    }
}

impl Mode {
    const fn operation(self) -> Operation {
        match self {
            Self::Basic => Operation::Basic,
            Self::Rate => Operation::Rate,
            Self::Credit => Operation::Credit,
        }
    }
}

impl Rate {
    /// The bit called Y in Part 10 table 4-5.
    const fn bit(self) -> u8 {
        match self {
            Self::Average => 0,
            Self::Peak => 4,
        }
    }
}

fn parse_operand(packet: &TrafficManagement) -> Result<Operand, Error> {
    let TrafficManagement { cos, stream_id, mask, any_destination, any_class, any_stream, .. } = *packet;
    // 0, 1, 3, 7 ... 255: ones on the right only.
    let group = mask & mask.wrapping_add(1) == 0;
    match (any_destination, any_class, any_stream) {
        (false, false, false) if mask == 0 => Ok(Operand::Stream { cos, stream_id }),
        (false, false, true) if group => Ok(Operand::Classes { cos, mask }),
        (false, true, true) => Ok(Operand::Destination),
        (true, true, true) => Ok(Operand::Everything),
        (_, false, _) => {
            let rule = "0 for one stream, ones on the right for a group of classes";
            Err(Error::Value { field: "mask", found: mask.into(), rule })
        }
        (destination, _, stream) => {
            let found = u32::from(destination) << 2 | 2 | u32::from(stream);
            Err(Error::Value { field: "wildcard", found, rule: "0, 1, 3 or 7" })
        }
    }
}

fn parse_action(packet: &TrafficManagement) -> Result<Action, Error> {
    let TrafficManagement { operation, parameter1, parameter2, .. } = *packet;
    let mode = match operation {
        Operation::Basic => Mode::Basic,
        Operation::Rate => Mode::Rate,
        Operation::Credit => Mode::Credit,
        Operation::Application => return Ok(Action::Application { parameter1, parameter2 }),
    };
    let rate = if parameter1 & Rate::Peak.bit() == 0 { Rate::Average } else { Rate::Peak };
    let unit = parameter1 & 0xF;
    Ok(match (mode, parameter1) {
        (_, 0) => match parameter2 {
            XOFF => Action::Xoff { mode },
            XON => Action::Xon { mode },
            value => Action::User { mode, value },
        },
        (Mode::Basic | Mode::Rate, 3) | (Mode::Credit, 0x30) => {
            Action::QueueStatus { mode, level: parameter2 }
        }
        (Mode::Rate, 1 | 5) => Action::Reduce { rate, amount: parameter2 },
        (Mode::Rate, 2 | 6) if parameter2 > 0 => Action::Increase { rate, amount: parameter2 },
        (Mode::Credit, 0x10..=0x1F) => Action::Allocate { unit, credits: parameter2 },
        (Mode::Credit, 0x20..=0x2F) => Action::CreditStatus { unit, credits: parameter2 },
        _ => {
            let found = u32::from(parameter1) << 8 | u32::from(parameter2);
            return Err(Error::Value {
                field: "parameters",
                found,
                rule: "one of Part 10 tables 4-4 to 4-6",
            });
        }
    })
}

/// Destination, class of service, stream ID.
type StreamKey = (u32, u8, u16);

/// A set of streams as traffic management can name them. Two scopes are disjoint, or one is in the other.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Scope {
    destination: Option<u32>,
    /// Without the bits under the mask.
    cos: u8,
    mask: u8,
    stream_id: Option<u16>,
}

impl Operand {
    /// The streams that are meant if the other device is `other`.
    pub(super) const fn scope(self, other: u32) -> Scope {
        let destination = Some(other);
        match self {
            Self::Stream { cos, stream_id } => {
                Scope { destination, cos, mask: 0, stream_id: Some(stream_id) }
            }
            Self::Classes { cos, mask } => Scope { destination, cos: cos & !mask, mask, stream_id: None },
            Self::Destination => Scope { destination, cos: 0, mask: 0xFF, stream_id: None },
            Self::Everything => Scope { destination: None, cos: 0, mask: 0xFF, stream_id: None },
        }
    }
}

impl Scope {
    pub(super) const fn destination(self) -> Option<u32> {
        self.destination
    }

    pub(super) fn contains(self, (destination, cos, stream_id): StreamKey) -> bool {
        self.covers(Self { destination: Some(destination), cos, mask: 0, stream_id: Some(stream_id) })
    }

    fn covers(self, other: Self) -> bool {
        (self.destination.is_none() || self.destination == other.destination)
            && other.mask & !self.mask == 0
            && other.cos & !self.mask == self.cos
            && (self.stream_id.is_none() || self.stream_id == other.stream_id)
    }

    /// All scopes the stream is in, narrowest first.
    fn around((destination, cos, stream_id): StreamKey) -> impl Iterator<Item = Self> {
        let classes = (0..=8).map(|bits| ((1u16 << bits) - 1) as u8);
        let destination = Some(destination);
        let stream = Self { destination, cos, mask: 0, stream_id: Some(stream_id) };
        let groups = classes.map(move |mask| Self { destination, cos: cos & !mask, mask, stream_id: None });
        let everything = Self { destination: None, cos: 0, mask: 0xFF, stream_id: None };
        core::iter::once(stream).chain(groups).chain(core::iter::once(everything))
    }
}

/// What is stopped. The last order that concerns a stream counts: an order overrides all earlier ones for the
/// streams it names, so among those that are kept the narrowest decides.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Stops(BTreeMap<Scope, bool>);

impl Stops {
    pub(super) fn set(&mut self, scope: Scope, stopped: bool) {
        self.0.retain(|&other, _| !scope.covers(other));
        // "Go" is the rule: it is kept only as an exception to a wider "stop".
        if stopped != self.of_wider(scope) {
            self.0.insert(scope, stopped);
        }
    }

    pub(super) fn contain(&self, stream: StreamKey) -> bool {
        if self.0.is_empty() {
            return false;
        }
        Scope::around(stream).find_map(|scope| self.0.get(&scope).copied()).unwrap_or(false)
    }

    /// What holds for a scope that has no order of its own.
    fn of_wider(&self, scope: Scope) -> bool {
        let inside = (scope.destination.unwrap_or(0), scope.cos, scope.stream_id.unwrap_or(0));
        Scope::around(inside)
            .filter(|wider| wider.covers(scope))
            .find_map(|wider| self.0.get(&wider).copied())
            .unwrap_or(false)
    }
}
