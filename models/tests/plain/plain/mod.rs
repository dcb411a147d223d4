//! The fabric of docs/fabric.md, step by step. One heap of events, one event for every step; a device looks
//! at all that waits in it before anything changes there. Written to be read beside that page.

mod channels;
mod endpoint;
mod retry;
mod switch;
mod traffic;
mod voq;
mod wire;

use crate::record::{self, Record};
use channels::{Turns, Vcs};
use endpoint::Endpoint;
use models::config::*;
use models::lp_serial::link::FlowControl;
use models::probe::{Cause, DropReason, PacketId, Parts};
use models::stats::{LinkStats, PortStats};
use retry::Retry;
use sim_core::{ActorId, Class, EventKey, KeySource, Shake, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use switch::Switch;
use voq::{Originator, Stage, Staging};
use wire::{Function, Wire};

/// F-4.
mod class {
    use sim_core::Class;
    pub const ARRIVAL: Class = Class::new(0);
    pub const SYMBOL: Class = Class::new(1);
    pub const DONE: Class = Class::new(2);
    pub const TRAFFIC: Class = Class::new(3);
    pub const TICK: Class = Class::new(4);
    pub const POLL: Class = Class::new(11);
    /// A message leaves that a status carries, F-156: behind all else of its symbol.
    pub const CARRIED: Class = Class::new(12);
}

/// A packet, or a copy of one, where it is now.
#[derive(Clone)]
struct Packet {
    id: PacketId,
    destination: u32,
    flow: u16,
    priority: usize,
    payload: u16,
    wire: u16,
    created: u64,
    link_ps: u64,
    parts: Parts,
    /// Ports of the present device, where it is one of a switch.
    input: usize,
    output: usize,
    /// Staging queue at its output.
    stage: Stage,
    /// F-53.
    arrival_number: u64,
    place_number: u64,
    /// It stands in a lane, not in an input queue.
    in_lane: bool,
    /// Up to when its waiting is accounted for.
    looked: u64,
    /// The receive buffer that it occupies.
    buffer: usize,
    /// Start of its last transmission on the present link, and its parts up to there, F-103; whether it has
    /// begun at all.
    sent: Option<(u64, Parts)>,
    begun: bool,
}

/// A name for a packet: its place in the list of all.
type Name = usize;

/// A receive buffer in use, and how many copies still need it.
struct Buffer {
    copies: usize,
    /// The channel that it belongs to, 0 for VC0.
    channel: usize,
}

/// What a status says, F-41.
struct Status {
    /// 0 for VC0.
    channel: usize,
    accepted: i64,
    buffers: i64,
}

/// One end of a link.
struct Port {
    peer: (usize, usize),
    propagation: u64,
    character: (u64, u64),
    /// The direction that leaves here.
    wire: Wire,
    /// Sender, F-42.
    free: i64,
    in_vc0: i64,
    outstanding: i64,
    window: i64,
    watermarks: [i64; 4],
    /// From a commitment to DONE.
    sending: Option<Sending>,
    waits_for_credit: bool,
    /// Receiver, F-40.
    buffers: i64,
    occupied: i64,
    unaccepted: i64,
    advertised: i64,
    eager_at: i64,
    /// The last status, and when its symbol begins.
    last_status: Option<(usize, u64)>,
    /// F-57.
    reads: usize,
    /// F-101, where the receiver looks after its buffers.
    retry: Option<Retry>,
    /// F-104.
    channels: Option<Vcs>,
    /// F-14.
    staging: Option<Staging>,
    /// F-70: the registers, and who sends if they permit it.
    registers: PortVoq,
    originator: Option<Originator>,
    /// F-112; symbol times are those of the wire.
    stats: PortStats,
    link: LinkStats,
    /// Since when each queue of a channel, or set, is stopped.
    stopped_since: BTreeMap<(usize, usize), u64>,
}

/// What a transmitter is busy with.
#[derive(Clone, Copy)]
pub struct Sending {
    /// Number of the transmission that ends last.
    number: usize,
    /// Input that is read, its buffer, and the transmission that reads it.
    read: Option<(usize, usize, usize)>,
    /// When it will be done.
    end: u64,
}

impl Port {
    /// F-42, F-101.
    fn has_credit(&self, priority: usize) -> bool {
        match (&self.retry, &self.channels) {
            (Some(retry), _) => retry.may_send(self.kind(priority), self.window),
            (_, Some(_)) if priority >= PRIORITIES => self.channel_has_credit(self.channel(priority)),
            _ => self.outstanding < self.window && self.free >= self.watermarks[priority],
        }
    }

    /// F-42, F-90: as many packets are unaccepted as may be.
    fn lacks_ack_id(&self) -> bool {
        match &self.retry {
            Some(retry) => retry.lacks_ack_id(self.window),
            None => self.outstanding >= self.window,
        }
    }

    /// F-83, F-152: a message holds the packet.
    fn holds(&self, packet: &Packet) -> bool {
        let channel = self.channel(packet.priority);
        self.staging.as_ref().is_some_and(|staging| staging.is_stopped(channel, packet.stage))
    }

    fn is_idle(&self) -> bool {
        self.sending.is_none()
    }
}

enum Model {
    Endpoint(Box<Endpoint>),
    Switch(Box<Switch>),
}

struct Device {
    keys: KeySource,
    ports: Vec<Port>,
    model: Model,
}

/// What happens.
#[derive(Clone, Copy)]
enum Event {
    /// The first octets of a packet that is cut through, or all of it, have passed the pipeline.
    Arrival {
        packet: Name,
        behind: u64,
        /// Number of the transmission.
        number: usize,
    },
    /// The last octet of a packet that cuts through has passed the pipeline, F-61.
    Acceptance,
    Status {
        status: usize,
    },
    /// A message has waited for `generation_delay`, F-74; or for the start of the run, F-70.
    MessageDue,
    MessageLeaves,
    LinkedLeaves {
        channel: usize,
    },
    MessageArrives {
        channel: usize,
        group: usize,
        bits: u8,
    },
    /// F-81.
    RefreshAll,
    /// F-70a: the n-th write.
    Write {
        n: usize,
    },
    Done {
        number: usize,
    },
    /// packet-retry arrives at the sender, or packet-not-accepted; restart-from-retry has passed the pipeline
    /// of the receiver, or link-request, F-101, F-142.
    Retry,
    Restart,
    /// link-response arrives at the sender, F-145.
    Response {
        accepted: u64,
    },
    /// A symbol or a packet begins, F-124; restart-from-retry has left, F-125.
    Begin,
    Resume,
    /// The match of an instant in which something became free.
    Match,
    Creation,
    Tick,
}

struct Entry {
    key: EventKey,
    device: usize,
    port: usize,
    event: Event,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// The whole fabric.
pub struct World<'a> {
    config: &'a FabricConfig,
    /// The event that is handled: its time, and its key.
    now: u64,
    key: EventKey,
    heap: BinaryHeap<Reverse<Entry>>,
    devices: Vec<Device>,
    packets: Vec<Packet>,
    buffers: Vec<Buffer>,
    statuses: Vec<Status>,
    /// Transmissions so far, and those that were cut or taken back.
    transmissions: usize,
    void: BTreeSet<usize>,
    records: Vec<Record>,
}

/// What happens up to `until`, sorted.
pub fn run(config: &FabricConfig, until: u64) -> Vec<Record> {
    let mut world = World::new(config);
    world.begin();
    while world.heap.peek().is_some_and(|next| next.0.key.time().0 <= until) {
        let Reverse(entry) = world.heap.pop().expect("just seen");
        assert!(entry.key >= world.key, "time goes on");
        (world.now, world.key) = (entry.key.time().0, entry.key);
        world.look(entry.device);
        world.handle(entry.device, entry.port, entry.event);
    }
    world.totals(until);
    let mut records = world.records;
    records.retain(|record| record.at() <= until);
    records.sort();
    records
}

impl<'a> World<'a> {
    fn new(config: &'a FabricConfig) -> World<'a> {
        let mut peers = BTreeMap::new();
        for (n, link) in config.links.iter().enumerate() {
            let symbolic = config.symbolic.iter().find(|symbolic| symbolic.link as usize == n);
            peers.insert(link.a, (link.b, link, symbolic));
            peers.insert(link.b, (link.a, link, symbolic));
        }
        let mut devices = Vec::new();
        for (d, device) in config.devices.iter().enumerate() {
            let mut ports = Vec::new();
            for (p, own) in device.ports.iter().enumerate() {
                let ((peer, back), link, symbolic) = peers[&(d as u32, p as u8)];
                let channels = symbolic.and_then(|link| Some(Vcs::new(link.channels.as_deref()?, link.flow)));
                let carries = (link.long_symbols, channels.as_ref().map_or(0, Vcs::count));
                let receiver = symbolic.is_some_and(|link| link.flow == FlowControl::Receiver);
                let theirs = &config.devices[peer as usize].ports[back as usize];
                let [w0, w1, w2] = theirs.watermarks.map(i64::from);
                ports.push(Port {
                    peer: (peer as usize, back as usize),
                    propagation: link.propagation.0,
                    character: link.char_ps,
                    wire: Wire::new(link),
                    free: theirs.buffers.into(),
                    in_vc0: 0,
                    outstanding: 0,
                    window: link.ack_window.into(),
                    watermarks: [w0, w1, w2, 1],
                    sending: None,
                    waits_for_credit: false,
                    buffers: own.buffers.into(),
                    occupied: 0,
                    unaccepted: 0,
                    advertised: own.buffers.into(),
                    eager_at: eager_at(config, d, p),
                    last_status: None,
                    reads: 0,
                    retry: receiver.then(|| {
                        let vcs = symbolic.and_then(|link| link.channels.as_deref());
                        Retry::new(own.watermarks, vcs.map(Turns::new))
                    }),
                    channels,
                    staging: Staging::new(config, d, p, carries, (peer as usize, back as usize)),
                    registers: own.voq,
                    originator: Originator::new(config, d, p, carries),
                    stats: PortStats::default(),
                    link: LinkStats::default(),
                    stopped_since: BTreeMap::new(),
                });
            }
            let model = match &device.model {
                DeviceModel::Endpoint(_) => {
                    Model::Endpoint(Box::new(Endpoint::new(config, d, ports[0].staging.as_ref())))
                }
                DeviceModel::Switch(s) => {
                    let linked = ports.iter().find(|port| port.registers.link_en);
                    let told_apart = linked.and_then(|port| port.channels.as_ref()).map_or(0, Vcs::count);
                    Model::Switch(Box::new(Switch::new(
                        config.seed,
                        &device.path,
                        s,
                        (ports.len(), told_apart),
                    )))
                }
            };
            let keys = KeySource::new(ActorId::new(d as u32), Shake::new(config.shake));
            devices.push(Device { keys, ports, model });
        }
        World {
            config,
            now: 0,
            key: EventKey::MIN,
            heap: BinaryHeap::new(),
            devices,
            packets: Vec::new(),
            buffers: Vec::new(),
            statuses: Vec::new(),
            transmissions: 0,
            void: BTreeSet::new(),
            records: Vec::new(),
        }
    }

    fn pipeline(&self, d: usize) -> u64 {
        match &self.config.devices[d].model {
            DeviceModel::Switch(switch) => switch.pipeline.0,
            DeviceModel::Endpoint(_) => 0,
        }
    }

    /// What is there at 0.
    fn begin(&mut self) {
        self.plan_writes();
        for d in 0..self.devices.len() {
            self.mark_initial(d);
            match &self.devices[d].model {
                Model::Endpoint(_) => self.plan_creation(d),
                Model::Switch(s) => {
                    if s.config.slot.is_some() {
                        self.post(d, 0, 0, class::TICK, Event::Tick);
                    }
                }
            }
        }
    }

    fn plan_writes(&mut self) {
        for (n, write) in self.config.voq_writes.iter().enumerate() {
            let (d, p) = (write.device as usize, write.port as usize);
            self.post(d, p, write.at.0, class::TRAFFIC, Event::Write { n });
        }
    }

    fn port(&mut self, d: usize, p: usize) -> &mut Port {
        &mut self.devices[d].ports[p]
    }

    fn is_switch(&self, d: usize) -> bool {
        matches!(self.devices[d].model, Model::Switch(_))
    }

    /// Makes the key of an event of this device itself, F-4.
    fn post(&mut self, d: usize, p: usize, at: u64, class: Class, event: Event) {
        self.post_to(d, (d, p), at, class, event);
    }

    /// Makes the key of an event that device `maker` causes elsewhere.
    fn post_to(&mut self, maker: usize, (device, port): (usize, usize), at: u64, class: Class, event: Event) {
        let key = self.devices[maker].keys.make(Time(at), class);
        self.heap.push(Reverse(Entry { key, device, port, event }));
    }

    fn handle(&mut self, d: usize, p: usize, event: Event) {
        match event {
            Event::Arrival { number, .. } if self.void.contains(&number) => {}
            Event::Arrival { packet, behind, .. } => {
                if self.refuses(d, p, packet) {
                } else if self.loses(d, p, packet) {
                    self.drop_packet(d, packet, DropReason::NoRoom);
                    self.accept(d, p);
                } else if self.is_switch(d) {
                    self.arrive(d, p, packet, behind);
                } else {
                    self.deliver(d, packet);
                }
            }
            Event::Acceptance => {
                self.port(d, p).unaccepted -= 1;
                // With retry the links have each symbol as an event, whose key is made for it.
                let own = self.port(d, p).retry.is_none().then_some(self.key);
                self.tell_by(d, p, 0, 1, own);
            }
            Event::Status { status } => self.credit(d, p, status),
            Event::MessageDue => self.message_due(d, p),
            Event::MessageLeaves if self.has_lost_its_place(d, p) => self.message_due(d, p),
            Event::MessageLeaves => self.message_leaves(d, p, 0),
            Event::LinkedLeaves { channel } => self.message_leaves(d, p, channel),
            Event::MessageArrives { channel, group, bits } => self.apply(d, p, channel, group, bits),
            Event::RefreshAll => self.refresh_all(d, p),
            Event::Write { n } => self.write(n),
            Event::Done { number } => self.done(d, p, number),
            Event::Retry => self.retried(d, p),
            Event::Restart => self.restarted(d, p),
            Event::Response { accepted } => self.responded(d, p, accepted),
            Event::Begin => self.begin_on_wire(d, p),
            Event::Resume => self.resume(d, p),
            Event::Match => self.matching_time(d),
            Event::Creation => self.creation(d),
            Event::Tick => self.tick(d),
        }
    }

    // Where time goes.

    /// F-90: everything that waits in a device gets the time since the last look, for the state that has
    /// held since then.
    fn look(&mut self, d: usize) {
        let waiting = match &self.devices[d].model {
            Model::Endpoint(e) => e.waiting(),
            Model::Switch(s) => s.waiting(),
        };
        for name in waiting {
            let packet = &self.packets[name];
            let (cause, passed) = (self.cause(d, packet), self.now - packet.looked);
            // F-112.
            let (input, output) = (packet.input, packet.output);
            match cause {
                Cause::HeadOfLine => self.port(d, input).stats.hol_ps += u128::from(passed),
                Cause::Staged => self.port(d, output).stats.staged_ps += u128::from(passed),
                _ => {}
            }
            let packet = &mut self.packets[name];
            packet.parts[cause] += passed;
            packet.looked = self.now;
        }
    }

    fn cause(&self, d: usize, packet: &Packet) -> Cause {
        let switch = self.is_switch(d);
        let port = &self.devices[d].ports[packet.output];
        if port.retry.as_ref().is_some_and(Retry::is_recovering) {
            return Cause::Recovery;
        }
        if let Some(staging) = &port.staging
            && port.holds(packet)
        {
            let own = staging.own_is_congested(port.channel(packet.priority), packet.stage);
            return if own { Cause::Staged } else { Cause::HeadOfLine };
        }
        if port.lacks_ack_id() {
            Cause::NoAckId
        } else if !port.has_credit(packet.priority) {
            Cause::NoBuffer
        } else if !switch {
            Cause::SourceQueue
        } else if !port.is_idle() {
            Cause::OutputContention
        } else if packet.in_lane {
            Cause::InputContention
        } else {
            Cause::HeadOfLine
        }
    }

    // Credit.

    /// F-41: the packet that came in is taken in.
    fn accept(&mut self, d: usize, p: usize) {
        match &mut self.port(d, p).channels {
            None => self.tell_of(d, p, 0, 1),
            Some(channels) => {
                if let Some(channel) = channels.taking_in.take() {
                    self.tell_of(d, p, channel, 1);
                }
            }
        }
    }

    /// F-41: a status of a channel becomes due at a port and acknowledges so many packets.
    fn tell_of(&mut self, d: usize, p: usize, channel: usize, accepted: i64) {
        self.tell_by(d, p, channel, accepted, None);
    }

    /// Likewise; `cause`: of an acceptance with a key of its own, whose maker and number the status keeps
    /// (F-4).
    fn tell_by(&mut self, d: usize, p: usize, channel: usize, accepted: i64, cause: Option<EventKey>) {
        let now = self.now;
        let port = self.port(d, p);
        if let Some(retry) = &mut port.retry {
            retry.took(accepted);
        }
        let buffers = port.advertise(channel);
        let wire::Due { begins, rides } = port.wire.due(Function::Status, now);
        *(if rides { &mut port.stats.status_riding } else { &mut port.stats.status_standalone }) += 1;
        let peer = port.peer;
        let arrives = begins + port.wire.symbol() + port.propagation;
        let status = self.statuses.len();
        *self.port(d, p).last_told(channel).1 = Some((status, begins));
        self.statuses.push(Status { channel, accepted, buffers });
        let event = Event::Status { status };
        match cause {
            None => self.post_to(d, peer, arrives, class::SYMBOL, event),
            Some(cause) => {
                let (key, (device, port)) = (cause.followed(Time(arrives), class::SYMBOL), peer);
                self.heap.push(Reverse(Entry { key, device, port, event }));
            }
        }
        self.ask_wire(d, p);
    }

    /// F-44: a copy does not need its receive buffer any more. `told`: F-45.
    fn release(&mut self, d: usize, p: usize, buffer: usize, told: bool) {
        self.buffers[buffer].copies -= 1;
        if self.buffers[buffer].copies > 0 {
            return;
        }
        let (now, channel) = (self.now, self.buffers[buffer].channel);
        let port = self.port(d, p);
        *port.occupied(channel) -= 1;
        let blind = port.retry.is_some();
        let eager_at = port.eager_at;
        let (advertised, last) = port.last_told(channel);
        if !told || *advertised > eager_at || blind {
            return;
        }
        match *last {
            Some((status, begins)) if begins >= now => {
                *advertised += 1;
                let says = *advertised;
                self.statuses[status].buffers = says;
            }
            _ => self.tell_of(d, p, channel, 0),
        }
    }

    /// F-42, F-43, F-46: a status arrives at the sender that it is for.
    fn credit(&mut self, d: usize, p: usize, status: usize) {
        let Status { channel, accepted, buffers } = self.statuses[status];
        let waited = self.port(d, p).waits_for_credit;
        if waited && !self.is_switch(d) {
            self.create_all(d);
        }
        let port = self.port(d, p);
        if let Some(retry) = &mut port.retry {
            retry.accepted(accepted);
        }
        port.learn(channel, accepted, buffers);
        port.waits_for_credit = false;
        if waited {
            if self.is_switch(d) {
                self.try_output(d, p);
            } else {
                self.turn(d);
            }
        }
    }

    // Packets.

    /// F-50: a transmitter commits a packet.
    fn commit(&mut self, d: usize, o: usize, name: Name, chosen: bool) {
        let now = self.now;
        let (wire_octets, priority) = (u64::from(self.packets[name].wire), self.packets[name].priority);
        let port = self.port(d, o);
        assert!(port.is_idle());
        port.waits_for_credit = false;
        let channel = port.channel(priority);
        port.charge(channel);
        port.schedule(channel, wire_octets, chosen);
        self.charge_refresh(d, o);
        let port = self.port(d, o);
        let (start, length) = port.wire.commit(now, wire_octets);
        port.stats.packets_sent += 1;
        port.stats.packet_ps += length;
        let (peer, propagation) = (port.peer, port.propagation);
        // x of F-50, and what comes behind it.
        let (mut x, mut pipeline) = (length, 0);
        if let DeviceModel::Switch(next) = &self.config.devices[peer.0].model {
            pipeline = next.pipeline.0;
            if let Forwarding::CutThrough { header } = next.forwarding {
                x = self.port(d, o).wire.header(header.into()).min(length);
            }
        }
        let switch = self.is_switch(d);
        let packet = &mut self.packets[name];
        assert_eq!(packet.looked, now);
        // F-92.
        let waits = if switch { Cause::OutputContention } else { Cause::SourceQueue };
        packet.parts[waits] += start - now;
        if !switch {
            // F-94: all that passes before the first bit leaves.
            packet.parts.source = start - packet.created;
        }
        (packet.sent, packet.begun) = (Some((start, packet.parts)), false);
        packet.parts[Cause::Serialization] += x;
        packet.parts[Cause::Propagation] += propagation;
        packet.parts[Cause::Pipeline] += pipeline;
        let (id, parts) = (packet.id, packet.parts);
        self.transmissions += 1;
        let number = self.transmissions;
        let read = switch.then_some((packet.input, packet.buffer, number));
        let port = self.port(d, o);
        port.sending = Some(Sending { number, read, end: start + length });
        port.link.packets += 1;
        let until = start + x + propagation + pipeline;
        self.records.push(Record::Started { at: start, device: d as u32, port: o as u8, id, until, parts });
        let arrival = Event::Arrival { packet: name, behind: length - x, number };
        self.post_to(d, peer, until, class::ARRIVAL, arrival);
        self.post(d, o, start + length, class::DONE, Event::Done { number });
        if self.port(d, o).retry.is_some() {
            self.committed(d, o, name, number, (start, start + length));
        }
        self.refresh_channels(d, o);
        self.charge_linked_refresh(d, o);
    }

    /// F-112.
    fn totals(&mut self, until: u64) {
        self.now = until;
        for d in 0..self.devices.len() {
            self.look(d);
            for p in 0..self.devices[d].ports.len() {
                let port = self.port(d, p);
                let mut stats = port.stats;
                stats.packet_ps -= port.wire.beyond(until);
                let placed = port.wire.places_alone * port.wire.symbol();
                stats.symbol_ps = placed.saturating_sub(port.wire.places_beyond(until));
                let record = Record::totals(until, d as u32, p as u8, &stats);
                self.records.push(record);
                if let Some(stats) = self.link_totals(d, p) {
                    self.records.push(Record::link(until, d as u32, p as u8, &stats));
                }
            }
        }
    }

    /// DONE of F-13 and F-60.
    fn done(&mut self, d: usize, o: usize, number: usize) {
        if !self.is_switch(d) {
            self.create_all(d);
        }
        let sending = self.port(d, o).sending.as_mut().expect("it was sending");
        let read = sending.read.take_if(|read| read.2 == number);
        if sending.number == number {
            self.port(d, o).sending = None;
        }
        if self.is_switch(d) {
            self.switch_done(d, o, read);
        } else {
            self.turn(d);
        }
    }

    /// The last bit is at an endpoint.
    fn deliver(&mut self, d: usize, name: Name) {
        let packet = &self.packets[name];
        assert_eq!(packet.created + packet.parts.total(), self.now, "F-93");
        assert_eq!(
            self.config.owners[packet.destination as usize].min(d as u32),
            d as u32,
            "it is for this device"
        );
        self.records.push(Record::Delivered {
            at: self.now,
            created: packet.created,
            flow: packet.flow,
            priority: packet.priority as u8,
            source: packet.id.source,
            destination: d as u32,
            sequence: packet.id.sequence.into(),
            payload: packet.payload.into(),
            link_ps: packet.link_ps,
            parts: packet.parts,
        });
        self.accept(d, 0);
    }

    fn drop_packet(&mut self, d: usize, name: Name, reason: DropReason) {
        let (at, flow) = (self.now, self.packets[name].flow);
        self.records.push(Record::Dropped { at, flow, device: d as u32, reason: record::reason(reason) });
    }
}

/// F-47: up to what advertised count a release is told at once.
fn eager_at(config: &FabricConfig, d: usize, p: usize) -> i64 {
    let at = (d as u32, p as u8);
    let Some(link) = config.links.iter().find(|link| link.a == at || link.b == at) else { return 0 };
    let lengths = || {
        config.sources.iter().flat_map(|source| match (&source.sizes, &source.arrivals) {
            (Sizes::Fixed(size), _) => vec![size.wire],
            (Sizes::Mix(mix), _) => mix.iter().map(|(_, size)| size.wire).collect(),
            (Sizes::Replay, Arrivals::Replay(list)) => list.iter().map(|packet| packet.size.wire).collect(),
            (Sizes::Replay, _) => vec![],
        })
    };
    let (shortest, longest) = (lengths().min().unwrap_or(8), lengths().max().unwrap_or(276));
    let ((n, den), c) = (link.char_ps, u64::from(link.symbol_chars));
    let time = |octets: u16| Wire::new(link).alone(octets.into());
    let (least, most) = (time(shortest).max(1), time(longest) + 1);
    let pipeline = match &config.devices[d].model {
        DeviceModel::Switch(switch) => switch.pipeline.0,
        DeviceModel::Endpoint(_) => 0,
    };
    let symbols = (most.div_ceil(least) + 1) * (c * n).div_ceil(den);
    let round = 2 * link.propagation.0 + pipeline + most + symbols + u64::from(link.lanes) * n / den;
    let under_way = round.div_ceil(least).min(link.ack_window.into()) as i64;
    let port = &config.devices[d].ports[p];
    (i64::from(port.watermarks[0]) - 1 + under_way).min(255).min(port.buffers.into())
}

/// F-86: the first packet of a lane whose staging queue is not stopped.
fn may_leave(lane: &VecDeque<Name>, packets: &[Packet], port: &Port) -> Option<usize> {
    lane.iter().position(|&name| !port.holds(&packets[name]))
}
