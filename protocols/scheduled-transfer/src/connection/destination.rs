//! Data destination of a Transfer: the Responder of a Write, the Initiator of a Read (2.3.3, 2.3.4).

use super::send::Queued;
use super::{Connection, Context, Extras, Sequence, Timer};
use crate::checksum::Sum;
use crate::errors::Logged;
use crate::event::{Event, Failure, Outcome};
use crate::layout::{self, BLOCK_EXPONENTS, Layout, Place};
use crate::memory::{Memory, Span};
use crate::slots::{Class, Proof};
use crate::wire::flags::DataChannel;
use crate::wire::{Body, Op};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::num::NonZeroU64;

/// How a Transfer is received.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ExposeOptions {
    /// Blocks enabled at a time; 0 follows CTS_req, and enables all if that is 0 too.
    pub window: u32,
    /// Block exponent, at most the source's Max_Block; 0 takes the largest that memory and window suggest.
    pub blocksize: u16,
}

/// State of a data destination.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum DestinationState {
    /// Request_To_Receive is out.
    RtrSent,
    /// It was answered with R=0.
    RtrPending,
    /// Request_To_Send came, the upper layer decides.
    Offered,
    /// The source was told to wait.
    Pending,
    Exposing,
    /// All Blocks are correct; questions are still answered.
    Complete,
    /// Given up before the peer's id was known.
    Cancelling,
    EndSent,
}

/// A Block that was enabled and is not yet correct.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(super) struct Exposed {
    pub(super) mx: u16,
    pub(super) place: Place,
    pub(super) bytes: u64,
    pub(super) interface: u8,
    /// The STU_num that comes next.
    pub(super) next_stu: u32,
    pub(super) received: u64,
    pub(super) damaged: bool,
    pub(super) sum: Sum,
    /// The segment has a Data operation without its checksum yet, after one with.
    pub(super) protected: bool,
}

/// A data destination.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Destination {
    pub(super) peer_id: u32,
    pub(super) read: bool,
    pub(super) state: DestinationState,
    pub(super) t_len: u64,
    pub(super) channel: DataChannel,
    pub(super) cts_req: u16,
    pub(super) max_block: u16,
    pub(super) options: ExposeOptions,
    pub(super) extras: Extras,
    pub(super) span: Span,
    pub(super) first: Place,
    pub(super) layout: Option<Layout>,
    pub(super) exposed: BTreeMap<u64, Exposed>,
    /// The next Block to enable.
    pub(super) next: u64,
    /// Blocks below are correct, and these above.
    pub(super) correct: u64,
    pub(super) correct_above: BTreeSet<u64>,
    /// A short last Block of an unlimited Transfer, and its size.
    pub(super) last: Option<(u64, u64)>,
    /// The Block that last began.
    pub(super) previous: Option<u64>,
    pub(super) bytes: u64,
    pub(super) data_seen: bool,
    pub(super) retries: u32,
    pub(super) end_reason: Option<Failure>,
    pub(super) next_interface: u8,
    /// Clear_To_Send of all Transfers that had left when Blocks were last looked for.
    pub(super) permitted: u64,
}

impl Destination {
    fn new(peer_id: u32, read: bool, state: DestinationState, t_len: u64, channel: DataChannel) -> Self {
        Self {
            peer_id,
            read,
            state,
            t_len,
            channel,
            cts_req: 0,
            max_block: 48,
            options: ExposeOptions::default(),
            extras: Extras::default(),
            span: Span::default(),
            first: Place::default(),
            layout: None,
            exposed: BTreeMap::new(),
            next: 0,
            correct: 0,
            correct_above: BTreeSet::new(),
            last: None,
            previous: None,
            bytes: 0,
            data_seen: false,
            retries: 0,
            end_reason: None,
            next_interface: 0,
            permitted: 0,
        }
    }

    pub(crate) fn indices(&self) -> Vec<u16> {
        self.exposed.values().map(|block| block.mx).collect()
    }

