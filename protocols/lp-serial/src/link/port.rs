//! The port: its state, its life, and the verbs that are not a side's own.

use super::config::{Config, ConfigError, FlowControl, PacketMeta};
use super::event::LinkEvent;
use super::flow::{self, Buffers, Credit};
use super::init::Phase;
use super::outbox::{Due, Outbox};
use super::recovery::Request;
use super::schedule::Schedule;
use super::state::{InputState, OutputState};
use super::timer::{LinkTimer, TimerTable};
use crate::control_symbol::{ControlSymbol, LinkRequest, Stype0, Stype1};
use crate::cost::BufStatus;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;

/// Queues of waiting packets in VC0: one for each priority and CRF.
pub(super) const CLASSES: usize = 8;

/// A packet that is outstanding.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Sent<P> {
    pub packet: P,
    pub meta: PacketMeta,
    /// When its start-of-packet left.
    pub at: u64,
    /// Its transmission was cut short: it counts as not sent.
    pub cancelled: bool,
    /// It is not to be sent again.
    pub withdrawn: bool,
}

/// Both directions of one end of a link; see the [module](super) for the contract.
///
/// `P` is a packet as the owner knows it: a handle, bytes, a small integer.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct LinkPort<P> {
    pub(super) config: Config,
    pub(super) phase: Phase,
    /// When the link was last lost.
    pub(super) lost_at: u64,
    /// Flow control in use (while the link is not up: the best that this port can do).
    pub(super) flow: FlowControl,
    /// buf_status of VC0 in the last status while the link initialises.
    pub(super) first_status: u8,

    // Input side.
    pub(super) input: InputState,
    /// ackID expected next.
    pub(super) expected: u8,
    /// A packet has begun to arrive and has not ended.
    pub(super) arriving: bool,
    /// reset-device requests in a row.
    pub(super) resets: u8,
    /// By channel.
    pub(super) buffers: Vec<Buffers>,

    // Output side.
    pub(super) output: OutputState,
    /// ackID of the oldest packet outstanding; of the next packet, if none is.
    pub(super) oldest: u8,
    pub(super) sent: VecDeque<Sent<P>>,
    /// Waiting packets: eight classes of VC0, then the other channels.
    pub(super) waiting: Vec<VecDeque<(P, PacketMeta)>>,
    pub(super) schedule: Schedule,
    /// By channel.
    pub(super) credits: Vec<Credit>,
    /// The packet on the wire: the last in `sent`, unless a retry has put that back.
    pub(super) on_wire: Option<P>,
    /// It is to be stomped.
    pub(super) stomp: bool,
    pub(super) request: Request,
    /// Link-requests since the last answer.
    pub(super) attempts: u8,
    pub(super) failed: bool,
    pub(super) multicast: u8,

    pub(super) outbox: Outbox,
    pub(super) events: VecDeque<LinkEvent<P>>,
    pub(super) timers: TimerTable,
}

/// A stype0 function that is due and has not left, in error-free operation of a single VC. Both tell the free
/// buffers of the instant at which they became due.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Unsent {
    /// packet-accepted.
    Accepted {
        /// Free buffers.
        free: u16,
    },
    /// status.
    Status {
        /// Free buffers.
        free: u16,
    },
}

/// One of VC1 to VC8 of a link in operation.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct OpenChannel {
    /// buf_status that the partner told last.
    pub told: u16,
    /// Receive buffers in use by accepted packets.
    pub occupied: u16,
    /// Free buffers that the partner was told last.
    pub advertised: u16,
}

/// A link in operation without any exchange open, as the closed form of its error-free path knows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Handover<P> {
    /// Flow control in use.
    pub flow: FlowControl,
    /// ackID of the next packet.
    pub next_ack_id: u8,
    /// Packets sent and not acknowledged, oldest first, with the time at which each began, ps.
    pub outstanding: Vec<(P, PacketMeta, u64)>,
    /// The last of them is on the wire.
    pub transmitting: bool,
    /// buf_status that the partner told last.
    pub told: u16,
    /// ackID expected in the next packet that arrives.
    pub expected_ack_id: u8,
    /// Receive buffers in use by accepted packets.
    pub occupied: u16,
    /// Free buffers that the partner was told last, or will be by a function that is due.
    pub advertised: u16,
    /// A packet is arriving: its start-of-packet came, its end did not.
    pub arriving: bool,
    /// Functions that are due, oldest first; all of them are of VC0.
    pub unsent: Vec<Unsent>,
    /// The active channels beside VC0, in their order.
    pub channels: Vec<OpenChannel>,
}

