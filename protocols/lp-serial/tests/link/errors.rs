//! Errors that the input side detects, and recovery of the output side.

use super::common::{meta, symbol};
use super::{Bench, EOP, NOP, REQUEST, SOP, accept, pna, quiet, status};
use lp_serial::control_symbol::{Cause, PortStatus, Stype0, Stype1};
use lp_serial::link::{
    Config, Fatal, InputState, LinkEvent, Opportunity, OutputError, OutputState, Reception,
};

/// Shows: R1.3p6s3.4.3c0884, R1.3p6s3.4.3c0918, R1.3p6s3.4.3c0919, R1.3p6s3.4.5c0823, R1.3p6s3.4.5c0826,
/// R1.3p6s3.4.5c0886, R1.3p6s5.11.2c0945, R1.3p6s5.11.2c0961, R1.3p6s5.11.2.2c0946, R1.3p6s5.11.2.2c0949,
/// R1.3p6s5.11.2.3.2c0960, R1.3p6s5.11.2.4c0957, R1.3p6s5.11.2.4c0959, R1.3p6s5.11.2.6c0962,
/// R1.3p6s5.11.2.6c0987, R1.3p6s5.11.2.6c0988, R1.3p6s5.11.2.6c0989, R1.3p6s5.11.2.6c0990,
/// R1.3p6s5.5c0831, R1.3p6s5.5c0832, R1.3p6s5.5c0833, R2.2p6s3.5.5.2c0070, R2.2p6s5.13.2.1c0574,
/// R2.2p6s5.13.2.1c0575, R2.2p6s5.13.2.1c0576, R2.2p6s5.13.2.1c0577, R2.2p6s5.13.2.2.1c0580,
/// R2.2p6s5.13.2.2.2r0001, R2.2p6s5.13.2.2.2c0581, R2.2p6s5.13.2.3.2c0598, R2.2p6s5.13.2.3.2c0599,
/// R2.2p6s5.13.2.3.2c0600, R2.2p6s5.13.2.3.2c0601, R2.2p6s5.13.2.4c0604, R2.2p6s5.13.2.4c0605,
/// R2.2p6s5.13.2.4c0606, R2.2p6s5.13.2.4c0607, R2.2p6s5.13.2.4c0608, R2.2p6s5.13.2.4c0609,
/// R2.2p6s5.13.2.6c0611, R2.2p6s5.13.2.6c0612, R2.2p6s5.13.2.6c0613, R2.2p6s5.13.2.6c0614,
/// R2.2p6s5.13.2.6c0615, R2.2p6s5.13.2.6c0616, R2.2p6s5.13.2.6c0619, R2.2p6s5.13.2.6c0620,
/// R2.2p6s5.13.2.6c0621, R2.2p6s5.13.2.6c0622, R2.2p6s5.13.2.6c0623, R2.2p6s5.13.2.6c0624,
/// R2.2p6s5.13.2.6c0625, R2.2p6s5.13.2.6c0626, R2.2p6s5.13.2.6c0628, R2.2p6s5.7c0460, R2.2p6s5.7c0466,
/// R2.2p6s5.7c0469
#[test]
fn every_input_error_is_answered_and_recovered_from() {
    type Mistake = fn(&mut Bench);
    let table: [(Mistake, Cause); 8] = [
        (|bench| assert_eq!(bench.packet(meta(3), 5, Ok(())), Reception::Discarded), Cause::UnexpectedAckId),
        (
            |bench| assert_eq!(bench.packet(meta(3), 1, Err(Cause::PacketCrc)), Reception::Discarded),
            Cause::PacketCrc,
        ),
        (
            |bench| assert_eq!(bench.packet(meta(3), 1, Err(Cause::IllegalCharacter)), Reception::Discarded),
            Cause::IllegalCharacter,
        ),
        // Too long: none of the listed causes.
        (
            |bench| assert_eq!(bench.packet(meta(3), 1, Err(Cause::General)), Reception::Discarded),
            Cause::General,
        ),
        (|bench| bench.0.handle_error(Cause::SymbolCrc), Cause::SymbolCrc),
        (|bench| bench.0.handle_error(Cause::IllegalCharacter), Cause::IllegalCharacter),
        (|bench| bench.0.handle_error(Cause::DescramblerSync), Cause::DescramblerSync),
        (|bench| bench.0.handle_header(9), Cause::UnexpectedAckId),
    ];
    for (mistake, cause) in table {
        let mut bench = Bench::up(quiet(), 9);
        bench.packet(meta(3), 0, Ok(()));
        mistake(&mut bench);
        assert_eq!(bench.0.input(), InputState::ErrorStopped, "{cause:?}");
        assert_eq!(bench.0.output(), OutputState::Normal);
        assert_eq!(bench.events(), [LinkEvent::InputError(cause)]);
        // Packets are discarded without a word, further errors are not reported.
        assert_eq!(bench.packet(meta(3), 1, Ok(())), Reception::Discarded);
        bench.0.handle_error(Cause::SymbolCrc);
        bench.hear1(Stype1::RestartFromRetry);
        bench.hear1(Stype1::Stomp);
        assert_eq!(bench.due(), [accept(0, 5), pna(cause)]);
        assert_eq!(bench.events(), []);
        bench.hear1(REQUEST);
        assert_eq!(bench.0.input(), InputState::Normal);
        let port_status = PortStatus::ErrorStopped;
        let response = Stype0::LinkResponse { ack_id_status: 1, port_status };
        assert_eq!(bench.packet(meta(3), 1, Ok(())), Reception::Accepted { channel: 0 });
        assert_eq!(bench.due(), [response, status(2, 5), accept(1, 4)], "in this order");
    }
}

