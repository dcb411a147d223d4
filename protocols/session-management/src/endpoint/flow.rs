//! Data on streams: contexts, reassembly, XOFF and XON, Ethernet frames.

use super::event::{Event, Order, StreamRef, Suspicion, Transmit};
use super::stream::Stream;
use super::timers::Timer;
use super::{Broadcast, Endpoint, MICROSECOND, Refused};
use crate::attribute::{CHANNEL_STREAM, HeaderFormat, Kind};
use crate::conduit::Side;
use crate::data::{Data, Header};
use crate::ethernet::is_tagged;
use crate::message::{Class, Command, Fault, Message, Mode};
use crate::negotiate::Terms;
use crate::protocol::{BROADCAST_STREAM, ETHERNET, Protocol, StreamClass};
use crate::register::Contact;
use crate::segment::{Loss, Reassembly, Segments, Shape, max_pdu, max_segment};
use crate::status::{Flow, FlowControl, StatusBits};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

/// Time between complaints about one stream, in picoseconds (§4.2.8).
const COMPLAINT_INTERVAL: u64 = 100_000 * MICROSECOND;
/// RTS is repeated so often, in picoseconds, whatever the stream's periods (§4.2.6) ...
const RTS_INTERVAL: u64 = 250_000 * MICROSECOND;
/// ... and ends so long after the first one.
const RTS_END: u64 = 1_000_000 * MICROSECOND;

/// Where segments of one PDU are put together.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum ContextId {
    /// (SourceID, COS, Mailbox).
    Mailbox(u16, u8, u8),
    /// DATA2 names no context: (sender, stream).
    Stream(u16, u16),
}

impl ContextId {
    /// All contexts of a peer with this COS.
    pub(super) const fn of_peer(peer: u16, cos: u8) -> RangeInclusive<Self> {
        Self::Mailbox(peer, cos, 0)..=Self::Mailbox(peer, cos, u8::MAX)
    }
}

/// Where PDUs leave one after the other.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) enum OutContextId {
    /// (destination, mailbox, COS): segments of two PDUs must not mix.
    Mailbox(u16, u8, u8),
    /// A PDU is one message.
    Stream(StreamRef),
}

/// Streams with data for one context.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct OutContext {
    /// The stream whose PDU has begun.
    current: Option<StreamRef>,
    waiting: VecDeque<StreamRef>,
    /// The context stands in the list of those with something to send.
    ready: bool,
}

/// The place of a data message among others. PDUs of DATA2 and DATA3 are messages of their own.
fn order_of(shape: &Shape, first: bool, last: bool) -> Order {
    match shape.format {
        HeaderFormat::Data2(_) | HeaderFormat::Data3 => Order::Free,
        _ if first && last => Order::Whole { cos: shape.cos },
        _ => Order::Part { cos: shape.cos, first, last },
    }
}

impl Endpoint {
    // Sending.

    /// PDUs of a protocol that streams of this node have not handed out whole.
    #[must_use]
    pub fn queued_pdus(&self, protocol: Protocol) -> usize {
        let open = self.streams.values().filter(|open| open.protocol == protocol);
        open.map(|open| open.queue.len()).sum()
    }

    /// The octets of these PDUs of which no message was made yet, in the order of streams, then of their
    /// turns.
    pub fn unsent_pdus(&self, protocol: Protocol) -> impl Iterator<Item = &[u8]> {
        let open = self.streams.values().filter(move |open| open.protocol == protocol);
        open.flat_map(|open| &open.queue).filter(|segments| !segments.is_started()).map(Segments::pdu)
    }

