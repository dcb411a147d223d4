//! What crosses links as a pcapng file, for the tools that read such files.
//!
//! An interface for each direction of a RapidIO link, and one for each endpoint that sent an Ethernet frame
//! of Scheduled Transfer; each packet, symbol and frame once, where it left. Instants on RapidIO links are
//! nanoseconds, because such tools keep no more; a [pseudo header](pseudo) has the rest of the picoseconds,
//! and what the octets do not say.

mod pcapng;
pub mod pseudo;

use crate::num::counted_text;
use crate::trace::{Filter, Names};
use models::Parts;
use models::Probe;
use models::config::{DeviceModel, FabricConfig, Medium, ProtocolConfig};
use models::probe::{Crossed, Crossing, PacketId, PacketStep, Signal, SignalKind};
use models::sim_core::Time;
use pcapng::link_type;
use pseudo::{Carries, Kind, Pseudo};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Digits behind the point of a second, of Ethernet and of RapidIO.
const PICOSECONDS: u8 = 12;
const NANOSECONDS: u8 = 9;

/// Who sends.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Interface {
    /// A port of a device, through a RapidIO link.
    Link(u32, u8),
    /// A device, Ethernet frames.
    Host(u32),
}

/// A direction of a link.
#[derive(Debug)]
struct Way {
    /// Device index of the receiver.
    to: u32,
    /// Names of the ports that send and receive.
    names: [String; 2],
}

/// Keeps what passes a filter.
#[derive(Debug)]
pub struct Capture {
    config: Arc<FabricConfig>,
    filter: Filter,
    /// By device and port.
    ways: BTreeMap<(u32, u8), Way>,
    /// By flow.
    carries: Vec<Carries>,
    records: Vec<(Time, Interface, Vec<u8>)>,
    counts: [usize; 4],
    /// Where the time of a packet went until it was at a device; copies have one name.
    before: BTreeMap<(PacketId, u32), Parts>,
    has_copies: bool,
}

impl Capture {
    /// Of the devices, flows and the time of a filter.
    #[must_use]
    pub fn new(config: Arc<FabricConfig>, filter: Filter) -> Self {
        let names = Names::new(&config);
        let port = |(device, port): (u32, u8)| names.port(device, port);
        let ends = config.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
        let ways = ends.map(|(from, to)| (from, Way { to: to.0, names: [port(from), port(to)] })).collect();
        let mut carries = vec![Carries::Data; config.flows.len()];
        for part in config.agents.iter().flat_map(|agent| &agent.parts) {
            carries[usize::from(part.flow)] = match &part.protocol {
                ProtocolConfig::Session(_) => Carries::Session,
                ProtocolConfig::Linx(_) => Carries::Linx,
                ProtocolConfig::Transfer(_) | ProtocolConfig::Translator(_) => Carries::Transfer,
                _ => Carries::Data,
            };
        }
        let copies = |model: &DeviceModel| match model {
            DeviceModel::Switch(switch) => !switch.routes.masks.is_empty(),
            DeviceModel::Endpoint(_) => false,
        };
        Self {
            ways,
            carries,
            records: Vec::new(),
            counts: [0; 4],
            before: BTreeMap::new(),
            has_copies: config.devices.iter().any(|device| copies(&device.model)),
            config,
            filter,
        }
    }

    /// Lets the ends of Scheduled Transfer, and translators, tell of their frames, if they are of Ethernet.
    pub fn prepare(config: &mut FabricConfig) {
        for part in config.agents.iter_mut().flat_map(|agent| &mut agent.parts) {
            match &mut part.protocol {
                ProtocolConfig::Transfer(end) if matches!(end.medium, None | Some(Medium::Ethernet)) => {
                    end.captured = true;
                }
                ProtocolConfig::Translator(translator) => translator.captured = true,
                _ => {}
            }
        }
    }

