//! What Scheduled Transfer comes to, over type 9 streams or another medium, on a path without competition.

use crate::config::{HostConfig, Medium, Operation, ServiceTime, TransferConfig, TransferJob, UpperLayer};
use crate::path::{Paces, Path, pdu_packets};
use logical::engine::stream::Mtu;
use lp_serial::cost::IdSize;
use scheduled_transfer::llp::ethernet;
use scheduled_transfer::wire::HEADER_BYTES;
use std::collections::VecDeque;

/// Octets of a frame around the payload of an operation.
const FRAME_OCTETS: u32 = (ethernet::OVERHEAD_BYTES + HEADER_BYTES) as u32;

/// Frames of Data that are followed one by one; more keep their pace.
const FOLLOWED: u64 = 4_096;

/// Octets of a word, which a FetchOp brings.
const WORD: u32 = 8;

/// Of so many Slots those that operations other than questions for more, and answers to them, can use.
fn spare(slots: u16) -> u64 {
    u64::from(slots.saturating_sub(2).max(1))
}

/// The share that a Block, or what else a rate is counted by, has of a time of each Transfer.
fn of_transfer(time: u64, job: &TransferJob) -> u64 {
    let share = u128::from(time) * u128::from(job.unit()) / u128::from(job.bytes.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}

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

    /// What frames take at least.
    pub fn shortest(host: &HostConfig) -> Self {
        Self::by(host, |time| match time {
            ServiceTime::Fixed(time) | ServiceTime::Uniform(time, _) => time.0,
            ServiceTime::Exponential(_) => 0,
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
    /// The receive buffers and ackIDs of a link, which come back a round trip of it later.
    Buffers,
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
    /// What a translator takes for each operation.
    Translator,
}

/// The way over one medium.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leg {
    /// Towards the destination.
    there: Path,
    /// Towards the source.
    back: Path,
    /// Packets of a frame with a whole STU.
    data: Vec<u32>,
    /// Packets of a Control operation.
    control: Vec<u32>,
    /// What the translator behind it takes; nothing behind the last.
    relay: Software,
    /// What carries frames.
    carrier: Carrier,
}

/// What carries frames over a medium.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Carrier {
    /// Streams of type 9, with their MTU and ids.
    Streams(Mtu, IdSize),
    /// Links of another medium.
    Links(Medium),
}

impl Carrier {
    /// Packets of a frame with so many octets of payload.
    fn packets(self, octets: u32) -> Vec<u32> {
        match self {
            Carrier::Streams(mtu, ids) => pdu_packets(FRAME_OCTETS + octets, mtu, ids),
            Carrier::Links(medium) => vec![medium.operation_octets(HEADER_BYTES as u32 + octets)],
        }
    }
}

impl Leg {
    /// When frames of these packets are at its end, and have passed the translator there: whole, one after
    /// the other. They may begin to leave when they are `ready`, ps.
    fn pass(&self, path: &Path, frames: &[&[u32]], ready: &mut [u64]) {
        let all: Vec<u32> = frames.concat();
        let each = ready.iter().zip(frames);
        let mut each: Vec<u64> =
            each.flat_map(|(&at, packets)| std::iter::repeat_n(at, packets.len())).collect();
        path.pass(&all, &mut each);
        let mut done = 0;
        for (ready, packets) in ready.iter_mut().zip(frames) {
            done += packets.len();
            *ready = each[..done].last().copied().unwrap_or(*ready);
        }
        for service in [self.relay.rx, self.relay.tx] {
            let mut free = 0u64;
            for ready in ready.iter_mut() {
                free = free.max(*ready).saturating_add(service);
                *ready = free;
            }
        }
    }
}

/// The way of Data and the way of its permissions, over one medium after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferPath {
    /// From the source to the destination, one at least.
    legs: Vec<Leg>,
    /// What frames take at the two hosts: of the source, of the destination. Nothing unless it is said.
    pub hosts: [Software; 2],
    /// Octets of an STU.
    stu: u32,
}

impl TransferPath {
    fn over(there: Path, back: Path, stu: u32, carrier: Carrier) -> Self {
        let (data, control) = (carrier.packets(stu), carrier.packets(0));
        let relay = Software::default();
        TransferPath {
            legs: vec![Leg { there, back, data, control, relay, carrier }],
            hosts: [relay; 2],
            stu,
        }
    }

