//! The end that has the memory of a region.

use crate::checksum::Sum;
use crate::connection::send::{Outgoing, Part};
use crate::connection::{Connection, Context, Sequence, Timer};
use crate::errors::Logged;
use crate::event::{Event, Failure, Outcome};
use crate::layout::{self, Place};
use crate::memory::{Memory, Span, read_word};
use crate::slots::Class;
use crate::wire::flags::DataChannel;
use crate::wire::{Body, Flags, Function, Header, Op};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

/// State of a region at the end that has it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum ServerState {
    Requested,
    Pending,
    Open,
    EndSent,
}

/// A Put on its way in.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Arriving {
    next_stu: u32,
    received: u64,
    damaged: bool,
    sum: Sum,
}

/// A FetchOp that was executed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Replay {
    /// Its value is kept for repetitions, executed then.
    Held { old: [u8; 8], sync: u32, since: u64 },
    /// It is complete; it is not executed again.
    Released,
}

/// A region of this end.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct RegionServer {
    peer_id: u32,
    state: ServerState,
    t_len: u64,
    channel: DataChannel,
    span: Span,
    mx: u16,
    place: Place,
    arriving: BTreeMap<u64, Arriving>,
    correct: u64,
    correct_above: BTreeSet<u64>,
    previous: Option<u64>,
    replays: BTreeMap<u32, Replay>,
    retries: u32,
    failure: Option<Failure>,
}

impl RegionServer {
    pub(crate) fn exposed(&self) -> Option<(u16, Place)> {
        (self.mx != 0).then_some((self.mx, self.place))
    }

    /// FetchOps of which the value is kept: when they were executed, and their ids.
    fn held(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.replays.iter().filter_map(|(&fetch, replay)| match *replay {
            Replay::Held { since, .. } => Some((since, fetch)),
            Replay::Released => None,
        })
    }

    pub(crate) fn replays(&self) -> Vec<u32> {
        self.replays.keys().copied().collect()
    }

    pub(crate) const fn peer_id(&self) -> u32 {
        self.peer_id
    }

    pub(crate) const fn is_undecided(&self) -> bool {
        matches!(self.state, ServerState::Requested | ServerState::Pending)
    }

    /// B_seq, and whether the Put with this number is correct.
    pub(crate) fn state_of(&self, b_num: u32) -> (u32, bool) {
        let put = layout::ordinal(b_num, self.correct);
        let known = put.is_some_and(|put| put < self.correct || self.correct_above.contains(&put));
        (layout::b_seq(self.correct), known)
    }

    /// The address of `bytes` octets at a place of the region (ST-D60, steps 16 and 17).
    fn locate(&self, place: Place, bytes: u64, bufsize: u32) -> Result<u64, Logged> {
        if place.room(bufsize) == 0 {
            return Err(Logged::Oversized_Offset_Error);
        }
        place
            .distance(self.place, bufsize)
            .and_then(|at| u64::try_from(at).ok())
            .filter(|at| at.checked_add(bytes).is_some_and(|end| end <= self.t_len))
            .map(|at| self.span.address + at)
            .ok_or(Logged::Out_Of_Range_Bufx_Error)
    }
}

impl Connection {
    /// Request_Memory_Region is legal.
    pub(crate) fn region_requested<M>(
        &mut self,
        cx: &mut Context<'_, M>,
        peer_id: u32,
        t_len: u64,
        channel: DataChannel,
    ) {
        let id = self.begin(Sequence::Server(RegionServer {
            peer_id,
            state: ServerState::Requested,
            t_len,
            channel,
            span: Span::default(),
            mx: 0,
            place: Place::default(),
            arriving: BTreeMap::new(),
            correct: 0,
            correct_above: BTreeSet::new(),
            previous: None,
            replays: BTreeMap::new(),
            retries: 0,
            failure: None,
        }));
        self.requests.insert((Op::RequestMemoryRegion as u8, peer_id), id);
        self.timers.set(Timer::Sequence(id), cx.after(cx.config.op_timeout / 2));
        cx.events.push_back((self.id, Event::RegionRequested { id, t_len }));
    }

