//! A packet begins to leave through a link that needs more than the closed form.

use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::{Mode, special};
use crate::link::symbol::{Flight, Leaves};
use crate::observe::Build;
use sim_core::EventList;

impl<P: Build> Links<P> {
    /// The fabric has committed a packet to the wire of a link that needs more than the closed form.
    #[cold]
    pub fn started_specially<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        flight: &Flight,
    ) {
        let bits = self.ports[port.index()].link.special();
        let (mode, checks) = (self.ports[port.index()].link.mode(), bits & special::CHECK != 0);
        match mode {
            Mode::Symbols => self.launch(cx, port, packet, flight),
            Mode::Medium | Mode::Interleaved => {
                if checks {
                    self.check_frame(port, packet);
                }
                if mode == Mode::Interleaved {
                    self.message_began(cx, port, packet, flight);
                }
                self.started_on_medium(cx, port, packet, flight);
            }
            Mode::Closed => {
                if bits & special::WATCHED != 0 {
                    self.note_packet(cx.now().0, port, packet, *flight);
                }
                if bits & special::CUT != 0 {
                    self.cross_border(port, packet, flight);
                }
                if checks {
                    // It is counted already, and the first has ackID 0.
                    let ack_id = (self.ports[port.index()].tx.packets_sent - 1) as u8;
                    let at = flight.start;
                    self.check_packet(port, packet, Leaves { at, ack_id, damaged: false, again: false });
                }
            }
        }
    }
}