    /// Queues a PDU on a stream of this node.
    ///
    /// # Errors
    /// [`Refused::NoStream`], [`Refused::TooLong`].
    pub fn send_pdu(&mut self, now: u64, peer: u16, stream: u16, pdu: Vec<u8>) -> Result<(), Refused> {
        self.advance(now);
        let stream = StreamRef::transmit(peer, stream);
        let keep = self.config.pending_frames.max(1);
        let open = self.streams.get(&stream).ok_or(Refused::NoStream)?;
        let mut max = open.max_pdu(is_tagged(&pdu));
        if let (HeaderFormat::Data2(_), Some(contact)) = (open.terms.header, self.data_contact(stream, open))
        {
            // Never segmented.
            let whole = max_segment(open.terms.header, open.terms.offset, contact.max_message());
            max = max.min(whole as u64);
        }
        let open = self.streams.get_mut(&stream).ok_or(Refused::NoStream)?;
        if pdu.len() as u64 > max {
            return Err(Refused::TooLong { max });
        }
        open.queue.push_back(Segments::new(pdu));
        if !open.ready && open.protocol.id() == ETHERNET {
            let waiting = open.queue.iter().filter(|segments| !segments.is_started()).count();
            if waiting > keep {
                let oldest = usize::from(open.queue.front().is_some_and(Segments::is_started));
                open.queue.remove(oldest);
                self.event(Event::FrameDropped { stream });
            }
        }
        self.start_rts(now, stream);
        self.schedule(stream);
        Ok(())
    }

    /// Sends an Ethernet broadcast or multicast frame to all Ethernet peers on StreamID 0xF000.
    ///
    /// # Errors
    /// [`Refused::Protocol`] if this node does not speak Ethernet, [`Refused::TooLong`].
    pub fn broadcast(&mut self, now: u64, frame: &[u8]) -> Result<(), Refused> {
        self.advance(now);
        self.offer(Protocol::ETHERNET).ok_or(Refused::Protocol)?;
        let max = max_pdu(HeaderFormat::Data);
        if frame.len() as u64 > max {
            return Err(Refused::TooLong { max });
        }
        match self.config.broadcast {
            Broadcast::Multicast(destination) => {
                self.broadcast_to(destination, self.config.contact, frame);
            }
            Broadcast::Unicast => {
                let peers: Vec<u16> = self.ethernet_peers.iter().copied().collect();
                for peer in peers {
                    if let Some(contact) = self.broadcast_contact(peer) {
                        self.broadcast_to(peer, contact, frame);
                    }
                }
            }
        }
        Ok(())
    }

    /// The mailbox of a peer's CONVEYANCE, of its ACCEPT or its ADVERTISE, else its management contact.
    fn broadcast_contact(&self, peer: u16) -> Option<Contact> {
        let range = StreamRef::transmit(peer, 0)..=StreamRef::transmit(peer, u16::MAX);
        let open = self.streams.range(range).map(|(_, open)| open);
        let mut ethernet = open.filter(|open| open.protocol.id() == ETHERNET);
        let agreed = ethernet.find_map(|open| open.terms.conveyance?.as_mailbox());
        let advertised = || {
            let mut blocks = self.peers.get(&peer)?.advertised.iter();
            let (_, block) = blocks.find(|(protocol, _)| protocol.id() == ETHERNET)?;
            block.list().find(ETHERNET, Kind::Conveyance)?.as_conveyance().as_mailbox()
        };
        agreed.or_else(advertised).map(Contact::Mailbox).or_else(|| self.contact(peer))
    }

    /// Sends a PDU on a stream of the vendor's range, which needs no OPEN (§3.8.2): as DATA where the peer
    /// takes management messages, or as DATA3 on the type 9 stream of that number. Nobody can stop such a
    /// stream.
    ///
    /// # Errors
    /// [`Refused::NoStream`] if the stream is not of that range, [`Refused::NoParticipant`] if it is not
    /// known where the peer takes messages, [`Refused::TooLong`].
    pub fn send_unopened(
        &mut self,
        now: u64,
        peer: u16,
        stream: u16,
        typed: bool,
        pdu: Vec<u8>,
    ) -> Result<(), Refused> {
        self.advance(now);
        if StreamClass::of(stream) != StreamClass::Vendor {
            return Err(Refused::NoStream);
        }
        let max = max_pdu(HeaderFormat::Data);
        if pdu.len() as u64 > max {
            return Err(Refused::TooLong { max });
        }
        if typed {
            let conveyance = Contact::Stream { stream, cos: 0 };
            let class = Class::Low;
            self.low.push_back(Transmit {
                destination: peer,
                conveyance,
                class,
                order: Order::Free,
                stream: Some(StreamRef::transmit(peer, stream)),
                octets: pdu,
            });
            return Ok(());
        }
        let contact = self.contact(peer).ok_or(Refused::NoParticipant)?;
        self.send_at_once(peer, contact, stream, &pdu);
        Ok(())
    }

