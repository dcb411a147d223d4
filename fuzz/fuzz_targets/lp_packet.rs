//! Packet framing: any bytes are checked; a body sealed is a packet, and comes back out of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lp_serial::packet::{self, BODY_MAX_BYTES, Header, PACKET_MAX_BYTES, View};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(view) = View::new(bytes) {
        let _ = format!("{view} {view:?}");
        let header = Header::parse(bytes).expect("two bytes are a header");
        let mut out = [0; 2];
        header.emit(&mut out).expect("room");
        assert_eq!(out, bytes[..2]);
    }
    if let Err(error) = packet::check(bytes) {
        let _ = error.to_string();
    }
    let (mut sealed, mut body) = ([0xA5; PACKET_MAX_BYTES], [0xA5; BODY_MAX_BYTES]);
    if let Some((&length, rest)) = bytes.split_first() {
        // As if the bytes came off the link, with a body length of any kind.
        let _ = packet::unseal(rest, usize::from(length) * 2, &mut body);
    }
    match packet::seal(bytes, &mut sealed) {
        Ok(length) => {
            packet::check(&sealed[..length]).expect("a sealed packet is sound");
            packet::unseal(&sealed[..length], bytes.len(), &mut body).expect("and can be opened");
            assert_eq!(&body[..bytes.len()], bytes);
        }
        Err(error) => {
            let _ = error.to_string();
        }
    }
});
