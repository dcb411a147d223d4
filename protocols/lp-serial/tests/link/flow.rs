//! Flow control, virtual channels, priorities.

use super::common::meta;
use super::{Bench, EOP, NOP, REQUEST, SOP, accept, pna, quiet, receiver, status, vcs};
use lp_serial::control_symbol::{Cause, Form, PortStatus, Stype0};
use lp_serial::link::{
    Config, FlowControl, LinkEvent, LinkPort, Opportunity, PacketMeta, Reception, Traffic, VcConfig,
};

/// Shows: R2.2p6s5.9.3c0516, R2.2p6s5.9.3c0517, R2.2p6s5.9.2c0503, R2.2p6s5.9c0484, R1.3p6s5.7.3c0939,
/// R1.3p6s5.7.3c0940, R1.3p6s5.7.1c0936, R1.3p6s5.7.2c0938, R2.2p6s3.4c0026, R2.2p6s3.4c0027
#[test]
fn flow_control_is_transmitter_controlled_if_both_can() {
    use FlowControl::{Receiver, Transmitter};
    for form in [Form::Short, Form::Long] {
        let all_ones = form.parameter_max();
        let table = [
            (Transmitter, 6, Transmitter),
            (Transmitter, all_ones - 1, Transmitter),
            (Transmitter, all_ones, Receiver),
            (Receiver, 6, Receiver),
            (Receiver, all_ones, Receiver),
        ];
        for (flow, told, negotiated) in table {
            let mut port: LinkPort<u8> = LinkPort::new(Config { form, flow, ..quiet() }).unwrap();
            port.port_initialized();
            let first = port.poll_transmit(0, Opportunity::IDLE).unwrap().symbol.stype0();
            assert_eq!(first, status(0, if flow == Transmitter { 6 } else { all_ones }));
            let mut bench = Bench::up(Config { form, flow, ..quiet() }, told);
            assert_eq!(bench.0.flow(), negotiated);
            bench.packet(meta(3), 0, Ok(()));
            assert_eq!(bench.due(), [accept(0, if negotiated == Transmitter { 5 } else { all_ones })]);
        }
    }
}

/// Shows: R2.2p6s5.9.2.1c0512, R2.2p6s5.9.2.2c0514, R2.2p6s3.4.1c0031
#[test]
fn credit_follows_what_is_told_and_what_is_outstanding() {
    let mut bench = Bench::up(quiet(), 5);
    let free = |bench: &Bench| bench.0.credit(0).free();
    // Watermark 4: two packets of priority 0 out of 5 buffers.
    assert_eq!(bench.send(3), [0, 1]);
    assert_eq!(free(&bench), 3);
    bench.status(5);
    assert_eq!(free(&bench), 3, "the status does not know of the outstanding ones");
    bench.accepted(0, 4);
    assert_eq!(free(&bench), 3);
    bench.accepted(1, 5);
    assert_eq!(free(&bench), 5, "a buffer was released meanwhile");
    assert_eq!(bench.left().unwrap().2, Some((2, 2)));
    bench.end();
    bench.hear(Stype0::PacketRetry { ack_id: 2, buf_status: 2 }, NOP);
    assert_eq!(free(&bench), 2);
    bench.left();
    assert_eq!(bench.left(), None, "priority 0 waits");
    for (prio, told) in [(1, 3), (2, 2), (3, 1)] {
        bench.status(told - 1);
        bench.0.submit(10 + prio, meta(prio)).unwrap();
        assert_eq!(bench.left(), None, "priority {prio} needs {told}");
        bench.status(told);
        let (_, _, packet) = bench.left().unwrap();
        assert_eq!(packet, Some((10 + prio, 1 + prio)));
        bench.end();
        bench.accepted(1 + prio, 0);
    }
    // A stop leaves the credit alone until something is told.
    bench.status(5);
    bench.left();
    bench.end();
    assert_eq!(free(&bench), 4);
    bench.hear(pna(Cause::General), NOP);
    bench.left();
    bench.response(5);
    assert_eq!(free(&bench), 4);
    bench.status(5);
    assert_eq!(free(&bench), 5);
}