    /// `stu`: octets of a whole STU.
    pub fn new(there: Path, back: Path, stu: u32, mtu: Mtu, ids: IdSize) -> Self {
        Self::over(there, back, stu, Carrier::Streams(mtu, ids))
    }

    /// A way over links of another medium.
    pub fn on_medium(there: Path, back: Path, stu: u32, medium: Medium) -> Self {
        Self::over(there, back, stu, Carrier::Links(medium))
    }

    /// This way, and behind a translator, which takes its time for each operation, another one with STUs of
    /// the same size.
    pub fn then(mut self, translator: Software, behind: Self) -> Self {
        if let Some(last) = self.legs.last_mut() {
            last.relay = translator;
        }
        self.legs.extend(behind.legs);
        self
    }

    /// This way between hosts that take their time: that of the source, that of the destination.
    pub fn between(self, source: Software, destination: Software) -> Self {
        TransferPath { hosts: [source, destination], ..self }
    }

    /// Octets of a whole STU.
    pub fn stu(&self) -> u32 {
        self.stu
    }

    /// What a frame each way takes at the hosts, ps.
    fn software(&self) -> u64 {
        self.hosts.iter().map(|host| host.rx.saturating_add(host.tx)).fold(0, u64::saturating_add)
    }

    /// From the start of the first of so many frames with whole STUs to the end of the last, ps.
    fn data(&self, frames: u64) -> u64 {
        self.octets(frames.saturating_mul(self.stu.into()))
    }

    /// From the start of the first frame with so many octets of Data to the end of the last, ps.
    fn octets(&self, octets: u64) -> u64 {
        self.through(octets, [0, 0])
    }

    /// From when the software of the source takes the first frame with so many octets of Data to when that of
    /// the destination has the last, ps. They take so long for each, one after the other.
    fn through(&self, octets: u64, [tx, rx]: [u64; 2]) -> u64 {
        let (whole, rest) = (octets / u64::from(self.stu), (octets % u64::from(self.stu)) as u32);
        let frames = whole as usize + usize::from(rest > 0);
        let mut ready: Vec<u64> = (1..=frames as u64).map(|frame| frame.saturating_mul(tx)).collect();
        for leg in &self.legs {
            let last = leg.carrier.packets(rest);
            let mut all = vec![&leg.data[..]; whole as usize];
            all.resize(frames, &last[..]);
            leg.pass(&leg.there, &all, &mut ready);
        }
        ready.into_iter().fold(0, |free, at| free.max(at).saturating_add(rx))
    }

    /// From the start of a Control operation towards the destination to its end, ps.
    fn control_there(&self) -> u64 {
        let mut ready = [0];
        self.legs.iter().for_each(|leg| leg.pass(&leg.there, &[&leg.control], &mut ready));
        ready[0]
    }

    /// From the start of a Control operation towards the source to its end, ps.
    fn control_back(&self) -> u64 {
        // The translators are the same, in the other order.
        let mut ready = [0];
        self.legs.iter().for_each(|leg| leg.pass(&leg.back, &[&leg.control], &mut ready));
        ready[0]
    }

    /// How long the slowest link is busy with a whole STU, ps.
    pub fn data_busy(&self) -> u64 {
        self.legs.iter().map(|leg| leg.there.busy(&leg.data)).max().unwrap_or(0)
    }

    /// From when the first packet of a whole STU is at the destination to when the last one is, at least, ps.
    pub fn data_span(&self) -> u64 {
        let last = self.legs.last().expect("one at least");
        last.there.busy(&last.data).saturating_sub(last.there.busy(&last.data[..1]))
    }

    /// How long so many octets of Data take at the pace of a part of the way, which tells what it takes for
    /// packets, ps.
    fn paced(&self, octets: u64, pace: impl FnMut(&Leg, &[u32]) -> u64) -> u64 {
        self.paced_beside(octets, pace, |_| 0)
    }

