//! A switch: its state. What happens to it, from the bottom up: `reads.rs` (who reads the inputs),
//! `arbiter.rs` (who goes first), `detector.rs`, `output.rs` (a transmission begins, and what it leaves
//! behind), `together.rs` (all outputs choose at once), `offer.rs` (an input can be read again), `shared.rs`
//! (micropackets), `arrival.rs`.

mod arbiter;
mod arrival;
mod detector;
mod offer;
mod output;
mod reads;
mod routes;
mod shared;
mod together;

use crate::config::{Arbitration, Detector, PRIORITIES, Verdict};
use crate::ids::PortId;
use crate::link::Links;
use crate::observe::Build;
use crate::packet::{Cell, List};
use crate::ports::{PortSet, Ports};
use crate::voq::Backpressure;
use lp_serial::link::Channels;
use reads::ChannelReads;
pub(crate) use routes::Routes;
use sim_core::{Stream, prefetch};

/// Route entry in two octets: egress port and next-hop port; or [`COPIED`] and the number of a mask; or
/// [`DROP`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub egress: u8,
    pub next_hop: u8,
}
/// Above every port.
pub(crate) const COPIED: u8 = 0xFE;
pub(crate) const DROP: u8 = 0xFF;

/// Everything about a switch that is not a port. What every hop asks for comes first, in three lines: where
/// to, who may, and how it waits.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Switch<S> {
    pub routes: Routes,
    /// Index of port 0.
    pub base: PortId,
    pub ports: u32,
    /// First list of output 0.
    pub lanes: u32,
    pub stamp: u32,
    /// Inputs with all reads in use (may be stale).
    pub reading: S,

    /// Outputs that are idle although packets wait in their lists: of each it has been tried to start one.
    pub waiting_outputs: S,
    /// All outputs where they choose together (cell clock, iSLIP), so that `waiting_outputs` says nothing;
    /// else none.
    pub choose_together: S,
    pub slot: u64,
    pub reads: u32,
    pub x_on: u32,
    pub x_off: u32,
    pub arbitration: Arbitration,
    pub fifo: bool,
    /// The transmitter reads the input buffers themselves.
    pub direct: bool,
    pub crosspoint: bool,
    /// Packets may leave before they are in.
    pub cuts_through: bool,
    pub detect: bool,
    /// Some verdict is by ingress.
    pub per_ingress: bool,
    /// Packets whose staging queue is stopped do not count.
    pub leave_out: bool,
    /// One pool of buffers for all outputs.
    pub pool: bool,
    pub tick_posted: bool,
    /// Channels that have verdicts of their own, because a port links messages with them.
    pub told_apart: Channels,

    /// What detectors count, unless it stands beside the list of a lane: by `[ingress * ports + egress]` (per
    /// ingress) or `[egress]`, and likewise of each channel that is told apart.
    pub occupancy: Box<[Cell]>,
    /// Packets that wait by `[(priority * ports + output) * ports + input]`, with output buffers those in
    /// front of them; empty unless that decides who goes first.
    pub queued: Box<[u16]>,
    /// Thresholds and verdicts of each egress port; empty: those above are of all.
    pub watches: Box<[Watch]>,
    /// Who tells the neighbours of congestion.
    pub backpressure: Option<Box<Backpressure>>,
    pub device: u32,

    /// Packets that an output's lane (or the whole output) takes; only without `direct`.
    pub depth: u32,
    pub masks: Vec<PortSet>,
    pub mask_next_hops: Vec<Vec<PortSet>>,
    /// Input lists before the outputs: FIFO `[priority][input]` or, per output, `[priority][output][input]`.
    pub inputs: Vec<List>,
    /// Inputs whose head wants the output, `[priority * ports + output]`; only with a depth.
    pub heads: Vec<S>,
    /// Packets in each (output, lane) list by priority, only with a depth:
    /// `[(priority*ports+output)*lanes+lane]`.
    pub filled: Vec<u16>,
    /// Who reads each channel of each input, where channels share links by micropackets.
    pub channel_reads: Option<Box<ChannelReads<S>>>,
    /// Packets exposed at the head of each FIFO input, by priority.
    pub exposed: Vec<[u16; 4]>,
    /// Places that a staging queue may take in a buffer behind the inputs, `u32::MAX` = all.
    pub quota: u32,
    /// Output to which a place of the pool that became free was given last, by priority.
    pub pool_pointers: [u8; PRIORITIES],
    pub rng: Option<Box<Stream>>,
}

/// When an egress port is congested, where ports differ.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Watch {
    pub x_on: u32,
    pub x_off: u32,
    pub per_ingress: bool,
}

impl Watch {
    /// Of a port; without a detector it is never congested.
    pub fn new(detector: &Option<Detector>) -> Self {
        detector.map_or(Watch { x_on: u32::MAX, x_off: 0, per_ingress: false }, |d| Watch {
            x_on: d.x_on.into(),
            x_off: d.x_off.into(),
            per_ingress: d.verdict == Verdict::PerIngress,
        })
    }

