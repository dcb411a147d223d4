//! What a node's connections have been through, and which messages came over them.

use super::super::protocol::Token;
use super::paths::Break;
use crate::config::{LinxAbsence, LinxConfig, LinxFault, LinxFaultKind};
use crate::observe::probe::TimeoutKind;
use crate::observe::stats::linx::plus;
use crate::observe::stats::{GAP_CLASSES, LinxEnd, LinxStats, widen};
use linx_riocm::{Counters, Delivery};
use sim_core::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Data frames, and times of messages, that are remembered of each direction of a connection, the last ones:
/// more than any window holds back without an end of the connection.
const FRAMES: usize = 1 << 15;

/// Never.
const NEVER: u64 = u64::MAX;

/// Link address of the sender in messages that a scenario forges.
const FORGED: u32 = u32::MAX;

/// How a message is told from all others of its direction: its link addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// Twice the number of the connection, and 1 if it answers another message.
    pub src: u32,
    /// The position in the connection.
    pub dst: u32,
}

impl Note {
    fn new(life: u32, position: u32, reply: bool) -> Self {
        Note { src: life << 1 | u32::from(reply), dst: position }
    }

    pub fn is_reply(self) -> bool {
        self.src & 1 == 1
    }

    fn life(self) -> u32 {
        self.src >> 1
    }

    /// What the message is filled with by who has this port: messages of other cores are filled otherwise.
    pub fn filler(self, port: u16) -> u8 {
        let core = (port.wrapping_sub(1) as u8).wrapping_mul(101);
        (self.dst as u8).wrapping_add((self.src as u8).wrapping_mul(31)).wrapping_add(core)
    }
}

/// What every heartbeat touches.
#[derive(Copy, Clone, Debug, Default)]
struct Pulse {
    /// Last sign of life, ps of the protocol clock and of the fabric.
    heard: u64,
    heard_at: u64,
    /// ps; 0 while this end is not up.
    period: u64,
}

/// Puts `last` behind the others, of which so many are remembered.
fn push<T>(those: &mut VecDeque<T>, last: T) {
    if those.len() == FRAMES {
        those.pop_front();
    }
    those.push_back(last);
}

/// The life of one connection.
#[derive(Clone, Debug)]
pub(super) struct Life {
    /// Since when this end is up, protocol and fabric time.
    up: Option<(u64, u64)>,
    /// When it last ended.
    ended: u64,
    /// When this end first came up.
    first: u64,
    /// Connections so far: number of the present or last one.
    pub number: u32,
    /// Messages sent in it.
    pub sent: u32,
    /// When each of these was sent, of the last ones.
    times: VecDeque<u64>,
    /// Messages sent in those before.
    pub sent_before: u64,
    /// Of the peer: number of its connection whose message came last.
    pub their_number: u32,
    /// Of the peer: position that comes next.
    pub their_next: u32,
    /// Own number when that connection of the peer was first heard of.
    heard_in: u32,
    /// Messages of the peer that came, each once.
    pub delivered: u64,
    /// Of the peer: messages that were left out within a connection.
    pub missing: u64,
    /// Data frames of this connection: what was sent, and the position of its message.
    frames: VecDeque<(Token, u32)>,
    /// Data frames of the peer that came, also those for which the connection was not up yet.
    arrived: VecDeque<Token>,
}

impl Life {
    pub fn since(&self) -> Option<Time> {
        self.up.map(|(_, fabric)| Time(fabric))
    }

    /// When this end first came up.
    pub fn first(&self) -> Option<Time> {
        (self.first != NEVER).then_some(Time(self.first))
    }

    /// Messages from position `first` on of which a frame has neither come to `receiver` nor is on its way.
    pub fn unseen(
        &self,
        first: u32,
        receiver: &Life,
        is_on_its_way: impl Fn(Token) -> bool,
    ) -> BTreeSet<u32> {
        let arrived: BTreeSet<Token> = receiver.arrived.iter().copied().collect();
        let gone = |&&(token, position): &&(Token, u32)| {
            position >= first && !arrived.contains(&token) && !is_on_its_way(token)
        };
        self.frames.iter().filter(gone).map(|&(_, position)| position).collect()
    }

    /// When the message at this position was sent, or the first one after it of which that is known.
    pub fn sent_at(&self, position: u32) -> Option<Time> {
        let known = self.sent - self.times.len() as u32;
        self.times.get(position.saturating_sub(known) as usize).copied().map(Time)
    }
}

/// The end of a connection, or of an attempt at one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Ended {
    /// It was up: a node also gives up attempts.
    pub was_up: bool,
    /// What a supervision that ran out waited for.
    pub late: Option<TimeoutKind>,
}

