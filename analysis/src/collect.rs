//! The collector: integers while the simulation runs, floats only afterwards.
//!
//! One call per packet comes through here, so a delivery touches one time bin, one segment of its flow (sums,
//! two histogram counters) and one endpoint, and divides by nothing in the common case. Everything is a sum,
//! a maximum or a count; calls may come in any order, and the collectors of the parts of one run merge in any
//! order to the same value.

pub mod congestion;
mod share;
mod spread;

use congestion::Congestion;
use models::config::{
    AgentConfig, Destinations, DeviceModel, FabricConfig, NO_OWNER, Operation, ProtocolConfig, SourceConfig,
};
use models::probe::{Delivery, DropReason, Dropped, Journey, Offered, ProtocolEvent, ProtocolFact};
use models::probe::{Sample, Signal, StagingEdge, Timeout, TimeoutKind};
use models::sim_core::Time;
use models::{Parts, Probe};
use std::collections::{BTreeMap, BTreeSet};

pub use spread::{LATENCY_UNIT_PS, Segment, Spread, Tallies, Tally};

/// Equal time segments of a run. A warm-up cut found after the run takes effect at a segment boundary,
/// because histograms cannot be cut anywhere else. A warm-up that is given begins a segment: what is before
/// it has one of its own, and what is measured is cut into equal ones.
pub const SEGMENTS: usize = 16;
/// A short measured part has at most so many times finer bins than the run would have as a whole.
const FINER: usize = 4;
/// Ports beyond which queue occupancies over time are kept only as totals.
const PORT_SERIES_MAX: usize = 4_096;

/// What a [`Collector`] must know before the run.
#[derive(Clone, Debug)]
pub struct CollectorConfig {
    /// Number of flows.
    pub flows: usize,
    /// `true` for every device that is an endpoint.
    pub endpoints: Vec<bool>,
    /// Simulated time at which the run ends at the latest.
    pub length: Time,
    /// Time bins over the length, a multiple of [`SEGMENTS`].
    pub bins: usize,
    /// Where the measured part begins, if that is given: a time bin and a segment begin there. Else 0.
    pub measured_from: Time,
    /// For each flow that protocols run the devices whose packets count as load: those that ask, if there
    /// are such, else all that take part. Answers load other links. `None`: all packets count.
    pub senders: Vec<Option<Vec<bool>>>,
    /// What each port does over time is kept, for who shows it: [`watching`](Self::watching).
    pub congestion: Option<Congestion>,
}

impl CollectorConfig {
    /// Configuration for one run of `fabric` until `length`.
    pub fn new(fabric: &FabricConfig, length: Time) -> Self {
        let endpoints =
            fabric.devices.iter().map(|device| matches!(device.model, DeviceModel::Endpoint(_))).collect();
        let flows = fabric.flows.len();
        let senders = (0..flows as u16).map(|flow| {
            let run = fabric.agents.iter().any(|agent| agent.parts.iter().any(|part| part.flow == flow));
            run.then(|| {
                let mut senders = vec![false; fabric.devices.len()];
                senders_of(fabric, flow).into_iter().for_each(|device| senders[device as usize] = true);
                senders
            })
        });
        let senders = senders.collect();
        let measured_from = Time(0);
        Self { flows, endpoints, length, bins: 1024, measured_from, senders, congestion: None }
    }

    /// What each port does over time is kept as well, as far as the fabric is not too large.
    #[must_use]
    pub fn watching(self, fabric: &FabricConfig) -> Self {
        Self { congestion: Congestion::new(fabric), ..self }
    }

    /// The measured part begins at `at`; ignored if nothing is left then.
    #[must_use]
    pub fn measured_from(self, at: Time) -> Self {
        Self { measured_from: if at < self.length { at } else { Time(0) }, ..self }
    }
}

