//! A port: its transmitter, this end of its link, and its receiver, laid out by the cache lines that a hop
//! touches.

use crate::config::{Framing, PRIORITIES};
use crate::ids::PortId;
use crate::link::mail::Peer;
use crate::link::medium::Channels;
use crate::link::wire::{Wire, WireTiming};
use crate::observe::clock::{NO_ACK_ID, TransmitClock};
use crate::observe::stats::PortStats;
use crate::packet::{List, UNSTAGED};
use crate::ports::{PortSet, Ports};
use sim_core::{EventKey, prefetch};
use std::collections::VecDeque;
use voq_backpressure::{ActiveVcs, Receiver};

/// No input is being read.
pub(crate) const NO_INPUT: u8 = u8::MAX;
/// Pointer of who has not served anybody: the first goes first.
pub(crate) const UNSERVED: u8 = u8::MAX;

/// What a control symbol will tell the transmitter about its neighbour's buffers, from `key` on.
#[derive(Copy, Clone, Debug)]
pub(crate) struct CreditRecord {
    pub key: EventKey,
    /// buf_status.
    pub buffers: u8,
    /// Packets that the symbol acknowledges (0 or 1).
    pub acknowledged: u8,
}

impl CreditRecord {
    /// Free buffers and packets on their way, where so many were on their way before.
    #[inline(always)]
    pub fn credit(&self, outstanding: u16) -> (i16, u16) {
        let outstanding = outstanding - u16::from(self.acknowledged);
        (i16::from(self.buffers) - outstanding as i16, outstanding)
    }
}

/// Constants of a link direction. Most links of a fabric are alike, so ports share these by number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkTiming {
    /// Picoseconds for a character, as a fraction.
    pub char_num: u64,
    pub char_den: u64,
    /// Characters of a delimiter.
    pub symbol_chars: u64,
    pub framing: Framing,
    pub wire: WireTiming,
    /// One-way propagation.
    pub propagation: u64,
    /// Pipeline of the receiving device (0 for an endpoint).
    pub pipeline: u64,
    /// Octets after which a cut-through neighbour decides, 0 = store and forward.
    pub header: u64,
    /// Time of these with their delimiter, which each hop asks for; 0 as well.
    pub head_ps: u64,
    /// Watermarks that apply to the neighbour's buffers.
    pub watermarks: [u8; 3],
    /// The neighbour is a sink: deliveries wait there until somebody needs them.
    pub to_sink: bool,
    /// The neighbour runs protocols: deliveries are events.
    pub to_agent: bool,
    /// Most unacknowledged packets.
    pub ack_window: u16,
}

impl LinkTiming {
    /// A character takes another time.
    pub fn paced(self, (char_num, char_den): (u64, u64)) -> Self {
        let head_ps = match self.header {
            0 => 0,
            octets => (octets + self.symbol_chars) * char_num / char_den,
        };
        Self { char_num, char_den, head_ps, ..self }
    }

    /// Characters of a packet with its delimiter; `wire` is without what the link adds.
    #[inline(always)]
    pub fn packet_chars(&self, wire: u16) -> u64 {
        u64::from(self.framing.octets(wire.into())) + self.symbol_chars
    }

    /// Time of a packet with its delimiter; `carry` keeps the remainder of inexact rates.
    #[inline]
    pub fn packet_ps(&self, wire: u16, carry: &mut u64) -> u64 {
        let chars = self.packet_chars(wire);
        if self.char_den == 1 {
            return chars * self.char_num;
        }
        let total = chars * self.char_num + *carry;
        *carry = total % self.char_den;
        total / self.char_den
    }

