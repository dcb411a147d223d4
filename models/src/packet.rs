//! Packets in the fabric: records in one slab, lists threaded through them.

mod carried;
pub(crate) mod data;
mod lanes;

pub(crate) use carried::{Cargo, Carried, Delay, Frame, Late};
pub(crate) use lanes::{Cell, Lane, Lanes};

use crate::config::{NO_PORT, PRIORITIES};
use crate::ids::PortId;
use crate::observe::clock::{Since, StoppedBefore};
use crate::observe::probe::{Cause, PacketId, Parts};
use crate::ports::PortSet;
use sim_core::{large_pages, prefetch};

/// Origins of packets that agents make: above those of any traffic source.
pub(crate) mod origin {
    /// Every kind of packet but type 9.
    pub const AGENT: u16 = u16::MAX;
    /// Type 9: the agent makes the next when one starts.
    pub const STREAM: u16 = u16::MAX - 1;
    /// Responses of registers.
    pub const REGISTERS: u16 = u16::MAX - 2;
    /// Frames on other media than RapidIO: the agent makes the next when one starts.
    pub const FRAME: u16 = u16::MAX - 3;
}

/// Mark in the destination of a type 8 packet.
pub(crate) const MAINTENANCE: u32 = 1 << 31;

/// No packet.
pub(crate) const NIL: u32 = u32::MAX;
/// Queue of packets that no message stops.
pub(crate) const UNSTAGED: u8 = 0xFF;
/// First pseudo queue of multicast sets; below are staging queues.
pub(crate) const MULTICAST_QUEUES: u8 = 192;

/// The packet waits, and [`Packet::since`] is valid.
pub(crate) const WAITING: u8 = 1;
/// The packet waits before the buffers of its output (in an input queue).
pub(crate) const AT_INPUT: u8 = 2;
/// [`Packet::stopped`] is valid, too; else it stands for zeros.
pub(crate) const WAS_STOPPED: u8 = 4;

/// One packet. The first line is touched when it arrives somewhere, and the second when it leaves; the third
/// where it begins and ends, and where its queue was ever stopped.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Packet {
    pub next: u32,
    /// Id; for type 8 with [`MAINTENANCE`].
    pub destination: u32,
    pub source: u32,
    /// Group of multicast copies that share one input buffer, or [`NIL`].
    pub share: u32,
    pub sequence: u32,
    /// Order of arrival at this device, wraps.
    pub stamp: u32,
    pub wire: u16,
    pub flow: u16,
    /// Source within the endpoint.
    pub origin: u16,
    pub priority: u8,
    pub queue: u8,
    pub next_hop: u8,
    pub input: u8,
    pub flags: u8,
    /// Index of the port whose transmitter the packet is for.
    pub port: PortId,
    pub since: Since,
    pub times: Times,
    pub created: u64,
    /// First character on the injection link, of the first transmission; 0 before it.
    pub left: u64,
    pub stopped: StoppedBefore,
    /// Time on the injection link with the delimiter.
    pub link_ps: u32,
    pub payload: u16,
}

const _: () = assert!(size_of::<Packet>() == 192);

/// Where the time of a packet went so far: what its record has of it. The time at the source comes last: only
/// endpoints add to it, so it may lie beyond what every hop touches.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Times([u64; 9]);

impl Times {
    #[inline(always)]
    const fn place(cause: Cause) -> usize {
        (cause as usize + 8) % 9
    }

    /// The whole.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl std::ops::Index<Cause> for Times {
    type Output = u64;
    #[inline(always)]
    fn index(&self, cause: Cause) -> &u64 {
        &self.0[Times::place(cause)]
    }
}

impl std::ops::IndexMut<Cause> for Times {
    #[inline(always)]
    fn index_mut(&mut self, cause: Cause) -> &mut u64 {
        &mut self.0[Times::place(cause)]
    }
}

impl Packet {
    pub fn id(&self) -> PacketId {
        PacketId { source: self.source, origin: self.origin, sequence: self.sequence }
    }

    /// What fingerprints know it by: its sequence and its source.
    #[inline(always)]
    pub fn word(&self) -> u64 {
        u64::from(self.sequence) << 32 | u64::from(self.source)
    }

    /// The id that it goes to.
    #[inline(always)]
    pub fn destination_id(&self) -> u32 {
        self.destination & !MAINTENANCE
    }

    /// It is of type 8: a request to a register, or its answer.
    #[inline(always)]
    pub fn is_maintenance(&self) -> bool {
        self.destination & MAINTENANCE != 0
    }

    /// An agent or a register file made it, so it carries something.
    #[inline(always)]
    pub fn is_of_agent(&self) -> bool {
        self.origin >= origin::FRAME
    }

    /// It is in a virtual channel, VC1 to VC8: its VCID stands above the four priorities.
    #[inline(always)]
    pub fn is_in_channel(&self) -> bool {
        usize::from(self.priority) >= PRIORITIES
    }

    /// When it began to leave its source, if it is known to.
    pub fn begun(&self) -> Option<u64> {
        (self.times[Cause::Serialization] > 0).then_some(self.left)
    }

