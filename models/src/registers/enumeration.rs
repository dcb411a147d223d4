//! Fabrics that a host sets up by maintenance requests: what it will do, and what it did.
//!
//! Which ids endpoints get and which way packets take follows from the topology and the host's rules alone:
//! [`plan`] lets the same host ask the same registers without fabric and time. So scenarios can say
//! beforehand where packets go, and tests can compare what came out with what was planned.

use crate::config::{DeviceModel, EnumerationConfig, FabricConfig, HostWrite, PortVoq, ProtocolConfig};
use crate::registers::{self, Effect, NO_ROUTE, Space};
use logical::enumeration::{Enables, Enumerator, Event, Options, Phase, Target};
use logical::wire::maintenance::HOP_COUNT_MAX;
use sim_core::Time;
use std::collections::BTreeMap;
use voq_backpressure::csr;

/// What enumeration needs to know of a fabric.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Devices, by index.
    pub devices: Vec<OutlineDevice>,
    /// Links: (device, port) at both ends.
    pub links: Vec<((u32, u8), (u32, u8))>,
    /// Who sets it up, and how.
    pub enumeration: EnumerationConfig,
}

/// One device of an [`Outline`].
#[derive(Clone, Debug)]
pub struct OutlineDevice {
    /// A switch; otherwise an endpoint with one port.
    pub switch: bool,
    /// Blocks of session management that it has.
    pub sessions: u8,
    /// It is a node of session management that says in its Component Tag what its blocks, if it has any, do
    /// not say.
    pub tagged: bool,
    /// Part 12 abilities of its ports.
    pub ports: Vec<PortVoq>,
}

impl Outline {
    /// The outline of a fabric that is set up by a host.
    pub fn of(config: &FabricConfig) -> Option<Self> {
        let parts = config.agents.iter().flat_map(|agent| agent.parts.iter().map(move |part| (agent, part)));
        let nodes: BTreeMap<u32, (u8, bool)> = parts
            .filter_map(|(agent, part)| match &part.protocol {
                ProtocolConfig::Session(node) => Some((agent.device, (node.blocks, node.tagged))),
                _ => None,
            })
            .collect();
        let devices = config.devices.iter().zip(0..).map(|(device, index)| OutlineDevice {
            sessions: nodes.get(&index).map_or(0, |node| node.0),
            tagged: nodes.get(&index).is_some_and(|node| node.1),
            switch: matches!(device.model, DeviceModel::Switch(_)),
            ports: device.ports.iter().map(|port| port.voq).collect(),
        });
        Some(Outline {
            devices: devices.collect(),
            links: config.links.iter().map(|link| (link.a, link.b)).collect(),
            enumeration: config.enumeration?,
        })
    }

    /// The other end of every port, by device.
    fn wires(&self) -> Vec<Vec<Option<(u32, u8)>>> {
        let mut wires: Vec<Vec<_>> = self.devices.iter().map(|d| vec![None; d.ports.len()]).collect();
        for &(a, b) in &self.links {
            wires[a.0 as usize][usize::from(a.1)] = Some(b);
            wires[b.0 as usize][usize::from(b.1)] = Some(a);
        }
        wires
    }
}

/// What the host is told.
pub(crate) fn options(config: &EnumerationConfig) -> Options {
    Options {
        host: 0,
        large: config.any_id() > 0xFF,
        spread: config.spread,
        enables: config.enables.then_some(Enables {
            block: csr::EF_ID,
            first: csr::FIRST_PORT_OFFSET,
            can_send: csr::GEN_SUP,
            can_receive: csr::RX_SUP,
            send: csr::GEN_EN,
            always: csr::PART,
            can_link: csr::LINK_SUP,
            link: if config.links { csr::LINK_EN } else { 0 },
        }),
        own_ability: if config.host_hears { csr::RX_SUP } else { 0 }
            | if config.host_links { csr::LINK_SUP } else { 0 },
        own_enables: config.host_links.then(|| registers::voq_block_of_an_endpoint(config)).flatten(),
    }
}

/// What will come out of an enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Destination id of each endpoint, by device; `None` for switches and for endpoints out of reach.
    pub ids: Vec<Option<u32>>,
    /// Egress port by destination id of each switch, by device; `None` where no route leads.
    pub tables: Vec<Vec<Option<u8>>>,
    /// Registers that are read and written.
    pub requests: u64,
    /// Offset of the VoQ register of port 0 of each device; `None` without such a block.
    pub voq: Vec<Option<u32>>,
}

