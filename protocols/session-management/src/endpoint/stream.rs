//! One end of an open stream, and how it ends.

use super::event::{Ending, Event, StreamRef};
use super::flow::ContextId;
use super::timers::Timer;
use super::{Endpoint, MICROSECOND};
use crate::attribute::{Attributes, HeaderFormat};
use crate::conduit::Side;
use crate::negotiate::Terms;
use crate::protocol::{ETHERNET, Protocol};
use crate::segment::{Loss, Reassembly, Segments, max_pdu};
use crate::status::StatusBits;
use alloc::collections::VecDeque;

/// Octets of an Ethernet frame around its payload: two addresses and a type.
const ETHERNET_HEADER: u64 = 14;

/// What one end knows of an open stream.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Stream {
    pub(super) protocol: Protocol,
    pub(super) cos: u8,
    pub(super) terms: Terms,
    /// As agreed in ACCEPT, OPEN_MESSAGE_NUMBER included.
    pub(super) attributes: Attributes,
    /// Receiver: the application takes data. Sender: no XOFF is in force.
    pub(super) ready: bool,
    /// Sender: when RTS began, in this stop.
    pub(super) rts: Option<u64>,
    /// Sender: PDUs, the first one perhaps begun.
    pub(super) queue: VecDeque<Segments>,
    /// Sender: the stream stands in its context.
    pub(super) scheduled: bool,
}

impl Stream {
    pub(super) fn new(protocol: Protocol, cos: u8, terms: Terms, mut attributes: Attributes) -> Self {
        attributes.shrink();
        Self {
            protocol,
            cos,
            terms,
            attributes,
            ready: true,
            rts: None,
            queue: VecDeque::new(),
            scheduled: false,
        }
    }

    /// What a STATUS says of the stream.
    pub(super) fn bits(&self, side: Side) -> StatusBits {
        let more = match side {
            Side::Receive if self.ready => StatusBits::READY_TO_RECEIVE,
            Side::Transmit if !self.queue.is_empty() => StatusBits::DATA_READY,
            _ => StatusBits::default(),
        };
        StatusBits::FUNCTIONAL.with(more)
    }

    /// Octets of the longest PDU. `tagged`: an Ethernet frame with a VLAN tag.
    pub(super) fn max_pdu(&self, tagged: bool) -> u64 {
        let tag = if tagged { 4 } else { 0 };
        let mtu = match (self.protocol.id(), self.terms.mtu) {
            (_, None) => u64::MAX,
            (ETHERNET, Some(mtu)) => u64::from(mtu) + ETHERNET_HEADER + tag,
            (_, Some(mtu)) => mtu.into(),
        };
        mtu.min(max_pdu(self.terms.header))
    }
}

impl Endpoint {
    /// Takes an open stream out of all tables. Returns it, if there was one.
    pub(super) fn drop_stream(
        &mut self,
        now: u64,
        stream: StreamRef,
        why: Ending,
        by_peer: bool,
    ) -> Option<Stream> {
        let open = self.streams.remove(&stream)?;
        for timer in [Timer::Xon(stream), Timer::Refresh(stream), Timer::Rts(stream)] {
            self.timers.cancel(timer);
        }
        match (stream.side, open.terms.header) {
            (Side::Receive, HeaderFormat::Data2(specific)) => {
                self.specifics.remove(&(stream.peer, specific));
                if let Some(Some(_)) = self.reassembly.remove(&ContextId::Stream(stream.peer, stream.stream))
                {
                    self.event(Event::PduLost { peer: stream.peer, why: Loss::Closed });
                }
            }
            (Side::Receive, _) => {
                let of_it = |part: &Option<Reassembly>| {
                    part.as_ref().is_some_and(|part| part.stream() == stream.stream)
                };
                let contexts = ContextId::of_peer(stream.peer, open.cos);
                let context = self.reassembly.range(contexts).find(|(_, part)| of_it(part));
                if let Some(context) = context.map(|(&context, _)| context) {
                    self.lose(context, false, Loss::Closed);
                }
                if !self.receives(stream.peer, open.cos) {
                    self.reassembly
                        .retain(|context, _| !ContextId::of_peer(stream.peer, open.cos).contains(context));
                }
            }
            (Side::Transmit, _) => {
                self.leave_context(stream, &open);
                // Of one that has begun the other end tells.
                for _ in open.queue.iter().filter(|pdu| !pdu.is_started()) {
                    self.event(Event::PduLost { peer: stream.peer, why: Loss::Closed });
                }
            }
        }
        let timeout = u64::from(open.terms.timeout) * MICROSECOND;
        self.memory.keep_closed(now, stream, timeout, (by_peer, true));
        self.event(Event::Ended { stream, why });
        Some(open)
    }

    /// Closes a stream here and at the peer.
    pub(super) fn close_stream(&mut self, now: u64, stream: StreamRef, why: Ending) {
        let open = self.drop_stream(now, stream, why, false);
        let (cos, periods) = match open {
            Some(open) => (open.cos, (open.terms.retry, open.terms.timeout)),
            None => (0, self.periods(stream.peer)),
        };
        self.send_close(now, stream, cos, periods);
    }

    /// The peer says that it does not have a stream, or does not answer: it ends here without CLOSE, its
    /// conduit as a whole.
    pub(super) fn stream_gone(&mut self, now: u64, stream: StreamRef, why: Ending) -> bool {
        let StreamRef { peer, side, stream: id } = stream;
        let Some(protocol) = self.streams.get(&stream).map(|open| open.protocol) else {
            return false;
        };
        self.drop_stream(now, stream, why, why != Ending::NoAnswer);
        self.with_pairing(now, peer, protocol, |pairing, actions| pairing.handle_close(side, id, actions));
        true
    }
}
