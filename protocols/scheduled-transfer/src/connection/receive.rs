//! What arrives on an open connection, checked in one fixed order, the first failure winning (clause 10).
//!
//! The endpoint has checked length, checksum of Control operations, Op, Ports and Key. Here follow Slots,
//! D_id, role, flags, and then what the sequence itself checks.

use super::{Connection, Context, Extras, Question, Sequence, State, Timer};
use crate::errors::Logged;
use crate::event::{Event, Failure};
use crate::ids::NO_ID;
use crate::layout::{BLOCK_EXPONENTS, NO_BLOCK};
use crate::llp::Ula;
use crate::memory::Memory;
use crate::slots::{Class, Proof, UNCOUNTED};
use crate::wire::flags::DataChannel;
use crate::wire::operation::GET_DATA_MASK;
use crate::wire::{Body, Error, Flags, Header, Op, Operation};

/// The other reading of "Slots only" in Request_State (6.1.1.1).
const SHORT_SLOTS_ID: u32 = 0xFFFF;

/// Ids of one end whose late use was logged; more are logged again.
const STALE_LOGGED: usize = 1024;

impl Connection {
    /// Slots to report: those free while the operation that asks still occupies its own.
    pub(crate) fn free_slots_to_report(&self) -> u16 {
        if self.local.slots == UNCOUNTED {
            return UNCOUNTED;
        }
        u16::try_from(u32::from(self.local.slots).saturating_sub(self.occupied + 1)).unwrap_or(u16::MAX - 1)
    }

