//! One port and its rules, symbol by symbol.

#[path = "../common/mod.rs"]
mod common;

mod acknowledgement;
mod errors;
mod flow;
mod life;
mod retry;

use common::{config, meta, with_vcs};
use lp_serial::control_symbol::{Cause, LinkRequest, PortStatus, Stype0, Stype1};
use lp_serial::link::{
    Channels, Config, FlowControl, LinkEvent, LinkPort, Opportunity, PacketMeta, Reception, STATUS_RECEIVED,
    VcConfig,
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