    fn broadcast_to(&mut self, destination: u16, conveyance: Contact, frame: &[u8]) {
        self.send_at_once(destination, conveyance, BROADCAST_STREAM, frame);
    }

    /// What goes on streams without OPEN, which could not be stopped: all segments are made at once.
    fn send_at_once(&mut self, destination: u16, conveyance: Contact, stream: u16, frame: &[u8]) {
        let shape = Shape {
            format: HeaderFormat::Data,
            offset: 0,
            message: conveyance.max_message(),
            mailbox: conveyance.status_mailbox(),
            cos: 0,
            source: self.config.node,
            stream,
        };
        let mut segments = Segments::new(frame.to_vec());
        while !segments.is_finished() {
            let first = !segments.is_started();
            let Ok(octets) = segments.next(&shape) else { return };
            let order = order_of(&shape, first, segments.is_finished());
            let stream = Some(StreamRef::transmit(destination, stream));
            self.low.push_back(Transmit {
                destination,
                conveyance,
                class: Class::Low,
                order,
                stream,
                octets,
            });
        }
    }

    /// Makes a node known as one that takes Ethernet broadcasts.
    pub fn add_ethernet_peer(&mut self, peer: u16) {
        self.ethernet_peers.insert(peer);
    }

    /// Where data of a stream goes.
    fn data_contact(&self, stream: StreamRef, open: &Stream) -> Option<Contact> {
        if open.terms.header == HeaderFormat::Data3 {
            return Some(Contact::Stream { stream: stream.stream, cos: open.cos });
        }
        match open.terms.conveyance {
            Some(conveyance) if conveyance.channel != CHANNEL_STREAM => {
                conveyance.as_mailbox().map(Contact::Mailbox)
            }
            _ => self.contact(stream.peer),
        }
    }

    fn out_context(&self, stream: StreamRef, open: &Stream) -> OutContextId {
        match open.terms.header {
            HeaderFormat::Data | HeaderFormat::Data1 => {
                let contact = self.data_contact(stream, open);
                OutContextId::Mailbox(stream.peer, contact.map_or(0, Contact::status_mailbox), open.cos)
            }
            HeaderFormat::Data2(_) | HeaderFormat::Data3 => OutContextId::Stream(stream),
        }
    }

    /// Puts a stream with data into its context, and the context into the list of those to serve.
    fn schedule(&mut self, stream: StreamRef) {
        let Some(open) = self.streams.get(&stream) else { return };
        if !open.ready || open.queue.is_empty() {
            return;
        }
        let id = self.out_context(stream, open);
        let context = self.contexts.entry(id).or_default();
        if let Some(open) = self.streams.get_mut(&stream).filter(|open| !open.scheduled) {
            open.scheduled = true;
            context.waiting.push_back(stream);
        }
        if !context.ready {
            context.ready = true;
            self.ready.push_back(id);
        }
    }

    /// A stream ends: a PDU that had begun is not finished.
    pub(super) fn leave_context(&mut self, stream: StreamRef, open: &Stream) {
        let id = self.out_context(stream, open);
        let Some(context) = self.contexts.get_mut(&id) else { return };
        context.waiting.retain(|waiting| *waiting != stream);
        if context.current == Some(stream) {
            context.current = None;
        }
        if !context.waiting.is_empty() && !context.ready {
            context.ready = true;
            self.ready.push_back(id);
        }
    }