    /// Priorities that may not be sent with `free` known buffers (Part 6 §5.9: watermarks), one bit each; all
    /// of them and [`NO_ACK_ID`] while all ackIDs are in use.
    #[inline]
    pub fn blocked(&self, free: i16, outstanding: u16) -> u16 {
        if outstanding >= self.ack_window {
            return 0b1111 | NO_ACK_ID;
        }
        // Watermarks fall with priority: enough for the lowest is enough for all.
        if free >= i16::from(self.watermarks[0]) {
            return 0;
        }
        let below = |limit: u8, bit: u16| if free < i16::from(limit) { bit } else { 0 };
        below(self.watermarks[0], 1)
            | below(self.watermarks[1], 2)
            | below(self.watermarks[2], 4)
            | below(1, 8)
    }

    /// Whether a transmitter that knows of `free` buffers can start one more packet whatever it has not heard
    /// yet: what it does not know can only be more credit.
    #[inline(always)]
    pub fn at_ease(&self, free: i16, outstanding: u16) -> bool {
        free > i16::from(self.watermarks[0]) && outstanding + 1 < self.ack_window
    }
}

/// Packets of one stopped (or just released) staging queue that were taken out of the main lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parked<S> {
    pub queue: u8,
    pub stopped: bool,
    pub count: u32,
    /// Lanes with packets, by priority.
    pub mask: [S; 4],
    /// `lists[priority * lanes + lane]`.
    pub lists: Vec<List>,
}

/// Staging of one egress link.
#[derive(Clone, Debug)]
pub(crate) struct Staging {
    pub receiver: Receiver,
    /// Channels inside which it stages.
    pub vcs: ActiveVcs,
    /// Messages are about one of them.
    pub linked: bool,
    /// Staging queue of each next-hop port, [`UNSTAGED`] for ports that the neighbour does not have.
    pub queue_of_port: Vec<u8>,
    /// Sets of next-hop ports that multicast packets stand for; set n uses pseudo queue 192 + n.
    pub multicast: Vec<PortSet>,
    /// Pseudo queues that are stopped.
    pub multicast_stopped: u64,
}

/// Transmit half of a port. First line: credit; second: the transmission; third: what waits.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Tx<S> {
    /// Records that are not visible yet, oldest first: `pending` of them, the third and later in
    /// `Cold::credits`.
    keys: [EventKey; 2],
    buffers: [u8; 2],
    acknowledged: [u8; 2],
    /// Known free buffers of the neighbour.
    pub free: i16,
    pub outstanding: u16,
    pub pending: u8,
    /// Blocked on credit: the next record wakes.
    pub credit_waiting: bool,
    /// A wake for a credit record is posted.
    pub wake_posted: bool,
    /// Input that is being read, by its port number ([`NO_INPUT`] if nothing needs settling).
    pub reading: u8,
    /// Endpoints: lanes 0.. up to this number are staging queues, served round robin; the lane after them
    /// holds everything else. 0 for switches, whose lanes are inputs.
    pub queue_lanes: u8,
    /// `Cold::parked` is not empty.
    pub parked_any: bool,
    /// A stype2 symbol waits for its place on the wire.
    pub voq_pending: bool,
    pub peer: Peer,
    /// Index of the [`LinkTiming`].
    pub timing: u16,
    /// What is being read: see [`reading`].
    pub reading_kind: u8,
    /// Across the border of two lines: who is without credit belongs to the first.
    pub clock: TransmitClock,

    /// End of the current transmission: the transmitter is busy while this key is not reached.
    pub done: EventKey,
    /// Packets that wait for this transmitter, in all queues of the device.
    pub waiting: u32,
    /// Of these, packets in the lists of the output itself.
    pub stored: u32,

    /// Lanes with packets in the main lists, by priority.
    pub mask: [S; 4],
    /// First lane of this output.
    pub lanes: u32,
    /// Lane served last, by priority: the one after it is next (round robin, grants of iSLIP). With output
    /// buffers the input that a packet was admitted from last.
    pub pointers: [u8; 4],
    pub packet_ps: u64,
    /// Next refresh of this direction, `u64::MAX` = off.
    pub refresh_at: u64,
    pub packets_sent: u32,
    pub high_water: u32,
}

const _: () =
    assert!(size_of::<Tx<u64>>() == 192 && size_of::<LinkEnd>() == 64 && size_of::<Rx<u64>>() == 64);