/// Shows: R2.2p6s5.9.2c0505, R2.2p6s5.9.2c0509, R1.3p6s5.7.2c0941, R1.3p6s3.4.4c0885, R2.2p6s3.4.4c0039
#[test]
fn a_released_buffer_is_told_when_it_may_matter() {
    let mut bench = Bench::up(Config { buffers: 8, ..quiet() }, 9);
    for ack_id in 0..3 {
        bench.packet(meta(3), ack_id, Ok(()));
    }
    assert_eq!(bench.due(), [accept(0, 7), accept(1, 6), accept(2, 5)]);
    bench.0.release(0);
    assert_eq!(bench.due(), [], "told at most the highest watermark matters");
    bench.packet(meta(3), 3, Ok(()));
    bench.packet(meta(3), 4, Ok(()));
    bench.0.release(0);
    assert_eq!(bench.due(), [accept(3, 5), accept(4, 5)], "an unsent symbol takes the release along");
    bench.packet(meta(3), 5, Ok(()));
    assert_eq!(bench.due(), [accept(5, 4)]);
    bench.0.release(0);
    assert_eq!(bench.due(), [status(6, 5)], "told alone");
}

/// Shows: R2.2p6s5.5.3.2c0422, R2.2p6s5.9.2c0506, R1.3p6s5.3.2c0944, R1.3p6s5.7.2c0943
#[test]
fn buffer_status_leaves_once_a_period() {
    let mut bench = Bench::up(Config { status_period: Some(50), ..quiet() }, 9);
    assert_eq!(bench.0.poll_timeout(), Some(50));
    bench.0.handle_timeout(50);
    assert_eq!(bench.due(), [status(0, 6)]);
    // Any symbol with the status of VC0 counts.
    bench.packet(meta(3), 0, Ok(()));
    bench.0.poll_transmit(80, Opportunity::IDLE).unwrap();
    assert_eq!(bench.0.poll_timeout(), Some(130));
}

/// Shows: R2.2p6s3.4.5r0001, R2.2p6s3.4.5c0041, R2.2p6s3.4.5c0042, R2.2p6s3.4.5c0043, R2.2p6s3.4.5c0044,
/// R2.2p6s3.4.5c0045, R2.2p6s5.4.2c0395, R2.2p6s5.4.2c0396, R2.2p6s5.4.2r0002, R2.2p6s5.5.3.2c0423,
/// R2.2p6s5.6.2c0447, R2.2p6s5.9.2c0507, R2.2p6s5.9.2c0508, R2.2p6s5.9.2.1c0513, R2.2p6s5.9.3c0518
#[test]
fn every_vc_has_buffers_and_credit_of_its_own() {
    let vc = VcConfig { buffers: 2, ..VcConfig::default() };
    let config = Config { vc_refresh_period: Some(70), ..vcs(2, vc) };
    let mut bench = Bench::up(config, 9);
    // Two active VCs: VC1 and VC5; the low bits of prio and CRF do not matter.
    let vc1 = PacketMeta { vc: true, crf: true, ..meta(1) };
    let vc5 = PacketMeta { vc: true, ..meta(3) };
    assert_eq!(bench.packet(vc5, 0, Ok(())), Reception::Accepted { channel: 2 });
    assert_eq!(bench.packet(vc1, 1, Ok(())), Reception::Accepted { channel: 1 });
    assert_eq!(bench.packet(vc1, 2, Ok(())), Reception::Accepted { channel: 1 });
    assert_eq!(bench.due(), [accept(0, 1), accept(1, 1), accept(2, 0)], "of the VC of each packet");
    bench.0.release(2);
    assert_eq!(bench.due(), [Stype0::VcStatus { vcid: 4, buf_status: 2 }]);
    assert_eq!(bench.0.poll_timeout(), Some(70));
    bench.0.handle_timeout(70);
    let vc_status = |vcid, buf_status| Stype0::VcStatus { vcid, buf_status };
    assert_eq!(bench.due(), [vc_status(0, 0), vc_status(4, 2)]);
    assert_eq!(bench.0.poll_timeout(), Some(140));
    // Sending.
    bench.0.submit(1, vc1).unwrap();
    bench.0.submit(5, vc5).unwrap();
    assert_eq!(bench.left(), None, "nothing is known of these VCs");
    bench.hear(vc_status(7, 1), NOP);
    assert_eq!(bench.left().unwrap().2, Some((5, 0)), "any VCID 4 to 7 is VC5");
    assert_eq!(bench.end().1, EOP);
    bench.hear(vc_status(0, 1), NOP);
    assert_eq!(bench.left().unwrap().2, Some((1, 1)));
    bench.end();
    bench.accepted(0, 7);
    assert_eq!((bench.0.credit(2).free(), bench.0.credit(1).free()), (7, 0), "reassociated by ackID");
}