    /// The next data message, context by context, within a context PDU by PDU.
    pub(super) fn next_data(&mut self) -> Option<Transmit> {
        while let Some(id) = self.ready.pop_front() {
            let Some(context) = self.contexts.get_mut(&id) else { continue };
            context.ready = false;
            let Some(stream) = context.current.or_else(|| context.waiting.pop_front()) else {
                self.contexts.remove(&id);
                continue;
            };
            let Some(open) = self.streams.get_mut(&stream) else { continue };
            if !open.ready {
                // Stopped inside a PDU: the context waits. Stopped between PDUs: the others go on.
                if context.current.is_none() {
                    open.scheduled = false;
                    if !context.waiting.is_empty() {
                        context.ready = true;
                        self.ready.push_back(id);
                    }
                }
                continue;
            }
            let message = self.next_segment(stream);
            let context = self.contexts.entry(id).or_default();
            let Some(open) = self.streams.get_mut(&stream) else { continue };
            let begun = open.queue.front().is_some_and(Segments::is_started);
            context.current = begun.then_some(stream);
            if !begun && !open.queue.is_empty() {
                context.waiting.push_back(stream);
            } else {
                open.scheduled = begun;
            }
            if context.current.is_some() || !context.waiting.is_empty() {
                context.ready = true;
                self.ready.push_back(id);
            } else {
                self.contexts.remove(&id);
            }
            if message.is_some() {
                return message;
            }
        }
        None
    }

    /// The next message of a stream's first PDU; a finished PDU leaves the queue.
    fn next_segment(&mut self, stream: StreamRef) -> Option<Transmit> {
        let open = self.streams.get(&stream)?;
        let contact = self.data_contact(stream, open);
        let source = self.config.node;
        let open = self.streams.get_mut(&stream)?;
        let Some(conveyance) = contact else {
            open.queue.clear();
            return None;
        };
        let shape = Shape {
            format: open.terms.header,
            offset: open.terms.offset,
            message: conveyance.max_message(),
            mailbox: conveyance.status_mailbox(),
            cos: open.cos,
            source,
            stream: stream.stream,
        };
        let segments = open.queue.front_mut()?;
        let first = !segments.is_started();
        let octets = segments.next(&shape);
        let order = order_of(&shape, first, segments.is_finished());
        if octets.is_err() || segments.is_finished() {
            open.queue.pop_front();
        }
        let octets = octets.ok()?;
        let (destination, stream) = (stream.peer, Some(stream));
        Some(Transmit { destination, conveyance, class: Class::Low, order, stream, octets })
    }

    // Flow control.

    /// The application takes data of a stream, or does not: XON, or XOFF that is repeated.
    ///
    /// # Errors
    /// [`Refused::NoStream`].
    pub fn set_ready(&mut self, now: u64, peer: u16, stream: u16, ready: bool) -> Result<(), Refused> {
        self.advance(now);
        let stream = StreamRef::receive(peer, stream);
        let open = self.streams.get_mut(&stream).ok_or(Refused::NoStream)?;
        if open.ready == ready {
            return Ok(());
        }
        open.ready = ready;
        if ready {
            self.timers.cancel(Timer::Refresh(stream));
            self.send_flow(stream, Flow::Xon);
        } else {
            self.refresh_due(now, stream);
        }
        Ok(())
    }

