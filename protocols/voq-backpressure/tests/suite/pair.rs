//! Two and three devices, symbols carried by hand: what one says is what the other does.

use lp_serial::control_symbol::Delimited;
use lp_serial::{ControlSymbol, Form};
use proptest::prelude::*;
use voq_backpressure::codec::Stype2;
use voq_backpressure::csr::{GEN_EN, LINK_EN, PART, Support};
use voq_backpressure::originator::{Options, Verdict};
use voq_backpressure::receiver::{Receiver, Reception};
use voq_backpressure::symbol::{attach, standalone};
use voq_backpressure::{ActiveVcs, Carrier, Opportunity, Originator, QueueMap};

fn switch(ports: u16, options: Options) -> Originator {
    let mut switch = Originator::new(&vec![Support::UNLINKED; ports.into()], options).unwrap();
    for port in 0..ports {
        switch.write_csr(port, GEN_EN | PART);
        switch.link_up(port, Form::Long);
    }
    switch
}

fn staging(ports: u16) -> Receiver {
    Receiver::new(QueueMap::one_per_port(ports).unwrap(), ActiveVcs::None, Reception::Honoured)
}

/// Sends all that waits at `port` over a link, in delimited characters.
fn carry(downstream: &mut Originator, port: u16, upstream: &mut Receiver) -> usize {
    let mut messages = 0;
    while let Some(carrier) = downstream.needed_carrier(port) {
        let field = downstream.poll_symbol(port, Opportunity::standalone(carrier)).unwrap();
        let symbol = standalone(carrier, 3, 40, Stype2::parse(field).unwrap()).unwrap();
        let mut wire = [0; 8];
        symbol.emit_delimited(false, &mut wire).unwrap();
        upstream.receive_delimited(&wire, false, |_| {}).unwrap();
        messages += 1;
    }
    messages
}

/// Proves: VOQ-1.1-1, VOQ-1.2-2, VOQ-4.3-2, VOQ-4.3-3
#[test]
fn every_neighbour_learns_of_every_egress_port() {
    let mut downstream = switch(20, Options::default());
    for egress in 0..20 {
        downstream.set_congested(egress, true);
        for neighbour in 0..20 {
            let mut upstream = staging(20);
            downstream.refresh(neighbour);
            carry(&mut downstream, neighbour, &mut upstream);
            // The number in the message is that of the downstream device, whichever port it left through.
            for queue in 0..20 {
                assert_eq!(upstream.eligible(queue), queue != egress);
            }
        }
        downstream.set_congested(egress, false);
    }
}

/// Proves: VOQ-1.2-1
#[test]
fn both_devices_of_a_link_originate_and_honour_at_the_same_time() {
    let mut left = (switch(8, Options::default()), staging(12));
    let mut right = (switch(12, Options::default()), staging(8));
    left.0.set_congested(7, true);
    right.0.set_congested(11, true);
    // Link: port 1 of the left device, port 2 of the right one. The symbols cross.
    assert_eq!(carry(&mut left.0, 1, &mut right.1), 1);
    assert_eq!(carry(&mut right.0, 2, &mut left.1), 1);
    for queue in 0..12 {
        assert_eq!(left.1.eligible(queue), queue != 11);
        assert!(queue >= 8 || right.1.eligible(queue) == (queue != 7));
    }
    assert!(left.0.reported(1, 7) && right.0.reported(2, 11));
}

/// Proves: VOQ-2-1, VOQ-2-2
#[test]
fn a_message_ends_in_the_upstream_device_which_may_speak_for_itself() {
    let mut last = switch(8, Options::default());
    let mut middle = (switch(6, Options::default()), staging(8));
    let mut first = staging(6);
    last.set_congested(7, true);
    carry(&mut last, 0, &mut middle.1);
    assert!(!middle.1.eligible(7));
    // The middle device, stopped towards port 7 of the last one, has nothing to tell to the first.
    assert!((0..6).all(|port| !middle.0.needs_symbol(port)));
    assert_eq!(carry(&mut middle.0, 5, &mut first), 0);
    // Until its own queues fill: then it names its own port, by which it reaches the last device.
    middle.0.set_congested(2, true);
    assert_eq!(carry(&mut middle.0, 5, &mut first), 1);
    assert!((0..6).all(|queue| first.eligible(queue) == (queue != 2)));
}