    /// Likewise, with what each part of the way takes for something else meanwhile.
    fn paced_beside(
        &self,
        octets: u64,
        mut pace: impl FnMut(&Leg, &[u32]) -> u64,
        other: impl Fn(&Leg) -> u64,
    ) -> u64 {
        let (whole, rest) = (octets / u64::from(self.stu), (octets % u64::from(self.stu)) as u32);
        let legs = self.legs.iter().map(|leg| {
            let last = if rest > 0 { pace(leg, &leg.carrier.packets(rest)) } else { 0 };
            whole.saturating_mul(pace(leg, &leg.data)).saturating_add(last).saturating_add(other(leg))
        });
        legs.max().unwrap_or(0)
    }

    /// How long the slowest link is busy with a whole STU, or waits for what comes back of it, ps.
    fn data_pace(&self) -> u64 {
        self.data_busy().max(self.paced(self.stu.into(), |leg, packets| leg.there.turn(packets)))
    }

    /// How long the slowest link back is busy with a Control operation, ps.
    fn control_busy(&self) -> u64 {
        self.legs.iter().map(|leg| leg.back.busy(&leg.control)).max().unwrap_or(0)
    }

    /// How long the slowest link takes for a whole STU in the direction in which that takes longer, ps.
    fn data_pace_each_way(&self) -> u64 {
        let back = self.legs.iter().map(|leg| leg.back.busy(&leg.data).max(leg.back.turn(&leg.data)));
        self.data_pace().max(back.max().unwrap_or(0))
    }

    /// From the start of a whole STU to the end of the answer to it, ps. The computed RTT: defaults are
    /// multiples of it.
    pub fn round_trip(&self) -> u64 {
        (self.data(1) + self.control_back()).saturating_add(self.software())
    }

    /// From a Control operation to the answer, ps.
    pub fn question(&self) -> u64 {
        (self.control_there() + self.control_back()).saturating_add(self.software())
    }

    fn frames(&self, block: u64) -> u64 {
        block.div_ceil(self.stu.into())
    }

    /// How long each part of the path is busy with a Block, ps: links first.
    fn parts(&self, block: u64) -> [(u64, Bound); 6] {
        let frames = self.frames(block);
        let [source, destination] = self.hosts;
        // A translator takes Clear_To_Send as well.
        let relays = self.legs.iter().map(|leg| leg.relay.rx.max(leg.relay.tx));
        let relayed = relays.max().unwrap_or(0).saturating_mul(frames + 1);
        let turn = self.paced(block, |leg, packets| leg.there.turn(packets));
        let permitted = self.legs.iter().map(|leg| leg.back.turn(&leg.control)).max().unwrap_or(0);
        [
            (self.paced(block, |leg, packets| leg.there.busy(packets)), Bound::Links),
            (turn.max(permitted), Bound::Buffers),
            (self.control_busy(), Bound::Permissions),
            (frames.saturating_mul(source.tx).max(destination.tx), Bound::Sending),
            (frames.saturating_mul(destination.rx).max(source.rx), Bound::Receiving),
            (relayed, Bound::Translator),
        ]
    }

    /// How long each part of the path is busy with as many FetchOps as a Block has words, ps: the question
    /// and its completion there, a word back.
    fn fetch_parts(&self, block: u64) -> [(u64, Bound); 5] {
        let [asker, owner] = self.hosts;
        let links = |time: fn(&Path, &[u32]) -> u64| {
            let legs = self.legs.iter().map(|leg| {
                let word = time(&leg.back, &leg.carrier.packets(WORD));
                (2 * time(&leg.there, &leg.control)).max(word)
            });
            legs.max().unwrap_or(0)
        };
        let relays = self.legs.iter().map(|leg| leg.relay.rx.max(leg.relay.tx));
        [
            (links(Path::busy), Bound::Links),
            (links(Path::turn), Bound::Buffers),
            (asker.tx.saturating_mul(2).max(owner.tx), Bound::Sending),
            (owner.rx.saturating_mul(2).max(asker.rx), Bound::Receiving),
            (relays.max().unwrap_or(0).saturating_mul(3), Bound::Translator),
        ]
        .map(|(time, bound)| (time.saturating_mul(block / u64::from(WORD)), bound))
    }

    /// How long the slowest part of the path is busy with a Block of so many octets, a multiple of the STU,
    /// ps: a link with its Data in one direction or with its Clear_To_Send in the other, the buffers of a
    /// link, or a host.
    pub fn block_time(&self, block: u64) -> u64 {
        self.parts(block).into_iter().map(|(time, _)| time).max().unwrap_or(0)
    }

