//! A link port with a partner that says anything, in any order, at any time.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../protocols/lp-serial/tests/hostile/mod.rs"]
mod hostile;

fuzz_target!(|bytes: &[u8]| hostile::run(bytes));