/// Shows: R2.2p6s5.13.2.3.1c0588, R2.2p6s5.13.2.3.1c0589, R1.3p6s5.11.2.3.1c1011, R1.3p6s5.11.2.3.1c1013,
/// R1.3p6s5.11.2.3.1c1014, R1.3p6s5.11.2.3.1c1015, R2.2p6s5.10c0524
#[test]
fn stype1_out_of_place_stops_the_input_side() {
    for function in [Stype1::RestartFromRetry, Stype1::Stomp, EOP] {
        let mut bench = Bench::up(quiet(), 9);
        bench.hear1(function);
        assert_eq!(bench.0.input(), InputState::ErrorStopped, "{function:?}");
        assert_eq!(bench.0.output(), OutputState::Normal);
        assert_eq!(bench.due(), [pna(Cause::General)]);
    }
    // Also in the middle of a packet, which is cancelled by it.
    let mut bench = Bench::up(quiet(), 9);
    bench.hear1(SOP);
    bench.hear1(Stype1::RestartFromRetry);
    assert_eq!(bench.due(), [pna(Cause::General)]);
    // A second link-request before the answer to the first has left.
    let mut bench = Bench::up(quiet(), 9);
    bench.hear1(REQUEST);
    bench.hear1(REQUEST);
    let response = Stype0::LinkResponse { ack_id_status: 0, port_status: PortStatus::Ok };
    assert_eq!(bench.due(), [response, status(0, 6), pna(Cause::General)]);
}

/// Shows: R1.3p6s5.11.2.6c1035, R1.3p6s5.11.2.6c1037, R1.3p6s5.11.2.6c1039, R1.3p6s5.11.2.6c1041,
/// R2.2p6s5.13.2.3.1c0591
#[test]
fn both_sides_can_be_stopped_at_once() {
    let mut bench = Bench::up(quiet(), 9);
    bench.0.handle_symbol(0, symbol(accept(3, 9), EOP));
    assert_eq!((bench.0.input(), bench.0.output()), (InputState::ErrorStopped, OutputState::ErrorStopped));
    assert_eq!(bench.left(), Some((pna(Cause::General), REQUEST, None)));
    bench.response(0);
    assert_eq!((bench.0.input(), bench.0.output()), (InputState::ErrorStopped, OutputState::Normal));
    bench.hear1(REQUEST);
    assert_eq!(bench.0.input(), InputState::Normal);
}

