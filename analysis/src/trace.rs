//! What happens in a run, told event by event, and the life of one packet.
//!
//! Two probes: [`Tracer`] keeps the events that a [`Filter`] lets through; [`Life`] keeps the steps of one
//! packet. Packets have numbers: 1 is the first that was created in the run, whoever made it. Observers hear
//! of some creations late (sources make them up when a transmission ends), so numbers and order are settled
//! only for what is older than [`margin`].

mod life;
mod text;

pub use life::{Census, Life, PacketName};
pub(crate) use life::{difference, stored};
pub(crate) use text::Names;
pub use text::port_text;

use models::config::{FabricConfig, vc_of};
use models::probe::{
    Delivery, DropReason, Dropped, Journey, PacketId, PacketStep, ProtocolEvent, ProtocolFact, RegisterEvent,
    RegisterStep, StagingEdge,
};
use models::sim_core::Time;
use models::{Probe, logical};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Characters of the longest packet with its delimiters.
const PACKET_CHARS: u64 = 300;

/// How much later than its instant observers hear of something: the longest packet on the slowest link, in
/// picoseconds. Pipelines have to be unfolded.
pub fn margin(config: &FabricConfig) -> u64 {
    let packet = |link: &models::config::LinkConfig| PACKET_CHARS * link.char_ps.0 / link.char_ps.1.max(1);
    config.links.iter().map(packet).max().unwrap_or(0) + 1
}

/// Kinds of events.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Register accesses through the fabric: requests and answers.
    Register,
    /// Packets delivered (those that carry register accesses are told as such).
    Delivery,
    /// Packets dropped.
    Drop,
    /// Staging queues stopped (XOFF) and released (XON).
    Edge,
    /// Messages, PDUs and doorbells handed to a protocol.
    Message,
    /// What protocols met: retries, timeouts, failures.
    Fact,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 6] =
        [Kind::Register, Kind::Delivery, Kind::Drop, Kind::Edge, Kind::Message, Kind::Fact];

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Register => "register",
            Kind::Delivery => "delivery",
            Kind::Drop => "drop",
            Kind::Edge => "edge",
            Kind::Message => "message",
            Kind::Fact => "fact",
        }
    }
}

/// Which events are kept.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Kinds; empty = all.
    pub kinds: Vec<Kind>,
    /// `true` for every device of interest; empty = all.
    pub devices: Vec<bool>,
    /// `true` for every flow of interest; empty = all. Staging edges belong to no flow.
    pub flows: Vec<bool>,
    /// First instant.
    pub from: Time,
    /// Last instant.
    pub to: Time,
}

impl Default for Filter {
    fn default() -> Self {
        Filter { kinds: Vec::new(), devices: Vec::new(), flows: Vec::new(), from: Time::ZERO, to: Time::MAX }
    }
}

impl Filter {
    fn takes(&self, at: Time, kind: Kind, devices: &[u32], flow: Option<u16>) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind)) && self.passes(at, devices, flow)
    }

    /// Whether it takes what happens at this instant, has to do with one of these devices, and belongs to
    /// this flow or to none, whatever its kind.
    pub fn passes(&self, at: Time, devices: &[u32], flow: Option<u16>) -> bool {
        let listed = |list: &[bool], index: usize| list.is_empty() || list.get(index) == Some(&true);
        at >= self.from
            && at <= self.to
            && devices.iter().any(|device| listed(&self.devices, *device as usize))
            && (self.flows.is_empty() || flow.is_some_and(|flow| listed(&self.flows, usize::from(flow))))
    }
}

/// A packet: when it was created, and its name.
type Born = (Time, PacketId);

/// What happened.
#[derive(Clone, Debug)]
enum What {
    Asked {
        packet: Born,
        destination: u32,
        hop_count: u8,
        offset: u32,
        /// `None`: it reached nobody.
        name: Option<String>,
        write: Option<u32>,
    },
    Answered {
        /// (device, port) that answered, and what was read or written.
        by: Option<(u32, u8, u32)>,
        name: Option<String>,
        write: bool,
        error: bool,
        took: u64,
    },
    Delivered {
        packet: Born,
        delivery: Delivery,
    },
    Dropped {
        packet: Born,
        dropped: Dropped,
    },
    Edge(StagingEdge),
    Message(Journey),
    Fact(ProtocolEvent),
}

impl What {
    fn kind(&self) -> Kind {
        match self {
            What::Asked { .. } | What::Answered { .. } => Kind::Register,
            What::Delivered { .. } => Kind::Delivery,
            What::Dropped { .. } => Kind::Drop,
            What::Edge(_) => Kind::Edge,
            What::Message(_) => Kind::Message,
            What::Fact(_) => Kind::Fact,
        }
    }
}

