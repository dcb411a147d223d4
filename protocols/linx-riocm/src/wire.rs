//! rio_frame and the nine headers (10.1, Tables 10.1 to 10.13).
//!
//! ```text
//! octet  0          2          4     5     6          8          10         12         14
//!       | protocol | size     | type|     |          | dst_port |          | sender   | src_port | ...
//! ```
//!
//! Every number is big endian. `size` counts the octets that follow it: header and payload. What lies beyond
//! is padding of the medium. The places drawn empty belong to the header that `type` names; only data
//! packets and the acknowledgement go on after `src_port`.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

/// Field positions from the first octet of the frame.
mod field {
    pub(super) const PROTOCOL: usize = 0;
    pub(super) const SIZE: usize = 2;
    pub(super) const TYPE: usize = 4;
    /// generation, msgid or pad.
    pub(super) const TAG: usize = 5;
    /// mtu, seqno or rsvd.
    pub(super) const WORD: usize = 6;
    pub(super) const DST_PORT: usize = 8;
    pub(super) const DST_CID: usize = 10;
    pub(super) const GENERATION_ACK: usize = 10;
    pub(super) const HB_TMO: usize = 11;
    pub(super) const SENDER: usize = 12;
    pub(super) const SRC_PORT: usize = 14;
    pub(super) const MY_CID: usize = 16;
    pub(super) const SRC: usize = 16;
    pub(super) const DST: usize = 20;
    pub(super) const PAYL_SIZE: usize = 24;
    pub(super) const COUNT_FRAG: usize = 28;
    pub(super) const COUNT_PATCH: usize = 30;
}

/// A field: name, bits counted from the first of the frame, and the base in which a number of it is written.
pub type Field = (&'static str, Range<u32>, u32);

/// A number of so many octets that begins at octet `at`.
const fn row(name: &'static str, at: usize, octets: usize, base: u32) -> Field {
    (name, 8 * at as u32..8 * (at + octets) as u32, base)
}

/// The protocol number, in every frame [`PROTOCOL`].
pub const PROTOCOL_FIELD: Field = row("protocol", field::PROTOCOL, 2, 16);

/// The rest of rio_frame, and the fields that all nine headers have (Tables 10.1 to 10.4).
const COMMON: [Field; 5] = [
    row("type", field::TYPE, 1, 16),
    row("size", field::SIZE, 2, 10),
    row("dst_port", field::DST_PORT, 2, 10),
    row("sender", field::SENDER, 2, 10),
    row("src_port", field::SRC_PORT, 2, 10),
];
const REQUEST: [Field; 3] = [
    row("generation", field::TAG, 1, 10),
    row("mtu", field::WORD, 2, 10),
    row("hb_tmo", field::HB_TMO, 1, 10),
];
const ACK: [Field; 5] = [
    row("generation", field::TAG, 1, 10),
    row("mtu_ack", field::WORD, 2, 10),
    row("generation_ack", field::GENERATION_ACK, 1, 10),
    row("hb_tmo_ack", field::HB_TMO, 1, 10),
    row("my_cid", field::MY_CID, 2, 10),
];
const RESET: [Field; 1] = [row("generation", field::TAG, 1, 10)];
const HEARTBEAT: [Field; 1] = [row("dst_cid", field::DST_CID, 2, 10)];
const MESSAGE: [Field; 3] =
    [row("src", field::SRC, 4, 10), row("dst", field::DST, 4, 10), row("payl_size", field::PAYL_SIZE, 4, 10)];
const COUNTS: [Field; 2] =
    [row("count_frag", field::COUNT_FRAG, 2, 10), row("count_patch", field::COUNT_PATCH, 2, 10)];
const DATA: [Field; 3] = [
    row("dst_cid", field::DST_CID, 2, 10),
    row("seqno", field::WORD, 2, 10),
    row("msgid", field::TAG, 1, 10),
];
const REQUEST_IGNORED: [Field; 1] = [row("rsvd", field::GENERATION_ACK, 1, 16)];
const RESET_IGNORED: [Field; 2] = [row("mtu", field::WORD, 2, 10), row("rsvd", field::DST_CID, 2, 16)];
const HEARTBEAT_IGNORED: [Field; 2] = [row("pad", field::TAG, 1, 16), row("rsvd", field::WORD, 2, 16)];

/// The protocol number, version 2 (10.1).
pub const PROTOCOL: u16 = 0x22CF;

/// The protocol number of version 1: a foreign protocol for version 2.
pub const PROTOCOL_VERSION_1: u16 = 0x8911;

/// Octets of rio_frame, which `size` does not count.
pub const RIO_FRAME_OCTETS: usize = 4;

/// Octets up to and including `src_port`: what it takes to tell whose frame it is.
pub const COMMON_OCTETS: usize = 16;

/// Octets in front of the payload of SINGLE and FRAG_START.
pub const START_OCTETS: usize = 28;

/// Octets in front of the payload of FRAG and PATCH.
pub const FRAG_OCTETS: usize = 16;

/// Octets in front of the payload of PATCH_START.
pub const PATCH_START_OCTETS: usize = 32;

/// Longest frame that `size` can describe.
pub const FRAME_MAX_OCTETS: usize = RIO_FRAME_OCTETS + u16::MAX as usize;

/// The nine types.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Kind {
    /// RIO_SINGLE: a whole message.
    Single = 0x01,
    /// RIO_FRAG_START: the first fragment.
    FragStart = 0x02,
    /// RIO_FRAG: a fragment.
    Frag = 0x03,
    /// RIO_PATCH_START: the first fragment of a message that patches complete.
    PatchStart = 0x04,
    /// RIO_PATCH: the octets that headers displaced.
    Patch = 0x05,
    /// RIO_HEARTBEAT.
    Heartbeat = 0x06,
    /// RIO_CONN_REQ.
    Request = 0x81,
    /// RIO_CONN_ACK.
    Ack = 0x82,
    /// RIO_CONN_RESET.
    Reset = 0x83,
}

