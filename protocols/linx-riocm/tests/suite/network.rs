//! Two nodes and a medium that delays, reorders, loses and duplicates; hosts that crash. Whatever happens,
//! messages come once and in order within a life of the connection, and in the end all is well again.

use crate::common::*;
use linx_riocm::{Class, Event, Options, Peer, Phase};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What the medium and the hosts do.
#[derive(Clone, Copy, Debug)]
struct Trouble {
    /// Longest delay, ms.
    delay: u64,
    /// Chances in percent, for each frame.
    loss: u64,
    duplicate: u64,
    /// Whether data may be lost too.
    data_loss: bool,
    /// Chance of a crash in each ms, in 100 000.
    crash: u64,
    /// Chance of a message in each ms, percent.
    message: u64,
}

const CALM: Trouble = Trouble { delay: 20, loss: 0, duplicate: 0, data_loss: false, crash: 0, message: 2 };

/// What a node's link handler knows.
#[derive(Clone, Debug, Default)]
struct Host {
    reconnect_at: Option<u64>,
    up: bool,
    /// Lives of the connection seen from here.
    life: u32,
    /// Messages sent in this life.
    sent: u32,
    /// The peer's life and the next message of it, in this life.
    heard: Option<(u32, u32)>,
    /// The peer's last life of which anything was heard.
    last_life: u32,
    total: u64,
}

struct Net {
    ends: [End; 2],
    hosts: [Host; 2],
    wishes: [(u16, u8); 2],
    /// From which a host draws when it starts.
    generations: u64,
    options: Options,
    flights: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    dice: Dice,
    count: u64,
    now: u64,
    /// When the last connection frame was sent.
    quiet_since: u64,
}

const RECONNECT: u64 = 30;

impl Net {
    fn new(seed: u64, wishes: [(u16, u8); 2], generations: u64, options: Options) -> Self {
        let mut dice = Dice::new(seed);
        let ends = [0, 1].map(|side| Self::boot(side, wishes[side], generations, &mut dice, options.clone()));
        let hosts = [0, 1].map(|_| Host { reconnect_at: Some(dice.below(500)), ..Host::default() });
        let (flights, count, now, quiet_since) = (BTreeMap::new(), 0, 0, 0);
        Self { ends, hosts, wishes, generations, options, flights, dice, count, now, quiet_since }
    }

    fn boot(
        side: usize,
        (mtu, hb_tmo): (u16, u8),
        generations: u64,
        dice: &mut Dice,
        options: Options,
    ) -> End {
        let generation = dice.below(generations) as u8;
        let peer = Peer { mtu, hb_tmo, generation, ..Peer::new(2 - side as u16) };
        End::new(1 + side as u16, dice.below(1 << 16) as u16, peer, options)
    }

    /// One millisecond.
    fn step(&mut self, trouble: Trouble) {
        let now = ms(self.now);
        while self.flights.first_key_value().is_some_and(|((at, _), _)| *at <= self.now) {
            let (_, (to, frame)) = self.flights.pop_first().unwrap();
            self.ends[to].node.handle_frame(now, &frame);
            self.drain(to, trouble);
        }
        for side in 0..2 {
            if self.dice.below(100_000) < trouble.crash {
                let options = self.options.clone();
                let wishes = self.wishes[side];
                self.ends[side] = Self::boot(side, wishes, self.generations, &mut self.dice, options);
                let host = &mut self.hosts[side];
                host.up = false;
                host.reconnect_at = Some(self.now + RECONNECT);
            }
            if self.hosts[side].reconnect_at.is_some_and(|at| at <= self.now) {
                self.hosts[side].reconnect_at = None;
                let id = self.ends[side].id;
                self.ends[side].node.connect(now, id);
            }
            if self.ends[side].node.poll_timeout().is_some_and(|at| at <= now) {
                self.ends[side].node.handle_timeout(now);
            }
            if self.ends[side].phase() == Phase::Connected && self.dice.percent(trouble.message) {
                self.submit(side, trouble);
            }
            self.drain(side, trouble);
            assert!(self.ends[side].node.poll_timeout().is_none_or(|at| at > now));
        }
        self.now += 1;
    }

