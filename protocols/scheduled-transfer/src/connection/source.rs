//! Data source of a Transfer: the Initiator of a Write, the Responder of a Read (2.3.2, 2.3.4).

use super::send::{Outgoing, Part};
use super::{Connection, Context, Extras, Sequence, Timer};
use crate::checksum::Sum;
use crate::errors::Logged;
use crate::event::{Event, Failure, Outcome};
use crate::layout::{self, BLOCK_EXPONENTS, Layout, Place, STUS_PER_BLOCK};
use crate::llp::Ula;
use crate::memory::{Memory, Span};
use crate::slots::{Class, Proof};
use crate::wire::flags::DataChannel;
use crate::wire::{Body, Op};
use alloc::collections::BTreeMap;
use core::num::NonZeroU64;

/// How a Transfer is sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct TransferOptions {
    /// D.
    pub channel: DataChannel,
    /// Blocks that the source would like enabled at a time, 0 for "don't care".
    pub cts_req: u16,
    /// Largest Block exponent; bounded by what 65 536 STUs hold.
    pub max_block: u16,
    /// Headers of Data are not delivered.
    pub silent: bool,
    /// I on the last Data of each Block.
    pub interrupt: bool,
    /// Opaque of every Data (Write and Put).
    pub opaque: u32,
    /// T_len is 0: the memory is a ring, and [`supply`](crate::Endpoint::supply) says how much there is.
    pub unlimited: bool,
    /// Send_State on the last Data of each so many Blocks, 0 for the last Block only.
    pub state_every: u32,
    /// Interrupt and payload of the request.
    pub extras: Extras,
}

impl Default for TransferOptions {
    fn default() -> Self {
        Self {
            channel: DataChannel::ONE,
            cts_req: 0,
            max_block: 48,
            silent: true,
            interrupt: false,
            opaque: 0,
            unlimited: false,
            state_every: 0,
            extras: Extras { interrupt: false, payload: None },
        }
    }
}

/// State of a data source.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum SourceState {
    /// The peer asked to read; the upper layer decides.
    Requested,
    RtsSent,
    Pending,
    Active,
    Confirm,
    /// Given up before the peer's id was known.
    Cancelling,
    EndSent,
}

/// Permission for one Block.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Grant {
    mx: u16,
    place: Place,
    to: Ula,
    interface: u8,
}

/// A Block that has begun, and the grant it used.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Begun {
    grant: Grant,
    /// When its last Data left.
    sent: Option<u64>,
}

/// A data source.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Source {
    /// 0 while it is not known.
    peer_id: u32,
    read: bool,
    state: SourceState,
    span: Span,
    /// Octets that exist so far, and whether these are all.
    available: u64,
    complete: bool,
    t_len: u64,
    options: TransferOptions,
    layout: Option<Layout>,
    /// The next Block in order.
    next: u64,
    held: BTreeMap<u64, Grant>,
    begun: BTreeMap<u64, Begun>,
    /// Blocks that have begun and whose last Data has not left.
    unsent: u64,
    /// Blocks below are confirmed.
    confirmed: u64,
    retries: u32,
    /// The last question was answered: the next is a poll, not a repetition.
    answered: bool,
    /// Why End was sent, none if the Transfer is whole.
    end_reason: Option<Failure>,
}

impl Source {
    fn new(span: Span, options: TransferOptions, state: SourceState) -> Self {
        Self {
            peer_id: 0,
            read: false,
            state,
            span,
            available: if options.unlimited { 0 } else { span.bytes },
            complete: !options.unlimited,
            t_len: if options.unlimited { 0 } else { span.bytes },
            options,
            layout: None,
            next: 0,
            held: BTreeMap::new(),
            begun: BTreeMap::new(),
            unsent: 0,
            confirmed: 0,
            retries: 0,
            answered: false,
            end_reason: None,
        }
    }

    /// Blocks of the Transfer as far as they are known.
    fn blocks(&self) -> Option<u64> {
        let layout = self.layout?;
        if layout.t_len.is_some() {
            return layout.blocks();
        }
        if !self.complete {
            return None;
        }
        match NonZeroU64::new(self.available) {
            Some(total) => Layout { t_len: Some(total), ..layout }.blocks(),
            None => Some(0),
        }
    }

