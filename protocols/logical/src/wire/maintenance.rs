//! Type 8: maintenance, the way to registers (Part 1 §4.1.10, Part 3 §2.5).
//!
//! ```text
//! bit   0          3 4          7 8   15 16      23 24           44  45     46     47
//!      | transaction| size/status | TID | hop_count | config_offset | wdptr | reserved |  requests
//!      | transaction| status      | TID | hop_count | reserved                         |  responses
//! ```
//!
//! transaction 0 is a read, 1 a write, 2 and 3 are their responses, 4 is a port-write, which has none. Data
//! are 8 to 64 bytes in steps of 8. A register of 4 bytes travels in the half of a double-word in which it
//! lies in the register space.
//!
//! A switch without a device ID looks at hop_count: 0 means that it is meant itself; else it sends the packet
//! on with one less, and new CRCs. Responses have 255.

use super::{Error, Payload, bits, header, no_payload};
use core::fmt;
use lp_serial::field::{Field, RESERVED};

/// Field positions in the first and the second word: (shift of the last bit, width).
mod field {
    pub(super) const TRANSACTION: (u32, u32) = (12, 4);
    pub(super) const SIZE: (u32, u32) = (8, 4);
    pub(super) const TID: (u32, u32) = (0, 8);

    pub(super) const HOP_COUNT: (u32, u32) = (24, 8);
    pub(super) const CONFIG_OFFSET: (u32, u32) = (3, 21);
    pub(super) const WDPTR: (u32, u32) = (2, 1);
    pub(super) const RESERVED: (u32, u32) = (0, 24);
}

const FORMAT: &str = "MAINTENANCE";

/// The fields of a request (Part 1 §4.1.10).
pub const REQUEST_FIELDS: [Field; 7] = [
    ("transaction", 0..4, 10),
    ("size", 4..8, 10),
    ("srcTID", 8..16, 10),
    ("hop_count", 16..24, 10),
    ("config_offset", 24..45, 16),
    ("wdptr", 45..46, 10),
    (RESERVED, 46..48, 2),
];

/// The fields of a response (Part 1 §4.1.10).
pub const RESPONSE_FIELDS: [Field; 5] = [
    ("transaction", 0..4, 10),
    ("status", 4..8, 10),
    ("targetTID", 8..16, 10),
    ("hop_count", 16..24, 10),
    (RESERVED, 24..48, 2),
];

/// The address of a register in bytes, as a number of its own: config_offset counts double-words.
pub const BYTE_OFFSET: Field = ("offset", 0..24, 16);

/// Names of transactions, by code; the other codes are reserved.
pub const TRANSACTION_NAMES: [&str; 5] =
    ["read request", "write request", "read response", "write response", "port-write request"];

/// Format type.
pub const FTYPE: u8 = 8;

/// hop_count of responses, and of requests to an endpoint.
pub const HOP_COUNT_MAX: u8 = 0xFF;

/// Size of the register space, in bytes.
pub const SPACE_BYTES: u32 = 1 << 24;

/// Most data that one maintenance packet carries, in bytes.
pub const PAYLOAD_MAX_BYTES: usize = 64;

const READ_REQUEST: u8 = 0;
const WRITE_REQUEST: u8 = 1;
const READ_RESPONSE: u8 = 2;
const WRITE_RESPONSE: u8 = 3;
const PORT_WRITE: u8 = 4;

