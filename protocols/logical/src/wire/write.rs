//! Type 5: writes, and atomic operations that bring data (Part 1 §4.1.7).
//!
//! ```text
//! bit   0          3 4     7 8       15
//!      | transaction| wrsize| srcTID   |  address and wdptr: see the module address; then 8 to 256 bytes
//! ```
//!
//! transaction 4 is NWRITE, which has no response, 5 is NWRITE_R, which has one without data; 12, 13 and 14
//! are ATOMIC swap, compare-and-swap and test-and-swap, whose response brings the old value. A payload of
//! more than one double-word may be shorter than wrsize says.

use super::address::{self, Address, Span};
use super::{Error, Payload, bits, double_words};
use core::fmt;
use lp_serial::cost::AddressSize;
use lp_serial::field::Field;

/// Field positions in the first half-word: (shift of the last bit, width).
mod field {
    pub(super) const TRANSACTION: (u32, u32) = (12, 4);
    pub(super) const WRSIZE: (u32, u32) = (8, 4);
    pub(super) const SRC_TID: (u32, u32) = (0, 8);
}

const FORMAT: &str = "WRITE";

/// The fields in front of the address (Part 1 §4.1.7).
pub const FIELDS: [Field; 3] = [("transaction", 0..4, 10), ("wrsize", 4..8, 10), ("srcTID", 8..16, 10)];

/// Format type.
pub const FTYPE: u8 = 5;

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a> {
    head: u32,
    address: Address,
    wdptr: bool,
    payload: &'a [u8],
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
        let (address, wdptr, payload) = Address::parse(size, rest).ok_or(short)?;
        Ok(Self { head: u16::from_be_bytes(head).into(), address, wdptr, payload })
    }

    /// Which operation, 0..=15.
    #[must_use]
    pub const fn transaction(self) -> u8 {
        bits(self.head, field::TRANSACTION) as u8
    }

    /// Code of the size, 0..=15.
    #[must_use]
    pub const fn wrsize(self) -> u8 {
        bits(self.head, field::WRSIZE) as u8
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

    /// The data.
    #[must_use]
    pub const fn payload(self) -> &'a [u8] {
        self.payload
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "WRITE transaction {} wrsize {} wdptr {} TID {} address {} {} bytes",
            self.transaction(),
            self.wrsize(),
            u8::from(self.wdptr()),
            self.src_tid(),
            self.address,
            self.payload.len()
        )
    }
}

/// What a type 5 request wants.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Operation {
    /// Write; there is no response.
    Nwrite,
    /// Write, and say when it is done.
    NwriteR,
    /// Read, and then write the data.
    Swap,
    /// Read, and if that equals the first double-word of the data, write the second.
    CompareAndSwap,
    /// Read, and if that is 0, write the data.
    TestAndSwap,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 5] =
        [Self::Nwrite, Self::NwriteR, Self::Swap, Self::CompareAndSwap, Self::TestAndSwap];

    /// The meaning of a transaction code.
    ///
    /// # Errors
    /// [`Error::Value`]: the other codes are reserved.
    pub const fn from_code(code: u8) -> Result<Self, Error> {
        match code {
            4 => Ok(Self::Nwrite),
            5 => Ok(Self::NwriteR),
            12 => Ok(Self::Swap),
            13 => Ok(Self::CompareAndSwap),
            14 => Ok(Self::TestAndSwap),
            _ => {
                let rule = "4 (NWRITE), 5 (NWRITE_R) or 12 to 14 (ATOMIC)";
                Err(Error::Value { field: "transaction", found: code as u32, rule })
            }
        }
    }

    /// The transaction code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Nwrite => 4,
            Self::NwriteR => 5,
            Self::Swap => 12,
            Self::CompareAndSwap => 13,
            Self::TestAndSwap => 14,
        }
    }

    /// Whether the request has a response.
    #[must_use]
    pub const fn has_response(self) -> bool {
        !matches!(self, Self::Nwrite)
    }

    /// Whether the response brings the old value.
    #[must_use]
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::Swap | Self::CompareAndSwap | Self::TestAndSwap)
    }
}