    /// From the Clear_To_Send of a Block to its last octet, ps: what a window has to cover.
    pub fn block_latency(&self, block: u64) -> u64 {
        let [source, destination] = self.hosts;
        let data = self.through(block, [source.tx, destination.rx]);
        let permission = destination.tx.saturating_add(source.rx);
        self.control_back().saturating_add(data).saturating_add(permission)
    }

    /// The time of a Block at the best rate that a Transfer by these settings can have, without
    /// competition, ps, and what sets it: of what has no Blocks the time of an operation. The destination has
    /// `slots`. With `stripes` the links are as many
    /// times as fast, and all else is not.
    ///
    /// Where Control overtakes Data, the answer to a question for Slots counts the Data of the last
    /// Op_timeout (`op_timeout`, ps of the fabric) as if it had not arrived (ST-5.2.5-10), because it may not
    /// have. `known`: of other ways of the same fabric.
    pub fn bound(
        &self,
        end: &TransferConfig,
        slots: u16,
        stripes: u64,
        op_timeout: u64,
        known: &mut Paces,
    ) -> (u64, Bound) {
        let job = &end.job;
        let block = job.unit();
        let ways = match job.operation {
            Operation::FetchOp => vec![],
            Operation::ReadBack => vec![self.clone(), self.reversed()],
            _ => vec![self.clone()],
        };
        let mut bounds: Vec<_> = ways.iter().flat_map(|way| way.parts(block)).collect();
        if job.operation == Operation::FetchOp {
            bounds.extend(self.fetch_parts(block));
        }
        bounds.extend(ways.iter().map(|way| (way.sustained(block, known), Bound::Buffers)));
        if !job.operation.is_in_region() {
            bounds.extend(ways.iter().flat_map(|way| way.with_requests(job)));
        }
        // What goes into a region, or comes from there, needs no permission.
        if job.operation.is_in_region() {
            bounds.retain(|(_, bound)| *bound != Bound::Permissions);
        }
        let several = |bound: Bound| matches!(bound, Bound::Links | Bound::Buffers | Bound::Permissions);
        for (time, _) in bounds.iter_mut().filter(|(_, bound)| !several(*bound)) {
            *time = time.saturating_mul(stripes);
        }
        if !job.operation.is_in_region() {
            // Each Clear_To_Send takes a Slot, and so does Data that is delivered.
            let most = bounds.iter().map(|(time, _)| *time).max().unwrap_or(0);
            bounds.push((self.permitted(job, slots, most / stripes).saturating_mul(stripes), Bound::Window));
        }
        let held = if end.protocol.overtaking().is_some() { op_timeout } else { 0 };
        let mut asked = 0;
        if job.holds_slots(slots) && job.state_every == 0 {
            asked = self.asking(job, slots).max(held);
        } else if job.holds_slots(slots) && job.at_a_time() == 1 {
            // Data that asks itself brings Slots while other Data leaves. Where more than the Slots allow
            // goes before it, the rest of that is held as long.
            let each = u64::from(job.state_every);
            let before = each.saturating_mul(block.div_ceil(u64::from(self.stu)));
            let waits = before.saturating_sub(spare(slots)).div_ceil(spare(slots));
            let time = held.saturating_mul(waits) / each;
            bounds.push((time.saturating_mul(stripes), Bound::Slots));
        }
        if asked > 0 {
            // What is known at the beginning of a Transfer need not be asked for. Where several go at a time
            // the end of one tells the others as well.
            let (several, each) = (job.at_a_time(), job.stus(self.stu));
            let told = several.saturating_sub(1).saturating_mul(spare(slots)).saturating_add(1);
            let questions = each.saturating_mul(several).saturating_sub(told) / spare(slots);
            let all = asked.saturating_mul(questions) / several.max(1);
            bounds.push((of_transfer(all, job).saturating_mul(stripes), Bound::Slots));
        }
        bounds.push((self.upper(job, &end.upper, slots).saturating_mul(stripes), Bound::Upper));
        // Of equal ones the first.
        bounds.into_iter().rev().max_by_key(|&(time, _)| time).unwrap_or((0, Bound::Links))
    }

