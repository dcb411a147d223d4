//! `--wire-check`: what crosses a link is written as bytes, read back and compared, at every hop. So it is
//! for observers that follow the wire: they get the bytes.
//!
//! A packet of an agent is its own bytes; one of a traffic source has the header that its record asks for,
//! and a filler of its length. On 64b/67b links the parts that IDLE3 adds (link CRC, padding to 8) are not
//! bytes here.

use crate::config::{Arrivals, IdSize, SourceConfig};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::Mode;
use crate::observe::Build;
use crate::observe::probe::{Crossed, Crossing};
use crate::packet;
use crate::packet::{Cargo, MULTICAST_QUEUES, origin};
use logical::wire::{Packet, Priority, Transport};
use lp_serial::Form;
use lp_serial::control_symbol::{ControlSymbol, Delimited, Stype0, Stype1};
use lp_serial::cost::{AddressSize, SymbolSize};
use lp_serial::packet::{BODY_MAX_BYTES, Header, PACKET_MAX_BYTES, View, check, seal, sealed_len, unseal};
use sim_core::{Fingerprint, Time};
use std::collections::BTreeMap;
use voq_backpressure::{Message, codec};

/// How much was checked.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct WireChecked {
    /// Packets, once for each hop.
    pub packets: u64,
    /// Control symbols.
    pub symbols: u64,
    /// Hash of the octets of these packets without ackID and CRC, in any order: two runs in which the same
    /// packets crossed equally many links have the same.
    pub octets: Fingerprint,
}

impl WireChecked {
    /// Adds what was checked elsewhere.
    pub(crate) fn add(&mut self, other: &WireChecked) {
        self.packets += other.packets;
        self.symbols += other.symbols;
        self.octets.merge(&other.octets);
    }
}

impl WireChecked {
    /// A packet or a frame with these octets.
    pub(crate) fn packet(&mut self, octets: &[u8]) {
        self.packets += 1;
        // FNV-1a.
        let hash = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x0100_0000_01B3);
        let hash = octets.iter().fold(0xCBF2_9CE4_8422_2325, hash);
        self.octets.record(0, Time(0), hash, octets.len() as u64);
    }
}

/// How a packet leaves.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Leaves {
    /// When its delimiter begins.
    pub at: u64,
    pub ack_id: u8,
    pub damaged: bool,
    /// It is sent again.
    pub again: bool,
}

/// Filler of packets of which nobody asks what is in them.
const FILLER: u8 = 0xA5;

impl<P: Build> Links<P> {
    /// A packet leaves `port`.
    pub fn check_packet(&mut self, port: PortId, packet: u32, leaves: Leaves) {
        let form = self.form_of(port);
        let ack_id = leaves.ack_id & form.parameter_max();
        let record = &self.packets[packet];
        let mut body = [0; BODY_MAX_BYTES];
        let cargo = if record.origin >= origin::REGISTERS { self.packets.cargoes.get(packet) } else { None };
        let length = match cargo {
            Some(cargo) => write_cargo(record, self.config.ids, cargo, &mut body),
            None => {
                let fits = |body: &usize| sealed_len(*body) == usize::from(record.wire);
                let longest = (1..=BODY_MAX_BYTES / 2).map(|n| 2 * n).rfind(fits);
                let length = longest.expect("the compiler gave a length that packets have");
                let header = Header::new(record.meta().prio, self.config.ids.tt(), self.ftype_of(record));
                write_filler(record, header.expect("every field is within its width"), &mut body[..length]);
                length
            }
        };
        let mut sealed = [0; PACKET_MAX_BYTES];
        let octets = seal(&body[..length], &mut sealed).expect("a packet fits");
        assert_eq!(octets, usize::from(record.wire), "wire check: length of a packet");
        let sealed = &mut sealed[..octets];
        let header = Header::parse(sealed).and_then(|header| match form {
            Form::Short => header.with_short_ack_id(ack_id),
            Form::Long => header.with_ack_id(ack_id),
        });
        let header = header.expect("an ackID fits");
        header.emit(sealed).expect("a packet has a header");
        // The other end.
        check(sealed).expect("wire check: CRC");
        let view = View::new(sealed).expect("a packet has a header");
        let meta = record.meta();
        assert_eq!((view.ack_id(), view.prio()), (header.ack_id(), meta.prio), "wire check: header");
        assert_eq!((view.vc(), view.crf()), (meta.vc, meta.crf), "wire check: virtual channel");
        let mut read = [0; BODY_MAX_BYTES];
        unseal(sealed, length, &mut read).expect("wire check: packet");
        // CRCs do not cover the ackID, and the body has none.
        assert_eq!(read[0] & 3, body[0] & 3, "wire check: first byte");
        assert_eq!(read[1..length], body[1..length], "wire check: packet");
        self.wire_checked.packet(&body[..length]);
        if self.observe.probe.follows_wire() {
            let what = Crossed::Packet {
                id: record.id(),
                flow: record.flow,
                queue: (record.queue < MULTICAST_QUEUES).then_some(record.queue),
                body: length as u16,
                filler: cargo.is_none(),
                again: leaves.again,
                damaged: leaves.damaged,
                parts: record.parts(self.packets.late.of(packet)),
            };
            let symbol = self.timings[self.ports[port.index()].link.timing as usize].wire.symbol;
            self.tell_crossing(port, leaves.at + symbol, sealed, what);
        }
    }

    /// Octets leave `port`, the first at `at`.
    fn tell_crossing(&mut self, port: PortId, at: u64, octets: &[u8], what: Crossed) {
        let device = self.ports[port.index()].link.device;
        let port = self.nodes.number(device, port);
        self.observe.probe.crossing(&Crossing { at: Time(at), device, port, octets, what });
    }

