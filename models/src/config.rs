//! Compiled input of the fabric: dense, valid, free of names that need a look-up.
//!
//! The `scenarios` crate is the only producer; [`crate::Simulation::new`] trusts these values and panics on a
//! contradiction, because a contradiction here is a defect of the compiler, not of a scenario file.
//! All times are picoseconds, all lengths of packets are octets on the wire (8b/10b characters).

mod id_table;
mod linx;
mod medium;
mod session;
mod transfer;
mod translator;

use sim_core::Duration;
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use voq_backpressure::QueueMap;

pub use crate::ports::{PortSet, of_several};
pub use id_table::{BLOCK, Block, BlockNumbers, IdTable};
pub use linx::*;
pub use logical::engine::stream::Mtu;
pub use lp_serial::cost::IdSize;
pub use lp_serial::link::{Channels, FlowControl, Traffic, VcConfig};
pub use medium::*;
pub use session::*;
pub use transfer::*;
pub use translator::*;

/// Most ports that one modelled switch may have: as many as VoQ messages can name (Part 12).
pub const PORTS_MAX: usize = voq_backpressure::MAX_PORTS as usize;
/// Most sets of several ports of a neighbour for which multicast packets are staged at one port: their queues
/// are numbered behind those of ports, in one octet.
pub const MULTICAST_SETS_MAX: usize = 63;
/// Most priorities: RapidIO has four (Part 6 §5.6.3).
pub const PRIORITIES: usize = 4;

/// What stands in the place of a priority for packets of VC1 to VC8: their VCID, 0 to 7, above the priorities
/// of VC0. `vc` is 1 to 8.
pub const fn vc_priority(vc: u8) -> u8 {
    PRIORITIES as u8 + vc - 1
}

/// The VC, 1 to 8, that stands in the place of a priority; 0 for VC0.
pub const fn vc_of(priority: u8) -> u8 {
    (priority + 1).saturating_sub(PRIORITIES as u8)
}

/// A whole fabric. The default is an empty one.
#[derive(Clone, Debug, Default)]
pub struct FabricConfig {
    /// Seed of every random stream of the run.
    pub seed: u64,
    /// Tie permutation, 0 = none (see [`sim_core::Shake`]).
    pub shake: u64,
    /// Devices; the index is the actor id, and the order is that of the sorted scenario paths.
    pub devices: Vec<DeviceConfig>,
    /// Full-duplex links.
    pub links: Vec<LinkConfig>,
    /// Size of device ids in all packets.
    pub ids: IdSize,
    /// Length of every switch's routing table: one more than the largest destination id in use (<= 65 536).
    pub id_space: u32,
    /// `owner[destID]` = index of the endpoint that accepts it, or [`NO_OWNER`] (multicast ids, unused ids).
    pub owners: Vec<u32>,
    /// Flows: what packets are reported under.
    pub flows: Vec<FlowConfig>,
    /// Traffic sources.
    pub sources: Vec<SourceConfig>,
    /// Endpoints that run protocols, in the order of their devices.
    pub agents: Vec<AgentConfig>,
    /// A host sets the fabric up. Then routes, VoQ enables and ids are what will come out of it
    /// ([`crate::enumeration::plan`]); the run begins with none of them, and traffic when its endpoint is
    /// told that it may send.
    pub enumeration: Option<EnumerationConfig>,
    /// Scheduled losses of stype2 messages.
    pub symbol_losses: Vec<SymbolLoss>,
    /// Writes to VoQ registers and thresholds of switches, in the order of time.
    pub voq_writes: Vec<VoqWrite>,
    /// Links of other media than RapidIO, at most one entry for each link.
    pub media: Vec<MediumLink>,
    /// What carries Scheduled Transfers from one medium to another.
    pub translation: Translation,
    /// Links that need symbol granularity, at most one entry for each link.
    pub symbolic: Vec<SymbolicLink>,
    /// What happens to them when, in the order of time.
    pub faults: Vec<Fault>,
    /// Interval between observations of queues ([`crate::Probe::sample`]); `None` = no samples.
    pub sample_every: Option<Duration>,
    /// A packet that has not moved for this long starts the wait-for walk; `None` = no watchdog.
    pub stall_after: Option<Duration>,
    /// Stop the run at the first stall instead of only reporting it.
    pub stop_on_stall: bool,
}