    /// How long the parts of the path that Data goes through are busy with a Block and with what its share is
    /// of the request that each Transfer sends before, ps.
    fn with_requests(&self, job: &TransferJob) -> [(u64, Bound); 3] {
        let block = job.unit();
        let share = |time: u64| of_transfer(time, job);
        let request = |leg: &Leg| share(leg.there.busy(&leg.control));
        let links = self.paced_beside(block, |leg, packets| leg.there.busy(packets), request);
        let [source, destination] = self.hosts;
        let frames = |service: u64| self.frames(block).saturating_mul(service).saturating_add(share(service));
        [
            (links, Bound::Links),
            (frames(source.tx), Bound::Sending),
            (frames(destination.rx), Bound::Receiving),
        ]
    }

    /// The time of a Block by the window and the Slots of the source, ps. A Block is enabled when the one
    /// that leaves it a place in the window is there; of the Slots every `slots` - 2 Clear_To_Send take all,
    /// and the next one that may go asks for more first. What cannot be more than `other` is not reckoned in
    /// full.
    fn permitted(&self, job: &TransferJob, slots: u16, other: u64) -> u64 {
        let (latency, window) = (self.block_latency(job.unit()), job.enabled().max(1));
        let plain = latency.div_ceil(window);
        let (question, spare) = (self.question(), spare(slots));
        // At most the one waits for the other each time. Of many Slots questions are rare.
        let is_less = plain.saturating_add(question / spare) <= other;
        if slots == u16::MAX || is_less || window.max(spare) > FOLLOWED {
            return plain;
        }
        let mut enabled: VecDeque<u64> = VecDeque::new();
        let (mut last, mut half) = (0u64, 0);
        // Questions come in the same places of a window after as many Blocks; and the beginning is none.
        let round = 4 * spare * window.div_ceil(spare);
        for number in 0..2 * round {
            let free = if enabled.len() as u64 == window { enabled.pop_front() } else { None };
            last = last.max(free.map_or(0, |time| time.saturating_add(latency)));
            if number > 0 && number % spare == 0 {
                last = last.saturating_add(question);
            }
            enabled.push_back(last);
            if number + 1 == round {
                half = last;
            }
        }
        plain.max((last - half) / round)
    }

    /// From one question for Slots to the next, of Data that is delivered, ps: all that the Slots allow goes
    /// on its way, and the next question leaves behind it.
    fn asking(&self, job: &TransferJob, slots: u16) -> u64 {
        if slots == u16::MAX {
            return 0;
        }
        let burst = spare(slots).min(self.frames(job.bytes)).min(FOLLOWED);
        let [source, destination] = self.hosts;
        let all = |frames: u64| self.through(frames * u64::from(self.stu), [source.tx, destination.rx]);
        let spread = all(burst).saturating_sub(all(1));
        self.question().saturating_add(spread).saturating_add(self.data_busy())
    }

    /// How long questions for Slots take that so many of them cause, of an end with `slots`, if nothing else
    /// goes on meanwhile, ps.
    pub fn asked(&self, taken: u64, slots: u16) -> u64 {
        if slots == u16::MAX { 0 } else { self.question().saturating_mul(taken) / spare(slots) }
    }

    /// How long a Block of so many octets takes in the long run on the links, whose receive buffers come back
    /// later, ps.
    fn sustained(&self, block: u64, known: &mut Paces) -> u64 {
        self.paced(block, |leg, packets| leg.there.sustained(packets, known))
    }

    /// How long the upper layer of the destination, like this one, keeps a Block busy, ps: its
    /// headers, if they are delivered, or that of each Data that asks for the state, and its interrupt.
    /// Between two polls no Slot becomes free; one is for the question for more, and its answer does not
    /// count the place of the question. Data that asks itself needs no question.
    fn upper(&self, job: &TransferJob, upper: &UpperLayer, slots: u16) -> u64 {
        let frames = self.frames(job.unit());
        let (headers, blocks, spare) = match u64::from(job.state_every) {
            _ if job.notify => (frames, 1, spare(slots)),
            0 => (0, 1, 1),
            every => (1, every, u64::from(slots.saturating_sub(1).max(1))),
        };
        let interrupts = if job.interrupt { upper.interrupt.0 } else { 0 };
        let work = (headers.saturating_mul(upper.header.0) / blocks).saturating_add(interrupts);
        let counted = slots != u16::MAX && !job.interrupt;
        let polls = if counted { headers.saturating_mul(upper.poll.0) / (spare * blocks) } else { 0 };
        work.max(polls)
    }

