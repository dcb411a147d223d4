//! One connection: its four states and what moves it between them.
//!
//! ```text
//!                 connect                 correct ACK                local problem
//! Disconnected ------------> Connecting -------------> Connected -----------------> Resetting
//!      ^                         |                         |                            |
//!      +---- disconnect ---------+---- peer, timeout ------+----- RESET, new attempt ---+
//! ```
//!
//! # A peer that restarts
//!
//! It may begin again with the generation that it had, and even with its connection ID: then its frames look
//! like late ones of the life before. What tells lives apart is what cannot be guessed: the own connection
//! ID, new for each attempt. A heartbeat or data for it is the *proof* that the peer has come up with this
//! attempt. REQ and ACK prove nothing. So, for a REQ of the generation that is known:
//!
//! | | nothing was exchanged | proof, or data came or went |
//! |---|---|---|
//! | connecting | ACK, as before | begin a new attempt: whoever was up hears of its generation |
//! | connected | ACK: whoever comes up by it finds nothing old | the connection ends, and is told |
//!
//! Messages wait for the proof ([`Opening`](crate::options::Opening)), so nothing is sent to a life that is
//! over; and what a peer sends that has restarted cannot follow what it sent before, because each end has to
//! prove itself to the other with the other's ID first. A peer that sends without proof and keeps its IDs
//! over a restart must be down for longer than its frames are under way.

use crate::cids::Cids;
use crate::counters::Counters;
use crate::event::{Class, ConnectionId, Event, Link, Problem, Reason};
use crate::fragment::cut;
use crate::node::Peer;
use crate::options::{
    GapTimer, HB_TMO_DEFAULT, Liveness, MTU_MIN, Opening, Options, PERIOD_UNIT, Renewal, RepeatedRequest,
    ResetMode, Supervision,
};
use crate::outbox::Outbox;
use crate::receive::{Place, Receive};
use crate::wire::{Address, Data, Frame, Packet};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;

/// ACKs that answer incorrect ones in one period, at most.
pub(crate) const ACKS_PER_PERIOD: u8 = 16;

/// Connection IDs from here on are not those of LINX for Linux, which has a table of 256 and takes the same
/// ID again after a restart.
const LASTING_CIDS: u16 = 256;

/// What a connection may reach while it works.
pub(crate) struct Context<'a> {
    pub now: u64,
    pub id: ConnectionId,
    /// Device ID of the node.
    pub device: u16,
    pub link_up: bool,
    pub options: &'a Options,
    /// Which jitter comes next.
    pub jitter: &'a mut usize,
    pub cids: &'a mut Cids,
    pub counters: &'a mut Counters,
    pub out: &'a mut Outbox,
    pub events: &'a mut VecDeque<Event>,
}

impl Context<'_> {
    /// When the next REQ leaves.
    fn request_at(&mut self) -> u64 {
        let options = self.options;
        let jitter = if options.jitter.is_empty() {
            0
        } else {
            let jitter = options.jitter[*self.jitter % options.jitter.len()];
            *self.jitter = (*self.jitter + 1) % options.jitter.len();
            jitter
        };
        self.now.saturating_add(options.request_period.saturating_add_signed(jitter).max(1))
    }
}

/// What a connection does.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Phase {
    /// Nothing, until the link handler connects.
    Disconnected,
    /// Sends REQ and looks for a correct ACK.
    Connecting,
    /// Carries messages.
    Connected,
    /// Has sent RESET after a local problem and waits for the peer.
    Resetting,
}

/// What can run out.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Timer {
    /// Too long without a sign of life (connected, resetting).
    Supervision,
    /// A gap in the sequence numbers stayed open (connected).
    Gap,
    /// A heartbeat is due (connected). With [`Supervision::Ticks`] the connection is judged here, too.
    Heartbeat,
    /// A REQ is due (connecting).
    Request,
}

impl Timer {
    /// All, in the order in which they are handled at one instant: a connection that is timed out sends no
    /// heartbeat any more.
    pub const ALL: [Self; 4] = [Self::Supervision, Self::Gap, Self::Heartbeat, Self::Request];
}

