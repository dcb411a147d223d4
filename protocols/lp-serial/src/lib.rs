//! RapidIO Part 6 (LP-Serial physical layer, Rev 2.2): what the bytes on a link look like and what they cost.
//!
//! # Reading order
//!
//! The modules are in layer order, lowest first:
//!
//! 1. [`crc`]: CRC-5, CRC-13 and CRC-16, each as a bit-by-bit reference and as the table-driven form in use.
//! 2. [`control_symbol`]: the 24-bit and the 48-bit control symbol, their functions, their delimited wire
//!    form.
//! 3. [`packet`]: the first 16 bits of every packet, where its CRCs go, padding.
//! 4. [`cost`]: how many characters a packet or symbol takes and how long a character takes; ackID windows,
//!    buf_status ranges, watermarks, and the periods of everything a link sends unasked.
//! 5. [`field`]: the tables in which wire modules, here and elsewhere, say where their fields lie.
//! 6. [`link`]: the protocol: acknowledgement, retry, error recovery, flow control, virtual channels.
//!
//! Every wire module has the same five parts: field positions, a `View` (total: it judges nothing and prints
//! anything), a valid-only value with `parse` and `emit`, `Display`, and an error that names the field and
//! the rule it broke.
//!
//! # Panic contract
//!
//! Bytes off the wire never panic: `View` getters accept every bit pattern, `parse` and `check` return an
//! error value. `emit` and `seal` return an error when the buffer is too short. Nothing in this crate reads a
//! clock, draws a random number, or does I/O; only [`link`] allocates.
//!
//! # Example
//!
//! ```
//! use lp_serial::control_symbol::{ControlSymbol, Delimited, Form, Stype0, Stype1};
//!
//! let status = Stype0::Status { ack_id_status: 0, buf_status: 31 };
//! let idle = ControlSymbol::new(Form::Short, status, Stype1::Nop)?;
//! let mut wire = [0u8; 4];
//! idle.emit_delimited(false, &mut wire)?;
//! assert_eq!(wire, [0x1C, 0x80, 0xFF, 0x0F]);
//!
//! let back = Delimited::parse(Form::Short, &wire)?;
//! assert_eq!(back.symbol.stype0(), status);
//! # Ok::<(), lp_serial::control_symbol::Error>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod control_symbol;
pub mod cost;
pub mod crc;
pub mod field;
pub mod link;
pub mod packet;

pub use control_symbol::{ControlSymbol, Form, Stype0, Stype1};
pub use cost::{IdSize, LaneRate, PacketClass, SymbolSize, Width};
pub use link::LinkPort;
