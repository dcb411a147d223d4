//! The output side under stype0: acknowledgements, retry, and recovery from errors.

use super::config::FlowControl;
use super::event::{Fatal, LinkEvent, OutputError};
use super::flow;
use super::init::Phase;
use super::port::LinkPort;
use super::state::{OutputAction, OutputEvent, OutputState};
use super::timer::LinkTimer;
use crate::control_symbol::Stype0;
use core::fmt::Debug;
use core::hash::Hash;

/// The link-request of this port. Only one may be outstanding.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) enum Request {
    /// None.
    #[default]
    None,
    /// It has to be sent; then packets resume at `back_up_to` if the ackID is known, else they wait.
    Due { back_up_to: Option<u8> },
    /// Its answer is awaited.
    Outstanding,
    /// The answer of an earlier recovery is awaited, and says nothing about the present one.
    Stale,
}

impl<P: Clone + Debug + Eq + Hash> LinkPort<P> {
    /// The first function of an error-free symbol. Most drivers call
    /// [`handle_symbol`](Self::handle_symbol).
    pub fn handle_stype0(&mut self, now: u64, function: Stype0) {
        let status = match function {
            Stype0::Status { buf_status, .. } => Some((0, buf_status)),
            Stype0::VcStatus { vcid, buf_status } if self.is_multi_vc() => {
                Some((self.config.channels.channel_of(vcid), buf_status))
            }
            _ => None,
        };
        if self.phase == Phase::Down {
            return;
        }
        if let Some((channel, raw)) = status {
            self.credits[usize::from(channel)].told(flow::read(self.config.form, raw));
            if channel == 0 {
                self.first_status = raw;
                self.phase.status_received();
                self.complete_initialisation(now);
            }
            return;
        }
        if !self.phase.is_up() || self.failed {
            return;
        }
        match function {
            Stype0::PacketAccepted { ack_id, buf_status } => self.packet_accepted(ack_id, buf_status),
            Stype0::PacketRetry { ack_id, buf_status } => self.packet_retried(ack_id, buf_status),
            Stype0::PacketNotAccepted { arbitrary, cause } => {
                self.output_error(OutputError::NotAccepted(cause));
                if self.config.ack_id_in_pna
                    && let Request::Due { back_up_to } = &mut self.request
                {
                    *back_up_to = Some(arbitrary);
                }
            }
            Stype0::LinkResponse { ack_id_status, .. } => self.link_response(ack_id_status),
            // Status was dealt with; a VC_status without VCs and what is undefined are ignored.
            Stype0::Status { .. }
            | Stype0::VcStatus { .. }
            | Stype0::Reserved { .. }
            | Stype0::ImplementationDefined { .. } => {}
        }
    }

    fn packet_accepted(&mut self, ack_id: u8, buf_status: u8) {
        let unfinished = usize::from(self.on_wire.is_some());
        let in_order = self.sent.front().is_some_and(|oldest| !oldest.cancelled) && ack_id == self.oldest;
        if !in_order || self.sent.len() <= unfinished {
            self.output_error(OutputError::AckId);
            return;
        }
        match self.output.on(OutputEvent::Accepted) {
            (_, OutputAction::Acknowledge) => {
                let Some(channel) = self.acknowledge_oldest() else { return };
                self.credits[usize::from(channel)].accepted(flow::read(self.config.form, buf_status));
                self.time_acknowledgement();
            }
            (_, OutputAction::Request) => self.output_error(OutputError::AckId),
            _ => {}
        }
    }

    /// The oldest packet outstanding is the partner's; its channel.
    fn acknowledge_oldest(&mut self) -> Option<u8> {
        let oldest = self.sent.pop_front()?;
        self.oldest = self.oldest.wrapping_add(1) & self.config.form.parameter_max();
        self.events.push_back(LinkEvent::Acknowledged(oldest.packet));
        Some(self.config.channel(oldest.meta))
    }

    fn packet_retried(&mut self, ack_id: u8, buf_status: u8) {
        if ack_id != self.oldest || self.sent.is_empty() {
            self.output_error(OutputError::AckId);
            return;
        }
        if self.is_multi_vc() {
            self.output_error(OutputError::Retry);
            return;
        }
        match self.output.on(OutputEvent::Retry) {
            (state, OutputAction::BackUp) => {
                self.output = state;
                self.events.push_back(LinkEvent::OutputRetry);
                self.put_back();
                self.credits[0].told(flow::read(self.config.form, buf_status));
            }
            (_, OutputAction::Request) => self.output_error(OutputError::Retry),
            _ => {}
        }
    }

