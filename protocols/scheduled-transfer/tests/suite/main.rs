//! Tests of Scheduled Transfer. They are one binary, because each one of its own would compile the generic
//! parts of the crate again.
#![allow(missing_docs)]

mod any_octets;
mod common;
mod errors;
mod intermediate;
mod parameters;
mod proofs;
mod rules;
mod sequences;
mod storms;
mod transfers;
mod vectors;
