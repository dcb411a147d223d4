//! One port and its rules, symbol by symbol.

mod common;

use common::{config, meta, symbol, with_vcs};
use lp_serial::control_symbol::{Cause, Form, LinkRequest, PortStatus, Stype0, Stype1};
use lp_serial::link::{
    Channels, Config, Fatal, FlowControl, InputState, LinkEvent, LinkPort, Opportunity, OutputError,
    OutputState, PacketMeta, Place, Reception, STATUS_RECEIVED, STATUS_SENT, Traffic, VcConfig,
};

const REQUEST: Stype1 = Stype1::LinkRequest(LinkRequest::InputStatus);
const SOP: Stype1 = Stype1::StartOfPacket;
const EOP: Stype1 = Stype1::EndOfPacket;
const NOP: Stype1 = Stype1::Nop;

/// What left: the functions, and the packet with its ackID.
type Left = (Stype0, Stype1, Option<(u8, u8)>);

/// A port under test; the test is its partner and its driver.
struct Bench(LinkPort<u8>);

impl Bench {
    /// The link is up; the partner has told `told` as its buf_status.
    fn up(config: Config, told: u8) -> Self {
        let mut bench = Self(LinkPort::new(config).unwrap());
        bench.0.port_initialized();
        for _ in 0..STATUS_RECEIVED {
            bench.status(told);
        }
        while bench.left().is_some() {}
        assert!(bench.0.is_up());
        bench.events();
        bench
    }

    fn status(&mut self, told: u8) {
        self.hear(Stype0::Status { ack_id_status: 0, buf_status: told }, NOP);
    }

    fn hear(&mut self, stype0: Stype0, stype1: Stype1) {
        self.0.handle_stype0(0, stype0);
        self.0.handle_stype1(stype1);
    }

    /// A stype1 function alone.
    fn hear1(&mut self, stype1: Stype1) {
        self.hear(Stype0::Reserved { parameter0: 0, parameter1: 0 }, stype1);
    }

    /// A packet with its start and its end.
    fn packet(&mut self, meta: PacketMeta, ack_id: u8, checked: Result<(), Cause>) -> Reception {
        self.hear1(SOP);
        let reception = self.0.handle_packet(meta, ack_id, checked);
        self.hear1(EOP);
        reception
    }

    fn left_at(&mut self, at: Opportunity) -> Option<Left> {
        let transmit = self.0.poll_transmit(0, at)?;
        let packet = transmit.packet.map(|start| (start.packet, start.ack_id));
        Some((transmit.symbol.stype0(), transmit.symbol.stype1(), packet))
    }

    /// What leaves next, on an idle direction.
    fn left(&mut self) -> Option<Left> {
        self.left_at(Opportunity::IDLE)
    }

    /// What follows a whole packet.
    fn end(&mut self) -> Left {
        self.left_at(Opportunity::END).unwrap()
    }

    /// Sends `count` packets; their ackIDs. The last is ended by an end-of-packet.
    fn send(&mut self, count: u8) -> Vec<u8> {
        for packet in 0..count {
            self.0.submit(packet, meta(0)).unwrap();
        }
        let mut ids = Vec::new();
        let mut next = self.left();
        while let Some((_, SOP, Some((_, ack_id)))) = next {
            ids.push(ack_id);
            next = Some(self.end());
        }
        ids
    }

    fn events(&mut self) -> Vec<LinkEvent<u8>> {
        std::iter::from_fn(|| self.0.poll_event()).collect()
    }

    /// The stype0 functions that are due.
    fn due(&mut self) -> Vec<Stype0> {
        std::iter::from_fn(|| self.left()).map(|(stype0, ..)| stype0).collect()
    }

    fn response(&mut self, ack_id_status: u8) {
        self.hear(Stype0::LinkResponse { ack_id_status, port_status: PortStatus::Ok }, NOP);
    }

    fn accepted(&mut self, ack_id: u8, buf_status: u8) {
        self.hear(Stype0::PacketAccepted { ack_id, buf_status }, NOP);
    }
}

fn quiet() -> Config {
    Config { status_period: None, link_timeout: 100, ..config() }
}

fn receiver() -> Config {
    Config { flow: FlowControl::Receiver, ..quiet() }
}

fn vcs(count: usize, vc: VcConfig) -> Config {
    let channels = [Channels::None, Channels::One, Channels::Two][count];
    Config { status_period: None, link_timeout: 100, ..with_vcs(channels, &vec![vc; count]) }
}

fn accept(ack_id: u8, buf_status: u8) -> Stype0 {
    Stype0::PacketAccepted { ack_id, buf_status }
}