impl Kind {
    /// Every type, by code.
    pub const ALL: [Self; 9] = [
        Self::Single,
        Self::FragStart,
        Self::Frag,
        Self::PatchStart,
        Self::Patch,
        Self::Heartbeat,
        Self::Request,
        Self::Ack,
        Self::Reset,
    ];

    /// The type with this code.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x01 => Self::Single,
            0x02 => Self::FragStart,
            0x03 => Self::Frag,
            0x04 => Self::PatchStart,
            0x05 => Self::Patch,
            0x06 => Self::Heartbeat,
            0x81 => Self::Request,
            0x82 => Self::Ack,
            0x83 => Self::Reset,
            _ => return None,
        })
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The name in the tables of the text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "RIO_SINGLE",
            Self::FragStart => "RIO_FRAG_START",
            Self::Frag => "RIO_FRAG",
            Self::PatchStart => "RIO_PATCH_START",
            Self::Patch => "RIO_PATCH",
            Self::Heartbeat => "RIO_HEARTBEAT",
            Self::Request => "RIO_CONN_REQ",
            Self::Ack => "RIO_CONN_ACK",
            Self::Reset => "RIO_CONN_RESET",
        }
    }

    /// Whether it carries octets of a message.
    #[must_use]
    pub const fn is_data(self) -> bool {
        matches!(self, Self::Single | Self::FragStart | Self::Frag | Self::PatchStart | Self::Patch)
    }

    /// The fields of a frame of this type but for the protocol number, in groups (Tables 10.1 to 10.13). What
    /// receivers [ignore](Self::ignored) is not among them.
    #[must_use]
    pub const fn fields(self) -> &'static [&'static [Field]] {
        match self {
            Self::Single | Self::FragStart => &[&COMMON, &MESSAGE, &DATA],
            Self::Frag | Self::Patch => &[&COMMON, &DATA],
            Self::PatchStart => &[&COMMON, &MESSAGE, &COUNTS, &DATA],
            Self::Heartbeat => &[&COMMON, &HEARTBEAT],
            Self::Request => &[&COMMON, &REQUEST],
            Self::Ack => &[&COMMON, &ACK],
            Self::Reset => &[&COMMON, &RESET],
        }
    }

    /// The fields that senders of this type write as zeros and receivers ignore.
    #[must_use]
    pub const fn ignored(self) -> &'static [Field] {
        match self {
            Self::Heartbeat => &HEARTBEAT_IGNORED,
            Self::Request => &REQUEST_IGNORED,
            Self::Reset => &RESET_IGNORED,
            _ => &[],
        }
    }

    /// Octets of rio_frame and header: the shortest frame of this type, and where its payload begins.
    #[must_use]
    pub const fn header_octets(self) -> usize {
        match self {
            Self::Single | Self::FragStart => START_OCTETS,
            Self::PatchStart => PATCH_START_OCTETS,
            Self::Ack => 18,
            _ => COMMON_OCTETS,
        }
    }
}