    fn send_flow(&mut self, stream: StreamRef, flow: Flow) {
        let Some(open) = self.streams.get(&stream) else { return };
        let message = Message::FlowControl(FlowControl {
            cos: open.cos,
            flow,
            source: self.source_of(stream),
            stream: stream.stream,
            protocol: open.protocol.id(),
        });
        // RTS goes where the data goes, but not on a stream of type 9, which carries data alone. XON and
        // XOFF go to the management contact of the source.
        let with_data = flow == Flow::Rts && open.terms.header != HeaderFormat::Data3;
        match self.data_contact(stream, open).filter(|_| with_data) {
            Some(contact) => match message.to_vec() {
                Ok(octets) => {
                    let class = message.command().class();
                    self.high.push_back(Transmit {
                        destination: stream.peer,
                        conveyance: contact,
                        class,
                        order: Order::Free,
                        stream: None,
                        octets,
                    });
                }
                Err(_) => self.counters.dropped += 1,
            },
            None => self.send(stream.peer, &message),
        }
    }

    /// XOFF, and again after half the time that it holds.
    pub(super) fn refresh_due(&mut self, now: u64, stream: StreamRef) {
        let Some(open) = self.streams.get(&stream) else { return };
        let half = u64::from(open.terms.xon_timeout) * MICROSECOND / 2;
        self.timers.set(Timer::Refresh(stream), now.saturating_add(half.max(1)));
        self.send_flow(stream, Flow::Xoff);
    }

    pub(super) fn handle_flow_control(&mut self, now: u64, peer: u16, message: FlowControl) {
        let side = match message.flow {
            Flow::Rts if message.source == peer => Side::Receive,
            Flow::Xoff | Flow::Xon if message.source == self.config.node => Side::Transmit,
            _ => {
                return self.complain(
                    now,
                    peer,
                    Command::FlowControl,
                    message.cos,
                    message.source,
                    message.stream,
                );
            }
        };
        let stream = StreamRef { peer, side, stream: message.stream };
        let Some(open) = self.streams.get_mut(&stream).filter(|open| open.protocol.id() == message.protocol)
        else {
            return self.complain(
                now,
                peer,
                Command::FlowControl,
                message.cos,
                message.source,
                message.stream,
            );
        };
        match message.flow {
            Flow::Rts => {
                let ready = open.ready;
                self.event(Event::ReadyToSend { stream });
                if ready {
                    self.send_flow(stream, Flow::Xon);
                }
            }
            Flow::Xon => self.resume(stream, false),
            Flow::Xoff => {
                let first = core::mem::take(&mut open.ready);
                let at = now.saturating_add(u64::from(open.terms.xon_timeout) * MICROSECOND);
                self.timers.set(Timer::Xon(stream), at);
                self.timers.cancel(Timer::Rts(stream));
                if first {
                    self.event(Event::Stopped { stream });
                    self.start_rts(now, stream);
                }
            }
        }
    }

    /// The first RTS of a stop, if there is data.
    fn start_rts(&mut self, now: u64, stream: StreamRef) {
        let rts = self.config.rts;
        let Some(open) = self.streams.get_mut(&stream) else { return };
        if rts && !open.ready && !open.queue.is_empty() && open.rts.is_none() {
            open.rts = Some(now);
            self.rts_due(now, stream);
        }
    }

    /// RTS, and again until it has ended.
    pub(super) fn rts_due(&mut self, now: u64, stream: StreamRef) {
        let Some(begun) = self.streams.get(&stream).and_then(|open| open.rts) else { return };
        let next = now.saturating_add(RTS_INTERVAL);
        if next < begun.saturating_add(RTS_END) {
            self.timers.set(Timer::Rts(stream), next);
        }
        self.send_flow(stream, Flow::Rts);
    }

    /// XOFF was not repeated in time.
    pub(super) fn xon_due(&mut self, _now: u64, stream: StreamRef) {
        self.resume(stream, true);
    }

    fn resume(&mut self, stream: StreamRef, timeout: bool) {
        self.timers.cancel(Timer::Xon(stream));
        self.timers.cancel(Timer::Rts(stream));
        let Some(open) = self.streams.get_mut(&stream) else { return };
        open.rts = None;
        if !core::mem::replace(&mut open.ready, true) {
            self.event(Event::Resumed { stream, timeout });
            self.schedule(stream);
        }
    }

