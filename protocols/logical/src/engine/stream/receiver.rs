//! The receiving side of a device: reassembly (Part 10 §3.2.5).

use super::{Flow, Mtu};
use crate::engine::Divisible;
use crate::engine::deadlines::Deadlines;
use crate::wire::Payload;
use crate::wire::stream::{PDU_MAX_BYTES, Part, Segment};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a receiver can do.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// The system's MTU.
    pub mtu: Mtu,
    /// Longest PDU it takes, 1..=65 536 bytes (MaxPDU of the Data Streaming Information CAR).
    pub max_pdu: u32,
    /// Most PDUs open at a time (SegSupport of the same register, at most 65 536).
    pub contexts: u32,
    /// An open PDU of which nothing came for so long is discarded; `None` for never. Picoseconds.
    pub timeout: Option<u64>,
}

impl Default for Options {
    /// 256 bytes, 64 KiB, 65 536 PDUs, 1 ms.
    fn default() -> Self {
        Self { mtu: Mtu::MAX, max_pdu: PDU_MAX_BYTES, contexts: 1 << 16, timeout: Some(1_000_000_000) }
    }
}

/// Why a PDU was discarded.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Defect {
    /// A continuation or end segment came and no PDU was open: the start was lost.
    MissingStart,
    /// A start or single segment came and the PDU was still open: its end was lost.
    MissingEnd,
    /// A segment is longer than the MTU.
    Long,
    /// A start or continuation segment is shorter than the MTU.
    Short,
    /// An end segment has no data, but a length.
    Empty,
    /// A segment has another class of service than the one before: an end and a start were lost.
    Class,
    /// The PDU is longer than this receiver takes.
    MaxPdu,
    /// The length in the end segment is not that of the data: a continuation was lost.
    Length,
    /// The sender ended the PDU by a segment of length 0 without data.
    Aborted,
    /// Nothing came for too long.
    Timeout,
    /// All segmentation contexts were in use.
    NoContext,
    /// The owner had no room.
    NoRoom,
}

/// What the owner has to know.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Event<P> {
    /// A PDU is complete.
    Delivered {
        /// Device ID of the sender.
        source: u32,
        /// Device ID it was sent to.
        destination: u32,
        /// Virtual channel, priority and CRF.
        flow: Flow,
        /// Class of service.
        cos: u8,
        /// Stream ID.
        stream_id: u16,
        /// The PDU.
        payload: P,
    },
    /// A PDU is discarded, or what is left of one whose start was lost. There is one event to a PDU: whatever
    /// comes of it after that, up to its end, passes unreported.
    Discarded {
        /// Device ID of the sender.
        source: u32,
        /// Device ID it was sent to.
        destination: u32,
        /// Virtual channel, priority and CRF.
        flow: Flow,
        /// Class of service.
        cos: u8,
        /// Stream ID, unless the start was lost.
        stream_id: Option<u16>,
        /// Why.
        defect: Defect,
    },
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counters {
    /// Segments received.
    pub segments: u64,
    /// PDUs delivered.
    pub delivered: u64,
    /// Events of [`Event::Discarded`].
    pub discarded: u64,
}

/// The segmentation context of a packet: source, destination, flow. The destination matters for devices with
/// several IDs and for multicast.
type Key = (u32, u32, Flow);

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Context<P> {
    cos: u8,
    stream_id: u16,
    /// `None` once the PDU is found defective: what is left of it passes unreported.
    payload: Option<P>,
    until: Option<u64>,
}

/// The receiving side of a device, see the [module](super).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Receiver<P> {
    options: Options,
    contexts: BTreeMap<Key, Context<P>>,
    /// Contexts of PDUs that have not been found defective.
    sound: usize,
    /// Where a PDU without context was discarded, and neither its end has come nor the start of another.
    passing: BTreeSet<Key>,
    /// One entry for each context, if there is a timeout.
    deadlines: Deadlines<Key>,
    events: VecDeque<Event<P>>,
    counters: Counters,
}

impl<P: Divisible> Receiver<P> {
    /// A receiver with nothing in reassembly.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            contexts: BTreeMap::new(),
            sound: 0,
            passing: BTreeSet::new(),
            deadlines: Deadlines::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// A type 9 packet from `source` to `destination` (this device, or a multicast group). A packet that is
    /// no [`Segment`] is dropped; what follows it shows what it was part of.
    ///
    /// `room` says whether the owner can take one more PDU, beside those that are in reassembly
    /// ([`reassembling`](Self::reassembling)). It matters for start and single segments only.
    pub fn handle_segment(
        &mut self,
        now: u64,
        source: u32,
        destination: u32,
        flow: Flow,
        segment: Segment<P>,
        room: bool,
    ) {
        self.counters.segments += 1;
        let key = (source, destination, flow);
        match segment.part() {
            Part::Single { stream_id } => {
                self.close_unended(key);
                let defect = self.begin_defect(&segment, true, room);
                self.finish(key, segment.cos(), stream_id, defect.map_or(Ok(segment.into_payload()), Err));
            }
            Part::Start { stream_id } => {
                self.close_unended(key);
                self.open(now, key, stream_id, segment, room);
            }
            Part::Continuation => self.continue_pdu(now, key, segment),
            Part::End { length } => self.end_pdu(key, segment, length),
        }
    }

    /// Discards the PDUs whose time has come.
    pub fn handle_timeout(&mut self, now: u64) {
        while let Some(key) = self.deadlines.pop_due(now) {
            let context = self.contexts.remove(&key).expect("a deadline belongs to a context");
            self.sound -= usize::from(context.payload.is_some());
            self.passing.insert(key);
            if context.payload.is_some() {
                self.discard(key, context.cos, Some(context.stream_id), Defect::Timeout);
            }
        }
    }