/// The result of a negotiation, and for which attempt of the peer it was made.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Terms {
    pub generation: u8,
    pub mtu: u16,
    pub hb_tmo: u8,
}

impl Terms {
    fn period(self) -> u64 {
        u64::from(self.hb_tmo) * PERIOD_UNIT
    }
}

/// What another attempt of the peer was told of, while this node was connecting.
///
/// The peer may have been up in it, and have sent data: that must not be taken for data of the present
/// attempt, so each has its own connection ID. But a late REQ of an earlier attempt must not change the ID
/// under which the peer comes up, so the ID is kept, and used again when that attempt is heard of again.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Former {
    /// Of the peer.
    generation: u8,
    cid: u16,
    receive: Receive,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Connecting {
    cid: u16,
    terms: Option<Terms>,
    /// What the peer of these terms said in ACKs to this attempt.
    peer_cid: Option<u16>,
    /// A heartbeat for `cid` came: the peer is up with it.
    proved: bool,
    /// An ACK told the peer of these terms and of `cid`.
    acked: bool,
    /// ACKs since the last REQ that answered incorrect ones.
    acks: u8,
    /// When the next REQ leaves; none while the link is down.
    request_at: Option<u64>,
    receive: Receive,
    former: Option<Box<Former>>,
}

impl Connecting {
    /// Whether the peer has sent data in its attempt of this generation: it has been up.
    fn was_used_by(&self, generation: u8) -> bool {
        let present = self.terms.is_some_and(|terms| terms.generation == generation);
        let former = self.former.as_ref().filter(|former| former.generation == generation);
        present && self.receive.has_gap() || former.is_some_and(|former| former.receive.has_gap())
    }

    /// Whether the peer has named another connection ID in its attempt of this generation: it is another one.
    fn knows_another(&self, generation: u8, cid: u16) -> bool {
        let present = self.terms.is_some_and(|terms| terms.generation == generation);
        present && self.peer_cid.is_some_and(|known| known != cid)
    }
}

/// How long the peer may stay silent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Watch {
    Until(u64),
    Ticks(u8),
}

/// A message that waits until the peer has proved itself.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Waiting {
    src: u32,
    dst: u32,
    octets: Box<[u8]>,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Connected {
    cid: u16,
    peer_cid: u16,
    terms: Terms,
    /// A heartbeat or data for `cid` came: the peer is up with it.
    proved: bool,
    /// Until then.
    waiting: Vec<Waiting>,
    next_seqno: u16,
    next_msgid: u8,
    acks: u8,
    heartbeat_at: u64,
    watch: Watch,
    receive: Receive,
}

impl Connected {
    fn sign_of_life(&mut self, cx: &Context<'_>) {
        self.watch = match self.watch {
            Watch::Until(_) => Watch::Until(cx.now.saturating_add(self.patience(cx))),
            Watch::Ticks(_) => Watch::Ticks(cx.options.periods),
        };
    }

    /// How long the peer may stay silent. Picoseconds.
    fn patience(&self, cx: &Context<'_>) -> u64 {
        u64::from(cx.options.periods) * self.terms.period()
    }

    /// Whether a peer that begins anew can take the place of the one before: nothing was exchanged.
    fn is_untouched(&self) -> bool {
        !self.proved && self.next_seqno == 0 && self.next_msgid == 1
    }

    /// Begins to wait for the packets in front of those that are held.
    fn watch_gap(&mut self, cx: &Context<'_>) {
        let wait = match cx.options.gap_timer {
            GapTimer::Periods => self.patience(cx),
            GapTimer::After(wait) => wait,
            GapTimer::Off => return,
        };
        self.receive.set_deadline(Some(cx.now.saturating_add(wait)));
    }
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Resetting {
    cid: u16,
    terms: Terms,
    until: u64,
    problem: Problem,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
enum State {
    Disconnected,
    Connecting(Connecting),
    Connected(Connected),
    Resetting(Resetting),
}

/// A connection to one peer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Connection {
    peer: Peer,
    /// Of the current or last attempt.
    generation: u8,
    /// Of the first attempt since the last connect.
    first_generation: u8,
    /// An answer came to an attempt that had been given up: answers take longer than a REQ period.
    patient: bool,
    state: State,
}

impl Connection {
    /// The peer's configuration has been checked.
    pub(crate) fn new(peer: Peer, renewal: Renewal) -> Self {
        let generation = match renewal {
            Renewal::Connect => peer.generation.wrapping_sub(1),
            Renewal::Never => peer.generation,
        };
        let hb_tmo = if peer.hb_tmo == 0 { HB_TMO_DEFAULT } else { peer.hb_tmo };
        let peer = Peer { hb_tmo, ..peer };
        let (first_generation, patient) = (generation, false);
        Self { peer, generation, first_generation, patient, state: State::Disconnected }
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.state {
            State::Disconnected => Phase::Disconnected,
            State::Connecting(_) => Phase::Connecting,
            State::Connected(_) => Phase::Connected,
            State::Resetting(_) => Phase::Resetting,
        }
    }

