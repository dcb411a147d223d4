//! A host that finds out what it is connected to, and makes it work: enumeration (Part 3 §3.5, Part 7 §2.3).
//!
//! Everything happens by reads and writes of registers, one at a time. The owner carries each
//! [`Request`] to the device that it names and brings back what came of it; repetitions and timeouts are the
//! business of the [`Requester`](crate::engine::io::requester::Requester) that it uses.
//!
//! 1. [`Phase::Explore`]: breadth first, so that each device is found on a shortest path. Before anything is
//!    known about a device it is addressed by the ID that endpoints have after reset (0xFF or 0xFFFF, here
//!    *any*) and the number of switches on the way as its hop count; the switches on the way get a route for
//!    that ID. A device is locked, gets a component tag, and tells its abilities; a switch gets its route
//!    back to the host, an endpoint its device ID. A device that already has our lock was found on another
//!    way: its tag says which one it is, and a switch says through which port it was asked.
//! 2. [`Phase::Routes`]: shortest paths for all device IDs into every switch ([`shortest_routes`]).
//! 3. [`Phase::Enables`]: a per-port enable block, if the owner asks for one ([`Enables`]).
//! 4. [`Phase::Unlock`]: the locks are given back.
//! 5. [`Phase::Start`]: Discovered everywhere, Master Enable at the endpoints: now they may send.
//!
//! A repeated write of the same value to the lock frees it, and nobody knows how often a write that was
//! answered late was carried out. So a lock counts only when it was read back.
//!
//! The whole state is one value without a clock: what happens depends on the answers alone.

mod topology;

pub use topology::{End, Found, Kind, shortest_routes};

use crate::register::discovery::Discovery;
use crate::register::{feature, file, offset, serial};
use crate::wire::maintenance::{Access, HOP_COUNT_MAX};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// How often a lock that reads "free" after it was written is written again.
const LOCK_ATTEMPTS: u8 = 4;
/// Entries of the route table in one extended write.
const EXTENDED: usize = 4;

/// A block with one register for each port in which a host sets enables, for example the one of Part 12.
/// Masks of the register of a port.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Enables {
    /// Extended features ID.
    pub block: u16,
    /// Block offset of the register of port 0; the others follow.
    pub first: u32,
    /// The port can send.
    pub can_send: u32,
    /// The port can receive.
    pub can_receive: u32,
    /// Written to switch ports that can send, if their neighbour can receive.
    pub send: u32,
    /// Written to all ports of switches.
    pub always: u32,
    /// The port can link what it sends, or what it receives, with virtual channels.
    pub can_link: u32,
    /// Written to both ports of a link that can, of endpoints too, before anything is sent: who sends and who
    /// receives have to agree. 0: nothing is linked.
    pub link: u32,
}

/// What a host does.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// Its own device ID.
    pub host: u16,
    /// Device IDs have 16 bits.
    pub large: bool,
    /// Uses all equally short ways.
    pub spread: bool,
    /// Sets these enables.
    pub enables: Option<Enables>,
    /// What its own port can do, in the terms of [`Enables`].
    pub own_ability: u32,
    /// Offset of its own block of enables.
    pub own_enables: Option<u16>,
}

impl Options {
    /// The ID that endpoints have after reset. Nobody gets it.
    #[must_use]
    pub const fn any_id(&self) -> u16 {
        if self.large { 0xFFFF } else { 0xFF }
    }
}

/// Whose register is meant.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Target {
    /// The host's own.
    Own,
    /// That of a device in the fabric.
    Remote {
        /// Destination ID of the packet.
        destination: u16,
        /// Its hop count.
        hop_count: u8,
    },
}

/// One register to be read or written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Request {
    /// Whose.
    pub target: Target,
    /// Which.
    pub access: Access,
    /// What is written; `None` = it is read.
    pub write: Option<u32>,
}

/// What the host is at.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Phase {
    /// Finding devices.
    Explore,
    /// Writing route tables.
    Routes,
    /// Setting enables.
    Enables,
    /// Giving locks back.
    Unlock,
    /// Letting endpoints send.
    Start,
    /// Nothing is left to be done.
    Done,
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Self; 6] =
        [Self::Explore, Self::Routes, Self::Enables, Self::Unlock, Self::Start, Self::Done];

    /// What people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Routes => "routes",
            Self::Enables => "enables",
            Self::Unlock => "unlock",
            Self::Start => "start",
            Self::Done => "done",
        }
    }
}

