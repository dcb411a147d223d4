//! The 14-bit stype2 field of the long control symbol (Part 12 §3.1).
//!
//! ```text
//! stype2 bit  0    2 3   4   5   6   7   8   9       13
//!            | CMD  |status of port 6g+5 .. 6g+0| group g |
//! ```
//!
//! CMD 0 is NOP, 1 is VoQ backpressure, 2 to 7 are reserved. Bit 0 is the most significant bit and leaves
//! first, so in `status` taken as a number, bit k (value `1 << k`) belongs to port `6 * group + k`. 1 means
//! congested.
//!
//! Rev 3.0 and later use these bits in another, incompatible way; such a message reads here as a reserved
//! command.

use crate::ports::Ports;
use core::fmt;
use lp_serial::field::Field;

/// Field positions: (shift of the last bit, width).
mod field {
    pub(super) const COMMAND: (u32, u32) = (11, 3);
    pub(super) const PARAMETER: (u32, u32) = (0, 11);
    pub(super) const STATUS: (u32, u32) = (5, 6);
    pub(super) const GROUP: (u32, u32) = (0, 5);
}

/// Bits of the field.
pub const FIELD_BITS: u32 = 14;

const fn row(name: &'static str, (shift, width): (u32, u32), base: u32) -> Field {
    (name, FIELD_BITS - shift - width..FIELD_BITS - shift, base)
}

/// The field (Part 12 Table 3-1).
pub const FIELDS: [Field; 2] = [row("s2_cmd", field::COMMAND, 10), row("s2_param", field::PARAMETER, 16)];

/// A message, whose CMD is 1 (Part 12 §3.1).
pub const MESSAGE_FIELDS: [Field; 3] =
    [row("s2_cmd", field::COMMAND, 10), row("status", field::STATUS, 2), row("group", field::GROUP, 10)];

/// Names of CMD, by code (Part 12 Table 3-1).
pub const COMMAND_NAMES: [&str; 8] =
    ["NOP", "VoQ backpressure", "reserved", "reserved", "reserved", "reserved", "reserved", "reserved"];

/// Ports that one message speaks of.
pub const PORTS_PER_GROUP: u16 = 6;

/// Port groups that can be named: 0..32.
pub const GROUPS: u16 = 32;

/// Ports that can be named: 0..192.
pub const MAX_PORTS: u16 = GROUPS * PORTS_PER_GROUP;

/// Largest value of the field.
pub const FIELD_MAX: u16 = 0x3FFF;

/// The field when there is nothing to say: NOP with parameter 0.
pub const NOP_FIELD: u16 = 0x0000;

const COMMAND_NOP: u8 = 0;
const COMMAND_BACKPRESSURE: u8 = 1;

/// Why a number is no message, or why a message cannot be made.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// No message can name this port (§2.1: 192 ports).
    Port {
        /// The port that was asked for.
        found: u16,
    },
    /// There is no such group.
    Group {
        /// The group that was asked for.
        found: u8,
    },
    /// More than six status bits.
    Status {
        /// The bits that were given.
        found: u8,
    },
    /// More than 14 bits.
    Width {
        /// The number that was given.
        found: u16,
    },
    /// CMD 0b010 to 0b111. Not a fault of the link: a receiver ignores the field, carries out the rest of the
    /// symbol and at most counts it (Part 6 §3.1).
    ReservedCommand {
        /// CMD as received, 2..=7.
        command: u8,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Port { found } => write!(f, "stype2 port: 0 to 191 can be addressed, {found} given"),
            Self::Group { found } => write!(f, "stype2 group: 0 to 31, {found} given"),
            Self::Status { found } => write!(f, "stype2 status: six bits, {found:#b} given"),
            Self::Width { found } => write!(f, "stype2: 14 bits, {found:#06x} given"),
            Self::ReservedCommand { command } => {
                write!(f, "stype2 CMD: 0 (NOP) or 1 (VoQ backpressure), {command} is reserved")
            }
        }
    }
}

impl core::error::Error for Error {}

