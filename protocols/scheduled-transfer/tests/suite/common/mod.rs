//! Two endpoints and the links between them, which may lose, repeat and delay what they carry.
#![allow(dead_code, reason = "each test file uses its part")]

use scheduled_transfer::errors::Logged;
use scheduled_transfer::intermediate::{self, Limits};
use scheduled_transfer::wire::{Header, Op};
use scheduled_transfer::{
    Config, ConnectionId, Endpoint, Event, ExposeOptions, Extras, Outcome, Span, TransferOptions, Ula,
};
use std::collections::BTreeMap;

/// The well-known Port.
pub const SERVICE: u16 = 0x14;

/// Picoseconds that an operation takes on its way.
pub const LATENCY: u64 = 1_000_000;

/// All channels.
pub const ALL: u8 = 0b1111;

/// What a link does, in parts per thousand.
#[derive(Clone, Copy, Default)]
pub struct Faults {
    pub loss: u64,
    pub duplication: u64,
    pub reorder: u64,
}

pub const A: usize = 0;
pub const B: usize = 1;

/// Destination, its interface, source address, octets.
type Carried = (usize, u8, Ula, Vec<u8>);

/// A pair of endpoints; what one transmits reaches the other after [`LATENCY`].
pub struct Pair {
    pub ends: [Endpoint<Vec<u8>>; 2],
    pub now: u64,
    pub faults: Faults,
    random: u64,
    order: u64,
    /// By time and order.
    wire: BTreeMap<(u64, u64), Carried>,
    pub events: [Vec<(ConnectionId, Event)>; 2],
    /// Every operation that was transmitted, by whom, before faults.
    pub trace: Vec<(usize, Header)>,
    pub tracing: bool,
    /// Interfaces of each operation of the trace: where it left, where it goes.
    pub ways: Vec<(u8, u8)>,
    /// The interfaces of an end take one operation each in turn.
    pub in_turn: bool,
    /// Operations that are lost: (sender, Op, how many more).
    pub lose: Vec<(usize, Op, u32)>,
    /// A device between the ends, which lowers what passes.
    pub between: Option<Limits>,
    pub auto: bool,
    /// A takes the connection down as soon as so many things that it asked for are over; 0: never.
    pub leaves: usize,
    pub expose: ExposeOptions,
}

pub fn ula(end: usize, interface: u8) -> Ula {
    Ula([0x0A, 0, 0x1E, 0, end as u8, interface])
}

impl Pair {
    pub fn new(a: Config, b: Config, memory: usize) -> Self {
        let pattern =
            |seed: u8| (0..memory).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect();
        let end = |config, seed| Endpoint::new(config, pattern(seed)).unwrap();
        let mut ends = [end(a, 1), end(b, 101)];
        ends.iter_mut().for_each(|end| end.listen(SERVICE, 0));
        Self {
            ends,
            now: 0,
            faults: Faults::default(),
            random: 0x9E37_79B9_7F4A_7C15,
            order: 0,
            wire: BTreeMap::new(),
            events: [vec![], vec![]],
            trace: vec![],
            tracing: true,
            ways: vec![],
            in_turn: false,
            lose: vec![],
            between: None,
            auto: true,
            leaves: 0,
            expose: ExposeOptions::default(),
        }
    }