/// Why octets are no frame of this protocol.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// Shorter than rio_frame.
    RioFrame {
        /// Octets that there are.
        found: usize,
    },
    /// Another protocol, or another version of this one. Not for us, and no fault.
    Protocol {
        /// The protocol number.
        found: u16,
    },
    /// The frame ends before `src_port`: nobody can tell whose it is.
    Unattributable {
        /// Octets after rio_frame, 0..12.
        found: usize,
    },
    /// The frame is shorter than `size` says.
    Truncated {
        /// `size`.
        size: u16,
        /// Octets after rio_frame.
        found: usize,
    },
    /// No type has this code.
    Type {
        /// The code.
        found: u8,
    },
    /// `size` is smaller than the header that `type` names.
    HeaderSize {
        /// The type.
        kind: Kind,
        /// `size`.
        found: u16,
    },
    /// `payl_size` contradicts the octets in the packet.
    PayloadSize {
        /// The type: SINGLE (more than there is), FRAG_START (no fragment needed) or PATCH_START (less than
        /// there is).
        kind: Kind,
        /// `payl_size`.
        found: u32,
        /// Octets of payload in the packet.
        payload: usize,
    },
    /// A PATCH_START that announces no PATCH, though its own header displaced 32 octets.
    CountPatch,
    /// A PATCH without octets.
    EmptyPatch,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::RioFrame { found } => write!(f, "rio_frame: 4 octets, {found} found"),
            Self::Protocol { found } => write!(f, "protocol: {PROTOCOL:#06x}, {found:#06x} found"),
            Self::Unattributable { found } => {
                write!(f, "header: at least 12 octets up to src_port, {found} found")
            }
            Self::Truncated { size, found } => write!(f, "size: {size} octets, {found} follow"),
            Self::Type { found } => write!(f, "type: 0x01 to 0x06 or 0x81 to 0x83, {found:#04x} found"),
            Self::HeaderSize { kind, found } => write!(
                f,
                "size: at least {} for {}, {found} found",
                kind.header_octets() - RIO_FRAME_OCTETS,
                kind.name()
            ),
            Self::PayloadSize { kind, found, payload } => {
                let rule = match kind {
                    Kind::Single => "at most the payload",
                    Kind::FragStart => "more than the payload",
                    _ => "at least the payload and the 32 octets of its hole",
                };
                write!(f, "payl_size: {rule} in {}, {found} found with {payload} octets", kind.name())
            }
            Self::CountPatch => write!(f, "count_patch: at least 1, 0 found"),
            Self::EmptyPatch => write!(f, "payload: at least 1 octet in RIO_PATCH, 0 found"),
        }
    }
}

impl core::error::Error for Error {}

/// The octets of a frame, unjudged: fields that are not there are `None`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a>(&'a [u8]);

impl<'a> View<'a> {
    /// Looks at `octets`.
    #[must_use]
    pub const fn new(octets: &'a [u8]) -> Self {
        Self(octets)
    }

