//! Links of other media than RapidIO in the fabric.
//!
//! Such a link has no symbols and no records of credit. Its sender knows how many places the neighbour has
//! left on each channel ([`Channels`]), and a freed place comes back as an event, one propagation later. So
//! nothing here is on the way of packets of RapidIO: their transmitters never look.
//!
//! The receiving device tells every release ([`crate::link::port::Rx::eager_at`] is above all counts);
//! endpoints have no buffers of their own, so the place that a frame takes there is free as soon as it has
//! arrived. Where nobody waits for room (Ethernet) a frame that finds none is dropped.

use crate::agent::protocol::{Conveyance, Send};
use crate::config::{DeviceModel, EndpointConfig, Medium, PacketSize, ProtocolConfig};
use crate::event::{Cx, LinkStep, Payload, class};
use crate::ids::Node;
use crate::link::Links;
use crate::link::interleave::{BY_CHANNEL, ChannelReads, Interleave};
use crate::link::life::Made;
use crate::link::port::special;
use crate::link::symbol::Flight;
use crate::observe::probe::{Delivery, DropReason, Probe};
use crate::packet::{Frame, origin};
use crate::world::Fabric;
use logical::wire::Payload as _;
use sim_core::EventList;
use std::collections::{BTreeMap, BTreeSet};

/// Credits beyond any use: what blocks is [`Channels`].
const PLENTY: i16 = i16::MAX / 2;

/// What a sender knows of its neighbour's buffers.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    pub medium: Medium,
    /// Free places by priority; a medium of one channel has one number for all, the first.
    free: [u8; 4],
    /// Places that are free, of which the sender hears later.
    pub coming: u32,
    /// Channel of the packet that is being read for this output.
    pub reading: u8,
    /// Messages on the wire, where channels share it.
    pub interleave: Option<Box<Interleave>>,
}

impl Channels {
    fn new(medium: Medium, places: u8) -> Self {
        let interleave = (medium.channels() > 1).then(|| Box::new(Interleave::new()));
        Channels { medium, free: [places; 4], coming: 0, reading: 0, interleave }
    }

    pub fn of(&self, priority: u8) -> u8 {
        if self.medium.channels() == 4 { priority } else { 0 }
    }

    /// Priorities that have to wait, as bits.
    fn blocked(&self) -> u8 {
        if !self.medium.is_lossless() {
            return 0;
        }
        let empty = |channel: u8| self.free[usize::from(channel)] == 0;
        (0..4).filter(|&priority| empty(self.of(priority))).fold(0, |bits, priority| bits | 1 << priority)
    }
}

/// What gave a place free.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Freed {
    /// The read for this output is over.
    Read(u32),
    /// A packet of this priority moved on.
    Moved(u8),
}

/// Endpoints that are interfaces of one host.
#[derive(Debug, Default)]
pub(crate) struct Stripes {
    /// Host and number of each endpoint that is one; empty if no host has more than one.
    host: Vec<Option<(u32, u8)>>,
    /// Interfaces of a host.
    of: BTreeMap<u32, Vec<u32>>,
}

impl Stripes {
    /// These endpoints are interfaces of the first of them.
    fn join(&mut self, interfaces: Vec<u32>, endpoints: usize) {
        self.host.resize(endpoints, None);
        for (&e, number) in interfaces.iter().zip(0..) {
            self.host[e as usize] = Some((interfaces[0], number));
        }
        self.of.insert(interfaces[0], interfaces);
    }

    /// The endpoint whose agent an endpoint belongs to, and its number there.
    fn host(&self, e: usize) -> (usize, u8) {
        match self.host.get(e) {
            Some(&Some((host, number))) => (host as usize, number),
            _ => (e, 0),
        }
    }

    fn interface(&self, e: usize, number: u8) -> usize {
        self.of.get(&(e as u32)).map_or(e, |interfaces| interfaces[usize::from(number)] as usize)
    }

    /// Whether the agent of another endpoint listens to this one.
    pub fn is_joined(&self, e: usize) -> bool {
        matches!(self.host.get(e), Some(Some(_)))
    }
}

impl<P: Probe> Links<P> {
    pub(crate) fn channels_of(&mut self, port: u32) -> &mut Channels {
        self.cold[port as usize].channels.as_mut().expect("the link of the port is of another medium")
    }

