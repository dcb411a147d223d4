//! Acknowledgements, and what rides with what.

use super::common::meta;
use super::{Bench, EOP, NOP, REQUEST, SOP, accept, pna, quiet, status};
use lp_serial::control_symbol::{Cause, Form, PortStatus, Stype0};
use lp_serial::link::{
    Config, FlowControl, InputState, LinkEvent, Opportunity, OutputError, OutputState, Reception, Starting,
};

/// Shows: R1.3p6s3.4.1c0882, R1.3p6s3.4.1c0890, R1.3p6s5.4.2c0887, R1.3p6s5.6c0878, R1.3p6s5.6c0880,
/// R1.3p6s5.6c0889, R2.2p6s3.4c0024, R2.2p6s3.4c0025, R2.2p6s3.4.1c0029, R2.2p6s3.4.1c0030,
/// R2.2p6s5.8c0474, R2.2p6s5.8c0475
#[test]
fn every_packet_is_acknowledged_in_order_with_what_is_free_then() {
    let mut bench = Bench::up(quiet(), 6);
    for n in 0..70u8 {
        assert_eq!(bench.packet(meta(0), n % 32, Ok(())), Reception::Accepted { channel: 0 });
        assert_eq!(bench.due(), [accept(n % 32, 5)]);
        bench.0.release(0);
    }
    assert_eq!(bench.0.expected_ack_id(), 70 % 32);
}

/// Shows: R2.2p6s5.6.2c0444, R2.2p6s5.6.2c0445, R2.2p6s5.6.2c0446, R1.3p6s5.4.2c0836, R1.3p6s5.4.2c0837,
/// R1.3p6s5.4.2c0839, R1.3p6s5.6c0838
#[test]
fn ack_ids_count_up_and_the_window_is_one_less_than_there_are() {
    for (form, window) in [(Form::Short, 31), (Form::Long, 63)] {
        let config = Config { form, flow: FlowControl::Receiver, ..Config::new(form, 6) };
        let mut bench = Bench::up(config, form.parameter_max());
        assert_eq!(bench.send(window), (0..window).collect::<Vec<_>>());
        bench.0.submit(99, meta(3)).unwrap();
        assert_eq!(bench.left(), None, "the window is full");
        bench.accepted(0, window);
        let (_, stype1, packet) = bench.left().unwrap();
        assert_eq!((stype1, packet), (SOP, Some((99, window))), "the last ackID, then 0 again");
        bench.end();
        bench.accepted(1, window);
        bench.0.submit(100, meta(3)).unwrap();
        assert_eq!(bench.left().unwrap().2, Some((100, 0)));
    }
}

/// Shows: R1.3p6s5.11.2c0991, R1.3p6s5.11.2c0997, R1.3p6s5.11.2c0999, R1.3p6s5.11.2.3.1c1008,
/// R1.3p6s5.11.2.3.1c1009, R1.3p6s5.11.2.3.1c1010, R1.3p6s5.11.2.3.1c1012, R1.3p6s5.11.2.3.1c1016,
/// R1.3p6s5.11.2.3.1c1018, R1.3p6s5.11.2.7c1001, R2.2p6s5.13.2.3.1c0590, R2.2p6s5.13.2.3.1c0592,
/// R2.2p6s5.13.2.3.1c0593, R2.2p6s5.13.2.3.1c0594
#[test]
fn acknowledgements_out_of_place_stop_the_output_side_only() {
    let retry = |ack_id| Stype0::PacketRetry { ack_id, buf_status: 6 };
    let response = Stype0::LinkResponse { ack_id_status: 0, port_status: PortStatus::Ok };
    // Packets outstanding, function, error.
    let table = [
        (0, accept(0, 6), OutputError::AckId),
        (2, accept(1, 6), OutputError::AckId),
        (2, accept(2, 6), OutputError::AckId),
        (0, retry(0), OutputError::AckId),
        (2, retry(1), OutputError::AckId),
        (0, pna(Cause::PacketCrc), OutputError::NotAccepted(Cause::PacketCrc)),
        (2, response, OutputError::LinkResponse),
    ];
    for (outstanding, function, error) in table {
        let mut bench = Bench::up(quiet(), 9);
        bench.send(outstanding);
        bench.hear(function, NOP);
        assert_eq!(bench.events(), [LinkEvent::OutputError(error)], "{function:?}");
        assert_eq!(bench.0.output(), OutputState::ErrorStopped);
        assert_eq!(bench.0.input(), InputState::Normal);
        assert_eq!(bench.left().unwrap().1, REQUEST);
        assert_eq!(bench.left(), None, "one link-request");
    }
}

