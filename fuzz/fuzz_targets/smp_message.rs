//! Any session management message: octets are printed, parsed, and emitted again unchanged but for padding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use session_management::message::{MAX_PADDING, Message, Mode, View};

fuzz_target!(|octets: &[u8]| {
    let _ = format!("{}", View(octets));
    for mode in [Mode::Validation, Mode::NonValidation] {
        match Message::parse(octets, mode) {
            Ok(message) => {
                let written = message.to_vec().expect("what was read can be written");
                let again = Message::parse(&written, mode);
                if mode == Mode::Validation {
                    assert_eq!(again, Ok(message));
                    let common = written.len().min(octets.len());
                    assert_eq!(written[..common], octets[..common]);
                    assert!(octets.len() - common <= MAX_PADDING);
                } else {
                    assert!(again.is_ok());
                }
            }
            Err(fault) => {
                let _ = format!("{fault}");
            }
        }
    }
});
