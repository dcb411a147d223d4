//! How a node says where it takes management messages: the register block and the Component Tag (Annex 2 §5).
//!
//! In register words bit 0 is the most significant bit.

use crate::attribute::{Attribute, Attributes, Kind, MAX_MAILBOX};
use crate::message::Mode;
use crate::octets::be32;
use crate::protocol::{BROADCAST_STREAM, NO_STREAM};
use alloc::vec;
use alloc::vec::Vec;

/// EF_ID of the block.
pub const EF_ID: u16 = 0x000C;
/// Lock_Val of an unlocked block.
pub const UNLOCKED: u16 = 0xFFFF;
/// Num_Attr of a block whose attributes are not written yet.
pub const NOT_INITIALISED: u8 = 0xFF;
/// Attributes that fit (Max_Attr, Num_Attr).
pub const MAX_ATTRIBUTES: u8 = 254;
/// Byte offsets of the registers.
pub mod offset {
    /// Block Header.
    pub const HEADER: u32 = 0x0;
    /// Write Enable CSR.
    pub const WRITE_ENABLE: u32 = 0x4;
    /// Advertisement CSR.
    pub const ADVERTISEMENT: u32 = 0x8;
    /// Attribute Range CSR.
    pub const ATTRIBUTE_RANGE: u32 = 0xC;
    /// First of two words of attribute 0; attribute k follows 8 k octets later.
    pub const ATTRIBUTES: u32 = 0x10;
}

/// Contact information: where a node takes management messages (§3.3).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Contact {
    /// Type 11 messages to this mailbox, 0 to 63.
    Mailbox(u8),
    /// One predesignated Type 9 stream.
    Stream {
        /// StreamID; neither 0xFFFF nor 0xF000. ACCEPT never hands it out.
        stream: u16,
        /// COS.
        cos: u8,
    },
}

impl Contact {
    /// Octets of the longest control message (Part 2: 16 packets, or one for mailboxes above 3; Part 10).
    #[must_use]
    pub const fn max_message(self) -> usize {
        match self {
            Self::Mailbox(0..=3) => 4096,
            Self::Mailbox(_) => 256,
            Self::Stream { .. } => 65535,
        }
    }

    /// Whether both are of one conveyance: Type 11, or Type 9.
    #[must_use]
    pub const fn goes_like(self, other: Self) -> bool {
        matches!(self, Self::Mailbox(_)) == matches!(other, Self::Mailbox(_))
    }

    /// Whether such a contact can exist.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        match self {
            Self::Mailbox(mailbox) => mailbox <= MAX_MAILBOX,
            Self::Stream { stream, .. } => stream != NO_STREAM && stream != BROADCAST_STREAM,
        }
    }

    /// Mailbox field of a STATUS.
    #[must_use]
    pub const fn status_mailbox(self) -> u8 {
        match self {
            Self::Mailbox(mailbox) => mailbox,
            Self::Stream { .. } => 0,
        }
    }

    /// The Advertisement CSR that says so.
    #[must_use]
    pub const fn advertisement(self) -> u32 {
        match self {
            Self::Mailbox(mailbox) => mailbox as u32,
            Self::Stream { stream, cos } => 0x1000_0000 | (cos as u32) << 16 | stream as u32,
        }
    }

    /// The Component Tag that says so, with 16 bits of others; none if the tag cannot name the StreamID.
    #[must_use]
    pub const fn component_tag(self, low: u16) -> Option<u32> {
        let info = match self {
            Self::Mailbox(mailbox) => 0x8000 | mailbox as u16,
            Self::Stream { stream, .. } => match stream >> 8 {
                0x00 => 0xA000 | stream,
                0xFF => 0xB000 | stream & 0xFF,
                _ => return None,
            },
        };
        Some((info as u32) << 16 | low as u32)
    }
}

/// The Advertisement CSR of a node that takes no part; also its value after reset.
pub const NOT_SUPPORTED: u32 = 0xF000_0000;