const DONE: u8 = 0;
const ERROR: u8 = 7;

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a> {
    first: u32,
    second: u32,
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Looks at the bytes that follow the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let (&[a, b, c, d, e, f], payload) = header::<6>(FORMAT, bytes)?;
        let first = u16::from_be_bytes([a, b]).into();
        Ok(Self { first, second: u32::from_be_bytes([c, d, e, f]), payload })
    }

    /// Which operation, 0..=15.
    #[must_use]
    pub const fn transaction(self) -> u8 {
        bits(self.first, field::TRANSACTION) as u8
    }

    /// Size code of a request or status of a response, 0..=15.
    #[must_use]
    pub const fn size_or_status(self) -> u8 {
        bits(self.first, field::SIZE) as u8
    }

    /// Transaction ID.
    #[must_use]
    pub const fn tid(self) -> u8 {
        bits(self.first, field::TID) as u8
    }

    /// Switches that are still to be passed.
    #[must_use]
    pub const fn hop_count(self) -> u8 {
        bits(self.second, field::HOP_COUNT) as u8
    }

    /// Offset in the register space, in double-words; in responses this is reserved.
    #[must_use]
    pub const fn config_offset(self) -> u32 {
        bits(self.second, field::CONFIG_OFFSET)
    }

    /// Word pointer, the last bit of the size; in responses this is reserved.
    #[must_use]
    pub const fn wdptr(self) -> bool {
        bits(self.second, field::WDPTR) == 1
    }

    /// The 24 bits behind hop_count, which responses write as 0.
    #[must_use]
    pub const fn reserved(self) -> u32 {
        bits(self.second, field::RESERVED)
    }

    /// The data.
    #[must_use]
    pub const fn payload(self) -> &'a [u8] {
        self.payload
    }

    /// The ERROR response, if this is a request that has one.
    pub(super) const fn refusal<P>(self) -> Option<Maintenance<P>> {
        let target_tid = self.tid();
        let operation = match self.transaction() {
            READ_REQUEST => Operation::ReadError { target_tid },
            WRITE_REQUEST => Operation::WriteError { target_tid },
            _ => return None,
        };
        Some(Maintenance { hop_count: HOP_COUNT_MAX, operation })
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "MAINTENANCE transaction {} size/status {} TID {} hop_count {} offset {:#x} wdptr {} {} bytes",
            self.transaction(),
            self.size_or_status(),
            self.tid(),
            self.hop_count(),
            self.config_offset(),
            u8::from(self.wdptr()),
            self.payload.len()
        )
    }
}

/// What part of the register space is meant: one register of 4 bytes, or 8, 16, 32 or 64 bytes from a
/// double-word on.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Access {
    offset: u32,
    octets: u8,
}

impl Access {
    /// The register at a byte offset: a multiple of 4 below 2^24.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub const fn register(offset: u32) -> Result<Self, Error> {
        Self::new(offset, 4)
    }

    /// `octets` bytes (4, 8, 16, 32 or 64) at a byte offset: a multiple of 4, or of 8 if they are more than
    /// one register, below 2^24.
    ///
    /// # Errors
    /// [`Error::Value`].
    pub const fn new(offset: u32, octets: u8) -> Result<Self, Error> {
        if !matches!(octets, 4 | 8 | 16 | 32 | 64) {
            return Err(Error::Value {
                field: "size",
                found: octets as u32,
                rule: "4, 8, 16, 32 or 64 bytes",
            });
        }
        let aligned = offset.is_multiple_of(if octets == 4 { 4 } else { 8 });
        if !aligned || offset >= SPACE_BYTES {
            let rule = "below 2^24 and a multiple of 4, or of 8 for more than 4 bytes";
            return Err(Error::Value { field: "offset", found: offset, rule });
        }
        Ok(Self { offset, octets })
    }

    /// Byte offset in the register space.
    #[must_use]
    pub const fn offset(self) -> u32 {
        self.offset
    }

    /// How many bytes: 4, 8, 16, 32 or 64.
    #[must_use]
    pub const fn octets(self) -> u8 {
        self.octets
    }

    /// Bytes of payload that carry them.
    #[must_use]
    pub const fn payload_octets(self) -> usize {
        self.octets.next_multiple_of(8) as usize
    }

    /// The double-word that carries `value` of the one register that is meant; the other half is 0.
    #[must_use]
    pub const fn place(self, value: u32) -> [u8; 8] {
        let half = if self.is_second_word() { value as u64 } else { (value as u64) << 32 };
        half.to_be_bytes()
    }

    /// The value of the one register that is meant, out of the double-word that carries it.
    #[must_use]
    pub const fn pick(self, carried: [u8; 8]) -> u32 {
        let both = u64::from_be_bytes(carried);
        if self.is_second_word() { both as u32 } else { (both >> 32) as u32 }
    }

    const fn is_second_word(self) -> bool {
        self.offset & 4 != 0
    }

    /// Size code and wdptr.
    const fn code(self) -> (u8, bool) {
        match self.octets {
            4 => (0b1000, self.is_second_word()),
            8 => (0b1011, false),
            16 => (0b1011, true),
            32 => (0b1100, false),
            _ => (0b1100, true),
        }
    }

    const fn from_code(config_offset: u32, code: u8, wdptr: bool) -> Result<Self, Error> {
        let octets = match (code, wdptr) {
            (0b1000, _) => 4,
            (0b1011, false) => 8,
            (0b1011, true) => 16,
            (0b1100, false) => 32,
            (0b1100, true) => 64,
            _ => {
                let rule = "8 (4 bytes), 11 (8 or 16 bytes) or 12 (32 or 64 bytes)";
                return Err(Error::Value { field: "size", found: code as u32, rule });
            }
        };
        let word = if octets == 4 && wdptr { 4 } else { 0 };
        Self::new(config_offset << 3 | word, octets)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offset {:#08x} {} bytes", self.offset, self.octets)
    }
}

