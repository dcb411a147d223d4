//! An endpoint: creates packets, injects them, takes deliveries.
//!
//! At most one event a packet: creations that fall into a running transmission are made up when it ends, and
//! the event for the next creation is posted only while the transmitter idles. Where nobody can hear of it
//! before the packet is in the switch, neither is an event: it is made up there ([`Lag`]). Deliveries wait in
//! a queue with their keys until somebody needs their acknowledgements, the endpoint sends, or a sample
//! looks.

pub(crate) mod traffic;

use crate::config::IdTable;
use crate::endpoint::traffic::Source;
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::choice::Device;
use crate::link::life::{Made, Place};
use crate::link::port::{Port, special};
use crate::link::transmit::Started;
use crate::observe::Build;
use crate::packet::{NIL, UNSTAGED, origin, sole_port};
use crate::ports::{PortSet, Ports};
use sim_core::{EventKey, EventList, Time};
use std::sync::Arc;

/// Everything about an endpoint that is not its port.
///
/// What every packet asks for comes first, in one line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Endpoint {
    pub device: u32,
    pub port: PortId,
    pub sources: Vec<Source>,
    /// Earliest creation of any source.
    pub next: u64,
    pub next_hop: Arc<IdTable<u8>>,
    /// How much later what it does may be made up, 0 = it has to be an event at its own time; see [`Lag`].
    lag_ps: u64,
    lag_starts: u16,
    pub create_posted: bool,
    pub staged: bool,
    pub stamp: u32,

    /// Multicast ids: (id, pseudo queue, next-hop set).
    pub multicast: Vec<(u32, u8, PortSet)>,
}

/// How much later it is enough to know what an endpoint does.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lag {
    /// From the start of a packet to when it can be in the switch at the earliest, ps.
    pub ps: u64,
    /// Packets that can start in that time, at most, and one.
    pub starts: u16,
}

impl Lag {
    /// Key of the event in which is made up what is due at `due`.
    #[inline(always)]
    pub fn told(&self, due: EventKey) -> EventKey {
        due.followed(Time(due.time().0.saturating_add(self.ps)), class::ARRIVAL)
    }
}

/// A packet has begun to leave of which an agent has to hear.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// One of type 9: the agent may make the next.
    Stream,
    /// A frame on another medium: the agent may make the next.
    Frame { token: u64 },
}

const _: () = assert!(std::mem::offset_of!(Endpoint, multicast) == 64);

impl Endpoint {
    /// Without sources; what it does are events.
    pub fn new((device, port): (u32, PortId), next_hop: Arc<IdTable<u8>>, staged: bool) -> Self {
        Endpoint {
            device,
            port,
            sources: Vec::new(),
            next: u64::MAX,
            next_hop,
            lag_ps: 0,
            lag_starts: 0,
            create_posted: false,
            staged,
            stamp: 0,
            multicast: Vec::new(),
        }
    }

    /// How much later what it does may be made up; `None`: it has to be an event at its own time.
    #[inline(always)]
    pub fn lag(&self) -> Option<Lag> {
        (self.lag_ps != 0).then_some(Lag { ps: self.lag_ps, starts: self.lag_starts })
    }

    /// What it does may be made up so much later.
    pub fn lags_by(&mut self, lag: Lag) {
        (self.lag_ps, self.lag_starts) = (lag.ps, lag.starts);
    }