/// What registers say about a node.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Participation {
    /// It takes no part.
    None,
    /// It says so in a way that this annex does not define.
    Unusable,
    /// It may take part later: stage 1 to 15 of its initialisation is in progress.
    Initialising(u8),
    /// It takes management messages there.
    Ready(Contact),
}

/// The meaning of an Advertisement CSR.
#[must_use]
pub const fn advertisement(word: u32) -> Participation {
    let contact = match word >> 28 {
        0x0 => Contact::Mailbox(word as u8),
        0x1 => Contact::Stream { stream: word as u16, cos: (word >> 16) as u8 },
        0xF => return Participation::None,
        _ => return Participation::Unusable,
    };
    if contact.is_valid() { Participation::Ready(contact) } else { Participation::Unusable }
}

/// The meaning of a Component Tag. `cos`: the COS of the highest priority of the interface.
#[must_use]
pub const fn component_tag(tag: u32, cos: u8) -> Participation {
    let info = (tag >> 16) as u16;
    if info & 0x8000 == 0 {
        return Participation::None;
    }
    let low = info & 0xFF;
    let contact = match info >> 13 & 0b11 {
        0b00 => Contact::Mailbox(low as u8),
        0b01 if info & 0x1000 != 0 => Contact::Stream { stream: 0xFF00 | low, cos },
        0b01 => Contact::Stream { stream: low, cos },
        _ => return Participation::Unusable,
    };
    if contact.is_valid() { Participation::Ready(contact) } else { Participation::Unusable }
}

/// What the Source and Destination Operations CARs of a device both show.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Carries {
    /// Data messages (Part 2).
    pub messages: bool,
    /// Data streaming (Part 10).
    pub streams: bool,
}

/// Whether the Component Tag says anything: it is for devices that carry its conveyance and have no register
/// block, and beside one only for a conveyance that no block offers (§5.1, §5.3). While a block is being
/// initialised the node gets no message at all (§3.2), so that its tag does not count either. A block that
/// cannot be used offers nothing.
#[must_use]
pub fn tag_counts(blocks: &[Participation], tag: Participation, carries: Carries) -> bool {
    match tag {
        Participation::Ready(tag) => {
            let carried = if matches!(tag, Contact::Mailbox(_)) { carries.messages } else { carries.streams };
            carried
                && !blocks.iter().any(|block| match block {
                    Participation::Ready(contact) => contact.goes_like(tag),
                    Participation::Initialising(_) => true,
                    Participation::None | Participation::Unusable => false,
                })
        }
        _ => false,
    }
}

/// Where a reader sends its messages to a node on several conveyances: to the one on which it takes messages
/// itself (`own`), if there is such a one, else to the first. `blocks`: what the register blocks of the node
/// say, in their order; `tag`: what its Component Tag says, if that counts. While one of the blocks is being
/// initialised the node gets no message.
#[must_use]
pub fn choose(own: Contact, blocks: &[Participation], tag: Participation) -> Participation {
    let all = || blocks.iter().copied().chain([tag]);
    if let Some(initialising) = all().find(|found| matches!(found, Participation::Initialising(_))) {
        return initialising;
    }
    let mut contacts = all().filter(|found| matches!(found, Participation::Ready(_)));
    let like = |found: &Participation| matches!(found, Participation::Ready(to) if to.goes_like(own));
    let unusable = || all().find(|found| *found == Participation::Unusable);
    let first = contacts.clone().next();
    contacts.find(like).or(first).or_else(unusable).unwrap_or(Participation::None)
}

/// Who writes a register.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Writer {
    /// A maintenance write: only while the block is locked.
    Fabric,
    /// The processing element itself: at any time.
    Local,
}

/// A register block, as the device holds it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Block {
    next_block: u16,
    lock: u16,
    advertisement: u32,
    stage: u8,
    max: u8,
    count: u8,
    attributes: Vec<[u32; 2]>,
}