/// All of them, and what they come to.
#[derive(Debug)]
pub(super) struct Ledger {
    pub stats: Box<LinxStats>,
    pub lives: Vec<Life>,
    pulses: Vec<Pulse>,
    peers: Vec<u16>,
    own: u16,
    /// Of the senders of what comes.
    peer_port: u16,
    outages: Arc<BTreeMap<u16, Vec<LinxFault>>>,
    absences: Arc<BTreeMap<(u16, u16), Vec<LinxAbsence>>>,
    /// By connection: when the way to the peer is broken, in the fabric.
    pub breaks: Vec<Vec<Break>>,
    /// Own last start.
    booted: u64,
    past: Counters,
}

impl Ledger {
    pub fn new(config: &LinxConfig) -> Self {
        let life = Life {
            up: None,
            ended: NEVER,
            first: NEVER,
            number: 0,
            sent: 0,
            times: VecDeque::new(),
            sent_before: 0,
            their_number: 0,
            their_next: 0,
            heard_in: 0,
            delivered: 0,
            missing: 0,
            frames: VecDeque::new(),
            arrived: VecDeque::new(),
        };
        let count = config.peers.len();
        Ledger {
            stats: Box::new(LinxStats { gaps: vec![0; GAP_CLASSES], ..LinxStats::default() }),
            lives: vec![life; count],
            pulses: vec![Pulse::default(); count],
            peers: config.peers.clone(),
            own: config.node,
            peer_port: config.peer_port,
            outages: Arc::clone(&config.outages),
            absences: Arc::clone(&config.absences),
            breaks: Vec::new(),
            booted: 0,
            past: Counters::default(),
        }
    }

    /// The last outage of a peer that has begun by `now`.
    fn outage(&self, connection: usize, now: u64) -> Option<(u64, u64)> {
        let faults = self.outages.get(&self.peers[connection])?;
        let begun = faults.iter().take_while(|fault| fault.from.0 <= now);
        let last = begun.filter(|fault| fault.kind == LinxFaultKind::Crash).last()?;
        Some((last.from.0, last.until.0))
    }

    /// When one of the ends was not there, could not be heard or hear, or had no link; and whether it was
    /// this one.
    fn faults(&self, connection: usize) -> impl Iterator<Item = (bool, &LinxFault)> {
        let of = |own: bool| {
            let id = if own { self.own } else { self.peers[connection] };
            self.outages.get(&id).into_iter().flatten().map(move |fault| (own, fault))
        };
        of(true).chain(of(false)).filter(|(_, fault)| fault.kind != LinxFaultKind::Stall)
    }

