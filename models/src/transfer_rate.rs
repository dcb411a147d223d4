//! What Scheduled Transfer comes to, over type 9 streams or another medium, on a path without competition.

use crate::config::{HostConfig, Medium, ServiceTime, TransferConfig};
use crate::path::{Path, pdu_packets};
use logical::engine::stream::Mtu;
use lp_serial::cost::IdSize;
use scheduled_transfer::llp::ethernet;
use scheduled_transfer::wire::HEADER_BYTES;

/// Octets of a frame around the payload of an operation.
const FRAME_OCTETS: u32 = (ethernet::OVERHEAD_BYTES + HEADER_BYTES) as u32;

/// The software of an end: what each frame takes there, ps.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Software {
    /// For each frame that comes in.
    pub rx: u64,
    /// For each that goes out.
    pub tx: u64,
    /// Frames that can wait for `rx`, the one being served included.
    pub places: u64,
}

impl Software {
    /// What frames take in the mean: for rates.
    pub fn mean(host: &HostConfig) -> Self {
        Self::by(host, |time| match time {
            ServiceTime::Fixed(time) | ServiceTime::Exponential(time) => time.0,
            ServiceTime::Uniform(low, high) => low.0.midpoint(high.0),
        })
    }

    /// What to wait for: the longest service, and four times the mean of an exponential one. A single one is
    /// longer than that once in 55 times and longer than ten of it, as a timeout counts round trips, never
    /// (e^-40); the sum of several is not.
    pub fn longest(host: &HostConfig) -> Self {
        Self::by(host, |time| match time {
            ServiceTime::Fixed(time) => time.0,
            ServiceTime::Exponential(mean) => mean.0.saturating_mul(4),
            ServiceTime::Uniform(_, high) => high.0,
        })
    }

    fn by(host: &HostConfig, time: impl Fn(ServiceTime) -> u64) -> Self {
        Software { rx: time(host.rx_service), tx: time(host.tx_service), places: host.rx_queue.into() }
    }

    /// How long a Control operation may wait in this software behind so many frames that come in and so many
    /// that go out, ps.
    fn wait(&self, coming: u64, going: u64) -> u64 {
        let coming = coming.min(self.places).saturating_mul(self.rx);
        coming.saturating_add(going.saturating_mul(self.tx))
    }
}

/// What keeps a path from carrying more payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The slowest link of the way of Data.
    Links,
    /// Clear_To_Send on the slowest link of the way back.
    Permissions,
    /// What goes out at the host of the source (Data) or of the destination (Clear_To_Send).
    Sending,
    /// What comes in at the host of the destination (Data) or of the source (Clear_To_Send).
    Receiving,
    /// The Blocks that may be enabled at a time.
    Window,
    /// The Slots of the destination.
    Slots,
    /// The upper layer of the destination, which takes headers and interrupts.
    Upper,
}

/// The way of Data and the way of its permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferPath {
    /// From the source to the destination.
    pub there: Path,
    /// From the destination to the source.
    pub back: Path,
    /// What frames take at the two hosts: of the source, of the destination. Nothing unless it is said.
    pub hosts: [Software; 2],
    /// Packets of a frame with a whole STU.
    data: Vec<u32>,
    /// Packets of a Control operation.
    control: Vec<u32>,
    /// Octets of an STU.
    stu: u32,
}

impl TransferPath {
    /// `stu`: octets of a whole STU.
    pub fn new(there: Path, back: Path, stu: u32, mtu: Mtu, ids: IdSize, idle3: bool) -> Self {
        let data = pdu_packets(FRAME_OCTETS + stu, mtu, ids, idle3);
        let control = pdu_packets(FRAME_OCTETS, mtu, ids, idle3);
        TransferPath { there, back, hosts: [Software::default(); 2], data, control, stu }
    }

    /// A way over links of another medium.
    pub fn on_medium(there: Path, back: Path, stu: u32, medium: Medium) -> Self {
        let header = HEADER_BYTES as u32;
        let data = vec![medium.operation_octets(header + stu)];
        let control = vec![medium.operation_octets(header)];
        TransferPath { there, back, hosts: [Software::default(); 2], data, control, stu }
    }

    /// This way between hosts that take their time: that of the source, that of the destination.
    pub fn between(self, source: Software, destination: Software) -> Self {
        TransferPath { hosts: [source, destination], ..self }
    }

    /// What a frame each way takes at the hosts, ps.
    fn software(&self) -> u64 {
        self.hosts.iter().map(|host| host.rx.saturating_add(host.tx)).fold(0, u64::saturating_add)
    }

    /// From the start of a whole STU to the end of the answer to it, ps. The computed RTT: defaults are
    /// multiples of it.
    pub fn round_trip(&self) -> u64 {
        let links = self.there.latency(&self.data) + self.back.latency(&self.control);
        links.saturating_add(self.software())
    }

    /// From a Control operation to the answer, ps.
    pub fn question(&self) -> u64 {
        let links = self.there.latency(&self.control) + self.back.latency(&self.control);
        links.saturating_add(self.software())
    }

    fn frames(&self, block: u64) -> u64 {
        block.div_ceil(self.stu.into())
    }