/// What a hop touches of a port: five lines, side by side, as a page that is not known costs as much as a
/// line. Who sends touches those of the transmitter and of the link; who receives, the last one.
#[derive(Clone, Debug)]
pub(crate) struct Port<S> {
    pub tx: Tx<S>,
    pub link: LinkEnd,
    pub rx: Rx<S>,
}

impl<S: Ports> Port<S> {
    /// A port of `device` with so many receive buffers, of which the highest watermark is `eager_at`, joined
    /// to nobody.
    pub fn new(lanes: u32, device: u32, buffers: u8, eager_at: u8) -> Self {
        Port {
            tx: Tx::new(lanes),
            link: LinkEnd {
                wire: Wire::new(),
                status_standalone: 0,
                peer: Peer::NONE,
                device,
                timing: 0,
                special: 0,
            },
            rx: Rx {
                accepted: EventKey::MAX,
                readers: S::EMPTY,
                wanted: S::EMPTY,
                read_until: 0,
                peer: Peer::NONE,
                device,
                last: [UNSERVED; PRIORITIES + 1],
                occupied: 0,
                unaccepted: 0,
                advertised: buffers,
                buffers,
                eager_at,
                high_water: 0,
                deliver_posted: false,
                accept_told: false,
                accept_posted: false,
                special: 0,
            },
        }
    }

    /// Joins it to the port at the other end of its link.
    pub fn join(&mut self, peer: Peer) {
        (self.tx.peer, self.link.peer, self.rx.peer) = (peer, peer, peer);
    }

    /// What leaves it takes the time of this kind of links: the wire of a port is that of its transmitter.
    pub fn keep_time(&mut self, timing: u16) {
        (self.tx.timing, self.link.timing) = (timing, timing);
    }

    /// From now on bits of [`special`] say of the link what `with` says, and not what `without` says.
    pub fn run_specially(&mut self, with: u8, without: u8) {
        let bits = self.link.special & !without | with;
        (self.link.special, self.rx.special) = (bits, bits);
    }

    /// Notes that the packet that came last is accepted; when it was.
    #[inline(always)]
    pub fn note_accepted(&mut self) -> EventKey {
        self.rx.unaccepted = 0;
        std::mem::replace(&mut self.rx.accepted, EventKey::MAX)
    }
}

/// Receive half of a port: its buffers, and who reads them. One line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Rx<S> {
    /// Cut-through: when the packet that came last is accepted, its last octet being in; [`EventKey::MAX`]
    /// once that is noted.
    pub accepted: EventKey,
    /// Outputs that read from it (may be stale).
    pub readers: S,
    /// Outputs whose lists hold packets of this input (may be stale).
    pub wanted: S,
    /// Before this instant no read that goes on is over; 0 if one may be cut short.
    pub read_until: u64,
    /// Who sends to it; as [`LinkEnd::peer`].
    pub peer: Peer,
    /// As [`LinkEnd::device`].
    pub device: u32,
    /// Output that read it last, by priority, and for virtual channels: the one after it is next when the
    /// input can be read again (accept pointers of iSLIP).
    pub last: [u8; PRIORITIES + 1],
    /// Packets in the receive buffers.
    pub occupied: u8,
    /// Of these (or moved on already), packets whose last octet is not in yet (cut-through), or was not noted
    /// yet: the transmitter still counts them as outstanding. One at most, and `accepted` says when.
    pub unaccepted: u8,
    /// buf_status of the last symbol made.
    pub advertised: u8,
    pub buffers: u8,
    /// At or below this advertised count a release is told at once (see [`crate::link::credit`]).
    pub eager_at: u8,
    pub high_water: u8,
    /// A delivery event for the oldest packet in flight is posted.
    pub deliver_posted: bool,
    /// The neighbour is or may be short of credit: acceptances are told when they happen, as events.
    pub accept_told: bool,
    /// The event for what is not accepted yet is posted.
    pub accept_posted: bool,
    /// As [`LinkEnd::special`].
    special: u8,
}

