//! Link initialisation, and what concerns both sides.

use super::common::{config, meta, symbol};
use super::{Bench, EOP, NOP, REQUEST, SOP, accept, pna, quiet, status, vcs};
use lp_serial::control_symbol::{Cause, LinkRequest, PortStatus, Stype0, Stype1};
use lp_serial::link::{
    Config, FlowControl, Handover, InputState, LinkEvent, LinkPort, OpenChannel, Opportunity, OutputState,
    PacketMeta, Reception, STATUS_RECEIVED, STATUS_SENT, Traffic, Unsent, VcConfig,
};

/// Shows: R2.2p6s5.5.3.1c0409, R2.2p6s5.5.3.1c0410, R2.2p6s5.5.3.1c0411, R2.2p6s5.5.3.1c0415,
/// R2.2p6s5.5.3.1c0416, R2.2p6s5.5.3.1c0417, R2.2p6s5.5.3.1c0418, R2.2p6s5.5.3.1c0419,
/// R2.2p6s5.5.3.1c0420, R1.3p6s5.3.2c0796, R1.3p6s5.3.2c0799
#[test]
fn a_link_comes_up_by_counting_status() {
    let mut bench = Bench(LinkPort::new(vcs(2, VcConfig::default())).unwrap());
    bench.0.submit(1, meta(0)).unwrap();
    bench.status(9);
    bench.hear1(REQUEST);
    assert_eq!(bench.left(), None, "down: nothing is sent, nothing counts");
    bench.0.port_initialized();
    assert_eq!(bench.due(), [status(0, 6)]);
    bench.0.handle_timeout(100);
    assert_eq!(bench.due(), [status(0, 6)], "again after a period");
    assert_eq!(bench.packet(meta(0), 0, Ok(())), Reception::Discarded);
    bench.0.handle_error(Cause::SymbolCrc);
    bench.hear(pna(Cause::General), Stype1::RestartFromRetry);
    assert_eq!((bench.0.input(), bench.0.output()), (InputState::Normal, OutputState::Normal));
    bench.hear1(REQUEST);
    let response = Stype0::LinkResponse { ack_id_status: 0, port_status: PortStatus::Ok };
    let vc_status = |vcid| Stype0::VcStatus { vcid, buf_status: 4 };
    assert_eq!(bench.due(), [response, status(0, 6), vc_status(0), vc_status(4)], "but this is answered");
    for _ in 1..STATUS_RECEIVED {
        bench.status(9);
    }
    bench.0.handle_error(Cause::SymbolCrc);
    bench.status(9);
    assert_eq!(bench.due(), vec![status(0, 6); usize::from(STATUS_SENT)]);
    assert!(!bench.0.is_up(), "an error began the count anew");
    for _ in 1..STATUS_RECEIVED {
        assert_eq!(bench.events(), []);
        bench.status(9);
    }
    assert_eq!(bench.events(), [LinkEvent::Up(FlowControl::Transmitter)]);
    assert_eq!(bench.left(), Some((vc_status(0), NOP, None)));
    assert_eq!(bench.left(), Some((vc_status(4), SOP, Some((1, 0)))));
}

/// Shows: R2.2p6s5.5.3.1c0416, R2.2p6s5.5.3.1c0421
#[test]
fn what_was_outstanding_survives_a_loss_of_the_link() {
    let mut bench = Bench::up(quiet(), 9);
    bench.packet(meta(3), 0, Ok(()));
    bench.0.handle_error(Cause::SymbolCrc);
    bench.send(1);
    bench.0.submit(5, meta(0)).unwrap();
    bench.left();
    bench.events();
    bench.0.port_lost(0);
    assert_eq!(bench.events(), [LinkEvent::Down]);
    assert_eq!((bench.left(), bench.0.poll_timeout()), (None, None));
    assert_eq!(bench.0.input(), InputState::ErrorStopped);
    bench.0.port_initialized();
    for _ in 0..STATUS_RECEIVED {
        bench.status(9);
    }
    let started = std::iter::from_fn(|| bench.left()).find_map(|(_, _, start)| start);
    assert_eq!(started, Some((0, 0)), "the packet that was cut comes again, at once");
    assert!(bench.0.is_up());
    assert_eq!(bench.0.input(), InputState::ErrorStopped);
    assert_eq!(bench.0.expected_ack_id(), 1);
    bench.0.handle_timeout(100);
    assert_eq!(bench.end().1, REQUEST);
    bench.response(1);
    assert_eq!(bench.left().unwrap().2, Some((5, 1)), "it has arrived, and the next one goes");
}