    /// Octets of a Block, as far as the memory has them: `None` while they are not there.
    fn block_bytes(&self, ordinal: u64) -> Option<u64> {
        let layout = self.layout?;
        let start = layout.start(ordinal);
        let whole = layout.bytes(ordinal);
        let there = self.available.saturating_sub(start);
        if there >= whole {
            Some(whole).filter(|&bytes| bytes > 0)
        } else if self.complete && there > 0 {
            Some(there)
        } else {
            None
        }
    }

    pub(crate) fn is_reported(&self) -> bool {
        self.state == SourceState::Requested && self.end_reason.is_some()
    }

    pub(crate) fn confirmed_bytes(&self) -> u64 {
        self.layout.map_or(0, |layout| layout.start(self.confirmed).min(self.available))
    }

    pub(crate) const fn is_requested(&self) -> bool {
        matches!(self.state, SourceState::Requested)
    }

    pub(crate) const fn peer_id(&self) -> u32 {
        self.peer_id
    }

    /// Takes a Block out of those that have begun: it is sent again.
    fn forget_begun(&mut self, ordinal: u64) {
        if self.begun.remove(&ordinal).is_some_and(|begun| begun.sent.is_none()) {
            self.unsent -= 1;
        }
    }

    /// The last Data of a Block has left.
    fn sent(&mut self, ordinal: u64, now: u64) {
        if let Some(begun) = self.begun.get_mut(&ordinal)
            && begun.sent.replace(now).is_none()
        {
            self.unsent -= 1;
        }
    }

    /// Blocks below `next` are correct at the other end.
    fn confirm(&mut self, next: u64) {
        let rest = self.begun.split_off(&next);
        let gone = core::mem::replace(&mut self.begun, rest);
        self.unsent -= gone.values().filter(|begun| begun.sent.is_none()).count() as u64;
        self.held = self.held.split_off(&next);
        self.confirmed = next;
    }

    /// The clock was set back.
    pub(crate) fn rebase(&mut self, by: u64) {
        self.begun.values_mut().filter_map(|begun| begun.sent.as_mut()).for_each(|at| {
            *at = at.saturating_sub(by);
        });
    }

    /// Invariants: extents, and that no Block is confirmed that was not sent.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.unsent != self.begun.values().filter(|begun| begun.sent.is_none()).count() as u64 {
            return Err("Blocks on their way are miscounted");
        }
        if self.confirmed > self.next {
            return Err("a Block is confirmed that was never sent");
        }
        if let Some(blocks) = self.blocks()
            && self.begun.keys().next_back().is_some_and(|&last| last >= blocks)
        {
            return Err("a Block beyond the end was begun");
        }
        Ok(())
    }
}

impl Connection {
    /// The upper layer writes `span`; the id of the Transfer.
    pub(crate) fn write(
        &mut self,
        config: &crate::config::Config,
        span: Span,
        options: TransferOptions,
    ) -> Option<u32> {
        if !self.is_open() || !config.has_channel(options.channel.number()) || span.bytes == 0 {
            return None;
        }
        let id = self.begin(Sequence::Source(Source::new(span, options, SourceState::RtsSent)));
        self.send_rts(config, id, false);
        Some(id)
    }

    /// The peer's Request_To_Receive is legal.
    pub(crate) fn read_requested<M>(
        &mut self,
        cx: &mut Context<'_, M>,
        peer_id: u32,
        t_len: u64,
        channel: DataChannel,
    ) {
        let options = TransferOptions { channel, unlimited: t_len == 0, ..TransferOptions::default() };
        let mut source = Source::new(Span::new(0, t_len), options, SourceState::Requested);
        source.peer_id = peer_id;
        source.read = true;
        let id = self.begin(Sequence::Source(source));
        self.requests.insert((Op::RequestToReceive as u8, peer_id), id);
        // The upper layer has half an Op_timeout before the peer is told that it is still thinking.
        self.timers.set(Timer::Sequence(id), cx.after(cx.config.op_timeout / 2));
        cx.events.push_back((self.id, Event::ReadRequested { id, t_len }));
    }