/// Lets the host set up the registers of a fabric, without time.
pub fn plan(outline: &Outline) -> Plan {
    let mut spaces: Vec<Space> =
        (0..outline.devices.len() as u32).map(|device| Space::new(outline, device)).collect();
    let wires = outline.wires();
    let mut ids = vec![None; outline.devices.len()];
    let mut host = Enumerator::new(options(&outline.enumeration));
    let mut requests = 0;
    while let Some(request) = host.poll_transmit() {
        while host.poll_event().is_some() {}
        let Some((device, via)) = reach(outline, &wires, &spaces, request.target) else {
            host.handle_failure();
            continue;
        };
        requests += u64::from(request.target != Target::Own);
        let space = &mut spaces[device as usize];
        space.carry_out(via, &registers::request(request.access, request.write));
        for effect in space.effects() {
            if let Effect::BaseId(id) = effect {
                ids[device as usize] = Some(id);
            }
        }
        host.handle_done(if request.write.is_none() { space.read(request.access.offset(), via) } else { 0 });
    }
    let used = ids.iter().flatten().max().map_or(0, |id| *id as usize + 1);
    let table = |space: &Space| {
        space.table().iter().take(used).map(|&port| (port != NO_ROUTE).then_some(port)).collect()
    };
    let voq =
        spaces.iter().map(|space| space.block(csr::EF_ID).map(|at| at + csr::FIRST_PORT_OFFSET)).collect();
    Plan { ids, tables: spaces.iter().map(table).collect(), requests, voq }
}

/// Where a request ends, and through which port it gets there.
fn reach(
    outline: &Outline,
    wires: &[Vec<Option<(u32, u8)>>],
    spaces: &[Space],
    target: Target,
) -> Option<(u32, u8)> {
    let host = outline.enumeration.host;
    let Target::Remote { destination, hop_count } = target else { return Some((host, 0)) };
    let (mut device, mut via) = wires[host as usize][0]?;
    // A request passes fewer switches than hop counts can say.
    for passed in 0..HOP_COUNT_MAX {
        if !outline.devices[device as usize].switch || passed == hop_count {
            return Some((device, via));
        }
        let port = spaces[device as usize].table()[usize::from(destination)];
        (device, via) = wires[device as usize].get(usize::from(port)).copied().flatten()?;
    }
    None
}

/// A phase of an enumeration.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PhaseReport {
    /// `explore`, `routes`, `enables`, `unlock`, `start`.
    pub name: &'static str,
    /// When it began.
    pub from: Time,
    /// When it ended; `None`: the run ended before.
    pub until: Option<Time>,
    /// Registers read through the fabric.
    pub reads: u64,
    /// Registers written through the fabric.
    pub writes: u64,
}

/// A device that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundReport {
    /// Device index; `None` if no device has its tag.
    pub device: Option<u32>,
    /// Component tag.
    pub tag: u32,
    /// A switch.
    pub switch: bool,
    /// Ports.
    pub ports: u8,
    /// Device id of an endpoint.
    pub id: Option<u32>,
    /// Switches between it and the host.
    pub hops: u8,
    /// When it was found.
    pub at: Time,
}

/// Why a change of a register was not made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum UnmadeBecause {
    /// Nobody answered the read: the register is as it was.
    Unread,
    /// Nobody answered the write: nobody knows.
    Unconfirmed,
    /// The run ended before the host was through with it.
    Waiting,
}

/// A change of a register that was due, and was not made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Unmade {
    /// Whose register it is.
    pub device: u32,
    /// Port that it is about.
    pub port: u8,
    /// When it was due.
    pub due: Time,
    /// Why it was not made.
    pub why: UnmadeBecause,
}

impl Unmade {
    /// A change that was not made, and why.
    pub fn new(write: &HostWrite, why: UnmadeBecause) -> Self {
        Unmade { device: write.device, port: write.port, due: write.at, why }
    }
}

/// What an enumeration did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnumerationReport {
    /// Phases in order.
    pub phases: Vec<PhaseReport>,
    /// Devices in the order in which they were found, the host first.
    pub devices: Vec<FoundReport>,
    /// Links: (position in `devices`, port) at both ends, in the order in which they were found.
    pub links: Vec<((u32, u8), (u32, u8))>,
    /// Egress port by destination id of every switch, by device index, as its registers say at the end.
    pub tables: Vec<(u32, Vec<Option<u8>>)>,
    /// VoQ registers of every switch, by device index, as they are at the end.
    pub voq: Vec<(u32, Vec<u32>)>,
    /// Requests that the host sent, those of later changes and repetitions included.
    pub packets: u64,
    /// Of these, requests sent again.
    pub repetitions: u64,
    /// Responses to them that did not come in time.
    pub timeouts: u64,
    /// How often a device did not answer, was held by another host, or got no id; a device may count in
    /// several phases.
    pub problems: u64,
    /// Changes of registers that were due after the set-up, and were not made.
    pub unmade: Vec<Unmade>,
    /// Endpoints, the host among them and those that no link leads to.
    pub endpoints: u64,
    /// Of these, got none.
    pub unnamed: u64,
    /// Of these, were never told that they may send: what they would have sent was never asked for.
    pub silent: u64,
    /// Endpoints that may send, by device index, with since when.
    pub started: BTreeMap<u32, Time>,
    /// An endpoint got another id than was planned for it: no traffic starts.
    pub astray: bool,
    /// Whether every endpoint got an id, and that which was planned for it.
    pub as_planned: bool,
}