impl FabricConfig {
    /// How many endpoints are to get a packet for `destination` that leaves, or has left, through `from`: by
    /// the routes of the scenario, and 1 unless switches copy it. What leads nowhere is one that nobody gets.
    /// `across`: the port at the other end of a link.
    pub(crate) fn members(
        &self,
        from: (u32, u8),
        destination: u32,
        across: impl Fn((u32, u8)) -> Option<(u32, u8)>,
    ) -> u64 {
        // A type 8 packet has a mark in its id, which no table knows.
        if self.owners.get(destination as usize).is_none_or(|owner| *owner != NO_OWNER) {
            return 1;
        }
        // a loop in the tables must not be one here
        let (mut heads, mut left, mut members) = (vec![from], 2 * self.devices.len(), 0);
        while let Some((device, input)) = heads.pop().and_then(&across) {
            left = left.saturating_sub(1);
            let DeviceModel::Switch(switch) = &self.devices[device as usize].model else {
                members += 1;
                continue;
            };
            match switch.routes.entries.get(destination as usize).map(|route| route.egress) {
                Some(Egress::Port(number)) if left > 0 => heads.push((device, number)),
                Some(Egress::Multicast(mask)) if left > 0 => {
                    let others = switch.routes.masks[usize::from(mask)].without(input);
                    heads.extend(others.iter().map(|number| (device, number)));
                }
                _ => {}
            }
        }
        members.max(1)
    }

    /// Every source: of packets, then those that drive protocols.
    pub fn all_sources(&self) -> impl Iterator<Item = &SourceConfig> + Clone {
        let parts = self.agents.iter().flat_map(|agent| &agent.parts);
        self.sources.iter().chain(parts.filter_map(|part| part.source.as_ref()))
    }

    /// Whether the ports of some switch do not fit one word, or queues that an endpoint numbers by a table.
    pub(crate) fn has_large_switch(&self) -> bool {
        let word = u64::BITS as usize;
        let is_large = |device: &DeviceConfig| match &device.model {
            DeviceModel::Endpoint(EndpointConfig { staging: StagingConfig::Table(table), .. }) => {
                table.iter().any(|&queue| usize::from(queue) >= word)
            }
            _ => device.ports.len() > word,
        };
        self.devices.iter().any(is_large)
    }
}

/// Marks a destination id that no endpoint owns.
pub const NO_OWNER: u32 = u32::MAX;

/// One device = one actor.
#[derive(Clone, Debug)]
pub struct DeviceConfig {
    /// Scenario path, unique, for example `leaf/03`.
    pub path: String,
    /// Ports; an endpoint has exactly one.
    pub ports: Vec<PortConfig>,
    /// What the device is.
    pub model: DeviceModel,
}

/// What a device is.
#[derive(Clone, Debug)]
pub enum DeviceModel {
    /// Source and sink of packets.
    Endpoint(EndpointConfig),
    /// Forwards packets by destination id.
    Switch(SwitchConfig),
}

/// Receive side and VoQ registers of one port.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Receive buffers, in packets of maximum size: the count that buf_status can advertise (1..=61).
    pub buffers: u8,
    /// Watermarks WM0 > WM1 > WM2 > 0 that the *transmitter* at the other end applies (Part 6 §5.9).
    pub watermarks: [u8; 3],
    /// Part 12 abilities and settings.
    pub voq: PortVoq,
}

/// Part 12 abilities and settings of one port (Port n VoQ Control Status register, §5.1.2.2).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PortVoq {
    /// GEN_SUP: can generate messages.
    pub gen_sup: bool,
    /// RX_SUP: honours messages (there is no enable bit, VOQ-D13).
    pub rx_sup: bool,
    /// GEN_EN: sends messages through this port.
    pub gen_en: bool,
    /// PART: this port's status is reported.
    pub part: bool,
    /// XOFF: this port's status is forced to congested.
    pub xoff: bool,
    /// LINK_SUP: can link messages with virtual channels.
    pub link_sup: bool,
    /// LINK_EN: messages through this port, and those that come to it, are tied to a virtual channel. Both
    /// ends of a link have the same, and links of a switch that have it have the same channels.
    pub link_en: bool,
    /// Obey latency: from the end of a message's symbol to what it does to the staging queues of this port
    /// (VOQ-4.3-11).
    pub obey: Duration,
}

/// How an endpoint queues and injects.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// Own destination ids (the first is the source id of its packets).
    pub ids: Vec<u32>,
    /// Staging of the injection queue by the neighbour's egress port.
    pub staging: StagingConfig,
    /// `next_hop[destID]` = egress port of the neighbour for that id, [`NO_PORT`] if unknown; shared by all
    /// endpoints of one switch. Empty = the endpoint has no table and stages nothing (VOQ-2.2-8).
    pub next_hop: Arc<IdTable<u8>>,
}