/// Endpoints that send a flow: those with a source of it, or, if protocols send it by themselves, all that
/// take part.
pub fn senders_of(fabric: &FabricConfig, flow: u16) -> BTreeSet<u32> {
    let hot = |source: &SourceConfig| match source.destinations {
        Destinations::Hotspot { hot_flow, .. } => hot_flow == flow,
        _ => false,
    };
    // who may send nothing is no sender
    let sources = fabric.all_sources().filter(|source| source.limit > 0);
    let sources = sources.filter(|source| source.flow == flow || hot(source));
    let sources: BTreeSet<u32> = sources.map(|source| source.endpoint).collect();
    if !sources.is_empty() {
        return sources;
    }
    let parts = fabric.agents.iter().flat_map(|agent| agent.parts.iter().map(move |part| (agent, part)));
    let parts = parts.filter(|(_, part)| part.flow == flow);
    parts.flat_map(|(agent, part)| senders_by_themselves(fabric, agent, &part.protocol)).collect()
}

/// Endpoints from which the octets of a protocol without a source come: of a Transfer those of its data.
fn senders_by_themselves(fabric: &FabricConfig, agent: &AgentConfig, protocol: &ProtocolConfig) -> Vec<u32> {
    let transfer = match protocol {
        ProtocolConfig::Workload { .. } | ProtocolConfig::Rpc { .. } => return Vec::new(),
        // What it sends on is that of others.
        ProtocolConfig::Translator(_) => return Vec::new(),
        ProtocolConfig::Transfer(transfer) if transfer.program.is_none() => transfer,
        _ => return vec![agent.device],
    };
    let from: Vec<u16> = match transfer.job.operation {
        _ if transfer.peers.is_empty() => Vec::new(),
        Operation::Read | Operation::Get => {
            let all = fabric.agents.iter().flat_map(|agent| &agent.parts);
            let hosts = all.filter_map(|part| match &part.protocol {
                ProtocolConfig::Transfer(host) if transfer.peers.contains(&host.node) => Some(host),
                _ => None,
            });
            hosts.flat_map(|host| host.interfaces.iter().copied()).collect()
        }
        Operation::Write | Operation::ReadBack | Operation::Put | Operation::FetchOp => {
            transfer.interfaces.clone()
        }
    };
    let owner = |id: u16| fabric.owners.get(usize::from(id)).copied().filter(|owner| *owner != NO_OWNER);
    from.into_iter().filter_map(owner).collect()
}

/// Deliveries of one flow in one time bin: one cache line.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Bin {
    /// Sum of latencies, picoseconds.
    pub latency_ps: u128,
    /// Sum of network latencies, picoseconds.
    pub network_ps: u128,
    /// Packets delivered.
    pub packets: u64,
    /// Payload octets delivered.
    pub payload: u64,
    /// Injection link time of the delivered packets, picoseconds.
    pub link_ps: u64,
    /// Head-of-line blocking of the delivered packets, picoseconds.
    pub hol_ps: u64,
}

impl Bin {
    pub(crate) fn add(&mut self, other: &Bin) {
        self.latency_ps += other.latency_ps;
        self.network_ps += other.network_ps;
        self.packets += other.packets;
        self.payload += other.payload;
        self.link_ps += other.link_ps;
        self.hol_ps += other.hol_ps;
    }
}

/// Creations of one flow in one time bin.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferedBin {
    /// Packets created.
    pub packets: u64,
    /// Payload octets created.
    pub payload: u64,
    /// Injection link time of the created packets, picoseconds.
    pub link_ps: u64,
}

impl OfferedBin {
    pub(crate) fn add(&mut self, other: &OfferedBin) {
        self.packets += other.packets;
        self.payload += other.payload;
        self.link_ps += other.link_ps;
    }
}

/// Totals of one endpoint over the whole run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointTotals {
    /// Packets created here.
    pub offered_packets: u64,
    /// Payload octets created here.
    pub offered_payload: u64,
    /// Packets delivered here.
    pub delivered_packets: u64,
    /// Payload octets delivered here.
    pub delivered_payload: u64,
    /// Sum of the latencies of packets delivered here, picoseconds.
    pub latency_ps: u128,
    /// Largest latency of a packet delivered here, picoseconds.
    pub latency_ps_max: u64,
}

/// Fabric-wide observations in one time bin: packets times the picoseconds that they were there. Divided by
/// `ps` they are mean numbers.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleBin {
    /// The time of these sums, picoseconds: all of the bin, as far as there are samples. What is between two
    /// samples that lie in different bins is in each of them by its length.
    pub ps: u64,
    /// Packets in receive buffers of switches.
    pub switch_input: u128,
    /// Packets waiting for transmitters of switches.
    pub switch_waiting: u128,
    /// Packets waiting at their sources.
    pub source_waiting: u128,
    /// Packets in existence.
    pub in_flight: u128,
}