    fn submit(&mut self, side: usize, trouble: Trouble) {
        self.drain(side, trouble);
        let host = &mut self.hosts[side];
        let mut message = [host.life.to_be_bytes(), host.sent.to_be_bytes()].concat();
        message.extend(pay(self.dice.below(700) as usize, host.sent as u8));
        host.sent += 1;
        let id = self.ends[side].id;
        self.ends[side].node.transmit(ms(self.now), id, 5, 9, &message);
    }

    fn drain(&mut self, side: usize, trouble: Trouble) {
        let (dice, flights) = (&mut self.dice, &mut self.flights);
        while let Some(frame) = self.ends[side].node.poll_transmit() {
            if frame.class == Class::Connection {
                self.quiet_since = self.now;
            }
            let may_be_lost = frame.class != Class::Data || trouble.data_loss;
            if may_be_lost && dice.percent(trouble.loss) {
                continue;
            }
            for _ in 0..1 + u64::from(dice.percent(trouble.duplicate)) {
                self.count += 1;
                let at = self.now + 1 + dice.below(trouble.delay);
                flights.insert((at, self.count), (1 - side, frame.octets.to_vec()));
            }
        }
        let host = &mut self.hosts[side];
        while let Some(event) = self.ends[side].node.poll_event() {
            match event {
                Event::Connected { .. } => {
                    assert!(!host.up);
                    (host.up, host.sent, host.heard) = (true, 0, None);
                    host.life += 1;
                }
                Event::Disconnected { .. } => {
                    assert!(host.up);
                    host.up = false;
                    host.reconnect_at = Some(self.now + RECONNECT);
                }
                Event::Deliver { delivery, .. } => {
                    assert!(host.up);
                    let number = |at| u32::from_be_bytes(delivery.octets[at..at + 4].try_into().unwrap());
                    let (life, index) = (number(0), number(4));
                    let (expected_life, expected) = host.heard.unwrap_or((life, 0));
                    assert_eq!((life, index), (expected_life, expected), "nothing lost, twice or mixed");
                    assert!(host.heard.is_some() || life > host.last_life, "nothing of an earlier life");
                    assert_eq!(delivery.octets[8..], pay(delivery.octets.len() - 8, index as u8));
                    host.heard = Some((life, index + 1));
                    host.last_life = life;
                    host.total += 1;
                }
            }
        }
    }

    fn are_up(&self) -> bool {
        let [x, y] = [0, 1].map(|side| self.ends[side].node.link(self.ends[side].id));
        let (Some(x), Some(y)) = (x, y) else { return false };
        let agreed = (x.mtu, x.hb_tmo, x.generation, x.peer_generation, x.cid, x.peer_cid)
            == (y.mtu, y.hb_tmo, y.peer_generation, y.generation, y.peer_cid, y.cid);
        let [(mtu_x, hb_x), (mtu_y, hb_y)] = self.wishes;
        agreed && (x.mtu, x.hb_tmo) == (mtu_x.min(mtu_y), hb_x.max(hb_y))
    }

    /// Trouble for 5 s, then calm: up within the bound, and everything sent is delivered.
    fn run(&mut self, trouble: Trouble) {
        for _ in 0..5_000 {
            self.step(trouble);
        }
        // What is still under way takes its time.
        let calm = self.now + trouble.delay;
        let period = 100 * u64::from(self.wishes[0].1.max(self.wishes[1].1));
        let bound = 3 * period + 200 + 4 * CALM.delay + 2 * RECONNECT;
        while self.now < calm + bound {
            self.step(CALM);
        }
        assert!(self.are_up(), "{bound} ms after the calm");
        let lives = [0, 1].map(|side| self.hosts[side].life);
        for _ in 0..2_000 {
            self.step(CALM);
        }
        assert_eq!(lives, [0, 1].map(|side| self.hosts[side].life), "stable");
        assert!(self.now - self.quiet_since > 1_900, "no exchange of ACKs goes on");
        for _ in 0..50 {
            self.step(Trouble { message: 0, ..CALM });
        }
        for side in 0..2 {
            let sender = &self.hosts[1 - side];
            assert_eq!(self.hosts[side].heard, Some((sender.life, sender.sent)), "nothing is missing");
        }
    }
}