    pub(crate) fn link(&self) -> Option<Link> {
        let State::Connected(connected) = &self.state else { return None };
        Some(self.link_of(connected))
    }

    pub(crate) fn is_proved(&self) -> bool {
        matches!(&self.state, State::Connected(connected) if connected.proved)
    }

    /// Of the current or last attempt.
    pub(crate) fn generation(&self) -> u8 {
        self.generation
    }

    /// The number of the data packet that leaves next.
    pub(crate) fn next_seqno(&self) -> u16 {
        match &self.state {
            State::Connected(connected) => connected.next_seqno,
            _ => 0,
        }
    }

    fn link_of(&self, connected: &Connected) -> Link {
        let Terms { generation, mtu, hb_tmo } = connected.terms;
        Link {
            mtu,
            hb_tmo,
            generation: self.generation,
            peer_generation: generation,
            cid: connected.cid,
            peer_cid: connected.peer_cid,
        }
    }

    /// When each timer runs out.
    pub(crate) fn timer(&self, timer: Timer) -> Option<u64> {
        match (&self.state, timer) {
            (State::Connecting(connecting), Timer::Request) => connecting.request_at,
            (State::Connected(connected), Timer::Heartbeat) => Some(connected.heartbeat_at),
            (State::Connected(Connected { watch: Watch::Until(at), .. }), Timer::Supervision) => Some(*at),
            (State::Connected(connected), Timer::Gap) => connected.receive.deadline(),
            (State::Resetting(resetting), Timer::Supervision) => Some(resetting.until),
            _ => None,
        }
    }

    /// The earliest of all timers.
    pub(crate) fn deadline(&self) -> Option<u64> {
        Timer::ALL.into_iter().filter_map(|timer| self.timer(timer)).min()
    }

    // Calls of the link handler.

    pub(crate) fn connect(&mut self, cx: &mut Context<'_>) {
        if self.phase() == Phase::Disconnected {
            self.attempt(cx);
            (self.first_generation, self.patient) = (self.generation, false);
        }
    }

    pub(crate) fn disconnect(&mut self, cx: &mut Context<'_>) {
        match &self.state {
            State::Disconnected => return,
            State::Connecting(connecting) if connecting.acked => self.send_reset(cx),
            State::Connected(_) => self.send_reset(cx),
            State::Connecting(_) | State::Resetting(_) => {}
        }
        self.leave(cx, Reason::Requested);
    }

    pub(crate) fn transmit(&mut self, cx: &mut Context<'_>, src: u32, dst: u32, octets: &[u8]) {
        let State::Connected(connected) = &mut self.state else {
            cx.counters.not_connected += 1;
            return;
        };
        if octets.len() > cx.options.limits.octets as usize {
            return self.local_problem(cx, Problem::TooLong);
        }
        if cx.options.opening == Opening::Proved && !connected.proved {
            connected.waiting.push(Waiting { src, dst, octets: octets.into() });
            return;
        }
        self.send_message(cx, src, dst, octets);
    }

