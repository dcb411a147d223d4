//! Type 2: reads, and atomic operations that bring no data (Part 1 §4.1.5).
//!
//! ```text
//! bit   0          3 4     7 8       15
//!      | transaction| rdsize| srcTID   |  address and wdptr: see the module address
//! ```
//!
//! transaction 4 is NREAD, 12 to 15 are ATOMIC increment, decrement, set and clear. The response is
//! [`Response::Data`](super::response::Response::Data) with what was read, or
//! [`Response::Io`](super::response::Response::Io) with ERROR.

use super::address::{self, Address, Span};
use super::{Error, bits, no_payload};
use core::fmt;
use lp_serial::cost::AddressSize;
use lp_serial::field::Field;

/// Field positions in the first half-word: (shift of the last bit, width).
mod field {
    pub(super) const TRANSACTION: (u32, u32) = (12, 4);
    pub(super) const RDSIZE: (u32, u32) = (8, 4);
    pub(super) const SRC_TID: (u32, u32) = (0, 8);
}

const FORMAT: &str = "READ";

/// The fields in front of the address (Part 1 §4.1.5).
pub const FIELDS: [Field; 3] = [("transaction", 0..4, 10), ("rdsize", 4..8, 10), ("srcTID", 8..16, 10)];

/// Format type.
pub const FTYPE: u8 = 2;

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a> {
    head: u32,
    address: Address,
    wdptr: bool,
    rest: &'a [u8],
}

impl<'a> View<'a> {
    /// Looks at the bytes that follow the transport fields. What size addresses have is a property of the
    /// system and not of the packet.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(size: AddressSize, bytes: &'a [u8]) -> Result<Self, Error> {
        let needed = 2 + address::octets(size);
        let short = Error::Short { format: FORMAT, needed, found: bytes.len() };
        let (&head, rest) = bytes.split_first_chunk().ok_or(short)?;
        let (address, wdptr, rest) = Address::parse(size, rest).ok_or(short)?;
        Ok(Self { head: u16::from_be_bytes(head).into(), address, wdptr, rest })
    }

    /// Which operation, 0..=15.
    #[must_use]
    pub const fn transaction(self) -> u8 {
        bits(self.head, field::TRANSACTION) as u8
    }

    /// Code of the size, 0..=15.
    #[must_use]
    pub const fn rdsize(self) -> u8 {
        bits(self.head, field::RDSIZE) as u8
    }

    /// Transaction ID of the source.
    #[must_use]
    pub const fn src_tid(self) -> u8 {
        bits(self.head, field::SRC_TID) as u8
    }

    /// Word pointer, the last bit of the size.
    #[must_use]
    pub const fn wdptr(self) -> bool {
        self.wdptr
    }

    /// The address.
    #[must_use]
    pub const fn address(self) -> Address {
        self.address
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "READ transaction {} rdsize {} wdptr {} TID {} address {}",
            self.transaction(),
            self.rdsize(),
            u8::from(self.wdptr()),
            self.src_tid(),
            self.address
        )
    }
}

/// What a type 2 request wants.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Operation {
    /// Read.
    Nread,
    /// Read, and then add 1.
    Increment,
    /// Read, and then subtract 1.
    Decrement,
    /// Read, and then write ones.
    Set,
    /// Read, and then write zeros.
    Clear,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 5] = [Self::Nread, Self::Increment, Self::Decrement, Self::Set, Self::Clear];

    /// The meaning of a transaction code.
    ///
    /// # Errors
    /// [`Error::Value`]: the other codes are reserved.
    pub const fn from_code(code: u8) -> Result<Self, Error> {
        match code {
            4 => Ok(Self::Nread),
            12 => Ok(Self::Increment),
            13 => Ok(Self::Decrement),
            14 => Ok(Self::Set),
            15 => Ok(Self::Clear),
            _ => {
                let rule = "4 (NREAD) or 12 to 15 (ATOMIC)";
                Err(Error::Value { field: "transaction", found: code as u32, rule })
            }
        }
    }

    /// The transaction code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Nread => 4,
            Self::Increment => 12,
            Self::Decrement => 13,
            Self::Set => 14,
            Self::Clear => 15,
        }
    }

    /// What the bytes become, if the operation changes them. They are a number, most significant byte first,
    /// and increment and decrement wrap around.
    #[must_use]
    pub const fn apply(self, old: u32, octets: u16) -> Option<u32> {
        let mask = if octets >= 4 { u32::MAX } else { (1 << (8 * octets)) - 1 };
        match self {
            Self::Nread => None,
            Self::Increment => Some(old.wrapping_add(1) & mask),
            Self::Decrement => Some(old.wrapping_sub(1) & mask),
            Self::Set => Some(mask),
            Self::Clear => Some(0),
        }
    }
}

