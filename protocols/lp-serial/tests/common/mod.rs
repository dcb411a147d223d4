//! Two ports and the two directions between them, without time: what has left is in a queue until it is
//! delivered, damaged or lost.
#![allow(dead_code, reason = "every test binary uses its own part")]

use lp_serial::control_symbol::{Cause, ControlSymbol, Form, Stype0, Stype1};
use lp_serial::link::{
    Config, FlowControl, LinkEvent, LinkPort, Opportunity, PacketMeta, Reception, Start, VcConfig,
};
use std::collections::VecDeque;

/// What a direction carries.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Item {
    Symbol(ControlSymbol),
    /// The characters of a packet.
    Body(Start<u8>),
}

/// What happens to an item on its way.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Fault {
    None,
    /// Bits change, and its CRC tells.
    Damage,
    /// A symbol is not recognised as one.
    Lose,
}

/// What a port reported, as far as tests ask for it.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Report {
    pub acknowledged: Vec<u8>,
    pub input_retries: u8,
    pub input_errors: u8,
    pub output_retries: u8,
    pub output_errors: u8,
    pub recovered: u8,
    pub withdrawn: Vec<u8>,
    pub fatal: bool,
    pub ups: u8,
}

/// One end, with its driver.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Side {
    pub port: LinkPort<u8>,
    /// The packet whose start-of-packet has left and whose characters have not.
    pub on_wire: Option<Start<u8>>,
    /// A start-of-packet came, and no delimiter after it.
    pub arriving: bool,
    /// The packet that came and was not delimited yet, and whether it is sound.
    pub held: Option<(Start<u8>, bool)>,
    pub delivered: Vec<u8>,
    /// Channels of the receive buffers that the owner holds.
    pub holding: Vec<u8>,
    /// CT packets that were acknowledged without room.
    pub lost: u8,
    pub report: Report,
}

impl Side {
    pub fn new(config: Config) -> Self {
        let port = LinkPort::new(config).expect("a valid configuration");
        Self {
            port,
            on_wire: None,
            arriving: false,
            held: None,
            delivered: Vec::new(),
            holding: Vec::new(),
            lost: 0,
            report: Report::default(),
        }
    }

    pub fn drain(&mut self) {
        let report = &mut self.report;
        while let Some(event) = self.port.poll_event() {
            let count = |counter: &mut u8| *counter = counter.saturating_add(1);
            match event {
                LinkEvent::Acknowledged(packet) => report.acknowledged.push(packet),
                LinkEvent::Withdrawn(packet) => report.withdrawn.push(packet),
                LinkEvent::InputRetry => count(&mut report.input_retries),
                LinkEvent::InputError(_) => count(&mut report.input_errors),
                LinkEvent::OutputRetry => count(&mut report.output_retries),
                LinkEvent::OutputError(_) => count(&mut report.output_errors),
                LinkEvent::Recovered(_) => count(&mut report.recovered),
                LinkEvent::Fatal(_) => report.fatal = true,
                LinkEvent::Up(_) => count(&mut report.ups),
                LinkEvent::Down | LinkEvent::MulticastEvent | LinkEvent::ResetRequested => {}
            }
        }
    }

    /// The next thing that leaves: a symbol, or the rest of a packet and its delimiter.
    pub fn send(&mut self, now: u64, line: &mut VecDeque<Item>) -> bool {
        let at = match self.on_wire.take() {
            Some(start) => {
                line.push_back(Item::Body(start));
                Opportunity::END
            }
            None => Opportunity::IDLE,
        };
        let sent = self.offer(now, at, line);
        assert!(sent || at == Opportunity::IDLE, "a packet without a delimiter");
        sent
    }

    /// A symbol inside the packet on the wire, if the port has one; it may cancel the packet.
    pub fn inside(&mut self, now: u64, line: &mut VecDeque<Item>) -> bool {
        if self.on_wire.is_none() {
            return false;
        }
        if self.port.wants_cancel() {
            self.on_wire = None;
        }
        self.offer(now, Opportunity::INSIDE, line)
    }

    pub fn offer(&mut self, now: u64, at: Opportunity, line: &mut VecDeque<Item>) -> bool {
        let Some(transmit) = self.port.poll_transmit(now, at) else { return false };
        line.push_back(Item::Symbol(transmit.symbol));
        if let Some(start) = transmit.packet {
            self.on_wire = Some(start);
        }
        self.drain();
        true
    }

    pub fn would_embed(&self) -> bool {
        self.on_wire.is_some() && self.port.clone().poll_transmit(0, Opportunity::INSIDE).is_some()
    }

    pub fn would_send(&self) -> bool {
        self.on_wire.is_some() || self.port.clone().poll_transmit(0, Opportunity::IDLE).is_some()
    }

    pub fn receive(&mut self, now: u64, item: Item, fault: Fault) {
        match (item, fault) {
            (Item::Symbol(symbol), Fault::None) => self.receive_symbol(now, symbol),
            (Item::Symbol(_), Fault::Damage) => self.error(Cause::SymbolCrc),
            (Item::Symbol(_), Fault::Lose) => {}
            (Item::Body(_), _) if !self.arriving => self.error(Cause::IllegalCharacter),
            (Item::Body(start), fault) => {
                // Two packets without a delimiter between them are one long damaged packet.
                let sound = fault == Fault::None && self.held.is_none();
                self.held = Some((start, sound));
            }
        }
        self.drain();
    }