/// No next-hop port: unknown destination, or the packet ends in the neighbour (VOQ-2.2-6).
pub const NO_PORT: u8 = 0xFF;

/// How many staging queues a device keeps for each egress link, and which next-hop port uses which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StagingConfig {
    /// No staging: packets for all next-hop ports share one FIFO and messages are ignored.
    None,
    /// One queue for each port of the neighbour.
    PerPort,
    /// Queue = port mod n, 1 <= n <= 192.
    Modulo(u8),
    /// `table[port]` = queue.
    Table(Vec<u8>),
}

impl StagingConfig {
    /// The queues for a neighbour with so many ports. `None`: there are none, or these cannot be.
    pub fn map(&self, ports: u16) -> Option<QueueMap> {
        let map = match self {
            StagingConfig::None => return None,
            StagingConfig::PerPort => QueueMap::one_per_port(ports),
            StagingConfig::Modulo(n) => QueueMap::modulo(ports, u16::from(*n)),
            StagingConfig::Table(table) => {
                let queues = table.iter().copied().max().map_or(1, |m| u16::from(m) + 1);
                let of_port = (0..ports as usize).map(|p| u16::from(table.get(p).copied().unwrap_or(0)));
                QueueMap::table(queues, of_port)
            }
        };
        map.ok()
    }
}

/// How packets wait inside a switch before the output.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum InputQueueing {
    /// One FIFO for each input and priority: only its head can leave (head-of-line blocking).
    Fifo,
    /// One queue for each (input, output) pair and priority.
    Voq,
}

/// What stands between the input buffers and the transmitter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Buffering {
    /// Nothing: the transmitter reads the input buffers.
    Direct,
    /// A buffer of `depth` packets for each (input, output) pair, filled at full speed-up.
    Crosspoint {
        /// Packets for each pair (>= 1).
        depth: u16,
    },
    /// An output buffer of `packets` for each output, filled at full speed-up.
    Output {
        /// Packets for each output (>= 1): Q_egress of Part 12 studies.
        packets: u16,
    },
    /// One pool of packet buffers for all outputs (Part 12 §2.5), filled at full speed-up.
    Shared {
        /// Packets of each priority, for all outputs together (>= 1).
        packets: u16,
    },
}

/// Who goes first when several inputs have packets for one output.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Arbitration {
    /// The next input after the last one served.
    RoundRobin,
    /// The packet that has been in the switch longest.
    OldestFirst,
    /// The input from which most packets of the priority wait for the output (with output buffers: in front
    /// of them); among equals the next after the last one served.
    LongestQueueFirst,
    /// A random input, from the switch's own stream.
    Random,
    /// iSLIP matching of all free inputs and outputs (McKeown 1999), `iterations` rounds (>= 1).
    Islip {
        /// Rounds of request, grant, accept.
        iterations: u8,
    },
}

impl Arbitration {
    /// In the words of reports.
    pub fn words(self) -> String {
        match self {
            Arbitration::RoundRobin => "round robin".to_owned(),
            Arbitration::OldestFirst => "oldest first".to_owned(),
            Arbitration::LongestQueueFirst => "longest queue first".to_owned(),
            Arbitration::Random => "random".to_owned(),
            Arbitration::Islip { iterations } => format!("iSLIP with {iterations} iterations"),
        }
    }

    /// Whether it can serve links with virtual channels.
    pub fn serves_channels(self) -> bool {
        !matches!(self, Arbitration::Islip { .. } | Arbitration::LongestQueueFirst)
    }

    /// Whether it has to know how many packets of each input wait for each output.
    pub(crate) fn counts_queues(self) -> bool {
        self == Arbitration::LongestQueueFirst
    }
}

/// When a packet may start to leave.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// After its last octet has arrived.
    StoreAndForward,
    /// After `header` octets, if the output is not faster than the input; else as store and forward.
    CutThrough {
        /// Octets up to the complete destination id.
        header: u8,
    },
}

/// Whose queue decides that an egress port is congested (VOQ-D19, VOQ-D30).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Output-queued model: all packets for the egress port count, all upstream devices hear the same.
    Shared,
    /// Input-queued model: each ingress port's packets for the egress port count for that upstream only.
    PerIngress,
}

/// Congestion detector of a switch: thresholds in packets, `0 <= x_off < x_on`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Detector {
    /// Congested when the occupancy is at least this.
    pub x_on: u16,
    /// Clear when the occupancy is at most this.
    pub x_off: u16,
    /// Whose occupancy.
    pub verdict: Verdict,
}