/// Time without a link does not count for an acknowledgement: sent at 0 with a timeout of 100, the link lost
/// at 60 and again at 1 030, up at 1 000 and at 2 000, so with 60 and 30 behind it the timeout is over at 2
/// 010.
#[test]
fn timers_stand_still_while_the_link_is_down() {
    let mut bench = Bench::up(quiet(), 9);
    bench.send(1);
    assert_eq!(bench.0.poll_timeout(), Some(100));
    for (lost, back, deadline) in [(60, 1_000, 1_040), (1_030, 2_000, 2_010)] {
        bench.0.port_lost(lost);
        assert_eq!(bench.0.poll_timeout(), None);
        bench.0.port_initialized();
        for _ in 0..STATUS_RECEIVED {
            bench.0.handle_symbol(back, symbol(status(0, 9), NOP));
        }
        while !bench.0.is_up() {
            bench.0.poll_transmit(back, Opportunity::IDLE).expect("statuses leave until they are counted");
        }
        assert_eq!(bench.0.poll_timeout(), Some(deadline));
    }
}

/// Buffers that become free while the link is down are in the statuses of the initialisation, and one that
/// becomes free after the last of these is told when the link is up.
#[test]
fn what_is_freed_while_the_link_is_down_is_told() {
    let mut bench = Bench::up(quiet(), 9);
    for n in 0..3 {
        bench.packet(meta(0), n, Ok(()));
        bench.left();
    }
    let full = bench.0.buffers(0);
    bench.0.port_lost(0);
    bench.0.release(0);
    assert_eq!(bench.0.buffers(0).advertised(), full.advertised(), "there is nobody to tell");
    bench.0.port_initialized();
    bench.left();
    assert_eq!(bench.0.buffers(0).advertised(), full.free() + 1);
    bench.0.release(0);
    for _ in 0..STATUS_RECEIVED {
        bench.status(9);
    }
    while !bench.0.is_up() {
        bench.left().expect("statuses leave until they are counted");
    }
    while bench.left().is_some() {}
    assert_eq!(bench.0.buffers(0).advertised(), full.free() + 2);
}

/// The link is lost while a packet leaves. The partner has not taken it and answers nothing, so nothing is
/// waited for: when the link is back it goes first, with its ackID, and with as much credit as the
/// partner tells. A packet that was stomped, whose retry is lost with the link, is the same.
#[test]
fn a_packet_that_a_lost_link_cuts_is_sent_when_it_is_back() {
    for stomped in [false, true] {
        let mut bench = Bench::up(quiet(), 9);
        bench.0.submit(5, meta(0)).unwrap();
        assert_eq!(bench.left().unwrap().2, Some((5, 0)));
        if stomped {
            bench.0.stomp(false);
            assert_eq!(bench.end().1, Stype1::Stomp);
        }
        bench.0.submit(6, meta(0)).unwrap();
        bench.0.port_lost(0);
        bench.0.port_initialized();
        for _ in 0..STATUS_RECEIVED {
            // Priority 0 takes one of four free buffers, and leaves three to others.
            bench.status(4);
        }
        let started = |bench: &mut Bench| std::iter::from_fn(|| bench.left()).find_map(|(_, _, start)| start);
        assert_eq!(started(&mut bench), Some((5, 0)));
        bench.end();
        assert_eq!(bench.0.next_ack_id(), 1, "no credit for a second one");
        bench.hear(accept(0, 4), NOP);
        assert_eq!(started(&mut bench), Some((6, 1)));
    }
}