impl<S: Ports> Rx<S> {
    /// One more output reads it, until `end`.
    #[inline(always)]
    pub fn read_by(&mut self, out: u32, end: u64) {
        self.read_until = if self.readers.is_empty() { end } else { self.read_until.min(end) };
        self.readers |= S::one(out);
    }

    /// Buffers that packets have which the neighbour knows to be there.
    #[inline(always)]
    pub fn in_use(&self) -> u8 {
        self.occupied.saturating_sub(self.unaccepted)
    }

    /// The buffers are so few that every release has to be told at once.
    #[inline(always)]
    pub fn is_low(&self) -> bool {
        self.advertised <= self.eager_at
    }

    /// Whether the neighbour is told of packets that are accepted; on other media only of what becomes free.
    #[inline(always)]
    pub fn acknowledges(&self) -> bool {
        self.special & (special::MEDIUM | special::INTERLEAVED) == 0
    }

    /// Cut-through: whether the acceptance of the packet that has just come is an event. It need not be one
    /// where the neighbour has credit and enough buffers are left: what is free then can only become more.
    #[inline(always)]
    pub fn tells_acceptance(&self) -> bool {
        self.accept_told
            || self.special & !special::CUT != 0
            || self.buffers.saturating_sub(self.occupied) <= self.eager_at
    }

    /// How the link of this port runs now.
    #[inline(always)]
    pub fn mode(&self) -> Mode {
        Mode::of(self.special)
    }

    /// Whether the other end of the link is in another part of the fabric.
    #[inline(always)]
    pub fn is_cut(&self) -> bool {
        self.special & special::CUT != 0
    }
}

/// When an endpoint was due to do something that is made up later; [`EventKey::MAX`]: it is not.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Due(pub EventKey);

impl Default for Due {
    fn default() -> Self {
        Due(EventKey::MAX)
    }
}

/// The rest of a port. First what every packet of an endpoint touches.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Cold<S> {
    /// Packets on their way to this sink that nobody needs to see arrive yet.
    pub in_flight: VecDeque<(EventKey, u32)>,
    /// What the endpoint of this port has to make up. What arrives after that finds the wire as it leaves it,
    /// so it is delivered later still.
    pub due: Due,
    /// Lanes that are stopped (endpoints).
    pub stopped_lanes: S,
    /// Whoever sits behind this sink takes packets itself: deliveries are events.
    pub listens: bool,
    /// Lanes of the output.
    pub lane_count: u32,
    /// Copy group of the packet being read.
    pub reading_share: u32,
    pub carry: u64,
    pub credits: VecDeque<CreditRecord>,
    pub parked: Vec<Parked<S>>,
    /// Emptied [`Parked`] to be used again.
    pub spare: Vec<Parked<S>>,
    pub staging: Option<Box<Staging>>,
    /// Period of refreshes, `u64::MAX` = none: without them in the switch, or on short control symbols.
    pub refresh_every: u64,
    /// Instant of the refresh that is an event because a message was lost, `u64::MAX` = none is.
    pub refresh_event: u64,
    /// What the sender knows of buffers on links of other media than RapidIO.
    pub channels: Option<Box<Channels>>,
    /// VoQ messages sent from this port that have not arrived: in a fabric that is cut, the sum over its
    /// parts, because the one counts what is sent and the other what arrives.
    pub messages_on_wire: i32,
    /// Obey latency of the other end: from the end of a message's symbol to what it does there.
    pub obeyed_after: u64,
    pub stats: PortStats,
}