/// What a port of a switch judges by and how it tells of it, where ports differ.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PortRules {
    /// Detector of congestion of this egress port.
    pub detector: Option<Detector>,
    /// Period of the refresh through this port.
    pub refresh: Option<Duration>,
    /// Generation delay of messages through this port.
    pub generation_delay: Duration,
    /// Whether all is told again after the link of this port has recovered (Part 12 §4.2 g).
    pub after_recovery: bool,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// Input queueing.
    pub input: InputQueueing,
    /// Buffering behind the inputs.
    pub buffering: Buffering,
    /// Arbitration.
    pub arbitration: Arbitration,
    /// Cell clock: with `Some(slot)` packets start only at multiples of `slot`, all outputs are matched at
    /// once. `None` = asynchronous.
    pub slot: Option<Duration>,
    /// Packets that may be read from one input buffer at the same time (`Direct` only, >= 1).
    pub reads_per_input: u8,
    /// Store-and-forward or cut-through.
    pub forwarding: Forwarding,
    /// Latency from the arrival of the deciding octet to eligibility at the output (includes acceptance).
    pub pipeline: Duration,
    /// Routing: table, multicast masks.
    pub routes: RouteTable,
    /// Congestion detector; `None` = the switch never reports congestion (registers may still force XOFF).
    pub detector: Option<Detector>,
    /// Period of the refresh of all groups on enabled ports (VOQ-D18); `None` = off.
    pub refresh: Option<Duration>,
    /// Delay from a change of the verdict to the symbol being ready to send.
    pub generation_delay: Duration,
    /// Whether all is told again after a link has recovered (Part 12 §4.2 g).
    pub after_recovery: bool,
    /// What each port has instead of these four; empty: no port has anything else.
    pub port_rules: Vec<PortRules>,
    /// Packets whose staging queue the next hop has stopped do not count for the detector.
    pub leave_out_stopped: bool,
    /// Places that one staging queue may take in a buffer behind the inputs; `None` = all.
    pub queue_quota: Option<u16>,
    /// Staging of every output by the neighbour's egress port.
    pub staging: StagingConfig,
}

impl SwitchConfig {
    /// What a port judges by and how it tells of it.
    pub fn rules(&self, port: usize) -> PortRules {
        let of_switch = PortRules {
            detector: self.detector,
            refresh: self.refresh,
            generation_delay: self.generation_delay,
            after_recovery: self.after_recovery,
        };
        self.port_rules.get(port).copied().unwrap_or(of_switch)
    }

    /// Whether egress port `port` counts for its detector only what has left the input buffers.
    pub fn counts_buffer_only(&self, port: usize) -> bool {
        let shared = self.rules(port).detector.is_some_and(|detector| detector.verdict == Verdict::Shared);
        shared && matches!(self.buffering, Buffering::Output { .. } | Buffering::Shared { .. })
    }
}

/// Two-level routing table of a switch: egress port here and egress port in the neighbour (VOQ-2.2-2).
#[derive(Clone, Debug, Default)]
pub struct RouteTable {
    /// `entries[destID]`.
    pub entries: IdTable<Route>,
    /// Multicast masks: a copy leaves through each port of it (never back through the ingress port).
    pub masks: Vec<PortSet>,
    /// `mask_next_hops[mask][port]` = set of the neighbour's egress ports that the copy sent through `port`
    /// will use there (empty set = the copy ends in the neighbour).
    pub mask_next_hops: Vec<Vec<PortSet>>,
}

/// One entry of a [`RouteTable`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// What to do.
    pub egress: Egress,
    /// The neighbour's egress port for the same id, [`NO_PORT`] if there is none.
    pub next_hop: u8,
}

/// Where an id leads.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Egress {
    /// Leaves through this port.
    Port(u8),
    /// Is copied to the ports of this mask.
    Multicast(u8),
    /// Is dropped and counted.
    Drop,
}

/// A full-duplex link between two ports.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// One end: (device, port).
    pub a: (u32, u8),
    /// The other end.
    pub b: (u32, u8),
    /// Time of one character on the whole link: `char_ps.0 / char_ps.1` picoseconds.
    pub char_ps: (u64, u64),
    /// Lanes: 1, 2, 4, 8, 16. Above 4 the end of a burst is padded to a column.
    pub lanes: u8,
    /// Characters of one delimited control symbol: 4 (short) or 8 (long, IDLE3).
    pub symbol_chars: u8,
    /// Whether the link runs the long (48-bit) control symbol: only then can messages travel (VOQ-3-1).
    pub long_symbols: bool,
    /// Packets have a CRC-32 more here, and padding behind it (IDLE3); see [`LinkConfig::packet_octets`].
    pub link_crc: bool,
    /// Most unacknowledged packets: 31, 63 or 4 095.
    pub ack_window: u16,
    /// One-way propagation with the fixed latency of both physical layers (> 0).
    pub propagation: Duration,
}