/// Shows: R2.2p6s3.5.5.1c0066, R2.2p6s3.5.5.1c0067, R2.2p6s3.5.5.1c0068, R1.3p6s3.5.5.1c0829,
/// R1.3p6s5.5c0830, R2.2p6s5.7c0464, R2.2p6s5.7c0465
#[test]
fn four_reset_requests_in_a_row() {
    let reset = symbol(status(0, 9), Stype1::LinkRequest(LinkRequest::ResetDevice));
    let asked = |bench: &mut Bench| bench.events().contains(&LinkEvent::ResetRequested);
    let mut bench = Bench::up(quiet(), 9);
    for _ in 0..2 {
        for _ in 0..3 {
            bench.0.handle_symbol(0, reset);
            bench.0.handle_symbol(0, symbol(status(0, 9), NOP));
            assert!(!asked(&mut bench));
        }
        bench.0.handle_symbol(0, reset);
        assert!(asked(&mut bench));
    }
    type Interruption = fn(&mut Bench);
    let interruptions: [Interruption; 5] = [
        |bench| bench.0.handle_symbol(0, symbol(status(0, 9), REQUEST)),
        |bench| bench.0.handle_symbol(0, symbol(status(0, 9), Stype1::MulticastEvent)),
        |bench| bench.0.handle_symbol(0, symbol(pna(Cause::General), NOP)),
        |bench| bench.0.handle_error(Cause::SymbolCrc),
        |bench| assert_eq!(bench.0.handle_packet(meta(0), 9, Ok(())), Reception::Discarded),
    ];
    for interrupt in interruptions {
        let mut bench = Bench::up(quiet(), 9);
        for _ in 0..3 {
            bench.0.handle_symbol(0, reset);
        }
        interrupt(&mut bench);
        bench.0.handle_symbol(0, reset);
        assert!(!asked(&mut bench));
    }
    assert_eq!(bench.due(), [], "no answer");
}

/// Shows: R2.2p6s5.5.3.4c0432, R2.2p6s5.5.3.3c0427, R1.3p6s5.3.3c0894, R1.3p6s5.3.3c0896,
/// R1.3p6s5.3.3c0899
#[test]
fn multicast_event_goes_first_and_inside_packets() {
    let mut bench = Bench::up(quiet(), 9);
    bench.0.submit(0, meta(0)).unwrap();
    bench.0.submit_multicast_event();
    assert_eq!(bench.left().unwrap().1, Stype1::MulticastEvent);
    assert_eq!(bench.left().unwrap().1, SOP);
    assert_eq!(bench.left_at(Opportunity::INSIDE), None);
    bench.packet(meta(3), 0, Ok(()));
    bench.0.submit_multicast_event();
    assert_eq!(bench.left_at(Opportunity::INSIDE), Some((accept(0, 5), Stype1::MulticastEvent, None)));
    bench.0.submit_multicast_event();
    assert_eq!(bench.end().1, EOP, "it does not delimit");
    assert_eq!(bench.left().unwrap().1, Stype1::MulticastEvent);
    bench.hear1(Stype1::MulticastEvent);
    assert_eq!(bench.events(), [LinkEvent::MulticastEvent]);
}

/// Shows: R2.2p6s3.1c0016, R1.3p6s3.1c0531
#[test]
fn undefined_functions_are_ignored_and_the_others_carried_out() {
    let mut bench = Bench::up(quiet(), 9);
    bench.send(1);
    bench.events();
    bench.hear(accept(0, 9), Stype1::Reserved { stype1: 6, cmd: 3 });
    assert_eq!(bench.events(), [LinkEvent::Acknowledged(0)]);
    bench.hear(Stype0::Reserved { parameter0: 1, parameter1: 2 }, Stype1::MulticastEvent);
    assert_eq!(bench.events(), [LinkEvent::MulticastEvent]);
    bench.hear(Stype0::ImplementationDefined { parameter0: 1, parameter1: 2 }, SOP);
    bench.hear1(Stype1::Reserved { stype1: 0, cmd: 1 });
    assert_eq!(bench.0.handle_packet(meta(3), 0, Ok(())), Reception::Accepted { channel: 0 });
    assert_eq!((bench.0.input(), bench.0.output()), (InputState::Normal, OutputState::Normal));
    // An undefined value in an informational field: the function is carried out.
    bench.hear(pna(Cause::Reserved(9)), NOP);
    assert_eq!(bench.0.output(), OutputState::ErrorStopped);
    bench.left();
    bench.hear(Stype0::LinkResponse { ack_id_status: 1, port_status: PortStatus::Reserved(7) }, NOP);
    assert_eq!(bench.0.output(), OutputState::Normal);
}