/// Observations of one port up to the last sample: packets times the picoseconds that they were there.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PortSeries {
    /// When the last sample was, picoseconds.
    pub ps: u64,
    /// Packets in the receive buffers.
    pub input: u128,
    /// Packets waiting for the transmitter.
    pub waiting: u128,
}

/// From the first beginning to the last end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first beginning, `Time::MAX` if there is none.
    pub first: Time,
    /// The last end, 0 if there is none.
    pub last: Time,
}

impl Default for Extent {
    fn default() -> Self {
        Self { first: Time::MAX, last: Time(0) }
    }
}

impl Extent {
    #[inline]
    fn begin(&mut self, at: Time) {
        self.first = self.first.min(at);
    }

    #[inline]
    fn end(&mut self, at: Time) {
        self.last = self.last.max(at);
    }

    pub(crate) fn merge(&mut self, other: &Extent) {
        self.begin(other.first);
        self.end(other.last);
    }

    /// Length in picoseconds; 0 if nothing has ended.
    pub fn ps(&self) -> u64 {
        self.last.0.saturating_sub(self.first.0)
    }
}

/// Messages, or round trips, of one flow: like packets, one bin and one segment each.
#[derive(Clone, Debug, PartialEq)]
pub struct JourneyData {
    /// From the first that was sent, of those that arrived, to the last arrival.
    pub extent: Extent,
    /// Arrivals over time; loads are 0.
    pub bins: Vec<Bin>,
    /// Distributions; index = segment.
    pub segments: Vec<Tallies>,
}

impl JourneyData {
    fn new(bins: usize, segments: usize) -> Self {
        Self {
            extent: Extent::default(),
            bins: vec![Bin::default(); bins],
            segments: vec![Tallies::default(); segments],
        }
    }

    fn record(&mut self, bin: usize, segment: usize, journey: &Journey) {
        let latency = journey.latency();
        let Parts { causes: parts, .. } = journey.parts;
        assert!(
            journey.parts.total() == latency,
            "the parts of a message's time of {latency} ps add up to {} ps: {journey:?}",
            journey.parts.total()
        );
        let network = journey.network_latency();
        self.extent.begin(journey.created);
        self.extent.end(journey.at);
        let slot = &mut self.bins[bin];
        slot.latency_ps += u128::from(latency);
        slot.network_ps += u128::from(network);
        slot.packets += 1;
        slot.payload += u64::from(journey.payload);
        slot.hol_ps += parts[models::Cause::HeadOfLine as usize];
        self.segments[segment].count(&parts, latency, network);
    }

    fn merge(&mut self, other: &JourneyData) {
        self.extent.merge(&other.extent);
        for (bin, theirs) in self.bins.iter_mut().zip(&other.bins) {
            bin.add(theirs);
        }
        for (segment, theirs) in self.segments.iter_mut().zip(&other.segments) {
            segment.merge(theirs);
        }
    }
}

/// Everything of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowData {
    /// From the first creation to the last delivery.
    pub extent: Extent,
    /// Deliveries over time.
    pub bins: Vec<Bin>,
    /// Creations over time.
    pub offered: Vec<OfferedBin>,
    /// Distributions; index = segment.
    pub segments: Vec<Tallies>,
    /// Packets dropped by reason: not routed, empty multicast mask, no receive buffer, lost by an error.
    pub dropped: [u64; 4],
    /// Endpoints that did not get these: one for each, but of packets that switches copy.
    pub not_reached: u64,
    /// When the last of these was, 0 if there is none.
    pub last_drop: Time,
    /// When the last packet was created, 0 if there is none.
    pub last_offer: Time,
    /// Messages handed to protocols, if there was one.
    pub messages: Option<Box<JourneyData>>,
    /// Answers handed to who had asked, if there was one.
    pub round_trips: Option<Box<JourneyData>>,
}

/// A piece of the time between two samples: what was there on average all that time was there in it.
#[derive(Copy, Clone, Debug)]
struct Piece {
    /// Where it begins and ends, picoseconds after the first sample.
    from: u64,
    to: u64,
    /// Length of the whole.
    whole: u64,
}