/// Group and offset (0..6) of a port: `port == 6 * group + offset`.
///
/// # Errors
/// [`Error::Port`] from port 192 on.
pub const fn locate(port: u16) -> Result<(u8, u8), Error> {
    if port < MAX_PORTS {
        Ok(((port / PORTS_PER_GROUP) as u8, (port % PORTS_PER_GROUP) as u8))
    } else {
        Err(Error::Port { found: port })
    }
}

/// Groups, and so messages, that the full state of a device with `ports` ports takes.
#[must_use]
pub const fn groups_for(ports: u16) -> u16 {
    ports.div_ceil(PORTS_PER_GROUP)
}

/// The 14 bits, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View(u16);

impl View {
    /// Looks at the low 14 bits of `field`.
    #[must_use]
    pub const fn new(field: u16) -> Self {
        Self(field & FIELD_MAX)
    }

    /// The field with these parts: CMD 0..=7, and the 11 bits after it.
    ///
    /// # Errors
    /// [`Error::Width`].
    pub const fn from_parts(command: u8, parameter: u16) -> Result<Self, Error> {
        let field = (command as u16) << field::COMMAND.0 | parameter;
        if command >> field::COMMAND.1 != 0 || parameter >> field::PARAMETER.1 != 0 {
            return Err(Error::Width { found: field });
        }
        Ok(Self(field))
    }

    /// The 14 bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    const fn get(self, (shift, width): (u32, u32)) -> u16 {
        self.0 >> shift & ((1 << width) - 1)
    }

    /// CMD, 0..=7.
    #[must_use]
    pub const fn command(self) -> u8 {
        self.get(field::COMMAND) as u8
    }

    /// The 11 bits after CMD, 0..=0x7FF.
    #[must_use]
    pub const fn parameter(self) -> u16 {
        self.get(field::PARAMETER)
    }

    /// The six status bits, bit k for offset k, if this is a message.
    #[must_use]
    pub const fn status(self) -> u8 {
        self.get(field::STATUS) as u8
    }

    /// The port group, 0..=31, if this is a message.
    #[must_use]
    pub const fn group(self) -> u8 {
        self.get(field::GROUP) as u8
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.command() {
            COMMAND_NOP => write!(f, "stype2 NOP")?,
            COMMAND_BACKPRESSURE => {
                return write!(f, "VoQ backpressure group {} status {:06b}", self.group(), self.status());
            }
            reserved => write!(f, "stype2 reserved CMD {reserved}")?,
        }
        if self.parameter() != 0 {
            write!(f, " parameter {:#05x}", self.parameter())?;
        }
        Ok(())
    }
}

/// A VoQ backpressure message: the status of the six ports of one group, numbered as by its originator.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Message {
    group: u8,
    status: u8,
}

impl Message {
    /// A message for `group` (0..=31); bit k of `status` (0..=0x3F) is 1 if port `6 * group + k` is
    /// congested.
    ///
    /// # Errors
    /// [`Error::Group`], [`Error::Status`].
    pub const fn new(group: u8, status: u8) -> Result<Self, Error> {
        if group as u16 >= GROUPS {
            return Err(Error::Group { found: group });
        }
        if status as u16 >= 1 << PORTS_PER_GROUP {
            return Err(Error::Status { found: status });
        }
        Ok(Self { group, status })
    }

    /// The message that covers `port`, when exactly the ports of `congested` are congested.
    ///
    /// # Errors
    /// [`Error::Port`] from port 192 on.
    pub fn about(port: u16, congested: &Ports) -> Result<Self, Error> {
        let (group, _) = locate(port)?;
        let base = u16::from(group) * PORTS_PER_GROUP;
        let status = (0..PORTS_PER_GROUP)
            .filter(|offset| congested.contains(base + offset))
            .map(|offset| 1 << offset)
            .sum();
        Ok(Self { group, status })
    }

    /// The group, 0..=31.
    #[must_use]
    pub const fn group(self) -> u8 {
        self.group
    }

    /// Six bits; bit k is 1 if port `base + k` is congested.
    #[must_use]
    pub const fn status(self) -> u8 {
        self.status
    }

    /// The first port of the group: 0, 6, ... 186.
    #[must_use]
    pub const fn base(self) -> u16 {
        self.group as u16 * PORTS_PER_GROUP
    }