impl<S: Ports> Tx<S> {
    pub fn new(lanes: u32) -> Self {
        Tx {
            keys: [EventKey::MIN; 2],
            buffers: [0; 2],
            acknowledged: [0; 2],
            free: 0,
            outstanding: 0,
            pending: 0,
            credit_waiting: false,
            wake_posted: false,
            reading: NO_INPUT,
            queue_lanes: 0,
            parked_any: false,
            voq_pending: false,
            peer: Peer::NONE,
            timing: 0,
            reading_kind: reading::ORDINARY,
            clock: TransmitClock::default(),
            done: EventKey::MIN,
            waiting: 0,
            stored: 0,
            mask: [S::EMPTY; 4],
            lanes,
            pointers: [UNSERVED; 4],
            packet_ps: 0,
            refresh_at: u64::MAX,
            packets_sent: 0,
            high_water: 0,
        }
    }

    /// Whether a record is visible at `key`.
    #[inline]
    pub(super) fn has_record(&self, key: EventKey) -> bool {
        self.pending > 0 && self.keys[0] <= key
    }

    /// Priorities without credit once all records that are visible at `key` are applied. Nobody applies them
    /// while nobody asks the output for a packet.
    pub(super) fn blocked_at(&self, timing: &LinkTiming, cold: &Cold<S>, key: EventKey) -> u16 {
        if !self.has_record(key) {
            return self.clock.blocked();
        }
        let (mut free, mut outstanding) = (self.free, self.outstanding);
        for record in self.records(cold).take_while(|record| record.key <= key) {
            (free, outstanding) = record.credit(outstanding);
        }
        timing.blocked(free, outstanding)
    }

    /// All records that have not been consumed, oldest first.
    pub(super) fn records<'a>(
        &self,
        cold: &'a Cold<S>,
    ) -> impl Iterator<Item = CreditRecord> + use<'_, 'a, S> {
        let near = 0..usize::from(self.pending.min(2));
        near.map(|n| self.record(n)).chain(cold.credits.iter().copied())
    }

    #[inline]
    fn record(&self, n: usize) -> CreditRecord {
        CreditRecord { key: self.keys[n], buffers: self.buffers[n], acknowledged: self.acknowledged[n] }
    }

    /// The oldest record that has not been consumed.
    #[inline]
    pub(super) fn first_record(&self) -> Option<CreditRecord> {
        (self.pending > 0).then(|| self.record(0))
    }

    /// The youngest record; there is one.
    pub(super) fn last_record(&self, cold: &Cold<S>) -> CreditRecord {
        match cold.credits.back() {
            Some(record) => *record,
            None => self.record(usize::from(self.pending) - 1),
        }
    }

    #[inline]
    pub(super) fn push_record(&mut self, cold: &mut [Cold<S>], port: PortId, record: CreditRecord) {
        let n = self.pending as usize;
        if n < 2 {
            self.keys[n] = record.key;
            self.buffers[n] = record.buffers;
            self.acknowledged[n] = record.acknowledged;
        } else {
            cold[port.index()].credits.push_back(record);
        }
        self.pending += 1;
    }

    /// Takes the oldest record; there is one.
    #[inline]
    pub(super) fn pop_record(&mut self, cold: &mut [Cold<S>], port: PortId) -> CreditRecord {
        let first = self.record(0);
        self.pending -= 1;
        // Also if there is no second: nobody looks at what is copied then, and no branch is predicted wrong.
        self.keys[0] = self.keys[1];
        self.buffers[0] = self.buffers[1];
        self.acknowledged[0] = self.acknowledged[1];
        if self.pending >= 2 {
            let next = cold[port.index()].credits.pop_front().expect("the third record is kept apart");
            self.keys[1] = next.key;
            self.buffers[1] = next.buffers;
            self.acknowledged[1] = next.acknowledged;
        }
        first
    }

    /// Priorities with packets in the main lists, one bit each.
    #[inline]
    pub fn priorities(&self) -> u32 {
        let bit = |p: usize| u32::from(!self.mask[p].is_empty()) << p;
        bit(0) | bit(1) | bit(2) | bit(3)
    }

    /// Corrects the buffers told by the youngest record.
    pub(super) fn amend_last(&mut self, cold: &mut Cold<S>, buffers: u8) {
        match self.pending {
            0 => unreachable!("an unsent symbol has a record"),
            1 => self.buffers[0] = buffers,
            2 => self.buffers[1] = buffers,
            _ => cold.credits.back_mut().expect("the third record is kept apart").buffers = buffers,
        }
    }
}