    fn send_message(&mut self, cx: &mut Context<'_>, src: u32, dst: u32, octets: &[u8]) {
        let State::Connected(connected) = &mut self.state else { return };
        let address = Address { dst_port: self.peer.port, sender: cx.device, src_port: self.peer.local_port };
        let Connected { peer_cid: dst_cid, next_msgid: msgid, .. } = *connected;
        cut(src, dst, octets, connected.terms.mtu, cx.options.fragmentation, |kind, payload| {
            let data = Data { dst_cid, seqno: connected.next_seqno, msgid, kind, payload };
            connected.next_seqno = connected.next_seqno.wrapping_add(1);
            cx.counters.sent_data += 1;
            cx.out.push(cx.id, self.peer.device, Class::Data, &Frame { address, packet: Packet::Data(data) });
        });
        connected.next_msgid = msgid.wrapping_add(1);
    }

    /// The peer is up with the present connection ID: what waited for that can go.
    fn prove(&mut self, cx: &mut Context<'_>) {
        let State::Connected(connected) = &mut self.state else { return };
        if mem::replace(&mut connected.proved, true) {
            return;
        }
        for message in mem::take(&mut connected.waiting) {
            self.send_message(cx, message.src, message.dst, &message.octets);
        }
    }

    /// A data frame of the connection with this ID has not reached the peer.
    pub(crate) fn handle_send_failure(&mut self, cx: &mut Context<'_>, cid: u16) {
        if matches!(&self.state, State::Connected(connected) if connected.cid == cid) {
            self.local_problem(cx, Problem::NotSent);
        }
    }

    /// The local link went down or came up.
    pub(crate) fn handle_link(&mut self, cx: &mut Context<'_>) {
        match &mut self.state {
            State::Disconnected => {}
            State::Connecting(connecting) if !cx.link_up => connecting.request_at = None,
            State::Connecting(_) => self.request_again(cx),
            State::Connected(_) | State::Resetting(_) if cx.link_up => {}
            State::Connected(_) | State::Resetting(_) => self.leave(cx, Reason::LinkDown),
        }
    }

    // Frames.

    pub(crate) fn handle_request(&mut self, cx: &mut Context<'_>, wish: Terms) {
        if wish.mtu < MTU_MIN {
            cx.counters.below_minimum_mtu += 1;
            return;
        }
        let terms = self.negotiate(wish);
        match &mut self.state {
            State::Disconnected => {}
            State::Connecting(connecting) if connecting.was_used_by(terms.generation) => self.restart(cx),
            State::Connecting(_) => self.adopt(cx, terms),
            State::Connected(connected) => {
                if cx.options.repeated_request == RepeatedRequest::Acknowledge
                    && connected.terms == terms
                    && connected.is_untouched()
                {
                    let cid = connected.cid;
                    self.send_ack(cx, cid, terms);
                } else {
                    self.leave(cx, Reason::PeerRestart);
                }
            }
            State::Resetting(resetting) => {
                let reason = Reason::Local(resetting.problem);
                self.leave(cx, reason);
            }
        }
    }

    /// An ACK that came with these terms, `generation_ack` and `my_cid`.
    pub(crate) fn handle_ack(&mut self, cx: &mut Context<'_>, terms: Terms, acknowledged: u8, my_cid: u16) {
        let for_us = acknowledged == self.generation;
        let given_up = self.generation.wrapping_sub(self.first_generation);
        if (1..=given_up).contains(&self.generation.wrapping_sub(acknowledged)) && my_cid >= LASTING_CIDS {
            self.patient = true;
        }
        match &mut self.state {
            State::Disconnected => {}
            State::Connecting(connecting) if for_us && connecting.knows_another(terms.generation, my_cid) => {
                self.restart(cx);
            }
            State::Connecting(connecting) if for_us && connecting.terms == Some(terms) => {
                self.establish(cx, my_cid);
            }
            State::Connected(connected) if for_us && connected.terms == terms => {
                if connected.peer_cid != my_cid {
                    self.leave(cx, Reason::PeerRestart);
                }
            }
            State::Resetting(resetting) if for_us && resetting.terms == terms => {}
            _ if terms.mtu < MTU_MIN => cx.counters.below_minimum_mtu += 1,
            State::Connecting(Connecting { acks: ACKS_PER_PERIOD.., .. }) => cx.counters.acks_withheld += 1,
            State::Connecting(connecting) => {
                connecting.acks += 1;
                let terms = self.negotiate(terms);
                self.adopt(cx, terms);
                if let State::Connecting(connecting) = &mut self.state
                    && for_us
                {
                    connecting.peer_cid = Some(my_cid);
                }
            }
            State::Connected(connected) => {
                if connected.terms.generation != terms.generation
                    || cx.options.repeated_request == RepeatedRequest::Teardown
                {
                    self.leave(cx, Reason::PeerRestart);
                } else if connected.terms != terms {
                    self.local_problem(cx, Problem::Disagreement);
                } else if connected.acks >= ACKS_PER_PERIOD || !connected.is_untouched() {
                    cx.counters.acks_withheld += 1;
                } else {
                    connected.acks += 1;
                    let cid = connected.cid;
                    self.send_ack(cx, cid, terms);
                }
            }
            State::Resetting(resetting) => {
                if resetting.terms.generation != terms.generation {
                    let reason = Reason::Local(resetting.problem);
                    self.leave(cx, reason);
                }
            }
        }
    }

