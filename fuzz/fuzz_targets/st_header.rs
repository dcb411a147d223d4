//! Any octets as a Schedule Header: printed, parsed and emitted again unchanged; as an operation, the fields
//! that it uses come back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scheduled_transfer::checksum;
use scheduled_transfer::wire::{HEADER_BYTES, Header, Operation};

fuzz_target!(|octets: &[u8]| {
    let _ = checksum::is_intact(octets);
    let Ok((header, payload)) = Header::parse(octets) else { return };
    let _ = format!("{header} {header:?}");
    assert_eq!(header.to_bytes(), octets[..HEADER_BYTES]);
    let sealed = Header { cksum: checksum::of_operation(&header, payload), ..header };
    assert!(checksum::is_intact(&[&sealed.to_bytes()[..], payload].concat()));
    if let Ok(operation) = Operation::parse(&header) {
        assert_eq!(Operation::parse(&operation.header()), Ok(operation));
    }
});
