//! The upstream side, one per egress link: what the neighbour said, and which staging queues it stops.
//!
//! The status is kept per *port* of the neighbour (and per virtual channel), never only per queue: a queue
//! that stands for several ports stops with the first congested one and goes on when the last one is clear.
//!
//! # Calling contract
//!
//! * Inputs: [`apply`](Receiver::apply) (a field, the hot path), [`receive`](Receiver::receive) (a symbol),
//!   [`receive_delimited`](Receiver::receive_delimited) (characters), [`link_init`](Receiver::link_init),
//!   [`set_linked`](Receiver::set_linked), [`remap`](Receiver::remap).
//! * Each hands every [`Edge`], a queue that stopped or went on, to the caller's closure, before it returns.
//! * [`eligible`](Receiver::eligible) and its kin are to be asked at the moment a packet is committed to the
//!   link; a packet that is already committed is not held back.
//!
//! Recovery of the link from an error, without initialisation, is no input: what the neighbour said stays
//! true.

use crate::codec::{Message, PORTS_PER_GROUP, Stype2};
use crate::counters::ReceiverCounters;
use crate::ports::Ports;
use crate::staging::QueueMap;
use crate::symbol::{ActiveVcs, Carrier, NoScope, Scope, Vc};
use alloc::vec;
use alloc::vec::Vec;
use lp_serial::control_symbol::{Delimited, Error};
use lp_serial::{ControlSymbol, Form};

const WORD_BITS: u16 = 64;

/// Whether the port honours messages (RX_SUP; there is no enable).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Reception {
    /// It does.
    Honoured,
    /// It ignores and counts them.
    Ignored,
}

/// A staging queue that stopped or went on.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Edge {
    /// The virtual channel that the queue belongs to.
    pub vc: Vc,
    /// The queue, of the link's [`QueueMap`].
    pub queue: u16,
    /// Whether it stopped. If not, it went on.
    pub stopped: bool,
}

/// Receiver of one egress link. Memory: per active virtual channel a bit per port of the neighbour and a byte
/// per queue.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Receiver {
    map: QueueMap,
    vcs: ActiveVcs,
    reception: Reception,
    linked: bool,
    /// Bits of congested ports, `words` words per active channel.
    congested: Vec<u64>,
    words: usize,
    /// Congested ports per queue, `map.queues()` per active channel.
    stops: Vec<u8>,
    counters: ReceiverCounters,
}

impl Receiver {
    /// The receiver of a link after initialisation: all clear, linking off. `vcs` are the channels inside
    /// which this device stages; with [`ActiveVcs::None`] it stages once, before packets are sorted into
    /// channels.
    #[must_use]
    pub fn new(map: QueueMap, vcs: ActiveVcs, reception: Reception) -> Self {
        let words = usize::from(map.ports().div_ceil(WORD_BITS));
        Self {
            congested: vec![0; words * vcs.count()],
            words,
            stops: vec![0; usize::from(map.queues()) * vcs.count()],
            map,
            vcs,
            reception,
            linked: false,
            counters: ReceiverCounters::default(),
        }
    }

    // Inputs.

    /// A control symbol with good CRC arrived on the reverse direction of the link, carrying this stype2
    /// field.
    pub fn apply(&mut self, carrier: Carrier, field: u16, emit: impl FnMut(Edge)) {
        let message = match Stype2::parse(field) {
            Ok(Stype2::Nop) => return,
            Ok(Stype2::Backpressure(message)) => message,
            Err(_) => {
                self.counters.rx_reserved += 1;
                return;
            }
        };
        if self.reception == Reception::Ignored {
            self.counters.rx_unsupported += 1;
            return;
        }
        match carrier.scope(self.linked, self.vcs) {
            Ok(scope) => self.apply_message(scope, message, emit),
            Err(NoScope::NotAStatus) => self.counters.rx_link_violation += 1,
            Err(NoScope::InactiveVc) => self.counters.rx_inactive_vc += 1,
        }
    }

    /// Applies a whole symbol. A short symbol says nothing.
    pub fn receive(&mut self, symbol: &ControlSymbol, emit: impl FnMut(Edge)) {
        if symbol.form() == Form::Long {
            self.apply(Carrier::of(symbol), symbol.stype2(), emit);
        }
    }