    pub(crate) fn handle_reset(&mut self, cx: &mut Context<'_>, generation: u8) {
        let immediate = cx.options.reset_mode == ResetMode::Immediate;
        let terms = match &self.state {
            State::Disconnected => None,
            State::Connecting(connecting) => connecting.terms,
            State::Connected(Connected { terms, .. }) | State::Resetting(Resetting { terms, .. }) => {
                Some(*terms)
            }
        };
        if !immediate && terms.is_none_or(|terms| terms.generation != generation) {
            cx.counters.old_resets += 1;
            return;
        }
        match &mut self.state {
            State::Disconnected => {}
            State::Connecting(_) if immediate => {}
            State::Connecting(_) => self.forget_peer(cx),
            State::Connected(_) => {
                if !immediate {
                    self.send_reset(cx);
                }
                self.leave(cx, Reason::PeerReset);
            }
            State::Resetting(resetting) => {
                let reason = Reason::Local(resetting.problem);
                self.leave(cx, reason);
            }
        }
    }

    pub(crate) fn handle_heartbeat(&mut self, cx: &mut Context<'_>, dst_cid: u16) {
        match &mut self.state {
            State::Connected(connected) => {
                cx.counters.heartbeats += 1;
                connected.sign_of_life(cx);
                return self.prove(cx);
            }
            State::Connecting(connecting) if connecting.acked && connecting.cid == dst_cid => {
                connecting.proved = true;
            }
            _ => {}
        }
        cx.counters.untimely += 1;
    }

    /// `frame` is what `data` was read from.
    pub(crate) fn handle_data(&mut self, cx: &mut Context<'_>, frame: &[u8], data: &Data<'_>) {
        let window = cx.options.window;
        match &mut self.state {
            State::Connecting(connecting) if connecting.acked => {
                let receive = match &mut connecting.former {
                    Some(former) if former.cid == data.dst_cid => &mut former.receive,
                    _ => &mut connecting.receive,
                };
                match receive.place(data.seqno, window) {
                    Place::Within(ahead) => Self::hold(cx, receive, ahead, frame),
                    Place::Old => cx.counters.old_data += 1,
                    Place::Beyond if cx.options.reset_mode == ResetMode::Immediate => {
                        cx.counters.untimely += 1;
                    }
                    Place::Beyond => {
                        self.send_reset(cx);
                        self.restart(cx);
                    }
                }
            }
            State::Connected(_) => {
                self.prove(cx);
                let State::Connected(connected) = &mut self.state else { return };
                if frame.len() > usize::from(connected.terms.mtu) {
                    cx.counters.above_mtu += 1;
                }
                if cx.options.liveness == Liveness::Any {
                    connected.sign_of_life(cx);
                }
                match connected.receive.place(data.seqno, window) {
                    Place::Within(0) => self.process(cx, data),
                    Place::Within(ahead) => {
                        let waits = connected.receive.has_gap();
                        Self::hold(cx, &mut connected.receive, ahead, frame);
                        if !waits {
                            connected.watch_gap(cx);
                        }
                    }
                    Place::Beyond => self.local_problem(cx, Problem::Window),
                    Place::Old => {
                        cx.counters.old_data += 1;
                        if connected.receive.count_old(window) {
                            self.local_problem(cx, Problem::Renumbered);
                        }
                    }
                }
            }
            _ => cx.counters.untimely += 1,
        }
    }

