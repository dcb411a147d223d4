//! An endpoint: creates packets, injects them, takes deliveries.
//!
//! One event a packet: creations that fall into a running transmission are made up when it ends, and the
//! event for the next creation is posted only while the transmitter idles. Deliveries wait in a queue with
//! their keys until somebody needs their acknowledgements, the endpoint sends, or a sample looks.

pub(crate) mod traffic;

use crate::config::PRIORITIES;
use crate::endpoint::traffic::Source;
use crate::event::{Cx, Happening, Payload, class};
use crate::link::life::{Made, Place};
use crate::link::port::special;
use crate::observe::probe::Probe;
use crate::packet::origin;
use crate::packet::{UNSTAGED, sole_port};
use crate::world::Fabric;
use sim_core::{EventKey, EventList, Time};
use std::sync::Arc;

/// Everything about an endpoint that is not its port.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    pub device: u32,
    pub port: u32,
    pub sources: Vec<Source>,
    /// Earliest creation of any source.
    pub next: u64,
    pub create_posted: bool,
    pub next_hop: Arc<Vec<u8>>,
    /// Multicast ids: (id, pseudo queue, next-hop set).
    pub multicast: Vec<(u32, u8, u64)>,
    pub staged: bool,
    pub stamp: u32,
}

impl<P: Probe> Fabric<P> {
    pub fn create<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let e = self.links.nodes.endpoint(port);
        self.endpoints[e].create_posted = false;
        self.endpoint_turn(cx, e);
    }

    /// Something changed at an endpoint: makes up creations, starts what may start.
    pub fn endpoint_turn<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize) {
        let now = cx.now().0;
        let port = self.endpoints[e].port;
        self.materialise(cx, e, now);
        self.try_output(cx, port);
        let tx = &self.links.ports[port as usize].tx;
        if tx.done <= cx.key() {
            self.post_create(cx, e);
        } else if !tx.done_posted {
            // The creation that was posted may have been made up earlier, with nothing posted in its place.
            self.await_next(cx, e);
        } else if self.links.ports[port as usize].rx.special & special::INTERLEAVED != 0 {
            self.message_created(cx, e);
        }
    }

    /// The transmitter is busy: what comes next is its end, if somebody waits or will wait by then, or a
    /// creation.
    fn await_next<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize) {
        let endpoint = &self.endpoints[e];
        let port = endpoint.port;
        let tx = &self.links.ports[port as usize].tx;
        if self.links.unfolded || tx.waiting > 0 || endpoint.next <= tx.done.time().0 {
            self.links.post_done(cx, port);
        } else {
            self.post_create(cx, e);
        }
    }

    pub fn post_create<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize) {
        let endpoint = &mut self.endpoints[e];
        if endpoint.create_posted || endpoint.next == u64::MAX {
            return;
        }
        endpoint.create_posted = true;
        let (device, port, at) = (endpoint.device, endpoint.port, endpoint.next);
        let key = self.links.key(device, at, class::TRAFFIC);
        cx.post(key, port, Happening::Create.pack());
    }

    /// Creates every packet that is due by `now`, in the order of creation.
    pub fn materialise<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize, now: u64) {
        self.create_due(cx, e, now, true);
    }

    /// The same, but nothing starts: something else of this instant comes before it.
    pub fn materialise_only<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize, now: u64) {
        self.create_due(cx, e, now, false);
    }

    #[inline(always)]
    fn create_due<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize, now: u64, start: bool) {
        // The last instant means never.
        let now = now.min(u64::MAX - 1);
        while self.endpoints[e].next <= now {
            let endpoint = &mut self.endpoints[e];
            let at = endpoint.next;
            let index =
                endpoint.sources.iter().position(|s| s.next == at).expect("the next creation has a source");
            if let Some(backlog) = endpoint.sources[index].backlog() {
                endpoint.sources[index].opened();
                for _ in 0..backlog {
                    if self.endpoints[e].sources[index].may_refill(at) {
                        self.make_packet(cx, e, index, at);
                    }
                }
            } else {
                let packet = self.new_packet(e, index, at);
                self.find_next(e);
                let last = start && at == cx.now().0 && self.endpoints[e].next > now;
                if last && self.may_start_new(cx, e, packet) {
                    self.start_new(cx, e, packet);
                } else {
                    self.queue_packet(cx, e, packet, at);
                }
                continue;
            }
            self.find_next(e);
        }
    }

    pub fn find_next(&mut self, e: usize) {
        let endpoint = &mut self.endpoints[e];
        endpoint.next = match &endpoint.sources[..] {
            [only] => only.next,
            several => several.iter().map(|s| s.next).min().unwrap_or(u64::MAX),
        };
    }

    /// Whether a packet just created may start at once: what the choice among all that waits would come to.
    #[inline(always)]
    fn may_start_new<L: EventList<Payload>>(&self, cx: &Cx<'_, L>, e: usize, packet: u32) -> bool {
        let port = self.endpoints[e].port as usize;
        let tx = &self.links.ports[port].tx;
        let queue = self.links.packets[packet].queue;
        tx.waiting == 0
            && tx.done <= cx.key()
            && tx.clock.blocked() == 0
            && !tx.parked_any
            && (queue >= tx.queue_lanes || self.links.cold[port].stopped_lanes >> queue & 1 == 0)
    }

    fn start_new<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize, packet: u32) {
        let port = self.endpoints[e].port;
        let tx = &mut self.links.ports[port as usize].tx;
        tx.high_water = tx.high_water.max(1);
        self.start(cx, port, packet, false);
    }

    /// One packet of a source, created at `at`, joins the injection queue.
    fn make_packet<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize, source: usize, at: u64) {
        let packet = self.new_packet(e, source, at);
        self.queue_packet(cx, e, packet, at);
    }

    /// One packet of a source, created at `at`, in no list.
    #[inline(always)]
    fn new_packet(&mut self, e: usize, source: usize, at: u64) -> u32 {
        let from = &mut self.endpoints[e].sources[source];
        let draw = from.draw();
        let sequence = (from.made() - 1) as u32;
        let crate::endpoint::traffic::Draw { destination, flow, priority, size } = draw;
        let made = Made { destination, flow, priority, size, sequence, origin: source as u16 };
        self.admit_packet(e, at, made)
    }

    /// A packet made at `at`, in no list.
    #[inline(always)]
    pub fn admit_packet(&mut self, e: usize, at: u64, draw: Made) -> u32 {
        let endpoint = &mut self.endpoints[e];
        let port = endpoint.port;
        endpoint.stamp = endpoint.stamp.wrapping_add(1);
        let stamp = endpoint.stamp;
        let device = endpoint.device;
        let mut queue = UNSTAGED;
        let mut next_hop = crate::config::NO_PORT;
        if endpoint.staged && usize::from(draw.priority) < PRIORITIES {
            next_hop = endpoint.next_hop.get(draw.destination as usize).copied().unwrap_or(next_hop);
            let multicast = endpoint.multicast.iter().find(|m| m.0 == draw.destination).copied();
            queue = self.links.queue_of(port, next_hop);
            if let Some((_, multicast, set)) = multicast {
                queue = multicast;
                // A set of one stops for its own port's sake, like a unicast packet.
                next_hop = sole_port(set);
            }
        }
        self.links.admit(at, device, port, draw, Place { stamp, queue, next_hop, input: 0 })
    }

    /// A packet created at `at` joins the injection queue.
    pub fn queue_packet<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        e: usize,
        packet: u32,
        at: u64,
    ) {
        let port = self.endpoints[e].port;
        let queue = self.links.packets[packet].queue;
        if self.links.ports[port as usize].tx.clock.blocked() != 0 {
            // Credit changes up to the creation come first, later ones belong to the wait.
            let upto = EventKey::floor(Time(at + 1), class::ARRIVAL);
            self.consume(cx, port, upto.min(cx.key()));
            if self.links.packets[packet].is_in_channel() {
                self.links.queue_in_channel(port, packet, at);
                return;
            }
        }
        self.links.begin_wait_at(port, packet, at, false);
        let lane = u32::from(queue.min(self.links.ports[port as usize].tx.queue_lanes));
        self.links.store(port, lane, packet);
        let tx = &mut self.links.ports[port as usize].tx;
        tx.waiting += 1;
        tx.high_water = tx.high_water.max(tx.waiting);
    }

    /// A transmission of this endpoint has started.
    pub fn started_at_endpoint<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize, from: u16) {
        let now = cx.now().0;
        match self.endpoints[e].sources.get(from as usize) {
            Some(source) if source.backlog().is_some() && source.may_refill(now) => {
                self.make_packet(cx, e, from as usize, now);
            }
            None if from == origin::STREAM => self.stream_started(cx, e),
            None if from == origin::FRAME => self.frame_left(cx, e),
            _ => {}
        }
        self.await_next(cx, e);
    }

    /// The posted delivery is due.
    pub fn deliver_event<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        self.links.ports[port as usize].rx.deliver_posted = false;
        if self.links.is_symbolic(port) {
            let (_, packet) = self.links.cold[port as usize].in_flight.pop_front().expect("it was posted");
            return self.packet_arrives(cx, port, packet, 0);
        }
        self.flush(cx, port, cx.key());
        let e = self.links.nodes.endpoint(port);
        if (self.links.unfolded || self.listens(e))
            && let Some(&(key, _)) = self.links.cold[port as usize].in_flight.front()
        {
            self.links.ports[port as usize].rx.deliver_posted = true;
            cx.post(key, port, Happening::Deliver.pack());
        }
    }

    /// Delivers everything that has arrived at the sink behind `port` by `key` (inclusive).
    #[inline]
    pub fn flush<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, key: EventKey) {
        while let Some(&(at, packet)) = self.links.cold[port as usize].in_flight.front() {
            if at > key {
                break;
            }
            self.links.cold[port as usize].in_flight.pop_front();
            self.reach_endpoint(cx, port, packet, at.time());
        }
    }

    /// A packet reaches the endpoint behind `port` at `at`.
    #[inline(always)]
    pub fn reach_endpoint<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        at: Time,
    ) {
        if self.links.packets[packet].is_of_agent() {
            self.hand_over(cx, port, packet, at);
        } else {
            self.links.deliver(port, packet, at);
            self.make_status(cx, port, at.0, 1);
        }
    }

    /// Delivers a packet that an agent made, with what it carries.
    fn hand_over<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, packet: u32, at: Time) {
        let id = self.links.packets[packet].destination_id();
        let delivery = self.links.delivery(port, packet, at);
        self.links.deliver(port, packet, at);
        self.make_status(cx, port, at.0, 1);
        self.deliver_cargo(cx, port, packet, id, &delivery);
    }
}
