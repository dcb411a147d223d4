//! packet-retry, and cancelled packets.

use super::common::meta;
use super::{Bench, EOP, NOP, REQUEST, SOP, accept, pna, quiet, receiver, status, vcs};
use lp_serial::control_symbol::{Cause, LinkRequest, PortStatus, Stype0, Stype1};
use lp_serial::link::{
    Config, FlowControl, InputState, LinkEvent, Opportunity, OutputError, OutputState, PacketMeta, Reception,
    VcConfig,
};

/// Shows: R1.3p6s3.4.2c0883, R1.3p6s3.4.5c0825, R1.3p6s5.7.1c0915, R1.3p6s5.7.1c0937,
/// R1.3p6s5.7.2.1c0906, R1.3p6s5.7.2.1c0908, R1.3p6s5.7.2.1c0909, R1.3p6s5.7.2.1c0910,
/// R1.3p6s5.7.2.1c0911, R1.3p6s5.7.2.1c0912, R2.2p6s3.4.2c0033, R2.2p6s5.12c0561, R2.2p6s5.9.1c0485,
/// R2.2p6s5.9.1c0486, R2.2p6s5.9.1.3c0490, R2.2p6s5.9.1.4c0494, R2.2p6s5.9.1.4c0495, R2.2p6s5.9.1.4c0496
#[test]
fn a_packet_without_room_is_retried_until_the_sender_restarts() {
    let mut bench = Bench::up(receiver(), 31);
    // Six buffers, watermarks 4, 3, 2, 1: three packets of priority 0 fit.
    for ack_id in 0..3 {
        assert_eq!(bench.packet(meta(0), ack_id, Ok(())), Reception::Accepted { channel: 0 });
    }
    assert_eq!(bench.packet(meta(0), 3, Ok(())), Reception::Discarded);
    assert_eq!(bench.0.input(), InputState::RetryStopped);
    assert_eq!(bench.events(), [LinkEvent::InputRetry]);
    // Ignored, sound or not, without a word.
    assert_eq!(bench.packet(meta(3), 3, Ok(())), Reception::Discarded);
    assert_eq!(bench.packet(meta(3), 4, Err(Cause::PacketCrc)), Reception::Discarded);
    let retry = Stype0::PacketRetry { ack_id: 3, buf_status: 31 };
    assert_eq!(bench.due(), [accept(0, 31), accept(1, 31), accept(2, 31), retry]);
    bench.hear1(Stype1::RestartFromRetry);
    assert_eq!(bench.0.input(), InputState::Normal);
    // A higher priority has room; then link-request ends a retry as well.
    assert_eq!(bench.packet(meta(1), 3, Ok(())), Reception::Accepted { channel: 0 });
    assert_eq!(bench.packet(meta(1), 4, Ok(())), Reception::Discarded);
    bench.hear1(REQUEST);
    assert_eq!(bench.0.input(), InputState::Normal);
    let retry = Stype0::PacketRetry { ack_id: 4, buf_status: 31 };
    let port_status = PortStatus::RetryStopped;
    let response = Stype0::LinkResponse { ack_id_status: 4, port_status };
    assert_eq!(bench.due(), [accept(3, 31), retry, response, status(4, 31)]);
    // An error while retry-stopped.
    assert_eq!(bench.packet(meta(1), 4, Ok(())), Reception::Discarded);
    bench.0.handle_error(Cause::SymbolCrc);
    assert_eq!(bench.0.input(), InputState::ErrorStopped);
}

/// Shows: R1.3p6s5.10c0914, R1.3p6s5.10c0917, R1.3p6s5.10c0930, R2.2p6s5.12c0556, R2.2p6s5.12c0557,
/// R2.2p6s5.12c0558, R2.2p6s5.12c0560
#[test]
fn a_priority_is_accepted_unless_its_own_or_higher_ones_wait() {
    // Any packets of lower priorities that were accepted leave room for one of the next.
    for lower in 0..3u8 {
        let mut bench = Bench::up(receiver(), 31);
        let mut ack_id = 0;
        while matches!(bench.packet(meta(lower), ack_id, Ok(())), Reception::Accepted { .. }) {
            ack_id += 1;
        }
        bench.hear1(Stype1::RestartFromRetry);
        for higher in lower + 1..4 {
            assert_eq!(bench.packet(meta(higher), ack_id, Ok(())), Reception::Accepted { channel: 0 });
            ack_id += 1;
        }
    }
}