impl LinkConfig {
    /// What this link adds to packets.
    pub const fn framing(&self) -> Framing {
        Framing::new(self.link_crc)
    }

    /// Octets here of a packet that has `wire` of them without what a link adds.
    pub const fn packet_octets(&self, wire: u32) -> u32 {
        self.framing().octets(wire)
    }
}

/// What a link adds to packets, which does not leave it: an IDLE3 link a CRC-32 and padding to a multiple of
/// eight octets (Part 6 Rev 3.x §2.5), others nothing. A sum and a mask, so that a hop decides nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Framing {
    more: u32,
    mask: u32,
}

impl Framing {
    /// Of a link with or without a CRC of its own.
    pub const fn new(link_crc: bool) -> Self {
        if link_crc { Framing { more: 4 + 7, mask: !7 } } else { Framing { more: 0, mask: !0 } }
    }

    /// Octets on the link of a packet that has `wire` of them without what links add.
    #[inline(always)]
    pub const fn octets(self, wire: u32) -> u32 {
        (wire + self.more) & self.mask
    }
}

/// A flow or declared class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowConfig {
    /// Name in every report.
    pub name: String,
}

/// Length of a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PacketSize {
    /// Payload octets (goodput).
    pub payload: u16,
    /// Octets on the wire: header, payload, CRCs, padding; without delimiters and without what a link of its
    /// way adds ([`LinkConfig::packet_octets`]).
    pub wire: u16,
}

/// One traffic source at one endpoint.
#[derive(Clone, Debug)]
pub struct SourceConfig {
    /// Device index of the endpoint.
    pub endpoint: u32,
    /// Index into [`FabricConfig::flows`].
    pub flow: u16,
    /// Name of the source's random streams, unique: `<device path>/<flow name>/<n>`.
    pub stream: String,
    /// Priority 0..=3; or [`vc_priority`], if all links on the way have virtual channels.
    pub priority: u8,
    /// First instant at which packets may be created.
    pub start: sim_core::Time,
    /// No packet is created at or after this instant.
    pub stop: sim_core::Time,
    /// It would go on at `stop`, which is where the run ends: that is not over before (F-114), however
    /// long ago the last packet was. A run of such a fabric goes to `stop` at most.
    pub goes_on: bool,
    /// Most packets to create.
    pub limit: u64,
    /// When packets are created.
    pub arrivals: Arrivals,
    /// Where they go.
    pub destinations: Destinations,
    /// How long they are.
    pub sizes: Sizes,
    /// The ftype of its packets, for those who look at the wire. A trace says it packet by packet, and hosts
    /// make packets of several types.
    pub ftype: u8,
}

impl SourceConfig {
    /// It makes the next packet when one starts.
    pub(crate) fn is_closed_loop(&self) -> bool {
        matches!(self.arrivals, Arrivals::Saturated { .. })
    }

    /// Octets on the wire of its shortest and its longest packet, delimiters left out. `None`: it has none.
    pub fn lengths(&self) -> Option<(u16, u16)> {
        let all: &mut dyn Iterator<Item = &PacketSize> = match (&self.sizes, &self.arrivals) {
            (Sizes::Fixed(size), _) => &mut std::iter::once(size),
            (Sizes::Mix(sizes), _) => &mut sizes.iter().map(|(_, size)| size),
            (Sizes::Replay, Arrivals::Replay(packets)) => &mut packets.iter().map(|packet| &packet.size),
            (Sizes::Replay, _) => &mut std::iter::empty(),
        };
        let one = all.map(|size| (size.wire, size.wire));
        one.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}

/// When packets are created.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// Exponential gaps.
    Poisson {
        /// Mean gap.
        mean: Duration,
    },
    /// At every multiple of `slot` with probability `numerator / denominator`.
    Bernoulli {
        /// Slot length.
        slot: Duration,
        /// Numerator of the probability.
        numerator: u64,
        /// Denominator of the probability.
        denominator: u64,
    },
    /// A packet every `numerator / denominator` picoseconds, the first at `phase` after the start.
    Constant {
        /// Interval as an exact rational number of picoseconds.
        interval: (u64, u64),
        /// Offset of the first packet.
        phase: Duration,
    },
    /// Bursts: exponential on-periods in which packets come every `interval`, exponential off-periods.
    OnOff {
        /// Mean length of an on-period.
        on: Duration,
        /// Mean length of an off-period.
        off: Duration,
        /// Gap inside a burst.
        interval: Duration,
    },
    /// Closed loop: `backlog` packets of this source always wait at the endpoint (>= 1).
    Saturated {
        /// Packets kept waiting.
        backlog: u16,
    },
    /// Exactly these packets, sorted by time.
    Replay(Arc<Vec<ReplayPacket>>),
}

