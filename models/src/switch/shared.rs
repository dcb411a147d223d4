//! Where virtual channels share links by micropackets: a switch reads its inputs channel by channel.

use super::Switch;
use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::interleave::{Ended, Turn};
use crate::link::port::NO_INPUT;
use crate::observe::Build;
use crate::ports::Ports;
use sim_core::EventList;

impl<S: Ports> Switch<S> {
    /// A message has reached the device of `port`, or a place is free: messages may start or pass others at
    /// the outputs.
    pub fn look<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
    ) {
        let outputs = self.base.span(self.ports);
        loop {
            let starts = links.observe.ledger.packet_hops;
            for output in outputs.clone() {
                if links.interleaved(output).is_some_and(|messages| messages.is_free()) {
                    self.try_output(links, cx, output);
                }
            }
            // Who starts does not want other inputs any more: somebody else may read them.
            if links.observe.ledger.packet_hops == starts {
                break;
            }
        }
        self.outputs_look(links, cx);
    }

    /// Messages may pass others at the outputs.
    pub(super) fn outputs_look<P: Build<Ports = S>, L: EventList<Payload>>(
        &self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
    ) {
        for output in self.base.span(self.ports) {
            links.may_pass(cx, output);
        }
    }

    /// A transmission of `port` was to end now.
    pub fn message_ended<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let Some(Ended { channel, whole }) = links.message_ended(cx, port) else { return };
        if whole && links.ports[port.index()].tx.reading != NO_INPUT {
            self.finish_read(links, cx, port, true);
        }
        // Otherwise all outputs choose together.
        if self.choose_together.is_empty() || !links.has_none_stopped(port) {
            let turn = links.next_turn(self, cx, port, channel);
            self.take_turn(links, cx, port, turn);
        }
        self.look(links, cx);
    }

    /// A border of micropackets at `port`, where a message was to stop.
    pub fn border<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
    ) {
        let turn = links.border(self, cx, port);
        if self.take_turn(links, cx, port, turn) {
            self.look(links, cx);
        }
    }

    fn take_turn<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        port: PortId,
        turn: Option<Turn>,
    ) -> bool {
        if let Some(Turn::Begins(packet)) = turn {
            self.start(links, cx, port, packet, true);
        }
        turn.is_some()
    }
}
