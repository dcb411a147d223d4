//! The register space of a device: what its CSR accesses read and change.
//!
//! A space knows no fabric. What a write means for the simulated device comes out as [`Effect`]s, which
//! the world carries out. So the same spaces serve a run and the plan made before it
//! ([`crate::registers::enumeration::plan`]).

pub mod enumeration;

use crate::config::{EnumerationConfig, IdSize, PortVoq};
use crate::observe::stats::FlowStats;
use crate::packet::data::Data;
use enumeration::{Outline, OutlineDevice};
use logical::register::file::{Block, Description, Identity, Role, Streaming};
use logical::register::{RegisterFile, Serial, feature, offset, operation, serial};
use logical::wire::maintenance::{Access, Operation};
use session_management::attribute::Attributes;
use session_management::register::{self as session, Contact, Writer};
use sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};
use voq_backpressure::csr::{self, PortCsr, Support};

/// Device Identity: no vendor's number, only what kind of model answers.
const SWITCH_MODEL: u16 = 1;
const ENDPOINT_MODEL: u16 = 2;
/// Route entry of an id that leads nowhere.
pub(crate) const NO_ROUTE: u8 = 0xFF;
/// Number of the block in a register file; the other one is that of Part 12.
const SERIAL_BLOCK: usize = 0;
/// Offset of the Assembly Information CAR, whose lower half is where the first extended features block is.
const ASSEMBLY_INFORMATION: u32 = 0x0C;
/// Attributes for which the block of session management has room.
const SESSION_ATTRIBUTES: u8 = 8;
/// Attribute Range: stage 1, no attributes yet.
const INITIALISING: u32 = 1 << 8 | session::NOT_INITIALISED as u32;

/// Until its software is up, an endpoint takes no part, and is in the first stage of its initialisation: who
/// reads that comes again.
fn begin(session: &mut session::Block) {
    session.write(Writer::Local, session::offset::ATTRIBUTE_RANGE, INITIALISING);
}

/// A request to read one register, or to write it.
pub(crate) fn request(access: Access, write: Option<u32>) -> Operation<Data> {
    match write {
        None => Operation::Read { src_tid: 0, access },
        Some(value) => {
            let payload = Data::bytes(access.place(value).to_vec());
            Operation::Write { src_tid: 0, access, payload }
        }
    }
}

/// Offset of the block of Part 12 of an endpoint that has one: the owner of a device knows where that is.
pub(crate) fn voq_block_of_an_endpoint(enumeration: &EnumerationConfig) -> Option<u16> {
    let able = PortVoq { rx_sup: true, ..PortVoq::default() };
    let alone = OutlineDevice { switch: false, sessions: 0, tagged: false, ports: vec![able] };
    let enumeration = EnumerationConfig { host: 0, ..*enumeration };
    let outline = Outline { devices: vec![alone], links: Vec::new(), enumeration };
    Space::new(&outline, 0).block(csr::EF_ID).map(|at| at as u16)
}

/// What a write does to the simulated device.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Packets for an id leave through another port from now on.
    Route { destination: u16, port: u8 },
    /// The VoQ register of a port was written.
    Voq { port: u8, value: u32 },
    /// An endpoint has this device id from now on.
    BaseId(u32),
    /// An endpoint was told that it may send.
    Enabled,
}

/// What the blocks and the route table are made of.
#[derive(Clone, Debug)]
struct Plugs {
    serial: Serial,
    voq: Vec<PortCsr>,
    /// Numbers of the blocks of session management, and the blocks: one for each conveyance.
    session: Vec<(usize, session::Block)>,
    /// Egress port by destination id; empty for an endpoint.
    table: Vec<u8>,
    effects: Vec<Effect>,
}

impl logical::register::Device for Plugs {
    fn read_block(&self, block: usize, offset: u32) -> u32 {
        match (block, self.session.iter().find(|(at, _)| *at == block)) {
            (SERIAL_BLOCK, _) => self.serial.read(offset),
            (_, Some((_, session))) => session.read(offset),
            _ => self.voq_port(offset).map_or(0, |port| self.voq[port].value()),
        }
    }

    fn write_block(&mut self, block: usize, offset: u32, value: u32) {
        if block == SERIAL_BLOCK {
            self.serial.write(offset, value);
            if offset == serial::GENERAL_CONTROL && self.serial.is_enabled() {
                self.effects.push(Effect::Enabled);
            }
        } else if let Some((_, session)) = self.session.iter_mut().find(|(at, _)| *at == block) {
            session.write(Writer::Fabric, offset, value);
        } else if let Some(port) = self.voq_port(offset) {
            self.voq[port] = self.voq[port].written(value);
            self.effects.push(Effect::Voq { port: port as u8, value });
        }
    }

    fn route(&self, destination: u16) -> u8 {
        self.table.get(usize::from(destination)).copied().unwrap_or(NO_ROUTE)
    }