impl Piece {
    /// Its part; the parts of all pieces are the whole.
    fn of(self, sum: u128) -> u128 {
        if self.to - self.from == self.whole {
            return sum;
        }
        let until = |at: u64| sum * u128::from(at) / u128::from(self.whole);
        until(self.to) - until(self.from)
    }
}

/// Timeouts: by flow (`None`: links) and what was waited for, then by time bin. Few bins have any.
pub type Timeouts = BTreeMap<(Option<u16>, TimeoutKind), BTreeMap<usize, u64>>;

/// Observes one run.
#[derive(Clone, Debug)]
pub struct Collector {
    length: Time,
    bin_ps: u64,
    /// Start and index of the bin used last, and its segment: most calls come in nearly ascending time.
    cursor: (u64, usize, usize),
    bins_per_segment: usize,
    /// How long before the run the first bin begins, picoseconds: less than a bin.
    offset: u64,
    /// The first bin of the measured part, if its beginning was given.
    first_bin: usize,
    segments: usize,
    endpoints: Vec<bool>,
    senders: Vec<Option<Vec<bool>>>,
    flows: Vec<FlowData>,
    totals: Vec<EndpointTotals>,
    edges: Vec<[u64; 2]>,
    /// Ends of conduits opened and ended, per time bin; empty if there are none.
    conduits: Vec<[u64; 2]>,
    timeouts: Timeouts,
    signals: Vec<Signal>,
    samples: Vec<SampleBin>,
    ports: Vec<((u32, u8), PortSeries)>,
    /// `[bin * ports + port]` = (input, waiting) packets times picoseconds: one sample writes one run of
    /// memory. Empty in large fabrics.
    queues: Vec<(u64, u64)>,
    congestion: Option<Congestion>,
}

/// The cursor is a cache and no part of the value.
impl PartialEq for Collector {
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length
            && self.bin_ps == other.bin_ps
            && self.offset == other.offset
            && self.senders == other.senders
            && self.bins_per_segment == other.bins_per_segment
            && self.endpoints == other.endpoints
            && self.flows == other.flows
            && self.totals == other.totals
            && self.edges == other.edges
            && self.conduits == other.conduits
            && self.timeouts == other.timeouts
            && self.signals == other.signals
            && self.samples == other.samples
            && self.ports == other.ports
            && self.queues == other.queues
            && self.congestion == other.congestion
    }
}

impl Collector {
    /// A collector that has seen nothing.
    ///
    /// # Panics
    ///
    /// If the number of bins is not a positive multiple of [`SEGMENTS`].
    pub fn new(config: &CollectorConfig) -> Self {
        let bins = config.bins;
        assert!(bins > 0 && bins.is_multiple_of(SEGMENTS), "{bins} bins are not whole bins per segment");
        assert!(config.measured_from <= config.length, "what is measured begins in the run");
        let per_segment = config.bins / SEGMENTS;
        let (length, from) = (config.length.0, config.measured_from.0);
        let rest = length - from;
        // As many segments as what is measured has sixteenths of the run.
        let measured = match from {
            0 => SEGMENTS,
            _ => {
                ((SEGMENTS as u128 * u128::from(rest) + u128::from(length) / 2) / u128::from(length)) as usize
            }
        };
        let measured = measured.max(1);
        // What is measured may be a moment at the end of a long run, which is not worth millions of bins.
        let finest = length / (FINER * bins) as u64 + 1;
        let per_segment = per_segment.min((rest / (measured as u64 * finest)) as usize).max(1);
        // one more than the quotient, so that `length` itself falls into the last bin
        let bin_ps = (rest / (measured * per_segment) as u64 + 1).max(finest);
        let first_bin = from.div_ceil(bin_ps) as usize;
        let (bins, segments) = (first_bin + measured * per_segment, measured + usize::from(from > 0));
        let flow = FlowData {
            extent: Extent::default(),
            bins: vec![Bin::default(); bins],
            offered: vec![OfferedBin::default(); bins],
            segments: vec![Tallies::default(); segments],
            dropped: [0; 4],
            not_reached: 0,
            last_drop: Time(0),
            last_offer: Time(0),
            messages: None,
            round_trips: None,
        };
        Self {
            length: config.length,
            bin_ps,
            offset: first_bin as u64 * bin_ps - from,
            first_bin,
            segments,
            cursor: (0u64.wrapping_sub(first_bin as u64 * bin_ps - from), 0, 0),
            bins_per_segment: per_segment,
            flows: vec![flow; config.flows],
            senders: config.senders.clone(),
            totals: vec![EndpointTotals::default(); config.endpoints.len()],
            endpoints: config.endpoints.clone(),
            edges: vec![[0; 2]; bins],
            conduits: Vec::new(),
            timeouts: Timeouts::new(),
            signals: Vec::new(),
            samples: vec![SampleBin::default(); bins],
            ports: Vec::new(),
            queues: Vec::new(),
            congestion: config.congestion.clone().map(|congestion| congestion.over(bins)),
        }
    }