fn status(ack_id_status: u8, buf_status: u8) -> Stype0 {
    Stype0::Status { ack_id_status, buf_status }
}

fn pna(cause: Cause) -> Stype0 {
    Stype0::PacketNotAccepted { arbitrary: 0, cause }
}

// Acknowledgement.

/// Shows: R2.2p6s5.8c0474, R2.2p6s5.8c0475, R2.2p6s3.4c0025, R2.2p6s3.4.1c0030, R1.3p6s3.4.1c0882,
/// R1.3p6s5.6c0880, R1.3p6s5.6c0889, R1.3p6s5.4.2c0887, R2.2p6s3.4c0024
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

/// Shows: R2.2p6s5.13.2.3.1c0593, R2.2p6s5.13.2.3.1c0594, R2.2p6s5.13.2.3.1c0590, R1.3p6s5.11.2c0997,
/// R1.3p6s5.11.2.3.1c1009, R1.3p6s5.11.2.3.1c1010, R1.3p6s5.11.2.3.1c1012, R1.3p6s5.11.2c0999
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

/// Shows: R1.3p6s5.2c0841
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

/// Shows: R2.2p6s5.6.1c0434, R2.2p6s5.6.1.2c0440, R2.2p6s5.6.1.2c0441, R2.2p6s3.4c0022, R2.2p6s3.5c0052
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
    let more = Opportunity { place: Place::Idle, more: true };
    assert_eq!(bench.left_at(more), Some((status(0, 6), NOP, None)));
    assert_eq!(bench.left().unwrap().1, SOP);
    let more = Opportunity { place: Place::End, more: true };
    bench.0.submit(1, meta(0)).unwrap();
    assert_eq!(bench.left_at(more), Some((status(0, 6), EOP, None)));
}

// Errors that the input side detects.

/// Shows: R2.2p6s5.13.2.4c0605, R2.2p6s5.13.2.4c0606, R2.2p6s5.13.2.4c0607, R2.2p6s5.13.2.4c0608,
/// R2.2p6s5.13.2.4c0609, R2.2p6s5.13.2.3.2c0598, R2.2p6s5.13.2.3.2c0601, R2.2p6s5.13.2.2.1c0580,
/// R2.2p6s5.13.2.6c0611, R2.2p6s5.13.2.6c0614, R2.2p6s5.13.2.6c0615, R2.2p6s5.13.2.6c0616,
/// R2.2p6s5.13.2.6c0619, R2.2p6s5.13.2.6c0620, R2.2p6s5.13.2.6c0621, R2.2p6s5.13.2.6c0623,
/// R2.2p6s5.13.2.6c0624, R2.2p6s5.13.2.6c0628, R1.3p6s3.4.3c0918, R1.3p6s3.4.3c0919, R1.3p6s3.4.5c0823,
/// R1.3p6s3.4.5c0826, R1.3p6s5.11.2.6c0962, R1.3p6s5.11.2.6c0988, R1.3p6s5.11.2.6c0989,
/// R1.3p6s5.11.2.6c0990, R1.3p6s5.11.2.4c0957, R1.3p6s5.11.2.4c0959, R1.3p6s5.5c0832, R1.3p6s5.5c0833
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

/// Shows: R2.2p6s5.13.2.3.1c0591, R1.3p6s5.11.2.6c1041, R1.3p6s5.11.2.6c1035
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

// Retry.

/// Shows: R1.3p6s5.7.1c0915, R1.3p6s5.7.2.1c0906, R1.3p6s5.7.2.1c0909, R1.3p6s5.7.2.1c0910,
/// R1.3p6s5.7.2.1c0911, R1.3p6s5.7.2.1c0912, R1.3p6s3.4.5c0825, R2.2p6s5.9.1.4c0494, R2.2p6s5.9.1.4c0495,
/// R2.2p6s5.9.1.4c0496, R2.2p6s5.9.1c0485, R2.2p6s5.9.1c0486, R1.3p6s3.4.2c0883, R1.3p6s5.7.1c0937
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

/// Shows: R2.2p6s5.12c0556, R2.2p6s5.12c0557, R2.2p6s5.12c0558, R2.2p6s5.12c0560, R1.3p6s5.10c0914,
/// R1.3p6s5.10c0930
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