impl Operation {
    /// The name (Part 1 §4.1.7).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nwrite => "NWRITE",
            Self::NwriteR => "NWRITE_R",
            Self::Swap => "ATOMIC swap",
            Self::CompareAndSwap => "ATOMIC compare-and-swap",
            Self::TestAndSwap => "ATOMIC test-and-swap",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A write, or an atomic operation that brings data.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Write<P> {
    operation: Operation,
    src_tid: u8,
    address: Address,
    span: Span,
    payload: P,
}

impl<P: Payload> Write<P> {
    /// An operation on the bytes of `span`, which lie in the payload where they lie in memory. The srcTID of
    /// an NWRITE means nothing.
    ///
    /// # Errors
    /// [`Error::Value`] if `span` is not one of writes, or does not suit the operation: 1, 2 or 4 bytes for
    /// swap and test-and-swap, 16 for compare-and-swap. [`Error::Payload`] if the payload is longer than the
    /// span or not made of double-words; in atomic operations also if it is shorter.
    pub fn new(
        operation: Operation,
        src_tid: u8,
        address: Address,
        span: Span,
        payload: P,
    ) -> Result<Self, Error> {
        let span = Span::write(span.lane(), span.octets())?;
        Self::of_span(operation, src_tid, address, span, payload)
    }

    /// With a span that is one of writes.
    fn of_span(
        operation: Operation,
        src_tid: u8,
        address: Address,
        span: Span,
        payload: P,
    ) -> Result<Self, Error> {
        let wrsize = |rule| Err(Error::Value { field: "wrsize", found: span.octets().into(), rule });
        match operation {
            Operation::Nwrite | Operation::NwriteR => {}
            Operation::Swap | Operation::TestAndSwap if !span.is_atomic() => {
                return wrsize("1, 2 or 4 bytes in an atomic swap");
            }
            Operation::CompareAndSwap if span != Span::TWO_DOUBLE_WORDS => {
                return wrsize("16 bytes in a compare-and-swap");
            }
            Operation::Swap | Operation::TestAndSwap | Operation::CompareAndSwap => {}
        }
        let found = payload.octets();
        double_words(FORMAT, found)?;
        let max = usize::from(span.payload_octets());
        if found > max {
            return Err(Error::Payload { format: FORMAT, found, rule: "at most what wrsize says" });
        }
        if operation.is_atomic() && found != max {
            return Err(Error::Payload { format: FORMAT, found, rule: "exactly the operands" });
        }
        Ok(Self { operation, src_tid, address, span, payload })
    }

    /// Which bytes are written: those of the span, as far as there is data.
    #[must_use]
    pub fn written(&self) -> Span {
        // Only whole double-words can be announced and not sent.
        let octets = self.span.octets().min(self.payload.octets() as u16);
        Span { octets, ..self.span }
    }

    /// Bytes behind the transport fields.
    #[must_use]
    pub fn octets(&self) -> usize {
        2 + self.address.octets() + self.payload.octets()
    }
}

impl<P> Write<P> {
    /// This request under another transaction ID.
    #[must_use]
    pub fn with_tid(self, src_tid: u8) -> Self {
        Self { src_tid, ..self }
    }

    /// What is wanted.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        self.operation
    }

    /// Transaction ID of the source, to which the response belongs, if there is one.
    #[must_use]
    pub const fn src_tid(&self) -> u8 {
        self.src_tid
    }

    /// The address.
    #[must_use]
    pub const fn address(&self) -> Address {
        self.address
    }

    /// Which bytes were announced.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }

    /// The data, whole double-words.
    #[must_use]
    pub const fn payload(&self) -> &P {
        &self.payload
    }

    /// The data, kept.
    #[must_use]
    pub fn into_payload(self) -> P {
        self.payload
    }
}

impl<'a> Write<&'a [u8]> {
    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`], [`Error::Payload`].
    pub fn parse(size: AddressSize, bytes: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(size, bytes)?;
        let operation = Operation::from_code(view.transaction())?;
        let span = Span::from_write_code(view.wrsize(), view.wdptr)?;
        Self::of_span(operation, view.src_tid(), view.address, span, view.payload)
    }
}

impl<P: Payload + AsRef<[u8]>> Write<P> {
    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let needed = self.octets();
        let found = out.len();
        let out = out.get_mut(..needed).ok_or(Error::Buffer { needed, found })?;
        let (wrsize, wdptr) = self.span.code().expect("named when it was made");
        out[..2].copy_from_slice(&[self.operation.code() << 4 | wrsize, self.src_tid]);
        self.address.emit(wdptr, &mut out[2..]);
        out[2 + self.address.octets()..].copy_from_slice(self.payload.as_ref());
        Ok(needed)
    }
}

impl<P: Payload> fmt::Display for Write<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, src_tid, address, .. } = self;
        write!(f, "{operation} TID {src_tid} address {address} {}", self.written())
    }
}