/// Shows: R2.2p6s5.9.1.2c0489, R2.2p6s5.13.2.6c0617, R2.2p6s5.13.2.6c0618, R2.2p6s5.8c0476,
/// R2.2p6s5.8c0481, R2.2p6s5.8c0482, R2.2p6s5.13.2.6c0627
#[test]
fn continuous_traffic_is_taken_as_it_comes() {
    let vc = VcConfig { traffic: Traffic::Continuous, buffers: 2, share: 1 };
    let mut bench = Bench::up(vcs(1, vc), 9);
    let ct = PacketMeta { vc: true, ..meta(0) };
    bench.0.handle_error(Cause::SymbolCrc);
    bench.due();
    assert_eq!(bench.packet(ct, 17, Ok(())), Reception::Accepted { channel: 1 }, "whatever its ackID");
    assert_eq!(bench.packet(ct, 18, Err(Cause::PacketCrc)), Reception::Discarded);
    assert_eq!(bench.packet(meta(3), 0, Ok(())), Reception::Discarded);
    assert_eq!(bench.packet(ct, 18, Ok(())), Reception::Accepted { channel: 1 });
    assert_eq!(bench.packet(ct, 18, Ok(())), Reception::Lost, "no room");
    assert_eq!(bench.due(), [], "silently");
    assert_eq!(bench.0.expected_ack_id(), 0);
    bench.hear1(REQUEST);
    let port_status = PortStatus::ErrorStopped;
    let response = Stype0::LinkResponse { ack_id_status: 0, port_status };
    let vc_status = Stype0::VcStatus { vcid: 0, buf_status: 0 };
    assert_eq!(bench.due(), [response, status(0, 6), vc_status]);
    assert_eq!(bench.packet(ct, 0, Ok(())), Reception::Lost);
    assert_eq!(bench.due(), [accept(0, 0)], "acknowledged all the same");
    assert_eq!(bench.0.expected_ack_id(), 1);
}

/// Shows: R2.2p6s5.13.2.7c0634, R2.2p6s5.13.2c0572, R2.2p6s5.8c0479
#[test]
fn continuous_traffic_is_not_sent_twice() {
    let vc = VcConfig { traffic: Traffic::Continuous, buffers: 2, share: 1 };
    let mut bench = Bench::up(vcs(1, vc), 9);
    bench.hear(Stype0::VcStatus { vcid: 0, buf_status: 9 }, NOP);
    let ct = PacketMeta { vc: true, ..meta(0) };
    for (packet, meta) in [(0, meta(0)), (1, ct), (2, ct)] {
        bench.0.submit(packet, meta).unwrap();
    }
    assert_eq!(bench.left().unwrap().2, Some((0, 0)), "VC0 first");
    assert_eq!(bench.end().2, Some((1, 1)));
    assert_eq!(bench.end().2, Some((2, 2)));
    bench.hear(pna(Cause::SymbolCrc), NOP);
    assert_eq!(bench.left_at(Opportunity::INSIDE).unwrap().1, REQUEST, "packet 2 is cut");
    bench.events();
    bench.response(0);
    assert_eq!(bench.events(), [LinkEvent::Acknowledged(1), LinkEvent::Recovered(2)]);
    assert_eq!(bench.left().unwrap().2, Some((0, 0)));
    assert_eq!(bench.end().2, Some((2, 1)), "it was never sent whole");
}

/// Shows: R2.2p6s5.4.3c0397, R2.2p6s5.11c0540, R2.2p6s5.11c0541, R2.2p6s5.11c0542, R2.2p6s5.11c0543,
/// R2.2p6s5.11c0544
#[test]
fn vcs_share_the_link() {
    let count = |config: Config, demands: [bool; 3]| {
        let mut bench = Bench::up(Config { flow: FlowControl::Receiver, ..config }, 63);
        let metas = [meta(0), PacketMeta { vc: true, ..meta(0) }, PacketMeta { vc: true, ..meta(2) }];
        let metas = metas.map(|meta| PacketMeta { octets: 276, ..meta });
        let mut sent = [0u32; 3];
        let mut submitted = [0u32; 3];
        let mut at = Opportunity::IDLE;
        for n in 0..=700u32 {
            for channel in (0..3).filter(|&channel| demands[channel]) {
                while submitted[channel] < sent[channel] + 2 {
                    bench.0.submit(channel as u8, metas[channel]).unwrap();
                    submitted[channel] += 1;
                }
            }
            let (_, _, packet) = bench.left_at(at).unwrap();
            if n > 0 {
                bench.accepted(((n - 1) % 64) as u8, 63);
            }
            sent[usize::from(packet.unwrap().0)] += 1;
            at = Opportunity::END;
        }
        sent
    };
    let with_shares = |vc0_share| {
        let mut config = Config { queue: 30, ..vcs(2, VcConfig::default()) };
        config.vc0_share = vc0_share;
        config.vcs[0].share = 4;
        config.vcs[1].share = 1;
        config
    };
    assert_eq!(count(with_shares(None), [true; 3])[1..], [0, 0], "VC0 goes before all");
    let [_, vc1, vc5] = count(with_shares(None), [false, true, true]);
    assert!((559..=562).contains(&vc1) && (139..=142).contains(&vc5), "4 to 1: {vc1} {vc5}");
    let [vc0, vc1, vc5] = count(with_shares(Some(2)), [true; 3]);
    assert!(vc0.abs_diff(200) <= 3 && vc1.abs_diff(400) <= 5 && vc5.abs_diff(100) <= 3, "{vc0} {vc1} {vc5}");
    assert_eq!(count(with_shares(Some(2)), [true, false, true])[1], 0);
}

