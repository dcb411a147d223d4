//! A peer that behaves like the public implementation, LINX for Linux 2.5.1, against a node with default
//! options: random lives, in which either end restarts with the generation it had.
//!
//! What is special about that peer: generation and connection ID are the same after every restart (1 and 0);
//! terms of the connection before are kept; any REQ ends its connection; it never answers a RESET, takes one
//! of any generation, and ignores it while connecting; MTUs up to 64 are dropped; its timer for REQ (200 ms,
//! give or take 128 ms) goes on as that of heartbeats, and data counts as life; before it is up it keeps one
//! kind of data only, a SINGLE with number 0; a reordering slot that is taken ends the connection; a gap
//! stays open for ever.

use crate::common::*;
use linx_riocm::fragment::{Fragmentation, cut};
use linx_riocm::wire::{Address, Data, DataKind, Frame, Packet};
use linx_riocm::{Class, Event, Options, Peer, Phase};
use std::collections::{BTreeMap, VecDeque};

const OURS: usize = 0;
const THEIRS: usize = 1;
const TO_OURS: Address = Address { dst_port: 1, sender: 2, src_port: 1 };

/// What either end tells its link handler.
#[derive(Debug)]
enum Told {
    Up,
    Down,
    Message(Vec<u8>),
}

/// The peer. Times in ms.
#[derive(Debug)]
struct Theirs {
    up: bool,
    connecting: bool,
    /// Wishes: MTU, period in ms.
    wishes: (u16, u64),
    terms: (u16, u64),
    peer_generation: u8,
    peer_cid: u16,
    tick_at: u64,
    alive: u8,
    expected: u16,
    /// Kept until it is up.
    early: VecDeque<Vec<u8>>,
    slots: Vec<Option<Vec<u8>>>,
    open: BTreeMap<u8, (usize, Vec<u8>)>,
    seqno: u16,
    msgid: u8,
    sent: Vec<(Class, Vec<u8>)>,
    told: Vec<Told>,
}

impl Theirs {
    const GENERATION: u8 = 1;
    const CID: u16 = 0;

    fn new((mtu, hb_tmo): (u16, u8), tick_at: u64) -> Self {
        let period = u64::from(hb_tmo) * 100;
        Self {
            up: false,
            connecting: false,
            wishes: (mtu, period),
            terms: (0, period),
            peer_generation: 0,
            peer_cid: 0,
            tick_at,
            alive: 0,
            expected: 0,
            early: VecDeque::new(),
            slots: vec![None; 64],
            open: BTreeMap::new(),
            seqno: 0,
            msgid: 1,
            sent: vec![],
            told: vec![],
        }
    }

    fn connect(&mut self) {
        assert!(!self.up && !self.connecting);
        self.connecting = true;
        (self.expected, self.seqno, self.msgid) = (0, 0, 1);
        self.purge();
    }

    fn purge(&mut self) {
        self.early.clear();
        self.open.clear();
        self.slots.fill(None);
    }

    fn leave(&mut self) {
        (self.up, self.connecting) = (false, false);
        self.purge();
        self.told.push(Told::Down);
    }

    fn send(&mut self, class: Class, packet: Packet<'_>) {
        let mut frame = vec![];
        Frame { address: TO_OURS, packet }.emit(&mut frame);
        self.sent.push((class, frame));
    }

    fn acknowledge(&mut self) {
        self.send(
            Class::Connection,
            Packet::Ack {
                generation: Self::GENERATION,
                mtu_ack: self.terms.0,
                generation_ack: self.peer_generation,
                hb_tmo_ack: (self.terms.1 / 100) as u8,
                my_cid: Self::CID,
            },
        );
    }

