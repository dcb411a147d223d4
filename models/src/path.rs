//! What a path through the fabric takes without competition: closed forms that reports and defaults use.

use crate::config::{
    AgentConfig, Buffering, DeviceConfig, DeviceModel, Egress, FabricConfig, FlowControl, Forwarding,
    Framing, LinkConfig, Medium, PRIORITIES, PortConfig,
};
use crate::ratio::{gcd, is_less};
use logical::engine::stream::Mtu;
use lp_serial::cost::{AddressSize, IdSize, PacketClass, packet_bytes};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One link on the way, with what comes behind it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// Time of a character: numerator and denominator, ps.
    pub char_ps: (u64, u64),
    /// Characters of a delimiter.
    pub delimiter: u32,
    /// What the link adds to packets.
    pub framing: Framing,
    /// From the last bit sent to the packet accepted: the link, and the pipeline of the device behind it, ps.
    pub after: u64,
    /// Octets after which the device behind it sends a packet on. `None`: after all of them.
    pub head: Option<u32>,
    /// From when something is so at the device behind it to when the sender knows, ps.
    pub news: u64,
    /// Whether the next link reads the receive buffer, and so keeps it until the packet has left.
    pub is_read: bool,
    /// Receive buffers that packets of each priority can have at a time; no number if nobody waits for them.
    pub buffers: [Option<u64>; PRIORITIES],
    /// Packets that may be unacknowledged.
    pub ack_window: u64,
    /// Ports of the device behind it from which packets may come to the next link: those with links, but for
    /// that one; 0 at an endpoint.
    pub inputs: u64,
    /// Packets that may wait in the device behind it for the next link: of each of these ports, and of all of
    /// them in buffers that they have in common.
    pub places: [u64; 2],
}

impl Hop {
    /// From the start of a packet to when the device behind may send it on, ps.
    fn eligible(&self, octets: u32) -> u64 {
        let busy = self.busy(&[octets]);
        let sent = self.head.map_or(busy, |head| self.chars(head).min(busy));
        sent + self.after
    }

    /// How long octets and a delimiter take, ps, rounded down.
    fn chars(&self, octets: u32) -> u64 {
        u64::from(octets + self.delimiter) * self.char_ps.0 / self.char_ps.1
    }

    /// How long a control symbol takes, ps, rounded up.
    fn symbol(&self) -> u64 {
        (u64::from(self.delimiter) * self.char_ps.0).div_ceil(self.char_ps.1)
    }

    /// How long packets of these octets, without what a link adds, keep the link busy, ps, rounded up.
    pub fn busy(&self, packets: &[u32]) -> u64 {
        let on_link = |&wire: &u32| u64::from(self.framing.octets(wire) + self.delimiter);
        let chars: u64 = packets.iter().map(on_link).sum();
        (chars * self.char_ps.0).div_ceil(self.char_ps.1)
    }
}

/// The links from an endpoint to the owner of a destination id.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// In order.
    pub hops: Vec<Hop>,
    /// Of the packets, as far as it says which receive buffers they can have.
    pub priority: u8,
}

/// What packets take of a link and give back later: one that finds none left waits for the one so many before
/// it.
struct Loop {
    most: u64,
    /// When those that are away come back, as far as anybody waits for them.
    back: VecDeque<u64>,
}

impl Loop {
    /// When one more may leave, ps.
    fn room(&mut self) -> u64 {
        let is_full = self.back.len() as u64 >= self.most;
        if is_full { self.back.pop_front().unwrap_or(0) } else { 0 }
    }

    fn back_at(&mut self, time: u64) {
        if self.most < u64::MAX {
            self.back.push_back(time);
        }
    }
}

/// A link while packets pass.
struct Passing<'a> {
    hop: &'a Hop,
    free: u64,
    buffers: Loop,
    acks: Loop,
}

/// What packets take in the long run, by way and packets: large fabrics have few ways that differ, and to
/// follow packets for long takes longer than to look.
pub type Paces = BTreeMap<(Path, Vec<u32>), u64>;