#[test]
fn polling_again_yields_nothing_and_no_deadline_lies_in_the_past() {
    let mut bench = Bench::up(Config { status_period: Some(50), ..quiet() }, 9);
    bench.send(2);
    for now in [100, 150, 151, 500] {
        bench.0.handle_timeout(now);
        while bench.0.poll_transmit(now, Opportunity::IDLE).is_some() {}
        let before = bench.0.clone();
        assert_eq!(bench.0.poll_transmit(now, Opportunity::IDLE), None);
        bench.0.handle_timeout(now);
        assert_eq!(bench.0, before, "a spurious timeout changes nothing");
        assert!(bench.0.poll_timeout().is_none_or(|deadline| deadline > now));
    }
}

#[test]
fn a_clean_port_can_be_handed_over_and_resumed() {
    let mut bench = Bench::up(quiet(), 5);
    bench.send(1);
    bench.accepted(0, 4);
    bench.send(1);
    bench.packet(meta(3), 0, Ok(()));
    assert!(bench.0.handover().is_none(), "an acknowledgement is due");
    bench.due();
    let handover = bench.0.handover().unwrap();
    assert_eq!((handover.next_ack_id, handover.told, handover.expected_ack_id), (2, 4, 1));
    assert_eq!((handover.occupied, handover.advertised), (1, 5));
    assert_eq!(handover.outstanding.len(), 1);
    bench.events();
    let mut resumed = Bench(LinkPort::resume(bench.0.config().clone(), handover).unwrap());
    assert_eq!(resumed.0.credit(0), bench.0.credit(0));
    assert_eq!(resumed.0.poll_timeout(), bench.0.poll_timeout());
    for bench in [&mut resumed, &mut bench] {
        bench.accepted(1, 4);
        assert_eq!(bench.events(), [LinkEvent::Acknowledged(0)]);
        assert_eq!(bench.send(1), [2]);
        assert_eq!(bench.packet(meta(3), 1, Ok(())), Reception::Accepted { channel: 0 });
        assert_eq!(bench.due(), [accept(1, 4)]);
        bench.0.handle_error(Cause::SymbolCrc);
        assert!(bench.0.handover().is_none());
    }
}

#[test]
fn a_port_can_take_over_in_the_middle_of_its_work() {
    let mut bench = Bench::up(quiet(), 5);
    bench.send(1);
    bench.0.submit(9, meta(0)).unwrap();
    assert_eq!(bench.left().unwrap().2, Some((9, 1)));
    bench.packet(meta(3), 0, Ok(()));
    bench.packet(meta(3), 1, Ok(()));
    bench.hear1(Stype1::StartOfPacket);
    let handover = Handover {
        flow: FlowControl::Transmitter,
        next_ack_id: 2,
        outstanding: vec![(0, meta(0), 0), (9, meta(0), 0)],
        transmitting: true,
        told: 5,
        expected_ack_id: 2,
        occupied: 2,
        advertised: 4,
        arriving: true,
        unsent: vec![Unsent::Accepted { free: 5 }, Unsent::Accepted { free: 4 }],
        channels: vec![],
    };
    let mut resumed = Bench(LinkPort::resume(bench.0.config().clone(), handover).unwrap());
    for bench in [&mut bench, &mut resumed] {
        assert_eq!(bench.end(), (accept(0, 5), Stype1::EndOfPacket, None));
        assert_eq!(bench.0.handle_packet(meta(3), 2, Ok(())), Reception::Accepted { channel: 0 });
        bench.hear1(Stype1::EndOfPacket);
        assert_eq!(bench.due(), [accept(1, 4), accept(2, 3)]);
        bench.accepted(0, 5);
        bench.accepted(1, 5);
        assert_eq!(bench.events(), [LinkEvent::Acknowledged(0), LinkEvent::Acknowledged(9)]);
        assert_eq!((bench.0.credit(0).free(), bench.0.outstanding()), (5, 0));
    }
}

