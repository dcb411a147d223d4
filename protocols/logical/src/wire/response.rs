//! Type 13: responses to types 2, 5, 10 and 11 (Part 1 §4.2, Part 2 §4.3).
//!
//! ```text
//! bit   0          3 4     7 8                        15
//!      | transaction| status| targetTID or target_info  |  0 or 8 to 256 bytes
//! ```
//!
//! transaction 0 is a response without data, 1 is the response to a segment of a message, 8 is one with data.
//! status is 0 (DONE), 3 (RETRY) or 7 (ERROR). Only DONE has data, also where an ERROR says
//! transaction 8; only doorbells and messages know RETRY.

use super::message::TargetInfo;
use super::{Error, Payload, bits, header, no_payload, put};
use core::fmt;
use lp_serial::field::Field;

/// Field positions: (shift of the last bit, width).
mod field {
    pub(super) const TRANSACTION: (u32, u32) = (12, 4);
    pub(super) const STATUS: (u32, u32) = (8, 4);
    pub(super) const TARGET: (u32, u32) = (0, 8);
}

const FORMAT: &str = "RESPONSE";

const NO_DATA: u8 = 0;
const MESSAGE: u8 = 1;
const WITH_DATA: u8 = 8;

/// The fields (Part 1 §4.2). targetTID is target_info where a segment of a message is answered.
pub const FIELDS: [Field; 3] = [("transaction", 0..4, 10), ("status", 4..8, 10), ("targetTID", 8..16, 10)];

/// The name of a transaction code; none of those that are reserved.
#[must_use]
pub const fn transaction_name(code: u8) -> Option<&'static str> {
    match code {
        NO_DATA => Some("without data"),
        MESSAGE => Some("message"),
        WITH_DATA => Some("with data"),
        _ => None,
    }
}

/// Format type.
pub const FTYPE: u8 = 13;

/// How a request ended.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// Completed.
    Done,
    /// Not now: the doorbell or segment must be sent again.
    Retry,
    /// It cannot be completed.
    Error,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Done, Self::Retry, Self::Error];

    /// The meaning of a code: 0, 3 or 7.
    ///
    /// # Errors
    /// [`Error::Value`]: the other codes are reserved, or belong to implementations (12 to 15).
    pub const fn from_code(code: u8) -> Result<Self, Error> {
        match code {
            0 => Ok(Self::Done),
            3 => Ok(Self::Retry),
            7 => Ok(Self::Error),
            _ => Err(Error::Value {
                field: "status",
                found: code as u32,
                rule: "0 (DONE), 3 (RETRY) or 7 (ERROR)",
            }),
        }
    }

    /// The code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Retry => 3,
            Self::Error => 7,
        }
    }
}

impl Status {
    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::Retry => "RETRY",
            Self::Error => "ERROR",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The bytes after the transport fields, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a> {
    head: u32,
    payload: &'a [u8],
}

impl<'a> View<'a> {
    /// Looks at the bytes that follow the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        let (head, payload) = header::<2>(FORMAT, bytes)?;
        Ok(Self { head: u16::from_be_bytes(*head).into(), payload })
    }

    /// What kind of response, 0..=15.
    #[must_use]
    pub const fn transaction(self) -> u8 {
        bits(self.head, field::TRANSACTION) as u8
    }

    /// Code of the status, 0..=15.
    #[must_use]
    pub const fn status(self) -> u8 {
        bits(self.head, field::STATUS) as u8
    }

    /// Transaction ID, or target_info, of the request.
    #[must_use]
    pub const fn target(self) -> u8 {
        bits(self.head, field::TARGET) as u8
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
            "RESPONSE transaction {} status {} target {:#04x} {} bytes",
            self.transaction(),
            self.status(),
            self.target(),
            self.payload.len()
        )
    }
}

/// A response.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Response<P> {
    /// To a read, write, atomic operation or doorbell, without data.
    Io {
        /// Transaction ID of the request.
        target_tid: u8,
        /// How it ended.
        status: Status,
    },
    /// To a read or atomic operation that was done.
    Data {
        /// Transaction ID of the request.
        target_tid: u8,
        /// What was read: 8 to 256 bytes in steps of 8.
        payload: P,
    },
    /// To a segment of a message.
    Message {
        /// Letter, mailbox and number of the segment.
        target: TargetInfo,
        /// How it ended.
        status: Status,
    },
}

impl<P: Payload> Response<P> {
    /// Bytes behind the transport fields.
    #[must_use]
    pub fn octets(&self) -> usize {
        match self {
            Self::Io { .. } | Self::Message { .. } => 2,
            Self::Data { payload, .. } => 2 + payload.octets(),
        }
    }

    /// Whether the data, if any, has a length that a packet can carry.
    ///
    /// # Errors
    /// [`Error::Payload`].
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Data { payload, .. } => super::double_words(FORMAT, payload.octets()),
            _ => Ok(()),
        }
    }
}

impl<P> Response<P> {
    /// How the request ended.
    #[must_use]
    pub const fn status(&self) -> Status {
        match *self {
            Self::Io { status, .. } | Self::Message { status, .. } => status,
            Self::Data { .. } => Status::Done,
        }
    }

    const fn header(&self) -> [u8; 2] {
        let (transaction, status, target) = match *self {
            Self::Io { target_tid, status } => (NO_DATA, status, target_tid),
            Self::Data { target_tid, .. } => (WITH_DATA, Status::Done, target_tid),
            Self::Message { target, status } => (MESSAGE, status, target.byte()),
        };
        [transaction << 4 | status.code(), target]
    }
}

impl<'a> Response<&'a [u8]> {
    /// Reads what follows the transport fields.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`], [`Error::Payload`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let view = View::new(bytes)?;
        let status = Status::from_code(view.status())?;
        let response = match view.transaction() {
            NO_DATA => Self::Io { target_tid: view.target(), status },
            MESSAGE => Self::Message { target: TargetInfo::from_byte(view.target()), status },
            WITH_DATA if status == Status::Done => {
                Self::Data { target_tid: view.target(), payload: view.payload }
            }
            // Either transaction is allowed with ERROR, and neither then has data.
            WITH_DATA if status == Status::Error => Self::Io { target_tid: view.target(), status },
            WITH_DATA => {
                let rule = "0 (DONE) or 7 (ERROR) in a response with data";
                return Err(Error::Value { field: "status", found: view.status().into(), rule });
            }
            found => {
                let rule = "0 (no data), 1 (message) or 8 (data)";
                return Err(Error::Value { field: "transaction", found: found.into(), rule });
            }
        };
        match response {
            Self::Data { .. } => response.check()?,
            _ => no_payload(FORMAT, view.payload)?,
        }
        Ok(response)
    }
}

impl<P: Payload + AsRef<[u8]>> Response<P> {
    /// Writes what follows the transport fields; returns the length.
    ///
    /// # Errors
    /// [`Error::Payload`], [`Error::Buffer`].
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        self.check()?;
        let payload = match self {
            Self::Data { payload, .. } => payload.as_ref(),
            _ => &[],
        };
        put(self.header(), payload, out)
    }
}

impl<P: Payload> fmt::Display for Response<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { target_tid, status } => write!(f, "RESPONSE {status} TID {target_tid}"),
            Self::Data { target_tid, payload } => {
                write!(f, "RESPONSE DONE TID {target_tid} {} bytes", payload.octets())
            }
            Self::Message { target, status } => write!(f, "MESSAGE RESPONSE {status} {target}"),
        }
    }
}