    pub fn seed(&mut self, seed: u64) {
        self.random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    }

    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }

    fn chance(&mut self, thousandths: u64) -> bool {
        thousandths > 0 && self.draw() % 1000 < thousandths
    }

    /// Puts octets on the wire as if `from` had sent them.
    pub fn inject(&mut self, from: usize, octets: Vec<u8>) {
        self.post(from, 0, (1 - from, 0), octets, 0);
    }

    fn post(&mut self, from: usize, interface: u8, to: (usize, u8), octets: Vec<u8>, extra: u64) {
        self.order += 1;
        let key = (self.now + LATENCY + extra, self.order);
        self.wire.insert(key, (to.0, to.1, ula(from, interface), octets));
    }

    fn transmit(&mut self) {
        let mut out = Vec::new();
        for end in [A, B] {
            let interfaces = self.ends[end].config().interfaces;
            let mut next = 0;
            let mut idle = 0;
            while idle < interfaces {
                let interface = next;
                while let Some(transmit) = self.ends[end].poll_transmit(self.now, interface, ALL, &mut out) {
                    idle = 0;
                    if self.tracing {
                        self.trace.push((end, transmit.header));
                        self.ways.push((interface, transmit.to.0[5]));
                    }
                    if let Some(limits) = &self.between {
                        intermediate::lower(&mut out, limits);
                    }
                    let [.., to, at] = transmit.to.0;
                    let op = transmit.header.op;
                    let planned = self
                        .lose
                        .iter_mut()
                        .find(|(from, lost, left)| *from == end && *lost as u8 == op && *left > 0);
                    if let Some((.., left)) = planned {
                        *left -= 1;
                        continue;
                    }
                    if self.chance(self.faults.loss) {
                        continue;
                    }
                    if self.chance(self.faults.duplication) {
                        let extra = self.draw() % (3 * LATENCY);
                        self.post(end, interface, (to.into(), at), out.clone(), extra);
                    }
                    let late = self.chance(self.faults.reorder);
                    let extra = if late { self.draw() % (5 * LATENCY) } else { 0 };
                    self.post(end, interface, (to.into(), at), out.clone(), extra);
                    if self.in_turn {
                        break;
                    }
                }
                idle += 1;
                next = (next + 1) % interfaces;
            }
        }
    }

    fn drain(&mut self) {
        for end in [A, B] {
            while let Some((connection, event)) = self.ends[end].poll_event() {
                if self.auto {
                    self.react(end, connection, event);
                }
                self.events[end].push((connection, event));
            }
            if let Err(broken) = self.ends[end].check_invariants() {
                panic!("end {end} at {}: {broken}", self.now);
            }
        }
    }

    /// The usual upper layer: it accepts everything. Transfers land at [`LANDING`], regions at 0.
    fn react(&mut self, end: usize, connection: ConnectionId, event: Event) {
        let now = self.now;
        let target = &mut self.ends[end];
        let done = match event {
            Event::Incoming { .. } => target.accept(now, connection, Extras::default()),
            Event::WriteOffered { id, t_len, .. } => {
                let bytes = if t_len == 0 { RING } else { t_len };
                target.expose(now, connection, id, Span::new(LANDING, bytes), self.expose)
            }
            Event::ReadRequested { id, t_len } => {
                target.serve(now, connection, id, Span::new(0, t_len), TransferOptions::default())
            }
            Event::RegionRequested { id, t_len } => target.grant(now, connection, id, Span::new(0, t_len)),
            Event::Finished { .. } if end == A && self.leaves > 0 => {
                self.leaves -= 1;
                if self.leaves == 0 {
                    target.disconnect(now, connection);
                }
                true
            }
            _ => true,
        };
        assert!(done, "{event:?}");
    }

    /// Hands over what is on the wire, without letting the ends transmit.
    pub fn deliver(&mut self) {
        while let Some((_, (end, interface, from, octets))) = self.wire.pop_first() {
            self.ends[end].handle(self.now, (from, interface), &octets);
        }
        self.drain();
    }

    /// Everything that happens at this instant.
    pub fn settle(&mut self) {
        loop {
            self.drain();
            let before = self.order;
            let length = self.trace.len();
            self.transmit();
            if self.order == before && self.trace.len() == length {
                break;
            }
        }
        self.drain();
    }

    /// Runs to the next arrival or deadline; `false` if there is none up to `until`.
    pub fn step(&mut self, until: u64) -> bool {
        self.settle();
        let arrival = self.wire.keys().next().map(|key| key.0);
        let deadline = self.ends.iter().filter_map(Endpoint::poll_timeout).min();
        let Some(next) = arrival.into_iter().chain(deadline).min().filter(|&next| next <= until) else {
            return false;
        };
        assert!(next >= self.now, "time goes back: {next} < {}", self.now);
        self.now = next;
        while let Some(entry) = self.wire.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let (end, interface, from, octets) = entry.remove();
            self.ends[end].handle(self.now, (from, interface), &octets);
        }
        self.ends.iter_mut().for_each(|end| end.handle_timeout(next));
        self.settle();
        true
    }

    /// Runs for `time` picoseconds.
    pub fn run(&mut self, time: u64) {
        let until = self.now + time;
        while self.step(until) {}
        self.now = until;
    }

    /// Runs until `end` has been told something that `wanted` accepts.
    pub fn wait(&mut self, end: usize, wanted: impl Fn(&Event) -> bool) -> Event {
        let until = self.now + 3_600_000_000_000_000;
        loop {
            if let Some((_, event)) = self.events[end].iter().find(|(_, event)| wanted(event)) {
                return *event;
            }
            assert!(self.step(until), "nothing happens any more; events {:?}", self.events);
        }
    }

    pub fn has(&self, end: usize, wanted: impl Fn(&Event) -> bool) -> bool {
        self.events[end].iter().any(|(_, event)| wanted(event))
    }

    /// Connects A to B.
    pub fn open(&mut self) -> (ConnectionId, ConnectionId) {
        let a = self.ends[A].connect(self.now, (ula(B, 0), 0), (SERVICE, 0), Extras::default());
        self.wait(A, |event| *event == Event::Opened);
        let b = self.events[B].iter().find(|(_, event)| *event == Event::Opened).unwrap().0;
        (a, b)
    }

    /// How sequence `id` of `end` ended.
    pub fn outcome(&mut self, end: usize, id: u32) -> Outcome {
        match self.wait(end, |event| matches!(event, Event::Finished { id: found, .. } if *found == id)) {
            Event::Finished { outcome, .. } => outcome,
            _ => unreachable!(),
        }
    }

    /// Operations of one code that `end` transmitted.
    pub fn sent(&self, end: usize, op: Op) -> Vec<Header> {
        self.trace
            .iter()
            .filter(|(from, header)| *from == end && header.op == op as u8)
            .map(|row| row.1)
            .collect()
    }

    /// Everything that was logged at `end`.
    pub fn logged(&self, end: usize) -> Vec<Logged> {
        let device = self.ends[end].device_log().entries().iter().map(|row| row.1);
        self.ends[end].log_entries().map(|row| row.2).chain(device).collect()
    }

    /// Headers on their way to `end`.
    pub fn in_flight(&self, end: usize) -> Vec<Header> {
        let to_end = self.wire.values().filter(|carried| carried.0 == end);
        to_end.map(|(.., octets)| Header::parse(octets).unwrap().0).collect()
    }

    /// No error at either end.
    pub fn assert_clean(&self) {
        assert_eq!(self.logged(A), []);
        assert_eq!(self.logged(B), []);
    }
}

/// Where Transfers land.
pub const LANDING: u64 = 1 << 20;

/// Octets of the ring of an unlimited Transfer.
pub const RING: u64 = 1 << 18;