    /// Something changed: makes up creations, starts what may start.
    pub fn turn<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
    ) -> Option<Left> {
        self.create_due(links, cx, cx.now().0, 0);
        let port = self.port;
        let tx = &links.ports[port.index()].tx;
        if tx.waiting == 0 {
            return None;
        }
        if tx.done > cx.key() {
            self.post_done(links, cx);
            return None;
        }
        if tx.stored == 0 {
            return None;
        }
        let pick = links.select(self, cx, port);
        if pick.packet == NIL {
            return None;
        }
        links.take(port, pick, cx.now().0);
        self.start(links, cx, pick.packet)
    }

    /// What comes after a [`turn`](Self::turn), and after what it had to say.
    pub fn rest<P: Build, L: EventList<Payload>>(&mut self, links: &mut Links<P>, cx: &mut Cx<'_, L>) {
        let Port { tx, link, .. } = &links.ports[self.port.index()];
        if tx.done <= cx.key() {
            self.post_create(links, cx);
        } else if !tx.clock.end_posted {
            // The creation that was posted may have been made up earlier, with nothing posted in its place.
            self.await_next(links, cx);
        } else if link.special() & special::INTERLEAVED != 0 {
            // A packet was created while a message may be on the wire.
            self.post_create(links, cx);
            links.may_pass(cx, self.port);
        }
    }

    /// The transmitter is busy: what comes next is its end, if somebody waits or will wait by then, or a
    /// creation.
    pub fn await_next<P: Build, L: EventList<Payload>>(&mut self, links: &mut Links<P>, cx: &mut Cx<'_, L>) {
        let endpoint = &*self;
        let port = endpoint.port;
        let tx = &links.ports[port.index()].tx;
        if links.unfolded || tx.waiting > 0 || endpoint.next <= tx.done.time().0 {
            self.post_done(links, cx);
        } else {
            self.post_create(links, cx);
        }
    }

    /// The end of the running transmission is an event, or made up.
    fn post_done<P: Build, L: EventList<Payload>>(&mut self, links: &mut Links<P>, cx: &mut Cx<'_, L>) {
        let tx = &links.ports[self.port.index()].tx;
        if tx.clock.end_posted {
            return;
        }
        if self.defers(links, cx, tx.done) {
            links.ports[self.port.index()].tx.clock.end_posted = true;
        } else {
            links.post_done(cx, self.port);
        }
    }

    /// What the endpoint does at `key` need not be an event: it is made up when the packet that starts then
    /// can be in the switch, or when somebody looks before that. Whether it may be made up so late: nobody
    /// may hear of it by then, or stop it, so all queues go, and there is credit for whatever may start
    /// meanwhile.
    #[inline(never)]
    fn defers<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        key: EventKey,
    ) -> bool {
        let Some(lag) = self.lag() else { return false };
        let Port { tx, link, .. } = &links.ports[self.port.index()];
        let cold = &mut links.cold[self.port.index()];
        if cold.due.0 != EventKey::MAX {
            return false;
        }
        if key < cx.handled() {
            // What came before is being made up.
            cold.due.0 = key;
            return true;
        }
        let timing = &links.timings[tx.timing as usize];
        let free = tx.free - lag.starts as i16;
        let at_ease = tx.clock.blocked() == 0 && timing.at_ease(free, tx.outstanding + lag.starts);
        if !at_ease || tx.parked_any || link.special() != 0 || !cold.stopped_lanes.is_empty() {
            return false;
        }
        cold.due.0 = key;
        cx.post(lag.told(key), self.port.into(), Happening::Inject.pack());
        true
    }

    fn post_create<P: Build, L: EventList<Payload>>(&mut self, links: &mut Links<P>, cx: &mut Cx<'_, L>) {
        let endpoint = &mut *self;
        if endpoint.create_posted || endpoint.next == u64::MAX {
            return;
        }
        endpoint.create_posted = true;
        let (device, port, at) = (endpoint.device, endpoint.port, endpoint.next);
        let key = links.key(device, at, class::TRAFFIC);
        if !self.defers(links, cx, key) {
            cx.post(key, port.into(), Happening::Create.pack());
        }
    }

    /// Creates every packet that is due by `now`, in the order of creation.
    pub fn materialise<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        now: u64,
    ) {
        self.create_due(links, cx, now, cx.now().0);
    }

    /// Creates every packet that is due by `now`, and starts none: something else of this instant comes
    /// first.
    pub fn materialise_only<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        now: u64,
    ) {
        self.create_due(links, cx, now, u64::MAX);
    }

    /// A packet that is created at or after `first`, nothing waits before and nothing is created after starts
    /// at once, if that is possible, without passing through the queue.
    #[inline(never)]
    fn create_due<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        now: u64,
        first: u64,
    ) {
        // The last instant means never.
        let now = now.min(u64::MAX - 1);
        while self.next <= now {
            let endpoint = &mut *self;
            let at = endpoint.next;
            let index =
                endpoint.sources.iter().position(|s| s.next == at).expect("the next creation has a source");
            if let Some(backlog) = endpoint.sources[index].backlog() {
                endpoint.sources[index].opened();
                for _ in 0..backlog {
                    if self.sources[index].may_refill(at) {
                        self.make_packet(links, cx, index, at);
                    }
                }
            } else {
                let packet = self.new_packet(links, index, at);
                self.find_next();
                let last = at >= first && self.next > now;
                if last && self.may_start_new(links, cx, packet) {
                    self.start_new(links, cx, packet, at);
                } else {
                    self.queue_packet(links, cx, packet, at);
                }
                continue;
            }
            self.find_next();
        }
    }

    /// Where the next packet of its first source goes, if that is known.
    #[inline(always)]
    pub fn aims_at(&self) -> Option<u32> {
        if self.staged { self.makes_for() } else { None }
    }

    /// Likewise, whether or not the endpoint stages.
    #[inline(always)]
    pub fn makes_for(&self) -> Option<u32> {
        self.sources.first().and_then(Source::aims_at)
    }

    pub fn find_next(&mut self) {
        let endpoint = &mut *self;
        endpoint.next = match &endpoint.sources[..] {
            [only] => only.next,
            several => several.iter().map(|s| s.next).min().unwrap_or(u64::MAX),
        };
    }

    /// Whether a packet just created may start at once: what the choice among all that waits would come to.
    #[inline(always)]
    fn may_start_new<P: Build, L: EventList<Payload>>(
        &self,
        links: &mut Links<P>,
        cx: &Cx<'_, L>,
        packet: u32,
    ) -> bool {
        let port = self.port.index();
        let tx = &links.ports[port].tx;
        let queue = links.packets[packet].queue;
        tx.waiting == 0
            && tx.done <= cx.key()
            && tx.clock.blocked() == 0
            && !tx.parked_any
            && (queue >= tx.queue_lanes || !links.cold[port].stopped_lanes.has(queue.into()))
    }

    fn start_new<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        packet: u32,
        at: u64,
    ) {
        if at < cx.now().0 {
            links.begin_wait_at(self.port, packet, at, false);
            links.observe.occupancy.waits(self.port, at);
            links.observe.occupancy.starts(self.port, cx.now().0);
        }
        let tx = &mut links.ports[self.port.index()].tx;
        tx.high_water = tx.high_water.max(1);
        let left = self.start(links, cx, packet);
        debug_assert!(left.is_none(), "a packet of a source is nobody's else");
    }

    /// One packet of a source, created at `at`, joins the injection queue.
    fn make_packet<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        source: usize,
        at: u64,
    ) {
        let packet = self.new_packet(links, source, at);
        self.queue_packet(links, cx, packet, at);
    }

    /// One packet of a source, created at `at`, in no list.
    #[inline(always)]
    fn new_packet<P: Build>(&mut self, links: &mut Links<P>, source: usize, at: u64) -> u32 {
        let from = &mut self.sources[source];
        let draw = from.draw();
        let sequence = (from.made() - 1) as u32;
        let crate::endpoint::traffic::Draw { destination, flow, priority, size } = draw;
        let made = Made { destination, flow, priority, size, sequence, origin: source as u16 };
        self.admit_packet(links, at, made)
    }

    /// A packet made at `at`, in no list.
    #[inline(always)]
    pub fn admit_packet<P: Build>(&mut self, links: &mut Links<P>, at: u64, draw: Made) -> u32 {
        let endpoint = &mut *self;
        let port = endpoint.port;
        endpoint.stamp = endpoint.stamp.wrapping_add(1);
        let stamp = endpoint.stamp;
        let device = endpoint.device;
        let mut queue = UNSTAGED;
        let mut next_hop = crate::config::NO_PORT;
        if endpoint.staged {
            next_hop = endpoint.next_hop.get(draw.destination as usize).copied().unwrap_or(next_hop);
            let multicast = endpoint.multicast.iter().find(|m| m.0 == draw.destination).copied();
            queue = links.queue_of(port, next_hop);
            if let Some((_, multicast, set)) = multicast {
                queue = multicast;
                // A set of one stops for its own port's sake, like a unicast packet.
                next_hop = sole_port(set);
            }
        }
        links.admit(at, device, port, draw, Place { stamp, queue, next_hop, input: 0 })
    }

    /// A packet created at `at` joins the injection queue.
    pub fn queue_packet<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        packet: u32,
        at: u64,
    ) {
        let port = self.port;
        let queue = links.packets[packet].queue;
        if links.ports[port.index()].tx.clock.blocked() != 0 {
            // Credit changes up to the creation come first, later ones belong to the wait.
            let upto = EventKey::floor(Time(at + 1), class::ARRIVAL);
            links.consume(cx, port, upto.min(cx.key()));
            if links.packets[packet].is_in_channel() {
                links.queue_in_channel(port, packet, at);
                return;
            }
        }
        links.begin_wait_at(port, packet, at, false);
        let lane = u32::from(queue.min(links.ports[port.index()].tx.queue_lanes));
        links.store(port, lane, packet);
        let tx = &mut links.ports[port.index()].tx;
        tx.waiting += 1;
        tx.high_water = tx.high_water.max(tx.waiting);
        links.observe.occupancy.waits(port, at);
    }

    /// Commits `packet` (in no list) to the wire now. Where its agent has to hear of that, it must
    /// [wait for what comes next](Self::await_next) afterwards.
    #[must_use]
    pub fn start<P: Build, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        packet: u32,
    ) -> Option<Left> {
        let port = self.port;
        links.flush(cx, port, cx.key());
        links.learn_credit(cx, port);
        let started = links.commit_packet(cx, port, packet, false);
        let Started { flight, special, origin, priority, queue, .. } = started;
        if special != 0 {
            links.started_specially(cx, port, packet, &flight);
            if special & special::INTERLEAVED != 0 {
                // What is created meanwhile may pass.
                self.post_create(links, cx);
            }
        }
        if links.observe.probe.follows_packets() {
            links.tell_started(port, packet, &flight, false);
        }
        let tx = &mut links.ports[port.index()].tx;
        if let Some(pointer) = tx.pointers.get_mut(usize::from(priority)) {
            *pointer = queue.min(tx.queue_lanes);
        }
        let now = cx.now().0;
        match self.sources.get(usize::from(origin)) {
            Some(source) if source.backlog().is_some() && source.may_refill(now) => {
                self.make_packet(links, cx, origin.into(), now);
            }
            None if origin == origin::STREAM => return Some(Left::Stream),
            None if origin == origin::FRAME => {
                let frame = links.packets.frames.get(packet).expect("a frame has octets");
                return Some(Left::Frame { token: frame.payload.label.token });
            }
            _ => {}
        }
        self.await_next(links, cx);
        None
    }
}

impl<P: Build> Device<P> for Endpoint {
    #[inline(always)]
    fn readable<L: EventList<Payload>>(
        &mut self,
        _: &mut Links<P>,
        _: &Cx<'_, L>,
        _: PortId,
        lanes: P::Ports,
        _: usize,
    ) -> P::Ports {
        lanes
    }

    /// Queues are served in turn.
    #[inline(always)]
    fn choose(
        &mut self,
        _: &Links<P>,
        _: (PortId, usize),
        lanes: P::Ports,
        pointer: u8,
        _: impl Fn(&Links<P>, u32) -> u32,
    ) -> u32 {
        lanes.next_after(pointer)
    }

    #[inline(always)]
    fn await_inputs<L: EventList<Payload>>(&mut self, _: &mut Links<P>, _: &mut Cx<'_, L>, lanes: P::Ports) {
        debug_assert!(lanes.is_empty(), "an endpoint has no inputs");
    }
}