    // Receiving.

    /// STATUS "no such stream", unless the stream ended a moment ago; not too often.
    fn complain(&mut self, now: u64, peer: u16, command: Command, cos: u8, source: u16, stream: u16) {
        let side = if source == self.config.node { Side::Transmit } else { Side::Receive };
        let closed = self.memory.closed(StreamRef { peer, side, stream });
        let quiet = closed.is_some_and(|closed| now < closed.quiet);
        let until = now.saturating_add(COMPLAINT_INTERVAL);
        if quiet || !self.memory.may_tell(now, peer, stream, until) {
            self.counters.dropped += 1;
            return;
        }
        self.say(peer, command, (cos, source, stream), StatusBits::NO_SUCH_STREAM);
    }

    /// A PDU that came in on a Type 9 stream. The stream of management messages holds those.
    pub fn handle_pdu(&mut self, now: u64, source: u16, cos: u8, stream: u16, octets: &[u8]) {
        if self.config.manages_on(stream) {
            return self.handle_message(now, source, octets);
        }
        self.advance(now);
        let named = StreamRef::receive(source, stream);
        match self.streams.get(&named) {
            Some(open) if open.terms.header == HeaderFormat::Data3 => {
                let (own, max) = (open.cos, open.max_pdu(is_tagged(octets)));
                if octets.len() as u64 > max {
                    self.event(Event::PduLost { peer: source, why: Loss::TooLong });
                } else if self.cos_fits(named, own, cos) {
                    self.event(Event::Pdu { stream: named, cos, octets: octets.to_vec() });
                }
            }
            None if self.config.vendor_streams.contains(&stream) => {
                if self.cos_fits(named, 0, cos) {
                    self.event(Event::Pdu { stream: named, cos, octets: octets.to_vec() });
                }
            }
            _ => self.complain(now, source, Command::Data, cos, source, stream),
        }
    }

    /// Whether data with this COS is delivered.
    fn cos_fits(&mut self, stream: StreamRef, own: u8, cos: u8) -> bool {
        if self.config.mode == Mode::NonValidation || own == cos {
            return true;
        }
        self.event(Event::WrongCos { stream, cos });
        self.suspect(stream.peer, Suspicion::NonCompliance);
        false
    }

    /// The terms of a stream that needs no OPEN: Ethernet broadcast.
    fn broadcast_terms(&self) -> Option<Terms> {
        self.offer(Protocol::ETHERNET)?;
        Some(Terms::of(ETHERNET, crate::attribute::List::default(), 0, 0, 0))
    }

    /// Protocol header, COS, longest PDU and Offset octets of a receive stream.
    fn inbound(&self, stream: StreamRef, frame: &[u8]) -> Option<(HeaderFormat, u8, u64, u8)> {
        if stream.stream == BROADCAST_STREAM {
            let terms = self.broadcast_terms()?;
            return Some((terms.header, 0, max_pdu(terms.header), 0));
        }
        if self.config.vendor_streams.contains(&stream.stream) && !self.streams.contains_key(&stream) {
            return Some((HeaderFormat::Data, 0, max_pdu(HeaderFormat::Data), 0));
        }
        let open = self.streams.get(&stream)?;
        // Until the type field is there, a frame may have a tag.
        let tagged = frame.len() < 14 || is_tagged(frame);
        Some((open.terms.header, open.cos, open.max_pdu(tagged), open.terms.offset))
    }

