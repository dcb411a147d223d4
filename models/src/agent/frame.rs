//! Frames on links of other media: they pass the host, but no engine of RapidIO.

use super::data::Data;
use super::port::received;
use super::protocol::{Conveyance, Token};
use super::{Agent, Cause};
use crate::observe::probe::{Delivery, ProtocolFact};

impl Agent {
    /// A frame arrived at an interface, from the device with this id. It is lost if the host has no place for
    /// it.
    pub fn deliver_frame(&mut self, source: u32, delivery: &Delivery, payload: Data, interface: u8) {
        let now = delivery.at.0;
        self.host.account(now);
        if self.host.has_room(self.port.reserved()) {
            let leg = self.port.leg(&payload.label, delivery.journey(), Cause::SourceQueue);
            self.host.take_in(received(
                source,
                delivery.priority,
                Conveyance::Frame { interface },
                payload,
                leg,
            ));
        } else if let Some(part) = self.part_of(delivery.flow) {
            self.fact(now, part, ProtocolFact::Discarded);
        }
        self.turn(now);
    }

    /// A frame has started to leave.
    pub fn frame_started(&mut self, token: Token) {
        self.frames_left.push(token);
    }
}