impl Block {
    /// A block after reset, with room for `max` attributes (at most 254; the annex asks for 8).
    #[must_use]
    pub fn new(next_block: u16, max: u8) -> Self {
        let max = max.min(MAX_ATTRIBUTES);
        Self {
            next_block,
            lock: UNLOCKED,
            advertisement: NOT_SUPPORTED,
            stage: 0,
            max,
            count: NOT_INITIALISED,
            attributes: vec![[0; 2]; max.into()],
        }
    }

    /// Hardware reset.
    pub fn reset(&mut self) {
        *self = Self::new(self.next_block, self.max);
    }

    /// The value of Lock_Val.
    #[must_use]
    pub const fn lock(&self) -> u16 {
        self.lock
    }

    /// The word at a byte offset; 0 where there is no register.
    #[must_use]
    pub fn read(&self, offset: u32) -> u32 {
        match offset {
            offset::HEADER => u32::from(self.next_block) << 16 | u32::from(EF_ID),
            offset::WRITE_ENABLE => self.lock.into(),
            offset::ADVERTISEMENT => self.advertisement,
            offset::ATTRIBUTE_RANGE => {
                u32::from(self.max) << 16 | u32::from(self.stage) << 8 | u32::from(self.count)
            }
            _ => self.locate(offset).map_or(0, |(attribute, word)| self.attributes[attribute][word]),
        }
    }

    fn locate(&self, offset: u32) -> Option<(usize, usize)> {
        let word = offset.checked_sub(offset::ATTRIBUTES)?;
        let (attribute, word) = (word as usize / 8, word as usize % 8);
        (attribute < self.attributes.len() && word % 4 == 0).then_some((attribute, word / 4))
    }

    /// Writes a word. Returns whether that had an effect.
    pub fn write(&mut self, writer: Writer, offset: u32, value: u32) -> bool {
        if offset == offset::WRITE_ENABLE {
            return self.write_lock(value as u16);
        }
        if writer == Writer::Fabric && self.lock == UNLOCKED {
            return false;
        }
        match offset {
            offset::ADVERTISEMENT => self.advertisement = value,
            offset::ATTRIBUTE_RANGE => {
                self.stage = (value >> 8 & 0xF) as u8;
                self.count = value as u8;
            }
            _ => match self.locate(offset) {
                Some((attribute, word)) => self.attributes[attribute][word] = value,
                None => return false,
            },
        }
        true
    }

    /// The lock does not know who holds it: writing its value again frees it.
    fn write_lock(&mut self, value: u16) -> bool {
        let next = match self.lock {
            UNLOCKED => value,
            held if held == value => UNLOCKED,
            held => held,
        };
        let changed = next != self.lock;
        self.lock = next;
        changed
    }

    /// Announces where management messages are taken, with node-wide attributes, as the processing element
    /// itself does it: attributes first, the advertisement last. Attributes beyond the room are left out.
    pub fn announce(&mut self, contact: Contact, attributes: &Attributes) {
        self.announce_part(Some(contact), attributes, 0);
    }

    /// Likewise, where another processor has something to add in the stage `next`, 1 to 15; 0: nobody has.
    /// Without attributes they count as not initialised until then.
    pub fn announce_part(&mut self, contact: Option<Contact>, attributes: &Attributes, next: u8) {
        for (words, attribute) in self.attributes.iter_mut().zip(attributes.list().iter()) {
            *words = [be32(&attribute.0, 0), be32(&attribute.0, 4)];
        }
        if next == 0 || !attributes.is_empty() {
            self.count = attributes.len().min(self.max.into()) as u8;
        }
        self.stage = next & 0xF;
        if let Some(contact) = contact {
            self.advertisement = contact.advertisement();
        }
    }
}

/// How a processor takes the lock of a block (§3.2).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum LockStep {
    /// Write this to the Write Enable CSR, and read it again.
    Write(u16),
    /// The lock is held: registers may be written.
    Held,
    /// Another processor holds it: write nothing.
    Busy,
}