    /// Applies the six octets of a symbol without delimiters. Returns the symbol, for the link layer to
    /// carry out its other two functions.
    ///
    /// # Errors
    /// Why there is no symbol. Nothing was applied; the link layer reports it to the neighbour.
    pub fn receive_octets(&mut self, octets: &[u8], emit: impl FnMut(Edge)) -> Result<ControlSymbol, Error> {
        let symbol =
            ControlSymbol::parse(Form::Long, octets).inspect_err(|error| self.count_error(*error))?;
        self.receive(&symbol, emit);
        Ok(symbol)
    }

    /// Applies the eight characters of a delimited symbol. `packet_in_progress`: whether a packet has
    /// begun on the reverse direction and not ended; a delimiter that does not suit is counted, and the
    /// symbol carried out.
    ///
    /// # Errors
    /// As [`receive_octets`](Self::receive_octets).
    pub fn receive_delimited(
        &mut self,
        wire: &[u8],
        packet_in_progress: bool,
        emit: impl FnMut(Edge),
    ) -> Result<ControlSymbol, Error> {
        let delimited = Delimited::parse(Form::Long, wire).inspect_err(|error| self.count_error(*error))?;
        if !delimited.delimiter_agrees(packet_in_progress) {
            self.counters.delimiter_warnings += 1;
        }
        self.receive(&delimited.symbol, emit);
        Ok(delimited.symbol)
    }

    /// The link was initialised, or the port was reset: all clear.
    pub fn link_init(&mut self, mut emit: impl FnMut(Edge)) {
        self.congested.fill(0);
        for slot in 0..self.vcs.count() {
            for queue in 0..self.map.queues() {
                let stops = &mut self.stops[slot * usize::from(self.map.queues()) + usize::from(queue)];
                if core::mem::take(stops) > 0 {
                    self.counters.xon_edges += 1;
                    emit(Edge { vc: self.vcs.at(slot), queue, stopped: false });
                }
            }
        }
    }

    /// LINK_EN of this port was written. Statuses stay as they are.
    pub const fn set_linked(&mut self, linked: bool) {
        self.linked = linked;
    }

    /// Routes changed, and with them the way ports share queues: statuses stay, stops are counted anew by
    /// `map`, and edges are told by queue number. Packets that are staged already should keep their queue
    /// until it has drained.
    ///
    /// # Panics
    /// If `map` is for another number of ports: that is another neighbour, and needs another receiver.
    pub fn remap(&mut self, map: QueueMap, mut emit: impl FnMut(Edge)) {
        assert_eq!(map.ports(), self.map.ports(), "a map for the same neighbour");
        let old_queues = usize::from(self.map.queues());
        let queues = usize::from(map.queues());
        let old_stops = core::mem::replace(&mut self.stops, vec![0; queues * self.vcs.count()]);
        self.map = map;
        for slot in 0..self.vcs.count() {
            for port in 0..self.map.ports() {
                if let (true, Some(queue)) = (self.bit(slot, port), self.map.queue(port)) {
                    self.stops[slot * queues + usize::from(queue)] += 1;
                }
            }
            for queue in 0..queues.max(old_queues) {
                let before = queue < old_queues && old_stops[slot * old_queues + queue] > 0;
                let after = queue < queues && self.stops[slot * queues + queue] > 0;
                if before != after {
                    let edge = Edge { vc: self.vcs.at(slot), queue: queue as u16, stopped: after };
                    count_edge(&mut self.counters, edge);
                    emit(edge);
                }
            }
        }
    }

    // Questions, to be asked at the moment of commitment.

    /// Whether a packet of a staging queue may be committed: no port that the queue stands for is congested.
    /// For links that stage before virtual channels; else for VC0.
    ///
    /// # Panics
    /// If the link has no such queue.
    #[must_use]
    pub fn eligible(&self, queue: u16) -> bool {
        self.eligible_in(Vc::VC0, queue)
    }

    /// Whether packets may start on a staging queue inside a virtual channel.
    ///
    /// # Panics
    /// If the link has no such queue, or the channel is not active.
    #[must_use]
    pub fn eligible_in(&self, vc: Vc, queue: u16) -> bool {
        assert!(queue < self.map.queues(), "the link has no staging queue {queue}");
        self.stops[self.slot(vc) * usize::from(self.map.queues()) + usize::from(queue)] == 0
    }