/// An event and where it happened.
#[derive(Clone, Debug)]
struct Entry {
    at: Time,
    device: u32,
    what: What,
}

/// A register access under way.
#[derive(Clone, Debug)]
struct Access {
    at: Time,
    flow: u16,
    /// The request, until it is known whom it reached.
    asked: Option<What>,
    name: Option<String>,
    write: bool,
    by: Option<(u32, u8, u32)>,
}

/// Keeps the events of a run that a filter lets through.
#[derive(Clone, Debug)]
pub struct Tracer {
    config: Arc<FabricConfig>,
    filter: Filter,
    entries: Vec<Entry>,
    /// All packets so far, in the order of being told.
    packets: Vec<Born>,
    living: BTreeMap<PacketId, Time>,
    accesses: BTreeMap<(u32, u8), Access>,
    /// Told right before its packet's end, and right after it.
    delivery: Option<Delivery>,
    lost: Option<Born>,
}

impl Tracer {
    /// A tracer of one run of a fabric.
    pub fn new(config: Arc<FabricConfig>, filter: Filter) -> Self {
        Tracer {
            config,
            filter,
            entries: Vec::new(),
            packets: Vec::new(),
            living: BTreeMap::new(),
            accesses: BTreeMap::new(),
            delivery: None,
            lost: None,
        }
    }

    /// Events kept that are settled at `now`.
    pub fn settled(&self, now: Time) -> usize {
        // Requests are told when it is known whom they reached.
        let waiting = self.accesses.values().filter(|access| access.asked.is_some());
        let horizon = waiting.map(|access| access.at.0).min().unwrap_or(u64::MAX);
        let horizon = horizon.min(now.0.saturating_sub(margin(&self.config)));
        self.entries.iter().filter(|entry| entry.at.0 < horizon).count()
    }

    /// The first `limit` events as text, or as lines of JSON.
    pub fn tell(mut self, limit: usize, json: bool) -> String {
        let waiting = std::mem::take(&mut self.accesses);
        for ((device, _), access) in waiting {
            self.reached_nobody(device, access);
        }
        self.packets.sort_unstable();
        self.entries.sort_by_key(|entry| entry.at);
        let more = self.entries.len() > limit;
        self.entries.truncate(limit);
        let mut out = String::new();
        let names = text::Names::new(&self.config);
        for entry in &self.entries {
            out += &if json { self.json(&names, entry) } else { self.line(&names, entry) };
            out.push('\n');
        }
        if !json && more {
            out += &format!("... and more than these {limit}: --limit takes another number, and 0 for all\n");
        }
        out
    }

    /// Number of a packet.
    fn number(&self, packet: Born) -> usize {
        self.packets.partition_point(|other| *other < packet) + 1
    }

    fn keep(&mut self, at: Time, device: u32, others: &[u32], flow: Option<u16>, what: What) {
        let mut devices = vec![device];
        devices.extend(others);
        if self.filter.takes(at, what.kind(), &devices, flow) {
            self.entries.push(Entry { at, device, what });
        }
    }

    /// A request that no device has carried out.
    fn reached_nobody(&mut self, device: u32, access: Access) {
        if let Some(what) = access.asked {
            self.keep(access.at, device, &[], Some(access.flow), what);
        }
    }

    /// The delivery of a packet at this device and instant is told as what the packet carries.
    fn told_as_access(&mut self, device: u32, at: Time) {
        let last = self.entries.iter().rev().take_while(|entry| entry.at == at);
        let is_it = |entry: &Entry| entry.device == device && matches!(entry.what, What::Delivered { .. });
        if let Some(back) = last.into_iter().position(is_it) {
            self.entries.remove(self.entries.len() - 1 - back);
        }
    }

    fn born(&self, id: PacketId) -> Born {
        (self.living.get(&id).copied().unwrap_or(Time::ZERO), id)
    }
}