    fn receive_symbol(&mut self, now: u64, symbol: ControlSymbol) {
        match symbol.stype1() {
            Stype1::StartOfPacket | Stype1::EndOfPacket => {
                if let Some((start, sound)) = self.held.take() {
                    self.receive_packet(&start, sound);
                }
                self.arriving = symbol.stype1() == Stype1::StartOfPacket;
            }
            Stype1::Stomp | Stype1::RestartFromRetry | Stype1::LinkRequest(_) => {
                self.held = None;
                self.arriving = false;
            }
            // The packet is over and its delimiter did not come: idle characters stand inside a packet.
            _ if self.held.is_some() => self.error(Cause::IllegalCharacter),
            _ => {}
        }
        self.port.handle_symbol(now, symbol);
    }

    fn receive_packet(&mut self, start: &Start<u8>, sound: bool) {
        let checked = if sound { Ok(()) } else { Err(Cause::PacketCrc) };
        match self.port.handle_packet(start.meta, start.ack_id, checked) {
            Reception::Accepted { channel } => {
                self.delivered.push(start.packet);
                self.holding.push(channel);
            }
            Reception::Lost => self.lost += 1,
            Reception::Discarded => {}
        }
    }

    fn error(&mut self, cause: Cause) {
        self.held = None;
        self.arriving = false;
        self.port.handle_error(cause);
    }

    /// The owner takes the oldest received packet away.
    pub fn consume(&mut self) -> bool {
        if self.holding.is_empty() {
            return false;
        }
        let channel = self.holding.remove(0);
        self.port.release(channel);
        true
    }
}

/// Two ends, A = 0 and B = 1; `lines[n]` carries what side n sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pair {
    pub sides: [Side; 2],
    pub lines: [VecDeque<Item>; 2],
}

impl Pair {
    pub fn new(a: Config, b: Config) -> Self {
        Self { sides: [Side::new(a), Side::new(b)], lines: [VecDeque::new(), VecDeque::new()] }
    }

    /// A pair whose links are up, without symbols in flight.
    pub fn up(a: Config, b: Config) -> Self {
        let mut pair = Self::new(a, b);
        for side in &mut pair.sides {
            side.port.port_initialized();
        }
        assert!(pair.run(0, 1000), "initialisation ends");
        assert!(pair.sides.iter().all(|side| side.port.is_up()));
        for side in &mut pair.sides {
            side.report = Report::default();
        }
        pair
    }

    pub fn submit(&mut self, side: usize, packet: u8, meta: PacketMeta) {
        self.sides[side].port.submit(packet, meta).expect("room to wait");
    }

    pub fn send(&mut self, side: usize, now: u64) -> bool {
        self.sides[side].send(now, &mut self.lines[side])
    }

    pub fn inside(&mut self, side: usize, now: u64) -> bool {
        self.sides[side].inside(now, &mut self.lines[side])
    }

    /// The first item on its way to `side` arrives, or does not.
    pub fn deliver(&mut self, side: usize, now: u64, fault: Fault) -> bool {
        let Some(item) = self.lines[1 - side].pop_front() else { return false };
        self.sides[side].receive(now, item, fault);
        true
    }

    /// One turn for everything: cancel or send, deliver, consume. Whether anything happened.
    pub fn step(&mut self, now: u64) -> bool {
        let mut busy = false;
        for side in 0..2 {
            let cut = self.sides[side].port.wants_cancel() && self.inside(side, now);
            busy |= cut || self.send(side, now);
        }
        for side in 0..2 {
            busy |= self.deliver(side, now, Fault::None);
        }
        for side in &mut self.sides {
            busy |= side.consume();
        }
        busy
    }

    /// Runs without faults until nothing happens; `false` if that takes more than `steps`.
    pub fn run(&mut self, now: u64, steps: usize) -> bool {
        (0..steps).any(|_| !self.step(now))
    }

    /// Nothing is under way and nothing could be sent.
    pub fn is_quiet(&self) -> bool {
        self.lines.iter().all(VecDeque::is_empty) && !self.sides.iter().any(Side::would_send)
    }

    /// Lets time pass as often as needed until nothing is outstanding; `false` if `rounds` are not enough.
    pub fn settle(&mut self, rounds: usize) -> bool {
        for _ in 0..rounds {
            assert!(self.run(0, 1000), "the link never comes to rest");
            if self.sides.iter().all(|side| side.port.outstanding() == 0 && side.port.waiting() == 0) {
                return true;
            }
            for side in &mut self.sides {
                side.port.handle_timeout(u64::MAX);
                side.drain();
            }
        }
        false
    }
}

/// A short-symbol port with six buffers, transmitter-controlled, with deadlines that come one after another.
pub fn config() -> Config {
    Config { link_timeout: 2, status_period: Some(1), ..Config::new(Form::Short, 6) }
}

pub fn receiver_controlled() -> Config {
    Config { flow: FlowControl::Receiver, ..config() }
}

/// A multi-VC port; the given VCs in order.
pub fn with_vcs(channels: lp_serial::link::Channels, vcs: &[VcConfig]) -> Config {
    let mut config = Config { channels, ..Config { form: Form::Long, ..config() } };
    config.vcs[..vcs.len()].copy_from_slice(vcs);
    config
}

pub fn meta(prio: u8) -> PacketMeta {
    PacketMeta::new(prio, 64)
}

pub fn symbol(stype0: Stype0, stype1: Stype1) -> ControlSymbol {
    ControlSymbol::new(Form::Short, stype0, stype1).expect("fields fit")
}
