//! Tests of VoQ backpressure. They are one binary, because each one of its own would compile the generic
//! parts of the crate again.
#![allow(missing_docs)]

mod originator;
mod pair;
mod receiver;
mod reference;
mod symbols;