    /// The upper layer serves a Read from `span`; whether it could.
    pub(crate) fn serve(
        &mut self,
        config: &crate::config::Config,
        id: u32,
        span: Span,
        options: TransferOptions,
    ) -> bool {
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return false };
        if source.state != SourceState::Requested || (source.t_len != 0 && span.bytes != source.t_len) {
            return false;
        }
        let (channel, unlimited) = (source.options.channel, source.options.unlimited);
        source.options = TransferOptions { channel, unlimited, opaque: 0, ..options };
        source.span = span;
        source.available = if unlimited { 0 } else { span.bytes };
        source.state = SourceState::RtsSent;
        self.timers.clear(Timer::Sequence(id));
        self.send_rts(config, id, false);
        true
    }

    /// More octets of an unlimited Transfer are in the ring: `total` so far, and perhaps no more to come.
    pub(crate) fn supply<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        total: u64,
        last: bool,
    ) -> bool {
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return false };
        if !source.options.unlimited || source.complete || total < source.available {
            return false;
        }
        source.available = total;
        source.complete = last;
        self.begin_blocks(cx, id);
        self.maybe_sent(cx, id, false);
        true
    }

    fn send_rts(&mut self, config: &crate::config::Config, id: u32, again: bool) {
        let Some(Sequence::Source(source)) = self.sequences.get(&id) else { return };
        let options = source.options;
        let d_id = if source.read { source.peer_id } else { 0 };
        let stu = self.stu_exponent(config, options.channel);
        let max_block = layout::max_block(stu, config.trailers && config.compute)
            .min(options.max_block)
            .max(*BLOCK_EXPONENTS.start());
        let body = Body::RequestToSend {
            channel: options.channel.number(),
            cts_req: options.cts_req,
            max_block,
            t_len: source.t_len,
            d_id,
            s_id: id,
        };
        let guarded = self.reliable;
        let header = self.header(body);
        // Of a Read it is the answer to a request.
        let queued = if d_id == 0 {
            self.push_header(Class::Ordinary, header)
        } else {
            self.push_answer(header, self.interface)
        };
        queued.with_extras(options.extras).of(id).shown_by(Proof::Id(id));
        queued.again = again;
        if guarded {
            queued.arm = Some(Timer::Sequence(id));
        }
    }

    /// Request_To_Receive came again: the same Request_To_Send, as long as nothing was granted.
    pub(crate) fn repeat_rts(&mut self, config: &crate::config::Config, id: u32) {
        let Some(Sequence::Source(source)) = self.sequences.get(&id) else { return };
        let waiting = self.queue.iter().any(|queued| queued.owner == Some(id));
        if matches!(source.state, SourceState::RtsSent | SourceState::Pending) && !waiting {
            self.send_rts(config, id, true);
        }
    }

    /// Request_Answer for this Transfer's Request_To_Send.
    pub(crate) fn source_answered<M>(&mut self, cx: &mut Context<'_, M>, id: u32, reject: bool) {
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        match source.state {
            SourceState::RtsSent | SourceState::Pending | SourceState::Cancelling if reject => {
                let reason = source.end_reason.unwrap_or(Failure::Rejected);
                self.fail(cx, id, reason);
            }
            SourceState::RtsSent | SourceState::Pending => {
                source.state = SourceState::Pending;
                source.retries = 0;
                self.queue.retain(|queued| queued.owner != Some(id));
                self.timers.set(Timer::Sequence(id), cx.after(cx.config.pending()));
            }
            _ => {}
        }
    }

    /// Clear_To_Send for this Transfer.
    pub(crate) fn granted<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        (from, interface): (Ula, u8),
        body: &Body,
    ) {
        let &Body::ClearToSend { blocksize, mx, bufx, offset, f_offset, b_num, s_id, .. } = body else {
            return;
        };
        let agreed = self.out_of_order_agreed();
        let unexpected = Logged::Unexpected_Opcode_Error { unexpected_opcode_value: Op::ClearToSend as u8 };
        let bufsize = self.remote.bufsize;
        let stu = match self.sequences.get(&id) {
            Some(Sequence::Source(source)) => self.stu_exponent(cx.config, source.options.channel),
            _ => return,
        };
        let max_block = layout::max_block(stu, cx.config.trailers && cx.config.compute);
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        match source.state {
            SourceState::Requested => return cx.log(unexpected),
            SourceState::EndSent => return,
            SourceState::Cancelling => {
                source.peer_id = s_id;
                let reason = source.end_reason.unwrap_or(Failure::Aborted);
                return self.send_source_end(id, reason);
            }
            _ => {}
        }
        if source.peer_id != 0 && source.peer_id != s_id {
            return cx.log(unexpected);
        }
        let candidate = Layout { t_len: NonZeroU64::new(source.t_len), blocksize, f_offset };
        let max_block = max_block.min(source.options.max_block.max(*BLOCK_EXPONENTS.start()));
        let differs = source.layout.is_some_and(|layout| layout.blocksize != blocksize);
        if !BLOCK_EXPONENTS.contains(&blocksize) || blocksize > max_block || differs {
            return cx.log(Logged::Illegal_Blocksize_Error);
        }
        let out_of_range = candidate
            .blocks()
            .is_some_and(|blocks| blocks <= u64::from(layout::NO_BLOCK) && u64::from(b_num) >= blocks);
        let Some(ordinal) =
            layout::ordinal(b_num, source.confirmed.max(source.next)).filter(|_| !out_of_range)
        else {
            return cx.log(Logged::Out_Of_Range_B_num_Error);
        };
        if ordinal < source.confirmed {
            // Late: the Block is correct at the other end.
            return;
        }
        let place = Place { bufx, offset };
        let first_differs = source.layout.is_some_and(|layout| layout.f_offset != f_offset);
        if first_differs || (ordinal == 0 && offset != f_offset) {
            return cx.log(unexpected);
        }
        if place.room(bufsize) == 0 {
            return cx.log(Logged::Oversized_Offset_Error);
        }
        // Max_Block leaves half of the numbers to a trailer: here STUs alone can be too many.
        if layout::stus(place, candidate.bytes(ordinal), bufsize, 1 << stu) > STUS_PER_BLOCK {
            return cx.log(Logged::Illegal_Blocksize_Error);
        }

        source.peer_id = s_id;
        source.layout = Some(candidate);
        if matches!(source.state, SourceState::RtsSent | SourceState::Pending) {
            source.state = SourceState::Active;
            source.retries = 0;
            self.queue.retain(|queued| queued.owner != Some(id));
            self.timers.clear(Timer::Sequence(id));
        }
        let grant = Grant { mx, place, to: from, interface };
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        let waiting = self
            .outgoing
            .iter_mut()
            .find(|block| block.owner == id && block.ordinal == ordinal && block.stu_num == 0);
        if let Some(block) = waiting {
            // Not begun: the newest grant counts.
            (block.mx, block.place, block.last_place) = (mx, place, place);
            (block.to, block.interface) = (from, (!agreed).then_some(interface));
            source.begun.insert(ordinal, Begun { grant, sent: None });
        } else if let Some(begun) = source.begun.get(&ordinal) {
            let same = (begun.grant.mx, begun.grant.place) == (mx, place);
            let long_ago = begun.sent.is_some_and(|at| at.saturating_add(cx.config.op_timeout) < cx.now);
            if same && !(long_ago && agreed) {
                return;
            }
            if !agreed {
                return cx.log(unexpected);
            }
            // Retransmission, from STU 0.
            self.outgoing.retain(|block| block.owner != id || block.ordinal != ordinal);
            source.forget_begun(ordinal);
            source.held.insert(ordinal, grant);
            if source.state == SourceState::Confirm {
                source.state = SourceState::Active;
                self.timers.clear(Timer::Sequence(id));
            }
        } else {
            source.held.insert(ordinal, grant);
        }
        self.begin_blocks(cx, id);
    }

    /// Blocks that may begin now get in line.
    fn begin_blocks<M: Memory>(&mut self, cx: &Context<'_, M>, id: u32) {
        let agreed = self.out_of_order_agreed();
        let usual = self.interface;
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        if source.state != SourceState::Active {
            return;
        }
        while let Some((&ordinal, &grant)) = source.held.first_key_value() {
            let in_order = agreed || ordinal == source.next;
            let Some(bytes) = source.block_bytes(ordinal).filter(|_| in_order) else { break };
            let Some(layout) = source.layout else { break };
            source.held.remove(&ordinal);
            source.next = source.next.max(ordinal + 1);
            source.begun.insert(ordinal, Begun { grant, sent: None });
            source.unsent += 1;
            let start = layout.start(ordinal);
            let (address, ring) = if source.options.unlimited {
                let ring = source.span;
                (ring.address + start % ring.bytes, Some((ring.address + ring.bytes, ring.bytes)))
            } else {
                (source.span.address + start, None)
            };
            let options = source.options;
            let every = u64::from(options.state_every);
            // Grants may come in any order: the one to ask with is the last Block to begin, not the one at
            // the end.
            let begun = source.begun.len() as u64 + source.confirmed;
            let is_last = source.blocks() == Some(begun);
            let asked = is_last || (every != 0 && (ordinal + 1) % every == 0);
            self.outgoing.push_back(Outgoing {
                owner: id,
                part: Part::Transfer,
                ordinal,
                d_id: source.peer_id,
                s_id: if source.read { 0 } else { options.opaque },
                mx: grant.mx,
                b_num: layout::b_num(ordinal),
                place: grant.place,
                address,
                ring,
                left: bytes,
                stu_num: 0,
                channel: options.channel,
                silent: options.silent,
                interrupt: options.interrupt,
                ask: asked && self.reliable,
                to: grant.to,
                // Without agreed order a Block leaves through the interface that set the connection up.
                interface: if agreed && cx.config.interfaces > 1 { None } else { Some(usual) },
                sync: None,
                sum: Sum::ZERO,
                in_segment: 0,
                last_place: grant.place,
            });
        }
    }

    /// The last Data of a Block has left.
    pub(crate) fn transfer_block_sent<M: Memory>(&mut self, cx: &mut Context<'_, M>, block: &Outgoing) {
        let id = block.owner;
        let reliable = self.reliable;
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        source.sent(block.ordinal, cx.now);
        if block.ask && reliable && source.state == SourceState::Active {
            self.timers.set(Timer::Sequence(id), cx.after(cx.config.op_timeout));
        }
        self.maybe_sent(cx, id, block.ask);
    }

    /// If every Block has left: confirmation, or the end. `asked`: Send_State left with the last of them.
    fn maybe_sent<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32, asked: bool) {
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        if source.state != SourceState::Active {
            return;
        }
        let Some(blocks) = source.blocks() else { return };
        let begun = source.begun.len() as u64 + source.confirmed;
        // Grants beyond the end of an unlimited Transfer stay unused.
        let held = source.held.first_key_value().is_some_and(|(&ordinal, _)| ordinal < blocks);
        if source.unsent > 0 || held || begun < blocks {
            return;
        }
        if !self.reliable {
            return self.source_done(cx, id);
        }
        if source.confirmed >= blocks {
            return self.source_done(cx, id);
        }
        source.state = SourceState::Confirm;
        source.retries = 0;
        let (last, d_id) = (blocks - 1, source.peer_id);
        if asked {
            self.timers.set(Timer::Sequence(id), cx.after(cx.config.op_timeout));
        } else {
            // That it would be the last to leave was not known when it began.
            self.ask_state(id, d_id, Some(last), Timer::Sequence(id), false);
        }
    }

    /// All Blocks are sent, and confirmed if they are to be.
    fn source_done<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Source(source)) = self.sequences.get(&id) else { return };
        let bytes = source.available;
        if source.options.unlimited && source.peer_id != 0 {
            // Only End tells the peer that there is no more.
            let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
            source.end_reason = None;
            source.state = SourceState::EndSent;
            source.retries = 0;
            let d_id = source.peer_id;
            self.send_end(id, d_id, false);
            return;
        }
        self.bury(cx, id, false);
        self.finished(cx, id, Outcome::Complete, bytes);
    }

    pub(crate) fn send_end(&mut self, id: u32, d_id: u32, again: bool) {
        let queued =
            self.push(Class::Reserve, Body::End { d_id, s_id: id }).of(id).arming(Timer::Sequence(id));
        queued.again = again;
    }

    fn send_source_end(&mut self, id: u32, reason: Failure) {
        self.drop_sends(id);
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        source.held.clear();
        source.state = SourceState::EndSent;
        source.end_reason = Some(reason);
        source.retries = 0;
        let d_id = source.peer_id;
        self.send_end(id, d_id, false);
    }

    /// The upper layer ends a Transfer of which this end is the source.
    pub(crate) fn abort_source<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let unasked = self.is_unasked(id);
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        match source.state {
            SourceState::Requested => {
                self.refuse(cx, id);
            }
            SourceState::RtsSent if source.peer_id == 0 && unasked => self.fail(cx, id, Failure::Aborted),
            SourceState::RtsSent | SourceState::Pending if source.peer_id == 0 => {
                source.state = SourceState::Cancelling;
                source.end_reason = Some(Failure::Aborted);
                // A repetition makes sure that the id comes.
                self.queue.retain(|queued| queued.owner != Some(id) || queued.again);
                self.timers.set(Timer::Sequence(id), cx.after(cx.config.quarantine()));
            }
            SourceState::RtsSent | SourceState::Pending | SourceState::Active | SourceState::Confirm => {
                self.send_source_end(id, Failure::Aborted);
            }
            SourceState::Cancelling | SourceState::EndSent => {}
        }
    }

    /// End_Ack came.
    pub(crate) fn source_ended<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Source(source)) = self.sequences.get(&id) else { return };
        if source.state != SourceState::EndSent {
            return;
        }
        let (outcome, bytes) = match source.end_reason {
            Some(reason) => (Outcome::Failed(reason), source.confirmed_bytes()),
            None => (Outcome::Complete, source.available),
        };
        self.bury(cx, id, false);
        self.finished(cx, id, outcome, bytes);
    }

    /// Request_State_Response about this Transfer.
    pub(crate) fn source_state<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        asked: Option<u64>,
        (b_seq, b_num, s_id): (u32, u32, u32),
    ) {
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        if !matches!(source.state, SourceState::Active | SourceState::Confirm) {
            return;
        }
        if s_id == crate::ids::NO_ID {
            if source.state == SourceState::Confirm {
                self.fail(cx, id, Failure::Unconfirmed);
            }
            return;
        }
        let next = layout::ordinal(b_seq, source.confirmed).map_or(0, |ordinal| ordinal + 1);
        let known = asked.map(layout::b_num);
        if next > source.next || (b_num != layout::NO_BLOCK && known != Some(b_num)) {
            return cx.log(Logged::Out_Of_Range_B_num_Error);
        }
        if next > source.confirmed {
            source.confirm(next);
            source.retries = 0;
            self.outgoing.retain(|block| block.owner != id || block.ordinal >= next);
            cx.events.push_back((self.id, Event::Progress { id, blocks: next }));
        }
        if source.blocks().is_some_and(|blocks| source.confirmed >= blocks) {
            return self.source_done(cx, id);
        }
        match source.state {
            SourceState::Confirm => {
                source.answered = true;
                source.retries = 0;
                self.timers.set(Timer::Sequence(id), cx.after(cx.config.op_timeout));
            }
            _ => self.timers.clear(Timer::Sequence(id)),
        }
    }

    pub(crate) fn source_expired<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Source(source)) = self.sequences.get_mut(&id) else { return };
        match source.state {
            SourceState::Requested => {
                let peer_id = source.peer_id;
                self.answer_request(id, peer_id, 0, false);
            }
            SourceState::RtsSent | SourceState::Pending => {
                if Self::expired(cx, &mut source.retries) {
                    source.state = SourceState::RtsSent;
                    self.send_rts(cx.config, id, true);
                } else {
                    self.fail(cx, id, Failure::Timeout);
                }
            }
            SourceState::Active | SourceState::Confirm => {
                let last = source.begun.keys().next_back().copied().or(source.next.checked_sub(1));
                let d_id = source.peer_id;
                let poll = core::mem::take(&mut source.answered);
                if poll || Self::expired(cx, &mut source.retries) {
                    self.ask_state(id, d_id, last, Timer::Sequence(id), true);
                } else {
                    self.fail(cx, id, Failure::Timeout);
                }
            }
            SourceState::Cancelling => self.fail(cx, id, Failure::Aborted),
            SourceState::EndSent => {
                let d_id = source.peer_id;
                if Self::expired(cx, &mut source.retries) {
                    self.send_end(id, d_id, true);
                } else {
                    let reason = source.end_reason.unwrap_or(Failure::Timeout);
                    self.fail(cx, id, reason);
                }
            }
        }
    }
}
