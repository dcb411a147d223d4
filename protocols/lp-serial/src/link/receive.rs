//! The input side: packets, stype1 functions, errors, buffers.

use super::config::PacketMeta;
use super::event::{LinkEvent, Reception};
use super::init::Phase;
use super::outbox::Due;
use super::port::LinkPort;
use super::state::{InputAction, InputEvent, InputState};
use crate::control_symbol::{Cause, LinkRequest, PortStatus, Stype1};
use core::fmt::Debug;
use core::hash::Hash;

/// reset-device requests in a row that reset the device.
const RESETS: u8 = 4;

impl<P: Clone + Debug + Eq + Hash> LinkPort<P> {
    /// A whole packet came, not cancelled: called before the stype1 function that ends it. `ack_id` is the
    /// ackID that it carries (5 or 6 bits); `checked` says whether it is sound, and if not, why:
    /// [`Cause::PacketCrc`], [`Cause::IllegalCharacter`], [`Cause::General`] (too long).
    pub fn handle_packet(&mut self, meta: PacketMeta, ack_id: u8, checked: Result<(), Cause>) -> Reception {
        self.resets = 0;
        if !self.phase.is_up() {
            return Reception::Discarded;
        }
        let channel = self.config.channel(meta);
        let continuous = self.config.is_continuous(channel);
        let room = self.has_room(channel, meta.prio);
        if self.input == InputState::ErrorStopped {
            // ackIDs mean nothing until the link-response, and a CT packet will not be sent again.
            if !continuous || checked.is_err() {
                return Reception::Discarded;
            }
            if !room {
                return Reception::Lost;
            }
            self.buffers[usize::from(channel)].take();
            return Reception::Accepted { channel };
        }
        let cause = match checked {
            Err(cause) => Some(cause),
            Ok(()) if ack_id != self.expected => Some(Cause::UnexpectedAckId),
            Ok(()) => None,
        };
        if let Some(cause) = cause {
            self.input_event(InputEvent::PacketError, cause);
            return Reception::Discarded;
        }
        let event = if room || continuous { InputEvent::Packet } else { InputEvent::NoRoom };
        if self.input_event(event, Cause::LackOfResources) != InputAction::Accept {
            return Reception::Discarded;
        }
        let buffers = &mut self.buffers[usize::from(channel)];
        if room {
            buffers.take();
        }
        let free = buffers.advertise();
        self.outbox.push(Due::Accepted { ack_id, channel, free });
        self.expected = ack_id.wrapping_add(1) & self.config.form.parameter_max();
        if room { Reception::Accepted { channel } } else { Reception::Lost }
    }

    /// The first octets of a packet came, with this ackID. A driver that looks at packets before they end may
    /// say so: an unexpected ackID is then an error even if the packet is cancelled later.
    pub fn handle_header(&mut self, ack_id: u8) {
        if self.phase.is_up() && self.input == InputState::Normal && ack_id != self.expected {
            self.input_event(InputEvent::PacketError, Cause::UnexpectedAckId);
        }
    }

    /// Something damaged came that is no packet: a symbol with a bad CRC ([`Cause::SymbolCrc`]), a character
    /// that must not be there ([`Cause::IllegalCharacter`]), loss of synchronisation
    /// ([`Cause::DescramblerSync`]). A packet that was arriving is lost with it.
    pub fn handle_error(&mut self, cause: Cause) {
        self.resets = 0;
        self.phase.error();
        self.arriving = false;
        if self.phase.is_up() {
            self.input_event(InputEvent::LinkError, cause);
        }
    }

    /// The second function of an error-free symbol: called when the input side comes to it, in order with the
    /// packets. Most drivers call [`handle_symbol`](Self::handle_symbol).
    pub fn handle_stype1(&mut self, function: Stype1) {
        match self.phase {
            Phase::Up => {}
            Phase::Initialising { .. } if function == Stype1::LinkRequest(LinkRequest::InputStatus) => {
                return self.link_requested();
            }
            Phase::Initialising { .. } | Phase::Down => return,
        }
        match function {
            Stype1::StartOfPacket => self.arriving = true,
            Stype1::EndOfPacket => {
                if !core::mem::take(&mut self.arriving) {
                    self.input_event(InputEvent::LinkError, Cause::General);
                }
            }
            Stype1::Stomp => {
                let event = if core::mem::take(&mut self.arriving) {
                    InputEvent::Stomp
                } else {
                    InputEvent::LinkError
                };
                self.input_event(event, Cause::General);
            }
            Stype1::RestartFromRetry => {
                self.arriving = false;
                self.input_event(InputEvent::RestartFromRetry, Cause::General);
            }
            Stype1::LinkRequest(request) => {
                self.arriving = false;
                match request {
                    LinkRequest::InputStatus => self.link_requested(),
                    LinkRequest::ResetDevice => self.reset_requested(),
                    // Not defined in Rev 2.x: it cancels a packet, like any link-request, and does no more.
                    LinkRequest::ResetPort => {}
                }
            }
            Stype1::MulticastEvent => self.events.push_back(LinkEvent::MulticastEvent),
            // An undefined link-request cancels too; everything else that is undefined is ignored.
            Stype1::Reserved { stype1: 4, .. } => self.arriving = false,
            Stype1::Nop | Stype1::Reserved { .. } => {}
        }
    }

