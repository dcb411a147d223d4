//! RapidIO logical and transport layers (Parts 1, 2, 3, 9 and 10, Rev 2.2): what devices say to each other
//! over a fabric, and how they keep their word.
//!
//! # Reading order
//!
//! 1. [`wire`]: packets, one module for each format, lowest first: who sends to whom ([`wire::transport`]),
//!    then the formats in order of their type.
//! 2. [`register`]: the register space of a device, and how another device finds its way in it.
//! 3. [`engine`]: what spans packets: requests and responses, messages, streams.
//! 4. [`enumeration`]: a host that explores a fabric and sets it up.
//!
//! Every wire module has the same five parts: field positions, a `View` (total: it judges nothing and prints
//! anything), a valid-only value with `parse` and `emit`, `Display`, and errors that name the field and the
//! rule it broke. Payloads are borrowed, or are the owner's own handle: see [`wire::Payload`].
//!
//! # Panic contract
//!
//! Bytes off the wire never panic: `View` getters accept every bit pattern, `parse` returns an error value.
//! `emit` returns an error when the buffer is too short. Nothing in this crate reads a clock, draws a random
//! number, or does I/O.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod engine;
pub mod enumeration;
pub mod register;
pub mod wire;