    /// Whether nothing judges the port.
    pub fn is_off(self) -> bool {
        self.x_on == u32::MAX
    }
}

/// [`Switch::reads`] of a switch whose inputs are read channel by channel: then every input counts as being
/// read, and who wants one looks closer.
pub(crate) const BY_CHANNEL: u32 = 0;

/// Whether `outputs` are as many as may read at a time. One or two is the ordinary case, and to count bits is
/// slow where the processor may not be asked to.
#[inline(always)]
pub(crate) fn all_taken(outputs: impl Ports, reads: u32) -> bool {
    match reads {
        1 => !outputs.is_empty(),
        2 => !outputs.without_first().is_empty(),
        _ => outputs.count() >= reads,
    }
}

/// A packet of type 8 that is eligible in a switch.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Access {
    pub port: PortId,
    pub packet: u32,
    /// Cut-through: its last octet comes that much later.
    pub behind: u32,
}

impl<S: Ports> Switch<S> {
    /// Asks for the lines that every hop touches.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.routes);
        prefetch(&self.waiting_outputs);
        prefetch(&self.watches);
    }

    /// Asks for where the detector counts packets of `input` for `out`.
    #[inline(always)]
    pub fn prefetch_cell<P: Build<Ports = S>>(&self, links: &Links<P>, (input, out): (u32, u32)) {
        // Beside a list it comes with that, but where a verdict is on all inputs.
        if !self.detect || self.keeps_lanes() && self.judges_by_ingress(out) {
            return;
        }
        match self.cell_of((input, out), 0) {
            Ok(lane) => links.lanes.lowest(lane).into_iter().for_each(prefetch),
            Err(cell) => self.occupancy.get(cell).into_iter().for_each(prefetch),
        }
    }

    /// Output `out` does not read `input` any more.
    #[inline(always)]
    pub fn read_ended<P: Build<Ports = S>>(&mut self, links: &mut Links<P>, input: u32, out: u32) {
        let readers = &mut links.ports[(self.base + input).index()].rx.readers;
        *readers &= !S::one(out);
        // Another may have begun in the instant in which this one ends.
        let full = all_taken(*readers, self.reads);
        self.reading = self.reading & !S::one(input) | S::one_if(input, full);
    }

    /// Whether the verdict on `out` is by ingress.
    #[inline(always)]
    pub fn judges_by_ingress(&self, out: u32) -> bool {
        self.watches.get(out as usize).map_or(self.per_ingress, |watch| watch.per_ingress)
    }

    /// Outputs have a lane for each input.
    #[inline(always)]
    fn keeps_lanes(&self) -> bool {
        self.direct || self.crosspoint
    }

    /// The lane where packets of `input` wait for `out`, with the lowest priority.
    #[inline(always)]
    pub fn lane(&self, input: u32, out: u32) -> u32 {
        self.lanes + if self.keeps_lanes() { out * self.ports + input } else { out }
    }

    /// Where a packet of `input` for `out` counts that is judged in `channel`: beside a lane, which is so if
    /// outputs have one for each input, or in a cell of `occupancy`.
    #[inline(always)]
    fn cell_of(&self, (input, out): (u32, u32), channel: u8) -> Result<u32, usize> {
        let row = if self.judges_by_ingress(out) { input } else { 0 };
        let beside = self.keeps_lanes();
        if beside && channel == 0 {
            return Ok(self.lane(row, out));
        }
        let plane = channel - u8::from(beside);
        Err((u32::from(plane) * self.plane() + row * self.ports + out) as usize)
    }

    /// Cells of `occupancy` for each channel.
    fn plane(&self) -> u32 {
        if self.per_ingress { self.ports * self.ports } else { self.ports }
    }

    /// Makes the cells of a switch that tells so many channels apart.
    pub fn make_cells(&mut self) {
        let channels = 1 + u32::from(self.told_apart.count()) - u32::from(self.keeps_lanes());
        self.occupancy = vec![Cell::default(); (channels * self.plane()) as usize].into();
    }

    /// The cell where a packet of `input` for `out` counts that is judged in `channel`.
    #[inline(always)]
    fn cell<'a, P: Build<Ports = S>>(
        &'a mut self,
        links: &'a mut Links<P>,
        pair: (u32, u32),
        channel: u8,
    ) -> &'a mut Cell {
        match self.cell_of(pair, channel) {
            Ok(lane) => links.lanes.cell(lane),
            Err(cell) => &mut self.occupancy[cell],
        }
    }

    /// Channel in which packets of a priority, or of the VCID above the priorities, are judged; 0 for VC0,
    /// and where channels are not told apart.
    pub fn judged(&self, priority: u8) -> u8 {
        match priority.checked_sub(PRIORITIES as u8) {
            Some(vcid) => self.told_apart.channel_of(vcid),
            None => 0,
        }
    }

    /// Inputs and outputs are matched together. Buffers behind the inputs decouple them: there each output
    /// chooses for itself, round robin.
    pub fn matches(&self) -> bool {
        self.direct && matches!(self.arbitration, Arbitration::Islip { .. })
    }
}
