//! Tests of session management. They are one binary, because each one of its own would compile the generic
//! parts of the crate again.
#![allow(missing_docs)]

mod common;
mod conduits;
mod faults;
mod initialise;
mod negotiation;
mod properties;
mod registers;
mod requests;
mod scale;
mod single_runs;
mod streams;
mod vectors;