impl<S: Ports> Tx<S> {
    /// Asks for the lines of credit, transmission and waiting.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.keys);
        prefetch(&self.done);
        prefetch(&self.mask);
    }

    /// Asks for the lines of transmission and waiting.
    #[inline(always)]
    pub fn prefetch_waiting(&self) {
        prefetch(&self.done);
        prefetch(&self.mask);
    }
}

impl<S> Cold<S> {
    /// Staging queue of a unicast packet for the neighbour's port `next_hop`, by the map.
    pub fn queue_of(&self, next_hop: u8) -> u8 {
        match &self.staging {
            None => UNSTAGED,
            Some(staging) => staging.queue_of_port.get(next_hop as usize).copied().unwrap_or(UNSTAGED),
        }
    }

    /// The parked packets of `queue`, if there are any or the queue is stopped.
    #[inline]
    pub fn parked_of(&self, queue: u8) -> Option<usize> {
        self.parked.iter().position(|p| p.queue == queue)
    }
}

/// This end of a link: the wire on which the port sends packets and answers, and who is at the other end. One
/// line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct LinkEnd {
    /// The port's own outgoing direction.
    pub wire: Wire,
    pub status_standalone: u32,
    pub peer: Peer,
    pub device: u32,
    /// Index of the [`LinkTiming`] of the outgoing direction.
    pub timing: u16,
    /// How the link runs: see [`special`].
    special: u8,
}

/// How a link runs. Each verb asks once.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everything is known when a packet starts.
    Closed,
    /// In symbol granularity.
    Symbols,
    /// Of another medium than RapidIO.
    Medium,
    /// Of a medium whose virtual channels share it by micropackets.
    Interleaved,
}

impl Mode {
    /// By bits of [`special`].
    #[inline(always)]
    fn of(special: u8) -> Self {
        match special & special::MODE {
            0 => Mode::Closed,
            bits if bits & special::SYMBOLS != 0 => Mode::Symbols,
            bits if bits & special::INTERLEAVED != 0 => Mode::Interleaved,
            _ => Mode::Medium,
        }
    }
}

impl LinkEnd {
    /// Bits of [`special`]; 0: the closed form is all there is.
    #[inline(always)]
    pub fn special(&self) -> u8 {
        self.special
    }

    /// How the link of this port runs now.
    #[inline(always)]
    pub fn mode(&self) -> Mode {
        Mode::of(self.special)
    }
}

/// Values of [`Tx::reading_kind`].
pub(crate) mod reading {
    /// A packet of VC0.
    pub const ORDINARY: u8 = 0;
    /// One of several copies: `Cold::reading_share` says of which group.
    pub const COPY: u8 = 0xFF;
    /// A packet in a buffer of this channel, 1 to 8.
    pub const fn channel(channel: u8) -> u8 {
        channel
    }
}

/// Bits of [`LinkEnd::special`].
pub(crate) mod special {
    /// Both directions run in symbol granularity.
    pub const SYMBOLS: u8 = 1;
    /// What crosses the link is written as bytes and read back.
    pub const CHECK: u8 = 2;
    /// The link runs in packet granularity for now, and will have to change.
    pub const WATCHED: u8 = 4;
    /// The link is of another medium than RapidIO.
    pub const MEDIUM: u8 = 8;
    /// Messages of several virtual channels share the link by micropackets.
    pub const INTERLEAVED: u8 = 16;
    /// The other end of the link is in another part of the fabric.
    pub const CUT: u8 = 32;
    /// Events of the link, or the mail between parts, take packets to its other end.
    pub const CARRIED: u8 = SYMBOLS | INTERLEAVED | CUT;
    /// What makes a [`Mode`](super::Mode).
    pub const MODE: u8 = SYMBOLS | MEDIUM | INTERLEAVED;
}