    /// Adds what another collector of the same run saw (another part of the fabric).
    ///
    /// # Panics
    ///
    /// If the two were configured differently.
    pub fn merge(&mut self, other: &Collector) {
        assert!(
            self.length == other.length
                && self.edges.len() == other.edges.len()
                && self.flows.len() == other.flows.len()
                && self.endpoints == other.endpoints,
            "collectors of different runs do not merge"
        );
        for (flow, theirs) in self.flows.iter_mut().zip(&other.flows) {
            flow.merge(theirs);
        }
        for (total, theirs) in self.totals.iter_mut().zip(&other.totals) {
            total.offered_packets += theirs.offered_packets;
            total.offered_payload += theirs.offered_payload;
            total.delivered_packets += theirs.delivered_packets;
            total.delivered_payload += theirs.delivered_payload;
            total.latency_ps += theirs.latency_ps;
            total.latency_ps_max = total.latency_ps_max.max(theirs.latency_ps_max);
        }
        for (edges, theirs) in self.edges.iter_mut().zip(&other.edges) {
            edges[0] += theirs[0];
            edges[1] += theirs[1];
        }
        if !other.conduits.is_empty() {
            self.conduits.resize(self.edges.len(), [0; 2]);
        }
        for (bin, theirs) in self.conduits.iter_mut().zip(&other.conduits) {
            bin[0] += theirs[0];
            bin[1] += theirs[1];
        }
        for (who, bins) in &other.timeouts {
            let all = self.timeouts.entry(*who).or_default();
            bins.iter().for_each(|(bin, count)| *all.entry(*bin).or_default() += count);
        }
        self.signals.extend_from_slice(&other.signals);
        self.signals.sort_by_key(|signal| (signal.at, signal.device));
        for (bin, theirs) in self.samples.iter_mut().zip(&other.samples) {
            // Both parts sample at the same instants, each its own ports: values add, times do not.
            bin.ps = bin.ps.max(theirs.ps);
            bin.switch_input += theirs.switch_input;
            bin.switch_waiting += theirs.switch_waiting;
            bin.source_waiting += theirs.source_waiting;
            bin.in_flight += theirs.in_flight;
        }
        self.merge_ports(other);
    }

    fn merge_ports(&mut self, other: &Collector) {
        let mut ports: Vec<((u32, u8), PortSeries)> = [&self.ports[..], &other.ports[..]].concat();
        ports.sort_by_key(|(port, _)| *port);
        let twice = ports.windows(2).find(|pair| pair[0].0 == pair[1].0);
        assert!(twice.is_none(), "{twice:?} was sampled by both parts");
        let mut queues = Vec::new();
        if ports.len() <= PORT_SERIES_MAX && !ports.is_empty() {
            queues.reserve(ports.len() * self.bins());
            for bin in 0..self.bins() {
                for (port, _) in &ports {
                    let sums = self.queue(*port, bin).or_else(|| other.queue(*port, bin));
                    queues.push(sums.unwrap_or((0, 0)));
                }
            }
        }
        self.ports = ports;
        self.queues = queues;
    }

    /// Simulated time at which the run ends at the latest.
    pub fn length(&self) -> Time {
        self.length
    }

    /// Width of a time bin, picoseconds.
    pub fn bin_ps(&self) -> u64 {
        self.bin_ps
    }