    /// A packet of this connection that cannot be read.
    pub(crate) fn handle_malformed(&mut self, cx: &mut Context<'_>) {
        cx.counters.malformed += 1;
        if cx.options.reset_mode == ResetMode::Immediate {
            return;
        }
        match &self.state {
            State::Connecting(connecting) if connecting.acked => self.restart(cx),
            State::Connected(_) => self.local_problem(cx, Problem::Malformed),
            _ => {}
        }
    }

    /// Something ran out. No effect if it is not armed.
    pub(crate) fn handle_timer(&mut self, cx: &mut Context<'_>, timer: Timer) {
        if self.timer(timer).is_none() {
            return;
        }
        match (timer, &mut self.state) {
            (Timer::Request, _) => self.request_again(cx),
            (Timer::Supervision, State::Resetting(_)) => self.leave(cx, Reason::Timeout),
            (Timer::Supervision, _) => {
                self.send_reset(cx);
                self.leave(cx, Reason::Timeout);
            }
            (Timer::Gap, _) => self.local_problem(cx, Problem::Gap),
            (Timer::Heartbeat, State::Connected(connected)) => {
                if let Watch::Ticks(left) = &mut connected.watch {
                    *left -= 1;
                    if *left == 0 {
                        self.send_reset(cx);
                        return self.leave(cx, Reason::Timeout);
                    }
                }
                let period = connected.terms.period();
                let next = connected.heartbeat_at.saturating_add(period);
                // In step with those before, unless the owner was late by a period: no bursts.
                connected.heartbeat_at = if next > cx.now { next } else { cx.now.saturating_add(period) };
                connected.acks = 0;
                let dst_cid = connected.peer_cid;
                self.send_heartbeat(cx, dst_cid);
            }
            (Timer::Heartbeat, _) => {}
        }
    }

    // Steps.

    /// Begins an attempt: nothing is known of the peer.
    fn attempt(&mut self, cx: &mut Context<'_>) {
        if cx.options.renewal == Renewal::Connect {
            self.generation = self.generation.wrapping_add(1);
        }
        self.state = State::Connecting(Connecting {
            cid: cx.cids.take(cx.id.0),
            terms: None,
            peer_cid: None,
            proved: false,
            acked: false,
            acks: 0,
            request_at: None,
            receive: Receive::default(),
            former: None,
        });
        if cx.link_up {
            self.request(cx);
        }
    }

    /// Begins a new attempt instead of this one, of which the link handler knows nothing.
    fn restart(&mut self, cx: &mut Context<'_>) {
        self.release_cid(cx);
        self.attempt(cx);
    }

    /// Asks once more. Whoever was told of the own connection ID may be up with it, and an implementation
    /// that ends its connection with any REQ would come up a second time with the same ID: its answers to the
    /// REQ before and after look alike. So a new attempt begins, unless the peer has shown that its answers
    /// are only late; and always if it has sent data.
    fn request_again(&mut self, cx: &mut Context<'_>) {
        let State::Connecting(connecting) = &self.state else { return };
        let renews = connecting.acked && cx.options.renewal == Renewal::Connect && !self.patient;
        if renews || connecting.receive.has_gap() { self.restart(cx) } else { self.request(cx) }
    }

    /// Sends REQ, now and again later.
    fn request(&mut self, cx: &mut Context<'_>) {
        let State::Connecting(connecting) = &mut self.state else { return };
        connecting.request_at = Some(cx.request_at());
        connecting.acks = 0;
        let Peer { mtu, hb_tmo, .. } = self.peer;
        let generation = self.generation;
        cx.counters.sent_management += 1;
        self.send(cx, Class::Connection, Packet::Request { generation, mtu, hb_tmo });
    }

    /// What comes of the own wishes and those of the peer.
    fn negotiate(&self, wish: Terms) -> Terms {
        Terms {
            generation: wish.generation,
            mtu: wish.mtu.min(self.peer.mtu),
            hb_tmo: wish.hb_tmo.max(self.peer.hb_tmo),
        }
    }