fn wishes() -> impl Strategy<Value = [(u16, u8); 2]> {
    let wish = || (prop_oneof![Just(64_u16), 64..300_u16], 1..4_u8);
    [wish(), wish()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Proves: RIOCM-10.1-1, RIOCM-10.1-2, RIOCM-10.1.1-14, RIOCM-10.1.1-15, RIOCM-10.1.1-16, RIOCM-10.1.2-12
    /// Proves: RIOCM-RLNH-2, RIOCM-RLNH-3, RIOCM-10.1.2-11
    #[test]
    fn after_any_trouble_all_is_well(
        seed: u64,
        wishes in wishes(),
        delay in prop_oneof![1..30_u64, 1..900_u64],
        loss in 0..20_u64,
        duplicate in 0..20_u64,
        data_loss: bool,
        crash in 0..80_u64,
    ) {
        let trouble = Trouble { delay, loss, duplicate, data_loss, crash, message: 10 };
        // Wide enough for calm times; trouble still exceeds it.
        Net::new(seed, wishes, 256, Options { window: 256, ..Options::default() }).run(trouble);
    }

    /// Nothing is lost, doubled or mixed by hosts that come back with the generation that they had, or one of
    /// two: only their
    /// connection IDs tell their lives apart.
    ///
    /// Proves: RIOCM-10.1.1-15, RIOCM-10.1.1.1-2, RIOCM-10.1.2-12, RIOCM-RLNH-2
    #[test]
    fn few_generations_are_enough(
        seed: u64,
        wishes in wishes(),
        generations in 1..3_u64,
        delay in prop_oneof![1..30_u64, 1..900_u64],
        loss in 0..30_u64,
        duplicate in 0..20_u64,
        crash in 20..200_u64,
    ) {
        let trouble = Trouble { delay, loss, duplicate, data_loss: false, crash, message: 10 };
        Net::new(seed, wishes, generations, Options { window: 256, ..Options::default() }).run(trouble);
    }

    /// Reordering and lost connection packets alone break nothing that is up.
    ///
    /// Proves: RIOCM-10.1.1-14, RIOCM-10.1.2-4
    #[test]
    fn reordering_alone_costs_no_life(seed: u64, wishes in wishes(), loss in 0..20_u64) {
        let trouble = Trouble { delay: 10, loss: 0, duplicate: 10, message: 20, ..CALM };
        let mut net = Net::new(seed, wishes, 256, Options { window: 1_024, ..Options::default() });
        while !net.are_up() {
            net.step(Trouble { loss, ..trouble });
        }
        // An end that was up long before the other may still miss its first heartbeats.
        for _ in 0..1_000 {
            net.step(trouble);
        }
        while !net.are_up() {
            net.step(trouble);
        }
        let lives = net.hosts.each_ref().map(|host| host.life);
        for _ in 0..3_000 {
            net.step(trouble);
        }
        prop_assert_eq!(lives, net.hosts.each_ref().map(|host| host.life));
        prop_assert!(net.hosts[0].total + net.hosts[1].total > 500);
    }
}

/// With reordering, losses of connection packets and crashes.
#[test]
fn a_hundred_thousand_messages() {
    let trouble = Trouble { delay: 15, loss: 1, duplicate: 2, data_loss: false, crash: 20, message: 90 };
    let mut net = Net::new(1, [(256, 1), (300, 2)], 256, Options::default());
    let mut total = 0;
    while total < 100_000 {
        net.step(trouble);
        total = net.hosts[0].total + net.hosts[1].total;
    }
    assert!(net.hosts[0].life > 20, "{}", net.hosts[0].life);
}
