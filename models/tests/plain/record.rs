//! What happens in a run, as both simulators tell it.

use models::config::{FabricConfig, FlowControl, SymbolicLink};
use models::probe::{
    Delivery, DropReason, Dropped, Offered, PacketId, PacketStep, Parts, Share, StagingEdge,
};
use models::run::{Parallel, Partition, Threads};
use models::stats::{LinkStats, PortStats};
use models::{Outcome, Probe, Progress, RunOptions, Watched};
use sim_core::Time;
use std::cmp::Ordering;
use std::sync::Arc;

/// The totals of a port that are times.
pub const TIMES: [usize; 6] = [1, 2, 12, 14, 15, 18];
/// Time for which queues were stopped, and packets late for the detector of their output.
pub const STOPPED: usize = 12;
pub const LATE_HOL: usize = 13;
/// Among the totals of an end of a link: packet-not-accepted sent.
pub const NOT_ACCEPTED: usize = 6;

/// Something that happened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A source created a packet.
    Created { at: u64, id: PacketId, destination: u32, flow: u16, priority: u8, payload: u16, wire: u16 },
    /// A transmitter began to send it; where its time goes `until` the next device may do something with it.
    Started { at: u64, device: u32, port: u8, id: PacketId, until: u64, parts: Parts },
    /// A staging queue stopped or was released.
    Edge { at: u64, device: u32, port: u8, channel: u8, queue: u8, stopped: bool },
    /// Its last bit reached its destination.
    Delivered {
        at: u64,
        created: u64,
        flow: u16,
        priority: u8,
        source: u32,
        destination: u32,
        sequence: u64,
        payload: u32,
        link_ps: u64,
        parts: Parts,
    },
    /// It was dropped.
    Dropped { at: u64, flow: u16, device: u32, reason: u8 },
    /// Totals of an end of a link on which packets can be repeated.
    Link { at: u64, device: u32, port: u8, totals: [u64; 10] },
    /// Totals of a port at the end.
    Totals { at: u64, device: u32, port: u8, totals: [u64; 19] },
}

impl Record {
    pub fn at(&self) -> u64 {
        match *self {
            Record::Created { at, .. }
            | Record::Started { at, .. }
            | Record::Edge { at, .. }
            | Record::Delivered { at, .. }
            | Record::Dropped { at, .. }
            | Record::Link { at, .. }
            | Record::Totals { at, .. } => at,
        }
    }

    /// Totals of a port. Until when something that is stopped is stopped is not defined exactly if nothing is
    /// left to happen (F-114).
    pub fn totals(at: u64, device: u32, port: u8, stats: &PortStats) -> Record {
        let totals = [
            stats.packets_sent,
            stats.packet_ps,
            stats.symbol_ps,
            stats.status_riding,
            stats.status_standalone,
            stats.voq_riding,
            stats.voq_standalone,
            stats.voq_received,
            stats.voq_lost,
            stats.voq_refreshes,
            stats.xoff_edges,
            stats.xon_edges,
            if stats.xoff_edges == stats.xon_edges { stats.stopped_ps } else { 0 },
            stats.late_hol,
            stats.hol_ps as u64,
            stats.staged_ps as u64,
            stats.input_high_water.into(),
            stats.output_high_water.into(),
            if stats.xoff_edges == stats.xon_edges { stats.longest_stop_ps } else { 0 },
        ];
        Record::Totals { at, device, port, totals }
    }

    /// Totals of an end of a link.
    pub fn link(at: u64, device: u32, port: u8, stats: &LinkStats) -> Record {
        let LinkStats { retries, cancelled, repeated, repeated_ps, recovery_ps, packets, .. } = *stats;
        let LinkStats { not_accepted, recoveries, lost_no_room, lost_on_link, .. } = *stats;
        let errors = [not_accepted, recoveries, lost_no_room, lost_on_link];
        let [a, b, c, e] = errors;
        let totals = [retries, cancelled, repeated, packets, repeated_ps, recovery_ps, a, b, c, e];
        Record::Link { at, device, port, totals }
    }

    /// packet-not-accepted was sent.
    pub fn refuses_in_channels(&self) -> bool {
        matches!(self, Record::Link { totals, .. } if totals[NOT_ACCEPTED] > 0)
    }

