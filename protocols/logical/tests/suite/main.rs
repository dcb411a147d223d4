//! Tests of the logical layers. They are one binary, because each one of its own would compile the generic
//! parts of the crate again.
#![allow(missing_docs)]

mod common;
mod doorbell;
mod enumeration;
mod io;
mod message;
mod packets;
mod register;
mod stream;
mod tables;