/// A fabric with its links by port, and its hosts by device.
#[derive(Clone, Debug)]
pub struct Roads<'a> {
    config: &'a FabricConfig,
    links: BTreeMap<(u32, u8), (u32, &'a LinkConfig)>,
    /// Links without credits: their receivers control the flow, or drop what finds no room.
    blind: BTreeSet<u32>,
    media: BTreeMap<u32, Medium>,
    agents: BTreeMap<u32, &'a AgentConfig>,
}

impl<'a> Roads<'a> {
    /// The links of a fabric.
    pub fn new(config: &'a FabricConfig) -> Self {
        let ends = (0..).zip(&config.links).flat_map(|(n, link)| [(link.a, (n, link)), (link.b, (n, link))]);
        let receivers = config.symbolic.iter().filter(|symbolic| symbolic.flow == FlowControl::Receiver);
        let lossy = config.media.iter().filter(|media| !media.medium.is_lossless());
        Roads {
            config,
            links: ends.collect(),
            blind: receivers.map(|own| own.link).chain(lossy.map(|own| own.link)).collect(),
            media: config.media.iter().map(|media| (media.link, media.medium)).collect(),
            agents: config.agents.iter().map(|agent| (agent.device, agent)).collect(),
        }
    }

    /// The host of an endpoint.
    pub fn agent(&self, device: u32) -> Option<&'a AgentConfig> {
        self.agents.get(&device).copied()
    }

    /// The medium of the link of an endpoint, if it is another one than RapidIO.
    pub fn medium(&self, device: u32) -> Option<Medium> {
        let (number, _) = self.links.get(&(device, 0))?;
        self.media.get(number).copied()
    }

    /// Receive buffers of a port that packets of each priority can have at a time.
    fn buffers(&self, number: u32, port: &PortConfig) -> [Option<u64>; PRIORITIES] {
        let is_blind = self.blind.contains(&number);
        // Places of another medium are for all alike.
        let has_watermarks = !self.media.contains_key(&number);
        std::array::from_fn(|priority| {
            let kept =
                port.watermarks.get(priority).filter(|_| has_watermarks).map_or(1, |own| (*own).into());
            (!is_blind).then_some((u64::from(port.buffers) + 1).saturating_sub(kept).max(1))
        })
    }

    /// The ports that send a packet from an endpoint to the owner of an id, in order: its own, and outputs of
    /// switches. `None` if it does not arrive, or is copied on the way.
    pub fn senders(&self, from: u32, to: u32) -> Option<Vec<(u32, u8)>> {
        let config = self.config;
        let (mut at, mut senders) = ((from, 0), Vec::new());
        // A device is left once at most, unless packets go round.
        for _ in 0..config.devices.len() {
            senders.push(at);
            let (_, _, (device, _)) = self.link(at)?;
            let DeviceModel::Switch(switch) = &config.devices[device as usize].model else {
                return (config.owners.get(to as usize) == Some(&device)).then_some(senders);
            };
            let Egress::Port(next) = switch.routes.entries.get(to as usize)?.egress else { return None };
            at = (device, next);
        }
        None
    }

    /// The link of a port: its number, what it is, and the port at the other end.
    fn link(&self, port: (u32, u8)) -> Option<(u32, &'a LinkConfig, (u32, u8))> {
        let &(number, link) = self.links.get(&port)?;
        Some((number, link, if link.a == port { link.b } else { link.a }))
    }

    /// Follows the routes from an endpoint to the owner of an id. `None` if packets do not arrive, or are
    /// copied on the way.
    pub fn path(&self, from: u32, to: u32) -> Option<Path> {
        let hops = self.senders(from, to)?.into_iter().map(|port| self.hop(port));
        Some(Path::over(hops.collect::<Option<_>>()?))
    }

    /// The link of a port, for what the port sends.
    fn hop(&self, port: (u32, u8)) -> Option<Hop> {
        let (number, link, (device, input)) = self.link(port)?;
        let DeviceConfig { model, ports, .. } = &self.config.devices[device as usize];
        let mut hop = Hop {
            char_ps: link.char_ps,
            delimiter: link.symbol_chars.into(),
            framing: link.framing(),
            after: link.propagation.0,
            head: None,
            news: 0,
            is_read: false,
            buffers: self.buffers(number, &ports[usize::from(input)]),
            ack_window: link.ack_window.into(),
            inputs: 0,
            places: [ports[usize::from(input)].buffers.into(), 0],
        };
        hop.news = hop.symbol() + link.propagation.0;
        let DeviceModel::Switch(switch) = model else { return Some(hop) };
        hop.after += switch.pipeline.0;
        hop.is_read = switch.buffering == Buffering::Direct;
        let linked = self.links.range((device, 0)..=(device, u8::MAX)).count();
        hop.inputs = linked.saturating_sub(1) as u64;
        match switch.buffering {
            Buffering::Direct => {}
            Buffering::Crosspoint { depth } => hop.places[0] += u64::from(depth),
            Buffering::Output { packets } | Buffering::Shared { packets } => {
                hop.places[1] = packets.into();
            }
        }
        hop.head = match switch.forwarding {
            Forwarding::CutThrough { header } => Some(header.into()),
            Forwarding::StoreAndForward => None,
        };
        Some(hop)
    }
}