    fn tick(&mut self, now: u64, jitter: u64) {
        let again = 72 + jitter;
        self.tick_at = now + again;
        if self.connecting {
            let (mtu, period) = self.wishes;
            let (generation, hb_tmo) = (Self::GENERATION, (period / 100) as u8);
            self.send(Class::Connection, Packet::Request { generation, mtu, hb_tmo });
        } else if self.up {
            self.alive -= 1;
            self.tick_at = now + self.terms.1;
            if self.alive == 0 {
                self.send(Class::Connection, Packet::Reset { generation: Self::GENERATION });
                self.leave();
            } else {
                let dst_cid = self.peer_cid;
                self.send(Class::Heartbeat, Packet::Heartbeat { dst_cid });
            }
        }
    }

    fn hear(&mut self, octets: &[u8]) {
        match Frame::parse(octets).unwrap().packet {
            Packet::Request { generation, mtu, hb_tmo } => self.hear_request(generation, mtu, hb_tmo),
            Packet::Ack { generation, mtu_ack, generation_ack, hb_tmo_ack, my_cid } => {
                let terms = (mtu_ack, u64::from(hb_tmo_ack) * 100);
                if generation_ack != Self::GENERATION || terms != self.terms {
                    return self.hear_request(generation, mtu_ack, hb_tmo_ack);
                }
                self.peer_cid = my_cid;
                if self.connecting {
                    self.acknowledge();
                    (self.up, self.connecting, self.alive) = (true, false, 3);
                    self.told.push(Told::Up);
                    while let Some(frame) = self.early.pop_front() {
                        self.process(&frame);
                    }
                }
            }
            Packet::Reset { .. } if self.up => self.leave(),
            Packet::Reset { .. } => {}
            Packet::Heartbeat { dst_cid } => {
                if dst_cid == Self::CID {
                    self.alive = 3;
                }
            }
            Packet::Data(data) => self.hear_data(octets, &data),
        }
    }

    fn hear_request(&mut self, generation: u8, mtu: u16, hb_tmo: u8) {
        self.peer_generation = generation;
        if mtu <= 64 {
            return;
        }
        self.terms = (mtu.min(self.wishes.0), self.wishes.1.max(u64::from(hb_tmo) * 100));
        if self.connecting {
            self.acknowledge();
        } else if self.up {
            self.leave();
        }
    }

    fn hear_data(&mut self, octets: &[u8], data: &Data<'_>) {
        if data.dst_cid != Self::CID {
            return;
        }
        if !self.up {
            if self.connecting && data.seqno == 0 && matches!(data.kind, DataKind::Single(_)) {
                self.early.push_back(octets.to_vec());
                self.expected = self.expected.wrapping_add(1);
            }
            return;
        }
        self.alive = 3;
        if data.seqno != self.expected {
            let slot = usize::from(data.seqno) % 64;
            if self.slots[slot].is_some() {
                return self.leave();
            }
            self.slots[slot] = Some(octets.to_vec());
            return;
        }
        self.expected = self.expected.wrapping_add(1);
        self.process(octets);
        while let Some(frame) = self.slots[usize::from(self.expected) % 64].take() {
            self.expected = self.expected.wrapping_add(1);
            self.process(&frame);
        }
    }

    fn process(&mut self, octets: &[u8]) {
        let Packet::Data(data) = Frame::parse(octets).unwrap().packet else { panic!("data") };
        match data.kind {
            DataKind::Single(_) => self.told.push(Told::Message(data.payload.to_vec())),
            DataKind::FragStart(message) => {
                self.open.insert(data.msgid, (message.payl_size as usize, data.payload.to_vec()));
            }
            DataKind::Frag => {
                let Some((size, mut octets)) = self.open.remove(&data.msgid) else { return self.leave() };
                octets.extend(data.payload);
                if octets.len() >= size {
                    self.told.push(Told::Message(octets));
                } else {
                    self.open.insert(data.msgid, (size, octets));
                }
            }
            _ => panic!("not sent by default"),
        }
    }