    /// Takes these terms and tells the peer.
    fn adopt(&mut self, cx: &mut Context<'_>, terms: Terms) {
        self.turn_to(cx, terms.generation);
        let State::Connecting(connecting) = &mut self.state else { return };
        connecting.terms = Some(terms);
        connecting.acked = true;
        if connecting.request_at.is_some() && cx.options.renewal == Renewal::Connect {
            // The answer has a whole period to come.
            connecting.request_at = Some(cx.request_at());
        }
        let cid = connecting.cid;
        self.send_ack(cx, cid, terms);
    }

    /// Turns from one attempt of the peer to another. The own generation stays, or two nodes would make each
    /// other begin anew for ever.
    fn turn_to(&mut self, cx: &mut Context<'_>, generation: u8) {
        let State::Connecting(connecting) = &mut self.state else { return };
        let known = connecting.terms.map(|terms| terms.generation);
        if known == Some(generation) {
            return;
        }
        let (cid, receive) = match connecting.former.take_if(|former| former.generation == generation) {
            Some(former) => (former.cid, former.receive),
            None if connecting.acked => (cx.cids.take(cx.id.0), Receive::default()),
            None => return,
        };
        (connecting.peer_cid, connecting.proved) = (None, false);
        let cid = mem::replace(&mut connecting.cid, cid);
        let receive = mem::replace(&mut connecting.receive, receive);
        let unused = match known.filter(|_| connecting.acked) {
            Some(generation) => connecting
                .former
                .replace(Box::new(Former { generation, cid, receive }))
                .map(|other| other.cid),
            None => Some(cid),
        };
        if let Some(cid) = unused {
            cx.cids.release(cid);
        }
    }

    /// The peer has given its attempt up while this node was still connecting. What it sent before must go,
    /// and what is still on its way must not find the connection.
    fn forget_peer(&mut self, cx: &mut Context<'_>) {
        let State::Connecting(connecting) = &mut self.state else { return };
        connecting.terms = None;
        (connecting.peer_cid, connecting.proved) = (None, false);
        if mem::take(&mut connecting.acked) {
            cx.cids.release(connecting.cid);
            connecting.cid = cx.cids.take(cx.id.0);
            connecting.receive = Receive::default();
        }
    }

    /// A correct ACK came.
    fn establish(&mut self, cx: &mut Context<'_>, peer_cid: u16) {
        let State::Connecting(connecting) = &mut self.state else { return };
        let Some(terms) = connecting.terms else { return };
        let cid = connecting.cid;
        if let Some(former) = connecting.former.take() {
            cx.cids.release(former.cid);
        }
        let period = terms.period();
        let (heartbeat_at, watch) = match (cx.options.supervision, connecting.request_at) {
            // One timer for REQ and ticks: it goes on, unless requests are farther apart than heartbeats
            // may be.
            (Supervision::Ticks, Some(at)) => {
                (at.min(cx.now.saturating_add(period)), Watch::Ticks(cx.options.periods))
            }
            (Supervision::Ticks, None) => (cx.now.saturating_add(period), Watch::Ticks(cx.options.periods)),
            (Supervision::Deadline, _) => (cx.now.saturating_add(period), Watch::Until(0)),
        };
        let receive = mem::take(&mut connecting.receive);
        let mut connected = Connected {
            cid,
            peer_cid,
            terms,
            proved: connecting.proved || receive.has_gap(),
            waiting: Vec::new(),
            next_seqno: 0,
            next_msgid: 1,
            acks: 0,
            heartbeat_at,
            watch,
            receive,
        };
        connected.sign_of_life(cx);
        let link = self.link_of(&connected);
        self.state = State::Connected(connected);
        self.send_ack(cx, cid, terms);
        if cx.options.opening == Opening::Proved {
            self.send_heartbeat(cx, peer_cid);
        }
        cx.events.push_back(Event::Connected { connection: cx.id, link });
        self.drain(cx);
    }

    fn hold(cx: &mut Context<'_>, receive: &mut Receive, ahead: u16, frame: &[u8]) {
        if receive.hold(ahead, frame) {
            cx.counters.held += 1;
            cx.counters.held_max = cx.counters.held_max.max(receive.held() as u64);
        } else {
            cx.counters.duplicates += 1;
        }
    }

