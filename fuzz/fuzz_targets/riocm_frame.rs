//! Any RIOCM frame: octets are printed, parsed, and emitted again unchanged but for what receivers ignore.
#![no_main]

use libfuzzer_sys::fuzz_target;
use linx_riocm::wire::Kind;
use linx_riocm::{Frame, View};

fuzz_target!(|octets: &[u8]| {
    let _ = format!("{}", View::new(octets));
    match Frame::parse(octets) {
        Ok(frame) => {
            let mut written = Vec::new();
            frame.emit(&mut written);
            assert_eq!(Frame::parse(&written), Ok(frame));
            assert!(written.len() <= octets.len());
            let kind = frame.packet.kind();
            // Reserved octets and surplus ones are not kept.
            let ignored = matches!(kind, Kind::Request | Kind::Reset | Kind::Heartbeat);
            if !ignored {
                assert_eq!(written[4..], octets[4..written.len()]);
            }
        }
        Err(error) => {
            let _ = format!("{error}");
        }
    }
});
