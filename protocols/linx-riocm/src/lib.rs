//! LINX RapidIO connection manager (RIOCM), protocol version 2.
//!
//! Two nodes agree on a frame size and a heartbeat period, number their data packets because the medium may
//! reorder them, and watch each other's heartbeats. Nothing is acknowledged or repeated: what cannot be
//! delivered resets the connection.
//!
//! # Reading order
//!
//! 1. [`wire`]: rio_frame and the nine headers.
//! 2. [`fragment`]: cutting messages into data packets, and reassembly.
//!
//! # Panic contract
//!
//! Nothing that comes off the wire panics.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod fragment;
pub mod wire;

pub use wire::{Frame, View};
