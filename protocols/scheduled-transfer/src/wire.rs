//! What one operation looks like in octets: the Schedule Header, its flags, and what each operation makes of
//! it (clauses 8 and 9.1).

pub mod flags;
pub mod header;
pub mod operation;

pub use flags::{Attributes, DataChannel, Flags, Function};
pub use header::{HEADER_BYTES, Header, OPTIONAL_PAYLOAD_BYTES, View};
pub use operation::{Body, Op, Operation};

use core::fmt;

/// Why octets are no operation, or why an operation cannot be made.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// No operation has this length (4.2): Control has 40 or 72 octets, Data at least 40.
    Length {
        /// Octets that were given.
        found: usize,
    },
    /// The output buffer is too short; it is unchanged.
    Buffer {
        /// Octets that are needed.
        needed: usize,
        /// Octets that there are.
        found: usize,
    },
    /// Op is not in table 2 (10.5.1).
    UndefinedOpcode {
        /// The five bits.
        found: u8,
    },
    /// Op 0x15 with F 0b100 to 0b110 (8.2).
    ReservedFunction {
        /// The three bits.
        found: u8,
    },
    /// A value does not fit its field.
    Range {
        /// Name of the field.
        field: &'static str,
        /// Largest value that fits.
        max: u32,
        /// The value that was asked for.
        found: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Length { found } => {
                write!(f, "operation length: 40 or 72 octets, Data 40 or more, {found} found")
            }
            Self::Buffer { needed, found } => {
                write!(f, "output buffer: {needed} octets needed, {found} found")
            }
            Self::UndefinedOpcode { found } => write!(f, "Op: {found:#04x} is not defined"),
            Self::ReservedFunction { found } => {
                write!(f, "Flags.F: 0 to 3 or 7 with Op 0x15, {found} is reserved")
            }
            Self::Range { field, max, found } => {
                write!(f, "{field}: at most {max:#x} fits, {found:#x} given")
            }
        }
    }
}

impl core::error::Error for Error {}