    pub(crate) fn first_place(&self) -> Option<Place> {
        self.layout.map(|_| self.first)
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_reported(&self) -> bool {
        self.state == DestinationState::Complete
    }

    pub(crate) const fn peer_id(&self) -> u32 {
        self.peer_id
    }

    pub(crate) const fn is_read(&self) -> bool {
        self.read
    }

    /// B_seq, and whether the Block with this number is correct: `None` if it was never enabled.
    pub(crate) fn state_of(&self, b_num: u32) -> (u32, Option<bool>) {
        let b_seq = layout::b_seq(self.correct);
        let block = layout::ordinal(b_num, self.correct);
        let known = block.filter(|&block| block < self.next).map(|block| self.has(block));
        (b_seq, known)
    }

    fn has(&self, block: u64) -> bool {
        block < self.correct || self.correct_above.contains(&block)
    }

    pub(super) fn block_done(&mut self, block: u64) {
        self.correct_above.insert(block);
        while self.correct_above.remove(&self.correct) {
            self.correct += 1;
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        match (self.layout.and_then(|layout| layout.blocks()), self.last) {
            (Some(blocks), _) => self.correct == blocks,
            (None, Some((last, _))) => self.correct == last + 1,
            (None, None) => false,
        }
    }

    /// Invariants of section 2.4: extents, B_seq and the window.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.correct > self.next || self.correct_above.first().is_some_and(|&above| above <= self.correct)
        {
            return Err("B_seq passes what was enabled");
        }
        if self.exposed.iter().any(|(block, exposed)| {
            (self.has(*block) && !exposed.damaged) || *block >= self.next || exposed.received > exposed.bytes
        }) {
            return Err("a correct Block is still exposed, or holds more than it has");
        }
        let Some(layout) = self.layout else { return Ok(()) };
        let sum: u64 = self.correct_above.iter().map(|&block| layout.bytes(block)).sum();
        let whole = layout.start(self.correct).min(if self.t_len == 0 { u64::MAX } else { self.t_len });
        if self.last.is_none() && self.bytes != whole + sum {
            return Err("octets received are not those of the correct Blocks");
        }
        Ok(())
    }
}

impl Connection {
    /// The upper layer reads into `span`; the id of the Transfer. Memory for an unlimited Read is a ring.
    pub(crate) fn read(
        &mut self,
        cx: &crate::config::Config,
        span: Span,
        unlimited: bool,
        channel: DataChannel,
        options: ExposeOptions,
        extras: Extras,
    ) -> Option<u32> {
        if !self.is_open() || !cx.has_channel(channel.number()) || span.bytes == 0 {
            return None;
        }
        let t_len = if unlimited { 0 } else { span.bytes };
        let mut destination = Destination::new(0, true, DestinationState::RtrSent, t_len, channel);
        (destination.span, destination.options, destination.extras) = (span, options, extras);
        let id = self.begin(Sequence::Destination(destination));
        self.send_rtr(id, false);
        Some(id)
    }

    fn send_rtr(&mut self, id: u32, again: bool) {
        let Some(Sequence::Destination(destination)) = self.sequences.get(&id) else { return };
        let body = Body::RequestToReceive {
            channel: destination.channel.number(),
            t_len: destination.t_len,
            s_id: id,
        };
        let (extras, guarded) = (destination.extras, self.reliable);
        let queued = self.push(Class::Ordinary, body).with_extras(extras).of(id).shown_by(Proof::Id(id));
        queued.again = again;
        if guarded {
            queued.arm = Some(Timer::Sequence(id));
        }
    }