/// One packet of a recorded trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReplayPacket {
    /// Creation.
    pub at: sim_core::Time,
    /// Destination id.
    pub destination: u32,
    /// Length.
    pub size: PacketSize,
    /// Priority 0..=3.
    pub priority: u8,
    /// ftype on the wire.
    pub ftype: u8,
}

/// Where packets go (destination ids).
#[derive(Clone, Debug)]
pub enum Destinations {
    /// Always this id.
    Fixed(u32),
    /// In turn.
    Cycle(Arc<Vec<u32>>),
    /// Uniform over the list; entries equal to `except` are skipped by drawing over the others.
    Uniform {
        /// Candidates, without duplicates.
        ids: Arc<Vec<u32>>,
        /// Position in `ids` that is never drawn (the source itself), or `None`.
        except: Option<u32>,
    },
    /// With probability `numerator / denominator` one of `hot`, otherwise uniform over `cold`; each class
    /// reports under its own flow.
    Hotspot {
        /// Hot ids.
        hot: Arc<Vec<u32>>,
        /// Position in `hot` that is never drawn, or `None`.
        hot_except: Option<u32>,
        /// Flow of the hot packets; the source's own flow is that of the others.
        hot_flow: u16,
        /// Numerator.
        numerator: u64,
        /// Denominator.
        denominator: u64,
        /// All other ids.
        cold: Arc<Vec<u32>>,
        /// Position in `cold` that is never drawn, or `None`.
        cold_except: Option<u32>,
    },
    /// Taken from the [`Arrivals::Replay`] records.
    Replay,
}

impl Destinations {
    /// All ids, if they are in one list: not of a hot spot, nor of a trace.
    pub fn listed(&self) -> Option<&[u32]> {
        match self {
            Destinations::Fixed(id) => Some(std::slice::from_ref(id)),
            Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => Some(ids),
            Destinations::Hotspot { .. } | Destinations::Replay => None,
        }
    }

    /// Every id that is known before the run, hot ones first.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let [first, rest] = match self {
            Destinations::Hotspot { hot, cold, .. } => [&hot[..], &cold[..]],
            _ => [self.listed().unwrap_or_default(), &[]],
        };
        first.iter().chain(rest).copied()
    }
}

/// How long packets are.
#[derive(Clone, Debug)]
pub enum Sizes {
    /// One length.
    Fixed(PacketSize),
    /// `(weight, length)`; drawn with probability weight / sum.
    Mix(Arc<Vec<(u32, PacketSize)>>),
    /// Taken from the [`Arrivals::Replay`] records.
    Replay,
}

/// Loses stype2 messages on purpose (a corrupted symbol is not repeated, VOQ-D18).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SymbolLoss {
    /// Device that sends the message.
    pub device: u32,
    /// Port through which it leaves.
    pub port: u8,
    /// Which messages count.
    pub kind: LossKind,
    /// Loses the n-th such message, 1 = the first.
    pub nth: u32,
}

/// A write to what a port of a switch reports by.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct VoqWrite {
    /// When.
    pub at: sim_core::Time,
    /// Device index of the switch.
    pub device: u32,
    /// Its port.
    pub port: u8,
    /// What is written.
    pub change: VoqChange,
}

/// What a [`VoqWrite`] changes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum VoqChange {
    /// The Port n VoQ Control Status register (Part 12 §5.1.2.2).
    Register {
        /// Bits that are written, of `voq_backpressure::csr`; the others keep their values.
        mask: u32,
        /// What they become.
        value: u32,
    },
    /// The thresholds of this egress port, which are implementation specific (VOQ-D19): those of its
    /// [`Detector`]. Its verdicts are judged by them at once. Without a detector nothing changes.
    Thresholds {
        /// Congested when the occupancy is at least this.
        x_on: u16,
        /// Clear when the occupancy is at most this, below `x_on`.
        x_off: u16,
    },
}

