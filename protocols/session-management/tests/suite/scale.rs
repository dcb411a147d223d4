//! Many endpoints open conduits to all others at once.

use crate::common::{config, protocol};
use session_management::conduit::Algorithm;
use session_management::endpoint::{Endpoint, MICROSECOND};
use std::collections::VecDeque;

/// All N nodes call create_conduit for all others; then messages are delivered in rounds of 10 us. Returns
/// the messages delivered.
fn all_to_all(nodes: u16) -> u64 {
    let mut endpoints: Vec<Endpoint> = (0..nodes)
        .map(|node| {
            let mut config = config(node, Algorithm::Corrected);
            config.first_stream = 0;
            Endpoint::new(config)
        })
        .collect();
    for node in 0..nodes {
        for peer in (0..nodes).filter(|&peer| peer != node) {
            endpoints[usize::from(node)].create_conduit(0, peer, protocol()).unwrap();
        }
    }
    let (mut now, mut delivered) = (0, 0);
    let mut flight = VecDeque::new();
    loop {
        for (node, endpoint) in endpoints.iter_mut().enumerate() {
            flight.extend(std::iter::from_fn(|| endpoint.poll_transmit()).map(|sent| (node as u16, sent)));
            while endpoint.poll_event().is_some() {}
        }
        if flight.is_empty() {
            break;
        }
        now += 10 * MICROSECOND;
        for (from, sent) in flight.drain(..) {
            endpoints[usize::from(sent.destination)].handle_message(now, from, &sent.octets);
            delivered += 1;
        }
    }
    for (node, endpoint) in endpoints.iter().enumerate() {
        assert_eq!(endpoint.streams().count(), 2 * (usize::from(nodes) - 1), "node {node}");
        assert_eq!((endpoint.outstanding(), endpoint.poll_timeout()), (0, None));
        for peer in (0..nodes).filter(|&peer| usize::from(peer) != node) {
            let [record] = endpoint.records(peer, protocol()) else { panic!("one conduit to {peer}") };
            let [other] = endpoints[usize::from(peer)].records(node as u16, protocol()) else { panic!() };
            assert_eq!((record.receive, record.transmit), (other.transmit, other.receive));
        }
    }
    delivered
}

/// Proves: SMP-3.4.2-4, SMP-3.5.3.7-2
#[test]
fn conduits_between_all() {
    // Two OPENs and two ACCEPTs for each pair.
    assert_eq!(all_to_all(48), 4 * 48 * 47 / 2);
}
