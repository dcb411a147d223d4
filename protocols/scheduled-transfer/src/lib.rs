//! Scheduled Transfer (working draft Rev 1.5).
//!
//! Every movement of data is arranged before it begins: the receiver says where a Block goes and when it may
//! come, so nothing ever arrives that has no place. A *Virtual Connection* joins a Port of one end to a Port
//! of another. On it run *Transfers* (Write and Read: Blocks enabled one by one by Clear_To_Send) and
//! operations on *persistent regions* (Put, Get, FetchOp: no further permission). A Block is cut into *STUs*,
//! the payloads of Data operations.
//!
//! Requirements: see `REQUIREMENTS.md` of the crate, each with the tests that prove it.
//!
//! # Reading order
//!
//! 1. [`wire`]: the 40-octet Schedule Header and the operations of tables 4 to 8; [`checksum`].
//! 2. [`layout`]: Blocks, STUs, buffers: pure arithmetic. [`memory`]: where the octets are.
//! 3. [`slots`], [`ids`], [`timers`], [`errors`]: what a connection counts, numbers, waits for and logs.
//! 4. [`connection`]: the state tables, one file for each role.
//! 5. [`endpoint`]: Ports and Keys, and the calls of an upper layer.
//! 6. [`llp`]: the frames of Annex A.
//!
//! # Contract
//!
//! No clock, no randomness, no I/O. `now` is picoseconds. An [`Endpoint`] is driven by `handle`,
//! `handle_timeout` and the calls of its upper layer; what comes out is polled. Payload is copied once, from
//! a [`Memory`] into the operation that carries it and from there into the other one.
//!
//! # Panic contract
//!
//! Nothing that comes off the wire panics: it has an effect, or an entry in a log, or it is a repetition and
//! answered as one. Calls of the upper layer that make no sense give `None` or `false`.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod checksum;
pub mod config;
pub mod connection;
pub mod endpoint;
pub mod errors;
pub mod event;
pub mod ids;
pub mod layout;
pub mod llp;
pub mod memory;
pub mod slots;
pub mod timers;
pub mod wire;

pub use config::Config;
pub use connection::{Connection, ExposeOptions, Extras, TransferOptions, Transmit};
pub use endpoint::Endpoint;
pub use event::{ConnectionId, Event, Failure, Outcome};
pub use llp::Ula;
pub use memory::{Memory, Span};
