//! Frames into one node that connects, time between them: nothing panics, calls of the link handler
//! alternate, own frames are well formed and within the MTU, nothing is due in the past.
#![no_main]

use libfuzzer_sys::fuzz_target;
use linx_riocm::wire::PROTOCOL;
use linx_riocm::{Class, Config, Event, Frame, Node, Options, Peer};

/// What frames to this node begin with, so that most of them are not foreign.
fn address(octets: &mut [u8]) {
    let [protocol @ .., _, _] = &mut octets[..4] else { return };
    protocol.copy_from_slice(&PROTOCOL.to_be_bytes());
    octets[8..10].copy_from_slice(&1_u16.to_be_bytes());
    octets[12..16].copy_from_slice(&[0, 2, 0, 1]);
}

fn run(options: Options, steps: &[(u8, Vec<u8>)]) {
    let mut node = Node::new(Config { device: 1, first_cid: 1, options }).unwrap();
    let id = node.add(Peer { mtu: 100, ..Peer::new(2) }).unwrap();
    let (mut now, mut up) = (0, false);
    for (wait, octets) in steps {
        now += u64::from(wait >> 3) * 20_000_000_000;
        node.handle_timeout(now);
        assert!(node.poll_timeout().is_none_or(|at| at > now));
        let mut octets = octets.clone();
        if octets.len() >= 16 && wait & 1 == 0 {
            address(&mut octets);
        }
        match wait & 7 {
            5 => node.connect(now, id),
            6 => node.disconnect(now, id),
            7 => node.transmit(now, id, 5, 9, &octets),
            _ => {
                node.handle_frame(now, &octets);
            }
        }
        while let Some(frame) = node.poll_transmit() {
            assert!(Frame::parse(frame.octets).is_ok());
            assert!(frame.class != Class::Data || frame.octets.len() <= 100);
        }
        while let Some(event) = node.poll_event() {
            match event {
                Event::Connected { .. } => assert!(!std::mem::replace(&mut up, true)),
                Event::Disconnected { .. } => {
                    assert!(std::mem::replace(&mut up, false) || wait & 7 == 6);
                }
                Event::Deliver { .. } => assert!(up),
            }
        }
    }
}

fuzz_target!(|steps: Vec<(u8, Vec<u8>)>| {
    run(Options::default(), &steps);
    run(Options::linx_for_linux(), &steps);
});