    /// When one of the ends did not want the connection.
    fn unwanted(&self, connection: usize) -> impl Iterator<Item = Break> + '_ {
        let (own, peer) = (self.own, self.peers[connection]);
        let ends = [(own, peer), (peer, own)].into_iter();
        let absences = ends.filter_map(|ends| self.absences.get(&ends)).flatten();
        absences.map(|absence| (absence.from.0, absence.until.0))
    }

    /// Since when the peer or the way from it was not there, if that was so at any time from `since` to
    /// `now`: a silence that began after `since` is no false alarm. Whether this end is heard, or the peer
    /// hears, has no part in what this end hears.
    fn broken(&self, connection: usize, since: u64, now: u64) -> Option<u64> {
        let ways = self.breaks.get(connection).into_iter().flatten().copied();
        let other_way = |own| if own { LinxFaultKind::Mute } else { LinxFaultKind::Deaf };
        let faults = self.faults(connection).filter(|&(own, fault)| fault.kind != other_way(own));
        let faults = faults.map(|(_, fault)| (fault.from.0, fault.until.0));
        let all = faults.chain(ways).chain(self.unwanted(connection));
        all.filter(|&(from, until)| from <= now && until >= since).map(|(from, _)| from).min()
    }

    pub fn connected(&mut self, connection: usize, period: u64, now: u64, fabric_now: u64) {
        let gone = self.faults(connection).map(|(_, fault)| fault);
        let gone = gone.filter(|fault| fault.from.0 <= fabric_now).map(|fault| fault.until.0);
        let there = gone.max().unwrap_or(0);
        // Who has connected has a way, whatever else is broken.
        let ways = self.breaks.get(connection).into_iter().flatten().copied();
        let again = self.unwanted(connection).chain(ways).map(|absence| absence.1);
        let there = again.filter(|&until| until <= fabric_now).fold(there, u64::max);
        let life = &mut self.lives[connection];
        self.stats.connected += 1;
        if life.ended != NEVER {
            let from = life.ended.max(there).max(self.booted).min(fabric_now);
            self.stats.reestablished.record(fabric_now - from);
        }
        life.up = Some((now, fabric_now));
        life.first = life.first.min(fabric_now);
        life.number += 1;
        life.sent_before += u64::from(life.sent);
        life.sent = 0;
        life.times.clear();
        life.frames.clear();
        self.pulses[connection] = Pulse { heard: now, heard_at: fabric_now, period };
    }

    /// A connection ended.
    pub fn ended(&mut self, connection: usize, end: LinxEnd, now: u64, fabric_now: u64) -> Ended {
        let outage = self.outage(connection, fabric_now);
        let broken = self.broken(connection, self.pulses[connection].heard_at, fabric_now);
        let late = |kind| (end == LinxEnd::Timeout).then_some(kind);
        let Some((since, fabric_since)) = self.lives[connection].up.take() else {
            return Ended { was_up: false, late: late(TimeoutKind::Connect) };
        };
        self.lives[connection].ended = fabric_now;
        let stats = &mut self.stats;
        stats.ended[end as usize] += 1;
        stats.up_ps += u128::from(fabric_now - fabric_since);
        if now - since < 3 * self.pulses[connection].period && end != LinxEnd::Requested {
            stats.flaps += 1;
        }
        self.pulses[connection].period = 0;
        if matches!(end, LinxEnd::Crash | LinxEnd::Requested) {
            return Ended { was_up: true, late: None };
        }
        let late = match outage {
            Some((from, _)) if from >= fabric_since => {
                stats.detected.record(fabric_now - from);
                late(TimeoutKind::PeerCrashed)
            }
            _ if end == LinxEnd::Timeout => match broken {
                Some(from) => {
                    stats.detected.record(fabric_now - from.max(fabric_since));
                    late(TimeoutKind::WayBroken)
                }
                None => {
                    stats.false_timeouts += 1;
                    late(TimeoutKind::PeerThere)
                }
            },
            _ => None,
        };
        Ended { was_up: true, late }
    }

    pub fn booted(&mut self, fabric_now: u64) {
        self.booted = fabric_now;
    }

    /// A heartbeat was accepted.
    pub fn heard(&mut self, connection: usize, now: u64, fabric_now: u64) {
        let pulse = &mut self.pulses[connection];
        if pulse.period > 0 {
            self.stats.gap(now - pulse.heard, pulse.period);
            (pulse.heard, pulse.heard_at) = (now, fabric_now);
        }
    }

    /// A data frame left that belongs to the message at this position.
    pub fn frame_left(&mut self, connection: usize, token: Token, position: u32) {
        push(&mut self.lives[connection].frames, (token, position));
    }

    /// A data frame of the message at this position never left.
    pub fn frame_lost(&mut self, connection: usize, position: u32) {
        self.frame_left(connection, Token::MAX, position);
    }

    /// A data frame of the peer came.
    pub fn frame_came(&mut self, connection: usize, token: Token) {
        push(&mut self.lives[connection].arrived, token);
    }

    /// How the next message over this connection is known.
    pub fn note(&self, connection: usize, reply: bool) -> Note {
        let life = &self.lives[connection];
        Note::new(life.number, life.sent, reply)
    }

    /// How the next message is known, which goes out now.
    pub fn next_note(&mut self, connection: usize, reply: bool, fabric_now: u64) -> Note {
        let note = self.note(connection, reply);
        let life = &mut self.lives[connection];
        life.sent += 1;
        push(&mut life.times, fabric_now);
        note
    }

    /// A message came. Whether it is one that the application sees for the first time. `stamped`: it begins
    /// with when it was sent, and this is the time now; others look at what it carries.
    pub fn deliver(
        &mut self,
        connection: usize,
        note: Note,
        delivery: &Delivery,
        stamped: Option<u64>,
    ) -> bool {
        let stats = &mut self.stats;
        if note.src == FORGED {
            stats.forged += 1;
            return false;
        }
        let life = &mut self.lives[connection];
        if note.life() > life.their_number {
            if life.their_number > 0 && life.heard_in == life.number {
                stats.unannounced += 1;
            }
            life.their_number = note.life();
            life.their_next = 0;
            life.heard_in = life.number;
        }
        if note.life() < life.their_number || note.dst < life.their_next {
            stats.repeated += 1;
            return false;
        }
        let missing = u64::from(note.dst - life.their_next);
        stats.missing += missing;
        life.missing += missing;
        life.their_next = note.dst + 1;
        life.delivered += 1;
        stats.delivered += 1;
        let octets = &delivery.octets;
        stats.octets += octets.len() as u64;
        stats.moved += delivery.moved as u64;
        let Some(fabric_now) = stamped else { return true };
        let stamp = octets.first_chunk().map(|at| u64::from_be_bytes(*at));
        if octets.get(8..).unwrap_or(&[]).iter().any(|&octet| octet != note.filler(self.peer_port)) {
            stats.corrupt += 1;
        } else if let Some(at) = stamp {
            let times = if note.is_reply() { &mut stats.round_trips } else { &mut stats.message_ps };
            times.push(fabric_now - at);
            widen(&mut stats.message_span, Some((Time(at), Time(fabric_now))));
        }
        true
    }

    /// Counts of a node that is no more.
    pub fn count(&mut self, counters: &Counters) {
        self.past = plus(&self.past, counters);
    }

    pub fn totals(&self, counters: Option<&Counters>) -> LinxStats {
        let mut stats = (*self.stats).clone();
        stats.frames = counters.map_or(self.past, |counters| plus(&self.past, counters));
        stats
    }
}