    fn set_route(&mut self, destination: u16, port: u8) {
        if let Some(entry) = self.table.get_mut(usize::from(destination)) {
            *entry = port;
            self.effects.push(Effect::Route { destination, port });
        }
    }
}

impl Plugs {
    fn voq_port(&self, offset: u32) -> Option<usize> {
        let port = (offset.checked_sub(csr::FIRST_PORT_OFFSET)? / 4) as usize;
        (port < self.voq.len()).then_some(port)
    }
}

/// The registers of all devices.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    /// By device; empty unless a host reads them.
    pub spaces: Vec<Space>,
    /// The host gave an endpoint another id than was planned: no traffic starts.
    pub astray: bool,
    /// Endpoints that the host has given an id, by device.
    pub named: BTreeSet<u32>,
    /// Endpoints that may send, by device, with since when.
    pub enabled: BTreeMap<u32, Time>,
    /// Packets of answers and their octets, by any device.
    pub answered: FlowStats,
}

/// The registers of one device.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub file: RegisterFile,
    plugs: Plugs,
    /// Answers made so far.
    pub answers: u32,
}

impl Space {
    /// The registers of a device after reset.
    pub fn new(outline: &Outline, device: u32) -> Self {
        let own = &outline.devices[device as usize];
        let ports = own.ports.len() as u8;
        let settings = &outline.enumeration;
        let large = settings.ids != IdSize::Dev8;
        let any = settings.any_id();
        let host = device == settings.host;
        let (mut serial, model, role, block, operations) = if own.switch {
            let role = Role::Switch { ports, route_limit: Some(any) };
            (Serial::switch(ports), SWITCH_MODEL, role, serial::SWITCH_ID, 0)
        } else {
            let id = if host { 0 } else { any };
            let role = Role::Endpoint { base_id: id as u8, large_base_id: id };
            let mut operations = operation::READ | operation::WRITE | operation::WRITE_WITH_RESPONSE;
            if own.tagged {
                operations |= operation::MESSAGE | operation::STREAMING;
            }
            (Serial::endpoint(host), ENDPOINT_MODEL, role, serial::ENDPOINT_ID, operations)
        };
        for &(a, b) in &outline.links {
            for (end, port) in [a, b] {
                if end == device {
                    serial.set_link(port, true);
                }
            }
        }
        let voq: Vec<PortCsr> = own
            .ports
            .iter()
            .map(|port| {
                let (generation, reception) = (port.gen_sup, port.rx_sup);
                PortCsr::new(Support { generation, reception, linking: port.link_sup })
            })
            .collect();
        let mut blocks = vec![Block { id: block, octets: serial::octets(ports) }];
        if own.ports.iter().any(|port| port.gen_sup || port.rx_sup) {
            blocks.push(Block { id: csr::EF_ID, octets: csr::FIRST_PORT_OFFSET + 4 * u32::from(ports) });
        }
        let mut sessions = Vec::new();
        for _ in 0..own.sessions {
            let mut session = session::Block::new(0, SESSION_ATTRIBUTES);
            begin(&mut session);
            let octets = session::offset::ATTRIBUTES + 8 * u32::from(SESSION_ATTRIBUTES);
            blocks.push(Block { id: session::EF_ID, octets });
            sessions.push((blocks.len() - 1, session));
        }
        let description = Description {
            identity: Identity { device: model, ..Identity::default() },
            role,
            features: feature::EXTENDED_ROUTE_TABLE
                | if large { feature::LARGE_SYSTEM } else { 0 }
                | if own.switch { 0 } else { feature::PROCESSOR },
            source_operations: operations,
            destination_operations: operations,
            streaming: Streaming::default(),
            blocks,
        };
        Space {
            file: RegisterFile::new(description).expect("the compiler limits ports to what registers name"),
            plugs: Plugs {
                serial,
                voq,
                session: sessions,
                table: vec![NO_ROUTE; if own.switch { usize::from(any) + 1 } else { 0 }],
                effects: Vec::new(),
            },
            answers: 0,
        }
    }

    /// Carries out a request that came through port `via`; the response, if there is one.
    pub fn carry_out(&mut self, via: u8, operation: &Operation<Data>) -> Option<Operation<Data>> {
        match operation {
            Operation::Read { src_tid, access } => {
                let words = self.file.read_words(*access, via, &self.plugs);
                let payload = Data::bytes(words.as_ref().to_vec());
                Some(Operation::ReadDone { target_tid: *src_tid, payload })
            }
            Operation::Write { src_tid, access, payload } => {
                let bytes = payload.as_bytes().unwrap_or_default();
                self.file.write_words(*access, bytes, &mut self.plugs);
                if access.offset() == logical::register::offset::BASE_DEVICE_ID {
                    let small = self.file.base_id().map(u32::from);
                    let id = self.file.large_base_id().map(u32::from).or(small);
                    self.plugs.effects.extend(id.map(Effect::BaseId));
                }
                Some(Operation::WriteDone { target_tid: *src_tid })
            }
            _ => None,
        }
    }