    /// Number of time bins.
    pub fn bins(&self) -> usize {
        self.edges.len()
    }

    /// Where a time bin begins, picoseconds.
    pub fn bin_start(&self, bin: usize) -> u64 {
        (bin as u64 * self.bin_ps).saturating_sub(self.offset)
    }

    /// The first time bin of the measured part, if its beginning was given; else 0.
    pub fn first_bin(&self) -> usize {
        self.first_bin
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// Segment of a time bin.
    pub fn segment(&self, bin: usize) -> usize {
        match bin.checked_sub(self.first_bin) {
            Some(measured) => measured / self.bins_per_segment + usize::from(self.first_bin > 0),
            None => 0,
        }
    }

    /// Time bins in a segment.
    pub fn bins_per_segment(&self) -> usize {
        self.bins_per_segment
    }

    /// Flows, in the order of the configuration.
    pub fn flows(&self) -> &[FlowData] {
        &self.flows
    }

    /// Totals of every device (zero for switches), in device order.
    pub fn endpoint_totals(&self) -> &[EndpointTotals] {
        &self.totals
    }

    /// Staging queues stopped and released, per time bin.
    pub fn staging_edges(&self) -> &[[u64; 2]] {
        &self.edges
    }

    /// Ends of conduits opened and ended, per time bin; empty if there are none.
    pub fn conduits(&self) -> &[[u64; 2]] {
        &self.conduits
    }

    /// Timeouts, by who waited for what, then by time bin.
    pub fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// What charts of flows show; of each device in the order in which it happened.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// Fabric-wide observations, per time bin.
    pub fn samples(&self) -> &[SampleBin] {
        &self.samples
    }

    /// Observations of every port, by (device, port).
    pub fn ports(&self) -> &[((u32, u8), PortSeries)] {
        &self.ports
    }

    pub(crate) fn congestion(&self) -> Option<&Congestion> {
        self.congestion.as_ref()
    }

    /// Whether occupancies of single ports were kept over time: not in fabrics of thousands of ports.
    pub fn has_queues(&self) -> bool {
        !self.queues.is_empty()
    }

    /// Packets in the receive buffers of a port and waiting for its transmitter, times the picoseconds that
    /// they were there, in the time of the [`SampleBin`]; `None` if that was not kept.
    pub fn queue(&self, port: (u32, u8), bin: usize) -> Option<(u64, u64)> {
        let index = self.ports.binary_search_by_key(&port, |(key, _)| *key).ok()?;
        self.queues.get(bin * self.ports.len() + index).copied()
    }

    /// Whether the device is an endpoint.
    pub fn is_endpoint(&self, device: u32) -> bool {
        self.endpoints[device as usize]
    }

    /// Packets created, delivered and dropped, counted from the reports.
    pub fn counts(&self) -> (u64, u64, u64) {
        let mut counts = (0, 0, 0);
        for flow in &self.flows {
            counts.0 += flow.offered.iter().map(|bin| bin.packets).sum::<u64>();
            counts.1 += flow.bins.iter().map(|bin| bin.packets).sum::<u64>();
            counts.2 += flow.dropped.iter().sum::<u64>();
        }
        counts
    }

    #[inline]
    /// Link time of a packet that counts as load.
    fn load(&self, flow: u16, source: u32, link_ps: u64) -> u64 {
        match &self.senders[usize::from(flow)] {
            Some(senders) if !senders[source as usize] => 0,
            _ => link_ps,
        }
    }

    /// The bin of an instant, picoseconds.
    fn index(&self, at: u64) -> usize {
        ((at + self.offset) / self.bin_ps) as usize
    }

    /// The bins in which an interval lies, and its piece in each of them.
    fn pieces(&self, since: u64, at: u64) -> Vec<(usize, Piece)> {
        let bins = self.index(since)..=self.index(at.saturating_sub(1));
        bins.map(|bin| {
            let from = self.bin_start(bin).max(since) - since;
            let to = self.bin_start(bin + 1).min(at).saturating_sub(since);
            (bin, Piece { from, to, whole: at - since })
        })
        .filter(|(_, piece)| piece.to > piece.from)
        .collect()
    }

    #[inline]
    fn bin(&mut self, at: Time) -> usize {
        if at.0.wrapping_sub(self.cursor.0) < self.bin_ps {
            return self.cursor.1;
        }
        self.move_cursor(at)
    }

    #[cold]
    fn move_cursor(&mut self, at: Time) -> usize {
        assert!(at <= self.length, "report at {} ps, after the end of the run ({} ps)", at.0, self.length.0);
        let bin = self.index(at.0);
        // the first bin may begin before the run
        self.cursor = ((bin as u64 * self.bin_ps).wrapping_sub(self.offset), bin, self.segment(bin));
        bin
    }

    /// The bin and the segment of an instant.
    #[inline]
    fn place(&mut self, at: Time) -> (usize, usize) {
        let bin = self.bin(at);
        (bin, self.cursor.2)
    }
}

impl FlowData {
    fn merge(&mut self, other: &FlowData) {
        self.extent.merge(&other.extent);
        for (bin, theirs) in self.bins.iter_mut().zip(&other.bins) {
            bin.add(theirs);
        }
        for (bin, theirs) in self.offered.iter_mut().zip(&other.offered) {
            bin.add(theirs);
        }
        for (segment, theirs) in self.segments.iter_mut().zip(&other.segments) {
            segment.merge(theirs);
        }
        for (sum, count) in self.dropped.iter_mut().zip(other.dropped) {
            *sum += count;
        }
        self.not_reached += other.not_reached;
        self.last_drop = self.last_drop.max(other.last_drop);
        self.last_offer = self.last_offer.max(other.last_offer);
        let pairs = [(&mut self.messages, &other.messages), (&mut self.round_trips, &other.round_trips)];
        for (mine, theirs) in pairs {
            match (mine, theirs) {
                (Some(mine), Some(theirs)) => mine.merge(theirs),
                (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
                (_, None) => {}
            }
        }
    }
}

impl Probe for Collector {
    fn offered(&mut self, offered: &Offered) {
        let bin = self.bin(offered.at);
        let load = self.load(offered.flow, offered.source, offered.link_ps);
        let flow = &mut self.flows[usize::from(offered.flow)];
        flow.extent.begin(offered.at);
        flow.last_offer = flow.last_offer.max(offered.at);
        let slot = &mut flow.offered[bin];
        slot.packets += 1;
        slot.payload += u64::from(offered.payload);
        slot.link_ps += load;
        let total = &mut self.totals[offered.source as usize];
        total.offered_packets += 1;
        total.offered_payload += u64::from(offered.payload);
    }