    fn u8(self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn u16(self, at: usize) -> Option<u16> {
        self.0.get(at..at + 2).map(|octets| u16::from_be_bytes([octets[0], octets[1]]))
    }

    fn u32(self, at: usize) -> Option<u32> {
        self.0.get(at..at + 4).map(|o| u32::from_be_bytes([o[0], o[1], o[2], o[3]]))
    }

    /// The protocol number.
    #[must_use]
    pub fn protocol(self) -> Option<u16> {
        self.u16(field::PROTOCOL)
    }

    /// Octets of header and payload, as the sender says.
    #[must_use]
    pub fn size(self) -> Option<u16> {
        self.u16(field::SIZE)
    }

    /// The code of the type.
    #[must_use]
    pub fn type_code(self) -> Option<u8> {
        self.u8(field::TYPE)
    }

    /// generation (connection packets), msgid (data) or pad (heartbeat).
    #[must_use]
    pub fn tag(self) -> Option<u8> {
        self.u8(field::TAG)
    }

    /// mtu (connection packets), seqno (data) or rsvd (heartbeat).
    #[must_use]
    pub fn word(self) -> Option<u16> {
        self.u16(field::WORD)
    }

    /// The connection's port at the receiver.
    #[must_use]
    pub fn dst_port(self) -> Option<u16> {
        self.u16(field::DST_PORT)
    }

    /// The receiver's connection ID (data, heartbeat), or the two reserved octets of a RESET.
    #[must_use]
    pub fn dst_cid(self) -> Option<u16> {
        self.u16(field::DST_CID)
    }

    /// generation_ack (ACK) or rsvd (REQ).
    #[must_use]
    pub fn generation_ack(self) -> Option<u8> {
        self.u8(field::GENERATION_ACK)
    }

    /// The period of heartbeats (REQ, ACK), units of 100 ms.
    #[must_use]
    pub fn hb_tmo(self) -> Option<u8> {
        self.u8(field::HB_TMO)
    }

    /// Device ID of the sender.
    #[must_use]
    pub fn sender(self) -> Option<u16> {
        self.u16(field::SENDER)
    }

    /// The connection's port at the sender.
    #[must_use]
    pub fn src_port(self) -> Option<u16> {
        self.u16(field::SRC_PORT)
    }

    /// The sender's connection ID (ACK).
    #[must_use]
    pub fn my_cid(self) -> Option<u16> {
        self.u16(field::MY_CID)
    }

    /// Link address of the sending endpoint (SINGLE, FRAG_START, PATCH_START).
    #[must_use]
    pub fn src(self) -> Option<u32> {
        self.u32(field::SRC)
    }

    /// Link address of the receiving endpoint (SINGLE, FRAG_START, PATCH_START).
    #[must_use]
    pub fn dst(self) -> Option<u32> {
        self.u32(field::DST)
    }

    /// Octets of the whole message (SINGLE, FRAG_START, PATCH_START).
    #[must_use]
    pub fn payl_size(self) -> Option<u32> {
        self.u32(field::PAYL_SIZE)
    }

    /// FRAG packets that follow (PATCH_START).
    #[must_use]
    pub fn count_frag(self) -> Option<u16> {
        self.u16(field::COUNT_FRAG)
    }

    /// PATCH packets that follow (PATCH_START).
    #[must_use]
    pub fn count_patch(self) -> Option<u16> {
        self.u16(field::COUNT_PATCH)
    }

    /// The ports and the sender, if `size` and the octets reach that far.
    #[must_use]
    pub fn address(self) -> Option<Address> {
        (usize::from(self.size()?) + RIO_FRAME_OCTETS >= COMMON_OCTETS).then_some(())?;
        Some(Address { dst_port: self.dst_port()?, sender: self.sender()?, src_port: self.src_port()? })
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.protocol(), self.type_code()) {
            (Some(PROTOCOL), Some(code)) => match Kind::from_code(code) {
                Some(kind) => write!(f, "{}", kind.name())?,
                None => write!(f, "type {code:#04x}")?,
            },
            (Some(PROTOCOL), None) => write!(f, "RIOCM without header")?,
            (Some(other), _) => return write!(f, "protocol {other:#06x}"),
            (None, _) => return write!(f, "{} octets", self.0.len()),
        }
        if let (Some(sender), Some(src_port), Some(dst_port)) =
            (self.sender(), self.src_port(), self.dst_port())
        {
            write!(f, " from {sender}.{src_port} to port {dst_port}")?;
        }
        Ok(())
    }
}

/// The fields that all nine headers have beside the type.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Address {
    /// The connection's port at the receiver.
    pub dst_port: u16,
    /// Device ID of the sender. 8-bit IDs are extended with zeros.
    pub sender: u16,
    /// The connection's port at the sender.
    pub src_port: u16,
}

/// The fields with which a message begins.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Message {
    /// Link address of the sending endpoint.
    pub src: u32,
    /// Link address of the receiving endpoint.
    pub dst: u32,
    /// Octets of the whole message.
    pub payl_size: u32,
}

/// What kind of data packet, with the fields that only this kind has.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum DataKind {
    /// A whole message.
    Single(Message),
    /// The first octets of a message.
    FragStart(Message),
    /// More octets.
    Frag,
    /// The first fragment but for its first 32 octets, which patches bring.
    PatchStart {
        /// The message.
        message: Message,
        /// FRAG packets that follow.
        count_frag: u16,
        /// PATCH packets that follow those, at least 1.
        count_patch: u16,
    },
    /// Octets that headers displaced, and the tail.
    Patch,
}

impl DataKind {
    /// The type.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Single(_) => Kind::Single,
            Self::FragStart(_) => Kind::FragStart,
            Self::Frag => Kind::Frag,
            Self::PatchStart { .. } => Kind::PatchStart,
            Self::Patch => Kind::Patch,
        }
    }
}