    /// Posts the news that the receiver of `port` has a place more, for `at` at its neighbour.
    fn return_credit<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, at: u64, channel: u8) {
        let peer = self.ports[port as usize].rx.peer;
        self.channels_of(peer).coming += 1;
        self.post_credit(cx, port, at, channel);
    }

    /// The same, after it has been counted.
    pub(crate) fn post_credit<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        at: u64,
        channel: u8,
    ) {
        let rx = &self.ports[port as usize].rx;
        let (peer, device) = (rx.peer, rx.device);
        let key = self.key(device, at, class::SYMBOL);
        cx.post(key, peer, LinkStep::Credit { channel: channel.into() }.pack());
    }

    /// A packet finds no receive buffer: it is dropped, where senders do not wait for room.
    #[cold]
    pub(crate) fn overflows<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, packet: u32) {
        let rx = &mut self.ports[port as usize].rx;
        let lossy = self.cold[rx.peer as usize].channels.as_ref().is_some_and(|c| !c.medium.is_lossless());
        assert!(lossy, "a receive buffer overflows: transmitter-controlled flow control failed");
        rx.occupied -= 1;
        let flow = self.packets[packet].flow;
        self.drop_packet(cx, packet, port, flow, DropReason::NoRoom);
    }

    /// `--wire-check`: a frame is written again from what is read of it.
    pub(crate) fn check_frame(&mut self, port: u32, packet: u32) {
        let medium = self.channels_of(port).medium;
        let wire = self.packets[packet].wire;
        let frame = self.packets.frames.get(packet).expect("links of other media carry frames");
        let octets = frame.payload.as_bytes().expect("a frame has octets");
        assert_eq!(medium.wire_octets(octets.len() as u32), wire.into(), "wire check: length of a frame");
        let again = crate::agent::transfer::lower::again(medium, octets);
        assert_eq!(again.as_deref(), Some(octets), "wire check: frame");
        self.wire_checked.packet(octets);
    }
}

impl<P: Probe> Fabric<P> {
    /// Joins the interfaces of hosts.
    pub(crate) fn set_up_stripes(&mut self) {
        let config = self.links.config.clone();
        for part in config.agents.iter().flat_map(|agent| &agent.parts) {
            let ProtocolConfig::Transfer(end) = &part.protocol else { continue };
            if end.interfaces.len() > 1 {
                let endpoint = |&id: &u16| {
                    let device = config.owners[usize::from(id)];
                    self.links.nodes.endpoint_of(device) as u32
                };
                let interfaces = end.interfaces.iter().map(endpoint).collect();
                self.hosts.stripes.join(interfaces, self.endpoints.len());
            }
        }
    }

    /// Makes links what the configuration says.
    pub(crate) fn set_up_media(&mut self) {
        let config = self.links.config.clone();
        let mut shared = BTreeSet::new();
        for media in &config.media {
            let link = &config.links[media.link as usize];
            for (device, number) in [link.a, link.b] {
                let port = self.links.nodes.port((device, number));
                let rx = &mut self.links.ports[port as usize].rx;
                let (own, peer) = (rx.buffers, rx.peer);
                rx.special |= special::MEDIUM;
                if media.medium.channels() > 1 {
                    rx.special |= special::INTERLEAVED;
                    if let Node::Switch(s) = self.links.nodes.node(port) {
                        shared.insert(s);
                    }
                }
                rx.eager_at = u8::MAX;
                rx.buffers = own * media.medium.channels();
                rx.advertised = rx.buffers;
                self.links.cold[peer as usize].channels = Some(Box::new(Channels::new(media.medium, own)));
                self.links.ports[port as usize].tx.free = PLENTY;
                if !self.links.nodes.is_switch(port) {
                    self.links.deliver_by_events(port);
                }
            }
        }
        for s in shared {
            let switch = &mut self.switches[s];
            if switch.direct {
                switch.channel_reads = Some(Box::new(ChannelReads::new(switch.reads, switch.ports)));
                (switch.reads, switch.reading) = (BY_CHANNEL, u64::MAX);
            }
        }
    }