/// Shows: R1.3p6s3.4.5c0827, R1.3p6s5.5c0822, R2.2p6s3.4.6c0047, R2.2p6s3.4.6c0048, R2.2p6s3.5.5.2c0069,
/// R2.2p6s5.7c0470, R2.2p6s5.9.2c0504
#[test]
fn a_link_request_out_of_the_blue_is_answered() {
    let mut bench = Bench::up(quiet(), 9);
    bench.hear1(REQUEST);
    let response = Stype0::LinkResponse { ack_id_status: 0, port_status: PortStatus::Ok };
    assert_eq!(bench.due(), [response, status(0, 6)]);
}

/// Shows: R1.3p6s5.11.2c0993, R1.3p6s5.11.2.6c1045, R1.3p6s5.11.2.7c1002, R1.3p6s5.11.2.7c1003,
/// R1.3p6s5.11.2.7c1004, R1.3p6s5.11.2.7c1005, R1.3p6s5.11.2.7c1006, R1.3p6s5.11.2.7c1007,
/// R1.3p6s5.5c0834, R1.3p6s5.5c0835, R2.2p6s3.5.5c0062, R2.2p6s5.13.2c0570, R2.2p6s5.13.2c0571,
/// R2.2p6s5.13.2.7c0630, R2.2p6s5.13.2.7c0631, R2.2p6s5.13.2.7c0632, R2.2p6s5.13.2.7c0633,
/// R2.2p6s5.13.2.7c0635, R2.2p6s5.7c0459, R2.2p6s5.7c0463, R2.2p6s5.8c0477, R2.2p6s5.8c0478
#[test]
fn packets_that_did_not_arrive_are_sent_again() {
    let mut bench = Bench::up(quiet(), 9);
    assert_eq!(bench.send(4), [0, 1, 2, 3]);
    bench.hear(pna(Cause::PacketCrc), NOP);
    bench.0.submit(9, meta(3)).unwrap();
    assert_eq!(bench.left().unwrap().1, REQUEST);
    assert_eq!(bench.left(), None, "no packet, and no second request");
    // Further errors and acknowledgements do not matter.
    bench.hear(pna(Cause::SymbolCrc), NOP);
    bench.accepted(3, 9);
    bench.accepted(0, 9);
    assert_eq!(bench.left(), None);
    bench.events();
    bench.response(2);
    let events = bench.events();
    assert_eq!(events, [LinkEvent::Acknowledged(0), LinkEvent::Acknowledged(1), LinkEvent::Recovered(2)]);
    bench.status(9);
    assert_eq!(bench.left().unwrap().2, Some((9, 2)), "by priority, with the ackID that is expected");
    assert_eq!(bench.end().2, Some((2, 3)));
    assert_eq!(bench.end().2, Some((3, 4)));
}

/// Shows: R1.3p6s5.11.1c0707, R1.3p6s5.11.2c0995, R2.2p6s5.13.1c0566, R2.2p6s5.13.2.1c0579,
/// R2.2p6s5.13.2.3.1c0595, R2.2p6s5.13.2.5c0610
#[test]
fn timeouts() {
    let mut bench = Bench::up(Config { response_attempts: Some(2), ..quiet() }, 9);
    bench.0.handle_timeout(u64::MAX);
    assert_eq!(bench.events(), [], "nothing is outstanding");
    bench.send(1);
    assert_eq!(bench.0.poll_timeout(), Some(100));
    bench.0.handle_timeout(99);
    assert_eq!(bench.events(), []);
    bench.0.handle_timeout(100);
    let timeout = |timer| LinkEvent::OutputError(OutputError::Timeout(timer));
    assert_eq!(bench.events(), [timeout(lp_serial::link::LinkTimer::Acknowledgement)]);
    assert_eq!(bench.left().unwrap().1, REQUEST);
    assert_eq!(bench.0.poll_timeout(), Some(100));
    bench.0.handle_timeout(100);
    assert_eq!(bench.events(), [timeout(lp_serial::link::LinkTimer::LinkResponse)]);
    assert_eq!(bench.left().unwrap().1, REQUEST, "asked again");
    bench.0.handle_timeout(100);
    assert_eq!(bench.events(), [LinkEvent::Fatal(Fatal::NoResponse { attempts: 2 })]);
    assert!(bench.0.has_failed());
    assert_eq!((bench.0.poll_timeout(), bench.left()), (None, None));
    assert_eq!(bench.0.reset(), [0], "the packet comes back");
    assert!(!bench.0.is_up());
}