/// A data packet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Data<'a> {
    /// The receiver's connection ID.
    pub dst_cid: u16,
    /// Sequence number.
    pub seqno: u16,
    /// Which message a fragment belongs to.
    pub msgid: u8,
    /// What kind of packet.
    pub kind: DataKind,
    /// Octets of the message. Those of a received SINGLE end where the message ends.
    pub payload: &'a [u8],
}

/// A packet without the fields that all have.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Packet<'a> {
    /// RIO_CONN_REQ: what the sender wants.
    Request {
        /// Of the sender's attempt.
        generation: u8,
        /// Octets of the longest frame, wanted.
        mtu: u16,
        /// Period of heartbeats, wanted, units of 100 ms.
        hb_tmo: u8,
    },
    /// RIO_CONN_ACK: what the sender made of both requests.
    Ack {
        /// Of the sender's attempt.
        generation: u8,
        /// The lower of both mtu.
        mtu_ack: u16,
        /// The generation last heard from the receiver.
        generation_ack: u8,
        /// The larger of both hb_tmo.
        hb_tmo_ack: u8,
        /// What the receiver must put into `dst_cid`.
        my_cid: u16,
    },
    /// RIO_CONN_RESET.
    Reset {
        /// Of the sender's attempt.
        generation: u8,
    },
    /// RIO_HEARTBEAT.
    Heartbeat {
        /// The receiver's connection ID.
        dst_cid: u16,
    },
    /// Types 1 to 5.
    Data(Data<'a>),
}

impl Packet<'_> {
    /// The type.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Request { .. } => Kind::Request,
            Self::Ack { .. } => Kind::Ack,
            Self::Reset { .. } => Kind::Reset,
            Self::Heartbeat { .. } => Kind::Heartbeat,
            Self::Data(data) => data.kind.kind(),
        }
    }
}

/// A frame that may be sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Frame<'a> {
    /// Ports and sender.
    pub address: Address,
    /// The rest.
    pub packet: Packet<'a>,
}

impl<'a> Frame<'a> {
    /// Reads a frame. Reserved octets are ignored, and so is what lies beyond `size`.
    ///
    /// # Errors
    /// The first rule that is broken, in the order of [`Error`].
    pub fn parse(octets: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(octets);
        let (Some(protocol), Some(size)) = (view.protocol(), view.size()) else {
            return Err(Error::RioFrame { found: octets.len() });
        };
        if protocol != PROTOCOL {
            return Err(Error::Protocol { found: protocol });
        }
        let found = octets.len() - RIO_FRAME_OCTETS;
        let Some(address) = view.address() else {
            return Err(Error::Unattributable { found: found.min(usize::from(size)) });
        };
        // `address` has checked that these are there.
        let code = octets[field::TYPE];
        let Some(octets) = octets.get(..RIO_FRAME_OCTETS + usize::from(size)) else {
            return Err(Error::Truncated { size, found });
        };
        let Some(kind) = Kind::from_code(code) else { return Err(Error::Type { found: code }) };
        let Some(payload) = octets.get(kind.header_octets()..) else {
            return Err(Error::HeaderSize { kind, found: size });
        };
        let packet = read(kind, octets, payload)?;
        Ok(Self { address, packet })
    }

    /// Octets of the frame.
    #[must_use]
    pub const fn octets(&self) -> usize {
        let payload = match &self.packet {
            Packet::Data(data) => data.payload.len(),
            _ => 0,
        };
        self.packet.kind().header_octets() + payload
    }