    /// The processor of the device announces where it takes management messages of session management: one
    /// contact in each of its blocks, and the next, if there is one, in its Component Tag, of which the host
    /// keeps the lower half. In blocks it may leave something to others, in the stage `next`.
    pub fn announce(&mut self, contacts: &[Contact], attributes: &Attributes, next: u8) {
        let mut contacts = contacts.iter().copied();
        for (_, session) in &mut self.plugs.session {
            session.announce_part(contacts.next(), attributes, next);
        }
        let Some(contact) = contacts.next() else { return };
        let tag = contact.component_tag(self.file.component_tag() as u16);
        let tag = tag.expect("the compiler allows contacts that a tag can name");
        let access = Access::register(offset::COMPONENT_TAG).expect("a register's offset");
        self.carry_out(0, &request(access, Some(tag)));
    }

    /// Hardware reset, as far as session management goes: its blocks and the Component Tag are as after
    /// power-up. What the host of the fabric has set up elsewhere stays: nobody would do it again.
    pub fn reset(&mut self) {
        for (_, session) in &mut self.plugs.session {
            session.reset();
            begin(session);
        }
        let access = Access::register(offset::COMPONENT_TAG).expect("a register's offset");
        self.carry_out(0, &request(access, Some(0)));
    }

    /// How many ports the device has.
    pub fn ports(&self) -> u8 {
        self.plugs.voq.len() as u8
    }

    /// The link of a port is initialised, or it is not.
    pub fn set_link(&mut self, port: u8, up: bool) {
        self.plugs.serial.set_link(port, up);
    }

    /// The register at a byte offset, as port `via` sees it.
    pub fn read(&self, offset: u32, via: u8) -> u32 {
        self.file.read(offset, via, &self.plugs)
    }

    /// Where the extended features block of this id begins, as the list of blocks says.
    pub fn block(&self, id: u16) -> Option<u32> {
        let mut at = self.read(ASSEMBLY_INFORMATION, 0) & 0xFFFF;
        while at != 0 {
            let header = self.read(at, 0);
            if header & 0xFFFF == u32::from(id) {
                return Some(at);
            }
            at = header >> 16;
        }
        None
    }

    /// What the writes since the last call mean, in order.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.plugs.effects)
    }

    /// The VoQ registers of all ports.
    pub fn voq(&self) -> &[PortCsr] {
        &self.plugs.voq
    }

    /// Egress port by destination id.
    pub fn table(&self) -> &[u8] {
        &self.plugs.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// Nobody here stages inside virtual channels, so no port can link: whatever is written to its register,
    /// LINK_EN stays 0. The other enable bit is taken where the port can generate.
    ///
    /// Proves: VOQ-3.2-6
    #[test]
    fn no_write_links_messages_with_virtual_channels() {
        let able = PortVoq { gen_sup: true, rx_sup: true, ..PortVoq::default() };
        let deaf = PortVoq { rx_sup: true, ..PortVoq::default() };
        let device = |switch, ports| OutlineDevice { switch, sessions: 0, tagged: false, ports };
        let outline = Outline {
            devices: vec![device(false, vec![able]), device(true, vec![able, deaf, able])],
            links: vec![((0, 0), (1, 0))],
            enumeration: EnumerationConfig {
                host: 0,
                ids: IdSize::Dev8,
                spread: false,
                enables: true,
                host_hears: true,
                links: false,
                host_links: false,
            },
        };
        for (number, ports) in [(0, vec![true]), (1, vec![true, false, true])] {
            let mut space = Space::new(&outline, number);
            let in_block = |space: &Space, offset| {
                space
                    .file
                    .block_at(offset)
                    .is_some_and(|(_, id, within)| id == csr::EF_ID && within >= csr::FIRST_PORT_OFFSET)
            };
            let registers: Vec<u32> = (0x100..0x2000).step_by(4).filter(|&at| in_block(&space, at)).collect();
            assert_eq!(registers.len(), ports.len());
            for value in [u32::MAX, csr::LINK_EN, csr::LINK_SUP | csr::LINK_EN, csr::GEN_EN | csr::LINK_EN] {
                for (&offset, &generates) in registers.iter().zip(&ports) {
                    let access = Access::register(offset).expect("a register's offset");
                    space.carry_out(0, &request(access, Some(value)));
                    let read = space.read(offset, 0);
                    assert_eq!(
                        read & (csr::LINK_EN | csr::LINK_SUP),
                        0,
                        "{value:08x} at {offset:x}: {read:08x}"
                    );
                    assert_eq!(read & csr::GEN_EN, if generates { value & csr::GEN_EN } else { 0 });
                }
            }
        }
    }
}
