//! The life of a packet: it is admitted, and in the end delivered or dropped. Whoever makes a packet or takes
//! one out of the fabric does it here, so that counts, fingerprints and observers agree.

use crate::config::{NO_OWNER, PacketSize};
use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::observe::Build;
use crate::observe::clock::{Since, StoppedBefore};
use crate::observe::mark;
use crate::observe::probe::{Delivery, DropReason, Dropped, Offered, PacketId, PacketStep};
use crate::packet::{MAINTENANCE, NIL, Packet, Times};
use sim_core::{EventList, Time};

/// What is known of a packet when it is made.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Made {
    pub destination: u32,
    pub flow: u16,
    pub priority: u8,
    pub size: PacketSize,
    pub sequence: u32,
    pub origin: u16,
}

impl Made {
    /// What observers of packets are told.
    pub fn step(&self) -> PacketStep {
        PacketStep::Created {
            destination: self.destination & !MAINTENANCE,
            flow: self.flow,
            priority: self.priority,
            payload: self.size.payload,
            wire: self.size.wire,
        }
    }
}

/// Where a packet that is made stands.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Place {
    /// Order among the packets of its device.
    pub stamp: u32,
    pub queue: u8,
    pub next_hop: u8,
    pub input: u8,
}

impl<P: Build> Links<P> {
    /// A packet made at `at` by `device`, to be sent through `port`. It is in no list yet.
    #[inline(always)]
    pub fn admit(&mut self, at: u64, device: u32, port: PortId, made: Made, place: Place) -> u32 {
        let timing = &self.timings[self.ports[port.index()].tx.timing as usize];
        let link_ps = timing.packet_ps(made.size.wire, &mut 0);
        self.observe.ledger.injected += 1;
        self.observe.ledger.in_flight.come(at);
        self.observe.probe.offered(&Offered {
            at: Time(at),
            flow: made.flow,
            source: device,
            payload: u32::from(made.size.payload),
            link_ps,
        });
        if self.observe.probe.follows_packets() {
            self.tell_created(at, device, &made);
        }
        self.packets.insert(Packet {
            next: NIL,
            destination: made.destination,
            source: device,
            share: NIL,
            sequence: made.sequence,
            stamp: place.stamp,
            wire: made.size.wire,
            flow: made.flow,
            origin: made.origin,
            priority: made.priority,
            queue: place.queue,
            next_hop: place.next_hop,
            input: place.input,
            flags: 0,
            port,
            since: Since::default(),
            times: Times::default(),
            created: at,
            left: 0,
            stopped: StoppedBefore::default(),
            link_ps: link_ps as u32,
            payload: made.size.payload,
        })
    }

    #[cold]
    fn tell_created(&mut self, at: u64, device: u32, made: &Made) {
        let id = PacketId { source: device, origin: made.origin, sequence: made.sequence };
        self.observe.probe.packet(Time(at), id, &made.step());
    }

    /// What is known of a packet that arrives at `at`.
    #[inline(always)]
    pub fn delivery(&self, port: PortId, packet: u32, at: Time) -> Delivery {
        let record = &self.packets[packet];
        let parts = record.parts(self.packets.late.of(packet));
        Delivery {
            at,
            created: Time(record.created),
            flow: record.flow,
            priority: record.priority,
            source: record.source,
            destination: self.ports[port.index()].link.device,
            sequence: u64::from(record.sequence),
            payload: u32::from(record.payload),
            link_ps: u64::from(record.link_ps),
            parts,
        }
    }

    /// Delivers a packet. Nothing of its [`Delivery`] is written down unless somebody looks at it: put
    /// together field by field and moved as a whole it cost 6 % of a hop.
    pub fn deliver(&mut self, port: PortId, packet: u32, at: Time) {
        let record = &self.packets[packet];
        let device = self.ports[port.index()].link.device;
        // An endpoint responds to any maintenance transaction (Part 7 §2.3.2).
        let owner = self.config.owners[usize::from(record.destination as u16)];
        assert!(
            owner == device || owner == NO_OWNER || record.is_maintenance(),
            "packet for id {} reached {}",
            record.destination,
            self.config.devices[device as usize].path
        );
        let total = record.times.sum() + self.packets.late.of(packet).sum();
        if total != at.0 - record.created {
            self.parts_disagree(port, packet, at);
        }
        self.observe.outcome.record(
            mark::DELIVERED,
            at,
            u64::from(port),
            record.word() ^ u64::from(record.origin) << 52,
        );
        self.observe.ledger.delivered += 1;
        self.observe.ledger.in_flight.go(at.0);
        let (name, delivery) = (record.id(), self.delivery(port, packet, at));
        self.packets.late.forget(packet);
        self.packets.remove(packet);
        self.observe.probe.delivered(&delivery);
        if self.observe.probe.follows_packets() {
            self.tell_ended(at, name, &delivery);
        }
    }

    #[cold]
    fn tell_ended(&mut self, at: Time, name: PacketId, delivery: &Delivery) {
        let step = PacketStep::Ended { device: delivery.destination, parts: Some(delivery.parts) };
        self.observe.probe.packet(at, name, &step);
    }

    #[cold]
    fn parts_disagree(&self, port: PortId, packet: u32, at: Time) -> ! {
        panic!("the parts of a latency add up to it: {:?}", self.delivery(port, packet, at))
    }

    /// How many endpoints do not get a packet that is dropped.
    #[cold]
    fn behind(&self, packet: u32, reason: DropReason) -> u64 {
        // What leads nowhere is one that nobody gets.
        if matches!(reason, DropReason::Unroutable | DropReason::EmptyMask) {
            return 1;
        }
        let record = &self.packets[packet];
        let device = self.ports[record.port.index()].link.device;
        let from = (device, self.nodes.number(device, record.port));
        self.config.members(from, record.destination, |port| {
            let wired = self.wired.get_or_init(|| self.wires());
            wired[self.nodes.port(port).index()]
        })
    }

    /// The port at the other end of the link of each port, as devices and numbers.
    #[cold]
    fn wires(&self) -> Vec<Option<(u32, u8)>> {
        let mut wired = vec![None; self.ports.len()];
        for link in &self.config.links {
            wired[self.nodes.port(link.a).index()] = Some(link.b);
            wired[self.nodes.port(link.b).index()] = Some(link.a);
        }
        wired
    }

    /// A packet is lost at the device of `port`, with what it carries.
    pub fn drop_packet<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        packet: u32,
        port: PortId,
        flow: u16,
        reason: DropReason,
    ) {
        let device = self.ports[port.index()].link.device;
        let word = self.packets[packet].word();
        let members = self.behind(packet, reason);
        self.observe.outcome.record(mark::DROPPED, cx.now(), u64::from(port), word);
        self.packets.unload(packet);
        if self.observe.probe.follows_packets() {
            let name = self.packets[packet].id();
            self.observe.probe.packet(cx.now(), name, &PacketStep::Ended { device, parts: None });
        }
        self.packets.remove(packet);
        self.packets.late.forget(packet);
        self.observe.ledger.dropped += 1;
        self.observe.ledger.in_flight.go(cx.now().0);
        self.observe.probe.dropped(&Dropped { at: cx.now(), flow, device, members, reason });
    }
}
