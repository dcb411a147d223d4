//! Reads, writes and maintenance: types 2, 5, 6, 8 and the responses to them (Part 1).
//!
//! 1. [`requester`]: gives out transaction IDs, sends again what was not answered, matches responses.
//! 2. [`responder`]: carries out requests against memory and registers, and answers.
//! 3. [`memory`]: a piece of memory for it.
//!
//! Both work on the packet formats themselves; what data is, is the owner's choice ([`Payload`]).
//!
//! [`Payload`]: crate::wire::Payload

pub mod memory;
pub mod requester;
pub mod responder;

pub use memory::Memory;
pub use requester::Requester;
pub use responder::{Target, serve};