/// What a maintenance packet wants or tells.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Operation<P> {
    /// Read registers.
    Read {
        /// Transaction ID of the source, to which the response belongs.
        src_tid: u8,
        /// Which registers.
        access: Access,
    },
    /// Write registers.
    Write {
        /// Transaction ID of the source, to which the response belongs.
        src_tid: u8,
        /// Which registers.
        access: Access,
        /// What is to be written. More than one double-word may be fewer than announced.
        payload: P,
    },
    /// What was read.
    ReadDone {
        /// Transaction ID of the request.
        target_tid: u8,
        /// The registers, 8 to 64 bytes in steps of 8.
        payload: P,
    },
    /// It cannot be read.
    ReadError {
        /// Transaction ID of the request.
        target_tid: u8,
    },
    /// It is written.
    WriteDone {
        /// Transaction ID of the request.
        target_tid: u8,
    },
    /// It cannot be written.
    WriteError {
        /// Transaction ID of the request.
        target_tid: u8,
    },
    /// A report without response.
    PortWrite {
        /// Bytes announced: 4, 8, 16, 32 or 64.
        octets: u8,
        /// The report.
        payload: P,
    },
}

/// A maintenance packet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Maintenance<P> {
    hop_count: u8,
    operation: Operation<P>,
}

impl<P: Payload> Maintenance<P> {
    /// A packet that passes `hop_count` switches; responses and requests to endpoints have
    /// [`HOP_COUNT_MAX`].
    ///
    /// # Errors
    /// [`Error::Payload`] if there is more data than announced, or it is not 8 to 64 bytes in steps of 8;
    /// [`Error::Value`] if a port-write announces anything but 4, 8, 16, 32 or 64 bytes.
    pub fn new(hop_count: u8, operation: Operation<P>) -> Result<Self, Error> {
        let (found, max) = match &operation {
            Operation::Write { access, payload, .. } => (payload.octets(), access.payload_octets()),
            Operation::PortWrite { octets, payload } => {
                (payload.octets(), Access::new(0, *octets)?.payload_octets())
            }
            Operation::ReadDone { payload, .. } => (payload.octets(), PAYLOAD_MAX_BYTES),
            _ => return Ok(Self { hop_count, operation }),
        };
        if found == 0 || found > max || !found.is_multiple_of(8) {
            let rule = "8 to 64 bytes in steps of 8, at most what the size says";
            return Err(Error::Payload { format: FORMAT, found, rule });
        }
        Ok(Self { hop_count, operation })
    }

    /// Bytes behind the transport fields.
    #[must_use]
    pub fn octets(&self) -> usize {
        6 + self.payload().map_or(0, Payload::octets)
    }
}

impl<P> Maintenance<P> {
    /// This request under another transaction ID; nothing changes in what has none.
    #[must_use]
    pub fn with_tid(mut self, tid: u8) -> Self {
        if let Operation::Read { src_tid, .. } | Operation::Write { src_tid, .. } = &mut self.operation {
            *src_tid = tid;
        }
        self
    }

    /// Switches that are still to be passed.
    #[must_use]
    pub const fn hop_count(&self) -> u8 {
        self.hop_count
    }

    /// What is wanted or told.
    #[must_use]
    pub const fn operation(&self) -> &Operation<P> {
        &self.operation
    }

    /// What is wanted or told, kept.
    #[must_use]
    pub fn into_operation(self) -> Operation<P> {
        self.operation
    }

    /// The packet as a switch sends it on, or `None` if it is for the switch itself (Part 3 §2.5).
    #[must_use]
    pub fn forwarded(self) -> Option<Self> {
        let hop_count = self.hop_count.checked_sub(1)?;
        Some(Self { hop_count, ..self })
    }

    /// The data, if there is any.
    #[must_use]
    pub const fn payload(&self) -> Option<&P> {
        match &self.operation {
            Operation::Write { payload, .. }
            | Operation::ReadDone { payload, .. }
            | Operation::PortWrite { payload, .. } => Some(payload),
            _ => None,
        }
    }