    fn link_requested(&mut self) {
        if self.outbox.owes_response() {
            // The partner asks again before it can have the answer. It gets the one that it waits for, and is
            // told that something went wrong.
            if self.phase.is_up() {
                self.input_event(InputEvent::LinkError, Cause::General);
            }
            return;
        }
        let port_status = match self.input {
            InputState::Normal => PortStatus::Ok,
            InputState::RetryStopped => PortStatus::RetryStopped,
            InputState::ErrorStopped => PortStatus::ErrorStopped,
        };
        let (state, _) = self.input.on(InputEvent::LinkRequest, self.is_multi_vc());
        self.input = state;
        self.outbox.push(Due::LinkResponse { ack_id_status: self.expected, port_status });
        self.tell_vc0();
        self.tell_optional_vcs();
    }

    fn reset_requested(&mut self) {
        self.resets += 1;
        if self.resets == RESETS {
            self.resets = 0;
            self.events.push_back(LinkEvent::ResetRequested);
        }
    }

    /// Looks the event up and does what the table says, except for accepting a packet.
    fn input_event(&mut self, event: InputEvent, cause: Cause) -> InputAction {
        let (state, action) = self.input.on(event, self.is_multi_vc());
        self.input = state;
        match action {
            InputAction::Retry => {
                let free = self.buffers[0].advertise();
                self.outbox.push(Due::Retry { ack_id: self.expected, free });
                self.events.push_back(LinkEvent::InputRetry);
            }
            InputAction::NotAccept => {
                let ack_id_status = if self.config.ack_id_in_pna { self.expected } else { 0 };
                self.outbox.push(Due::NotAccepted { ack_id_status, cause });
                self.events.push_back(LinkEvent::InputError(cause));
            }
            InputAction::Ignore | InputAction::Accept | InputAction::Respond => {}
        }
        action
    }

    /// Whether a packet would be accepted.
    fn has_room(&self, channel: u8, prio: u8) -> bool {
        let free = self.buffers[usize::from(channel)].free();
        let needed = if channel == 0 { self.config.accept.needed(prio) } else { 1 };
        free >= needed
    }

    /// An owner that counts its buffers itself says how many of `channel` (0 for VC0) are in use; nothing is
    /// told. For a switch whose packets move on in the instant of their arrival.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn occupy(&mut self, channel: u8, occupied: u16) {
        self.buffers[usize::from(channel)].occupy(occupied);
    }

    /// A status of VC0 becomes due, for an owner that sees to them itself.
    pub fn tell(&mut self) {
        if self.phase.is_up() {
            self.tell_vc0();
        }
    }

    /// A status of one channel becomes due, 0 for VC0, for an owner that sees to them itself.
    ///
    /// # Panics
    /// If the channel is not active.
    pub fn tell_of(&mut self, channel: u8) {
        if !self.phase.is_up() {
            return;
        }
        match channel {
            0 => self.tell_vc0(),
            _ => {
                let free = self.buffers[usize::from(channel)].advertise();
                self.outbox.push(Due::VcStatus { channel, free });
            }
        }
    }

    /// VC_status of every active VC beside VC0 becomes due, for an owner that sees to them itself.
    pub fn tell_channels(&mut self) {
        if self.phase.is_up() {
            self.tell_optional_vcs();
        }
    }

    /// The last function that is due and tells of `channel` tells the free buffers of this instant, if there
    /// is one: called in the instant in which it became due.
    pub fn retell(&mut self, channel: u8) {
        let free = self.buffers[usize::from(channel)].free();
        if self.outbox.retell(channel, free) {
            self.buffers[usize::from(channel)].advertise();
        }
    }

    /// The owner is done with a received packet of `channel` (0 for VC0): its buffer is free.
    ///
    /// # Panics
    /// If no buffer of the channel is in use.
    pub fn release(&mut self, channel: u8) {
        let buffers = &mut self.buffers[usize::from(channel)];
        assert!(buffers.occupied() > 0, "a buffer is released that nobody holds");
        buffers.release();
        if !self.phase.is_up() || buffers.advertised() > self.config.eager_at {
            return;
        }
        if self.outbox.amend(channel) {
            self.buffers[usize::from(channel)].amend();
        } else if !self.is_transmitter_controlled() {
            // Nothing that the partner would want to know.
        } else if channel == 0 {
            self.tell_vc0();
        } else {
            let free = self.buffers[usize::from(channel)].advertise();
            self.outbox.push(Due::VcStatus { channel, free });
        }
    }
}
