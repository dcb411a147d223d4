//! Any octets as a frame of each lower layer: what is parsed and emitted again is parsed to the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scheduled_transfer::llp::{Medium, ethernet, fibre_channel, hippi_fp, hippi6400, lane};

macro_rules! again {
    ($module:ident, $octets:expr) => {
        if let Ok(frame) = $module::Frame::parse($octets) {
            let mut out = Vec::new();
            if frame.emit(&mut out).is_ok() {
                assert_eq!($module::Frame::parse(&out), Ok(frame));
            }
        }
    };
}

fuzz_target!(|octets: &[u8]| {
    again!(hippi6400, octets);
    again!(hippi_fp, octets);
    again!(ethernet, octets);
    again!(fibre_channel, octets);
    for medium in [Medium::Lane8023, Medium::LaneDix, Medium::TokenRing4, Medium::TokenRing16] {
        if let Ok(frame) = lane::Frame::parse(medium, octets) {
            let mut out = Vec::new();
            if frame.emit(medium, &mut out).is_ok() {
                let again = lane::Frame::parse(medium, &out).expect("emitted");
                assert_eq!((again.operation, again.routing), (frame.operation, frame.routing));
            }
        }
    }
});