/// Proves: VOQ-4.1-2, VOQ-4.1-3
#[test]
fn a_port_may_generate_without_honouring_and_the_reverse() {
    let generates = Support { generation: true, reception: false, linking: false };
    let honours = Support { generation: false, reception: true, linking: false };
    let mut device = Originator::new(&[generates, honours, Support::NONE], Options::default()).unwrap();
    for port in 0..3 {
        device.write_csr(port, GEN_EN | PART);
        device.link_up(port, Form::Long);
    }
    assert_eq!(device.set_congested(2, true).iter().collect::<Vec<_>>(), [0]);
}

/// A symbol lost on the link stops nothing for ever if recovery or refresh says everything anew.
///
/// Proves: VOQ-4.2-7, VOQ-4.2-8
#[test]
fn a_lost_clear_is_repaired_by_refresh_and_by_recovery_and_by_nothing_else() {
    for (refresh, after_recovery) in [(true, false), (false, true), (false, false)] {
        let options = Options { refresh, after_recovery, ..Options::default() };
        let (mut downstream, mut upstream) = (switch(8, options), staging(8));
        downstream.set_congested(3, true);
        carry(&mut downstream, 0, &mut upstream);
        downstream.set_congested(3, false);
        carry(&mut downstream, 0, &mut staging(8));
        assert!(!upstream.eligible(3), "the clear went elsewhere");
        downstream.refresh(0);
        downstream.link_recovered(0);
        carry(&mut downstream, 0, &mut upstream);
        assert_eq!(upstream.eligible(3), refresh || after_recovery);
    }
}

#[test]
fn a_message_rides_on_a_packet_delimiter() {
    let (mut downstream, mut upstream) = (switch(8, Options::default()), staging(8));
    downstream.set_congested(2, true);
    // packet-accepted ackID 5, 12 buffers; start-of-packet.
    let accept = ControlSymbol::from_fields(Form::Long, [0, 5, 12, 0, 0], 0).unwrap();
    let field = downstream.poll_symbol(0, Opportunity::riding(Carrier::of(&accept))).unwrap();
    let symbol = attach(accept, Stype2::parse(field).unwrap()).unwrap();
    let mut wire = [0; 8];
    symbol.emit_delimited(true, &mut wire).unwrap();
    assert_eq!(wire, [0x7C, 0x02, 0x98, 0x01, 0x10, 0x1C, 0x97, 0x7C]);
    assert_eq!(Delimited::parse(Form::Long, &wire).unwrap().symbol, symbol);
    upstream.receive_delimited(&wire, true, |_| {}).unwrap();
    assert!(!upstream.eligible(2));
    assert_eq!(downstream.counters().tx_riding, 1);
}

proptest! {
    /// Whatever happens downstream: once everything that waits has left, upstream holds back exactly what is
    /// reported, in every virtual channel, for shared and for per-ingress verdicts.
    ///
    /// Proves: VOQ-4.2-5, VOQ-2.1-6, VOQ-4.2-3
    #[test]
    fn upstream_agrees_with_what_is_reported(
        ports in 1u16..30, per_ingress: bool, linked: bool,
        vcs in proptest::sample::select(&ActiveVcs::ALL[..]),
        verdicts in proptest::collection::vec(any::<(u16, u16, bool, bool)>(), 0..100),
    ) {
        let verdict = if per_ingress { Verdict::PerIngress } else { Verdict::Shared };
        let options = Options { verdict, vcs, ..Options::default() };
        let mut downstream = Originator::new(&vec![Support::ALL; ports.into()], options).unwrap();
        let mut upstream = Vec::new();
        for port in 0..ports {
            downstream.write_csr(port, GEN_EN | PART | if linked { LINK_EN } else { 0 });
            downstream.link_up(port, Form::Long);
            let map = QueueMap::one_per_port(ports).unwrap();
            let mut receiver = Receiver::new(map, vcs, Reception::Honoured);
            receiver.set_linked(linked);
            upstream.push(receiver);
        }
        for (ingress, egress, congested, opportunity) in verdicts {
            downstream.set_congested_for(ingress % ports, egress % ports, congested);
            if opportunity {
                let port = ingress % ports;
                carry(&mut downstream, port, &mut upstream[usize::from(port)]);
            }
        }
        for (port, receiver) in (0..ports).zip(&mut upstream) {
            carry(&mut downstream, port, receiver);
            for egress in 0..ports {
                for vc in vcs.iter() {
                    prop_assert_eq!(receiver.is_congested(vc, egress), downstream.reported(port, egress));
                    prop_assert_eq!(receiver.eligible_in(vc, egress), !downstream.reported(port, egress));
                }
            }
        }
    }
}