impl Operation {
    /// The name (Part 1 §4.1.5).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nread => "NREAD",
            Self::Increment => "ATOMIC increment",
            Self::Decrement => "ATOMIC decrement",
            Self::Set => "ATOMIC set",
            Self::Clear => "ATOMIC clear",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A read, or an atomic operation that brings no data.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Read {
    operation: Operation,
    src_tid: u8,
    address: Address,
    span: Span,
}

impl Read {
    /// An operation on the bytes of `span`.
    ///
    /// # Errors
    /// [`Error::Value`] if `span` is not one of reads, or is not one that an atomic operation can work on.
    pub fn new(operation: Operation, src_tid: u8, address: Address, span: Span) -> Result<Self, Error> {
        Self::of_span(operation, src_tid, address, Span::read(span.lane(), span.octets())?)
    }

    /// With a span that is one of reads.
    fn of_span(operation: Operation, src_tid: u8, address: Address, span: Span) -> Result<Self, Error> {
        if operation != Operation::Nread && !span.is_atomic() {
            let rule = "1, 2 or 4 bytes in an atomic operation";
            return Err(Error::Value { field: "rdsize", found: span.octets().into(), rule });
        }
        Ok(Self { operation, src_tid, address, span })
    }

    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`], [`Error::Payload`].
    pub fn parse(size: AddressSize, bytes: &[u8]) -> Result<Self, Error> {
        let view = View::new(size, bytes)?;
        no_payload(FORMAT, view.rest)?;
        let operation = Operation::from_code(view.transaction())?;
        let span = Span::from_read_code(view.rdsize(), view.wdptr);
        Self::of_span(operation, view.src_tid(), view.address, span)
    }

    /// This request under another transaction ID.
    #[must_use]
    pub const fn with_tid(self, src_tid: u8) -> Self {
        Self { src_tid, ..self }
    }

    /// What is wanted.
    #[must_use]
    pub const fn operation(self) -> Operation {
        self.operation
    }

    /// Transaction ID of the source, to which the response belongs.
    #[must_use]
    pub const fn src_tid(self) -> u8 {
        self.src_tid
    }

    /// The address.
    #[must_use]
    pub const fn address(self) -> Address {
        self.address
    }

    /// Which bytes.
    #[must_use]
    pub const fn span(self) -> Span {
        self.span
    }

    /// Bytes behind the transport fields.
    #[must_use]
    pub const fn octets(self) -> usize {
        2 + self.address.octets()
    }

    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(self, out: &mut [u8]) -> Result<usize, Error> {
        let needed = self.octets();
        let found = out.len();
        let out = out.get_mut(..needed).ok_or(Error::Buffer { needed, found })?;
        let (rdsize, wdptr) = self.span.code().expect("named when it was made");
        out[..2].copy_from_slice(&[self.operation.code() << 4 | rdsize, self.src_tid]);
        self.address.emit(wdptr, &mut out[2..]);
        Ok(needed)
    }
}

impl fmt::Display for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} TID {} address {} {}", self.operation, self.src_tid, self.address, self.span)
    }
}