    /// Whether packets may start on the queue of a forward map's [`Hop`](crate::staging::Hop): the unstaged
    /// queue is never stopped.
    ///
    /// # Panics
    /// If the link has no such queue.
    #[must_use]
    pub fn eligible_hop(&self, queue: Option<u16>) -> bool {
        queue.is_none_or(|queue| self.eligible(queue))
    }

    /// Whether a packet that the neighbour copies to all of these ports may be committed: none of them is
    /// congested. Ports that the neighbour does not have count as clear.
    #[must_use]
    pub fn eligible_ports(&self, ports: &Ports) -> bool {
        self.eligible_ports_in(Vc::VC0, ports)
    }

    /// Whether packets for all of these ports may start inside a virtual channel.
    ///
    /// # Panics
    /// If the channel is not active.
    #[must_use]
    pub fn eligible_ports_in(&self, vc: Vc, ports: &Ports) -> bool {
        let first = self.slot(vc) * self.words;
        (0..self.words).all(|word| self.congested[first + word] & ports.word(word) == 0)
    }

    /// The last status of one port of the neighbour.
    ///
    /// # Panics
    /// If the channel is not active.
    #[must_use]
    pub fn is_congested(&self, vc: Vc, port: u16) -> bool {
        port < self.map.ports() && self.bit(self.slot(vc), port)
    }

    /// The map of the link.
    #[must_use]
    pub const fn map(&self) -> &QueueMap {
        &self.map
    }

    /// What was counted so far.
    #[must_use]
    pub const fn counters(&self) -> ReceiverCounters {
        self.counters
    }

    /// What was counted since the last call; counting begins anew. A state explorer calls it so that states
    /// which differ only in their history are equal.
    pub fn take_counters(&mut self) -> ReceiverCounters {
        core::mem::take(&mut self.counters)
    }

    // Inner parts.

    fn slot(&self, vc: Vc) -> usize {
        self.vcs.slot(vc).expect("the virtual channel is active on this link")
    }

    fn bit(&self, slot: usize, port: u16) -> bool {
        self.congested[slot * self.words + usize::from(port / WORD_BITS)] >> (port % WORD_BITS) & 1 == 1
    }

    fn apply_message(&mut self, scope: Scope, message: Message, mut emit: impl FnMut(Edge)) {
        self.counters.rx_applied += 1;
        let existing = self.map.ports().saturating_sub(message.base()).min(PORTS_PER_GROUP);
        let absent = message.status() >> existing;
        self.counters.rx_unmapped_port += u64::from(absent.count_ones());
        if existing == 0 {
            return;
        }
        match scope {
            Scope::AllVcs => (0..self.vcs.count()).for_each(|slot| self.apply_in(slot, message, &mut emit)),
            Scope::One(vc) => self.apply_in(self.slot(vc), message, &mut emit),
        }
    }

    fn apply_in(&mut self, slot: usize, message: Message, emit: &mut impl FnMut(Edge)) {
        // Stops before releases: congestion that moves from one port of a queue to another of the same queue
        // is no edge.
        for congested in [true, false] {
            for offset in 0..PORTS_PER_GROUP {
                let says_congested = message.status() >> offset & 1 == 1;
                let port = message.base() + offset;
                if says_congested == congested && port < self.map.ports() && self.bit(slot, port) != congested
                {
                    self.flip(slot, port, congested, emit);
                }
            }
        }
    }

    fn flip(&mut self, slot: usize, port: u16, congested: bool, emit: &mut impl FnMut(Edge)) {
        self.congested[slot * self.words + usize::from(port / WORD_BITS)] ^= 1 << (port % WORD_BITS);
        let Some(queue) = self.map.queue(port) else { return };
        let stops = &mut self.stops[slot * usize::from(self.map.queues()) + usize::from(queue)];
        let was_stopped = *stops > 0;
        if congested {
            *stops += 1;
        } else {
            *stops -= 1;
        }
        if was_stopped != (*stops > 0) {
            let edge = Edge { vc: self.vcs.at(slot), queue, stopped: congested };
            count_edge(&mut self.counters, edge);
            emit(edge);
        }
    }

    fn count_error(&mut self, error: Error) {
        if let Error::Crc { .. } = error {
            self.counters.crc_errors += 1;
        } else {
            self.counters.framing_errors += 1;
        }
    }
}

fn count_edge(counters: &mut ReceiverCounters, edge: Edge) {
    if edge.stopped {
        counters.xoff_edges += 1;
    } else {
        counters.xon_edges += 1;
    }
}