/// Shows: R2.2p6s5.9.1.5c0499
#[test]
fn the_timer_is_that_of_the_oldest_packet() {
    let mut bench = Bench::up(quiet(), 9);
    for (at, packet) in [(10, 0), (20, 1)] {
        bench.0.submit(packet, meta(0)).unwrap();
        bench.0.poll_transmit(at, Opportunity::IDLE).unwrap();
        bench.0.poll_transmit(at, Opportunity::END).unwrap();
    }
    assert_eq!(bench.0.poll_timeout(), Some(110));
    bench.accepted(0, 9);
    assert_eq!(bench.0.poll_timeout(), Some(120));
    bench.accepted(1, 9);
    assert_eq!(bench.0.poll_timeout(), None);
}

/// Shows: R1.3p6s5.11.2.3.1c1022
#[test]
fn an_ack_id_that_makes_no_sense_is_fatal() {
    for (found, fatal) in [(0, false), (2, false), (3, true), (31, true)] {
        let mut bench = Bench::up(quiet(), 9);
        bench.send(2);
        bench.hear(pna(Cause::General), NOP);
        bench.left();
        bench.events();
        bench.response(found);
        let expected = LinkEvent::Fatal(Fatal::AckId { oldest: 0, outstanding: 2, found });
        assert_eq!(bench.events().contains(&expected), fatal, "ackID {found}");
        assert_eq!(bench.0.has_failed(), fatal);
        // The input side goes on.
        assert_eq!(bench.packet(meta(0), 0, Ok(())), Reception::Accepted { channel: 0 });
        assert!(bench.left().is_some());
    }
}

#[test]
fn ack_id_in_packet_not_accepted_saves_the_wait() {
    let config = Config { ack_id_in_pna: true, ..quiet() };
    let mut bench = Bench::up(config.clone(), 9);
    assert_eq!(bench.send(3), [0, 1, 2]);
    bench.hear(Stype0::PacketNotAccepted { arbitrary: 1, cause: Cause::PacketCrc }, NOP);
    assert_eq!(bench.left().unwrap().1, REQUEST);
    assert!(bench.events().contains(&LinkEvent::Acknowledged(0)));
    assert_eq!(bench.left().unwrap().2, Some((1, 1)), "without waiting for the answer");
    assert_eq!(bench.end().2, Some((2, 2)));
    assert_eq!(bench.end().1, EOP);
    bench.response(1);
    assert_eq!(bench.0.output(), OutputState::Normal);
    assert_eq!(bench.0.outstanding(), 2, "the answer changes nothing");
    // An error before the answer: it is awaited, then asked again.
    bench.hear(Stype0::PacketNotAccepted { arbitrary: 2, cause: Cause::PacketCrc }, NOP);
    bench.left();
    bench.hear(Stype0::PacketNotAccepted { arbitrary: 2, cause: Cause::PacketCrc }, NOP);
    assert_eq!(bench.left(), None, "only one request may be outstanding");
    bench.response(2);
    assert_eq!(bench.left().unwrap().1, REQUEST);
    bench.response(2);
    assert_eq!(bench.0.output(), OutputState::Normal);
    // An ackID that is not outstanding is not believed.
    let mut bench = Bench::up(config.clone(), 9);
    bench.send(1);
    bench.hear(Stype0::PacketNotAccepted { arbitrary: 9, cause: Cause::PacketCrc }, NOP);
    bench.left();
    assert_eq!(bench.0.output(), OutputState::ErrorStopped);
    // The other side tells it.
    let mut bench = Bench::up(config, 9);
    bench.packet(meta(3), 0, Ok(()));
    bench.0.handle_error(Cause::SymbolCrc);
    let pna = Stype0::PacketNotAccepted { arbitrary: 1, cause: Cause::SymbolCrc };
    assert_eq!(bench.due(), [accept(0, 5), pna]);
}