    fn delivered(&mut self, delivery: &Delivery) {
        let latency = delivery.latency();
        let network = delivery.network_latency();
        let Parts { causes: parts, .. } = delivery.parts;
        assert!(
            delivery.parts.total() == latency,
            "the parts of a latency of {latency} ps add up to {} ps: {delivery:?}",
            delivery.parts.total()
        );
        let (bin, segment) = self.place(delivery.at);
        let load = self.load(delivery.flow, delivery.source, delivery.link_ps);
        let flow = &mut self.flows[usize::from(delivery.flow)];
        flow.extent.end(delivery.at);

        let slot = &mut flow.bins[bin];
        slot.latency_ps += u128::from(latency);
        slot.network_ps += u128::from(network);
        slot.packets += 1;
        slot.payload += u64::from(delivery.payload);
        slot.link_ps += load;
        slot.hol_ps += parts[models::Cause::HeadOfLine as usize];

        flow.segments[segment].count(&parts, latency, network);

        let total = &mut self.totals[delivery.destination as usize];
        total.delivered_packets += 1;
        total.delivered_payload += u64::from(delivery.payload);
        total.latency_ps += u128::from(latency);
        total.latency_ps_max = total.latency_ps_max.max(latency);
    }

    fn dropped(&mut self, dropped: &Dropped) {
        let reason = match dropped.reason {
            DropReason::Unroutable => 0,
            DropReason::EmptyMask => 1,
            DropReason::NoRoom => 2,
            DropReason::LinkError => 3,
        };
        let flow = &mut self.flows[usize::from(dropped.flow)];
        flow.dropped[reason] += 1;
        flow.not_reached += dropped.members;
        flow.last_drop = flow.last_drop.max(dropped.at);
    }

