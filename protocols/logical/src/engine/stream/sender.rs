//! The sending side of a device: queues by stream, segmentation, obedience to traffic management.

use super::traffic::{Action, Management, Stops};
use super::{Flow, Mtu, Pdu};
use crate::engine::{Divisible, insert_by_priority};
use crate::wire::Error;
use crate::wire::stream::{Part, Segment};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

/// In which order the flows of a priority are served. A higher priority always goes first.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Policy {
    /// A PDU is finished before the next flow has its turn.
    #[default]
    Sequential,
    /// One segment of each flow in turn.
    Interleaved,
}

/// How a sender behaves.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// The system's MTU.
    pub mtu: Mtu,
    /// Order of flows.
    pub policy: Policy,
}

impl Default for Options {
    /// 256 bytes, sequential.
    fn default() -> Self {
        Self { mtu: Mtu::MAX, policy: Policy::Sequential }
    }
}

/// A packet to be sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Transmit<P> {
    /// Device ID of the receiver.
    pub destination: u32,
    /// Virtual channel, priority and CRF.
    pub flow: Flow,
    /// The packet.
    pub segment: Segment<P>,
}

/// What the owner has to know.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Event {
    /// The last segment of a PDU has left. Nobody says whether it arrives.
    Sent {
        /// From [`Pdu::token`].
        token: u64,
    },
    /// The segment that tells the receiver to discard the PDU has left.
    Aborted {
        /// From [`Pdu::token`].
        token: u64,
    },
    /// A traffic management message came. XOFF and XON are obeyed already; the rest is for the owner.
    Managed {
        /// Device ID of who sent it.
        source: u32,
        /// What it said.
        message: Management,
    },
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counters {
    /// Segments sent.
    pub segments: u64,
    /// PDUs sent to the end.
    pub pdus: u64,
    /// XOFF messages received.
    pub xoff: u64,
    /// XON messages received.
    pub xon: u64,
}

/// Destination, class of service, stream ID.
type StreamKey = (u32, u8, u16);

/// Destination and the rest of the flow.
type FlowKey = (u32, Flow);

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Stream<P> {
    flow: Flow,
    waiting: VecDeque<Pdu<P>>,
    /// Whether it is the stream of the PDU that is open in the flow.
    open: bool,
    /// Whether it waits for its turn in the flow: it has PDUs and is not stopped.
    eligible: bool,
}

/// A PDU of which at least one segment has left, or is about to.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Open<P> {
    pdu: Pdu<P>,
    sent: usize,
    aborted: bool,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct FlowState<P> {
    open: Option<Open<P>>,
    /// Class of service and stream ID of the eligible streams, in turn.
    turns: VecDeque<(u8, u16)>,
}

/// The sending side of a device, see the [module](super).
///
/// A stopped stream does not begin a PDU; one that is open is finished. To hold it would stop all streams of
/// its flow, for a flow has one open PDU only.
///
/// What may change the answers of the outputs: [`submit`](Self::submit), [`abort`](Self::abort),
/// [`handle_management`](Self::handle_management), and [`poll_transmit`](Self::poll_transmit) itself. There
/// are no timers (Part 10 §3.4.5).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Sender<P> {
    options: Options,
    /// A PDU of one segment that came while there was nothing else to send: it needs no queue. With it there
    /// are no streams.
    lone: Option<Box<Pdu<P>>>,
    streams: BTreeMap<StreamKey, Stream<P>>,
    flows: BTreeMap<FlowKey, FlowState<P>>,
    /// Flows with something to send, by priority, then in turn.
    ready: VecDeque<FlowKey>,
    stops: Stops,
    events: VecDeque<Event>,
    counters: Counters,
}

impl<P: Divisible> Sender<P> {
    /// A sender with nothing to send and nothing stopped.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            lone: None,
            streams: BTreeMap::new(),
            flows: BTreeMap::new(),
            ready: VecDeque::new(),
            stops: Stops::default(),
            events: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Takes a PDU. PDUs of a stream leave in this order.
    ///
    /// # Errors
    /// Those of [`Pdu::check`]; [`Error::Value`] if PDUs of the stream are in another flow, for the order
    /// between them would be lost (Part 10 §2.4). Nothing is taken then.
    pub fn submit(&mut self, pdu: Pdu<P>) -> Result<(), Error> {
        pdu.check()?;
        let short = pdu.payload.octets() <= self.options.mtu.octets();
        if short && self.is_idle() && !self.is_stopped(pdu.destination, pdu.cos, pdu.stream_id) {
            self.lone = Some(Box::new(pdu));
            return Ok(());
        }
        self.file_lone();
        self.file(pdu)
    }