/// What the owner may want to know.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Event {
    /// A phase began.
    Entered(Phase),
    /// A device was found: its number.
    Discovered(usize),
    /// A link between two known devices was found.
    Linked(End, End),
    /// Another host holds the lock of the device behind an end: it is left alone.
    Foreign {
        /// From where it was found.
        via: End,
        /// Device ID of the other host; 0xFFFF if nobody's lock would stay.
        holder: u16,
    },
    /// The device behind an end does not answer.
    Unreachable {
        /// Where it should be.
        via: End,
    },
    /// A found device stopped answering, and was left as it was.
    Lost {
        /// Its number.
        device: usize,
    },
    /// There are more endpoints than device IDs: this one has none.
    NoId {
        /// Its number.
        device: usize,
    },
}

/// What the answer to a request means.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Then {
    Nothing,
    Lock,
    CheckLock(u8),
    KnownTag,
    KnownPort(usize),
    Walk,
    Identity,
    PortInformation,
    RouteLimit,
    PortStatus(u8),
    Ability(u8),
    Unlocked(u8),
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Step {
    request: Request,
    then: Then,
}

/// What is known of a device before it is a [`Found`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Candidate {
    walk: Discovery,
    identity: u32,
    features: u32,
    ports: u8,
    entry: u8,
}

/// The exploring host.
///
/// [`poll_transmit`](Self::poll_transmit) gives one request at a time; [`handle_done`](Self::handle_done) or
/// [`handle_failure`](Self::handle_failure) ends it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Enumerator {
    options: Options,
    phase: Phase,
    /// Enables: ports that link with virtual channels are still to be told so.
    links_first: bool,
    devices: Vec<Found>,
    /// Where each device sends packets for *any*, and the largest ID of its route table.
    any: Vec<(Option<u8>, u16)>,
    next_id: u16,
    steps: VecDeque<Step>,
    under_way: Option<Step>,
    /// Explore: the next end to look behind. Later phases: the next device in `.0`.
    cursor: End,
    /// The device that the steps are about: behind an end, or found.
    probing: Option<End>,
    current: usize,
    candidate: Option<Candidate>,
    routes: Vec<Vec<Option<u8>>>,
    events: VecDeque<Event>,
}