/// What to do for the lock, having read `lock`; `own` is the value this processor locks with. A write whose
/// read-back shows another value has lost the race, so the caller asks again with what it reads.
#[must_use]
pub const fn lock_step(lock: u16, own: u16) -> LockStep {
    match lock {
        UNLOCKED => LockStep::Write(own),
        held if held == own => LockStep::Held,
        _ => LockStep::Busy,
    }
}

/// What a reader finds in a block.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Reading {
    /// Whether and where the node takes part.
    pub participation: Participation,
    /// Node-wide attributes.
    pub attributes: Attributes,
    /// Rules that the block breaks; it is used nevertheless.
    pub reports: Vec<Report>,
}

/// A rule broken by a register block.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Report {
    /// Reserved bits of the word at this offset are not zero (validation mode).
    Reserved(u32),
    /// Num_Attr is more than Max_Attr.
    Count {
        /// Num_Attr.
        found: u8,
        /// Max_Attr.
        max: u8,
    },
}

/// Reads a block through `word`, which gives the word at a byte offset.
pub fn read_block(mut word: impl FnMut(u32) -> u32, mode: Mode) -> Reading {
    let (lock, contact, range) =
        (word(offset::WRITE_ENABLE), word(offset::ADVERTISEMENT), word(offset::ATTRIBUTE_RANGE));
    let mut reports = Vec::new();
    if mode == Mode::Validation {
        let info = if contact >> 28 == 0 { 0x0FFF_FF00 } else { 0x0F00_0000 };
        let info = if contact >> 28 <= 1 { info } else { 0 };
        for (offset, found) in [
            (offset::WRITE_ENABLE, lock & 0xFFFF_0000),
            (offset::ADVERTISEMENT, contact & info),
            (offset::ATTRIBUTE_RANGE, range & 0xFF00_F000),
        ] {
            if found != 0 {
                reports.push(Report::Reserved(offset));
            }
        }
    }
    let (max, stage, count) = ((range >> 16) as u8, (range >> 8 & 0xF) as u8, range as u8);
    let count = match count {
        NOT_INITIALISED => 0,
        found if found > max => {
            reports.push(Report::Count { found, max });
            max
        }
        count => count,
    };
    let participation = match advertisement(contact) {
        // Reset leaves a node outside, also one of which somebody will say later that it takes part.
        Participation::Ready(_) | Participation::None if stage != 0 => Participation::Initialising(stage),
        other => other,
    };
    let attributes = (0..u32::from(count.min(MAX_ATTRIBUTES)))
        .map(|k| {
            let at = offset::ATTRIBUTES + 8 * k;
            let (high, low) = (word(at), word(at + 4));
            Attribute((u64::from(high) << 32 | u64::from(low)).to_be_bytes())
        })
        .collect();
    Reading { participation, attributes, reports }
}

/// Attributes that belong to protocols and say what the node takes, whatever the protocol that has them: MTU
/// and CONVEYANCE. MAC_ADDRESS says nothing that an OPEN to the node would need.
#[must_use]
pub fn of_protocols(attributes: &Attributes) -> Attributes {
    let kinds = attributes.list().kinds(0);
    let found = kinds.filter(|&(kind, _)| matches!(kind, Kind::Mtu | Kind::Conveyance));
    found.map(|(_, attribute)| attribute).collect()
}

/// Node-wide defaults in microseconds, from the attributes of a register block: (retry, timeout, XON
/// timeout). There is no ProtoID here, so 0x8003 means nothing unless it follows DATA_OFFSET_VENDOR.
#[must_use]
pub fn periods(attributes: &Attributes) -> (Option<u32>, Option<u32>, Option<u32>) {
    let find = |kind| {
        let found = attributes.list().find(0, kind).map(Attribute::value32);
        found.filter(|&period| period != 0)
    };
    (find(Kind::RetryPeriod), find(Kind::TimeoutPeriod), find(Kind::XonTimeoutPeriod))
}