    /// A frame has been committed to the wire of `port`.
    pub(crate) fn started_on_medium<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        flight: &Flight,
    ) {
        let record = &self.links.packets[packet];
        let (priority, from) = (record.priority, record.origin);
        // Its credit is counted here, not there.
        let tx = &mut self.links.ports[port as usize].tx;
        (tx.free, tx.outstanding) = (PLENTY, 0);
        let channels = self.links.channels_of(port);
        let channel = channels.of(priority);
        channels.reading = channel;
        let interleaved = channels.interleave.is_some();
        if interleaved {
            self.message_began(cx, port, packet, flight);
        }
        let channels = self.links.channels_of(port);
        if channels.medium.is_lossless() {
            channels.free[usize::from(channel)] -= 1;
            let blocked = channels.blocked();
            let tx = &mut self.links.ports[port as usize].tx;
            tx.clock.set_blocked(cx.now().0, blocked);
            let timing = self.links.timings[tx.timing as usize];
            if timing.to_sink {
                let at = flight.arrival.time().0 + timing.propagation;
                let peer = tx.peer;
                self.links.channels_of(port).coming += 1;
                if !interleaved {
                    self.links.post_credit(cx, peer, at, channel);
                }
            }
        }
        if from == origin::FRAME && !self.links.nodes.is_switch(port) {
            let token =
                self.links.packets.frames.get(packet).expect("a frame has octets").payload.label.token;
            let (host, _) = self.hosts.stripes.host(self.links.nodes.endpoint(port));
            self.hosts.agents[host].as_mut().expect("only agents send frames").frame_started(token);
        }
    }

    /// A receive buffer of `port` is free.
    pub(crate) fn released_on_medium<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        freed: Freed,
    ) {
        let peer = self.links.ports[port as usize].rx.peer;
        if let Freed::Read(output) = freed {
            let channel = self.links.channels_of(output).reading;
            self.channel_read_ended(output, port, channel);
        }
        let sender = self.links.channels_of(peer);
        if !sender.medium.is_lossless() {
            return;
        }
        let channel = match freed {
            Freed::Moved(priority) => sender.of(priority),
            Freed::Read(output) => self.links.channels_of(output).reading,
        };
        let timing = &self.links.timings[self.links.ports[port as usize].rx.timing as usize];
        let at = cx.now().0 + timing.propagation;
        self.links.return_credit(cx, port, at, channel);
    }

    /// The sender of `port` hears of a free place.
    pub(crate) fn credit_returned<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        channel: u32,
    ) {
        let now = cx.now().0;
        let node = self.links.nodes.node(port);
        if let Node::Endpoint(e) = node {
            self.materialise(cx, e, now);
        }
        let channels = self.links.channels_of(port);
        channels.coming -= 1;
        channels.free[channel as usize] += 1;
        let blocked = channels.blocked();
        let tx = &mut self.links.ports[port as usize].tx;
        tx.clock.set_blocked(now, blocked);
        if std::mem::take(&mut tx.credit_waiting) {
            match node {
                Node::Switch(_) => self.try_output(cx, port),
                Node::Endpoint(e) => self.endpoint_turn(cx, e),
            }
        }
        // Or somebody waits while a message of another channel is on the wire.
        self.switch_looks(cx, port);
        self.links.may_pass(cx, port);
    }

    /// One frame of an agent joins the injection queue of an interface, whose number comes back.
    pub(crate) fn inject_frame<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        host: usize,
        send: Send,
    ) -> u8 {
        let Send { to, priority, payload, conveyance } = send;
        let Conveyance::Frame { interface } = conveyance else { unreachable!("it is a frame") };
        let e = self.hosts.stripes.interface(host, interface);
        let medium = self.links.channels_of(self.endpoints[e].port).medium;
        let octets = payload.octets() as u32;
        let wire = medium.wire_octets(octets);
        let device = self.endpoints[e].device as usize;
        let DeviceModel::Endpoint(EndpointConfig { ids, .. }) = &self.links.config.devices[device].model
        else {
            unreachable!("only endpoints make frames")
        };
        let source = ids[0];
        let agent = self.hosts.agents[host].as_mut().expect("only agents make frames");
        let sequence = agent.packets;
        agent.packets += 1;
        let flow = payload.label.flow;
        agent.count_packet(flow, false, wire.into());
        let size = PacketSize { payload: octets as u16, wire: wire as u16 };
        let made = Made { destination: to, flow, priority, size, sequence, origin: origin::FRAME };
        let now = cx.now().0;
        let packet = self.admit_packet(e, now, made);
        self.queue_packet(cx, e, packet, now);
        self.links.packets.frames.put(packet, Frame { source, payload });
        self.links.may_pass(cx, self.endpoints[e].port);
        interface
    }

    /// Frames have joined the queues of further interfaces of a host, one bit for each: they may start.
    pub(crate) fn interfaces_turn<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        host: usize,
        mut interfaces: u64,
    ) {
        while interfaces != 0 {
            let e = self.hosts.stripes.interface(host, interfaces.trailing_zeros() as u8);
            interfaces &= interfaces - 1;
            self.endpoint_turn(cx, e);
        }
    }

    /// A frame of this endpoint has started to leave: its protocol may have more.
    pub(crate) fn frame_left<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, e: usize) {
        let now = cx.now().0;
        let (host, _) = self.hosts.stripes.host(e);
        self.lend(host).make_stream(now);
        // This transmitter is busy from now on; who called arranges what comes after.
        self.carry_out(cx, host, host != e);
    }

    /// A frame has reached the endpoint behind `port`.
    pub(crate) fn deliver_frame<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        delivery: &Delivery,
    ) {
        let frame =
            self.links.packets.frames.take(packet).expect("a packet of an agent has a body or is a frame");
        let (host, interface) = self.hosts.stripes.host(self.links.nodes.endpoint(port));
        if !matches!(self.hosts.agents.get(host), Some(Some(_))) {
            return;
        }
        let Frame { source, payload } = *frame;
        self.lend(host).deliver_frame(source, delivery, payload, interface);
        self.carry_out(cx, host, true);
    }
}