/// Shows: R2.2p6s5.6.3c0448, R2.2p6s5.6.3c0449, R2.2p6s5.6.3c0450, R2.2p6s5.6.3c0451, R2.2p6s5.6.3c0452,
/// R1.3p6s5.4.3c0561, R1.3p6s5.9c0558
#[test]
fn the_highest_priority_goes_first_and_crf_within_it() {
    for crf in [true, false] {
        let mut bench = Bench::up(Config { crf, ..receiver() }, 31);
        let waiting = [(0, false), (0, true), (3, false), (1, false), (1, true), (0, true)];
        for (n, (prio, crf)) in waiting.into_iter().enumerate() {
            bench.0.submit(n as u8, PacketMeta { crf, ..meta(prio) }).unwrap();
        }
        let mut order = vec![bench.left().unwrap().2.unwrap().0];
        while let (_, SOP, Some((packet, _))) = bench.end() {
            order.push(packet);
        }
        assert_eq!(order, if crf { [2, 4, 3, 1, 5, 0] } else { [2, 3, 4, 0, 1, 5] });
    }
}

#[test]
fn an_owner_that_chooses_late_is_told_what_would_start() {
    let mut bench = Bench::up(quiet(), 3);
    let starts = |bench: &Bench| [0, 1, 2, 3].map(|prio| bench.0.would_start(meta(prio)));
    assert_eq!(starts(&bench), [false, true, true, true]);
    bench.0.submit(0, meta(2)).unwrap();
    assert_eq!(starts(&bench), [false, false, false, true], "a packet of priority 2 is ahead");
    bench.left();
    bench.end();
    assert_eq!(starts(&bench), [false, false, true, true]);
    bench.hear(pna(Cause::General), NOP);
    assert_eq!(starts(&bench), [false; 4]);
    // VC0 goes before what waits in other channels, if it has no share.
    for (vc0_share, first) in [(None, true), (Some(1), false)] {
        let config = Config { flow: FlowControl::Receiver, vc0_share, ..vcs(1, VcConfig::default()) };
        let mut bench = Bench::up(config, 63);
        let vc1 = PacketMeta { vc: true, ..meta(0) };
        assert!(bench.0.would_start(vc1) && bench.0.would_start(meta(0)));
        bench.0.submit(0, vc1).unwrap();
        assert_eq!((bench.0.would_start(vc1), bench.0.would_start(meta(0))), (false, first));
    }
}

/// What is outstanding in a channel are the packets sent and not acknowledged, and credit is what is told
/// less them.
#[test]
fn outstanding_packets_are_counted_until_they_are_acknowledged() {
    let mut bench = Bench::up(quiet(), 9);
    assert_eq!(bench.0.credit(0).outstanding(), 0);
    bench.send(4);
    assert_eq!((bench.0.credit(0).outstanding(), bench.0.credit(0).free()), (4, 5));
    bench.accepted(0, 9);
    bench.accepted(1, 8);
    assert_eq!((bench.0.credit(0).outstanding(), bench.0.credit(0).free()), (2, 6));
    assert_eq!(bench.0.credit(0).last_told(), 8);
}

/// A symbol has to leave for a multicast event, and for no delimiter.
#[test]
fn a_multicast_event_wants_a_symbol_of_its_own() {
    let mut bench = Bench::up(quiet(), 9);
    bench.0.submit(0, meta(0)).unwrap();
    assert!(!bench.0.wants_symbol(), "a packet brings its own");
    bench.0.submit_multicast_event();
    bench.0.submit_multicast_event();
    for _ in 0..2 {
        assert!(bench.0.wants_symbol());
        assert_eq!(bench.left().unwrap().1, lp_serial::control_symbol::Stype1::MulticastEvent);
    }
    assert!(!bench.0.wants_symbol());
    assert_eq!(bench.left().unwrap().1, SOP);
}
