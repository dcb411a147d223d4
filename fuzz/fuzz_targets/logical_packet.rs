//! The packet formats: any bytes are looked at; what is a packet is written again as the same packet, and as
//! the same bytes but for bits that receivers ignore.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logical::wire::packet::{Packet, body_octets, open, refusal};
use lp_serial::cost::AddressSize;
use lp_serial::packet::{BODY_MAX_BYTES, PACKET_MAX_BYTES, seal, sealed_len};

fn run(bytes: &[u8]) {
    for size in [AddressSize::Bits34, AddressSize::Bits50, AddressSize::Bits66] {
        let _ = body_octets(bytes, size);
        let _ = refusal::<&[u8]>(size, bytes);
        let _ = open(bytes, size, &mut [0; BODY_MAX_BYTES]).map(|packet| packet.to_string());
        let Ok(packet) = Packet::parse(size, bytes) else { continue };
        let _ = format!("{packet} {packet:?}");
        let mut out = [0xA5; BODY_MAX_BYTES];
        let length = packet.emit(&mut out).unwrap();
        let out = &out[..length];
        assert_eq!(Packet::parse(size, out), Ok(packet));
        // The bits that are ignored come out as 0, padding too; an ERROR of maintenance loses its data, and
        // one of type 13 may change its transaction.
        let ftype = bytes[1] & 0xF;
        assert!(out.len() == bytes.len() || ftype == 8);
        let differing = out.iter().zip(bytes).skip(1).filter(|(out, found)| out != found);
        assert!(ftype == 13 || differing.clone().all(|(out, found)| out & found == *out));
        assert!(differing.count() <= 5, "more differs than is ignored");

        // Sealed, the same packet comes off the link.
        let mut link = [0xA5; PACKET_MAX_BYTES];
        let link = &mut link[..sealed_len(length)];
        seal(out, link).unwrap();
        assert_eq!(body_octets(link, size), Ok(length));
        let mut plain = [0xA5; BODY_MAX_BYTES];
        assert_eq!(open(link, size, &mut plain), Ok(packet));
    }
}

fuzz_target!(|bytes: &[u8]| run(bytes));