    /// The ftype of a packet of a traffic source.
    fn ftype_of(&self, record: &packet::Packet) -> u8 {
        let config = &self.config;
        let places = self.sources.get_or_init(|| {
            let mut counts = BTreeMap::new();
            let mut origin = |source: &SourceConfig| {
                let count: &mut u16 = counts.entry(source.endpoint).or_default();
                *count += 1;
                *count - 1
            };
            let sources = config.sources.iter().enumerate();
            sources.map(|(place, source)| ((source.endpoint, origin(source)), place)).collect()
        });
        let source = &config.sources[places[&(record.source, record.origin)]];
        match &source.arrivals {
            Arrivals::Replay(packets) => packets[record.sequence as usize].ftype,
            _ => source.ftype,
        }
    }

    /// The size of control symbols that leave `port`; those of IDLE3 are not written.
    fn form_of(&self, port: PortId) -> Form {
        match self.timings[self.ports[port.index()].link.timing as usize].symbol_chars {
            4 => Form::Short,
            _ => Form::Long,
        }
    }

    /// The symbol of an acknowledgement or a status leaves `port`, in packet granularity.
    pub fn check_status(&mut self, port: PortId, acknowledged: u8, free: u8) {
        let form = self.form_of(port);
        let ack_id = self.wire_checked.symbols as u8 & form.parameter_max();
        let buf_status = SymbolSize::from(form).report_free(free.into()) as u8;
        let stype0 = match acknowledged {
            0 => Stype0::Status { ack_id_status: ack_id, buf_status },
            _ => Stype0::PacketAccepted { ack_id, buf_status },
        };
        let symbol = ControlSymbol::new(form, stype0, Stype1::Nop).expect("every field is within its width");
        self.check_octets(symbol);
    }

    /// A symbol with a VoQ message leaves `port` at `now`, in packet granularity.
    pub fn check_message(&mut self, port: PortId, now: u64, field: u16, damaged: bool) {
        self.note_said(port, field);
        let stype0 = Stype0::Status { ack_id_status: 0, buf_status: 0 };
        let symbol =
            ControlSymbol::new(Form::Long, stype0, Stype1::Nop).and_then(|symbol| symbol.with_stype2(field));
        self.check_octets(symbol.expect("14 bits, on long symbols"));
        if self.observe.probe.follows_wire() {
            self.tell_crossing(port, now, &field.to_be_bytes(), Crossed::Message { damaged });
        }
    }

    /// What `port` says of a group of ports.
    pub(super) fn note_said(&mut self, port: PortId, field: u16) {
        self.said.insert((port, codec::View::new(field).group()), field);
    }

    /// A message of a refresh that is no event takes its place at `at`: it says of its group what `port` has
    /// said last.
    pub fn check_repeated(&mut self, port: PortId, at: u64, group: u8) {
        let clear = || Message::new(group, 0).expect("ports are below 192").to_field();
        let field = self.said.get(&(port, group)).copied().unwrap_or_else(clear);
        if self.ports[port.index()].link.mode() == Mode::Symbols {
            self.end(port).write_only(at, field, false);
        } else {
            self.check_message(port, at, field, false);
        }
    }

    /// A symbol leaves `port` at `now`, in symbol granularity.
    pub fn check_symbol(&mut self, port: PortId, now: u64, symbol: ControlSymbol, damaged: bool) {
        let (wire, octets) = self.check_octets(symbol);
        if self.observe.probe.follows_wire() {
            self.tell_crossing(port, now, &wire[..octets], Crossed::Symbol { damaged });
        }
    }

    /// A symbol is written; its octets, and how many they are.
    fn check_octets(&mut self, symbol: ControlSymbol) -> ([u8; 8], usize) {
        let mut wire = [0; 8];
        let octets = symbol.emit_delimited(false, &mut wire).expect("a symbol has at most eight octets");
        let read = Delimited::parse(symbol.form(), &wire[..octets]).expect("wire check: symbol");
        assert_eq!(read.symbol, symbol, "wire check: symbol");
        self.wire_checked.symbols += 1;
        (wire, octets)
    }
}

/// Writes a packet of an agent, after it was read back. Its octets.
fn write_cargo(
    record: &packet::Packet,
    ids: IdSize,
    cargo: &Cargo,
    body: &mut [u8; BODY_MAX_BYTES],
) -> usize {
    let level = Priority::new(record.priority, false).expect("0 to 3");
    let transport = Transport::new(level, ids, record.destination_id(), cargo.source);
    let transport = transport.expect("the compiler gave ids that fit");
    let whole = Packet { transport, body: cargo.body.clone() };
    let length = whole.emit(body).expect("a packet of an agent fits");
    let read = Packet::parse(AddressSize::Bits34, &body[..length]).expect("what is written is read");
    assert_eq!(read.transport, whole.transport, "wire check: transport");
    let mut again = [0; BODY_MAX_BYTES];
    let same = read.emit(&mut again).expect("what was read fits");
    assert_eq!(again[..same], body[..length], "wire check: body");
    length
}

/// Writes what a traffic source sends: a header, what names the packet, and filler.
fn write_filler(record: &packet::Packet, header: Header, body: &mut [u8]) {
    body.fill(FILLER);
    let meta = record.meta();
    header.with_channel(meta.vc, meta.crf).emit(body).expect("a header fits");
    let name = record.destination.to_be_bytes().into_iter().chain(record.sequence.to_be_bytes());
    body[2..].iter_mut().zip(name).for_each(|(place, byte)| *place = byte);
}