    /// Any order will do, as long as it is one, and time goes first.
    fn key(&self) -> (u64, u8, [u64; 9], [u64; 19]) {
        let wide = |parts: Parts| std::array::from_fn(|n| parts.causes.get(n).copied().unwrap_or(0));
        match *self {
            Record::Totals { at, device, port, totals } => {
                (at, 5, [device.into(), port.into(), 0, 0, 0, 0, 0, 0, 0], totals)
            }
            Record::Link { at, device, port, totals } => {
                let all = std::array::from_fn(|n| totals.get(n).copied().unwrap_or(0));
                (at, 6, [device.into(), port.into(), 0, 0, 0, 0, 0, 0, 0], all)
            }
            Record::Created { at, id, destination, flow, priority, payload, wire } => {
                let words = [destination.into(), flow.into(), priority.into(), payload.into(), wire.into()];
                let [a, b, c, d, e] = words;
                (at, 0, [id.source.into(), id.origin.into(), id.sequence.into(), a, b, c, d, e, 0], [0; 19])
            }
            Record::Edge { at, device, port, channel, queue, stopped } => {
                let [a, b, c, d, e] =
                    [device.into(), port.into(), channel.into(), queue.into(), stopped.into()];
                (at, 1, [a, b, c, d, e, 0, 0, 0, 0], [0; 19])
            }
            Record::Started { at, device, port, id, until, parts } => {
                let id = [id.source.into(), id.origin.into(), id.sequence.into()];
                (at, 2, [device.into(), port.into(), id[0], id[1], id[2], until, 0, 0, 0], wide(parts))
            }
            Record::Dropped { at, flow, device, reason } => {
                (at, 3, [flow.into(), device.into(), reason.into(), 0, 0, 0, 0, 0, 0], [0; 19])
            }
            Record::Delivered {
                at,
                created,
                flow,
                priority,
                source,
                destination,
                sequence,
                payload,
                link_ps,
                parts,
            } => {
                let words = [
                    source.into(),
                    flow.into(),
                    sequence,
                    destination.into(),
                    priority.into(),
                    created,
                    payload.into(),
                    link_ps,
                    0,
                ];
                (at, 4, words, wide(parts))
            }
        }
    }
}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Record {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Number of a reason.
pub fn reason(reason: DropReason) -> u8 {
    match reason {
        DropReason::Unroutable => 0,
        DropReason::EmptyMask => 1,
        DropReason::NoRoom => 2,
        DropReason::LinkError => 3,
    }
}

/// Keeps what the fast simulator tells.
#[derive(Default)]
struct Recorder(Vec<Record>);

impl Probe for Recorder {
    fn follows_in_any_order(&self) -> bool {
        true
    }

    fn follows_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Time, id: PacketId, step: &PacketStep) {
        match *step {
            PacketStep::Created { destination, flow, priority, payload, wire } => {
                self.0.push(Record::Created { at: at.0, id, destination, flow, priority, payload, wire });
            }
            PacketStep::Started { device, port, until, parts, .. } => {
                self.0.push(Record::Started { at: at.0, device, port, id, until: until.0, parts });
            }
            PacketStep::Cut { .. } | PacketStep::Ended { .. } => {}
        }
    }

    fn offered(&mut self, _: &Offered) {}

    fn delivered(&mut self, d: &Delivery) {
        self.0.push(Record::Delivered {
            at: d.at.0,
            created: d.created.0,
            flow: d.flow,
            priority: d.priority,
            source: d.source,
            destination: d.destination,
            sequence: d.sequence,
            payload: d.payload,
            link_ps: d.link_ps,
            parts: d.parts,
        });
    }

    fn dropped(&mut self, d: &Dropped) {
        self.0.push(Record::Dropped { at: d.at.0, flow: d.flow, device: d.device, reason: reason(d.reason) });
    }

    fn staging_edge(&mut self, e: &StagingEdge) {
        let StagingEdge { at, device, port, channel, queue, stopped } = *e;
        self.0.push(Record::Edge { at: at.0, device, port, channel, queue, stopped });
    }
}

impl Share for Recorder {
    fn part(&self) -> Self {
        Recorder::default()
    }

    fn join(&mut self, part: Self) {
        self.0.extend(part.0);
    }
}

/// What the fast simulator says about the time up to `until`.
pub fn fast(config: &FabricConfig, until: u64) -> Vec<Record> {
    let mut recorder = Recorder::default();
    let mut simulation = Watched::new(Arc::new(config.clone()), RunOptions::default(), &mut recorder);
    while simulation.run(Time(until), u64::MAX) == Progress::Running {}
    let outcome = simulation.finish();
    told(config, until, recorder, &outcome)
}

/// Likewise on several threads, in parts of the fabric.
pub fn parallel(config: &FabricConfig, until: u64, cut: &Partition, threads: usize) -> Vec<Record> {
    let threads = Threads { count: threads, clock: || 0, ledger: false };
    let config = Arc::new(config.clone());
    let mut simulation =
        Parallel::new(config.clone(), RunOptions::default(), Recorder::default(), cut, threads);
    while simulation.run(Time(until), u64::MAX) == Progress::Running {}
    let (recorder, outcome, _) = simulation.finish();
    told(&config, until, recorder, &outcome)
}

fn told(config: &FabricConfig, until: u64, recorder: Recorder, outcome: &Outcome) -> Vec<Record> {
    let mut records = recorder.0;
    for (device, port, stats) in &outcome.ports {
        records.push(Record::totals(until, *device, *port, stats));
    }
    for (device, port, stats) in &outcome.links {
        let at = (*device, *port);
        let link = config.links.iter().position(|link| link.a == at || link.b == at);
        let refuses = |link: &SymbolicLink| link.flow == FlowControl::Receiver;
        if config.symbolic.iter().any(|symbolic| Some(symbolic.link as usize) == link && refuses(symbolic)) {
            records.push(Record::link(until, *device, *port, stats));
        }
    }
    records.retain(|record| record.at() <= until);
    records.sort();
    records
}
