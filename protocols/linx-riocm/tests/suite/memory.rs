//! What an idle connection costs.

use linx_riocm::wire::{Address, Frame, Packet};
use linx_riocm::{Config, Node, Peer, Phase};

#[test]
fn an_idle_connection_takes_at_most_200_octets() {
    let mut node = Node::new(Config::default()).unwrap();
    for device in 1..=1_023 {
        let id = node.add(Peer::new(device)).unwrap();
        node.connect(0, id);
        let address = Address { dst_port: 1, sender: device, src_port: 1 };
        let ack = Packet::Ack { generation: 1, mtu_ack: 256, generation_ack: 1, hb_tmo_ack: 5, my_cid: 7 };
        for packet in [Packet::Request { generation: 1, mtu: 256, hb_tmo: 5 }, ack] {
            let mut frame = vec![];
            Frame { address, packet }.emit(&mut frame);
            node.handle_frame(0, &frame);
            while node.poll_transmit().is_some() {}
            while node.poll_event().is_some() {}
        }
        assert_eq!(node.phase(id), Phase::Connected);
    }
    let each = node.octets() / 1_023;
    assert!(each <= 200, "{each}");
}