impl EnumerationReport {
    /// When the host had nothing more to do, if it came so far.
    pub fn done(&self) -> Option<Time> {
        self.phases.last().filter(|phase| phase.name == "start")?.until
    }

    /// When every endpoint could send, if all could.
    pub fn all_started(&self) -> Option<Time> {
        self.done().filter(|_| !self.astray && self.silent == 0)
    }
}

/// What the host keeps about its own progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diary {
    pub phases: Vec<PhaseReport>,
    pub found: Vec<Time>,
    pub links: Vec<((u32, u8), (u32, u8))>,
    pub problems: u64,
    /// Registers read and written for changes after the enumeration.
    pub changes: u64,
    /// Changes that nobody answered.
    pub unmade: Vec<Unmade>,
}

impl Diary {
    pub fn note(&mut self, now: Time, event: Event) {
        let end = |(device, port): (usize, u8)| (device as u32, port);
        match event {
            Event::Entered(phase) => {
                if let Some(last) = self.phases.last_mut() {
                    last.until = Some(now);
                }
                if phase != Phase::Done {
                    let name = phase.name();
                    self.phases.push(PhaseReport { name, from: now, until: None, reads: 0, writes: 0 });
                }
            }
            Event::Discovered(_) => self.found.push(now),
            Event::Linked(a, b) => self.links.push((end(a), end(b))),
            Event::Foreign { .. } | Event::Unreachable { .. } | Event::Lost { .. } | Event::NoId { .. } => {
                self.problems += 1;
            }
        }
    }

    pub fn count(&mut self, write: bool) {
        if let Some(phase) = self.phases.last_mut() {
            *(if write { &mut phase.writes } else { &mut phase.reads }) += 1;
        }
    }
}

/// What became of what the host asked, and of endpoints: see [`EnumerationReport`].
#[derive(Copy, Clone, Debug)]
pub(crate) struct Fate<'a> {
    pub packets: u64,
    /// Register accesses that were never answered.
    pub unanswered: u64,
    pub astray: bool,
    pub endpoints: u64,
    pub unnamed: u64,
    pub silent: u64,
    pub started: &'a BTreeMap<u32, Time>,
}

/// Puts the report together.
pub(crate) fn report(
    diary: &Diary,
    host: &Enumerator,
    fate: &Fate<'_>,
    spaces: &[Space],
) -> EnumerationReport {
    let &Fate { packets, unanswered, astray, endpoints, unnamed, silent, started } = fate;
    // A node of session management without a block has the upper half for itself, with the first bit set.
    let number = |tag: u32| if tag & 1 << 31 == 0 { tag } else { tag & 0xFFFF };
    let by_tag = |tag: u32| {
        spaces.iter().position(|space| number(space.file.component_tag()) == tag).map(|device| device as u32)
    };
    let devices = (1..).zip(host.devices()).zip(&diary.found).map(|((tag, found), &at)| FoundReport {
        device: by_tag(tag),
        tag,
        switch: found.is_switch(),
        ports: found.neighbours.len() as u8,
        id: found.id().map(u32::from),
        hops: found.hops,
        at,
    });
    let used = host.devices().iter().filter_map(|found| found.id()).max().map_or(0, |id| id as usize + 1);
    let switches = || (0..).zip(spaces).filter(|(_, space)| !space.table().is_empty());
    let table = |space: &Space| {
        let ports = space.table().iter().take(used);
        ports.map(|&port| (port != NO_ROUTE).then_some(port)).collect()
    };
    let enumerated: u64 = diary.phases.iter().map(|phase| phase.reads + phase.writes).sum();
    let accesses = enumerated + diary.changes;
    // One that waits at the end of the run is no packet yet.
    let repetitions = packets.saturating_sub(accesses);
    EnumerationReport {
        phases: diary.phases.clone(),
        devices: devices.collect(),
        links: diary.links.clone(),
        tables: switches().map(|(d, space)| (d, table(space))).collect(),
        voq: switches().map(|(d, space)| (d, space.voq().iter().map(|csr| csr.value()).collect())).collect(),
        packets,
        repetitions,
        timeouts: repetitions + unanswered,
        problems: diary.problems,
        // Only the host knows what is still to be made.
        unmade: Vec::new(),
        endpoints,
        unnamed,
        silent,
        started: started.clone(),
        astray,
        as_planned: !astray && unnamed == 0,
    }
}