    /// The congested ports, ascending.
    pub fn congested(self) -> impl Iterator<Item = u16> {
        (0..PORTS_PER_GROUP)
            .filter(move |offset| self.status >> offset & 1 == 1)
            .map(move |offset| self.base() + offset)
    }

    /// The field: `0x0800 | status << 5 | group`.
    #[must_use]
    pub const fn to_field(self) -> u16 {
        (COMMAND_BACKPRESSURE as u16) << field::COMMAND.0
            | (self.status as u16) << field::STATUS.0
            | (self.group as u16) << field::GROUP.0
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        View(self.to_field()).fmt(f)
    }
}

/// What a device may send in the field.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Stype2 {
    /// Nothing to say.
    Nop,
    /// The status of six ports.
    Backpressure(Message),
}

impl Stype2 {
    /// Meaning of a received field. The parameter of a NOP is ignored.
    ///
    /// # Errors
    /// [`Error::Width`]; [`Error::ReservedCommand`], which is no reason to complain to the link partner.
    pub const fn parse(field: u16) -> Result<Self, Error> {
        if field > FIELD_MAX {
            return Err(Error::Width { found: field });
        }
        let view = View::new(field);
        match view.command() {
            COMMAND_NOP => Ok(Self::Nop),
            COMMAND_BACKPRESSURE => {
                Ok(Self::Backpressure(Message { group: view.group(), status: view.status() }))
            }
            command => Err(Error::ReservedCommand { command }),
        }
    }

    /// The field.
    #[must_use]
    pub const fn emit(self) -> u16 {
        match self {
            Self::Nop => NOP_FIELD,
            Self::Backpressure(message) => message.to_field(),
        }
    }
}