    /// PDUs that were taken and have not left whole, in no order that means anything.
    pub fn pending(&self) -> impl Iterator<Item = &Pdu<P>> {
        let waiting = self.streams.values().flat_map(|stream| &stream.waiting);
        let open = self.flows.values().filter_map(|flow| Some(&flow.open.as_ref()?.pdu));
        self.lone.as_deref().into_iter().chain(waiting).chain(open)
    }

    /// Gives the PDU that has no queue one.
    fn file_lone(&mut self) {
        if let Some(pdu) = self.lone.take() {
            self.file(*pdu).expect("it is the only one of its stream");
        }
    }

    fn file(&mut self, pdu: Pdu<P>) -> Result<(), Error> {
        let key = (pdu.destination, pdu.cos, pdu.stream_id);
        let stream = self.streams.entry(key).or_insert_with(|| Stream {
            flow: pdu.flow,
            waiting: VecDeque::new(),
            open: false,
            eligible: false,
        });
        if stream.flow != pdu.flow {
            let found = pdu.flow.priority.prio().into();
            let rule = "that of the stream's PDUs not sent yet";
            return Err(Error::Value { field: "flow", found, rule });
        }
        stream.waiting.push_back(pdu);
        self.update_eligibility(key);
        Ok(())
    }

    /// Ends the PDU of this stream that is open, if there is one, by a segment that makes the receiver
    /// discard it. Returns whether there is one.
    pub fn abort(&mut self, destination: u32, cos: u8, stream_id: u16) -> bool {
        let Some(stream) = self.streams.get(&(destination, cos, stream_id)).filter(|stream| stream.open)
        else {
            return false;
        };
        let flow = self.flows.get_mut(&(destination, stream.flow)).expect("an open stream has a flow");
        flow.open.as_mut().expect("an open stream has an open PDU").aborted = true;
        true
    }

    /// A traffic management message from `source`. What it orders concerns the streams to `source`.
    pub fn handle_management(&mut self, source: u32, message: Management) {
        self.file_lone();
        self.events.push_back(Event::Managed { source, message });
        let stopped = match message.action {
            Action::Xoff { .. } => true,
            Action::Xon { .. } => false,
            _ => return,
        };
        *(if stopped { &mut self.counters.xoff } else { &mut self.counters.xon }) += 1;
        let scope = message.operand.scope(source);
        self.stops.set(scope, stopped);
        let range = match scope.destination() {
            Some(destination) => (destination, 0, 0)..=(destination, u8::MAX, u16::MAX),
            None => (0, 0, 0)..=(u32::MAX, u8::MAX, u16::MAX),
        };
        let concerned: Vec<StreamKey> =
            self.streams.range(range).map(|(&key, _)| key).filter(|&key| scope.contains(key)).collect();
        for key in concerned {
            self.update_eligibility(key);
        }
    }

    /// Whether the stream must not begin a PDU.
    #[must_use]
    pub fn is_stopped(&self, destination: u32, cos: u8, stream_id: u16) -> bool {
        self.stops.contain((destination, cos, stream_id))
    }

    /// The next packet.
    pub fn poll_transmit(&mut self) -> Option<Transmit<P>> {
        if let Some(pdu) = self.lone.take() {
            let Pdu { destination, flow, cos, stream_id, payload, token } = *pdu;
            let segment = Segment::new(cos, Part::Single { stream_id }, payload);
            self.counters.segments += 1;
            self.counters.pdus += 1;
            self.events.push_back(Event::Sent { token });
            return Some(Transmit {
                destination,
                flow,
                segment: segment.expect("checked when it was taken"),
            });
        }
        let &key @ (destination, flow) = self.ready.front()?;
        let state = self.flows.get_mut(&key).expect("a ready flow is known");
        if state.open.is_none() {
            let turn = state.turns.pop_front().expect("a ready flow has an open PDU or a turn");
            let stream_key = (destination, turn.0, turn.1);
            let stream = self.streams.get_mut(&stream_key).expect("an eligible stream is known");
            let pdu = stream.waiting.pop_front().expect("an eligible stream has a PDU");
            stream.open = true;
            stream.eligible = !stream.waiting.is_empty();
            if stream.eligible {
                state.turns.push_back(turn);
            }
            state.open = Some(Open { pdu, sent: 0, aborted: false });
        }
        let open = state.open.as_mut().expect("opened");
        let segment = next_segment(open, self.options.mtu);
        self.counters.segments += 1;
        let ended = matches!(segment.part(), Part::Single { .. } | Part::End { .. });
        if ended {
            self.close(key);
        }
        if ended || self.options.policy == Policy::Interleaved {
            self.ready.pop_front();
            if self.flows.contains_key(&key) {
                self.enqueue(key);
            }
        }
        Some(Transmit { destination, flow, segment })
    }