/// Bits of a register that a host changes through the fabric: it reads the register and writes it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HostWrite {
    /// When the host begins, if it is done with everything else by then.
    pub at: sim_core::Time,
    /// Whose register it is, for reports.
    pub device: u32,
    /// Port that it is about, for reports.
    pub port: u8,
    /// Destination id of the type 8 packets: one whose way leads through the switch.
    pub destination: u16,
    /// Switches that they pass before they get to it.
    pub hop_count: u8,
    /// Offset of the register.
    pub offset: u32,
    /// Bits that are written; the others keep their values.
    pub mask: u32,
    /// What they become.
    pub value: u32,
}

/// Which messages a [`SymbolLoss`] counts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LossKind {
    /// Every message.
    Any,
    /// Messages that set a bit that was clear.
    Xoff,
    /// Messages that clear a bit that was set.
    Xon,
}

/// A link that runs in symbol granularity: its ends are two [`lp_serial::link::LinkPort`]s. Such a link has
/// 8b/10b characters, and neither of its devices cuts through if packets may be damaged or refused.
#[derive(Clone, Debug)]
pub struct SymbolicLink {
    /// Index of the link.
    pub link: u32,
    /// Flow control that both ends agree on.
    pub flow: FlowControl,
    /// Time after which an answer of the partner counts as lost: longer than any answer takes.
    pub timeout: Duration,
    /// Time after which a status that was lost is told again.
    pub status_period: Duration,
    /// Symbol granularity from beginning to end. Otherwise it is used around errors and faults only, if flow
    /// control is the transmitter's and neither device cuts through.
    pub throughout: bool,
    /// Virtual channels beside VC0: the link runs in symbol granularity throughout.
    pub channels: Option<Box<ChannelsConfig>>,
    /// Damage on the way from `a` to `b`, and from `b` to `a`.
    pub damage: [Damage; 2],
}

/// VC1 to VC8 of a link (Part 6 §5.4.2); both ends are alike. Switches at such a link read input buffers
/// directly, one queue for each output, and store and forward. Messages of Part 12 act on all of them, or on
/// one where both ports link messages with channels ([`PortVoq::link_en`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelsConfig {
    /// How many there are.
    pub channels: Channels,
    /// Traffic, receive buffers at each end and share of each.
    pub vcs: [VcConfig; 8],
    /// Share of VC0; `None`: it goes before the others.
    pub vc0_share: Option<u16>,
    /// Period in which VC_status is repeated; `None`: only when a symbol was lost.
    pub refresh: Option<Duration>,
}

/// Damage in one direction of a link.
#[derive(Clone, Debug, Default)]
pub struct Damage {
    /// Random errors.
    pub errors: Option<BitErrors>,
    /// Packets to be damaged: 1 = the first whose transmission begins; rising.
    pub packets: Vec<u64>,
    /// Symbols to be damaged: 1 = the first; rising.
    pub symbols: Vec<u64>,
}

/// Random errors: the gaps between damaged characters are geometric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitErrors {
    /// Name of the random stream, unique.
    pub stream: String,
    /// Probability that a character is the first of an error, as a fraction.
    pub probability: (u64, u64),
    /// Characters that an error damages, at least 1.
    pub burst: u32,
}

/// Something that is done to a symbolic link at some time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub at: sim_core::Time,
    /// Index of the link.
    pub link: u32,
    /// What.
    pub action: FaultAction,
}

/// What is done to a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// Alignment is lost: nothing is sent or received.
    Down,
    /// The lanes are aligned again: the link initialises.
    Up,
    /// From the next initialisation on the link has so many lanes.
    Lanes(u8),
    /// End 0 or 1 tells no free buffers any more: `Credits(end, false)`; or it does again.
    Credits(u8, bool),
}

/// What runs on an endpoint above its link.
#[derive(Clone, Debug)]
pub struct AgentConfig {
    /// Device index of the endpoint.
    pub device: u32,
    /// Its id: the source of its packets.
    pub id: u32,
    /// Size of device ids in its packets.
    pub ids: IdSize,
    /// The software side.
    pub host: HostConfig,
    /// `now` of protocols = fabric time x this fraction (both positive).
    pub clock: (u64, u64),
    /// A packet that is not answered for so long is lost. Picoseconds of the protocol clock.
    pub response_timeout: u64,
    /// From a RETRY response until the packet is sent again. Picoseconds of the protocol clock.
    pub retry_delay: u64,
    /// Packets of type 9 that may wait for the link of the endpoint at once (>= 1).
    pub stream_packets: u32,
    /// MTU of type 9: that of the whole system.
    pub mtu: Mtu,
    /// Protocols, one for each flow.
    pub parts: Vec<PartConfig>,
}

