//! The stype2 field of a control symbol: any 14 bits are printed, parsed, and emitted again unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use voq_backpressure::codec::{Stype2, View};

fuzz_target!(|bytes: [u8; 2]| {
    let field = u16::from_be_bytes(bytes);
    let _ = format!("{} {:?}", View::new(field), View::new(field));
    if let Ok(parsed) = Stype2::parse(field) {
        let _ = format!("{parsed:?}");
        if let Stype2::Backpressure(message) = parsed {
            assert_eq!(message.to_field(), field);
        }
    }
});