/// Credit, buffers and packets of every channel go over.
#[test]
fn a_port_with_channels_can_be_handed_over_and_resumed() {
    let mut bench = Bench::up(vcs(2, VcConfig { buffers: 3, ..VcConfig::default() }), 5);
    for (vcid, buf_status) in [(0, 3), (4, 2)] {
        bench.hear(Stype0::VcStatus { vcid, buf_status }, NOP);
    }
    let (one, five) = (PacketMeta::of_vc(0, 40), PacketMeta::of_vc(4, 40));
    for (packet, meta) in [(7, five), (8, meta(0)), (9, five)] {
        bench.0.submit(packet, meta).unwrap();
    }
    assert_eq!((bench.0.waiting_in(0), bench.0.waiting_in(1), bench.0.waiting_in(2)), (1, 0, 2));
    assert!(bench.left().is_some());
    while bench.end().2.is_some() {}
    assert_eq!(bench.packet(five, 0, Ok(())), Reception::Accepted { channel: 2 });
    assert_eq!(bench.0.next_tells_of(), Some(2));
    bench.due();
    bench.events();
    let handover = bench.0.handover().unwrap();
    assert_eq!((handover.told, handover.outstanding.len()), (5, 3));
    let channel = |told, occupied, advertised| OpenChannel { told, occupied, advertised };
    assert_eq!(handover.channels, [channel(3, 0, 3), channel(2, 1, 2)]);
    let mut resumed = Bench(LinkPort::resume(bench.0.config().clone(), handover).unwrap());
    for channel in 0..3 {
        assert_eq!(resumed.0.credit(channel), bench.0.credit(channel));
        assert_eq!(resumed.0.buffers(channel), bench.0.buffers(channel));
    }
    assert_eq!(resumed.0.credit(2).free(), 0);
    for bench in [&mut bench, &mut resumed] {
        assert!(bench.0.would_start(one) && !bench.0.would_start(five));
        bench.accepted(0, 5);
        assert_eq!((bench.0.credit(0).free(), bench.0.outstanding()), (5, 2));
        bench.0.tell_channels();
        let vc_status = |vcid, buf_status| Stype0::VcStatus { vcid, buf_status };
        assert_eq!(bench.due(), [vc_status(0, 3), vc_status(4, 2)]);
    }
}

#[test]
fn configurations_that_contradict_themselves_are_refused() {
    let message = |config: Config| config.check().unwrap_err().to_string();
    assert_eq!(config().check(), Ok(()));
    assert_eq!(message(Config { hold: 32, ..config() }), "hold: 1 to 31 packets, 32 given");
    assert_eq!(message(Config { hold: 0, ..config() }), "hold: 1 to 31 packets, 0 given");
    assert_eq!(message(Config { queue: 0, ..config() }), "queue: at least 1 packet");
    assert_eq!(
        message(Config { buffers: 3, ..config() }),
        "buffers: at least the highest accept watermark, 4; 3 given"
    );
    let empty = VcConfig { buffers: 0, ..VcConfig::default() };
    assert!(message(vcs(1, empty)).starts_with("vcs: an active VC"));
    let mut config = vcs(2, VcConfig::default());
    config.vcs[0].traffic = Traffic::Continuous;
    assert_eq!(message(config), "vcs: continuous VCs come after all reliable ones");
    assert!(message(Config { link_timeout: 0, ..quiet() }).starts_with("link_timeout"));
    assert!(message(Config { response_attempts: Some(0), ..quiet() }).starts_with("response_attempts"));
    assert!(message(Config { vc0_share: Some(0), ..quiet() }).starts_with("vcs"));
}