    /// Appends the frame to `out`.
    ///
    /// # Panics
    /// If the frame is longer than [`FRAME_MAX_OCTETS`].
    pub fn emit(&self, out: &mut Vec<u8>) {
        let size = self.octets() - RIO_FRAME_OCTETS;
        let size = u16::try_from(size).expect("size counts at most 65535 octets");
        let (tag, word, shared) = match self.packet {
            Packet::Request { generation, mtu, hb_tmo } => (generation, mtu, u16::from(hb_tmo)),
            Packet::Ack { generation, mtu_ack, generation_ack, hb_tmo_ack, .. } => {
                (generation, mtu_ack, u16::from_be_bytes([generation_ack, hb_tmo_ack]))
            }
            Packet::Reset { generation } => (generation, 0, 0),
            Packet::Heartbeat { dst_cid } => (0, 0, dst_cid),
            Packet::Data(data) => (data.msgid, data.seqno, data.dst_cid),
        };
        let mut head = [0; COMMON_OCTETS];
        head[0..2].copy_from_slice(&PROTOCOL.to_be_bytes());
        head[2..4].copy_from_slice(&size.to_be_bytes());
        head[field::TYPE] = self.packet.kind().code();
        head[field::TAG] = tag;
        head[field::WORD..][..2].copy_from_slice(&word.to_be_bytes());
        head[field::DST_PORT..][..2].copy_from_slice(&self.address.dst_port.to_be_bytes());
        head[field::DST_CID..][..2].copy_from_slice(&shared.to_be_bytes());
        head[field::SENDER..][..2].copy_from_slice(&self.address.sender.to_be_bytes());
        head[field::SRC_PORT..][..2].copy_from_slice(&self.address.src_port.to_be_bytes());
        out.extend_from_slice(&head);
        match self.packet {
            Packet::Ack { my_cid, .. } => out.extend_from_slice(&my_cid.to_be_bytes()),
            Packet::Data(data) => {
                match data.kind {
                    DataKind::Single(message) | DataKind::FragStart(message) => emit_message(message, out),
                    DataKind::PatchStart { message, count_frag, count_patch } => {
                        emit_message(message, out);
                        out.extend_from_slice(&count_frag.to_be_bytes());
                        out.extend_from_slice(&count_patch.to_be_bytes());
                    }
                    DataKind::Frag | DataKind::Patch => {}
                }
                out.extend_from_slice(data.payload);
            }
            _ => {}
        }
    }
}

fn emit_message(message: Message, out: &mut Vec<u8>) {
    out.extend_from_slice(&message.src.to_be_bytes());
    out.extend_from_slice(&message.dst.to_be_bytes());
    out.extend_from_slice(&message.payl_size.to_be_bytes());
}

/// The fields of a frame whose header is whole.
fn read<'a>(kind: Kind, octets: &'a [u8], payload: &'a [u8]) -> Result<Packet<'a>, Error> {
    let u16_at = |at: usize| u16::from_be_bytes([octets[at], octets[at + 1]]);
    let u32_at = |at: usize| u32::from_be_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]]);
    let generation = octets[field::TAG];
    let message =
        || Message { src: u32_at(field::SRC), dst: u32_at(field::DST), payl_size: u32_at(field::PAYL_SIZE) };
    let wrong =
        |message: Message| Error::PayloadSize { kind, found: message.payl_size, payload: payload.len() };
    let (data, payload) = match kind {
        Kind::Request => {
            return Ok(Packet::Request {
                generation,
                mtu: u16_at(field::WORD),
                hb_tmo: octets[field::HB_TMO],
            });
        }
        Kind::Ack => {
            return Ok(Packet::Ack {
                generation,
                mtu_ack: u16_at(field::WORD),
                generation_ack: octets[field::GENERATION_ACK],
                hb_tmo_ack: octets[field::HB_TMO],
                my_cid: u16_at(field::MY_CID),
            });
        }
        Kind::Reset => return Ok(Packet::Reset { generation }),
        Kind::Heartbeat => return Ok(Packet::Heartbeat { dst_cid: u16_at(field::DST_CID) }),
        Kind::Single => {
            let message = message();
            let Some(payload) = payload.get(..message.payl_size as usize) else {
                return Err(wrong(message));
            };
            (DataKind::Single(message), payload)
        }
        Kind::FragStart => {
            let message = message();
            if message.payl_size as usize <= payload.len() {
                return Err(wrong(message));
            }
            (DataKind::FragStart(message), payload)
        }
        Kind::PatchStart => {
            let message = message();
            if (message.payl_size as usize) < PATCH_START_OCTETS + payload.len() {
                return Err(wrong(message));
            }
            let (count_frag, count_patch) = (u16_at(field::COUNT_FRAG), u16_at(field::COUNT_PATCH));
            if count_patch == 0 {
                return Err(Error::CountPatch);
            }
            (DataKind::PatchStart { message, count_frag, count_patch }, payload)
        }
        Kind::Frag => (DataKind::Frag, payload),
        Kind::Patch if payload.is_empty() => return Err(Error::EmptyPatch),
        Kind::Patch => (DataKind::Patch, payload),
    };
    Ok(Packet::Data(Data {
        dst_cid: u16_at(field::DST_CID),
        seqno: u16_at(field::WORD),
        msgid: octets[field::TAG],
        kind: data,
        payload,
    }))
}