/// The software side of an endpoint.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Time for each message, PDU and doorbell that comes in.
    pub rx_service: ServiceTime,
    /// Time for each that goes out.
    pub tx_service: ServiceTime,
    /// Places for what came in, the one being served included (>= 1).
    pub rx_queue: u32,
}

/// How long a service takes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ServiceTime {
    /// Always the same; 0 makes no event.
    Fixed(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
    /// Uniform between two times.
    Uniform(Duration, Duration),
}

/// A protocol on an endpoint.
#[derive(Clone, Debug)]
pub struct PartConfig {
    /// Flow: both ends of a conversation have a part with the same one.
    pub flow: u16,
    /// Which protocol.
    pub protocol: ProtocolConfig,
    /// What drives it; `None` = it only reacts. Wire sizes mean nothing here, payloads are those of messages.
    pub source: Option<SourceConfig>,
}

/// Which protocol, with its settings.
#[derive(Clone, Debug)]
pub enum ProtocolConfig {
    /// Messages, PDUs, doorbells, reads or writes without a protocol above.
    Workload {
        /// What carries them.
        carrier: Carrier,
    },
    /// Request and response.
    Rpc {
        /// What carries both.
        carrier: Carrier,
        /// Octets of a response.
        answer: u32,
        /// How long a client waits for it. Picoseconds of the protocol clock.
        timeout: u64,
    },
    /// LINX connections, and messages over them.
    Linx(Box<LinxConfig>),
    /// Session management: conduits, and PDUs on them.
    Session(Box<SessionConfig>),
    /// Scheduled Transfers.
    Transfer(Box<TransferConfig>),
    /// Carries Scheduled Transfers from one medium to another.
    Translator(Box<TranslatorConfig>),
    /// Sets the fabric up, as [`FabricConfig::enumeration`] says.
    Enumerate {
        /// Settings.
        settings: EnumerationConfig,
        /// Priority of its requests, 0..=2.
        priority: u8,
        /// What it changes afterwards, in the order of time.
        writes: Arc<Vec<HostWrite>>,
    },
    /// A protocol whose settings nobody else reads: `models::agent` has a file for each.
    Plugged(Arc<dyn ProtocolSettings>),
}

impl ProtocolConfig {
    /// Settings of this kind, if a protocol of its own has them ([`Plugged`](Self::Plugged)).
    pub fn plugged<T: ProtocolSettings>(&self) -> Option<&T> {
        match self {
            ProtocolConfig::Plugged(settings) => (&**settings as &dyn Any).downcast_ref(),
            _ => None,
        }
    }
}

/// Settings of a protocol that nobody but itself reads.
pub trait ProtocolSettings: Any + Debug + Send + Sync {}

/// A host that sets the fabric up by maintenance requests: its agent has a part with
/// [`ProtocolConfig::Enumerate`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EnumerationConfig {
    /// Device index of the host, an endpoint. Its id is 0.
    pub host: u32,
    /// Size of device ids. [`FabricConfig::id_space`] is the whole space: 256 or 65 536.
    pub ids: IdSize,
    /// Switches spread ids over all equally short ways instead of taking the lowest port.
    pub spread: bool,
    /// The host sets the VoQ enables.
    pub enables: bool,
    /// RX_SUP of the host's own port.
    pub host_hears: bool,
    /// The host sets LINK_EN at both ends of each link of which both have LINK_SUP.
    pub links: bool,
    /// LINK_SUP of the host's own port.
    pub host_links: bool,
}

impl EnumerationConfig {
    /// The id that endpoints have before the host gives them one.
    pub fn any_id(&self) -> u16 {
        if self.ids == IdSize::Dev8 { 0xFF } else { 0xFFFF }
    }
}

/// What carries messages.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Type 11.
    Message {
        /// 0..=3, up to 63 for messages of one segment.
        mailbox: u8,
        /// Standard size of a segment: 8, 16, 32, 64, 128, 256.
        segment: u16,
    },
    /// Type 9.
    Stream {
        /// Class of service.
        cos: u8,
        /// Stream.
        stream_id: u16,
    },
    /// Type 10.
    Doorbell {
        /// The 16 bits.
        info: u16,
    },
    /// Type 2: sizes are those of what is read.
    Read,
    /// Type 5 with response.
    Write,
}