    /// How long a destination may see nothing of a Block although nothing is lost, ps: the Op_timeout, and
    /// the time in which all Blocks that are enabled at the two ends pass.
    pub fn patience(&self, op_timeout: u64, enabled: u64, block: u64) -> u64 {
        op_timeout.saturating_add(enabled.saturating_mul(self.block_time(block)))
    }

    /// How long so many Blocks that are enabled wait for Slots and the upper layer of their destination,
    /// which has `slots`, beside the time in which they pass, ps.
    pub fn delivery(&self, job: &TransferJob, upper: &UpperLayer, slots: u16, enabled: u64) -> u64 {
        let asked = match job.notify && !job.operation.is_in_region() {
            true => self.asked(self.frames(job.unit()), slots),
            false => 0,
        };
        enabled.saturating_mul(asked.max(self.upper(job, upper, slots)))
    }

    /// How long so many headers of Data take that is delivered, where Control overtakes Data and the
    /// destination has `slots`, ps: what left in an Op_timeout counts as under way.
    pub fn overtaken(&self, op_timeout: u64, headers: u64, slots: u16) -> u64 {
        op_timeout.saturating_mul(headers) / spare(slots)
    }

    /// How long a Control operation may wait although nothing is lost, ps.
    ///
    /// On the links: `queued` Blocks may be enabled over the connections of its two ends, and the
    /// Clear_To_Send of each goes first, alternating with Data. At the hosts: as many operations may go out
    /// before it, and two frames of Data; all Data of the `enabled` Blocks may have come in before it, as far
    /// as there are places. A translator keeps no Data back, so behind it all enabled Blocks may be in front.
    pub fn contention(&self, queued: u64, enabled: u64, block: u64) -> u64 {
        let mut links = queued.saturating_mul(self.data_pace() + self.control_busy());
        for pair in self.legs.windows(2) {
            let [before, behind] = pair else { continue };
            let service = before.relay.rx.saturating_add(before.relay.tx);
            let frame = service.saturating_add(behind.there.busy(&behind.data));
            let all = enabled.saturating_mul(self.frames(block)).saturating_mul(frame);
            links = links.saturating_add(all);
        }
        let operations = queued.saturating_mul(2);
        let coming = enabled.saturating_mul(self.frames(block)).saturating_add(operations);
        let hosts = self.hosts.iter().map(|host| host.wait(coming, operations.saturating_add(2)));
        hosts.fold(links, u64::saturating_add)
    }

    /// How long a Control operation and its answer may wait behind Data in the buffers of switches although
    /// nothing is lost, ps: so many connections share them, and no more than so many frames of Data are on
    /// their way in a direction.
    pub fn crowded(&self, connections: u64, frames: u64) -> u64 {
        let all = frames.saturating_mul(self.data_pace_each_way());
        let way = |path: fn(&Leg) -> &Path| {
            let legs = self.legs.iter().map(|leg| {
                let longest = leg.data.iter().copied().max().unwrap_or(0);
                path(leg).crowded(longest, connections)
            });
            legs.fold(0, u64::saturating_add).min(all)
        };
        way(|leg| &leg.there).saturating_add(way(|leg| &leg.back))
    }

    /// How long so many Clear_To_Send take that wait at a destination for Slots of the source, of which there
    /// are `slots`, ps: it asks for more after each `slots` - 2, and question and answer go behind two frames
    /// of Data each.
    pub fn gate(&self, waiting: u64, slots: u16) -> u64 {
        let spare = spare(slots);
        let asked = self.question().saturating_add(self.data_pace_each_way().saturating_mul(4));
        waiting.div_ceil(spare).saturating_mul(asked)
    }

    /// How long the answer to a Get or FetchOp may wait although nothing is lost, ps: an end answers in the
    /// order of the questions, and answers of all whom it asked share its link. So `gets` answers of so many
    /// octets, put into buffers of `bufsize`, go first, each way, at the pace of the slowest part.
    pub fn answers(&self, gets: u64, octets: u64, bufsize: u64) -> u64 {
        // A Get may begin and end inside buffers; no STU crosses one.
        let frames = octets.div_ceil(self.stu.into()) + octets.div_ceil(bufsize) + 1;
        let services = self.hosts.iter().chain(self.legs.iter().map(|leg| &leg.relay));
        let software = services.map(|service| service.rx.max(service.tx)).max().unwrap_or(0);
        gets.saturating_mul(frames).saturating_mul(self.data_pace_each_way().max(software))
    }