    /// What happened, in order.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether a packet waits for [`poll_transmit`](Self::poll_transmit).
    #[must_use]
    pub fn wants_transmit(&self) -> bool {
        self.lone.is_some() || !self.ready.is_empty()
    }

    /// PDUs of a stream that wait, the open one not counted: what a queue status message speaks of.
    #[must_use]
    pub fn waiting(&self, destination: u32, cos: u8, stream_id: u16) -> usize {
        let key = (destination, cos, stream_id);
        let lone = self.lone.as_ref().is_some_and(|pdu| (pdu.destination, pdu.cos, pdu.stream_id) == key);
        self.streams.get(&key).map_or(0, |stream| stream.waiting.len()) + usize::from(lone)
    }

    /// Whether there is nothing to send, stopped or not.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.lone.is_none() && self.streams.is_empty()
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// Gives a stream its place among the turns of its flow, or takes it away.
    fn update_eligibility(&mut self, key @ (destination, cos, stream_id): StreamKey) {
        let stopped = self.stops.contain(key);
        let stream = self.streams.get_mut(&key).expect("known");
        let eligible = !stopped && !stream.waiting.is_empty();
        if eligible == stream.eligible {
            return;
        }
        stream.eligible = eligible;
        let flow_key = (destination, stream.flow);
        let flow =
            self.flows.entry(flow_key).or_insert_with(|| FlowState { open: None, turns: VecDeque::new() });
        let was_ready = flow.open.is_some() || !flow.turns.is_empty();
        if eligible {
            flow.turns.push_back((cos, stream_id));
            if !was_ready {
                self.enqueue(flow_key);
            }
        } else {
            flow.turns.retain(|&turn| turn != (cos, stream_id));
            if flow.open.is_none() && flow.turns.is_empty() {
                self.flows.remove(&flow_key);
                self.ready.retain(|&other| other != flow_key);
            }
        }
    }

    fn enqueue(&mut self, key: FlowKey) {
        insert_by_priority(&mut self.ready, key, |(_, flow)| flow.priority);
    }

    /// The open PDU of a flow has left.
    fn close(&mut self, key: FlowKey) {
        let state = self.flows.get_mut(&key).expect("known");
        let Open { pdu, aborted, .. } = state.open.take().expect("open");
        if state.turns.is_empty() {
            self.flows.remove(&key);
        }
        let stream_key = (pdu.destination, pdu.cos, pdu.stream_id);
        let stream = self.streams.get_mut(&stream_key).expect("an open stream is known");
        stream.open = false;
        if stream.waiting.is_empty() {
            self.streams.remove(&stream_key);
        }
        let token = pdu.token;
        self.events.push_back(if aborted { Event::Aborted { token } } else { Event::Sent { token } });
        self.counters.pdus += u64::from(!aborted);
    }
}

/// Part 10 §3.2.5, segmentation.
fn next_segment<P: Divisible>(open: &mut Open<P>, mtu: Mtu) -> Segment<P> {
    let Pdu { cos, stream_id, ref payload, .. } = open.pdu;
    let total = payload.octets();
    let (first, rest) = (open.sent == 0, total - open.sent);
    if open.aborted && !first {
        return Segment::abort(cos);
    }
    let size = rest.min(mtu.octets());
    let part = match (first, size == rest) {
        (true, true) => Part::Single { stream_id },
        (true, false) => Part::Start { stream_id },
        (false, false) => Part::Continuation,
        // 65 536 is coded as 0.
        (false, true) => Part::End { length: total as u16 },
    };
    let payload = payload.part(open.sent, size);
    open.sent += size;
    Segment::new(cos, part, payload).expect("an MTU is a legal length")
}