    /// Where its time went so far; `delay`: what lies beside the record.
    pub fn parts(&self, delay: Delay) -> Parts {
        let mut parts = Parts::default();
        Cause::ALL[..9].iter().for_each(|&cause| parts[cause] = self.times[cause]);
        parts[Cause::Recovery] = delay.recovery;
        parts[Cause::NoAckId] = delay.no_ack_id;
        parts.source = self.left.saturating_sub(self.created);
        parts
    }
}

/// The neighbour's egress port that a copy uses, if it stands for one alone.
pub(crate) fn sole_port(set: PortSet) -> u8 {
    set.sole().unwrap_or(NO_PORT)
}

/// FIFO of packets: empty when it has no head, whatever its tail says.
#[derive(Copy, Clone, Debug)]
pub(crate) struct List {
    pub head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        List { head: NIL, tail: NIL }
    }
}

/// Packets that share one input buffer.
#[derive(Copy, Clone, Debug)]
struct Share {
    left: u32,
}

/// All packets, and what some of them have besides.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    records: Vec<Packet>,
    free: Vec<u32>,
    shares: Vec<Share>,
    free_shares: Vec<u32>,
    /// Bodies of packets that agents made.
    pub cargoes: Carried<Cargo>,
    /// Frames under way on other media than RapidIO.
    pub frames: Carried<Frame>,
    /// Time for which packets waited while links recovered, or for ackIDs.
    pub late: Late,
}

impl Packets {
    /// A group of so many multicast copies that share one input buffer.
    pub fn share(&mut self, copies: u32) -> u32 {
        let group = Share { left: copies };
        match self.free_shares.pop() {
            Some(free) => {
                self.shares[free as usize] = group;
                free
            }
            None => {
                self.shares.push(group);
                (self.shares.len() - 1) as u32
            }
        }
    }

    /// One copy of a group no longer needs their common buffer; whether it was the last.
    pub fn last_of_group(&mut self, share: u32) -> bool {
        let group = &mut self.shares[share as usize];
        group.left -= 1;
        let last = group.left == 0;
        if last {
            self.free_shares.push(share);
        }
        last
    }

    /// What a packet carries is lost.
    pub fn unload(&mut self, packet: u32) {
        match self[packet].origin {
            origin::FRAME => drop(self.frames.take(packet)),
            origin::REGISTERS.. => drop(self.cargoes.take(packet)),
            _ => {}
        }
    }

    pub fn insert(&mut self, packet: Packet) -> u32 {
        match self.free.pop() {
            Some(id) => {
                self.records[id as usize] = packet;
                id
            }
            None => {
                if self.records.len() == self.records.capacity() {
                    self.make_room();
                }
                self.records.push(packet);
                (self.records.len() - 1) as u32
            }
        }
    }

    /// Room for twice as many.
    #[cold]
    fn make_room(&mut self) {
        let mut room = large_pages((2 * self.records.len()).max(64));
        room.append(&mut self.records);
        self.records = room;
    }

    pub fn remove(&mut self, id: u32) {
        debug_assert!(self.records[id as usize].wire != 0, "packet removed twice");
        self.records[id as usize].wire = 0;
        self.free.push(id);
    }

    /// A packet goes to another part of the fabric, with nothing beside its record.
    pub fn give_away(&mut self, id: u32) -> Packet {
        let record = Packet { share: NIL, ..self[id].clone() };
        self.remove(id);
        record
    }

    pub fn len(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// Every living packet.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Packet)> {
        self.records.iter().enumerate().filter(|(_, p)| p.wire != 0).map(|(id, p)| (id as u32, p))
    }

    /// Asks for the lines of a packet that every hop touches.
    #[inline(always)]
    pub fn prefetch(&self, id: u32) {
        if let Some(record) = self.records.get(id as usize) {
            prefetch(&record.next);
            prefetch(&record.times);
        }
    }

    /// Asks for all lines of a packet, which whoever delivers it reads.
    #[inline(always)]
    pub fn prefetch_all(&self, id: u32) {
        self.prefetch(id);
        if let Some(record) = self.records.get(id as usize) {
            prefetch(&record.left);
        }
    }

    /// Asks for the last packet of a list, which whoever comes next is threaded to.
    #[inline(always)]
    pub fn prefetch_tail(&self, list: &List) {
        if list.head != NIL
            && let Some(record) = self.records.get(list.tail as usize)
        {
            prefetch(&record.next);
        }
    }

    /// The packets of a list, first to last.
    pub fn iter_list(&self, list: List) -> impl Iterator<Item = u32> {
        let known = |id: u32| (id != NIL).then_some(id);
        std::iter::successors(known(list.head), move |&id| known(self[id].next))
    }

    #[inline]
    pub fn push_back(&mut self, list: &mut List, id: u32) {
        self[id].next = NIL;
        if list.head == NIL {
            list.head = id;
        } else {
            self[list.tail].next = id;
        }
        list.tail = id;
    }

    #[inline]
    pub fn pop_front(&mut self, list: &mut List) -> u32 {
        let id = list.head;
        debug_assert_ne!(id, NIL);
        list.head = self[id].next;
        id
    }
}

impl std::ops::Index<u32> for Packets {
    type Output = Packet;
    #[inline]
    fn index(&self, id: u32) -> &Packet {
        &self.records[id as usize]
    }
}

impl std::ops::IndexMut<u32> for Packets {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Packet {
        &mut self.records[id as usize]
    }
}