    fn transmit(&mut self, octets: &[u8]) {
        let mut pieces = vec![];
        cut(5, 9, octets, self.terms.0, Fragmentation::Simple, |kind, payload| {
            pieces.push((kind, payload.to_vec()));
        });
        for (kind, payload) in pieces {
            let data = Data {
                dst_cid: self.peer_cid,
                seqno: self.seqno,
                msgid: self.msgid,
                kind,
                payload: &payload,
            };
            self.seqno = self.seqno.wrapping_add(1);
            self.send(Class::Data, Packet::Data(data));
        }
        self.msgid = self.msgid.wrapping_add(1);
    }
}

/// A link handler as LINX has it: the first message of a connection is a short one, and others follow when
/// that of the peer has come.
#[derive(Debug, Default)]
struct Handler {
    up: bool,
    life: u32,
    sent: u32,
    heard: Option<(u32, u32)>,
    last_life: u32,
    connect_at: Option<u64>,
    /// Messages that are not known to have arrived: number, when.
    open: VecDeque<(u32, u64)>,
    delivered: u64,
}

/// What may happen, in parts of 100 000 for each ms.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    crash: [u64; 2],
    loss: u64,
    duplicate: u64,
    delay: u64,
}

struct Pair {
    ours: End,
    theirs: Option<Theirs>,
    handlers: [Handler; 2],
    /// When the peer is there again.
    back_at: u64,
    wishes: [(u16, u8); 2],
    flights: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    /// When the last frame of each class arrives, each way.
    last: [[u64; 3]; 2],
    dice: Dice,
    now: u64,
    count: u64,
    bad: Vec<String>,
}

impl Pair {
    fn new(seed: u64, wishes: [(u16, u8); 2]) -> Self {
        let mut dice = Dice::new(seed);
        let mut handlers = [Handler::default(), Handler::default()];
        handlers[OURS].connect_at = Some(dice.below(500));
        handlers[THEIRS].connect_at = Some(0);
        let ours = Self::boot(&mut dice, wishes[OURS]);
        let theirs = Some(Theirs::new(wishes[THEIRS], 72 + dice.below(256)));
        let (flights, last, bad) = (BTreeMap::new(), [[0; 3]; 2], vec![]);
        Self { ours, theirs, handlers, back_at: 0, wishes, flights, last, dice, now: 0, count: 0, bad }
    }

    /// The generation is always the same; what the owner draws is the connection ID.
    fn boot(dice: &mut Dice, (mtu, hb_tmo): (u16, u8)) -> End {
        let peer = Peer { mtu, hb_tmo, generation: 1, ..Peer::new(2) };
        End::new(1, dice.below(1 << 16) as u16, peer, Options::default())
    }

    fn step(&mut self, trouble: Trouble) {
        let now = self.now;
        while self.flights.first_key_value().is_some_and(|((at, _), _)| *at <= now) {
            let (_, (to, frame)) = self.flights.pop_first().unwrap();
            match (&mut self.theirs, to) {
                (Some(theirs), THEIRS) => theirs.hear(&frame),
                (None, THEIRS) => {}
                _ => {
                    self.ours.node.handle_frame(ms(now), &frame);
                }
            }
            self.drain(trouble);
        }
        if self.dice.below(100_000) < trouble.crash[OURS] {
            self.ours = Self::boot(&mut self.dice, self.wishes[OURS]);
            let again = now + trouble.delay + 1 + self.dice.below(60);
            self.gone(OURS, again);
        }
        if self.theirs.is_some() && self.dice.below(100_000) < trouble.crash[THEIRS] {
            // Down for longer than a frame takes there and an answer back.
            self.back_at = now + 2 * trouble.delay + 1 + self.dice.below(400);
            self.theirs = None;
            self.gone(THEIRS, self.back_at);
        }
        if self.theirs.is_none() && self.back_at <= now {
            self.theirs = Some(Theirs::new(self.wishes[THEIRS], now + 72 + self.dice.below(256)));
        }
        if self.handlers[OURS].connect_at.take_if(|at| *at <= now).is_some() {
            let id = self.ours.id;
            self.ours.node.connect(ms(now), id);
        }
        if let Some(theirs) = &mut self.theirs {
            if self.handlers[THEIRS].connect_at.take_if(|at| *at <= now).is_some() {
                theirs.connect();
            }
            if theirs.tick_at <= now {
                theirs.tick(now, self.dice.below(256));
            }
        }
        if self.ours.node.poll_timeout().is_some_and(|at| at <= ms(now)) {
            self.ours.node.handle_timeout(ms(now));
        }
        self.drain(trouble);
        for side in [OURS, THEIRS] {
            let open = self.handlers[side].heard.is_some();
            if self.handlers[side].up && open && self.dice.percent(10) {
                self.submit(side);
                self.drain(trouble);
            }
        }
        self.watch();
        self.now += 1;
    }