impl fmt::Display for Stype2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        View(self.emit()).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    /// Group, status from offset 5 down to offset 0, field.
    const FIELDS: [(u8, u8, u16); 9] = [
        (0, 0b000000, 0x0800),
        (0, 0b000001, 0x0820),
        (0, 0b100000, 0x0C00),
        (0, 0b111111, 0x0FE0),
        (1, 0b000001, 0x0821),
        (0, 0b010110, 0x0AC0),
        (15, 0b101010, 0x0D4F),
        (31, 0b100000, 0x0C1F),
        (31, 0b111111, 0x0FFF),
    ];

    /// Proves: VOQ-1.3-1, VOQ-2.1-5, VOQ-3.1-4
    #[test]
    fn golden_fields() {
        for (group, status, field) in FIELDS {
            let message = Message::new(group, status).unwrap();
            assert_eq!(Stype2::Backpressure(message).emit(), field);
            assert_eq!(Stype2::parse(field), Ok(Stype2::Backpressure(message)));
            // The first bit on the wire after CMD is offset 5, the last before the group is offset 0.
            assert_eq!(field >> 10 & 1 == 1, message.congested().any(|port| port == message.base() + 5));
            assert_eq!(field >> 5 & 1 == 1, message.congested().any(|port| port == message.base()));
        }
    }

    #[test]
    fn every_bit_is_one_field_of_the_tables_and_read_where_it_is_written() {
        for table in [&super::FIELDS[..], &MESSAGE_FIELDS[..]] {
            assert!(table.iter().flat_map(|row| row.1.clone()).eq(0..FIELD_BITS));
        }
        for field in 0..=FIELD_MAX {
            // The bits of a row, counted from the first of the field.
            let bits = |row: &Field| field >> (FIELD_BITS - row.1.end) & ((1 << row.1.len()) - 1);
            let view = View::new(field);
            assert_eq!(
                [view.command().into(), view.parameter()],
                [0, 1].map(|row| bits(&super::FIELDS[row]))
            );
            let found = [view.command(), view.status(), view.group()].map(u16::from);
            assert_eq!(found, [0, 1, 2].map(|row| bits(&MESSAGE_FIELDS[row])));
            assert_eq!(View::from_parts(view.command(), view.parameter()), Ok(view));
            assert_eq!(view.bits(), field);
        }
        assert_eq!(View::from_parts(8, 0), Err(Error::Width { found: 0x4000 }));
        assert_eq!(View::from_parts(0, 0x800), Err(Error::Width { found: 0x800 }));
    }

    /// Proves: VOQ-2.1-1, VOQ-2.1-7, VOQ-2.1-2, VOQ-2.1-4
    #[test]
    fn every_parameter_of_a_message_is_accepted_and_comes_back() {
        for parameter in 0..2048 {
            let field = 0x0800 | parameter;
            let Ok(Stype2::Backpressure(message)) = Stype2::parse(field) else {
                panic!("{field:#06x} is a message");
            };
            assert_eq!(message.to_field(), field);
            assert_eq!(u16::from(message.group()), parameter & 0x1F);
            let expected: Vec<u16> = (0..6)
                .filter(|offset| parameter >> (5 + offset) & 1 == 1)
                .map(|offset| 6 * (parameter & 0x1F) + offset)
                .collect();
            assert_eq!(message.congested().collect::<Vec<_>>(), expected);
        }
    }

    /// Proves: VOQ-2.1-2, VOQ-2.1-3
    #[test]
    fn every_port_has_its_group_and_offset_and_no_other_has() {
        for port in 0..MAX_PORTS {
            let (group, offset) = locate(port).unwrap();
            assert_eq!(6 * u16::from(group) + u16::from(offset), port);
            assert!(group < 32 && offset < 6);
            let message = Message::about(port, &Ports::from_iter([port])).unwrap();
            assert_eq!(message.status(), 1 << offset);
            assert_eq!(message.congested().collect::<Vec<_>>(), [port]);
        }
        for port in MAX_PORTS..=u16::MAX {
            assert_eq!(locate(port), Err(Error::Port { found: port }));
            assert_eq!(Message::about(port, &Ports::EMPTY), Err(Error::Port { found: port }));
        }
    }

    /// Proves: VOQ-2.1-6
    #[test]
    fn a_message_states_all_six_ports_of_its_group() {
        let congested = Ports::from_iter([5, 6, 8, 11, 12]);
        let message = Message::about(7, &congested).unwrap();
        assert_eq!((message.group(), message.status()), (1, 0b100101));
    }

    /// Proves: VOQ-2.1-8
    #[test]
    fn full_state_takes_one_message_per_begun_group() {
        for ports in 1..=MAX_PORTS {
            let groups: std::collections::BTreeSet<u8> =
                (0..ports).map(|port| locate(port).unwrap().0).collect();
            assert_eq!(usize::from(groups_for(ports)), groups.len(), "{ports} ports");
        }
    }

    /// Proves: VOQ-3.1-3, VOQ-3.1-5, VOQ-3.1-6, VOQ-3.1-7
    #[test]
    fn every_field_is_nop_message_or_reserved() {
        assert_eq!(Stype2::Nop.emit(), 0);
        for field in 0..=FIELD_MAX {
            let parsed = Stype2::parse(field);
            match field >> 11 {
                0 => assert_eq!(parsed, Ok(Stype2::Nop)),
                1 => assert_eq!(parsed.map(Stype2::emit), Ok(field)),
                command => assert_eq!(parsed, Err(Error::ReservedCommand { command: command as u8 })),
            }
            assert!(!View::new(field).to_string().is_empty());
        }
        for field in FIELD_MAX + 1..=u16::MAX {
            assert_eq!(Stype2::parse(field), Err(Error::Width { found: field }));
        }
    }

    #[test]
    fn values_that_do_not_fit_are_named() {
        assert_eq!(Message::new(32, 0), Err(Error::Group { found: 32 }));
        assert_eq!(Message::new(31, 64), Err(Error::Status { found: 64 }));
        assert_eq!(
            Error::Port { found: 192 }.to_string(),
            "stype2 port: 0 to 191 can be addressed, 192 given"
        );
        assert_eq!(
            Error::ReservedCommand { command: 4 }.to_string(),
            "stype2 CMD: 0 (NOP) or 1 (VoQ backpressure), 4 is reserved"
        );
    }

    #[test]
    fn display() {
        assert_eq!(View::new(0x0D4F).to_string(), "VoQ backpressure group 15 status 101010");
        assert_eq!(Stype2::Nop.to_string(), "stype2 NOP");
        assert_eq!(View::new(0x07FF).to_string(), "stype2 NOP parameter 0x7ff");
        assert_eq!(View::new(0x2021).to_string(), "stype2 reserved CMD 4 parameter 0x021");
    }
}