    pub(super) fn handle_data(&mut self, now: u64, peer: u16, data: Data<'_>, octets: &[u8]) {
        let (context, cos) = match data.header {
            Header::Data { mailbox, cos, .. } | Header::Data1 { mailbox, cos, .. } => {
                (ContextId::Mailbox(peer, cos, mailbox), cos)
            }
            Header::Data2 { specific } => match self.specifics.get(&(peer, specific)) {
                Some(&stream) => (ContextId::Stream(peer, stream), 0),
                None => {
                    self.counters.dropped += 1;
                    return;
                }
            },
        };
        let stream = match (data.stream(), context) {
            (Some(stream), _) | (None, ContextId::Stream(_, stream)) => Some(stream),
            (None, ContextId::Mailbox(..)) => {
                let part = self.reassembly.get(&context).and_then(Option::as_ref);
                part.map(Reassembly::stream)
            }
        };
        let Some(stream) = stream.map(|stream| StreamRef::receive(peer, stream)) else {
            return match data.payload(0, Mode::NonValidation) {
                Err(fault @ Fault::Length { .. }) => self.malformed(peer, fault, octets),
                _ => self.lose(context, data.end, Loss::NoStart),
            };
        };
        let Some((format, own, limit, offset)) = self.inbound(stream, data.body) else {
            return self.complain(now, peer, data.command(), cos, peer, stream.stream);
        };
        if format.command() != data.command().code() {
            self.counters.dropped += 1;
            return;
        }
        let cos = if matches!(context, ContextId::Stream(..)) { own } else { cos };
        let payload = match data.payload(offset, self.config.mode) {
            Ok((_, payload)) => payload,
            Err(fault) => {
                self.lose(context, data.end, Loss::Malformed);
                return self.malformed(peer, fault, octets);
            }
        };
        if !self.cos_fits(stream, own, cos) {
            return;
        }
        match self.assemble(context, stream, &data, payload, limit) {
            Ok(Some(octets)) => self.event(Event::Pdu { stream, cos, octets }),
            Ok(None) => {}
            Err(why) => self.lose(context, data.end, why),
        }
    }

    /// Whether this node receives on a stream of the peer with this COS.
    pub(super) fn receives(&self, peer: u16, cos: u8) -> bool {
        let range = StreamRef::receive(peer, 0)..=StreamRef::receive(peer, u16::MAX);
        let unopened = cos == 0 && !self.config.vendor_streams.is_empty();
        unopened || self.streams.range(range).any(|(_, open)| open.cos == cos)
    }

    /// The PDU on a context is lost. It is told once; what is left of it is passed over.
    pub(super) fn lose(&mut self, context: ContextId, end: bool, why: Loss) {
        let known = matches!(self.reassembly.remove(&context), Some(None));
        let (peer, expected) = match context {
            ContextId::Mailbox(peer, cos, _) => (peer, self.receives(peer, cos)),
            ContextId::Stream(peer, _) => (peer, true),
        };
        // Whoever sends without a stream that is open leaves nothing behind.
        if !end && expected {
            self.reassembly.insert(context, None);
        }
        if !known {
            self.event(Event::PduLost { peer, why });
        }
    }

    /// Adds a segment to its context. Returns the PDU when it is whole.
    fn assemble(
        &mut self,
        context: ContextId,
        stream: StreamRef,
        data: &Data<'_>,
        payload: &[u8],
        limit: u64,
    ) -> Result<Option<Vec<u8>>, Loss> {
        if data.start {
            if let Some(Some(_)) = self.reassembly.remove(&context) {
                self.event(Event::PduLost { peer: stream.peer, why: Loss::Restarted });
            }
            let part = Reassembly::start(stream.stream, limit, payload)?;
            if data.end {
                return part.end(stream.stream, &[]).map(Some);
            }
            self.reassembly.insert(context, Some(part));
            return Ok(None);
        }
        let Some(Some(mut part)) = self.reassembly.get_mut(&context).map(Option::take) else {
            return Err(Loss::NoStart);
        };
        if data.end {
            self.reassembly.remove(&context);
            return part.end(stream.stream, payload).map(Some);
        }
        // A failure leaves nothing of it.
        match part.middle(data.pdu_length(), payload) {
            Ok(()) => {
                self.reassembly.insert(context, Some(part));
                Ok(None)
            }
            Err(why) => {
                self.reassembly.remove(&context);
                Err(why)
            }
        }
    }
}