impl Path {
    /// The way over these links. Where the next one is faster a packet is taken in whole before it goes
    /// on: it would run dry (F-62).
    fn over(mut hops: Vec<Hop>) -> Self {
        for n in 1..hops.len() {
            if is_less(hops[n].char_ps, hops[n - 1].char_ps) {
                hops[n - 1].head = None;
            }
        }
        Path { hops, priority: 0 }
    }

    /// This way for packets of another priority.
    pub fn at(self, priority: u8) -> Self {
        Path { priority, ..self }
    }

    /// Receive buffers of a link that the packets can have at a time.
    fn buffers(&self, hop: &Hop) -> u64 {
        hop.buffers.get(usize::from(self.priority)).copied().flatten().unwrap_or(u64::MAX)
    }

    /// From the start of the first packet to the end of the last at the destination, ps.
    pub fn latency(&self, packets: &[u32]) -> u64 {
        let mut ready = vec![0; packets.len()];
        self.pass(packets, &mut ready);
        ready.last().copied().unwrap_or(0)
    }

    /// From when packets may begin to leave, each, to when they are at the destination, ps. They keep their
    /// order.
    pub fn pass(&self, packets: &[u32], ready: &mut [u64]) {
        // Of no more than there are packets nobody waits for one.
        let of = |most: u64| {
            let is_enough = most >= packets.len() as u64;
            Loop { most: if is_enough { u64::MAX } else { most }, back: VecDeque::new() }
        };
        let passing =
            |hop| Passing { hop, free: 0, buffers: of(self.buffers(hop)), acks: of(hop.ack_window) };
        let mut links: Vec<Passing<'_>> = self.hops.iter().map(passing).collect();
        for (ready, &octets) in ready.iter_mut().zip(packets) {
            // Its receive buffer is one of the link before.
            let mut before: Option<&mut Passing<'_>> = None;
            for link in &mut links {
                let hop = link.hop;
                let start = link.free.max(*ready).max(link.buffers.room()).max(link.acks.room());
                link.free = start + hop.busy(&[octets]);
                if let Some(before) = before.filter(|before| before.hop.is_read) {
                    before.buffers.back_at(link.free + before.hop.news);
                }
                let accepted = link.free + hop.after + hop.news;
                link.acks.back_at(accepted);
                if !hop.is_read {
                    link.buffers.back_at(accepted);
                }
                *ready = start + hop.eligible(octets);
                before = Some(link);
            }
        }
    }

    /// How long its slowest link is busy with these packets, ps.
    pub fn busy(&self, packets: &[u32]) -> u64 {
        self.hops.iter().map(|hop| hop.busy(packets)).max().unwrap_or(0)
    }

    /// How long a packet may wait behind others in the switches on the way, if all their buffers are full of
    /// packets of so many octets and so many sources send, ps.
    ///
    /// Where n inputs share an output each of them has every n-th turn, and of a turn behind it as many
    /// fewer: so a packet waits in the first of two switches for the packets of its input times the inputs
    /// of both. No more than there are sources can share anything.
    pub fn crowded(&self, octets: u32, sources: u64) -> u64 {
        let mut sharing = 1u64;
        let mut ahead = 0u64;
        for hop in self.hops.iter().rev().filter(|hop| hop.inputs > 0) {
            sharing = sharing.saturating_mul(hop.inputs).min(sources);
            let [own, common] = hop.places;
            ahead = ahead.saturating_add(own.saturating_mul(sharing)).saturating_add(common);
        }
        ahead.saturating_mul(self.busy(&[octets]))
    }