    /// How long one operation of `end` takes at least from its beginning to its end, without other traffic,
    /// ps: its questions, answers and Data one after the other. Slots and the upper layer do not count.
    pub fn alone(&self, end: &TransferConfig) -> u64 {
        let job = &end.job;
        // Request_To_Send, Clear_To_Send, Data and the answer to it. Of a Read it is Request_To_Receive,
        // Request_To_Send, Clear_To_Send, Data.
        let transfer =
            |way: &Self| way.question().saturating_add(way.data_time(job)).saturating_add(way.control_back());
        match job.operation {
            // It is over when it was sent.
            Operation::Put if !end.protocol.reliable => 0,
            Operation::Write if !end.protocol.reliable => self.question(),
            Operation::Write | Operation::Read => transfer(self),
            Operation::ReadBack => transfer(self).saturating_add(transfer(&self.reversed())),
            // Data and an answer, or a question and Data.
            Operation::Put | Operation::Get => self.data_time(job).saturating_add(self.control_back()),
            Operation::FetchOp => {
                let word = self.reversed().octets(WORD.into());
                let question = self.control_there().saturating_add(self.software());
                // The completion of the one before goes first.
                let busy = self.legs.iter().map(|leg| leg.there.busy(&leg.control)).max().unwrap_or(0);
                question.saturating_add(word).saturating_add(busy).saturating_add(self.hosts[0].tx)
            }
        }
    }

    /// This way with Data in the other direction.
    fn reversed(&self) -> Self {
        let [source, destination] = self.hosts;
        let mut legs: Vec<Leg> = self.legs.iter().rev().cloned().collect();
        for leg in &mut legs {
            std::mem::swap(&mut leg.there, &mut leg.back);
        }
        // A translator stands behind the leg before it.
        let relays: Vec<Software> = self.legs.iter().rev().skip(1).map(|leg| leg.relay).collect();
        let relays = relays.into_iter().chain(std::iter::repeat(Software::default()));
        for (leg, relay) in legs.iter_mut().zip(relays) {
            leg.relay = relay;
        }
        TransferPath { legs, hosts: [destination, source], stu: self.stu }
    }

    /// From when the source takes the first Data of an operation to when the destination has the last, at
    /// least, and the software of the answer, ps: all Data goes on at once, and no Block begins before the
    /// one that leaves it a place in the window is there.
    fn data_time(&self, job: &TransferJob) -> u64 {
        let [source, destination] = self.hosts;
        let answer = destination.tx.saturating_add(source.rx);
        let frame = self.data_busy().max(source.tx).max(destination.rx);
        let at_once = |octets: u64| {
            let long = octets.saturating_sub(FOLLOWED * u64::from(self.stu)) / u64::from(self.stu);
            let followed = self.through(octets - long * u64::from(self.stu), [source.tx, destination.rx]);
            followed.saturating_add(long.saturating_mul(frame))
        };
        let (octets, block) = (job.bytes, job.unit());
        let window = job.window().max(1);
        let behind = octets.div_ceil(block).saturating_sub(1);
        let (windows, first) = (behind / window, (behind % window + 1) * block);
        let in_windows = match windows {
            0 => 0,
            _ => {
                // The last Block may be shorter.
                let shorter = at_once(block).saturating_sub(at_once(octets - behind * block));
                let windows = windows.saturating_mul(self.block_latency(block));
                at_once(first).saturating_add(windows).saturating_sub(shorter)
            }
        };
        at_once(octets).max(in_windows).saturating_add(answer)
    }

    /// STUs that the links of the way carry in a time, ps.
    pub fn stus_in(&self, time: u64) -> u64 {
        time / self.data_busy().max(1)
    }

    /// Share of the time in which the path of Data is busy with a Block that Clear_To_Send takes of the way
    /// back: numerator and denominator.
    pub fn cts_share(&self, block: u64) -> (u64, u64) {
        (self.control_busy(), self.block_time(block))
    }
}