    /// An operation other than those of set-up and teardown; Ports and Key are this connection's.
    pub(crate) fn handle<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        (from, interface): (Ula, u8),
        header: &Header,
        payload: &[u8],
    ) {
        match self.state {
            State::Open => {}
            State::RcSent | State::RcReceived => {
                return cx.log(Logged::Unexpected_Opcode_Error { unexpected_opcode_value: header.op });
            }
            _ => return,
        }
        self.heard = true;
        self.peer = from;
        let delivered = header.op == Op::Data as u8
            && (!header.flags.has(Flags::SILENT) || header.flags.has(Flags::SEND_STATE));
        let answer = header.op == Op::RequestStateResponse as u8 || header.op == Op::EndAck as u8;
        let needs_slot = (header.op != Op::Data as u8 || delivered) && !answer;
        if needs_slot && self.occupied >= u32::from(self.local.slots) {
            if self.local.slots == UNCOUNTED {
                cx.log.counters_mut().header_queue_overflow += 1;
            } else {
                cx.log(Logged::Slots_Exceeded_Error);
            }
            return;
        }
        self.gate.arrived(Proof::Id(header.d_id));
        let operation = match Operation::parse(header) {
            Ok(operation) => operation,
            Err(Error::ReservedFunction { .. }) => return self.reserved_function(cx, header),
            Err(_) => return,
        };
        let executed = self.dispatch(cx, (from, interface), header, &operation.body, payload);
        if !executed {
            return;
        }
        if operation.interrupt {
            cx.events.push_back((self.id, Event::Interrupt { op: header.op }));
        }
        if header.op == Op::Data as u8 {
            if delivered {
                self.occupied += 1;
                let bytes = u32::try_from(payload.len()).unwrap_or(u32::MAX);
                cx.events.push_back((self.id, Event::Header { header: *header, bytes }));
            }
        } else if let Ok(octets) = payload.try_into() {
            cx.events.push_back((self.id, Event::Payload { op: header.op, octets }));
        }
    }

    /// Interrupt and payload of Request_Connection or Connection_Answer.
    pub(crate) fn deliver_extras<M>(&self, cx: &mut Context<'_, M>, op: u8, extras: Extras) {
        if extras.interrupt {
            cx.events.push_back((self.id, Event::Interrupt { op }));
        }
        if let Some(octets) = extras.payload {
            cx.events.push_back((self.id, Event::Payload { op, octets }));
        }
    }

    /// Logs flags that the operation does not list; they count as 0 (10.7.7).
    fn check_flags<M>(cx: &mut Context<'_, M>, header: &Header, mask: Flags) {
        let improper = header.flags.outside(mask);
        if improper != Flags::NONE {
            cx.log(Logged::Improper_Flag_Use_Error { flags: improper.bits() });
        }
    }

    /// F 0b100 to 0b110 of Op 0x15: not executed, not taken for a Get.
    fn reserved_function<M>(&mut self, cx: &mut Context<'_, M>, header: &Header) {
        if matches!(self.sequences.get(&header.d_id), Some(Sequence::Server(_))) {
            cx.log(Logged::Improper_Flag_Use_Error { flags: header.flags.inside(Flags::F).bits() });
            self.answer_request(header.d_id, header.s_id, header.d_id, true);
        } else {
            self.invalid_d_id(cx, header.d_id);
        }
    }

    /// D_id is not live: logged, for a stale id once.
    fn invalid_d_id<M>(&mut self, cx: &mut Context<'_, M>, d_id: u32) {
        if self.ids.was_issued(d_id) {
            if let Some(Sequence::Tombstone { logged, .. }) = self.sequences.get_mut(&d_id)
                && core::mem::replace(logged, true)
            {
                return;
            }
            if !self.logged_stale.insert(d_id) {
                return;
            }
            if self.logged_stale.len() > STALE_LOGGED {
                self.logged_stale.pop_first();
            }
        }
        cx.log(Logged::Invalid_D_id_Error);
    }

    /// Request_Answer to a request of the peer.
    pub(crate) fn answer_request(&mut self, owner: u32, d_id: u32, s_id: u32, reject: bool) {
        let header = self.header(Body::RequestAnswer { reject, d_id, s_id });
        let queued = self.push_answer(header, self.interface);
        if !reject {
            // "Pending" is void as soon as the decision is there.
            queued.of(owner);
        }
    }

    /// The upper layer refuses a request.
    pub(crate) fn refuse<M>(&mut self, cx: &mut Context<'_, M>, id: u32) -> bool {
        let peer_id = match self.sequences.get(&id) {
            Some(Sequence::Source(source)) if source.is_requested() => source.peer_id(),
            Some(Sequence::Destination(destination)) if self.destination_undecided(id) => {
                destination.peer_id()
            }
            Some(Sequence::Server(server)) if server.is_undecided() => server.peer_id(),
            _ => return false,
        };
        self.answer_request(id, peer_id, 0, true);
        self.bury(cx, id, true);
        true
    }

    fn bad_channel<M>(
        &mut self,
        cx: &mut Context<'_, M>,
        op: Op,
        channel: u8,
        s_id: u32,
    ) -> Option<DataChannel> {
        let known = DataChannel::new(channel).ok().filter(|channel| cx.config.has_channel(channel.number()));
        if known.is_none() {
            cx.log.counters_mut().bad_data_channel += 1;
            self.reject_new(cx, op, s_id);
        }
        known
    }

    /// Rejects a request that never becomes a sequence, and remembers that.
    fn reject_new<M>(&mut self, cx: &Context<'_, M>, op: Op, s_id: u32) {
        let id =
            self.begin(Sequence::Tombstone { reply_reject: true, logged: false, fetch: None, is_get: false });
        self.requests.insert((op as u8, s_id), id);
        self.timers.set(Timer::Sequence(id), cx.after(cx.config.quarantine()));
        self.answer_request(id, s_id, 0, true);
    }

    /// A request came; `true` if it is a repetition, which is answered as the duplicate table says.
    fn is_repetition<M: Memory>(&mut self, cx: &mut Context<'_, M>, op: Op, s_id: u32) -> bool {
        let Some(&id) = self.requests.get(&(op as u8, s_id)) else { return false };
        match self.sequences.get(&id) {
            Some(Sequence::Tombstone { reply_reject: true, .. }) => self.answer_request(id, s_id, 0, true),
            Some(Sequence::Source(source)) if source.is_requested() => {
                self.answer_request(id, s_id, 0, false)
            }
            Some(Sequence::Source(_)) => self.repeat_rts(cx.config, id),
            Some(Sequence::Destination(_)) => self.repeat_grants(cx, id),
            Some(Sequence::Server(_)) => self.repeat_region(id),
            _ => {}
        }
        true
    }

    fn dispatch<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        from: (Ula, u8),
        header: &Header,
        body: &Body,
        payload: &[u8],
    ) -> bool {
        match *body {
            Body::RequestToSend { d_id: 0, s_id, channel, max_block, .. } => {
                Self::check_flags(cx, header, body.mask());
                if self.is_repetition(cx, Op::RequestToSend, s_id) {
                    return false;
                }
                let Some(channel) = self.bad_channel(cx, Op::RequestToSend, channel, s_id) else {
                    return false;
                };
                if !BLOCK_EXPONENTS.contains(&max_block) {
                    cx.log.counters_mut().illegal_max_block += 1;
                    self.reject_new(cx, Op::RequestToSend, s_id);
                    return false;
                }
                self.offered(cx, channel, body);
                true
            }
            Body::RequestToReceive { channel, t_len, s_id } => {
                Self::check_flags(cx, header, body.mask());
                if self.is_repetition(cx, Op::RequestToReceive, s_id) {
                    return false;
                }
                let Some(channel) = self.bad_channel(cx, Op::RequestToReceive, channel, s_id) else {
                    return false;
                };
                self.read_requested(cx, s_id, t_len, channel);
                true
            }
            Body::RequestMemoryRegion { channel, t_len, s_id } => {
                Self::check_flags(cx, header, body.mask());
                if self.is_repetition(cx, Op::RequestMemoryRegion, s_id) {
                    return false;
                }
                let Some(channel) = self.bad_channel(cx, Op::RequestMemoryRegion, channel, s_id) else {
                    return false;
                };
                if t_len == 0 || !self.local.attributes.persistent {
                    self.reject_new(cx, Op::RequestMemoryRegion, s_id);
                    return false;
                }
                self.region_requested(cx, s_id, t_len, channel);
                true
            }
            Body::RequestState { d_id, s_id, sync, b_num } => {
                Self::check_flags(cx, header, body.mask());
                self.state_requested(cx, (d_id, s_id), sync, b_num)
            }
            Body::RequestStateResponse { slots, b_seq, sync, b_num, d_id, s_id } => {
                self.state_answered(cx, header, (slots, sync, d_id), (b_seq, b_num, s_id))
            }
            Body::End { d_id, s_id } => self.end_received(cx, header, d_id, s_id),
            Body::EndAck { d_id, .. } => {
                if !self.known(cx, d_id) {
                    return false;
                }
                match self.sequences.get(&d_id) {
                    Some(Sequence::Source(_)) => self.source_ended(cx, d_id),
                    Some(Sequence::Destination(_)) => self.destination_ended(cx, d_id),
                    Some(Sequence::Client(_)) => self.client_ended(cx, d_id),
                    Some(Sequence::Server(_)) => self.server_ended(cx, d_id),
                    _ => {}
                }
                true
            }
            Body::Data { d_id, sync, .. } => self.data(cx, header, payload, d_id, sync),
            _ => self.for_sequence(cx, from, header, body),
        }
    }

    /// Whether D_id was issued at all; else that is logged.
    fn known<M>(&mut self, cx: &mut Context<'_, M>, d_id: u32) -> bool {
        let known = self.ids.was_issued(d_id);
        if !known {
            self.invalid_d_id(cx, d_id);
        }
        known
    }

    /// Operations that name a live sequence of this end and depend on its role.
    fn for_sequence<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        from: (Ula, u8),
        header: &Header,
        body: &Body,
    ) -> bool {
        let d_id = header.d_id;
        match (self.sequences.get(&d_id), body) {
            // Late answers and repetitions of what is over.
            (
                Some(Sequence::Tombstone { .. }),
                Body::RequestAnswer { .. }
                | Body::FetchOpComplete { .. }
                | Body::MemoryRegionAvailable { .. }
                | Body::RequestToSend { .. },
            ) => return false,
            (None, Body::RequestAnswer { .. }) if self.ids.was_issued(d_id) => return false,
            (None | Some(Sequence::Tombstone { .. }), _) => {
                self.invalid_d_id(cx, d_id);
                return false;
            }
            _ => {}
        }
        Self::check_flags(cx, header, body.mask());
        let Some(sequence) = self.sequences.get(&d_id) else { return false };
        match (sequence, *body) {
            (Sequence::Source(_), Body::ClearToSend { .. }) => self.granted(cx, d_id, from, body),
            (Sequence::Source(_), Body::RequestAnswer { reject, .. }) => {
                self.source_answered(cx, d_id, reject)
            }
            (Sequence::Destination(_), Body::RequestAnswer { reject, .. }) => {
                self.destination_answered(cx, d_id, reject);
            }
            (Sequence::Destination(destination), Body::RequestToSend { .. }) if destination.is_read() => {
                self.read_granted(cx, d_id, body);
            }
            (Sequence::Client(_), Body::RequestAnswer { reject, .. }) => {
                self.client_answered(cx, d_id, reject)
            }
            (Sequence::Client(_), Body::MemoryRegionAvailable { .. }) => self.region_granted(cx, d_id, body),
            (Sequence::Get(_) | Sequence::Fetch(_), Body::RequestAnswer { reject, .. }) => {
                self.wanted_answered(cx, d_id, reject);
            }
            (Sequence::Server(_), Body::Get { .. }) => return self.serve_get(cx, d_id, body),
            (Sequence::Server(_), Body::FetchOp { .. }) => return self.serve_fetch(cx, d_id, body),
            (Sequence::Server(_), Body::FetchOpComplete { s_id, .. }) => self.complete_fetch(cx, d_id, s_id),
            _ => {
                cx.log(Logged::Unexpected_Opcode_Error { unexpected_opcode_value: header.op });
                return false;
            }
        }
        true
    }

    fn data<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        header: &Header,
        payload: &[u8],
        d_id: u32,
        sync: u32,
    ) -> bool {
        let asks = header.flags.has(Flags::SEND_STATE);
        match self.sequences.get(&d_id) {
            Some(Sequence::Destination(_)) => {
                Self::check_flags(cx, header, Flags::from_bits(0x0EB));
                let taken = self.transfer_data(cx, d_id, header, payload);
                if taken && asks {
                    self.respond_state(d_id, header);
                }
                taken
            }
            Some(Sequence::Server(_)) => {
                Self::check_flags(cx, header, Flags::from_bits(0x0EB));
                let taken = self.put_data(cx, d_id, header, payload);
                if taken && asks {
                    self.respond_put_state(d_id, header);
                }
                taken
            }
            Some(Sequence::Get(_)) => {
                Self::check_flags(cx, header, GET_DATA_MASK);
                self.get_data(cx, d_id, header, payload)
            }
            Some(Sequence::Fetch(_)) => {
                Self::check_flags(cx, header, GET_DATA_MASK);
                self.fetch_data(cx, d_id, header, payload)
            }
            Some(&Sequence::Tombstone { fetch: Some((region, _)), .. }) => {
                // The server has not heard that the value arrived.
                let complete = Body::FetchOpComplete { sync, d_id: region, s_id: d_id };
                self.push(Class::Ordinary, complete).owed = true;
                false
            }
            Some(Sequence::Tombstone { is_get: true, .. }) => false,
            Some(Sequence::Source(_) | Sequence::Client(_)) => {
                cx.log(Logged::Unexpected_Opcode_Error { unexpected_opcode_value: header.op });
                false
            }
            Some(Sequence::Tombstone { .. }) | None => {
                self.invalid_d_id(cx, d_id);
                false
            }
        }
    }

    /// Request_State: always answered, but for a Block that was never enabled (10.7.4).
    fn state_requested<M>(
        &mut self,
        cx: &mut Context<'_, M>,
        (d_id, s_id): (u32, u32),
        sync: u32,
        b_num: u32,
    ) -> bool {
        let slots = self.free_slots_to_report();
        let short = d_id == SHORT_SLOTS_ID && s_id == 0 && !self.is_live(d_id);
        if d_id == NO_ID || short {
            let answer = Body::RequestStateResponse { slots, b_seq: 0, sync, b_num: 0, d_id, s_id: 0 };
            self.push(Class::Response, answer).owed = true;
            return true;
        }
        let (b_seq, b_num, own) = match self.sequences.get(&d_id) {
            Some(Sequence::Destination(destination)) => {
                let (b_seq, known) = destination.state_of(b_num);
                if known.is_none() && b_num != NO_BLOCK {
                    cx.log(Logged::Out_Of_Range_B_num_Error);
                    return false;
                }
                (b_seq, if known == Some(true) { b_num } else { NO_BLOCK }, d_id)
            }
            Some(Sequence::Server(server)) => {
                let (b_seq, known) = server.state_of(b_num);
                (b_seq, if known { b_num } else { NO_BLOCK }, d_id)
            }
            Some(Sequence::Source(_) | Sequence::Client(_)) => (NO_BLOCK, NO_BLOCK, d_id),
            _ => (NO_BLOCK, NO_BLOCK, NO_ID),
        };
        let answer = Body::RequestStateResponse { slots, b_seq, sync, b_num, d_id: s_id, s_id: own };
        self.push(Class::Response, answer).owed = true;
        true
    }

    fn state_answered<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        header: &Header,
        (slots, sync, d_id): (u16, u32, u32),
        answer: (u32, u32, u32),
    ) -> bool {
        let Some(Question { owner, block, .. }) = self.questions.remove(&sync) else { return false };
        self.gate.answer(sync, slots);
        self.timers.clear(Timer::Slots);
        Self::check_flags(cx, header, Flags::INTERRUPT);
        let Some(id) = owner else { return true };
        if id != d_id {
            self.invalid_d_id(cx, d_id);
            return false;
        }
        match self.sequences.get(&id) {
            Some(Sequence::Source(_)) => self.source_state(cx, id, block, answer),
            Some(Sequence::Client(_)) => self.put_state(cx, id, block, answer),
            _ => {}
        }
        true
    }

    fn end_received<M>(&mut self, cx: &mut Context<'_, M>, header: &Header, d_id: u32, s_id: u32) -> bool {
        if !self.known(cx, d_id) {
            return false;
        }
        Self::check_flags(cx, header, Flags::INTERRUPT);
        match self.sequences.get(&d_id) {
            Some(Sequence::Destination(_)) => self.destination_end_received(cx, d_id),
            Some(Sequence::Source(_) | Sequence::Client(_) | Sequence::Server(_)) => {
                self.fail(cx, d_id, Failure::EndedByPeer);
            }
            Some(Sequence::Get(_) | Sequence::Fetch(_)) => {
                cx.log(Logged::Unexpected_Opcode_Error { unexpected_opcode_value: header.op });
                return false;
            }
            // Stale: the answer to an earlier End was lost.
            Some(Sequence::Tombstone { .. }) | None => {}
        }
        self.drop_questions_of_data(d_id);
        self.push(Class::Response, Body::EndAck { d_id: s_id, s_id: d_id }).owed = true;
        true
    }

    /// The upper layer tells the requester to wait; whether there is something to wait for.
    pub(crate) fn pause(&mut self, id: u32) -> bool {
        match self.sequences.get(&id) {
            Some(Sequence::Source(source)) if source.is_requested() => {
                let peer_id = source.peer_id();
                self.timers.clear(Timer::Sequence(id));
                self.answer_request(id, peer_id, 0, false);
                true
            }
            Some(Sequence::Destination(_)) => self.pause_destination(id),
            Some(Sequence::Server(_)) => self.pause_server(id),
            _ => false,
        }
    }

    /// The upper layer ends a sequence; whether it was one.
    pub(crate) fn end<M>(&mut self, cx: &mut Context<'_, M>, id: u32) -> bool {
        match self.sequences.get(&id) {
            Some(Sequence::Source(_)) => self.abort_source(cx, id),
            Some(Sequence::Destination(_)) => self.abort_destination(cx, id),
            Some(Sequence::Client(_)) => self.end_client(cx, id, Failure::Aborted),
            Some(Sequence::Server(_)) => self.end_server(cx, id),
            _ => return false,
        }
        true
    }

    /// Checks what must always hold (section 2.4 of the requirements).
    ///
    /// # Errors
    /// What does not hold.
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        if self.sequences.keys().any(|&id| id == 0 || id == NO_ID) {
            return Err("a sequence has a reserved id");
        }
        for sequence in self.sequences.values() {
            match sequence {
                Sequence::Source(source) => source.check()?,
                Sequence::Destination(destination) => destination.check()?,
                _ => {}
            }
        }
        if self.outgoing.iter().any(|block| !self.is_live(block.owner)) {
            return Err("a Block of a sequence that is over waits to leave");
        }
        if !self.outgoing.is_sound() {
            return Err("the silent Blocks that wait to leave are others than were counted");
        }
        if self.local.slots != UNCOUNTED && self.occupied > u32::from(self.local.slots) {
            return Err("more Slots are occupied than were advertised");
        }
        if matches!(self.state, State::TimeWait | State::Abandoned) && !self.sequences.is_empty() {
            return Err("a sequence outlives its connection");
        }
        Ok(())
    }
}