#[test]
fn a_packet_on_the_wire_cannot_be_accepted_yet() {
    let mut bench = Bench::up(quiet(), 9);
    bench.0.submit(0, meta(0)).unwrap();
    assert_eq!(bench.left().unwrap().1, SOP);
    bench.accepted(0, 9);
    assert_eq!(bench.0.output(), OutputState::ErrorStopped);
}

/// Shows: R1.3p6s5.2c0841, R2.2p6s3.3c0020
#[test]
fn acknowledgements_leave_before_a_packet_and_the_last_rides_on_its_start() {
    let mut bench = Bench::up(quiet(), 9);
    for ack_id in 0..3 {
        bench.packet(meta(3), ack_id, Ok(()));
    }
    bench.0.submit(7, meta(0)).unwrap();
    assert_eq!(bench.left(), Some((accept(0, 5), NOP, None)));
    assert_eq!(bench.left(), Some((accept(1, 4), NOP, None)));
    assert_eq!(bench.left(), Some((accept(2, 3), SOP, Some((7, 0)))));
    assert_eq!(bench.end(), (status(3, 3), EOP, None), "status when there is nothing else to say");
}

/// Shows: R1.3p6s5.4.1.2c0852, R1.3p6s5.4.1.2c0892, R2.2p6s3.4c0022, R2.2p6s3.5c0052, R2.2p6s3.5.1c0053,
/// R2.2p6s3.5.3c0057, R2.2p6s5.6.1c0434, R2.2p6s5.6.1.1c0438, R2.2p6s5.6.1.2c0439, R2.2p6s5.6.1.2c0440,
/// R2.2p6s5.6.1.2c0441
#[test]
fn a_start_of_packet_ends_the_packet_before_it() {
    let mut bench = Bench::up(quiet(), 9);
    bench.0.submit(0, meta(0)).unwrap();
    bench.0.submit(1, meta(0)).unwrap();
    assert_eq!(bench.left(), Some((status(0, 6), SOP, Some((0, 0)))));
    assert_eq!(bench.end(), (status(0, 6), SOP, Some((1, 1))));
    assert_eq!(bench.end(), (status(0, 6), EOP, None));
    assert_eq!(bench.left(), None);
}

#[test]
fn functions_of_the_owner_delay_a_packet() {
    let mut bench = Bench::up(quiet(), 9);
    bench.0.submit(0, meta(0)).unwrap();
    let more = Opportunity { starting: Starting::Not, ..Opportunity::IDLE };
    assert_eq!(bench.left_at(more), Some((status(0, 6), NOP, None)));
    assert_eq!(bench.left().unwrap().1, SOP);
    let more = Opportunity { starting: Starting::Not, ..Opportunity::END };
    bench.0.submit(1, meta(0)).unwrap();
    assert_eq!(bench.left_at(more), Some((status(0, 6), EOP, None)));
}

#[test]
fn a_committed_packet_is_not_pushed_back() {
    let mut bench = Bench::up(quiet(), 9);
    for ack_id in 0..2 {
        bench.packet(meta(3), ack_id, Ok(()));
    }
    bench.0.submit(7, meta(0)).unwrap();
    let committed = Opportunity { starting: Starting::Now, ..Opportunity::IDLE };
    assert_eq!(bench.left_at(committed), Some((accept(0, 5), SOP, Some((7, 0)))));
    assert_eq!(bench.end(), (accept(1, 4), EOP, None));
}