    /// The upper layer grants a region; whether it could.
    pub(crate) fn grant<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32, span: Span) -> bool {
        let Some(Sequence::Server(server)) = self.sequences.get_mut(&id) else { return false };
        let fits = span.bytes == server.t_len && cx.memory.contains(span.address, span.bytes);
        if !server.is_undecided() || !fits {
            return false;
        }
        let Some(mx) = self.indices.assign(cx.now) else { return false };
        let Some(place) = self.buffers.expose(span) else {
            self.indices.retire(mx, cx.now);
            return false;
        };
        (server.span, server.mx, server.place, server.state) = (span, mx, place, ServerState::Open);
        self.queue.retain(|queued| queued.owner != Some(id));
        self.timers.clear(Timer::Sequence(id));
        self.send_mra(id);
        true
    }

    /// Tells the client to wait; whether there is something to wait for.
    pub(crate) fn pause_server(&mut self, id: u32) -> bool {
        let Some(Sequence::Server(server)) = self.sequences.get_mut(&id) else { return false };
        if server.state != ServerState::Requested {
            return false;
        }
        server.state = ServerState::Pending;
        let peer_id = server.peer_id;
        self.timers.clear(Timer::Sequence(id));
        self.answer_request(id, peer_id, 0, false);
        true
    }

    fn send_mra(&mut self, id: u32) {
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return };
        let (mx, Place { bufx, offset }, d_id) = (server.mx, server.place, server.peer_id);
        let header = self.header(Body::MemoryRegionAvailable { mx, bufx, offset, d_id, s_id: id });
        self.push_answer(header, self.interface).of(id);
    }

    /// Request_Memory_Region came again.
    pub(crate) fn repeat_region(&mut self, id: u32) {
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return };
        let (state, peer_id) = (server.state, server.peer_id);
        let waiting = self.queue.iter().any(|queued| queued.owner == Some(id));
        match state {
            ServerState::Requested | ServerState::Pending => self.answer_request(id, peer_id, 0, false),
            ServerState::Open if !waiting => self.send_mra(id),
            ServerState::Open | ServerState::EndSent => {}
        }
    }

    /// The upper layer ends the region.
    pub(crate) fn end_server<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Server(server)) = self.sequences.get_mut(&id) else { return };
        if server.is_undecided() {
            self.refuse(cx, id);
            return;
        }
        if server.state == ServerState::EndSent {
            return;
        }
        server.state = ServerState::EndSent;
        server.retries = 0;
        let d_id = server.peer_id;
        for fetch in core::mem::take(&mut server.replays).into_keys() {
            self.timers.clear(Timer::Replay(id, fetch));
        }
        self.drop_sends(id);
        self.send_end(id, d_id, false);
    }

    /// End_Ack came.
    pub(crate) fn server_ended<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return };
        if server.state == ServerState::EndSent {
            let outcome = server.failure.map_or(Outcome::Complete, Outcome::Failed);
            self.bury(cx, id, false);
            self.finished(cx, id, outcome, 0);
        }
    }

    pub(crate) fn server_expired<M>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        let Some(Sequence::Server(server)) = self.sequences.get_mut(&id) else { return };
        let peer_id = server.peer_id;
        match server.state {
            ServerState::Requested => {
                server.state = ServerState::Pending;
                self.answer_request(id, peer_id, 0, false);
            }
            ServerState::Pending | ServerState::Open => {}
            ServerState::EndSent => {
                if Self::expired(cx, &mut server.retries) {
                    self.send_end(id, peer_id, true);
                } else {
                    self.fail(cx, id, Failure::Timeout);
                }
            }
        }
    }

    /// Data of a Put (ST-D60, steps 13 to 18).
    pub(crate) fn put_data<M: Memory>(
        &mut self,
        cx: &mut Context<'_, M>,
        id: u32,
        header: &Header,
        payload: &[u8],
    ) -> bool {
        let agreed = self.out_of_order_agreed();
        let bufsize = self.local.bufsize;
        let connection = self.id;
        let max_stu = 1u64 << self.local.max_stu.min(31);
        let Some(Sequence::Server(server)) = self.sequences.get_mut(&id) else { return false };
        if server.state != ServerState::Open {
            if server.is_undecided() {
                cx.log(Logged::Unexpected_Opcode_Error { unexpected_opcode_value: header.op });
            }
            return false;
        }
        if header.b_id != server.mx {
            cx.log(Logged::Invalid_Mx_Error);
            return false;
        }
        let Some(put) = layout::ordinal(header.b_num, server.correct) else {
            cx.log(Logged::Out_Of_Range_B_num_Error);
            return false;
        };
        let (stu_num, bytes) = (u32::from(header.param), payload.len() as u64);
        let done = put < server.correct || server.correct_above.contains(&put);
        if done {
            // A repetition of a Put that is whole: Send_State is answered again, memory is left alone.
            if header.flags.has(Flags::SEND_STATE) {
                self.respond_put_state(id, header);
            }
            return false;
        }
        let begins = stu_num == 0 && !server.arriving.contains_key(&put);
        let block = server.arriving.entry(put).or_default();
        if block.damaged && stu_num == 0 && agreed {
            *block = Arriving::default();
        }
        if block.damaged {
            return false;
        }
        if bytes > max_stu {
            block.damaged = true;
            cx.log(Logged::Illegal_STU_Size_Error);
            return false;
        }
        if begins {
            let expected = server.previous.map_or(0, |previous| previous + 1);
            if put != expected && !agreed {
                cx.log(Logged::Out_Of_Order_B_num);
            }
            server.previous = Some(put);
        }
        let next_stu = block.next_stu;
        if stu_num < next_stu {
            if header.flags.has(Flags::SEND_STATE) {
                self.respond_put_state(id, header);
            }
            return false;
        }
        let place = Place { bufx: header.bufx, offset: header.offset };
        let located = if stu_num > next_stu {
            Err(Logged::Out_Of_Order_STU_Error)
        } else if bytes == 0 {
            Ok(server.span.address)
        } else {
            server.locate(place, bytes, bufsize).and_then(|address| {
                if bytes <= place.room(bufsize) { Ok(address) } else { Err(Logged::Out_Of_Range_Bufx_Error) }
            })
        };
        let Some(block) = server.arriving.get_mut(&put) else { return false };
        let address = match located {
            Ok(address) => address,
            Err(entry) => {
                block.damaged = true;
                cx.log(entry);
                return false;
            }
        };
        block.next_stu += 1;
        block.received += bytes;
        block.sum.add(&header.to_bytes());
        block.sum.add(payload);
        // What carries a Cksum that is wrong is discarded: the memory never sees it (ST-D56).
        if header.cksum != 0 && cx.config.check && !core::mem::take(&mut block.sum).is_intact() {
            block.damaged = true;
            cx.log(Logged::Cksum_Error);
            return false;
        }
        cx.memory.write(address, payload);
        if header.flags.has(Flags::LAST) {
            server.arriving.remove(&put);
            server.correct_above.insert(put);
            while server.correct_above.remove(&server.correct) {
                server.correct += 1;
            }
            cx.events.push_back((connection, Event::PutArrived { id, put }));
        }
        true
    }

    /// Request_State_Response to a Put with Send_State.
    pub(crate) fn respond_put_state(&mut self, id: u32, header: &Header) {
        let slots = self.free_slots_to_report();
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return };
        let (b_seq, known) = server.state_of(header.b_num);
        let b_num = if known { header.b_num } else { layout::NO_BLOCK };
        let (sync, d_id) = (header.sync, server.peer_id);
        let answer = Body::RequestStateResponse { slots, b_seq, sync, b_num, d_id, s_id: id };
        self.push(Class::Response, answer).owed = true;
    }

    /// Get on a region of this end.
    pub(crate) fn serve_get<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32, body: &Body) -> bool {
        let &Body::Get { t_len, mx, bufx, offset, i_bufx, i_offset, s_id, .. } = body else { return false };
        let bufsize = self.local.bufsize;
        let (to, interface) = (self.peer, self.interface);
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return false };
        if server.state != ServerState::Open {
            return false;
        }
        let (channel, place) = (server.channel, Place { bufx: i_bufx, offset: i_offset });
        let verdict = server.locate(Place { bufx, offset }, t_len.into(), bufsize);
        let address = match verdict {
            Ok(address) if t_len > 0 && place.room(self.remote.bufsize) > 0 => address,
            verdict => {
                if let (Err(entry), true) = (verdict, t_len > 0) {
                    cx.log(entry);
                }
                self.answer_request(id, s_id, id, true);
                return false;
            }
        };
        // A repetition begins again with the memory as it is now.
        self.outgoing.retain(|block| block.owner != id || block.part != Part::Get || block.d_id != s_id);
        self.outgoing.push_back(Outgoing {
            owner: id,
            part: Part::Get,
            ordinal: 0,
            d_id: s_id,
            s_id: id,
            mx,
            b_num: 0,
            place,
            address,
            ring: None,
            left: t_len.into(),
            stu_num: 0,
            channel,
            silent: true,
            interrupt: false,
            ask: false,
            to,
            interface: Some(interface),
            sync: None,
            sum: Sum::ZERO,
            in_segment: 0,
            last_place: place,
        });
        true
    }

    /// FetchOp on a region of this end: executed once for each F-id, repeated until complete.
    pub(crate) fn serve_fetch<M: Memory>(&mut self, cx: &mut Context<'_, M>, id: u32, body: &Body) -> bool {
        let &Body::FetchOp { function, mx, bufx, offset, i_bufx, i_offset, s_id, .. } = body else {
            return false;
        };
        let (bufsize, offered) = (self.local.bufsize, self.local.attributes);
        let remote_bufsize = self.remote.bufsize;
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return false };
        if server.state != ServerState::Open {
            return false;
        }
        let answer = Place { bufx: i_bufx, offset: i_offset };
        match server.replays.get(&s_id) {
            Some(&Replay::Held { old, sync, .. }) => {
                self.send_fetched(id, s_id, mx, answer, old, sync);
                return true;
            }
            Some(Replay::Released) => return false,
            None => {}
        }
        let has_room = self.makes_room(cx, id);
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return false };
        let place = Place { bufx, offset };
        let located = server.locate(place, 8, bufsize).and_then(|address| {
            if place.room(bufsize) >= 8 { Ok(address) } else { Err(Logged::Out_Of_Range_Bufx_Error) }
        });
        let misaligned = offset % 8 != 0;
        if misaligned {
            cx.log.counters_mut().fetch_op_misaligned += 1;
        } else if let Err(entry) = located {
            cx.log(entry);
        }
        let legal = offered.fetch_op && !misaligned && has_room;
        let Some(address) = located.ok().filter(|_| legal && answer.room(remote_bufsize) >= 8) else {
            self.answer_request(id, s_id, id, true);
            return false;
        };
        let old = read_word(cx.memory, address);
        cx.memory.write(address, &apply(function, old, offered.little_endian));
        let sync = self.next_sync();
        if let Some(Sequence::Server(server)) = self.sequences.get_mut(&id) {
            server.replays.insert(s_id, Replay::Held { old, sync, since: cx.now });
        }
        self.send_fetched(id, s_id, mx, answer, old, sync);
        true
    }

    /// Whether one more value can be kept. Where as many are as there may be, the oldest is let go that
    /// nobody has claimed for four quarantines; its id stays known for one more. Not before: who repeats a
    /// request that waited longer than that on its way gets the value, and it is not executed again (ST-D44
    /// lets it go, and need not).
    fn makes_room<M>(&mut self, cx: &Context<'_, M>, id: u32) -> bool {
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return false };
        if server.held().count() < cx.config.replay_values {
            return true;
        }
        let Some((since, fetch)) = server.held().min() else { return false };
        let is_over = since.saturating_add(cx.config.quarantine().saturating_mul(4)) <= cx.now;
        if is_over {
            self.complete_fetch(cx, id, fetch);
        }
        is_over
    }

    fn send_fetched(&mut self, id: u32, fetch: u32, mx: u16, place: Place, old: [u8; 8], sync: u32) {
        let Some(Sequence::Server(server)) = self.sequences.get(&id) else { return };
        let channel = server.channel;
        let waiting = |block: &Outgoing| block.owner == id && block.d_id == fetch;
        if self.outgoing.iter().any(waiting) {
            return;
        }
        self.outgoing.push_back(Outgoing {
            owner: id,
            part: Part::Fetch(old),
            ordinal: 0,
            d_id: fetch,
            s_id: id,
            mx,
            b_num: 0,
            place,
            address: 0,
            ring: None,
            left: 8,
            stu_num: 0,
            channel,
            silent: true,
            interrupt: false,
            ask: false,
            to: self.peer,
            interface: Some(self.interface),
            sync: Some(sync),
            sum: Sum::ZERO,
            in_segment: 0,
            last_place: place,
        });
    }

    /// FetchOp_Complete: the value may go.
    pub(crate) fn complete_fetch<M>(&mut self, cx: &Context<'_, M>, id: u32, fetch: u32) {
        let Some(Sequence::Server(server)) = self.sequences.get_mut(&id) else { return };
        if let Some(replay @ Replay::Held { .. }) = server.replays.get_mut(&fetch) {
            *replay = Replay::Released;
            self.timers.set(Timer::Replay(id, fetch), cx.after(cx.config.quarantine()));
        }
    }

    /// The id of a FetchOp that is complete is known no more.
    pub(crate) fn replay_expired(&mut self, id: u32, fetch: u32) {
        if let Some(Sequence::Server(server)) = self.sequences.get_mut(&id) {
            server.replays.remove(&fetch);
        }
    }
}

fn apply(function: Function, word: [u8; 8], little_endian: bool) -> [u8; 8] {
    if little_endian {
        function.apply(u64::from_le_bytes(word)).to_le_bytes()
    } else {
        function.apply(u64::from_be_bytes(word)).to_be_bytes()
    }
}