    fn gone(&mut self, side: usize, connect_at: u64) {
        let handler = &mut self.handlers[side];
        handler.up = false;
        handler.connect_at = Some(connect_at);
        handler.open.clear();
    }

    fn submit(&mut self, side: usize) {
        let handler = &mut self.handlers[side];
        let mut message = [handler.life.to_be_bytes(), handler.sent.to_be_bytes()].concat();
        if handler.sent > 0 {
            message.extend(pay(self.dice.below(700) as usize, handler.sent as u8));
        }
        handler.open.push_back((handler.sent, self.now));
        handler.sent += 1;
        match (&mut self.theirs, side) {
            (Some(theirs), THEIRS) => theirs.transmit(&message),
            _ => self.ours.node.transmit(ms(self.now), self.ours.id, 5, 9, &message),
        }
    }

    /// A message that has not come long after it was sent, in a connection of which nobody was told that it
    /// ended: lost in silence.
    fn watch(&mut self) {
        // Three periods to find out that the peer is gone, and REQ periods of the peer.
        let limit = 300 * u64::from(self.wishes[0].1.max(self.wishes[1].1)) + 700;
        for side in [OURS, THEIRS] {
            let handler = &self.handlers[side];
            if handler.open.front().is_some_and(|&(_, at)| self.now > at + limit) {
                self.bad.push(format!("{} ms: of {side}, {:?} is missing", self.now, handler.open[0]));
                self.handlers[side].open.clear();
            }
        }
    }

    fn drain(&mut self, trouble: Trouble) {
        loop {
            let mut frames = vec![];
            while let Some(frame) = self.ours.node.poll_transmit() {
                frames.push((OURS, frame.class, frame.octets.to_vec()));
            }
            let theirs = self.theirs.iter_mut().flat_map(|theirs| theirs.sent.drain(..));
            frames.extend(theirs.map(|(class, frame)| (THEIRS, class, frame)));
            for (from, class, frame) in frames {
                let unreliable = class == Class::Connection;
                if unreliable && self.dice.percent(trouble.loss) {
                    continue;
                }
                for _ in 0..1 + u64::from(unreliable && self.dice.percent(trouble.duplicate)) {
                    let last = &mut self.last[from][class as usize];
                    *last = (self.now + 1 + self.dice.below(trouble.delay)).max(*last);
                    self.count += 1;
                    self.flights.insert((*last, self.count), (1 - from, frame.clone()));
                }
            }
            let mut told = vec![];
            while let Some(event) = self.ours.node.poll_event() {
                told.push(match event {
                    Event::Connected { .. } => (OURS, Told::Up),
                    Event::Disconnected { .. } => (OURS, Told::Down),
                    Event::Deliver { delivery, .. } => (OURS, Told::Message(delivery.octets.to_vec())),
                });
            }
            let theirs = self.theirs.iter_mut().flat_map(|theirs| theirs.told.drain(..));
            told.extend(theirs.map(|told| (THEIRS, told)));
            if told.is_empty() {
                break;
            }
            for (side, told) in told {
                self.hear(side, told, trouble);
            }
        }
    }