    /// What is kept, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let units = ["packets", "control symbols", "VoQ messages", "Ethernet frames"];
        let kept: Vec<String> =
            self.counts.iter().zip(units).map(|(count, unit)| counted_text(*count as u64, unit)).collect();
        kept.join(", ")
    }

    /// The file.
    #[must_use]
    pub fn to_pcapng(mut self) -> Vec<u8> {
        self.records.sort_by_key(|(at, ..)| *at);
        let numbers: BTreeMap<Interface, u32> = self.records.iter().map(|record| (record.1, 0)).collect();
        let numbers: BTreeMap<Interface, u32> = numbers.into_keys().zip(0..).collect();
        let mut file = pcapng::section();
        for interface in numbers.keys() {
            match *interface {
                Interface::Link(device, port) => {
                    let [from, to] = &self.ways[&(device, port)].names;
                    let description = format!("RapidIO link from {from} to {to}, with a pseudo header");
                    let name = format!("{from} > {to}");
                    pcapng::interface(&mut file, link_type::USER0, &name, &description, NANOSECONDS);
                }
                Interface::Host(device) => {
                    let name = &self.config.devices[device as usize].path;
                    let description = format!("Ethernet frames that {name} sends");
                    pcapng::interface(&mut file, link_type::ETHERNET, name, &description, PICOSECONDS);
                }
            }
        }
        for (at, interface, octets) in &self.records {
            let at = match interface {
                Interface::Link(..) => at.0 / 1_000,
                Interface::Host(_) => at.0,
            };
            pcapng::record(&mut file, numbers[interface], at, octets);
        }
        file
    }
}

impl Probe for Capture {
    fn follows_packets(&self) -> bool {
        true
    }

    fn follows_wire(&self) -> bool {
        true
    }

    fn packet(&mut self, _: Time, id: PacketId, step: &PacketStep) {
        // A copy may still need what is known of the others.
        if matches!(step, PacketStep::Ended { .. }) && !self.has_copies {
            let known: Vec<_> = self.before.range((id, 0)..=(id, u32::MAX)).map(|(key, _)| *key).collect();
            for key in known {
                self.before.remove(&key);
            }
        }
    }

    fn crossing(&mut self, crossing: &Crossing<'_>) {
        let Crossing { at, device, port, octets, what } = *crossing;
        let to = self.ways[&(device, port)].to;
        let mut pseudo = Pseudo {
            kind: Kind::Symbol,
            picoseconds: (at.0 % 1_000) as u16,
            damaged: false,
            again: false,
            filler: false,
            body: 0,
            queue: None,
            waited: None,
            carries: Carries::Data,
            flow: "",
            from: "",
            to: "",
        };
        let mut of_flow = None;
        match what {
            Crossed::Packet { id, flow, queue, body, filler, again, damaged, parts } => {
                let before = self.before.get(&(id, device)).copied().unwrap_or_default();
                self.before.insert((id, to), parts);
                let (waited, carries) = (pseudo::waited(&parts, &before), self.carries[usize::from(flow)]);
                let kind = Kind::Packet;
                pseudo = Pseudo { kind, damaged, again, filler, body, queue, waited, carries, ..pseudo };
                of_flow = Some(flow);
            }
            Crossed::Symbol { damaged } => pseudo.damaged = damaged,
            Crossed::Message { damaged } => (pseudo.kind, pseudo.damaged) = (Kind::Message, damaged),
        }
        if self.filter.passes(at, &[device, to], of_flow) {
            let [from, to] = &self.ways[&(device, port)].names;
            let flow = of_flow.map_or("", |flow| &self.config.flows[usize::from(flow)].name);
            let mut record = Pseudo { flow, from, to, ..pseudo }.octets();
            record.extend(octets);
            self.counts[pseudo.kind as usize - 1] += 1;
            self.records.push((at, Interface::Link(device, port), record));
        }
    }

    fn signal(&mut self, signal: &Signal) {
        if let SignalKind::Frame { octets } = &signal.kind
            && self.filter.passes(signal.at, &[signal.device], Some(signal.flow))
        {
            self.counts[3] += 1;
            self.records.push((signal.at, Interface::Host(signal.device), octets.clone()));
        }
    }
}