impl Probe for Tracer {
    fn follows_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Time, id: PacketId, step: &PacketStep) {
        match *step {
            PacketStep::Created { .. } => {
                self.packets.push((at, id));
                self.living.insert(id, at);
            }
            PacketStep::Started { .. } | PacketStep::Cut { .. } => {}
            PacketStep::Ended { parts: None, .. } => self.lost = Some(self.born(id)),
            PacketStep::Ended { device, .. } => {
                let packet = self.born(id);
                let Some(delivery) = self.delivery.take() else { return };
                let what = What::Delivered { packet, delivery };
                self.keep(at, device, &[delivery.source], Some(delivery.flow), what);
            }
        }
    }

    fn delivered(&mut self, delivery: &Delivery) {
        self.delivery = Some(*delivery);
    }

    fn dropped(&mut self, dropped: &Dropped) {
        if let Some(packet) = self.lost.take() {
            let (device, flow) = (dropped.device, dropped.flow);
            let what = What::Dropped { packet, dropped: *dropped };
            self.keep(dropped.at, device, &[packet.1.source], Some(flow), what);
        }
    }

    fn register(&mut self, event: &RegisterEvent) {
        let RegisterEvent { at, device, tid, flow, step } = *event;
        match step {
            RegisterStep::Asked { packet, destination, hop_count, offset, write } => {
                let packet = (at, packet);
                let what = What::Asked { packet, destination, hop_count, offset, name: None, write };
                let asked = Some(what);
                let access = Access { at, flow, asked, name: None, write: write.is_some(), by: None };
                if let Some(before) = self.accesses.insert((device, tid), access) {
                    self.reached_nobody(device, before);
                }
            }
            RegisterStep::CarriedOut { asker, port, offset, block, value, .. } => {
                self.told_as_access(device, at);
                let Some(access) = self.accesses.get_mut(&(asker, tid)) else { return };
                access.by = Some((device, port, value));
                access.name = Some(register_name(offset, block));
                let (at, known) = (access.at, access.name.clone());
                if let Some(What::Asked { packet, destination, hop_count, offset, write, .. }) =
                    access.asked.take()
                {
                    let what = What::Asked { packet, destination, hop_count, offset, name: known, write };
                    self.keep(at, asker, &[device], Some(flow), what);
                }
            }
            RegisterStep::Answered { error } => {
                self.told_as_access(device, at);
                let Some(access) = self.accesses.remove(&(device, tid)) else { return };
                let Access { at: asked, name, write, by, .. } = access;
                let what = What::Answered { by, name, write, error, took: at.0 - asked.0 };
                let others: Vec<u32> = by.iter().map(|(device, _, _)| *device).collect();
                self.keep(at, device, &others, Some(flow), what);
            }
        }
    }

    fn staging_edge(&mut self, edge: &StagingEdge) {
        self.keep(edge.at, edge.device, &[], None, What::Edge(*edge));
    }

    fn message(&mut self, message: &Journey) {
        let Journey { at, destination, source, flow, .. } = *message;
        self.keep(at, destination, &[source], Some(flow), What::Message(*message));
    }

    fn protocol_event(&mut self, event: &ProtocolEvent) {
        self.keep(event.at, event.device, &[], Some(event.flow), What::Fact(*event));
    }
}

/// What a register is called; `block`: id of the extended features block, and offset in it.
fn register_name(offset: u32, block: Option<(u16, u32)>) -> String {
    use logical::register::name;
    match block {
        Some((0x000B, within)) if within >= 0xC => {
            format!("Port {} VoQ Control and Status", (within - 0xC) / 4)
        }
        Some((id, within)) => name::in_block(id, within),
        None => name::name(offset).unwrap_or("register").to_owned(),
    }
}

pub(crate) fn fact_name(fact: ProtocolFact) -> &'static str {
    match fact {
        ProtocolFact::Retried => "a message is answered by RETRY: no place in the host's queue",
        ProtocolFact::Discarded => "a PDU of data streaming is discarded",
        ProtocolFact::Abandoned => "a message is given up: it is refused, or segments are missing",
        ProtocolFact::Failed => "a request fails: ERROR, or no answer in time",
        ProtocolFact::TimedOut => "an answer or a sign of life is waited for no longer",
        ProtocolFact::ConduitOpen => "a conduit is complete at this end",
        ProtocolFact::ConduitEnded => "a complete conduit ends",
        ProtocolFact::Connected => "a connection is up at this end",
        ProtocolFact::Disconnected => "a connection has ended at this end",
        ProtocolFact::OpenFailed => "an OPEN comes to nothing: no answer, or none of use",
        ProtocolFact::Mistaken => "a late answer is taken for that of another request",
    }
}

/// Priority or virtual channel of a packet.
fn class(priority: u8) -> String {
    match vc_of(priority) {
        0 => format!("priority {priority}"),
        vc => format!("VC{vc}"),
    }
}

fn reason(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Unroutable => "no route to its destination",
        DropReason::EmptyMask => "its multicast group has no ports here",
        DropReason::NoRoom => "no receive buffer was free",
        DropReason::LinkError => "lost by an error on a link",
    }
}