    fn hear(&mut self, side: usize, told: Told, trouble: Trouble) {
        match told {
            Told::Up => {
                let handler = &mut self.handlers[side];
                assert!(!handler.up);
                (handler.up, handler.sent, handler.heard) = (true, 0, None);
                handler.life += 1;
                self.submit(side);
            }
            Told::Down => {
                // The peer has one connection ID for all its connections: frames of the last one have to be
                // gone before the next.
                let pause = if side == OURS { trouble.delay } else { 0 };
                let again = self.now + pause + 1 + self.dice.below(60);
                self.gone(side, again);
            }
            Told::Message(octets) => {
                let handler = &mut self.handlers[side];
                assert!(handler.up);
                let number = |at: usize| u32::from_be_bytes(octets[at..at + 4].try_into().unwrap());
                let (life, index) = (number(0), number(4));
                let expected = handler.heard.unwrap_or((life, 0));
                let whole = octets[8..] == pay(octets.len() - 8, index as u8);
                let fresh = handler.heard.is_some() || life > handler.last_life;
                if (life, index) != expected || !fresh || !whole {
                    let heard = (handler.heard, handler.last_life);
                    self.bad.push(format!("{} ms: at {side}, {life}.{index} after {heard:?}", self.now));
                }
                (handler.heard, handler.last_life) = (Some((life, index + 1)), life);
                handler.delivered += 1;
                let sender = &mut self.handlers[1 - side];
                if sender.life == life {
                    sender.open.retain(|&(open, _)| open != index);
                }
            }
        }
    }

    fn are_up(&self) -> bool {
        self.ours.phase() == Phase::Connected && self.theirs.as_ref().is_some_and(|theirs| theirs.up)
    }
}

/// 400 s of trouble; how many lives the ends had, and what went wrong.
fn lives(seed: u64, wishes: [(u16, u8); 2], trouble: Trouble) -> (u64, Vec<String>) {
    let mut pair = Pair::new(seed, wishes);
    for _ in 0..400_000 {
        pair.step(trouble);
    }
    let calm = Trouble { crash: [0; 2], loss: 0, duplicate: 0, ..trouble };
    // An end may be up with a life that is over, and find out: by the third heartbeat that does not come.
    for _ in 0..2 {
        let bound = pair.now + 10_000;
        while !pair.are_up() {
            assert!(pair.now < bound, "seed {seed}: not up again");
            pair.step(calm);
        }
        for _ in 0..2_000 {
            pair.step(calm);
        }
    }
    let lives = pair.handlers.each_ref().map(|handler| handler.life);
    for _ in 0..2_500 {
        pair.step(calm);
    }
    if lives != pair.handlers.each_ref().map(|handler| handler.life) {
        pair.bad.push("not stable".into());
    }
    assert!(pair.handlers.iter().all(|handler| handler.delivered > 1_000), "{seed}: {:?}", pair.handlers);
    (u64::from(lives[0] + lives[1]), pair.bad)
}

/// Proves: RIOCM-10.1.1-15, RIOCM-10.1.1.1-2, RIOCM-10.1.2-12, RIOCM-RLNH-2
#[test]
fn random_lives_with_restarts_of_the_same_generation() {
    let mut total = 0;
    let seeds = std::env::var("LIVES").map_or(24, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let crash = [[0, 60], [40, 40], [20, 120]][(seed % 3) as usize];
        let loss = [0, 5, 20][seed as usize / 3 % 3];
        let duplicate = [0, 5][seed as usize / 9 % 2];
        let delay = [3, 20][seed as usize % 2];
        // The longer the peer may be silent, the more restarts go unnoticed.
        let hb_tmo = [1, 5][seed as usize / 2 % 2];
        let trouble = Trouble { crash, loss, duplicate, delay };
        let (lives, bad) = lives(seed, [(256, 1), (200, hb_tmo)], trouble);
        assert!(bad.is_empty(), "seed {seed}, {trouble:?}: {} bad of {lives} lives: {bad:#?}", bad.len());
        total += lives;
    }
    assert!(total > 10_000, "{total} lives");
}