/// Shows: R1.3p6s5.10c0931, R1.3p6s5.7.2.2c0858, R1.3p6s5.7.2.2c0860, R1.3p6s5.7.2.2c0864,
/// R1.3p6s5.7.2.2c0866, R1.3p6s5.7.2.2c0868, R2.2p6s3.5.4c0059, R2.2p6s5.11c0534, R2.2p6s5.12c0559,
/// R2.2p6s5.9.1.3c0492, R2.2p6s5.9.1.5c0498, R2.2p6s5.9.1.5c0499, R2.2p6s5.9.1.5c0500,
/// R2.2p6s5.9.1.5c0501, R2.2p6s5.9.1.5c0502, R2.2p6s5.9.2c0511
#[test]
fn after_a_retry_the_highest_priority_goes_first_with_the_retried_ack_id() {
    let mut bench = Bench::up(receiver(), 31);
    assert_eq!(bench.send(3), [0, 1, 2]);
    bench.accepted(0, 31);
    bench.events();
    bench.hear(Stype0::PacketRetry { ack_id: 1, buf_status: 31 }, NOP);
    assert_eq!(bench.0.output(), OutputState::RetryStopped);
    assert_eq!(bench.events(), [LinkEvent::OutputRetry]);
    assert_eq!(bench.0.poll_timeout(), None, "nothing outstanding is timed");
    bench.0.submit(8, meta(2)).unwrap();
    assert!(bench.0.wants_symbol(), "restart-from-retry rides on nothing: no packet leaves before it");
    assert_eq!(bench.left().unwrap().1, Stype1::RestartFromRetry);
    assert!(!bench.0.wants_symbol());
    assert_eq!(bench.0.output(), OutputState::Normal);
    assert_eq!(bench.left().unwrap().2, Some((8, 1)), "higher priority, retried ackID");
    assert_eq!(bench.end().2, Some((1, 2)), "then the retried packets in their order");
    assert_eq!(bench.end().2, Some((2, 3)));
}

/// Shows: R1.3p6s5.7.2.2c0862, R2.2p6s3.5.4c0060, R2.2p6s5.10c0528, R1.3p6s3.5.4c0855, R1.3p6s5.8c0902
#[test]
fn a_packet_on_the_wire_is_cut_or_ends_first() {
    for cancel in [true, false] {
        let mut bench = Bench::up(Config { cancel, ..receiver() }, 31);
        bench.0.submit(0, meta(0)).unwrap();
        bench.0.submit(1, meta(0)).unwrap();
        assert_eq!(bench.left().unwrap().2, Some((0, 0)));
        assert_eq!(bench.end().2, Some((1, 1)));
        assert!(!bench.0.wants_cancel());
        bench.hear(Stype0::PacketRetry { ack_id: 0, buf_status: 31 }, NOP);
        assert_eq!(bench.0.wants_cancel(), cancel);
        let at = if cancel { Opportunity::INSIDE } else { Opportunity::END };
        if !cancel {
            assert_eq!(bench.left_at(Opportunity::INSIDE), None);
        }
        assert_eq!(bench.left_at(at).unwrap().1, Stype1::RestartFromRetry);
        assert_eq!(bench.left().unwrap().2, Some((0, 0)));
        assert_eq!(bench.end().2, Some((1, 1)));
    }
}

/// Shows: R2.2p6s3.4.2c0034, R2.2p6s3.4.3c0036, R2.2p6s5.13.2.3.1c0596, R2.2p6s5.13.2.3.1c0597,
/// R2.2p6s5.9.1.1r0001, R2.2p6s5.9.1.1c0487, R2.2p6s5.9.1.1r0002
#[test]
fn with_several_vcs_there_is_no_retry() {
    let config =
        Config { flow: FlowControl::Receiver, ..vcs(1, VcConfig { buffers: 1, ..VcConfig::default() }) };
    let mut bench = Bench::up(config, 63);
    let vc1 = PacketMeta { vc: true, ..meta(0) };
    assert_eq!(bench.packet(vc1, 0, Ok(())), Reception::Accepted { channel: 1 });
    assert_eq!(bench.packet(vc1, 1, Ok(())), Reception::Discarded);
    assert_eq!(bench.0.input(), InputState::ErrorStopped);
    assert_eq!(bench.due(), [accept(0, 63), pna(Cause::LackOfResources)]);
    bench.hear1(REQUEST);
    let port_status = PortStatus::ErrorStopped;
    let response = Stype0::LinkResponse { ack_id_status: 1, port_status };
    let vc_status = Stype0::VcStatus { vcid: 0, buf_status: 63 };
    assert_eq!(bench.due(), [response, status(1, 63), vc_status]);
    bench.send(1);
    bench.hear(Stype0::PacketRetry { ack_id: 0, buf_status: 63 }, NOP);
    assert!(bench.events().contains(&LinkEvent::OutputError(OutputError::Retry)));
    // With one VC a VC_status means nothing, and is no error.
    let mut bench = Bench::up(quiet(), 9);
    bench.hear(Stype0::VcStatus { vcid: 3, buf_status: 1 }, NOP);
    assert_eq!((bench.events(), bench.due()), (vec![], vec![]));
    assert_eq!(bench.0.credit(0).free(), 9);
}