    /// How long these packets take at least, again and again, because a receive buffer or an ackID of each
    /// has to come back before another packet can have it, ps: W packets in the time from the start of one
    /// to when its buffer is known to be free, while everything goes on at once.
    pub fn turn(&self, packets: &[u32]) -> u64 {
        let next = self.hops.iter().skip(1).map(Some).chain([None]);
        let turns = self.hops.iter().zip(next).map(|(hop, next)| {
            let accepted = |octets: &u32| hop.busy(&[*octets]) + hop.after + hop.news;
            let freed = |octets: &u32| match next.filter(|_| hop.is_read) {
                Some(next) => hop.eligible(*octets) + next.busy(&[*octets]) + hop.news,
                None => accepted(octets),
            };
            let freed: Vec<u64> = packets.iter().map(freed).collect();
            let accepted: Vec<u64> = packets.iter().map(accepted).collect();
            shared(&freed, self.buffers(hop)).max(shared(&accepted, hop.ack_window))
        });
        turns.max().unwrap_or(0)
    }

    /// How long these packets take in the long run, again and again, ps: as [`Self::turn`], and more where
    /// those of other lengths find no buffer meanwhile.
    pub fn sustained(&self, packets: &[u32], known: &mut Paces) -> u64 {
        let (busy, turn) = (self.busy(packets), self.turn(packets));
        // What comes back in half the time holds nobody up.
        if packets.is_empty() || turn < busy.div_ceil(2) {
            return busy;
        }
        *known.entry((self.clone(), packets.to_vec())).or_insert_with(|| self.followed(packets))
    }

    /// Likewise, of packets that are followed one by one until as many again would change nothing.
    fn followed(&self, packets: &[u32]) -> u64 {
        let most = self.hops.iter().map(|hop| self.buffers(hop).min(hop.ack_window)).max().unwrap_or(0);
        // Long enough that a turn more or less is less than a hundredth.
        let times = most.saturating_mul(LONG_RUN).div_ceil(packets.len() as u64);
        let all = packets.repeat(2 * times as usize);
        let mut ready = vec![0; all.len()];
        self.pass(&all, &mut ready);
        let half = times as usize * packets.len();
        (ready[2 * half - 1] - ready[half - 1]) / times
    }
}

/// Turns of all buffers of a link that are a long run.
const LONG_RUN: u64 = 64;

/// How long packets take, again and again, that keep one of so many places each for these times: the one that
/// comes that many later has the same place.
fn shared(kept: &[u64], places: u64) -> u64 {
    if kept.is_empty() {
        return 0;
    }
    // Packets that have a place one after the other, until the first of them is there again.
    let apart = gcd(kept.len() as u64, places);
    let line = |first: u64| kept.iter().skip(first as usize).step_by(apart as usize).sum::<u64>();
    let longest = (0..apart).map(line).max().unwrap_or(0);
    let time = (u128::from(longest) * u128::from(apart)).div_ceil(places.into());
    u64::try_from(time).unwrap_or(u64::MAX)
}

/// Octets on the wire of the packets of a type 9 PDU, without what a link adds.
pub fn pdu_packets(octets: u32, mtu: Mtu, ids: IdSize) -> Vec<u32> {
    let mtu = mtu.octets() as u32;
    let packet = |class, payload: u32| {
        packet_bytes(class, ids, payload.next_multiple_of(2), AddressSize::Bits34)
            .expect("segments fit into packets")
    };
    let (full, last) = (octets.saturating_sub(1) / mtu, octets.saturating_sub(1) % mtu + 1);
    let mut packets = Vec::new();
    if full > 0 {
        packets.push(packet(PacketClass::DataStreamingStart, mtu));
        packets.extend((1..full).map(|_| packet(PacketClass::DataStreamingContinuation, mtu)));
    }
    // An end segment has a length, like a single one.
    packets.push(packet(PacketClass::DataStreamingStart, last));
    packets
}
