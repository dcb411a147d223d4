//! Control symbols of both forms: any octets are printed, parsed, and emitted again unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lp_serial::control_symbol::{ControlSymbol, Delimited, Form, View};

fuzz_target!(|bytes: &[u8]| {
    for form in [Form::Short, Form::Long] {
        if let Some(octets) = bytes.get(..form.octets()) {
            let view = View::new(form, octets).expect("the length is right");
            let _ = format!("{view} {view:?}");
            // With the CRC that belongs there, anything is a symbol, and comes back.
            let sound = View::from_bits(form, view.bits() ^ u64::from(view.crc() ^ view.computed_crc()));
            let symbol = ControlSymbol::from_view(sound).expect("the CRC is right");
            assert_eq!(symbol.to_bits(), sound.bits());
            let _ = format!("{symbol} {:?} {:?}", symbol.stype0(), symbol.stype1());
            let rebuilt = ControlSymbol::from_fields(form, symbol.fields(), symbol.stype2());
            assert_eq!(rebuilt, Ok(symbol));
        }
        if let Err(error) = ControlSymbol::parse(form, bytes) {
            let _ = error.to_string();
        }
        match Delimited::parse(form, bytes) {
            Ok(delimited) => {
                let in_progress = delimited.symbol.stype1().delimits(true)
                    && delimited.delimiter == delimited.symbol.delimiter(true);
                if delimited.delimiter_agrees(in_progress) {
                    let mut out = [0; 8];
                    let length = delimited.symbol.emit_delimited(in_progress, &mut out).expect("room");
                    assert_eq!(&out[..length], bytes);
                }
            }
            Err(error) => {
                let _ = error.to_string();
            }
        }
    }
});