    /// How long each part of the path is busy with a Block, ps.
    fn parts(&self, block: u64) -> [(u64, Bound); 4] {
        let frames = self.frames(block);
        let [source, destination] = self.hosts;
        [
            (frames * self.there.busy(&self.data), Bound::Links),
            (self.back.busy(&self.control), Bound::Permissions),
            (frames.saturating_mul(source.tx).max(destination.tx), Bound::Sending),
            (frames.saturating_mul(destination.rx).max(source.rx), Bound::Receiving),
        ]
    }

    /// How long the slowest part of the path is busy with a Block of so many octets, a multiple of the STU,
    /// ps: a link with its Data in one direction or with its Clear_To_Send in the other, or a host.
    pub fn block_time(&self, block: u64) -> u64 {
        self.parts(block).into_iter().map(|(time, _)| time).max().unwrap_or(0)
    }

    /// From the Clear_To_Send of a Block to its last octet, ps: what a window has to cover.
    pub fn block_latency(&self, block: u64) -> u64 {
        let frames = self.frames(block);
        let packets: Vec<u32> =
            self.data.iter().copied().cycle().take(frames as usize * self.data.len()).collect();
        let links = self.back.latency(&self.control) + self.there.latency(&packets);
        // Behind the first frame the others keep the pace of the slowest part.
        let [(wire, _), _, (sending, _), (receiving, _)] = self.parts(block);
        let slower = sending.max(receiving).saturating_sub(wire) * (frames - 1) / frames;
        links.saturating_add(self.software()).saturating_add(slower)
    }

    /// The time of a Block at the best rate that a Transfer by these settings can have, without
    /// competition, ps, and what sets it. The destination has `slots`. With `stripes` the links are as many
    /// times as fast, and all else is not.
    pub fn bound(&self, end: &TransferConfig, slots: u16, stripes: u64) -> (u64, Bound) {
        let job = &end.job;
        let block = 1u64 << job.blocksize;
        let mut bounds = self.parts(block).to_vec();
        for (time, _) in &mut bounds[2..] {
            *time = time.saturating_mul(stripes);
        }
        if !job.operation.is_in_region() {
            let spare = u64::from(slots.saturating_sub(2).max(1));
            let counted = slots != u16::MAX;
            // The questions for Slots: each Clear_To_Send takes one, and so does Data that is delivered.
            let asked = |taken: u64| if counted { self.question().saturating_mul(taken) / spare } else { 0 };
            let window = self.block_latency(block).div_ceil(job.enabled());
            bounds.push((window.saturating_add(asked(1)).saturating_mul(stripes), Bound::Window));
            if job.notify {
                let slots = self.block_time(block).saturating_add(asked(self.frames(block)));
                bounds.push((slots.saturating_mul(stripes), Bound::Slots));
            }
        }
        bounds.push((self.upper(end, slots).saturating_mul(stripes), Bound::Upper));
        // Of equal ones the first.
        bounds.into_iter().rev().max_by_key(|&(time, _)| time).unwrap_or((0, Bound::Links))
    }

    /// How long the upper layer of the destination, like that of `end`, keeps a Block busy, ps: its
    /// headers, if they are delivered, and its interrupt. Between two polls no Slot becomes free; one is
    /// for the question for more, and its answer does not count the place of the question.
    fn upper(&self, end: &TransferConfig, slots: u16) -> u64 {
        let (job, upper) = (&end.job, &end.upper);
        let frames = self.frames(1 << job.blocksize);
        let headers = if job.notify { frames } else { 0 };
        let interrupts = if job.interrupt { upper.interrupt.0 } else { 0 };
        let work = headers.saturating_mul(upper.header.0).saturating_add(interrupts);
        let spare = u64::from(slots.saturating_sub(2).max(1));
        let counted = slots != u16::MAX && !job.interrupt;
        let polls = if counted { headers.saturating_mul(upper.poll.0) / spare } else { 0 };
        work.max(polls)
    }

    /// How long a destination may see nothing of a Block although nothing is lost, ps: the Op_timeout, and
    /// the time in which all Blocks that are enabled at the two ends pass.
    pub fn patience(&self, op_timeout: u64, enabled: u64, block: u64) -> u64 {
        op_timeout.saturating_add(enabled.saturating_mul(self.block_time(block)))
    }

    /// How long a Control operation may wait although nothing is lost, ps.
    ///
    /// On the links: `queued` Blocks may be enabled over the connections of its two ends, and the
    /// Clear_To_Send of each goes first, alternating with Data. At the hosts: as many operations may go out
    /// before it, and two frames of Data; all Data of the `enabled` Blocks may have come in before it, as far
    /// as there are places.
    pub fn contention(&self, queued: u64, enabled: u64, block: u64) -> u64 {
        let links = queued.saturating_mul(self.there.busy(&self.data) + self.back.busy(&self.control));
        let operations = queued.saturating_mul(2);
        let coming = enabled.saturating_mul(self.frames(block)).saturating_add(operations);
        let hosts = self.hosts.iter().map(|host| host.wait(coming, operations.saturating_add(2)));
        hosts.fold(links, u64::saturating_add)
    }

    /// Share of the time in which the path of Data is busy with a Block that Clear_To_Send takes of the way
    /// back: numerator and denominator.
    pub fn cts_share(&self, block: u64) -> (u64, u64) {
        (self.back.busy(&self.control), self.block_time(block))
    }
}