impl<P: Clone + Debug + Eq + Hash> LinkPort<P> {
    /// A port after reset: its link is down.
    ///
    /// # Errors
    /// What [`Config::check`] finds.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let channels = usize::from(config.channels.count());
        let optional = config.vcs[..channels].iter().map(|vc| Buffers::new(vc.buffers));
        Ok(Self {
            phase: Phase::Down,
            lost_at: 0,
            flow: config.flow,
            first_status: config.form.parameter_max(),
            input: InputState::Normal,
            expected: 0,
            arriving: false,
            resets: 0,
            buffers: core::iter::once(Buffers::new(config.buffers)).chain(optional).collect(),
            output: OutputState::Normal,
            oldest: 0,
            sent: VecDeque::new(),
            waiting: vec![VecDeque::new(); CLASSES + channels],
            schedule: Schedule::new(&config),
            credits: vec![Credit::default(); 1 + channels],
            on_wire: None,
            stomp: false,
            request: Request::None,
            attempts: 0,
            failed: false,
            multicast: 0,
            outbox: Outbox::default(),
            events: VecDeque::new(),
            timers: TimerTable::default(),
            config,
        })
    }

    /// A port in the middle of its work, its link up.
    ///
    /// # Errors
    /// What [`Config::check`] finds.
    ///
    /// # Panics
    /// If `handover` has other channels than the configuration, or more packets or buffers than fit.
    pub fn resume(config: Config, handover: Handover<P>) -> Result<Self, ConfigError> {
        let mut port = Self::new(config)?;
        assert!(port.credits.len() == 1 + handover.channels.len(), "other channels than there are");
        assert!(handover.outstanding.len() <= usize::from(port.config.hold), "more outstanding than held");
        assert!(
            handover.occupied.max(handover.advertised) <= port.config.buffers,
            "more buffers than there are"
        );
        let outstanding = handover.outstanding.len() as u16;
        port.phase = Phase::Up;
        port.flow = handover.flow;
        port.expected = handover.expected_ack_id & port.config.form.parameter_max();
        port.oldest = handover.next_ack_id.wrapping_sub(outstanding as u8) & port.config.form.parameter_max();
        port.buffers[0] = Buffers::resume(port.config.buffers, handover.occupied, handover.advertised);
        for (channel, open) in (1..).zip(&handover.channels) {
            let total = port.config.vcs[channel - 1].buffers;
            assert!(open.occupied.max(open.advertised) <= total, "more buffers than there are");
            port.buffers[channel] = Buffers::resume(total, open.occupied, open.advertised);
        }
        if port.is_transmitter_controlled() {
            let told = core::iter::once(handover.told).chain(handover.channels.iter().map(|open| open.told));
            for (channel, told) in (0..).zip(told) {
                let own = handover.outstanding.iter().filter(|sent| port.config.channel(sent.1) == channel);
                port.credits[usize::from(channel)] = Credit::new(told, own.count() as u16);
            }
        }
        port.sent = handover
            .outstanding
            .into_iter()
            .map(|(packet, meta, at)| Sent { packet, meta, at, cancelled: false, withdrawn: false })
            .collect();
        port.on_wire = port.sent.back().filter(|_| handover.transmitting).map(|last| last.packet.clone());
        port.arriving = handover.arriving;
        let mask = port.config.form.parameter_max();
        let accepted = handover.unsent.iter().filter(|due| matches!(due, Unsent::Accepted { .. })).count();
        let mut ack_id = port.expected.wrapping_sub(accepted as u8) & mask;
        for unsent in handover.unsent {
            port.outbox.push(match unsent {
                Unsent::Status { free } => Due::Status { free },
                Unsent::Accepted { free } => {
                    let next = ack_id.wrapping_add(1) & mask;
                    Due::Accepted { ack_id: core::mem::replace(&mut ack_id, next), channel: 0, free }
                }
            });
        }
        port.time_acknowledgement();
        Ok(port)
    }

    /// The state for the closed form, if there is nothing that it does not know: the link is up, no side is
    /// stopped, no exchange is open, no packet waits or is on the wire in either direction, and no symbol is
    /// due. Packets may be outstanding. Waiting events do not matter.
    #[must_use]
    pub fn handover(&self) -> Option<Handover<P>> {
        let clean = self.phase.is_up()
            && self.input == InputState::Normal
            && self.output == OutputState::Normal
            && self.request == Request::None
            && !(self.on_wire.is_some() || self.arriving || self.failed)
            && self.multicast == 0
            && self.outbox.len() == 0
            && self.waiting.iter().all(VecDeque::is_empty);
        clean.then(|| Handover {
            flow: self.flow,
            next_ack_id: self.next_ack_id(),
            outstanding: self.sent.iter().map(|sent| (sent.packet.clone(), sent.meta, sent.at)).collect(),
            transmitting: false,
            told: self.credits[0].last_told(),
            expected_ack_id: self.expected,
            occupied: self.buffers[0].occupied(),
            advertised: self.buffers[0].advertised(),
            arriving: false,
            unsent: Vec::new(),
            channels: (1..self.credits.len())
                .map(|channel| OpenChannel {
                    told: self.credits[channel].last_told(),
                    occupied: self.buffers[channel].occupied(),
                    advertised: self.buffers[channel].advertised(),
                })
                .collect(),
        })
    }

    // Life of the link.

    /// The lanes are aligned: link initialisation begins. ackIDs, stop states and packets are as before a
    /// loss. Ignored unless the link is down.
    pub fn port_initialized(&mut self) {
        if self.phase == Phase::Down {
            self.phase = Phase::CALLING;
            self.flow = self.config.flow;
        }
    }

    /// Alignment is lost at `now`: nothing is sent or received, and timers stand still, so for the
    /// acknowledgement of a packet the time of an outage does not count. A packet on the wire, in either
    /// direction, is cut; symbols that were due are lost, as on a wire that broke. A packet that was cut here
    /// is sent anew, with its ackID, when the link is back: the partner has not taken it, and answers
    /// nothing.
    pub fn port_lost(&mut self, now: u64) {
        if self.phase == Phase::Down {
            return;
        }
        if self.phase.is_up() {
            self.lost_at = now;
            self.events.push_back(LinkEvent::Down);
        }
        self.phase = Phase::Down;
        self.cut_transmission();
        self.take_back_cut();
        self.arriving = false;
        self.outbox.clear();
        if self.request != Request::None {
            // The answer is lost with the link; asked again when it is back.
            self.request = Request::Due { back_up_to: None };
        }
        self.timers.clear();
    }

    /// Reset: as [`new`](Self::new), but the packets that the port held come back, oldest first.
    pub fn reset(&mut self) -> Vec<P> {
        let Ok(fresh) = Self::new(self.config.clone()) else { unreachable!("the configuration was checked") };
        let old = core::mem::replace(self, fresh);
        let sent = old.sent.into_iter().map(|sent| sent.packet);
        let waiting = old.waiting.into_iter().flatten().map(|(packet, _)| packet);
        sent.chain(waiting).collect()
    }

    /// Both counts are complete: the link is up.
    pub(super) fn complete_initialisation(&mut self, now: u64) {
        if !self.phase.is_complete() {
            return;
        }
        self.phase = Phase::Up;
        let told = flow::read(self.config.form, self.first_status);
        self.flow = match (self.config.flow, told) {
            (FlowControl::Transmitter, BufStatus::Exactly(_) | BufStatus::AtLeast(_)) => {
                FlowControl::Transmitter
            }
            _ => FlowControl::Receiver,
        };
        self.credits[0].told(told);
        if self.is_transmitter_controlled() && self.buffers[0].free() != self.buffers[0].advertised() {
            // It changed since the last status of the initialisation.
            self.tell_vc0();
        }
        self.tell_optional_vcs();
        for sent in &mut self.sent {
            // as long ago as it was when the link was lost
            sent.at = now.saturating_sub(self.lost_at.saturating_sub(sent.at));
        }
        self.time_acknowledgement();
        self.timers
            .set(LinkTimer::Status, self.config.status_period.map(|period| now.saturating_add(period)));
        let refresh = self.config.vc_refresh_period.filter(|_| self.is_multi_vc());
        self.timers.set(LinkTimer::VcRefresh, refresh.map(|period| now.saturating_add(period)));
        self.events.push_back(LinkEvent::Up(self.flow));
    }

    /// VC_status of every active optional VC becomes due, in order of VCID.
    pub(super) fn tell_optional_vcs(&mut self) {
        for channel in 1..self.buffers.len() as u8 {
            let free = self.buffers[usize::from(channel)].advertise();
            self.outbox.push(Due::VcStatus { channel, free });
        }
    }

    /// Status of VC0 becomes due.
    pub(super) fn tell_vc0(&mut self) {
        let free = self.buffers[0].advertise();
        self.outbox.push(Due::Status { free });
    }

    // Inputs that concern both sides.

    /// An error-free control symbol came: [`handle_stype0`](Self::handle_stype0), then
    /// [`handle_stype1`](Self::handle_stype1). A packet that it ends normally has been handled before.
    pub fn handle_symbol(&mut self, now: u64, symbol: ControlSymbol) {
        self.handle_stype0(now, symbol.stype0());
        self.handle_stype1(symbol.stype1());
        // Only status may stand between the requests of a reset.
        let is_status = matches!(symbol.stype0(), Stype0::Status { .. });
        let is_reset = symbol.stype1() == Stype1::LinkRequest(LinkRequest::ResetDevice);
        if !(is_status && (is_reset || symbol.stype1() == Stype1::Nop)) {
            self.resets = 0;
        }
    }

    /// Time has come to `now`: what was due until then happens. Without a deadline in the past nothing does.
    pub fn handle_timeout(&mut self, now: u64) {
        for timer in LinkTimer::ALL {
            if self.timers.expire(timer, now) {
                self.timer_expired(timer, now);
            }
        }
    }

    fn timer_expired(&mut self, timer: LinkTimer, now: u64) {
        match timer {
            LinkTimer::Acknowledgement | LinkTimer::LinkResponse => self.link_timeout(timer),
            LinkTimer::Status if self.phase.is_up() => self.tell_vc0(),
            LinkTimer::Status => self.phase.period_over(),
            LinkTimer::VcRefresh => {
                self.tell_optional_vcs();
                let next = self.config.vc_refresh_period.map(|period| now.saturating_add(period));
                self.timers.set(timer, next);
            }
        }
    }

    // Outputs.

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<LinkEvent<P>> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do next, in the unit of `now`. Any
    /// other call may change it.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.timers.next()
    }

    // Looking inside.

    /// How the port was set up.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Whether the link is initialised.
    #[must_use]
    pub const fn is_up(&self) -> bool {
        self.phase.is_up()
    }

    /// stype0 functions that are due and have not left. Each leaves with a symbol of its own.
    #[must_use]
    pub fn due(&self) -> usize {
        self.outbox.len()
    }

    /// Whether an stype1 function other than a delimiter is due: a symbol has to leave for it.
    #[must_use]
    pub fn wants_symbol(&self) -> bool {
        self.phase.is_up()
            && (matches!(self.request, Request::Due { .. })
                || self.output == OutputState::RetryStopped
                || self.multicast > 0)
    }

    /// Whether the link was lost, or never was, and nobody has called
    /// [`port_initialized`](Self::port_initialized) since.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.phase == Phase::Down
    }

    /// Whether the output side has given up.
    #[must_use]
    pub const fn has_failed(&self) -> bool {
        self.failed
    }

    /// Flow control in use.
    #[must_use]
    pub const fn flow(&self) -> FlowControl {
        self.flow
    }

    /// State of the input side.
    #[must_use]
    pub const fn input(&self) -> InputState {
        self.input
    }

    /// State of the output side.
    #[must_use]
    pub const fn output(&self) -> OutputState {
        self.output
    }

    /// ackID that the next packet sent will have.
    #[must_use]
    pub fn next_ack_id(&self) -> u8 {
        self.oldest.wrapping_add(self.sent.len() as u8) & self.config.form.parameter_max()
    }

    /// ackID expected in the next packet that arrives.
    #[must_use]
    pub const fn expected_ack_id(&self) -> u8 {
        self.expected
    }

    /// Packets sent and not acknowledged.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.sent.len()
    }

    /// Packets that wait to be sent, or sent again.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.iter().map(VecDeque::len).sum()
    }

    /// Packets of `channel`, 0 for VC0, that wait to be sent, or sent again.
    #[must_use]
    pub fn waiting_in(&self, channel: u8) -> usize {
        match channel {
            0 => self.waiting[..CLASSES].iter().map(VecDeque::len).sum(),
            _ => self.waiting[CLASSES + usize::from(channel) - 1].len(),
        }
    }

    /// The channel of whose buffers the next stype0 function tells that is due, if it tells of any.
    #[must_use]
    pub fn next_tells_of(&self) -> Option<u8> {
        self.outbox.first().and_then(Due::tells_of)
    }

    /// What the port knows of the partner's buffers of `channel`, 0 for VC0.
    ///
    /// # Panics
    /// If the channel is not active.
    #[must_use]
    pub fn credit(&self, channel: u8) -> Credit {
        self.credits[usize::from(channel)]
    }

    /// The receive buffers of `channel`, 0 for VC0.
    ///
    /// # Panics
    /// If the channel is not active.
    #[must_use]
    pub fn buffers(&self, channel: u8) -> Buffers {
        self.buffers[usize::from(channel)]
    }

    pub(super) fn is_multi_vc(&self) -> bool {
        self.credits.len() > 1
    }

    pub(super) fn is_transmitter_controlled(&self) -> bool {
        self.flow == FlowControl::Transmitter
    }
}