/// Shows: R1.3p6s3.5.5c0532, R1.3p6s5.11.2.4c0958, R1.3p6s5.7.2.1c0907, R1.3p6s5.8c0903, R1.3p6s5.8c0904,
/// R1.3p6s5.8c0905, R2.2p6s3.5.5c0063, R2.2p6s5.10c0520, R2.2p6s5.10c0521, R2.2p6s5.10c0522,
/// R2.2p6s5.10c0523, R2.2p6s5.10c0525, R2.2p6s5.10c0526, R2.2p6s5.10c0527, R2.2p6s5.6.1.2c0442
#[test]
fn cancelled_packets() {
    let mut bench = Bench::up(quiet(), 9);
    bench.hear1(SOP);
    bench.hear1(Stype1::Stomp);
    assert_eq!(bench.0.input(), InputState::RetryStopped);
    assert_eq!(bench.due(), [Stype0::PacketRetry { ack_id: 0, buf_status: 6 }]);
    assert_eq!(bench.packet(meta(0), 0, Ok(())), Reception::Discarded);
    assert_eq!(bench.due(), []);
    bench.hear1(Stype1::RestartFromRetry);
    assert_eq!(bench.packet(meta(0), 0, Ok(())), Reception::Accepted { channel: 0 });

    let mut bench = Bench::up(quiet(), 9);
    bench.hear1(SOP);
    bench.hear1(REQUEST);
    assert_eq!(bench.0.input(), InputState::Normal);
    assert_eq!(bench.events(), [], "dropped without an error");

    // An undefined link-request cancels the packet and does nothing else.
    for function in [Stype1::LinkRequest(LinkRequest::ResetPort), Stype1::Reserved { stype1: 4, cmd: 7 }] {
        let mut bench = Bench::up(quiet(), 9);
        bench.hear1(SOP);
        bench.hear1(function);
        assert_eq!((bench.events(), bench.due()), (vec![], vec![]));
        bench.hear1(EOP);
        assert_eq!(bench.0.input(), InputState::ErrorStopped, "no packet was in progress any more");
    }

    // The ackID of a packet that is cancelled later counts.
    let mut bench = Bench::up(quiet(), 9);
    bench.hear1(SOP);
    bench.0.handle_header(4);
    bench.hear1(Stype1::Stomp);
    assert_eq!(bench.due(), [pna(Cause::UnexpectedAckId)]);

    let mut bench = Bench::up(vcs(1, VcConfig::default()), 9);
    bench.hear1(SOP);
    bench.hear1(Stype1::Stomp);
    assert_eq!(bench.0.input(), InputState::ErrorStopped);
    assert_eq!(bench.due(), [pna(Cause::General)]);
}

/// Shows: R2.2p6s3.5.2c0055, R2.2p6s5.10c0519, R1.3p6s3.5.2c0854
#[test]
fn a_stomped_packet_comes_again_or_goes_for_good() {
    for withdraw in [false, true] {
        let mut bench = Bench::up(quiet(), 9);
        bench.0.submit(0, meta(0)).unwrap();
        bench.0.submit(1, meta(0)).unwrap();
        assert_eq!(bench.left().unwrap().2, Some((0, 0)));
        bench.0.stomp(withdraw);
        assert!(bench.0.wants_cancel());
        assert_eq!(bench.left_at(Opportunity::INSIDE).unwrap().1, Stype1::Stomp);
        assert_eq!(bench.left(), None, "what follows would be ignored");
        bench.hear(Stype0::PacketRetry { ack_id: 0, buf_status: 9 }, NOP);
        let withdrawn = bench.events().contains(&LinkEvent::Withdrawn(0));
        assert_eq!(withdrawn, withdraw);
        assert_eq!(bench.left().unwrap().1, Stype1::RestartFromRetry);
        assert_eq!(bench.left().unwrap().2, Some((u8::from(withdraw), 0)));
    }
    // The retry of an earlier packet comes first and puts the one on the wire back.
    let mut bench = Bench::up(quiet(), 9);
    bench.0.submit(0, meta(0)).unwrap();
    bench.0.submit(1, meta(0)).unwrap();
    bench.left();
    bench.end();
    bench.hear(Stype0::PacketRetry { ack_id: 0, buf_status: 9 }, NOP);
    bench.0.stomp(true);
    assert!(bench.events().contains(&LinkEvent::Withdrawn(1)));
    assert_eq!(bench.left_at(Opportunity::INSIDE).unwrap().1, Stype1::RestartFromRetry);
    assert_eq!(bench.left().unwrap().2, Some((0, 0)));
    assert_eq!(bench.end().1, EOP);
}