    /// Takes the next packet in order, and those that waited for it.
    fn process(&mut self, cx: &mut Context<'_>, data: &Data<'_>) {
        let State::Connected(connected) = &mut self.state else { return };
        cx.counters.data += 1;
        match connected.receive.process(data, cx.options.limits) {
            Ok(None) => {}
            Ok(Some(delivery)) => {
                cx.counters.delivered += 1;
                cx.events.push_back(Event::Deliver { connection: cx.id, delivery });
            }
            Err(error) => return self.cannot_process(cx, error.into()),
        }
        self.drain(cx);
    }

    /// Takes what is held and next in order.
    fn drain(&mut self, cx: &mut Context<'_>) {
        let State::Connected(connected) = &mut self.state else { return };
        let mut problem = None;
        while let Some(taken) = connected.receive.process_held(cx.options.limits) {
            cx.counters.data += 1;
            match taken {
                Ok(None) => {}
                Ok(Some(delivery)) => {
                    cx.counters.delivered += 1;
                    cx.events.push_back(Event::Deliver { connection: cx.id, delivery });
                }
                Err(error) => {
                    problem = Some(error.into());
                    break;
                }
            }
        }
        match problem {
            Some(problem) => self.cannot_process(cx, problem),
            // What is still held waits for another packet now.
            None => connected.watch_gap(cx),
        }
    }

    fn cannot_process(&mut self, cx: &mut Context<'_>, problem: Problem) {
        if problem == Problem::Malformed {
            cx.counters.malformed += 1;
        }
        self.local_problem(cx, problem);
    }

    /// This node cannot deliver.
    fn local_problem(&mut self, cx: &mut Context<'_>, problem: Problem) {
        let State::Connected(connected) = &self.state else { return };
        if cx.options.reset_mode == ResetMode::Immediate {
            return self.leave(cx, Reason::Local(problem));
        }
        let until = match connected.watch {
            Watch::Until(at) => at,
            Watch::Ticks(left) => {
                connected.heartbeat_at.saturating_add(u64::from(left - 1) * connected.terms.period())
            }
        };
        let Connected { cid, terms, .. } = *connected;
        self.send_reset(cx);
        self.state = State::Resetting(Resetting { cid, terms, until, problem });
    }

    /// Ends it, and says so.
    fn leave(&mut self, cx: &mut Context<'_>, reason: Reason) {
        self.release_cid(cx);
        self.state = State::Disconnected;
        cx.events.push_back(Event::Disconnected { connection: cx.id, reason });
    }

    fn release_cid(&mut self, cx: &mut Context<'_>) {
        match &self.state {
            State::Disconnected => {}
            State::Connecting(Connecting { cid, former, .. }) => {
                cx.cids.release(*cid);
                if let Some(former) = former {
                    cx.cids.release(former.cid);
                }
            }
            State::Connected(Connected { cid, .. }) | State::Resetting(Resetting { cid, .. }) => {
                cx.cids.release(*cid);
            }
        }
    }

    fn send_ack(&self, cx: &mut Context<'_>, my_cid: u16, terms: Terms) {
        cx.counters.sent_management += 1;
        let packet = Packet::Ack {
            generation: self.generation,
            mtu_ack: terms.mtu,
            generation_ack: terms.generation,
            hb_tmo_ack: terms.hb_tmo,
            my_cid,
        };
        self.send(cx, Class::Connection, packet);
    }

    fn send_reset(&self, cx: &mut Context<'_>) {
        cx.counters.sent_management += 1;
        self.send(cx, Class::Connection, Packet::Reset { generation: self.generation });
    }

    fn send_heartbeat(&self, cx: &mut Context<'_>, dst_cid: u16) {
        cx.counters.sent_heartbeats += 1;
        self.send(cx, Class::Heartbeat, Packet::Heartbeat { dst_cid });
    }

    fn send(&self, cx: &mut Context<'_>, class: Class, packet: Packet<'_>) {
        let address = Address { dst_port: self.peer.port, sender: cx.device, src_port: self.peer.local_port };
        cx.out.push(cx.id, self.peer.device, class, &Frame { address, packet });
    }
}
