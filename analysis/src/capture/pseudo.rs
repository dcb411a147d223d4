//! What stands before the octets of a record of a RapidIO link: what the simulation knows of them and the
//! wire does not say. `docs/riosim.lua` reads it by the same table.

use crate::trace::difference;
use models::lp_serial::field::{Field, RESERVED, put};
use models::{Cause, Parts};

/// The layout below; another one gets another number.
pub const VERSION: u8 = 1;

/// The fields of fixed width. Behind them come the names, as many octets each as their fields say; behind
/// `header_octets` octets what was on the wire.
pub const FIELDS: [Field; 17] = [
    ("version", 0..8, 10),
    ("header_octets", 8..16, 10),
    ("kind", 16..24, 10),
    ("damaged", 24..25, 10),
    ("again", 25..26, 10),
    ("filler", 26..27, 10),
    (RESERVED, 27..32, 2),
    ("picoseconds", 32..48, 10),
    ("body_octets", 48..64, 10),
    ("staging_queue", 64..72, 10),
    ("cause", 72..80, 10),
    ("protocol", 80..88, 10),
    ("flow_octets", 88..96, 10),
    ("from_octets", 96..104, 10),
    ("to_octets", 104..112, 10),
    (RESERVED, 112..144, 2),
    ("waited_ps", 144..192, 10),
];

/// Octets of all of [`FIELDS`].
pub const FIXED_OCTETS: usize = 24;

/// No staging queue, no cause.
pub const NONE: u8 = 0xFF;

/// What the octets are.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A packet with its CRCs, without delimiters.
    Packet = 1,
    /// A control symbol with its delimiters.
    Symbol = 2,
    /// 14 stype2 bits in two octets: a VoQ message of which nobody knows the rest of the symbol.
    Message = 3,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Packet, Self::Symbol, Self::Message];

    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packet => "packet",
            Self::Symbol => "control symbol",
            Self::Message => "VoQ message",
        }
    }
}

/// What the packets of a flow carry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Carries {
    /// Nothing that somebody else reads.
    Data = 0,
    /// Messages of session management.
    Session = 1,
    /// Frames of the LINX connection manager.
    Linx = 2,
    /// Ethernet frames of Scheduled Transfer.
    Transfer = 3,
}

impl Carries {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Data, Self::Session, Self::Linx, Self::Transfer];

    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Session => "session management",
            Self::Linx => "RIOCM",
            Self::Transfer => "Scheduled Transfer",
        }
    }
}

/// What is known of a record.
#[derive(Clone, Debug)]
pub struct Pseudo<'a> {
    /// What the octets are.
    pub kind: Kind,
    /// What of their instant is less than a nanosecond.
    pub picoseconds: u16,
    /// The link damages them.
    pub damaged: bool,
    /// The packet has left before.
    pub again: bool,
    /// Of a traffic source, see [`Crossed`](models::probe::Crossed).
    pub filler: bool,
    /// Octets of a packet without CRCs and padding.
    pub body: u16,
    /// The staging queue in which the packet was.
    pub queue: Option<u8>,
    /// What the packet waited for most in this device, and how long (picoseconds).
    pub waited: Option<(Cause, u64)>,
    /// What its flow carries.
    pub carries: Carries,
    /// Name of its flow; empty for what belongs to none.
    pub flow: &'a str,
    /// Port that sends.
    pub from: &'a str,
    /// Port that receives.
    pub to: &'a str,
}

impl Pseudo<'_> {
    /// The octets.
    #[must_use]
    pub fn octets(&self) -> Vec<u8> {
        let names = [self.flow, self.from, self.to].map(short);
        let (cause, waited) = self.waited.map_or((NONE, 0), |(cause, waited)| (cause as u8, waited));
        let mut octets = vec![0; FIXED_OCTETS];
        let all = FIXED_OCTETS + names.iter().map(|name| name.len()).sum::<usize>();
        for (name, bits, _) in FIELDS.iter().filter(|row| row.0 != RESERVED) {
            let value = match *name {
                "version" => VERSION.into(),
                "header_octets" => all as u64,
                "kind" => self.kind as u64,
                "damaged" => self.damaged.into(),
                "again" => self.again.into(),
                "filler" => self.filler.into(),
                "picoseconds" => self.picoseconds.into(),
                "body_octets" => self.body.into(),
                "staging_queue" => self.queue.unwrap_or(NONE).into(),
                "cause" => cause.into(),
                "protocol" => self.carries as u64,
                "flow_octets" => names[0].len() as u64,
                "from_octets" => names[1].len() as u64,
                "to_octets" => names[2].len() as u64,
                "waited_ps" => waited,
                other => unreachable!("{other} has a value"),
            };
            put(&mut octets, bits, value);
        }
        names.iter().for_each(|name| octets.extend(name.as_bytes()));
        octets
    }
}

/// As much of a name as three of them have room for.
fn short(name: &str) -> &str {
    const ROOM: usize = (u8::MAX as usize - FIXED_OCTETS) / 3;
    let end = (0..=ROOM.min(name.len())).rev().find(|&end| name.is_char_boundary(end));
    &name[..end.unwrap_or(0)]
}

/// What a packet waited for most in a device, if it waited: of what came on top of `before`.
pub(super) fn waited(parts: &Parts, before: &Parts) -> Option<(Cause, u64)> {
    let spent = difference(parts, before);
    let moves = [Cause::Serialization, Cause::Propagation, Cause::Pipeline];
    let waits = Cause::ALL.into_iter().filter(|cause| !moves.contains(cause));
    // Of equals the first.
    let longest = waits.rev().max_by_key(|cause| spent[*cause])?;
    (spent[longest] > 0).then_some((longest, spent[longest]))
}