    /// What happened, in order.
    pub fn poll_event(&mut self) -> Option<Event<P>> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.deadlines.next()
    }

    /// PDUs open, defective ones included until their end comes.
    #[must_use]
    pub fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// PDUs in reassembly, for which the owner keeps a place each: what is left of a defective one needs
    /// none.
    #[must_use]
    pub const fn reassembling(&self) -> usize {
        self.sound
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// A start or single segment closes what is open.
    fn close_unended(&mut self, key: Key) {
        self.passing.remove(&key);
        if let Some(context) = self.close(key)
            && context.payload.is_some()
        {
            self.discard(key, context.cos, Some(context.stream_id), Defect::MissingEnd);
        }
    }

    /// What is wrong with a start or single segment, or with the circumstances.
    fn begin_defect(&self, segment: &Segment<P>, single: bool, room: bool) -> Option<Defect> {
        self.size_defect(segment, single)
            .or_else(|| self.growth_defect(0, segment))
            .or((!room).then_some(Defect::NoRoom))
    }

    fn size_defect(&self, segment: &Segment<P>, may_be_short: bool) -> Option<Defect> {
        let (found, mtu) = (segment.payload().octets(), self.options.mtu.octets());
        match found {
            0 => Some(Defect::Empty),
            _ if found > mtu => Some(Defect::Long),
            _ if found < mtu && !may_be_short => Some(Defect::Short),
            _ => None,
        }
    }

    fn growth_defect(&self, received: usize, segment: &Segment<P>) -> Option<Defect> {
        let max = self.options.max_pdu.min(PDU_MAX_BYTES) as usize;
        (received + segment.payload().octets() > max).then_some(Defect::MaxPdu)
    }

    fn open(&mut self, now: u64, key: Key, stream_id: u16, segment: Segment<P>, room: bool) {
        if self.contexts.len() >= self.options.contexts as usize {
            self.passing.insert(key);
            return self.discard(key, segment.cos(), Some(stream_id), Defect::NoContext);
        }
        let (cos, defect) = (segment.cos(), self.begin_defect(&segment, false, room));
        if let Some(defect) = defect {
            self.discard(key, cos, Some(stream_id), defect);
        }
        let payload = if defect.is_none() { Some(segment.into_payload()) } else { None };
        self.sound += usize::from(payload.is_some());
        self.contexts.insert(key, Context { cos, stream_id, payload, until: None });
        self.restart_timer(now, key);
    }

    fn continue_pdu(&mut self, now: u64, key: Key, segment: Segment<P>) {
        if !self.contexts.contains_key(&key) {
            if self.passing.insert(key) {
                self.discard(key, segment.cos(), None, Defect::MissingStart);
            }
            return;
        }
        self.restart_timer(now, key);
        let Context { cos, stream_id, ref payload, .. } = self.contexts[&key];
        let Some(received) = payload.as_ref().map(Payload::octets) else { return };
        let class = (cos != segment.cos()).then_some(Defect::Class);
        let defect = class
            .or_else(|| self.size_defect(&segment, false))
            .or_else(|| self.growth_defect(received, &segment));
        let context = self.contexts.get_mut(&key).expect("looked at");
        if let Some(defect) = defect {
            context.payload = None;
            self.sound -= 1;
            self.discard(key, cos, Some(stream_id), defect);
        } else if let Some(payload) = &mut context.payload {
            payload.write(received, segment.payload());
        }
    }

    fn end_pdu(&mut self, key: Key, segment: Segment<P>, length: u16) {
        let Some(Context { cos, stream_id, payload, .. }) = self.close(key) else {
            if !self.passing.remove(&key) {
                self.discard(key, segment.cos(), None, Defect::MissingStart);
            }
            return;
        };
        let Some(mut payload) = payload else { return };
        let received = payload.octets();
        let class = (cos != segment.cos()).then_some(Defect::Class);
        let aborted = (segment.is_abort()).then_some(Defect::Aborted);
        let defect = class
            .or(aborted)
            .or_else(|| self.size_defect(&segment, true))
            .or_else(|| self.growth_defect(received, &segment))
            .or_else(|| {
                let total = received + segment.payload().octets();
                (total % PDU_MAX_BYTES as usize != usize::from(length)).then_some(Defect::Length)
            });
        payload.write(received, segment.payload());
        self.finish(key, cos, stream_id, defect.map_or(Ok(payload), Err));
    }

    fn finish(&mut self, key: Key, cos: u8, stream_id: u16, outcome: Result<P, Defect>) {
        let (source, destination, flow) = key;
        match outcome {
            Ok(payload) => {
                self.counters.delivered += 1;
                let event = Event::Delivered { source, destination, flow, cos, stream_id, payload };
                self.events.push_back(event);
            }
            Err(defect) => self.discard(key, cos, Some(stream_id), defect),
        }
    }

    fn discard(&mut self, key: Key, cos: u8, stream_id: Option<u16>, defect: Defect) {
        let (source, destination, flow) = key;
        self.counters.discarded += 1;
        self.events.push_back(Event::Discarded { source, destination, flow, cos, stream_id, defect });
    }

    fn restart_timer(&mut self, now: u64, key: Key) {
        let Some(timeout) = self.options.timeout else { return };
        let context = self.contexts.get_mut(&key).expect("open");
        if let Some(until) = context.until {
            self.deadlines.clear(until, key);
        }
        let until = now.saturating_add(timeout);
        context.until = Some(until);
        self.deadlines.set(until, key);
    }

    fn close(&mut self, key: Key) -> Option<Context<P>> {
        let context = self.contexts.remove(&key)?;
        self.sound -= usize::from(context.payload.is_some());
        if let Some(until) = context.until {
            self.deadlines.clear(until, key);
        }
        Some(context)
    }
}