/// Shows: R2.2p6s5.9.1.3c0492, R2.2p6s5.9.1.5c0498, R2.2p6s5.9.1.5c0499, R2.2p6s5.9.1.5c0500,
/// R2.2p6s5.9.1.5c0501, R2.2p6s5.9.1.5c0502, R2.2p6s5.9.2c0511, R1.3p6s5.7.2.2c0858, R1.3p6s5.7.2.2c0860,
/// R1.3p6s5.7.2.2c0864, R1.3p6s5.7.2.2c0866, R1.3p6s5.7.2.2c0868, R1.3p6s5.10c0931, R2.2p6s5.12c0559
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
    assert_eq!(bench.left().unwrap().1, Stype1::RestartFromRetry);
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

/// Shows: R2.2p6s5.13.2.3.1c0596, R2.2p6s5.13.2.3.1c0597, R2.2p6s3.4.2c0034, R2.2p6s5.9.1.1c0487,
/// R2.2p6s5.9.1.1r0002, R2.2p6s3.4.3c0036
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

// Cancelled packets.

/// Shows: R2.2p6s5.10c0520, R2.2p6s5.10c0522, R2.2p6s5.10c0523, R2.2p6s5.10c0525, R2.2p6s5.10c0526,
/// R2.2p6s5.10c0527, R1.3p6s5.8c0903, R1.3p6s5.8c0904, R1.3p6s5.8c0905, R1.3p6s5.7.2.1c0907,
/// R1.3p6s5.11.2.4c0958, R2.2p6s3.5.5c0063, R1.3p6s3.5.5c0532
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

// Recovery of the output side.

/// Shows: R2.2p6s5.13.2c0570, R2.2p6s5.13.2c0571, R2.2p6s5.13.2.7c0630, R2.2p6s5.13.2.7c0631,
/// R2.2p6s5.13.2.7c0632, R2.2p6s5.13.2.7c0633, R2.2p6s5.13.2.7c0635, R2.2p6s5.7c0459, R2.2p6s5.7c0463,
/// R1.3p6s5.11.2c0993, R1.3p6s5.11.2.7c1002, R1.3p6s5.11.2.7c1004, R1.3p6s5.11.2.7c1005,
/// R1.3p6s5.11.2.7c1006, R1.3p6s5.11.2.7c1007, R1.3p6s5.5c0834, R1.3p6s5.5c0835, R1.3p6s5.11.2.6c1045
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

/// Shows: R1.3p6s5.11.1c0707, R2.2p6s5.13.1c0566, R2.2p6s5.13.2.5c0610, R2.2p6s5.13.2.3.1c0595,
/// R1.3p6s5.11.2c0995
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

// Flow control.

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

/// Shows: R2.2p6s5.5.3.2c0423, R2.2p6s5.9.2c0507, R2.2p6s5.9.2c0508, R2.2p6s5.9.2.1c0513,
/// R2.2p6s3.4.5c0041, R2.2p6s3.4.5c0042, R2.2p6s3.4.5c0043, R2.2p6s3.4.5c0044, R2.2p6s3.4.5r0001,
/// R2.2p6s5.6.2c0447, R2.2p6s5.4.2c0395, R2.2p6s5.9.3c0518
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
    assert_eq!(bench.packet(ct, 18, Ok(())), Reception::Discarded, "no room");
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

// Priorities.

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
}

// Initialisation.

/// Shows: R2.2p6s5.5.3.1c0409, R2.2p6s5.5.3.1c0410, R2.2p6s5.5.3.1c0411, R2.2p6s5.5.3.1c0415,
/// R2.2p6s5.5.3.1c0416, R2.2p6s5.5.3.1c0417, R2.2p6s5.5.3.1c0418, R2.2p6s5.5.3.1c0419,
/// R2.2p6s5.5.3.1c0420, R1.3p6s5.3.2c0796, R1.3p6s5.3.2c0799
#[test]
fn a_link_comes_up_by_counting_status() {
    let mut bench = Bench(LinkPort::new(vcs(2, VcConfig::default())).unwrap());
    bench.0.submit(1, meta(0)).unwrap();
    bench.status(9);
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
    bench.0.port_lost();
    assert_eq!(bench.events(), [LinkEvent::Down]);
    assert_eq!((bench.left(), bench.0.poll_timeout()), (None, None));
    assert_eq!(bench.0.input(), InputState::ErrorStopped);
    bench.0.port_initialized();
    for _ in 0..STATUS_RECEIVED {
        bench.status(9);
    }
    while bench.left().is_some() {}
    assert!(bench.0.is_up());
    assert_eq!(bench.0.input(), InputState::ErrorStopped);
    assert_eq!(bench.0.expected_ack_id(), 1);
    bench.0.handle_timeout(100);
    assert_eq!(bench.left().unwrap().1, REQUEST);
    bench.response(1);
    assert_eq!(bench.left().unwrap().2, Some((5, 1)), "the packet that was cut comes again");
}

// The rest.

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
