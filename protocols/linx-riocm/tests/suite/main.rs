//! Tests of the LINX connection manager. They are one binary, because each one of its own would compile
//! the generic parts of the crate again.
#![allow(missing_docs)]

mod common;
mod data;
mod fragment;
mod handshake;
mod linx_for_linux;
mod memory;
mod network;
mod restart;
mod states;
mod supervision;
mod wire;