    fn link_response(&mut self, ack_id_status: u8) {
        match self.request {
            Request::None | Request::Due { .. } => self.output_error(OutputError::LinkResponse),
            Request::Stale => {
                self.timers.set(LinkTimer::LinkResponse, None);
                self.request = Request::Due { back_up_to: None };
            }
            Request::Outstanding => {
                self.timers.set(LinkTimer::LinkResponse, None);
                self.request = Request::None;
                self.attempts = 0;
                if self.output == OutputState::ErrorStopped {
                    self.back_up(ack_id_status, OutputEvent::Response);
                }
            }
        }
    }

    /// The partner expects `ack_id` next: what was sent before is its, the rest was not received.
    pub(super) fn back_up(&mut self, ack_id: u8, event: OutputEvent) {
        let received = self.config.distance(self.oldest, ack_id);
        if !self.can_back_up(ack_id) {
            self.give_up(Fatal::AckId {
                oldest: self.oldest,
                outstanding: self.sent.len() as u8,
                found: ack_id,
            });
            return;
        }
        (self.output, _) = self.output.on(event);
        for _ in 0..received {
            self.acknowledge_oldest();
        }
        let again = self.put_back();
        self.events.push_back(LinkEvent::Recovered(again));
    }

    /// Whether `ack_id` is outstanding, or is the next one.
    pub(super) fn can_back_up(&self, ack_id: u8) -> bool {
        usize::from(self.config.distance(self.oldest, ack_id)) <= self.sent.len()
    }

    /// All outstanding packets wait again, in their order, with the next ackID that of the oldest. CT packets
    /// whose transmission was complete are assumed to have arrived. How many wait again.
    fn put_back(&mut self) -> u16 {
        for sent in &self.sent {
            if sent.withdrawn {
                self.events.push_back(LinkEvent::Withdrawn(sent.packet.clone()));
            } else if self.is_assumed(sent) {
                self.events.push_back(LinkEvent::Acknowledged(sent.packet.clone()));
            }
        }
        let mut again = 0;
        while let Some(sent) = self.sent.pop_back() {
            if !sent.withdrawn && !self.is_assumed(&sent) {
                again += 1;
                let queue = self.queue_of(sent.meta);
                self.waiting[queue].push_front((sent.packet, sent.meta));
            }
        }
        for credit in &mut self.credits {
            credit.settle();
        }
        self.stomp = false;
        self.time_acknowledgement();
        again
    }

    fn is_assumed(&self, sent: &super::port::Sent<P>) -> bool {
        !sent.cancelled && self.config.is_continuous(self.config.channel(sent.meta))
    }

    /// An error that the output side has to recover from.
    pub(super) fn output_error(&mut self, error: OutputError) {
        let (state, action) = self.output.on(OutputEvent::Error);
        if action != OutputAction::Request {
            return;
        }
        self.output = state;
        self.events.push_back(LinkEvent::OutputError(error));
        self.request = match self.request {
            Request::Outstanding | Request::Stale => Request::Stale,
            Request::None | Request::Due { .. } => Request::Due { back_up_to: None },
        };
        self.time_acknowledgement();
    }

    pub(super) fn link_timeout(&mut self, timer: LinkTimer) {
        if timer == LinkTimer::LinkResponse {
            self.attempts = self.attempts.saturating_add(1);
            if self.config.response_attempts.is_some_and(|limit| self.attempts >= limit) {
                self.give_up(Fatal::NoResponse { attempts: self.attempts });
                return;
            }
            self.request = Request::Due { back_up_to: None };
            if self.output == OutputState::ErrorStopped {
                self.events.push_back(LinkEvent::OutputError(OutputError::Timeout(timer)));
                return;
            }
        }
        self.output_error(OutputError::Timeout(timer));
    }

    fn give_up(&mut self, fatal: Fatal) {
        self.failed = true;
        self.output = OutputState::ErrorStopped;
        self.request = Request::None;
        self.timers.set(LinkTimer::Acknowledgement, None);
        self.timers.set(LinkTimer::LinkResponse, None);
        self.events.push_back(LinkEvent::Fatal(fatal));
    }

    /// Sets the timer of the oldest packet outstanding. Outside normal operation no packet is timed.
    pub(super) fn time_acknowledgement(&mut self) {
        let timed = self.phase.is_up() && self.output == OutputState::Normal;
        let oldest = self.sent.front().filter(|_| timed);
        let deadline = oldest.map(|sent| sent.at.saturating_add(self.config.link_timeout));
        self.timers.set(LinkTimer::Acknowledgement, deadline);
    }

    /// Whether credit permits a packet of `channel` and `prio`.
    pub(super) fn has_credit(&self, channel: u8, prio: u8) -> bool {
        let credit = self.credits[usize::from(channel)];
        match (self.flow, channel) {
            (FlowControl::Receiver, _) => true,
            (FlowControl::Transmitter, 0) => credit.allows(prio, self.config.watermarks),
            (FlowControl::Transmitter, _) => credit.free() >= 1,
        }
    }
}