    fn to_words(&self) -> (u16, u32) {
        let response = |transaction, status, tid| (transaction, status, tid, 0, false);
        let request = |transaction, tid, access: Access| {
            let (size, wdptr) = access.code();
            (transaction, size, tid, access.offset >> 3, wdptr)
        };
        let (transaction, size, tid, offset, wdptr) = match self.operation {
            Operation::Read { src_tid, access } => request(READ_REQUEST, src_tid, access),
            Operation::Write { src_tid, access, .. } => request(WRITE_REQUEST, src_tid, access),
            Operation::PortWrite { octets, .. } => request(PORT_WRITE, 0, Access { offset: 0, octets }),
            Operation::ReadDone { target_tid, .. } => response(READ_RESPONSE, DONE, target_tid),
            Operation::ReadError { target_tid } => response(READ_RESPONSE, ERROR, target_tid),
            Operation::WriteDone { target_tid } => response(WRITE_RESPONSE, DONE, target_tid),
            Operation::WriteError { target_tid } => response(WRITE_RESPONSE, ERROR, target_tid),
        };
        let first = u16::from(transaction) << field::TRANSACTION.0
            | u16::from(size) << field::SIZE.0
            | u16::from(tid) << field::TID.0;
        let second = u32::from(self.hop_count) << field::HOP_COUNT.0
            | offset << field::CONFIG_OFFSET.0
            | u32::from(wdptr) << field::WDPTR.0;
        (first, second)
    }
}

impl<'a> Maintenance<&'a [u8]> {
    /// Reads what follows the transport fields. Data behind an ERROR, which a sender may add, is ignored, and
    /// so are the offset and the transaction ID of a port-write.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`], [`Error::Payload`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(bytes)?;
        let (tid, code, payload) = (view.tid(), view.size_or_status(), view.payload);
        let access = || Access::from_code(view.config_offset(), code, view.wdptr());
        let done = || match code {
            DONE => Ok(true),
            ERROR => Ok(false),
            found => {
                Err(Error::Value { field: "status", found: found.into(), rule: "0 (DONE) or 7 (ERROR)" })
            }
        };
        let operation = match view.transaction() {
            READ_REQUEST => {
                no_payload(FORMAT, payload)?;
                Operation::Read { src_tid: tid, access: access()? }
            }
            WRITE_REQUEST => Operation::Write { src_tid: tid, access: access()?, payload },
            READ_RESPONSE if done()? => Operation::ReadDone { target_tid: tid, payload },
            READ_RESPONSE => Operation::ReadError { target_tid: tid },
            WRITE_RESPONSE => {
                no_payload(FORMAT, payload)?;
                match done()? {
                    true => Operation::WriteDone { target_tid: tid },
                    false => Operation::WriteError { target_tid: tid },
                }
            }
            PORT_WRITE => Operation::PortWrite { octets: access()?.octets, payload },
            found => {
                return Err(Error::Value { field: "transaction", found: found.into(), rule: "0 to 4" });
            }
        };
        Self::new(view.hop_count(), operation)
    }
}

impl<P: Payload + AsRef<[u8]>> Maintenance<P> {
    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let payload = self.payload().map_or(&[][..], AsRef::as_ref);
        let needed = 6 + payload.len();
        let found = out.len();
        let out = out.get_mut(..needed).ok_or(Error::Buffer { needed, found })?;
        let (first, second) = self.to_words();
        out[..2].copy_from_slice(&first.to_be_bytes());
        out[2..6].copy_from_slice(&second.to_be_bytes());
        out[6..].copy_from_slice(payload);
        Ok(needed)
    }
}

impl<P: Payload> fmt::Display for Maintenance<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MAINTENANCE ")?;
        match &self.operation {
            Operation::Read { src_tid, access } => write!(f, "read TID {src_tid} {access}")?,
            Operation::Write { src_tid, access, .. } => write!(f, "write TID {src_tid} {access}")?,
            Operation::ReadDone { target_tid, payload } => {
                write!(f, "read DONE TID {target_tid} {} bytes", payload.octets())?;
            }
            Operation::ReadError { target_tid } => write!(f, "read ERROR TID {target_tid}")?,
            Operation::WriteDone { target_tid } => write!(f, "write DONE TID {target_tid}")?,
            Operation::WriteError { target_tid } => write!(f, "write ERROR TID {target_tid}")?,
            Operation::PortWrite { payload, .. } => write!(f, "port-write {} bytes", payload.octets())?,
        }
        write!(f, " hop_count {}", self.hop_count)
    }
}