    fn message(&mut self, message: &Journey) {
        let (bin, segment) = self.place(message.at);
        let (bins, segments) = (self.edges.len(), self.segments);
        let data = self.flows[usize::from(message.flow)]
            .messages
            .get_or_insert_with(|| JourneyData::new(bins, segments).into());
        data.record(bin, segment, message);
    }

    fn round_trip(&mut self, whole: &Journey) {
        let (bin, segment) = self.place(whole.at);
        let (bins, segments) = (self.edges.len(), self.segments);
        let data = self.flows[usize::from(whole.flow)]
            .round_trips
            .get_or_insert_with(|| JourneyData::new(bins, segments).into());
        data.record(bin, segment, whole);
    }

    fn protocol_event(&mut self, event: &ProtocolEvent) {
        let side = match event.fact {
            ProtocolFact::ConduitOpen | ProtocolFact::Connected => 0,
            ProtocolFact::ConduitEnded | ProtocolFact::Disconnected => 1,
            _ => return,
        };
        let bin = self.bin(event.at);
        self.conduits.resize(self.edges.len(), [0; 2]);
        self.conduits[bin][side] += 1;
    }

    fn timeout(&mut self, timeout: &Timeout) {
        let bin = self.bin(timeout.at);
        let bins = self.timeouts.entry((timeout.flow, timeout.kind)).or_default();
        *bins.entry(bin).or_default() += 1;
    }

    fn signal(&mut self, signal: &Signal) {
        self.signals.push(signal.clone());
    }

    fn staging_edge(&mut self, edge: &StagingEdge) {
        let bin = self.bin(edge.at);
        self.edges[bin][usize::from(!edge.stopped)] += 1;
        if let Some(congestion) = &mut self.congestion {
            congestion.edge(edge);
        }
    }

    fn sample(&mut self, sample: &Sample) {
        assert!(
            sample.injected + sample.replicated == sample.delivered + sample.dropped + sample.in_flight,
            "packets are not conserved at {} ps: {} injected + {} replicated, {} delivered + {} dropped + {} \
             in flight",
            sample.at.0,
            sample.injected,
            sample.replicated,
            sample.delivered,
            sample.dropped,
            sample.in_flight
        );
        // it tells of the time before it
        let bin = self.bin(Time(sample.at.0.saturating_sub(1)));
        if let Some(congestion) = &mut self.congestion {
            congestion.sample(bin, sample);
        }
        if self.ports.is_empty() {
            self.ports = sample.ports.iter().map(|port| (*port, PortSeries::default())).collect();
            assert!(self.ports.is_sorted_by(|a, b| a.0 < b.0), "sampled ports are in device and port order");
            if self.ports.len() <= PORT_SERIES_MAX {
                self.queues = vec![(0, 0); self.edges.len() * self.ports.len()];
            }
        }
        let mut whole = SampleBin {
            ps: sample.at.0 - sample.since.0,
            in_flight: sample.in_flight_ps.into(),
            ..SampleBin::default()
        };
        let values = sample.input_ps.iter().zip(&sample.waiting_ps);
        for (((device, _), series), (&input, &waiting)) in self.ports.iter_mut().zip(values.clone()) {
            let (input, waiting) = (u128::from(input), u128::from(waiting));
            series.ps = sample.at.0;
            series.input += input;
            series.waiting += waiting;
            if self.endpoints[*device as usize] {
                whole.source_waiting += waiting;
            } else {
                whole.switch_input += input;
                whole.switch_waiting += waiting;
            }
        }
        let count = self.ports.len();
        for (bin, piece) in self.pieces(sample.since.0, sample.at.0) {
            let slot = &mut self.samples[bin];
            slot.ps += piece.of(whole.ps.into()) as u64;
            slot.switch_input += piece.of(whole.switch_input);
            slot.switch_waiting += piece.of(whole.switch_waiting);
            slot.source_waiting += piece.of(whole.source_waiting);
            slot.in_flight += piece.of(whole.in_flight);
            let row = self.queues.get_mut(bin * count..(bin + 1) * count).unwrap_or_default();
            for (sums, (&input, &waiting)) in row.iter_mut().zip(values.clone()) {
                sums.0 += piece.of(input.into()) as u64;
                sums.1 += piece.of(waiting.into()) as u64;
            }
        }
    }
}