impl Enumerator {
    /// A host that knows nothing but itself.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let own = Found {
            kind: Kind::Endpoint { id: Some(options.host) },
            identity: 0,
            features: 0,
            hops: 0,
            neighbours: vec![None],
            via: None,
            up: vec![true],
            abilities: vec![options.own_ability],
            serial: None,
            enables: options.own_enables,
        };
        let mut host = Self {
            options,
            phase: Phase::Explore,
            links_first: options.enables.is_some_and(|enables| enables.link != 0),
            devices: vec![own],
            any: vec![(None, 0)],
            next_id: 0,
            steps: VecDeque::new(),
            under_way: None,
            cursor: (0, 0),
            probing: None,
            current: 0,
            candidate: None,
            routes: Vec::new(),
            events: VecDeque::from([Event::Entered(Phase::Explore), Event::Discovered(0)]),
        };
        host.write(Target::Own, offset::HOST_LOCK, options.host.into());
        host.write(Target::Own, offset::BASE_DEVICE_ID, host.base_id(options.host));
        host.write(Target::Own, offset::COMPONENT_TAG, 1);
        host
    }

    /// The next request, if none is under way and something is left to be done.
    pub fn poll_transmit(&mut self) -> Option<Request> {
        if self.under_way.is_some() {
            return None;
        }
        while self.steps.is_empty() {
            if self.phase == Phase::Done {
                return None;
            }
            self.plan();
        }
        self.under_way = self.steps.pop_front();
        self.under_way.map(|step| step.request)
    }

    /// The request was carried out; `value` is what was read, and means nothing after a write. Ignored if
    /// none is under way.
    pub fn handle_done(&mut self, value: u32) {
        if let Some(step) = self.under_way.take() {
            self.react(step.then, value);
        }
    }

    /// The request was not carried out, or nobody knows. Ignored if none is under way.
    pub fn handle_failure(&mut self) {
        if self.under_way.take().is_none() {
            return;
        }
        self.steps.clear();
        self.candidate = None;
        self.events.push_back(match self.probing.take() {
            Some(via) if self.current == via.0 => Event::Unreachable { via },
            _ => Event::Lost { device: self.current },
        });
    }

    /// What happened, in order.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What the host is at.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The devices found so far, the host first.
    #[must_use]
    pub fn devices(&self) -> &[Found] {
        &self.devices
    }

    /// The route tables, by device: egress port by device ID. Empty before [`Phase::Routes`].
    #[must_use]
    pub fn routes(&self) -> &[Vec<Option<u8>>] {
        &self.routes
    }

    // --- planning --------------------------------------------------------------------------------

    fn plan(&mut self) {
        self.probing = None;
        match self.phase {
            Phase::Explore => match self.next_end() {
                Some(end) => self.probe(end),
                None => {
                    self.routes = shortest_routes(&self.devices, self.options.spread);
                    self.enter(Phase::Routes);
                }
            },
            Phase::Routes => match self.next_device(Found::is_switch) {
                Some(switch) => self.plan_routes(switch),
                None => self.enter(Phase::Enables),
            },
            Phase::Enables if self.links_first => match self.next_device(|device| device.enables.is_some()) {
                Some(device) => self.plan_links(device),
                None => (self.links_first, self.cursor) = (false, (0, 0)),
            },
            Phase::Enables => {
                match self.next_device(|device| device.is_switch() && device.enables.is_some()) {
                    Some(switch) => self.plan_enables(switch),
                    None => self.enter(Phase::Unlock),
                }
            }
            Phase::Unlock => match self.next_device(|_| true) {
                Some(device) => self.plan_unlock(device),
                None => self.enter(Phase::Start),
            },
            Phase::Start => match self.next_device(|_| true) {
                Some(device) => self.plan_start(device),
                None => self.enter(Phase::Done),
            },
            Phase::Done => {}
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.cursor = (0, 0);
        self.events.push_back(Event::Entered(phase));
    }

    /// The next end behind which nobody has looked.
    fn next_end(&mut self) -> Option<End> {
        loop {
            let (device, port) = self.cursor;
            let found = self.devices.get(device)?;
            let Some(neighbour) = found.neighbours.get(usize::from(port)) else {
                self.cursor = (device + 1, 0);
                continue;
            };
            self.cursor.1 += 1;
            // An endpoint leads nowhere but to where it was found; the host is the exception.
            let open = found.is_switch() || device == 0;
            if open && neighbour.is_none() && found.up[usize::from(port)] {
                return Some((device, port));
            }
        }
    }

    fn next_device(&mut self, wanted: impl Fn(&Found) -> bool) -> Option<usize> {
        let first = self.cursor.0;
        let device = (first..self.devices.len()).find(|&device| wanted(&self.devices[device]))?;
        self.cursor.0 = device + 1;
        self.current = device;
        Some(device)
    }

    fn probe(&mut self, end: End) {
        self.probing = Some(end);
        self.current = end.0;
        self.lead_to(end);
        let target = self.beyond(end);
        self.read(target, offset::HOST_LOCK, Then::Lock);
    }

    /// Packets for *any* shall get to `end` and leave there.
    fn lead_to(&mut self, end: End) {
        let mut ends = vec![end];
        while let Some(via) = ends.last().and_then(|&(device, _)| self.devices[device].via) {
            ends.push(via);
        }
        for &(device, port) in ends.iter().rev() {
            if self.devices[device].is_switch() && self.any[device].0 != Some(port) {
                self.any[device].0 = Some(port);
                let target = self.unconfigured(device);
                self.write(target, offset::ROUTE_DESTINATION, self.options.any_id().into());
                self.write(target, offset::ROUTE_PORT, port.into());
            }
        }
    }

    fn plan_routes(&mut self, switch: usize) {
        let Some(via) = self.devices[switch].via else { return };
        self.lead_to(via);
        let target = self.unconfigured(switch);
        let limit = usize::from(self.any[switch].1);
        let table: Vec<Option<u8>> = self.routes[switch].iter().take(limit + 1).copied().collect();
        let extended = self.devices[switch].features & feature::EXTENDED_ROUTE_TABLE != 0;
        let mut id = 0;
        while id < table.len() {
            let ports: Vec<u8> = table[id..].iter().take(EXTENDED).map_while(|port| *port).collect();
            if extended && let [a, b, c, d] = ports[..] {
                self.write(target, offset::ROUTE_DESTINATION, file::EXTENDED_CONFIGURATION | id as u32);
                self.write(target, offset::ROUTE_PORT, u32::from_be_bytes([d, c, b, a]));
                id += EXTENDED;
                continue;
            }
            if let Some(port) = table[id] {
                self.write(target, offset::ROUTE_DESTINATION, id as u32);
                self.write(target, offset::ROUTE_PORT, port.into());
            }
            id += 1;
        }
    }

    /// Whether a port has this ability.
    fn can(&self, (device, port): End, mask: u32) -> bool {
        self.devices[device].abilities.get(usize::from(port)).is_some_and(|ability| ability & mask != 0)
    }

    /// What says that a port links: both ends of its link can.
    fn links(&self, enables: Enables, end: End) -> u32 {
        let neighbour = self.devices[end.0].neighbours[usize::from(end.1)];
        let both =
            self.can(end, enables.can_link) && neighbour.is_some_and(|end| self.can(end, enables.can_link));
        if both { enables.link } else { 0 }
    }

    fn plan_links(&mut self, device: usize) {
        let found = &self.devices[device];
        let (Some(enables), Some(start)) = (self.options.enables, found.enables) else { return };
        let ports = found.neighbours.len() as u8;
        let values: Vec<(u8, u32)> = (0..ports)
            .map(|port| (port, self.links(enables, (device, port))))
            .filter(|&(_, value)| value != 0)
            .collect();
        if values.is_empty() {
            return;
        }
        let Some(target) = self.configured(device) else { return };
        for (port, value) in values {
            self.write(target, u32::from(start) + enables.first + 4 * u32::from(port), value);
        }
    }

    fn plan_enables(&mut self, switch: usize) {
        let found = &self.devices[switch];
        let (Some(enables), Some(start), Some(via)) = (self.options.enables, found.enables, found.via) else {
            return;
        };
        let values: Vec<u32> = (0..=u8::MAX)
            .zip(&found.neighbours)
            .map(|(port, neighbour)| {
                let sends = self.can((switch, port), enables.can_send)
                    && neighbour.is_some_and(|end| self.can(end, enables.can_receive));
                let links = self.links(enables, (switch, port));
                enables.always | links | if sends { enables.send } else { 0 }
            })
            .collect();
        self.lead_to(via);
        let target = self.unconfigured(switch);
        for (port, value) in (0..).zip(values) {
            self.write(target, u32::from(start) + enables.first + 4 * port, value);
        }
    }

    fn plan_unlock(&mut self, device: usize) {
        if let Some(target) = self.configured(device) {
            self.write(target, offset::HOST_LOCK, self.options.host.into());
            if target != Target::Own {
                self.read(target, offset::HOST_LOCK, Then::Unlocked(1));
            }
        }
    }

    fn plan_start(&mut self, device: usize) {
        let own = serial::HOST | serial::MASTER_ENABLE | serial::DISCOVERED;
        let value = match self.devices[device].kind {
            Kind::Switch { .. } => serial::DISCOVERED,
            Kind::Endpoint { .. } if device == 0 => own,
            Kind::Endpoint { .. } => serial::MASTER_ENABLE | serial::DISCOVERED,
        };
        let start = self.devices[device].serial;
        let Some(target) = self.configured(device) else { return };
        // The owner knows where its own block is: what matters is that it may begin.
        let start = if device == 0 { Some(offset::EXTENDED_FEATURES as u16) } else { start };
        if let Some(start) = start {
            self.write(target, u32::from(start) + serial::GENERAL_CONTROL, value);
        }
    }

    // --- addresses -------------------------------------------------------------------------------

    /// The device behind an end, before it has an ID.
    fn beyond(&self, (device, _): End) -> Target {
        let hop_count = self.devices[device].hops + u8::from(self.devices[device].is_switch());
        Target::Remote { destination: self.options.any_id(), hop_count }
    }

    /// A found device on the way that *any* leads.
    fn unconfigured(&self, device: usize) -> Target {
        match self.devices[device].via {
            Some(via) => self.beyond(via),
            None => Target::Own,
        }
    }

    /// A device when the routes are there: endpoints by ID, switches by the way of *any*.
    fn configured(&mut self, device: usize) -> Option<Target> {
        let found = &self.devices[device];
        match found.kind {
            Kind::Endpoint { .. } if device == 0 => Some(Target::Own),
            Kind::Endpoint { id } => Some(Target::Remote { destination: id?, hop_count: HOP_COUNT_MAX }),
            Kind::Switch { .. } => {
                self.lead_to(found.via?);
                Some(self.unconfigured(device))
            }
        }
    }

    fn base_id(&self, id: u16) -> u32 {
        if self.options.large { 0x00FF_0000 | u32::from(id) } else { u32::from(id) << 16 }
    }

    // --- answers ---------------------------------------------------------------------------------

    fn react(&mut self, then: Then, value: u32) {
        let Some(end) = self.probing else {
            if let Then::Unlocked(attempt) = then {
                self.check_unlocked(attempt, value);
            }
            return;
        };
        let target = self.beyond(end);
        let host = u32::from(self.options.host);
        match then {
            Then::Nothing | Then::Unlocked(_) => {}
            Then::Lock if value & 0xFFFF == host => self.read(target, offset::COMPONENT_TAG, Then::KnownTag),
            Then::Lock => self.lock(target, 1),
            Then::CheckLock(_) if value & 0xFFFF == host => self.begin(target),
            Then::CheckLock(attempt) => match value as u16 {
                file::UNLOCKED if attempt < LOCK_ATTEMPTS => self.lock(target, attempt + 1),
                holder => self.events.push_back(Event::Foreign { via: end, holder }),
            },
            Then::KnownTag => {
                let known = (value as usize).wrapping_sub(1);
                match self.devices.get(known).map(Found::is_switch) {
                    Some(true) => {
                        self.read(target, offset::SWITCH_PORT_INFORMATION, Then::KnownPort(known));
                    }
                    Some(false) => self.link(end, (known, 0)),
                    // Our lock, but not our tag: left by an enumeration that did not end.
                    None => self.begin(target),
                }
            }
            Then::KnownPort(known) => self.link(end, (known, value as u8)),
            Then::Walk => self.walked(target, value),
            Then::Identity => {
                let Some(candidate) = &mut self.candidate else { return };
                candidate.identity = value;
                if candidate.features & feature::SWITCH == 0 {
                    self.admit(end, target, 0);
                } else {
                    self.read(target, offset::SWITCH_PORT_INFORMATION, Then::PortInformation);
                }
            }
            Then::PortInformation => {
                let Some(candidate) = &mut self.candidate else { return };
                (candidate.ports, candidate.entry) = ((value >> 8) as u8, value as u8);
                self.read(target, offset::ROUTE_LIMIT, Then::RouteLimit);
            }
            Then::RouteLimit => self.admit(end, target, value as u16),
            Then::PortStatus(port) => {
                self.devices[self.current].up[usize::from(port)] = value & serial::PORT_OK != 0;
            }
            Then::Ability(port) => self.devices[self.current].abilities[usize::from(port)] = value,
        }
    }

    fn lock(&mut self, target: Target, attempt: u8) {
        self.write(target, offset::HOST_LOCK, self.options.host.into());
        self.read(target, offset::HOST_LOCK, Then::CheckLock(attempt));
    }

    fn check_unlocked(&mut self, attempt: u8, value: u32) {
        if value as u16 == self.options.host
            && attempt < LOCK_ATTEMPTS
            && let Some(target) = self.configured(self.current)
        {
            self.write(target, offset::HOST_LOCK, self.options.host.into());
            self.read(target, offset::HOST_LOCK, Then::Unlocked(attempt + 1));
        }
    }

    /// The device is ours: what is it?
    fn begin(&mut self, target: Target) {
        let candidate = Candidate { walk: Discovery::new(), identity: 0, features: 0, ports: 0, entry: 0 };
        self.candidate = Some(candidate);
        self.walk_on(target);
    }

    fn walk_on(&mut self, target: Target) {
        let Some(candidate) = &mut self.candidate else { return };
        match candidate.walk.poll_transmit() {
            Some(access) => {
                let request = Request { target, access, write: None };
                self.steps.push_back(Step { request, then: Then::Walk });
            }
            None => self.read(target, offset::DEVICE_IDENTITY, Then::Identity),
        }
    }

    fn walked(&mut self, target: Target, value: u32) {
        let Some(candidate) = &mut self.candidate else { return };
        if candidate.features == 0 {
            // The walk begins with this register.
            candidate.features = value;
        }
        candidate.walk.handle_read(value);
        self.walk_on(target);
    }

    /// The candidate becomes a found device, and is set up as far as its surroundings need it.
    fn admit(&mut self, end: End, target: Target, route_limit: u16) {
        let Some(candidate) = self.candidate.take() else { return };
        let is_switch = candidate.features & feature::SWITCH != 0;
        let device = self.devices.len();
        let ports = if is_switch { candidate.ports } else { 1 };
        let entry = if is_switch { candidate.entry } else { 0 };
        let enables = self.options.enables;
        let block = |id| candidate.walk.find(id);
        let serial = block(if is_switch { serial::SWITCH_ID } else { serial::ENDPOINT_ID });
        let found = Found {
            kind: match is_switch {
                true => Kind::Switch { ports, entry },
                false => Kind::Endpoint { id: self.draw_id() },
            },
            identity: candidate.identity,
            features: candidate.features,
            hops: self.devices[end.0].hops + u8::from(self.devices[end.0].is_switch()),
            neighbours: vec![None; ports.into()],
            via: Some(end),
            // Without the block only asking can tell.
            up: vec![serial.is_none(); ports.into()],
            abilities: vec![0; ports.into()],
            serial,
            enables: enables.and_then(|enables| block(enables.block)),
        };
        let id = found.id();
        self.current = device;
        self.events.push_back(Event::Discovered(device));
        self.write(target, offset::COMPONENT_TAG, device as u32 + 1);
        if is_switch {
            self.write(target, offset::ROUTE_DESTINATION, self.options.host.into());
            self.write(target, offset::ROUTE_PORT, entry.into());
        }
        if let Some(start) = found.serial.filter(|_| is_switch) {
            for port in (0..ports).filter(|port| *port != entry) {
                let at = u32::from(start) + serial::status_offset(port);
                self.read(target, at, Then::PortStatus(port));
            }
        }
        if let (Some(start), Some(enables)) = (found.enables, enables) {
            for port in 0..ports {
                let at = u32::from(start) + enables.first + 4 * u32::from(port);
                self.read(target, at, Then::Ability(port));
            }
        }
        self.devices.push(found);
        self.any.push((None, route_limit));
        self.link(end, (device, entry));
        match id {
            Some(id) => self.write(target, offset::BASE_DEVICE_ID, self.base_id(id)),
            None if !is_switch => self.events.push_back(Event::NoId { device }),
            None => {}
        }
    }

    fn link(&mut self, a: End, b: End) {
        for (from, to) in [(a, b), (b, a)] {
            if let Some(slot) = self.devices[from.0].neighbours.get_mut(usize::from(from.1)) {
                *slot = Some(to);
            }
        }
        self.events.push_back(Event::Linked(a, b));
    }

    fn draw_id(&mut self) -> Option<u16> {
        if self.next_id == self.options.host {
            self.next_id += 1;
        }
        let id = self.next_id;
        if id >= self.options.any_id() {
            return None;
        }
        self.next_id += 1;
        Some(id)
    }

    // --- requests --------------------------------------------------------------------------------

    fn read(&mut self, target: Target, offset: u32, then: Then) {
        self.push(target, offset, None, then);
    }

    fn write(&mut self, target: Target, offset: u32, value: u32) {
        self.push(target, offset, Some(value), Then::Nothing);
    }

    fn push(&mut self, target: Target, offset: u32, write: Option<u32>, then: Then) {
        // Offsets come from devices: a block may claim to reach beyond the space.
        let Ok(access) = Access::register(offset) else { return };
        self.steps.push_back(Step { request: Request { target, access, write }, then });
    }
}