    /// Request_To_Send for a Write came; D and Max_Block are legal.
    pub(crate) fn offered<M>(&mut self, cx: &mut Context<'_, M>, channel: DataChannel, body: &Body) {
        let &Body::RequestToSend { cts_req, max_block, t_len, s_id, .. } = body else { return };
        let mut destination = Destination::new(s_id, false, DestinationState::Offered, t_len, channel);
        (destination.cts_req, destination.max_block) = (cts_req, max_block);
        let id = self.begin(Sequence::Destination(destination));
        self.requests.insert((Op::RequestToSend as u8, s_id), id);
        self.timers.set(Timer::Sequence(id), cx.after(cx.config.op_timeout / 2));
        cx.events.push_back((self.id, Event::WriteOffered { id, t_len, channel }));
    }

    /// Request_To_Send for the Read `id` came.
    pub(crate) fn read_granted<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32, body: &Body) {
        let &Body::RequestToSend { cts_req, max_block, t_len, s_id, .. } = body else { return };
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return };
        match destination.state {
            DestinationState::RtrSent | DestinationState::RtrPending => {}
            DestinationState::Cancelling => {
                destination.peer_id = s_id;
                let reason = destination.end_reason.unwrap_or(Failure::Aborted);
                return self.send_destination_end(cx, id, reason);
            }
            _ if destination.peer_id != s_id => {
                return cx.log(Logged::Unexpected_Opcode_Error {
                    unexpected_opcode_value: Op::RequestToSend as u8,
                });
            }
            _ => return self.repeat_grants(cx, id),
        }
        if t_len != destination.t_len || !BLOCK_EXPONENTS.contains(&max_block) {
            if !BLOCK_EXPONENTS.contains(&max_block) {
                cx.log.counters_mut().illegal_max_block += 1;
            }
            self.answer_request(id, s_id, 0, true);
            return self.fail(cx, id, Failure::Rejected);
        }
        (destination.peer_id, destination.cts_req, destination.max_block) = (s_id, cts_req, max_block);
        destination.state = DestinationState::Offered;
        destination.retries = 0;
        let (span, options) = (destination.span, destination.options);
        self.queue.retain(|queued| queued.owner != Some(id));
        self.timers.clear(Timer::Sequence(id));
        cx.events.push_back((self.id, Event::ReadGranted { id }));
        if !self.expose(cx, id, span, options) {
            self.answer_request(id, s_id, 0, true);
            self.fail(cx, id, Failure::Aborted);
        }
    }

    /// Request_Answer for this Transfer's Request_To_Receive.
    pub(crate) fn destination_answered<M>(&mut self, cx: &mut Context<'_, M>, id: u32, reject: bool) {
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return };
        match destination.state {
            DestinationState::RtrSent | DestinationState::RtrPending | DestinationState::Cancelling
                if reject =>
            {
                let reason = destination.end_reason.unwrap_or(Failure::Rejected);
                self.fail(cx, id, reason);
            }
            DestinationState::RtrSent | DestinationState::RtrPending => {
                destination.state = DestinationState::RtrPending;
                destination.retries = 0;
                self.queue.retain(|queued| queued.owner != Some(id));
                self.timers.set(Timer::Sequence(id), cx.after(cx.config.pending()));
            }
            _ => {}
        }
    }

    /// The upper layer gives memory for a Transfer; whether it could. For an unlimited Transfer it is a ring:
    /// a multiple of the buffers and of the Blocks, and so aligned.
    pub(crate) fn expose<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        span: Span,
        options: ExposeOptions,
    ) -> bool {
        let bufsize = self.local.bufsize;
        let max_stu = self.local.max_stu.min(31) as u16;
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return false };
        if !matches!(destination.state, DestinationState::Offered | DestinationState::Pending)
            || (destination.t_len != 0 && span.bytes != destination.t_len)
            || !cx.memory.contains(span.address, span.bytes)
        {
            return false;
        }
        let stu = max_stu.min(destination.channel.stu_exponent() as u16);
        // One STU a Block where the lower layer reorders (A.3, A.5); else Blocks of one buffer.
        let natural = if cx.config.ordered { bufsize.min(48) as u16 } else { stu };
        let wanted = if options.blocksize == 0 { natural } else { options.blocksize };
        let blocksize = wanted.min(destination.max_block);
        if !BLOCK_EXPONENTS.contains(&blocksize) {
            return false;
        }
        let aligned = 1u64 << u32::from(blocksize).max(bufsize);
        let ring = destination.t_len == 0;
        if ring
            && (span.bytes == 0
                || !span.bytes.is_multiple_of(aligned)
                || !span.address.is_multiple_of(aligned))
        {
            return false;
        }
        let Some(first) = self.buffers.expose(span) else { return false };
        let layout = Layout { t_len: NonZeroU64::new(destination.t_len), blocksize, f_offset: first.offset };
        (destination.span, destination.options, destination.first) = (span, options, first);
        destination.layout = Some(layout);
        destination.state = DestinationState::Exposing;
        self.queue.retain(|queued| queued.owner != Some(id));
        self.timers.clear(Timer::Sequence(id));
        self.expose_blocks(cx, id);
        true
    }

    /// Enables Blocks up to the window.
    pub(super) fn expose_blocks<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        loop {
            let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return };
            let Some(layout) = destination.layout.filter(|_| destination.state == DestinationState::Exposing)
            else {
                return;
            };
            let window = match (destination.options.window, destination.cts_req) {
                (0, 0) => u64::from(u32::MAX),
                (0, asked) => asked.into(),
                (window, _) => window.into(),
            };
            // Memory of an unlimited Transfer holds so many Blocks; numbers stay apart by 2^31 (6.2.4).
            let window = match layout.blocks() {
                Some(_) => window,
                None => window.min(destination.span.bytes / layout.block_bytes()),
            };
            let end = layout.blocks().unwrap_or(u64::MAX);
            let full = destination.exposed.len() as u64 >= window
                || destination.next - destination.correct >= window.clamp(1, 1 << 30) + (1 << 16);
            if full || destination.next >= end || destination.last.is_some() {
                break;
            }
            let Some(mx) = self.indices.assign(cx.now) else { break };
            let ordinal = destination.next;
            destination.next += 1;
            let interface = destination.next_interface % cx.config.interfaces;
            destination.next_interface = (interface + 1) % cx.config.interfaces;
            let start = match layout.t_len {
                Some(_) => layout.start(ordinal),
                None => layout.start(ordinal) % destination.span.bytes,
            };
            let place = destination.first.advance(start, self.local.bufsize);
            destination.exposed.insert(
                ordinal,
                Exposed {
                    mx,
                    place,
                    bytes: layout.bytes(ordinal),
                    interface,
                    next_stu: 0,
                    received: 0,
                    damaged: false,
                    sum: Sum::ZERO,
                    protected: false,
                },
            );
            self.send_cts(id, ordinal, false, cx.config);
        }
        self.watch_missing(cx, id);
    }

    fn send_cts(&mut self, id: u32, ordinal: u64, again: bool, config: &crate::config::Config) {
        let Some(Sequence::Destination(destination)) = self.sequences.get(&id) else { return };
        let (Some(layout), Some(block)) = (destination.layout, destination.exposed.get(&ordinal)) else {
            return;
        };
        let body = Body::ClearToSend {
            blocksize: layout.blocksize,
            mx: block.mx,
            bufx: block.place.bufx,
            offset: block.place.offset,
            f_offset: layout.f_offset,
            b_num: layout::b_num(ordinal),
            d_id: destination.peer_id,
            s_id: id,
        };
        // The interface that sends the Clear_To_Send is the one that gets the Block.
        let striped = self.out_of_order_agreed() && config.interfaces > 1;
        let interface = if striped { block.interface } else { self.interface };
        let (mx, first) = (block.mx, ordinal == 0 && !destination.data_seen);
        let header = self.header(body);
        let queued = if first {
            self.push_answer(header, interface)
        } else {
            let queued = self.push_header(Class::Ordinary, header);
            (queued.interface, queued.further) = (interface, true);
            queued
        };
        queued.of(id).shown_by(Proof::Index(mx));
        queued.again = again;
    }

    pub(super) fn watch_missing<M>(&mut self, cx: &Context<'_, M>, id: u32) {
        let Some(Sequence::Destination(destination)) = self.sequences.get(&id) else { return };
        if let Some(wait) = cx.config.missing_timeout
            && destination.state == DestinationState::Exposing
        {
            self.timers.set(Timer::Sequence(id), cx.after(wait));
        }
    }

    /// Request_To_Send came again: the same grants, as long as no Data came.
    pub(crate) fn repeat_grants<M>(&mut self, cx: &Context<'_, M>, id: u32) {
        let Some(Sequence::Destination(destination)) = self.sequences.get(&id) else { return };
        let peer_id = destination.peer_id;
        match destination.state {
            DestinationState::Offered | DestinationState::Pending => {
                self.answer_request(id, peer_id, 0, false)
            }
            DestinationState::Exposing if !destination.data_seen => {
                let waiting = self.queue.iter().any(|queued| queued.owner == Some(id));
                let blocks: Vec<u64> = destination.exposed.keys().copied().collect();
                if !waiting {
                    blocks.into_iter().for_each(|block| self.send_cts(id, block, true, cx.config));
                }
            }
            _ => {}
        }
    }

    /// Enables a missing Block again with a new Mx (10.7.8); whether that is allowed. For the upper layer,
    /// and for the timer.
    pub(crate) fn reissue<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32, ordinal: u64) -> bool {
        if !self.out_of_order_agreed() {
            return false;
        }
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return false };
        let Some(block) = destination.exposed.get_mut(&ordinal) else { return false };
        if destination.state != DestinationState::Exposing {
            return false;
        }
        let Some(mx) = self.indices.assign(cx.now) else { return false };
        let old = core::mem::replace(&mut block.mx, mx);
        (block.next_stu, block.received, block.damaged, block.sum) = (0, 0, false, Sum::ZERO);
        block.protected = false;
        // A waiting Clear_To_Send with the old index is void.
        self.queue.retain(|queued| {
            queued.owner != Some(id) || queued.header.op != Op::ClearToSend as u8 || queued.header.b_id != old
        });
        self.indices.retire(old, cx.after(cx.config.quarantine()));
        self.send_cts(id, ordinal, false, cx.config);
        true
    }

    /// The upper layer ends a Transfer of which this end is the destination.
    pub(crate) fn abort_destination<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let unasked = self.is_unasked(id);
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return };
        match destination.state {
            DestinationState::RtrSent if unasked => self.fail(cx, id, Failure::Aborted),
            DestinationState::RtrSent | DestinationState::RtrPending => {
                destination.state = DestinationState::Cancelling;
                destination.end_reason = Some(Failure::Aborted);
                self.queue.retain(|queued| queued.owner != Some(id));
                self.timers.set(Timer::Sequence(id), cx.after(cx.config.quarantine()));
            }
            DestinationState::Offered | DestinationState::Pending | DestinationState::Exposing => {
                self.send_destination_end(cx, id, Failure::Aborted);
            }
            DestinationState::Complete | DestinationState::Cancelling | DestinationState::EndSent => {}
        }
    }

    fn send_destination_end<M>(&mut self, cx: &Context<'_, M>, id: u32, reason: Failure) {
        self.drop_sends(id);
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return };
        let until = cx.now.saturating_add(cx.config.quarantine());
        for block in core::mem::take(&mut destination.exposed).into_values() {
            self.indices.retire(block.mx, until);
        }
        destination.state = DestinationState::EndSent;
        destination.end_reason = Some(reason);
        destination.retries = 0;
        let d_id = destination.peer_id;
        self.timers.clear(Timer::Sequence(id));
        self.send_end(id, d_id, false);
    }

    /// End_Ack came.
    pub(crate) fn destination_ended<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Destination(destination)) = self.sequences.get(&id) else { return };
        if destination.state == DestinationState::EndSent {
            let reason = destination.end_reason.unwrap_or(Failure::Aborted);
            self.fail(cx, id, reason);
        }
    }

    /// The source ended the Transfer; for an unlimited one that is how it should be.
    pub(crate) fn destination_end_received<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Destination(destination)) = self.sequences.get(&id) else { return };
        let (bytes, t_len, state) = (destination.bytes, destination.t_len, destination.state);
        match state {
            DestinationState::Complete => self.bury(cx, id, false),
            DestinationState::Exposing if t_len == 0 => {
                self.bury(cx, id, false);
                self.finished(cx, id, Outcome::Complete, bytes);
            }
            _ => self.fail(cx, id, Failure::EndedByPeer),
        }
    }

    /// Whether a Clear_To_Send of the Transfer waits to leave, and others have left since this was asked.
    fn permission_waits(&mut self, id: u32) -> bool {
        let waits = |queued: &Queued| queued.owner == Some(id) && queued.header.op == Op::ClearToSend as u8;
        let waits = self.queue.iter().any(waits);
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return false };
        core::mem::replace(&mut destination.permitted, self.permitted) != self.permitted && waits
    }

    pub(crate) fn destination_expired<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let agreed = self.out_of_order_agreed();
        let waits = self.permission_waits(id);
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return };
        let peer_id = destination.peer_id;
        match destination.state {
            DestinationState::RtrSent | DestinationState::RtrPending => {
                if Self::expired(cx, &mut destination.retries) {
                    destination.state = DestinationState::RtrSent;
                    self.send_rtr(id, true);
                } else {
                    self.fail(cx, id, Failure::Timeout);
                }
            }
            DestinationState::Offered => {
                destination.state = DestinationState::Pending;
                self.answer_request(id, peer_id, 0, false);
            }
            DestinationState::Pending => {}
            // The source cannot send what it has no permission for.
            DestinationState::Exposing if waits => self.watch_missing(cx, id),
            DestinationState::Exposing => {
                let missing: Vec<u64> = destination.exposed.keys().copied().collect();
                destination.retries += 1;
                cx.log.counters_mut().overdue += 1;
                if !agreed {
                    // The upper layer is told, once: without progress there is nothing new to tell.
                    let news = missing.into_iter().map(|block| (self.id, Event::Missing { id, block }));
                    return cx.events.extend(news);
                }
                if destination.retries > cx.config.max_retry.saturating_add(1) {
                    // The source has given up, or is gone.
                    return self.send_destination_end(cx, id, Failure::Timeout);
                }
                missing.into_iter().for_each(|block| _ = self.reissue(cx, id, block));
                self.watch_missing(cx, id);
            }
            DestinationState::Complete => self.bury(cx, id, false),
            DestinationState::Cancelling => self.fail(cx, id, Failure::Aborted),
            DestinationState::EndSent => {
                if Self::expired(cx, &mut destination.retries) {
                    self.send_end(id, peer_id, true);
                } else {
                    let reason = destination.end_reason.unwrap_or(Failure::Timeout);
                    self.fail(cx, id, reason);
                }
            }
        }
    }

    /// Tells the source to wait; whether there is something to wait for.
    pub(crate) fn pause_destination(&mut self, id: u32) -> bool {
        let Some(Sequence::Destination(destination)) = self.sequences.get_mut(&id) else { return false };
        if destination.state != DestinationState::Offered {
            return false;
        }
        destination.state = DestinationState::Pending;
        let peer_id = destination.peer_id;
        self.timers.clear(Timer::Sequence(id));
        self.answer_request(id, peer_id, 0, false);
        true
    }

    /// Whether the upper layer may still refuse.
    pub(crate) fn destination_undecided(&self, id: u32) -> bool {
        matches!(self.sequences.get(&id), Some(Sequence::Destination(destination))
            if matches!(destination.state, DestinationState::Offered | DestinationState::Pending))
    }
}
